//! A generator of compiled code as a Python iterator. It owns the native frame, and through it everything the
//! generator still needs; and the copies of what it was called with ([`Copies`]), which it keeps in step with
//! their sources where its code changes any.

use super::native::turns::Turn;
use super::protocol::{BoxCx, Class, Convert, Copies, Frame, GeneratorOf, Obj, next, result};
use super::{Constructor, Plan, Purpose};
use crate::engine::Compiled;
use crate::errors::bug;
use crate::{ctx, exc, identity};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};
use tierup_core::layout::Obj as Native;
use tierup_core::types::{Kind, Type};
use tierup_runtime::object::release;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |_| Ok(None),
    plan: |t, _| {
        let Kind::Generator(_, yields) = *t else { return Plan::impossible(t) };
        Plan::other(Yields(t, yields))
    },
};

/// Generators as results.
struct Yields(Type, Type);

impl Convert for Yields {
    unsafe fn unbox(&self, _: Obj, _: Class, _: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        None
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned frame; the thread is attached.
        let frame = unsafe { next(at) } as *mut Native;
        match cx.generator.take() {
            Some(of) => result(|py| Generator::object(py, frame, of).map(|g| g.into_bound(py))),
            None => {
                // SAFETY: as above.
                let py = unsafe {
                    release(frame);
                    Python::assume_attached()
                };
                bug(&format!("a result of type {} arrived", self.0)).restore(py);
                std::ptr::null_mut()
            }
        }
    }
    fn cannot_box(&self, inside: bool) -> Option<String> {
        if inside {
            return Some("a generator inside a tuple, a list or what another generator yields cannot be returned to Python; return it alone, or a list of what it yields".into());
        }
        Plan::new(self.1, None).convert().cannot_box(true)
    }
}

// SAFETY: the objects that copies hold are touched by threads that are attached alone.
unsafe impl Send for Copies {}

/// Iterator over what a compiled generator function yields.
#[pyclass(module = "tierup", name = "generator", frozen)]
pub(crate) struct Generator {
    /// Owned; null when closed or finished.
    frame: AtomicPtr<Native>,
    code: Arc<Compiled>,
    yields: Type,
    #[allow(
        dead_code,
        reason = "what its code has assumed lives as long as the generator: arrays that it was compiled with lie at fixed addresses"
    )]
    overload: Arc<dyn Send + Sync>,
    #[allow(
        dead_code,
        reason = "keeps the functions and classes alive that were passed, for which a frame has no room"
    )]
    passed: Vec<Py<PyAny>>,
    running: AtomicBool,
    globals: Py<PyAny>,
    name: String,
    /// What was copied in, as long as the generator lives.
    copies: Mutex<Copies>,
    /// How what it yields is boxed.
    plan: Plan,
}

impl Generator {
    /// Takes over a reference to the frame.
    fn object(py: Python<'_>, frame: *mut Native, of: GeneratorOf<'_>) -> PyResult<Py<PyAny>> {
        let GeneratorOf { code, yields, overload, objects, globals, name, copies } = of;
        let passed = objects.iter().filter_map(|n| identity::object(py, *n).map(Bound::unbind)).collect();
        if code.changes_lists() {
            // SAFETY: nothing has run yet, so nothing is written: what the sources hold is remembered.
            unsafe { copies.follow() };
        }
        let g = Generator {
            frame: AtomicPtr::new(frame),
            code,
            yields,
            overload,
            passed,
            running: AtomicBool::new(false),
            // SAFETY: the globals of the function, which is being called.
            globals: unsafe { Bound::from_borrowed_ptr(py, globals) }.unbind(),
            name: name.to_owned(),
            copies: Mutex::new(copies),
            // What is read again of a list that it has yielded are Python's numbers, whatever the elements
            // are.
            plan: Plan::new(yields, Some(Purpose::Element)),
        };
        Ok(Py::new(py, g)?.into_any())
    }

    /// Brings copies up to what Python code has made of their sources since the generator was suspended.
    fn read_again(&self, py: Python<'_>, copies: &mut Copies) -> PyResult<()> {
        let mut frame = Frame::new(true);
        std::mem::swap(&mut frame.extra().copies, copies);
        // SAFETY: the generator is suspended.
        let done = unsafe { frame.read_again() };
        std::mem::swap(&mut frame.extra().copies, copies);
        match (done, frame.extra().failure.take()) {
            (Some(()), _) => Ok(()),
            (None, Some(e)) => Err(e.into_python(py)),
            (None, None) => Err(PyTypeError::new_err(
                "a list argument of a generator that changes lists was given elements of another type",
            )),
        }
    }

    fn drop_frame(&self) {
        let frame = self.frame.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: the reference was owned, and is given up once.
        unsafe { release(frame) };
    }

    fn resume(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let frame = self.frame.load(Ordering::Acquire);
        if frame.is_null() {
            return Ok(None);
        }
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let in_step = self.code.changes_lists();
        if in_step {
            self.read_again(py, &mut copies)?;
        }
        let native = self.code.params().iter().any(|t| t.keeps_references());
        let _turn = if native { Some(Turn::begin(py, in_step)?) } else { None };
        let args = [frame as u64];
        let mut results = vec![0u64; 1 + self.yields.leaf_count()];
        ctx::begin();
        // SAFETY: the wrapper takes the frame, which is alive, and writes "has a value" and the value.
        let status = unsafe { self.code.resume(ctx::current(), args.as_ptr(), results.as_mut_ptr()) };
        ctx::end();
        let mut cx = BoxCx::new(Some(&copies));
        cx.follows = in_step;
        let mut at = results[1..].as_ptr();
        // SAFETY: the generator is suspended, or has ended; a status other than 0 is an owned exception, else
        // the leaves of a value are ours now, if there is one.
        let (mut failed, value) = unsafe {
            let raised = (status != 0).then(|| {
                // No dispatcher stands around a step.
                exc::outgrown(py, exc::raise(py, status as usize as *mut _, self.globals.bind(py)))
            });
            let written = !in_step || copies.write_back(&mut cx);
            let failed = raised.or_else(|| if written { None } else { PyErr::take(py) });
            let has_value = status == 0 && results[0] as u8 != 0;
            (
                failed,
                has_value.then(|| Bound::from_owned_ptr_or_err(py, self.plan.to_python(&mut at, &mut cx))),
            )
        };
        let made = std::mem::take(&mut cx.made);
        drop(cx);
        if in_step {
            // SAFETY: the generator is suspended; who follows what is made has references to it.
            unsafe { copies.adopt(made) };
        }
        let value = match value.transpose() {
            Ok(v) => v,
            Err(e) => {
                failed.get_or_insert(e);
                None
            }
        };
        match (failed, value) {
            (Some(e), _) => {
                self.drop_frame();
                Err(e)
            }
            (None, Some(v)) => Ok(Some(v.unbind())),
            (None, None) => {
                self.drop_frame();
                Ok(None)
            }
        }
    }
}

impl Generator {
    /// Resumes a suspended generator for the last time, if it has anything to do at its end.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let frame = self.frame.load(Ordering::Acquire).cast::<tierup_core::layout::Frame>();
        if frame.is_null() {
            return Ok(());
        }
        // SAFETY: the frame is alive, and this thread alone runs it.
        unsafe {
            if (*frame).closing == 0 || (*frame).resume <= 0 {
                return Ok(());
            }
            (*frame).closing = 2;
        }
        match self.resume(py) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(pyo3::exceptions::PyRuntimeError::new_err("generator ignored GeneratorExit")),
            Err(e)
                if e.is_instance_of::<pyo3::exceptions::PyGeneratorExit>(py)
                    || e.is_instance_of::<pyo3::exceptions::PyStopIteration>(py) =>
            {
                Ok(())
            }
            Err(e) => Err(e),
        }
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        // Nobody is left to hear of an error; Python says so on stderr.
        Python::try_attach(|py| {
            if let Err(e) = self.finish(py) {
                e.write_unraisable(py, None)
            }
        });
        self.drop_frame();
    }
}

#[pymethods]
impl Generator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        if self.running.swap(true, Ordering::AcqRel) {
            return Err(PyValueError::new_err("generator already executing"));
        }
        let answer = self.resume(py);
        self.running.store(false, Ordering::Release);
        answer
    }

    /// As `next()`; compiled generators take no values.
    fn send(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        if !value.is_none() {
            return Err(PyTypeError::new_err("a compiled generator can only be sent None"));
        }
        self.__next__(py)?.ok_or_else(|| pyo3::exceptions::PyStopIteration::new_err(()))
    }

    /// Ends the generator: the `finally` blocks that it stands in run, and what it holds is released.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.running.swap(true, Ordering::AcqRel) {
            return Err(PyValueError::new_err("generator already executing"));
        }
        let answer = self.finish(py);
        // Before another thread may run it.
        self.drop_frame();
        self.running.store(false, Ordering::Release);
        answer
    }

    fn __repr__(&self) -> String {
        format!("<tierup generator {}>", self.name)
    }
}
