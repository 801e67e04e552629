//! Reductions of elements that are yet to be computed, to one number: what they are is never in memory as a
//! whole.
//!
//! What does not depend on the order is put together in the loop that computes the elements, where that is an
//! operation on integers. Floats, and what else has an order, go through a buffer that stays in the nearest
//! cache, a block at a time: the loop that fills it becomes vectors whatever it computes, and the run-time's
//! kernel puts the block together as it would an array. Sums and extremes of chains of a few instructions
//! need no buffer: see [`super::lanes`].

use super::arrays::{ArrayVal, Stream, element_code, load_element, product};
use super::cast;
use super::chunked_loops::in_chunks;
use super::cx::{LowerCx, Val};
use super::lanes::{self, Mark};
use super::lazy::Elements;
use crate::diag::Result;
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty, Value};
use crate::ops::kernel::{self as k, Reduce, SUM_BLOCK};
use crate::types::{Kind, Type};
use std::cell::Cell;

/// How a reduction of a chain is done.
#[derive(Clone, Copy)]
pub(crate) enum ChainReduction {
    /// As NumPy's pairwise sum of floats.
    Sum,
    /// In the loop, as a type.
    InLoop(InLoop, Type),
    /// Blocks by a kernel, in the elements' own type.
    Blocks(Reduce),
}

/// What is put together in the loop.
#[derive(Clone, Copy)]
pub(crate) enum InLoop {
    Add,
    Multiply,
    Or,
    And,
    CountTrue,
    CountNumbers,
}

impl ChainReduction {
    /// For elements of a type, computed in another; none where an array of them is needed, or better: several
    /// threads can make the elements of a product of floats, which is in order.
    pub(crate) fn of(op: Reduce, dtype: Type, acc: Type, in_parallel: bool) -> Option<ChainReduction> {
        let own = acc == dtype;
        Some(match op {
            Reduce::Sum if is_wide(acc) => ChainReduction::InLoop(InLoop::Add, acc),
            Reduce::Prod if is_wide(acc) => ChainReduction::InLoop(InLoop::Multiply, acc),
            Reduce::Sum if own && acc.is_float() => ChainReduction::Sum,
            Reduce::Any => ChainReduction::InLoop(InLoop::Or, Type::bool()),
            Reduce::All => ChainReduction::InLoop(InLoop::And, Type::bool()),
            Reduce::CountNonzero => ChainReduction::InLoop(InLoop::CountTrue, Type::bool()),
            Reduce::CountNotNan => ChainReduction::InLoop(InLoop::CountNumbers, dtype),
            Reduce::Min | Reduce::Max | Reduce::NanMin | Reduce::NanMax if own => ChainReduction::Blocks(op),
            Reduce::Prod | Reduce::NanProd if own && (acc.is_float() || acc.is_complex()) && !in_parallel => {
                ChainReduction::Blocks(op)
            }
            Reduce::Sum
            | Reduce::Prod
            | Reduce::NanSum
            | Reduce::NanProd
            | Reduce::Min
            | Reduce::Max
            | Reduce::NanMin
            | Reduce::NanMax => return None,
        })
    }
}

/// Whether integers are put together as they are: narrower ones, which only `dtype` asks for, wrap.
pub(crate) fn is_wide(acc: Type) -> bool {
    matches!(*acc, Kind::Int(i) if i.bits() == 64)
}

/// The reduction of all elements.
pub(crate) fn reduce_chain(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    how: ChainReduction,
) -> Result<Val> {
    let n = product(cx, &e.shape);
    reduce_some(cx, e, streams, n, how)
}

/// That of the first `n` elements of the streams.
pub(crate) fn reduce_some(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    n: Value,
    how: ChainReduction,
) -> Result<Val> {
    match how {
        ChainReduction::Sum => pairwise_sum(cx, e, streams, n),
        ChainReduction::InLoop(what, ty) => accumulate(cx, e, streams, n, what, ty),
        ChainReduction::Blocks(op) => in_blocks(cx, e, streams, n, op),
    }
}

impl InLoop {
    pub(crate) fn start(self, cx: &mut LowerCx<'_>) -> Value {
        match self {
            InLoop::Or => cx.b.bool(false),
            InLoop::And => cx.b.bool(true),
            InLoop::Multiply => cx.b.i64(1),
            InLoop::Add | InLoop::CountTrue | InLoop::CountNumbers => cx.b.i64(0),
        }
    }
    pub(crate) fn put(self, cx: &mut LowerCx<'_>, so_far: Value, x: &[Value]) -> Value {
        match self {
            InLoop::Or => cx.or(so_far, x[0]),
            InLoop::And => cx.and(so_far, x[0]),
            InLoop::Multiply => cx.b.bin(Op::Imul, so_far, x[0]),
            InLoop::Add => cx.b.bin(Op::Iadd, so_far, x[0]),
            InLoop::CountTrue => {
                let one = cx.b.conv(Op::Zext, Ty::I64, x[0]);
                cx.b.bin(Op::Iadd, so_far, one)
            }
            InLoop::CountNumbers => {
                let numbers: Vec<Value> = x
                    .iter()
                    .filter(|v| cx.b.ty(**v).is_float())
                    .copied()
                    .collect::<Vec<_>>()
                    .into_iter()
                    .map(|v| cx.b.bin(Op::FcmpEq, v, v))
                    .collect();
                let is_number =
                    numbers.into_iter().reduce(|a, b| cx.and(a, b)).unwrap_or_else(|| cx.b.bool(true));
                let one = cx.b.conv(Op::Zext, Ty::I64, is_number);
                cx.b.bin(Op::Iadd, so_far, one)
            }
        }
    }
    /// What two parts give together.
    pub(crate) fn combine(self, cx: &mut LowerCx<'_>, a: Value, b: Value) -> Value {
        match self {
            InLoop::Or | InLoop::And | InLoop::Multiply | InLoop::Add => self.put(cx, a, &[b]),
            InLoop::CountTrue | InLoop::CountNumbers => cx.b.bin(Op::Iadd, a, b),
        }
    }
}

/// Puts elements together one after the other.
fn accumulate(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    n: Value,
    what: InLoop,
    ty: Type,
) -> Result<Val> {
    let start = what.start(cx);
    let part = |cx: &mut LowerCx<'_>, first: Value, end: Value| {
        cx.for_range_polling_from(first, end, &[start], |cx, i, state| {
            let at = Stream::at(streams, cx, i);
            let x = e.element(cx, &at)?;
            let x = cast::cast(cx, &x, e.dtype, ty)?;
            Ok(vec![what.put(cx, state[0], &x)])
        })
    };
    if !cx.chunks.wanted() {
        let zero = cx.b.i64(0);
        return part(cx, zero, n);
    }
    let (count, parts) = Parts::new(cx, n, 8);
    let state = cx.b.ty(start);
    parts.each(cx, e, n, count, |cx, first, end, place| {
        let sum = part(cx, first, end)?;
        cx.b.store(sum[0], place, 0, Alias::Stack);
        Ok(())
    })?;
    // The first part has begun with what all begin with.
    cx.for_range(count, &[start], |cx, k, so_far| {
        let p = parts.place(cx, k);
        let x = cx.b.load(state, p, 0, Alias::Stack);
        Ok(vec![what.combine(cx, so_far[0], x)])
    })
}

/// What the parts give that are done at the same time; how many there are depends on the length alone.
struct Parts {
    table: Value,
    step: i64,
}

impl Parts {
    /// How many parts, and room for what they give.
    fn new(cx: &mut LowerCx<'_>, n: Value, step: i64) -> (Value, Parts) {
        (
            cx.helper_value(&k::array_sums_parts, &[n]),
            Parts { table: cx.b.slot_addr((step * k::SUBTREES) as u32), step },
        )
    }
    fn place(&self, cx: &mut LowerCx<'_>, k: Value) -> Value {
        let off = cx.b.bin_imm(Op::Imul, k, self.step);
        cx.b.ptr_add(self.table, off)
    }
    /// Runs `one` for each part, with its bounds and its place in the table.
    fn each(
        &self,
        cx: &mut LowerCx<'_>,
        e: &Elements,
        n: Value,
        count: Value,
        one: impl FnOnce(&mut LowerCx<'_>, Value, Value, Value) -> Result<()>,
    ) -> Result<()> {
        each_part(cx, e.lazy.cost(), n, count, |cx, first, end, k| {
            let place = self.place(cx, k);
            one(cx, first, end, place)
        })
    }
}

/// Runs `one` for each of `count` parts of `n` elements, each about so many simple operations, with its
/// bounds and its number.
pub(crate) fn each_part(
    cx: &mut LowerCx<'_>,
    cost: i64,
    n: Value,
    count: Value,
    one: impl FnOnce(&mut LowerCx<'_>, Value, Value, Value) -> Result<()>,
) -> Result<()> {
    let work = cx.b.bin_imm(Op::Imul, n, cost);
    in_chunks(cx, count, work, |cx, from, to| {
        let start = cx.helper_value(&k::array_sums_part, &[n, from]);
        let len = cx.b.bin(Op::Isub, to, from);
        cx.for_range(len, &[start], |cx, i, first| {
            let k = cx.b.bin(Op::Iadd, from, i);
            let next = cx.b.bin_imm(Op::Iadd, k, 1);
            let end = cx.helper_value(&k::array_sums_part, &[n, next]);
            one(cx, first[0], end, k)?;
            Ok(vec![end])
        })?;
        Ok(())
    })
}

// ---- blocks

/// Computes `len` elements from `first` on into memory.
pub(crate) fn fill(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    (to, alias): (Value, Alias),
    first: Value,
    len: Value,
) -> Result<()> {
    cx.for_range(len, &[], |cx, i, _| {
        let place = cx.b.bin(Op::Iadd, first, i);
        let at = Stream::at(streams, cx, place);
        let x = e.element(cx, &at)?;
        let off = cx.b.bin_imm(Op::Imul, i, e.dtype.itemsize());
        let p = cx.b.ptr_add(to, off);
        let size = e.dtype.itemsize() as i32 / x.len() as i32;
        for (k, v) in x.iter().enumerate() {
            cx.b.store(*v, p, k as i32 * size, alias);
        }
        Ok(vec![])
    })?;
    Ok(())
}

/// The address of an element of an array without gaps, by its place in memory.
fn element_of(cx: &mut LowerCx<'_>, a: &ArrayVal, i: Value) -> Value {
    let off = cx.b.bin_imm(Op::Imul, i, a.ty.itemsize());
    cx.b.ptr_add(a.data, off)
}

/// Bytes of the largest number.
const ROOM: i64 = 16;

/// Elements that are taken at a time where no buffer has to hold them.
const STRETCH: i64 = 16 * SUM_BLOCK;

/// Runs `one` for every `length` elements (a power of two) of `total` ones from `first` on: where they begin,
/// how many they are and how many were before them.
fn each_stretch(
    cx: &mut LowerCx<'_>,
    (first, total): (Value, Value),
    length: i64,
    mut one: impl FnMut(&mut LowerCx<'_>, Value, Value, Value) -> Result<()>,
) -> Result<()> {
    let shift = length.trailing_zeros().into();
    let up = cx.b.bin_imm(Op::Iadd, total, length - 1);
    let count = cx.b.bin_imm(Op::Sshr, up, shift);
    cx.for_range(count, &[], |cx, k, _| {
        let done = cx.b.bin_imm(Op::Ishl, k, shift);
        let (at, left, most) =
            (cx.b.bin(Op::Iadd, first, done), cx.b.bin(Op::Isub, total, done), cx.b.i64(length));
        let here = cx.b.bin(Op::Smin, left, most);
        one(cx, at, here, done)?;
        cx.poll();
        Ok(vec![])
    })?;
    Ok(())
}

/// A reduction that a kernel does with each block, going on from where it was.
fn in_blocks(cx: &mut LowerCx<'_>, e: &Elements, streams: &[Stream], n: Value, op: Reduce) -> Result<Val> {
    if let Some(name) = op.no_identity() {
        let some = cx.b.bin_imm(Op::IcmpSgt, n, 0);
        cx.check(
            some,
            Class::ValueError,
            &format!("zero-size array to reduction operation {name} which has no identity"),
        );
    }
    let (code, elem) = (op as i64, element_code(cx, e.dtype)?);
    let length = SUM_BLOCK * 8 / e.dtype.itemsize().max(8);
    let part = |cx: &mut LowerCx<'_>, first: Value, end: Value, place: Value| -> Result<()> {
        let buffer = cx.b.slot_addr((length * e.dtype.itemsize()) as u32);
        let (zero, code) = (cx.b.i64(0), cx.b.i64(code));
        let total = cx.b.bin(Op::Isub, end, first);
        // Of nothing: what the operation begins with.
        cx.helper(&k::array_fold, &[code, elem, buffer, zero, zero, place]);
        let mut direct = None;
        if matches!(op, Reduce::Min | Reduce::Max) && lanes::suits(cx, e, streams) && e.kept.is_none() {
            let at = Stream::at(streams, cx, first);
            let mark = Mark::here(cx);
            let x = e.element(cx, &at)?;
            if mark.is_cheap(cx) {
                direct = Some(x[0]);
                cx.b.store(x[0], place, 0, Alias::Stack);
            }
        }
        let through_buffer = |cx: &mut LowerCx<'_>, first: Value, total: Value, begun: Value| {
            each_stretch(cx, (first, total), length, |cx, at, here, done| {
                fill(cx, e, streams, (buffer, Alias::Stack), at, here)?;
                let begun = cx.b.bin(Op::Bor, begun, done);
                cx.helper(&k::array_fold, &[code, elem, buffer, here, begun, place]);
                Ok(())
            })
        };
        let Some(x) = direct else { return through_buffer(cx, first, total, zero) };
        each_stretch(cx, (first, total), STRETCH, |cx, at, here, _| {
            let so_far = cx.b.load(cx.b.ty(x), place, 0, Alias::Stack);
            let (best, doubtful) = lanes::extreme(cx, e, streams, (at, here), so_far, op)?;
            let one = cx.b.i64(1);
            cx.if_else(
                doubtful,
                |cx| through_buffer(cx, at, here, one).map(|()| vec![]),
                |cx| {
                    cx.b.store(best, place, 0, Alias::Stack);
                    Ok(vec![])
                },
            )?;
            Ok(())
        })
    };
    if !cx.chunks.wanted() {
        let (zero, place) = (cx.b.i64(0), cx.b.slot_addr(ROOM as u32));
        part(cx, zero, n, place)?;
        return Ok(load_element(cx, place, e.dtype));
    }
    let (count, parts) = Parts::new(cx, n, ROOM);
    parts.each(cx, e, n, count, part)?;
    let (zero, one, code) = (cx.b.i64(0), cx.b.i64(1), cx.b.i64(code));
    let first = parts.place(cx, zero);
    let others = cx.b.bin_imm(Op::Isub, count, 1);
    cx.for_range(others, &[], |cx, k, _| {
        let k = cx.b.bin_imm(Op::Iadd, k, 1);
        let p = parts.place(cx, k);
        cx.helper(&k::array_fold, &[code, elem, p, one, one, first]);
        Ok(vec![])
    })?;
    Ok(load_element(cx, first, e.dtype))
}

// ---- sums of floats

/// The sum of floats as NumPy adds an array of them: few one after the other.
fn pairwise_sum(cx: &mut LowerCx<'_>, e: &Elements, streams: &[Stream], n: Value) -> Result<Val> {
    let few = cx.b.bin_imm(Op::IcmpSlt, n, 8);
    let zero = if e.dtype.itemsize() == 4 { cx.b.f32(0.0) } else { cx.b.f64(0.0) };
    let cheap = Cell::new(false);
    cx.if_else(
        few,
        |cx| {
            cx.for_range(n, &[zero], |cx, i, state| {
                let at = Stream::at(streams, cx, i);
                let mark = Mark::here(cx);
                let x = e.element(cx, &at)?;
                cheap.set(mark.is_cheap(cx) && lanes::suits(cx, e, streams));
                if let Some(kept) = &e.kept {
                    let p = element_of(cx, kept, i);
                    cx.b.store(x[0], p, 0, Alias::Array);
                }
                Ok(vec![cx.b.bin(Op::Fadd, state[0], x[0])])
            })
        },
        |cx| {
            if cx.chunks.wanted() {
                sum_of_subtrees(cx, e, streams, n, cheap.get())
            } else {
                let zero = cx.b.i64(0);
                sum_of(cx, e, streams, zero, n, cheap.get())
            }
        },
    )
}

/// The sum of `n` elements from `begin` on, by the way that suits them.
fn sum_of(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    begin: Value,
    n: Value,
    cheap: bool,
) -> Result<Val> {
    if cheap {
        lanes::sum(cx, e, streams, begin, n).map(|x| vec![x])
    } else {
        sum_of_blocks(cx, e, streams, begin, n)
    }
}

/// The subtrees of the sum in pieces, then what they give.
fn sum_of_subtrees(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    n: Value,
    cheap: bool,
) -> Result<Val> {
    let single = e.dtype.itemsize() == 4;
    let (count, parts) = Parts::new(cx, n, 8);
    parts.each(cx, e, n, count, |cx, first, end, place| {
        let size = cx.b.bin(Op::Isub, end, first);
        let sum = sum_of(cx, e, streams, first, size, cheap)?[0];
        let wide = if single { cx.b.conv(Op::Fconvert, Ty::F64, sum) } else { sum };
        cx.b.store(wide, place, 0, Alias::Stack);
        Ok(())
    })?;
    let flag = cx.b.iconst(Ty::I8, single as i64);
    let sum = cx.helper_value(&k::array_sums_join, &[parts.table, count, flag]);
    Ok(vec![if single { cx.b.conv(Op::Fconvert, Ty::F32, sum) } else { sum }])
}

/// Block after block of `n` elements from `begin` on into a buffer (or where they are to stay), and blocks in
/// a tree that the run-time keeps.
fn sum_of_blocks(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    begin: Value,
    n: Value,
) -> Result<Val> {
    let single = e.dtype.itemsize() == 4;
    let (ty, zero) = if single { (Ty::F32, cx.b.f32(0.0)) } else { (Ty::F64, cx.b.f64(0.0)) };
    let item = e.dtype.itemsize();
    let (buffer, state) = (cx.b.slot_addr((SUM_BLOCK * item) as u32), cx.b.slot_addr(k::SUMS as u32));
    let small = cx.b.bin_imm(Op::IcmpSle, n, SUM_BLOCK);
    let (one, most) = (cx.b.i64(1), cx.b.i64(SUM_BLOCK));
    let blocks = cx.if_else(
        small,
        |_| Ok(vec![one]),
        |cx| Ok(vec![cx.helper_value(&k::array_sums_begin, &[state, n, most])]),
    )?[0];
    let last = cx.for_range(blocks, &[begin, zero], |cx, _, carried| {
        let first = carried[0];
        let len = cx.if_else(
            small,
            |_| Ok(vec![n]),
            |cx| Ok(vec![cx.helper_value(&k::array_sums_next, &[state])]),
        )?[0];
        let (buffer, alias) = match &e.kept {
            Some(kept) => (element_of(cx, kept, first), Alias::Array),
            None => (buffer, Alias::Stack),
        };
        fill(cx, e, streams, (buffer, alias), first, len)?;
        let step = cx.b.i64(item);
        let sum =
            cx.helper_value(if single { &k::array_sum_f32 } else { &k::array_sum_f64 }, &[buffer, len, step]);
        let big = cx.not(small);
        cx.if_then(big, |cx| {
            let (wide, flag) = (
                if single { cx.b.conv(Op::Fconvert, Ty::F64, sum) } else { sum },
                cx.b.iconst(Ty::I8, single as i64),
            );
            cx.helper(&k::array_sums_push, &[state, wide, flag]);
            Ok(())
        })?;
        cx.poll();
        Ok(vec![cx.b.bin(Op::Iadd, first, len), sum])
    })?;
    cx.if_else(
        small,
        |_| Ok(vec![last[1]]),
        |cx| {
            let sum = cx.helper_value(&k::array_sums_end, &[state]);
            Ok(vec![if ty == Ty::F32 { cx.b.conv(Op::Fconvert, Ty::F32, sum) } else { sum }])
        },
    )
}
