//! Element codes: what helpers are told about the type of array and list elements.

use crate::types::{Float, Int, Kind, Type};

macro_rules! elems {
    ($($(#[doc = $doc:expr])* $Name:ident = $n:literal, $text:literal, $bytes:literal;)*) => {
        /// Type of one element, as a number that compiled code passes to helpers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i64)]
        pub enum Elem { $($(#[doc = $doc])* $Name = $n),* }
        impl Elem {
            pub(crate) const ALL: &'static [Elem] = &[$(Elem::$Name),*];
            /// NumPy's name of the dtype (`str` for strings, which are pointers).
            pub fn name(self) -> &'static str { match self { $(Elem::$Name => $text),* } }
            pub fn bytes(self) -> usize { match self { $(Elem::$Name => $bytes),* } }
        }
    };
}

elems! {
    Bool = 0, "bool", 1;
    I8 = 1, "int8", 1;
    I16 = 2, "int16", 2;
    I32 = 3, "int32", 4;
    I64 = 4, "int64", 8;
    U8 = 5, "uint8", 1;
    U16 = 6, "uint16", 2;
    U32 = 7, "uint32", 4;
    U64 = 8, "uint64", 8;
    F32 = 9, "float32", 4;
    F64 = 10, "float64", 8;
    C64 = 11, "complex64", 8;
    C128 = 12, "complex128", 16;
    /// A `*mut Str`; in lists and sort keys only.
    Str = 13, "str", 8;
    /// A `*mut List` of members that nobody changes, which can be compared; a part of values in memory only.
    Tuple = 14, "tuple", 8;
}

impl Elem {
    pub fn from_number(n: i64) -> Option<Elem> {
        usize::try_from(n).ok().and_then(|i| Elem::ALL.get(i).copied())
    }
    /// The code of a scalar type.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only numbers and strings are elements")]
    pub fn of(ty: Type) -> Option<Elem> {
        Some(match ty.kind() {
            Kind::Bool => Elem::Bool,
            Kind::Int(i) => match i {
                Int::I8 => Elem::I8,
                Int::I16 => Elem::I16,
                Int::I32 => Elem::I32,
                Int::I64 | Int::Py => Elem::I64,
                Int::U8 => Elem::U8,
                Int::U16 => Elem::U16,
                Int::U32 => Elem::U32,
                Int::U64 | Int::Big => Elem::U64,
            },
            Kind::Float(f) => match f {
                Float::F16 => return None,
                Float::F32 => Elem::F32,
                Float::F64 | Float::Py => Elem::F64,
            },
            Kind::Complex(f) => match f {
                Float::F16 => return None,
                Float::F32 => Elem::C64,
                Float::F64 | Float::Py => Elem::C128,
            },
            Kind::Str => Elem::Str,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positions() {
        for (i, e) in Elem::ALL.iter().enumerate() {
            assert_eq!(*e as i64, i as i64);
            assert_eq!(Elem::from_number(i as i64), Some(*e));
        }
        assert_eq!(Elem::from_number(-1), None);
        assert_eq!(Elem::from_number(Elem::ALL.len() as i64), None);
        assert_eq!(Elem::of(Type::int()), Some(Elem::I64));
        assert_eq!(Elem::of(Type::none()), None);
        assert_eq!(Elem::of(Type::tuple_of(Type::int())), None);
    }
}
