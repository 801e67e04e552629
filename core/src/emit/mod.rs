//! What emitters are written in: the function that is being lowered, and how values, arrays and chains of
//! elementwise operations become LIR.
//!
//! [`cx`] is what an emitter sees, [`platform`] what it asks of what the code runs on. [`cast`] converts
//! values, [`constants`] makes them, [`length`] and [`truth`] ask what every value answers, [`slice`] fits
//! slices, [`range`] walks ranges, [`generators`] resumes generators. [`view`] is an array in LIR, [`arrays`]
//! walks it, [`writing`] asks whether it may be written to and apart from what is read, [`lazy`] computes
//! chains of elementwise operations in one loop, [`blockwise`] a block of elements at a time,
//! [`chain_reduction`], [`lanes`] and [`axis_reduction`] reduce them. [`chunked_loops`] runs loops over
//! arrays in parallel, [`cut`] makes functions of them, [`locks`] guards lists that iterations share,
//! [`wrapper`] is how functions are entered from outside, [`same`] tells which values are the same before
//! there are passes.
//!
//! Operations ([`crate::ops`]) stand above this module, lowering ([`crate::lower`]), which asks their
//! emitters, above operations.

pub(crate) mod arrays;
pub(crate) mod axis_reduction;
pub mod blockwise;
pub(crate) mod byte;
pub(crate) mod cast;
pub(crate) mod chain_reduction;
pub(crate) mod chunked_loops;
pub(crate) mod chunks;
pub(crate) mod constants;
pub(crate) mod cut;
pub mod cx;
pub(crate) mod dates;
pub(crate) mod generators;
pub(crate) mod lanes;
pub(crate) mod lazy;
pub(crate) mod length;
pub(crate) mod locks;
pub mod platform;
pub(crate) mod range;
pub(crate) mod same;
pub(crate) mod serial_reduction;
pub(crate) mod slice;
pub(crate) mod truth;
pub(crate) mod vector;
pub(crate) mod view;
pub mod wrapper;
pub(crate) mod writing;
