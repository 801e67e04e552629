//! Results converted to the type that a signature declares: `int64(float64)` truncates, `float64(int64)` gives a float, as in Numba.

use crate::boxing;
use pyo3::ffi;
use tierup_core::types::{Float, Kind, Type};

/// Whether a result of type `from` can be given as `to`; the answer says how.
pub enum Conversion { None, Number(Type) }

/// How to turn a result into the declared type; none when the two do not go together.
pub fn plan(from: Type, to: Type) -> Option<Conversion> {
    if from == to || from.strong() == to.strong() { return Some(Conversion::None); }
    if from.is_number() && to.is_number() && (to.is_complex() || !from.is_complex()) { return Some(Conversion::Number(to)); }
    let same = match (from.kind(), to.kind()) {
        // Layout and writability of the array that is returned are its own.
        (Kind::Array(a), Kind::Array(b)) => a.dtype == b.dtype && a.ndim == b.ndim,
        (Kind::Tuple(a), Kind::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| matches!(plan(*a, *b), Some(Conversion::None))),
        (Kind::List(a), Kind::List(b)) => matches!(plan(*a, *b), Some(Conversion::None)),
        (Kind::None, Kind::Optional(_)) => true,
        (Kind::Optional(a), Kind::Optional(b)) => matches!(plan(*a, *b), Some(Conversion::None)),
        (_, Kind::Optional(b)) => matches!(plan(from, *b), Some(Conversion::None)),
        // A signature without a result type, or one of a function that never returns.
        (Kind::Never, _) => true,
        _ => false,
    };
    same.then_some(Conversion::None)
}

/// A number as each of the kinds it may become.
struct Number { int: i64, real: f64, imag: f64, truth: bool }

unsafe fn read(t: Type, at: *const u64) -> Number {
    // SAFETY: the caller gives the leaves of a number of type `t`.
    unsafe {
        let float = |f: Float, bits: u64| if f == Float::F32 { f32::from_bits(bits as u32) as f64 } else { f64::from_bits(bits) };
        let of_int = |i: i64, real: f64| Number { int: i, real, imag: 0.0, truth: i != 0 };
        match *t {
            Kind::Bool => of_int((*at as u8 != 0) as i64, (*at as u8 != 0) as u8 as f64),
            Kind::Int(i) => {
                let unused = 64 - i.bits();
                if i.signed() { let x = (*at << unused) as i64 >> unused; of_int(x, x as f64) } else { let x = *at << unused >> unused; of_int(x as i64, x as f64) }
            }
            Kind::Float(f) => { let x = float(f, *at); Number { int: x as i64, real: x, imag: 0.0, truth: x != 0.0 } }
            Kind::Complex(f) => { let (re, im) = (float(f, *at), float(f, *at.add(1))); Number { int: re as i64, real: re, imag: im, truth: re != 0.0 || im != 0.0 } }
            _ => of_int(0, 0.0),
        }
    }
}

/// The result as a Python object of the declared type.
///
/// # Safety
/// `at` points to the leaves of a number of type `from`; the thread is attached.
pub unsafe fn boxed(from: Type, to: Type, at: *const u64) -> *mut ffi::PyObject {
    // SAFETY: as required of the caller; `slots` holds the leaves of a number of type `to`.
    unsafe {
        let n = read(from, at);
        let float = |f: Float, x: f64| if f == Float::F32 { (x as f32).to_bits() as u64 } else { x.to_bits() };
        let slots = match *to {
            Kind::Bool => [n.truth as u64, 0],
            Kind::Int(_) => [n.int as u64, 0],
            Kind::Float(f) => [float(f, n.real), 0],
            Kind::Complex(f) => [float(f, n.real), float(f, n.imag)],
            _ => [0, 0],
        };
        let frame = crate::frame::Frame::new(false);
        boxing::to_python(to, &mut slots.as_ptr(), &mut boxing::BoxCx::new(&frame))
    }
}
