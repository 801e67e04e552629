//! Distributions over the integers.

use super::bits::Source;
use super::memory::{last, log_gamma_of, remembered};
use super::normal::{exponential, gamma, libm_expm1, libm_log1p};
use super::whole::{floor, to_int};
use std::cell::Cell;

pub(crate) fn poisson(bits: &impl Source, lam: f64) -> i64 {
    if lam >= 10.0 {
        return poisson_large(bits, lam);
    }
    if lam == 0.0 {
        return 0;
    }
    last!(LIMIT, 1);
    let [limit] = remembered(&LIMIT, lam, || [(-lam).exp()]);
    let (mut x, mut product) = (0, 1.0);
    loop {
        product *= bits.f64();
        if product > limit { x += 1 } else { return x }
    }
}

/// Hörmann's transformed rejection.
fn poisson_large(bits: &impl Source, lam: f64) -> i64 {
    last!(OF_LAM, 5);
    let [b, a, log_invalpha, vr, log_lam] = remembered(&OF_LAM, lam, || {
        let b = 0.931 + 2.53 * lam.sqrt();
        [b, -0.059 + 0.02483 * b, (1.1239 + 1.1328 / (b - 3.4)).ln(), 0.9277 - 3.6224 / (b - 2.0), lam.ln()]
    });
    loop {
        let u = bits.f64() - 0.5;
        let v = bits.f64();
        let us = 0.5 - u.abs();
        let k = to_int(floor((2.0 * a / us + b) * u + lam + 0.43));
        if us >= 0.07 && v <= vr {
            return k;
        }
        if k < 0 || us < 0.013 && v > us {
            continue;
        }
        if v.ln() + log_invalpha - (a / (us * us) + b).ln() <= -lam + k as f64 * log_lam - log_gamma_of(k + 1)
        {
            return k;
        }
    }
}

pub(crate) fn negative_binomial(bits: &impl Source, n: f64, p: f64) -> i64 {
    let y = (1.0 - p) / p * gamma(bits, n);
    poisson(bits, y)
}

pub(crate) fn binomial(bits: &impl Source, n: i64, p: f64) -> i64 {
    if n == 0 || p == 0.0 { 0 } else { binomial_legacy(bits, n, p) }
}

/// The same, which draws also where the answer is known.
pub(crate) fn binomial_legacy(bits: &impl Source, n: i64, p: f64) -> i64 {
    let draw = |p: f64| {
        if p * n as f64 <= 30.0 { binomial_inversion(bits, n, p) } else { binomial_btpe(bits, n, p) }
    };
    if p <= 0.5 { draw(p) } else { n - draw(1.0 - p) }
}

/// `q` to the power of `n`, rounded as NumPy rounds it. Loops ask for the same one again and again.
fn power(q: f64, n: i64) -> f64 {
    thread_local! { static LAST: Cell<(f64, i64, f64)> = const { Cell::new((1.0, 0, 1.0)) }; }
    let (last_q, last_n, known) = LAST.get();
    if last_q == q && last_n == n {
        return known;
    }
    let qn = (n as f64 * q.ln()).exp();
    LAST.set((q, n, qn));
    qn
}

fn binomial_inversion(bits: &impl Source, n: i64, p: f64) -> i64 {
    let q = 1.0 - p;
    let qn = power(q, n);
    let np = n as f64 * p;
    let bound = (n as f64).min(np + 10.0 * (np * q + 1.0).sqrt()) as i64;
    let (mut x, mut px, mut u) = (0, qn, bits.f64());
    while u > px {
        x += 1;
        if x > bound {
            x = 0;
            px = qn;
            u = bits.f64();
        } else {
            u -= px;
            px = (n - x + 1) as f64 * p * px / (x as f64 * q);
        }
    }
    x
}

/// Kachitvichyanukul and Schmeiser: triangle, parallelogram and two exponential tails. `p` is at most one
/// half.
fn binomial_btpe(bits: &impl Source, n: i64, p: f64) -> i64 {
    let nf = n as f64;
    let r = p.min(1.0 - p);
    let q = 1.0 - r;
    let fm = nf * r + r;
    let m = floor(fm) as i64;
    let p1 = floor(2.195 * (nf * r * q).sqrt() - 4.6 * q) + 0.5;
    let xm = m as f64 + 0.5;
    let (xl, xr) = (xm - p1, xm + p1);
    let c = 0.134 + 20.5 / (15.3 + m as f64);
    let a = (fm - xl) / (fm - xl * r);
    let laml = a * (1.0 + a / 2.0);
    let a = (xr - fm) / (xr * q);
    let lamr = a * (1.0 + a / 2.0);
    let p2 = p1 * (1.0 + 2.0 * c);
    let p3 = p2 + c / laml;
    let p4 = p3 + c / lamr;
    let nrq = nf * r * q;
    loop {
        let u = bits.f64() * p4;
        let mut v = bits.f64();
        let y;
        if u <= p1 {
            return floor(xm - p1 * v + u) as i64;
        }
        if u <= p2 {
            let x = xl + (u - p1) / c;
            v = v * c + 1.0 - (m as f64 - x + 0.5).abs() / p1;
            if v > 1.0 {
                continue;
            }
            y = floor(x) as i64;
        } else if u <= p3 {
            y = to_int(floor(xl + v.ln() / laml));
            if y < 0 || v == 0.0 {
                continue;
            }
            v = v * (u - p2) * laml;
        } else {
            y = to_int(floor(xr - v.ln() / lamr));
            if y > n || v == 0.0 {
                continue;
            }
            v = v * (u - p3) * lamr;
        }
        if accepts(n, m, y, v, (r, q, xm, nrq)) {
            return y;
        }
    }
}

/// Whether a point of the hull lies under the distribution.
fn accepts(n: i64, m: i64, y: i64, v: f64, (r, q, xm, nrq): (f64, f64, f64, f64)) -> bool {
    let k = (y - m).abs();
    let kf = k as f64;
    if k <= 20 || kf >= nrq / 2.0 - 1.0 {
        let s = r / q;
        let a = s * (n + 1) as f64;
        let mut f = 1.0;
        if m < y {
            for i in m + 1..=y {
                f *= a / i as f64 - s;
            }
        }
        if m > y {
            for i in y + 1..=m {
                f /= a / i as f64 - s;
            }
        }
        return v <= f;
    }
    let rho = kf / nrq * ((kf * (kf / 3.0 + 0.625) + 0.16666666666666666) / nrq + 0.5);
    let t = (-k).wrapping_mul(k) as f64 / (2.0 * nrq);
    let a = v.ln();
    if a < t - rho {
        return true;
    }
    if a > t + rho {
        return false;
    }
    let (x1, f1, z, w) = ((y + 1) as f64, (m + 1) as f64, (n + 1 - m) as f64, (n - y + 1) as f64);
    let stirling = |x: f64| {
        let x2 = x * x;
        (13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / x2) / x2) / x2) / x2) / x / 166320.0
    };
    a <= xm * (f1 / x1).ln()
        + ((n - m) as f64 + 0.5) * (z / w).ln()
        + (y - m) as f64 * (w * r / (x1 * q)).ln()
        + stirling(f1)
        + stirling(z)
        + stirling(x1)
        + stirling(w)
}

pub(crate) fn logseries(bits: &impl Source, p: f64) -> i64 {
    last!(LOG, 1);
    let [r] = remembered(&LOG, p, || [libm_log1p(-p)]);
    loop {
        let v = bits.f64();
        if v >= p {
            return 1;
        }
        let u = bits.f64();
        let q = -libm_expm1(r * u);
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

pub(crate) fn geometric_search(bits: &impl Source, p: f64) -> i64 {
    let (mut x, mut sum, mut product) = (1, p, p);
    let q = 1.0 - p;
    let u = bits.f64();
    while u > sum {
        product *= q;
        sum += product;
        x += 1;
    }
    x
}

pub(crate) fn geometric(bits: &impl Source, p: f64) -> i64 {
    if p >= 0.333333333333333333333333 {
        return geometric_search(bits, p);
    }
    last!(LOG, 1);
    let [log] = remembered(&LOG, p, || [libm_log1p(-p)]);
    let z = (-exponential(bits) / log).ceil();
    if z >= 9.223372036854776e+18 { i64::MAX } else { z as i64 }
}

pub(crate) fn zipf(bits: &impl Source, a: f64) -> i64 {
    // Where even 2 has a probability below 2^-1024.
    if a >= 1025.0 {
        return 1;
    }
    let am1 = a - 1.0;
    last!(POWERS, 2);
    let [b, least] = remembered(&POWERS, am1, || [2f64.powf(am1), (i64::MAX as f64).powf(-am1)]);
    loop {
        let u = bits.f64();
        let u = u * least + (1.0 - u);
        let v = bits.f64();
        let x = floor(u.powf(-1.0 / am1));
        if x > i64::MAX as f64 || x < 1.0 {
            continue;
        }
        let t = (1.0 + 1.0 / x).powf(am1);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b {
            return to_int(x);
        }
    }
}

/// `ln k!`.
fn log_factorial(k: i64) -> f64 {
    if let Some(x) = super::factorials::LOG.get(k as usize) {
        return *x;
    }
    let x = k as f64;
    (x + 0.5) * x.ln() - x + (0.9189385332046728 + 1.0 / x * (1.0 / 12.0 - 1.0 / (360.0 * x * x)))
}

pub(crate) fn hypergeometric(bits: &impl Source, good: i64, bad: i64, sample: i64) -> i64 {
    if sample >= 10 && sample <= good + bad - 10 {
        hypergeometric_ratio(bits, good, bad, sample)
    } else {
        hypergeometric_few(bits, good, bad, sample)
    }
}

/// Draws one by one, those that are not drawn where that is less work.
fn hypergeometric_few(bits: &impl Source, good: i64, bad: i64, sample: i64) -> i64 {
    let all = good + bad;
    let rest = sample > all / 2;
    let mut left = if rest { all - sample } else { sample };
    let (mut total, mut remaining) = (all, good);
    while left > 0 && remaining > 0 && total > remaining {
        total -= 1;
        if (super::bounded::masked(bits, total as u64) as i64) < remaining {
            remaining -= 1;
        }
        left -= 1;
    }
    if total == remaining {
        remaining -= left;
    }
    if rest { remaining } else { good - remaining }
}

/// Stadlober's ratio of uniforms.
fn hypergeometric_ratio(bits: &impl Source, good: i64, bad: i64, sample: i64) -> i64 {
    let all = good + bad;
    let drawn = sample.min(all - sample);
    let (less, more) = (good.min(bad), good.max(bad));
    let (p, q) = (less as f64 / all as f64, more as f64 / all as f64);
    let a = drawn as f64 * p + 0.5;
    let variance = (all - drawn) as f64 * drawn as f64 * p * q / (all - 1) as f64;
    let c = (variance + 0.5).sqrt();
    let h = 1.7155277699214135 * c + 0.8989161620588988;
    let m = floor((drawn + 1) as f64 * (less + 1) as f64 / (all + 2) as f64) as i64;
    let weight = |k: i64| {
        log_factorial(k)
            + log_factorial(less - k)
            + log_factorial(drawn - k)
            + log_factorial(more - drawn + k)
    };
    let g = weight(m);
    let b = ((drawn.min(less) + 1) as f64).min(floor(a + 16.0 * c));
    let mut k;
    loop {
        let (u, v) = (bits.f64(), bits.f64());
        let x = a + h * (v - 0.5) / u;
        if x < 0.0 || x >= b {
            continue;
        }
        k = floor(x) as i64;
        let t = g - weight(k);
        if u * (4.0 - u) - 3.0 <= t {
            break;
        }
        if u * (u - t) >= 1.0 {
            continue;
        }
        if 2.0 * u.ln() <= t {
            break;
        }
    }
    if good > bad {
        k = drawn - k;
    }
    if drawn < sample {
        k = good - k;
    }
    k
}
