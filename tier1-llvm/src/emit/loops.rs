//! Loops that LLVM is to make no vectors of.
//!
//! Sums of floats are added up in their order, and LLVM may compute their terms in vectors all the same (`target/cpu.rs` allows it). That pays where a term is a division, a root or
//! an elementary function. What only multiplies would be gathered and taken apart again for nothing: `matmul` took 1.6 times as long.

use super::{Emitter, bug};
use inkwell::llvm_sys::core::{LLVMMDNodeInContext2, LLVMMDStringInContext2, LLVMMetadataAsValue, LLVMSetMetadata, LLVMValueAsMetadata};
use inkwell::llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use inkwell::values::{AsValueRef, InstructionValue};
use tierup_core::diag::Result;
use tierup_core::lir::cfg::{Dominators, Loop, Loops};
use tierup_core::lir::{Block, InstData, Op, Ty, Value};

const HINT: &str = "llvm.loop.vectorize.enable";
const KIND: &str = "llvm.loop";
/// LLVM's flag for sums in any order.
const REASSOC: u8 = 1;

impl<'c> Emitter<'c, '_, '_> {
    pub(super) fn loops(&self) -> &Loops { self.loops.get_or_init(|| Loops::new(self.func, self.cfg, &Dominators::new(self.func, self.cfg))) }

    /// Marks the loop that a branch from the current block closes.
    pub(super) fn mark_loop(&self, branch: InstructionValue<'c>, targets: &[Block]) -> Result<()> {
        if self.fast_math & REASSOC != 0 { return Ok(()); }
        let closed = self.loops().all.iter().find(|l| l.innermost && targets.contains(&l.header) && l.latches.contains(&self.at));
        if !closed.is_some_and(|l| self.sums_what_is_cheap(l)) { return Ok(()); }
        let context = self.shared.context;
        let no = context.bool_type().const_zero();
        let kind = context.get_kind_id(KIND);
        if kind == 0 { return Err(bug("LLVM knows no loops")); }
        // SAFETY: all nodes belong to the context of the branch; the temporary one, which stands for the node itself, is replaced at once.
        unsafe {
            let c = context.raw();
            let hint = LLVMMDStringInContext2(c, HINT.as_ptr().cast(), HINT.len());
            let mut parts = [hint, LLVMValueAsMetadata(no.as_value_ref())];
            let hint = LLVMMDNodeInContext2(c, parts.as_mut_ptr(), parts.len());
            let itself = LLVMTemporaryMDNode(c, std::ptr::null_mut(), 0);
            let mut parts = [itself, hint];
            let node = LLVMMDNodeInContext2(c, parts.as_mut_ptr(), parts.len());
            LLVMMetadataReplaceAllUsesWith(itself, node);
            LLVMSetMetadata(branch.as_value_ref(), kind, LLVMMetadataAsValue(c, node));
        }
        Ok(())
    }

    /// Whether floats are added up, and nothing is computed that takes long.
    fn sums_what_is_cheap(&self, l: &Loop) -> bool {
        let func = self.func;
        let totals: Vec<Value> = func.blocks[l.header.index()].params.iter().copied().filter(|p| matches!(func.value_type(*p), Ty::F32 | Ty::F64)).collect();
        if totals.is_empty() { return false; }
        let insts = || l.blocks.iter().filter(|b| !func.blocks[b.index()].cold).flat_map(|b| &func.blocks[b.index()].insts).map(|i| &func.insts[i.index()].data);
        insts().any(|data| matches!(data, InstData::Op { op: Op::Fadd | Op::Fsub, args, .. } if args.iter().any(|a| totals.contains(a))))
            && !insts().any(|data| matches!(data, InstData::Op { op: Op::Fdiv | Op::Fsqrt, .. } | InstData::CallHelper { .. }))
    }
}
