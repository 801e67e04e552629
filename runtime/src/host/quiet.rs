//! What the host offers that never raises, so that exceptions and locks can ask for it.

use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::rt::Ctx;

/// The part of what the host offers that cannot fail.
#[derive(Clone, Copy)]
pub struct Quiet {
    /// Drops a reference to a Python object.
    pub release: fn(*mut u8),
    /// Runs something that waits, without the lock that other threads may need (the GIL) if this one holds
    /// it.
    pub without_lock: fn(&mut dyn FnMut()),
    /// The context of a thread that is none of the host's.
    pub context: fn() -> Ctx,
}

const NATIVE: Quiet = Quiet {
    release: |_| {},
    without_lock: |body| body(),
    // Once for each thread, which lives for ever.
    context: || Box::into_raw(Box::default()),
};

static CURRENT: AtomicPtr<Quiet> = AtomicPtr::new(std::ptr::null_mut());

pub(super) fn set(quiet: Quiet) {
    // Leaked on purpose: see `set_callbacks`.
    CURRENT.store(Box::into_raw(Box::new(quiet)), Ordering::Release);
}

/// What is in force.
pub fn quiet() -> &'static Quiet {
    // SAFETY: null, or a pointer that `set` leaked.
    unsafe { CURRENT.load(Ordering::Acquire).as_ref() }.unwrap_or(&NATIVE)
}
