//! What puts elements one behind the other that are chosen in order, in pieces at the same time: each piece
//! counts what it has, and what all before it have says where it begins.

use super::{View, chosen, reduce, scan};
use crate::exc::Res;
use crate::parallel::native::{Shared, in_pieces};
use crate::poll::Poll;
use tierup_core::elem::Elem;
use tierup_core::rt::Ctx;

/// The most pieces, and the fewest elements that one has.
const PIECES: i64 = 128;
const FEW: i64 = 1 << 12;

/// Calls `count` for the pieces of `0..n`, then `put` with each piece's bounds, where it begins in the result
/// and how much room it has there; no more than `most` in all. (Somebody else may change what is counted
/// meanwhile.)
///
/// # Safety
/// `ctx` is the live context of this thread.
unsafe fn run(
    ctx: Ctx,
    n: i64,
    elements: i64,
    most: i64,
    count: &(dyn Fn(i64, i64) -> i64 + Sync),
    put: &(dyn Fn(i64, i64, i64, i64) + Sync),
) -> Res<()> {
    let pieces = (elements / FEW).clamp(1, PIECES).min(n);
    let bound = |k: i64| (k as i128 * n as i128 / pieces as i128) as i64;
    let mut found = vec![0i64; pieces as usize];
    let table = Shared(found.as_mut_ptr());
    let each = elements / pieces;
    // SAFETY: as required of the caller; each piece has a place of its own.
    unsafe {
        in_pieces(ctx, pieces, each, &|first, end| {
            for k in first..end {
                *table.get().add(k as usize) = count(bound(k), bound(k + 1));
            }
        })?
    };
    let mut begin = 0;
    let places: Vec<[i64; 2]> = found
        .iter()
        .map(|c| {
            let place = [begin, (*c).min(most - begin)];
            begin += place[1];
            place
        })
        .collect();
    // SAFETY: as required of the caller.
    unsafe {
        in_pieces(ctx, pieces, each, &|first, end| {
            for k in first..end {
                let [begin, room] = places[k as usize];
                put(bound(k), bound(k + 1), begin, room);
            }
        })
    }
}

/// [`chosen::take`] in pieces.
///
/// # Safety
/// As there, and `ctx` is the live context of this thread.
pub(crate) unsafe fn take(
    ctx: Ctx,
    itemsize: usize,
    mask: *const u8,
    from: *const u8,
    n: usize,
    out: *mut u8,
    most: usize,
) -> Res<()> {
    let (mask, from, out) = (Shared(mask.cast_mut()), Shared(from.cast_mut()), Shared(out));
    // SAFETY: as required of the caller; pieces have parts of the mask, of the elements and of the result.
    let count =
        |lo: i64, hi: i64| unsafe { chosen::count(mask.get().add(lo as usize), (hi - lo) as usize) as i64 };
    // SAFETY: as above.
    let put = |lo: i64, hi: i64, begin: i64, room: i64| unsafe {
        let (lo, n) = (lo as usize, (hi - lo) as usize);
        chosen::take_within(
            itemsize,
            mask.get().add(lo),
            from.get().add(lo * itemsize),
            n,
            out.get().add(begin as usize * itemsize),
            room as usize,
        );
    };
    // SAFETY: as required of the caller.
    unsafe { run(ctx, n as i64, n as i64, most as i64, &count, &put) }
}

/// [`scan::nonzero`] in pieces along the first axis.
///
/// # Safety
/// As there, and `ctx` is the live context of this thread.
pub(crate) unsafe fn nonzero(
    ctx: Ctx,
    elem: Elem,
    from: View<'_>,
    out: *mut i64,
    count: i64,
    steps: (i64, i64),
) -> Res<()> {
    let (data, to, shape, strides) = (Shared(from.data), Shared(out), from.shape, from.strides);
    let part = |lo: i64, hi: i64, then: &dyn Fn(View<'_>)| {
        let mut shape: super::small_vec::SmallVec<i64> = shape.iter().copied().collect();
        shape[0] = hi - lo;
        then(View { shape: &shape, strides, data: data.get().wrapping_offset((lo * strides[0]) as isize) });
    };
    let tally = |lo: i64, hi: i64| {
        let n = std::cell::Cell::new(0);
        part(lo, hi, &|v| {
            // SAFETY: the part lies within the array.
            let counted = unsafe { reduce::count_nonzero(elem, v, None) };
            // Without a context it cannot fail.
            n.set(counted.unwrap_or(0));
        });
        n.get()
    };
    let put = |lo: i64, hi: i64, begin: i64, room: i64| {
        part(lo, hi, &|v| {
            // SAFETY: as above; the results of a piece have places of their own.
            unsafe {
                scan::nonzero(
                    elem,
                    v,
                    lo,
                    to.get().offset((begin * steps.0) as isize),
                    (room, steps),
                    &mut Poll::never(),
                )
            }
        })
    };
    // SAFETY: as required of the caller.
    unsafe { run(ctx, from.shape[0], from.size(), count, &tally, &put) }
}
