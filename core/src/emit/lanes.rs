//! Reductions of cheap chains without a buffer: eight elements a turn go into accumulators of their own,
//! which tier 1 keeps in vectors.
//!
//! Sums of floats are cut into the leaves of NumPy's pairwise tree; what a leaf's eight accumulators are and
//! how they are put together is NumPy's too, so the bits are those of an array in memory. Through a buffer
//! (see [`super::chain_reduction`]) each element is written once and read once more, which took a third
//! longer where the arrays are in the cache.

use super::arrays::{ArrayVal, Stream};
use super::cx::LowerCx;
use super::lazy::Elements;
use crate::diag::Result;
use crate::lir::{Alias, InstData, Op, Ty, Value};
use crate::ops::kernel::{
    self as k, LEAF, LEAVES_BYTES, LEAVES_LANES, LEAVES_REST, LEAVES_ROW, Reduce, SUM_LEAVES,
};

/// Accumulators.
pub(crate) const LANES: usize = 8;
/// The most instructions that an element may be, since they are written for each accumulator.
const CHEAP: usize = 24;

/// Where the code of one element begins, to say afterwards whether it is cheap.
pub(crate) struct Mark {
    insts: usize,
    blocks: usize,
}

impl Mark {
    pub(crate) fn here(cx: &LowerCx<'_>) -> Mark {
        Mark { insts: cx.b.func.insts.len(), blocks: cx.b.func.blocks.len() }
    }
    /// Whether what was written since is a few instructions without branches and calls.
    pub(crate) fn is_cheap(&self, cx: &LowerCx<'_>) -> bool {
        let new = &cx.b.func.insts[self.insts..];
        let calls = |n: &crate::lir::InstNode| {
            matches!(
                n.data,
                InstData::Call { .. }
                    | InstData::CallHelper { .. }
                    | InstData::CallIndirect { .. }
                    | InstData::Grid { .. }
            )
        };
        cx.b.func.blocks.len() == self.blocks
            && new.iter().filter(|n| !matches!(n.data, InstData::Const { .. })).count() <= CHEAP
            && !new.iter().any(calls)
    }
}

/// Whether elements are floats whose operands lie side by side, so that eight of them are vectors.
pub(crate) fn suits(cx: &LowerCx<'_>, e: &Elements, streams: &[Stream]) -> bool {
    let item = e.dtype.itemsize();
    let step = |v: Value| {
        cx.b.func.insts.iter().find_map(|n| {
            if let (InstData::Const { bits, .. }, true) = (&n.data, n.results.as_slice() == [v]) {
                Some(*bits as i64)
            } else {
                None
            }
        })
    };
    e.dtype.is_float()
        && matches!(item, 4 | 8)
        && e.lazy.arrays.iter().all(|a| a.ty.itemsize() == item)
        && streams.iter().all(|s| step(s.strides[0]) == Some(item))
}

/// Where an element goes that is also wanted as part of an array.
fn keep(cx: &mut LowerCx<'_>, kept: &ArrayVal, i: Value, x: Value) {
    let off = cx.b.bin_imm(Op::Imul, i, kept.ty.itemsize());
    let p = cx.b.ptr_add(kept.data, off);
    cx.b.store(x, p, 0, Alias::Array);
}

/// One element by its place.
fn one(cx: &mut LowerCx<'_>, e: &Elements, streams: &[Stream], i: Value) -> Result<Value> {
    let at = Stream::at(streams, cx, i);
    let x = e.element(cx, &at)?[0];
    if let Some(kept) = &e.kept {
        keep(cx, kept, i, x);
    }
    Ok(x)
}

/// Elements from `first` on, eight at a time: `eight` gets the accumulators and as many elements and gives
/// the next state.
fn in_eights(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    (first, len): (Value, Value),
    start: &[Value],
    eight: impl FnOnce(&mut LowerCx<'_>, &[Value], &[Value]) -> Vec<Value>,
) -> Result<Vec<Value>> {
    let turns = cx.b.bin_imm(Op::Sshr, len, LANES.trailing_zeros().into());
    cx.for_range_short(turns, start, |cx, turn, state| {
        let done = cx.b.bin_imm(Op::Ishl, turn, LANES.trailing_zeros().into());
        let place = cx.b.bin(Op::Iadd, first, done);
        let (at, kept) = (
            Stream::at(streams, cx, place),
            e.kept.as_ref().map(|kept| {
                let off = cx.b.bin_imm(Op::Imul, place, kept.ty.itemsize());
                cx.b.ptr_add(kept.data, off)
            }),
        );
        let mut found = vec![];
        for lane in 0..LANES {
            let step = cx.b.i64(lane as i64 * e.dtype.itemsize());
            let here: Vec<Value> =
                at.iter().map(|p| if lane == 0 { *p } else { cx.b.ptr_add(*p, step) }).collect();
            found.push(e.element(cx, &here)?[0]);
        }
        if let Some(p) = kept {
            for (lane, x) in found.iter().enumerate() {
                cx.b.store(*x, p, (lane as i64 * e.dtype.itemsize()) as i32, Alias::Array);
            }
        }
        Ok(eight(cx, state, &found))
    })
}

/// The elements that are left when eight at a time have been taken, one by one.
fn rest(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    (first, len): (Value, Value),
    start: &[Value],
    mut each: impl FnMut(&mut LowerCx<'_>, Value, &[Value], Value) -> Vec<Value>,
) -> Result<Vec<Value>> {
    let (done, left) =
        (cx.b.bin_imm(Op::Band, len, !(LANES as i64 - 1)), cx.b.bin_imm(Op::Band, len, LANES as i64 - 1));
    let behind = cx.b.bin(Op::Iadd, first, done);
    cx.for_range_short(left, start, |cx, i, state| {
        let place = cx.b.bin(Op::Iadd, behind, i);
        let x = one(cx, e, streams, place)?;
        Ok(each(cx, i, state, x))
    })
}

pub(crate) fn constant(cx: &mut LowerCx<'_>, single: bool, x: f64) -> Value {
    if single { cx.b.f32(x as f32) } else { cx.b.f64(x) }
}

/// Writes accumulators to row `k` of the table, where the run-time puts them together. LLVM makes vectors of
/// what is stored side by side; were they added up here it would make vectors of what these additions pair.
pub(crate) fn store_lanes(cx: &mut LowerCx<'_>, lanes: &[Value], table: Value, k: Value) {
    let item = i64::from(cx.b.ty(lanes[0]).bytes());
    let off = cx.b.bin_imm(Op::Imul, k, LEAVES_ROW);
    let p = cx.b.ptr_add(table, off);
    for (lane, x) in lanes.iter().enumerate() {
        cx.b.store(*x, p, (LEAVES_LANES + lane as i64 * item) as i32, Alias::Stack);
    }
}

/// Element `i` of those that are left of the last leaf, in the table.
pub(crate) fn keep_rest(cx: &mut LowerCx<'_>, x: Value, leaves: Value, i: Value) {
    let off = cx.b.bin_imm(Op::Imul, i, i64::from(cx.b.ty(x).bytes()));
    let p = cx.b.ptr_add(leaves, off);
    cx.b.store(x, p, LEAVES_REST as i32, Alias::Stack);
}

/// What accumulators of sums begin with: negative zero changes nothing that is added to it.
pub(crate) fn nothing(cx: &mut LowerCx<'_>, single: bool) -> Value {
    constant(cx, single, -0.0)
}

/// The accumulators of a leaf of up to [`LEAF`] elements, and what is left of it, in the table.
fn leaf(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    range: (Value, Value),
    leaves: Value,
    k: Value,
) -> Result<()> {
    let nothing = nothing(cx, e.dtype.itemsize() == 4);
    let lanes = in_eights(cx, e, streams, range, &[nothing; LANES], |cx, a, b| {
        a.iter().zip(b).map(|(a, b)| cx.b.bin(Op::Fadd, *a, *b)).collect()
    })?;
    store_lanes(cx, &lanes, leaves, k);
    rest(cx, e, streams, range, &[], |cx, i, _, x| {
        keep_rest(cx, x, leaves, i);
        vec![]
    })?;
    Ok(())
}

/// What adds a leaf to the table of each sum: its elements, its number, the tables; and the state of what
/// goes along with the sums.
pub(crate) type Leaf<'a> =
    dyn FnMut(&mut LowerCx<'_>, (Value, Value), Value, &[Value], &[Value]) -> Result<Vec<Value>> + 'a;

/// Pairwise sums of `n` elements from `begin` on, each in float32 or not, leaf by leaf of a tree for each,
/// which all look alike; and the last state of what goes along.
pub(crate) fn leaf_by_leaf(
    cx: &mut LowerCx<'_>,
    (begin, n): (Value, Value),
    singles: &[bool],
    start: &[Value],
    leaf: &mut Leaf<'_>,
) -> Result<(Vec<Value>, Vec<Value>)> {
    let (states, tables): (Vec<Value>, Vec<Value>) =
        singles.iter().map(|_| (cx.b.slot_addr(k::SUMS as u32), cx.b.slot_addr(LEAVES_BYTES as u32))).unzip();
    let flags: Vec<Value> = singles.iter().map(|single| cx.b.iconst(Ty::I8, *single as i64)).collect();
    let small = cx.b.bin_imm(Op::IcmpSle, n, LEAF);
    let (one, most) = (cx.b.i64(1), cx.b.i64(SUM_LEAVES));
    let blocks = cx.if_else(
        small,
        |_| Ok(vec![one]),
        |cx| {
            let counts: Vec<Value> =
                states.iter().map(|s| cx.helper_value(&k::array_sums_begin, &[*s, n, most])).collect();
            Ok(vec![counts[0]])
        },
    )?[0];
    let last = cx.for_range(blocks, &[&[begin], start].concat(), |cx, _, carried| {
        let count = cx.if_else(
            small,
            |cx| {
                cx.b.store(n, tables[0], 0, Alias::Stack);
                Ok(vec![one])
            },
            |cx| {
                let counts: Vec<Value> = states
                    .iter()
                    .zip(&tables)
                    .map(|(s, t)| cx.helper_value(&k::array_sums_leaves, &[*s, *t]))
                    .collect();
                Ok(vec![counts[0]])
            },
        )?[0];
        let done = cx.for_range(count, carried, |cx, i, carried| {
            let off = cx.b.bin_imm(Op::Imul, i, 8);
            let place = cx.b.ptr_add(tables[0], off);
            let len = cx.b.load(Ty::I64, place, 0, Alias::Stack);
            let state = leaf(cx, (carried[0], len), i, &tables, &carried[1..])?;
            let next = cx.b.bin(Op::Iadd, carried[0], len);
            Ok([vec![next], state].concat())
        })?;
        let big = cx.not(small);
        cx.if_then(big, |cx| {
            for ((s, t), flag) in states.iter().zip(&tables).zip(&flags) {
                cx.helper(&k::array_sums_join_leaves, &[*s, *t, *flag]);
            }
            cx.poll();
            Ok(())
        })?;
        Ok(done)
    })?;
    let totals = cx.if_else(
        small,
        |cx| {
            Ok(tables
                .iter()
                .zip(&flags)
                .map(|(t, flag)| cx.helper_value(&k::array_sums_leaf, &[*t, n, *flag]))
                .collect())
        },
        |cx| Ok(states.iter().map(|s| cx.helper_value(&k::array_sums_end, &[*s])).collect()),
    )?;
    let positive = cx.b.f64(0.0);
    let totals = totals
        .iter()
        .zip(singles)
        .map(|(t, single)| {
            let t = cx.b.bin(Op::Fadd, positive, *t);
            if *single { cx.b.conv(Op::Fconvert, Ty::F32, t) } else { t }
        })
        .collect();
    Ok((totals, last[1..].to_vec()))
}

/// The pairwise sum of `n` elements from `begin` on.
pub(crate) fn sum(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    begin: Value,
    n: Value,
) -> Result<Value> {
    let (totals, _) =
        leaf_by_leaf(cx, (begin, n), &[e.dtype.itemsize() == 4], &[], &mut |cx, range, k, tables, _| {
            leaf(cx, e, streams, range, tables[0], k)?;
            Ok(vec![])
        })?;
    Ok(totals[0])
}

/// The best of eight accumulators; NaN where eight more, sums of what they have seen, add up to NaN.
pub(crate) fn best_lane(cx: &mut LowerCx<'_>, lanes: &[Value], op: Reduce) -> Value {
    let table = cx.b.slot_addr(LEAVES_BYTES as u32);
    let (row, next) = (cx.b.i64(0), cx.b.i64(1));
    store_lanes(cx, &lanes[..LANES], table, row);
    store_lanes(cx, &lanes[LANES..], table, next);
    let is_single = cx.b.ty(lanes[0]) == Ty::F32;
    let (max, single) = (cx.b.bool(op == Reduce::Max), cx.b.bool(is_single));
    let best = cx.helper_value(&k::array_lanes_extreme, &[table, max, single]);
    if is_single { cx.b.conv(Op::Fconvert, Ty::F32, best) } else { best }
}

/// The smaller (larger) of two numbers.
pub(crate) fn choose(cx: &mut LowerCx<'_>, op: Reduce, so_far: Value, x: Value) -> Value {
    let wins = cx.b.bin(if op == Reduce::Max { Op::FcmpGt } else { Op::FcmpLt }, x, so_far);
    cx.b.select(wins, x, so_far)
}

/// Goes on with the smallest (largest) number: that of `so_far` and `len` elements from `first` on, and
/// whether there may be NaN among them. The sum is NaN wherever an element is; where it is for another reason
/// (infinities) the answer is only slow to come by.
pub(crate) fn extreme(
    cx: &mut LowerCx<'_>,
    e: &Elements,
    streams: &[Stream],
    range: (Value, Value),
    so_far: Value,
    op: Reduce,
) -> Result<(Value, Value)> {
    let zero = constant(cx, e.dtype.itemsize() == 4, 0.0);
    let start: Vec<Value> = [[so_far; LANES], [zero; LANES]].concat();
    let lanes = in_eights(cx, e, streams, range, &start, |cx, state, xs| {
        let (best, sums) = state.split_at(LANES);
        let mut next: Vec<Value> = best.iter().zip(xs).map(|(a, x)| choose(cx, op, *a, *x)).collect();
        next.extend(sums.iter().zip(xs).map(|(s, x)| cx.b.bin(Op::Fadd, *s, *x)));
        next
    })?;
    let best = best_lane(cx, &lanes, op);
    let found = rest(cx, e, streams, range, &[best, zero], |cx, _, state, x| {
        vec![choose(cx, op, state[0], x), cx.b.bin(Op::Fadd, state[1], x)]
    })?;
    let (nan, others) = (cx.b.bin(Op::FcmpUno, best, best), cx.b.bin(Op::FcmpUno, found[1], found[1]));
    Ok((found[0], cx.or(nan, others)))
}
