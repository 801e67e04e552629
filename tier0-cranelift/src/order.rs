//! Which way of a branch is named first, so that Cranelift sees loops as loops.
//!
//! Cranelift orders blocks in reverse postorder, in which the way named first comes last. Its register
//! allocator takes the depth of a block from that order alone: whatever stands between the header of a loop
//! and its last way back counts as inside. With the way out of a loop named last, the rest of the function
//! would stand in front of the loop's body, and all of it, cold blocks too, would count as much as the body
//! or more when registers are given out.

use cranelift_codegen::ir::condcodes::CondCode;
use cranelift_codegen::ir::{self, InstBuilder, InstructionData};
use cranelift_frontend::FunctionBuilder;
use tierup_core::lir::cfg::{Cfg, Dominators, Loops};
use tierup_core::lir::{Block, Func};

/// Where each block belongs: loops around it, and whether it is seldom run.
pub(crate) struct Order {
    depth: Vec<u32>,
}

impl Order {
    pub(crate) fn of(func: &Func, cfg: &Cfg) -> Order {
        let mut place = vec![usize::MAX; func.blocks.len()];
        for (k, b) in cfg.rpo().iter().enumerate() {
            place[b.index()] = k;
        }
        let mut loops = false;
        for b in cfg.rpo() {
            if let Some(t) = func.terminator(*b) {
                func.insts[t.index()]
                    .data
                    .for_each_successor(|s| loops |= place[s.index()] <= place[b.index()]);
            }
        }
        // Most small functions have none, and every microsecond of a first call counts.
        if !loops {
            return Order { depth: vec![] };
        }
        let loops = Loops::new(func, cfg, &Dominators::new(func, cfg));
        Order { depth: (0..func.blocks.len()).map(|b| loops.depth(Block::new(b))).collect() }
    }

    /// Whether a branch should name `other` before `first`.
    pub(crate) fn swaps(&self, first: Block, other: Block, cold: &[bool]) -> bool {
        let Some((a, b)) = self.depth.get(first.index()).zip(self.depth.get(other.index())) else {
            return false;
        };
        if a != b { a > b } else { !cold[first.index()] && cold[other.index()] }
    }
}

/// The opposite of a condition.
pub(crate) fn inverse(b: &mut FunctionBuilder<'_>, cond: ir::Value) -> ir::Value {
    let made = b.func.dfg.value_def(b.func.dfg.resolve_aliases(cond)).inst().map(|i| b.func.dfg.insts[i]);
    match made {
        Some(InstructionData::IntCompare { cond, args, .. }) => {
            b.ins().icmp(cond.complement(), args[0], args[1])
        }
        Some(InstructionData::FloatCompare { cond, args, .. }) => {
            b.ins().fcmp(cond.complement(), args[0], args[1])
        }
        Some(_) | None => b.ins().icmp_imm_s(ir::condcodes::IntCC::Equal, cond, 0),
    }
}
