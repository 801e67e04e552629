//! The shared library with LLVM in it, opened at the first promotion. Its C door: text of LIR in, an object
//! out. The engine and this library are built apart, so nothing but bytes crosses.

#![cfg(feature = "llvm")]

mod exit;

use tierup_core::cpu::Cpu;
use tierup_core::door::{ABI, Part, Request, Sink};
use tierup_core::lir::{Module, text};
use tierup_tier1::{Options, Target, compile};

/// See [`ABI`].
#[unsafe(no_mangle)]
pub static TIERUP_TIER1_ABI: u32 = ABI;

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
    let send = |part: Part, bytes: &[u8]| unsafe { sink(user, part as u32, bytes.as_ptr(), bytes.len()) };
    let done = std::panic::catch_unwind(|| {
        let lir = std::str::from_utf8(lir).map_err(|e| e.to_string())?;
        let roots = std::str::from_utf8(roots).map_err(|e| e.to_string())?;
        let module: Module = text::parse_module(lir, &tierup_core::ops::helpers().collect::<Vec<_>>())
            .map_err(|d| d.message)?;
        let roots: Vec<&str> = roots.lines().collect();
        let cpu = Cpu::from_number(request.cpu).ok_or("the request names no processor")?;
        let target = if request.capability == 0 {
            Target::Cpu(cpu)
        } else {
            Target::Nvptx { capability: request.capability }
        };
        let options = Options {
            target,
            roots: &roots,
            fast_math: request.fast_math,
            opt: request.opt,
            keep_text: request.keep_text,
            keep_remarks: request.keep_remarks,
            keep_lines: request.keep_lines,
        };
        compile(&module, &options).map_err(|d| d.message)
    });
    match done {
        Ok(Ok(c)) => {
            send(Part::Object, &c.object);
            if request.keep_text {
                send(Part::Llvm, c.llvm.as_bytes());
                send(Part::Asm, c.asm.as_bytes());
            }
            if request.keep_remarks {
                send(Part::Remarks, c.remarks.as_bytes());
            }
            0
        }
        Ok(Err(message)) => {
            send(Part::Error, message.as_bytes());
            1
        }
        Err(_) => {
            send(Part::Error, b"the LLVM back end panicked");
            1
        }
    }
}
