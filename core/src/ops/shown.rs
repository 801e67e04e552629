//! What is being shown: the text of something that leads back to itself says `...` where it comes again. Library
//! code asks (`builtin.in_ring`), and only for types that may lead back: all others have nothing to remember.

use super::{Body, OpDef};
use crate::diag::Result;
use crate::layout::Obj;
use crate::types::{Const, Kind, Type, object};
use crate::typing::{Answer, Arg, no_match};

crate::runtime_fns! {
    /// What is being shown.
    trait Helpers;
    /// Whether this thread shows an object already; from now on it does.
    fn show_begin(object: *mut Obj) -> i64 [Writes, Never];
    /// The object that was begun last is shown.
    fn show_end() [Writes, Never];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["operator._leads_back"],
        "x",
        Body::Lir(
            |cx, a| {
                let back = object::is_recursive(cx.vars.resolve(a[0].ty));
                Ok(Answer::constant(Const::Bool(back)))
            },
            |cx, _| Ok(vec![cx.b.bool(false)]),
        ),
    )
    .internal()
    .doc("Whether a value may lead back to itself; known when it is compiled (library use)."),
    OpDef::new(&["operator._text_in_ring"], "text, x, again", Body::Py("builtin.text_in_ring"))
        .internal()
        .raises()
        .writes()
        .doc("The text of something that may lead back to itself, by a function (library use)."),
    OpDef::new(
        &["operator._begin_text"],
        "x",
        Body::Lir(
            |_, a| of_reference(a, Type::bool()),
            |cx, c| {
                let again = cx.helper_value(&show_begin, &[c.args[0][0]]);
                Ok(vec![cx.b.bin_imm(crate::lir::Op::IcmpNe, again, 0)])
            },
        ),
    )
    .internal()
    .writes()
    .doc("Whether an object is being shown already; if not, it is from now on (library use)."),
    OpDef::new(
        &["operator._end_text"],
        "x",
        Body::Lir(
            |_, a| of_reference(a, Type::none()),
            |cx, _| {
                _ = cx.helper(&show_end, &[]);
                Ok(vec![])
            },
        ),
    )
    .internal()
    .writes()
    .doc("An object is shown: the one that was begun last (library use)."),
];

/// The operand is one object of the heap.
fn of_reference(args: &[Arg], gives: Type) -> Result<Answer> {
    if matches!(*args[0].ty, Kind::Object(..) | Kind::List(_) | Kind::Container(..)) {
        Ok(Answer::of(gives))
    } else {
        Err(no_match("a text", args))
    }
}
