//! Sparse conditional constant propagation, copies among block parameters, algebraic identities.
//!
//! The first part finds which values are constant (or at least not zero, as a new exception is) along the
//! edges that can be taken, optimistically around loops; the second which block parameters always equal one
//! other value; the third rewrites the function in one walk over reachable blocks. `assume` branches (one
//! side unreachable) are kept: `range` learns from them and removes them.

use super::edit::{Defs, Subst, remove_params, remove_unreachable};
use super::simplify::{Better, Operand, View, simplify};
use super::vectors;
use crate::lir::cfg::{Analyses, Cfg};
use crate::lir::{Block, BlockCall, Cold, Func, Inst, InstData, Loc, Op, Ty, Value, eval};

/// What a value is known to be.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Known {
    Nothing,
    Constant(u64),
    NonZero,
    Anything,
}

impl Known {
    fn is_nonzero(self) -> bool {
        match self {
            Known::NonZero => true,
            Known::Constant(c) => c != 0,
            Known::Nothing | Known::Anything => false,
        }
    }
}

pub(crate) fn fold(func: &mut Func, analyses: &mut Analyses) {
    if func.layout.is_empty() {
        return;
    }
    let cfg = analyses.cfg(func);
    let defs = Defs::new(func);
    let facts = Facts::find(func, cfg, &defs);
    let mut subst = Subst::new(func);
    find_copies(func, cfg, &facts, &mut subst);
    if rewrite(func, cfg, &facts, defs, subst) {
        analyses.invalidate();
    }
    // Branches that were decided have left blocks without a way in.
    remove_unreachable(func, analyses.cfg(func));
}

struct Facts {
    known: Vec<Known>,
    reached: Vec<bool>,
}

impl Facts {
    /// Sweeps in reverse post-order until nothing changes: twice for most functions, once more for each level
    /// of loop nesting at worst.
    fn find(func: &Func, cfg: &Cfg, defs: &Defs) -> Facts {
        let mut facts = Facts {
            known: vec![Known::Nothing; func.value_types.len()],
            reached: vec![false; func.blocks.len()],
        };
        let asked = Asked::find(func, cfg, defs);
        facts.reached[func.entry().index()] = true;
        for p in &func.blocks[func.entry().index()].params {
            facts.known[p.index()] = Known::Anything;
        }
        loop {
            let mut changed = false;
            for &b in cfg.rpo() {
                if facts.reached[b.index()] {
                    for i in &func.blocks[b.index()].insts {
                        changed |= facts.visit(func, &asked, b, *i);
                    }
                }
            }
            if !changed {
                return facts;
            }
        }
    }

    fn visit(&mut self, func: &Func, asked: &Asked<'_>, b: Block, i: Inst) -> bool {
        let node = &func.insts[i.index()];
        match &node.data {
            InstData::Const { bits, .. } => self.raise(node.results[0], Known::Constant(*bits)),
            InstData::Op { op, ty, args } => {
                let now = self.evaluate(func, *op, *ty, args);
                self.raise(node.results[0], now)
            }
            InstData::Grid { .. } => {
                node.results.iter().fold(false, |c, r| self.raise(*r, Known::Anything) | c)
            }
            InstData::CallHelper { helper, .. } => {
                let result = if helper.gives_object() { Known::NonZero } else { Known::Anything };
                node.results.iter().fold(false, |c, r| self.raise(*r, result) | c)
            }
            InstData::StackAddr { .. } | InstData::SymbolAddr { .. } => {
                self.raise(node.results[0], Known::NonZero)
            }
            InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. } => {
                node.results.iter().fold(false, |c, r| self.raise(*r, Known::Anything) | c)
            }
            InstData::Jump(to) => self.edge_where(func, asked, to, asked.not_zero[b.index()]),
            InstData::Brif { cond, then_to, else_to, .. } => match self.known[cond.index()] {
                Known::Nothing => false,
                Known::Constant(c) => {
                    let to = if c as i8 != 0 { then_to } else { else_to };
                    self.edge(func, to.block, &to.args)
                }
                Known::NonZero | Known::Anything => {
                    let not_zero =
                        |answer: bool| asked.branches[b.index()].filter(|a| a.1 == answer).map(|a| a.0);
                    self.edge_where(func, asked, then_to, not_zero(true))
                        | self.edge_where(func, asked, else_to, not_zero(false))
                }
            },
            InstData::Switch { index, cases, default } => match self.known[index.index()] {
                Known::Nothing => false,
                Known::Constant(c) => self.edge(func, switch_target(c, cases, *default), &[]),
                Known::NonZero | Known::Anything => {
                    cases.iter().chain([default]).fold(false, |c, b| self.edge(func, *b, &[]) | c)
                }
            },
            InstData::Return(_) | InstData::Unreachable => false,
        }
    }

    fn evaluate(&self, func: &Func, op: Op, ty: Ty, args: &[Value]) -> Known {
        if ty.is_vector() {
            let waits = args.iter().any(|a| self.known[a.index()] == Known::Nothing);
            return if waits { Known::Nothing } else { Known::Anything };
        }
        let mut operands = [0u64; 3];
        let mut all = true;
        for (o, a) in operands.iter_mut().zip(args) {
            match self.known[a.index()] {
                Known::Nothing => return Known::Nothing,
                Known::Constant(c) => *o = c,
                Known::NonZero | Known::Anything => all = false,
            }
        }
        if all {
            return Known::Constant(eval(op, from_type(func, op, ty, args), ty, &operands[..args.len()]));
        }
        if op == Op::Select
            && let Known::Constant(c) = self.known[args[0].index()]
        {
            let chosen = args[if c as i8 != 0 { 1 } else { 2 }];
            if let Known::Constant(k) = self.known[chosen.index()] {
                return Known::Constant(k);
            }
        }
        let known = |k: usize| self.known[args[k].index()];
        // Conversions between bits keep the width.
        if op == Op::Bitcast && known(0).is_nonzero() {
            return Known::NonZero;
        }
        let asks = |k: usize, other: usize| known(k).is_nonzero() && known(other) == Known::Constant(0);
        if matches!(op, Op::IcmpEq | Op::IcmpNe) && (asks(0, 1) || asks(1, 0)) {
            return Known::Constant((op == Op::IcmpNe) as u64);
        }
        Known::Anything
    }

    /// The edge can be taken: its arguments meet the parameters.
    fn edge(&mut self, func: &Func, to: Block, args: &[Value]) -> bool {
        let mut changed = !std::mem::replace(&mut self.reached[to.index()], true);
        for (p, a) in func.blocks[to.index()].params.iter().zip(args) {
            changed |= self.raise(*p, self.known[a.index()]);
        }
        changed
    }

    /// An edge that is taken only where a value is not zero.
    fn edge_where(
        &mut self,
        func: &Func,
        asked: &Asked<'_>,
        to: &BlockCall,
        not_zero: Option<Value>,
    ) -> bool {
        let Some(v) = not_zero.filter(|v| self.known[v.index()] == Known::Anything) else {
            return self.edge(func, to.block, &to.args);
        };
        let mut changed = !std::mem::replace(&mut self.reached[to.block.index()], true);
        for (p, a) in func.blocks[to.block.index()].params.iter().zip(&to.args) {
            let known = if asked.same_bits(func, *a, v) { Known::NonZero } else { self.known[a.index()] };
            changed |= self.raise(*p, known);
        }
        changed
    }

    /// Values only ever move up: nothing, one constant, not zero, anything. That is what ends the sweeps.
    fn raise(&mut self, v: Value, now: Known) -> bool {
        let old = self.known[v.index()];
        let now = match (old, now) {
            (Known::Anything, _) | (_, Known::Nothing) => return false,
            (Known::Nothing, new) => new,
            (Known::Constant(a), Known::Constant(b)) if a == b => return false,
            (Known::NonZero, new) if new.is_nonzero() => return false,
            (old, new) if old.is_nonzero() && new.is_nonzero() => Known::NonZero,
            (Known::Constant(_) | Known::NonZero, Known::Constant(_) | Known::NonZero | Known::Anything) => {
                Known::Anything
            }
        };
        self.known[v.index()] = now;
        true
    }

    /// Edges out of `b` that can be taken.
    fn edges<'f>(&self, func: &'f Func, b: Block, mut f: impl FnMut(Block, &'f [Value])) {
        let Some(t) = func.terminator(b) else { return };
        match &func.insts[t.index()].data {
            InstData::Brif { cond, then_to, else_to, .. } => {
                let known = self.known[cond.index()];
                if !matches!(known, Known::Constant(c) if c as i8 == 0) {
                    f(then_to.block, &then_to.args);
                }
                if !matches!(known, Known::Constant(c) if c as i8 != 0) {
                    f(else_to.block, &else_to.args);
                }
            }
            InstData::Jump(to) => f(to.block, &to.args),
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
            | InstData::Unreachable => {}
        }
    }
}

/// Parameters to which every edge passes one same value, or the parameter itself. One sweep for each level of
/// loop nesting.
fn find_copies(func: &Func, cfg: &Cfg, facts: &Facts, subst: &mut Subst) {
    #[derive(Clone, Copy, PartialEq)]
    enum Arrives {
        Nothing,
        One(Value),
        Many,
    }
    loop {
        let mut arrives = vec![Arrives::Nothing; func.value_types.len()];
        for &b in cfg.rpo() {
            if !facts.reached[b.index()] {
                continue;
            }
            facts.edges(func, b, |to, args| {
                for (p, a) in func.blocks[to.index()].params.iter().zip(args) {
                    let a = subst.get(*a);
                    if a == *p {
                        continue;
                    }
                    let old = arrives[p.index()];
                    arrives[p.index()] = if old == Arrives::Nothing {
                        Arrives::One(a)
                    } else if old == Arrives::One(a) {
                        old
                    } else {
                        Arrives::Many
                    };
                }
            });
        }
        let mut changed = false;
        for &b in cfg.rpo().iter().skip(1) {
            for p in &func.blocks[b.index()].params {
                let Arrives::One(v) = arrives[p.index()] else { continue };
                if !matches!(facts.known[p.index()], Known::NonZero | Known::Anything)
                    || subst.get(*p) != *p
                    || subst.get(v) == *p
                {
                    continue;
                }
                subst.set(*p, v);
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// What branches ask about zero.
struct Asked<'a> {
    defs: &'a Defs,
    /// What the branch at the end of a block compares with zero, and the answer by which it is not.
    branches: Vec<Option<(Value, bool)>>,
    /// What is not zero in a block, since the branch that leads to it has asked.
    not_zero: Vec<Option<Value>>,
}

impl<'a> Asked<'a> {
    fn find(func: &Func, cfg: &Cfg, defs: &'a Defs) -> Asked<'a> {
        let n = func.blocks.len();
        let mut asked = Asked { defs, branches: vec![None; n], not_zero: vec![None; n] };
        for &b in cfg.rpo() {
            let Some(t) = func.terminator(b) else { continue };
            let InstData::Brif { cond, then_to, else_to, .. } = &func.insts[t.index()].data else { continue };
            let Some(InstData::Op { op: op @ (Op::IcmpNe | Op::IcmpEq), args, .. }) = defs.data(func, *cond)
            else {
                continue;
            };
            if defs.constant(func, args[1]) != Some(0) {
                continue;
            }
            let answer = *op == Op::IcmpNe;
            asked.branches[b.index()] = Some((args[0], answer));
            let to = if answer { then_to.block } else { else_to.block };
            if cfg.preds(to).len() == 1 && then_to.block != else_to.block {
                asked.not_zero[to.index()] = Some(args[0]);
            }
        }
        asked
    }

    /// Whether a value is another one, as a number perhaps: what raises gives its exception as its status.
    fn same_bits(&self, func: &Func, a: Value, v: Value) -> bool {
        let is_cast =
            |data: &InstData| matches!(data, InstData::Op { op: Op::Bitcast, args, .. } if args[0] == v);
        a == v || self.defs.data(func, a).is_some_and(is_cast)
    }
}

fn switch_target(index: u64, cases: &[Block], default: Block) -> Block {
    usize::try_from(index).ok().and_then(|i| cases.get(i)).copied().unwrap_or(default)
}

/// The operand type that `eval` wants.
pub(crate) fn from_type(func: &Func, op: Op, ty: Ty, args: &[Value]) -> Ty {
    if op.shape().suffix_is_result() { func.value_type(args[0]) } else { ty }
}

/// Whether any branch was decided or turned round.
fn rewrite(func: &mut Func, cfg: &Cfg, facts: &Facts, mut defs: Defs, mut subst: Subst) -> bool {
    let known = |v: Value| facts.known.get(v.index()).copied().unwrap_or(Known::Anything);
    let mut constants = vec![];
    for &b in cfg.rpo().iter().skip(1) {
        for p in &func.blocks[b.index()].params {
            if let Known::Constant(bits) = known(*p) {
                constants.push((b, *p, bits));
            }
        }
    }
    remove_params(func, |_, p| matches!(known(p), Known::Constant(_)) || subst.get(p) != p);
    for (b, p, bits) in constants {
        // The parameter's own number becomes the constant's, so its uses stay as they are.
        let i = func.make_inst(InstData::Unreachable, Loc(0));
        func.insts[i.index()].data = InstData::Const { ty: func.value_type(p), bits };
        func.insts[i.index()].results = vec![p];
        func.blocks[b.index()].insts.insert(0, i);
        defs.add(func, i);
    }
    let mut moved = false;
    for &b in cfg.rpo() {
        if !facts.reached[b.index()] {
            continue;
        }
        let old = std::mem::take(&mut func.blocks[b.index()].insts);
        let mut rewriter =
            Rewriter { func, defs: &mut defs, subst: &mut subst, out: Vec::with_capacity(old.len()), moved };
        for i in old {
            rewriter.inst(i, &facts.known);
        }
        let out = rewriter.out;
        moved = rewriter.moved;
        func.blocks[b.index()].insts = out;
    }
    subst.apply(func);
    moved
}

struct Rewriter<'a> {
    func: &'a mut Func,
    defs: &'a mut Defs,
    subst: &'a mut Subst,
    out: Vec<Inst>,
    /// Whether an edge is gone, or another one first.
    moved: bool,
}

impl Rewriter<'_> {
    fn inst(&mut self, i: Inst, known: &[Known]) {
        let subst = &mut *self.subst;
        let node = &mut self.func.insts[i.index()];
        node.data.map_uses(|v| subst.get(v));
        match &node.data {
            InstData::Op { .. } => {
                let result = node.results[0];
                if let Some(Known::Constant(bits)) = known.get(result.index()) {
                    node.data = InstData::Const { ty: self.func.value_types[result.index()], bits: *bits };
                } else if !self.op(i) {
                    return;
                }
            }
            InstData::Load { .. } | InstData::Store { .. } => self.address(i),
            InstData::Brif { .. } => self.branch(i),
            InstData::Switch { .. } => self.switch(i),
            InstData::Const { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Return(_)
            | InstData::Unreachable => {}
        }
        self.defs.add(self.func, i);
        self.out.push(i);
    }

    /// Simplifies until nothing applies. False if the result is another value and the instruction goes.
    fn op(&mut self, i: Inst) -> bool {
        let result = self.func.insts[i.index()].results[0];
        // The limit guards against two rules that undo each other.
        for _ in 0..8 {
            let InstData::Op { op, ty, args } = &self.func.insts[i.index()].data else { return true };
            let view = View { func: self.func, defs: self.defs };
            if let Some(bits) = self.evaluated(*op, *ty, args) {
                let ty = self.func.value_type(result);
                self.func.insts[i.index()].data = InstData::Const { ty, bits };
                return true;
            }
            let better = match ty.is_vector() {
                true => vectors::simplify(&view, *op, *ty, args),
                false => simplify(&view, *op, *ty, args),
            };
            match better {
                None => return true,
                Some(Better::Same(v)) => {
                    self.subst.set(result, v);
                    return false;
                }
                Some(Better::Const(bits)) => {
                    let ty = self.func.value_type(result);
                    self.func.insts[i.index()].data = InstData::Const { ty, bits: ty.canonical(bits) };
                }
                Some(Better::Op(op, ty, operands)) => {
                    let loc = self.func.insts[i.index()].loc;
                    let args = operands.into_iter().map(|o| self.operand(o, loc)).collect();
                    self.func.insts[i.index()].data = InstData::Op { op, ty, args };
                }
            }
        }
        true
    }

    /// The answer, if all operands have become constants on the way.
    fn evaluated(&self, op: Op, ty: Ty, args: &[Value]) -> Option<u64> {
        if ty.is_vector() {
            return None;
        }
        let mut operands = [0; 3];
        for (o, a) in operands.iter_mut().zip(args) {
            *o = self.defs.constant(self.func, *a)?;
        }
        Some(eval(op, from_type(self.func, op, ty, args), ty, &operands[..args.len()]))
    }

    fn operand(&mut self, o: Operand, loc: Loc) -> Value {
        match o {
            Operand::Old(v) => v,
            Operand::Const(ty, bits) => {
                let i = self.func.make_inst(InstData::Const { ty, bits: ty.canonical(bits) }, loc);
                self.defs.add(self.func, i);
                self.out.push(i);
                self.func.insts[i.index()].results[0]
            }
        }
    }

    /// A constant byte offset goes into the access.
    fn address(&mut self, i: Inst) {
        let (InstData::Load { addr, offset, .. } | InstData::Store { addr, offset, .. }) =
            &self.func.insts[i.index()].data
        else {
            return;
        };
        let Some(InstData::Op { op: Op::PtrAdd, args, .. }) = self.defs.data(self.func, *addr) else {
            return;
        };
        let Some(c) = self.defs.constant(self.func, args[1]) else { return };
        let Some(sum) = (c as i64).checked_add(*offset as i64).and_then(|s| i32::try_from(s).ok()) else {
            return;
        };
        let base = args[0];
        if let InstData::Load { addr, offset, .. } | InstData::Store { addr, offset, .. } =
            &mut self.func.insts[i.index()].data
        {
            (*addr, *offset) = (base, sum);
        }
    }

    fn branch(&mut self, i: Inst) {
        loop {
            let InstData::Brif { cond, then_to, else_to, cold } = &self.func.insts[i.index()].data else {
                return;
            };
            let mut moved = true;
            let data = if let Some(c) = self.defs.constant(self.func, *cond) {
                InstData::Jump(if c as i8 != 0 { then_to.clone() } else { else_to.clone() })
            } else if then_to == else_to {
                InstData::Jump(then_to.clone())
            } else if let Some(x) = (View { func: self.func, defs: self.defs }).negated(*cond) {
                let cold = match cold {
                    Cold::Then => Cold::Else,
                    Cold::Else => Cold::Then,
                    Cold::Neither => Cold::Neither,
                };
                InstData::Brif { cond: x, then_to: else_to.clone(), else_to: then_to.clone(), cold }
            } else if let Some(x) = self.not_zero(*cond) {
                moved = false;
                InstData::Brif { cond: x, then_to: then_to.clone(), else_to: else_to.clone(), cold: *cold }
            } else {
                return;
            };
            self.func.insts[i.index()].data = data;
            self.moved |= moved;
        }
    }
    /// `x`, if `v` is `x != 0` for an i8.
    fn not_zero(&self, v: Value) -> Option<Value> {
        let InstData::Op { op: Op::IcmpNe, ty: Ty::I8, args } = self.defs.data(self.func, v)? else {
            return None;
        };
        (self.defs.constant(self.func, args[1])? == 0).then_some(args[0])
    }

    fn switch(&mut self, i: Inst) {
        let InstData::Switch { index, cases, default } = &self.func.insts[i.index()].data else { return };
        let jump = |block: Block| InstData::Jump(BlockCall { block, args: vec![] });
        let data = if let Some(c) = self.defs.constant(self.func, *index) {
            jump(switch_target(c, cases, *default))
        } else if cases.iter().all(|c| c == default) {
            jump(*default)
        } else {
            return;
        };
        self.func.insts[i.index()].data = data;
        self.moved = true;
    }
}
