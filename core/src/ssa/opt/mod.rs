//! Passes over SSA, one a file.

pub mod cleanup;
pub mod inline_closures;
pub mod narrow;
pub mod promote_cells;
