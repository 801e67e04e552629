//! Explicit promotions: numbers to wider numbers, values into optionals, tuples member by member, arrays to a
//! looser layout.

use super::constants;
use super::cx::{LowerCx, Val, split_leaves};
use super::dates;
use super::range;
use super::view::ArrayVal;
use crate::desc;
use crate::diag::{Code, Diagnostic, Result};
use crate::exc::Class;
use crate::lir::builder::Builder;
use crate::lir::grid_op::GridOp;
use crate::lir::{Alias, InstData, Op, Ty, Value, half};
use crate::ops::object;
use crate::types::time::Time;
use crate::types::{Access, Container, Float, Int, IterType, Kind, Layout, Type, promote};
use std::cell::RefCell;

/// Converts a value between types. `None` inside an optional raises TypeError when the target has no room for
/// it.
pub(crate) fn cast(cx: &mut LowerCx<'_>, val: &[Value], from: Type, to: Type) -> Result<Val> {
    if from == to {
        return Ok(val.to_vec());
    }
    if from.is_number() && to.is_number() {
        return number(cx, val, from, to);
    }
    if let Some(cast) = times(cx, val, from, to) {
        return cast;
    }
    if from.beneath_member() != from && (to.is_number() || *to == Kind::Str) {
        return cast(cx, val, from.beneath_member(), to);
    }
    // What is looked up among members.
    if to.beneath_member() != to && (from.is_number() || *from == Kind::Str) {
        return cast(cx, val, from, to.beneath_member());
    }
    match (from.kind(), to.kind()) {
        (Kind::Optional(a), Kind::Optional(b)) | (Kind::MaybeUndef(a), Kind::MaybeUndef(b)) => {
            let mut out = vec![val[0]];
            out.extend(cast(cx, &val[1..], *a, *b)?);
            Ok(out)
        }
        (Kind::Undef, Kind::MaybeUndef(b)) | (Kind::None, Kind::Optional(b)) => Ok(flagged(cx, false, *b)),
        (_, Kind::MaybeUndef(b)) | (_, Kind::Optional(b)) => {
            let mut out = vec![cx.b.bool(true)];
            out.extend(cast(cx, val, from, *b)?);
            Ok(out)
        }
        (_, Kind::Variant(b)) => variant(cx, val, from, b),
        (Kind::Variant(a), _) if to.is_number() && a.iter().all(|t| t.is_number()) => {
            one_number(cx, val, a, to)
        }
        (Kind::Optional(a), _) => {
            cx.check(val[0], Class::TypeError, &format!("expected {to}, got None"));
            cast(cx, &val[1..], *a, to)
        }
        // Code that is never reached may still be written.
        (Kind::Undef | Kind::Never, _) => Ok(constants::absent(&mut cx.b, to)),
        (Kind::Tuple(a) | Kind::NamedTuple(_, a), Kind::Tuple(b) | Kind::NamedTuple(_, b))
            if a.len() == b.len() =>
        {
            members(cx, val, a, b)
        }
        (Kind::Tuple(a), Kind::Container(Container::Tuple, e)) => tuple_of_any_length(cx, val, a, e[0]),
        (Kind::Frozen(c, a), Kind::Frozen(d, b)) if c == d => members(cx, val, a, b),
        (Kind::Slice(a), Kind::Slice(b)) => members(cx, val, a, b),
        // What a type said is forgotten; it has no values.
        (Kind::Tuple(_) | Kind::NamedTuple(..), Kind::None) if val.is_empty() => Ok(vec![]),
        (Kind::Range(_), Kind::Range(None))
        | (Kind::Iter(IterType::Range(_)), Kind::Iter(IterType::Range(None))) => {
            let step = if let Kind::Range(s) | Kind::Iter(IterType::Range(s)) = *from { s } else { None };
            let mut out = val.to_vec();
            // What compares with its stop begins to count.
            if matches!(from.kind(), Kind::Iter(_)) && range::steps_by_one(step) {
                out = range::range_start(cx, val, step);
            }
            if let Some(s) = step {
                out.push(cx.b.i64(s));
            }
            Ok(out)
        }
        (Kind::Array(_), Kind::Array(b)) => {
            let mut a = ArrayVal::new(cx, val, from)?;
            if b.access == Access::Either && a.frozen.is_none() {
                a.frozen = Some(cx.b.bool(a.ty.access == Access::Read));
            }
            a.ty.access = b.access;
            if b.layout == Layout::A { Ok(a.pack_strided()) } else { Ok(a.pack()) }
        }
        (Kind::Iter(a), Kind::Iter(b)) => iterator(cx, val, a, b),
        (Kind::Method(_, a), Kind::Method(_, b)) => cast(cx, val, *a, *b),
        (Kind::Generator(i, _), Kind::Generator(j, _)) if i != j => Err(Diagnostic::new(
            Code::CannotUnify,
            "a variable is a generator on one path and the same generator of other types on another",
        )
        .help("give the two values different names")),
        (Kind::Function(a), Kind::Function(b)) => {
            let parts = |f: &crate::types::FuncType| {
                f.defaults.iter().chain(&f.captures).copied().collect::<Vec<_>>()
            };
            members(cx, val, &parts(a), &parts(b))
        }
        _ if from.leaves() == to.leaves() => Ok(val.to_vec()),
        _ => Err(Diagnostic::internal(format!("no cast from {from} to {to}"))),
    }
}

/// [`cast`] where one of two types is of times and the other one of times or numbers.
fn times(cx: &mut LowerCx<'_>, val: &[Value], from: Type, to: Type) -> Option<Result<Val>> {
    match (from.time(), to.time()) {
        // A date is a span since 1970 and back, as NumPy's conversion has it.
        (Some(a), Some(b)) => {
            let there = Time { span: a.span, ..b };
            Some(dates::convert(cx, val[0], a, there).map(|v| vec![v]))
        }
        // The number of units, that of "not a time" as well.
        (Some(_), None) if to.is_number() => Some(cast(cx, val, Type::i64(), to)),
        (None, Some(_)) if from.is_float() || from.is_complex() => {
            Some(cast(cx, val, from, Type::f64()).map(|v| vec![dates::truncated(cx, v[0])]))
        }
        (None, Some(_)) if from.is_number() => Some(cast(cx, val, from, Type::i64())),
        (_, _) => None,
    }
}

/// [`cast`] of a value that meets others, in a variable, a container or a result: it stays the number that it
/// is. OverflowError where the type of all of them has no such integer, and then `from`'s references are
/// dropped if the value is `owned`.
pub(crate) fn joined(cx: &mut LowerCx<'_>, val: &[Value], from: Type, to: Type, owned: bool) -> Result<Val> {
    if owned && promote::makes_tuple(from, to) {
        let made = cx.made.len();
        let out = cast(cx, val, from, to)?;
        cx.retain(&out, to);
        cx.release_made(made);
        cx.release(val, from);
        return Ok(out);
    }
    if let Some((fits, t)) = fits(cx, val, from, to) {
        let (ok, bad) = (cx.b.new_block(&[]), cx.b.new_cold_block(&[]));
        cx.b.brif(fits, ok, &[], bad, &[]);
        cx.b.switch_to(bad);
        if owned {
            cx.release(val, from);
        }
        let exc = cx.exception(Class::OverflowError, &not_held(t));
        cx.end_raising(exc);
        cx.b.switch_to(ok);
    }
    cast(cx, val, from, to)
}

/// [`joined`] of a borrowed value, with references of its own.
pub(crate) fn kept(cx: &mut LowerCx<'_>, val: &[Value], from: Type, to: Type) -> Result<Val> {
    let made = cx.made.len();
    let out = joined(cx, val, from, to, false)?;
    cx.retain(&out, to);
    cx.release_made(made);
    Ok(out)
}

/// What is said of an integer that is no value of the type of those that it meets.
pub(crate) fn not_held(t: Type) -> String {
    format!("this value is no {t}, as those that it meets are: make all of them np.int64(...) or float(...)")
}

/// Whether the integers of a value are values of the types that they are to have, and one of these types. None
/// where all are. What an optional value or one of several types is not lies there as zeros, which fit.
pub(crate) fn fits(cx: &mut LowerCx<'_>, val: &[Value], from: Type, to: Type) -> Option<(Value, Type)> {
    if !promote::may_not_fit(from, to) {
        return None;
    }
    let both = |cx: &mut LowerCx<'_>, from: &[Type], to: &mut dyn Iterator<Item = Type>, val: &[Value]| {
        let mut all: Option<(Value, Type)> = None;
        for ((v, x), y) in split_leaves(val, from).iter().zip(from).zip(to) {
            if let Some((one, t)) = fits(cx, v, *x, y) {
                all = Some((all.map_or(one, |(a, _)| cx.and(a, one)), t));
            }
        }
        all
    };
    match (from.kind(), to.kind()) {
        (Kind::Int(x), Kind::Int(y)) => Some((int_fits(cx, val[0], *x, *y), to)),
        (Kind::Optional(x), Kind::Optional(y)) | (Kind::MaybeUndef(x), Kind::MaybeUndef(y)) => {
            fits(cx, &val[1..], *x, *y)
        }
        (_, Kind::Optional(y) | Kind::MaybeUndef(y)) => fits(cx, val, from, *y),
        (Kind::Optional(x), _) => fits(cx, &val[1..], *x, to),
        (Kind::Variant(m), _) => both(cx, m, &mut std::iter::repeat(to), &val[1..]),
        _ => {
            let (x, y) = (from.parts()?, to.parts()?);
            both(cx, x, &mut y.iter().copied(), val)
        }
    }
}

/// Whether an integer is a value of another type that does not hold all of its own.
fn int_fits(cx: &mut LowerCx<'_>, v: Value, from: Int, to: Int) -> Value {
    let again = scalar(cx, v, Type::int_of(from), Type::int_of(to));
    let again = scalar(cx, again, Type::int_of(to), Type::int_of(from));
    let same = cx.b.bin(Op::IcmpEq, again, v);
    if from.signed() == to.signed() || from.bits() > to.bits() {
        return same;
    }
    let positive = cx.b.bin_imm(Op::IcmpSge, v, 0);
    if from.bits() == to.bits() { positive } else { cx.and(same, positive) }
}

/// Makes a value one of several types. A variant becomes a wider one alternative by alternative.
fn variant(cx: &mut LowerCx<'_>, val: &[Value], from: Type, to: &[Type]) -> Result<Val> {
    let place = |t: Type| {
        let exact = to.iter().position(|x| *x == t);
        exact
            .or_else(|| to.iter().position(|x| promote::is_alternative_for(*x, t)))
            .ok_or_else(|| Diagnostic::internal(format!("no {t} among {to:?}")))
    };
    let from_types = if let Kind::Variant(m) = from.kind() { m.as_slice() } else { &[] };
    if from_types.is_empty() {
        let k = place(from)?;
        let mut out = vec![cx.b.i64(k as i64)];
        for (j, t) in to.iter().enumerate() {
            out.extend(if j == k { cast(cx, val, from, *t)? } else { constants::absent(&mut cx.b, *t) });
        }
        return Ok(out);
    }
    let mut tag = cx.b.i64(0);
    let mut parts: Vec<Option<Val>> = vec![None; to.len()];
    for (j, (v, t)) in split_leaves(&val[1..], from_types).iter().zip(from_types).enumerate() {
        let k = place(*t)?;
        let is = cx.b.bin_imm(Op::IcmpEq, val[0], j as i64);
        let here = cx.b.i64(k as i64);
        tag = cx.b.select(is, here, tag);
        let v = cast(cx, v, *t, to[k])?;
        // Two alternatives may become one.
        let both = match parts[k].take() {
            Some(old) => v.iter().zip(old).map(|(new, old)| cx.b.select(is, *new, old)).collect(),
            None => v,
        };
        parts[k] = Some(both);
    }
    let mut out = vec![tag];
    for (p, t) in parts.into_iter().zip(to) {
        out.extend(match p {
            Some(v) => v,
            None => constants::absent(&mut cx.b, *t),
        });
    }
    Ok(out)
}

/// A number of one of several types as one of a type that holds all of them.
fn one_number(cx: &mut LowerCx<'_>, val: &[Value], from: &[Type], to: Type) -> Result<Val> {
    let mut out: Option<Val> = None;
    for (j, (v, t)) in split_leaves(&val[1..], from).iter().zip(from).enumerate() {
        let is = cx.b.bin_imm(Op::IcmpEq, val[0], j as i64);
        let v = number(cx, v, *t, to)?;
        out = Some(match out {
            Some(old) => v.iter().zip(old).map(|(new, old)| cx.b.select(is, *new, old)).collect(),
            None => v,
        });
    }
    out.ok_or_else(|| Diagnostic::internal("a variant of nothing"))
}

/// The part of a value that is left when it is known to be of a narrower type: nothing is checked.
pub(crate) fn narrow(cx: &mut LowerCx<'_>, val: &[Value], from: Type, to: Type) -> Result<Val> {
    if from == to {
        return Ok(val.to_vec());
    }
    match (from.kind(), to.kind()) {
        (_, Kind::None) => Ok(vec![]),
        (Kind::Optional(a), Kind::Optional(b)) => {
            let mut out = vec![val[0]];
            out.extend(narrow(cx, &val[1..], *a, *b)?);
            Ok(out)
        }
        (Kind::Optional(a), _) => narrow(cx, &val[1..], *a, to),
        (Kind::Variant(a), Kind::Variant(b)) => {
            let parts = split_leaves(&val[1..], a);
            let mut tag = cx.b.i64(0);
            let mut out = vec![];
            for (k, t) in b.iter().enumerate() {
                let j = a
                    .iter()
                    .position(|x| x == t)
                    .ok_or_else(|| Diagnostic::internal(format!("no {t} in {from}")))?;
                let (is, here) = (cx.b.bin_imm(Op::IcmpEq, val[0], j as i64), cx.b.i64(k as i64));
                tag = cx.b.select(is, here, tag);
                out.extend(&parts[j]);
            }
            out.insert(0, tag);
            Ok(out)
        }
        (Kind::Variant(a), _) => {
            let j = a
                .iter()
                .position(|x| *x == to)
                .ok_or_else(|| Diagnostic::internal(format!("no {to} in {from}")))?;
            Ok(split_leaves(&val[1..], a)[j].clone())
        }
        (_, _) => Err(Diagnostic::internal(format!("{from} cannot be narrowed to {to}"))),
    }
}

fn flagged(cx: &mut LowerCx<'_>, present: bool, inner: Type) -> Val {
    let mut out = vec![cx.b.bool(present)];
    out.extend(constants::absent(&mut cx.b, inner));
    out
}

fn members(cx: &mut LowerCx<'_>, val: &[Value], a: &[Type], b: &[Type]) -> Result<Val> {
    let mut out = vec![];
    for ((v, x), y) in split_leaves(val, a).iter().zip(a).zip(b) {
        out.extend(cast(cx, v, *x, *y)?);
    }
    Ok(out)
}

/// A tuple of any length, an object of the current instruction, of the members of another one.
fn tuple_of_any_length(cx: &mut LowerCx<'_>, val: &[Value], from: &[Type], to: Type) -> Result<Val> {
    let mut all = vec![];
    for (v, t) in split_leaves(val, from).iter().zip(from) {
        all.push(cast(cx, v, *t, to)?);
    }
    let desc = desc::of(to);
    let at = cx.b.slot_addr((desc.size * all.len() as i64).max(8) as u32);
    for (k, v) in all.iter().enumerate() {
        for (x, l) in v.iter().zip(desc.leaves.iter()) {
            cx.b.store(*x, at, (k as i64 * desc.size) as i32 + l.offset as i32, Alias::Stack);
        }
    }
    let (of, n) = (constants::descriptor(&mut cx.b, to), cx.b.i64(all.len() as i64));
    let tuple = cx.helper_value(&object::tuple_of, &[of, at, n]);
    cx.add_made(tuple);
    Ok(vec![tuple])
}

/// Converts what an iterator runs over; its position stays.
fn iterator(cx: &mut LowerCx<'_>, val: &[Value], from: &IterType, to: &IterType) -> Result<Val> {
    let inner = |i: &IterType| match i {
        IterType::Array(t)
        | IterType::List(t)
        | IterType::Container(t)
        | IterType::Tuple(t)
        | IterType::Enumerate(t)
        | IterType::Reversed(t)
        | IterType::NdEnumerate(t)
        | IterType::Flat(t) => vec![*t],
        IterType::Zip(m) => m.clone(),
        IterType::Range(_) | IterType::Str | IterType::Bytes | IterType::NdIndex(_) => vec![],
    };
    let (a, b) = (inner(from), inner(to));
    let split = a.iter().map(|t| t.leaf_count()).sum();
    let mut out = members(cx, &val[..split], &a, &b)?;
    out.extend(&val[split..]);
    Ok(out)
}

/// Converts a number; narrowing wraps integers. Floats that an integer does not hold become what NumPy makes
/// of them on x86.
pub(crate) fn number(cx: &mut LowerCx<'_>, val: &[Value], from: Type, to: Type) -> Result<Val> {
    Ok(match (from.kind(), to.kind()) {
        (_, Kind::Complex(f)) => {
            let part = Type::float_of(*f);
            let (re, im) = if let Kind::Complex(g) = *from {
                let from = Type::float_of(g);
                (scalar(cx, val[0], from, part), scalar(cx, val[1], from, part))
            } else {
                (scalar(cx, val[0], from, part), if f.bits() == 32 { cx.b.f32(0.0) } else { cx.b.f64(0.0) })
            };
            vec![re, im]
        }
        (Kind::Complex(f), Kind::Bool) => {
            let (re, im) = (truth(cx, val[0], Type::float_of(*f)), truth(cx, val[1], Type::float_of(*f)));
            vec![cx.or(re, im)]
        }
        // NumPy drops the imaginary part (with a warning).
        (Kind::Complex(f), _) => vec![scalar(cx, val[0], Type::float_of(*f), to)],
        _ => vec![scalar(cx, val[0], from, to)],
    })
}

/// A number that is written into an array or computes with one. As in NumPy a Python number that becomes an
/// integer must be one that the element's type holds: OverflowError, or ValueError of NaN. NumPy's own
/// numbers wrap.
pub(crate) fn element(cx: &mut LowerCx<'_>, val: &[Value], from: Type, to: Type) -> Result<Val> {
    match (from.kind(), to.kind()) {
        (Kind::Int(Int::Py), Kind::Int(i)) => check_python_int(cx, val[0], *i, to),
        (Kind::Int(Int::Big), Kind::Int(i)) => check_big_int(cx, val[0], *i),
        (Kind::Float(Float::Py), Kind::Int(i)) => check_python_float(cx, val[0], *i, to),
        _ => {}
    }
    cast(cx, val, from, to)
}

fn check_python_int(cx: &mut LowerCx<'_>, v: Value, to: Int, name: Type) {
    if to.signed() && to.bits() == 64 {
        return;
    }
    let least = if to.signed() { -1i64 << (to.bits() - 1) } else { 0 };
    let fits = if to.bits() == 64 {
        cx.b.bin_imm(Op::IcmpSge, v, 0)
    } else {
        // One comparison: counted from the least value, all are below 2 to the number of bits.
        let above = if least == 0 { v } else { cx.b.bin_imm(Op::Isub, v, least) };
        cx.b.bin_imm(Op::IcmpUlt, above, 1i64 << to.bits())
    };
    cx.check_format(
        fits,
        Class::OverflowError,
        &format!("Python integer {{}} out of bounds for {name}"),
        &[v],
    );
}

/// The same of one without a sign.
fn check_big_int(cx: &mut LowerCx<'_>, v: Value, to: Int) {
    if !to.signed() && to.bits() == 64 {
        return;
    }
    let end = 1i64 << (to.bits() - u32::from(to.signed()));
    let fits = cx.b.bin_imm(Op::IcmpUlt, v, end);
    // NumPy's words, whatever the type is.
    cx.check(fits, Class::OverflowError, "Python int too large to convert to C long");
}

fn check_python_float(cx: &mut LowerCx<'_>, v: Value, to: Int, name: Type) {
    let (least, end) = if to.signed() {
        (-(2f64.powi(to.bits() as i32 - 1)), 2f64.powi(to.bits() as i32 - 1))
    } else {
        (0.0, 2f64.powi(to.bits() as i32))
    };
    let whole = cx.b.un(Op::Ftrunc, v);
    let (least, end) = (cx.b.f64(least), cx.b.f64(end));
    let (above, below) = (cx.b.bin(Op::FcmpGe, whole, least), cx.b.bin(Op::FcmpLt, whole, end));
    let fits = cx.and(above, below);
    let (ok, bad) = (cx.b.new_block(&[]), cx.b.new_cold_block(&[]));
    cx.b.brif(fits, ok, &[], bad, &[]);
    cx.b.switch_to(bad);
    let number = cx.b.bin(Op::FcmpEq, v, v);
    cx.check(number, Class::ValueError, "cannot convert float NaN to integer");
    let (size, inf, half) = (cx.b.un(Op::Fabs, v), cx.b.f64(f64::INFINITY), cx.b.f64(HALF));
    let finite = cx.b.bin(Op::FcmpLt, size, inf);
    cx.check(finite, Class::OverflowError, "cannot convert float infinity to integer");
    let moderate = cx.b.bin(Op::FcmpLt, size, half);
    cx.check(moderate, Class::OverflowError, "Python int too large to convert to C long");
    let shown = cx.b.conv(Op::FToSint, Ty::I64, v);
    let exc = cx.formatted(
        Class::OverflowError,
        &format!("Python integer {{}} out of bounds for {name}"),
        &[shown],
    );
    cx.end_raising(exc);
    cx.b.switch_to(ok);
}

/// Truth of a real scalar.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "numbers that are not bool or float are compared with 0 as integers"
)]
pub(crate) fn truth(cx: &mut LowerCx<'_>, v: Value, ty: Type) -> Value {
    match *ty {
        Kind::Bool => v,
        Kind::Float(Float::F16) => {
            let size = cx.b.bin_imm(Op::Band, v, 0x7fff);
            cx.b.bin_imm(Op::IcmpNe, size, 0)
        }
        Kind::Float(_) => {
            let t = cx.b.ty(v).lane();
            let zero = cx.zero(t);
            cx.b.bin(Op::FcmpNe, v, zero)
        }
        _ => cx.b.bin_imm(Op::IcmpNe, v, 0),
    }
}

/// Converts a real scalar.
pub(crate) fn scalar(cx: &mut LowerCx<'_>, v: Value, from: Type, to: Type) -> Value {
    let signed = |t: Type| matches!(*t, Kind::Int(i) if i.signed());
    match (from.kind(), to.kind()) {
        (_, Kind::Bool) => truth(cx, v, from),
        (Kind::Float(Float::F16), Kind::Float(Float::F16)) => v,
        (Kind::Float(Float::F16), _) => {
            let wide = half_to_float(cx, v);
            scalar(cx, wide, Type::float_of(Float::F32), to)
        }
        (Kind::Float(Float::F64 | Float::Py), Kind::Float(Float::F16)) => {
            let odd = to_odd(cx, v);
            half_from_float(cx, odd)
        }
        (_, Kind::Float(Float::F16)) => {
            let single = scalar(cx, v, from, Type::float_of(Float::F32));
            half_from_float(cx, single)
        }
        (Kind::Bool | Kind::Int(_), Kind::Int(i)) => resize(cx, v, signed(from), int_ty(*i)),
        (Kind::Bool | Kind::Int(_), Kind::Float(f)) => {
            let wide = if cx.b.ty(v).lane().bytes() < 4 { resize(cx, v, signed(from), Ty::I32) } else { v };
            cx.b.conv(if signed(from) { Op::SintToF } else { Op::UintToF }, float_ty(*f), wide)
        }
        (Kind::Float(_), Kind::Int(i)) => {
            let wide = whole(cx, v);
            let wide = match (i.signed(), i.bits()) {
                (_, 8 | 16) | (true, 32) => {
                    // Through 32 bits: the most negative number stands for what they do not hold.
                    let low = cx.b.conv(Op::Itrunc, Ty::I32, wide);
                    let again = cx.b.conv(Op::Sext, Ty::I64, low);
                    let fits = cx.b.bin(Op::IcmpEq, again, wide);
                    let least = cx.b.i64(i32::MIN as i64);
                    cx.b.select(fits, wide, least)
                }
                (false, 64) => {
                    // The upper half is reached from 2**63.
                    let t = cx.b.ty(v).lane();
                    let half = if t == Ty::F32 { cx.b.f32(HALF as f32) } else { cx.b.f64(HALF) };
                    let rest = cx.b.bin(Op::Fsub, v, half);
                    let upper = whole(cx, rest);
                    let bit = cx.b.i64(i64::MIN);
                    let upper = cx.b.bin(Op::Bxor, upper, bit);
                    let high = cx.b.bin(Op::FcmpGe, v, half);
                    cx.b.select(high, upper, wide)
                }
                _ => wide,
            };
            resize(cx, wide, true, int_ty(*i))
        }
        (Kind::Float(a), Kind::Float(b)) => {
            if a.bits() == b.bits() {
                v
            } else {
                cx.b.conv(Op::Fconvert, float_ty(*b), v)
            }
        }
        _ => v,
    }
}

/// The float of 32 bits with the value of one of 16.
pub(crate) fn half_to_float(cx: &mut LowerCx<'_>, bits: Value) -> Value {
    if cx.options.kernel {
        let (op, args) = (GridOp::HalfToFloat, vec![bits]);
        return cx.b.value(InstData::Grid { op, ty: op.own_type(), args });
    }
    let b = RefCell::new(&mut cx.b);
    let made = half::Write { op: &mut |op, ty, args| put(&mut b.borrow_mut(), op, ty, args) }
        .to_float(bits, &mut |n| b.borrow_mut().iconst(Ty::I32, i64::from(n as i32)));
    cx.b.conv(Op::Bitcast, Ty::F32, made)
}

/// The bits of the float of 16 bits that is nearest to one of 32.
fn half_from_float(cx: &mut LowerCx<'_>, x: Value) -> Value {
    if cx.options.kernel {
        let (op, args) = (GridOp::FloatToHalf, vec![x]);
        return cx.b.value(InstData::Grid { op, ty: op.own_type(), args });
    }
    let b = RefCell::new(&mut cx.b);
    let made = half::Write { op: &mut |op, ty, args| put(&mut b.borrow_mut(), op, ty, args) }
        .from_float(x, &mut |n| b.borrow_mut().iconst(Ty::I32, i64::from(n as i32)));
    cx.b.conv(Op::Itrunc, Ty::I16, made)
}

fn put(b: &mut Builder<'_>, op: Op, ty: Ty, args: &[Value]) -> Value {
    b.value(InstData::Op { op, ty, args: args.to_vec() })
}

/// The float of 32 bits next to one of 64, the one with an odd last bit where none is it: rounded once more, to
/// fewer digits, it becomes what the wide one would.
fn to_odd(cx: &mut LowerCx<'_>, v: Value) -> Value {
    let near = cx.b.conv(Op::Fconvert, Ty::F32, v);
    let back = cx.b.conv(Op::Fconvert, Ty::F64, near);
    let bits = cx.b.conv(Op::Bitcast, Ty::I32, near);
    let (size, was) = (cx.b.un(Op::Fabs, back), cx.b.un(Op::Fabs, v));
    let (above, below) = (cx.b.bin(Op::FcmpGt, size, was), cx.b.bin(Op::FcmpLt, size, was));
    let even = cx.b.bin_imm(Op::Band, bits, 1);
    let even = cx.b.bin_imm(Op::IcmpEq, even, 0);
    let (less, more) = (cx.b.bin_imm(Op::Isub, bits, 1), cx.b.bin_imm(Op::Iadd, bits, 1));
    let (down, up) = (cx.and(even, above), cx.and(even, below));
    let bits = cx.b.select(down, less, bits);
    let bits = cx.b.select(up, more, bits);
    cx.b.conv(Op::Bitcast, Ty::F32, bits)
}

const HALF: f64 = 9_223_372_036_854_775_808.0;

/// A float cut to a whole number in 64 bits; what they do not hold, NaN too, is the most negative number, as
/// the processor and NumPy have it.
fn whole(cx: &mut LowerCx<'_>, v: Value) -> Value {
    let t = cx.b.ty(v).lane();
    let half = if t == Ty::F32 { cx.b.f32(HALF as f32) } else { cx.b.f64(HALF) };
    let (near, least) = (cx.b.conv(Op::FToSint, Ty::I64, v), cx.b.i64(i64::MIN));
    let below = cx.b.bin(Op::FcmpLt, v, half);
    cx.b.select(below, near, least)
}

pub(crate) fn int_ty(i: Int) -> Ty {
    match i.bits() {
        8 => Ty::I8,
        16 => Ty::I16,
        32 => Ty::I32,
        _ => Ty::I64,
    }
}
pub(crate) fn float_ty(f: Float) -> Ty {
    match f {
        // Its bits.
        Float::F16 => Ty::I16,
        Float::F32 => Ty::F32,
        Float::F64 | Float::Py => Ty::F64,
    }
}

/// Widens by sign or zero extension, or keeps the low bits.
pub(crate) fn resize(cx: &mut LowerCx<'_>, v: Value, signed: bool, to: Ty) -> Value {
    let from = cx.b.ty(v).lane();
    match from.bytes().cmp(&to.bytes()) {
        std::cmp::Ordering::Equal => v,
        std::cmp::Ordering::Less => cx.b.conv(if signed { Op::Sext } else { Op::Zext }, to, v),
        std::cmp::Ordering::Greater => cx.b.conv(Op::Itrunc, to, v),
    }
}

/// An integer or bool as i64, by its own signedness.
pub(crate) fn to_i64(cx: &mut LowerCx<'_>, v: Value, ty: Type) -> Value {
    scalar(cx, v, ty, Type::i64())
}

/// An integer as an index, or the bound of a slice: what is more than all lengths stays that, and does not become
/// negative.
pub(crate) fn to_index(cx: &mut LowerCx<'_>, v: Value, ty: Type) -> Value {
    let v = to_i64(cx, v, ty);
    if ty.strong() != Type::int_of(Int::U64) {
        return v;
    }
    let most = cx.b.i64(i64::MAX);
    cx.b.bin(Op::Umin, v, most)
}

/// A float of that machine type.
pub(crate) fn constant(cx: &mut LowerCx<'_>, t: Ty, x: f64) -> Value {
    if t == Ty::F32 { cx.b.f32(x as f32) } else { cx.b.f64(x) }
}

/// A value widened to f64 for helpers that know nothing else.
pub(crate) fn widen(cx: &mut LowerCx<'_>, v: Value) -> Value {
    if cx.b.ty(v).lane() == Ty::F32 { cx.b.conv(Op::Fconvert, Ty::F64, v) } else { v }
}
