//! The shape of NumPy's tree of pairwise sums: how long lanes are divided.

/// Numbers of a lane that is not divided.
pub(crate) const BLOCK: isize = 128;

/// Half of a long lane, rounded down to a multiple of eight numbers.
pub(crate) fn half(n: isize) -> isize {
    n / 2 - n / 2 % 8
}
