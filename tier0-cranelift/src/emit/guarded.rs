//! What the machine leaves undefined, with the meaning that LIR gives it: division by zero and of the least
//! number, overflow flags, conversions of floats that do not fit.

use super::Emitter;
use crate::divisors::{Divisors, Known};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use tierup_core::lir::Value;

impl Emitter<'_, '_> {
    /// What is known about a divisor at the current place.
    pub(super) fn divisor(&mut self, lir: Value, v: ir::Value) -> Known {
        if let Some(c) = self.known_constant(v) {
            return Known { not_zero: c != 0, not_minus_one: c != -1 };
        }
        let divisors = self.divisors.get_or_insert_with(|| Divisors::new(self.func, self.cfg));
        divisors.known(lir, self.block)
    }

    /// Divides in 32 bits what is narrower: Cranelift knows no constant divisors there, and `MIN / -1` cannot
    /// overflow.
    pub(super) fn widened(
        &mut self,
        signed: bool,
        x: ir::Value,
        y: ir::Value,
    ) -> Option<(ir::Value, ir::Value)> {
        if self.b.func.dfg.value_type(x).bits() >= 32 {
            return None;
        }
        let constant = self.known_constant(y);
        let bits = self.b.func.dfg.value_type(y).bits();
        let wide_x =
            if signed { self.b.ins().sextend(types::I32, x) } else { self.b.ins().uextend(types::I32, x) };
        let wide_y = match constant {
            // Written out, because Cranelift looks for constant divisors before it folds extensions.
            Some(c) => {
                self.b.ins().iconst(types::I32, if signed { c as u32 as i64 } else { c & ((1 << bits) - 1) })
            }
            None if signed => self.b.ins().sextend(types::I32, y),
            None => self.b.ins().uextend(types::I32, y),
        };
        Some((wide_x, wide_y))
    }

    /// `y`, or 1 where it is zero, and whether it is.
    pub(super) fn or_one(&mut self, y: ir::Value) -> (ir::Value, ir::Value) {
        let one = self.constant_like(y, 1);
        let zero = self.b.ins().icmp_imm_u(IntCC::Equal, y, 0);
        (self.b.ins().select(zero, one, y), zero)
    }

    pub(super) fn sdiv(&mut self, x: ir::Value, y: ir::Value, known: Known) -> ir::Value {
        let ty = self.b.func.dfg.value_type(x);
        if self.known_constant(y) == Some(0) {
            return self.b.ins().iconst(ty, 0);
        }
        if self.known_constant(y) == Some(-1) {
            return self.b.ins().ineg(x);
        }
        if let Some((x, y)) = self.widened(true, x, y) {
            let wide = self.sdiv(x, y, Known { not_minus_one: true, ..known });
            return self.b.ins().ireduce(ty, wide);
        }
        let one = self.constant_like(y, 1);
        if !known.not_zero && !known.not_minus_one {
            // One test for 0 and -1: both are at most 1 after adding 1. The answer is then 0 or -x, which is
            // `-x & y`.
            let next = self.b.ins().iadd(y, one);
            let special = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, next, one);
            let safe = self.b.ins().select(special, one, y);
            let quotient = self.b.ins().sdiv(x, safe);
            let negated = self.b.ins().ineg(x);
            let other = self.b.ins().band(negated, y);
            return self.b.ins().select(special, other, quotient);
        }
        if !known.not_zero {
            let (safe, zero) = self.or_one(y);
            let quotient = self.b.ins().sdiv(x, safe);
            let nothing = self.b.ins().iconst(ty, 0);
            return self.b.ins().select(zero, nothing, quotient);
        }
        if !known.not_minus_one {
            let minus_one = self.b.ins().icmp_imm_s(IntCC::Equal, y, -1);
            let safe = self.b.ins().select(minus_one, one, y);
            let quotient = self.b.ins().sdiv(x, safe);
            let negated = self.b.ins().ineg(x);
            return self.b.ins().select(minus_one, negated, quotient);
        }
        self.b.ins().sdiv(x, y)
    }

    pub(super) fn udiv(&mut self, x: ir::Value, y: ir::Value, known: Known) -> ir::Value {
        let ty = self.b.func.dfg.value_type(x);
        if self.known_constant(y) == Some(0) {
            return self.b.ins().iconst(ty, 0);
        }
        if let Some((x, y)) = self.widened(false, x, y) {
            let wide = self.udiv(x, y, known);
            return self.b.ins().ireduce(ty, wide);
        }
        if known.not_zero {
            return self.b.ins().udiv(x, y);
        }
        let (safe, zero) = self.or_one(y);
        let quotient = self.b.ins().udiv(x, safe);
        let nothing = self.b.ins().iconst(ty, 0);
        self.b.ins().select(zero, nothing, quotient)
    }

    /// `x % 1` is 0, so a replaced divisor needs no second select; Cranelift itself takes care of -1.
    pub(super) fn srem(&mut self, x: ir::Value, y: ir::Value, known: Known) -> ir::Value {
        let ty = self.b.func.dfg.value_type(x);
        if matches!(self.known_constant(y), Some(0 | -1)) {
            return self.b.ins().iconst(ty, 0);
        }
        if let Some((x, y)) = self.widened(true, x, y) {
            let wide = self.srem(x, y, known);
            return self.b.ins().ireduce(ty, wide);
        }
        let y = if known.not_zero { y } else { self.or_one(y).0 };
        self.b.ins().srem(x, y)
    }

    pub(super) fn urem(&mut self, x: ir::Value, y: ir::Value, known: Known) -> ir::Value {
        let ty = self.b.func.dfg.value_type(x);
        if self.known_constant(y) == Some(0) {
            return self.b.ins().iconst(ty, 0);
        }
        if let Some((x, y)) = self.widened(false, x, y) {
            let wide = self.urem(x, y, known);
            return self.b.ins().ireduce(ty, wide);
        }
        let y = if known.not_zero { y } else { self.or_one(y).0 };
        self.b.ins().urem(x, y)
    }

    /// Overflow of `x + y`, computed from the sum, which is usually needed anyway: Cranelift neither merges
    /// nor hoists its instructions with two results.
    pub(super) fn add_overflows(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let sum = self.b.ins().iadd(x, y);
        match self.known_constant(y) {
            Some(c) if c >= 0 => self.b.ins().icmp(IntCC::SignedLessThan, sum, x),
            Some(_) => self.b.ins().icmp(IntCC::SignedGreaterThan, sum, x),
            None => {
                let (a, b) = (self.b.ins().bxor(x, sum), self.b.ins().bxor(y, sum));
                let both = self.b.ins().band(a, b);
                self.b.ins().icmp_imm_s(IntCC::SignedLessThan, both, 0)
            }
        }
    }
    pub(super) fn sub_overflows(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let difference = self.b.ins().isub(x, y);
        match self.known_constant(y) {
            Some(c) if c >= 0 => self.b.ins().icmp(IntCC::SignedGreaterThan, difference, x),
            Some(_) => self.b.ins().icmp(IntCC::SignedLessThan, difference, x),
            None => {
                let (a, b) = (self.b.ins().bxor(x, y), self.b.ins().bxor(x, difference));
                let both = self.b.ins().band(a, b);
                self.b.ins().icmp_imm_s(IntCC::SignedLessThan, both, 0)
            }
        }
    }

    /// Saturating; the machine converts to 32 and 64 bits only, so narrower results are clamped.
    pub(super) fn f_to_sint(&mut self, to: ir::Type, x: ir::Value) -> ir::Value {
        if to.bits() >= 32 {
            return self.b.ins().fcvt_to_sint_sat(to, x);
        }
        let max = (1i64 << (to.bits() - 1)) - 1;
        let wide = self.b.ins().fcvt_to_sint_sat(types::I32, x);
        self.clamp(to, wide, -max - 1, max)
    }
    pub(super) fn f_to_uint(&mut self, to: ir::Type, x: ir::Value) -> ir::Value {
        if to.bits() == 64 {
            return self.b.ins().fcvt_to_uint_sat(to, x);
        }
        // A signed conversion of twice the width is shorter than the unsigned one.
        let through = if to.bits() == 32 { types::I64 } else { types::I32 };
        let wide = self.b.ins().fcvt_to_sint_sat(through, x);
        self.clamp(to, wide, 0, (1i64 << to.bits()) - 1)
    }
    pub(super) fn clamp(&mut self, to: ir::Type, wide: ir::Value, min: i64, max: i64) -> ir::Value {
        let (min, max) = (self.constant_like(wide, min), self.constant_like(wide, max));
        let low = self.b.ins().smax(wide, min);
        let both = self.b.ins().smin(low, max);
        self.b.ins().ireduce(to, both)
    }
}
