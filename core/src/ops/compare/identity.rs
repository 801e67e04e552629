//! Identity: `is`, and what is one object where Python would have several.

use super::super::id;
use super::{equal, is_unit};
use crate::diag::Result;
use crate::emit::cx::{LowerCx, OpCall};
use crate::lir::{Alias, Op, Ty, Value};
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(super) fn is_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if let (Some(a), Some(b)) = (args[0].text(), args[1].text()) {
        return Ok(Answer::constant(Const::Bool(a == b)));
    }
    // As they are compared where they are not known: a number is the same as an equal one of its type.
    if let (Some(a @ (Const::Bool(_) | Const::Int(_))), Some(b)) = (&args[0].konst, &args[1].konst)
        && args[0].ty == args[1].ty
    {
        return Ok(Answer::constant(Const::Bool(a == b)));
    }
    let known = known_identity(args[0].ty, args[1].ty).ok_or_else(|| no_match("is", args))?;
    Ok(Answer::of(Type::bool()).known(known.map(Const::Bool)))
}

/// Whether both are of one dtype: the class `np.float32` and its dtype are two objects to Python, which have one type.
pub(super) fn are_of_one_dtype(args: &[Arg]) -> bool {
    matches!(*args[0].ty, Kind::DType(_)) && args[0].ty == args[1].ty
}

/// Whether values of these types are one object, as far as the types tell; none where each type of a variant
/// is to be asked.
fn known_identity(a: Type, b: Type) -> Option<Option<bool>> {
    Some(match (a.kind(), b.kind()) {
        (Kind::None, Kind::None) => Some(true),
        (Kind::Optional(_), Kind::None) | (Kind::None, Kind::Optional(_)) | (Kind::Bool, Kind::Bool) => None,
        (Kind::None, _) | (_, Kind::None) => Some(false),
        // A method is made anew where it is taken, and a function where it is defined: which of them it is, nobody
        // knows.
        (Kind::Method(..), Kind::Method(..)) => return None,
        (Kind::Function(f), Kind::Function(g)) if f.func == g.func && !is_unit(a) => return None,
        (Kind::Variant(_) | Kind::Method(id::EXCEPTION_CLASS, _), _)
        | (_, Kind::Variant(_) | Kind::Method(id::EXCEPTION_CLASS, _)) => return None,
        // Both may be None.
        (Kind::Optional(x), Kind::Optional(y)) => {
            known_identity(*x, *y)?;
            None
        }
        (Kind::Optional(x), _) => known_identity(*x, b)?.filter(|same| !same),
        (_, Kind::Optional(y)) => known_identity(a, *y)?.filter(|same| !same),
        _ if is_unit(a) && is_unit(b) => Some(a == b),
        (Kind::Ellipsis, Kind::Ellipsis) => Some(true),
        (Kind::Member(c), Kind::Member(d)) if c == d && c.is_mark() => Some(true),
        (Kind::Member(c), Kind::Member(d)) | (Kind::Object(c, _), Kind::Object(d, _)) if c == d => None,
        (Kind::Str, Kind::Str)
        | (Kind::Bytes, Kind::Bytes)
        | (Kind::List(_), Kind::List(_))
        | (Kind::Exception, Kind::Exception)
        | (Kind::Generator(..), Kind::Generator(..))
        | (Kind::Random, Kind::Random) => None,
        (Kind::Array(_), Kind::Array(_)) => None,
        // Small numbers are shared objects in CPython, so `is` on them means `==` to whoever writes it. A number
        // of Python is none of NumPy.
        _ if a.is_number() && b.is_number() => {
            if a == b {
                None
            } else {
                Some(false)
            }
        }
        // Which view is which object, nobody knows.
        (Kind::Container(c, _), Kind::Container(d, _)) if c == d => return (!c.is_view()).then_some(None),
        _ => Some(false),
    })
}

pub(super) fn emit_is(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Value> {
    // Python has one object for all strings in programs that are equal.
    let in_text =
        |k: usize| c.consts.get(k).is_some_and(|c| matches!(c, Some(Const::Str(_) | Const::Bytes(_))));
    let are = |kind: Kind| c.types.iter().all(|t| **t == kind);
    if (in_text(0) || in_text(1)) && (are(Kind::Str) || are(Kind::Bytes)) {
        return crate::ops::string::emit_equal(cx, c.args[0][0], c.args[1][0]);
    }
    identical(cx, &c.args[0], c.types[0], &c.args[1], c.types[1])
}

pub(crate) fn identical(cx: &mut LowerCx<'_>, a: &[Value], at: Type, b: &[Value], bt: Type) -> Result<Value> {
    if let Some(Some(known)) = known_identity(at, bt) {
        return Ok(cx.b.bool(known));
    }
    match (at.kind(), bt.kind()) {
        (Kind::Optional(x), Kind::Optional(y)) => {
            let both = cx.and(a[0], b[0]);
            let same = cx.b.bin(Op::IcmpEq, a[0], b[0]);
            let r = cx.if_else(
                both,
                |cx| Ok(vec![identical(cx, &a[1..], *x, &b[1..], *y)?]),
                |_| Ok(vec![same]),
            )?;
            Ok(r[0])
        }
        (Kind::Optional(_), Kind::None) => Ok(cx.not(a[0])),
        (Kind::None, Kind::Optional(_)) => Ok(cx.not(b[0])),
        (Kind::Optional(x), _) => {
            let r = cx.if_else(
                a[0],
                |cx| Ok(vec![identical(cx, &a[1..], *x, b, bt)?]),
                |cx| Ok(vec![cx.b.bool(false)]),
            )?;
            Ok(r[0])
        }
        (_, Kind::Optional(_)) => identical(cx, b, bt, a, at),
        (Kind::Str | Kind::Bytes, _) => same_string(cx, a[0], b[0]),
        (Kind::List(_) | Kind::Container(..) | Kind::Exception | Kind::Generator(..), _) => {
            Ok(cx.b.bin(Op::IcmpEq, a[0], b[0]))
        }
        // What is a text, number or tuple lies in memory as that: of members with one value there is one.
        (Kind::Member(c), _) if let Some(base) = c.base_of_members() => {
            if base.is_number() {
                identical(cx, a, base, b, base)
            } else {
                equal(cx, a, base, b, base)
            }
        }
        (Kind::Member(_) | Kind::Object(..), _) => Ok(cx.b.bin(Op::IcmpEq, a[0], b[0])),
        // One generator that was passed twice has two sources.
        (Kind::Random, _) => {
            let [x, y] =
                [a, b].map(|v| cx.b.load(Ty::Ptr, v[0], crate::offset!(BitSource.py), Alias::Object));
            Ok(cx.b.bin(Op::IcmpEq, x, y))
        }
        (Kind::Array(_), Kind::Array(_)) => Ok(same_array(cx, a, b)),
        (Kind::Float(_) | Kind::Complex(_), _) if at == bt => {
            let (same, nan) = (equal(cx, a, at, b, bt)?, one_number(cx, a, at, b));
            Ok(cx.or(same, nan))
        }
        _ => equal(cx, a, at, b, bt),
    }
}

/// Whether two floats or complex numbers of one type may be one object where they are not equal: which object a NaN
/// was nobody knows, so that every NaN of a type is one, as in containers.
pub(super) fn one_number(cx: &mut LowerCx<'_>, a: &[Value], t: Type, b: &[Value]) -> Value {
    if t.is_float() {
        return both_nan(cx, a[0], b[0]);
    }
    let mut all = cx.b.bool(true);
    for k in 0..2 {
        let same = cx.b.bin(Op::FcmpEq, a[k], b[k]);
        let nan = both_nan(cx, a[k], b[k]);
        let part = cx.or(same, nan);
        all = cx.and(all, part);
    }
    all
}

fn both_nan(cx: &mut LowerCx<'_>, a: Value, b: Value) -> Value {
    let (x, y) = (cx.b.bin(Op::FcmpUno, a, a), cx.b.bin(Op::FcmpUno, b, b));
    cx.and(x, y)
}

/// Whether two strings are one object: one string of Python's that was passed twice lies at one place. Of
/// Latin-1 characters, and of the empty string, Python has one object each.
fn same_string(cx: &mut LowerCx<'_>, a: Value, b: Value) -> Result<Value> {
    let part = |cx: &mut LowerCx<'_>, s: Value| {
        let data = cx.b.load(Ty::Ptr, s, crate::offset!(Str.data), Alias::Object);
        let len = cx.b.load(Ty::I64, s, crate::offset!(Str.len), Alias::Const);
        let kind = cx.b.load(Ty::I64, s, crate::offset!(Str.kind), Alias::Object);
        (data, len, kind)
    };
    let ((p, m, kind), (q, n, _)) = (part(cx, a), part(cx, b));
    let (place, len) = (cx.b.bin(Op::IcmpEq, p, q), cx.b.bin(Op::IcmpEq, m, n));
    let same = cx.and(place, len);
    let (short, latin) = (cx.b.bin_imm(Op::IcmpSle, m, 1), cx.b.bin_imm(Op::IcmpEq, kind, 1));
    let shared = cx.and(short, latin);
    let r =
        cx.if_else(shared, |cx| Ok(vec![crate::ops::string::emit_equal(cx, a, b)?]), |_| Ok(vec![same]))?;
    Ok(r[0])
}

/// Whether two arrays are one object: one view of memory that one block, or one Python array, owns. (Where
/// the code does not say which of them is a view that it makes, see [`crate::infer::origin`], a view of a
/// whole array cannot be told from the array.)
fn same_array(cx: &mut LowerCx<'_>, a: &[Value], b: &[Value]) -> Value {
    if a.len() != b.len() {
        return cx.b.bool(false);
    }
    let owner = cx.b.bin(Op::IcmpEq, a[0], b[0]);
    let py = [a, b].map(|v| cx.b.load(Ty::Ptr, v[0], crate::offset!(MemBlock.py), Alias::Object));
    let null = cx.b.null();
    let (same_py, some) = (cx.b.bin(Op::IcmpEq, py[0], py[1]), cx.b.bin(Op::IcmpNe, py[0], null));
    let one_py = cx.and(same_py, some);
    let mut same = cx.or(owner, one_py);
    for (x, y) in a[1..].iter().zip(&b[1..]) {
        let eq = cx.b.bin(Op::IcmpEq, *x, *y);
        same = cx.and(same, eq);
    }
    same
}
