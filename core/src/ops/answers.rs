//! What special methods answer where only the program knows it: NotImplemented, or the sum of no instances.
//! Inference carries them out ([`crate::infer`]).

use super::{Body, OpDef};
use crate::diag::Diagnostic;
use crate::emit::cast;
use crate::typing::no_match;

super::identity::op_ids! {
    ANSWER = "operator._answer",
    ANSWER_OR = "operator._answer_or",
    OR_RESULT = "operator._or_result",
    BESIDE = "operator._beside",
    HOLDS_INSTANCES = "operator._holds_instances",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["operator._answer"],
        "answer, a, b, sign",
        Body::Lir(|_, a| Err(no_match("an answer", a)), |_, _| Err(Diagnostic::internal("an answer"))),
    )
    .internal()
    .doc("What a special method gave, or what Python does where nobody answers (library use)."),
    OpDef::new(
        &["operator._answer_or"],
        "answer, method, x, y",
        Body::Lir(|_, a| Err(no_match("an answer", a)), |_, _| Err(Diagnostic::internal("an answer"))),
    )
    .internal()
    .doc("What a special method gave, or what another one gives (library use)."),
    OpDef::new(
        &["operator._or_result", "operator._beside"],
        "x, *others",
        Body::Lir(|_, a| Err(no_match("a value", a)), |cx, c| cast::cast(cx, &c.args[0], c.types[0], c.ret)),
    )
    .internal()
    .aliases()
    .doc("A value where what a call gives may stand as well, or another value (library use)."),
    OpDef::new(
        &["operator._holds_instances"],
        "values",
        Body::Lir(|_, a| Err(no_match("elements", a)), |cx, _| Ok(vec![cx.b.bool(false)])),
    )
    .internal()
    .doc("Whether instances of the user's classes are gone through (library use)."),
];
