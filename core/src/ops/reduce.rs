//! Reductions: `sum` to `argmax`, along no axis, one or several, and running sums. Kernels of the run-time do
//! the work in NumPy's order, so that floating-point results have NumPy's bits; means, variances and
//! quantiles are Python in `tierup/lib/reduce.py` on top of them.
//!
//! An axis is a constant or, where it is a single one, any integer: how many axes go must be known, for it
//! decides the type of the result.

mod axes;
mod chain;
mod positions;
mod running;
mod several;

use super::kernel::{self as k, Reduce};
use super::{Body, Divides, Division, OpDef};
use crate::diag::{Diagnostic, Result};
use crate::elem::Elem;
use crate::emit::arrays::{ArrayVal, load_element};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::serial_reduction::Serial;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::dtype::dtype_arg;
use crate::types::{ArrayType, Const, Int, Kind, Layout, NumberType, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};
pub(crate) use axes::checked_axis;
use axes::{Axes, axes_error, axes_of, choose, raise_axes, result_type};
use chain::emit_lazy;
pub(crate) use chain::{emit_in_memory, emit_keeping};
use positions::{arg_rule, emit_arg};
use running::{emit_running, running_rule};
pub(crate) use several::{LARGEST, SEVERAL, SMALLEST, shown_reduction};

super::identity::op_ids! {
    NUMPY_SUM = "numpy.sum",
    NUMPY_PROD = "numpy.prod",
    NUMPY_NANSUM = "numpy.nansum",
    NUMPY_NANPROD = "numpy.nanprod",
    NUMPY_ARGMIN = "numpy.argmin",
    NUMPY_ARGMAX = "numpy.argmax",
    NUMPY_NANARGMIN = "numpy.nanargmin",
    NUMPY_NANARGMAX = "numpy.nanargmax",
    NUMPY_REDUCED_SIZE = "numpy._reduced_size",
    NUMPY_LARGEST = "numpy._largest",
    NUMPY_MEDIAN = "numpy.median",
    NUMPY_NANMEDIAN = "numpy.nanmedian",
    NUMPY_PERCENTILE = "numpy.percentile",
    NUMPY_QUANTILE = "numpy.quantile",
    NUMPY_NANPERCENTILE = "numpy.nanpercentile",
    NUMPY_NANQUANTILE = "numpy.nanquantile",
    NUMPY_VAR = "numpy.var",
    ARRAY_VAR = "array.var",
    NUMPY_STD = "numpy.std",
    ARRAY_STD = "array.std",
}

const WITH_DTYPE: &str = "a, axis=None, dtype=None, out=None, keepdims=False";
const PLAIN: &str = "a, axis=None, out=None, keepdims=False";
const MASKED_DTYPE: &str = "a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True";
const MASKED: &str = "a, axis=None, out=None, keepdims=False, initial=None, where=True";
const CHOSEN: &str = "a, axis=None, out=None, keepdims=False, *, where=True";
const CHOSEN_DTYPE: &str = "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True";
const CHOSEN_VAR: &str =
    "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None";

/// Each line is two rows: on arrays directly; with `out=`, or on sequences, by a library function. Then rows
/// of other kinds.
macro_rules! reductions {
    ($( [$($path:literal),+], $params:ident, $op:ident, $lib:literal, $doc:literal; )+ others: $($other:expr),+ $(,)?) => {
        pub(crate) static OPS: &[OpDef] = &[
            $(
                OpDef::new(&[$($path),+], $params, Body::Lir(|_, a| rule(a, Reduce::$op), |cx, c| emit(cx, c, Reduce::$op))).only_if(is_direct).raises().reads()
                    .lazy(0, |cx, c, e| emit_lazy(cx, c, e, Reduce::$op)).divides(|d| divides(d, Reduce::$op)).doc($doc),
                OpDef::new(&[$($path),+], $params, Body::Py($lib)).only_if(|a| !is_direct(a)).raises().of_scalars().doc($doc),
            )+
            $($other),+
        ];
        /// What the rows of a name compute.
        const KINDS: &[(&str, Reduce)] = &[$(([$($path),+][0], Reduce::$op)),+];
    };
}

reductions! {
    ["numpy.sum", "array.sum"], WITH_DTYPE, Sum, "reduce.sum_", "Sum of the elements, pairwise as NumPy adds.";
    ["numpy.prod", "array.prod"], WITH_DTYPE, Prod, "reduce.prod", "Product of the elements.";
    ["numpy.nansum"], WITH_DTYPE, NanSum, "reduce.nansum", "Sum of what is not NaN.";
    ["numpy.nanprod"], WITH_DTYPE, NanProd, "reduce.nanprod", "Product of what is not NaN.";
    ["numpy.min", "numpy.amin", "array.min"], PLAIN, Min, "reduce.min_", "Smallest element; NaN where there is one; ValueError of nothing.";
    ["numpy.max", "numpy.amax", "array.max"], PLAIN, Max, "reduce.max_", "Largest element; NaN where there is one; ValueError of nothing.";
    ["numpy.nanmin"], PLAIN, NanMin, "reduce.nanmin", "Smallest element that is not NaN; ValueError of nothing.";
    ["numpy.nanmax"], PLAIN, NanMax, "reduce.nanmax", "Largest element that is not NaN; ValueError of nothing.";
    ["numpy.any", "array.any"], PLAIN, Any, "reduce.any_", "Whether any element is true.";
    ["numpy.all", "array.all"], PLAIN, All, "reduce.all_", "Whether all elements are true.";
    ["numpy.count_nonzero"], PLAIN, CountNonzero, "reduce.count_nonzero", "How many elements are true.";
    ["numpy._count_not_nan"], PLAIN, CountNotNan, "reduce.count_not_nan", "How many elements are not NaN (library use).";
    others:
    // Positions.
    OpDef::new(&["numpy.argmin", "array.argmin"], "a, axis=None, out=None, *, keepdims=False", Body::Lir(|_, a| arg_rule(a), |cx, c| emit_arg(cx, c, false, false))).only_if(is_direct).raises().reads().divides(divides_positions).doc("Position of the smallest element; ValueError of nothing."),
    OpDef::new(&["numpy.argmax", "array.argmax"], "a, axis=None, out=None, *, keepdims=False", Body::Lir(|_, a| arg_rule(a), |cx, c| emit_arg(cx, c, true, false))).only_if(is_direct).raises().reads().divides(divides_positions).doc("Position of the largest element; ValueError of nothing."),
    OpDef::new(&["numpy.nanargmin"], "a, axis=None, out=None, *, keepdims=False", Body::Lir(|_, a| arg_rule(a), |cx, c| emit_arg(cx, c, false, true))).only_if(is_direct).raises().reads().divides(|_| Divides::Never("what is NaN is left out one element after the other")).doc("Position of the smallest element that is not NaN; ValueError."),
    OpDef::new(&["numpy.nanargmax"], "a, axis=None, out=None, *, keepdims=False", Body::Lir(|_, a| arg_rule(a), |cx, c| emit_arg(cx, c, true, true))).only_if(is_direct).raises().reads().divides(|_| Divides::Never("what is NaN is left out one element after the other")).doc("Position of the largest element that is not NaN; ValueError."),
    OpDef::new(&["numpy.argmin", "array.argmin"], "a, axis=None, out=None, *, keepdims=False", Body::Py("reduce.argmin")).only_if(|a| !is_direct(a)).raises().of_scalars().doc("Position of the smallest element."),
    OpDef::new(&["numpy.argmax", "array.argmax"], "a, axis=None, out=None, *, keepdims=False", Body::Py("reduce.argmax")).only_if(|a| !is_direct(a)).raises().of_scalars().doc("Position of the largest element."),
    OpDef::new(&["numpy.nanargmin"], "a, axis=None, out=None, *, keepdims=False", Body::Py("reduce.nanargmin")).only_if(|a| !is_direct(a)).raises().doc("Position of the smallest element that is not NaN."),
    OpDef::new(&["numpy.nanargmax"], "a, axis=None, out=None, *, keepdims=False", Body::Py("reduce.nanargmax")).only_if(|a| !is_direct(a)).raises().doc("Position of the largest element that is not NaN."),
    // Running sums.
    OpDef::new(&["numpy.cumsum", "array.cumsum"], "a, axis=None, dtype=None, out=None", Body::Lir(|_, a| running_rule(a), |cx, c| emit_running(cx, c, 0))).only_if(is_direct).raises().reads().alone("each element needs the one before it").doc("Running sums."),
    OpDef::new(&["numpy.cumprod", "array.cumprod"], "a, axis=None, dtype=None, out=None", Body::Lir(|_, a| running_rule(a), |cx, c| emit_running(cx, c, 1))).only_if(is_direct).raises().reads().alone("each element needs the one before it").doc("Running products."),
    OpDef::new(&["numpy.cumsum", "array.cumsum"], "a, axis=None, dtype=None, out=None", Body::Py("reduce.cumsum")).only_if(|a| !is_direct(a)).raises().of_scalars().doc("Running sums."),
    OpDef::new(&["numpy.cumprod", "array.cumprod"], "a, axis=None, dtype=None, out=None", Body::Py("reduce.cumprod")).only_if(|a| !is_direct(a)).raises().of_scalars().doc("Running products."),
    OpDef::new(&["numpy.cumulative_sum"], "x, *, axis=None, dtype=None, out=None, include_initial=False", Body::Py("reduce.cumulative_sum")).raises().doc("Running sums along one dimension, with a zero in front where it is asked for; ValueError."),
    OpDef::new(&["numpy.cumulative_prod"], "x, *, axis=None, dtype=None, out=None, include_initial=False", Body::Py("reduce.cumulative_prod")).raises().doc("Running products along one dimension, with a one in front where it is asked for; ValueError."),
    OpDef::new(&["numpy.nancumsum"], "a, axis=None, dtype=None, out=None", Body::Py("reduce.nancumsum")).raises().doc("Running sums of what is not NaN."),
    OpDef::new(&["numpy.nancumprod"], "a, axis=None, dtype=None, out=None", Body::Py("reduce.nancumprod")).raises().doc("Running products of what is not NaN."),
    // Statistics.
    OpDef::new(&["numpy.mean", "array.mean"], WITH_DTYPE, Body::Py("reduce.mean")).raises().of_scalars().doc("Arithmetic mean."),
    OpDef::new(&["numpy.nanmean"], WITH_DTYPE, Body::Py("reduce.nanmean")).raises().doc("Mean of what is not NaN."),
    OpDef::new(&["numpy.var", "array.var"], "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None", Body::Py("reduce.var")).raises().of_scalars().doc("Variance."),
    OpDef::new(&["numpy.std", "array.std"], "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None", Body::Py("reduce.std")).raises().of_scalars().doc("Standard deviation."),
    OpDef::new(&["numpy.nanvar"], "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False", Body::Py("reduce.nanvar")).raises().doc("Variance of what is not NaN."),
    OpDef::new(&["numpy.nanstd"], "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False", Body::Py("reduce.nanstd")).raises().doc("Standard deviation of what is not NaN."),
    OpDef::new(&["numpy.ptp"], PLAIN, Body::Py("reduce.ptp")).raises().doc("Largest minus smallest element."),
    OpDef::new(&["numpy.median"], "a, axis=None, out=None, overwrite_input=False, keepdims=False", Body::Py("reduce.median")).raises().doc("Middle of the sorted elements; NaN where there is one."),
    OpDef::new(&["numpy.nanmedian"], "a, axis=None, out=None, overwrite_input=False, keepdims=False", Body::Py("reduce.nanmedian")).raises().doc("Median of what is not NaN."),
    OpDef::new(&["numpy.percentile"], "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False", Body::Py("reduce.percentile")).raises().doc("Value below which `q` percent of the elements lie."),
    OpDef::new(&["numpy.quantile"], "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False", Body::Py("reduce.quantile")).raises().doc("Value below which the fraction `q` of the elements lies."),
    OpDef::new(&["numpy.nanpercentile"], "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False", Body::Py("reduce.nanpercentile")).raises().doc("Percentile of what is not NaN."),
    OpDef::new(&["numpy.nanquantile"], "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False", Body::Py("reduce.nanquantile")).raises().doc("Quantile of what is not NaN."),
    OpDef::new(&["numpy.average"], "a, axis=None, weights=None, returned=False, *, keepdims=False", Body::Py("reduce.average")).raises().doc("Weighted mean; ZeroDivisionError where the weights sum to 0."),
    // With `where=`, `initial=`, `mean=`, which few calls have.
    OpDef::new(&["numpy.sum", "array.sum"], MASKED_DTYPE, Body::Py("masked.sum_")).raises().doc("Sum of chosen elements."),
    OpDef::new(&["numpy.prod", "array.prod"], MASKED_DTYPE, Body::Py("masked.prod")).raises().doc("Product of chosen elements."),
    OpDef::new(&["numpy.nansum"], MASKED_DTYPE, Body::Py("masked.nansum")).raises().doc("Sum of what is chosen and not NaN."),
    OpDef::new(&["numpy.nanprod"], MASKED_DTYPE, Body::Py("masked.nanprod")).raises().doc("Product of what is chosen and not NaN."),
    OpDef::new(&["numpy.min", "numpy.amin", "array.min"], MASKED, Body::Py("masked.min_")).raises().doc("Smallest of chosen elements and `initial`."),
    OpDef::new(&["numpy.max", "numpy.amax", "array.max"], MASKED, Body::Py("masked.max_")).raises().doc("Largest of chosen elements and `initial`."),
    OpDef::new(&["numpy.nanmin"], MASKED, Body::Py("masked.nanmin")).raises().doc("Smallest of `initial` and what is chosen and not NaN."),
    OpDef::new(&["numpy.nanmax"], MASKED, Body::Py("masked.nanmax")).raises().doc("Largest of `initial` and what is chosen and not NaN."),
    OpDef::new(&["numpy.any", "array.any"], CHOSEN, Body::Py("masked.any_")).raises().doc("Whether any chosen element is true."),
    OpDef::new(&["numpy.all", "array.all"], CHOSEN, Body::Py("masked.all_")).raises().doc("Whether all chosen elements are true."),
    OpDef::new(&["numpy.mean", "array.mean"], CHOSEN_DTYPE, Body::Py("masked.mean")).raises().doc("Mean of chosen elements."),
    OpDef::new(&["numpy.nanmean"], CHOSEN_DTYPE, Body::Py("masked.nanmean")).raises().doc("Mean of what is chosen and not NaN."),
    OpDef::new(&["numpy.var", "array.var"], CHOSEN_VAR, Body::Py("masked.var")).raises().doc("Variance of chosen elements, about `mean` if it is given."),
    OpDef::new(&["numpy.std", "array.std"], CHOSEN_VAR, Body::Py("masked.std")).raises().doc("Standard deviation of chosen elements, about `mean` if it is given."),
    // For the library.
    OpDef::new(&["numpy._reduced_size"], "a, axis", Body::Lir(size_rule, emit_size)).raises().of_shape().doc("How many elements a reduction over these axes puts together."),
    OpDef::new(&["numpy._if_nan"], "x, value, out=None", Body::Ufunc(if_nan_rule, emit_if_nan)).doc("`x`, or `value` where it is NaN."),
    OpDef::new(&["numpy._cast_like"], "x, like", Body::Ufunc(
        |a, _| { let to = a[1].ty.strong(); (a[0].ty.is_number() && to.is_number()).then(|| Answer::coerced(to, vec![a[0].ty, to])) },
        |cx, c| cast::cast(cx, &c.args[0], c.types[0], c.ret),
    )).doc("`x` in the type of `like`."),
    OpDef::new(&["numpy._quotient_or_nan"], "x, n", Body::Ufunc(
        |a, _| {
            let t = if a[0].ty.is_complex() { Type::complex().strong() } else { Type::f64() };
            (a[0].ty.is_number() && a[1].ty.is_real()).then(|| Answer::coerced(t, vec![t, Type::f64()]))
        },
        |cx, c| {
            let n = c.args[1][0];
            let (zero, nan) = (cx.b.f64(0.0), cx.b.f64(f64::NAN));
            let some = cx.b.bin(Op::FcmpGt, n, zero);
            Ok(c.args[0].iter().map(|x| { let q = cx.b.bin(Op::Fdiv, *x, n); cx.b.select(some, q, nan) }).collect())
        },
    )).doc("`x / n`, NaN where `n` is not positive."),
    OpDef::new(&["numpy._is_inexact"], "a", Body::Lir(|_, a| { let t = elements(&a[0]); Ok(Answer::constant(Const::Bool(t.is_float() || t.is_complex()))) }, |cx, _| Ok(vec![cx.b.bool(false)]))).doc("Whether elements are floats or complex numbers."),
    OpDef::new(&["numpy._largest"], "a", Body::Lir(
        |_, a| Ok(Answer::of(if let Kind::Float(f) | Kind::Complex(f) = *elements(&a[0]) { Type::float_of(f).strong() } else { Type::f64() })),
        |cx, c| Ok(vec![if c.ret.itemsize() == 4 { cx.b.f32(f32::MAX) } else { cx.b.f64(f64::MAX) }]),
    )).of_shape().doc("The largest finite number of the elements' type."),
    OpDef::new(&["numpy._float_dtype"], "a", Body::Lir(float_dtype_rule, |_, _| Ok(vec![]))).doc("The dtype in which means of an array are computed."),
}

/// Where the kernel of a reduction divides itself.
fn divides(d: &Division, op: Reduce) -> Divides {
    let (adds, multiplies) =
        (matches!(op, Reduce::Sum | Reduce::NanSum), matches!(op, Reduce::Prod | Reduce::NanProd));
    if !d.is_whole() {
        Divides::Always
    } else if multiplies && d.rounds() {
        Divides::Never("floats are multiplied in order")
    } else if adds && d.array.dtype.is_complex() {
        Divides::Never("the parts of a complex sum would not add up to the same bits")
    } else if adds && d.rounds() && d.array.layout == Layout::A && d.array.ndim > 1 {
        Divides::Where("where its rows lie side by side, for floats are added up in order")
    } else {
        Divides::Always
    }
}

/// The same for positions of the smallest or greatest.
fn divides_positions(d: &Division) -> Divides {
    let ndim = d.array.ndim;
    if ndim > 1 && d.is_whole() {
        Divides::Never("positions in an array of several dimensions are found by one thread")
    } else if ndim > 1 && d.number.is_some_and(|x| x == 0 || x == -i64::from(ndim)) {
        Divides::Never("positions along the first axis are found by one thread")
    } else {
        Divides::Always
    }
}

/// The reduction that a row with a loop of its own computes.
pub(crate) fn of_row(op: &OpDef) -> Option<Reduce> {
    op.lazy?;
    KINDS.iter().find(|k| k.0 == op.name()).map(|k| k.1)
}

/// A reduction of an array into a new one; `out` is the parameter of that name.
fn is_direct(args: &[Arg]) -> bool {
    let at = match args.len() {
        5 => 3,
        4 if matches!(*args[3].ty, Kind::Bool) => 2,
        4 => 3,
        _ => return true,
    };
    args[0].ty.as_array().is_some() && args[at].is_none()
}

fn array(args: &[Arg]) -> Result<ArrayType> {
    args[0].ty.as_array().ok_or_else(|| no_match("a reduction", args))
}

/// Integers are added and multiplied in 64 bits.
fn accumulator(t: Type) -> Type {
    match t.number() {
        Some(NumberType::Bool) => Type::i64(),
        Some(NumberType::Int(i)) if i.signed() => Type::i64(),
        Some(NumberType::Int(_)) => Type::int_of(Int::U64),
        Some(NumberType::Float(_) | NumberType::Complex(_)) | None => t,
    }
}

/// Element type of the result, which is also what is computed in.
fn computed(op: Reduce, dtype: Type, given: Option<&Arg>) -> Result<Type> {
    if let Some(d) = given.filter(|d| !d.is_none()) {
        return dtype_arg(d).ok_or_else(|| no_match("dtype", std::slice::from_ref(d)));
    }
    Ok(match op {
        Reduce::Sum | Reduce::Prod | Reduce::NanSum | Reduce::NanProd => accumulator(dtype),
        Reduce::Min | Reduce::Max | Reduce::NanMin | Reduce::NanMax => dtype,
        Reduce::Any | Reduce::All => Type::bool(),
        Reduce::CountNonzero | Reduce::CountNotNan => Type::i64(),
    })
}

fn dtype_of(args: &[Arg]) -> Option<&Arg> {
    (args.len() == 5).then(|| &args[2])
}

fn rule(args: &[Arg], op: Reduce) -> Result<Answer> {
    let a = array(args)?;
    let keep = args[args.len() - 1].flag("keepdims")?;
    let t = computed(op, a.dtype, dtype_of(args))?;
    if !t.is_number() {
        return Err(no_match("a reduction", args));
    }
    let axes = axes_of(&args[1], "axis")?;
    if axes_error(&axes, args[1].ty, a.ndim(), true).is_some() {
        return Ok(Answer::of(Type::never()));
    }
    Ok(Answer::of(result_type(t, a.ndim(), &axes, keep)))
}

fn args_of(c: &OpCall<'_>) -> Vec<Arg> {
    c.types.iter().zip(c.consts).map(|(t, k)| Arg { ty: *t, konst: k.clone() }).collect()
}

pub(crate) fn element_code(cx: &mut LowerCx<'_>, t: Type) -> Result<Value> {
    let elem = Elem::of(t).ok_or_else(|| Diagnostic::internal(format!("{t} is no element type")))?;
    Ok(cx.b.i64(elem as i64))
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Reduce) -> Result<Val> {
    let args = args_of(c);
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let axes = axes_of(&args[1], "axis")?;
    let keep = args[args.len() - 1].flag("keepdims")?;
    if raise_axes(cx, &axes, c.types[1], a.shape.len(), true) {
        return Ok(vec![]);
    }
    let acc = computed(op, a.ty.dtype, dtype_of(&args))?;
    if let (Reduce::Sum, Axes::All, [n], true) =
        (op, &axes, a.shape.as_slice(), !cx.chunks.wanted() && !keep && acc == a.ty.dtype && acc.is_float())
    {
        let single = acc.itemsize() == 4;
        // NumPy too adds up to seven one after the other.
        let (few, zero) =
            (cx.b.bin_imm(Op::IcmpSlt, *n, 8), if single { cx.b.f32(0.0) } else { cx.b.f64(0.0) });
        return cx.if_else(
            few,
            |cx| {
                cx.for_range_short(*n, &[zero], |cx, i, sum| {
                    let x = a.load(cx, &[i])[0];
                    Ok(vec![cx.b.bin(Op::Fadd, sum[0], x)])
                })
            },
            |cx| {
                let short = cx.b.bin_imm(Op::IcmpSlt, *n, 16);
                cx.if_else(
                    short,
                    |cx| eight_and_rest(cx, &a, *n, zero),
                    |cx| {
                        if let Some(serial) = serial(cx, op, a.ty.dtype, acc) {
                            return serial.emit(cx, &a.shape, &[a.stream()], &mut |cx, at| {
                                Ok(load_element(cx, at[0], acc))
                            });
                        }
                        Ok(vec![cx.helper_value(
                            if single { &k::array_sum_f32 } else { &k::array_sum_f64 },
                            &[a.data, *n, a.strides[0]],
                        )])
                    },
                )
            },
        );
    }
    if let (true, Some(serial)) = (c.ret.as_array().is_none(), serial(cx, op, a.ty.dtype, acc)) {
        return serial
            .emit(cx, &a.shape, &[a.stream()], &mut |cx, at| Ok(load_element(cx, at[0], a.ty.dtype)));
    }
    if let (Axes::All, false, Some(run)) = (&axes, keep || cx.chunks.wanted(), side_by_side(cx, &a)) {
        if let Some(x) = emit_run(cx, op, &run, acc)? {
            return Ok(x);
        }
    }
    let chosen = choose(cx, &axes, &c.args[1], c.types[1], a.shape.len());
    let (shape, steps) = chosen.target(cx, &a.shape, acc.itemsize(), keep);
    let (op_code, elem, acc_code) =
        (cx.b.i64(op as i64 | cx.chunks.flag()), element_code(cx, a.ty.dtype)?, element_code(cx, acc)?);
    let n = cx.b.i64(a.shape.len() as i64);
    let (from_shape, from_strides, to_strides) = (cx.spill(&a.shape), cx.spill(&a.strides), cx.spill(&steps));
    let call = |cx: &mut LowerCx<'_>, out: Value| {
        cx.helper(
            &k::array_reduce,
            &[op_code, elem, acc_code, n, from_shape, a.data, from_strides, chosen.mask, out, to_strides],
        );
    };
    if c.ret.as_array().is_none() {
        let out = cx.b.slot_addr(16);
        call(cx, out);
        return Ok(load_element(cx, out, acc));
    }
    let out = ArrayVal::alloc(cx, acc, &shape, Layout::C, false)?;
    cx.guarded(&[out.owner], |cx| {
        call(cx, out.data);
        Ok(())
    })?;
    Ok(out.pack())
}

/// How a reduction is done without kernels for whole arrays; none where there are some.
fn serial(cx: &LowerCx<'_>, op: Reduce, from: Type, acc: Type) -> Option<Serial> {
    if cx.options.platform.array_kernels() { None } else { Serial::of(op, from, acc) }
}

/// The sum of 8 to 15 floats, which NumPy adds pair by pair, then those behind them: a call would take longer
/// than windows of that length do.
fn eight_and_rest(cx: &mut LowerCx<'_>, a: &ArrayVal, n: Value, zero: Value) -> Result<Val> {
    let mut sums: Vec<Value> = (0..8)
        .map(|k| {
            let k = cx.b.i64(k);
            a.load(cx, &[k])[0]
        })
        .collect();
    while sums.len() > 1 {
        sums = sums.chunks(2).map(|pair| cx.b.bin(Op::Fadd, pair[0], pair[1])).collect();
    }
    let rest = cx.b.bin_imm(Op::Iadd, n, -8);
    let sum = cx.for_range_short(rest, &[sums[0]], |cx, i, sum| {
        let i = cx.b.bin_imm(Op::Iadd, i, 8);
        let x = a.load(cx, &[i])[0];
        Ok(vec![cx.b.bin(Op::Fadd, sum[0], x)])
    })?;
    // The sum of an array begins with 0.
    Ok(vec![cx.b.bin(Op::Fadd, zero, sum[0])])
}

/// Elements that lie side by side.
struct Run {
    data: Value,
    n: Value,
    dtype: Type,
}

/// All elements of an array that is known to be contiguous. In which order does not matter: NumPy too takes
/// such an array as one axis.
fn side_by_side(cx: &mut LowerCx<'_>, a: &ArrayVal) -> Option<Run> {
    (a.ty.layout != Layout::A).then(|| Run { data: a.data, n: a.size(cx), dtype: a.ty.dtype })
}

/// A number from elements side by side, where it has their type: no plan of axes is needed.
fn emit_run(cx: &mut LowerCx<'_>, op: Reduce, run: &Run, acc: Type) -> Result<Option<Val>> {
    if acc != run.dtype {
        return Ok(None);
    }
    match op {
        Reduce::Sum if acc.is_float() => {
            let step = cx.b.i64(acc.itemsize());
            return Ok(Some(vec![cx.helper_value(
                if acc.itemsize() == 4 { &k::array_sum_f32 } else { &k::array_sum_f64 },
                &[run.data, run.n, step],
            )]));
        }
        Reduce::Min | Reduce::Max | Reduce::Prod => {}
        Reduce::Sum
        | Reduce::Any
        | Reduce::All
        | Reduce::CountNonzero
        | Reduce::CountNotNan
        | Reduce::NanMin
        | Reduce::NanMax
        | Reduce::NanSum
        | Reduce::NanProd => return Ok(None),
    }
    if let Some(name) = op.no_identity() {
        let any = cx.b.bin_imm(Op::IcmpNe, run.n, 0);
        cx.check(
            any,
            Class::ValueError,
            &format!("zero-size array to reduction operation {name} which has no identity"),
        );
    }
    let (code, elem, none, out) =
        (cx.b.i64(op as i64), element_code(cx, acc)?, cx.b.i64(0), cx.b.slot_addr(16));
    cx.helper(&k::array_fold, &[code, elem, run.data, run.n, none, out]);
    Ok(Some(load_element(cx, out, acc)))
}

fn size_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let n = array(args)?.ndim();
    let axes = axes_of(&args[1], "axis")?;
    Ok(Answer::of(if axes_error(&axes, args[1].ty, n, false).is_some() {
        Type::never()
    } else {
        Type::int()
    }))
}

fn emit_size(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let args = args_of(c);
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let axes = axes_of(&args[1], "axis")?;
    if raise_axes(cx, &axes, c.types[1], a.shape.len(), false) {
        return Ok(vec![]);
    }
    let chosen = choose(cx, &axes, &c.args[1], c.types[1], a.shape.len());
    Ok(vec![chosen.size(cx, &a.shape)])
}

// ---- for the library

fn if_nan_rule(args: &[Arg], _: bool) -> Option<Answer> {
    let t = args[0].ty.strong();
    if !t.is_number() || !args[1].ty.is_number() {
        return None;
    }
    Some(Answer::coerced(t, vec![t, t]))
}

fn emit_if_nan(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (x, value) = (&c.args[0], &c.args[1]);
    if c.types[0].is_index() {
        return Ok(x.clone());
    }
    let nan: Vec<Value> = x.iter().map(|v| cx.b.bin(Op::FcmpUno, *v, *v)).collect();
    let nan = match nan[..] {
        [re, im] => cx.or(re, im),
        _ => nan[0],
    };
    Ok(x.iter().zip(value).map(|(x, v)| cx.b.select(nan, *v, *x)).collect())
}

fn elements(a: &Arg) -> Type {
    a.ty.as_array().map_or(a.ty, |t| t.dtype)
}

fn float_dtype_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = elements(&args[0]);
    Ok(Answer::of(Type::new(Kind::DType(if t.is_index() { Type::f64() } else { t.strong() }))))
}
