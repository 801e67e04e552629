//! Writing to arrays: whether that may be, and what is done where something that is read shares their memory.

use super::arrays::{ArrayVal, copy_elements};
use super::cx::LowerCx;
use super::same::Made;
use crate::diag::Result;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{Access, Layout};

/// ValueError where an array that may be read-only is.
pub(crate) fn check_writable(cx: &mut LowerCx<'_>, a: &ArrayVal, text: &str) {
    if let (Access::Either, Some(frozen)) = (a.ty.access, a.frozen) {
        let ok = cx.not(frozen);
        cx.check(ok, Class::ValueError, text);
    }
}

/// Whether `from` broadcasts to exactly `to`; none when that is known.
pub(crate) fn broadcasts_to(cx: &mut LowerCx<'_>, from: &[Value], to: &[Value]) -> Option<Value> {
    let lead = to.len().saturating_sub(from.len());
    let mut fits = None;
    for (f, t) in from.iter().zip(&to[lead..]) {
        if f == t {
            continue;
        }
        let same = cx.b.bin(Op::IcmpEq, *f, *t);
        let one = cx.b.bin_imm(Op::IcmpEq, *f, 1);
        let ok = cx.or(same, one);
        fits = Some(match fits {
            Some(x) => cx.and(x, ok),
            None => ok,
        });
    }
    fits
}

/// Whether two arrays may share bytes without being the very same view, whose elements are read before they
/// are written at the same place.
pub(crate) fn overlaps(cx: &mut LowerCx<'_>, a: &ArrayVal, b: &ArrayVal) -> Value {
    let meet = extents_meet(cx, a, b);
    match same_view(cx, a, b) {
        None => meet,
        Some(same) => {
            let differ = cx.not(same);
            cx.and(meet, differ)
        }
    }
}

/// Whether the address ranges of two arrays meet.
pub(crate) fn extents_meet(cx: &mut LowerCx<'_>, a: &ArrayVal, b: &ArrayVal) -> Value {
    let (a_low, a_high) = bounds(cx, a);
    let (b_low, b_high) = bounds(cx, b);
    let x = cx.b.bin(Op::IcmpUlt, a_low, b_high);
    let y = cx.b.bin(Op::IcmpUlt, b_low, a_high);
    cx.and(x, y)
}

/// Whether two arrays are the very same elements in the same order; none when their types say no.
pub(crate) fn same_view(cx: &mut LowerCx<'_>, a: &ArrayVal, b: &ArrayVal) -> Option<Value> {
    if a.shape.len() != b.shape.len() || a.ty.dtype != b.ty.dtype {
        return None;
    }
    let mut same = cx.b.bin(Op::IcmpEq, a.data, b.data);
    for (s, t) in a.strides.iter().zip(&b.strides).chain(a.shape.iter().zip(&b.shape)) {
        if s == t {
            continue;
        }
        let eq = cx.b.bin(Op::IcmpEq, *s, *t);
        same = cx.and(same, eq);
    }
    Some(same)
}

/// First byte and the one behind the last byte of an array's elements, as `ptr`s.
fn bounds(cx: &mut LowerCx<'_>, a: &ArrayVal) -> (Value, Value) {
    let (mut low, mut high) = (a.data, a.data);
    let zero = cx.b.i64(0);
    for (n, s) in a.shape.iter().zip(&a.strides) {
        let last = cx.b.bin_imm(Op::Isub, *n, 1);
        let last = cx.b.bin(Op::Smax, last, zero);
        let span = cx.b.bin(Op::Imul, last, *s);
        let (neg, pos) = (cx.b.bin(Op::Smin, span, zero), cx.b.bin(Op::Smax, span, zero));
        low = cx.b.ptr_add(low, neg);
        high = cx.b.ptr_add(high, pos);
    }
    let item = cx.b.i64(a.ty.itemsize());
    (low, cx.b.ptr_add(high, item))
}

/// What is raised where there is no memory for a temporary.
pub(crate) const OVERLAP: &str = "arrays overlap, which takes a copy that there is no memory for";

/// Lets `run` write to the target, or to a temporary where the target shares memory with one of the arrays
/// that are read, other than element with element; it gets the arrays that it is to read too. `partly` where
/// some elements are to stay as they are.
pub(crate) fn write_apart(
    cx: &mut LowerCx<'_>,
    target: &ArrayVal,
    read: &[ArrayVal],
    partly: bool,
    run: &mut dyn FnMut(&mut LowerCx<'_>, &ArrayVal, &[ArrayVal]) -> Result<()>,
) -> Result<()> {
    let own: Vec<bool> = {
        let made = Made::new(cx.b.func);
        read.iter().map(|a| made.same_view(a, target)).collect()
    };
    let mut shared = None;
    for (a, _) in read.iter().zip(&own).filter(|(_, own)| !**own) {
        let meet = overlaps(cx, target, a);
        shared = Some(match shared {
            Some(s) => cx.or(s, meet),
            None => meet,
        });
    }
    // The target itself is read where it is written: with two addresses LLVM would make no vectors.
    let reads = |to: &ArrayVal| -> Vec<ArrayVal> {
        read.iter().zip(&own).map(|(a, own)| if *own { to.clone() } else { a.clone() }).collect()
    };
    let Some(shared) = shared else { return run(cx, target, &reads(target)) };
    if !cx.options.platform.allocates() {
        let apart = cx.not(shared);
        cx.check(apart, Class::BufferError, OVERLAP);
        return run(cx, target, &reads(target));
    }
    let partly = partly || own.contains(&true);
    // One loop serves both: it writes to the temporary or to the target.
    let chosen = cx.if_else(
        shared,
        |cx| {
            let layout = if target.ty.layout == Layout::F { Layout::F } else { Layout::C };
            let t = ArrayVal::alloc(cx, target.ty.dtype, &target.shape, layout, false)?;
            // What a mask leaves out is to stay.
            if partly {
                cx.guarded(&[t.owner], |cx| copy_elements(cx, &t, target))?;
            }
            Ok([vec![t.owner, t.data], t.strides].concat())
        },
        |cx| Ok([vec![cx.b.null(), target.data], target.strides.clone()].concat()),
    )?;
    let strides = if target.ty.layout == Layout::A { chosen[2..].to_vec() } else { target.strides.clone() };
    let to = ArrayVal { owner: chosen[0], data: chosen[1], strides, ..target.clone() };
    cx.guarded(&[to.owner], |cx| run(cx, &to, &reads(&to)))?;
    cx.guarded(&[to.owner], |cx| cx.if_then(shared, |cx| copy_elements(cx, target, &to)))?;
    cx.release_object(to.owner);
    Ok(())
}
