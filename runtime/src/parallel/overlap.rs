//! Whether operands of a parallel loop share memory although they have different names in it: `f(x, x)`, two
//! views of one buffer. The compiler says which must not ([`tierup_core::ops::apart`]).
//!
//! The first and the last bytes of two arrays tell most of them apart. Where they do not, as for two columns
//! of a matrix, strides are looked at: whether there are indices with which both name the same byte.

use tierup_core::layout::List;
use tierup_core::ops::apart::{Encoded, Operand, Order, Rule, Shape};

/// What becomes of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Its pieces may run at the same time.
    Apart,
    /// It is one piece, whose iterations run in order; `knows` where its third slot is to say so.
    Ordered { knows: bool },
    /// Iterations would not see what others add up.
    Refused,
}

/// What is said to who shares with an array whose elements pieces add up on their own.
pub(crate) const REFUSED: &str = "an array or a list that the iterations of this prange loop add to shares memory with another one that they use: give the loop a copy, or use range";

/// What two arrays share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared {
    Nothing,
    Some,
    /// They are the same elements under the same indices.
    All,
    /// It would take too long to find out.
    Unknown,
}

/// # Safety
/// `table` is null or what the compiler wrote for the operands that begin at `args`, which are live.
pub(crate) unsafe fn verdict(table: *const u8, args: &[u64]) -> Verdict {
    if table.is_null() {
        return Verdict::Apart;
    }
    // SAFETY: as required of the caller; globals stand behind the arguments.
    let (table, slot) = unsafe { (Encoded::new(table), Slots(args.as_ptr())) };
    let mut verdict = Verdict::Apart;
    for (a, b, rule) in table.pairs() {
        let (a, b) = (table.operand(a), table.operand(b));
        let shared = match (a.shape, b.shape) {
            (Shape::List, Shape::List) if slot.at(a.slot) == slot.at(b.slot) && slot.at(a.slot) != 0 => {
                Shared::All
            }
            (Shape::Array { .. }, Shape::Array { .. }) => shared((&a, slot), (&b, slot)),
            (Shape::Arrays { .. }, Shape::Arrays { .. }) if a != b && slot.at(a.slot) == slot.at(b.slot) => {
                Shared::All
            }
            (Shape::Arrays { .. }, _) | (_, Shape::Arrays { .. }) => among(&a, &b, slot, rule),
            (Shape::List, _) | (_, Shape::List) => Shared::Nothing,
        };
        verdict = verdict.max(match (shared, rule) {
            (Shared::Nothing, _) | (Shared::All, Rule::All) => Verdict::Apart,
            (Shared::Some | Shared::All, Rule::Refused) => Verdict::Refused,
            (Shared::Some | Shared::All | Shared::Unknown, _) => Verdict::Ordered { knows: table.decides() },
        });
    }
    verdict
}

/// What arrays share of which some lie in lists: the most that two of them do, which `rule` may allow.
fn among(a: &Operand, b: &Operand, slot: Slots, rule: Rule) -> Shared {
    let itself = a == b;
    let (mut all, second) = (arrays(a, slot), if itself { vec![] } else { arrays(b, slot) });
    let first = all.len();
    all.extend(second);
    // By where they begin: what one may share with are those that begin before it ends.
    let mut order: Vec<(i64, i64, usize)> = all
        .iter()
        .enumerate()
        .filter_map(|(k, (o, s))| bounds(o, *s).map(|(low, high)| (low, high, k)))
        .collect();
    order.sort_unstable();
    let mut found = Shared::Nothing;
    let mut work = PAIRS;
    for (n, (_, high, k)) in order.iter().enumerate() {
        for (_, _, l) in order[n + 1..].iter().take_while(|o| o.0 < *high) {
            if !itself && (*k < first) == (*l < first) {
                continue;
            }
            let (x, y) = (&all[*k], &all[*l]);
            work -= 1;
            let common = shared((&x.0, x.1), (&y.0, y.1));
            if common == Shared::All && rule == Rule::All {
                found = Shared::All;
            } else if common != Shared::Nothing {
                return common;
            }
            if work == 0 {
                return Shared::Unknown;
            }
        }
    }
    found
}

/// Pairs of arrays in lists that are looked at.
const PAIRS: usize = 100_000;

/// The arrays in a list, or the one that an operand is.
fn arrays(o: &Operand, slot: Slots) -> Vec<(Operand, Slots)> {
    let Shape::Arrays { order, ndim, itemsize } = o.shape else { return vec![(*o, slot)] };
    let array = Operand { slot: 0, shape: Shape::Array { order, ndim, itemsize } };
    let list = slot.at(o.slot) as usize as *const List;
    if list.is_null() {
        return vec![];
    }
    // SAFETY: the slot holds a list that is live, whose elements have the slots of arrays.
    unsafe {
        let (data, size) = ((*list).data, (*list).desc.size as usize);
        (0..(*list).len as usize).map(|k| (array, Slots(data.add(k * size).cast::<u64>()))).collect()
    }
}

/// The machine values of operands.
#[derive(Clone, Copy)]
struct Slots(*const u64);

impl Slots {
    fn at(self, k: usize) -> i64 {
        // SAFETY: the table names slots that there are.
        unsafe { *self.0.add(k) as i64 }
    }
}

/// The dimensions of an array: length and stride of each.
fn dimensions(o: &Operand, slot: Slots) -> impl Iterator<Item = (i64, i64)> + use<> {
    let Shape::Array { order, ndim, itemsize } = o.shape else { unreachable!("only arrays have dimensions") };
    let first = o.slot + 2;
    let product = move |of: std::ops::Range<usize>| {
        of.fold(itemsize as i64, |p, k| p.saturating_mul(slot.at(first + k).max(1)))
    };
    (0..ndim).map(move |k| {
        let stride = match order {
            Order::C => product(k + 1..ndim),
            Order::Fortran => product(0..k),
            Order::Strided => slot.at(first + ndim + k),
        };
        (slot.at(first + k), stride)
    })
}

fn itemsize(o: &Operand) -> i64 {
    if let Shape::Array { itemsize, .. } = o.shape { itemsize as i64 } else { 0 }
}

/// First byte and the one behind the last; none of an array without elements, or of none at all.
fn bounds(o: &Operand, slot: Slots) -> Option<(i64, i64)> {
    let data = slot.at(o.slot + 1);
    let (mut low, mut high) = (data, data);
    for (n, stride) in dimensions(o, slot) {
        if n <= 0 {
            return None;
        }
        let span = (n - 1).saturating_mul(stride);
        (low, high) = (low.saturating_add(span.min(0)), high.saturating_add(span.max(0)));
    }
    (data != 0).then(|| (low, high.saturating_add(itemsize(o))))
}

/// An operand, and where its slots are.
type At<'a> = (&'a Operand, Slots);

fn shared(a: At<'_>, b: At<'_>) -> Shared {
    let (Some(p), Some(q)) = (bounds(a.0, a.1), bounds(b.0, b.1)) else { return Shared::Nothing };
    if p.0 >= q.1 || q.0 >= p.1 {
        return Shared::Nothing;
    }
    let same = a.1.at(a.0.slot + 1) == b.1.at(b.0.slot + 1)
        && itemsize(a.0) == itemsize(b.0)
        && dimensions(a.0, a.1).eq(dimensions(b.0, b.1));
    if same {
        Shared::All
    } else if interleave(a, b, q.0.wrapping_sub(p.0)) {
        Shared::Nothing
    } else {
        meeting(a, b, (p, q))
    }
}

/// Whether two arrays lie between the elements of each other, as columns of a matrix do: all strides are
/// multiples of a number that has room for an element of both, `distance` bytes apart.
fn interleave((a, s): At<'_>, (b, t): At<'_>, distance: i64) -> bool {
    let strides = dimensions(a, s).chain(dimensions(b, t)).filter(|d| d.0 > 1).map(|d| d.1.abs());
    let step = strides.fold(0, gcd);
    if step == 0 {
        return false;
    }
    let at = distance.rem_euclid(step);
    at >= itemsize(a) && step - at >= itemsize(b)
}

/// Steps of a sum, the greatest first: `steps[k].0` is taken from 0 to `steps[k].1` times.
struct Sums {
    steps: Vec<(i128, i128)>,
    /** The greatest sum of those from `k` on, and what divides them all. */
    rest: Vec<(i128, i128)>,
    /** Between 0 and this is added. */
    width: i128,
    work: u32,
}

/// Sums that are tried out before it is given up.
const WORK: u32 = 20_000;

/// Whether two arrays whose bounds overlap have a byte in common. With strides made positive and the second
/// one counted from its end, that is a sum of multiples of all strides, and of a byte in each element.
fn meeting((a, s): At<'_>, (b, t): At<'_>, (p, q): ((i64, i64), (i64, i64))) -> Shared {
    let mut steps: Vec<(i128, i128)> = vec![];
    for (n, stride) in dimensions(a, s).chain(dimensions(b, t)) {
        let (step, most) = (i128::from(stride).abs(), i128::from(n) - 1);
        if step == 0 || most == 0 {
            continue;
        }
        match steps.iter_mut().find(|s| s.0 == step) {
            Some(s) => s.1 += most,
            None => steps.push((step, most)),
        }
    }
    steps.sort_unstable_by(|a, b| b.cmp(a));
    let mut rest = vec![(0, 0); steps.len() + 1];
    for (k, (step, most)) in steps.iter().enumerate().rev() {
        rest[k] = (rest[k + 1].0 + step * most, gcd(rest[k + 1].1, *step));
    }
    let width = i128::from(itemsize(a)) + i128::from(itemsize(b)) - 2;
    let wanted = i128::from(q.1) - i128::from(p.0) - 1;
    let mut sums = Sums { steps, rest, width, work: WORK };
    match sums.reach(0, wanted) {
        Some(true) => Shared::Some,
        Some(false) => Shared::Nothing,
        None => Shared::Unknown,
    }
}

impl Sums {
    /// Whether the steps from `k` on make up `wanted`; none where that takes too long.
    fn reach(&mut self, k: usize, wanted: i128) -> Option<bool> {
        let (most, divisor) = self.rest[k];
        if wanted < 0 || wanted > most + self.width {
            return Some(false);
        }
        if k == self.steps.len() {
            return Some(true);
        }
        if wanted % divisor > self.width {
            return Some(false);
        }
        self.work = self.work.checked_sub(1)?;
        let (step, times) = self.steps[k];
        let least = (wanted - self.rest[k + 1].0 - self.width).max(0);
        let (first, last) = ((least + step - 1) / step, (wanted / step).min(times));
        let mut n = last;
        while n >= first {
            if self.reach(k + 1, wanted - n * step)? {
                return Some(true);
            }
            n -= 1;
        }
        Some(false)
    }
}

fn gcd<N: Copy + PartialEq + Default + std::ops::Rem<Output = N>>(mut a: N, mut b: N) -> N {
    while b != N::default() {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array of `itemsize` bytes: address, and length and stride of each dimension.
    type Array = (i64, i64, Vec<(i64, i64)>);

    fn together(a: &Array, b: &Array) -> Shared {
        let (mut args, mut made) = (vec![], vec![]);
        for (data, itemsize, dims) in [a, b] {
            let shape =
                Shape::Array { order: Order::Strided, ndim: dims.len(), itemsize: *itemsize as usize };
            made.push(Operand { slot: args.len(), shape });
            args.extend([0, *data as u64]);
            args.extend(dims.iter().map(|d| d.0 as u64));
            args.extend(dims.iter().map(|d| d.1 as u64));
        }
        let slots = Slots(args.as_ptr());
        shared((&made[0], slots), (&made[1], slots))
    }

    fn bytes(a: &Array) -> std::collections::HashSet<i64> {
        let mut all = vec![a.0];
        for (n, stride) in &a.2 {
            all = all.iter().flat_map(|at| (0..*n).map(move |k| at + k * stride)).collect();
        }
        all.iter().flat_map(|at| (0..a.1).map(move |k| at + k)).collect()
    }

    #[test]
    fn columns_and_halves_of_a_matrix_lie_apart() {
        let part = |at: i64, n: i64| (1000 + at * 8, 8, vec![(50, 80), (n, 8)]);
        assert_eq!(together(&part(0, 1), &part(1, 1)), Shared::Nothing);
        assert_eq!(together(&part(0, 5), &part(5, 5)), Shared::Nothing);
        assert_eq!(together(&part(0, 6), &part(5, 5)), Shared::Some);
        assert_eq!(together(&part(2, 5), &part(2, 5)), Shared::All);
        assert_eq!(together(&part(2, 0), &part(2, 5)), Shared::Nothing);
    }

    #[test]
    fn what_is_shared_is_what_bytes_say() {
        let mut state = 7u64;
        let mut draw = |n: i64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as i64 % n
        };
        let mut met = [0, 0];
        for _ in 0..20_000 {
            let mut array = || {
                let dims = (0..draw(4)).map(|_| (draw(4), draw(25) - 12)).collect();
                (1000 + draw(40), 1 << draw(4), dims)
            };
            let (a, b): (Array, Array) = (array(), array());
            let expected = !bytes(&a).is_disjoint(&bytes(&b));
            met[usize::from(expected)] += 1;
            let found = together(&a, &b);
            assert_eq!(found != Shared::Nothing, expected, "{a:?} {b:?}");
            assert_ne!(found, Shared::Unknown, "{a:?} {b:?}");
        }
        assert!(met.iter().all(|n| *n > 1000), "{met:?}");
    }
}
