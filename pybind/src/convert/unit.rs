//! What has no machine value beside its type: functions, classes, modules, operations, dtypes, `...`. Objects
//! are recognised by identity, or by their type.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, result};
use super::{Constructor, Plan, recognise};
use crate::errors::{Failure, bug};
use crate::gil::attached;
use crate::{functions, identity, known, npy, objects, operations, record_types, value, wording};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyEllipsis;
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::host::GlobalValue;
use tierup_core::types::{Kind, Type};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| type_of_unit(obj).map(Some),
    plan: |t, _| {
        let only = own(t);
        Plan::other(UnitPlan { ty: t, known: AtomicPtr::new(only), only: !only.is_null() })
    },
};

fn type_of_unit(obj: &Bound<'_, PyAny>) -> Result<Type, Failure> {
    if obj.is_instance_of::<PyEllipsis>() {
        return Ok(Type::new(Kind::Ellipsis));
    }
    let refuse = |what: String| {
        recognise::unsupported(format!("compiled code cannot take {what}"), recognise::way_out(obj))
    };
    let value = value::classify(obj, &value::NoRecord)?;
    if let GlobalValue::Unsupported(what) | GlobalValue::TypeExpression(what) = value {
        return Err(refuse(match why_not(obj) {
            Some(why) => format!("{what}, whose class {why}"),
            None => what,
        }));
    }
    if let GlobalValue::Foreign(name) = value {
        return Err(recognise::unsupported(
            format!("compiled code cannot take the function {name}"),
            "pass a function written in Python",
        ));
    }
    value::value_type(&value).ok_or_else(|| refuse(wording::a(&wording::class_name(obj))))
}

/// Why an instance of a class of the user's is none that may change.
fn why_not(obj: &Bound<'_, PyAny>) -> Option<String> {
    let class = obj.get_type();
    // SAFETY: a live class.
    let heap = unsafe { ffi::PyType_GetFlags(class.as_ptr().cast()) & ffi::Py_TPFLAGS_HEAPTYPE != 0 };
    let home: String = class.getattr("__module__").and_then(|m| m.extract()).unwrap_or_default();
    let of_python = class.py().import("sys").and_then(|s| s.getattr("stdlib_module_names")?.contains(home));
    objects::why_not(&class).filter(|_| heap && !of_python.unwrap_or(true))
}

/// The class that a type is of, remembered, for it lives without us.
pub(crate) struct OwnClass(AtomicPtr<ffi::PyTypeObject>);

impl OwnClass {
    pub(crate) fn of(t: Type) -> OwnClass {
        OwnClass(AtomicPtr::new(own(t).cast()))
    }

    /// Null where it is gone.
    pub(crate) fn get(&self, t: Type) -> Class {
        let known = self.0.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let found = own(t).cast();
        self.0.store(found, Ordering::Relaxed);
        found
    }

    /// Asks for it anew from now on. Whether it was remembered.
    pub(crate) fn forget(&self) -> bool {
        !self.0.swap(std::ptr::null_mut(), Ordering::Relaxed).is_null()
    }
}

/// The object that a type is about, where it is about one.
pub(crate) fn own(t: Type) -> Obj {
    let mut found = vec![];
    if !matches!(*t, Kind::Builtin(_) | Kind::DType(_) | Kind::Ellipsis) {
        known::objects_of(t, &mut found);
    }
    found.first().map_or(std::ptr::null_mut(), |n| identity::address(*n))
}

/// Something without leaves that is recognised by identity, or by its type.
struct UnitPlan {
    ty: Type,
    /// An object of the type: its only one, which lives without us, or one that we hold.
    known: AtomicPtr<ffi::PyObject>,
    /// No other object has the type ([`known::objects_of`]).
    only: bool,
}

impl Convert for UnitPlan {
    unsafe fn unbox(&self, obj: Obj, _: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        let fits = obj == self.known.load(Ordering::Relaxed) || !self.only && self.look(obj, frame);
        fits.then_some(out)
    }
    unsafe fn to_python(&self, _: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        result(|py| unit_object(py, self.ty))
    }
    fn cannot_box(&self, _: bool) -> Option<String> {
        if let Kind::DType(t) = *self.ty
            && t.number().is_none()
            && t.time().is_none()
            && t.record().is_none()
        {
            return Some(format!("the type {t} cannot be returned to Python"));
        }
        let Kind::Function(f) = self.ty.kind() else { return None };
        let plain =
            f.captures.is_empty() && f.defaults.is_empty() && functions::object_of_id(f.func).is_some();
        (!plain).then(|| "a function that was made in compiled code cannot be returned to Python".into())
    }
    fn part(&self) {
        if self.only {
            self.known.store(std::ptr::null_mut(), Ordering::Relaxed);
        }
    }
    fn remember(&self, obj: Obj) {
        if self.only
            || self
                .known
                .compare_exchange(std::ptr::null_mut(), obj, Ordering::Relaxed, Ordering::Relaxed)
                .is_err()
        {
            return;
        }
        // SAFETY: `obj` is live, and given up by `drop`.
        unsafe { ffi::Py_INCREF(obj) };
    }
}

impl UnitPlan {
    #[cold]
    fn look(&self, obj: Obj, frame: &mut Frame) -> bool {
        // SAFETY: `obj` is live.
        let answer = attached(|py| super::type_of(&unsafe { Bound::from_borrowed_ptr(py, obj) }));
        match answer {
            Ok(t) => {
                if t == self.ty {
                    self.remember(obj);
                }
                t == self.ty
            }
            Err(e) => {
                if let Failure::Raised(_) = e {
                    frame.extra().failure = Some(e);
                }
                false
            }
        }
    }
}

impl Drop for UnitPlan {
    fn drop(&mut self) {
        if !self.only {
            // SAFETY: what is not the type's only object was held by `remember`; overloads are dropped with the
            // GIL held.
            unsafe { ffi::Py_XDECREF(*self.known.get_mut()) }
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a value of any other type is more than its type says")]
fn unit_object(py: Python<'_>, t: Type) -> PyResult<Bound<'_, PyAny>> {
    let gone =
        |what: &str| PyRuntimeError::new_err(format!("the {what} that compiled code returned is gone"));
    match t.kind() {
        Kind::Ellipsis => Ok(py.Ellipsis().into_bound(py)),
        Kind::Builtin(p) => {
            operations::object_of(py, *p)?.map(|o| o.into_bound(py)).ok_or_else(|| gone(p.name()))
        }
        Kind::Module(m) => known::module_object(py, m).ok_or_else(|| gone(m)),
        Kind::DType(d) => {
            npy::require(py)?;
            record_types::dtype_of(py, *d)
        }
        Kind::NamedTupleClass(c) | Kind::ExcClass(c) | Kind::Class(c) => {
            known::object_of_def(py, c).map(|o| o.into_bound(py)).ok_or_else(|| gone(&c.name))
        }
        Kind::Function(f) => functions::object_of_id(f.func)
            .and_then(|n| identity::object(py, n))
            .ok_or_else(|| gone("function")),
        _ => Err(bug(&format!("{t} has values"))),
    }
}
