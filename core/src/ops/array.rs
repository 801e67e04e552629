//! Attributes and methods of arrays and dtypes that say what they are, copy them or convert them.

mod copies;
mod dtypes;
mod elements;

use super::index::{assign, fill, refuse_readonly, written};
use super::{Body, OpDef, Own};
use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, contiguous_strides};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::writing::check_writable;
use crate::exc::Class;
use crate::lir::Op;
use crate::ops::dtype::dtype_arg;
use crate::types::{Access, ArrayType, Const, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};
pub(crate) use copies::{any_order, emit_astype, emit_copy, emit_view, ordered};
use copies::{astype_rule, copy_rule, emit_astype_lazy, no_view, view_rule};
pub(crate) use dtypes::dtype_of;
use dtypes::{
    char_code, check_cast_rule, dtype_fact, emit_share, float_limit, info, info_rule, int_limits,
    kind_letter, result_type_rule, share_rule, takes_rule,
};
pub(crate) use elements::{access_of_version, contiguous_or_copy, frozen_version, scalar_of};
use elements::{emit_flat_get, emit_flat_set, emit_item, fill_rule, flat_rule, flat_set_rule, item_rule};

super::identity::op_ids! {
    NUMPY_IINFO = "numpy.iinfo",
    NUMPY_FINFO = "numpy.finfo",
    ARRAY_SHAPE = "array.shape" [describes],
    ARRAY_NDIM = "array.ndim" [describes],
    ARRAY_SIZE = "array.size" [describes],
    ARRAY_DTYPE = "array.dtype" [describes],
    NUMPY_SIZE = "numpy.size",
    NUMPY_RESULT_DTYPE = "numpy._result_dtype",
}

type Result1 = Result<Answer>;

/// An array that is nothing but a shape, for those who ask an array for that alone: it has no elements to
/// read ([`crate::lower::fuse`] makes it).
pub(crate) static OF_SHAPE: OpDef = OpDef::new(
    &["numpy._of_shape"],
    "shape",
    Body::Lir(
        |_, a| Err(no_match("_of_shape()", a)),
        |cx, c| {
            let ty = c.ret.as_array().ok_or_else(|| Diagnostic::internal("a shape of no array"))?;
            let (shape, nothing) = (c.args[0].clone(), cx.b.null());
            let strides = contiguous_strides(cx, &shape, ty.itemsize(), ty.layout);
            Ok(ArrayVal { ty, owner: nothing, data: nothing, shape, strides, frozen: None }.pack())
        },
    ),
);

/// The row of `a.shape`.
pub(crate) fn shape_of() -> &'static OpDef {
    ids::ARRAY_SHAPE.rows()[0]
}

pub(crate) static OPS: &[OpDef] = &[
    // What an array is; the first is [`shape_of`].
    OpDef::new(
        &["array.shape", "numpy.shape"],
        "a",
        Body::Lir(
            |_, a| array_or_number(a).map(|n| Answer::of(Type::tuple(vec![Type::int(); n]))),
            |cx, c| shape(cx, c),
        ),
    )
    .property()
    .of_shape()
    .doc("Length of each dimension."),
    OpDef::new(
        &["array.ndim", "numpy.ndim"],
        "a",
        Body::Lir(|_, a| array_or_number(a).map(|n| Answer::constant(Const::Int(n as i64))), nothing),
    )
    .property()
    .of_shape()
    .doc("Number of dimensions."),
    OpDef::new(
        &["array.size"],
        "a",
        Body::Lir(
            |_, a| array(a).map(|_| Answer::of(Type::int())),
            |cx, c| Ok(vec![ArrayVal::new(cx, &c.args[0], c.types[0])?.size(cx)]),
        ),
    )
    .property()
    .of_shape()
    .doc("Number of elements."),
    OpDef::new(&["numpy.size"], "a, axis=None", Body::Lir(size_rule, emit_size))
        .raises()
        .of_shape()
        .doc("Number of elements, of the array or along an axis."),
    OpDef::new(
        &["array.itemsize"],
        "a",
        Body::Lir(|_, a| array(a).map(|t| Answer::constant(Const::Int(t.itemsize()))), nothing),
    )
    .records()
    .property()
    .doc("Bytes of one element."),
    OpDef::new(
        &["array.nbytes"],
        "a",
        Body::Lir(
            |_, a| array(a).map(|_| Answer::of(Type::int())),
            |cx, c| {
                let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
                let n = a.size(cx);
                Ok(vec![cx.b.bin_imm(Op::Imul, n, a.ty.itemsize())])
            },
        ),
    )
    .records()
    .property()
    .doc("Bytes of all elements."),
    OpDef::new(
        &["array.strides"],
        "a",
        Body::Lir(
            |_, a| array(a).map(|t| Answer::of(Type::tuple(vec![Type::int(); t.ndim()]))),
            emit_strides,
        ),
    )
    .records()
    .property()
    .doc("Bytes from one element to the next in each dimension."),
    OpDef::new(
        &["array.dtype"],
        "a",
        Body::Lir(|_, a| array(a).map(|t| Answer::of(Type::new(Kind::DType(t.dtype)))), nothing),
    )
    .records()
    .property()
    .doc("Type of the elements."),
    OpDef::new(
        &["number.dtype"],
        "x",
        Body::Lir(
            |_, a| {
                if a[0].ty.is_number() {
                    Ok(Answer::of(Type::new(Kind::DType(a[0].ty.strong()))))
                } else {
                    Err(no_match(".dtype", a))
                }
            },
            nothing,
        ),
    )
    .property()
    .doc("Type of a NumPy number."),
    // `a.flags` is the array under another type, whose attributes are the flags.
    OpDef::new(&["array.flags"], "a", Body::Lir(|_, a| Err(no_match("flags()", a)), nothing))
        .times()
        .doc("How the array lies in memory."),
    OpDef::new(
        &["array.flags.c_contiguous", "array.flags.contiguous"],
        "a",
        Body::Lir(|_, a| contiguous_rule(a, Layout::C), |cx, c| contiguous(cx, c, Layout::C)),
    )
    .times()
    .property()
    .doc("Rows without gaps."),
    OpDef::new(
        &["array.flags.f_contiguous"],
        "a",
        Body::Lir(|_, a| contiguous_rule(a, Layout::F), |cx, c| contiguous(cx, c, Layout::F)),
    )
    .times()
    .property()
    .doc("Columns without gaps."),
    OpDef::new(&["array.flags.writeable"], "a", Body::Lir(writeable_rule, emit_writeable))
        .times()
        .property()
        .doc("Whether elements may be changed."),
    OpDef::new(
        &["array.flags.aligned"],
        "a",
        Body::Lir(|_, a| flagged(a).map(|_| Answer::of(Type::bool())), emit_aligned),
    )
    .times()
    .property()
    .doc("Whether elements lie at multiples of their size."),
    OpDef::new(
        &["numpy.isscalar"],
        "element",
        Body::Lir(|_, a| asked(a, is_scalar), |cx, c| told(cx, c, is_scalar)),
    )
    .doc("Whether `x` is a number, a time, a string or bytes."),
    OpDef::new(
        &["numpy.iscomplexobj"],
        "x",
        Body::Lir(|_, a| asked(a, has_complex), |cx, c| told(cx, c, has_complex)),
    )
    .doc("Whether `x` is of a complex type."),
    OpDef::new(
        &["numpy.isrealobj"],
        "x",
        Body::Lir(|_, a| asked(a, |t| !has_complex(t)), |cx, c| told(cx, c, |t| !has_complex(t))),
    )
    .doc("Whether `x` is not of a complex type."),
    OpDef::new(
        &["dtype.itemsize"],
        "d",
        Body::Lir(|_, a| dtype_fact(a, |t| Const::Int(t.itemsize())), nothing),
    )
    .property()
    .doc("Bytes of one element."),
    OpDef::new(
        &["dtype.name"],
        "d",
        Body::Lir(|_, a| dtype_fact(a, |t| Const::Str(t.to_string().as_str().into())), nothing),
    )
    .property()
    .doc("Name, as in `float64`."),
    OpDef::new(
        &["dtype.kind"],
        "d",
        Body::Lir(|_, a| dtype_fact(a, |t| Const::Str(kind_letter(t).into())), nothing),
    )
    .property()
    .doc("Letter of the kind: `b`, `i`, `u`, `f` or `c`."),
    OpDef::new(
        &["dtype.char"],
        "d",
        Body::Lir(|_, a| dtype_fact(a, |t| Const::Str(char_code(t).into())), nothing),
    )
    .property()
    .doc("One-letter code."),
    OpDef::new(
        &["dtype.str"],
        "d",
        Body::Lir(
            |_, a| {
                dtype_fact(a, |t| {
                    Const::Str(
                        format!(
                            "{}{}{}",
                            if t.itemsize() == 1 { '|' } else { '<' },
                            kind_letter(t),
                            t.itemsize()
                        )
                        .into(),
                    )
                })
            },
            nothing,
        ),
    )
    .property()
    .doc("Code with byte order, as in `<f8`."),
    OpDef::new(
        &["dtype.type"],
        "d",
        Body::Lir(
            |_, a| {
                Ok(Answer::of(Type::new(Kind::DType(dtype_arg(&a[0]).ok_or_else(|| no_match(".type", a))?))))
            },
            nothing,
        ),
    )
    .property()
    .doc("The scalar class."),
    OpDef::new(
        &["numpy.dtype"],
        "d",
        Body::Lir(
            |_, a| {
                Ok(Answer::of(Type::new(Kind::DType(
                    dtype_arg(&a[0]).ok_or_else(|| no_match("dtype()", a))?,
                ))))
            },
            nothing,
        ),
    )
    .doc("The dtype that a class or constant string names."),
    OpDef::new(&["numpy.result_type", "numpy.promote_types"], "*args", Body::Lir(result_type_rule, nothing))
        .doc("The dtype that arithmetic on arrays and dtypes gives."),
    OpDef::new(&["numpy.may_share_memory"], "a, b, /, max_work=None", Body::Lir(share_rule, emit_share))
        .times()
        .doc("Whether two arrays have elements and their memory lies in ranges that meet."),
    OpDef::new(&["numpy._check_cast"], "src, dst, casting", Body::Lir(check_cast_rule, nothing))
        .doc("Refuses what a casting rule does not allow (library use)."),
    OpDef::new(
        &["numpy._result_dtype"],
        "f, *args",
        Body::Lir(|_, a| Err(no_match("_result_dtype()", a)), nothing),
    )
    .doc("The dtype of what a call gives (library use; calls type it)."),
    OpDef::new(&["numpy._takes"], "dtype, x, *all", Body::Lir(takes_rule, nothing))
        .doc("Whether a ufunc's loop for a dtype takes an operand `x` among all of them (library use)."),
    // `np.iinfo(np.int8)` is the dtype under another type.
    OpDef::new(
        &["numpy.iinfo"],
        "type",
        Body::Lir(|_, a| info_rule(a, ids::NUMPY_IINFO, |t| t.is_int()), nothing),
    )
    .doc("Limits of an integer type."),
    OpDef::new(
        &["numpy.iinfo.min"],
        "i",
        Body::Lir(|_, a| info(a).and_then(int_limits).map(|l| Answer::constant(l.0)), nothing),
    )
    .property()
    .doc("Smallest value."),
    OpDef::new(
        &["numpy.iinfo.max"],
        "i",
        Body::Lir(|_, a| info(a).and_then(int_limits).map(|l| Answer::constant(l.1)), nothing),
    )
    .property()
    .doc("Largest value."),
    OpDef::new(
        &["numpy.iinfo.bits", "numpy.finfo.bits"],
        "i",
        Body::Lir(|_, a| info(a).map(|t| Answer::constant(Const::Int(8 * t.itemsize()))), nothing),
    )
    .property()
    .doc("Number of bits."),
    OpDef::new(
        &["numpy.iinfo.dtype", "numpy.finfo.dtype"],
        "i",
        Body::Lir(|_, a| Ok(Answer::of(Type::new(Kind::DType(info(a)?)))), nothing),
    )
    .property()
    .doc("The type itself."),
    OpDef::new(
        &["numpy.finfo"],
        "dtype",
        Body::Lir(|_, a| info_rule(a, ids::NUMPY_FINFO, |t| t.is_float() || t.is_complex()), nothing),
    )
    .doc("Limits of a floating-point type."),
    OpDef::new(
        &["numpy.finfo.eps"],
        "f",
        Body::Lir(|_, a| info(a).map(Answer::of), |cx, c| float_limit(cx, c, f32::EPSILON, f64::EPSILON)),
    )
    .property()
    .doc("Distance from 1 to the next number."),
    OpDef::new(
        &["numpy.finfo.max"],
        "f",
        Body::Lir(|_, a| info(a).map(Answer::of), |cx, c| float_limit(cx, c, f32::MAX, f64::MAX)),
    )
    .property()
    .doc("Largest number."),
    OpDef::new(
        &["numpy.finfo.min"],
        "f",
        Body::Lir(|_, a| info(a).map(Answer::of), |cx, c| float_limit(cx, c, f32::MIN, f64::MIN)),
    )
    .property()
    .doc("Smallest number."),
    OpDef::new(
        &["numpy.finfo.tiny", "numpy.finfo.smallest_normal"],
        "f",
        Body::Lir(
            |_, a| info(a).map(Answer::of),
            |cx, c| float_limit(cx, c, f32::MIN_POSITIVE, f64::MIN_POSITIVE),
        ),
    )
    .property()
    .doc("Smallest positive normal number."),
    OpDef::new(
        &["numpy.finfo.smallest_subnormal"],
        "f",
        Body::Lir(
            |_, a| info(a).map(Answer::of),
            |cx, c| float_limit(cx, c, f32::from_bits(1), f64::from_bits(1)),
        ),
    )
    .property()
    .doc("Smallest positive number."),
    OpDef::new(
        &["numpy.finfo.resolution"],
        "f",
        Body::Lir(|_, a| info(a).map(Answer::of), |cx, c| float_limit(cx, c, 1e-6, 1e-15)),
    )
    .property()
    .doc("10 to minus the number of digits that are kept."),
    // Parts.
    OpDef::new(
        &["array.real", "numpy.real"],
        "val",
        Body::Lir(|_, a| part_rule(a), |cx, c| emit_part(cx, c, false)),
    )
    .property()
    .aliases()
    .doc("Real part, as a view."),
    OpDef::new(
        &["array.imag", "numpy.imag"],
        "val",
        Body::Lir(|_, a| imag_rule(a), |cx, c| emit_part(cx, c, true)),
    )
    .raises()
    .property()
    .owned_by(
        |t, _| if t[0].as_array().is_some_and(|a| a.dtype.is_complex()) { Own::Aliases } else { Own::Fresh },
    )
    .doc("Imaginary part: a view, or for real arrays zeros that cannot be written to."),
    OpDef::new(
        &["array.real=", "numpy.real="],
        "a, value",
        Body::Lir(set_part_rule, |cx, c| set_part(cx, c, false)),
    )
    .raises()
    .writes()
    .doc("`a.real = value`."),
    OpDef::new(&["array.imag="], "a, value", Body::Lir(set_part_rule, |cx, c| set_part(cx, c, true)))
        .raises()
        .writes()
        .doc("`a.imag = value`."),
    OpDef::new(&["array.conj", "array.conjugate"], "a", Body::Py("array.conj"))
        .raises()
        .reads()
        .doc("Complex conjugate of each element."),
    // Copies and conversions.
    OpDef::new(&["array.copy"], "a, order='C'", Body::Lir(|_, a| copy_rule(a, &a[1]), emit_copy))
        .records()
        .raises()
        .reads()
        .doc("A copy."),
    OpDef::new(&["numpy.copy"], "a, order='K'", Body::Lir(|_, a| copy_rule(a, &a[1]), emit_copy))
        .records()
        .raises()
        .reads()
        .doc("A copy."),
    OpDef::new(
        &["array.astype"],
        "a, dtype, order='K', casting='unsafe', subok=True, copy=True",
        Body::Lir(astype_rule, emit_astype),
    )
    .raises()
    .reads()
    .may_share()
    .converts()
    .lazy(0, emit_astype_lazy)
    .doc("A copy with elements converted to another type."),
    OpDef::new(&["array.view"], "a, dtype=None", Body::Lir(view_rule, emit_view))
        .raises()
        .aliases()
        .doc("The same memory under another dtype."),
    OpDef::new(&["number.view"], "x, dtype=None", Body::Py("array.number_view"))
        .only_if(|a| !a[0].ty.is_weak())
        .raises()
        .doc("The bytes of a NumPy number as a number of another type."),
    OpDef::new(&["number.view"], "x, dtype=None", Body::Lir(no_view, nothing))
        .only_if(|a| a[0].ty.is_weak())
        .doc("Python's own numbers have no bytes to look at."),
    OpDef::new(
        &["array.fill"],
        "a, value",
        Body::Lir(fill_rule, |cx, c| {
            if refuse_readonly(cx, c) {
                return Ok(vec![]);
            }
            let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
            check_writable(cx, &a, "assignment destination is read-only");
            let x = scalar_of(cx, &c.args[1], c.types[1], a.ty.dtype)?;
            fill(cx, &a, &x)?;
            Ok(vec![])
        }),
    )
    .times()
    .raises()
    .writes()
    .doc("Sets all elements."),
    OpDef::new(&["array.item"], "a, *index", Body::Lir(item_rule, emit_item)).raises().reads().doc(
        "An element as a Python number: the only one, one by its position in C order, or one by its indices.",
    ),
    OpDef::new(&["array.tolist"], "a", Body::Py("array.tolist"))
        .only_if(|a| a[0].ty.as_array().is_some_and(|t| t.dtype.time().is_none()))
        .raises()
        .reads()
        .doc("Nested lists of Python numbers."),
    // `a.flat` as a sequence.
    OpDef::new(
        &["operator.getitem"],
        "flat, i",
        Body::Lir(|_, a| flat_rule(a).map(|t| Answer::of(t.dtype)), emit_flat_get),
    )
    .times()
    .raises()
    .reads()
    .doc("`a.flat[i]`."),
    OpDef::new(&["operator.setitem"], "flat, i, value", Body::Lir(flat_set_rule, emit_flat_set))
        .times()
        .raises()
        .writes()
        .doc("`a.flat[i] = value`."),
    OpDef::new(&["operator.getitem"], "flat, i", Body::Py("array.flat_get"))
        .only_if(|a| a[0].ty.is_flat() && !a[1].ty.is_number())
        .raises()
        .reads()
        .doc("`a.flat[i]` of a slice or of positions: a copy."),
    OpDef::new(&["operator.setitem"], "flat, i, value", Body::Py("array.flat_set"))
        .only_if(|a| a[0].ty.is_flat() && !a[1].ty.is_number())
        .raises()
        .writes()
        .doc("`a.flat[i] = value` for a slice or positions; the values are repeated."),
    OpDef::new(&["operator.setitem"], "a, i, value", Body::Py("array.set_sequence"))
        .only_if(|a| {
            a[0].ty.as_array().is_some() && (a[2].ty.is_sequence() || matches!(*a[2].ty, Kind::Range(_)))
        })
        .raises()
        .writes()
        .doc("`a[i] = value` of nested lists and ranges, which become arrays first."),
    OpDef::new(&["array.flat="], "a, value", Body::Py("array.set_flat"))
        .raises()
        .writes()
        .doc("`a.flat = value`: all elements, the value repeated."),
];

fn nothing(_: &mut LowerCx<'_>, _: &OpCall<'_>) -> Result<Val> {
    Ok(vec![])
}

/// The array type of the first operand.
pub(crate) fn array(args: &[Arg]) -> Result<ArrayType> {
    args[0].ty.as_array().ok_or_else(|| no_match("an array's attribute", args))
}

/// Dimensions of an array or a number.
fn array_or_number(args: &[Arg]) -> Result<usize> {
    match args[0].ty.as_array() {
        Some(a) => Ok(a.ndim()),
        None if matches!(args[0].ty.kind(), Kind::None | Kind::Str) || is_scalar(present(args[0].ty)) => {
            Ok(0)
        }
        None => Err(no_match("an array's attribute", args)),
    }
}

fn present(t: Type) -> Type {
    if let Kind::Optional(t) = *t { t } else { t }
}

fn element_type(t: Type) -> Type {
    t.as_array().map_or(t, |a| a.dtype)
}

// ---- what a type alone says of a value

fn is_scalar(t: Type) -> bool {
    t.is_element() || matches!(*t, Kind::Str | Kind::Bytes)
}

fn has_complex(t: Type) -> bool {
    crate::ops::sequence::nested(t).is_some_and(|(_, e)| e.is_complex())
}

/// The answer is in the type but for what may be None.
fn asked(args: &[Arg], holds: fn(Type) -> bool) -> Result1 {
    let one = |t: Type| Ok(Answer::constant(Const::Bool(holds(t))));
    let t = args[0].ty;
    if t.as_optional().is_some_and(|t| holds(t) != holds(Type::none())) {
        return Ok(Answer::of(Type::bool()));
    }
    let Kind::Variant(ts) = t.kind() else { return one(t.without_none()) };
    if ts.iter().any(|t| holds(*t) != holds(ts[0])) {
        return Err(no_match("a question about a type", args));
    }
    one(ts[0])
}

fn told(cx: &mut LowerCx<'_>, c: &OpCall<'_>, holds: fn(Type) -> bool) -> Result<Val> {
    let asked = c.types[0].as_optional().filter(|_| *c.ret == Kind::Bool && !c.args[0].is_empty());
    let Some(t) = asked else { return Ok(vec![]) };
    Ok(vec![if holds(t) { c.args[0][0] } else { cx.not(c.args[0][0]) }])
}

fn shape(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.types[0].as_array().is_none() {
        return Ok(vec![]);
    }
    Ok(ArrayVal::new(cx, &c.args[0], c.types[0])?.shape)
}

fn size_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let n = array_or_number(args)?;
    if !args[1].is_none() {
        super::shape::constant_axis(&args[1], n, "size")?;
    }
    Ok(Answer::of(Type::int()))
}

fn emit_size(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.types[0].as_array().is_none() {
        return Ok(vec![cx.b.i64(1)]);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let axis = c.consts[1].as_ref().and_then(Const::as_int);
    Ok(vec![match axis {
        Some(k) => a.shape[if k < 0 { k + a.shape.len() as i64 } else { k } as usize],
        None => a.size(cx),
    }])
}

/// Arrays of no elements have strides of 0, where their type does not carry the strides of a view.
fn emit_strides(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    if a.ty.layout == Layout::A {
        return Ok(a.strides);
    }
    let size = a.size(cx);
    let some = cx.b.bin_imm(Op::IcmpNe, size, 0);
    let zero = cx.b.i64(0);
    Ok(a.strides.iter().map(|s| cx.b.select(some, *s, zero)).collect())
}

// ---- flags

/// The array behind `a.flags`.
fn flagged(args: &[Arg]) -> Result<ArrayType> {
    let of = if let Kind::Method(_, t) = *args[0].ty { t.as_array() } else { None };
    of.ok_or_else(|| no_match("flags", args))
}

fn contiguous_rule(args: &[Arg], order: Layout) -> Result1 {
    let a = flagged(args)?;
    let known = a.ndim == 0 || a.layout == order || (a.ndim == 1 && a.layout == Layout::C);
    Ok(Answer::of(Type::bool()).known(known.then_some(Const::Bool(true))))
}

fn contiguous(cx: &mut LowerCx<'_>, c: &OpCall<'_>, order: Layout) -> Result<Val> {
    let Kind::Method(_, t) = *c.types[0] else { return Err(Diagnostic::internal("flags")) };
    let a = ArrayVal::new(cx, &c.args[0], t)?;
    Ok(vec![a.is_contiguous(cx, order)])
}

fn writeable_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    Ok(match flagged(args)?.access {
        Access::Write => Answer::constant(Const::Bool(true)),
        Access::Read => Answer::constant(Const::Bool(false)),
        Access::Either => Answer::of(Type::bool()),
    })
}

fn emit_writeable(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let Kind::Method(_, t) = *c.types[0] else { return Err(Diagnostic::internal("flags")) };
    let a = ArrayVal::new(cx, &c.args[0], t)?;
    Ok(vec![match a.frozen {
        Some(f) => cx.not(f),
        None => cx.b.bool(a.ty.access == Access::Write),
    }])
}

fn emit_aligned(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let Kind::Method(_, t) = *c.types[0] else { return Err(Diagnostic::internal("flags")) };
    let a = ArrayVal::new(cx, &c.args[0], t)?;
    let align = if a.ty.dtype.is_complex() { a.ty.itemsize() / 2 } else { a.ty.itemsize() };
    let mut bits = cx.b.conv(Op::Bitcast, crate::lir::Ty::I64, a.data);
    for (s, n) in a.strides.iter().zip(&a.shape) {
        let one = cx.b.bin_imm(Op::IcmpEq, *n, 1);
        let zero = cx.b.i64(0);
        let s = cx.b.select(one, zero, *s);
        bits = cx.or(bits, s);
    }
    let low = cx.b.bin_imm(Op::Band, bits, align - 1);
    Ok(vec![cx.b.bin_imm(Op::IcmpEq, low, 0)])
}

// ---- real and imaginary parts

fn part_type(a: ArrayType) -> ArrayType {
    let Kind::Complex(f) = *a.dtype else { return a };
    let layout = if a.ndim == 0 { Layout::C } else { Layout::A };
    ArrayType { dtype: Type::float_of(f), layout, ..a }
}

fn part_rule(args: &[Arg]) -> Result1 {
    array(args).map(|a| Answer::of(part_type(a).ty()))
}

/// Reals have no imaginary part that could change.
fn imag_rule(args: &[Arg]) -> Result1 {
    array(args).map(|a| {
        Answer::of(
            if a.dtype.is_complex() { part_type(a) } else { ArrayType { access: Access::Read, ..a } }.ty(),
        )
    })
}

fn emit_part(cx: &mut LowerCx<'_>, c: &OpCall<'_>, imag: bool) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    if a.ty.dtype.is_complex() {
        return Ok(part(cx, &a, imag).pack());
    }
    if !imag {
        return Ok(c.args[0].clone());
    }
    if a.ty.layout != Layout::A {
        return Ok(ArrayVal::alloc(cx, a.ty.dtype, &a.shape, a.ty.layout, true)?.pack());
    }
    Ok(ArrayVal::alloc(cx, a.ty.dtype, &a.shape, Layout::C, true)?.pack_strided())
}

fn part(cx: &mut LowerCx<'_>, a: &ArrayVal, imag: bool) -> ArrayVal {
    let ty = part_type(a.ty);
    let off = cx.b.i64(if imag { ty.itemsize() } else { 0 });
    ArrayVal { ty, data: cx.b.ptr_add(a.data, off), ..a.clone() }
}

fn set_part_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let a = array(args)?;
    super::index::assignable(a, part_type(a).ty(), args[1].ty)?;
    Ok(Answer::of(written(a)))
}

fn set_part(cx: &mut LowerCx<'_>, c: &OpCall<'_>, imag: bool) -> Result<Val> {
    if refuse_readonly(cx, c) {
        return Ok(vec![]);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    check_writable(cx, &a, "assignment destination is read-only");
    if !a.ty.dtype.is_complex() && imag {
        cx.raise_and_continue(Class::TypeError, "cannot set the imaginary part of a real array");
        return Ok(vec![]);
    }
    let v = if a.ty.dtype.is_complex() { part(cx, &a, imag) } else { a };
    assign(cx, &v, &c.args[1], c.types[1])?;
    Ok(vec![])
}

// ---- copies
