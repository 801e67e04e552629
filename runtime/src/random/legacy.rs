//! Distributions of the legacy functions (`np.random.normal`): frozen by NumPy, so that old seeds give old
//! numbers.

use super::bits::Own;
use super::continuous::vonmises as vonmises_of;
use super::discrete::{geometric_search, poisson};
use super::memory::{last, log_gamma_of, remembered};
use super::normal::{Legacy, libm_log1p};
use super::whole::{floor, to_int};

impl Legacy<'_> {
    pub(crate) fn beta(&self, a: f64, b: f64) -> f64 {
        if a <= 1.0 && b <= 1.0 {
            loop {
                let (u, v) = (self.f64(), self.f64());
                let (x, y) = (u.powf(1.0 / a), v.powf(1.0 / b));
                if x + y > 1.0 {
                    continue;
                }
                if x + y > 0.0 {
                    return x / (x + y);
                }
                let (x, y) = (u.ln() / a, v.ln() / b);
                let largest = if x > y { x } else { y };
                let (x, y) = (x - largest, y - largest);
                return (x - (x.exp() + y.exp()).ln()).exp();
            }
        }
        let (x, y) = (self.gamma(a), self.gamma(b));
        x / (x + y)
    }

    pub(crate) fn chisquare(&self, df: f64) -> f64 {
        2.0 * self.gamma(df / 2.0)
    }

    pub(crate) fn f(&self, dfnum: f64, dfden: f64) -> f64 {
        let above = self.chisquare(dfnum) * dfden;
        above / (self.chisquare(dfden) * dfnum)
    }

    pub(crate) fn noncentral_chisquare(&self, df: f64, nonc: f64) -> f64 {
        if nonc == 0.0 {
            return self.chisquare(df);
        }
        if df > 1.0 {
            let c = self.chisquare(df - 1.0);
            let n = self.normal() + nonc.sqrt();
            return c + n * n;
        }
        let i = poisson(&self.bits, nonc / 2.0);
        let out = self.chisquare(df + (2 * i) as f64);
        if nonc.is_nan() { f64::NAN } else { out }
    }

    pub(crate) fn noncentral_f(&self, dfnum: f64, dfden: f64, nonc: f64) -> f64 {
        let t = self.noncentral_chisquare(dfnum, nonc) * dfden;
        t / (self.chisquare(dfden) * dfnum)
    }

    pub(crate) fn cauchy(&self) -> f64 {
        let x = self.normal();
        x / self.normal()
    }

    pub(crate) fn pareto(&self, a: f64) -> f64 {
        (self.exponential() / a).exp() - 1.0
    }
    pub(crate) fn weibull(&self, a: f64) -> f64 {
        if a == 0.0 { 0.0 } else { self.exponential().powf(1.0 / a) }
    }
    pub(crate) fn power(&self, a: f64) -> f64 {
        (1.0 - (-self.exponential()).exp()).powf(1.0 / a)
    }
    pub(crate) fn rayleigh(&self, scale: f64) -> f64 {
        scale * (-2.0 * libm_log1p(-self.f64())).sqrt()
    }

    pub(crate) fn student(&self, df: f64) -> f64 {
        let x = self.normal();
        let y = self.gamma(df / 2.0);
        (df / 2.0).sqrt() * x / y.sqrt()
    }

    pub(crate) fn wald(&self, mean: f64, scale: f64) -> f64 {
        let half = mean / (2.0 * scale);
        let y = self.normal();
        let y = mean * y * y;
        let x = mean + half * (y - (4.0 * scale * y + y * y).sqrt());
        let u = self.f64();
        if u <= mean / (mean + x) { x } else { mean * mean / x }
    }

    pub(crate) fn vonmises(&self, mu: f64, kappa: f64) -> f64 {
        vonmises_of(&self.bits, mu, kappa, None::<fn(&Own<'_>) -> f64>)
    }

    pub(crate) fn negative_binomial(&self, n: f64, p: f64) -> i64 {
        let y = (1.0 - p) / p * self.gamma(n);
        poisson(&self.bits, y)
    }

    pub(crate) fn logseries(&self, p: f64) -> i64 {
        last!(LOG, 1);
        let [r] = remembered(&LOG, p, || [(1.0 - p).ln()]);
        loop {
            let v = self.f64();
            if v >= p {
                return 1;
            }
            let u = self.f64();
            let q = 1.0 - (r * u).exp();
            if v <= q * q {
                let x = to_int(floor(1.0 + v.ln() / q.ln()));
                if x < 1 || v == 0.0 {
                    continue;
                }
                return x;
            }
            return if v >= q { 1 } else { 2 };
        }
    }

    pub(crate) fn geometric(&self, p: f64) -> i64 {
        if p >= 0.333333333333333333333333 {
            return geometric_search(&self.bits, p);
        }
        last!(LOG, 1);
        let [log] = remembered(&LOG, p, || [(1.0 - p).ln()]);
        to_int(((1.0 - self.f64()).ln() / log).ceil())
    }

    pub(crate) fn zipf(&self, a: f64) -> i64 {
        // NumPy does not come back from these.
        if a >= 1025.0 {
            return 1;
        }
        let am1 = a - 1.0;
        last!(POWER, 1);
        let [b] = remembered(&POWER, am1, || [2f64.powf(am1)]);
        loop {
            let u = 1.0 - self.f64();
            let v = self.f64();
            let x = floor(u.powf(-1.0 / am1));
            // NumPy compares with 2^63 - 1, which is 2^63 here.
            if x > i64::MAX as f64 || x < 1.0 {
                continue;
            }
            let t = (1.0 + 1.0 / x).powf(am1);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b {
                return to_int(x);
            }
        }
    }

    /// Few are drawn: one by one.
    fn hypergeometric_few(&self, good: i64, bad: i64, sample: i64) -> i64 {
        let d1 = bad + good - sample;
        let d2 = bad.min(good) as f64;
        let (mut y, mut k) = (d2, sample);
        while y > 0.0 {
            let u = self.f64();
            y -= floor(u + y / (d1 + k) as f64);
            k -= 1;
            if k == 0 {
                break;
            }
        }
        let z = (d2 - y) as i64;
        if good > bad { sample - z } else { z }
    }

    pub(crate) fn hypergeometric(&self, good: i64, bad: i64, sample: i64) -> i64 {
        if sample <= 10 {
            return if sample > 0 { self.hypergeometric_few(good, bad, sample) } else { 0 };
        }
        // Stadlober's ratio of uniforms.
        let (less, more, all) = (good.min(bad), good.max(bad), good + bad);
        let m = sample.min(all - sample);
        let d4 = less as f64 / all as f64;
        let d5 = 1.0 - d4;
        let d6 = m as f64 * d4 + 0.5;
        let d7 = ((all - m) as f64 * sample as f64 * d4 * d5 / (all - 1) as f64 + 0.5).sqrt();
        let d8 = 1.7155277699214135 * d7 + 0.8989161620588988;
        let d9 = floor((m + 1) as f64 * (less + 1) as f64 / (all + 2) as f64) as i64;
        let weight = |z: i64| {
            log_gamma_of(z + 1)
                + log_gamma_of(less - z + 1)
                + log_gamma_of(m - z + 1)
                + log_gamma_of(more - m + z + 1)
        };
        let d10 = weight(d9);
        let d11 = (m.min(less) as f64 + 1.0).min(floor(d6 + 16.0 * d7));
        let mut z;
        loop {
            let (x, y) = (self.f64(), self.f64());
            let w = d6 + d8 * (y - 0.5) / x;
            if w < 0.0 || w >= d11 {
                continue;
            }
            z = floor(w) as i64;
            let t = d10 - weight(z);
            if x * (4.0 - x) - 3.0 <= t {
                break;
            }
            if x * (x - t) >= 1.0 {
                continue;
            }
            if 2.0 * x.ln() <= t {
                break;
            }
        }
        if good > bad {
            z = m - z;
        }
        if m < sample {
            z = good - z;
        }
        z
    }
}
