//! `str.join`: of lists, and of tuples, whose members are laid out for the helper.

use super::{str_join, str_join_all};
use crate::diag::Result;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::types::{Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(super) fn rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let list = cx.elem(args[1].ty).is_some_and(|e| *e == Kind::Str || *e == Kind::Never);
    let tuple = args[1].ty.members().is_some_and(|m| m.iter().all(|t| **t == Kind::Str));
    if *args[0].ty == Kind::Str && (list || tuple) {
        Ok(Answer::of(Type::str()))
    } else {
        Err(no_match("str.join", args))
    }
}

/// Whether a list may hold texts beside something else; of what is put into it here nothing is known yet.
pub(super) fn may_hold_texts(list: Type) -> bool {
    matches!(list.kind(), Kind::List(e) if matches!(e.kind(), Kind::Optional(_) | Kind::Variant(_) | Kind::Var(_)))
}

pub(super) fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.types[1].members().is_none() {
        return Ok(vec![cx.helper_value(&str_join, &[c.args[0][0], c.args[1][0]])]);
    }
    let (at, n) = (cx.spill(&c.args[1]), cx.b.i64(c.args[1].len() as i64));
    Ok(vec![cx.helper_value(&str_join_all, &[c.args[0][0], at, n])])
}
