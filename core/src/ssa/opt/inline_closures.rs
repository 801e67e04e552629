//! Inlines calls of functions made in this very function.

use crate::ssa::Func;

/// Whether anything was inlined.
pub fn run(_func: &mut Func) -> bool { false }
