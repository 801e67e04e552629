//! Checks the rules of SSA: what a pass hands on must pass here. A violation is a bug in Tierup, never in the
//! user's program.

use super::analysis::{Cfg, Definitions, Dominators, Edge, uses_of, uses_of_term};
use super::{Block, Func, InstNode, Op, Term, Value};
use crate::diag::{Code, Diagnostic, Result};

/// All rules that hold at `func`'s level (untyped or typed).
pub fn verify(func: &Func) -> Result<()> {
    Verifier { func }
        .run()
        .map_err(|e| Diagnostic::new(Code::VerifierError, format!("SSA of `{}`: {e}", func.qualname)))
}

struct Verifier<'a> {
    func: &'a Func,
}
type Check = std::result::Result<(), String>;

fn asks_for_class(n: super::Narrow) -> bool {
    matches!(n, super::Narrow::IsA | super::Narrow::NotA)
}

fn ensure(ok: bool, message: impl FnOnce() -> String) -> Check {
    if ok { Ok(()) } else { Err(message()) }
}

impl Verifier<'_> {
    fn run(&self) -> Check {
        let f = self.func;
        ensure(!f.blocks.is_empty(), || "no blocks".into())?;
        ensure(f.types.is_empty() || f.is_typed(), || {
            format!("{} types for {} values", f.types.len(), f.values)
        })?;
        let entry = f.blocks[0].params.len();
        ensure(f.is_typed() || entry == f.params.names.len(), || {
            format!("{entry} entry parameters for {} names", f.params.names.len())
        })?;
        self.numbers()?;
        self.edges()?;
        for n in &f.insts {
            self.shape(n)?;
        }
        let cfg = Cfg::new(f);
        let doms = Dominators::new(f, &cfg);
        let defs = Definitions::new(f);
        for b in cfg.rpo() {
            self.uses(*b, &doms, &defs)?;
        }
        Ok(())
    }

    /// Entities exist, and every value is defined once.
    fn numbers(&self) -> Check {
        let f = self.func;
        let mut defined = vec![false; f.values as usize];
        let mut placed = vec![false; f.insts.len()];
        let mut define = |v: Value| {
            ensure(v.index() < defined.len(), || format!("{v} does not exist"))?;
            ensure(!std::mem::replace(&mut defined[v.index()], true), || format!("{v} is defined twice"))
        };
        for (n, block) in f.blocks.iter().enumerate() {
            for p in &block.params {
                define(*p)?;
            }
            for i in &block.insts {
                ensure(i.index() < f.insts.len(), || format!("{i} in b{n} does not exist"))?;
                ensure(!std::mem::replace(&mut placed[i.index()], true), || {
                    format!("{i} stands in two places")
                })?;
                if let Some(r) = f.inst(*i).result {
                    define(r)?;
                }
            }
        }
        Ok(())
    }

    /// Targets exist and get as many arguments as they take; a handler is nothing but a handler.
    fn edges(&self) -> Check {
        let f = self.func;
        let mut kinds: Vec<Option<Edge>> = vec![None; f.blocks.len()];
        for b in (0..f.blocks.len()).map(Block::new) {
            ensure(f.block(b).term != Term::None, || format!("{b} has no terminator"))?;
            let mut result = Ok(());
            f.each_edge(b, &mut |edge, call| {
                if result.is_err() {
                    return;
                }
                result = (|| {
                    let Some(target) = f.blocks.get(call.block.index()) else {
                        return Err(format!("{b} leads to {}, which does not exist", call.block));
                    };
                    ensure(call.block != Block(0), || format!("{b} leads to the entry"))?;
                    let (given, taken) = (call.args.len() + edge.skip(), target.params.len());
                    ensure(given == taken, || {
                        format!("{b} passes {given} values to {}, which takes {taken}", call.block)
                    })?;
                    let kind = kinds[call.block.index()].get_or_insert(edge);
                    ensure(*kind == edge, || format!("{} is a handler and a plain target", call.block))
                })();
            });
            result?;
        }
        Ok(())
    }

    /// Operands and results of one instruction, and whether it belongs to this level.
    fn shape(&self, n: &InstNode) -> Check {
        let count = n.args.len();
        let (fits, typed, untyped) = match &n.op {
            Op::Const(_) | Op::Undef | Op::Global(_) | Op::Free(_) => (count == 0, true, true),
            Op::Attr(_) => (count == 1, false, true),
            Op::Member(_) | Op::CheckBound { .. } | Op::Yield | Op::PushHandled => (count == 1, true, true),
            Op::Narrow(n) => {
                (count == if asks_for_class(*n) && !self.func.is_typed() { 2 } else { 1 }, true, true)
            }
            Op::PopHandled => (count == 0, true, true),
            Op::SetAttr(_) => (count == 2, false, true),
            Op::Table(_) => (true, false, true),
            Op::Call { keywords } => (count > keywords.len(), false, true),
            Op::CallSpread { keywords } => (count == keywords.len() + 2, false, true),
            Op::MakeFunction { defaults, kwdefaults, .. } => {
                (count >= *defaults as usize + kwdefaults.len(), true, true)
            }
            Op::Region(_) => (count >= 4, true, false),
            Op::Apply(_) | Op::CallInstance(_) | Op::Broadcast => (true, true, false),
            Op::Fused(f) => (fits(f, count), true, false),
            Op::Cast | Op::Retain | Op::Release => (count == 1, true, false),
        };
        ensure(fits, || format!("`{}` with {count} operands", n.op))?;
        ensure(if self.func.is_typed() { typed } else { untyped }, || {
            format!("`{}` at the wrong level", n.op)
        })?;
        let without_result = matches!(n.op, Op::Release | Op::PopHandled);
        ensure(without_result == n.result.is_none() || matches!(n.op, Op::Retain), || {
            format!("result of `{}`", n.op)
        })
    }

    /// Every value is defined above where it is read.
    fn uses(&self, b: Block, doms: &Dominators, defs: &Definitions) -> Check {
        let f = self.func;
        // Values of this block defined so far.
        let mut here: std::collections::HashSet<Value> = f.block(b).params.iter().copied().collect();
        let check = |v: Value, here: &std::collections::HashSet<Value>, what: &dyn Fn() -> String| {
            let block = if v.index() < f.values as usize { defs.block(v) } else { None };
            let visible = match block {
                None => false,
                Some(d) if d == b => here.contains(&v),
                Some(d) => doms.dominates(d, b),
            };
            ensure(visible, || format!("{v} is not defined where {} in {b} reads it", what()))
        };
        for i in &f.block(b).insts {
            let n = f.inst(*i);
            let mut result = Ok(());
            uses_of(n, &mut |v| {
                if result.is_ok() {
                    result = check(v, &here, &|| format!("`{}`", n.op))
                }
            });
            result?;
            here.extend(n.result);
        }
        let mut result = Ok(());
        uses_of_term(&f.block(b).term, &mut |v| {
            if result.is_ok() {
                result = check(v, &here, &|| "the terminator".into())
            }
        });
        result
    }
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
