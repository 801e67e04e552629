//! Comprehensions that fill the array which would be made of their list (`ssa/opt/parallel/collect.rs`).

use super::create::dtype_or;
use super::{Body, OpDef, id};
use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, store_element};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::Op;
use crate::types::{Const, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    ARRAY_HAS_PLACES = "array.has_places",
    ARRAY_ROOM = "array.room",
    ARRAY_PUT = "array.put",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["array.has_places"],
        "source, function",
        Body::Lir(|_, a| Ok(Answer::constant(Const::Bool(has_places(a)))), |_, _| Ok(vec![])),
    )
    .records()
    .internal()
    .doc("Whether a comprehension goes through an array or a range, for NumPy's array."),
    OpDef::new(&["array.room"], "dtype, indices", Body::Lir(room_rule, emit_room))
        .raises()
        .reads()
        .internal()
        .doc("An array with a place for each element."),
    OpDef::new(&["array.put"], "out, k, x", Body::Lir(put_rule, emit_put))
        .times()
        .writes()
        .unordered()
        .internal()
        .doc("Sets the element of an iteration."),
    OpDef::new(
        &["numpy._fills_array"],
        "values, *iterables",
        Body::Lir(
            |cx, a| {
                let numbers = dtype(elements(cx, a)?, None).is_some();
                let of_arrays = a[1..].iter().all(|a| a.ty.as_array().is_some());
                Ok(Answer::constant(Const::Bool(numbers && of_arrays)))
            },
            |_, _| Ok(vec![]),
        ),
    )
    .doc("Whether a list holds numbers, of which there need not be any, and what they come of is arrays."),
    OpDef::new(
        &["numpy._dtype_of_list"],
        "values",
        Body::Lir(
            |cx, a| match dtype(elements(cx, a)?, None) {
                Some(t) => Ok(Answer::of(Type::new(Kind::DType(t)))),
                None => Err(no_match("an array", a)),
            },
            |_, _| Ok(vec![]),
        ),
    )
    .times()
    .doc("What an array of a list of numbers holds."),
];

fn elements(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Type> {
    cx.elem(args[0].ty).ok_or_else(|| no_match("a list of results", args))
}

fn has_places(args: &[Arg]) -> bool {
    let numpy = matches!(*args[1].ty, Kind::Builtin(id::NUMPY_ARRAY | id::NUMPY_ASARRAY));
    let t = args[0].ty;
    numpy && (t.as_array().is_some_and(|a| a.ndim > 0) || matches!(*t, Kind::Range(_)))
}

/// What an array holds that is made of a list of such elements; none where something else than converting
/// them one by one has to be done.
pub(crate) fn dtype(element: Type, asked: Option<&Arg>) -> Option<Type> {
    if !element.is_element() {
        return None;
    }
    let own = element.strong();
    let Some(asked) = asked else { return Some(own) };
    if element.time().is_some() {
        return None;
    }
    let to = dtype_or(asked, own).ok()?;
    // What does not fit raises when all elements are there.
    let fits = to == own
        || to.is_complex()
        || to.is_float() && !own.is_complex()
        || *to == Kind::Bool && !own.is_complex();
    fits.then_some(to)
}

fn room_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let Kind::DType(t) = *args[0].ty else { return Err(no_match("a comprehension", args)) };
    Ok(Answer::of(Type::array(t, 1, Layout::C)))
}

fn emit_room(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let Kind::DType(t) = *c.types[0] else {
        return Err(Diagnostic::internal("a comprehension without a dtype"));
    };
    // Its positions are `range(n)`.
    Ok(ArrayVal::alloc(cx, t, &[c.args[1][1]], Layout::C, false)?.pack())
}

fn put_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if args[0].ty.as_array().is_none() || !args[2].ty.is_element() {
        return Err(no_match("a comprehension", args));
    }
    Ok(Answer::of(Type::none()))
}

fn emit_put(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let out = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let x = cast::cast(cx, &c.args[2], c.types[2], out.ty.dtype)?;
    let off = cx.b.bin_imm(Op::Imul, c.args[1][0], out.ty.itemsize());
    let p = cx.b.ptr_add(out.data, off);
    store_element(cx, p, out.ty.dtype, &x);
    Ok(vec![])
}
