//! Divisions of Python's integers in 32 bits where both operands are small.
//!
//! ```text
//! a: r = srem x, n                          a:     t = x | n; brif t <u 2^31, fast, slow
//!    s = select(n < 0 ? r > 0 : r < 0,   →  fast:  brif n32 ≠ 0, known, never
//!               r + n, r)                   known: r32 = urem x32, n32; jump met(zext r32)
//!    … s …                                  slow:  r = …; s = …; jump met(s)
//!                                           met(s'): … s' …
//! ```
//!
//! Python rounds quotients down and gives remainders the sign of the divisor; numbers that are not negative
//! need neither, and a division of 32 bits takes half as long as one of 64 on many processors. In a loop such
//! as Euclid's algorithm every turn waits for this chain. Only divisors that a branch has found not to be
//! zero qualify, and `never` says so of their lower half. This comes after checks were deferred, for then
//! they no longer protect. Divisors that are constant are left to the back end, which multiplies.

use super::edit::{Defs, Subst, Writer, use_counts};
use crate::lir::cfg::{Analyses, Cfg, Dominators};
use crate::lir::{Block, BlockCall, Cold, Func, Inst, InstData, Op, Ty, Value};

/// Divisions of one function: beyond it what matters is the size of the code.
const MAX: usize = 8;

/// `select` in `block` corrects `base`, which is `x / n` or `x % n` towards zero, and would not where neither
/// is negative.
struct Division {
    block: Block,
    select: Inst,
    signed: Op,
    x: Value,
    n: Value,
}

pub(crate) fn narrow_divisions(func: &mut Func, analyses: &mut Analyses) {
    let mut found = find(func, analyses);
    found.truncate(MAX);
    // What stands behind a division leaves its block with it, so the last one comes first.
    for d in found.iter().rev() {
        apply(func, d);
        analyses.invalidate();
    }
}

fn find(func: &Func, analyses: &Analyses) -> Vec<Division> {
    let defs = Defs::new(func);
    let candidates: Vec<Division> = func
        .layout
        .iter()
        .filter(|b| !func.blocks[b.index()].cold)
        .flat_map(|b| {
            func.blocks[b.index()]
                .insts
                .iter()
                .filter_map(|i| corrected(func, &defs, *b, *i))
                .collect::<Vec<_>>()
        })
        .collect();
    if candidates.is_empty() {
        return candidates;
    }
    let (cfg, doms, loops) = (analyses.cfg(func), analyses.dominators(func), analyses.loops(func));
    let in_loop = |b: Block| loops.of(b).is_some();
    candidates
        .into_iter()
        .filter(|d| {
            in_loop(d.block) && NotZero { func, defs: &defs, cfg, doms, assumed: vec![] }.at(d.n, d.block)
        })
        .collect()
}

fn operation<'f>(func: &'f Func, defs: &Defs, v: Value) -> Option<(Op, &'f [Value])> {
    let InstData::Op { op, args, .. } = defs.data(func, v)? else { return None };
    Some((*op, args))
}

fn corrected(func: &Func, defs: &Defs, block: Block, select: Inst) -> Option<Division> {
    let InstData::Op { op: Op::Select, ty: Ty::I64, args } = &func.insts[select.index()].data else {
        return None;
    };
    let &[cond, _, base] = args.as_slice() else { return None };
    let (signed @ (Op::Sdiv | Op::Srem), &[x, n]) = operation(func, defs, base)? else { return None };
    if defs.constant(func, n).is_some() {
        return None;
    }
    let d = Division { block, select, signed, x, n };
    never_corrects(func, defs, &d, base, cond, 4).then_some(d)
}

/// Whether `cond` is false for every `x` that is not negative and `n` that is positive.
fn never_corrects(func: &Func, defs: &Defs, d: &Division, base: Value, cond: Value, depth: u32) -> bool {
    let Some((op, args)) = operation(func, defs, cond) else { return false };
    let asks = |v: Value| depth > 0 && never_corrects(func, defs, d, base, v, depth - 1);
    if let (Op::IcmpSlt, &[v, zero]) = (op, args) {
        return defs.constant(func, zero) == Some(0) && (v == d.n || is_remainder(func, defs, d, base, v));
    }
    if let (Op::Band, &[a, b]) = (op, args) {
        return asks(a) || asks(b);
    }
    if let (Op::Select, &[c, a, b]) = (op, args) {
        return asks(b) && (asks(c) || asks(a));
    }
    false
}

/// `x % n`, also as `x - x / n * n`.
fn is_remainder(func: &Func, defs: &Defs, d: &Division, base: Value, v: Value) -> bool {
    if d.signed == Op::Srem {
        return v == base;
    }
    let Some((Op::Isub, &[x, product])) = operation(func, defs, v) else { return false };
    let Some((Op::Imul, factors)) = operation(func, defs, product) else { return false };
    x == d.x && (factors == [base, d.n] || factors == [d.n, base])
}

/// Which values branches have found not to be zero.
struct NotZero<'a> {
    func: &'a Func,
    defs: &'a Defs,
    cfg: &'a Cfg,
    doms: &'a Dominators,
    assumed: Vec<Value>,
}

impl NotZero<'_> {
    /// Whether `n` is not zero wherever `block` runs: a branch on the way says so, or all that is passed for
    /// a parameter is not zero on its way.
    fn at(&mut self, n: Value, block: Block) -> bool {
        let mut at = block;
        loop {
            if let [above] = self.cfg.preds(at)
                && self.says(n, *above, at)
            {
                return true;
            }
            let params = &self.func.blocks[at.index()].params;
            if let Some(which) = params.iter().position(|p| *p == n) {
                return self.passed(n, at, which);
            }
            let Some(above) = self.doms.idom(at) else { return false };
            at = above;
        }
    }

    /// By induction over the turns of a loop a parameter that is asked for a second time may be assumed not
    /// to be zero.
    fn passed(&mut self, n: Value, block: Block, which: usize) -> bool {
        if self.assumed.contains(&n) {
            return true;
        }
        if self.assumed.len() == MAX || block == self.func.entry() {
            return false;
        }
        self.assumed.push(n);
        self.cfg.preds(block).iter().all(|p| {
            let mut all = true;
            let Some(t) = self.func.terminator(*p) else { return false };
            self.func.insts[t.index()].data.for_each_target(|to, args| {
                if to == block {
                    all &= args.get(which).is_some_and(|v| {
                        self.says(*v, *p, block)
                            || self.defs.constant(self.func, *v).is_some_and(|bits| bits != 0)
                            || self.at(*v, *p)
                    });
                }
            });
            all
        })
    }

    /// Whether the branch at the end of `from` leads to `to` only where `n` is not zero.
    fn says(&self, n: Value, from: Block, to: Block) -> bool {
        let Some(InstData::Brif { cond, then_to, else_to, .. }) =
            self.func.terminator(from).map(|t| &self.func.insts[t.index()].data)
        else {
            return false;
        };
        let Some((op, &[v, zero])) = operation(self.func, self.defs, *cond) else { return false };
        let (yes, no) = (then_to.block == to, else_to.block == to);
        v == n
            && self.defs.constant(self.func, zero) == Some(0)
            && (op == Op::IcmpNe && yes && !no || op == Op::IcmpEq && no && !yes)
    }
}

fn apply(func: &mut Func, d: &Division) {
    let loc = func.insts[d.select.index()].loc;
    let result = func.insts[d.select.index()].results[0];
    let moved = only_for(func, d);
    let [fast, known, never, slow, met] = std::array::from_fn(|_| func.make_block());
    func.blocks[never.index()].cold = true;
    let merged = func.add_param(met, Ty::I64);
    let mut subst = Subst::new(func);
    subst.set(result, merged);
    subst.apply(func);

    let insts = std::mem::take(&mut func.blocks[d.block.index()].insts);
    let at = insts.iter().position(|i| *i == d.select).unwrap_or(insts.len());
    let (before, after) = insts.split_at(at);
    let (aside, stays): (Vec<Inst>, Vec<Inst>) = before.iter().partition(|i| moved.contains(i));
    func.blocks[d.block.index()].insts = stays;
    func.blocks[slow.index()].insts = aside;
    func.blocks[slow.index()].insts.push(d.select);
    func.blocks[met.index()].insts = after.iter().copied().filter(|i| *i != d.select).collect();

    let to = |block: Block, args: Vec<Value>| BlockCall { block, args };
    let mut w = Writer { func, loc };
    let both = w.bin(d.block, Op::Bor, d.x, d.n);
    let limit = w.int(d.block, Ty::I64, 1 << 31);
    let small = w.bin(d.block, Op::IcmpUlt, both, limit);
    w.put(
        d.block,
        InstData::Brif {
            cond: small,
            then_to: to(fast, vec![]),
            else_to: to(slow, vec![]),
            cold: Cold::Neither,
        },
    );
    let half = |w: &mut Writer<'_>, v: Value| {
        w.value(fast, InstData::Op { op: Op::Itrunc, ty: Ty::I32, args: vec![v] })
    };
    let (x, n) = (half(&mut w, d.x), half(&mut w, d.n));
    let zero = w.int(fast, Ty::I32, 0);
    let is_not = w.bin(fast, Op::IcmpNe, n, zero);
    w.put(
        fast,
        InstData::Brif {
            cond: is_not,
            then_to: to(known, vec![]),
            else_to: to(never, vec![]),
            cold: Cold::Else,
        },
    );
    w.put(never, InstData::Unreachable);
    let short = w.bin(known, if d.signed == Op::Srem { Op::Urem } else { Op::Udiv }, x, n);
    let wide = w.value(known, InstData::Op { op: Op::Zext, ty: Ty::I64, args: vec![short] });
    w.put(known, InstData::Jump(to(met, vec![wide])));
    w.put(slow, InstData::Jump(to(met, vec![result])));

    let at = func.layout.iter().position(|b| *b == d.block).map_or(func.layout.len(), |p| p + 1);
    func.layout.splice(at..at, [fast, known, met]);
    func.layout.extend([slow, never]);
}

/// Operations in front of the select, in its block, whose results nothing but it and each other needs.
fn only_for(func: &Func, d: &Division) -> Vec<Inst> {
    let mut uses = use_counts(func);
    // The operands are asked before, so what computes them stays.
    for v in [d.x, d.n] {
        uses[v.index()] += 1;
    }
    let mut found = vec![];
    let mut inside = vec![0u32; func.value_types.len()];
    func.insts[d.select.index()].data.for_each_use(|v| inside[v.index()] += 1);
    let insts = &func.blocks[d.block.index()].insts;
    let at = insts.iter().position(|i| *i == d.select).unwrap_or(0);
    for &i in insts[..at].iter().rev() {
        let node = &func.insts[i.index()];
        let InstData::Op { .. } = node.data else { continue };
        if !node.results.iter().all(|r| uses[r.index()] > 0 && uses[r.index()] == inside[r.index()]) {
            continue;
        }
        found.push(i);
        node.data.for_each_use(|v| inside[v.index()] += 1);
    }
    found
}
