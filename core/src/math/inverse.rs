//! `asin`, `acos`, `atan`, `atan2`.
//!
//! The quotient of `atan2` is brought below tan(π/8) by what the tangent of a difference is; `asin` above ½
//! is that of the root of `(1 - x) / 2`.

use super::coefficients::{ASIN, ATAN, HALF_PI, QUARTERS};
use super::{Bits, Real, Sum, poly, root};

/// Constants as sums: π/4, π/2, 3π/4, π.
#[inline(always)]
fn quarters<R: Real>(x: R, n: usize) -> Sum<R> {
    Sum { hi: x.of(QUARTERS[n][0]), lo: x.of(QUARTERS[n][1]) }
}

/// What is between the angle of the point `(b, a)` and a multiple of π/4, where neither is negative and one
/// is not zero; with the multiple.
struct Angle<R: Real> {
    steep: R::Truth,
    middle: R::Truth,
    t: Sum<R>,
}

#[inline(always)]
fn angle<R: Real>(a: R, b: R) -> Angle<R> {
    let steep = (b * 2.414_213_562_373_095).below(a);
    let middle = (b * 0.414_213_562_373_095).below(a);
    let (difference, total) = (Sum::exact(a, -b), Sum::exact(a, b));
    let top = Sum::pick(steep, Sum::of(-b), Sum::pick(middle, difference, Sum::of(a)));
    let bottom = Sum::pick(steep, Sum::of(a), Sum::pick(middle, total, Sum::of(b)));
    let q = top.over(bottom);
    let z = q.hi * q.hi;
    // The derivative of the arc tangent is nearly 1 - z.
    let rest = (q.hi * z).fma(poly(z, &ATAN), q.lo.fma(-z, q.lo));
    Angle { steep, middle, t: Sum { hi: q.hi, lo: rest } }
}

#[inline(always)]
fn from<R: Real>(base: Sum<R>, t: Sum<R>) -> R {
    let s = Sum::ordered(base.hi, t.hi);
    s.hi + (s.lo + (base.lo + t.lo))
}

#[inline(always)]
pub fn atan<R: Real>(x: R) -> R {
    // Beyond it the angle is π/2 to the last bit.
    let a = R::pick(x.size().over(1e100), x.of(1e100), x.size());
    let Angle { steep, middle, t } = angle(a, x.of(1.0));
    let base = Sum::pick(steep, quarters(x, 1), Sum::pick(middle, quarters(x, 0), Sum::of(x.of(0.0))));
    R::pick(x.size().under(1e-150), x, from(base, t).signed(x))
}

#[inline(always)]
pub fn atan2<R: Real>(y: R, x: R) -> R {
    let (a, b) = (y.size(), x.size());
    let (a_infinite, b_infinite) = (a.equals(f64::INFINITY), b.equals(f64::INFINITY));
    let infinite = a_infinite | b_infinite;
    let nothing = a.equals(0.0) & b.equals(0.0);
    let one = y.of(1.0);
    // Only what is infinite counts beside an infinity; the origin lies on the axis.
    let a1 = R::pick(infinite, one.or(a_infinite, 0.0), a);
    let b1 = R::pick(infinite, one.or(b_infinite, 0.0), R::pick(nothing, one, b));
    // The reciprocal of the greater one must be an ordinary number.
    let most = R::pick(a1.below(b1), b1, a1);
    let power = |n: i64| f64::from_bits(((1023 + n) << 52) as u64);
    let scale =
        R::pick(most.over(power(960)), y.of(power(-60)), y.of(power(120)).or(most.under(power(-900)), 1.0));
    let Angle { steep, middle, t } = angle(a1 * scale, b1 * scale);
    let left = x.bits().logical(63).is(1);
    let flat = Sum::pick(left, quarters(y, 3), Sum::of(y.of(0.0)));
    let base = Sum::pick(
        steep,
        quarters(y, 1),
        Sum::pick(middle, Sum::pick(left, quarters(y, 2), quarters(y, 0)), flat),
    );
    let r = from(base, Sum::pick(left, t.negated(), t)).signed(y);
    R::pick(a.is(a) & b.is(b), r, a + b)
}

/// For asin and acos: whether the size is above ½, and the arc sine of what it is then, or of the size.
#[inline(always)]
fn arc<R: Real>(a: R) -> (R::Truth, Sum<R>) {
    let large = a.over(0.5);
    let z = R::pick(large, (-a).fma_of(0.5, 0.5), a * a);
    let t = Sum::pick(large, root(Sum::of(z)), Sum::of(a));
    (large, Sum { hi: t.hi, lo: (t.hi * z).fma(poly(z, &ASIN), t.lo) })
}

#[inline(always)]
pub fn asin<R: Real>(x: R) -> R {
    let (large, t) = arc(x.size());
    let far = from(Sum { hi: x.of(HALF_PI[0]), lo: x.of(HALF_PI[1]) }, t.scaled(x.of(-2.0)));
    R::pick(large, far, t.value()).signed(x)
}

#[inline(always)]
pub fn acos<R: Real>(x: R) -> R {
    let (large, t) = arc(x.size());
    let left = x.under(0.0);
    let far = Sum::pick(left, t.scaled(x.of(-2.0)), t.scaled(x.of(2.0)));
    let near = Sum::pick(left, t, t.negated());
    let base = Sum::pick(large, Sum::pick(left, quarters(x, 3), Sum::of(x.of(0.0))), quarters(x, 1));
    from(base, Sum::pick(large, far, near))
}
