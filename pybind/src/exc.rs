//! Native exceptions as Python ones, with a traceback that shows the user's file, line and function for every
//! compiled frame; and what the run-time asks of Python: signals, printing, classes of exceptions.

use crate::gil::with_python;
use crate::{known, wording};
use pyo3::exceptions::{PyBaseException, PyRuntimeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{LazyLock, Mutex, OnceLock};
use tierup_core::exc::Class;
use tierup_core::layout::{BitSource, Obj, Str};
use tierup_core::types::{ClassDef, ClassId, Type};
use tierup_runtime::exc::{Arg, Error, Exc, Res, Site};
use tierup_runtime::host::{ArrayView, Callbacks, Form, Quiet, Regex, set_callbacks};

/// Frames shown of one exception: a runaway recursion leaves a hundred thousand, and nobody reads the middle.
const FRAMES: usize = 1000;

/// Code objects that stand for a source line in tracebacks.
type CodeKey = (usize, usize, i64);
static CODES: LazyLock<Mutex<HashMap<CodeKey, Py<PyAny>>>> = LazyLock::new(Default::default);

fn code_object(py: Python<'_>, site: &Site) -> PyResult<Py<PyAny>> {
    let key = (site.file as usize, site.func as usize, site.line);
    if let Some(c) = CODES.lock().unwrap_or_else(|e| e.into_inner()).get(&key) {
        return Ok(c.clone_ref(py));
    }
    let text = |s: &str| CString::new(s.replace('\0', "?")).unwrap_or_default();
    // SAFETY: both texts are NUL-terminated; the result is a new reference or null.
    let code = unsafe {
        // Tracebacks show a function's own name, not where it was defined.
        let name = site.func().rsplit('.').next().unwrap_or("?");
        let code = ffi::PyCode_NewEmpty(
            text(site.file()).as_ptr(),
            text(name).as_ptr(),
            site.line as std::ffi::c_int,
        );
        Bound::from_owned_ptr_or_err(py, code.cast())?
    };
    // Where there is no room left for a call of Python, tracebacks are as right, if not as well shown.
    let placed = py.import("tierup._frames").and_then(|m| m.call_method1("placed", (&code, site.line)));
    let code = placed.unwrap_or(code).unbind();
    let mut codes = CODES.lock().unwrap_or_else(|e| e.into_inner());
    if codes.len() < 4096 {
        codes.insert(key, code.clone_ref(py));
    }
    Ok(code)
}

/// The exception that is being raised, while it is set aside.
#[cfg(Py_3_12)]
struct Raised(*mut ffi::PyObject);
#[cfg(Py_3_12)]
impl Raised {
    /// # Safety
    /// This thread is attached.
    unsafe fn set_aside() -> Raised {
        // SAFETY: as required of the caller.
        Raised(unsafe { ffi::PyErr_GetRaisedException() })
    }
    /// # Safety
    /// This thread is attached.
    unsafe fn put_back(self) {
        // SAFETY: as required of the caller; the reference is given back.
        unsafe { ffi::PyErr_SetRaisedException(self.0) }
    }
}
/// The exception that is being raised, while it is set aside: class, value and traceback.
#[cfg(not(Py_3_12))]
struct Raised([*mut ffi::PyObject; 3]);
#[cfg(not(Py_3_12))]
impl Raised {
    /// # Safety
    /// This thread is attached.
    unsafe fn set_aside() -> Raised {
        let [mut class, mut value, mut traceback] = [std::ptr::null_mut(); 3];
        // SAFETY: as required of the caller.
        unsafe { ffi::PyErr_Fetch(&mut class, &mut value, &mut traceback) };
        Raised([class, value, traceback])
    }
    /// # Safety
    /// This thread is attached.
    unsafe fn put_back(self) {
        let [class, value, traceback] = self.0;
        // SAFETY: as required of the caller; the references are given back.
        unsafe { ffi::PyErr_Restore(class, value, traceback) }
    }
}

/// Puts one frame for each site in front of the traceback of the exception that is being raised; sites come
/// innermost first.
fn add_frames(py: Python<'_>, trail: &[Site], globals: &Bound<'_, PyAny>) {
    let middle = trail.len().saturating_sub(FRAMES);
    let shown = trail.iter().take(FRAMES / 2).chain(trail.iter().skip(FRAMES / 2 + middle));
    for site in shown {
        // SAFETY: this thread is attached; the frame is given a code object and a dict, and released after it
        // was linked in.
        unsafe {
            // Neither Python's code nor making a frame may see an exception set.
            let raised = Raised::set_aside();
            let Ok(code) = code_object(py, site) else {
                raised.put_back();
                continue;
            };
            let frame = ffi::PyFrame_New(
                ffi::PyThreadState_Get(),
                code.as_ptr().cast(),
                globals.as_ptr(),
                std::ptr::null_mut(),
            );
            raised.put_back();
            if frame.is_null() {
                return;
            }
            ffi::PyTraceBack_Here(frame);
            ffi::Py_DECREF(frame.cast());
        }
    }
}

fn class_of<'py>(py: Python<'py>, class: &ClassDef) -> PyResult<Bound<'py, PyAny>> {
    known::object_of_def(py, class)
        .map(|c| c.into_bound(py))
        .ok_or_else(|| PyRuntimeError::new_err("an exception of a class that is gone"))
}

/// Of the classes whose text is not that of the Python number of the same value.
fn numpy_scalar<'py>(
    py: Python<'py>,
    class: &str,
    value: impl IntoPyObject<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("numpy")?.getattr(class)?.call1((value,))
}

fn arg_object<'py>(py: Python<'py>, arg: &Arg) -> PyResult<Bound<'py, PyAny>> {
    Ok(match arg {
        Arg::None => py.None().into_bound(py),
        Arg::Bool(b) => b.into_pyobject(py)?.to_owned().into_any(),
        Arg::Int(i) => i.into_pyobject(py)?.into_any(),
        Arg::UInt(u) => u.into_pyobject(py)?.into_any(),
        Arg::Float(x) => x.into_pyobject(py)?.into_any(),
        Arg::Float32(x) => numpy_scalar(py, "float32", x)?,
        Arg::Complex64(a, b) => {
            let z = pyo3::types::PyComplex::from_doubles(py, f64::from(*a), f64::from(*b));
            numpy_scalar(py, "complex64", z)?
        }
        Arg::Complex(a, b) => pyo3::types::PyComplex::from_doubles(py, *a, *b).into_any(),
        Arg::Text(t) => t.as_ref().into_pyobject(py)?.into_any(),
        // SAFETY: the argument owns a live string, and its text has `len` units of `kind` bytes.
        Arg::Str(s) => unsafe {
            match crate::stand_in::python_str(*s) {
                Some(p) => Bound::from_borrowed_ptr(py, p),
                None => Bound::from_owned_ptr_or_err(
                    py,
                    ffi::PyUnicode_FromKindAndData((**s).kind as i32, (**s).data.cast(), (**s).len as isize),
                )?,
            }
        },
        // SAFETY: the argument owns a live object of bytes.
        Arg::Bytes(b) => unsafe { Bound::from_owned_ptr_or_err(py, crate::stand_in::bytes_object(*b))? },
        Arg::Tuple(m) => tuple_of(py, m)?.into_any(),
        Arg::List(m) => {
            pyo3::types::PyList::new(py, m.iter().map(|a| arg_object(py, a)).collect::<PyResult<Vec<_>>>()?)?
                .into_any()
        }
        Arg::Instance(handle, parts) => instance_of(py, *handle, parts)?,
        Arg::Named(parts) => named_of(py, parts)?.into_any(),
        // SAFETY: the argument owns a live object of that type, and this thread is attached.
        Arg::Object(o, ty) => unsafe { object_of(py, *o, *ty)? },
        // SAFETY: the argument owns a live Python object.
        Arg::Py(p) => unsafe { Bound::from_borrowed_ptr(py, p.cast()) },
    })
}

/// Makes the Python object of an object of a class that may change, which is live and of that type.
pub(crate) type MakeObject = unsafe fn(Python<'_>, *mut Obj, Type) -> PyResult<Py<PyAny>>;
const NOTE: &str = "integers have 64 bits in compiled code, and what the call has changed by then cannot be taken back: use floats or arrays of NumPy's integers, or let Python run the function by jit(forceobj=True, looplift=False)";

/// Whether an exception says that an integer outgrew 64 bits where Python's answer is promised.
pub(crate) fn is_outgrown(py: Python<'_>, raised: &PyErr) -> bool {
    known::native_class(py, Class::IntegerOverflow).is_ok_and(|class| raised.get_type(py).is(&class))
}

/// Whether an exception of compiled code may say so as well: an OverflowError of a function whose result has 64 bits
/// there, such as `int` of a text, or one that Python raises too.
pub(crate) fn may_be_outgrown(py: Python<'_>, raised: &PyErr) -> bool {
    is_outgrown(py, raised) || raised.get_type(py).is(py.get_type::<pyo3::exceptions::PyOverflowError>())
}

/// Notes with such an exception that the call that raised it has changed nothing.
pub(crate) fn mark_untouched(py: Python<'_>, raised: &PyErr) {
    // Where there is no memory for it, it is taken to have changed something.
    raised.value(py).setattr(pyo3::intern!(py, "_untouched"), true).ok();
}

/// Whether that was noted.
pub(crate) fn is_untouched(py: Python<'_>, raised: &PyErr) -> bool {
    is_marked(py, raised, pyo3::intern!(py, "_untouched"))
}

/// Notes with an exception that a type that was declared raised it, which Python does not know.
pub(crate) fn mark_declared(py: Python<'_>, raised: &PyErr) {
    raised.value(py).setattr(pyo3::intern!(py, "_declared"), true).ok();
}

/// Whether that was noted.
pub(crate) fn is_of_declared(py: Python<'_>, raised: &PyErr) -> bool {
    is_marked(py, raised, pyo3::intern!(py, "_declared"))
}

fn is_marked(py: Python<'_>, raised: &PyErr, mark: &Bound<'_, PyString>) -> bool {
    // What asking raises holds the exception, and is dropped at once: PyO3 would queue it where it does not know that the
    // thread is attached.
    // SAFETY: both are live objects, and the thread is attached.
    unsafe {
        let found = ffi::PyObject_GetAttr(raised.value(py).as_ptr(), mark.as_ptr());
        if found.is_null() {
            ffi::PyErr_Clear();
            return false;
        }
        let answer = ffi::PyObject_IsTrue(found) == 1;
        ffi::Py_DECREF(found);
        answer
    }
}

/// OverflowError in the place of such an exception, for Python code that it leaves.
#[pyfunction]
#[pyo3(name = "outgrown")]
fn outgrown_in_python(py: Python<'_>, raised: Bound<'_, PyAny>) -> Py<PyAny> {
    outgrown(py, PyErr::from_value(raised)).into_value(py).into_any()
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(outgrown_in_python, m)?)
}

/// OverflowError in the place of the exception for an integer that outgrew 64 bits, with a note on the ways out;
/// other exceptions as they are.
pub(crate) fn outgrown(py: Python<'_>, raised: PyErr) -> PyErr {
    let convert = || -> PyResult<Option<PyErr>> {
        if !is_outgrown(py, &raised) {
            return Ok(None);
        }
        let value = raised.value(py);
        let error = pyo3::exceptions::PyOverflowError::new_err(value.str()?.to_string());
        error.value(py).call_method1("add_note", (NOTE,))?;
        error.set_traceback(py, raised.traceback(py));
        Ok(Some(error))
    };
    match convert() {
        Ok(Some(error)) => error,
        Ok(None) => raised,
        Err(e) => e,
    }
}

/// Calls a Python function for compiled code, as the run-time says of the callback.
pub(crate) type CallPython = fn(i64, &str, *mut u8, *mut u8) -> Res<()>;
/// What compiled code asks of Python's `re` and of its texts, likewise.
pub(crate) struct Regexes {
    pub find: fn(&Regex, &mut Vec<i64>) -> Res<()>,
    pub program: fn(&Regex) -> Option<Vec<i64>>,
    pub is_ascii: fn(*mut Str) -> Option<bool>,
}
static MAKE_OBJECT: OnceLock<MakeObject> = OnceLock::new();

/// The Python object of one that an exception carries.
///
/// # Safety
/// A live object of that type; the thread is attached.
unsafe fn object_of<'py>(py: Python<'py>, object: *mut Obj, ty: Type) -> PyResult<Bound<'py, PyAny>> {
    let make = MAKE_OBJECT.get().ok_or_else(|| crate::errors::bug("nobody makes objects"))?;
    // SAFETY: as required of the caller.
    unsafe { make(py, object, ty).map(|o| o.into_bound(py)) }
}

/// An instance of a class of the user's, made of its parts.
fn instance_of<'py>(py: Python<'py>, handle: u64, parts: &[Arg]) -> PyResult<Bound<'py, PyAny>> {
    let gone = || pyo3::exceptions::PyRuntimeError::new_err("an instance of a class that is gone");
    let class = known::class_object(py, handle).ok_or_else(gone)?.into_bound(py).cast_into::<PyType>()?;
    let def = tierup_core::types::ClassDef::of_handle(handle).ok_or_else(gone)?;
    let parts = tuple_of(py, parts)?;
    if def.is_builtin_value() {
        let y = if parts.len() > 1 { parts.get_item(1)?.extract()? } else { 0 };
        return crate::convert::datetimes::object_of(py, def.id, parts.get_item(0)?.extract()?, y);
    }
    if def.member_count().is_some() {
        if def.base_of_members().is_some() {
            return class.call1((parts.get_item(0)?,));
        }
        let n = parts.get_item(0)?.extract()?;
        return crate::enums::member(&class, n)?.ok_or_else(gone);
    }
    if class.is_subclass_of::<PyTuple>()? {
        return py.get_type::<PyTuple>().call_method1("__new__", (class, parts));
    }
    crate::convert::made_of(&class, def.fields.iter().map(|f| PyString::intern(py, f)).zip(parts.iter()))
}

/// The same for the run-time: owned, or null.
fn instance(handle: u64, parts: &[Arg]) -> *mut u8 {
    with_python(std::ptr::null_mut(), |py| {
        instance_of(py, handle, parts).map_or(std::ptr::null_mut(), |made| made.into_ptr().cast())
    })
}

fn tuple_of<'py>(py: Python<'py>, args: &[Arg]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, args.iter().map(|a| arg_object(py, a)).collect::<PyResult<Vec<_>>>()?)
}

/// Arguments by name.
fn named_of<'py>(py: Python<'py>, parts: &[Arg]) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    for pair in parts.chunks_exact(2) {
        named.set_item(arg_object(py, &pair[0])?, arg_object(py, &pair[1])?)?;
    }
    Ok(named)
}

/// The Python exception for a native one, without its traceback and links.
fn bare_exception<'py>(py: Python<'py>, exc: &Exc) -> PyResult<Bound<'py, PyAny>> {
    if !exc.py.is_null() {
        // SAFETY: a non-null `py` is an owned reference to a Python exception.
        return Ok(unsafe { Bound::from_borrowed_ptr(py, exc.py.cast()) });
    }
    let class = class_of(py, exc.class)?;
    let e = match exc.args.split_last() {
        Some((Arg::Named(parts), args)) => class.call(tuple_of(py, args)?, Some(&named_of(py, parts)?))?,
        Some(_) | None => class.call1(tuple_of(py, &exc.args)?)?,
    };
    // A class whose `__new__` gives something else cannot be raised.
    if e.is_instance_of::<PyBaseException>() {
        Ok(e)
    } else {
        Err(pyo3::exceptions::PyTypeError::new_err("exceptions must derive from BaseException"))
    }
}

/// A native exception as a Python object: with frames, cause and context.
pub(crate) fn exception_object<'py>(
    py: Python<'py>,
    exc: &Exc,
    globals: &Bound<'_, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    linked(py, exc, globals, &mut vec![])
}

/// `made` holds the objects of exceptions that the chain has come by: what is cause and context at once is
/// one object.
fn linked<'py>(
    py: Python<'py>,
    exc: &Exc,
    globals: &Bound<'_, PyAny>,
    made: &mut Vec<(*const Exc, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some((_, e)) = made.iter().find(|(of, _)| std::ptr::eq(*of, exc)) {
        return Ok(e.clone());
    }
    let e = bare_exception(py, exc)?;
    made.push((exc, e.clone()));
    // A chain of exceptions raised in handlers of one another in a loop has no useful end.
    if made.len() < 32 {
        // SAFETY: links are null or live exceptions.
        unsafe {
            if exc.own_cause {
                e.setattr("__cause__", &e)?;
            } else if let Some(cause) = exc.cause.as_ref() {
                e.setattr("__cause__", linked(py, cause, globals, made)?)?;
            }
            match exc.context.as_ref() {
                Some(context) => e.setattr("__context__", linked(py, context, globals, made)?)?,
                // The first that was raised in compiled code was raised while the caller handled another one,
                // if it did.
                None if !exc.trail.is_empty() && e.getattr("__context__")?.is_none() => {
                    if let Some(handled) = handled(py).filter(|h| !h.is(&e)) {
                        e.setattr("__context__", handled)?;
                    }
                }
                None => {}
            }
        }
    }
    if exc.suppress_context {
        e.setattr("__suppress_context__", true)?;
    }
    if !exc.trail.is_empty() {
        PyErr::from_value(e.clone()).restore(py);
        add_frames(py, &exc.trail, globals);
        let raised = PyErr::take(py);
        if let Some(r) = raised {
            let traceback = r.traceback(py);
            // A class may refuse to have attributes set.
            if let Some(t) = &traceback {
                // SAFETY: a live exception, and a live traceback.
                let failed = unsafe { ffi::PyException_SetTraceback(e.as_ptr(), t.as_ptr()) };
                if failed != 0 {
                    return Err(PyErr::fetch(py));
                }
            }
        }
    }
    Ok(e)
}

/// The exception that the Python code around this call is handling.
fn handled(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    let (mut class, mut value, mut traceback) =
        (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the thread is attached; the call writes three new references, each of which may be null.
    let [_, value, _] = unsafe {
        ffi::PyErr_GetExcInfo(&mut class, &mut value, &mut traceback);
        [class, value, traceback].map(|p| Bound::from_owned_ptr_or_opt(py, p))
    };
    value.filter(|v| !v.is_none())
}

/// Raises an owned native exception in Python.
///
/// # Safety
/// `exc` must be an owned reference to a live exception.
pub(crate) unsafe fn raise(py: Python<'_>, exc: *mut Exc, globals: &Bound<'_, PyAny>) -> PyErr {
    // SAFETY: as required of the caller; dropping `e` releases it.
    let e = unsafe { Error::from_raw(exc) };
    match exception_object(py, &e, globals) {
        Ok(value) => PyErr::from_value(value),
        // The constructor of a user's exception class raised: that is what Python would report, at the same
        // place.
        Err(other) => {
            other.restore(py);
            add_frames(py, &e.trail, globals);
            PyErr::fetch(py)
        }
    }
}

// ---------------------------------------------------------------- what the run-time asks

/// A Python exception as a native one that remembers it.
pub(crate) fn to_native(py: Python<'_>, e: PyErr) -> Error {
    let exc = Exc::builtin(Class::Exception, vec![]);
    // SAFETY: the exception was just made, and nobody else has it.
    unsafe {
        stand_for(&mut *exc, e.into_value(py).into_bound(py).into_any());
        Error::from_raw(exc)
    }
}

/// Has a native exception, which nobody else holds, be a Python one: its class, its arguments, the object.
fn stand_for(exc: &mut Exc, value: Bound<'_, PyAny>) {
    let class = known::exception_class(&value.get_type()).ok().flatten();
    exc.class = class.unwrap_or_else(|| ClassId::of_exception(Class::Exception).def());
    let args = value.getattr("args").ok().and_then(|a| a.cast_into::<PyTuple>().ok());
    exc.args = args.map(|a| a.iter().map(native_arg).collect()).unwrap_or_default();
    let old = std::mem::replace(&mut exc.py, value.into_ptr().cast());
    release(old);
}

/// An argument of a Python exception for compiled code: by value what it can hold by value.
fn native_arg(arg: Bound<'_, PyAny>) -> Arg {
    let exact = |class: &Bound<'_, PyType>| arg.get_type().is(class);
    let py = arg.py();
    let by_value = || -> PyResult<Option<Arg>> {
        Ok(Some(if arg.is_none() {
            Arg::None
        } else if exact(&py.get_type::<PyBool>()) {
            Arg::Bool(arg.extract()?)
        } else if exact(&py.get_type::<PyInt>()) {
            arg.extract().map(Arg::Int).or_else(|_| arg.extract().map(Arg::UInt))?
        } else if exact(&py.get_type::<PyFloat>()) {
            Arg::Float(arg.extract()?)
        } else if exact(&py.get_type::<PyComplex>()) {
            let z = arg.cast::<PyComplex>()?;
            Arg::Complex(z.real(), z.imag())
        } else if exact(&py.get_type::<PyString>()) {
            Arg::Text(arg.extract::<String>()?.into())
        } else if let Ok(t) = arg.cast_exact::<PyTuple>() {
            Arg::Tuple(t.iter().map(native_arg).collect())
        } else {
            return Ok(None);
        }))
    };
    match by_value() {
        Ok(Some(a)) => a,
        // An int of more than 64 bits, a string with lone surrogates.
        Ok(None) | Err(_) => Arg::Py(arg.into_ptr().cast()),
    }
}

/// Has the class of an exception make it of its arguments.
fn construct(exc: &mut Exc) -> Res<()> {
    with_python(Ok(()), |py| {
        let value = bare_exception(py, exc).map_err(|e| to_native(py, e))?;
        stand_for(exc, value);
        Ok(())
    })
}

/// What a class has given its exception. It stands for the object from then on, so that this is made once.
fn attribute(exc: &mut Exc, name: &str) -> Res<Arg> {
    with_python(Ok(Arg::None), |py| {
        let mut get = || kept(py, exc)?.getattr(name).map(native_arg);
        get().map_err(|e| to_native(py, e))
    })
}

fn link(exc: &Exc, cause: bool) -> Res<*mut Obj> {
    with_python(Ok(std::ptr::null_mut()), |py| {
        let name = if cause { intern!(py, "__cause__") } else { intern!(py, "__context__") };
        let found = bare_exception(py, exc).and_then(|e| e.getattr(name)).map_err(|e| to_native(py, e))?;
        if found.is_none() {
            return Ok(std::ptr::null_mut());
        }
        Ok(to_native(py, PyErr::from_value(found)).into_raw().cast())
    })
}

fn hides_context(exc: &Exc) -> bool {
    let ask =
        |py: Python<'_>| bare_exception(py, exc)?.getattr(intern!(py, "__suppress_context__"))?.is_truthy();
    with_python(false, |py| ask(py).unwrap_or(false))
}

fn add_note(exc: &mut Exc, note: &Arg) -> Res<()> {
    with_python(Ok(()), |py| {
        let mut add =
            || kept(py, exc)?.call_method1(intern!(py, "add_note"), (arg_object(py, note)?,)).map(drop);
        add().map_err(|e| to_native(py, e))
    })
}

/// The object of an exception, which is kept from then on.
fn kept<'py>(py: Python<'py>, exc: &mut Exc) -> PyResult<Bound<'py, PyAny>> {
    let value = bare_exception(py, exc)?;
    if exc.py.is_null() {
        exc.py = value.clone().into_ptr().cast();
    }
    Ok(value)
}

/// `str` or `repr`, or the class where that raises: it is for a message.
fn shown(obj: &Bound<'_, PyAny>, repr: bool) -> String {
    let text = if repr { obj.repr() } else { obj.str() };
    text.map_or_else(|_| format!("<{}>", wording::class_name(obj)), |t| t.to_string_lossy().into_owned())
}

fn exc_text(exc: &mut Exc, form: Form<'_>) -> Res<Option<String>> {
    with_python(Ok(None), |py| {
        let mut ask = || -> PyResult<String> {
            let exc = kept(py, exc)?;
            let text = match form {
                Form::Str => exc.str()?,
                Form::Repr => exc.repr()?,
                Form::Format(spec) => {
                    let format = py.import(intern!(py, "builtins"))?.getattr(intern!(py, "format"))?;
                    format.call1((exc, arg_object(py, spec)?))?.cast_into::<PyString>()?
                }
            };
            Ok(text.to_string_lossy().into_owned())
        };
        ask().map(Some).map_err(|e| to_native(py, e))
    })
}

fn exc_truth(exc: &mut Exc) -> Res<bool> {
    with_python(Ok(true), |py| kept(py, exc).and_then(|e| e.is_truthy()).map_err(|e| to_native(py, e)))
}

fn show_object(p: *mut u8, repr: bool) -> String {
    // SAFETY: the run-time passes a live Python object.
    with_python(String::new(), |py| shown(&unsafe { Bound::from_borrowed_ptr(py, p.cast()) }, repr))
}

fn show_part(arg: &Arg, repr: bool) -> Option<String> {
    with_python(None, |py| arg_object(py, arg).ok().map(|object| shown(&object, repr)))
}

/// Runs something that waits, without the GIL if this thread has it.
fn without_lock(wait: &mut dyn FnMut()) {
    // SAFETY: asks about this thread; an interpreter that is gone has no thread attached.
    if unsafe { pyo3::ffi::Py_IsInitialized() == 0 || pyo3::ffi::PyGILState_Check() == 0 } {
        return wait();
    }
    // SAFETY: the thread is attached, as was just asked.
    unsafe { crate::gil::without_gil(wait) }
}

fn poll() -> Res<()> {
    with_python(Ok(()), |py| {
        // Other Python threads have waited for as long as the loop has run.
        py.detach(|| ());
        py.check_signals().map_err(|e| to_native(py, e))
    })
}

fn raised() -> Res<()> {
    with_python(Ok(()), |py| PyErr::take(py).map_or(Ok(()), |e| Err(to_native(py, e))))
}

fn stdout_call(method: &str, text: Option<&str>) -> Res<()> {
    with_python(Ok(()), |py| {
        let call = || -> PyResult<()> {
            let out = py.import("sys")?.getattr("stdout")?;
            // `print` does nothing when there is no stdout (pythonw).
            if out.is_none() {
                return Ok(());
            }
            match text {
                Some(t) => out.call_method1(method, (t,))?,
                None => out.call_method0(method)?,
            };
            Ok(())
        };
        call().map_err(|e| to_native(py, e))
    })
}

fn show_array(a: &ArrayView<'_>, repr: bool) -> Res<String> {
    with_python(Ok(String::new()), |py| {
        let show = || -> PyResult<String> {
            let n = crate::npy::require(py)?;
            let dtype = crate::record_types::dtype_of(py, a.dtype)?;
            // SAFETY: the view describes live memory, which outlives the array object made here; None may
            // stand as a base.
            let array = unsafe {
                let none = py.None().into_ptr();
                Bound::from_owned_ptr_or_err(
                    py,
                    n.wrap(dtype.into_ptr().cast(), a.shape, a.strides, a.data.cast_mut(), false, none),
                )?
            };
            if repr { array.repr()?.extract() } else { array.str()?.extract() }
        };
        show().map_err(|e| to_native(py, e))
    })
}

fn copy_array(a: &ArrayView<'_>) -> *mut u8 {
    with_python(std::ptr::null_mut(), |py| {
        let copy = || -> PyResult<*mut u8> {
            let n = crate::npy::require(py)?;
            let dtype = crate::record_types::dtype_of(py, a.dtype)?;
            // SAFETY: the view describes live memory, which outlives the array object made here; None may
            // stand as a base.
            let array = unsafe {
                let none = py.None().into_ptr();
                Bound::from_owned_ptr_or_err(
                    py,
                    n.wrap(dtype.into_ptr().cast(), a.shape, a.strides, a.data.cast_mut(), false, none),
                )?
            };
            Ok(array.call_method0("copy")?.into_ptr().cast())
        };
        copy().unwrap_or(std::ptr::null_mut())
    })
}

/// A generator that another one spawns, or nothing where it would only be asked whether it can.
fn spawn(generator: *mut u8, one: bool) -> Res<*mut BitSource> {
    with_python(Ok(std::ptr::null_mut()), |py| {
        let spawn = || -> PyResult<*mut BitSource> {
            // SAFETY: the run-time passes a live generator.
            let generator = unsafe { Bound::from_borrowed_ptr(py, generator.cast()) };
            let children = generator.call_method1(intern!(py, "spawn"), (one as u32,))?;
            if !one {
                return Ok(std::ptr::null_mut());
            }
            // SAFETY: what a generator spawns are generators.
            unsafe { crate::stand_in::source_of(children.get_item(0)?.as_ptr()) }
        };
        spawn().map_err(|e| to_native(py, e))
    })
}

/// Drops a reference to a Python object, from whatever thread.
fn release(p: *mut u8) {
    if !p.is_null() {
        // SAFETY: the run-time hands over an owned reference. Without the GIL, PyO3 queues it.
        with_python((), |py| drop(unsafe { Bound::from_owned_ptr(py, p.cast()) }));
    }
}

/// `hash(str)` is that of this process: it depends on a secret, which is the first 16 bytes of a variable
/// that CPython exports.
fn share_hash_key() {
    // SAFETY: the variable, where it exists, is a union of 24 bytes that is never written after start-up.
    unsafe {
        let secret = libc::dlsym(libc::RTLD_DEFAULT, c"_Py_HashSecret".as_ptr()).cast::<u64>();
        if !secret.is_null() {
            tierup_runtime::string::set_hash_key(secret.read_unaligned(), secret.add(1).read_unaligned());
        }
    }
}

/// A routine of SciPy's LAPACK: a capsule of the module that offers it to Cython.
fn lapack(name: &str) -> *const u8 {
    with_python(std::ptr::null(), |py| {
        let find = || -> PyResult<*const u8> {
            let capsule = py.import("scipy.linalg.cython_lapack")?.getattr("__pyx_capi__")?.get_item(name)?;
            // SAFETY: a live object; the capsule's name is its own, and a failure is an exception.
            let p = unsafe {
                pyo3::ffi::PyCapsule_GetPointer(
                    capsule.as_ptr(),
                    pyo3::ffi::PyCapsule_GetName(capsule.as_ptr()),
                )
            };
            if p.is_null() { Err(PyErr::fetch(py)) } else { Ok(p as *const u8) }
        };
        find().unwrap_or(std::ptr::null())
    })
}

/// Tells the run-time how to reach Python.
pub(crate) fn install(make_object: MakeObject, call_python: CallPython, regexes: &Regexes) {
    _ = MAKE_OBJECT.set(make_object);
    share_hash_key();
    // SAFETY: None lives for ever.
    tierup_runtime::set_none_hash(unsafe { ffi::PyObject_Hash(ffi::Py_None()) } as i64);
    let callbacks = Callbacks {
        exc_text,
        exc_truth,
        construct,
        attribute,
        link,
        hides_context,
        add_note,
        show_object,
        show_part,
        instance,
        poll,
        write: |t| stdout_call("write", Some(t)),
        flush: || stdout_call("flush", None),
        show_array,
        copy_array,
        lapack,
        fourier: crate::fourier::inner_loop,
        raised,
        call_python,
        find: regexes.find,
        regex_program: regexes.program,
        is_ascii: regexes.is_ascii,
        spawn,
    };
    set_callbacks(callbacks, Quiet { release, without_lock, context: crate::ctx::current_without_gil });
}
