//! What a piece says of its variables beside their values, so that the pieces give together what the loop
//! gives one iteration after the other.
//!
//! `if not x <= m: m = x` and `max(x, m)` take a NaN and forget it, and all before it, at the next value. A
//! piece of such a loop begins with nothing, whatever the variable is: its first value is taken, and a flag
//! goes with each version that says whether a NaN was; what came before the piece does not matter then. `if m
//! is None or x > m: m = x` keeps a NaN that comes first, and passes over all others: only behind the loop it
//! is known which piece has the first value of all, so each keeps the first one beside the best one, until
//! that is settled ([`super::settled`]).

use super::outline::Body;
use super::shared::{Kind, Shared, Step, What, group};
use crate::diag::{Diagnostic, Result};
use crate::ops::id;
use crate::ssa::{Block, BlockCall, Inst, InstNode, Op, Term, Value};
use crate::types::Const;

impl Shared {
    /// What pieces give beside the values of their variables, in that order.
    pub(crate) fn flags(&self) -> Vec<(usize, What)> {
        let mut all = vec![];
        for (k, c) in self.carried.iter().enumerate() {
            if c.flag() {
                all.push((k, What::Changed));
            }
            if c.resets() {
                all.push((k, What::Reset));
            }
            if c.keeps_first() {
                all.extend(group(&self.carried, k).into_iter().map(|j| (k, What::First(j))));
            }
        }
        all
    }
}

impl Shared {
    /// What cannot be found piece by piece where it is NaN somewhere: the places among what a piece gives,
    /// and whether that holds for tuples alone, which may be equal but for a NaN.
    pub(crate) fn in_order(&self) -> Vec<(u32, bool)> {
        let tuples = |k: &Kind| match k {
            Kind::Choose { several, .. } => !several,
            Kind::Select { path, via, .. } => path.is_some() && via.is_empty(),
            Kind::Binary { .. } | Kind::Truth { .. } | Kind::Follow { .. } | Kind::Last { .. } => false,
        };
        let mut all: Vec<(u32, bool)> = vec![];
        for (k, c) in self.carried.iter().enumerate() {
            if let Kind::Choose { several: true, .. } = c.kind {
                all.push((k as u32, false));
            } else if tuples(&c.kind) {
                all.push((k as u32, true));
            }
        }
        let first = self.carried.len() + self.flags().len() + self.lists.len();
        all.extend(
            self.privatised.iter().enumerate().filter(|b| b.1.several).map(|b| ((first + b.0) as u32, false)),
        );
        all
    }
}

impl Body<'_> {
    fn flag_of(&self, leader: usize, what: What, version: Value) -> Result<Value> {
        self.flags
            .iter()
            .find(|f| f.leader == leader && f.what == what)
            .and_then(|f| f.of.get(&version))
            .copied()
            .ok_or_else(|| Diagnostic::internal(format!("{version} has no flag in a parallel loop")))
    }

    /// Makes room for the flags of a block's parameters and of what its calls give.
    pub(crate) fn make_flags(&mut self, b: Block, new: Block) {
        let data = self.outer.block(b);
        for k in 0..self.flags.len() {
            if self.is_settled(self.flags[k].what) {
                continue;
            }
            let c = &self.shared.carried[self.flags[k].leader];
            for p in data.params.iter().filter(|p| c.versions.contains(p)) {
                let f = self.func.add_param(new);
                self.flags[k].of.insert(*p, f);
            }
            for i in data.insts.iter().filter(|i| c.choice.calls.iter().any(|x| x.0 == **i)) {
                let f = if self.flags[k].what == What::Changed { self.yes } else { self.func.make_value() };
                if let Some(r) = self.outer.inst(*i).result {
                    self.flags[k].of.insert(r, f);
                }
            }
        }
    }

    /// Versions under other names have the flags of what they name.
    pub(crate) fn name_flags(&mut self) {
        for flag in &mut self.flags {
            for v in &self.shared.carried[flag.leader].versions {
                let mut at = *v;
                while !flag.of.contains_key(&at) {
                    match self.defs.inst(at) {
                        // What a call converts is its argument.
                        Some(i) => {
                            let node = self.outer.inst(i);
                            at = node.args[usize::from(matches!(node.op, Op::Call { .. }))];
                        }
                        None => break,
                    }
                }
                if let Some(f) = flag.of.get(&at).copied() {
                    flag.of.insert(*v, f);
                }
            }
        }
    }

    /// A call of `min` or `max` that takes what comes before at last: its first value is the one that is new.
    /// Whether it was one.
    pub(crate) fn choose(&mut self, at: Block, i: Inst, unwind: Option<BlockCall>) -> Result<bool> {
        let Some((k, arg)) = self
            .shared
            .carried
            .iter()
            .enumerate()
            .find_map(|(k, c)| c.choice.calls.iter().find(|x| x.0 == i).map(|x| (k, x.1)))
        else {
            return Ok(false);
        };
        let node = self.outer.inst(i);
        let (args, version, Some(result)) = (self.all(&node.args)?, node.args[arg], node.result) else {
            return Ok(false);
        };
        let call =
            |s: &mut Self, args: Vec<Value>| s.func.push(at, node.op.clone(), args, node.loc, unwind.clone());
        let new = if args.len() == 3 { args[1] } else { call(self, args[..args.len() - 1].to_vec()) };
        let chosen = call(self, vec![args[0], new, args[arg]]);
        let has = self.has_before(at, k, version)?;
        self.define(
            at,
            Op::Table(id::PARALLEL_EITHER),
            vec![has, chosen, new],
            self.values[&result],
            node.loc,
        );
        let before = self.flag_of(k, What::Reset, version)?;
        let nan = self.func.push(at, Op::Table(id::PARALLEL_IS_NAN), vec![new], node.loc, None);
        let after = self.flag_of(k, What::Reset, result)?;
        self.define(at, Op::Table(id::OR), vec![before, nan], after, node.loc);
        Ok(true)
    }

    /// Whether something came before a version that matters: in this piece, or at all where there is one
    /// piece only.
    fn has_before(&mut self, at: Block, leader: usize, version: Value) -> Result<Value> {
        let mut has = self.flag_of(leader, What::Changed, version)?;
        if let Some(again) = self.again {
            has = self.push(at, Op::Table(id::OR), vec![has, again]);
        }
        let Some((_, tuples)) = self.shared.in_order().into_iter().find(|o| o.0 as usize == leader) else {
            return Ok(has);
        };
        let tuples = self.push(at, Op::Const(Const::Bool(tuples)), vec![]);
        let version = self.value(version)?;
        let one = self.push(at, Op::Table(id::PARALLEL_KEEPS_ORDER), vec![version, tuples]);
        Ok(self.push(at, Op::Table(id::OR), vec![has, one]))
    }

    fn define(&mut self, at: Block, op: Op, args: Vec<Value>, result: Value, loc: crate::ssa::Loc) {
        self.func.insts.push(InstNode { op, args, result: Some(result), loc, unwind: None });
        let inst = Inst::new(self.func.insts.len() - 1);
        self.func.blocks[at.index()].insts.push(inst);
    }

    /// The condition of a branch on a comparison: what comes first is taken.
    pub(crate) fn condition(&mut self, b: Block, cond: Value) -> Result<Value> {
        if let Some(known) = self.known(b) {
            return Ok(self.push(self.blocks[&b], Op::Const(Const::Bool(known)), vec![]));
        }
        let Some((k, version, old)) = self
            .shared
            .carried
            .iter()
            .enumerate()
            .find_map(|(k, c)| c.choice.branches.iter().find(|x| x.0 == b).map(|x| (k, x.1, x.2)))
        else {
            return Ok(cond);
        };
        let c = &self.shared.carried[k];
        let at = self.blocks[&b];
        if c.resets() {
            let has = self.has_before(at, k, version)?;
            return Ok(self.push(at, Op::Table(id::AND), vec![cond, has]));
        }
        if !c.keeps_first() || self.settled {
            return Ok(cond);
        }
        // A NaN came first, which is kept elsewhere.
        let old = self.value(old)?;
        let mut nan = self.push(at, Op::Table(id::PARALLEL_IS_NAN), vec![old]);
        if let Some(again) = self.again {
            let not = self.push(at, Op::Table(id::XOR), vec![again, self.yes]);
            nan = self.push(at, Op::Table(id::AND), vec![nan, not]);
        }
        Ok(self.push(at, Op::Table(id::OR), vec![cond, nan]))
    }

    /// The flags of new values that a block passes on.
    pub(crate) fn flags_from(&mut self, b: Block, term: &Term) -> Result<()> {
        self.passed.clear();
        let targets: Vec<&BlockCall> = match term {
            Term::Jump(to) => vec![to],
            Term::Branch { then_to, else_to, .. } => vec![then_to, else_to],
            Term::Return(_) | Term::Raise { .. } | Term::Unreachable | Term::None => vec![],
        };
        for to in targets {
            if !self.is_inside(to.block) {
                continue;
            }
            let params = &self.outer.block(to.block).params;
            for k in 0..self.flags.len() {
                let (leader, what) = (self.flags[k].leader, self.flags[k].what);
                if what == What::Changed || self.is_settled(what) {
                    continue;
                }
                let c = &self.shared.carried[leader];
                for (p, new) in params
                    .iter()
                    .zip(&to.args)
                    .filter(|x| c.versions.contains(x.0) && !c.versions.contains(x.1))
                {
                    let Some(before) = c.choice.before.get(&b).copied() else {
                        return Err(Diagnostic::internal(format!(
                            "{new} comes from nowhere in a parallel loop"
                        )));
                    };
                    let mine = self.flag_of(leader, what, before)?;
                    let (at, value) = (self.blocks[&b], self.value(*new)?);
                    let flag = if let What::First(j) = what {
                        let follower = params
                            .iter()
                            .zip(&to.args)
                            .find(|x| self.shared.carried[j].versions.contains(x.0))
                            .map(|x| *x.1)
                            .ok_or_else(|| {
                                Diagnostic::internal("what follows is not there in a parallel loop")
                            })?;
                        let (has, value) =
                            (self.flag_of(leader, What::Changed, before)?, self.value(follower)?);
                        self.push(at, Op::Table(id::PARALLEL_EITHER), vec![has, mine, value])
                    } else {
                        let shown = self.shown(at, value, leader)?;
                        let nan = self.push(at, Op::Table(id::PARALLEL_IS_NAN), vec![shown]);
                        self.push(at, Op::Table(id::OR), vec![mine, nan])
                    };
                    self.passed.insert((k, *p, *new), flag);
                }
            }
        }
        Ok(())
    }

    /// What is compared of a new value.
    pub(super) fn shown(&mut self, at: Block, mut v: Value, leader: usize) -> Result<Value> {
        let Kind::Select { via, .. } = &self.shared.carried[leader].kind else { return Ok(v) };
        for step in via.clone() {
            v = match step {
                Step::Part(k) => {
                    let k = if let Some(Op::Const(Const::Int(k))) =
                        self.defs.inst(k).map(|i| &self.outer.inst(i).op)
                    {
                        self.push(at, Op::Const(Const::Int(*k)), vec![])
                    } else {
                        self.value(k)?
                    };
                    self.push(at, Op::Table(id::GETITEM), vec![v, k])
                }
                Step::Of(a) => {
                    let a = self.value(a)?;
                    self.push(at, Op::Table(id::GETITEM), vec![a, v])
                }
                Step::Applied(f) => {
                    let f = self.again(at, f)?;
                    self.push(at, Op::Call { keywords: [].into() }, vec![f, v])
                }
            };
        }
        Ok(v)
    }

    /// A constant, or a function that is a global or an attribute of one, found again in this block.
    pub(super) fn again(&mut self, at: Block, v: Value) -> Result<Value> {
        let Some(node) = self.defs.inst(v).map(|i| self.outer.inst(i)) else { return self.value(v) };
        if let Op::Global(_) | Op::Const(_) = node.op {
            Ok(self.push(at, node.op.clone(), vec![]))
        } else if let Op::Attr(_) = node.op {
            let of = self.again(at, node.args[0])?;
            Ok(self.push(at, node.op.clone(), vec![of]))
        } else {
            self.value(v)
        }
    }
}
