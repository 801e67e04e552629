//! Values of one of several types ([`Kind::Variant`]): which one it is, iteration over generators of several
//! kinds. And what an optional value needs where None has nothing: attributes and calls.

use super::{Body, OpDef};
use crate::diag::Code;
use crate::emit::cast;
use crate::exc::Class;
use crate::lir::Op;
#[cfg(doc)]
use crate::types::promote;
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, no_match};

super::identity::op_ids! {
    ATTRIBUTE_OWNER = "attribute.owner",
    VALUE_PRESENT = "value.present",
    VARIANT_IS = "variant.is",
    VALUE_IMPOSSIBLE = "value.impossible",
    VALUE_JOINED = "value.joined",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["attribute.owner"],
        "x, message",
        Body::Lir(
            |_, a| a[0].ty.as_optional().map(Answer::of).ok_or_else(|| no_match("an attribute", a)),
            |cx, c| {
                let message = c.consts[1].as_ref().and_then(Const::as_str).unwrap_or("?").to_owned();
                cx.check(c.args[0][0], Class::AttributeError, &message);
                Ok(c.args[0][1..].to_vec())
            },
        ),
    )
    .raises()
    .aliases()
    .doc("An optional value whose attribute is taken; AttributeError for None."),
    OpDef::new(
        &["value.present"],
        "x, message",
        Body::Lir(
            |_, a| a[0].ty.as_optional().map(Answer::of).ok_or_else(|| no_match("a value", a)),
            |cx, c| {
                let message = c.consts[1].as_ref().and_then(Const::as_str).unwrap_or("None").to_owned();
                cx.check(c.args[0][0], Class::TypeError, &message);
                Ok(c.args[0][1..].to_vec())
            },
        ),
    )
    .raises()
    .aliases()
    .doc("An optional value where None cannot stand; TypeError for None."),
    OpDef::new(
        &["variant.is"],
        "x, which",
        Body::Lir(
            |_, a| {
                if let Kind::Variant(_) | Kind::Optional(_) = *a[0].ty {
                    Ok(Answer::of(Type::bool()))
                } else {
                    Err(no_match("a variant", a))
                }
            },
            |cx, c| {
                if let Kind::Optional(_) = *c.types[0] {
                    return Ok(vec![cx.not(c.args[0][0])]);
                }
                let which = c.consts[1].as_ref().and_then(Const::as_int).unwrap_or(-1);
                Ok(vec![cx.b.bin_imm(Op::IcmpEq, c.args[0][0], which)])
            },
        ),
    )
    .doc("Whether the value is of the type with that number; of an optional value whether it is None."),
    OpDef::new(
        &["value.impossible"],
        "which, message",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::never())),
            |cx, c| {
                let class = match c.consts[0].as_ref().and_then(Const::as_int) {
                    Some(ATTRIBUTE) => Class::AttributeError,
                    Some(LENGTH) => Class::ValueError,
                    Some(_) | None => Class::TypeError,
                };
                let message = c.consts[1].as_ref().and_then(Const::as_str).unwrap_or("?").to_owned();
                cx.raise_and_continue(class, &message);
                Ok(vec![])
            },
        ),
    )
    .raises()
    .writes()
    .doc("What cannot be done with a value of this type: TypeError, AttributeError or ValueError."),
    OpDef::new(
        &["value.joined"],
        "x",
        Body::Lir(
            |_, a| Err(no_match("a value of another type", a)),
            |cx, c| cast::joined(cx, &c.args[0], c.types[0], c.ret, false),
        ),
    )
    .raises()
    .aliases()
    .doc("A value as one of the type of those that it meets; OverflowError for an integer that is none."),
];

/// The row that converts a value which meets others ([`promote::may_not_fit`]).
pub(crate) fn joined() -> &'static OpDef {
    ids::VALUE_JOINED.rows()[0]
}
const ATTRIBUTE: i64 = 1;
const LENGTH: i64 = 2;

/// What is raised where something cannot be done for such a reason, as `value.impossible` takes it.
#[expect(clippy::wildcard_enum_match_arm, reason = "of any other kind Python says that types do not fit")]
pub(crate) fn raised(why: Code) -> i64 {
    match why {
        Code::UnknownAttribute => ATTRIBUTE,
        Code::BadCall => LENGTH,
        _ => 0,
    }
}

/// The row that raises where nothing can be done.
pub(crate) fn impossible() -> &'static OpDef {
    ids::VALUE_IMPOSSIBLE.rows()[0]
}
/// What Python says of None whose attribute `name` is taken, or is `changed`: assigned to or deleted.
pub(crate) fn none_has_no(name: &str, changed: bool) -> String {
    let why =
        if changed && crate::python::since(13) { " and no __dict__ for setting new attributes" } else { "" };
    format!("'NoneType' object has no attribute '{name}'{why}")
}
/// The row that takes an optional value for its attribute.
pub(crate) fn owner() -> &'static OpDef {
    ids::ATTRIBUTE_OWNER.rows()[0]
}
/// The row that takes an optional value where None cannot stand.
pub(crate) fn present() -> &'static OpDef {
    ids::VALUE_PRESENT.rows()[0]
}
/// The row that asks for a type.
pub(crate) fn is() -> &'static OpDef {
    ids::VARIANT_IS.rows()[0]
}
