//! What the unit tests of the run-time share.

use crate::exc::take_pending;
use tierup_core::layout::ThreadCtx;
use tierup_core::rt::Ctx;

/// Runs `f` with a fresh context and checks that it leaves nothing pending.
pub(crate) fn with_ctx<T>(f: impl FnOnce(Ctx) -> T) -> T {
    let mut ctx = ThreadCtx::new();
    let result = f(&mut ctx);
    // SAFETY: the context is live.
    if let Some(e) = unsafe { take_pending(&mut ctx) } {
        panic!("left pending: {e:?}");
    }
    result
}

/// Calls a helper on objects and memory of the test.
macro_rules! call {
    ($helper:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the test passes its live context, live objects or null where the helper takes it, and
        // memory as long as it says.
        unsafe { Native::$helper($($arg),*) }
    };
}
pub(crate) use call;

/// Whether something is pending.
pub(crate) fn has_raised(ctx: Ctx) -> bool {
    // SAFETY: tests pass live contexts.
    unsafe { !(*ctx).pending.is_null() }
}

/// Class and text of an exception.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Raised {
    pub class: String,
    pub text: String,
}

impl Raised {
    pub(crate) fn new(class: &str, text: &str) -> Raised {
        Raised { class: class.into(), text: text.into() }
    }
    /// Takes what is pending.
    pub(crate) fn take(ctx: Ctx) -> Raised {
        // SAFETY: tests pass live contexts.
        let e = unsafe { take_pending(ctx) }.expect("nothing was raised");
        let c = e.class.exception().expect("a built-in class");
        Raised::new(c.name(), &e.message())
    }
}
