//! Arguments for code that is for wider types than they have: an object whose fields hold what the function puts
//! into them as well, an empty container which is of what the function puts into it. They are recognised by their
//! own types, and converted to the wider ones.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj};
use super::{Plan, Purpose, part_type, type_of_keywords};
use crate::gil::attached;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tierup_core::types::{Kind, Type};

impl Plan {
    /// The plan of arguments of one type for code that takes a wider one.
    pub(crate) fn widened(own: Type, wide: Type) -> Plan {
        Plan::other(Widened { own, plan: Plan::new(wide, Some(Purpose::Element)), other: None })
    }

    /// The same; values that have the wider type themselves are taken too.
    pub(crate) fn widened_or_own(own: Type, wide: Type) -> Plan {
        let other = Some(Plan::new(wide, None));
        Plan::other(Widened { own, plan: Plan::new(wide, Some(Purpose::Element)), other })
    }
}

struct Widened {
    own: Type,
    plan: Plan,
    /// For what is of another type.
    other: Option<Plan>,
}

impl Widened {
    /// # Safety
    /// A live object; the thread is attached.
    unsafe fn is_own(&self, obj: Obj) -> bool {
        // SAFETY: as required of the caller; the sizes of these classes are no code of the user's.
        unsafe {
            let sized = ffi::PyList_CheckExact(obj) != 0
                || ffi::PyDict_CheckExact(obj) != 0
                || ffi::PyAnySet_CheckExact(obj) != 0;
            let empty = self.own.arguments().iter().any(|t| *t == Kind::Never);
            if sized && empty && ffi::PyObject_Size(obj) > 0 {
                return false;
            }
            attached(|py| {
                let obj = Bound::from_borrowed_ptr(py, obj);
                let keywords = matches!(self.own.kind(), Kind::NamedTuple(def, _) if def.is_keywords());
                let own = match obj.cast::<PyDict>() {
                    Ok(named) if keywords => type_of_keywords(named),
                    Ok(_) | Err(_) => part_type(&obj),
                };
                own.is_ok_and(|t| t == self.own)
            })
        }
    }
}

impl Convert for Widened {
    unsafe fn unbox(&self, obj: Obj, _: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: as required of the caller.
        let plan = if unsafe { self.is_own(obj) } { &self.plan } else { self.other.as_ref()? };
        // SAFETY: as required of the caller.
        unsafe { plan.unbox(obj, out, frame) }
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        unsafe { self.plan.to_python(at, cx) }
    }
    fn part(&self) {
        self.other.iter().chain([&self.plan]).for_each(|p| p.convert().part());
    }
}
