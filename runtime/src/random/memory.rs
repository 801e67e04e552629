//! What was computed last, for loops that draw from one distribution again and again: logarithms and powers
//! of parameters take longer than a draw.

use std::cell::Cell;
use std::sync::LazyLock;
use std::thread::LocalKey;

/// Parameters and what comes of them; bits that no parameters have mean nothing yet.
pub type Last<const N: usize> = LocalKey<Cell<(u64, [f64; N])>>;

/// What `make` gives for `x`, remembered until another number comes.
#[inline]
pub fn remembered<const N: usize>(
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

/// [`super::discrete::log_gamma`] of whole numbers.
pub fn log_gamma_of(n: i64) -> f64 {
    static FIRST: LazyLock<Vec<f64>> =
        LazyLock::new(|| (0..1024).map(|n| super::discrete::log_gamma(f64::from(n))).collect());
    match FIRST.get(n as usize) {
        Some(x) if n > 0 => *x,
        _beyond => super::discrete::log_gamma(n as f64),
    }
}
