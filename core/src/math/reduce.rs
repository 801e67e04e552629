//! Angles modulo π/2.
//!
//! Up to 2^30 quarter turns are taken away in three steps. A larger angle is multiplied by those 192 bits of
//! 2/π that say what remains (Payne and Hanek), in integers; that is what helpers named `…_large` are for,
//! and no loop waits for it.

use super::coefficients::{HALF_PI, TWO_OVER_PI};
use super::{Bits, Real, SHIFT, Sum};

/// From here on angles are large.
pub const LARGE: f64 = 1_073_741_824.0;

/// The angle that is left, at most π/4, and the number of quarter turns in the low bits.
pub(crate) struct Reduced<R: Real> {
    pub r: Sum<R>,
    pub turns: R::Bits,
}

#[inline(always)]
pub(crate) fn small<R: Real>(x: R) -> Reduced<R> {
    let shifted = x.fma_of(std::f64::consts::FRAC_2_PI, SHIFT);
    let n = shifted - SHIFT;
    // Exact, since the two are so near each other.
    let first = n.fma(x.of(-HALF_PI[0]), x);
    let second = Sum::product(n, x.of(-HALF_PI[1]));
    // Where most of the first two goes away, the second part may be a millionth of what is left, which is
    // small enough: nothing waits for another sum.
    let sum = Sum::exact(first, second.hi);
    Reduced { r: Sum { hi: sum.hi, lo: sum.lo + n.fma(x.of(-HALF_PI[2]), second.lo) }, turns: shifted.bits() }
}

/// The upper and lower half of a product of unsigned numbers.
#[inline(always)]
fn wide<B: Bits>(a: B, b: B) -> (B, B) {
    const LOW: i64 = 0xffff_ffff;
    let (a1, a0, b1, b0) = (a.logical(32), a & LOW, b.logical(32), b & LOW);
    let middle = a1 * b0 + (a0 * b0).logical(32);
    let other = a0 * b1 + (middle & LOW);
    (a1 * b1 + middle.logical(32) + other.logical(32), a * b)
}

/// Of a finite number that is not negative and [`LARGE`].
#[inline(always)]
pub(crate) fn large<R: Real>(x: R) -> Reduced<R> {
    let bits = x.bits();
    let whole = (bits & ((1 << 52) - 1)) | 1 << 52;
    // x is whole * 2^e, and bits of 2/π above the one of weight 2^-(e - 2) make whole turns. The table begins
    // with 64 zeros. An infinity or a NaN reads somewhere inside.
    let at = bits.logical(52) - (1075 + 2 - 64);
    let at = R::Bits::pick((at + 0).below(at - at + 1100), at, at - at);
    let (index, by) = (at.logical(6), at & 63);
    let t = index.window(&TWO_OVER_PI);
    let left = (by - by + 63) - by;
    let w = |k: usize| t[k].left_by(by) | t[k + 1].logical(1).logical_by(left);
    let (w0, w1, w2) = (w(0), w(1), w(2));
    let (mid_hi, mid_lo) = wide(whole, w1);
    let low = mid_lo + wide(whole, w2).0;
    let carry = R::Bits::pick(low.below(mid_lo), by - by + 1, by - by);
    let top = mid_hi + carry + whole * w0;
    // Two bits of quarter turns, then a fraction, which counts from the nearest whole one.
    let turns = (top + (1 << 61)).logical(62);
    let (hi, lo) = (top << 2 | low.logical(62), low << 2);
    // Three whole numbers that doubles hold exactly.
    let power = |n: i64| f64::from_bits(((1023 + n) << 52) as u64);
    let a = (hi >> 11).to_real() * power(-53);
    let b = ((hi & 0x7ff) << 42 | lo.logical(22)).to_real() * power(-106);
    let c = (lo & ((1 << 22) - 1)).to_real() * power(-128);
    let fraction = Sum::ordered(a, b);
    Reduced { r: Sum { hi: fraction.hi, lo: fraction.lo + c }.times(&HALF_PI), turns }
}
