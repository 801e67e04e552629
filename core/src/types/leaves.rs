//! How a type becomes machine values; [`crate::desc`] says where they lie in memory. An array is its scalars:
//! owner, data, shape, for layout `A` strides, and where only the run knows whether it is read-only.

use super::{ArrayType, Container, Float, IterType, Kind, Layout, Type};
use crate::lir::Ty;

/// One machine value of an exploded Python value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub ty: Ty,
    /// An owned pointer to a heap object (or null): what `retain` and `release` count.
    pub is_ref: bool,
    /// The length of an axis: never negative.
    pub is_length: bool,
}

/// Who is told of the leaves of a type. The leaves of one type, which may be part of another one, come between
/// `open` and `close`.
pub(crate) trait LeafSink {
    fn open(&mut self) {}
    fn close(&mut self) {}
    /// The next leaves are those of an array.
    fn array(&mut self, _of: ArrayType) {}
    fn push(&mut self, leaf: Leaf);
    fn extend(&mut self, leaves: impl IntoIterator<Item = Leaf>) {
        leaves.into_iter().for_each(|l| self.push(l));
    }
}

impl LeafSink for Vec<Leaf> {
    fn push(&mut self, leaf: Leaf) {
        Vec::push(self, leaf);
    }
}

const fn plain(ty: Ty) -> Leaf {
    Leaf { ty, is_ref: false, is_length: false }
}
const REF: Leaf = Leaf { ty: Ty::Ptr, is_ref: true, is_length: false };
const LENGTH: Leaf = Leaf { ty: Ty::I64, is_ref: false, is_length: true };

impl Type {
    /// The machine type of a one-leaf scalar.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only real numbers and times are one machine value that computes"
    )]
    pub fn scalar_ty(self) -> Option<Ty> {
        Some(match *self {
            Kind::Bool => Ty::I8,
            Kind::Int(i) => match i.bits() {
                8 => Ty::I8,
                16 => Ty::I16,
                32 => Ty::I32,
                _ => Ty::I64,
            },
            Kind::Float(Float::F16) => Ty::I16,
            Kind::Float(Float::F32) => Ty::F32,
            Kind::Float(Float::F64 | Float::Py) => Ty::F64,
            Kind::Time(_) => Ty::I64,
            _ => return None,
        })
    }

    pub fn leaves(self) -> Vec<Leaf> {
        let mut out = Vec::new();
        self.push_leaves(&mut out);
        out
    }
    pub fn leaf_count(self) -> usize {
        self.leaves().len()
    }
    /// Whether a container in it is empty, so that nothing says what it holds.
    pub fn lacks_elements(self) -> bool {
        let here = matches!(*self, Kind::List(_) | Kind::Container(..));
        self.arguments().iter().any(|t| here && *t == Kind::Never || t.lacks_elements())
    }
    /// Whether a value of this type is taken for a wider one only where a container in it is empty.
    pub fn is_widened_by_elements(self) -> bool {
        self.lacks_elements() && !self.holds_object()
    }
    /// Whether there is an object in it whose fields may change.
    pub fn holds_object(self) -> bool {
        matches!(*self, Kind::Object(..)) || self.arguments().iter().any(Type::holds_object)
    }
    /// The type with the defaults of what nobody ever says: an empty container holds ints, a set bools.
    pub(crate) fn with_default_elements(self) -> Type {
        let here = matches!(*self, Kind::List(_) | Kind::Container(..));
        let set = matches!(*self, Kind::Container(Container::Set | Container::FrozenSet, _));
        self.map_arguments(&mut |t| {
            if here && *t == Kind::Never {
                return if set { Type::new(Kind::Bool) } else { Type::int() };
            }
            t.with_default_elements()
        })
    }
    /// Whether values of this type hold references.
    pub fn is_counted(self) -> bool {
        self.leaves().iter().any(|l| l.is_ref)
    }

    /// Tells of the leaves in their order, and of the types that they belong to.
    pub(crate) fn push_leaves(self, out: &mut impl LeafSink) {
        out.open();
        self.push_own_leaves(out);
        out.close();
    }
    fn push_own_leaves(self, out: &mut impl LeafSink) {
        match self.kind() {
            Kind::Never
            | Kind::Undef
            | Kind::None
            | Kind::Ellipsis
            | Kind::Builtin(_)
            | Kind::Module(_)
            | Kind::DType(_)
            | Kind::NamedTupleClass(_)
            | Kind::ExcClass(_)
            | Kind::Class(_)
            | Kind::Outer(_)
            | Kind::Record(_)
            | Kind::Var(_)
            | Kind::Conflict(..) => {}
            Kind::Member(c) => match c.base_of_members() {
                Some(base) => base.push_own_leaves(out),
                None => out.push(plain(Ty::I64)),
            },
            Kind::Bool | Kind::Int(_) | Kind::Float(_) | Kind::Time(_) => {
                out.push(plain(self.scalar_ty().unwrap_or(Ty::I64)))
            }
            Kind::Simd(t, n) => {
                let lane = plain(t.scalar_ty().unwrap_or(Ty::I64));
                out.extend(std::iter::repeat_n(lane, *n as usize));
            }
            Kind::Complex(f) => {
                let t = if f.bits() == 32 { Ty::F32 } else { Ty::F64 };
                out.extend([plain(t), plain(t)]);
            }
            Kind::MaybeUndef(t) | Kind::Optional(t) => {
                out.push(plain(Ty::I8));
                t.push_leaves(out);
            }
            Kind::Str
            | Kind::Bytes
            | Kind::List(_)
            | Kind::Container(..)
            | Kind::Object(..)
            | Kind::Exception
            | Kind::Generator(..)
            | Kind::Random => out.push(REF),
            Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Frozen(_, m) => {
                m.iter().for_each(|t| t.push_leaves(out))
            }
            Kind::Super(_, t) => t.push_leaves(out),
            Kind::Slice(m) => m.iter().for_each(|t| t.push_leaves(out)),
            Kind::Array(a) => {
                out.array(*a);
                out.extend([REF, plain(Ty::Ptr)]);
                let strides = if a.layout == Layout::A { a.ndim() } else { 0 };
                out.extend(
                    std::iter::repeat_n(LENGTH, a.ndim()).chain(std::iter::repeat_n(plain(Ty::I64), strides)),
                );
                if a.access == super::Access::Either {
                    out.push(plain(Ty::I8));
                }
            }
            Kind::Range(step) => {
                out.extend(std::iter::repeat_n(plain(Ty::I64), if step.is_some() { 2 } else { 3 }))
            }
            Kind::Method(_, t) => t.push_leaves(out),
            Kind::Function(f) => f.defaults.iter().chain(&f.captures).for_each(|t| t.push_leaves(out)),
            // Which one, then room for each: none overlap, so that references stay where they are.
            Kind::Variant(m) => {
                out.push(plain(Ty::I64));
                m.iter().for_each(|t| t.push_leaves(out));
            }
            Kind::Iter(i) => push_iter_leaves(i, out),
        }
    }
}

fn push_iter_leaves(i: &IterType, out: &mut impl LeafSink) {
    let index = plain(Ty::I64);
    match i {
        IterType::Range(step) => out.extend(std::iter::repeat_n(index, if step.is_some() { 2 } else { 3 })),
        IterType::Tuple(t) => {
            t.push_leaves(out);
            out.push(index);
        }
        IterType::Container(t) => {
            t.push_leaves(out);
            out.extend([index; 3]);
        }
        IterType::Reversed(t) if t.container().is_some() => {
            t.push_leaves(out);
            out.extend([index; 3]);
        }
        IterType::Array(t) | IterType::List(t) | IterType::Enumerate(t) | IterType::Reversed(t) => {
            t.push_leaves(out);
            out.push(index);
        }
        IterType::Str | IterType::Bytes => out.extend([REF, index]),
        IterType::Zip(m) => m.iter().for_each(|t| t.push_leaves(out)),
        IterType::NdIndex(n) => out.extend(std::iter::repeat_n(index, 2 * *n as usize + 1)),
        IterType::NdEnumerate(t) | IterType::Flat(t) => {
            t.push_leaves(out);
            let n = t.as_array().map_or(0, |a| a.ndim());
            out.extend(std::iter::repeat_n(index, 2 * n + 1));
        }
    }
}
