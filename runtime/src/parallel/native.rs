//! Loops of the run-time itself as parallel regions: kernels over arrays, for code that was compiled with
//! `parallel=True`.

use super::region::{self, COST_UNIT, Grid, Job};
use crate::engine::promote::Cell;
use crate::exc::Res;
use tierup_core::rt::Ctx;

/// Elements from which on a kernel may be worth more than one thread: some ten microseconds.
pub(crate) const MANY: i64 = 1 << 14;

/// Calls `body` for the pieces of `0..n`, each by its bounds, at the same time where that is worth it. One of
/// the `n` is about so many elements of simple work.
///
/// # Safety
/// `ctx` is the live context of this thread.
pub(crate) unsafe fn in_pieces(ctx: Ctx, n: i64, elements: i64, body: &(dyn Fn(i64, i64) + Sync)) -> Res<()> {
    // SAFETY: as required of the caller.
    unsafe { pieces(ctx, n, elements, None, body) }
}

/// The same for what draws random numbers: each piece has a stream of its own, which belongs to the next
/// number of this thread's stream and to its place.
///
/// # Safety
/// As for [`in_pieces`].
pub(crate) unsafe fn drawing(ctx: Ctx, n: i64, elements: i64, body: &(dyn Fn(i64, i64) + Sync)) -> Res<()> {
    // SAFETY: as required of the caller.
    unsafe { pieces(ctx, n, elements, Some(crate::random::state::region_seed()), body) }
}

unsafe fn pieces(
    ctx: Ctx,
    n: i64,
    elements: i64,
    seed: Option<u64>,
    body: &(dyn Fn(i64, i64) + Sync),
) -> Res<()> {
    unsafe extern "C" fn enter(_: Ctx, slots: *const u64, _: *mut u64) -> u64 {
        // SAFETY: the slots are those below; the function outlives the region.
        unsafe {
            (**(*slots.add(2) as usize as *const &(dyn Fn(i64, i64) + Sync)))(
                *slots as i64,
                *slots.add(1) as i64,
            )
        };
        0
    }
    // An element that is read from memory takes about a third of a nanosecond.
    let cost = (elements.max(1) as u128 * COST_UNIT / 3).clamp(1, u64::MAX as u128) as u64;
    let cell = Cell::fixed(enter as *mut u8, cost);
    let job = Job {
        cell: &cell,
        grid: Grid::new(0, n, 1, 0),
        args: &[0, 0, (&raw const body) as usize as u64],
        out: None,
        seed,
        alone: false,
        interp: None,
    };
    // SAFETY: the context is this thread's; the entry takes what the slots hold.
    unsafe { crate::ring_members::left_alone(|| region::run(&job, ctx)) }
}

/// A pointer that pieces share: each writes to a part of its own.
pub(crate) struct Shared<T>(pub *mut T);
impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Shared<T> {}
// SAFETY: whoever makes one sees to it that no two pieces write to the same place.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}
impl<T> Shared<T> {
    /// The pointer; a method, so that closures take the whole.
    pub(crate) fn get(&self) -> *mut T {
        self.0
    }
}
