//! What was computed last, for loops that draw from one distribution again and again: logarithms and powers
//! of parameters take longer than a draw.

use std::cell::Cell;
use std::sync::LazyLock;
use std::thread::LocalKey;

/// Parameters and what comes of them; bits that no parameters have mean nothing yet.
pub(crate) type Last<const N: usize> = LocalKey<Cell<(u64, [f64; N])>>;

/// What `make` gives for `x`, remembered until another number comes.
#[inline]
pub(crate) fn remembered<const N: usize>(
    last: &'static Last<N>,
    x: f64,
    make: impl FnOnce() -> [f64; N],
) -> [f64; N] {
    let (bits, known) = last.get();
    if bits == x.to_bits() {
        return known;
    }
    let new = make();
    last.set((x.to_bits(), new));
    new
}

/// A place for [`remembered`]. No parameter is this NaN.
macro_rules! last { ($name:ident, $n:literal) => {
    thread_local! { static $name: std::cell::Cell<(u64, [f64; $n])> = const { std::cell::Cell::new((u64::MAX, [0.0; $n])) }; }
}; }
pub(crate) use last;

/// [`log_gamma`] of whole numbers.
pub(crate) fn log_gamma_of(n: i64) -> f64 {
    static FIRST: LazyLock<Vec<f64>> = LazyLock::new(|| (0..1024).map(|n| log_gamma(f64::from(n))).collect());
    match FIRST.get(n as usize) {
        Some(x) if n > 0 => *x,
        _beyond => log_gamma(n as f64),
    }
}

/// `ln Γ(x)` as these methods have it; not the one to ask for itself.
pub(crate) fn log_gamma(x: f64) -> f64 {
    const A: [f64; 10] = [
        8.333333333333333e-02,
        -2.777777777777778e-03,
        7.936507936507937e-04,
        -5.952380952380952e-04,
        8.417508417508418e-04,
        -1.917526917526918e-03,
        6.410256410256410e-03,
        -2.955065359477124e-02,
        1.796443723688307e-01,
        -1.39243221690590e+00,
    ];
    if x == 1.0 || x == 2.0 {
        return 0.0;
    }
    let n = if x < 7.0 { (7.0 - x) as i64 } else { 0 };
    let mut x0 = x + n as f64;
    let x2 = 1.0 / x0 * (1.0 / x0);
    let series = A[..9].iter().rev().fold(A[9], |s, a| s * x2 + a);
    let mut out = series / x0 + 0.5 * 1.8378770664093453 + (x0 - 0.5) * x0.ln() - x0;
    if x < 7.0 {
        for _ in 0..n {
            out -= (x0 - 1.0).ln();
            x0 -= 1.0;
        }
    }
    out
}
