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
    ) -> HostKernel {
        // SAFETY: as required of the caller.
        let entry = unsafe { std::mem::transmute::<*const u8, Wrapper>(entry) };
        HostKernel { _code: code, entry, memory, stack: STACK + frames }
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
        let units = |bytes: usize| bytes.div_ceil(16);
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
            threads.extend(points(launch.threads).enumerate().map(|(k, thread)| GridThread {
                lane: (k % WARP) as u32,
                thread,
                block,
                block_size: launch.threads,
                grid_size: launch.blocks,
                dynamic_bytes: launch.shared_bytes,
                shared: shared.as_mut_ptr().cast(),
                dynamic_shared: dynamic.as_mut_ptr().cast(),
                runner: null_mut(),
            }));
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

/// # Safety
/// As for [`HostKernel::run`].
unsafe fn in_turns(
    call: Call,
    threads: &mut [GridThread],
    stacks: &mut Vec<DefaultStack>,
    bytes: usize,
) -> Option<Failure> {
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
    let (mut failed, mut waits) = (None, vec![None; threads.len()]);
    let mut ready: Vec<(usize, u64)> = (0..threads.len()).map(|k| (k, 0)).collect();
    loop {
        for (k, learned) in ready {
            let Some(coroutine) = &mut running[k] else { continue };
            match coroutine.resume(learned) {
                CoroutineResult::Yield(wait) => waits[k] = Some(wait),
                CoroutineResult::Return(status) => {
                    waits[k] = None;
                    failed = failed.or_else(|| failure(&threads[k], status));
                    stacks.extend(running[k].take().map(Coroutine::into_stack));
                }
            }
        }
        let Some(stuck) = waits.iter().position(Option::is_some) else { return failed };
        ready = release(&waits);
        if ready.is_empty() {
            for coroutine in running.iter_mut().flatten() {
                // SAFETY: code of kernels owns nothing that would have to be dropped.
                unsafe { coroutine.force_reset() };
            }
            return failed.or_else(|| failure(&threads[stuck], gpu::status(Class::RuntimeError, 0)));
        }
    }
}
