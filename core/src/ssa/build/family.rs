//! Functions that call themselves or each other, as [`super::families`] finds them.

use std::sync::Arc;

/// A definition: the instruction that makes the function, the local variable that names it, and what remembers its
/// results, if `functools.cache` or `lru_cache` decorates it.
pub(crate) struct Member {
    pub made: usize,
    pub local: usize,
    pub memory: Option<Memory>,
}

/// How many results are remembered: the last ones, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    All,
    Last(i64),
}

/// Definitions in program order, and the variables that their functions capture, their own names left out.
pub(crate) struct Family {
    pub members: Vec<Member>,
    pub names: Vec<Arc<str>>,
}
