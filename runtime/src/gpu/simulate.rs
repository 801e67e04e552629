//! Kernels on this machine's CPU: the threads of a block take turns on one thread of the host.
//!
//! Where threads wait for each other, each has a stack of its own and runs to the next barrier; a thread that
//! has ended is waited for by nobody, as on a GPU. Blocks run one after another. Updates of memory are plain
//! for that reason, see `core::lir::grid`.

use super::{Failure, Launch};
use crate::engine::Wrapper;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::ptr::null_mut;
use tierup_core::backend::Code;
use tierup_core::exc::Class;
use tierup_core::grid::{WARP, Wait, release};
use tierup_core::layout::{GridThread, ThreadCtx};
use tierup_core::lir::grid::OnCpu;
use tierup_core::lower::gpu;
use tierup_core::rt::Ctx;

impl tierup_core::ops::grid::Helpers for crate::Native {
    unsafe fn grid_barrier(ctx: Ctx) {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Block) };
    }
    unsafe fn grid_warp_barrier(ctx: Ctx, mask: i32) {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Warp { mask: mask as u32 }) };
    }
    unsafe fn grid_shuffle(ctx: Ctx, mask: i32, bits: i64, lane: i32) -> i64 {
        let bits = bits as u64;
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Shuffle { mask: mask as u32, bits, lane: lane as u32 }) as i64 }
    }
    unsafe fn grid_match(ctx: Ctx, mask: i32, bits: i64) -> i32 {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Match { mask: mask as u32, bits: bits as u64 }) as i32 }
    }
    unsafe fn grid_barrier_count(ctx: Ctx, vote: i8) -> i32 {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Count { vote: vote != 0 }) as i32 }
    }
    unsafe fn grid_grid_barrier(ctx: Ctx) {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Grid) };
    }
    unsafe fn grid_ballot(ctx: Ctx, mask: i32, vote: i8) -> i32 {
        // SAFETY: as required of the caller.
        unsafe { wait(ctx, Wait::Ballot { mask: mask as u32, vote: vote != 0 }) as i32 }
    }
}

/// Lets the other threads of the block run; what this one learns.
///
/// # Safety
/// The context is a `GridThread` of [`in_turns`], on the stack of that thread.
unsafe fn wait(ctx: Ctx, wait: Wait) -> u64 {
    // SAFETY: the runner is that of the coroutine which this thread runs in.
    unsafe { (*(*ctx.cast::<GridThread>()).runner.cast::<Yielder<u64, Wait>>()).suspend(wait) }
}

/// What fresh shared memory is full of, so that a kernel which reads what nobody wrote shows it.
const UNWRITTEN: u128 = u128::MAX;
/// Bytes of a thread's stack beside the kernel's own arrays.
const STACK: usize = 256 << 10;

/// A kernel compiled for the CPU.
pub struct HostKernel {
    _code: Box<dyn Code>,
    entry: Wrapper,
    memory: OnCpu,
    /// Bytes of a thread's stack.
    stack: usize,
    /// What the code reads at addresses that it knows.
    constants: Vec<Vec<u128>>,
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
        constants: Vec<Vec<u128>>,
    ) -> HostKernel {
        // SAFETY: as required of the caller.
        let entry = unsafe { std::mem::transmute::<*const u8, Wrapper>(entry) };
        HostKernel { _code: code, entry, memory, stack: STACK + frames, constants: constants }
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
        self.constants.iter().map(|c| size_of_val(c.as_slice())).sum()
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
    ) -> Option<Failure> {
        if self.memory.waits_for_grid {
            // SAFETY: as required of the caller.
            return unsafe { self.run_at_once(launch, args, go_on) };
        }
        let mut shared = vec![UNWRITTEN; units(self.memory.shared_bytes)];
        let mut dynamic = vec![UNWRITTEN; units(launch.shared_bytes as usize)];
        let (mut threads, mut stacks, mut failure) = (vec![], vec![], None);
        for block in points(launch.blocks) {
            if !go_on() {
                break;
            }
            shared.fill(UNWRITTEN);
            dynamic.fill(UNWRITTEN);
            threads.clear();
            threads.extend(block_threads(launch, block, &mut shared, &mut dynamic));
            let call = Call { entry: self.entry, args: args.as_ptr() };
            // SAFETY: as required of the caller; the threads live until the block is done.
            let failed = unsafe {
                if self.memory.waits {
                    in_turns(call, &mut threads, &mut stacks, self.stack)
                } else {
                    one_by_one(call, &mut threads)
                }
            };
            failure = failure.or(failed);
        }
        failure
    }

    /// Runs all blocks at once, as far as each comes without the others.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn run_at_once(
        &self,
        launch: &Launch,
        args: &[u64],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Failure> {
        let n = launch.blocks.iter().map(|n| *n as usize).product();
        let mut shared = vec![vec![UNWRITTEN; units(self.memory.shared_bytes)]; n];
        let mut dynamic = vec![vec![UNWRITTEN; units(launch.shared_bytes as usize)]; n];
        let mut threads: Vec<Vec<GridThread>> = points(launch.blocks)
            .zip(shared.iter_mut().zip(&mut dynamic))
            .map(|(block, (shared, dynamic))| block_threads(launch, block, shared, dynamic).collect())
            .collect();
        let (call, mut stacks) = (Call { entry: self.entry, args: args.as_ptr() }, vec![]);
        let mut blocks = vec![];
        for threads in &mut threads {
            // SAFETY: as required of the caller; blocks go before their threads.
            blocks.push(unsafe { Turns::new(call, threads, &mut stacks, self.stack)? });
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
            if block.waits.iter().any(Option::is_some) {
                block.give_up();
            }
        }
        blocks.iter().find_map(|b| b.failed)
    }
}

fn units(bytes: usize) -> usize {
    bytes.div_ceil(16)
}

/// The threads of a block, with its shared memory.
fn block_threads(
    launch: &Launch,
    block: [u32; 3],
    shared: &mut [u128],
    dynamic: &mut [u128],
) -> impl Iterator<Item = GridThread> + use<> {
    let (launch, shared, dynamic) = (*launch, shared.as_mut_ptr(), dynamic.as_mut_ptr());
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
    })
}

fn failure(thread: &GridThread, status: u64) -> Option<Failure> {
    (status != 0).then_some(Failure { status, block: thread.block, thread: thread.thread })
}

/// # Safety
/// As for [`HostKernel::run`]; the kernel has no barriers.
unsafe fn one_by_one(call: Call, threads: &mut [GridThread]) -> Option<Failure> {
    let mut failed = None;
    for thread in threads {
        // SAFETY: as required of the caller.
        let status = unsafe { call.make(thread) };
        failed = failed.or_else(|| failure(thread, status));
    }
    failed
}

/// The threads of a block that wait for each other.
struct Turns<'t> {
    threads: &'t [GridThread],
    running: Vec<Option<Coroutine<u64, Wait, u64>>>,
    waits: Vec<Option<Wait>>,
    /// Who goes on, and what each learns.
    ready: Vec<(usize, u64)>,
    failed: Option<Failure>,
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
    ) -> Option<Turns<'t>> {
        let mut running: Vec<Option<Coroutine<u64, Wait, u64>>> = Vec::with_capacity(threads.len());
        for thread in threads.iter_mut() {
            let stack = match stacks.pop() {
                Some(stack) => stack,
                None => DefaultStack::new(bytes).ok()?,
            };
            let at: *mut GridThread = thread;
            running.push(Some(Coroutine::with_stack(stack, move |yielder: &Yielder<u64, Wait>, _| {
                // SAFETY: as required of the caller; the coroutine ends before the threads go.
                unsafe {
                    (*at).runner = std::ptr::from_ref(yielder).cast_mut().cast();
                    call.make(at)
                }
            })));
        }
        let n = threads.len();
        let ready = (0..n).map(|k| (k, 0)).collect();
        Some(Turns { threads, running, waits: vec![None; n], ready, failed: None })
    }

    /// Runs until all have ended or wait for the grid; those that wait at places that never meet end there.
    fn go(&mut self, stacks: &mut Vec<DefaultStack>) -> Stop {
        loop {
            for (k, learned) in std::mem::take(&mut self.ready) {
                let Some(coroutine) = &mut self.running[k] else { continue };
                match coroutine.resume(learned) {
                    CoroutineResult::Yield(wait) => self.waits[k] = Some(wait),
                    CoroutineResult::Return(status) => {
                        self.waits[k] = None;
                        self.failed = self.failed.or_else(|| failure(&self.threads[k], status));
                        stacks.extend(self.running[k].take().map(Coroutine::into_stack));
                    }
                }
            }
            let mut live = self.waits.iter().flatten();
            let Some(first) = live.next() else { return Stop::Done };
            if *first == Wait::Grid && live.all(|w| *w == Wait::Grid) {
                return Stop::WaitsForGrid;
            }
            self.ready = release(&self.waits);
            if self.ready.is_empty() {
                self.give_up();
                return Stop::Done;
            }
        }
    }

    /// Ends threads that can never go on.
    fn give_up(&mut self) {
        let stuck = self.waits.iter().position(Option::is_some);
        for coroutine in self.running.iter_mut().flatten() {
            // SAFETY: code of kernels owns nothing that would have to be dropped.
            unsafe { coroutine.force_reset() };
        }
        self.waits.fill(None);
        let status = gpu::status(Class::RuntimeError, 0);
        self.failed = self.failed.or_else(|| stuck.and_then(|k| failure(&self.threads[k], status)));
    }

    /// Lets those go on who wait for the grid.
    fn pass(&mut self) {
        let live = self.waits.iter().enumerate().filter(|(_, w)| w.is_some());
        self.ready = live.map(|(k, _)| (k, 0)).collect();
    }
}

/// # Safety
/// As for [`HostKernel::run`].
unsafe fn in_turns(
    call: Call,
    threads: &mut [GridThread],
    stacks: &mut Vec<DefaultStack>,
    bytes: usize,
) -> Option<Failure> {
    // SAFETY: as required of the caller.
    let mut turns = unsafe { Turns::new(call, threads, stacks, bytes)? };
    turns.go(stacks);
    turns.failed
}
