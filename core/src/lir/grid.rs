//! Instructions of kernels: what a thread of a grid asks about itself, how the threads of a block wait for
//! each other, and how threads change memory that others change too.
//!
//! The grid is a box of blocks, a block a box of threads; both are counted along `x` first. The interpreter
//! defines the rest ([`crate::interp::grid`]); on a CPU [`on_cpu`] turns them into accesses of a
//! [`GridThread`].

use super::builder::Builder;
use super::func::*;
use super::grid_op::GridOp;
use super::inst::Op;
use super::ty::Ty;
use crate::layout::GridThread;

/// What [`on_cpu`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnCpu {
    /// Bytes of shared memory that a block has whatever the launch says.
    pub shared_bytes: usize,
    /// Whether threads wait for each other, so that each needs a stack of its own.
    pub waits: bool,
}

/// Makes of a kernel code for a CPU on which one thread of a block runs at a time: parameter 0 of every
/// function is a [`GridThread`] instead of a thread's context, updates are plain, and a barrier calls a
/// helper that lets the others run.
pub fn on_cpu(module: &mut Module) -> OnCpu {
    let mut found = OnCpu::default();
    for func in &mut module.funcs {
        let ctx = func.blocks[func.entry().index()].params.first().copied();
        let places: Vec<Option<usize>> = func
            .slots
            .iter_mut()
            .map(|s| {
                if !std::mem::take(&mut s.shared) {
                    return None;
                }
                let at = found.shared_bytes;
                found.shared_bytes += (s.bytes as usize).next_multiple_of(16);
                s.bytes = 0;
                Some(at)
            })
            .collect();
        for b in func.layout.clone() {
            let old = std::mem::take(&mut func.blocks[b.index()].insts);
            for i in old {
                let node = func.insts[i.index()].clone();
                let mut put = Put { func, block: b, loc: node.loc };
                match (&node.data, ctx) {
                    (InstData::Grid { op, ty, args }, Some(ctx)) => {
                        found.waits |= op.waits();
                        put.grid(*op, *ty, args, ctx, i, &node.results);
                    }
                    (InstData::StackAddr { slot }, Some(ctx)) if places[slot.index()].is_some() => {
                        let at = places[slot.index()].unwrap_or(0);
                        let offset = std::mem::offset_of!(GridThread, shared) as i32;
                        let base =
                            put.value(InstData::Load { ty: Ty::Ptr, addr: ctx, offset, alias: Alias::Const });
                        let at = put.value(InstData::Const { ty: Ty::I64, bits: at as u64 });
                        put.again(i, InstData::Op { op: Op::PtrAdd, ty: Ty::Ptr, args: vec![base, at] });
                    }
                    (
                        InstData::Const { .. }
                        | InstData::Op { .. }
                        | InstData::Load { .. }
                        | InstData::Store { .. }
                        | InstData::StackAddr { .. }
                        | InstData::SymbolAddr { .. }
                        | InstData::Call { .. }
                        | InstData::CallIndirect { .. }
                        | InstData::CallHelper { .. }
                        | InstData::Grid { .. }
                        | InstData::Jump(_)
                        | InstData::Brif { .. }
                        | InstData::Switch { .. }
                        | InstData::Return(_)
                        | InstData::Unreachable,
                        _,
                    ) => put.func.blocks[b.index()].insts.push(i),
                }
            }
        }
    }
    found
}

/// Puts instructions at the end of a block.
struct Put<'a> {
    func: &'a mut Func,
    block: Block,
    loc: Loc,
}

impl Put<'_> {
    fn value(&mut self, data: InstData) -> Value {
        let i = self.func.make_inst(data, self.loc);
        self.func.blocks[self.block.index()].insts.push(i);
        self.func.insts[i.index()].results[0]
    }

    /// The instruction `i` with its results, now another one.
    fn again(&mut self, i: Inst, data: InstData) {
        self.func.insts[i.index()].data = data;
        self.func.blocks[self.block.index()].insts.push(i);
    }

    fn grid(&mut self, op: GridOp, ty: Ty, args: &[Value], ctx: Value, i: Inst, results: &[Value]) {
        if let Some(offset) = op.field() {
            return self
                .again(i, InstData::Load { ty, addr: ctx, offset: offset as i32, alias: Alias::Const });
        }
        if op == GridOp::Barrier {
            let helper = &crate::ops::grid::grid_barrier;
            return self.again(i, InstData::CallHelper { helper, args: vec![ctx] });
        }
        if op == GridOp::WarpBarrier {
            let helper = &crate::ops::grid::grid_warp_barrier;
            return self.again(i, InstData::CallHelper { helper, args: vec![ctx, args[0]] });
        }
        if op == GridOp::Ballot {
            let helper = &crate::ops::grid::grid_ballot;
            return self.again(i, InstData::CallHelper { helper, args: vec![ctx, args[0], args[1]] });
        }
        if op == GridOp::Shuffle {
            return self.shuffle(ty, args, ctx, i);
        }
        // One thread runs at a time, in the order of its program.
        if results.is_empty() {
            return;
        }
        let addr = args[0];
        self.again(i, InstData::Load { ty, addr, offset: 0, alias: Alias::Volatile });
        let old = results[0];
        let new = match op.combines(ty) {
            Some(combine) => self.value(InstData::Op { op: combine, ty, args: vec![old, args[1]] }),
            None if op == GridOp::AtomicCas => {
                let same = self.value(InstData::Op { op: Op::IcmpEq, ty, args: vec![old, args[1]] });
                self.value(InstData::Op { op: Op::Select, ty, args: vec![same, args[2], old] })
            }
            None => args[1],
        };
        let store = self
            .func
            .make_inst(InstData::Store { value: new, addr, offset: 0, alias: Alias::Volatile }, self.loc);
        self.func.blocks[self.block.index()].insts.push(store);
    }
}

impl Put<'_> {
    /// The helper takes and gives 64 bits.
    fn shuffle(&mut self, ty: Ty, args: &[Value], ctx: Value, i: Inst) {
        let helper = &crate::ops::grid::grid_shuffle;
        let conv = |op: Op, ty: Ty, v: Value| InstData::Op { op, ty, args: vec![v] };
        let bits = match ty {
            Ty::F32 => {
                let narrow = self.value(conv(Op::Bitcast, Ty::I32, args[1]));
                self.value(conv(Op::Zext, Ty::I64, narrow))
            }
            Ty::F64 => self.value(conv(Op::Bitcast, Ty::I64, args[1])),
            Ty::I32 => self.value(conv(Op::Zext, Ty::I64, args[1])),
            Ty::I8 | Ty::I16 | Ty::I64 | Ty::Ptr => args[1],
        };
        let call = InstData::CallHelper { helper, args: vec![ctx, args[0], bits, args[2]] };
        match ty {
            Ty::I64 | Ty::I8 | Ty::I16 | Ty::Ptr => self.again(i, call),
            Ty::F64 => {
                let got = self.value(call);
                self.again(i, conv(Op::Bitcast, ty, got));
            }
            Ty::I32 => {
                let got = self.value(call);
                self.again(i, conv(Op::Itrunc, ty, got));
            }
            Ty::F32 => {
                let got = self.value(call);
                let narrow = self.value(conv(Op::Itrunc, Ty::I32, got));
                self.again(i, conv(Op::Bitcast, ty, narrow));
            }
        }
    }
}

impl Builder<'_> {
    /// An instruction of kernels for memory of type `ty`; its result, where it has one.
    pub(crate) fn grid(&mut self, op: GridOp, ty: Ty, args: &[Value]) -> Option<Value> {
        let inst = self.inst(InstData::Grid { op, ty, args: args.to_vec() });
        self.func.insts[inst.index()].results.first().copied()
    }
}
