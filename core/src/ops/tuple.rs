//! Tuples and named tuples: their members are scalars in registers, so most operations move no data at all.

use super::{Body, OpDef, Own};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    CONTAINS = "operator.contains" [never_none, keywords(FindsOrGoes)],
    TUPLE_BUILD = "tuple.build" [total, lists(Keeps), keywords(Takes)],
}

pub(crate) static OPS: &[OpDef] = &[
    BUILD,
    OpDef::new(&["unpack.sequence"], "seq, count", Body::Lir(unpack_rule, emit_unpack)).raises()
        .owned_by(|t, _| if t[0].members().is_some() { Own::Aliases } else { Own::Fresh })
        .doc("The members of a sequence of known length: `a, b = seq`."),
    OpDef::new(&["kwargs.keys"], "kw", Body::Lir(|_, a| keywords(a).map(|(c, _)| Answer::constant(Const::Tuple(c.fields.iter().map(|f| Const::Str(f.as_str().into())).collect()))), |_, _| {
        Err(Diagnostic::internal("names of keyword arguments are constants"))
    })).doc("Names of the arguments that `**kwargs` took."),
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
    OpDef::new(&["unpack.sequence"], "it, count", Body::Py("builtin.unpack_iterator")).only_if(is_iterator).raises().doc("The first values of an iterator, which must be all of them: `a, b = map(int, words)`."),
    OpDef::new(&["operator.contains"], "it, x", Body::Py("builtin.in_iterator")).only_if(is_iterator).raises().doc("Whether an iterator comes to a value that is equal; what it came by is gone."),
    OpDef::new(&["unpack.ex"], "it, before, after", Body::Py("builtin.unpack_rest")).only_if(is_iterator).raises().doc("`a, *b, c = iterator`."),
    OpDef::new(&["unpack.ex"], "seq, before, after", Body::Lir(unpack_ex_rule, emit_unpack_ex)).raises()
        .doc("`a, *b, c = seq`: the middle is a list in Python; of a tuple it stays a tuple here unless its members are of one type."),
];

fn keywords(args: &[Arg]) -> Result<(&'static crate::types::ClassDef, &[Type])> {
    match args[0].ty.kind() {
        Kind::NamedTuple(c, m) if c.is_keywords() => Ok((c, m)),
        _ => Err(no_match("kwargs", args)),
    }
}

fn is_iterator(args: &[Arg]) -> bool {
    matches!(args[0].ty.kind(), Kind::Iter(_) | Kind::Generator(..))
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

/// The row that makes tuples.
pub(crate) fn build() -> &'static OpDef {
    ids::TUPLE_BUILD.rows()[0]
}

fn unpack_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let n = args[1].int().ok_or_else(|| Diagnostic::internal("unpack count"))? as usize;
    if let Some(m) = args[0].ty.members() {
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
    super::sequence::unpack_type(cx, args[0].ty, n)
        .ok_or_else(|| no_match("unpacking", &args[..1]))
        .map(Answer::of)
}

fn emit_unpack(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    if call.types[0].members().is_some() {
        return Ok(call.args[0].clone());
    }
    super::sequence::emit_unpack(
        cx,
        &call.args[0],
        call.types[0],
        call.ret.members().map_or(0, <[Type]>::len),
    )
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
        let one = rest.iter().try_fold(Type::never(), |t, x| {
            cx.unify(t, *x).filter(|u| *t == Kind::Never || u.is_number() == t.is_number())
        });
        out.push(match one {
            Some(e) => cx.new_list(e)?,
            None => Type::tuple(rest.to_vec()),
        });
        out.extend(&m[m.len() - after..]);
        return Ok(Answer::of(Type::tuple(out)));
    }
    super::sequence::unpack_ex_type(cx, args[0].ty, before, after)
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
            let n = cx.b.i64(count as i64);
            let list = super::list::make(cx, e, n);
            for (v, t) in rest.iter().zip(&from[before..]) {
                let v = crate::emit::cast::cast(cx, v, *t, e)?;
                cx.retain(&v, e);
                super::list::push_owned(cx, list, e, &v);
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
    super::sequence::emit_unpack_ex(cx, &call.args[0], call.types[0], count(1), count(2))
}
