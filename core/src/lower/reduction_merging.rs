//! Reductions of the same array become one pass over its memory: `a.mean(), a.min(), a.max()`. They move to
//! where the first of them stands, if nothing between writes to memory; what raises for an array without
//! elements still does so in its own place.

use super::fuse::Pass;
use super::inline::user_place;
use crate::ops::kernel::Reduce;
use crate::ops::reduce::{LARGEST, SEVERAL, SMALLEST, of_row, shown_reduction};
use crate::ssa::{Block, Inst, InstNode, Joined, Op, Parts, Value};
use crate::types::{Const, Kind, Type};

/// Reductions of one array: the instructions and what each computes.
type Group = (Value, Vec<(Inst, Reduce)>);

impl Pass<'_, '_> {
    /// Merges what can be merged in a block.
    pub(crate) fn merge_reductions(&mut self, b: Block) {
        if self.func.parallel.any() && !self.func.parallel.has(Parts::FUSION) {
            return;
        }
        let mut open: Vec<Group> = vec![];
        let mut done: Vec<Group> = vec![];
        for i in self.func.block(b).insts.clone() {
            let node = self.func.inst(i).clone();
            if let Some(op) = self.whole_reduction(&node) {
                match open.iter_mut().find(|g| g.0 == node.args[0]) {
                    Some(g) => g.1.push((i, op)),
                    None => open.push((node.args[0], vec![(i, op)])),
                }
            } else if self.writes(&node) {
                done.append(&mut open);
            }
        }
        done.append(&mut open);
        for (array, members) in done {
            if members.len() > 1 {
                self.merge(b, array, &members);
            }
        }
    }

    /// What an instruction computes, if it makes a number of the type of its array out of all elements.
    pub(crate) fn whole_reduction(&self, node: &InstNode) -> Option<Reduce> {
        let Op::Apply(op) = node.op else { return None };
        let what = of_row(op).filter(|r| matches!(r, Reduce::Sum | Reduce::Min | Reduce::Max))?;
        let (result, ty) = (self.func.types[node.result?.index()], |v: &Value| self.func.types[v.index()]);
        let array = ty(&node.args[0]).as_array()?;
        let plain =
            array.ndim > 0 && result == array.dtype && (array.dtype.is_float() || array.dtype.is_int());
        let [_, axis, .., keep] = node.args[..] else { return None };
        let dtype = node.args.len() != 5
            || matches!(*ty(&node.args[2]), Kind::None)
            || matches!(*ty(&node.args[2]), Kind::DType(t) if t == array.dtype);
        let falls = self.is_const(keep, &Const::Bool(false));
        (plain && dtype && falls && *ty(&axis) == Kind::None).then_some(what)
    }

    pub(crate) fn is_const(&self, v: Value, c: &Const) -> bool {
        self.defs.get(&v).is_some_and(|i| matches!(&self.func.inst(*i).op, Op::Const(k) if k == c))
    }

    fn merge(&mut self, b: Block, array: Value, members: &[(Inst, Reduce)]) {
        let mut ops: Vec<Reduce> = members.iter().map(|m| m.1).collect();
        ops.sort_by_key(|op| *op as i64);
        ops.dedup();
        let first = self.func.inst(members[0].0).clone();
        let Some(dtype) = self.func.types[array.index()].as_array().map(|a| a.dtype) else { return };
        let at = self.func.block(b).insts.iter().position(|i| *i == members[0].0).unwrap_or(0);
        let mut made = vec![];
        let bits = ops.iter().fold(0i64, |bits, op| bits | 1 << *op as i64);
        let bits = self.make(&mut made, Op::Const(Const::Int(bits)), vec![], Type::int(), &first);
        let all = self.make(
            &mut made,
            Op::Apply(&SEVERAL),
            vec![array, bits],
            Type::tuple(vec![dtype; ops.len()]),
            &first,
        );
        let of: Vec<Value> = (0..ops.len())
            .map(|k| self.make(&mut made, Op::Member(k as u32), vec![all], dtype, &first))
            .collect();
        self.func.blocks[b.index()].insts.splice(at..at, made);
        let mut joined = vec![];
        for (i, op) in members {
            let value = ops.iter().position(|o| o == op).map(|k| of[k]).unwrap_or(of[0]);
            let node = &self.func.insts[i.index()];
            let (loc, library) = user_place(self.func, node.loc);
            joined.push(Joined {
                name: library.map_or_else(|| shown_reduction(*op).into(), |n| n.trim_matches('_').into()),
                loc,
            });
            let node = &mut self.func.insts[i.index()];
            (node.op, node.args) = match op {
                Reduce::Min => (Op::Apply(&SMALLEST), vec![array, value]),
                Reduce::Max => (Op::Apply(&LARGEST), vec![array, value]),
                Reduce::Sum
                | Reduce::Prod
                | Reduce::Any
                | Reduce::All
                | Reduce::CountNonzero
                | Reduce::NanMin
                | Reduce::NanMax
                | Reduce::NanSum
                | Reduce::NanProd
                | Reduce::CountNotNan => (Op::Cast, vec![value]),
            };
        }
        self.func.side.joined.insert(all, joined);
        self.recount();
    }

    fn make(&mut self, made: &mut Vec<Inst>, op: Op, args: Vec<Value>, ty: Type, like: &InstNode) -> Value {
        let v = self.func.make_value();
        self.func.types.push(ty);
        let unwind = if op.never_raises() { None } else { like.unwind.clone() };
        self.func.insts.push(InstNode { op, args, result: Some(v), loc: like.loc, unwind });
        made.push(Inst::new(self.func.insts.len() - 1));
        v
    }
}
