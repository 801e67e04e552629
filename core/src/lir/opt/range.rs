//! Comparisons that are always true or always false are decided: bounds checks, the wrapping of negative
//! indices, tests of counters. And remainders of what is at most one step outside lose their division.
//!
//! [`Prover::le`] answers "is x <= y + c wherever this block runs" on demand, from the conditions of
//! dominating branches, from definitions (minimum, remainder, masks, widening), and for block parameters by
//! induction over the loop: what arrives on every edge must obey the bound, and what comes round the loop may
//! assume it. Sums count only where they cannot wrap. Values are taken as signed mathematical integers
//! throughout. Every question has a budget, so the pass is linear in the number of comparisons.
//!
//! Start at [`decide_comparisons`]. The design is that of on-demand bounds-check elimination over difference
//! constraints.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "facts are optional: an operation about which nothing is known is right"
)]

mod definitions;

use super::edit::{Defs, FastMap};
use crate::lir::cfg::{Analyses, Cfg, Dominators};
use crate::lir::{Alias, Block, Func, Inst, InstData, MAX_LENGTH, Op, Shape, Ty, Value};

/// Steps that one question may take, and how deep it may go. Few questions take more than twenty.
const BUDGET: u32 = 250;
const MAX_DEPTH: u32 = 14;

pub(crate) fn decide_comparisons(func: &mut Func, analyses: &mut Analyses) {
    if func.layout.is_empty() {
        return;
    }
    let (cfg, doms) = (analyses.cfg(func), analyses.dominators(func));
    let (mut decided, mut remainders, mut zeros) = (vec![], vec![], vec![]);
    {
        let mut prover = Prover::new(func, cfg, doms);
        for &b in doms.preorder() {
            for i in &func.blocks[b.index()].insts {
                let InstData::Op { op, ty, args } = &func.insts[i.index()].data else { continue };
                if matches!(op, Op::Srem | Op::Select)
                    && let Some(r) = Remainder::find(&mut prover, *i, b, *op, args)
                {
                    remainders.push(r);
                }
                if *op == Op::Smax && prover.exceeds_negated(args, b) {
                    zeros.push(*i);
                }
                if op.shape() != Shape::IntCompare || *ty == Ty::Ptr || ty.is_vector() {
                    continue;
                }
                if let Some(holds) = prover.compare(*op, args[0], args[1], b) {
                    decided.push((*i, holds));
                    prover.decided.insert(func.insts[i.index()].results[0], holds);
                }
            }
        }
    }
    for (i, holds) in decided {
        func.insts[i.index()].data = InstData::Const { ty: Ty::I8, bits: holds as u64 };
    }
    for i in zeros {
        func.insts[i.index()].data = InstData::Const { ty: Ty::I64, bits: 0 };
    }
    for r in remainders {
        r.apply(func);
    }
}

/// A remainder that needs no division: of `x` by `n > 0`, where `-1 <= x <= n`, as neighbours on a torus are
/// found.
struct Remainder {
    inst: Inst,
    block: Block,
    x: Value,
    n: Value,
    python: bool,
    negative: bool,
    full: bool,
}

impl Remainder {
    /// `inst` is `x % n` as the machine rounds, where `x` is not negative, or as Python does: `select(r < 0,
    /// r + n, r)`.
    fn find(p: &mut Prover<'_>, inst: Inst, block: Block, op: Op, args: &[Value]) -> Option<Remainder> {
        let (r, python) = match op {
            Op::Srem => (args, false),
            Op::Select => {
                let (Op::Srem, rem) = p.op(args[2])? else { return None };
                let (Op::Iadd, sum) = p.op(args[1])? else { return None };
                let cond = match p.op(args[0])? {
                    (Op::Select, arms) => p.chosen(arms)?,
                    _ => args[0],
                };
                let (Op::IcmpSlt, asked) = p.op(cond)? else { return None };
                let adjusts = asked[0] == args[2]
                    && p.constant(asked[1]) == Some(0)
                    && (sum == [args[2], rem[1]] || sum == [rem[1], args[2]]);
                (adjusts.then_some(rem)?, true)
            }
            _ => return None,
        };
        let (x, n) = (r[0], r[1]);
        Remainder::ask(p, inst, block, x, n, python)
    }

    fn ask(
        p: &mut Prover<'_>,
        inst: Inst,
        block: Block,
        x: Value,
        n: Value,
        python: bool,
    ) -> Option<Remainder> {
        if p.constant(n).is_some()
            || p.func.value_type(n) != Ty::I64
            || !p.ask(Node::Zero, Node::V(n), -1, block)
            || !p.ask(Node::V(x), Node::V(n), 0, block)
        {
            return None;
        }
        let negative = !p.ask(Node::Zero, Node::V(x), 0, block);
        if negative && (!python || !p.ask(Node::Zero, Node::V(x), 1, block)) {
            return None;
        }
        let full = !p.ask(Node::V(x), Node::V(n), -1, block);
        Some(Remainder { inst, block, x, n, python, negative, full })
    }

    fn apply(self, func: &mut Func) {
        debug_assert!(self.python || !self.negative);
        let loc = func.insts[self.inst.index()].loc;
        let mut before = vec![];
        let mut put = |func: &mut Func, data: InstData| {
            let i = func.make_inst(data, loc);
            before.push(i);
            func.insts[i.index()].results[0]
        };
        let zero = put(func, InstData::Const { ty: Ty::I64, bits: 0 });
        let mut at = self.x;
        if self.negative {
            let below = put(func, InstData::Op { op: Op::IcmpSlt, ty: Ty::I64, args: vec![at, zero] });
            let up = put(func, InstData::Op { op: Op::Iadd, ty: Ty::I64, args: vec![at, self.n] });
            at = put(func, InstData::Op { op: Op::Select, ty: Ty::I64, args: vec![below, up, at] });
        }
        let data = if self.full {
            let last = put(func, InstData::Op { op: Op::IcmpEq, ty: Ty::I64, args: vec![at, self.n] });
            InstData::Op { op: Op::Select, ty: Ty::I64, args: vec![last, zero, at] }
        } else {
            InstData::Op { op: Op::Iadd, ty: Ty::I64, args: vec![at, zero] }
        };
        func.insts[self.inst.index()].data = data;
        let insts = &mut func.blocks[self.block.index()].insts;
        let position = insts.iter().position(|i| *i == self.inst).unwrap_or(0);
        insts.splice(position..position, before);
    }
}

/// A value, or the number 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Node {
    Zero,
    V(Value),
}

/// `this <= other + c` (in the table of upper bounds), or `this >= other - c` (in that of lower bounds).
#[derive(Clone, Copy, Debug)]
struct Bound {
    at: Block,
    other: Node,
    c: i64,
    needs: Option<Value>,
}

/// A difference constraint: `a <= b + c`, if `needs` is not negative.
#[derive(Clone, Copy)]
struct Fact {
    a: Node,
    b: Node,
    c: i64,
    needs: Option<Value>,
}

/// Where a question is asked: in a block, possibly on one side of a condition.
#[derive(Clone, Copy)]
struct Place<'p> {
    at: Block,
    assumed: Option<&'p Assumed<'p>>,
}
struct Assumed<'p> {
    cond: Value,
    holds: bool,
    next: Option<&'p Assumed<'p>>,
}

/// A bound that is being proved by induction.
#[derive(Clone, Copy, PartialEq)]
struct Goal {
    x: Node,
    y: Node,
    c: i128,
}

pub(crate) struct Prover<'a> {
    func: &'a Func,
    cfg: &'a Cfg,
    doms: &'a Dominators,
    defs: Defs,
    /// The block each value is defined in.
    home: Vec<Option<Block>>,
    upper: FastMap<Value, Vec<Bound>>,
    lower: FastMap<Value, Vec<Bound>>,
    /// Where a value is known not to be zero.
    not_zero: FastMap<Value, Vec<Block>>,
    /// Conditions that have been decided already: a select on one has only one result.
    decided: FastMap<Value, bool>,
    goals: Vec<Goal>,
    /// Bounds that could not be proved, or are being tried, for the question at hand.
    failed: Vec<(Goal, Block)>,
    budget: u32,
}

/// The facts that are likeliest to help: the latest, which are the nearest, and the first, which hold
/// everywhere. A length that a thousand loops test has thousands.
fn recent(list: Option<&Vec<Bound>>, f: impl FnMut(&Bound)) {
    let Some(list) = list else { return };
    let (first, last) = list.split_at(list.len().min(2));
    last.iter().rev().take(8).chain(first).for_each(f);
}

impl<'a> Prover<'a> {
    pub(crate) fn new(func: &'a Func, cfg: &'a Cfg, doms: &'a Dominators) -> Prover<'a> {
        let mut home = vec![None; func.value_types.len()];
        for &b in cfg.rpo() {
            let block = &func.blocks[b.index()];
            for p in &block.params {
                home[p.index()] = Some(b);
            }
            for i in &block.insts {
                for r in &func.insts[i.index()].results {
                    home[r.index()] = Some(b);
                }
            }
        }
        let mut prover = Prover {
            func,
            cfg,
            doms,
            defs: Defs::new(func),
            home,
            upper: FastMap::default(),
            lower: FastMap::default(),
            not_zero: FastMap::default(),
            decided: FastMap::default(),
            goals: vec![],
            failed: vec![],
            budget: 0,
        };
        prover.collect();
        prover
    }

    /// Facts of every block that has one way in, through a branch.
    fn collect(&mut self) {
        for &b in self.cfg.rpo() {
            let [p] = self.cfg.preds(b) else { continue };
            let Some((cond, holds)) = self.condition(*p, b) else { continue };
            let mut facts = vec![];
            self.learn(cond, holds, 4, &mut |f| facts.push(f));
            for f in facts {
                if let Node::V(a) = f.a {
                    self.upper.entry(a).or_default().push(Bound {
                        at: b,
                        other: f.b,
                        c: f.c,
                        needs: f.needs,
                    });
                }
                if let Node::V(y) = f.b {
                    self.lower.entry(y).or_default().push(Bound {
                        at: b,
                        other: f.a,
                        c: f.c,
                        needs: f.needs,
                    });
                }
            }
            if let Some(v) = self.different_from_zero(cond, holds) {
                self.not_zero.entry(v).or_default().push(b);
            }
        }
    }

    /// The condition under which control goes from `p` to `to`.
    fn condition(&self, p: Block, to: Block) -> Option<(Value, bool)> {
        let t = self.func.terminator(p)?;
        let InstData::Brif { cond, then_to, else_to, .. } = &self.func.insts[t.index()].data else {
            return None;
        };
        (then_to.block != else_to.block).then_some((*cond, then_to.block == to))
    }

    fn op(&self, v: Value) -> Option<(Op, &'a [Value])> {
        let InstData::Op { op, args, .. } = self.defs.data(self.func, v)? else { return None };
        Some((*op, args))
    }
    fn constant(&self, v: Value) -> Option<i64> {
        self.defs.constant(self.func, v).map(|c| c as i64)
    }

    /// The result of a select whose condition is decided.
    fn chosen(&self, args: &[Value]) -> Option<Value> {
        let first = self.decided.get(&args[0]).copied().or_else(|| self.constant(args[0]).map(|c| c != 0))?;
        Some(args[if first { 1 } else { 2 }])
    }

    fn different_from_zero(&self, cond: Value, holds: bool) -> Option<Value> {
        let (op, args) = self.op(cond)?;
        let wanted = if holds { Op::IcmpNe } else { Op::IcmpEq };
        (op == wanted && self.constant(args[1]) == Some(0)).then_some(args[0])
    }

    /// What a condition says.
    fn learn(&self, cond: Value, holds: bool, depth: u32, f: &mut dyn FnMut(Fact)) {
        let Some((op, args)) = self.op(cond) else { return };
        if op == Op::Select {
            if let Some(v) = self.chosen(args)
                && depth > 0
            {
                self.learn(v, holds, depth - 1, f);
            }
            return;
        }
        let (a, b) = (args[0], *args.get(1).unwrap_or(&args[0]));
        // `a <= 7 + c` is a bound by zero.
        let node = |v: Value| self.constant(v).map_or((Node::V(v), 0), |k| (Node::Zero, k));
        let mut bound = |a: Value, b: Value, c: i64, needs: Option<Value>| {
            let ((a, up), (b, down)) = (node(a), node(b));
            if let Some(c) = c.checked_sub(up).and_then(|c| c.checked_add(down)) {
                f(Fact { a, b, c, needs });
            }
        };
        let mut fact = |a: Value, b: Value, c: i64| bound(a, b, c, None);
        let (op, holds) = match (op, holds) {
            (Op::IcmpSge, h) => (Op::IcmpSlt, !h),
            (Op::IcmpSgt, h) => (Op::IcmpSle, !h),
            (Op::IcmpNe, h) => (Op::IcmpEq, !h),
            other => other,
        };
        match (op, holds) {
            (Op::IcmpSlt, true) => fact(a, b, -1),
            (Op::IcmpSlt, false) => fact(b, a, 0),
            (Op::IcmpSle, true) => fact(a, b, 0),
            (Op::IcmpSle, false) => fact(b, a, -1),
            (Op::IcmpEq, true) => {
                fact(a, b, 0);
                fact(b, a, 0)
            }
            // Below a bound that is not negative means between 0 and the bound.
            (Op::IcmpUlt | Op::IcmpUle, true) => {
                bound(a, b, if op == Op::IcmpUlt { -1 } else { 0 }, Some(b));
                f(Fact { a: Node::Zero, b: Node::V(a), c: 0, needs: Some(b) });
            }
            (Op::Band, true) | (Op::Bor, false) if depth > 0 => {
                for v in [a, b] {
                    self.learn(v, holds, depth - 1, f)
                }
            }
            _ => {}
        }
    }

    /// Whether the comparison has the same answer whenever `b` runs.
    pub(crate) fn compare(&mut self, op: Op, x: Value, y: Value, b: Block) -> Option<bool> {
        let (vx, vy) = (Node::V(x), Node::V(y));
        let between = |p: &mut Self, low: Value, high: Node, c: i128| {
            p.ask(Node::Zero, Node::V(low), 0, b) && p.ask(Node::V(low), high, c, b)
        };
        let (lt, le) = (-1, 0);
        let yes = match op {
            Op::IcmpSlt => self.ask(vx, vy, lt, b),
            Op::IcmpSle => self.ask(vx, vy, le, b),
            Op::IcmpSgt => self.ask(vy, vx, lt, b),
            Op::IcmpSge => self.ask(vy, vx, le, b),
            Op::IcmpUlt => between(self, x, vy, lt),
            Op::IcmpUle => between(self, x, vy, le),
            Op::IcmpEq => self.ask(vx, vy, le, b) && self.ask(vy, vx, le, b),
            Op::IcmpNe => self.ask(vx, vy, lt, b) || self.ask(vy, vx, lt, b),
            _ => false,
        };
        if yes {
            return Some(true);
        }
        let no = match op {
            Op::IcmpSlt => self.ask(vy, vx, le, b),
            Op::IcmpSle => self.ask(vy, vx, lt, b),
            Op::IcmpSgt => self.ask(vx, vy, le, b),
            Op::IcmpSge => self.ask(vx, vy, lt, b),
            Op::IcmpUlt => between(self, y, vx, le),
            Op::IcmpUle => between(self, y, vx, lt),
            Op::IcmpEq => self.ask(vx, vy, lt, b) || self.ask(vy, vx, lt, b),
            Op::IcmpNe => self.ask(vx, vy, le, b) && self.ask(vy, vx, le, b),
            Op::SaddOverflows => self.constant(y).is_some_and(|k| self.sum_fits(x, k, b)),
            Op::SsubOverflows => {
                self.constant(y).and_then(i64::checked_neg).is_some_and(|k| self.sum_fits(x, k, b))
                    || self.ask(Node::Zero, vx, 0, b) && self.ask(Node::Zero, vy, 0, b)
            }
            _ => false,
        };
        no.then_some(false)
    }

    fn sum_fits(&mut self, x: Value, k: i64, b: Block) -> bool {
        self.start();
        self.fits(x, k, Place { at: b, assumed: None }, 0)
    }

    fn start(&mut self) {
        self.budget = BUDGET;
        self.goals.clear();
        self.failed.clear();
    }

    /// Whether the greater of `-x` and 0 is 0, where a versioned loop asks for the first turn on which no index is
    /// negative.
    fn exceeds_negated(&mut self, args: &[Value], b: Block) -> bool {
        let Some((Op::Ineg, x)) = self.op(args[0]) else { return false };
        let x = x[0];
        self.func.value_type(x) == Ty::I64
            && self.constant(args[1]) == Some(0)
            && self.ask(Node::Zero, Node::V(x), 0, b)
    }

    /// Whether `x <= y + c` wherever `b` runs.
    pub(crate) fn ask(&mut self, x: Node, y: Node, c: i128, b: Block) -> bool {
        self.start();
        self.le(x, y, c, Place { at: b, assumed: None }, 0)
    }

    /// Least and greatest value by type and definition alone.
    fn limits(&self, n: Node) -> (i128, i128) {
        let Node::V(v) = n else { return (0, 0) };
        if let Some(c) = self.constant(v) {
            return (c as i128, c as i128);
        }
        let of_type = |ty: Ty| {
            let bits = ty.bytes() * 8;
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        };
        let is_length = |d: &InstData| matches!(d, InstData::Load { alias: Alias::Length, .. });
        if self.defs.data(self.func, v).is_some_and(is_length) {
            return (0, MAX_LENGTH.into());
        }
        let Some((op, args)) = self.op(v) else { return of_type(self.func.value_type(v)) };
        match op {
            Op::Zext => {
                let bits = self.func.value_type(args[0]).bytes() * 8;
                (0, (1i128 << bits) - 1)
            }
            Op::Sext => self.limits(Node::V(args[0])),
            Op::Popcnt | Op::Clz | Op::Ctz => (0, 64),
            _ if op.shape() == Shape::IntCompare || op.shape() == Shape::FloatCompare => (0, 1),
            _ => of_type(self.func.value_type(v)),
        }
    }

    /// Whether `v + k` cannot leave its type.
    fn fits(&mut self, v: Value, k: i64, place: Place<'_>, depth: u32) -> bool {
        let bits = self.func.value_type(v).bytes() * 8;
        let (min, max) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
        if k >= 0 {
            self.le(Node::V(v), Node::Zero, max - k as i128, place, depth + 1)
        } else {
            self.le(Node::Zero, Node::V(v), -(min - k as i128), place, depth + 1)
        }
    }

    /// Takes constant summands off, and selects that are decided: `n` is the result plus the second.
    fn strip(&mut self, n: Node, place: Place<'_>, depth: u32) -> (Node, i128) {
        let (mut n, mut sum) = (n, 0i128);
        while let Node::V(v) = n {
            if let Some(c) = self.constant(v) {
                return (Node::Zero, sum + c as i128);
            }
            let Some((op, args)) = self.op(v) else { break };
            if op == Op::Select
                && let Some(v) = self.chosen(args)
            {
                n = Node::V(v);
                continue;
            }
            let Some(k) = self.constant(args[args.len() - 1]) else { break };
            if op != Op::Iadd {
                break;
            }
            if !self.fits(args[0], k, place, depth) {
                break;
            }
            (n, sum) = (Node::V(args[0]), sum + k as i128);
        }
        (n, sum)
    }

    /// Whether `x <= y + c` at the place.
    fn le(&mut self, x: Node, y: Node, c: i128, place: Place<'_>, depth: u32) -> bool {
        if self.budget == 0 || depth > MAX_DEPTH {
            return false;
        }
        self.budget -= 1;
        if x == y {
            return c >= 0;
        }
        if self.limits(x).1 - self.limits(y).0 <= c {
            return true;
        }
        let whole = (x, y, c);
        let (x, up) = self.strip(x, place, depth);
        let (y, down) = self.strip(y, place, depth);
        let c = c - up + down;
        if x == y {
            return c >= 0;
        }
        if self.limits(x).1 - self.limits(y).0 <= c {
            return true;
        }
        if self.goals.iter().any(|g| g.x == x && g.y == y && c >= g.c) {
            return true;
        }
        // Conditions may be about a sum: `while k < n and …: k += 1` asks for `k + 1` before it is the next `k`.
        if (x, y) != (whole.0, whole.1) && self.by_facts(whole.0, whole.1, whole.2, place, depth) {
            return true;
        }
        // Facts lead in circles: what failed here, or is being tried, is not tried again.
        let attempt = (Goal { x, y, c }, place.at);
        if self.failed.iter().any(|(g, at)| g.x == x && g.y == y && c <= g.c && *at == place.at) {
            return false;
        }
        self.failed.push(attempt);
        let proved = self.by_facts(x, y, c, place, depth)
            || self.by_definition(x, y, c, place, depth)
            || self.by_induction(x, y, c, depth);
        if proved {
            self.failed.retain(|f| *f != attempt);
        }
        proved
    }

    fn by_facts(&mut self, x: Node, y: Node, c: i128, place: Place<'_>, depth: u32) -> bool {
        let mut found = vec![];
        let doms = self.doms;
        // A chain of facts can be followed from either end; from the lower end, unless that is the number
        // zero, of which there is no table.
        match (x, y) {
            (Node::V(v), _) => {
                recent(self.upper.get(&v), |f| {
                    if doms.dominates(f.at, place.at) {
                        found.push((true, *f))
                    }
                });
                // Two counters that go up together: one is bounded, the other is not above it.
                if let (Some((header, _)), Node::V(w)) = (self.parameter(x), y) {
                    let beside = |n: Node| self.parameter(n).is_some_and(|(b, _)| b == header);
                    recent(self.lower.get(&w), |f| {
                        if beside(f.other) && doms.dominates(f.at, place.at) {
                            found.push((false, *f))
                        }
                    });
                }
            }
            (Node::Zero, Node::V(v)) => recent(self.lower.get(&v), |f| {
                if doms.dominates(f.at, place.at) {
                    found.push((false, *f))
                }
            }),
            (Node::Zero, Node::Zero) => {}
        }
        let mut assumed = place.assumed;
        while let Some(a) = assumed {
            self.learn(a.cond, a.holds, 4, &mut |f| {
                let bound = |other| Bound { at: place.at, other, c: f.c, needs: f.needs };
                if f.a == x && x != Node::Zero {
                    found.push((true, bound(f.b)));
                }
                if f.b == y && x == Node::Zero {
                    found.push((false, bound(f.a)));
                }
            });
            assumed = a.next;
        }
        // Those that end the search come first.
        found.sort_by_key(|(is_upper, f)| f.other != if *is_upper { y } else { x });
        for (is_upper, f) in found {
            let rest = c - f.c as i128;
            let proved = if is_upper {
                self.le(f.other, y, rest, place, depth + 1)
            } else {
                self.le(x, f.other, rest, place, depth + 1)
            };
            if proved && f.needs.is_none_or(|n| self.not_negative(n, place, depth)) {
                return true;
            }
        }
        // Not negative and not zero is at least one.
        if let (Node::Zero, Node::V(v), -1) = (x, y, c) {
            let nonzero = self
                .not_zero
                .get(&v)
                .is_some_and(|blocks| blocks.iter().any(|b| doms.dominates(*b, place.at)));
            if nonzero && self.not_negative(v, place, depth) {
                return true;
            }
        }
        false
    }

    fn not_negative(&mut self, v: Value, place: Place<'_>, depth: u32) -> bool {
        self.le(Node::Zero, Node::V(v), 0, place, depth + 1)
    }

    /// For block parameters: the bound holds for what arrives on every edge, where what comes round a loop
    /// may assume it. The other side must be the same value on every turn, or a parameter of the same block.
    fn by_induction(&mut self, x: Node, y: Node, c: i128, depth: u32) -> bool {
        let (px, py) = (self.parameter(x), self.parameter(y));
        let fixed = |p: &Self, n: Node, b: Block| match n {
            Node::Zero => true,
            Node::V(v) => p.home[v.index()].is_some_and(|h| h != b && p.doms.dominates(h, b)),
        };
        for block in [px, py].into_iter().flatten().map(|(b, _)| b) {
            let side = |p: &Self, n: Node, param: Option<(Block, usize)>| match param {
                Some((b, i)) if b == block => Some(Err(i)),
                Some(_) | None => fixed(p, n, block).then_some(Ok(n)),
            };
            let (Some(sx), Some(sy)) = (side(self, x, px), side(self, y, py)) else { continue };
            self.goals.push(Goal { x, y, c });
            let proved = self.on_every_edge(block, sx, sy, c, depth);
            self.goals.pop();
            if proved {
                return true;
            }
        }
        false
    }

    fn on_every_edge(
        &mut self,
        block: Block,
        x: Result<Node, usize>,
        y: Result<Node, usize>,
        c: i128,
        depth: u32,
    ) -> bool {
        let preds = self.cfg.preds(block);
        if preds.is_empty() || preds.len() > 8 {
            return false;
        }
        preds.iter().all(|p| {
            let Some(t) = self.func.terminator(*p) else { return false };
            let cond = self.condition(*p, block);
            let mut all = true;
            let data = &self.func.insts[t.index()].data;
            data.for_each_target(|to, args| {
                if to != block || !all {
                    return;
                }
                let arrives =
                    |s: Result<Node, usize>| s.or_else(|i| args.get(i).map(|v| Node::V(*v)).ok_or(()));
                let (Ok(x), Ok(y)) = (arrives(x), arrives(y)) else {
                    all = false;
                    return;
                };
                let assumed = cond.map(|(cond, holds)| Assumed { cond, holds, next: None });
                all = self.le(x, y, c, Place { at: *p, assumed: assumed.as_ref() }, depth + 1);
            });
            all
        })
    }

    /// The block and position, if the node is a block parameter (not of the entry).
    fn parameter(&self, n: Node) -> Option<(Block, usize)> {
        let Node::V(v) = n else { return None };
        if self.defs.inst(v).is_some() {
            return None;
        }
        let b = self.home[v.index()]?;
        let at = self.func.blocks[b.index()].params.iter().position(|p| *p == v)?;
        (b != self.func.entry()).then_some((b, at))
    }
}
