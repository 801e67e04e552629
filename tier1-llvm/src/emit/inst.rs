//! The match over instructions.

use super::{Emitter, bug, built};
use inkwell::AtomicOrdering;
use inkwell::IntPredicate;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue, IntValue, PointerValue, ValueKind,
};
use tierup_core::diag::Result;
use tierup_core::door::EXTERN_PREFIX;
use tierup_core::lir::{Alias, Cold, InstData, Op, Signature, Ty, Value};

/// Weights of a branch whose other side is unlikely.
const LIKELY: u64 = 2000;

/// The least weight against 1 at which LLVM leaves a branch alone that it would otherwise turn into a select,
/// computing both sides. A square root or a division that is not wanted costs more than a jump.
const PREDICTED: u64 = 127;

impl<'c> Emitter<'c, '_, '_> {
    fn define(&mut self, results: &[Value], values: &[BasicValueEnum<'c>]) -> Result<()> {
        if results.len() != values.len() {
            return Err(bug(format!("{} results where {} were expected", values.len(), results.len())));
        }
        for (r, v) in results.iter().zip(values) {
            self.values[r.index()] = Some(*v);
        }
        Ok(())
    }

    pub(super) fn inst(&mut self, data: &InstData, results: &[Value]) -> Result<()> {
        match data {
            InstData::Const { ty, bits } => {
                let v = self.constant(*ty, *bits)?;
                self.define(results, &[v])
            }
            InstData::Op { op, ty, args } => {
                let v = self.op(*op, *ty, args)?;
                self.define(results, &[v])
            }
            InstData::Load { ty, addr, offset, alias } => {
                let v = self.load(*ty, *addr, *offset, *alias)?;
                self.define(results, &[v])
            }
            InstData::Store { value, addr, offset, alias } => self.store(*value, *addr, *offset, *alias),
            InstData::StackAddr { slot } => self.define(results, &[self.slots[slot.index()].into()]),
            InstData::SymbolAddr { symbol } => {
                let v = self.shared.symbol(&self.func.symbols[symbol.index()].name);
                self.define(results, &[v.into()])
            }
            InstData::Call { func, args } => {
                let to = &self.func.funcs[func.index()];
                let name = to.name.as_str();
                let callee = match (self.shared.funcs.get(name), name.strip_prefix(EXTERN_PREFIX)) {
                    (Some(known), _) => *known,
                    (None, Some(other)) => self.shared.linked(other, &to.sig),
                    (None, None) => return Err(bug(format!("call of `{name}`, which is not in the module"))),
                };
                let args = self.call_args(args)?;
                let call = built(self.b.build_call(callee, &args, ""))?;
                self.define_call(results, call)
            }
            InstData::CallIndirect { sig, addr, args } => {
                let (ty, args) = (self.shared.func_type(sig), self.call_args(args)?);
                let addr = self.value(*addr)?.into_pointer_value();
                let call = built(self.b.build_indirect_call(ty, addr, &args, ""))?;
                self.extend_call(call, sig);
                self.define_call(results, call)
            }
            InstData::CallHelper { helper, args } => {
                let (callee, args) = (self.callee(helper, results)?, self.call_args(args)?);
                let call = built(self.b.build_call(callee, &args, ""))?;
                self.offer_vectors(helper, callee, call)?;
                self.extend_call(
                    call,
                    &Signature {
                        params: helper.params.to_vec(),
                        results: helper.ret.ty().into_iter().collect(),
                    },
                );
                self.define_call(results, call)
            }
            InstData::Grid { op, ty, args } => match self.grid(*op, *ty, args)? {
                Some(v) => self.define(results, &[v]),
                None => Ok(()),
            },
            InstData::Jump(to) => {
                self.keep_strips(to.block)?;
                let block = self.edge(to)?;
                let jump = built(self.b.build_unconditional_branch(block))?;
                self.mark_loop(jump, &[to.block])
            }
            InstData::Brif { cond, then_to, else_to, cold } => self.branch(*cond, then_to, else_to, *cold),
            InstData::Switch { index, cases, default } => {
                let index = self.value(*index)?.into_int_value();
                let default = self.block(*default)?;
                let cases = cases
                    .iter()
                    .enumerate()
                    .map(|(k, b)| Ok((index.get_type().const_int(k as u64, false), self.block(*b)?)))
                    .collect::<Result<Vec<_>>>()?;
                built(self.b.build_switch(index, default, &cases)).map(drop)
            }
            InstData::Return(values) => self.ret(values),
            InstData::Unreachable => built(self.b.build_unreachable()).map(drop),
        }
    }

    pub(super) fn constant(&self, ty: Ty, bits: u64) -> Result<BasicValueEnum<'c>> {
        let c = self.shared.context;
        Ok(match ty {
            Ty::I8 => c.i8_type().const_int(bits as u8 as u64, false).into(),
            Ty::I16 => c.i16_type().const_int(bits as u16 as u64, false).into(),
            Ty::I32 => c.i32_type().const_int(bits as u32 as u64, false).into(),
            Ty::I64 => c.i64_type().const_int(bits, false).into(),
            Ty::Ptr => {
                let p = self.shared.ty(Ty::Ptr).into_pointer_type();
                if bits == 0 {
                    p.const_null().into()
                } else {
                    c.i64_type().const_int(bits, false).const_to_pointer(p).into()
                }
            }
            Ty::Vector(_) => return Err(bug("a constant is no vector")),
            // Through the bits, so that the payload of a NaN stays.
            Ty::F32 => built(self.b.build_bit_cast(
                c.i32_type().const_int(bits as u32 as u64, false),
                c.f32_type(),
                "",
            ))?,
            Ty::F64 => built(self.b.build_bit_cast(c.i64_type().const_int(bits, false), c.f64_type(), ""))?,
        })
    }

    /// The truth of an i8 as an i1.
    pub(super) fn truth(&self, v: Value) -> Result<IntValue<'c>> {
        self.truth_of(self.value(v)?.into_int_value())
    }
    pub(super) fn truth_of(&self, v: IntValue<'c>) -> Result<IntValue<'c>> {
        built(self.b.build_int_compare(IntPredicate::NE, v, v.get_type().const_zero(), ""))
    }

    fn address(&self, addr: Value, offset: i32) -> Result<PointerValue<'c>> {
        let base = self.value(addr)?.into_pointer_value();
        if offset == 0 {
            return Ok(base);
        }
        let (i8, offset) = (
            self.shared.context.i8_type(),
            self.shared.context.i64_type().const_int(offset as i64 as u64, true),
        );
        // SAFETY: no promise is made about the result (not `inbounds`).
        built(unsafe { self.b.build_gep(i8, base, &[offset], "") })
    }

    fn load(&mut self, ty: Ty, addr: Value, offset: i32, alias: Alias) -> Result<BasicValueEnum<'c>> {
        let at = self.address(addr, offset)?;
        let v = built(self.b.build_load(self.shared.ty(ty), at, ""))?;
        let inst = v.as_instruction_value().ok_or_else(|| bug("a load is no instruction"))?;
        self.mark_access(inst, ty, alias)?;
        Ok(v)
    }

    fn store(&mut self, value: Value, addr: Value, offset: i32, alias: Alias) -> Result<()> {
        let (v, at) = (self.value(value)?, self.address(addr, offset)?);
        let inst = built(self.b.build_store(at, v))?;
        self.mark_access(inst, self.func.value_type(value), alias)
    }

    /// The alignment that the target asks for, the alias class; volatile accesses are also atomic, since
    /// other threads take part.
    fn mark_access(&self, inst: inkwell::values::InstructionValue<'c>, ty: Ty, alias: Alias) -> Result<()> {
        let failed = |e: String| bug(e);
        match alias {
            Alias::Volatile => {
                inst.set_alignment(ty.bytes()).map_err(|e| failed(e.to_string()))?;
                inst.set_volatile(true).map_err(|e| failed(e.to_string()))?;
                inst.set_atomic_ordering(AtomicOrdering::Monotonic).map_err(|e| failed(e.to_string()))?;
            }
            Alias::Array
            | Alias::Object
            | Alias::Length
            | Alias::Element
            | Alias::Frame
            | Alias::Stack
            | Alias::Ctx
            | Alias::Const => {
                // A vector lies as aligned as its lanes do.
                inst.set_alignment(self.shared.options.target.alignment(ty.lane().bytes()))
                    .map_err(|e| failed(e.to_string()))?;
            }
        }
        inst.set_metadata(self.shared.tags[alias as usize], self.shared.kinds.tbaa)
            .map_err(|e| failed(e.to_string()))
    }

    fn call_args(&self, args: &[Value]) -> Result<Vec<BasicMetadataValueEnum<'c>>> {
        Ok(self.list(args)?.into_iter().map(Into::into).collect())
    }

    fn extend_call(&self, call: CallSiteValue<'c>, sig: &Signature) {
        use inkwell::attributes::AttributeLoc;
        for (k, ty) in sig.params.iter().enumerate() {
            if matches!(ty, Ty::I8 | Ty::I16) {
                call.add_attribute(AttributeLoc::Param(k as u32), self.shared.attribute("signext", 0));
            }
        }
        if let [Ty::I8 | Ty::I16] = sig.results.as_slice() {
            call.add_attribute(AttributeLoc::Return, self.shared.attribute("signext", 0));
        }
    }

    fn define_call(&mut self, results: &[Value], call: CallSiteValue<'c>) -> Result<()> {
        match (results, call.try_as_basic_value()) {
            ([], _) => Ok(()),
            ([_], ValueKind::Basic(v)) => self.define(results, &[v]),
            (many, ValueKind::Basic(v)) => {
                let parts = (0..many.len())
                    .map(|k| built(self.b.build_extract_value(v.into_struct_value(), k as u32, "")))
                    .collect::<Result<Vec<_>>>()?;
                self.define(results, &parts)
            }
            (_, ValueKind::Instruction(_)) => Err(bug("a call gives nothing where results were expected")),
        }
    }

    fn ret(&mut self, values: &[Value]) -> Result<()> {
        let values = self.list(values)?;
        let value = match values.as_slice() {
            [] => None,
            [one] => Some(*one),
            many => {
                let ty = self
                    .llvm
                    .get_type()
                    .get_return_type()
                    .ok_or_else(|| bug("results of a function without any"))?
                    .into_struct_type();
                let mut whole = ty.get_undef();
                for (k, v) in many.iter().enumerate() {
                    whole = built(self.b.build_insert_value(whole, *v, k as u32, ""))?.into_struct_value();
                }
                Some(whole.into())
            }
        };
        built(self.b.build_return(value.as_ref().map(|v| v as &dyn inkwell::values::BasicValue<'c>)))
            .map(drop)
    }

    fn branch(
        &mut self,
        cond: Value,
        then_to: &tierup_core::lir::BlockCall,
        else_to: &tierup_core::lir::BlockCall,
        cold: Cold,
    ) -> Result<()> {
        let cond = self.truth(cond)?;
        if then_to.block == else_to.block {
            // A phi takes one value from a block, however many edges there are.
            let from = self.b.get_insert_block().ok_or_else(|| bug("no current block"))?;
            for (k, (a, b)) in then_to.args.iter().zip(&else_to.args).enumerate() {
                let v = built(self.b.build_select(cond, self.value(*a)?, self.value(*b)?, ""))?;
                self.phis[then_to.block.index()]
                    .get(k)
                    .ok_or_else(|| bug("too many block arguments"))?
                    .add_incoming(&[(&v, from)]);
            }
            let block = self.block(then_to.block)?;
            return built(self.b.build_unconditional_branch(block)).map(drop);
        }
        let (then_block, else_block) = (self.edge(then_to)?, self.edge(else_to)?);
        let branch = built(self.b.build_conditional_branch(cond, then_block, else_block))?;
        self.mark_loop(branch, &[then_to.block, else_to.block])?;
        let weights = match cold {
            Cold::Neither => match (self.is_slow(then_to.block), self.is_slow(else_to.block)) {
                (true, true) | (false, false) => return Ok(()),
                // Weights on the way out of a loop say how often it turns: LLVM would take it for one that
                // hardly does.
                (true, false) | (false, true)
                    if self.leaves_loop(then_to.block) || self.leaves_loop(else_to.block) =>
                {
                    return Ok(());
                }
                (true, false) => [1, PREDICTED],
                (false, true) => [PREDICTED, 1],
            },
            Cold::Then => [1, LIKELY],
            Cold::Else => [LIKELY, 1],
        };
        let c = self.shared.context;
        let weights = weights.map(|w| c.i32_type().const_int(w, false));
        let node = c.metadata_node(&[
            c.metadata_string("branch_weights").into(),
            weights[0].into(),
            weights[1].into(),
        ]);
        branch.set_metadata(node, self.shared.kinds.prof).map_err(|e| bug(e.to_string()))
    }

    /// Whether the way from the current block to another leads out of a loop, or into one.
    fn leaves_loop(&self, to: tierup_core::lir::Block) -> bool {
        self.loops().depth(to) != self.loops().depth(self.at)
    }

    /// Whether a square root or a division waits in `block`, or behind checks in it, before any other way in.
    fn is_slow(&self, mut block: tierup_core::lir::Block) -> bool {
        for _ in 0..3 {
            if self.cfg.preds(block).len() != 1 {
                return false;
            }
            let insts = &self.func.blocks[block.index()].insts;
            if insts.iter().any(|i| {
                matches!(self.func.insts[i.index()].data, InstData::Op { op: Op::Fsqrt | Op::Fdiv, .. })
            }) {
                return true;
            }
            block = match self.func.terminator(block).map(|t| &self.func.insts[t.index()].data) {
                Some(
                    InstData::Jump(to)
                    | InstData::Brif { then_to: to, cold: Cold::Else, .. }
                    | InstData::Brif { else_to: to, cold: Cold::Then, .. },
                ) => to.block,
                Some(_) | None => return false,
            };
        }
        false
    }
}
