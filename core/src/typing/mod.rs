//! What typing rules are written in: operands and answers, type variables, and how types meet.
//!
//! Operations ([`crate::ops`]) stand above this module, inference ([`crate::infer`]), which asks their rules,
//! above operations.

pub mod cx;
pub mod refusal;
pub mod unify;
pub mod vars;

pub use cx::{Answer, Arg, Held, TyCx};
pub use refusal::{no_match, no_match_named};
