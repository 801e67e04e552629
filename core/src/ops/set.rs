//! Sets and frozen sets: dicts whose values are empty tuples, so objects and helpers are those of
//! [`super::dict`].
//!
//! What builds, looks up and changes is here; what Python defines by these is library code
//! (`pybind/python/tierup/lib/sets.py`).

use super::dict::entries::{Entry, check_found, find, load, make, place_key, show_as};
use super::dict::exact::check_exact;
use super::dict::keys::{check_hashable, may_be_key};
use super::dict::{dict_clear, dict_copy, dict_drop_last, dict_eq, dict_live_before, dict_remove};
use super::{Body, OpDef};
use crate::desc;
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::constants::string;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::types::{Container, Kind, Type, promote};
use crate::typing::{Answer, Arg, Held, TyCx, no_match};

super::identity::op_ids! {
    SET_BUILD = "set.build" [makes_list, lists(Keeps)],
    SET_ADD = "set.add" [keeps, lists(Shallow)],
    SET_UPDATE = "set.update" [lists(Shallow)],
    SET_DISCARD = "set.discard" [lists(Shallow)],
    SET_REMOVE = "set.remove" [lists(Shallow)],
    SET_POP = "set.pop" [lists(Shallow)],
    SET_CLEAR = "set.clear" [lists(Shallow)],
    SET_COPY = "set.copy" [makes_list, lists(Shallow)],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["set.build"], "*items", Body::Lir(|cx, a| build_rule(cx, a, Container::Set), emit_build))
        .raises()
        .reads()
        .internal()
        .doc("`{a, b}`."),
    OpDef::new(&["builtins.set"], "", Body::Lir(|cx, a| build_rule(cx, a, Container::Set), emit_build))
        .raises()
        .reads()
        .doc("An empty set."),
    OpDef::new(
        &["builtins.frozenset"],
        "",
        Body::Lir(|cx, a| build_rule(cx, a, Container::FrozenSet), emit_build),
    )
    .raises()
    .reads()
    .doc("An empty frozen set."),
    OpDef::new(&["builtins.set"], "s", Body::Lir(copy_rule, emit_copy))
        .raises()
        .reads()
        .doc("A set of the elements of a set."),
    OpDef::new(
        &["set.copy"],
        "s",
        Body::Lir(copy_rule, |cx, c| {
            let copy = emit_copy(cx, c)?;
            show_as(cx, copy[0], c.args[0][0]);
            Ok(copy)
        }),
    )
    .raises()
    .reads()
    .doc("A set of the same elements, which Python sees itself if it does so the first."),
    OpDef::new(&["builtins.set"], "iterable", Body::Py("sets.of_iterable"))
        .only_if(|a| !is_set(a))
        .raises()
        .reads()
        .doc("A set of an iterable's elements."),
    OpDef::new(
        &["builtins.frozenset", "frozenset.copy"],
        "s",
        Body::Lir(
            |_, a| match a[0].ty.container() {
                Some((Container::FrozenSet, _)) => Ok(Answer::of(a[0].ty)),
                _ => Err(no_match("frozenset()", a)),
            },
            |_, c| Ok(c.args[0].clone()),
        ),
    )
    .consumes()
    .doc("The same frozen set."),
    OpDef::new(&["builtins.frozenset"], "iterable", Body::Py("sets.frozen_of_iterable"))
        .only_if(|a| !matches!(a[0].ty.container(), Some((Container::FrozenSet, _))))
        .raises()
        .reads()
        .doc("A frozen set of an iterable's elements."),
    OpDef::new(
        &["operator._frozen"],
        "s",
        Body::Lir(
            |_, a| match a[0].ty.container() {
                Some((Container::Set, m)) => {
                    Ok(Answer::of(Type::new(Kind::Container(Container::FrozenSet, m.to_vec()))))
                }
                _ => Err(no_match("a set", a)),
            },
            |_, c| Ok(c.args[0].clone()),
        ),
    )
    .consumes()
    .internal()
    .doc("A set that nobody else has, frozen (library use)."),
    OpDef::new(
        &["operator.contains"],
        "set, x",
        Body::Lir(
            |cx, a| {
                looked_up(cx, a, "in")?;
                Ok(Answer::of(Type::bool()))
            },
            |cx, c| {
                let at = find(cx, c, 1)?;
                Ok(vec![cx.b.bin_imm(Op::IcmpSge, at, 0)])
            },
        ),
    )
    .reads()
    .doc("`x in set`."),
    OpDef::new(&["set.add"], "set, x", Body::Lir(add_rule, emit_add))
        .raises()
        .writes()
        .doc("Puts an element in."),
    OpDef::new(&["set.discard"], "set, x", Body::Lir(|cx, a| remove_rule(cx, a, "discard()"), emit_discard))
        .writes()
        .doc("Takes an element out, if it is there."),
    OpDef::new(&["set.remove"], "set, x", Body::Lir(|cx, a| remove_rule(cx, a, "remove()"), emit_remove))
        .raises()
        .writes()
        .doc("Takes an element out; KeyError."),
    OpDef::new(
        &["set.pop"],
        "set",
        Body::Lir(|cx, a| element(a, "set.pop()").map(|t| Answer::of(cx.vars.known(t))), emit_pop),
    )
    .raises()
    .writes()
    .doc("Takes out the element that came last; KeyError. (Which one Python takes is not defined.)"),
    OpDef::new(
        &["set.clear"],
        "set",
        Body::Lir(
            |_, a| element(a, "set.clear()").map(|_| Answer::of(Type::none())),
            |cx, c| {
                cx.helper(&dict_clear, &[c.args[0][0]]);
                Ok(vec![])
            },
        ),
    )
    .writes()
    .doc("Takes all elements out."),
    OpDef::new(&["set.update"], "set, *others", Body::Py("sets.update"))
        .spread("sets.update")
        .raises()
        .writes()
        .doc("Puts in the elements of iterables."),
    OpDef::new(&["set._add_all"], "set, members", Body::Lir(add_members_rule, emit_add_members))
        .raises()
        .writes()
        .internal()
        .doc("Puts in the members of a tuple (library use)."),
    OpDef::new(&["set._add_all"], "set, iterable", Body::Py("sets.add_all"))
        .only_if(|a| a[1].ty.members().is_none())
        .raises()
        .writes()
        .internal()
        .doc("Puts in the elements of one iterable (library use)."),
    OpDef::new(&["set.union"], "set, *others", Body::Py("sets.union"))
        .spread("sets.union")
        .raises()
        .reads()
        .doc("A set of all."),
    OpDef::new(&["frozenset.union"], "set, *others", Body::Py("sets.frozen_union"))
        .spread("sets.frozen_union")
        .raises()
        .reads()
        .doc("A frozen set of all."),
    OpDef::new(&["set.intersection"], "set, *others", Body::Py("sets.intersection"))
        .spread("sets.intersection")
        .raises()
        .reads()
        .doc("A set of what all have."),
    OpDef::new(&["frozenset.intersection"], "set, *others", Body::Py("sets.frozen_intersection"))
        .spread("sets.frozen_intersection")
        .raises()
        .reads()
        .doc("A frozen set of what all have."),
    OpDef::new(&["set.difference"], "set, *others", Body::Py("sets.difference"))
        .spread("sets.difference")
        .raises()
        .reads()
        .doc("A set of what none of the others has."),
    OpDef::new(&["frozenset.difference"], "set, *others", Body::Py("sets.frozen_difference"))
        .spread("sets.frozen_difference")
        .raises()
        .reads()
        .doc("A frozen set of what none of the others has."),
    OpDef::new(&["set.symmetric_difference"], "set, other", Body::Py("sets.symmetric_difference"))
        .raises()
        .reads()
        .doc("A set of what only one of both has."),
    OpDef::new(
        &["frozenset.symmetric_difference"],
        "set, other",
        Body::Py("sets.frozen_symmetric_difference"),
    )
    .raises()
    .reads()
    .doc("A frozen set of what only one of both has."),
    OpDef::new(&["set.intersection_update"], "set, *others", Body::Py("sets.intersection_update"))
        .spread("sets.intersection_update")
        .raises()
        .writes()
        .doc("Keeps what all have."),
    OpDef::new(&["set.difference_update"], "set, *others", Body::Py("sets.difference_update"))
        .spread("sets.difference_update")
        .raises()
        .writes()
        .doc("Takes out what the others have."),
    OpDef::new(
        &["set.symmetric_difference_update"],
        "set, other",
        Body::Py("sets.symmetric_difference_update"),
    )
    .raises()
    .writes()
    .doc("Keeps what only one of both has."),
    OpDef::new(&["set.isdisjoint", "frozenset.isdisjoint"], "set, other", Body::Py("sets.isdisjoint"))
        .raises()
        .reads()
        .doc("Whether they have no element in common."),
    OpDef::new(&["set.issubset", "frozenset.issubset"], "set, other", Body::Py("sets.issubset"))
        .raises()
        .reads()
        .doc("Whether the other one has all elements."),
    OpDef::new(&["set.issuperset", "frozenset.issuperset"], "set, other", Body::Py("sets.issuperset"))
        .raises()
        .reads()
        .doc("Whether all elements of the other one are in it."),
    of_two(&["operator.or_"], "sets.union_of", "`a | b` of sets.", plain_first),
    of_two(&["operator.or_"], "sets.frozen_union_of", "`a | b` of a frozen set and a set.", frozen_first),
    of_two(&["operator.and_"], "sets.intersection_of", "`a & b` of sets.", plain_first),
    of_two(
        &["operator.and_"],
        "sets.frozen_intersection_of",
        "`a & b` of a frozen set and a set.",
        frozen_first,
    ),
    of_two(&["operator.sub"], "sets.difference_of", "`a - b` of sets.", plain_first),
    of_two(
        &["operator.sub"],
        "sets.frozen_difference_of",
        "`a - b` of a frozen set and a set.",
        frozen_first,
    ),
    of_two(&["operator.xor"], "sets.symmetric_difference", "`a ^ b` of sets.", plain_first),
    of_two(
        &["operator.xor"],
        "sets.frozen_symmetric_difference",
        "`a ^ b` of a frozen set and a set.",
        frozen_first,
    ),
    in_place(&["operator.ior"], "sets.updated", "`set |= other`."),
    in_place(&["operator.iand"], "sets.intersection_updated", "`set &= other`."),
    in_place(&["operator.isub"], "sets.difference_updated", "`set -= other`."),
    in_place(&["operator.ixor"], "sets.symmetric_difference_updated", "`set ^= other`."),
    OpDef::new(
        &["operator.eq"],
        "a, b",
        Body::Lir(equal_rule, |cx, c| Ok(vec![cx.helper_value(&dict_eq, &[c.args[0][0], c.args[1][0]])])),
    )
    .reads()
    .doc("`a == b` of sets."),
    OpDef::new(
        &["operator.ne"],
        "a, b",
        Body::Lir(equal_rule, |cx, c| {
            let v = cx.helper_value(&dict_eq, &[c.args[0][0], c.args[1][0]]);
            Ok(vec![cx.not(v)])
        }),
    )
    .reads()
    .doc("`a != b` of sets."),
    compared(&["operator.eq"], "sets.equal", "`a == b` of sets and views."),
    compared(&["operator.ne"], "sets.unequal", "`a != b` of sets and views."),
    compared(&["operator.le"], "sets.is_within", "`a <= b`: whether `b` has all elements of `a`."),
    compared(&["operator.lt"], "sets.is_properly_within", "`a < b`: the same, and others."),
    compared(&["operator.ge"], "sets.holds_all", "`a >= b`."),
    compared(&["operator.gt"], "sets.holds_all_and_more", "`a > b`."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("sets.text"))
        .only_if(is_set)
        .raises()
        .reads()
        .doc("`repr` of a set."),
];

/// An operator on two sets or views.
const fn of_two(
    path: &'static [&'static str],
    body: &'static str,
    doc: &'static str,
    takes: fn(&[Arg]) -> bool,
) -> OpDef {
    OpDef::new(path, "a, b", Body::Py(body)).only_if(takes).raises().reads().doc(doc)
}

/// An operator that changes the set before it.
const fn in_place(path: &'static [&'static str], body: &'static str, doc: &'static str) -> OpDef {
    let takes = |a: &[Arg]| is_plain(a) && is_set_like(&a[1..]);
    OpDef::new(path, "a, b", Body::Py(body)).only_if(takes).raises().writes().doc(doc)
}

/// A comparison of sets or views, whichever they are.
const fn compared(path: &'static [&'static str], body: &'static str, doc: &'static str) -> OpDef {
    let takes = |a: &[Arg]| is_set_like(a) && is_set_like(&a[1..]);
    OpDef::new(path, "a, b", Body::Py(body)).only_if(takes).raises().reads().doc(doc)
}

// ---- types

fn is_set(a: &[Arg]) -> bool {
    matches!(a[0].ty.container(), Some((Container::Set | Container::FrozenSet, _)))
}
fn is_plain(a: &[Arg]) -> bool {
    matches!(a[0].ty.container(), Some((Container::Set, _)))
}
/// Whether it is a set, or a view that is compared as one.
fn is_set_like(a: &[Arg]) -> bool {
    a[0].ty.container().is_some_and(|(c, _)| c.is_set_like())
}
fn frozen_first(a: &[Arg]) -> bool {
    matches!(a[0].ty.container(), Some((Container::FrozenSet, _))) && is_set_like(&a[1..])
}
/// Views take any iterable as the other operand.
fn plain_first(a: &[Arg]) -> bool {
    let view = a[0].ty.container().is_some_and(|(c, _)| c.is_view());
    is_set_like(a) && !frozen_first(a) && (view || is_set_like(&a[1..]))
}

/// The type of the elements, as a variable where it is one.
fn element(args: &[Arg], what: &str) -> Result<Type> {
    match args[0].ty.container() {
        Some((Container::Set | Container::FrozenSet, m)) => Ok(m[0]),
        _ => Err(no_match(what, args)),
    }
}

/// A set that is made here, whose elements are found out by use.
pub(super) fn new_set(cx: &mut TyCx<'_, '_>, which: Container) -> Type {
    // Of the least of numbers where nothing says what it has: it makes no other number of what it meets.
    let t = cx.vars.at(cx.site, 0, Type::bool());
    Type::new(Kind::Container(which, vec![t]))
}

/// A set also has such elements.
fn hold(cx: &mut TyCx<'_, '_>, held: Type, x: Type) -> Result<()> {
    check_hashable(cx, x, Held::Member)?;
    cx.hold(held, x, Held::Member)?;
    check_hashable(cx, held, Held::Member)
}

/// The known elements of the set in which the second operand is looked up.
fn looked_up(cx: &mut TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<Type> {
    let held = element(args, what)?;
    check_hashable(cx, args[1].ty, Held::Member)?;
    let [x, held] = [args[1].ty, held].map(|t| cx.vars.resolve(t));
    if *held == Kind::Never || *x == Kind::Never || may_be_key(x, held) {
        return Ok(held);
    }
    Err(Diagnostic::new(
        Code::NoMatchingOperation,
        format!("a value of type {x} is never in a set of {held}"),
    ))
}

// ---- rules

fn build_rule(cx: &mut TyCx<'_, '_>, args: &[Arg], which: Container) -> Result<Answer> {
    let set = new_set(cx, which);
    let held = held_by(set);
    args.iter().try_for_each(|a| hold(cx, held, a.ty))?;
    Ok(Answer::of(set))
}

fn copy_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let from = element(args, "set()")?;
    let from = cx.vars.known(from);
    let set = new_set(cx, Container::Set);
    hold(cx, held_by(set), from)?;
    Ok(Answer::of(set))
}

fn add_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let held = element(args, "set.add()")?;
    hold(cx, held, args[1].ty)?;
    Ok(Answer::of(Type::none()))
}

fn add_members_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let held = element(args, "set.update()")?;
    let Some(members) = args[1].ty.members() else { return Err(no_match("set.update()", args)) };
    members.iter().try_for_each(|m| hold(cx, held, *m))?;
    Ok(Answer::of(Type::none()))
}

fn remove_rule(cx: &mut TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<Answer> {
    looked_up(cx, args, what)?;
    Ok(Answer::of(Type::none()))
}

fn equal_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let [a, b] = [element(args, "==")?, element(&args[1..], "==")?].map(|t| cx.vars.resolve(t));
    let known = *a != Kind::Never && desc::compared_parts(a).is_some();
    if a == b && known { Ok(Answer::of(Type::bool())) } else { Err(no_match("==", args)) }
}

// ---- emitters

/// Puts a borrowed value into a set.
fn add(cx: &mut LowerCx<'_>, set: (Value, Type), (x, t): (&[Value], Type)) -> Result<()> {
    let (made, held) = (cx.made.len(), held_by(set.1));
    let element = cast::cast(cx, x, t, held)?;
    check_exact(cx, Held::Member, (x, t), (&element, held))?;
    place_key(cx, set, &element)?;
    cx.release_made(made);
    Ok(())
}

fn held_by(t: Type) -> Type {
    t.container().map_or(Type::never(), |(_, m)| m[0])
}

fn emit_build(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let set = make(cx, c.ret, c.args.len())?;
    cx.guarded(&[set], |cx| {
        for (x, t) in c.args.iter().zip(c.types) {
            add(cx, (set, c.ret), (x, *t))?;
        }
        Ok(vec![set])
    })
}

fn emit_copy(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let [from, to] = [held_by(c.types[0]), held_by(c.ret)];
    if promote::same_but_weak(from, to) {
        return Ok(vec![cx.helper_value(&dict_copy, &[c.args[0][0]])]);
    }
    let set = make(cx, c.ret, 0)?;
    if *from == Kind::Never {
        return Ok(vec![set]);
    }
    cx.guarded(&[set], |cx| {
        super::iter::for_each(cx, &c.args[0], c.types[0], |cx, x, t| {
            add(cx, (set, c.ret), (&x, t))?;
            cx.release(&x, t);
            Ok(())
        })?;
        Ok(vec![set])
    })
}

fn emit_add(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    add(cx, (c.args[0][0], c.types[0]), (&c.args[1], c.types[1]))?;
    Ok(vec![])
}

fn emit_add_members(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let set = (c.args[0][0], c.types[0]);
    let members = c.types[1].members().unwrap_or_default();
    for (x, t) in split_leaves(&c.args[1], members).into_iter().zip(members) {
        add(cx, set, (&x, *t))?;
    }
    Ok(vec![])
}

fn emit_discard(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = find(cx, c, 1)?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    cx.if_then(found, |cx| {
        cx.helper(&dict_remove, &[c.args[0][0], at]);
        Ok(())
    })?;
    Ok(vec![])
}

fn emit_remove(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = find(cx, c, 1)?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    check_found(cx, found, &c.args[1], c.types[1])?;
    cx.helper(&dict_remove, &[c.args[0][0], at]);
    Ok(vec![])
}

fn emit_pop(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let set = c.args[0][0];
    let used = cx.b.load(Ty::I64, set, offset!(Dict.used), Alias::Object);
    let at = cx.helper_value(&dict_live_before, &[set, used]);
    let some = cx.b.bin_imm(Op::IcmpSge, at, 0);
    let text = string(&mut cx.b, "pop from an empty set");
    check_found(cx, some, &[text], Type::str())?;
    if *c.ret == Kind::Never {
        return Ok(vec![]);
    }
    let entry = Entry::of(c.types[0])?;
    let p = entry.address(cx, set, at);
    let x = load(cx, p, entry.key());
    cx.retain(&x, c.ret);
    cx.helper(&dict_drop_last, &[set, at]);
    Ok(x)
}
