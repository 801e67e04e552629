//! How elements of containers are compared: an element is equal to itself whatever `==` says, and one that has
//! no order is an error only where it decides.
//!
//! Which types have an order and which values are one object is said here once, for lowering (tuples) and for
//! library Python (lists, and tuples of what lowering does not compare).

use super::{Body, OpDef};
use crate::classes;
use crate::diag::{Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["operator._orders"], "sign, a, b", Body::Lir(orders_rule, emit_orders))
        .raises()
        .internal()
        .doc("True where elements have an order; TypeError where they have none."),
    OpDef::new(&["operator._one_object"], "a, b", Body::Lir(one_object_rule, emit_one_object))
        .reads()
        .internal()
        .doc("Whether two elements are one object that may not be equal to itself."),
];

/// What compares with what, among values that do; none for those of which the operations themselves say it.
fn family(t: Type) -> Option<u8> {
    Some(match t.kind() {
        Kind::None => 0,
        Kind::Str => 1,
        Kind::Tuple(_) | Kind::NamedTuple(..) => 2,
        Kind::List(_) => 3,
        Kind::Slice(_) => 4,
        Kind::Range(_) => 5,
        Kind::Generator(..) => 6,
        Kind::Function(_) => 7,
        _ if t.is_number() => 8,
        _ => return None,
    })
}

/// Whether values of two types, neither of them optional, have an order.
pub(crate) fn has_order(a: Type, b: Type) -> bool {
    let (Some(x), Some(y)) = (family(a), family(b)) else { return true };
    if a.is_number() && b.is_number() {
        // NumPy orders its complex scalars, Python has no order for its own.
        let complex = |weak: bool| [a, b].iter().any(|t| t.is_complex() && t.is_weak() == weak);
        return !complex(true) || complex(false);
    }
    x == y && (1..=4).contains(&x)
}

/// The types that a value may have, None by itself.
fn alternatives(t: Type) -> Vec<Type> {
    if let Kind::Optional(x) = *t { vec![Type::none(), x] } else { vec![t] }
}

/// Its class as messages of Python call it.
fn class_name(t: Type) -> String {
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
    require(cx, (&c.args[1], c.types[1]), (&c.args[2], c.types[2]), &sign)?;
    Ok(if *c.ret == Kind::Never { vec![] } else { vec![cx.b.bool(true)] })
}

/// TypeError where two values have no order, None among them.
pub(crate) fn require(
    cx: &mut LowerCx<'_>,
    a: (&[Value], Type),
    b: (&[Value], Type),
    sign: &str,
) -> Result<()> {
    if let Kind::Optional(x) = *a.1 {
        return cx
            .if_else(
                a.0[0],
                |cx| require(cx, (&a.0[1..], x), b, sign).map(|()| vec![]),
                |cx| require(cx, (&[], Type::none()), b, sign).map(|()| vec![]),
            )
            .map(|_| ());
    }
    if let Kind::Optional(y) = *b.1 {
        return cx
            .if_else(
                b.0[0],
                |cx| require(cx, a, (&b.0[1..], y), sign).map(|()| vec![]),
                |cx| require(cx, a, (&[], Type::none()), sign).map(|()| vec![]),
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

/// Whether values of two types may be one object without being equal. Of strings, numbers but NaN, tuples and
/// lists `==` says all there is.
fn may_be_one(a: Type, b: Type) -> bool {
    match (a.kind(), b.kind()) {
        (Kind::Optional(x), Kind::Optional(y)) => may_be_one(*x, *y),
        (Kind::Optional(x), _) => may_be_one(*x, b),
        (_, Kind::Optional(y)) => may_be_one(a, *y),
        (Kind::Float(x), Kind::Float(y)) | (Kind::Complex(x), Kind::Complex(y)) => x == y,
        (Kind::Array(x), Kind::Array(y)) => x.dtype == y.dtype && x.ndim == y.ndim && x.layout == y.layout,
        (Kind::Generator(..), Kind::Generator(..)) | (Kind::Exception, Kind::Exception) => true,
        _ => false,
    }
}

fn one_object_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (a, b) = (cx.vars.resolve(args[0].ty), cx.vars.resolve(args[1].ty));
    if crate::types::promote::is_variant(a) || crate::types::promote::is_variant(b) {
        return Err(no_match("a comparison", args));
    }
    Ok(if may_be_one(a, b) { Answer::of(Type::bool()) } else { Answer::constant(Const::Bool(false)) })
}

fn emit_one_object(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    Ok(vec![one_object(cx, &c.args[0], c.types[0], &c.args[1], c.types[1])?])
}

/// Whether two elements are one object; false for those that `==` tells. A NaN is every NaN of its type: which
/// object a float was, nobody knows.
fn one_object(cx: &mut LowerCx<'_>, a: &[Value], at: Type, b: &[Value], bt: Type) -> Result<Value> {
    if !may_be_one(at, bt) {
        return Ok(cx.b.bool(false));
    }
    let none = |cx: &mut LowerCx<'_>| Ok(vec![cx.b.bool(false)]);
    match (at.kind(), bt.kind()) {
        (Kind::Optional(x), _) => {
            Ok(cx.if_else(a[0], |cx| Ok(vec![one_object(cx, &a[1..], *x, b, bt)?]), none)?[0])
        }
        (_, Kind::Optional(y)) => {
            Ok(cx.if_else(b[0], |cx| Ok(vec![one_object(cx, a, at, &b[1..], *y)?]), none)?[0])
        }
        (Kind::Float(_), _) => Ok(both_nan(cx, a[0], b[0])),
        (Kind::Complex(_), _) => {
            let mut all = cx.b.bool(true);
            for k in 0..2 {
                let same = cx.b.bin(Op::FcmpEq, a[k], b[k]);
                let nan = both_nan(cx, a[k], b[k]);
                let part = cx.or(same, nan);
                all = cx.and(all, part);
            }
            Ok(all)
        }
        _ => super::compare::identical(cx, a, at, b, bt),
    }
}

fn both_nan(cx: &mut LowerCx<'_>, a: Value, b: Value) -> Value {
    let (x, y) = (cx.b.bin(Op::FcmpUno, a, a), cx.b.bin(Op::FcmpUno, b, b));
    cx.and(x, y)
}

/// Equality of elements: `a is b or a == b`.
pub(crate) fn equal(cx: &mut LowerCx<'_>, a: &[Value], at: Type, b: &[Value], bt: Type) -> Result<Value> {
    let same = super::compare::equal(cx, a, at, b, bt)?;
    if !may_be_one(at, bt) {
        return Ok(same);
    }
    let one = one_object(cx, a, at, b, bt)?;
    Ok(cx.or(same, one))
}

/// Equality of members of tuples that are ordered. A NaN is itself only where both are one value of the code:
/// what tuples are ordered by is mostly computed or read anew, `max((a[i], i), best)`.
pub(crate) fn equal_in_order(
    cx: &mut LowerCx<'_>,
    a: &[Value],
    at: Type,
    b: &[Value],
    bt: Type,
) -> Result<Value> {
    if a != b && matches!(at.kind(), Kind::Float(_) | Kind::Complex(_)) {
        return super::compare::equal(cx, a, at, b, bt);
    }
    equal(cx, a, at, b, bt)
}
