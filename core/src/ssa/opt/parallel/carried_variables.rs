//! What the variables are that a loop carries from one iteration to the next: reductions of a known kind, or
//! a value that the last iteration leaves.
//!
//! The values that a variable has had so far, its versions, are followed through the body: parameters of
//! blocks where ways meet, results of the reduction's operation. Whatever else reads a version needs what
//! earlier iterations did, and is a race.

use super::find::Found;
use super::privatised_elements::Privatised;
use super::races::{self, Doubt};
use super::select_reduction::{Choice, Compared, Gate, Step};
use super::speculative_raises::Speculative;
use super::{Names, Root, privatised_scalars, race};
use crate::diag::{Diagnostic, Result};
use crate::ops::{OpId, id};
use crate::ssa::analysis::{Cfg, Definitions, Dominators, Edge, Loop, Loops};
use crate::ssa::{Block, Func, Inst, Loc, Op, Term, Value};
use crate::types::Const;
use std::collections::{BTreeSet, HashMap, HashSet};

/// How the results of two pieces of the range become one.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `acc = path(acc, part)`; pieces begin with what `neutral` makes of the first value. `swapped`: the
    /// part comes first.
    Binary { path: OpId, neutral: OpId, swapped: bool },
    /// `acc = callee(acc, part)`: `min`, `max`; `swapped`: the part comes first. Then Python's functions take
    /// a NaN and forget it at the next value: it `resets`. `several`: sometimes the one, sometimes the other.
    Choose { callee: Value, swapped: bool, resets: bool, several: bool },
    /// `acc = acc and part`, or `or`.
    Truth { and: bool },
    /// `if part > acc: acc = part`: `path` compares, the new value first unless `swapped`; it is taken where
    /// the answer is `taken`. What is compared is found by the steps of `via`; without a `path` the first one
    /// counts. `none`: the variable may be None, which is no value yet.
    Select { path: Option<OpId>, via: Vec<Step>, swapped: bool, taken: bool, none: bool, flag: bool },
    /// Changes together with another variable, a `Select` or a `Truth`.
    Follow { leader: usize },
    /// What the last iteration left, or the last one that left something.
    Last { flag: bool },
}

/// A variable that the loop carries.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Its place among the header's parameters.
    pub at: usize,
    pub param: Value,
    /// Before the loop.
    pub init: Value,
    pub kind: Kind,
    pub versions: HashSet<Value>,
    /// Of what is chosen: where that happens.
    pub choice: Choice,
}

/// What iterations share.
#[derive(Default)]
pub struct Shared {
    pub carried: Vec<Carried>,
    /// Lists from outside that iterations append to and do nothing else with.
    pub lists: Vec<Value>,
    /// Arrays and lists from outside that iterations add to, element by element.
    pub privatised: Vec<Privatised>,
    /// Stores that may go to one element in several iterations.
    pub doubts: Vec<Doubt>,
    /// Variables that each iteration has to itself, by their places among the header's parameters.
    pub own: Vec<usize>,
    /// Blocks that run where something is found, or where nothing is, and may raise.
    pub speculative: HashMap<Block, Speculative>,
}

impl Carried {
    /// Whether the pieces say whether they changed it.
    pub fn flag(&self) -> bool {
        matches!(
            self.kind,
            Kind::Select { flag: true, .. }
                | Kind::Choose { resets: true, .. }
                | Kind::Truth { .. }
                | Kind::Last { flag: true }
        )
    }
    /// Whether a NaN is taken, and forgotten at the next value.
    pub fn resets(&self) -> bool {
        matches!(
            self.kind,
            Kind::Select { path: Some(_), taken: false, .. } | Kind::Choose { resets: true, .. }
        )
    }
    /// Whether the first value of all counts although it is NaN, and stays.
    pub fn keeps_first(&self) -> bool {
        matches!(self.kind, Kind::Select { path: Some(_), taken: true, none: true, .. })
    }
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Binary { path, .. } => match *path {
                id::ADD | id::IADD => "a sum",
                id::MUL | id::IMUL => "a product",
                id::AND | id::IAND => "a bitwise and",
                id::OR | id::IOR => "a bitwise or",
                _ => "an exclusive or",
            },
            Kind::Choose { .. } => "a minimum or maximum",
            Kind::Truth { and: true } => "`and` of all",
            Kind::Truth { and: false } => "`or` of all",
            Kind::Select { path: None, .. } => "the first one of all",
            Kind::Select { .. } => "the best of all",
            Kind::Follow { .. } => "what belongs to the best of all",
            Kind::Last { .. } => "what the last iteration left",
        }
        .into()
    }
}

/// Who reads a value inside of the loop.
#[derive(Clone, Copy)]
pub enum Use {
    Operand(Inst, usize),
    /// Passed to a parameter of a block.
    Passed {
        to: Block,
        at: usize,
    },
    /// A branch, or an exception that is raised.
    Term(Block),
}

/// One edge into a block, with what it passes to one of its parameters; `side` is which target of the
/// terminator it is.
#[derive(Clone, Copy)]
pub struct Incoming {
    pub from: Block,
    pub side: usize,
    pub raises: bool,
    pub value: Value,
    /** The parameter. */
    pub to: Value,
}

pub struct Classifier<'a> {
    pub func: &'a Func,
    pub found: &'a Found,
    names: &'a dyn Names,
    cfg: Cfg,
    pub doms: Dominators,
    pub loops: Vec<Loop>,
    defs: Definitions,
    uses: HashMap<Value, Vec<Use>>,
    incoming: HashMap<Value, Vec<Incoming>>,
}

/// How versions of one variable are read.
#[derive(Default)]
pub struct Reads {
    pub versions: HashSet<Value>,
    operations: Vec<(Inst, usize)>,
    choices: Vec<(Inst, usize)>,
    pub comparisons: Vec<Compared>,
    truths: Vec<Inst>,
    /// Questions whether it is None.
    pub nones: Vec<Inst>,
    /// New values from elsewhere, where ways meet.
    pub fresh: Vec<Incoming>,
    /// Where it is the best of all: what leads to a new one.
    gates: Vec<Gate>,
    pub choice: Choice,
}

const HELP: &str = "variables may be summed up and the like (s += x, s = max(s, x), if x > s: s = x); where an iteration needs the one before it, use range";

pub fn classify(func: &Func, found: &Found, names: &dyn Names) -> Result<Shared> {
    let c = Classifier::of(func, found, names);
    let privatised = c.privatised();
    let mut shared = Shared {
        carried: vec![],
        lists: c.appended()?,
        doubts: races::check(&c, &privatised)?,
        privatised,
        own: vec![],
        speculative: HashMap::new(),
    };
    let Term::Jump(enter) = &func.block(found.pre).term else {
        return Err(Diagnostic::internal("a loop that nothing enters"));
    };
    let mut reads = vec![];
    for (at, param) in func.block(found.header).params.iter().enumerate().filter(|p| p.0 != found.state) {
        if privatised_scalars::is_own(func, found, &c.defs, at) {
            shared.own.push(at);
            continue;
        }
        let mut r = c.reads(*param)?;
        let kind = c.kind(&mut r)?;
        shared.carried.push(Carried {
            at,
            param: *param,
            init: enter.args[at],
            kind,
            versions: r.versions.clone(),
            choice: r.choice.clone(),
        });
        reads.push(r);
    }
    c.pair_up(&mut shared.carried, &reads)?;
    let groups: Vec<Vec<Gate>> = reads
        .into_iter()
        .map(|r| r.gates)
        .chain(shared.privatised.iter().map(|b| b.gates.clone()))
        .filter(|g| !g.is_empty())
        .collect();
    shared.speculative = c.speculative(&groups);
    if !shared.own.is_empty() {
        for b in privatised_scalars::reads(func, found) {
            shared.speculative.entry(b).or_insert(Speculative::Unset);
        }
    }
    Ok(shared)
}

impl<'a> Classifier<'a> {
    pub fn of(func: &'a Func, found: &'a Found, names: &'a dyn Names) -> Classifier<'a> {
        let cfg = Cfg::new(func);
        let doms = Dominators::new(func, &cfg);
        let loops = Loops::new(func, &cfg, &doms).all;
        let mut c = Classifier {
            func,
            found,
            names,
            cfg,
            doms,
            loops,
            defs: Definitions::new(func),
            uses: HashMap::new(),
            incoming: HashMap::new(),
        };
        c.collect();
        c
    }

    /// Blocks that run when the loop is over, exceptions apart.
    pub fn reach_behind(&self) -> BTreeSet<Block> {
        let (mut seen, mut work) = (BTreeSet::new(), vec![self.found.exit.block]);
        while let Some(b) = work.pop() {
            if !self.is_inside(b) && seen.insert(b) {
                self.func.each_edge(b, &mut |_, to| work.push(to.block));
            }
        }
        // What leads back to the loop runs before it as well.
        let mut before = vec![self.found.pre];
        while let Some(b) = before.pop() {
            if seen.remove(&b) || b == self.found.pre {
                before.extend(self.cfg.preds(b).iter().copied().filter(|p| seen.contains(p)));
            }
        }
        seen
    }

    fn is_inside(&self, b: Block) -> bool {
        b == self.found.header || self.found.blocks.contains(&b)
    }
}

impl Classifier<'_> {
    fn collect(&mut self) {
        let (func, found) = (self.func, self.found);
        for b in found.blocks.iter().copied() {
            for i in &func.block(b).insts {
                for (k, v) in func.inst(*i).args.iter().enumerate() {
                    self.uses.entry(*v).or_default().push(Use::Operand(*i, k));
                }
            }
            if let Some(v) = func.block(b).term.operand() {
                self.uses.entry(v).or_default().push(Use::Term(b));
            }
            let mut side = 0;
            func.each_edge(b, &mut |edge, to| {
                let raises = edge == Edge::Raises;
                let this = side;
                if !raises {
                    side += 1;
                }
                if to.block != found.header && !found.blocks.contains(&to.block) {
                    return;
                }
                for (k, v) in to.args.iter().enumerate() {
                    let at = k + edge.skip();
                    self.uses.entry(*v).or_default().push(Use::Passed { to: to.block, at });
                    let param = func.block(to.block).params[at];
                    self.incoming.entry(param).or_default().push(Incoming {
                        from: b,
                        side: this,
                        raises,
                        value: *v,
                        to: param,
                    });
                }
            });
        }
    }

    pub fn definition(&self, v: Value) -> Option<Inst> {
        self.defs.inst(v)
    }
    /// What reads a value in the loop, and as which operand; none where it is passed on or decides something.
    pub fn operands(&self, v: Value) -> Option<Vec<(Inst, usize)>> {
        self.uses
            .get(&v)
            .into_iter()
            .flatten()
            .map(|u| if let Use::Operand(i, k) = *u { Some((i, k)) } else { None })
            .collect()
    }
    pub fn is_read_once(&self, v: Value) -> bool {
        self.uses.get(&v).is_some_and(|u| u.len() == 1)
    }
    pub fn inst_of(&self, v: Value) -> Option<&crate::ssa::InstNode> {
        self.defs.inst(v).map(|i| self.func.inst(i))
    }
    pub fn uses_of(&self, v: Value) -> &[Use] {
        self.uses.get(&v).map_or(&[], Vec::as_slice)
    }
    pub fn incoming_of(&self, param: Value) -> &[Incoming] {
        self.incoming.get(&param).map_or(&[], Vec::as_slice)
    }
    fn loc_of(&self, v: Value) -> Loc {
        self.inst_of(v).map_or(self.found.loc, |n| n.loc)
    }
    pub fn is_outside(&self, v: Value) -> bool {
        self.defs.block(v).is_none_or(|b| b != self.found.header && !self.found.blocks.contains(&b))
    }

    /// The race that a read of a version is.
    pub fn needs_earlier(&self, loc: Loc) -> Diagnostic {
        self.needs(loc, HELP)
    }
    fn needs(&self, loc: Loc, help: &str) -> Diagnostic {
        race(self.func, loc, "an iteration of this prange loop needs what another one leaves in a variable, and iterations run at the same time").help(help)
    }

    /// The names of a variable that the loop carries and does not change: one that was found to be bound or
    /// not None has a new name.
    fn unchanged(&self, param: Value) -> Option<HashSet<Value>> {
        let func = self.func;
        let (mut names, mut work) = (HashSet::from([param]), vec![param]);
        while let Some(v) = work.pop() {
            for u in self.uses_of(v) {
                let next = match *u {
                    Use::Passed { to, at } if to != self.found.header => Some(func.block(to).params[at]),
                    Use::Operand(i, 0)
                        if matches!(func.inst(i).op, Op::Narrow(_) | Op::CheckBound { .. }) =>
                    {
                        func.inst(i).result
                    }
                    Use::Passed { .. } | Use::Operand(..) | Use::Term(_) => None,
                };
                if let Some(n) = next
                    && names.insert(n)
                {
                    work.push(n);
                }
            }
        }
        // Where another value may come in, it is another variable.
        loop {
            let other: Vec<Value> = names
                .iter()
                .copied()
                .filter(|n| {
                    *n != param
                        && match self.inst_of(*n) {
                            Some(node) => !names.contains(&node.args[0]),
                            None => self.incoming_of(*n).iter().any(|i| !names.contains(&i.value)),
                        }
                })
                .collect();
            if other.is_empty() {
                break;
            }
            for n in other {
                names.remove(&n);
            }
        }
        self.incoming_of(param).iter().all(|i| names.contains(&i.value)).then_some(names)
    }

    /// Follows the versions of a variable.
    fn reads(&self, param: Value) -> Result<Reads> {
        let (func, header) = (self.func, self.found.header);
        if let Some(versions) = self.unchanged(param) {
            return Ok(Reads { versions, ..Reads::default() });
        }
        let mut r = Reads { versions: HashSet::from([param]), ..Reads::default() };
        // Versions, and what is found by steps from them.
        let mut work: Vec<(Value, Vec<Step>, Value)> = vec![(param, vec![], param)];
        while let Some((v, via, of)) = work.pop() {
            for u in self.uses_of(v) {
                let is_version = via.is_empty();
                let next = match *u {
                    Use::Passed { to, at }
                        if to == header && is_version && func.block(header).params[at] == param =>
                    {
                        None
                    }
                    Use::Passed { to, .. } if to == header => return Err(self.needs_earlier(self.loc_of(v))),
                    Use::Passed { .. } if !is_version => return Err(self.needs_earlier(self.loc_of(v))),
                    Use::Passed { to, at } => Some(func.block(to).params[at]),
                    Use::Term(b) => return Err(self.needs_earlier(func.block(b).term_loc)),
                    Use::Operand(i, k) => {
                        let node = func.inst(i);
                        match &node.op {
                            Op::Narrow(_) | Op::CheckBound { .. } if k == 0 => node.result,
                            Op::Table(path) if compares(*path) => {
                                r.comparisons.push(Compared { inst: i, side: k, via: via.clone(), of });
                                None
                            }
                            Op::Table(id::GETITEM) if let Some(step) = self.step(i, k) => {
                                if let Some(n) = node.result {
                                    work.push((n, via.iter().cloned().chain([step]).collect(), of));
                                }
                                None
                            }
                            _ if !is_version => return Err(self.needs_earlier(node.loc)),
                            Op::Table(path)
                                if family(*path).is_some_and(|f| k == 0 || f.either)
                                    && node.args.get(1) != Some(&node.args[0]) =>
                            {
                                r.operations.push((i, k));
                                node.result
                            }
                            Op::Table(id::IS | id::IS_NOT)
                                if k == 0
                                    && self
                                        .inst_of(node.args[1])
                                        .is_some_and(|n| n.op == Op::Const(Const::None)) =>
                            {
                                r.nones.push(i);
                                None
                            }
                            Op::Table(id::TRUTH) => {
                                r.truths.push(i);
                                None
                            }
                            Op::Call { keywords }
                                if keywords.is_empty() && k > 0 && self.is_choice_of(node) =>
                            {
                                r.choices.push((i, k));
                                node.result
                            }
                            _ => return Err(self.needs(node.loc, instead(&node.op))),
                        }
                    }
                };
                if let Some(n) = next {
                    if !is_version {
                        work.push((n, via.clone(), of));
                    } else if r.versions.insert(n) {
                        work.push((n, vec![], n));
                    }
                }
            }
        }
        for v in &r.versions {
            r.fresh.extend(
                self.incoming.get(v).into_iter().flatten().filter(|i| !r.versions.contains(&i.value)),
            );
        }
        r.fresh.sort_by_key(|i| (i.from, i.side, i.value));
        Ok(r)
    }

    pub fn is_choice(&self, callee: Value) -> bool {
        match self.inst_of(callee).map(|n| &n.op) {
            Some(Op::Global(name)) => matches!(&**name, "min" | "max") && self.names.is_builtin(name),
            Some(Op::Attr(name)) => {
                matches!(&**name, "minimum" | "maximum" | "fmin" | "fmax")
                    && self.inst_of(callee).is_some_and(|n| self.is_module(n.args[0], "numpy"))
            }
            _ => false,
        }
    }

    fn is_module(&self, v: Value, name: &str) -> bool {
        match self.inst_of(v).map(|n| &n.op) {
            Some(Op::Global(n)) => self.names.is_module(Root::Global(n), name),
            Some(Op::Free(n)) => self.names.is_module(Root::Free(*n), name),
            Some(Op::Table(id::IMPORT_MODULE)) => true,
            Some(_) | None => false,
        }
    }

    /// A call of `min`, `max` and the like with several values.
    fn is_choice_of(&self, call: &crate::ssa::InstNode) -> bool {
        self.is_choice(call.args[0])
            && (call.args.len() == 3
                || call.args.len() > 3
                    && matches!(self.inst_of(call.args[0]).map(|n| &n.op), Some(Op::Global(_))))
    }

    /// Whether iterations need what others leave in a variable, by what is done with it alone.
    pub fn is_race(&self, param: Value) -> bool {
        self.reads(param).and_then(|mut r| self.kind(&mut r)).is_err()
    }

    fn kind(&self, r: &mut Reads) -> Result<Kind> {
        let func = self.func;
        let kinds = [
            !r.operations.is_empty(),
            !r.choices.is_empty(),
            !r.comparisons.is_empty() || !r.nones.is_empty(),
            !r.truths.is_empty(),
        ];
        let first = r
            .operations
            .iter()
            .chain(&r.choices)
            .map(|p| p.0)
            .chain(r.comparisons.iter().map(|c| c.inst))
            .chain(r.nones.iter().copied())
            .chain(r.truths.iter().copied());
        let clash = first.map(|i| func.inst(i).loc).max_by_key(|l| (l.line, l.col));
        let refuse = || Err(self.needs_earlier(clash.unwrap_or(self.found.loc)));
        if kinds.iter().filter(|k| **k).count() > 1 {
            return refuse();
        }
        if let Some((i, _)) = r.operations.first() {
            let Op::Table(path) = func.inst(*i).op else { return refuse() };
            let Some(f) = family(path) else { return refuse() };
            let same = |i: Inst| matches!(func.inst(i).op, Op::Table(p) if family(p).is_some_and(|g| g.name == f.name));
            if !r.fresh.is_empty() || !r.operations.iter().all(|o| same(o.0)) || !self.once(r, &r.operations)
            {
                return refuse();
            }
            // In place as soon as one of them is: arrays and lists keep their identity.
            let in_place =
                r.operations.iter().any(|o| matches!(func.inst(o.0).op, Op::Table(p) if p.plain().is_some()));
            return Ok(Kind::Binary {
                path: if in_place { f.in_place } else { f.plain },
                neutral: f.neutral,
                swapped: r.operations.iter().all(|o| o.1 == 1),
            });
        }
        if let Some((i, k)) = r.choices.first() {
            let callee = func.inst(*i).args[0];
            let name = |v: Value| self.inst_of(v).map(|n| n.op.clone());
            if !r.fresh.is_empty()
                || !r.choices.iter().all(|c| name(func.inst(c.0).args[0]) == name(callee))
                || !self.once(r, &r.choices)
            {
                return refuse();
            }
            let swapped = *k != 1;
            let is_python = matches!(name(callee), Some(Op::Global(_)));
            let several = is_python
                && r.choices.iter().any(|c| {
                    if c.1 == 1 { swapped } else { !swapped || c.1 + 1 != func.inst(c.0).args.len() }
                });
            let resets = swapped && is_python && !several;
            if resets {
                r.choice.calls = r.choices.clone();
            }
            return Ok(Kind::Choose { callee, swapped, resets, several });
        }
        if kinds[2] {
            let Some((kind, gates)) = self.selection(r) else {
                return Err(self.needs(clash.unwrap_or(self.found.loc), "the best of all is found by steps like `if x > m: m = x` or `m = max(m, x)`, one after the other and not inside of one another, where x is the same whatever was found before"));
            };
            r.gates = gates;
            return Ok(kind);
        }
        if !r.truths.is_empty() {
            let Some(branches) =
                r.truths.iter().map(|t| self.branch_of(func.inst(*t).result)).collect::<Option<Vec<Block>>>()
            else {
                return refuse();
            };
            let gates = |and: bool| branches.iter().map(|b| (*b, usize::from(!and))).collect::<Vec<Gate>>();
            let Some(and) = [true, false]
                .into_iter()
                .find(|and| !r.fresh.is_empty() && r.fresh.iter().all(|f| self.is_gated(f, &gates(*and))))
            else {
                return refuse();
            };
            r.gates = gates(and);
            return Ok(Kind::Truth { and });
        }
        // Some ways through an iteration leave it as it was.
        let keeps = r.versions.len() > 1
            || self
                .incoming
                .iter()
                .any(|(p, i)| r.versions.contains(p) && i.iter().any(|i| r.versions.contains(&i.value)));
        Ok(Kind::Last { flag: keeps })
    }

    /// Whether two values are written the same way: `if a[i] > m: m = a[i]`.
    pub fn is_equal(&self, a: Value, b: Value, depth: u32) -> bool {
        if a == b {
            return true;
        }
        let (Some(x), Some(y)) = (self.inst_of(a), self.inst_of(b)) else { return false };
        let repeats = matches!(
            x.op,
            Op::Const(_)
                | Op::Global(_)
                | Op::Free(_)
                | Op::Attr(_)
                | Op::Member(_)
                | Op::Call { .. }
                | Op::Table(_)
        );
        repeats
            && depth < 16
            && x.op == y.op
            && x.args.len() == y.args.len()
            && x.args.iter().zip(&y.args).all(|(a, b)| self.is_equal(*a, *b, depth + 1))
    }

    /// Each operation takes one version: `s + s` doubles instead of adding something.
    fn once(&self, r: &Reads, by: &[(Inst, usize)]) -> bool {
        by.iter().all(|(i, _)| self.func.inst(*i).args.iter().filter(|a| r.versions.contains(a)).count() == 1)
    }

    /// Variables that change together with the best one belong to it; and nothing else may depend on what the
    /// best one was.
    fn pair_up(&self, carried: &mut [Carried], reads: &[Reads]) -> Result<()> {
        let leaders: Vec<usize> = (0..carried.len()).filter(|k| !reads[*k].gates.is_empty()).collect();
        for k in leaders.iter().copied() {
            let gates = &reads[k].gates;
            for j in (0..carried.len()).filter(|j| *j != k) {
                let r = &reads[j];
                let with = r
                    .fresh
                    .iter()
                    .filter(|f| self.is_gated(f, gates) && gates.iter().any(|g| self.is_chosen(f.to, g.0)))
                    .count();
                if with == 0 {
                    continue;
                }
                // Of several places where the best changes, each would have to change what follows; and it
                // changes on the same ways.
                let edges = |r: &Reads| {
                    r.fresh
                        .iter()
                        .map(|f| (f.from, f.side, f.raises, self.defs.block(f.to)))
                        .collect::<HashSet<_>>()
                };
                let together = reads[k].comparisons.len() <= 1
                    && matches!(carried[j].kind, Kind::Last { .. })
                    && with == r.fresh.len()
                    && edges(r) == edges(&reads[k]);
                if !together {
                    return Err(self.needs(self.loc_of(r.fresh[0].value), "what belongs to the best of all changes wherever that one changes, and nowhere else: if x > m: m, k = x, i"));
                }
                carried[j].kind = Kind::Follow { leader: k };
            }
        }
        let is_known = |v: Value| reads.iter().any(|r| r.versions.contains(&v));
        for k in leaders {
            let gates = &reads[k].gates;
            let behind: HashSet<Block> = gates.iter().flat_map(|g| self.one_side(g.0)).collect();
            for j in (0..carried.len()).filter(|j| *j != k && carried[*j].kind != Kind::Follow { leader: k })
            {
                let Some(loc) = self.changes_in(&reads[j], &behind, gates) else { continue };
                let other = if let Kind::Follow { leader } = carried[j].kind { leader } else { j };
                if self.is_range(&carried[k], &carried[other], [&reads[k], &reads[other]]) {
                    continue;
                }
                return Err(self.needs(loc, "whether an iteration gets here depends on what others have found before it: let each variable be compared on its own, in an if that is not inside of another one"));
            }
            for (b, _) in gates {
                self.nothing_depends_on(*b, Some(&is_known), &|_| false)?;
            }
        }
        Ok(())
    }

    /// `if x < low: low = x elif x > high: high = x`, where both begin as the same: what is new to the one is
    /// never new to the other.
    fn is_range(&self, a: &Carried, b: &Carried, reads: [&Reads; 2]) -> bool {
        let way = |c: &Carried| match &c.kind {
            Kind::Select { path: Some(id::LT), via, swapped, taken: true, none: false, .. }
                if via.is_empty() =>
            {
                Some(!swapped)
            }
            Kind::Select { path: Some(id::GT), via, swapped, taken: true, none: false, .. }
                if via.is_empty() =>
            {
                Some(*swapped)
            }
            _ => None,
        };
        let [Some(x), Some(y)] = [a, b].map(way) else { return false };
        let [[p], [q]] = reads.map(|r| &r.comparisons[..]) else { return false };
        let new = |c: &Compared| self.func.inst(c.inst).args[1 - c.side];
        x != y
            && self.is_equal(a.init, b.init, 0)
            && !self.may_differ(a.init, 0)
            && self.is_equal(new(p), new(q), 0)
            && (new(p) == new(q) || !self.may_differ(new(p), 0))
    }

    /// Where a variable changes in one of some blocks, or on the way out of a gate.
    fn changes_in(&self, r: &Reads, blocks: &HashSet<Block>, gates: &[Gate]) -> Option<Loc> {
        let all = r
            .operations
            .iter()
            .chain(&r.choices)
            .map(|o| o.0)
            .chain(r.comparisons.iter().map(|c| c.inst))
            .chain(r.truths.iter().copied())
            .chain(r.nones.iter().copied());
        let there = |i: Inst| {
            self.func.inst(i).result.and_then(|v| self.defs.block(v)).is_some_and(|b| blocks.contains(&b))
        };
        if let Some(i) = all.into_iter().find(|i| there(*i)) {
            return Some(self.func.inst(i).loc);
        }
        let fresh = r.fresh.iter().find(|f| {
            (blocks.contains(&f.from) || gates.iter().any(|g| g.0 == f.from))
                && gates.iter().any(|g| self.is_chosen(f.to, g.0))
        })?;
        Some(self.loc_of(fresh.value))
    }

    /// Lists from outside that iterations change. Appending keeps its order, since every piece has a list of
    /// its own; all else is a race.
    fn appended(&self) -> Result<Vec<Value>> {
        let func = self.func;
        let mut lists: Vec<Value> = vec![];
        let mut insts: Vec<Inst> =
            self.found.blocks.iter().flat_map(|b| func.block(*b).insts.iter().copied()).collect();
        insts.sort();
        for i in insts {
            let node = func.inst(i);
            let comprehends = |i: Inst| func.inst(i).op == Op::Table(id::LIST_APPEND);
            if comprehends(i) && self.is_outside(node.args[0]) {
                let list = node.args[0];
                if !self
                    .uses
                    .get(&list)
                    .is_some_and(|u| u.iter().all(|u| matches!(u, Use::Operand(i, 0) if comprehends(*i))))
                {
                    return Err(self.needs_earlier(node.loc));
                }
                if !lists.contains(&list) {
                    lists.push(list);
                }
                continue;
            }
            let Op::Attr(name) = &node.op else { continue };
            if !self.is_outside(node.args[0])
                || !matches!(
                    &**name,
                    "append" | "extend" | "insert" | "pop" | "remove" | "clear" | "reverse" | "sort"
                )
            {
                continue;
            }
            let called = |v: Value| {
                self.uses.get(&v).is_some_and(|u| {
                    u.iter().all(
                        |u| matches!(u, Use::Operand(i, 0) if matches!(func.inst(*i).op, Op::Call { .. })),
                    )
                })
            };
            if !node.result.is_some_and(called) {
                continue;
            }
            let grows = |u: &Use| matches!(u, Use::Operand(i, 0) if matches!(&func.inst(*i).op, Op::Attr(n) if matches!(&**n, "append" | "extend")));
            let uses = self.uses.get(&node.args[0]).map_or(&[][..], Vec::as_slice);
            if !uses.iter().all(grows) {
                return Err(race(func, node.loc, "the iterations of this prange loop change an object that others of them use at the same time")
                    .help("a list may be appended to if nothing else is done with it in the loop; fill an array by index, or use range"));
            }
            if !lists.contains(&node.args[0]) {
                lists.push(node.args[0]);
            }
        }
        Ok(lists)
    }

    /// What is passed to a parameter of a block within an iteration.
    pub fn passed_to(&self, param: Value) -> Vec<Value> {
        self.incoming.get(&param).into_iter().flatten().map(|i| i.value).collect()
    }

    /// Whether a block runs in every iteration: all ways back go through it, or it is in an inner `for` loop
    /// of which that is true and all turns go through it.
    pub fn is_certain(&self, b: Block) -> bool {
        self.is_sure(b, false)
    }
    /// The same; `once`: for inner loops it is enough that the first turn goes through it, whatever leaves
    /// the loop behind it.
    pub fn is_sure(&self, mut b: Block, once: bool) -> bool {
        let back: Vec<Block> = self
            .cfg
            .preds(self.found.header)
            .iter()
            .copied()
            .filter(|b| self.found.blocks.contains(b))
            .collect();
        let mut inner: Vec<&Loop> = self
            .loops
            .iter()
            .filter(|l| self.found.blocks.contains(&l.header) && l.blocks.contains(&b))
            .collect();
        inner.sort_by_key(|l| std::cmp::Reverse(l.depth));
        for l in inner {
            let is_for = self
                .func
                .block(l.header)
                .insts
                .iter()
                .any(|i| self.func.inst(*i).op == Op::Table(id::ITER_NEXT));
            let mut breaks = false;
            for from in l.blocks.iter().filter(|f| **f != l.header && !(once && self.doms.dominates(b, **f)))
            {
                self.func.each_edge(*from, &mut |edge, to| {
                    breaks |= edge == Edge::Jumps && !l.blocks.contains(&to.block)
                });
            }
            if !is_for || breaks || !l.latches.iter().all(|x| self.doms.dominates(b, *x)) {
                return false;
            }
            b = l.header;
        }
        back.iter().all(|l| self.doms.dominates(b, *l))
    }
}

pub struct Family {
    pub name: &'static str,
    plain: OpId,
    in_place: OpId,
    neutral: OpId,
    /** The variable may stand on either side. */
    pub either: bool,
}

/// The reduction that an operation belongs to.
pub fn family(path: OpId) -> Option<Family> {
    let either = !matches!(path, id::SUB | id::ISUB | id::TRUEDIV | id::ITRUEDIV | id::NEG | id::LSHIFT)
        && path.plain().is_none();
    let of = |name, plain, in_place, neutral| Some(Family { name, plain, in_place, neutral, either });
    match path {
        id::ADD | id::IADD | id::SUB | id::ISUB => of("sum", id::ADD, id::IADD, id::PARALLEL_ZERO),
        // A sign that changes is a product with -1, a shift one with a power of two.
        id::MUL | id::IMUL | id::TRUEDIV | id::ITRUEDIV | id::NEG | id::LSHIFT | id::ILSHIFT => {
            of("product", id::MUL, id::IMUL, id::PARALLEL_ONE)
        }
        id::AND | id::IAND => of("and", id::AND, id::IAND, id::PARALLEL_OWN),
        id::OR | id::IOR => of("or", id::OR, id::IOR, id::PARALLEL_OWN),
        id::XOR | id::IXOR => of("xor", id::XOR, id::IXOR, id::PARALLEL_ZERO),
        _ => None,
    }
}

/// What to write instead of an operation that is no reduction.
fn instead(op: &Op) -> &'static str {
    let Op::Table(path) = op else { return HELP };
    match *path {
        id::EQ | id::NE => {
            "of several equal ones `if x > m: m, k = x, i` keeps the first and `>=` the last, in the order of iterations, so that ties need no condition; where another value decides, compare tuples: best = max(best, (x, -y))"
        }
        id::NOT => "write s ^= True",
        id::INVERT => "write s ^= -1",
        id::RSHIFT | id::IRSHIFT => "sum up by how much to shift (n += k), and shift once behind the loop",
        id::FLOORDIV | id::IFLOORDIV => {
            "multiply up what to divide by (d *= x), and divide once behind the loop"
        }
        id::MOD | id::IMOD => "take the remainder behind the loop, where it is one of a sum or a product",
        id::POW | id::IPOW => {
            "multiply up the exponents (e *= x), and raise to their power once behind the loop"
        }
        _ => HELP,
    }
}

fn compares(path: OpId) -> bool {
    matches!(path, id::LT | id::LE | id::GT | id::GE)
}
