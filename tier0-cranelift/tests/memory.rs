//! Memory of code that is dropped goes back to the system. Alone in its process, because it watches the
//! process's size.
#![cfg(target_os = "linux")]

use tierup_core::backend::{Backend, Keep};
use tierup_core::lir::builder::Builder;
use tierup_core::lir::{Func, Module, Op, Signature, Ty};
use tierup_core::rt::RtFn;
use tierup_tier0::Cranelift;

fn no_helpers(_: &'static RtFn) -> *const u8 {
    std::ptr::null()
}

fn read(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status
        .lines()
        .find_map(|l| l.strip_prefix(field))
        .unwrap()
        .trim_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .unwrap()
}

fn compile_call_drop(i: i64) {
    let mut func = Func::new("f", Signature { params: vec![Ty::I64], results: vec![Ty::I64] });
    let mut b = Builder::start(&mut func);
    let x = b.params(b.block)[0];
    let y = b.bin_imm(Op::Iadd, x, i);
    b.ret(vec![y]);
    let code = Cranelift::new().compile(&Module { funcs: vec![func] }, &no_helpers, Keep::default()).unwrap();
    // SAFETY: the signature is the one just declared, and `code` lives until the call returns.
    let result = unsafe {
        std::mem::transmute::<*const u8, unsafe extern "C" fn(i64) -> i64>(code.entry("f").unwrap())(1)
    };
    assert_eq!(result, i + 1);
}

#[test]
fn dropped_code_goes_back_to_the_system() {
    (0..200).for_each(compile_call_drop);
    let before = (read("VmRSS:"), read("VmSize:"));
    (0..2_000).for_each(compile_call_drop);
    let after = (read("VmRSS:"), read("VmSize:"));
    // 2,000 leaked modules would be 8 MB of pages alone.
    assert!(
        after.0 < before.0 + 1_000 && after.1 < before.1 + 1_000,
        "{before:?} kB before, {after:?} kB after 2,000 modules came and went"
    );
}
