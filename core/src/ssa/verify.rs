//! Checks the rules of SSA: what a pass hands on must pass here. A violation is a bug in Tierup, never in the
//! user's program.

use super::analysis::{Cfg, Edge, uses_of, uses_of_term};
use super::{Block, BlockCall, Func, Inst, InstNode, Op, Term, Value};
use crate::bitset::BitSet;
use crate::diag::{Code, Diagnostic, Result};
use crate::ops::OpId;

/// What a violation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Func,
    Block(Block),
    Inst(Inst),
    /// The terminator of a block.
    Term(Block),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pub place: Place,
    pub message: String,
}

/// All rules that hold at `func`'s level (untyped or typed).
pub fn verify(func: &Func) -> Result<()> {
    match violations(func).first() {
        None => Ok(()),
        Some(v) => {
            Err(Diagnostic::new(Code::VerifierError, format!("SSA of `{}`: {}", func.qualname, v.message)))
        }
    }
}

/// Every violation. What is asked later only makes sense where what is asked first holds: values are looked
/// for along edges only if the edges are right.
pub fn violations(func: &Func) -> Vec<Violation> {
    let mut v = Verifier { func, out: vec![] };
    v.signature();
    v.numbers();
    v.edges();
    v.shapes();
    if v.out.is_empty() {
        v.uses();
    }
    v.out
}

struct Verifier<'a> {
    func: &'a Func,
    out: Vec<Violation>,
}

fn asks_for_class(n: super::Narrow) -> bool {
    matches!(n, super::Narrow::IsA | super::Narrow::NotA)
}

impl Verifier<'_> {
    fn ensure(&mut self, ok: bool, place: Place, message: impl FnOnce() -> String) {
        if !ok {
            self.out.push(Violation { place, message: message() });
        }
    }

    fn signature(&mut self) {
        let f = self.func;
        self.ensure(!f.blocks.is_empty(), Place::Func, || "no blocks".into());
        self.ensure(f.types.is_empty() || f.is_typed(), Place::Func, || {
            format!("{} types for {} values", f.types.len(), f.values)
        });
        let p = &f.params;
        let named = p.positional + p.keyword_only + usize::from(p.varargs) + usize::from(p.varkw);
        self.ensure(named == p.names.len() && p.positional_only <= p.positional, Place::Func, || {
            format!("{} names for {named} parameters", p.names.len())
        });
        let entry = f.blocks.first().map_or(0, |b| b.params.len());
        self.ensure(f.is_typed() || f.blocks.is_empty() || entry == p.names.len(), Place::Func, || {
            format!("{entry} entry parameters for {} names", p.names.len())
        });
    }

    /// Entities exist, and every value is defined once.
    fn numbers(&mut self) {
        let f = self.func;
        let mut defined = vec![false; f.values as usize];
        let mut placed = vec![false; f.insts.len()];
        let mut out = vec![];
        let mut define = |v: Value, place: Place| match defined.get_mut(v.index()) {
            None => out.push(Violation { place, message: format!("{v} does not exist") }),
            Some(d) if *d => out.push(Violation { place, message: format!("{v} is defined twice") }),
            Some(d) => *d = true,
        };
        for (n, block) in f.blocks.iter().enumerate() {
            let b = Block::new(n);
            for p in &block.params {
                define(*p, Place::Block(b));
            }
            for i in &block.insts {
                match placed.get_mut(i.index()) {
                    None => {
                        self.out.push(Violation {
                            place: Place::Block(b),
                            message: format!("{i} in {b} does not exist"),
                        });
                        continue;
                    }
                    Some(p) => {
                        let twice = std::mem::replace(p, true);
                        self.ensure(!twice, Place::Inst(*i), || format!("{i} stands in two places"));
                    }
                }
                if let Some(r) = f.inst(*i).result {
                    define(r, Place::Inst(*i));
                }
            }
        }
        self.out.append(&mut out);
    }

    /// Targets exist and get as many arguments as they take. A handler is nothing but a handler; in typed code,
    /// where a raise that is handled here is a jump to its handler, it may be jumped to.
    fn edges(&mut self) {
        let f = self.func;
        let mut kinds: Vec<Option<Edge>> = vec![None; f.blocks.len()];
        for b in (0..f.blocks.len()).map(Block::new) {
            for i in &f.block(b).insts {
                let unwind = f.insts.get(i.index()).and_then(|n| n.unwind.as_ref());
                if let Some(u) = unwind {
                    self.edge(b, Place::Inst(*i), Edge::Raises, u, &mut kinds);
                }
            }
            let term = &f.block(b).term;
            self.ensure(*term != Term::None, Place::Term(b), || format!("{b} has no terminator"));
            let edge = if let Term::Raise { .. } = term { Edge::Raises } else { Edge::Jumps };
            for t in term.targets() {
                self.edge(b, Place::Term(b), edge, t, &mut kinds);
            }
        }
    }

    fn edge(&mut self, b: Block, place: Place, edge: Edge, call: &BlockCall, kinds: &mut [Option<Edge>]) {
        let Some(target) = self.func.blocks.get(call.block.index()) else {
            return self
                .ensure(false, place, || format!("{b} leads to {}, which does not exist", call.block));
        };
        self.ensure(call.block != Block(0), place, || format!("{b} leads to the entry"));
        let (given, taken) = (call.args.len() + edge.skip(), target.params.len());
        self.ensure(given == taken, place, || {
            format!("{b} passes {given} values to {}, which takes {taken}", call.block)
        });
        let kind = *kinds[call.block.index()].get_or_insert(edge);
        self.ensure(kind == edge || self.func.is_typed(), place, || {
            format!("{} is a handler and a plain target", call.block)
        });
    }

    fn shapes(&mut self) {
        let f = self.func;
        for i in f.blocks.iter().flat_map(|b| &b.insts) {
            if let Some(n) = f.insts.get(i.index()) {
                self.shape(*i, n);
            }
        }
    }

    /// Operands and results of one instruction, and whether it belongs to this level.
    fn shape(&mut self, i: Inst, n: &InstNode) {
        let count = n.args.len();
        let (fits, typed, untyped) = match &n.op {
            Op::Const(_) | Op::Undef | Op::Global(_) => (count == 0, true, true),
            Op::Free(k) => (count == 0 && (*k as usize) < self.func.free.len(), true, true),
            Op::Attr(_) => (count == 1, false, true),
            Op::Member(_) | Op::CheckBound { .. } | Op::Yield | Op::PushHandled => (count == 1, true, true),
            Op::Narrow(n) => {
                (count == if asks_for_class(*n) && !self.func.is_typed() { 2 } else { 1 }, true, true)
            }
            Op::PopHandled => (count == 0, true, true),
            Op::SetAttr(_) => (count == 2, false, true),
            Op::Table(path) => (takes(*path, count), false, true),
            Op::Call { keywords } => (count > keywords.len(), false, true),
            Op::CallSpread { keywords } => (count == keywords.len() + 2, false, true),
            Op::MakeFunction { defaults, kwdefaults, .. } => {
                (count >= *defaults as usize + kwdefaults.len(), true, true)
            }
            Op::Region(_) => (count >= 4, true, false),
            Op::Task(_) => (count >= 1, true, false),
            Op::Apply(_) | Op::CallInstance(_) | Op::Broadcast => (true, true, false),
            Op::Fused(f) => (fits(f, count), true, false),
            Op::Cast | Op::Retain | Op::Release => (count == 1, true, false),
        };
        let place = Place::Inst(i);
        self.ensure(fits, place, || format!("`{}` with {count} operands", n.op));
        self.ensure(if self.func.is_typed() { typed } else { untyped }, place, || {
            format!("`{}` at the wrong level", n.op)
        });
        let without_result = matches!(n.op, Op::Release | Op::PopHandled);
        self.ensure(without_result == n.result.is_none() || matches!(n.op, Op::Retain), place, || {
            format!("result of `{}`", n.op)
        });
        self.ensure(n.op != Op::Yield || self.func.is_generator, place, || {
            "`yield` in a function that is no generator".into()
        });
    }

    /// Every value is defined above where it is read, on every way there. A handler has what stood above the
    /// instructions that lead to it, not what they or those behind them define.
    fn uses(&mut self) {
        let cfg = Cfg::new(self.func);
        let values = self.func.values as usize;
        // What is defined at the start of each block; everything as long as no way there is known.
        let mut known: Vec<Option<BitSet>> = vec![None; self.func.blocks.len()];
        known[0] = Some(BitSet::new(values));
        let mut changed = true;
        while changed {
            changed = false;
            for b in cfg.rpo() {
                let Some(here) = known[b.index()].clone() else { continue };
                self.walk(*b, here, &mut |to, here| {
                    changed |= match &mut known[to.index()] {
                        Some(at) => at.intersect(here),
                        none => {
                            *none = Some(here.clone());
                            true
                        }
                    };
                });
            }
        }
        let mut out = vec![];
        for b in cfg.rpo() {
            if let Some(here) = known[b.index()].take() {
                self.check_uses(*b, here, &mut out);
            }
        }
        self.out.append(&mut out);
    }

    /// Goes through a block with what is defined; `leaves` gets what is defined where each edge leaves it.
    fn walk(&self, b: Block, mut here: BitSet, leaves: &mut dyn FnMut(Block, &BitSet)) {
        let block = self.func.block(b);
        block.params.iter().for_each(|p| {
            here.insert(p.index());
        });
        for i in &block.insts {
            let node = self.func.inst(*i);
            if let Some(u) = &node.unwind {
                leaves(u.block, &here);
            }
            if let Some(r) = node.result {
                here.insert(r.index());
            }
        }
        for t in block.term.targets() {
            leaves(t.block, &here);
        }
    }

    fn check_uses(&self, b: Block, mut here: BitSet, out: &mut Vec<Violation>) {
        let block = self.func.block(b);
        let mut read = |here: &BitSet, v: Value, place: Place, what: &dyn Fn() -> String| {
            if v.0 >= self.func.values || !here.contains(v.index()) {
                let message = format!("{v} is not defined where {} in {b} reads it", what());
                out.push(Violation { place, message });
            }
        };
        block.params.iter().for_each(|p| {
            here.insert(p.index());
        });
        for i in &block.insts {
            let node = self.func.inst(*i);
            uses_of(node, &mut |v| read(&here, v, Place::Inst(*i), &|| format!("`{}`", node.op)));
            if let Some(r) = node.result {
                here.insert(r.index());
            }
        }
        uses_of_term(&block.term, &mut |v| read(&here, v, Place::Term(b), &|| "the terminator".into()));
    }
}

/// Whether some row of an operation takes so many operands; those without rows take what they get.
fn takes(path: OpId, count: usize) -> bool {
    let rows = path.rows();
    rows.is_empty()
        || rows.iter().map(|op| op.spec()).any(|s| {
            let least = s.params.iter().filter(|p| p.default.is_none()).count();
            count >= least && (s.varargs || count <= s.params.len())
        })
}

/// Whether steps read operands that are there, and only steps before them.
fn fits(f: &super::Fused, operands: usize) -> bool {
    use super::FusedArg::{Operand, Step};
    f.steps.iter().enumerate().all(|(k, step)| {
        let args = step.args.iter().all(|a| match a {
            Operand(i) => (*i as usize) < operands,
            Step(j) => (*j as usize) < k,
        });
        args && step.shape.is_none_or(|i| (i as usize) < operands)
    })
}
