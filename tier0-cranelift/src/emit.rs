//! LIR to Cranelift IR: one exhaustive match over instructions, one over operations.
//!
//! Invariants: every LIR value maps to exactly one Cranelift value of the same width (`ptr` is i64); meanings
//! are those of `core/src/lir/inst.rs`, so whatever the machine leaves undefined (division by zero, float to
//! narrow integer) is guarded here. Blocks are visited in reverse post-order, so that definitions come before
//! uses whatever the LIR layout.

mod guarded;
pub(crate) mod vectors;

use crate::cold_call;
use crate::divisors::Divisors;
use crate::order::{self, Order};
use cranelift_codegen::entity::packed_option::ReservedValue;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{
    self, AbiParam, AliasRegionData, BlockArg, ExtFuncData, ExternalName, InstBuilder, JumpTableData,
    MemFlags, MemFlagsData, Opcode, StackSlotData, StackSlotKind, TrapCode, types,
};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use std::collections::HashMap;
use tierup_core::backend::{HelperAddress, Keep};
use tierup_core::diag::{Code, Diagnostic, Result};
use tierup_core::lir::cfg::Cfg;
use tierup_core::lir::{
    Alias, Block, BlockCall, Cold, Func, FuncRef, InstData, Loc, Op, Signature, Ty, Value,
};
use tierup_core::rt::RtFn;

/// What emission needs to know about the world around one function.
pub(crate) struct Env<'a> {
    /// Position in the module of the functions that may be called directly.
    pub index: &'a HashMap<&'a str, u32>,
    pub helpers: HelperAddress<'a>,
    pub call_conv: CallConv,
    pub config: TargetFrontendConfig,
    /// What instructions are marked with.
    pub marks: Marks,
    pub keep: Keep,
}

/// What Cranelift's source locations carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    Nothing,
    /// Lines, for the printed text.
    Lines,
    /// Numbers of places, for debuggers.
    Places,
}

/// The Cranelift type of a machine type.
pub(crate) fn clif_type(ty: Ty) -> ir::Type {
    match ty {
        Ty::I8 => types::I8,
        Ty::I16 => types::I16,
        Ty::I32 => types::I32,
        Ty::I64 | Ty::Ptr => types::I64,
        Ty::F32 => types::F32,
        Ty::F64 => types::F64,
        Ty::Vector(v) => clif_type(v.lane()).by(v.lanes() as u32).unwrap_or(types::INVALID),
    }
}

/// SysV leaves the upper bits of narrow integers open, but Rust and C compilers assume that they are
/// sign-extended.
fn abi_param(ty: Ty) -> AbiParam {
    let param = AbiParam::new(clif_type(ty));
    match ty {
        Ty::I8 | Ty::I16 => param.sext(),
        Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::Ptr | Ty::Vector(_) => param,
    }
}

/// The Cranelift signature; refuses more results than fit into registers.
fn clif_signature(sig: &Signature, call_conv: CallConv) -> Result<ir::Signature> {
    let floats = sig.results.iter().filter(|t| t.is_float()).count();
    if floats > 2 || sig.results.len() - floats > 2 {
        return Err(bug(format!(
            "{} results do not fit into registers; the module was not legalised",
            sig.results.len()
        )));
    }
    let mut out = ir::Signature::new(call_conv);
    out.params.extend(sig.params.iter().map(|t| abi_param(*t)));
    out.returns.extend(sig.results.iter().map(|t| abi_param(*t)));
    Ok(out)
}

fn bug(message: String) -> Diagnostic {
    Diagnostic::new(Code::BackendError, message)
}

/// Writes `func` as Cranelift IR into `out`, which must be empty.
pub(crate) fn emit(
    func: &Func,
    env: &Env<'_>,
    scratch: &mut FunctionBuilderContext,
    out: &mut ir::Function,
) -> Result<()> {
    out.signature = clif_signature(&func.sig, env.call_conv)?;
    let cfg = Cfg::new(func);
    let mut emitter = Emitter {
        func,
        env,
        cfg: &cfg,
        b: FunctionBuilder::new(out, scratch),
        block: Block(0),
        blocks: vec![ir::Block::reserved_value(); func.blocks.len()],
        values: vec![ir::Value::reserved_value(); func.value_types.len()],
        slots: vec![],
        calls: vec![None; func.funcs.len()],
        helpers: HashMap::new(),
        cold_sigs: HashMap::new(),
        cold: vec![],
        order: Order::of(func, &cfg),
        answer: None,
        answers: None,
        signatures: vec![],
        flags: [None; Alias::ALL.len()],
        divisors: None,
    };
    emitter.run()?;
    emitter.b.seal_all_blocks();
    emitter.b.finalize(env.config);
    Ok(())
}

struct Emitter<'a, 'b> {
    func: &'a Func,
    env: &'a Env<'a>,
    cfg: &'a Cfg,
    b: FunctionBuilder<'b>,
    block: Block,
    blocks: Vec<ir::Block>,
    values: Vec<ir::Value>,
    slots: Vec<ir::StackSlot>,
    calls: Vec<Option<ir::FuncRef>>,
    helpers: HashMap<*const RtFn, (ir::SigRef, *const u8)>,
    /// Signatures of calls through [`cold_call`], by helper.
    cold_sigs: HashMap<*const RtFn, ir::SigRef>,
    cold: Vec<bool>,
    order: Order,
    answer: Option<ir::StackSlot>,
    /// The same for calls of addresses, which have up to four results.
    answers: Option<ir::StackSlot>,
    signatures: Vec<(&'a Signature, ir::SigRef)>,
    flags: [Option<MemFlags>; Alias::ALL.len()],
    divisors: Option<Divisors>,
}

impl<'a> Emitter<'a, '_> {
    fn run(&mut self) -> Result<()> {
        let func = self.func;
        if func.layout.is_empty() {
            return Err(bug("the function has no block".into()));
        }
        for slot in &func.slots {
            let align = if slot.bytes >= 16 { 4 } else { 3 };
            self.slots.push(self.b.create_sized_stack_slot(StackSlotData::new(
                StackSlotKind::ExplicitSlot,
                slot.bytes,
                align,
            )));
        }
        self.make_blocks();
        for &block in self.cfg.rpo() {
            self.block = block;
            self.b.switch_to_block(self.blocks[block.index()]);
            for inst in &func.blocks[block.index()].insts {
                let node = &func.insts[inst.index()];
                if let Some(mark) = self.env.marks.of(func, node.loc) {
                    self.b.set_srcloc(ir::SourceLoc::new(mark));
                }
                self.inst(&node.data, &node.results).map_err(|d| locate(d, func, node.loc))?;
            }
        }
        Ok(())
    }

    fn make_blocks(&mut self) {
        self.cold = cold_blocks(self.func, self.cfg);
        let entry = self.func.entry();
        // Nothing may jump to Cranelift's entry block, so a loop to LIR's entry gets a block in front.
        let front = (!self.cfg.preds(entry).is_empty()).then(|| self.b.create_block());
        for &block in self.cfg.rpo() {
            let made = self.b.create_block();
            self.blocks[block.index()] = made;
            if self.cold[block.index()] {
                self.b.set_cold_block(made);
            }
            for p in &self.func.blocks[block.index()].params {
                self.values[p.index()] = self.b.append_block_param(made, clif_type(self.func.value_type(*p)));
            }
        }
        if let Some(front) = front {
            let args: Vec<BlockArg> = self
                .func
                .sig
                .params
                .iter()
                .map(|ty| BlockArg::Value(self.b.append_block_param(front, clif_type(*ty))))
                .collect();
            self.b.switch_to_block(front);
            self.b.ins().jump(self.blocks[entry.index()], &args);
        }
    }

    fn value(&self, v: Value) -> Result<ir::Value> {
        let value = self.values[v.index()];
        if value.is_reserved_value() {
            Err(bug(format!("{v} is used before it is defined")))
        } else {
            Ok(value)
        }
    }
    fn list(&self, vs: &[Value]) -> Result<Vec<ir::Value>> {
        vs.iter().map(|v| self.value(*v)).collect()
    }
    fn target(&self, call: &BlockCall) -> Result<(ir::Block, Vec<BlockArg>)> {
        let args = call.args.iter().map(|v| self.value(*v).map(BlockArg::Value)).collect::<Result<_>>()?;
        Ok((self.blocks[call.block.index()], args))
    }
    fn define(&mut self, results: &[Value], values: &[ir::Value]) -> Result<()> {
        if results.len() != values.len() {
            return Err(bug(format!("{} results where {} were expected", values.len(), results.len())));
        }
        for (r, v) in results.iter().zip(values) {
            self.values[r.index()] = *v;
        }
        Ok(())
    }
    fn define_call(&mut self, results: &[Value], call: ir::Inst) -> Result<()> {
        let values = self.b.inst_results(call).to_vec();
        self.define(results, &values)
    }

    fn inst(&mut self, data: &'a InstData, results: &[Value]) -> Result<()> {
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
                let addr = self.value(*addr)?;
                let v = self.load(clif_type(*ty), addr, *offset, *alias);
                self.define(results, &[v])
            }
            InstData::Store { value, addr, offset, alias } => {
                let (value, addr) = (self.value(*value)?, self.value(*addr)?);
                self.store(value, addr, *offset, *alias);
                Ok(())
            }
            InstData::StackAddr { slot } => {
                let v = self.b.ins().stack_addr(types::I64, self.slots[slot.index()], 0);
                self.define(results, &[v])
            }
            InstData::SymbolAddr { symbol } => {
                let v = self.b.ins().iconst(types::I64, self.func.symbols[symbol.index()].addr as i64);
                self.define(results, &[v])
            }
            InstData::Call { func, args } => {
                let (callee, args) = (self.callee(*func)?, self.list(args)?);
                let call = self.b.ins().call(callee, &args);
                self.define_call(results, call)
            }
            InstData::CallIndirect { sig, addr, args } => {
                if self.cold[self.block.index()]
                    && let Some(stub) = cold_call::stub_for(sig)
                {
                    return self.cold_call_indirect(stub, sig, *addr, args, results);
                }
                let (sig, addr, args) = (self.signature(sig)?, self.value(*addr)?, self.list(args)?);
                let call = self.b.ins().call_indirect(sig, addr, &args);
                self.define_call(results, call)
            }
            InstData::CallHelper { helper, args } => {
                let (sig, addr) = self.helper(helper)?;
                let mut args = self.list(args)?;
                let addr = self.b.ins().iconst(types::I64, addr as i64);
                let stub = if self.cold[self.block.index()] { cold_call::stub(helper) } else { None };
                let Some(stub) = stub else {
                    let call = self.b.ins().call_indirect(sig, addr, &args);
                    return self.define_call(results, call);
                };
                let sig = self.cold_signature(helper, sig);
                let stub = self.b.ins().iconst(types::I64, stub as i64);
                let answer = helper.ret.ty().map(|ty| (ty, self.answer_slot()));
                if let Some((_, slot)) = answer {
                    args.insert(0, self.b.ins().stack_addr(types::I64, slot, 0));
                }
                args.insert(0, addr);
                self.b.ins().call_indirect(sig, stub, &args);
                match answer {
                    Some((ty, slot)) => {
                        let v = self.b.ins().stack_load(types::I64, clif_type(ty), slot, 0);
                        self.define(results, &[v])
                    }
                    None => Ok(()),
                }
            }
            InstData::Grid { op, .. } => Err(bug(format!("{} reached a back end for CPUs", op.mnemonic()))),
            InstData::Jump(to) => {
                let (block, args) = self.target(to)?;
                self.b.ins().jump(block, &args);
                Ok(())
            }
            // `cold` has already made its target a cold block.
            InstData::Brif { cond, then_to, else_to, cold: _ } => {
                let cond = self.value(*cond)?;
                let (then_block, then_args) = self.target(then_to)?;
                let (else_block, else_args) = self.target(else_to)?;
                if self.order.swaps(then_to.block, else_to.block, &self.cold) {
                    let cond = order::inverse(&mut self.b, cond);
                    self.b.ins().brif(cond, else_block, &else_args, then_block, &then_args);
                    return Ok(());
                }
                self.b.ins().brif(cond, then_block, &then_args, else_block, &else_args);
                Ok(())
            }
            InstData::Switch { index, cases, default } => self.switch(*index, cases, *default),
            InstData::Return(values) => {
                let values = self.list(values)?;
                self.b.ins().return_(&values);
                Ok(())
            }
            InstData::Unreachable => {
                self.b.ins().trap(TrapCode::unwrap_user(1));
                Ok(())
            }
        }
    }

    fn constant(&mut self, ty: Ty, bits: u64) -> Result<ir::Value> {
        Ok(match ty {
            // Cranelift wants the bits above the width to be zero.
            Ty::I8 => self.b.ins().iconst(types::I8, bits as u8 as i64),
            Ty::I16 => self.b.ins().iconst(types::I16, bits as u16 as i64),
            Ty::I32 => self.b.ins().iconst(types::I32, bits as u32 as i64),
            Ty::I64 | Ty::Ptr => self.b.ins().iconst(types::I64, bits as i64),
            Ty::F32 => self.b.ins().f32const(Ieee32::with_bits(bits as u32)),
            Ty::F64 => self.b.ins().f64const(Ieee64::with_bits(bits)),
            Ty::Vector(_) => return Err(bug("a constant is no vector".into())),
        })
    }
    /// A constant of the type of `like`.
    fn constant_like(&mut self, like: ir::Value, x: i64) -> ir::Value {
        let ty = self.b.func.dfg.value_type(like);
        let mask = if ty.bits() == 64 { u64::MAX } else { (1 << ty.bits()) - 1 };
        self.b.ins().iconst(ty, (x as u64 & mask) as i64)
    }
    /// The value of an integer constant, sign-extended.
    fn known_constant(&self, v: ir::Value) -> Option<i64> {
        let inst = self.b.func.dfg.value_def(v).inst()?;
        let ir::InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } = self.b.func.dfg.insts[inst]
        else {
            return None;
        };
        let unused = 64 - self.b.func.dfg.value_type(v).bits();
        Some(imm.bits() << unused >> unused)
    }

    /// Accesses may be unaligned, never fault, and do not alias those of other classes. They stay behind
    /// their guards (no `can_move`), since an address is often valid only behind a null or bounds check.
    fn mem_flags(&mut self, alias: Alias) -> MemFlags {
        if let Some(flags) = self.flags[alias as usize] {
            return flags;
        }
        let region = self
            .b
            .func
            .dfg
            .alias_regions
            .insert(AliasRegionData { user_id: alias as u32, description: alias.name().into() });
        let flags = self
            .b
            .func
            .dfg
            .mem_flags
            .insert_unchecked(MemFlagsData::new().with_notrap().with_alias_region(Some(region)));
        self.flags[alias as usize] = Some(flags);
        flags
    }
    fn load(&mut self, ty: ir::Type, addr: ir::Value, offset: i32, alias: Alias) -> ir::Value {
        match alias {
            Alias::Array
            | Alias::Object
            | Alias::Length
            | Alias::Element
            | Alias::Frame
            | Alias::Stack
            | Alias::Ctx
            | Alias::Const => {
                let flags = self.mem_flags(alias);
                let (inst, dfg) = self.b.ins().Load(Opcode::Load, ty, flags, offset.into(), addr);
                dfg.first_result(inst)
            }
            // Cranelift merges plain loads but leaves atomic ones alone; they exist for integers only.
            Alias::Volatile => {
                let addr = self.b.ins().iadd_imm_s(addr, offset as i64);
                let raw = self.b.ins().atomic_load(ty.as_int(), MemFlagsData::new().with_notrap(), addr);
                if ty.is_float() { self.b.ins().bitcast(ty, MemFlagsData::new(), raw) } else { raw }
            }
        }
    }
    fn store(&mut self, value: ir::Value, addr: ir::Value, offset: i32, alias: Alias) {
        match alias {
            Alias::Array
            | Alias::Object
            | Alias::Length
            | Alias::Element
            | Alias::Frame
            | Alias::Stack
            | Alias::Ctx
            | Alias::Const => {
                let ty = self.b.func.dfg.value_type(value);
                let flags = self.mem_flags(alias);
                self.b.ins().Store(Opcode::Store, ty, flags, offset.into(), value, addr);
            }
            Alias::Volatile => {
                let ty = self.b.func.dfg.value_type(value);
                let addr = self.b.ins().iadd_imm_s(addr, offset as i64);
                let raw = if ty.is_float() {
                    self.b.ins().bitcast(ty.as_int(), MemFlagsData::new(), value)
                } else {
                    value
                };
                self.b.ins().atomic_store(MemFlagsData::new().with_notrap(), raw, addr);
            }
        }
    }

    fn callee(&mut self, f: FuncRef) -> Result<ir::FuncRef> {
        if let Some(known) = self.calls[f.index()] {
            return Ok(known);
        }
        let callee = &self.func.funcs[f.index()];
        let Some(&index) = self.env.index.get(callee.name.as_str()) else {
            return Err(bug(format!("`{}` is called directly but is not in the module", callee.name)));
        };
        let signature = self.signature(&callee.sig)?;
        let name = self.b.func.declare_imported_user_function(ir::UserExternalName::new(0, index));
        // The whole module lies in one mapping, so a near call reaches.
        let made = self.b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: true,
            patchable: false,
        });
        self.calls[f.index()] = Some(made);
        Ok(made)
    }
    fn signature(&mut self, sig: &'a Signature) -> Result<ir::SigRef> {
        if let Some((_, known)) = self.signatures.iter().find(|(s, _)| *s == sig) {
            return Ok(*known);
        }
        let made = self.b.import_signature(clif_signature(sig, self.env.call_conv)?);
        self.signatures.push((sig, made));
        Ok(made)
    }
    fn helper(&mut self, helper: &'static RtFn) -> Result<(ir::SigRef, *const u8)> {
        if let Some(known) = self.helpers.get(&(helper as *const RtFn)) {
            return Ok(*known);
        }
        let addr = (self.env.helpers)(helper);
        if addr.is_null() {
            return Err(bug(format!("the helper `{}` has no address", helper.name)));
        }
        let mut sig = ir::Signature::new(self.env.call_conv);
        sig.params.extend(helper.params.iter().map(|t| abi_param(*t)));
        sig.returns.extend(helper.ret.ty().map(abi_param));
        let made = (self.b.import_signature(sig), addr);
        self.helpers.insert(helper, made);
        Ok(made)
    }

    fn cold_call_indirect(
        &mut self,
        stub: *const u8,
        sig: &'a Signature,
        addr: Value,
        args: &[Value],
        results: &[Value],
    ) -> Result<()> {
        let native = clif_signature(sig, self.env.call_conv)?;
        let through = self.b.import_signature(cold_call::signature(true, &native));
        let slot = *self.answers.get_or_insert_with(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 32, 3))
        });
        let stub = self.b.ins().iconst(types::I64, stub as i64);
        let mut all = vec![self.value(addr)?, self.b.ins().stack_addr(types::I64, slot, 0)];
        all.extend(self.list(args)?);
        self.b.ins().call_indirect(through, stub, &all);
        let values: Vec<ir::Value> = sig
            .results
            .iter()
            .zip(cold_call::places(&sig.results))
            .map(|(ty, at)| self.b.ins().stack_load(types::I64, clif_type(*ty), slot, at))
            .collect();
        self.define(results, &values)
    }

    /// Where cold calls leave their answers: one slot a function, read at once.
    fn answer_slot(&mut self) -> ir::StackSlot {
        *self.answer.get_or_insert_with(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3))
        })
    }
    fn cold_signature(&mut self, helper: &'static RtFn, native: ir::SigRef) -> ir::SigRef {
        if let Some(known) = self.cold_sigs.get(&(helper as *const RtFn)) {
            return *known;
        }
        let sig = cold_call::signature(helper.ret.ty().is_some(), &self.b.func.dfg.signatures[native]);
        let made = self.b.import_signature(sig);
        self.cold_sigs.insert(helper, made);
        made
    }

    /// The table is indexed with 32 bits, so a 64-bit index is first brought to the number of cases, which
    /// means "default".
    fn switch(&mut self, index: Value, cases: &[Block], default: Block) -> Result<()> {
        let index = self.value(index)?;
        let default = self.blocks[default.index()];
        if cases.is_empty() {
            self.b.ins().jump(default, &[]);
            return Ok(());
        }
        let past_end = self.b.ins().iconst(types::I64, cases.len() as i64);
        let index = self.b.ins().umin(index, past_end);
        let index = self.b.ins().ireduce(types::I32, index);
        let pool = &mut self.b.func.dfg.value_lists;
        let default = ir::BlockCall::new(default, [], pool);
        let cases: Vec<ir::BlockCall> =
            cases.iter().map(|b| ir::BlockCall::new(self.blocks[b.index()], [], pool)).collect();
        let table = self.b.create_jump_table(JumpTableData::new(default, &cases));
        self.b.ins().br_table(index, table);
        Ok(())
    }

    fn op(&mut self, op: Op, ty: Ty, args: &[Value]) -> Result<ir::Value> {
        let list = self.list(args)?;
        let x = list[0];
        let y = *list.get(1).unwrap_or(&x);
        let to = clif_type(ty);
        Ok(match op {
            Op::Iadd | Op::PtrAdd => self.b.ins().iadd(x, y),
            Op::Isub => self.b.ins().isub(x, y),
            Op::Imul => self.b.ins().imul(x, y),
            Op::Sdiv => {
                let known = self.divisor(args[1], y);
                self.sdiv(x, y, known)
            }
            Op::Udiv => {
                let known = self.divisor(args[1], y);
                self.udiv(x, y, known)
            }
            Op::Srem => {
                let known = self.divisor(args[1], y);
                self.srem(x, y, known)
            }
            Op::Urem => {
                let known = self.divisor(args[1], y);
                self.urem(x, y, known)
            }
            Op::Band => self.b.ins().band(x, y),
            Op::Bor => self.b.ins().bor(x, y),
            Op::Bxor => self.b.ins().bxor(x, y),
            // Cranelift takes shift amounts modulo the width, too.
            Op::Ishl => self.b.ins().ishl(x, y),
            Op::Sshr => self.b.ins().sshr(x, y),
            Op::Ushr => self.b.ins().ushr(x, y),
            Op::Smin => self.b.ins().smin(x, y),
            Op::Smax => self.b.ins().smax(x, y),
            Op::Umin => self.b.ins().umin(x, y),
            Op::Umax => self.b.ins().umax(x, y),
            Op::Ineg => self.b.ins().ineg(x),
            Op::Bnot => self.b.ins().bnot(x),
            Op::Popcnt => self.b.ins().popcnt(x),
            Op::Clz => self.b.ins().clz(x),
            Op::Ctz => self.b.ins().ctz(x),
            Op::IcmpEq => self.b.ins().icmp(IntCC::Equal, x, y),
            Op::IcmpNe => self.b.ins().icmp(IntCC::NotEqual, x, y),
            Op::IcmpSlt => self.b.ins().icmp(IntCC::SignedLessThan, x, y),
            Op::IcmpSle => self.b.ins().icmp(IntCC::SignedLessThanOrEqual, x, y),
            Op::IcmpSgt => self.b.ins().icmp(IntCC::SignedGreaterThan, x, y),
            Op::IcmpSge => self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, x, y),
            Op::IcmpUlt => self.b.ins().icmp(IntCC::UnsignedLessThan, x, y),
            Op::IcmpUle => self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, x, y),
            Op::SaddOverflows => self.add_overflows(x, y),
            Op::SsubOverflows => self.sub_overflows(x, y),
            Op::SmulOverflows => self.b.ins().smul_overflow(x, y).1,
            Op::Fadd => self.b.ins().fadd(x, y),
            Op::Fsub => self.b.ins().fsub(x, y),
            Op::Fmul => self.b.ins().fmul(x, y),
            Op::Fdiv => self.b.ins().fdiv(x, y),
            Op::Fma => self.b.ins().fma(x, y, list[2]),
            Op::Fcopysign => self.b.ins().fcopysign(x, y),
            Op::Fneg => self.b.ins().fneg(x),
            Op::Fabs => self.b.ins().fabs(x),
            Op::Fsqrt => self.b.ins().sqrt(x),
            Op::Ffloor => self.b.ins().floor(x),
            Op::Fceil => self.b.ins().ceil(x),
            Op::Ftrunc => self.b.ins().trunc(x),
            Op::Fnearest => self.b.ins().nearest(x),
            Op::FcmpEq => self.b.ins().fcmp(FloatCC::Equal, x, y),
            Op::FcmpNe => self.b.ins().fcmp(FloatCC::NotEqual, x, y),
            Op::FcmpLt => self.b.ins().fcmp(FloatCC::LessThan, x, y),
            Op::FcmpLe => self.b.ins().fcmp(FloatCC::LessThanOrEqual, x, y),
            Op::FcmpGt => self.b.ins().fcmp(FloatCC::GreaterThan, x, y),
            Op::FcmpGe => self.b.ins().fcmp(FloatCC::GreaterThanOrEqual, x, y),
            Op::FcmpUno => self.b.ins().fcmp(FloatCC::Unordered, x, y),
            Op::Sext => self.b.ins().sextend(to, x),
            Op::Zext => self.b.ins().uextend(to, x),
            Op::Itrunc => self.b.ins().ireduce(to, x),
            Op::SintToF => self.b.ins().fcvt_from_sint(to, x),
            Op::UintToF => self.b.ins().fcvt_from_uint(to, x),
            Op::FToSint => self.f_to_sint(to, x),
            Op::FToUint => self.f_to_uint(to, x),
            Op::FToSintOrMin => {
                let (near, high) = (self.f_to_sint(to, x), 2f64.powi(to.bits() as i32 - 1));
                let high = if self.b.func.dfg.value_type(x) == types::F64 {
                    self.b.ins().f64const(high)
                } else {
                    self.b.ins().f32const(high as f32)
                };
                // Not where x is NaN.
                let holds = self.b.ins().fcmp(FloatCC::LessThan, x, high);
                let least = self.constant_like(near, -1 << (to.bits() - 1));
                self.b.ins().select(holds, near, least)
            }
            Op::Fconvert => {
                if to == types::F64 {
                    self.b.ins().fpromote(to, x)
                } else {
                    self.b.ins().fdemote(to, x)
                }
            }
            Op::Bitcast => {
                if self.b.func.dfg.value_type(x) == to {
                    x
                } else {
                    self.cast(to, x)
                }
            }
            Op::Select => self.b.ins().select(x, y, list[2]),
            Op::Splat => self.b.ins().splat(to, x),
            Op::Lanes => self.lanes(to, &list),
            Op::Lane => self.lane(x, y)?,
            Op::AnyLane | Op::EveryLane => {
                return Err(bug("the truth of lanes is asked of vectors; they were not split".into()));
            }
        })
    }
}

/// Blocks that are marked cold, and those that only cold edges and cold blocks lead to.
fn cold_blocks(func: &Func, cfg: &Cfg) -> Vec<bool> {
    let mut cold: Vec<bool> = func.blocks.iter().map(|b| b.cold).collect();
    let mut warm = vec![false; func.blocks.len()];
    warm[func.entry().index()] = !cold[func.entry().index()];
    for &block in cfg.rpo() {
        // Back edges come too late to warm a header, but a header is warm already when its forward edges are.
        let is_cold = cold[block.index()] || !warm[block.index()];
        cold[block.index()] = is_cold;
        let Some(terminator) = func.terminator(block) else { continue };
        if is_cold {
            continue;
        }
        let data = &func.insts[terminator.index()].data;
        if let InstData::Brif { then_to, else_to, cold, .. } = data {
            warm[then_to.block.index()] |= *cold != Cold::Then;
            warm[else_to.block.index()] |= *cold != Cold::Else;
        } else {
            data.for_each_successor(|s| warm[s.index()] = true);
        }
    }
    cold
}

impl Marks {
    fn of(self, func: &Func, loc: Loc) -> Option<u32> {
        match self {
            Marks::Nothing => None,
            Marks::Lines => Some(func.loc(loc).map_or(0, |l| l.line)),
            Marks::Places => Some(loc.0),
        }
    }
}

fn locate(d: Diagnostic, func: &Func, loc: Loc) -> Diagnostic {
    match func.loc(loc) {
        Some(l) => d.at(tierup_core::diag::Span {
            file: l.file.clone(),
            func: l.func.clone(),
            line: l.line,
            col: l.col,
            end_col: 0,
        }),
        None => d,
    }
}
