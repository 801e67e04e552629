//! Which values are found by hash.

use crate::desc;
use crate::diag::{Code, Diagnostic, Result};
use crate::types::{Container, Kind, Type, promote};
use crate::typing::{Held, TyCx};

/// Whether values can be keys, as far as their type is known.
pub(in crate::ops) fn check_hashable(cx: &TyCx<'_, '_>, t: Type, as_what: Held) -> Result<()> {
    let t = cx.vars.resolve(t);
    if let Some((a, b)) = may_be_one(t) {
        let container = if as_what == Held::Member { "elements of a set" } else { "keys of a dict" };
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("{container} that are {a} and {b} are not compiled: such values may be equal"),
        ));
    }
    if *t == Kind::Never || desc::is_found(t) {
        return Ok(());
    }
    Err(match unhashable(t) {
        Some(class) => is_unhashable(&class),
        None => {
            let container = if as_what == Held::Member { "a set of" } else { "a dict with keys of type" };
            Diagnostic::new(Code::NoMatchingOperation, format!("{container} {t} is not compiled"))
                .help("what is found by hash are numbers, strings, and tuples of them")
        }
    })
}

/// Two of the types that a key may be of, values of which may be equal, where neither is a number: tables know that of
/// numbers alone.
fn may_be_one(t: Type) -> Option<(Type, Type)> {
    if let Kind::Variant(all) = t.kind() {
        for (k, a) in all.iter().enumerate() {
            let equal =
                |b: &&Type| !(a.is_number() && b.is_number()) && (may_be_key(*a, **b) || may_be_key(**b, *a));
            if let Some(b) = all[k + 1..].iter().find(equal) {
                return Some((*a, *b));
            }
        }
    }
    t.arguments().iter().find_map(may_be_one)
}

/// Whether it is an object whose class says itself when two are equal, or a tuple with one among what else can
/// be a key: see [`crate::ops::own_keys`].
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else holds one")]
pub fn is_own_key(t: Type) -> bool {
    match t.kind() {
        Kind::Object(c, _) => !c.objects_are_themselves(),
        Kind::Frozen(c, _) => {
            let generated = c.generated();
            !c.is_builtin_value() && !(generated.equality && generated.hash)
        }
        Kind::Tuple(members) => {
            members.iter().any(|t| is_own_key(*t))
                && members.iter().all(|t| is_own_key(*t) || desc::is_found(*t))
        }
        _ => false,
    }
}

/// A type of keys with methods of their own, in tables that a value leads to, whose hash may depend on where an
/// object is: they lead to objects that are found by what they are. Such a hash is another one for a copy, and
/// for Python.
pub fn hashed_by_place(t: Type) -> Option<Type> {
    let mut found = None;
    leads_to(t, &mut vec![], &mut |t| {
        // A bytearray is a container of no types.
        let key = t.container().and_then(|(_, m)| m.first().copied()).filter(|key| is_own_key(*key));
        found = found.or(key.filter(|key| is_found_by_place(*key)));
        found.is_some()
    });
    found
}

/// Whether a value leads to objects that are equal to nothing but themselves.
pub(in crate::ops) fn is_found_by_place(t: Type) -> bool {
    leads_to(t, &mut vec![], &mut |t| matches!(t.kind(), Kind::Object(c, _) if c.objects_are_themselves()))
}

/// Whether one of the types that a value leads to, its own included, is one that is looked for.
fn leads_to(t: Type, seen: &mut Vec<Type>, is: &mut dyn FnMut(Type) -> bool) -> bool {
    if seen.contains(&t) {
        return false;
    }
    seen.push(t);
    let parts = match crate::types::object::fields(t) {
        Some(fields) => fields.to_vec(),
        None => t.arguments().iter().collect(),
    };
    is(t) || parts.into_iter().any(|t| leads_to(t, seen, is))
}

/// What is said where a table of such keys would have to become one of another type.
pub(in crate::ops) fn own_keys_converted(from: Type, to: Type) -> Diagnostic {
    Diagnostic::new(
        Code::NoMatchingOperation,
        format!("a value of type {from} does not become one of type {to}: its keys have __eq__ of their own"),
    )
    .help("go through it, and put the keys one by one into a new one")
}

/// What is said of what Python cannot hash.
pub(super) fn is_unhashable(class: &str) -> Diagnostic {
    Diagnostic::new(Code::NoMatchingOperation, format!("unhashable type: '{class}'"))
        .help("a tuple can be a key: tuple(x)")
}

/// The class of what Python cannot hash in a value.
pub(super) fn unhashable(t: Type) -> Option<String> {
    if matches!(*t, Kind::List(_) | Kind::Array(_)) {
        return Some(crate::classes::class_of(t).name.clone());
    }
    if let Kind::Container(Container::Tuple, m) = t.kind() {
        return unhashable(m[0]);
    }
    if let Some((c, _)) = t.container() {
        return Some(c.full_name().into());
    }
    if matches!(t.kind(), Kind::NamedTuple(c, _) if c.is_keywords()) {
        return Some("dict".into());
    }
    if matches!(*t, Kind::Slice(_)) {
        return (!crate::python::since(12)).then(|| "slice".into());
    }
    if let Some(t) = t.as_optional() {
        return unhashable(t);
    }
    if let Kind::Variant(all) = t.kind() {
        return all.iter().find_map(|t| unhashable(*t));
    }
    t.members()?.iter().find_map(|t| unhashable(*t))
}

/// The types that a value of several may be of, None among them; any other type itself.
fn each(t: Type) -> Vec<Type> {
    let (mut all, mut none) = (vec![], false);
    promote::flatten(t, &mut all, &mut none);
    all.extend(none.then(Type::none));
    all
}

/// Whether each of the types that a value may be of is one that a key may be of.
pub(super) fn is_among(key: Type, held: Type) -> bool {
    let all = each(held);
    each(key).iter().all(|t| all.iter().any(|h| promote::same_but_weak(*t, *h)))
}

/// Which of the types that a key is of a value of this type is looked for among: of several numbers the one that holds
/// most.
pub(super) fn sought_among(key: Type, all: &[Type]) -> Option<usize> {
    let exact = all.iter().position(|t| promote::same_but_weak(key, *t));
    let rank = |t: Type| (t.is_complex(), t.is_float(), t.is_int());
    let may_be = |k: &usize| may_be_key(key, all[*k]);
    exact.or_else(|| (0..all.len()).filter(may_be).max_by_key(|k| rank(all[*k])))
}

/// Whether a value of type `key` may be equal to a key of type `held`.
pub(in crate::ops) fn may_be_key(key: Type, held: Type) -> bool {
    if let Kind::Variant(all) = key.kind() {
        return all.iter().any(|t| may_be_key(*t, held));
    }
    if let Kind::Variant(_) | Kind::Optional(_) = held.kind() {
        if let Kind::Optional(_) = key.kind() {
            return is_among(key, held);
        }
        // A tuple of any length does not become one of a certain length here.
        let of_any_length = matches!(key.kind(), Kind::Container(Container::Tuple, _));
        let fits = |h: &Type| may_be_key(key, *h) && !(of_any_length && matches!(h.kind(), Kind::Tuple(_)));
        return each(held).iter().any(fits);
    }
    if let (Kind::Frozen(c, x), Kind::Frozen(d, y)) = (key.kind(), held.kind()) {
        return c == d && x.iter().zip(y).all(|(x, y)| may_be_key(*x, *y));
    }
    if super::super::list::one_class(key, held) {
        return true;
    }
    if let (Kind::Tuple(members), Kind::Container(Container::Tuple, of))
    | (Kind::Container(Container::Tuple, of), Kind::Tuple(members)) = (key.kind(), held.kind())
    {
        return members.iter().all(|t| promote::same_but_weak(*t, of[0]));
    }
    match (key.members(), held.members()) {
        (Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| may_be_key(*x, *y)),
        (None, None) => {
            let (key, held) = (key.beneath_member(), held.beneath_member());
            key.is_number() && held.is_number() || key == held
        }
        _ => false,
    }
}
