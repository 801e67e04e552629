//! The `ThreadCtx` of each Python thread, and the ticker that makes compiled loops look up.
//!
//! Compiled loops read `ThreadCtx::interrupt` at every back edge and call the run-time where it is set.
//! Python gives no hook for a signal that has arrived, so a thread of ours sets the flag now and then while
//! compiled code runs: the loop then runs pending signal handlers (Ctrl-C) and lets other Python threads have
//! the GIL, as the interpreter does between bytecodes. More often it sets the bit that asks loops where they
//! are, for promotion.
//!
//! It lies in thread-local storage. Reading that from a shared library costs a function call, so the call
//! path first asks whether it runs on the stack of the thread that asked last, which two comparisons tell.

use pyo3::prelude::*;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tierup_core::layout::{POLL_SIGNALS, POLL_STRESS, ThreadCtx};
use tierup_runtime::engine::promote::{self, SAMPLE};

/// Stack kept free for the run-time, for Python's own code and for turning the exception into a Python one.
const STACK_RESERVE: usize = 256 << 10;

/// What belongs to one thread, in one place: looking it up is what takes time.
#[repr(C)]
struct Slot {
    /// First, so that whoever has its address has the slot's.
    ctx: UnsafeCell<ThreadCtx>,
    top: Cell<usize>,
    /// Calls in progress that began without the GIL: loops that NumPy runs, callbacks of C; where there is no
    /// GIL, all. Written by this thread alone.
    inside: AtomicU32,
    /// Somebody else (NumPy, around its loops) has let go of the GIL without PyO3's knowledge, which may
    /// still believe that this thread is attached.
    lost: Cell<bool>,
}

/// A thread that has run compiled code: its context, and the clock of the time that it runs with what that
/// said when the thread was last asked where it is.
struct Known {
    ctx: usize,
    clock: Option<libc::clockid_t>,
    ran: Duration,
}

impl Known {
    /// This thread.
    fn this(ctx: *mut ThreadCtx) -> Known {
        #[cfg(target_os = "linux")]
        let clock = {
            let mut clock = 0;
            // SAFETY: a plain call of the C library.
            (unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) } == 0)
                .then_some(clock)
        };
        #[cfg(not(target_os = "linux"))]
        let clock = None;
        Known { ctx: ctx as usize, clock, ran: Duration::ZERO }
    }

    /// Whether the thread has run since it was last asked, and so could have answered.
    fn has_run(&mut self) -> bool {
        let Some(clock) = self.clock else { return true };
        let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a plain call of the C library; the thread lives, since it leaves the list first.
        if unsafe { libc::clock_gettime(clock, &raw mut t) } != 0 {
            return true;
        }
        let now = Duration::new(t.tv_sec as u64, t.tv_nsec as u32);
        let enough = now.saturating_sub(self.ran) >= SAMPLE / 2;
        if enough {
            self.ran = now;
        }
        enough
    }
}

/// The contexts of all threads that have run compiled code and live. A pointer, so that a forked child can
/// put a fresh list in the place of one whose lock was held by a thread that does not exist there.
static ALL: AtomicPtr<Mutex<Vec<Known>>> = AtomicPtr::new(std::ptr::null_mut());
fn all() -> MutexGuard<'static, Vec<Known>> {
    let mut list = ALL.load(Ordering::Acquire);
    if list.is_null() {
        let fresh = Box::into_raw(Box::default());
        list = match ALL.compare_exchange(std::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            Err(other) => {
                // SAFETY: nobody has seen `fresh`.
                drop(unsafe { Box::from_raw(fresh) });
                other
            }
        };
    }
    // SAFETY: the list was leaked and is never freed.
    unsafe { &*list }.lock().unwrap_or_else(|e| e.into_inner())
}

impl Drop for Slot {
    fn drop(&mut self) {
        all().retain(|c| c.ctx != self.ctx.get() as usize);
        // The next thread may get this one's stack.
        if LAST.ctx.load(Ordering::Relaxed) == self.ctx.get() {
            LAST.low.store(usize::MAX, Ordering::Relaxed);
        }
    }
}

thread_local! {
    static SLOT: Slot = const {
        Slot {
            ctx: UnsafeCell::new(ThreadCtx::new()),
            top: Cell::new(0),
            inside: AtomicU32::new(0),
            lost: Cell::new(false),
        }
    };
}

/// The thread that asked last: the ends of its stack, and its context. Not where there is no GIL: threads
/// would ask in turns.
struct Last {
    low: AtomicUsize,
    high: AtomicUsize,
    ctx: AtomicPtr<ThreadCtx>,
}
static LAST: Last = Last {
    low: AtomicUsize::new(usize::MAX),
    high: AtomicUsize::new(0),
    ctx: AtomicPtr::new(std::ptr::null_mut()),
};

/// This thread's context. The thread holds the GIL.
#[inline(always)]
pub(crate) fn current() -> *mut ThreadCtx {
    // Without a GIL another thread may be changing the three words.
    #[cfg(not(Py_GIL_DISABLED))]
    {
        let here = 0u8;
        let at = &raw const here as usize;
        if at >= LAST.low.load(Ordering::Relaxed) && at < LAST.high.load(Ordering::Relaxed) {
            return LAST.ctx.load(Ordering::Relaxed);
        }
    }
    look_up()
}

#[cfg_attr(not(Py_GIL_DISABLED), cold)]
#[inline(never)]
fn look_up() -> *mut ThreadCtx {
    SLOT.with(|s| {
        let ctx = prepared(s);
        if cfg!(Py_GIL_DISABLED) {
            return ctx;
        }
        // SAFETY: the context belongs to this thread.
        let floor = unsafe { (*ctx).stack_floor };
        LAST.low.store(if s.top.get() == 0 { usize::MAX } else { floor }, Ordering::Relaxed);
        LAST.high.store(s.top.get(), Ordering::Relaxed);
        LAST.ctx.store(ctx, Ordering::Relaxed);
        ctx
    })
}

/// This thread's context, for a thread that may not hold the GIL.
pub(crate) fn current_without_gil() -> *mut ThreadCtx {
    SLOT.with(prepared)
}

/// The context in a slot, which is listed and knows its stack from its first use on.
fn prepared(s: &Slot) -> *mut ThreadCtx {
    let ctx = s.ctx.get();
    // SAFETY: the context belongs to this thread, and nobody else writes `stack_floor`.
    unsafe {
        if (*ctx).stack_floor == 0 {
            let (limit, top) = stack();
            (*ctx).stack_floor = limit;
            (*ctx).stack_limit.store(limit, Ordering::Relaxed);
            s.top.set(top);
            all().push(Known::this(ctx));
            if STRESS.load(Ordering::Relaxed) {
                ThreadCtx::polls(ctx).ask_for_poll(POLL_STRESS);
            }
        }
    }
    ctx
}

/// The lowest address that compiled frames of this thread may use, and the end of its stack; (1, 0) when they
/// cannot be found out.
fn stack() -> (usize, usize) {
    #[cfg(target_os = "linux")]
    {
        let mut base = std::ptr::null_mut();
        let mut size = 0usize;
        // SAFETY: plain calls of the C library on a local attribute object.
        let ok = unsafe {
            let mut attr = std::mem::zeroed::<libc::pthread_attr_t>();
            if libc::pthread_getattr_np(libc::pthread_self(), &mut attr) == 0 {
                let got = libc::pthread_attr_getstack(&attr, &mut base, &mut size);
                libc::pthread_attr_destroy(&mut attr);
                got == 0
            } else {
                false
            }
        };
        if ok {
            let top = base as usize + size;
            // A main thread without a limit reports all the address space below it; more than a gigabyte of
            // frames is a runaway recursion as well.
            return ((base as usize).max(top.saturating_sub(1 << 30)) + STACK_RESERVE.min(size / 4), top);
        }
    }
    #[cfg(target_os = "macos")]
    // SAFETY: plain calls of the C library.
    unsafe {
        let me = libc::pthread_self();
        let top = libc::pthread_get_stackaddr_np(me) as usize;
        return (top - libc::pthread_get_stacksize_np(me) + STACK_RESERVE, top);
    }
    #[cfg(not(target_os = "macos"))]
    (1, 0)
}

// ---------------------------------------------------------------- room to compile

/// Stack that a compilation may take, the import of a library module included. Frames of debug builds are
/// several times as large.
const COMPILER_STACK: usize = if cfg!(debug_assertions) { 6 << 20 } else { 2 << 20 };

/// Runs the compiler: here where the stack has room for it, else in a thread with a stack of its own
/// (`threading.stack_size` may say 32 KiB). None where there is no such thread to be had.
pub(crate) fn with_compiler_stack<R>(py: Python<'_>, body: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    let here = 0u8;
    // SAFETY: the context belongs to this thread.
    let limit = unsafe { (*current()).stack_floor };
    if (&raw const here as usize).saturating_sub(limit) >= COMPILER_STACK {
        return Some(body(py));
    }
    struct Lent<T>(T);
    // SAFETY: what is lent is used by the new thread alone, which has the GIL, while this one waits for its
    // end without it.
    unsafe impl<T> Send for Lent<T> {}
    let body = Lent(body);
    let answer = py.detach(|| {
        std::thread::scope(|scope| {
            let run = move || {
                let body = { body }.0;
                Lent(Python::try_attach(body))
            };
            std::thread::Builder::new()
                .name("tierup-compiler".into())
                .stack_size(2 * COMPILER_STACK)
                .spawn_scoped(scope, run)
                .ok()?
                .join()
                .ok()
        })
    });
    answer?.0
}

// ---------------------------------------------------------------- calls in progress

/// Calls of compiled code in progress that hold the GIL, in all threads.
static ACTIVE: AtomicU32 = AtomicU32::new(0);

// With the GIL, calls are counted while it is held, so plain arithmetic does. Without one each thread counts
// its own: it would wait for the word otherwise.
#[cfg(not(Py_GIL_DISABLED))]
#[inline(always)]
pub(crate) fn begin() {
    ACTIVE.store(ACTIVE.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    if ASLEEP.load(Ordering::Relaxed) {
        wake();
    }
}
#[cfg(not(Py_GIL_DISABLED))]
#[inline(always)]
pub(crate) fn end() {
    ACTIVE.store(ACTIVE.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed)
}
#[cfg(Py_GIL_DISABLED)]
pub(crate) fn begin() {
    SLOT.with(|s| s.inside.store(s.inside.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed));
    if ASLEEP.load(Ordering::Relaxed) {
        wake();
    }
}
#[cfg(Py_GIL_DISABLED)]
pub(crate) fn end() {
    SLOT.with(|s| s.inside.store(s.inside.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Release));
}

/// Runs `body`, which begins without the GIL although PyO3 may not know that: what needs Python inside takes
/// the GIL by [`crate::gil::Regained`].
///
/// The thread is looked up once and no word is shared with others: NumPy enters a loop a million times a
/// second where segments are short.
#[inline(always)]
pub(crate) fn without_gil<R>(body: impl FnOnce(*mut ThreadCtx) -> R) -> R {
    struct Inside<'a>(&'a Slot, bool);
    impl Drop for Inside<'_> {
        fn drop(&mut self) {
            self.0.lost.set(self.1);
            self.0.inside.store(self.0.inside.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Release);
        }
    }
    SLOT.with(|s| {
        let ctx = prepared(s);
        s.inside.store(s.inside.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        if ASLEEP.load(Ordering::Relaxed) {
            wake();
        }
        let _inside = Inside(s, s.lost.replace(true));
        body(ctx)
    })
}

/// Says whether somebody else has let go of this thread's GIL; gives what was said before.
pub(crate) fn set_lost(lost: bool) -> bool {
    SLOT.try_with(|s| s.lost.replace(lost)).unwrap_or(false)
}

/// Whether a thread is in compiled code.
fn busy(order: Ordering) -> bool {
    // SAFETY: contexts leave the list, under this lock, before their thread's storage goes; the address of
    // one is that of its slot.
    ACTIVE.load(order) != 0
        || all().iter().any(|c| unsafe { (*(&raw const (*(c.ctx as *const Slot)).inside)).load(order) != 0 })
}

/// Whether no thread is in compiled code, so that code may be freed. The caller holds the GIL.
pub(crate) fn idle() -> bool {
    !cfg!(Py_GIL_DISABLED) && !busy(Ordering::Acquire)
}

// ---------------------------------------------------------------- the ticker

static STRESS: AtomicBool = AtomicBool::new(false);

/// Makes every loop of every thread poll at every turn, or no longer.
pub(crate) fn set_stress(on: bool) {
    STRESS.store(on, Ordering::Relaxed);
    for c in all().iter() {
        // SAFETY: contexts leave the list, under this lock, before their thread's storage goes.
        let polls = unsafe { ThreadCtx::polls(c.ctx as *const ThreadCtx) };
        if on {
            polls.ask_for_poll(POLL_STRESS);
        } else {
            polls.answer_poll(!POLL_STRESS);
        }
    }
}

/// How often a running loop looks for signals, in samples.
const SIGNALS: u32 = 25;
/// Samples without anything running after which the ticker sleeps.
const PATIENCE: u32 = 100;
/// How long it sleeps at most: the call that wakes it may come just too early to see that it sleeps.
const SLEEP: Duration = Duration::from_millis(400);

static TICKING: AtomicBool = AtomicBool::new(false);
/// The ticker sleeps; a call wakes it.
static ASLEEP: AtomicBool = AtomicBool::new(false);
static TICKER: Mutex<Option<std::thread::Thread>> = Mutex::new(None);

#[cold]
fn wake() {
    ASLEEP.store(false, Ordering::Relaxed);
    if let Ok(t) = TICKER.try_lock()
        && let Some(t) = &*t
    {
        t.unpark();
    }
}

/// Starts the ticker, once per process.
pub(crate) fn start_ticker() {
    if TICKING.swap(true, Ordering::AcqRel) {
        return wake();
    }
    let started = std::thread::Builder::new().name("tierup-ticker".into()).stack_size(64 << 10).spawn(tick);
    match started {
        Ok(t) => {
            promote::helped(true);
            if let Ok(mut slot) = TICKER.lock() {
                *slot = Some(t.thread().clone())
            }
        }
        // Without a ticker (no more threads to be had) everything works but Ctrl-C and promotion of loops;
        // the next compilation tries again.
        Err(_) => TICKING.store(false, Ordering::Release),
    }
}

fn tick() {
    let (mut count, mut idle) = (0u32, 0u32);
    loop {
        promote::staff();
        if busy(Ordering::Relaxed) {
            (count, idle) = (count.wrapping_add(1), 0);
            for c in all().iter_mut() {
                // SAFETY: contexts leave the list, under this lock, before their thread's storage goes.
                let polls = unsafe { ThreadCtx::polls(c.ctx as *const ThreadCtx) };
                polls.ask_for_sample(c.has_run());
                if count.is_multiple_of(SIGNALS) {
                    polls.ask_for_poll(POLL_SIGNALS);
                }
            }
        } else {
            idle += 1;
        }
        if idle < PATIENCE {
            std::thread::sleep(SAMPLE);
            continue;
        }
        ASLEEP.store(true, Ordering::SeqCst);
        if !busy(Ordering::SeqCst) {
            std::thread::park_timeout(SLEEP);
        }
        ASLEEP.store(false, Ordering::Relaxed);
        // After a short look the ticker sleeps again, if nothing runs still.
        idle = PATIENCE - 2;
    }
}

/// In a forked child: only the forking thread is left, and no ticker.
pub(crate) fn after_fork() {
    let me = SLOT.with(|s| s.ctx.get());
    // SAFETY: the context belongs to this thread.
    let used = unsafe { (*me).stack_floor != 0 };
    ALL.store(
        Box::into_raw(Box::new(Mutex::new(if used { vec![Known::this(me)] } else { vec![] }))),
        Ordering::Release,
    );
    let was_ticking = TICKING.swap(false, Ordering::AcqRel);
    ASLEEP.store(false, Ordering::Relaxed);
    ACTIVE.store(0, Ordering::Relaxed);
    promote::helped(false);
    if was_ticking {
        start_ticker();
    }
}
