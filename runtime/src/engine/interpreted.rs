//! The LIR interpreter as a back end: slow, and by definition right. `TIERUP_TIER=interp` runs everything on
//! it.

use crate::exc::Error;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use tierup_core::backend::{Backend, Calls, Code, HelperAddress, Keep};
use tierup_core::diag::Diagnostic;
use tierup_core::exc::Class;
use tierup_core::interp::{Interp, Stop};
use tierup_core::layout::ThreadCtx;
use tierup_core::lir::Module;

/// Calls deeper than this raise RecursionError; frames lie on the heap.
const MAX_DEPTH: usize = 2_000;

pub struct Interpreted;

struct InterpretedCode {
    interp: Interp<'static>,
    instructions: usize,
}

impl Code for InterpretedCode {
    fn entry(&self, name: &str) -> Option<*const u8> {
        self.interp.address(name).map(|a| a as usize as *const u8)
    }
    fn size(&self) -> usize {
        self.instructions * size_of::<tierup_core::lir::InstNode>()
    }
    fn text(&self, _: &str) -> Option<String> {
        None
    }
    fn calls(&self) -> Option<&dyn Calls> {
        Some(self)
    }
}

impl Calls for InterpretedCode {
    unsafe fn call(&self, entry: *const u8, ctx: *mut ThreadCtx, args: *const u64, results: *mut u64) -> u64 {
        // SAFETY: as required of the caller.
        unsafe { call(&self.interp, entry, ctx, args, results) }
    }
}

impl Backend for Interpreted {
    fn name(&self) -> &'static str {
        "interp"
    }
    fn compile(&self, module: &Module, _: HelperAddress<'_>, _: Keep) -> Result<Box<dyn Code>, Diagnostic> {
        let mut interp = Interp::new(&crate::helper_address);
        interp.max_depth = MAX_DEPTH;
        interp.add(module);
        Ok(Box::new(InterpretedCode {
            interp,
            instructions: module.funcs.iter().map(|f| f.insts.len()).sum(),
        }))
    }
}

thread_local! {
    /// The interpreter that this thread is in: where a parallel loop finds the functions that its words name.
    static RUNNING: Cell<*const Interp<'static>> = const { Cell::new(std::ptr::null()) };
}

/// The interpreter whose function `address` stands for, if this thread runs in it.
pub(crate) fn running(address: *const u8) -> Option<*const Interp<'static>> {
    let interp = RUNNING.get();
    // SAFETY: null, or the interpreter of a call that has not ended.
    unsafe { interp.as_ref() }.filter(|i| i.has_address(address as u64)).map(std::ptr::from_ref)
}

/// Calls the function at `address`: its status, with the interpreter's own troubles as exceptions.
///
/// # Safety
/// `ctx` is the live context of this thread; `args` and `results` are as the function expects.
pub(crate) unsafe fn call(
    interp: &Interp<'static>,
    address: *const u8,
    ctx: *mut ThreadCtx,
    args: *const u64,
    results: *mut u64,
) -> u64 {
    let outer = RUNNING.replace(std::ptr::from_ref(interp));
    // SAFETY: `ctx` is this thread's. Frames are on the heap, so compiled checks of the stack must not
    // compare their addresses with its end.
    let floor = unsafe {
        (*ctx).stack_limit.store(0, Ordering::Relaxed);
        std::mem::replace(&mut (*ctx).stack_floor, 0)
    };
    let answer = interp.call_address(address as u64, &[ctx as u64, args as u64, results as u64]);
    RUNNING.set(outer);
    // SAFETY: as above.
    unsafe {
        (*ctx).stack_floor = floor;
        (*ctx).stack_limit.store(floor, Ordering::Relaxed);
    }
    match answer {
        Ok(values) => values.first().copied().unwrap_or(0),
        Err(Stop::TooDeep) => {
            Error::new(Class::RecursionError, "maximum recursion depth exceeded").into_raw() as u64
        }
        Err(stop) => Error::new(Class::SystemError, format!("interpreter: {stop}")).into_raw() as u64,
    }
}
