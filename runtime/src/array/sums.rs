//! The tree of a pairwise sum whose elements are computed block by block by the caller: subtrees of up to [`SUM_BLOCK`] elements, and the same additions, as
//! [`super::lanes::pairwise`] makes of an array in memory.

use super::lanes::{Real, half};
use tierup_core::ops::kernel::{LEAF, LEAVES, LEAVES_BYTES, LEAVES_LANES, LEAVES_MORE, LEAVES_REST, LEAVES_ROW, SUBTREES, SUMS};

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
pub struct Sums {
    depth: usize,
    /// Elements in a block.
    most: i64,
    /// Those of the current one, where it is taken leaf by leaf; how many leaves it has, and whether all are as far from the root.
    block: i64,
    leaves: usize,
    is_even: bool,
    pub total: f64,
    levels: [Level; LEVELS],
}

const COUNT: usize = LEAVES as usize;
const _: () = assert!(COUNT.is_multiple_of(4));

/// The leaves of a block: how many elements each has, what is left of the last of all, and accumulators: eight float32 lie in the first of the two, of float64 the first four.
#[repr(C)]
pub struct Leaves { pub len: [i64; COUNT], pub rest: [u64; 8], pub lanes: [[u64; 4]; COUNT], pub more: [[u64; 4]; COUNT] }

const _: () = assert!(size_of::<Leaves>() == LEAVES_BYTES as usize && std::mem::offset_of!(Leaves, rest) == LEAVES_REST as usize);
const _: () = assert!(std::mem::offset_of!(Leaves, lanes) == LEAVES_LANES as usize && std::mem::offset_of!(Leaves, more) == LEAVES_MORE as usize && size_of::<[u64; 4]>() == LEAVES_ROW as usize);

impl Leaves {
    /// The accumulators of leaf `k`.
    fn doubles(&self, k: usize) -> [f64; 8] {
        let ([a, b, c, d], [e, f, g, h]) = (self.lanes[k], self.more[k]);
        [a, b, c, d, e, f, g, h].map(f64::from_bits)
    }
    // SAFETY: four words hold eight numbers, and any bits are one.
    fn singles(&self, k: usize) -> [f32; 8] { unsafe { self.lanes[k].as_ptr().cast::<[f32; 8]>().read() } }

    /// The sum of leaf `k`, of `n` elements.
    pub fn sum(&self, k: usize, n: i64, single: bool) -> f64 {
        let left = n as usize % 8;
        // SAFETY: eight words hold eight numbers of either type, and any bits are one.
        unsafe {
            if single { f64::from(put_together(&self.singles(k), &(&*self.rest.as_ptr().cast::<[f32; 8]>())[..left])) }
            else { put_together(&self.doubles(k), &(&*self.rest.as_ptr().cast::<[f64; 8]>())[..left]) }
        }
    }

    /// The sums of the first `count` leaves, each of whole rounds of its accumulators.
    fn sums(&self, count: usize, single: bool) -> [f64; COUNT] {
        let mut out = [0.0; COUNT];
        #[cfg(target_arch = "x86_64")]
        if !single && is_x86_feature_detected!("avx") {
            // SAFETY: the processor has been asked; any bits are numbers.
            unsafe { self.sums_by_four(count, &mut out) };
            return out;
        }
        for (k, sum) in out[..count].iter_mut().enumerate() { *sum = self.sum(k, 0, single); }
        out
    }

    /// Four leaves at a time: additions of the same accumulators of each lie side by side.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx")]
    unsafe fn sums_by_four(&self, count: usize, out: &mut [f64; COUNT]) {
        use std::arch::x86_64::*;
        // SAFETY: the rows are there, a multiple of four.
        unsafe {
            let half = |rows: &[[u64; 4]; COUNT], k: usize| {
                let row = |j: usize| _mm256_loadu_pd(rows[k + j].as_ptr().cast());
                let (ab, cd) = (_mm256_hadd_pd(row(0), row(1)), _mm256_hadd_pd(row(2), row(3)));
                _mm256_add_pd(_mm256_permute2f128_pd::<0x20>(ab, cd), _mm256_permute2f128_pd::<0x31>(ab, cd))
            };
            for k in (0..count).step_by(4) { _mm256_storeu_pd(out[k..].as_mut_ptr(), _mm256_add_pd(half(&self.lanes, k), half(&self.more, k))); }
        }
    }

    /// The best of the first row; NaN where the second adds up to NaN.
    pub fn extreme(&self, max: bool, single: bool) -> f64 {
        let wide = |k: usize| if single { self.singles(k).map(f64::from) } else { self.doubles(k) };
        let [first, others @ ..] = wide(0);
        let better = |x: f64, a: f64| if max { x > a } else { x < a };
        let best = others.into_iter().fold(first, |a, x| if better(x, a) { x } else { a });
        if put_together(&wide(1), &[]).is_nan() { f64::NAN } else { best }
    }
}

/// Accumulators and what comes after them, in NumPy's order.
fn put_together<T: Real>(r: &[T; 8], rest: &[T]) -> T {
    let s = r[0].plus(r[1]).plus(r[2].plus(r[3])).plus(r[4].plus(r[5]).plus(r[6].plus(r[7])));
    rest.iter().fold(s, |s, x| s.plus(*x))
}

const _: () = assert!(size_of::<Sums>() <= SUMS);

impl Sums {
    /// Begins a sum of `n` elements, in blocks of up to `most`; gives the number of blocks.
    ///
    /// # Safety
    /// `state` has room for [`SUMS`] bytes.
    pub unsafe fn begin(state: *mut Sums, n: i64, most: i64) -> i64 {
        fn blocks(n: isize, most: isize) -> i64 { if n <= most { 1 } else { blocks(half(n), most) + blocks(n - half(n), most) } }
        // SAFETY: the caller gives the room; levels above `depth` are written before they are read.
        unsafe { state.write(Sums { depth: 1, most, block: 0, leaves: 0, is_even: false, total: 0.0, levels: [Level::Right(n); LEVELS] }); }
        blocks(n as isize, most as isize)
    }

    /// The number of elements in the next block.
    pub fn next_block(&mut self) -> i64 {
        loop {
            let Some(Level::Right(n)) = self.depth.checked_sub(1).map(|d| self.levels[d]) else { return 0 };
            if n <= self.most {
                self.depth -= 1;
                return n;
            }
            let left = half(n as isize) as i64;
            self.levels[self.depth - 1] = Level::Right(n - left);
            self.levels[self.depth] = Level::Right(left);
            self.depth += 1;
        }
    }

    /// The leaves of the next block, in a table that nobody else writes to; how many.
    pub fn next_leaves(&mut self, leaves: &mut Leaves) -> i64 {
        /// Gives how far down the nearest and the farthest leaf are.
        fn cut(n: i64, leaves: &mut Leaves, count: &mut usize) -> (u32, u32) {
            if n <= LEAF {
                leaves.len[*count] = n;
                *count += 1;
                return (0, 0);
            }
            let left = half(n as isize) as i64;
            let (a, b) = (cut(left, leaves, count), cut(n - left, leaves, count));
            (1 + a.0.min(b.0), 1 + a.1.max(b.1))
        }
        let n = self.next_block();
        // Nearly all blocks of a tree are of one size or two, and those of one size are cut alike.
        if n != self.block {
            let mut count = 0;
            let (near, far) = cut(n, leaves, &mut count);
            (self.block, self.leaves, self.is_even) = (n, count, near == far);
        }
        self.leaves as i64
    }

    /// Takes the leaves of the block.
    pub fn push_leaves(&mut self, leaves: &Leaves, single: bool) {
        fn add(n: i64, sums: &mut impl Iterator<Item = f64>, single: bool) -> f64 {
            if n <= LEAF { return sums.next().unwrap_or(0.0); }
            let left = half(n as isize) as i64;
            let (a, b) = (add(left, sums, single), add(n - left, sums, single));
            if single { f64::from(a as f32 + b as f32) } else { a + b }
        }
        let mut sums = leaves.sums(self.leaves, single);
        // Only the last leaf of all has elements left.
        let last = self.leaves - 1;
        if leaves.len[last] % 8 != 0 { sums[last] = leaves.sum(last, leaves.len[last], single); }
        let sum = if self.is_even { join(&mut sums[..self.leaves], single) } else { add(self.block, &mut sums.into_iter(), single) };
        self.push(sum, single);
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

/// Elements that a subtree has at least, where a sum is divided.
const SUBTREE: i64 = 8192;

/// How many levels of the tree are divided: a function of the length alone.
pub fn depth(n: i64) -> u32 { (n / SUBTREE).clamp(1, SUBTREES).ilog2() }

/// The first element of subtree `k` on the lowest divided level.
pub fn part(n: i64, k: i64) -> i64 {
    let levels = depth(n);
    if k >> levels != 0 { return n; }
    let (mut first, mut len) = (0, n);
    for level in (0..levels).rev() {
        let left = half(len as isize) as i64;
        if k >> level & 1 == 0 { len = left; } else { (first, len) = (first + left, len - left); }
    }
    first
}

/// The sum of subtrees.
pub fn join(parts: &mut [f64], single: bool) -> f64 {
    let mut count = parts.len();
    while count > 1 {
        count /= 2;
        for k in 0..count { parts[k] = if single { f64::from(parts[2 * k] as f32 + parts[2 * k + 1] as f32) } else { parts[2 * k] + parts[2 * k + 1] }; }
    }
    parts[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierup_core::ops::kernel::{SUM_BLOCK, SUM_LEAVES};

    #[test]
    fn leaves_add_up_to_the_whole() {
        for n in [129i64, 136, 255, 257, 264, 1000, 2048, 2049, 2064, 4096, 4097, 15_625, 100_003, 262_152] {
            let v: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
            // SAFETY: the elements are there.
            let sum = |first: usize, n: i64| unsafe { crate::array::lanes::pairwise::<f64, false>(v.as_ptr().add(first).cast(), n as isize, 8) };
            let (mut state, mut leaves, mut first) = (std::mem::MaybeUninit::<Sums>::uninit(), Leaves { len: [0; COUNT], rest: [0; 8], lanes: [[0; 4]; COUNT], more: [[0; 4]; COUNT] }, 0);
            // SAFETY: the state has room.
            let blocks = unsafe { Sums::begin(state.as_mut_ptr(), n, SUM_LEAVES) };
            // SAFETY: it has begun.
            let s = unsafe { &mut *state.as_mut_ptr() };
            for _ in 0..blocks {
                let count = s.next_leaves(&mut leaves) as usize;
                for k in 0..count {
                    let len = leaves.len[k] as usize;
                    assert!(len as i64 <= LEAF);
                    let (eights, rest) = v[first..first + len].split_at(len / 8 * 8);
                    let mut lanes = [-0.0; 8];
                    for (i, x) in eights.iter().enumerate() { lanes[i % 8] += *x; }
                    let [a, b, c, d, e, f, g, h] = lanes.map(f64::to_bits);
                    (leaves.lanes[k], leaves.more[k]) = ([a, b, c, d], [e, f, g, h]);
                    for (place, x) in leaves.rest.iter_mut().zip(rest) { *place = x.to_bits(); }
                    first += len;
                }
                s.push_leaves(&leaves, false);
            }
            assert_eq!((first as i64, s.total.to_bits()), (n, sum(0, n).to_bits()), "{n}");
        }
    }

    #[test]
    fn adds_as_an_array_is_added() {
        for n in [129i64, 1000, 1024, 1025, 1040, 2049, 4097, 100_003] {
            let v: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
            let mut state = std::mem::MaybeUninit::<Sums>::uninit();
            // SAFETY: the state has room; addresses stay inside the vector.
            unsafe {
                let blocks = Sums::begin(state.as_mut_ptr(), n, SUM_BLOCK);
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

    #[test]
    fn subtrees_add_up_to_the_whole() {
        for n in [1i64, 7, 128, 8192, 16383, 16384, 20_001, 100_003, 1_000_000, 5_000_001] {
            let v: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
            let count = 1i64 << depth(n);
            // SAFETY: subtrees lie within the vector.
            let sum = |first: i64, end: i64| unsafe { crate::array::lanes::pairwise::<f64, false>(v.as_ptr().add(first as usize).cast(), (end - first) as isize, 8) };
            let mut parts: Vec<f64> = (0..count).map(|k| sum(part(n, k), part(n, k + 1))).collect();
            assert_eq!(part(n, count), n);
            assert_eq!(join(&mut parts, false).to_bits(), sum(0, n).to_bits(), "{n}");
        }
    }
}
