//! Iterations far from one another that meet: `a[i] = a[n - 1 - i]`, `a[i] = a[i + 100]`, `a[i] = a[n // 2]`.
//!
//! The first iterations do not show these ([`super::races`]), and a loop may have too many to try all of them.
//! What an index is in an iteration at the beginning, in the middle or at the end is looked for among the other
//! ones: where those change by steps of one size it is found by a division, and then tried out. Unknown values
//! that are computed from others are so here too ([`Places::deep`]), for halves must be known as halves, and
//! conditions on the loop's variable are obeyed.

use super::classifier::Classifier;
use super::places::{Class, Ix, Part, Places};
use super::trial::{Access, Numbers, Spot, Trial};
use crate::ops::{OpId, id};
use crate::ssa::{Block, Op, Term, Value};

/// What unknown values are: larger and larger, smaller and smaller, by much and by little, all the same; and so
/// small that the loop is a short one. What meets for each of them, as far as they leave the loop iterations,
/// does so whatever they are.
pub(super) const SAMPLES: [fn(i64) -> i64; 7] = [
    |k| 100_000 << (2 * k.min(9)),
    |k| 1_000_003 >> (2 * k.min(8)),
    |k| 100_111 + 2 * k,
    |k| 400_001 >> (2 * k.min(3)),
    |_| 100_117,
    |k| 3 + 2 * k,
    |k| 5 + k,
];
/// Those of them with which loops are long.
const LONG: usize = 5;
/// Accesses with more values of inner ranges than these are looked at in fewer iterations.
const MANY: usize = 27;

/// A comparison that holds where an access happens, or does not.
struct Guard {
    test: OpId,
    sides: [Ix; 2],
    holds: bool,
}

/// Where an access goes, and when.
struct Place {
    parts: Vec<Part>,
    /// How long the dimensions are, where that is known.
    lengths: Vec<Option<Ix>>,
    guards: Vec<Guard>,
    inner: Vec<usize>,
}

pub(super) struct Far<'a> {
    trial: Trial<'a>,
    places: Vec<Place>,
}

impl<'a> Far<'a> {
    /// The same accesses again.
    pub(super) fn new(c: &'a Classifier<'a>, mut trial: Trial<'a>, all: &[Access]) -> Far<'a> {
        let places = all
            .iter()
            .map(|a| {
                let lengths = (0..a.parts.len()).map(|d| trial.places.length_of(a.of, d)).collect();
                let guards = guards(c, &mut trial.places, a.block);
                let mut inner = vec![];
                let is_known = trial.inner_ranges(&a.parts, &mut inner);
                let parts = if is_known { a.parts.clone() } else { vec![] };
                Place { parts, lengths, guards, inner }
            })
            .collect();
        Far { trial, places }
    }

    /// The iterations in which two accesses meet in long loops whatever is unknown, those that are nearest to
    /// one another; and whether they do so in short loops too.
    pub(super) fn proof(&self, a: usize, b: usize) -> Option<((u64, u64), bool)> {
        let (p, q) = (&self.places[a], &self.places[b]);
        let own = |(x, y): (&Part, &Part)| x == y && self.trial.places.part_class(x) == Class::Distinct;
        if p.parts.is_empty() || q.parts.is_empty() || p.parts.iter().zip(&q.parts).any(own) {
            return None;
        }
        let mut worst: Option<(u64, u64)> = None;
        for sample in 0..SAMPLES.len() {
            let Some(n) = self.trial.length_at(sample).filter(|n| *n >= 2) else { continue };
            let Some(found) = self.nearest(p, q, (sample, n)) else {
                return if sample < LONG { None } else { worst.map(|w| (w, false)) };
            };
            if worst.is_none_or(|w| w.0.abs_diff(w.1) < found.0.abs_diff(found.1)) {
                worst = Some(found);
            }
        }
        worst.map(|w| (w, true))
    }

    /// The nearest iterations of those that are tried.
    fn nearest(&self, p: &Place, q: &Place, (sample, n): (usize, u64)) -> Option<(u64, u64)> {
        let mut best: Option<(u64, u64)> = None;
        for (p, q, turned) in [(p, q, false), (q, p, true)] {
            let lines = self.lines(q, (sample, n));
            let few = 3usize.pow(p.inner.len() as u32) * lines.len() > MANY;
            for s in tried(n, few) {
                for picks in picks(&p.inner) {
                    let Some(there) = self.at(p, (sample, s), &picks) else { continue };
                    for line in &lines {
                        for t in line.candidates(&there, s, n) {
                            let nearer = best.is_none_or(|b| s.abs_diff(t) < b.0.abs_diff(b.1));
                            if s != t
                                && nearer
                                && self
                                    .at(q, (sample, t), &line.picks)
                                    .is_some_and(|other| overlap(&there, &other))
                            {
                                best = Some(if turned { (t, s) } else { (s, t) });
                            }
                        }
                    }
                }
                if best.is_some_and(|b| b.0.abs_diff(b.1) == 1) {
                    return best;
                }
            }
        }
        best
    }

    /// Where an access goes in one iteration, if it happens there.
    fn at(&self, p: &Place, (sample, t): (usize, u64), picks: &[(usize, u8)]) -> Option<Spot> {
        let numbers = Numbers { trial: &self.trial, sample, iter: self.trial.iter_at(sample, t)?, picks };
        let happens = p.guards.iter().all(|g| {
            let [Some(x), Some(y)] = [&g.sides[0], &g.sides[1]].map(|ix| numbers.of(ix)) else { return true };
            compares(g.test, x, y).is_none_or(|is| is == g.holds)
        });
        if happens { self.trial.spot(&p.parts, &p.lengths, &numbers) } else { None }
    }

    /// How an access moves on from one iteration to the next, early and late in the loop.
    fn lines(&self, q: &Place, (sample, n): (usize, u64)) -> Vec<Line> {
        let mut out: Vec<Line> = vec![];
        for picks in picks(&q.inner) {
            let there = |t: u64| {
                let iter = self.trial.iter_at(sample, t)?;
                let numbers = Numbers { trial: &self.trial, sample, iter, picks: &picks };
                self.trial.spot(&q.parts, &q.lengths, &numbers)
            };
            let mut last = None;
            for t in [n / 8, n / 8 * 7].map(|t| t.min(n - 2)) {
                let (Some(one), Some(next)) = (there(t), there(t + 1)) else { continue };
                let steps: Vec<i64> = one.iter().zip(&next).map(|(x, y)| y.0.saturating_sub(x.0)).collect();
                let begins: Vec<i64> = one
                    .iter()
                    .zip(&steps)
                    .map(|(x, g)| x.0.saturating_sub(g.saturating_mul(t as i64)))
                    .collect();
                if last.as_ref() != Some(&(steps.clone(), begins.clone())) {
                    last = Some((steps.clone(), begins.clone()));
                    out.push(Line { steps, begins, picks: picks.clone() });
                }
            }
        }
        out
    }
}

/// An access that is at `begins + steps * t` in iteration `t`.
struct Line {
    steps: Vec<i64>,
    begins: Vec<i64>,
    picks: Vec<(usize, u8)>,
}

impl Line {
    /// Iterations that may come by a spot, which is that of another access in iteration `s`.
    fn candidates(&self, spot: &Spot, s: u64, n: u64) -> Vec<u64> {
        let mut out = vec![];
        let mut take = |t: i128| {
            if let Ok(t) = u64::try_from(t)
                && t < n
                && !out.contains(&t)
            {
                out.push(t);
            }
        };
        let mut moves = false;
        for ((step, begin), (lo, hi)) in self.steps.iter().zip(&self.begins).zip(spot) {
            if *step == 0 || *lo == i64::MIN || *hi == i64::MAX {
                continue;
            }
            moves = true;
            for v in [*lo, hi.saturating_sub(1)] {
                let t = (i128::from(v) - i128::from(*begin)).div_euclid(i128::from(*step));
                (-1..=1).for_each(|d| take(t + d));
            }
        }
        if !moves {
            [i128::from(s) - 1, i128::from(s) + 1, 0, i128::from(n) - 1].into_iter().for_each(take);
        }
        out
    }
}

/// Iterations at the beginning, in the middle and at the end.
fn tried(n: u64, few: bool) -> Vec<u64> {
    let around = |at: u64, many: u64| (at.saturating_sub(many)..at.saturating_add(many)).filter(|t| *t < n);
    let mut out: Vec<u64> = if few {
        [0, n / 2, n - 1].to_vec()
    } else {
        around(0, 4).chain(around(n / 2, 3)).chain(around(n, 4)).chain([n / 4, n / 3]).collect()
    };
    out.sort_unstable();
    out.dedup();
    out
}

/// Which values of inner ranges are tried with one another.
fn picks(inner: &[usize]) -> Vec<Vec<(usize, u8)>> {
    inner.iter().fold(vec![vec![]], |all, r| {
        all.iter().flat_map(|of| (0..3).map(move |n| of.iter().copied().chain([(*r, n)]).collect())).collect()
    })
}

fn overlap(a: &Spot, b: &Spot) -> bool {
    a.iter().zip(b).all(|(d, e)| d.0.max(e.0) < d.1.min(e.1))
}

fn compares(test: OpId, x: i64, y: i64) -> Option<bool> {
    match test {
        id::LT => Some(x < y),
        id::LE => Some(x <= y),
        id::GT => Some(x > y),
        id::GE => Some(x >= y),
        id::EQ => Some(x == y),
        id::NE => Some(x != y),
        _other => None,
    }
}

/// The comparisons of numbers that decide whether an iteration gets into a block.
fn guards(c: &Classifier<'_>, places: &mut Places<'_>, block: Block) -> Vec<Guard> {
    let mut out = vec![];
    let mut at = block;
    while at != c.found.header
        && let Some(above) = c.doms.idom(at)
        && above != c.found.header
    {
        if let Term::Branch { cond, then_to, else_to, .. } = &c.func.block(above).term {
            let leads = |to: Block| c.cfg.preds(to) == [above] && c.doms.dominates(to, block);
            let holds = match (leads(then_to.block), leads(else_to.block)) {
                (true, false) => Some(true),
                (false, true) => Some(false),
                (true, true) | (false, false) => None,
            };
            out.extend(holds.and_then(|holds| guard(c, places, *cond, holds)));
        }
        at = above;
    }
    out
}

fn guard(c: &Classifier<'_>, places: &mut Places<'_>, truth: Value, holds: bool) -> Option<Guard> {
    let node = c.inst_of(truth)?;
    let Op::Table(path) = node.op else { return None };
    match path {
        id::TRUTH => guard(c, places, node.args[0], holds),
        id::NOT => guard(c, places, node.args[0], !holds),
        id::LT | id::LE | id::GT | id::GE | id::EQ | id::NE => {
            let sides = [places.ix(node.args[0], 0), places.ix(node.args[1], 0)];
            Some(Guard { test: path, sides, holds })
        }
        _other => None,
    }
}
