//! Instances of frozen dataclasses: their fields, read one by one; an instance that leaves compiled code is made
//! of them, without `__init__`.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, result};
use super::{Constructor, Plan, buffers, datetimes, recognise, unit};
use crate::errors::Failure;
use crate::gil::attached;
use crate::{dataclasses, known, overrides, wording};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::infer::state::{DEEPEST, LARGEST};
use tierup_core::types::{ClassDef, Kind, Type, promote};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        if let Some(t) = datetimes::type_of(obj)? {
            return Ok(Some(t));
        }
        let seen = buffers::seen(obj)?;
        let obj = seen.as_ref().unwrap_or(obj);
        let class = obj.get_type();
        if !dataclasses::may_be(&class) {
            return Ok(None);
        }
        let Some(def) = known::frozen_class(&class)? else { return Ok(None) };
        super::nested(|| type_of_instance(obj, def)).map(Some)
    },
    plan: |t, purpose| {
        let Kind::Frozen(def, fields) = t.kind() else { return Plan::impossible(t) };
        if def.is_builtin_value() {
            return datetimes::plan(def.id);
        }
        let names = attached(|py| def.fields.iter().map(|f| PyString::intern(py, f).unbind()).collect());
        let class = AtomicPtr::new(unit::own(t).cast());
        let stays = tierup_core::ops::tasks::cannot_leave(t);
        let buffer = attached(|py| {
            known::object_of_def(py, def).is_some_and(|c| buffers::stands_for_one(c.bind(py).as_any()))
        });
        let forgets = |k: usize| promote::forgets(t, k) && *fields[k] == Kind::None;
        let forgotten = (0..fields.len()).find(|k| forgets(*k));
        let fields = Plan::all(fields, purpose);
        Plan::other(Instance { fields, names, def, class, stays, buffer, forgotten })
    },
};

fn type_of_instance(obj: &Bound<'_, PyAny>, def: &'static ClassDef) -> Result<Type, Failure> {
    let mut types = vec![];
    for name in &def.fields {
        let Some(value) = obj.getattr_opt(name.as_str())?.filter(|v| !is_computed(v)) else {
            let class = wording::a(&wording::class_name(obj));
            let text =
                format!("compiled code cannot take {class} whose field '{name}' has no value of its own");
            return Err(recognise::unsupported(text, "give the field a value"));
        };
        types.push(super::part_type(&value)?);
    }
    let ty = Type::new(Kind::Frozen(def, types));
    if ty.is_larger_than(DEEPEST, LARGEST) {
        return Err(recognise::unsupported(
            "compiled code cannot take a dataclass that holds itself many levels deep: each level is a type of its own",
            "keep the parts in a list, with numbers that say what belongs together",
        ));
    }
    recognise::refuse_hiding(obj, &def.fields)?;
    Ok(ty)
}

struct Instance {
    fields: Box<[Plan]>,
    names: Box<[Py<PyString>]>,
    def: &'static ClassDef,
    /// The class, which lives without us.
    class: AtomicPtr<ffi::PyTypeObject>,
    /// Why no instance leaves compiled code, where none does.
    stays: Option<String>,
    /// Instances stand for objects of Python's library.
    buffer: bool,
    /// The field whose value says nothing here, whatever it is.
    forgotten: Option<usize>,
}

impl Convert for Instance {
    unsafe fn unbox(&self, obj: Obj, class: Class, mut out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: the class of a live object, and that object. A value that is read stays alive without the
        // reference: the instance, which never changes, holds it, or it is refused.
        unsafe {
            let (mut obj, mut class) = (obj, class);
            if self.buffer && class != self.class.load(Ordering::Relaxed) {
                obj = buffers::seen_for_a_call(obj, class, frame)?;
                class = ffi::Py_TYPE(obj);
            }
            if class != self.class.load(Ordering::Relaxed) || self.hides(obj) {
                return None;
            }
            for (k, (name, plan)) in self.names.iter().zip(&self.fields).enumerate() {
                if self.forgotten == Some(k) {
                    continue;
                }
                let py = Python::assume_attached();
                let value = ffi::PyObject_GetAttr(obj, name.as_ptr());
                let Some(value) = Bound::from_owned_ptr_or_opt(py, value) else {
                    ffi::PyErr_Clear();
                    return None;
                };
                if is_computed(&value) {
                    return None;
                }
                out = plan.unbox(value.as_ptr(), out, frame)?;
            }
        }
        Some(out)
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // All fields are boxed even when one fails, so that their references are taken over.
        let mut values = Vec::with_capacity(self.fields.len());
        let mut failed = false;
        for plan in &self.fields {
            // SAFETY: the thread is attached while values are boxed. Boxing must not start with an exception
            // set: it would be taken for the next one's.
            let py = unsafe { Python::assume_attached() };
            let earlier = if failed { PyErr::take(py) } else { None };
            // SAFETY: as required of the caller; a value that was made is taken over.
            let value = unsafe { Bound::from_owned_ptr_or_opt(py, plan.to_python(at, cx)) };
            if let Some(e) = earlier {
                e.restore(py);
            }
            failed |= value.is_none();
            values.extend(value.map(Bound::unbind));
        }
        if failed {
            return std::ptr::null_mut();
        }
        result(|py| {
            if !self.buffer {
                return self.instance(py, &values);
            }
            let same = |of: &Vec<Py<PyAny>>| {
                of.len() == values.len() && of.iter().zip(&values).all(|(a, b)| a.is(b))
            };
            if let Some((_, known)) = cx.stood.iter().find(|(of, _)| !of.is_empty() && same(of)) {
                return Ok(known.bind(py).clone());
            }
            let made = self.instance(py, &values)?;
            cx.stood.push((values, made.clone().unbind()));
            Ok(made)
        })
    }
    fn cannot_box(&self, _: bool) -> Option<String> {
        self.stays.clone().or_else(|| self.fields.iter().find_map(|p| p.convert().cannot_box(true)))
    }
    fn part(&self) {
        self.class.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.fields.iter().for_each(|p| p.convert().part());
    }
}

impl Instance {
    /// Whether an instance has an attribute of its own in front of one of its class, or raises when asked.
    ///
    /// # Safety
    /// A live object of the class; the thread is attached.
    unsafe fn hides(&self, obj: Obj) -> bool {
        // SAFETY: as required of the caller.
        let obj = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), obj) };
        overrides::own_dict(&obj).is_some_and(|d| d.len() > self.fields.len())
            && overrides::hidden(&obj, &self.def.fields).map_or(true, |name| name.is_some())
    }
    fn instance<'py>(&self, py: Python<'py>, values: &[Py<PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        let class = known::object_of_def(py, self.def)
            .ok_or_else(|| PyRuntimeError::new_err("an instance of a class that is gone"))?
            .into_bound(py)
            .cast_into::<PyType>()?;
        let values = values.iter().map(|v| v.bind(py).clone());
        let made = made_of(&class, self.names.iter().map(|n| n.bind(py).clone()).zip(values))?;
        if self.buffer { buffers::in_python(made) } else { Ok(made) }
    }
}

/// An instance of a class with these fields, made without its `__init__`. A frozen class's own `__setattr__` is
/// passed over, as its `__init__` does.
pub(crate) fn made_of<'py>(
    class: &Bound<'py, PyType>,
    fields: impl Iterator<Item = (Bound<'py, PyString>, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let made = py.get_type::<PyAny>().call_method1(intern!(py, "__new__"), (class,))?;
    for (name, value) in fields {
        // SAFETY: all are live.
        if unsafe { ffi::PyObject_GenericSetAttr(made.as_ptr(), name.as_ptr(), value.as_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
    }
    Ok(made)
}

/// Whether a value that was just read is held by nobody but the reader: it was computed, and goes when the
/// reference goes.
fn is_computed(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a live object.
    unsafe { ffi::Py_REFCNT(value.as_ptr()) == 1 }
}
