//! Tuples of any length: parts of containers, and arguments that are declared so or have too many members for a type
//! of their own. An argument is copied into a native tuple; nobody changes one, so nothing is written back but what
//! its members lead to.

use super::dict::Half;
use super::native::Words;
use super::protocol::{BoxCx, Class, Convert, Copied, Frame, Made, Obj, new_ref, next};
use super::{Constructor, Plan};
use pyo3::ffi;
use tierup_core::layout::List;
use tierup_core::types::promote::unify;
use tierup_core::types::{Container, Kind, Type};
use tierup_runtime::object::release;
use tierup_runtime::var_tuple;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    // Tuples of Python's are recognised as such ([`super::tuple`]).
    recognise: |_| Ok(None),
    plan: |t, purpose| {
        let Kind::Container(Container::Tuple, m) = t.kind() else { return Plan::impossible(t) };
        Plan::other(VarTuple { ty: t, held: Half::new(m[0], purpose) })
    },
};

/// So many members are what makes a tuple large, and not what they are themselves.
const MANY: usize = 100;

/// The type of a tuple that has more members than a type says one by one: of any length, where they are of one
/// type.
pub(super) fn type_of_many(members: &[Type]) -> Option<Type> {
    let (first, others) = members.split_first().filter(|_| members.len() > MANY)?;
    others.iter().try_fold(Type::tuple_of(*first), |t, m| unify(t, Type::tuple_of(*m)))
}

struct VarTuple {
    ty: Type,
    held: Half,
}

impl VarTuple {
    /// A native tuple with the members of a Python tuple; known to the frame.
    ///
    /// # Safety
    /// As for [`Convert::unbox`]; `obj` is a tuple.
    unsafe fn copy_in(&self, obj: Obj, frame: &mut Frame) -> Option<*mut List> {
        // SAFETY: as required of the caller.
        let n = unsafe { ffi::PyTuple_GET_SIZE(obj) };
        let native = match var_tuple::empty(self.held.desc, n as i64) {
            Ok(native) => native,
            Err(_) => {
                frame.extra().failure = Some(pyo3::exceptions::PyMemoryError::new_err(()).into());
                return None;
            }
        };
        let size = self.held.desc.size as usize;
        let mut words = Words::new(self.held.desc);
        for i in 0..n {
            // SAFETY: as required of the caller; there is room for all members, and those that are there have
            // references of their own.
            unsafe {
                let to = (*native).data.add(i as usize * size);
                let member = ffi::PyTuple_GET_ITEM(obj, i);
                if self.held.read(member, &mut words, to, frame).is_none() {
                    release(native.cast());
                    return None;
                }
                self.held.desc.retain(to, 1);
                (*native).len += 1;
            }
        }
        // SAFETY: both references are new; the plan belongs to the overload.
        unsafe { frame.extra().copies.add(new_ref(obj), native.cast(), self.ty, self) };
        Some(native)
    }

    /// A new Python tuple; the native one is only looked at.
    ///
    /// # Safety
    /// `t` is a live tuple of this type; the thread is attached.
    unsafe fn new_object(&self, t: *mut List, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        unsafe {
            let (n, size) = ((*t).len as isize, self.held.desc.size as usize);
            let object = ffi::PyTuple_New(n);
            if object.is_null() {
                return object;
            }
            for i in 0..n {
                let x = self.held.object((*t).data.add(i as usize * size), cx);
                if x.is_null() {
                    ffi::Py_DECREF(object);
                    return std::ptr::null_mut();
                }
                ffi::PyTuple_SET_ITEM(object, i, x);
            }
            cx.add(Made { native: t.cast(), object, ty: self.ty, by: self });
            object
        }
    }
}

impl Convert for VarTuple {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        if class != &raw mut ffi::PyTuple_Type {
            return None;
        }
        // SAFETY: the thread is attached, and the object is a tuple.
        unsafe {
            out.write(frame.copied(obj, self.ty, |frame| self.copy_in(obj, frame))? as u64);
            Some(out.add(1))
        }
    }

    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned tuple.
        unsafe {
            let t = next(at) as *mut List;
            let object = match cx.known(t.cast()) {
                Some(o) => new_ref(o),
                None => self.new_object(t, cx),
            };
            release(t.cast());
            object
        }
    }

    fn cannot_box(&self, _: bool) -> Option<String> {
        self.held.plan.convert().cannot_box(true)
    }

    fn part(&self) {
        self.held.plan.convert().part();
    }

    unsafe fn write_back(&self, _: &Copied, _: &mut BoxCx<'_>) -> bool {
        true
    }

    unsafe fn follow(&self, _: &Copied) {}

    unsafe fn read_again(&self, _: usize, _: &mut Frame) -> Option<()> {
        Some(())
    }
}
