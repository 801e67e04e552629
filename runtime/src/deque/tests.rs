//! Deques from the outside: what helpers do to elements and references.

use super::*;
use crate::object::live;
use crate::string::from_text;
use crate::testing::with_ctx;
use std::collections::VecDeque;
use tierup_core::desc;
use tierup_core::layout::Str;
use tierup_core::types::Type;

unsafe fn ints(d: D) -> Vec<i64> {
    // SAFETY: tests ask for elements of the deque's type.
    unsafe { (0..(*d).len).map(|i| at(d, i).cast::<i64>().read()).collect() }
}
unsafe fn texts(d: D) -> Vec<String> {
    let text = |i| {
        // SAFETY: the elements are live strings, which the deque holds.
        unsafe { crate::string::Chars::of(at(d, i).cast::<*mut Str>().read()).text() }
    };
    // SAFETY: the deque is live.
    (0..unsafe { (*d).len }).map(text).collect()
}
unsafe fn free(d: D) {
    // SAFETY: tests give up the reference that they have.
    unsafe { release(d.cast()) }
}
fn new_of(t: Type, maxlen: i64) -> D {
    new(desc::of(t), maxlen)
}
unsafe fn push_int(ctx: Ctx, d: D, mut x: i64, left: bool) {
    let value: P = (&raw mut x).cast();
    // SAFETY: the deque is the test's, and of ints.
    unsafe {
        if left { Native::deque_append_left(ctx, d, value) } else { Native::deque_append(ctx, d, value) }
    }
}
unsafe fn push_text(ctx: Ctx, d: D, text: &str, left: bool) {
    let mut s = from_text(text).unwrap();
    let value: P = (&raw mut s).cast();
    // SAFETY: the deque is the test's, and of strings; the reference moves in.
    unsafe {
        if left { Native::deque_append_left(ctx, d, value) } else { Native::deque_append(ctx, d, value) }
    }
}

#[test]
fn it_does_what_a_deque_of_the_standard_library_does() {
    let before = live();
    // SAFETY: the deque is live until the test frees it, and nobody else has it.
    with_ctx(|ctx| unsafe {
        for maxlen in [-1, 0, 1, 7, 8, 40] {
            let d = new_of(Type::int(), maxlen);
            let mut model = VecDeque::new();
            let trim = |model: &mut VecDeque<i64>, left: bool| {
                if maxlen >= 0 && model.len() as i64 > maxlen {
                    if left {
                        model.pop_back()
                    } else {
                        model.pop_front()
                    };
                }
            };
            let mut seed = 12345u64;
            for step in 0..2000i64 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let (n, at) = (model.len() as i64, (seed >> 33) as i64);
                match (seed >> 60) % 8 {
                    0..=2 => {
                        push_int(ctx, d, step, false);
                        model.push_back(step);
                        trim(&mut model, false);
                    }
                    3 => {
                        push_int(ctx, d, step, true);
                        model.push_front(step);
                        trim(&mut model, true);
                    }
                    4 if n > 0 => {
                        Native::deque_delete(d, at % n);
                        model.remove((at % n) as usize);
                    }
                    5 if maxlen < 0 || n < maxlen => {
                        Native::deque_insert_gap(ctx, d, at % (n + 1)).cast::<i64>().write(step);
                        model.insert((at % (n + 1)) as usize, step);
                    }
                    6 if n > 0 => {
                        let by = at % (3 * n) - n;
                        Native::deque_rotate(d, by);
                        model.rotate_right(by.rem_euclid(n) as usize);
                    }
                    _other => {
                        Native::deque_reverse(d);
                        model.make_contiguous().reverse();
                    }
                }
                assert_eq!(ints(d), Vec::from(model.clone()), "after step {step}");
            }
            free(d);
        }
    });
    assert_eq!(live(), before);
}

#[test]
fn references_are_kept_and_given_up() {
    let before = live();
    // SAFETY: the deques are live until the test frees them, and nobody else has them.
    with_ctx(|ctx| unsafe {
        let d = new_of(Type::str(), 4);
        for text in ["a", "b", "c", "d", "e", "f"] {
            push_text(ctx, d, text, false);
        }
        assert_eq!(texts(d), ["c", "d", "e", "f"]);
        push_text(ctx, d, "x", true);
        assert_eq!(texts(d), ["x", "c", "d", "e"]);
        let copy = Native::deque_copy(ctx, d);
        assert_eq!((*copy).maxlen, 4);
        Native::deque_rotate(copy, 1);
        Native::deque_extend(ctx, d, copy);
        assert_eq!(texts(d), ["e", "x", "c", "d"]);
        Native::deque_extend_left(ctx, d, d);
        assert_eq!(texts(d), ["d", "c", "x", "e"]);
        Native::deque_delete(d, 1);
        Native::deque_repeat_in_place(ctx, d, 3);
        assert_eq!(texts(d), ["e", "d", "x", "e"]);
        assert_eq!(Native::deque_eq(d, copy), 0);
        assert_eq!(Native::deque_eq(d, d), 1);
        assert_eq!(Native::deque_compare(d, copy), -1);
        Native::deque_clear(d);
        assert_eq!(((*d).len, (*d).room, (*d).mask), (0, 0, -1));
        free(d);
        free(copy);
    });
    assert_eq!(live(), before);
}

#[test]
fn elements_keep_their_numbers() {
    // SAFETY: the deques are live until the test frees them, and nobody else has them.
    with_ctx(|ctx| unsafe {
        let d = new_of(Type::int(), -1);
        (0..100).for_each(|i| push_int(ctx, d, i, false));
        (1..100).for_each(|i| push_int(ctx, d, -i, true));
        assert_eq!((*d).start, -99);
        assert_eq!(ints(d), (-99..100).collect::<Vec<_>>());
        let other = new_of(Type::int(), -1);
        push_int(ctx, other, 5, false);
        let changes = (*d).changes;
        take(d, other, false);
        assert_eq!((ints(d), (*d).changes), (vec![5], changes + 1));
        assert_eq!((*other).len, 199);
        free(d);
        free(other);
    });
}
