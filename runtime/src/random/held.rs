//! Generators of Python in threads: each is held by one thread at a time.

use super::bits::Bits;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tierup_core::layout::BitSource;

/// Generators share these few locks. Each is held for a short while, and nobody takes two.
static LOCKS: [AtomicBool; 64] = [const { AtomicBool::new(false) }; 64];

/// In a forked child: what other threads of the parent held is free.
pub(super) fn after_fork() {
    for l in &LOCKS {
        l.store(false, Ordering::Release);
    }
}

/// How many runs of compiled code are under way without the interpreter's lock. Where there are none, that
/// lock keeps others from a generator.
static UNLOCKED: AtomicUsize = AtomicUsize::new(0);

/// Compiled code that runs without the interpreter's lock, or in several threads, for as long as this lives.
/// It is made before the lock is given up. (Loops of ufuncs and callbacks run without it too, but have no way
/// to a generator.)
pub struct Unlocked(());
impl Unlocked {
    pub fn begin() -> Unlocked {
        UNLOCKED.fetch_add(1, Ordering::SeqCst);
        Unlocked(())
    }
}
impl Drop for Unlocked {
    fn drop(&mut self) {
        UNLOCKED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether the interpreter's lock keeps all others from generators.
pub(super) fn is_locked() -> bool {
    UNLOCKED.load(Ordering::Relaxed) == 0
}

/// Bits of a generator, held by one thread at a time: threads that share a generator get their numbers in
/// some order, but whole ones.
pub(super) struct Held {
    bits: *const Bits,
    lock: Option<&'static AtomicBool>,
}

impl Held {
    /// # Safety
    /// `source` is live.
    pub(super) unsafe fn new(source: *mut BitSource) -> Held {
        // SAFETY: as required of the caller.
        let bits = unsafe { (*source).bits }.cast::<Bits>();
        if is_locked() {
            return Held { bits, lock: None };
        }
        let lock = &LOCKS[(bits as usize >> 4) % LOCKS.len()];
        while lock.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        Held { bits, lock: Some(lock) }
    }
}
impl std::ops::Deref for Held {
    type Target = Bits;
    fn deref(&self) -> &Bits {
        // SAFETY: NumPy's `bitgen_t` lives as long as its generator, which the source keeps alive.
        unsafe { &*self.bits }
    }
}
impl Drop for Held {
    fn drop(&mut self) {
        if let Some(l) = self.lock {
            l.store(false, Ordering::Release);
        }
    }
}
