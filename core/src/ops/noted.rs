//! Attributes and notes of exceptions, and what library code does with tracebacks.

use super::exception::{any_argument, argument_types, given};
use super::raising::{exc_add_note, exc_attribute, exc_cut_trail, exc_hides_context, exc_link, exc_trail};
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::constants;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::exc::Class;
use crate::lir::Op;
use crate::types::{Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    EXC_ATTRIBUTE = "exc.attribute",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["exc.attribute"], "exception, name", Body::Lir(attribute_rule, emit_attribute))
        .internal()
        .raises()
        .writes()
        .doc("An attribute that an exception's class gives it: a number, a string or None; AttributeError."),
    OpDef::new(
        &["exception.__cause__"],
        "exception",
        Body::Lir(|_, a| of_exception(a, Type::optional(a[0].ty)), |cx, c| emit_link(cx, c, 0)),
    )
    .property()
    .raises()
    .writes()
    .doc("What was raised `from`, or None."),
    OpDef::new(
        &["exception.__context__"],
        "exception",
        Body::Lir(|_, a| of_exception(a, Type::optional(a[0].ty)), |cx, c| emit_link(cx, c, 1)),
    )
    .property()
    .raises()
    .writes()
    .doc("What was being handled when it was raised, or None."),
    OpDef::new(
        &["exception.__suppress_context__"],
        "exception",
        Body::Lir(
            |_, a| of_exception(a, Type::bool()),
            |cx, c| Ok(vec![cx.helper_value(&exc_hides_context, &[c.args[0][0]])]),
        ),
    )
    .property()
    .reads()
    .doc("Whether `raise … from …` hides the context."),
    OpDef::new(
        &["exception.add_note"],
        "exception, note",
        Body::Lir(
            |_, a| {
                if *a[1].ty == Kind::Str {
                    of_exception(a, Type::none())
                } else {
                    Err(no_match("add_note()", a))
                }
            },
            |cx, c| {
                _ = cx.helper(&exc_add_note, &[c.args[0][0], c.args[1][0]]);
                Ok(vec![])
            },
        ),
    )
    .raises()
    .writes()
    .doc("A line more under the text of an exception, where Python shows it."),
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

fn emit_link(cx: &mut LowerCx<'_>, c: &OpCall<'_>, which: i64) -> Result<Val> {
    let which = cx.b.i64(which);
    let (link, null) = (cx.helper_value(&exc_link, &[c.args[0][0], which]), cx.b.null());
    Ok(vec![cx.b.bin(Op::IcmpNe, link, null), link])
}

/// What a generator returns is the value of its StopIteration; of other attributes only Python knows what they are.
fn attribute_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let returned = if args[1].text() == Some("value") { cx.vars.value_of_stop() } else { None };
    let Some(returned) = returned else { return of_exception(args, any_argument()) };
    if *returned != Kind::None && member_of(returned.without_none()).is_none() {
        let text = format!(
            "the value of StopIteration is {returned} here, which compiled code cannot take out of it"
        );
        return Err(Diagnostic::new(Code::NoMatchingOperation, text)
            .help("take what a generator returns by `yield from`, or return a number or a string"));
    }
    of_exception(args, returned)
}

/// The place of a type among those of what compiled code takes out of an exception.
fn member_of(t: Type) -> Option<usize> {
    argument_types().iter().position(|m| *m == t)
}

fn emit_attribute(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let name = c.consts[1].as_ref().and_then(crate::types::Const::as_str).unwrap_or_default();
    let (text, len, out) =
        (constants::bytes(&mut cx.b, name), cx.b.i64(name.len() as i64), cx.b.slot_addr(16));
    let what = cx.helper_value(&exc_attribute, &[c.args[0][0], text, len, out]);
    let val = given(cx, what, out);
    if c.ret == any_argument() {
        return Ok(val);
    }
    // None, or which of the types it is.
    let none = cx.b.bin_imm(Op::IcmpEq, what, 0);
    let k = member_of(c.ret.without_none());
    let is = k.map_or(none, |k| cx.b.bin_imm(Op::IcmpEq, what, k as i64 + 1));
    let optional = c.ret.as_optional().is_some();
    let fits = if optional { cx.or(is, none) } else { is };
    let text = "the value of this StopIteration is none of those that generators return here";
    cx.check(fits, Class::TypeError, text);
    let Some(k) = k else { return Ok(vec![]) };
    let part = split_leaves(&val[2..], &argument_types()).swap_remove(k);
    Ok(if optional { [vec![is], part].concat() } else { part })
}

fn of_exception(args: &[Arg], gives: Type) -> Result<Answer> {
    if *args[0].ty == Kind::Exception { Ok(Answer::of(gives)) } else { Err(no_match("a traceback", args)) }
}
