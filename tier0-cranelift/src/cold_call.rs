//! Calls from cold blocks that leave every register alone.
//!
//! A loop whose only call sits on a rarely taken path would otherwise keep nothing in a floating-point
//! register, since the native convention lets a callee overwrite all of them. Cranelift's `PreserveAll`
//! convention clobbers nothing; the stubs below keep that promise for helpers that are compiled for the
//! native convention. The first argument is the helper's address, then comes the place for its answer where
//! it has one (the convention admits no results), then its own arguments. The call with which a running loop
//! goes over to tier 1 is of this kind as well: the block that makes it would else move values of the loop
//! into the registers where the call wants them, at every turn.

use cranelift_codegen::ir::{self, types};
use cranelift_codegen::isa::CallConv;
use tierup_core::lir::{Signature, Ty};
use tierup_core::rt::RtFn;

/// Integer arguments in registers.
const REGISTERS: usize = 6;

#[cfg(target_arch = "x86_64")]
mod stubs {
    // Saved: every register that the native convention lets a callee change. Cranelift keeps at most 128 bits
    // in a vector register. On entry the stack is 8 bytes off 16; `rbp`, 10 words and 256 bytes keep it
    // aligned at the call. `rsi` is kept at `rbp - 24`.
    macro_rules! stub {
        ($name:literal, $shift:literal, $answer:literal) => {
            std::arch::global_asm!(
                concat!(".p2align 4\n.globl ", $name, "\n.hidden ", $name, "\n", $name, ":"),
                "push rbp",
                "mov rbp, rsp",
                "push rcx",
                "push rdx",
                "push rsi",
                "push rdi",
                "push r8",
                "push r9",
                "push r10",
                "push r11",
                "push rax",
                "push rax",
                "sub rsp, 256",
                "movdqu [rsp], xmm0",
                "movdqu [rsp+16], xmm1",
                "movdqu [rsp+32], xmm2",
                "movdqu [rsp+48], xmm3",
                "movdqu [rsp+64], xmm4",
                "movdqu [rsp+80], xmm5",
                "movdqu [rsp+96], xmm6",
                "movdqu [rsp+112], xmm7",
                "movdqu [rsp+128], xmm8",
                "movdqu [rsp+144], xmm9",
                "movdqu [rsp+160], xmm10",
                "movdqu [rsp+176], xmm11",
                "movdqu [rsp+192], xmm12",
                "movdqu [rsp+208], xmm13",
                "movdqu [rsp+224], xmm14",
                "movdqu [rsp+240], xmm15",
                "mov r11, rdi",
                $shift,
                "call r11",
                $answer,
                "movdqu xmm0, [rsp]",
                "movdqu xmm1, [rsp+16]",
                "movdqu xmm2, [rsp+32]",
                "movdqu xmm3, [rsp+48]",
                "movdqu xmm4, [rsp+64]",
                "movdqu xmm5, [rsp+80]",
                "movdqu xmm6, [rsp+96]",
                "movdqu xmm7, [rsp+112]",
                "movdqu xmm8, [rsp+128]",
                "movdqu xmm9, [rsp+144]",
                "movdqu xmm10, [rsp+160]",
                "movdqu xmm11, [rsp+176]",
                "movdqu xmm12, [rsp+192]",
                "movdqu xmm13, [rsp+208]",
                "movdqu xmm14, [rsp+224]",
                "movdqu xmm15, [rsp+240]",
                "add rsp, 256",
                "pop rax",
                "pop rax",
                "pop r11",
                "pop r10",
                "pop r9",
                "pop r8",
                "pop rdi",
                "pop rsi",
                "pop rdx",
                "pop rcx",
                "pop rbp",
                "ret",
            );
        };
    }
    stub!(
        "tierup_cold_call",
        "mov rdi, rdx\nmov rsi, rcx\nmov rdx, r8\nmov rcx, r9",
        "mov rsi, [rbp-24]\nmov [rsi], rax"
    );
    stub!("tierup_cold_call_unit", "mov rdi, rsi\nmov rsi, rdx\nmov rdx, rcx\nmov rcx, r8\nmov r8, r9", "");
    stub!(
        "tierup_cold_call_results",
        "mov rdi, rdx\nmov rsi, rcx\nmov rdx, r8\nmov rcx, r9",
        "mov rsi, [rbp-24]\nmov [rsi], rax\nmov [rsi+8], rdx\nmovsd [rsi+16], xmm0\nmovsd [rsi+24], xmm1"
    );
    unsafe extern "C" {
        pub(crate) fn tierup_cold_call_results();
        pub(crate) fn tierup_cold_call();
        pub(crate) fn tierup_cold_call_unit();
    }
}

/// The stub for a helper, or none where it cannot be called through one.
#[cfg(target_arch = "x86_64")]
pub(crate) fn stub(helper: &RtFn) -> Option<*const u8> {
    let places = 1 + helper.ret.ty().is_some() as usize;
    let ints = helper.params.len() + places <= REGISTERS && helper.params.iter().all(|t| !t.is_float());
    match helper.ret.ty() {
        _ if !ints => None,
        Some(t) if t.is_float() => None,
        Some(_) => Some(stubs::tierup_cold_call as *const u8),
        None => Some(stubs::tierup_cold_call_unit as *const u8),
    }
}
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn stub(_: &RtFn) -> Option<*const u8> {
    None
}

/// The stub for a call of an address, which leaves all results in 32 bytes: two integers, then two
/// floating-point numbers. None where it cannot be called through one.
#[cfg(target_arch = "x86_64")]
pub(crate) fn stub_for(sig: &Signature) -> Option<*const u8> {
    (sig.params.len() + 2 <= REGISTERS && sig.params.iter().all(|t| !t.is_float()))
        .then_some(stubs::tierup_cold_call_results as *const u8)
}
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn stub_for(_: &Signature) -> Option<*const u8> {
    None
}

/// Where in those 32 bytes each result lies.
pub(crate) fn places(results: &[Ty]) -> Vec<i32> {
    let (mut int, mut float) = (0, 16);
    results
        .iter()
        .map(|t| {
            let next = if t.is_float() { &mut float } else { &mut int };
            *next += 8;
            *next - 8
        })
        .collect()
}

/// The signature of a call through a stub; `answers` says whether there is a place for results.
pub(crate) fn signature(answers: bool, native: &ir::Signature) -> ir::Signature {
    let mut sig = ir::Signature::new(CallConv::PreserveAll);
    let places = 1 + answers as usize;
    sig.params.extend(std::iter::repeat_n(ir::AbiParam::new(types::I64), places));
    sig.params.extend(native.params.iter().copied());
    sig
}
