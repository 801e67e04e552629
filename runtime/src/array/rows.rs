//! Products of float64 rows with a vector in registers of 512 bits. Compilers add up rows that stand in an
//! array of sums in narrower ones, which takes more than twice as long.

use super::dots::Dots;
use std::arch::x86_64::*;

/// Elements of a turn: two registers.
const TURN: usize = 16;

/// Whether the processor can, and rows and vector lie side by side.
pub(crate) fn fits(d: &Dots) -> bool {
    d.step == 8 && d.b_step == 8 && crate::cpu::has!("avx512f")
}

/// All products, four rows at a time, which read the vector once. A row's sum is the same whichever rows
/// stand beside it.
///
/// # Safety
/// [`fits`] says so; rows and vector can be read, and there is room for the results.
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn dots(d: Dots) {
    // SAFETY: as required of the caller.
    unsafe {
        let to = |i: isize| d.out.offset(i * d.out_step).cast::<f64>();
        let mut i = 0;
        while i + 4 <= d.rows {
            for (k, s) in sums::<4>(d, i).into_iter().enumerate() {
                to(i + k as isize).write_unaligned(s);
            }
            i += 4;
        }
        while i < d.rows {
            let [s] = sums::<1>(d, i);
            to(i).write_unaligned(s);
            i += 1;
        }
    }
}

/// The sums of the rows from `first` on. What is left of a row is read under a mask and joins the others, as
/// zeros where nothing is.
#[target_feature(enable = "avx512f")]
unsafe fn sums<const R: usize>(d: Dots, first: isize) -> [f64; R] {
    // SAFETY: as required of the caller; what a mask leaves out is not read.
    unsafe {
        let rows: [*const f64; R] = std::array::from_fn(|k| d.a.offset((first + k as isize) * d.row).cast());
        let (b, n) = (d.b.cast::<f64>(), d.n.max(0) as usize);
        let (mut low, mut high) = ([_mm512_setzero_pd(); R], [_mm512_setzero_pd(); R]);
        let mut i = 0;
        while i + TURN <= n {
            let (x, y) = (_mm512_loadu_pd(b.add(i)), _mm512_loadu_pd(b.add(i + 8)));
            for k in 0..R {
                low[k] = _mm512_fmadd_pd(_mm512_loadu_pd(rows[k].add(i)), x, low[k]);
                high[k] = _mm512_fmadd_pd(_mm512_loadu_pd(rows[k].add(i + 8)), y, high[k]);
            }
            i += TURN;
        }
        if i < n {
            let left = (1u32 << (n - i)) - 1;
            let (m, l) = (left as u8, (left >> 8) as u8);
            let (x, y) =
                (_mm512_maskz_loadu_pd(m, b.add(i)), _mm512_maskz_loadu_pd(l, b.wrapping_add(i + 8)));
            for k in 0..R {
                low[k] = _mm512_fmadd_pd(_mm512_maskz_loadu_pd(m, rows[k].add(i)), x, low[k]);
                high[k] = _mm512_fmadd_pd(_mm512_maskz_loadu_pd(l, rows[k].wrapping_add(i + 8)), y, high[k]);
            }
        }
        std::array::from_fn(|k| _mm512_reduce_add_pd(_mm512_add_pd(low[k], high[k])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_length_are_multiplied() {
        for (rows, n) in [(1, 0), (1, 7), (3, 16), (4, 17), (9, 24), (6, 31), (5, 100), (13, 3)] {
            let a: Vec<f64> = (0..rows * n + 1).map(|i| (i * 7 % 23) as f64 - 11.0).collect();
            let b: Vec<f64> = (0..n + 1).map(|i| (i * 5 % 17) as f64 - 8.0).collect();
            let mut out = vec![f64::NAN; 2 * rows];
            let d = Dots {
                rows: rows as isize,
                n: n as isize,
                a: a.as_ptr().cast(),
                row: 8 * n as isize,
                step: 8,
                b: b.as_ptr().cast(),
                b_step: 8,
                out: out.as_mut_ptr().cast(),
                out_step: 16,
            };
            if !fits(&d) {
                return;
            }
            // SAFETY: the arrays have these lengths.
            unsafe { dots(d) };
            for i in 0..rows {
                let want: f64 = (0..n).map(|j| a[i * n + j] * b[j]).sum();
                assert_eq!(out[2 * i], want, "{rows} {n} at {i}");
                assert!(out[2 * i + 1].is_nan());
            }
        }
    }
}
