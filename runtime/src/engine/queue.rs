//! What waits to be compiled by tier 1, and the threads that do it.
//!
//! Compile threads hold no GIL and touch no Python object. There are two queues: what somebody is waiting for
//! in tier 0 comes [`Class::Soon`], hottest first; what only makes the next call or the next process faster
//! may come [`Class::Later`].
//!
//! Where there is one processor, compiling takes time from what runs, so its threads run beside it at low
//! priority rather than after a delay: with a fifth of the processor a program that ends soon is never slowed
//! down by more than a quarter. One that has gone on for two thirds of what its compilation takes will
//! probably go on for long, and then waits for it ([`wait`]): whatever it does meanwhile it would do faster
//! afterwards.

use super::policy::policy;
use super::trace;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

/// Something to compile.
pub(super) trait Job: Send {
    /// Whether it is still wanted.
    fn is_alive(&self) -> bool;
    fn run(&self);
}

/// How urgent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Soon,
    Later,
}

/// What is added to the niceness of a compile thread where there is one processor: about 21 % and 1.5 % of it
/// beside a thread that runs all the time.
fn niceness(class: Class) -> i32 {
    match class {
        Class::Soon => 6,
        Class::Later => 19,
    }
}

/// The control group allows one processor. A compile thread finds out, since it takes reading files.
static ONE_ALLOWED: AtomicBool = AtomicBool::new(false);

/// Whether this process may run on one processor only.
pub(super) fn alone() -> bool {
    #[cfg(target_os = "linux")]
    let one = {
        // SAFETY: all zeros is a set, and the call fills it.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) == 0
                && libc::CPU_COUNT(&set) == 1
        }
    };
    #[cfg(not(target_os = "linux"))]
    let one = false;
    one || ONE_ALLOWED.load(Ordering::Relaxed)
}

pub(super) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Lane {
    waiting: Mutex<Vec<(u64, Box<dyn Job>)>>,
    more: Condvar,
    threads: AtomicUsize,
    /** Threads without work. */
    idle: AtomicUsize,
}

struct Queue {
    soon: Lane,
    later: Lane,
    /** Held while something is compiled. */
    busy: RwLock<()>,
    /** Something is no longer compiled. */
    ended: (Mutex<()>, Condvar),
}

impl Queue {
    fn lane(&self, class: Class) -> &Lane {
        match class {
            Class::Soon => &self.soon,
            Class::Later => &self.later,
        }
    }
    /// Whether some thread has work. None has in a forked child, whatever was waiting in its parent.
    fn works(&self) -> bool {
        [&self.soon, &self.later]
            .iter()
            .any(|l| l.threads.load(Ordering::SeqCst) > l.idle.load(Ordering::SeqCst))
    }
}

/// A pointer, so that a forked child, where no compile thread is left, can start with a fresh one.
static QUEUE: AtomicPtr<Queue> = AtomicPtr::new(std::ptr::null_mut());

fn fresh() -> *mut Queue {
    let lane = || Lane {
        waiting: Mutex::default(),
        more: Condvar::new(),
        threads: AtomicUsize::new(0),
        idle: AtomicUsize::new(0),
    };
    Box::into_raw(Box::new(Queue {
        soon: lane(),
        later: lane(),
        busy: RwLock::new(()),
        ended: Default::default(),
    }))
}

fn queue() -> &'static Queue {
    let mut q = QUEUE.load(Ordering::Acquire);
    if q.is_null() {
        let new = fresh();
        q = match QUEUE.compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: nobody has seen `new`.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        };
    }
    // SAFETY: queues are leaked.
    unsafe { &*q }
}

/// Puts work into a queue; where nothing is compiled in the background, does it.
pub(super) fn submit(work: Box<dyn Job>, heat: u64, class: Class) {
    let policy = policy();
    if !policy.background {
        return work.run();
    }
    // With processors to spare the next call is worth as much as this one.
    let class = if alone() { class } else { Class::Soon };
    let q = queue();
    let lane = q.lane(class);
    {
        let mut waiting = lock(&lane.waiting);
        // Those whose functions are gone make room first.
        if waiting.len() == waiting.capacity() {
            waiting.retain(|w| w.1.is_alive());
        }
        waiting.push((heat, work));
    }
    if lane.idle.load(Ordering::SeqCst) > 0 {
        return lane.more.notify_one();
    }
    SHORT_OF_THREADS.store(true, Ordering::Release);
    if !HELPED.load(Ordering::Acquire) {
        staff();
    }
}

/// How long a caller waits before it looks for Ctrl-C again.
const WAIT: Duration = Duration::from_millis(20);

/// Leaves the processor to the compile threads until they have ended something, but not for long, and only if
/// something is still `pending`.
pub(super) fn wait(pending: impl Fn() -> bool) {
    let q = queue();
    let (lock_of_it, ended) = &q.ended;
    let held = lock(lock_of_it);
    if pending() && q.works() {
        drop(ended.wait_timeout(held, WAIT));
    }
}

/// Work may be waiting without a thread to do it.
static SHORT_OF_THREADS: AtomicBool = AtomicBool::new(false);
/// Some thread calls [`staff`] again and again.
static HELPED: AtomicBool = AtomicBool::new(false);

/// Starts the threads that are missing. Starting one takes a tenth of a millisecond, which is more than a
/// caller should lose, so the host has a thread call this every now and then; as long as none does, callers
/// do it themselves.
pub fn staff() {
    if !SHORT_OF_THREADS.swap(false, Ordering::AcqRel) {
        return;
    }
    let q = queue();
    for class in [Class::Soon, Class::Later] {
        let lane = q.lane(class);
        let most = match class {
            Class::Soon => policy().threads.max(1),
            Class::Later => 1,
        };
        if lane.threads.load(Ordering::Acquire) >= most || lock(&lane.waiting).is_empty() {
            continue;
        }
        lane.threads.fetch_add(1, Ordering::AcqRel);
        // LLVM recurses deeply at times.
        let started = std::thread::Builder::new()
            .name("tierup-compile".into())
            .stack_size(16 << 20)
            .spawn(move || serve(q, class));
        // No thread to be had: things stay in tier 0.
        if started.is_err() {
            lane.threads.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Promises that some thread calls [`staff`] from now on, or says that there is none any more.
pub fn helped(yes: bool) {
    HELPED.store(yes, Ordering::Release);
}

fn serve(q: &'static Queue, class: Class) {
    ONE_ALLOWED.store(std::thread::available_parallelism().is_ok_and(|n| n.get() == 1), Ordering::Relaxed);
    #[cfg(target_os = "linux")]
    if alone() {
        // SAFETY: plain calls of the C library; 0 means this thread, and being nicer is always allowed.
        unsafe {
            libc::setpriority(
                libc::PRIO_PROCESS,
                0,
                libc::getpriority(libc::PRIO_PROCESS, 0) + niceness(class),
            );
        }
    }
    let lane = q.lane(class);
    loop {
        let work = {
            let mut waiting = lock(&lane.waiting);
            loop {
                let hottest = waiting.iter().enumerate().max_by_key(|(_, w)| w.0).map(|(k, _)| k);
                match hottest {
                    Some(k) => break waiting.swap_remove(k).1,
                    None => {
                        lane.idle.fetch_add(1, Ordering::SeqCst);
                        waiting = lane.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                        lane.idle.fetch_sub(1, Ordering::SeqCst);
                    }
                }
            }
        };
        let _busy = q.busy.read().unwrap_or_else(PoisonError::into_inner);
        // A panic is a bug of ours; the unit stays in tier 0.
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.run())).is_err() {
            eprintln!("tierup: internal error: promotion panicked; please report this");
        }
        drop(lock(&q.ended.0));
        q.ended.1.notify_all();
    }
}

thread_local! {
    /// Held by a thread that is about to fork.
    static FORKING: std::cell::RefCell<Option<RwLockWriteGuard<'static, ()>>> = const { std::cell::RefCell::new(None) };
}

/// Before a fork: waits until nothing is being compiled, so that no lock of LLVM is held in the child, and
/// keeps it so until [`resume`] or [`after_fork`].
pub fn pause() {
    let q = QUEUE.load(Ordering::Acquire);
    if q.is_null() {
        return;
    }
    // SAFETY: queues are leaked.
    let guard = unsafe { &*q }.busy.write().unwrap_or_else(PoisonError::into_inner);
    FORKING.with(|f| *f.borrow_mut() = Some(guard));
}

/// In the parent, after the fork.
pub fn resume() {
    FORKING.with(|f| *f.borrow_mut() = None)
}

/// In a forked child: no compile thread is left, and what they were doing is forgotten.
pub fn after_fork() {
    // The lock belongs to the queue that is left behind.
    FORKING.with(|f| std::mem::forget(f.borrow_mut().take()));
    QUEUE.store(fresh(), Ordering::Release);
    trace::after_fork();
}
