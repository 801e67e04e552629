//! The class that values of a type have, and the class that a value is.

use super::members;
use crate::types::class::{ClassDef, ClassId};
use crate::types::{Float, Int, IterType, Kind, Type};

/// The class of values of a type; of an optional type, of what is there.
pub(crate) fn class_of(t: Type) -> &'static ClassDef {
    let id = match t.kind() {
        Kind::None => ClassId::NONE_TYPE,
        Kind::Ellipsis => ClassId::ELLIPSIS,
        Kind::Bool => ClassId::BOOL,
        Kind::Int(i) => of_int(*i),
        Kind::Float(Float::Py) => ClassId::FLOAT,
        Kind::Float(Float::F16) => ClassId::FLOAT16,
        Kind::Float(Float::F32) => ClassId::FLOAT32,
        Kind::Float(Float::F64) => ClassId::FLOAT64,
        Kind::Complex(Float::Py) => ClassId::COMPLEX,
        Kind::Complex(Float::F16 | Float::F32) => ClassId::COMPLEX64,
        Kind::Complex(Float::F64) => ClassId::COMPLEX128,
        Kind::Time(t) if t.span => ClassId::TIMEDELTA64,
        Kind::Time(_) => ClassId::DATETIME64,
        Kind::Str => ClassId::STR,
        Kind::Bytes => ClassId::BYTES,
        Kind::Optional(t) => return class_of(*t),
        Kind::Tuple(_) => ClassId::TUPLE,
        Kind::Member(c) if c.is_mark() => ClassId::OBJECT,
        Kind::NamedTuple(c, _) | Kind::Frozen(c, _) | Kind::Object(c, _) | Kind::Member(c) => return c,
        Kind::Array(_) => ClassId::NDARRAY,
        Kind::Simd(..) => ClassId::SIMD,
        Kind::List(_) => ClassId::LIST,
        Kind::Container(c, _) => c.class(),
        Kind::Range(_) => ClassId::RANGE,
        Kind::Slice(_) => ClassId::SLICE,
        Kind::Iter(IterType::Flat(_)) => ClassId::FLAT_ITERATOR,
        Kind::Iter(_) => ClassId::ITERATOR,
        Kind::Generator(..) => ClassId::GENERATOR,
        Kind::Function(f) if f.bound => ClassId::METHOD,
        Kind::Function(_) => ClassId::FUNCTION,
        Kind::Builtin(op) if members::object(*op).is_some() => ClassId::TYPE,
        Kind::Builtin(op) if op.is_ufunc() => ClassId::UFUNC,
        Kind::Builtin(_) => ClassId::BUILTIN_FUNCTION,
        Kind::Method(op, _) => members::given(*op).unwrap_or(ClassId::METHOD),
        Kind::Module(_) => ClassId::MODULE,
        // `np.float64` and `a.dtype` are one type.
        Kind::DType(_) => ClassId::DTYPE,
        Kind::NamedTupleClass(_) | Kind::ExcClass(_) | Kind::Class(_) => ClassId::TYPE,
        Kind::Exception => ClassId::BASE_EXCEPTION,
        Kind::Random => ClassId::RANDOM,
        // Nobody asks what class an object of `super` has.
        Kind::Super(..)
        | Kind::Never
        | Kind::Undef
        | Kind::MaybeUndef(_)
        | Kind::Var(_)
        | Kind::Outer(_)
        | Kind::Record(_)
        | Kind::Variant(_)
        | Kind::Conflict(..) => ClassId::OBJECT,
    };
    id.def()
}

fn of_int(i: Int) -> ClassId {
    match i {
        Int::I8 => ClassId::INT8,
        Int::I16 => ClassId::INT16,
        Int::I32 => ClassId::INT32,
        Int::I64 => ClassId::INT64,
        Int::U8 => ClassId::UINT8,
        Int::U16 => ClassId::UINT16,
        Int::U32 => ClassId::UINT32,
        Int::U64 => ClassId::UINT64,
        Int::Big | Int::Py => ClassId::INT,
    }
}

/// Whether a value of this type is a class.
pub(crate) fn is_class(t: Type) -> bool {
    class_named(t).is_some()
}

/// The class that a value of this type is: of class objects, each of which has a type of its own.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what stands for a class is listed: any other type is one of values"
)]
pub(crate) fn class_named(t: Type) -> Option<&'static ClassDef> {
    match t.kind() {
        Kind::Builtin(op) => members::object(*op).map(ClassId::def),
        Kind::DType(t) if **t == Kind::Bool => Some(ClassId::NUMPY_BOOL.def()),
        Kind::DType(t) if t.is_number() => Some(class_of(t.strong())),
        Kind::NamedTupleClass(c) | Kind::ExcClass(c) | Kind::Class(c) => Some(c),
        _ => None,
    }
}
