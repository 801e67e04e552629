//! What becomes of a panic in a helper, which is a bug of ours: a SystemError, at once where the helper may
//! raise, else when compiled code returns.

use crate::exc::{Error, Exc, take_pending};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use tierup_core::exc::Class;
use tierup_core::rt::Ctx;

/// Panics of helpers that cannot raise, not reported yet, in all threads.
static UNREPORTED: AtomicU32 = AtomicU32::new(0);
thread_local! { static HERE: Cell<*mut Exc> = const { Cell::new(std::ptr::null_mut()) }; }

/// Installed with the helpers' addresses, so before any of them runs.
pub(crate) fn report(ctx: Ctx, helper: &'static str, text: &str) {
    let e = Error::new(
        Class::SystemError,
        format!(
            "internal error: the run-time helper `{helper}` panicked: {text}; this is a bug in Tierup, please report it"
        ),
    );
    if !ctx.is_null() {
        // SAFETY: helpers that may raise are given the live context of this thread. What was pending is of no
        // use now.
        unsafe {
            drop(take_pending(ctx));
            e.raise(ctx);
        }
        return;
    }
    let earlier = HERE.replace(e.into_raw());
    if earlier.is_null() {
        UNREPORTED.fetch_add(1, Ordering::Relaxed);
    } else {
        // SAFETY: an owned exception that nobody else has.
        drop(unsafe { Error::from_raw(earlier) });
    }
}

/// The status that a call of compiled code is to have: its own, or the exception for a panic that could not
/// be raised at its place.
#[inline(always)]
pub fn settle(status: u64) -> u64 {
    if UNREPORTED.load(Ordering::Relaxed) == 0 { status } else { settle_slowly(status) }
}

#[cold]
fn settle_slowly(status: u64) -> u64 {
    let e = HERE.replace(std::ptr::null_mut());
    if e.is_null() {
        return status;
    }
    UNREPORTED.fetch_sub(1, Ordering::Relaxed);
    if status != 0 {
        // SAFETY: a status other than 0 is an owned exception, which this one replaces.
        drop(unsafe { Error::from_raw(status as usize as *mut Exc) });
    }
    e as u64
}

/// Helpers that panic, for tests of this file and of the boundary to Python.
impl tierup_core::ops::reveal::Helpers for crate::Native {
    unsafe fn test_panic(_: Ctx) {
        panic!("as the test asked")
    }
    unsafe fn test_panic_quietly() -> i64 {
        panic!("as the test asked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Raised, with_ctx};

    const TEXT: &str = "internal error: the run-time helper `test_panic` panicked: as the test asked; this is a bug in Tierup, please report it";

    #[test]
    fn a_panic_is_a_pending_system_error() {
        let before = crate::object::live();
        with_ctx(|ctx| {
            let shim = crate::helper_address(&tierup_core::ops::reveal::test_panic);
            // SAFETY: the address is that of the shim of this declaration.
            unsafe { (tierup_core::ops::reveal::test_panic.call)(shim, &[ctx as u64]) };
            assert_eq!(Raised::take(ctx), Raised::new("SystemError", TEXT));
        });
        assert_eq!(crate::object::live(), before);
    }

    #[test]
    fn a_panic_that_cannot_be_raised_waits_for_the_end_of_the_call() {
        let shim = crate::helper_address(&tierup_core::ops::reveal::test_panic_quietly);
        // SAFETY: as above.
        unsafe { (tierup_core::ops::reveal::test_panic_quietly.call)(shim, &[]) };
        // Another thread's calls are not disturbed.
        assert_eq!(std::thread::spawn(|| settle(0)).join().ok(), Some(0));
        let status = settle(0);
        assert_ne!(status, 0);
        // SAFETY: the status is an owned exception.
        let e = unsafe { Error::from_raw(status as usize as *mut Exc) };
        assert!(e.is_a(Class::SystemError));
        assert_eq!(settle(0), 0);
    }
}
