//! Lists and generators that iterations of a parallel loop share, where some of them change: whoever looks at
//! one meanwhile takes its lock.
//!
//! ```python
//! for i in prange(n): rows[k[i]].append(i)        # another iteration may read the same row, or make it longer
//! ```
//!
//! An element is several machine words and a reference, and a list that grows moves; so a race between
//! iterations would read freed memory. What is guarded is told by type: lists of a type that code reachable
//! from a parallel loop changes, unless the list was made there and nobody else has it yet. Nothing else
//! pays, programs without such loops least of all. Stores of plain numbers into lists need no lock: no length
//! changes, and a number that is read half is the program's own race.

use super::{callees, generator, moves};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::locks::Shared;
use crate::host::GlobalValue;
use crate::infer::state::Session;
use crate::ops::{Effect, Lists, OpDef, id};
use crate::ssa::{Func, Inst, InstNode, InstanceId, Op, Parts, Value};
use crate::types::{Kind, Type, object};
use std::collections::HashSet;

/// What the parallel loops of a module change.
pub(crate) struct Guard {
    pub shared: Shared,
    bodies: Vec<InstanceId>,
    /// Code that runs in them.
    inside: HashSet<InstanceId>,
    /// Bodies that may run in order.
    lenient: HashSet<InstanceId>,
    /// Types of objects that iterations are given, be it in others: they may share one.
    objects: HashSet<Type>,
    /// Types of lists and containers that bodies are given, be it in others, and of those in global values.
    lists: HashSet<Type>,
    /// Those that others have as well.
    lent: HashSet<Type>,
    /// Who runs at the same time, for an error.
    who: &'static str,
}

const TASKS: &str = "tasks";
const HELP_OF_TASKS: &str = "give each task one of its own, and send what they find through a channel";

/// What has to be guarded in the instances that `root` reaches; none where nothing has.
pub(crate) fn find(session: &Session<'_>) -> Result<Option<Guard>> {
    let Some(mut guard) = Guard::of_bodies(session) else { return Ok(None) };
    let made = generator::typed(session);
    let mut bodies = std::mem::take(&mut guard.bodies);
    // One thread runs the others.
    bodies.retain(|b| !(guard.lenient.contains(b) && guard.refuses(session, *b)));
    guard.inside = bodies.iter().copied().collect();
    let mut todo = bodies.clone();
    while let Some(id) = todo.pop() {
        let Some(typed) = &session.at(id).typed else { continue };
        guard.collect(&typed.func)?;
        todo.extend(
            callees(&typed.func)
                .into_iter()
                .chain(generator::mentioned(&typed.func, &made))
                .filter(|c| guard.inside.insert(*c)),
        );
    }
    guard.with_tasks(session);
    guard.shared.generators =
        bodies.iter().any(|b| session.at(*b).key.args.iter().any(|t| holds_generator(*t)));
    Ok((guard.shared.generators || !guard.shared.lists.is_empty()).then_some(guard))
}

/// Whether one thread has to run the loop with that body, which `func` holds: iterations change what they may
/// share and nothing guards, in a program of Numba's, which has such loops. Others are refused.
pub(super) fn need_order(session: &Session<'_>, func: &Func, id: InstanceId) -> bool {
    func.parallel.has(Parts::LENIENT)
        && Guard::of_bodies(session).is_some_and(|guard| guard.refuses(session, id))
}

impl Guard {
    /// Before anything was looked at but what bodies are given; none where there are no bodies.
    fn of_bodies(session: &Session<'_>) -> Option<Guard> {
        let funcs = || session.instances.iter().filter_map(|i| i.typed.as_ref()).map(|t| &t.func);
        let bodies: Vec<InstanceId> = funcs().flat_map(|f| super::bodies(f)).collect();
        if bodies.is_empty() {
            return None;
        }
        let loop_in = |n: &InstNode| if let Op::Region(body) = n.op { Some(body) } else { None };
        let loops_of = |lenient: bool| {
            let those = funcs().filter(move |f| f.parallel.has(Parts::LENIENT) == lenient);
            those.flat_map(|f| f.insts.iter().filter_map(loop_in)).collect::<HashSet<InstanceId>>()
        };
        let lenient = &loops_of(true) - &loops_of(false);
        let typed = || session.instances.iter().filter_map(|i| i.typed.as_ref());
        let loops = typed().flat_map(|t| &t.func.insts).any(|n| matches!(n.op, Op::Region(_)));
        let who = if loops { "iterations of a prange loop" } else { TASKS };
        let given: Vec<Type> = bodies.iter().flat_map(|b| session.at(*b).key.args.iter().copied()).collect();
        // What was moved to a task is its own.
        let lent = if loops { given.clone() } else { moves::borrowed(session) };
        let mut guard = Guard {
            shared: Shared::default(),
            bodies,
            inside: HashSet::new(),
            lenient,
            objects: HashSet::new(),
            lists: HashSet::new(),
            lent: HashSet::new(),
            who,
        };
        given.iter().for_each(|t| containers_in(*t, &mut guard.lists, &mut HashSet::new()));
        for t in lent {
            objects_in(t, &mut guard.objects);
            containers_in(t, &mut guard.lent, &mut HashSet::new());
        }
        for g in typed().flat_map(|t| t.globals.values()) {
            objects_of(g, &mut guard.objects);
            if let GlobalValue::Passed { ty, .. } = g {
                containers_in(*ty, &mut guard.lists, &mut HashSet::new());
                containers_in(*ty, &mut guard.lent, &mut HashSet::new());
            }
        }
        Some(guard)
    }

    /// Whether code that runs in that body changes what it must not.
    fn refuses(&self, session: &Session<'_>, body: InstanceId) -> bool {
        let made = generator::typed(session);
        let (mut seen, mut todo) = (HashSet::from([body]), vec![body]);
        while let Some(id) = todo.pop() {
            let Some(typed) = &session.at(id).typed else { continue };
            if self.refused(&typed.func).is_some() {
                return true;
            }
            let called = callees(&typed.func).into_iter().chain(generator::mentioned(&typed.func, &made));
            todo.extend(called.filter(|c| seen.insert(*c)));
        }
        false
    }
}

/// The types of objects in a type, those that lie in other objects among them.
fn objects_in(t: Type, found: &mut HashSet<Type>) {
    match object::fields(t) {
        Some(fields) if found.insert(t) => fields.iter().for_each(|f| objects_in(*f, found)),
        Some(_) => {}
        None => t.arguments().iter().for_each(|c| objects_in(c, found)),
    }
}

/// The types of lists and containers in a type; objects that were gone through are in `seen`.
fn containers_in(t: Type, found: &mut HashSet<Type>, seen: &mut HashSet<Type>) {
    if let Kind::List(_) | Kind::Container(..) = *t {
        found.insert(t.strong_throughout());
    }
    match object::fields(t) {
        Some(fields) if seen.insert(t) => fields.iter().for_each(|f| containers_in(*f, found, seen)),
        Some(_) => {}
        None => t.arguments().iter().for_each(|c| containers_in(c, found, seen)),
    }
}

/// The types of objects in a global value, which iterations need not be given to have it.
fn objects_of(g: &GlobalValue, found: &mut HashSet<Type>) {
    match g {
        GlobalValue::Passed { ty, .. } => objects_in(*ty, found),
        GlobalValue::Variable { of, .. } => objects_of(of, found),
        GlobalValue::Tuple(_, members) => members.iter().for_each(|m| objects_of(m, found)),
        GlobalValue::Const(_)
        | GlobalValue::Builtin(_)
        | GlobalValue::Module(_)
        | GlobalValue::Function(_)
        | GlobalValue::DType(_)
        | GlobalValue::NamedTupleClass(_)
        | GlobalValue::ExcClass(_)
        | GlobalValue::Class(_)
        | GlobalValue::Member(..)
        | GlobalValue::Time(..)
        | GlobalValue::Slice(_)
        | GlobalValue::Array { .. }
        | GlobalValue::Foreign(_)
        | GlobalValue::TypeExpression(_)
        | GlobalValue::Unsupported(_) => {}
    }
}

fn holds_generator(t: Type) -> bool {
    matches!(*t, Kind::Generator(..)) || t.arguments().iter().any(holds_generator)
}

impl Guard {
    pub(crate) fn covers(&self, id: InstanceId) -> bool {
        self.inside.contains(&id)
    }

    /// Who starts tasks goes on while they run: all code looks at the lists that they may have, and any of it may
    /// change them.
    fn with_tasks(&mut self, session: &Session<'_>) {
        let typed = || session.instances.iter().filter_map(|i| i.typed.as_ref());
        if !typed().flat_map(|t| &t.func.insts).any(|n| matches!(n.op, Op::Task(_))) {
            return;
        }
        for t in typed() {
            let func = &t.func;
            let changes = func.blocks.iter().flat_map(|b| &b.insts).filter_map(|i| {
                let node = func.inst(*i);
                let Op::Apply(op) = node.op else { return None };
                let list = *node.args.first().filter(|_| op.effect == Effect::Writes)?;
                let ty = func.types[list.index()].strong_throughout();
                let shared = matches!(*ty, Kind::List(_)) && self.lists.contains(&ty);
                (shared && !is_own(func, list, *i)).then_some(ty)
            });
            self.shared.lists.extend(changes.collect::<Vec<_>>());
        }
        self.inside.extend((0..session.instances.len()).map(|k| InstanceId(k as u32)));
    }

    /// Adds the types of the lists that a function changes, but for its own.
    fn collect(&mut self, func: &Func) -> Result<()> {
        if let Some(why) = self.refused(func) {
            return Err(why);
        }
        for (i, node, op) in writes(func) {
            for a in &node.args {
                let t = func.types[a.index()];
                let Kind::List(e) = *t else { continue };
                let number = op.means(id::SETITEM)
                    && !e.is_counted()
                    && node.args.get(1).is_some_and(|k| func.types[k.index()].is_index());
                if !number && !is_own(func, *a, i) {
                    self.shared.lists.insert(t.strong_throughout());
                }
                // What else it takes becomes an element, or is read.
                if !op.means(id::LIST_SORT_BY_KEYS) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Why a function cannot run in several threads: it changes what nothing guards.
    fn refused(&self, func: &Func) -> Option<Diagnostic> {
        for (i, node, op) in writes(func) {
            let object = node.args.first().map(|a| func.types[a.index()]);
            if op.is(id::FIELD_SET)
                && let Some(class) = object.filter(|t| self.objects.contains(t))
                && !is_being_made(func, node.args[0])
            {
                let help = "use range, make the object in the loop, or put what is found into an array";
                return Some(self.race(func, node, &class.to_string(), help));
            }
            for a in &node.args {
                let t = func.types[a.index()];
                // Tasks share what they borrow; what a loop's iterations share has more ways to them.
                let alone = self.who == TASKS && !self.lent.contains(&t.strong_throughout());
                if let Kind::Container(c, _) = t.kind()
                    && !alone
                    && !is_own(func, *a, i)
                    && !is_of_one_thread(func, *a)
                {
                    let help = "use range, or give each iteration one of its own";
                    return Some(self.race(func, node, c.name(), help));
                }
                // What else a list takes becomes an element, or is read.
                if let Kind::List(_) = *t
                    && !op.means(id::LIST_SORT_BY_KEYS)
                {
                    break;
                }
            }
        }
        None
    }

    fn race(&self, func: &Func, node: &InstNode, what: &str, help: &'static str) -> Diagnostic {
        Diagnostic::new(Code::ParallelRace, format!("{} change a {what} that they may share", self.who))
            .help(if self.who == TASKS { HELP_OF_TASKS } else { help })
            .at(func.span(node.loc))
    }
}

/// What changes something in a function.
fn writes(func: &Func) -> impl Iterator<Item = (Inst, &InstNode, &'static OpDef)> {
    func.blocks.iter().flat_map(|b| &b.insts).filter_map(|i| {
        let node = func.inst(*i);
        let Op::Apply(op) = node.op else { return None };
        (op.effect == Effect::Writes).then_some((*i, node, op))
    })
}

/// Whether no two threads are in a container at a time: of a channel, which lets in one, or of a function that
/// remembers its results, which has one for each thread.
fn is_of_one_thread(func: &Func, mut container: Value) -> bool {
    loop {
        let Some(node) = func.insts.iter().find(|n| n.result == Some(container)) else { return false };
        let is_channel = matches!(node.op, Op::Member(_))
            && crate::ops::tasks::is_channel(func.types[node.args[0].index()]);
        let is_threads = matches!(node.op, Op::Apply(op) if op.is(id::FUNCTOOLS_REMEMBERED) || op.is(id::FUNCTOOLS_REMEMBERED_IN_ORDER));
        if is_channel || is_threads {
            return true;
        }
        if !renames(func, node) {
            return false;
        }
        container = node.args[0];
    }
}

/// Whether an object is the one that a constructor gives its fields, before anybody else has it.
fn is_being_made(func: &Func, object: Value) -> bool {
    let new = |n: &InstNode| matches!(n.op, Op::Apply(op) if op.is(id::OBJECT_NEW));
    &*func.name == "__init__" && func.blocks[0].params.first() == Some(&object)
        || func.insts.iter().any(|n| n.result == Some(object) && new(n))
}

/// Whether the result is the first operand under another name, that of what a method is bound to included.
fn renames(func: &Func, node: &InstNode) -> bool {
    let bound = || node.args.first().is_some_and(|a| func.types[a.index()].is_bound());
    matches!(node.op, Op::Narrow(_) | Op::CheckBound { .. } | Op::Cast)
        || matches!(node.op, Op::Member(0)) && bound()
        || matches!(node.op, Op::Apply(op) if op.means(id::IADD) || op.means(id::IMUL))
}

/// Whether a list was made by the function itself and nobody else has it when the instruction `at` comes.
fn is_own(func: &Func, list: Value, at: Inst) -> bool {
    let makes = |v: Value| {
        func.blocks.iter().enumerate().find_map(|(b, data)| {
            data.insts.iter().position(|i| func.inst(*i).result == Some(v)).map(|k| (b, k))
        })
    };
    // Behind other names, to where it was made.
    let mut made = list;
    let (home, maker) = loop {
        let Some((b, k)) = makes(made) else { return false };
        let node = func.inst(func.blocks[b].insts[k]);
        if renames(func, node) {
            made = node.args[0];
            continue;
        }
        if matches!(node.op, Op::Apply(op) if op.makes_list()) {
            break (b, k);
        }
        return false;
    };
    let mut names = HashSet::from([made]);
    let mut found = true;
    // Names for it, and where somebody else gets hold of it: places behind which it may not be its maker's
    // alone.
    while found {
        found = false;
        for node in func.blocks.iter().flat_map(|b| &b.insts).map(|i| func.inst(*i)) {
            if renames(func, node)
                && node.args.first().is_some_and(|a| names.contains(a))
                && let Some(r) = node.result
            {
                found |= names.insert(r);
            }
        }
    }
    let gives_away = |i: Inst| {
        let node = func.inst(i);
        let kept =
            renames(func, node) || matches!(node.op, Op::Apply(op) if op.lists().any(Lists::only_looks));
        node.args.iter().enumerate().any(|(k, a)| names.contains(a) && !(kept && k == 0))
            || node.unwind.as_ref().is_some_and(|u| u.args.iter().any(|a| names.contains(a)))
    };
    for (b, data) in func.blocks.iter().enumerate() {
        let passes = data.term.targets().iter().any(|t| t.args.iter().any(|a| names.contains(a)));
        let from = if passes { Some(data.insts.len()) } else { None };
        let first = data.insts.iter().position(|i| gives_away(*i)).or(from);
        if let Some(k) = first
            && comes_to(func, (b, k), (home, maker), at)
        {
            return false;
        }
    }
    true
}

/// Whether control may come from a place to an instruction without passing another place first.
fn comes_to(func: &Func, from: (usize, usize), but: (usize, usize), to: Inst) -> bool {
    if func.blocks[from.0].insts.iter().skip(from.1).any(|i| *i == to) {
        return true;
    }
    let mut seen = HashSet::new();
    let mut todo = vec![from.0];
    while let Some(b) = todo.pop() {
        func.each_edge(crate::ssa::Block::new(b), &mut |_, t| {
            let b = t.block.index();
            if b != but.0 && seen.insert(b) {
                todo.push(b);
            }
        });
    }
    seen.iter().any(|b| func.blocks[*b].insts.contains(&to))
}
