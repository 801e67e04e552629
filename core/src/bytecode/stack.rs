//! What neutral instructions do to the operand stack, and a walk over a code object that follows it.

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

/// What lies in a slot of the stack, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Value,
    /// The mark beside a callable.
    Null,
    /// Pushed by this `save_local`.
    Saved(usize),
}

/// A `store_local` that puts back what a `save_local` took, both by index of the instruction.
pub(crate) type Restore = (usize, usize);

/// Follows the stack along every path.
///
/// # Errors
///
/// A pop from an empty stack, stacks of different heights where paths meet, a handler that counts on more
/// than there is, the mark beside a callable taken for a value.
pub fn restores(code: &Code) -> Result<Vec<Restore>> {
    let mut walk = Walk { code, entries: vec![None; code.insts.len()], work: vec![], found: vec![] };
    if !code.insts.is_empty() {
        walk.arrive(0, &[])?;
    }
    while let Some(at) = walk.work.pop() {
        walk.follow(at)?;
    }
    walk.found.sort_unstable();
    Ok(walk.found)
}

struct Walk<'a> {
    code: &'a Code,
    /// The stack with which each instruction was reached.
    entries: Vec<Option<Vec<Slot>>>,
    work: Vec<usize>,
    found: Vec<Restore>,
}

impl Walk<'_> {
    fn malformed(&self, at: usize, what: &str) -> Diagnostic {
        let line = self.code.insts.get(at).map_or(0, |i| i.at.line);
        Diagnostic::new(
            DiagCode::UnsupportedBytecode,
            format!("malformed bytecode: {what} at instruction {at}, line {line}"),
        )
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

    fn handler(&self, at: usize) -> Option<Handler> {
        self.code.handlers.iter().find(|h| (h.start..h.end).contains(&(at as u32))).copied()
    }

    /// One instruction, and what may come after it.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only two instructions leave less on the way that a jump takes"
    )]
    fn follow(&mut self, at: usize) -> Result<()> {
        let Some(mut stack) = self.entries[at].clone() else { return Ok(()) };
        let inst = self.code.insts[at];
        if let Some(h) = self.handler(at) {
            let depth = h.depth as usize;
            if depth > stack.len() {
                return Err(self.malformed(at, "the stack is too short for the handler"));
            }
            let mut cut = stack[..depth].to_vec();
            cut.resize(depth + h.lasti as usize + 1, Slot::Value);
            self.arrive(h.target as usize, &cut)?;
        }
        let top = self.apply(at, inst, &mut stack)?;
        if inst.op.jumps() {
            let mut there = stack.clone();
            match inst.op {
                // Without the next value, and without the iterator.
                Opcode::ForIter => there.truncate(there.len().saturating_sub(2)),
                Opcode::Send => there.truncate(there.len().saturating_sub(1)),
                _ => {}
            }
            self.arrive(inst.arg as usize, &there)?;
        }
        if let (Opcode::StoreLocal, Some(Slot::Saved(save))) = (inst.op, top) {
            self.found.push((at, save));
        }
        if inst.op.ends() { Ok(()) } else { self.arrive(at + 1, &stack) }
    }

    fn is_mark(&self, stack: &[Slot], depth: usize) -> bool {
        stack.len().checked_sub(depth).is_none_or(|at| stack.get(at) == Some(&Slot::Null))
    }

    /// What lay on top, if anything did.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what moves values is listed: any other instruction takes and gives by its numbers"
    )]
    fn apply(&self, at: usize, inst: Instr, stack: &mut Vec<Slot>) -> Result<Option<Slot>> {
        let (pops, pushes) = effect(inst.op, inst.arg);
        let (top, n, height) = (stack.last().copied(), inst.arg as usize, stack.len());
        let deep = if matches!(inst.op, Opcode::Copy | Opcode::Swap) { n } else { pops };
        if deep > height || (matches!(inst.op, Opcode::Copy | Opcode::Swap) && n == 0) {
            return Err(self.malformed(at, "the stack is too short"));
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
                if marks > allowed || inst.op == Opcode::CallExit && self.is_mark(stack, n) {
                    return Err(self.malformed(at, "NULL where a value is needed"));
                }
                stack.truncate(height - pops);
                stack.resize(height - pops + pushes, Slot::Value);
            }
        }
        Ok(top)
    }
}
