//! Objects of declared types that live in native memory ([`crate::structs`]): compiled code is given the object
//! itself, and Python sees its fields where they lie.
//!
//! A Python object of such a class gets its native one when it is first looked at, with all fields zero; what
//! `__init__` assigns goes through descriptors, one for each field, which know where it lies
//! ([`super::struct_field`]).

use super::super::Purpose;
use super::super::native::turns::Turn;
use super::super::native::{Object, Part, object_of};
use super::super::protocol::{BoxCx, Class, Convert, Frame, Obj, next, result};
use super::super::unit::OwnClass;
use super::fields::{self, FieldPlan};
use crate::errors::Failure;
use crate::gil::attached;
use crate::{struct_types, structs};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock, RwLock};
use tierup_core::desc::TypeDesc;
use tierup_core::layout::{Instance, Obj as Native};
use tierup_core::ops::fields::{Helpers, described_fields};
use tierup_core::types::{ClassDef, Kind, Type, object};
use tierup_runtime::Native as Runtime;
use tierup_runtime::instance::fields as fields_at;
use tierup_runtime::object::{release, retain};

/// The base of classes in native memory.
#[pyclass(name = "Struct", module = "tierup._tierup", extends = Object, subclass, frozen)]
pub(crate) struct Struct {
    /// All fields that have to be are set.
    whole: AtomicBool,
}

#[pymethods]
impl Struct {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Struct> {
        PyClassInitializer::from(Object::default()).add_subclass(Struct { whole: AtomicBool::new(false) })
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let class = Struct::type_object(m.py());
    m.add("Struct", &class)?;
    m.add_class::<structs::Declaration>()?;
    structs::set_base(&class);
    Ok(())
}

/// Whether an object is in native memory.
pub(super) fn has(obj: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a live object.
    structs::is_below(unsafe { ffi::Py_TYPE(obj.as_ptr()) })
}

/// Why an object cannot be passed: what its class declares is no type.
pub(super) fn refused(e: PyErr) -> Failure {
    Failure::Raised(e)
}

/// How the objects of one type lie: one for the whole process, as types live as long.
pub(super) struct Layout {
    ty: Type,
    def: &'static ClassDef,
    class: OwnClass,
    desc: &'static TypeDesc,
    fields: OnceLock<Box<[FieldPlan]>>,
}

static LAYOUTS: LazyLock<RwLock<HashMap<Type, &'static Layout>>> = LazyLock::new(Default::default);

impl Layout {
    fn of(ty: Type, def: &'static ClassDef) -> &'static Layout {
        if let Some(known) = LAYOUTS.read().unwrap_or_else(|e| e.into_inner()).get(&ty) {
            return known;
        }
        let mut all = LAYOUTS.write().unwrap_or_else(|e| e.into_inner());
        all.entry(ty).or_insert_with(|| {
            let class = OwnClass::of(ty);
            let desc = described_fields(ty);
            Box::leak(Box::new(Layout { ty, def, class, desc, fields: OnceLock::new() }))
        })
    }
    pub(super) fn of_class(class: &Bound<'_, PyType>) -> PyResult<&'static Layout> {
        let ty = struct_types::declared(class)?;
        let Kind::Object(def, _) = ty.kind() else {
            return Err(PyRuntimeError::new_err("a class in native memory without a type"));
        };
        Ok(Layout::of(ty, def))
    }
    pub(super) fn fields(&self) -> &[FieldPlan] {
        self.fields.get_or_init(|| fields::plans(self.ty, self.def, Some(Purpose::Element), &|_| false))
    }
    /// A native object, all of whose fields are zero.
    fn made(&self, py: Python<'_>) -> PyResult<*mut Instance> {
        super::super::native::shown::run(py, |ctx| {
            // SAFETY: the context is this thread's.
            unsafe {
                if object::leads_back(self.ty) {
                    Runtime::instance_new_in_ring(ctx, self.desc)
                } else {
                    Runtime::instance_new(ctx, self.desc)
                }
            }
        })
    }
}

/// The native object of a Python one, which is made where there is none yet.
pub(super) fn native_of(obj: &Bound<'_, PyAny>) -> PyResult<*mut Instance> {
    // SAFETY: its class has been looked at.
    let this = unsafe { obj.cast_unchecked::<Object>() }.get();
    loop {
        let native = this.pointer();
        if !native.is_null() {
            return Ok(native.cast());
        }
        let py = obj.py();
        let layout = Layout::of_class(&obj.get_type())?;
        let new = layout.made(py)?;
        // SAFETY: a reference to a new object, which is taken over where it is bound. Another thread may have
        // been faster.
        unsafe {
            let bound = this.bind(obj, new.cast(), Part::of(py, layout.ty));
            if !matches!(bound, Ok(true)) {
                release(new.cast());
            }
            bound?;
        }
    }
}

/// Objects of one type.
pub(super) struct StructPlan(&'static Layout);

impl StructPlan {
    pub(super) fn of(ty: Type, def: &'static ClassDef) -> StructPlan {
        StructPlan(Layout::of(ty, def))
    }

    /// Whether all fields are set that have to be.
    #[cold]
    unsafe fn look(&self, obj: Obj, frame: &mut Frame) -> Option<*mut Instance> {
        let look = |py: Python<'_>| {
            // SAFETY: as required of the caller.
            unsafe {
                let obj = Bound::from_borrowed_ptr(py, obj);
                let native = native_of(&obj)?;
                let mut unflagged = self.0.fields().iter().filter(|f| !f.may_be_unset);
                if frame.takes_unfinished {
                    return Ok(native);
                }
                if let Some(f) = unflagged.find(|f| f.is_unset(fields_at(native))) {
                    let text = format!("'{}' object has no attribute '{}'", self.0.def.name, f.name);
                    return Err(PyAttributeError::new_err(text));
                }
                obj.cast_unchecked::<Struct>().get().whole.store(true, Ordering::Relaxed);
                Ok(native)
            }
        };
        match attached(look) {
            Ok(native) => Some(native),
            Err(e) => {
                frame.extra().failure = Some(e.into());
                None
            }
        }
    }

    /// A Python object for a native one that has none yet.
    ///
    /// # Safety
    /// A live object of the type.
    unsafe fn shown<'py>(&self, py: Python<'py>, native: *mut Instance) -> PyResult<Bound<'py, PyAny>> {
        let class = self.0.class.get(self.0.ty);
        if class.is_null() {
            return Err(PyRuntimeError::new_err("an object of a class that is gone"));
        }
        // SAFETY: as required of the caller; the class is live, and Python's making of its objects is that of
        // `Struct`.
        unsafe {
            loop {
                let known = object_of(native.cast());
                if !known.is_null() {
                    return Ok(Bound::from_owned_ptr(py, known));
                }
                let make = (*class).tp_new.ok_or_else(|| PyTypeError::new_err("a class without objects"))?;
                let new = make(class, PyTuple::empty(py).as_ptr(), std::ptr::null_mut());
                let new = Bound::from_owned_ptr_or_err(py, new)?;
                retain(native.cast());
                let bound =
                    new.cast_unchecked::<Object>().get().bind(&new, native.cast(), Part::of(py, self.0.ty));
                if matches!(bound, Ok(true)) {
                    return Ok(new);
                }
                release(native.cast());
                bound?;
            }
        }
    }
}

impl Convert for StructPlan {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        if class != self.0.class.get(self.0.ty) {
            return None;
        }
        // SAFETY: as required of the caller; an object of the class has these bases.
        unsafe {
            let this = Bound::from_borrowed_ptr(Python::assume_attached(), obj);
            let this = this.cast_unchecked::<Struct>();
            if frame.native && frame.turn.is_none() {
                match Turn::begin(this.py(), frame.changes_lists) {
                    Ok(turn) => frame.turn = Some(turn),
                    Err(e) => {
                        frame.extra().failure = Some(e.into());
                        return None;
                    }
                }
            }
            let native = if this.get().whole.load(Ordering::Relaxed) {
                this.cast_unchecked::<Object>().get().pointer().cast()
            } else {
                self.look(obj, frame)?
            };
            out.write(native as u64);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned object.
        unsafe {
            let native = next(at) as *mut Instance;
            let object = result(|py| self.shown(py, native));
            release(native.cast::<Native>());
            object
        }
    }
    fn part(&self) {
        self.0.class.forget();
    }
}
