//! The elementary functions of `tierup_core::math`, computed: one number at a time, and whole arrays in vectors.
//!
//! Each is compiled for several kinds of processor and the best one chosen when it runs; all give the same bits, since fused multiplications are written out and
//! a processor without them takes longer ([`fused`]).

use std::sync::atomic::{AtomicBool, Ordering};
use tierup_core::math::{Rare, exp as e, log as l, trig as t};

/// Whether the processor has an instruction for [`f64::mul_add`]. The first call of a function finds out.
static FUSES: AtomicBool = AtomicBool::new(false);

/// Functions that are compiled twice: with that instruction, and for processors where it is a call.
macro_rules! fused {
    ($($v:vis fn $name:ident($($p:ident: $t:ty),*) -> $r:ty $body:block)*) => { $(
        $v fn $name($($p: $t),*) -> $r {
            #[inline(always)]
            fn any($($p: $t),*) -> $r $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "fma")]
            fn with_instruction($($p: $t),*) -> $r { any($($p),*) }
            #[cold]
            #[inline(never)]
            fn first_or_without($($p: $t),*) -> $r {
                #[cfg(target_arch = "x86_64")]
                $crate::mathfn::elementary::find_out();
                any($($p),*)
            }
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has been asked.
            if $crate::mathfn::elementary::fuses() { return unsafe { with_instruction($($p),*) }; }
            first_or_without($($p),*)
        }
    )* };
}
pub(crate) use fused;

#[inline(always)]
pub(crate) fn fuses() -> bool { FUSES.load(Ordering::Relaxed) }
#[cfg(target_arch = "x86_64")]
pub(crate) fn find_out() { FUSES.store(std::arch::is_x86_feature_detected!("fma"), Ordering::Relaxed); }

fused! {
    pub fn exp(x: f64) -> f64 { e::exp(x) }
    pub fn exp2(x: f64) -> f64 { e::exp2(x) }
    pub fn expm1(x: f64) -> f64 { e::expm1(x) }
    pub fn log(x: f64) -> f64 { l::log(x) }
    pub fn log2(x: f64) -> f64 { l::log2(x) }
    pub fn log10(x: f64) -> f64 { l::log10(x) }
    pub fn log1p(x: f64) -> f64 { l::log1p(x) }
    pub fn sin(x: f64) -> f64 { t::sin(x) }
    pub fn cos(x: f64) -> f64 { t::cos(x) }
    pub fn tan(x: f64) -> f64 { t::tan(x) }
    pub fn sin_large(x: f64) -> f64 { <t::Sin as Rare>::rare(x) }
    pub fn cos_large(x: f64) -> f64 { <t::Cos as Rare>::rare(x) }
    pub fn tan_large(x: f64) -> f64 { <t::Tan as Rare>::rare(x) }
}

/// Elements that are computed together: read whole before any result is written, so the result may be the operand.
const BLOCK: usize = 64;

/// A function of whole arrays. `$usual` is what vectors compute; where `$rare` holds for an element of a block, that block takes `$one`.
macro_rules! arrays { ($($name:ident: $usual:expr, $rare:expr, $one:expr;)*) => { $(
    /// # Safety
    /// `n` readable and `n` writable elements, which are the same or do not overlap.
    pub unsafe fn $name(n: usize, out: *mut f64, a: *const f64) {
        #[inline(always)]
        unsafe fn any(n: usize, out: *mut f64, a: *const f64) {
            let mut at = 0;
            while at < n {
                let here = BLOCK.min(n - at);
                let (mut x, mut y) = ([1.0; BLOCK], [0.0; BLOCK]);
                // SAFETY: as required of the caller.
                unsafe { std::ptr::copy_nonoverlapping(a.add(at).cast::<u8>(), x.as_mut_ptr().cast::<u8>(), here * 8) };
                let mut rare = false;
                for v in x { rare |= $rare(v); }
                if rare { for k in 0..here { y[k] = $one(x[k]); } } else { for k in 0..BLOCK { y[k] = $usual(x[k]); } }
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(y.as_ptr().cast::<u8>(), out.add(at).cast::<u8>(), here * 8) };
                at += here;
            }
        }
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,fma")]
            unsafe fn widest(n: usize, out: *mut f64, a: *const f64) { unsafe { any(n, out, a) } }
            #[target_feature(enable = "avx2,fma")]
            unsafe fn wide(n: usize, out: *mut f64, a: *const f64) { unsafe { any(n, out, a) } }
            // SAFETY: the processor has been asked.
            unsafe {
                if has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("avx512bw") && has!("fma") { return widest(n, out, a); }
                if has!("avx2") && has!("fma") { return wide(n, out, a); }
            }
        }
        // SAFETY: as required of the caller.
        unsafe { any(n, out, a) }
    }
)* }; }

#[inline(always)]
fn never(_: f64) -> bool { false }

arrays! {
    exp_all: e::exp, never, exp;
    log_all: l::log, never, log;
    sin_all: <t::Sin as Rare>::usual, t::is_large, sin;
    cos_all: <t::Cos as Rare>::usual, t::is_large, cos;
}
