//! Stores that iterations make to the same place, and reads of what another iteration writes.
//!
//! Two accesses meet where the indices of one in some iteration are those of the other in another one. That
//! is tried out for the first iterations, with several sets of numbers in the place of what is unknown
//! ([`SAMPLES`]): indices that meet for each of them do so whatever the unknown is, as those of `a[i]` and
//! `a[i + 1]`, of `a[k + i // 2]` or of `a[j]` in an inner loop over `range(n)`. Such a race is an error
//! where both accesses happen in every iteration and the loop has both iterations; what depends on a
//! condition, or on more iterations than the next ones, is doubtful, and so is what the form of an index says
//! alone: `a[i % n]`, `a[where[i]]`. What the first iterations do not show, [`super::far`] looks for.

use super::classifier::Classifier;
use super::far::{self, Far};
use super::places::{Class, Ix, Operator, Part, Places};
use super::race;
use super::shared::Privatised;
use crate::classes;
use crate::diag::Result;
use crate::ops::id;
use crate::ssa::loops::Doubt;
use crate::ssa::{Block, FuncId, InstNode, Loc, Op, Parts, Value, registry};
use crate::types::ClassId;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

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
const SURE: usize = 7;
/// Iterations that are looked at.
const FIRST: u64 = 64;
/// So far apart are iterations that a loop is thought to have whose length is not known.
const NEXT: u64 = 2;
/// Comparisons of accesses to one array, all in all.
const PAIRS: usize = 3000;

/// Something that is done to the elements of an object from outside.
pub(super) struct Access {
    pub of: Value,
    pub block: Block,
    /// Indices.
    pub parts: Vec<Part>,
    /// The field of a record that is found there, and the field in that.
    fields: Vec<Box<str>>,
    class: Class,
    /// What is stored; none for reads.
    new: Option<Value>,
    /// A store of what is made of what was there.
    updates: bool,
    /// Happens in every iteration.
    certain: bool,
    /// A store that happens where what is written is found to be better than what is there, which every
    /// iteration asks.
    compared: bool,
    loc: Loc,
}

impl Access {
    /// Whether both are about fields that have nothing in common.
    fn is_apart(&self, other: &Access) -> bool {
        self.fields.iter().zip(&other.fields).any(|(a, b)| a != b)
    }
}

/// Indices from, to (exclusive), one pair for each dimension.
pub(super) type Spot = Vec<(i64, i64)>;
const EVERYWHERE: (i64, i64) = (i64::MIN, i64::MAX);

/// Tries indices out.
pub(crate) struct Trial<'a> {
    pub places: Places<'a>,
    range: [Ix; 3],
    /** How many iterations there are, where that is known. */
    count: Option<u64>,
    /** What unknown values are. */
    samples: &'static [fn(i64) -> i64],
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
    fn telling(&self) -> Vec<usize> {
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
    fn meet_at_times(&self, p: &[Part], q: &[Part]) -> bool {
        (0..SAMPLES.len()).any(|s| self.meeting(p, q, s).is_some_and(|m| m.is_some()))
    }

    /// The iterations in which two accesses meet whatever is unknown, those that are nearest to one another.
    fn proof(&self, p: &[Part], q: &[Part]) -> Option<(u64, u64)> {
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
    fn meeting(&self, p: &[Part], q: &[Part], sample: usize) -> Option<Option<(u64, u64)>> {
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
    fn spots(&self, parts: &[Part], sample: usize, first: u64) -> Vec<(u64, Spot)> {
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

    fn step_at(&self, sample: usize) -> Option<i64> {
        Numbers { trial: self, sample, iter: 0, picks: &[] }.of(&self.range[2]).filter(|s| *s != 0)
    }

    pub(super) fn iter_at(&self, sample: usize, t: u64) -> Option<i64> {
        let numbers = Numbers { trial: self, sample, iter: 0, picks: &[] };
        numbers.of(&self.range[0])?.checked_add(self.step_at(sample)?.checked_mul(t as i64)?)
    }

    fn count_at(&self, sample: usize) -> Option<u64> {
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

    fn ranges_in(&self, ix: &Ix, out: &mut Vec<usize>) {
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

/// What is a race for certain is refused; gives what may be one.
pub(crate) fn check(c: &Classifier<'_>, privatised: &[Privatised]) -> Result<Vec<Doubt>> {
    let mut trial = Trial::new(c);
    if trial.count.is_some_and(|n| n < 2) {
        return Ok(vec![]);
    }
    let all = accesses(c, &mut trial.places, privatised);
    let mut doubts: Vec<Doubt> = whole(c, &mut trial.places)?;
    captured(c)?;
    let mut doubt = |loc: Loc, why: Arc<str>| {
        if !doubts.iter().any(|d| d.0 == loc) {
            doubts.push((loc, why));
        }
    };
    let (deep, mut pairs) = (OnceCell::new(), 0);
    let is_short = trial.count.is_some_and(|n| n <= FIRST);
    let far = |a: usize, b: usize| {
        if is_short {
            return None;
        }
        deep.get_or_init(|| {
            let mut trial = Trial::among(Places::deep(c), &far::SAMPLES);
            let all = accesses(c, &mut trial.places, privatised);
            Far::new(c, trial, &all)
        })
        .proof(a, b)
    };
    for (k, a) in all.iter().enumerate() {
        let Some(new) = a.new else { continue };
        let read = all.iter().any(|b| b.new.is_none() && b.of == a.of && b.parts == a.parts);
        let distant = || far(k, k);
        alone(c, &mut trial, a, (new, read), (&distant, &mut doubt))?;
        for (j, b) in all.iter().enumerate() {
            if a.of != b.of || j == k || a.is_apart(b) || a.parts == b.parts || b.new.is_some() && j < k {
                continue;
            }
            pairs += 1;
            if pairs > PAIRS {
                return Ok(doubts);
            }
            let sure = |found| (found, true);
            let near = trial.proof(&a.parts, &b.parts).map(sure);
            let Some(((s, t), sure)) = near.or_else(|| far(k, j)) else { continue };
            let near = sure && (trial.count.is_some() || s.abs_diff(t) <= NEXT);
            let there =
                if a.loc.line == b.loc.line { String::new() } else { format!(" (line {})", b.loc.line) };
            let (does, help) = if b.new.is_some() {
                ("writes to as well", "give each iteration elements of its own, or use range")
            } else {
                ("reads", "read from a copy that was made before the loop, or use range")
            };
            if !a.certain || !b.certain || !near || b.new.is_some_and(|n| c.is_equal(n, new, 0)) {
                doubt(a.loc, format!("an iteration may write to an element that another one {does}{there}, at the same time").into());
            } else {
                return Err(race(c.func, a.loc, &format!("an iteration of this prange loop writes to an element that another one {does}{there}, at the same time")).help(help));
            }
        }
    }
    Ok(doubts)
}

/// One store and itself in other iterations; whether the place is read as well.
fn alone(
    c: &Classifier<'_>,
    trial: &mut Trial<'_>,
    a: &Access,
    (new, read): (Value, bool),
    (distant, doubt): (&dyn Fn() -> Option<((u64, u64), bool)>, &mut dyn FnMut(Loc, Arc<str>)),
) -> Result<()> {
    let several: Arc<str> = match (a.updates, a.class) {
        (true, _) => {
            "several iterations may change the same element, at the same time, and changes be lost".into()
        }
        (false, Class::Same) => "several iterations may write to this one element, at the same time".into(),
        (false, Class::Looked) => {
            "several iterations may write to the same element, at the same time, if they find the same index"
                .into()
        }
        (false, _) => "several iterations may write to the same element, at the same time".into(),
    };
    let near = trial.proof(&a.parts, &a.parts).map(|found| (found, true));
    if let Some(((s, t), sure)) = near.or_else(distant) {
        let ix = trial.places.ix(new, 0);
        // All write the same, so who comes last does not matter.
        let equal = !a.updates && matches!(trial.places.class(&ix), Class::Same | Class::Sweep);
        let allowed = a.class == Class::Same
            && !a.updates
            && !a.compared
            && !read
            && c.func.parallel.has(Parts::LENIENT);
        let near = sure && (trial.count.is_some() || s.abs_diff(t) <= NEXT);
        if !(a.certain || a.compared) || equal || allowed || !near {
            doubt(a.loc, several);
            return Ok(());
        }
        if a.compared {
            return Err(race(c.func, a.loc, "several iterations of this prange loop compare what is in the same element with what they write there, at the same time")
                .help("elements may be compared and replaced (if x > h[k]: h[k] = x) where nothing else depends on that, neither a break nor another variable, and nothing else is done with the array"));
        }
        let message = match a.class {
            Class::Same => {
                "every iteration of this prange loop writes to the same element, at the same time".into()
            }
            Class::Sweep => {
                "every iteration of this prange loop writes to the same elements, at the same time".into()
            }
            Class::Meets { .. } | Class::Looked | Class::Computed | Class::Distinct | Class::Other => {
                format!(
                    "several iterations of this prange loop write to the same element, at the same time: those of number {} and {}, for one",
                    s.min(t),
                    s.max(t)
                )
            }
        };
        return Err(race(c.func, a.loc, &message).help("use the loop's variable as an index, or a variable that the iterations sum up, and store that behind the loop"));
    }
    // Quotients meet early if at all; remainders may meet later.
    let far = |class: Class| {
        trial.count.is_none_or(|n| n > FIRST)
            && !matches!(class, Class::Meets { quotient: true, remainder: false })
    };
    match a.class {
        Class::Same | Class::Sweep | Class::Looked => doubt(a.loc, several),
        Class::Meets { .. } if far(a.class) || trial.meet_at_times(&a.parts, &a.parts) => {
            doubt(a.loc, several)
        }
        // A place that a function computes, or that is found in several steps, is the program's affair; but
        // not where something is lost.
        Class::Computed if a.updates => doubt(a.loc, several),
        Class::Other if a.updates && a.parts.iter().any(|p| trial.places.is_looked_up(p)) => {
            doubt(a.loc, several)
        }
        Class::Meets { .. } | Class::Computed | Class::Distinct | Class::Other => {}
    }
    Ok(())
}

/// Reads and writes of elements of objects from outside, in the order of blocks; privatised ones are left
/// out.
fn accesses(c: &Classifier<'_>, places: &mut Places<'_>, privatised: &[Privatised]) -> Vec<Access> {
    let mut out = vec![];
    for b in c.found.blocks.iter().copied() {
        let certain = c.is_certain(b);
        for i in &c.func.block(b).insts {
            let node = c.func.inst(*i);
            let attribute = field_of(&node.op);
            let store = matches!(node.op, Op::SetAttr(_) | Op::Table(id::SETITEM));
            if !store && attribute.is_none() && node.op != Op::Table(id::GETITEM) {
                continue;
            }
            // A row that is indexed further is read there.
            if !store
                && node.result.is_some_and(|v| {
                    c.operands(v).is_some_and(|u| {
                        !u.is_empty()
                            && u.iter().all(|(i, k)| {
                                let by = &c.func.inst(*i).op;
                                *k == 0
                                    && (matches!(by, Op::Table(id::GETITEM | id::SETITEM))
                                        || field_of(by).is_some())
                            })
                    })
                })
            {
                continue;
            }
            let Some((of, mut parts)) = places.root(node.args[0]) else { continue };
            if privatised.iter().any(|b| b.of == of) {
                continue;
            }
            match attribute {
                // An object from outside is no element.
                Some(_) if parts.is_empty() => continue,
                Some(name) => parts.push(Part::Field(name.into())),
                None => parts.extend(places.parts(node.args[1])),
            }
            let fields = parts
                .iter()
                .filter_map(|p| if let Part::Field(name) = p { Some(name.clone()) } else { None });
            let fields: Vec<Box<str>> = fields.collect();
            parts.retain(|p| !matches!(p, Part::Field(_)));
            let class = places.class_of(&parts);
            let new = store.then(|| node.args[node.args.len() - 1]);
            let old = |v: &Value| {
                c.inst_of(*v).is_some_and(|g| match attribute {
                    Some(name) => matches!(&g.op, Op::Attr(n) if **n == *name) && g.args[0] == node.args[0],
                    None => {
                        g.op == Op::Table(id::GETITEM)
                            && g.args[0] == node.args[0]
                            && c.is_equal(g.args[1], node.args[1], 0)
                    }
                })
            };
            let updates = new.is_some_and(|v| c.inst_of(v).is_some_and(|n| n.args.iter().any(old)));
            let compared = store
                && attribute.is_none()
                && !certain
                && c.better_element(b, node)
                    .is_some_and(|(_, read, _)| c.block_of(read).is_some_and(|b| c.is_sure(b, true)));
            out.push(Access {
                of,
                block: b,
                parts,
                fields,
                class,
                new,
                updates,
                certain,
                compared,
                loc: node.loc,
            });
        }
    }
    let stored: Vec<Value> = out.iter().filter(|a| a.new.is_some()).map(|a| a.of).collect();
    out.retain(|a| stored.contains(&a.of));
    out
}

/// The field that an attribute is, read or written, if its object is a record: arrays have none of that name.
#[expect(clippy::wildcard_enum_match_arm, reason = "of all instructions these take attributes")]
fn field_of(op: &Op) -> Option<&str> {
    match op {
        Op::Attr(name) if classes::known(ClassId::NDARRAY.def(), name).is_none() => Some(name),
        Op::SetAttr(name) => Some(name),
        _ => None,
    }
}

/// Calls that write to the whole of an object from outside: `a.fill(i)`, `np.add(x, y, out=a)`.
fn whole(c: &Classifier<'_>, places: &mut Places<'_>) -> Result<Vec<Doubt>> {
    let mut doubts = vec![];
    let mut blocks: Vec<Block> = c.found.blocks.iter().copied().collect();
    blocks.sort();
    for b in blocks {
        for i in &c.func.block(b).insts {
            let node = c.func.inst(*i);
            let Op::Call { keywords } = &node.op else { continue };
            let first = node.args.len() - keywords.len();
            let out = keywords.iter().position(|k| &**k == "out").map(|k| node.args[first + k]);
            let own = written_by(c, node);
            let Some((_, parts)) = out.or(own.map(|o| o.0)).and_then(|v| places.root(v)) else { continue };
            if !matches!(places.class_of(&parts), Class::Same | Class::Sweep) {
                continue;
            }
            let equal = own.is_some_and(|(_, rest)| {
                rest.iter().all(|v| {
                    let ix = places.ix(*v, 0);
                    places.class(&ix) == Class::Same
                })
            });
            if equal || !c.is_certain(b) {
                doubts.push((
                    node.loc,
                    "several iterations may write to this one array, at the same time".into(),
                ));
            } else {
                return Err(race(
                    c.func,
                    node.loc,
                    "every iteration of this prange loop writes to the same array, at the same time",
                )
                .help("make an array for each iteration, or use range"));
            }
        }
    }
    Ok(doubts)
}

/// The array that a call of a method, or of a module's function, fills, and the other operands. What is asked
/// of a global variable is a module's: `np.put(a, …)`.
fn written_by<'n>(c: &Classifier<'_>, call: &'n InstNode) -> Option<(Value, &'n [Value])> {
    let callee = c.inst_of(call.args[0])?;
    let Op::Attr(name) = &callee.op else { return None };
    let (of, rest) = (callee.args[0], &call.args[1..]);
    let is_module = c.inst_of(of).is_some_and(|n| matches!(n.op, Op::Global(_)));
    // Strings have a `partition` too, and modules; both are asked for what they give.
    let unused = call.result.is_none_or(|v| c.uses_of(v).is_empty());
    match &**name {
        "put" | "copyto" | "fill_diagonal" | "place" | "putmask" if is_module => {
            Some((*rest.first()?, &rest[1..]))
        }
        "fill" | "put" | "byteswap" if !is_module => Some((of, rest)),
        "partition" if !is_module && unused => Some((of, rest)),
        _other => None,
    }
}

/// Refuses iterations that change a variable of the outer function through inner ones, or because inner ones
/// see it.
fn captured(c: &Classifier<'_>) -> Result<()> {
    let is_cell = |v: Value| c.is_outside(v) && c.inst_of(v).is_some_and(|n| n.op == Op::Table(id::CELL_NEW));
    let mut blocks: Vec<Block> = c.found.blocks.iter().copied().collect();
    blocks.sort();
    for b in blocks {
        for i in &c.func.block(b).insts {
            let node = c.func.inst(*i);
            let sets = matches!(node.op, Op::Table(id::CELL_SET | id::CELL_DELETE)) && is_cell(node.args[0]);
            let made = node.args.iter().filter_map(|v| c.inst_of(*v)).chain([node]);
            let name = if sets {
                Some(None)
            } else {
                made.filter_map(|n| {
                    if let Op::MakeFunction { func, defaults, kwdefaults } = &n.op {
                        Some((*func, &n.args[*defaults as usize + kwdefaults.len()..]))
                    } else {
                        None
                    }
                })
                .find_map(|(f, captured)| {
                    captured.iter().enumerate().filter(|v| is_cell(*v.1)).find_map(|(k, _)| {
                        sets_captured(f, k as u32, &mut vec![])
                            .then(|| registry::get(f).and_then(|f| f.free.get(k).cloned()))
                    })
                })
            };
            let Some(name) = name else { continue };
            let variable = name.map_or("a variable that inner functions see".to_owned(), |n| {
                format!("the variable `{n}` of the outer function")
            });
            return Err(race(c.func, node.loc, &format!("the iterations of this prange loop change {variable}, at the same time"))
                .help("let inner functions return what they find out, and sum that up in the loop (s += f(i)), or use range"));
        }
    }
    Ok(())
}

/// Whether a function, or one that it makes, changes its `k`-th captured variable.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what changes captured variables is two instructions: any other does not"
)]
fn sets_captured(f: FuncId, k: u32, seen: &mut Vec<(FuncId, u32)>) -> bool {
    if seen.contains(&(f, k)) {
        return false;
    }
    seen.push((f, k));
    let Some(func) = registry::get(f) else { return false };
    let cells: Vec<Value> =
        func.insts.iter().filter(|n| n.op == Op::Free(k)).filter_map(|n| n.result).collect();
    func.insts.iter().any(|n| match &n.op {
        Op::Table(id::CELL_SET | id::CELL_DELETE) => cells.contains(&n.args[0]),
        Op::MakeFunction { func, defaults, kwdefaults } => n.args[*defaults as usize + kwdefaults.len()..]
            .iter()
            .enumerate()
            .any(|(at, v)| cells.contains(v) && sets_captured(*func, at as u32, seen)),
        _ => false,
    })
}
