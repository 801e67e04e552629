//! The tree of a pairwise sum whose elements are computed block by block by the caller: the same blocks, and the same additions, as
//! [`super::lanes::pairwise`] makes of an array in memory.

use super::lanes::{BLOCK, half};
use tierup_core::ops::kernel::SUMS;

/// What is left to do on one level of the tree.
#[derive(Clone, Copy)]
#[repr(C)]
enum Level {
    /// The right half has so many elements.
    Right(i64),
    /// The left half is done.
    Left(f64),
}

const LEVELS: usize = 60;

#[repr(C)]
pub struct Sums { depth: usize, pub total: f64, levels: [Level; LEVELS] }

const _: () = assert!(size_of::<Sums>() <= SUMS);

impl Sums {
    /// Begins a sum of `n` elements; gives the number of blocks.
    ///
    /// # Safety
    /// `state` has room for [`SUMS`] bytes.
    pub unsafe fn begin(state: *mut Sums, n: i64) -> i64 {
        fn blocks(n: isize) -> i64 { if n <= BLOCK { 1 } else { blocks(half(n)) + blocks(n - half(n)) } }
        // SAFETY: the caller gives the room; levels above `depth` are written before they are read.
        unsafe { state.write(Sums { depth: 1, total: 0.0, levels: [Level::Right(n); LEVELS] }); }
        blocks(n as isize)
    }

    /// The number of elements in the next block.
    pub fn next_block(&mut self) -> i64 {
        loop {
            let Some(Level::Right(n)) = self.depth.checked_sub(1).map(|d| self.levels[d]) else { return 0 };
            if n as isize <= BLOCK {
                self.depth -= 1;
                return n;
            }
            let left = half(n as isize) as i64;
            self.levels[self.depth - 1] = Level::Right(n - left);
            self.levels[self.depth] = Level::Right(left);
            self.depth += 1;
        }
    }

    /// Takes the sum of a block and adds up what it completes.
    pub fn push(&mut self, mut sum: f64, single: bool) {
        while let Some(d) = self.depth.checked_sub(1) {
            match self.levels[d] {
                Level::Left(left) => {
                    sum = if single { f64::from(left as f32 + sum as f32) } else { left + sum };
                    self.depth -= 1;
                }
                Level::Right(n) => {
                    // The right half takes its place on top of the sum of the left one.
                    self.levels[d] = Level::Left(sum);
                    self.levels[d + 1] = Level::Right(n);
                    self.depth += 1;
                    return;
                }
            }
        }
        self.total = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_as_an_array_is_added() {
        for n in [129i64, 130, 256, 1000, 4097, 100_003] {
            let v: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
            let mut state = std::mem::MaybeUninit::<Sums>::uninit();
            // SAFETY: the state has room; addresses stay inside the vector.
            unsafe {
                let blocks = Sums::begin(state.as_mut_ptr(), n);
                let s = &mut *state.as_mut_ptr();
                let mut first = 0;
                for _ in 0..blocks {
                    let len = s.next_block();
                    s.push(crate::array::lanes::pairwise::<f64, false>(v.as_ptr().add(first).cast(), len as isize, 8), false);
                    first += len as usize;
                }
                assert_eq!((first as i64, s.next_block()), (n, 0));
                assert_eq!(s.total.to_bits(), crate::array::lanes::pairwise::<f64, false>(v.as_ptr().cast(), n as isize, 8).to_bits(), "{n}");
            }
        }
    }
}
