//! What a dispatcher's decorator says of the function beside options: its signatures, and the types of its
//! variables.
//!
//! It belongs to the function's identity in the compiler: with another decoration it is another function, so
//! compiled code that calls it, and values that hold it, keep to what is declared. The number of the
//! decoration tells them apart; code that depends on one guards it.

use crate::dispatcher::Core;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tierup_core::declare::{Conversion, Declared, Signature, conversion};
use tierup_core::types::Type;

/// What is said of one function.
#[derive(Clone, Default)]
pub(crate) struct Decoration {
    /// 0 where nothing is said: the function is then what it is without a decorator.
    pub id: u64,
    pub declared: Arc<Declared>,
    /// Variables with their types, as text.
    pub locals: Arc<[(Arc<str>, Arc<str>)]>,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Decoration {
    pub(crate) fn new(declared: Declared, locals: Arc<[(Arc<str>, Arc<str>)]>) -> Decoration {
        let nothing = declared == Declared::default() && locals.is_empty();
        let id = if nothing { 0 } else { NEXT.fetch_add(1, Ordering::Relaxed) };
        Decoration { id, declared: Arc::new(declared), locals }
    }
    /// Whether calls have to choose.
    pub(crate) fn declares(&self) -> bool {
        !self.declared.open || !self.declared.signatures.is_empty()
    }
}

/// Adds signatures; those of argument types that are declared or compiled already add nothing, as in Numba.
/// Gives the others.
pub(crate) fn add(core: &Core, signatures: Vec<(Vec<Type>, Option<Type>)>) -> Vec<Vec<Type>> {
    let before = core.decoration();
    let mut declared = (*before.declared).clone();
    let mut added = vec![];
    for (args, ret) in signatures {
        let known = declared.signatures.iter().any(|s| same(&s.args, &args))
            || core.overloads().iter().any(|o| !o.declared && same(&o.args, &args));
        if known {
            continue;
        }
        added.push(args.clone());
        declared.signatures.push(Signature { args, ret });
    }
    if !added.is_empty() {
        core.decorate(Decoration::new(declared, before.locals.clone()));
    }
    added
}

/// Takes other argument types than those that are declared, or not: what is compiled by then is declared as
/// well.
pub(crate) fn set_open(core: &Core, open: bool) {
    let before = core.decoration();
    if before.declared.open == open {
        return;
    }
    let mut declared = Declared { open, ..(*before.declared).clone() };
    for o in core.overloads().iter().filter(|_| !open) {
        if !declared.signatures.iter().any(|s| same(&s.args, &o.args)) {
            declared.signatures.push(Signature { args: o.args.to_vec(), ret: None });
        }
    }
    core.decorate(Decoration::new(declared, before.locals.clone()));
}

/// Whether types are the same to whoever declares them: Python's numbers have NumPy's types.
fn same(a: &[Type], b: &[Type]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| conversion(*x, *y) == Some(Conversion::Exact))
}

/// Declares nothing any more; types of variables stay.
pub(crate) fn forget(core: &Core) {
    core.decorate(Decoration::new(Declared::default(), core.decoration().locals));
}

/// Takes numbers only where they lose nothing.
pub(crate) fn set_careful(core: &Core) {
    let before = core.decoration();
    core.decorate(Decoration::new(
        Declared { careful: true, ..(*before.declared).clone() },
        before.locals.clone(),
    ));
}

/// Types of variables, by name.
pub(crate) fn locals_of(given: Option<Bound<'_, PyAny>>) -> PyResult<Arc<[(Arc<str>, Arc<str>)]>> {
    let all: Vec<(String, String)> = match &given {
        Some(g) => g.extract()?,
        None => vec![],
    };
    if let Some(g) = &given {
        for (_, ty) in &all {
            crate::texts::parse_type(g.py(), ty)?;
        }
    }
    Ok(all.into_iter().map(|(name, ty)| (Arc::from(name), Arc::from(ty))).collect())
}
