//! What names mean before anything is typed: the host is asked.

use crate::ops::OpId;
use crate::types::Type;

/// Where a chain of attributes begins.
pub enum Root<'a> {
    Global(&'a str),
    /** A captured variable of the function. */
    Free(u32),
    /** A module that the function imports itself. */
    Import(&'a str),
}

/// What a name means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Operation(OpId),
    /** A scalar type, which converts. */
    Cast(Type),
    Module,
}

/// What the host knows of names while a function is read.
pub trait Names {
    /// What `root.attribute.attribute` means, whatever it is called: `prange`, `np.sqrt`, `len`. Attributes
    /// of anything but modules are not asked for, as that may run code.
    fn meaning(&self, root: Root<'_>, attributes: &[&str]) -> Option<Meaning>;
}

/// Names of builtins mean these; of all others nothing is known.
pub struct Builtins;

impl Names for Builtins {
    fn meaning(&self, root: Root<'_>, attributes: &[&str]) -> Option<Meaning> {
        match (root, attributes) {
            (Root::Global(name), []) => OpId::find(&format!("builtins.{name}")).map(Meaning::Operation),
            (Root::Global(_) | Root::Free(_) | Root::Import(_), _) => None,
        }
    }
}
