//! Fourier transforms by NumPy's own inner loops, so that results have NumPy's bits. The loops are those of
//! generalised ufuncs; the host says where they are.

use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::host::{InnerLoop, callbacks};
use crate::object::wants_to_stop;
use std::sync::OnceLock;
use tierup_core::exc::Class;
use tierup_core::ops::fft::{Helpers, LOOPS};
use tierup_core::rt::{Ctx, P};

/// Each in double and in single precision.
type Loops = [[InnerLoop; 2]; LOOPS.len()];

static FOUND: OnceLock<Option<Loops>> = OnceLock::new();

/// Looks for the loops, once; whoever compiles code that needs them does, since the host has to import
/// something.
pub(crate) fn prepare() {
    FOUND.get_or_init(find);
}

fn find() -> Option<Loops> {
    let mut loops = [[InnerLoop::NONE; 2]; LOOPS.len()];
    for (to, name) in loops.iter_mut().zip(LOOPS) {
        for (to, single) in to.iter_mut().zip([false, true]) {
            *to = (callbacks().fourier)(name, single)?;
        }
    }
    Some(loops)
}

/// Points between two looks for Ctrl-C.
const BAND: i64 = 1 << 20;

/// Points from which on the loop is asked whether it had the memory that it needed: it says so by an
/// exception of Python's, and to look for one takes as long as a short transform.
const LARGE: i64 = 1 << 14;

/// All lines of one call.
struct Lines<'a> {
    of: InnerLoop,
    shape: &'a [i64],
    points: i64,
    from_strides: &'a [i64],
    to_strides: &'a [i64],
    /// One number of the loop's precision.
    factor: P,
}

impl Lines<'_> {
    /// Runs the loop over `count` lines that lie along the last axis but one.
    ///
    /// # Safety
    /// The arrays have the shape and strides that `self` says, and the loop's types.
    unsafe fn run(&self, a: P, out: P, count: i64) {
        let last = self.shape.len() - 1;
        let (step_in, step_out) = match last {
            0 => (0, 0),
            _ => (self.from_strides[last - 1], self.to_strides[last - 1]),
        };
        let mut data = [a, self.factor, out];
        let lengths = [count, self.points, self.shape[last]].map(|n| n as isize);
        let steps =
            [step_in, 0, step_out, self.from_strides[last], self.to_strides[last]].map(|n| n as isize);
        // SAFETY: as required of the caller; the loop reads three addresses, three lengths and five strides,
        // as the signature `(n),()->(m)` has them.
        unsafe { (self.of.run)(data.as_mut_ptr(), lengths.as_ptr(), steps.as_ptr(), self.of.data) }
    }

    /// # Safety
    /// As for [`Lines::run`], and `ctx` is the live context of this thread.
    unsafe fn run_all(&self, ctx: Ctx, a: P, out: P) -> Res<()> {
        let last = self.shape.len() - 1;
        if self.shape.contains(&0) {
            return Ok(());
        }
        let length = self.points.max(self.shape[last]).max(1);
        let row = if last == 0 { 1 } else { self.shape[last - 1] };
        let band = (BAND / length).clamp(1, row);
        let mut at = vec![0; last.saturating_sub(1)];
        loop {
            let offset = |strides: &[i64]| at.iter().zip(strides).map(|(i, s)| i * s).sum::<i64>();
            let (from, to) = (offset(self.from_strides), offset(self.to_strides));
            let mut first = 0;
            while first < row {
                let along = |strides: &[i64]| if last == 0 { 0 } else { first * strides[last - 1] };
                let count = band.min(row - first);
                // SAFETY: the lines are inside of the arrays.
                unsafe {
                    self.run(
                        a.wrapping_offset((from + along(self.from_strides)) as isize),
                        out.wrapping_offset((to + along(self.to_strides)) as isize),
                        count,
                    );
                }
                first += count;
                if length >= LARGE {
                    (callbacks().raised)()?;
                }
                // SAFETY: as required of the caller.
                if count * length >= BAND / 2 && unsafe { wants_to_stop(ctx) } {
                    return Ok(());
                }
            }
            let Some(k) = (0..at.len()).rev().find(|k| at[*k] + 1 < self.shape[*k]) else { return Ok(()) };
            at[k] += 1;
            at[k + 1..].fill(0);
        }
    }
}

impl Helpers for Native {
    unsafe fn fft_lines(ctx: Ctx, which: i64, single: i64, dims: *const i64, a: P, factor: f64, out: P) {
        let found = FOUND.get().and_then(Option::as_ref);
        let Some(of) =
            found.and_then(|all| Some(all.get(usize::try_from(which).ok()?)?[(single != 0) as usize]))
        else {
            let message = "np.fft needs the transforms of NumPy 2, which were not found: see numpy.fft._pocketfft_umath";
            // SAFETY: compiled code passes the live context of its thread.
            return unsafe { or_raise(ctx, Err(Error::new(Class::RuntimeError, message))) };
        };
        // SAFETY: compiled code passes the rank and as many numbers as it asks for, and arrays of that shape
        // whose elements are the loop's.
        unsafe {
            let rank = dims.read();
            let dims = crate::raw_slice(dims, 2 + 3 * rank);
            let rank = rank as usize;
            let (mut double, mut float) = (factor, factor as f32);
            let factor: P = if single != 0 { (&raw mut float).cast() } else { (&raw mut double).cast() };
            let lines = Lines {
                of,
                shape: &dims[1..1 + rank],
                points: dims[1 + rank],
                from_strides: &dims[2 + rank..2 + 2 * rank],
                to_strides: &dims[2 + 2 * rank..],
                factor,
            };
            or_raise(ctx, lines.run_all(ctx, a, out));
        }
    }
}
