//! Parallel loops at run time: the body of a loop is called for pieces of its range, by the calling thread
//! and by whoever in the [`pool`] has time.
//!
//! * The grid of pieces depends on the number of iterations alone, so what the pieces give is the same at any
//!   number of threads; who runs a piece is decided when it begins ([`region`]).
//! * A loop begins on the calling thread alone, and calls others to help once it shows that there is enough
//!   to do, or did so the last time.
//! * The exception of the first failing piece counts; pieces behind it are not begun, and running ones are
//!   asked to stop when they next poll.
//! * Workers never touch Python of their own accord. The caller waits for them without the GIL, so that what
//!   they call may take it.

pub(crate) mod lock;
pub(crate) mod native;
mod overlap;
pub(crate) mod pool;
pub mod region;
mod seat;
pub mod settings;
pub(crate) mod tasks;
#[cfg(test)]
mod tests;

use crate::Native;
use crate::engine::interpreted;
use crate::engine::promote::Cell;
use crate::exc::{Error, Res, or_raise, raising};
use region::{Grid, Job, Out};
use std::sync::atomic::{AtomicI64, Ordering};
use tierup_core::desc::TypeDesc;
use tierup_core::exc::Class;
use tierup_core::layout::List;
use tierup_core::ops::region::{Helpers, Together};
use tierup_core::rt::{Ctx, P};

pub(crate) use pool::is_worker;

impl Helpers for Native {
    unsafe fn parallel_region(
        ctx: Ctx,
        word: P,
        first: i64,
        end: i64,
        step: i64,
        args: P,
        count: i64,
        draws: i8,
        lists: *const u8,
        own: i64,
        apart: *const u8,
        desc: *const TypeDesc,
    ) -> *mut List {
        let grid = Grid::new(first, end, step, chunk(draws)).with_room(own);
        let _inside = settings::Usual::begin();
        let run = |grid: Grid, args: &[u64]| -> Res<*mut List> {
            // SAFETY: descriptors live for ever.
            let desc = unsafe { desc.as_ref() };
            let list = match desc {
                Some(desc) => crate::list::zeroed(desc, grid.pieces as i64)?,
                None => std::ptr::null_mut(),
            };
            // SAFETY: the word is the first field of a cell, which lives as long as the code that names it;
            // the list has an element for each piece.
            let job = unsafe {
                let cell = &*word.cast::<Cell>();
                let out = desc.map(|desc| Out { data: (*list).data, desc });
                Job {
                    cell,
                    grid,
                    args,
                    out,
                    seed: (draws == 1).then(crate::random::state::region_seed),
                    alone: draws == 2,
                    interp: interpreted::running(cell.entry.load(Ordering::Acquire)),
                }
            };
            // SAFETY: slots that are marked hold live lists, which the caller keeps.
            let _held = unsafe { Held::new(job.args, lists) };
            // SAFETY: the context is this thread's; compiled code passes what its body takes.
            match unsafe { crate::ring_members::left_alone(|| region::run(&job, ctx)) } {
                Ok(()) => Ok(list),
                Err(e) => {
                    // SAFETY: the only reference.
                    unsafe { crate::object::release(list.cast()) };
                    Err(e)
                }
            }
        };
        // SAFETY: compiled code passes so many slots.
        let args = unsafe { std::slice::from_raw_parts(args.cast::<u64>(), count as usize) };
        let (mut grid, mut known) = (grid, vec![]);
        // SAFETY: the table was made for these slots, and stays.
        match unsafe { overlap::verdict(apart, args) } {
            overlap::Verdict::Apart => {}
            overlap::Verdict::Ordered { knows } => {
                grid = grid.with_room(i64::MAX);
                if knows {
                    known.extend_from_slice(args);
                    known[2] = 1;
                }
            }
            overlap::Verdict::Refused => {
                // SAFETY: as above.
                return unsafe { or_raise(ctx, Err(Error::value(overlap::REFUSED))) };
            }
        }
        let args = if known.is_empty() { args } else { &known };
        let mut result = run(grid, args);
        if draws == 3 && args[2] & 1 == 0 && result.as_ref().is_err_and(|e| !e.is_a(Class::KeyboardInterrupt))
        {
            // Pieces may do what the plain loop would skip. What it does not skip raises here too.
            let mut args = args.to_vec();
            args[2] = 1;
            result = run(grid.with_room(i64::MAX), &args);
        }
        // SAFETY: as above.
        unsafe { or_raise(ctx, result) }
    }
    unsafe fn parallel_lock(a: P, b: P) {
        lock::take(a, b)
    }
    unsafe fn parallel_unlock(a: P, b: P) {
        lock::give(a, b)
    }
    unsafe fn parallel_threads() -> i64 {
        settings::threads() as i64
    }
    unsafe fn parallel_thread_id() -> i64 {
        region::thread_id()
    }
    unsafe fn parallel_chunk() -> i64 {
        settings::chunk() as i64
    }
    raising! {
        fn parallel_set_threads(n: i64) -> () = settings::set_threads(n);
        fn parallel_set_chunk(n: i64) -> i64 = settings::set_chunk(n);
    }
}

/// The chunk size that counts for a region: none for operations on arrays, whose pieces are not what a user
/// counts in.
fn chunk(draws: i8) -> u64 {
    if draws == Together::Array as i8 { 0 } else { settings::chunk() }
}

/// In a forked child.
pub fn after_fork() {
    pool::after_fork();
    tasks::after_fork();
    lock::after_fork();
}

/// Lists that iterations share: a change of length raises, since others may be reading. Their spare room is
/// hidden meanwhile, for it would be used without a look.
struct Held(Vec<(*mut List, i64)>);

impl Held {
    /// # Safety
    /// `marked` is null or has a byte for each slot; slots whose bytes are set hold lists that live as long as
    /// this.
    unsafe fn new(args: &[u64], marked: *const u8) -> Held {
        let mut held = vec![];
        // SAFETY: as required of the caller.
        let is_list = |k: usize| unsafe { !marked.is_null() && *marked.add(k) != 0 };
        for (k, slot) in args.iter().enumerate().filter(|(k, _)| is_list(*k)) {
            let l = *slot as usize as *mut List;
            debug_assert!(!l.is_null(), "slot {k}");
            // SAFETY: as required of the caller. Regions inside of one another hold the same lists, at the
            // same time.
            unsafe {
                AtomicI64::from_ptr(&raw mut (*l).borrow).fetch_add(1, Ordering::AcqRel);
                held.push((l, AtomicI64::from_ptr(&raw mut (*l).cap).swap((*l).len, Ordering::AcqRel)));
            }
        }
        Held(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for (l, cap) in self.0.iter().rev() {
            // SAFETY: as above.
            unsafe {
                AtomicI64::from_ptr(&raw mut (**l).cap).store(*cap, Ordering::Release);
                AtomicI64::from_ptr(&raw mut (**l).borrow).fetch_sub(1, Ordering::AcqRel);
            }
        }
    }
}

/// What a poll does: a piece or a task that is not wanted ends, and who may runs pending signal handlers.
pub(crate) fn poll() -> Res<()> {
    tasks::poll()?;
    let goes_on = region::ask();
    if goes_on.is_err() {
        tasks::abandon();
    }
    goes_on
}

/// What a piece raises that is to stop because an earlier one failed; nobody sees it.
fn stop() -> Error {
    Error::bare(tierup_core::exc::Class::KeyboardInterrupt)
}
