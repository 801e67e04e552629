//! Iteration: iterators are values, `next` gives the next state, whether there was a value, and the value.

use super::sequence::{element, element_type};
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::constants::absent;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::length::length;
use crate::emit::range::{self, range_start, steps_by_one};
use crate::exc::Class;
use crate::lir::{Op, Ty, Value};
use crate::types::{Const, Container, IterType, Kind, Type, promote};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    BUILTINS_ITER = "builtins.iter" [keeps, computes, lists(Keeps), keywords(Goes)],
    BUILTINS_RANGE = "builtins.range" [computes],
    ITERATOR = "operator._iterator",
    ITER_NEXT = "iter.next" [computes, never_none, lists(Shallow)],
    ITER_DROP = "iter.drop" [computes, lists(Shallow)],
    BUILTINS_ENUMERATE = "builtins.enumerate" [keeps, keywords(Goes)],
    BUILTINS_ZIP = "builtins.zip" [keeps, keywords(Goes)],
    BUILTINS_REVERSED = "builtins.reversed" [keeps, keywords(Goes)],
    REVERSED_OBJECT = "reversed.object" [keeps],
    ENUMERATE_OBJECT = "enumerate.object" [keeps],
    ZIP_OBJECT = "zip.object" [keeps],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["builtins.range"], "start, stop=..., step=...", Body::Lir(range_rule, emit_range))
        .raises()
        .doc("`range(stop)`, `range(start, stop, step)`; ValueError for a zero step."),
    OpDef::new(&["builtins.iter"], "x", Body::Lir(iter_rule, emit_iter))
        .records()
        .consumes()
        .doc("The iterator over a value."),
    OpDef::new(&["operator._iterator"], "x", Body::Lir(|_, a| Ok(Answer::of(a[0].ty)), |_, c| Ok(c.args[0].clone())))
        .internal()
        .aliases()
        .doc("The iterator of an instance of the user's, asked for at once; anything else itself (library use)."),
    OpDef::new(&["iter.next"], "state", Body::Lir(next_rule, emit_next))
        .consumes()
        .doc("One step of an iterator: `(state, has_value, value)`."),
    OpDef::new(&["iter.drop"], "state", Body::Lir(|_, _| Ok(Answer::of(Type::none())), |_, _| Ok(vec![])))
        .writes()
        .internal()
        .doc("A loop is left: its iterator is not needed any more."),
    OpDef::new(&["builtins.enumerate"], "iterable, start=0", Body::Lir(enumerate_rule, emit_enumerate))
        .records()
        .consumes()
        .doc("Pairs of count and value."),
    OpDef::new(&["builtins.zip"], "*xs, strict=False", Body::Lir(zip_rule, emit_zip))
        .records()
        .consumes()
        .spread("iterators.zip_of_list")
        .doc("Tuples of one value each, to the end of the shortest."),
    OpDef::new(&["operator._columns"], "rows", Body::Py("iterators.columns_of_iterators"))
        .only_if(|a| matches!(a[0].ty.kind(), Kind::List(of) if matches!(**of, Kind::Generator(..) | Kind::Var(_))))
        .internal()
        .raises()
        .doc("What iterators in a list give, one of each at a time (library use)."),
    OpDef::new(&["operator._columns"], "rows", Body::Py("iterators.columns"))
        .internal()
        .raises()
        .doc("The columns of sequences in a list (library use)."),
    OpDef::new(&["builtins.zip"], "*xs, strict=False", Body::Py("builtin.zip_strict"))
        .only_if(|a| a[0].konst == Some(Const::Bool(true)))
        .raises()
        .doc("Tuples of one value each; ValueError where one is longer."),
    OpDef::new(&["builtins.reversed"], "x", Body::Lir(reversed_rule, emit_reversed))
        .records()
        .consumes()
        .doc("A sequence from its end."),
    OpDef::new(&["reversed.object"], "x", Body::Py("builtin.reversed_object"))
        .raises()
        .doc("The same as an object that `next` advances."),
    OpDef::new(&["enumerate.object"], "x, start=0", Body::Py("builtin.enumerate_object"))
        .raises()
        .doc("Pairs of count and value, as an object that `next` advances."),
    OpDef::new(&["zip.object"], "*xs, strict=False", Body::Py("builtin.zip_object"))
        .raises()
        .doc("Tuples of one value each, as an object that `next` advances."),
    OpDef::new(&["range.start"], "r", Body::Lir(|_, a| range_attr(a), |_, c| Ok(vec![c.args[0][0]])))
        .property()
        .doc("First value."),
    OpDef::new(&["range.stop"], "r", Body::Lir(|_, a| range_attr(a), |_, c| Ok(vec![c.args[0][1]])))
        .property()
        .doc("Bound."),
    OpDef::new(
        &["range.step"],
        "r",
        Body::Lir(|_, a| range_attr(a), |cx, c| Ok(vec![range::step(cx, &c.args[0], c.types[0])])),
    )
    .property()
    .doc("Step."),
];

fn range_attr(args: &[Arg]) -> Result<Answer> {
    if let Kind::Range(_) = *args[0].ty { Ok(Answer::of(Type::int())) } else { Err(no_match("range", args)) }
}

pub(crate) fn range_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let outgrows = |a: &Arg| a.ty == Type::big_int();
    if cx.vars.promised && args.iter().any(outgrows) {
        return Err(no_match("range()", args));
    }
    if args.iter().any(|a| !a.is_omitted() && !a.ty.is_index()) || args[0].is_omitted() {
        return Err(no_match("range()", args));
    }
    // A step of zero raises when it comes.
    let step = if args[2].is_omitted() { Some(1) } else { args[2].int().filter(|s| *s != 0) };
    Ok(Answer::of(Type::new(Kind::Range(step))))
}

pub(crate) fn emit_range(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let int = |cx: &mut LowerCx<'_>, k: usize| cast::to_i64(cx, c.args[k][0], c.types[k]);
    let mut out = if *c.types[1] == Kind::Ellipsis {
        vec![cx.b.i64(0), int(cx, 0)]
    } else {
        vec![int(cx, 0), int(cx, 1)]
    };
    if let Kind::Range(None) = *c.ret {
        let step = int(cx, 2);
        let ok = cx.b.bin_imm(Op::IcmpNe, step, 0);
        cx.check(ok, Class::ValueError, "range() arg 3 must not be zero");
        out.push(step);
    }
    Ok(out)
}

/// The iterator type over a type, or none.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other value is no iterable")]
pub(crate) fn iterator_of(t: Type) -> Option<Type> {
    Some(match t.kind() {
        Kind::Iter(_) | Kind::Generator(..) => t,
        Kind::Variant(m) if m.iter().all(|t| matches!(**t, Kind::Generator(..))) => t,
        Kind::Range(step) => Type::iter(IterType::Range(*step)),
        Kind::Array(a) if a.ndim > 0 => Type::iter(IterType::Array(t)),
        Kind::List(_) => Type::iter(IterType::List(t)),
        Kind::Container(c, _) => c.iterator(t, false),
        Kind::Str => Type::iter(IterType::Str),
        Kind::Bytes => Type::iter(IterType::Bytes),
        Kind::Tuple(_) | Kind::NamedTuple(..) => Type::iter(IterType::Tuple(t)),
        Kind::Simd(..) => Type::iter(IterType::Tuple(t.tuple_of_lanes()?)),
        _ => return None,
    })
}

/// The tuple of these values. Where one of them never comes, neither does the tuple.
fn together(types: Vec<Type>) -> Type {
    if types.iter().any(|t| **t == Kind::Never) { Type::never() } else { Type::tuple(types) }
}

/// What an iterator type gives, for types without variables.
pub(crate) fn value_type(t: Type) -> Option<Type> {
    if let Kind::Generator(_, y) = *t {
        return Some(y);
    }
    if let Kind::Variant(m) = t.kind() {
        return m.iter().try_fold(Type::never(), |t, x| crate::types::promote::unify(t, value_type(*x)?));
    }
    let Kind::Iter(i) = t.kind() else { return None };
    Some(match i {
        IterType::Range(_) => Type::int(),
        IterType::Container(t) | IterType::Reversed(t) if let Some((c, m)) = t.container() => c.gives(m),
        IterType::Container(_) => return None,
        IterType::Array(t) | IterType::List(t) | IterType::Reversed(t) => element_type(*t)?,
        IterType::Tuple(t) => {
            if t.members()?.is_empty() {
                Type::never()
            } else {
                element_type(*t)?
            }
        }
        IterType::Str => Type::str(),
        IterType::Bytes => Type::int(),
        IterType::Enumerate(t) => together(vec![Type::int(), value_type(*t)?]),
        IterType::Zip(m) => together(m.iter().map(|t| value_type(*t)).collect::<Option<_>>()?),
        IterType::NdIndex(n) => Type::tuple(vec![Type::int(); *n as usize]),
        IterType::NdEnumerate(t) => {
            let a = t.as_array()?;
            Type::tuple(vec![Type::tuple(vec![Type::int(); a.ndim()]), a.dtype])
        }
        IterType::Flat(t) => t.as_array()?.dtype,
    })
}

/// [`value_type`] with what is known of variables.
#[expect(clippy::wildcard_enum_match_arm, reason = "what any other gives follows from its type alone")]
pub(crate) fn value_type_in(cx: &mut TyCx<'_, '_>, t: Type) -> Option<Type> {
    match t.kind() {
        Kind::Iter(IterType::Tuple(t) | IterType::Reversed(t))
            if t.members().is_some_and(|m| !m.is_empty()) =>
        {
            // Lists of yet unknown elements, gone through together, are of one type.
            let members = t.members()?;
            // Among values of other types a bool stays one.
            if cx.vars.promised && promote::bools_meet_numbers(members) {
                let one = members.iter().try_fold(Type::never(), |a, b| promote::unify(a, *b));
                let known = cx.vars.resolve(*t);
                let apart = one.is_none() && !crate::typing::vars::has_unknown(known);
                return apart.then(|| Type::one_of(known.members().unwrap_or_default()));
            }
            let one = if promote::members_meet_others(members) {
                None
            } else {
                members[1..].iter().try_fold(members[0], |a, b| cx.unify_plainly(a, *b))
            };
            // Of several types otherwise, as lowering will find them: with lists as they are known by now.
            one.or_else(|| {
                let known = cx.vars.resolve(*t);
                (!crate::typing::vars::has_unknown(known))
                    .then(|| Type::one_of(known.members().unwrap_or_default()))
            })
        }
        Kind::Iter(IterType::Container(t) | IterType::Reversed(t)) if let Some((c, m)) = t.container() => {
            Some(c.gives(&m.iter().map(|t| cx.vars.known(*t)).collect::<Vec<_>>()))
        }
        Kind::Iter(IterType::Enumerate(t)) => Some(together(vec![Type::int(), value_type_in(cx, *t)?])),
        Kind::Iter(IterType::Zip(m)) => {
            Some(together(m.iter().map(|t| value_type_in(cx, *t)).collect::<Option<_>>()?))
        }
        Kind::Variant(m) => m.iter().try_fold(Type::never(), |t, x| {
            let y = value_type_in(cx, *x)?;
            cx.unify_plainly(t, y)
        }),
        _ => value_type(t).map(|t| cx.vars.known(t)),
    }
}

fn iterator(cx: &TyCx<'_, '_>, arg: &Arg) -> Result<Type> {
    iterator_of(arg.ty).ok_or_else(|| {
        Diagnostic::new(
            Code::NoMatchingOperation,
            format!("a value of type {} cannot be iterated over", cx.vars.resolve(arg.ty)),
        )
    })
}

fn iter_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    Ok(Answer::of(iterator(cx, &args[0])?))
}

/// How a container is gone through. The family of its objects says it (`WALK`), [`super::walk`] finds it.
pub(crate) struct Walk {
    /// The state at the start, or behind the end where it is reversed.
    pub start: fn(&mut LowerCx<'_>, &[Value], Container, bool) -> Val,
    /// As [`step`], for a container of that type.
    pub step: fn(&mut LowerCx<'_>, &[Value], Type, bool) -> Result<(Val, Value, Val)>,
}

/// Turns a value into its iterator's state.
fn start(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Val {
    if let Kind::Range(step) = *t
        && !steps_by_one(step)
    {
        return range_start(cx, v, step);
    }
    if let Some((c, _)) = t.container() {
        return (super::walk(c).start)(cx, v, c, false);
    }
    let mut out = v.to_vec();
    let is_state = matches!(*t, Kind::Iter(_) | Kind::Generator(..) | Kind::Range(_) | Kind::Variant(_));
    if !is_state {
        out.push(cx.b.i64(0));
    }
    out
}

fn emit_iter(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    Ok(start(cx, &c.args[0], c.types[0]))
}

fn next_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[0].ty;
    if !cx.site.is_of_a_look() {
        cx.vars.steps(t);
    }
    given_by(cx, args)
}

/// The same for whoever says itself what a generator is sent.
pub(crate) fn given_by(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[0].ty;
    let value = value_type_in(cx, t).ok_or_else(|| {
        if !matches!(*t, Kind::Iter(IterType::Tuple(_))) {
            return no_match("next()", args);
        }
        Diagnostic::new(
            Code::CannotUnify,
            "the members of this tuple have different types, so a loop variable cannot hold them",
        )
        .help("use the members one by one")
    })?;
    Ok(Answer::of(Type::tuple(vec![t, Type::bool(), value])))
}

fn emit_next(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (state, has, value) = step(cx, &c.args[0], c.types[0])?;
    Ok([state, vec![has], value].concat())
}

/// One step: the next state, whether there is a value, and the value (zeros where there is none).
pub(crate) fn step(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Result<(Val, Value, Val)> {
    if let Kind::Generator(id, _) = *t {
        return crate::emit::generators::step(cx, id, v);
    }
    if let Kind::Variant(m) = t.kind() {
        return variant_step(cx, v, t, m, 0);
    }
    let Kind::Iter(i) = t.kind() else { return Err(Diagnostic::internal(format!("{t} is no iterator"))) };
    let value_ty = value_type(t).ok_or_else(|| Diagnostic::internal("iterator without a value"))?;
    match i {
        IterType::Range(step) => {
            let has = range_has(cx, v, *step);
            let by = match step {
                Some(s) => cx.b.i64(*s),
                None => v[2],
            };
            let mut state = v.to_vec();
            state[0] = cx.b.bin(Op::Iadd, v[0], by);
            if !steps_by_one(*step) {
                state[1] = cx.b.bin_imm(Op::Isub, v[1], 1);
            }
            Ok((state, has, vec![v[0]]))
        }
        IterType::Container(s) | IterType::Reversed(s) if let Some((c, _)) = s.container() => {
            (super::walk(c).step)(cx, v, *s, matches!(i, IterType::Reversed(_)))
        }
        IterType::Container(_) => Err(Diagnostic::internal(format!("a step of {t}"))),
        IterType::Array(s) | IterType::List(s) | IterType::Reversed(s) | IterType::Tuple(s) => {
            indexed(cx, v, *s, value_ty, matches!(i, IterType::Reversed(_)))
        }
        IterType::Str => indexed(cx, v, Type::str(), value_ty, false),
        IterType::Bytes => indexed(cx, v, Type::bytes(), value_ty, false),
        IterType::Enumerate(inner) => {
            let n = v.len() - 1;
            let (mut state, has, value) = step(cx, &v[..n], *inner)?;
            let count = v[n];
            state.push(cx.b.bin_imm(Op::Iadd, count, 1));
            let value = if *value_ty == Kind::Never { vec![] } else { [vec![count], value].concat() };
            Ok((state, has, value))
        }
        IterType::Zip(m) => zip_step(cx, v, m),
        IterType::NdIndex(n) => {
            let (state, has, index) = super::ndindex::step(cx, v, *n as usize)?;
            Ok((state, has, index))
        }
        IterType::NdEnumerate(a) | IterType::Flat(a) => {
            super::ndindex::step_array(cx, v, *a, matches!(i, IterType::NdEnumerate(_)))
        }
    }
}

/// A step of whichever of several generators it is; from the `k`-th on.
fn variant_step(
    cx: &mut LowerCx<'_>,
    v: &[Value],
    t: Type,
    m: &[Type],
    k: usize,
) -> Result<(Val, Value, Val)> {
    let value_ty = value_type(t).ok_or_else(|| Diagnostic::internal("iterator without a value"))?;
    let one = |cx: &mut LowerCx<'_>| -> Result<Val> {
        let parts = split_leaves(&v[1..], m);
        let (state, has, value) = step(cx, &parts[k], m[k])?;
        let from = value_type(m[k]).ok_or_else(|| Diagnostic::internal("iterator without a value"))?;
        let value = cast::joined(cx, &value, from, value_ty, true)?;
        let mut out = vec![v[0]];
        for (j, p) in parts.into_iter().enumerate() {
            out.extend(if j == k { state.clone() } else { p });
        }
        out.push(has);
        out.extend(value);
        Ok(out)
    };
    let all = if k + 1 == m.len() {
        one(cx)?
    } else {
        let is = cx.b.bin_imm(Op::IcmpEq, v[0], k as i64);
        cx.if_else(is, one, |cx| {
            let (state, has, value) = variant_step(cx, v, t, m, k + 1)?;
            Ok([state, vec![has], value].concat())
        })?
    };
    let n = v.len();
    Ok((all[..n].to_vec(), all[n], all[n + 1..].to_vec()))
}

fn range_has(cx: &mut LowerCx<'_>, v: &[Value], step: Option<i64>) -> Value {
    match step {
        Some(1) => cx.b.bin(Op::IcmpSlt, v[0], v[1]),
        Some(-1) => cx.b.bin(Op::IcmpSgt, v[0], v[1]),
        Some(_) | None => cx.b.bin_imm(Op::IcmpNe, v[1], 0),
    }
}

/// A sequence and a position; the length is looked at in each round, since a list may change.
fn indexed(
    cx: &mut LowerCx<'_>,
    v: &[Value],
    s: Type,
    value_ty: Type,
    reversed: bool,
) -> Result<(Val, Value, Val)> {
    let n = v.len() - 1;
    let (seq, at) = (&v[..n], v[n]);
    let len = length(cx, seq, s)?;
    let has = if reversed {
        // Counts down from the length at the start; a list that shrank ends the iteration.
        let positive = cx.b.bin_imm(Op::IcmpSgt, at, 0);
        let inside = cx.b.bin(Op::IcmpSle, at, len);
        cx.and(positive, inside)
    } else {
        cx.b.bin(Op::IcmpSlt, at, len)
    };
    let empty = s.members().is_some_and(<[Type]>::is_empty);
    let position = if reversed { cx.b.bin_imm(Op::Isub, at, 1) } else { at };
    let value = if empty {
        vec![]
    } else {
        cx.if_else(has, |cx| element(cx, seq, s, position), |cx| Ok(absent(&mut cx.b, value_ty)))?
    };
    let next = if reversed { position } else { cx.b.bin_imm(Op::Iadd, at, 1) };
    let mut state = seq.to_vec();
    state.push(next);
    Ok((state, has, value))
}

/// All inner iterators step, one after the other, until one has no value.
fn zip_step(cx: &mut LowerCx<'_>, v: &[Value], m: &[Type]) -> Result<(Val, Value, Val)> {
    let states = split_leaves(v, m);
    let mut has = cx.b.bool(!m.is_empty());
    let (mut state, mut value, mut held) = (vec![], vec![], vec![]);
    for (s, t) in states.iter().zip(m) {
        let value_ty = value_type(*t).ok_or_else(|| Diagnostic::internal("zip"))?;
        let n = s.len();
        let r = cx.if_else(
            has,
            |cx| {
                // Values taken before one iterator raises are nobody's yet.
                let (s, h, x) = match &held[..] {
                    [] => step(cx, s, *t)?,
                    held => cx.guarded(held, |cx| step(cx, s, *t))?,
                };
                Ok([s, vec![h], x].concat())
            },
            |cx| {
                let no = cx.b.bool(false);
                Ok([s.clone(), vec![no], absent(&mut cx.b, value_ty)].concat())
            },
        )?;
        state.extend(&r[..n]);
        has = r[n];
        let taken = &r[n + 1..];
        held.extend(taken.iter().zip(value_ty.leaves()).filter(|(_, leaf)| leaf.is_ref).map(|(v, _)| *v));
        value.extend(taken);
    }
    // Values taken before one iterator ended are dropped.
    let types: Vec<Type> = m.iter().filter_map(|t| value_type(*t)).collect();
    let comes = !types.iter().any(|t| **t == Kind::Never);
    let tuple = Type::tuple(types);
    if tuple.is_counted() {
        let vals = value.clone();
        let kept = cx.if_else(
            has,
            |_| Ok(vals.clone()),
            |cx| {
                cx.release(&vals, tuple);
                Ok(absent(&mut cx.b, tuple))
            },
        )?;
        value = kept;
    }
    Ok((state, has, if comes { value } else { vec![] }))
}

fn enumerate_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !args[1].ty.is_index() {
        return Err(no_match("enumerate()", args));
    }
    Ok(Answer::of(Type::iter(IterType::Enumerate(iterator(cx, &args[0])?))))
}

fn emit_enumerate(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let mut out = start(cx, &c.args[0], c.types[0]);
    out.push(cast::to_i64(cx, c.args[1][0], c.types[1]));
    Ok(out)
}

fn zip_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if args[0].flag("strict")? {
        return Err(no_match("zip(strict=True)", args));
    }
    let parts = args[1..].iter().map(|a| iterator(cx, a)).collect::<Result<_>>()?;
    Ok(Answer::of(Type::iter(IterType::Zip(parts))))
}

fn emit_zip(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let mut out = vec![];
    for (v, t) in c.args.iter().zip(c.types).skip(1) {
        out.extend(start(cx, v, *t));
    }
    Ok(out)
}

fn reversed_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[0].ty;
    let has_places = t.as_array().is_some_and(|a| a.ndim > 0)
        || matches!(*t, Kind::List(_) | Kind::Str | Kind::Bytes | Kind::Tuple(_) | Kind::NamedTuple(..));
    let reversed = if let Kind::Range(step) = *t {
        Some(Type::iter(IterType::Range(step.and_then(i64::checked_neg))))
    } else if t.members().is_some_and(<[Type]>::is_empty) {
        Some(Type::iter(IterType::Tuple(t)))
    } else if let Some((c, _)) = t.container() {
        c.is_reversible().then(|| c.iterator(t, true))
    } else {
        has_places.then(|| Type::iter(IterType::Reversed(t)))
    };
    reversed.map(Answer::of).ok_or_else(|| no_match("reversed()", args))
}

fn emit_reversed(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let v = &c.args[0];
    if let Some((of, _)) = c.types[0].container() {
        return Ok((super::walk(of).start)(cx, v, of, true));
    }
    let n = length(cx, v, c.types[0])?;
    if let Kind::Range(step) = *c.types[0] {
        let by = match step {
            Some(s) => cx.b.i64(s),
            None => v[2],
        };
        let last = cx.b.bin_imm(Op::Isub, n, 1);
        let span = cx.b.bin(Op::Imul, last, by);
        let first = cx.b.bin(Op::Iadd, v[0], span);
        let by_one = matches!(*c.ret, Kind::Iter(IterType::Range(s)) if steps_by_one(s));
        let end = if by_one { cx.b.bin(Op::Isub, v[0], by) } else { n };
        let mut out = vec![first, end];
        if let Kind::Iter(IterType::Range(None)) = *c.ret {
            out.push(cx.b.un(Op::Ineg, by));
        }
        return Ok(out);
    }
    let mut out = v.clone();
    out.push(n);
    Ok(out)
}

/// Runs `body` for each value of an iterable; values come with references of their own. The iterable is only
/// borrowed.
pub(crate) fn for_each(
    cx: &mut LowerCx<'_>,
    v: &[Value],
    t: Type,
    body: impl FnOnce(&mut LowerCx<'_>, Val, Type) -> Result<()>,
) -> Result<()> {
    let it = iterator_of(t).ok_or_else(|| Diagnostic::internal(format!("{t} is not iterable")))?;
    let value_ty = value_type(it).ok_or_else(|| Diagnostic::internal("iterator"))?;
    let first = start(cx, v, t);
    let tys: Vec<Ty> = first.iter().map(|x| cx.b.ty(*x)).collect();
    let (head, inside, exit) = (cx.b.new_block(&tys), cx.b.new_block(&[]), cx.b.new_block(&[]));
    cx.b.jump(head, &first);
    cx.b.switch_to(head);
    let state = cx.b.params(head);
    let (next, has, value) = step(cx, &state, it)?;
    cx.b.brif(has, inside, &[], exit, &[]);
    cx.b.switch_to(inside);
    body(cx, value, value_ty)?;
    cx.b.jump(head, &next);
    cx.b.switch_to(exit);
    Ok(())
}
