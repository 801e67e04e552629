//! Lists from the outside: what helpers do to elements and references.

use super::*;
use crate::object::{live, retain};
use crate::string::{Owned, from_text};
use crate::testing::{Raised, with_ctx};
use tierup_core::types::{Int, Kind};

fn make<T: Copy>(items: &[T], elem: Type) -> L {
    let desc = desc::of(elem);
    assert_eq!((desc.size, desc.align), (size_of::<T>() as i64, align_of::<T>() as i64), "{elem}");
    let l = new(desc, items.len() as i64).unwrap();
    // SAFETY: the new list has room for the items, which its type describes.
    unsafe {
        std::ptr::copy_nonoverlapping(items.as_ptr(), (*l).data.cast::<T>(), items.len());
        (*l).len = items.len() as i64;
    }
    l
}
fn ints(items: &[i64]) -> L {
    make(items, Type::int())
}
fn strings(items: &[&str]) -> L {
    make(&items.iter().map(|t| from_text(t).unwrap()).collect::<Vec<_>>(), Type::str())
}
unsafe fn items<T: Copy>(l: L) -> Vec<T> {
    // SAFETY: tests ask for elements of the list's type.
    unsafe { crate::raw_slice((*l).data.cast::<T>(), (*l).len).to_vec() }
}
unsafe fn texts(l: L) -> Vec<String> {
    // SAFETY: the elements are live strings, which the list holds.
    unsafe { items::<*mut Str>(l).into_iter().map(|s| crate::string::Chars::of(s).text()).collect() }
}
unsafe fn free(l: L) {
    // SAFETY: tests give up the reference that they have.
    unsafe { release(l.cast()) }
}

#[test]
fn growing_inserting_and_removing() {
    let before = live();
    // SAFETY: the list is live until the test frees it, and nobody else has it.
    with_ctx(|ctx| unsafe {
        let l = Native::list_new(ctx, desc::of(Type::int()), 0);
        for i in 0..100 {
            if (*l).len == (*l).cap {
                Native::list_reserve(ctx, l, 1);
            }
            (*l).data.cast::<i64>().add((*l).len as usize).write(i);
            (*l).len += 1;
        }
        assert_eq!(items::<i64>(l), (0..100).collect::<Vec<_>>());
        Native::list_delete(ctx, l, 0, 1, 97);
        for (i, v) in [(0, 1), (-1, 2), (50, 3), (-50, 4)] {
            Native::list_insert_gap(ctx, l, i).cast::<i64>().write(v);
        }
        assert_eq!(items::<i64>(l), [4, 1, 97, 98, 2, 99, 3]);
        Native::list_delete(ctx, l, 6, -3, 3);
        assert_eq!(items::<i64>(l), [1, 97, 2, 99]);
        assert_eq!(Native::list_pop_index(ctx, l, -2), 2);
        Native::list_close_gap(ctx, l, 2);
        assert_eq!(items::<i64>(l), [1, 97, 99]);
        Native::list_pop_index(ctx, l, 3);
        assert_eq!(Raised::take(ctx), Raised::new("IndexError", "pop index out of range"));
        Native::list_clear(ctx, l);
        Native::list_pop_index(ctx, l, -1);
        assert_eq!(Raised::take(ctx), Raised::new("IndexError", "pop from empty list"));
        free(l);
    });
    assert_eq!(live(), before);
}

#[test]
fn elements_are_retained_and_released_with_their_lists() {
    let before = live();
    // SAFETY: lists are live until the test frees them, and nobody else has them.
    with_ctx(|ctx| unsafe {
        let l = strings(&["aa", "bb", "cc", "dd"]);
        let every_other = Native::list_slice(ctx, l, 3, -2, 2);
        assert_eq!(texts(every_other), ["dd", "bb"]);
        Native::list_assign_slice(ctx, l, 1, 1, 2, every_other);
        assert_eq!(texts(l), ["aa", "dd", "bb", "dd"]);
        Native::list_assign_slice(ctx, l, 0, 1, 0, l);
        assert_eq!((*l).len, 8);
        Native::list_assign_slice(ctx, l, 0, 2, 4, every_other);
        assert_eq!(
            Raised::take(ctx),
            Raised::new("ValueError", "attempt to assign sequence of size 2 to extended slice of size 4")
        );
        Native::list_extend(ctx, l, l);
        let both = Native::list_concat(ctx, l, every_other);
        let thrice = Native::list_repeat(ctx, both, 3);
        assert_eq!((*thrice).len, 54);
        Native::list_repeat_in_place(ctx, thrice, 0);
        Native::list_reverse(both);
        assert_eq!(texts(both)[..2], ["bb", "dd"]);
        Native::list_delete(ctx, both, 0, 3, 6);
        for x in [l, every_other, both, thrice] {
            free(x);
        }
    });
    assert_eq!(live(), before);
}

#[test]
fn impossible_sizes_are_memory_errors() {
    let before = live();
    // SAFETY: the list is live until the test frees it, and nobody else has it.
    with_ctx(|ctx| unsafe {
        assert!(Native::list_new(ctx, desc::of(Type::int()), i64::MAX).is_null());
        assert_eq!(Raised::take(ctx).class, "MemoryError");
        let l = ints(&[1, 2]);
        assert!(Native::list_repeat(ctx, l, i64::MAX).is_null());
        assert_eq!(Raised::take(ctx).class, "MemoryError");
        assert_eq!(items::<i64>(l), [1, 2]);
        free(l);
    });
    assert_eq!(live(), before);
}

#[test]
fn a_borrowed_list_refuses_to_change() {
    // SAFETY: the list is live until the test frees it, and nobody else has it.
    with_ctx(|ctx| unsafe {
        let l = ints(&[3, 1, 2]);
        (*l).borrow = 1;
        Native::list_reserve(ctx, l, 1);
        assert_eq!(Raised::take(ctx), Raised::new("RuntimeError", "list changed size while it was in use"));
        Native::list_sort(ctx, l, 0);
        assert_eq!(Raised::take(ctx), Raised::new("ValueError", "list modified during sort"));
        Native::list_delete(ctx, l, 0, 1, 1);
        assert_eq!(Raised::take(ctx).class, "RuntimeError");
        (*l).borrow = 0;
        free(l);
    });
}

#[test]
fn equality_and_order_are_lexicographic() {
    // SAFETY: both lists are live until the test frees them, and have one type.
    unsafe {
        let (a, b, c) = (ints(&[1, 2]), ints(&[1, 2, 0]), ints(&[1, 3]));
        let cmp = |x, y| Native::list_compare(x, y);
        assert_eq!((cmp(a, b), cmp(b, a), cmp(b, c), cmp(a, a)), (-1, 1, -1, 0));
        assert_eq!((Native::list_eq(a, a), Native::list_eq(a, b)), (1, 0));
        // A NaN is every NaN, and has no order beside a number.
        let (nan, same) = (make(&[1.0, f64::NAN], Type::float()), make(&[1.0, -f64::NAN], Type::float()));
        let other = make(&[1.0, 2.0], Type::float());
        assert_eq!((cmp(nan, nan), cmp(nan, same), cmp(nan, other)), (0, 0, 2));
        assert_eq!(
            (Native::list_eq(nan, nan), Native::list_eq(nan, same), Native::list_eq(nan, other)),
            (1, 1, 0)
        );
        let value = 2i64;
        let find = |start, stop| Native::list_find(b, (&raw const value).cast_mut().cast(), start, stop);
        assert_eq!((find(0, i64::MAX), find(2, i64::MAX), find(-2, -1)), (1, -1, 1));
        assert_eq!(Native::list_count(b, (&raw const value).cast_mut().cast()), 1);
        for l in [a, b, c, nan, same, other] {
            free(l);
        }
    }
}

#[test]
fn sorting_is_stable_both_ways() {
    let before = live();
    // SAFETY: lists are live until the test frees them, and nobody else has them.
    with_ctx(|ctx| unsafe {
        let l = make(&[0.0f64, 1.0, -0.0, -1.0], Type::float());
        Native::list_sort(ctx, l, 1);
        assert_eq!(format!("{:?}", items::<f64>(l)), "[1.0, 0.0, -0.0, -1.0]");
        let words = strings(&["bb", "a", "cc", "ж", "d"]);
        let lengths = ints(&[2, 1, 2, 1, 1]);
        Native::list_sort_by_keys(ctx, words, lengths, 1);
        assert_eq!(texts(words), ["bb", "cc", "a", "ж", "d"]);
        assert_eq!(items::<i64>(lengths), [2, 2, 1, 1, 1]);
        Native::list_sort(ctx, words, 0);
        assert_eq!(texts(words), ["a", "bb", "cc", "d", "ж"]);
        // Pairs of two widths.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct Pair(i8, f64);
        let pair = Type::new(Kind::Tuple(vec![Type::new(Kind::Int(Int::I8)), Type::float()]));
        let pairs = make(&[Pair(2, 1.5), Pair(1, 9.0), Pair(2, -1.0)], pair);
        Native::list_sort(ctx, pairs, 0);
        assert_eq!(items::<Pair>(pairs), [Pair(1, 9.0), Pair(2, -1.0), Pair(2, 1.5)]);
        Native::list_reverse(pairs);
        assert_eq!(items::<Pair>(pairs), [Pair(2, 1.5), Pair(2, -1.0), Pair(1, 9.0)]);
        for x in [l, words, lengths, pairs] {
            free(x);
        }
    });
    assert_eq!(live(), before);
}

#[test]
fn nan_lands_where_cpython_puts_it() {
    // `sorted([3, nan, 1, 2, nan, 0])` and `sorted([5, 4, nan, 1, 2, 3], reverse=True)` of CPython 3.11.
    // SAFETY: lists are live until the test frees them, and nobody else has them.
    with_ctx(|ctx| unsafe {
        let nan = f64::NAN;
        for (input, reverse, expected) in [
            (vec![3.0, nan, 1.0, 2.0, nan, 0.0], 0, "[3.0, NaN, 1.0, 2.0, NaN, 0.0]"),
            (vec![5.0, 4.0, nan, 1.0, 2.0, 3.0], 1, "[5.0, 4.0, NaN, 3.0, 2.0, 1.0]"),
        ] {
            let l = make(&input, Type::float());
            Native::list_sort(ctx, l, reverse);
            assert_eq!(format!("{:?}", items::<f64>(l)), expected);
            free(l);
        }
    });
}

#[test]
fn the_own_timsort_agrees_with_the_standard_one() {
    // Runs, saw teeth and noise of many lengths go through binary insertion, galloping and both merges.
    let mut seed = 12345u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as u32
    };
    for n in [0usize, 1, 2, 3, 31, 32, 63, 64, 65, 100, 1000, 5000] {
        for shape in 0..6u32 {
            let mut v: Vec<(u32, usize)> = (0..n)
                .map(|i| {
                    let k = i as u32;
                    (
                        match shape {
                            0 => k,
                            1 => n as u32 - k,
                            2 => random() % 10,
                            3 => random(),
                            4 => k % 100,
                            _ => k / 7 ^ (random() % 50 == 0) as u32 * 999,
                        },
                        i,
                    )
                })
                .collect();
            let mut expected = v.clone();
            expected.sort_by_key(|p| p.0);
            timsort::timsort(&mut v, |a, b| a.0 < b.0);
            assert_eq!(v, expected, "n {n} shape {shape}");
        }
    }
}

#[test]
fn lists_own_what_strings_hold() {
    let before = live();
    let s = Owned::of_text("shared text").unwrap();
    // SAFETY: the list of strings is nobody else's until it is released.
    unsafe {
        let l = make(&[crate::string::share(s.get())], Type::str());
        retain(l.cast());
        free(l);
        free(l);
        assert_eq!((*s.get()).obj.refs.load(std::sync::atomic::Ordering::Relaxed), 1);
    }
    drop(s);
    assert_eq!(live(), before);
}

#[test]
fn tuples_of_numbers_are_sorted_by_all_of_them() {
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    struct Two<A, B>(A, B);
    fn check<A: Copy + PartialOrd + std::fmt::Debug, B: Copy + PartialOrd + std::fmt::Debug>(
        types: [Type; 2],
        firsts: &[A],
        seconds: &[B],
    ) {
        let mut state = 7usize;
        let mut next = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for n in [0, 1, 2, 30, 300] {
            let all: Vec<Two<A, B>> =
                (0..n).map(|_| Two(firsts[next(firsts.len())], seconds[next(seconds.len())])).collect();
            for reverse in [0, 1] {
                let mut expected = all.clone();
                expected.sort_by(|x, y| {
                    let order = x.0.partial_cmp(&y.0).unwrap().then(x.1.partial_cmp(&y.1).unwrap());
                    if reverse == 1 { order.reverse() } else { order }
                });
                // SAFETY: the list is live until it is freed, and nobody else has it.
                with_ctx(|ctx| unsafe {
                    let l = make(&all, Type::new(Kind::Tuple(types.to_vec())));
                    Native::list_sort(ctx, l, reverse);
                    assert_eq!(format!("{:?}", items::<Two<A, B>>(l)), format!("{expected:?}"));
                    free(l);
                });
            }
        }
    }
    let ints = [i64::MIN, -2, -1, 0, 1, 7, i64::MAX];
    let floats = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-320, 2.5, f64::INFINITY];
    let int = |t| Type::new(Kind::Int(t));
    check([Type::int(), Type::float()], &ints, &floats);
    check([Type::float(), Type::int()], &floats, &ints);
    check([Type::float(), Type::float()], &floats, &floats);
    check([int(Int::I8), int(Int::U64)], &[-128i8, -1, 0, 127], &[0u64, 1, 1 << 63, u64::MAX]);
    check([int(Int::U32), Type::bool()], &[0u32, 5, u32::MAX], &[false, true]);
}
