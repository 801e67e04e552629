//! LIR: the low-level portable IR that every back end and the interpreter take.
//!
//! Start at [`inst`] (the table), then [`func`] (the data structure), [`text`], [`verify`], [`builder`];
//! [`crate::interp`] is the meaning.

pub mod builder;
pub mod canon;
pub mod cells;
pub mod cfg;
pub mod contract;
pub mod explain;
pub(crate) mod func;
pub mod grid;
pub mod grid_op;
pub mod half;
pub(crate) mod inst;
pub mod legalise;
pub mod opt;
pub mod osr;
pub mod parts;
mod places;
pub mod text;
pub(crate) mod ty;
pub mod verify;
pub mod watched;

pub use func::*;
pub(crate) use grid_op::GridOp;
pub use inst::{Op, Shape, eval, eval_lanes};
pub use text::parse_module;
pub use ty::{Ty, Vector};
pub use verify::{verify_func, verify_module};
