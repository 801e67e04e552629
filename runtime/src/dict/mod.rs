//! Dict objects: entries one behind the other in the order in which keys came, and an index that finds them by
//! hash. What keys and values are, the dict's descriptors know.
//!
//! The entry of a key that is removed stays behind, empty, until the entries have to grow: then those that are
//! there move up. That happens when it does in CPython, so that iterators over a dict that changes meanwhile
//! see what they see there.

mod memory;
#[cfg(test)]
mod tests;

use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::object::{count as count_object, release};
use hashbrown::HashTable;
use std::sync::atomic::{AtomicI64, AtomicUsize};
use tierup_core::desc::order::Order;
use tierup_core::desc::{TypeDesc, hash};
use tierup_core::elem::Elem;
use tierup_core::exc::Class;
use tierup_core::layout::{Dict, Obj, Str};
use tierup_core::ops::dict::{Helpers, KEY_AT};
use tierup_core::rt::{Ctx, P};

pub(crate) type D = *mut Dict;
type Index = HashTable<u32>;

pub(crate) unsafe extern "C" fn drop_dict(o: *mut Obj) {
    count_object(-1);
    // SAFETY: called once, with a dict that `new` made; its entries and memory are its own.
    unsafe {
        let d = o.cast::<Dict>();
        (*d).entry.release((*d).entries, (*d).used);
        libc::free((*d).entries.cast());
        drop(Box::from_raw((*d).index.cast::<Index>()));
        drop(Box::from_raw(d));
    }
}

/// An empty dict; `entry` describes a hash, a key and a value.
pub fn new(entry: &'static TypeDesc, key: &'static TypeDesc, value: &'static TypeDesc) -> D {
    count_object(1);
    Box::into_raw(Box::new(Dict {
        obj: Obj { refs: AtomicI64::new(1), drop: drop_dict },
        len: 0,
        users: AtomicI64::new(0),
        changer: AtomicUsize::new(0),
        used: 0,
        cap: 0,
        table: 0,
        entries: std::ptr::null_mut(),
        entry,
        key,
        value,
        index: Box::into_raw(Box::new(Index::new())).cast(),
    }))
}

/// Two dicts of one type swap what they hold.
///
/// # Safety
/// Both are live, of the same type, and nobody else uses them during the call.
pub unsafe fn swap(a: D, b: D) {
    // SAFETY: as required of the caller.
    unsafe {
        std::ptr::swap(&raw mut (*a).len, &raw mut (*b).len);
        std::ptr::swap(&raw mut (*a).used, &raw mut (*b).used);
        std::ptr::swap(&raw mut (*a).cap, &raw mut (*b).cap);
        std::ptr::swap(&raw mut (*a).table, &raw mut (*b).table);
        std::ptr::swap(&raw mut (*a).entries, &raw mut (*b).entries);
        std::ptr::swap(&raw mut (*a).index, &raw mut (*b).index);
    }
}

/// # Safety
/// Of all functions below: dicts are live, nobody else changes them during the call, and keys and values are
/// of the dict's types.
pub unsafe fn at(d: D, i: i64) -> *mut u8 {
    // SAFETY: the dict is live; the address is only computed, and lies among the entries where there is one.
    unsafe { (*d).entries.wrapping_offset((i * (*d).entry.size) as isize) }
}
/// Where the value of an entry lies.
///
/// # Safety
/// See [`at`].
pub unsafe fn value_at(d: D, i: i64) -> *mut u8 {
    // SAFETY: the dict is live.
    unsafe { at(d, i).wrapping_offset(value_offset(&*d) as isize) }
}
/// Where values lie in entries.
pub fn value_offset(d: &Dict) -> i64 {
    (KEY_AT as usize + d.key.size as usize).next_multiple_of(d.value.align as usize) as i64
}
unsafe fn hash_at(d: D, i: i64) -> u64 {
    // SAFETY: the entry is one of the dict's; entries begin with their hash, which is aligned.
    unsafe { at(d, i).cast::<u64>().read() }
}
/// To look in: threads of a parallel loop may do so at once.
unsafe fn index<'a>(d: D) -> &'a Index {
    // SAFETY: the dict is live, and nobody changes it during the call.
    unsafe { &*(*d).index.cast::<Index>() }
}
unsafe fn index_mut<'a>(d: D) -> &'a mut Index {
    // SAFETY: the dict is live, and nobody else uses it while it changes; callers hold one of these at a
    // time.
    unsafe { &mut *(*d).index.cast::<Index>() }
}

/// The first entry from `i` on that is there; `used` where there is none.
///
/// # Safety
/// See [`at`].
pub(crate) unsafe fn live_from(d: D, mut i: i64) -> i64 {
    // SAFETY: entries below `used` have a hash.
    unsafe {
        while i < (*d).used && hash_at(d, i) == 0 {
            i += 1;
        }
        i
    }
}
/// All entries that are there, in order.
///
/// # Safety
/// See [`at`].
pub unsafe fn live(d: D) -> impl Iterator<Item = i64> {
    // SAFETY: as required of the caller.
    unsafe { (0..(*d).used).filter(move |i| hash_at(d, *i) != 0) }
}

/// Runs `f` with the hash of a key, which is not 0, and what tells whether a key is that.
#[inline(always)]
unsafe fn with_key<R>(d: D, key: *const u8, f: impl FnOnce(u64, &dyn Fn(*const u8) -> bool) -> R) -> R {
    // SAFETY: the key is one of the dict's type, as required of the caller, and so is what it is compared
    // with.
    unsafe {
        let h = (*d).key.hash(key);
        let desc = (*d).key;
        f(h.max(1), &|other| desc.compare(other, key) == Order::Equal)
    }
}

#[inline(always)]
unsafe fn search(d: D, h: u64, is: impl Fn(*const u8) -> bool) -> Option<i64> {
    // SAFETY: the index holds numbers of entries that are there.
    unsafe {
        let found = index(d).find(h, |i| {
            let entry = at(d, i64::from(*i));
            entry.cast::<u64>().read() == h && is(entry.add(KEY_AT as usize))
        });
        found.map(|i| i64::from(*i))
    }
}

/// The hash of a key, and where its entry is.
///
/// # Safety
/// See [`at`].
pub(crate) unsafe fn find(d: D, key: *const u8) -> (u64, Option<i64>) {
    // SAFETY: the key is of the type that the descriptor says, and so are those of all entries.
    unsafe {
        match (*d).key.scalar() {
            Some(Elem::I64) => {
                let k = key.cast::<i64>().read();
                let h = hash::integer(k).max(1);
                // Numbers are compared as fast as hashes are.
                let same = |i: &u32| at(d, i64::from(*i)).add(KEY_AT as usize).cast::<i64>().read() == k;
                (h, index(d).find(h, same).map(|i| i64::from(*i)))
            }
            Some(Elem::Str) => {
                let k = &*key.cast::<*const Str>().read();
                let h = hash::string(k).max(1);
                (h, search(d, h, |other| hash::same_string(&*other.cast::<*const Str>().read(), k)))
            }
            _ => with_key(d, key, |h, is| (h, search(d, h, is))),
        }
    }
}

/// How many entries CPython's table of that size has room for.
fn usable(size: i64) -> i64 {
    size / 3 * 2 + size % 3 * 2 / 3
}
/// The size of a table of which is known what it has at least, with CPython's rounding: 3 to 8 give 16.
fn table_size(least: i64) -> i64 {
    let bits = ((least.clamp(0, 1 << 40) | 8) - 1) | 7;
    1 << (i64::BITS - bits.leading_zeros())
}
/// The size of a table that is to hold so many.
fn table_for(entries: i64) -> i64 {
    table_size(entries.saturating_mul(3).saturating_add(1) / 2)
}

/// Gives the dict a table of that size, where CPython does: entries that are there move up where some are
/// empty.
unsafe fn resize(d: D, size: i64) -> Res<()> {
    let no_memory = || Error::bare(Class::MemoryError);
    // SAFETY: nobody else changes the dict; entries are moved as plain memory, and the index finds by the
    // hashes in them.
    unsafe {
        let cap = usable(size);
        // The index counts entries in 32 bits.
        let bytes = cap
            .checked_mul((*d).entry.size)
            .filter(|b| *b <= isize::MAX as i64 && cap < i64::from(u32::MAX) && cap > (*d).len)
            .ok_or_else(no_memory)?;
        if (*d).len != (*d).used {
            compact(d);
        }
        let moved = libc::realloc((*d).entries.cast(), (bytes as usize).max(1));
        if moved.is_null() {
            return Err(no_memory());
        }
        (*d).entries = moved.cast();
        ((*d).cap, (*d).table) = (cap, size);
        let room = (cap - (*d).used) as usize;
        index_mut(d).try_reserve(room, |i| hash_at(d, i64::from(*i))).map_err(|_| no_memory())
    }
}

/// Closes the gaps that removed keys left.
unsafe fn compact(d: D) {
    // SAFETY: entries below `used` are there; they only move down, and what they hold moves with them.
    unsafe {
        let size = (*d).entry.size as usize;
        let mut to = 0;
        for i in 0..(*d).used {
            if hash_at(d, i) == 0 {
                continue;
            }
            if i != to {
                std::ptr::copy(at(d, i), at(d, to), size);
            }
            to += 1;
        }
        (*d).used = to;
        index_anew(d);
    }
}

/// Finds all entries by the hashes that they have now.
unsafe fn index_anew(d: D) {
    // SAFETY: nobody else uses the index; it had room for as many before.
    unsafe {
        index_mut(d).clear();
        for i in live(d) {
            index_mut(d).insert_unique(hash_at(d, i), i as u32, |i| hash_at(d, i64::from(*i)));
        }
    }
}

/// Keys may have become others, equal to none that were there: copies of objects that are found by what they
/// are.
///
/// # Safety
/// See [`at`].
pub(crate) unsafe fn keys_changed(d: D) {
    // SAFETY: the keys are of the type that the descriptor says.
    unsafe {
        let Some(hash) = (*d).key.slots.hash else { return };
        let key = (*d).key;
        if key.refs.is_empty() || key.scalar() == Some(Elem::Str) {
            return;
        }
        for i in live(d) {
            let entry = at(d, i);
            entry.cast::<u64>().write(hash(key, entry.add(KEY_AT as usize)).max(1));
        }
        index_anew(d);
    }
}

/// The entry of a key; where there was none, a new one whose value is all zeros.
///
/// # Safety
/// See [`at`].
pub(crate) unsafe fn place(d: D, key: *const u8) -> Res<i64> {
    // SAFETY: the key is of the dict's type.
    unsafe {
        let (h, found) = find(d, key);
        match found {
            Some(i) => Ok(i),
            None => append(d, key, h),
        }
    }
}

/// A new entry of a key that is not there, whose value is all zeros; the hash is not 0.
unsafe fn append(d: D, key: *const u8, h: u64) -> Res<i64> {
    // SAFETY: the entry at `used` has room, and gets a reference of its own to what the key holds.
    unsafe {
        if (*d).used == (*d).cap {
            resize(d, table_size((*d).len.saturating_mul(3)))?;
        }
        let i = (*d).used;
        write_entry(at(d, i), (*d).entry.size as usize, h, key, (*d).key.size as usize);
        (*d).key.retain(key, 1);
        index_mut(d).insert_unique(h, i as u32, |i| hash_at(d, i64::from(*i)));
        (*d).used += 1;
        (*d).len += 1;
        Ok(i)
    }
}

/// A hash and a key, and zeros for the value. Most entries are two or three words.
#[inline(always)]
unsafe fn write_entry(entry: *mut u8, size: usize, h: u64, key: *const u8, key_size: usize) {
    const KEY: usize = KEY_AT as usize;
    // SAFETY: the caller's entry has that size, which is that of a hash, of the key and of a value.
    unsafe {
        entry.cast::<u64>().write(h);
        if key_size == 8 && size <= KEY + 16 {
            entry.add(KEY).cast::<u64>().write_unaligned(key.cast::<u64>().read_unaligned());
            if size == KEY + 16 {
                entry.add(KEY + 8).cast::<u64>().write_unaligned(0);
                return;
            }
            if size == KEY + 8 {
                return;
            }
        } else {
            std::ptr::copy_nonoverlapping(key, entry.add(KEY), key_size);
        }
        std::ptr::write_bytes(entry.add(KEY + key_size), 0, size - KEY - key_size);
    }
}

/// The first place behind `after` whose key has a hash that its class says.
unsafe fn with_hash(d: D, hash: i64, after: i64) -> Option<i64> {
    let h = of_class(hash);
    // SAFETY: the index holds numbers of entries that are there.
    unsafe {
        index(d).iter_hash(h).map(|i| i64::from(*i)).filter(|i| *i > after && hash_at(d, *i) == h).min()
    }
}
/// What the index finds a key by whose class says its hash.
fn of_class(hash: i64) -> u64 {
    hash::integer(hash).max(1)
}

/// Takes an entry out. Its key is released, its value not.
unsafe fn remove(d: D, i: i64) {
    // SAFETY: the entry is there, as required of the caller; its key is copied out before its place is
    // zeroed.
    unsafe {
        let h = hash_at(d, i);
        if let Ok(found) = index_mut(d).find_entry(h, |k| i64::from(*k) == i) {
            found.remove();
        }
        (*d).len -= 1;
        let size = (*d).key.size as usize;
        // The dict is whole again before anything is released.
        let mut key = vec![0u64; size.div_ceil(8)];
        std::ptr::copy_nonoverlapping(at(d, i).add(KEY_AT as usize), key.as_mut_ptr().cast(), size);
        std::ptr::write_bytes(at(d, i), 0, (*d).entry.size as usize);
        (*d).key.release(key.as_ptr().cast(), 1);
    }
}

/// Takes all entries out.
///
/// # Safety
/// See [`at`].
pub unsafe fn clear(d: D) {
    // SAFETY: the dict forgets its entries before any is released, so whoever looks meanwhile sees an empty
    // one.
    unsafe {
        let (entries, used) = ((*d).entries, (*d).used);
        ((*d).entries, (*d).len, (*d).used) = (std::ptr::null_mut(), 0, 0);
        ((*d).cap, (*d).table) = (0, 0);
        *index_mut(d) = Index::new();
        (*d).entry.release(entries, used);
        libc::free(entries.cast());
    }
}

/// Puts a copy of a value into an entry.
///
/// # Safety
/// See [`at`].
pub unsafe fn set(d: D, i: i64, value: *const u8) {
    // SAFETY: the entry is there, and the value of the dict's type; what was there is released when the entry
    // is whole.
    unsafe {
        let (to, size) = (value_at(d, i), (*d).value.size as usize);
        let mut old = vec![0u64; size.div_ceil(8)];
        std::ptr::copy_nonoverlapping(to, old.as_mut_ptr().cast(), size);
        (*d).value.retain(value, 1);
        std::ptr::copy_nonoverlapping(value, to, size);
        (*d).value.release(old.as_ptr().cast(), 1);
    }
}

/// Makes an empty dict hold what another one does, empty entries included.
unsafe fn clone_into(d: D, other: D) -> Res<()> {
    // SAFETY: both are live and of one type; what the copied entries hold gets references of its own.
    unsafe {
        let bytes = ((*other).cap * (*other).entry.size) as usize;
        let entries = libc::malloc(bytes.max(1));
        if entries.is_null() {
            return Err(Error::bare(Class::MemoryError));
        }
        clear(d);
        if (*other).used > 0 {
            std::ptr::copy_nonoverlapping(
                (*other).entries,
                entries.cast(),
                ((*other).used * (*other).entry.size) as usize,
            );
        }
        (*d).entries = entries.cast();
        ((*d).len, (*d).used) = ((*other).len, (*other).used);
        ((*d).cap, (*d).table) = ((*other).cap, (*other).table);
        *index_mut(d) = index(other).clone();
        (*d).entry.retain((*d).entries, (*d).used);
        Ok(())
    }
}

unsafe fn update(d: D, other: D) -> Res<()> {
    // SAFETY: both are live and of one type, and are not the same where `d` changes; places of `other` stay
    // as they are.
    unsafe {
        let (n, table) = ((*other).len, (*other).table);
        if d == other || n == 0 {
            return Ok(());
        }
        if (*d).len == 0 && n == (*other).used && (table == 8 || usable(table / 2) < n) {
            return clone_into(d, other);
        }
        if usable((*d).table.max(1)) < n {
            resize(d, table_for((*d).len + n))?;
        }
        for i in live(other) {
            let to = place(d, at(other, i).add(KEY_AT as usize))?;
            set(d, to, value_at(other, i));
        }
        Ok(())
    }
}

/// Puts the entries of a dict into an empty one: keys keep the hashes that they have.
unsafe fn append_all(d: D, other: D) -> Res<()> {
    // SAFETY: both are live and of one type, and `other` stays as it is.
    unsafe {
        if (*other).len > 0 {
            resize(d, table_for((*other).len))?;
        }
        for i in live(other) {
            let to = append(d, at(other, i).add(KEY_AT as usize), hash_at(other, i))?;
            set(d, to, value_at(other, i));
        }
        Ok(())
    }
}

/// # Safety
/// See above.
pub(crate) unsafe fn copy(d: D) -> Res<D> {
    // SAFETY: the new dict is nobody else's.
    unsafe {
        let new = new((*d).entry, (*d).key, (*d).value);
        let few_gaps = (*d).len > 0 && (*d).len >= (*d).used * 2 / 3;
        match if few_gaps { clone_into(new, d) } else { append_all(new, d) } {
            Ok(()) => Ok(new),
            Err(e) => {
                release(new.cast());
                Err(e)
            }
        }
    }
}

/// Sorts without moving equal ones past one another. The standard library's sorts may panic where some have no
/// order, as NaN has none.
fn sort(places: &mut Vec<i64>, goes_first: &dyn Fn(i64, i64) -> bool) {
    if places.len() < 2 {
        return;
    }
    let mut right = places.split_off(places.len() / 2);
    sort(places, goes_first);
    sort(&mut right, goes_first);
    let (mut all, mut left) = (Vec::with_capacity(places.len() + right.len()), places.iter().peekable());
    for r in right {
        while let Some(l) = left.next_if(|l| !goes_first(r, **l)) {
            all.push(*l);
        }
        all.push(r);
    }
    all.extend(left);
    *places = all;
}

unsafe fn by_count(d: D) -> Res<D> {
    // SAFETY: the new dict is nobody else's, and places of `d` stay as they are.
    unsafe {
        let sorted = new((*d).entry, (*d).key, (*d).value);
        let mut places: Vec<i64> = live(d).collect();
        if let Some(compare) = (*d).value.slots.compare {
            sort(&mut places, &|a, b| compare((*d).value, value_at(d, a), value_at(d, b)) == Order::Greater);
        }
        for i in places {
            match place(sorted, at(d, i).add(KEY_AT as usize)) {
                Ok(to) => set(sorted, to, value_at(d, i)),
                Err(e) => {
                    release(sorted.cast());
                    return Err(e);
                }
            }
        }
        Ok(sorted)
    }
}

unsafe fn equal(a: D, b: D) -> bool {
    // SAFETY: both are live and of one type, and `find` gives entries that are there.
    unsafe {
        if a == b {
            return true;
        }
        (*a).len == (*b).len
            && live(a).all(|i| {
                let found = find(b, at(a, i).add(KEY_AT as usize)).1;
                found.is_some_and(|j| (*a).value.compare(value_at(a, i), value_at(b, j)) == Order::Equal)
            })
    }
}

impl Helpers for Native {
    unsafe fn dict_new(
        ctx: Ctx,
        entry: *const TypeDesc,
        key: *const TypeDesc,
        value: *const TypeDesc,
        room: i64,
    ) -> D {
        // SAFETY: descriptors live for ever; the dict is new.
        unsafe {
            let d = new(&*entry, &*key, &*value);
            if room > usable(8)
                && let Err(e) = resize(d, table_for(room))
            {
                release(d.cast());
                return or_raise(ctx, Err(e));
            }
            d
        }
    }
    unsafe fn dict_find(d: D, key: P) -> i64 {
        // SAFETY: compiled code holds a reference to the dict, which nobody changes meanwhile, and passes a
        // key of its type.
        unsafe { find(d, key).1.unwrap_or(-1) }
    }
    unsafe fn dict_place(ctx: Ctx, d: D, key: P) -> i64 {
        // SAFETY: the dict is live and nobody else's now, the key of its type; the context is the thread's.
        unsafe { or_raise(ctx, place(d, key)) }
    }
    unsafe fn dict_with_hash(d: D, h: i64, after: i64) -> i64 {
        // SAFETY: the dict is live, and nobody changes it during the call.
        unsafe { with_hash(d, h, after).unwrap_or(-1) }
    }
    unsafe fn dict_append(ctx: Ctx, d: D, key: P, h: i64) -> i64 {
        // SAFETY: the dict is live and nobody else's now, the key of its type; the context is the thread's.
        unsafe { or_raise(ctx, append(d, key, of_class(h))) }
    }
    unsafe fn dict_remove(d: D, i: i64) {
        // SAFETY: compiled code has just found the entry there.
        unsafe { remove(d, i) }
    }
    unsafe fn dict_clear(d: D) {
        // SAFETY: the dict is live and nobody else's now.
        unsafe { clear(d) }
    }
    unsafe fn dict_copy(ctx: Ctx, d: D) -> D {
        // SAFETY: the dict is live and nobody changes it; the context is the thread's own.
        unsafe { or_raise(ctx, copy(d)) }
    }
    unsafe fn dict_update(ctx: Ctx, d: D, other: D) {
        // SAFETY: both are live and of one type, and nobody else changes them; the context is the thread's.
        unsafe { or_raise(ctx, update(d, other)) }
    }
    unsafe fn dict_by_count(ctx: Ctx, d: D) -> D {
        // SAFETY: the dict is live and nobody changes it; the context is the thread's own.
        unsafe { or_raise(ctx, by_count(d)) }
    }
    unsafe fn dict_eq(a: D, b: D) -> i8 {
        // SAFETY: both are live and of one type, and nobody changes them.
        unsafe { i8::from(equal(a, b)) }
    }
    unsafe fn dict_live(d: D, i: i64) -> i64 {
        // SAFETY: the dict is live; iteration begins at 0.
        unsafe { live_from(d, i) }
    }
    unsafe fn dict_live_before(d: D, i: i64) -> i64 {
        // SAFETY: the dict is live, and entries below `used` have a hash.
        unsafe { (0..i.min((*d).used)).rev().find(|i| hash_at(d, *i) != 0).unwrap_or(-1) }
    }
    unsafe fn dict_drop_last(d: D, i: i64) {
        // SAFETY: compiled code has just found the last entry there.
        unsafe {
            remove(d, i);
            // The places behind are not to be had again.
            (*d).cap -= (*d).used - i;
            (*d).used = i;
        }
    }
}
