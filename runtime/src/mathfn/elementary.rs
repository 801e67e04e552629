//! The elementary functions of `tierup_core::math`, computed: one number at a time, and whole arrays in
//! vectors.
//!
//! Each is compiled for several kinds of processor and the best one chosen when it runs; all give the same
//! bits, since fused multiplications are written out and a processor without them takes longer ([`fused`]).

#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicBool, Ordering};
use tierup_core::math::{
    Rare, error, exp as e, gamma as g, hyperbolic as h, inverse as i, log as l, roots as r, trig as t,
};

/// Whether the processor has an instruction for [`f64::mul_add`]. The first call of a function finds out.
#[cfg(target_arch = "x86_64")]
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

#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn fuses() -> bool {
    FUSES.load(Ordering::Relaxed)
}
#[cfg(target_arch = "x86_64")]
pub(crate) fn find_out() {
    FUSES.store(crate::cpu::has!("fma"), Ordering::Relaxed);
}

fused! {
    pub(crate) fn exp(x: f64) -> f64 { if x.abs() < 700.0 { e::exp_ordinary(x) } else { e::exp(x) } }
    pub(crate) fn exp2(x: f64) -> f64 { e::exp2(x) }
    pub(crate) fn expm1(x: f64) -> f64 { e::expm1(x) }
    pub(crate) fn log(x: f64) -> f64 { if (f64::MIN_POSITIVE..=f64::MAX).contains(&x) { l::log_ordinary(x) } else { l::log(x) } }
    pub(crate) fn log2(x: f64) -> f64 { l::log2(x) }
    pub(crate) fn log10(x: f64) -> f64 { l::log10(x) }
    pub(crate) fn log1p(x: f64) -> f64 { l::log1p(x) }
    pub(crate) fn sin(x: f64) -> f64 { t::sin(x) }
    pub(crate) fn cos(x: f64) -> f64 { t::cos(x) }
    pub(crate) fn sin_cos(x: f64) -> (f64, f64) { (t::sin(x), t::cos(x)) }
    pub(crate) fn tan(x: f64) -> f64 { t::tan(x) }
    pub(crate) fn asin(x: f64) -> f64 { i::asin(x) }
    pub(crate) fn acos(x: f64) -> f64 { i::acos(x) }
    pub(crate) fn atan(x: f64) -> f64 { i::atan(x) }
    pub(crate) fn sinh(x: f64) -> f64 { h::sinh(x) }
    pub(crate) fn cosh(x: f64) -> f64 { h::cosh(x) }
    pub(crate) fn tanh(x: f64) -> f64 { h::tanh(x) }
    pub(crate) fn asinh(x: f64) -> f64 { h::asinh(x) }
    pub(crate) fn acosh(x: f64) -> f64 { h::acosh(x) }
    pub(crate) fn atanh(x: f64) -> f64 { h::atanh(x) }
    pub(crate) fn cbrt(x: f64) -> f64 { r::cbrt(x) }
    pub(crate) fn erf(x: f64) -> f64 { if x.abs() <= error::NEAR { error::erf_near(x) } else { error::erf(x) } }
    pub(crate) fn erfc(x: f64) -> f64 { error::erfc(x) }
    pub(crate) fn gamma(x: f64) -> f64 { g::gamma(x) }
    pub(crate) fn lgamma(x: f64) -> f64 { g::lgamma(x) }
    pub(crate) fn atan2(x: f64, y: f64) -> f64 { i::atan2(x, y) }
    pub(crate) fn hypot(x: f64, y: f64) -> f64 { r::hypot(x, y) }
    pub(crate) fn sin_large(x: f64) -> f64 { <t::Sin as Rare>::rare(x) }
    pub(crate) fn cos_large(x: f64) -> f64 { <t::Cos as Rare>::rare(x) }
    pub(crate) fn tan_large(x: f64) -> f64 { <t::Tan as Rare>::rare(x) }
}

/// Those of float32 that have definitions of their own.
pub(crate) mod single {
    use tierup_core::math::narrow::Narrow;
    use tierup_core::math::single as s;
    fused! {
        pub(crate) fn exp(x: f32) -> f32 { s::exp(Narrow(x)).0 }
        pub(crate) fn exp2(x: f32) -> f32 { s::exp2(Narrow(x)).0 }
        pub(crate) fn expm1(x: f32) -> f32 { s::expm1(Narrow(x)).0 }
        pub(crate) fn log(x: f32) -> f32 { s::log(Narrow(x)).0 }
        pub(crate) fn log2(x: f32) -> f32 { s::log2(Narrow(x)).0 }
        pub(crate) fn log10(x: f32) -> f32 { s::log10(Narrow(x)).0 }
        pub(crate) fn log1p(x: f32) -> f32 { s::log1p(Narrow(x)).0 }
        pub(crate) fn sin(x: f32) -> f32 { s::sin(Narrow(x)).0 }
        pub(crate) fn cos(x: f32) -> f32 { s::cos(Narrow(x)).0 }
        pub(crate) fn tanh(x: f32) -> f32 { s::tanh(Narrow(x)).0 }
    }
}

/// Elements that are computed together: read whole before any result is written, so the result may be the
/// operand.
pub(super) const BLOCK: usize = 64;

/// Compiles a loop over arrays for several kinds of processor.
macro_rules! for_each_processor { ($(#[$meta:meta])* $name:ident($($p:ident: $t:ty),*) $body:block) => {
    $(#[$meta])*
    pub(crate) unsafe fn $name($($p: $t),*) {
        #[inline(always)]
        unsafe fn any($($p: $t),*) $body
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,fma")]
            unsafe fn widest($($p: $t),*) {
                // SAFETY: as required of the caller.
                unsafe { any($($p),*) }
            }
            #[target_feature(enable = "avx2,fma")]
            unsafe fn wide($($p: $t),*) {
                // SAFETY: as required of the caller.
                unsafe { any($($p),*) }
            }
            // SAFETY: the processor has been asked.
            unsafe {
                if $crate::cpu::has!("avx512f", "avx512dq", "avx512vl", "avx512bw", "fma") { return widest($($p),*); }
                if $crate::cpu::has!("avx2", "fma") { return wide($($p),*); }
            }
        }
        // SAFETY: as required of the caller.
        unsafe { any($($p),*) }
    }
}; }

/// Elements of arrays in blocks: where they lie, but for an operand whose step is 0, which is one number for
/// all, and for what is left over, which goes through copies filled up with ones. So no block has a length
/// that the compiler does not know. There are no closures in here: the compiler would leave some as calls,
/// for processors of the oldest kind.
pub(super) struct Blocks<const OPERANDS: usize> {
    n: usize,
    out: *mut f64,
    from: [(*const f64, usize); OPERANDS],
    copies: [[f64; BLOCK]; OPERANDS],
    results: [f64; BLOCK],
}

impl<const OPERANDS: usize> Blocks<OPERANDS> {
    /// # Safety
    /// `n` readable elements of the operands, or one, and `n` writable ones, which are an operand or overlap
    /// none, as long as this lives.
    #[inline(always)]
    pub(super) unsafe fn new(n: usize, out: *mut f64, from: [(*const f64, usize); OPERANDS]) -> Self {
        let mut copies = [[1.0; BLOCK]; OPERANDS];
        for k in 0..OPERANDS {
            if from[k].1 == 0 {
                // SAFETY: as required of the caller, there is one to read.
                copies[k] = [unsafe { from[k].0.read_unaligned() }; BLOCK];
            }
        }
        Blocks { n, out, from, copies, results: [0.0; BLOCK] }
    }
    /// Where the operands and the results of the block at `at` are, which is below `n` and a multiple of the
    /// block's length.
    ///
    /// # Safety
    /// Those of `new`; the operands are read before a result is written.
    #[inline(always)]
    pub(super) unsafe fn at(&mut self, at: usize) -> ([*const f64; OPERANDS], *mut f64) {
        let (whole, mut places) = (self.n - at >= BLOCK, [std::ptr::null(); OPERANDS]);
        for k in 0..OPERANDS {
            let (data, step) = self.from[k];
            // SAFETY: as required of the caller.
            unsafe {
                if step != 0 && !whole {
                    std::ptr::copy_nonoverlapping(
                        data.add(at).cast::<u8>(),
                        self.copies[k].as_mut_ptr().cast::<u8>(),
                        (self.n - at) * 8,
                    );
                }
                places[k] = if step != 0 && whole { data.add(at) } else { self.copies[k].as_ptr() };
            }
        }
        // SAFETY: as above.
        (places, if whole { unsafe { self.out.add(at) } } else { self.results.as_mut_ptr() })
    }
    /// When the results of the block at `at` have been written.
    ///
    /// # Safety
    /// Those of `new`.
    #[inline(always)]
    pub(super) unsafe fn done(&self, at: usize) {
        if self.n - at < BLOCK {
            // SAFETY: as required of the caller, there is room for `n` results.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    self.results.as_ptr().cast::<u8>(),
                    self.out.add(at).cast::<u8>(),
                    (self.n - at) * 8,
                )
            }
        }
    }
}

/// An element of a block.
///
/// # Safety
/// It can be read.
#[inline(always)]
pub(super) unsafe fn read(block: *const f64, k: usize) -> f64 {
    // SAFETY: as required of the caller.
    unsafe { block.add(k).read_unaligned() }
}

/// The results of a block, computed before any of them is written.
///
/// # Safety
/// Room for a block.
#[inline(always)]
pub(super) unsafe fn write(out: *mut f64, results: &[f64; BLOCK]) {
    for (k, r) in results.iter().enumerate() {
        // SAFETY: as required of the caller, there is room for as many as there are results.
        unsafe { out.add(k).write_unaligned(*r) }
    }
}

pub(super) use for_each_processor;

/// A function of whole arrays. A block takes `$other` where `$rare` holds for an element, else `$usual`,
/// which does less.
macro_rules! arrays { ($($name:ident: $usual:expr, $rare:expr, $other:expr;)*) => { $(
    for_each_processor! {
        /// # Safety
        /// `n` readable and `n` writable elements, which are the same or do not overlap.
        $name(n: usize, out: *mut f64, a: *const f64) {
            // SAFETY: as required of the caller.
            unsafe {
                let mut blocks = Blocks::new(n, out, [(a, 1)]);
                for at in (0..n).step_by(BLOCK) {
                    let ([x], out) = blocks.at(at);
                    let (mut rare, mut y) = (false, [0.0; BLOCK]);
                    for k in 0..BLOCK { rare |= $rare(read(x, k)); }
                    if rare { for k in 0..BLOCK { y[k] = $other(read(x, k)); } } else { for k in 0..BLOCK { y[k] = $usual(read(x, k)); } }
                    write(out, &y);
                    blocks.done(at);
                }
            }
        }
    }
)* }; }

#[inline(always)]
fn never(_: f64) -> bool {
    false
}
#[inline(always)]
fn is_far(x: f64) -> bool {
    !(x.abs() < 700.0)
}
#[inline(always)]
fn is_no_normal(x: f64) -> bool {
    !((x >= f64::MIN_POSITIVE) & (x <= f64::MAX))
}

arrays! {
    exp_all: e::exp_ordinary, is_far, e::exp;
    log_all: l::log_ordinary, is_no_normal, l::log;
    sin_all: <t::Sin as Rare>::usual, t::is_large, sin;
    cos_all: <t::Cos as Rare>::usual, t::is_large, cos;
    tan_all: <t::Tan as Rare>::usual, t::is_large, tan;
    asin_all: i::asin, never, i::asin;
    acos_all: i::acos, never, i::acos;
    atan_all: i::atan, never, i::atan;
    sinh_all: h::sinh, never, h::sinh;
    cosh_all: h::cosh, never, h::cosh;
    tanh_all: h::tanh, never, h::tanh;
    exp2_all: e::exp2, never, e::exp2;
    expm1_all: e::expm1, never, e::expm1;
    log2_all: l::log2, never, l::log2;
    log10_all: l::log10, never, l::log10;
    log1p_all: l::log1p, never, l::log1p;
    cbrt_all: r::cbrt, never, r::cbrt;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exact_comes_out_exactly() {
        assert_eq!(
            (cbrt(27.0), cbrt(-1e-300), log10(1e22), log2(5e-324), hypot(3.0, -4.0), exp2(-1074.0), exp(0.0)),
            (3.0, -1e-100, 22.0, -1074.0, 5.0, 5e-324, 1.0)
        );
    }

    #[test]
    fn gamma_has_exact_factorials_and_poles() {
        let mut factorial = 1.0;
        for n in 1..=22 {
            assert_eq!(gamma(f64::from(n)), factorial);
            factorial *= f64::from(n);
        }
        assert_eq!(
            (gamma(0.0), gamma(-0.0), gamma(f64::INFINITY), gamma(180.0), gamma(-190.5)),
            (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY, 0.0)
        );
        assert!(gamma(-190.5).is_sign_negative() && gamma(-191.5).is_sign_positive());
        for x in [-1.0, -2.0, -170.0, -1e300, f64::NEG_INFINITY, f64::NAN] {
            assert!(gamma(x).is_nan(), "{x}");
        }
        for x in [0.0, -0.0, -1.0, -2.0, -1e300, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(lgamma(x), f64::INFINITY, "{x}");
        }
        assert!(lgamma(f64::NAN).is_nan());
        assert_eq!((lgamma(1.0).to_bits(), lgamma(2.0).to_bits()), (0, 0));
    }

    /// Beside 1, since near zeros among negative numbers no unit of the result is meant.
    #[test]
    fn log_gamma_of_negative_numbers_is_near_libms() {
        for k in 0..200_000 {
            let x = f64::from(k) * -1.234_567e-3 - 1e-9;
            let (got, want) = (lgamma(x), libm::lgamma(x));
            assert!((got - want).abs() <= 1e-15 * want.abs().max(1.0), "lgamma({x}): {got} and {want}");
        }
    }

    /// The special values of C's Annex F, which `libm` has.
    #[test]
    fn unusual_operands_give_what_the_standard_says() {
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -2.0,
            3.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            1e308,
            -1e-310,
            1e19,
            0.1,
            1e-20,
            9_007_199_254_740_993.0,
        ];
        let same = |a: f64, b: f64| {
            a.is_nan() && b.is_nan()
                || a.is_sign_negative() == b.is_sign_negative()
                    && (a.to_bits() as i64).abs_diff(b.to_bits() as i64) <= 1
        };
        type One = fn(f64) -> f64;
        let ones: [(One, One); 12] = [
            (asin, libm::asin),
            (acos, libm::acos),
            (atan, libm::atan),
            (sinh, libm::sinh),
            (cosh, libm::cosh),
            (tanh, libm::tanh),
            (asinh, libm::asinh),
            (atanh, libm::atanh),
            (cbrt, libm::cbrt),
            (erf, libm::erf),
            (erfc, libm::erfc),
            (|x| acosh(x), |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
        ];
        type Two = fn(f64, f64) -> f64;
        let twos: [(Two, Two); 2] = [(atan2, libm::atan2), (hypot, libm::hypot)];
        for x in special {
            for (k, (f, g)) in ones.iter().enumerate() {
                assert!(same(f(x), g(x)), "function {k} of {x:e}: {:e} and {:e}", f(x), g(x));
            }
            for y in special {
                for (k, (f, g)) in twos.iter().enumerate() {
                    assert!(
                        same(f(x, y), g(x, y)),
                        "function {k} of {x:e} and {y:e}: {:e} and {:e}",
                        f(x, y),
                        g(x, y)
                    );
                }
            }
        }
    }
}
