//! What LLVM's loop passes say about their work.
//!
//! LLVM makes remarks for the whole process or not at all, by a switch of its command line that cannot be
//! turned back. It is turned at the first compilation that asks, while no other is in progress; every context
//! gets a handler, since LLVM would print what nobody handles.

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use std::ffi::{CStr, c_void};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Whether LLVM makes remarks. Held for reading by every compilation.
static ON: RwLock<bool> = RwLock::new(false);

/// Keeps the switch as it is.
pub(crate) struct Switch {
    _guard: RwLockReadGuard<'static, bool>,
}

/// To be called before a compilation; with `wanted` LLVM makes remarks from now on.
pub(crate) fn begin(wanted: bool) -> Switch {
    let on = |guard: &bool| *guard || !wanted;
    let guard = ON.read().unwrap_or_else(PoisonError::into_inner);
    if on(&guard) {
        return Switch { _guard: guard };
    }
    drop(guard);
    let mut guard = ON.write().unwrap_or_else(PoisonError::into_inner);
    if !*guard {
        let words = [
            c"tierup",
            c"-pass-remarks=loop-vectorize|slp-vectorizer",
            c"-pass-remarks-missed=loop-vectorize",
            c"-pass-remarks-analysis=loop-vectorize",
        ]
        .map(CStr::as_ptr);
        // SAFETY: all words are NUL-terminated and known to LLVM; no other thread is in LLVM, for all of them
        // hold the lock.
        unsafe { LLVMParseCommandLineOptions(words.len() as i32, words.as_ptr(), std::ptr::null()) };
        *guard = true;
    }
    drop(guard);
    Switch { _guard: ON.read().unwrap_or_else(PoisonError::into_inner) }
}

/// How remarks begin that are about vectors; a context's handler gets all others as well.
const SAYINGS: [&str; 6] = [
    ": loop not vectorized",
    ": vectorized loop",
    ": SLP vectorized",
    ": Stores SLP vectorized",
    ": Vectorized",
    ": the cost-model indicates that vectorization",
];

/// What LLVM said of one context.
#[derive(Default)]
pub(crate) struct Told {
    pub remarks: Vec<String>,
    pub errors: Vec<String>,
}

extern "C" fn take(info: LLVMDiagnosticInfoRef, sink: *mut c_void) {
    // SAFETY: LLVM gives a live diagnostic and the pointer of `collect`, whose target outlives the context's
    // work; the text is LLVM's and freed here.
    unsafe {
        let severity = LLVMGetDiagInfoSeverity(info);
        let told = &mut *sink.cast::<Told>();
        let is_about_loops = |line: &str| SAYINGS.iter().any(|s| line.contains(s));
        let list = match severity {
            LLVMDiagnosticSeverity::LLVMDSRemark => &mut told.remarks,
            LLVMDiagnosticSeverity::LLVMDSError => &mut told.errors,
            LLVMDiagnosticSeverity::LLVMDSWarning | LLVMDiagnosticSeverity::LLVMDSNote => return,
        };
        let text = LLVMGetDiagInfoDescription(info);
        let line = CStr::from_ptr(text).to_string_lossy().replace('\n', " ");
        LLVMDisposeMessage(text);
        if severity != LLVMDiagnosticSeverity::LLVMDSRemark || is_about_loops(&line) {
            list.push(line);
        }
    }
}

/// From now on what LLVM says of the context goes to `told`, which must live as long as the context.
pub(crate) fn collect(context: &Context, told: &mut Told) {
    // SAFETY: the handler has the type that LLVM calls.
    unsafe { LLVMContextSetDiagnosticHandler(context.raw(), Some(take), std::ptr::from_mut(told).cast()) }
}
