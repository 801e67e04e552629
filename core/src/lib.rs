//! The Tierup compiler without Python, back ends or threads: bytecode → SSA → types → LIR.
//!
//! Start reading in the order of the pipeline: [`bytecode`], [`ssa`], [`infer`], [`lower`], [`lir`].
//! Operations live in [`ops`], what a helper may look like in [`rt`], heap layouts in [`layout`].

pub mod backend;
pub(crate) mod bitset;
pub mod bytecode;
pub mod classes;
pub mod cpu;
pub mod declare;
pub mod desc;
pub mod diag;
pub mod door;
pub mod draw;
pub mod elem;
pub mod emit;
pub(crate) mod entity;
pub mod exc;
pub(crate) mod graph;
pub mod grid;
pub(crate) mod handle;
pub mod host;
pub mod infer;
pub mod intern;
pub mod interp;
pub mod lapack;
pub mod layout;
pub mod lex;
pub mod lir;
pub mod lower;
pub mod math;
pub mod meaning;
pub mod opaque;
pub mod ops;
pub mod pass;
pub mod python;
pub mod rt;
pub mod source;
pub mod ssa;
pub mod types;
pub(crate) mod typing;
pub use typing::unions::type_of_mixed;
