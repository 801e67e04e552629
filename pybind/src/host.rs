//! [`Host`] for one compilation: answers what globals, captured variables and defaults mean, and notes each
//! answer as a guard of the overload.

use crate::errors::Failure;
use crate::guards::Guards;
use crate::value::{self, Record};
use crate::{dataclasses, decorated, enums, functions, identity, known, operations};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyDict, PyFunction, PyString, PyTuple, PyType, PyTypeMethods};
use std::cell::{Cell, RefCell};
use tierup_core::diag::{Code, Diagnostic, Result};
use tierup_core::host::{ClassAttr, GlobalValue, Host, Written};
use tierup_core::ssa::{FuncId, Parts};
use tierup_core::types::class::Instances;
use tierup_core::types::{ClassDef, Const, Type};

pub(crate) struct PyHost<'py> {
    py: Python<'py>,
    guards: RefCell<Guards>,
    /// The first Python exception that an answer met (an import that failed, Ctrl-C); the compilation's own
    /// error is less to the point.
    raised: RefCell<Option<PyErr>>,
    /// A signal handler raised it.
    stopped: Cell<bool>,
}

impl Record for PyHost<'_> {
    fn array(&self, array: &Bound<'_, PyAny>) -> usize {
        self.guards.borrow_mut().array(array)
    }
    fn class(&self, class: &Bound<'_, PyType>) {
        self.guards.borrow_mut().order(class);
    }
}

impl<'py> PyHost<'py> {
    pub(crate) fn new(py: Python<'py>) -> PyHost<'py> {
        PyHost { py, guards: RefCell::default(), raised: RefCell::default(), stopped: Cell::new(false) }
    }

    /// What the compilation assumed, and the Python exception that it met.
    pub(crate) fn finish(self) -> (Guards, Option<PyErr>) {
        (self.guards.into_inner(), self.raised.into_inner())
    }

    /// The answer of a compilation that this served, or the Python exception that it met.
    pub(crate) fn settle<T>(self, answer: Result<T>) -> std::result::Result<T, Failure> {
        match (answer, self.raised.into_inner()) {
            (Err(_), Some(e)) => Err(e.into()),
            (answer, _) => Ok(answer?),
        }
    }

    /// Guards the code and defaults of a function that is compiled in or passed as an argument, and what is
    /// declared of it.
    pub(crate) fn depends_on(&self, obj: &Bound<'py, PyAny>) {
        let Some(f) = functions::python_function(obj) else { return };
        self.guards.borrow_mut().function(f.as_any());
        if let Some(d) = decorated::of(obj) {
            self.guards.borrow_mut().decoration(&d.now);
        }
    }

    /// Guards the bases of the classes that types are of.
    pub(crate) fn depends_on_classes(&self, types: &[Type]) {
        let mut found = vec![];
        types.iter().for_each(|t| known::objects_of(*t, &mut found));
        for object in found.into_iter().filter_map(|n| identity::object(self.py, n)) {
            if let Ok(class) = object.cast::<PyType>() {
                self.class(class);
            }
        }
    }

    fn classify(&self, obj: &Bound<'py, PyAny>, guarded: bool) -> Option<GlobalValue> {
        match value::classify(obj, self) {
            Ok(v) => {
                if guarded
                    && matches!(v, GlobalValue::Function(_))
                    && functions::python_function(obj).is_some()
                {
                    self.depends_on(obj);
                }
                // Members of tuples and the like are reached through the tuple, which its own guard keeps
                // alive.
                Some(v)
            }
            Err(e) => Some(self.unsupported(e)),
        }
    }

    /// Why a function that is written for a call cannot be.
    fn of_written(&self, maker: &str, e: Failure) -> Diagnostic {
        match e {
            Failure::Diagnostic(d) => *d,
            // What is wrong with the arguments is said where the function is wanted.
            Failure::Raised(e) if e.is_instance_of::<pyo3::exceptions::PyValueError>(self.py) => {
                Diagnostic::new(Code::BadCall, e.value(self.py).to_string())
            }
            Failure::Raised(e) => {
                let d = Diagnostic::new(Code::InternalError, format!("{maker} failed: {e}"));
                self.raised.borrow_mut().get_or_insert(e);
                d
            }
        }
    }

    /// A value that could not be understood: the reason becomes the compiler's error where the value is used.
    fn unsupported(&self, e: Failure) -> GlobalValue {
        match e {
            Failure::Diagnostic(d) => GlobalValue::Unsupported(d.to_string()),
            Failure::Raised(e) => {
                let text = e.to_string();
                self.raised.borrow_mut().get_or_insert(e);
                GlobalValue::Unsupported(text)
            }
        }
    }

    fn globals_of(&self, f: &Bound<'py, PyFunction>) -> Bound<'py, PyDict> {
        // SAFETY: a function has a dict of globals.
        unsafe {
            Bound::from_borrowed_ptr(self.py, ffi::PyFunction_GetGlobals(f.as_ptr())).cast_into_unchecked()
        }
    }

    /// `name` as code with these globals reads it, with its guards.
    fn lookup(
        &self,
        f: &Bound<'py, PyFunction>,
        name: &Bound<'py, PyString>,
        guarded: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let globals = &self.globals_of(f);
        let found = globals.get_item(name)?;
        if guarded {
            self.guards.borrow_mut().name(globals.as_any(), Some(f.as_any()), name.as_any(), found.as_ref());
        }
        if found.is_some() {
            return Ok(found);
        }
        let builtins = match globals.get_item("__builtins__")? {
            Some(b) => match b.cast_into::<PyDict>() {
                Ok(d) => d,
                Err(e) => e.into_inner().getattr("__dict__")?.cast_into::<PyDict>()?,
            },
            None => self.py.import("builtins")?.dict(),
        };
        let found = builtins.get_item(name)?;
        if guarded {
            self.guards.borrow_mut().name(builtins.as_any(), None, name.as_any(), found.as_ref());
        }
        Ok(found)
    }
}

impl<'py> PyHost<'py> {
    /// What lies under a name in the dictionaries of a class and its bases; each that was looked into is
    /// guarded.
    fn lookup_in_class(
        &self,
        class: &Bound<'py, PyType>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.lookup_from(class, 0, name)
    }

    /// The same without the first classes of the MRO.
    fn lookup_from(
        &self,
        class: &Bound<'py, PyType>,
        first: usize,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        for base in class.mro().iter().skip(first) {
            let at = base.as_ptr().cast::<ffi::PyTypeObject>();
            // SAFETY: the members of an `mro` are live classes; only classes made in Python, which can
            // change, keep their dictionary here.
            let dict = unsafe {
                if ffi::PyType_GetFlags(at) & ffi::Py_TPFLAGS_HEAPTYPE == 0 {
                    // What a class made in C has under the name comes before what stands behind it.
                    if base.getattr(pyo3::intern!(self.py, "__dict__"))?.contains(name)? {
                        return Ok(None);
                    }
                    continue;
                }
                Bound::from_borrowed_ptr_or_opt(self.py, (*at).tp_dict)
            };
            let Some(dict) = dict.and_then(|d| d.cast_into::<PyDict>().ok()) else { continue };
            let found = dict.get_item(name)?;
            self.guards.borrow_mut().name(dict.as_any(), Some(&base), name.as_any(), found.as_ref());
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// What members of an enumeration have under a name by themselves, or from Python's `enum`; none of what
    /// any class may have.
    fn of_members(
        &self,
        def: &ClassDef,
        class: &Bound<'py, PyType>,
        name: &str,
    ) -> Option<Option<ClassAttr>> {
        let find = || -> std::result::Result<Option<Option<ClassAttr>>, Failure> {
            Ok(match enums::attribute(class, name)? {
                None => None,
                Some(enums::Attribute::Hidden) => Some(None),
                Some(enums::Attribute::Member(n)) => Some(Some(ClassAttr::Value(GlobalValue::Member(
                    known::enumeration(class)?
                        .ok_or_else(|| Diagnostic::internal(format!("{} is no enumeration", def.name)))?,
                    n,
                )))),
                Some(enums::Attribute::Method(f)) => {
                    Some(Some(ClassAttr::Method(functions::library_func_id(&f)?)))
                }
                Some(enums::Attribute::Computed(f)) => {
                    Some(Some(ClassAttr::Property(functions::library_func_id(&f)?)))
                }
            })
        };
        find().unwrap_or_else(|e| Some(Some(ClassAttr::Value(self.unsupported(e)))))
    }

    fn class_member(
        &self,
        class: &Bound<'py, PyType>,
        name: &str,
        raw: &Bound<'py, PyAny>,
    ) -> std::result::Result<Option<ClassAttr>, Failure> {
        let kind = raw.get_type().name()?.to_string();
        if let Some(k) = crate::classes::field_of(raw)? {
            return Ok(Some(ClassAttr::Field(k)));
        }
        if is_made_by_namedtuple(raw, &kind)? {
            return Ok(None);
        }
        let unwrapped = match name {
            "__repr__" => dataclasses::without_guard(raw)?,
            "__eq__" => dataclasses::without_identity(class, raw)?,
            _ => None,
        };
        let raw = unwrapped.as_ref().unwrap_or(raw);
        let function = |object: &Bound<'py, PyAny>| -> std::result::Result<Option<FuncId>, Failure> {
            let Some(f) = functions::python_function(object) else { return Ok(None) };
            self.depends_on(f.as_any());
            functions::func_id_of(object, &f).map(Some)
        };
        Ok(match kind.as_str() {
            "staticmethod" => self.classify(&raw.getattr("__func__")?, true).map(ClassAttr::Value),
            "classmethod" => Some(match function(&raw.getattr("__func__")?)? {
                Some(f) => ClassAttr::ClassMethod(f),
                None => ClassAttr::Value(GlobalValue::Unsupported(
                    "a method that is not written in Python".into(),
                )),
            }),
            "property" => Some(match function(&raw.getattr("fget")?)? {
                Some(f) => ClassAttr::Property(f),
                None => ClassAttr::Computed(GlobalValue::Unsupported("a property".into())),
            }),
            _ => match function(raw)? {
                Some(f) => Some(ClassAttr::Method(f)),
                // Members of an enumeration, and whatever else gives its value through a descriptor.
                None => {
                    let computed = raw.get_type().hasattr("__get__")?;
                    // What it gives for the class.
                    let value = if computed {
                        raw.call_method1("__get__", (self.py.None(), class))?
                    } else {
                        raw.clone()
                    };
                    self.classify(&value, true).map(if computed {
                        ClassAttr::Computed
                    } else {
                        ClassAttr::Value
                    })
                }
            },
        })
    }
}

/// What `collections.namedtuple` puts into each of its classes.
fn is_made_by_namedtuple(raw: &Bound<'_, PyAny>, kind: &str) -> PyResult<bool> {
    let function =
        if matches!(kind, "staticmethod" | "classmethod") { raw.getattr("__func__")? } else { raw.clone() };
    let Ok(function) = function.cast_into::<PyFunction>() else { return Ok(false) };
    let home: String =
        function.getattr("__globals__")?.get_item("__name__").and_then(|n| n.extract()).unwrap_or_default();
    Ok(home == "collections" || home.starts_with("namedtuple_"))
}

impl Host for PyHost<'_> {
    fn interrupted(&self) -> bool {
        // SAFETY: the thread is attached.
        if !self.stopped.get() && unsafe { ffi::PyErr_CheckSignals() } != 0 {
            self.stopped.set(true);
            if let Some(e) = PyErr::take(self.py) {
                self.raised.borrow_mut().get_or_insert(e);
            }
        }
        self.stopped.get()
    }

    fn global(&self, host: u64, name: &str) -> Option<GlobalValue> {
        let (f, library) = functions::function_of(self.py, host)?;
        let found = self.lookup(&f, &PyString::intern(self.py, name), !library);
        match found {
            Ok(Some(v)) => self.classify(&v, !library),
            Ok(None) => functions::itself(self.py, host, name).map(GlobalValue::Function),
            Err(e) => Some(self.unsupported(e.into())),
        }
    }

    fn free(&self, host: u64, index: u32) -> Option<GlobalValue> {
        let (f, _) = functions::function_of(self.py, host)?;
        // SAFETY: the closure of a function is null or a tuple of cells; both results are borrowed.
        let cell = unsafe {
            let closure = Bound::from_borrowed_ptr_or_opt(
                self.py,
                (*f.as_ptr().cast::<ffi::PyFunctionObject>()).func_closure,
            )?;
            closure.cast::<PyTuple>().ok()?.get_item(index as usize).ok()?
        };
        let content = cell.getattr("cell_contents").ok();
        self.guards.borrow_mut().cell(&cell, f.as_any(), content.as_ref());
        let Some(content) = content else {
            let names: Vec<String> =
                f.getattr("__code__").ok()?.getattr("co_freevars").ok()?.extract().ok()?;
            return functions::itself(self.py, host, names.get(index as usize)?).map(GlobalValue::Function);
        };
        self.classify(&content, true)
    }

    fn default(&self, host: u64, param: &str) -> Option<GlobalValue> {
        let (f, library) = functions::function_of(self.py, host)?;
        if !library {
            self.depends_on(f.as_any());
        }
        let value = default_of(&f, param);
        match value {
            Ok(v) => v.and_then(|v| self.classify(&v, !library)),
            Err(e) => Some(self.unsupported(e.into())),
        }
    }

    fn field_default(&self, class: &ClassDef, field: &str) -> Option<GlobalValue> {
        let defaults =
            known::object_of_def(self.py, class)?.into_bound(self.py).getattr("_field_defaults").ok()?;
        self.classify(&defaults.get_item(field).ok()?, true)
    }

    fn function_attr(&self, func: FuncId, name: &str) -> Option<GlobalValue> {
        let attributes = functions::function_of_id(self.py, func)?.getattr("_tierup_attributes_").ok()?;
        self.classify(&attributes.get_item(name).ok()?, false)
    }

    fn written_for(&self, class: &ClassDef, what: Written) -> Result<FuncId> {
        let find = || -> std::result::Result<FuncId, Failure> {
            let object = known::object_of_def(self.py, class)
                .ok_or_else(|| Diagnostic::internal("an instance of a class that is gone"))?;
            let object = object.into_bound(self.py).cast_into::<PyType>().map_err(PyErr::from)?;
            self.class(&object);
            if class.member_count().is_some() {
                return functions::library_func_id(&enums::written(&object, what)?);
            }
            for name in ["__init__", "__post_init__"] {
                let found = self.lookup_in_class(&object, &PyString::intern(self.py, name))?;
                // It has the defaults.
                if let Some(f) = found.filter(|f| f.is_instance_of::<PyFunction>()) {
                    self.depends_on(&f);
                }
            }
            functions::library_func_id(&dataclasses::constructor(&object)?)
        };
        find().map_err(|e| self.of_written(&class.name, e))
    }

    fn class_attr(&self, def: &ClassDef, name: &str) -> Option<ClassAttr> {
        let class = known::object_of_def(self.py, def)?.into_bound(self.py).cast_into::<PyType>().ok()?;
        self.class(&class);
        let found = self.lookup_in_class(&class, &PyString::intern(self.py, name));
        if def.member_count().is_some()
            && let Some(found) = self.of_members(def, &class, name)
        {
            return found;
        }
        if let Instances::Frozen(generated) = def.instances {
            if let Some(k) = def.fields.iter().position(|f| f == name) {
                return Some(ClassAttr::Field(k as u32));
            }
            if dataclasses::is_generated(name, generated) {
                return None;
            }
        }
        match found {
            Ok(raw) => raw.and_then(|raw| {
                self.class_member(&class, name, &raw)
                    .unwrap_or_else(|e| Some(ClassAttr::Value(self.unsupported(e))))
            }),
            Err(e) => Some(ClassAttr::Value(self.unsupported(e.into()))),
        }
    }

    fn class_attr_behind(&self, def: &ClassDef, behind: &ClassDef, name: &str) -> Option<ClassAttr> {
        let object = |c| known::object_of_def(self.py, c)?.into_bound(self.py).cast_into::<PyType>().ok();
        let (class, behind) = (object(def)?, object(behind)?);
        self.class(&class);
        let first = class.mro().iter().position(|c| c.is(&behind))? + 1;
        let find = || -> std::result::Result<Option<ClassAttr>, Failure> {
            match self.lookup_from(&class, first, &PyString::intern(self.py, name))? {
                Some(raw) => self.class_member(&class, name, &raw),
                None => Ok(None),
            }
        };
        find().unwrap_or_else(|e| Some(ClassAttr::Value(self.unsupported(e))))
    }

    fn is_instance(&self, value: Type, class: Type) -> Option<bool> {
        crate::classes::is_instance(self.py, value, class)
    }

    fn has_attribute(&self, value: Type, name: &str) -> Option<bool> {
        crate::classes::has_attribute(self.py, value, name)
    }

    fn is_subclass(&self, class: Type, of: Type) -> Option<bool> {
        crate::classes::is_subclass(self.py, class, of)
    }

    fn attribute_of_function(&self, func: FuncId, name: &str) -> Option<GlobalValue> {
        let f = functions::function_of_id(self.py, func)?.cast_into::<PyFunction>().ok()?;
        self.classify(&crate::classes::attribute_of_function(&f, name)?, true)
    }

    fn module_attr(&self, module: &str, name: &str) -> Option<GlobalValue> {
        let m = known::module_object(self.py, module)?;
        let name = PyString::intern(self.py, name);
        let value = m.getattr(&name).ok()?;
        // A module may compute its attributes (`__getattr__`); those that lie in its dict can change and are
        // guarded.
        if let Ok(dict) = m.getattr("__dict__")
            && let Ok(d) = dict.cast::<PyDict>()
        {
            let found = d.get_item(&name).ok().flatten();
            self.guards.borrow_mut().name(d.as_any(), Some(&m), name.as_any(), found.as_ref());
        }
        self.classify(&value, true)
    }

    fn import(&self, name: &str) -> Option<&'static str> {
        operations::import(self.py, name)
    }

    fn in_parallel(&self, func: FuncId, parts: Parts) -> FuncId {
        functions::in_parallel(self.py, func, parts).unwrap_or(func)
    }

    fn written(&self, maker: &str, args: &[Const]) -> Result<FuncId> {
        let find = || -> std::result::Result<FuncId, Failure> {
            let (module, name) = maker
                .rsplit_once('.')
                .ok_or_else(|| Diagnostic::internal(format!("{maker} is no function")))?;
            let args = args.iter().map(|a| object(self.py, a)).collect::<PyResult<Vec<_>>>()?;
            let maker = self.py.import(format!("tierup.{module}"))?.getattr(name)?;
            let f = maker.call1(PyTuple::new(self.py, args)?)?;
            let f = f
                .cast::<PyFunction>()
                .map_err(|_| Diagnostic::internal(format!("{name} gives no Python function")))?;
            functions::library_func_id(f)
        };
        find().map_err(|e| self.of_written(maker, e))
    }

    fn library(&self, path: &str) -> Result<FuncId> {
        let find = || -> std::result::Result<FuncId, Failure> {
            let (module, name) = path
                .rsplit_once('.')
                .ok_or_else(|| Diagnostic::internal(format!("{path} is no library function")))?;
            let f = self.py.import(format!("tierup.lib.{module}"))?.getattr(name)?;
            let f = f
                .cast::<PyFunction>()
                .map_err(|_| Diagnostic::internal(format!("tierup.lib.{path} is no Python function")))?;
            functions::library_func_id(f)
        };
        find().map_err(|e| match e {
            Failure::Diagnostic(d) => *d,
            Failure::Raised(e) => {
                let d = Diagnostic::new(
                    Code::InternalError,
                    format!("the library function {path} could not be loaded: {e}"),
                );
                // A library that cannot be imported is our own trouble; Ctrl-C while it loads is the user's.
                if !e.is_instance_of::<pyo3::exceptions::PyException>(self.py) {
                    self.raised.borrow_mut().get_or_insert(e);
                }
                d
            }
        })
    }
}

/// The default of a parameter.
fn default_of<'py>(f: &Bound<'py, PyFunction>, param: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Ok(d) = f.getattr("__kwdefaults__")?.cast::<PyDict>()
        && let Some(v) = d.get_item(param)?
    {
        return Ok(Some(v));
    }
    let code = f.getattr("__code__")?;
    let count: usize = code.getattr("co_argcount")?.extract()?;
    let names: Vec<String> = code.getattr("co_varnames")?.extract()?;
    let defaults = f.getattr("__defaults__")?;
    let Ok(defaults) = defaults.cast::<PyTuple>() else { return Ok(None) };
    let Some(at) = names.iter().take(count).position(|n| n == param) else { return Ok(None) };
    match (at + defaults.len()).checked_sub(count) {
        Some(i) => defaults.get_item(i).map(Some),
        None => Ok(None),
    }
}

/// A constant of the compiler as an object.
fn object<'py>(py: Python<'py>, value: &Const) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Const::None => py.None().into_bound(py),
        Const::Ellipsis => py.Ellipsis().into_bound(py),
        Const::Bool(x) => PyBool::new(py, *x).to_owned().into_any(),
        Const::Int(x) => x.into_pyobject(py)?.into_any(),
        Const::UInt(x) => x.into_pyobject(py)?.into_any(),
        Const::Float(x) => x.into_pyobject(py)?.into_any(),
        Const::Complex(re, im) => PyComplex::from_doubles(py, *re, *im).into_any(),
        Const::Str(x) => PyString::new(py, x).into_any(),
        Const::Bytes(x) => PyBytes::new(py, x).into_any(),
        Const::Tuple(all) => {
            let all = all.iter().map(|a| object(py, a)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, all)?.into_any()
        }
    })
}
