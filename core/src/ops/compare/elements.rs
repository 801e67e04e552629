//! How elements of containers are compared: an element is equal to itself whatever `==` says.
//!
//! Which values are one object is said here once, for lowering (tuples) and for library Python (lists, and
//! tuples of what lowering does not compare).

use super::identity::{identical, one_number};
use crate::diag::Result;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::Value;
use crate::types::promote::is_variant;
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

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
        // What their class says of `==` is another matter.
        (Kind::Object(c, _), Kind::Object(d, _)) | (Kind::Member(c), Kind::Member(d)) => c == d,
        _ => false,
    }
}

pub(super) fn one_object_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (a, b) = (cx.vars.resolve(args[0].ty), cx.vars.resolve(args[1].ty));
    if is_variant(a) || is_variant(b) {
        return Err(no_match("a comparison", args));
    }
    Ok(if may_be_one(a, b) { Answer::of(Type::bool()) } else { Answer::constant(Const::Bool(false)) })
}

pub(super) fn emit_one_object(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
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
        (Kind::Float(_) | Kind::Complex(_), _) => Ok(one_number(cx, a, at, b)),
        _ => identical(cx, a, at, b, bt),
    }
}

/// Equality of elements: `a is b or a == b`.
pub(crate) fn equal(cx: &mut LowerCx<'_>, a: &[Value], at: Type, b: &[Value], bt: Type) -> Result<Value> {
    let same = super::equal(cx, a, at, b, bt)?;
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
        return super::equal(cx, a, at, b, bt);
    }
    equal(cx, a, at, b, bt)
}
