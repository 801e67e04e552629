//! Which values have an order. Elements that have none are an error only where they decide.
//!
//! It is said here once, for lowering (tuples) and for library Python (lists, and tuples of what lowering does
//! not compare).

use super::{Body, OpDef};
use crate::classes;
use crate::diag::{Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::Value;
use crate::types::{Const, Container, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    ORDERS = "operator._orders",
}

pub(crate) static OPS: &[OpDef] =
    &[OpDef::new(&["operator._orders"], "sign, a, b", Body::Lir(orders_rule, emit_orders))
        .raises()
        .internal()
        .doc("True where elements have an order; TypeError where they have none.")];

/// What compares with what, among values that do; none for those of which the operations themselves say it.
#[expect(clippy::wildcard_enum_match_arm, reason = "of any other the order is asked where it is compared")]
fn family(t: Type) -> Option<u8> {
    let t = t.beneath_member();
    Some(match t.kind() {
        Kind::None => 0,
        Kind::Str => 1,
        Kind::Tuple(_) | Kind::NamedTuple(..) | Kind::Container(Container::Tuple, _) => 2,
        Kind::List(_) => 3,
        Kind::Slice(_) => 4,
        Kind::Bytes => 5,
        Kind::Range(_) => 6,
        Kind::Generator(..) => 7,
        Kind::Function(_) => 8,
        _ if t.is_number() => 9,
        _ => return None,
    })
}

/// Whether values of two types, neither of them optional, have an order.
pub(crate) fn has_order(a: Type, b: Type) -> bool {
    let (a, b) = (a.beneath_member(), b.beneath_member());
    let (Some(x), Some(y)) = (family(a), family(b)) else { return true };
    if a.is_number() && b.is_number() {
        // NumPy orders its complex scalars, Python has no order for its own.
        let complex = |weak: bool| [a, b].iter().any(|t| t.is_complex() && t.is_weak() == weak);
        return !complex(true) || complex(false);
    }
    x == y && (1..=5).contains(&x)
}

/// The types that a value may have, None by itself.
fn alternatives(t: Type) -> Vec<Type> {
    if let Kind::Optional(x) = *t { vec![Type::none(), x] } else { vec![t] }
}

/// Its class as messages of Python call it.
pub(crate) fn class_name(t: Type) -> String {
    let name = &classes::class_of(t).name;
    if t.is_number() && !t.is_weak() && *t != Kind::Bool { format!("numpy.{name}") } else { name.clone() }
}

fn orders_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (a, b) = (cx.vars.resolve(args[1].ty), cx.vars.resolve(args[2].ty));
    if crate::types::promote::is_variant(a) || crate::types::promote::is_variant(b) {
        return Err(no_match("a comparison", args));
    }
    let all: Vec<bool> =
        alternatives(a).iter().flat_map(|x| alternatives(b).into_iter().map(|y| has_order(*x, y))).collect();
    Ok(if all.iter().all(|o| *o) {
        Answer::constant(Const::Bool(true))
    } else if all.iter().any(|o| *o) {
        Answer::of(Type::bool())
    } else {
        Answer::of(Type::never())
    })
}

fn emit_orders(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let sign = c.consts[0].as_ref().and_then(Const::as_str);
    let sign = sign.ok_or_else(|| Diagnostic::internal("a comparison without a sign"))?.to_owned();
    require_order(cx, (&c.args[1], c.types[1]), (&c.args[2], c.types[2]), &sign)?;
    Ok(if *c.ret == Kind::Never { vec![] } else { vec![cx.b.bool(true)] })
}

/// TypeError where two values have no order, None among them.
pub(crate) fn require_order(
    cx: &mut LowerCx<'_>,
    a: (&[Value], Type),
    b: (&[Value], Type),
    sign: &str,
) -> Result<()> {
    if let Kind::Optional(x) = *a.1 {
        return cx
            .if_else(
                a.0[0],
                |cx| require_order(cx, (&a.0[1..], x), b, sign).map(|()| vec![]),
                |cx| require_order(cx, (&[], Type::none()), b, sign).map(|()| vec![]),
            )
            .map(|_| ());
    }
    if let Kind::Optional(y) = *b.1 {
        return cx
            .if_else(
                b.0[0],
                |cx| require_order(cx, a, (&b.0[1..], y), sign).map(|()| vec![]),
                |cx| require_order(cx, a, (&[], Type::none()), sign).map(|()| vec![]),
            )
            .map(|_| ());
    }
    if !has_order(a.1, b.1) {
        let [x, y] = [a.1, b.1].map(class_name);
        cx.raise_and_continue(
            Class::TypeError,
            &format!("'{sign}' not supported between instances of '{x}' and '{y}'"),
        );
    }
    Ok(())
}
