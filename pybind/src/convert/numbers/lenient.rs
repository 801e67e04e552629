//! Numbers that are converted: for declared signatures, and among the elements of a list.

use super::super::protocol::{BoxCx, Class, Convert, Frame, Lenience, Obj};
use super::super::{Purpose, type_of};
use super::{Scalar, small_int};
use crate::gil::attached;
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use tierup_core::declare::conversion;
use tierup_core::types::{Float, Int, Kind, NumberType, Type};

/// Any number, converted as far as the call allows, or as far as elements of a list need.
pub(crate) struct Number {
    pub ty: Type,
    pub purpose: Purpose,
    pub scalar: Scalar,
}

impl Convert for Number {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: the casts follow a check of the class; there is room for a leaf.
        unsafe {
            // Lists of plain floats and ints are long.
            if class == &raw mut ffi::PyFloat_Type
                && let Kind::Float(Float::Py | Float::F64) = *self.ty
            {
                out.write(ffi::PyFloat_AS_DOUBLE(obj).to_bits());
                return Some(out.add(1));
            }
            if class == &raw mut ffi::PyLong_Type
                && let Kind::Int(Int::Py | Int::I64) = *self.ty
                && let Some(x) = small_int(obj)
            {
                out.write(x as u64);
                return Some(out.add(1));
            }
            convert_number(self.ty, self.purpose, obj, out, frame)
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        unsafe { self.scalar.to_python(at, cx) }
    }
}

/// Whether elements of a list, which are of type `from`, are given as ones of type `to`: ints among floats.
fn widens(from: Type, to: Type) -> bool {
    let rank = |t: Type| match t.number()? {
        NumberType::Bool => Some(0),
        NumberType::Int(_) => Some(1),
        NumberType::Float(_) => Some(2),
        NumberType::Complex(_) => Some(3),
    };
    rank(from).is_some_and(|a| rank(to).is_some_and(|b| a <= b))
}

/// The type of a number for a declared signature. Integers beyond 64 bits have one as well: they may become
/// floats.
fn number_type(any: &Bound<'_, PyAny>) -> Option<Type> {
    match type_of(any) {
        // Where a number is declared, a member of an `IntEnum` is one.
        Ok(t) => Some(t.beneath_member()),
        Err(_) => any.is_instance_of::<pyo3::types::PyInt>().then(Type::int),
    }
}

/// Whether an integer, as one of 64 bits with the sign that the type has, is one of the type.
fn is_held(bits: u64, i: Int) -> bool {
    let free = 64 - i.bits();
    let kept = if i.signed() { ((bits << free) as i64 >> free) as u64 } else { bits << free >> free };
    kept == bits
}

/// Converts a Python or NumPy number to `t`, as Numba does for declared signatures: integers must fit into 64
/// bits, with a sign or without as the type says, of which narrow ones keep the low, but as elements; floats are
/// truncated, complex numbers do not become real.
///
/// # Safety
/// As for [`Convert::unbox`].
unsafe fn convert_number(
    t: Type,
    purpose: Purpose,
    obj: Obj,
    out: *mut u64,
    frame: &mut Frame,
) -> Option<*mut u64> {
    // SAFETY: as required of the caller.
    attached(|py| unsafe { convert_attached(t, purpose, Bound::from_borrowed_ptr(py, obj), out, frame) })
}

/// # Safety
/// As for [`convert_number`].
unsafe fn convert_attached(
    t: Type,
    purpose: Purpose,
    any: Bound<'_, PyAny>,
    out: *mut u64,
    frame: &mut Frame,
) -> Option<*mut u64> {
    let ty = number_type(&any)?;
    let takes = match (purpose, frame.lenience) {
        (Purpose::Element, _) => widens(ty, t),
        (Purpose::GoesOn, _) => ty == t,
        (Purpose::Declared, Lenience::Exact) => ty.strong() == t.strong(),
        (Purpose::Declared, Lenience::Tried | Lenience::Converted) => conversion(ty, t).is_some(),
    };
    if !takes {
        return None;
    }
    let mut fail = |e: PyErr| -> Option<*mut u64> {
        frame.extra().failure = Some(e.into());
        None
    };
    let float = |x: f64, f: Float, out: *mut u64| {
        let bits = if f == Float::F32 { (x as f32).to_bits() as u64 } else { x.to_bits() };
        // SAFETY: the caller made room.
        unsafe { out.write(bits) };
    };
    // SAFETY: the caller made room for the leaves of `t`.
    unsafe {
        match t.number()? {
            NumberType::Bool => match any.is_truthy() {
                Ok(b) => out.write(b as u64),
                Err(e) => return fail(e),
            },
            NumberType::Int(i) => {
                let number = if ty.is_float() {
                    any.call_method0("__int__")
                } else {
                    any.call_method0("__index__").or_else(|_| any.call_method0("__int__"))
                };
                let number = match number {
                    Ok(n) => n,
                    Err(e) => return fail(e),
                };
                let bits = if i.signed() {
                    ffi::PyLong_AsLongLong(number.as_ptr()) as u64
                } else {
                    ffi::PyLong_AsUnsignedLongLong(number.as_ptr())
                };
                match PyErr::take(any.py()) {
                    // NumPy's words, of a number that is no element of an array.
                    None if purpose == Purpose::Element && !is_held(bits, i) => {
                        let text = format!("Python integer {number} out of bounds for {t}");
                        return fail(PyOverflowError::new_err(text));
                    }
                    None => out.write(bits),
                    // Among ints of more than 63 bits there is a negative one.
                    Some(_) if i == Int::Big => return None,
                    Some(e) => return fail(e),
                }
            }
            NumberType::Float(f) => match any.extract::<f64>() {
                Ok(x) => float(x, f, out),
                Err(e) => return fail(e),
            },
            NumberType::Complex(f) => {
                let parts = any
                    .getattr("real")
                    .and_then(|r| r.extract::<f64>())
                    .and_then(|r| Ok((r, any.getattr("imag")?.extract::<f64>()?)));
                match parts {
                    Ok((re, im)) => {
                        float(re, f, out);
                        float(im, f, out.add(1));
                        return Some(out.add(2));
                    }
                    Err(e) => return fail(e),
                }
            }
        }
        Some(out.add(1))
    }
}
