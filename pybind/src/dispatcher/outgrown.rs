//! Integers that outgrow 64 bits in a function whose promise is Python's answer: Python runs the call again
//! where nothing was seen of the first time.

use super::{Core, Obj};
use crate::{exc, known};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tierup_core::emit::cx::Overflow;
use tierup_core::exc::Class;

impl Core {
    /// Whether calls that raise may be run by Python.
    pub(super) fn promises_python(&self) -> bool {
        let of = &self.decorated.options;
        self.fallback && !of.goes_on && of.code.overflow == Overflow::Python
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
        let value = raised.value(py);
        if !value.get_type().is(&known::native_class(py, Class::IntegerOverflow)?) {
            return Ok(None);
        }
        let of = &self.decorated;
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
            if !compiled || self.overloads().iter().any(|o| o.changes_something()) && !again()? {
                return Err(exc::outgrown(py, raised.clone_ref(py)));
            }
            let pointers: Vec<Obj> = bound.values.iter().map(|v| v.as_ptr()).collect();
            // Itself: loops that were taken out of it have the integers that this is about.
            Ok(Some(of.call_as(of.function(py).as_any(), pointers.as_ptr(), pointers.len())))
        }
    }
}
