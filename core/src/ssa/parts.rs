//! Which kinds of code `parallel=` makes parallel: all of them, or those that a dictionary names.

/// The kinds by the names that the dictionary has for them, as in Numba, and behind them what no dictionary says;
/// the place is the bit.
pub const PARTS: [&str; 11] = [
    "prange",
    "numpy",
    "inplace_binop",
    "setitem",
    "reduction",
    "comprehension",
    "stencil",
    "fusion",
    "hoisting",
    "init_prange",
    "lenient",
];

/// Bits of [`PARTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Parts(pub u16);

impl Parts {
    pub const NONE: Parts = Parts(0);
    /// Loops over `prange`.
    pub(crate) const PRANGE: Parts = Parts(1);
    /// Array expressions, NumPy's functions, fills.
    pub(crate) const NUMPY: Parts = Parts(1 << 1);
    /// Augmented assignment to arrays.
    pub(crate) const INPLACE: Parts = Parts(1 << 2);
    /// Assignment to slices and masks.
    pub(crate) const SETITEM: Parts = Parts(1 << 3);
    pub(crate) const REDUCTION: Parts = Parts(1 << 4);
    pub(crate) const COMPREHENSION: Parts = Parts(1 << 5);
    pub(crate) const STENCIL: Parts = Parts(1 << 6);
    /// Neighbouring regions become one.
    pub(crate) const FUSION: Parts = Parts(1 << 7);
    /// No kind of code: iterations may all write to one element, as in Numba, which has one of their values then.
    pub(crate) const LENIENT: Parts = Parts(1 << 10);

    /// What a function of the library runs in parallel for one that asks for these parts: its loops over
    /// `prange` are a stencil's, or what a function of NumPy does.
    pub(crate) fn of_library(self, stencil: bool) -> Parts {
        let loops = self.has(if stencil { Parts::STENCIL } else { Parts::NUMPY });
        Parts(self.0 & !Parts::PRANGE.0 | if loops { Parts::PRANGE.0 } else { 0 })
    }

    pub fn any(self) -> bool {
        self.0 != 0
    }
    pub(crate) fn has(self, part: Parts) -> bool {
        self.0 & part.0 != 0
    }
}
