//! Machine results to Python objects. The leaves' references are taken over, whatever happens.
//!
//! Numbers become Python's int, float, complex and bool, as Numba gives them. An array that is an argument
//! comes back as that very object; a view of an argument has it as its base; what the run-time allocated is
//! owned by a [`Memory`] object that the array keeps alive.

use crate::errors::{attached, bug};
use crate::frame::{self, Frame};
use crate::generator::Generator;
use crate::npy::{self, PyArrayObject};
use crate::overload::Overload;
use crate::{functions, identity, known, lists};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use tierup_core::layout::{MemBlock, Obj as Native, Str};
use tierup_core::ops::id;
use tierup_core::types::{Access, ArrayType, ClassDef, Int, Kind, Layout, Type};
use tierup_runtime::object::release;

type Obj = *mut ffi::PyObject;

/// One more reference to a live object.
///
/// # Safety
/// `o` must be live.
#[inline]
pub unsafe fn new_ref(o: Obj) -> Obj {
    // SAFETY: as required of the caller.
    unsafe { ffi::Py_INCREF(o) };
    o
}

/// Why a value of this type cannot become a Python object; asked once, when the function is compiled.
pub fn cannot_box(t: Type) -> Option<String> {
    match t.kind() {
        Kind::None
        | Kind::Ellipsis
        | Kind::Bool
        | Kind::Int(_)
        | Kind::Float(_)
        | Kind::Complex(_)
        | Kind::Str
        | Kind::Array(_)
        | Kind::Range(_)
        | Kind::Slice(_)
        | Kind::Builtin(_)
        | Kind::Module(_)
        | Kind::DType(_)
        | Kind::NamedTupleClass(_)
        | Kind::ExcClass(_)
        | Kind::Class(_)
        | Kind::Exception
        | Kind::Random => None,
        // A function that never returns has nothing to box.
        Kind::Never => None,
        Kind::Optional(t) | Kind::List(t) => cannot_box_member(*t),
        Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Variant(m) => {
            m.iter().find_map(|t| cannot_box_member(*t))
        }
        Kind::Function(f)
            if f.captures.is_empty()
                && f.defaults.is_empty()
                && functions::object_of_id(f.func).is_some() =>
        {
            None
        }
        Kind::Function(_) => {
            Some("a function that was made in compiled code cannot be returned to Python".into())
        }
        Kind::Generator(_, yields) => cannot_box(*yields),
        Kind::Iter(_) => Some(format!("an iterator ({t}) cannot be returned to Python; return a list")),
        Kind::Method(id::EXCEPTION_ARGS | id::EXCEPTION_CLASS, _) => None,
        Kind::Method(..) => Some(format!("a bound method ({t}) cannot be returned to Python")),
        Kind::Conflict(a, b) => Some(format!("the function gives {a} on one path and {b} on another")),
        Kind::Undef | Kind::MaybeUndef(_) | Kind::Var(_) => {
            Some(format!("a value of type {t} cannot be returned to Python"))
        }
    }
}

fn cannot_box_member(t: Type) -> Option<String> {
    if let Kind::Generator(..) = *t {
        return Some("a generator inside a tuple or list cannot be returned to Python; return it alone, or a list of what it yields".into());
    }
    cannot_box(t)
}

/// State of one result: what was made already, so that a list that occurs twice stays one list.
pub struct BoxCx<'f> {
    pub frame: &'f Frame,
    pub made: Vec<(*mut Native, Obj)>,
    /// For a generator: its code, the globals and the name of its function.
    pub code: Option<(Arc<Overload>, Obj, &'f str)>,
    /// What list arguments held when they were passed. Native values refer to these objects without owning
    /// them.
    pub held: Vec<Obj>,
}
impl<'f> BoxCx<'f> {
    pub fn new(frame: &'f Frame) -> BoxCx<'f> {
        BoxCx { frame, made: vec![], code: None, held: vec![] }
    }
}
impl Drop for BoxCx<'_> {
    fn drop(&mut self) {
        // SAFETY: each was put there with a reference of its own; results are boxed by threads that are
        // attached.
        for o in &self.held {
            unsafe { ffi::Py_DECREF(*o) }
        }
    }
}

/// Boxes the value whose leaves start at `*at`, and moves `at` behind them. Null means that a Python
/// exception is set.
///
/// # Safety
/// The slots hold a value of type `t` that the caller owns; the thread is attached.
pub unsafe fn to_python(t: Type, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
    // SAFETY: slots hold what the type says; unchecked reads follow the leaves' order in
    // `core::types::leaves`.
    unsafe {
        let mut next = || {
            let bits = **at;
            *at = at.add(1);
            bits
        };
        match t.kind() {
            Kind::None => new_ref(ffi::Py_None()),
            Kind::Bool => ffi::PyBool_FromLong((next() as u8 != 0) as _),
            Kind::Int(i) => int_object(*i, next()),
            Kind::Float(f) => ffi::PyFloat_FromDouble(float_value(f.bits(), next())),
            Kind::Complex(f) => {
                let re = float_value(f.bits(), next());
                ffi::PyComplex_FromDoubles(re, float_value(f.bits(), next()))
            }
            Kind::Str => str_object(next() as *mut Str),
            Kind::Array(a) => {
                let leaves = 2
                    + a.ndim() * if a.layout == Layout::A { 2 } else { 1 }
                    + (a.access == Access::Either) as usize;
                let from = *at;
                *at = at.add(leaves);
                array_object(a, from)
            }
            Kind::Tuple(m) => tuple_object(m, at, cx),
            Kind::NamedTuple(c, m) => {
                let plain = tuple_object(m, at, cx);
                if plain.is_null() {
                    return plain;
                }
                if c.is_keywords() { keywords(c, plain) } else { named_tuple(c, plain) }
            }
            Kind::Optional(inner) => {
                if next() as u8 == 0 {
                    *at = at.add(inner.leaf_count());
                    return new_ref(ffi::Py_None());
                }
                to_python(*inner, at, cx)
            }
            Kind::Variant(m) => {
                let (which, mut made) = (next() as usize, std::ptr::null_mut());
                for (k, t) in m.iter().enumerate() {
                    if k == which { made = to_python(*t, at, cx) } else { *at = at.add(t.leaf_count()) }
                }
                made
            }
            Kind::Random => {
                let source = next() as *mut tierup_core::layout::BitSource;
                let object = new_ref((*source).py.cast());
                release(source.cast());
                object
            }
            Kind::List(_) => lists::to_python(t, next() as *mut tierup_core::layout::List, cx),
            Kind::Range(step) => {
                let (start, stop) = (next() as i64, next() as i64);
                let by = step.unwrap_or_else(|| next() as i64);
                result(|py| py.import("builtins")?.getattr("range")?.call1((start, stop, by)))
            }
            Kind::Slice(parts) => {
                let mut made = [std::ptr::null_mut(); 3];
                for (m, t) in made.iter_mut().zip(parts) {
                    *m = to_python(*t, at, cx);
                }
                let slice = if made.iter().any(|m| m.is_null()) {
                    std::ptr::null_mut()
                } else {
                    ffi::PySlice_New(made[0], made[1], made[2])
                };
                for m in made {
                    ffi::Py_XDECREF(m);
                }
                slice
            }
            Kind::Exception => {
                let exc = tierup_runtime::exc::Error::from_raw(next() as *mut tierup_runtime::exc::Exc);
                result(|py| crate::exc::exception_object(py, &exc, pyo3::types::PyDict::new(py).as_any()))
            }
            Kind::Method(what @ (id::EXCEPTION_ARGS | id::EXCEPTION_CLASS), _) => {
                let exc = tierup_runtime::exc::Error::from_raw(next() as *mut tierup_runtime::exc::Exc);
                let name = what.name().trim_start_matches("exception.");
                result(|py| {
                    crate::exc::exception_object(py, &exc, pyo3::types::PyDict::new(py).as_any())?
                        .getattr(name)
                })
            }
            Kind::Generator(..) if cx.code.is_some() => {
                let frame = next() as *mut Native;
                match &cx.code {
                    Some((code, globals, name)) => result(|py| {
                        Generator::object(
                            py,
                            frame,
                            code.clone(),
                            Bound::from_borrowed_ptr(py, *globals),
                            (*name).to_owned(),
                        )
                        .map(|g| g.into_bound(py))
                    }),
                    None => std::ptr::null_mut(),
                }
            }
            Kind::Ellipsis
            | Kind::Builtin(_)
            | Kind::Module(_)
            | Kind::DType(_)
            | Kind::NamedTupleClass(_)
            | Kind::ExcClass(_)
            | Kind::Class(_)
            | Kind::Function(_) => result(|py| unit_object(py, t)),
            Kind::Never
            | Kind::Undef
            | Kind::MaybeUndef(_)
            | Kind::Var(_)
            | Kind::Iter(_)
            | Kind::Method(..)
            | Kind::Generator(..)
            | Kind::Conflict(..) => {
                bug(&format!("a result of type {t} arrived")).restore(Python::assume_attached());
                std::ptr::null_mut()
            }
        }
    }
}

/// A new reference, or null with the exception set.
fn result(make: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>) -> Obj {
    attached(|py| match make(py) {
        Ok(o) => o.into_ptr(),
        Err(e) => {
            e.restore(py);
            std::ptr::null_mut()
        }
    })
}

#[inline]
fn int_object(i: Int, bits: u64) -> Obj {
    // SAFETY: plain constructors; the thread is attached.
    unsafe {
        match i {
            Int::Py | Int::I64 => ffi::PyLong_FromLongLong(bits as i64),
            Int::I8 => ffi::PyLong_FromLongLong(bits as i8 as i64),
            Int::I16 => ffi::PyLong_FromLongLong(bits as i16 as i64),
            Int::I32 => ffi::PyLong_FromLongLong(bits as i32 as i64),
            Int::U8 => ffi::PyLong_FromLongLong(bits as u8 as i64),
            Int::U16 => ffi::PyLong_FromLongLong(bits as u16 as i64),
            Int::U32 => ffi::PyLong_FromLongLong(bits as u32 as i64),
            Int::U64 => ffi::PyLong_FromUnsignedLongLong(bits),
        }
    }
}

#[inline]
fn float_value(width: u32, bits: u64) -> f64 {
    if width == 32 { f32::from_bits(bits as u32) as f64 } else { f64::from_bits(bits) }
}

/// # Safety
/// `s` must be an owned string.
pub unsafe fn str_object(s: *mut Str) -> Obj {
    // SAFETY: a string has `len` units of `kind` bytes; an argument's stand-in names the Python string.
    unsafe {
        if let Some(py) = frame::python_str(s) {
            let text = new_ref(py);
            // The stand-ins of a call are immortal; a generator's are counted.
            release(s.cast());
            return text;
        }
        let text = ffi::PyUnicode_FromKindAndData((*s).kind as c_int, (*s).data.cast(), (*s).len as isize);
        release(s.cast());
        text
    }
}

/// # Safety
/// As for [`to_python`].
unsafe fn tuple_object(members: &[Type], at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
    // SAFETY: as required of the caller. All members are boxed even when one fails, so that their references
    // are taken over.
    unsafe {
        let tuple = ffi::PyTuple_New(members.len() as isize);
        let mut failed = tuple.is_null();
        for (i, t) in members.iter().enumerate() {
            // Boxing must not start with an exception set: it would be taken for the next one's.
            let earlier = if failed { PyErr::take(Python::assume_attached()) } else { None };
            let item = to_python(*t, at, cx);
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

/// `tuple.__new__(class, plain)`, which is what `class._make` does.
///
/// # Safety
/// `plain` is an owned tuple.
unsafe fn named_tuple(class: &ClassDef, plain: Obj) -> Obj {
    result(|py| {
        // SAFETY: `plain` is taken over.
        let plain = unsafe { Bound::from_owned_ptr(py, plain) };
        let class = known::object_of_def(py, class)
            .ok_or_else(|| PyRuntimeError::new_err("a named tuple of a class that is gone"))?;
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

fn unit_object(py: Python<'_>, t: Type) -> PyResult<Bound<'_, PyAny>> {
    let gone =
        |what: &str| PyRuntimeError::new_err(format!("the {what} that compiled code returned is gone"));
    match t.kind() {
        Kind::Ellipsis => Ok(py.Ellipsis().into_bound(py)),
        Kind::Builtin(p) => known::object_of(py, *p)?.map(|o| o.into_bound(py)).ok_or_else(|| gone(p.name())),
        Kind::Module(m) => known::module_object(py, m).ok_or_else(|| gone(m)),
        Kind::DType(d) => {
            let num = npy::type_num(*d).ok_or_else(|| bug(&format!("{t} is no dtype")))?;
            let descr = npy::require(py)?.descr(num);
            // SAFETY: a new reference, or null with an exception.
            unsafe { Bound::from_owned_ptr_or_err(py, descr.cast()) }
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

/// # Safety
/// `l` points to the leaves of an array of that type, owned by the caller.
unsafe fn array_object(a: &ArrayType, l: *const u64) -> Obj {
    // SAFETY: owner, data, shape and (for layout A) strides, as `core::types::leaves` says.
    unsafe {
        let n = a.ndim();
        let owner = *l as *mut MemBlock;
        let data = *l.add(1) as *mut u8;
        let shape = std::slice::from_raw_parts(l.add(2).cast::<i64>(), n);
        let mut computed = [0i64; 64];
        let strides: &[i64] = if a.layout == Layout::A {
            std::slice::from_raw_parts(l.add(2 + n).cast::<i64>(), n)
        } else {
            contiguous(a, shape, &mut computed)
        };
        let frozen = match a.access {
            Access::Write => false,
            Access::Read => true,
            Access::Either => *l.add(2 + n * if a.layout == Layout::A { 2 } else { 1 }) as u8 != 0,
        };
        let py = Python::assume_attached();
        let numpy = match npy::require(py) {
            Ok(n) => n,
            Err(e) => {
                release(owner.cast());
                e.restore(py);
                return std::ptr::null_mut();
            }
        };
        let original =
            if owner.is_null() { std::ptr::null_mut() } else { (*owner).py.cast::<ffi::PyObject>() };
        if !original.is_null() && is_same(a, original, data, shape, strides, frozen) {
            ffi::Py_INCREF(original);
            release(owner.cast());
            return original;
        }
        let base = if !original.is_null() {
            ffi::Py_INCREF(original);
            release(owner.cast());
            original
        } else {
            Memory::new(owner)
        };
        if base.is_null() {
            return base;
        }
        let Some(num) = npy::type_num(a.dtype) else {
            ffi::Py_DECREF(base);
            bug(&format!("an array of {} arrived", a.dtype)).restore(py);
            return std::ptr::null_mut();
        };
        numpy.wrap(num, shape, strides, data, !frozen, base)
    }
}

fn contiguous<'s>(a: &ArrayType, shape: &[i64], out: &'s mut [i64; 64]) -> &'s [i64] {
    let n = shape.len().min(64);
    let mut step = a.itemsize();
    for k in 0..n {
        let i = if a.layout == Layout::F { k } else { n - 1 - k };
        out[i] = step;
        step = step.saturating_mul(shape[i].max(1));
    }
    &out[..n]
}

/// Whether the value is all of that array object, so that the object itself can be returned.
///
/// # Safety
/// `object` is a live ndarray.
unsafe fn is_same(
    a: &ArrayType,
    object: Obj,
    data: *mut u8,
    shape: &[i64],
    strides: &[i64],
    frozen: bool,
) -> bool {
    let o = object.cast::<PyArrayObject>();
    // The strides of an array without elements, and of a dimension of one element, mean nothing and differ
    // between arrays.
    let empty = shape.contains(&0);
    // SAFETY: the shape and strides of an array have `nd` members.
    unsafe {
        (*o).data == data
            && (*o).nd as usize == shape.len()
            && npy::type_of_elem(npy::elem_code((*o).descr)) == Some(a.dtype)
            && ((*o).flags & npy::WRITEABLE == 0) == frozen
            && (0..shape.len()).all(|i| {
                let d = *(*o).dimensions.add(i) as i64;
                d == shape[i] && (d <= 1 || empty || *(*o).strides.add(i) as i64 == strides[i])
            })
    }
}

/// The Python object that owns a block of the run-time: the base of arrays that compiled code made.
#[repr(C)]
pub struct Memory {
    head: ffi::PyObject,
    block: *mut MemBlock,
}

static MEMORY_TYPE: OnceLock<usize> = OnceLock::new();

unsafe extern "C" fn memory_dealloc(o: Obj) {
    // SAFETY: called once by Python for an object made in `Memory::new`; heap types own a reference to their
    // class.
    unsafe {
        let class = ffi::Py_TYPE(o);
        release((*o.cast::<Memory>()).block.cast());
        ffi::PyObject_Free(o.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// How many arrays, and other holders of the memory, there are; 0 where there is none because the array has
/// no elements.
unsafe extern "C" fn memory_refcount(o: Obj, _: *mut c_void) -> Obj {
    // SAFETY: called by Python with an object made in `Memory::new`, which owns a reference to its block.
    unsafe {
        let block = (*o.cast::<Memory>()).block;
        ffi::PyLong_FromLongLong(if block.is_null() { 0 } else { (*block).obj.refs.load(Ordering::Relaxed) })
    }
}

impl Memory {
    /// Takes over a reference to `block` (or null). Null with an exception when there is no memory for the
    /// object.
    ///
    /// # Safety
    /// The thread is attached; `block` is an owned reference or null.
    unsafe fn new(block: *mut MemBlock) -> Obj {
        // SAFETY: the class was made by `init`; the new object's field is set before anyone sees it.
        unsafe {
            let class = MEMORY_TYPE.get().copied().unwrap_or(0) as *mut ffi::PyTypeObject;
            let o = ffi::PyType_GenericAlloc(class, 0).cast::<Memory>();
            if o.is_null() {
                release(block.cast())
            } else {
                (*o).block = block
            }
            o.cast()
        }
    }

    /// Makes the class.
    pub fn init(py: Python<'_>) -> PyResult<()> {
        let refcount = ffi::PyGetSetDef {
            name: c"refcount".as_ptr(),
            get: Some(memory_refcount),
            set: None,
            doc: c"How many hold the memory: arrays that compiled code made, and compiled code that runs."
                .as_ptr(),
            closure: std::ptr::null_mut(),
        };
        // Python keeps the table as long as the class.
        let getset = Box::leak(Box::new([refcount, ffi::PyGetSetDef::default()]));
        let mut slots = [
            ffi::PyType_Slot { slot: ffi::Py_tp_dealloc, pfunc: memory_dealloc as *mut _ },
            ffi::PyType_Slot { slot: ffi::Py_tp_getset, pfunc: getset.as_mut_ptr().cast() },
            ffi::PyType_Slot {
                slot: ffi::Py_tp_doc,
                pfunc: c"Memory of an array that compiled code made.".as_ptr().cast_mut().cast(),
            },
            ffi::PyType_Slot { slot: 0, pfunc: std::ptr::null_mut() },
        ];
        let mut spec = ffi::PyType_Spec {
            name: c"tierup._tierup.Memory".as_ptr(),
            basicsize: size_of::<Memory>() as c_int,
            itemsize: 0,
            flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION) as _,
            slots: slots.as_mut_ptr(),
        };
        // SAFETY: the specification is complete and copied by Python; the class is leaked on purpose.
        let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
        MEMORY_TYPE.get_or_init(|| class.into_ptr() as usize);
        Ok(())
    }
}
