//! Vectors of 128 bits. Wider and narrower ones, and operations that [`has`] denies, were split before.

use super::{Emitter, bug};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use tierup_core::diag::Result;
use tierup_core::lir::{Op, Ty};

/// Whether Cranelift has the operation on vectors of that type, with the answers that LIR gives. Its
/// comparisons give masks as wide as what they compare and its shifts take one amount, so neither is here.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not here is done lane by lane")]
pub(crate) fn has(op: Op, ty: Ty) -> bool {
    let lane = ty.lane();
    match op {
        Op::Iadd | Op::Isub | Op::Band | Op::Bor | Op::Bxor | Op::Ineg | Op::Bnot => true,
        Op::Imul => lane == Ty::I16 || lane == Ty::I32 || lane == Ty::I64,
        Op::Smin | Op::Smax | Op::Umin | Op::Umax => lane != Ty::I64,
        Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Fneg | Op::Fabs | Op::Fsqrt => true,
        Op::Ffloor | Op::Fceil | Op::Ftrunc | Op::Fnearest | Op::Bitcast => true,
        _ => false,
    }
}

impl Emitter<'_, '_> {
    pub(super) fn lanes(&mut self, ty: ir::Type, lanes: &[ir::Value]) -> ir::Value {
        // Of narrow integers there is no instruction that fills the rest with anything.
        let narrow = ty.lane_bits() < 32;
        let first = match narrow {
            true => self.b.ins().splat(ty, lanes[0]),
            false => self.b.ins().scalar_to_vector(ty, lanes[0]),
        };
        let rest = lanes.iter().enumerate().skip(1);
        rest.fold(first, |whole, (k, lane)| self.b.ins().insertlane(whole, *lane, k as u8))
    }

    pub(super) fn lane(&mut self, whole: ir::Value, number: ir::Value) -> Result<ir::Value> {
        let Some(k) = self.known_constant(number) else {
            return Err(bug("the number of a lane is not known; the vectors were not split".into()));
        };
        let lanes = self.b.func.dfg.value_type(whole).lane_count();
        Ok(self.b.ins().extractlane(whole, (k as u64 % u64::from(lanes)) as u8))
    }

    /// The same bits in lanes of another kind.
    pub(super) fn cast(&mut self, to: ir::Type, x: ir::Value) -> ir::Value {
        let flags = if to.is_vector() {
            MemFlagsData::new().with_endianness(ir::Endianness::Little)
        } else {
            MemFlagsData::new()
        };
        self.b.ins().bitcast(to, flags, x)
    }
}
