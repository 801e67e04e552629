//! For which types other compiled code calls a dispatcher's function. To Numba each of these is an overload, and
//! programs that run in its place find it among the signatures; code for it is part of the caller's.

use super::Core;
use crate::host::Call;
use crate::{functions, identity};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tierup_core::types::{Const, Type};

/// One call from compiled code.
#[derive(Clone, PartialEq)]
pub(crate) struct Called {
    pub args: Vec<Type>,
    pub values: Vec<Option<Const>>,
    pub ret: Type,
    /// How many overloads there were then.
    pub behind: usize,
}

/// Whether anybody asks.
static KEPT: AtomicBool = AtomicBool::new(false);

/// From now on calls are noted.
pub(crate) fn keep() {
    KEPT.store(true, Relaxed);
}

/// Whether they are.
pub(super) fn kept() -> bool {
    KEPT.load(Relaxed)
}

/// Notes which functions code calls, where they are those of dispatchers.
pub(super) fn note(py: Python<'_>, calls: Vec<Call>) {
    for (func, args, values, ret) in calls {
        let object = functions::object_of_id(func).and_then(|n| identity::object(py, n));
        let Some(core) = object.as_ref().and_then(super::core) else { continue };
        let behind = core.overloads().len();
        let mut all = core.called.lock().unwrap_or_else(|e| e.into_inner());
        if !all.iter().any(|c| c.args == args && c.values == values) {
            all.push(Called { args, values, ret, behind });
        }
    }
}

impl Core {
    /// Calls from compiled code, in their order.
    pub(crate) fn called(&self) -> Vec<Called> {
        self.called.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}
