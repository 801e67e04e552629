//! What any iterable gives, put into a list: `extend` and `+=`.

use super::list::{list_elem, list_extend, list_of, push_owned};
use super::{Body, OpDef, iter, sequence};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall};
use crate::emit::length::length;
use crate::types::Type;
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    LIST_EXTEND = "list.extend" [lists(Shallow), keywords(Goes)],
    IADD = "operator.iadd" [computes, lists(Shallow)],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["list.extend"],
        "list, other",
        Body::Lir(
            |cx, a| extend_rule(cx, a).map(|_| Answer::of(Type::none())),
            |cx, c| extend(cx, c).map(|()| vec![]),
        ),
    )
    .raises()
    .writes()
    .doc("Adds the elements of another sequence."),
    OpDef::new(
        &["operator.iadd"],
        "list, other",
        Body::Lir(extend_rule, |cx, c| {
            extend(cx, c)?;
            cx.retain(&c.args[0], c.types[0]);
            Ok(c.args[0].clone())
        }),
    )
    .raises()
    .writes()
    .doc("`list += other`."),
];

fn extend_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    list_elem(cx, args, "extend")?;
    let other = sequence::element_type_in(cx, args[1].ty)
        .or_else(|| iter::value_type_in(cx, iter::iterator_of(args[1].ty)?))
        .ok_or_else(|| no_match("extend", args))?;
    cx.push_elem(args[0].ty, other)?;
    Ok(Answer::of(args[0].ty))
}

fn extend(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<()> {
    let e = list_of(c.types[0])?;
    let list = c.args[0][0];
    if c.types[1] == c.types[0] {
        cx.helper(&list_extend, &[list, c.args[1][0]]);
    } else if let Some(from) = sequence::element_type(c.types[1]) {
        let n = length(cx, &c.args[1], c.types[1])?;
        cx.for_range(n, &[], |cx, i, _| {
            let x = sequence::element(cx, &c.args[1], c.types[1], i)?;
            let x = cast::joined(cx, &x, from, e, true)?;
            push_owned(cx, list, e, &x);
            Ok(vec![])
        })?;
    } else {
        iter::for_each(cx, &c.args[1], c.types[1], |cx, x, from| {
            let x = cast::joined(cx, &x, from, e, true)?;
            push_owned(cx, list, e, &x);
            Ok(())
        })?;
    }
    Ok(())
}
