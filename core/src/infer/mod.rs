//! Type inference: sparse, conditional, over instances (one function for one combination of argument types).
//!
//! [`state`] is what is known of instances and of the function at hand. [`session`] is the fixed point over
//! instances, [`solve`] types one function, [`rows`] an operation by the rows of the table, [`adapt`] makes
//! calls fit these, [`call`] resolves what is called ([`resolved`]), [`bind`] binds arguments, [`attribute`]
//! takes attributes, [`member`] looks up what classes have, [`regions`] types
//! parallel loops, [`pattern`] class patterns, [`origin`] says where a value comes from, [`special`] asks
//! classes of named tuples for methods of their own, [`finish`] writes the typed function down. What is not
//! known yet, and how it comes to be known, is in [`crate::typing`]; what is done until then, in [`unknown`] and
//! [`waiting`].

pub mod adapt;
pub mod attribute;
pub mod bind;
pub mod call;
pub mod classes;
pub mod finish;
pub mod hints;
mod member;
pub mod origin;
mod pattern;
pub mod regions;
pub mod resolved;
pub mod rows;
pub mod session;
pub mod solve;
pub mod special;
pub mod state;
mod unknown;
mod waiting;
