//! Vectors from arrays and to them: side by side, in steps, at places of their own; all lanes, or those of a mask.
//!
//! A vector that begins at an index counts on from there, so a negative index is outside; the indices of `gather`
//! and `scatter` are those of `a[k]`. Bounds are checked before anything is written.

use super::lanes::{is_mask, lane_count, simd, vector_of};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, load_element, store_element};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::vector::{joined, lanes};
use crate::emit::writing::check_writable;
use crate::exc::Class;
use crate::lir::{Alias, Op, Value};
use crate::types::promote;
use crate::types::{Access, ArrayType, Const, Layout, Type};
use crate::typing::{Answer, Arg, no_match};

/// What is said where a vector does not lie in an array; the class says it too.
const OUTSIDE: &str = "a vector from index {} on does not lie in an array of {} elements";

fn array(what: &str, args: &[Arg]) -> Result<ArrayType> {
    let a = args[0].ty.as_array().ok_or_else(|| no_match(what, args))?;
    if a.ndim != 1 {
        let text = format!("{what} takes an array of one dimension, not {}", a.ndim);
        return Err(Diagnostic::new(Code::NoMatchingOperation, text).help("take a row of it, such as `a[i]`"));
    }
    Type::simd(a.dtype, 2).map(|_| a).ok_or_else(|| no_match(what, args))
}

fn checked_mask(what: &str, mask: &Arg, n: usize, args: &[Arg]) -> Result<()> {
    if mask.is_none() || is_mask(mask, n) { Ok(()) } else { Err(no_match(what, args)) }
}

/// A number that an element of an array can be made of without loss of kind.
fn fits(x: Type, t: Type) -> bool {
    x.is_number() && !x.is_complex() && promote::result_type(t, x) == t
}

pub(super) fn load_rule(args: &[Arg]) -> Result<Answer> {
    let what = "simd.load()";
    let (a, n) = (array(what, args)?, lane_count(what, &args[2])?);
    checked_mask(what, &args[4], n, args)?;
    if !args[1].ty.is_index() || !args[3].ty.is_index() || !fits(args[5].ty, a.dtype) {
        return Err(no_match(what, args));
    }
    let mut types: Vec<Type> = args.iter().map(|a| a.ty).collect();
    (types[1], types[3]) = (Type::int(), Type::int());
    Ok(Answer::coerced(vector_of(a.dtype, n, what, args)?, types))
}

pub(super) fn store_rule(args: &[Arg]) -> Result<Answer> {
    let what = "simd.store()";
    let a = array(what, args)?;
    let (_, n) = simd(&args[2]).filter(|(t, _)| fits(*t, a.dtype)).ok_or_else(|| no_match(what, args))?;
    checked_mask(what, &args[4], n, args)?;
    if !args[1].ty.is_index() || !args[3].ty.is_index() {
        return Err(no_match(what, args));
    }
    let mut types: Vec<Type> = args.iter().map(|a| a.ty).collect();
    (types[1], types[3]) = (Type::int(), Type::int());
    let ret = if a.access == Access::Read { Type::never() } else { Type::none() };
    Ok(Answer::coerced(ret, types))
}

pub(super) fn gather_rule(args: &[Arg]) -> Result<Answer> {
    let what = "simd.gather()";
    let a = array(what, args)?;
    let (_, n) = simd(&args[1]).filter(|(t, _)| t.is_int()).ok_or_else(|| no_match(what, args))?;
    checked_mask(what, &args[2], n, args)?;
    if !fits(args[3].ty, a.dtype) {
        return Err(no_match(what, args));
    }
    Ok(Answer::of(vector_of(a.dtype, n, what, args)?))
}

pub(super) fn scatter_rule(args: &[Arg]) -> Result<Answer> {
    let what = "simd.scatter()";
    let a = array(what, args)?;
    let (_, n) = simd(&args[1]).filter(|(t, _)| t.is_int()).ok_or_else(|| no_match(what, args))?;
    checked_mask(what, &args[3], n, args)?;
    if !simd(&args[2]).is_some_and(|(t, m)| m == n && fits(t, a.dtype)) {
        return Err(no_match(what, args));
    }
    Ok(Answer::of(if a.access == Access::Read { Type::never() } else { Type::none() }))
}

/// The places of lanes in a dimension.
enum Places {
    /// The first one, and elements from one to the next, where that is known.
    Run { first: Value, step: Value, unit: bool },
    /// As a vector, and lane by lane.
    Each(Value, Val),
}

impl Places {
    fn run(c: &OpCall<'_>) -> Places {
        let unit = c.consts[3].as_ref().and_then(Const::as_int) == Some(1);
        Places::Run { first: c.args[1][0], step: c.args[3][0], unit }
    }
    /// Of each lane, wrapped where a negative index counts from the end.
    fn each(cx: &mut LowerCx<'_>, c: &OpCall<'_>, n: Value) -> Result<Places> {
        let (t, _) = c.types[1].as_simd().ok_or_else(|| Diagnostic::internal("a vector"))?;
        let all = joined(cx, &c.args[1], c.types[1])?;
        let all = cast::cast(cx, &[all], t, Type::int())?[0];
        let all = cx.wrap_index(all, n);
        let each = lanes(cx, all);
        Ok(Places::Each(all, each))
    }
    fn of_lane(&self, cx: &mut LowerCx<'_>, k: usize) -> Value {
        match self {
            Places::Run { first, step, .. } => {
                let off = cx.b.bin_imm(Op::Imul, *step, k as i64);
                cx.b.bin(Op::Iadd, *first, off)
            }
            Places::Each(_, each) => each[k],
        }
    }
    /// Whether all of `lanes` places are in a dimension of `n`.
    fn inside(&self, cx: &mut LowerCx<'_>, lanes: usize, n: Value) -> Value {
        match self {
            Places::Run { first, unit: true, .. } => {
                let end = cx.b.bin_imm(Op::Isub, n, lanes as i64);
                let (from, to) = (cx.b.bin_imm(Op::IcmpSge, *first, 0), cx.b.bin(Op::IcmpSle, *first, end));
                cx.and(from, to)
            }
            Places::Each(all, _) => {
                let each = cx.b.bin(Op::IcmpUlt, *all, n);
                cx.b.un(Op::EveryLane, each)
            }
            Places::Run { .. } => {
                let mut all = cx.b.bool(true);
                for k in 0..lanes {
                    let place = self.of_lane(cx, k);
                    let ok = cx.b.bin(Op::IcmpUlt, place, n);
                    all = cx.and(all, ok);
                }
                all
            }
        }
    }
}

/// IndexError unless `ok`.
fn check(cx: &mut LowerCx<'_>, ok: Value, places: &Places, n: Value) {
    if !cx.options.boundscheck {
        return;
    }
    match places {
        Places::Run { first, .. } => cx.check_format(ok, Class::IndexError, OUTSIDE, &[*first, n]),
        Places::Each(..) => cx.check_format(
            ok,
            Class::IndexError,
            "an index of a lane is out of bounds for an array of {} elements",
            &[n],
        ),
    }
}

/// Whether the lanes lie side by side in memory: none where only the run knows.
fn side_by_side(a: &ArrayVal, places: &Places) -> Option<bool> {
    match places {
        Places::Run { unit: true, .. } => (a.ty.layout != Layout::A).then_some(true),
        Places::Run { .. } | Places::Each(..) => Some(false),
    }
}

/// A choice between a vector in memory and lanes one by one.
fn by_layout(
    cx: &mut LowerCx<'_>,
    a: &ArrayVal,
    places: &Places,
    whole: impl FnOnce(&mut LowerCx<'_>) -> Result<Val>,
    each: impl FnOnce(&mut LowerCx<'_>) -> Result<Val>,
) -> Result<Val> {
    match side_by_side(a, places) {
        Some(true) => whole(cx),
        Some(false) => each(cx),
        None => {
            let unit = cx.b.bin_imm(Op::IcmpEq, a.strides[0], a.ty.itemsize());
            cx.if_else(unit, whole, each)
        }
    }
}

/// All lanes, which are in bounds.
fn read(cx: &mut LowerCx<'_>, a: &ArrayVal, places: &Places, t: Type) -> Result<Val> {
    let (_, n) = t.as_simd().ok_or_else(|| Diagnostic::internal("a vector"))?;
    let ty = t.vector_ty().ok_or_else(|| Diagnostic::internal("a vector"))?;
    let first = places.of_lane(cx, 0);
    by_layout(
        cx,
        a,
        places,
        |cx| {
            let at = a.address(cx, &[first]);
            let v = cx.b.load(ty, at, 0, Alias::Array);
            Ok(lanes(cx, v))
        },
        |cx| {
            let mut out = vec![];
            for k in 0..n {
                let place = places.of_lane(cx, k);
                out.extend(a.load(cx, &[place]));
            }
            Ok(out)
        },
    )
}

fn write(cx: &mut LowerCx<'_>, a: &ArrayVal, places: &Places, v: &[Value], t: Type) -> Result<()> {
    let first = places.of_lane(cx, 0);
    by_layout(
        cx,
        a,
        places,
        |cx| {
            let (at, whole) = (a.address(cx, &[first]), joined(cx, v, t)?);
            cx.b.store(whole, at, 0, Alias::Array);
            Ok(vec![])
        },
        |cx| {
            for (k, x) in v.iter().enumerate() {
                let place = places.of_lane(cx, k);
                a.store(cx, &[place], &[*x]);
            }
            Ok(vec![])
        },
    )?;
    Ok(())
}

/// All lanes of the mask lie in the array.
fn check_masked(cx: &mut LowerCx<'_>, places: &Places, mask: Value, count: usize, n: Value) -> Result<()> {
    let all = match places {
        Places::Each(all, _) => *all,
        Places::Run { .. } => {
            let each: Val = (0..count).map(|k| places.of_lane(cx, k)).collect();
            let t = Type::simd(Type::int(), count).ok_or_else(|| Diagnostic::internal("a vector"))?;
            joined(cx, &each, t)?
        }
    };
    let (inside, out) = (cx.b.bin(Op::IcmpUlt, all, n), cx.not(mask));
    let fine = cx.or(inside, out);
    let all = cx.b.un(Op::EveryLane, fine);
    check(cx, all, places, n);
    Ok(())
}

/// Lanes of the mask, `fill` in the others: a whole vector where all of it lies in the array, else lane by lane,
/// where an address that counts for nothing is that of a piece of the stack.
fn read_masked(
    cx: &mut LowerCx<'_>,
    a: &ArrayVal,
    places: &Places,
    t: Type,
    mask: &[Value],
    fill: Value,
) -> Result<Val> {
    let (element, count) = t.as_simd().ok_or_else(|| Diagnostic::internal("a vector"))?;
    let masks = Type::simd(Type::bool(), count).ok_or_else(|| Diagnostic::internal("a mask"))?;
    let n = a.shape[0];
    let inside = places.inside(cx, count, n);
    cx.if_else(
        inside,
        |cx| {
            let v = read(cx, a, places, t)?;
            let (v, m) = (joined(cx, &v, t)?, joined(cx, mask, masks)?);
            let chosen = cx.b.select(m, v, fill);
            Ok(lanes(cx, chosen))
        },
        |cx| {
            let whole = joined(cx, mask, masks)?;
            check_masked(cx, places, whole, count, n)?;
            let nowhere = cx.b.slot_addr(16);
            let mut out = vec![];
            for (k, m) in mask.iter().enumerate() {
                let place = places.of_lane(cx, k);
                let at = a.address(cx, &[place]);
                let at = cx.b.select(*m, at, nowhere);
                let x = load_element(cx, at, element)[0];
                out.push(cx.b.select(*m, x, fill));
            }
            Ok(out)
        },
    )
}

fn write_masked(
    cx: &mut LowerCx<'_>,
    a: &ArrayVal,
    places: &Places,
    v: &[Value],
    t: Type,
    mask: &[Value],
) -> Result<()> {
    let n = a.shape[0];
    let masks = Type::simd(Type::bool(), v.len()).ok_or_else(|| Diagnostic::internal("a mask"))?;
    let all = joined(cx, mask, masks)?;
    let (inside, every) = (places.inside(cx, v.len(), n), cx.b.un(Op::EveryLane, all));
    let whole = cx.and(inside, every);
    cx.if_else(
        whole,
        |cx| write(cx, a, places, v, t).map(|()| vec![]),
        |cx| {
            check_masked(cx, places, all, v.len(), n)?;
            for (k, (m, x)) in mask.iter().zip(v).enumerate() {
                cx.if_then(*m, |cx| {
                    let place = places.of_lane(cx, k);
                    let at = a.address(cx, &[place]);
                    store_element(cx, at, a.ty.dtype, &[*x]);
                    Ok(())
                })?;
            }
            Ok(vec![])
        },
    )?;
    Ok(())
}

fn load(cx: &mut LowerCx<'_>, c: &OpCall<'_>, a: &ArrayVal, places: &Places, mask: usize) -> Result<Val> {
    let n = a.shape[0];
    if let Some((_, _)) = c.types[mask].as_simd() {
        let fill = cast::element(cx, &c.args[mask + 1], c.types[mask + 1], a.ty.dtype)?[0];
        return read_masked(cx, a, places, c.ret, &c.args[mask], fill);
    }
    let count = c.ret.as_simd().map_or(0, |(_, n)| n);
    let ok = places.inside(cx, count, n);
    check(cx, ok, places, n);
    read(cx, a, places, c.ret)
}

pub(super) fn emit_load(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    load(cx, c, &a, &Places::run(c), 4)
}

pub(super) fn emit_gather(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let places = Places::each(cx, c, a.shape[0])?;
    load(cx, c, &a, &places, 2)
}

fn store(cx: &mut LowerCx<'_>, c: &OpCall<'_>, a: &ArrayVal, places: &Places, mask: usize) -> Result<Val> {
    check_writable(cx, a, "assignment destination is read-only");
    if a.ty.access == Access::Read {
        cx.raise_and_continue(Class::ValueError, "assignment destination is read-only");
        return Ok(vec![]);
    }
    let (from, count) = c.types[2].as_simd().ok_or_else(|| Diagnostic::internal("a vector"))?;
    let t = Type::simd(a.ty.dtype, count).ok_or_else(|| Diagnostic::internal("a vector"))?;
    let v = joined(cx, &c.args[2], c.types[2])?;
    let v = cast::cast(cx, &[v], from, a.ty.dtype)?[0];
    let v = lanes(cx, v);
    if c.types[mask].as_simd().is_some() {
        write_masked(cx, a, places, &v, t, &c.args[mask])?;
        return Ok(vec![]);
    }
    let ok = places.inside(cx, count, a.shape[0]);
    check(cx, ok, places, a.shape[0]);
    write(cx, a, places, &v, t)?;
    Ok(vec![])
}

pub(super) fn emit_store(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    store(cx, c, &a, &Places::run(c), 4)
}

pub(super) fn emit_scatter(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let places = Places::each(cx, c, a.shape[0])?;
    store(cx, c, &a, &places, 3)
}
