//! The error function `erf` and what it lacks of 1, `erfc`.
//!
//! Up to 0.7 `erf x` is an odd series. Beyond, `e^(x²) erfc x` nearly is `1 / (1 + 2 x)`: times `1 + 2 x` it
//! hardly changes, and is a polynomial in `1 / (x + 3)`.

use super::coefficients::{ERF, ERFC, ERFC_MIDDLE, TWO_OVER_ROOT_PI};
use super::exp::{Parts, clamped, parts_of, scale};
use super::{Rare, Real, Sum, poly};
use crate::ops::mathfn as m;
use crate::rt::RtFn;

pub const NEAR: f64 = 0.7;

/// `erf x` up to [`NEAR`].
#[inline(always)]
fn near<R: Real>(x: R) -> Sum<R> {
    let z = x * x;
    let p = Sum::product(x, x.of(TWO_OVER_ROOT_PI[0]));
    Sum::ordered(p.hi, x.fma_of(TWO_OVER_ROOT_PI[1], 0.0) + p.lo + x * z * poly(z, &ERF))
}

/// `erfc x` from [`NEAR`] on.
#[inline(always)]
fn far<R: Real>(x: R) -> R {
    // It is 0 from 27.3 on.
    let x = clamped(x, NEAR, 28.0);
    let square = Sum::product(x, x);
    let power: Parts<R> = parts_of(square.negated());
    let e = power.sum();
    let e = Sum::ordered(e.hi, e.lo);
    let w = x.of(1.0) / (x + 3.0) - ERFC_MIDDLE;
    let q = Sum::ordered(x.of(ERFC[0]), w * poly_rest(w));
    let g = q.over(Sum::ordered(x + x, x.of(1.0)));
    scale(e.mul(g).value(), power.shifted)
}

/// All but the constant term.
#[inline(always)]
fn poly_rest<R: Real>(w: R) -> R {
    const REST: [f64; ERFC.len() - 1] = {
        let mut rest = [0.0; ERFC.len() - 1];
        let mut k = 0;
        while k < rest.len() {
            rest[k] = ERFC[k + 1];
            k += 1;
        }
        rest
    };
    poly(w, &REST)
}

/// [`erf`] up to [`NEAR`], with less to do.
#[inline(always)]
pub fn erf_near<R: Real>(x: R) -> R {
    near(x).value().signed(x)
}

/// Where numbers come one by one.
pub(crate) struct Alone;
impl Rare for Alone {
    #[inline(always)]
    fn usual<R: Real>(x: R) -> R {
        erf_near(x)
    }
    #[inline(always)]
    fn is_rare<R: Real>(x: R) -> R::Truth {
        !x.size().under(NEAR)
    }
    #[inline(always)]
    fn rare<R: Real>(x: R) -> R {
        erf(x)
    }
    fn helper() -> &'static RtFn {
        &m::f64_erf
    }
}

#[inline(always)]
pub fn erf<R: Real>(x: R) -> R {
    let a = x.size();
    let beyond = x.of(1.0) - far(a);
    R::pick(a.over(NEAR), beyond, near(a).value()).or(x.is(x), f64::NAN).signed(x)
}

#[inline(always)]
pub fn erfc<R: Real>(x: R) -> R {
    let a = x.size();
    let (s, t) = (near(x), far(a));
    let one = Sum::ordered(x.of(1.0), -s.hi);
    let beyond = R::pick(x.under(0.0), x.of(2.0) - t, t);
    R::pick(a.over(NEAR), beyond, one.hi + (one.lo - s.lo)).or(x.is(x), f64::NAN)
}
