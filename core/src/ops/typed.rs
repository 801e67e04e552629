//! `tierup.typed`: containers that Python sees where they lie. To compiled code a typed list is a list like
//! any other; the list itself knows that Python is to see it, not a copy of it
//! ([`crate::layout::List::users`]).

use super::dtype::dtype_arg;
use super::{Body, OpDef, id, list};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::layout::SHOWN;
use crate::lir::{self, Alias, Ty};
use crate::offset;
use crate::types::{Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    TYPED_LIST = "tierup.typed.List",
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
        &["builtins.isinstance"],
        "x, classes",
        Body::Lir(|_, _| Ok(Answer::of(Type::bool())), |cx, c| Ok(vec![is_shown(cx, c.args[0][0])])),
    )
    .only_if(|a| matches!(*a[0].ty, Kind::List(_)) && is_list_class(a[1].ty))
    .reads()
    .doc("Whether a list is one that Python sees itself; known when the program runs."),
];

/// Whether a type is the class of typed lists.
pub(crate) fn is_list_class(t: Type) -> bool {
    matches!(t.kind(), Kind::Builtin(p) if *p == id::TYPED_LIST)
}

fn is_shown(cx: &mut LowerCx<'_>, list: lir::Value) -> lir::Value {
    let users = cx.b.load(Ty::I64, list, offset!(List.users), Alias::Object);
    let shown = cx.b.bin_imm(lir::Op::Band, users, SHOWN);
    cx.b.bin_imm(lir::Op::IcmpNe, shown, 0)
}

fn empty_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !args[1].ty.is_index() {
        return Err(no_match("List.empty_list", args));
    }
    // What its elements are is said: nothing that is put in changes it.
    dtype_arg(&args[0]).map(|t| Answer::of(Type::list(t.strong()))).ok_or_else(|| {
        Diagnostic::new(
            Code::NoMatchingOperation,
            format!("List.empty_list takes a type of numbers here, not {}", args[0].ty),
        )
        .help("List() takes the type of the first element that is appended")
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
    let shown = cx.b.i64(SHOWN);
    cx.b.store(shown, new, offset!(List.users), Alias::Object);
    Ok(vec![new])
}
