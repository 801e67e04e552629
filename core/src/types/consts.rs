//! Constants: values known when a function is compiled.

use super::{Float, Kind, Type};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A constant of a Python scalar type, or a tuple of them.
#[derive(Clone, Debug)]
pub enum Const {
    None,
    Ellipsis,
    Bool(bool),
    /// Within 64 bits, signed.
    Int(i64),
    /// 2⁶³ and above.
    UInt(u64),
    Float(f64),
    Complex(f64, f64),
    Str(Arc<str>),
    Bytes(Arc<[u8]>),
    Tuple(Vec<Const>),
}

impl Const {
    pub fn ty(&self) -> Type {
        match self {
            Const::None => Type::none(),
            Const::Ellipsis => Type::new(Kind::Ellipsis),
            Const::Bool(_) => Type::bool(),
            Const::Int(_) => Type::int(),
            Const::UInt(_) => Type::big_int(),
            Const::Float(_) => Type::float(),
            Const::Complex(..) => Type::new(Kind::Complex(Float::Py)),
            Const::Str(_) => Type::str(),
            Const::Bytes(_) => Type::bytes(),
            Const::Tuple(m) => Type::tuple(m.iter().map(Const::ty).collect()),
        }
    }
    pub(crate) fn as_int(&self) -> Option<i64> {
        match self {
            Const::Int(i) => Some(*i),
            Const::Bool(b) => Some(*b as i64),
            Const::None
            | Const::Ellipsis
            | Const::UInt(_)
            | Const::Float(_)
            | Const::Complex(..)
            | Const::Str(_)
            | Const::Bytes(_)
            | Const::Tuple(_) => None,
        }
    }
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Const::Str(s) = self { Some(s) } else { None }
    }
    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        if let Const::Bytes(s) = self { Some(s) } else { None }
    }
    /// Python's truth value.
    pub(crate) fn truth(&self) -> bool {
        match self {
            Const::None => false,
            Const::Ellipsis => true,
            Const::Bool(b) => *b,
            Const::Int(i) => *i != 0,
            Const::UInt(_) => true,
            Const::Float(x) => *x != 0.0,
            Const::Complex(a, b) => *a != 0.0 || *b != 0.0,
            Const::Str(s) => !s.is_empty(),
            Const::Bytes(s) => !s.is_empty(),
            Const::Tuple(m) => !m.is_empty(),
        }
    }
    /// What distinguishes constants bit by bit (0.0 from -0.0, 1 from True, NaN equal to itself).
    fn key(&self) -> (u8, u64, u64) {
        match self {
            Const::None => (0, 0, 0),
            Const::Ellipsis => (1, 0, 0),
            Const::Bool(b) => (2, *b as u64, 0),
            Const::Int(i) => (3, *i as u64, 0),
            Const::UInt(u) => (4, *u, 0),
            Const::Float(x) => (5, x.to_bits(), 0),
            Const::Complex(a, b) => (6, a.to_bits(), b.to_bits()),
            Const::Str(_) => (7, 0, 0),
            Const::Tuple(m) => (8, m.len() as u64, 0),
            Const::Bytes(_) => (9, 0, 0),
        }
    }
}

/// The text whose code points these bytes are.
pub(crate) fn bytes_text(bytes: &[u8]) -> String {
    bytes.iter().map(|c| char::from(*c)).collect()
}

impl PartialEq for Const {
    fn eq(&self, other: &Const) -> bool {
        match (self, other) {
            (Const::Str(a), Const::Str(b)) => a == b,
            (Const::Bytes(a), Const::Bytes(b)) => a == b,
            (Const::Tuple(a), Const::Tuple(b)) => a == b,
            _ => self.key() == other.key(),
        }
    }
}
impl Eq for Const {}
impl Hash for Const {
    fn hash<H: Hasher>(&self, h: &mut H) {
        self.key().hash(h);
        match self {
            Const::Str(s) => s.hash(h),
            Const::Bytes(s) => s.hash(h),
            Const::Tuple(m) => m.hash(h),
            Const::None
            | Const::Ellipsis
            | Const::Bool(_)
            | Const::Int(_)
            | Const::UInt(_)
            | Const::Float(_)
            | Const::Complex(..) => {}
        }
    }
}

impl std::fmt::Display for Const {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Const::None => write!(f, "None"),
            Const::Ellipsis => write!(f, "..."),
            Const::Bool(b) => write!(f, "{}", if *b { "True" } else { "False" }),
            Const::Int(i) => write!(f, "{i}"),
            Const::UInt(u) => write!(f, "{u}"),
            Const::Float(x) => write!(f, "{x:?}"),
            Const::Complex(a, b) => write!(f, "complex({a:?}, {b:?})"),
            Const::Str(s) => write!(f, "{s:?}"),
            Const::Bytes(s) => write!(f, "b{:?}", bytes_text(s)),
            Const::Tuple(m) => {
                write!(f, "(")?;
                for c in m {
                    write!(f, "{c}, ")?;
                }
                write!(f, ")")
            }
        }
    }
}
