//! Python's truth of values.

use super::arrays::{ArrayVal, load_element};
use super::cast;
use super::cx::{LowerCx, split_leaves};
use super::length::length;
use crate::diag::Result;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::raising::exc_truth;
use crate::types::{ClassId, Kind, Type};

/// The truth of all values of a type, where it is the same, if they have one.
pub(crate) fn known_truth(t: Type) -> Option<Option<bool>> {
    match t.beneath_member().kind() {
        Kind::None => Some(Some(false)),
        Kind::Tuple(m) | Kind::NamedTuple(_, m) => Some(Some(!m.is_empty())),
        Kind::Frozen(c, _) if c.id == ClassId::TIMEDELTA => Some(None),
        Kind::Function(_)
        | Kind::Builtin(_)
        | Kind::Module(_)
        | Kind::DType(_)
        | Kind::Method(..)
        | Kind::Ellipsis
        | Kind::ExcClass(_)
        | Kind::NamedTupleClass(_)
        | Kind::Class(_)
        | Kind::Generator(..)
        | Kind::Random
        | Kind::Frozen(..)
        | Kind::Object(..)
        | Kind::Member(_)
        | Kind::Super(..)
        | Kind::Slice(_) => Some(Some(true)),
        // A date has none in NumPy either, by its version.
        Kind::Time(t) => t.span.then_some(None),
        // NumPy asks whether all bytes are zero, the names of fields, or warns, by its version.
        Kind::Array(a) if a.dtype.record().is_some() => None,
        Kind::Bool
        | Kind::Int(_)
        | Kind::Float(_)
        | Kind::Complex(_)
        | Kind::Str
        | Kind::Bytes
        | Kind::List(_)
        | Kind::Container(..)
        | Kind::Range(_)
        // Its class may have a `__bool__`, or a `__len__`.
        | Kind::Exception
        | Kind::Array(_) => Some(None),
        Kind::Optional(t) => known_truth(*t).map(|known| known.filter(|k| !k)),
        Kind::Variant(m) => m.iter().map(|t| known_truth(*t)).collect::<Option<Vec<_>>>().map(|_| None),
        Kind::Never
        | Kind::Undef
        | Kind::MaybeUndef(_)
        | Kind::Var(_)
        | Kind::Outer(_)
        | Kind::Record(_)
        | Kind::Simd(..)
        | Kind::Iter(_)
        | Kind::Conflict(..) => None,
    }
}

/// Python's truth of a value.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type is true where it is not empty")]
pub(crate) fn truth(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Result<Value> {
    if let Some(Some(known)) = known_truth(t) {
        return Ok(cx.b.bool(known));
    }
    Ok(match *t {
        Kind::Bool | Kind::Int(_) | Kind::Float(_) => cast::truth(cx, v[0], t),
        Kind::Time(_) => cx.b.bin_imm(Op::IcmpNe, v[0], 0),
        Kind::Frozen(..) => {
            let any = cx.b.bin(Op::Bor, v[0], v[1]);
            cx.b.bin_imm(Op::IcmpNe, any, 0)
        }
        Kind::Complex(_) => cast::cast(cx, v, t, Type::bool())?[0],
        Kind::Exception => cx.helper_value(&exc_truth, v),
        Kind::Optional(inner) => {
            let r =
                cx.if_else(v[0], |cx| Ok(vec![truth(cx, &v[1..], inner)?]), |cx| Ok(vec![cx.b.bool(false)]))?;
            r[0]
        }
        Kind::Array(a) => {
            let val = ArrayVal::new(cx, v, t)?;
            let n = val.size(cx);
            let some = cx.b.bin_imm(Op::IcmpNe, n, 0);
            cx.check(some, Class::ValueError, "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.");
            let one = cx.b.bin_imm(Op::IcmpEq, n, 1);
            cx.check(
                one,
                Class::ValueError,
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
            );
            let x = load_element(cx, v[1], a.dtype);
            truth(cx, &x, a.dtype)?
        }
        Kind::Variant(_) => of_variant(cx, v, t, 0)?,
        _ => {
            let n = length(cx, v, t)?;
            cx.b.bin_imm(Op::IcmpNe, n, 0)
        }
    })
}

/// The truth of whichever of several types it is; from the `k`-th on.
fn of_variant(cx: &mut LowerCx<'_>, v: &[Value], t: Type, k: usize) -> Result<Value> {
    let Kind::Variant(m) = t.kind() else { return truth(cx, v, t) };
    let part = split_leaves(&v[1..], m).swap_remove(k);
    if k + 1 == m.len() {
        return truth(cx, &part, m[k]);
    }
    let is = cx.b.bin_imm(Op::IcmpEq, v[0], k as i64);
    Ok(cx.if_else(is, |cx| Ok(vec![truth(cx, &part, m[k])?]), |cx| Ok(vec![of_variant(cx, v, t, k + 1)?]))?
        [0])
}
