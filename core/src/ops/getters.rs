//! The functions of Python's `operator` that take attributes and methods by names: `attrgetter` and
//! `methodcaller`. The function for some names is written by the host.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::types::Const;
use crate::typing::{Answer, Arg, TyCx};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["operator.attrgetter"],
        "attr, *attrs",
        Body::Lir(|cx, a| written(cx, "_calls.attributes", "attrgetter()", a), |_, _| Ok(vec![])),
    )
    .doc("A function that takes attributes of its argument, whose names are constants."),
    OpDef::new(&["operator.methodcaller"], "name, *args", Body::Py("functions.methodcaller"))
        .raises()
        .doc("A function that calls a method of its argument, whose name is a constant."),
    OpDef::new(
        &["operator._method_named"],
        "name",
        Body::Lir(|cx, a| written(cx, "_calls.method", "methodcaller()", a), |_, _| Ok(vec![])),
    )
    .internal()
    .doc("A function that calls a method of its first argument with the others (library use)."),
];

fn written(cx: &TyCx<'_, '_>, maker: &str, what: &str, args: &[Arg]) -> Result<Answer> {
    let mut names = vec![];
    for a in args {
        match &a.konst {
            Some(Const::Tuple(more)) => names.extend(more.iter().cloned()),
            Some(one) => names.push(one.clone()),
            None => names.push(Const::None),
        }
    }
    if !names.iter().all(|n| matches!(n, Const::Str(_))) {
        return Err(Diagnostic::new(
            Code::RequiresConstant,
            format!("{what} takes names that are constants"),
        ));
    }
    cx.written(maker, &[Const::Tuple(names)])
}
