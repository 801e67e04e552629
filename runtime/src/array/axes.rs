//! The order in which NumPy's iterator walks the axes of its operands: from large strides to small, adjacent
//! axes merged.
//!
//! Floating-point reductions give the same bits as NumPy's only if they add in the same order, so this
//! follows its rules exactly.

use super::small_vec::SmallVec;

/// One axis that is left, with its stride in each of `K` operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis<const K: usize> {
    pub n: isize,
    pub strides: [isize; K],
}
impl<const K: usize> Default for Axis<K> {
    fn default() -> Self {
        Axis { n: 1, strides: [0; K] }
    }
}

/// Axes from outermost to innermost (at least one), and the byte offset of the first element of each operand.
pub(crate) struct Plan<const K: usize> {
    pub axes: SmallVec<Axis<K>>,
    pub start: [isize; K],
}

/// Axes of operands with a common shape, the innermost first.
fn innermost_first<const K: usize>(shape: &[i64], strides: [&[i64]; K]) -> SmallVec<Axis<K>> {
    (0..shape.len())
        .rev()
        .map(|i| Axis {
            n: shape[i] as isize,
            strides: std::array::from_fn(|k| if shape[i] == 1 { 0 } else { strides[k][i] as isize }),
        })
        .collect()
}

/// Orders the axes of operands with a common shape, none of whose members is 0.
pub(crate) fn plan<const K: usize>(shape: &[i64], strides: [&[i64]; K]) -> Plan<K> {
    let mut axes = innermost_first(shape, strides);
    let mut start = [0; K];
    for a in axes.iter_mut() {
        if a.strides.iter().all(|s| *s <= 0) && a.strides.iter().any(|s| *s < 0) {
            for (at, s) in start.iter_mut().zip(&mut a.strides) {
                *at += (a.n - 1) * *s;
                *s = -*s;
            }
        }
    }
    sort(&mut axes);
    merge(&mut axes);
    axes.reverse();
    Plan { axes, start }
}

/// The order in which a reduction of one array walks its axes: `strides` are those of the source, `kept` says
/// which axes stay. The second operand is a new result in that very order, as NumPy allocates it, with
/// elements of `size` bytes. Gives the plan, and the result's strides by original axis.
pub(crate) fn plan_reduction(
    shape: &[i64],
    strides: &[i64],
    kept: &[bool],
    size: usize,
) -> (Plan<2>, SmallVec<i64>) {
    let mut axes = innermost_first(shape, [strides]);
    let mut numbers: SmallVec<usize> = (0..shape.len()).rev().collect();
    sort_along(&mut axes, &mut numbers);
    let (mut out_strides, mut step) = (SmallVec::of(0, shape.len()), size as i64);
    let mut both: SmallVec<Axis<2>> = SmallVec::new();
    for (a, i) in axes.iter().zip(numbers.iter()) {
        if kept[*i] && a.n != 1 {
            out_strides[*i] = step;
            step *= a.n as i64;
        }
        both.push(Axis { n: a.n, strides: [a.strides[0], out_strides[*i] as isize] });
    }
    merge(&mut both);
    both.reverse();
    (Plan { axes: both, start: [0; 2] }, out_strides)
}

/// Insertion sort by magnitude of strides. Operands with a zero stride have no opinion; where operands
/// disagree, C order wins.
fn sort<const K: usize>(axes: &mut [Axis<K>]) {
    let mut numbers = SmallVec::of(0, axes.len());
    sort_along(axes, &mut numbers);
}
/// The same; moves the numbers of the axes along.
fn sort_along<const K: usize>(axes: &mut [Axis<K>], numbers: &mut [usize]) {
    for i in 1..axes.len() {
        let mut to = i;
        for j in (0..i).rev() {
            let (mut ambiguous, mut swap) = (true, false);
            for k in 0..K {
                let (s0, s1) = (axes[i].strides[k], axes[j].strides[k]);
                if s0 == 0 || s1 == 0 {
                    continue;
                }
                if s1.abs() <= s0.abs() {
                    swap = false
                } else if ambiguous {
                    swap = true
                }
                ambiguous = false;
            }
            if ambiguous {
                continue;
            }
            if !swap {
                break;
            }
            to = j;
        }
        axes[to..=i].rotate_right(1);
        numbers[to..=i].rotate_right(1);
    }
}

/// Merges neighbours that are one axis in every operand.
fn merge<const K: usize>(axes: &mut SmallVec<Axis<K>>) {
    let mut out: SmallVec<Axis<K>> = SmallVec::new();
    for a in axes.iter().copied() {
        if let Some(last) = out.last_mut() {
            let (l, a_one) = (*last, a.n == 1);
            if (0..K).all(|k| {
                (l.n == 1 && l.strides[k] == 0)
                    || (a_one && a.strides[k] == 0)
                    || l.strides[k] * l.n == a.strides[k]
            }) {
                for k in 0..K {
                    if l.strides[k] == 0 {
                        last.strides[k] = a.strides[k];
                    }
                }
                last.n *= a.n;
                continue;
            }
        }
        out.push(a);
    }
    if out.is_empty() {
        out.push(Axis::default());
    }
    *axes = out;
}

impl<const K: usize> Plan<K> {
    pub(crate) fn inner(&self) -> Axis<K> {
        self.axes[self.axes.len() - 1]
    }
    /// Calls `f` with the byte offsets of each innermost lane.
    pub(crate) fn each_lane(&self, mut f: impl FnMut([isize; K])) {
        let outer = &self.axes[..self.axes.len() - 1];
        let mut index: SmallVec<isize> = SmallVec::of(0, outer.len());
        let mut at = self.start;
        loop {
            f(at);
            let mut axis = outer.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                for k in 0..K {
                    at[k] += outer[axis].strides[k];
                }
                if index[axis] < outer[axis].n {
                    break;
                }
                for k in 0..K {
                    at[k] -= outer[axis].strides[k] * outer[axis].n;
                }
                index[axis] = 0;
            }
        }
    }
}
