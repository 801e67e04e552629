//! Which captured variables need a cell.
//!
//! A variable that is never rebound after it was captured travels by value: the outer function keeps an
//! ordinary local variable and `make_function` takes its current value. It becomes a cell when an inner
//! function rebinds it, or when the outer function may rebind it after it was captured, unless nobody can
//! tell:
//!
//! * the function is called on the spot and gone by then (a comprehension; a generator expression or lambda
//!   handed to a call that consumes it: `sum(x * a for x in xs)`, `sorted(xs, key=lambda x: x * a)`);
//! * the store is the one that gives a function the name by which it, or a function that it calls, refers to
//!   it; see [`super::families`].

use super::family::Family;
use super::flow::{Bb, Flow};
use crate::bitset::BitSet;
use crate::bytecode::{Code, Constant, Opcode, Variable, stack};
use crate::ops::method_consumes;
use crate::ssa::names::{Meaning, Names, Root};
use std::sync::Arc;

/// The local variables of `code` that need a cell.
pub(crate) fn find_cells(code: &Code, flow: &Flow, families: &[Family], names: &dyn Names) -> BitSet {
    let mut cells = BitSet::new(code.local_count());
    if code.cellvars.is_empty() {
        return cells;
    }
    let locals = code.local_names();
    for name in &code.cellvars {
        let Some(variable) = locals.iter().position(|n| n == name) else { continue };
        if inner_functions(code, name).any(|f| rebinds(f, name))
            || rebound_after_capture(code, flow, families, names, variable, name)
        {
            cells.insert(variable);
        }
    }
    cells
}

/// Functions of `code`'s constants that capture `name`.
pub(crate) fn inner_functions<'a>(code: &'a Code, name: &'a Arc<str>) -> impl Iterator<Item = &'a Code> {
    code.consts.iter().filter_map(move |c| {
        if let Constant::Code(f) = c
            && f.freevars.contains(name)
        {
            Some(&**f)
        } else {
            None
        }
    })
}

/// Whether `code` or a function inside it binds or deletes its captured variable `name`.
pub(crate) fn rebinds(code: &Code, name: &Arc<str>) -> bool {
    let Some(free) = code.freevars.iter().position(|n| n == name) else { return false };
    let stores = |op: Opcode| op == Opcode::StoreCell || op == Opcode::DeleteCell;
    code.insts.iter().any(|i| stores(i.op) && code.variable(i.arg) == Variable::Free(free as u32))
        || inner_functions(code, name).any(|f| rebinds(f, name))
}

fn rebound_after_capture(
    code: &Code,
    flow: &Flow,
    families: &[Family],
    names: &dyn Names,
    variable: usize,
    name: &Arc<str>,
) -> bool {
    let stores: Vec<usize> = (0..code.insts.len())
        .filter(|i| {
            let inst = &code.insts[*i];
            (inst.op == Opcode::StoreCell || inst.op == Opcode::DeleteCell) && inst.arg as usize == variable
        })
        .collect();
    if stores.is_empty() {
        return false;
    }
    (1..code.insts.len()).any(|made| {
        if code.insts[made].op != Opcode::MakeFunction {
            return false;
        }
        let Some(inner) = code_of(code, made) else { return false };
        let family = families.iter().find(|f| f.members.iter().any(|m| m.made == made));
        let captures = match family {
            Some(f) => f.names.contains(name),
            None => inner.freevars.contains(name),
        };
        if !captures || consumed_at_once(code, flow, names, made, inner) && !hands_on(inner, names, name) {
            return false;
        }
        stores.iter().any(|s| reaches(flow, made, *s))
    })
}

/// The code that `make_function` at `made` takes.
pub(crate) fn code_of(code: &Code, made: usize) -> Option<&Code> {
    let load = code.insts[made.checked_sub(1)?];
    if let Constant::Code(c) = code.consts.get(load.arg as usize)?
        && load.op == Opcode::LoadConst
    {
        Some(c)
    } else {
        None
    }
}

pub(crate) fn block_of(flow: &Flow, inst: usize) -> usize {
    flow.blocks.partition_point(|b| b.end <= inst)
}

/// Whether control can get from instruction `from` to a later execution of instruction `to`.
fn reaches(flow: &Flow, from: usize, to: usize) -> bool {
    let (start, end) = (block_of(flow, from), block_of(flow, to));
    if start == end && to > from {
        return true;
    }
    let mut seen = BitSet::new(flow.blocks.len());
    let after = |b: usize| flow.blocks[b].succs.iter().copied().chain(flow.handler_of(Bb::new(b)));
    let mut work: Vec<Bb> = after(start).collect();
    while let Some(b) = work.pop() {
        if !seen.insert(b.index()) {
            continue;
        }
        if b.index() == end {
            return true;
        }
        work.extend(after(b.index()));
    }
    false
}

/// What lies on the stack, as far as it matters here.
#[derive(Clone, Copy, PartialEq)]
enum Tag {
    Other,
    Null,
    Global(u32),
    /** An attribute of a global variable. */
    OfGlobal(u32, u32),
    /** An attribute of something else. */
    Attr(u32),
    Made,
}

/// Whether a callee is done with what it is given when it returns: the built-in functions and methods that do
/// not say otherwise. What a function of the program does with it nobody knows yet.
fn consumes(code: &Code, names: &dyn Names, callee: Tag) -> bool {
    let text = |n: u32| code.names.get(n as usize).map(|n| &**n);
    let known = |meaning: Option<Meaning>| match meaning {
        Some(Meaning::Operation(op)) => !op.facts().keeps,
        Some(Meaning::Cast(_)) => true,
        Some(Meaning::Module) | None => false,
    };
    let method = |n: u32| text(n).is_some_and(method_consumes);
    match callee {
        Tag::Global(n) => text(n).is_some_and(|n| known(names.meaning(Root::Global(n), &[]))),
        Tag::OfGlobal(root, n) => {
            let (Some(root), Some(name)) = (text(root), text(n)) else { return false };
            match names.meaning(Root::Global(root), &[]) {
                Some(Meaning::Module) => known(names.meaning(Root::Global(root), &[name])),
                Some(Meaning::Operation(_) | Meaning::Cast(_)) | None => method(n),
            }
        }
        Tag::Attr(n) => method(n),
        Tag::Other | Tag::Null | Tag::Made => false,
    }
}

/// Whether a function that `code` makes may keep the captured `name` for later: `[lambda: x for _ in xs]`.
fn hands_on(code: &Code, names: &dyn Names, name: &Arc<str>) -> bool {
    if inner_functions(code, name).next().is_none() {
        return false;
    }
    // Of what cannot be followed nothing is known.
    let Ok(flow) = Flow::new(code, &BitSet::new(code.local_count())) else { return true };
    (1..code.insts.len()).any(|made| {
        let Some(inner) =
            (code.insts[made].op == Opcode::MakeFunction).then(|| code_of(code, made)).flatten()
        else {
            return false;
        };
        inner.freevars.contains(name)
            && (!consumed_at_once(code, &flow, names, made, inner) || hands_on(inner, names, name))
    })
}

/// Whether the function made at `made` is gone when the statement ends, and used by nothing that would show a
/// later change.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what may become of a function is known by pattern: any other use keeps it"
)]
fn consumed_at_once(code: &Code, flow: &Flow, names: &dyn Names, made: usize, inner: &Code) -> bool {
    if ["<listcomp>", "<setcomp>", "<dictcomp>"].contains(&&*inner.name) {
        return true;
    }
    let block = &flow.blocks[block_of(flow, made)];
    let mut stack: Vec<Tag> = vec![];
    let mut generator = &*inner.name != "<genexpr>";
    for (i, inst) in code.insts[..block.end].iter().enumerate().skip(block.start) {
        let Some((pops, pushes)) = stack_effect(inst.op, inst.arg) else { return false };
        let keep = stack.len().saturating_sub(pops);
        let taken = stack.split_off(keep);
        let tag = match inst.op {
            Opcode::PushNull => Tag::Null,
            Opcode::LoadGlobal => Tag::Global(inst.arg),
            Opcode::LoadAttr => match taken.first() {
                Some(Tag::Global(root)) => Tag::OfGlobal(*root, inst.arg),
                Some(_) | None => Tag::Attr(inst.arg),
            },
            Opcode::MakeFunction if i == made => Tag::Made,
            _ => Tag::Other,
        };
        if i > made && taken.contains(&Tag::Made) {
            if !matches!(inst.op, Opcode::Call | Opcode::CallNamed) {
                return false;
            }
            if generator {
                // Slots below the operands: the callable, with NULL on either side or the first operand
                // behind.
                let callable = if taken.first() == Some(&Tag::Null) { taken.get(1) } else { taken.first() };
                return callable.is_some_and(|callee| consumes(code, names, *callee));
            }
            // Calling a generator expression's function gives the generator, which its consumer takes.
            generator = true;
            stack.push(Tag::Made);
            continue;
        }
        for _ in 0..pushes {
            stack.push(tag);
        }
    }
    false
}

/// Slots popped and pushed; none where what lies below changes places, or control goes elsewhere.
fn stack_effect(op: Opcode, arg: u32) -> Option<(usize, usize)> {
    let straight = !op.jumps() && !op.ends() && !matches!(op, Opcode::Copy | Opcode::Swap);
    straight.then(|| stack::effect(op, arg))
}
