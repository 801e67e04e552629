//! What is declared of values in a function. A variable that `locals=` gives a type holds every value that is
//! assigned to it, converted to that type; what a function gives that declares its result is checked.

use super::{Body, OpDef};
use crate::declare::conversion;
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::types::{Kind, Type, parse};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    DECLARE_LOCAL = "declare.local",
    DECLARE_RESULT = "declare.result",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["declare.local"],
        "value, type, name",
        Body::Lir(rule, |cx, call| {
            let to = declared(call.consts[1].as_ref().and_then(|c| c.as_str()))?;
            cast::cast(cx, &call.args[0], call.types[0], to)
        }),
    )
    .raises()
    .aliases()
    .doc("The value of a variable whose type `locals=` gives."),
    OpDef::new(
        &["declare.result"],
        "value",
        Body::Lir(|_, a| Err(no_match("result()", a)), |_, _| Err(Diagnostic::internal("a result"))),
    )
    .aliases()
    .doc("What a function gives that declares its result (calls type it)."),
];

fn declared(text: Option<&str>) -> Result<Type> {
    text.and_then(|t| parse::parse(t).ok()).ok_or_else(|| Diagnostic::internal("a variable of no known type"))
}

fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let to = declared(args[1].text())?;
    if matches!(*args[0].ty, Kind::Undef | Kind::MaybeUndef(_)) || conversion(args[0].ty, to).is_none() {
        let name = args[2].text().unwrap_or_default();
        return Err(Diagnostic::new(
            Code::CannotUnify,
            format!("no conversion from {} to {to} for '{name}', whose type locals= gives", args[0].ty),
        )
        .help(format!("take '{name}' out of locals=, or give the value another name")));
    }
    Ok(Answer::of(to))
}
