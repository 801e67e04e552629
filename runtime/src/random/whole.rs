//! Whole numbers of floats, as NumPy's generators make them.

/// As C converts on x86-64: what does not fit becomes the least integer.
pub(crate) fn to_int(x: f64) -> i64 {
    if x >= -9_223_372_036_854_775_808.0 && x < 9_223_372_036_854_775_808.0 { x as i64 } else { i64::MIN }
}

/// `x.floor()` but for the sign of zero. The processors that this is compiled for have no instruction for it.
#[inline]
pub(crate) fn floor(x: f64) -> f64 {
    if !(x.abs() < 4_503_599_627_370_496.0) {
        return x;
    }
    // SAFETY: less than 2^52.
    let t = unsafe { x.to_int_unchecked::<i64>() } as f64;
    if t > x { t - 1.0 } else { t }
}
