//! How many threads parallel loops may use, and how many iterations a piece has. Both belong to the thread
//! that asks, as in Numba.

use crate::exc::{Error, Res};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that there may be in all.
static MOST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What this thread has set; 0 is the most there is.
    static THREADS: Cell<usize> = const { Cell::new(0) };
    static CHUNK: Cell<u64> = const { Cell::new(0) };
}

/// Threads that parallel loops may use at most.
pub(crate) fn most() -> usize {
    match MOST.load(Ordering::Relaxed) {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}
pub fn set_most(n: usize) {
    MOST.store(n.max(1), Ordering::Relaxed)
}

pub fn threads() -> usize {
    match THREADS.get() {
        0 => most(),
        n => n.min(most()),
    }
}
pub fn set_threads(n: i64) -> Res<()> {
    if n < 1 || n > most() as i64 {
        return Err(Error::value(format!("The number of threads must be between 1 and {}", most())));
    }
    THREADS.set(n as usize);
    Ok(())
}

/// Iterations in a piece; 0 for what is usual.
pub fn chunk() -> u64 {
    CHUNK.get()
}
/// Gives the one before.
pub fn set_chunk(n: i64) -> Res<i64> {
    if n < 0 {
        return Err(Error::value("chunksize must be greater than or equal to zero"));
    }
    Ok(CHUNK.replace(n as u64) as i64)
}

/// While this lives, loops of this thread have pieces of the usual size: those inside of a loop whose pieces
/// were chosen.
pub(crate) struct Usual(u64);
impl Usual {
    pub(crate) fn begin() -> Usual {
        Usual(CHUNK.replace(0))
    }
}
impl Drop for Usual {
    fn drop(&mut self) {
        CHUNK.set(self.0);
    }
}

/// The settings of a thread, for one that helps it.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    threads: usize,
    chunk: u64,
}

impl Settings {
    pub(crate) fn here() -> Settings {
        Settings { threads: THREADS.get(), chunk: CHUNK.get() }
    }
    /// Makes them this thread's; gives those before.
    pub(crate) fn enter(self) -> Settings {
        Settings { threads: THREADS.replace(self.threads), chunk: CHUNK.replace(self.chunk) }
    }
}
