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

pub(crate) mod adapt;
pub(crate) mod attribute;
pub(crate) mod bind;
pub(crate) mod call;
pub(crate) mod classes;
pub(crate) mod finish;
pub(crate) mod hints;
mod instances;
mod member;
pub(crate) mod origin;
mod pattern;
pub(crate) mod regions;
pub(crate) mod resolved;
pub(crate) mod rows;
pub mod session;
pub(crate) mod solve;
pub(crate) mod special;
mod spread;
pub mod state;
mod unknown;
mod waiting;
mod written;
