//! The index of a dict: slots with linear probing, laid out as [`Dict`] says, so that compiled code can look a key
//! up where it needs it.
//!
//! A slot knows the upper half of a hash. That tells where the slot's search began, so that the gap of a removed
//! key is closed at once and nothing stays behind in its place.

use super::{D, hash_at, live};
use crate::blocks;
use crate::exc::{Error, Res};
use tierup_core::exc::Class;
use tierup_core::layout::Dict;
use tierup_core::ops::dict::KEY_AT;

/// Up to this size of CPython's table there are two slots for each of its places: short searches matter more than
/// memory then.
const SPARSE: i64 = 1 << 16;

/// As many slots as the upper half of a hash can tell apart; it is more than there are places for entries.
const MOST: i64 = 1 << 32;

/// The slots of what has no entries. Nobody writes there.
static EMPTY: [u64; 2] = [0; 2];

/// Slots, of which there is a power of two, and how far a hash is shifted to find its first one.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    at: *mut u64,
    shift: u32,
}

impl Slots {
    pub(super) const fn none() -> Slots {
        Slots { at: (&raw const EMPTY).cast_mut().cast(), shift: u64::BITS - 1 }
    }

    /// Empty ones, for a dict with a table of that size in CPython.
    pub(super) fn for_table(size: i64) -> Res<Slots> {
        let count = if size <= SPARSE { size.max(1) * 2 } else { size.min(MOST) };
        let (at, ..) = blocks::take(count as usize * size_of::<u64>(), true);
        if at.is_null() {
            return Err(Error::bare(Class::MemoryError));
        }
        Ok(Slots { at: at.cast(), shift: u64::BITS - count.trailing_zeros() })
    }

    pub(super) fn of(d: &Dict) -> Slots {
        Slots { at: d.index, shift: d.shift as u32 }
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// Nobody uses the slots any more.
    pub(super) unsafe fn free(self) {
        if self.at != Slots::none().at {
            // SAFETY: `for_table` took it, and nobody uses it any more.
            unsafe { blocks::give(self.at.cast(), self.count() * size_of::<u64>()) }
        }
    }

    fn count(self) -> usize {
        1 << (u64::BITS - self.shift)
    }
    fn first(self, h: u64) -> usize {
        (h >> self.shift) as usize
    }
    fn next(self, at: usize) -> usize {
        (at + 1) & (self.count() - 1)
    }
    /// # Safety
    /// `at` is below `count`, and nobody writes there meanwhile.
    unsafe fn get(self, at: usize) -> u64 {
        // SAFETY: as required of the caller.
        unsafe { self.at.add(at).read() }
    }

    /// # Safety
    /// There is an empty slot, and nobody else uses the slots.
    unsafe fn put(self, slot: u64) {
        // SAFETY: searches stay among the slots, and one is empty.
        unsafe {
            let mut at = self.first(slot);
            while self.get(at) != 0 {
                at = self.next(at);
            }
            self.at.add(at).write(slot);
        }
    }

    /// Takes a slot out, and moves those behind it nearer to where their searches begin.
    ///
    /// # Safety
    /// The slot is there, and nobody else uses the slots.
    unsafe fn take(self, slot: u64) {
        // SAFETY: searches stay among the slots, and one is empty.
        unsafe {
            let mut gap = self.first(slot);
            while self.get(gap) != slot {
                gap = self.next(gap);
            }
            let mut at = gap;
            loop {
                at = self.next(at);
                let other = self.get(at);
                if other == 0 {
                    break;
                }
                // How far it is from its first slot, and from the gap.
                let mask = self.count() - 1;
                if at.wrapping_sub(self.first(other)) & mask >= at.wrapping_sub(gap) & mask {
                    self.at.add(gap).write(other);
                    gap = at;
                }
            }
            self.at.add(gap).write(0);
        }
    }
}

fn slot(h: u64, place: i64) -> u64 {
    h >> 32 << 32 | (place as u64 + 1)
}
fn place_in(slot: u64) -> i64 {
    i64::from(slot as u32) - 1
}

/// # Safety
/// Of all functions below: dicts are live, nobody else changes them during the call, and the hash is that of an
/// entry.
pub(super) unsafe fn set(d: D, slots: Slots) {
    // SAFETY: as required of the caller.
    unsafe { ((*d).index, (*d).shift) = (slots.at, slots.shift.into()) }
}

/// The first entry that is found by a hash and whose key is what `is` says.
#[inline(always)]
pub(super) unsafe fn search(d: D, h: u64, mut is: impl FnMut(i64, *const u8) -> bool) -> Option<i64> {
    // SAFETY: slots hold places of entries that are there, and one is empty.
    unsafe {
        let slots = Slots::of(&*d);
        let mut at = slots.first(h);
        loop {
            let slot = slots.get(at);
            if slot == 0 {
                return None;
            }
            if (slot ^ h) >> 32 == 0 {
                let place = place_in(slot);
                if is(place, super::at(d, place).add(KEY_AT as usize)) {
                    return Some(place);
                }
            }
            at = slots.next(at);
        }
    }
}

/// Makes an entry be found by its hash, where there is an empty slot more than one.
pub(super) unsafe fn add(d: D, h: u64, place: i64) {
    // SAFETY: as required of the caller.
    unsafe { Slots::of(&*d).put(slot(h, place)) }
}

/// Makes an entry be found no more.
pub(super) unsafe fn remove(d: D, h: u64, place: i64) {
    // SAFETY: as required of the caller.
    unsafe { Slots::of(&*d).take(slot(h, place)) }
}

/// Finds all entries that are there by the hashes that they have now, in slots that were empty.
pub(super) unsafe fn fill(d: D) {
    // SAFETY: as required of the caller.
    unsafe {
        let slots = Slots::of(&*d);
        for i in live(d) {
            slots.put(slot(hash_at(d, i), i));
        }
    }
}

/// The same where hashes have become others.
pub(super) unsafe fn fill_anew(d: D) {
    // SAFETY: as required of the caller; a dict without entries has slots that are not its own, and these stay.
    unsafe {
        if (*d).used > 0 {
            let slots = Slots::of(&*d);
            slots.at.write_bytes(0, slots.count());
            fill(d);
        }
    }
}

/// How far the slot of an entry lies behind the first one for its hash.
#[cfg(test)]
pub(super) unsafe fn distance(d: D, h: u64, place: i64) -> usize {
    // SAFETY: as required of the caller; the entry is there.
    unsafe {
        let slots = Slots::of(&*d);
        let (mut at, mut n) = (slots.first(h), 0);
        while slots.get(at) != slot(h, place) {
            (at, n) = (slots.next(at), n + 1);
        }
        n
    }
}

/// A copy of the slots of a dict.
pub(super) unsafe fn copy(d: D) -> Res<Slots> {
    // SAFETY: as required of the caller; both have memory for as many.
    unsafe {
        let slots = Slots::of(&*d);
        if (*d).table == 0 {
            return Ok(Slots::none());
        }
        let new = Slots::for_table((*d).table)?;
        new.at.copy_from_nonoverlapping(slots.at, slots.count());
        Ok(new)
    }
}
