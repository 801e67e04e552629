//! CPython copies short ends of functions to where they were jumped to, so that what stands once in the source
//! is there several times. A copy may be wrong where the source is not: behind `p = Point(n, n) if n else
//! None`, one copy of `return p.x` always sees None. Here the copies become one again.
//!
//! Two ends are copies of each other if they are the same instructions from the same places in the source, with
//! the same handler, on stacks of the same height.

use super::rewrite::{Fate, rewrite};
use crate::bytecode::stack::{Follow, effect, handler_of, malformed, walk};
use crate::bytecode::{Handler, Instr, Opcode};
use crate::diag::Result;

/// Instructions that suit values of every type.
fn suits_all(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::LoadConst
            | Opcode::LoadInt
            | Opcode::LoadLiteral
            | Opcode::LoadLocal
            | Opcode::StoreLocal
            | Opcode::LoadGlobal
            | Opcode::Copy
            | Opcode::Swap
            | Opcode::Pop
            | Opcode::PopHandled
            | Opcode::PushNull
            | Opcode::Return
            | Opcode::Raise
            | Opcode::Reraise
    )
}

/// With one of each end.
pub(super) fn merge(insts: Vec<Instr>, handlers: Vec<Handler>) -> Result<(Vec<Instr>, Vec<Handler>)> {
    let pairs = copies(&insts, &handlers);
    if pairs.is_empty() {
        return Ok((insts, handlers));
    }
    let heights = walk(&insts, &handlers, &mut Heights(&insts))?;
    let height = |at: usize| heights[at].as_ref().map(Vec::len);
    let mut fates: Vec<Fate> = insts.iter().map(|i| Fate::Stays(i.arg)).collect();
    // Who jumps into a copy comes to the same place in the first one.
    let mut instead: Vec<usize> = (0..insts.len()).collect();
    for Copied { first, copy, len } in pairs {
        let same = (0..len).all(|k| height(copy + k).is_none() || height(copy + k) == height(first + k));
        if !same || height(first).is_none() {
            continue;
        }
        fates[copy] = Fate::Jumps(first as u32);
        fates[copy + 1..copy + len].fill(Fate::Vanishes);
        (0..len).for_each(|k| instead[copy + k] = first + k);
    }
    let mut insts = insts;
    for (inst, fate) in insts.iter_mut().zip(&mut fates) {
        if inst.op.jumps() && matches!(fate, Fate::Stays(_)) {
            inst.arg = instead[inst.arg as usize] as u32;
            *fate = Fate::Stays(inst.arg);
        }
    }
    let mut handlers = handlers;
    handlers.iter_mut().for_each(|h| h.target = instead[h.target as usize] as u32);
    Ok(rewrite(&insts, &fates, &handlers))
}

/// `len` instructions from `copy` on are those from `first` on.
struct Copied {
    first: usize,
    copy: usize,
    len: usize,
}

/// Ends that are copies of an earlier one, where one of their instructions may not suit a value.
fn copies(insts: &[Instr], handlers: &[Handler]) -> Vec<Copied> {
    let ends: Vec<usize> =
        (0..insts.len()).filter(|at| insts[*at].op.ends() && insts[*at].op != Opcode::Jump).collect();
    let handler =
        |at: usize| handler_of(handlers, at).map(|k| handlers[k]).map(|h| (h.target, h.depth, h.lasti));
    let mut out = vec![];
    for (n, copy) in ends.iter().enumerate() {
        let end = |first: &usize| {
            let behind = if n == 0 { 0 } else { ends[n - 1] + 1 };
            let len = (0..=*first.min(&(copy - behind)))
                .take_while(|k| {
                    let (a, b) = (first - k, copy - k);
                    insts[a] == insts[b] && !insts[a].op.jumps() && handler(a) == handler(b)
                })
                .count();
            let matters = insts[copy + 1 - len..=*copy].iter().any(|i| !suits_all(i.op));
            matters.then_some(Copied { first: first + 1 - len, copy: copy + 1 - len, len })
        };
        out.extend(ends[..n].iter().find_map(end));
    }
    out
}

struct Heights<'a>(&'a [Instr]);

impl Follow for Heights<'_> {
    type Slot = ();
    const VALUE: () = ();

    fn apply(&mut self, at: usize, inst: Instr, stack: &mut Vec<()>) -> Result<()> {
        let (pops, pushes) = effect(inst.op, inst.arg);
        let Some(left) = stack.len().checked_sub(pops) else {
            return Err(malformed(self.0, at, "the stack is too short"));
        };
        stack.resize(left + pushes, ());
        Ok(())
    }

    fn jumped(&self, inst: Instr, stack: &mut Vec<()>) {
        let gone = 2 * usize::from(inst.op == Opcode::ForIter) + usize::from(inst.op == Opcode::Send);
        stack.truncate(stack.len().saturating_sub(gone));
    }
}

#[cfg(test)]
mod tests {
    use super::merge;
    use crate::bytecode::{Code, text};

    fn merged(body: &str) -> String {
        let code = format!(
            "code \"f\" \"f\" \"a.py\" 1\n args 1 0 0 flags 3\n varnames \"n\" \"p\"\n names \"x\"\n const None\n{body}\nend\n"
        );
        let code = text::parse(&code).expect("the text parses").remove(0);
        let (insts, handlers) = merge(code.insts, code.handlers).expect("the code is sound");
        let lines = Code { insts, handlers, ..Code::default() }.to_string();
        let of_body =
            |l: &&str| l.trim_start().starts_with(|c: char| c.is_ascii_digit()) || l.contains("except");
        let words = |l: &str| l.split('@').next().unwrap_or(l).trim().to_owned();
        lines.lines().filter(of_body).map(words).collect::<Vec<_>>().join("; ")
    }

    const TAIL: [&str; 3] = ["load_local 1 @3:4-5", "load_attr 0 @3:4-7", "return 0 @3:4-7"];

    fn numbered(insts: &[&str]) -> String {
        insts.iter().enumerate().map(|(k, i)| format!(" {k}: {i}\n")).collect()
    }

    #[test]
    fn copies_of_an_end_become_one() {
        let mut insts = vec![
            "load_local 0 @2:4-5",
            "branch_false 7 @2:4-5",
            "load_local 0 @2:4-5",
            "store_local 1 @2:0-1",
        ];
        insts.extend(TAIL);
        insts.extend(["load_const 0 @2:9-13", "store_local 1 @2:0-1"]);
        insts.extend(TAIL);
        // The store in front of it is the same too.
        assert_eq!(
            merged(&numbered(&insts)),
            "0: load_local 0; 1: branch_false 7; 2: load_local 0; 3: store_local 1; 4: load_local 1; 5: load_attr 0; 6: return 0; \
             7: load_const 0; 8: jump 3"
        );
    }

    #[test]
    fn ends_at_other_places_in_the_source_stay() {
        let mut insts = vec!["load_local 0 @2:4-5", "branch_false 5 @2:4-5"];
        insts.extend(TAIL);
        insts.extend(["load_local 1 @5:4-5", "load_attr 0 @5:4-7", "return 0 @5:4-7"]);
        assert!(!merged(&numbered(&insts)).contains("jump"));
    }

    #[test]
    fn ends_that_suit_every_type_stay() {
        let insts = [
            "load_local 0 @2:4-5",
            "branch_false 4 @2:4-5",
            "load_local 1 @3:4-5",
            "return 0 @3:4-5",
            "load_local 1 @3:4-5",
            "return 0 @3:4-5",
        ];
        assert!(!merged(&numbered(&insts)).contains("jump"));
    }

    #[test]
    fn ends_under_other_handlers_or_on_other_stacks_stay() {
        let mut insts = vec!["load_local 0 @2:4-5", "branch_false 5 @2:4-5"];
        insts.extend(TAIL);
        insts.extend(TAIL);
        insts.push("reraise 0 @4:0-1");
        let handled = format!("{} except 2..3 -> 8 depth 0\n", numbered(&insts));
        // The handler covers `load_local` of the first end alone: the copy of what is behind it goes.
        let expected = "5: load_local 1; 6: jump 3; 7: reraise 0; except 2..3 -> 7 depth 0";
        assert!(merged(&handled).ends_with(expected), "{}", merged(&handled));
        let mut insts = vec!["load_local 0 @2:4-5", "load_local 0 @2:4-5", "branch_false 6 @2:4-5"];
        insts.extend(TAIL);
        insts.push("pop 0 @2:4-5");
        insts.extend(TAIL);
        assert!(!merged(&numbered(&insts)).contains("jump"));
    }
}
