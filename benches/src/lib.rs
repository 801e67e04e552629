//! Tierup.
