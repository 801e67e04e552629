//! Running reductions, positions of extremes, positions of true elements.

use super::item::{Item, with_item};
use super::{View, chosen, each_index, each_lane, lanes, simd};
use crate::exc::{Error, Res};
use crate::parallel::native::{Shared, in_pieces};
use crate::poll::Poll;
use tierup_core::elem::Elem;
use tierup_core::rt::Ctx;

/// Running `op` (0 sum, 1 product, 2 minimum, 3 maximum) along an axis.
///
/// # Safety
/// Both arrays are as described; they are the same or do not overlap.
pub(crate) unsafe fn accumulate(
    op: i64,
    elem: Elem,
    from: View<'_>,
    axis: usize,
    out: *mut u8,
    out_strides: &[i64],
    poll: &mut Poll,
) {
    unsafe fn run<T: Item>(
        op: i64,
        from: *const u8,
        fs: isize,
        to: *mut u8,
        ts: isize,
        n: isize,
        poll: &mut Poll,
    ) {
        unsafe fn lane<T: Item>(
            from: *const u8,
            fs: isize,
            to: *mut u8,
            ts: isize,
            n: isize,
            poll: &mut Poll,
            f: impl Fn(T, T) -> T,
        ) {
            // SAFETY: both lanes have `n` elements, at least one; each is read before its place is written.
            unsafe {
                let mut a = from.cast::<T>().read_unaligned();
                to.cast::<T>().write_unaligned(a);
                poll.in_pieces(n as usize, |at, n| {
                    for i in at.max(1)..at + n {
                        a = f(a, from.offset(i as isize * fs).cast::<T>().read_unaligned());
                        to.offset(i as isize * ts).cast::<T>().write_unaligned(a);
                    }
                });
            }
        }
        // SAFETY: as required of the caller.
        unsafe {
            match op {
                0 => lane::<T>(from, fs, to, ts, n, poll, T::add),
                1 => lane::<T>(from, fs, to, ts, n, poll, T::mul),
                2 => lane::<T>(from, fs, to, ts, n, poll, |a, s| if s.below(a) { s } else { a }),
                _maximum => lane::<T>(from, fs, to, ts, n, poll, |a, s| if s.above(a) { s } else { a }),
            }
        }
    }
    if from.shape.contains(&0) {
        return;
    }
    let (n, fs, ts) = (from.shape[axis] as isize, from.strides[axis] as isize, out_strides[axis] as isize);
    each_lane(from.shape, [from.strides, out_strides], axis, |[f, o]| {
        // SAFETY: offsets lie within the arrays.
        with_item!(elem, T => unsafe { run::<T>(op, from.data.offset(f), fs, out.offset(o), ts, n, poll) }, else ());
    });
}

/// Which position is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Extreme {
    pub max: bool,
    pub skip_nan: bool,
}

/// Positions of the extremes along `axis` (-1: of the whole array in C order) into `out`, in C order of the
/// other axes.
///
/// # Safety
/// The array is as described and `out` has room.
pub(crate) unsafe fn arg(
    what: Extreme,
    elem: Elem,
    from: View<'_>,
    axis: i64,
    out: *mut i64,
    poll: &mut Poll,
) -> Res<()> {
    let empty = || {
        Error::value(format!(
            "attempt to get {} of an empty sequence",
            if what.max { "argmax" } else { "argmin" }
        ))
    };
    let all_nan = || Error::value("All-NaN slice encountered");
    let Ok(axis) = usize::try_from(axis) else {
        if from.size() == 0 {
            return Err(empty());
        }
        // SAFETY: as required of the caller.
        unsafe {
            let found = with_item!(elem, T => whole::<T, { lanes::width::<T>() }>(what, from), else None);
            *out = found.ok_or_else(all_nan)?;
        }
        return Ok(());
    };
    let (n, stride) = (from.shape[axis] as isize, from.strides[axis] as isize);
    if n == 0 {
        return Err(empty());
    }
    let (mut at, mut failed) = (0, false);
    each_lane(from.shape, [from.strides], axis, |[f]| {
        if poll.stopped() || poll.worked(n as usize) {
            return;
        }
        // SAFETY: the offset lies within the array, and there are as many lanes as results.
        unsafe {
            match with_item!(elem, T => lane::<T, { lanes::width::<T>() }>(what, from.data.offset(f), n, stride), else None)
            {
                Some(i) => *out.add(at) = i,
                None => failed = true,
            }
        }
        at += 1;
    });
    if failed { Err(all_nan()) } else { Ok(()) }
}

/// [`arg`] by several threads: lanes apart, or parts of the only one. None where that does not go.
///
/// # Safety
/// As for [`arg`]; `ctx` is the live context of this thread.
pub(crate) unsafe fn arg_in_pieces(
    ctx: Ctx,
    what: Extreme,
    elem: Elem,
    from: View<'_>,
    axis: i64,
    out: *mut i64,
) -> Option<Res<()>> {
    let total = from.size();
    if from.shape.len() == 1 {
        // The best of each part, then the first best of those.
        if what.skip_nan {
            return None;
        }
        let (parts, size, stride) = (1i64 << super::sums::depth(total), elem.bytes(), from.strides[0]);
        let mut found = vec![0i64; parts as usize];
        let (table, data) = (Shared(found.as_mut_ptr()), Shared(from.data));
        let bound = |k: i64| (k as i128 * total as i128 / parts as i128) as i64;
        let body = |first: i64, end: i64| {
            for k in first..end {
                let at = bound(k);
                let part = View {
                    shape: &[bound(k + 1) - at],
                    strides: &[stride],
                    data: data.get().wrapping_offset((at * stride) as isize),
                };
                // SAFETY: the part lies within the array and is not empty, so that nothing fails; each has a
                // place of its own.
                unsafe {
                    let place = table.get().add(k as usize);
                    let _ = arg(what, elem, part, -1, place, &mut Poll::never());
                    *place += at;
                }
            }
        };
        // SAFETY: as required of the caller.
        if let Err(e) = unsafe { in_pieces(ctx, parts, total / parts, &body) } {
            return Some(Err(e));
        }
        let mut best = vec![0u64; (parts as usize * size).div_ceil(8)];
        let table = best.as_mut_ptr().cast::<u8>();
        let mut winner = 0i64;
        // SAFETY: positions are of elements; the table has room for one of each part.
        let done = unsafe {
            for (k, at) in found.iter().enumerate() {
                std::ptr::copy_nonoverlapping(
                    from.data.wrapping_offset((at * stride) as isize),
                    table.add(k * size),
                    size,
                );
            }
            arg(
                what,
                elem,
                View { shape: &[parts], strides: &[size as i64], data: table },
                -1,
                &raw mut winner,
                &mut Poll::never(),
            )
        };
        // SAFETY: as required of the caller.
        return Some(done.map(|()| unsafe { *out = found[winner as usize] }));
    }
    let (axis, rows) = (usize::try_from(axis).ok()?, from.shape.first().copied()?);
    if axis == 0 || rows < 2 || what.skip_nan {
        return None;
    }
    // Rows apart: results lie in C order, those of a row together.
    let each = total / rows / from.shape[axis].max(1);
    let (data, to, shape, strides) = (Shared(from.data), Shared(out), from.shape, from.strides);
    let body = |first: i64, end: i64| {
        let mut shape = shape.to_vec();
        shape[0] = end - first;
        let part =
            View { shape: &shape, strides, data: data.get().wrapping_offset((first * strides[0]) as isize) };
        // SAFETY: the part lies within the array, and lanes are not empty.
        unsafe {
            let _ =
                arg(what, elem, part, axis as i64, to.get().add((first * each) as usize), &mut Poll::never());
        }
    };
    // SAFETY: as required of the caller.
    Some(unsafe { in_pieces(ctx, rows, total / rows, &body) })
}

/// Whether `x` takes the place of `best`.
#[inline(always)]
fn better<T: Item>(what: Extreme, x: T, best: T) -> bool {
    if best.is_nan() {
        false
    } else if what.max {
        x.above(best)
    } else {
        x.below(best)
    }
}

/// Position of the extreme of a lane that is not empty; None where all of it is NaN and that is left out.
unsafe fn lane<T: Item, const L: usize>(what: Extreme, p: *const u8, n: isize, stride: isize) -> Option<i64> {
    // SAFETY: callers ask for positions below `n`.
    let get = |i: isize| unsafe { p.offset(i * stride).cast::<T>().read_unaligned() };
    let first = if what.skip_nan { (0..n).find(|i| !get(*i).is_nan())? } else { 0 };
    let (mut at, mut best) = (first, get(first));
    for block in (first + 1..n).step_by(2048) {
        if best.is_nan() {
            break;
        }
        // Most blocks hold nothing better, which is quick to see.
        let end = n.min(block + 2048);
        // SAFETY: the block lies within the lane.
        let (place, n) = (unsafe { p.offset(block * stride) }, end - block);
        // SAFETY: its elements can be read.
        let top = unsafe { lanes::extreme::<T, L>(what.max, best, place, n, stride) };
        if !top.is_nan() && !better(what, top, best) {
            continue;
        }
        if !top.is_nan() {
            // The first that is equal to the extreme of the block.
            // SAFETY: as above.
            (at, best) = (block + unsafe { first_equal(top, place, n, stride) }, top);
            continue;
        }
        for i in block..end {
            let x = get(i);
            if (!what.skip_nan || !x.is_nan()) && better(what, x, best) {
                (at, best) = (i, x);
            }
        }
    }
    Some(first_of_all(what, best, at as i64))
}

/// NumPy sees the worst number in place of NaN, so where no number is better than that the first element is
/// the extreme, NaN or not.
fn first_of_all<T: Item>(what: Extreme, best: T, at: i64) -> i64 {
    if what.skip_nan && best.is_worst(what.max) { 0 } else { at }
}

simd! {
    /// Position of the first element equal to `x`, of which there is one; groups without it are passed in one
    /// step.
    unsafe fn first_equal<T: Item>(x: T, p: *const u8, n: isize, stride: isize) -> isize {
        let get = |i: isize| p.offset(i * stride).cast::<T>().read_unaligned();
        let mut i = 0;
        if stride == size_of::<T>() as isize {
            let p = p.cast::<T>();
            while i + 32 <= n {
                let mut any = false;
                for k in 0..32 { any |= p.offset(i + k).read_unaligned() == x; }
                if any { break; }
                i += 32;
            }
        }
        while i + 1 < n && get(i) != x { i += 1; }
        i
    }
}

unsafe fn whole<T: Item, const L: usize>(what: Extreme, from: View<'_>) -> Option<i64> {
    let p = from.c_strides(size_of::<T>());
    if from.shape.iter().zip(from.strides.iter().zip(p.iter())).all(|(n, (s, c))| *n == 1 || s == c) {
        // SAFETY: the strides are those of an array in C order, so it is one lane.
        return unsafe { lane::<T, L>(what, from.data, from.size() as isize, size_of::<T>() as isize) };
    }
    let (mut found, mut i) = (None::<(i64, T)>, 0);
    each_index(from.shape, [from.strides], |[o]| {
        // SAFETY: the offset lies within the array.
        let x = unsafe { from.data.offset(o).cast::<T>().read_unaligned() };
        if !(what.skip_nan && x.is_nan()) && found.is_none_or(|(_, best)| better(what, x, best)) {
            found = Some((i, x));
        }
        i += 1;
    });
    found.map(|(i, best)| first_of_all(what, best, i))
}

simd! {
    /// Which of some elements are true.
    unsafe fn are_true<T: Item>(p: *const u8, n: isize, stride: isize, flags: *mut u8) {
        if stride == size_of::<T>() as isize {
            let p = p.cast::<T>();
            for i in 0..n { *flags.offset(i) = p.offset(i).read_unaligned().truth() as u8; }
        } else {
            for i in 0..n { *flags.offset(i) = p.offset(i * stride).cast::<T>().read_unaligned().truth() as u8; }
        }
    }
}

/// How many elements are looked at together.
const BLOCK: usize = 256;
/// Rows that are shorter are taken together where they lie one behind the other.
const SHORT: i64 = 64;

/// Indices of the true elements, in C order; those along the first axis count from `base`.
///
/// # Safety
/// The array is as described and `out` has room for an index of each axis of `count` elements. (There may be
/// more by now: another thread may have changed the array since they were counted.)
pub(crate) unsafe fn nonzero(
    elem: Elem,
    from: View<'_>,
    base: i64,
    out: *mut i64,
    (count, (item_step, axis_step)): (i64, (i64, i64)),
    poll: &mut Poll,
) {
    // SAFETY: as required of the caller.
    with_item!(elem, T => unsafe { true_in_rows::<T>(from, base, out, count, item_step as isize, axis_step as isize, poll) }, else ());
}

/// [`nonzero`] of rows that lie one behind the other.
///
/// # Safety
/// As for [`nonzero`].
unsafe fn true_in_short_rows<T: Item>(
    from: View<'_>,
    base: i64,
    out: *mut i64,
    count: i64,
    item_step: isize,
    axis_step: isize,
    poll: &mut Poll,
) {
    let (n, size) = (from.size() as usize, size_of::<T>() as isize);
    let (mut to, mut left) = (out, count as usize);
    let (mut flags, mut found) = ([0u8; BLOCK], [0i64; BLOCK]);
    for first in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - first);
        // SAFETY: as required of the caller: there are places for as many indices as are left.
        unsafe {
            are_true::<T>(from.data.offset(first as isize * size), len as isize, size, flags.as_mut_ptr());
            let some =
                chosen::positions(flags.as_ptr(), len, first as i64, found.as_mut_ptr(), left.min(BLOCK));
            left -= some;
            for place in &found[..some] {
                let mut rest = *place as u64;
                for (k, n) in from.shape.iter().enumerate().rev() {
                    *to.offset(k as isize * axis_step) =
                        (rest % *n as u64) as i64 + if k == 0 { base } else { 0 };
                    rest /= *n as u64;
                }
                to = to.offset(item_step);
            }
        }
        if poll.worked(len) {
            return;
        }
    }
}

/// [`nonzero`] row by row: which elements are true, a block at a time, and their positions.
///
/// # Safety
/// As for [`nonzero`].
unsafe fn true_in_rows<T: Item>(
    from: View<'_>,
    base: i64,
    out: *mut i64,
    count: i64,
    item_step: isize,
    axis_step: isize,
    poll: &mut Poll,
) {
    let Some((n, outer)) = from.shape.split_last() else { return };
    if !outer.is_empty() && *n < SHORT && *from.strides == *from.c_strides(size_of::<T>()) {
        // SAFETY: as required of the caller; the rows lie one behind the other.
        return unsafe { true_in_short_rows::<T>(from, base, out, count, item_step, axis_step, poll) };
    }
    let (n, stride) = (*n as usize, from.strides[outer.len()] as isize);
    let (mut to, mut left) = (out, count as usize);
    let (mut flags, mut found) = ([0u8; BLOCK], [0i64; BLOCK]);
    let mut index: super::small_vec::SmallVec<i64> = super::small_vec::SmallVec::of(0, outer.len());
    each_index(outer, [&from.strides[..outer.len()]], |[row]| {
        for first in (0..n).step_by(BLOCK) {
            if poll.stopped() {
                return;
            }
            let len = BLOCK.min(n - first);
            // SAFETY: the elements lie in the array, and places for as many indices as are left in the
            // results.
            unsafe {
                are_true::<T>(
                    from.data.offset(row + first as isize * stride),
                    len as isize,
                    stride,
                    flags.as_mut_ptr(),
                );
                let some = chosen::positions(
                    flags.as_ptr(),
                    len,
                    first as i64 + if outer.is_empty() { base } else { 0 },
                    found.as_mut_ptr(),
                    left.min(BLOCK),
                );
                left -= some;
                for (k, i) in index.iter().enumerate() {
                    for j in 0..some {
                        *to.offset(j as isize * item_step + k as isize * axis_step) =
                            *i + if k == 0 { base } else { 0 };
                    }
                }
                let last = to.offset(outer.len() as isize * axis_step);
                if item_step == 1 {
                    std::ptr::copy_nonoverlapping(found.as_ptr(), last, some)
                } else {
                    for (j, i) in found[..some].iter().enumerate() {
                        *last.offset(j as isize * item_step) = *i;
                    }
                }
                to = to.offset(some as isize * item_step);
            }
            poll.worked(len);
        }
        // The next row, in C order.
        for (i, n) in index.iter_mut().zip(outer).rev() {
            *i += 1;
            if *i < *n {
                break;
            }
            *i = 0;
        }
    });
}
