//! Expected values are NumPy 2's. A generated comparison with NumPy over types, layouts and axes belongs to
//! the Python tests; these pin what is easy to break.

use super::linalg::{Matrix, matmul};
use crate::Native;
use crate::testing::{Raised, call, has_raised, with_ctx};
use tierup_core::elem::Elem;
use tierup_core::ops::kernel::{Helpers, Reduce};
use tierup_core::rt::Ctx;

type P = *mut u8;
/// Where elements lie that nobody writes to.
fn p<T>(v: &[T]) -> P {
    v.as_ptr().cast_mut().cast()
}
const F64: i64 = Elem::F64 as i64;
const I64: i64 = Elem::I64 as i64;

/// A source array of a reduction: element type, shape and byte strides.
struct Source<'a, T> {
    data: &'a [T],
    offset: usize,
    elem: Elem,
    shape: &'a [i64],
    strides: &'a [i64],
}

/// Reduces into an array of the axes that stay, in C order.
fn reduce<T, R: Copy + Default>(
    op: Reduce,
    s: Source<'_, T>,
    acc: Elem,
    axes: i64,
) -> Result<Vec<R>, Raised> {
    let kept = |i: usize| axes >> i & 1 == 0;
    let (mut strides, mut n) = (vec![0i64; s.shape.len()], size_of::<R>() as i64);
    for i in (0..s.shape.len()).rev().filter(|i| kept(*i)) {
        strides[i] = n;
        n *= s.shape[i];
    }
    let mut out = vec![R::default(); n as usize / size_of::<R>()];
    // SAFETY: the source has the shape and strides given, and the result an element for each that stays.
    with_ctx(|ctx| unsafe {
        let data = p(s.data).wrapping_add(s.offset * size_of::<T>());
        Native::array_reduce(
            ctx,
            op as i64,
            s.elem as i64,
            acc as i64,
            s.shape.len() as i64,
            s.shape.as_ptr(),
            data,
            s.strides.as_ptr(),
            axes,
            out.as_mut_ptr().cast(),
            strides.as_ptr(),
        );
        if has_raised(ctx) { Err(Raised::take(ctx)) } else { Ok(out) }
    })
}
fn flat<T>(data: &[T], elem: Elem) -> (Vec<i64>, Vec<i64>) {
    (vec![data.len() as i64], vec![elem.bytes() as i64])
}
fn all<T, R: Copy + Default>(op: Reduce, data: &[T], elem: Elem, acc: Elem) -> R {
    let (shape, strides) = flat(data, elem);
    reduce(op, Source { data, offset: 0, elem, shape: &shape, strides: &strides }, acc, 1).unwrap()[0]
}

/// NumPy's pairwise sum, written the slow way.
fn pairwise(v: &[f64]) -> f64 {
    if v.len() < 8 {
        return v.iter().fold(-0.0, |s, x| s + x);
    }
    if v.len() <= 128 {
        let mut r: Vec<f64> = v[..8].to_vec();
        let whole = v.len() - v.len() % 8;
        for i in 8..whole {
            r[i % 8] += v[i];
        }
        return v[whole..]
            .iter()
            .fold(((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7])), |s, x| s + x);
    }
    let h = v.len() / 2 - v.len() / 2 % 8;
    pairwise(&v[..h]) + pairwise(&v[h..])
}
fn wild(n: usize) -> Vec<f64> {
    (0..n)
        .map(|i| {
            ((i * 7919) % 1000) as f64 * 10f64.powi((i % 13) as i32 - 6) * if i % 3 == 0 { -1.0 } else { 1.0 }
        })
        .collect()
}

#[test]
fn sums_are_pairwise_at_every_length() {
    for n in (0..1200).chain([2048, 12345, 100_003]) {
        let v = wild(n);
        let expected = 0.0 + pairwise(&v);
        assert_eq!(
            all::<f64, f64>(Reduce::Sum, &v, Elem::F64, Elem::F64).to_bits(),
            expected.to_bits(),
            "{n}"
        );
        assert_eq!(call!(array_sum_f64(p(&v), n as i64, 8)).to_bits(), expected.to_bits());
        let spread: Vec<f64> = v.iter().flat_map(|x| [*x, 99.0]).collect();
        assert_eq!(call!(array_sum_f64(p(&spread), n as i64, 16)).to_bits(), expected.to_bits());
    }
    assert_eq!(
        all::<f64, f64>(Reduce::Sum, &[-0.0], Elem::F64, Elem::F64).to_bits(),
        0,
        "the identity is a positive zero"
    );
    assert_eq!(call!(array_sum_f32(p(&[0.1f32; 1000]), 1000, 4)), 100.000015);
}

/// A chain's elements come in blocks: what they give together is what an array of them gives.
#[test]
fn blocks_of_a_reduction_give_what_the_whole_gives() {
    for op in [Reduce::Min, Reduce::Max, Reduce::NanMin, Reduce::NanMax, Reduce::Prod, Reduce::NanProd] {
        for n in [1usize, 2, 1023, 1024, 1025, 5000] {
            for nan in [None, Some(0), Some(n / 2), Some(n - 1)] {
                let mut v: Vec<f64> = wild(n).iter().map(|x| 1.0 + x * 1e-12).collect();
                if let Some(k) = nan {
                    v[k] = f64::NAN;
                }
                let (mut out, mut done) = (f64::INFINITY, 0);
                for block in v.chunks(1000) {
                    // SAFETY: the elements of the block, and room for one.
                    unsafe {
                        Native::array_fold(
                            op as i64,
                            Elem::F64 as i64,
                            p(block),
                            block.len() as i64,
                            done,
                            (&raw mut out).cast(),
                        )
                    };
                    done += block.len() as i64;
                }
                let whole = all::<f64, f64>(op, &v, Elem::F64, Elem::F64);
                assert!(
                    out.to_bits() == whole.to_bits() || out.is_nan() && whole.is_nan(),
                    "{op:?} of {n}, NaN at {nan:?}: {out} and {whole}"
                );
            }
        }
    }
    let mut one = 7.0f64;
    // SAFETY: nothing is read.
    unsafe {
        Native::array_fold(Reduce::Prod as i64, Elem::F64 as i64, p(&[0.0f64]), 0, 0, (&raw mut one).cast())
    };
    assert_eq!(one, 1.0);
}

#[test]
fn sums_go_through_buffers_where_numpys_do() {
    // Converted elements come 8192 at a time.
    let v: Vec<f32> = wild(20_000).iter().map(|x| *x as f32).collect();
    let w: Vec<f64> = v.iter().map(|x| *x as f64).collect();
    let chunked = w.chunks(8192).fold(0.0, |s, c| s + pairwise(c));
    assert_eq!(all::<f32, f64>(Reduce::Sum, &v, Elem::F32, Elem::F64).to_bits(), chunked.to_bits());
    // Every other column of 40 x 600: rows of 300 are put together, 27 at a time.
    let base = wild(24_000);
    let view: Vec<f64> = base.iter().step_by(2).copied().collect();
    // The rows do not follow each other: a column is left out of every row.
    let gaps: Vec<f64> = (0..40)
        .flat_map(|r| base[r * 600..r * 600 + 598].iter().step_by(2).copied().collect::<Vec<_>>())
        .collect();
    let gapped = gaps.chunks(299 * 27).fold(0.0, |s, c| s + pairwise(c));
    let sum = |cols: i64| {
        reduce::<f64, f64>(
            Reduce::Sum,
            Source { data: &base, offset: 0, elem: Elem::F64, shape: &[40, cols], strides: &[4800, 16] },
            Elem::F64,
            3,
        )
        .unwrap()[0]
    };
    assert_eq!(sum(299).to_bits(), gapped.to_bits());
    assert_eq!(sum(300).to_bits(), (0.0 + pairwise(&view)).to_bits(), "adjacent rows are one axis");
    let rows = gaps.chunks(299).fold(0.0, |s, c| s + pairwise(c));
    assert_ne!(rows.to_bits(), gapped.to_bits(), "or this would show nothing");
}

#[test]
fn axes_and_layouts() {
    let a: Vec<i32> = (0..24).collect();
    let cube = |strides: &'static [i64], offset| Source {
        data: &a,
        offset,
        elem: Elem::I32,
        shape: &[2, 3, 4],
        strides,
    };
    let c: &[i64] = &[48, 16, 4];
    assert_eq!(reduce::<_, i64>(Reduce::Sum, cube(c, 0), Elem::I64, 0b101).unwrap(), [60, 92, 124]);
    assert_eq!(reduce::<_, i64>(Reduce::Sum, cube(&[-48, 16, -4], 15), Elem::I64, 0b110).unwrap(), [210, 66]);
    assert_eq!(
        reduce::<_, i32>(Reduce::Max, cube(&[4, 8, 24], 0), Elem::I32, 0b001).unwrap(),
        [1, 7, 13, 19, 3, 9, 15, 21, 5, 11, 17, 23]
    );
    assert_eq!(
        reduce::<_, i32>(Reduce::Prod, cube(c, 0), Elem::I32, 0).unwrap(),
        a,
        "no axis: the array itself"
    );
    assert_eq!(reduce::<_, u8>(Reduce::All, cube(c, 0), Elem::Bool, 0b100).unwrap(), [0, 1, 1, 1, 1, 1]);
    assert_eq!(reduce::<_, u8>(Reduce::Any, cube(&[0, 0, 0], 0), Elem::Bool, 0b111).unwrap(), [0]);
    assert_eq!(reduce::<_, i64>(Reduce::CountNonzero, cube(c, 0), Elem::I64, 0b111).unwrap(), [23]);
}

#[test]
fn nan_propagates_or_is_left_out() {
    let n = f64::NAN;
    for at in [0, 5, 4096, 9999] {
        let mut v = wild(10_000);
        v[at] = n;
        assert!(all::<f64, f64>(Reduce::Max, &v, Elem::F64, Elem::F64).is_nan());
        let rest: Vec<f64> = v.iter().copied().filter(|x| !x.is_nan()).collect();
        assert_eq!(
            all::<f64, f64>(Reduce::NanMin, &v, Elem::F64, Elem::F64),
            rest.iter().copied().fold(f64::INFINITY, f64::min)
        );
        assert_eq!(all::<f64, i64>(Reduce::CountNotNan, &v, Elem::F64, Elem::I64), 9999);
        v[at] = 0.0;
        let zeroed = all::<f64, f64>(Reduce::Sum, &v, Elem::F64, Elem::F64);
        v[at] = n;
        assert_eq!(all::<f64, f64>(Reduce::NanSum, &v, Elem::F64, Elem::F64), zeroed);
    }
    assert!(all::<f64, f64>(Reduce::NanMax, &[n, n], Elem::F64, Elem::F64).is_nan());
    assert_eq!(all::<f64, f64>(Reduce::NanProd, &[n, 2.0, 3.0], Elem::F64, Elem::F64), 6.0);
}

#[test]
fn reductions_of_nothing() {
    let none: [f64; 0] = [];
    let empty = |op, axes| {
        reduce::<f64, f64>(
            op,
            Source { data: &none, offset: 0, elem: Elem::F64, shape: &[0, 3], strides: &[24, 8] },
            Elem::F64,
            axes,
        )
    };
    assert_eq!(empty(Reduce::Sum, 1).unwrap(), [0.0; 3]);
    assert_eq!(empty(Reduce::Prod, 3).unwrap(), [1.0]);
    assert_eq!(empty(Reduce::Max, 2).unwrap(), none);
    assert_eq!(
        empty(Reduce::Max, 1),
        Err(Raised::new(
            "ValueError",
            "zero-size array to reduction operation maximum which has no identity"
        ))
    );
    // SAFETY: shapes and strides have as many members as said, and no element is read where there is none.
    with_ctx(|ctx| unsafe {
        let mut at = 0;
        Native::array_arg(ctx, 1, 0, F64, 1, [0i64].as_ptr(), p(&none), [8i64].as_ptr(), 0, &mut at);
        assert_eq!(
            Raised::take(ctx),
            Raised::new("ValueError", "attempt to get argmax of an empty sequence")
        );
        Native::array_reduce(
            ctx,
            77,
            F64,
            F64,
            1,
            [0i64].as_ptr(),
            p(&none),
            [8i64].as_ptr(),
            1,
            p(&[0.0]),
            [0i64].as_ptr(),
        );
        assert_eq!(Raised::take(ctx).class, "SystemError");
    });
}

/// Result of `array_arg` on a vector or matrix of float64 with C layout.
fn arg(ctx: Ctx, max: i8, nan: i8, v: &[f64], shape: &[i64], axis: i64, n: usize) -> Vec<i64> {
    let mut out = vec![-1i64; n];
    let strides: Vec<i64> = if shape.len() == 2 { vec![8 * shape[1], 8] } else { vec![8] };
    // SAFETY: the array has that shape, and there is room for `n` positions.
    unsafe {
        Native::array_arg(
            ctx,
            max,
            nan,
            F64,
            shape.len() as i64,
            shape.as_ptr(),
            p(v),
            strides.as_ptr(),
            axis,
            out.as_mut_ptr(),
        )
    };
    out
}

#[test]
fn positions_of_extremes() {
    with_ctx(|ctx| {
        let n = f64::NAN;
        let v = [3.0, 1.0, 4.0, 1.0, 5.0, 5.0];
        assert_eq!((arg(ctx, 0, 0, &v, &[6], 0, 1), arg(ctx, 1, 0, &v, &[6], 0, 1)), (vec![1], vec![4]));
        assert_eq!(arg(ctx, 1, 0, &v, &[2, 3], 1, 2), [2, 1]);
        assert_eq!(arg(ctx, 0, 0, &v, &[2, 3], 0, 3), [1, 0, 0]);
        assert_eq!(arg(ctx, 1, 0, &v, &[2, 3], -1, 1), [4]);
        assert_eq!(
            (arg(ctx, 0, 0, &[2.0, n, 1.0], &[3], 0, 1), arg(ctx, 0, 1, &[n, 2.0, n, 1.0], &[4], 0, 1)),
            (vec![1], vec![3])
        );
        let mut long = wild(10_000);
        long[7777] = 1e30;
        assert_eq!(arg(ctx, 1, 0, &long, &[10_000], 0, 1), [7777]);
        arg(ctx, 1, 1, &[n, n], &[2], 0, 1);
        assert_eq!(Raised::take(ctx), Raised::new("ValueError", "All-NaN slice encountered"));
    });
}

#[test]
fn copies_casts_and_fills_any_layout() {
    let a: Vec<i16> = (0..2000).collect();
    let mut t = vec![0i16; 2000];
    // SAFETY: the arrays have the shapes and strides given, and none overlaps another.
    unsafe {
        // 40 x 50 transposed into C order, large enough to go in blocks.
        Native::array_copy(
            std::ptr::null_mut(),
            2,
            2,
            [50i64, 40].as_ptr(),
            t.as_mut_ptr().cast(),
            [80i64, 2].as_ptr(),
            p(&a),
            [2i64, 100].as_ptr(),
        );
        assert!((0..50).all(|i| (0..40).all(|j| t[i * 40 + j] == a[j * 50 + i])));
        Native::array_fill(
            std::ptr::null_mut(),
            2,
            p(&[7i16]),
            1,
            [1000i64].as_ptr(),
            t.as_mut_ptr().cast(),
            [4i64].as_ptr(),
        );
        assert!(t.iter().step_by(2).all(|x| *x == 7) && t[1] == a[50]);
        let (x, mut ints, mut z) = ([1.9f64, -1.9, f64::NAN, 300.0], [0u8; 4], [0.0f32; 8]);
        Native::array_cast(
            std::ptr::null_mut(),
            Elem::U8 as i64,
            F64,
            1,
            [4i64].as_ptr(),
            ints.as_mut_ptr(),
            [1i64].as_ptr(),
            p(&x),
            [8i64].as_ptr(),
        );
        assert_eq!(ints, [1, 255, 0, 44]);
        Native::array_cast(
            std::ptr::null_mut(),
            Elem::C64 as i64,
            F64,
            1,
            [4i64].as_ptr(),
            z.as_mut_ptr().cast(),
            [8i64].as_ptr(),
            p(&x).add(24),
            [-8i64].as_ptr(),
        );
        assert_eq!((z[0], z[1], z[6]), (300.0, 0.0, 1.9));
        let mut r = [1i32, 2, 3, 4];
        Native::array_reverse(4, r.as_mut_ptr().cast(), 4, 4);
        assert_eq!(r, [4, 3, 2, 1]);
    }
}

#[test]
fn sorting_puts_nan_last() {
    let n = f64::NAN;
    let mut v = [2.0, n, -0.0, f64::NEG_INFINITY, 0.0, -n, 1.0];
    let mut order = [0i64; 7];
    // SAFETY: arrays and positions have the lengths given.
    unsafe {
        Native::array_argsort(
            std::ptr::null_mut(),
            F64,
            1,
            [7i64].as_ptr(),
            p(&v),
            [8i64].as_ptr(),
            0,
            order.as_mut_ptr(),
        );
        assert_eq!(order, [3, 2, 4, 6, 0, 1, 5], "stable: zeros of both signs are equal, and so is NaN");
        Native::array_sort(
            std::ptr::null_mut(),
            F64,
            1,
            [7i64].as_ptr(),
            v.as_mut_ptr().cast(),
            [8i64].as_ptr(),
            0,
            0,
        );
        assert_eq!(v[..5], [f64::NEG_INFINITY, 0.0, 0.0, 1.0, 2.0]);
        assert!(v[5..].iter().all(|x| x.is_nan()));
        // Stably: what is equal keeps its order, and its bits.
        let mut v = [0.0, n, -0.0, 1.0, -n, 0.0, -1.0];
        Native::array_sort(
            std::ptr::null_mut(),
            F64,
            1,
            [7i64].as_ptr(),
            v.as_mut_ptr().cast(),
            [8i64].as_ptr(),
            0,
            1,
        );
        assert_eq!(v.map(f64::to_bits), [-1.0, 0.0, -0.0, 0.0, 1.0, n, -n].map(f64::to_bits));
        // The columns of a 2 x 3 matrix of int32.
        let mut m = [3i32, 1, 2, -1, 5, 0];
        Native::array_sort(
            std::ptr::null_mut(),
            Elem::I32 as i64,
            2,
            [2i64, 3].as_ptr(),
            m.as_mut_ptr().cast(),
            [12i64, 4].as_ptr(),
            0,
            0,
        );
        assert_eq!(m, [-1, 1, 0, 3, 5, 2]);
        let mut long: Vec<f32> = wild(5000).iter().map(|x| *x as f32).collect();
        let mut expected = long.clone();
        expected.sort_by(f32::total_cmp);
        Native::array_sort(
            std::ptr::null_mut(),
            Elem::F32 as i64,
            1,
            [5000i64].as_ptr(),
            long.as_mut_ptr().cast(),
            [4i64].as_ptr(),
            0,
            0,
        );
        assert_eq!(long, expected);
    }
}

#[test]
fn selecting_and_searching() {
    // SAFETY: arrays and positions have the lengths given.
    with_ctx(|ctx| unsafe {
        let mut v = [5i64, 1, 4, 2, 3];
        let mut order = [0i64; 5];
        Native::array_argpartition(
            ctx,
            I64,
            1,
            [5i64].as_ptr(),
            p(&v),
            [8i64].as_ptr(),
            0,
            1,
            order.as_mut_ptr(),
        );
        assert_eq!((v[order[0] as usize], v[order[1] as usize]), (1, 2));
        Native::array_partition(ctx, I64, 1, [5i64].as_ptr(), v.as_mut_ptr().cast(), [8i64].as_ptr(), 0, -2);
        assert_eq!(v[3], 4);
        Native::array_partition(ctx, I64, 1, [5i64].as_ptr(), v.as_mut_ptr().cast(), [8i64].as_ptr(), 0, -7);
        assert_eq!(Raised::take(ctx), Raised::new("ValueError", "kth(=-2) out of bounds (5)"));
        let (sorted, keys, mut at) =
            ([1.0, 2.0, 2.0, 3.0, f64::NAN], [2.0, 0.0, f64::NAN, 2.0, 9.0], [0i64; 5]);
        Native::array_searchsorted(ctx, F64, p(&sorted), 5, 8, p(&keys), 5, 8, 0, at.as_mut_ptr());
        assert_eq!(at, [1, 0, 4, 1, 4]);
        Native::array_searchsorted(ctx, F64, p(&sorted), 5, 8, p(&keys), 5, 8, 1, at.as_mut_ptr());
        assert_eq!(at, [3, 0, 5, 3, 4]);
    });
}

#[test]
fn running_sums_and_indices_of_true_elements() {
    let m = [1i64, 2, 3, 4, 5, 6];
    let (mut out, mut at) = ([0i64; 6], [0i64; 8]);
    // SAFETY: arrays and results have the shapes and strides given.
    unsafe {
        Native::array_accumulate(
            std::ptr::null_mut(),
            0,
            I64,
            2,
            [2i64, 3].as_ptr(),
            p(&m),
            [24i64, 8].as_ptr(),
            1,
            out.as_mut_ptr().cast(),
            [24i64, 8].as_ptr(),
        );
        assert_eq!(out, [1, 3, 6, 4, 9, 15]);
        Native::array_accumulate(
            std::ptr::null_mut(),
            3,
            I64,
            1,
            [6i64].as_ptr(),
            p(&[2i64, 1, 5, 3, 4, 9]),
            [8i64].as_ptr(),
            0,
            out.as_mut_ptr().cast(),
            [8i64].as_ptr(),
        );
        assert_eq!(out, [2, 2, 5, 5, 5, 9]);
        let b = [0i64, 7, 0, 0, 8, 9];
        assert_eq!(
            Native::array_count_nonzero(
                std::ptr::null_mut(),
                I64,
                2,
                [2i64, 3].as_ptr(),
                p(&b),
                [24i64, 8].as_ptr()
            ),
            3
        );
        Native::array_nonzero(
            std::ptr::null_mut(),
            I64,
            2,
            [2i64, 3].as_ptr(),
            p(&b),
            [24i64, 8].as_ptr(),
            at.as_mut_ptr(),
            3,
            1,
            3,
        );
        assert_eq!(at[..6], [0, 1, 1, 1, 1, 2]);
        let flags: Vec<u8> = (0..1000).map(|i| (i % 3 == 0) as u8).collect();
        let mut found = vec![0i64; 334];
        Native::array_nonzero(
            std::ptr::null_mut(),
            Elem::Bool as i64,
            1,
            [1000i64].as_ptr(),
            p(&flags),
            [1i64].as_ptr(),
            found.as_mut_ptr(),
            334,
            1,
            334,
        );
        assert!(found.iter().enumerate().all(|(i, x)| *x == 3 * i as i64));
    }
}

#[test]
fn products_of_matrices() {
    for (m, k, n) in [(1, 1, 1), (2, 3, 4), (17, 33, 9), (40, 1, 40), (1, 50, 30), (30, 50, 1), (3, 0, 2)] {
        let (a, b) = (wild((m * k) as usize), wild((k * n) as usize));
        let mut c = vec![f64::NAN; (m * n) as usize];
        // `a` in Fortran order.
        // SAFETY: `a` is `m` by `k`, `b` is `k` by `n`, and `c`, which is neither, `m` by `n`.
        unsafe {
            matmul(
                Elem::F64,
                [m, k, n],
                Matrix { data: p(&a), row: 8, col: 8 * m },
                Matrix { data: p(&b), row: 8 * n, col: 8 },
                Matrix { data: c.as_mut_ptr().cast(), row: 8 * n, col: 8 },
            )
        };
        for i in 0..m {
            for j in 0..n {
                let (mut e, mut size) = (0.0, 0.0);
                for l in 0..k {
                    let t = a[(l * m + i) as usize] * b[(l * n + j) as usize];
                    e += t;
                    size += t.abs();
                }
                let x = c[(i * n + j) as usize];
                assert!((x - e).abs() <= 1e-13 * size, "{m} {k} {n}: {x} {e}");
            }
        }
    }
    // Misaligned operands, past the size that is computed without packing.
    let (bytes, mut c) = ([0x3fu8; 4 * 20 * 20 + 1], [0f32; 400]);
    // SAFETY: four bytes for each of twenty by twenty elements, of the operand from the second byte on.
    unsafe {
        let odd = Matrix { data: p(&bytes).wrapping_add(1), row: 80, col: 4 };
        matmul(Elem::F32, [20, 20, 20], odd, odd, Matrix { data: c.as_mut_ptr().cast(), row: 80, col: 4 });
        let x = f32::from_ne_bytes([0x3f; 4]);
        assert!(c.iter().all(|s| (s - 20.0 * x * x).abs() < 1e-4), "{c:?}");
        let z = [1.0f64, 2.0, 3.0, -1.0];
        let mut out = [0.0; 2];
        Native::array_dot(Elem::C128 as i64, 2, p(&z), 16, p(&z), 16, 1, out.as_mut_ptr().cast());
        assert_eq!(out, [15.0, 0.0]);
        Native::array_dot(Elem::C128 as i64, 2, p(&z), 16, p(&z), 16, 0, out.as_mut_ptr().cast());
        assert_eq!(out, [5.0, -2.0]);
    }
}

#[test]
fn overlap_sees_extents_and_interleaving() {
    let base = [0u8; 100];
    let lane = |offset: usize, n: i64, stride: i64| (p(&base).wrapping_add(offset), [n], [stride]);
    // SAFETY: shapes and strides have one member each.
    let overlap = |a: (P, [i64; 1], [i64; 1]), b: (P, [i64; 1], [i64; 1])| unsafe {
        Native::array_overlap(4, 1, a.1.as_ptr(), a.0, a.2.as_ptr(), 4, 1, b.1.as_ptr(), b.0, b.2.as_ptr())
    };
    assert_eq!(overlap(lane(0, 5, 4), lane(20, 5, 4)), 0);
    assert_eq!(overlap(lane(0, 6, 4), lane(20, 5, 4)), 1);
    assert_eq!(overlap(lane(0, 5, 8), lane(4, 5, 8)), 0, "a[::2] and a[1::2]");
    assert_eq!(overlap(lane(0, 5, 8), lane(2, 5, 8)), 1);
    assert_eq!(overlap(lane(36, 5, -8), lane(0, 5, 4)), 1);
    assert_eq!(overlap(lane(0, 0, 4), lane(0, 5, 4)), 0);
}
