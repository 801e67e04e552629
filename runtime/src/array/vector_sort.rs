//! Quicksort of integers with AVX-512, alone or with the positions they came from, and selecting: eight or
//! sixteen keys at a time are split by a pivot, and up to 128 or 256 (of pairs 64) are sorted in registers.
//!
//! Keys are split into the array itself and a copy, so at any moment every key is there once; sorting may
//! stop between two splits.

use crate::poll::Poll;
use std::arch::x86_64::*;

/// Whether this machine can.
pub(crate) fn available() -> bool {
    crate::cpu::has!("avx512f")
}

macro_rules! vector_sort {
    ($module:ident, $T:ty, $V:ty, $Mask:ty, $lanes:literal, $set:ident, $load:ident, $maskz_load:ident, $mask_store:ident, $compress:ident, $permute:ident, $min:ident, $max:ident, $mask_max:ident, $blend:ident, $less:ident, $less_equal:ident, $index:expr) => {
        pub(crate) mod $module {
            use super::*;

            const LANES: usize = $lanes;
            const VECTORS: usize = 16;
            /// What is sorted in registers.
            const BLOCK: usize = LANES * VECTORS;

            /// Sorts; what it is in when it is time to stop is some order. False when there is no memory for
            /// a copy, and then nothing has changed.
            pub(crate) fn sort(v: &mut [$T], poll: &mut Poll) -> bool {
                let mut copy: Vec<$T> = vec![];
                if v.len() > BLOCK && copy.try_reserve_exact(v.len() + LANES).is_err() {
                    return false;
                }
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
                    if poll.worked(v.len()) {
                        return;
                    }
                    // Bad pivots all the way: an adversary.
                    if depth == 0 {
                        v.sort_unstable();
                        return;
                    }
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

            /// Puts the key that belongs at `k` there, no greater ones before it and no smaller ones behind.
            /// False when there is no memory for a copy.
            pub(crate) fn select(v: &mut [$T], k: usize, poll: &mut Poll) -> bool {
                let mut copy: Vec<$T> = vec![];
                if v.len() > BLOCK && copy.try_reserve_exact(v.len() + LANES).is_err() {
                    return false;
                }
                // SAFETY: as above.
                unsafe { quickselect(v, copy.as_mut_ptr(), k, poll) };
                true
            }

            #[target_feature(enable = "avx512f")]
            unsafe fn quickselect(mut v: &mut [$T], copy: *mut $T, mut k: usize, poll: &mut Poll) {
                let mut depth = 2 * (usize::BITS - v.len().leading_zeros());
                while v.len() > BLOCK {
                    if poll.worked(v.len()) {
                        return;
                    }
                    if depth == 0 {
                        v.select_nth_unstable(k);
                        return;
                    }
                    depth -= 1;
                    // SAFETY: the feature is there, and the copy has room.
                    unsafe {
                        let pivot = pivot(v);
                        let mut less = split(v, copy, pivot, false);
                        if less == 0 {
                            less = split(v, copy, pivot, true);
                            if k < less {
                                return;
                            }
                        }
                        let (left, right) = v.split_at_mut(less);
                        if k < less {
                            v = left;
                        } else {
                            (v, k) = (right, k - less);
                        }
                    }
                }
                // SAFETY: the feature is there.
                unsafe { in_registers(v) };
            }

            /// The middle of a sample, which is larger the more there is to gain.
            #[target_feature(enable = "avx512f")]
            unsafe fn pivot(v: &[$T]) -> $T {
                // SAFETY: the feature is there.
                unsafe { if v.len() < 32 * BLOCK { median::<LANES>(v) } else { median::<{ 8 * LANES }>(v) } }
            }

            #[target_feature(enable = "avx512f")]
            unsafe fn median<const SAMPLE: usize>(v: &[$T]) -> $T {
                let step = v.len() / SAMPLE;
                let mut sample = [0; SAMPLE];
                for (i, s) in sample.iter_mut().enumerate() {
                    *s = v[i * step + step / 2];
                }
                // SAFETY: the feature is there.
                unsafe { in_registers(&mut sample) };
                sample[SAMPLE / 2]
            }

            /// Moves the keys below the pivot (or up to it) to the front, the others behind them; gives their
            /// number.
            #[target_feature(enable = "avx512f")]
            unsafe fn split(v: &mut [$T], copy: *mut $T, pivot: $T, equal: bool) -> usize {
                let (p, n) = (v.as_mut_ptr(), v.len());
                let (mut left, mut right, mut i) = (0, 0, 0);
                // SAFETY: what is stored in front has been loaded already: `left` never passes `i`; the copy
                // has room for a vector more than there are keys.
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
                        if if equal { x <= pivot } else { x < pivot } {
                            *p.add(left) = x;
                            left += 1;
                        } else {
                            *copy.add(right) = x;
                            right += 1;
                        }
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
                let bits = |from: usize| -> $Mask {
                    let k = n.saturating_sub(from).min(LANES);
                    if k == LANES { <$Mask>::MAX } else { ((1 as $Mask) << k).wrapping_sub(1) }
                };
                // What is missing is larger than all.
                let mut x = [$set(<$T>::MAX); V];
                for (i, x) in x.iter_mut().enumerate() {
                    let m = bits(i * LANES);
                    // SAFETY: masked lanes are not touched.
                    *x = $blend(m, *x, unsafe { $maskz_load(m, p.wrapping_add(i * LANES).cast()) });
                }
                // Written out, so that all vectors stay in registers.
                // SAFETY: the feature is there.
                unsafe {
                    merge::<V, 2>(&mut x);
                    merge::<V, 4>(&mut x);
                    merge::<V, 8>(&mut x);
                    merge::<V, 16>(&mut x);
                    merge::<V, 32>(&mut x);
                    merge::<V, 64>(&mut x);
                    merge::<V, 128>(&mut x);
                    merge::<V, 256>(&mut x);
                }
                for (i, x) in x.iter().enumerate() {
                    // SAFETY: the keys are there, and masked lanes are not touched.
                    unsafe { $mask_store(p.wrapping_add(i * LANES).cast(), bits(i * LANES), *x) };
                }
            }

            /// Makes ordered runs of `K` keys of runs half as long, every second one descending.
            #[inline]
            #[target_feature(enable = "avx512f")]
            unsafe fn merge<const V: usize, const K: usize>(x: &mut [$V; V]) {
                if K > V * LANES {
                    return;
                }
                // SAFETY: the feature is there.
                unsafe {
                    step::<V, K, 128>(x);
                    step::<V, K, 64>(x);
                    step::<V, K, 32>(x);
                    step::<V, K, 16>(x);
                    step::<V, K, 8>(x);
                    step::<V, K, 4>(x);
                    step::<V, K, 2>(x);
                    step::<V, K, 1>(x);
                }
            }

            /// Compares keys that are `J` apart.
            #[inline]
            #[target_feature(enable = "avx512f")]
            unsafe fn step<const V: usize, const K: usize, const J: usize>(x: &mut [$V; V]) {
                if J >= K {
                    return;
                }
                if J >= LANES {
                    for a in 0..V {
                        let b = a ^ (J / LANES);
                        if b < a {
                            continue;
                        }
                        let (low, high) = ($min(x[a], x[b]), $max(x[a], x[b]));
                        (x[a], x[b]) = if a * LANES & K == 0 { (low, high) } else { (high, low) };
                    }
                } else {
                    // SAFETY: as many numbers as lanes.
                    let partner = unsafe { $load(PARTNERS[J.trailing_zeros() as usize].as_ptr().cast()) };
                    for (i, x) in x.iter_mut().enumerate() {
                        let up = if K < LANES {
                            lanes_without(K)
                        } else if i * LANES & K == 0 {
                            <$Mask>::MAX
                        } else {
                            0
                        };
                        let y = $permute(partner, *x);
                        // The lower of two takes the smaller where the order goes up.
                        *x = $mask_max($min(*x, y), lanes_without(J) ^ up, *x, y);
                    }
                }
            }

            /// The lanes whose number has not this bit.
            #[inline(always)]
            fn lanes_without(bit: usize) -> $Mask {
                let mut m = 0;
                let mut i = 0;
                while i < LANES {
                    if i & bit == 0 {
                        m |= (1 as $Mask) << i;
                    }
                    i += 1;
                }
                m
            }

            /// For distances 1, 2, 4 and 8: the lane that each lane is compared with.
            static PARTNERS: [[$T; LANES]; LANES.trailing_zeros() as usize] = $index;
        }
    };
}

/// Keys of 64 bits, each with the position it came from: sorted by key, then by position.
pub(crate) mod pairs {
    use super::*;

    const LANES: usize = 8;
    const VECTORS: usize = 8;
    const BLOCK: usize = LANES * VECTORS;

    /// Where splits put what goes to the right.
    #[derive(Clone, Copy)]
    struct Copies {
        keys: *mut i64,
        places: *mut i64,
    }

    /// Sorts; positions ascend to begin with. False when there is no memory for copies, and then nothing has
    /// changed.
    pub(crate) fn sort(keys: &mut [i64], places: &mut [i64], poll: &mut Poll) -> bool {
        arranged(keys, places, None, poll)
    }

    /// Puts the key that belongs at `k` there, with its position, no greater ones before it and no smaller
    /// ones behind.
    pub(crate) fn select(keys: &mut [i64], places: &mut [i64], k: usize, poll: &mut Poll) -> bool {
        arranged(keys, places, Some(k), poll)
    }

    fn arranged(keys: &mut [i64], places: &mut [i64], nth: Option<usize>, poll: &mut Poll) -> bool {
        let n = keys.len();
        let (mut k, mut p): (Vec<i64>, Vec<i64>) = (vec![], vec![]);
        if places.len() != n
            || k.try_reserve_exact(n + LANES).is_err()
            || p.try_reserve_exact(n + LANES).is_err()
        {
            return false;
        }
        // SAFETY: the caller has asked `available`; the copies have room for all keys and one vector.
        unsafe {
            quicksort(
                keys,
                places,
                Copies { keys: k.as_mut_ptr(), places: p.as_mut_ptr() },
                nth,
                2 * (usize::BITS - n.leading_zeros()),
                poll,
            )
        };
        true
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn quicksort(
        mut keys: &mut [i64],
        mut places: &mut [i64],
        copies: Copies,
        mut nth: Option<usize>,
        mut depth: u32,
        poll: &mut Poll,
    ) {
        loop {
            if keys.len() <= BLOCK {
                // SAFETY: the feature is there, and there are as many places as keys.
                return unsafe { in_registers(keys, places) };
            }
            if poll.worked(keys.len()) {
                return;
            }
            if depth == 0 {
                return by_comparing(keys, places);
            }
            depth -= 1;
            // SAFETY: the feature is there, and the copies have room.
            unsafe {
                let pivot = pivot(keys);
                let mut less = split(keys, places, copies, pivot, false);
                let least = less == 0;
                // The pivot is the least key: what equals it is in its place, and in the order it had, since
                // splits keep that.
                if least {
                    less = split(keys, places, copies, pivot, true);
                }
                let (left, right) = std::mem::take(&mut keys).split_at_mut(less);
                let (left_places, right_places) = std::mem::take(&mut places).split_at_mut(less);
                match nth {
                    Some(k) if k < less => {
                        if least {
                            return;
                        }
                        (keys, places) = (left, left_places);
                        continue;
                    }
                    Some(k) => nth = Some(k - less),
                    None if least => {}
                    None => quicksort(left, left_places, copies, None, depth, poll),
                }
                (keys, places) = (right, right_places);
            }
        }
    }

    /// Bad pivots all the way: an adversary.
    #[cold]
    fn by_comparing(keys: &mut [i64], places: &mut [i64]) {
        let mut both: Vec<(i64, i64)> = keys.iter().copied().zip(places.iter().copied()).collect();
        both.sort_unstable();
        for ((k, p), (key, place)) in both.into_iter().zip(keys.iter_mut().zip(places)) {
            (*key, *place) = (k, p);
        }
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn pivot(v: &[i64]) -> i64 {
        let mut sample = [0; 64];
        let count = if v.len() < 4096 { 8 } else { 64 };
        let step = v.len() / count;
        for (i, s) in sample[..count].iter_mut().enumerate() {
            *s = v[i * step + step / 2];
        }
        wide::sort(&mut sample[..count], &mut Poll::never());
        sample[count / 2]
    }

    /// Moves what is below the pivot (or up to it) to the front, the rest behind it, both in the order they
    /// had; gives the number in front.
    #[target_feature(enable = "avx512f")]
    unsafe fn split(keys: &mut [i64], places: &mut [i64], copies: Copies, pivot: i64, equal: bool) -> usize {
        let (p, q, n) = (keys.as_mut_ptr(), places.as_mut_ptr(), keys.len());
        let (mut left, mut right, mut i) = (0, 0, 0);
        // SAFETY: what is stored in front has been loaded already: `left` never passes `i`; the copies have
        // room for a vector more than there are keys.
        unsafe {
            let pivots = _mm512_set1_epi64(pivot);
            while i + LANES <= n {
                let (x, y) = (_mm512_loadu_epi64(p.add(i)), _mm512_loadu_epi64(q.add(i)));
                let m = if equal {
                    _mm512_cmple_epi64_mask(x, pivots)
                } else {
                    _mm512_cmplt_epi64_mask(x, pivots)
                };
                _mm512_storeu_epi64(p.add(left), _mm512_maskz_compress_epi64(m, x));
                _mm512_storeu_epi64(q.add(left), _mm512_maskz_compress_epi64(m, y));
                _mm512_storeu_epi64(copies.keys.add(right), _mm512_maskz_compress_epi64(!m, x));
                _mm512_storeu_epi64(copies.places.add(right), _mm512_maskz_compress_epi64(!m, y));
                let k = m.count_ones() as usize;
                left += k;
                right += LANES - k;
                i += LANES;
            }
            while i < n {
                let (x, y) = (*p.add(i), *q.add(i));
                let to = if equal { x <= pivot } else { x < pivot };
                let (a, b, at) =
                    if to { (p, q, &mut left) } else { (copies.keys, copies.places, &mut right) };
                a.add(*at).write(x);
                b.add(*at).write(y);
                *at += 1;
                i += 1;
            }
            std::ptr::copy_nonoverlapping(copies.keys, p.add(left), right);
            std::ptr::copy_nonoverlapping(copies.places, q.add(left), right);
        }
        left
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn in_registers(keys: &mut [i64], places: &mut [i64]) {
        // SAFETY: the feature is there.
        unsafe {
            match keys.len().div_ceil(LANES) {
                0 | 1 => network::<1>(keys, places),
                2 => network::<2>(keys, places),
                3 | 4 => network::<4>(keys, places),
                _more => network::<8>(keys, places),
            }
        }
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn network<const V: usize>(keys: &mut [i64], places: &mut [i64]) {
        let (p, q, n) = (keys.as_mut_ptr(), places.as_mut_ptr(), keys.len());
        let bits = |from: usize| -> __mmask8 {
            let k = n.saturating_sub(from).min(LANES);
            if k == LANES { 0xff } else { (1 << k) - 1 }
        };
        // What is missing is behind all.
        let most = _mm512_set1_epi64(i64::MAX);
        let (mut x, mut y) = ([most; V], [most; V]);
        for i in 0..V {
            let (m, at) = (bits(i * LANES), i * LANES);
            // SAFETY: masked lanes are not touched.
            unsafe {
                (x[i], y[i]) = (
                    _mm512_mask_loadu_epi64(most, m, p.wrapping_add(at)),
                    _mm512_mask_loadu_epi64(most, m, q.wrapping_add(at)),
                );
            }
        }
        // SAFETY: the feature is there.
        unsafe {
            merge::<V, 2>(&mut x, &mut y);
            merge::<V, 4>(&mut x, &mut y);
            merge::<V, 8>(&mut x, &mut y);
            merge::<V, 16>(&mut x, &mut y);
            merge::<V, 32>(&mut x, &mut y);
            merge::<V, 64>(&mut x, &mut y);
        }
        for i in 0..V {
            let (m, at) = (bits(i * LANES), i * LANES);
            // SAFETY: masked lanes are not touched.
            unsafe {
                _mm512_mask_storeu_epi64(p.wrapping_add(at), m, x[i]);
                _mm512_mask_storeu_epi64(q.wrapping_add(at), m, y[i]);
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn merge<const V: usize, const K: usize>(x: &mut [__m512i; V], y: &mut [__m512i; V]) {
        if K > V * LANES {
            return;
        }
        // SAFETY: the feature is there.
        unsafe {
            step::<V, K, 32>(x, y);
            step::<V, K, 16>(x, y);
            step::<V, K, 8>(x, y);
            step::<V, K, 4>(x, y);
            step::<V, K, 2>(x, y);
            step::<V, K, 1>(x, y);
        }
    }

    /// Where the pair of the first is behind that of the second.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn behind(x: __m512i, y: __m512i, u: __m512i, v: __m512i) -> __mmask8 {
        _mm512_cmpgt_epi64_mask(x, u) | _mm512_mask_cmpgt_epi64_mask(_mm512_cmpeq_epi64_mask(x, u), y, v)
    }

    /// Compares pairs that are `J` apart, in runs of `K`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn step<const V: usize, const K: usize, const J: usize>(
        x: &mut [__m512i; V],
        y: &mut [__m512i; V],
    ) {
        if J >= K {
            return;
        }
        if J >= LANES {
            for a in 0..V {
                let b = a ^ (J / LANES);
                if b < a {
                    continue;
                }
                let after = behind(x[a], y[a], x[b], y[b]);
                let swap = if a * LANES & K == 0 { after } else { !after };
                (x[a], x[b]) =
                    (_mm512_mask_blend_epi64(swap, x[a], x[b]), _mm512_mask_blend_epi64(swap, x[b], x[a]));
                (y[a], y[b]) =
                    (_mm512_mask_blend_epi64(swap, y[a], y[b]), _mm512_mask_blend_epi64(swap, y[b], y[a]));
            }
        } else {
            // SAFETY: as many numbers as lanes.
            let partner = unsafe { _mm512_loadu_epi64(PARTNERS[J.trailing_zeros() as usize].as_ptr()) };
            for i in 0..V {
                let up = if K < LANES {
                    lanes_without(K)
                } else if i * LANES & K == 0 {
                    0xff
                } else {
                    0
                };
                let (u, v) =
                    (_mm512_permutexvar_epi64(partner, x[i]), _mm512_permutexvar_epi64(partner, y[i]));
                // The lower of two takes the smaller where the order goes up; what fills the last vector
                // equals its like, and moves nowhere.
                let swap = behind(x[i], y[i], u, v) ^ (lanes_without(J) ^ up);
                (x[i], y[i]) =
                    (_mm512_mask_blend_epi64(swap, x[i], u), _mm512_mask_blend_epi64(swap, y[i], v));
            }
        }
    }

    #[inline(always)]
    fn lanes_without(bit: usize) -> __mmask8 {
        let mut m = 0;
        let mut i = 0;
        while i < LANES {
            if i & bit == 0 {
                m |= 1 << i;
            }
            i += 1;
        }
        m
    }

    static PARTNERS: [[i64; LANES]; 3] = partners::<8, 3>();
}

const fn partners<const N: usize, const D: usize>() -> [[i64; N]; D] {
    let mut all = [[0; N]; D];
    let mut d = 0;
    while d < D {
        let mut i = 0;
        while i < N {
            all[d][i] = (i ^ (1 << d)) as i64;
            i += 1;
        }
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
        while i < N {
            all[d][i] = wide[d][i] as i32;
            i += 1;
        }
        d += 1;
    }
    all
}

vector_sort!(
    wide,
    i64,
    __m512i,
    __mmask8,
    8,
    _mm512_set1_epi64,
    _mm512_loadu_epi64,
    _mm512_maskz_loadu_epi64,
    _mm512_mask_storeu_epi64,
    _mm512_maskz_compress_epi64,
    _mm512_permutexvar_epi64,
    _mm512_min_epi64,
    _mm512_max_epi64,
    _mm512_mask_max_epi64,
    _mm512_mask_blend_epi64,
    _mm512_cmplt_epi64_mask,
    _mm512_cmple_epi64_mask,
    partners::<8, 3>()
);
vector_sort!(
    narrow,
    i32,
    __m512i,
    __mmask16,
    16,
    _mm512_set1_epi32,
    _mm512_loadu_epi32,
    _mm512_maskz_loadu_epi32,
    _mm512_mask_storeu_epi32,
    _mm512_maskz_compress_epi32,
    _mm512_permutexvar_epi32,
    _mm512_min_epi32,
    _mm512_max_epi32,
    _mm512_mask_max_epi32,
    _mm512_mask_blend_epi32,
    _mm512_cmplt_epi32_mask,
    _mm512_cmple_epi32_mask,
    partners32::<16, 4>()
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_every_length_and_pattern() {
        if !available() {
            return;
        }
        let mut seed = 7u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed ^ seed >> 33
        };
        for n in (0..300).chain([511, 512, 513, 1000, 5000, 40_000]) {
            for pattern in 0..7u64 {
                let raw: Vec<u64> = (0..n as u64)
                    .map(|i| match pattern {
                        0 => random(),
                        1 => i,
                        2 => n as u64 - i,
                        3 => random() % 3,
                        4 => 5,
                        5 => i % 17 * (random() % 2),
                        _extremes => [u64::MAX >> 1, 1 << 63, 0, u64::MAX][(random() % 4) as usize],
                    })
                    .collect();
                macro_rules! check {
                    ($module:ident, $T:ty) => {
                        let mut v: Vec<$T> = raw.iter().map(|x| *x as $T).collect();
                        let mut want = v.clone();
                        want.sort();
                        assert!($module::sort(&mut v, &mut Poll::never()));
                        assert_eq!(v, want, "{n} {pattern}");
                    };
                }
                check!(wide, i64);
                check!(narrow, i32);
                check_pairs(&raw.iter().map(|x| *x as i64).collect::<Vec<_>>());
                check_selection(&raw.iter().map(|x| *x as i64).collect::<Vec<_>>());
            }
        }
    }

    /// The order of pairs is the stable one.
    fn check_pairs(raw: &[i64]) {
        let (mut keys, mut places): (Vec<i64>, Vec<i64>) = (raw.to_vec(), (0..raw.len() as i64).collect());
        let mut want = places.clone();
        want.sort_by_key(|i| raw[*i as usize]);
        assert!(pairs::sort(&mut keys, &mut places, &mut Poll::never()));
        assert_eq!(places, want);
        assert!(keys.is_sorted());
    }

    fn check_selection(raw: &[i64]) {
        let n = raw.len();
        let mut sorted = raw.to_vec();
        sorted.sort_unstable();
        for k in [0, n / 3, n.saturating_sub(1)] {
            if k >= n {
                continue;
            }
            let parted = |v: &[i64]| {
                v[k] == sorted[k] && v[..k].iter().all(|x| *x <= v[k]) && v[k..].iter().all(|x| *x >= v[k])
            };
            let mut v = raw.to_vec();
            assert!(wide::select(&mut v, k, &mut Poll::never()));
            assert!(parted(&v), "{n} {k}");
            let (mut keys, mut places): (Vec<i64>, Vec<i64>) = (raw.to_vec(), (0..n as i64).collect());
            assert!(pairs::select(&mut keys, &mut places, k, &mut Poll::never()));
            assert!(parted(&keys), "{n} {k}");
            assert_eq!(places.iter().map(|i| raw[*i as usize]).collect::<Vec<_>>(), keys);
            places.sort_unstable();
            assert_eq!(places, (0..n as i64).collect::<Vec<_>>());
        }
    }
}
