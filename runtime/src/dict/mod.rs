//! Dict objects: entries one behind the other in the order in which keys came, and an index that finds them by
//! hash. What keys and values are, the dict's descriptors know.
//!
//! The entry of a key that is removed stays behind, empty, until the entries have to grow: then those that are
//! there move up. That happens when it does in CPython, so that iterators over a dict that changes meanwhile
//! see what they see there.

mod index;
pub mod memory;
#[cfg(test)]
mod tests;

use crate::Native;
use crate::blocks;
use crate::exc::{Error, Res, or_raise};
use crate::object::{count as count_object, release};
use index::Slots;
use std::sync::atomic::{AtomicI64, AtomicUsize};
use tierup_core::desc::order::Order;
use tierup_core::desc::{Probe, TypeDesc, hash};
use tierup_core::elem::Elem;
use tierup_core::exc::Class;
use tierup_core::layout::{Dict, Obj, Str};
use tierup_core::ops::dict::{Helpers, KEY_AT};
use tierup_core::rt::{Ctx, P};

pub(crate) type D = *mut Dict;

pub(crate) unsafe extern "C" fn drop_dict(o: *mut Obj) {
    count_object(-1);
    // SAFETY: called once, with a dict that `new` made; its entries and memory are its own.
    unsafe {
        let d = o.cast::<Dict>();
        (*d).entry.release((*d).entries, (*d).used);
        blocks::give((*d).entries.cast(), room(d));
        Slots::of(&*d).free();
        drop(Box::from_raw(d));
    }
}

/// An empty dict; `entry` describes a hash, a key and a value.
pub fn new(entry: &'static TypeDesc, key: &'static TypeDesc, value: &'static TypeDesc) -> D {
    count_object(1);
    let d = Box::into_raw(Box::new(Dict {
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
        index: std::ptr::null_mut(),
        shift: 0,
    }));
    // SAFETY: it is nobody else's yet.
    unsafe { index::set(d, Slots::none()) };
    d
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
        std::ptr::swap(&raw mut (*a).shift, &raw mut (*b).shift);
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

/// The hash of a key, and where its entry is.
///
/// # Safety
/// See [`at`].
pub(crate) unsafe fn find(d: D, key: *const u8) -> (u64, Option<i64>) {
    // SAFETY: the key is of the type that the descriptor says, and so are those of all entries.
    unsafe {
        let desc = (*d).key;
        match desc.probe {
            Some(Probe::Int) => find_int(d, key.cast::<i64>().read()),
            Some(Probe::Float) => find_float(d, key.cast::<f64>().read()),
            Some(Probe::Pair) => find_pair(d, key.cast::<[i64; 2]>().read()),
            Some(Probe::Str) => find_str(d, &*key.cast::<*const Str>().read()),
            None => {
                let h = hash::entry(desc.hash(key));
                let is = |i, other| hash_at(d, i) == h && desc.compare(other, key) == Order::Equal;
                (h, index::search(d, h, is))
            }
        }
    }
}
/// Numbers are compared as fast as hashes are.
unsafe fn find_int(d: D, key: i64) -> (u64, Option<i64>) {
    // SAFETY: the dict's keys are such numbers.
    unsafe {
        let h = hash::entry(hash::integer(key));
        (h, index::search(d, h, |_, other| other.cast::<i64>().read() == key))
    }
}
unsafe fn find_float(d: D, key: f64) -> (u64, Option<i64>) {
    // SAFETY: the dict's keys are such numbers.
    unsafe {
        let h = hash::entry(hash::float(key));
        let is = |_, other: *const u8| {
            let x = other.cast::<f64>().read();
            x == key || x.is_nan() && key.is_nan()
        };
        (h, index::search(d, h, is))
    }
}
unsafe fn find_pair(d: D, key: [i64; 2]) -> (u64, Option<i64>) {
    // SAFETY: the dict's keys are two such numbers.
    unsafe {
        let h = hash::entry(hash::pair(key));
        (h, index::search(d, h, |_, other| other.cast::<[i64; 2]>().read() == key))
    }
}
unsafe fn find_str(d: D, key: &Str) -> (u64, Option<i64>) {
    // SAFETY: the dict's keys are strings.
    unsafe {
        let h = hash::entry(hash::of_string(key));
        let is = |_, other: *const u8| hash::same_string(&*other.cast::<*const Str>().read(), key);
        (h, index::search(d, h, is))
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

/// Bytes that the dict has for entries.
unsafe fn room(d: D) -> usize {
    // SAFETY: the dict is live.
    unsafe { (usable((*d).table) * (*d).entry.size) as usize }
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
        let slots = Slots::for_table(size)?;
        if (*d).len != (*d).used {
            compact(d);
        }
        let moved = blocks::grow((*d).entries.cast(), room(d), bytes as usize);
        let old = Slots::of(&*d);
        if !moved.is_null() {
            (*d).entries = moved.cast();
            ((*d).cap, (*d).table) = (cap, size);
            index::set(d, slots);
            index::fill(d);
            old.free();
            return Ok(());
        }
        // Entries are where they were before, but those behind gaps.
        slots.free();
        index::fill_anew(d);
        Err(no_memory())
    }
}

/// Closes the gaps that removed keys left. Entries have to be found anew.
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
        let Some(hash_of) = (*d).key.slots.hash else { return };
        let key = (*d).key;
        if key.refs.is_empty() || key.scalar() == Some(Elem::Str) {
            return;
        }
        for i in live(d) {
            let entry = at(d, i);
            entry.cast::<u64>().write(hash::entry(hash_of(key, entry.add(KEY_AT as usize))));
        }
        index::fill_anew(d);
    }
}

/// The entry of a key; where there was none, a new one whose value is all zeros.
///
/// # Safety
/// See [`at`].
pub(crate) unsafe fn place(d: D, key: *const u8) -> Res<i64> {
    // SAFETY: the key is of the dict's type.
    unsafe { placed(d, find(d, key), key) }
}
/// The same of a key that was looked for.
unsafe fn placed(d: D, (h, found): (u64, Option<i64>), key: *const u8) -> Res<i64> {
    match found {
        Some(i) => Ok(i),
        // SAFETY: the key is not there, and that is its hash.
        None => unsafe { append(d, key, h) },
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
        index::add(d, h, i);
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
    let mut first = None;
    // SAFETY: the hash of an entry that is there is read.
    unsafe {
        index::search(d, h, |i, _| {
            if i > after && hash_at(d, i) == h && first.is_none_or(|f| i < f) {
                first = Some(i);
            }
            false
        });
    }
    first
}
/// What the index finds a key by whose class says its hash.
fn of_class(hash: i64) -> u64 {
    hash::entry(hash::integer(hash))
}

/// Writes over a value, and drops the references that it had when something else is there.
unsafe fn releasing(desc: &TypeDesc, at: *mut u8, write: impl FnOnce()) {
    if desc.refs.is_empty() {
        return write();
    }
    // SAFETY: the caller's value is of that type, and its references are the dict's to drop.
    unsafe {
        let size = desc.size as usize;
        let mut old = vec![0u64; size.div_ceil(8)];
        std::ptr::copy_nonoverlapping(at, old.as_mut_ptr().cast(), size);
        write();
        desc.release(old.as_ptr().cast(), 1);
    }
}

/// Takes an entry out. Its key is released, its value not.
unsafe fn remove(d: D, i: i64) {
    // SAFETY: the entry is there, as required of the caller; its key is copied out before its place is
    // zeroed.
    unsafe {
        index::remove(d, hash_at(d, i), i);
        (*d).len -= 1;
        let empty = || std::ptr::write_bytes(at(d, i), 0, (*d).entry.size as usize);
        // The dict is whole again before anything is released.
        releasing((*d).key, at(d, i).add(KEY_AT as usize), empty);
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
        let (entries, used, bytes) = ((*d).entries, (*d).used, room(d));
        ((*d).entries, (*d).len, (*d).used) = (std::ptr::null_mut(), 0, 0);
        ((*d).cap, (*d).table) = (0, 0);
        Slots::of(&*d).free();
        index::set(d, Slots::none());
        (*d).entry.release(entries, used);
        blocks::give(entries.cast(), bytes);
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
        (*d).value.retain(value, 1);
        releasing((*d).value, to, || std::ptr::copy_nonoverlapping(value, to, size));
    }
}

/// Makes an empty dict hold what another one does, empty entries included.
unsafe fn clone_into(d: D, other: D) -> Res<()> {
    // SAFETY: both are live and of one type; what the copied entries hold gets references of its own.
    unsafe {
        let slots = index::copy(other)?;
        let (entries, ..) = blocks::take(room(other).max(1), false);
        if entries.is_null() {
            slots.free();
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
        index::set(d, slots);
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
    unsafe fn dict_find_int(d: D, _: i64, key: i64) -> i64 {
        // SAFETY: as in `dict_find`.
        unsafe { find_int(d, key).1.unwrap_or(-1) }
    }
    unsafe fn dict_find_float(d: D, _: i64, key: f64) -> i64 {
        // SAFETY: as in `dict_find`.
        unsafe { find_float(d, key).1.unwrap_or(-1) }
    }
    unsafe fn dict_find_pair(d: D, _: i64, a: i64, b: i64) -> i64 {
        // SAFETY: as in `dict_find`.
        unsafe { find_pair(d, [a, b]).1.unwrap_or(-1) }
    }
    unsafe fn dict_find_str(d: D, _: i64, key: *mut Str) -> i64 {
        // SAFETY: as in `dict_find`.
        unsafe { find_str(d, &*key).1.unwrap_or(-1) }
    }
    unsafe fn dict_place_int(ctx: Ctx, d: D, _: i64, key: i64, known: i64) -> i64 {
        if known >= 0 {
            return known;
        }
        // SAFETY: as in `dict_place`.
        unsafe { or_raise(ctx, placed(d, find_int(d, key), (&raw const key).cast())) }
    }
    unsafe fn dict_place_float(ctx: Ctx, d: D, _: i64, key: f64, known: i64) -> i64 {
        if known >= 0 {
            return known;
        }
        // SAFETY: as in `dict_place`.
        unsafe { or_raise(ctx, placed(d, find_float(d, key), (&raw const key).cast())) }
    }
    unsafe fn dict_place_pair(ctx: Ctx, d: D, _: i64, a: i64, b: i64, known: i64) -> i64 {
        if known >= 0 {
            return known;
        }
        let key = [a, b];
        // SAFETY: as in `dict_place`.
        unsafe { or_raise(ctx, placed(d, find_pair(d, key), (&raw const key).cast())) }
    }
    unsafe fn dict_place_str(ctx: Ctx, d: D, _: i64, key: *mut Str, known: i64) -> i64 {
        if known >= 0 {
            return known;
        }
        // SAFETY: as in `dict_place`.
        unsafe { or_raise(ctx, placed(d, find_str(d, &*key), (&raw const key).cast())) }
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
