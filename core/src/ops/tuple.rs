//! Tuples and named tuples: their members are scalars in registers, so most operations move no data at all.

use super::{Body, OpDef, Own, compare, list, sequence};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::exc::Class;
use crate::lir::{Op, Ty, Value};
use crate::types::{ClassDef, Const, Kind, Type, promote};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    CONTAINS = "operator.contains" [never_none, keywords(FindsOrGoes)],
    TUPLE_BUILD = "tuple.build" [computes, total, lists(Keeps), keywords(Takes)],
    SPREAD_APPEND = "spread.append",
    SPREAD_EXTEND = "spread.extend",
    TUPLE_INDEX = "tuple.index",
    TUPLE_COUNT = "tuple.count",
    KWARGS_BUILD = "kwargs.build" [computes, total, lists(Keeps), keywords(Takes)],
}

pub(crate) static OPS: &[OpDef] = &[
    BUILD,
    OpDef::new(&["unpack.sequence"], "seq, count", Body::Lir(unpack_rule, emit_unpack)).raises()
        .owned_by(|t, _| if t[0].members().is_some() { Own::Aliases } else { Own::Fresh })
        .doc("The members of a sequence of known length: `a, b = seq`."),
    OpDef::new(&["kwargs.keys"], "kw", Body::Lir(|_, a| keywords(a).map(|(c, _)| Answer::constant(Const::Tuple(c.fields.iter().map(|f| Const::Str(f.as_str().into())).collect()))), |_, _| {
        Err(Diagnostic::internal("names of keyword arguments are constants"))
    })).doc("Names of the arguments that `**kwargs` took."),
    OpDef::new(&["kwargs.copy"], "kw", Body::Lir(|_, a| keywords(a).map(|_| Answer::of(a[0].ty)), |_, c| Ok(c.args[0].clone()))).aliases().doc("The same entries, which nobody changes."),
    OpDef::new(&["kwargs.values"], "kw", Body::Lir(|_, a| keywords(a).map(|(_, m)| Answer::of(Type::tuple(m.to_vec()))), |_, c| Ok(c.args[0].clone()))).aliases().doc("Their values."),
    OpDef::new(&["kwargs.items"], "kw", Body::Lir(
        |_, a| keywords(a).map(|(_, m)| Answer::of(Type::tuple(m.iter().map(|t| Type::tuple(vec![Type::str(), *t])).collect()))),
        |cx, c| {
            let Kind::NamedTuple(class, m) = c.types[0].kind() else { return Ok(vec![]) };
            let mut out = vec![];
            for (name, value) in class.fields.iter().zip(split_leaves(&c.args[0], m)) {
                // Constant strings are counted by nobody.
                out.push(crate::emit::constants::string(&mut cx.b, name));
                out.extend(value);
            }
            Ok(out)
        },
    )).aliases().doc("Names and values."),
    OpDef::new(
        &["kwargs.build"],
        "*items",
        Body::Lir(build_keywords, |_, c| Ok(c.args.chunks(2).flat_map(|pair| pair[1].clone()).collect())),
    )
    .consumes()
    .doc("A dict of constant keys that nobody changes, whose values keep their types."),
    OpDef::new(&["unpack.sequence"], "it, count", Body::Py("builtin.unpack_iterator")).only_if(is_gone_through).raises().doc("The first values of an iterator or a dict, which must be all of them: `a, b = map(int, words)`."),
    OpDef::new(&["operator.contains"], "it, x", Body::Py("builtin.in_iterator")).only_if(is_iterator).raises().doc("Whether an iterator comes to a value that is equal; what it came by is gone."),
    OpDef::new(&["unpack.ex"], "it, before, after", Body::Py("builtin.unpack_rest")).only_if(is_gone_through).raises().doc("`a, *b, c = iterator`, or of a dict."),
    OpDef::new(&["unpack.ex"], "seq, before, after", Body::Lir(unpack_ex_rule, emit_unpack_ex)).raises()
        .doc("`a, *b, c = seq`: the middle is a list, as in Python; of a tuple whose members are of several types it stays a tuple where nobody sees that."),
    OpDef::new(&["operator.getitem"], "seq, index", Body::Lir(tuple_item_rule, emit_tuple_item))
        .raises()
        .owned_by(|t, ret| if becomes_longer(t, ret) { Own::Fresh } else { Own::Aliases })
        .doc("`t[i]` and `t[a:b]` of a tuple."),
    OpDef::new(
        &["operator.add"],
        "a, b",
        Body::Lir(
            |_, a| match (a[0].ty.kind(), a[1].ty.kind()) {
                (Kind::Tuple(x), Kind::Tuple(y)) => {
                    Ok(Answer::of(Type::tuple([x.as_slice(), y.as_slice()].concat())))
                }
                _ => match (a[0].ty.members(), a[1].ty.members()) {
                    (Some(x), Some(y)) => Ok(Answer::of(Type::tuple([x, y].concat()))),
                    _ => Err(no_match("+", a)),
                },
            },
            |_, c| Ok(c.args.concat()),
        ),
    )
    .consumes()
    .doc("Concatenation of tuples."),
    OpDef::new(
        &["operator.mul"],
        "n, a",
        Body::Lir(|cx, a| tuple_repeat_rule(cx, &[a[1].clone(), a[0].clone()]), |cx, c| repeated(cx, c, 1)),
    )
    .doc("`3 * t` with a constant count."),
    OpDef::new(
        &["spread.append"],
        "t, x",
        Body::Lir(
            |_, a| match a[0].ty.members() {
                Some(m) => Ok(Answer::of(Type::tuple([m, &[a[1].ty]].concat()))),
                None => Err(no_match("a tuple", a)),
            },
            |_, c| Ok(c.args.concat()),
        ),
    )
    .consumes()
    .doc("`(*t, x)`."),
    OpDef::new(
        &["spread.extend"],
        "t, other",
        Body::Lir(
            |_, a| match (a[0].ty.members(), a[1].ty.members()) {
                (Some(x), Some(y)) => Ok(Answer::of(Type::tuple([x, y].concat()))),
                _ => Err(no_match("spreading into a tuple", a)),
            },
            |_, c| Ok(c.args.concat()),
        ),
    )
    .consumes()
    .doc("`(*t, *other)`."),
    OpDef::new(&["operator.mul"], "a, n", Body::Lir(tuple_repeat_rule, |cx, c| repeated(cx, c, 0)))
        .doc("`t * 3` with a constant count."),
    OpDef::new(
        &["tuple.index"],
        "t, value",
        Body::Lir(|cx, a| searched(cx, a).map(|()| Answer::of(Type::int())), emit_tuple_index),
    )
    .raises()
    .doc("Position of the first member that equals `value`."),
    OpDef::new(&["tuple.index"], "t, value", Body::Py("containers.tuple_index"))
        .only_if(in_tuple)
        .raises()
        .doc("Position of the first member that equals `value`."),
    OpDef::new(
        &["tuple.count"],
        "t, value",
        Body::Lir(|cx, a| searched(cx, a).map(|()| Answer::of(Type::int())), emit_tuple_count),
    )
    .doc("How many members equal `value`."),
    OpDef::new(&["tuple.count"], "t, value", Body::Py("containers.tuple_count"))
        .only_if(in_tuple)
        .raises()
        .doc("How many members equal `value`."),
    OpDef::new(
        &["operator.contains"],
        "t, value",
        Body::Lir(
            |cx, a| match (a[0].ty.kind(), a[1].text()) {
                (Kind::NamedTuple(c, _), Some(key)) if c.is_keywords() => {
                    Ok(Answer::constant(Const::Bool(c.fields.iter().any(|f| f == key))))
                }
                _ => searched(cx, a).map(|()| Answer::of(Type::bool()).known(found(a).map(Const::Bool))),
            },
            |cx, c| {
                let n = emit_tuple_count(cx, c)?;
                Ok(vec![cx.b.bin_imm(Op::IcmpNe, n[0], 0)])
            },
        ),
    )
    .doc("`value in t` of a tuple."),
    OpDef::new(&["operator.contains"], "t, value", Body::Py("containers.tuple_contains"))
        .only_if(in_tuple)
        .raises()
        .doc("`value in t` of a tuple."),
];

fn keywords(args: &[Arg]) -> Result<(&'static crate::types::ClassDef, &[Type])> {
    if let Kind::NamedTuple(c, m) = args[0].ty.kind()
        && c.is_keywords()
    {
        return Ok((c, m));
    }
    Err(no_match("kwargs", args))
}

fn is_iterator(args: &[Arg]) -> bool {
    matches!(args[0].ty.kind(), Kind::Iter(_) | Kind::Generator(..))
}

fn is_gone_through(args: &[Arg]) -> bool {
    is_iterator(args) || matches!(args[0].ty.kind(), Kind::Container(..))
}

const BUILD: OpDef = OpDef::new(
    &["tuple.build"],
    "*items",
    Body::Lir(
        |_, args| {
            let konst: Option<Vec<Const>> = args.iter().map(|a| a.konst.clone()).collect();
            Ok(Answer::of(Type::tuple(args.iter().map(|a| a.ty).collect())).known(konst.map(Const::Tuple)))
        },
        |_, call| Ok(call.args.concat()),
    ),
)
.internal()
.consumes()
.doc("A tuple of the operands.");

fn build_keywords(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let name = |pair: &[Arg]| pair[0].text().map(str::to_owned);
    let names: Option<Vec<String>> = args.chunks(2).map(name).collect();
    let names = names.ok_or_else(|| Diagnostic::internal("a key that is no constant"))?;
    let values = args.chunks(2).map(|pair| pair[1].ty).collect();
    Ok(Answer::of(Type::new(Kind::NamedTuple(ClassDef::keywords(names), values))))
}

/// The row that makes tuples.
pub(crate) fn build() -> &'static OpDef {
    ids::TUPLE_BUILD.rows()[0]
}

fn unpack_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let n = args[1].int().ok_or_else(|| Diagnostic::internal("unpack count"))? as usize;
    let lanes = args[0].ty.tuple_of_lanes();
    if let Some(m) = lanes.unwrap_or(args[0].ty).members() {
        if m.len() == n {
            return Ok(Answer::of(Type::tuple(m.to_vec())).known(args[0].konst.clone()));
        }
        let what = if m.len() > n {
            format!("too many values to unpack (expected {n})")
        } else {
            format!("not enough values to unpack (expected {n}, got {})", m.len())
        };
        return Err(Diagnostic::new(Code::BadCall, what));
    }
    sequence::unpack_type(cx, args[0].ty, n).ok_or_else(|| no_match("unpacking", &args[..1])).map(Answer::of)
}

fn emit_unpack(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    if call.types[0].members().is_some() || call.types[0].as_simd().is_some() {
        return Ok(call.args[0].clone());
    }
    sequence::emit_unpack(cx, &call.args[0], call.types[0], call.ret.members().map_or(0, <[Type]>::len))
}

fn unpack_ex_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (before, after) = (args[1].int().unwrap_or(0) as usize, args[2].int().unwrap_or(0) as usize);
    if let Some(m) = args[0].ty.members() {
        if m.len() < before + after {
            return Err(Diagnostic::new(
                Code::BadCall,
                format!(
                    "not enough values to unpack (expected at least {}, got {})",
                    before + after,
                    m.len()
                ),
            ));
        }
        let mut out = m[..before].to_vec();
        let rest = &m[before..m.len() - after];
        // A list, as in Python, where its members have one type; else they stay a tuple.
        let one = if cx.vars.unions {
            cx.vars.all_apart(rest)
        } else {
            rest.iter().try_fold(Type::never(), |t, x| {
                cx.unify(t, *x).filter(|u| *t == Kind::Never || u.is_number() == t.is_number())
            })
        };
        out.push(match one {
            Some(e) => cx.new_list(e)?,
            // Python would show a list.
            None if cx.vars.apart || cx.vars.rest_is_seen => {
                let text = "the rest of this tuple would be a list of values of several types";
                return Err(Diagnostic::new(Code::CannotUnify, text).help("use the members one by one"));
            }
            None => Type::tuple(rest.to_vec()),
        });
        out.extend(&m[m.len() - after..]);
        return Ok(Answer::of(Type::tuple(out)));
    }
    sequence::unpack_ex_type(cx, args[0].ty, before, after)
        .ok_or_else(|| no_match("unpacking with *", &args[..1]))
        .map(Answer::of)
}

fn emit_unpack_ex(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    if let Some(from) = call.types[0].members() {
        let to = call.ret.members().unwrap_or_default();
        let before = call.consts[1].as_ref().and_then(Const::as_int).unwrap_or(0) as usize;
        let count = from.len() + 1 - to.len();
        let parts = split_leaves(&call.args[0], from);
        let mut out = parts[..before].concat();
        cx.retain(&out, Type::tuple(from[..before].to_vec()));
        let (rest, tail) = (&parts[before..before + count], parts[before + count..].concat());
        if let Kind::List(e) = *to[before] {
            let mut all = vec![];
            for (v, t) in rest.iter().zip(&from[before..]) {
                all.push(cast::joined(cx, v, *t, e, false)?);
            }
            let n = cx.b.i64(count as i64);
            let list = list::make(cx, e, n);
            for v in all {
                cx.retain(&v, e);
                list::push_owned(cx, list, e, &v);
            }
            out.push(list);
        } else {
            let all = rest.concat();
            cx.retain(&all, to[before]);
            out.extend(all);
        }
        cx.retain(&tail, Type::tuple(from[before + count..].to_vec()));
        out.extend(tail);
        return Ok(out);
    }
    let count = |k: usize| call.consts[k].as_ref().and_then(Const::as_int).unwrap_or(0) as usize;
    sequence::emit_unpack_ex(cx, &call.args[0], call.types[0], count(1), count(2))
}

// ---- members

fn tuple_item_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let m = args[0].ty.members().ok_or_else(|| no_match("[]", args))?;
    if let (Kind::NamedTuple(c, _), Some(key)) = (args[0].ty.kind(), args[1].text())
        && c.is_keywords()
    {
        let at = c
            .fields
            .iter()
            .position(|f| f == key)
            .ok_or_else(|| Diagnostic::new(Code::BadCall, format!("this dict has no key '{key}'")))?;
        return Ok(Answer::of(m[at]));
    }
    let konst = |k: usize| match &args[0].konst {
        Some(Const::Tuple(c)) => c.get(k).cloned(),
        _ => None,
    };
    if args[1].ty.is_index() {
        if let Some(i) = args[1].int() {
            let at = if i < 0 { i + m.len() as i64 } else { i };
            let t = usize::try_from(at).ok().and_then(|k| m.get(k)).ok_or_else(|| {
                Diagnostic::new(
                    Code::BadCall,
                    format!("tuple index {i} is out of range for {} members", m.len()),
                )
            })?;
            return Ok(Answer::of(*t).known(konst(at as usize)));
        }
        if cx.vars.promised && promote::bools_meet_numbers(m) {
            return Err(no_match("[]", args));
        }
        let mut t = Type::never();
        for x in m {
            t = match cx.unify(t, *x) {
                Some(t) => t,
                None => {
                    // Of several types, with lists as they are known by now.
                    let known = cx.vars.resolve(args[0].ty);
                    Type::one_of(known.members().unwrap_or_default())
                }
            };
        }
        if m.is_empty() {
            return Err(Diagnostic::new(Code::BadCall, "an empty tuple has no members"));
        }
        return Ok(Answer::of(t));
    }
    if !matches!(*args[1].ty, Kind::Slice(_)) {
        return Err(no_match("[]", args));
    }
    match const_slice(&args[1], m.len()) {
        Some(picks) => {
            let known = picks.iter().map(|k| konst(*k)).collect::<Option<_>>().map(Const::Tuple);
            Ok(Answer::of(Type::tuple(picks.iter().map(|k| m[*k]).collect())).known(known))
        }
        // Whatever the bounds, there is nothing in it.
        None if m.is_empty() => Ok(Answer::of(args[0].ty)),
        None if are_alike(m) => Err(no_match("[]", args)),
        None => Err(Diagnostic::new(
            Code::RequiresConstant,
            "a tuple whose members have different types is sliced by constants only",
        )
        .help("write the bounds as literals")),
    }
}

/// Whether members are of one type, so that they can be those of a tuple of any length.
fn are_alike(members: &[Type]) -> bool {
    members.split_first().is_none_or(|(first, rest)| rest.iter().all(|t| promote::same_but_weak(*first, *t)))
}

/// Positions that a constant slice picks.
fn const_slice(a: &Arg, n: usize) -> Option<Vec<usize>> {
    let Kind::Slice(_) = *a.ty else { return None };
    let Some(Const::Tuple(parts)) = &a.konst else { return None };
    let part = |k: usize| if parts[k] == Const::None { Some(None) } else { parts[k].as_int().map(Some) };
    let (n, step) = (n as i64, part(2)?.unwrap_or(1));
    if step == 0 {
        return None;
    }
    let (low, high) = if step < 0 { (-1, n - 1) } else { (0, n) };
    let fit = |i: i64| (if i < 0 { i + n } else { i }).clamp(low, high);
    let start = part(0)?.map_or(if step < 0 { n - 1 } else { 0 }, fit);
    let stop = part(1)?.map_or(if step < 0 { -1 } else { n }, fit);
    let mut out = vec![];
    let mut i = start;
    while if step > 0 { i < stop } else { i > stop } {
        out.push(i as usize);
        i += step;
    }
    Some(out)
}

fn emit_tuple_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let m = c.types[0].members().ok_or_else(|| Diagnostic::internal("tuple"))?;
    let parts = split_leaves(&c.args[0], m);
    let known = Arg { ty: c.types[1], konst: c.consts[1].clone() };
    if let (Kind::NamedTuple(class, _), Some(key)) = (c.types[0].kind(), known.text()) {
        let at = class
            .fields
            .iter()
            .position(|f| f == key)
            .ok_or_else(|| Diagnostic::internal("keyword argument"))?;
        return Ok(parts[at].clone());
    }
    if let Some(i) = known.int() {
        let member = parts[if i < 0 { i + m.len() as i64 } else { i } as usize].clone();
        if becomes_longer(c.types, c.ret) {
            cx.retain(&member, c.ret);
        }
        return Ok(member);
    }
    if m.is_empty() && matches!(*c.types[1], Kind::Slice(_)) {
        return Ok(vec![]);
    }
    if let Some(picks) = const_slice(&known, m.len()) {
        return Ok(picks.iter().flat_map(|k| parts[*k].clone()).collect());
    }
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let n = cx.b.i64(m.len() as i64);
    let at = cx.checked_index(i, n, "tuple index out of range");
    let member = sequence::member(cx, &parts, m, c.ret, at)?;
    if becomes_longer(c.types, c.ret) {
        cx.retain(&member, c.ret);
    }
    Ok(member)
}

/// Whether one of the members that an index picks, for all that is known of its type, is a tuple of which one of any
/// length is made.
fn becomes_longer(operands: &[Type], picked: Type) -> bool {
    operands[1].is_index()
        && operands[0].members().is_some_and(|m| m.iter().any(|t| promote::makes_tuple(*t, picked)))
}

/// The members of operand `k` over and over, each time with references of their own.
fn repeated(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Val> {
    let all = c.args[k].repeat(c.ret.leaf_count() / c.args[k].len().max(1));
    cx.retain(&all, c.ret);
    Ok(all)
}

fn tuple_repeat_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let m = args[0].ty.members().ok_or_else(|| no_match("*", args))?;
    if m.is_empty() && args[1].ty.is_index() {
        return Ok(Answer::of(args[0].ty));
    }
    let n = args[1].int().ok_or_else(|| {
        if are_alike(m) && args[1].ty.is_index() {
            return no_match("*", args);
        }
        Diagnostic::new(
            Code::RequiresConstant,
            "a tuple whose members have different types is repeated a constant number of times only",
        )
    })?;
    Ok(Answer::of(Type::tuple(m.repeat(n.clamp(0, 1000) as usize))))
}

fn in_tuple(args: &[Arg]) -> bool {
    matches!(args[0].ty.kind(), Kind::Tuple(_))
        || matches!(args[0].ty.kind(), Kind::NamedTuple(c, _) if !c.is_keywords())
}

/// Whether a constant is among the constants of a tuple, where all are of one kind: 1 is equal to 1.0 and True.
fn found(args: &[Arg]) -> Option<bool> {
    let (Some(Const::Tuple(all)), Some(x)) = (&args[0].konst, &args[1].konst) else { return None };
    let alike = |c: &Const| {
        matches!(
            (c, x),
            (Const::Int(_), Const::Int(_))
                | (Const::Str(_), Const::Str(_))
                | (Const::Bool(_), Const::Bool(_))
        ) || matches!((c, x), (Const::Str(_) | Const::None, Const::Str(_) | Const::None))
    };
    all.iter().all(alike).then(|| all.contains(x))
}

/// Whether lowering can compare each member of a tuple with a value.
fn searched(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<()> {
    let (t, x) = (cx.vars.resolve(args[0].ty), cx.vars.resolve(args[1].ty));
    let array = |t: Type| t.as_array().is_some();
    let all =
        t.members().is_some_and(|m| m.iter().all(|t| compare::comparable(*t, x) && !array(*t) && !array(x)));
    if all { Ok(()) } else { Err(no_match("in", args)) }
}

fn tuple_equal_flags(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Vec<Value>> {
    let m = c.types[0].members().unwrap_or_default();
    let parts = split_leaves(&c.args[0], m);
    parts.iter().zip(m).map(|(p, t)| compare::equal_elements(cx, p, *t, &c.args[1], c.types[1])).collect()
}

fn emit_tuple_count(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let mut n = cx.b.i64(0);
    for f in tuple_equal_flags(cx, c)? {
        let one = cx.b.conv(Op::Zext, Ty::I64, f);
        n = cx.b.bin(Op::Iadd, n, one);
    }
    Ok(vec![n])
}

fn emit_tuple_index(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let mut at = cx.b.i64(-1);
    for (k, f) in tuple_equal_flags(cx, c)?.into_iter().enumerate().rev() {
        let here = cx.b.i64(k as i64);
        at = cx.b.select(f, here, at);
    }
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    cx.check(found, Class::ValueError, "tuple.index(x): x not in tuple");
    Ok(vec![at])
}
