//! Lengths of vectors that are only compared with a number: squares are compared, unless they are so near to
//! each other that the last places of the length decide.
//!
//! ```text
//! a: h = hypot(x, y)           a: s = x·x + y·y; t = c·c
//!    k = h > c             →      sure = 0 < c & 10⁻²⁰⁰ < t < 10²⁰⁰ & (s > t + ε·t | s < t − ε·t)
//!    … k …                        brif sure, met(s > t), cold near
//!                              near: h = hypot(x, y); jump met(h > c)
//!                              met(k): … k …
//! ```
//!
//! A length with all its bits takes ten times as long as its square. Where it overflows, or one coordinate is
//! NaN, `s` says nothing and `near` does.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "only comparisons of order, and ends that pass values, matter"
)]

use super::edit::{Defs, Subst, Writer, use_counts};
use crate::lir::cfg::{Analyses, Cfg};
use crate::lir::{Block, BlockCall, Cold, Func, Inst, InstData, Op, Ty, Value};
use crate::ops::mathfn::f64_hypot;

/// Comparisons of one function: beyond it what matters is the size of the code.
const MAX: usize = 16;

/// How far squares are apart, as a part of them, where rounding changes nothing: far above that of `s`, `t` and
/// `h`.
const APART: f64 = 1.0 / (1u64 << 40) as f64;

/// Squares are compared where that of the number is between these.
const LEAST: f64 = 1e-200;
const MOST: f64 = 1e200;

/// Where a length that has to be finite is that.
const FINITE: f64 = 1e300;

/// `compare` in `block` compares `length` with `with`.
struct Comparison {
    block: Block,
    compare: Inst,
    length: Inst,
    with: Value,
    /// Whether it holds of lengths that are greater.
    of_greater: bool,
}

/// One in a block that is entered with the length where it is finite: `abs(z)` raises where it is not.
///
/// ```text
/// b: h = hypot(x, y); brif |h| < inf, a(h), cold fails
/// a(p): k = p > c; …
/// ```
struct Checked {
    comparison: Comparison,
    /// The block that computes the length, and what is computed in it to check it.
    from: Block,
    check: [Inst; 2],
    /// Which parameter is the length.
    which: usize,
}

pub(crate) fn compare_squares(func: &mut Func, analyses: &mut Analyses) {
    if !func.layout.iter().any(|b| func.blocks[b.index()].insts.iter().any(|i| is_length(func, *i))) {
        return;
    }
    let checked = find_checked(func, analyses.cfg(func));
    for c in &checked {
        apply_checked(func, c);
        analyses.invalidate();
    }
    let found = find(func);
    // What stands behind a comparison leaves its block with it, so the last one comes first.
    for c in found.iter().rev() {
        apply(func, c);
        analyses.invalidate();
    }
}

fn is_length(func: &Func, i: Inst) -> bool {
    matches!(&func.insts[i.index()].data, InstData::CallHelper { helper, .. } if **helper == f64_hypot)
}

/// What a comparison compares `is_one` with, and whether it holds of greater ones.
fn compared(func: &Func, i: Inst, is_one: impl Fn(Value) -> bool) -> Option<(Value, Value, bool)> {
    let InstData::Op { op, ty: Ty::F64, args } = &func.insts[i.index()].data else { return None };
    let greater = match op {
        Op::FcmpGt | Op::FcmpGe => true,
        Op::FcmpLt | Op::FcmpLe => false,
        _ => return None,
    };
    match (is_one(args[0]), is_one(args[1])) {
        (true, false) => Some((args[0], args[1], greater)),
        (false, true) => Some((args[1], args[0], !greater)),
        (true, true) | (false, false) => None,
    }
}

fn warm(func: &Func) -> impl Iterator<Item = Block> {
    func.layout.iter().copied().filter(|b| !func.blocks[b.index()].cold)
}

fn find(func: &Func) -> Vec<Comparison> {
    let (defs, uses) = (Defs::new(func), use_counts(func));
    let length = |v: Value| defs.inst(v).filter(|d| is_length(func, *d) && uses[v.index()] == 1);
    let mut found = vec![];
    for block in warm(func) {
        for &compare in &func.blocks[block.index()].insts {
            if let Some((h, with, of_greater)) = compared(func, compare, |v| length(v).is_some())
                && let Some(length) = length(h)
            {
                found.push(Comparison { block, compare, length, with, of_greater });
            }
        }
    }
    found.truncate(MAX);
    found
}

fn find_checked(func: &Func, cfg: &Cfg) -> Vec<Checked> {
    let (defs, uses) = (Defs::new(func), use_counts(func));
    let mut found: Vec<Checked> = warm(func).filter_map(|b| checked(func, cfg, (&defs, &uses), b)).collect();
    found.truncate(MAX);
    found
}

fn checked(func: &Func, cfg: &Cfg, (defs, uses): (&Defs, &[u32]), from: Block) -> Option<Checked> {
    let InstData::Brif { cond, then_to, else_to, cold: Cold::Else } =
        &func.insts[func.terminator(from)?.index()].data
    else {
        return None;
    };
    let of = |v: Value, wanted: Op| {
        let i =
            defs.inst(v).filter(|i| uses[v.index()] == 1 && func.blocks[from.index()].insts.contains(i))?;
        let InstData::Op { op, args, .. } = &func.insts[i.index()].data else { return None };
        (*op == wanted).then_some((i, args))
    };
    let (less, args) = of(*cond, Op::FcmpLt)?;
    let (size, of_length) = of(args[0], Op::Fabs)?;
    if defs.constant(func, args[1]) != Some(f64::INFINITY.to_bits()) {
        return None;
    }
    let h = of_length[0];
    let length =
        defs.inst(h).filter(|i| is_length(func, *i) && func.blocks[from.index()].insts.contains(i))?;
    let which = then_to.args.iter().position(|a| *a == h)?;
    if uses[h.index()] != 2 || else_to.block == then_to.block {
        return None;
    }
    let block = then_to.block;
    let inside = &func.blocks[block.index()];
    let p = inside.params[which];
    if uses[p.index()] != 1 || block == from {
        return None;
    }
    let (compare, (_, with, of_greater)) =
        inside.insts.iter().find_map(|i| Some((*i, compared(func, *i, |v| v == p)?)))?;
    let made_here =
        inside.params.contains(&with) || defs.inst(with).is_some_and(|i| inside.insts.contains(&i));
    let ends_plainly = |b: &Block| {
        func.terminator(*b)
            .is_some_and(|t| matches!(func.insts[t.index()].data, InstData::Jump(_) | InstData::Brif { .. }))
    };
    if made_here || !cfg.preds(block).iter().all(ends_plainly) {
        return None;
    }
    let comparison = Comparison { block, compare, length, with, of_greater };
    Some(Checked { comparison, from, check: [size, less], which })
}

/// Squares that are compared in a block: whether they tell, and the answer.
fn squares(func: &mut Func, b: Block, c: &Comparison, finite: bool) -> (Value, Value) {
    let InstData::CallHelper { args, .. } = &func.insts[c.length.index()].data else {
        return (c.with, c.with);
    };
    let (x, y) = (args[0], args[1]);
    let loc = func.insts[c.compare.index()].loc;
    let mut w = Writer { func, loc };
    let number = |w: &mut Writer<'_>, x: f64| w.value(b, InstData::Const { ty: Ty::F64, bits: x.to_bits() });
    let (p, q, t) = (w.bin(b, Op::Fmul, x, x), w.bin(b, Op::Fmul, y, y), w.bin(b, Op::Fmul, c.with, c.with));
    let s = w.bin(b, Op::Fadd, p, q);
    let compares = |w: &mut Writer<'_>, op: Op, x: Value, y: Value| {
        w.value(b, InstData::Op { op, ty: Ty::F64, args: vec![x, y] })
    };
    let (zero, least, most, apart) =
        (number(&mut w, 0.0), number(&mut w, LEAST), number(&mut w, MOST), number(&mut w, APART));
    let part = w.bin(b, Op::Fmul, t, apart);
    let (high, low) = (w.bin(b, Op::Fadd, t, part), w.bin(b, Op::Fsub, t, part));
    let (over, under) = (compares(&mut w, Op::FcmpGt, s, high), compares(&mut w, Op::FcmpLt, s, low));
    let positive = compares(&mut w, Op::FcmpGt, c.with, zero);
    let (above, below) = (compares(&mut w, Op::FcmpGt, t, least), compares(&mut w, Op::FcmpLt, t, most));
    let in_range = w.bin(b, Op::Band, above, below);
    let usual = w.bin(b, Op::Band, positive, in_range);
    let mut far = over;
    if finite {
        let limit = number(&mut w, FINITE);
        let is_finite = compares(&mut w, Op::FcmpLt, s, limit);
        far = w.bin(b, Op::Band, over, is_finite);
    }
    let apart = w.bin(b, Op::Bor, far, under);
    (w.bin(b, Op::Band, usual, apart), if c.of_greater { over } else { under })
}

fn to(block: Block, args: Vec<Value>) -> BlockCall {
    BlockCall { block, args }
}

fn apply(func: &mut Func, c: &Comparison) {
    let loc = func.insts[c.compare.index()].loc;
    let result = func.insts[c.compare.index()].results[0];
    let [near, met] = std::array::from_fn(|_| func.make_block());
    func.blocks[near.index()].cold = true;
    let merged = func.add_param(met, Ty::I8);
    let mut subst = Subst::new(func);
    subst.set(result, merged);
    subst.apply(func);

    for b in func.layout.clone() {
        func.blocks[b.index()].insts.retain(|i| *i != c.length);
    }
    let insts = std::mem::take(&mut func.blocks[c.block.index()].insts);
    let at = insts.iter().position(|i| *i == c.compare).unwrap_or(insts.len());
    func.blocks[c.block.index()].insts = insts[..at].to_vec();
    func.blocks[near.index()].insts = vec![c.length, c.compare];
    func.blocks[met.index()].insts = insts[at..].iter().copied().filter(|i| *i != c.compare).collect();

    let (sure, holds) = squares(func, c.block, c, false);
    let mut w = Writer { func, loc };
    let (then_to, else_to) = (to(met, vec![holds]), to(near, vec![]));
    w.put(c.block, InstData::Brif { cond: sure, then_to, else_to, cold: Cold::Else });
    w.put(near, InstData::Jump(to(met, vec![result])));
    let at = func.layout.iter().position(|l| *l == c.block).map_or(func.layout.len(), |p| p + 1);
    func.layout.insert(at, met);
    func.layout.push(near);
}

/// All that lead to the block compare what they pass, and the one that computes the length has a way past it.
fn apply_checked(func: &mut Func, c: &Checked) {
    let Checked { comparison, from, check, which } = c;
    let block = comparison.block;
    let InstData::Op { op, ty, args } = func.insts[comparison.compare.index()].data.clone() else { return };
    let loc = func.insts[comparison.compare.index()].loc;
    let result = func.insts[comparison.compare.index()].results[0];
    let p = func.blocks[block.index()].params[*which];
    let answer = func.add_param(block, Ty::I8);
    func.blocks[block.index()].params.pop();
    func.blocks[block.index()].params[*which] = answer;
    func.blocks[block.index()].insts.retain(|i| *i != comparison.compare);
    let mut subst = Subst::new(func);
    subst.set(result, answer);
    subst.apply(func);

    for b in func.layout.clone() {
        let Some(end) = func.terminator(b) else { continue };
        let mut data = func.insts[end.index()].data.clone();
        let mut before = vec![];
        let mut compare = |to: &mut BlockCall| {
            if to.block == block {
                let passed = to.args[*which];
                let args = args.iter().map(|a| if *a == p { passed } else { *a }).collect();
                let i = func.make_inst(InstData::Op { op, ty, args }, loc);
                before.push(i);
                to.args[*which] = func.insts[i.index()].results[0];
            }
        };
        match &mut data {
            InstData::Jump(to) => compare(to),
            InstData::Brif { then_to, else_to, .. } => {
                compare(then_to);
                compare(else_to);
            }
            _ => {}
        }
        let insts = &mut func.blocks[b.index()].insts;
        let at = insts.len().saturating_sub(1);
        insts.splice(at..at, before.iter().copied());
        func.insts[end.index()].data = data.clone();
        if b == *from
            && let ([compare], InstData::Brif { then_to, .. }) = (&before[..], data)
        {
            let near = func.make_block();
            func.blocks[near.index()].cold = true;
            let aside = [comparison.length, check[0], check[1], *compare, end];
            func.blocks[b.index()].insts.retain(|i| !aside.contains(i));
            func.blocks[near.index()].insts = aside.to_vec();
            let (sure, holds) = squares(func, b, comparison, true);
            let mut past = then_to;
            past.args[*which] = holds;
            let else_to = to(near, vec![]);
            let data = InstData::Brif { cond: sure, then_to: past, else_to, cold: Cold::Else };
            Writer { func, loc }.put(b, data);
            func.layout.push(near);
        }
    }
}
