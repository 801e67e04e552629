//! The threads that help with parallel loops. Rayon starts them; each then looks for regions by itself, since
//! a hand-over by spinning costs a tenth of a microsecond and rayon's own, from outside, ten.
//!
//! A thread without work looks for it for some microseconds more, then sleeps. Whoever opens a region says so
//! and wakes sleepers. After a fork the child has none of the threads: it starts with a pool of its own, and
//! what it inherited is left as it is.

use super::seat::{self, Seat};
use super::settings;
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};
use tierup_core::rt::Ctx;

thread_local! { static WORKER: Cell<bool> = const { Cell::new(false) }; }

/// Whether this is a thread of ours: of the pool, or one for tasks.
pub(crate) fn is_worker() -> bool {
    WORKER.get()
}
/// Says so of this thread.
pub(super) fn be_worker() {
    WORKER.set(true)
}

/// What threads of the pool help with.
pub(crate) trait Shared: Send + Sync {
    /// Whether one more could help.
    fn wants_help(&self) -> bool;
    /// Helps as long as there is something to do; whether there was.
    fn help(&self, ctx: Ctx, worker: usize) -> bool;
}

struct Pool {
    /// What somebody may help with.
    open: Mutex<Vec<Arc<dyn Shared>>>,
    /// Grows with every region.
    epoch: AtomicU64,
    asleep: Mutex<Vec<(Thread, Arc<Seat>)>>,
    sleepers: AtomicUsize,
    /// Of all threads.
    seats: Mutex<Vec<Arc<Seat>>>,
    /// Threads that have been started, and the rayon pools that own them.
    started: AtomicUsize,
    threads: Mutex<Vec<rayon::ThreadPool>>,
}

static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

/// How long a thread looks for the next region before it sleeps.
const PATIENCE: Duration = Duration::from_micros(50);

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

fn current() -> Option<&'static Pool> {
    // SAFETY: pools are leaked.
    unsafe { POOL.load(Ordering::Acquire).as_ref() }
}

fn pool() -> &'static Pool {
    if let Some(p) = current() {
        return p;
    }
    let fresh = Box::into_raw(Box::new(Pool {
        open: Mutex::default(),
        epoch: AtomicU64::new(0),
        asleep: Mutex::default(),
        sleepers: AtomicUsize::new(0),
        seats: Mutex::default(),
        started: AtomicUsize::new(0),
        threads: Mutex::default(),
    }));
    let mine = POOL.compare_exchange(std::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire);
    // SAFETY: either the pool that is there now, or one that nobody else has seen and is dropped.
    unsafe {
        match mine {
            Ok(_) => &*fresh,
            Err(other) => {
                drop(Box::from_raw(fresh));
                &*other
            }
        }
    }
}

/// Whether some thread of the pool is looking for work right now, so that handing over costs next to nothing.
pub(crate) fn is_hot() -> bool {
    current().is_some_and(|p| p.started.load(Ordering::Relaxed) > p.sleepers.load(Ordering::Relaxed))
}

/// Offers a region to up to `helpers` threads.
pub(crate) fn announce(region: Arc<dyn Shared>, helpers: usize) {
    let p = pool();
    p.staff();
    lock(&p.open).push(region);
    p.epoch.fetch_add(1, Ordering::SeqCst);
    let here = seat::here();
    // One that is awake and was last seen here cannot run as long as we do.
    for s in lock(&p.seats).iter().filter(|s| s.is_on(here)) {
        s.keep_off(here);
    }
    if p.sleepers.load(Ordering::SeqCst) == 0 {
        return;
    }
    let woken: Vec<(Thread, Arc<Seat>)> = {
        let mut asleep = lock(&p.asleep);
        let n = asleep.len();
        let woken = asleep.split_off(n.saturating_sub(helpers));
        p.sleepers.store(asleep.len(), Ordering::SeqCst);
        woken
    };
    for (thread, seat) in woken {
        seat.keep_off(here);
        thread.unpark();
    }
}

/// Takes a region back.
pub(crate) fn forget(region: &Arc<dyn Shared>) {
    lock(&pool().open).retain(|r| !Arc::ptr_eq(r, region));
}

/// In a forked child: no thread of the pool is left.
pub(crate) fn after_fork() {
    POOL.store(std::ptr::null_mut(), Ordering::Release)
}

impl Pool {
    /// Starts the threads that are missing; where there are none to be had, loops run without them.
    fn staff(&'static self) {
        let wanted = settings::most() - 1;
        if self.started.load(Ordering::Relaxed) >= wanted {
            return;
        }
        let mut threads = lock(&self.threads);
        let missing = wanted.saturating_sub(self.started.load(Ordering::Relaxed));
        if missing == 0 {
            return;
        }
        let made = rayon::ThreadPoolBuilder::new()
            .num_threads(missing)
            .thread_name(|k| format!("tierup-parallel-{k}"))
            .stack_size(8 << 20)
            .build();
        let Ok(made) = made else { return };
        made.spawn_broadcast(move |_| self.serve());
        threads.push(made);
        self.started.fetch_add(missing, Ordering::Relaxed);
    }

    fn find(&self) -> Option<Arc<dyn Shared>> {
        lock(&self.open).iter().find(|r| r.wants_help()).cloned()
    }

    /// The life of a thread of the pool.
    fn serve(&self) {
        be_worker();
        let seat = Arc::new(Seat::take());
        let number = {
            let mut seats = lock(&self.seats);
            seats.push(seat.clone());
            seats.len() - 1
        };
        let ctx = (crate::host::quiet().context)();
        let mut seen = u64::MAX;
        let mut busy = Instant::now();
        loop {
            let epoch = self.epoch.load(Ordering::SeqCst);
            if epoch != seen {
                seen = epoch;
                seat.settle();
                while let Some(r) = self.find()
                    && r.help(ctx, number)
                {
                    busy = Instant::now();
                }
                continue;
            }
            for _ in 0..16 {
                std::hint::spin_loop();
            }
            if busy.elapsed() < PATIENCE {
                continue;
            }
            self.sleep(seen, &seat);
            busy = Instant::now();
        }
    }

    fn sleep(&self, seen: u64, seat: &Arc<Seat>) {
        let me = std::thread::current();
        {
            let mut asleep = lock(&self.asleep);
            asleep.push((me.clone(), seat.clone()));
            self.sleepers.store(asleep.len(), Ordering::SeqCst);
        }
        // Who announces looks for sleepers after it has raised the epoch.
        if self.epoch.load(Ordering::SeqCst) == seen {
            std::thread::park();
        }
        let mut asleep = lock(&self.asleep);
        asleep.retain(|(t, _)| t.id() != me.id());
        self.sleepers.store(asleep.len(), Ordering::SeqCst);
    }
}
