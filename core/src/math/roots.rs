//! `cbrt` and `hypot`.

use super::coefficients::CBRT;
use super::{Bits, Real, SHIFT, Sum, poly, root};

/// The cube root of `r` from 1 to 8 is `r y²` with `y` near `r^(-1/3)`, found by two steps of Householder's
/// method, and corrected by what its cube lacks.
#[inline(always)]
pub fn cbrt<R: Real>(x: R) -> R {
    let a = x.size();
    let small = a.under(f64::MIN_POSITIVE);
    let bits = R::pick(small, a * 18_014_398_509_481_984.0, a).bits();
    let exponent = (bits.logical(52) | 4_503_599_627_370_496f64.to_bits() as i64).real()
        - (4_503_599_627_370_496.0 + 1023.0);
    // The whole part of a third: between whole thirds nothing is halfway.
    let shifted = exponent.fma_of(1.0 / 3.0, -1.0 / 3.0) + SHIFT;
    let third = shifted.bits() - SHIFT.to_bits() as i64;
    let r = (bits - ((third + third + third) << 52)).real();
    let y = poly(r, &CBRT);
    let h = (r * y * y).fma(-y, x.of(1.0));
    let y = (y * h).fma(h.fma(h.fma_of(14.0 / 81.0, 2.0 / 9.0), x.of(1.0 / 3.0)), y);
    let h = (r * y * y).fma(-y, x.of(1.0));
    let y = (y * h).fma(h.fma_of(2.0 / 9.0, 1.0 / 3.0), y);
    let inverse = y * y;
    let c = r * inverse;
    let square = Sum::product(c, c);
    let cube = Sum::product(square.hi, c);
    let lacks = (r - cube.hi) - square.lo.fma(c, cube.lo);
    let root = (lacks * inverse).fma_of(1.0 / 3.0, 0.0) + c;
    let third = third - R::Bits::pick(small, third - third + 18, third - third);
    let scaled = (root.bits() + (third << 52)).real();
    R::pick(a.over(0.0) & a.under(f64::INFINITY), scaled.signed(x), x)
}

#[inline(always)]
pub fn hypot<R: Real>(x: R, y: R) -> R {
    let (a, b) = (x.size(), y.size());
    let swapped = a.below(b);
    let (most, least) = (R::pick(swapped, b, a), R::pick(swapped, a, b));
    let power = |n: i64| f64::from_bits(((1023 + n) << 52) as u64);
    let (large, small) = (most.over(power(500)), most.under(power(-400)));
    let down = R::pick(large, x.of(power(-600)), x.of(power(600)).or(small, 1.0));
    let up = R::pick(large, x.of(power(600)), x.of(power(-600)).or(small, 1.0));
    let (p, q) = (most * down, least * down);
    let r = root(Sum::product(p, p).add(Sum::product(q, q))).value() * up;
    // An infinity is infinitely far, whatever the other is.
    let infinite = a.equals(f64::INFINITY) | b.equals(f64::INFINITY);
    R::pick(infinite, x.of(f64::INFINITY), R::pick(a.is(a) & b.is(b), r, a + b))
}
