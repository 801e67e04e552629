//! Signatures of a function, declared when it is decorated and later.

use super::Core;
use crate::decorated::Decoration;
use crate::overload::Overload;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tierup_core::declare::{Conversion, Declared, Signature, conversion};
use tierup_core::types::Type;

impl Core {
    /// Declares something else. What was compiled for the old declarations stays, and is good for calls that
    /// are under way.
    pub(crate) fn decorate(&self, decoration: Decoration) {
        self.decorated.decorate(decoration);
        let list = self.lock();
        self.mark_sole(&list);
    }
    pub(super) fn mark_sole(&self, list: &[Arc<Overload>]) {
        let d = self.decorated.decoration().declared;
        for o in list {
            o.sole.store(!d.open && d.signatures.len() == 1 && o.declared, Ordering::Relaxed);
        }
    }

    /// Adds signatures; those of argument types that are declared or compiled already add nothing, as in
    /// Numba. Gives the others.
    pub(crate) fn declare(&self, signatures: Vec<(Vec<Type>, Option<Type>)>) -> Vec<Vec<Type>> {
        let before = self.decorated.decoration();
        let mut declared = (*before.declared).clone();
        let mut added = vec![];
        for (args, ret) in signatures {
            let known = declared.signatures.iter().any(|s| same(&s.args, &args))
                || self.overloads().iter().any(|o| !o.declared && same(&o.args, &args));
            if known {
                continue;
            }
            added.push(args.clone());
            declared.signatures.push(Signature { args, ret });
        }
        if !added.is_empty() {
            self.declare_as(&before, declared);
        }
        added
    }

    /// Declares something else; the rest stays as it was.
    fn declare_as(&self, before: &Decoration, declared: Declared) {
        let new = Decoration::new(declared, before.locals.clone(), before.specialised.clone());
        self.decorate(if before.checked { new.checked(before.result) } else { new });
    }

    /// Takes other argument types than those that are declared, or not: what is compiled by then is declared
    /// as well.
    pub(crate) fn set_open(&self, open: bool) {
        let before = self.decorated.decoration();
        if before.declared.open == open {
            return;
        }
        let mut declared = Declared { open, ..(*before.declared).clone() };
        // Those for values are found by these.
        for o in self.overloads().iter().filter(|o| !open && o.values.is_empty()) {
            if !declared.signatures.iter().any(|s| same(&s.args, &o.args)) {
                declared.signatures.push(Signature { args: o.args.to_vec(), ret: None });
            }
        }
        self.declare_as(&before, declared);
    }

    /// Declares nothing any more; types of variables stay.
    pub(crate) fn declare_nothing(&self) {
        self.declare_as(&self.decorated.decoration(), Declared::default());
    }

    /// Takes numbers only where they lose nothing.
    pub(crate) fn set_careful(&self) {
        let before = self.decorated.decoration();
        self.declare_as(&before, Declared { careful: true, ..(*before.declared).clone() });
    }
}

/// Whether types are the same to whoever declares them: Python's numbers have NumPy's types.
fn same(a: &[Type], b: &[Type]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| conversion(*x, *y) == Some(Conversion::Exact))
}
