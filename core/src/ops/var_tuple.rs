//! Tuples whose length only the run knows: `tuple(xs)`, tuples of different lengths in one variable, what is
//! indexed with a slice that only the run knows. Their members are of one type. The object is a list that nobody
//! changes, so what reads lists reads them.
//!
//! What a type says the length of is a [`super::tuple`], whose members lie in registers.

use super::format::{NOT_ALL, TOO_FEW};
use super::iter::Walk;
use super::list::{self, list_slice};
use super::{Body, OpDef, Own};
use crate::diag::{Diagnostic, Result};
use crate::emit::cast;
use crate::emit::constants::absent;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::slice::adjust_slice;
use crate::exc::Class;
use crate::layout::List;
use crate::lir::{Op, Value};
use crate::rt::Ctx;
use crate::types::{Container, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    VAR_TUPLE_WIDENED = "var_tuple.widened" [lists(Keeps)],
    WITH_REST = "operator._with_rest",
    TO_FORMAT = "operator._to_format",
    ALL_FORMATTED = "operator._all_formatted",
}

crate::runtime_fns! {
    /// Tuples of any length.
    trait Helpers;
    /// `t[...]`: `count` members from `start` in steps of `step`; the tuple itself where these are all.
    fn tuple_slice(ctx: Ctx, t: *mut List, start: i64, step: i64, count: i64) -> *mut List [Allocates, Pending];
    /// `a + b`: one of them itself where the other one is empty.
    fn tuple_concat(ctx: Ctx, a: *mut List, b: *mut List) -> *mut List [Allocates, Pending];
    /// `t * n`: the tuple itself once.
    fn tuple_repeat(ctx: Ctx, t: *mut List, n: i64) -> *mut List [Allocates, Pending];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["var_tuple.widened"],
        "t",
        Body::Lir(|_, a| Err(no_match("a tuple", a)), |cx, c| cast::kept(cx, &c.args[0], c.types[0], c.ret)),
    )
    .raises()
    .reads()
    .internal()
    .doc("A value in which a tuple whose length the type says becomes one of any length."),
    OpDef::new(
        &["builtins.tuple"],
        "t",
        Body::Lir(|_, a| member(a).map(|_| Answer::of(a[0].ty)), |_, c| Ok(c.args[0].clone())),
    )
    .owned_by(|_, _| Own::Aliases)
    .doc("The same tuple."),
    OpDef::new(
        &["builtins.tuple"],
        "list",
        Body::Lir(
            |_, a| of_list(a, "tuple()"),
            |cx, c| {
                let (n, zero, one) = (list::len(cx, c.args[0][0]), cx.b.i64(0), cx.b.i64(1));
                Ok(vec![cx.helper_value(&list_slice, &[c.args[0][0], zero, one, n])])
            },
        ),
    )
    .raises()
    .reads()
    .doc("A tuple of a list's elements."),
    OpDef::new(&["builtins.tuple"], "iterable", Body::Py("tuples.of_iterable"))
        .only_if(|a| a[0].ty.members().is_none() && !a[0].ty.is_tuple_of_any_length())
        .raises()
        .reads()
        .doc("A tuple of what an iterable gives, as many as there are."),
    OpDef::new(
        &["operator._as_tuple"],
        "members",
        Body::Lir(|_, a| of_list(a, "a list"), |_, c| Ok(c.args[0].clone())),
    )
    .consumes()
    .internal()
    .doc("A list that nobody else has as a tuple (library use)."),
    OpDef::new(
        &["operator._members"],
        "t",
        Body::Lir(|_, a| member(a).map(|e| Answer::of(Type::list(e))), |_, c| Ok(c.args[0].clone())),
    )
    .owned_by(|_, _| Own::Aliases)
    .internal()
    .doc("A tuple as the list that it is, which nobody may change (library use)."),
    OpDef::new(
        &["operator._with_rest"],
        "f, rest, *given, **named",
        Body::Lir(|_, a| Err(no_match("a call", a)), |_, _| Err(Diagnostic::internal("a call"))),
    )
    .internal()
    .doc("`f(*given, *rest)` where `rest` is what `*args` gets: inference carries it out (library use)."),
    OpDef::new(&["operator.getitem"], "t, i", Body::Lir(item_rule, emit_item))
        .raises()
        .reads()
        .doc("`t[i]` of a tuple of any length; IndexError."),
    OpDef::new(&["operator.getitem"], "a, t", Body::Py("places.item_at"))
        .only_if(indexes)
        .raises()
        .reads()
        .doc(
            "`a[t]` of an array by a tuple of any length, which has an index for each dimension; IndexError.",
        ),
    OpDef::new(&["operator.setitem"], "a, t, value", Body::Py("places.set_at"))
        .only_if(indexes)
        .raises()
        .writes()
        .doc("`a[t] = value` by such a tuple; IndexError."),
    OpDef::new(&["operator._indices"], "a, t", Body::Lir(indices_rule, emit_indices))
        .raises()
        .reads()
        .internal()
        .doc("An index for each dimension of an array, out of a tuple of any length (library use)."),
    OpDef::new(
        &["operator._to_format"],
        "t, k",
        Body::Lir(item_rule, |cx, c| emit_member(cx, c, Class::TypeError, TOO_FEW)),
    )
    .raises()
    .reads()
    .internal()
    .doc("Member `k` of a tuple whose members `%` formats; TypeError where there are too few."),
    OpDef::new(
        &["operator._all_formatted"],
        "t, k",
        Body::Lir(
            |_, a| member(a).map(|_| Answer::of(Type::none())),
            |cx, c| {
                let (k, n) = (cast::to_i64(cx, c.args[1][0], c.types[1]), list::len(cx, c.args[0][0]));
                let all = cx.b.bin(Op::IcmpSle, n, k);
                cx.check(all, Class::TypeError, NOT_ALL);
                Ok(vec![])
            },
        ),
    )
    .raises()
    .reads()
    .internal()
    .doc("TypeError where a tuple whose members `%` formats has more than `k`."),
    OpDef::new(&["operator.getitem"], "t, part", Body::Lir(slice_rule, emit_slice))
        .raises()
        .reads()
        .doc("`t[a:b:c]` of a tuple, where only the run knows its length or the bounds."),
    OpDef::new(
        &["operator.add"],
        "a, b",
        Body::Lir(
            |cx, a| {
                let t = common(cx, a, "+")?;
                Ok(Answer::coerced(t, vec![t, t]))
            },
            |cx, c| Ok(vec![cx.helper_value(&tuple_concat, &[c.args[0][0], c.args[1][0]])]),
        ),
    )
    .raises()
    .reads()
    .doc("Concatenation of tuples of any length."),
    OpDef::new(
        &["operator.mul"],
        "t, n",
        Body::Lir(
            |cx, a| {
                let t = repeated(cx, a, 0)?;
                Ok(Answer::coerced(t, vec![t, a[1].ty]))
            },
            |cx, c| emit_repeat(cx, c, 0),
        ),
    )
    .raises()
    .reads()
    .doc("`t * n` of a tuple, where only the run knows its length or the number."),
    OpDef::new(
        &["operator.mul"],
        "n, t",
        Body::Lir(
            |cx, a| {
                let t = repeated(cx, a, 1)?;
                Ok(Answer::coerced(t, vec![a[0].ty, t]))
            },
            |cx, c| emit_repeat(cx, c, 1),
        ),
    )
    .raises()
    .reads()
    .doc("`n * t` of a tuple, where only the run knows its length or the number."),
    OpDef::new(&["operator.eq"], "a, b", Body::Lir(equal_rule, |cx, c| equal(cx, c).map(|v| vec![v])))
        .reads()
        .doc("`a == b` of tuples of any length."),
    OpDef::new(
        &["operator.ne"],
        "a, b",
        Body::Lir(equal_rule, |cx, c| {
            let v = equal(cx, c)?;
            Ok(vec![cx.not(v)])
        }),
    )
    .reads()
    .doc("`a != b` of tuples of any length."),
    ordered(&["operator.lt"], |cx, c| order(cx, c, &[-1]), "`a < b` of tuples of any length."),
    ordered(&["operator.le"], |cx, c| order(cx, c, &[-1, 0]), "`a <= b` of tuples of any length."),
    ordered(&["operator.gt"], |cx, c| order(cx, c, &[1]), "`a > b` of tuples of any length."),
    ordered(&["operator.ge"], |cx, c| order(cx, c, &[1, 0]), "`a >= b` of tuples of any length."),
    compared(&["operator.eq"], "tuples.equal"),
    compared(&["operator.ne"], "tuples.unequal"),
    compared(&["operator.lt"], "tuples.less"),
    compared(&["operator.le"], "tuples.less_equal"),
    compared(&["operator.gt"], "tuples.greater"),
    compared(&["operator.ge"], "tuples.greater_equal"),
    with_fixed(&["operator.eq"], "tuples.equals_fixed"),
    with_fixed(&["operator.ne"], "tuples.differs_from_fixed"),
    of_fixed(&["operator.eq"], "tuples.fixed_equals"),
    of_fixed(&["operator.ne"], "tuples.fixed_differs"),
    of_members(&["operator.contains"], "t, x", "tuples.contains", "`x in t` of a tuple of any length."),
    of_members(
        &["tuple.index"],
        "t, value, start=0, stop=9223372036854775807",
        "tuples.index",
        "Position of the first member that equals `value`; ValueError.",
    ),
    of_members(&["tuple.count"], "t, value", "tuples.count", "How many members equal `value`."),
    of_members(&["builtins.hash"], "x", "instances.hash_of_tuple", "Hash of a tuple of any length."),
    of_members(&["builtins.str", "builtins.repr"], "x", "tuples.text", "The text of a tuple of any length."),
    OpDef::new(&["spread.append"], "t, x", Body::Py("tuples.with_one"))
        .only_if(|a| a[0].ty.is_tuple_of_any_length())
        .raises()
        .reads()
        .doc("`(*t, x)` where only the run knows the length of `t`."),
    OpDef::new(&["spread.extend"], "t, other", Body::Py("tuples.with_all"))
        .only_if(|a| {
            a[0].ty.is_tuple_of_any_length() || a[0].ty.members().is_some() && a[1].ty.members().is_none()
        })
        .raises()
        .reads()
        .doc("`(*t, *other)` where only the run knows how many there are."),
];

/// The row that makes tuples of any length where the types of values ask for it.
pub(crate) fn widened() -> &'static OpDef {
    ids::VAR_TUPLE_WIDENED.rows()[0]
}

const fn ordered(paths: &'static [&'static str], emit: super::Emit, doc: &'static str) -> OpDef {
    OpDef::new(paths, "a, b", Body::Lir(order_rule, emit)).reads().doc(doc)
}

/// What helpers cannot compare.
const fn compared(paths: &'static [&'static str], by: &'static str) -> OpDef {
    OpDef::new(paths, "a, b", Body::Py(by))
        .only_if(|a| a[0].ty.is_tuple_of_any_length() && a[1].ty.is_tuple_of_any_length())
        .raises()
        .reads()
        .doc("Tuples of any length, whose members are compared one by one.")
}

/// The second one is of a length that its type says, with members of other types.
const fn with_fixed(paths: &'static [&'static str], by: &'static str) -> OpDef {
    OpDef::new(paths, "a, b", Body::Py(by))
        .only_if(|a| a[0].ty.is_tuple_of_any_length() && matches!(*a[1].ty, Kind::Tuple(_)))
        .raises()
        .reads()
        .doc("A tuple of any length and another one, whose members are compared one by one.")
}

/// The same the other way round.
const fn of_fixed(paths: &'static [&'static str], by: &'static str) -> OpDef {
    OpDef::new(paths, "a, b", Body::Py(by))
        .only_if(|a| a[1].ty.is_tuple_of_any_length() && matches!(*a[0].ty, Kind::Tuple(_)))
        .raises()
        .reads()
        .doc("A tuple and one of any length, whose members are compared one by one.")
}

const fn of_members(
    paths: &'static [&'static str],
    params: &'static str,
    by: &'static str,
    doc: &'static str,
) -> OpDef {
    OpDef::new(paths, params, Body::Py(by))
        .only_if(|a| a[0].ty.is_tuple_of_any_length())
        .raises()
        .reads()
        .doc(doc)
}

/// What the members of the first operand are.
fn member(args: &[Arg]) -> Result<Type> {
    if let Kind::Container(Container::Tuple, m) = args[0].ty.kind() {
        Ok(m[0])
    } else {
        Err(no_match("a tuple", args))
    }
}

/// A tuple of what a list holds.
fn of_list(args: &[Arg], what: &str) -> Result<Answer> {
    if let Kind::List(e) = *args[0].ty {
        Ok(Answer::of(Type::tuple_of(e)))
    } else {
        Err(no_match(what, args))
    }
}

/// The type of both operands, where one of them is of any length.
fn common(cx: &mut TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<Type> {
    if !args[0].ty.is_tuple_of_any_length() && !args[1].ty.is_tuple_of_any_length() {
        return Err(no_match(what, args));
    }
    cx.unify(args[0].ty, args[1].ty)
        .filter(|t| t.is_tuple_of_any_length())
        .ok_or_else(|| no_match(what, args))
}

/// A tuple type of any length that holds an operand, whatever the operand's length.
fn of_any_length(cx: &mut TyCx<'_, '_>, args: &[Arg], k: usize, what: &str) -> Result<Type> {
    let t = args[k].ty;
    if t.is_tuple_of_any_length() {
        return Ok(t);
    }
    let Kind::Tuple(members) = t.kind() else { return Err(no_match(what, args)) };
    let Some(first) = members.first() else { return Err(no_match(what, args)) };
    let any = Type::tuple_of(*first);
    cx.unify(any, t).ok_or_else(|| no_match(what, args))
}

/// Whether an array is indexed by a tuple of any length.
fn indexes(args: &[Arg]) -> bool {
    args[0].ty.as_array().is_some() && args[1].ty.is_tuple_of_any_length()
}

/// Fewer indices than dimensions give an array of however many are left, which no type says. Where Python's answer is
/// promised Python gives it.
fn indices_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (Some(a), Kind::Container(Container::Tuple, m)) = (args[0].ty.as_array(), args[1].ty.kind()) else {
        return Err(no_match("indexing", args));
    };
    if !cx.vars.known(m[0]).is_index() || cx.vars.promised {
        return Err(no_match("indexing", args));
    }
    Ok(Answer::of(Type::tuple(vec![Type::int(); a.ndim()])))
}

fn emit_indices(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let wanted = c.ret.members().map_or(0, <[Type]>::len);
    let of = super::sequence::element_type(c.types[1]).ok_or_else(|| Diagnostic::internal("no tuple"))?;
    let n = list::len(cx, c.args[1][0]);
    let few = cx.b.bin_imm(Op::IcmpSle, n, wanted as i64);
    let text = format!("too many indices for array: array is {wanted}-dimensional, but {{}} were indexed");
    cx.check_format(few, Class::IndexError, &text, &[n]);
    let enough = cx.b.bin_imm(Op::IcmpEq, n, wanted as i64);
    let text =
        "compiled code cannot index an array by a tuple of unknown length with fewer indices than dimensions";
    cx.check(enough, Class::NotImplementedError, text);
    let mut out = vec![];
    for k in 0..wanted {
        let at = cx.b.i64(k as i64);
        let member = super::sequence::element(cx, &c.args[1], c.types[1], at)?;
        out.push(cast::to_i64(cx, member[0], of));
    }
    Ok(out)
}

fn item_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let e = member(args)?;
    if args[1].ty.is_index() { Ok(Answer::of(cx.vars.known(e))) } else { Err(no_match("[]", args)) }
}

fn emit_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    emit_member(cx, c, Class::IndexError, "tuple index out of range")
}

fn emit_member(cx: &mut LowerCx<'_>, c: &OpCall<'_>, class: Class, message: &str) -> Result<Val> {
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let n = list::len(cx, c.args[0][0]);
    let at = cx.wrap_index(i, n);
    // The memory can be outside what an unchecked index reaches, so this check always stays.
    let ok = cx.b.bin(Op::IcmpUlt, at, n);
    cx.check(ok, class, message);
    Ok(list::element(cx, c.args[0][0], c.ret, at))
}

fn slice_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !matches!(*args[1].ty, Kind::Slice(_)) {
        return Err(no_match("[]", args));
    }
    let t = of_any_length(cx, args, 0, "a slice")?;
    Ok(Answer::coerced(t, vec![t, args[1].ty]))
}

fn emit_slice(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let n = list::len(cx, c.args[0][0]);
    let s = adjust_slice(cx, &c.args[1], c.types[1], n)?;
    Ok(vec![cx.helper_value(&tuple_slice, &[c.args[0][0], s.start, s.step, s.count])])
}

fn repeated(cx: &mut TyCx<'_, '_>, args: &[Arg], k: usize) -> Result<Type> {
    if !args[1 - k].ty.is_index() {
        return Err(no_match("*", args));
    }
    of_any_length(cx, args, k, "repetition")
}

fn emit_repeat(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Val> {
    let n = cast::to_i64(cx, c.args[1 - k][0], c.types[1 - k]);
    Ok(vec![cx.helper_value(&tuple_repeat, &[c.args[k][0], n])])
}

/// Tuples that helpers can compare.
fn equal_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = common(cx, args, "==")?;
    if !list::comparable(cx.vars.resolve(t)) {
        return Err(no_match("==", args));
    }
    Ok(Answer::coerced(Type::bool(), vec![t, t]))
}

fn equal(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Value> {
    list::equal(cx, c.args[0][0], c.args[1][0], c.types[0])
}

/// Tuples that helpers can order.
fn order_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = common(cx, args, "<")?;
    if !list::orderable(cx.vars.resolve(t)) {
        return Err(no_match("<", args));
    }
    Ok(Answer::coerced(Type::bool(), vec![t, t]))
}

fn order(cx: &mut LowerCx<'_>, c: &OpCall<'_>, accepted: &[i64]) -> Result<Val> {
    Ok(vec![list::order(cx, c.args[0][0], c.args[1][0], c.types[0], accepted)?])
}

pub(crate) static WALK: Walk = Walk { start, step };

/// At the first member, or behind the last; what else an iterator over a container has is not needed.
fn start(cx: &mut LowerCx<'_>, v: &[Value], _: Container, reversed: bool) -> Val {
    let zero = cx.b.i64(0);
    let at = if reversed { list::len(cx, v[0]) } else { zero };
    vec![v[0], at, zero, zero]
}

fn step(cx: &mut LowerCx<'_>, v: &[Value], t: Type, reversed: bool) -> Result<(Val, Value, Val)> {
    let [tuple, at, a, b] = *v else { return Err(Diagnostic::internal("an iterator over a tuple")) };
    let e = member(&[Arg::of(t)])?;
    let n = list::len(cx, tuple);
    let here = if reversed { cx.b.bin_imm(Op::Isub, at, 1) } else { at };
    let has = cx.b.bin(Op::IcmpUlt, here, n);
    let value = cx.if_else(has, |cx| Ok(list::element(cx, tuple, e, here)), |cx| Ok(absent(&mut cx.b, e)))?;
    let next = if reversed { here } else { cx.b.bin_imm(Op::Iadd, at, 1) };
    Ok((vec![tuple, next, a, b], has, value))
}
