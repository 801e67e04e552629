//! From 3.15 on an iterator takes two places on the stack: itself, and above it an index or NULL, which only
//! the interpreter uses. Here the second places are taken out again, so that the neutral instructions are
//! those of the versions before: what counts slots of the stack (`copy`, `swap`, `list_append`, handlers)
//! counts without them.
//!
//! A walk along every path finds out where they are. On the way it finds the calls of generator expressions,
//! whose operand becomes an iterator.

use super::unsupported;
use crate::bytecode::stack::effect;
use crate::bytecode::{Constant, Handler, Instr, Opcode};
use crate::diag::{Diagnostic, Result};

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

/// What becomes of an instruction.
#[derive(Clone, Copy)]
enum Fate {
    /// It stays, with this argument.
    Stays(u32),
    Vanishes,
    /// This one comes before it.
    Behind(Opcode),
}

struct Walk<'a> {
    insts: &'a [Instr],
    handlers: &'a [Handler],
    consts: &'a [Constant],
    /// The stack with which each instruction was reached.
    entries: Vec<Option<Vec<Slot>>>,
    work: Vec<usize>,
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
    let mut walk = Walk {
        insts,
        handlers,
        consts,
        entries: vec![None; insts.len()],
        work: vec![],
        fates: insts.iter().map(unreached).collect(),
        depths: handlers.iter().map(|h| h.depth).collect(),
    };
    if !insts.is_empty() {
        walk.arrive(0, &[])?;
    }
    while let Some(at) = walk.work.pop() {
        walk.follow(at)?;
    }
    Ok(walk.rewritten())
}

fn is_second(i: &Instr) -> bool {
    i.op == Opcode::PushNull && i.arg == SECOND
}

/// Slots without second places.
fn count(slots: &[Slot]) -> u32 {
    slots.iter().filter(|s| **s != Slot::Second).count() as u32
}

impl Walk<'_> {
    fn malformed(&self, at: usize, what: &str) -> Diagnostic {
        let line = self.insts.get(at).map_or(0, |i| i.at.line);
        unsupported(format!("malformed bytecode: {what} at instruction {at}, line {line}"))
    }

    fn arrive(&mut self, at: usize, stack: &[Slot]) -> Result<()> {
        match self.entries.get_mut(at) {
            None => Err(self.malformed(at, "control runs off the end")),
            Some(Some(known)) if known.len() != stack.len() => {
                let heights = format!("stacks of {} and {} values meet", known.len(), stack.len());
                Err(self.malformed(at, &heights))
            }
            Some(Some(_)) => Ok(()),
            Some(entry) => {
                *entry = Some(stack.to_vec());
                self.work.push(at);
                Ok(())
            }
        }
    }

    /// One instruction, and what may come after it.
    fn follow(&mut self, at: usize) -> Result<()> {
        let Some(mut stack) = self.entries[at].clone() else { return Ok(()) };
        let inst = self.insts[at];
        if let Some(k) = self.handlers.iter().position(|h| (h.start..h.end).contains(&(at as u32))) {
            let Handler { depth, lasti, target, .. } = self.handlers[k];
            let Some(cut) = stack.get(..depth as usize) else {
                return Err(self.malformed(at, "the stack is too short for the handler"));
            };
            self.depths[k] = count(cut);
            let mut cut = cut.to_vec();
            cut.resize(depth as usize + lasti as usize + 1, Slot::Value);
            self.arrive(target as usize, &cut)?;
        }
        self.fates[at] = self.apply(at, inst, &mut stack)?;
        if inst.op.jumps() {
            let mut there = stack.clone();
            let height = there.len();
            // The iterator, its second place and what lies above; all three are there, as `apply` has seen.
            if inst.op == Opcode::ForIter {
                there.truncate(height - 3);
            } else if inst.op == Opcode::Send {
                there.drain(height - 3..height - 1);
            }
            self.arrive(inst.arg as usize, &there)?;
        }
        if inst.op.ends() { Ok(()) } else { self.arrive(at + 1, &stack) }
    }

    /// The stack behind an instruction, where it does not jump.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what looks deeper than it takes is listed: any other instruction takes and gives by its numbers"
    )]
    fn apply(&self, at: usize, inst: Instr, stack: &mut Vec<Slot>) -> Result<Fate> {
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
            return Err(self.malformed(at, "the stack is too short"));
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
            ForIter if stack[height - 1] != Slot::Second => return Err(self.malformed(at, "no iterator")),
            Send if stack[height - 2] != Slot::Second => return Err(self.malformed(at, "no iterator")),
            Call if n == 0 => {
                if let Slot::Generator(iterator) = stack[height - 2] {
                    fate = Fate::Behind(iterator);
                }
            }
            _ => {}
        }
        if stack[height - pops..].contains(&Slot::Second) {
            return Err(self.malformed(at, "the second place of an iterator where a value is needed"));
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
                Err(self.malformed(at, "the second place of an iterator changes places with a value"))
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

    fn rewritten(self) -> (Vec<Instr>, Vec<Handler>) {
        let mut out = Vec::with_capacity(self.insts.len());
        // Where each instruction begins now.
        let mut starts = Vec::with_capacity(self.insts.len() + 1);
        for (inst, fate) in self.insts.iter().zip(&self.fates) {
            starts.push(out.len() as u32);
            match fate {
                Fate::Vanishes => {}
                Fate::Stays(arg) => out.push(Instr { arg: *arg, ..*inst }),
                Fate::Behind(op) => out.extend([Instr { op: *op, arg: 0, at: inst.at }, *inst]),
            }
        }
        starts.push(out.len() as u32);
        let moved = |at: u32| starts[at as usize];
        for i in &mut out {
            if i.op.jumps() {
                i.arg = moved(i.arg);
            }
        }
        let handlers = self.handlers.iter().zip(self.depths).map(|(h, depth)| Handler {
            start: moved(h.start),
            end: moved(h.end),
            target: moved(h.target),
            depth,
            lasti: h.lasti,
        });
        (out, handlers.filter(|h| h.start < h.end).collect())
    }
}
