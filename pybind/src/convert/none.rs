//! None, and values that may be None.

use super::protocol::{BoxCx, Class, Convert, Frame, Lenience, Obj, new_ref, next};
use super::{Constructor, Plan, Purpose};
use pyo3::ffi;
use pyo3::prelude::*;
use tierup_core::types::Type;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| Ok(obj.is_none().then(Type::none)),
    plan: |t, purpose| {
        let Some(inner) = t.as_optional() else { return Plan::other(OnlyNone) };
        Plan::other(Optional {
            inner: Plan::new(inner, purpose),
            leaves: inner.leaf_count(),
            declared: purpose == Some(Purpose::Declared),
        })
    },
};

struct OnlyNone;

impl Convert for OnlyNone {
    unsafe fn unbox(&self, obj: Obj, _: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        // SAFETY: None lives for ever.
        unsafe { (obj == ffi::Py_None()).then_some(out) }
    }
    unsafe fn to_python(&self, _: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as above.
        unsafe { new_ref(ffi::Py_None()) }
    }
}

/// A flag, then the leaves.
struct Optional {
    inner: Plan,
    leaves: usize,
    /// A declared one, which is no argument's exact type.
    declared: bool,
}

impl Convert for Optional {
    unsafe fn unbox(&self, obj: Obj, _: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        if self.declared && frame.lenience == Lenience::Exact {
            return None;
        }
        // SAFETY: there is room for a flag and the leaves.
        unsafe {
            if obj == ffi::Py_None() {
                for i in 0..=self.leaves {
                    out.add(i).write(0);
                }
                return Some(out.add(self.leaves + 1));
            }
            out.write(1);
            self.inner.unbox(obj, out.add(1), frame)
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: a flag, then the leaves.
        unsafe {
            if next(at) as u8 == 0 {
                *at = at.add(self.leaves);
                return new_ref(ffi::Py_None());
            }
            self.inner.to_python(at, cx)
        }
    }
    fn cannot_box(&self, _: bool) -> Option<String> {
        self.inner.convert().cannot_box(true)
    }
    fn part(&self) {
        self.inner.convert().part();
    }
}
