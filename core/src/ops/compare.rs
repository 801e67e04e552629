//! Comparison, identity and truth.

mod elements;
mod identity;

use super::kernel::Map;
use super::order::{has_order, require_order};
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::truth::{known_truth, truth};
use crate::lir::{Op, Ty, Value};
use crate::types::promote;
use crate::types::{Const, Container, Float, Int, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};
pub(super) use elements::equal as equal_elements;
use elements::{emit_one_object, one_object_rule};
use identity::{are_of_one_dtype, emit_is, is_rule};

super::identity::op_ids! {
    IS_NOT = "operator.is_not" [computes, total, never_none, lists(Passes), keywords(Takes)],
    IS = "operator.is_" [computes, total, never_none, lists(Passes), keywords(Takes)],
    NE = "operator.ne" [computes, keywords(Takes)],
    EQ = "operator.eq" [computes, keywords(Takes)],
    LT = "operator.lt" [computes],
    LE = "operator.le" [computes],
    GT = "operator.gt" [computes],
    GE = "operator.ge" [computes],
    TRUTH = "operator.truth" [computes, never_none, lists(Length), keywords(Takes)],
    BUILTINS_BOOL = "builtins.bool" [computes, keywords(Takes)],
    NOT = "operator.not_" [computes, never_none, keywords(Takes)],
}

const BIN: &str = "x1, x2, out=None";

/// One comparison: its instructions for signed, unsigned and floating operands.
#[derive(Clone, Copy)]
struct Cmp {
    signed: Op,
    unsigned: (Op, bool),
    float: Op,
}
const EQ: Cmp = Cmp { signed: Op::IcmpEq, unsigned: (Op::IcmpEq, false), float: Op::FcmpEq };
const NE: Cmp = Cmp { signed: Op::IcmpNe, unsigned: (Op::IcmpNe, false), float: Op::FcmpNe };
const LT: Cmp = Cmp { signed: Op::IcmpSlt, unsigned: (Op::IcmpUlt, false), float: Op::FcmpLt };
const LE: Cmp = Cmp { signed: Op::IcmpSle, unsigned: (Op::IcmpUle, false), float: Op::FcmpLe };
const GT: Cmp = Cmp { signed: Op::IcmpSgt, unsigned: (Op::IcmpUlt, true), float: Op::FcmpGt };
const GE: Cmp = Cmp { signed: Op::IcmpSge, unsigned: (Op::IcmpUle, true), float: Op::FcmpGe };

/// One comparison of scalars and of elements: the path, its rule and what emits it, which comparison it is.
macro_rules! comparison {
    ($path:literal, $rule:ident, $emit:ident, $cmp:ident, $holds:ident, $kernel:ident, $doc:literal) => {
        OpDef::new(&[$path], BIN, Body::Ufunc(|a, e| $rule(a, e, |o| o.$holds()), |cx, c| $emit(cx, c, $cmp)))
            .kernel(Map::$kernel)
            .straight()
            .doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    comparison!("operator.eq", rule, emit, EQ, is_eq, Eq, "`x1 == x2`."),
    comparison!("operator.ne", rule, emit, NE, is_ne, Ne, "`x1 != x2`."),
    comparison!("operator.lt", ordered, emit, LT, is_lt, Lt, "`x1 < x2`."),
    comparison!("operator.le", ordered, emit, LE, is_le, Le, "`x1 <= x2`."),
    comparison!("operator.gt", ordered, emit, GT, is_gt, Gt, "`x1 > x2`."),
    comparison!("operator.ge", ordered, emit, GE, is_ge, Ge, "`x1 >= x2`."),
    // NumPy's functions compare scalars as the elements of arrays.
    comparison!("numpy.equal", elements_rule, emit_elements, EQ, is_eq, Eq, "`x1 == x2`."),
    comparison!("numpy.not_equal", elements_rule, emit_elements, NE, is_ne, Ne, "`x1 != x2`."),
    comparison!("numpy.less", elements_rule, emit_elements, LT, is_lt, Lt, "`x1 < x2`."),
    comparison!("numpy.less_equal", elements_rule, emit_elements, LE, is_le, Le, "`x1 <= x2`."),
    comparison!("numpy.greater", elements_rule, emit_elements, GT, is_gt, Gt, "`x1 > x2`."),
    comparison!("numpy.greater_equal", elements_rule, emit_elements, GE, is_ge, Ge, "`x1 >= x2`."),
    OpDef::new(
        &["operator.eq"],
        "a, b",
        Body::Lir(structural_rule, |cx, c| {
            equal(cx, &c.args[0], c.types[0], &c.args[1], c.types[1]).map(|v| vec![v])
        }),
    )
    .doc("`a == b` of tuples, None, optionals and types."),
    OpDef::new(
        &["operator.ne"],
        "a, b",
        Body::Lir(
            |cx, a| structural_rule(cx, a).map(negated),
            |cx, c| {
                let v = equal(cx, &c.args[0], c.types[0], &c.args[1], c.types[1])?;
                Ok(vec![cx.not(v)])
            },
        ),
    )
    .doc("`a != b` of tuples, None, optionals and types."),
    OpDef::new(&["operator.eq"], "a, b", Body::Py("containers.range_equal"))
        .only_if(both_ranges)
        .doc("Whether two ranges give the same numbers."),
    OpDef::new(&["operator.ne"], "a, b", Body::Py("containers.range_unequal"))
        .only_if(both_ranges)
        .doc("Whether two ranges give different numbers."),
    OpDef::new(&["operator.eq"], "a, b", Body::Py("compare.equals_none"))
        .only_if(array_and_none)
        .reads()
        .doc("`a == None` of an array: False for each element."),
    OpDef::new(&["operator.ne"], "a, b", Body::Py("compare.differs_from_none"))
        .only_if(array_and_none)
        .reads()
        .doc("`a != None` of an array: True for each element."),
    OpDef::new(&["operator.lt"], "a, b", Body::Lir(tuple_order_rule, |cx, c| tuple_order(cx, c, LT, false)))
        .raises()
        .doc("`a < b` of tuples."),
    OpDef::new(&["operator.le"], "a, b", Body::Lir(tuple_order_rule, |cx, c| tuple_order(cx, c, LT, true)))
        .raises()
        .doc("`a <= b` of tuples."),
    OpDef::new(&["operator.gt"], "a, b", Body::Lir(tuple_order_rule, |cx, c| tuple_order(cx, c, GT, false)))
        .raises()
        .doc("`a > b` of tuples."),
    OpDef::new(&["operator.ge"], "a, b", Body::Lir(tuple_order_rule, |cx, c| tuple_order(cx, c, GT, true)))
        .raises()
        .doc("`a >= b` of tuples."),
    OpDef::new(&["operator.eq"], "a, b", Body::Py("containers.slice_equal"))
        .only_if(both_slices)
        .raises()
        .doc("`a == b` of slices, as of their three members."),
    OpDef::new(&["operator.ne"], "a, b", Body::Py("containers.slice_unequal"))
        .only_if(both_slices)
        .raises()
        .doc("`a != b` of slices, as of their three members."),
    OpDef::new(&["operator.lt"], "a, b", Body::Py("containers.slice_less"))
        .only_if(both_slices)
        .raises()
        .doc("`a < b` of slices, as of their three members."),
    OpDef::new(&["operator.le"], "a, b", Body::Py("containers.slice_less_equal"))
        .only_if(both_slices)
        .raises()
        .doc("`a <= b` of slices, as of their three members."),
    OpDef::new(&["operator.gt"], "a, b", Body::Py("containers.slice_greater"))
        .only_if(both_slices)
        .raises()
        .doc("`a > b` of slices, as of their three members."),
    OpDef::new(&["operator.ge"], "a, b", Body::Py("containers.slice_greater_equal"))
        .only_if(both_slices)
        .raises()
        .doc("`a >= b` of slices, as of their three members."),
    // Members that lowering does not compare (ranges, lists of tuples): one after the other, in Python.
    OpDef::new(&["operator.eq"], "a, b", Body::Py("containers.tuple_equal"))
        .only_if(both_tuples)
        .raises()
        .doc("`a == b` of tuples."),
    OpDef::new(&["operator.ne"], "a, b", Body::Py("containers.tuple_unequal"))
        .only_if(both_tuples)
        .raises()
        .doc("`a != b` of tuples."),
    OpDef::new(&["operator.lt"], "a, b", Body::Py("containers.tuple_less"))
        .only_if(both_tuples)
        .raises()
        .doc("`a < b` of tuples."),
    OpDef::new(&["operator.le"], "a, b", Body::Py("containers.tuple_less_equal"))
        .only_if(both_tuples)
        .raises()
        .doc("`a <= b` of tuples."),
    OpDef::new(&["operator.gt"], "a, b", Body::Py("containers.tuple_greater"))
        .only_if(both_tuples)
        .raises()
        .doc("`a > b` of tuples."),
    OpDef::new(&["operator.ge"], "a, b", Body::Py("containers.tuple_greater_equal"))
        .only_if(both_tuples)
        .raises()
        .doc("`a >= b` of tuples."),
    OpDef::new(&["operator.is_"], "a, b", Body::Lir(is_rule, |cx, c| emit_is(cx, c).map(|v| vec![v])))
        .records()
        .guesses(are_of_one_dtype)
        .doc("`a is b`, for None, bool, types and functions."),
    OpDef::new(
        &["operator.is_not"],
        "a, b",
        Body::Lir(
            |cx, a| is_rule(cx, a).map(negated),
            |cx, c| {
                let v = emit_is(cx, c)?;
                Ok(vec![cx.not(v)])
            },
        ),
    )
    .guesses(are_of_one_dtype)
    .doc("`a is not b`."),
    OpDef::new(
        &["operator.truth", "builtins.bool"],
        "x=False",
        Body::Lir(truth_rule, |cx, c| emit_truth(cx, c).map(|v| vec![v])),
    )
    .only_if(|a| !may_be_exception(a[0].ty))
    .halves()
    .raises()
    .doc("Python's truth of a value."),
    OpDef::new(
        &["operator.truth", "builtins.bool"],
        "x=False",
        Body::Lir(truth_rule, |cx, c| emit_truth(cx, c).map(|v| vec![v])),
    )
    .only_if(|a| may_be_exception(a[0].ty))
    .raises()
    .writes()
    .doc("The truth of an exception, of which its class may say something."),
    OpDef::new(
        &["builtins.bool"],
        "",
        Body::Lir(|_, _| Ok(Answer::constant(Const::Bool(false))), |cx, _| Ok(vec![cx.b.bool(false)])),
    )
    .doc("False."),
    OpDef::new(&["operator.not_"], "x", Body::Lir(untruth_rule, emit_untruth))
        .only_if(|a| !may_be_exception(a[0].ty))
        .raises()
        .doc("`not x`."),
    OpDef::new(&["operator.not_"], "x", Body::Lir(untruth_rule, emit_untruth))
        .only_if(|a| may_be_exception(a[0].ty))
        .raises()
        .writes()
        .doc("`not` of an exception."),
    OpDef::new(&["operator._one_object"], "a, b", Body::Lir(one_object_rule, emit_one_object))
        .reads()
        .internal()
        .doc("Whether two elements are one object that may not be equal to itself."),
];

fn both_tuples(a: &[Arg]) -> bool {
    a.iter().all(|a| a.ty.members().is_some())
}

fn array_and_none(a: &[Arg]) -> bool {
    let array = |a: &Arg| a.ty.as_array().is_some_and(|t| t.ndim > 0 && t.dtype.is_number());
    let none = |a: &Arg| *a.ty == Kind::None;
    array(&a[0]) && none(&a[1]) || none(&a[0]) && array(&a[1])
}

fn both_slices(a: &[Arg]) -> bool {
    a.iter().all(|a| matches!(*a.ty, Kind::Slice(_)))
}

fn both_ranges(a: &[Arg]) -> bool {
    a.iter().all(|a| matches!(*a.ty, Kind::Range(_)))
}

fn negated(mut a: Answer) -> Answer {
    a.konst = a.konst.map(|c| Const::Bool(!c.truth()));
    a
}

fn rule(args: &[Arg], _: bool, holds: fn(std::cmp::Ordering) -> bool) -> Option<Answer> {
    if !args.iter().all(|a| a.ty.is_number()) {
        return None;
    }
    let int = |a: &Arg| a.konst.as_ref().and_then(Const::as_int);
    let konst = match (int(&args[0]), int(&args[1])) {
        (Some(a), Some(b)) => Some(holds(a.cmp(&b))),
        _ => fold_floats(args, holds),
    };
    let konst = konst.map(Const::Bool);
    // Integers of mixed signedness are compared by value, so they keep their types.
    let ints = args.iter().all(|a| a.ty.is_index());
    // So are an int and a float of Python, unless the int is known to be a float exactly.
    let known = |a: &Arg| matches!(a.konst, Some(Const::Int(i)) if i.unsigned_abs() <= 1 << 53);
    let exact = is_int_and_float(args[0].ty, args[1].ty) && !known(&args[0]) && !known(&args[1]);
    let t = if ints || exact { None } else { Some(promote::result_type(args[0].ty, args[1].ty)) };
    let types = match t {
        Some(t) => vec![t, t],
        None => vec![args[0].ty, args[1].ty],
    };
    Some(Answer::coerced(Type::bool(), types).known(konst))
}

/// What a comparison of two constants is, of which one at least is a float of 64 bits.
fn fold_floats(args: &[Arg], holds: fn(std::cmp::Ordering) -> bool) -> Option<bool> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let number = |a: &Arg| {
        if let Some(Const::Float(x)) = a.konst {
            return (a.ty == Type::float() || a.ty == Type::f64()).then_some(x);
        }
        let i = a.konst.as_ref().and_then(Const::as_int)?;
        (i.unsigned_abs() <= 1 << 53).then_some(i as f64)
    };
    // What is not a number is unequal to anything, and that alone.
    let unequal = holds(Less) && holds(Greater) && !holds(Equal);
    Some(number(&args[0])?.partial_cmp(&number(&args[1])?).map_or(unequal, holds))
}

/// The types of a comparison of NumPy's, whose loops take operands of one type but for integers: unlike an
/// operator on scalars, it orders Python's complex numbers, and makes an int that meets a float a float.
fn elements_rule(args: &[Arg], _: bool, holds: fn(std::cmp::Ordering) -> bool) -> Option<Answer> {
    let mut answer = rule(args, true, holds)?;
    if is_int_and_float(args[0].ty, args[1].ty) {
        answer.args = vec![Type::float(); 2];
    }
    Some(answer)
}

fn ordered(args: &[Arg], elementwise: bool, holds: fn(std::cmp::Ordering) -> bool) -> Option<Answer> {
    // NumPy orders its complex scalars, Python has no order for its own.
    let complex = |weak: bool| args.iter().any(|a| a.ty.is_complex() && a.ty.is_weak() == weak);
    if !elementwise && complex(true) && !complex(false) {
        return None;
    }
    rule(args, elementwise, holds)
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, cmp: Cmp) -> Result<Val> {
    if c.elementwise {
        return emit_elements(cx, c, cmp);
    }
    Ok(vec![numbers(cx, &c.args[0], c.types[0], &c.args[1], c.types[1], cmp)?])
}

/// What a loop of NumPy's gives, for elements and for scalars.
fn emit_elements(cx: &mut LowerCx<'_>, c: &OpCall<'_>, cmp: Cmp) -> Result<Val> {
    let r = numbers(cx, &c.args[0], c.types[0], &c.args[1], c.types[1], cmp)?;
    let t = promote::result_type(c.types[0], c.types[1]);
    if !t.is_complex() || matches!(cmp.float, Op::FcmpEq | Op::FcmpNe) {
        return Ok(vec![r]);
    }
    // An imaginary part that is NaN is before and after nothing; operators on scalars ask for it only where the
    // real parts are equal.
    let (a, b) = (cast::cast(cx, &c.args[0], c.types[0], t)?, cast::cast(cx, &c.args[1], c.types[1], t)?);
    let nan = cx.b.bin(Op::FcmpUno, a[1], b[1]);
    let ordered = cx.not(nan);
    Ok(vec![cx.and(r, ordered)])
}

fn numbers(cx: &mut LowerCx<'_>, a: &[Value], at: Type, b: &[Value], bt: Type, cmp: Cmp) -> Result<Value> {
    if at.is_index() && bt.is_index() {
        return Ok(integers(cx, a[0], at, b[0], bt, cmp));
    }
    if is_int_and_float(at, bt) {
        let big = at == Type::big_int() || bt == Type::big_int();
        return int_and_float(cx, (a[0], b[0]), at.is_int(), big, cmp);
    }
    let t = promote::result_type(at, bt);
    let (a, b) = (cast::cast(cx, a, at, t)?, cast::cast(cx, b, bt, t)?);
    if !t.is_complex() {
        return Ok(cx.b.bin(cmp.float, a[0], b[0]));
    }
    let (re, im) = (cx.b.bin(cmp.float, a[0], b[0]), cx.b.bin(cmp.float, a[1], b[1]));
    if cmp.float == Op::FcmpEq {
        return Ok(cx.and(re, im));
    }
    if cmp.float == Op::FcmpNe {
        return Ok(cx.or(re, im));
    }
    // NumPy orders complex numbers by real part, then imaginary part.
    let differ = cx.b.bin(Op::FcmpNe, a[0], b[0]);
    Ok(cx.b.select(differ, re, im))
}

fn is_int_and_float(a: Type, b: Type) -> bool {
    matches!(
        (a.kind(), b.kind()),
        (Kind::Int(Int::Py | Int::Big), Kind::Float(Float::Py))
            | (Kind::Float(Float::Py), Kind::Int(Int::Py | Int::Big))
    )
}

/// Compares a Python int with a Python float by value. Beyond 2⁵³ the int may differ from the float that it
/// rounds to, so equality there asks again.
fn int_and_float(
    cx: &mut LowerCx<'_>,
    (a, b): (Value, Value),
    int_first: bool,
    big: bool,
    cmp: Cmp,
) -> Result<Value> {
    let (i, x) = if int_first { (a, b) } else { (b, a) };
    let f = cx.b.conv(if big { Op::UintToF } else { Op::SintToF }, Ty::F64, i);
    let plain = if int_first { cx.b.bin(cmp.float, f, x) } else { cx.b.bin(cmp.float, x, f) };
    let tie = cx.b.bin(Op::FcmpEq, f, x);
    let size = cx.b.un(Op::Fabs, x);
    let limit = cx.b.f64((1i64 << 53) as f64);
    let large = cx.b.bin(Op::FcmpGe, size, limit);
    let doubtful = cx.and(tie, large);
    let (rare, join) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[Ty::I8]));
    cx.b.brif(doubtful, rare, &[], join, &[plain]);
    cx.b.switch_to(rare);
    // That is above every int; the difference of the others is exact.
    let top = cx.b.f64(if big { 18446744073709551616.0 } else { 9223372036854775808.0 });
    let above = cx.b.bin(Op::FcmpEq, x, top);
    let whole = cx.b.conv(if big { Op::FToUint } else { Op::FToSint }, Ty::I64, x);
    let (lt, gt) = if big {
        (cx.b.bin(Op::IcmpUlt, i, whole), cx.b.bin(Op::IcmpUlt, whole, i))
    } else {
        (cx.b.bin(Op::IcmpSlt, i, whole), cx.b.bin(Op::IcmpSgt, i, whole))
    };
    let lt = cx.or(lt, above);
    let not_above = cx.not(above);
    let gt = cx.and(gt, not_above);
    let (lt, gt) = (cx.b.conv(Op::Zext, Ty::I64, lt), cx.b.conv(Op::Zext, Ty::I64, gt));
    let order = if int_first { cx.b.bin(Op::Isub, gt, lt) } else { cx.b.bin(Op::Isub, lt, gt) };
    let zero = cx.b.i64(0);
    let exact = cx.b.bin(cmp.signed, order, zero);
    cx.b.jump(join, &[exact]);
    cx.b.switch_to(join);
    Ok(cx.b.params(join)[0])
}

/// Compares integers by value, whatever their widths and signs.
fn integers(cx: &mut LowerCx<'_>, a: Value, at: Type, b: Value, bt: Type, cmp: Cmp) -> Value {
    let is_u64 = |t: Type| matches!(*t, Kind::Int(i) if !i.signed() && i.bits() == 64);
    // Wider lanes are fewer of them.
    if at == bt && cx.b.ty(a).is_vector() {
        let signed = matches!(*at, Kind::Int(i) if i.signed());
        let (op, swap) = if signed { (cmp.signed, false) } else { cmp.unsigned };
        return if swap { cx.b.bin(op, b, a) } else { cx.b.bin(op, a, b) };
    }
    let (x, y) = (cast::to_i64(cx, a, at), cast::to_i64(cx, b, bt));
    let unsigned = |cx: &mut LowerCx<'_>| {
        let (op, swap) = cmp.unsigned;
        if swap { cx.b.bin(op, y, x) } else { cx.b.bin(op, x, y) }
    };
    match (is_u64(at), is_u64(bt)) {
        (false, false) => cx.b.bin(cmp.signed, x, y),
        (true, true) => unsigned(cx),
        (mixed_first, _) => {
            // One side may be negative: then it is the smaller one, which a signed comparison of -1 and 0
            // says.
            let other = if mixed_first { y } else { x };
            let negative = cx.b.bin_imm(Op::IcmpSlt, other, 0);
            let (minus, zero) = (cx.b.i64(-1), cx.b.i64(0));
            let when_negative = if mixed_first {
                cx.b.bin(cmp.signed, zero, minus)
            } else {
                cx.b.bin(cmp.signed, minus, zero)
            };
            let plain = unsigned(cx);
            cx.b.select(negative, when_negative, plain)
        }
    }
}

/// Dicts of known keys: the value of the second that belongs to each of the first; none where they have other keys.
fn by_key(a: Type, b: Type) -> Option<Option<Vec<usize>>> {
    let (Kind::NamedTuple(c, _), Kind::NamedTuple(d, _)) = (a.kind(), b.kind()) else { return None };
    let place = |name: &String| d.fields.iter().position(|n| n == name);
    (c.is_keywords() && d.is_keywords())
        .then(|| (c.fields.len() == d.fields.len()).then(|| c.fields.iter().map(place).collect()).flatten())
}

pub(crate) fn comparable(a: Type, b: Type) -> bool {
    let (a, b) = (a.beneath_member(), b.beneath_member());
    if a.is_number() && b.is_number() {
        return true;
    }
    if let (Some(places), Some(x), Some(y)) = (by_key(a, b), a.members(), b.members()) {
        return places.is_none_or(|p| x.iter().zip(p).all(|(t, k)| comparable(*t, y[k])));
    }
    if a == b && super::list::comparable(a) {
        return true;
    }
    match (a.kind(), b.kind()) {
        (Kind::Optional(x), Kind::Optional(y)) => comparable(*x, *y),
        (Kind::Optional(_), Kind::None) | (Kind::None, Kind::Optional(_)) | (Kind::None, Kind::None) => true,
        (Kind::Optional(x), _) => comparable(*x, b),
        (_, Kind::Optional(y)) => comparable(a, *y),
        (Kind::Str, Kind::Str) | (Kind::Bytes, Kind::Bytes) => true,
        _ if is_unit(a) && is_unit(b) => true,
        // Methods of one function are equal where they are of one value, others where they are one.
        (Kind::Function(f), Kind::Function(g)) => f.func != g.func,
        (Kind::None, _) | (_, Kind::None) => true,
        _ if never_equal(a, b) => true,
        (Kind::Member(c), Kind::Member(d)) => c == d && c.members_compare(),
        (Kind::Object(c, _), Kind::Object(d, _)) => c == d && c.objects_are_themselves(),
        (Kind::Frozen(c, x), Kind::Frozen(d, y)) if c == d => {
            c.generated().equality && x.iter().zip(y).all(|(p, q)| comparable(*p, *q))
        }
        _ => match (a.members(), b.members()) {
            (Some(x), Some(y)) => x.len() != y.len() || x.iter().zip(y).all(|(p, q)| comparable(*p, *q)),
            _ => false,
        },
    }
}

/// Values of unrelated classes are never equal in Python.
#[expect(clippy::wildcard_enum_match_arm, reason = "of any other class two values may be equal")]
fn never_equal(a: Type, b: Type) -> bool {
    let class = |t: Type| match t.beneath_member().kind() {
        Kind::Str => 1,
        Kind::NamedTuple(c, _) if c.is_keywords() => 8,
        Kind::Tuple(_) | Kind::NamedTuple(..) | Kind::Container(Container::Tuple, _) => 2,
        _ if t.is_number() => 3,
        Kind::List(_) => 4,
        Kind::Range(_) => 5,
        Kind::Slice(_) => 6,
        Kind::Bytes | Kind::Container(Container::ByteArray, _) => 9,
        Kind::Container(c, _) if c.is_set_like() => 7,
        Kind::Container(c, _) if c.is_mapping() => 8,
        Kind::Container(c, _) => 10 + *c as i64,
        Kind::None => 100,
        // A generated method compares instances of its class alone.
        Kind::Frozen(c, _) if c.generated().equality => -1 - c.id.number() as i64,
        Kind::Member(c) if c.members_compare() => -1 - c.id.number() as i64,
        Kind::Object(c, _) if c.objects_are_themselves() => -1 - c.id.number() as i64,
        _ => 0,
    };
    class(a) != class(b) && class(a) != 0 && class(b) != 0
}

fn structural_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (a, b) = (cx.vars.resolve(args[0].ty), cx.vars.resolve(args[1].ty));
    // Lists have rows of their own; those in tuples are compared here.
    if let (Kind::List(_), Kind::List(_)) | (Kind::Container(..), Kind::Container(..)) = (a.kind(), b.kind())
    {
        return Err(no_match("==", args));
    }
    if never_equal(a, b) || *a == Kind::None && *b == Kind::None {
        return Ok(Answer::constant(Const::Bool(a == b)));
    }
    let may_be_array = |t: Type| t.as_optional().unwrap_or(t).as_array().is_some();
    if may_be_array(a) || may_be_array(b) || !comparable(a, b) {
        return Err(no_match("==", args));
    }
    let konst = match (&args[0].konst, &args[1].konst) {
        (Some(Const::Str(x)), Some(Const::Str(y))) => Some(Const::Bool(x == y)),
        (Some(Const::Bytes(x)), Some(Const::Bytes(y))) => Some(Const::Bool(x == y)),
        _ => dtype_equal(a, b).or_else(|| (is_unit(a) && is_unit(b)).then(|| a == b)).map(Const::Bool),
    };
    Ok(Answer::of(Type::bool()).known(konst))
}

/// Functions that carry no values, classes and modules: known by their type alone.
fn is_unit(t: Type) -> bool {
    if let Kind::Function(f) = t.kind() {
        return f.captures.is_empty() && f.defaults.is_empty();
    }
    matches!(
        t.kind(),
        Kind::Builtin(_)
            | Kind::DType(_)
            | Kind::Module(_)
            | Kind::NamedTupleClass(_)
            | Kind::ExcClass(_)
            | Kind::Class(_)
    )
}

/// `a.dtype == np.float64` and the like.
fn dtype_equal(a: Type, b: Type) -> Option<bool> {
    let scalar = |t: Type| {
        let is_class = matches!(*t, Kind::DType(_) | Kind::Builtin(_));
        if is_class { crate::ops::dtype::dtype_arg(&Arg::of(t)) } else { None }
    };
    Some(scalar(a)? == scalar(b)?)
}

/// Equality of values that are made of numbers, strings, None and tuples.
pub(crate) fn equal(cx: &mut LowerCx<'_>, a: &[Value], at: Type, b: &[Value], bt: Type) -> Result<Value> {
    let (at, bt) = (at.beneath_member(), bt.beneath_member());
    if at.is_number() && bt.is_number() {
        return numbers(cx, a, at, b, bt, EQ);
    }
    match (at.kind(), bt.kind()) {
        (Kind::None, Kind::None) => Ok(cx.b.bool(true)),
        (Kind::Optional(_), Kind::None) => Ok(cx.not(a[0])),
        (Kind::None, Kind::Optional(_)) => Ok(cx.not(b[0])),
        (Kind::Optional(x), Kind::Optional(y)) => {
            let both = cx.and(a[0], b[0]);
            let same = cx.b.bin(Op::IcmpEq, a[0], b[0]);
            let r =
                cx.if_else(both, |cx| Ok(vec![equal(cx, &a[1..], *x, &b[1..], *y)?]), |_| Ok(vec![same]))?;
            Ok(r[0])
        }
        (Kind::Optional(x), _) => {
            let r = cx.if_else(
                a[0],
                |cx| Ok(vec![equal(cx, &a[1..], *x, b, bt)?]),
                |cx| Ok(vec![cx.b.bool(false)]),
            )?;
            Ok(r[0])
        }
        (_, Kind::Optional(_)) => equal(cx, b, bt, a, at),
        (Kind::Str, Kind::Str) | (Kind::Bytes, Kind::Bytes) => super::string::emit_equal(cx, a[0], b[0]),
        (Kind::Member(c), Kind::Member(d)) | (Kind::Object(c, _), Kind::Object(d, _)) if c == d => {
            Ok(cx.b.bin(Op::IcmpEq, a[0], b[0]))
        }
        (Kind::List(_), Kind::List(_)) | (Kind::Container(..), Kind::Container(..)) => {
            super::list::equal(cx, a[0], b[0], at)
        }
        (Kind::Function(f), Kind::Function(g)) if f.func != g.func => Ok(cx.b.bool(false)),
        _ if is_unit(at) && is_unit(bt) => Ok(cx.b.bool(dtype_equal(at, bt).unwrap_or(at == bt))),
        _ => match (at.parts(), bt.parts()) {
            (Some(x), Some(y)) if x.len() == y.len() && !never_equal(at, bt) => {
                let places = match by_key(at, bt) {
                    Some(None) => return Ok(cx.b.bool(false)),
                    Some(Some(places)) => places,
                    None => (0..x.len()).collect(),
                };
                let mut all = cx.b.bool(true);
                let (av, bv) = (split_leaves(a, x), split_leaves(b, y));
                for (k, n) in places.into_iter().enumerate() {
                    let same = elements::equal(cx, &av[k], x[k], &bv[n], y[n])?;
                    all = cx.and(all, same);
                }
                Ok(all)
            }
            _ => Ok(cx.b.bool(false)),
        },
    }
}

/// Whether lowering orders values of two types, or raises where they have no order.
fn orderable(a: Type, b: Type) -> bool {
    if let Kind::Optional(x) = *a {
        return orderable(x, b);
    }
    if let Kind::Optional(y) = *b {
        return orderable(a, y);
    }
    if !has_order(a, b) {
        return comparable(a, b);
    }
    // Dicts have none.
    if by_key(a, b).is_some() {
        return false;
    }
    let (a, b) = (a.beneath_member(), b.beneath_member());
    match (a.members(), b.members()) {
        (Some(x), Some(y)) => x.iter().zip(y).all(|(p, q)| orderable(*p, *q)),
        _ if a.is_number() && b.is_number() => true,
        _ => matches!(*a, Kind::Str | Kind::Bytes) || a == b && super::list::orderable(a),
    }
}

fn tuple_order_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (a, b) = (cx.vars.resolve(args[0].ty), cx.vars.resolve(args[1].ty));
    if a.members().is_none() || b.members().is_none() || !orderable(a, b) {
        return Err(no_match("comparison", args));
    }
    Ok(Answer::of(Type::bool()))
}

fn tuple_order(cx: &mut LowerCx<'_>, c: &OpCall<'_>, strict: Cmp, or_equal: bool) -> Result<Val> {
    Ok(vec![order(cx, (&c.args[0], c.types[0]), (&c.args[1], c.types[1]), strict, or_equal)?])
}

/// Lexicographic order: the first members that differ decide, then the lengths.
fn order(
    cx: &mut LowerCx<'_>,
    a: (&[Value], Type),
    b: (&[Value], Type),
    strict: Cmp,
    or_equal: bool,
) -> Result<Value> {
    let ((av, at), (bv, bt)) = ((a.0, a.1.beneath_member()), (b.0, b.1.beneath_member()));
    let sign = match (strict.signed, or_equal) {
        (Op::IcmpSlt, false) => "<",
        (Op::IcmpSlt, true) => "<=",
        (_, false) => ">",
        (_, true) => ">=",
    };
    require_order(cx, a, b, sign)?;
    if let Kind::Optional(x) = *at {
        return order(cx, (&av[1..], x), b, strict, or_equal);
    }
    if let Kind::Optional(y) = *bt {
        return order(cx, a, (&bv[1..], y), strict, or_equal);
    }
    if !has_order(at, bt) {
        return Ok(cx.b.bool(false));
    }
    if at.is_number() {
        let cmp = match (strict.signed, or_equal) {
            (Op::IcmpSlt, true) => LE,
            (_, true) => GE,
            (_, false) => strict,
        };
        return numbers(cx, av, at, bv, bt, cmp);
    }
    if matches!(*at, Kind::Str | Kind::Bytes) {
        return super::string::emit_order(cx, av[0], bv[0], strict.signed == Op::IcmpSlt, or_equal);
    }
    if super::list::orderable(at) {
        let wanted: &[i64] = match (strict.signed == Op::IcmpSlt, or_equal) {
            (true, false) => &[-1],
            (true, true) => &[-1, 0],
            (false, false) => &[1],
            (false, true) => &[1, 0],
        };
        return super::list::order(cx, av[0], bv[0], at, wanted);
    }
    let (Some(x), Some(y)) = (at.members(), bt.members()) else {
        return Err(Diagnostic::new(Code::InternalError, "order of unordered types"));
    };
    let (av, bv) = (split_leaves(av, x), split_leaves(bv, y));
    lexicographic(cx, (&av, x), (&bv, y), (strict, or_equal), 0)
}

/// Members from `k` on; a member is only ordered where all before it are equal, since it may have no order.
fn lexicographic(
    cx: &mut LowerCx<'_>,
    a: (&[Val], &[Type]),
    b: (&[Val], &[Type]),
    (strict, or_equal): (Cmp, bool),
    k: usize,
) -> Result<Value> {
    let (m, n) = (a.0.len(), b.0.len());
    if k == m.min(n) {
        let by_length = if strict.signed == Op::IcmpSlt { m < n } else { m > n };
        return Ok(cx.b.bool(by_length || (or_equal && m == n)));
    }
    let same = elements::equal_in_order(cx, &a.0[k], a.1[k], &b.0[k], b.1[k])?;
    let r = cx.if_else(
        same,
        |cx| Ok(vec![lexicographic(cx, a, b, (strict, or_equal), k + 1)?]),
        |cx| Ok(vec![order(cx, (&a.0[k], a.1[k]), (&b.0[k], b.1[k]), strict, or_equal)?]),
    )?;
    Ok(r[0])
}

/// What stands for the arguments of an exception is no method, of which all are true, but a tuple.
fn emit_truth(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Value> {
    if super::exception::is_args(c.types[0]) {
        let count = super::exception::args_count(cx, &c.args[0]);
        return Ok(cx.b.bin_imm(Op::IcmpNe, count, 0));
    }
    truth(cx, &c.args[0], c.types[0])
}

fn may_be_exception(t: Type) -> bool {
    *t.without_none() == Kind::Exception
}

fn untruth_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    truth_rule(cx, args).map(negated)
}

fn emit_untruth(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let v = emit_truth(cx, c)?;
    Ok(vec![cx.not(v)])
}

fn truth_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    // Each of several types is looked at by itself, for what is known of it.
    if let Kind::Variant(_) = *args[0].ty {
        return Err(no_match("a truth test", args));
    }
    if super::exception::is_args(args[0].ty) {
        return Ok(Answer::of(Type::bool()));
    }
    let known = args[0].konst.as_ref().map(Const::truth);
    let of_type = known_truth(args[0].ty).ok_or_else(|| {
        Diagnostic::new(Code::NoMatchingOperation, format!("the truth value of {} is ambiguous", args[0].ty))
            .help("use a.any() or a.all()")
    });
    let known = match known {
        Some(k) => Some(k),
        None => of_type?,
    };
    Ok(Answer::of(Type::bool()).known(known.map(Const::Bool)))
}
