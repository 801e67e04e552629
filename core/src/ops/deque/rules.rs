//! How operations on deques are typed.

use crate::desc;
use crate::diag::{Code, Diagnostic, Result};
use crate::ops::list::{found_by_helpers, ordered_by_helpers};
use crate::ops::{iter, sequence};
use crate::types::{Container, Kind, Type};
use crate::typing::{Answer, Arg, Held, TyCx, no_match};

pub(super) fn is_deque(args: &[Arg]) -> bool {
    matches!(args[0].ty.container(), Some((Container::Deque, _)))
}
pub(super) fn are_deques(args: &[Arg]) -> bool {
    is_deque(args) && is_deque(&args[1..])
}

/// The type of the elements of the first operand, which must be a deque; as a variable where it is one.
fn element(args: &[Arg], what: &str) -> Result<Type> {
    match args[0].ty.container() {
        Some((Container::Deque, m)) => Ok(m[0]),
        _ => Err(no_match(what, args)),
    }
}

/// The same as far as it is known; `Never` where nothing is.
fn known(cx: &TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<Type> {
    Ok(cx.vars.resolve(element(args, what)?))
}

fn refused(text: String) -> Diagnostic {
    Diagnostic::new(Code::NoMatchingOperation, text)
}

/// A deque that is made here, whose elements are found out by use, and also hold such values.
fn new_deque(cx: &mut TyCx<'_, '_>, values: &[Type]) -> Result<Answer> {
    let held = cx.vars.at(cx.site, 0, Type::int());
    values.iter().try_for_each(|x| cx.hold(held, *x, Held::Queued))?;
    Ok(Answer::of(Type::new(Kind::Container(Container::Deque, vec![held]))))
}

/// The type of the values that an iterable gives.
fn values(cx: &mut TyCx<'_, '_>, t: Type) -> Result<Type> {
    sequence::element_type_in(cx, t)
        .or_else(|| iter::value_type_in(cx, iter::iterator_of(t)?))
        .ok_or_else(|| refused(format!("a value of type {} cannot be iterated over", cx.vars.resolve(t))))
}

pub(super) fn new(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let is_length = |t: Type| t.is_index() || matches!(*t, Kind::Optional(t) if t.is_index());
    if !args[1].is_none() && !is_length(args[1].ty) {
        return Err(refused(format!("maxlen: an integer is required, not {}", cx.vars.resolve(args[1].ty))));
    }
    if args[0].is_omitted() {
        return new_deque(cx, &[]);
    }
    let x = values(cx, args[0].ty)?;
    new_deque(cx, &[x])
}

/// The deque also holds what operand `k` is.
pub(super) fn put(cx: &mut TyCx<'_, '_>, args: &[Arg], k: usize, what: &str) -> Result<Answer> {
    let held = element(args, what)?;
    cx.hold(held, args[k].ty, Held::Queued)?;
    Ok(Answer::of(Type::none()))
}

/// The deque also holds what the second operand gives.
pub(super) fn extend(cx: &mut TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<()> {
    let held = element(args, what)?;
    let x = values(cx, args[1].ty)?;
    cx.hold(held, x, Held::Queued)
}

pub(super) fn shared(args: &[Arg]) -> Result<Answer> {
    element(args, "list.extend()")?;
    Err(Diagnostic::new(Code::ParallelRace, "iterations of a prange loop change a deque that they share")
        .help("use range, or give each iteration one of its own"))
}

pub(super) fn nothing(args: &[Arg], what: &str) -> Result<Answer> {
    element(args, what).map(|_| Answer::of(Type::none()))
}

pub(super) fn taken(cx: &TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<Answer> {
    let e = element(args, what)?;
    Ok(Answer::of(cx.vars.known(e)))
}

/// The operand must be an integer; Python's words where it is none.
fn integer(arg: &Arg, message: impl FnOnce(Type) -> String) -> Result<()> {
    if arg.ty.is_index() { Ok(()) } else { Err(refused(message(arg.ty))) }
}
fn as_integer(arg: &Arg) -> Result<()> {
    integer(arg, |t| format!("a value of type {t} cannot be interpreted as an integer"))
}
fn as_index(arg: &Arg) -> Result<()> {
    integer(arg, |t| format!("the index of a deque must be an integer, not {t}")).map_err(|e| {
        if matches!(*arg.ty, Kind::Slice(_)) {
            e.help("a deque has no slices: take a part of list(d), or use itertools.islice")
        } else {
            e
        }
    })
}

pub(super) fn insert(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    element(args, "insert")?;
    as_integer(&args[1])?;
    put(cx, args, 2, "insert")
}

pub(super) fn rotate(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    element(args, "rotate")?;
    as_integer(&args[1])?;
    Ok(Answer::of(Type::none()))
}

pub(super) fn maxlen(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    element(args, "maxlen")?;
    Ok(Answer::of(Type::optional(Type::int())))
}

pub(super) fn item(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let e = element(args, "[]")?;
    as_index(&args[1])?;
    Ok(Answer::of(cx.vars.known(e)))
}

pub(super) fn set(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    element(args, "[] =")?;
    as_index(&args[1])?;
    put(cx, args, 2, "[] =")
}

pub(super) fn delete(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    element(args, "del")?;
    as_index(&args[1])?;
    Ok(Answer::of(Type::none()))
}

/// A deque with the elements of the first operand: it may come to hold more than that one.
pub(super) fn made_of(cx: &mut TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<Answer> {
    let e = element(args, what)?;
    let e = cx.vars.known(e);
    new_deque(cx, &[e])
}

pub(super) fn concat(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    element(args, "+")?;
    if !is_deque(&args[1..]) {
        let class = &crate::classes::class_of(args[1].ty).name;
        return Err(refused(format!("can only concatenate deque (not \"{class}\") to deque"))
            .help("d += x takes any iterable, and d + deque(x) makes a new one"));
    }
    let both = [element(args, "+")?, element(&args[1..], "+")?].map(|e| cx.vars.known(e));
    new_deque(cx, &both)
}

pub(super) fn repeat(cx: &mut TyCx<'_, '_>, args: &[Arg], k: usize) -> Result<Answer> {
    element(&args[k..], "*")?;
    if !args[1 - k].ty.is_index() {
        return Err(no_match("*", args));
    }
    made_of(cx, &args[k..], "*")
}

pub(super) fn repeat_in_place(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    element(args, "*=")?;
    if args[1].ty.is_index() { Ok(Answer::of(args[0].ty)) } else { Err(no_match("*=", args)) }
}

/// A search for a value gives a fixed type, whatever the elements are. Helpers look for a value of the
/// elements' type.
pub(super) fn search(cx: &mut TyCx<'_, '_>, args: &[Arg], ret: Type) -> Result<Answer> {
    let e = known(cx, args, "search")?;
    if *e != Kind::Never && !found_by_helpers(e, args[1].ty) {
        return Err(no_match("search in a deque", args));
    }
    Ok(Answer::of(ret))
}

/// The same where the message shows the value, which a helper can for integers of Python's.
pub(super) fn shown(cx: &mut TyCx<'_, '_>, args: &[Arg], ret: Type) -> Result<Answer> {
    let x = args[1].ty;
    if *x == Kind::Bool || !x.is_index() || !x.is_weak() {
        return Err(no_match("a search", args));
    }
    search(cx, args, ret)
}

pub(super) fn index(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    element(args, "deque.index()")?;
    args[2..]
        .iter()
        .try_for_each(|a| integer(a, |t| format!("the bounds of deque.index() must be integers, not {t}")))?;
    shown(cx, args, Type::int())
}

/// Helpers compare elements of one type that has codes.
pub(super) fn compare(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (a, b) = (known(cx, args, "==")?, known(cx, &args[1..], "==")?);
    // An empty deque is one of what it is compared with.
    let unknown = *a == Kind::Never || *b == Kind::Never;
    if unknown {
        cx.unify(args[0].ty, args[1].ty).ok_or_else(|| no_match("==", args))?;
    }
    if !unknown && (a != b || desc::compared_parts(a).is_none()) {
        return Err(no_match("==", args));
    }
    Ok(Answer::of(Type::bool()))
}

/// Helpers order elements that have an order.
pub(super) fn order(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let answer = compare(cx, args)?;
    let e = known(cx, args, "<")?;
    if *e == Kind::Never || ordered_by_helpers(e) { Ok(answer) } else { Err(no_match("<", args)) }
}
