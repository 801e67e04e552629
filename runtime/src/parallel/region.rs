//! One parallel loop in progress: the grid of its pieces, who runs which, and what goes wrong.

use super::pool::{self, Shared};
use super::settings::{self, Settings};
use crate::engine::promote::Cell as Word;
use crate::engine::{Wrapper, interpreted};
use crate::exc::{Error, Exc, Res};
use crate::host::{callbacks, quiet};
use crate::panics::settle;
use crate::random::held::Unlocked;
use crate::random::state::in_chunk;
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};
use tierup_core::desc::TypeDesc;
use tierup_core::exc::Class;
use tierup_core::interp::Interp;
use tierup_core::layout::{POLL_SIGNALS, ThreadCtx};
use tierup_core::rt::Ctx;

/// Pieces of a loop: enough to balance uneven iterations over many threads, few enough for what each costs
/// (some ten nanoseconds).
const PIECES: u64 = 128;

/// The pieces of a range: a function of its length alone, and of the chunk size where one is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    first: i64,
    end: i64,
    step: i64,
    pub count: u64,
    pub pieces: u64,
    chunk: u64,
}

impl Grid {
    pub(crate) fn new(first: i64, end: i64, step: i64, chunk: u64) -> Grid {
        let (a, b, s) = (first as i128, end as i128, step as i128);
        let span = if step > 0 { b - a } else { a - b };
        let count = if step == 0 || span <= 0 { 0 } else { ((span - 1) / s.abs() + 1) as u64 };
        let pieces = if chunk == 0 { count.min(PIECES) } else { count.div_ceil(chunk) };
        Grid { first, end, step, count, pieces, chunk }
    }

    /// With fewer pieces where each has so many elements to itself that they would cost more than the
    /// iterations do.
    pub(crate) fn with_room(self, own: i64) -> Grid {
        if own <= 0 || self.pieces == 0 {
            return self;
        }
        let most = (self.count / own as u64).max(1);
        if self.pieces <= most {
            return self;
        }
        if self.chunk == 0 {
            Grid { pieces: most, ..self }
        } else {
            Grid {
                pieces: self.count.div_ceil(self.count.div_ceil(most)),
                chunk: self.count.div_ceil(most),
                ..self
            }
        }
    }

    /// The iteration with which piece `k` begins.
    fn start(&self, k: u64) -> u64 {
        if k >= self.pieces {
            self.count
        } else if self.chunk != 0 {
            k * self.chunk
        } else {
            (k as u128 * self.count as u128 / self.pieces as u128) as u64
        }
    }
    /// The value of the loop's variable in an iteration; behind the last one, the end.
    fn value(&self, iteration: u64) -> i64 {
        if iteration >= self.count {
            self.end
        } else {
            (self.first as i128 + iteration as i128 * self.step as i128) as i64
        }
    }
    /// The bounds of the pieces `from..to`.
    pub(crate) fn bounds(&self, from: u64, to: u64) -> (i64, i64) {
        (self.value(self.start(from)), self.value(self.start(to)))
    }
}

/// Where results go: an element for each piece.
#[derive(Clone, Copy)]
pub(crate) struct Out {
    pub data: *mut u8,
    pub desc: &'static TypeDesc,
}

/// What is to be done.
pub(crate) struct Job<'a> {
    pub cell: &'a Word,
    pub grid: Grid,
    /// Slots of the body's arguments; the first two are the bounds.
    pub args: &'a [u64],
    pub out: Option<Out>,
    /// What the random numbers of its pieces are derived from, where it draws any.
    pub seed: Option<u64>,
    /// This thread runs all pieces, in order.
    pub alone: bool,
    /// Where the body is interpreted.
    pub interp: Option<*const Interp<'static>>,
}

impl Job<'_> {
    /// Runs the pieces `from..to` with `slots`, a copy of the arguments: an exception, and the piece that
    /// raised it.
    ///
    /// # Safety
    /// `ctx` is the live context of this thread; the arguments are what the body takes.
    unsafe fn run(
        &self,
        from: u64,
        to: u64,
        slots: &mut [u64],
        ctx: Ctx,
        begins: impl Fn(u64),
    ) -> Result<(), (u64, Error)> {
        if self.is_seamless() {
            begins(from);
            // SAFETY: as required of the caller.
            return unsafe { self.call(from, to, slots, ctx, std::ptr::null_mut()) }.map_err(|e| (from, e));
        }
        let mut words = vec![0u64; self.out.map_or(0, |out| out.desc.leaves.len())];
        for k in from..to {
            begins(k);
            // SAFETY: as required of the caller; the list has an element for each piece, which nobody else
            // touches now. What a failed call left means nothing.
            unsafe {
                let mut call = || self.call(k, k + 1, slots, ctx, words.as_mut_ptr());
                match self.seed {
                    Some(seed) => in_chunk(seed, 0, k, call),
                    None => call(),
                }
                .map_err(|e| (k, e))?;
                if let Some(Out { data, desc }) = self.out {
                    desc.scatter(words.as_ptr(), data.add(k as usize * desc.size as usize));
                }
            }
        }
        Ok(())
    }

    /// Whether several pieces in a row may be run as one.
    fn is_seamless(&self) -> bool {
        self.out.is_none() && self.seed.is_none()
    }

    unsafe fn call(
        &self,
        from: u64,
        to: u64,
        slots: &mut [u64],
        ctx: Ctx,
        results: *mut u64,
    ) -> Result<(), Error> {
        let (lo, hi) = self.grid.bounds(from, to);
        (slots[0], slots[1]) = (lo as u64, hi as u64);
        let entry = self.cell.entry.load(Ordering::Acquire);
        // SAFETY: the word holds the address of the body's wrapper, of the tier of the moment.
        let status = unsafe {
            match self.interp {
                Some(i) => interpreted::call(&*i, entry, ctx, slots.as_ptr(), results),
                None => std::mem::transmute::<*mut u8, Wrapper>(entry)(ctx, slots.as_ptr(), results),
            }
        };
        let status = settle(status);
        // SAFETY: a status other than 0 is an owned exception.
        if status == 0 { Ok(()) } else { Err(unsafe { Error::from_raw(status as usize as *mut Exc) }) }
    }
}

/// Work from which on it pays to call others: they look for it already, or must be woken, which takes the
/// caller some microseconds and them often a millisecond until they run on a processor of their own.
const WORTH_HOT: Duration = Duration::from_micros(12);
const WORTH_COLD: Duration = Duration::from_micros(200);
/// The same while regions follow each other, which together would have been worth it: who is woken once helps
/// with all of them.
const WORTH_SOON: Duration = Duration::from_micros(16);
/// Regions follow each other where they begin so soon after the last one.
const SOON: Duration = Duration::from_millis(1);
/// So few pieces may each take long: nobody waits to see how long the first one takes.
const FEW: u64 = 32;
/// Fractions of a nanosecond that an iteration is measured in.
pub(crate) const COST_UNIT: u128 = 64;

thread_local! {
    /// When this thread last came out of a region that it ran alone although others might have helped, and
    /// for how long it was in such ones that followed each other.
    static ALONE: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

/// Takes a region that was run alone from `begin` on to those that it follows.
fn ran_alone(begin: Instant) {
    let now = Instant::now();
    let took = now - begin;
    if took < WORTH_SOON {
        return;
    }
    let before = ALONE
        .get()
        .filter(|(end, _)| begin.saturating_duration_since(*end) < SOON)
        .map_or(Duration::ZERO, |(_, sum)| sum);
    ALONE.set(Some((now, before + took)));
}

/// Work from which on it pays to call others now.
fn worth(begin: Instant) -> Duration {
    if pool::is_hot() {
        return WORTH_HOT;
    }
    let soon =
        ALONE.get().is_some_and(|(end, sum)| sum > WORTH_COLD && begin.saturating_duration_since(end) < SOON);
    if soon { WORTH_SOON } else { WORTH_COLD }
}

/// Runs a loop to its end, or to its first exception.
///
/// # Safety
/// `ctx` is the live context of this thread; the job's arguments are what its body takes.
pub(crate) unsafe fn run(job: &Job<'_>, ctx: Ctx) -> Res<()> {
    let _unlocked = Unlocked::begin();
    let pieces = job.grid.pieces;
    if pieces == 0 {
        return Ok(());
    }
    let threads = if job.alone { 1 } else { settings::threads() };
    let mut slots = job.args.to_vec();
    let mut at = 0;
    let cost = job.cell.cost.load(Ordering::Relaxed);
    let begin = Instant::now();
    let estimate = |iterations: u64, cost: u64| {
        Duration::from_nanos((iterations as u128 * cost as u128 / COST_UNIT).min(u64::MAX as u128) as u64)
    };
    let at_once = threads > 1
        && pieces > 1
        && if cost == 0 { pieces < FEW } else { estimate(job.grid.count, cost) > worth(begin) };
    if !at_once {
        // Alone at first: the pieces 0, 1, 2 to 3, 4 to 7 and so on, until it shows that there is much to do,
        // or little as the last time.
        let was_little = cost != 0 && estimate(job.grid.count, cost) * 2 < worth(begin);
        let mut is_little = threads == 1;
        while at < pieces {
            let to = if is_little { pieces } else { (2 * at).clamp(1, pieces) };
            // SAFETY: as required of the caller.
            unsafe { job.run(at, to, &mut slots, ctx, |_| {}) }.map_err(|(_, e)| e)?;
            at = to;
            if at == pieces {
                continue;
            }
            let each = begin.elapsed().as_nanos() * COST_UNIT / u128::from(job.grid.start(at)).max(1);
            let rest = estimate(job.grid.count - job.grid.start(at), each.min(u64::MAX as u128) as u64);
            if rest > worth(begin) {
                break;
            }
            is_little = was_little && rest * 2 < worth(begin);
        }
    }
    let alone = job.grid.start(at);
    let note = |iterations: u64, took: Duration| {
        let each = took.as_nanos() * COST_UNIT / u128::from(iterations.max(1));
        job.cell.cost.store(each.clamp(1, u64::MAX as u128) as u64, Ordering::Relaxed);
    };
    if at == pieces {
        if threads > 1 {
            note(alone, begin.elapsed());
            ran_alone(begin);
        }
        return Ok(());
    }
    ALONE.set(None);
    // SAFETY: as required of the caller; the region is over when this returns.
    let (mine, result) = unsafe { together(job, at, threads, slots, ctx, begin.elapsed()) };
    if result.is_ok() && alone + mine.0 > 0 {
        note(alone + mine.0, mine.1);
    }
    result
}

/// Runs the pieces from `at` on with the help of others; how many iterations this thread ran, and how long it
/// took with `so_far`.
unsafe fn together(
    job: &Job<'_>,
    at: u64,
    threads: usize,
    mut slots: Vec<u64>,
    ctx: Ctx,
    so_far: Duration,
) -> ((u64, Duration), Res<()>) {
    // SAFETY: nobody uses the region's job once the caller has left `close`, which waits for everybody.
    let lasting =
        unsafe { std::mem::transmute::<*const Job<'_>, *const Job<'static>>(std::ptr::from_ref(job)) };
    let helpers = (threads - 1).min(usize::try_from(job.grid.pieces - at).unwrap_or(usize::MAX) - 1);
    let region = Arc::new(Region {
        job: lasting,
        shares: Share::divide(at, job.grid.pieces, helpers as u64 + 1),
        limit: AtomicI64::new(i64::MAX),
        inside: AtomicU32::new(0),
        joined: AtomicU32::new(1),
        helpers: helpers as u32,
        failure: Mutex::new(None),
        places: (0..=helpers).map(|_| Place::default()).collect(),
        owner: std::thread::current(),
        settings: Settings::here(),
        mode: float_mode(),
    });
    let shared: Arc<dyn Shared> = region.clone();
    pool::announce(shared.clone(), helpers);
    let begin = Instant::now();
    // SAFETY: as required of the caller.
    let done = unsafe { region.work(0, 0, &mut slots, ctx) };
    let took = so_far + begin.elapsed();
    region.close();
    pool::forget(&shared);
    let failure = region.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    ((done, took), failure.map_or(Ok(()), |f| Err(f.1)))
}

/// Where a thread is in a region.
#[derive(Default)]
struct Place {
    piece: AtomicU64,
    ctx: AtomicPtr<ThreadCtx>,
}

/// A stretch of the pieces for each thread: it begins with its own, and then helps where something is left.
/// So in loops that follow each other a thread comes by the memory that lies in its own cache. On a line of
/// its own.
#[repr(align(64))]
pub(crate) struct Share {
    /** The first piece that nobody has begun. */
    next: AtomicU64,
    end: u64,
}

impl Share {
    /// The pieces from `at` on; where stretches meet depends on all of them.
    pub(crate) fn divide(at: u64, pieces: u64, count: u64) -> Box<[Share]> {
        let start = |k: u64| (u128::from(pieces) * u128::from(k) / u128::from(count)) as u64;
        (0..count).map(|k| Share { next: AtomicU64::new(start(k).max(at)), end: start(k + 1) }).collect()
    }

    fn has_more(&self) -> bool {
        self.next.load(Ordering::Acquire) < self.end
    }

    /// Some pieces that nobody else runs: a part of what is left, and the parts get smaller, so that nobody
    /// waits long for the last.
    pub(crate) fn take(&self) -> Option<(u64, u64)> {
        let left = self.end.checked_sub(self.next.load(Ordering::Relaxed)).filter(|left| *left > 0)?;
        let some = (left / 4).max(1);
        let from = self.next.fetch_add(some, Ordering::AcqRel);
        (from < self.end).then(|| (from, (from + some).min(self.end)))
    }
}

pub(crate) struct Region {
    job: *const Job<'static>,
    shares: Box<[Share]>,
    /// The first piece that failed; -1 where all is to stop. Those behind it are not wanted.
    limit: AtomicI64,
    /// Helpers inside, and [`CLOSED`].
    inside: AtomicU32,
    /// Threads that came, the owner included; each takes the next number.
    joined: AtomicU32,
    helpers: u32,
    /// The exception that counts so far, and its piece.
    failure: Mutex<Option<(i64, Error)>>,
    places: Box<[Place]>,
    owner: Thread,
    settings: Settings,
    mode: u32,
}

// SAFETY: the job is read by threads inside the region only, for which its owner waits; a native exception
// belongs to one thread at a time.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

const CLOSED: u32 = 1 << 31;

/// A region that this thread is in, and the one around it.
struct Here {
    region: *const Region,
    id: usize,
    outer: *const Here,
}
thread_local! {
    static HERE: Cell<*const Here> = const { Cell::new(std::ptr::null()) };
}

/// Which of the threads in the innermost region this is.
pub fn thread_id() -> i64 {
    // SAFETY: null, or a frame of this thread that is still there.
    unsafe { HERE.get().as_ref() }.map_or(0, |h| h.id as i64)
}

/// Whether a piece that this thread is in is not wanted any more.
fn is_unwanted() -> bool {
    let mut at = HERE.get();
    // SAFETY: null, or a frame of this thread that is still there.
    while let Some(h) = unsafe { at.as_ref() } {
        // SAFETY: a region lives until every thread has left it.
        let region = unsafe { &*h.region };
        if region.places[h.id].piece.load(Ordering::Relaxed) as i64 > region.limit.load(Ordering::Acquire) {
            return true;
        }
        at = h.outer;
    }
    false
}

/// What a thread that waits does now and then: a piece that is not wanted ends, and who may runs pending signal
/// handlers.
pub(super) fn ask() -> Res<()> {
    if is_unwanted() {
        return Err(super::stop());
    }
    // Threads of ours have nothing to do with Python.
    if pool::is_worker() { Ok(()) } else { (callbacks().poll)() }
}

impl Shared for Region {
    /// Whether there is something left to begin, and room for one more thread.
    fn wants_help(&self) -> bool {
        self.inside.load(Ordering::Relaxed) & CLOSED == 0
            && self.joined.load(Ordering::Relaxed) <= self.helpers
    }

    /// Helps until nothing is left to begin; whether there was anything to do. `worker` is the number of the
    /// thread among those of the pool.
    fn help(&self, ctx: Ctx, worker: usize) -> bool {
        let Some(id) = self.join() else { return false };
        // SAFETY: the thread has joined.
        let mut slots = unsafe { self.job() }.args.to_vec();
        let (outer, mode) = (self.settings.enter(), float_mode());
        set_float_mode(self.mode);
        // SAFETY: the context is this thread's; the region's owner vouches for the rest.
        unsafe { self.work(id, 1 + worker % self.helpers.max(1) as usize, &mut slots, ctx) };
        set_float_mode(mode);
        outer.enter();
        self.leave();
        true
    }
}

impl Region {
    /// # Safety
    /// The thread is inside the region.
    unsafe fn job(&self) -> &Job<'static> {
        // SAFETY: the owner keeps the job until all have left.
        unsafe { &*self.job }
    }

    /// Lets a thread in; it must [`Region::leave`].
    fn join(&self) -> Option<usize> {
        let mut now = self.inside.load(Ordering::Acquire);
        loop {
            if now & CLOSED != 0 {
                return None;
            }
            match self.inside.compare_exchange_weak(now, now + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(n) => now = n,
            }
        }
        let id = self.joined.fetch_add(1, Ordering::AcqRel) as usize;
        if id < self.places.len() && self.shares.iter().any(Share::has_more) {
            return Some(id);
        }
        self.leave();
        None
    }

    fn leave(&self) {
        if self.inside.fetch_sub(1, Ordering::AcqRel) == CLOSED | 1 {
            self.owner.unpark();
        }
    }

    /// Runs pieces until there are no more, first those of the thread's own share; how many iterations.
    ///
    /// # Safety
    /// The thread is inside the region as `id`; the slots are its own and `ctx` its context.
    unsafe fn work(&self, id: usize, share: usize, slots: &mut [u64], ctx: Ctx) -> u64 {
        let here = Here { region: self, id, outer: HERE.get() };
        HERE.set(&raw const here);
        // SAFETY: the thread is inside the region.
        let (job, place) = (unsafe { self.job() }, &self.places[id]);
        place.ctx.store(ctx, Ordering::Release);
        let mut done = 0;
        // Of what is behind the first failure nothing is wanted, in any share.
        let wanted = |from: u64| from as i64 <= self.limit.load(Ordering::Acquire);
        let (before, own) = self.shares.split_at(share);
        for share in own.iter().chain(before) {
            while let Some((from, to)) = share.take().filter(|(from, _)| wanted(*from)) {
                let begin = |k| place.piece.store(k, Ordering::Relaxed);
                // SAFETY: as required of the caller.
                if let Err((piece, e)) = unsafe { job.run(from, to, slots, ctx, begin) } {
                    self.fail(piece as i64, e);
                    break;
                }
                done += job.grid.start(to) - job.grid.start(from);
            }
        }
        place.ctx.store(std::ptr::null_mut(), Ordering::Release);
        HERE.set(here.outer);
        done
    }

    /// Notes an exception. That of the first piece counts, but Ctrl-C before all; pieces behind it stop.
    fn fail(&self, piece: i64, e: Error) {
        // A piece that was told to stop raises something that nobody sees.
        let told = piece > self.limit.load(Ordering::Acquire);
        let piece = if e.is_a(Class::KeyboardInterrupt) && !told { -1 } else { piece };
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if !told && failure.as_ref().is_none_or(|f| piece < f.0) {
            *failure = Some((piece, e));
        }
        drop(failure);
        if self.limit.fetch_min(piece, Ordering::AcqRel) > piece {
            self.ask_to_stop();
        }
    }

    /// Threads in pieces that are not wanted look up at their next poll.
    fn ask_to_stop(&self) {
        let limit = self.limit.load(Ordering::Acquire);
        for p in &self.places {
            if p.piece.load(Ordering::Relaxed) as i64 <= limit {
                continue;
            }
            let ctx = p.ctx.load(Ordering::Acquire);
            if !ctx.is_null() {
                // SAFETY: the context of a thread in the region: workers live for ever, the owner waits.
                unsafe { ThreadCtx::polls(ctx) }.ask_for_poll(POLL_SIGNALS);
            }
        }
    }

    /// Lets nobody in any more, and waits for those inside: shortly by looking, then without the GIL, which
    /// they may need.
    fn close(&self) {
        let inside = self.inside.fetch_or(CLOSED, Ordering::AcqRel);
        if inside == 0 {
            return;
        }
        let empty = || self.inside.load(Ordering::Acquire) == CLOSED;
        for _ in 0..SPINS {
            if empty() {
                return;
            }
            std::hint::spin_loop();
        }
        while !empty() {
            (quiet().without_lock)(&mut || {
                let until = Instant::now() + LOOK;
                while !empty() {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    std::thread::park_timeout(left);
                }
            });
            if empty() {
                break;
            }
            if let Err(e) = ask() {
                self.fail(-1, e);
            }
        }
    }
}

/// About ten microseconds.
const SPINS: u32 = 400;
/// How often a thread that waits for others looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Rounding and the like, which helpers take over from who calls them.
#[cfg(target_arch = "x86_64")]
pub(super) fn float_mode() -> u32 {
    let mut mode = 0u32;
    // SAFETY: stores the control register of SSE into a local.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
    // Without the flags of exceptions that have happened.
    mode & !0x3f
}
#[cfg(target_arch = "x86_64")]
pub(super) fn set_float_mode(mode: u32) {
    // SAFETY: loads a value that `float_mode` gave.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
}
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn float_mode() -> u32 {
    0
}
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn set_float_mode(_: u32) {}
