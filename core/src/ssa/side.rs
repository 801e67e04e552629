//! Side tables: what a step of lowering finds out about a function's values and a later one reads. They are
//! empty before it has run, and no other pass keeps or asks them.

use super::{Loc, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The tables of one function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// From lowering a generator, for ownership and its resume function: it has something to do when it is
    /// dropped before its end.
    pub closes: bool,
    /// From ownership, for itself: composite results that are only taken apart, so that their members hold the
    /// references.
    pub destructured: HashSet<Value>,
    /// From fusion, for reports: what was put together in one pass over an array, by the result.
    pub joined: HashMap<Value, Vec<Joined>>,
}

impl Side {
    /// Values have got other numbers.
    pub(crate) fn renumber(&mut self, new: impl Fn(Value) -> Value) {
        self.destructured = self.destructured.iter().map(|v| new(*v)).collect();
        self.joined = self.joined.drain().map(|(v, joined)| (new(v), joined)).collect();
    }
}

/// An operation that is done together with others: its name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    pub name: Arc<str>,
    pub loc: Loc,
}
