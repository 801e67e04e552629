//! Sorting, selecting and searching. NaN is larger than everything and equal to itself.
//!
//! Floats are sorted as the integers that order like them, which compare without branches; zeros of both
//! signs are adjacent, the negative ones first.

use super::item::{Bool, Complex, Item};
use super::radix::{self, Digits};
#[cfg(target_arch = "x86_64")]
use super::vector_sort;
use super::{View, each_lane, simd};
use crate::exc::{Error, Res};
use crate::poll::Poll;
use tierup_core::elem::Elem;
use tierup_core::python::numpy_since;

/// An element that sorts as an integer of its size.
trait Keyed: Item {
    type Key: Ord + Copy + 'static;
    /// Sorts keys, in whatever way is fastest.
    fn sort_keys(keys: &mut [Self::Key], poll: &mut Poll);
    /// NaN becomes the greatest key.
    fn key(self) -> Self::Key;
    fn back(key: Self::Key) -> Self;
    /// Order as unsigned number, in which both zeros are equal.
    fn bits(self) -> u64;
    /// Whether there are several zeros, and NaN.
    const FLOAT: bool = false;
    const NARROW: bool = size_of::<Self>() <= 4;
}
macro_rules! keyed_ints { ($($T:ty: $U:ty),*) => {$(impl Keyed for $T {
    type Key = $T;
    #[inline(always)] fn key(self) -> $T { self }
    #[inline(always)] fn back(key: $T) -> $T { key }
    #[inline(always)] fn bits(self) -> u64 { ((self as $U) ^ (<$T>::MIN as $U)) as u64 }
    fn sort_keys(keys: &mut [$T], poll: &mut Poll) { sort_digits(keys, |k| k, poll) }
})*}; }
keyed_ints!(i8: u8, i16: u16, i32: u32, i64: u64, u8: u8, u16: u16);

/// Unsigned ones as the signed numbers that order like them.
macro_rules! keyed_unsigned { ($($T:ty: $I:ty),*) => {$(impl Keyed for $T {
    type Key = $I;
    #[inline(always)] fn key(self) -> $I { (self ^ <$I>::MIN as $T) as $I }
    #[inline(always)] fn back(key: $I) -> $T { key as $T ^ <$I>::MIN as $T }
    #[inline(always)] fn bits(self) -> u64 { self as u64 }
    fn sort_keys(keys: &mut [$I], poll: &mut Poll) { sort_digits(keys, |k| k, poll) }
})*}; }
keyed_unsigned!(u32: i32, u64: i64);

/// Keys that vectors are for, on a machine that has wide ones.
enum Vectors<'a> {
    Wide(&'a mut [i64]),
    Narrow(&'a mut [i32]),
    None,
}

fn vectors<K: 'static>(keys: &mut [K]) -> Vectors<'_> {
    use std::any::TypeId;
    let (p, n) = (keys.as_mut_ptr(), keys.len());
    let is = |t: TypeId| TypeId::of::<K>() == t && vector_sort::available();
    if is(TypeId::of::<i64>()) {
        // SAFETY: the keys are of this very type, and borrowed as long as the answer.
        return Vectors::Wide(unsafe { std::slice::from_raw_parts_mut(p.cast(), n) });
    }
    if is(TypeId::of::<i32>()) {
        // SAFETY: as above.
        return Vectors::Narrow(unsafe { std::slice::from_raw_parts_mut(p.cast(), n) });
    }
    Vectors::None
}

/// Other machines have none.
#[cfg(not(target_arch = "x86_64"))]
mod vector_sort {
    use crate::poll::Poll;
    pub(crate) fn available() -> bool {
        false
    }
    pub(crate) mod wide {
        use super::Poll;
        pub(crate) fn sort(_: &mut [i64], _: &mut Poll) -> bool {
            false
        }
        pub(crate) fn select(_: &mut [i64], _: usize, _: &mut Poll) -> bool {
            false
        }
    }
    pub(crate) mod narrow {
        use super::Poll;
        pub(crate) fn sort(_: &mut [i32], _: &mut Poll) -> bool {
            false
        }
        pub(crate) fn select(_: &mut [i32], _: usize, _: &mut Poll) -> bool {
            false
        }
    }
    pub(crate) mod pairs {
        use super::Poll;
        pub(crate) fn sort(_: &mut [i64], _: &mut [i64], _: &mut Poll) -> bool {
            false
        }
        pub(crate) fn select(_: &mut [i64], _: &mut [i64], _: usize, _: &mut Poll) -> bool {
            false
        }
    }
}

fn sort_vectors<K: 'static>(keys: &mut [K], poll: &mut Poll) -> bool {
    match vectors(keys) {
        Vectors::Wide(k) => vector_sort::wide::sort(k, poll),
        Vectors::Narrow(k) => vector_sort::narrow::sort(k, poll),
        Vectors::None => false,
    }
}

/// Puts the key that belongs at `nth` there, no greater ones before it and no smaller ones behind.
fn select_keys<K: Ord + 'static>(keys: &mut [K], nth: usize, poll: &mut Poll) {
    let done = match vectors(keys) {
        Vectors::Wide(k) => vector_sort::wide::select(k, nth, poll),
        Vectors::Narrow(k) => vector_sort::narrow::select(k, nth, poll),
        Vectors::None => false,
    };
    if !done {
        keys.select_nth_unstable(nth);
    }
}

/// By digits where that pays, else by comparing.
fn sort_digits<K: Ord + 'static, D: Digits>(
    keys: &mut [K],
    digits: impl FnOnce(&mut [K]) -> &mut [D],
    poll: &mut Poll,
) {
    if sort_vectors(keys, poll) {
        return;
    }
    if radix::pays::<D>(keys.len()) && radix::sort(digits(keys), poll) {
        return;
    }
    poll.worked(keys.len());
    poll.sorting(keys.len(), |tick| {
        keys.sort_unstable_by(|a, b| {
            tick();
            a.cmp(b)
        })
    });
}
impl Keyed for Bool {
    type Key = u8;
    #[inline(always)]
    fn key(self) -> u8 {
        self.truth() as u8
    }
    #[inline(always)]
    fn back(key: u8) -> Bool {
        Bool(key)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.truth() as u64
    }
    fn sort_keys(keys: &mut [u8], poll: &mut Poll) {
        sort_digits(keys, |k| k, poll)
    }
}
macro_rules! keyed_floats { ($($T:ident: $I:ident, $U:ident),*) => {$(impl Keyed for $T {
    type Key = $I;
    #[inline(always)] fn key(self) -> $I {
        let b = self.to_bits() as $I;
        if self.is_nan() { $I::MAX } else { b ^ (((b >> ($I::BITS - 1)) as $U) >> 1) as $I }
    }
    #[inline(always)] fn back(key: $I) -> $T { $T::from_bits((key ^ (((key >> ($I::BITS - 1)) as $U) >> 1) as $I) as $U) }
    #[inline(always)] fn bits(self) -> u64 { ((self + 0.0).key() as $U ^ $I::MIN as $U) as u64 }
    const FLOAT: bool = true;
    fn sort_keys(keys: &mut [$I], poll: &mut Poll) { sort_digits(keys, |k| k, poll) }
})*}; }
keyed_floats!(f32: i32, u32, f64: i64, u64);

/// Runs an expression for the element types that sort as integers, and another for complex ones.
macro_rules! by_key {
    ($elem:expr, $T:ident => $keyed:expr, complex $C:ident => $complex:expr) => {
        match $elem {
            Elem::Bool => {
                type $T = Bool;
                $keyed
            }
            Elem::I8 => {
                type $T = i8;
                $keyed
            }
            Elem::I16 => {
                type $T = i16;
                $keyed
            }
            Elem::I32 => {
                type $T = i32;
                $keyed
            }
            Elem::I64 => {
                type $T = i64;
                $keyed
            }
            Elem::U8 => {
                type $T = u8;
                $keyed
            }
            Elem::U16 => {
                type $T = u16;
                $keyed
            }
            Elem::U32 => {
                type $T = u32;
                $keyed
            }
            Elem::U64 => {
                type $T = u64;
                $keyed
            }
            Elem::F32 => {
                type $T = f32;
                $keyed
            }
            Elem::F64 => {
                type $T = f64;
                $keyed
            }
            Elem::C64 => {
                type $C = Complex<f32>;
                $complex
            }
            Elem::C128 => {
                type $C = Complex<f64>;
                $complex
            }
            Elem::Str | Elem::Tuple => {}
        }
    };
}

simd! {
    unsafe fn to_keys<T: Keyed>(p: *mut u8, n: usize) {
        for i in 0..n { p.cast::<T::Key>().add(i).write_unaligned(p.cast::<T>().add(i).read_unaligned().key()); }
    }
}
simd! {
    unsafe fn from_keys<T: Keyed>(p: *mut u8, n: usize) {
        for i in 0..n { p.cast::<T>().add(i).write_unaligned(T::back(p.cast::<T::Key>().add(i).read_unaligned())); }
    }
}

/// Runs `f` on a lane as an aligned slice, which is copied and written back where the lane is none.
unsafe fn as_slice<T: Copy>(p: *mut u8, n: usize, stride: i64, f: impl FnOnce(&mut [T])) {
    // SAFETY: as required of the caller, the lane is the caller's to change; as a slice it is aligned and
    // without gaps.
    unsafe {
        if n == 0 {
            return;
        }
        if stride == size_of::<T>() as i64 && p.cast::<T>().is_aligned() {
            return f(std::slice::from_raw_parts_mut(p.cast(), n));
        }
        let at = |i: usize| p.offset(i as isize * stride as isize).cast::<T>();
        let mut copy: Vec<T> = (0..n).map(|i| at(i).read_unaligned()).collect();
        f(&mut copy);
        for (i, x) in copy.into_iter().enumerate() {
            at(i).write_unaligned(x);
        }
    }
}

/// Runs `f` on the keys of a slice.
fn on_keys<T: Keyed>(v: &mut [T], f: impl FnOnce(&mut [T::Key])) {
    let (p, n) = (v.as_mut_ptr().cast::<u8>(), v.len());
    const { assert!(size_of::<T>() == size_of::<T::Key>() && align_of::<T>() == align_of::<T::Key>()) };
    // SAFETY: keys have the size and alignment of elements, and every bit pattern is a key.
    unsafe {
        to_keys::<T>(p, n);
        f(std::slice::from_raw_parts_mut(p.cast(), n));
        from_keys::<T>(p, n);
    }
}

/// Sorts a slice. What compares as equal looks the same, but for zeros and NaN: these are put back in the
/// order in which they were, where that counts.
fn sort_slice<T: Keyed>(v: &mut [T], stable: bool, poll: &mut Poll) {
    let (mut zeros, mut nans): (Vec<T>, Vec<T>) = (vec![], vec![]);
    let zero = T::ZERO.bits();
    if stable && T::FLOAT {
        for x in v.iter() {
            if x.bits() == zero {
                zeros.push(*x)
            } else if x.is_nan() {
                nans.push(*x)
            }
        }
    }
    on_keys(v, |k| T::sort_keys(k, poll));
    if poll.stopped() || zeros.is_empty() && nans.is_empty() {
        return;
    }
    let first = v.partition_point(|x| x.bits() < zero);
    v[first..first + zeros.len()].copy_from_slice(&zeros);
    let end = v.len() - nans.len();
    v[end..].copy_from_slice(&nans);
}

/// Sorts along an axis in place.
///
/// # Safety
/// The array is as described.
pub(crate) unsafe fn sort(elem: Elem, a: View<'_>, axis: usize, stable: bool, poll: &mut Poll) {
    let (n, stride) = (a.shape[axis] as usize, a.strides[axis]);
    // SAFETY: offsets of lanes lie within the array, and so do the `n` elements of each.
    each_lane(a.shape, [a.strides], axis, |[o]| unsafe {
        if poll.stopped() {
            return;
        }
        let p = a.data.offset(o);
        by_key!(elem, T => as_slice::<T>(p, n, stride, |v| sort_slice(v, stable, poll)),
        complex C => as_slice::<C>(p, n, stride, |v| {
            poll.worked(n);
            poll.sorting(n, |tick| if stable { v.sort_by(|a, b| { tick(); a.order(*b) }) } else { v.sort_unstable_by(|a, b| { tick(); a.order(*b) }) })
        }));
    });
}

/// The arranged positions of a lane, from numbers that hold the bits that order like an element above its
/// position.
unsafe fn positions<T: Keyed>(
    p: *const u8,
    n: usize,
    stride: i64,
    out: &mut [i64],
    arrange: Arrange,
    poll: &mut Poll,
) {
    let bits =
        // SAFETY: callers ask for positions below `n`.
        |i: usize| unsafe { p.offset(i as isize * stride as isize).cast::<T>().read_unaligned().bits() };
    if vector_sort::available() && vector_positions(bits, T::NARROW, out, arrange, poll) {
        return;
    }
    if T::NARROW && n <= u32::MAX as usize {
        let mut pairs: Vec<radix::Narrow> = (0..n).map(|i| radix::Narrow(bits(i) << 32 | i as u64)).collect();
        let sorted = matches!(arrange, Arrange::Sorted)
            && radix::pays::<radix::Narrow>(n)
            && radix::sort(&mut pairs, poll);
        if !sorted {
            arrange.apply(&mut pairs, |p| p.0, poll);
        }
        for (o, x) in out.iter_mut().zip(pairs) {
            *o = (x.0 & u32::MAX as u64) as i64;
        }
    } else {
        // Sixteen bytes at a time, digits lose to comparisons.
        let mut pairs: Vec<u128> = (0..n).map(|i| (bits(i) as u128) << 64 | i as u128).collect();
        arrange.apply(&mut pairs, |p| *p, poll);
        for (o, x) in out.iter_mut().zip(pairs) {
            *o = x as u64 as i64;
        }
    }
}

/// The same by vectors: where both fit, keys and positions as one number. False when there is no memory for
/// it.
fn vector_positions(
    bits: impl Fn(usize) -> u64,
    narrow: bool,
    out: &mut [i64],
    arrange: Arrange,
    poll: &mut Poll,
) -> bool {
    use vector_sort::{pairs, wide};
    let n = out.len();
    let signed = |x: u64| (x ^ 1 << 63) as i64;
    if narrow && n <= u32::MAX as usize {
        for (i, o) in out.iter_mut().enumerate() {
            *o = signed(bits(i) << 32 | i as u64);
        }
        let done = match arrange {
            Arrange::Sorted => wide::sort(out, poll),
            Arrange::Nth(k) => wide::select(out, k, poll),
        };
        for o in out.iter_mut() {
            *o &= u32::MAX as i64;
        }
        return done;
    }
    let mut keys: Vec<i64> = (0..n).map(|i| signed(bits(i))).collect();
    for (i, o) in out.iter_mut().enumerate() {
        *o = i as i64;
    }
    match arrange {
        Arrange::Sorted => pairs::sort(&mut keys, out, poll),
        Arrange::Nth(k) => pairs::select(&mut keys, out, k, poll),
    }
}

/// Sort all of it, or only so far that one element is in its place.
#[derive(Clone, Copy)]
enum Arrange {
    Sorted,
    Nth(usize),
}
impl Arrange {
    fn apply<P, K: Ord>(self, v: &mut [P], key: impl Fn(&P) -> K, poll: &mut Poll) {
        poll.worked(v.len());
        match self {
            Arrange::Sorted => poll.sorting(v.len(), |tick| {
                v.sort_unstable_by(|a, b| {
                    tick();
                    key(a).cmp(&key(b))
                })
            }),
            Arrange::Nth(k) => {
                v.select_nth_unstable_by_key(k, key);
            }
        }
    }
}

unsafe fn arg_lanes(elem: Elem, a: View<'_>, axis: usize, out: *mut i64, arrange: Arrange, poll: &mut Poll) {
    let (n, stride) = (a.shape[axis] as usize, a.strides[axis]);
    let out_strides = a.c_strides(8);
    let mut lane = vec![0i64; n];
    // SAFETY: lanes lie within the array, and `out` has its shape in C order; positions in `lane` are below
    // `n`.
    each_lane(a.shape, [a.strides, &out_strides], axis, |[o, r]| unsafe {
        if poll.stopped() {
            return;
        }
        let p = a.data.offset(o);
        by_key!(elem, T => positions::<T>(p, n, stride, &mut lane, arrange, poll), complex C => {
            // By position where equal, so that the order is one.
            let at = |i: i64| p.offset(i as isize * stride as isize).cast::<C>().read_unaligned();
            for (i, l) in lane.iter_mut().enumerate() { *l = i as i64; }
            poll.worked(n);
            poll.sorting(n, |tick| lane.sort_by(|i, j| { tick(); at(*i).order(at(*j)) }));
        });
        for (i, l) in lane.iter().enumerate() {
            out.byte_offset(r + i as isize * out_strides[axis] as isize).write(*l);
        }
    });
}

/// The stable order that sorts along an axis, in C order.
///
/// # Safety
/// The array is as described and `out` has room for as many int64.
pub(crate) unsafe fn argsort(elem: Elem, a: View<'_>, axis: usize, out: *mut i64, poll: &mut Poll) {
    // SAFETY: as required of the caller.
    unsafe { arg_lanes(elem, a, axis, out, Arrange::Sorted, poll) }
}

fn check_kth(n: i64, kth: i64) -> Res<usize> {
    let k = if kth < 0 { kth + n } else { kth };
    if k < 0 || k >= n {
        return Err(Error::value(format!("kth(={k}) out of bounds ({n})")));
    }
    Ok(k as usize)
}

/// # Safety
/// The array is as described.
pub(crate) unsafe fn partition(elem: Elem, a: View<'_>, axis: usize, kth: i64, poll: &mut Poll) -> Res<()> {
    let (n, stride) = (a.shape[axis] as usize, a.strides[axis]);
    if n == 0 {
        return Ok(());
    }
    let k = check_kth(n as i64, kth)?;
    // SAFETY: offsets of lanes lie within the array, and so do the `n` elements of each.
    each_lane(a.shape, [a.strides], axis, |[o]| unsafe {
        if poll.stopped() || poll.worked(n) {
            return;
        }
        let p = a.data.offset(o);
        by_key!(elem, T => as_slice::<T>(p, n, stride, |v| on_keys(v, |keys| select_keys(keys, k, poll))),
            complex C => as_slice::<C>(p, n, stride, |v| { v.select_nth_unstable_by(k, |a, b| a.order(*b)); }));
    });
    Ok(())
}

/// # Safety
/// The array is as described and `out` has room for as many int64.
pub(crate) unsafe fn argpartition(
    elem: Elem,
    a: View<'_>,
    axis: usize,
    kth: i64,
    out: *mut i64,
    poll: &mut Poll,
) -> Res<()> {
    if a.shape[axis] == 0 {
        return Ok(());
    }
    let k = check_kth(a.shape[axis], kth)?;
    // SAFETY: as required of the caller.
    unsafe { arg_lanes(elem, a, axis, out, Arrange::Nth(k), poll) };
    Ok(())
}

/// A lane of elements.
#[derive(Clone, Copy)]
pub(crate) struct Lane {
    pub data: *const u8,
    pub n: i64,
    pub stride: i64,
}

/// Where each key belongs among sorted elements.
///
/// # Safety
/// Both lanes can be read and `out` has room for a position for each key.
pub(crate) unsafe fn search(elem: Elem, sorted: Lane, keys: Lane, right: bool, out: *mut i64) {
    /// Branch-free bisection, whose answers are NumPy's where the elements are not sorted, too: it halves all of them
    /// for each key, and before 2.5 what lies between the bounds that it has after the last key.
    unsafe fn run<K: PartialOrd + Copy>(
        sorted: Lane,
        keys: Lane,
        right: bool,
        out: *mut i64,
        get: impl Fn(Lane, i64) -> K,
    ) {
        let below = |at: i64, key: K| if right { get(sorted, at) <= key } else { get(sorted, at) < key };
        let halves = numpy_since(2, 5);
        let (mut from, mut last) = (0, None::<K>);
        for i in 0..keys.n {
            let key = get(keys, i);
            if halves {
                let (mut lo, mut len) = (0, sorted.n);
                while len > 1 {
                    let half = len / 2;
                    lo += if below(lo + half, key) { half } else { 0 };
                    len -= half;
                }
                from = lo + i64::from(len > 0 && below(lo, key));
            } else {
                let goes_up = last.is_some_and(|l| if right { l <= key } else { l < key });
                let end = if goes_up || last.is_none() { sorted.n } else { sorted.n.min(from + 1) };
                from = if goes_up { from } else { 0 };
                let mut len = end - from;
                while len > 0 {
                    let half = len / 2;
                    let below = below(from + half, key);
                    from = if below { from + half + 1 } else { from };
                    len = if below { len - half - 1 } else { half };
                }
                last = Some(key);
            }
            // SAFETY: there is room for a position for each key.
            unsafe { out.offset(i as isize).write_unaligned(from) };
        }
    }
    /// A complex number by its sorting order.
    #[derive(Clone, Copy, PartialEq)]
    struct Ordered<C: Item>(C);
    impl<C: Item> PartialOrd for Ordered<C> {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.0.order(other.0))
        }
    }
    unsafe fn read<T: Copy>(l: Lane, i: i64) -> T {
        // SAFETY: callers ask for elements that the lane has.
        unsafe { l.data.offset((i * l.stride) as isize).cast::<T>().read_unaligned() }
    }
    // SAFETY: as required of the caller; the bisection stays below the number of sorted elements.
    by_key!(elem, T => unsafe { run(sorted, keys, right, out, |l, i| read::<T>(l, i).bits()) },
        // SAFETY: as above.
        complex C => unsafe { run(sorted, keys, right, out, |l, i| Ordered(read::<C>(l, i))) });
}
