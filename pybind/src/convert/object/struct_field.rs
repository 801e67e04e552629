//! The attribute that a field of an object in native memory is: a descriptor in its class. It is a class of C's, as
//! that of dispatchers is, for reading a number is to cost little more than making Python's.

use super::super::native::Object;
use super::super::protocol::{BoxCx, Obj, new_ref, result};
use super::fields::{FieldPlan, Quick};
use super::structs::{Layout, native_of};
use crate::gil::attached;
use crate::{struct_types, structs, wording};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::layout::Instance;
use tierup_runtime::instance::fields as fields_at;

/// A descriptor.
#[repr(C)]
struct Field {
    head: ffi::PyObject,
    /// Owned: what looks like an object of it by its address must be one.
    class: *mut ffi::PyTypeObject,
    number: usize,
    /// How the field lies, once somebody has looked; it lives as long as the process.
    plan: AtomicPtr<FieldPlan>,
}

static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "C" fn dealloc(o: Obj) {
    // SAFETY: called once by Python for an object made by `struct_field`.
    unsafe {
        ffi::PyObject_GC_UnTrack(o.cast());
        ffi::Py_DECREF((*o.cast::<Field>()).class.cast());
        let class = ffi::Py_TYPE(o);
        ffi::PyObject_GC_Del(o.cast());
        ffi::Py_DECREF(class.cast());
    }
}

unsafe extern "C" fn traverse(o: Obj, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: called by the collector on a live object; what is visited are references that it owns.
    unsafe {
        let r = visit(ffi::Py_TYPE(o).cast(), arg);
        if r == 0 { visit((*o.cast::<Field>()).class.cast(), arg) } else { r }
    }
}

/// How the field lies and where, if this is an object that has been looked at, and of the class itself.
///
/// # Safety
/// Both are live.
#[inline]
unsafe fn known<'a>(this: Obj, obj: Obj) -> Option<(&'a FieldPlan, *mut u8)> {
    // SAFETY: as required of the caller. An object of the class has the base; plans live as long as the process.
    unsafe {
        let field = &*this.cast::<Field>();
        let plan = field.plan.load(Ordering::Acquire).as_ref()?;
        if ffi::Py_TYPE(obj) != field.class {
            return None;
        }
        let obj = Bound::from_borrowed_ptr(Python::assume_attached(), obj);
        let native = obj.cast_unchecked::<Object>().get().pointer();
        (!native.is_null()).then(|| (plan, fields_at(native.cast())))
    }
}

unsafe extern "C" fn descr_get(this: Obj, obj: Obj, _class: Obj) -> Obj {
    // SAFETY: called by Python with live objects; `obj` may be null. A number is always set where it has no flag.
    unsafe {
        if obj.is_null() {
            return new_ref(this);
        }
        if let Some((plan, at)) = known(this, obj) {
            match plan.quick {
                Quick::Float => return ffi::PyFloat_FromDouble(at.add(plan.offset).cast::<f64>().read()),
                Quick::Int => return ffi::PyLong_FromLongLong(at.add(plan.offset).cast::<i64>().read()),
                Quick::No => {}
            }
        }
        result(|py| read(&*this.cast::<Field>(), &Bound::from_borrowed_ptr(py, obj)))
    }
}

unsafe extern "C" fn descr_set(this: Obj, obj: Obj, value: Obj) -> c_int {
    // SAFETY: called by Python with live objects; `value` is null where the attribute is deleted.
    unsafe {
        if !value.is_null()
            && ffi::PyFloat_CheckExact(value) != 0
            && let Some((plan, at)) = known(this, obj)
            && let Quick::Float = plan.quick
        {
            at.add(plan.offset).cast::<f64>().write(ffi::PyFloat_AS_DOUBLE(value));
            return 0;
        }
        attached(|py| {
            let field = &*this.cast::<Field>();
            let value = Bound::from_borrowed_ptr_or_opt(py, value);
            match write(field, &Bound::from_borrowed_ptr(py, obj), value.as_ref()) {
                Ok(()) => 0,
                Err(e) => {
                    e.restore(py);
                    -1
                }
            }
        })
    }
}

/// The native object of which the field is asked, and how it lies there.
fn place(field: &Field, obj: &Bound<'_, PyAny>) -> PyResult<(*mut Instance, &'static FieldPlan)> {
    let class = obj.get_type();
    if class.as_ptr().cast() != field.class {
        let text = format!("this attribute is one of another class than {}", wording::class_name(obj));
        return Err(if structs::is(&class) {
            PyTypeError::new_err(text)
        } else {
            struct_types::declared(&class).err().unwrap_or_else(|| PyTypeError::new_err(text))
        });
    }
    // SAFETY: null, or a plan, which lives as long as the process.
    let plan = match unsafe { field.plan.load(Ordering::Acquire).as_ref() } {
        Some(known) => known,
        None => {
            let layout: &'static Layout = Layout::of_class(&class)?;
            let found = layout.fields().get(field.number);
            let found = found.ok_or_else(|| PyAttributeError::new_err("a field that there is not"))?;
            field.plan.store(std::ptr::from_ref(found).cast_mut(), Ordering::Release);
            found
        }
    };
    Ok((native_of(obj)?, plan))
}

fn read<'py>(field: &Field, obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (native, plan) = place(field, obj)?;
    let _turn = plan.turn(obj.py(), false)?;
    let not_set = || {
        let text = format!("'{}' object has no attribute '{}'", wording::class_name(obj), plan.name);
        PyAttributeError::new_err(text)
    };
    // SAFETY: a live object of the type that the class declares. Boxing sets an exception where it fails.
    unsafe {
        let at = fields_at(native);
        if plan.is_unset(at) {
            return Err(not_set());
        }
        let mut cx = BoxCx::new(None);
        cx.shares = true;
        let value = plan.value(at, &mut cx).ok_or_else(not_set)?;
        Bound::from_owned_ptr_or_err(obj.py(), value)
    }
}

fn write(field: &Field, obj: &Bound<'_, PyAny>, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let (native, plan) = place(field, obj)?;
    let class = wording::class_name(obj);
    let Some(value) = value else {
        let text = format!("the field '{}' of {class} cannot be deleted: its class declares it", plan.name);
        return Err(PyAttributeError::new_err(text));
    };
    let _turn = plan.turn(obj.py(), true)?;
    // SAFETY: a live object of the type that the class declares.
    if unsafe { plan.assign(fields_at(native), value)? } {
        return Ok(());
    }
    let given = match super::super::type_of(value) {
        Ok(t) if t.as_array().is_some() => t.to_string(),
        Ok(_) | Err(_) => wording::a(&wording::class_name(value)),
    };
    let text = format!("the field '{}' of {class} is {}, and cannot hold {given}", plan.name, plan.ty);
    Err(PyTypeError::new_err(text))
}

/// The attribute of a class that its field of that number is.
#[pyfunction]
fn struct_field<'py>(class: &Bound<'py, PyType>, number: usize) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the class of descriptors is live, and memory of its objects is zero at first.
    unsafe {
        let made = ffi::PyType_GenericAlloc(CLASS.load(Ordering::Acquire), 0);
        let made = Bound::from_owned_ptr_or_err(class.py(), made)?;
        let field = made.as_ptr().cast::<Field>();
        (*field).class = new_ref(class.as_ptr()).cast();
        (*field).number = number;
        Ok(made)
    }
}

/// The class whose attribute this is, and its number there.
#[pyfunction]
fn struct_field_of<'py>(field: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, usize)> {
    // SAFETY: a live object, of the class that is looked at before it is read as one; what it holds is live.
    unsafe {
        if ffi::Py_TYPE(field.as_ptr()) != CLASS.load(Ordering::Acquire) {
            return Err(PyTypeError::new_err("not a field of a class in native memory"));
        }
        let this = &*field.as_ptr().cast::<Field>();
        Ok((Bound::from_borrowed_ptr(field.py(), this.class.cast()), this.number))
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_descr_get, descr_get as *mut c_void),
        slot(ffi::Py_tp_descr_set, descr_set as *mut c_void),
        slot(0, std::ptr::null_mut()),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION;
    let mut spec = ffi::PyType_Spec {
        name: c"tierup.StructField".as_ptr(),
        basicsize: size_of::<Field>() as c_int,
        itemsize: 0,
        flags: flags as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the specification is complete, and copied.
    let class = unsafe { Bound::from_owned_ptr_or_err(m.py(), ffi::PyType_FromSpec(&mut spec))? };
    // It is never freed.
    CLASS.store(class.into_ptr().cast(), Ordering::Release);
    m.add_function(wrap_pyfunction!(struct_field_of, m)?)?;
    m.add_function(wrap_pyfunction!(struct_field, m)?)
}
