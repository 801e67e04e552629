//! Accesses of two iterations compared by trial: with several sets of numbers in the place of what is unknown.

use super::classifier::Classifier;
use super::places::{Class, Ix, Operator, Part, Places};
use crate::ssa::{Block, Loc, Value};
use std::collections::HashMap;

/// What unknown values are while indices are compared: large and far apart, small, all the same, zero,
/// negative; and one of the first, which are those of the range, 1 or -1 while the others are large: a loop of
/// many short steps.
const SAMPLES: [fn(i64) -> i64; 13] = [
    |k| 1_000_003 + 104_729 * k,
    |_| 1,
    |k| 5 + k,
    |k| 64 + 3 * k,
    |_| 17,
    |_| 0,
    |k| -1 - k,
    |k| if k == 0 { 1 } else { 997 + 31 * k },
    |k| if k == 1 { 1 } else { 997 + 31 * k },
    |k| if k == 2 { 1 } else { 997 + 31 * k },
    |k| if k == 0 { -1 } else { 997 + 31 * k },
    |k| if k == 1 { -1 } else { 997 + 31 * k },
    |k| if k == 2 { -1 } else { 997 + 31 * k },
];
/// Those of them for which a race must show to be one whatever is unknown.
pub(super) const SURE: usize = 7;
/// Iterations that are looked at.
pub(super) const FIRST: u64 = 64;
/// So far apart are iterations that a loop is thought to have whose length is not known.
pub(super) const NEXT: u64 = 2;
/// Comparisons of accesses to one array, all in all.
pub(super) const PAIRS: usize = 3000;

/// Something that is done to the elements of an object from outside.
pub(super) struct Access {
    pub of: Value,
    pub block: Block,
    /// Indices.
    pub parts: Vec<Part>,
    /// The field of a record that is found there, and the field in that.
    pub(super) fields: Vec<Box<str>>,
    pub(super) class: Class,
    /// What is stored; none for reads.
    pub(super) new: Option<Value>,
    /// A store of what is made of what was there.
    pub(super) updates: bool,
    /// Happens in every iteration.
    pub(super) certain: bool,
    /// A store that happens where what is written is found to be better than what is there, which every
    /// iteration asks.
    pub(super) compared: bool,
    pub(super) loc: Loc,
}

impl Access {
    /// Whether both are about fields that have nothing in common.
    pub(super) fn is_apart(&self, other: &Access) -> bool {
        self.fields.iter().zip(&other.fields).any(|(a, b)| a != b)
    }
}

/// Indices from, to (exclusive), one pair for each dimension.
pub(super) type Spot = Vec<(i64, i64)>;
const EVERYWHERE: (i64, i64) = (i64::MIN, i64::MAX);

/// Tries indices out.
pub(super) struct Trial<'a> {
    pub places: Places<'a>,
    pub(super) range: [Ix; 3],
    /** How many iterations there are, where that is known. */
    pub(super) count: Option<u64>,
    /** What unknown values are. */
    pub(super) samples: &'static [fn(i64) -> i64],
}

impl<'a> Trial<'a> {
    pub(crate) fn new(c: &'a Classifier<'a>) -> Trial<'a> {
        Trial::among(Places::new(c), &SAMPLES)
    }

    pub(super) fn among(mut places: Places<'a>, samples: &'static [fn(i64) -> i64]) -> Trial<'a> {
        let range = places.range();
        let count = match range {
            [Ix::Const(lo), Ix::Const(hi), Ix::Const(step)] if step != 0 => Some(length(lo, hi, step)),
            _ => None,
        };
        Trial { places, range, count, samples }
    }

    /// Whether iterations may change the same element through `a[parts]` of the one or the other place.
    pub(crate) fn may_meet(&self, p: &[Part], q: &[Part]) -> bool {
        let class = self.places.class_of(p);
        if p == q && !matches!(class, Class::Distinct | Class::Other) {
            return true;
        }
        if p != q && p.iter().zip(q).any(|(a, b)| a == b && self.places.part_class(a) == Class::Distinct) {
            return false;
        }
        let linear = |class: Class| class == Class::Distinct;
        if p == q || !(linear(class) && linear(self.places.class_of(q))) {
            // Where an index is not simply the variable of the loop, it is the program's affair to keep
            // iterations apart, but for what shows.
            let said: Vec<bool> =
                self.telling().into_iter().filter_map(|s| Some(self.meeting(p, q, s)?.is_some())).collect();
            return if said.is_empty() { p != q } else { said.contains(&true) };
        }
        self.meet_at_times(p, q)
    }

    /// Sets of numbers with which the loop has iterations enough to show something: the first of them, and
    /// one where it steps by one if it may. With a large step a loop over large numbers has none.
    pub(super) fn telling(&self) -> Vec<usize> {
        let has = |s: usize, least: u64| self.count_at(s).is_some_and(|n| n >= least);
        let by_one = |s: usize| matches!(self.step_at(s), Some(1 | -1));
        let all = 0..SAMPLES.len();
        let mut found: Vec<usize> = all.clone().find(|s| has(*s, FIRST)).into_iter().collect();
        if !matches!(self.range[2], Ix::Const(_)) {
            found.extend(all.clone().find(|s| has(*s, FIRST) && by_one(*s)));
        }
        // A short loop has no more.
        if found.is_empty() { all.filter(|s| has(*s, 2)).collect() } else { found }
    }

    /// Whether they meet for some of the numbers.
    pub(super) fn meet_at_times(&self, p: &[Part], q: &[Part]) -> bool {
        (0..SAMPLES.len()).any(|s| self.meeting(p, q, s).is_some_and(|m| m.is_some()))
    }

    /// The iterations in which two accesses meet whatever is unknown, those that are nearest to one another.
    pub(super) fn proof(&self, p: &[Part], q: &[Part]) -> Option<(u64, u64)> {
        let mut worst: Option<(u64, u64)> = None;
        for s in 0..SURE {
            // Some numbers leave inner loops without turns, but not the first ones.
            let Some(found) = self.meeting(p, q, s) else { if s == 0 { return None } else { continue } };
            let found = found?;
            if worst.is_none_or(|w| w.0.abs_diff(w.1) < found.0.abs_diff(found.1)) {
                worst = Some(found);
            }
        }
        worst
    }

    /// The nearest two iterations that meet, with one set of numbers; none where it says nothing.
    pub(super) fn meeting(&self, p: &[Part], q: &[Part], sample: usize) -> Option<Option<(u64, u64)>> {
        let first = self.count_at(sample)?.min(FIRST);
        if first < 2 {
            return None;
        }
        let (mut a, mut b) = (self.spots(p, sample, first), self.spots(q, sample, first));
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let width = p.len().max(q.len());
        for s in a.iter_mut().chain(&mut b) {
            s.1.resize(width, EVERYWHERE);
        }
        let is_point = |s: &Spot| s.iter().all(|d| d.1.wrapping_sub(d.0) == 1);
        let mut best: Option<(u64, u64)> = None;
        let mut take = |x: u64, y: u64| {
            if x != y && best.is_none_or(|b| x.abs_diff(y) < b.0.abs_diff(b.1)) {
                best = Some((x, y));
            }
        };
        if a.iter().chain(&b).all(|s| is_point(&s.1)) {
            let mut where_to: HashMap<&Spot, Vec<u64>> = HashMap::new();
            for (t, s) in &a {
                let of = where_to.entry(s).or_default();
                if of.last() != Some(t) {
                    of.push(*t);
                }
            }
            for (t, s) in &b {
                if let Some(of) = where_to.get(s) {
                    of.iter().for_each(|x| take(*x, *t));
                }
            }
        } else {
            let near = |s: &&(u64, Spot)| s.0 < FIRST / 4;
            for (x, s) in a.iter().filter(near) {
                for (y, t) in b.iter().filter(near) {
                    if s.iter().zip(t).all(|(d, e)| d.0.max(e.0) < d.1.min(e.1)) {
                        take(*x, *y);
                    }
                }
            }
        }
        Some(best)
    }

    /// Where an access goes in the first iterations; nowhere where that is unknown.
    pub(super) fn spots(&self, parts: &[Part], sample: usize, first: u64) -> Vec<(u64, Spot)> {
        let mut inner = vec![];
        if !self.inner_ranges(parts, &mut inner) {
            return vec![];
        }
        let mut out = vec![];
        for t in 0..first {
            for n in 0..3usize.pow(inner.len() as u32) {
                let picks: Vec<(usize, u8)> = inner
                    .iter()
                    .enumerate()
                    .map(|(k, r)| (*r, (n / 3usize.pow(k as u32) % 3) as u8))
                    .collect();
                let Some(iter) = self.iter_at(sample, t) else { continue };
                out.extend(
                    self.spot(parts, &[], &Numbers { trial: self, sample, iter, picks: &picks })
                        .map(|s| (t, s)),
                );
            }
        }
        out
    }

    /// The inner ranges that indices depend on; false where one is no number, or there are too many.
    pub(super) fn inner_ranges(&self, parts: &[Part], inner: &mut Vec<usize>) -> bool {
        for p in parts {
            match p {
                Part::At(ix) => self.ranges_in(ix, inner),
                Part::Slice(lo, hi) => {
                    for x in [lo, hi].into_iter().flatten() {
                        self.ranges_in(x, inner);
                    }
                }
                Part::Field(_) | Part::Unknown => return false,
            }
        }
        inner.len() <= 3
    }

    /// Where indices lead with one set of numbers. Those that count from the end need the lengths of
    /// dimensions.
    pub(super) fn spot(&self, parts: &[Part], lengths: &[Option<Ix>], numbers: &Numbers<'_>) -> Option<Spot> {
        let from_start = |k: i64, d: usize| {
            if k >= 0 { None } else { lengths.get(d)?.as_ref().and_then(|n| k.checked_add(numbers.of(n)?)) }
        };
        let bounds = |(d, p): (usize, &Part)| match p {
            Part::At(ix) => {
                let k = numbers.of(ix)?;
                let k = from_start(k, d).unwrap_or(k);
                Some((k, k.checked_add(1)?))
            }
            Part::Slice(lo, hi) => {
                let side = |x: &Option<Ix>, open: i64| match x {
                    None => Some(open),
                    Some(x) => numbers.of(x).and_then(|k| if k >= 0 { Some(k) } else { from_start(k, d) }),
                };
                side(lo, i64::MIN).zip(side(hi, i64::MAX))
            }
            Part::Field(_) | Part::Unknown => None,
        };
        parts.iter().enumerate().map(bounds).collect()
    }

    pub(super) fn step_at(&self, sample: usize) -> Option<i64> {
        Numbers { trial: self, sample, iter: 0, picks: &[] }.of(&self.range[2]).filter(|s| *s != 0)
    }

    pub(super) fn iter_at(&self, sample: usize, t: u64) -> Option<i64> {
        let numbers = Numbers { trial: self, sample, iter: 0, picks: &[] };
        numbers.of(&self.range[0])?.checked_add(self.step_at(sample)?.checked_mul(t as i64)?)
    }

    pub(super) fn count_at(&self, sample: usize) -> Option<u64> {
        self.step_at(sample)?;
        // An end that is not known may be anywhere.
        Some(self.length_at(sample).unwrap_or(FIRST))
    }

    /// How many iterations there are; none where that is not known with these numbers either.
    pub(super) fn length_at(&self, sample: usize) -> Option<u64> {
        let numbers = Numbers { trial: self, sample, iter: 0, picks: &[] };
        let [lo, hi, _] = &self.range;
        Some(length(numbers.of(lo)?, numbers.of(hi)?, self.step_at(sample)?))
    }

    pub(super) fn ranges_in(&self, ix: &Ix, out: &mut Vec<usize>) {
        match ix {
            Ix::Inner(k) => {
                for b in &self.places.ranges[*k].1 {
                    self.ranges_in(b, out);
                }
                if !out.contains(k) {
                    out.push(*k);
                }
            }
            Ix::Load(_, at) => at.iter().for_each(|x| self.ranges_in(x, out)),
            Ix::Binary(_, x) => {
                self.ranges_in(&x.0, out);
                self.ranges_in(&x.1, out);
            }
            Ix::Iter | Ix::Const(_) | Ix::Symbol(_) | Ix::Unknown(_) => {}
        }
    }
}

fn length(lo: i64, hi: i64, step: i64) -> u64 {
    let span = if step > 0 { i128::from(hi) - i128::from(lo) } else { i128::from(lo) - i128::from(hi) };
    if span <= 0 { 0 } else { ((span - 1) / i128::from(step).abs() + 1) as u64 }
}

/// One set of numbers for an index: of what is unknown, of the loop's variable, and which value of each inner
/// range.
pub(super) struct Numbers<'a> {
    pub trial: &'a Trial<'a>,
    pub sample: usize,
    pub iter: i64,
    pub picks: &'a [(usize, u8)],
}

impl Numbers<'_> {
    /// None where it has no value or is not known.
    pub(super) fn of(&self, ix: &Ix) -> Option<i64> {
        match ix {
            Ix::Iter => Some(self.iter),
            Ix::Const(n) => Some(*n),
            Ix::Symbol(k) => Some(self.trial.samples[self.sample](*k as i64)),
            Ix::Inner(k) => {
                let pick = self.picks.iter().find(|p| p.0 == *k)?.1;
                let [lo, hi, step] = &self.trial.places.ranges[*k].1;
                let (lo, hi, step) = (self.of(lo)?, self.of(hi)?, self.of(step).filter(|s| *s != 0)?);
                let count = length(lo, hi, step);
                // The first one, the second one, the last one.
                let n = match pick {
                    0 => 0,
                    1 => 1,
                    _ => count.saturating_sub(1),
                };
                if n >= count || pick == 2 && count < 3 {
                    return None;
                }
                lo.checked_add(step.checked_mul(i64::try_from(n).ok()?)?)
            }
            // What grows with its index, so that `starts[i]` and `starts[i + 1]` bound what belongs to `i`.
            Ix::Load(of, at) => at
                .iter()
                .try_fold(0i64, |sum, x| sum.checked_mul(64)?.checked_add(self.of(x)?))?
                .checked_mul(1000)?
                .checked_add(*of as i64 * 7 + 7),
            Ix::Binary(op, x) => {
                let (a, b) = (self.of(&x.0)?, self.of(&x.1)?);
                match op {
                    Operator::Add => a.checked_add(b),
                    Operator::Sub => a.checked_sub(b),
                    Operator::Mul => a.checked_mul(b),
                    Operator::Div => {
                        if b == 0 {
                            None
                        } else {
                            let q = a.checked_div(b)?;
                            Some(if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
                        }
                    }
                    Operator::Rem => {
                        if b == 0 {
                            None
                        } else {
                            let r = a.checked_rem(b)?;
                            Some(if r != 0 && (r < 0) != (b < 0) { r + b } else { r })
                        }
                    }
                    Operator::And => Some(a & b),
                    Operator::Or => Some(a | b),
                    Operator::Xor => Some(a ^ b),
                    Operator::Shl => {
                        if (0..32).contains(&b) {
                            a.checked_mul(1 << b)
                        } else {
                            None
                        }
                    }
                    Operator::Shr => {
                        if (0..64).contains(&b) {
                            Some(a >> b)
                        } else {
                            None
                        }
                    }
                    Operator::Min => Some(a.min(b)),
                    Operator::Max => Some(a.max(b)),
                }
            }
            Ix::Unknown(_) => None,
        }
    }
}
