//! Keeps the threads that work on one loop on processors of their own.
//!
//! A kernel often wakes a thread on the processor of whoever wakes it, and leaves it there to wait for some
//! milliseconds although another one is idle: a loop on two processors then takes as long as on one. So
//! before a thread is woken, or where it was last seen on the caller's processor, that one is taken from
//! those it may use. As soon as it runs it may use all of them again. On Linux only; elsewhere threads stay
//! where they are.

#[cfg(target_os = "linux")]
pub(crate) use linux::{Seat, here};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Seat, here};

#[cfg(target_os = "linux")]
mod linux {
    use libc::cpu_set_t;
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
    use std::sync::{Mutex, PoisonError};

    /// Where a thread of the pool was last seen, and where it may run.
    pub(crate) struct Seat {
        thread: libc::pid_t,
        /// A processor; -1 where it is not known.
        seen: AtomicI32,
        is_moved: AtomicBool,
        /// What it may use once it has moved.
        allowed: Mutex<Option<cpu_set_t>>,
    }

    /// The processor that this thread runs on; -1 where that is not known.
    pub(crate) fn here() -> i32 {
        // SAFETY: no conditions.
        unsafe { libc::sched_getcpu() }
    }

    fn processors(thread: libc::pid_t) -> Option<cpu_set_t> {
        // SAFETY: all zeros is the empty set, and the set has the size that is given.
        unsafe {
            let mut set: cpu_set_t = std::mem::zeroed();
            (libc::sched_getaffinity(thread, size_of::<cpu_set_t>(), &raw mut set) == 0).then_some(set)
        }
    }

    fn allow(thread: libc::pid_t, set: &cpu_set_t) -> bool {
        // SAFETY: the set has the size that is given; a thread that has ended is an error, which changes
        // nothing.
        unsafe { libc::sched_setaffinity(thread, size_of::<cpu_set_t>(), std::ptr::from_ref(set)) == 0 }
    }

    impl Seat {
        /// Of this thread.
        pub(crate) fn take() -> Seat {
            Seat {
                // SAFETY: the call has no conditions.
                thread: unsafe { libc::gettid() },
                seen: AtomicI32::new(here()),
                is_moved: AtomicBool::new(false),
                allowed: Mutex::new(None),
            }
        }

        /// By the seat's own thread: it runs here, and may run wherever it might before it was sent away.
        pub(crate) fn settle(&self) {
            if self.is_moved.load(Ordering::Acquire) {
                let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(set) = allowed.take() {
                    allow(0, &set);
                }
                self.is_moved.store(false, Ordering::Release);
            }
            self.seen.store(here(), Ordering::Relaxed);
        }

        /// Whether the thread was last seen on a processor.
        pub(crate) fn is_on(&self, processor: i32) -> bool {
            processor >= 0 && self.seen.load(Ordering::Relaxed) == processor
        }

        /// Sends the thread away from a processor, if it may use another.
        pub(crate) fn keep_off(&self, processor: i32) {
            let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(before) = allowed.or_else(|| processors(self.thread)) else { return };
            let mut without = before;
            // SAFETY: the processor is one that the set has room for.
            let has_others = processor >= 0
                && (processor as usize) < 8 * size_of::<cpu_set_t>()
                && unsafe {
                    let is_in = libc::CPU_ISSET(processor as usize, &before);
                    libc::CPU_CLR(processor as usize, &mut without);
                    is_in && libc::CPU_COUNT(&without) > 0
                };
            if !has_others || !allow(self.thread, &without) {
                return;
            }
            *allowed = Some(before);
            self.is_moved.store(true, Ordering::Release);
            self.seen.store(-1, Ordering::Relaxed);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_thread_leaves_a_processor_and_may_come_back() {
            let Some(before) = processors(0) else { return };
            let seat = Seat::take();
            // The kernel may move the test at any time.
            let at = seat.seen.load(Ordering::Relaxed);
            assert!(seat.is_on(at) && !seat.is_on(at + 1) && !seat.is_on(-1));
            seat.keep_off(at);
            seat.keep_off(at);
            // SAFETY: sets of their size.
            let (count, has_left) = unsafe {
                (libc::CPU_COUNT(&before), !libc::CPU_ISSET(at as usize, &processors(0).unwrap_or(before)))
            };
            assert_eq!(has_left, count > 1, "it leaves where it may run elsewhere");
            seat.settle();
            // SAFETY: sets of their size.
            assert!(processors(0).is_some_and(|now| unsafe { libc::CPU_EQUAL(&now, &before) }));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    /// Nothing is known of processors here.
    pub(crate) struct Seat;
    pub(crate) fn here() -> i32 {
        -1
    }
    impl Seat {
        pub(crate) fn take() -> Seat {
            Seat
        }
        pub(crate) fn settle(&self) {}
        pub(crate) fn is_on(&self, _processor: i32) -> bool {
            false
        }
        pub(crate) fn keep_off(&self, _processor: i32) {}
    }
}
