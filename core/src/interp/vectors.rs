//! Instructions on vectors, lane by lane.

use super::{Frame, load, store};
use crate::lir::*;

/// Carries out what takes or gives a vector, and nothing else; of a jump, moves the vectors among its arguments
/// and leaves the rest of it to the caller. Whether it was all.
pub(super) fn step(func: &Func, frame: &mut Frame, node: &InstNode) -> bool {
    let ty = |v: &Value| func.value_type(*v);
    match &node.data {
        InstData::Op { op, ty: suffix, args } if suffix.is_vector() => {
            let of = |v: &Value| match ty(v) {
                Ty::Vector(_) => frame.lanes.get(v).cloned().unwrap_or_default(),
                Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::Ptr => {
                    vec![frame.values[v.index()]]
                }
            };
            let operands: Vec<Vec<u64>> = args.iter().map(of).collect();
            let types: Vec<Ty> = args.iter().map(ty).collect();
            let lists: Vec<&[u64]> = operands.iter().map(|o| o.as_slice()).collect();
            let answer = eval_lanes(*op, *suffix, &types, &lists);
            let result = node.results[0];
            if ty(&result).is_vector() {
                frame.lanes.insert(result, answer);
            } else {
                frame.values[result.index()] = answer[0];
            }
            true
        }
        InstData::Load { ty: Ty::Vector(v), addr, offset, .. } => {
            let at = frame.values[addr.index()].wrapping_add_signed(i64::from(*offset));
            let place = |k: usize| at.wrapping_add(k as u64 * u64::from(v.lane().bytes()));
            // SAFETY: as for loads of scalars: LIR computes only addresses of memory that it may access.
            let lanes = (0..v.lanes()).map(|k| unsafe { load(v.lane(), place(k)) }).collect();
            frame.lanes.insert(node.results[0], lanes);
            true
        }
        InstData::Store { value, addr, offset, .. } => {
            let Ty::Vector(v) = ty(value) else { return false };
            let at = frame.values[addr.index()].wrapping_add_signed(i64::from(*offset));
            for (k, bits) in frame.lanes.get(value).into_iter().flatten().enumerate() {
                // SAFETY: as for loads.
                unsafe { store(v.lane(), at.wrapping_add(k as u64 * u64::from(v.lane().bytes())), *bits) };
            }
            true
        }
        InstData::Jump(to) => moves(func, frame, to),
        InstData::Brif { cond, then_to, else_to, .. } => {
            let to = if frame.values[cond.index()] != 0 { then_to } else { else_to };
            moves(func, frame, to)
        }
        InstData::Const { .. }
        | InstData::Op { .. }
        | InstData::Load { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::CallHelper { .. }
        | InstData::Grid { .. }
        | InstData::Switch { .. }
        | InstData::Return(_)
        | InstData::Unreachable => false,
    }
}

/// All arguments are read before the first parameter changes.
fn moves(func: &Func, frame: &mut Frame, to: &BlockCall) -> bool {
    let params = &func.blocks[to.block.index()].params;
    let new: Vec<(Value, Vec<u64>)> = params
        .iter()
        .zip(&to.args)
        .filter(|(p, _)| func.value_type(**p).is_vector())
        .map(|(p, a)| (*p, frame.lanes.get(a).cloned().unwrap_or_default()))
        .collect();
    frame.lanes.extend(new);
    false
}
