//! Accesses of memory that the threads of a block share, told to whoever runs a kernel on a CPU, which looks
//! for races ([`crate::ops::grid`]).
//!
//! Only those are told whose address may be one of shared memory: what is made of the address of a shared slot
//! or of the launch's memory, whichever way it takes through blocks, calls and memory. Whether it is one is
//! seen when the code runs.

use super::func::*;
use super::grid::Put;
use super::grid_op::{GridOp, GridShape};
use super::inst::Op;
use super::ty::Ty;
use crate::ops::grid::{grid_fence, grid_read, grid_update, grid_write};
use std::collections::HashMap;

/// In what is said of an access: bytes in the lowest bits, then whether the bits that are written are known,
/// then the line.
pub const BYTES: i64 = 0x3ff;
pub const KNOWN: i64 = 0x400;
pub const LINE_SHIFT: u32 = 11;

/// Tells the accesses of shared memory in a kernel, before they become those of a CPU
/// ([`super::grid::on_cpu`]).
pub fn watch(module: &mut Module) {
    let Some(reach) = reach(module) else { return };
    for (func, reach) in module.funcs.iter_mut().zip(reach) {
        let Some(ctx) = func.blocks[func.entry().index()].params.first().copied() else { continue };
        for block in func.layout.clone() {
            let old = std::mem::take(&mut func.blocks[block.index()].insts);
            for i in old {
                tell(func, block, i, ctx, &reach);
                func.blocks[block.index()].insts.push(i);
            }
        }
    }
}

/// Puts the call that tells an access in front of it.
fn tell(func: &mut Func, block: Block, i: Inst, ctx: Value, reach: &[bool]) {
    let node = func.insts[i.index()].clone();
    let line = i64::from(func.place(node.loc).map_or(0, |l| l.line)) << LINE_SHIFT;
    let mut put = Put { func, block, loc: node.loc };
    match node.data {
        // What others may change at any time is read by updates that are loops.
        InstData::Load { ty, addr, offset, alias } if alias != Alias::Volatile && reach[addr.index()] => {
            let at = put.moved(addr, offset);
            let what = put.number(i64::from(ty.bytes()) | line);
            put.call(&grid_read, vec![ctx, at, what]);
        }
        InstData::Store { value, addr, offset, .. } if reach[addr.index()] => {
            let at = put.moved(addr, offset);
            let ty = put.func.value_type(value);
            let bits = put.bits(value, ty);
            let known = if bits.is_some() { KNOWN } else { 0 };
            let what = put.number(i64::from(ty.bytes()) | known | line);
            let bits = match bits {
                Some(bits) => bits,
                None => put.number(0),
            };
            put.call(&grid_write, vec![ctx, at, bits, what]);
        }
        InstData::Grid { op, ty, args } => match op.shape() {
            GridShape::Update | GridShape::IntUpdate | GridShape::Exchange if reach[args[0].index()] => {
                let what = put.number(i64::from(ty.bytes()) | line);
                put.call(&grid_update, vec![ctx, args[0], what]);
            }
            GridShape::Order if op != GridOp::Barrier => put.call(&grid_fence, vec![ctx]),
            GridShape::Update
            | GridShape::IntUpdate
            | GridShape::Exchange
            | GridShape::Order
            | GridShape::Index
            | GridShape::Memory
            | GridShape::Warp
            | GridShape::Shuffle
            | GridShape::Vote
            | GridShape::Match
            | GridShape::Count
            | GridShape::Now
            | GridShape::Grid
            | GridShape::Pause
            | GridShape::Widen
            | GridShape::Narrow => {}
        },
        InstData::Load { .. }
        | InstData::Store { .. }
        | InstData::Const { .. }
        | InstData::Op { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::CallHelper { .. }
        | InstData::Jump(_)
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return(_)
        | InstData::Unreachable => {}
    }
}

impl Put<'_> {
    fn number(&mut self, n: i64) -> Value {
        self.value(InstData::Const { ty: Ty::I64, bits: n as u64 })
    }
    fn call(&mut self, helper: &'static crate::rt::RtFn, args: Vec<Value>) {
        let call = self.func.make_inst(InstData::CallHelper { helper, args }, self.loc);
        self.func.blocks[self.block.index()].insts.push(call);
    }
    fn moved(&mut self, addr: Value, offset: i32) -> Value {
        if offset == 0 {
            return addr;
        }
        let by = self.number(i64::from(offset));
        self.value(InstData::Op { op: Op::PtrAdd, ty: Ty::Ptr, args: vec![addr, by] })
    }
    /// The bits of a number, those of narrow ones at the end; none of what has more.
    fn bits(&mut self, v: Value, ty: Ty) -> Option<Value> {
        let mut conv = |op: Op, ty: Ty, v: Value| self.value(InstData::Op { op, ty, args: vec![v] });
        match ty {
            Ty::I64 => Some(v),
            Ty::I8 | Ty::I16 | Ty::I32 => Some(conv(Op::Zext, Ty::I64, v)),
            Ty::F64 => Some(conv(Op::Bitcast, Ty::I64, v)),
            Ty::F32 => {
                let narrow = conv(Op::Bitcast, Ty::I32, v);
                Some(conv(Op::Zext, Ty::I64, narrow))
            }
            Ty::Ptr | Ty::Vector(_) => None,
        }
    }
}

/// Which values of each function may be addresses of shared memory; none where the module has no such memory.
fn reach(module: &Module) -> Option<Vec<Vec<bool>>> {
    let mut reach: Vec<Vec<bool>> = module.funcs.iter().map(|f| vec![false; f.value_types.len()]).collect();
    let by_name: HashMap<&str, usize> =
        module.funcs.iter().enumerate().map(|(k, f)| (f.name.as_str(), k)).collect();
    let mut spread = Spread { reach: &mut reach, changed: true, stored: false };
    while std::mem::take(&mut spread.changed) {
        for (k, func) in module.funcs.iter().enumerate() {
            for block in &func.layout {
                for i in &func.blocks[block.index()].insts {
                    spread.through(module, &by_name, k, func, &func.insts[i.index()]);
                }
            }
        }
    }
    reach.iter().flatten().any(|r| *r).then_some(reach)
}

struct Spread<'r> {
    reach: &'r mut [Vec<bool>],
    changed: bool,
    /// Whether such an address has been stored, so that any that is loaded may be one.
    stored: bool,
}

impl Spread<'_> {
    fn mark(&mut self, func: usize, v: Value) {
        let known = &mut self.reach[func][v.index()];
        self.changed |= !*known;
        *known = true;
    }

    fn through(
        &mut self,
        module: &Module,
        by_name: &HashMap<&str, usize>,
        k: usize,
        func: &Func,
        node: &InstNode,
    ) {
        let any = |this: &Self, args: &[Value]| args.iter().any(|v| this.reach[k][v.index()]);
        match &node.data {
            InstData::StackAddr { slot } if func.slots[slot.index()].shared => self.mark(k, node.results[0]),
            InstData::Grid { op: GridOp::SharedMemory, .. } => self.mark(k, node.results[0]),
            InstData::Op { args, .. } if any(self, args) => {
                let ty = func.value_type(node.results[0]);
                if ty == Ty::Ptr || ty == Ty::I64 {
                    self.mark(k, node.results[0]);
                }
            }
            InstData::Store { value, .. } if any(self, &[*value]) => {
                self.changed |= !self.stored;
                self.stored = true;
            }
            InstData::Load { ty: Ty::Ptr, .. } if self.stored => self.mark(k, node.results[0]),
            InstData::Call { func: callee, args } => {
                let Some(to) = by_name.get(func.funcs[callee.index()].name.as_str()) else { return };
                let called = &module.funcs[*to];
                for (v, p) in args.iter().zip(&called.blocks[called.entry().index()].params) {
                    if self.reach[k][v.index()] {
                        self.mark(*to, *p);
                    }
                }
                for block in &called.layout {
                    let last = called.blocks[block.index()].insts.last();
                    let Some(InstData::Return(given)) = last.map(|i| &called.insts[i.index()].data) else {
                        continue;
                    };
                    for (v, r) in given.iter().zip(&node.results) {
                        if self.reach[*to][v.index()] {
                            self.mark(k, *r);
                        }
                    }
                }
            }
            InstData::Jump(_) | InstData::Brif { .. } => {
                let mut found = vec![];
                node.data.for_each_target(|block, args| {
                    for (v, p) in args.iter().zip(&func.blocks[block.index()].params) {
                        if self.reach[k][v.index()] {
                            found.push(*p);
                        }
                    }
                });
                found.into_iter().for_each(|p| self.mark(k, p));
            }
            InstData::StackAddr { .. }
            | InstData::Grid { .. }
            | InstData::Op { .. }
            | InstData::Store { .. }
            | InstData::Load { .. }
            | InstData::Const { .. }
            | InstData::SymbolAddr { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::text::parse_module;

    #[test]
    fn addresses_are_followed_through_blocks_calls_and_memory() {
        let text = "
func @kernel(ptr, ptr, i8) -> i64 {
    declare @inner(ptr, ptr) -> i64
    slot0 = slot 64 shared
    slot1 = slot 16
block0(v0: ptr, v1: ptr, v2: i8):
    v3 = stack_addr slot0
    v4 = stack_addr slot1
    v5 = load.f64 array v1
    store.ptr stack v3, v4
    brif v2, block1(v3), block1(v1)
block1(v6: ptr):
    store.f64 array v5, v6+8
    v7 = load.ptr stack v4
    v8 = call @inner(v0, v7)
    return v8
}
func @inner(ptr, ptr) -> i64 {
block0(v0: ptr, v1: ptr):
    fence_block
    v2 = load.i64 array v1
    return v2
}";
        let helpers: Vec<_> = crate::ops::helpers().collect();
        let mut module = parse_module(text, &helpers).expect("parses");
        watch(&mut module);
        crate::lir::verify_module(&module).expect("verifies");
        let told = |name: &str| {
            let func = module.func(name).expect("is there");
            let mut found = vec![];
            for block in &func.layout {
                for i in &func.blocks[block.index()].insts {
                    if let InstData::CallHelper { helper, .. } = &func.insts[i.index()].data {
                        found.push(helper.name);
                    }
                }
            }
            found
        };
        assert_eq!(told("kernel"), ["grid_write"]);
        assert_eq!(told("inner"), ["grid_fence", "grid_read"]);
    }
}
