//! What all sequences share: length, indices and slices, unpacking, and indexing of ranges.
//!
//! A family with elements of its own (lists, strings, arrays) adds rows for `operator.getitem` in its own
//! file; this one knows how to take an element of any of them, for unpacking and iteration.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::ArrayVal;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::length::length;
use crate::emit::range::{self, range_length};
use crate::emit::slice::adjust_slice;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{Const, Container, Kind, Type, promote};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    SLICE_START = "slice.start",
    SLICE_STOP = "slice.stop",
    SLICE_STEP = "slice.step",
    UNPACK_EX = "unpack.ex" [keywords(Goes)],
    UNPACK_SEQUENCE = "unpack.sequence" [keywords(Goes)],
    BUILTINS_LEN = "builtins.len" [computes, lists(Length), keywords(Takes)],
    BUILTINS_SLICE = "builtins.slice" [computes, total],
    MATCH_SEQUENCE = "match.sequence" [total, never_none],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["builtins.len"],
        "x",
        Body::Lir(len_rule, |cx, c| Ok(vec![length(cx, &c.args[0], c.types[0])?])),
    )
    .raises()
    .reads()
    .of_shape()
    .doc("Number of elements."),
    OpDef::new(&["builtins.slice"], "a, b=..., step=None", Body::Lir(slice_rule, emit_slice))
        .consumes()
        .doc("`slice(start, stop, step)`."),
    OpDef::new(&["operator.getitem"], "seq, index", Body::Lir(range_item_rule, emit_range_item))
        .raises()
        .doc("`range(...)[i]`."),
    OpDef::new(
        &["operator.getitem"],
        "seq, part",
        Body::Lir(
            |_, a| {
                if matches!(*a[0].ty, Kind::Range(_)) && matches!(*a[1].ty, Kind::Slice(_)) {
                    Ok(Answer::of(Type::new(Kind::Range(None))))
                } else {
                    Err(no_match("[]", a))
                }
            },
            |cx, c| {
                let n = length(cx, &c.args[0], c.types[0])?;
                let s = adjust_slice(cx, &c.args[1], c.types[1], n)?;
                let step = range::step(cx, &c.args[0], c.types[0]);
                let at = |cx: &mut LowerCx<'_>, i: Value| {
                    let off = cx.b.bin(Op::Imul, i, step);
                    cx.b.bin(Op::Iadd, c.args[0][0], off)
                };
                Ok(vec![at(cx, s.start), at(cx, s.stop), cx.b.bin(Op::Imul, s.step, step)])
            },
        ),
    )
    .raises()
    .doc("`range(...)[a:b:c]`."),
    OpDef::new(&["slice.start"], "s", Body::Lir(|_, a| slice_part(a, 0), |_, c| slice_value(c, 0)))
        .property()
        .doc("First index of a slice."),
    OpDef::new(&["slice.stop"], "s", Body::Lir(|_, a| slice_part(a, 1), |_, c| slice_value(c, 1)))
        .property()
        .doc("Index behind the last of a slice."),
    OpDef::new(&["slice.step"], "s", Body::Lir(|_, a| slice_part(a, 2), |_, c| slice_value(c, 2)))
        .property()
        .doc("Step of a slice."),
    OpDef::new(
        &["slice.indices"],
        "s, length",
        Body::Lir(
            |_, a| {
                if a[1].ty.is_index() {
                    Ok(Answer::of(Type::tuple(vec![Type::int(); 3])))
                } else {
                    Err(no_match("slice.indices", a))
                }
            },
            |cx, c| {
                let n = cast::to_i64(cx, c.args[1][0], c.types[1]);
                let ok = cx.b.bin_imm(Op::IcmpSge, n, 0);
                cx.check(ok, Class::ValueError, "length should not be negative");
                let s = adjust_slice(cx, &c.args[0], c.types[0], n)?;
                Ok(vec![s.start, s.stop, s.step])
            },
        ),
    )
    .raises()
    .doc("`(start, stop, step)` for a sequence of that length."),
    OpDef::new(
        &["match.sequence"],
        "x",
        Body::Lir(match_sequence_rule, |cx, c| {
            let optional = c.types[0].as_optional().is_some();
            Ok(vec![if optional {
                c.args[0][0]
            } else {
                cx.b.bool(!matches!(*c.types[0], Kind::Str | Kind::Bytes))
            }])
        }),
    )
    .doc("Whether a sequence pattern may match."),
    OpDef::new(&["range.index"], "r, value", Body::Py("containers.range_index"))
        .raises()
        .doc("Position of a number; ValueError."),
    OpDef::new(&["range.count"], "r, value", Body::Py("containers.range_count")).doc("1 or 0."),
    OpDef::new(
        &["operator.contains"],
        "r, value",
        Body::Lir(
            |_, a| {
                if matches!(*a[0].ty, Kind::Range(_)) && a[1].ty.is_index() {
                    Ok(Answer::of(Type::bool()))
                } else {
                    Err(no_match("in", a))
                }
            },
            emit_range_contains,
        ),
    )
    .doc("`value in range(...)`."),
    OpDef::new(&["operator.contains"], "r, value", Body::Py("containers.range_contains"))
        .only_if(|a| matches!(*a[0].ty, Kind::Range(_)) && !crate::types::promote::is_variant(a[1].ty))
        .raises()
        .doc("`value in range(...)`, asked number by number as of what is no integer."),
];

fn match_sequence_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if crate::types::promote::is_variant(args[0].ty) {
        return Err(no_match("a sequence pattern", args));
    }
    let is = |t: Type| {
        matches!(*t, Kind::Tuple(_) | Kind::NamedTuple(..) | Kind::List(_) | Kind::Range(_))
            || t.container().is_some_and(|(c, _)| c.is_sequence())
    };
    if args[0].ty.as_optional().is_some_and(is) {
        return Ok(Answer::of(Type::bool()));
    }
    Ok(Answer::constant(Const::Bool(is(args[0].ty))))
}

// ---- length

fn len_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[0].ty;
    if t.as_array().is_some_and(|a| a.ndim == 0) {
        return Err(Diagnostic::new(Code::NoMatchingOperation, "len() of unsized object"));
    }
    let has_length = matches!(
        *t,
        Kind::Tuple(_)
            | Kind::NamedTuple(..)
            | Kind::Str
            | Kind::Bytes
            | Kind::List(_)
            | Kind::Container(..)
            | Kind::Range(_)
            | Kind::Array(_)
    );
    if !has_length {
        return Err(no_match("len()", args));
    }
    let known = t
        .members()
        .map(<[Type]>::len)
        .or_else(|| args[0].text().map(|s| s.chars().count()))
        .or_else(|| args[0].konst.as_ref()?.as_bytes().map(<[u8]>::len));
    Ok(Answer::of(Type::int()).known(known.map(|n| Const::Int(n as i64))))
}

// ---- slices

/// `slice(stop)` has one operand.
fn emit_slice(_: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    Ok(c.args.concat())
}

fn slice_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let none = Arg::constant(Const::None);
    let args =
        if *args[1].ty == Kind::Ellipsis { &[none, args[0].clone(), args[2].clone()][..] } else { args };
    for a in args {
        let ok = a.is_none() || a.ty.is_index() || matches!(*a.ty, Kind::Optional(t) if t.is_index());
        if !ok {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                format!("slice indices must be integers or None, not {}", a.ty),
            ));
        }
    }
    let konst: Option<Vec<Const>> = args.iter().map(|a| a.konst.clone()).collect();
    Ok(Answer::of(Type::new(Kind::Slice([args[0].ty, args[1].ty, args[2].ty])))
        .known(konst.map(Const::Tuple)))
}

fn slice_part(args: &[Arg], k: usize) -> Result<Answer> {
    let Kind::Slice(m) = *args[0].ty else { return Err(no_match("slice", args)) };
    Ok(Answer::of(m[k]))
}
fn slice_value(c: &OpCall<'_>, k: usize) -> Result<Val> {
    let Kind::Slice(m) = *c.types[0] else { return Err(Diagnostic::internal("slice")) };
    Ok(split_leaves(&c.args[0], &m)[k].clone())
}

// ---- ranges

fn range_item_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if matches!(*args[0].ty, Kind::Range(_)) && args[1].ty.is_index() {
        Ok(Answer::of(Type::int()))
    } else {
        Err(no_match("[]", args))
    }
}

fn emit_range_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let n = length(cx, &c.args[0], c.types[0])?;
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let at = cx.checked_index(i, n, "range object index out of range");
    Ok(vec![element(cx, &c.args[0], c.types[0], at)?[0]])
}

fn emit_range_contains(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let v = &c.args[0];
    let x = cast::to_i64(cx, c.args[1][0], c.types[1]);
    let step = range::step(cx, v, c.types[0]);
    let n = range_length(cx, v[0], v[1], step);
    let off = cx.b.bin(Op::Isub, x, v[0]);
    let (q, r) = (cx.b.bin(Op::Sdiv, off, step), cx.b.bin(Op::Srem, off, step));
    let exact = cx.b.bin_imm(Op::IcmpEq, r, 0);
    let inside = cx.b.bin(Op::IcmpUlt, q, n);
    Ok(vec![cx.and(exact, inside)])
}

// ---- elements of any sequence

/// Element type of a sequence that can be indexed from 0.
pub(crate) fn element_type(t: Type) -> Option<Type> {
    if let Some(a) = t.as_array() {
        use crate::types::{ArrayType, Layout};
        let layout = if a.layout == Layout::C || a.ndim == 1 { Layout::C } else { Layout::A };
        let row = || ArrayType { ndim: a.ndim - 1, layout, ..a }.ty();
        let value = if a.ndim == 1 { a.dtype.element_value() } else { None };
        return (a.ndim > 0).then(|| value.unwrap_or_else(row));
    }
    if let Kind::List(e) = *t {
        return Some(e);
    }
    if let Kind::Container(Container::Tuple, m) = t.kind() {
        return Some(m[0]);
    }
    if *t == Kind::Str {
        return Some(t);
    }
    if let Kind::Range(_) | Kind::Bytes = *t {
        return Some(Type::int());
    }
    let m = t.members().filter(|m| !m.is_empty())?;
    let one = if promote::members_meet_others(m) {
        None
    } else {
        m.iter().try_fold(Type::never(), |t, x| promote::unify(t, *x))
    };
    Some(one.unwrap_or_else(|| Type::one_of(m)))
}

/// The element at an index known to be in range, with references of its own.
#[expect(clippy::wildcard_enum_match_arm, reason = "of any other type there is no element")]
pub(crate) fn element(cx: &mut LowerCx<'_>, v: &[Value], t: Type, at: Value) -> Result<Val> {
    let elem = element_type(t).ok_or_else(|| Diagnostic::internal(format!("elements of {t}")))?;
    Ok(match t.kind() {
        Kind::Array(a) => {
            let a_val = ArrayVal::new(cx, v, t)?;
            if a.ndim == 1 && a.dtype.record().is_none() {
                return Ok(a_val.load(cx, &[at]));
            }
            let data = a_val.address(cx, &[at]);
            if a.ndim == 1 && a.dtype.chars().is_some() {
                return Ok(super::chars::load_value(cx, data, a.dtype));
            }
            let Kind::Array(ty) = *elem else { return Err(Diagnostic::internal("row type")) };
            let row = ArrayVal {
                ty,
                owner: a_val.owner,
                data,
                shape: a_val.shape[1..].to_vec(),
                strides: a_val.strides[1..].to_vec(),
                frozen: a_val.frozen,
            }
            .pack();
            cx.retain(&row, elem);
            row
        }
        Kind::List(_) | Kind::Container(Container::Tuple, _) => super::list::element(cx, v[0], elem, at),
        Kind::Str => vec![cx.helper_value(&super::string::str_char, &[v[0], at])],
        Kind::Bytes => vec![crate::emit::byte::byte_at(cx, v[0], at)],
        Kind::Range(_) => {
            let step = range::step(cx, v, t);
            let off = cx.b.bin(Op::Imul, at, step);
            vec![cx.b.bin(Op::Iadd, v[0], off)]
        }
        Kind::Tuple(m) | Kind::NamedTuple(_, m) => {
            let made = cx.made.len();
            let out = member(cx, &split_leaves(v, m), m, elem, at)?;
            cx.retain(&out, elem);
            cx.release_made(made);
            out
        }
        _ => return Err(Diagnostic::internal(format!("elements of {t}"))),
    })
}

/// Member number `at` of members of several types as one of the type of all.
pub(super) fn member(
    cx: &mut LowerCx<'_>,
    parts: &[Val],
    types: &[Type],
    to: Type,
    at: Value,
) -> Result<Val> {
    let (mut all, mut fit, mut which) = (vec![], vec![], None);
    for (p, t) in parts.iter().zip(types) {
        all.push(cast::cast(cx, p, *t, to)?);
        let (fits, t) = cast::fits(cx, p, *t, to).unzip();
        which = which.or(t);
        fit.push(vec![fits.unwrap_or_else(|| cx.b.bool(true))]);
    }
    // Only the one that is asked for has to be a value of the type.
    if let Some(t) = which {
        let fits = pick(cx, &fit, at)[0];
        cx.check(fits, Class::OverflowError, &cast::not_held(t));
    }
    Ok(pick(cx, &all, at))
}

/// Member number `at` of members of one type, by comparing the index with each.
pub(crate) fn pick(cx: &mut LowerCx<'_>, parts: &[Val], at: Value) -> Val {
    let mut out = parts.last().cloned().unwrap_or_default();
    for (k, p) in parts.iter().enumerate().rev().skip(1) {
        let here = cx.b.bin_imm(Op::IcmpEq, at, k as i64);
        out = out.iter().zip(p).map(|(o, v)| cx.b.select(here, *v, *o)).collect();
    }
    out
}

// ---- unpacking

/// [`element_type`] with what is known of a variable.
pub(crate) fn element_type_in(cx: &TyCx<'_, '_>, t: Type) -> Option<Type> {
    element_type(t).map(|t| cx.vars.known(t))
}

pub(crate) fn unpack_type(cx: &mut TyCx<'_, '_>, t: Type, n: usize) -> Option<Type> {
    Some(Type::tuple(vec![element_type_in(cx, t)?; n]))
}

/// `a, b = seq` for a sequence whose length is checked at run time.
pub(crate) fn emit_unpack(cx: &mut LowerCx<'_>, v: &[Value], t: Type, n: usize) -> Result<Val> {
    let len = length(cx, v, t)?;
    let enough = cx.b.bin_imm(Op::IcmpSge, len, n as i64);
    cx.check_format(
        enough,
        Class::ValueError,
        &format!("not enough values to unpack (expected {n}, got {{}})"),
        &[len],
    );
    let exact = cx.b.bin_imm(Op::IcmpEq, len, n as i64);
    cx.check(exact, Class::ValueError, &format!("too many values to unpack (expected {n})"));
    let mut out = vec![];
    for k in 0..n {
        let at = cx.b.i64(k as i64);
        out.extend(element(cx, v, t, at)?);
    }
    Ok(out)
}

/// `a, *b, c = seq`: the middle is a list.
pub(crate) fn unpack_ex_type(cx: &mut TyCx<'_, '_>, t: Type, before: usize, after: usize) -> Option<Type> {
    let e = element_type_in(cx, t)?;
    let mut m = vec![e; before];
    m.push(cx.new_list(e).ok()?);
    m.extend(vec![e; after]);
    Some(Type::tuple(m))
}

pub(crate) fn emit_unpack_ex(
    cx: &mut LowerCx<'_>,
    v: &[Value],
    t: Type,
    before: usize,
    after: usize,
) -> Result<Val> {
    let e = element_type(t).ok_or_else(|| Diagnostic::internal("elements"))?;
    let len = length(cx, v, t)?;
    let least = (before + after) as i64;
    let enough = cx.b.bin_imm(Op::IcmpSge, len, least);
    cx.check_format(
        enough,
        Class::ValueError,
        &format!("not enough values to unpack (expected at least {least}, got {{}})"),
        &[len],
    );
    let mut out = vec![];
    for k in 0..before {
        let at = cx.b.i64(k as i64);
        out.extend(element(cx, v, t, at)?);
    }
    let count = cx.b.bin_imm(Op::Isub, len, least);
    let list = super::list::make(cx, e, count);
    cx.for_range(count, &[], |cx, i, _| {
        let at = cx.b.bin_imm(Op::Iadd, i, before as i64);
        let x = element(cx, v, t, at)?;
        super::list::push_owned(cx, list, e, &x);
        Ok(vec![])
    })?;
    out.push(list);
    for k in 0..after {
        let at = cx.b.bin_imm(Op::Isub, len, (after - k) as i64);
        out.extend(element(cx, v, t, at)?);
    }
    Ok(out)
}

/// Dimensions and element type of nested sequences; arrays in them count with all of theirs.
pub(crate) fn nested(t: Type) -> Option<(usize, Type)> {
    if t.is_element() {
        return Some((0, t));
    }
    if let Some(a) = t.as_array() {
        return Some((a.ndim(), a.dtype));
    }
    if let Some(m) = t.members() {
        if m.is_empty() {
            return Some((1, Type::f64()));
        }
        let parts: Vec<(usize, Type)> = m.iter().map(|t| nested(*t)).collect::<Option<_>>()?;
        let dims = parts[0].0;
        // Each member is an array of its own first, so Python numbers count as float64 and int64 here.
        let t = parts.iter().skip(1).fold(parts[0].1, |t, p| promote::result_type(t.strong(), p.1.strong()));
        return parts.iter().all(|p| p.0 == dims).then_some((dims + 1, t));
    }
    if !matches!(*t, Kind::List(_) | Kind::Range(_)) {
        return None;
    }
    let e = element_type(t)?;
    if *e == Kind::Never {
        return Some((1, Type::f64()));
    }
    let (n, e) = nested(e)?;
    Some((n + 1, e))
}
