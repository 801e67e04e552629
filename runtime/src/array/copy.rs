//! Copying, filling and converting.

use super::View;
use super::axes::plan;
use super::item::{Item, To, with_item};
use super::simd;
use super::small_vec::SmallVec;
use crate::poll::Poll;
use tierup_core::elem::Elem;

/// Copies elements of `size` bytes. The axes are walked in the order of the target's memory; a transposed
/// source goes in blocks.
///
/// # Safety
/// Both arrays are as described and do not overlap.
pub(crate) unsafe fn copy(size: usize, to: View<'_>, from: View<'_>, poll: &mut Poll) {
    if to.shape.contains(&0) {
        return;
    }
    // SAFETY: as required of the caller.
    if few(to, from, |to, ts, from, fs, n| unsafe { lane(size, to, ts, from, fs, n) }) {
        return;
    }
    let p = plan(to.shape, [to.strides, from.strides]);
    let inner = p.inner();
    let [ts, fs] = inner.strides;
    // SAFETY: offsets of a plan over the shape lie within both arrays, which as required of the caller do not
    // overlap.
    unsafe {
        // Rows against columns: two nested axes where the source's small stride is the outer one.
        if let [.., outer, _] = &*p.axes
            && outer.strides[1].abs() < fs.abs()
            && inner.n >= 16
            && outer.n >= 16
        {
            let outer = *outer;
            let rest = super::axes::Plan {
                axes: p.axes[..p.axes.len() - 1].iter().copied().collect(),
                start: p.start,
            };
            return rest.each_lane(|[t, f]| {
                blocks(
                    size,
                    to.data.offset(t),
                    from.data.offset(f),
                    outer.n,
                    outer.strides,
                    inner.n,
                    inner.strides,
                    poll,
                )
            });
        }
        p.each_lane(|[t, f]| {
            poll.in_pieces(inner.n as usize, |at, n| {
                let at = at as isize;
                lane(size, to.data.offset(t + at * ts), ts, from.data.offset(f + at * fs), fs, n as isize)
            })
        });
    }
}

/// Elements of a matrix for which no order of its axes is sought: that takes as long as they do.
const FEW: i64 = 256;

/// Goes through one or two axes as they come, where there are few elements.
fn few(to: View<'_>, from: View<'_>, run: impl Fn(*mut u8, isize, *const u8, isize, isize)) -> bool {
    match (to.shape, to.strides, from.strides) {
        ([n], [ts], [fs]) if *n <= FEW => run(to.data, *ts as isize, from.data, *fs as isize, *n as isize),
        ([n, m], [t0, t1], [f0, f1]) if *n <= FEW && *m <= FEW && n * m <= FEW => {
            for i in 0..*n {
                run(
                    to.data.wrapping_offset((i * t0) as isize),
                    *t1 as isize,
                    from.data.wrapping_offset((i * f0) as isize),
                    *f1 as isize,
                    *m as isize,
                );
            }
        }
        _more => return false,
    }
    true
}

/// Copies an `n` by `m` block so that neither side is walked with large strides for long.
#[allow(clippy::too_many_arguments)]
unsafe fn blocks(
    size: usize,
    to: *mut u8,
    from: *const u8,
    n: isize,
    [tn, fnn]: [isize; 2],
    m: isize,
    [tm, fm]: [isize; 2],
    poll: &mut Poll,
) {
    const B: isize = 32;
    // SAFETY: as required of `copy`'s caller; `ii` and `j` stay below the lengths of the two axes.
    unsafe {
        for i in (0..n).step_by(B as usize) {
            for j in (0..m).step_by(B as usize) {
                if poll.worked((B * B) as usize) {
                    return;
                }
                for ii in i..(i + B).min(n) {
                    lane(
                        size,
                        to.offset(ii * tn + j * tm),
                        tm,
                        from.offset(ii * fnn + j * fm),
                        fm,
                        B.min(m - j),
                    );
                }
            }
        }
    }
}

/// Copies `n` elements of `size` bytes.
///
/// # Safety
/// The lanes do not overlap.
#[inline]
unsafe fn lane(size: usize, to: *mut u8, ts: isize, from: *const u8, fs: isize, n: isize) {
    unsafe fn typed<T: Copy>(to: *mut u8, ts: isize, from: *const u8, fs: isize, n: isize) {
        let w = size_of::<T>() as isize;
        // SAFETY: both lanes have `n` elements of the size of `T`, which are read and written unaligned.
        unsafe {
            if ts == w && fs == 0 {
                let v = from.cast::<T>().read_unaligned();
                for i in 0..n {
                    to.cast::<T>().offset(i).write_unaligned(v);
                }
            } else {
                for i in 0..n {
                    to.offset(i * ts)
                        .cast::<T>()
                        .write_unaligned(from.offset(i * fs).cast::<T>().read_unaligned());
                }
            }
        }
    }
    // SAFETY: as required of the caller; a type that is only copied may stand for elements of its size.
    unsafe {
        if ts == size as isize && fs == size as isize {
            return std::ptr::copy_nonoverlapping(from, to, n as usize * size);
        }
        match size {
            1 => typed::<u8>(to, ts, from, fs, n),
            2 => typed::<u16>(to, ts, from, fs, n),
            4 => typed::<u32>(to, ts, from, fs, n),
            8 => typed::<u64>(to, ts, from, fs, n),
            16 => typed::<[u64; 2]>(to, ts, from, fs, n),
            _any => {
                for i in 0..n {
                    std::ptr::copy_nonoverlapping(from.offset(i * fs), to.offset(i * ts), size)
                }
            }
        }
    }
}

/// Copies one element into all.
///
/// # Safety
/// `value` points to `size` bytes outside the array.
pub(crate) unsafe fn fill(size: usize, value: *mut u8, to: View<'_>, poll: &mut Poll) {
    let zeros = SmallVec::of(0, to.shape.len());
    // SAFETY: as required of the caller; with strides of zero every element is read from `value`.
    unsafe { copy(size, to, View { shape: to.shape, strides: &zeros, data: value }, poll) }
}

simd! {
    /// Converts `n` elements that lie side by side.
    unsafe fn convert_contiguous<S: Pair<D>, D: Item>(to: *mut u8, from: *const u8, n: isize) {
        for i in 0..n { to.cast::<D>().offset(i).write_unaligned(from.cast::<S>().offset(i).read_unaligned().to()); }
    }
}
/// An item that converts to another: one bound for [`simd!`].
pub(crate) trait Pair<D>: Item + To<D> {}
impl<S: Item + To<D>, D> Pair<D> for S {}

unsafe fn convert<S: Pair<D>, D: Item>(to: *mut u8, ts: isize, from: *const u8, fs: isize, n: isize) {
    // SAFETY: as required of whoever calls a `Convert`: both lanes have `n` elements, and do not overlap.
    unsafe {
        if ts == size_of::<D>() as isize && fs == size_of::<S>() as isize {
            return convert_contiguous::<S, D>(to, from, n);
        }
        for i in 0..n {
            to.offset(i * ts)
                .cast::<D>()
                .write_unaligned(from.offset(i * fs).cast::<S>().read_unaligned().to());
        }
    }
}

/// Converts a lane of `n` elements.
pub(crate) type Convert = unsafe fn(to: *mut u8, ts: isize, from: *const u8, fs: isize, n: isize);
/// The function that converts one element type into another; None for strings.
pub(crate) fn converter(to: Elem, from: Elem) -> Option<Convert> {
    with_item!(from, S => with_item!(to, D => Some(convert::<S, D> as Convert), else None), else None)
}

/// Copies and converts.
///
/// # Safety
/// Both arrays are as described and do not overlap.
pub(crate) unsafe fn cast(to_elem: Elem, to: View<'_>, from_elem: Elem, from: View<'_>, poll: &mut Poll) {
    if to_elem == from_elem {
        // SAFETY: as required of the caller; the elements are of one type.
        return unsafe { copy(to_elem.bytes(), to, from, poll) };
    }
    let Some(convert) = converter(to_elem, from_elem) else { return };
    if to.shape.contains(&0) {
        return;
    }
    // SAFETY: as required of the caller.
    if few(to, from, |to, ts, from, fs, n| unsafe { convert(to, ts, from, fs, n) }) {
        return;
    }
    let p = plan(to.shape, [to.strides, from.strides]);
    let inner = p.inner();
    let [ts, fs] = inner.strides;
    p.each_lane(|[t, f]| {
        poll.in_pieces(inner.n as usize, |at, n| {
            let at = at as isize;
            // SAFETY: pieces of lanes lie within the arrays.
            unsafe { convert(to.data.offset(t + at * ts), ts, from.data.offset(f + at * fs), fs, n as isize) }
        })
    });
}

/// Reverses `n` elements of `size` bytes in place.
///
/// # Safety
/// The elements are the caller's.
pub(crate) unsafe fn reverse(size: usize, data: *mut u8, n: i64, stride: i64) {
    for i in 0..n / 2 {
        // SAFETY: the two are different elements.
        unsafe {
            std::ptr::swap_nonoverlapping(
                data.offset((i * stride) as isize),
                data.offset(((n - 1 - i) * stride) as isize),
                size,
            )
        }
    }
}

/// Whether two arrays may share memory. Extents decide, but for two arrays of lanes with one common stride
/// that lie between each other's elements.
pub(crate) fn overlap(size: usize, a: View<'_>, size2: usize, b: View<'_>) -> bool {
    if a.shape.contains(&0) || b.shape.contains(&0) {
        return false;
    }
    let extent = |v: &View<'_>, size: usize| {
        let (mut lo, mut hi) = (0i64, size as i64);
        for (n, s) in v.shape.iter().zip(v.strides) {
            let reach = (n - 1) * s;
            if reach < 0 { lo += reach } else { hi += reach }
        }
        (v.data as i64 + lo, v.data as i64 + hi)
    };
    let ((lo, hi), (lo2, hi2)) = (extent(&a, size), extent(&b, size2));
    if hi <= lo2 || hi2 <= lo {
        return false;
    }
    // Offsets of elements are multiples of the greatest common divisor of all strides.
    let strides = |v: &View<'_>| {
        v.shape
            .iter()
            .zip(v.strides)
            .filter(|(n, _)| **n > 1)
            .fold(0, |g, (_, s)| crate::number::gcd(g, s.unsigned_abs()))
    };
    let g = crate::number::gcd(strides(&a), strides(&b)) as i64;
    if g == 0 {
        return true;
    }
    let d = (b.data as i64 - a.data as i64).rem_euclid(g);
    d < size as i64 || d + size2 as i64 > g
}
