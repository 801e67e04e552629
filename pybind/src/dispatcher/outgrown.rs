//! Integers that outgrow 64 bits in a function whose promise is Python's answer: Python runs the call again
//! where nothing was seen of the first time.

use super::{Core, Obj};
use crate::exc;
use crate::looking::looks;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicU32, Ordering};
use tierup_core::emit::cx::Overflow;

/// Calls in a row whose integers outgrew 64 bits: the next ones go to Python at once, each time more of them.
#[derive(Default)]
pub(super) struct Outgrown {
    times: AtomicU32,
    left: AtomicU32,
}

/// So many in a row say nothing of the next one.
const BY_CHANCE: u32 = 2;
/// One in so many is compiled code's all the same.
const MOST: u32 = 1 << 12;

impl Outgrown {
    /// Whether a call goes to Python.
    pub(super) fn takes(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    /// Another one.
    fn note(&self) {
        let times = self.times.fetch_add(1, Ordering::Relaxed) + 1;
        let left = 1_u32.checked_shl(times.saturating_sub(BY_CHANCE)).unwrap_or(MOST);
        self.left.store(if times <= BY_CHANCE { 0 } else { left.min(MOST) }, Ordering::Relaxed);
    }

    /// 64 bits sufficed.
    pub(super) fn settle(&self) {
        self.times.store(0, Ordering::Relaxed);
    }
}

impl Core {
    /// Whether calls that raise may be run by Python.
    pub(super) fn promises_python(&self) -> bool {
        self.fallback && self.decorated.options.code.overflow == Overflow::Python
    }

    /// What Python gives for a call with integers of any size: the function itself, for loops that were taken out of
    /// it have the integers that this is about; for such a loop, that Python runs it where it stands.
    ///
    /// # Safety
    /// `args` points to `n` live objects, one for each parameter; the thread is attached.
    pub(super) unsafe fn call_uncut(&self, py: Python<'_>, args: *const Obj, n: usize) -> Obj {
        let of = &self.decorated;
        // SAFETY: as required of the caller.
        unsafe {
            if of.options.goes_on {
                return of.call_python(args, n);
            }
            of.call_as(of.function(py).as_any(), args, n)
        }
    }

    /// The answer of a call that has raised; `compiled` says whether compiled code did, and Python code may run it
    /// again.
    ///
    /// # Safety
    /// As for a vectorcall of this dispatcher; an exception is set.
    #[cold]
    pub(super) unsafe fn after_raising(
        &self,
        args: *const Obj,
        n: usize,
        keywords: Obj,
        compiled: bool,
    ) -> Obj {
        // SAFETY: as required of the caller.
        unsafe {
            let py = Python::assume_attached();
            // Python ran that call for the look at another one.
            if looks(self.key()) {
                return std::ptr::null_mut();
            }
            let Some(raised) = PyErr::take(py) else { return std::ptr::null_mut() };
            match self.run_again(py, &raised, args, n, keywords, compiled) {
                Ok(Some(r)) => return r,
                Ok(None) => raised.restore(py),
                Err(e) => e.restore(py),
            }
            std::ptr::null_mut()
        }
    }

    /// What Python gives for a call that an integer was too large for, or OverflowError; nothing for other
    /// exceptions.
    ///
    /// # Safety
    /// As for a vectorcall of this dispatcher.
    unsafe fn run_again(
        &self,
        py: Python<'_>,
        raised: &PyErr,
        args: *const Obj,
        n: usize,
        keywords: Obj,
        compiled: bool,
    ) -> PyResult<Option<Obj>> {
        let look = || {
            let certain = exc::is_outgrown(py, raised);
            let perhaps = certain || compiled && exc::may_be_outgrown(py, raised);
            (perhaps && !exc::is_of_declared(py, raised)).then_some(certain)
        };
        let Some(certain) = self.look(look) else { return Ok(None) };
        let of = &self.decorated;
        let untouched = exc::is_untouched(py, raised);
        // A loop whose variables have outgrown 64 bits asks whether it can be run again where it stands.
        if of.options.goes_on && !untouched {
            return Ok(None);
        }
        // SAFETY: as required of the caller; what is bound outlives the call.
        unsafe {
            let bound = of.params.bind(py, of.function(py).as_any(), args, n, keywords);
            let bound = bound.map_err(|e| e.into_python(py))?;
            let given = PyTuple::new(py, &bound.values)?;
            // What compiled code may change is known; what of it is seen outside of the call, the syntax says.
            let again = || -> PyResult<bool> {
                let asks = py.import("tierup._again")?.getattr("runs_again")?;
                asks.call1((of.function(py), given))?.is_truthy()
            };
            if !(compiled && untouched)
                && (!compiled || self.overloads().iter().any(|o| o.changes_something()) && !again()?)
            {
                return if certain { Err(exc::outgrown(py, raised.clone_ref(py))) } else { Ok(None) };
            }
            // The slow path asks how the next call goes.
            self.outgrown.note();
            self.recent.iter().for_each(|r| r.store(std::ptr::null_mut(), Ordering::Relaxed));
            let pointers: Vec<Obj> = bound.values.iter().map(|v| v.as_ptr()).collect();
            Ok(Some(self.call_uncut(py, pointers.as_ptr(), pointers.len())))
        }
    }
}
