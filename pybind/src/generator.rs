//! A generator of compiled code as a Python iterator. It owns the native frame, and through it everything the
//! generator still needs.

use crate::boxing::{self, BoxCx};
use crate::frame::Frame;
use crate::overload::Overload;
use crate::{ctx, exc, identity};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use tierup_core::layout::Obj;
use tierup_runtime::object::release;

/// Iterator over what a compiled generator function yields.
#[pyclass(module = "tierup", name = "generator", frozen)]
pub struct Generator {
    /// Owned; null when closed or finished.
    frame: AtomicPtr<Obj>,
    /// What its code has assumed lives as long as the generator: arrays that it was compiled with lie at
    /// fixed addresses.
    overload: Arc<Overload>,
    #[allow(
        dead_code,
        reason = "keeps the functions and classes alive that were passed, for which a frame has no room"
    )]
    passed: Vec<Py<PyAny>>,
    running: AtomicBool,
    globals: Py<PyAny>,
    name: String,
}

impl Generator {
    /// Takes over a reference to the frame.
    pub fn object(
        py: Python<'_>,
        frame: *mut Obj,
        overload: Arc<Overload>,
        globals: Bound<'_, PyAny>,
        name: String,
    ) -> PyResult<Py<PyAny>> {
        let passed =
            overload.objects.iter().filter_map(|n| identity::object(py, *n).map(Bound::unbind)).collect();
        let g = Generator {
            frame: AtomicPtr::new(frame),
            overload,
            passed,
            running: AtomicBool::new(false),
            globals: globals.unbind(),
            name,
        };
        Ok(Py::new(py, g)?.into_any())
    }

    fn drop_frame(&self) {
        let frame = self.frame.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: the reference was owned, and is given up once.
        unsafe { release(frame) };
    }

    fn resume(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let frame = self.frame.load(Ordering::Acquire);
        let Some((code, yields)) = self.overload.generator() else { return Ok(None) };
        if frame.is_null() {
            return Ok(None);
        }
        let args = [frame as u64];
        let mut results = vec![0u64; 1 + yields.leaf_count()];
        ctx::begin();
        // SAFETY: the wrapper takes the frame, which is alive, and writes "has a value" and the value.
        let status = unsafe { code.resume(ctx::current(), args.as_ptr(), results.as_mut_ptr()) };
        ctx::end();
        if status != 0 {
            self.drop_frame();
            // SAFETY: a status other than 0 is an owned exception.
            return Err(unsafe { exc::raise(py, status as usize as *mut _, self.globals.bind(py)) });
        }
        if results[0] as u8 == 0 {
            self.drop_frame();
            return Ok(None);
        }
        let (frame, mut at) = (Frame::new(false), results[1..].as_ptr());
        let mut cx = BoxCx::new(&frame);
        // SAFETY: the value's leaves are ours now.
        let object = unsafe { Bound::from_owned_ptr_or_err(py, boxing::to_python(yields, &mut at, &mut cx)) };
        object.map(|o| Some(o.unbind()))
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
        self.running.store(false, Ordering::Release);
        self.drop_frame();
        answer
    }

    fn __repr__(&self) -> String {
        format!("<tierup generator {}>", self.name)
    }
}
