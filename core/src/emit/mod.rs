//! What emitters are written in: the function that is being lowered, and how values, arrays and chains of
//! elementwise operations become LIR.
//!
//! [`cx`] is what an emitter sees, [`platform`] what it asks of what the code runs on. [`cast`] converts
//! values, [`constants`] makes them, [`range`] walks ranges, [`generators`] resumes generators. [`view`] is
//! an array in LIR, [`arrays`] walks it, [`writing`] asks whether it may be written to and apart from what is
//! read, [`lazy`] computes chains of elementwise operations in one loop, [`blockwise`] a block of elements at
//! a time, [`chain_reduction`], [`lanes`] and [`axis_reduction`] reduce them. [`chunked_loops`] runs loops
//! over arrays in parallel, [`cut`] makes functions of them, [`locks`] guards lists that iterations share,
//! [`wrapper`] is how functions are entered from outside, [`same`] tells which values are the same before
//! there are passes.
//!
//! Operations ([`crate::ops`]) stand above this module, lowering ([`crate::lower`]), which asks their
//! emitters, above operations.

pub mod arrays;
pub mod axis_reduction;
pub mod blockwise;
pub mod cast;
pub mod chain_reduction;
pub mod chunked_loops;
pub mod chunks;
pub mod constants;
pub mod cut;
pub mod cx;
pub mod generators;
pub mod lanes;
pub mod lazy;
pub mod locks;
pub mod platform;
pub mod range;
pub mod same;
pub mod view;
pub mod wrapper;
pub mod writing;
