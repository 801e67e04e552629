//! Which calls wait for what their arguments hold; see [`super::unknown`].

use crate::ssa::{FuncId, Inst};
use std::collections::HashSet;

type Calls = HashSet<(Inst, FuncId)>;

/// Calls that wait for what their arguments hold.
#[derive(Default)]
pub(crate) struct Waiting {
    pub(super) now: Calls,
    pub(super) ever: Calls,
    /// Nothing in the function says what these are given.
    pub(super) in_vain: Calls,
}

impl Waiting {
    /// The instruction is looked at again.
    pub(crate) fn forget(&mut self, i: Inst) {
        if !self.now.is_empty() {
            self.now.retain(|(at, _)| *at != i);
        }
    }

    /// The instruction calls nothing after all.
    pub(crate) fn never_mind(&mut self, i: Inst) {
        self.forget(i);
        self.ever.retain(|(at, _)| *at != i);
    }

    pub(crate) fn is_in_vain(&self, call: (Inst, FuncId)) -> bool {
        self.in_vain.contains(&call)
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = Inst> + '_ {
        self.now.iter().map(|(i, _)| *i)
    }

    /// Whether some call has waited that does not any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.ever.iter().any(|c| !self.now.contains(c) && !self.in_vain.contains(c))
    }

    /// Nothing more is going to be known. Whether that is news to any call.
    pub(super) fn give_up(&mut self) -> bool {
        let before = self.in_vain.len();
        self.in_vain.extend(&self.now);
        self.in_vain.len() > before
    }
}
