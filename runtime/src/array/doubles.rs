//! Pairwise sums of float64 that lie side by side, with the processor's vectors: eight accumulators are one
//! vector of 512 bits or two of 256.
//!
//! Written out, since a compiler makes vectors of what the additions at a leaf's end pair, unless the
//! accumulators go through memory in between: that costs a quarter more where the array is in a cache.

use super::lane_tree::{BLOCK, half};
use std::arch::x86_64::*;

/// How far ahead of an element memory is asked for, in bytes: the processor itself looks no further than the
/// page that it is in.
const AHEAD: usize = 2048;

/// The sum of `n` numbers, eight at least, that can be read; none where the processor lacks the instructions.
/// `far`: they are longer than the nearest cache.
pub(crate) unsafe fn pairwise(p: *const f64, n: isize, far: bool) -> Option<f64> {
    // SAFETY: the processor has been asked; the rest is required of the caller.
    unsafe {
        if crate::cpu::has!("avx512f") {
            return Some(if far { tree_512::<true>(p, n) } else { tree_512::<false>(p, n) });
        }
        if crate::cpu::has!("avx2") {
            return Some(if far { tree_256::<true>(p, n) } else { tree_256::<false>(p, n) });
        }
        None
    }
}

#[inline(always)]
fn ask_for<const FAR: bool>(p: *const f64) {
    if FAR {
        // SAFETY: it is only a hint, at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast::<i8>().wrapping_add(AHEAD)) }
    }
}

/// The accumulators together, in NumPy's order; then what comes after them.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn put_together(low: __m256d, high: __m256d, p: *const f64, n: isize) -> f64 {
    let pairs = _mm256_hadd_pd(low, high);
    let fours = _mm_add_pd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd::<1>(pairs));
    let sum = _mm_cvtsd_f64(fours) + _mm_cvtsd_f64(_mm_unpackhi_pd(fours, fours));
    // SAFETY: the elements are there.
    (n & !7..n).fold(sum, |s, i| s + unsafe { p.offset(i).read_unaligned() })
}

#[inline]
#[target_feature(enable = "avx512f,avx2")]
unsafe fn leaf_512<const FAR: bool>(p: *const f64, n: isize) -> f64 {
    // SAFETY: the elements are there.
    unsafe {
        let mut sums = _mm512_loadu_pd(p);
        for i in (8..n & !7).step_by(8) {
            ask_for::<FAR>(p.wrapping_offset(i));
            sums = _mm512_add_pd(sums, _mm512_loadu_pd(p.offset(i)));
        }
        put_together(_mm512_castpd512_pd256(sums), _mm512_extractf64x4_pd::<1>(sums), p, n)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn leaf_256<const FAR: bool>(p: *const f64, n: isize) -> f64 {
    // SAFETY: the elements are there.
    unsafe {
        let (mut low, mut high) = (_mm256_loadu_pd(p), _mm256_loadu_pd(p.offset(4)));
        for i in (8..n & !7).step_by(8) {
            ask_for::<FAR>(p.wrapping_offset(i));
            (low, high) = (
                _mm256_add_pd(low, _mm256_loadu_pd(p.offset(i))),
                _mm256_add_pd(high, _mm256_loadu_pd(p.offset(i + 4))),
            );
        }
        put_together(low, high, p, n)
    }
}

/// Leaf after leaf: memory is read from front to back, and additions of the next leaf begin before those of
/// the last have ended.
macro_rules! tree {
    ($name:ident, $leaf:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        unsafe fn $name<const FAR: bool>(p: *const f64, n: isize) -> f64 {
            // SAFETY: as required of the caller.
            unsafe {
                if n <= BLOCK {
                    return $leaf::<FAR>(p, n);
                }
                let h = half(n);
                $name::<FAR>(p, h) + $name::<FAR>(p.offset(h), n - h)
            }
        }
    };
}
tree!(tree_512, leaf_512, "avx512f,avx2");
tree!(tree_256, leaf_256, "avx2");

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, without vectors.
    fn plain(v: &[f64]) -> f64 {
        if v.len() > BLOCK as usize {
            let (a, b) = v.split_at(half(v.len() as isize) as usize);
            return plain(a) + plain(b);
        }
        let (eights, rest) = v.split_at(v.len() / 8 * 8);
        let mut r = [-0.0; 8];
        for (i, x) in eights.iter().enumerate() {
            r[i % 8] += *x;
        }
        rest.iter().fold(((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7])), |s, x| s + x)
    }

    #[test]
    fn vectors_add_as_the_definition_does() {
        for n in (8..300).chain([1000, 1953, 4096, 8191, 15_625, 100_003]) {
            let v: Vec<f64> = (0..n + 1).map(|i| (-1f64).powi(i) / (i + 1) as f64).collect();
            for v in [&v[..n as usize], &v[1..]] {
                let (p, n) = (v.as_ptr(), v.len() as isize);
                // SAFETY: the elements are there, and the processor is asked.
                unsafe {
                    if crate::cpu::has!("avx2") {
                        assert_eq!(
                            [tree_256::<false>(p, n), tree_256::<true>(p, n)].map(f64::to_bits),
                            [plain(v).to_bits(); 2],
                            "{n}"
                        );
                    }
                    if crate::cpu::has!("avx512f") {
                        assert_eq!(
                            [tree_512::<false>(p, n), tree_512::<true>(p, n)].map(f64::to_bits),
                            [plain(v).to_bits(); 2],
                            "{n}"
                        );
                    }
                }
            }
        }
        let zeros = [-0.0; 300];
        // SAFETY: as above.
        if let Some(sum) = unsafe { pairwise(zeros.as_ptr(), 300, false) } {
            assert!(sum == 0.0 && sum.is_sign_negative());
        }
    }
}
