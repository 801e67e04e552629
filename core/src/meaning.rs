//! What numbers mean in a function.

/// The meaning of numbers, which is a function's own where it was decorated, and that of its caller else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// Python's and NumPy's: literals and Python's numbers take the width of what they meet.
    #[default]
    Python,
    /// Numba's: they are int64, float64 and complex128.
    Numba,
}
