//! What LLVM is told about innermost loops.
//!
//! Sums of floats are added up in their order, and LLVM may compute their terms in vectors all the same
//! (`target/cpu.rs` allows it). That pays where a term is a division, a root or an elementary function. What
//! only multiplies would be gathered and taken apart again for nothing: `matmul` took 1.6 times as long. So
//! such loops stay scalar, and those over elements of unknown stride too, where a gather costs more than the
//! loads.
//!
//! Of any other loop LLVM may make vectors, and what is left of it then, the last few turns, is not worth
//! unrolling. LLVM would, wherever it had to compare the addresses of arrays first, since it takes the loop
//! that is left for a way that is used as often: a third of the time that compiling `jacobi` took. (It is
//! used all the time where the arrays turn out to be one, as in `d[i, j] = min(d[i, j], d[i, k] + d[k, j])`;
//! that one reads an element that stays.) Nor is a loop in cold blocks (the one that keeps its bounds checks,
//! see `core::lir::opt::version`), or one that is known to have few turns (`core::lir::opt::nest`).

use super::{Emitter, bug, built};
use inkwell::llvm_sys::core::{
    LLVMMDNodeInContext2, LLVMMDStringInContext2, LLVMMetadataAsValue, LLVMSetMetadata, LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;
use inkwell::values::{AsValueRef, InstructionValue};
use tierup_core::diag::Result;
use tierup_core::lir::cfg::{Dominators, Loop, Loops};
use tierup_core::lir::opt::strided_loops;
use tierup_core::lir::{Alias, Block, InstData, Op, Ty, Value};

const KIND: &str = "llvm.loop";
const ENABLE: &str = "llvm.loop.vectorize.enable";
/// What becomes of the hints of a loop that vectors were made of; those of the loop that is left are these
/// alone.
const LEFT: &str = "llvm.loop.vectorize.followup_epilogue";
const IS_VECTORISED: &str = "llvm.loop.isvectorized";
const UNROLL: &str = "llvm.loop.unroll.count";
const DO_NOT_UNROLL: &str = "llvm.loop.unroll.runtime.disable";
/// LLVM's flag for sums in any order.
const REASSOC: u8 = 1;

/// What LLVM should do with a loop.
#[derive(Clone, Copy)]
enum Advice {
    /// What it likes.
    None,
    /// No vectors, no second copy of the body: it is hardly ever used, or has few turns.
    Small,
    /// No vectors: they would have to be taken apart again.
    Scalar,
    /// No vectors, since they would have to be put together from single elements; the body twice.
    Twice,
    /// What is left when vectors have been made, once.
    SmallRest,
}

impl Advice {
    /// Why the user gets no vectors, if it was not LLVM that found them impossible or too dear.
    fn reason(self) -> Option<&'static str> {
        match self {
            Advice::Scalar => Some(
                "floats are added up in order, and what is added up costs too little; fastmath={'reassoc'} allows any order",
            ),
            Advice::Twice => Some(
                "the elements do not lie side by side, and what is computed of them costs too little; contiguous arrays have another version of the loop",
            ),
            Advice::None | Advice::Small | Advice::SmallRest => None,
        }
    }
}

impl<'c> Emitter<'c, '_, '_> {
    pub(super) fn loops(&self) -> &Loops {
        self.loops.get_or_init(|| Loops::new(self.func, self.cfg, &Dominators::new(self.func, self.cfg)))
    }

    /// Marks the loop that a branch from the current block closes.
    pub(super) fn mark_loop(&self, branch: InstructionValue<'c>, targets: &[Block]) -> Result<()> {
        let Some(closed) = self
            .loops()
            .all
            .iter()
            .find(|l| l.innermost && targets.contains(&l.header) && l.latches.contains(&self.at))
        else {
            return Ok(());
        };
        let advice = self.advice(closed);
        if let Some(reason) = advice.reason() {
            self.note(reason);
        }
        let context = self.shared.context;
        let kind = context.get_kind_id(KIND);
        if kind == 0 {
            return Err(bug("LLVM knows no loops"));
        }
        let no = context.bool_type().const_zero().as_value_ref();
        let [one, two] = [1, 2].map(|n| context.i32_type().const_int(n, false).as_value_ref());
        // SAFETY: all nodes belong to the context of the branch; the temporary one, which stands for the node
        // itself, is replaced at once.
        unsafe {
            let c = context.raw();
            let name = |text: &str| LLVMMDStringInContext2(c, text.as_ptr().cast(), text.len());
            let node =
                |parts: &mut [LLVMMetadataRef]| LLVMMDNodeInContext2(c, parts.as_mut_ptr(), parts.len());
            let scalar = || node(&mut [name(ENABLE), LLVMValueAsMetadata(no)]);
            let once = || node(&mut [name(DO_NOT_UNROLL)]);
            let itself = LLVMTemporaryMDNode(c, std::ptr::null_mut(), 0);
            let all = match advice {
                Advice::None => node(&mut [itself]),
                Advice::Small => node(&mut [itself, scalar(), once()]),
                Advice::Scalar => node(&mut [itself, scalar()]),
                Advice::Twice => {
                    node(&mut [itself, scalar(), node(&mut [name(UNROLL), LLVMValueAsMetadata(two)])])
                }
                Advice::SmallRest => node(&mut [
                    itself,
                    node(&mut [
                        name(LEFT),
                        node(&mut [name(IS_VECTORISED), LLVMValueAsMetadata(one)]),
                        once(),
                    ]),
                ]),
            };
            LLVMMetadataReplaceAllUsesWith(itself, all);
            LLVMSetMetadata(branch.as_value_ref(), kind, LLVMMetadataAsValue(c, all));
        }
        Ok(())
    }

    /// A loop around strips of another one, which does nothing but begin to count anew, would be merged with that:
    /// LLVM then sees no number of turns, and does not unroll. An effect that is none keeps them apart.
    pub(super) fn keep_strips(&self, to: Block) -> Result<()> {
        let all = &self.loops().all;
        let header = |b: Block| all.iter().find(|l| l.header == b);
        let does_nothing = self.func.blocks[self.at.index()]
            .insts
            .iter()
            .map(|i| &self.func.insts[i.index()].data)
            .all(|data| matches!(data, InstData::Const { .. } | InstData::Jump(_)));
        if does_nothing && header(self.at).is_some() && header(to).is_some_and(|l| l.innermost) {
            let effect = self.shared.intrinsic("llvm.sideeffect", &[])?;
            built(self.b.build_call(effect, &[], ""))?;
        }
        Ok(())
    }

    fn advice(&self, l: &Loop) -> Advice {
        let any_order = self.fast_math & REASSOC != 0;
        if self.func.blocks[self.at.index()].cold || self.func.blocks[l.header.index()].short {
            Advice::Small
        } else if self.takes_long(l) {
            Advice::SmallRest
        } else if !any_order && self.adds_up(l) {
            Advice::Scalar
        } else if self.is_strided(l) {
            Advice::Twice
        } else if self.rereads(l) {
            Advice::None
        } else {
            Advice::SmallRest
        }
    }

    /// Tells the user about the loop that the current block closes.
    fn note(&self, reason: &str) {
        if !self.shared.options.keep_remarks {
            return;
        }
        let last = self.func.blocks[self.at.index()].insts.last();
        if let Some(l) = last.and_then(|i| self.func.place(self.func.insts[i.index()].loc)) {
            self.shared
                .notes
                .borrow_mut()
                .push(format!("{}:{}:{}: loop not vectorized: {reason}", l.file, l.line, l.col));
        }
    }

    fn insts<'l>(&'l self, l: &'l Loop) -> impl Iterator<Item = &'l InstData> {
        let func = self.func;
        l.blocks
            .iter()
            .filter(|b| !func.blocks[b.index()].cold)
            .flat_map(|b| &func.blocks[b.index()].insts)
            .map(|i| &func.insts[i.index()].data)
    }

    /// Whether something is computed that is worth a vector whatever it costs to fill one.
    fn takes_long(&self, l: &Loop) -> bool {
        self.insts(l).any(|data| {
            matches!(data, InstData::Op { op: Op::Fdiv | Op::Fsqrt, .. } | InstData::CallHelper { .. })
        })
    }

    /// Whether floats are added up, in a variable or in an element that stays.
    fn adds_up(&self, l: &Loop) -> bool {
        let func = self.func;
        let params = func.blocks[l.header.index()].params.iter().copied();
        let totals: Vec<Value> = params
            .chain(self.elements_that_stay(l))
            .filter(|p| matches!(func.value_type(*p), Ty::F32 | Ty::F64))
            .collect();
        !totals.is_empty() && self.insts(l).any(|data| matches!(data, InstData::Op { op: Op::Fadd | Op::Fsub, args, .. } if args.iter().any(|a| totals.contains(a))))
    }

    fn moves(&self, l: &Loop, v: Value) -> bool {
        l.blocks.iter().map(|b| &self.func.blocks[b.index()]).any(|b| {
            b.params.contains(&v) || b.insts.iter().any(|i| self.func.insts[i.index()].results.contains(&v))
        })
    }

    /// What is read at every turn from where the turn also writes.
    fn elements_that_stay(&self, l: &Loop) -> Vec<Value> {
        let written: Vec<(Value, i32)> = self
            .insts(l)
            .filter_map(|data| {
                let InstData::Store { addr, offset, .. } = data else { return None };
                (!self.moves(l, *addr)).then_some((*addr, *offset))
            })
            .collect();
        let blocks = l.blocks.iter().map(|b| &self.func.blocks[b.index()]).filter(|b| !b.cold);
        blocks
            .flat_map(|b| &b.insts)
            .map(|i| &self.func.insts[i.index()])
            .filter(|n| matches!(&n.data, InstData::Load { addr, offset, .. } if written.contains(&(*addr, *offset))))
            .flat_map(|n| n.results.clone())
            .collect()
    }

    /// Whether a place is read at every turn that some turn may write.
    fn rereads(&self, l: &Loop) -> bool {
        let written =
            |kind| self.insts(l).any(|data| matches!(data, InstData::Store { alias, .. } if *alias == kind));
        self.insts(l).any(|data| matches!(data, InstData::Load { addr, alias: alias @ (Alias::Array | Alias::Element), .. } if written(*alias) && !self.moves(l, *addr)))
    }

    fn is_strided(&self, l: &Loop) -> bool {
        self.strided.get_or_init(|| strided_loops(self.func, self.cfg, self.loops())).contains(&l.header)
    }
}
