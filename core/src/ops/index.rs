//! Basic indexing of arrays: integers, slices, ellipsis and new axes, read and written, with broadcasting.

use super::{Body, OpDef, Own};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{
    ArrayVal, copy_elements, elementwise, fill_elements, load_element, shape_text, store_element,
};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::dates::stores;
use crate::emit::lazy::Elements;
use crate::emit::length::length;
use crate::emit::platform::NewException;
use crate::emit::slice::adjust_slice;
use crate::emit::writing::{OVERLAP, broadcasts_to, check_writable, extents_meet, same_view, write_apart};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{Access, ArrayType, Kind, Layout, Type, promote};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    GETITEM = "operator.getitem" [computes, lists(Shallow), keywords(Finds)],
    SETITEM = "operator.setitem" [keeps, computes, lists(Shallow)],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["operator.getitem"], "a, index", Body::Lir(get_rule, emit_get))
        .records()
        .raises()
        .reads()
        .owned_by(|_, ret| if ret.as_array().is_some() { Own::Aliases } else { Own::Fresh })
        .doc("`a[i, j:k, ..., None]`: an element, or a view."),
    OpDef::new(&["operator.setitem"], "a, index, value", Body::Lir(set_rule, emit_set))
        .times()
        .halves()
        .raises()
        .writes()
        .lazy(2, emit_set_lazy)
        .doc("`a[i, j:k] = value`, with broadcasting."),
];

/// One step of an index.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    Int,
    Slice,
    NewAxis,
    Ellipsis,
}

/// The items of a basic index, one ellipsis put in where there is none; or none if the index is not basic.
fn items(t: Type) -> Option<Vec<(Item, Type)>> {
    let one = |t: &Type| {
        let item = if t.is_int() || t.as_array().is_some_and(|a| a.ndim == 0 && a.dtype.is_int()) {
            Item::Int
        } else if matches!(**t, Kind::Slice(_)) {
            Item::Slice
        } else if **t == Kind::None {
            Item::NewAxis
        } else if **t == Kind::Ellipsis {
            Item::Ellipsis
        } else {
            return None;
        };
        Some((item, *t))
    };
    let of = t.members().unwrap_or(std::slice::from_ref(&t));
    let mut out: Vec<(Item, Type)> = of.iter().map(one).collect::<Option<_>>()?;
    match out.iter().filter(|i| i.0 == Item::Ellipsis).count() {
        0 => out.push((Item::Ellipsis, Type::none())),
        1 => {}
        _ => return None,
    }
    Some(out)
}

/// The type of the view, or of the element for a full set of integers.
fn view_type(a: ArrayType, items: &[(Item, Type)]) -> Option<Type> {
    let used = items.iter().filter(|i| matches!(i.0, Item::Int | Item::Slice)).count();
    let kept = a.ndim().checked_sub(used)?;
    let ints = items.iter().filter(|i| i.0 == Item::Int).count();
    let new = items.iter().filter(|i| i.0 == Item::NewAxis).count();
    let explicit_ellipsis = items.iter().any(|i| i.0 == Item::Ellipsis && *i.1 == Kind::Ellipsis);
    let ndim = a.ndim() - ints + new;
    if ndim == 0
        && !explicit_ellipsis
        && let Some(value) = a.dtype.element_value()
    {
        return Some(value);
    }
    let taking: Vec<&(Item, Type)> = items.iter().filter(|i| i.0 != Item::Ellipsis || kept > 0).collect();
    let layout = match a.layout {
        Layout::C if new == 0 && keeps_order(taking.iter()) => Layout::C,
        Layout::F if new == 0 && keeps_order(taking.iter().rev()) => {
            if ndim > 1 {
                Layout::F
            } else {
                Layout::C
            }
        }
        Layout::C | Layout::F | Layout::A => {
            if ndim == 0 {
                Layout::C
            } else {
                Layout::A
            }
        }
    };
    Some(Type::new(Kind::Array(ArrayType { ndim: ndim as u8, layout, ..a })))
}

/// Whether items, from the dimension of the largest stride on, leave an array contiguous: integers, then one
/// slice without steps, then whole dimensions.
fn keeps_order<'a>(items: impl Iterator<Item = &'a &'a (Item, Type)>) -> bool {
    let whole = |i: &(Item, Type)| {
        i.0 == Item::Ellipsis
            || matches!(*i.1, Kind::Slice([s, e, st]) if *s == Kind::None && *e == Kind::None && *st == Kind::None)
    };
    let unit_slice = |i: &(Item, Type)| matches!(*i.1, Kind::Slice([_, _, st]) if *st == Kind::None);
    let mut rest = items.skip_while(|i| i.0 == Item::Int);
    rest.next().is_none_or(|i| whole(i) || unit_slice(i)) && rest.all(|i| whole(i))
}

/// Type of `a[index]` where the index is a basic one.
pub(crate) fn result_type(a: ArrayType, index: Type) -> Option<Type> {
    view_type(a, &items(index)?)
}

fn too_many(a: ArrayType, n: usize) -> Diagnostic {
    Diagnostic::new(
        Code::NoMatchingOperation,
        format!("too many indices for array: array is {}-dimensional, but {n} were indexed", a.ndim),
    )
}

fn array_and_items(args: &[Arg]) -> Result<(ArrayType, Vec<(Item, Type)>)> {
    let a = args[0].ty.as_array().ok_or_else(|| no_match("[]", args))?;
    let items = items(args[1].ty).ok_or_else(|| no_match("[]", args))?;
    Ok((a, items))
}

fn get_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let args = &resolved(cx, args);
    let (a, items) = array_and_items(args)?;
    let t = view_type(a, &items).ok_or_else(|| too_many(a, items.len() - 1))?;
    Ok(Answer::of(t))
}

/// Operands with lists of what they are known to hold so far.
pub(crate) fn resolved(cx: &TyCx<'_, '_>, args: &[Arg]) -> Vec<Arg> {
    args.iter().map(|a| Arg { ty: cx.vars.resolve(a.ty), konst: a.konst.clone() }).collect()
}

fn set_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let args = &resolved(cx, args);
    let (a, items) = array_and_items(args)?;
    let view = view_type(a, &items).ok_or_else(|| too_many(a, items.len() - 1))?;
    assignable(a, view, args[2].ty)?;
    Ok(Answer::of(written(a)))
}

/// What writing to an array gives: None, or nothing at all where it is read-only and writing always raises.
pub(crate) fn written(a: ArrayType) -> Type {
    if a.access == Access::Read { Type::never() } else { Type::none() }
}

/// Raises what NumPy raises where a call writes to a read-only array; true when it does.
pub(crate) fn refuse_readonly(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> bool {
    let refused = *c.ret == Kind::Never;
    if refused {
        cx.raise_and_continue(Class::ValueError, "assignment destination is read-only");
    }
    refused
}

/// An error unless a value of that type can be written to a part of type `view` of the array.
pub(crate) fn assignable(a: ArrayType, view: Type, value: Type) -> Result<()> {
    let fits = match value.as_array() {
        Some(v) => view.as_array().is_some() || v.ndim == 0,
        None => value.is_element() || row(value).is_some_and(|_| view.as_array().is_some()),
    };
    if !fits {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("cannot assign a value of type {value} to {view}"),
        ));
    }
    let number = value.as_array().map_or_else(|| row(value).unwrap_or(value), |v| v.dtype);
    if !stores(number, a.dtype) {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("a value of type {number} cannot be stored in an array of {}", a.dtype),
        ));
    }
    if number.is_complex() && !a.dtype.is_complex() {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("a complex value cannot be stored in an array of {}", a.dtype),
        )
        .help("take .real"));
    }
    Ok(())
}

/// Element type of a tuple or list of numbers that is assigned like a 1-d array.
pub(crate) fn row(t: Type) -> Option<Type> {
    let element = if let Kind::List(e) = *t {
        Some(e)
    } else {
        t.members()?.iter().try_fold(Type::never(), |x, y| promote::unify(x, *y))
    };
    element.filter(|t| t.is_element())
}

/// The view of a basic index; indices out of range raise, slices are cut to fit.
fn view(
    cx: &mut LowerCx<'_>,
    a: &ArrayVal,
    index: &[Value],
    t: Type,
    ndim: usize,
    layout: Layout,
) -> Result<ArrayVal> {
    let items = items(t).ok_or_else(|| Diagnostic::internal("index"))?;
    let parts = match t.members() {
        Some(m) => split_leaves(index, m),
        None => vec![index.to_vec()],
    };
    let used = items.iter().filter(|i| matches!(i.0, Item::Int | Item::Slice)).count();
    let (mut data, mut shape, mut strides) = (a.data, vec![], vec![]);
    let mut dim = 0;
    for (k, (item, ty)) in items.iter().enumerate() {
        match item {
            Item::Int => {
                let i = match ty.as_array() {
                    Some(z) => {
                        let e = load_element(cx, parts[k][1], z.dtype);
                        cast::to_index(cx, e[0], z.dtype)
                    }
                    None => cast::to_index(cx, parts[k][0], *ty),
                };
                let scalar = ty.as_array().map_or(*ty, |z| z.dtype);
                let at = checked(cx, i, !matches!(*scalar, Kind::Int(x) if !x.signed()), a.shape[dim], dim);
                let off = cx.b.bin(Op::Imul, at, a.strides[dim]);
                data = cx.b.ptr_add(data, off);
                dim += 1;
            }
            Item::Slice => {
                let s = adjust_slice(cx, &parts[k], *ty, a.shape[dim])?;
                let off = cx.b.bin(Op::Imul, s.start, a.strides[dim]);
                // An empty slice may start behind the end; its data is never touched.
                data = cx.b.ptr_add(data, off);
                shape.push(s.count);
                strides.push(cx.b.bin(Op::Imul, s.step, a.strides[dim]));
                dim += 1;
            }
            Item::NewAxis => {
                shape.push(cx.b.i64(1));
                strides.push(cx.b.i64(0));
            }
            Item::Ellipsis => {
                for _ in 0..a.shape.len() - used {
                    shape.push(a.shape[dim]);
                    strides.push(a.strides[dim]);
                    dim += 1;
                }
            }
        }
    }
    Ok(ArrayVal {
        ty: ArrayType { ndim: ndim as u8, layout, ..a.ty },
        owner: a.owner,
        data,
        shape,
        strides,
        frozen: a.frozen,
    })
}

/// The address of the element at an index of integers, which are checked.
pub(crate) fn element_address(cx: &mut LowerCx<'_>, a: &ArrayVal, index: &[Value], t: Type) -> Result<Value> {
    Ok(view(cx, a, index, t, 0, Layout::C)?.data)
}

/// The position that index `i` means in a dimension of length `n`; IndexError with NumPy's text.
pub(crate) fn checked(cx: &mut LowerCx<'_>, i: Value, signed: bool, n: Value, dim: usize) -> Value {
    let at = if signed { cx.wrap_index(i, n) } else { i };
    if cx.options.boundscheck {
        let ok = cx.b.bin(Op::IcmpUlt, at, n);
        cx.check_made(ok, |cx| cx.new_exception(&NewException::Index { index: i, axis: dim, size: n }));
    }
    at
}

pub(crate) fn emit_get(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    match c.ret.as_array() {
        Some(r) => Ok(view(cx, &a, &c.args[1], c.types[1], r.ndim(), r.layout)?.pack()),
        None => {
            let v = view(cx, &a, &c.args[1], c.types[1], 0, Layout::C)?;
            Ok(super::chars::load_value(cx, v.data, a.ty.dtype))
        }
    }
}

/// The part of an array that is assigned to; none where that has raised.
pub(super) fn target(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Option<ArrayVal>> {
    if refuse_readonly(cx, c) {
        return Ok(None);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    check_writable(cx, &a, "assignment destination is read-only");
    let items = items(c.types[1]).ok_or_else(|| Diagnostic::internal("index"))?;
    let part = view_type(a.ty, &items).ok_or_else(|| Diagnostic::internal("view"))?;
    let (ndim, layout) = part.as_array().map_or((0, Layout::C), |t| (t.ndim(), t.layout));
    view(cx, &a, &c.args[1], c.types[1], ndim, layout).map(Some)
}

fn emit_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if let Some(v) = target(cx, c)? {
        assign(cx, &v, &c.args[2], c.types[2])?;
    }
    Ok(vec![])
}

/// Writes what is yet to be computed straight to where it belongs.
fn emit_set_lazy(cx: &mut LowerCx<'_>, c: &OpCall<'_>, e: &Elements) -> Result<Val> {
    let Some(v) = target(cx, c)? else { return Ok(vec![]) };
    let ndim = v.shape.len();
    if e.shape.len() != ndim {
        // Stretched along a new dimension, elements would be computed again and again.
        let made = e.array(cx)?;
        cx.guarded(&[made.owner], |cx| assign_array(cx, &v, &made))?;
        cx.release_object(made.owner);
        return Ok(vec![]);
    }
    if let Some(fits) = broadcasts_to(cx, &e.shape, &v.shape) {
        let text = format!(
            "could not broadcast input array from shape {} into shape {}",
            shape_text(ndim),
            shape_text(ndim)
        );
        cx.check_format(fits, Class::ValueError, &text, &[e.shape.as_slice(), &v.shape].concat());
    }
    write_apart(cx, &v, &e.lazy.arrays, false, &mut |cx, to, read| {
        elementwise(cx, to, read, e.lazy.cost(), &mut |cx, p, at| {
            let x = e.element(cx, at)?;
            let x = cast::cast(cx, &x, e.dtype, to.ty.dtype)?;
            store_element(cx, p, to.ty.dtype, &x);
            Ok(())
        })
    })?;
    Ok(vec![])
}

/// Writes a number, array, tuple or list of numbers into every element of a view, broadcast.
pub(crate) fn assign(cx: &mut LowerCx<'_>, v: &ArrayVal, value: &[Value], t: Type) -> Result<()> {
    let dtype = v.ty.dtype;
    if let Kind::Array(_) = *t {
        let src = ArrayVal::new(cx, value, t)?;
        return assign_array(cx, v, &src);
    }
    if let Some(e) = row(t) {
        let src = row_array(cx, value, t, if e.is_weak() { dtype } else { e })?;
        cx.guarded(&[src.owner], |cx| assign_array(cx, v, &src))?;
        cx.release_object(src.owner);
        return Ok(());
    }
    let x = cast::element(cx, value, t, dtype)?;
    fill(cx, v, &x)
}

/// Writes one element, of the array's type, everywhere.
pub(crate) fn fill(cx: &mut LowerCx<'_>, v: &ArrayVal, x: &[Value]) -> Result<()> {
    fill_elements(cx, v, x)
}

/// A new 1-d array of elements `e` with the members of a tuple or list of numbers.
pub(crate) fn row_array(cx: &mut LowerCx<'_>, value: &[Value], t: Type, e: Type) -> Result<ArrayVal> {
    let n = length(cx, value, t)?;
    let out = ArrayVal::alloc(cx, e.strong(), &[n], Layout::C, false)?;
    if let Some(m) = t.members() {
        for (k, (p, x)) in split_leaves(value, m).iter().zip(m).enumerate() {
            let at = cx.b.i64(k as i64);
            let p = cx.guarded(&[out.owner], |cx| cast::element(cx, p, *x, out.ty.dtype))?;
            out.store(cx, &[at], &p);
        }
        return Ok(out);
    }
    let held = row(t).unwrap_or(e);
    cx.guarded(&[out.owner], |cx| {
        cx.for_range(n, &[], |cx, i, _| {
            let x = super::sequence::element(cx, value, t, i)?;
            let x = cast::element(cx, &x, held, out.ty.dtype)?;
            out.store(cx, &[i], &x);
            Ok(vec![])
        })
    })?;
    Ok(out)
}

/// Element by element, through a copy where source and target share memory.
pub(crate) fn assign_array(cx: &mut LowerCx<'_>, v: &ArrayVal, src: &ArrayVal) -> Result<()> {
    let src = fitted(cx, src, &v.shape, |cx, fits| {
        let text = format!(
            "could not broadcast input array from shape {} into shape {}",
            shape_text(src.shape.len()),
            shape_text(v.shape.len())
        );
        cx.check_format(fits, Class::ValueError, &text, &[src.shape.as_slice(), &v.shape].concat());
    });
    // After `a[1:] += b` the view is assigned to where it came from: nothing is left to do.
    match same_view(cx, v, &src) {
        None => copy_apart(cx, v, src),
        Some(same) => {
            let differ = cx.not(same);
            cx.if_then(differ, |cx| copy_apart(cx, v, src))
        }
    }
}

/// Copies elements, from a copy of the source where it shares memory with the target.
fn copy_apart(cx: &mut LowerCx<'_>, v: &ArrayVal, src: ArrayVal) -> Result<()> {
    let shared = extents_meet(cx, v, &src);
    if !cx.options.platform.allocates() {
        let apart = cx.not(shared);
        cx.check(apart, Class::BufferError, OVERLAP);
        return copy_elements(cx, v, &src);
    }
    let copied = cx.if_else(
        shared,
        |cx| {
            let copy = src.copied(
                cx,
                src.ty.dtype,
                if src.ty.layout == Layout::A { Layout::C } else { src.ty.layout },
            )?;
            Ok([vec![copy.owner, copy.data], copy.strides].concat())
        },
        |cx| Ok([vec![cx.b.null(), src.data], src.strides.clone()].concat()),
    )?;
    let strides = if src.ty.layout == Layout::A { copied[2..].to_vec() } else { src.strides.clone() };
    let from = ArrayVal { data: copied[1], strides, ..src };
    cx.guarded(&[copied[0]], |cx| copy_elements(cx, v, &from))?;
    cx.release_object(copied[0]);
    Ok(())
}

/// A source that is assigned to a part of shape `to`: dimensions of length 1 in front of all of the target's
/// are dropped, as in `a[0:2] = np.ones((1, 2))`. `check` gets whether the rest broadcasts.
pub(crate) fn fitted(
    cx: &mut LowerCx<'_>,
    src: &ArrayVal,
    to: &[Value],
    check: impl FnOnce(&mut LowerCx<'_>, Value),
) -> ArrayVal {
    let extra = src.shape.len().saturating_sub(to.len());
    let mut ok = broadcasts_to(cx, &src.shape[extra..], to);
    for n in &src.shape[..extra] {
        let one = cx.b.bin_imm(Op::IcmpEq, *n, 1);
        ok = Some(match ok {
            Some(x) => cx.and(x, one),
            None => one,
        });
    }
    if let Some(ok) = ok {
        check(cx, ok);
    }
    let ty = ArrayType { ndim: (src.shape.len() - extra) as u8, ..src.ty };
    ArrayVal {
        ty,
        owner: src.owner,
        data: src.data,
        shape: src.shape[extra..].to_vec(),
        strides: src.strides[extra..].to_vec(),
        frozen: src.frozen,
    }
}
