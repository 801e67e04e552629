//! Numbers that types hold in place of functions and operations. Types are interned for ever and stand below
//! both: they know neither what a function's body is nor which rows an operation has.

use crate::entity;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, RwLock};

/// An operation, by its place among the names of the table ([`crate::ops`]). It may have several rows:
/// `operator.add` means one thing for numbers and another for lists.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub(crate) u16);

entity!(/// A function in the registry ([`crate::ssa::registry`]).
    pub FuncId, "f");

static NAMES: LazyLock<RwLock<HashMap<FuncId, Arc<str>>>> = LazyLock::new(Default::default);

impl FuncId {
    /// The function's name for messages; its number where it is unknown or has died.
    pub fn name(self) -> String {
        let names = NAMES.read().unwrap_or_else(|e| e.into_inner());
        names.get(&self).map_or_else(|| self.to_string(), |name| name.to_string())
    }

    /// Says what the function is called, for the registry that keeps it.
    pub(crate) fn set_name(self, name: Arc<str>) {
        NAMES.write().unwrap_or_else(|e| e.into_inner()).insert(self, name);
    }

    pub(crate) fn forget_name(self) {
        NAMES.write().unwrap_or_else(|e| e.into_inner()).remove(&self);
    }
}
