//! Continuous distributions of `Generator`; those of the legacy functions that differ stand in
//! [`super::legacy`].

use super::bits::Source;
use super::discrete::poisson;
use super::normal::{exponential, gamma, libm_expm1, libm_log1p, normal};
use std::f64::consts::PI;

pub(crate) fn beta(bits: &impl Source, a: f64, b: f64) -> f64 {
    if a <= 1.0 && b <= 1.0 {
        // Both so small that the result is 0 or 1.
        if a < 3e-103 && b < 3e-103 {
            let u = bits.f64();
            return ((a + b) * u < a) as u8 as f64;
        }
        loop {
            let (u, v) = (bits.f64(), bits.f64());
            let (x, y) = (u.powf(1.0 / a), v.powf(1.0 / b));
            let sum = x + y;
            if sum <= 1.0 && u + v > 0.0 {
                return if x > 0.0 && y > 0.0 { x / sum } else { beta_of_logs(u, v, a, b) };
            }
        }
    }
    let (x, y) = (gamma(bits, a), gamma(bits, b));
    x / (x + y)
}

/// Where the powers underflow.
fn beta_of_logs(u: f64, v: f64, a: f64, b: f64) -> f64 {
    let delta = u.ln() / a - v.ln() / b;
    if delta > 0.0 { (-libm_log1p((-delta).exp())).exp() } else { (delta - libm_log1p(delta.exp())).exp() }
}

pub(crate) fn chisquare(bits: &impl Source, df: f64) -> f64 {
    2.0 * gamma(bits, df / 2.0)
}

pub(crate) fn f(bits: &impl Source, dfnum: f64, dfden: f64) -> f64 {
    let above = chisquare(bits, dfnum) * dfden;
    above / (chisquare(bits, dfden) * dfnum)
}

pub(crate) fn noncentral_chisquare(bits: &impl Source, df: f64, nonc: f64) -> f64 {
    if nonc.is_nan() {
        return f64::NAN;
    }
    if nonc == 0.0 {
        return chisquare(bits, df);
    }
    if df > 1.0 {
        let c = chisquare(bits, df - 1.0);
        let n = normal(bits) + nonc.sqrt();
        return c + n * n;
    }
    let i = poisson(bits, nonc / 2.0);
    chisquare(bits, df + (2 * i) as f64)
}

pub(crate) fn noncentral_f(bits: &impl Source, dfnum: f64, dfden: f64, nonc: f64) -> f64 {
    let t = noncentral_chisquare(bits, dfnum, nonc) * dfden;
    t / (chisquare(bits, dfden) * dfnum)
}

pub(crate) fn cauchy(bits: &impl Source) -> f64 {
    let x = normal(bits);
    x / normal(bits)
}

pub(crate) fn pareto(bits: &impl Source, a: f64) -> f64 {
    libm_expm1(exponential(bits) / a)
}
pub(crate) fn weibull(bits: &impl Source, a: f64) -> f64 {
    if a == 0.0 { 0.0 } else { exponential(bits).powf(1.0 / a) }
}
pub(crate) fn power(bits: &impl Source, a: f64) -> f64 {
    (-libm_expm1(-exponential(bits))).powf(1.0 / a)
}
pub(crate) fn rayleigh(bits: &impl Source, scale: f64) -> f64 {
    scale * (2.0 * exponential(bits)).sqrt()
}

pub(crate) fn student(bits: &impl Source, df: f64) -> f64 {
    let x = normal(bits);
    let y = gamma(bits, df / 2.0);
    (df / 2.0).sqrt() * x / y.sqrt()
}

pub(crate) fn laplace(bits: &impl Source, loc: f64, scale: f64) -> f64 {
    loop {
        let u = bits.f64();
        if u >= 0.5 {
            return loc - scale * (2.0 - u - u).ln();
        }
        if u > 0.0 {
            return loc + scale * (u + u).ln();
        }
    }
}

pub(crate) fn gumbel(bits: &impl Source, loc: f64, scale: f64) -> f64 {
    loop {
        let u = 1.0 - bits.f64();
        if u < 1.0 {
            return loc - scale * (-u.ln()).ln();
        }
    }
}

pub(crate) fn logistic(bits: &impl Source, loc: f64, scale: f64) -> f64 {
    loop {
        let u = bits.f64();
        if u > 0.0 {
            return loc + scale * (u / (1.0 - u)).ln();
        }
    }
}

pub(crate) fn wald(bits: &impl Source, mean: f64, scale: f64) -> f64 {
    let y = normal(bits);
    let y = mean * y * y;
    let d = 1.0 + (1.0 + 4.0 * scale / y).sqrt();
    let x = mean * (1.0 - 2.0 / d);
    let u = bits.f64();
    if u <= mean / (mean + x) { x } else { mean * mean / x }
}

pub(crate) fn triangular(bits: &impl Source, left: f64, mode: f64, right: f64) -> f64 {
    let base = right - left;
    let leftbase = mode - left;
    let ratio = leftbase / base;
    let leftprod = leftbase * base;
    let rightprod = (right - mode) * base;
    let u = bits.f64();
    if u <= ratio { left + (u * leftprod).sqrt() } else { right - ((1.0 - u) * rightprod).sqrt() }
}

/// An angle by Best and Fisher; `wrapped` says what becomes of large concentrations, where the method loses
/// all precision.
pub(crate) fn vonmises<S: Source>(bits: &S, mu: f64, kappa: f64, wrapped: Option<fn(&S) -> f64>) -> f64 {
    if kappa.is_nan() {
        return f64::NAN;
    }
    if kappa < 1e-8 {
        return PI * (2.0 * bits.f64() - 1.0);
    }
    let s = if kappa < 1e-5 {
        1.0 / kappa + kappa
    } else {
        if kappa > 1e6
            && let Some(normal) = wrapped
        {
            let x = mu + (1.0 / kappa).sqrt() * normal(bits);
            // One turn is all that it can be off.
            return if x < -PI {
                x + 2.0 * PI
            } else if x > PI {
                x - 2.0 * PI
            } else {
                x
            };
        }
        let r = 1.0 + (1.0 + 4.0 * kappa * kappa).sqrt();
        let rho = (r - (2.0 * r).sqrt()) / (2.0 * kappa);
        (1.0 + rho * rho) / (2.0 * rho)
    };
    let w = loop {
        let z = (PI * bits.f64()).cos();
        let w = (1.0 + s * z) / (s + z);
        let y = kappa * (s - w);
        let v = bits.f64();
        if y * (2.0 - y) - v >= 0.0 || (y / v).ln() + 1.0 - y >= 0.0 {
            break w;
        }
    };
    let u = bits.f64();
    let angle = w.acos();
    let angle = if u < 0.5 { -angle } else { angle } + mu;
    let turned = (angle.abs() + PI) % (2.0 * PI) - PI;
    if angle < 0.0 { -turned } else { turned }
}
