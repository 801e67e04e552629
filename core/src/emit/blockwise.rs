//! Chains of elementwise operations a block of elements at a time, each step by the run-time's kernel: what
//! tier 0 does where a chain has a function such as `exp`, which takes several times as long in a loop of its
//! own that calls a helper for each element.
//!
//! LIR has both ways, and asks [`array_in_blocks`] which to take. [`settle`] answers for a tier, so that the
//! other way is not compiled.

use super::arrays::{ArrayVal, Kernel, element_code, store_element};
use super::cx::LowerCx;
use super::lazy::{Lazy, Operand};
use crate::lir::opt::clean_up;
use crate::lir::{InstData, Module, Op, Ty, Value};
use crate::ops::kernel::{Map, array_in_blocks, array_map};
use crate::types::Type;

/// Elements of a block: results of a few steps stay in the nearest cache.
const BLOCK: i64 = 512;

/// Where an operand of a step lies: elements of an array, the results of an earlier step, or one number.
#[derive(Clone, Copy)]
enum Place {
    Array(Value),
    Step(usize),
    Number(Value),
}

/// What does elements of contiguous arrays of one shape in blocks, if all steps are of float64 and have
/// kernels, and one of them is worth it.
pub(crate) fn by_kernels(cx: &mut LowerCx<'_>, lazy: &Lazy, to: &ArrayVal) -> Option<Box<Kernel<'static>>> {
    let double = Type::f64();
    let worth = lazy.steps.len() > 1 && lazy.steps.iter().any(|s| s.kernel.is_some_and(Map::is_slow));
    if !worth || to.ty.dtype != double || lazy.arrays.iter().any(|a| a.ty.dtype != double) {
        return None;
    }
    let fits = |k: Map| k.takes(double, double);
    if !lazy.steps.iter().all(|s| {
        s.kernel.is_some_and(fits)
            && s.ret == double
            && s.dtype == double
            && s.types.iter().all(|t| *t == double)
    }) {
        return None;
    }
    // A kernel passes over one array at least.
    if lazy.steps.iter().any(|s| s.operands.iter().all(|o| matches!(o, Operand::Scalar(_)))) {
        return None;
    }
    let mut steps = vec![];
    for s in &lazy.steps {
        let places: Vec<Place> = s
            .operands
            .iter()
            .map(|o| match o {
                Operand::Array(k) => Place::Array(lazy.arrays[*k].data),
                Operand::Step(k) => Place::Step(*k),
                Operand::Scalar(v) => {
                    let place = cx.b.slot_addr(16);
                    store_element(cx, place, double, v);
                    Place::Number(place)
                }
            })
            .collect();
        let (a, b) = (*places.first()?, *places.get(1).or(places.first())?);
        steps.push((s.kernel?, a, b));
    }
    let (buffers, count) = assign(&steps);
    let out = to.data;
    Some(Box::new(move |cx: &mut LowerCx<'_>, first: Value, n: Value| {
        let elem = element_code(cx, double)?;
        let room = cx.b.slot_addr((count as i64 * BLOCK * 8) as u32);
        let blocks = {
            let up = cx.b.bin_imm(Op::Iadd, n, BLOCK - 1);
            cx.b.bin_imm(Op::Sshr, up, BLOCK.trailing_zeros().into())
        };
        cx.for_range_polling(blocks, &[], |cx, block, _| {
            let at = cx.b.bin_imm(Op::Ishl, block, BLOCK.trailing_zeros().into());
            let left = cx.b.bin(Op::Isub, n, at);
            let most = cx.b.i64(BLOCK);
            let here = cx.b.bin(Op::Smin, left, most);
            let from = cx.b.bin(Op::Iadd, first, at);
            let offset = cx.b.bin_imm(Op::Imul, from, 8);
            for (k, (map, a, b)) in steps.iter().enumerate() {
                let buffer = |cx: &mut LowerCx<'_>, k: usize| {
                    let off = cx.b.i64(buffers[k] as i64 * BLOCK * 8);
                    cx.b.ptr_add(room, off)
                };
                let target = if k + 1 == steps.len() { cx.b.ptr_add(out, offset) } else { buffer(cx, k) };
                let [(a, a_step), (b, b_step)] = [a, b].map(|p| match p {
                    Place::Array(data) => (cx.b.ptr_add(*data, offset), 1),
                    Place::Step(k) => (buffer(cx, *k), 1),
                    Place::Number(at) => (*at, 0),
                });
                let (op, a_step, b_step) = (cx.b.i64(*map as i64), cx.b.i64(a_step), cx.b.i64(b_step));
                cx.helper(&array_map, &[op, elem, here, target, a, a_step, b, b_step]);
            }
            Ok(vec![])
        })?;
        Ok(())
    }))
}

/// A buffer for the results of each step but the last, and how many there are. One is free again when its
/// last reader runs, which may write to what it reads.
fn assign(steps: &[(Map, Place, Place)]) -> (Vec<usize>, usize) {
    let reads = |at: usize, k: usize| {
        [steps[at].1, steps[at].2].iter().any(|p| matches!(p, Place::Step(s) if *s == k))
    };
    let last = |k: usize| (0..steps.len()).rev().find(|at| reads(*at, k)).unwrap_or(k);
    let (mut buffers, mut free, mut count) = (vec![], vec![], 0);
    for at in 0..steps.len() {
        for k in 0..at {
            if last(k) == at && reads(at, k) {
                free.push(buffers[k]);
            }
        }
        buffers.push(free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        }));
    }
    (buffers, count.max(1))
}

/// Decides for all functions whether chains go in blocks, and drops the other way.
pub fn settle(module: &mut Module, blocks: bool) {
    for func in &mut module.funcs {
        let mut asked = false;
        for b in func.layout.clone() {
            for i in func.blocks[b.index()].insts.clone() {
                let data = &mut func.insts[i.index()].data;
                if !matches!(data, InstData::CallHelper { helper, .. } if **helper == array_in_blocks) {
                    continue;
                }
                *data = InstData::Const { ty: Ty::I8, bits: blocks.into() };
                asked = true;
            }
        }
        if !asked {
            continue;
        }
        clean_up(func, &["fold", "simplify-cfg"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_when_nobody_reads_them() {
        use Place::Step;
        let x = Place::Number(Value::new(0));
        // exp(x), sin(x), sum of both, its square: the third may write to what it reads, and so may the
        // fourth.
        let steps = [
            (Map::Exp, x, x),
            (Map::Sin, x, x),
            (Map::Add, Step(0), Step(1)),
            (Map::Square, Step(2), Step(2)),
        ];
        let (buffers, count) = assign(&steps);
        assert_eq!(count, 2);
        assert_ne!(buffers[0], buffers[1]);
        // A result that is read again later keeps its buffer until then.
        let steps = [
            (Map::Exp, x, x),
            (Map::Sin, Step(0), Step(0)),
            (Map::Cos, Step(1), Step(1)),
            (Map::Add, Step(2), Step(0)),
        ];
        let (buffers, _) = assign(&steps);
        assert!(buffers[1] != buffers[0] && buffers[2] != buffers[0]);
    }
}
