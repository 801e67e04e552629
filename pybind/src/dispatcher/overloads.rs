//! The overloads of a dispatcher: which there are, which are tried first, and when one may go.

use super::{Core, RECENT};
use crate::overload::Overload;
use crate::{ctx, identity};
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

/// Overloads of one dispatcher whose guards no longer hold; they may hold again (a global that is toggled),
/// but not all are kept.
const STALE: usize = 16;

impl Core {
    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Arc<Overload>>> {
        self.overloads.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Every overload, in the order of their making.
    pub(crate) fn overloads(&self) -> Vec<Arc<Overload>> {
        self.lock().clone()
    }
    /// Forgets every overload.
    pub(crate) fn clear(&self) {
        for r in &self.recent {
            r.store(std::ptr::null_mut(), Ordering::Release);
        }
        let gone = std::mem::take(&mut *self.lock());
        discard(gone);
        self.refused.clear();
        self.decorated.kept.clear();
    }
    /// Forgets one, whose arguments nobody can pass any more.
    pub(crate) fn forget(&self, gone: Arc<Overload>) {
        {
            let mut list = self.lock();
            let Some(at) = list.iter().position(|x| Arc::ptr_eq(x, &gone)) else { return };
            self.pass_over(&gone);
            list.remove(at);
        }
        discard(vec![gone]);
    }
    /// No longer tries an overload without a lock.
    fn pass_over(&self, o: &Arc<Overload>) {
        for r in self.recent.iter().filter(|r| std::ptr::eq(r.load(Ordering::Relaxed), Arc::as_ptr(o))) {
            r.store(std::ptr::null_mut(), Ordering::Release);
        }
    }

    /// Makes an overload one of those that are tried first, if it is still ours.
    pub(super) fn remember(&self, o: &Arc<Overload>) {
        if o.is_python() {
            return;
        }
        let list = self.lock();
        let p = Arc::as_ptr(o).cast_mut();
        if !list.iter().any(|x| Arc::ptr_eq(x, o))
            || self.recent.iter().any(|r| r.load(Ordering::Relaxed) == p)
        {
            return;
        }
        // An empty place, or the last one's: an overload that is used much stays where it is.
        let free = self
            .recent
            .iter()
            .find(|r| r.load(Ordering::Relaxed).is_null())
            .unwrap_or(&self.recent[RECENT - 1]);
        free.store(p, Ordering::Release);
    }

    /// Adds an overload, or finds the one that another thread has just made, and makes it the first to be
    /// tried.
    pub(crate) fn insert(&self, py: Python<'_>, o: Arc<Overload>) -> PyResult<Arc<Overload>> {
        self.end_with_objects(py, &o)?;
        let candidates = self.overloads();
        // Guards are checked outside the lock, though they run no Python code, because a concurrent `clear`
        // may drop what they hold.
        let (same, stale): (Vec<_>, Vec<_>) = candidates
            .iter()
            .filter(|x| {
                x.args == o.args
                    && x.values == o.values
                    && x.together == o.together
                    && x.alike == o.alike
                    && !x.parted()
            })
            .partition(|x| x.guards.hold());
        let chosen = same.first().map_or(o, |x| (*x).clone());
        let mut dropped = vec![];
        let mut list = self.lock();
        if !list.iter().any(|x| Arc::ptr_eq(x, &chosen)) {
            list.push(chosen.clone());
        }
        for old in stale.iter().take(stale.len().saturating_sub(STALE)) {
            let at = list.iter().position(|x| Arc::ptr_eq(x, old));
            if let Some(at) = at {
                self.pass_over(old);
                dropped.push(list.remove(at));
            }
        }
        self.mark_sole(&list);
        drop(list);
        self.remember(&chosen);
        drop(candidates);
        discard(dropped);
        Ok(chosen)
    }

    /// An overload for certain objects, a function that was passed for one, ends with them, and keeps none of
    /// them alive.
    fn end_with_objects(&self, py: Python<'_>, o: &Arc<Overload>) -> PyResult<()> {
        if o.objects.is_empty() {
            return Ok(());
        }
        let mut objects = o.objects.to_vec();
        objects.extend(o.guards.mortals(py)?);
        // SAFETY: a live object; the answer is a new reference, or null with an exception.
        let me = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyWeakref_NewRef(self.me, std::ptr::null_mut()))?
        };
        if identity::end_with(&objects, &me, o) {
            o.guards.loosen()
        } else {
            o.part()
        }
        Ok(())
    }
}

impl identity::Dependent for Overload {
    fn part(&self) {
        Overload::part(self)
    }
    fn leave(self: Arc<Self>, owner: &Bound<'_, PyAny>) {
        if let Some(core) = super::core(owner) {
            core.forget(self);
        }
    }
}

/// Overloads that were given up while code of some overload was running.
static GIVEN_UP: Mutex<Vec<Arc<Overload>>> = Mutex::new(vec![]);

/// Drops overloads, now or as soon as no compiled code runs: a thread may be in one of them. Without a GIL
/// one may also be about to enter, and nobody can tell, so there they stay.
fn discard(mut gone: Vec<Arc<Overload>>) {
    let mut waiting = GIVEN_UP.lock().unwrap_or_else(|e| e.into_inner());
    if ctx::idle() {
        gone.append(&mut waiting)
    } else {
        waiting.append(&mut gone)
    }
    drop(waiting);
    // Dropping guards may run destructors of the user's objects: no lock is held.
    drop(gone);
}
