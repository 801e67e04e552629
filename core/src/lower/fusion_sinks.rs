//! Several reductions of chains in one loop ([`super::reduction_fusion`] finds them): eight elements a turn,
//! with accumulators for each reduction, as [`crate::emit::lanes`] has them for one. So each sum has NumPy's
//! pairwise tree, and the bits that it has alone.

use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, Stream, element_code, load_element, product};
use crate::emit::cast;
use crate::emit::chain_reduction::{InLoop, each_part, fill};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::lanes::{LANES, best_lane, choose, constant, keep_rest, leaf_by_leaf, nothing, store_lanes};
use crate::emit::lazy::{Elements, Lazy, Operand};
use crate::lir::{Alias, Op, Ty, Value};
use crate::ops::kernel::{self as k, Reduce, SUM_BLOCK, SUM_LEAVES};
use crate::ops::reduce;
use crate::ops::ufunc::Chain;
use crate::ssa::FusedStep;
use crate::types::{Const, Layout, Type};

/// One of the reductions: what it reads, of which type and shape, and the call that it was.
pub(crate) struct Sink {
    pub what: Reduce,
    pub of: Operand,
    pub dtype: Type,
    pub layout: Layout,
    pub shape: Vec<Value>,
    pub args: Vec<Val>,
    pub types: Vec<Type>,
    pub consts: Vec<Option<Const>>,
    pub ret: Type,
}

/// What a reduction keeps while elements go by.
#[derive(Clone, Copy)]
enum Keeps {
    /// The sums of a leaf of the tree.
    Leaf,
    /// The best so far, and sums that are NaN wherever an element is.
    Best,
    /// What does not depend on the order, as a type.
    Whole(InLoop, Type),
}

/// The numbers that the reductions give, one after the other.
pub(crate) fn reduce(cx: &mut LowerCx<'_>, lazy: &Lazy, sinks: &[Sink]) -> Result<Val> {
    let first = sinks.first().ok_or_else(|| Diagnostic::internal("no reduction"))?;
    let apart = |cx: &mut LowerCx<'_>| {
        let mut all = vec![];
        for e in sinks {
            all.extend(e.alone(cx, lazy)?);
        }
        Ok(all)
    };
    let Some((streams, same)) = lazy.streams(cx, &first.shape, first.layout) else { return apart(cx) };
    let n = product(cx, &first.shape);
    let keeps = sinks.iter().map(Sink::keeps).collect();
    let group = Group { lazy, streams, sinks, keeps };
    match same {
        None => group.all(cx, n),
        Some(same) => cx.if_else(same, |cx| group.all(cx, n), apart),
    }
}

impl Sink {
    pub(crate) fn new(
        cx: &mut LowerCx<'_>,
        chain: &mut Chain,
        step: &FusedStep,
        args: Vec<Val>,
        types: Vec<Type>,
        consts: Vec<Option<Const>>,
    ) -> Result<Sink> {
        let what = reduce::of_row(step.op)
            .ok_or_else(|| Diagnostic::internal(format!("{} is no reduction", step.op.name())))?;
        let array = types[0].as_array().ok_or_else(|| Diagnostic::internal("elements of no array"))?;
        let (of, shape) = match chain.operands[0].take() {
            Some((k, shape)) => (Operand::Step(k), shape),
            None => {
                let a = ArrayVal::new(cx, &args[0], types[0])?;
                let shape = a.shape.clone();
                (Operand::Array(chain.lazy.read(a)), shape)
            }
        };
        Ok(Sink {
            what,
            of,
            dtype: array.dtype,
            layout: array.layout,
            shape,
            args,
            types,
            consts,
            ret: step.ty,
        })
    }

    fn keeps(&self) -> Keeps {
        match self.what {
            Reduce::Sum if self.dtype.is_float() => Keeps::Leaf,
            Reduce::Min | Reduce::Max => Keeps::Best,
            Reduce::Any => Keeps::Whole(InLoop::Or, Type::bool()),
            Reduce::All => Keeps::Whole(InLoop::And, Type::bool()),
            Reduce::CountNonzero => Keeps::Whole(InLoop::CountTrue, Type::bool()),
            Reduce::Sum
            | Reduce::Prod
            | Reduce::NanMin
            | Reduce::NanMax
            | Reduce::NanSum
            | Reduce::NanProd
            | Reduce::CountNotNan => Keeps::Whole(InLoop::Add, self.ret),
        }
    }

    /// The reduction by itself, of an array in memory: where the arrays of the group have several shapes.
    fn alone(&self, cx: &mut LowerCx<'_>, lazy: &Lazy) -> Result<Val> {
        let made = match self.of {
            Operand::Step(j) => Some(
                Elements {
                    lazy: lazy.up_to(j),
                    shape: self.shape.clone(),
                    dtype: self.dtype,
                    layout: self.layout,
                    kept: None,
                }
                .array(cx)?,
            ),
            Operand::Array(_) | Operand::Scalar(_) => None,
        };
        let array = made.as_ref().map_or_else(|| self.args[0].clone(), ArrayVal::pack);
        let operands: Vec<Val> = std::iter::once(array).chain(self.args[1..].iter().cloned()).collect();
        let call = OpCall {
            args: &operands,
            types: &self.types,
            consts: &self.consts,
            ret: self.ret,
            elementwise: false,
        };
        reduce::emit_in_memory(cx, &call, self.what, made.map(|m| m.owner))
    }
}

struct Group<'a> {
    lazy: &'a Lazy,
    streams: Vec<Stream>,
    sinks: &'a [Sink],
    keeps: Vec<Keeps>,
}

impl Group<'_> {
    /// Of all elements, in parts at the same time where that is wanted.
    fn all(&self, cx: &mut LowerCx<'_>, n: Value) -> Result<Val> {
        if !cx.chunks.wanted() {
            let zero = cx.b.i64(0);
            return self.part(cx, zero, n);
        }
        let count = cx.helper_value(&k::array_sums_parts, &[n]);
        let tables: Vec<Value> =
            self.sinks.iter().map(|_| cx.b.slot_addr((8 * k::SUBTREES) as u32)).collect();
        let place = |cx: &mut LowerCx<'_>, e: usize, k: Value| {
            let off = cx.b.bin_imm(Op::Imul, k, 8);
            cx.b.ptr_add(tables[e], off)
        };
        each_part(cx, self.lazy.cost() + self.sinks.len() as i64, n, count, |cx, first, end, k| {
            let found = self.part(cx, first, end)?;
            for (e, x) in found.into_iter().enumerate() {
                let x = if self.is_single_sum(e) { cx.b.conv(Op::Fconvert, Ty::F64, x) } else { x };
                let p = place(cx, e, k);
                cx.b.store(x, p, 0, Alias::Stack);
            }
            Ok(())
        })?;
        let mut all = vec![];
        for (e, keeps) in self.keeps.iter().enumerate() {
            all.push(self.combine(cx, e, *keeps, tables[e], count)?);
        }
        Ok(all)
    }

    fn is_single_sum(&self, e: usize) -> bool {
        matches!(self.keeps[e], Keeps::Leaf) && self.sinks[e].dtype.itemsize() == 4
    }

    /// What the parts give together; the first part has begun with what all begin with.
    fn combine(
        &self,
        cx: &mut LowerCx<'_>,
        e: usize,
        keeps: Keeps,
        table: Value,
        count: Value,
    ) -> Result<Value> {
        let sink = &self.sinks[e];
        let single = sink.dtype.itemsize() == 4;
        let one = cx.b.i64(1);
        match keeps {
            Keeps::Leaf => {
                let flag = cx.b.iconst(Ty::I8, single as i64);
                let sum = cx.helper_value(&k::array_sums_join, &[table, count, flag]);
                Ok(if single { cx.b.conv(Op::Fconvert, Ty::F32, sum) } else { sum })
            }
            Keeps::Best => {
                let (code, elem) = (cx.b.i64(sink.what as i64), element_code(cx, sink.dtype)?);
                let out = cx.b.slot_addr(16);
                cx.for_range(count, &[], |cx, k, _| {
                    let off = cx.b.bin_imm(Op::Imul, k, 8);
                    let p = cx.b.ptr_add(table, off);
                    let done = cx.b.bin(Op::Smin, k, one);
                    cx.helper(&k::array_fold, &[code, elem, p, one, done, out]);
                    Ok(vec![])
                })?;
                Ok(load_element(cx, out, sink.dtype)[0])
            }
            Keeps::Whole(how, _) => {
                let start = how.start(cx);
                let ty = cx.b.ty(start);
                let all = cx.for_range(count, &[start], |cx, k, so_far| {
                    let off = cx.b.bin_imm(Op::Imul, k, 8);
                    let p = cx.b.ptr_add(table, off);
                    let x = cx.b.load(ty, p, 0, Alias::Stack);
                    Ok(vec![how.combine(cx, so_far[0], x)])
                })?;
                Ok(all[0])
            }
        }
    }

    /// Of the elements from `begin` to `end`: a number for each reduction.
    fn part(&self, cx: &mut LowerCx<'_>, begin: Value, end: Value) -> Result<Val> {
        let n = cx.b.bin(Op::Isub, end, begin);
        let start = self.start(cx, begin)?;
        let singles: Vec<bool> = self
            .sinks
            .iter()
            .zip(&self.keeps)
            .filter(|(_, keeps)| matches!(keeps, Keeps::Leaf))
            .map(|(e, _)| e.dtype.itemsize() == 4)
            .collect();
        let (totals, state) = if singles.is_empty() {
            (vec![], self.without_sums(cx, begin, n, &start)?)
        } else {
            leaf_by_leaf(cx, (begin, n), &singles, &start, &mut |cx, range, k, tables, state| {
                self.leaf(cx, range, k, tables, state)
            })?
        };
        self.finish(cx, (begin, n), &totals, &state)
    }

    /// Where nothing depends on the order, all elements are one leaf, but for polls.
    fn without_sums(
        &self,
        cx: &mut LowerCx<'_>,
        begin: Value,
        n: Value,
        start: &[Value],
    ) -> Result<Vec<Value>> {
        let blocks = {
            let up = cx.b.bin_imm(Op::Iadd, n, SUM_LEAVES - 1);
            cx.b.bin_imm(Op::Sshr, up, SUM_LEAVES.trailing_zeros().into())
        };
        let most = cx.b.i64(SUM_LEAVES);
        cx.for_range(blocks, start, |cx, block, state| {
            let done = cx.b.bin_imm(Op::Ishl, block, SUM_LEAVES.trailing_zeros().into());
            let (first, left) = (cx.b.bin(Op::Iadd, begin, done), cx.b.bin(Op::Isub, n, done));
            let here = cx.b.bin(Op::Smin, left, most);
            let state = self.leaf(cx, (first, here), block, &[], state)?;
            cx.poll();
            Ok(state)
        })
    }

    /// What the reductions other than sums begin with, for each lane.
    fn start(&self, cx: &mut LowerCx<'_>, begin: Value) -> Result<Vec<Value>> {
        let mut out = vec![];
        let bests: Vec<usize> =
            (0..self.sinks.len()).filter(|e| matches!(self.keeps[*e], Keeps::Best)).collect();
        // Where there is a minimum there is an element; that has been checked in its place.
        let first = if bests.is_empty() {
            vec![]
        } else {
            let at = Stream::at(&self.streams, cx, begin);
            self.elements(cx, &at)?
        };
        for (e, keeps) in self.keeps.iter().enumerate() {
            match keeps {
                Keeps::Leaf => {}
                Keeps::Best => {
                    let zero = constant(cx, self.sinks[e].dtype.itemsize() == 4, 0.0);
                    out.extend([first[e]; LANES].into_iter().chain([zero; LANES]));
                }
                Keeps::Whole(how, _) => {
                    let start = how.start(cx);
                    out.extend([start; LANES]);
                }
            }
        }
        Ok(out)
    }

    /// What each reduction reads of one element, from the addresses of the arrays' elements.
    fn elements(&self, cx: &mut LowerCx<'_>, at: &[Value]) -> Result<Vec<Value>> {
        let done = self.lazy.compute(cx, at)?;
        let mut out = vec![];
        for (sink, keeps) in self.sinks.iter().zip(&self.keeps) {
            let x = match &sink.of {
                Operand::Step(j) => {
                    let s = &self.lazy.steps[*j];
                    cast::cast(cx, &done[*j], s.ret, sink.dtype)?
                }
                Operand::Array(a) => load_element(cx, at[*a], sink.dtype),
                Operand::Scalar(v) => v.clone(),
            };
            out.push(match keeps {
                Keeps::Whole(_, ty) => cast::cast(cx, &x, sink.dtype, *ty)?[0],
                Keeps::Leaf | Keeps::Best => x[0],
            });
        }
        Ok(out)
    }

    /// Elements from `first` on, which are leaf `k` of the sums that have these tables; gives the state of
    /// the others.
    fn leaf(
        &self,
        cx: &mut LowerCx<'_>,
        (first, len): (Value, Value),
        k: Value,
        tables: &[Value],
        carried: &[Value],
    ) -> Result<Vec<Value>> {
        // Each reduction's words, lane after lane; a best has two words in each.
        let (mut start, mut others): (Vec<Value>, &[Value]) = (vec![], carried);
        for (sink, keeps) in self.sinks.iter().zip(&self.keeps) {
            match keeps {
                Keeps::Leaf => {
                    let nothing = nothing(cx, sink.dtype.itemsize() == 4);
                    start.extend([nothing; LANES]);
                }
                Keeps::Best | Keeps::Whole(..) => {
                    let (own, rest) = others.split_at(keeps.words() * LANES);
                    start.extend(own);
                    others = rest;
                }
            }
        }
        let turns = cx.b.bin_imm(Op::Sshr, len, LANES.trailing_zeros().into());
        let state = cx.for_range_short(turns, &start, |cx, turn, state| {
            let done = cx.b.bin_imm(Op::Ishl, turn, LANES.trailing_zeros().into());
            let place = cx.b.bin(Op::Iadd, first, done);
            let at = Stream::at(&self.streams, cx, place);
            let mut next = state.to_vec();
            for lane in 0..LANES {
                let here: Vec<Value> = at
                    .iter()
                    .zip(&self.lazy.arrays)
                    .map(|(p, a)| {
                        if lane == 0 {
                            *p
                        } else {
                            let step = cx.b.i64(lane as i64 * a.ty.itemsize());
                            cx.b.ptr_add(*p, step)
                        }
                    })
                    .collect();
                let x = self.elements(cx, &here)?;
                self.put_lane(cx, &mut next, lane, &x, true);
            }
            Ok(next)
        })?;
        let places = self.places();
        let sums: Vec<usize> =
            (0..self.sinks.len()).filter(|e| matches!(self.keeps[*e], Keeps::Leaf)).collect();
        for (e, table) in sums.iter().zip(tables) {
            store_lanes(cx, &state[places[*e].0..][..LANES], *table, k);
        }
        // What is left goes into the tables of the sums, and into the first lane of the others.
        let (done, left) =
            (cx.b.bin_imm(Op::Band, len, !(LANES as i64 - 1)), cx.b.bin_imm(Op::Band, len, LANES as i64 - 1));
        let behind = cx.b.bin(Op::Iadd, first, done);
        let kept: Vec<usize> = places
            .iter()
            .filter(|(_, keeps)| !matches!(keeps, Keeps::Leaf))
            .flat_map(|(at, keeps)| *at..at + keeps.words() * LANES)
            .collect();
        let begin: Vec<Value> = kept.iter().map(|w| state[*w]).collect();
        cx.for_range_short(left, &begin, |cx, i, carried| {
            let place = cx.b.bin(Op::Iadd, behind, i);
            let at = Stream::at(&self.streams, cx, place);
            let x = self.elements(cx, &at)?;
            for (e, table) in sums.iter().zip(tables) {
                keep_rest(cx, x[*e], *table, i);
            }
            let mut next = state.clone();
            for (w, v) in kept.iter().zip(carried) {
                next[*w] = *v;
            }
            self.put_lane(cx, &mut next, 0, &x, false);
            Ok(kept.iter().map(|w| next[*w]).collect())
        })
    }

    /// Where each reduction's words begin in the state of a leaf.
    fn places(&self) -> Vec<(usize, Keeps)> {
        self.keeps
            .iter()
            .scan(0, |at, keeps| {
                let here = *at;
                *at += keeps.words() * LANES;
                Some((here, *keeps))
            })
            .collect()
    }

    /// Puts an element into a lane of each reduction, sums among them or not.
    fn put_lane(&self, cx: &mut LowerCx<'_>, state: &mut [Value], lane: usize, x: &[Value], sums: bool) {
        for (e, (at, keeps)) in self.places().into_iter().enumerate() {
            let w = at + lane;
            match keeps {
                Keeps::Leaf => {
                    if sums {
                        state[w] = cx.b.bin(Op::Fadd, state[w], x[e]);
                    }
                }
                Keeps::Best => {
                    (state[w], state[w + LANES]) = (
                        choose(cx, self.sinks[e].what, state[w], x[e]),
                        cx.b.bin(Op::Fadd, state[w + LANES], x[e]),
                    )
                }
                Keeps::Whole(how, _) => state[w] = how.put(cx, state[w], &[x[e]]),
            }
        }
    }

    /// The numbers, from the sums and the lanes of the others.
    fn finish(
        &self,
        cx: &mut LowerCx<'_>,
        range: (Value, Value),
        totals: &[Value],
        state: &[Value],
    ) -> Result<Val> {
        let (mut totals, mut rest, mut out) = (totals.iter(), state, vec![]);
        for (e, keeps) in self.keeps.iter().enumerate() {
            let sink = &self.sinks[e];
            let own = if let Keeps::Leaf = keeps {
                &[][..]
            } else {
                let (own, others) = rest.split_at(keeps.words() * LANES);
                rest = others;
                own
            };
            out.push(match keeps {
                Keeps::Leaf => {
                    totals.next().copied().ok_or_else(|| Diagnostic::internal("a sum without its tree"))?
                }
                Keeps::Best => {
                    let best = best_lane(cx, own, sink.what);
                    let doubtful = cx.b.bin(Op::FcmpUno, best, best);
                    cx.if_else(doubtful, |cx| self.once_more(cx, sink, range), |_| Ok(vec![best]))?[0]
                }
                Keeps::Whole(how, _) => own[1..].iter().fold(own[0], |a, b| how.combine(cx, a, *b)),
            });
        }
        Ok(out)
    }

    /// A minimum or maximum where there may be NaN, by the run-time's kernel, a block at a time.
    fn once_more(&self, cx: &mut LowerCx<'_>, sink: &Sink, (begin, n): (Value, Value)) -> Result<Val> {
        let (code, elem, out) =
            (cx.b.i64(sink.what as i64), element_code(cx, sink.dtype)?, cx.b.slot_addr(16));
        let e = match sink.of {
            Operand::Step(j) => Some(Elements {
                lazy: Lazy { arrays: self.lazy.arrays.clone(), steps: self.lazy.steps[..=j].to_vec() },
                shape: sink.shape.clone(),
                dtype: sink.dtype,
                layout: sink.layout,
                kept: None,
            }),
            Operand::Array(_) | Operand::Scalar(_) => None,
        };
        let buffer = cx.b.slot_addr((SUM_BLOCK * sink.dtype.itemsize()) as u32);
        let (up, most) = (cx.b.bin_imm(Op::Iadd, n, SUM_BLOCK - 1), cx.b.i64(SUM_BLOCK));
        let blocks = cx.b.bin_imm(Op::Sshr, up, SUM_BLOCK.trailing_zeros().into());
        cx.for_range(blocks, &[], |cx, block, _| {
            let done = cx.b.bin_imm(Op::Ishl, block, SUM_BLOCK.trailing_zeros().into());
            let (first, left) = (cx.b.bin(Op::Iadd, begin, done), cx.b.bin(Op::Isub, n, done));
            let here = cx.b.bin(Op::Smin, left, most);
            let data = match (&e, &sink.of) {
                (None, Operand::Array(a)) => Stream::at(&self.streams[*a..=*a], cx, first)[0],
                (Some(e), _) => {
                    fill(cx, e, &self.streams, (buffer, Alias::Stack), first, here)?;
                    buffer
                }
                (None, Operand::Step(_) | Operand::Scalar(_)) => {
                    return Err(Diagnostic::internal("a minimum of one number"));
                }
            };
            cx.helper(&k::array_fold, &[code, elem, data, here, done, out]);
            cx.poll();
            Ok(vec![])
        })?;
        Ok(load_element(cx, out, sink.dtype))
    }
}

impl Keeps {
    /// Words in each lane.
    fn words(self) -> usize {
        match self {
            Keeps::Best => 2,
            Keeps::Leaf | Keeps::Whole(..) => 1,
        }
    }
}
