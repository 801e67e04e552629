//! List objects: contiguous elements in memory from `malloc`, whose layout and order the list's descriptor
//! knows.
//!
//! Every change of length checks the borrow word first, so that whoever iterates or sorts never sees freed
//! memory. [`sort`] sorts elements.

pub(crate) mod sort;
#[cfg(test)]
mod tests;
mod timsort;

use crate::Native;
use crate::blocks;
use crate::exc::{Error, Res, or_raise};
use crate::object::{count as count_object, release};
use crate::poll::Poll;
use crate::use_word;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI64, AtomicUsize};
use tierup_core::desc::order::Order;
use tierup_core::desc::{self, TypeDesc};
use tierup_core::exc::Class;
use tierup_core::layout::{List, Obj, Str};
use tierup_core::ops::list::Helpers;
use tierup_core::rt::{Ctx, P};
use tierup_core::types::Type;

type L = *mut List;

pub(crate) unsafe extern "C" fn drop_list(o: *mut Obj) {
    count_object(-1);
    // SAFETY: called once, with a list that `new` made; its elements and memory are its own.
    unsafe {
        let l = o.cast::<List>();
        (*l).desc.release((*l).data, (*l).len);
        blocks::give((*l).data.cast(), ((*l).cap * (*l).desc.size) as usize);
        drop(Box::from_raw(l));
    }
}

/// An empty list with room for `cap` elements.
pub(crate) fn new(desc: &'static TypeDesc, cap: i64) -> Res<L> {
    count_object(1);
    let l = Box::into_raw(Box::new(List {
        obj: Obj { refs: AtomicI64::new(1), drop: drop_list },
        len: 0,
        users: AtomicI64::new(0),
        changer: AtomicUsize::new(0),
        cap: 0,
        data: std::ptr::null_mut(),
        desc,
        borrow: 0,
    }));
    // SAFETY: `l` is a fresh list, of which nobody else knows.
    unsafe { set_capacity(l, cap).map(|()| l).inspect_err(|_| release(l.cast())) }
}

/// A list of `len` elements, all zero.
pub(crate) fn zeroed(desc: &'static TypeDesc, len: i64) -> Res<L> {
    let l = new(desc, len)?;
    // SAFETY: the list has the room.
    unsafe {
        if desc.size > 0 {
            std::ptr::write_bytes((*l).data, 0, (len * desc.size) as usize);
        }
        (*l).len = len;
    }
    Ok(l)
}

/// A list of owned strings; frees what was made when one of them fails.
pub(crate) fn of_strings(n: usize, strings: impl Iterator<Item = Res<*mut Str>>) -> Res<L> {
    let l = new(desc::of(Type::str()), n as i64)?;
    for s in strings {
        match s {
            // SAFETY: `l` has room for `n` pointers, and there are no more strings than that.
            Ok(s) => unsafe {
                (*l).data.cast::<*mut Str>().add((*l).len as usize).write(s);
                (*l).len += 1;
            },
            Err(e) => {
                // SAFETY: the list is nobody else's.
                unsafe { release(l.cast()) };
                return Err(e);
            }
        }
    }
    Ok(l)
}

/// # Safety
/// Of all functions below: lists are live, and nobody else changes them during the call.
unsafe fn set_capacity(l: L, cap: i64) -> Res<()> {
    // SAFETY: the list is live and nobody else's; its memory came from `grow`.
    unsafe {
        if cap <= (*l).cap {
            return Ok(());
        }
        // Elements without leaves (`None`) take no memory, but a list of them has a length: that of Python's at
        // most, whose elements are pointers.
        let bytes = cap
            .checked_mul((*l).desc.size)
            .filter(|b| *b <= isize::MAX as i64 && cap <= MOST)
            .ok_or_else(|| Error::bare(Class::MemoryError))?;
        let had = ((*l).cap * (*l).desc.size) as usize;
        let data = blocks::grow((*l).data.cast(), had, bytes as usize);
        if data.is_null() {
            return Err(Error::bare(Class::MemoryError));
        }
        (*l).data = data.cast();
        (*l).cap = cap;
        Ok(())
    }
}

/// No list has more elements.
const MOST: i64 = tierup_core::lir::MAX_LENGTH;

unsafe fn check_borrow(l: L) -> Res<()> {
    // SAFETY: the list is live.
    if unsafe { (*l).borrow } != 0 {
        return Err(Error::new(Class::RuntimeError, "list changed size while it was in use"));
    }
    Ok(())
}

/// Two lists of one type swap what they hold; false where one is in use in a way that this would break.
///
/// # Safety
/// Both are live, of the same type, and nobody else uses them during the call.
pub unsafe fn swap(a: L, b: L) -> bool {
    // SAFETY: as required of the caller.
    unsafe {
        if (*a).borrow != 0 || (*b).borrow != 0 {
            return false;
        }
        std::ptr::swap(&raw mut (*a).len, &raw mut (*b).len);
        std::ptr::swap(&raw mut (*a).cap, &raw mut (*b).cap);
        std::ptr::swap(&raw mut (*a).data, &raw mut (*b).data);
    }
    true
}

/// Makes room for `extra` more elements, growing by half.
pub(crate) unsafe fn reserve(l: L, extra: i64) -> Res<()> {
    // SAFETY: the list is live and nobody else changes it.
    unsafe {
        check_borrow(l)?;
        let need = (*l).len.checked_add(extra).ok_or_else(|| Error::bare(Class::MemoryError))?;
        if need <= (*l).cap {
            return Ok(());
        }
        set_capacity(
            l,
            need.max((*l).cap.saturating_add((*l).cap / 2).saturating_add(4))
                .min(i64::MAX / (*l).desc.size.max(1)),
        )
        .or_else(|_| set_capacity(l, need))
    }
}

pub(crate) unsafe fn at(l: L, i: i64) -> *mut u8 {
    // SAFETY: the list is live; the address is only computed.
    unsafe { (*l).data.wrapping_offset((i * (*l).desc.size) as isize) }
}

unsafe fn release_range(l: L, from: i64, to: i64) {
    // SAFETY: the caller gives up references that elements in the range hold.
    unsafe { (*l).desc.release(at(l, from), to - from) }
}
unsafe fn retain_range(l: L, from: i64, to: i64) {
    // SAFETY: elements in the range are initialised.
    unsafe { (*l).desc.retain(at(l, from), to - from) }
}

/// Copies `count` elements to position `to` of a list that has the room, without touching references.
unsafe fn move_elements(from: L, start: i64, dst: L, to: i64, count: i64) {
    // SAFETY: the elements are there, and the other list has the room and elements of the same size; both may
    // be one list.
    unsafe {
        if count > 0 && (*from).desc.size > 0 {
            std::ptr::copy(at(from, start), at(dst, to), (count * (*from).desc.size) as usize)
        }
    }
}

/// A new list with copies of the elements at `positions`.
unsafe fn gather(l: L, count: i64, position: impl Fn(i64) -> i64) -> Res<L> {
    // SAFETY: positions are those of elements, and the new list has room for as many.
    unsafe {
        let new = new((*l).desc, count)?;
        for i in 0..count {
            move_elements(l, position(i), new, i, 1);
        }
        (*new).len = count;
        retain_range(new, 0, count);
        Ok(new)
    }
}
pub(crate) unsafe fn slice(l: L, start: i64, step: i64, count: i64) -> Res<L> {
    let count = count.max(0);
    if step != 1 {
        // SAFETY: the caller has adjusted the slice to the list.
        return unsafe { gather(l, count, |i| start + i * step) };
    }
    // SAFETY: the caller has adjusted the slice to the list; the new list has room for as many elements.
    unsafe {
        let new = new((*l).desc, count)?;
        move_elements(l, start, new, 0, count);
        (*new).len = count;
        retain_range(new, 0, count);
        Ok(new)
    }
}

/// Clamps a Python index for `insert`.
fn clamp(i: i64, len: i64) -> i64 {
    if i < 0 { (i + len).max(0) } else { i.min(len) }
}

unsafe fn insert_gap(l: L, i: i64) -> Res<P> {
    // SAFETY: there is room for one more, and the position is clamped to the list.
    unsafe {
        reserve(l, 1)?;
        let i = clamp(i, (*l).len);
        move_elements(l, i, l, i + 1, (*l).len - i);
        (*l).len += 1;
        Ok(at(l, i))
    }
}

unsafe fn pop_index(l: L, i: i64) -> Res<i64> {
    // SAFETY: the list is live.
    let len = unsafe { (*l).len };
    if len == 0 {
        return Err(Error::index("pop from empty list"));
    }
    let at = if i < 0 { i + len } else { i };
    if at < 0 || at >= len {
        return Err(Error::index("pop index out of range"));
    }
    Ok(at)
}

/// Removes positions without releasing what they held.
unsafe fn close_gap(l: L, i: i64, count: i64) -> Res<()> {
    // SAFETY: the caller's positions are those of elements, whose references it has taken over.
    unsafe {
        check_borrow(l)?;
        move_elements(l, i + count, l, i, (*l).len - i - count);
        (*l).len -= count;
        Ok(())
    }
}

unsafe fn delete(l: L, start: i64, step: i64, count: i64) -> Res<()> {
    if count <= 0 {
        return Ok(());
    }
    // SAFETY: the caller has adjusted the slice to the list, so every position is that of an element, in
    // ascending order here.
    unsafe {
        check_borrow(l)?;
        // Going up, whatever the direction of the slice.
        let (first, step) = if step < 0 { (start + (count - 1) * step, -step) } else { (start, step) };
        // The list is consistent again before anything is released: a release may run code that looks at it.
        let desc = (*l).desc;
        let doomed = if desc.refs.is_empty() { None } else { Some(new(desc, count)?) };
        if let Some(doomed) = doomed {
            for k in 0..count {
                move_elements(l, first + k * step, doomed, k, 1);
            }
            (*doomed).len = count;
        }
        for k in 0..count {
            let from = first + k * step + 1;
            let to = if k + 1 < count { from + step - 1 } else { (*l).len };
            move_elements(l, from, l, from - 1 - k, to - from);
        }
        (*l).len -= count;
        if let Some(doomed) = doomed {
            release(doomed.cast());
        }
        Ok(())
    }
}

unsafe fn assign_slice(l: L, start: i64, step: i64, count: i64, other: L) -> Res<()> {
    // SAFETY: both lists are live, the slice is adjusted to `l`, and room is made before elements move.
    unsafe {
        let (count, n) = (count.max(0), (*other).len);
        if step != 1 && n != count {
            return Err(Error::value(format!(
                "attempt to assign sequence of size {n} to extended slice of size {count}"
            )));
        }
        // A copy first: `other` may be `l`, and holds the references that the list is to get.
        let copy = slice(other, 0, 1, n)?;
        let replaced = slice(l, start, step, count);
        let finish = |replaced: L| -> Res<()> {
            if step == 1 {
                let grow = n - count;
                if grow != 0 {
                    check_borrow(l)?;
                }
                if grow > 0 {
                    reserve(l, grow)?;
                }
                move_elements(l, start + count, l, start + n, (*l).len - start - count);
                (*l).len += grow;
            }
            for k in 0..n {
                move_elements(copy, k, l, start + k * step, 1);
            }
            // The references moved: those of `copy` into the list, the list's own old ones stay with
            // `replaced`'s once more.
            (*copy).len = 0;
            release_range(replaced, 0, count);
            Ok(())
        };
        let result = replaced.and_then(|r| {
            let done = finish(r);
            release(r.cast());
            done
        });
        release(copy.cast());
        result
    }
}

unsafe fn append_all(l: L, other: L) -> Res<()> {
    // SAFETY: room was made; where both are one list, its length is read before it changes.
    unsafe {
        let (old, n) = ((*l).len, (*other).len);
        reserve(l, n)?;
        move_elements(other, 0, l, old, n);
        (*l).len = old + n;
        retain_range(l, old, old + n);
        Ok(())
    }
}

unsafe fn clear(l: L) -> Res<()> {
    // SAFETY: the slice is all of the list.
    unsafe { delete(l, 0, 1, (*l).len) }
}

pub(crate) unsafe fn concat(a: L, b: L) -> Res<L> {
    // SAFETY: both lists are live and of one type.
    unsafe {
        let cap = (*a).len.checked_add((*b).len).ok_or_else(|| Error::bare(Class::MemoryError))?;
        let l = new((*a).desc, cap)?;
        // Room was made above, so appending cannot fail.
        append_all(l, a).and_then(|()| append_all(l, b))?;
        Ok(l)
    }
}

unsafe fn repeat_in_place(l: L, n: i64) -> Res<()> {
    // SAFETY: there is room for all copies, each of which goes behind those before it.
    unsafe {
        if n <= 0 {
            return clear(l);
        }
        let old = (*l).len;
        if n == 1 || old == 0 {
            return Ok(());
        }
        let total = old.checked_mul(n).ok_or_else(|| Error::bare(Class::MemoryError))?;
        check_borrow(l)?;
        set_capacity(l, total)?;
        for k in 1..n {
            move_elements(l, 0, l, k * old, old);
        }
        (*l).len = total;
        retain_range(l, old, total);
        Ok(())
    }
}
pub(crate) unsafe fn repeat(l: L, n: i64) -> Res<L> {
    // SAFETY: the list is live, and the copy is nobody else's.
    unsafe {
        let copy = slice(l, 0, 1, if n <= 0 { 0 } else { (*l).len })?;
        match repeat_in_place(copy, n) {
            Ok(()) => Ok(copy),
            Err(e) => {
                release(copy.cast());
                Err(e)
            }
        }
    }
}

unsafe fn reverse(l: L) {
    // SAFETY: the list is live.
    let size = unsafe { (*l).desc.size as usize };
    // SAFETY: elements of that size, at their natural alignment; nobody looks at what they are.
    unsafe {
        match size {
            0 => {}
            1 => elements::<u8>(l).reverse(),
            8 if (*l).desc.align == 8 => elements::<u64>(l).reverse(),
            _any => {
                let all = std::slice::from_raw_parts_mut(
                    if (*l).len == 0 {
                        std::ptr::dangling_mut()
                    } else {
                        (*l).data.cast::<MaybeUninit<u8>>()
                    },
                    (*l).len as usize * size,
                );
                let (mut i, mut j) = (0, (*l).len as usize);
                while i + 1 < j {
                    j -= 1;
                    let (left, right) = all.split_at_mut(j * size);
                    left[i * size..(i + 1) * size].swap_with_slice(&mut right[..size]);
                    i += 1;
                }
            }
        }
    }
}

/// # Safety
/// Elements are one value of that type, or of its size and alignment.
unsafe fn elements<'a, T>(l: L) -> &'a mut [T] {
    // SAFETY: as required of the caller; nobody else uses the elements, and an empty list's memory may be
    // null.
    unsafe {
        let data = if (*l).len == 0 { std::ptr::dangling_mut() } else { (*l).data.cast() };
        std::slice::from_raw_parts_mut(data, (*l).len as usize)
    }
}

unsafe fn compare_lists(a: L, b: L, only_equality: bool) -> Order {
    // SAFETY: both lists are live and of one type, and positions are below both lengths.
    unsafe {
        // Each element is itself.
        if a == b {
            return Order::Equal;
        }
        if only_equality && (*a).len != (*b).len {
            return Order::Unordered;
        }
        for i in 0..(*a).len.min((*b).len) {
            let order = (*a).desc.compare(at(a, i), at(b, i));
            if order != Order::Equal {
                return order;
            }
        }
        Order::of((*a).len.cmp(&(*b).len))
    }
}

/// Helpers that forward to a function of the same contract and leave its error pending.
macro_rules! forward {
    ($(fn $name:ident($($p:ident: $t:ty),*) -> $r:ty = $e:expr;)*) => {$(
        unsafe fn $name(ctx: Ctx, $($p: $t),*) -> $r {
            // SAFETY: compiled code holds references to the lists, and locks what threads of a parallel loop
            // share; the context is the thread's own.
            unsafe { or_raise(ctx, $e) }
        }
    )*};
}

impl Helpers for Native {
    unsafe fn list_new(ctx: Ctx, desc: *const TypeDesc, cap: i64) -> L {
        // SAFETY: descriptors live for ever, and the context is the thread's own.
        unsafe { or_raise(ctx, new(&*desc, cap)) }
    }
    forward! {
        fn list_reserve(l: L, extra: i64) -> () = reserve(l, extra);
        fn list_insert_gap(l: L, i: i64) -> P = insert_gap(l, i);
        fn list_pop_index(l: L, i: i64) -> i64 = pop_index(l, i);
        fn list_close_gap(l: L, i: i64) -> () = close_gap(l, i, 1);
        fn list_delete(l: L, start: i64, step: i64, count: i64) -> () = delete(l, start, step, count);
        fn list_slice(l: L, start: i64, step: i64, count: i64) -> L =
            slice(l, start, step, count).inspect(|part| {
                // What is taken from a typed list is one.
                if use_word::is_shown(l.cast()) {
                    use_word::show(part.cast());
                }
            });
        fn list_assign_slice(l: L, start: i64, step: i64, count: i64, other: L) -> () =
            assign_slice(l, start, step, count, other);
        fn list_extend(l: L, other: L) -> () = append_all(l, other);
        fn list_clear(l: L) -> () = clear(l);
        fn list_concat(a: L, b: L) -> L = concat(a, b);
        fn list_repeat(l: L, n: i64) -> L = repeat(l, n);
        fn list_repeat_in_place(l: L, n: i64) -> () = repeat_in_place(l, n);
    }
    unsafe fn list_reverse(l: L) {
        // SAFETY: compiled code holds a reference, and nobody else changes the list meanwhile.
        unsafe { reverse(l) }
    }
    unsafe fn list_eq(a: L, b: L) -> i8 {
        // SAFETY: compiled code holds references to both, which have one type.
        unsafe { (compare_lists(a, b, true) == Order::Equal) as i8 }
    }
    unsafe fn list_compare(a: L, b: L) -> i64 {
        // SAFETY: compiled code holds references to both, which have one type.
        unsafe { compare_lists(a, b, false) as i64 }
    }
    unsafe fn list_find(l: L, value: P, start: i64, stop: i64) -> i64 {
        // SAFETY: the list is live, and the value is one of its element type.
        unsafe {
            let len = (*l).len;
            let (from, to) = (clamp(start, len), clamp(stop, len));
            (from..to).find(|i| (*l).desc.compare(at(l, *i), value) == Order::Equal).unwrap_or(-1)
        }
    }
    unsafe fn list_count(l: L, value: P) -> i64 {
        // SAFETY: the list is live, and the value is one of its element type.
        unsafe {
            (0..(*l).len).filter(|i| (*l).desc.compare(at(l, *i), value) == Order::Equal).count() as i64
        }
    }
    unsafe fn list_sort(ctx: Ctx, l: L, reverse: i8) {
        // SAFETY: the list and the context are live; who else changes the list while signals are handled is
        // kept off by the use that the call has of it.
        unsafe { or_raise(ctx, sort::sort(l, None, reverse != 0, &mut Poll::new(ctx))) }
    }
    unsafe fn list_sort_by_keys(ctx: Ctx, l: L, keys: L, reverse: i8) {
        // SAFETY: as in `list_sort`; the keys are the sort's own.
        unsafe { or_raise(ctx, sort::sort(l, Some(keys), reverse != 0, &mut Poll::new(ctx))) }
    }
}
