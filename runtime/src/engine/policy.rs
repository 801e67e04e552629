//! When what is promoted.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// When what is promoted. `tierup.config` sets it; the table of variables in the documentation explains it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Nothing is promoted.
    pub off: bool,
    /// Calls from Python after which a unit is hot.
    pub calls: i64,
    /// Time in tier 0 after which a unit is hot.
    pub time: Duration,
    /// Running loops may go over.
    pub osr: Osr,
    /// In the background; else the caller that makes a unit hot waits for it.
    pub background: bool,
    /// Tier 1 from the first call on: the caller waits.
    pub eager: bool,
    pub threads: usize,
    /// Optimisation level of LLVM, 0 to 3.
    pub opt: u8,
}

/// Whether running loops go over to tier 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Osr {
    Off,
    On,
    /** At every point, at a turn chosen at random. */
    Stress,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            off: false,
            calls: 1_000,
            time: Duration::from_millis(2),
            osr: Osr::On,
            background: true,
            eager: false,
            threads: 1,
            opt: 3,
        }
    }
}

static POLICY: RwLock<Option<Policy>> = RwLock::new(None);

pub fn policy() -> Policy {
    POLICY.read().unwrap_or_else(PoisonError::into_inner).unwrap_or_default()
}
pub fn set_policy(p: Policy) {
    *POLICY.write().unwrap_or_else(PoisonError::into_inner) = Some(p);
}
