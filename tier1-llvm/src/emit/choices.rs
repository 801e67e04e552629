//! `min` and `max` of integers stay choices.
//!
//! Where the next turn of a loop waits for one, LLVM's code generator makes it a branch, in the hope that it can be
//! predicted. What a program computes by `min` mostly cannot, as in dynamic programming; where it can, the program
//! has an `if`. LLVM's passes know the intrinsics best, so these are written out when the passes have run.

use inkwell::IntPredicate;
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::values::{BasicValue, BasicValueEnum, CallSiteValue, InstructionOpcode, InstructionValue};

/// Intrinsics, and when they give their first operand.
const INTRINSICS: [(&str, IntPredicate); 4] = [
    ("llvm.smin.", IntPredicate::SLT),
    ("llvm.smax.", IntPredicate::SGT),
    ("llvm.umin.", IntPredicate::ULT),
    ("llvm.umax.", IntPredicate::UGT),
];

/// Writes out each `min` and `max` as a choice that cannot be predicted.
pub(crate) fn keep(module: &Module<'_>) {
    let context = module.get_context();
    for function in module.get_functions() {
        for block in function.get_basic_blocks() {
            let all: Vec<InstructionValue<'_>> = block.get_instructions().collect();
            for call in all.into_iter().filter(|i| i.get_opcode() == InstructionOpcode::Call) {
                write_out(&context, call);
            }
        }
    }
}

fn write_out(context: &ContextRef<'_>, call: InstructionValue<'_>) -> Option<()> {
    let site = CallSiteValue::try_from(call).ok()?;
    let callee = site.get_called_fn_value()?;
    let name = callee.get_name().to_str().ok()?;
    let (_, predicate) = INTRINSICS.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    let operand = |k: u32| call.get_operand(k)?.value();
    let (BasicValueEnum::IntValue(a), BasicValueEnum::IntValue(b)) = (operand(0)?, operand(1)?) else {
        return None;
    };
    let builder = context.create_builder();
    builder.position_before(&call);
    let first = builder.build_int_compare(*predicate, a, b, "").ok()?;
    let choice = builder.build_select(first, a, b, "").ok()?.as_instruction_value()?;
    choice.set_metadata(context.metadata_node(&[]), context.get_kind_id("unpredictable")).ok()?;
    call.replace_all_uses_with(&choice);
    call.erase_from_basic_block();
    Some(())
}
