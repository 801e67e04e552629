//! What the variables are that a loop carries from one iteration to the next: reductions of a known kind, or
//! a value that the last iteration leaves.
//!
//! The values that a variable has had so far, its versions, are followed through the body: parameters of
//! blocks where ways meet, results of the reduction's operation. Whatever else reads a version needs what
//! earlier iterations did, and is a race.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "reductions are known by pattern: what is not understood is refused as a race"
)]

use super::classifier::{Classifier, HELP, Reads, Use, family};
use super::find::Found;
use super::shared::{Carried, Compared, Gate, Kind, Missing, Shared, Speculative, Step};
use super::{Names, privatised_scalars, race, races};
use crate::diag::{Diagnostic, Result};
use crate::ops::{OpId, id};
use crate::ssa::{Block, Func, Inst, Loc, Op, Term, Value};
use crate::types::Const;
use std::collections::{HashMap, HashSet};

pub(crate) fn classify(func: &Func, found: &Found, names: &dyn Names) -> Result<Shared> {
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

impl Classifier<'_> {
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
                            Op::Call { keywords }
                                if is_version && keywords.is_empty() && k == 1 && self.converts_chosen(i) =>
                            {
                                r.choice.conversions.push(i);
                                node.result
                            }
                            Op::Table(id::GETITEM) | Op::Call { .. } if let Some(step) = self.step(i, k) => {
                                if let Some(n) = node.result {
                                    work.push((n, via.iter().cloned().chain([step]).collect(), of));
                                }
                                None
                            }
                            _ if !is_version => return Err(self.needs_earlier(node.loc)),
                            Op::Table(id::EQ | id::NE) if self.constant(node.args[1 - k]).is_some() => {
                                r.marks.push((i, k));
                                None
                            }
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
        self.find_marks(&mut r);
        if let Some((i, _)) = r.marks.iter().find(|m| self.mark(&r, m.0, m.1).is_none()) {
            let node = func.inst(*i);
            return Err(self.needs(node.loc, instead(&node.op)));
        }
        Ok(r)
    }

    pub(crate) fn is_choice(&self, callee: Value) -> bool {
        self.operation(callee).is_some_and(|op| op.facts().chooses)
    }

    /// A call of `min`, `max` and the like with several values.
    fn is_choice_of(&self, call: &crate::ssa::InstNode) -> bool {
        self.is_choice(call.args[0])
            && (call.args.len() == 3
                || call.args.len() > 3
                    && matches!(self.inst_of(call.args[0]).map(|n| &n.op), Some(Op::Global(_))))
    }

    /// A call of one function on what `min` or `max` has given: `k = int(max(k, x))`.
    fn converts_chosen(&self, inst: Inst) -> bool {
        let [callee, x] = self.func.inst(inst).args[..] else { return false };
        let named =
            |v| self.inst_of(v).is_some_and(|n| matches!(n.op, Op::Global(_) | Op::Free(_) | Op::Attr(_)));
        let chosen = |n: &crate::ssa::InstNode| matches!(n.op, Op::Call { .. }) && self.is_choice_of(n);
        named(callee) && self.inst_of(self.original(x)).is_some_and(chosen)
    }

    /// Whether iterations need what others leave in a variable, by what is done with it alone.
    pub(crate) fn is_race(&self, param: Value) -> bool {
        self.reads(param).and_then(|mut r| self.kind(&mut r)).is_err()
    }

    fn kind(&self, r: &mut Reads) -> Result<Kind> {
        let func = self.func;
        let kinds = [
            !r.operations.is_empty(),
            !r.choices.is_empty(),
            !r.comparisons.is_empty() || !r.nones.is_empty() || !r.marks.is_empty(),
            !r.truths.is_empty(),
        ];
        let first = r
            .operations
            .iter()
            .chain(&r.choices)
            .map(|p| p.0)
            .chain(r.comparisons.iter().map(|c| c.inst))
            .chain(r.nones.iter().copied())
            .chain(r.marks.iter().map(|m| m.0))
            .chain(r.truths.iter().copied());
        let clash = first.map(|i| func.inst(i).loc).max_by_key(|l| (l.line, l.col));
        let refuse = || Err(self.needs_earlier(clash.unwrap_or(self.found.loc)));
        if kinds.iter().filter(|k| **k).count() > 1
            || !r.choice.conversions.is_empty() && r.choices.is_empty()
        {
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
                return Err(self.needs(clash.unwrap_or(self.found.loc), "the best of all is found by steps like `if x > m: m = x` or `m = max(m, x)`, one after the other and not inside of one another, where x is the same whatever was found before; what a function gives is computed once (x = f(i))"));
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

    /// Whether two values are written the same way. They may still differ: [`Classifier::is_same`] asks for
    /// more.
    pub(crate) fn is_equal(&self, a: Value, b: Value, depth: u32) -> bool {
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
            Kind::Select {
                path: Some(id::LT), via, swapped, taken: true, missing: Missing::Never, ..
            } if via.is_empty() => Some(!swapped),
            Kind::Select {
                path: Some(id::GT), via, swapped, taken: true, missing: Missing::Never, ..
            } if via.is_empty() => Some(*swapped),
            _ => None,
        };
        let [Some(x), Some(y)] = [a, b].map(way) else { return false };
        let [[p], [q]] = reads.map(|r| &r.comparisons[..]) else { return false };
        let new = |c: &Compared| self.func.inst(c.inst).args[1 - c.side];
        x != y && self.is_same(a.init, b.init) && self.is_same(new(p), new(q))
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
            .chain(r.nones.iter().copied())
            .chain(r.marks.iter().map(|m| m.0));
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
