//! From 3.15 on an iterator takes two places on the stack: itself, and above it an index or NULL, which only
//! the interpreter uses. Here the second places are taken out again, so that the neutral instructions are
//! those of the versions before: what counts slots of the stack (`copy`, `swap`, `list_append`, handlers)
//! counts without them.
//!
//! A walk along every path finds out where they are. On the way it finds the calls of generator expressions,
//! whose operand becomes an iterator.

use super::rewrite::{Fate, rewrite};
use crate::bytecode::stack::{Follow, effect, malformed, walk};
use crate::bytecode::{Constant, Handler, Instr, Opcode};
use crate::diag::Result;

/// The argument of a `push_null` that is the second place of an iterator.
pub(super) const SECOND: u32 = 1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Value,
    /// The second place of an iterator.
    Second,
    /// A generator expression's code or function, and what its caller makes of the operand.
    Generator(Opcode),
}

struct Pairs<'a> {
    insts: &'a [Instr],
    consts: &'a [Constant],
    fates: Vec<Fate>,
    /// How deep the stack is cut by each handler.
    depths: Vec<u32>,
}

/// Without the second places.
pub(super) fn remove(
    insts: &[Instr],
    handlers: &[Handler],
    consts: &[Constant],
) -> Result<(Vec<Instr>, Vec<Handler>)> {
    let unreached = |i: &Instr| if is_second(i) { Fate::Vanishes } else { Fate::Stays(i.arg) };
    let mut pairs = Pairs {
        insts,
        consts,
        fates: insts.iter().map(unreached).collect(),
        depths: handlers.iter().map(|h| h.depth).collect(),
    };
    walk(insts, handlers, &mut pairs)?;
    let mut handlers = handlers.to_vec();
    handlers.iter_mut().zip(pairs.depths).for_each(|(h, depth)| h.depth = depth);
    Ok(rewrite(insts, &pairs.fates, &handlers))
}

fn is_second(i: &Instr) -> bool {
    i.op == Opcode::PushNull && i.arg == SECOND
}

/// Slots without second places.
fn count(slots: &[Slot]) -> u32 {
    slots.iter().filter(|s| **s != Slot::Second).count() as u32
}

impl Follow for Pairs<'_> {
    type Slot = Slot;
    const VALUE: Slot = Slot::Value;

    fn apply(&mut self, at: usize, inst: Instr, stack: &mut Vec<Slot>) -> Result<()> {
        self.fates[at] = self.fate(at, inst, stack)?;
        Ok(())
    }

    /// Without the iterator, its second place and what `for_iter` has pushed; `fate` has seen that they are
    /// there.
    fn jumped(&self, inst: Instr, stack: &mut Vec<Slot>) {
        let height = stack.len();
        if inst.op == Opcode::ForIter {
            stack.truncate(height - 3);
        } else if inst.op == Opcode::Send {
            stack.drain(height - 3..height - 1);
        }
    }

    fn cut(&mut self, handler: usize, left: &[Slot]) {
        self.depths[handler] = count(left);
    }
}

impl Pairs<'_> {
    /// Changes the stack; what becomes of the instruction.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what looks deeper than it takes is listed: any other instruction takes and gives by its numbers"
    )]
    fn fate(&self, at: usize, inst: Instr, stack: &mut Vec<Slot>) -> Result<Fate> {
        use Opcode::*;
        let (pops, pushes) = effect(inst.op, inst.arg);
        let (n, height) = (inst.arg as usize, stack.len());
        let deep = match inst.op {
            Copy | Swap | CallExit => n,
            ListAppend | ListExtend | SetAdd | SetUpdate | MapAdd | MapUpdate | MapMerge => pops + n,
            ForIter => 2,
            Send => 3,
            _ => pops,
        };
        if deep > height || deep == 0 && matches!(inst.op, Copy | Swap) {
            return Err(malformed(self.insts, at, "the stack is too short"));
        }
        let looked_at = height - deep;
        let without =
            |above: usize| n as u32 - (deep - above) as u32 + count(&stack[looked_at..height - above]);
        let mut fate = Fate::Stays(inst.arg);
        match inst.op {
            PushNull if inst.arg == SECOND => {
                stack.push(Slot::Second);
                return Ok(Fate::Vanishes);
            }
            Pop if stack.last() == Some(&Slot::Second) => {
                stack.pop();
                return Ok(Fate::Vanishes);
            }
            Swap => {
                let fate = self.swap(at, &stack[looked_at..])?;
                stack.swap(height - 1, looked_at);
                return Ok(fate);
            }
            Copy if stack[looked_at] != Slot::Second => {
                fate = Fate::Stays(without(0));
                stack.push(stack[looked_at]);
                return Ok(fate);
            }
            CallExit => fate = Fate::Stays(without(0)),
            ListAppend | ListExtend | SetAdd | SetUpdate | MapAdd | MapUpdate | MapMerge => {
                fate = Fate::Stays(without(pops));
            }
            ForIter if stack[height - 1] != Slot::Second => {
                return Err(malformed(self.insts, at, "no iterator"));
            }
            Send if stack[height - 2] != Slot::Second => {
                return Err(malformed(self.insts, at, "no iterator"));
            }
            Call if n == 0 => {
                if let Slot::Generator(iterator) = stack[height - 2] {
                    fate = Fate::Behind(iterator);
                }
            }
            _ => {}
        }
        if stack[height - pops..].contains(&Slot::Second) {
            return Err(malformed(self.insts, at, "the second place of an iterator where a value is needed"));
        }
        let pushed = match inst.op {
            LoadConst => self.generator(n),
            // Its code lies on top.
            MakeFunction => stack[height - 1],
            _ => Slot::Value,
        };
        stack.truncate(height - pops);
        stack.resize(height - pops + pushes, pushed);
        Ok(fate)
    }

    /// The top and the lowest of these change places.
    fn swap(&self, at: usize, slots: &[Slot]) -> Result<Fate> {
        let values = count(slots);
        match (slots[0], slots[slots.len() - 1]) {
            (Slot::Second, Slot::Second) => Ok(Fate::Vanishes),
            // A value that passes nothing but second places stays where it is.
            (Slot::Second, _) | (_, Slot::Second) if values == 1 => Ok(Fate::Vanishes),
            (Slot::Second, _) | (_, Slot::Second) => {
                Err(malformed(self.insts, at, "the second place of an iterator changes places with a value"))
            }
            _ => Ok(Fate::Stays(values)),
        }
    }

    /// Whether a constant is the code of a generator expression; no other function can have its name.
    fn generator(&self, constant: usize) -> Slot {
        match self.consts.get(constant) {
            Some(Constant::Code(c)) if &*c.name == "<genexpr>" => {
                let first = c.insts.iter().find(|i| matches!(i.op, Opcode::ForIter | Opcode::GetAsyncNext));
                let asynchronous = first.is_some_and(|i| i.op == Opcode::GetAsyncNext);
                Slot::Generator(if asynchronous { Opcode::GetAsyncIter } else { Opcode::GetIter })
            }
            _ => Slot::Value,
        }
    }
}
