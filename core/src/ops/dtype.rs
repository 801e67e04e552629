//! Scalar types as programs name them.

use super::{OpId, id};
use crate::types::time::Time;
use crate::types::{Float, Int, Kind, Type};
use crate::typing::Arg;

/// The scalar type that a `dtype` argument names: a NumPy scalar class, dtype object, Python number class or
/// constant string.
pub(crate) fn dtype_arg(arg: &Arg) -> Option<Type> {
    if let Kind::DType(t) = *arg.ty {
        return t.is_number().then_some(t);
    }
    let of_class = if let Kind::Builtin(class) = *arg.ty { dtype_of_class(class) } else { None };
    of_class.or_else(|| dtype_name(arg.text()?))
}

/// The type that an argument names, be it that of numbers or another one.
pub(super) fn type_arg(arg: &Arg) -> Option<Type> {
    if let Kind::DType(t) = *arg.ty {
        return Some(t.strong_throughout());
    }
    if let Kind::Builtin(id::BUILTINS_STR) = *arg.ty {
        return Some(Type::str());
    }
    dtype_arg(arg).map(Type::strong)
}

/// The data type that one of Python's classes stands for.
fn dtype_of_class(class: OpId) -> Option<Type> {
    match class {
        id::BUILTINS_INT => Some(Type::i64()),
        id::BUILTINS_FLOAT => Some(Type::f64()),
        id::BUILTINS_BOOL => Some(Type::bool()),
        id::BUILTINS_COMPLEX => Some(Type::complex().strong()),
        _ => None,
    }
}

/// The scalar type of a NumPy dtype string (`f8`, `float64`, `<i4`, `?`).
pub fn dtype_name(name: &str) -> Option<Type> {
    let int = |i: Int| Some(Type::int_of(i));
    match name.trim_start_matches(['<', '=', '|']) {
        "bool" | "bool_" | "?" | "b1" => Some(Type::bool()),
        "int8" | "i1" | "b" | "byte" => int(Int::I8),
        "int16" | "i2" | "h" | "short" => int(Int::I16),
        "int32" | "i4" | "i" | "intc" => int(Int::I32),
        "int64" | "i8" | "l" | "q" | "int" | "intp" | "int_" | "p" | "longlong" => int(Int::I64),
        "uint8" | "u1" | "B" | "ubyte" => int(Int::U8),
        "uint16" | "u2" | "H" | "ushort" => int(Int::U16),
        "uint32" | "u4" | "I" | "uintc" => int(Int::U32),
        "uint64" | "u8" | "L" | "Q" | "uint" | "uintp" | "P" | "ulonglong" => int(Int::U64),
        "float16" | "f2" | "e" | "half" => Some(Type::float_of(Float::F16)),
        "float32" | "f4" | "f" | "single" => Some(Type::float_of(Float::F32)),
        "float64" | "f8" | "d" | "float" | "double" => Some(Type::f64()),
        "complex64" | "c8" | "F" | "csingle" => Some(Type::new(Kind::Complex(Float::F32))),
        "complex128" | "c16" | "D" | "complex" | "cdouble" => Some(Type::new(Kind::Complex(Float::F64))),
        _ => None,
    }
}

/// The type of dates or spans that a `dtype` argument names.
pub(crate) fn time_arg(arg: &Arg) -> Option<Type> {
    if let Kind::DType(t) = *arg.ty {
        return t.time().map(Time::ty);
    }
    time_name(arg.text()?)
}

/// What times the first operand is or holds.
pub(crate) fn time_of(a: &[Arg]) -> Option<Time> {
    let ty = a.first()?.ty;
    ty.as_array().map_or(ty, |t| t.dtype).time()
}

/// What to do about units that are multiples, such as `25s`.
pub(crate) const SINGLE_UNITS: &str = "units of time are single ones, 'Y' to 'as', and known when the function is compiled: count in 's' instead of '25s'";

/// The type that a `dtype` argument names, of numbers or of times.
pub(crate) fn element_arg(arg: &Arg) -> Option<Type> {
    time_arg(arg).or_else(|| dtype_arg(arg))
}

/// The type that a name of dates or spans says: `datetime64[ns]`, `M8[s]`, `<m8`.
fn time_name(name: &str) -> Option<Type> {
    let name = name.trim_start_matches(['<', '=']);
    let full = match (name.strip_prefix("M8"), name.strip_prefix("m8")) {
        (Some(unit), _) => format!("datetime64{unit}"),
        (_, Some(unit)) => format!("timedelta64{unit}"),
        _ => name.to_owned(),
    };
    Time::from_name(&full).map(Time::ty)
}
