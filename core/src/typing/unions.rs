//! Values of several types in one place: a result that is a number or a text, a list of both. Such values are of one
//! of several types ([`Kind::Variant`]), each of which stays what it is. A function is typed with them where it has no
//! types without ([`Vars::unions`]): only then do operations ask at run-time which it is.
//!
//! Numbers that meet are one type, as long as nothing but numbers meets. Where a text is among them, they are told
//! apart as well: Python shows 1 and not 1.0 of `[1, 2.5, "x"]`. So what is known of numbers is kept in both ways
//! until something else comes.

use super::vars::Vars;
use crate::types::constructor::Variance;
use crate::types::{Kind, Type, promote};

/// More alternatives than this are nothing that a program tells apart.
const MOST: usize = 12;
/// Types that grow further than this do not settle.
const DEEPEST: usize = 12;
const LARGEST: usize = 200;

impl Vars {
    /// The type of a place that holds values of both types: one of several, where they or others there are of
    /// several.
    pub(crate) fn unify_sorts(&mut self, a: Type, b: Type) -> Option<Type> {
        let one = self.unify(a, b);
        if !self.unions || one.is_some_and(|t| !is_mixed(t)) && !is_mixed(a) && !is_mixed(b) {
            return one;
        }
        self.unify_apart(a, b)
    }

    /// The one type that holds values of both, where code that is made of the types alone asks as well.
    pub(crate) fn unify_plainly(&mut self, a: Type, b: Type) -> Option<Type> {
        let unions = std::mem::replace(&mut self.unions, false);
        let one = self.unify(a, b);
        self.unions = unions;
        one
    }

    /// The same with numbers of several kinds told apart.
    pub(crate) fn unify_apart(&mut self, a: Type, b: Type) -> Option<Type> {
        self.attempt(|vars| vars.join_apart(a, b).ok_or(())).ok()
    }

    /// The type of values of all of these with numbers of several kinds told apart.
    pub(crate) fn all_apart(&mut self, types: &[Type]) -> Option<Type> {
        types.iter().try_fold(Type::never(), |a, b| self.unify_apart(a, *b))
    }

    pub(super) fn join_apart(&mut self, a: Type, b: Type) -> Option<Type> {
        let before = std::mem::replace(&mut self.numbers_apart, true);
        let one = self.join(a, b);
        self.numbers_apart = before;
        one
    }

    /// Whether two types meet as alternatives, before it is asked whether one type holds both.
    pub(super) fn are_apart(&self, a: Type, b: Type) -> bool {
        if !self.unions || a == b {
            return false;
        }
        let variant = |t: Type| matches!(*t, Kind::Variant(_)) && is_mixed(t);
        let kinds = self.numbers_apart && a.is_number() && b.is_number() && sort(a) != sort(b);
        kinds || variant(a) && is_value(b) || variant(b) && is_value(a)
    }

    /// One of several types.
    pub(super) fn union(&mut self, a: Type, b: Type) -> Option<Type> {
        let (mut parts, mut none) = (vec![], false);
        promote::flatten(a, &mut parts, &mut none);
        promote::flatten(b, &mut parts, &mut none);
        if parts.iter().any(|t| is_only_gone_through(*t)) && !parts.iter().all(|t| is_iterable(*t)) {
            return None;
        }
        let mut all: Vec<(Sort, Type)> = vec![];
        for t in parts {
            if !is_value(t) {
                return None;
            }
            let sort = sort(t);
            match all.iter().position(|(s, _)| *s == sort) {
                Some(k) if all[k].1 == t => {}
                Some(k) => {
                    let one = promote::unify_with(all[k].1, t, &mut |variance, x, y| match variance {
                        Variance::Covariant => self.join_apart(x, y),
                        Variance::Invariant => self.equate(x, y),
                    })?;
                    all[k].1 = one;
                }
                None => all.push((sort, t)),
            }
        }
        if all.len() > MOST {
            return None;
        }
        all.sort_by(|x, y| x.0.cmp(&y.0));
        let all: Vec<Type> = all.into_iter().map(|(_, t)| t).collect();
        let one = if let [t] = all.as_slice() { *t } else { Type::new(Kind::Variant(all)) };
        let one = if none { Type::optional(one) } else { one };
        (!one.is_larger_than(DEEPEST, LARGEST)).then_some(one)
    }
}

/// The type of the elements of a list that Python made of values of these types; none where some are not plain values,
/// of which compiled code has copies.
pub fn type_of_mixed(types: &[Type]) -> Option<Type> {
    if !types.iter().all(|t| is_plain(*t)) {
        return None;
    }
    let mut vars = Vars::default();
    vars.unions = true;
    vars.all_apart(types)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other value may be changed, or is one of a class")]
fn is_plain(t: Type) -> bool {
    match t.kind() {
        Kind::None | Kind::Bool | Kind::Str | Kind::Bytes => true,
        Kind::Optional(t) => is_plain(*t),
        Kind::Tuple(m) | Kind::Variant(m) => m.iter().all(|t| is_plain(*t)),
        _ => t.is_weak(),
    }
}

/// What alternatives are told apart by, in the order in which they stand: the text of a type but for what becomes known
/// of it later.
type Sort = (&'static str, usize, String);

#[expect(clippy::wildcard_enum_match_arm, reason = "any other type is its own sort")]
fn sort(t: Type) -> Sort {
    match t.kind() {
        Kind::Bool => ("bool", 0, String::new()),
        Kind::Int(_) => ("int", 0, String::new()),
        Kind::Float(_) => ("float", 0, String::new()),
        Kind::Complex(_) => ("complex", 0, String::new()),
        Kind::Str => ("str", 0, String::new()),
        Kind::Bytes => ("bytes", 0, String::new()),
        Kind::List(_) => ("list", 0, String::new()),
        Kind::Range(_) => ("range", 0, String::new()),
        Kind::Generator(n, _) => ("generator", *n as usize, String::new()),
        Kind::Tuple(m) => ("tuple", m.len(), String::new()),
        Kind::Container(c, _) => ("container", 0, format!("{c:?}")),
        Kind::Array(a) => ("array", a.ndim as usize, a.dtype.to_string()),
        Kind::NamedTuple(c, _) | Kind::Frozen(c, _) | Kind::Object(c, _) => ("class", 0, c.name.clone()),
        _ => ("other", 0, t.to_string()),
    }
}

/// Whether values of a type stand beside those of other types: what they are is known of each.
#[expect(clippy::wildcard_enum_match_arm, reason = "functions, iterators and the like meet among themselves")]
fn is_value(t: Type) -> bool {
    match t.kind() {
        Kind::None
        | Kind::Bool
        | Kind::Int(_)
        | Kind::Float(_)
        | Kind::Complex(_)
        | Kind::Str
        | Kind::Bytes
        | Kind::List(_)
        | Kind::Array(_)
        | Kind::Range(_)
        | Kind::Generator(..)
        | Kind::Container(..)
        | Kind::NamedTuple(..)
        | Kind::Frozen(..)
        | Kind::Object(..)
        | Kind::Member(_) => true,
        Kind::Optional(t) => is_value(*t),
        Kind::Tuple(m) | Kind::Variant(m) => m.iter().all(|t| is_value(*t)),
        _ => false,
    }
}

/// Whether a value is there for a loop: it stands beside other iterables, `f() if c else ()`, and nothing else.
fn is_only_gone_through(t: Type) -> bool {
    matches!(t.kind(), Kind::Range(_) | Kind::Generator(..))
        || t.container().is_some_and(|(c, _)| c.is_view())
}

fn is_iterable(t: Type) -> bool {
    matches!(t.kind(), Kind::List(_) | Kind::Tuple(_) | Kind::Str | Kind::Container(..))
        || is_only_gone_through(t)
}

/// Whether a value is of one of several types, or a part of it is, that are not all classes of the user's.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else has parts that are copied with it")]
pub(crate) fn is_mixed(t: Type) -> bool {
    match t.kind() {
        Kind::Variant(m) => {
            let of_class = |t: &Type| {
                matches!(
                    **t,
                    Kind::NamedTuple(..)
                        | Kind::Frozen(..)
                        | Kind::Object(..)
                        | Kind::Member(_)
                        | Kind::Generator(..)
                )
            };
            m.iter().all(|t| is_value(*t)) && !m.iter().all(of_class)
        }
        Kind::Optional(t) | Kind::MaybeUndef(t) => is_mixed(*t),
        Kind::Tuple(m) => m.iter().any(|t| is_mixed(*t)),
        _ => false,
    }
}
