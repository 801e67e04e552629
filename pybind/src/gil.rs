//! Who has the GIL: threads that have it without PyO3's knowledge, those that lost it, and code that runs
//! without it.

use crate::ctx;
use pyo3::ffi;
use pyo3::prelude::*;
use tierup_runtime::random::held::Unlocked;

/// Runs `body` on a thread that Python has attached already. PyO3 must know that it is, or it puts off
/// dropping references; while the interpreter shuts down it refuses to, and then they are put off.
pub(crate) fn attached<R>(body: impl FnOnce(Python<'_>) -> R) -> R {
    let _regained = Regained::now();
    let mut body = Some(body);
    let answer = Python::try_attach(|py| body.take().map(|b| b(py))).flatten();
    match (answer, body) {
        (Some(r), _) => r,
        // SAFETY: as the caller says.
        (None, Some(b)) => b(unsafe { Python::assume_attached() }),
        (None, None) => unreachable!("the body ran, and gave its answer"),
    }
}

/// Callbacks answer without Python when the interpreter is gone.
pub(crate) fn with_python<R>(otherwise: R, body: impl FnOnce(Python<'_>) -> R) -> R {
    let _regained = Regained::now();
    Python::try_attach(body).unwrap_or(otherwise)
}

/// Holds the GIL where it was lost, until it is dropped.
pub(crate) struct Regained(Option<ffi::PyGILState_STATE>);

impl Regained {
    pub(crate) fn now() -> Regained {
        // SAFETY: the thread has a Python thread state, and lost the GIL by NumPy's hand.
        Regained(ctx::set_lost(false).then(|| unsafe { ffi::PyGILState_Ensure() }))
    }
}
impl Drop for Regained {
    fn drop(&mut self) {
        let Some(state) = self.0.take() else { return };
        // SAFETY: the other half of `now`.
        unsafe { ffi::PyGILState_Release(state) };
        ctx::set_lost(true);
    }
}

/// Runs `body` without the GIL. PyO3 must know, for callbacks take it again when they need it.
///
/// # Safety
/// The thread is attached.
pub(crate) unsafe fn without_gil<R>(body: impl FnOnce() -> R) -> R {
    struct Here<T>(T);
    // SAFETY: body and answer stay on this thread.
    unsafe impl<T> Send for Here<T> {}
    let body = Here(body);
    let _unlocked = Unlocked::begin();
    // SAFETY: as required of the caller.
    let py = unsafe { Python::assume_attached() };
    py.detach(move || {
        let body = { body }.0;
        Here(body())
    })
    .0
}
