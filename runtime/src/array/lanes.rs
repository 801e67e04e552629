//! Inner loops of reductions: one lane into one accumulator, or one row into a row of accumulators.
//!
//! Sums of floats are NumPy's pairwise sums: eight accumulators in blocks of up to 128 numbers, halves above
//! that. Everything else that depends on the order (products of floats) goes from front to back.

use super::item::{Bool, Complex, Item, To, with_item};
use super::lane_tree::{BLOCK, half};
use super::simd;
use tierup_core::elem::Elem;
use tierup_core::ops::kernel::Reduce;

/// `acc = acc op reduce(n elements)`.
pub(crate) type LaneFn = unsafe fn(acc: *mut u8, from: *const u8, n: isize, stride: isize);
/// `acc[i] = acc[i] op element[i]`.
pub(crate) type RowFn = unsafe fn(acc: *mut u8, acc_stride: isize, from: *const u8, stride: isize, n: isize);
/// Both, for one operation and element type.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    pub lane: LaneFn,
    pub row: RowFn,
}

#[inline(always)]
unsafe fn load<T: Copy>(p: *const u8, i: isize, stride: isize) -> T {
    // SAFETY: callers ask for elements that the lane has; they may lie anyhow.
    unsafe { p.offset(i * stride).cast::<T>().read_unaligned() }
}
/// Runs an expression with the stride as a constant where elements lie side by side.
macro_rules! by_stride {
    ($stride:ident, $T:ty, $e:expr) => { if $stride == size_of::<$T>() as isize { let $stride = size_of::<$T>() as isize; $e } else { $e } };
}

/// How an accumulator takes an element.
pub(crate) trait Fold<S, A> {
    fn fold(a: A, s: S) -> A;
}
struct Add;
struct Mul;
struct Min;
struct Max;
struct Count;
struct CountNumbers;
struct AddNumbers;
struct MulNumbers;
struct MinNumbers;
struct MaxNumbers;
impl<S: To<A>, A: Item> Fold<S, A> for Add {
    #[inline(always)]
    fn fold(a: A, s: S) -> A {
        a.add(s.to())
    }
}
impl<S: Item> Fold<S, S> for Mul {
    #[inline(always)]
    fn fold(a: S, s: S) -> S {
        a.mul(s)
    }
}
impl<S: Item> Fold<S, S> for Min {
    #[inline(always)]
    fn fold(a: S, s: S) -> S {
        if s.below(a) { s } else { a }
    }
}
impl<S: Item> Fold<S, S> for Max {
    #[inline(always)]
    fn fold(a: S, s: S) -> S {
        if s.above(a) { s } else { a }
    }
}
impl<S: Item> Fold<S, i64> for Count {
    #[inline(always)]
    fn fold(a: i64, s: S) -> i64 {
        a + s.truth() as i64
    }
}
impl<S: Item> Fold<S, i64> for CountNumbers {
    #[inline(always)]
    fn fold(a: i64, s: S) -> i64 {
        a + !s.is_nan() as i64
    }
}
impl<S: Item> Fold<S, S> for AddNumbers {
    #[inline(always)]
    fn fold(a: S, s: S) -> S {
        a.add(if s.is_nan() { S::ZERO } else { s })
    }
}
impl<S: Item> Fold<S, S> for MulNumbers {
    #[inline(always)]
    fn fold(a: S, s: S) -> S {
        a.mul(if s.is_nan() { S::ONE } else { s })
    }
}
impl<S: Item> Fold<S, S> for MinNumbers {
    #[inline(always)]
    fn fold(a: S, s: S) -> S {
        if a.is_nan() || (!s.is_nan() && s.below(a)) { s } else { a }
    }
}
impl<S: Item> Fold<S, S> for MaxNumbers {
    #[inline(always)]
    fn fold(a: S, s: S) -> S {
        if a.is_nan() || (!s.is_nan() && s.above(a)) { s } else { a }
    }
}

simd! {
    unsafe fn row<S: Item, A: Item, F: Fold<S, A>>(acc: *mut u8, acc_stride: isize, from: *const u8, stride: isize, n: isize) {
        if acc_stride == size_of::<A>() as isize && stride == size_of::<S>() as isize {
            let (acc, from) = (acc.cast::<A>(), from.cast::<S>());
            for i in 0..n { acc.offset(i).write_unaligned(F::fold(acc.offset(i).read_unaligned(), from.offset(i).read_unaligned())); }
        } else {
            for i in 0..n {
                let a = acc.offset(i * acc_stride).cast::<A>();
                a.write_unaligned(F::fold(a.read_unaligned(), load(from, i, stride)));
            }
        }
    }
}

simd! {
    /// From front to back.
    unsafe fn in_order<S: Item, A: Item, F: Fold<S, A>>(acc: *mut u8, from: *const u8, n: isize, stride: isize) {
        let mut a = acc.cast::<A>().read_unaligned();
        by_stride!(stride, S, for i in 0..n { a = F::fold(a, load::<S>(from, i, stride)); });
        acc.cast::<A>().write_unaligned(a);
    }
}

/// Elements of a block that is looked through again where it holds NaN.
pub(crate) const EXTREME_BLOCK: isize = 4096;

simd! {
    /// The smallest (largest) of `start` and the elements, in `L` accumulators, if none of them is NaN; and
    /// whether one is.
    unsafe fn extreme_of_numbers<S: Item, F: Fold<S, S>; const L: usize>(start: S, from: *const u8, n: isize, stride: isize) -> (S, bool) {
        let mut lanes = [start; L];
        let mut nan = [S::Mask::default(); L];
        let whole = n - n % L as isize;
        by_stride!(stride, S, {
            let mut i = 0;
            while i < whole {
                for j in 0..L {
                    let s = load::<S>(from, i + j as isize, stride);
                    lanes[j] = F::fold(lanes[j], s);
                    if S::HAS_NAN { nan[j] = nan[j] | s.nan_mask(); }
                }
                i += L as isize;
            }
        });
        let (mut a, mut any) = (start, S::Mask::default());
        for l in lanes { a = F::fold(a, l); }
        for m in nan { any = any | m; }
        for i in whole..n {
            let s = load::<S>(from, i, stride);
            a = F::fold(a, s);
            any = any | s.nan_mask();
        }
        (a, any != S::Mask::default())
    }
}
struct Smaller;
struct Larger;
impl<S: Item> Fold<S, S> for Smaller {
    #[inline(always)]
    fn fold(a: S, s: S) -> S {
        if s.less(a) { s } else { a }
    }
}
impl<S: Item> Fold<S, S> for Larger {
    #[inline(always)]
    fn fold(a: S, s: S) -> S {
        if a.less(s) { s } else { a }
    }
}

/// The extreme of some elements and `start`; NaN propagates.
///
/// # Safety
/// The elements can be read.
pub(crate) unsafe fn extreme<S: Item, const L: usize>(
    max: bool,
    start: S,
    from: *const u8,
    n: isize,
    stride: isize,
) -> S {
    let mut a = start;
    for i in (0..n).step_by(EXTREME_BLOCK as usize) {
        // SAFETY: the block lies within the elements.
        unsafe {
            let (block, m) = (from.offset(i * stride), EXTREME_BLOCK.min(n - i));
            if a.is_nan() {
                return a;
            }
            let (e, nan) = if max {
                extreme_of_numbers::<S, Larger, L>(a, block, m, stride)
            } else {
                extreme_of_numbers::<S, Smaller, L>(a, block, m, stride)
            };
            if nan { in_order_extreme(max, &mut a, block, m, stride) } else { a = e }
        }
    }
    a
}
unsafe fn in_order_extreme<S: Item>(max: bool, a: &mut S, from: *const u8, n: isize, stride: isize) {
    for i in 0..n {
        // SAFETY: as required of the caller, the lane has `n` elements.
        let s = unsafe { load::<S>(from, i, stride) };
        *a = if max { <Max as Fold<S, S>>::fold(*a, s) } else { <Min as Fold<S, S>>::fold(*a, s) };
    }
}
unsafe fn extreme_lane<S: Item, const MAX: bool, const L: usize>(
    acc: *mut u8,
    from: *const u8,
    n: isize,
    stride: isize,
) {
    let acc = acc.cast::<S>();
    // SAFETY: as for every `LaneFn`: the accumulator is one element, and the lane has `n`.
    unsafe { acc.write_unaligned(extreme::<S, L>(MAX, acc.read_unaligned(), from, n, stride)) }
}
/// Accumulators that fill eight vector registers, or four where another four are needed for NaN.
pub(crate) const fn width<S: Item>() -> usize {
    if S::HAS_NAN { 128 / size_of::<S>() } else { 256 / size_of::<S>() }
}

simd! {
    /// Counts elements that are true or (`NUMBERS`) not NaN, in bytes that are added up before they overflow.
    unsafe fn count<S: Item; const NUMBERS: bool>(acc: *mut u8, from: *const u8, n: isize, stride: isize) {
        let one = |i: isize, stride: isize| { let s = load::<S>(from, i, stride); if NUMBERS { !s.is_nan() } else { s.truth() } };
        let (mut total, mut i) = (0i64, 0);
        by_stride!(stride, S, {
            while i + 64 <= n {
                let mut lanes = [0u8; 64];
                let rows = ((n - i) / 64).min(255);
                for _ in 0..rows {
                    for (j, l) in lanes.iter_mut().enumerate() { *l += one(i + j as isize, stride) as u8; }
                    i += 64;
                }
                total += lanes.iter().map(|l| *l as i64).sum::<i64>();
            }
            while i < n { total += one(i, stride) as i64; i += 1; }
        });
        let acc = acc.cast::<i64>();
        acc.write_unaligned(acc.read_unaligned() + total);
    }
}

/// How many of `n` bytes are true.
///
/// # Safety
/// The bytes are there.
pub(crate) unsafe fn count_true(flags: *const u8, n: usize) -> usize {
    let mut total = 0i64;
    // SAFETY: as required of the caller; the accumulator is one.
    unsafe { count::<Bool, false>((&raw mut total).cast(), flags, n as isize, 1) };
    total as usize
}

/// `any` (`STOP` true) and `all` (false): stops at the first block that decides.
unsafe fn decide<S: Item, const STOP: bool>(acc: *mut u8, from: *const u8, n: isize, stride: isize) {
    // SAFETY: as for every `LaneFn`; a block ends where the lane does.
    unsafe {
        if (*acc != 0) == STOP {
            return;
        }
        // Short blocks first, for most answers come early.
        let (mut block, mut size) = (0, 64);
        while block < n {
            if found::<S, STOP>(from.offset(block * stride), size.min(n - block), stride) {
                *acc = STOP as u8;
                return;
            }
            block += size;
            size = (2 * size).min(4096);
        }
    }
}
simd! {
    unsafe fn found<S: Item; const STOP: bool>(from: *const u8, n: isize, stride: isize) -> bool {
        by_stride!(stride, S, (0..n).fold(false, |any, i| any | (load::<S>(from, i, stride).truth() == STOP)))
    }
}
unsafe fn decide_row<S: Item, const STOP: bool>(
    acc: *mut u8,
    acc_stride: isize,
    from: *const u8,
    stride: isize,
    n: isize,
) {
    // SAFETY: as for every `RowFn`: there are `n` accumulators of a byte, and as many elements.
    unsafe {
        for i in 0..n {
            let a = acc.offset(i * acc_stride);
            let t = load::<S>(from, i, stride).truth();
            *a = if STOP { *a | t as u8 } else { *a & t as u8 };
        }
    }
}

/// A floating-point number as pairwise sums see it.
pub(crate) trait Real: Item + To<Self> {
    /// Changes nothing when added to, not even the sign of zero.
    const NEG_ZERO: Self;
    fn plus(self, other: Self) -> Self;
}
impl Real for f32 {
    const NEG_ZERO: f32 = -0.0;
    #[inline(always)]
    fn plus(self, o: f32) -> f32 {
        self + o
    }
}
impl Real for f64 {
    const NEG_ZERO: f64 = -0.0;
    #[inline(always)]
    fn plus(self, o: f64) -> f64 {
        self + o
    }
}

#[inline(always)]
unsafe fn number<T: Real, const SKIP: bool>(p: *const u8, i: isize, stride: isize) -> T {
    // SAFETY: as required of the caller, the lane has the element.
    let x = unsafe { load::<T>(p, i, stride) };
    if SKIP && x.is_nan() { T::ZERO } else { x }
}

/// Bytes from an element that is added to the one that is asked for meanwhile, where a sum is longer than the
/// nearest cache. The processor itself looks no further than the page that it is in.
const AHEAD: isize = 2048;
/// Elements from which on it asks.
const LONG: isize = 4096;

#[inline(always)]
fn ask_for(p: *const u8) {
    // SAFETY: it is only a hint, at any address.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(p.cast())
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

#[inline(always)]
unsafe fn leaf<T: Real, const SKIP: bool, const FAR: bool>(p: *const u8, n: isize, stride: isize) -> T {
    // SAFETY: the lane has `n` elements, and no index reaches `n`.
    unsafe {
        by_stride!(stride, T, {
            let get = |i| number::<T, SKIP>(p, i, stride);
            if n < 8 {
                return (0..n).fold(T::NEG_ZERO, |s, i| s.plus(get(i)));
            }
            let mut r: [T; 8] = std::array::from_fn(|j| get(j as isize));
            let whole = n - n % 8;
            let mut i = 8;
            while i < whole {
                if FAR {
                    ask_for(p.wrapping_offset(i * stride + AHEAD));
                }
                for (j, r) in r.iter_mut().enumerate() {
                    *r = r.plus(get(i + j as isize));
                }
                i += 8;
            }
            // In memory, or LLVM would make vectors of those that are added up here, not of those that lie
            // side by side.
            let r = std::hint::black_box(r);
            let s = r[0].plus(r[1]).plus(r[2].plus(r[3])).plus(r[4].plus(r[5]).plus(r[6].plus(r[7])));
            (whole..n).fold(s, |s, i| s.plus(get(i)))
        })
    }
}
/// The tree of a pairwise sum, leaf after leaf: memory is read from front to back, which it is quicker with
/// than with several leaves at a time, and additions of the next leaf begin before those of the last have
/// ended.
macro_rules! tree {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        unsafe fn $name<T: Real, const SKIP: bool, const FAR: bool>(p: *const u8, n: isize, stride: isize) -> T {
            // SAFETY: both halves lie within the lane; where wider instructions are asked for, the caller has
            // them.
            unsafe {
                if n <= BLOCK { return leaf::<T, SKIP, FAR>(p, n, stride); }
                let h = half(n);
                $name::<T, SKIP, FAR>(p, h, stride).plus($name::<T, SKIP, FAR>(p.offset(h * stride), n - h, stride))
            }
        }
    };
}
tree!(tree);
tree! { #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2,fma")] wide_tree }

/// NumPy's pairwise sum of `n` numbers.
///
/// # Safety
/// The elements can be read.
pub(crate) unsafe fn pairwise<T: Real, const SKIP: bool>(p: *const u8, n: isize, stride: isize) -> T {
    let far = n >= LONG && stride == size_of::<T>() as isize;
    // SAFETY: as required of the caller; the processor has been asked; a real number of eight bytes is a
    // float64.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if !SKIP
            && size_of::<T>() == 8
            && stride == 8
            && n >= 8
            && let Some(sum) = super::doubles::pairwise(p.cast(), n, far)
        {
            return std::mem::transmute_copy(&sum);
        }
        #[cfg(target_arch = "x86_64")]
        if crate::cpu::has!("avx2", "fma") {
            return if far {
                wide_tree::<T, SKIP, true>(p, n, stride)
            } else {
                wide_tree::<T, SKIP, false>(p, n, stride)
            };
        }
        if far { tree::<T, SKIP, true>(p, n, stride) } else { tree::<T, SKIP, false>(p, n, stride) }
    }
}

simd! {
    /// `n` counts real numbers, two to an element.
    unsafe fn complex_block<T: Real; const SKIP: bool>(p: *const u8, n: isize, stride: isize) -> (T, T) {
        let w = size_of::<T>() as isize;
        // A complex number with NaN in either part is left out as a whole.
        let get = |i: isize| -> (T, T) {
            let z = load::<(T, T)>(p, i, stride);
            if SKIP && (z.0.is_nan() || z.1.is_nan()) { (T::ZERO, T::ZERO) } else { z }
        };
        let n = n / 2;
        debug_assert!(size_of::<(T, T)>() as isize == 2 * w);
        if n < 4 { return (0..n).fold((T::NEG_ZERO, T::NEG_ZERO), |s, i| { let z = get(i); (s.0.plus(z.0), s.1.plus(z.1)) }); }
        let mut r: [(T, T); 4] = std::array::from_fn(|j| get(j as isize));
        let whole = n - n % 4;
        let mut i = 4;
        while i < whole {
            for (j, r) in r.iter_mut().enumerate() {
                let z = get(i + j as isize);
                *r = (r.0.plus(z.0), r.1.plus(z.1));
            }
            i += 4;
        }
        let s = (r[0].0.plus(r[1].0).plus(r[2].0.plus(r[3].0)), r[0].1.plus(r[1].1).plus(r[2].1.plus(r[3].1)));
        (whole..n).fold(s, |s, i| { let z = get(i); (s.0.plus(z.0), s.1.plus(z.1)) })
    }
}
unsafe fn complex_pairwise<T: Real, const SKIP: bool>(p: *const u8, n: isize, stride: isize) -> (T, T) {
    // SAFETY: both halves lie within the lane, whose `n` numbers are parts of complex ones, two by two.
    unsafe {
        if n <= BLOCK {
            return complex_block::<T, SKIP>(p, n, stride);
        }
        let h = half(n);
        let (a, b) = (
            complex_pairwise::<T, SKIP>(p, h, stride),
            complex_pairwise::<T, SKIP>(p.offset(h / 2 * stride), n - h, stride),
        );
        (a.0.plus(b.0), a.1.plus(b.1))
    }
}

unsafe fn sum_real<T: Real, const SKIP: bool>(acc: *mut u8, from: *const u8, n: isize, stride: isize) {
    // SAFETY: as for every `LaneFn`; the accumulator is a `T`.
    unsafe {
        let acc = acc.cast::<T>();
        acc.write_unaligned(acc.read_unaligned().plus(pairwise::<T, SKIP>(from, n, stride)));
    }
}
unsafe fn sum_complex<T: Real, const SKIP: bool>(acc: *mut u8, from: *const u8, n: isize, stride: isize) {
    // SAFETY: as for every `LaneFn`; the accumulator is two of `T`, as each of the `n` elements is.
    unsafe {
        let acc = acc.cast::<(T, T)>();
        let (a, s) = (acc.read_unaligned(), complex_pairwise::<T, SKIP>(from, 2 * n, stride));
        acc.write_unaligned((a.0.plus(s.0), a.1.plus(s.1)));
    }
}

/// Loops that convert nothing: source and accumulator have the same type.
fn same_type(op: Reduce, elem: Elem) -> Option<Lanes> {
    match op {
        Reduce::Sum => sums(elem, false),
        Reduce::NanSum => sums(elem, true),
        Reduce::Prod => {
            with_item!(elem, T => Some(Lanes { lane: in_order::<T, T, Mul>, row: row::<T, T, Mul> }), else None)
        }
        Reduce::NanProd => {
            with_item!(elem, T => Some(Lanes { lane: in_order::<T, T, MulNumbers>, row: row::<T, T, MulNumbers> }), else None)
        }
        Reduce::Min => {
            with_item!(elem, T => Some(Lanes { lane: extreme_lane::<T, false, { width::<T>() }>, row: row::<T, T, Min> }), else None)
        }
        Reduce::Max => {
            with_item!(elem, T => Some(Lanes { lane: extreme_lane::<T, true, { width::<T>() }>, row: row::<T, T, Max> }), else None)
        }
        Reduce::NanMin => {
            with_item!(elem, T => Some(Lanes { lane: in_order::<T, T, MinNumbers>, row: row::<T, T, MinNumbers> }), else None)
        }
        Reduce::NanMax => {
            with_item!(elem, T => Some(Lanes { lane: in_order::<T, T, MaxNumbers>, row: row::<T, T, MaxNumbers> }), else None)
        }
        Reduce::Any | Reduce::All | Reduce::CountNonzero | Reduce::CountNotNan => None,
    }
}
fn sums(elem: Elem, skip: bool) -> Option<Lanes> {
    type C32 = Complex<f32>;
    type C64 = Complex<f64>;
    Some(match (elem, skip) {
        (Elem::F32, false) => Lanes { lane: sum_real::<f32, false>, row: row::<f32, f32, Add> },
        (Elem::F64, false) => Lanes { lane: sum_real::<f64, false>, row: row::<f64, f64, Add> },
        (Elem::C64, false) => Lanes { lane: sum_complex::<f32, false>, row: row::<C32, C32, Add> },
        (Elem::C128, false) => Lanes { lane: sum_complex::<f64, false>, row: row::<C64, C64, Add> },
        (Elem::F32, true) => Lanes { lane: sum_real::<f32, true>, row: row::<f32, f32, AddNumbers> },
        (Elem::F64, true) => Lanes { lane: sum_real::<f64, true>, row: row::<f64, f64, AddNumbers> },
        (Elem::C64, true) => Lanes { lane: sum_complex::<f32, true>, row: row::<C32, C32, AddNumbers> },
        (Elem::C128, true) => Lanes { lane: sum_complex::<f64, true>, row: row::<C64, C64, AddNumbers> },
        (Elem::Bool, _) => Lanes { lane: in_order::<Bool, Bool, Add>, row: row::<Bool, Bool, Add> },
        (Elem::I8, _) => Lanes { lane: in_order::<i8, i8, Add>, row: row::<i8, i8, Add> },
        (Elem::I16, _) => Lanes { lane: in_order::<i16, i16, Add>, row: row::<i16, i16, Add> },
        (Elem::I32, _) => Lanes { lane: in_order::<i32, i32, Add>, row: row::<i32, i32, Add> },
        (Elem::I64 | Elem::U64, _) => Lanes { lane: in_order::<i64, i64, Add>, row: row::<i64, i64, Add> },
        (Elem::U8, _) => Lanes { lane: in_order::<u8, u8, Add>, row: row::<u8, u8, Add> },
        (Elem::U16, _) => Lanes { lane: in_order::<u16, u16, Add>, row: row::<u16, u16, Add> },
        (Elem::U32, _) => Lanes { lane: in_order::<u32, u32, Add>, row: row::<u32, u32, Add> },
        (Elem::Str | Elem::Tuple, _) => return None,
    })
}
/// Sums of narrow integers in 64 bits.
fn widening_sum(elem: Elem) -> Option<Lanes> {
    macro_rules! wide {
        ($S:ty) => {
            Some(Lanes { lane: in_order::<$S, i64, Add>, row: row::<$S, i64, Add> })
        };
    }
    match elem {
        Elem::Bool => Some(Lanes { lane: count::<Bool, false>, row: row::<Bool, i64, Count> }),
        Elem::I8 => wide!(i8),
        Elem::I16 => wide!(i16),
        Elem::I32 => wide!(i32),
        Elem::U8 => wide!(u8),
        Elem::U16 => wide!(u16),
        Elem::U32 => wide!(u32),
        Elem::I64 | Elem::U64 => sums(Elem::I64, false),
        Elem::F32 | Elem::F64 | Elem::C64 | Elem::C128 | Elem::Str | Elem::Tuple => None,
    }
}

/// The loops that compute `op` in `acc` from `elem`; None where the source must be converted first.
pub(crate) fn lanes(op: Reduce, elem: Elem, acc: Elem) -> Option<Lanes> {
    match op {
        Reduce::Any => {
            with_item!(elem, T => Some(Lanes { lane: decide::<T, true>, row: decide_row::<T, true> }), else None)
        }
        Reduce::All => {
            with_item!(elem, T => Some(Lanes { lane: decide::<T, false>, row: decide_row::<T, false> }), else None)
        }
        Reduce::CountNonzero => {
            with_item!(elem, T => Some(Lanes { lane: count::<T, false>, row: row::<T, i64, Count> }), else None)
        }
        Reduce::CountNotNan => {
            with_item!(elem, T => Some(Lanes { lane: count::<T, true>, row: row::<T, i64, CountNumbers> }), else None)
        }
        Reduce::Sum | Reduce::NanSum if elem != acc && matches!(acc, Elem::I64 | Elem::U64) => {
            widening_sum(elem)
        }
        Reduce::Sum
        | Reduce::Prod
        | Reduce::Min
        | Reduce::Max
        | Reduce::NanMin
        | Reduce::NanMax
        | Reduce::NanSum
        | Reduce::NanProd => {
            if elem == acc {
                same_type(op, elem)
            } else {
                None
            }
        }
    }
}
