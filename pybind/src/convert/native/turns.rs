//! Calls that are given objects in native memory which refer to others take turns: compiled code keeps what it has
//! read of them, and threads run beside it wherever it polls, or all the time without the GIL. Who may change
//! such objects has all of them alone, readers share them; the others wait, detached. Where Python itself looks
//! into such an object it takes a turn for as long as that takes.
//!
//! A thread that has a turn runs Python code now and then: a signal handler, what prints. It may look, but change
//! nothing under compiled code that only reads: that is a RuntimeError, as waiting would have no end.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many threads read, or [`CHANGER`] where one changes. A word and no lock: a fork copies it whole.
static TAKEN: AtomicUsize = AtomicUsize::new(0);
const CHANGER: usize = 1 << (usize::BITS - 1);
/// How long a thread waits before it looks again. Few ever wait.
const PAUSE: Duration = Duration::from_micros(50);

thread_local! {
    /// How many turns this thread has, one inside the other, and whether the outermost one may change objects.
    static MINE: Cell<(usize, bool)> = const { Cell::new((0, false)) };
}

fn take(changes: bool) -> bool {
    let next = |now: usize| match changes {
        true => (now == 0).then_some(CHANGER),
        false => (now & CHANGER == 0).then_some(now + 1),
    };
    TAKEN.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).is_ok()
}

/// A turn of this thread, until it is dropped.
#[must_use]
pub(crate) struct Turn(());

impl Turn {
    /// Waits for a turn. An error where this thread has one that forbids it.
    pub(crate) fn begin(py: Python<'_>, changes: bool) -> PyResult<Turn> {
        let (depth, may_change) = MINE.get();
        if depth > 0 {
            if changes && !may_change {
                return Err(in_use());
            }
            MINE.set((depth + 1, may_change));
            return Ok(Turn(()));
        }
        while !take(changes) {
            // Whoever waits can be interrupted.
            py.check_signals()?;
            py.detach(|| std::thread::sleep(PAUSE));
        }
        MINE.set((1, changes));
        Ok(Turn(()))
    }

    /// A turn for Python code that looks into an object itself, or changes it; none where nobody has one that it
    /// could disturb, and nobody can get one before it is done.
    pub(crate) fn of_python(py: Python<'_>, changes: bool) -> PyResult<Option<Turn>> {
        if !cfg!(Py_GIL_DISABLED) && TAKEN.load(Ordering::Acquire) == 0 {
            return Ok(None);
        }
        match MINE.get() {
            (0, _) => Turn::begin(py, changes).map(Some),
            // Compiled code of this thread is on its way.
            (_, true) => Err(in_use()),
            (_, false) if changes => Err(in_use()),
            (_, false) => Ok(None),
        }
    }
}

fn in_use() -> PyErr {
    PyRuntimeError::new_err("the object is in use: compiled code that was given it is running")
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (depth, changes) = MINE.get();
        MINE.set((depth - 1, changes));
        if depth > 1 {
            return;
        }
        if changes {
            TAKEN.store(0, Ordering::Release);
        } else {
            TAKEN.fetch_sub(1, Ordering::Release);
        }
    }
}

/// In the child of a fork only this thread is left.
pub(crate) fn after_fork() {
    let (depth, changes) = MINE.get();
    TAKEN.store(
        if depth == 0 {
            0
        } else if changes {
            CHANGER
        } else {
            1
        },
        Ordering::Release,
    );
}
