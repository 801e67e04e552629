//! Loops over iterators: how they begin, step and are left.

use super::{Builder, Slot};
use crate::bytecode::Opcode;
use crate::diag::Result;
use crate::ops::id;
use crate::ssa::names::Root;
use crate::ssa::{BlockCall, Op, Term, Value};
use crate::types::Const;

impl Builder<'_> {
    /// What the program's own functions give is iterated over by the loop alone: where the loop is left, that is
    /// dropped. Of what operations of the table give nobody has to know when.
    pub(super) fn get_iter(&mut self) -> Result<()> {
        let Slot::Value(over) = self.slot(1)? else { return self.operation(id::BUILTINS_ITER, 1) };
        let made = self.defs.get(over.index()).copied().flatten().map(|i| self.func.inst(i));
        let callee = made.filter(|n| matches!(n.op, Op::Call { .. })).and_then(|n| n.args.first().copied());
        let callee =
            callee.and_then(|c| self.defs.get(c.index()).copied().flatten()).map(|i| &self.func.inst(i).op);
        let own = match callee {
            Some(Op::Global(name)) => self.outside.names.meaning(Root::Global(name), &[]).is_none(),
            Some(Op::MakeFunction { .. } | Op::Free(_)) => true,
            Some(_) | None => false,
        };
        self.operation(id::BUILTINS_ITER, 1)?;
        if own && let Slot::Value(state) = self.slot(1)? {
            self.iterators.insert(state);
        }
        Ok(())
    }

    /// `break` and `return` take the iterators of the loops that they leave from the stack.
    pub(super) fn discard(&mut self) -> Result<()> {
        if let Slot::Value(v) = self.pop_slot()?
            && self.iterators.contains(&v)
        {
            self.table(id::ITER_DROP, vec![v])?;
        }
        Ok(())
    }

    /// `iter.next` gives the next state, whether there is a value, and the value. State and value are taken
    /// where there is one.
    fn advance(&mut self, index: usize, target: usize, exhausted: Option<Value>) -> Result<()> {
        let state = self.pop()?;
        let next = self.table(id::ITER_NEXT, vec![state])?;
        let more = self.member(next, 1)?;
        self.state.stack.extend(exhausted.map(Slot::Value));
        let done = self.edge_at(target)?;
        if exhausted.is_some() {
            self.pop()?;
        }
        // A block of its own: the one that follows may have other predecessors.
        let (from, body) = (self.block, self.func.make_block());
        self.block = body;
        let alone = self.iterators.contains(&state);
        let (state, value) = (self.member(next, 0)?, self.member(next, 2)?);
        if alone {
            self.iterators.insert(state);
        }
        self.state.stack.extend([Slot::Value(state), Slot::Value(value)]);
        let on = self.edge_at(index + 1)?;
        self.terminate(Term::Jump(on));
        self.block = from;
        self.two_way(more, BlockCall { block: body, args: vec![] }, done);
        Ok(())
    }

    pub(super) fn for_iter(&mut self, index: usize, target: usize) -> Result<()> {
        self.advance(index, target, None)
    }

    /// One step of `yield from`: what is sent is always None, and so is the value of the whole expression.
    pub(super) fn send(&mut self, index: usize, target: usize) -> Result<()> {
        self.pop()?;
        if self.code.insts[target].op != Opcode::Pop {
            return Err(self
                .unsupported("the value of `yield from` is", "use `yield from` as a statement of its own"));
        }
        let none = self.constant(Const::None)?;
        self.advance(index, target, Some(none))
    }
}
