//! [`Host`] for one compilation: answers what globals, captured variables and defaults mean, and notes each
//! answer as a guard of the overload.

mod assigned;
mod class_attributes;

use crate::errors::Failure;
use crate::guards::Guards;
use crate::kept::Name;
use crate::passed::{Passed, Refused};
use crate::value::{self, Record};
use crate::{
    classes, constants, dataclasses, decorated, enums, functions, identity, known, objects, operations,
    overloads, overrides, rows, struct_types, variables,
};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyTuple, PyType, PyTypeMethods};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use tierup_core::diag::{Code, Diagnostic, Result};
use tierup_core::host::{Added, ClassAttr, GlobalValue, Host, Offer, Operand, Written};
use tierup_core::ops::OpId;
use tierup_core::ssa::{FuncId, Parts, VARIABLE};
use tierup_core::types::class::Instances;
use tierup_core::types::{ClassDef, Const, Type};

/// Bytes of the largest array that is copied into code, as in Numba.
const LARGEST_COPY: usize = 1_000_000;

pub(crate) struct PyHost<'py> {
    py: Python<'py>,
    guards: RefCell<Guards>,
    /// The first Python exception that an answer met (an import that failed, Ctrl-C); the compilation's own
    /// error is less to the point.
    raised: RefCell<Option<PyErr>>,
    /// A signal handler raised it.
    stopped: Cell<bool>,
    /// Calls can be given objects beside their arguments.
    passes: Cell<bool>,
    /// What is compiled beside what was asked for; none where nobody asks.
    calls: RefCell<Option<Vec<Call>>>,
    /// Global arrays with what code has in their place; none where it has themselves.
    copies: RefCell<Option<Vec<(Py<PyAny>, Py<PyAny>)>>>,
    /// The code is a kernel's, which has overloads of its own.
    kernel: Cell<bool>,
    /// What names meant in functions for which that stays so.
    named: RefCell<Vec<Named>>,
}

/// What a name means to the compiler, and the object.
type Meant<'a, 'py> = (&'a Option<GlobalValue>, &'a Bound<'py, PyAny>);

/// What a name meant in a function for some types.
pub(crate) struct Named {
    of: Py<PyAny>,
    args: Vec<Type>,
    name: Name,
    object: Py<PyAny>,
}

impl Named {
    pub(crate) fn keep(self, py: Python<'_>) {
        if let Some(d) = decorated::of(self.of.bind(py)) {
            d.kept.keep(self.args, self.name, self.object);
        }
    }
}

fn cell_of<'py>(f: &Bound<'py, PyFunction>, index: u32) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the closure of a function is null or a tuple of cells, and is borrowed.
    let closure = unsafe {
        let closure = (*f.as_ptr().cast::<ffi::PyFunctionObject>()).func_closure;
        Bound::from_borrowed_ptr_or_opt(f.py(), closure)?
    };
    closure.cast::<PyTuple>().ok()?.get_item(index as usize).ok()
}

/// What a captured variable of a function holds.
fn content_of<'py>(f: &Bound<'py, PyFunction>, index: u32) -> Option<Bound<'py, PyAny>> {
    cell_of(f, index)?.getattr(intern!(f.py(), "cell_contents")).ok()
}

/// A function that compiled code calls, for which arguments and values of some, and what that gives.
pub(crate) type Call = (FuncId, Vec<Type>, Vec<Option<Const>>, Type);

impl Record for PyHost<'_> {
    fn array(&self, array: &Bound<'_, PyAny>) -> usize {
        self.guards.borrow_mut().array(array)
    }
    fn freezes(&self) -> bool {
        self.copies.borrow().is_some()
    }
    fn constant<'a>(&self, array: &Bound<'a, PyAny>) -> PyResult<Bound<'a, PyAny>> {
        let (py, mut copies) = (array.py(), self.copies.borrow_mut());
        let Some(copies) = copies.as_mut() else { return Ok(array.clone()) };
        if let Some((_, copy)) = copies.iter().find(|(a, _)| a.is(array)) {
            return Ok(copy.bind(py).clone());
        }
        if array.getattr(intern!(py, "nbytes"))?.extract::<usize>()? > LARGEST_COPY {
            return Ok(array.clone());
        }
        let copy = array.call_method1(intern!(py, "copy"), (intern!(py, "K"),))?;
        copy.call_method1(intern!(py, "setflags"), (false,))?;
        copies.push((array.clone().unbind(), copy.clone().unbind()));
        Ok(copy)
    }
    fn class(&self, class: &Bound<'_, PyType>) {
        self.guards.borrow_mut().order(class);
    }
    fn passed(&self, obj: &Bound<'_, PyAny>) -> std::result::Result<Option<GlobalValue>, Failure> {
        if !self.passes.get() {
            return Ok(None);
        }
        if let Some(known) = self.guards.borrow().passed().iter().find(|p| p.is_for(obj)) {
            return Ok(Some(known.value()));
        }
        match Passed::new(obj) {
            Ok(p) => Ok(p.map(|p| {
                let value = p.value();
                self.guards.borrow_mut().pass(p);
                value
            })),
            Err(Refused::Raised(e)) => Err(e.into()),
            Err(Refused::Because(why)) => {
                let what = crate::wording::a(&crate::wording::class_name(obj));
                Ok(Some(GlobalValue::Unsupported(format!("{what} {why}"))))
            }
        }
    }
}

impl<'py> PyHost<'py> {
    pub(crate) fn new(py: Python<'py>) -> PyHost<'py> {
        PyHost {
            py,
            guards: RefCell::default(),
            raised: RefCell::default(),
            stopped: Cell::new(false),
            passes: Cell::new(true),
            calls: RefCell::new(None),
            copies: RefCell::default(),
            kernel: Cell::new(false),
            named: RefCell::default(),
        }
    }

    /// What is compiled is a kernel.
    pub(crate) fn for_kernel(&self) {
        self.kernel.set(true);
    }

    /// Keeps what is compiled beside what was asked for.
    pub(crate) fn keep_calls(&self) {
        *self.calls.borrow_mut() = Some(vec![]);
    }

    /// What was kept of it.
    pub(crate) fn take_calls(&self) -> Vec<Call> {
        self.calls.borrow_mut().take().unwrap_or_default()
    }

    /// What is compiled is not called from Python with arguments: it is given nothing beside them.
    pub(crate) fn passes_nothing(&self) {
        self.passes.set(false);
    }

    /// Code has global arrays as they are now, but for large ones.
    pub(crate) fn copies_arrays(&self) {
        self.copies.replace(Some(vec![]));
    }

    /// What names meant in functions for which that stays so, once this has come to code.
    pub(crate) fn take_named(&self) -> Vec<Named> {
        self.named.take()
    }

    fn note_name(&self, of: Bound<'_, PyAny>, args: &[Type], name: Name, value: Meant<'_, '_>) {
        // Of an array code has a copy, which stays what it is.
        let object = match value.0 {
            Some(GlobalValue::Array { .. }) => self.constant(value.1).unwrap_or_else(|_| value.1.clone()),
            _ => value.1.clone(),
        };
        let (of, args, object) = (of.unbind(), args.to_vec(), object.unbind());
        self.named.borrow_mut().push(Named { of, args, name, object });
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

impl Host for PyHost<'_> {
    fn calls(&self, func: FuncId, args: &[Type], values: &[Option<Const>], ret: Type) {
        if let Some(calls) = &mut *self.calls.borrow_mut() {
            calls.push((func, args.to_vec(), values.to_vec(), ret));
        }
    }
    fn settle_passed(&self, place: usize, ty: Type) {
        self.guards.borrow_mut().settle(place, ty);
    }

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
        if !library {
            let globals = self.globals_of(&f);
            let variable = match name.strip_prefix(VARIABLE) {
                Some(name) => variables::of_globals(&globals, name).map(|of| Some(self.pass_variable(&of))),
                None => self.variable(&globals, name),
            };
            match variable {
                Ok(None) => {}
                Ok(Some(v)) => return Some(v),
                Err(e) => return Some(self.unsupported(e.into())),
            }
        }
        let found = self.lookup(&f, &PyString::intern(self.py, name), !library);
        match found {
            Ok(Some(v)) => self.classify(&v, !library),
            Ok(None) => functions::itself(self.py, host, name).map(GlobalValue::Function),
            Err(e) => Some(self.unsupported(e.into())),
        }
    }

    fn global_for(&self, host: u64, name: &str, args: &[Type]) -> Option<GlobalValue> {
        let Some(of) = functions::freezing(self.py, host) else { return self.global(host, name) };
        let named = Name::Global(name.to_owned());
        if let Some(value) = decorated::of(&of).and_then(|d| d.kept.get(self.py, args, &named)) {
            return self.classify(&value, true);
        }
        let value = self.global(host, name);
        if !matches!(value, None | Some(GlobalValue::Variable { .. } | GlobalValue::Unsupported(_)))
            && let Some((f, _)) = functions::function_of(self.py, host)
            && let Ok(Some(object)) = self.globals_of(&f).get_item(name)
        {
            self.note_name(of, args, named, (&value, &object));
        }
        value
    }

    fn free_for(&self, host: u64, index: u32, args: &[Type]) -> Option<GlobalValue> {
        let Some(of) = functions::freezing(self.py, host) else { return self.free(host, index) };
        let named = Name::Captured(index);
        if let Some(value) = decorated::of(&of).and_then(|d| d.kept.get(self.py, args, &named)) {
            return self.classify(&value, true);
        }
        let value = self.free(host, index);
        if value.is_some()
            && let Some((f, _)) = functions::function_of(self.py, host)
            && let Some(object) = content_of(&f, index)
        {
            self.note_name(of, args, named, (&value, &object));
        }
        value
    }

    fn free(&self, host: u64, index: u32) -> Option<GlobalValue> {
        let (f, _) = functions::function_of(self.py, host)?;
        let cell = cell_of(&f, index)?;
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
        let value = functions::default_of(&f, param);
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
            if matches!(what, Written::Replace | Written::AsDict | Written::AsTuple) {
                return functions::library_func_id(&dataclasses::function(&object, what)?);
            }
            for name in ["__init__", "__post_init__"] {
                let found = self.lookup_in_class(&object, &PyString::intern(self.py, name))?;
                // It has the defaults.
                if let Some(f) = found.filter(|f| f.is_instance_of::<PyFunction>()) {
                    self.depends_on(&f);
                }
            }
            if !class.has_objects() && !class.is_value() {
                return Err(Diagnostic::new(Code::BadCall, classes::cannot_be_made(&object, class)).into());
            }
            let made = if class.has_objects() {
                objects::constructor(&object)?
            } else {
                dataclasses::constructor(&object)?
            };
            functions::library_func_id(&made)
        };
        find().map_err(|e| self.of_written(&class.name, e))
    }

    fn class_attr(&self, def: &ClassDef, name: &str) -> Option<ClassAttr> {
        let class = known::object_of_def(self.py, def)?.into_bound(self.py).cast_into::<PyType>().ok()?;
        self.class(&class);
        match self.variable_of_class(&class, 0, name) {
            Ok(None) => {}
            Ok(Some(v)) => return Some(ClassAttr::Value(v)),
            Err(e) => return Some(ClassAttr::Value(self.unsupported(e.into()))),
        }
        let found = self.lookup_in_class(&class, &PyString::intern(self.py, name));
        if def.member_count().is_some()
            && let Some(found) = self.of_members(def, &class, name)
        {
            return found;
        }
        if def.is_native() && def.fields.iter().any(|f| f == name) {
            return None;
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

    fn variable_of(&self, def: &ClassDef, name: &str) -> Result<GlobalValue> {
        self.assigned_variable(def, name)
    }

    fn is_for_globals(&self, def: &ClassDef) -> bool {
        let class = known::object_of_def(self.py, def).map(|c| c.into_bound(self.py));
        class
            .and_then(|c| c.cast_into::<PyType>().ok())
            .is_some_and(|c| variables::is_for_variables(c.as_type_ptr()))
    }

    fn declared_type(&self, def: &ClassDef) -> Result<Type> {
        let class = known::object_of_def(self.py, def)
            .ok_or_else(|| Diagnostic::internal("an object of a class that is gone"))?;
        let find = || struct_types::declared(class.bind(self.py).cast::<PyType>()?);
        find().map_err(|e| Diagnostic::new(Code::BadSignature, e.value(self.py).to_string()))
    }

    fn choose(&self, func: FuncId, positional: &[Type], named: &[(Arc<str>, Type)]) -> Result<GlobalValue> {
        let find = || -> std::result::Result<GlobalValue, Failure> {
            let of = rows::object_of(self.py, func)?
                .ok_or_else(|| Diagnostic::internal("a function that is gone"))?;
            let answer = rows::choose(&of, positional, named)?;
            self.depends_on_choice(&answer)?;
            let what = answer.what?;
            if what.is(&of) {
                return Ok(GlobalValue::Function(func));
            }
            match rows::has_results(&of)?.then(|| functions::row_id(&what)).transpose()?.flatten() {
                Some(row) => Ok(GlobalValue::Function(row)),
                None => Ok(value::classify(&what, self)?),
            }
        };
        find().map_err(|e| self.of_written("the choice of a row", e))
    }

    fn overloads_of(&self, op: OpId) -> Option<FuncId> {
        overloads::of_operation(op)
    }

    fn overloads_of_class(&self, class: &ClassDef) -> Option<FuncId> {
        overloads::of_object(known::object_of_def(self.py, class)?.bind(self.py))
    }

    fn added(&self, of: Type, name: &str) -> Result<Option<Added>> {
        let found = overloads::added(self.py, of, name).map_err(|e| self.of_written("what was added", e))?;
        Ok(found.map(|(method, f)| if method { Added::Method(f) } else { Added::Attribute(f) }))
    }

    fn added_setter(&self, of: Type, name: &str) -> Result<Option<FuncId>> {
        overloads::added_setter(self.py, of, name).map_err(|e| self.of_written("what was added", e))
    }

    fn overload(
        &self,
        func: FuncId,
        n: usize,
        positional: &[Operand],
        named: &[(Arc<str>, Operand)],
    ) -> Result<Option<Offer>> {
        let find = || -> std::result::Result<Option<Offer>, Failure> {
            let said = overloads::offer(self.py, func, n, positional, named, self.kernel.get())?;
            said.map(|said| said.offer(|f| self.depends_on(f))).transpose()
        };
        find().map_err(|e| self.of_written("the choice of an overload", e))
    }

    fn without_answer(&self, func: FuncId, positional: &[Operand]) -> Vec<String> {
        overloads::without_answer(self.py, func, positional).unwrap_or_default()
    }

    fn result(&self, func: FuncId, ty: Type) -> Result<GlobalValue> {
        let find = || -> std::result::Result<GlobalValue, Failure> {
            let of = functions::object_of_id(func).and_then(|n| identity::object(self.py, n));
            let of = of.ok_or_else(|| Diagnostic::internal("a function that is gone"))?;
            let answer = rows::result(&of, ty)?;
            self.depends_on_choice(&answer)?;
            let what = answer.what?;
            if what.is(&of) { Ok(GlobalValue::Function(func)) } else { Ok(value::classify(&what, self)?) }
        };
        find().map_err(|e| self.of_written("the check of a result", e))
    }

    fn from_class(&self, func: FuncId) -> FuncId {
        let of = rows::object_of(self.py, func).ok().flatten();
        // The first argument chooses, which then is the instance; from Python 3.15 on always what is behind it.
        if self.py.version_info() >= (3, 15) {
            return func;
        }
        let dispatcher = of.and_then(|of| rows::method(&of).ok());
        dispatcher.and_then(|(f, _)| functions::func_id_of(f.as_any(), &f).ok()).unwrap_or(func)
    }

    fn entry(&self, func: FuncId) -> Result<FuncId> {
        let find = || -> std::result::Result<FuncId, Failure> {
            let of = rows::object_of(self.py, func)?
                .ok_or_else(|| Diagnostic::internal("a function that is gone"))?;
            rows::entry(&of)
        };
        find().map_err(|e| self.of_written("the entry of a function", e))
    }

    fn property_setter(&self, def: &ClassDef, name: &str) -> Option<FuncId> {
        let class = known::object_of_def(self.py, def)?.into_bound(self.py).cast_into::<PyType>().ok()?;
        self.class(&class);
        let raw = self.lookup_in_class(&class, &PyString::intern(self.py, name)).ok()??;
        let set = raw.getattr("fset").ok()?;
        let f = functions::python_function(&set)?;
        self.depends_on(f.as_any());
        functions::func_id_of(&set, &f).ok()
    }

    fn asks_for_class(&self) {
        self.guards.borrow_mut().ask_for_classes();
    }

    fn add_field(&self, def: &ClassDef, name: &str) -> bool {
        let add = || {
            let class = known::object_of_def(self.py, def)?.into_bound(self.py).cast_into::<PyType>().ok()?;
            if variables::is_for_variables(class.as_ptr().cast()) && !variables::has(&class, name).ok()? {
                return None;
            }
            let takes = def.has_objects()
                && !def.is_native()
                && objects::instances_have_dict(&class)
                && !known::left_out(&class).iter().any(|n| n == name)
                && overrides::may_be_field(&class, name).ok()?;
            takes.then(|| known::add_fields(&class, vec![name.to_owned()]).ok()).flatten()
        };
        add().is_some()
    }

    fn class_attr_behind(&self, def: &ClassDef, behind: &ClassDef, name: &str) -> Option<ClassAttr> {
        let object = |c| known::object_of_def(self.py, c)?.into_bound(self.py).cast_into::<PyType>().ok();
        let (class, behind) = (object(def)?, object(behind)?);
        self.class(&class);
        let first = class.mro().iter().position(|c| c.is(&behind))? + 1;
        let find = || -> std::result::Result<Option<ClassAttr>, Failure> {
            if let Some(v) = self.variable_of_class(&class, first, name)? {
                return Ok(Some(ClassAttr::Value(v)));
            }
            match self.lookup_from(&class, first, &PyString::intern(self.py, name))? {
                Some(raw) => self.class_member(&class, name, &raw),
                None => Ok(None),
            }
        };
        find().unwrap_or_else(|e| Some(ClassAttr::Value(self.unsupported(e))))
    }

    fn is_instance(&self, value: Type, class: Type) -> Option<bool> {
        self.may_be_joined(class);
        crate::classes::is_instance(self.py, value, class)
    }

    fn has_attribute(&self, value: Type, name: &str) -> Option<bool> {
        crate::classes::has_attribute(self.py, value, name)
    }

    fn pythons_class(&self, class: &ClassDef) -> Option<Type> {
        let own = known::object_of_def(self.py, class)?.into_bound(self.py);
        let pythons = crate::classes::pythons(own.clone());
        if pythons.is(&own) { None } else { crate::value::value_type(&self.classify(&pythons, true)?) }
    }

    fn is_subclass(&self, class: Type, of: Type) -> Option<bool> {
        self.may_be_joined(of);
        crate::classes::is_subclass(self.py, class, of)
    }

    fn sent_type(&self, func: FuncId) -> Option<Type> {
        let f = functions::function_of_id(self.py, func)?;
        let said = self.py.import(intern!(self.py, "tierup._generators")).ok()?;
        let said = said.call_method1(intern!(self.py, "sent"), (f,)).ok()?;
        struct_types::of_spec(&said, &mut vec![]).ok().filter(|t| !t.holds_list() && !t.holds_object())
    }

    fn attribute_of_function(&self, func: FuncId, name: &str) -> Option<GlobalValue> {
        let f = functions::function_of_id(self.py, func)?.cast_into::<PyFunction>().ok()?;
        self.classify(&crate::classes::attribute_of_function(&f, name)?, true)
    }

    fn module_attr(&self, module: &str, name: &str) -> Option<GlobalValue> {
        let m = known::module_object(self.py, module)?;
        let dict = m.getattr("__dict__").ok().and_then(|d| d.cast_into::<PyDict>().ok());
        match dict.map(|d| self.variable(&d, name)) {
            None | Some(Ok(None)) => {}
            Some(Ok(Some(v))) => return Some(v),
            Some(Err(e)) => return Some(self.unsupported(e.into())),
        }
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
        if module == "sys" && matches!(name.to_str(), Ok("stdout" | "stderr")) {
            // Whatever it is when it is written to.
            let stream = self.py.import("tierup.lib.streams").ok()?.call_method1("system", (&name,)).ok()?;
            return self.classify(&stream, true);
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
            let args = args.iter().map(|a| constants::object(self.py, a)).collect::<PyResult<Vec<_>>>()?;
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
