//! The array family as compiled code calls it.

use super::linalg;
use super::scan::{self, Extreme};
use super::sort::{self, Lane};
use super::sums::{self, Sums};
use super::{View, chosen, copy, in_order, lanes, map, reduce};
use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::parallel::native::{self, MANY, Shared};
use crate::poll::Poll;
use tierup_core::elem::Elem;
use tierup_core::exc::Class;
use tierup_core::ops::kernel::{Helpers, IN_PIECES, Map, Reduce};
use tierup_core::rt::{Ctx, P};

/// The element type of a code. Compiled code passes codes of arrays only; anything else does nothing below,
/// as strings do.
fn elem(code: i64) -> Elem {
    Elem::from_number(code).unwrap_or(Elem::Str)
}
fn axis(axis: i64, ndim: i64) -> Option<usize> {
    usize::try_from(axis).ok().filter(|a| (*a as i64) < ndim)
}
fn no_axis(axis: i64) -> Error {
    Error::new(Class::SystemError, format!("a kernel was given axis {axis}"))
}

/// A number without the flag [`IN_PIECES`], and whether it had it.
fn team(n: i64) -> (i64, bool) {
    (n & !IN_PIECES, n & IN_PIECES != 0)
}

/// Runs a kernel over arrays of one shape, in pieces of their longest axis where a team may and there is much
/// to do.
///
/// # Safety
/// `ctx` is the live context of this thread; the arrays are as the kernel wants them, and so are parts of
/// them.
unsafe fn parts<const K: usize>(
    ctx: Ctx,
    team: bool,
    arrays: [View<'_>; K],
    run: impl Fn([View<'_>; K], &mut Poll) + Sync,
) {
    let shape = arrays[0].shape;
    let total = arrays[0].size();
    let longest = (0..shape.len()).rev().max_by_key(|k| shape[*k]);
    // SAFETY: as required of the caller.
    let Some(axis) = longest.filter(|_| team && total >= MANY) else {
        // SAFETY: as required of the caller, the context is this thread's.
        return run(arrays, &mut unsafe { Poll::new(ctx) });
    };
    let (n, strides) = (shape[axis], arrays.map(|a| a.strides));
    let data = arrays.map(|a| Shared(a.data));
    let body = |first: i64, end: i64| {
        let mut shape: super::small_vec::SmallVec<i64> = shape.iter().copied().collect();
        shape[axis] = end - first;
        let part = std::array::from_fn(|k| View {
            shape: &shape,
            strides: strides[k],
            data: data[k].get().wrapping_offset((first * strides[k][axis]) as isize),
        });
        run(part, &mut Poll::never());
    };
    // SAFETY: as required of the caller.
    unsafe { or_raise(ctx, native::in_pieces(ctx, n, total / n.max(1), &body)) }
}

// SAFETY of all: shapes and strides have `ndim` members, and arrays are as described.
impl Helpers for Native {
    unsafe fn array_copy(
        ctx: Ctx,
        itemsize: i64,
        ndim: i64,
        shape: *const i64,
        to: P,
        to_strides: *const i64,
        from: P,
        from_strides: *const i64,
    ) {
        // SAFETY: as described.
        unsafe {
            let (to, from, (size, team)) = (
                View::new(ndim, shape, to, to_strides),
                View::new(ndim, shape, from, from_strides),
                team(itemsize),
            );
            parts(ctx, team, [to, from], |[to, from], poll| copy::copy(size as usize, to, from, poll))
        }
    }
    unsafe fn array_fill(
        ctx: Ctx,
        itemsize: i64,
        value: P,
        ndim: i64,
        shape: *const i64,
        to: P,
        to_strides: *const i64,
    ) {
        let (value, (size, team)) = (Shared(value), team(itemsize));
        // SAFETY: as described.
        unsafe {
            parts(ctx, team, [View::new(ndim, shape, to, to_strides)], move |[to], poll| {
                copy::fill(size as usize, value.get(), to, poll)
            })
        }
    }
    unsafe fn array_cast(
        ctx: Ctx,
        to_elem: i64,
        from_elem: i64,
        ndim: i64,
        shape: *const i64,
        to: P,
        to_strides: *const i64,
        from: P,
        from_strides: *const i64,
    ) {
        // SAFETY: as described.
        unsafe {
            let (to, from, (code, team)) = (
                View::new(ndim, shape, to, to_strides),
                View::new(ndim, shape, from, from_strides),
                team(to_elem),
            );
            parts(ctx, team, [to, from], |[to, from], poll| {
                copy::cast(elem(code), to, elem(from_elem), from, poll)
            })
        }
    }
    unsafe fn array_map(
        ctx: Ctx,
        op: i64,
        elem_code: i64,
        n: i64,
        out: P,
        a: P,
        a_step: i64,
        b: P,
        b_step: i64,
    ) {
        let Some(op) = Map::from_number(op) else { return };
        let elem = elem(elem_code);
        let from = |p: P, step: i64, at: usize| p.wrapping_add(at * step as usize * elem.bytes());
        let out_bytes = if op.gives_bools() { 1 } else { elem.bytes() };
        // SAFETY: as described; pieces lie within what is described.
        unsafe {
            Poll::new(ctx).in_pieces(n as usize, |at, piece| {
                map::map(
                    op,
                    elem,
                    piece as i64,
                    out.add(at * out_bytes),
                    (from(a, a_step, at), a_step),
                    (from(b, b_step, at), b_step),
                )
            })
        }
    }
    unsafe fn array_in_blocks() -> i8 {
        1
    }
    unsafe fn array_reduce(
        ctx: Ctx,
        op: i64,
        elem_code: i64,
        acc: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        axes: i64,
        out: P,
        out_strides: *const i64,
    ) {
        let run = || -> Res<()> {
            let (op, team) = team(op);
            let op = Reduce::from_number(op)
                .ok_or_else(|| Error::new(Class::SystemError, format!("no reduction has number {op}")))?;
            let job =
                reduce::Job { op, elem: elem(elem_code), acc: elem(acc), team: team.then_some(Shared(ctx)) };
            // SAFETY: shape and strides have `ndim` members, and the result has an element for each that is
            // left.
            unsafe {
                reduce::reduce(
                    job,
                    View::new(ndim, shape, data, strides),
                    axes as u64,
                    out,
                    crate::raw_slice(out_strides, ndim),
                )
            }
        };
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, run()) }
    }
    unsafe fn array_reduce_several(
        ctx: Ctx,
        ops: i64,
        elem_code: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        out: P,
    ) {
        let run = || -> Res<()> {
            let (ops, team) = team(ops);
            let all: Vec<Reduce> =
                Reduce::ALL.iter().copied().filter(|op| ops >> *op as i64 & 1 != 0).collect();
            // SAFETY: shape and strides have `ndim` members, and `out` has a place for each reduction.
            unsafe {
                reduce::several(
                    &all,
                    elem(elem_code),
                    team.then_some(Shared(ctx)),
                    View::new(ndim, shape, data, strides),
                    out.cast(),
                )
            }
        };
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, run()) }
    }
    unsafe fn array_fold(op: i64, elem_code: i64, data: P, n: i64, done: i64, out: P) {
        if let Some(op) = Reduce::from_number(op) {
            // SAFETY: compiled code passes `n` elements that lie side by side, and an accumulator of their
            // type.
            unsafe { reduce::fold(op, elem(elem_code), data, n, done, out) }
        }
    }
    unsafe fn array_sums_begin(state: P, n: i64, most: i64) -> i64 {
        // SAFETY: the state is memory of compiled code's frame, as large and aligned as [`Sums`].
        unsafe { Sums::begin(state.cast(), n, most) }
    }
    unsafe fn array_sums_next(state: P) -> i64 {
        // SAFETY: the state is compiled code's own, and was begun.
        unsafe { (*state.cast::<Sums>()).next_block() }
    }
    unsafe fn array_sums_push(state: P, sum: f64, single: i8) {
        // SAFETY: the state is compiled code's own, and was begun.
        unsafe { (*state.cast::<Sums>()).push(sum, single != 0) }
    }
    unsafe fn array_sums_leaves(state: P, leaves: P) -> i64 {
        // SAFETY: state and leaves are compiled code's own and do not overlap; any bits are leaves.
        unsafe { (*state.cast::<Sums>()).next_leaves(&mut *leaves.cast()) }
    }
    unsafe fn array_sums_join_leaves(state: P, leaves: P, single: i8) {
        // SAFETY: as for `array_sums_leaves`, which filled in what leaves there are.
        unsafe { (*state.cast::<Sums>()).push_leaves(&*leaves.cast(), single != 0) }
    }
    unsafe fn array_sums_leaf(leaves: P, n: i64, single: i8) -> f64 {
        // SAFETY: the leaves are compiled code's own, and filled.
        unsafe { (*leaves.cast::<sums::Leaves>()).sum(0, n, single != 0) }
    }
    unsafe fn array_lanes_extreme(table: P, max: i8, single: i8) -> f64 {
        // SAFETY: the table is compiled code's own, and filled.
        unsafe { (*table.cast::<sums::Leaves>()).extreme(max != 0, single != 0) }
    }
    unsafe fn array_sums_end(state: P) -> f64 {
        // SAFETY: the state is compiled code's own, and was begun.
        unsafe { (*state.cast::<Sums>()).total }
    }
    unsafe fn array_sums_parts(n: i64) -> i64 {
        1 << sums::depth(n)
    }
    unsafe fn array_sums_part(n: i64, k: i64) -> i64 {
        sums::part(n, k)
    }
    unsafe fn array_sums_join(parts: P, count: i64, single: i8) -> f64 {
        // SAFETY: `count` sums of parts lie there, and nobody else uses them.
        sums::join(unsafe { std::slice::from_raw_parts_mut(parts.cast(), count as usize) }, single != 0)
    }
    unsafe fn array_sum_f64(data: P, n: i64, stride: i64) -> f64 {
        // SAFETY: compiled code passes `n` numbers at that distance.
        unsafe { 0.0 + lanes::pairwise::<f64, false>(data, n as isize, stride as isize) }
    }
    unsafe fn array_sum_f32(data: P, n: i64, stride: i64) -> f32 {
        // SAFETY: compiled code passes `n` numbers at that distance.
        unsafe { 0.0 + lanes::pairwise::<f32, false>(data, n as isize, stride as isize) }
    }
    unsafe fn array_arg(
        ctx: Ctx,
        max: i8,
        nan: i8,
        elem_code: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        axis: i64,
        out: *mut i64,
    ) {
        let what = Extreme { max: max != 0, skip_nan: nan != 0 };
        let (code, team) = team(elem_code);
        // SAFETY: as described.
        unsafe {
            let from = View::new(ndim, shape, data, strides);
            let run = || {
                if axis >= ndim {
                    return Err(no_axis(axis));
                }
                if team
                    && from.size() >= MANY
                    && let Some(done) = scan::arg_in_pieces(ctx, what, elem(code), from, axis, out)
                {
                    return done;
                }
                scan::arg(what, elem(code), from, axis, out, &mut Poll::new(ctx))
            };
            or_raise(ctx, run())
        }
    }
    unsafe fn array_accumulate(
        ctx: Ctx,
        op: i64,
        elem_code: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        along: i64,
        out: P,
        out_strides: *const i64,
    ) {
        let Some(axis) = axis(along, ndim) else { return };
        // SAFETY: both arrays have the shape, and are the same or do not overlap; the context is live.
        unsafe {
            scan::accumulate(
                op,
                elem(elem_code),
                View::new(ndim, shape, data, strides),
                axis,
                out,
                crate::raw_slice(out_strides, ndim),
                &mut Poll::new(ctx),
            )
        }
    }
    unsafe fn array_count_nonzero(
        ctx: Ctx,
        elem_code: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
    ) -> i64 {
        let (code, team) = team(elem_code);
        // SAFETY: shape and strides have `ndim` members; the context is this thread's.
        unsafe {
            or_raise(
                ctx,
                reduce::count_nonzero(
                    elem(code),
                    View::new(ndim, shape, data, strides),
                    team.then_some(Shared(ctx)),
                ),
            )
        }
    }
    unsafe fn array_nonzero(
        ctx: Ctx,
        elem_code: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        out: *mut i64,
        count: i64,
        item_step: i64,
        axis_step: i64,
    ) {
        let ((code, team), steps) = (team(elem_code), (item_step, axis_step));
        // SAFETY: `out` has room for `count` positions, which is how many true elements compiled code has
        // counted.
        unsafe {
            let from = View::new(ndim, shape, data, strides);
            if team && from.size() >= MANY && from.shape[0] > 1 {
                return or_raise(ctx, in_order::nonzero(ctx, elem(code), from, out, count, steps));
            }
            scan::nonzero(elem(code), from, 0, out, (count, steps), &mut Poll::new(ctx))
        }
    }
    unsafe fn array_mask_count(mask: P, n: i64) -> i64 {
        // SAFETY: compiled code passes `n` flags.
        unsafe { chosen::count(mask, n.max(0) as usize) as i64 }
    }
    unsafe fn array_mask_take(ctx: Ctx, itemsize: i64, mask: P, from: P, n: i64, out: P, most: i64) {
        let ((itemsize, team), n, most) = (team(itemsize), n.max(0) as usize, most.max(0) as usize);
        // SAFETY: compiled code passes `n` flags and elements that lie side by side, and room for `most`.
        unsafe {
            if team && n as i64 >= MANY {
                return or_raise(ctx, in_order::take(ctx, itemsize as usize, mask, from, n, out, most));
            }
            chosen::take(itemsize as usize, mask, from, n, out, most, &mut Poll::new(ctx));
        }
    }
    unsafe fn array_sort(
        ctx: Ctx,
        elem_code: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        along: i64,
        stable: i8,
    ) {
        let Some(axis) = axis(along, ndim) else { return };
        // SAFETY: the array is the caller's to change, and the axis one of its own; the context is live.
        unsafe {
            sort::sort(
                elem(elem_code),
                View::new(ndim, shape, data, strides),
                axis,
                stable != 0,
                &mut Poll::new(ctx),
            )
        }
    }
    unsafe fn array_argsort(
        ctx: Ctx,
        elem_code: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        along: i64,
        out: *mut i64,
    ) {
        let Some(axis) = axis(along, ndim) else { return };
        // SAFETY: the axis is one of the array's, and `out` has room for as many positions as elements.
        unsafe {
            sort::argsort(
                elem(elem_code),
                View::new(ndim, shape, data, strides),
                axis,
                out,
                &mut Poll::new(ctx),
            )
        }
    }
    unsafe fn array_partition(
        ctx: Ctx,
        elem_code: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        along: i64,
        kth: i64,
    ) {
        // SAFETY: shape and strides have `ndim` members.
        let view = unsafe { View::new(ndim, shape, data, strides) };
        // SAFETY: the array is the caller's to change, and the context is live.
        unsafe {
            or_raise(
                ctx,
                axis(along, ndim)
                    .ok_or_else(|| no_axis(along))
                    .and_then(|a| sort::partition(elem(elem_code), view, a, kth, &mut Poll::new(ctx))),
            )
        }
    }
    unsafe fn array_argpartition(
        ctx: Ctx,
        elem_code: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        along: i64,
        kth: i64,
        out: *mut i64,
    ) {
        // SAFETY: shape and strides have `ndim` members.
        let view = unsafe { View::new(ndim, shape, data, strides) };
        // SAFETY: `out` has room for as many positions as elements, and the context is live.
        unsafe {
            or_raise(
                ctx,
                axis(along, ndim).ok_or_else(|| no_axis(along)).and_then(|a| {
                    sort::argpartition(elem(elem_code), view, a, kth, out, &mut Poll::new(ctx))
                }),
            )
        }
    }
    unsafe fn array_searchsorted(
        ctx: Ctx,
        elem_code: i64,
        data: P,
        len: i64,
        stride: i64,
        keys: P,
        n: i64,
        key_stride: i64,
        right: i8,
        out: *mut i64,
    ) {
        // A key costs up to a microsecond where the array is large: Ctrl-C is looked for now and then.
        const CHUNK: i64 = 1 << 16;
        let sorted = Lane { data, n: len, stride };
        let mut from = 0;
        while from < n {
            let chunk = Lane {
                data: keys.wrapping_offset((from * key_stride) as isize),
                n: CHUNK.min(n - from),
                stride: key_stride,
            };
            // SAFETY: as described; `from` is less than `n`.
            if unsafe {
                sort::search(elem(elem_code), sorted, chunk, right != 0, out.add(from as usize));
                crate::object::wants_to_stop(ctx)
            } {
                return;
            }
            from += CHUNK;
        }
    }
    unsafe fn array_reverse(itemsize: i64, data: P, n: i64, stride: i64) {
        // SAFETY: compiled code passes the `n` elements of an array that it may change.
        unsafe { copy::reverse(itemsize as usize, data, n, stride) }
    }
    unsafe fn array_dot(elem_code: i64, n: i64, a: P, a_stride: i64, b: P, b_stride: i64, conj: i8, out: P) {
        // SAFETY: both operands have `n` elements, and `out` room for one.
        unsafe {
            linalg::dot(
                elem(elem_code),
                n,
                (a.cast_const(), a_stride),
                (b.cast_const(), b_stride),
                conj != 0,
                out,
            )
        }
    }
    unsafe fn array_overlap(
        itemsize: i64,
        ndim: i64,
        shape: *const i64,
        data: P,
        strides: *const i64,
        itemsize2: i64,
        ndim2: i64,
        shape2: *const i64,
        data2: P,
        strides2: *const i64,
    ) -> i8 {
        let (a, b) =
            // SAFETY: shapes and strides have as many members as is said; data is not read.
            unsafe { (View::new(ndim, shape, data, strides), View::new(ndim2, shape2, data2, strides2)) };
        copy::overlap(itemsize as usize, a, itemsize2 as usize, b) as i8
    }
}
