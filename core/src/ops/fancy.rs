//! Advanced indexing of arrays: integer arrays, lists and boolean masks, mixed with integers and slices, read
//! and written.
//!
//! The basic items of an index give a view with the advanced dimensions left out; an element of the result is
//! found by adding the byte offsets of the advanced items to it. Where the result's dimensions go is NumPy's
//! rule: in place of the advanced items when they stand together (integers count as advanced here), else in
//! front. Reading checks each index as it goes. Writing first turns all of them into offsets, so that nothing
//! is written when one is out of range or the target holds the indices themselves.

mod masks;

use super::index::{assignable, checked, row_array};
use super::{Body, Divides, Division, OpDef};
use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::{
    ArrayVal, Stream, broadcast_strides, elementwise, load_element, shape_text, store_element, walk,
    walk_in_chunks,
};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::lazy::Elements;
use crate::emit::slice::adjust_slice;
use crate::emit::writing::overlaps;
use crate::emit::writing::write_apart;
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty, Value};
use crate::types::{ArrayType, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};
use masks::{Choice, check_mask, get_masked, mask_offsets, only_mask, set_masked};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["operator.getitem"], "a, index", Body::Lir(get_rule, emit_get))
        .records()
        .raises()
        .reads()
        .divides(divides_chosen)
        .doc("`a[mask]`, `a[indices]`: a new array of the chosen elements."),
    OpDef::new(&["operator.setitem"], "a, index, value", Body::Lir(set_rule, emit_set))
        .times()
        .raises()
        .writes()
        .lazy(1, emit_set_lazy)
        .doc("`a[mask] = value`, `a[indices] = value`."),
];

/// All of an array whose elements a mask of the given shape chooses from: a view of that shape, which is
/// another one only where the mask has no elements. [`crate::lower::masked`] makes this and the next two.
pub(crate) static PART: OpDef = OpDef::new(
    &["array._part"],
    "a, shape",
    Body::Lir(
        |_, a| Err(no_match("_part()", a)),
        |cx, c| {
            let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
            check_mask(cx, &a, &c.args[1], 0);
            Ok(ArrayVal { shape: c.args[1].clone(), ..a }.pack())
        },
    ),
)
.times()
.raises()
.aliases();

/// Whether an element is chosen and what it is, side by side. It is always part of a chain that [`PUT`] ends.
pub(crate) static CHOSEN: OpDef = OpDef::new(
    &["operator.getitem"],
    "mask, a",
    Body::Ufunc(
        |t, _| {
            let element = t[1].ty;
            Some(Answer { args: vec![Type::bool(), element], ..Answer::of(element) })
        },
        |_, c| Ok(c.args.concat()),
    ),
)
.divides(divides_chosen);

fn divides_chosen(d: &Division) -> Divides {
    let apart = |a: &ArrayType| a.layout != Layout::C;
    if apart(&d.array) || d.second.as_ref().is_some_and(apart) {
        Divides::Where("where its elements lie side by side, and those of the mask")
    } else {
        Divides::Always
    }
}

/// Writes what [`CHOSEN`] says.
pub(crate) static PUT: OpDef = OpDef::new(
    &["operator.setitem"],
    "a, chosen",
    Body::Lir(
        |_, a| Err(no_match("_put()", a)),
        |_, _| Err(Diagnostic::internal("chosen elements as an array")),
    ),
)
.times()
.raises()
.writes()
.lazy(1, emit_put);

fn emit_put(cx: &mut LowerCx<'_>, c: &OpCall<'_>, e: &Elements) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    crate::emit::writing::check_writable(cx, &a, "assignment destination is read-only");
    set_chosen(cx, &a, &e.shape, &e.lazy.arrays, e.lazy.cost(), &|cx, at| {
        let mut both = e.lazy.element(cx, at)?;
        let chosen = both.remove(0);
        Ok((chosen, both, e.dtype))
    })?;
    Ok(vec![])
}

/// One item of an index.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    Int,
    Slice,
    NewAxis,
    Ellipsis,
    Ints,
    Mask(usize),
    IntList,
    MaskList,
    Flag,
}

impl Item {
    /// How many dimensions of the array it takes.
    fn takes(self) -> usize {
        match self {
            Item::NewAxis | Item::Ellipsis | Item::Flag => 0,
            Item::Int | Item::Slice | Item::Ints | Item::IntList | Item::MaskList => 1,
            Item::Mask(n) => n,
        }
    }
    fn is_array(self) -> bool {
        matches!(self, Item::Ints | Item::Mask(_) | Item::IntList | Item::MaskList | Item::Flag)
    }
}

/// What an advanced index asks for, by types alone.
struct Plan {
    items: Vec<(Item, Type)>,
    /// Dimensions that an ellipsis stands for.
    gap: usize,
    /// Dimensions of the advanced items, broadcast together.
    advanced: usize,
    /// Where they stand in the result.
    at: usize,
    /// Dimensions of the result.
    ndim: usize,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other index is a row of numbers")]
fn item(t: Type) -> Option<Item> {
    Some(match t.kind() {
        Kind::Int(_) => Item::Int,
        Kind::Array(a) if a.ndim == 0 && a.dtype.is_int() => Item::Int,
        Kind::Array(a) if a.dtype.is_int() => Item::Ints,
        Kind::Array(a) if *a.dtype == Kind::Bool => {
            if a.ndim > 0 {
                Item::Mask(a.ndim())
            } else {
                Item::Flag
            }
        }
        // `a[True]` is `a[None]`, `a[False]` nothing of it.
        Kind::Bool => Item::Flag,
        Kind::Slice(_) => Item::Slice,
        Kind::None => Item::NewAxis,
        Kind::Ellipsis => Item::Ellipsis,
        Kind::List(e) if *e == Type::never() => Item::IntList,
        _ => match super::index::row(t)? {
            e if *e == Kind::Bool => Item::MaskList,
            e if e.is_int() => Item::IntList,
            _ => return None,
        },
    })
}

fn plan(a: ArrayType, t: Type) -> Option<Plan> {
    let mut items: Vec<(Item, Type)> = match t.members() {
        Some(m) => m.iter().map(|t| Some((item(*t)?, *t))).collect::<Option<_>>()?,
        None => vec![(item(t)?, t)],
    };
    if !items.iter().any(|i| i.0.is_array()) {
        return None;
    }
    match items.iter().filter(|i| i.0 == Item::Ellipsis).count() {
        0 => items.push((Item::Ellipsis, Type::none())),
        1 => {}
        _ => return None,
    }
    let gap = a.ndim().checked_sub(items.iter().map(|i| i.0.takes()).sum())?;
    let advanced = items
        .iter()
        .filter_map(|(i, t)| match i {
            Item::Ints => t.as_array().map(|a| a.ndim()),
            Item::Mask(_) | Item::IntList | Item::MaskList | Item::Flag => Some(1),
            Item::Int | Item::Slice | Item::NewAxis | Item::Ellipsis => None,
        })
        .max()?;
    let kept = |i: &(Item, Type)| match i.0 {
        Item::Slice | Item::NewAxis => 1,
        Item::Ellipsis => gap,
        Item::Int | Item::Ints | Item::Mask(_) | Item::IntList | Item::MaskList | Item::Flag => 0,
    };
    let is_advanced = |i: &(Item, Type)| i.0.is_array() || i.0 == Item::Int;
    let (first, last) = (items.iter().position(is_advanced)?, items.iter().rposition(is_advanced)?);
    let together = items[first..=last].iter().all(is_advanced);
    let at = if together { items[..first].iter().map(kept).sum() } else { 0 };
    let ndim = advanced + items.iter().map(kept).sum::<usize>();
    Some(Plan { items, gap, advanced, at, ndim })
}

fn planned(args: &[Arg]) -> Result<(ArrayType, Plan)> {
    let a = args[0].ty.as_array().ok_or_else(|| no_match("[]", args))?;
    Ok((a, plan(a, args[1].ty).ok_or_else(|| no_match("[]", args))?))
}

fn get_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let args = &super::index::resolved(cx, args);
    let (a, p) = planned(args)?;
    Ok(Answer::of(Type::array(a.dtype, p.ndim, Layout::C)))
}

/// Type of `a[index]` where the index is an advanced one.
pub(crate) fn result_type(a: ArrayType, index: Type) -> Option<Type> {
    plan(a, index).map(|p| Type::array(a.dtype, p.ndim, Layout::C))
}

fn set_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let args = &super::index::resolved(cx, args);
    let (a, p) = planned(args)?;
    assignable(a, Type::array(a.dtype, p.ndim, Layout::C), args[2].ty)?;
    Ok(Answer::of(super::index::written(a)))
}

/// An advanced item at run time: indices into one dimension, or byte offsets.
enum Chosen {
    Indices { array: ArrayVal, stride: Value, size: Value, axis: usize },
    Offsets(ArrayVal),
}

impl Chosen {
    fn array(&self) -> &ArrayVal {
        match self {
            Chosen::Indices { array, .. } | Chosen::Offsets(array) => array,
        }
    }
    /// Byte offset that the element at `p` of the item's array means.
    fn offset(&self, cx: &mut LowerCx<'_>, p: Value) -> Value {
        let t = self.array().ty.dtype;
        let v = load_element(cx, p, t);
        match self {
            Chosen::Offsets(_) => v[0],
            Chosen::Indices { stride, size, axis, .. } => {
                let i = cast::to_index(cx, v[0], t);
                let at = checked(cx, i, !matches!(*t, Kind::Int(x) if !x.signed()), *size, *axis);
                cx.b.bin(Op::Imul, at, *stride)
            }
        }
    }
}

/// The parts of an index at run time: the view without advanced dimensions, the advanced items, and objects
/// that were made on the way.
struct Parts {
    rest: ArrayVal,
    chosen: Vec<Chosen>,
    made: Vec<Value>,
}

fn parts(cx: &mut LowerCx<'_>, a: &ArrayVal, p: &Plan, index: &[Value], t: Type) -> Result<Parts> {
    let values = match t.members() {
        Some(m) => split_leaves(index, m),
        None => vec![index.to_vec()],
    };
    let (mut data, mut shape, mut strides) = (a.data, vec![], vec![]);
    let (mut chosen, mut made) = (vec![], vec![]);
    let mut dim = 0;
    for (k, (item, ty)) in p.items.iter().enumerate() {
        match item {
            Item::Int => {
                let (i, scalar) = match ty.as_array() {
                    Some(z) => (load_element(cx, values[k][1], z.dtype)[0], z.dtype),
                    None => (values[k][0], *ty),
                };
                let i = cast::to_index(cx, i, scalar);
                let at = cx.guarded(&made, |cx| {
                    Ok(checked(cx, i, !matches!(*scalar, Kind::Int(x) if !x.signed()), a.shape[dim], dim))
                })?;
                let off = cx.b.bin(Op::Imul, at, a.strides[dim]);
                data = cx.b.ptr_add(data, off);
            }
            Item::Slice => {
                let s = cx.guarded(&made, |cx| adjust_slice(cx, &values[k], *ty, a.shape[dim]))?;
                let off = cx.b.bin(Op::Imul, s.start, a.strides[dim]);
                data = cx.b.ptr_add(data, off);
                shape.push(s.count);
                strides.push(cx.b.bin(Op::Imul, s.step, a.strides[dim]));
            }
            Item::NewAxis => {
                shape.push(cx.b.i64(1));
                strides.push(cx.b.i64(0));
            }
            Item::Ellipsis => {
                for d in dim..dim + p.gap {
                    shape.push(a.shape[d]);
                    strides.push(a.strides[d]);
                }
            }
            Item::Ints => {
                let array = ArrayVal::new(cx, &values[k], *ty)?;
                chosen.push(Chosen::Indices { array, stride: a.strides[dim], size: a.shape[dim], axis: dim });
            }
            Item::IntList | Item::MaskList => {
                let array = cx.guarded(&made, |cx| match super::index::row(*ty) {
                    Some(e) => row_array(cx, &values[k], *ty, e),
                    None => {
                        let none = cx.b.i64(0);
                        ArrayVal::alloc(cx, Type::i64(), &[none], Layout::C, false)
                    }
                })?;
                made.push(array.owner);
                if *item == Item::IntList {
                    chosen.push(Chosen::Indices {
                        array,
                        stride: a.strides[dim],
                        size: a.shape[dim],
                        axis: dim,
                    });
                } else {
                    let offsets = cx.guarded(&made, |cx| mask_offsets(cx, a, &array, dim))?;
                    made.push(offsets.owner);
                    chosen.push(Chosen::Offsets(offsets));
                }
            }
            Item::Flag => {
                let flag = match ty.as_array() {
                    Some(z) => load_element(cx, values[k][1], z.dtype)[0],
                    None => values[k][0],
                };
                let n = cx.b.conv(Op::Zext, Ty::I64, flag);
                let offsets =
                    cx.guarded(&made, |cx| ArrayVal::alloc(cx, Type::i64(), &[n], Layout::C, true))?;
                made.push(offsets.owner);
                chosen.push(Chosen::Offsets(offsets));
            }
            Item::Mask(_) => {
                let mask = ArrayVal::new(cx, &values[k], *ty)?;
                let offsets = cx.guarded(&made, |cx| mask_offsets(cx, a, &mask, dim))?;
                made.push(offsets.owner);
                chosen.push(Chosen::Offsets(offsets));
            }
        }
        dim += if *item == Item::Ellipsis { p.gap } else { item.takes() };
    }
    let ty = ArrayType { ndim: shape.len() as u8, layout: Layout::A, ..a.ty };
    Ok(Parts { rest: ArrayVal { ty, owner: a.owner, data, shape, strides, frozen: a.frozen }, chosen, made })
}

fn release_all(cx: &mut LowerCx<'_>, made: &[Value]) {
    for o in made {
        cx.release_object(*o);
    }
}

// ---- masks

/// `a[mask] = x` with a mask of a given shape for every element: one pass over `a` and what is read.
fn set_chosen(
    cx: &mut LowerCx<'_>,
    a: &ArrayVal,
    shape: &[Value],
    read: &[ArrayVal],
    cost: i64,
    choice: &Choice<'_>,
) -> Result<()> {
    check_mask(cx, a, shape, 0);
    let run = |cx: &mut LowerCx<'_>| {
        write_apart(cx, a, read, true, &mut |cx, to, read| {
            elementwise(cx, to, read, cost, &mut |cx, p, at| {
                let (chosen, x, ty) = choice(cx, at)?;
                // What is not chosen is not written, for another thread may write it.
                cx.if_then(chosen, |cx| {
                    let x = cast::cast(cx, &x, ty, to.ty.dtype)?;
                    store_element(cx, p, to.ty.dtype, &x);
                    Ok(())
                })
            })
        })
    };
    // The mask's shape is the array's, or one without elements.
    let mut all = None;
    for (m, n) in shape.iter().zip(&a.shape).filter(|(m, n)| m != n) {
        let eq = cx.b.bin(Op::IcmpEq, *m, *n);
        all = Some(match all {
            Some(x) => cx.and(x, eq),
            None => eq,
        });
    }
    match all {
        None => run(cx),
        Some(all) => cx.if_then(all, run),
    }
}

/// [`set_chosen`] with a mask that is yet to be computed.
fn emit_set_lazy(cx: &mut LowerCx<'_>, c: &OpCall<'_>, e: &Elements) -> Result<Val> {
    if super::index::refuse_readonly(cx, c) {
        return Ok(vec![]);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    if *e.dtype == Kind::Bool && e.shape.len() == a.shape.len() && c.types[2].is_element() {
        crate::emit::writing::check_writable(cx, &a, "assignment destination is read-only");
        let x = cast::element(cx, &c.args[2], c.types[2], a.ty.dtype)?;
        set_chosen(cx, &a, &e.shape, &e.lazy.arrays, e.lazy.cost(), &|cx, at| {
            Ok((e.element(cx, at)?[0], x.clone(), a.ty.dtype))
        })?;
        return Ok(vec![]);
    }
    let made = e.array(cx)?;
    let operands = [c.args[0].clone(), made.pack(), c.args[2].clone()];
    cx.guarded(&[made.owner], |cx| emit_set(cx, &OpCall { args: &operands, ..*c }))?;
    cx.release_object(made.owner);
    Ok(vec![])
}

fn copy_rest(
    cx: &mut LowerCx<'_>,
    shape: &[Value],
    from: Value,
    from_strides: &[Value],
    to: Value,
    to_strides: &[Value],
    dtype: Type,
) -> Result<()> {
    let streams = [
        Stream { data: from, strides: from_strides.to_vec() },
        Stream { data: to, strides: to_strides.to_vec() },
    ];
    walk(cx, shape, &streams, &mut |cx, at| {
        let x = load_element(cx, at[0], dtype);
        store_element(cx, at[1], dtype, &x);
        Ok(())
    })
}

// ---- reading

pub(crate) fn emit_get(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let p = plan(a.ty, c.types[1]).ok_or_else(|| Diagnostic::internal("advanced index"))?;
    if only_mask(&p) && a.ty.dtype.record().is_none() {
        let mask = single(cx, &c.args[1], c.types[1])?;
        return get_masked(cx, &a, &mask);
    }
    let parts = parts(cx, &a, &p, &c.args[1], c.types[1])?;
    let out = cx.guarded(&parts.made, |cx| gather(cx, &p, &parts, a.ty.dtype))?;
    release_all(cx, &parts.made);
    Ok(out.pack())
}

/// The only item of an index, alone or in a tuple.
fn single(cx: &mut LowerCx<'_>, index: &[Value], t: Type) -> Result<ArrayVal> {
    let t = t.members().map_or(t, |m| m[0]);
    ArrayVal::new(cx, index, t)
}

/// The shape of the advanced items broadcast together.
fn advanced_shape(cx: &mut LowerCx<'_>, p: &Plan, chosen: &[Chosen]) -> Vec<Value> {
    let shapes: Vec<&[Value]> = chosen.iter().map(|c| c.array().shape.as_slice()).collect();
    let all = shapes.concat();
    let text = format!(
        "shape mismatch: indexing arrays could not be broadcast together with shapes {} ",
        shapes.iter().map(|s| shape_text(s.len())).collect::<Vec<_>>().join(" ")
    );
    let mut out: Vec<Option<Value>> = vec![None; p.advanced];
    for s in &shapes {
        for (k, n) in s.iter().enumerate() {
            let slot = p.advanced - s.len() + k;
            out[slot] = Some(match out[slot] {
                None => *n,
                Some(m) => {
                    let same = cx.b.bin(Op::IcmpEq, m, *n);
                    let (m_one, n_one) = (cx.b.bin_imm(Op::IcmpEq, m, 1), cx.b.bin_imm(Op::IcmpEq, *n, 1));
                    let ok = cx.or(same, m_one);
                    let ok = cx.or(ok, n_one);
                    cx.check_format(ok, Class::IndexError, &text, &all);
                    cx.b.select(m_one, *n, m)
                }
            });
        }
    }
    out.into_iter().flatten().collect()
}

/// `outer` with `inner` put in at `at`.
fn splice(outer: &[Value], inner: &[Value], at: usize) -> Vec<Value> {
    [&outer[..at], inner, &outer[at..]].concat()
}

fn gather(cx: &mut LowerCx<'_>, p: &Plan, parts: &Parts, dtype: Type) -> Result<ArrayVal> {
    let advanced = advanced_shape(cx, p, &parts.chosen);
    let out = ArrayVal::alloc(cx, dtype, &splice(&parts.rest.shape, &advanced, p.at), Layout::C, false)?;
    let (to_advanced, to_rest) = split_strides(&out.strides, p);
    let mut streams = vec![Stream { data: out.data, strides: to_advanced }];
    for c in &parts.chosen {
        streams.push(Stream { data: c.array().data, strides: broadcast_strides(cx, c.array(), &advanced) });
    }
    cx.guarded(&[out.owner], |cx| {
        walk_in_chunks(cx, &advanced, &streams, 2, &mut |cx, at| {
            let from = element_address(cx, parts, &at[1..]);
            copy_rest(cx, &parts.rest.shape, from, &parts.rest.strides, at[0], &to_rest, dtype)
        })
    })?;
    Ok(out)
}

/// Strides of the result's advanced dimensions and of the others.
fn split_strides(strides: &[Value], p: &Plan) -> (Vec<Value>, Vec<Value>) {
    let advanced = strides[p.at..p.at + p.advanced].to_vec();
    (advanced, [&strides[..p.at], &strides[p.at + p.advanced..]].concat())
}

fn element_address(cx: &mut LowerCx<'_>, parts: &Parts, at: &[Value]) -> Value {
    let mut p = parts.rest.data;
    for (c, q) in parts.chosen.iter().zip(at) {
        let off = c.offset(cx, *q);
        p = cx.b.ptr_add(p, off);
    }
    p
}

// ---- writing

fn emit_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if super::index::refuse_readonly(cx, c) {
        return Ok(vec![]);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    crate::emit::writing::check_writable(cx, &a, "assignment destination is read-only");
    let p = plan(a.ty, c.types[1]).ok_or_else(|| Diagnostic::internal("advanced index"))?;
    let number = c.types[2].is_element();
    if only_mask(&p) && number && (*a.ty.dtype != Kind::Bool || p.gap == 0) {
        let mask = single(cx, &c.args[1], c.types[1])?;
        let x = cast::element(cx, &c.args[2], c.types[2], a.ty.dtype)?;
        if p.gap == 0 {
            let read = [mask];
            set_chosen(cx, &a, &read[0].shape, &read, 1, &|cx, at| {
                Ok((cx.b.load(Ty::I8, at[0], 0, Alias::Array), x.clone(), a.ty.dtype))
            })?;
            return Ok(vec![]);
        }
        set_masked(cx, &a, &mask, &x)?;
        return Ok(vec![]);
    }
    let parts = parts(cx, &a, &p, &c.args[1], c.types[1])?;
    let mut made = parts.made.clone();
    let advanced = cx.guarded(&made, |cx| Ok(advanced_shape(cx, &p, &parts.chosen)))?;
    // As in NumPy a value of the wrong shape is found before an index out of range.
    let value = if number {
        None
    } else {
        let (src, owner) = cx.guarded(&made, |cx| value_array(cx, &a, &c.args[2], c.types[2]))?;
        made.push(owner);
        let shape = splice(&parts.rest.shape, &advanced, p.at);
        let one_mask = only_mask(&p) && p.ndim == 1;
        let src = cx.guarded(&made, |cx| Ok(checked_value(cx, &src, &shape, one_mask)))?;
        Some((broadcast_strides(cx, &src, &shape), src))
    };
    let offsets = cx.guarded(&made, |cx| resolved(cx, &parts, &advanced))?;
    made.push(offsets.owner);
    match value {
        Some((strides, src)) => scatter(cx, &p, &parts, (&advanced, &offsets), (&src, &strides))?,
        None => {
            let x = cx.guarded(&made, |cx| cast::element(cx, &c.args[2], c.types[2], a.ty.dtype))?;
            walk(cx, &advanced, &[offsets.stream()], &mut |cx, at| {
                let off = cx.b.load(Ty::I64, at[0], 0, Alias::Array);
                let rest =
                    Stream { data: cx.b.ptr_add(parts.rest.data, off), strides: parts.rest.strides.clone() };
                walk(cx, &parts.rest.shape, &[rest], &mut |cx, q| {
                    store_element(cx, q[0], a.ty.dtype, &x);
                    Ok(())
                })
            })?;
        }
    }
    release_all(cx, &made);
    Ok(vec![])
}

/// All indices as byte offsets, checked, in an array of the broadcast shape.
fn resolved(cx: &mut LowerCx<'_>, parts: &Parts, advanced: &[Value]) -> Result<ArrayVal> {
    let out = ArrayVal::alloc(cx, Type::i64(), advanced, Layout::C, false)?;
    let mut streams = vec![out.stream()];
    for c in &parts.chosen {
        streams.push(Stream { data: c.array().data, strides: broadcast_strides(cx, c.array(), advanced) });
    }
    cx.guarded(&[out.owner], |cx| {
        walk_in_chunks(cx, advanced, &streams, 2, &mut |cx, at| {
            let mut total = cx.b.i64(0);
            for (c, q) in parts.chosen.iter().zip(&at[1..]) {
                let off = c.offset(cx, *q);
                total = cx.b.bin(Op::Iadd, total, off);
            }
            cx.b.store(total, at[0], 0, Alias::Array);
            Ok(())
        })
    })?;
    Ok(out)
}

/// The assigned value as an array that shares no memory with the target, and the object that holds it if it
/// was made here (else null).
fn value_array(cx: &mut LowerCx<'_>, a: &ArrayVal, value: &[Value], t: Type) -> Result<(ArrayVal, Value)> {
    if let Some(e) = super::index::row(t) {
        let r = row_array(cx, value, t, if e.is_weak() { a.ty.dtype } else { e })?;
        let owner = r.owner;
        return Ok((r, owner));
    }
    let src = ArrayVal::new(cx, value, t)?;
    let shared = overlaps(cx, a, &src);
    let same = cx.b.bin(Op::IcmpEq, a.data, src.data);
    let shared = cx.or(shared, same);
    let v = cx.if_else(
        shared,
        |cx| {
            let copy = src.copied(cx, src.ty.dtype, Layout::C)?;
            Ok([vec![copy.owner, copy.data], copy.strides].concat())
        },
        |cx| Ok([vec![cx.b.null(), src.data], src.strides.clone()].concat()),
    )?;
    Ok((ArrayVal { data: v[1], strides: v[2..].to_vec(), ..src.with_layout(Layout::A) }, v[0]))
}

/// The assigned value without needless dimensions; ValueError unless it broadcasts to the shape of the
/// target.
fn checked_value(cx: &mut LowerCx<'_>, src: &ArrayVal, shape: &[Value], one_mask: bool) -> ArrayVal {
    super::index::fitted(cx, src, shape, |cx, fits| {
        let values = [&src.shape[..], shape].concat();
        let text = if one_mask && src.shape.len() == 1 {
            "NumPy boolean array indexing assignment cannot assign {} input values to the {} output values where the mask is true".into()
        } else {
            format!(
                "shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}",
                shape_text(src.shape.len()),
                shape_text(shape.len())
            )
        };
        cx.check_format(fits, Class::ValueError, &text, &values);
    })
}

fn scatter(
    cx: &mut LowerCx<'_>,
    p: &Plan,
    parts: &Parts,
    (advanced, offsets): (&[Value], &ArrayVal),
    (src, strides): (&ArrayVal, &[Value]),
) -> Result<()> {
    let (from_advanced, from_rest) = split_strides(strides, p);
    let streams = [offsets.stream(), Stream { data: src.data, strides: from_advanced }];
    let (source, target) = (src.ty.dtype, parts.rest.ty.dtype);
    walk(cx, advanced, &streams, &mut |cx, at| {
        let off = cx.b.load(Ty::I64, at[0], 0, Alias::Array);
        let rest = [
            Stream { data: cx.b.ptr_add(parts.rest.data, off), strides: parts.rest.strides.clone() },
            Stream { data: at[1], strides: from_rest.clone() },
        ];
        walk(cx, &parts.rest.shape, &rest, &mut |cx, q| {
            let x = load_element(cx, q[1], source);
            let x = cast::cast(cx, &x, source, target)?;
            store_element(cx, q[0], target, &x);
            Ok(())
        })
    })
}
