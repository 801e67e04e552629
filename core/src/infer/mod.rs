//! Type inference: sparse, conditional, over instances (one function for one combination of argument types).
//!
//! [`state`] is what is known of instances and of the function at hand. [`session`] is the fixed point over
//! instances, [`solve`] types one function, [`rows`] an operation by the rows of the table, [`adapt`] makes
//! calls fit these, [`unrolled`] has loops written out, [`displays`] keeps a type for each value of a dict that
//! is written out, [`results`] joins what a function gives, [`rests`] asks whether the rest of a tuple is seen to be no list, [`numba`] has numbers mean what they mean to Numba, [`call`] resolves what is called ([`resolved`]),
//! [`choice`] what types choose, [`overloads`] asks a program's own typing functions, [`bind`] binds arguments, [`attribute`] takes attributes, [`member`] looks
//! up what classes have, [`regions`] types parallel loops and tasks, [`moved`] looks for uses of what was moved, [`pattern`] class patterns, [`raised`] finds calls that always raise, [`type_expressions`]
//! what stands between the brackets behind a class, [`origin`] says where a value comes from, [`special`]
//! asks classes of named tuples for methods of their own, [`traces`] whether one does more than give its answer, [`finish`] writes the typed function down. What is
//! not known yet, and how it comes to be known, is in [`crate::typing`]; what is done until then, in
//! [`unknown`] and [`waiting`].

pub(crate) mod adapt;
mod answers;
pub(crate) mod attribute;
pub(crate) mod beneath;
mod bind;
pub(crate) mod call;
mod channels;
mod choice;
pub(crate) mod classes;
mod displays;
pub(crate) mod finish;
pub mod generator_ids;
pub(crate) mod globals;
mod growing;
pub(crate) mod hints;
mod instances;
mod member;
pub(crate) mod moved;
mod narrow;
mod numba;
mod objects;
pub(crate) mod origin;
mod overloads;
mod pattern;
mod raised;
pub(crate) mod regions;
pub(crate) mod resolved;
mod rests;
mod results;
pub(crate) mod rows;
mod said;
pub mod session;
mod set_before_read;
pub(crate) mod solve;
pub(crate) mod special;
mod spread;
pub mod state;
mod traces;
mod type_expressions;
mod unknown;
mod unrolled;
mod waiting;
mod written;
