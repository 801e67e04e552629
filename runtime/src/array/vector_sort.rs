//! Quicksort of integers with AVX-512: eight or sixteen keys at a time are split by a pivot, and up to 128 or 256 are sorted in registers.
//!
//! Keys are split into the array itself and a copy, so at any moment every key is there once; sorting may stop between two splits.

use crate::poll::Poll;
use std::arch::x86_64::*;

/// Whether this machine can.
pub fn available() -> bool { is_x86_feature_detected!("avx512f") }

macro_rules! vector_sort {
    ($module:ident, $T:ty, $Mask:ty, $lanes:literal, $set:ident, $load:ident, $maskz_load:ident, $mask_store:ident, $compress:ident, $permute:ident, $min:ident, $max:ident, $blend:ident, $less:ident, $less_equal:ident, $index:expr) => {
        pub mod $module {
            use super::*;

            const LANES: usize = $lanes;
            const VECTORS: usize = 16;
            /// What is sorted in registers.
            const BLOCK: usize = LANES * VECTORS;

            /// Sorts; what it is in when it is time to stop is some order. False when there is no memory for a copy, and then nothing has changed.
            pub fn sort(v: &mut [$T], poll: &mut Poll) -> bool {
                let mut copy: Vec<$T> = vec![];
                if v.len() > BLOCK && copy.try_reserve_exact(v.len() + LANES).is_err() { return false; }
                // SAFETY: the caller has asked `available`; the copy has room for all keys and one vector.
                unsafe { quicksort(v, copy.as_mut_ptr(), 2 * (usize::BITS - v.len().leading_zeros()), poll) };
                true
            }

            #[target_feature(enable = "avx512f")]
            unsafe fn quicksort(mut v: &mut [$T], copy: *mut $T, mut depth: u32, poll: &mut Poll) {
                loop {
                    if v.len() <= BLOCK {
                        // SAFETY: the feature is there.
                        unsafe { in_registers(v) };
                        return;
                    }
                    if poll.worked(v.len()) { return; }
                    // Bad pivots all the way: an adversary.
                    if depth == 0 { v.sort_unstable(); return; }
                    depth -= 1;
                    // SAFETY: the feature is there, and the copy has room.
                    unsafe {
                        let pivot = pivot(v);
                        let less = split(v, copy, pivot, false);
                        if less == 0 {
                            // The pivot is the least key: what equals it is in its place.
                            let equal = split(v, copy, pivot, true);
                            v = &mut v[equal..];
                            continue;
                        }
                        let (left, right) = std::mem::take(&mut v).split_at_mut(less);
                        quicksort(left, copy, depth, poll);
                        v = right;
                    }
                }
            }

            /// The middle of a sample.
            #[target_feature(enable = "avx512f")]
            unsafe fn pivot(v: &[$T]) -> $T {
                const SAMPLE: usize = 64;
                let step = v.len() / SAMPLE;
                let mut sample = [0; SAMPLE];
                for (i, s) in sample.iter_mut().enumerate() { *s = v[i * step + step / 2]; }
                // SAFETY: the feature is there.
                unsafe { in_registers(&mut sample) };
                sample[SAMPLE / 2]
            }

            /// Moves the keys below the pivot (or up to it) to the front, the others behind them; gives their number.
            #[target_feature(enable = "avx512f")]
            unsafe fn split(v: &mut [$T], copy: *mut $T, pivot: $T, equal: bool) -> usize {
                let (p, n) = (v.as_mut_ptr(), v.len());
                let (mut left, mut right, mut i) = (0, 0, 0);
                // SAFETY: what is stored in front has been loaded already: `left` never passes `i`; the copy has room for a vector more than there are keys.
                unsafe {
                    let pivots = $set(pivot);
                    while i + LANES <= n {
                        let x = $load(p.add(i).cast());
                        let m = if equal { $less_equal(x, pivots) } else { $less(x, pivots) };
                        _mm512_storeu_si512(p.add(left).cast(), $compress(m, x));
                        _mm512_storeu_si512(copy.add(right).cast(), $compress(!m, x));
                        let k = m.count_ones() as usize;
                        left += k;
                        right += LANES - k;
                        i += LANES;
                    }
                    while i < n {
                        let x = *p.add(i);
                        if if equal { x <= pivot } else { x < pivot } { *p.add(left) = x; left += 1; } else { *copy.add(right) = x; right += 1; }
                        i += 1;
                    }
                    std::ptr::copy_nonoverlapping(copy, p.add(left), right);
                }
                left
            }

            /// A bitonic network over as many vectors as are needed.
            #[target_feature(enable = "avx512f")]
            unsafe fn in_registers(v: &mut [$T]) {
                // SAFETY: the feature is there.
                unsafe {
                    match v.len().div_ceil(LANES) {
                        0 | 1 => network::<1>(v),
                        2 => network::<2>(v),
                        3 | 4 => network::<4>(v),
                        5..=8 => network::<8>(v),
                        _more => network::<16>(v),
                    }
                }
            }

            #[target_feature(enable = "avx512f")]
            unsafe fn network<const V: usize>(v: &mut [$T]) {
                let (p, n) = (v.as_mut_ptr(), v.len());
                let bits = |from: usize| -> $Mask { let k = n.saturating_sub(from).min(LANES); if k == LANES { <$Mask>::MAX } else { ((1 as $Mask) << k).wrapping_sub(1) } };
                // What is missing is larger than all.
                let mut x = [$set(<$T>::MAX); V];
                for (i, x) in x.iter_mut().enumerate() {
                    let m = bits(i * LANES);
                    // SAFETY: masked lanes are not touched.
                    *x = $blend(m, *x, unsafe { $maskz_load(m, p.wrapping_add(i * LANES).cast()) });
                }
                let mut k = 2;
                while k <= V * LANES {
                    let mut j = k / 2;
                    while j > 0 {
                        if j >= LANES {
                            let apart = j / LANES;
                            for a in 0..V {
                                let b = a ^ apart;
                                if b < a { continue; }
                                let (low, high) = ($min(x[a], x[b]), $max(x[a], x[b]));
                                (x[a], x[b]) = if a * LANES & k == 0 { (low, high) } else { (high, low) };
                            }
                        } else {
                            // SAFETY: as many numbers as lanes.
                            let partner = unsafe { $load(PARTNERS[j.trailing_zeros() as usize].as_ptr().cast()) };
                            let first = lanes_without(j);
                            for (i, x) in x.iter_mut().enumerate() {
                                let up = if k < LANES { lanes_without(k) } else if i * LANES & k == 0 { <$Mask>::MAX } else { 0 };
                                let y = $permute(partner, *x);
                                // The lower of two takes the smaller where the order goes up.
                                *x = $blend(!(first ^ up), $max(*x, y), $min(*x, y));
                            }
                        }
                        j /= 2;
                    }
                    k *= 2;
                }
                // SAFETY: masked lanes are not touched.
                for (i, x) in x.iter().enumerate() { unsafe { $mask_store(p.wrapping_add(i * LANES).cast(), bits(i * LANES), *x) }; }
            }

            /// The lanes whose number has not this bit.
            #[inline(always)]
            fn lanes_without(bit: usize) -> $Mask {
                let mut m = 0;
                let mut i = 0;
                while i < LANES { if i & bit == 0 { m |= (1 as $Mask) << i; } i += 1; }
                m
            }

            /// For distances 1, 2, 4 and 8: the lane that each lane is compared with.
            static PARTNERS: [[$T; LANES]; LANES.trailing_zeros() as usize] = $index;
        }
    };
}

const fn partners<const N: usize, const D: usize>() -> [[i64; N]; D] {
    let mut all = [[0; N]; D];
    let mut d = 0;
    while d < D {
        let mut i = 0;
        while i < N { all[d][i] = (i ^ (1 << d)) as i64; i += 1; }
        d += 1;
    }
    all
}
const fn partners32<const N: usize, const D: usize>() -> [[i32; N]; D] {
    let wide = partners::<N, D>();
    let mut all = [[0; N]; D];
    let mut d = 0;
    while d < D {
        let mut i = 0;
        while i < N { all[d][i] = wide[d][i] as i32; i += 1; }
        d += 1;
    }
    all
}

vector_sort!(wide, i64, __mmask8, 8, _mm512_set1_epi64, _mm512_loadu_epi64, _mm512_maskz_loadu_epi64, _mm512_mask_storeu_epi64, _mm512_maskz_compress_epi64, _mm512_permutexvar_epi64,
    _mm512_min_epi64, _mm512_max_epi64, _mm512_mask_blend_epi64, _mm512_cmplt_epi64_mask, _mm512_cmple_epi64_mask, partners::<8, 3>());
vector_sort!(narrow, i32, __mmask16, 16, _mm512_set1_epi32, _mm512_loadu_epi32, _mm512_maskz_loadu_epi32, _mm512_mask_storeu_epi32, _mm512_maskz_compress_epi32, _mm512_permutexvar_epi32,
    _mm512_min_epi32, _mm512_max_epi32, _mm512_mask_blend_epi32, _mm512_cmplt_epi32_mask, _mm512_cmple_epi32_mask, partners32::<16, 4>());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_every_length_and_pattern() {
        if !available() { return; }
        let mut seed = 7u64;
        let mut random = move || { seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); seed ^ seed >> 33 };
        for n in (0..300).chain([511, 512, 513, 1000, 5000, 40_000]) {
            for pattern in 0..7u64 {
                let raw: Vec<u64> = (0..n as u64).map(|i| match pattern { 0 => random(), 1 => i, 2 => n as u64 - i, 3 => random() % 3, 4 => 5, 5 => i % 17 * (random() % 2), _extremes => [u64::MAX >> 1, 1 << 63, 0, u64::MAX][(random() % 4) as usize] }).collect();
                macro_rules! check { ($module:ident, $T:ty) => {
                    let mut v: Vec<$T> = raw.iter().map(|x| *x as $T).collect();
                    let mut want = v.clone();
                    want.sort();
                    assert!($module::sort(&mut v, &mut Poll::never()));
                    assert_eq!(v, want, "{n} {pattern}");
                }; }
                check!(wide, i64);
                check!(narrow, i32);
            }
        }
    }
}
