//! Parallel loops: `prange`, what the pieces of a loop start with, and the call of the run-time that runs
//! them.
//!
//! The loop itself becomes a region before it is typed ([`crate::ssa::opt::parallel`]). The run-time calls
//! the body's wrapper for each piece: it finds its address in a word of the unit, which promotion changes,
//! and hands it the same slots that a call from Python would.

use super::apart::Operands;
use super::create::{filled_like, zeroed_like};
use super::region::{
    Together, parallel_chunk, parallel_region, parallel_set_chunk, parallel_set_threads, parallel_thread_id,
    parallel_threads,
};
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::ArrayVal;
use crate::emit::constants;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::{Ty, Value};
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    TIERUP_PRANGE = "tierup.prange",
    PARALLEL_ZERO = "parallel.zero" [makes_list, lists(Passes)],
    PARALLEL_ONE = "parallel.one",
    PARALLEL_OWN = "parallel.own" [lists(Passes)],
    PARALLEL_BOUND = "parallel.bound",
    PARALLEL_ZERO_BINS = "parallel.zero_bins",
    PARALLEL_ONE_BINS = "parallel.one_bins",
    PARALLEL_OWN_BINS = "parallel.own_bins",
    PARALLEL_NAN_BINS = "parallel.nan_bins",
    PARALLEL_LOW_BINS = "parallel.low_bins",
    PARALLEL_HIGH_BINS = "parallel.high_bins",
    PARALLEL_NO_RESETS = "parallel.no_resets",
    PARALLEL_NOTE_RESET = "parallel.note_reset",
    PARALLEL_IS_NAN = "parallel.is_nan",
    PARALLEL_KEEPS_ORDER = "parallel.keeps_order",
    PARALLEL_CHOOSE_ANY_BINS = "parallel.choose_any_bins",
    PARALLEL_EITHER = "parallel.either",
    PARALLEL_CHOOSE_LAST_BINS = "parallel.choose_last_bins",
    PARALLEL_LEAST_BINS = "parallel.least_bins",
    PARALLEL_GREATEST_BINS = "parallel.greatest_bins",
    PARALLEL_ADD_BINS = "parallel.add_bins",
    PARALLEL_MULTIPLY_BINS = "parallel.multiply_bins",
    PARALLEL_AND_BINS = "parallel.and_bins",
    PARALLEL_OR_BINS = "parallel.or_bins",
    PARALLEL_XOR_BINS = "parallel.xor_bins",
    PARALLEL_CHOOSE_BINS = "parallel.choose_bins",
    PARALLEL_LESSER_BINS = "parallel.lesser_bins",
    PARALLEL_GREATER_BINS = "parallel.greater_bins",
    PARALLEL_WITH_LESSER_BINS = "parallel.with_lesser_bins",
    PARALLEL_WITH_GREATER_BINS = "parallel.with_greater_bins",
    PARALLEL_WITH_LEAST_BINS = "parallel.with_least_bins",
    PARALLEL_WITH_GREATEST_BINS = "parallel.with_greatest_bins",
    PARALLEL_SIZE = "parallel.size",
    PARALLEL_SEQUENCE = "parallel.sequence",
    PARALLEL_INDICES = "parallel.indices",
    PARALLEL_PLACES = "parallel.places",
    PARALLEL_PLACE = "parallel.place",
    PARALLEL_MORE = "parallel.more",
    PARALLEL_FEWER = "parallel.fewer",
    PARALLEL_UNSET = "parallel.unset",
    PARALLEL_AGAIN = "parallel.again",
    PARALLEL_KEPT = "parallel.kept",
    PARALLEL_CHECK_BINS = "parallel.check_bins",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["tierup.prange"],
        "start, stop=..., step=...",
        Body::Lir(super::iter::range_rule, super::iter::emit_range),
    )
    .raises()
    .doc("`range`, whose iterations run in parallel in functions with `parallel=True`."),
    OpDef::new(
        &["tierup.get_num_threads"],
        "",
        Body::Lir(int_rule, |cx, _| Ok(cx.helper(&parallel_threads, &[]).into_iter().collect())),
    )
    .reads()
    .doc("Threads that parallel loops of this thread use."),
    OpDef::new(
        &["tierup.set_num_threads"],
        "n",
        Body::Lir(setting_rule, |cx, c| {
            cx.helper(&parallel_set_threads, &[c.args[0][0]]);
            Ok(vec![])
        }),
    )
    .raises()
    .writes()
    .doc("Sets how many threads parallel loops of this thread use."),
    OpDef::new(
        &["tierup.get_thread_id"],
        "",
        Body::Lir(int_rule, |cx, _| Ok(cx.helper(&parallel_thread_id, &[]).into_iter().collect())),
    )
    .reads()
    .doc("Which of the threads in a parallel loop this is."),
    OpDef::new(
        &["tierup.get_parallel_chunksize"],
        "",
        Body::Lir(int_rule, |cx, _| Ok(cx.helper(&parallel_chunk, &[]).into_iter().collect())),
    )
    .reads()
    .doc("Iterations in a piece of a parallel loop; 0 for what is usual."),
    OpDef::new(
        &["tierup.set_parallel_chunksize"],
        "n",
        Body::Lir(chunk_rule, |cx, c| Ok(vec![cx.helper_value(&parallel_set_chunk, &[c.args[0][0]])])),
    )
    .raises()
    .writes()
    .doc("Sets that, and gives what it was."),
    OpDef::new(&["parallel.zero", "numpy._zero_of"], "x", Body::Lir(zero_rule, |cx, c| neutral(cx, c, 0)))
        .raises()
        .reads()
        .doc("What a sum of such values starts with."),
    OpDef::new(&["parallel.one", "numpy._one_of"], "x", Body::Lir(one_rule, |cx, c| neutral(cx, c, 1)))
        .raises()
        .reads()
        .doc("What a product of such values starts with."),
    OpDef::new(&["parallel.own"], "x", Body::Lir(own_rule, emit_own))
        .raises()
        .reads()
        .doc("The value, an array as a copy."),
    OpDef::new(
        &["parallel.bound"],
        "x",
        Body::Lir(
            |_, a| {
                check_bound(a)?;
                Ok(Answer::of(a[0].ty))
            },
            |cx, c| {
                cx.retain(&c.args[0], c.types[0]);
                Ok(c.args[0].clone())
            },
        ),
    )
    .doc("The value, which the variable has in any case."),
    OpDef::new(&["parallel.zero_bins"], "h", Body::Lir(zero_bins_rule, |cx, c| neutral(cx, c, 0)))
        .raises()
        .reads()
        .doc("What each piece has of an array that is added to."),
    OpDef::new(&["parallel.one_bins"], "h", Body::Lir(one_bins_rule, |cx, c| neutral(cx, c, 1)))
        .raises()
        .reads()
        .doc("What each piece has of an array that is multiplied."),
    OpDef::new(&["parallel.own_bins"], "h", Body::Lir(own_bins_rule, emit_own))
        .raises()
        .reads()
        .doc("What each piece has of an array of which nothing is lost by taking it twice."),
    OpDef::new(&["parallel.zero_bins"], "h", Body::Py("bins.zero_list"))
        .only_if(is_list)
        .raises()
        .reads()
        .doc("The same for a list."),
    OpDef::new(&["parallel.one_bins"], "h", Body::Py("bins.one_list"))
        .only_if(is_list)
        .raises()
        .reads()
        .doc("The same for a list."),
    OpDef::new(&["parallel.own_bins"], "h", Body::Py("bins.own_list"))
        .only_if(is_list)
        .raises()
        .reads()
        .doc("The same for a list."),
    OpDef::new(&["parallel.nan_bins"], "h", Body::Py("bins.nan_of"))
        .only_if(holds_floats)
        .raises()
        .reads()
        .doc("What each piece has of elements that take a NaN and forget it."),
    OpDef::new(&["parallel.low_bins"], "h, again=False", Body::Py("bins.low_of"))
        .only_if(holds_floats)
        .raises()
        .reads()
        .doc("What each piece has of elements that take all that is not less."),
    OpDef::new(&["parallel.high_bins"], "h, again=False", Body::Py("bins.high_of"))
        .only_if(holds_floats)
        .raises()
        .reads()
        .doc("What each piece has of elements that take all that is not greater."),
    OpDef::new(
        &["parallel.nan_bins", "parallel.low_bins", "parallel.high_bins"],
        "h, again=False",
        Body::Py("bins.own"),
    )
    .only_if(|a| !is_list(a) && !holds_floats(a))
    .raises()
    .reads()
    .doc("The same where equal values are the same value."),
    OpDef::new(&["parallel.nan_bins"], "h", Body::Py("bins.nan_list"))
        .only_if(is_list)
        .raises()
        .reads()
        .doc("The same for a list."),
    OpDef::new(&["parallel.low_bins"], "h, again=False", Body::Py("bins.low_list"))
        .only_if(is_list)
        .raises()
        .reads()
        .doc("The same for a list."),
    OpDef::new(&["parallel.high_bins"], "h, again=False", Body::Py("bins.high_list"))
        .only_if(is_list)
        .raises()
        .reads()
        .doc("The same for a list."),
    OpDef::new(&["numpy._if_float"], "x, other", Body::Py("bins.second"))
        .only_if(|a| a[0].ty.is_float())
        .doc("What stands for no value yet: for floats another one."),
    OpDef::new(&["numpy._if_float"], "x, other", Body::Py("bins.first"))
        .only_if(|a| !a[0].ty.is_float())
        .doc("The same where equal values are the same value."),
    OpDef::new(&["parallel.no_resets"], "h", Body::Py("bins.no_resets"))
        .raises()
        .reads()
        .doc("Which elements have forgotten what came before: none."),
    OpDef::new(&["parallel.note_reset"], "resets, k, x", Body::Py("bins.note_reset"))
        .raises()
        .writes()
        .doc("Notes that an element forgets what came before where `x` is NaN."),
    OpDef::new(
        &["parallel.is_nan", "numpy._is_nan"],
        "x",
        Body::Lir(|_, _| Ok(Answer::constant(Const::Bool(false))), |_, _| Ok(vec![])),
    )
    .only_if(|a| !may_be_nan(a))
    .doc("Whether a value is neither less than others, nor equal, nor greater."),
    OpDef::new(&["parallel.is_nan", "numpy._is_nan"], "x", Body::Py("bins.is_nan"))
        .only_if(|a| may_be_nan(a) && a[0].ty.members().is_none())
        .doc("The same where it may be."),
    OpDef::new(&["parallel.is_nan", "numpy._is_nan"], "x", Body::Py("bins.begins_with_nan"))
        .only_if(|a| may_be_nan(a) && a[0].ty.members().is_some())
        .doc("The same of a tuple."),
    OpDef::new(
        &["parallel.keeps_order", "numpy._keeps_order"],
        "x, tuples=False",
        Body::Lir(order_rule, |_, _| Ok(vec![])),
    )
    .doc("Whether what may be NaN in it makes a loop one piece."),
    OpDef::new(&["parallel.choose_any_bins"], "h, part, function", Body::Py("bins.choose_any"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.either"], "first, a, b", Body::Py("bins.either")).doc("One of two values."),
    OpDef::new(&["parallel.choose_last_bins"], "h, part, resets, function", Body::Py("bins.choose_last"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.least_bins"], "h, part", Body::Py("bins.least"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.greatest_bins"], "h, part", Body::Py("bins.greatest"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.add_bins"], "h, part", Body::Py("bins.add"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.multiply_bins"], "h, part", Body::Py("bins.multiply"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.and_bins"], "h, part", Body::Py("bins.and_"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.or_bins"], "h, part", Body::Py("bins.or_"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.xor_bins"], "h, part", Body::Py("bins.xor"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.choose_bins"], "h, part, function", Body::Py("bins.choose"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.lesser_bins"], "h, part", Body::Py("bins.lesser"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.greater_bins"], "h, part", Body::Py("bins.greater"))
        .raises()
        .writes()
        .doc("Takes what a piece has into the whole."),
    OpDef::new(&["parallel.with_lesser_bins"], "w, mine, h, part", Body::Py("bins.with_lesser"))
        .raises()
        .writes()
        .doc("The same for what belongs to elements of `h`, before those are taken."),
    OpDef::new(&["parallel.with_greater_bins"], "w, mine, h, part", Body::Py("bins.with_greater"))
        .raises()
        .writes()
        .doc("The same for what belongs to elements of `h`, before those are taken."),
    OpDef::new(&["parallel.with_least_bins"], "w, mine, h, part, changed", Body::Py("bins.with_least"))
        .raises()
        .writes()
        .doc("The same where of equal elements of `h` the last counts: which a piece has taken."),
    OpDef::new(&["parallel.with_greatest_bins"], "w, mine, h, part, changed", Body::Py("bins.with_greatest"))
        .raises()
        .writes()
        .doc("The same where of equal elements of `h` the last counts: which a piece has taken."),
    OpDef::new(&["parallel.size"], "h", Body::Lir(size_rule, emit_size))
        .reads()
        .doc("How many elements an array or a list has."),
    OpDef::new(
        &["parallel.sequence", "numpy._sequence_of"],
        "x",
        Body::Lir(
            |_, a| Ok(Answer::of(a[0].ty)),
            |cx, c| {
                cx.retain(&c.args[0], c.types[0]);
                Ok(c.args[0].clone())
            },
        ),
    )
    .only_if(is_sequence)
    .raises()
    .reads()
    .doc("What a comprehension goes through, with elements in places."),
    OpDef::new(&["parallel.sequence", "numpy._sequence_of"], "x", Body::Py("bins.as_list"))
        .only_if(|a| !is_sequence(a))
        .raises()
        .reads()
        .doc("The same for what gives its elements once."),
    OpDef::new(&["parallel.indices"], "x", Body::Py("bins.indices"))
        .raises()
        .reads()
        .doc("The places of a sequence."),
    OpDef::new(&["parallel.places"], "shape", Body::Py("bins.places"))
        .raises()
        .reads()
        .doc("The numbers of the points of a shape."),
    OpDef::new(&["parallel.place"], "shape, k", Body::Py("bins.place"))
        .doc("The point of a number, in C order."),
    OpDef::new(&["parallel.more"], "", Body::Lir(none_rule, |_, _| Ok(vec![])))
        .writes()
        .unordered()
        .doc("Marks the rest of a block, which runs in more iterations than in a plain loop."),
    OpDef::new(&["parallel.fewer"], "", Body::Lir(none_rule, |_, _| Ok(vec![])))
        .writes()
        .unordered()
        .doc("Marks the rest of a block, which runs in fewer iterations than in a plain loop."),
    OpDef::new(&["parallel.unset"], "", Body::Lir(none_rule, |_, _| Ok(vec![])))
        .writes()
        .unordered()
        .doc("Marks the rest of a block, which may miss a variable that a plain loop has."),
    OpDef::new(&["parallel.again"], "", Body::Lir(again_rule, |_, _| Ok(vec![])))
        .doc("Whether a loop runs again; outside of its body unknown."),
    OpDef::new(&["parallel.kept"], "again, x", Body::Lir(kept_rule, emit_kept))
        .doc("What an iteration leaves of a variable: nothing, unless the loop runs again."),
    OpDef::new(&["parallel.check_bins"], "h, x", Body::Lir(check_rule, |_, _| Ok(vec![])))
        .doc("Refuses updates of elements that depend on those before."),
];

fn none_rule(_: &mut TyCx<'_, '_>, _: &[Arg]) -> Result<Answer> {
    Ok(Answer::of(Type::none()))
}
fn int_rule(_: &mut TyCx<'_, '_>, _: &[Arg]) -> Result<Answer> {
    Ok(Answer::of(Type::int()))
}
fn setting_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    setting("The number of threads specified", &args[0], Type::none())
}
fn chunk_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    setting("The parallel chunksize", &args[0], Type::int())
}
fn setting(what: &str, value: &Arg, ret: Type) -> Result<Answer> {
    if !value.ty.is_index() {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("{what} must be an integer, not {}", value.ty),
        ));
    }
    Ok(Answer::coerced(ret, vec![Type::int()]))
}

fn again_rule(_: &mut TyCx<'_, '_>, _: &[Arg]) -> Result<Answer> {
    Err(Diagnostic::internal("only the body of a parallel loop knows whether it runs again"))
}
fn kept_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[1].ty;
    let may_be_unbound = matches!(*t, Kind::Undef | Kind::MaybeUndef(_));
    Ok(Answer::of(if may_be_unbound { t } else { Type::new(Kind::MaybeUndef(t)) }))
}
fn emit_kept(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let all = crate::emit::cast::cast(cx, &c.args[1], c.types[1], c.ret)?;
    let Kind::MaybeUndef(of) = c.ret.kind() else { return Ok(all) };
    let (again, none) = (c.args[0][0], crate::emit::constants::absent(&mut cx.b, *of));
    let there = cx.and(all[0], again);
    let kept: Val = [there]
        .into_iter()
        .chain(all[1..].iter().zip(none).map(|(v, n)| cx.b.select(again, *v, n)))
        .collect();
    cx.retain(&kept, c.ret);
    Ok(kept)
}

/// A variable that pieces of a loop put together has a value before it: which one an empty loop leaves is
/// otherwise unknown.
fn check_bound(args: &[Arg]) -> Result<()> {
    if !matches!(args[0].ty.kind(), Kind::Undef | Kind::MaybeUndef(_)) {
        return Ok(());
    }
    Err(Diagnostic::new(
        Code::ParallelRace,
        "a variable that the iterations of this prange loop share may have no value before it",
    )
    .help("give it one on every way to the loop"))
}

fn zero_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[0].ty;
    if let Kind::Array(_) = *t {
        return Ok(Answer::of(super::create::like_type(t)));
    }
    let empty = matches!(t.kind(), Kind::Tuple(m) if m.is_empty());
    let plain = matches!(*t, Kind::Str | Kind::Bytes | Kind::List(_) | Kind::Simd(..));
    if !t.is_number() && !plain && !empty {
        return Err(no_match("a sum in a prange loop", args));
    }
    Ok(Answer::of(t))
}

fn one_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[0].ty;
    if let Kind::Array(_) = *t {
        return Ok(Answer::of(super::create::like_type(t)));
    }
    if !t.is_number() {
        return Err(no_match("a product in a prange loop", args));
    }
    Ok(Answer::of(t))
}

/// Whether a value has elements of one type in places.
fn is_sequence(args: &[Arg]) -> bool {
    let t = args[0].ty;
    t.as_array().is_some_and(|a| a.ndim > 0) || matches!(*t, Kind::List(_) | Kind::Range(_))
}

/// Whether a value, or the first member of a tuple, may be NaN or the like.
fn may_be_nan(args: &[Arg]) -> bool {
    let t = args[0].ty;
    !matches!(*t, Kind::Bool | Kind::Int(_) | Kind::Str | Kind::Bytes | Kind::None)
        && t.members().is_none_or(|m| m.first().is_some_and(|t| may_be_nan(&[Arg::of(*t)])))
}
fn order_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    Ok(Answer::constant(Const::Bool(keeps_order(args[0].ty, args[1].flag("tuples")?))))
}

/// Whether there may be a NaN in a value, or only behind the first member of a tuple.
pub(crate) fn keeps_order(t: Type, behind_first: bool) -> bool {
    match (t.kind(), t.members()) {
        (_, Some(m)) => m.iter().skip(usize::from(behind_first)).any(|t| keeps_order(*t, false)),
        (_, None) if behind_first => false,
        (Kind::Array(a), _) => keeps_order(a.dtype, false),
        (Kind::List(e), _) => keeps_order(*e, false),
        (Kind::Bool | Kind::Int(_) | Kind::Str | Kind::Bytes | Kind::None, _) => false,
        _ => true,
    }
}
fn holds_floats(args: &[Arg]) -> bool {
    args[0].ty.as_array().is_some_and(|a| a.dtype.is_float())
}

fn is_list(args: &[Arg]) -> bool {
    matches!(*args[0].ty, Kind::List(_))
}

fn zero_bins_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if args[0].ty.as_array().is_some() {
        zero_rule(cx, args)
    } else {
        Err(no_match("an update in a prange loop", args))
    }
}
fn one_bins_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if args[0].ty.as_array().is_some() {
        one_rule(cx, args)
    } else {
        Err(no_match("an update in a prange loop", args))
    }
}
fn own_bins_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if args[0].ty.as_array().is_some() {
        own_rule(cx, args)
    } else {
        Err(no_match("an update in a prange loop", args))
    }
}

fn size_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if args[0].ty.container().is_some() {
        return Err(Diagnostic::new(
            Code::ParallelRace,
            "iterations of a prange loop change a dict that they share",
        )
        .help("use range, or give each iteration one of its own"));
    }
    if args[0].ty.as_array().is_none() && cx.elem(args[0].ty).is_none() {
        return Err(no_match("an update in a prange loop", args));
    }
    Ok(Answer::of(Type::int()))
}
fn emit_size(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.types[0].as_array().is_none() {
        return Ok(vec![super::list::len(cx, c.args[0][0])]);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    Ok(vec![a.size(cx)])
}

/// `h[k] += 0.5` of an array of integers cuts what comes out, each time: pieces would cut elsewhere.
fn check_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let whole = args[0].ty.as_array().is_some_and(|a| a.dtype.is_int() || *a.dtype == Kind::Bool);
    let (x, fraction) = (args[1].ty.as_array().map_or(args[1].ty, |a| a.dtype), |t: Type| {
        matches!(*t, Kind::Float(_) | Kind::Complex(_))
    });
    if whole && fraction(x) {
        return Err(Diagnostic::new(Code::ParallelRace, "iterations of this prange loop change elements of an array of integers by fractions, which are cut off in the order of iterations")
            .help("make it an array of floats, or use range"));
    }
    Ok(Answer::of(Type::none()))
}

fn own_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[0].ty;
    Ok(Answer::of(if t.as_array().is_some() { super::create::like_type(t) } else { t }))
}

/// The neutral value of a sum or a product, of the type of the first operand. Minus zero is the neutral one
/// of sums: `-0.0 + -0.0` is `-0.0`.
fn neutral(cx: &mut LowerCx<'_>, c: &OpCall<'_>, of: i64) -> Result<Val> {
    let number = |cx: &mut LowerCx<'_>, ty: Ty, of: i64| match (ty, of) {
        (Ty::F64, 0) => cx.b.f64(-0.0),
        (Ty::F32, 0) => cx.b.constant(Ty::F32, u64::from((-0.0f32).to_bits())),
        (Ty::F64, _) => cx.b.f64(1.0),
        (Ty::F32, _) => cx.b.constant(Ty::F32, u64::from(1.0f32.to_bits())),
        (ty, of) => cx.b.constant(ty, of as u64),
    };
    if matches!(*c.ret, Kind::Str | Kind::Bytes) {
        return Ok(vec![crate::emit::constants::string(&mut cx.b, "")]);
    }
    if let Kind::List(e) = *c.ret {
        let cap = cx.b.i64(0);
        return Ok(vec![super::list::make(cx, e, cap)]);
    }
    if let Some(a) = c.ret.as_array() {
        if of != 0 || !matches!(*a.dtype, Kind::Float(_) | Kind::Complex(_)) {
            return zeroed_like(cx, c, of == 1);
        }
        let minus: Val = a.dtype.leaves().iter().map(|l| number(cx, l.ty, 0)).collect();
        return filled_like(cx, c, &minus);
    }
    let imaginary = |k: usize| c.ret.is_complex() && k == 1;
    let leaves = c.ret.leaves();
    let parts = leaves.iter().enumerate().map(|(k, l)| number(cx, l.ty, if imaginary(k) { 0 } else { of }));
    Ok(parts.collect())
}

fn emit_own(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.types[0].as_array().is_some() {
        return super::array::emit_copy(cx, c);
    }
    cx.retain(&c.args[0], c.types[0]);
    Ok(c.args[0].clone())
}

/// Runs the body whose wrapper is `wrapper`: `args` are the machine values of all its arguments, and of other
/// arrays behind these, with their types and what of them must not share memory ([`super::apart`]); `ret` is
/// what it gives, and it may draw random numbers.
pub(crate) fn emit_region(
    cx: &mut LowerCx<'_>,
    wrapper: &str,
    args: (&[Value], &[Type], &Operands),
    range: (&[Value], Type, Value),
    how: Together,
    ret: Type,
) -> Result<Val> {
    let word = cx.b.symbol_addr(&crate::lir::cells::word(wrapper), 0);
    let ((range, range_ty, own), (args, types, operands)) = (range, args);
    let step = crate::emit::range::step(cx, range, range_ty);
    let slots = cx.spill(args);
    let slot_count: usize = types.iter().map(|t| t.leaf_count()).sum();
    let count = cx.b.i64(slot_count as i64);
    let desc = if *ret == Kind::None { cx.b.null() } else { constants::descriptor(&mut cx.b, ret) };
    let draws = cx.b.iconst(Ty::I8, how as i64);
    let lists = if operands.changed_lists.is_empty() {
        cx.b.null()
    } else {
        let mark = |k| if operands.changed_lists.contains(&k) { '\u{1}' } else { '\0' };
        let marks: String = (0..slot_count).map(mark).collect();
        constants::bytes(&mut cx.b, &marks)
    };
    let apart = match &operands.table {
        Some(table) => {
            let text = table.encode().ok_or_else(|| Diagnostic::internal("a region of many arrays"))?;
            constants::bytes(&mut cx.b, &text)
        }
        None => cx.b.null(),
    };
    let list = cx.helper_value(
        &parallel_region,
        &[word, range[0], range[1], step, slots, count, draws, lists, own, apart, desc],
    );
    Ok(if *ret == Kind::None { vec![] } else { vec![list] })
}
