//! Deque objects: rings of elements in memory from `malloc`, whose layout and order the deque's descriptor
//! knows. Elements are numbered through ([`Deque::start`]), and lie where the low bits of their number say.
//!
//! A deque is whole again before anything that it held is released: a release may run code that looks at it.

#[cfg(test)]
mod tests;

use crate::Native;
use crate::blocks;
use crate::exc::{Error, Res, or_raise};
use crate::object::{count as count_object, release};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI64, AtomicUsize};
use tierup_core::desc::TypeDesc;
use tierup_core::desc::order::Order;
use tierup_core::exc::Class;
use tierup_core::layout::{Deque, Obj};
use tierup_core::ops::deque::Helpers;
use tierup_core::rt::{Ctx, P};

pub(crate) type D = *mut Deque;

pub(crate) unsafe extern "C" fn drop_deque(o: *mut Obj) {
    count_object(-1);
    // SAFETY: called once, with a deque that `new` made; its elements and memory are its own.
    unsafe {
        let d = o.cast::<Deque>();
        release_all(d);
        blocks::give((*d).data.cast(), room(d));
        drop(Box::from_raw(d));
    }
}

/// Bytes that the deque has for elements.
unsafe fn room(d: D) -> usize {
    // SAFETY: the deque is live.
    unsafe { (((*d).mask + 1) * (*d).desc.size) as usize }
}

/// An empty deque; `maxlen` is -1 where it may be of any length.
pub fn new(desc: &'static TypeDesc, maxlen: i64) -> D {
    count_object(1);
    Box::into_raw(Box::new(Deque {
        obj: Obj { refs: AtomicI64::new(1), drop: drop_deque },
        len: 0,
        users: AtomicI64::new(0),
        changer: AtomicUsize::new(0),
        start: 0,
        mask: -1,
        data: std::ptr::null_mut(),
        room: 0,
        maxlen,
        changes: 0,
        desc,
    }))
}

/// Where the element at position `i` lies, or would.
///
/// # Safety
/// Of all functions below: deques are live, nobody else changes them during the call, and elements are of the
/// deque's type.
pub unsafe fn at(d: D, i: i64) -> *mut u8 {
    // SAFETY: the deque is live; the address is only computed, and lies in its memory where there is any.
    unsafe {
        let place = ((*d).start.wrapping_add(i)) & (*d).mask;
        (*d).data.wrapping_offset(place.wrapping_mul((*d).desc.size) as isize)
    }
}

/// The elements from position `from` to before `to` as they lie: at most two runs of neighbours.
unsafe fn runs(d: D, from: i64, to: i64) -> impl Iterator<Item = (*mut u8, i64)> {
    // SAFETY: the deque is live, and the positions are those of elements.
    let first = unsafe {
        let place = ((*d).start.wrapping_add(from)) & (*d).mask;
        // To the end of the memory.
        (to - from).min((*d).mask + 1 - place).max(0)
    };
    [(from, first), (from + first, to - from - first)]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        // SAFETY: as above.
        .map(move |(i, count)| (unsafe { at(d, i) }, count))
}

unsafe fn release_all(d: D) {
    // SAFETY: the caller gives up what the elements hold.
    unsafe {
        for (p, count) in runs(d, 0, (*d).len) {
            (*d).desc.release(p, count);
        }
    }
}

/// Copies elements to memory that has room for them, without touching references.
unsafe fn copy_out(d: D, to: *mut u8) {
    // SAFETY: as required of the caller.
    unsafe {
        let size = (*d).desc.size;
        let mut done = 0;
        for (p, count) in runs(d, 0, (*d).len) {
            std::ptr::copy_nonoverlapping(p, to.wrapping_offset(done as isize), (count * size) as usize);
            done += count * size;
        }
    }
}

/// Appends the bytes of all elements, in order.
///
/// # Safety
/// See [`at`].
pub unsafe fn bytes(d: D, to: &mut Vec<MaybeUninit<u8>>) {
    // SAFETY: as required of the caller; there is room for the bytes, of which nobody need have written all.
    unsafe {
        let n = ((*d).len * (*d).desc.size) as usize;
        to.reserve(n);
        copy_out(d, to.as_mut_ptr().add(to.len()).cast());
        to.set_len(to.len() + n);
    }
}

/// One element that was moved out of a deque, or is to move in; on the stack where it is small.
struct Moved {
    few: [u64; 8],
    many: Vec<u64>,
}

impl Moved {
    fn new(desc: &TypeDesc) -> Moved {
        let words = (desc.size as usize).div_ceil(8);
        Moved { few: [0; 8], many: if words > 8 { vec![0; words] } else { vec![] } }
    }
    fn ptr(&mut self) -> *mut u8 {
        if self.many.is_empty() { self.few.as_mut_ptr().cast() } else { self.many.as_mut_ptr().cast() }
    }
}

unsafe fn copy_one(d: D, from: *const u8, to: *mut u8) {
    // SAFETY: an element lies at `from`, and there is room for one at `to`.
    unsafe { std::ptr::copy_nonoverlapping(from, to, (*d).desc.size as usize) }
}

/// Gives the deque memory for so many elements at least.
unsafe fn grow(d: D, least: i64) -> Res<()> {
    let no_memory = || Error::bare(Class::MemoryError);
    // SAFETY: nobody else changes the deque; every element moves to where its number says in the new memory,
    // in which there are more places.
    unsafe {
        if least <= (*d).mask + 1 {
            return Ok(());
        }
        let places = (least.max(8) as u64).checked_next_power_of_two().and_then(|n| i64::try_from(n).ok());
        let places = places.ok_or_else(no_memory)?;
        let size = (*d).desc.size;
        let bytes = places.checked_mul(size).filter(|b| *b <= isize::MAX as i64).ok_or_else(no_memory)?;
        let data = blocks::take((bytes as usize).max(1), false).0.cast::<u8>();
        if data.is_null() {
            return Err(no_memory());
        }
        let mut i = 0;
        while i < (*d).len {
            // As many as are neighbours in both.
            let number = (*d).start.wrapping_add(i);
            let (old, new) = (number & (*d).mask, number & (places - 1));
            let count = ((*d).len - i).min((*d).mask + 1 - old).min(places - new);
            let to = data.wrapping_offset((new * size) as isize);
            std::ptr::copy_nonoverlapping(at(d, i), to, (count * size) as usize);
            i += count;
        }
        blocks::give((*d).data.cast(), room(d));
        ((*d).data, (*d).mask) = (data, places - 1);
        (*d).room = if (*d).maxlen < 0 { places } else { places.min((*d).maxlen) };
        Ok(())
    }
}

/// Makes room for one more, growing to twice the size.
unsafe fn reserve(d: D) -> Res<()> {
    // SAFETY: as required of the caller.
    unsafe {
        let n = (*d).len;
        if n <= (*d).mask { Ok(()) } else { grow(d, n.saturating_add(1)) }
    }
}

/// Adds an element at one end, whose references move in, whatever happens; where the deque is as long as it
/// may be, the one at the other end goes.
unsafe fn push(d: D, value: *const u8, left: bool) -> Res<()> {
    // SAFETY: there is a place for the element, or it takes that of the one that goes, which is copied out
    // before.
    unsafe {
        if (*d).len < (*d).room {
            if left {
                (*d).start -= 1;
            }
            (*d).len += 1;
            (*d).changes += 1;
            copy_one(d, value, at(d, if left { 0 } else { (*d).len - 1 }));
            return Ok(());
        }
        if (*d).maxlen == 0 {
            (*d).changes += 1;
            (*d).desc.release(value, 1);
            return Ok(());
        }
        let full = (*d).len == (*d).maxlen;
        if !full && let Err(e) = reserve(d) {
            (*d).desc.release(value, 1);
            return Err(e);
        }
        let mut gone = Moved::new((*d).desc);
        if full {
            let from = at(d, if left { (*d).len - 1 } else { 0 });
            copy_one(d, from, gone.ptr());
            (*d).len -= 1;
            if !left {
                (*d).start += 1;
            }
        }
        if left {
            (*d).start -= 1;
        }
        (*d).len += 1;
        copy_one(d, value, at(d, if left { 0 } else { (*d).len - 1 }));
        (*d).changes += 1;
        if full {
            (*d).desc.release(gone.ptr(), 1);
        }
        Ok(())
    }
}

/// Takes over all elements of another deque, which is as long as it may be, in place of those that it had.
/// Iterators do not notice where these are as many, `assigned` one by one.
///
/// # Safety
/// See [`at`]; both are of one type.
pub unsafe fn take(d: D, other: D, assigned: bool) {
    // SAFETY: as required of the caller; both are whole after each step, and each has what the other had.
    unsafe {
        macro_rules! swap {
            ($($field:ident)*) => { $(std::ptr::swap(&raw mut (*d).$field, &raw mut (*other).$field);)* };
        }
        swap!(len start mask data room);
        (*d).changes += i64::from(!assigned);
    }
}

unsafe fn extend(d: D, other: D, left: bool) -> Res<()> {
    // SAFETY: both are live and of one type. What is added to itself is copied first; a copy of memory is
    // enough, since elements get references before any can go.
    unsafe {
        let (desc, n) = ((*other).desc, (*other).len);
        if d == other {
            let mut all = vec![];
            bytes(d, &mut all);
            let from: *mut u8 = all.as_mut_ptr().cast();
            desc.retain(from, n);
            for i in 0..n {
                let value = from.wrapping_offset((i * desc.size) as isize);
                if let Err(e) = push(d, value, left) {
                    desc.release(value.wrapping_offset(desc.size as isize), n - i - 1);
                    return Err(e);
                }
            }
            return Ok(());
        }
        for i in 0..n {
            desc.retain(at(other, i), 1);
            push(d, at(other, i), left)?;
        }
        Ok(())
    }
}

/// Removes all elements.
///
/// # Safety
/// See [`at`].
pub unsafe fn clear(d: D) {
    // SAFETY: the deque forgets its elements before any is released; they stay where they are until then.
    unsafe {
        let (len, mask, data, bytes) = ((*d).len, (*d).mask, (*d).data, room(d));
        if len == 0 {
            return;
        }
        ((*d).len, (*d).mask, (*d).data, (*d).room) = (0, -1, std::ptr::null_mut(), 0);
        (*d).changes += 1;
        let first = (*d).start & mask;
        let before_end = len.min(mask + 1 - first);
        (*d).desc.release(data.wrapping_offset((first * (*d).desc.size) as isize), before_end);
        (*d).desc.release(data, len - before_end);
        blocks::give(data.cast(), bytes);
    }
}

/// Makes places for so many more elements, but for no more than there may be; where there is no memory for
/// them, they are made when they are needed.
///
/// # Safety
/// See [`at`].
pub unsafe fn expect(d: D, more: i64) {
    // SAFETY: as required of the caller.
    unsafe {
        let n = (*d).len.saturating_add(more);
        let _ = grow(d, if (*d).maxlen < 0 { n } else { n.min((*d).maxlen) });
    }
}

/// # Safety
/// See above.
pub(crate) unsafe fn copy(d: D) -> Res<D> {
    // SAFETY: the new deque is nobody else's, and has the room.
    unsafe {
        let new = new((*d).desc, (*d).maxlen);
        let n = (*d).len;
        if n == 0 {
            return Ok(new);
        }
        if let Err(e) = grow(new, n) {
            release(new.cast());
            return Err(e);
        }
        copy_out(d, (*new).data);
        (*new).len = n;
        (*new).desc.retain((*new).data, n);
        Ok(new)
    }
}

/// Moves the last `n` elements to the beginning, one by one; the first `-n` to the end where it is negative.
unsafe fn turn(d: D, n: i64) {
    // SAFETY: each element moves to the place next to the other end, which is free, or its own.
    unsafe {
        if (*d).len == (*d).mask + 1 {
            // No place is free: the last one is that before the first.
            (*d).start -= n;
            return;
        }
        for _ in 0..n {
            let last = at(d, (*d).len - 1);
            (*d).start -= 1;
            move_one(d, last, at(d, 0));
        }
        for _ in n..0 {
            let first = at(d, 0);
            let to = at(d, (*d).len);
            (*d).start += 1;
            move_one(d, first, to);
        }
    }
}
unsafe fn move_one(d: D, from: *const u8, to: *mut u8) {
    // SAFETY: an element lies at `from`, and there is room for one at `to`, which may be the same place.
    unsafe { std::ptr::copy(from, to, (*d).desc.size as usize) }
}

unsafe fn rotate(d: D, n: i64) {
    // SAFETY: as required of the caller.
    unsafe {
        let len = (*d).len;
        if len <= 1 {
            return;
        }
        // The shorter way round.
        let mut by = n % len;
        if by > len / 2 {
            by -= len;
        } else if by < -(len / 2) {
            by += len;
        }
        turn(d, by);
        (*d).changes += 1;
    }
}

/// Makes a gap in the middle, of zeros: what holds nothing and can be released.
unsafe fn insert_gap(d: D, i: i64) -> Res<P> {
    // SAFETY: there is a place for one more; the elements on the shorter side move by one.
    unsafe {
        let len = (*d).len;
        if len == (*d).maxlen {
            return Err(Error::index("deque already at its maximum size"));
        }
        reserve(d)?;
        let i = if i < 0 { i.saturating_add(len).max(0) } else { i.min(len) };
        (*d).len += 1;
        (*d).changes += 1;
        if i < len / 2 {
            (*d).start -= 1;
            (0..i).for_each(|k| move_one(d, at(d, k + 1), at(d, k)));
        } else {
            (i..len).rev().for_each(|k| move_one(d, at(d, k), at(d, k + 1)));
        }
        let gap = at(d, i);
        std::ptr::write_bytes(gap, 0, (*d).desc.size as usize);
        Ok(gap)
    }
}

unsafe fn delete(d: D, i: i64) {
    // SAFETY: the position is that of an element, which is copied out before others move into its place.
    unsafe {
        let mut gone = Moved::new((*d).desc);
        copy_one(d, at(d, i), gone.ptr());
        let len = (*d).len;
        if i < len / 2 {
            (0..i).rev().for_each(|k| move_one(d, at(d, k), at(d, k + 1)));
            (*d).start += 1;
        } else {
            (i + 1..len).for_each(|k| move_one(d, at(d, k), at(d, k - 1)));
        }
        (*d).len -= 1;
        (*d).changes += 1;
        (*d).desc.release(gone.ptr(), 1);
    }
}

unsafe fn reverse(d: D) {
    // SAFETY: both positions are those of elements, which are not the same.
    unsafe {
        let (mut i, mut j) = (0, (*d).len - 1);
        while i < j {
            std::ptr::swap_nonoverlapping(at(d, i), at(d, j), (*d).desc.size as usize);
            (i, j) = (i + 1, j - 1);
        }
    }
}

unsafe fn repeat_in_place(d: D, n: i64) -> Res<()> {
    // SAFETY: as required of the caller; the copy keeps elements alive that go meanwhile.
    unsafe {
        let (len, maxlen) = ((*d).len, (*d).maxlen);
        if len == 0 || n == 1 {
            return Ok(());
        }
        if n <= 0 {
            clear(d);
            return Ok(());
        }
        let total = len.checked_mul(n).ok_or_else(|| Error::bare(Class::MemoryError))?;
        let bounded = maxlen >= 0 && total > maxlen;
        // No more than stay there in the end.
        let times = if bounded { (maxlen + len - 1) / len } else { n };
        // Python counts a change of a single element that is repeated, even where it stays alone.
        if len == 1 {
            (*d).changes += 1;
        }
        if times <= 1 {
            return Ok(());
        }
        grow(d, if bounded { maxlen } else { total })?;
        let once = copy(d)?;
        let done = (1..times).try_for_each(|_| extend(d, once, false));
        release(once.cast());
        done
    }
}

unsafe fn compare(a: D, b: D, only_equality: bool) -> Order {
    // SAFETY: both deques are live and of one type, and positions are below both lengths.
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

impl Helpers for Native {
    unsafe fn deque_new(desc: *const TypeDesc, maxlen: i64) -> D {
        // SAFETY: descriptors live for ever.
        unsafe { new(&*desc, maxlen) }
    }
    unsafe fn deque_append(ctx: Ctx, d: D, value: P) {
        // SAFETY: compiled code holds a reference to the deque, which nobody else has now, and gives up those
        // of the value; the context is the thread's own.
        unsafe { or_raise(ctx, push(d, value, false)) }
    }
    unsafe fn deque_append_left(ctx: Ctx, d: D, value: P) {
        // SAFETY: as in `deque_append`.
        unsafe { or_raise(ctx, push(d, value, true)) }
    }
    unsafe fn deque_extend(ctx: Ctx, d: D, other: D) {
        // SAFETY: both are live and of one type, and nobody else changes them; the context is the thread's.
        unsafe { or_raise(ctx, extend(d, other, false)) }
    }
    unsafe fn deque_extend_left(ctx: Ctx, d: D, other: D) {
        // SAFETY: as in `deque_extend`.
        unsafe { or_raise(ctx, extend(d, other, true)) }
    }
    unsafe fn deque_insert_gap(ctx: Ctx, d: D, i: i64) -> P {
        // SAFETY: the deque is live and nobody else's now; the context is the thread's own.
        unsafe { or_raise(ctx, insert_gap(d, i)) }
    }
    unsafe fn deque_delete(d: D, i: i64) {
        // SAFETY: compiled code has checked the position, and nobody else changes the deque.
        unsafe { delete(d, i) }
    }
    unsafe fn deque_rotate(d: D, n: i64) {
        // SAFETY: the deque is live and nobody else's now.
        unsafe { rotate(d, n) }
    }
    unsafe fn deque_reverse(d: D) {
        // SAFETY: the deque is live and nobody else's now.
        unsafe { reverse(d) }
    }
    unsafe fn deque_clear(d: D) {
        // SAFETY: the deque is live and nobody else's now.
        unsafe { clear(d) }
    }
    unsafe fn deque_copy(ctx: Ctx, d: D) -> D {
        // SAFETY: the deque is live and nobody changes it; the context is the thread's own.
        unsafe { or_raise(ctx, copy(d)) }
    }
    unsafe fn deque_repeat_in_place(ctx: Ctx, d: D, n: i64) {
        // SAFETY: the deque is live and nobody else's now; the context is the thread's own.
        unsafe { or_raise(ctx, repeat_in_place(d, n)) }
    }
    unsafe fn deque_eq(a: D, b: D) -> i8 {
        // SAFETY: both are live and of one type, and nobody changes them.
        unsafe { i8::from(compare(a, b, true) == Order::Equal) }
    }
    unsafe fn deque_compare(a: D, b: D) -> i64 {
        // SAFETY: both are live and of one type, and nobody changes them.
        unsafe { compare(a, b, false) as i64 }
    }
    unsafe fn deque_find(d: D, value: P, start: i64, stop: i64) -> i64 {
        // SAFETY: the deque is live, and the value is one of its element type.
        unsafe {
            let len = (*d).len;
            let clamp = |i: i64| if i < 0 { i.saturating_add(len).max(0) } else { i.min(len) };
            let (from, to) = (clamp(start), clamp(stop));
            (from..to).find(|i| (*d).desc.compare(at(d, *i), value) == Order::Equal).unwrap_or(-1)
        }
    }
    unsafe fn deque_count(d: D, value: P) -> i64 {
        // SAFETY: the deque is live, and the value is one of its element type.
        unsafe {
            (0..(*d).len).filter(|i| (*d).desc.compare(at(d, *i), value) == Order::Equal).count() as i64
        }
    }
}
