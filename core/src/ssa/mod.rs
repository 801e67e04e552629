//! SSA at Python's level: one data structure for untyped and typed code, told apart by [`Func::types`].
//!
//! [`func`] is the data structure, [`build`] makes it from bytecode, [`text`] prints it, [`parse`] reads it,
//! [`verify`] checks it, [`reads`] says what a function reads by index, [`registry`] keeps every function
//! that a type may name.

pub(crate) mod analysis;
pub mod build;
pub(crate) mod func;
pub(crate) mod loc;
pub(crate) mod loops;
pub mod names;
pub mod opt;
pub mod parse;
pub(crate) mod parts;
pub mod reads;
pub mod registry;
pub(crate) mod side;
pub(crate) mod text;
pub mod verify;

pub use crate::handle::FuncId;
pub use func::*;
pub use loc::Loc;
pub use parts::{PARTS, Parts};
pub(crate) use side::Joined;
