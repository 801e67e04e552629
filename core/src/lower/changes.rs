//! What the code of a compilation may do to lists that it is given, and to anything at all.

use super::apart::summary;
use crate::diag::{Code, Diagnostic, Result};
use crate::infer::state::Session;
use crate::ops::{Effect, OpDef, id};
use crate::ssa::{InstanceId, Loc, Op};
use crate::types::{ClassDef, Kind, Type};
use std::collections::HashMap;

/// Whether it may change any that `root` is given.
pub fn changes_lists(session: &Session<'_>, root: InstanceId) -> bool {
    let args = &session.at(root).key.args;
    match summary(session, root, &mut HashMap::new()) {
        Some(does) => does.written.iter().any(|k| args[*k].holds_list()),
        None => changes_any(session),
    }
}

/// Whether it may change any list at all: also one that it made and a generator has yielded.
pub fn changes_any(session: &Session<'_>) -> bool {
    let typed = session.instances.iter().filter_map(|i| i.typed.as_ref());
    typed.flat_map(|t| t.func.insts.iter().map(|node| (&t.func, node))).any(|(func, node)| {
        let Op::Apply(op) = node.op else { return matches!(node.op, Op::Region(_) | Op::Task(_)) };
        op.effect == Effect::Writes && node.args.iter().any(|a| func.types[a.index()].holds_list())
    })
}

/// Whether it may change anything: a list, an array or an object, also one that it made, or what is outside of
/// the program.
pub fn changes_something(session: &Session<'_>) -> bool {
    let typed = session.instances.iter().filter_map(|i| i.typed.as_ref());
    typed.flat_map(|t| &t.func.insts).any(|node| {
        matches!(&node.op, Op::Apply(op) if op.effect == Effect::Writes)
            || matches!(node.op, Op::Region(_) | Op::Task(_) | Op::Yield | Op::SetAttr(_))
    })
}

/// Whether all that it may change is what the call was given a copy of, or has made: lists, dicts, sets, deques and
/// instances of ordinary classes. What it has changed by then is forgotten where these are not written back.
pub fn keeps_to_copies(session: &Session<'_>, root: InstanceId) -> bool {
    let at = session.at(root);
    if at.func.is_generator || at.key.args.iter().any(|t| runs_elsewhere(*t)) {
        return false;
    }
    let typed = session.instances.iter().filter_map(|i| i.typed.as_ref());
    typed.flat_map(|t| t.func.insts.iter().map(|node| (&t.func, node))).all(|(func, node)| {
        let Op::Apply(op) = node.op else {
            return !matches!(node.op, Op::Region(_) | Op::Task(_) | Op::SetAttr(_));
        };
        let first = || node.args.first().map(|a| func.types[a.index()]);
        op.effect != Effect::Writes || is_nobodys(op) || !is_seen(op) && first().is_some_and(is_copied)
    })
}

/// Whether values of a type are, or hold, generators: a step of one is taken for good.
fn runs_elsewhere(t: Type) -> bool {
    matches!(t.kind(), Kind::Generator(..) | Kind::Random) || t.arguments().iter().any(runs_elsewhere)
}

/// Whether an argument of that type is a copy, however it is reached. That it is one of those that Python sees in
/// native memory the call itself finds out.
#[expect(clippy::wildcard_enum_match_arm, reason = "only what a file of conversions copies in is a copy")]
fn is_copied(t: Type) -> bool {
    match t.kind() {
        Kind::List(_) | Kind::Container(..) => true,
        Kind::Object(class, _) => !class.is_native(),
        Kind::Optional(t) => is_copied(*t),
        _ => false,
    }
}

/// Refuses what may give back, or put elsewhere, dicts of known keys that lie in what Python passes, where its answer
/// is promised: they are values here, and each would be another dict.
pub fn leaves_rows(session: &Session<'_>, root: InstanceId) -> Result<()> {
    let at = session.at(root);
    let mut held = vec![];
    for t in at.key.args.iter().flat_map(|t| t.arguments().iter()) {
        rows_of(t, &mut held);
    }
    if held.is_empty() {
        return Ok(());
    }
    let mut given = vec![];
    rows_of(at.ret, &mut given);
    rows_of(at.yields, &mut given);
    let moved = || match summary(session, root, &mut HashMap::new()) {
        Some(does) => does.written.iter().any(|k| {
            let mut all = vec![];
            rows_of(at.key.args[*k], &mut all);
            !all.is_empty()
        }),
        None => changes_any(session),
    };
    if !given.iter().any(|class| held.contains(class)) && !moved() {
        return Ok(());
    }
    let text = "dicts whose values have several types, in an argument, can only be read in compiled code: those that are returned or moved would be other dicts";
    Err(Diagnostic::new(Code::UnsupportedArgument, text)
        .help("give back positions, or let Python do what moves them")
        .at(at.func.span(Loc { line: at.func.first_line, ..Loc::default() })))
}

/// The classes of the dicts of known keys in a type.
fn rows_of(t: Type, all: &mut Vec<*const ClassDef>) {
    if let Kind::NamedTuple(class, _) = t.kind()
        && class.is_keywords()
    {
        all.push(std::ptr::from_ref(*class));
    }
    for part in t.arguments().iter() {
        rows_of(part, all);
    }
}

/// What changes nothing that the program has.
fn is_nobodys(op: &OpDef) -> bool {
    const OWN: [&str; 2] = ["exc.", "cell."];
    let own = [id::ITER_DROP, id::INTERRUPT_POLL, id::OBJECT_NEW];
    op.paths.iter().any(|p| OWN.iter().any(|own| p.starts_with(own)) || own.iter().any(|o| o.name() == *p))
}

/// What is seen outside of the program or in the state of a module, whatever it is given.
fn is_seen(op: &OpDef) -> bool {
    const SEEN: [&str; 7] = ["text.", "random.", "pyrandom.", "numpy.", "tierup.", "parallel.", "bins."];
    let prints = id::BUILTINS_PRINT.name();
    op.paths.iter().any(|p| *p == prints || SEEN.iter().any(|seen| p.starts_with(seen)))
}
