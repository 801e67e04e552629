//! The kernel behind `@` and `dot`, in [`crate::array::linalg`].

use crate::Native;
use crate::array::linalg::{Matrix, matmul, matmul_in_pieces};
use crate::exc::or_raise;
use crate::object::wants_to_stop;
use tierup_core::elem::Elem;
use tierup_core::ops::kernel::IN_PIECES;
use tierup_core::ops::linalg::Helpers;
use tierup_core::rt::{Ctx, P};

/// Multiplications between two looks for Ctrl-C.
const BAND: f64 = 2e8;

impl Helpers for Native {
    unsafe fn linalg_lapack(ctx: Ctx, routine: i64, complex: i64, args: *const i64) -> i64 {
        // SAFETY: the library in Python passes what the routine takes.
        match unsafe { crate::lapack::call(routine, complex != 0, args) } {
            Ok(info) => info,
            Err(e) => {
                // SAFETY: compiled code passes the live context of its thread.
                unsafe { or_raise(ctx, Err(e)) }
                0
            }
        }
    }
    unsafe fn linalg_matmul(ctx: Ctx, elem: i64, dims: *const i64, a: P, b: P, c: P) {
        let (team, Some(elem)) = (elem & IN_PIECES != 0, Elem::from_number(elem & !IN_PIECES)) else {
            return;
        };
        // SAFETY: compiled code passes nine numbers and matrices of those dimensions.
        unsafe {
            let d = crate::raw_slice(dims, 9);
            let place = |data: P, at: usize| Matrix { data, row: d[at], col: d[at + 1] };
            // Large products go by bands of rows, so that Ctrl-C is noticed; a row's sums are the same in any
            // band.
            let band = (BAND / (d[1].max(1) as f64 * d[2].max(1) as f64)).max(64.0) as i64;
            let mut row = 0;
            loop {
                let down = |data: P, step: i64| data.wrapping_offset((row * step) as isize);
                let (dims, a, b, c) = (
                    [band.min(d[0] - row), d[1], d[2]],
                    place(down(a, d[3]), 3),
                    place(b, 5),
                    place(down(c, d[7]), 7),
                );
                if team {
                    if let Err(e) = matmul_in_pieces(ctx, elem, dims, a, b, c) {
                        return or_raise(ctx, Err(e));
                    }
                } else {
                    matmul(elem, dims, a, b, c);
                }
                row += band;
                if row >= d[0] || wants_to_stop(ctx) {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_ctx;

    fn numbers(n: usize, seed: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * 7 + seed * 13) % 23) as f64 - 11.0).collect()
    }

    #[test]
    fn blocked_products_are_those_of_the_definition() {
        for (m, k, n) in [
            (1, 1, 1),
            (3, 5, 1),
            (1, 9, 4),
            (4, 8, 8),
            (13, 300, 17),
            (70, 33, 9),
            (2, 0, 3),
            (0, 3, 2),
            (65, 257, 9),
        ] {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let mut c = vec![f64::NAN; m * n];
            // The right operand is read in columns: stored transposed.
            let bt: Vec<f64> = (0..n * k).map(|i| b[i % k.max(1) * n + i / k.max(1)]).collect();
            let dims = [m, k, n, 8 * k, 8, 8, 8 * k, 8 * n, 8].map(|x| x as i64);
            // SAFETY: the matrices have the dimensions and strides given.
            with_ctx(|ctx| unsafe {
                Native::linalg_matmul(
                    ctx,
                    Elem::F64 as i64,
                    dims.as_ptr(),
                    a.as_ptr() as P,
                    bt.as_ptr() as P,
                    c.as_mut_ptr() as P,
                )
            });
            for i in 0..m {
                for j in 0..n {
                    let want: f64 = (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum();
                    assert_eq!(c[i * n + j], want, "{m} {k} {n} at {i} {j}");
                }
            }
        }
    }

    #[test]
    fn bools_and_bytes_have_arithmetic_of_their_own() {
        let (a, b, mut c) = ([1u8, 1, 0, 1], [1u8, 0, 1, 0], [9u8; 4]);
        let dims = [2i64, 2, 2, 2, 1, 2, 1, 2, 1];
        // SAFETY: three matrices of two by two, of bytes.
        with_ctx(|ctx| unsafe {
            Native::linalg_matmul(
                ctx,
                Elem::Bool as i64,
                dims.as_ptr(),
                a.as_ptr() as P,
                b.as_ptr() as P,
                c.as_mut_ptr(),
            )
        });
        assert_eq!(c, [1, 0, 1, 0]);
        let (a, mut c) = ([100u8, 200, 3, 255], [0u8; 4]);
        // SAFETY: as above.
        with_ctx(|ctx| unsafe {
            Native::linalg_matmul(
                ctx,
                Elem::U8 as i64,
                dims.as_ptr(),
                a.as_ptr() as P,
                a.as_ptr() as P,
                c.as_mut_ptr(),
            )
        });
        let want = [100 * 100 + 200 * 3, 100 * 200 + 200 * 255, 3 * 100 + 255 * 3, 3 * 200 + 255 * 255]
            .map(|x: u32| x as u8);
        assert_eq!(c, want);
    }
}
