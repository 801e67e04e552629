//! What dominating branches say about a divisor, so that a division behind the user's own zero check carries
//! no second one.
//!
//! Lowering tests `b == 0` before `a // b` (it raises ZeroDivisionError), and LIR's total division would test
//! again. Facts are collected at the first division by a variable, so functions without one pay nothing.

use std::collections::HashMap;
use tierup_core::lir::cfg::{Cfg, Dominators};
use tierup_core::lir::{Block, Func, InstData, Shape, Ty, Value, eval};

/// What is known about a divisor at one place.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    pub not_zero: bool,
    pub not_minus_one: bool,
}

/// Facts that hold in a block and in everything it dominates.
pub(crate) struct Divisors {
    doms: Dominators,
    facts: HashMap<Value, Vec<(Block, Known)>>,
}

impl Divisors {
    pub(crate) fn new(func: &Func, cfg: &Cfg) -> Divisors {
        let mut divisors = Divisors { doms: Dominators::new(func, cfg), facts: HashMap::new() };
        let mut defs: HashMap<Value, &InstData> = HashMap::new();
        // Definitions come before their uses in reverse post-order.
        for &block in cfg.rpo() {
            for inst in &func.blocks[block.index()].insts {
                let node = &func.insts[inst.index()];
                match &node.data {
                    InstData::Const { .. } | InstData::Op { .. } => {
                        defs.insert(node.results[0], &node.data);
                    }
                    InstData::Brif { cond, then_to, else_to, .. } => {
                        for (target, taken) in [(then_to.block, true), (else_to.block, false)] {
                            // A block with other ways in knows nothing.
                            if cfg.preds(target).len() != 1 {
                                continue;
                            }
                            if let Some((value, known)) = learn(&defs, *cond, taken) {
                                divisors.facts.entry(value).or_default().push((target, known));
                            }
                        }
                    }
                    InstData::Load { .. }
                    | InstData::Store { .. }
                    | InstData::StackAddr { .. }
                    | InstData::SymbolAddr { .. }
                    | InstData::Call { .. }
                    | InstData::CallIndirect { .. }
                    | InstData::CallHelper { .. }
                    | InstData::Grid { .. }
                    | InstData::Jump(_)
                    | InstData::Switch { .. }
                    | InstData::Return(_)
                    | InstData::Unreachable => {}
                }
            }
        }
        divisors
    }

    /// What holds for `value` wherever `block` runs.
    pub(crate) fn known(&self, value: Value, block: Block) -> Known {
        let mut all = Known::default();
        for (at, known) in self.facts.get(&value).into_iter().flatten() {
            if self.doms.dominates(*at, block) {
                all.not_zero |= known.not_zero;
                all.not_minus_one |= known.not_minus_one;
            }
        }
        all
    }
}

/// What `cond` being true (or false) says about the variable side of a comparison with a constant: the
/// comparison is tried with 0 and with -1 in the variable's place.
fn learn(defs: &HashMap<Value, &InstData>, cond: Value, taken: bool) -> Option<(Value, Known)> {
    let InstData::Op { op, ty, args } = defs.get(&cond)? else { return None };
    if op.shape() != Shape::IntCompare {
        return None;
    }
    let constant = |v: Value| match defs.get(&v) {
        Some(InstData::Const { bits, .. }) => Some(*bits),
        Some(_) | None => None,
    };
    let (value, holds): (Value, Box<dyn Fn(u64) -> bool>) = match (constant(args[0]), constant(args[1])) {
        (None, Some(c)) => (args[0], Box::new(move |x| eval(*op, *ty, Ty::I8, &[x, c]) != 0)),
        (Some(c), None) => (args[1], Box::new(move |x| eval(*op, *ty, Ty::I8, &[c, x]) != 0)),
        (None, None) | (Some(_), Some(_)) => return None,
    };
    let known = Known { not_zero: holds(0) != taken, not_minus_one: holds(u64::MAX) != taken };
    (known != Known::default()).then_some((value, known))
}
