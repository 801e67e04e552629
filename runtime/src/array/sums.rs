//! The tree of a pairwise sum whose elements are computed block by block by the caller: subtrees of up to
//! [`SUM_BLOCK`] elements, and the same additions, as [`super::lanes::pairwise`] makes of an array in memory.

use super::lane_tree::half;
use super::lanes::Real;
use std::mem::MaybeUninit;
use tierup_core::ops::kernel::{
    LEAF, LEAVES, LEAVES_BYTES, LEAVES_LANES, LEAVES_REST, LEAVES_ROW, SUBTREES, SUMS,
};

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

/// How a block is cut into leaves: how many elements each has, and whether all are as far from the root.
#[repr(C)]
struct Cut {
    block: i64,
    leaves: usize,
    is_even: bool,
    len: [i64; COUNT],
}

#[repr(C)]
pub(crate) struct Sums {
    depth: usize,
    /// Elements in a block.
    most: i64,
    /// The block that is taken leaf by leaf now is cut in the first or the second way: nearly all blocks of a
    /// tree are of one size or two.
    now: usize,
    cuts: [Cut; 2],
    pub total: f64,
    levels: [MaybeUninit<Level>; LEVELS],
}

const COUNT: usize = LEAVES as usize;
const _: () = assert!(COUNT.is_multiple_of(4));

/// The leaves of a block: how many elements each has, what is left of the last of all, and accumulators.
#[repr(C)]
pub(crate) struct Leaves {
    pub len: [i64; COUNT],
    pub rest: [u64; 8],
    pub lanes: [[u64; 8]; COUNT],
}

const _: () = assert!(
    size_of::<Leaves>() == LEAVES_BYTES as usize
        && std::mem::offset_of!(Leaves, rest) == LEAVES_REST as usize
);
const _: () = assert!(
    std::mem::offset_of!(Leaves, lanes) == LEAVES_LANES as usize
        && size_of::<[u64; 8]>() == LEAVES_ROW as usize
);

impl Leaves {
    /// The accumulators of leaf `k`.
    fn doubles(&self, k: usize) -> [f64; 8] {
        self.lanes[k].map(f64::from_bits)
    }
    fn singles(&self, k: usize) -> [f32; 8] {
        // SAFETY: the first four of the eight words hold eight numbers, and any bits are one.
        unsafe { self.lanes[k].as_ptr().cast::<[f32; 8]>().read() }
    }

    /// The sum of leaf `k`, of `n` elements.
    pub(crate) fn sum(&self, k: usize, n: i64, single: bool) -> f64 {
        let left = n as usize % 8;
        // SAFETY: eight words hold eight numbers of either type, and any bits are one.
        unsafe {
            if single {
                f64::from(put_together(&self.singles(k), &(&*self.rest.as_ptr().cast::<[f32; 8]>())[..left]))
            } else {
                put_together(&self.doubles(k), &(&*self.rest.as_ptr().cast::<[f64; 8]>())[..left])
            }
        }
    }

    /// The sum of `count` leaves of whole rounds of their accumulators, all as far from the root, where the
    /// processor has instructions for it.
    #[cfg(target_arch = "x86_64")]
    fn even_sum(&self, count: usize) -> Option<f64> {
        if !crate::cpu::has!("avx2") {
            return None;
        }
        // SAFETY: the processor has been asked.
        unsafe {
            match count {
                4 => Some(self.sum_of_fours::<1>()),
                8 => Some(self.sum_of_fours::<2>()),
                16 => Some(self.sum_of_fours::<4>()),
                32 => Some(self.sum_of_fours::<8>()),
                _ => None,
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    fn even_sum(&self, _count: usize) -> Option<f64> {
        None
    }

    /// Four leaves at a time, then what they give in pairs: additions on the same level of the tree lie side
    /// by side. So few instructions that the processor begins with the next block meanwhile.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn sum_of_fours<const FOURS: usize>(&self) -> f64 {
        use std::arch::x86_64::*;
        let half = |k: usize, at: usize| {
            // SAFETY: a half is four numbers; any bits are one.
            let row = |j: usize| unsafe { _mm256_loadu_pd(self.lanes[k + j][at..].as_ptr().cast()) };
            let (ab, cd) = (_mm256_hadd_pd(row(0), row(1)), _mm256_hadd_pd(row(2), row(3)));
            _mm256_add_pd(_mm256_permute2f128_pd::<0x20>(ab, cd), _mm256_permute2f128_pd::<0x31>(ab, cd))
        };
        let mut sums: [__m256d; FOURS] =
            std::array::from_fn(|k| _mm256_add_pd(half(4 * k, 0), half(4 * k, 4)));
        let mut count = FOURS;
        while count > 1 {
            count /= 2;
            for k in 0..count {
                sums[k] =
                    _mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_hadd_pd(sums[2 * k], sums[2 * k + 1]));
            }
        }
        let pairs = _mm256_hadd_pd(sums[0], sums[0]);
        _mm256_cvtsd_f64(pairs) + _mm_cvtsd_f64(_mm256_extractf128_pd::<1>(pairs))
    }

    /// The best of the first row; NaN where the second adds up to NaN.
    pub(crate) fn extreme(&self, max: bool, single: bool) -> f64 {
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
    pub(crate) unsafe fn begin(state: *mut Sums, n: i64, most: i64) -> i64 {
        fn blocks(n: isize, most: isize) -> i64 {
            if n <= most { 1 } else { blocks(half(n), most) + blocks(n - half(n), most) }
        }
        // SAFETY: the caller gives the room; levels above `depth` and leaves of blocks without elements are
        // written before they are read.
        unsafe {
            (&raw mut (*state).depth).write(1);
            (&raw mut (*state).most).write(most);
            (&raw mut (*state).now).write(0);
            (&raw mut (*state).total).write(0.0);
            for k in 0..2 {
                (&raw mut (*state).cuts[k].block).write(0);
            }
            (&raw mut (*state).levels[0]).write(MaybeUninit::new(Level::Right(n)));
        }
        blocks(n as isize, most as isize)
    }

    fn level(&self, at: usize) -> Level {
        // SAFETY: callers ask for what is below `depth`, which has been written.
        unsafe { self.levels[at].assume_init() }
    }

    /// The number of elements in the next block.
    pub(crate) fn next_block(&mut self) -> i64 {
        loop {
            let Some(Level::Right(n)) = self.depth.checked_sub(1).map(|d| self.level(d)) else { return 0 };
            if n <= self.most {
                self.depth -= 1;
                return n;
            }
            let left = half(n as isize) as i64;
            self.levels[self.depth - 1].write(Level::Right(n - left));
            self.levels[self.depth].write(Level::Right(left));
            self.depth += 1;
        }
    }

    /// The leaves of the next block, in a table that nobody else writes to; how many.
    pub(crate) fn next_leaves(&mut self, leaves: &mut Leaves) -> i64 {
        let n = self.next_block();
        if n != self.cuts[self.now].block {
            self.now ^= 1;
            let cut = &mut self.cuts[self.now];
            if n != cut.block {
                cut.make(n);
            }
            leaves.len = cut.len;
        }
        self.cuts[self.now].leaves as i64
    }

    /// Takes the leaves of the block.
    pub(crate) fn push_leaves(&mut self, leaves: &Leaves, single: bool) {
        fn add(n: i64, sums: &mut impl Iterator<Item = f64>, single: bool) -> f64 {
            if n <= LEAF {
                return sums.next().unwrap_or(0.0);
            }
            let left = half(n as isize) as i64;
            let (a, b) = (add(left, sums, single), add(n - left, sums, single));
            if single { f64::from(a as f32 + b as f32) } else { a + b }
        }
        let cut = &self.cuts[self.now];
        // Only the last leaf of all has elements left.
        let last = leaves.len[cut.leaves - 1];
        let at_once =
            if cut.is_even && !single && last % 8 == 0 { leaves.even_sum(cut.leaves) } else { None };
        let sum = at_once.unwrap_or_else(|| {
            let mut sums = [0.0; COUNT];
            for (k, sum) in sums[..cut.leaves].iter_mut().enumerate() {
                *sum = leaves.sum(k, if k == cut.leaves - 1 { last } else { 0 }, single);
            }
            if cut.is_even {
                join(&mut sums[..cut.leaves], single)
            } else {
                add(cut.block, &mut sums.into_iter(), single)
            }
        });
        self.push(sum, single);
    }

    /// Takes the sum of a block and adds up what it completes.
    pub(crate) fn push(&mut self, mut sum: f64, single: bool) {
        while let Some(d) = self.depth.checked_sub(1) {
            match self.level(d) {
                Level::Left(left) => {
                    sum = if single { f64::from(left as f32 + sum as f32) } else { left + sum };
                    self.depth -= 1;
                }
                Level::Right(n) => {
                    // The right half takes its place on top of the sum of the left one.
                    self.levels[d].write(Level::Left(sum));
                    self.levels[d + 1].write(Level::Right(n));
                    self.depth += 1;
                    return;
                }
            }
        }
        self.total = sum;
    }
}

impl Cut {
    fn make(&mut self, n: i64) {
        let (mut count, len) = (1, &mut self.len);
        len.fill(0);
        len[0] = n;
        // The first leaf is the smallest, the last the largest: what is on one level differs by one round of
        // the accumulators, and by what is left of the last leaf.
        while len[0] > LEAF {
            for k in (0..count).rev() {
                let left = half(len[k] as isize) as i64;
                (len[2 * k], len[2 * k + 1]) = (left, len[k] - left);
            }
            count *= 2;
        }
        let is_even = len[count - 1] <= LEAF;
        if !is_even {
            count = 0;
            cut_unevenly(n, len, &mut count);
        }
        (self.block, self.leaves, self.is_even) = (n, count, is_even);
    }
}

/// The leaves of `n` elements that are not all on one level.
fn cut_unevenly(n: i64, len: &mut [i64; COUNT], count: &mut usize) {
    if n <= LEAF {
        len[*count] = n;
        *count += 1;
        return;
    }
    let left = half(n as isize) as i64;
    cut_unevenly(left, len, count);
    cut_unevenly(n - left, len, count);
}

/// Elements that a subtree has at least, where a sum is divided.
const SUBTREE: i64 = 8192;

/// How many levels of the tree are divided: a function of the length alone.
pub(crate) fn depth(n: i64) -> u32 {
    (n / SUBTREE).clamp(1, SUBTREES).ilog2()
}

/// The first element of subtree `k` on the lowest divided level.
pub(crate) fn part(n: i64, k: i64) -> i64 {
    let levels = depth(n);
    if k >> levels != 0 {
        return n;
    }
    let (mut first, mut len) = (0, n);
    for level in (0..levels).rev() {
        let left = half(len as isize) as i64;
        if k >> level & 1 == 0 {
            len = left;
        } else {
            (first, len) = (first + left, len - left);
        }
    }
    first
}

/// The sum of subtrees.
pub(crate) fn join(parts: &mut [f64], single: bool) -> f64 {
    let mut count = parts.len();
    while count > 1 {
        count /= 2;
        for k in 0..count {
            parts[k] = if single {
                f64::from(parts[2 * k] as f32 + parts[2 * k + 1] as f32)
            } else {
                parts[2 * k] + parts[2 * k + 1]
            };
        }
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
            let sum = |first: usize, n: i64| unsafe {
                crate::array::lanes::pairwise::<f64, false>(v.as_ptr().add(first).cast(), n as isize, 8)
            };
            let (mut state, mut leaves, mut first) = (
                std::mem::MaybeUninit::<Sums>::uninit(),
                Leaves { len: [0; COUNT], rest: [0; 8], lanes: [[0; 8]; COUNT] },
                0,
            );
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
                    for (i, x) in eights.iter().enumerate() {
                        lanes[i % 8] += *x;
                    }
                    leaves.lanes[k] = lanes.map(f64::to_bits);
                    for (place, x) in leaves.rest.iter_mut().zip(rest) {
                        *place = x.to_bits();
                    }
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
                    s.push(
                        crate::array::lanes::pairwise::<f64, false>(
                            v.as_ptr().add(first).cast(),
                            len as isize,
                            8,
                        ),
                        false,
                    );
                    first += len as usize;
                }
                assert_eq!((first as i64, s.next_block()), (n, 0));
                assert_eq!(
                    s.total.to_bits(),
                    crate::array::lanes::pairwise::<f64, false>(v.as_ptr().cast(), n as isize, 8).to_bits(),
                    "{n}"
                );
            }
        }
    }

    #[test]
    fn subtrees_add_up_to_the_whole() {
        for n in [1i64, 7, 128, 8192, 16383, 16384, 20_001, 100_003, 1_000_000, 5_000_001] {
            let v: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
            let count = 1i64 << depth(n);
            // SAFETY: subtrees lie within the vector.
            let sum = |first: i64, end: i64| unsafe {
                crate::array::lanes::pairwise::<f64, false>(
                    v.as_ptr().add(first as usize).cast(),
                    (end - first) as isize,
                    8,
                )
            };
            let mut parts: Vec<f64> = (0..count).map(|k| sum(part(n, k), part(n, k + 1))).collect();
            assert_eq!(part(n, count), n);
            assert_eq!(join(&mut parts, false).to_bits(), sum(0, n).to_bits(), "{n}");
        }
    }
}
