//! What classes have: methods, properties and special methods by name, and which class the values of a type
//! have.
//!
//! Nothing is listed here that the operation table says: a row whose path is `list.append` is what `list` has
//! under the name `append`. The tables are made of the rows once, at the first look-up. What a class of the
//! user's has, its host is asked ([`crate::infer::state::Session::member`]).

mod members;
mod of_type;
pub(crate) mod slots;

pub use members::{Member, known, names, object, object_of, path_of, setter, takes};
pub(crate) use of_type::{class_named, class_of, is_class};

#[cfg(test)]
mod tests;
