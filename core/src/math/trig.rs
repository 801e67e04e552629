//! `sin`, `cos` and `tan`.
//!
//! The angle is brought below π/4 as a sum of two numbers ([`super::reduce`]); sine and cosine of it are
//! short polynomials, and the number of quarter turns says which of them it is, with which sign.

use super::coefficients::{COS, SIN};
use super::reduce::{LARGE, Reduced, large, small};
use super::{Bits, Rare, Real, Sum, poly};
use crate::ops::mathfn as m;
use crate::rt::RtFn;

/// Sine of a small angle.
#[inline(always)]
pub(super) fn sine<R: Real>(r: Sum<R>) -> Sum<R> {
    let z = r.hi * r.hi;
    // The derivative of the sine is nearly 1 - z / 2.
    let rest = r.lo.fma(z.fma_of(-0.5, 1.0), z * r.hi * poly(z, &SIN));
    Sum { hi: r.hi, lo: rest }
}

/// Cosine of a small angle.
#[inline(always)]
pub(super) fn cosine<R: Real>(r: Sum<R>) -> Sum<R> {
    let z = r.hi * r.hi;
    let half = z * 0.5;
    let one = Sum::ordered(r.hi.of(1.0), -half);
    let lost = r.hi.fma(r.hi, -z) * -0.5;
    Sum { hi: one.hi, lo: one.lo + (z * z).fma(poly(z, &COS), lost - r.hi * r.lo) }
}

#[inline(always)]
fn flipped<R: Real>(x: R, by: R::Bits) -> R {
    // Exclusive or by addition: only the sign changes.
    (x.bits() + (by << 63)).real()
}

#[inline(always)]
fn chosen<R: Real>(a: Reduced<R>, quarter: i64) -> R {
    let turns = a.turns + quarter;
    let both = Sum::pick((turns & 1).is(0), sine(a.r), cosine(a.r));
    flipped(both.value(), turns.logical(1) & 1)
}

#[inline(always)]
fn tangent<R: Real>(a: Reduced<R>) -> R {
    let (s, c) = (sine(a.r), cosine(a.r));
    let (s, c) = (Sum::ordered(s.hi, s.lo), Sum::ordered(c.hi, c.lo));
    let even = (a.turns & 1).is(0);
    let q = Sum::pick(even, s, c).over(Sum::pick(even, c, s)).value();
    flipped(q, a.turns & 1)
}

/// Zeros keep their sign, infinities have no angle.
#[inline(always)]
fn odd<R: Real>(x: R, r: R) -> R {
    R::pick(x.size().under(1e-150), x, r)
}
#[inline(always)]
fn finite<R: Real>(x: R, r: R) -> R {
    r.or(x.size().under(f64::INFINITY), f64::NAN)
}

/// Where the usual way does not reach: large angles, infinities and NaN.
#[inline(always)]
pub fn is_large<R: Real>(x: R) -> R::Truth {
    !x.size().under(LARGE)
}

macro_rules! of_angles {
    ($Name:ident $f:ident $helper:ident: |$x:ident| $usual:expr, |$y:ident| $large:expr) => {
        pub struct $Name;
        impl Rare for $Name {
            #[inline(always)]
            fn usual<R: Real>($x: R) -> R {
                $usual
            }
            #[inline(always)]
            fn is_rare<R: Real>(x: R) -> R::Truth {
                is_large(x)
            }
            #[inline(always)]
            fn rare<R: Real>($y: R) -> R {
                finite($y, $large)
            }
            fn helper() -> &'static RtFn {
                &m::$helper
            }
        }
        #[inline(always)]
        pub fn $f<R: Real>(x: R) -> R {
            x.rare::<$Name>()
        }
    };
}
of_angles!(Sin sin f64_sin_large: |x| odd(x, chosen(small(x), 0)), |x| flipped(chosen(large(x.size()), 0), x.bits().logical(63)));
of_angles!(Cos cos f64_cos_large: |x| chosen(small(x), 1), |x| chosen(large(x.size()), 1));
of_angles!(Tan tan f64_tan_large: |x| odd(x, tangent(small(x))), |x| flipped(tangent(large(x.size())), x.bits().logical(63)));
