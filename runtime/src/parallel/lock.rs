//! Locks for lists that iterations of a parallel loop share and change. There are few, shared by address, and
//! each is held for as long as one operation takes.
//!
//! Nobody who holds locks asks for more. Whoever waits for long lets go of the GIL, which the holder may
//! need: to print, for one.

use crate::host::quiet;
use std::sync::atomic::{AtomicBool, Ordering};
use tierup_core::rt::P;

/// One lock, alone in its cache line and the one that is fetched with it.
#[repr(align(128))]
struct Lock(AtomicBool);

const MANY: usize = 64;
static LOCKS: [Lock; MANY] = [const { Lock(AtomicBool::new(false)) }; MANY];
/// For the links of exceptions.
static LINKS: Lock = Lock(AtomicBool::new(false));

/// Rounds of looking before the GIL is let go.
const SPINS: u32 = 200;

fn of(list: P) -> usize {
    // Objects come from `malloc`, many of them of one size.
    let at = list as usize >> 4;
    (at ^ at >> 6 ^ at >> 12) % MANY
}

/// The locks of lists, in the order in which they are taken.
fn each(a: P, b: P, f: impl FnMut(usize)) {
    if a.is_null() {
        return (0..MANY).for_each(f);
    }
    let (a, b) = (of(a), if b.is_null() { of(a) } else { of(b) });
    if a == b { std::iter::once(a).for_each(f) } else { [a.min(b), a.max(b)].into_iter().for_each(f) }
}

pub(crate) fn take(a: P, b: P) {
    each(a, b, |k| LOCKS[k].take())
}
pub(crate) fn give(a: P, b: P) {
    each(a, b, |k| LOCKS[k].0.store(false, Ordering::Release))
}

/// Runs something short, while nobody else does that changes the links or the trail of an exception that
/// several threads hold.
pub(crate) fn exceptions<R>(f: impl FnOnce() -> R) -> R {
    LINKS.take();
    let result = f();
    LINKS.0.store(false, Ordering::Release);
    result
}

/// In a forked child: whoever held them is not there.
pub(crate) fn after_fork() {
    give(std::ptr::null_mut(), std::ptr::null_mut());
    LINKS.0.store(false, Ordering::Release);
}

impl Lock {
    fn free(&self) -> bool {
        !self.0.load(Ordering::Relaxed) && !self.0.swap(true, Ordering::Acquire)
    }

    #[inline]
    fn take(&self) {
        if self.0.swap(true, Ordering::Acquire) {
            self.wait()
        }
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..SPINS {
            if self.free() {
                return;
            }
            std::hint::spin_loop();
        }
        (quiet().without_lock)(&mut || {
            while !self.free() {
                std::thread::yield_now();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_exclude_each_other() {
        // Places that nobody looks at.
        let place = |k: usize| std::ptr::without_provenance_mut::<u8>(0x1000 + 16 * k);
        let count = std::sync::atomic::AtomicI64::new(0);
        std::thread::scope(|s| {
            for t in 0..4 {
                let count = &count;
                s.spawn(move || {
                    for k in 0..20_000 {
                        let (a, b) = match (k + t) % 3 {
                            0 => (place(0), place(k % 7)),
                            1 => (place(k % 5), place(0)),
                            _ => (std::ptr::null_mut(), std::ptr::null_mut()),
                        };
                        take(a, b);
                        let n = count.load(Ordering::Relaxed);
                        count.store(n + 1, Ordering::Relaxed);
                        give(a, b);
                    }
                });
            }
        });
        assert_eq!(count.load(Ordering::Relaxed), 80_000);
    }
}
