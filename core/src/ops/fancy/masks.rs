//! Boolean masks as indices.

use super::super::kernel;
use super::{Item, Plan, copy_rest};
use crate::diag::Result;
use crate::emit::arrays::{
    ArrayVal, Stream, fold, load_element, product, store_element, walk, walk_in_chunks,
};
use crate::emit::cx::{LowerCx, Val};
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty, Value};
use crate::types::{Layout, Type};

/// IndexError unless the mask has the lengths of the dimensions it stands for.
pub(super) fn check_mask(cx: &mut LowerCx<'_>, a: &ArrayVal, mask: &[Value], dim: usize) {
    for (k, n) in mask.iter().enumerate() {
        let size = a.shape[dim + k];
        if *n == size {
            continue;
        }
        let same = cx.b.bin(Op::IcmpEq, *n, size);
        // NumPy takes a mask without elements for any dimension.
        let empty = cx.b.bin_imm(Op::IcmpEq, *n, 0);
        let same = cx.or(same, empty);
        let axis = cx.b.i64((dim + k) as i64);
        let text = "boolean index did not match indexed array along axis {}; size of axis is {} but size of corresponding boolean axis is {}";
        cx.check_format(same, Class::IndexError, text, &[axis, size, *n]);
    }
}

/// Number of true elements.
pub(crate) fn count_true(cx: &mut LowerCx<'_>, mask: &ArrayVal) -> Result<Value> {
    if matches!(mask.ty.layout, Layout::C | Layout::F) {
        let all = product(cx, &mask.shape);
        return Ok(cx.helper_value(&kernel::array_mask_count, &[mask.data, all]));
    }
    let zero = cx.b.i64(0);
    let n = fold(cx, &mask.shape, &[mask.stream()], &[zero], &mut |cx, at, n| {
        let m = cx.b.load(Ty::I8, at[0], 0, Alias::Array);
        let one = cx.b.conv(Op::Zext, Ty::I64, m);
        Ok(vec![cx.b.bin(Op::Iadd, n[0], one)])
    })?;
    Ok(n[0])
}

/// The address behind the `n` rows of a result.
fn behind(cx: &mut LowerCx<'_>, out: &ArrayVal, n: Value) -> Value {
    let bytes = cx.b.bin(Op::Imul, n, out.strides[0]);
    cx.b.ptr_add(out.data, bytes)
}

/// Byte offsets, in the dimensions of `a` from `dim` on, of the places where the mask is true.
pub(super) fn mask_offsets(
    cx: &mut LowerCx<'_>,
    a: &ArrayVal,
    mask: &ArrayVal,
    dim: usize,
) -> Result<ArrayVal> {
    check_mask(cx, a, &mask.shape, dim);
    let n = count_true(cx, mask)?;
    // Zeroed and never overrun: should another thread change the mask between the passes, every offset still
    // is one into the array.
    let out = ArrayVal::alloc(cx, Type::i64(), &[n], Layout::C, true)?;
    let end = behind(cx, &out, n);
    // The second stream counts offsets: an address that starts at zero.
    let zero = cx.b.null();
    let offsets = Stream { data: zero, strides: a.strides[dim..dim + mask.shape.len()].to_vec() };
    fold(cx, &mask.shape, &[mask.stream(), offsets], &[out.data], &mut |cx, at, to| {
        let m = cx.b.load(Ty::I8, at[0], 0, Alias::Array);
        let (to, off) = (to[0], cx.b.conv(Op::Bitcast, Ty::I64, at[1]));
        let room = cx.b.bin(Op::IcmpNe, to, end);
        let m = cx.and(m, room);
        cx.if_else(
            m,
            |cx| {
                cx.b.store(off, to, 0, Alias::Array);
                let eight = cx.b.i64(8);
                Ok(vec![cx.b.ptr_add(to, eight)])
            },
            |_| Ok(vec![to]),
        )
    })?;
    Ok(out)
}

/// Whether the index is one mask and nothing else.
pub(super) fn only_mask(p: &Plan) -> bool {
    matches!(p.items.as_slice(), [(Item::Mask(_), _), (Item::Ellipsis, _)])
}

/// Whether an array's elements and those of its mask lie side by side in the same order.
enum SideBySide {
    Always,
    Never,
    Where(Value),
}

fn side_by_side(cx: &mut LowerCx<'_>, a: &ArrayVal, mask: &ArrayVal) -> SideBySide {
    let size = a.ty.dtype.itemsize();
    if !matches!(size, 1 | 2 | 4 | 8 | 16) {
        return SideBySide::Never;
    }
    // What lies side by side in an order other than that of the indices is in another order in the result.
    if a.ty.layout == Layout::C && mask.ty.layout == Layout::C {
        return SideBySide::Always;
    }
    if a.shape.len() != 1 {
        return SideBySide::Never;
    }
    let (x, m) = (cx.b.bin_imm(Op::IcmpEq, a.strides[0], size), cx.b.bin_imm(Op::IcmpEq, mask.strides[0], 1));
    SideBySide::Where(cx.and(x, m))
}

/// `a[mask]`: two passes over the mask, no memory but the result's.
pub(super) fn get_masked(cx: &mut LowerCx<'_>, a: &ArrayVal, mask: &ArrayVal) -> Result<Val> {
    check_mask(cx, a, &mask.shape, 0);
    let k = mask.shape.len();
    let n = count_true(cx, mask)?;
    let shape: Vec<Value> = std::iter::once(n).chain(a.shape[k..].iter().copied()).collect();
    let from = Stream { data: a.data, strides: a.strides[..k].to_vec() };
    if k == a.shape.len() {
        // Room for one more at the end: every element may be written to the next free place, which moves on
        // where the mask is true.
        let room = cx.b.bin_imm(Op::Iadd, n, 1);
        let wide = ArrayVal::alloc(cx, a.ty.dtype, &[room], Layout::C, false)?;
        let out = ArrayVal { shape: vec![n], ..wide };
        let one_by_one = |cx: &mut LowerCx<'_>| {
            let none = cx.b.i64(0);
            fold(cx, &mask.shape, &[mask.stream(), from], &[none], &mut |cx, at, done| {
                let m = cx.b.load(Ty::I8, at[0], 0, Alias::Array);
                let x = load_element(cx, at[1], a.ty.dtype);
                // Apart from the sum, which the next element waits for: should another thread change the mask
                // between the passes, there still is room.
                let place = cx.b.bin(Op::Umin, done[0], n);
                let off = cx.b.bin(Op::Imul, place, out.strides[0]);
                let to = cx.b.ptr_add(out.data, off);
                store_element(cx, to, a.ty.dtype, &x);
                let m = cx.b.conv(Op::Zext, Ty::I64, m);
                Ok(vec![cx.b.bin(Op::Iadd, done[0], m)])
            })?;
            Ok(vec![])
        };
        let by_kernel = |cx: &mut LowerCx<'_>| {
            let (size, all) = (cx.b.i64(a.ty.dtype.itemsize() | cx.chunks.flag()), product(cx, &mask.shape));
            cx.helper(&kernel::array_mask_take, &[size, mask.data, a.data, all, out.data, n]);
            Ok(vec![])
        };
        cx.guarded(&[out.owner], |cx| match side_by_side(cx, a, mask) {
            SideBySide::Never => one_by_one(cx),
            SideBySide::Always => by_kernel(cx),
            SideBySide::Where(so) => cx.if_else(so, by_kernel, one_by_one),
        })?;
        return Ok(out.pack());
    }
    let out = ArrayVal::alloc(cx, a.ty.dtype, &shape, Layout::C, false)?;
    let end = behind(cx, &out, n);
    fold(cx, &mask.shape, &[mask.stream(), from], &[out.data], &mut |cx, at, to| {
        let m = cx.b.load(Ty::I8, at[0], 0, Alias::Array);
        let to = to[0];
        let room = cx.b.bin(Op::IcmpNe, to, end);
        let m = cx.and(m, room);
        cx.if_else(
            m,
            |cx| {
                copy_rest(cx, &a.shape[k..], at[1], &a.strides[k..], to, &out.strides[1..], a.ty.dtype)?;
                Ok(vec![cx.b.ptr_add(to, out.strides[0])])
            },
            |_| Ok(vec![to]),
        )
    })?;
    Ok(out.pack())
}

/// Whether an element is chosen, what is written there and its type, from the addresses of elements that are
/// read.
pub(super) type Choice<'a> = dyn Fn(&mut LowerCx<'_>, &[Value]) -> Result<(Value, Val, Type)> + 'a;

/// `a[mask] = x` of a number, for a mask of fewer dimensions.
pub(super) fn set_masked(cx: &mut LowerCx<'_>, a: &ArrayVal, mask: &ArrayVal, x: &[Value]) -> Result<()> {
    check_mask(cx, a, &mask.shape, 0);
    let k = mask.shape.len();
    let streams = [mask.stream(), Stream { data: a.data, strides: a.strides[..k].to_vec() }];
    let mut store = |cx: &mut LowerCx<'_>, at: &[Value]| {
        let m = cx.b.load(Ty::I8, at[0], 0, Alias::Array);
        cx.if_then(m, |cx| {
            let rest = Stream { data: at[1], strides: a.strides[k..].to_vec() };
            walk(cx, &a.shape[k..], &[rest], &mut |cx, p| {
                store_element(cx, p[0], a.ty.dtype, x);
                Ok(())
            })
        })
    };
    walk_in_chunks(cx, &mask.shape, &streams, 1, &mut store)
}
