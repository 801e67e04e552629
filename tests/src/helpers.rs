//! A small family of helpers for tests of LIR: every machine type as parameter and result, more parameters
//! than registers, no result, memory, a pending exception.

use tierup_core::layout::Obj;
use tierup_core::rt::{Bound, Ctx, P, RtFn};

tierup_core::runtime_fns! {
    /// What tests call.
    trait Helpers;
    /// `a - b`.
    fn test_sub_i8(a: i8, b: i8) -> i8 [Pure, Never];
    /// `a - b`.
    fn test_sub_i16(a: i16, b: i16) -> i16 [Pure, Never];
    /// `a - b`.
    fn test_sub_i32(a: i32, b: i32) -> i32 [Pure, Never];
    /// `a - b`.
    fn test_sub_i64(a: i64, b: i64) -> i64 [Pure, Never];
    /// `a - b`.
    fn test_sub_f32(a: f32, b: f32) -> f32 [Pure, Never];
    /// `a - b`.
    fn test_sub_f64(a: f64, b: f64) -> f64 [Pure, Never];
    /// The pointer `n` bytes further.
    fn test_advance(p: P, n: i64) -> P [Pure, Never];
    /// The parameters as digits: `a + 10 b + 100 c …`; more than any calling convention passes in registers.
    fn test_many(a: i8, b: f32, c: i16, d: f64, e: i32, f: i64, g: i8, h: i64, i: f64, j: i16, k: f32, l: f64, m: f64, n: f64, o: f64, p: f64, q: f64) -> f64 [Pure, Never];
    /// `*p = x`.
    fn test_store(p: *mut i64, x: i64) [Writes, Never];
    /// Sum of `n` words.
    fn test_sum(p: *const i64, n: i64) -> i64 [Reads, Never];
    /// Leaves the "exception" 0x1000 + `x` pending where `x` is not zero.
    fn test_raise(ctx: Ctx, x: i64) -> i64 [Writes, Pending];
}

struct Impl;
impl Helpers for Impl {
    unsafe fn test_sub_i8(a: i8, b: i8) -> i8 {
        a.wrapping_sub(b)
    }
    unsafe fn test_sub_i16(a: i16, b: i16) -> i16 {
        a.wrapping_sub(b)
    }
    unsafe fn test_sub_i32(a: i32, b: i32) -> i32 {
        a.wrapping_sub(b)
    }
    unsafe fn test_sub_i64(a: i64, b: i64) -> i64 {
        a.wrapping_sub(b)
    }
    unsafe fn test_sub_f32(a: f32, b: f32) -> f32 {
        a - b
    }
    unsafe fn test_sub_f64(a: f64, b: f64) -> f64 {
        a - b
    }
    unsafe fn test_advance(p: P, n: i64) -> P {
        p.wrapping_offset(n as isize)
    }
    unsafe fn test_many(
        a: i8,
        b: f32,
        c: i16,
        d: f64,
        e: i32,
        f: i64,
        g: i8,
        h: i64,
        i: f64,
        j: i16,
        k: f32,
        l: f64,
        m: f64,
        n: f64,
        o: f64,
        p: f64,
        q: f64,
    ) -> f64 {
        let digits = [
            a as f64, b as f64, c as f64, d, e as f64, f as f64, g as f64, h as f64, i, j as f64, k as f64,
            l, m, n, o, p, q,
        ];
        digits.iter().rev().fold(0.0, |sum, x| sum * 10.0 + x)
    }
    unsafe fn test_store(p: *mut i64, x: i64) {
        // SAFETY: tests pass a pointer into their own buffer.
        unsafe { p.write_unaligned(x) }
    }
    unsafe fn test_sum(p: *const i64, n: i64) -> i64 {
        // SAFETY: tests pass a pointer to `n` words of their own buffer.
        (0..n as usize).fold(0, |sum, i| sum.wrapping_add(unsafe { p.add(i).read_unaligned() }))
    }
    unsafe fn test_raise(ctx: Ctx, x: i64) -> i64 {
        if x != 0 {
            // SAFETY: tests pass the context that the runner made; nothing dereferences the pretended exception.
            unsafe { (*ctx).pending = (0x1000 + x) as usize as *mut Obj }
        }
        x
    }
}

/// Every helper that a text may name: this family and those of the compiler's operations.
pub fn all() -> Vec<&'static RtFn> {
    HELPERS.iter().copied().chain(tierup_core::ops::helpers()).collect()
}

/// Address of a helper: of this family, or of the run-time's.
pub fn address(decl: &'static RtFn) -> *const u8 {
    let bound: Vec<Bound> = bind::<Impl>();
    let own = bound.iter().find(|b| b.decl == decl).map(|b| b.addr);
    own.unwrap_or_else(|| tierup_runtime::helper_address(decl))
}
