//! A generator of compiled code as a Python iterator. It owns the native frame, and through it everything the
//! generator still needs; and the copies of what it was called with ([`Copies`]), which it keeps in step with
//! their sources where its code changes any.

use super::native::turns::Turn;
use super::protocol::{BoxCx, Class, Convert, Copies, Frame, GeneratorOf, Obj, next, result};
use super::{Constructor, Plan, Purpose};
use crate::engine::Compiled;
use crate::errors::bug;
use crate::{ctx, exc, identity};
use pyo3::exceptions::{PyBaseException, PyStopIteration, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};
use tierup_core::emit::cx::Places;
use tierup_core::layout::Obj as Native;
use tierup_core::lir::Ty;
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
    /// Copies are kept alike with what they were made of.
    in_step: bool,
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
    /// How what it yields is boxed, and what it returns.
    plan: Plan,
    result: Plan,
    places: Places,
}

/// What a step of a generator gives: a value, or what it has returned.
enum Step {
    Value(Py<PyAny>),
    End(Option<Py<PyAny>>),
}

impl Generator {
    /// Takes over a reference to the frame.
    fn object(py: Python<'_>, frame: *mut Native, of: GeneratorOf<'_>) -> PyResult<Py<PyAny>> {
        let GeneratorOf { code, yields: (yields, places), overload, objects, globals, name, copies } = of;
        let result = Plan::new(places.result.ty, Some(Purpose::Element));
        if let Some(why) = result.convert().cannot_box(true) {
            // SAFETY: the reference was ours.
            unsafe { release(frame) };
            return Err(PyTypeError::new_err(format!("what the generator returns: {why}")));
        }
        let passed = objects.iter().filter_map(|n| identity::object(py, *n).map(Bound::unbind)).collect();
        // Lists that nobody changes there stay what they were: they may be long.
        let in_step = code.changes_lists() || code.params().iter().any(|t| t.is_copied_in_but_for_lists());
        if in_step {
            // SAFETY: nothing has run yet, so nothing is written: what the sources hold is remembered.
            unsafe { copies.follow() };
        }
        let g = Generator {
            frame: AtomicPtr::new(frame),
            code,
            in_step,
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
            result,
            places,
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
                "an argument of a generator was given fields or elements of another type",
            )),
        }
    }

    fn drop_frame(&self) {
        let frame = self.frame.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: the reference was owned, and is given up once.
        unsafe { release(frame) };
    }

    fn resume(&self, py: Python<'_>) -> PyResult<Step> {
        let frame = self.frame.load(Ordering::Acquire);
        if frame.is_null() {
            return Ok(Step::End(None));
        }
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let in_step = self.in_step;
        if in_step {
            self.read_again(py, &mut copies)?;
        }
        let native = self.code.params().iter().any(|t| t.keeps_references());
        let _turn = if native { Some(Turn::begin(py, self.code.changes_lists())?) } else { None };
        let args = [frame as u64];
        let mut results = vec![0u64; 1 + self.yields.leaf_count()];
        let mut returned = vec![];
        ctx::begin();
        // SAFETY: the wrapper takes the frame, which is alive, and writes "has a value" and the value.
        let status = unsafe { self.code.resume(ctx::current(), args.as_ptr(), results.as_mut_ptr()) };
        ctx::end();
        let mut cx = BoxCx::new(Some(&copies));
        cx.follows = in_step;
        let has_value = status == 0 && results[0] as u8 != 0;
        if status == 0 && !has_value {
            // SAFETY: the frame is alive, and no code runs in it any more.
            returned = unsafe { self.returned(frame) };
        }
        let (mut at, plan) =
            if has_value { (results[1..].as_ptr(), &self.plan) } else { (returned.as_ptr(), &self.result) };
        // SAFETY: the generator is suspended, or has ended; a status other than 0 is an owned exception, else
        // the leaves of a value are ours now, of what it has returned where it gives no other.
        let (mut failed, value) = unsafe {
            let raised = (status != 0).then(|| {
                // No dispatcher stands around a step.
                exc::outgrown(py, exc::raise(py, status as usize as *mut _, self.globals.bind(py)))
            });
            let written = !in_step || copies.write_back(&mut cx);
            let failed = raised.or_else(|| if written { None } else { PyErr::take(py) });
            (
                failed,
                (status == 0).then(|| Bound::from_owned_ptr_or_err(py, plan.to_python(&mut at, &mut cx))),
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
            (None, Some(v)) if has_value => Ok(Step::Value(v.unbind())),
            (None, v) => {
                self.drop_frame();
                Ok(Step::End(v.filter(|v| !v.is_none()).map(Bound::unbind)))
            }
        }
    }

    /// Takes what it has returned out of its frame, leaf by leaf as a result.
    ///
    /// # Safety
    /// The frame is alive, and nobody runs it.
    unsafe fn returned(&self, frame: *mut Native) -> Vec<u64> {
        let take = |(at, ty): &(i32, Ty)| {
            let mut leaf = 0u64;
            // SAFETY: the frame keeps a leaf of that size there, which is no larger than a slot. What is taken is
            // not there any more.
            unsafe {
                let place = frame.cast::<u8>().add(*at as usize);
                std::ptr::copy_nonoverlapping(place, (&raw mut leaf).cast(), ty.bytes() as usize);
                place.write_bytes(0, ty.bytes() as usize);
            }
            leaf
        };
        self.places.result.leaves.iter().map(take).collect()
    }

    /// The frame of a generator that waits at a `yield`.
    fn suspended(&self) -> Option<*mut tierup_core::layout::Frame> {
        let frame = self.frame.load(Ordering::Acquire).cast::<tierup_core::layout::Frame>();
        // SAFETY: a frame that is there is alive, and this thread alone runs it.
        (!frame.is_null() && unsafe { (*frame).resume } > 0).then_some(frame)
    }

    /// What a step gives to whoever asks for the next value.
    fn given(py: Python<'_>, step: Step) -> PyResult<Py<PyAny>> {
        match step {
            Step::Value(v) => Ok(v),
            Step::End(returned) => Err(Self::stopped(py, returned)),
        }
    }

    fn stopped(py: Python<'_>, returned: Option<Py<PyAny>>) -> PyErr {
        returned.map_or_else(
            || PyStopIteration::new_err(()),
            |v| match py.get_type::<PyStopIteration>().call1((v,)) {
                Ok(e) => PyErr::from_value(e),
                Err(e) => e,
            },
        )
    }

    /// Runs it where nobody else does.
    fn alone<T>(&self, run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        if self.running.swap(true, Ordering::AcqRel) {
            return Err(PyValueError::new_err("generator already executing"));
        }
        let answer = run();
        self.running.store(false, Ordering::Release);
        answer
    }

    /// Puts a value into the frame of a suspended generator, for `yield` to give.
    fn put(&self, py: Python<'_>, frame: *mut Native, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let place = &self.places.sent;
        let taken = place.ty.without_none();
        let wrong = |what: String| PyTypeError::new_err(format!("{}() {what}", self.name));
        if *taken == Kind::None {
            return Err(wrong(
                "was compiled as a generator that is sent nothing: say what it takes by its annotation, as in -> Generator[int, float, None]".into(),
            ));
        }
        if taken.holds_list() || taken.holds_object() {
            return Err(wrong(format!(
                "is sent a value of type {taken}: Python can send numbers, strings, arrays and tuples of them"
            )));
        }
        let mut call = Frame::new(true);
        let mut leaves = vec![0u64; place.leaves.len()];
        // SAFETY: there is room for the leaves of an optional value. The thread is attached.
        let done = unsafe { Plan::new(place.ty, None).unbox(value.as_ptr(), leaves.as_mut_ptr(), &mut call) };
        if done.is_none() {
            let failure = call.extra().failure.take().map(|e| e.into_python(py));
            return Err(failure.unwrap_or_else(|| wrong(format!("takes values of type {taken} by send()"))));
        }
        for ((at, ty), (leaf, of)) in place.leaves.iter().zip(leaves.iter().zip(place.ty.leaves())) {
            // SAFETY: the frame has room for the leaf there, and nothing is there yet; it has a reference of its
            // own, as the frame of this call has.
            unsafe {
                if of.is_ref {
                    tierup_runtime::object::retain(*leaf as *mut Native);
                }
                let place = frame.cast::<u8>().add(*at as usize);
                std::ptr::copy_nonoverlapping((&raw const *leaf).cast(), place, ty.bytes() as usize);
            }
        }
        Ok(())
    }

    /// Goes on by an exception, or has ended by it.
    fn throw_in(&self, py: Python<'_>, e: PyErr) -> PyResult<Py<PyAny>> {
        let Some(frame) = self.suspended() else {
            self.drop_frame();
            return Err(e);
        };
        // SAFETY: the frame is alive, and this thread alone runs it. It takes over the reference.
        unsafe {
            if (*frame).closing == 0 {
                self.drop_frame();
                return Err(e);
            }
            (*frame).closing = exc::to_native(py, e).into_raw() as i64;
        }
        Self::given(py, self.resume(py)?)
    }
}

impl Generator {
    /// Resumes a suspended generator for the last time, if it has anything to do at its end; what it returns.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(frame) = self.suspended() else { return Ok(None) };
        // SAFETY: the frame is alive, and this thread alone runs it.
        unsafe {
            if (*frame).closing == 0 {
                return Ok(None);
            }
            (*frame).closing = 2;
        }
        match self.resume(py) {
            Ok(Step::End(returned)) => Ok(returned),
            Ok(Step::Value(_)) => {
                Err(pyo3::exceptions::PyRuntimeError::new_err("generator ignored GeneratorExit"))
            }
            Err(e)
                if e.is_instance_of::<pyo3::exceptions::PyGeneratorExit>(py)
                    || e.is_instance_of::<PyStopIteration>(py) =>
            {
                Ok(None)
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
        match self.alone(|| self.resume(py))? {
            Step::Value(v) => Ok(Some(v)),
            Step::End(None) => Ok(None),
            Step::End(returned) => Err(Self::stopped(py, returned)),
        }
    }

    /// As `next()`, and `yield` gives the value. What is taken is compiled in.
    fn send(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let step = self.alone(|| {
            let frame = self.frame.load(Ordering::Acquire);
            if !value.is_none() && !frame.is_null() {
                if self.suspended().is_none() {
                    return Err(PyTypeError::new_err(
                        "can't send non-None value to a just-started generator",
                    ));
                }
                self.put(py, frame, value)?;
            }
            self.resume(py)
        })?;
        Self::given(py, step)
    }

    /// Raises an exception where the generator waits; the next value that it yields. It may be a class, called with
    /// what follows.
    #[pyo3(signature = (exception, value=None, traceback=None, /))]
    fn throw(
        &self,
        py: Python<'_>,
        exception: &Bound<'_, PyAny>,
        value: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let made = thrown(exception, value.filter(|v| !v.is_none()))?;
        if let Some(traceback) = traceback.filter(|t| !t.is_none()) {
            made.setattr("__traceback__", traceback)?;
        }
        self.alone(|| self.throw_in(py, PyErr::from_value(made)))
    }

    /// Ends the generator: the `finally` blocks that it stands in run, and what it holds is released.
    fn close(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let returned = self.alone(|| {
            let answer = self.finish(py);
            // Before another thread may run it.
            self.drop_frame();
            answer
        })?;
        Ok(returned.filter(|_| py.version_info() >= (3, 13)))
    }

    fn __repr__(&self) -> String {
        format!("<tierup generator {}>", self.name)
    }
}

/// The exception that `throw` throws.
fn thrown<'py>(
    exception: &Bound<'py, PyAny>,
    value: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if exception.is_instance_of::<PyBaseException>() {
        return match value {
            Some(_) => Err(PyTypeError::new_err("instance exception may not have a separate value")),
            None => Ok(exception.clone()),
        };
    }
    match exception.cast::<PyType>() {
        Ok(class) if class.is_subclass_of::<PyBaseException>()? => match value {
            Some(v) if v.is_instance(class)? => Ok(v.clone()),
            Some(v) => match v.cast::<PyTuple>() {
                Ok(all) => class.call1(all),
                Err(_) => class.call1((v,)),
            },
            None => class.call0(),
        },
        _ => Err(PyTypeError::new_err(format!(
            "exceptions must be classes or instances deriving from BaseException, not {}",
            exception.get_type().name()?
        ))),
    }
}
