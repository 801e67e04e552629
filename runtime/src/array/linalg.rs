//! Products of matrices and vectors: the `matrixmultiply` crate for floats, own loops for the rest and for
//! small operands.
//!
//! As with any BLAS, the order of additions, and whether a product is fused with its addition, depend on the
//! processor; both tiers call this very code.

use super::View;
use super::copy;
use super::dots::Dots;
use super::item::{Complex, Item, with_item};
use super::simd;
use crate::exc::Res;
use crate::parallel::native::{self, MANY, Shared};
use tierup_core::elem::Elem;
use tierup_core::rt::Ctx;

/// A matrix in memory, with strides in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Matrix {
    pub data: *mut u8,
    pub row: i64,
    pub col: i64,
}

/// Up to this many multiplications, packing costs more than it gains.
const SMALL: i64 = 512;

/// `c = a @ b` for an `m` by `k` and a `k` by `n` matrix.
///
/// # Safety
/// The matrices are as described; `c` overlaps neither of the others.
pub(crate) unsafe fn matmul(elem: Elem, [m, k, n]: [i64; 3], a: Matrix, b: Matrix, c: Matrix) {
    // SAFETY: as required of the caller.
    unsafe { matmul_as(elem, [m, k, n], a, b, c, m * n * k > SMALL) }
}

/// Rows or columns of a piece, at the least.
const STRIPE: i64 = 64;

/// [`matmul`] in stripes of rows or columns, at the same time where that is worth it. Each element is the
/// same sum as it would be in the whole.
///
/// # Safety
/// As for [`matmul`]; `ctx` is the live context of this thread.
pub(crate) unsafe fn matmul_in_pieces(
    ctx: Ctx,
    elem: Elem,
    [m, k, n]: [i64; 3],
    a: Matrix,
    b: Matrix,
    c: Matrix,
) -> Res<()> {
    let (by_rows, length) = (m >= n, m.max(n));
    let (stripes, work) = (length / STRIPE, m.saturating_mul(n).saturating_mul(k));
    if stripes < 2 || work < 2 * MANY {
        // SAFETY: as required of the caller.
        unsafe { matmul(elem, [m, k, n], a, b, c) };
        return Ok(());
    }
    let data = [a, b, c].map(|x| Shared(x.data));
    let bound = |s: i64| (s as i128 * length as i128 / stripes as i128) as i64;
    let body = |first: i64, end: i64| {
        let (from, count) = (bound(first), bound(end) - bound(first));
        let at = |s: Shared<u8>, step: i64| s.get().wrapping_offset((from * step) as isize);
        let (mut a, mut b, mut c, mut dims) = (
            Matrix { data: data[0].get(), ..a },
            Matrix { data: data[1].get(), ..b },
            Matrix { data: data[2].get(), ..c },
            [m, k, n],
        );
        if by_rows {
            (a.data, c.data, dims[0]) = (at(data[0], a.row), at(data[2], c.row), count)
        } else {
            (b.data, c.data, dims[2]) = (at(data[1], b.col), at(data[2], c.col), count)
        }
        // SAFETY: stripes lie within the matrices and do not meet.
        unsafe { matmul_as(elem, dims, a, b, c, work > SMALL) }
    };
    // SAFETY: the context is this thread's. A multiplication takes about as long as reading an element.
    unsafe { native::in_pieces(ctx, stripes, work / stripes, &body) }
}

unsafe fn matmul_as(elem: Elem, [m, k, n]: [i64; 3], a: Matrix, b: Matrix, c: Matrix, large: bool) {
    if m == 0 || n == 0 {
        return;
    }
    // SAFETY: as required of the caller, the matrices have these dimensions, and `c` overlaps neither
    // operand.
    unsafe {
        if k > 0 && n == 1 {
            return with_item!(elem, T => matrix_vector::<T, { width::<T>() }>(m, k, a, b.data, b.row, c.data, c.row), else ());
        }
        if k > 0 && m == 1 {
            let transposed = Matrix { data: b.data, row: b.col, col: b.row };
            return with_item!(elem, T => matrix_vector::<T, { width::<T>() }>(n, k, transposed, a.data, a.col, c.data, c.col), else ());
        }
        match elem {
            Elem::F32 | Elem::F64 | Elem::C64 | Elem::C128 if large => {
                // The crate counts strides in elements and reads aligned ones.
                let (size, align) =
                    (elem.bytes() as i64, if matches!(elem, Elem::F32 | Elem::C64) { 4 } else { 8 });
                let odd = |x: Matrix| x.row % size != 0 || x.col % size != 0 || x.data as i64 % align != 0;
                if odd(a) || odd(b) || odd(c) {
                    copied(elem, [m, k, n], a, b, c)
                } else {
                    gemm(elem, [m, k, n], a, b, c)
                }
            }
            Elem::Bool
            | Elem::I8
            | Elem::I16
            | Elem::I32
            | Elem::I64
            | Elem::U8
            | Elem::U16
            | Elem::U32
            | Elem::U64
            | Elem::F32
            | Elem::F64
            | Elem::C64
            | Elem::C128 => {
                with_item!(elem, T => plain::<T>([m, k, n], a, b, c), else ())
            }
            Elem::Str | Elem::Tuple => {}
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has four types of elements for it")]
unsafe fn gemm(elem: Elem, [m, k, n]: [i64; 3], a: Matrix, b: Matrix, c: Matrix) {
    use matrixmultiply::CGemmOption::Standard;
    let (mu, ku, nu) = (m as usize, k as usize, n as usize);
    let s = |x: i64| (x / elem.bytes() as i64) as isize;
    // SAFETY: the caller has seen to it that elements are aligned and strides are multiples of their size.
    unsafe {
        match elem {
            Elem::F32 => matrixmultiply::sgemm(
                mu,
                ku,
                nu,
                1.0,
                a.data.cast(),
                s(a.row),
                s(a.col),
                b.data.cast(),
                s(b.row),
                s(b.col),
                0.0,
                c.data.cast(),
                s(c.row),
                s(c.col),
            ),
            Elem::C64 => matrixmultiply::cgemm(
                Standard,
                Standard,
                mu,
                ku,
                nu,
                [1.0, 0.0],
                a.data.cast(),
                s(a.row),
                s(a.col),
                b.data.cast(),
                s(b.row),
                s(b.col),
                [0.0, 0.0],
                c.data.cast(),
                s(c.row),
                s(c.col),
            ),
            Elem::C128 => matrixmultiply::zgemm(
                Standard,
                Standard,
                mu,
                ku,
                nu,
                [1.0, 0.0],
                a.data.cast(),
                s(a.row),
                s(a.col),
                b.data.cast(),
                s(b.row),
                s(b.col),
                [0.0, 0.0],
                c.data.cast(),
                s(c.row),
                s(c.col),
            ),
            _float64 => matrixmultiply::dgemm(
                mu,
                ku,
                nu,
                1.0,
                a.data.cast(),
                s(a.row),
                s(a.col),
                b.data.cast(),
                s(b.row),
                s(b.col),
                0.0,
                c.data.cast(),
                s(c.row),
                s(c.col),
            ),
        }
    }
}

/// The same through contiguous copies.
unsafe fn copied(elem: Elem, [m, k, n]: [i64; 3], a: Matrix, b: Matrix, c: Matrix) {
    let size = elem.bytes();
    let buffer = |rows: i64, cols: i64| vec![0u64; (rows * cols) as usize * size.div_ceil(8)];
    let (mut ta, mut tb, mut tc) = (buffer(m, k), buffer(k, n), buffer(m, n));
    let packed = |v: &mut Vec<u64>, cols: i64| Matrix {
        data: v.as_mut_ptr().cast(),
        row: cols * size as i64,
        col: size as i64,
    };
    let (pa, pb, pc) = (packed(&mut ta, k), packed(&mut tb, n), packed(&mut tc, n));
    unsafe fn move_matrix(size: usize, rows: i64, cols: i64, to: Matrix, from: Matrix) {
        // SAFETY: both matrices are `rows` by `cols` of elements of that size, and do not overlap.
        unsafe {
            copy::copy(
                size,
                View { shape: &[rows, cols], strides: &[to.row, to.col], data: to.data },
                View { shape: &[rows, cols], strides: &[from.row, from.col], data: from.data },
                &mut crate::poll::Poll::never(),
            )
        }
    }
    // SAFETY: the copies have the dimensions of what is copied, and are aligned for the largest element.
    unsafe {
        move_matrix(size, m, k, pa, a);
        move_matrix(size, k, n, pb, b);
        gemm(elem, [m, k, n], pa, pb, pc);
        move_matrix(size, m, n, c, pc);
    }
}

#[inline(always)]
unsafe fn at<T: Copy>(x: Matrix, i: i64, j: i64) -> T {
    // SAFETY: callers ask for elements that the matrix has.
    unsafe { x.data.offset((i * x.row + j * x.col) as isize).cast::<T>().read_unaligned() }
}

simd! {
    /// Row by row of `c`, adding multiples of rows of `b`: no order of additions but that of `k`.
    unsafe fn plain<T: Item>(mkn: [i64; 3], a: Matrix, b: Matrix, c: Matrix) {
        let [m, k, n] = mkn;
        let w = size_of::<T>() as i64;
        let contiguous = b.col == w && c.col == w;
        for i in 0..m {
            let row = c.data.offset((i * c.row) as isize);
            for j in 0..n { row.offset((j * c.col) as isize).cast::<T>().write_unaligned(T::ZERO); }
            for l in 0..k {
                let x = at::<T>(a, i, l);
                if contiguous {
                    let (to, from) = (row.cast::<T>(), b.data.offset((l * b.row) as isize).cast::<T>());
                    for j in 0..n as isize {
                        to.offset(j).write_unaligned(to.offset(j).read_unaligned().add(x.mul(from.offset(j).read_unaligned())));
                    }
                } else {
                    for j in 0..n {
                        let to = row.offset((j * c.col) as isize).cast::<T>();
                        to.write_unaligned(to.read_unaligned().add(x.mul(at::<T>(b, l, j))));
                    }
                }
            }
        }
    }
}

/// `y = a @ x`: by rows where they are contiguous, else by columns.
unsafe fn matrix_vector<T: Item, const L: usize>(
    m: i64,
    k: i64,
    a: Matrix,
    x: *const u8,
    xs: i64,
    y: *mut u8,
    ys: i64,
) {
    // SAFETY: as required of the caller: the matrix is `m` by `k`, the vectors have `k` and `m` elements.
    unsafe {
        if a.col.abs() <= a.row.abs() {
            dots::<T, L>(Dots {
                rows: m as isize,
                n: k as isize,
                a: a.data,
                row: a.row as isize,
                step: a.col as isize,
                b: x,
                b_step: xs as isize,
                out: y,
                out_step: ys as isize,
            });
        } else {
            // As a product with a one-row matrix: `plain` then adds multiples of the contiguous columns.
            let row = Matrix { data: x.cast_mut(), row: 0, col: xs };
            let transposed = Matrix { data: a.data, row: a.col, col: a.row };
            plain::<T>([1, k, m], row, transposed, Matrix { data: y, row: 0, col: ys });
        }
    }
}

/// Sums side by side, enough to hide how long an addition takes.
const fn width<T>() -> usize {
    if size_of::<T>() >= 8 { 128 / size_of::<T>() } else { 32 }
}

/// All of them, with the instructions that the processor has. A row's sum is the same whichever rows stand
/// beside it.
///
/// # Safety
/// Rows and vector can be read, and there is room for the results.
unsafe fn dots<T: Item, const L: usize>(d: Dots) {
    // SAFETY: the processor has been asked.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma")]
            unsafe fn of_256<T: Item, const L: usize>(d: Dots) {
                // SAFETY: as required of the caller; the function is called where the processor has these
                // instructions.
                unsafe { dots_by::<T, L, true>(d) }
            }
            if std::any::TypeId::of::<T>() == std::any::TypeId::of::<f64>() && super::rows::fits(&d) {
                return super::rows::dots(d);
            }
            if crate::cpu::has!("avx2", "fma") {
                return of_256::<T, L>(d);
            }
        }
        dots_by::<T, L, false>(d);
    }
}

#[inline(always)]
unsafe fn dots_by<T: Item, const L: usize, const FUSED: bool>(d: Dots) {
    // SAFETY: rows below `rows` and the results are there, as required of the caller.
    unsafe {
        let w = size_of::<T>() as isize;
        let contiguous = d.step == w && d.b_step == w;
        for i in 0..d.rows {
            let s = if contiguous {
                lanes::<T, L, FUSED>(d, i, w, w)
            } else {
                lanes::<T, L, FUSED>(d, i, d.step, d.b_step)
            };
            d.out.offset(i * d.out_step).cast::<T>().write_unaligned(s);
        }
    }
}

/// The sum of a row's products.
#[inline(always)]
unsafe fn lanes<T: Item, const L: usize, const FUSED: bool>(
    d: Dots,
    row: isize,
    step: isize,
    b_step: isize,
) -> T {
    // SAFETY: the row and the vector have `n` elements each, and no index reaches `n`.
    unsafe {
        let a = |i: isize| d.a.offset(row * d.row + i * step).cast::<T>().read_unaligned();
        let b = |i: isize| d.b.offset(i * b_step).cast::<T>().read_unaligned();
        let (mut sum, mut i) = (T::ZERO, 0);
        if d.n >= L as isize {
            let (mut lanes, whole) = ([T::ZERO; L], d.n - d.n % L as isize);
            while i < whole {
                for (j, l) in lanes.iter_mut().enumerate() {
                    *l = l.add_product::<FUSED>(a(i + j as isize), b(i + j as isize));
                }
                i += L as isize;
            }
            // Halves onto halves.
            let mut half = L / 2;
            while half > 0 {
                for j in 0..half {
                    lanes[j] = lanes[j].add(lanes[j + half]);
                }
                half /= 2;
            }
            sum = lanes[0];
        }
        while i < d.n {
            sum = sum.add_product::<FUSED>(a(i), b(i));
            i += 1;
        }
        sum
    }
}

/// Sum of products, the first factor conjugated where asked for.
///
/// # Safety
/// The lanes can be read and `out` has room for an element.
#[expect(clippy::wildcard_enum_match_arm, reason = "only complex numbers are conjugated")]
pub(crate) unsafe fn dot(
    elem: Elem,
    n: i64,
    a: (*const u8, i64),
    b: (*const u8, i64),
    conj: bool,
    out: *mut u8,
) {
    unsafe fn conjugated<T: Item>(n: i64, a: (*const u8, i64), b: (*const u8, i64)) -> T {
        let mut s = T::ZERO;
        for i in 0..n as isize {
            // SAFETY: as required of the caller.
            let (x, y) = unsafe {
                (
                    a.0.offset(i * a.1 as isize).cast::<T>().read_unaligned(),
                    b.0.offset(i * b.1 as isize).cast::<T>().read_unaligned(),
                )
            };
            s = s.add(x.conj().mul(y));
        }
        s
    }
    // SAFETY: the operands have `n` elements and `out` has room for one, as required of the caller.
    unsafe {
        match elem {
            Elem::C64 if conj => {
                out.cast::<Complex<f32>>().write_unaligned(conjugated::<Complex<f32>>(n, a, b))
            }
            Elem::C128 if conj => {
                out.cast::<Complex<f64>>().write_unaligned(conjugated::<Complex<f64>>(n, a, b))
            }
            _real => {
                let one = Dots {
                    rows: 1,
                    n: n as isize,
                    a: a.0,
                    row: 0,
                    step: a.1 as isize,
                    b: b.0,
                    b_step: b.1 as isize,
                    out,
                    out_step: 0,
                };
                with_item!(elem, T => dots::<T, { width::<T>() }>(one), else ())
            }
        }
    }
}
