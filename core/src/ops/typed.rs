//! `tierup.typed`: containers that Python sees where they lie. To compiled code a typed list is a list like
//! any other, a typed dict a dict, a typed set a set; the object itself knows that Python is to see it, not a copy of it
//! ([`crate::layout::Counted::users`]).

use super::dtype::type_arg;
use super::{Body, OpDef, dict, id, list, set};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::layout::SHOWN;
use crate::lir::{self, Alias, Ty};
use crate::offset;
use crate::types::{Const, Container, Kind, Type};
use crate::typing::{Answer, Arg, Held, TyCx, no_match};

super::identity::op_ids! {
    TYPED_LIST = "tierup.typed.List",
    TYPED_DICT = "tierup.typed.Dict",
    TYPED_SET = "tierup.typed.Set",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["tierup.typed.List"],
        "",
        Body::Lir(|cx, _| cx.new_list(Type::never()).map(Answer::of), |cx, c| emit_new(cx, c, 0)),
    )
    .raises()
    .reads()
    .doc("An empty list that Python sees itself."),
    OpDef::new(&["tierup.typed.List"], "iterable", Body::Py("typed.list_of"))
        .raises()
        .doc("A list of an iterable's values that Python sees itself."),
    OpDef::new(
        &["typed_list.empty_list"],
        "item_type, allocated=0",
        Body::Lir(empty_rule, |cx, c| {
            let room = cast::to_i64(cx, c.args[1][0], c.types[1]);
            let none = cx.b.i64(0);
            let room = cx.b.bin(lir::Op::Smax, room, none);
            new_with_room(cx, c, room)
        }),
    )
    .raises()
    .reads()
    .doc("An empty list of elements of a type, with room for some, that Python sees itself."),
    OpDef::new(
        &["tierup.typed.Dict"],
        "",
        Body::Lir(|cx, _| Ok(Answer::of(dict::new_dict(cx))), |cx, c| new_dict(cx, c, 0)),
    )
    .raises()
    .reads()
    .doc("An empty dict that Python sees itself."),
    OpDef::new(&["tierup.typed.Dict"], "entries", Body::Py("typed.dict_of"))
        .raises()
        .reads()
        .doc("A dict of another one's entries, or of an iterable's pairs, that Python sees itself."),
    OpDef::new(
        &["typed_dict.empty"],
        "key_type, value_type, n_keys=0",
        Body::Lir(empty_dict_rule, |cx, c| new_dict(cx, c, few(c.consts[2].as_ref()))),
    )
    .raises()
    .reads()
    .doc("An empty dict of keys and values of two types that Python sees itself."),
    OpDef::new(
        &["tierup.typed.Set"],
        "",
        Body::Lir(|cx, _| Ok(Answer::of(set::new_set(cx, Container::Set))), |cx, c| new_dict(cx, c, 0)),
    )
    .raises()
    .reads()
    .doc("An empty set that Python sees itself."),
    OpDef::new(&["tierup.typed.Set"], "iterable", Body::Py("typed.set_of"))
        .raises()
        .reads()
        .doc("A set of an iterable's elements that Python sees itself."),
    OpDef::new(
        &["typed_set.empty"],
        "key_type, n_keys=0",
        Body::Lir(empty_set_rule, |cx, c| new_dict(cx, c, few(c.consts[1].as_ref()))),
    )
    .raises()
    .reads()
    .doc("An empty set of elements of a type that Python sees itself."),
    OpDef::new(
        &["builtins.isinstance"],
        "x, classes",
        Body::Lir(|_, _| Ok(Answer::of(Type::bool())), |cx, c| Ok(vec![is_shown(cx, c.args[0][0])])),
    )
    .only_if(|a| tells(a[0].ty, a[1].ty))
    .reads()
    .doc("Whether a list, a dict or a set is one that Python sees itself; known when the program runs."),
];

/// Whether a class is that of the containers of a type which Python sees itself: of a value it shows when the
/// program runs.
pub(crate) fn tells(t: Type, class: Type) -> bool {
    let Kind::Builtin(class) = class.kind() else { return false };
    match t.container() {
        Some((Container::Dict, _)) => *class == id::TYPED_DICT,
        Some((Container::Set, _)) => *class == id::TYPED_SET,
        Some(_) => false,
        None => matches!(*t, Kind::List(_)) && *class == id::TYPED_LIST,
    }
}

/// Room for the entries that are announced. More than a few get it when they come: the number may be any.
fn few(announced: Option<&Const>) -> usize {
    announced.and_then(Const::as_int).unwrap_or(0).clamp(0, 1 << 20) as usize
}

/// A dict or a set.
fn new_dict(cx: &mut LowerCx<'_>, c: &OpCall<'_>, room: usize) -> Result<Val> {
    let new = dict::entries::make(cx, c.ret, room)?;
    Ok(shown(cx, new))
}

fn shown(cx: &mut LowerCx<'_>, new: lir::Value) -> Val {
    let shown = cx.b.i64(SHOWN);
    cx.b.store(shown, new, offset!(Counted.users), Alias::Object);
    vec![new]
}

fn is_shown(cx: &mut LowerCx<'_>, container: lir::Value) -> lir::Value {
    let users = cx.b.load(Ty::I64, container, offset!(Counted.users), Alias::Object);
    let shown = cx.b.bin_imm(lir::Op::Band, users, SHOWN);
    cx.b.bin_imm(lir::Op::IcmpNe, shown, 0)
}

fn empty_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !args[1].ty.is_index() {
        return Err(no_match("List.empty_list", args));
    }
    said(&args[0], "List.empty_list", "List() takes the type of the first element that is appended")
        .map(|t| Answer::of(Type::list(t)))
}

fn empty_dict_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !args[2].ty.is_index() {
        return Err(no_match("Dict.empty", args));
    }
    let help = "Dict() takes the types of the first key and its value";
    let (key, value) = (said(&args[0], "Dict.empty", help)?, said(&args[1], "Dict.empty", help)?);
    dict::keys::check_hashable(cx, key, Held::Key)?;
    Ok(Answer::of(Type::dict(key, value)))
}

fn empty_set_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !args[1].ty.is_index() {
        return Err(no_match("Set.empty", args));
    }
    let element = said(&args[0], "Set.empty", "Set() takes the type of the first element that is added")?;
    dict::keys::check_hashable(cx, element, Held::Member)?;
    Ok(Answer::of(Type::new(Kind::Container(Container::Set, vec![element]))))
}

/// What a container is of whose types are said: nothing that is put in changes it.
fn said(arg: &Arg, by: &str, help: &str) -> Result<Type> {
    type_arg(arg).ok_or_else(|| {
        Diagnostic::new(Code::NoMatchingOperation, format!("{by} takes types, not {}", arg.ty)).help(help)
    })
}

fn emit_new(cx: &mut LowerCx<'_>, c: &OpCall<'_>, room: i64) -> Result<Val> {
    let room = cx.b.i64(room);
    new_with_room(cx, c, room)
}

fn new_with_room(cx: &mut LowerCx<'_>, c: &OpCall<'_>, room: lir::Value) -> Result<Val> {
    let Kind::List(elem) = *c.ret else {
        return Err(Diagnostic::internal(format!("{} is no list", c.ret)));
    };
    let new = list::make(cx, elem, room);
    Ok(shown(cx, new))
}
