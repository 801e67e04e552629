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
pub(super) fn check(draw: Draw, modern: bool, p: Params<'_>, arrays: bool) -> Res<()> {
    let refuse =
        |text: String| Err(Error::value(if arrays { text.replace("is NaN", "contains NaNs") } else { text }));
    if let Some(text) = wrong_together(draw, modern, p)? {
        return refuse(text.into());
    }
    for (k, param) in draw.params().iter().enumerate() {
        let x = if param.int { p.i(k) as f64 } else { p.f(k) };
        let must = if draw == Draw::NegativeBinomial && modern && k == 1 {
            Must::FractionNotZero
        } else {
            param.must
        };
        if let Some(what) = wrong(must, param.name, x) {
            return refuse(what);
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

/// What is wrong with parameters together, which NumPy says before what is wrong with one.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other distribution takes all parameters")]
fn wrong_together(draw: Draw, modern: bool, p: Params<'_>) -> Res<Option<&'static str>> {
    let wrong = match draw {
        Draw::Uniform => {
            let range = p.f(1) - p.f(0);
            if !range.is_finite() {
                return Err(Error::overflow(if modern {
                    "high - low range exceeds valid bounds"
                } else {
                    "Range exceeds valid bounds"
                }));
            }
            (modern && range.is_sign_negative()).then_some("high - low < 0")
        }
        Draw::Triangular => {
            let (left, mode, right) = (p.f(0), p.f(1), p.f(2));
            if left > mode {
                Some("left > mode")
            } else if mode > right {
                Some("mode > right")
            } else {
                (left == right).then_some("left == right")
            }
        }
        Draw::Hypergeometric => {
            if modern && p.i(0).max(p.i(1)) >= 1_000_000_000 {
                Some("both ngood and nbad must be less than 1000000000")
            } else {
                (p.i(0).saturating_add(p.i(1)) < p.i(2)).then_some("ngood + nbad < nsample")
            }
        }
        Draw::NegativeBinomial if modern => {
            let (n, q) = (p.f(0), p.f(1));
            let is_large =
                n > 0.0 && q > 0.0 && q <= 1.0 && (1.0 - q) / q * (n + 10.0 * n.sqrt()) > LARGEST_LAM;
            if n.is_nan() {
                Some("n must not be NaN")
            } else {
                is_large.then_some("n too large or p too small, see Generator.negative_binomial Notes")
            }
        }
        _ => None,
    };
    Ok(wrong)
}

/// What is wrong with one parameter.
fn wrong(must: Must, name: &str, x: f64) -> Option<String> {
    let fine = match must {
        Must::Any => true,
        Must::NonNegative => x.is_nan() || x.is_sign_positive(),
        Must::Positive => x.is_nan() || x > 0.0,
        Must::Fraction => (0.0..=1.0).contains(&x),
        Must::FractionNotZero => x > 0.0 && x <= 1.0,
        Must::FractionNotOne => (0.0..1.0).contains(&x),
        Must::AboveOne => x > 1.0,
        Must::Poisson => (0.0..=LARGEST_LAM).contains(&x),
    };
    if fine {
        return None;
    }
    Some(match must {
        Must::Any | Must::NonNegative => format!("{name} < 0"),
        Must::Positive => format!("{name} <= 0"),
        Must::Fraction => format!("{name} < 0, {name} > 1 or {name} is NaN"),
        Must::FractionNotZero => format!("{name} <= 0, {name} > 1 or {name} contains NaNs"),
        Must::FractionNotOne => format!("{name} < 0, {name} >= 1 or {name} is NaN"),
        Must::AboveOne => format!("{name} <= 1 or {name} is NaN"),
        Must::Poisson if x > LARGEST_LAM => format!("{name} value too large"),
        Must::Poisson => format!("{name} < 0 or {name} is NaN"),
    })
}

/// `2^63 - 1 - 10 sqrt(2^63 - 1)`: ten deviations below the largest integer.
pub(super) const LARGEST_LAM: f64 = 9.223372006484771e+18;
