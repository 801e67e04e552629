//! `tierup.unroll(xs)` and `tierup.static(x)`: what a loop goes through turn by turn, and what is known when a
//! function is compiled. Inference carries both out ([`crate::infer`]); the rows say what is wrong elsewhere.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic};
use crate::typing::Answer;

super::identity::op_ids! {
    TIERUP_UNROLL = "tierup.unroll" [list_may_be_tuple],
    TIERUP_STATIC = "tierup.static",
    UNROLL_COUNTED = "unroll.counted",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["tierup.unroll"],
        "xs",
        Body::Lir(|_, _| Err(without_loop()), |_, c| Ok(c.args[0].clone())),
    )
    .aliases()
    .doc("The argument; the loop over it is written out, turn by turn, each with types of its own."),
    OpDef::new(
        &["tierup.static"],
        "x",
        Body::Lir(
            |_, a| match &a[0].konst {
                Some(c) => Ok(Answer::of(a[0].ty).known(Some(c.clone()))),
                None => Err(Diagnostic::new(
                    Code::RequiresConstant,
                    "static() stands for a value that is known when the function is compiled",
                )),
            },
            |_, c| Ok(c.args[0].clone()),
        ),
    )
    .aliases()
    .doc("The argument, which is known when the function is compiled; a parameter's value has code of its own."),
];

/// The error for `unroll` where no loop goes through what it gives.
pub(crate) fn without_loop() -> Diagnostic {
    Diagnostic::new(
        Code::UnsupportedSyntax,
        "unroll() means nothing here: no loop of this function goes through what it gives",
    )
    .help("write it where the loop is, `for x in unroll(xs):`")
}
