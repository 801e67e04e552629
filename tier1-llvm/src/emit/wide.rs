//! Elementary functions of vectors: the definition of one, with a vector for each of its numbers.
//!
//! A function of a vector reaches us as a call for each lane, whose answers are joined:
//!
//! ```text
//! v2 = lane.f64x2 v0, 0           v4 = call_helper @f64_exp(v2)
//! v3 = lane.f64x2 v0, 1           v5 = call_helper @f64_exp(v3)         v6 = lanes.f64x2 v4, v5
//! ```
//!
//! LLVM's vectoriser of straight code gives up on long definitions, so `lanes` of such calls becomes one call of the
//! wide definition; nobody asks for the lanes any more. Every instruction computes in each lane what it computes with
//! a number, so the bits are the same.

use super::{Emitter, Shared, bug, built};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Linkage;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{BasicValueEnum, FunctionValue};
use std::cell::OnceCell;
use tierup_core::diag::Result;
use tierup_core::door::FUNC_PREFIX;
use tierup_core::lir::cfg::Cfg;
use tierup_core::lir::{Block, Func, InstData, InstNode, Op, Ty, Value, Vector};
use tierup_core::math::{Definition, definition};
use tierup_core::rt::RtFn;

/// What a definition does in all lanes, one after the other.
enum Step {
    Inst(usize),
    /// A parameter of a block is what its only way in passes.
    Pass(Value, Value),
    /// A parameter of the block where two ways meet, by the condition that parted them.
    Choose(Value, Value, Value, Value),
    Return(Value),
}

/// The steps of a definition: instructions alone, where two ways part both of them; calls of what is hardly ever
/// needed look themselves whether a lane needs it. None of a definition of another form.
fn steps(func: &Func) -> Option<Vec<Step>> {
    let (mut out, mut at) = (vec![], func.entry());
    // A loop has no end here.
    for _ in 0..func.layout.len() {
        match straight(func, at, &mut out)? {
            InstData::Return(values) if values.len() == 1 => {
                out.push(Step::Return(values[0]));
                return Some(out);
            }
            InstData::Jump(to) => {
                pass(func, to.block, &to.args, &mut out);
                at = to.block;
            }
            InstData::Brif { cond, then_to, else_to, .. } => {
                let mut ways = vec![];
                for to in [then_to, else_to] {
                    pass(func, to.block, &to.args, &mut out);
                    let InstData::Jump(on) = straight(func, to.block, &mut out)? else { return None };
                    ways.push(on);
                }
                if ways[0].block != ways[1].block {
                    return None;
                }
                at = ways[0].block;
                let params = func.blocks[at.index()].params.iter();
                for ((p, a), b) in params.zip(&ways[0].args).zip(&ways[1].args) {
                    out.push(Step::Choose(*p, *cond, *a, *b));
                }
            }
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => return None,
        }
    }
    None
}

fn pass(func: &Func, to: Block, args: &[Value], out: &mut Vec<Step>) {
    out.extend(func.blocks[to.index()].params.iter().zip(args).map(|(p, a)| Step::Pass(*p, *a)));
}

/// The instructions of a block up to its end, which is given back.
fn straight<'f>(func: &'f Func, block: Block, out: &mut Vec<Step>) -> Option<&'f InstData> {
    let (last, insts) = func.blocks[block.index()].insts.split_last()?;
    let number = |v: &Value| func.value_type(*v) != Ty::Ptr;
    for i in insts {
        let fine = match &func.insts[i.index()].data {
            InstData::Const { ty, .. } => *ty != Ty::Ptr,
            InstData::Op { op, ty, args } => *op != Op::PtrAdd && *ty != Ty::Ptr && args.iter().all(number),
            InstData::CallHelper { helper, args } => {
                args.len() == 1 && definition(helper).is_some_and(Definition::is_rare)
            }
            InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => false,
        };
        if !fine {
            return None;
        }
        out.push(Step::Inst(i.index()));
    }
    Some(&func.insts[last.index()].data)
}

impl<'c> Shared<'c, '_> {
    /// The definition of a helper for vectors of so many lanes; none of one that asks and jumps.
    fn wide_body(&self, helper: &'static RtFn, lanes: usize) -> Result<Option<FunctionValue<'c>>> {
        let Some(d) = definition(helper) else { return Ok(None) };
        let func = d.func();
        let name = format!("{FUNC_PREFIX}{}.wide{lanes}", func.name);
        if let Some(known) = self.module.get_function(&name) {
            return Ok(Some(known));
        }
        let types = func.sig.params.iter().chain(&func.sig.results);
        let Some(types) = types.map(|t| t.vector(lanes)).collect::<Option<Vec<Ty>>>() else {
            return Ok(None);
        };
        let [params @ .., result] = &types[..] else { return Ok(None) };
        let Some(steps) = steps(&func) else { return Ok(None) };
        let params: Vec<BasicMetadataTypeEnum<'_>> = params.iter().map(|t| self.ty(*t).into()).collect();
        let llvm = self.module.add_function(
            &name,
            self.ty(*result).into_vector_type().fn_type(&params, false),
            Some(Linkage::Internal),
        );
        for attribute in ["nounwind", "alwaysinline"] {
            llvm.add_attribute(AttributeLoc::Function, self.attribute(attribute, 0));
        }
        self.add_target_attributes(llvm);
        self.write_wide(&func, &steps, llvm, lanes)?;
        Ok(Some(llvm))
    }

    fn write_wide(&self, func: &Func, steps: &[Step], llvm: FunctionValue<'c>, lanes: usize) -> Result<()> {
        let cfg = Cfg::new(func);
        let mut e = Emitter {
            shared: self,
            func,
            cfg: &cfg,
            loops: OnceCell::new(),
            strided: OnceCell::new(),
            defs: OnceCell::new(),
            llvm,
            b: self.context.create_builder(),
            blocks: vec![],
            values: vec![None; func.value_types.len()],
            phis: vec![],
            slots: vec![],
            // Whatever liberties the user allows: these functions give the same bits always.
            fast_math: 0,
            copies: super::bodies::Copies::none(),
            at: func.entry(),
        };
        e.b.position_at_end(self.context.append_basic_block(llvm, "entry"));
        for (p, v) in func.blocks[func.entry().index()].params.iter().zip(llvm.get_param_iter()) {
            e.values[p.index()] = Some(v);
        }
        for step in steps {
            match step {
                Step::Inst(i) => e.wide_inst(&func.insts[*i], lanes)?,
                Step::Pass(p, a) => e.values[p.index()] = Some(e.value(*a)?),
                Step::Choose(p, cond, a, b) => {
                    let v = Vector::new(func.value_type(*p), lanes)
                        .ok_or_else(|| bug("a choice without vectors"))?;
                    e.values[p.index()] = Some(e.vector_op(Op::Select, v, &[*cond, *a, *b])?);
                }
                Step::Return(v) => {
                    let v = e.value(*v)?;
                    built(e.b.build_return(Some(&v)))?;
                }
            }
        }
        Ok(())
    }
}

impl<'c> Emitter<'c, '_, '_> {
    /// One instruction of a definition, in all lanes.
    fn wide_inst(&mut self, node: &InstNode, lanes: usize) -> Result<()> {
        let value = match &node.data {
            InstData::Const { ty, bits } => {
                let to = ty.vector(lanes).ok_or_else(|| bug("a constant without vectors"))?;
                let x = self.constant(*ty, *bits)?;
                self.splat(self.shared.ty(to).into_vector_type(), x)?
            }
            InstData::Op { op, ty, args } => {
                let v = Vector::new(*ty, lanes).ok_or_else(|| bug("a number without vectors"))?;
                self.vector_op(*op, v, args)?
            }
            InstData::CallHelper { helper, args } => {
                let scalar = self.shared.helper(helper)?;
                let version = self.shared.version_of(helper, scalar, lanes as u32)?;
                let x = self.value(args[0])?;
                built(self.b.build_call(version, &[x.into()], ""))?
                    .try_as_basic_value()
                    .basic()
                    .ok_or_else(|| bug("a version gives nothing"))?
            }
            InstData::Return(_)
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Unreachable => return Err(bug("a definition that is not straight")),
        };
        self.values[node.results[0].index()] = Some(value);
        Ok(())
    }

    pub(super) fn made_by(&self, v: Value) -> Option<&InstData> {
        let defs = self.defs.get_or_init(|| defs(self.func));
        defs[v.index()].map(|i| &self.func.insts[i].data)
    }

    /// The vector of which a value is a lane that is known, and which one.
    pub(super) fn lane_of(&self, v: Value) -> Option<(Value, usize)> {
        let Some(InstData::Op { op: Op::Lane, ty, args }) = self.made_by(v) else { return None };
        let Some(InstData::Const { bits, .. }) = self.made_by(args[1]) else { return None };
        Some((args[0], *bits as usize % ty.as_vector()?.lanes()))
    }

    /// Lanes that are the answers of one elementary function to the lanes of vectors, as one call; none where they
    /// are anything else.
    pub(super) fn wide_call(&self, v: Vector, lanes: &[Value]) -> Result<Option<BasicValueEnum<'c>>> {
        let call = |v: Value| match self.made_by(v) {
            Some(InstData::CallHelper { helper, args }) => Some((*helper, args.as_slice())),
            Some(_) | None => None,
        };
        let Some((helper, first)) = call(lanes[0]) else { return Ok(None) };
        if !self.copies.holds(self.at) || self.shared.options.target.is_gpu() {
            return Ok(None);
        }
        let mut calls = vec![];
        for lane in lanes {
            match call(*lane) {
                Some((other, args)) if *other == *helper => calls.push(args),
                Some(_) | None => return Ok(None),
            }
        }
        // The vector that an operand is the lanes of.
        let whole = |k: usize| {
            let of = |at: usize| {
                let (vector, lane) = self.lane_of(calls[at][k])?;
                let width = self.func.value_type(vector).as_vector()?.lanes();
                (lane == at && width == v.lanes()).then_some(vector)
            };
            let vector = of(0)?;
            (1..calls.len()).all(|at| of(at) == Some(vector)).then_some(vector)
        };
        let mut operands = vec![];
        for k in 0..first.len() {
            operands.push(if calls.iter().all(|c| c[k] == first[k]) {
                let ty = self.func.value_type(first[k]).vector(v.lanes());
                let Some(ty) = ty else { return Ok(None) };
                self.splat(self.shared.ty(ty).into_vector_type(), self.value(first[k])?)?.into()
            } else if let Some(vector) = whole(k) {
                self.value(vector)?.into()
            } else {
                return Ok(None);
            });
        }
        let Some(body) = self.shared.wide_body(helper, v.lanes())? else { return Ok(None) };
        Ok(built(self.b.build_call(body, &operands, ""))?.try_as_basic_value().basic())
    }
}

/// Which instruction makes each value.
fn defs(func: &Func) -> Vec<Option<usize>> {
    let mut defs = vec![None; func.value_types.len()];
    for i in func.layout.iter().flat_map(|b| &func.blocks[b.index()].insts) {
        for r in &func.insts[i.index()].results {
            defs[r.index()] = Some(i.index());
        }
    }
    defs
}
