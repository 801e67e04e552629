//! Types as constructors with arguments: which types stand inside a type, and how far two types that differ
//! only there have a type in common. Everything that walks over types or joins them follows from
//! [`Type::arguments`] and [`Type::with_arguments`]; a new container is an arm in each.
//!
//! What names a type is no argument of it: a variant's alternatives stand side by side, but their number is
//! not the constructor's; `dtype(float64)` and a conflict stand for themselves.

use super::{ArrayType, Container, FuncType, IterType, Kind, Layout, Type};

/// What may take the place of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variance {
    /// Where a value of the type is expected, one with a narrower argument is converted: a tuple's members are
    /// copied with it.
    Covariant,
    /// The argument is what lies in memory that others see and change as well: it stays as it is. Only such
    /// arguments may be variables.
    Invariant,
}

/// The arguments of a type's constructor, in order.
#[derive(Clone, Copy)]
pub struct Arguments {
    first: &'static [Type],
    then: &'static [Type],
    pub variance: Variance,
}

impl Arguments {
    pub fn iter(self) -> impl Iterator<Item = Type> {
        self.first.iter().chain(self.then).copied()
    }
    pub fn is_empty(self) -> bool {
        self.first.is_empty() && self.then.is_empty()
    }
}

impl Type {
    pub fn arguments(self) -> Arguments {
        let covariant = |first, then| Arguments { first, then, variance: Variance::Covariant };
        let one = |t: &'static Type| covariant(std::slice::from_ref(t), &[]);
        match self.kind() {
            Kind::List(x) => Arguments { variance: Variance::Invariant, ..one(x) },
            // The types of fields as they are written, in which [`Kind::Outer`] may stand.
            Kind::Container(_, m) | Kind::Object(_, m) => {
                Arguments { variance: Variance::Invariant, ..covariant(m, &[]) }
            }
            Kind::Array(a) => Arguments { variance: Variance::Invariant, ..one(&a.dtype) },
            Kind::MaybeUndef(x)
            | Kind::Optional(x)
            | Kind::Method(_, x)
            | Kind::Super(_, x)
            | Kind::Generator(_, x) => one(x),
            Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Frozen(_, m) | Kind::Variant(m) => {
                covariant(m, &[])
            }
            Kind::Slice(m) => covariant(m, &[]),
            Kind::Function(f) => covariant(&f.defaults, &f.captures),
            Kind::Iter(i) => match i {
                IterType::Array(x)
                | IterType::List(x)
                | IterType::Container(x)
                | IterType::Tuple(x)
                | IterType::Enumerate(x)
                | IterType::Reversed(x)
                | IterType::NdEnumerate(x)
                | IterType::Flat(x) => one(x),
                IterType::Zip(m) => covariant(m, &[]),
                IterType::Range(_) | IterType::Str | IterType::Bytes | IterType::NdIndex(_) => {
                    covariant(&[], &[])
                }
            },
            Kind::Never
            | Kind::Undef
            | Kind::None
            | Kind::Ellipsis
            | Kind::Bool
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Complex(_)
            | Kind::Time(_)
            | Kind::Str
            | Kind::Member(_)
            | Kind::Bytes
            | Kind::Simd(..)
            | Kind::Record(_)
            | Kind::Var(_)
            | Kind::Outer(_)
            | Kind::Range(_)
            | Kind::Builtin(_)
            | Kind::Module(_)
            | Kind::DType(_)
            | Kind::NamedTupleClass(_)
            | Kind::ExcClass(_)
            | Kind::Class(_)
            | Kind::Exception
            | Kind::Random
            | Kind::Conflict(..) => covariant(&[], &[]),
        }
    }

    /// The same constructor with these arguments, of which there are as many.
    pub fn with_arguments(self, new: &[Type]) -> Type {
        match self.kind() {
            Kind::List(_) => Type::list(new[0]),
            Kind::Container(c, _) => Type::new(Kind::Container(*c, new.to_vec())),
            Kind::Object(c, _) => Type::new(Kind::Object(c, new.to_vec())),
            Kind::Array(a) => Type::new(Kind::Array(ArrayType { dtype: new[0], ..*a })),
            Kind::MaybeUndef(_) => Type::new(Kind::MaybeUndef(new[0])),
            Kind::Optional(_) => Type::optional(new[0]),
            Kind::Method(p, _) => Type::new(Kind::Method(*p, new[0])),
            Kind::Super(c, _) => Type::new(Kind::Super(c, new[0])),
            Kind::Generator(i, _) => Type::new(Kind::Generator(*i, new[0])),
            Kind::Tuple(_) => Type::tuple(new.to_vec()),
            Kind::NamedTuple(c, _) => Type::new(Kind::NamedTuple(c, new.to_vec())),
            Kind::Frozen(c, _) => Type::new(Kind::Frozen(c, new.to_vec())),
            // Their order says which is meant: it stays.
            Kind::Variant(_) => Type::new(Kind::Variant(new.to_vec())),
            Kind::Slice(_) => Type::new(Kind::Slice([new[0], new[1], new[2]])),
            Kind::Function(f) => {
                let (defaults, captures) = new.split_at(f.defaults.len());
                Type::new(Kind::Function(FuncType {
                    func: f.func,
                    defaults: defaults.to_vec(),
                    captures: captures.to_vec(),
                    kwdefaults: f.kwdefaults.clone(),
                    bound: f.bound,
                }))
            }
            Kind::Iter(i) => Type::iter(match i {
                IterType::Array(_) => IterType::Array(new[0]),
                IterType::List(_) => IterType::List(new[0]),
                IterType::Container(_) => IterType::Container(new[0]),
                IterType::Tuple(_) => IterType::Tuple(new[0]),
                IterType::Enumerate(_) => IterType::Enumerate(new[0]),
                IterType::Reversed(_) => IterType::Reversed(new[0]),
                IterType::NdEnumerate(_) => IterType::NdEnumerate(new[0]),
                IterType::Flat(_) => IterType::Flat(new[0]),
                IterType::Zip(_) => IterType::Zip(new.to_vec()),
                IterType::Range(_) | IterType::Str | IterType::Bytes | IterType::NdIndex(_) => return self,
            }),
            Kind::Never
            | Kind::Undef
            | Kind::None
            | Kind::Ellipsis
            | Kind::Bool
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Complex(_)
            | Kind::Time(_)
            | Kind::Str
            | Kind::Member(_)
            | Kind::Bytes
            | Kind::Simd(..)
            | Kind::Record(_)
            | Kind::Var(_)
            | Kind::Outer(_)
            | Kind::Range(_)
            | Kind::Builtin(_)
            | Kind::Module(_)
            | Kind::DType(_)
            | Kind::NamedTupleClass(_)
            | Kind::ExcClass(_)
            | Kind::Class(_)
            | Kind::Exception
            | Kind::Random
            | Kind::Conflict(..) => self,
        }
    }

    /// The same constructor with each argument replaced.
    pub fn map_arguments(self, f: &mut dyn FnMut(Type) -> Type) -> Type {
        let old = self.arguments();
        if old.is_empty() {
            return self;
        }
        let mut changed = false;
        let new: Vec<Type> = old
            .iter()
            .map(|t| {
                let n = f(t);
                changed |= n != t;
                n
            })
            .collect();
        if changed { self.with_arguments(&new) } else { self }
    }

    /// Whether there are more than `levels` types one inside the other, or more than `parts` in all.
    pub fn is_larger_than(self, levels: usize, parts: usize) -> bool {
        fn fits(t: Type, levels: usize, parts: &mut usize) -> bool {
            t.arguments().iter().all(|c| {
                *parts = parts.saturating_sub(1);
                levels > 0 && *parts > 0 && fits(c, levels - 1, parts)
            })
        }
        !fits(self, levels, &mut { parts })
    }

    /// Whether values of the type are containers that may change, or hold some.
    pub fn holds_list(self) -> bool {
        matches!(*self, Kind::List(_) | Kind::Container(..) | Kind::Object(..))
            || self.arguments().iter().any(Type::holds_list)
    }

    /// Whether values of the type are, or hold, what may change and is copied for compiled code.
    pub fn is_copied_in(self) -> bool {
        matches!(*self, Kind::List(_)) || self.any_part(Type::is_copied_in)
    }

    /// The same, lists set aside; what they hold counts.
    pub fn is_copied_in_but_for_lists(self) -> bool {
        self.any_part(Type::is_copied_in_but_for_lists)
    }

    /// Whether this is copied, or a part for which that is said.
    fn any_part(self, is_copied: impl Fn(Type) -> bool) -> bool {
        if let Kind::Object(c, _) = self.kind() {
            return !c.is_native();
        }
        let fixed = matches!(*self, Kind::Container(Container::Tuple | Container::FrozenSet, _));
        if matches!(*self, Kind::Container(..)) && !fixed {
            return true;
        }
        let alternatives = if let Kind::Variant(m) = self.kind() { &m[..] } else { &[] };
        self.arguments().iter().chain(alternatives.iter().copied()).any(is_copied)
    }

    /// Whether values of the type are, or lead to, objects in native memory that refer to others.
    pub fn keeps_references(self) -> bool {
        let native =
            matches!(self.kind(), Kind::Object(c, m) if c.is_native() && m.iter().any(|t| t.is_counted()));
        native || self.arguments().iter().any(Type::keeps_references)
    }

    /// The type with NumPy's numbers in place of Python's, on every level. Two types that agree in this lie in
    /// memory alike: `[0.5]` and `[v for v in a]`.
    pub fn strong_throughout(self) -> Type {
        self.map_arguments(&mut Type::strong_throughout).strong()
    }

    /// How many members a composite value has.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only what has members is listed")]
    pub(crate) fn member_count(self) -> usize {
        match self.kind() {
            Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Frozen(_, m) => m.len(),
            Kind::Slice(_) => 3,
            Kind::Method(..) | Kind::Super(..) => 1,
            Kind::Function(f) => f.defaults.len() + f.captures.len(),
            _ => 0,
        }
    }

    /// The type of member `k` of a composite value.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only what has members is listed")]
    pub(crate) fn member(self, k: u32) -> Option<Type> {
        let k = k as usize;
        match self.kind() {
            Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Frozen(_, m) => m.get(k).copied(),
            Kind::Slice(m) => m.get(k).copied(),
            Kind::Method(_, t) | Kind::Super(_, t) => (k == 0).then_some(*t),
            Kind::Function(f) => f.defaults.iter().chain(&f.captures).nth(k).copied(),
            Kind::Variant(m) => m.get(k).copied(),
            _ => None,
        }
    }
}

/// A type of the constructor that holds values of both, whatever their arguments: one of the two, with a
/// looser step, layout or access where they differ in these. None where the constructors are different ones,
/// or have different numbers of arguments.
pub fn common_constructor(a: Type, b: Type) -> Option<Type> {
    let same = match (a.kind(), b.kind()) {
        (Kind::List(_), Kind::List(_))
        | (Kind::MaybeUndef(_), Kind::MaybeUndef(_))
        | (Kind::Optional(_), Kind::Optional(_))
        | (Kind::Slice(_), Kind::Slice(_)) => true,
        (Kind::Container(c, _), Kind::Container(d, _)) => c == d,
        (Kind::Tuple(x), Kind::Tuple(y)) => x.len() == y.len(),
        (Kind::NamedTuple(c, x), Kind::NamedTuple(d, y))
        | (Kind::Frozen(c, x), Kind::Frozen(d, y))
        | (Kind::Object(c, x), Kind::Object(d, y)) => c == d && x.len() == y.len(),
        (Kind::Method(p, _), Kind::Method(q, _)) => p == q,
        (Kind::Super(c, _), Kind::Super(d, _)) => c == d,
        // The same generator function for the same arguments: more of what it yields is known by now.
        (Kind::Generator(i, _), Kind::Generator(j, _)) => i == j,
        (Kind::Function(x), Kind::Function(y)) => {
            x.func == y.func
                && x.bound == y.bound
                && x.kwdefaults == y.kwdefaults
                && x.defaults.len() == y.defaults.len()
                && x.captures.len() == y.captures.len()
        }
        (Kind::Array(x), Kind::Array(y)) if x.dtype == y.dtype && x.ndim == y.ndim => {
            let layout = if x.layout == y.layout { x.layout } else { Layout::A };
            return Some(Type::new(Kind::Array(ArrayType { layout, access: x.access.join(y.access), ..*x })));
        }
        (Kind::Range(_), Kind::Range(_)) if a != b => return Some(Type::new(Kind::Range(None))),
        (Kind::Iter(x), Kind::Iter(y)) => match (x, y) {
            (IterType::Range(_), IterType::Range(_)) if x != y => {
                return Some(Type::iter(IterType::Range(None)));
            }
            (IterType::NdIndex(m), IterType::NdIndex(n)) => m == n,
            (IterType::Zip(m), IterType::Zip(n)) => m.len() == n.len(),
            _ => std::mem::discriminant(x) == std::mem::discriminant(y),
        },
        _ => a == b,
    };
    same.then_some(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Container;

    fn samples() -> Vec<Type> {
        let matrix = Type::array(Type::f64(), 2, Layout::F);
        let list = Type::list(Type::int());
        let pair = vec![Type::int(), list];
        let method = Kind::Method(crate::ops::id::BUILTINS_LEN, matrix);
        let function = FuncType {
            func: crate::handle::FuncId(7),
            defaults: pair.clone(),
            captures: vec![Type::str()],
            kwdefaults: vec!["k".into()],
            bound: false,
        };
        let mut all: Vec<Type> = [
            Kind::Never,
            Kind::Str,
            Kind::Bytes,
            Kind::Var(3),
            Kind::List(Type::new(Kind::Var(3))),
            Kind::Container(Container::Dict, pair.clone()),
            Kind::Container(Container::Items, pair.clone()),
            Kind::MaybeUndef(list),
            Kind::Optional(matrix),
            Kind::Tuple(vec![]),
            Kind::Tuple(pair.clone()),
            Kind::Slice([Type::int(), Type::none(), Type::none()]),
            Kind::Range(Some(2)),
            Kind::Function(function),
            method,
            Kind::Variant(pair.clone()),
            Kind::DType(Type::f64()),
            Kind::Generator(4, list),
            Kind::Conflict(Type::int(), list),
        ]
        .map(Type::new)
        .to_vec();
        all.extend([
            matrix,
            Type::iter(IterType::Array(matrix)),
            Type::iter(IterType::List(list)),
            Type::iter(IterType::Container(Type::dict(Type::int(), list))),
            Type::iter(IterType::Tuple(Type::tuple(pair))),
            Type::iter(IterType::Enumerate(Type::iter(IterType::Str))),
            Type::iter(IterType::Bytes),
            Type::iter(IterType::Zip(vec![Type::iter(IterType::Range(Some(1))); 2])),
            Type::iter(IterType::Reversed(list)),
            Type::iter(IterType::NdIndex(2)),
            Type::iter(IterType::NdEnumerate(matrix)),
            Type::iter(IterType::Flat(matrix)),
        ]);
        all
    }

    #[test]
    fn a_type_is_its_constructor_with_its_arguments() {
        for t in samples() {
            let args: Vec<Type> = t.arguments().iter().collect();
            assert_eq!(t.with_arguments(&args), t);
            assert_eq!(t.arguments().is_empty(), args.is_empty(), "{t}");
            assert_eq!(t.map_arguments(&mut |x| x), t);
        }
    }

    #[test]
    fn every_argument_is_replaced() {
        for t in samples() {
            let n = t.arguments().iter().count();
            let new: Vec<Type> = (0..n).map(|k| Type::new(Kind::Var(100 + k as u32))).collect();
            assert_eq!(t.with_arguments(&new).arguments().iter().collect::<Vec<_>>(), new, "{t}");
        }
    }

    #[test]
    fn a_constructor_is_its_own_and_nobody_elses() {
        let all = samples();
        for a in &all {
            for b in &all {
                let kind_of = |t: &Type| {
                    if let Kind::Iter(i) = t.kind() {
                        (std::mem::discriminant(t.kind()), Some(std::mem::discriminant(i)))
                    } else {
                        (std::mem::discriminant(t.kind()), None)
                    }
                };
                if let Some(c) = common_constructor(*a, *b) {
                    assert_eq!(kind_of(a), kind_of(b), "{a} and {b}");
                    assert_eq!(c.arguments().iter().count(), a.arguments().iter().count());
                }
            }
            // Alternatives are joined by rules of their own.
            assert_eq!(common_constructor(*a, *a), Some(*a));
        }
    }

    #[test]
    fn sizes_count_arguments_on_every_level() {
        let nested = (0..5).fold(Type::int(), |t, _| Type::list(t));
        assert!(!nested.is_larger_than(5, 100));
        assert!(nested.is_larger_than(4, 100));
        let wide = Type::tuple(vec![Type::int(); 9]);
        assert!(!wide.is_larger_than(1, 10));
        assert!(wide.is_larger_than(1, 9));
    }
}
