//! Arrays in LIR: loops over all elements, copies, fills. What an array is in LIR is in [`super::view`].
//!
//! Loops come in two shapes: [`elementwise`] where the order does not matter, which runs arrays that lie
//! alike as one flat loop with constant strides, and [`walk`], nested loops in C order that advance one
//! address for each array and level.

use super::cast;
use super::chunked_loops::in_chunks;
use super::cx::LowerCx;
pub(crate) use super::view::{ArrayVal, Stream, contiguous_strides, load_element, product, store_element};
use crate::diag::{Diagnostic, Result};
use crate::lir::{Op, Value};
use crate::ops::{kernel, object};
use crate::types::{Layout, Type};

impl ArrayVal {
    /// Runs `body` for the index of every element, in C order.
    pub(crate) fn for_each(
        &self,
        cx: &mut LowerCx<'_>,
        body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>,
    ) -> Result<()> {
        for_each_index(cx, &self.shape.clone(), body)
    }

    /// A new array with the elements of this one, converted to `dtype`.
    pub(crate) fn copied(&self, cx: &mut LowerCx<'_>, dtype: Type, layout: Layout) -> Result<ArrayVal> {
        let out = ArrayVal::alloc(cx, dtype, &self.shape, layout, false)?;
        cx.guarded(&[out.owner], |cx| copy_elements(cx, &out, self))?;
        Ok(out)
    }
}

/// Nested loops over a shape in C order; the body gets the address of the current element of each stream.
pub(crate) fn walk(
    cx: &mut LowerCx<'_>,
    shape: &[Value],
    streams: &[Stream],
    body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>,
) -> Result<()> {
    fold(cx, shape, streams, &[], &mut |cx, at, _| body(cx, at).map(|()| vec![]))?;
    Ok(())
}

/// [`walk`] that polls after each run of the innermost loop, or in the middle of the only one.
pub(crate) fn walk_polling(
    cx: &mut LowerCx<'_>,
    shape: &[Value],
    streams: &[Stream],
    body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>,
) -> Result<()> {
    let at: Vec<Value> = streams.iter().map(|s| s.data).collect();
    let advance = |cx: &mut LowerCx<'_>, here: &[Value], d: usize| -> Vec<Value> {
        here.iter().zip(streams).map(|(p, s)| cx.b.ptr_add(*p, s.strides[d])).collect()
    };
    let Some(innermost) = shape.len().checked_sub(1) else { return body(cx, &at) };
    if innermost == 0 {
        cx.for_range_polling(shape[0], &at, |cx, _, here| {
            body(cx, here)?;
            Ok(advance(cx, here, 0))
        })?;
        return Ok(());
    }
    let outer: Vec<Stream> =
        streams.iter().map(|s| Stream { data: s.data, strides: s.strides[..innermost].to_vec() }).collect();
    walk(cx, &shape[..innermost], &outer, &mut |cx, at| {
        cx.for_range(shape[innermost], at, |cx, _, here| {
            body(cx, here)?;
            Ok(advance(cx, here, innermost))
        })?;
        cx.poll();
        Ok(())
    })
}

/// [`walk_polling`] in pieces of the outermost level; elements must not depend on each other.
pub(crate) fn walk_in_chunks(
    cx: &mut LowerCx<'_>,
    shape: &[Value],
    streams: &[Stream],
    cost: i64,
    body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>,
) -> Result<()> {
    if shape.is_empty() || !cx.chunks.wanted() {
        return walk_polling(cx, shape, streams, body);
    }
    let total = product(cx, shape);
    let work = cx.b.bin_imm(Op::Imul, total, cost);
    in_chunks(cx, shape[0], work, |cx, first, end| nest(cx, shape, streams, (first, end), body))
}

/// [`walk`] with values that are carried from element to element; gives their last state.
pub(crate) fn fold(
    cx: &mut LowerCx<'_>,
    shape: &[Value],
    streams: &[Stream],
    start: &[Value],
    body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value], &[Value]) -> Result<Vec<Value>>,
) -> Result<Vec<Value>> {
    let at: Vec<Value> = streams.iter().map(|s| s.data).collect();
    fold_level(cx, shape, streams, 0, &at, start, body)
}

fn fold_level(
    cx: &mut LowerCx<'_>,
    shape: &[Value],
    streams: &[Stream],
    d: usize,
    at: &[Value],
    state: &[Value],
    body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value], &[Value]) -> Result<Vec<Value>>,
) -> Result<Vec<Value>> {
    let Some(n) = shape.get(d) else { return body(cx, at, state) };
    // Addresses are carried and advanced: one addition for each array and round.
    let start = [at, state].concat();
    let last = cx.for_range(*n, &start, |cx, _, carried| {
        let (here, state) = carried.split_at(at.len());
        let state = fold_level(cx, shape, streams, d + 1, here, state, body)?;
        let mut next: Vec<Value> =
            here.iter().zip(streams).map(|(p, s)| cx.b.ptr_add(*p, s.strides[d])).collect();
        next.extend(state);
        Ok(next)
    })?;
    Ok(last[at.len()..].to_vec())
}

/// Runs `body` with the address of each element of `to` and of what each of `from`, broadcast to its shape,
/// has there; in any order.
pub(crate) fn elementwise(
    cx: &mut LowerCx<'_>,
    to: &ArrayVal,
    from: &[ArrayVal],
    cost: i64,
    body: &mut dyn FnMut(&mut LowerCx<'_>, Value, &[Value]) -> Result<()>,
) -> Result<()> {
    elementwise_or(cx, to, from, cost, body, None)
}

/// What does elements of contiguous arrays: the first, and how many.
pub(crate) type Kernel<'a> = dyn Fn(&mut LowerCx<'_>, Value, Value) -> Result<()> + 'a;

/// How contiguous arrays are done other than by a loop over elements: always, or where a tier asks for it.
pub(crate) enum Whole<'a> {
    Kernel(Box<Kernel<'a>>),
    InBlocks(Box<Kernel<'a>>),
}

/// [`elementwise`] where contiguous arrays of one shape are left to a kernel. An element is about so many
/// simple operations.
pub(crate) fn elementwise_or(
    cx: &mut LowerCx<'_>,
    to: &ArrayVal,
    from: &[ArrayVal],
    cost: i64,
    body: &mut dyn FnMut(&mut LowerCx<'_>, Value, &[Value]) -> Result<()>,
    whole: Option<&Whole<'_>>,
) -> Result<()> {
    let whole = whole.filter(|_| cx.options.platform.array_kernels());
    let n = to.shape.len();
    if n == 0 {
        return nested(cx, to, from, cost, body);
    }
    let alike =
        to.ty.layout != Layout::A && from.iter().all(|a| a.ty.layout == to.ty.layout && a.shape.len() == n);
    if !alike {
        return nested(cx, to, from, cost, body);
    }
    let total = to.size(cx);
    let flat =
        |cx: &mut LowerCx<'_>,
         first: Value,
         end: Value,
         body: &mut dyn FnMut(&mut LowerCx<'_>, Value, &[Value]) -> Result<()>| match whole {
            None => flat(cx, to, from, (first, end), body),
            // A cheap operation is a loop where a tier's loops are as fast as kernels: that one knows the
            // processor, and is at hand.
            Some(Whole::Kernel(run)) if cost > 1 => {
                let count = cx.b.bin(Op::Isub, end, first);
                run(cx, first, count)
            }
            Some(Whole::Kernel(run) | Whole::InBlocks(run)) => {
                let (count, blocks) =
                    (cx.b.bin(Op::Isub, end, first), cx.helper_value(&kernel::array_in_blocks, &[]));
                cx.if_else(
                    blocks,
                    |cx| run(cx, first, count).map(|()| vec![]),
                    |cx| flat(cx, to, from, (first, end), body).map(|()| vec![]),
                )
                .map(|_| ())
            }
        };
    let same = same_shapes(cx, &to.shape, from);
    let Some(same) = same else {
        let work = cx.b.bin_imm(Op::Imul, total, cost);
        return in_chunks(cx, total, work, |cx, first, end| flat(cx, first, end, body));
    };
    let body = std::cell::RefCell::new(body);
    if !cx.chunks.wanted() {
        let zero = cx.b.i64(0);
        cx.if_else(
            same,
            |cx| flat(cx, zero, total, &mut **body.borrow_mut()).map(|()| vec![]),
            |cx| nested(cx, to, from, cost, &mut **body.borrow_mut()).map(|()| vec![]),
        )?;
        return Ok(());
    }
    // One region for both: over elements, or over the outermost axis.
    let Nest { shape, streams } = Nest::new(cx, to, from);
    let (count, work) = (cx.b.select(same, total, shape[0]), cx.b.bin_imm(Op::Imul, total, cost));
    in_chunks(cx, count, work, |cx, first, end| {
        cx.if_else(
            same,
            |cx| flat(cx, first, end, &mut **body.borrow_mut()).map(|()| vec![]),
            |cx| {
                nest(cx, &shape, &streams, (first, end), &mut |cx, at| body.borrow_mut()(cx, at[0], &at[1..]))
                    .map(|()| vec![])
            },
        )?;
        Ok(())
    })
}

/// Whether all shapes are `to`; none when that is known.
pub(crate) fn same_shapes(cx: &mut LowerCx<'_>, to: &[Value], from: &[ArrayVal]) -> Option<Value> {
    let mut same = None;
    for a in from {
        for (m, n) in a.shape.iter().zip(to) {
            if m == n {
                continue;
            }
            let eq = cx.b.bin(Op::IcmpEq, *m, *n);
            same = Some(match same {
                Some(s) => cx.and(s, eq),
                None => eq,
            });
        }
    }
    same
}

/// One loop over elements of contiguous arrays of one shape.
fn flat(
    cx: &mut LowerCx<'_>,
    to: &ArrayVal,
    from: &[ArrayVal],
    (first, end): (Value, Value),
    body: &mut dyn FnMut(&mut LowerCx<'_>, Value, &[Value]) -> Result<()>,
) -> Result<()> {
    cx.for_range_polling_from(first, end, &[], |cx, i, _| {
        let mut at = vec![];
        for a in std::iter::once(to).chain(from) {
            let off = cx.b.bin_imm(Op::Imul, i, a.ty.itemsize());
            at.push(cx.b.ptr_add(a.data, off));
        }
        body(cx, at[0], &at[1..])?;
        Ok(vec![])
    })?;
    Ok(())
}

/// Nested loops over arrays that are read broadcast to the shape of the first: lengths and streams, outermost
/// level first.
struct Nest {
    shape: Vec<Value>,
    streams: Vec<Stream>,
}

impl Nest {
    fn new(cx: &mut LowerCx<'_>, to: &ArrayVal, from: &[ArrayVal]) -> Nest {
        let mut streams = vec![to.stream()];
        for a in from {
            streams.push(Stream { data: a.data, strides: broadcast_strides(cx, a, &to.shape) });
        }
        let mut shape = to.shape.clone();
        if to.ty.layout == Layout::F && shape.len() > 1 {
            // Innermost loop along the elements that lie together.
            shape.reverse();
            for s in &mut streams {
                s.strides.reverse();
            }
        }
        Nest { shape, streams }
    }
}

fn nested(
    cx: &mut LowerCx<'_>,
    to: &ArrayVal,
    from: &[ArrayVal],
    cost: i64,
    body: &mut dyn FnMut(&mut LowerCx<'_>, Value, &[Value]) -> Result<()>,
) -> Result<()> {
    let Nest { shape, streams } = Nest::new(cx, to, from);
    walk_in_chunks(cx, &shape, &streams, cost, &mut |cx, at| body(cx, at[0], &at[1..]))
}

/// The loops for a part of the outermost level.
pub(crate) fn nest(
    cx: &mut LowerCx<'_>,
    shape: &[Value],
    streams: &[Stream],
    (first, end): (Value, Value),
    body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>,
) -> Result<()> {
    let count = cx.b.bin(Op::Isub, end, first);
    let shape: Vec<Value> = std::iter::once(count).chain(shape[1..].iter().copied()).collect();
    let streams: Vec<Stream> = streams
        .iter()
        .map(|s| {
            let off = cx.b.bin(Op::Imul, first, s.strides[0]);
            Stream { data: cx.b.ptr_add(s.data, off), strides: s.strides.clone() }
        })
        .collect();
    walk_polling(cx, &shape, &streams, body)
}

/// Strides for reading `a` broadcast to a shape: 0 where it is stretched.
pub(crate) fn broadcast_strides(cx: &mut LowerCx<'_>, a: &ArrayVal, to: &[Value]) -> Vec<Value> {
    let lead = to.len() - a.shape.len();
    let zero = cx.b.i64(0);
    let mut out = vec![zero; lead];
    for ((n, s), m) in a.shape.iter().zip(&a.strides).zip(&to[lead..]) {
        out.push(if n == m {
            *s
        } else {
            let stretched = cx.b.bin_imm(Op::IcmpEq, *n, 1);
            cx.b.select(stretched, zero, *s)
        });
    }
    out
}

/// Writes the elements of `from`, broadcast and converted, into `to`. They must not overlap, or be the very
/// same.
pub(crate) fn copy_elements(cx: &mut LowerCx<'_>, to: &ArrayVal, from: &ArrayVal) -> Result<()> {
    let n = to.shape.len();
    let alike = from.ty.dtype == to.ty.dtype
        && n > 0
        && cx.options.platform.array_kernels()
        && to.ty.layout != Layout::A
        && to.ty.layout == from.ty.layout
        && n == from.shape.len();
    if !alike {
        return copy_strided(cx, to, from);
    }
    let straight = |cx: &mut LowerCx<'_>| {
        if cx.chunks.wanted() {
            return copy_flat(cx, to, from).map(|()| vec![]);
        }
        let bytes = to.size(cx);
        let bytes = cx.b.bin_imm(Op::Imul, bytes, to.ty.itemsize());
        cx.helper(&object::mem_copy, &[to.data, from.data, bytes]);
        Ok(vec![])
    };
    match same_shapes(cx, &to.shape, std::slice::from_ref(from)) {
        None => straight(cx)?,
        Some(same) => cx.if_else(same, straight, |cx| copy_strided(cx, to, from).map(|()| vec![]))?,
    };
    Ok(())
}

/// Copies contiguous elements by the kernel, which may do it in pieces.
fn copy_flat(cx: &mut LowerCx<'_>, to: &ArrayVal, from: &ArrayVal) -> Result<()> {
    let (total, item) = (to.size(cx), cx.b.i64(to.ty.itemsize()));
    let [shape, strides] = spill_parts(cx, [&[total], &[item]]);
    let (size, dims) = (cx.b.i64(to.ty.itemsize() | cx.chunks.flag()), cx.b.i64(1));
    cx.helper(&kernel::array_copy, &[size, dims, shape, to.data, strides, from.data, strides]);
    Ok(())
}

fn copy_strided(cx: &mut LowerCx<'_>, to: &ArrayVal, from: &ArrayVal) -> Result<()> {
    let (source, target) = (from.ty.dtype, to.ty.dtype);
    let n = to.shape.len();
    let of_times = source.time().is_some() || target.time().is_some();
    let by_element = source != target && of_times || !cx.options.platform.array_kernels();
    if n == 0 || n == 1 && source == target || by_element {
        return nested(cx, to, std::slice::from_ref(from), 1, &mut |cx, p, q| {
            let x = load_element(cx, q[0], source);
            let x = cast::cast(cx, &x, source, target)?;
            store_element(cx, p, target, &x);
            Ok(())
        });
    }
    let strides = broadcast_strides(cx, from, &to.shape);
    let [shape, to_strides, from_strides] = spill_parts(cx, [&to.shape, &to.strides, &strides]);
    let dims = cx.b.i64(n as i64);
    if source == target {
        let item = cx.b.i64(to.ty.itemsize() | cx.chunks.flag());
        cx.helper(&kernel::array_copy, &[item, dims, shape, to.data, to_strides, from.data, from_strides]);
    } else {
        let (t, f) = (element_code(cx, target)?, element_code(cx, source)?);
        let flag = cx.chunks.flag();
        let t = if flag == 0 { t } else { cx.b.bin_imm(Op::Bor, t, flag) };
        cx.helper(&kernel::array_cast, &[t, f, dims, shape, to.data, to_strides, from.data, from_strides]);
    }
    Ok(())
}

/// Writes one element, of the array's type, everywhere.
pub(crate) fn fill_elements(cx: &mut LowerCx<'_>, to: &ArrayVal, x: &[Value]) -> Result<()> {
    let n = to.shape.len();
    if n == 0 {
        store_element(cx, to.data, to.ty.dtype, x);
        return Ok(());
    }
    // Short runs are not worth a call.
    const SHORT: i64 = 16;
    let one_by_one = |cx: &mut LowerCx<'_>| {
        elementwise(cx, to, &[], 1, &mut |cx, p, _| {
            store_element(cx, p, to.ty.dtype, x);
            Ok(())
        })
    };
    if n > 1 && cx.options.platform.array_kernels() {
        return fill_by_kernel(cx, to, x);
    }
    if to.ty.layout == Layout::A || !cx.options.platform.array_kernels() {
        return one_by_one(cx);
    }
    let short = cx.b.bin_imm(Op::IcmpSle, to.shape[0], SHORT);
    cx.if_else(short, |cx| one_by_one(cx).map(|()| vec![]), |cx| fill_by_kernel(cx, to, x).map(|()| vec![]))?;
    Ok(())
}

fn fill_by_kernel(cx: &mut LowerCx<'_>, to: &ArrayVal, x: &[Value]) -> Result<()> {
    let n = to.shape.len();
    let value = cx.b.slot_addr(16);
    store_element(cx, value, to.ty.dtype, x);
    let item = cx.b.i64(to.ty.itemsize());
    let (dims, shape, strides) = if to.ty.layout == Layout::A {
        (n, to.shape.clone(), to.strides.clone())
    } else {
        (1, vec![to.size(cx)], vec![item])
    };
    let [shape, strides] = spill_parts(cx, [&shape, &strides]);
    let (dims, item) = (cx.b.i64(dims as i64), cx.b.i64(to.ty.itemsize() | cx.chunks.flag()));
    cx.helper(&kernel::array_fill, &[item, value, dims, shape, to.data, strides]);
    Ok(())
}

/// Lists of i64 in one stack slot, and where each starts.
pub(crate) fn spill_parts<const N: usize>(cx: &mut LowerCx<'_>, parts: [&[Value]; N]) -> [Value; N] {
    let slot = cx.spill(&parts.concat());
    let mut at = 0;
    parts.map(|p| {
        let off = cx.b.i64(8 * at);
        at += p.len() as i64;
        cx.b.ptr_add(slot, off)
    })
}

/// The number by which helpers know an element type.
pub(crate) fn element_code(cx: &mut LowerCx<'_>, dtype: Type) -> Result<Value> {
    let e = crate::elem::Elem::of(dtype)
        .ok_or_else(|| Diagnostic::internal(format!("{dtype} is no element type")))?;
    Ok(cx.b.i64(e as i64))
}

/// Text of a shape for [`LowerCx::check_format`].
pub(crate) fn shape_text(ndim: usize) -> String {
    if ndim == 1 { "({},)".into() } else { format!("({})", vec!["{}"; ndim].join(",")) }
}

/// Nested loops over all indices of a shape, in C order.
pub(crate) fn for_each_index(
    cx: &mut LowerCx<'_>,
    shape: &[Value],
    body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>,
) -> Result<()> {
    fn nest(
        cx: &mut LowerCx<'_>,
        shape: &[Value],
        index: &mut Vec<Value>,
        body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>,
    ) -> Result<()> {
        let Some(n) = shape.get(index.len()) else { return body(cx, index) };
        cx.for_range(*n, &[], |cx, i, _| {
            index.push(i);
            nest(cx, shape, index, body)?;
            index.pop();
            Ok(vec![])
        })?;
        Ok(())
    }
    nest(cx, shape, &mut vec![], body)
}

/// A 0-d array that holds a number.
pub(crate) fn zero_d(cx: &mut LowerCx<'_>, v: &[Value], t: Type, dtype: Type) -> Result<ArrayVal> {
    let x = cast::element(cx, v, t, dtype)?;
    let out = ArrayVal::alloc(cx, dtype, &[], Layout::C, false)?;
    store_element(cx, out.data, dtype, &x);
    Ok(out)
}
