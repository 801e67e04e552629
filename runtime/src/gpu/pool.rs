//! Memory of a device that has been given back and is kept for the next array: the driver's own allocation
//! waits for the device when memory is freed, and takes longer than most kernels.
//!
//! A block may be given out again while work that uses it still runs, as long as what uses it next comes
//! behind. Streams of Tierup's own wait for the default stream and it for them, so what was done on that one
//! orders itself. For work on other streams an event is recorded in each of them when a block is given back,
//! and the block waits until all have happened. Streams of other libraries may wait for nothing, and those of
//! threads cannot be asked by others: once one of them is used, nothing is kept any more.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What the pool takes memory from, and asks whether work has been done.
pub(super) trait Source {
    type Error;
    fn allocate(&self, bytes: usize) -> Result<u64, Self::Error>;
    /// Gives memory back, when all that runs has ended.
    fn release(&self, address: u64);
    /// An event behind all that each stream has been given but the default one; none where there are streams
    /// that cannot be asked.
    fn marks(&self) -> Option<Vec<u64>>;
    fn has_happened(&self, mark: u64) -> bool;
    fn forget(&self, mark: u64);
    /// Whether an error says that there is no memory left.
    fn is_exhausted(&self, error: &Self::Error) -> bool;
}

/// Streams beside the default one.
#[derive(Default)]
pub(super) struct Streams {
    /// Those that were made here: they wait for the default one, and it for them.
    pub(super) own: Vec<u64>,
    /// Those of them that may have work to do.
    pub(super) used: Vec<u64>,
    /// Others have been used too.
    pub(super) foreign: bool,
}

/// Sizes are rounded up to this, and large ones to a sixteenth of themselves, so that blocks fit arrays of
/// like sizes.
const UNIT: usize = 512;

/// Bytes that are kept at most; beyond, the block that was just given back goes.
const MOST: usize = 1 << 30;

/// The size of the block for so many bytes.
fn rounded(bytes: usize) -> usize {
    let unit = (bytes.checked_next_power_of_two().unwrap_or(bytes) / 16).max(UNIT);
    bytes.max(1).checked_next_multiple_of(unit).unwrap_or(bytes)
}

struct Block {
    address: u64,
    /// Events that must have happened before it is used again.
    marks: Vec<u64>,
}

#[derive(Default)]
struct Kept {
    /// By size.
    blocks: BTreeMap<usize, Vec<Block>>,
    bytes: usize,
}

/// Blocks that are kept.
#[derive(Default)]
pub(super) struct Pool {
    kept: Mutex<Kept>,
}

impl Pool {
    /// Memory of so many bytes: a block that is kept, or a new one, and whether it has been in use before.
    /// Where there is no memory left, what is kept is given back first.
    pub(super) fn take<S: Source>(&self, source: &S, bytes: usize) -> Result<(u64, bool), S::Error> {
        let size = rounded(bytes);
        if let Some(address) = self.found(source, size) {
            return Ok((address, true));
        }
        let made = match source.allocate(size) {
            Err(e) if source.is_exhausted(&e) && self.clear(source) > 0 => source.allocate(size),
            made => made,
        };
        made.map(|address| (address, false))
    }

    fn found<S: Source>(&self, source: &S, size: usize) -> Option<u64> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let blocks = kept.blocks.get_mut(&size)?;
        let free = |b: &mut Block| {
            b.marks.retain(|mark| {
                let happened = source.has_happened(*mark);
                if happened {
                    source.forget(*mark);
                }
                !happened
            });
            b.marks.is_empty()
        };
        let at = blocks.iter_mut().rposition(free)?;
        let block = blocks.swap_remove(at);
        kept.bytes -= size;
        Some(block.address)
    }

    /// Takes memory of so many bytes back.
    ///
    /// `shared` memory others may know of, whose work nobody here can wait for.
    pub(super) fn give<S: Source>(&self, source: &S, address: u64, bytes: usize, shared: bool) {
        let size = rounded(bytes);
        let marks = if shared { None } else { source.marks() };
        let Some(marks) = marks else { return source.release(address) };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + size > MOST {
            drop(kept);
            marks.into_iter().for_each(|mark| source.forget(mark));
            return source.release(address);
        }
        kept.bytes += size;
        kept.blocks.entry(size).or_default().push(Block { address, marks });
    }

    /// Gives back what is kept; how many bytes that were.
    pub(super) fn clear<S: Source>(&self, source: &S) -> usize {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        for block in kept.blocks.into_values().flatten() {
            block.marks.into_iter().for_each(|mark| source.forget(mark));
            source.release(block.address);
        }
        kept.bytes
    }

    /// Bytes that are kept.
    pub(super) fn kept(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    /// A device with so much memory, whose events happen when they are told to.
    struct Fake {
        room: Cell<usize>,
        made: Cell<u64>,
        live: RefCell<BTreeMap<u64, usize>>,
        streams: Cell<Option<usize>>,
        pending: RefCell<Vec<u64>>,
        marks: RefCell<Vec<u64>>,
    }

    impl Fake {
        fn new(room: usize) -> Fake {
            Fake {
                room: Cell::new(room),
                made: Cell::new(0),
                live: RefCell::default(),
                streams: Cell::new(Some(0)),
                pending: RefCell::default(),
                marks: RefCell::default(),
            }
        }
        fn number(&self) -> u64 {
            self.made.set(self.made.get() + 1);
            self.made.get()
        }
    }

    impl Source for Fake {
        type Error = &'static str;
        fn allocate(&self, bytes: usize) -> Result<u64, &'static str> {
            let left = self.room.get().checked_sub(bytes).ok_or("out of memory")?;
            self.room.set(left);
            let address = self.number() << 20;
            self.live.borrow_mut().insert(address, bytes);
            Ok(address)
        }
        fn release(&self, address: u64) {
            let bytes = self.live.borrow_mut().remove(&address).expect("is released once");
            self.room.set(self.room.get() + bytes);
        }
        fn marks(&self) -> Option<Vec<u64>> {
            let made: Vec<u64> = (0..self.streams.get()?).map(|_| self.number()).collect();
            self.pending.borrow_mut().extend(&made);
            self.marks.borrow_mut().extend(&made);
            Some(made)
        }
        fn has_happened(&self, mark: u64) -> bool {
            !self.pending.borrow().contains(&mark)
        }
        fn forget(&self, mark: u64) {
            let mut marks = self.marks.borrow_mut();
            let at = marks.iter().position(|m| *m == mark).expect("is forgotten once");
            marks.remove(at);
        }
        fn is_exhausted(&self, error: &&'static str) -> bool {
            *error == "out of memory"
        }
    }

    /// Memory that there is.
    fn taken(pool: &Pool, device: &Fake, bytes: usize) -> u64 {
        pool.take(device, bytes).expect("there is memory").0
    }

    #[test]
    fn memory_of_like_sizes_is_given_out_again() {
        let (pool, device) = (Pool::default(), Fake::new(1 << 30));
        let a = taken(&pool, &device, 1000);
        pool.give(&device, a, 1000, false);
        assert_eq!(pool.take(&device, 900), Ok((a, true)));
        // Now it is in use, and other sizes have never been asked for.
        let others: Vec<u64> = [900, 1, 5000].iter().map(|n| taken(&pool, &device, *n)).collect();
        assert!(!others.contains(&a) && device.live.borrow().len() == 4);
        assert!(device.live.borrow().values().all(|n| n % UNIT == 0));
    }

    #[test]
    fn a_block_waits_for_work_on_other_streams() {
        let (pool, device) = (Pool::default(), Fake::new(1 << 30));
        let a = taken(&pool, &device, 4096);
        device.streams.set(Some(2));
        pool.give(&device, a, 4096, false);
        assert_ne!(taken(&pool, &device, 4096), a);
        let first = device.pending.borrow()[0];
        device.pending.borrow_mut().retain(|m| *m != first);
        assert_ne!(taken(&pool, &device, 4096), a);
        assert_eq!(device.marks.borrow().len(), 1, "one of two streams is not done");
        device.pending.borrow_mut().clear();
        assert_eq!(pool.take(&device, 4096), Ok((a, true)));
        assert!(device.marks.borrow().is_empty());
    }

    #[test]
    fn what_others_know_of_is_not_kept() {
        let (pool, device) = (Pool::default(), Fake::new(1 << 30));
        let a = taken(&pool, &device, 4096);
        pool.give(&device, a, 4096, true);
        let b = taken(&pool, &device, 4096);
        device.streams.set(None);
        pool.give(&device, b, 4096, false);
        assert!(device.live.borrow().is_empty() && pool.kept() == 0);
    }

    #[test]
    fn what_is_kept_goes_before_memory_is_refused() {
        let (pool, device) = (Pool::default(), Fake::new(10 << 20));
        let all: Vec<u64> = (0..10).map(|_| taken(&pool, &device, 1 << 20)).collect();
        assert_eq!(pool.take(&device, 1 << 20), Err("out of memory"));
        device.streams.set(Some(1));
        all.iter().for_each(|a| pool.give(&device, *a, 1 << 20, false));
        // Nothing that is kept is of that size, and its events have not happened.
        let whole = taken(&pool, &device, 10 << 20);
        assert!(device.marks.borrow().is_empty() && pool.kept() == 0);
        pool.give(&device, whole, 10 << 20, false);
        assert_eq!((pool.clear(&device), device.live.borrow().len()), (10 << 20, 0));
    }

    #[test]
    fn no_more_is_kept_than_there_is_sense_in() {
        let (pool, device) = (Pool::default(), Fake::new(1 << 40));
        let all: Vec<u64> = (0..5).map(|_| taken(&pool, &device, MOST / 2)).collect();
        all.iter().for_each(|a| pool.give(&device, *a, MOST / 2, false));
        assert_eq!((pool.kept(), device.live.borrow().len()), (MOST, 2));
    }

    #[test]
    fn sizes_waste_little() {
        for n in [0, 1, 511, 512, 513, 10_000, 1 << 20, (1 << 20) + 1, 123_456_789] {
            let size = rounded(n);
            assert!(size >= n && (size - n <= UNIT || size - n <= n / 8), "{n} {size}");
        }
        // What no device has is asked for as it is, so that the driver says so.
        assert!(rounded(usize::MAX) >= usize::MAX / 2);
    }
}
