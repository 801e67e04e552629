//! Promotion: what runs hot in tier 0 is compiled by tier 1 in the background, and running loops go over to
//! it.
//!
//! A [`Unit`] is one overload with everything that it calls: its entry cells, its snapshot, its sites. Heat
//! is measured in time, not in turns of loops: a ticker asks all running threads every now and then where
//! they are, and the loop that answers gets the credit ([`sample`]). So hot code costs nothing to profile,
//! and no counter bounces between cores. Calls from Python are counted as well, since a short function never
//! meets the ticker ([`Unit::called`]).
//!
//! Hot units wait in a queue ([`super::queue`]). In a call that lasts, the loop that is running comes first
//! ([`Work::Loop`]), then the whole unit; where calls are short, the unit alone, since no loop is still there
//! when its code is. Finished code is published by storing an address: in a site, which the loop asks at its
//! next sample, or in an entry cell, which the next call loads, from Python or from tier 0 ([`cells`]). A
//! unit that fails to compile stays in tier 0 and says so once.

use super::cache::{self, Key, Sought};
pub use super::policy::{Osr, Policy, policy, set_policy};
use super::queue::{self, Class, Job, lock, submit};
pub use super::queue::{after_fork, helped, pause, resume, staff};
use super::tier1::{self, Codegen, Compiler, Library, Native, Object};
use super::trace;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};
use tierup_core::backend::{Code, Keep};
use tierup_core::cpu::Cpu;
use tierup_core::diag::{Code as ErrorCode, Diagnostic, Result};
use tierup_core::lir::osr::{self, Point};
use tierup_core::lir::{Func, InstData, Module, cells, legalise, opt};
use tierup_core::lower::short_loop_entry::short_loop_entry;
use tierup_core::math::definition;

/// The shared library with LLVM, set once by the host.
static LIBRARY_PATH: OnceLock<PathBuf> = OnceLock::new();
static LIBRARY: OnceLock<std::result::Result<Library, String>> = OnceLock::new();

/// Says where the library is; without one nothing is promoted.
pub fn set_library(path: PathBuf) {
    cache::set_library(path.clone());
    let _ = LIBRARY_PATH.set(path);
}
/// Whether there is a tier 1.
pub fn available() -> bool {
    LIBRARY_PATH.get().is_some()
}

/// The library, opened at the first need.
pub(crate) fn library() -> Result<&'static Library> {
    let error = |m: &str| Diagnostic::new(ErrorCode::BackendError, m.to_owned());
    let path =
        LIBRARY_PATH.get().ok_or_else(|| error("this build of Tierup has no LLVM: only tier 0 is there"))?;
    LIBRARY.get_or_init(|| Library::open(path).map_err(|d| d.message)).as_ref().map_err(|m| error(m))
}

/// One place where a running loop may go over. Its address is what compiled code hands to [`sample`].
pub struct Site {
    /// Code to go on with, or null.
    pub entry: AtomicPtr<u8>,
    unit: OnceLock<Weak<Unit>>,
    func: usize,
    point: usize,
    state: AtomicU8,
    asked: AtomicU64,
    /// Which level of its nest is asked here, see `ThreadCtx::interrupt`.
    level: u64,
    /// The sites of loops around this one.
    around: Vec<usize>,
}

/// The point of a site that stands for a recursive function as a whole: it says that the function runs, and
/// nothing goes over there.
const WHOLE: usize = usize::MAX;
/// So many samples in a row in inner loops are left to a loop around them that has code or is waiting for it:
/// it may have had no chance to answer.
const PATIENT: u64 = 3;
/// A loop that went over that often has a caller that does not: then the rest of the unit is urgent.
const OFTEN: u64 = 3;

const COLD: u8 = 0;
const QUEUED: u8 = 1;
const DONE: u8 = 2;
const FAILED: u8 = 3;
/// It waits for its turn, but not with those that somebody waits for.
const POSTPONED: u8 = 4;

/// Where tier 0 enters a function of the unit that others call, and the run-time the bodies of parallel
/// loops: the code of the moment.
#[repr(C)]
pub(crate) struct Cell {
    /// First, since words are known by this address.
    pub entry: AtomicPtr<u8>,
    /// What an iteration of a parallel loop took the last time (see [`crate::parallel::region`]); 0 is
    /// unknown.
    pub cost: AtomicU64,
    name: String,
}

impl Cell {
    /// A cell for code that is never promoted.
    pub(crate) fn fixed(entry: *mut u8, cost: u64) -> Cell {
        Cell { entry: AtomicPtr::new(entry), cost: AtomicU64::new(cost), name: String::new() }
    }
}

/// The cells of a module, which learns where they lie. Only what may be promoted calls through cells; bodies
/// of parallel loops have one always.
pub(crate) fn make_cells(module: &mut Module, promotes: bool) -> Box<[Cell]> {
    let called = if promotes { cells::names(module) } else { vec![] };
    let cells: Box<[Cell]> = called
        .into_iter()
        .chain(cells::entered(module))
        .map(|name| Cell { name, entry: AtomicPtr::default(), cost: AtomicU64::new(0) })
        .collect();
    if !cells.is_empty() {
        cells::place(module, |name| {
            cells.iter().find(|c| c.name == name).map(|c| std::ptr::from_ref(&c.entry) as usize)
        });
    }
    cells
}

/// One overload on its way through the tiers.
pub struct Unit {
    pub name: String,
    /// Where callers enter: the wrapper, and the one that resumes a generator (else null).
    pub wrapper: AtomicPtr<u8>,
    pub resume: AtomicPtr<u8>,
    /// Where NumPy enters for few turns (`tierup_core::lower::short_loop_entry`); null where there is no such
    /// code, or not yet.
    pub short_loop: AtomicPtr<u8>,
    /// Counts down to the promotion by calls.
    calls: AtomicI64,
    /// What `calls` said when a loop was last asked.
    asked: AtomicI64,
    heat: AtomicU64,
    /// Samples in inner loops that were left to the loops around them, since one of those last answered.
    left: AtomicU64,
    /// When something of it was first queued, in microseconds of [`now`], or 0.
    queued: AtomicU64,
    state: AtomicU8,
    /// What tier 1 starts from; gone once it is no longer needed.
    snapshot: Mutex<Option<Arc<Snapshot>>>,
    sites: Box<[Site]>,
    cells: Box<[Cell]>,
    /// Code of tier 1, which lives as long as the unit: somebody may be running it.
    code: Mutex<Vec<Native>>,
    pub history: Mutex<History>,
    names: Names,
    codegen: Codegen,
    /// Calls elementary functions.
    pub elementary: bool,
    /// What the object of the whole unit is kept under, where there is a cache.
    pub key: Option<Key>,
}

/// What became of a unit, for reports.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// When tier 1 took over, since the unit was made, and how long compiling took.
    pub promoted: Option<(Duration, Duration)>,
    /// Loops that went over: function and line, when, how long compiling took.
    pub loops: Vec<(String, u32, Duration, Duration)>,
    pub failed: Option<String>,
    /// The code came out of the cache, or with a package.
    pub cached: bool,
    /// What it was made for, where a package brought it.
    pub shipped: Option<Cpu>,
    made: Option<Instant>,
}

/// Names of the two wrappers, and of the entry for few turns where one is wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub function: String,
    pub wrapper: String,
    pub resume: Option<String>,
    pub short_loop: Option<String>,
}

impl Names {
    pub(crate) fn roots(&self) -> Vec<&str> {
        std::iter::once(self.wrapper.as_str()).chain(self.resume.as_deref()).collect()
    }
    /// All that an object may be asked for: what it is found by.
    pub(crate) fn wanted(&self) -> Vec<&str> {
        self.roots().into_iter().chain(self.short_loop.as_deref()).collect()
    }
}

/// The optimised module before it is legalised, with the points of its functions.
pub(crate) struct Snapshot {
    pub module: Module,
    pub points: Vec<Vec<Point>>,
}

/// Whether code of a function calls one of those that are defined in `tierup_core::math`.
fn calls_elementary(f: &Func) -> bool {
    f.layout.iter().flat_map(|b| &f.blocks[b.index()].insts).any(|i| matches!(&f.insts[i.index()].data, InstData::CallHelper { helper, .. } if definition(helper).is_some()))
}

impl Unit {
    /// A unit of a module; the cells are filled by whoever compiles it.
    pub(crate) fn new(
        name: String,
        names: Names,
        module: &Module,
        cells: Box<[Cell]>,
        snapshot: Option<Snapshot>,
        codegen: Codegen,
        key: Option<Key>,
    ) -> Arc<Unit> {
        let sites = snapshot.iter().flat_map(|s| s.points.iter().zip(&s.module.funcs).enumerate()).flat_map(
            |(func, (points, f))| {
                (0..points.len()).chain(cells::recursive(f).then_some(WHOLE)).map(move |point| (func, point))
            },
        );
        let places: Vec<(usize, usize)> = sites.collect();
        let points =
            |func: usize, point: usize| snapshot.as_ref().map(|s| &s.points[func]).filter(|_| point != WHOLE);
        let level = |func, point| points(func, point).map_or(0, |p| p[point].level() as u64);
        let around = |func: usize, point: usize| -> Vec<usize> {
            let Some(points) = points(func, point) else { return vec![] };
            places
                .iter()
                .enumerate()
                .filter(|(_, p)| p.0 == func && p.1 != WHOLE && points[point].is_inside(&points[p.1]))
                .map(|(k, _)| k)
                .collect()
        };
        let sites: Box<[Site]> = places
            .iter()
            .map(|&(func, point)| Site {
                entry: AtomicPtr::new(std::ptr::null_mut()),
                unit: OnceLock::new(),
                func,
                point,
                state: AtomicU8::new(COLD),
                asked: AtomicU64::new(0),
                level: level(func, point),
                around: around(func, point),
            })
            .collect();
        let calls = if snapshot.is_some() { policy().calls } else { i64::MAX };
        let unit = Arc::new(Unit {
            name,
            wrapper: AtomicPtr::default(),
            resume: AtomicPtr::default(),
            short_loop: AtomicPtr::default(),
            calls: AtomicI64::new(calls),
            asked: AtomicI64::new(calls),
            heat: AtomicU64::new(0),
            left: AtomicU64::new(0),
            queued: AtomicU64::new(0),
            state: AtomicU8::new(COLD),
            snapshot: Mutex::new(snapshot.map(Arc::new)),
            sites,
            cells,
            code: Mutex::default(),
            history: Mutex::new(History { made: Some(Instant::now()), ..History::default() }),
            names,
            codegen,
            elementary: module.funcs.iter().any(calls_elementary),
            key,
        });
        for s in &unit.sites {
            let _ = s.unit.set(Arc::downgrade(&unit));
        }
        unit
    }

    /// A unit that begins in tier 1, with an object that was made before. None if there is none.
    pub(crate) fn cached(
        name: &str,
        names: &Names,
        sought: &Sought,
        codegen: Codegen,
        module: &mut Module,
    ) -> Option<Arc<Unit>> {
        sought.first(|place, bytes| {
            let begin = Instant::now();
            let object = Object { bytes, ..Object::default() };
            let cells = make_cells(module, false);
            let codegen = Codegen { cpu: place.cpu, ..codegen };
            let unit =
                Unit::new(name.to_owned(), names.clone(), module, cells, None, codegen, Some(place.key));
            let mut native = tier1::load(object, module, &crate::helper_address, false).ok()?;
            native.tell(module);
            publish(&unit, native).ok()?;
            unit.state.store(DONE, Ordering::Release);
            let mut h = lock(&unit.history);
            (h.promoted, h.cached) = (Some((Duration::ZERO, begin.elapsed())), true);
            h.shipped = place.is_shipped().then_some(place.cpu);
            drop(h);
            Some(unit)
        })
    }

    /// Bytes of tier 1's code.
    pub(crate) fn size(&self) -> usize {
        lock(&self.code).iter().map(|c| c.size()).sum()
    }

    /// Name and address of the word of a point.
    pub(crate) fn site(&self, func: usize, point: usize) -> (String, usize) {
        let at = self.sites.iter().position(|s| (s.func, s.point) == (func, point));
        (format!("site {func}.{point}"), at.map_or(0, |k| std::ptr::from_ref(&self.sites[k]) as usize))
    }

    /// Name and address of the word of a recursive function.
    pub(crate) fn whole_site(&self, func: usize) -> Option<(String, usize)> {
        Some(self.site(func, WHOLE)).filter(|s| s.1 != 0)
    }

    /// The address of the cell of a function.
    pub(crate) fn cell(&self, name: &str) -> Option<usize> {
        self.cells.iter().find(|c| c.name == name).map(|c| std::ptr::from_ref(&c.entry) as usize)
    }

    /// Tier 0's code is there: calls inside of it find it.
    pub(crate) fn fill_cells(&self, entry: impl Fn(&str) -> Result<*const u8>) -> Result<()> {
        for c in &self.cells {
            c.entry.store(entry(&c.name)?.cast_mut(), Ordering::Release);
        }
        Ok(())
    }

    /// What is entered from outside once tier 1 has the unit.
    fn roots(&self) -> Vec<&str> {
        self.names.roots().into_iter().chain(self.cells.iter().map(|c| c.name.as_str())).collect()
    }

    /// To be called at each call from Python. A count that is lost among threads does no harm; code that is
    /// promoted counts no more, so that threads do not write to one line of memory.
    #[inline(always)]
    pub fn called(self: &Arc<Unit>) {
        let left = self.calls.load(Ordering::Relaxed);
        if left != i64::MAX {
            self.calls.store(left - 1, Ordering::Relaxed);
            if left == 1 {
                self.hot_by_calls();
            }
        }
    }

    #[cold]
    fn hot_by_calls(self: &Arc<Unit>) {
        self.request(1, Class::Soon);
    }

    /// Which tier the next call enters.
    pub fn tier(&self) -> u8 {
        u8::from(self.state.load(Ordering::Acquire) == DONE)
    }

    fn request(self: &Arc<Unit>, heat: u64, class: Class) {
        let wanted = match class {
            Class::Soon => QUEUED,
            Class::Later => POSTPONED,
        };
        let state = self.state.load(Ordering::Acquire);
        let due = state == COLD || state == POSTPONED && class == Class::Soon;
        if due {
            self.note_queued();
        }
        if due && self.state.compare_exchange(state, wanted, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            submit(Box::new(Work::Whole(Arc::downgrade(self), class)), heat, class);
        }
    }

    fn note_queued(&self) {
        let _ = self.queued.compare_exchange(0, now(), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether it has waited for two thirds of what tier 1 takes: about 8 ms, in which LLVM starts, and 0.09
    /// ms for each instruction. Nobody knows how long the program goes on. If it has gone on for that long,
    /// then waiting costs at most three times what tier 0 alone would, in the case that it ends just then;
    /// the fewest programs take more than 1.3 times the better tier alone.
    fn is_overdue(&self) -> bool {
        let queued = self.queued.load(Ordering::Relaxed);
        if queued == 0 {
            return false;
        }
        let size = lock(&self.snapshot).as_ref().map_or(0, |s| {
            s.module
                .funcs
                .iter()
                .flat_map(|f| f.layout.iter().map(|b| f.blocks[b.index()].insts.len()))
                .sum::<usize>()
        });
        now().saturating_sub(queued) > 5_000 + 60 * size as u64
    }

    /// Compiles now, on this thread.
    pub(crate) fn promote_now(self: &Arc<Unit>) {
        if self.state.compare_exchange(COLD, QUEUED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            Work::Whole(Arc::downgrade(self), Class::Soon).run();
        }
    }
}

/// A running loop, or a recursive function, says where it is. Gives the code to go on with, or null.
pub(crate) fn sample(site: &Site) -> *mut u8 {
    let entry = site.entry.load(Ordering::Acquire);
    let stress = stressed();
    if !entry.is_null() && !stress {
        return go_over(site, entry);
    }
    let Some(unit) = site.unit.get().and_then(Weak::upgrade) else { return std::ptr::null_mut() };
    if stress && site.point != WHOLE {
        return stress_sample(site, &unit);
    }
    let pending = || {
        let around = site.around.iter().any(|k| unit.sites[*k].state.load(Ordering::Relaxed) == QUEUED);
        around || site.state.load(Ordering::Relaxed) == QUEUED || unit.state.load(Ordering::Relaxed) == QUEUED
    };
    if pending() && queue::alone() && unit.is_overdue() {
        queue::wait(pending);
    }
    let policy = policy();
    if policy.off || policy.osr == Osr::Off && unit.state.load(Ordering::Acquire) != COLD {
        return std::ptr::null_mut();
    }
    let calls = unit.calls.load(Ordering::Relaxed);
    let lasts = unit.asked.swap(calls, Ordering::Relaxed).wrapping_sub(calls) <= 1;
    // Who is asked in an inner loop was asked outside of it at the samples before.
    let samples = 1 + site.level;
    let heat = unit.heat.fetch_add(samples, Ordering::Relaxed) + samples;
    if u128::from(heat) * SAMPLE.as_nanos() < policy.time.as_nanos() {
        return std::ptr::null_mut();
    }
    let loops = policy.osr != Osr::Off && site.point != WHOLE && lasts;
    let has_code_or_waits = |site: &Site| matches!(site.state.load(Ordering::Relaxed), QUEUED | DONE);
    if has_code_or_waits(site) {
        unit.left.store(0, Ordering::Relaxed);
    }
    let better = loops
        && site.around.iter().any(|k| has_code_or_waits(&unit.sites[*k]))
        && unit.left.fetch_add(1, Ordering::Relaxed) < PATIENT;
    if loops {
        unit.note_queued();
    }
    if loops
        && !better
        && site.state.compare_exchange(COLD, QUEUED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    {
        let work = Work::Loop(Arc::downgrade(&unit), std::ptr::from_ref(site) as usize);
        submit(Box::new(work), heat + 1, Class::Soon);
    }
    unit.request(heat, if loops { Class::Later } else { Class::Soon });
    site.entry.load(Ordering::Acquire)
}

fn go_over(site: &Site, entry: *mut u8) -> *mut u8 {
    // It is the caller that stays in tier 0, if this happens again and again.
    let often = site.asked.fetch_add(1, Ordering::Relaxed) + 1 == OFTEN;
    if (often || trace::on())
        && let Some(unit) = site.unit.get().and_then(Weak::upgrade)
    {
        if often {
            unit.request(OFTEN, Class::Soon);
        }
        trace::instant("a running loop goes over", "switch", &unit.name);
    }
    entry
}

/// Microseconds since the process first asked; never 0.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    1 + START.get_or_init(Instant::now).elapsed().as_micros() as u64
}

/// How often running loops are asked.
pub const SAMPLE: Duration = Duration::from_millis(2);

static STRESS: AtomicBool = AtomicBool::new(false);
fn stressed() -> bool {
    STRESS.load(Ordering::Relaxed)
}
/// Every point goes over, at a turn chosen at random: a test of on-stack replacement.
pub fn set_stress(on: bool) {
    STRESS.store(on, Ordering::Relaxed)
}

fn stress_sample(site: &Site, unit: &Arc<Unit>) -> *mut u8 {
    static RANDOM: AtomicU64 = AtomicU64::new(0x9e37_79b9_7f4a_7c15);
    let x = RANDOM.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    let x = (x ^ (x >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    // Early turns most often, late ones now and then.
    if (x >> 40) % (1 + site.asked.fetch_add(1, Ordering::Relaxed) % 4) != 0 {
        return std::ptr::null_mut();
    }
    if site.state.compare_exchange(COLD, QUEUED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        Work::Loop(Arc::downgrade(unit), std::ptr::from_ref(site) as usize).run();
    }
    site.entry.load(Ordering::Acquire)
}

// ---------------------------------------------------------------- work

/// One thing to compile. It keeps nothing alive: a program that makes and drops functions faster than they
/// are compiled must not grow.
enum Work {
    /// Everything, entered from the start; the class in which it waits.
    Whole(Weak<Unit>, Class),
    /// The rest of a running loop: the unit and the address of its site.
    Loop(Weak<Unit>, usize),
}

/// Compilations that have ended or failed, for tests and reports.
static FINISHED: AtomicUsize = AtomicUsize::new(0);
pub fn finished() -> usize {
    FINISHED.load(Ordering::Acquire)
}

impl Work {
    fn unit(&self) -> &Weak<Unit> {
        match self {
            Work::Whole(u, _) | Work::Loop(u, _) => u,
        }
    }
}

impl Job for Work {
    fn is_alive(&self) -> bool {
        self.unit().strong_count() > 0
    }

    fn run(&self) {
        let begin = Instant::now();
        let Some(unit) = self.unit().upgrade() else { return };
        let unit = &*unit;
        // It became urgent meanwhile: then it waits, or has waited, twice.
        if matches!(self, Work::Whole(_, Class::Later)) && unit.state.load(Ordering::Acquire) != POSTPONED {
            return;
        }
        let done = match self {
            Work::Whole(..) => whole(unit),
            Work::Loop(_, site) => running_loop(unit, *site),
        };
        let took = begin.elapsed();
        let what = match self {
            Work::Whole(..) => "promote",
            Work::Loop(..) => "promote a running loop",
        };
        trace::span(what, "tier 1", begin, took, &unit.name);
        let mut history = lock(&unit.history);
        let since = history.made.map_or(Duration::ZERO, |m| m.elapsed());
        match (self, done) {
            (Work::Whole(..), Ok(_)) => {
                unit.state.store(DONE, Ordering::Release);
                history.promoted = Some((since, took));
            }
            (Work::Loop(..), Ok(Some((func, line)))) => history.loops.push((func, line, since, took)),
            (Work::Loop(..), Ok(None)) => {}
            (work, Err(d)) => {
                match work {
                    Work::Whole(..) => unit.state.store(FAILED, Ordering::Release),
                    Work::Loop(_, site) => site_at(unit, *site)
                        .into_iter()
                        .for_each(|s| s.state.store(FAILED, Ordering::Release)),
                }
                if history.failed.replace(d.message.clone()).is_none() {
                    eprintln!(
                        "tierup: `{}` stays in tier 0: LLVM could not compile it: {}",
                        unit.name, d.message
                    );
                }
            }
        }
        drop(history);
        // What else of it is waiting begins to wait now.
        if unit.queued.load(Ordering::Relaxed) != 0 {
            unit.queued.store(now(), Ordering::Relaxed);
        }
        FINISHED.fetch_add(1, Ordering::Release);
    }
}

fn site_at(unit: &Unit, address: usize) -> Option<&Site> {
    unit.sites.iter().find(|s| std::ptr::from_ref(*s) as usize == address)
}

fn snapshot(unit: &Unit) -> Result<Arc<Snapshot>> {
    lock(&unit.snapshot).clone().ok_or_else(|| Diagnostic::internal("a unit without a snapshot is hot"))
}

/// What tier 1 does to LIR before LLVM sees it.
pub(super) fn prepare(module: &mut Module) -> Result<()> {
    tierup_core::emit::blockwise::settle(module, false);
    let mut analyses = opt::ModuleAnalyses::default();
    for name in opt::TIER1 {
        if let Some(pass) = opt::lookup(name) {
            pass.apply(module, &mut analyses, &opt::Options::default());
        }
        if cfg!(debug_assertions) {
            tierup_core::lir::verify::verify_module(module)
                .map_err(|d| d.note(format!("after the pass {name}")))?;
        }
    }
    legalise::legalise(module);
    if cfg!(debug_assertions) {
        tierup_core::lir::verify::verify_module(module)?;
    }
    Ok(())
}

fn compile(module: &Module, roots: &[&str], codegen: Codegen) -> Result<(Native, Vec<u8>)> {
    let begin = Instant::now();
    let object = library()?.object(module, roots, codegen, Keep::default())?;
    trace::span("LLVM", "tier 1", begin, begin.elapsed(), roots.first().unwrap_or(&""));
    let (bytes, begin) = (object.bytes.clone(), Instant::now());
    let mut native = tier1::load(object, module, &crate::helper_address, codegen.lines)?;
    trace::span("load", "tier 1", begin, begin.elapsed(), roots.first().unwrap_or(&""));
    native.tell(module);
    Ok((native, bytes))
}

fn whole(unit: &Unit) -> Result<Option<(String, u32)>> {
    let mut module = snapshot(unit)?.module.clone();
    let short_loop = prepare_with_entry(&mut module, &unit.names)?;
    let roots: Vec<&str> = unit.roots().into_iter().chain(short_loop).collect();
    let (native, object) = compile(&module, &roots, unit.codegen)?;
    publish(unit, native)?;
    if let Some(key) = unit.key {
        cache::put(key, &label(unit, &module), &object, library()?.address());
    }
    Ok(None)
}

/// Prepares a module, and adds the entry for few turns where one is wanted and can be had. What pays for many
/// turns (tests of strides in front of the loop) is not done to that.
pub(super) fn prepare_with_entry<'n>(module: &mut Module, names: &'n Names) -> Result<Option<&'n str>> {
    let entry = names
        .short_loop
        .as_deref()
        .and_then(|name| short_loop_entry(module.funcs.iter().find(|f| f.name == names.wrapper)?, name));
    prepare(module)?;
    let Some(entry) = entry else { return Ok(None) };
    let mut entry = Module { funcs: vec![entry] };
    tierup_core::emit::blockwise::settle(&mut entry, false);
    legalise::legalise(&mut entry);
    if cfg!(debug_assertions) {
        tierup_core::lir::verify::verify_module(&entry)?;
    }
    module.funcs.append(&mut entry.funcs);
    Ok(names.short_loop.as_deref())
}

/// What people see in the list of the cache.
fn label(unit: &Unit, module: &Module) -> String {
    let name = unit.name.rsplit_once('.').map_or(unit.name.as_str(), |n| n.0);
    let first = module.funcs.iter().flat_map(|f| &f.locs).filter(|l| *l.func == *name).min_by_key(|l| l.line);
    first.map_or_else(|| name.to_owned(), |l| format!("{name} ({}:{})", l.file, l.line))
}

/// Lets callers enter the code.
fn publish(unit: &Unit, native: Native) -> Result<()> {
    let find = |name: &str| {
        native
            .entry(name)
            .map(<*const u8>::cast_mut)
            .ok_or_else(|| Diagnostic::internal(format!("{name} is not in its object")))
    };
    let (wrapper, resume) = (find(&unit.names.wrapper)?, unit.names.resume.as_deref().map(find).transpose()?);
    let inside = unit.cells.iter().map(|c| find(&c.name)).collect::<Result<Vec<_>>>()?;
    let short_loop = unit.names.short_loop.as_deref().and_then(|name| native.entry(name));
    // Code first, addresses second: whoever sees an address may enter.
    lock(&unit.code).push(native);
    for (cell, entry) in unit.cells.iter().zip(inside) {
        cell.entry.store(entry, Ordering::Release);
    }
    if let Some(r) = resume {
        unit.resume.store(r, Ordering::Release);
    }
    if let Some(f) = short_loop {
        unit.short_loop.store(f.cast_mut(), Ordering::Release);
    }
    unit.wrapper.store(wrapper, Ordering::Release);
    unit.calls.store(i64::MAX, Ordering::Relaxed);
    trace::instant("tier 1 takes over", "switch", &unit.name);
    Ok(())
}

fn running_loop(unit: &Unit, site: usize) -> Result<Option<(String, u32)>> {
    let site = site_at(unit, site).ok_or_else(|| Diagnostic::internal("no such site"))?;
    let snapshot = snapshot(unit)?;
    let (func, points) = (&snapshot.module.funcs[site.func], &snapshot.points[site.func]);
    let mut module = loop_module(&snapshot, func, points, site.point);
    prepare(&mut module)?;
    let name = osr::entry_name(&func.name, site.point);
    let key = unit.key.map(|k| k.of_point(site.func, site.point));
    let native = match key.and_then(|k| cached_loop(k, &module)) {
        Some(native) => native,
        None => {
            let (native, object) = compile(&module, &[&name], unit.codegen)?;
            if let Some(key) = key {
                cache::put(
                    key,
                    &format!("{}, from a loop on", label(unit, &snapshot.module)),
                    &object,
                    library()?.address(),
                );
            }
            native
        }
    };
    let entry =
        native.entry(&name).ok_or_else(|| Diagnostic::internal(format!("{name} is not in its object")))?;
    lock(&unit.code).push(native);
    site.entry.store(entry.cast_mut(), Ordering::Release);
    site.state.store(DONE, Ordering::Release);
    let line = func.loc(points[site.point].loc).map_or(0, |l| l.line);
    Ok(Some((func.name.clone(), line)))
}

/// The code of a running loop that another process made.
fn cached_loop(key: Key, module: &Module) -> Option<Native> {
    let object = Object { bytes: cache::get(key)?, ..Object::default() };
    match tier1::load(object, module, &crate::helper_address, false) {
        Ok(mut native) => {
            native.tell(module);
            Some(native)
        }
        Err(_) => {
            cache::forget(key);
            None
        }
    }
}

/// The function that goes on, and everything that it may call.
fn loop_module(snapshot: &Snapshot, func: &Func, points: &[Point], k: usize) -> Module {
    let entry = osr::entry(func, points, k);
    let by_name: HashMap<&str, &Func> = snapshot.module.funcs.iter().map(|f| (f.name.as_str(), f)).collect();
    let mut names: Vec<&str> = vec![];
    let mut todo: Vec<&str> = entry.funcs.iter().map(|f| f.name.as_str()).collect();
    while let Some(name) = todo.pop() {
        let Some((&name, f)) = by_name.get_key_value(name) else { continue };
        if names.contains(&name) {
            continue;
        }
        names.push(name);
        todo.extend(f.funcs.iter().map(|f| f.name.as_str()));
    }
    names.sort_unstable();
    let callees: Vec<Func> = names.iter().filter_map(|n| by_name.get(n)).map(|f| (*f).clone()).collect();
    Module { funcs: std::iter::once(entry).chain(callees).collect() }
}
