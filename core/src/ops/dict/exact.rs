//! Keys that become numbers of the type that a dict's keys, or the elements of a set, have.

use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, split_leaves};
use crate::exc::Class;
use crate::lir::Value;
use crate::types::{Type, promote};
use crate::typing::Held;

/// Raises OverflowError where an integer that became a key of the dict's type is not that number: two keys
/// would be one.
pub(in crate::ops) fn check_exact(
    cx: &mut LowerCx<'_>,
    as_what: Held,
    (key, kt): (&[Value], Type),
    (held, t): (&[Value], Type),
) -> Result<()> {
    if let (Some(from), Some(to)) = (kt.members(), t.members()) {
        for (k, (a, b)) in split_leaves(key, from).iter().zip(split_leaves(held, to)).enumerate() {
            check_exact(cx, as_what, (a, from[k]), (&b, to[k]))?;
        }
        return Ok(());
    }
    if kt.is_int() && t.is_number() && !promote::same_but_weak(kt, t) {
        // As Python compares its own numbers, which rounds none.
        let (plain, plain_held) = (promote::python_number(kt), promote::python_number(t));
        let (key, held) = (cast::cast(cx, key, kt, plain)?, cast::cast(cx, held, t, plain_held)?);
        let same = crate::ops::compare::equal(cx, &key, plain, &held, plain_held)?;
        if kt == Type::int() && t.is_int() {
            let why = format!("Python integer {{}} out of bounds for {t}");
            cx.check_format(same, Class::OverflowError, &why, &key);
            return Ok(());
        }
        let why = if as_what == Held::Member {
            format!("this value is no {t}, as the elements of this set are")
        } else {
            format!("this key is no {t}, as the keys of this dict are")
        };
        cx.check(same, Class::OverflowError, &why);
    }
    Ok(())
}
