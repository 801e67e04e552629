//! Operands of an inner loop, and their memory in one call: which lie apart, and what the loop may take for
//! granted.

use super::object::UFunc;
use crate::marks::{Floats, Marks, Special};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use tierup_core::types::{ArrayType, Layout, Type};

/// What a loop takes for one operand: an array with an axis that it runs along.
pub(super) struct Operand {
    /// The core dimensions of the axes behind that one.
    pub(super) axes: Vec<usize>,
    /// An element that the kernel gets as an array of one: behind that axis there is one of length 1.
    pub(super) boxed: bool,
    pub(super) bytes: isize,
    floats: Floats,
}
impl Operand {
    pub(super) fn ndim(&self) -> usize {
        1 + self.axes.len() + self.boxed as usize
    }
}

/// The operands of a loop.
pub(super) struct Operands {
    pub(super) all: Vec<Operand>,
    /// How many of them are inputs.
    nin: usize,
}

fn floats_of(t: Type) -> Floats {
    let count = if t.is_complex() { 2 } else { t.is_float() as u8 };
    Floats { count, bytes: if count == 0 { 0 } else { t.itemsize() as u8 / count } }
}

/// The most axes of an operand whose memory is looked at.
const AXES: usize = 8;

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

impl Operands {
    /// Those of a loop with arguments of these types: arrays of the core dimensions of each and one more, or
    /// of one element each.
    ///
    /// # Safety
    /// A live ufunc.
    pub(super) unsafe fn of(u: *const UFunc, generalised: bool, types: &[Type]) -> PyResult<Operands> {
        let all = types
            .iter()
            .enumerate()
            .map(|(i, t)| {
                // SAFETY: the arrays have a member for each operand, and one for each of its core dimensions.
                // To NumPy a layout without core dimensions is none.
                let axes: Vec<usize> = unsafe {
                    let known = generalised && (*u).core_enabled != 0;
                    let (first, n) = if known {
                        (*(*u).core_offsets.add(i) as usize, *(*u).core_num_dims.add(i) as usize)
                    } else {
                        (0, 0)
                    };
                    (first..first + n).map(|k| *(*u).core_dim_ixs.add(k) as usize).collect()
                };
                let (has, array) = (axes.len(), t.as_array());
                let fits = |a: &ArrayType| {
                    a.layout == Layout::A && (a.ndim() == 1 + has || generalised && has == 0 && a.ndim() == 2)
                };
                match array.filter(fits) {
                    Some(a) => Ok(Operand {
                        boxed: a.ndim() > 1 + has,
                        axes,
                        bytes: a.itemsize() as isize,
                        floats: floats_of(a.dtype),
                    }),
                    None => Err(PyTypeError::new_err(format!(
                        "operand {i} has {has} core dimensions and cannot be of type {t}"
                    ))),
                }
            })
            .collect::<PyResult<Vec<_>>>()?;
        // SAFETY: as required of the caller.
        Ok(Operands { all, nin: unsafe { (*u).nin } as usize })
    }

    /// The memory of operand `o`.
    ///
    /// # Safety
    /// As for a loop function; the operand has less than [`AXES`] core dimensions.
    unsafe fn memory(
        &self,
        args: *const *mut u8,
        dims: *const isize,
        steps: *const isize,
        o: usize,
    ) -> Memory {
        let operand = &self.all[o];
        // SAFETY: as required of the caller. Strides of core axes lie one behind the other.
        unsafe {
            let strides =
                steps.add(self.all.len() + self.all[..o].iter().map(|x| x.axes.len()).sum::<usize>());
            let mut axes = [(1, 0); AXES];
            axes[0] = (*dims, *steps.add(o));
            for (k, axis) in operand.axes.iter().enumerate() {
                let length = *dims.add(1 + axis);
                axes[1 + k] = (length, if length > 1 { *strides.add(k) } else { 0 });
            }
            Memory { at: *args.add(o) as isize, axes, bytes: operand.bytes }
        }
    }

    fn has_many_axes(&self) -> bool {
        self.all.iter().any(|o| o.axes.len() >= AXES)
    }

    /// Whether the turns of a loop may run at the same time: the elements of outputs are distinct, and an
    /// output's memory is no input's but for one that lies in the same places, turn by turn. In a reduction
    /// the output stays where it is and is an input as well.
    ///
    /// # Safety
    /// As for a loop function.
    pub(super) unsafe fn independent(
        &self,
        args: *const *mut u8,
        dims: *const isize,
        steps: *const isize,
    ) -> bool {
        let nargs = self.all.len();
        // SAFETY: as required of the caller.
        unsafe {
            let n = *dims;
            if n == 1 || self.has_many_axes() {
                return n == 1;
            }
            (self.nin..nargs).all(|o| {
                let out = self.memory(args, dims, steps, o);
                out.axes.iter().any(|a| a.0 == 0)
                    || out.distinct()
                        && (0..nargs).filter(|i| *i != o).all(|i| {
                            let other = self.memory(args, dims, steps, i);
                            out.apart(&other) || i < self.nin && other == out
                        })
            })
        }
    }

    /// Which new marks are true after a loop that calls elementary functions. All, where operands were
    /// finite. A result that is no number, out of operands that are, is a reason for some, and one that is
    /// not finite, out of finite ones; without a reason operands that are not finite have left them. Where a
    /// result lies on an operand nobody knows what that was.
    ///
    /// # Safety
    /// As for a loop function.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn credible(
        &self,
        args: *const *mut u8,
        dims: *const isize,
        steps: *const isize,
    ) -> Marks {
        // SAFETY: as required of the caller; the first dimension is that of the loop.
        let (n, nargs) = (unsafe { *dims }, self.all.len());
        // SAFETY: as required of the caller.
        unsafe {
            if self.has_many_axes() {
                return Marks::every();
            }
            let places: Vec<Memory> = (0..nargs).map(|o| self.memory(args, dims, steps, o)).collect();
            if places[self.nin..].iter().any(|out| places[..self.nin].iter().any(|given| !out.apart(given))) {
                return Marks::every();
            }
            let (mut finite, mut reasons) = (true, Marks::NONE);
            for i in 0..n {
                let special = |operands: std::ops::Range<usize>| {
                    operands.map(|o| places[o].special(i, self.all[o].floats)).fold(
                        Special::default(),
                        |a, b| Special { nan: a.nan | b.nan, infinite: a.infinite | b.infinite },
                    )
                };
                let given = special(0..self.nin);
                if given.nan {
                    finite = false;
                    continue;
                }
                let made = special(self.nin..nargs);
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
}
