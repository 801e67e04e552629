//! The kernel behind `@` and `dot`: a blocked product of strided matrices, for every element type.
//!
//! Both operands are packed into panels, so any strides cost the same; the innermost kernel keeps a tile of the result in registers and is
//! compiled a second time with wider vectors for processors that have them. No multiplication is fused with its addition: both versions, and
//! every machine, give the same bits.

use crate::Native;
use tierup_core::elem::Elem;
use tierup_core::ops::linalg::Helpers;
use tierup_core::rt::P;

/// Arithmetic of one element type.
trait Number: Copy {
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    #[inline(always)]
    fn add_product(self, a: Self, b: Self) -> Self { self.plus(a.times(b)) }
}
macro_rules! integers { ($($t:ty),*) => {$(impl Number for $t {
    const ZERO: $t = 0;
    #[inline(always)]
    fn plus(self, other: $t) -> $t { self.wrapping_add(other) }
    #[inline(always)]
    fn times(self, other: $t) -> $t { self.wrapping_mul(other) }
})*} }
integers!(i8, i16, i32, i64);
macro_rules! floats { ($($t:ty),*) => {$(impl Number for $t {
    const ZERO: $t = 0.0;
    #[inline(always)]
    fn plus(self, other: $t) -> $t { self + other }
    #[inline(always)]
    fn times(self, other: $t) -> $t { self * other }
})*} }
floats!(f32, f64);

/// True or false: products are conjunctions, sums are disjunctions.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Truth(u8);
impl Number for Truth {
    const ZERO: Truth = Truth(0);
    #[inline(always)]
    fn plus(self, other: Truth) -> Truth { Truth(self.0 | other.0) }
    #[inline(always)]
    fn times(self, other: Truth) -> Truth { Truth(self.0 & other.0) }
}
#[derive(Clone, Copy)]
#[repr(C)]
struct Complex<T> { re: T, im: T }
macro_rules! complexes { ($($t:ty),*) => {$(impl Number for Complex<$t> {
    const ZERO: Complex<$t> = Complex { re: 0.0, im: 0.0 };
    #[inline(always)]
    fn plus(self, other: Self) -> Self { Complex { re: self.re + other.re, im: self.im + other.im } }
    #[inline(always)]
    fn times(self, other: Self) -> Self { Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re } }
})*} }
complexes!(f32, f64);

/// A matrix anywhere in memory: address of its first element and bytes between rows and columns.
#[derive(Clone, Copy)]
struct Place { data: *mut u8, row: isize, column: isize }

impl Place {
    /// # Safety
    /// The element must be inside the matrix.
    #[inline(always)]
    unsafe fn at<T>(self, i: usize, j: usize) -> *mut T { self.data.wrapping_offset(i as isize * self.row + j as isize * self.column).cast() }
}

/// Rows and columns of the tile that the kernel keeps in registers.
const MR: usize = 4;
const NR: usize = 8;
/// Depth and height of a packed block: what stays in the first and second level of cache.
const KC: usize = 256;
const MC: usize = 64;

/// `tile += a @ b` over `depth` steps of two panels: `a` holds MR, `b` NR elements for each step.
#[inline(always)]
fn tile_body<T: Number>(depth: usize, a: &[T], b: &[T], tile: &mut [[T; NR]; MR]) {
    for (x, y) in a.chunks_exact(MR).zip(b.chunks_exact(NR)).take(depth) {
        for i in 0..MR {
            for j in 0..NR { tile[i][j] = tile[i][j].add_product(x[i], y[j]); }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn tile_avx2<T: Number>(depth: usize, a: &[T], b: &[T], tile: &mut [[T; NR]; MR]) { tile_body(depth, a, b, tile) }

#[inline(always)]
fn tile<T: Number>(wide: bool, depth: usize, a: &[T], b: &[T], tile: &mut [[T; NR]; MR]) {
    #[cfg(target_arch = "x86_64")]
    if wide {
        // SAFETY: `wide` says that the processor has AVX2.
        return unsafe { tile_avx2(depth, a, b, tile) };
    }
    let _ = wide;
    tile_body(depth, a, b, tile)
}

fn has_wide_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    { std::arch::is_x86_feature_detected!("avx2") }
    #[cfg(not(target_arch = "x86_64"))]
    { false }
}

/// Packs `count` lines of `depth` elements each into panels of `width` lines, step by step; missing lines are zero.
///
/// # Safety
/// `element(line, step)` must be readable for all of them.
unsafe fn pack<T: Number>(out: &mut Vec<T>, width: usize, count: usize, depth: usize, element: impl Fn(usize, usize) -> *mut T) {
    out.clear();
    for first in (0..count).step_by(width) {
        for p in 0..depth {
            for line in first..first + width {
                // SAFETY: as required of the caller; any alignment is allowed.
                out.push(if line < count { unsafe { element(line, p).read_unaligned() } } else { T::ZERO });
            }
        }
    }
}

/// `c = a @ b` for an `m` by `k` and a `k` by `n` matrix.
///
/// # Safety
/// All three must be readable, `c` writable and apart from the others.
unsafe fn product<T: Number>(m: usize, k: usize, n: usize, a: Place, b: Place, c: Place) {
    // SAFETY: indices stay below the dimensions that the caller vouches for.
    unsafe {
        if m == 1 || n == 1 || k < 4 || m * n * k <= 512 { return simple::<T>(m, k, n, a, b, c); }
        let wide = has_wide_vectors();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for p0 in (0..k).step_by(KC) {
            let depth = KC.min(k - p0);
            pack(&mut right, NR, n, depth, |j, p| b.at::<T>(p0 + p, j));
            for i0 in (0..m).step_by(MC) {
                let height = MC.min(m - i0);
                pack(&mut left, MR, height, depth, |i, p| a.at::<T>(i0 + i, p0 + p));
                for (jb, panel_b) in right.chunks_exact(NR * depth).enumerate() {
                    for (ib, panel_a) in left.chunks_exact(MR * depth).enumerate() {
                        let (rows, columns) = (MR.min(height - ib * MR), NR.min(n - jb * NR));
                        let place = |i: usize, j: usize| c.at::<T>(i0 + ib * MR + i, jb * NR + j);
                        let mut t = [[T::ZERO; NR]; MR];
                        if p0 > 0 { for (i, row) in t.iter_mut().enumerate().take(rows) { for (j, x) in row.iter_mut().enumerate().take(columns) { *x = place(i, j).read_unaligned(); } } }
                        tile(wide, depth, panel_a, panel_b, &mut t);
                        for (i, row) in t.iter().enumerate().take(rows) { for (j, x) in row.iter().enumerate().take(columns) { place(i, j).write_unaligned(*x); } }
                    }
                }
            }
        }
    }
}

/// Small products, and those with vectors: eight sums side by side for each element.
///
/// # Safety
/// As for [`product`].
unsafe fn simple<T: Number>(m: usize, k: usize, n: usize, a: Place, b: Place, c: Place) {
    for i in 0..m {
        for j in 0..n {
            let mut lanes = [T::ZERO; 8];
            let mut p = 0;
            // SAFETY: as required of the caller.
            unsafe {
                while p + 8 <= k {
                    for (l, lane) in lanes.iter_mut().enumerate() { *lane = lane.add_product(a.at::<T>(i, p + l).read_unaligned(), b.at::<T>(p + l, j).read_unaligned()); }
                    p += 8;
                }
                for (l, q) in (p..k).enumerate() { lanes[l] = lanes[l].add_product(a.at::<T>(i, q).read_unaligned(), b.at::<T>(q, j).read_unaligned()); }
                c.at::<T>(i, j).write_unaligned(total(lanes));
            }
        }
    }
}

/// The sum of the lanes as a tree.
fn total<T: Number>(l: [T; 8]) -> T { (l[0].plus(l[4])).plus(l[2].plus(l[6])).plus((l[1].plus(l[5])).plus(l[3].plus(l[7]))) }

impl Helpers for Native {
    unsafe fn linalg_matmul(elem: i64, dims: *const i64, a: P, b: P, c: P) {
        // SAFETY: compiled code passes nine numbers and matrices of those dimensions.
        unsafe {
            let d = crate::raw_slice(dims, 9);
            let (m, k, n) = (d[0].max(0) as usize, d[1].max(0) as usize, d[2].max(0) as usize);
            let place = |data: P, at: usize| Place { data, row: d[at] as isize, column: d[at + 1] as isize };
            let (a, b, c) = (place(a, 3), place(b, 5), place(c, 7));
            match Elem::from_number(elem) {
                Some(Elem::Bool) => product::<Truth>(m, k, n, a, b, c),
                // Wrapping arithmetic is the same with and without sign.
                Some(Elem::I8 | Elem::U8) => product::<i8>(m, k, n, a, b, c),
                Some(Elem::I16 | Elem::U16) => product::<i16>(m, k, n, a, b, c),
                Some(Elem::I32 | Elem::U32) => product::<i32>(m, k, n, a, b, c),
                Some(Elem::I64 | Elem::U64) => product::<i64>(m, k, n, a, b, c),
                Some(Elem::F32) => product::<f32>(m, k, n, a, b, c),
                Some(Elem::F64) => product::<f64>(m, k, n, a, b, c),
                Some(Elem::C64) => product::<Complex<f32>>(m, k, n, a, b, c),
                Some(Elem::C128) => product::<Complex<f64>>(m, k, n, a, b, c),
                Some(Elem::Str) | None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: usize) -> Vec<f64> { (0..n).map(|i| ((i * 7 + seed * 13) % 23) as f64 - 11.0).collect() }

    #[test]
    fn blocked_products_are_those_of_the_definition() {
        for (m, k, n) in [(1, 1, 1), (3, 5, 1), (1, 9, 4), (4, 8, 8), (13, 300, 17), (70, 33, 9), (2, 0, 3), (0, 3, 2), (65, 257, 9)] {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let mut c = vec![f64::NAN; m * n];
            // The right operand is read in columns: stored transposed.
            let bt: Vec<f64> = (0..n * k).map(|i| b[i % k.max(1) * n + i / k.max(1)]).collect();
            let dims = [m, k, n, 8 * k, 8, 8, 8 * k, 8 * n, 8].map(|x| x as i64);
            unsafe { Native::linalg_matmul(Elem::F64 as i64, dims.as_ptr(), a.as_ptr() as P, bt.as_ptr() as P, c.as_mut_ptr() as P) };
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
        unsafe { Native::linalg_matmul(Elem::Bool as i64, dims.as_ptr(), a.as_ptr() as P, b.as_ptr() as P, c.as_mut_ptr()) };
        assert_eq!(c, [1, 0, 1, 0]);
        let (a, mut c) = ([100u8, 200, 3, 255], [0u8; 4]);
        unsafe { Native::linalg_matmul(Elem::U8 as i64, dims.as_ptr(), a.as_ptr() as P, a.as_ptr() as P, c.as_mut_ptr()) };
        let want = [100 * 100 + 200 * 3, 100 * 200 + 200 * 255, 3 * 100 + 255 * 3, 3 * 200 + 255 * 255].map(|x: u32| x as u8);
        assert_eq!(c, want);
    }
}
