//! bool, int, float and complex, and NumPy's scalars. What is converted for declared signatures and among
//! elements is in [`lenient`].

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, next};
use super::{Constructor, Plan, Purpose, recognise};
use crate::errors::Failure;
use crate::gil::attached;
use crate::{known, npy, overrides, value};
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types;
use tierup_core::elem::Elem;
use tierup_core::types::{Const, Float, Int, Kind, Type};

pub(crate) mod lenient;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: type_of_number,
    plan: |t, purpose| match (t.kind(), purpose) {
        (_, Some(Purpose::GoesOn)) => {
            Plan::other(GoesOn { class: class_written(t), plan: Plan::new(t, None) })
        }
        (_, Some(purpose)) => Plan::other(lenient::Number { ty: t, purpose, scalar: Scalar::new(t) }),
        (Kind::Float(Float::F16), None) => Plan::other(Half),
        (Kind::Bool, None) => Plan::other(Bool(Scalar::new(t))),
        (Kind::Int(Int::Py), None) => Plan::PyInt,
        (Kind::Int(Int::Big), None) => Plan::other(BigInt(Scalar::new(t))),
        (Kind::Float(Float::Py), None) => Plan::PyFloat,
        (Kind::Complex(Float::Py), None) => Plan::other(PyComplexNumber),
        _ => Plan::other(Scalar::new(t)),
    },
};

fn type_of_number(obj: &Bound<'_, PyAny>) -> Result<Option<Type>, Failure> {
    // SAFETY: `obj` is live.
    let class = unsafe { ffi::Py_TYPE(obj.as_ptr()) };
    // Python's own are met most often.
    if class == &raw mut ffi::PyFloat_Type {
        return Ok(Some(Type::float()));
    }
    if class == &raw mut ffi::PyLong_Type
        && let Ok(i) = obj.cast::<types::PyInt>()
    {
        return type_of_int(i).map(Some);
    }
    let numpy = npy::get(obj.py())?;
    if let Some(t) = numpy.and_then(|n| n.scalar_type(class)) {
        return Ok(Some(t));
    }
    if numpy.is_some_and(|n| n.half_type == class) {
        return Ok(Some(Type::float_of(Float::F16)));
    }
    if obj.is_instance_of::<types::PyBool>() {
        return Ok(Some(Type::bool()));
    }
    if known::type_of_members(&obj.get_type())?.is_some() {
        return Ok(None);
    }
    let t = if let Ok(i) = obj.cast::<types::PyInt>() {
        recognise::refuse_overriding(obj)?;
        return type_of_int(i).map(Some);
    } else if obj.is_instance_of::<types::PyFloat>() {
        Type::float()
    } else if obj.is_instance_of::<types::PyComplex>() {
        Type::complex()
    } else {
        return Ok(None);
    };
    recognise::refuse_overriding(obj)?;
    Ok(Some(t))
}

fn type_of_int(i: &Bound<'_, types::PyInt>) -> Result<Type, Failure> {
    let value = value::int_const(i.as_any())?;
    if let Const::Int(_) = value {
        return Ok(Type::int());
    }
    if let Const::UInt(_) = value {
        return Ok(Type::big_int());
    }
    Err(PyOverflowError::new_err("Python int too large for compiled code: integers have 64 bits there")
        .into())
}

/// Layout, dimensions and element type of an array object.

/// A Python int of at most 64 bits, signed.
pub(crate) struct PyInt;

impl Convert for PyInt {
    #[inline(always)]
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        if class != &raw mut ffi::PyLong_Type && !derives_from_int(class) {
            return None;
        }
        // SAFETY: `obj` is an int; there is room for its leaf.
        unsafe {
            out.write(small_int(obj)? as u64);
            Some(out.add(1))
        }
    }
    #[inline]
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is the number.
        unsafe { ffi::PyLong_FromLongLong(next(at) as i64) }
    }
}

pub(crate) struct PyFloat;

impl Convert for PyFloat {
    #[inline(always)]
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        if class != &raw mut ffi::PyFloat_Type && !derives_from(class, &raw mut ffi::PyFloat_Type) {
            return None;
        }
        // SAFETY: `obj` is a float; there is room for its leaf.
        unsafe {
            out.write(ffi::PyFloat_AS_DOUBLE(obj).to_bits());
            Some(out.add(1))
        }
    }
    #[inline]
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is the number.
        unsafe { ffi::PyFloat_FromDouble(f64::from_bits(next(at))) }
    }
}

struct PyComplexNumber;

impl Convert for PyComplexNumber {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        if class != &raw mut ffi::PyComplex_Type && !derives_from(class, &raw mut ffi::PyComplex_Type) {
            return None;
        }
        // SAFETY: `obj` is a complex number; there is room for its two leaves.
        unsafe {
            let z = (*obj.cast::<ffi::PyComplexObject>()).cval;
            out.write(z.real.to_bits());
            out.add(1).write(z.imag.to_bits());
            Some(out.add(2))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the leaves of a complex number.
        unsafe { elem_object(Elem::C128, at) }
    }
}

struct Bool(Scalar);

impl Convert for Bool {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: as required of the caller.
        unsafe {
            if class != &raw mut ffi::PyBool_Type {
                return self.0.unbox(obj, class, out, frame);
            }
            out.write((obj == ffi::Py_True()) as u64);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        unsafe { self.0.to_python(at, cx) }
    }
}

/// A Python int past 63 bits.
struct BigInt(Scalar);

impl Convert for BigInt {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        // SAFETY: the casts follow a check of the class.
        unsafe {
            if class != &raw mut ffi::PyLong_Type && !derives_from_int(class) {
                return None;
            }
            if small_int(obj).is_some() {
                return None;
            }
            let x = ffi::PyLong_AsUnsignedLongLong(obj);
            if x == u64::MAX && !ffi::PyErr_Occurred().is_null() {
                ffi::PyErr_Clear();
                return None;
            }
            out.write(x);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        unsafe { self.0.to_python(at, cx) }
    }
}

/// A NumPy scalar class, where two names have different classes (int64 and longlong) both.
pub(crate) struct Scalar {
    classes: [Class; 2],
    elem: Elem,
}

// SAFETY: the classes of NumPy live for ever, and are only compared.
unsafe impl Send for Scalar {}
// SAFETY: as above.
unsafe impl Sync for Scalar {}

impl Scalar {
    fn new(t: Type) -> Scalar {
        let mut classes = [std::ptr::null_mut(); 2];
        let found = npy::loaded().into_iter().flat_map(|n| n.scalars.iter().filter(|(_, s)| *s == t));
        for (slot, (class, _)) in classes.iter_mut().zip(found) {
            *slot = *class;
        }
        Scalar { classes, elem: Elem::of(t.strong()).unwrap_or(Elem::I64) }
    }
}

impl Convert for Scalar {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        if class != self.classes[0] && (class != self.classes[1] || class.is_null()) {
            return None;
        }
        // SAFETY: NumPy's scalars hold their value behind the header.
        unsafe { Some(read_elem(self.elem, obj.cast::<u8>().add(npy::SCALAR_VALUE), out)) }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the leaves are of that element type.
        unsafe { elem_object(self.elem, at) }
    }
}

/// A float of 16 bits: NumPy's as an argument, a float as a result.
struct Half;

impl Convert for Half {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        if !npy::loaded().is_some_and(|n| n.half_type == class) {
            return None;
        }
        // SAFETY: NumPy's scalars hold their value behind the header, and there is room for a leaf.
        unsafe {
            out.write(obj.cast::<u8>().add(npy::SCALAR_VALUE).cast::<u16>().read() as i16 as i64 as u64);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the leaf of such a float.
        unsafe {
            let bits = at.read() as u16;
            *at = at.add(1);
            ffi::PyFloat_FromDouble(tierup_core::lir::half::to_float(bits).into())
        }
    }
}

/// A number that Python code goes on with.
struct GoesOn {
    /// NumPy's class; null for Python's own numbers.
    class: Class,
    plan: Plan,
}

// SAFETY: the classes of NumPy live for ever, and are only called.
unsafe impl Send for GoesOn {}
// SAFETY: as above.
unsafe impl Sync for GoesOn {}

impl Convert for GoesOn {
    unsafe fn unbox(&self, obj: Obj, _: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: as required of the caller.
        unsafe { self.plan.unbox(obj, out, frame) }
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller; a class is called with a number.
        unsafe {
            let value = self.plan.to_python(at, cx);
            if self.class.is_null() || value.is_null() {
                return value;
            }
            let scalar = ffi::PyObject_CallOneArg(self.class.cast(), value);
            ffi::Py_DECREF(value);
            scalar
        }
    }
}

/// Numbers become Python's int, float, complex and bool, as Numba gives them.
///
/// # Safety
/// The leaves of an element lie at `*at`; the thread is attached.
unsafe fn elem_object(elem: Elem, at: &mut *const u64) -> Obj {
    // SAFETY: plain constructors; narrow values are in the low bits.
    unsafe {
        let bits = next(at);
        let int = |x: i64| ffi::PyLong_FromLongLong(x);
        let float = |bits: u64| f64::from(f32::from_bits(bits as u32));
        match elem {
            Elem::Bool => ffi::PyBool_FromLong((bits as u8 != 0) as _),
            Elem::I8 => int(i64::from(bits as i8)),
            Elem::I16 => int(i64::from(bits as i16)),
            Elem::I32 => int(i64::from(bits as i32)),
            Elem::I64 => int(bits as i64),
            Elem::U8 => int(i64::from(bits as u8)),
            Elem::U16 => int(i64::from(bits as u16)),
            Elem::U32 => int(i64::from(bits as u32)),
            Elem::U64 => ffi::PyLong_FromUnsignedLongLong(bits),
            Elem::F32 => ffi::PyFloat_FromDouble(float(bits)),
            Elem::F64 => ffi::PyFloat_FromDouble(f64::from_bits(bits)),
            Elem::C64 => ffi::PyComplex_FromDoubles(float(bits), float(next(at))),
            Elem::C128 => ffi::PyComplex_FromDoubles(f64::from_bits(bits), f64::from_bits(next(at))),
            Elem::Str | Elem::Tuple => {
                crate::errors::bug("no number").restore(Python::assume_attached());
                std::ptr::null_mut()
            }
        }
    }
}

/// The class of NumPy's scalars that a number of a type, or one that may be None, is written back as where one of
/// them stood: null for Python's own numbers.
pub(crate) fn class_written(t: Type) -> Class {
    let t = t.without_none();
    let strong = t.is_number() && !t.is_weak() && *t != Kind::Bool;
    let found = npy::loaded().filter(|_| strong).and_then(|n| n.scalars.iter().find(|(_, s)| *s == t));
    found.map_or(std::ptr::null_mut(), |(class, _)| *class)
}

/// What is written in the place of `old`: a scalar of NumPy's `class` where that is one, else `value` itself, whose
/// reference is taken over.
///
/// # Safety
/// Both objects are live, and the class is from [`class_written`]; the thread is attached.
pub(crate) unsafe fn written(class: Class, old: Obj, value: Obj) -> Obj {
    // SAFETY: as required of the caller.
    unsafe {
        if class.is_null() || value == ffi::Py_None() {
            return value;
        }
        if npy::loaded().is_none_or(|n| n.scalar_type(ffi::Py_TYPE(old)).is_none()) {
            return value;
        }
        let scalar = ffi::PyObject_CallOneArg(class.cast(), value);
        ffi::Py_DECREF(value);
        scalar
    }
}

/// A Python int that fits into 64 bits, signed.
///
/// # Safety
/// `obj` must be a live int.
#[inline]
pub(crate) unsafe fn small_int(obj: Obj) -> Option<i64> {
    // SAFETY: as required of the caller; the structs are CPython's.
    unsafe {
        #[cfg(not(Py_3_12))]
        {
            #[repr(C)]
            struct Long {
                head: ffi::PyVarObject,
                digit: u32,
            }
            let l = obj.cast::<Long>();
            let size = (*l).head.ob_size;
            if (-1..=1).contains(&size) {
                return Some(size as i64 * if size == 0 { 0 } else { (*l).digit as i64 });
            }
        }
        #[cfg(Py_3_12)]
        {
            #[repr(C)]
            struct Long {
                head: ffi::PyObject,
                tag: usize,
                digit: u32,
            }
            let l = obj.cast::<Long>();
            // Two bits of sign (0 positive, 1 zero, 2 negative), one flag, then the number of digits.
            if (*l).tag < 2 << 3 {
                return Some((1 - ((*l).tag & 3) as i64) * (*l).digit as i64);
            }
        }
        let mut overflow = 0;
        let x = ffi::PyLong_AsLongLongAndOverflow(obj, &mut overflow);
        (overflow == 0).then_some(x)
    }
}

/// A class of the user's that is an int to compiled code (IntEnum).
#[cold]
fn derives_from_int(class: Class) -> bool {
    class != &raw mut ffi::PyBool_Type && derives_from(class, &raw mut ffi::PyLong_Type)
}

/// A class of the user's that is a float or complex to compiled code. NumPy's scalars, which derive from
/// these too, are their own types.
#[cold]
pub(crate) fn derives_from(class: Class, base: Class) -> bool {
    // SAFETY: both are live type objects.
    let derived = unsafe { ffi::PyType_IsSubtype(class, base) != 0 }
        && npy::loaded().is_none_or(|n| n.scalar_type(class).is_none());
    // Whose methods are its own is no number of that kind to compiled code, nor is a member of an enumeration.
    derived && attached(|py| overrides::method(py, class, base).is_none()) && !is_member(class, base)
}

/// Whether instances of a class are members of an enumeration, which are values of the base beside.
#[cold]
pub(crate) fn is_member(class: Class, base: Class) -> bool {
    attached(|py| {
        // SAFETY: both are live type objects.
        let class = unsafe {
            if ffi::PyType_IsSubtype(class, base) == 0 {
                return false;
            }
            Bound::from_borrowed_ptr(py, class.cast()).cast_into_unchecked::<types::PyType>()
        };
        matches!(known::type_of_members(&class), Ok(Some(_)))
    })
}

/// Copies one element into slots.
///
/// # Safety
/// `p` points to an element, `out` has room for two slots.
#[inline]
pub(crate) unsafe fn read_elem(elem: Elem, p: *const u8, out: *mut u64) -> *mut u64 {
    // SAFETY: as required of the caller; any alignment.
    unsafe {
        let bits = match elem {
            Elem::Bool | Elem::U8 | Elem::I8 => *p as u64,
            Elem::I16 | Elem::U16 => p.cast::<u16>().read_unaligned() as u64,
            Elem::I32 | Elem::U32 | Elem::F32 => p.cast::<u32>().read_unaligned() as u64,
            Elem::I64 | Elem::U64 | Elem::F64 | Elem::Str | Elem::Tuple => p.cast::<u64>().read_unaligned(),
            Elem::C64 => {
                out.write(p.cast::<u32>().read_unaligned() as u64);
                out.add(1).write(p.add(4).cast::<u32>().read_unaligned() as u64);
                return out.add(2);
            }
            Elem::C128 => {
                out.write(p.cast::<u64>().read_unaligned());
                out.add(1).write(p.add(8).cast::<u64>().read_unaligned());
                return out.add(2);
            }
        };
        out.write(bits);
        out.add(1)
    }
}
