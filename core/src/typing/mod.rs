//! What typing rules are written in: operands and answers, type variables, and how types meet.
//!
//! Operations ([`crate::ops`]) stand above this module, inference ([`crate::infer`]), which asks their rules,
//! above operations.

pub(crate) mod channels;
pub(crate) mod cx;
pub(crate) mod refusal;
mod resumed;
pub(crate) mod unify;
pub(crate) mod unions;
pub(crate) mod vars;

pub(crate) use cx::{Answer, Arg, Held, TyCx};
pub(crate) use refusal::{no_match, no_match_named};
