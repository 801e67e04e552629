//! The shared library with LLVM in it, opened at the first promotion. Its C door: text of LIR in, an object out. The engine and this library are built apart, so nothing but bytes crosses.

#![cfg(feature = "llvm")]

mod exit;

use tierup_tier1::{Options, Target, compile};
use std::ffi::c_char;
use tierup_core::lir::{Module, text};

/// Changes when the meaning of [`tierup_tier1_compile`] does.
#[unsafe(no_mangle)]
pub static TIERUP_TIER1_ABI: u32 = 2;

/// What is to be compiled; all strings are UTF-8 with a length.
#[repr(C)]
pub struct Request {
    /// A legalised module as text.
    pub lir: *const u8,
    pub lir_len: usize,
    /// Names of the functions that are called from outside, each ended by a newline.
    pub roots: *const u8,
    pub roots_len: usize,
    /// 0 for this CPU, else a GPU's compute capability.
    pub capability: u32,
    pub fast_math: u8,
    pub opt: u8,
    pub keep_text: bool,
    pub keep_remarks: bool,
}

/// Gets one result: `kind` 0 the object, 1 LLVM IR, 2 assembly, 3 the message of an error, 4 remarks.
pub type Sink = unsafe extern "C" fn(user: *mut u8, kind: u32, bytes: *const u8, len: usize);

/// Compiles; returns 0, or 1 after an error.
///
/// # Safety
/// The request's pointers must be readable for their lengths, and `sink` callable with `user`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tierup_tier1_compile(request: *const Request, sink: Sink, user: *mut u8) -> u32 {
    // SAFETY: as required of the caller.
    let (request, lir, roots) = unsafe {
        let r = &*request;
        (r, std::slice::from_raw_parts(r.lir, r.lir_len), std::slice::from_raw_parts(r.roots, r.roots_len))
    };
    // SAFETY: `sink` takes `user` and reads no more than `bytes`.
    let send = |kind: u32, bytes: &[u8]| unsafe { sink(user, kind, bytes.as_ptr(), bytes.len()) };
    let done = std::panic::catch_unwind(|| {
        let lir = std::str::from_utf8(lir).map_err(|e| e.to_string())?;
        let roots = std::str::from_utf8(roots).map_err(|e| e.to_string())?;
        let module: Module = text::parse_module(lir, &tierup_core::ops::helpers().collect::<Vec<_>>()).map_err(|d| d.message)?;
        let roots: Vec<&str> = roots.lines().collect();
        let target = if request.capability == 0 { Target::Cpu } else { Target::Nvptx { capability: request.capability } };
        let options = Options { target, roots: &roots, fast_math: request.fast_math, opt: request.opt, keep_text: request.keep_text, keep_remarks: request.keep_remarks };
        compile(&module, &options).map_err(|d| d.message)
    });
    match done {
        Ok(Ok(c)) => {
            send(0, &c.object);
            if request.keep_text { send(1, c.llvm.as_bytes()); send(2, c.asm.as_bytes()); }
            if request.keep_remarks { send(4, c.remarks.as_bytes()); }
            0
        }
        Ok(Err(message)) => { send(3, message.as_bytes()); 1 }
        Err(_) => { send(3, b"the LLVM back end panicked"); 1 }
    }
}

/// Name and features of this machine's CPU as LLVM sees them.
#[unsafe(no_mangle)]
pub extern "C" fn tierup_tier1_version() -> *const c_char { c"LLVM 22".as_ptr() }
