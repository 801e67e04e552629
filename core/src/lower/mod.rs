//! Typed SSA to LIR: aggregates exploded, checks, exceptions and ownership made explicit.

pub mod cx;
pub mod wrapper;
