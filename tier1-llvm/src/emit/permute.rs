//! Bytes chosen by numbers that only the run knows. LLVM has no instruction for it, and finds the processor's only
//! where the numbers are taken apart in the same block.

use super::{Emitter, bug, built};
use inkwell::IntPredicate;
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, VectorValue};
use tierup_core::diag::Result;
use tierup_core::lir::{InstData, Op, Ty, Value, Vector};

/// Bytes that the processor's instruction chooses among.
const CHUNK: usize = 16;

impl<'c> Emitter<'c, '_, '_> {
    /// Lanes of one vector of bytes, whose numbers are the lanes of another; none of anything else.
    pub(super) fn permuted(&self, v: Vector, lanes: &[Value]) -> Result<Option<BasicValueEnum<'c>>> {
        if v.lane() != Ty::I8 || v.lanes() < CHUNK || self.shared.options.target.is_gpu() {
            return Ok(None);
        }
        // The vector that a lane is of, and the one that has its number at this place.
        let of = |k: usize| {
            let Some(InstData::Op { op: Op::Lane, ty, args }) = self.made_by(lanes[k]) else { return None };
            let (numbers, at) = self.lane_of(args[1])?;
            let fits = self.func.value_type(numbers).as_vector().is_some_and(|n| n.lanes() == v.lanes());
            (*ty == Ty::Vector(v) && at == k && fits).then_some((args[0], numbers))
        };
        let Some((from, numbers)) = of(0) else { return Ok(None) };
        if !(1..lanes.len()).all(|k| of(k) == Some((from, numbers))) {
            return Ok(None);
        }
        let i8 = self.shared.context.i8_type();
        let (from, numbers) =
            (self.value(from)?.into_vector_value(), self.value(numbers)?.into_vector_value());
        let bytes = i8.vec_type(v.lanes() as u32);
        let narrow = numbers.get_type() == bytes;
        let numbers = if narrow { numbers } else { built(self.b.build_int_truncate(numbers, bytes, ""))? };
        let last = VectorType::const_vector(&vec![i8.const_int(v.lanes() as u64 - 1, false); v.lanes()]);
        let numbers = built(self.b.build_and(numbers, last, ""))?;
        let chunks = v.lanes() / CHUNK;
        let mut whole: Option<VectorValue<'c>> = None;
        for c in 0..chunks {
            let chosen = self.chosen(from, self.chunk(numbers, c)?, chunks)?;
            whole = Some(match whole {
                None => chosen,
                Some(w) => self.joined(w, chosen)?,
            });
        }
        Ok(whole.map(Into::into))
    }

    /// Sixteen bytes of all by their numbers.
    fn chosen(
        &self,
        from: VectorValue<'c>,
        numbers: VectorValue<'c>,
        chunks: usize,
    ) -> Result<VectorValue<'c>> {
        let i8 = self.shared.context.i8_type();
        let same = |x: usize| VectorType::const_vector(&[i8.const_int(x as u64, false); CHUNK]);
        let high = built(self.b.build_right_shift(numbers, same(4), false, ""))?;
        let mut answer: Option<VectorValue<'c>> = None;
        for c in 0..chunks {
            // The lowest four bits count where the highest one is 0.
            let f = self.shared.intrinsic("llvm.x86.ssse3.pshuf.b.128", &[])?;
            let here = built(self.b.build_call(f, &[self.chunk(from, c)?.into(), numbers.into()], ""))?
                .try_as_basic_value()
                .basic()
                .ok_or_else(|| bug("a shuffle gives nothing"))?
                .into_vector_value();
            answer = Some(match answer {
                None => here,
                Some(so_far) => {
                    let is = built(self.b.build_int_compare(IntPredicate::EQ, high, same(c), ""))?;
                    built(self.b.build_select(is, here, so_far, ""))?.into_vector_value()
                }
            });
        }
        answer.ok_or_else(|| bug("a vector without bytes"))
    }

    /// Sixteen lanes of a vector.
    fn chunk(&self, v: VectorValue<'c>, c: usize) -> Result<VectorValue<'c>> {
        let places: Vec<_> = (0..CHUNK).map(|k| self.place(c * CHUNK + k)).collect();
        built(self.b.build_shuffle_vector(
            v,
            v.get_type().get_poison(),
            VectorType::const_vector(&places),
            "",
        ))
    }

    /// Sixteen lanes behind others.
    fn joined(&self, a: VectorValue<'c>, b: VectorValue<'c>) -> Result<VectorValue<'c>> {
        let n = a.get_type().get_size() as usize;
        let all: Vec<_> = (0..n).map(|k| self.place(k.min(CHUNK - 1))).collect();
        let wide = if n == CHUNK {
            b
        } else {
            // As many lanes as the others, of which the first sixteen count.
            built(self.b.build_shuffle_vector(
                b,
                b.get_type().get_poison(),
                VectorType::const_vector(&all),
                "",
            ))?
        };
        let places: Vec<_> = (0..n).chain(n..n + CHUNK).map(|k| self.place(k)).collect();
        built(self.b.build_shuffle_vector(a, wide, VectorType::const_vector(&places), ""))
    }
}
