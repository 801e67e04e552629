//! New arrays: of a shape, like another array, from nested lists and tuples.

use super::array::{contiguous_or_copy, ordered, scalar_of};
use super::index::{assign, fill};
use super::sequence::{element, element_type, nested};
use super::{Body, OpDef, Own};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::zero_d;
use crate::emit::arrays::{ArrayVal, copy_elements, store_element};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::dates::stores;
use crate::emit::length::length;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::date_texts::text_arg;
use crate::ops::dtype::{dtype_arg, time_arg};
use crate::types::record::Chars;
use crate::types::{Access, ArrayType, Const, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    NUMPY_EMPTY = "numpy.empty" [fills],
    NUMPY_ZEROS = "numpy.zeros" [fills],
    NUMPY_ONES = "numpy.ones" [fills],
    NUMPY_FULL = "numpy.full" [fills],
    NUMPY_ARRAY = "numpy.array" [takes_sequences],
    NUMPY_ASARRAY = "numpy.asarray" [takes_sequences],
    NUMPY_EMPTY_LIKE = "numpy.empty_like" [fills, like],
    NUMPY_ZEROS_LIKE = "numpy.zeros_like" [fills, like],
    NUMPY_ONES_LIKE = "numpy.ones_like" [fills, like],
    NUMPY_FULL_LIKE = "numpy.full_like" [fills, like],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy.empty"], "shape, dtype=None, order='C'", Body::Lir(bare_rule, |cx, c| new(cx, c, false))).raises().reads().makes().doc("A new array, not initialised."),
    OpDef::new(&["numpy.zeros"], "shape, dtype=None, order='C'", Body::Lir(bare_rule, |cx, c| new(cx, c, true))).raises().reads().makes().doc("A new array of zeros."),
    OpDef::new(&["numpy.ones"], "shape, dtype=None, order='C'", Body::Lir(new_rule, |cx, c| {
        let a = made(cx, c, false)?;
        let one = one(cx, a.ty.dtype)?;
        cx.guarded(&[a.owner], |cx| fill(cx, &a, &one))?;
        Ok(a.pack())
    })).raises().reads().makes().doc("A new array of ones."),
    OpDef::new(&["numpy.full"], "shape, fill_value, dtype=None, order='C'", Body::Lir(full_rule, emit_full)).times().raises().reads().makes().doc("A new array with every element `fill_value`."),
    OpDef::new(&["numpy.full"], "shape, fill_value, dtype=None, order='C'", Body::Py("create.full_of_sequence")).only_if(|a| a[1].ty.is_sequence()).raises().reads().doc("A new array of copies of a row."),
    OpDef::new(&["numpy.array", "numpy.asarray"], "object, dtype=None", Body::Py("array.of_flat")).only_if(|a| a[0].ty.is_flat()).raises().reads().doc("The elements of `a.flat`."),
    OpDef::new(&["numpy.empty_like"], "prototype, dtype=None, order='K', subok=True, shape=None", Body::Lir(|_, a| like_rule(a, 1, bare_or), |cx, c| like(cx, c, false).map(|a| a.pack()))).records().raises().reads().makes().doc("A new array like another, not initialised."),
    OpDef::new(&["numpy.zeros_like"], "a, dtype=None, order='K', subok=True, shape=None", Body::Lir(|_, a| like_rule(a, 1, bare_or), |cx, c| like(cx, c, true).map(|a| a.pack()))).records().raises().reads().makes().doc("Zeros like another array."),
    OpDef::new(&["numpy.ones_like"], "a, dtype=None, order='K', subok=True, shape=None", Body::Lir(|_, a| like_rule(a, 1, element_or), |cx, c| {
        let a = like(cx, c, false)?;
        let one = one(cx, a.ty.dtype)?;
        cx.guarded(&[a.owner], |cx| fill(cx, &a, &one))?;
        Ok(a.pack())
    })).raises().reads().doc("Ones like another array."),
    OpDef::new(&["numpy.full_like"], "a, fill_value, dtype=None, order='K', subok=True, shape=None", Body::Lir(|_, a| like_rule(a, 2, element_or), |cx, c| {
        let a = like(cx, c, false)?;
        cx.guarded(&[a.owner], |cx| fill_with(cx, &a, &c.args[1], c.types[1]))?;
        Ok(a.pack())
    })).times().raises().reads().doc("A new array like another with every element `fill_value`."),
    OpDef::new(&["numpy.array"], "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0", Body::Py("array.without_copy")).only_if(|a| may_share(&a[2])).raises().reads().doc("The array itself where it fits, else a new one where `copy` is None and ValueError where it is False."),
    OpDef::new(&["numpy.array"], "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0", Body::Lir(array_rule, emit_array)).records().raises().reads().doc("A new array from an array, a number or nested sequences."),
    OpDef::new(&["numpy.asarray", "numpy.asanyarray"], "a, dtype=None, order='K', *, copy=None", Body::Py("array.asarray_uncopied")).only_if(|a| a.get(3).is_some_and(|c| c.konst == Some(Const::Bool(false)))).raises().reads().doc("The array itself; ValueError where a copy is needed."),
    OpDef::new(&["numpy.asarray", "numpy.asanyarray"], "a, dtype=None, order='K', *, copy=None", Body::Py("array.asarray_copied")).only_if(|a| a[0].ty.as_array().is_some() && a.get(3).is_some_and(|c| c.konst.as_ref().is_some_and(|k| k.truth()))).raises().reads().doc("A copy, where one is asked for."),
    OpDef::new(&["numpy.asarray", "numpy.asanyarray"], "a, dtype=None, order='K', *, copy=None", Body::Lir(asarray_rule, emit_asarray)).records().raises().reads().owned_by(kept).may_share().doc("The array itself where it fits, else a new one."),
    OpDef::new(&["numpy.asarray_chkfinite"], "a, dtype=None, order='K'", Body::Py("create.asarray_chkfinite")).raises().reads().doc("The array where all of its elements are finite; ValueError."),
    OpDef::new(&["numpy.ascontiguousarray"], "a, dtype=None", Body::Lir(|cx, a| laid_out_rule(cx, a, Layout::C), |cx, c| laid_out(cx, c, Layout::C))).times().raises().reads().owned_by(kept).may_share().doc("The array in C order, copied where needed; at least one dimension."),
    OpDef::new(&["numpy.asfortranarray"], "a, dtype=None", Body::Lir(|cx, a| laid_out_rule(cx, a, Layout::F), |cx, c| laid_out(cx, c, Layout::F))).times().raises().reads().owned_by(kept).may_share().doc("The array in Fortran order, copied where needed."),
    OpDef::new(&["numpy.arange"], "start=None, stop=None, step=None, dtype=None", Body::Py("ranges.arange")).raises().reads().doc("Evenly spaced numbers from `start` (0) up to, not including, `stop`."),
    OpDef::new(&["numpy.linspace"], "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0", Body::Py("create.linspace")).raises().reads().doc("`num` evenly spaced numbers from `start` to `stop`."),
    OpDef::new(&["numpy.logspace"], "start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0", Body::Py("create.logspace")).raises().reads().doc("Powers of `base` with evenly spaced exponents."),
    OpDef::new(&["numpy.geomspace"], "start, stop, num=50, endpoint=True, dtype=None, axis=0", Body::Py("create.geomspace")).raises().reads().doc("Numbers with even ratios from `start` to `stop`; NaN between reals of different signs."),
    OpDef::new(&["numpy.eye"], "N, M=None, k=0, dtype=None, order='C'", Body::Py("create.eye")).raises().reads().doc("Ones on a diagonal, zeros elsewhere."),
    OpDef::new(&["numpy.identity"], "n, dtype=None", Body::Py("create.identity")).raises().reads().doc("The identity matrix."),
    OpDef::new(&["numpy.tri"], "N, M=None, k=0, dtype=None", Body::Py("create.tri")).raises().reads().doc("Ones at and below a diagonal."),
    OpDef::new(&["numpy.tril"], "m, k=0", Body::Py("create.tril")).raises().reads().doc("A copy with zeros above a diagonal."),
    OpDef::new(&["numpy.triu"], "m, k=0", Body::Py("create.triu")).raises().reads().doc("A copy with zeros below a diagonal."),
    OpDef::new(&["numpy.tril_indices"], "n, k=0, m=None", Body::Py("create.tril_indices")).raises().reads().doc("Indices of the lower triangle."),
    OpDef::new(&["numpy.triu_indices"], "n, k=0, m=None", Body::Py("create.triu_indices")).raises().reads().doc("Indices of the upper triangle."),
    OpDef::new(&["numpy.tril_indices_from"], "arr, k=0", Body::Py("create.tril_indices_from")).raises().reads().doc("Indices of the lower triangle of a matrix."),
    OpDef::new(&["numpy.triu_indices_from"], "arr, k=0", Body::Py("create.triu_indices_from")).raises().reads().doc("Indices of the upper triangle of a matrix."),
    OpDef::new(&["numpy.bartlett"], "M", Body::Py("create.bartlett")).raises().reads().doc("A triangular window."),
    OpDef::new(&["numpy.kaiser"], "M, beta", Body::Py("create.kaiser")).raises().reads().doc("A window of a Bessel function."),
    OpDef::new(&["numpy.hanning"], "M", Body::Py("create.hanning")).raises().reads().doc("A window of one cosine."),
    OpDef::new(&["numpy.hamming"], "M", Body::Py("create.hamming")).raises().reads().doc("A window of one cosine on a pedestal."),
    OpDef::new(&["numpy.blackman"], "M", Body::Py("create.blackman")).raises().reads().doc("A window of two cosines."),
    OpDef::new(&["numpy.diag"], "v, k=0", Body::Py("create.diag")).raises().reads().doc("A diagonal as an array, or an array as a diagonal."),
    OpDef::new(&["numpy.diagflat"], "v, k=0", Body::Py("create.diagflat")).raises().reads().doc("A matrix with the elements of `v` on a diagonal."),
    OpDef::new(&["numpy.vander"], "x, N=None, increasing=False", Body::Py("create.vander")).raises().reads().doc("Powers of the elements of `x` in columns."),
    OpDef::new(&["numpy.meshgrid"], "*xi, indexing='xy'", Body::Lir(meshgrid_rule, emit_meshgrid)).times().raises().reads().doc("Coordinates of a grid, one array for each axis."),
    OpDef::new(&["numpy.meshgrid"], "*xi, indexing='xy', sparse=False, copy=True", Body::Py("create.meshgrid")).raises().reads().doc("Coordinates of a grid of sequences, or of one that broadcasts."),
    OpDef::new(&["numpy.indices"], "dimensions, dtype=None, sparse=False", Body::Py("create.indices")).only_if(|a| a[2].konst != Some(Const::Bool(false))).raises().reads().doc("Indices of a grid, one array for each axis."),
    OpDef::new(&["numpy.indices"], "dimensions, dtype=None", Body::Lir(indices_rule, emit_indices)).raises().reads().doc("Indices of a grid, stacked along a new first axis."),
    OpDef::new(&["numpy.fromiter"], "iter, dtype, count=-1", Body::Py("create.fromiter")).raises().reads().doc("A 1-d array of the values of an iterator."),
];

/// Ownership of operations that may give their argument itself: they do when the types say so.
fn kept(args: &[Type], ret: Type) -> Own {
    if args[0] == ret { Own::Aliases } else { Own::Fresh }
}

// ---- of a shape

/// Number of dimensions that a shape argument names.
pub(crate) fn shape_dims(t: Type) -> Option<usize> {
    match t.members() {
        Some(m) => m
            .iter()
            .all(|t| t.is_index() || t.as_array().is_some_and(|a| a.ndim == 0 && a.dtype.is_int()))
            .then_some(m.len()),
        None => t.is_index().then_some(1),
    }
}

/// The lengths that a shape argument names.
pub(crate) fn shape_values(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Result<Vec<Value>> {
    let types = t.members().map_or_else(|| vec![t], <[Type]>::to_vec);
    let mut out = vec![];
    for (v, t) in split_leaves(v, &types).iter().zip(&types) {
        out.push(scalar_of(cx, v, *t, Type::int())?[0]);
    }
    Ok(out)
}

/// The dtype of what has no elements yet, or zeros, which may be records, times or texts.
fn bare_or(arg: &Arg, default: Type) -> Result<Type> {
    if let Some((wide, Some(count))) = text_arg(arg) {
        return Ok(Chars { wide, count }.dtype());
    }
    if let Kind::DType(t) = *arg.ty
        && t.record().is_some()
    {
        return Ok(t);
    }
    element_or(arg, default)
}

/// The dtype that a function makes elements of, which may be of times.
fn element_or(arg: &Arg, default: Type) -> Result<Type> {
    time_arg(arg).map_or_else(|| dtype_or(arg, default), Ok)
}

/// A dtype argument, or the default where there is none.
pub(crate) fn dtype_or(arg: &Arg, default: Type) -> Result<Type> {
    if arg.is_none() {
        return Ok(default.strong());
    }
    let d = |what: String, help: &str| Diagnostic::new(Code::NoMatchingOperation, what).help(help);
    dtype_arg(arg).ok_or_else(|| match (arg.ty.kind(), arg.text()) {
        (Kind::Str, Some(name)) if name.contains("8[") || name.contains("64[") => {
            d(format!("Invalid NumPy dtype specified: '{name}'"), super::dtype::SINGLE_UNITS)
        }
        (Kind::Str, Some(name)) => d(
            format!("Invalid NumPy dtype specified: '{name}'"),
            "bool, integers, float32, float64, complex64 and complex128 are there",
        ),
        (Kind::Str, None) => d(
            "a dtype must be known when the function is compiled, and this string is not".into(),
            "pass np.float64, np.int32, ... or a constant string",
        ),
        (Kind::Variant(_), _) => d(
            "the dtype depends on what happens when the function runs".into(),
            "make one array in each branch, or a function for each dtype",
        ),
        _ => d(
            format!("{} is not a dtype that arrays can have", arg.ty),
            "pass np.float64, np.int32, ... or a constant string",
        ),
    })
}

fn shaped(shape: &Arg, dtype: Type, order: &Arg, like: Option<ArrayType>) -> Result<Answer> {
    let n = shape_dims(shape.ty).ok_or_else(|| {
        let listed = matches!(shape.ty.kind(), Kind::List(_))
            || shape.ty.is_tuple_of_any_length()
            || shape.ty.as_array().is_some_and(|a| a.ndim == 1 && a.dtype.is_int());
        if !listed {
            return Diagnostic::new(
                Code::NoMatchingOperation,
                format!("a shape must be an integer or a tuple of integers, not {}", shape.ty),
            );
        }
        Diagnostic::new(
            Code::NoMatchingOperation,
            "the number of dimensions must be known when the function is compiled, and only the run knows how many integers this shape has",
        )
        .help("unpack the shape, h, w = shape, and write np.zeros((h, w)), or make the array outside")
    })?;
    // The order of a prototype holds for an array of its rank.
    let layout = like.filter(|a| a.ndim() == n).map_or(Layout::C, |a| a.layout);
    let like = ArrayType { dtype, ndim: n as u8, layout, access: Access::Write };
    Ok(Answer::of(Type::array(dtype, n, ordered(like, order)?)))
}

fn new_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    shaped(&args[0], dtype_or(&args[1], Type::f64())?, &args[2], None)
}

fn bare_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    shaped(&args[0], bare_or(&args[1], Type::f64())?, &args[2], None)
}

fn array_type(t: Type) -> Result<ArrayType> {
    t.as_array().ok_or_else(|| Diagnostic::internal(format!("{t} is no array")))
}

/// A new array of the call's result type, of the shape in operand 0.
fn made(cx: &mut LowerCx<'_>, c: &OpCall<'_>, zeroed: bool) -> Result<ArrayVal> {
    let t = array_type(c.ret)?;
    let shape = shape_values(cx, &c.args[0], c.types[0])?;
    check_dims(cx, &shape);
    ArrayVal::alloc(cx, t.dtype, &shape, t.layout, zeroed)
}

/// ValueError for a negative length.
pub(crate) fn check_dims(cx: &mut LowerCx<'_>, shape: &[Value]) {
    for n in shape {
        let ok = cx.b.bin_imm(Op::IcmpSge, *n, 0);
        cx.check(ok, Class::ValueError, "negative dimensions are not allowed");
    }
}

fn new(cx: &mut LowerCx<'_>, c: &OpCall<'_>, zeroed: bool) -> Result<Val> {
    Ok(made(cx, c, zeroed)?.pack())
}

fn one(cx: &mut LowerCx<'_>, dtype: Type) -> Result<Val> {
    let one = cx.b.i64(1);
    cast::cast(cx, &[one], Type::int(), dtype)
}

fn full_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let value = args[1].ty;
    let of = value.as_array().map_or(value, |a| a.dtype);
    let dtype = element_or(&args[2], of)?;
    if !of.is_element() || !stores(of, dtype) {
        return Err(no_match("full()", args));
    }
    shaped(&args[0], dtype, &args[3], None)
}

fn emit_full(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = made(cx, c, false)?;
    cx.guarded(&[a.owner], |cx| fill_with(cx, &a, &c.args[1], c.types[1]))?;
    Ok(a.pack())
}

/// Fills an array with a number or what broadcasts to it. Floats are cut to integers whatever they are, as
/// NumPy has it here.
fn fill_with(cx: &mut LowerCx<'_>, a: &ArrayVal, v: &[Value], t: Type) -> Result<()> {
    if t.is_float() {
        let x = cast::cast(cx, v, t, a.ty.dtype)?;
        return fill(cx, a, &x);
    }
    assign(cx, a, v, t)
}

fn like_rule(args: &[Arg], dtype: usize, dtype_of: fn(&Arg, Type) -> Result<Type>) -> Result<Answer> {
    let proto = args[0].ty;
    let a = match proto.as_array() {
        Some(a) => a,
        None if proto.is_element() => {
            ArrayType { dtype: proto.strong(), ndim: 0, layout: Layout::C, access: Access::Write }
        }
        None => return Err(no_match("a function that makes an array like another", args)),
    };
    let t = dtype_of(&args[dtype], a.dtype)?;
    let (order, shape) = (&args[dtype + 1], &args[dtype + 3]);
    if !shape.is_none() {
        return shaped(shape, t, order, Some(a));
    }
    Ok(Answer::of(Type::array(t, a.ndim(), ordered(a, order)?)))
}

fn like(cx: &mut LowerCx<'_>, c: &OpCall<'_>, zeroed: bool) -> Result<ArrayVal> {
    let t = array_type(c.ret)?;
    let last = c.types.len() - 1;
    let shape = if *c.types[last] != Kind::None {
        let shape = shape_values(cx, &c.args[last], c.types[last])?;
        check_dims(cx, &shape);
        shape
    } else if c.types[0].as_array().is_some() {
        ArrayVal::new(cx, &c.args[0], c.types[0])?.shape
    } else {
        vec![]
    };
    ArrayVal::alloc(cx, t.dtype, &shape, t.layout, zeroed)
}

/// An array like one of type `t`, for a sum of such arrays.
pub(crate) fn like_type(t: Type) -> Type {
    t.as_array().map_or(t, |a| {
        Type::array(a.dtype, a.ndim(), if a.layout == Layout::F { Layout::F } else { Layout::C })
    })
}

/// Zeros or ones like the first operand.
pub(crate) fn zeroed_like(cx: &mut LowerCx<'_>, c: &OpCall<'_>, ones: bool) -> Result<Val> {
    let (t, like) = (array_type(c.ret)?, ArrayVal::new(cx, &c.args[0], c.types[0])?);
    let a = ArrayVal::alloc(cx, t.dtype, &like.shape, t.layout, !ones)?;
    if ones {
        let one = one(cx, a.ty.dtype)?;
        cx.guarded(&[a.owner], |cx| fill(cx, &a, &one))?;
    }
    Ok(a.pack())
}

/// A new array like the first operand, all of one element.
pub(crate) fn filled_like(cx: &mut LowerCx<'_>, c: &OpCall<'_>, element: &[Value]) -> Result<Val> {
    let (t, like) = (array_type(c.ret)?, ArrayVal::new(cx, &c.args[0], c.types[0])?);
    let a = ArrayVal::alloc(cx, t.dtype, &like.shape, t.layout, false)?;
    cx.guarded(&[a.owner], |cx| fill(cx, &a, element))?;
    Ok(a.pack())
}

// ---- from nested sequences

/// Whether values of a type become arrays.
pub(crate) fn makes_array(t: Type) -> bool {
    nested(t).is_some()
}

/// The same before variables are resolved.
fn nested_in(cx: &mut TyCx<'_, '_>, t: Type) -> Option<(usize, Type)> {
    nested(cx.vars.resolve(t))
}

fn not_an_array(args: &[Arg], cx: &TyCx<'_, '_>) -> Diagnostic {
    let of = if let Kind::List(e) = *cx.vars.resolve(args[0].ty) {
        format!("a list of {e}")
    } else {
        args[0].ty.to_string()
    };
    Diagnostic::new(Code::NoMatchingOperation, format!("no array can be made of {of}"))
        .help("pass numbers, arrays, or lists and tuples of them that nest to the same depth")
}

fn array_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (n, e) = nested_in(cx, args[0].ty).ok_or_else(|| not_an_array(args, cx))?;
    let dtype = element_or(&args[1], e)?;
    if !stores(e, dtype) {
        return Err(not_an_array(args, cx));
    }
    let like = args[0].ty.as_array().unwrap_or(ArrayType {
        dtype,
        ndim: n as u8,
        layout: Layout::C,
        access: Access::Write,
    });
    let ndmin = args[5]
        .int()
        .ok_or_else(|| Diagnostic::new(Code::RequiresConstant, "ndmin must be a constant"))?
        .clamp(0, 64) as usize;
    args[2].flag("copy")?;
    let layout = ordered(like, &args[3])?;
    Ok(Answer::of(Type::array(dtype, n.max(ndmin), layout)))
}

/// Whether an argument `copy` asks for the array itself.
fn may_share(copy: &Arg) -> bool {
    copy.is_none() || copy.konst.as_ref().is_some_and(|c| !c.truth())
}

fn emit_array(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let t = array_type(c.ret)?;
    let a = from_nested(cx, &c.args[0], c.types[0], t)?;
    Ok(with_leading_ones(cx, &a, t.ndim()).pack())
}

/// A new array of the elements of an array, a number or nested sequences.
pub(crate) fn from_nested(cx: &mut LowerCx<'_>, v: &[Value], t: Type, to: ArrayType) -> Result<ArrayVal> {
    if t.is_element() {
        return zero_d(cx, v, t, to.dtype);
    }
    if t.as_array().is_some() {
        return ArrayVal::new(cx, v, t)?.copied(cx, to.dtype, to.layout);
    }
    let (n, _) = nested(t).ok_or_else(|| Diagnostic::internal(format!("no array can be made of {t}")))?;
    let shape = nested_shape(cx, v, t, n)?;
    let layout = if n > 1 { to.layout } else { Layout::C };
    let out = ArrayVal::alloc(cx, to.dtype, &shape, layout, false)?;
    cx.guarded(&[out.owner], |cx| fill_nested(cx, &out, v, t, &[]))?;
    Ok(out)
}

/// The lengths of nested sequences, found at their first elements; 0 where there is none.
fn nested_shape(cx: &mut LowerCx<'_>, v: &[Value], t: Type, n: usize) -> Result<Vec<Value>> {
    if n == 0 {
        return Ok(vec![]);
    }
    if t.as_array().is_some() {
        return Ok(ArrayVal::new(cx, v, t)?.shape);
    }
    let len = length(cx, v, t)?;
    let mut shape = vec![len];
    if n == 1 {
        return Ok(shape);
    }
    if let Some(m) = t.members() {
        shape.extend(nested_shape(cx, &split_leaves(v, m)[0], m[0], n - 1)?);
        return Ok(shape);
    }
    let e = element_type(t).ok_or_else(|| Diagnostic::internal("elements"))?;
    let some = cx.b.bin_imm(Op::IcmpNe, len, 0);
    let rest = cx.if_else(
        some,
        |cx| {
            let zero = cx.b.i64(0);
            let first = element(cx, v, t, zero)?;
            let inner = nested_shape(cx, &first, e, n - 1)?;
            cx.release(&first, e);
            Ok(inner)
        },
        |cx| Ok((1..n).map(|_| cx.b.i64(0)).collect()),
    )?;
    shape.extend(rest);
    Ok(shape)
}

/// Writes nested sequences into an array of their dimensions; ValueError where lengths differ. `outer` are
/// the dimensions around.
fn fill_nested(cx: &mut LowerCx<'_>, out: &ArrayVal, v: &[Value], t: Type, outer: &[Value]) -> Result<()> {
    // An element of a list that is always empty.
    if *t == Kind::Never {
        return Ok(());
    }
    if t.is_element() {
        let x = cast::element(cx, v, t, out.ty.dtype)?;
        store_element(cx, out.data, out.ty.dtype, &x);
        return Ok(());
    }
    if t.as_array().is_some() {
        let src = ArrayVal::new(cx, v, t)?;
        for (k, (m, n)) in src.shape.clone().iter().zip(&out.shape).enumerate() {
            check_even(cx, *m, *n, &[outer, &out.shape[..k]].concat());
        }
        return copy_elements(cx, out, &src);
    }
    let len = length(cx, v, t)?;
    check_even(cx, len, out.shape[0], outer);
    let outer = [outer, &out.shape[..1]].concat();
    if let Some(m) = t.members() {
        for (k, (p, t)) in split_leaves(v, m).iter().zip(m).enumerate() {
            let at = cx.b.i64(k as i64);
            let row = sub_array(cx, out, at);
            fill_nested(cx, &row, p, *t, &outer)?;
        }
        return Ok(());
    }
    let e = element_type(t).ok_or_else(|| Diagnostic::internal("elements"))?;
    cx.for_range(out.shape[0], &[], |cx, i, _| {
        let x = element(cx, v, t, i)?;
        let refs: Vec<Value> = x.iter().zip(e.leaves()).filter(|(_, l)| l.is_ref).map(|(v, _)| *v).collect();
        let row = sub_array(cx, out, i);
        cx.guarded(&refs, |cx| fill_nested(cx, &row, &x, e, &outer))?;
        cx.release(&x, e);
        Ok(vec![])
    })?;
    Ok(())
}

fn check_even(cx: &mut LowerCx<'_>, len: Value, expected: Value, outer: &[Value]) {
    if len == expected {
        return;
    }
    let ok = cx.b.bin(Op::IcmpEq, len, expected);
    let shape = if outer.len() == 1 {
        "({},)".to_owned()
    } else {
        format!("({})", vec!["{}"; outer.len()].join(", "))
    };
    let text = format!(
        "setting an array element with a sequence. The requested array has an inhomogeneous shape after {} dimensions. The detected shape was {shape} + inhomogeneous part.",
        outer.len()
    );
    cx.check_format(ok, Class::ValueError, &text, outer);
}

/// `a[i]` for an index in range.
pub(crate) fn sub_array(cx: &mut LowerCx<'_>, a: &ArrayVal, i: Value) -> ArrayVal {
    let data = a.address(cx, &[i]);
    let layout = if a.ty.layout == Layout::C || a.shape.len() <= 2 && a.ty.layout == Layout::C {
        Layout::C
    } else {
        Layout::A
    };
    ArrayVal {
        ty: ArrayType { ndim: a.ty.ndim - 1, layout, ..a.ty },
        owner: a.owner,
        data,
        shape: a.shape[1..].to_vec(),
        strides: a.strides[1..].to_vec(),
        frozen: a.frozen,
    }
}

/// The array with dimensions of length 1 in front, up to `ndim`.
fn with_leading_ones(cx: &mut LowerCx<'_>, a: &ArrayVal, ndim: usize) -> ArrayVal {
    let extra = ndim - a.shape.len();
    if extra == 0 {
        return a.clone();
    }
    let one = cx.b.i64(1);
    let shape = [vec![one; extra], a.shape.clone()].concat();
    let size = a.size(cx);
    let step = cx.b.bin_imm(Op::Imul, size, a.ty.itemsize());
    let strides = [vec![step; extra], a.strides.clone()].concat();
    ArrayVal {
        ty: ArrayType { ndim: ndim as u8, ..a.ty },
        owner: a.owner,
        data: a.data,
        shape,
        strides,
        frozen: a.frozen,
    }
}

// ---- where needed

fn asarray_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (n, e) = nested_in(cx, args[0].ty).ok_or_else(|| not_an_array(args, cx))?;
    let dtype = element_or(&args[1], e)?;
    if !stores(e, dtype) {
        return Err(not_an_array(args, cx));
    }
    let Some(a) = args[0].ty.as_array() else { return Ok(Answer::of(Type::array(dtype, n, Layout::C))) };
    let layout = if super::array::any_order(&args[2]) { a.layout } else { ordered(a, &args[2])? };
    let copies = !args[3].is_none() && args[3].flag("copy")?;
    if dtype == a.dtype && layout == a.layout && !copies {
        return Ok(Answer::of(args[0].ty));
    }
    let layout = if layout == Layout::A { Layout::C } else { layout };
    let access =
        if dtype == a.dtype && !copies { super::array::access_of_version(a, layout) } else { Access::Write };
    Ok(Answer::of(ArrayType { access, ..array_type(Type::array(dtype, n, layout))? }.ty()))
}

fn emit_asarray(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.ret == c.types[0] {
        return Ok(c.args[0].clone());
    }
    let t = array_type(c.ret)?;
    match c.types[0].as_array() {
        Some(a) if a.dtype == t.dtype && !c.consts[3].as_ref().is_some_and(|k| k.truth()) => {
            let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
            Ok(contiguous_or_copy(cx, &a, t.layout)?.pack())
        }
        _ => Ok(from_nested(cx, &c.args[0], c.types[0], t)?.pack()),
    }
}

fn laid_out_rule(cx: &mut TyCx<'_, '_>, args: &[Arg], order: Layout) -> Result<Answer> {
    let (n, e) = nested_in(cx, args[0].ty).ok_or_else(|| not_an_array(args, cx))?;
    let dtype = element_or(&args[1], e)?;
    if !stores(e, dtype) {
        return Err(not_an_array(args, cx));
    }
    let wanted = array_type(Type::array(dtype, n.max(1), order))?;
    let access = match args[0].ty.as_array() {
        Some(a) if a.dtype == dtype => super::array::access_of_version(a, wanted.layout),
        _ => Access::Write,
    };
    Ok(Answer::of(ArrayType { access, ..wanted }.ty()))
}

fn laid_out(cx: &mut LowerCx<'_>, c: &OpCall<'_>, order: Layout) -> Result<Val> {
    if c.ret == c.types[0] {
        return Ok(c.args[0].clone());
    }
    let t = array_type(c.ret)?;
    let order = if t.ndim > 1 { order } else { Layout::C };
    let a = match c.types[0].as_array() {
        Some(a) if a.dtype == t.dtype => {
            let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
            contiguous_or_copy(cx, &a, order)?
        }
        _ => from_nested(cx, &c.args[0], c.types[0], ArrayType { layout: order, ..t })?,
    };
    Ok(with_leading_ones(cx, &a, t.ndim()).pack())
}

// ---- grids

fn meshgrid_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let xs = &args[1..];
    match args[0].text() {
        Some("xy" | "ij") => {}
        _ => {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                "Valid values for `indexing` are 'xy' and 'ij'.",
            ));
        }
    }
    let types: Option<Vec<Type>> = xs
        .iter()
        .map(|a| match a.ty.as_array() {
            Some(t) if t.ndim <= 1 => Some(Type::array(t.dtype, xs.len(), Layout::C)),
            None if a.ty.is_number() => Some(Type::array(a.ty, xs.len(), Layout::C)),
            _ => None,
        })
        .collect();
    Ok(Answer::of(Type::tuple(types.ok_or_else(|| no_match("meshgrid()", args))?)))
}

fn emit_meshgrid(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let n = c.args.len() - 1;
    let swapped = n > 1 && c.consts[0].as_ref().and_then(|k| k.as_str()) == Some("xy");
    // The dimension of the grid that argument k runs along.
    let axis = |k: usize| if swapped && k < 2 { 1 - k } else { k };
    let mut sources = vec![];
    for (v, t) in c.args[1..].iter().zip(&c.types[1..]) {
        sources.push(if t.as_array().is_some_and(|a| a.ndim == 1) {
            Some(ArrayVal::new(cx, v, *t)?)
        } else {
            None
        });
    }
    let one = cx.b.i64(1);
    let mut shape = vec![one; n];
    for (k, s) in sources.iter().enumerate() {
        if let Some(a) = s {
            shape[axis(k)] = a.shape[0];
        }
    }
    let members = c.ret.members().unwrap_or_default();
    let mut made: Vec<ArrayVal> = vec![];
    for (k, t) in members.iter().enumerate() {
        let t = array_type(*t)?;
        let owners: Vec<Value> = made.iter().map(|m| m.owner).collect();
        let out = cx.guarded(&owners, |cx| ArrayVal::alloc(cx, t.dtype, &shape, Layout::C, false))?;
        let held: Vec<Value> = owners.iter().copied().chain([out.owner]).collect();
        match &sources[k] {
            None => {
                let x = scalar_of(cx, &c.args[k + 1], c.types[k + 1], t.dtype)?;
                cx.guarded(&held, |cx| fill(cx, &out, &x))?;
            }
            Some(a) => {
                let zero = cx.b.i64(0);
                let (mut dims, mut strides) = (vec![one; n], vec![zero; n]);
                (dims[axis(k)], strides[axis(k)]) = (a.shape[0], a.strides[0]);
                let stretched = ArrayVal {
                    ty: ArrayType { ndim: n as u8, layout: Layout::A, ..a.ty },
                    shape: dims,
                    strides,
                    ..a.clone()
                };
                cx.guarded(&held, |cx| copy_elements(cx, &out, &stretched))?;
            }
        }
        made.push(out);
    }
    Ok(made.iter().flat_map(ArrayVal::pack).collect())
}

fn indices_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let n = args[0].ty.members().and(shape_dims(args[0].ty)).ok_or_else(|| no_match("indices()", args))?;
    Ok(Answer::of(Type::array(dtype_or(&args[1], Type::i64())?, n + 1, Layout::C)))
}

fn emit_indices(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let dtype = array_type(c.ret)?.dtype;
    let dims = shape_values(cx, &c.args[0], c.types[0])?;
    check_dims(cx, &dims);
    let n = cx.b.i64(dims.len() as i64);
    let shape: Vec<Value> = std::iter::once(n).chain(dims).collect();
    let out = ArrayVal::alloc(cx, dtype, &shape, Layout::C, false)?;
    for k in 0..shape.len() - 1 {
        let at = cx.b.i64(k as i64);
        let grid = sub_array(cx, &out, at);
        grid.for_each(cx, &mut |cx, index| {
            let x = cast::cast(cx, &[index[k]], Type::int(), dtype)?;
            grid.store(cx, index, &x);
            Ok(())
        })?;
    }
    Ok(out.pack())
}
