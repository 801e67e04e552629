//! Kernels on this machine's CPU: the threads of a block take turns on one thread of the host.
//!
//! Where threads wait for each other, each has a stack of its own and runs to the next barrier; a thread that
//! has ended is waited for by nobody, as on a GPU. Blocks run one after another. Updates of memory are plain
//! for that reason, see `core::lir::grid`.

use super::races::{self, Race, Watch};
use super::{Cause, Failure, Fault, Launch, Other, Printed};
use crate::engine::Wrapper;
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::ptr::null_mut;
use tierup_core::backend::Code;
use tierup_core::exc::Class;
use tierup_core::grid::{WARP, Wait, release};
use tierup_core::layout::{GridThread, ThreadCtx};
use tierup_core::lir::grid::{self, OnCpu};
use tierup_core::lower::gpu;
use tierup_core::rt::{Ctx, P};

impl tierup_core::ops::grid::Helpers for crate::Native {
    unsafe fn grid_barrier(ctx: Ctx, site: i64) {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Block, site) };
    }
    unsafe fn grid_warp_barrier(ctx: Ctx, mask: i32, site: i64) {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Warp { mask: mask as u32 }, site) };
    }
    unsafe fn grid_shuffle(ctx: Ctx, mask: i32, bits: i64, lane: i32, site: i64) -> i64 {
        let bits = bits as u64;
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Shuffle { mask: mask as u32, bits, lane: lane as u32 }, site) as i64 }
    }
    unsafe fn grid_match(ctx: Ctx, mask: i32, bits: i64, site: i64) -> i32 {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Match { mask: mask as u32, bits: bits as u64 }, site) as i32 }
    }
    unsafe fn grid_barrier_count(ctx: Ctx, vote: i8, site: i64) -> i32 {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Count { vote: vote != 0 }, site) as i32 }
    }
    unsafe fn grid_grid_barrier(ctx: Ctx, site: i64) {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Grid, site) };
    }
    unsafe fn grid_ballot(ctx: Ctx, mask: i32, vote: i8, site: i64) -> i32 {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Ballot { mask: mask as u32, vote: vote != 0 }, site) as i32 }
    }
    unsafe fn grid_read(ctx: Ctx, at: P, what: i64) {
        // SAFETY: as required of the caller.
        unsafe { races::read(ctx, at, what) };
    }
    unsafe fn grid_write(ctx: Ctx, at: P, bits: i64, what: i64) {
        // SAFETY: as required of the caller.
        unsafe { races::write(ctx, at, bits, what) };
    }
    unsafe fn grid_update(ctx: Ctx, at: P, what: i64) {
        // SAFETY: as required of the caller.
        unsafe { races::update(ctx, at, what) };
    }
    unsafe fn grid_fence(ctx: Ctx) {
        // SAFETY: as required of the caller.
        unsafe { races::fence(ctx) };
    }
}

/// What a thread waits for, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stand {
    wait: Wait,
    /// See `core::ops::grid`.
    site: i64,
}

impl Stand {
    fn line(self) -> u32 {
        (self.site >> 32) as u32
    }
}

/// Lets the other threads of the block run; what this one learns.
///
/// # Safety
/// The context is a `GridThread` of [`Turns`], on the stack of that thread.
unsafe fn wait(ctx: Ctx, wait: Wait, site: i64) -> u64 {
    // SAFETY: the runner is that of the coroutine which this thread runs in.
    unsafe {
        (*(*ctx.cast::<GridThread>()).runner.cast::<Yielder<u64, Stand>>()).suspend(Stand { wait, site })
    }
}

/// What fresh shared memory is full of, so that a kernel which reads what nobody wrote shows it.
const UNWRITTEN: u128 = u128::MAX;
/// Bytes of a thread's stack beside the kernel's own arrays.
const STACK: usize = 256 << 10;
/// Bytes of it that functions which call themselves leave to what they call.
const SPARE: usize = 64 << 10;

/// A kernel compiled for the CPU.
pub struct HostKernel {
    _code: Box<dyn Code>,
    entry: Wrapper,
    memory: OnCpu,
    /// Bytes of a thread's stack.
    stack: usize,
    /// What the code reads at addresses that it knows.
    constants: Vec<Vec<u128>>,
    /// What it prints, into one of these.
    printed: Option<Printed>,
    looks: Looks,
}

/// What is looked for while a kernel runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looks {
    /// Races; its code tells what it touches.
    pub races: bool,
    /// Whether threads end before the function's end, so that nobody waits for them.
    pub returns: bool,
}

// SAFETY: the entry points into the code, which never changes.
unsafe impl Send for HostKernel {}
// SAFETY: as above.
unsafe impl Sync for HostKernel {}

/// The points of a box, along x first.
fn points(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [x, y, z] = size;
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
}

/// Addresses that the threads of a block get, on their way into coroutines of this very thread.
#[derive(Clone, Copy)]
struct Call {
    entry: Wrapper,
    args: *const u64,
}

impl Call {
    /// # Safety
    /// As for [`HostKernel::run`]; `thread` is live and the code's to read.
    unsafe fn make(self, thread: *mut GridThread) -> u64 {
        let mut result = 0u64;
        // SAFETY: as required of the caller; the kernel has no results.
        unsafe { (self.entry)(thread.cast::<ThreadCtx>(), self.args, &raw mut result) }
    }
}

impl HostKernel {
    /// # Safety
    /// `entry` is the wrapper of a kernel in `code`, made by `core::lir::grid::on_cpu`, which gave `memory`;
    /// no thread needs more than `frames` bytes for arrays of its own.
    pub(crate) unsafe fn new(
        code: Box<dyn Code>,
        entry: *const u8,
        memory: OnCpu,
        frames: usize,
        (constants, printed): (Vec<Vec<u128>>, Option<Printed>),
        looks: Looks,
    ) -> HostKernel {
        // SAFETY: as required of the caller.
        let entry = unsafe { std::mem::transmute::<*const u8, Wrapper>(entry) };
        HostKernel { _code: code, entry, memory, stack: STACK + frames, constants, printed, looks }
    }

    /// The forms of what it prints, and the words that its threads have left since the last time.
    pub fn printed(&self) -> Option<(&[String], Vec<u64>)> {
        let printed = self.printed.as_ref()?;
        let buffer = self.constants[printed.constant].as_ptr().cast::<u64>().cast_mut();
        // SAFETY: the buffer begins with the number of its words; only kernels write it, and none runs now.
        let words = unsafe {
            let there = buffer.read_volatile().min(grid::PRINT_WORDS as u64) as usize;
            let take = |k| std::mem::take(&mut *buffer.add(k));
            (0..=there).map(take).collect()
        };
        Some((&printed.forms, words))
    }

    /// Bytes of shared memory that a block has whatever the launch says.
    pub fn shared_bytes(&self) -> usize {
        self.memory.shared_bytes
    }
    /// Whether its blocks all run at once.
    pub fn waits_for_grid(&self) -> bool {
        self.memory.waits_for_grid
    }
    /// Bytes of its constants.
    pub fn constant_bytes(&self) -> usize {
        let buffer = self.printed.as_ref().map(|p| p.constant);
        let own = self.constants.iter().enumerate().filter(|(k, _)| Some(*k) != buffer);
        own.map(|(_, c)| size_of_val(c.as_slice())).sum()
    }
    /// Bytes of arrays of a thread's own.
    pub fn frame_bytes(&self) -> usize {
        self.stack - STACK
    }

    /// Runs the grid; what the first thread that failed left. `go_on` is asked between blocks.
    ///
    /// # Safety
    /// `args` are the slots that the kernel's wrapper expects, and the memory that they name is live and
    /// nobody else's.
    pub unsafe fn run(
        &self,
        launch: &Launch,
        args: &[u64],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Fault> {
        let call = Call { entry: self.entry, args: args.as_ptr() };
        if self.memory.waits_for_grid {
            // SAFETY: as required of the caller.
            return unsafe { self.run_at_once(launch, call, go_on) };
        }
        let mut memory = self.block_memory(launch);
        let (mut threads, mut stacks, mut fault) = (vec![], kept_stacks(self.stack), None);
        for block in points(launch.blocks) {
            if !go_on() {
                break;
            }
            memory.clear();
            threads.clear();
            threads.extend(block_threads(launch, block, &mut memory));
            // SAFETY: as required of the caller; the threads live until the block is done.
            let failed = unsafe {
                if self.memory.waits {
                    self.in_turns(call, &mut threads, &mut stacks)
                } else {
                    one_by_one(call, &mut threads)
                }
            };
            fault = fault.or(failed).or_else(|| memory.race(&threads));
        }
        STACKS.set((self.stack, stacks));
        fault
    }

    fn block_memory(&self, launch: &Launch) -> Memory {
        let piece = |bytes: usize| vec![UNWRITTEN; bytes.div_ceil(16)];
        let (shared, dynamic) = (piece(self.memory.shared_bytes), piece(launch.shared_bytes as usize));
        let threads = launch.threads.iter().map(|n| *n as usize).product();
        let watched = self.looks.races && !(shared.is_empty() && dynamic.is_empty());
        let watch = watched.then(|| Box::new(Watch::new(&shared, &dynamic, threads)));
        Memory { shared, dynamic, watch }
    }

    /// Runs all blocks at once, as far as each comes without the others.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn run_at_once(
        &self,
        launch: &Launch,
        call: Call,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Fault> {
        let mut memory: Vec<Memory> = points(launch.blocks).map(|_| self.block_memory(launch)).collect();
        let mut threads: Vec<Vec<GridThread>> = points(launch.blocks)
            .zip(&mut memory)
            .map(|(block, memory)| block_threads(launch, block, memory).collect())
            .collect();
        let (mut blocks, mut stacks) = (vec![], kept_stacks(self.stack));
        for threads in &mut threads {
            // SAFETY: as required of the caller; blocks go before their threads.
            blocks.push(unsafe { Turns::new(call, threads, &mut stacks, self.stack, self.looks)? });
        }
        while go_on() {
            let mut waiting = false;
            for block in &mut blocks {
                waiting |= block.go(&mut stacks) == Stop::WaitsForGrid;
            }
            if !waiting {
                break;
            }
            for block in &mut blocks {
                block.pass();
            }
        }
        for block in &mut blocks {
            if block.stands.iter().any(Option::is_some) {
                block.give_up();
            }
        }
        let failed = blocks.iter().find_map(|b| b.failed);
        drop(blocks);
        stacks.truncate(STACKS_KEPT);
        STACKS.set((self.stack, stacks));
        failed.or_else(|| memory.iter().zip(&threads).find_map(|(m, t)| m.race(t)))
    }

    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn in_turns(
        &self,
        call: Call,
        threads: &mut [GridThread],
        stacks: &mut Vec<DefaultStack>,
    ) -> Option<Fault> {
        // SAFETY: as required of the caller.
        let mut turns = unsafe { Turns::new(call, threads, stacks, self.stack, self.looks)? };
        turns.go(stacks);
        turns.failed
    }
}

/// Stacks that a thread of the host keeps for its next launch, as many as a block needs.
const STACKS_KEPT: usize = 1024;
thread_local! {
    /// Their bytes, and the stacks.
    static STACKS: std::cell::Cell<(usize, Vec<DefaultStack>)> = const { std::cell::Cell::new((0, vec![])) };
}

/// Stacks of so many bytes that are there.
fn kept_stacks(bytes: usize) -> Vec<DefaultStack> {
    let (kept, stacks) = STACKS.take();
    if kept == bytes { stacks } else { vec![] }
}

/// What the threads of a block share.
struct Memory {
    shared: Vec<u128>,
    dynamic: Vec<u128>,
    watch: Option<Box<Watch>>,
}

impl Memory {
    /// As it is when a block begins.
    fn clear(&mut self) {
        self.shared.fill(UNWRITTEN);
        self.dynamic.fill(UNWRITTEN);
        if let Some(watch) = &mut self.watch {
            watch.block_barrier();
        }
    }

    /// The race that has been found.
    fn race(&self, threads: &[GridThread]) -> Option<Fault> {
        let Race { first, second } = self.watch.as_ref()?.found?;
        let (thread, access, line) = second;
        let other = Other { thread: threads[first.0].thread, line: first.2 };
        let cause = Cause::Race { access, other, others: first.1 };
        Some(fault(&threads[thread], gpu::status(Class::RuntimeError as u64, line), cause))
    }
}

/// The threads of a block, with its shared memory.
fn block_threads(
    launch: &Launch,
    block: [u32; 3],
    memory: &mut Memory,
) -> impl Iterator<Item = GridThread> + use<> {
    let (launch, shared, dynamic) = (*launch, memory.shared.as_mut_ptr(), memory.dynamic.as_mut_ptr());
    let watch: *mut Watch = memory.watch.as_deref_mut().map_or(null_mut(), |w| w);
    points(launch.threads).enumerate().map(move |(k, thread)| GridThread {
        lane: (k % WARP) as u32,
        thread,
        block,
        block_size: launch.threads,
        grid_size: launch.blocks,
        dynamic_bytes: launch.shared_bytes,
        shared: shared.cast(),
        dynamic_shared: dynamic.cast(),
        runner: null_mut(),
        watch: watch.cast(),
        stack_limit: 0,
    })
}

fn fault(thread: &GridThread, status: u64, cause: Cause) -> Fault {
    Fault { failure: Failure { status, block: thread.block, thread: thread.thread }, cause }
}

fn failure(thread: &GridThread, status: u64) -> Option<Fault> {
    (status != 0).then(|| fault(thread, status, Cause::Exception))
}

/// # Safety
/// As for [`HostKernel::run`]; the kernel has no barriers.
unsafe fn one_by_one(call: Call, threads: &mut [GridThread]) -> Option<Fault> {
    let mut failed = None;
    for thread in threads {
        thread.stack_limit = (&raw const failed as usize).saturating_sub(STACK - SPARE);
        // SAFETY: as required of the caller.
        let status = unsafe { call.make(thread) };
        failed = failed.or_else(|| failure(thread, status));
    }
    failed
}

/// The threads of a block that wait for each other.
struct Turns<'t> {
    threads: &'t [GridThread],
    running: Vec<Option<Coroutine<u64, Stand, u64>>>,
    /// Where each waits; none where it has ended.
    stands: Vec<Option<Stand>>,
    /// Who goes on, and what each learns.
    ready: Vec<(usize, u64)>,
    failed: Option<Fault>,
    /// Whether threads may end while others wait for the block.
    may_end: bool,
}

/// Where a block has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Done,
    /// All threads that have not ended wait for the whole grid.
    WaitsForGrid,
}

impl<'t> Turns<'t> {
    /// # Safety
    /// As for [`HostKernel::run`]; this goes before the threads do.
    unsafe fn new(
        call: Call,
        threads: &'t mut [GridThread],
        stacks: &mut Vec<DefaultStack>,
        bytes: usize,
        looks: Looks,
    ) -> Option<Turns<'t>> {
        let mut running: Vec<Option<Coroutine<u64, Stand, u64>>> = Vec::with_capacity(threads.len());
        for thread in threads.iter_mut() {
            let stack = match stacks.pop() {
                Some(stack) => stack,
                None => DefaultStack::new(bytes).ok()?,
            };
            thread.stack_limit = stack.limit().get() + SPARE;
            let at: *mut GridThread = thread;
            running.push(Some(Coroutine::with_stack(stack, move |yielder: &Yielder<u64, Stand>, _| {
                // SAFETY: as required of the caller; the coroutine ends before the threads go.
                unsafe {
                    (*at).runner = std::ptr::from_ref(yielder).cast_mut().cast();
                    call.make(at)
                }
            })));
        }
        let n = threads.len();
        let ready = (0..n).map(|k| (k, 0)).collect();
        Some(Turns { threads, running, stands: vec![None; n], ready, failed: None, may_end: looks.returns })
    }

    /// Runs until all have ended or wait for the grid; those that wait at places that never meet end there.
    fn go(&mut self, stacks: &mut Vec<DefaultStack>) -> Stop {
        loop {
            for (k, learned) in std::mem::take(&mut self.ready) {
                let Some(coroutine) = &mut self.running[k] else { continue };
                match coroutine.resume(learned) {
                    CoroutineResult::Yield(stand) => self.stands[k] = Some(stand),
                    CoroutineResult::Return(status) => {
                        self.stands[k] = None;
                        self.failed = self.failed.or_else(|| failure(&self.threads[k], status));
                        // Whoever raises has left the function before its end.
                        self.may_end |= status != 0;
                        stacks.extend(self.running[k].take().map(Coroutine::into_stack));
                    }
                }
            }
            let mut live = self.stands.iter().flatten().map(|s| s.wait);
            let Some(first) = live.next() else { return Stop::Done };
            if let Some(apart) = self.apart() {
                self.failed = self.failed.or(Some(apart));
                self.end();
                return Stop::Done;
            }
            if first == Wait::Grid && live.all(|w| w == Wait::Grid) {
                return Stop::WaitsForGrid;
            }
            let waits: Vec<Option<Wait>> = self.stands.iter().map(|s| s.map(|s| s.wait)).collect();
            self.ready = release(&waits);
            if self.ready.is_empty() {
                self.give_up();
                return Stop::Done;
            }
            self.met();
        }
    }

    /// Two threads of which one waits for the block and the other has passed that barrier by, where all that
    /// have not ended wait for the block.
    fn apart(&self) -> Option<Fault> {
        let live = || self.stands.iter().enumerate().filter_map(|(k, s)| s.map(|s| (k, s)));
        if !live().all(|(_, s)| s.wait.is_for_all()) {
            return None;
        }
        let (k, first) = live().next()?;
        let line = |stand: Option<Stand>| stand.map_or(0, Stand::line);
        let ended = || self.stands.iter().position(Option::is_none).filter(|_| !self.may_end);
        let other = live().find(|(_, s)| s.site != first.site).map(|(k, _)| k).or_else(ended)?;
        let status = gpu::status(Class::RuntimeError as u64, first.line());
        let other = Other { thread: self.threads[other].thread, line: line(self.stands[other]) };
        Some(fault(&self.threads[k], status, Cause::Divergent(other)))
    }

    /// Those who go on know what those they have waited for did.
    fn met(&self) {
        // SAFETY: the watch of the block's memory, which lives longer; no thread runs now.
        let Some(watch) = (unsafe { self.threads[0].watch.cast::<Watch>().as_mut() }) else { return };
        let mut last = None;
        for (k, _) in &self.ready {
            match self.stands[*k].map(|s| s.wait) {
                Some(Wait::Warp { mask }) if last != Some((k / WARP, mask)) => {
                    let (warp, lanes) = (k / WARP, self.stands.chunks(WARP).nth(k / WARP).unwrap_or(&[]));
                    let live = lanes.iter().enumerate().fold(0, |m, (l, s)| m | u32::from(s.is_some()) << l);
                    watch.warp_barrier(warp, mask, live);
                    last = Some((warp, mask));
                }
                Some(Wait::Block | Wait::Count { .. }) => return watch.block_barrier(),
                Some(
                    Wait::Warp { .. }
                    | Wait::Shuffle { .. }
                    | Wait::Ballot { .. }
                    | Wait::Match { .. }
                    | Wait::Grid,
                )
                | None => {}
            }
        }
    }

    /// Ends threads that can never go on.
    fn give_up(&mut self) {
        let mut stuck = self.stands.iter().enumerate().filter_map(|(k, s)| s.map(|s| (k, s)));
        if let Some((k, first)) = stuck.next() {
            let apart = stuck.find(|(_, s)| s.site != first.site);
            let other = apart.map(|(k, s)| Other { thread: self.threads[k].thread, line: s.line() });
            let status = gpu::status(Class::RuntimeError as u64, first.line());
            let found = fault(&self.threads[k], status, Cause::Stuck(other));
            self.failed = self.failed.or(Some(found));
        }
        self.end();
    }

    /// Ends all threads.
    fn end(&mut self) {
        for coroutine in self.running.iter_mut().flatten() {
            // SAFETY: code of kernels owns nothing that would have to be dropped.
            unsafe { coroutine.force_reset() };
        }
        self.stands.fill(None);
    }

    /// Lets those go on who wait for the grid.
    fn pass(&mut self) {
        let live = self.stands.iter().enumerate().filter(|(_, s)| s.is_some());
        self.ready = live.map(|(k, _)| (k, 0)).collect();
        // SAFETY: as in `met`.
        if let Some(watch) = unsafe { self.threads[0].watch.cast::<Watch>().as_mut() } {
            watch.block_barrier();
        }
    }
}
