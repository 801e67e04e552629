//! Functions that call themselves or each other, as [`super::families`] finds them.

use std::sync::Arc;

/// A definition: the instruction that makes the function, the local variable that names it.
pub(crate) struct Member {
    pub made: usize,
    pub local: usize,
}

/// Definitions in program order, and the variables that their functions capture, their own names left out.
pub(crate) struct Family {
    pub members: Vec<Member>,
    pub names: Vec<Arc<str>>,
}
