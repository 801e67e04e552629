//! Parameters of distributions, and what NumPy says of those that are none.

use crate::exc::{Error, Res};
use tierup_core::draw::{Draw, Must};

/// Parameters by number, as float or integer.
#[derive(Clone, Copy)]
pub(super) struct Params<'a>(pub(super) &'a [i64]);
impl Params<'_> {
    pub(super) fn f(self, k: usize) -> f64 {
        f64::from_bits(self.0[k] as u64)
    }
    pub(super) fn i(self, k: usize) -> i64 {
        self.0[k]
    }
}

/// What NumPy refuses, in its words; of arrays it speaks a little differently.
#[cold]
#[expect(clippy::wildcard_enum_match_arm, reason = "any other distribution takes all parameters")]
pub(super) fn check(draw: Draw, modern: bool, p: Params<'_>, arrays: bool) -> Res<()> {
    let refuse =
        |text: String| Err(Error::value(if arrays { text.replace("is NaN", "contains NaNs") } else { text }));
    match draw {
        Draw::Uniform => {
            let range = p.f(1) - p.f(0);
            if !range.is_finite() {
                return Err(Error::overflow(if modern {
                    "high - low range exceeds valid bounds"
                } else {
                    "Range exceeds valid bounds"
                }));
            }
            if modern && range.is_sign_negative() {
                return refuse("high - low < 0".into());
            }
        }
        Draw::Triangular => {
            let (left, mode, right) = (p.f(0), p.f(1), p.f(2));
            if left > mode {
                return refuse("left > mode".into());
            }
            if mode > right {
                return refuse("mode > right".into());
            }
            if left == right {
                return refuse("left == right".into());
            }
        }
        Draw::Hypergeometric => {
            if modern && p.i(0).max(p.i(1)) >= 1_000_000_000 {
                return refuse("both ngood and nbad must be less than 1000000000".into());
            }
            if p.i(0).saturating_add(p.i(1)) < p.i(2) {
                return refuse("ngood + nbad < nsample".into());
            }
        }
        Draw::NegativeBinomial if modern => {
            let (n, q) = (p.f(0), p.f(1));
            if n.is_nan() {
                return refuse("n must not be NaN".into());
            }
            if n > 0.0 && q > 0.0 && q <= 1.0 && (1.0 - q) / q * (n + 10.0 * n.sqrt()) > LARGEST_LAM {
                return refuse("n too large or p too small, see Generator.negative_binomial Notes".into());
            }
        }
        _others => {}
    }
    for (k, param) in draw.params().iter().enumerate() {
        let name = param.name;
        let x = if param.int { p.i(k) as f64 } else { p.f(k) };
        let must = if draw == Draw::NegativeBinomial && modern && k == 1 {
            Must::FractionNotZero
        } else {
            param.must
        };
        match must {
            Must::Any => {}
            Must::NonNegative => {
                if !x.is_nan() && x.is_sign_negative() {
                    return refuse(format!("{name} < 0"));
                }
            }
            Must::Positive => {
                if x <= 0.0 {
                    return refuse(format!("{name} <= 0"));
                }
            }
            Must::Fraction => {
                if !(0.0..=1.0).contains(&x) {
                    return refuse(format!("{name} < 0, {name} > 1 or {name} is NaN"));
                }
            }
            Must::FractionNotZero => {
                if !(x > 0.0 && x <= 1.0) {
                    return refuse(format!("{name} <= 0, {name} > 1 or {name} contains NaNs"));
                }
            }
            Must::FractionNotOne => {
                if !(0.0..1.0).contains(&x) {
                    return refuse(format!("{name} < 0, {name} >= 1 or {name} is NaN"));
                }
            }
            Must::AboveOne => {
                if !(x > 1.0) {
                    return refuse(format!("{name} <= 1 or {name} is NaN"));
                }
            }
            Must::Poisson => {
                if !(x >= 0.0) {
                    return refuse(format!("{name} < 0 or {name} is NaN"));
                }
                if x > LARGEST_LAM {
                    return refuse(format!("{name} value too large"));
                }
            }
        }
    }
    if draw == Draw::Hypergeometric {
        if modern && p.i(2) < 0 {
            return refuse("nsample < 0".into());
        }
        if !modern && p.i(2) < 1 {
            return refuse("nsample < 1 or nsample is NaN".into());
        }
    }
    Ok(())
}

/// `2^63 - 1 - 10 sqrt(2^63 - 1)`: ten deviations below the largest integer.
pub(super) const LARGEST_LAM: f64 = 9.223372006484771e+18;
