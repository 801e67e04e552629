//! A Python function with what its decorator says of it: all of a dispatcher that those below it ask for, who
//! compile the function where another one calls it, or run it in Python.
//!
//! The decoration belongs to the function's identity in the compiler: with another one it is another
//! function, so compiled code that calls it, and values that hold it, keep to what is declared. The number of
//! the decoration tells them apart; code that depends on one guards it.

use crate::bind::Params;
use crate::engine::Options;
use crate::kept::Kept;
use crate::looking::{Looking, looks};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tierup_core::declare::Declared;

type Obj = *mut ffi::PyObject;

/// What a decorator says beside options: signatures, and the types of variables.
#[derive(Clone, Default)]
pub(crate) struct Decoration {
    /// 0 where nothing is said: the function is then what it is without a decorator.
    pub id: u64,
    pub declared: Arc<Declared>,
    /// Variables with their types, as text.
    pub locals: Arc<[(Arc<str>, Arc<str>)]>,
    /// Annotations of parameters are checked.
    pub checked: bool,
    /// What it gives is checked.
    pub result: bool,
    /// Parameters for each of whose values there is code, by number.
    pub specialised: Arc<[usize]>,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Decoration {
    pub(crate) fn new(
        declared: Declared,
        locals: Arc<[(Arc<str>, Arc<str>)]>,
        specialised: Arc<[usize]>,
    ) -> Decoration {
        let nothing = declared == Declared::default() && locals.is_empty() && specialised.is_empty();
        let id = if nothing { 0 } else { NEXT.fetch_add(1, Ordering::Relaxed) };
        Decoration { id, declared: Arc::new(declared), locals, checked: false, result: false, specialised }
    }
    /// The same for a function whose annotations are checked, that of its result where it has one.
    pub(crate) fn checked(self, result: bool) -> Decoration {
        let id = if self.id == 0 { NEXT.fetch_add(1, Ordering::Relaxed) } else { self.id };
        Decoration { id, checked: true, result, ..self }
    }
    /// The same for a function as one of several rows: what it gives is checked.
    pub(crate) fn row(self) -> Decoration {
        Decoration { id: u64::MAX - self.id, result: true, ..self }
    }
    /// Whether calls have to choose.
    pub(crate) fn declares(&self) -> bool {
        !self.declared.open || !self.declared.signatures.is_empty()
    }
}

/// The function, and what is said of it.
pub(crate) struct Decorated {
    function: Py<PyFunction>,
    pub params: Params,
    /// That many positional arguments fill all parameters; none where there are keyword-only ones, `*args` or
    /// `**kwargs`.
    pub simple: Option<usize>,
    pub options: Options,
    decoration: Mutex<Decoration>,
    /// For how many calls with arguments as the last ones Python was found to be quicker.
    pub quicker: AtomicU32,
    /// The number of the decoration, for those who depend on it.
    pub now: Arc<AtomicU64>,
    /// What Python runs where the function is not compiled, once that is known.
    in_python: OnceLock<Py<PyAny>>,
    /// The decorator's options, by which loops are cut out of what Python runs; none where they are not.
    lift: Option<Py<PyAny>>,
    /// What names meant where there first was code.
    pub kept: Kept,
}

/// What Python runs in place of a function.
pub(crate) enum InPython {
    /// The function with its loops compiled, by the decorator's options.
    Lifted(Py<PyAny>),
    /// That, which takes the same arguments.
    Instead(Py<PyAny>),
    Itself,
}

impl Decorated {
    pub(crate) fn new(
        function: &Bound<'_, PyFunction>,
        options: Options,
        decoration: Decoration,
        in_python: InPython,
    ) -> PyResult<Decorated> {
        let params = Params::of(function.as_any())?;
        let (lift, in_python) = match in_python {
            InPython::Lifted(options) => (Some(options), OnceLock::new()),
            InPython::Instead(f) => (None, OnceLock::from(f)),
            InPython::Itself => (None, OnceLock::from(function.clone().into_any().unbind())),
        };
        Ok(Decorated {
            function: function.clone().unbind(),
            simple: params.simple_count(),
            params,
            options,
            quicker: AtomicU32::new(0),
            now: Arc::new(AtomicU64::new(decoration.id)),
            decoration: Mutex::new(decoration),
            in_python,
            lift,
            kept: Kept::default(),
        })
    }
    /// What Python runs where the function is not compiled.
    pub(crate) fn in_python<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        if let Some(f) = self.in_python.get() {
            return Ok(f.bind(py));
        }
        // Making it runs Python code, which may call the function, as where it looks up builtins.
        let key = std::ptr::from_ref(&self.in_python) as usize;
        if looks(key) {
            return Ok(self.function(py).as_any());
        }
        let _looking = Looking::begin(key);
        // No lock is held while Python runs: another thread may do the same, and the first answer is kept.
        let made = match &self.lift {
            Some(options) => {
                py.import("tierup._lifting")?.getattr("lifted")?.call1((self.function(py), options))?
            }
            None => self.function(py).clone().into_any(),
        };
        Ok(self.in_python.get_or_init(|| made.unbind()).bind(py))
    }
    /// The same if it is known, for the collector.
    pub(crate) fn in_python_ptr(&self) -> Obj {
        self.in_python.get().map_or(std::ptr::null_mut(), |f| f.as_ptr())
    }
    /// The options that loops are cut out by, for the collector.
    pub(crate) fn lift_ptr(&self) -> Obj {
        self.lift.as_ref().map_or(std::ptr::null_mut(), |o| o.as_ptr())
    }
    pub(crate) fn function<'py>(&self, py: Python<'py>) -> &Bound<'py, PyFunction> {
        self.function.bind(py)
    }
    /// The same where nobody has said that this thread is attached.
    pub(crate) fn function_ptr(&self) -> Obj {
        self.function.as_ptr()
    }
    pub(crate) fn globals<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: a function has a dict of globals.
        unsafe { Bound::from_borrowed_ptr(py, ffi::PyFunction_GetGlobals(self.function.as_ptr())) }
    }
    pub(crate) fn name(&self) -> &str {
        &self.params.name
    }
    pub(crate) fn decoration(&self) -> Decoration {
        self.decoration.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
    /// Says something else of the function.
    pub(crate) fn decorate(&self, decoration: Decoration) {
        self.now.store(decoration.id, Ordering::Relaxed);
        *self.decoration.lock().unwrap_or_else(|e| e.into_inner()) = decoration;
    }

    /// Calls the Python function with one argument for each parameter.
    ///
    /// # Safety
    /// `args` points to `n` live objects; the thread is attached.
    pub(crate) unsafe fn call_python(&self, args: *const Obj, n: usize) -> Obj {
        // SAFETY: as required of the caller.
        unsafe {
            let py = Python::assume_attached();
            match self.in_python(py) {
                Ok(f) => self.call_as(f, args, n),
                Err(e) => {
                    e.restore(py);
                    std::ptr::null_mut()
                }
            }
        }
    }

    /// Calls `function` in its place.
    ///
    /// # Safety
    /// As for [`Decorated::call_python`].
    pub(crate) unsafe fn call_as(&self, function: &Bound<'_, PyAny>, args: *const Obj, n: usize) -> Obj {
        let (py, p) = (function.py(), &self.params);
        // SAFETY: as required of the caller; a function is callable.
        unsafe {
            if self.simple == Some(n) {
                return ffi::PyObject_Vectorcall(function.as_ptr(), args, n, std::ptr::null_mut());
            }
            let call = || -> PyResult<Py<PyAny>> {
                let arg = |i: usize| Bound::from_borrowed_ptr(py, *args.add(i));
                let mut positional: Vec<_> = (0..p.positional).map(arg).collect();
                if p.varargs {
                    positional.extend(arg(p.positional + p.keyword_only).cast_into::<PyTuple>()?.iter());
                }
                let keywords = PyDict::new(py);
                for i in p.positional..p.positional + p.keyword_only {
                    keywords.set_item(&p.names[i], arg(i))?;
                }
                if p.varkw {
                    keywords.update(arg(n - 1).cast::<pyo3::types::PyMapping>()?)?;
                }
                Ok(function.call(PyTuple::new(py, positional)?, Some(&keywords))?.unbind())
            };
            match call() {
                Ok(r) => r.into_ptr(),
                Err(e) => {
                    e.restore(py);
                    std::ptr::null_mut()
                }
            }
        }
    }
}

// ---------------------------------------------------------------- objects that have one

/// What a dispatcher object begins with.
#[repr(C)]
pub(crate) struct Head {
    ob_base: ffi::PyObject,
    pub vectorcall: Option<ffi::vectorcallfunc>,
    pub dict: Obj,
    pub weakrefs: Obj,
    /// Lives as long as the object.
    pub decorated: *const Decorated,
}

static CLASS: OnceLock<usize> = OnceLock::new();

/// The class of dispatchers; null before it is made.
pub(crate) fn class() -> *mut ffi::PyTypeObject {
    CLASS.get().copied().unwrap_or(0) as *mut ffi::PyTypeObject
}

/// Says which class begins with [`Head`]; it lives for ever.
pub(crate) fn set_class(class: Bound<'_, PyAny>) {
    CLASS.get_or_init(|| class.into_ptr() as usize);
}

/// The function behind a dispatcher; none behind another object.
pub(crate) fn of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<&'a Decorated> {
    // SAFETY: objects of this class begin with a head, and get their function before anybody sees them.
    unsafe { (ffi::Py_TYPE(obj.as_ptr()) == class()).then(|| &*(*obj.as_ptr().cast::<Head>()).decorated) }
}
