//! Which values are found by hash.

use crate::desc;
use crate::diag::{Code, Diagnostic, Result};
use crate::types::{Kind, Type};
use crate::typing::{Held, TyCx};

/// Whether values can be keys, as far as their type is known.
pub(in crate::ops) fn check_hashable(cx: &TyCx<'_, '_>, t: Type, as_what: Held) -> Result<()> {
    let t = cx.vars.resolve(t);
    if *t == Kind::Never || desc::compared_parts(t).is_some() {
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
    if let Some((c, _)) = t.container() {
        return Some(c.full_name().into());
    }
    if matches!(*t, Kind::Slice(_)) {
        return (!crate::python::since(12)).then(|| "slice".into());
    }
    if let Some(t) = t.as_optional() {
        return unhashable(t);
    }
    t.members()?.iter().find_map(|t| unhashable(*t))
}

/// Whether a value of type `key` may be equal to a key of type `held`.
pub(in crate::ops) fn may_be_key(key: Type, held: Type) -> bool {
    if let (Kind::Frozen(c, x), Kind::Frozen(d, y)) = (key.kind(), held.kind()) {
        return c == d && x.iter().zip(y).all(|(x, y)| may_be_key(*x, *y));
    }
    match (key.members(), held.members()) {
        (Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| may_be_key(*x, *y)),
        (None, None) => key.is_number() && held.is_number() || key == held,
        _ => false,
    }
}
