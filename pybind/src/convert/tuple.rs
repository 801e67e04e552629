//! tuple, named tuples, and the dict of `**kwargs`, which is a tuple with names to the compiler.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, result};
use super::python_dict::{Of, at_one_moment};
use super::{Constructor, Plan, recognise, unit};
use crate::errors::Failure;
use crate::gil::attached;
use crate::{known, overrides};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::infer::state::{DEEPEST, LARGEST};
use tierup_core::types::{ClassDef, Container, Kind, Type};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        let Ok(t) = obj.cast::<PyTuple>() else { return Ok(None) };
        recognise::refuse_overriding(obj)?;
        super::nested(|| type_of_tuple(t)).map(Some)
    },
    plan: |t, purpose| {
        let Some(m) = t.members() else { return Plan::impossible(t) };
        let named = if let Kind::NamedTuple(def, _) = *t {
            let class = if def.is_keywords() { std::ptr::null_mut() } else { unit::own(t) };
            Some(Named { def, class: AtomicPtr::new(class.cast()) })
        } else {
            None
        };
        Plan::other(Tuple { members: Plan::all(m, purpose), named })
    },
};

fn type_of_tuple(t: &Bound<'_, PyTuple>) -> Result<Type, Failure> {
    let members = t.iter().map(|m| super::part_type(&m)).collect::<Result<Vec<_>, _>>()?;
    let plain = Type::tuple(members.clone());
    if plain.is_larger_than(usize::MAX, LARGEST) {
        if t.is_exact_instance_of::<PyTuple>()
            && let Some(many) = super::var_tuple::type_of_many(&members)
        {
            return Ok(many);
        }
        return Err(recognise::unsupported(
            format!("compiled code cannot take a tuple that holds more than {LARGEST} values"),
            "pass a list or an array: a tuple is a type of its own for each number of values",
        ));
    }
    if plain.is_larger_than(DEEPEST, LARGEST) {
        return Err(recognise::too_deep());
    }
    let class = t.get_type();
    if !t.is_exact_instance_of::<PyTuple>()
        && let Some(c) = known::namedtuple_class(&class)?
    {
        recognise::refuse_hiding(t.as_any(), &[])?;
        return Ok(Type::new(Kind::NamedTuple(c, members)));
    }
    Ok(Type::tuple(members))
}

/// The type of the dict that a call makes for `**kwargs`.
pub(crate) fn type_of_keywords(d: &Bound<'_, PyDict>) -> Result<Type, Failure> {
    // One look, so that what is met in any of them is known at its end.
    super::object::shapes::whole(d.py(), || {
        let (mut fields, mut types) = (vec![], vec![]);
        for (k, v) in at_one_moment(d)?.iter() {
            fields.push(k.extract()?);
            types.push(super::part_type(&v)?);
        }
        Ok(Type::new(Kind::NamedTuple(ClassDef::keywords(fields), types)))
    })
}

struct Tuple {
    members: Box<[Plan]>,
    named: Option<Named>,
}

/// Members with names: a named tuple, or keyword arguments.
struct Named {
    def: &'static ClassDef,
    /// The class of a named tuple, which lives without us.
    class: AtomicPtr<ffi::PyTypeObject>,
}

impl Convert for Tuple {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        let fits = match &self.named {
            None => class == &raw mut ffi::PyTuple_Type || is_plain_tuple(obj),
            Some(n) if n.def.is_keywords() => {
                // SAFETY: as required of the caller.
                return unsafe { unbox_keywords(&n.def.fields, &self.members, obj, class, out, frame) };
            }
            Some(n) => {
                class == n.class.load(Ordering::Relaxed)
                    // SAFETY: the class of a live object, and that object.
                    && unsafe { (*class).tp_dictoffset == 0 || !overrides::has_own(obj) || !hides(obj) }
            }
        };
        if !fits {
            return None;
        }
        // SAFETY: `obj` is a tuple; the caller made room for all leaves.
        unsafe { unbox_members(&self.members, obj, out, frame) }
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller; the tuple that was made is taken over.
        unsafe {
            let plain = tuple_object(&self.members, at, cx);
            match &self.named {
                Some(n) if !plain.is_null() && n.def.is_keywords() => keywords(n.def, plain),
                Some(n) if !plain.is_null() => named_tuple(n.def, plain),
                Some(_) | None => plain,
            }
        }
    }
    fn cannot_box(&self, _: bool) -> Option<String> {
        self.members.iter().find_map(|p| p.convert().cannot_box(true))
    }
    fn part(&self) {
        if let Some(n) = &self.named {
            n.class.store(std::ptr::null_mut(), Ordering::Relaxed);
        }
        self.members.iter().for_each(|p| p.convert().part());
    }
}

/// A tuple of a class derived from tuple that is no named tuple, which has a type of its own.
#[cold]
fn is_plain_tuple(obj: Obj) -> bool {
    attached(|py| {
        // SAFETY: `obj` is live.
        let any = unsafe { Bound::from_borrowed_ptr(py, obj) };
        any.is_instance_of::<pyo3::types::PyTuple>()
            && crate::known::namedtuple_class(&any.get_type()).is_ok_and(|c| c.is_none())
            && overrides::overridden(&any).is_none()
    })
}

/// Whether a named tuple has an attribute of its own in front of one of its class, or raises when asked.
#[cold]
fn hides(obj: Obj) -> bool {
    attached(|py| {
        // SAFETY: `obj` is live.
        let any = unsafe { Bound::from_borrowed_ptr(py, obj) };
        overrides::hidden(&any, &[]).map_or(true, |name| name.is_some())
    })
}

/// # Safety
/// As for [`Convert::unbox`]; `obj` is a tuple.
unsafe fn unbox_members(plans: &[Plan], obj: Obj, mut out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
    // SAFETY: as required of the caller.
    unsafe {
        if ffi::PyTuple_GET_SIZE(obj) as usize != plans.len() {
            return None;
        }
        for (i, p) in plans.iter().enumerate() {
            out = p.unbox(ffi::PyTuple_GET_ITEM(obj, i as isize), out, frame)?;
        }
    }
    Some(out)
}

/// # Safety
/// As for [`Convert::unbox`].
unsafe fn unbox_keywords(
    names: &[String],
    plans: &[Plan],
    obj: Obj,
    class: Class,
    mut out: *mut u64,
    frame: &mut Frame,
) -> Option<*mut u64> {
    // SAFETY: `obj` is a dict; what it holds is not changed meanwhile, and the thread is attached.
    unsafe {
        if class != &raw mut ffi::PyDict_Type || ffi::PyDict_Size(obj) as usize != names.len() {
            return None;
        }
        let held = Of::new(Container::Dict, None).argument(obj, frame)?;
        let obj = held.get();
        if ffi::PyDict_Size(obj) as usize != names.len() {
            return None;
        }
        let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        for (name, plan) in names.iter().zip(plans) {
            if ffi::PyDict_Next(obj, &mut at, &mut key, &mut value) == 0 {
                return None;
            }
            let key = Bound::from_borrowed_ptr(Python::assume_attached(), key);
            if !key.extract::<&str>().is_ok_and(|k| k == name) {
                return None;
            }
            out = plan.unbox(value, out, frame)?;
        }
    }
    Some(out)
}

/// # Safety
/// As for [`Convert::to_python`].
unsafe fn tuple_object(members: &[Plan], at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
    // SAFETY: as required of the caller. All members are boxed even when one fails, so that their references
    // are taken over.
    unsafe {
        let tuple = ffi::PyTuple_New(members.len() as isize);
        let mut failed = tuple.is_null();
        for (i, plan) in members.iter().enumerate() {
            // Boxing must not start with an exception set: it would be taken for the next one's.
            let earlier = if failed { PyErr::take(Python::assume_attached()) } else { None };
            let item = plan.to_python(at, cx);
            if let Some(e) = earlier {
                e.restore(Python::assume_attached());
            }
            failed |= item.is_null();
            if tuple.is_null() {
                ffi::Py_XDECREF(item)
            } else {
                ffi::PyTuple_SET_ITEM(tuple, i as isize, item)
            }
        }
        if failed {
            ffi::Py_XDECREF(tuple);
            return std::ptr::null_mut();
        }
        tuple
    }
}

/// `tuple.__new__(class, plain)`, which is what `class._make` does; an object of Python's class for which one of the
/// library stands.
///
/// # Safety
/// `plain` is an owned tuple.
unsafe fn named_tuple(class: &ClassDef, plain: Obj) -> Obj {
    result(|py| {
        // SAFETY: `plain` is taken over.
        let plain = unsafe { Bound::from_owned_ptr(py, plain) };
        let class = known::object_of_def(py, class)
            .ok_or_else(|| PyRuntimeError::new_err("a named tuple of a class that is gone"))?
            .into_bound(py);
        let pythons = crate::classes::pythons(class.clone());
        if !pythons.is(&class) {
            if let Some(made) = class.getattr_opt(intern!(py, "_tierup_of_tuple_"))? {
                return made.call1((plain,));
            }
            return pythons.call1(plain.cast_into::<PyTuple>()?);
        }
        py.get_type::<pyo3::types::PyTuple>().call_method1("__new__", (class, plain))
    })
}

/// The dict that `**kwargs` is in Python.
///
/// # Safety
/// `plain` is an owned tuple with as many members as the class has fields.
unsafe fn keywords(class: &ClassDef, plain: Obj) -> Obj {
    result(|py| {
        // SAFETY: `plain` is taken over.
        let plain = unsafe { Bound::from_owned_ptr(py, plain) };
        let dict = pyo3::types::PyDict::new(py);
        for (i, name) in class.fields.iter().enumerate() {
            dict.set_item(name, plain.get_item(i)?)?;
        }
        Ok(dict.into_any())
    })
}
