//! Tierup.

pub mod decode;
