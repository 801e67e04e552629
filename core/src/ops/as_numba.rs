//! What some operations mean to Numba, where NumPy has nothing that does the same: inference asks for these
//! rows in functions with Numba's meaning, in place of those that the program names.

use super::arith::shift_rule;
use super::mathfn as m;
use super::mathmod::{call, reals};
use super::{Body, OpDef};
use crate::lir::Op;
use crate::types::{Kind, Type};
use crate::typing::Answer;

super::identity::op_ids! {
    LSHIFT_AS_NUMBA = "operator._lshift_as_numba",
    RSHIFT_AS_NUMBA = "operator._rshift_as_numba",
    GAMMA_AS_NUMBA = "math._gamma_as_numba",
    LGAMMA_AS_NUMBA = "math._lgamma_as_numba",
}

pub(crate) static OPS: &[OpDef] = &[
    // The instruction takes its count modulo the width.
    OpDef::new(
        &["operator._lshift_as_numba"],
        "x1, x2",
        Body::Ufunc(
            |a, e| shift_rule(a, e, |_, _| None),
            |cx, c| Ok(vec![cx.b.bin(Op::Ishl, c.args[0][0], c.args[1][0])]),
        ),
    )
    .internal()
    .doc("`x1 << x2`, by `x2` modulo the width."),
    OpDef::new(
        &["operator._rshift_as_numba"],
        "x1, x2",
        Body::Ufunc(
            |a, e| shift_rule(a, e, |_, _| None),
            |cx, c| {
                let signed = matches!(*c.types[0], Kind::Int(i) if i.signed());
                let op = if signed { Op::Sshr } else { Op::Ushr };
                Ok(vec![cx.b.bin(op, c.args[0][0], c.args[1][0])])
            },
        ),
    )
    .internal()
    .doc("`x1 >> x2`, by `x2` modulo the width."),
    OpDef::new(
        &["operator._numpy_errors"],
        "",
        Body::Lir(|_, _| Ok(Answer::of(Type::bool())), |cx, _| Ok(vec![cx.b.bool(cx.options.numpy_errors)])),
    )
    .internal()
    .doc("Whether divisions by zero raise nothing, `error_model=\"numpy\"` (library use)."),
    OpDef::new(
        &["math._gamma_as_numba"],
        "x",
        Body::Lir(|_, a| reals(a, Type::float()), |cx, c| call(cx, c, &m::f64_gamma)),
    )
    .internal()
    .doc("Γ(x), infinite or NaN where it has no value."),
    OpDef::new(
        &["math._lgamma_as_numba"],
        "x",
        Body::Lir(|_, a| reals(a, Type::float()), |cx, c| call(cx, c, &m::f64_lgamma)),
    )
    .internal()
    .doc("log |Γ(x)|, infinite where it has no value."),
];
