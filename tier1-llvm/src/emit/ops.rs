//! The match over operations.

use super::{Emitter, bug, built};
use inkwell::values::{BasicValue, BasicValueEnum, FastMathFlags, FloatValue, InstructionValue, IntValue};
use inkwell::{FloatPredicate, IntPredicate};
use tierup_core::diag::Result;
use tierup_core::lir::{Op, Ty, Value};

impl<'c> Emitter<'c, '_, '_> {
    pub(super) fn op(&mut self, op: Op, ty: Ty, args: &[Value]) -> Result<BasicValueEnum<'c>> {
        if let Ty::Vector(v) = ty {
            return self.vector_op(op, v, args);
        }
        let list = self.list(args)?;
        self.operation(op, ty, &list)
    }

    /// On scalars.
    pub(super) fn operation(
        &mut self,
        op: Op,
        ty: Ty,
        list: &[BasicValueEnum<'c>],
    ) -> Result<BasicValueEnum<'c>> {
        let int = |k: usize| list[k].into_int_value();
        let float = |k: usize| list[k].into_float_value();
        Ok(match op {
            Op::Iadd => built(self.b.build_int_add(int(0), int(1), ""))?.into(),
            Op::Isub => built(self.b.build_int_sub(int(0), int(1), ""))?.into(),
            Op::Imul => built(self.b.build_int_mul(int(0), int(1), ""))?.into(),
            Op::Sdiv => self.sdiv(int(0), int(1))?.into(),
            Op::Udiv => self.udiv(int(0), int(1))?.into(),
            Op::Srem => self.srem(int(0), int(1))?.into(),
            Op::Urem => self.urem(int(0), int(1))?.into(),
            Op::Band => built(self.b.build_and(int(0), int(1), ""))?.into(),
            Op::Bor => built(self.b.build_or(int(0), int(1), ""))?.into(),
            Op::Bxor => built(self.b.build_xor(int(0), int(1), ""))?.into(),
            Op::Ishl => {
                let n = self.amount(int(1))?;
                built(self.b.build_left_shift(int(0), n, ""))?.into()
            }
            Op::Sshr => {
                let n = self.amount(int(1))?;
                built(self.b.build_right_shift(int(0), n, true, ""))?.into()
            }
            Op::Ushr => {
                let n = self.amount(int(1))?;
                built(self.b.build_right_shift(int(0), n, false, ""))?.into()
            }
            Op::Smin => self.intrinsic("llvm.smin", list)?,
            Op::Smax => self.intrinsic("llvm.smax", list)?,
            Op::Umin => self.intrinsic("llvm.umin", list)?,
            Op::Umax => self.intrinsic("llvm.umax", list)?,
            Op::Ineg => built(self.b.build_int_neg(int(0), ""))?.into(),
            Op::Bnot => built(self.b.build_not(int(0), ""))?.into(),
            Op::Popcnt => self.intrinsic("llvm.ctpop", list)?,
            Op::Clz => self.count_zeros("llvm.ctlz", int(0))?,
            Op::Ctz => self.count_zeros("llvm.cttz", int(0))?,
            Op::IcmpEq => self.compare(IntPredicate::EQ, list)?,
            Op::IcmpNe => self.compare(IntPredicate::NE, list)?,
            Op::IcmpSlt => self.compare(IntPredicate::SLT, list)?,
            Op::IcmpSle => self.compare(IntPredicate::SLE, list)?,
            Op::IcmpSgt => self.compare(IntPredicate::SGT, list)?,
            Op::IcmpSge => self.compare(IntPredicate::SGE, list)?,
            Op::IcmpUlt => self.compare(IntPredicate::ULT, list)?,
            Op::IcmpUle => self.compare(IntPredicate::ULE, list)?,
            Op::SaddOverflows => self.overflows("llvm.sadd.with.overflow", list)?,
            Op::SsubOverflows => self.overflows("llvm.ssub.with.overflow", list)?,
            Op::SmulOverflows => self.overflows("llvm.smul.with.overflow", list)?,
            Op::Fadd => {
                let v = built(self.b.build_float_add(float(0), float(1), ""))?;
                self.flags(v)?
            }
            Op::Fsub => {
                let v = built(self.b.build_float_sub(float(0), float(1), ""))?;
                self.flags(v)?
            }
            Op::Fmul => {
                let v = built(self.b.build_float_mul(float(0), float(1), ""))?;
                self.flags(v)?
            }
            Op::Fdiv => {
                let v = built(self.b.build_float_div(float(0), float(1), ""))?;
                self.flags(v)?
            }
            Op::Fma => self.intrinsic("llvm.fma", list)?,
            Op::Fcopysign => self.intrinsic("llvm.copysign", list)?,
            Op::Fneg => {
                let v = built(self.b.build_float_neg(float(0), ""))?;
                self.flags(v)?
            }
            Op::Fabs => self.intrinsic("llvm.fabs", list)?,
            Op::Fsqrt => self.intrinsic("llvm.sqrt", list)?,
            Op::Ffloor => self.intrinsic("llvm.floor", list)?,
            Op::Fceil => self.intrinsic("llvm.ceil", list)?,
            Op::Ftrunc => self.intrinsic("llvm.trunc", list)?,
            Op::Fnearest => self.intrinsic("llvm.roundeven", list)?,
            Op::FcmpEq => self.fcompare(FloatPredicate::OEQ, list)?,
            Op::FcmpNe => self.fcompare(FloatPredicate::UNE, list)?,
            Op::FcmpLt => self.fcompare(FloatPredicate::OLT, list)?,
            Op::FcmpLe => self.fcompare(FloatPredicate::OLE, list)?,
            Op::FcmpGt => self.fcompare(FloatPredicate::OGT, list)?,
            Op::FcmpGe => self.fcompare(FloatPredicate::OGE, list)?,
            Op::FcmpUno => self.fcompare(FloatPredicate::UNO, list)?,
            Op::Sext => {
                built(self.b.build_int_s_extend(int(0), self.shared.ty(ty).into_int_type(), ""))?.into()
            }
            Op::Zext => {
                built(self.b.build_int_z_extend(int(0), self.shared.ty(ty).into_int_type(), ""))?.into()
            }
            Op::Itrunc => {
                built(self.b.build_int_truncate(int(0), self.shared.ty(ty).into_int_type(), ""))?.into()
            }
            Op::SintToF => {
                built(self.b.build_signed_int_to_float(int(0), self.shared.ty(ty).into_float_type(), ""))?
                    .into()
            }
            Op::UintToF => {
                built(self.b.build_unsigned_int_to_float(int(0), self.shared.ty(ty).into_float_type(), ""))?
                    .into()
            }
            Op::FToSint => self.saturate("llvm.fptosi.sat", ty, list[0])?,
            Op::FToUint => self.saturate("llvm.fptoui.sat", ty, list[0])?,
            Op::FToSintOrMin => self.sint_or_min(ty, float(0))?,
            Op::Fconvert => {
                let to = self.shared.ty(ty).into_float_type();
                if ty == Ty::F64 {
                    built(self.b.build_float_ext(float(0), to, ""))?.into()
                } else {
                    built(self.b.build_float_trunc(float(0), to, ""))?.into()
                }
            }
            Op::Bitcast => self.bitcast(ty, list[0])?,
            Op::PtrAdd => {
                // SAFETY: no promise is made about the result (not `inbounds`).
                built(unsafe {
                    self.b.build_gep(
                        self.shared.context.i8_type(),
                        list[0].into_pointer_value(),
                        &[int(1)],
                        "",
                    )
                })?
                .into()
            }
            Op::Select => {
                let cond = self.truth_of(int(0))?;
                let v = built(self.b.build_select(cond, list[1], list[2], ""))?;
                if v.is_float_value() {
                    self.mark(v.as_instruction_value())?;
                }
                v
            }
            Op::Splat | Op::Lanes | Op::Lane | Op::AnyLane | Op::EveryLane => {
                return Err(bug("a vector of a scalar type"));
            }
        })
    }

    /// Fast-math flags where the user asked for them.
    fn flags(&self, v: FloatValue<'c>) -> Result<BasicValueEnum<'c>> {
        self.mark(v.as_instruction_value())?;
        Ok(v.as_basic_value_enum())
    }

    /// The same for any instruction that takes or gives floats; none where LLVM has folded it away.
    pub(super) fn mark(&self, inst: Option<InstructionValue<'c>>) -> Result<()> {
        let flags = u32::from(self.fast_math);
        let Some(inst) = inst.filter(|_| flags != 0) else { return Ok(()) };
        inst.set_fast_math_flags(FastMathFlags::from_bits_truncate(flags)).map_err(|e| bug(e.to_string()))
    }

    pub(super) fn intrinsic(&self, name: &str, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        let f = self.shared.intrinsic(name, &[args[0].get_type()])?;
        let args: Vec<_> = args.iter().map(|a| (*a).into()).collect();
        let v = built(self.b.build_call(f, &args, ""))?
            .try_as_basic_value()
            .basic()
            .ok_or_else(|| bug(format!("{name} gives nothing")))?;
        if v.is_float_value() {
            self.mark(v.as_instruction_value())?;
        }
        Ok(v)
    }

    /// The width for 0.
    fn count_zeros(&self, name: &str, x: IntValue<'c>) -> Result<BasicValueEnum<'c>> {
        self.intrinsic(name, &[x.into(), self.shared.context.bool_type().const_zero().into()])
    }

    fn overflows(&self, name: &str, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        // The overflow of addresses is that of their bits.
        let bits =
            |v: &BasicValueEnum<'c>| if v.is_pointer_value() { self.bitcast(Ty::I64, *v) } else { Ok(*v) };
        let args = args.iter().map(bits).collect::<Result<Vec<_>>>()?;
        let both = self.intrinsic(name, &args)?.into_struct_value();
        let bit = built(self.b.build_extract_value(both, 1, ""))?.into_int_value();
        self.byte(bit)
    }

    fn byte(&self, bit: IntValue<'c>) -> Result<BasicValueEnum<'c>> {
        Ok(built(self.b.build_int_z_extend(bit, self.shared.context.i8_type(), ""))?.into())
    }

    fn compare(&self, predicate: IntPredicate, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        let bit = match (args[0], args[1]) {
            (BasicValueEnum::PointerValue(a), BasicValueEnum::PointerValue(b)) => {
                built(self.b.build_int_compare(predicate, a, b, ""))?
            }
            (a, b) => built(self.b.build_int_compare(predicate, a.into_int_value(), b.into_int_value(), ""))?,
        };
        self.byte(bit)
    }

    fn fcompare(&self, predicate: FloatPredicate, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        let bit = built(self.b.build_float_compare(
            predicate,
            args[0].into_float_value(),
            args[1].into_float_value(),
            "",
        ))?;
        self.mark(bit.as_instruction_value())?;
        self.byte(bit)
    }

    /// A shift amount modulo the width.
    fn amount(&self, n: IntValue<'c>) -> Result<IntValue<'c>> {
        let mask = n.get_type().const_int(n.get_type().get_bit_width() as u64 - 1, false);
        built(self.b.build_and(n, mask, ""))
    }

    /// `x / 0` is 0 and `MIN / -1` is `MIN`: one test for 0 and -1, both at most 1 after adding 1; the answer
    /// is then 0 or -x, which is `-x & y`.
    fn sdiv(&self, x: IntValue<'c>, y: IntValue<'c>) -> Result<IntValue<'c>> {
        if let Some(c) = y.get_sign_extended_constant()
            && c != 0
            && c != -1
        {
            return built(self.b.build_int_signed_div(x, y, ""));
        }
        let one = y.get_type().const_int(1, false);
        let next = built(self.b.build_int_add(y, one, ""))?;
        let special = built(self.b.build_int_compare(IntPredicate::ULE, next, one, ""))?;
        let safe = built(self.b.build_select(special, one, y, ""))?.into_int_value();
        let quotient = built(self.b.build_int_signed_div(x, safe, ""))?;
        let negated = built(self.b.build_int_neg(x, ""))?;
        let other = built(self.b.build_and(negated, y, ""))?;
        Ok(built(self.b.build_select(special, other, quotient, ""))?.into_int_value())
    }

    /// `x % 0` and `x % -1` are 0, as `x % 1` is.
    fn srem(&self, x: IntValue<'c>, y: IntValue<'c>) -> Result<IntValue<'c>> {
        if let Some(c) = y.get_sign_extended_constant()
            && c != 0
            && c != -1
        {
            return built(self.b.build_int_signed_rem(x, y, ""));
        }
        let one = y.get_type().const_int(1, false);
        let next = built(self.b.build_int_add(y, one, ""))?;
        let special = built(self.b.build_int_compare(IntPredicate::ULE, next, one, ""))?;
        let safe = built(self.b.build_select(special, one, y, ""))?.into_int_value();
        built(self.b.build_int_signed_rem(x, safe, ""))
    }

    fn or_one(&self, y: IntValue<'c>) -> Result<(IntValue<'c>, IntValue<'c>)> {
        let zero = built(self.b.build_int_compare(IntPredicate::EQ, y, y.get_type().const_zero(), ""))?;
        Ok((
            built(self.b.build_select(zero, y.get_type().const_int(1, false), y, ""))?.into_int_value(),
            zero,
        ))
    }

    fn udiv(&self, x: IntValue<'c>, y: IntValue<'c>) -> Result<IntValue<'c>> {
        let (safe, zero) = self.or_one(y)?;
        let quotient = built(self.b.build_int_unsigned_div(x, safe, ""))?;
        Ok(built(self.b.build_select(zero, y.get_type().const_zero(), quotient, ""))?.into_int_value())
    }

    fn urem(&self, x: IntValue<'c>, y: IntValue<'c>) -> Result<IntValue<'c>> {
        let (safe, _) = self.or_one(y)?;
        built(self.b.build_int_unsigned_rem(x, safe, ""))
    }

    pub(super) fn saturate(&self, name: &str, to: Ty, x: BasicValueEnum<'c>) -> Result<BasicValueEnum<'c>> {
        let f = self.shared.intrinsic(name, &[self.shared.ty(to), x.get_type()])?;
        built(self.b.build_call(f, &[x.into()], ""))?
            .try_as_basic_value()
            .basic()
            .ok_or_else(|| bug(format!("{name} gives nothing")))
    }

    /// What the instruction of x86 does; other widths and machines choose between a saturated number and the
    /// least.
    fn sint_or_min(&self, to: Ty, x: FloatValue<'c>) -> Result<BasicValueEnum<'c>> {
        let double = x.get_type() == self.shared.context.f64_type();
        let name = match (to, double) {
            (Ty::I64, true) => Some("llvm.x86.sse2.cvttsd2si64"),
            (Ty::I64, false) => Some("llvm.x86.sse.cvttss2si64"),
            (Ty::I32, true) => Some("llvm.x86.sse2.cvttsd2si"),
            (Ty::I32, false) => Some("llvm.x86.sse.cvttss2si"),
            (Ty::I8 | Ty::I16 | Ty::F32 | Ty::F64 | Ty::Ptr | Ty::Vector(_), _) => None,
        };
        if let Some(name) = name.filter(|_| !self.shared.options.target.is_gpu()) {
            let f = self.shared.intrinsic(name, &[])?;
            let lanes = x.get_type().vec_type(if double { 2 } else { 4 }).get_poison();
            let lanes = built(self.b.build_insert_element(
                lanes,
                x,
                self.shared.context.i32_type().const_zero(),
                "",
            ))?;
            return built(self.b.build_call(f, &[lanes.into()], ""))?
                .try_as_basic_value()
                .basic()
                .ok_or_else(|| bug(format!("{name} gives nothing")));
        }
        let near = self.saturate("llvm.fptosi.sat", to, x.into())?;
        let bits = to.bytes() * 8 - 1;
        let holds = built(self.b.build_float_compare(
            FloatPredicate::OLT,
            x,
            x.get_type().const_float(2f64.powi(bits as i32)),
            "",
        ))?;
        let least = near.into_int_value().get_type().const_int(1 << bits, false);
        built(self.b.build_select(holds, near, least.into(), ""))
    }

    fn bitcast(&self, to: Ty, x: BasicValueEnum<'c>) -> Result<BasicValueEnum<'c>> {
        let target = self.shared.ty(to);
        Ok(match (x, to) {
            (BasicValueEnum::PointerValue(p), Ty::I64) => {
                built(self.b.build_ptr_to_int(p, target.into_int_type(), ""))?.into()
            }
            (
                BasicValueEnum::PointerValue(p),
                Ty::I8 | Ty::I16 | Ty::I32 | Ty::F32 | Ty::F64 | Ty::Ptr | Ty::Vector(_),
            ) => {
                let bits = built(self.b.build_ptr_to_int(p, self.shared.context.i64_type(), ""))?;
                built(self.b.build_bit_cast(bits, target, ""))?
            }
            (BasicValueEnum::IntValue(i), Ty::Ptr) => {
                built(self.b.build_int_to_ptr(i, target.into_pointer_type(), ""))?.into()
            }
            (x, Ty::Ptr) => {
                let bits =
                    built(self.b.build_bit_cast(x, self.shared.context.i64_type(), ""))?.into_int_value();
                built(self.b.build_int_to_ptr(bits, target.into_pointer_type(), ""))?.into()
            }
            (x, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::Vector(_)) => {
                built(self.b.build_bit_cast(x, target, ""))?
            }
        })
    }
}
