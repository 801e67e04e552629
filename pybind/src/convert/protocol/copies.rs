//! Python objects that were copied in for a call: which native object stands for which of Python's, and the
//! way back. One Python object is one native object, however often it occurs. After the call what compiled
//! code changed is written back, part by part, so that what was not changed keeps its identity; how, knows
//! the file of the constructor ([`Convert::write_back`]).
//!
//! A generator outlives the call that made it, and keeps its copies. Where its code changes any, both sides
//! are kept alike whenever it is resumed and whenever it yields.

use super::{BoxCx, Convert, Obj};
use pyo3::ffi;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;
use tierup_core::layout::Obj as Native;
use tierup_core::ops::dict::is_own_key;
use tierup_core::types::Type;
use tierup_runtime::object::release;

/// One object that is on both sides.
pub(crate) struct Copied {
    /// Both with a reference.
    pub source: Obj,
    pub native: *mut Native,
    pub ty: Type,
    /// What the native object held when both sides were alike. Not all bytes of a value mean something.
    pub before: RefCell<Vec<MaybeUninit<u8>>>,
    /// The parts of the source then, each with a reference, where somebody looks for changes there.
    pub seen: RefCell<Option<Vec<Obj>>>,
    /// Converts between the two. It belongs to the overload that was called.
    pub(super) by: *const dyn Convert,
}

impl Drop for Copied {
    fn drop(&mut self) {
        self.see(None);
        // SAFETY: both references are given up once; frames and generators are dropped by threads that are
        // attached.
        unsafe {
            release(self.native);
            ffi::Py_DECREF(self.source);
        }
    }
}

impl Copied {
    /// Keeps the parts of the source, each given with a reference, to compare with.
    pub(crate) fn see(&self, parts: Option<Vec<Obj>>) {
        for o in self.seen.replace(parts).into_iter().flatten() {
            // SAFETY: a reference that was kept.
            unsafe { ffi::Py_DECREF(o) };
        }
    }
}

/// More of them are found by a table.
pub(super) const FEW: usize = 8;

/// Whether what is in a dict or set is found by methods of objects.
fn finds_by_methods(t: Type) -> bool {
    t.container().is_some_and(|(_, m)| m.first().is_some_and(|key| is_own_key(*key)))
}

#[derive(Default)]
pub(crate) struct Copies {
    all: Vec<Copied>,
    /// By the address of either side, which live as long as this; where there are more than a few.
    table: FxHashMap<usize, usize>,
    /// Whether something is found in one of them by methods of objects.
    by_methods: bool,
}

impl Copies {
    pub(crate) fn get(&self, at: usize) -> Option<&Copied> {
        self.all.get(at)
    }

    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    fn position(&self, address: usize) -> Option<usize> {
        if self.all.len() <= FEW {
            return self
                .all
                .iter()
                .position(|c| c.source as usize == address || c.native as usize == address);
        }
        self.table.get(&address).copied()
    }
    /// The copy of a Python object.
    pub(crate) fn of(&self, source: Obj) -> Option<&Copied> {
        self.position(source as usize).map(|k| &self.all[k])
    }
    /// The Python object that a native one is a copy of.
    pub(crate) fn source_of(&self, native: *mut Native) -> Option<Obj> {
        self.position(native as usize).map(|k| self.all[k].source)
    }

    /// Remembers a copy; its place.
    ///
    /// # Safety
    /// Both sides are given with a reference, which is taken over; `by` lives as long as the overload that is
    /// called.
    pub(crate) unsafe fn add(
        &mut self,
        source: Obj,
        native: *mut Native,
        ty: Type,
        by: *const dyn Convert,
    ) -> usize {
        let at = self.all.len();
        let (before, seen) = Default::default();
        self.by_methods |= finds_by_methods(ty);
        self.all.push(Copied { source, native, ty, before, seen, by });
        match at {
            0..FEW => {}
            FEW => self.index(0),
            _ => self.index(at),
        }
        at
    }
    fn index(&mut self, from: usize) {
        for (k, c) in self.all.iter().enumerate().skip(from) {
            self.table.insert(c.source as usize, k);
            self.table.insert(c.native as usize, k);
        }
    }
    /// Forgets all from `at` on.
    pub(crate) fn truncate(&mut self, at: usize) {
        self.table.retain(|_, k| *k < at);
        drop(self.all.split_off(at.min(self.all.len())));
    }

    /// Writes what compiled code changed into the sources. False means that a Python exception is set.
    ///
    /// # Safety
    /// Compiled code does not run, the frame of its call is intact, and the thread is attached.
    pub(crate) unsafe fn write_back(&self, cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller; whoever converts is alive.
        unsafe {
            if !self.by_methods {
                return self.all.iter().all(|c| (*c.by).write_back(c, cx));
            }
            if !self.all.iter().all(|c| (*c.by).write_found(c, cx)) {
                return false;
            }
            // What is there is found by what objects were, what is put in by what they are.
            let mut those = |by_methods: bool| {
                let mut each = self.all.iter().filter(|c| finds_by_methods(c.ty) == by_methods);
                each.all(|c| (*c.by).write_back(c, cx))
            };
            those(false) && those(true)
        }
    }

    /// Remembers what both sides hold, which are alike.
    ///
    /// # Safety
    /// As for [`Copies::write_back`].
    pub(crate) unsafe fn follow(&self) {
        // SAFETY: as required of the caller.
        self.all.iter().for_each(|c| unsafe { (*c.by).follow(c) });
    }

    /// Follows what was made for Python of native objects that live on, and forgets those that nobody else
    /// has any more.
    ///
    /// # Safety
    /// As for [`Copies::write_back`]; both sides of what was made are given with a reference, which is taken
    /// over.
    pub(crate) unsafe fn adopt(&mut self, made: Vec<Made>) {
        for m in made {
            // SAFETY: as required of the caller.
            unsafe {
                let at = self.add(m.object, m.native, m.ty, m.by);
                (*m.by).follow(&self.all[at]);
            }
        }
        // SAFETY: this has a reference to each.
        let alone = |c: &Copied| unsafe { (*c.native).refs.load(Ordering::Relaxed) == 1 };
        if self.all.iter().any(alone) {
            let all = std::mem::take(&mut self.all);
            self.table.clear();
            let (gone, kept) = all.into_iter().partition(alone);
            self.all = kept;
            if self.all.len() > FEW {
                self.index(0);
            }
            drop::<Vec<_>>(gone);
        }
    }
}

/// A Python object that was made for a native one.
pub(crate) struct Made {
    pub native: *mut Native,
    pub object: Obj,
    pub ty: Type,
    pub by: *const dyn Convert,
}
