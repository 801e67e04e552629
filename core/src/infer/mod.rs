//! Type inference: sparse, conditional, over instances (one function for one combination of argument types).
//!
//! [`cx`] is what a typing rule sees, [`session`] the fixed point over instances, [`solve`] one function, [`finish`] the typed result.

pub mod cx;
