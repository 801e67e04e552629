//! The functions of Python's module `random`, on a twister of their own. Parameters are not checked, as
//! there.

use super::bits::Twister;
use std::f64::consts::{E, PI};

/// `random.random` and what it is the basis of.
pub(crate) struct Python<'a> {
    pub twister: &'a mut Twister,
    pub spare: &'a mut Option<f64>,
}

impl Python<'_> {
    pub(crate) fn random(&mut self) -> f64 {
        self.twister.f64()
    }

    /// `k` random bits, `k` from 0 to 64.
    pub(crate) fn bits(&mut self, k: u32) -> u64 {
        if k == 0 {
            return 0;
        }
        if k <= 32 {
            return (self.twister.u32() >> (32 - k)) as u64;
        }
        let low = self.twister.u32() as u64;
        low | ((self.twister.u32() >> (64 - k)) as u64) << 32
    }

    /// Of 0 to `n`, without it; 0 stands for 2⁶⁴.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        while n == 0 {
            // 65 bits, of which the last must be zero.
            let low = self.bits(64);
            if self.bits(1) == 0 {
                return low;
            }
        }
        let k = 64 - n.leading_zeros();
        loop {
            let x = self.bits(k);
            if x < n {
                return x;
            }
        }
    }

    pub(crate) fn uniform(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.random()
    }

    /// `mode` is NaN for the middle.
    pub(crate) fn triangular(&mut self, mut low: f64, mut high: f64, mode: f64, has_mode: bool) -> f64 {
        let mut u = self.random();
        let mut c = if !has_mode {
            0.5
        } else if high == low {
            return low;
        } else {
            (mode - low) / (high - low)
        };
        if u > c {
            u = 1.0 - u;
            c = 1.0 - c;
            (low, high) = (high, low);
        }
        low + (high - low) * (u * c).sqrt()
    }

    pub(crate) fn normalvariate(&mut self, mu: f64, sigma: f64) -> f64 {
        // Kinderman and Monahan's ratio of uniforms.
        let magic = 4.0 * (-0.5f64).exp() / 2f64.sqrt();
        loop {
            let u1 = self.random();
            let u2 = 1.0 - self.random();
            let z = magic * (u1 - 0.5) / u2;
            if z * z / 4.0 <= -u2.ln() {
                return mu + z * sigma;
            }
        }
    }

    pub(crate) fn lognormvariate(&mut self, mu: f64, sigma: f64) -> f64 {
        self.normalvariate(mu, sigma).exp()
    }

    pub(crate) fn gauss(&mut self, mu: f64, sigma: f64) -> f64 {
        let z = match self.spare.take() {
            Some(z) => z,
            None => {
                let turn = self.random() * (2.0 * PI);
                let radius = (-2.0 * (1.0 - self.random()).ln()).sqrt();
                *self.spare = Some(turn.sin() * radius);
                turn.cos() * radius
            }
        };
        mu + z * sigma
    }

    pub(crate) fn expovariate(&mut self, lambd: f64) -> f64 {
        -(1.0 - self.random()).ln() / lambd
    }

    pub(crate) fn vonmisesvariate(&mut self, mu: f64, kappa: f64) -> f64 {
        if kappa <= 1e-6 {
            return 2.0 * PI * self.random();
        }
        let s = 0.5 / kappa;
        let r = s + (1.0 + s * s).sqrt();
        let z = loop {
            let z = (PI * self.random()).cos();
            let d = z / (r + z);
            let u2 = self.random();
            if u2 < 1.0 - d * d || u2 <= (1.0 - d) * d.exp() {
                break z;
            }
        };
        let q = 1.0 / r;
        let f = (q + z) / (1.0 + q * z);
        let turn = if self.random() > 0.5 { mu + f.acos() } else { mu - f.acos() };
        // As Python's %: of the sign of the divisor.
        let m = turn % (2.0 * PI);
        if m < 0.0 {
            m + 2.0 * PI
        } else if m == 0.0 {
            0.0
        } else {
            m
        }
    }

    pub(crate) fn gammavariate(&mut self, alpha: f64, beta: f64) -> f64 {
        if alpha > 1.0 {
            // Cheng.
            let ainv = (2.0 * alpha - 1.0).sqrt();
            let bbb = alpha - 4f64.ln();
            let ccc = alpha + ainv;
            let magic = 1.0 + 4.5f64.ln();
            loop {
                let u1 = self.random();
                if !(1e-7 < u1 && u1 < 0.9999999) {
                    continue;
                }
                let u2 = 1.0 - self.random();
                let v = (u1 / (1.0 - u1)).ln() / ainv;
                let x = alpha * v.exp();
                let z = u1 * u1 * u2;
                let r = bbb + ccc * v - x;
                if r + magic - 4.5 * z >= 0.0 || r >= z.ln() {
                    return x * beta;
                }
            }
        }
        if alpha == 1.0 {
            return -(1.0 - self.random()).ln() * beta;
        }
        // Ahrens and Dieter.
        loop {
            let u = self.random();
            let b = (E + alpha) / E;
            let p = b * u;
            let x = if p <= 1.0 { p.powf(1.0 / alpha) } else { -((b - p) / alpha).ln() };
            let u1 = self.random();
            if if p > 1.0 { u1 <= x.powf(alpha - 1.0) } else { u1 <= (-x).exp() } {
                return x * beta;
            }
        }
    }

    pub(crate) fn betavariate(&mut self, alpha: f64, beta: f64) -> f64 {
        let y = self.gammavariate(alpha, 1.0);
        if y == 0.0 { 0.0 } else { y / (y + self.gammavariate(beta, 1.0)) }
    }

    pub(crate) fn paretovariate(&mut self, alpha: f64) -> f64 {
        (1.0 - self.random()).powf(-1.0 / alpha)
    }

    pub(crate) fn weibullvariate(&mut self, alpha: f64, beta: f64) -> f64 {
        alpha * (-(1.0 - self.random()).ln()).powf(1.0 / beta)
    }
}
