//! What a parallel loop's body does with values: who defines and reads them, what flows where. Classification
//! ([`super::carried_variables`]) and what it consists of ask it.

use super::find::{self, Found};
use super::shared::{Choice, Compared, Gate};
use super::{Meaning, Names, race};
use crate::diag::Diagnostic;
use crate::ops::{OpId, id};
use crate::ssa::analysis::{Cfg, Definitions, Dominators, Edge, Loop, Loops};
use crate::ssa::{Block, Func, Inst, Loc, Op, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Who reads a value inside of the loop.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    Operand(Inst, usize),
    /// Passed to a parameter of a block.
    Passed {
        to: Block,
        at: usize,
    },
    /// A branch, or an exception that is raised.
    Term(Block),
}

/// One edge into a block, with what it passes to one of its parameters; `side` is which target of the
/// terminator it is.
#[derive(Clone, Copy)]
pub(crate) struct Incoming {
    pub from: Block,
    pub side: usize,
    pub raises: bool,
    pub value: Value,
    /** The parameter. */
    pub to: Value,
}

pub(crate) struct Classifier<'a> {
    pub func: &'a Func,
    pub found: &'a Found,
    pub(super) names: &'a dyn Names,
    pub(super) cfg: Cfg,
    pub doms: Dominators,
    pub loops: Vec<Loop>,
    pub(super) defs: Definitions,
    pub(super) uses: HashMap<Value, Vec<Use>>,
    pub(super) incoming: HashMap<Value, Vec<Incoming>>,
}

/// How versions of one variable are read.
#[derive(Default)]
pub(crate) struct Reads {
    pub versions: HashSet<Value>,
    pub(super) operations: Vec<(Inst, usize)>,
    pub(super) choices: Vec<(Inst, usize)>,
    pub comparisons: Vec<Compared>,
    pub(super) truths: Vec<Inst>,
    /// Questions whether it is None.
    pub nones: Vec<Inst>,
    /// Comparisons with a constant that no index of the loop passes, or that all do, and which operand the version is.
    pub marks: Vec<(Inst, usize)>,
    /// New values from elsewhere, where ways meet.
    pub fresh: Vec<Incoming>,
    /// Where it is the best of all: what leads to a new one.
    pub(super) gates: Vec<Gate>,
    pub choice: Choice,
}

pub(super) const HELP: &str = "variables may be summed up and the like (s += x, s = max(s, x), if x > s: s = x); where an iteration needs the one before it, use range";

impl<'a> Classifier<'a> {
    pub(crate) fn of(func: &'a Func, found: &'a Found, names: &'a dyn Names) -> Classifier<'a> {
        let cfg = Cfg::new(func);
        let doms = Dominators::new(func, &cfg);
        let loops = Loops::new(func, &cfg, &doms).all;
        let mut c = Classifier {
            func,
            found,
            names,
            cfg,
            doms,
            loops,
            defs: Definitions::new(func),
            uses: HashMap::new(),
            incoming: HashMap::new(),
        };
        c.collect();
        c
    }

    /// Blocks that run when the loop is over, exceptions apart.
    pub(crate) fn reach_behind(&self) -> BTreeSet<Block> {
        let (mut seen, mut work) = (BTreeSet::new(), vec![self.found.exit.block]);
        while let Some(b) = work.pop() {
            if !self.is_inside(b) && seen.insert(b) {
                self.func.each_edge(b, &mut |_, to| work.push(to.block));
            }
        }
        // What leads back to the loop runs before it as well.
        let mut before = vec![self.found.pre];
        while let Some(b) = before.pop() {
            if seen.remove(&b) || b == self.found.pre {
                before.extend(self.cfg.preds(b).iter().copied().filter(|p| seen.contains(p)));
            }
        }
        seen
    }

    pub(super) fn is_inside(&self, b: Block) -> bool {
        b == self.found.header || self.found.blocks.contains(&b)
    }
}

impl Classifier<'_> {
    fn collect(&mut self) {
        let (func, found) = (self.func, self.found);
        for b in found.blocks.iter().copied() {
            for i in &func.block(b).insts {
                for (k, v) in func.inst(*i).args.iter().enumerate() {
                    self.uses.entry(*v).or_default().push(Use::Operand(*i, k));
                }
            }
            if let Some(v) = func.block(b).term.operand() {
                self.uses.entry(v).or_default().push(Use::Term(b));
            }
            let mut side = 0;
            func.each_edge(b, &mut |edge, to| {
                let raises = edge == Edge::Raises;
                let this = side;
                if !raises {
                    side += 1;
                }
                if to.block != found.header && !found.blocks.contains(&to.block) {
                    return;
                }
                for (k, v) in to.args.iter().enumerate() {
                    let at = k + edge.skip();
                    self.uses.entry(*v).or_default().push(Use::Passed { to: to.block, at });
                    let param = func.block(to.block).params[at];
                    self.incoming.entry(param).or_default().push(Incoming {
                        from: b,
                        side: this,
                        raises,
                        value: *v,
                        to: param,
                    });
                }
            });
        }
    }

    pub(crate) fn definition(&self, v: Value) -> Option<Inst> {
        self.defs.inst(v)
    }
    /// What reads a value in the loop, and as which operand; none where it is passed on or decides something.
    pub(crate) fn operands(&self, v: Value) -> Option<Vec<(Inst, usize)>> {
        self.uses
            .get(&v)
            .into_iter()
            .flatten()
            .map(|u| if let Use::Operand(i, k) = *u { Some((i, k)) } else { None })
            .collect()
    }
    pub(crate) fn is_read_once(&self, v: Value) -> bool {
        self.uses.get(&v).is_some_and(|u| u.len() == 1)
    }
    pub(crate) fn inst_of(&self, v: Value) -> Option<&crate::ssa::InstNode> {
        self.defs.inst(v).map(|i| self.func.inst(i))
    }
    /// What a callee means.
    pub(crate) fn meaning(&self, callee: Value) -> Option<Meaning> {
        find::meaning(self.func, &self.defs, self.names, callee)
    }
    /// The operation that a callee is.
    pub(crate) fn operation(&self, callee: Value) -> Option<OpId> {
        find::operation(self.func, &self.defs, self.names, callee)
    }
    pub(crate) fn uses_of(&self, v: Value) -> &[Use] {
        self.uses.get(&v).map_or(&[], Vec::as_slice)
    }
    pub(crate) fn incoming_of(&self, param: Value) -> &[Incoming] {
        self.incoming.get(&param).map_or(&[], Vec::as_slice)
    }
    pub(super) fn loc_of(&self, v: Value) -> Loc {
        self.inst_of(v).map_or(self.found.loc, |n| n.loc)
    }
    pub(crate) fn is_outside(&self, v: Value) -> bool {
        self.defs.block(v).is_none_or(|b| b != self.found.header && !self.found.blocks.contains(&b))
    }

    /// The race that a read of a version is.
    pub(crate) fn needs_earlier(&self, loc: Loc) -> Diagnostic {
        self.needs(loc, HELP)
    }
    pub(super) fn needs(&self, loc: Loc, help: &str) -> Diagnostic {
        race(self.func, loc, "an iteration of this prange loop needs what another one leaves in a variable, and iterations run at the same time").help(help)
    }

    /// What is passed to a parameter of a block within an iteration.
    pub(crate) fn passed_to(&self, param: Value) -> Vec<Value> {
        self.incoming.get(&param).into_iter().flatten().map(|i| i.value).collect()
    }

    /// Whether a block runs in every iteration: all ways back go through it, or it is in an inner `for` loop
    /// of which that is true and all turns go through it.
    pub(crate) fn is_certain(&self, b: Block) -> bool {
        self.is_sure(b, false)
    }
    /// The same; `once`: for inner loops it is enough that the first turn goes through it, whatever leaves
    /// the loop behind it.
    pub(crate) fn is_sure(&self, mut b: Block, once: bool) -> bool {
        let back: Vec<Block> = self
            .cfg
            .preds(self.found.header)
            .iter()
            .copied()
            .filter(|b| self.found.blocks.contains(b))
            .collect();
        let mut inner: Vec<&Loop> = self
            .loops
            .iter()
            .filter(|l| self.found.blocks.contains(&l.header) && l.blocks.contains(&b))
            .collect();
        inner.sort_by_key(|l| std::cmp::Reverse(l.depth));
        for l in inner {
            let is_for = self
                .func
                .block(l.header)
                .insts
                .iter()
                .any(|i| self.func.inst(*i).op == Op::Table(id::ITER_NEXT));
            let mut breaks = false;
            for from in l.blocks.iter().filter(|f| **f != l.header && !(once && self.doms.dominates(b, **f)))
            {
                self.func.each_edge(*from, &mut |edge, to| {
                    breaks |= edge == Edge::Jumps && !l.blocks.contains(&to.block)
                });
            }
            if !is_for || breaks || !l.latches.iter().all(|x| self.doms.dominates(b, *x)) {
                return false;
            }
            b = l.header;
        }
        back.iter().all(|l| self.doms.dominates(b, *l))
    }
}

pub(crate) struct Family {
    pub name: &'static str,
    pub(super) plain: OpId,
    pub(super) in_place: OpId,
    pub(super) neutral: OpId,
    /** The variable may stand on either side. */
    pub either: bool,
}

/// The reduction that an operation belongs to.
pub(crate) fn family(path: OpId) -> Option<Family> {
    let either = !matches!(path, id::SUB | id::ISUB | id::TRUEDIV | id::ITRUEDIV | id::NEG | id::LSHIFT)
        && path.plain().is_none();
    let of = |name, plain, in_place, neutral| Some(Family { name, plain, in_place, neutral, either });
    match path {
        id::ADD | id::IADD | id::SUB | id::ISUB => of("sum", id::ADD, id::IADD, id::PARALLEL_ZERO),
        // A sign that changes is a product with -1, a shift one with a power of two.
        id::MUL | id::IMUL | id::TRUEDIV | id::ITRUEDIV | id::NEG | id::LSHIFT | id::ILSHIFT => {
            of("product", id::MUL, id::IMUL, id::PARALLEL_ONE)
        }
        id::AND | id::IAND => of("and", id::AND, id::IAND, id::PARALLEL_OWN),
        id::OR | id::IOR => of("or", id::OR, id::IOR, id::PARALLEL_OWN),
        id::XOR | id::IXOR => of("xor", id::XOR, id::IXOR, id::PARALLEL_ZERO),
        _ => None,
    }
}
