//! What neutral instructions do to the operand stack, and a walk over instructions that follows it along
//! every path ([`walk`]).

use super::{Code, Handler, Instr, Opcode};
use crate::diag::{Code as DiagCode, Diagnostic, Result};

/// Slots popped and pushed where control goes on to the next instruction. Values that an instruction only
/// looks at stay where they are.
pub(crate) fn effect(op: Opcode, arg: u32) -> (usize, usize) {
    use Opcode::*;
    let n = arg as usize;
    match op {
        Swap | DeleteLocal | DeleteCell | DeleteGlobal | DeleteName | MakeCell | Jump | Send
        | SetupAnnotations => (0, 0),
        PushNull | Copy | LoadConst | LoadInt | LoadLiteral | LoadCommon | LoadLocal | SaveLocal
        | Capture | LoadCell | LoadGlobal | LoadName | LoadNames | LoadBuildClass | MakeGenerator
        | ForIter | CallExit | Length | MatchMapping | MatchSequence | MatchKeys | ImportFrom
        | GetAsyncNext => (0, 1),
        Pop | StoreLocal | StoreCell | StoreGlobal | StoreName | DeleteAttr | ListAppend | ListExtend
        | SetAdd | SetUpdate | MapUpdate | MapMerge | BranchFalse | BranchTrue | BranchNone
        | BranchNotNone | Return | Reraise | PopHandled | ImportStar | PrintResult => (1, 0),
        LoadNameOrGlobal | LoadNameOrCell | LoadAttr | LoadSpecial | Positive | Negative | Invert | Not
        | Truth | ListToTuple | GetIter | GetYieldIter | Yield | MatchException | GetAwaitable
        | GetAsyncIter | WrapAsyncValue | EndGenerator => (1, 1),
        PushHandled => (1, 2),
        StoreAttr | DeleteSubscript | MapAdd | EndAsyncFor => (2, 0),
        Binary | Compare | Is | Contains | Subscript | JoinGroup | ImportName => (2, 1),
        MatchGroup => (2, 2),
        StoreSubscript => (3, 0),
        LoadSuperAttr | MatchClass | EndDelegation => (3, 1),
        BuildTuple | BuildList | BuildSet | BuildString | BuildSlice => (n, 1),
        BuildMap => (2 * n, 1),
        BuildKeyedMap => (n + 1, 1),
        Format => (1 + (n >> 2 & 1), 1),
        // An interpolation has a format where the flag below its own says so.
        BuildTemplate => (if n == 0 { 2 } else { 2 + (n - 1 & 1) }, 1),
        Unpack => (1, n),
        UnpackRest => (1, (n & 255) + 1 + (n >> 8)),
        MakeFunction => (1 + (n & 31).count_ones() as usize, 1),
        Call => (n + 2, 1),
        CallNamed => (n + 3, 1),
        CallSpread => (3 + (n & 1), 1),
        Raise => (n, 0),
        TypeParameter => (if n < 16 { 1 } else { 2 }, 1),
    }
}

/// What a walk knows of slots, and what instructions do to them.
pub(crate) trait Follow {
    type Slot: Copy;
    /// Any value.
    const VALUE: Self::Slot;
    /// Makes the stack behind an instruction of the one before it, where it does not jump.
    fn apply(&mut self, at: usize, inst: Instr, stack: &mut Vec<Self::Slot>) -> Result<()>;
    /// Makes the stack where the instruction jumps to of the one behind it.
    fn jumped(&self, inst: Instr, stack: &mut Vec<Self::Slot>);
    /// A handler finds this left of the stack.
    fn cut(&mut self, _handler: usize, _left: &[Self::Slot]) {}
}

pub(crate) fn malformed(insts: &[Instr], at: usize, what: &str) -> Diagnostic {
    let line = insts.get(at).map_or(0, |i| i.at.line);
    Diagnostic::new(
        DiagCode::UnsupportedBytecode,
        format!("malformed bytecode: {what} at instruction {at}, line {line}"),
    )
}

/// Follows the stack along every path; the stacks with which instructions are reached.
///
/// # Errors
///
/// A pop from an empty stack, stacks of different heights where paths meet, a handler that counts on more
/// than there is, and what `follow` refuses.
pub(crate) fn walk<F: Follow>(
    insts: &[Instr],
    handlers: &[Handler],
    follow: &mut F,
) -> Result<Vec<Option<Vec<F::Slot>>>> {
    let mut walk = Walk { insts, handlers, entries: insts.iter().map(|_| None).collect(), work: vec![] };
    if !insts.is_empty() {
        walk.arrive(0, &[])?;
    }
    while let Some(at) = walk.work.pop() {
        walk.step(at, follow)?;
    }
    Ok(walk.entries)
}

struct Walk<'a, S> {
    insts: &'a [Instr],
    handlers: &'a [Handler],
    /// The stack with which each instruction was reached.
    entries: Vec<Option<Vec<S>>>,
    work: Vec<usize>,
}

impl<S: Copy> Walk<'_, S> {
    fn arrive(&mut self, at: usize, stack: &[S]) -> Result<()> {
        match self.entries.get_mut(at) {
            None => Err(malformed(self.insts, at, "control runs off the end")),
            Some(Some(known)) if known.len() != stack.len() => {
                let heights = format!("stacks of {} and {} values meet", known.len(), stack.len());
                Err(malformed(self.insts, at, &heights))
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
    fn step<F: Follow<Slot = S>>(&mut self, at: usize, follow: &mut F) -> Result<()> {
        let Some(mut stack) = self.entries[at].clone() else { return Ok(()) };
        let inst = self.insts[at];
        if let Some(k) = handler_of(self.handlers, at) {
            let h = self.handlers[k];
            let Some(left) = stack.get(..h.depth as usize) else {
                return Err(malformed(self.insts, at, "the stack is too short for the handler"));
            };
            follow.cut(k, left);
            let mut left = left.to_vec();
            left.resize(left.len() + h.lasti as usize + 1, F::VALUE);
            self.arrive(h.target as usize, &left)?;
        }
        follow.apply(at, inst, &mut stack)?;
        if inst.op.jumps() {
            let mut there = stack.clone();
            follow.jumped(inst, &mut there);
            self.arrive(inst.arg as usize, &there)?;
        }
        if inst.op.ends() { Ok(()) } else { self.arrive(at + 1, &stack) }
    }
}

/// Which handler an instruction's exceptions go to.
pub(crate) fn handler_of(handlers: &[Handler], at: usize) -> Option<usize> {
    handlers.iter().position(|h| (h.start..h.end).contains(&(at as u32)))
}

/// What lies in a slot of the stack, as far as it matters to who builds SSA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Value,
    /// The mark beside a callable.
    Null,
    /// Pushed by this `save_local`.
    Saved(usize),
}

/// A `store_local` that puts back what a `save_local` took, both by index of the instruction.
pub(crate) type Restore = (usize, usize);

/// Where variables that were saved are put back.
///
/// # Errors
///
/// As for [`walk`]; and the mark beside a callable taken for a value.
pub fn restores(code: &Code) -> Result<Vec<Restore>> {
    let mut found = Restores { insts: &code.insts, found: vec![] };
    walk(&code.insts, &code.handlers, &mut found)?;
    found.found.sort_unstable();
    Ok(found.found)
}

struct Restores<'a> {
    insts: &'a [Instr],
    found: Vec<Restore>,
}

fn is_mark(stack: &[Slot], depth: usize) -> bool {
    stack.len().checked_sub(depth).is_none_or(|at| stack.get(at) == Some(&Slot::Null))
}

impl Follow for Restores<'_> {
    type Slot = Slot;
    const VALUE: Slot = Slot::Value;

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what moves values is listed: any other instruction takes and gives by its numbers"
    )]
    fn apply(&mut self, at: usize, inst: Instr, stack: &mut Vec<Slot>) -> Result<()> {
        let (pops, pushes) = effect(inst.op, inst.arg);
        let (n, height) = (inst.arg as usize, stack.len());
        let deep = if matches!(inst.op, Opcode::Copy | Opcode::Swap) { n } else { pops };
        if deep > height || (matches!(inst.op, Opcode::Copy | Opcode::Swap) && n == 0) {
            return Err(malformed(self.insts, at, "the stack is too short"));
        }
        if let (Opcode::StoreLocal, Some(Slot::Saved(save))) = (inst.op, stack.last()) {
            self.found.push((at, *save));
        }
        match inst.op {
            Opcode::Copy => stack.push(stack[height - n]),
            Opcode::Swap => stack.swap(height - 1, height - n),
            Opcode::SaveLocal => stack.push(Slot::Saved(at)),
            Opcode::PushNull => stack.push(Slot::Null),
            _ => {
                let marks = stack[height - pops..].iter().filter(|s| **s == Slot::Null).count();
                let takes_null =
                    matches!(inst.op, Opcode::Call | Opcode::CallNamed | Opcode::CallSpread | Opcode::Pop);
                let allowed = usize::from(takes_null);
                if marks > allowed || inst.op == Opcode::CallExit && is_mark(stack, n) {
                    return Err(malformed(self.insts, at, "NULL where a value is needed"));
                }
                stack.truncate(height - pops);
                stack.resize(height - pops + pushes, Slot::Value);
            }
        }
        Ok(())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only two instructions leave less on the way that a jump takes"
    )]
    fn jumped(&self, inst: Instr, stack: &mut Vec<Slot>) {
        match inst.op {
            // Without the next value, and without the iterator.
            Opcode::ForIter => stack.truncate(stack.len().saturating_sub(2)),
            Opcode::Send => stack.truncate(stack.len().saturating_sub(1)),
            _ => {}
        }
    }
}
