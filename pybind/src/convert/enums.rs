//! Members of enumerations: their numbers. Values of a `Flag`: what they are made of.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, result};
use super::{Constructor, Plan, unit};
use crate::gil::attached;
use crate::{enums, known};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::types::class::Instances;
use tierup_core::types::{ClassDef, Const, Kind, Type};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        if let Some(class) = enums::class_of_mark(obj)? {
            return Ok(known::enumeration(&class)?.map(|def| Type::new(Kind::Member(def))));
        }
        let class = obj.get_type();
        if !enums::may_be(&class) {
            return Ok(None);
        }
        Ok(known::enumeration(&class)?.map(|def| Type::new(Kind::Member(def))))
    },
    plan: |t, _| {
        let Kind::Member(def) = t.kind() else { return Plan::impossible(t) };
        if let Some(base) = def.base_of_members() {
            let plan = Plan::new(base, None);
            return Plan::other(Value { def, plan, class: AtomicPtr::new(unit::own(t).cast()) });
        }
        if let Instances::Flags { .. } = def.instances {
            return Plan::other(Flags { def, class: AtomicPtr::new(unit::own(t).cast()) });
        }
        // Members live as long as their class, which lives without us.
        let members = attached(|py| {
            let class = known::object_of_def(py, def)?.into_bound(py).cast_into::<PyType>().ok()?;
            Some(enums::members(&class).ok()?.iter().map(|m| AtomicPtr::new(m.as_ptr())).collect())
        });
        // A mark is an instance of `object`, whatever stands for its class.
        let is_mark = matches!(def.instances, Instances::Mark);
        let own = if is_mark { &raw mut ffi::PyBaseObject_Type } else { unit::own(t).cast() };
        let class = AtomicPtr::new(own);
        Plan::other(Member { members: members.unwrap_or_default(), def, class })
    },
};

struct Member {
    members: Box<[AtomicPtr<ffi::PyObject>]>,
    def: &'static ClassDef,
    class: AtomicPtr<ffi::PyTypeObject>,
}

impl Convert for Member {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        if class != self.class.load(Ordering::Relaxed) {
            return None;
        }
        let n = self.members.iter().position(|m| m.load(Ordering::Relaxed) == obj)?;
        // SAFETY: the caller made room for all leaves.
        unsafe {
            out.write(n as u64);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        let n = unsafe {
            let n = **at as usize;
            *at = at.add(1);
            n
        };
        if let Some(known) = self.members.get(n)
            && let member = known.load(Ordering::Relaxed)
            && !member.is_null()
        {
            // SAFETY: members live as long as their class, and it is known to live; the thread is attached.
            unsafe { ffi::Py_INCREF(member) };
            return member;
        }
        result(|py| member(py, self.def, n as u64))
    }
    fn cannot_box(&self, _: bool) -> Option<String> {
        None
    }
    fn part(&self) {
        self.class.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.members.iter().for_each(|m| m.store(std::ptr::null_mut(), Ordering::Relaxed));
    }
}

/// Members that are numbers or texts beside, as which they are converted.
struct Value {
    def: &'static ClassDef,
    /// Of these.
    plan: Plan,
    class: AtomicPtr<ffi::PyTypeObject>,
}

impl Convert for Value {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        if class != self.class.load(Ordering::Relaxed) {
            return None;
        }
        let Instances::Values([Const::Str(_), ..]) = self.def.instances else {
            // SAFETY: as required of the caller; an instance of a class below lies as one of the base does.
            return unsafe { self.plan.convert().unbox(obj, &raw mut ffi::PyLong_Type, out, frame) };
        };
        // The text itself, which what comes of it is again; it lives as long as the member does.
        let text = attached(|py| {
            // SAFETY: a live object.
            let obj = unsafe { Bound::from_borrowed_ptr(py, obj) };
            obj.getattr(intern!(py, "_value_")).ok().map(|text| text.as_ptr())
        })?;
        // SAFETY: as required of the caller.
        unsafe { self.plan.convert().unbox(text, ffi::Py_TYPE(text), out, frame) }
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        let value = unsafe { self.plan.convert().to_python(at, cx) };
        if value.is_null() {
            return value;
        }
        result(|py| {
            // SAFETY: it was made above, and nobody else has this reference.
            let value = unsafe { Bound::from_owned_ptr(py, value) };
            let gone = || PyRuntimeError::new_err("a member of an enumeration that is gone");
            known::object_of_def(py, self.def).ok_or_else(gone)?.into_bound(py).call1((value,))
        })
    }
    fn cannot_box(&self, _: bool) -> Option<String> {
        None
    }
    fn part(&self) {
        self.class.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
}

/// The object of a number.
fn member<'py>(py: Python<'py>, def: &ClassDef, n: u64) -> PyResult<Bound<'py, PyAny>> {
    let gone = || PyRuntimeError::new_err("a member of an enumeration that is gone");
    let class = known::object_of_def(py, def).ok_or_else(gone)?.into_bound(py);
    enums::member(&class.cast_into::<PyType>()?, n)?.ok_or_else(gone)
}

struct Flags {
    def: &'static ClassDef,
    class: AtomicPtr<ffi::PyTypeObject>,
}

impl Convert for Flags {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        if class != self.class.load(Ordering::Relaxed) {
            return None;
        }
        attached(|py| {
            // SAFETY: a live object.
            let obj = unsafe { Bound::from_borrowed_ptr(py, obj) };
            let n: u32 = obj.getattr(intern!(py, "_value_")).and_then(|v| v.extract()).ok()?;
            // SAFETY: the caller made room for all leaves.
            unsafe {
                out.write(u64::from(n));
                Some(out.add(1))
            }
        })
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        let n = unsafe {
            let n = **at;
            *at = at.add(1);
            n
        };
        result(|py| member(py, self.def, n))
    }
    fn cannot_box(&self, _: bool) -> Option<String> {
        None
    }
    fn part(&self) {
        self.class.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
}
