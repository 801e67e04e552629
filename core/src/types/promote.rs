//! Rules between types.
