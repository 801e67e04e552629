//! Values of arguments that code is made for, each in an overload of its own.

use super::{Core, Obj};
use crate::errors::Failure;
use crate::value;
use pyo3::prelude::*;
use tierup_core::ssa::{FuncId, registry};
use tierup_core::types::{Const, Kind, Type};

/// Overloads for values of arguments that are of the same types; further values share one.
const MOST: usize = 32;

#[expect(clippy::wildcard_enum_match_arm, reason = "values of any other type are too many, or change")]
fn has_values(t: Type) -> bool {
    match t.kind() {
        Kind::Int(_) | Kind::Bool | Kind::Str | Kind::None => true,
        Kind::Tuple(m) => m.iter().all(|t| has_values(*t)),
        _ => false,
    }
}

/// Whether a function, as it has been typed by now, wants values that it was not compiled for.
pub(super) fn wants_more(func: FuncId, types: &[Type], values: &[Option<Const>]) -> bool {
    let missing =
        |k: usize| types.get(k).is_some_and(|t| has_values(*t)) && values.get(k).is_none_or(Option::is_none);
    registry::specialised(func).is_some_and(|all| all.iter().any(|p| p.always && missing(p.param)))
}

impl Core {
    /// The values of the arguments that code is made for; empty for none.
    ///
    /// # Safety
    /// `args` points to a live object for each type.
    pub(super) unsafe fn values(
        &self,
        py: Python<'_>,
        args: *const Obj,
        types: &[Type],
    ) -> Result<Vec<Option<Const>>, Failure> {
        let func = match self.func_id(py) {
            Ok(func) => func,
            Err(Failure::Raised(e)) => return Err(e.into()),
            // What cannot be decoded says so when it is compiled.
            Err(Failure::Diagnostic(_)) => return Ok(vec![]),
        };
        let Some(params) = registry::specialised(func) else { return Ok(vec![]) };
        let mut all = vec![None; types.len()];
        let same = |x: &std::sync::Arc<crate::overload::Overload>| {
            *x.args == *types && !x.values.is_empty() && !x.parted()
        };
        let many = self.overloads().iter().filter(|x| same(x)).count() >= MOST;
        for p in params.iter().filter(|p| p.always || !many) {
            let Some(t) = types.get(p.param) else { continue };
            if has_values(*t) {
                // SAFETY: as required of the caller.
                let arg = unsafe { Bound::from_borrowed_ptr(py, *args.add(p.param)) };
                all[p.param] = value::constant(&arg)?;
            }
        }
        Ok(if all.iter().all(Option::is_none) { vec![] } else { all })
    }
}
