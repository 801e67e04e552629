//! Operations on vectors: LLVM's own where it has one with the same answers for every input, else lane by lane.

use super::{Emitter, bug, built};
use inkwell::types::VectorType;
use inkwell::values::{BasicValue, BasicValueEnum, IntValue, VectorValue};
use inkwell::{FloatPredicate, IntPredicate};
use tierup_core::diag::Result;
use tierup_core::lir::{Op, Ty, Value, Vector};

impl<'c> Emitter<'c, '_, '_> {
    /// `v` is the printed type.
    pub(super) fn vector_op(&mut self, op: Op, v: Vector, args: &[Value]) -> Result<BasicValueEnum<'c>> {
        let list = self.list(args)?;
        let to = self.shared.ty(Ty::Vector(v)).into_vector_type();
        let x = |k: usize| list[k].into_vector_value();
        Ok(match op {
            Op::Splat => self.splat(to, list[0])?,
            Op::Lanes if let Some(whole) = self.wide_call(v, args)? => whole,
            Op::Lanes if let Some(whole) = self.permuted(v, args)? => whole,
            Op::Lanes => {
                let mut whole = to.get_poison();
                for (k, lane) in list.iter().enumerate() {
                    whole = built(self.b.build_insert_element(whole, *lane, self.place(k), ""))?;
                }
                whole.into()
            }
            Op::Lane => {
                let k = self.lane_number(v, args[1])?;
                built(self.b.build_extract_element(x(0), k, ""))?
            }
            Op::AnyLane => self.lane_truth("llvm.vector.reduce.or", x(0))?,
            Op::EveryLane => self.lane_truth("llvm.vector.reduce.and", x(0))?,
            Op::Iadd => built(self.b.build_int_add(x(0), x(1), ""))?.into(),
            Op::Isub => built(self.b.build_int_sub(x(0), x(1), ""))?.into(),
            Op::Imul => built(self.b.build_int_mul(x(0), x(1), ""))?.into(),
            Op::Band => built(self.b.build_and(x(0), x(1), ""))?.into(),
            Op::Bor => built(self.b.build_or(x(0), x(1), ""))?.into(),
            Op::Bxor => built(self.b.build_xor(x(0), x(1), ""))?.into(),
            Op::Ishl => built(self.b.build_left_shift(x(0), self.amounts(v, x(1))?, ""))?.into(),
            Op::Sshr => built(self.b.build_right_shift(x(0), self.amounts(v, x(1))?, true, ""))?.into(),
            Op::Ushr => built(self.b.build_right_shift(x(0), self.amounts(v, x(1))?, false, ""))?.into(),
            Op::Smin => self.intrinsic("llvm.smin", &list)?,
            Op::Smax => self.intrinsic("llvm.smax", &list)?,
            Op::Umin => self.intrinsic("llvm.umin", &list)?,
            Op::Umax => self.intrinsic("llvm.umax", &list)?,
            Op::Ineg => built(self.b.build_int_neg(x(0), ""))?.into(),
            Op::Bnot => built(self.b.build_not(x(0), ""))?.into(),
            Op::Popcnt => self.intrinsic("llvm.ctpop", &list)?,
            Op::IcmpEq => self.icompare_lanes(IntPredicate::EQ, &list)?,
            Op::IcmpNe => self.icompare_lanes(IntPredicate::NE, &list)?,
            Op::IcmpSlt => self.icompare_lanes(IntPredicate::SLT, &list)?,
            Op::IcmpSle => self.icompare_lanes(IntPredicate::SLE, &list)?,
            Op::IcmpSgt => self.icompare_lanes(IntPredicate::SGT, &list)?,
            Op::IcmpSge => self.icompare_lanes(IntPredicate::SGE, &list)?,
            Op::IcmpUlt => self.icompare_lanes(IntPredicate::ULT, &list)?,
            Op::IcmpUle => self.icompare_lanes(IntPredicate::ULE, &list)?,
            Op::Fadd => self.marked(built(self.b.build_float_add(x(0), x(1), ""))?)?,
            Op::Fsub => self.marked(built(self.b.build_float_sub(x(0), x(1), ""))?)?,
            Op::Fmul => self.marked(built(self.b.build_float_mul(x(0), x(1), ""))?)?,
            Op::Fdiv => self.marked(built(self.b.build_float_div(x(0), x(1), ""))?)?,
            Op::Fneg => self.marked(built(self.b.build_float_neg(x(0), ""))?)?,
            Op::Fma => self.float_intrinsic("llvm.fma", &list)?,
            Op::Fcopysign => self.float_intrinsic("llvm.copysign", &list)?,
            Op::Fabs => self.float_intrinsic("llvm.fabs", &list)?,
            Op::Fsqrt => self.float_intrinsic("llvm.sqrt", &list)?,
            Op::Ffloor => self.float_intrinsic("llvm.floor", &list)?,
            Op::Fceil => self.float_intrinsic("llvm.ceil", &list)?,
            Op::Ftrunc => self.float_intrinsic("llvm.trunc", &list)?,
            Op::Fnearest => self.float_intrinsic("llvm.roundeven", &list)?,
            Op::FcmpEq => self.fcompare_lanes(FloatPredicate::OEQ, &list)?,
            Op::FcmpNe => self.fcompare_lanes(FloatPredicate::UNE, &list)?,
            Op::FcmpLt => self.fcompare_lanes(FloatPredicate::OLT, &list)?,
            Op::FcmpLe => self.fcompare_lanes(FloatPredicate::OLE, &list)?,
            Op::FcmpGt => self.fcompare_lanes(FloatPredicate::OGT, &list)?,
            Op::FcmpGe => self.fcompare_lanes(FloatPredicate::OGE, &list)?,
            Op::FcmpUno => self.fcompare_lanes(FloatPredicate::UNO, &list)?,
            Op::Sext => built(self.b.build_int_s_extend(x(0), to, ""))?.into(),
            Op::Zext => built(self.b.build_int_z_extend(x(0), to, ""))?.into(),
            Op::Itrunc => built(self.b.build_int_truncate(x(0), to, ""))?.into(),
            Op::SintToF => built(self.b.build_signed_int_to_float(x(0), to, ""))?.into(),
            Op::UintToF => built(self.b.build_unsigned_int_to_float(x(0), to, ""))?.into(),
            Op::FToSint => self.saturate("llvm.fptosi.sat", Ty::Vector(v), list[0])?,
            Op::FToUint => self.saturate("llvm.fptoui.sat", Ty::Vector(v), list[0])?,
            Op::Fconvert if v.lane() == Ty::F64 => built(self.b.build_float_ext(x(0), to, ""))?.into(),
            Op::Fconvert => built(self.b.build_float_trunc(x(0), to, ""))?.into(),
            Op::Bitcast => built(self.b.build_bit_cast(x(0), to, ""))?,
            Op::Select => {
                let mask = self.bits(x(0))?;
                built(self.b.build_select(mask, list[1], list[2], ""))?
            }
            Op::Sdiv
            | Op::Udiv
            | Op::Srem
            | Op::Urem
            | Op::Clz
            | Op::Ctz
            | Op::SaddOverflows
            | Op::SsubOverflows
            | Op::SmulOverflows
            | Op::FToSintOrMin => self.each_lane(op, v, &list)?,
            Op::PtrAdd => return Err(bug("addresses have no lanes")),
        })
    }

    /// Which lane is meant. Where numbers are lanes themselves, all are taken modulo the number of lanes together:
    /// what is left LLVM knows for a shuffle.
    fn lane_number(&self, v: Vector, number: Value) -> Result<IntValue<'c>> {
        let last = self.shared.context.i64_type().const_int(v.lanes() as u64 - 1, false);
        if let Some((numbers, k)) = self.lane_of(number) {
            let numbers = self.value(numbers)?.into_vector_value();
            let last = VectorType::const_vector(&vec![last; numbers.get_type().get_size() as usize]);
            let numbers = built(self.b.build_and(numbers, last, ""))?;
            return Ok(built(self.b.build_extract_element(numbers, self.place(k), ""))?.into_int_value());
        }
        built(self.b.build_and(self.value(number)?.into_int_value(), last, ""))
    }

    /// The number of a lane.
    pub(super) fn place(&self, k: usize) -> IntValue<'c> {
        self.shared.context.i32_type().const_int(k as u64, false)
    }

    pub(super) fn splat(&self, to: VectorType<'c>, x: BasicValueEnum<'c>) -> Result<BasicValueEnum<'c>> {
        let first = built(self.b.build_insert_element(to.get_poison(), x, self.place(0), ""))?;
        let places = self.shared.context.i32_type().vec_type(to.get_size()).const_zero();
        Ok(built(self.b.build_shuffle_vector(first, to.get_poison(), places, ""))?.into())
    }

    /// Shift amounts modulo the width.
    fn amounts(&self, v: Vector, n: VectorValue<'c>) -> Result<VectorValue<'c>> {
        let lane = self.shared.ty(v.lane()).into_int_type();
        let last = lane.const_int(u64::from(v.lane().bytes()) * 8 - 1, false);
        built(self.b.build_and(n, VectorType::const_vector(&vec![last; v.lanes()]), ""))
    }

    fn marked(&self, v: VectorValue<'c>) -> Result<BasicValueEnum<'c>> {
        self.mark(v.as_instruction_value())?;
        Ok(v.as_basic_value_enum())
    }

    fn float_intrinsic(&self, name: &str, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        self.marked(self.intrinsic(name, args)?.into_vector_value())
    }

    /// The bits that LIR's masks stand for.
    fn bits(&self, mask: VectorValue<'c>) -> Result<VectorValue<'c>> {
        built(self.b.build_int_compare(IntPredicate::NE, mask, mask.get_type().const_zero(), ""))
    }

    fn lane_truth(&self, name: &str, mask: VectorValue<'c>) -> Result<BasicValueEnum<'c>> {
        let bit = self.intrinsic(name, &[self.bits(mask)?.into()])?.into_int_value();
        Ok(built(self.b.build_int_z_extend(bit, self.shared.context.i8_type(), ""))?.into())
    }

    /// Bits as the i8 that LIR's masks are of.
    fn bytes(&self, bits: VectorValue<'c>) -> Result<BasicValueEnum<'c>> {
        let to = self.shared.context.i8_type().vec_type(bits.get_type().get_size());
        Ok(built(self.b.build_int_z_extend(bits, to, ""))?.into())
    }

    fn icompare_lanes(&self, p: IntPredicate, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        let (a, b) = (args[0].into_vector_value(), args[1].into_vector_value());
        self.bytes(built(self.b.build_int_compare(p, a, b, ""))?)
    }

    fn fcompare_lanes(&self, p: FloatPredicate, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        let (a, b) = (args[0].into_vector_value(), args[1].into_vector_value());
        let bits = built(self.b.build_float_compare(p, a, b, ""))?;
        self.mark(bits.as_instruction_value())?;
        self.bytes(bits)
    }

    /// Scalars, then a vector of their answers.
    fn each_lane(&mut self, op: Op, v: Vector, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        let mut whole: Option<VectorValue<'c>> = None;
        for k in 0..v.lanes() {
            let operands = args
                .iter()
                .map(|a| built(self.b.build_extract_element(a.into_vector_value(), self.place(k), "")))
                .collect::<Result<Vec<_>>>()?;
            let lane = self.operation(op, v.lane(), &operands)?;
            let so_far = match whole {
                Some(w) => w,
                None if lane.is_float_value() => {
                    lane.into_float_value().get_type().vec_type(v.lanes() as u32).get_poison()
                }
                None => lane.into_int_value().get_type().vec_type(v.lanes() as u32).get_poison(),
            };
            whole = Some(built(self.b.build_insert_element(so_far, lane, self.place(k), ""))?);
        }
        whole.map(Into::into).ok_or_else(|| bug("a vector without lanes"))
    }
}
