//! Inner loops: what NumPy calls with the memory of operands, and the code that runs over it.

use super::operands::Operands;
use crate::dispatcher::core_of;
use crate::marks::Marks;
use crate::overload::{Overload, Run, enter};
use crate::stand_in::held_block;
use crate::{ctx, exc};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tierup_runtime::engine::promote::Unit;
use tierup_runtime::exc::Error;
use tierup_runtime::panics::settle;

type ShortLoopFn = unsafe extern "C" fn(*mut *mut u8, *const isize, *const isize) -> u64;

/// Slots of the arguments of one turn: NumPy's 64 operands of a ufunc with 4 words each; kernels of gufuncs
/// may need more and take a vector.
const SLOTS: usize = 256;

/// Up to so many turns their own entry is faster than the loop that makes vectors and polls.
const SHORT: isize = 8;

/// One inner loop; NumPy hands its address to the loop functions.
pub(super) struct Loop {
    overload: Arc<Overload>,
    /// Of native code.
    unit: Option<Arc<Unit>>,
    /// The same with its turns on all cores, for where no turn reads what another writes.
    parallel: Option<Arc<Overload>>,
    /// For the globals of tracebacks, and to keep the guards' functions alive.
    dispatcher: Py<PyAny>,
    operands: Operands,
    slots: usize,
    /// It calls elementary functions, after which not every mark of the processor is true.
    elementary: bool,
}

impl Loop {
    /// The loop that an overload is; that of `parallel`, if it takes the same, does it on all cores.
    pub(super) fn new(
        overload: Arc<Overload>,
        parallel: Option<Arc<Overload>>,
        dispatcher: Py<PyAny>,
        operands: Operands,
    ) -> Loop {
        let unit = match &overload.run {
            Run::Compiled(code) => code.native().cloned(),
            Run::Python(_) => None,
        };
        Loop {
            parallel: parallel.filter(|p| p.args == overload.args && p.ret == overload.ret),
            dispatcher,
            operands,
            slots: overload.args.iter().map(|t| t.leaf_count()).sum(),
            // What runs without a unit has not been looked at.
            elementary: unit.as_ref().is_none_or(|u| u.elementary),
            unit,
            overload,
        }
    }
}

impl Loop {
    /// Runs the code once.
    ///
    /// # Safety
    /// `slots` are the leaves of the overload's arguments.
    #[inline(always)]
    unsafe fn run(
        &self,
        overload: &Overload,
        ctx: *mut tierup_core::layout::ThreadCtx,
        slots: *const u64,
    ) -> u64 {
        let mut nothing = 0u64;
        // SAFETY: as required of the caller; the loop returns nothing, and `self` keeps its unit.
        unsafe {
            match &self.unit {
                Some(unit) if std::ptr::eq(overload, &raw const *self.overload) => {
                    settle(enter(unit)(ctx, slots, &raw mut nothing))
                }
                Some(_) | None => {
                    let Run::Compiled(code) = &overload.run else { return 0 };
                    if let Some(unit) = code.native() {
                        unit.called();
                    }
                    code.call(ctx, slots, &raw mut nothing)
                }
            }
        }
    }
}

/// Leaves the exception that a loop ended with to NumPy, unless there is one already.
#[cold]
#[inline(never)]
unsafe fn failed(l: &Loop, status: u64) {
    // SAFETY: the status is an owned exception; the thread has a thread state.
    unsafe {
        let held = ffi::PyGILState_Ensure();
        crate::gil::attached(|py| {
            if ffi::PyErr_Occurred().is_null() {
                let globals = core_of(l.dispatcher.bind(py)).map(|c| c.decorated.globals(py));
                match globals {
                    Ok(g) => exc::raise(py, status as usize as *mut _, &g).restore(py),
                    Err(e) => e.restore(py),
                }
            } else {
                drop(Error::from_raw(status as usize as *mut _));
            }
        });
        ffi::PyGILState_Release(held);
    }
}

/// The inner loop of a ufunc or gufunc. Core dimensions follow in `dims`, the strides of core axes in
/// `steps`.
pub(super) unsafe extern "C" fn run_loop(
    args: *mut *mut u8,
    dims: *const isize,
    steps: *const isize,
    data: *mut c_void,
) {
    // SAFETY: NumPy calls with as many operands as the ufunc has, all aligned and of the loop's dtypes, and
    // with a `Loop` of ours, which keeps the unit and its code.
    unsafe {
        let l = &*data.cast::<Loop>();
        if l.elementary {
            Marks::judged(|| run(l, args, dims, steps), || l.operands.credible(args, dims, steps));
        } else {
            run(l, args, dims, steps);
        }
    }
}

/// # Safety
/// As for a loop function.
#[inline(always)]
unsafe fn run(l: &Loop, args: *mut *mut u8, dims: *const isize, steps: *const isize) {
    // SAFETY: as required of the caller.
    unsafe {
        if *dims <= SHORT
            && let Some(unit) = &l.unit
        {
            let entry = unit.short_loop.load(Ordering::Acquire);
            if !entry.is_null() {
                std::mem::transmute::<*mut u8, ShortLoopFn>(entry)(args, dims, steps);
                return;
            }
        }
        run_turns(l, args, dims, steps);
    }
}

/// # Safety
/// As for a loop function.
#[inline(never)]
unsafe fn run_turns(l: &Loop, args: *mut *mut u8, dims: *const isize, steps: *const isize) {
    // SAFETY: as required of the caller.
    unsafe {
        let (n, nargs) = (*dims, l.operands.all.len());
        if n <= 0 {
            return;
        }
        let mut small = [const { std::mem::MaybeUninit::<u64>::uninit() }; SLOTS];
        let mut large = vec![];
        let mut at = if l.slots <= SLOTS {
            small.as_mut_ptr().cast::<u64>()
        } else {
            large.resize(l.slots, 0u64);
            large.as_mut_ptr()
        };
        let slots = at;
        let mut stride = steps.add(nargs);
        for (i, operand) in l.operands.all.iter().enumerate() {
            let ndim = operand.ndim();
            at.write(held_block());
            at.add(1).write(*args.add(i) as u64);
            at.add(2).write(n as u64);
            at.add(2 + ndim).write(*steps.add(i) as u64);
            if operand.boxed {
                at.add(3).write(1);
                at.add(5).write(operand.bytes as u64);
            }
            for (k, axis) in operand.axes.iter().enumerate() {
                at.add(3 + k).write(*dims.add(1 + axis) as u64);
                at.add(3 + ndim + k).write(*stride as u64);
                stride = stride.add(1);
            }
            at = at.add(2 + 2 * ndim);
        }
        let overload = match &l.parallel {
            Some(o) if l.operands.independent(args, dims, steps) => o,
            Some(_) | None => &l.overload,
        };
        let status = ctx::without_gil(|ctx| l.run(overload, ctx, slots));
        if status != 0 {
            failed(l, status);
        }
    }
}
