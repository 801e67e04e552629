//! LIR: the low-level portable IR that every back end and the interpreter take.
//!
//! Start at [`inst`] (the table), then [`func`] (the data structure), then [`builder`].

pub mod builder;
pub mod cfg;
pub mod func;
pub mod inst;

pub use func::*;
pub use inst::{Op, Shape, eval};
