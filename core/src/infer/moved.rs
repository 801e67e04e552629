//! `par.move(x)`: nobody uses `x` afterwards, under any name that the function has for it.
//!
//! What is moved is a variable, or a value that nobody else has yet. From the call on, every way through the
//! function is followed: a use of the value, of a view of it or of what holds it is an error, until the
//! variable is given another value. Values of untyped code are followed, so `y = x` is one value with two
//! names already. Where a function moves its own parameter, its caller's variable is the caller's business.

use super::resolved::Source;
use super::state::Solver;
use crate::diag::{Code, Diagnostic};
use crate::ops::id;
use crate::ssa::analysis::Definitions;
use crate::ssa::{Block, BlockCall, Inst, Op, Value};
use std::collections::{BTreeSet, HashMap};

type Names = BTreeSet<Value>;

impl Solver<'_, '_> {
    /// What is wrong with a call of `move`.
    pub(super) fn used_after_move(&self, i: Inst, operand: Option<&Source>) -> Option<Diagnostic> {
        let Some(Source::Value(moved)) = operand else { return None };
        if self.session.is_library(self.func) {
            return None;
        }
        let defs = Definitions::new(self.func);
        let mut root = *moved;
        while let Some(d) = defs.inst(root)
            && let Op::CheckBound { .. } | Op::Narrow(_) = self.func.inst(d).op
        {
            root = self.func.inst(d).args[0];
        }
        let op = defs.inst(root).map(|d| &self.func.inst(d).op);
        if let Some(Op::Global(_) | Op::Free(_)) = op {
            return Some(not_ours("a variable from outside of the function"));
        } else if let Some(Op::Attr(_)) = op {
            return Some(not_ours("an attribute"));
        } else if let Some(Op::Table(id::GETITEM)) = op {
            return Some(not_ours("an element, or a view,"));
        }
        let used = self.used_after(i, &self.names_of(root))?;
        let here = self.func.span(self.func.inst(i).loc);
        let text = "this value was moved before, and may be another task's by now";
        let mut d = Diagnostic::new(Code::UseAfterMove, text)
            .help("send a copy instead, or share it with par.borrow(x)")
            .at(self.func.span(used));
        d.notes.push(("it is moved here".into(), Some(here)));
        Some(d)
    }

    /// Everything in a function that is a value, shows it or holds it.
    fn names_of(&self, root: Value) -> Names {
        let mut names = Names::from([root]);
        loop {
            let before = names.len();
            for node in &self.func.insts {
                let Some(result) = node.result else { continue };
                let of_first = node.args.first().is_some_and(|a| names.contains(a));
                let of_any = || node.args.iter().any(|a| names.contains(a));
                let shows = || self.ty(result).as_array().is_some_and(|a| a.ndim > 0);
                let is_it = matches!(node.op, Op::CheckBound { .. } | Op::Narrow(_)) && of_first;
                let shows_it = matches!(node.op, Op::Table(id::GETITEM) | Op::Attr(_)) && of_first && shows();
                let makes = matches!(node.op, Op::Table(id::TUPLE_BUILD | id::LIST_BUILD | id::DICT_BUILD));
                if is_it || shows_it || makes && of_any() {
                    names.insert(result);
                }
            }
            if names.len() == before {
                return names;
            }
        }
    }

    /// Where one of the names is used behind an instruction.
    fn used_after(&self, i: Inst, names: &Names) -> Option<crate::ssa::Loc> {
        let func = self.func;
        let blocks = (0..func.blocks.len()).map(Block::new);
        let (home, at) = blocks
            .into_iter()
            .find_map(|b| func.block(b).insts.iter().position(|k| *k == i).map(|at| (b, at + 1)))?;
        let mut seen: HashMap<Block, Names> = HashMap::new();
        let mut todo = vec![(home, at, names.clone())];
        while let Some((b, from, mut moved)) = todo.pop() {
            let data = func.block(b);
            for k in &data.insts[from..] {
                let node = func.inst(*k);
                if node.args.iter().any(|a| moved.contains(a)) {
                    return Some(node.loc);
                }
                if let Some(to) = &node.unwind {
                    self.follow(to, &moved, &mut seen, &mut todo);
                }
                if let Some(r) = node.result {
                    // Another turn of a loop gives it anew.
                    moved.remove(&r);
                }
            }
            if data.term.operand().is_some_and(|v| moved.contains(&v)) {
                return Some(data.term_loc);
            }
            for to in data.term.targets() {
                self.follow(to, &moved, &mut seen, &mut todo);
            }
        }
        None
    }

    /// Goes on in a block, where its parameters may be new names, unless it was seen with all names there are.
    fn follow(
        &self,
        to: &BlockCall,
        moved: &Names,
        seen: &mut HashMap<Block, Names>,
        todo: &mut Vec<(Block, usize, Names)>,
    ) {
        let params = &self.func.block(to.block).params;
        // A handler's first parameter is the exception.
        let first = params.len() - to.args.len();
        let mut names: Names = moved.iter().copied().filter(|v| !params.contains(v)).collect();
        names
            .extend(to.args.iter().zip(&params[first..]).filter(|(a, _)| moved.contains(a)).map(|(_, p)| *p));
        let known = seen.entry(to.block).or_default();
        if names.is_subset(known) {
            return;
        }
        known.extend(&names);
        todo.push((to.block, 0, known.clone()));
    }
}

fn not_ours(what: &str) -> Diagnostic {
    Diagnostic::new(Code::NotSendable, format!("{what} cannot be moved: others have it too"))
        .help("send a copy, or share it with par.borrow(x)")
}
