//! Operations on Python's ints of whose results the low 64 bits are all that counts: they wrap.
//!
//! Inference knows the rows of `checked`, which stand here under other names where what is done with the results asks
//! for no more (`core/src/lower/low_bits.rs`).

use super::arith::{bitwise, emit_lshift};
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::Op;
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    LOW_ADD = "low_bits.add",
    LOW_SUB = "low_bits.sub",
    LOW_MUL = "low_bits.mul",
    LOW_LSHIFT = "low_bits.lshift",
    LOW_OR = "low_bits.or_",
    LOW_XOR = "low_bits.xor",
    LOW_NEG = "low_bits.neg",
    LOW_INVERT = "low_bits.invert",
}

macro_rules! rows {
    ($($name:literal, $params:literal, $emit:expr, $doc:literal $(, $flag:ident)*;)+) => {
        pub(crate) static OPS: &[OpDef] = &[$(
            OpDef::new(&[$name], $params, Body::Lir(rule, $emit))$(.$flag())*.internal().doc($doc),
        )+];
    };
}

rows! {
    "low_bits.add", "x1, x2", |cx, c| bitwise(cx, c, Op::Iadd), "The low bits of `x1 + x2`.";
    "low_bits.sub", "x1, x2", |cx, c| bitwise(cx, c, Op::Isub), "The low bits of `x1 - x2`.";
    "low_bits.mul", "x1, x2", |cx, c| bitwise(cx, c, Op::Imul), "The low bits of `x1 * x2`.";
    "low_bits.lshift", "x1, x2", emit_lshift, "The low bits of `x1 << x2`; ValueError.", raises;
    "low_bits.or_", "x1, x2", |cx, c| bitwise(cx, c, Op::Bor), "The low bits of `x1 | x2`.";
    "low_bits.xor", "x1, x2", |cx, c| bitwise(cx, c, Op::Bxor), "The low bits of `x1 ^ x2`.";
    "low_bits.neg", "x", |cx, c| one(cx, c, Op::Ineg), "The low bits of `-x`.";
    "low_bits.invert", "x", |cx, c| one(cx, c, Op::Bnot), "The low bits of `~x`.";
}

/// No program has them.
fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    Err(no_match("an operation on low bits", args))
}

fn one(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Op) -> Result<Val> {
    Ok(vec![cx.b.un(op, c.args[0][0])])
}
