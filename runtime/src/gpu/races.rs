//! Races on the memory that the threads of a block share: one writes an element, another one touches it, and
//! nothing says which comes first.
//!
//! The simulator tells every access of shared memory ([`tierup_core::lir::watched`]), and every point at which
//! threads have waited for each other. A clock counts those points. An element knows the last write, two reads
//! and two updates by different threads; what is older than the last barrier of the block is no race, nor what
//! a barrier of the warp or a fence lies behind. So what is found does not depend on the order in which the
//! simulator runs threads, but on what each of them touches.

use std::collections::HashMap;
use tierup_core::grid::WARP;
use tierup_core::layout::GridThread;
use tierup_core::lir::watched::{BYTES, KNOWN, LINE_SHIFT};
use tierup_core::rt::{Ctx, P};

/// Threads of a block at most.
const THREADS: usize = 1024;

/// What a thread did to an element, and when; 0 is never.
#[derive(Clone, Copy, Default)]
struct Mark {
    time: u32,
    /// The thread in the low ten bits, the line above.
    who: u32,
}

impl Mark {
    fn thread(self) -> usize {
        self.who as usize % THREADS
    }
    fn line(self) -> u32 {
        self.who / THREADS as u32
    }
}

/// What was done to an element.
#[derive(Clone, Copy, Default)]
struct Cell {
    write: Mark,
    reads: [Mark; 2],
    updates: [Mark; 2],
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Reads,
    Writes,
    Updates,
}

impl Access {
    pub fn verb(self) -> &'static str {
        match self {
            Access::Reads => "reads",
            Access::Writes => "writes",
            Access::Updates => "updates",
        }
    }
}

/// Two accesses of one element by different threads, the second of which was told later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Race {
    pub first: (usize, Access, u32),
    pub second: (usize, Access, u32),
}

/// A piece of shared memory.
struct Piece {
    start: usize,
    bytes: usize,
    cells: Vec<Cell>,
}

/// The order of the threads of a warp.
#[derive(Clone, Default)]
struct Warp {
    /// When all of them last waited for each other.
    all: u32,
    /// Up to when a lane (the second number) is before what another one (the first) does now, where only some
    /// have waited.
    some: HashMap<(u8, u8), u32>,
}

/// Looks for races in a block.
pub(super) struct Watch {
    /// log2 of the bytes of an element: as many as every access so far has had, so that neighbours are apart.
    shift: u32,
    pieces: [Piece; 2],
    clock: u32,
    /// The last barrier of the block.
    barrier: u32,
    warps: Vec<Warp>,
    fences: Vec<u32>,
    pub(super) found: Option<Race>,
}

impl Watch {
    pub(super) fn new(shared: &[u128], dynamic: &[u128], threads: usize) -> Watch {
        let piece = |memory: &[u128]| {
            let bytes = size_of_val(memory);
            Piece { start: memory.as_ptr() as usize, bytes, cells: vec![Cell::default(); bytes / 8] }
        };
        Watch {
            shift: 3,
            pieces: [piece(shared), piece(dynamic)],
            clock: 1,
            barrier: 1,
            warps: vec![Warp::default(); threads.div_ceil(WARP)],
            fences: vec![0; threads],
            found: None,
        }
    }

    /// The clock goes on; what has been is forgotten before it begins anew.
    fn tick(&mut self) -> u32 {
        if self.clock == u32::MAX {
            self.pieces.iter_mut().for_each(|p| p.cells.fill(Cell::default()));
            self.warps.fill(Warp::default());
            self.fences.fill(0);
            (self.clock, self.barrier) = (0, 1);
        }
        self.clock += 1;
        self.clock
    }

    /// All threads of the block have waited for each other, or another block begins.
    pub(super) fn block_barrier(&mut self) {
        self.barrier = self.tick();
    }

    /// The threads of a warp that the bits name have waited for each other; `live` names those that there are.
    pub(super) fn warp_barrier(&mut self, warp: usize, mask: u32, live: u32) {
        let now = self.tick();
        let order = &mut self.warps[warp];
        if mask & live == live {
            order.all = now;
            order.some.clear();
            return;
        }
        let named: Vec<u8> = (0..WARP as u8).filter(|l| mask & live & 1 << l != 0).collect();
        for lane in 0..WARP as u8 {
            let is_named = named.contains(&lane);
            let known = named.iter().filter_map(|m| order.some.get(&(*m, lane))).max().copied();
            let Some(until) = (if is_named { Some(now) } else { known }) else { continue };
            for m in named.iter().filter(|m| **m != lane) {
                order.some.insert((*m, lane), until);
            }
        }
    }

    fn fence(&mut self, thread: usize) {
        self.fences[thread] = self.tick();
    }

    /// Whether what another thread did may meet what this one does now.
    fn meets(&self, mark: Mark, thread: usize) -> bool {
        let other = mark.thread();
        if mark.time < self.barrier || other == thread || self.fences[other] > mark.time {
            return false;
        }
        if other / WARP != thread / WARP {
            return true;
        }
        let order = &self.warps[thread / WARP];
        let lanes = ((thread % WARP) as u8, (other % WARP) as u8);
        order.all.max(order.some.get(&lanes).copied().unwrap_or(0)) <= mark.time
    }

    /// Elements become smaller, since an access has fewer bytes or begins between two; each part knows what
    /// was done to the whole.
    fn refine(&mut self, shift: u32) {
        let parts = 1 << (self.shift - shift);
        for piece in &mut self.pieces {
            piece.cells = piece.cells.iter().flat_map(|c| std::iter::repeat_n(*c, parts)).collect();
        }
        self.shift = shift;
    }

    fn access(&mut self, thread: usize, access: Access, at: usize, line: u32, bytes: usize, silent: bool) {
        let Some(k) = self.pieces.iter().position(|p| at.wrapping_sub(p.start) < p.bytes) else { return };
        let (offset, end) = (at - self.pieces[k].start, self.pieces[k].bytes);
        let shift = (offset | bytes).trailing_zeros();
        if shift < self.shift {
            self.refine(shift);
        }
        let mark = Mark { time: self.clock, who: thread as u32 | line << 10 };
        for place in offset >> self.shift..(offset + bytes).min(end) >> self.shift {
            let cell = self.pieces[k].cells[place];
            if self.found.is_none() {
                self.found = self
                    .race(&cell, thread, access, silent)
                    .map(|first| Race { first, second: (thread, access, line) });
            }
            let (kept, barrier) = (&mut self.pieces[k].cells[place], self.barrier);
            match access {
                Access::Writes => kept.write = mark,
                Access::Reads => note(&mut kept.reads, mark, barrier),
                Access::Updates => note(&mut kept.updates, mark, barrier),
            }
        }
    }

    /// What an access of an element is in a race with. A write that leaves what is there is none with another
    /// write: it has stored the same.
    fn race(&self, cell: &Cell, thread: usize, access: Access, silent: bool) -> Option<(usize, Access, u32)> {
        let first = |marks: &[Mark], what: Access| {
            let found = marks.iter().find(|m| self.meets(**m, thread))?;
            Some((found.thread(), what, found.line()))
        };
        let written = || if silent { None } else { first(&[cell.write], Access::Writes) };
        let updated = || first(&cell.updates, Access::Updates);
        let read = || if silent { None } else { first(&cell.reads, Access::Reads) };
        match access {
            Access::Reads => written().or_else(updated),
            Access::Writes => written().or_else(updated).or_else(read),
            Access::Updates => written().or_else(read),
        }
    }
}

/// Remembers an access beside one of another thread, of another warp where there is one.
fn note(marks: &mut [Mark; 2], mark: Mark, barrier: u32) {
    let [first, second] = marks;
    if first.time < barrier || first.thread() == mark.thread() {
        *first = mark;
    } else if second.time < barrier
        || second.thread() == mark.thread()
        || second.thread() / WARP == first.thread() / WARP
    {
        *second = mark;
    }
}

/// Which thread of its block this is.
pub(super) fn number(thread: &GridThread) -> usize {
    let ([x, y, z], [w, h, _]) = (thread.thread, thread.block_size);
    (x + w * (y + h * z)) as usize
}

/// # Safety
/// The context is a live `GridThread`, and nobody else uses its watch.
unsafe fn told(ctx: Ctx, body: impl FnOnce(&mut Watch, usize)) {
    // SAFETY: as required of the caller.
    let thread = unsafe { &*ctx.cast::<GridThread>() };
    // SAFETY: as above; only the thread that runs now tells something.
    if let Some(watch) = unsafe { thread.watch.cast::<Watch>().as_mut() } {
        body(watch, number(thread));
    }
}

fn parts(what: i64) -> (u32, usize) {
    ((what >> LINE_SHIFT) as u32, (what & BYTES) as usize)
}

/// # Safety
/// As for [`told`].
pub(super) unsafe fn read(ctx: Ctx, at: P, what: i64) {
    let (line, bytes) = parts(what);
    // SAFETY: as required of the caller.
    unsafe { told(ctx, |w, t| w.access(t, Access::Reads, at as usize, line, bytes, false)) };
}

/// # Safety
/// As for [`told`]; the code writes to the address next.
pub(super) unsafe fn write(ctx: Ctx, at: P, bits: i64, what: i64) {
    let (line, bytes) = parts(what);
    let mut there = [0u8; 8];
    // SAFETY: the code is about to write there; what is known has 8 bytes at most.
    let silent = what & KNOWN != 0
        && unsafe {
            std::ptr::copy_nonoverlapping(at.cast_const(), there.as_mut_ptr(), bytes.min(8));
            there[..bytes.min(8)] == bits.to_le_bytes()[..bytes.min(8)]
        };
    // SAFETY: as required of the caller.
    unsafe { told(ctx, |w, t| w.access(t, Access::Writes, at as usize, line, bytes, silent)) };
}

/// # Safety
/// As for [`told`].
pub(super) unsafe fn update(ctx: Ctx, at: P, what: i64) {
    let (line, bytes) = parts(what);
    // SAFETY: as required of the caller.
    unsafe { told(ctx, |w, t| w.access(t, Access::Updates, at as usize, line, bytes, false)) };
}

/// # Safety
/// As for [`told`].
pub(super) unsafe fn fence(ctx: Ctx) {
    // SAFETY: as required of the caller.
    unsafe { told(ctx, Watch::fence) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of 64 threads with 64 bytes.
    fn block() -> (Vec<u128>, Watch) {
        let memory = vec![0u128; 4];
        let watch = Watch::new(&memory, &[], 64);
        (memory, watch)
    }

    fn race(does: &[(usize, Access, usize, usize)]) -> bool {
        let (memory, mut watch) = block();
        for (thread, access, offset, bytes) in does {
            watch.access(*thread, *access, memory.as_ptr() as usize + offset, 1, *bytes, false);
        }
        watch.found.is_some()
    }

    #[test]
    fn what_is_a_race() {
        use Access::{Reads, Updates, Writes};
        assert!(!race(&[(0, Reads, 0, 8), (1, Reads, 0, 8)]));
        assert!(race(&[(0, Reads, 0, 8), (1, Writes, 0, 8)]));
        assert!(race(&[(0, Writes, 0, 8), (1, Reads, 0, 8)]));
        assert!(!race(&[(0, Writes, 0, 8), (0, Reads, 0, 8), (0, Writes, 0, 8)]));
        assert!(!race(&[(0, Updates, 0, 8), (1, Updates, 0, 8)]));
        assert!(race(&[(0, Updates, 0, 8), (1, Reads, 0, 8)]));
        // Parts of what has been a whole, and accesses that begin between two.
        assert!(race(&[(0, Writes, 0, 8), (1, Reads, 7, 1)]));
        assert!(!race(&[(0, Writes, 0, 8), (1, Writes, 8, 4), (2, Writes, 12, 4)]));
        assert!(race(&[(0, Writes, 1, 2), (1, Writes, 2, 4)]));
        assert!(!race(&[(0, Writes, 1, 2), (1, Writes, 3, 4)]));
        // A reader is not forgotten for others of its own warp.
        assert!(race(&[(0, Reads, 0, 8), (40, Reads, 0, 8), (1, Reads, 0, 8), (0, Writes, 0, 8)]));
        // Vectors, and what lies elsewhere.
        assert!(race(&[(0, Writes, 0, 32), (1, Reads, 24, 8)]));
        assert!(!race(&[(0, Writes, 64, 8), (1, Writes, 64, 8)]));
    }

    #[test]
    fn barriers_of_a_part_of_a_warp_hold_for_it_and_pass_on() {
        let (memory, mut watch) = block();
        let at = memory.as_ptr() as usize;
        watch.access(0, Access::Writes, at, 1, 8, false);
        watch.warp_barrier(0, 0b011, u32::MAX);
        watch.warp_barrier(0, 0b110, u32::MAX);
        // Lane 0 is before lane 1, and lane 1 before lane 2.
        watch.access(2, Access::Reads, at, 2, 8, false);
        assert_eq!(watch.found, None);
        watch.access(3, Access::Reads, at, 3, 8, false);
        assert_eq!(watch.found.map(|r| (r.first, r.second.0)), Some(((0, Access::Writes, 1), 3)));
    }

    #[test]
    fn the_clock_may_begin_anew() {
        let (memory, mut watch) = block();
        let at = memory.as_ptr() as usize;
        watch.clock = u32::MAX - 1;
        watch.block_barrier();
        watch.access(0, Access::Writes, at, 1, 8, false);
        watch.block_barrier();
        watch.access(1, Access::Writes, at, 1, 8, false);
        assert_eq!(watch.found, None);
        watch.access(2, Access::Writes, at, 1, 8, false);
        assert!(watch.found.is_some());
    }
}
