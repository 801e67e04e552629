//! Comprehensions that fill the array which would be made of their list (`ssa/opt/parallel/collect.rs`).

use super::create::dtype_or;
use super::effects::Own;
use super::{Body, OpDef, id, object};
use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, contiguous_strides, store_element};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{Const, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    ARRAY_HAS_PLACES = "array.has_places",
    ARRAY_ROOM = "array.room",
    ARRAY_PUT_AT = "array.put_at",
    ARRAY_PLACES = "array.places",
    ARRAY_PUT_BEHIND = "array.put_behind",
    ARRAY_NESTED_RAGGED = "array.nested_ragged",
    ARRAY_NESTED_SIZE = "array.nested_size",
    ARRAY_NESTED_FULL = "array.nested_full",
    ARRAY_NESTED_SPACE = "array.nested_space",
    ARRAY_NESTED_BEHIND = "array.nested_behind",
    ARRAY_NESTED = "array.nested",
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
    OpDef::new(&["array.put_at"], "out, k, x", Body::Lir(put_rule, emit_put))
        .times()
        .writes()
        .unordered()
        .internal()
        .doc("Sets the element of an iteration."),
    OpDef::new(&["array.put_behind"], "out, base, k, x", Body::Lir(put_rule, emit_put))
        .times()
        .writes()
        .unordered()
        .internal()
        .doc("Sets the element of an iteration in a row that begins somewhere."),
    OpDef::new(&["array.places"], "x", Body::Py("bins.indices"))
        .only_if(|a| gives_places(a[0].ty))
        .raises()
        .reads()
        .internal()
        .doc("The positions of an array or a range."),
    OpDef::new(&["array.nested_ragged"], "ragged, known, places, level", Body::Lir(count_rule, emit_ragged))
        .internal()
        .doc("The outermost level at which rows differ in length, 0 for none."),
    OpDef::new(&["array.nested_size"], "known, places", Body::Lir(count_rule, emit_size))
        .internal()
        .doc("How many elements rows of a level have."),
    OpDef::new(
        &["array.nested_full"],
        "flat, base, places",
        Body::Lir(|_, _| Ok(Answer::of(Type::bool())), emit_full),
    )
    .internal()
    .doc("Whether there is no room for one more row."),
    OpDef::new(
        &["array.nested_space"],
        "flat, base, places, outer, *sizes",
        Body::Lir(|_, a| Ok(Answer::of(a[0].ty)), emit_space),
    )
    .raises()
    .reads()
    .internal()
    .doc("An array with what is there already and room for one more row."),
    OpDef::new(&["array.nested_behind"], "base, places", Body::Lir(count_rule, emit_behind))
        .internal()
        .doc("Where the next row begins."),
    OpDef::new(&["array.nested"], "flat, ragged, base, outer, *sizes", Body::Lir(nested_rule, emit_nested))
        .raises()
        .reads()
        .owned_by(|_, _| Own::Aliases)
        .may_share()
        .internal()
        .doc("The array of rows that lie behind each other; ValueError where they differ in length."),
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
    numpy && gives_places(args[0].ty)
}

fn gives_places(t: Type) -> bool {
    t.as_array().is_some_and(|a| a.ndim > 0) || matches!(*t, Kind::Range(_))
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

/// Positions are `range(n)`.
fn places(c: &OpCall<'_>, k: usize) -> Value {
    c.args[k][1]
}

fn count_rule(_: &mut TyCx<'_, '_>, _: &[Arg]) -> Result<Answer> {
    Ok(Answer::of(Type::int()))
}

fn emit_ragged(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (before, known, level) = (c.args[0][0], c.args[1][0], c.args[3][0]);
    let (is_known, zero) = (cx.b.bin_imm(Op::IcmpSge, known, 0), cx.b.i64(0));
    let other = cx.b.bin(Op::IcmpNe, places(c, 2), known);
    let differs = cx.and(is_known, other);
    // Levels count from 1; 0 is none.
    let (none, less) = (cx.b.bin(Op::IcmpEq, before, zero), cx.b.bin(Op::IcmpSlt, level, before));
    let further_out = cx.or(none, less);
    let tells = cx.and(differs, further_out);
    Ok(vec![cx.b.select(tells, level, before)])
}

fn emit_size(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let known = c.args[0][0];
    let unknown = cx.b.bin_imm(Op::IcmpSlt, known, 0);
    Ok(vec![cx.b.select(unknown, places(c, 1), known)])
}

fn emit_full(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let flat = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let end = cx.b.bin(Op::Iadd, c.args[1][0], places(c, 2));
    Ok(vec![cx.b.bin(Op::IcmpSgt, end, flat.shape[0])])
}

fn emit_behind(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    Ok(vec![cx.b.bin(Op::Iadd, c.args[0][0], places(c, 1))])
}

fn put_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if args[0].ty.as_array().is_none() || !args[args.len() - 1].ty.is_element() {
        return Err(no_match("a comprehension", args));
    }
    Ok(Answer::of(Type::none()))
}

fn emit_put(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let out = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let last = c.args.len() - 1;
    let x = cast::cast(cx, &c.args[last], c.types[last], out.ty.dtype)?;
    let base = c.args[1][0];
    let place = if last == 3 { cx.b.bin(Op::Iadd, base, c.args[2][0]) } else { base };
    let off = cx.b.bin_imm(Op::Imul, place, out.ty.itemsize());
    let p = cx.b.ptr_add(out.data, off);
    store_element(cx, p, out.ty.dtype, &x);
    Ok(vec![])
}

/// More elements than this are made room for as they come.
const AT_ONCE: i64 = 1 << 27;

/// As many elements as all rows have if they are like those that are known, where that is enough; else twice as many
/// as before.
fn emit_space(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let old = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let (base, row) = (c.args[1][0], places(c, 2));
    let end = cx.b.bin(Op::Iadd, base, row);
    let (enough, beyond) = (cx.b.i64(AT_ONCE), cx.b.i64(AT_ONCE + 1));
    let mut total = row;
    let sizes = std::iter::once(places(c, 3)).chain(c.args[4..].iter().map(|n| n[0]));
    for n in sizes {
        let n = cx.b.bin(Op::Smin, n, beyond);
        let (product, many) = (cx.b.bin(Op::Imul, total, n), cx.b.bin(Op::IcmpSgt, total, enough));
        total = cx.b.select(many, beyond, product);
    }
    let (fits, small) = (cx.b.bin(Op::IcmpSle, end, total), cx.b.bin(Op::IcmpSle, total, enough));
    let known = cx.and(fits, small);
    let twice = cx.b.bin(Op::Iadd, old.shape[0], old.shape[0]);
    let more = cx.b.bin(Op::Smax, twice, end);
    let room = cx.b.select(known, total, more);
    let new = ArrayVal::alloc(cx, old.ty.dtype, &[room], Layout::C, false)?;
    let bytes = cx.b.bin_imm(Op::Imul, base, new.ty.itemsize());
    cx.helper(&object::mem_copy, &[new.data, old.data, bytes]);
    Ok(new.pack())
}

fn nested_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let flat = args[0].ty.as_array().ok_or_else(|| no_match("a comprehension", args))?;
    Ok(Answer::of(Type::array(flat.dtype, args.len() - 3, Layout::C)))
}

fn emit_nested(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let flat = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let Kind::Array(ty) = *c.ret else { return Err(Diagnostic::internal("array type")) };
    let (ragged, zero) = (c.args[1][0], cx.b.i64(0));
    let mut shape = vec![places(c, 3)];
    // Where there was no row there is nothing in it.
    shape.extend(c.args[4..].iter().map(|n| cx.b.bin(Op::Smax, n[0], zero)));
    for level in 1..shape.len() {
        let same = cx.b.bin_imm(Op::IcmpNe, ragged, level as i64);
        let known = if level == 1 { "{},".into() } else { vec!["{}"; level].join(", ") };
        let text = format!(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after {level} \
             dimensions. The detected shape was ({known}) + inhomogeneous part."
        );
        cx.check_format(same, Class::ValueError, &text, &shape[..level]);
    }
    let strides = contiguous_strides(cx, &shape, ty.itemsize(), Layout::C);
    Ok(ArrayVal { ty, owner: flat.owner, data: flat.data, shape, strides, frozen: None }.pack())
}
