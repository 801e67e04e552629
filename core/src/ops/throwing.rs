//! What library code does with exceptions and generators beyond Python's statements.

use super::raising::{exc_cut_trail, exc_trail};
use super::{Body, OpDef};
use crate::diag::Result;
use crate::types::{Kind, Type};
use crate::typing::{Answer, Arg, no_match};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["operator._throw"],
        "generator, exception",
        Body::Lir(
            |_, a| match (a[0].ty.kind(), a[1].ty.kind()) {
                (Kind::Generator(..), Kind::Exception) => Ok(Answer::of(Type::bool())),
                _ => Err(no_match("throw()", a)),
            },
            |cx, c| {
                let Kind::Generator(id, yields) = *c.types[0] else { return Ok(vec![]) };
                let has = crate::emit::generators::throw(cx, (id, yields), c.args[0][0], c.args[1][0])?;
                Ok(vec![has])
            },
        ),
    )
    .internal()
    .raises()
    .writes()
    .doc(
        "Throws an exception into a generator; whether it gives another value, which is lost (library use).",
    ),
    OpDef::new(
        &["operator._trail"],
        "exception",
        Body::Lir(
            |_, a| of_exception(a, Type::int()),
            |cx, c| Ok(vec![cx.helper_value(&exc_trail, &[c.args[0][0]])]),
        ),
    )
    .internal()
    .reads()
    .doc("How long the traceback of an exception is (library use)."),
    OpDef::new(
        &["operator._cut_trail"],
        "exception, n",
        Body::Lir(
            |_, a| of_exception(a, Type::none()),
            |cx, c| {
                _ = cx.helper(&exc_cut_trail, &[c.args[0][0], c.args[1][0]]);
                Ok(vec![])
            },
        ),
    )
    .internal()
    .writes()
    .doc("Forgets of a traceback what is longer (library use)."),
];

fn of_exception(args: &[Arg], gives: Type) -> Result<Answer> {
    if *args[0].ty == Kind::Exception { Ok(Answer::of(gives)) } else { Err(no_match("a traceback", args)) }
}
