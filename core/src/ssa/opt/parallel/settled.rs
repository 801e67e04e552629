//! The rest of a piece behind its first values, where a NaN that comes first is kept.
//!
//! ```python
//! if best == -1 or x[i] < x[best]:
//!     best = i
//! ```
//!
//! Until a piece has a value that is no NaN, an iteration also asks whether there is a value, passes over a NaN
//! and keeps the first one of all ([`super::flags`]). From then on none of that can change: a comparison with a
//! NaN never holds. So the loop is written twice. The first one goes on as the second one, which is the plain
//! loop but for its questions whether there is a value, as soon as that is settled. It mostly is behind one
//! iteration, and what is left is a loop that vectors can run.

use super::outline::Body;
use super::shared::{Kind, Missing, What};
use crate::diag::{Diagnostic, Result};
use crate::ops::id;
use crate::ssa::{Block, BlockCall, Narrow, Op, Term, Value};
use crate::types::Const;
use std::collections::HashMap;

/// Longer loops stand once: what is asked in them costs little beside the rest, and compiling them twice much.
const SPLIT_AT_MOST: usize = 80;

impl Body<'_> {
    /// Whether the loop is written twice.
    pub(super) fn is_split(&self) -> bool {
        let size: usize = self.found.blocks.iter().map(|b| self.outer.block(*b).insts.len()).sum();
        size <= SPLIT_AT_MOST && self.shared.carried.iter().any(|c| c.keeps_first())
    }

    /// Whether a flag no longer changes.
    pub(super) fn is_settled(&self, what: What) -> bool {
        self.settled && matches!(what, What::First(_))
    }

    /// The answer to a question whether there is a value yet, where there is one.
    pub(super) fn known(&self, b: Block) -> Option<bool> {
        let mut kept = self.shared.carried.iter().filter(|c| self.settled && c.keeps_first());
        kept.find_map(|c| c.choice.missing.iter().find(|gate| gate.0 == b)).map(|gate| gate.1 == 1)
    }

    /// Writes the loop again behind the first one with this header, and gives the second one's header. From here
    /// on values, blocks and flags are those of the second one.
    pub(super) fn settle(&mut self, header: Block, outside: HashMap<Value, Value>) -> Result<Block> {
        let (turn, params) = self.turn(header);
        let (at, mut args) = self.ask(turn, header, &params)?;
        self.values = outside;
        self.blocks.clear();
        self.settled = true;
        let variables = self.outer.block(self.found.header).params.len();
        for (flag, value) in self.flags.iter_mut().zip(&params[variables..]) {
            flag.of.clear();
            if let What::First(_) = flag.what {
                flag.of.insert(self.shared.carried[flag.leader].param, *value);
            } else {
                args.push(*value);
            }
        }
        self.make_blocks();
        let second = self.blocks[&self.found.header];
        self.func.blocks[at.index()].term = Term::Jump(BlockCall { block: second, args });
        self.copy_blocks()?;
        Ok(second)
    }

    /// A block between the end of an iteration and the next one, and its parameters: the header's.
    fn turn(&mut self, header: Block) -> (Block, Vec<Value>) {
        let turn = self.func.make_block();
        let count = self.func.block(header).params.len();
        let params = (0..count).map(|_| self.func.add_param(turn)).collect();
        for b in self.blocks.values() {
            let targets: Vec<&mut BlockCall> = match &mut self.func.blocks[b.index()].term {
                Term::Jump(to) => vec![to],
                Term::Branch { then_to, else_to, .. } => vec![then_to, else_to],
                Term::Return(_) | Term::Raise { .. } | Term::Unreachable | Term::None => vec![],
            };
            targets.into_iter().filter(|to| to.block == header).for_each(|to| to.block = turn);
        }
        (turn, params)
    }

    /// Goes back to the first loop where a variable has no value or a NaN. What is left is the block where all have
    /// others, and what the second header gets of variables.
    fn ask(&mut self, turn: Block, header: Block, params: &[Value]) -> Result<(Block, Vec<Value>)> {
        let back = BlockCall { block: header, args: params.to_vec() };
        let outer = self.outer.block(self.found.header).params.clone();
        let mut settled = params[..outer.len()].to_vec();
        let mut at = turn;
        for (k, c) in self.shared.carried.iter().enumerate().filter(|(_, c)| c.keeps_first()) {
            let Kind::Select { missing, .. } = c.kind else { continue };
            let place = outer.iter().position(|p| *p == c.param).ok_or_else(|| {
                Diagnostic::internal("a variable that the header of a parallel loop does not have")
            })?;
            at = self.unless_missing(at, settled[place], missing, &back)?;
            if missing == Missing::None {
                settled[place] = self.push(at, Op::Narrow(Narrow::NotNone), vec![settled[place]]);
            }
            let before = self.func.block(at).insts.len();
            let shown = self.shown(at, settled[place], k)?;
            let nan = self.push(at, Op::Table(id::PARALLEL_IS_NAN), vec![shown]);
            self.pass_over_exceptions(at, before, &back);
            at = self.leave(at, nan, true, &back);
        }
        Ok((at, settled))
    }

    fn unless_missing(&mut self, at: Block, v: Value, missing: Missing, back: &BlockCall) -> Result<Block> {
        match missing {
            Missing::Never => Ok(at),
            Missing::None => {
                let none = self.push(at, Op::Const(Const::None), vec![]);
                let is = self.push(at, Op::Table(id::IS), vec![v, none]);
                Ok(self.leave(at, is, true, back))
            }
            Missing::Marked { test, with, swapped, answer } => {
                let with = self.again(at, with)?;
                let args = if swapped { vec![with, v] } else { vec![v, with] };
                let compared = self.push(at, Op::Table(test), args);
                let truth = self.push(at, Op::Table(id::TRUTH), vec![compared]);
                Ok(self.leave(at, truth, answer, back))
            }
        }
    }

    /// Ends a block: back where a condition is `answer`, else on in a new block.
    fn leave(&mut self, at: Block, cond: Value, answer: bool, back: &BlockCall) -> Block {
        let next = self.func.make_block();
        let on = BlockCall { block: next, args: vec![] };
        let (then_to, else_to) = if answer { (back.clone(), on) } else { (on, back.clone()) };
        self.func.blocks[at.index()].term = Term::Branch { cond, then_to, else_to };
        next
    }

    /// What is compared is found here before the loop asks for it, if it ever does: where that raises, nothing is
    /// settled.
    fn pass_over_exceptions(&mut self, at: Block, first: usize, back: &BlockCall) {
        let insts = self.func.block(at).insts[first..].to_vec();
        let raising: Vec<_> = insts.into_iter().filter(|i| !self.func.inst(*i).op.never_raises()).collect();
        if raising.is_empty() {
            return;
        }
        let handler = self.func.make_block();
        self.func.add_param(handler);
        self.func.blocks[handler.index()].term = Term::Jump(back.clone());
        for i in raising {
            self.func.insts[i.index()].unwind = Some(BlockCall { block: handler, args: vec![] });
        }
    }
}
