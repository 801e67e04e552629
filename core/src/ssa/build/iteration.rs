//! Loops over iterators: how they begin, step and are left.

use super::{Builder, Slot};
use crate::bytecode::Opcode;
use crate::diag::Result;
use crate::ops::{id, is_method_of_table};
use crate::ssa::names::{Meaning, Root};
use crate::ssa::{Block, BlockCall, InstNode, Op, Term, Value};
use crate::types::Const;

impl Builder<'_> {
    /// What the program's own functions and methods give is iterated over by the loop alone: where the loop is left,
    /// that is dropped. Of what operations of the table give nobody has to know when, but for those that hold it:
    /// `enumerate(f(x))`.
    pub(super) fn get_iter(&mut self) -> Result<()> {
        let Slot::Value(over) = self.slot(1)? else { return self.operation(id::BUILTINS_ITER, 1) };
        let own = self.is_given_by_program(over);
        self.operation(id::BUILTINS_ITER, 1)?;
        if own && let Slot::Value(state) = self.slot(1)? {
            self.iterators.insert(state);
        }
        Ok(())
    }

    /// Whether a function or a method of the program's own gives a value, or what an operation makes it of. What is
    /// called may be a parameter, or lie in a table: operations are called by their names.
    pub(super) fn is_given_by_program(&self, v: Value) -> bool {
        if self.given.contains(&v) {
            return true;
        }
        let Some(InstNode { op: Op::Call { .. }, args, .. }) = self.def(v) else { return false };
        let known = match args.first().and_then(|callee| self.def(self.origin(*callee))) {
            Some(callee) => self.is_known_operation(callee),
            None => false,
        };
        !known || args[1..].iter().any(|arg| self.is_given_by_program(*arg))
    }

    fn is_known_operation(&self, callee: &InstNode) -> bool {
        if let Op::Global(name) = &callee.op {
            self.outside.names.meaning(Root::Global(name), &[]).is_some()
        } else if let Op::Attr(name) = &callee.op {
            self.is_known_attribute(callee, name)
        } else {
            false
        }
    }

    /// Whether it is something that a loop makes an iterator of for itself: `f() if c else ()`.
    pub(super) fn is_no_iterator(&self, v: Value) -> bool {
        let displays = [id::TUPLE_BUILD, id::LIST_BUILD, id::SET_BUILD, id::DICT_BUILD];
        match self.def(v).map(|made| &made.op) {
            Some(Op::Const(_)) => true,
            Some(Op::Table(op)) => displays.contains(op),
            Some(_) | None => false,
        }
    }

    /// Whether an attribute that is called is an operation: of a module, or a method of that name.
    fn is_known_attribute(&self, callee: &InstNode, name: &str) -> bool {
        let names = self.outside.names;
        let of = callee.args.first().and_then(|of| self.def(self.origin(*of))).map(|of| &of.op);
        if let Some(Op::Global(root)) = of
            && let Some(Meaning::Module) = names.meaning(Root::Global(root), &[])
        {
            return names.meaning(Root::Global(root), &[name]).is_some();
        }
        is_method_of_table(name)
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

    /// An exception that is raised here leaves the loops whose iterators its handler does not have on the stack, the
    /// innermost first. Up to here they are alive, as on Python's stack: what handlers and `finally` blocks in a loop
    /// do comes before the end of its generator.
    pub(super) fn leave_loops(&mut self) -> Result<()> {
        let handler = self.flow.blocks[self.at.index()].handler.map(|h| self.code.handlers[h]);
        let kept = handler.map_or(0, |h| h.depth as usize);
        for at in (kept..self.state.stack.len()).rev() {
            if let Slot::Value(v) = self.state.stack[at]
                && self.iterators.contains(&v)
            {
                self.table(id::ITER_DROP, vec![v])?;
            }
        }
        Ok(())
    }

    /// `iter.next` gives the next state, whether there is a value, and the value. State and value are taken
    /// where there is one.
    pub(super) fn for_iter(&mut self, index: usize, target: usize) -> Result<()> {
        let state = self.pop()?;
        let next = self.table(id::ITER_NEXT, vec![state])?;
        let more = self.member(next, 1)?;
        let done = self.edge_at(target)?;
        self.step_on(index, (state, next, more), done)
    }

    /// Where there is a value, state and value are taken; where there is none, `done` is next.
    fn step_on(
        &mut self,
        index: usize,
        (state, next, more): (Value, Value, Value),
        done: BlockCall,
    ) -> Result<()> {
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

    /// One step of `yield from`: what the generator was sent is sent on. What comes behind it finds the value of the
    /// whole expression.
    pub(super) fn send(&mut self, index: usize, target: usize) -> Result<()> {
        let (sent, state) = (self.pop()?, self.pop()?);
        let next = self.table(id::ITER_SEND, vec![state, sent])?;
        let more = self.member(next, 1)?;
        let from = self.block;
        let ended = self.func.make_block();
        self.block = ended;
        let last = self.member(next, 0)?;
        self.ends_delegation(last, state, target)?;
        self.block = from;
        self.step_on(index, (state, next, more), BlockCall { block: ended, args: vec![] })
    }

    /// The first step of `yield from` sends None. To a generator that is new it delivers nothing.
    pub(super) fn begins_delegation(&mut self, next: usize) {
        let [.., Slot::Value(state), Slot::Value(_)] = self.state.stack[..] else { return };
        if self.code.insts[next].op == Opcode::Send && self.iterators.contains(&state) {
            self.state.stack.pop();
            let nothing = self.undef();
            self.push(nothing);
        }
    }

    /// What is delegated to has ended: goes on behind `yield from`, whose value a statement drops.
    fn ends_delegation(&mut self, state: Value, over: Value, target: usize) -> Result<()> {
        let value = if self.code.insts[target].op == Opcode::Pop {
            self.constant(Const::None)?
        } else {
            let new = self.constant(Const::Bool(self.iterators.contains(&over)))?;
            self.table(id::ITER_RESULT, vec![state, new])?
        };
        self.push(value);
        let on = self.edge_at(target)?;
        self.pop()?;
        self.terminate(Term::Jump(on));
        Ok(())
    }

    /// `yield`. What the generator is handling is nobody else's business: it is put away, and taken up again
    /// when the generator goes on, by an exception (that closes it) too. What is thrown into a generator that delegates
    /// to another one is thrown on to that one, which may yield again: `target` is behind the delegation.
    pub(super) fn suspend(&mut self, v: Value, delegates: Option<usize>) -> Result<()> {
        let depth = self.state.stack.iter().filter(|s| **s == Slot::Handled).count();
        if depth == 0 && delegates.is_none() {
            return self.result(Op::Yield, vec![v]);
        }
        let (mut given, mut yields) = (v, self.block);
        if delegates.is_some() {
            // What is delegated to yields here as well when something was thrown into it.
            yields = self.func.make_block();
            given = self.func.add_param(yields);
            self.terminate(Term::Jump(BlockCall { block: yields, args: vec![v] }));
            self.block = yields;
        }
        let mut handled = vec![];
        for _ in 0..depth {
            handled.push(self.table(id::EXC_CURRENT, vec![])?);
            self.pop_handled()?;
        }
        let back = self.func.make_block();
        let exc = self.func.add_param(back);
        let to = Some(BlockCall { block: back, args: vec![] });
        let sent = self.func.push(self.block, Op::Yield, vec![given], self.loc, to);
        for e in handled.iter().rev() {
            self.func.push(self.block, Op::PushHandled, vec![*e], self.loc, None);
            self.func.push(back, Op::PushHandled, vec![*e], self.loc, None);
        }
        let on = std::mem::replace(&mut self.block, back);
        match delegates {
            None => {
                self.table(id::EXC_THROWN, vec![exc])?;
                let raised = Term::Raise { exc, unwind: self.unwind()? };
                self.terminate(raised);
            }
            Some(target) => self.throw_on(exc, yields, target)?,
        }
        self.block = on;
        self.done = false;
        self.push(sent);
        Ok(())
    }

    fn throw_on(&mut self, exc: Value, yields: Block, target: usize) -> Result<()> {
        let state = self.pop()?;
        let new = self.constant(Const::Bool(self.iterators.contains(&state)))?;
        let next = self.table(id::ITER_THROW, vec![state, exc, new])?;
        let (more, value) = (self.member(next, 0)?, self.member(next, 1)?);
        let from = self.block;
        let ended = self.func.make_block();
        self.block = ended;
        self.ends_delegation(state, state, target)?;
        self.block = from;
        let again = BlockCall { block: yields, args: vec![value] };
        self.two_way(more, again, BlockCall { block: ended, args: vec![] });
        self.push(state);
        Ok(())
    }
}
