//! Memory of the operands of one call of an inner loop: which lie apart, and what the loop may take for granted.

use super::{AXES, Loop};
use crate::marks::{Floats, Marks, Special};

/// The memory of one operand: where it starts, and the length and stride of each axis, the one that the loop
/// runs along first.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Memory {
    at: isize,
    axes: [(isize, isize); AXES],
    bytes: isize,
}

impl Memory {
    fn extent(&self) -> (isize, isize) {
        let way = |(n, step): &(isize, isize)| step * (n - 1);
        (
            self.at + self.axes.iter().map(|a| way(a).min(0)).sum::<isize>(),
            self.at + self.axes.iter().map(|a| way(a).max(0)).sum::<isize>() + self.bytes,
        )
    }

    /// What the elements of turn `i` are.
    ///
    /// # Safety
    /// It is the memory of an operand with such elements.
    unsafe fn special(&self, i: isize, floats: Floats) -> Special {
        let mut found = Special::default();
        if floats.count == 0 || self.axes.iter().any(|a| a.0 == 0) {
            return found;
        }
        let (mut index, mut at) = ([0; AXES], self.at + i * self.axes[0].1);
        loop {
            // SAFETY: as required of the caller; the index is within all axes.
            let one = unsafe { floats.special(at as *const u8) };
            (found.nan, found.infinite) = (found.nan | one.nan, found.infinite | one.infinite);
            let Some(k) = (1..AXES).find(|k| index[*k] + 1 < self.axes[*k].0) else { return found };
            for j in 1..k {
                at -= index[j] * self.axes[j].1;
                index[j] = 0;
            }
            index[k] += 1;
            at += self.axes[k].1;
        }
    }

    fn apart(&self, other: &Memory) -> bool {
        let (a, b) = (self.extent(), other.extent());
        a.1 <= b.0 || b.1 <= a.0
    }

    /// Whether no two elements share memory: each stride leads past all that the smaller ones reach.
    fn distinct(&self) -> bool {
        let mut axes = self.axes.map(|(n, step)| (step.abs(), n));
        axes.sort_unstable();
        let mut reach = self.bytes;
        axes.iter().filter(|(_, n)| *n > 1).all(|(step, n)| {
            let past = *step >= reach;
            reach += step * (n - 1);
            past
        })
    }
}

/// The memory of operand `o`.
///
/// # Safety
/// As for a loop function; the operand has less than [`AXES`] core dimensions.
pub(super) unsafe fn memory(
    l: &Loop,
    args: *const *mut u8,
    dims: *const isize,
    steps: *const isize,
    o: usize,
) -> Memory {
    let operand = &l.operands[o];
    // SAFETY: as required of the caller. Strides of core axes lie one behind the other.
    unsafe {
        let strides =
            steps.add(l.operands.len() + l.operands[..o].iter().map(|x| x.axes.len()).sum::<usize>());
        let mut axes = [(1, 0); AXES];
        axes[0] = (*dims, *steps.add(o));
        for (k, axis) in operand.axes.iter().enumerate() {
            let length = *dims.add(1 + axis);
            axes[1 + k] = (length, if length > 1 { *strides.add(k) } else { 0 });
        }
        Memory { at: *args.add(o) as isize, axes, bytes: operand.bytes }
    }
}

fn has_many_axes(l: &Loop) -> bool {
    l.operands.iter().any(|o| o.axes.len() >= AXES)
}

/// Whether the turns of a loop may run at the same time: the elements of outputs are distinct, and an
/// output's memory is no input's but for one that lies in the same places, turn by turn. In a reduction the
/// output stays where it is and is an input as well.
///
/// # Safety
/// As for a loop function.
pub(super) unsafe fn independent(
    l: &Loop,
    args: *const *mut u8,
    dims: *const isize,
    steps: *const isize,
) -> bool {
    let nargs = l.operands.len();
    // SAFETY: as required of the caller.
    unsafe {
        let n = *dims;
        if n == 1 || has_many_axes(l) {
            return n == 1;
        }
        (l.nin..nargs).all(|o| {
            let out = memory(l, args, dims, steps, o);
            out.axes.iter().any(|a| a.0 == 0)
                || out.distinct()
                    && (0..nargs).filter(|i| *i != o).all(|i| {
                        let other = memory(l, args, dims, steps, i);
                        out.apart(&other) || i < l.nin && other == out
                    })
        })
    }
}

/// Which new marks are true after a loop that calls elementary functions. All, where operands were finite. A
/// result that is no number, out of operands that are, is a reason for some, and one that is not finite, out
/// of finite ones; without a reason operands that are not finite have left them. Where a result lies on an
/// operand nobody knows what that was.
///
/// # Safety
/// As for a loop function.
#[cold]
#[inline(never)]
pub(super) unsafe fn credible(
    l: &Loop,
    args: *const *mut u8,
    dims: *const isize,
    steps: *const isize,
) -> Marks {
    let (n, nargs) = (*unsafe { &*dims }, l.operands.len());
    // SAFETY: as required of the caller.
    unsafe {
        if has_many_axes(l) {
            return Marks::every();
        }
        let places: Vec<Memory> = (0..nargs).map(|o| memory(l, args, dims, steps, o)).collect();
        if places[l.nin..].iter().any(|out| places[..l.nin].iter().any(|given| !out.apart(given))) {
            return Marks::every();
        }
        let (mut finite, mut reasons) = (true, Marks::NONE);
        for i in 0..n {
            let special = |operands: std::ops::Range<usize>| {
                operands.map(|o| places[o].special(i, l.operands[o].floats)).fold(
                    Special::default(),
                    |a, b| Special { nan: a.nan | b.nan, infinite: a.infinite | b.infinite },
                )
            };
            let given = special(0..l.nin);
            if given.nan {
                finite = false;
                continue;
            }
            let made = special(l.nin..nargs);
            finite &= !given.infinite;
            if made.nan {
                reasons = reasons | Marks::INVALID;
            }
            if (made.nan || made.infinite) && !given.infinite {
                reasons = reasons | Marks::INFINITE;
            }
        }
        if finite { Marks::every() } else { reasons }
    }
}
