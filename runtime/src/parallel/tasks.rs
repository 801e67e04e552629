//! Tasks: threads of their own, in groups that whoever opens them closes, and the channels between them.
//!
//! * Threads that wait for a channel would starve the pool of parallel loops, so tasks have others, which are
//!   kept for the next task.
//! * One lock guards who waits for what. It is held for some instructions at a time; compiled code puts values
//!   in and takes them out while [`ChannelWords::busy`] keeps others away.
//! * The tasks of a group, and of groups that they open, are one family. Where all its threads wait for
//!   channels that none of them can serve, each of them gets a RuntimeError: nobody else knows their channels.
//! * A task that fails has the others of its group stop where they wait, and at their next poll.

use super::region::{ask, float_mode, set_float_mode};
use super::settings::Settings;
use crate::Native;
use crate::engine::promote::Cell as Word;
use crate::engine::{Wrapper, interpreted};
use crate::exc::{Error, Exc, Res, or_raise};
use crate::host::quiet;
use crate::panics::settle;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tierup_core::exc::Class;
use tierup_core::interp::Interp;
use tierup_core::layout::{Obj, POLL_SIGNALS, ThreadCtx};
use tierup_core::ops::tasks::{ChannelWords, Helpers, Wanted};
use tierup_core::rt::{Ctx, P};

/// How often a thread that waits looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
const STACK: usize = 8 << 20;
const STUCK: &str =
    "deadlock: all tasks wait, for values or room in channels that none of them is going to give";

/// What a thread waits for.
#[derive(Clone, Copy)]
enum For {
    Channel(*const ChannelWords, Wanted),
    /// The end of all tasks of a group.
    Group(u64),
}

struct Waiter {
    what: For,
    family: u64,
    /// The innermost group that the thread is in.
    group: u64,
    /// Whether it was found that nobody will ever wake it.
    stuck: bool,
    wake: Arc<Condvar>,
}
// SAFETY: words of channels are looked at under the lock alone, while a waiter or a caller keeps them.
unsafe impl Send for Waiter {}

struct Group {
    family: u64,
    /// The group around it; 0 where there is none.
    outer: u64,
    started: usize,
    /// Contexts of its tasks that have not ended.
    running: Vec<(usize, usize)>,
    live: usize,
    cancelled: bool,
    /// The exception of the first task that failed, in the order in which they were started.
    failure: Option<(usize, Error)>,
}
// SAFETY: a native exception belongs to one thread at a time.
unsafe impl Send for Group {}

#[derive(Default)]
struct State {
    groups: HashMap<u64, Group>,
    /// Threads of each family that have not ended.
    families: HashMap<u64, usize>,
    waiters: HashMap<u64, Waiter>,
    made: u64,
    /// Threads that have nothing to do.
    idle: Vec<Arc<Seat>>,
}

/// Where a thread finds its next task.
#[derive(Default)]
struct Seat {
    task: Mutex<Option<Task>>,
    wake: Condvar,
}

/// What a thread is to do.
struct Task {
    group: u64,
    number: usize,
    cell: *const Word,
    slots: Vec<u64>,
    /// Slots that are references.
    refs: Vec<bool>,
    interp: Option<*const Interp<'static>>,
    settings: Settings,
    mode: u32,
}
// SAFETY: the group is closed before the code that the cell belongs to goes; references are counted atomically.
unsafe impl Send for Task {}

static STATE: AtomicPtr<Mutex<State>> = AtomicPtr::new(std::ptr::null_mut());
/// Groups of which a task has failed, or whose block has: polls look closer where there are any.
static CANCELLED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The group whose task this thread is.
    static TASK: Cell<u64> = const { Cell::new(0) };
    /// Groups that this thread has opened, and whether it was told to stop in them.
    static OPEN: RefCell<Vec<(u64, bool)>> = const { RefCell::new(Vec::new()) };
    /// Whether objects of this thread were left alone before it opened the first of them.
    static LEFT_ALONE: Cell<bool> = const { Cell::new(false) };
}

fn state() -> MutexGuard<'static, State> {
    let mut at = STATE.load(Ordering::Acquire);
    if at.is_null() {
        let fresh = Box::into_raw(Box::default());
        match STATE.compare_exchange(at, fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => at = fresh,
            Err(other) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(fresh) });
                at = other;
            }
        }
    }
    // SAFETY: never freed.
    unsafe { &*at }.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In a forked child: no task is left. What it inherited is left as it is.
pub(super) fn after_fork() {
    STATE.store(std::ptr::null_mut(), Ordering::Release);
    CANCELLED.store(0, Ordering::Release);
}

/// Whether this thread is a task.
fn is_task() -> bool {
    TASK.get() != 0
}

/// The innermost group that this thread is in; 0 for none.
fn here() -> u64 {
    OPEN.with_borrow(|open| open.last().map_or(0, |g| g.0)).max(TASK.get())
}

/// Ends a task whose group was told to stop. The block of a group goes on until it waits, or ends.
pub(super) fn poll() -> Res<()> {
    if CANCELLED.load(Ordering::Acquire) == 0 || !is_task() || !state().is_cancelled(TASK.get()) {
        return Ok(());
    }
    abandon();
    Err(told())
}

/// Closes all groups that this thread has opened. What a poll raises passes over handlers of the function that
/// it is in, so the ends of their blocks may never be reached.
pub(super) fn abandon() {
    while let Some(group) = OPEN.with_borrow(|open| open.last().map(|g| g.0)) {
        // The exception that is on its way counts.
        drop(close(group, true));
    }
}

/// What a thread raises that is told to stop; nobody sees it.
fn told() -> Error {
    OPEN.with_borrow_mut(|open| open.iter_mut().for_each(|g| g.1 = true));
    super::stop()
}

/// How things stand at a channel: nothing where one has to wait.
///
/// # Safety
/// The words are a live channel's, and the lock is held.
unsafe fn look(words: *const ChannelWords, wanted: Wanted) -> Option<bool> {
    // SAFETY: as required of the caller.
    let w = unsafe { &*words };
    match wanted {
        _ if w.busy != 0 => None,
        Wanted::Room if w.closed != 0 => Some(false),
        Wanted::Room => (w.count < w.capacity).then_some(true),
        Wanted::Value if w.count > 0 => Some(true),
        Wanted::Value => (w.closed != 0).then_some(false),
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    fn is_cancelled(&self, mut group: u64) -> bool {
        while let Some(g) = self.groups.get(&group) {
            if g.cancelled {
                return true;
            }
            group = g.outer;
        }
        false
    }

    fn is_ready(&self, w: &Waiter) -> bool {
        match w.what {
            // SAFETY: whoever waits keeps the channel; the lock is held.
            For::Channel(words, wanted) => unsafe { look(words, wanted) }.is_some(),
            For::Group(g) => self.groups.get(&g).is_none_or(|g| g.live == 0),
        }
    }

    /// Wakes threads that wait for something, or for anything.
    fn wake(&self, which: impl Fn(&Waiter) -> bool) {
        self.waiters.values().filter(|w| which(w)).for_each(|w| w.wake.notify_one());
    }

    /// Whether nobody of a family can go on: those that wait for channels are told.
    fn look_for_deadlock(&mut self, family: u64) {
        let threads = self.families.get(&family).copied().unwrap_or(0);
        let all: Vec<&Waiter> = self.waiters.values().filter(|w| w.family == family).collect();
        let goes_on = |w: &&Waiter| w.stuck || self.is_ready(w) || self.is_cancelled(w.group);
        if all.is_empty() || all.len() < threads || all.iter().any(goes_on) {
            return;
        }
        for w in self.waiters.values_mut().filter(|w| w.family == family) {
            if let For::Channel(..) = w.what {
                w.stuck = true;
                w.wake.notify_one();
            }
        }
    }

    /// Has the threads of a group, but for the one that closes it, stop where they wait or poll.
    fn cancel(&mut self, group: u64) {
        let Some(g) = self.groups.get_mut(&group) else { return };
        if std::mem::replace(&mut g.cancelled, true) {
            return;
        }
        CANCELLED.fetch_add(1, Ordering::AcqRel);
        for g in self.groups.iter().filter(|(n, _)| self.is_cancelled(**n)).map(|(_, g)| g) {
            for (_, ctx) in &g.running {
                // SAFETY: a context is taken out before its thread goes on to something else, and lives as long
                // as the thread.
                unsafe { ThreadCtx::polls(*ctx as *const ThreadCtx) }.ask_for_poll(POLL_SIGNALS);
            }
        }
        self.wake(|_| true);
    }
}

/// Waits until `done` finds something, with what Ctrl-C raises; and where `stops`, until the thread is told to
/// stop or nobody of its family can go on.
fn wait<T>(what: For, stops: bool, mut done: impl FnMut(&mut State) -> Option<T>) -> Res<T> {
    let group = here();
    let mut s = state();
    if let Some(t) = done(&mut s) {
        return Ok(t);
    }
    let Some(family) = s.groups.get(&group).map(|g| g.family) else {
        return Err(Error::new(Class::RuntimeError, STUCK));
    };
    let (me, wake) = (s.number(), Arc::new(Condvar::new()));
    s.waiters.insert(me, Waiter { what, family, group, stuck: false, wake: wake.clone() });
    s.look_for_deadlock(family);
    drop(s);
    let mut out: Option<Res<T>> = None;
    while out.is_none() {
        let mut is_late = false;
        (quiet().without_lock)(&mut || {
            let mut s = state();
            loop {
                out = if stops && s.is_cancelled(group) {
                    Some(Err(told()))
                } else if let Some(t) = done(&mut s) {
                    Some(Ok(t))
                } else if stops && s.waiters.get(&me).is_some_and(|w| w.stuck) {
                    Some(Err(Error::new(Class::RuntimeError, STUCK)))
                } else {
                    None
                };
                if out.is_some() {
                    s.waiters.remove(&me);
                    return;
                }
                if is_late {
                    return;
                }
                let (next, timeout) = wake.wait_timeout(s, LOOK).unwrap_or_else(PoisonError::into_inner);
                (s, is_late) = (next, timeout.timed_out());
            }
        });
        if out.is_none()
            && let Err(e) = ask()
        {
            state().waiters.remove(&me);
            return Err(e);
        }
    }
    out.unwrap_or_else(|| Err(Error::new(Class::RuntimeError, STUCK)))
}

fn open() -> u64 {
    let outer = here();
    let mut s = state();
    let number = s.number();
    let family = s.groups.get(&outer).map_or(number, |g| g.family);
    if family == number {
        s.families.insert(family, 1);
    }
    let group =
        Group { family, outer, started: 0, running: vec![], live: 0, cancelled: false, failure: None };
    s.groups.insert(number, group);
    drop(s);
    // Tasks may use objects of this thread.
    let before = crate::ring_members::leave_alone(true);
    OPEN.with_borrow_mut(|open| {
        if open.is_empty() {
            LEFT_ALONE.set(before);
        }
        open.push((number, false));
    });
    number
}

/// Starts a task; it is given back where there is no thread for it.
fn start(mut task: Task) -> Result<(), (Task, Error)> {
    let mut s = state();
    let Some(g) = s.groups.get_mut(&task.group) else {
        let text = "spawn() behind the end of the block that its tasks belong to";
        return Err((task, Error::new(Class::RuntimeError, text)));
    };
    task.number = g.started;
    (g.started, g.live) = (g.started + 1, g.live + 1);
    let family = g.family;
    *s.families.entry(family).or_default() += 1;
    let (seat, is_new) = match s.idle.pop() {
        Some(seat) => (seat, false),
        None => (Arc::new(Seat::default()), true),
    };
    drop(s);
    let group = task.group;
    *seat.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    if !is_new {
        seat.wake.notify_one();
        return Ok(());
    }
    let mine = seat.clone();
    let named = std::thread::Builder::new().name("tierup-task".into()).stack_size(STACK);
    let Err(e) = named.spawn(move || serve(&mine)) else { return Ok(()) };
    let mut s = state();
    s.end(group, family);
    let task = seat.task.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(s);
    match task {
        Some(task) => Err((task, Error::new(Class::RuntimeError, format!("can't start new thread: {e}")))),
        None => Ok(()),
    }
}

impl State {
    /// A task has ended.
    fn end(&mut self, group: u64, family: u64) {
        if let Some(threads) = self.families.get_mut(&family) {
            *threads -= 1;
        }
        if let Some(g) = self.groups.get_mut(&group) {
            g.live -= 1;
            if g.live == 0 {
                self.wake(|w| matches!(w.what, For::Group(n) if n == group));
            }
        }
        self.look_for_deadlock(family);
    }
}

/// The life of a thread for tasks.
fn serve(seat: &Arc<Seat>) {
    super::pool::be_worker();
    let ctx = (quiet().context)();
    loop {
        let mut next = seat.task.lock().unwrap_or_else(PoisonError::into_inner);
        let task = loop {
            match next.take() {
                Some(task) => break task,
                None => next = seat.wake.wait(next).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(next);
        let (group, number) = (task.group, task.number);
        let mut s = state();
        let family = s.groups.get_mut(&group).map_or(0, |g| {
            g.running.push((number, ctx as usize));
            g.family
        });
        drop(s);
        TASK.set(group);
        let result = if state().is_cancelled(group) { Ok(()) } else { run(&task, ctx) };
        give_back(&task);
        let mut s = state();
        let stopped = s.is_cancelled(group);
        if let Some(g) = s.groups.get_mut(&group) {
            g.running.retain(|(n, _)| *n != number);
            // What a task raises that was told to stop is nobody's business.
            let counts = |e: &Error| !(stopped && e.is_a(Class::KeyboardInterrupt));
            if let Err(e) = result
                && counts(&e)
                && g.failure.as_ref().is_none_or(|(n, _)| number < *n)
            {
                g.failure = Some((number, e));
                s.cancel(group);
            }
        }
        TASK.set(0);
        // SAFETY: this thread's context.
        unsafe { ThreadCtx::polls(ctx) }.answer_poll(!POLL_SIGNALS);
        s.idle.push(seat.clone());
        s.end(group, family);
    }
}

/// Calls what a task is to do.
fn run(task: &Task, ctx: Ctx) -> Res<()> {
    let (settings, mode) = (task.settings.enter(), float_mode());
    set_float_mode(task.mode);
    // SAFETY: the group is closed before the code goes, and its word holds the wrapper's address; the slots are
    // what it takes.
    let status = unsafe {
        let entry = (*task.cell).entry.load(Ordering::Acquire);
        match task.interp {
            Some(i) => interpreted::call(&*i, entry, ctx, task.slots.as_ptr(), std::ptr::null_mut()),
            None => {
                std::mem::transmute::<*mut u8, Wrapper>(entry)(ctx, task.slots.as_ptr(), std::ptr::null_mut())
            }
        }
    };
    set_float_mode(mode);
    settings.enter();
    let status = settle(status);
    // SAFETY: a status other than 0 is an owned exception.
    if status == 0 { Ok(()) } else { Err(unsafe { Error::from_raw(status as usize as *mut Exc) }) }
}

/// Gives the references of a task's arguments back.
fn give_back(task: &Task) {
    for (slot, _) in task.slots.iter().zip(&task.refs).filter(|(_, r)| **r) {
        // SAFETY: whoever started the task counted one reference for it.
        unsafe { crate::object::release(*slot as usize as *mut Obj) };
    }
}

/// Closes a group that this thread has opened.
fn close(group: u64, failed: bool) -> Res<()> {
    let mut interrupt = None;
    if failed {
        state().cancel(group);
    }
    let over = |s: &mut State| s.groups.get(&group).is_none_or(|g| g.live == 0).then_some(());
    while let Err(e) = wait(For::Group(group), false, over) {
        state().cancel(group);
        interrupt = Some(e);
    }
    let told = OPEN.with_borrow_mut(|open| {
        let at = open.iter().rposition(|g| g.0 == group);
        let told = at.is_some_and(|at| open.split_off(at).iter().any(|g| g.1));
        if at.is_some() && open.is_empty() {
            crate::ring_members::leave_alone(LEFT_ALONE.get());
        }
        told
    });
    let mut s = state();
    let Some(g) = s.groups.remove(&group) else { return Ok(()) };
    if g.cancelled {
        CANCELLED.fetch_sub(1, Ordering::AcqRel);
    }
    if g.family == group {
        s.families.remove(&group);
    }
    drop(s);
    match (interrupt, g.failure) {
        (Some(e), _) => Err(e),
        // What the block raised itself goes on.
        // Being told to stop is nothing to show.
        (None, Some((_, e))) if told => Err(e.from_none()),
        (None, Some((_, e))) if !failed => Err(e),
        (None, _) => Ok(()),
    }
}

impl Helpers for Native {
    unsafe fn task_group_open(_: Ctx) -> i64 {
        open() as i64
    }
    unsafe fn task_start(ctx: Ctx, group: i64, word: P, args: P, count: i64, refs: *const u8) {
        // SAFETY: the word is the first field of a cell; there are so many slots, and a byte for each.
        let task = unsafe {
            let cell = word.cast::<Word>().cast_const();
            Task {
                group: group as u64,
                number: 0,
                cell,
                slots: std::slice::from_raw_parts(args.cast::<u64>(), count as usize).to_vec(),
                refs: (0..count as usize).map(|k| *refs.add(k) != 0).collect(),
                interp: interpreted::running((*cell).entry.load(Ordering::Acquire)),
                settings: Settings::here(),
                mode: float_mode(),
            }
        };
        let result = start(task).map_err(|(task, e)| {
            give_back(&task);
            e
        });
        // SAFETY: the context is this thread's.
        unsafe { or_raise(ctx, result) }
    }
    unsafe fn task_group_close(ctx: Ctx, group: i64, failed: i8) {
        // SAFETY: as above.
        unsafe { or_raise(ctx, close(group as u64, failed != 0)) }
    }
    unsafe fn channel_enter(ctx: Ctx, words: P, wanted: i8) -> i8 {
        let words = words.cast::<ChannelWords>();
        let wanted = if wanted == Wanted::Room as i8 { Wanted::Room } else { Wanted::Value };
        // SAFETY: compiled code keeps the channel; the lock is held.
        let found = wait(For::Channel(words, wanted), true, |_| unsafe {
            let goes_on = look(words, wanted)?;
            if goes_on {
                (*words).busy = 1;
            }
            Some(goes_on)
        });
        let found = found.and_then(|goes_on| match wanted {
            Wanted::Room if !goes_on => Err(Error::value("send() on a channel that is closed")),
            Wanted::Room | Wanted::Value => Ok(i8::from(goes_on)),
        });
        // SAFETY: as above.
        unsafe { or_raise(ctx, found) }
    }
    unsafe fn channel_leave(words: P, more: i64) {
        let words = words.cast::<ChannelWords>();
        let s = state();
        // SAFETY: compiled code keeps the channel; the lock is held.
        unsafe {
            (*words).busy = 0;
            (*words).count += more;
        }
        s.wake(|w| matches!(w.what, For::Channel(at, _) if at == words.cast_const()));
    }
    unsafe fn channel_close(words: P) {
        let words = words.cast::<ChannelWords>();
        let s = state();
        // SAFETY: as above.
        unsafe { (*words).closed = 1 };
        s.wake(|w| matches!(w.what, For::Channel(at, _) if at == words.cast_const()));
    }
}
