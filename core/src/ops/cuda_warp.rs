//! What the threads of a warp do together: exchange values, vote, find who is like them.
//!
//! Everything here is refused outside of kernels, at its line.

use super::cuda::{cell, in_kernel, int_rule, number, operand};
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::grid_op::GridOp;
use crate::lir::{InstData, Op, Ty, Value};
use crate::types::{Const, Int, Type};
use crate::typing::{Answer, Arg, no_match};

/// An exchange between the lanes of a warp; the closure finds the lane from this one's and the last operand.
macro_rules! shuffle {
    ($name:literal, $lane:expr, $doc:literal) => {
        OpDef::new(
            &[concat!("tierup.cuda.", $name)],
            "mask, value, lane",
            Body::Lir(|_, a| shuffle_rule($name, a), |cx, c| emit_shuffle(cx, c, $lane)),
        )
        .writes()
        .doc($doc)
    };
}

/// A vote of the threads of a warp.
macro_rules! vote {
    ($name:literal, $ret:expr, $emit:expr, $doc:literal) => {
        OpDef::new(
            &[concat!("tierup.cuda.", $name)],
            "mask, predicate",
            Body::Lir(|_, a| vote_rule($name, a, $ret), |cx, c| emit_vote(cx, c, $emit)),
        )
        .writes()
        .doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["tierup.cuda.laneid"],
        "",
        Body::Lir(int_rule, |cx, _| Ok(vec![number(cx, GridOp::LaneIndex)?])),
    )
    .property()
    .doc("Which thread of its warp this is, 0 to 31."),
    OpDef::new(
        &["tierup.cuda.warpsize"],
        "",
        Body::Lir(|_, _| Ok(Answer::constant(Const::Int(32))), |_, _| Ok(vec![])),
    )
    .property()
    .doc("Threads of a warp."),
    OpDef::new(
        &["tierup.cuda.syncwarp"],
        "membermask=-1",
        Body::Lir(|_, a| integers("syncwarp", a, Type::none()), emit_sync_warp),
    )
    .writes()
    .doc("Waits for the threads of the warp that the bits name, and what they wrote."),
    shuffle!("shfl_sync", |_, _, lane| lane, "The value of another lane, by its number."),
    shuffle!(
        "shfl_up_sync",
        |cx, mine, delta| {
            let (inside, other) = (cx.b.bin(Op::IcmpUle, delta, mine), cx.b.bin(Op::Isub, mine, delta));
            cx.b.select(inside, other, mine)
        },
        "The value of the lane so many below; its own where there is none."
    ),
    shuffle!(
        "shfl_down_sync",
        |cx, mine, delta| {
            let (other, last) = (cx.b.bin(Op::Iadd, mine, delta), cx.b.iconst(Ty::I32, 31));
            let inside = cx.b.bin(Op::IcmpUle, other, last);
            cx.b.select(inside, other, mine)
        },
        "The value of the lane so many above; its own where there is none."
    ),
    shuffle!(
        "shfl_xor_sync",
        |cx, mine, bits| cx.b.bin(Op::Bxor, mine, bits),
        "The value of the lane whose number differs in these bits."
    ),
    vote!(
        "ballot_sync",
        Type::int_of(Int::U32),
        |cx, mask, truth| cx.b.value(ballot(mask, truth)),
        "A bit for each thread of the warp whose predicate holds."
    ),
    vote!(
        "any_sync",
        Type::bool(),
        |cx, mask, truth| {
            let votes = cx.b.value(ballot(mask, truth));
            let zero = cx.b.iconst(Ty::I32, 0);
            cx.b.bin(Op::IcmpNe, votes, zero)
        },
        "Whether the predicate of any thread of the warp holds."
    ),
    vote!(
        "all_sync",
        Type::bool(),
        |cx, mask, truth| {
            let against = cx.not(truth);
            let votes = cx.b.value(ballot(mask, against));
            let zero = cx.b.iconst(Ty::I32, 0);
            cx.b.bin(Op::IcmpEq, votes, zero)
        },
        "Whether the predicates of all threads of the warp hold."
    ),
    vote!(
        "eq_sync",
        Type::bool(),
        |cx, mask, truth| {
            let against = cx.not(truth);
            let (yes, no) = (cx.b.value(ballot(mask, truth)), cx.b.value(ballot(mask, against)));
            let zero = cx.b.iconst(Ty::I32, 0);
            let (none, all) = (cx.b.bin(Op::IcmpEq, yes, zero), cx.b.bin(Op::IcmpEq, no, zero));
            cx.or(none, all)
        },
        "Whether the predicates of all threads of the warp are alike."
    ),
    OpDef::new(
        &["tierup.cuda.match_any_sync"],
        "mask, value",
        Body::Lir(
            |_, a| match_rule("match_any_sync", a, Type::int_of(Int::U32)),
            |cx, c| Ok(vec![matching(cx, c)?.1]),
        ),
    )
    .writes()
    .doc("A bit for each thread of the warp that has brought the same value."),
    OpDef::new(
        &["tierup.cuda.match_all_sync"],
        "mask, value",
        Body::Lir(
            |_, a| match_rule("match_all_sync", a, Type::tuple(vec![Type::int_of(Int::U32), Type::bool()])),
            emit_match_all,
        ),
    )
    .writes()
    .doc("The mask and True where all threads of the warp have brought the same value, else 0 and False."),
    OpDef::new(
        &["tierup.cuda.activemask"],
        "",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::int_of(Int::U32))),
            |cx, _| {
                in_kernel(cx, "cuda.activemask()")?;
                Ok(vec![cx.b.value(InstData::Grid { op: GridOp::ActiveMask, ty: Ty::I32, args: vec![] })])
            },
        ),
    )
    .writes()
    .doc("A bit for each thread of the warp that runs along at this moment, which promises nothing."),
    OpDef::new(
        &["tierup.cuda.lanemask_lt"],
        "",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::int_of(Int::U32))),
            |cx, _| {
                in_kernel(cx, "cuda.lanemask_lt()")?;
                let lane = cx.b.value(InstData::Grid { op: GridOp::LaneIndex, ty: Ty::I32, args: vec![] });
                let one = cx.b.iconst(Ty::I32, 1);
                let bit = cx.b.bin(Op::Ishl, one, lane);
                Ok(vec![cx.b.bin_imm(Op::Isub, bit, 1)])
            },
        ),
    )
    .doc("A bit for each lane below this one."),
];

/// Operands that are integers.
fn integers(name: &str, args: &[Arg], ret: Type) -> Result<Answer> {
    if !args.iter().all(|a| a.ty.is_int()) {
        return Err(no_match(&format!("cuda.{name}()"), args));
    }
    Ok(Answer::of(ret))
}

/// An integer as 32 bits: the low ones.
fn word(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Value {
    let wide = cast::to_i64(cx, c.args[k][0], c.types[k]);
    cx.b.conv(Op::Itrunc, Ty::I32, wide)
}

fn emit_sync_warp(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    in_kernel(cx, "cuda.syncwarp()")?;
    let mask = word(cx, c, 0);
    cx.b.grid(GridOp::WarpBarrier, Ty::I32, &[mask]);
    Ok(vec![])
}

fn shuffle_rule(name: &str, args: &[Arg]) -> Result<Answer> {
    let value = args[1].ty.strong();
    if cell(value).is_none() {
        return Err(no_match(&format!("cuda.{name}()"), args));
    }
    integers(name, &[args[0].clone(), args[2].clone()], value)
}

fn emit_shuffle(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    lane: fn(&mut LowerCx<'_>, Value, Value) -> Value,
) -> Result<Val> {
    in_kernel(cx, "an exchange between the threads of a warp")?;
    let (mask, last) = (word(cx, c, 0), word(cx, c, 2));
    let value = operand(cx, c, 1, c.ret)?;
    let mine = cx.b.value(InstData::Grid { op: GridOp::LaneIndex, ty: Ty::I32, args: vec![] });
    let from = lane(cx, mine, last);
    let ty = cx.b.ty(value);
    Ok(vec![cx.b.value(InstData::Grid { op: GridOp::Shuffle, ty, args: vec![mask, value, from] })])
}

fn vote_rule(name: &str, args: &[Arg], ret: Type) -> Result<Answer> {
    if !args[1].ty.is_number() || args[1].ty.is_complex() {
        return Err(no_match(&format!("cuda.{name}()"), args));
    }
    integers(name, &args[..1], ret)
}

fn ballot(mask: Value, truth: Value) -> InstData {
    InstData::Grid { op: GridOp::Ballot, ty: Ty::I32, args: vec![mask, truth] }
}

fn emit_vote(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    count: fn(&mut LowerCx<'_>, Value, Value) -> Value,
) -> Result<Val> {
    in_kernel(cx, "a vote of the threads of a warp")?;
    let mask = word(cx, c, 0);
    let truth = cast::truth(cx, c.args[1][0], c.types[1]);
    Ok(vec![count(cx, mask, truth)])
}

fn match_rule(name: &str, args: &[Arg], ret: Type) -> Result<Answer> {
    if cell(args[1].ty.strong()).is_none() {
        return Err(no_match(&format!("cuda.{name}()"), args));
    }
    integers(name, &args[..1], ret)
}

/// The mask, and who has brought the same bits.
fn matching(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<(Value, Value)> {
    in_kernel(cx, "a comparison of the threads of a warp")?;
    let mask = word(cx, c, 0);
    let value = operand(cx, c, 1, c.types[1].strong())?;
    let (ty, bits) = match cx.b.ty(value) {
        Ty::F32 => (Ty::I32, cx.b.conv(Op::Bitcast, Ty::I32, value)),
        Ty::F64 => (Ty::I64, cx.b.conv(Op::Bitcast, Ty::I64, value)),
        ty @ (Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr | Ty::Vector(_)) => (ty, value),
    };
    Ok((mask, cx.b.value(InstData::Grid { op: GridOp::Match, ty, args: vec![mask, bits] })))
}

fn emit_match_all(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (mask, same) = matching(cx, c)?;
    // Threads that have ended are not asked.
    let yes = cx.b.bool(true);
    let here = cx.b.value(ballot(mask, yes));
    let all = cx.b.bin(Op::IcmpEq, same, here);
    let none = cx.b.iconst(Ty::I32, 0);
    Ok(vec![cx.b.select(all, same, none), all])
}
