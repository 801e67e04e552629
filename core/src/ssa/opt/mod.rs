//! Passes over SSA, one a file.

pub mod cleanup;
pub mod inline_closures;
pub mod promote_cells;
