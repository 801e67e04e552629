//! `par.move(x)`: nobody uses `x` afterwards, under any name that the function has for it.
//!
//! What is moved is a variable, or a value that nobody else has yet. From the call on, every way through the
//! function is followed: a use of the value, of a view of it or of what holds it is an error, until the
//! variable is given another value. Values are followed, not names, so `y = x` is one value already. A function
//! that moves its own parameter is looked at when all is typed ([`crate::lower::moves`]).

use super::resolved::Source;
use super::state::Solver;
use crate::diag::{Code, Diagnostic};
use crate::ops::id;
use crate::ssa::analysis::Definitions;
use crate::ssa::{Block, BlockCall, Func, Inst, InstNode, Loc, Op, Value};
use crate::types::{IterType, Kind, Type};
use std::collections::{BTreeSet, HashMap};

type Names = BTreeSet<Value>;

impl Solver<'_, '_> {
    /// What is wrong with a call of `move`.
    pub(super) fn used_after_move(&self, i: Inst, operand: Option<&Source>) -> Option<Diagnostic> {
        let Some(Source::Value(moved)) = operand else { return None };
        if self.session.is_library(self.func) {
            return None;
        }
        let defs = Definitions::new(self.func);
        let root = root(self.func, &defs, *moved);
        let node = defs.inst(root).map(|d| self.func.inst(d));
        if let Some(Op::Global(_) | Op::Free(_)) = node.map(|n| &n.op) {
            return Some(not_ours("a variable from outside of the function"));
        } else if let Some(Op::Attr(_)) = node.map(|n| &n.op) {
            return Some(not_ours("an attribute"));
        } else if node.is_some_and(|n| takes_element(n) || self.goes_through(&defs, n)) {
            return Some(not_ours("an element, or a view,"));
        }
        used_after(self.func, &|v| self.ty(v), i, root)
    }

    /// Whether a value is what a loop finds in something that holds its elements.
    fn goes_through(&self, defs: &Definitions, node: &InstNode) -> bool {
        let Op::Member(_) = node.op else { return false };
        let Some(of) = defs.inst(node.args[0]).map(|d| self.func.inst(d)) else { return false };
        if of.op != Op::Table(id::ITER_NEXT) {
            return self.goes_through(defs, of);
        }
        holds_elements(self.ty(of.args[0]))
    }
}

/// Whether what an iterator gives is still where it came from.
fn holds_elements(iterator: Type) -> bool {
    let Kind::Iter(over) = iterator.kind() else { return false };
    match over {
        IterType::List(_) | IterType::Array(_) | IterType::Tuple(_) | IterType::Container(_) => true,
        IterType::Reversed(_) | IterType::NdEnumerate(_) | IterType::Flat(_) => true,
        IterType::Enumerate(inner) => holds_elements(*inner),
        IterType::Zip(all) => all.iter().any(|t| holds_elements(*t)),
        IterType::Range(_) | IterType::Str | IterType::Bytes | IterType::NdIndex(_) => false,
    }
}

/// The value that others are names of.
pub(crate) fn root(func: &Func, defs: &Definitions, mut v: Value) -> Value {
    while let Some(d) = defs.inst(v)
        && is_name(func.inst(d))
    {
        v = func.inst(d).args[0];
    }
    v
}

fn is_name(node: &InstNode) -> bool {
    matches!(node.op, Op::CheckBound { .. } | Op::Narrow(_))
}

fn takes_element(node: &InstNode) -> bool {
    node.op == Op::Table(id::GETITEM) || matches!(node.op, Op::Apply(op) if op.means(id::GETITEM))
}

/// What is wrong if a value is used behind the instruction that gives it away.
pub(crate) fn used_after(
    func: &Func,
    ty: &dyn Fn(Value) -> Type,
    i: Inst,
    root: Value,
) -> Option<Diagnostic> {
    let used = use_behind(func, i, &names_of(func, ty, i, root))?;
    let text = "this value was moved before, and may be another task's by now";
    let mut d = Diagnostic::new(Code::UseAfterMove, text)
        .help("send a copy instead, or share it with par.borrow(x)")
        .at(func.span(used));
    d.notes.push(("it is moved here".into(), Some(func.span(func.inst(i).loc))));
    Some(d)
}

/// Everything in a function that is a value, shows it or holds it.
fn names_of(func: &Func, ty: &dyn Fn(Value) -> Type, i: Inst, root: Value) -> Names {
    let mut names = Names::from([root]);
    loop {
        let before = names.len();
        for (k, node) in func.insts.iter().enumerate() {
            if let Some(holder) = puts_into(func, ty, node, &names)
                && comes_to(func, Inst::new(k), i, root)
            {
                names.insert(self::root(func, &Definitions::new(func), holder));
            }
            let Some(result) = node.result else { continue };
            let of_first = node.args.first().is_some_and(|a| names.contains(a));
            let of_any = || node.args.iter().any(|a| names.contains(a));
            let shows = || ty(result).as_array().is_some_and(|a| a.ndim > 0);
            let views = takes_element(node) || matches!(node.op, Op::Attr(_));
            let holds = matches!(node.op, Op::Table(op) if BUILDS.contains(&op))
                || matches!(node.op, Op::Apply(op) if BUILDS.iter().any(|b| op.means(*b)));
            if of_first && (is_name(node) || views && shows()) || holds && of_any() {
                names.insert(result);
            }
        }
        if names.len() == before {
            return names;
        }
    }
}

/// What an instruction puts one of the names into, be it by a method.
fn puts_into(func: &Func, ty: &dyn Fn(Value) -> Type, node: &InstNode, names: &Names) -> Option<Value> {
    let [first, values @ ..] = &node.args[..] else { return None };
    if !values.iter().any(|v| names.contains(v)) {
        return None;
    }
    let stores = matches!(node.op, Op::SetAttr(_) | Op::Table(id::SETITEM | id::LIST_APPEND))
        || matches!(node.op, Op::Apply(op) if op.means(id::SETITEM) || op.is(id::LIST_APPEND) || op.is(id::FIELD_SET));
    let holder = if stores {
        *first
    } else if let Op::Call { .. } = node.op {
        let method = func.insts.iter().find(|n| n.result == Some(*first))?;
        *method.args.first().filter(|_| matches!(&method.op, Op::Attr(name) if TAKING.contains(&&**name)))?
    } else {
        return None;
    };
    // An array has numbers, and takes a copy of those of another one.
    (ty(holder).as_array().is_none() && !names.contains(&holder)).then_some(holder)
}

/// Methods of containers that keep what they are given.
const TAKING: [&str; 5] = ["append", "appendleft", "add", "insert", "setdefault"];

/// Whether control may come from one instruction to another one without passing the definition of a value.
fn comes_to(func: &Func, from: Inst, to: Inst, but: Value) -> bool {
    let place = |i: Inst| {
        (0..func.blocks.len())
            .map(Block::new)
            .find_map(|b| func.block(b).insts.iter().position(|k| *k == i).map(|at| (b, at)))
    };
    let (Some(from), Some(to)) = (place(from), place(to)) else { return false };
    if from.0 == to.0 && from.1 < to.1 {
        return true;
    }
    let home = Definitions::new(func).block(but);
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from.0]);
    while let Some(b) = todo.pop() {
        func.each_edge(b, &mut |_, t| {
            if Some(t.block) != home && seen.insert(t.block) {
                todo.push(t.block);
            }
        });
    }
    seen.contains(&to.0)
}

const BUILDS: [crate::ops::OpId; 3] = [id::TUPLE_BUILD, id::LIST_BUILD, id::DICT_BUILD];

/// Where one of the names is used behind an instruction.
fn use_behind(func: &Func, i: Inst, names: &Names) -> Option<Loc> {
    let (home, at) = (0..func.blocks.len())
        .map(Block::new)
        .find_map(|b| func.block(b).insts.iter().position(|k| *k == i).map(|at| (b, at + 1)))?;
    let mut ways = Ways { func, seen: HashMap::new(), todo: vec![(home, at, names.clone())] };
    while let Some((b, from, mut moved)) = ways.todo.pop() {
        let data = func.block(b);
        for k in &data.insts[from..] {
            let node = func.inst(*k);
            if node.args.iter().any(|a| moved.contains(a)) {
                return Some(node.loc);
            }
            if let Some(to) = &node.unwind {
                ways.follow(to, &moved);
            }
            if let Some(r) = node.result {
                // Another turn of a loop gives it anew.
                moved.remove(&r);
            }
        }
        if data.term.operand().is_some_and(|v| moved.contains(&v)) {
            return Some(data.term_loc);
        }
        for to in data.term.targets() {
            ways.follow(to, &moved);
        }
    }
    None
}

/// Ways through a function: blocks to go on in, and with which names each was seen.
struct Ways<'a> {
    func: &'a Func,
    seen: HashMap<Block, Names>,
    todo: Vec<(Block, usize, Names)>,
}

impl Ways<'_> {
    /// Goes on in a block, where its parameters may be new names, unless it was seen with all names there are.
    fn follow(&mut self, to: &BlockCall, moved: &Names) {
        let params = &self.func.block(to.block).params;
        // A handler's first parameter is the exception.
        let first = params.len() - to.args.len();
        let mut names: Names = moved.iter().copied().filter(|v| !params.contains(v)).collect();
        names
            .extend(to.args.iter().zip(&params[first..]).filter(|(a, _)| moved.contains(a)).map(|(_, p)| *p));
        let known = self.seen.entry(to.block).or_default();
        if names.is_subset(known) {
            return;
        }
        known.extend(&names);
        self.todo.push((to.block, 0, known.clone()));
    }
}

fn not_ours(what: &str) -> Diagnostic {
    Diagnostic::new(Code::NotSendable, format!("{what} cannot be moved: others have it too"))
        .help("send a copy, or share it with par.borrow(x)")
}
