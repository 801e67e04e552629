//! Choosing elements: `where`, `nonzero`, `take`, and what Python functions build on them.

use super::array::array;
use super::shape::{Promised, bad_axis, normal_axis, runs};
use super::{Body, OpDef, kernel};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, element_code, fold, load_element, spill_parts};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Ty, Value};
use crate::types::{Const, Kind, Layout, Type, promote};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy.where"], "condition, x, y", Body::Ufunc(where_rule, emit_where))
        .fits()
        .doc("`x` where the condition holds, else `y`."),
    OpDef::new(&["numpy.where"], "condition, /", Body::Lir(|_, a| nonzero_rule(a), emit_nonzero))
        .raises()
        .reads()
        .chooses()
        .doc("Indices where the condition holds, one array for each dimension."),
    OpDef::new(&["numpy.nonzero", "array.nonzero"], "a", Body::Lir(|_, a| nonzero_rule(a), emit_nonzero))
        .raises()
        .reads()
        .chooses()
        .doc("Indices of the elements that are not zero, one array for each dimension."),
    OpDef::new(
        &["operator.contains"],
        "a, x",
        Body::Lir(
            |_, a| {
                let t = array(a)?;
                if a[1].ty.is_number() {
                    Ok(Answer::of(Type::bool()))
                } else {
                    Err(no_match("in", &[Arg::of(t.ty()), a[1].clone()]))
                }
            },
            emit_contains,
        ),
    )
    .times()
    .reads()
    .doc("Whether some element equals `x`."),
    OpDef::new(&["numpy.flatnonzero"], "a", Body::Py("select.flatnonzero"))
        .raises()
        .reads()
        .doc("Positions in C order of the elements that are not zero."),
    OpDef::new(&["numpy.argwhere"], "a", Body::Py("select.argwhere"))
        .raises()
        .reads()
        .doc("Indices of the elements that are not zero, as rows."),
    OpDef::new(&["numpy.take", "array.take"], "a, indices, axis=None", Body::Py("select.take_at"))
        .only_if(|a| a[0].ty.as_array().is_some() && runs(&a[2]))
        .records()
        .raises()
        .reads()
        .doc("Elements at indices along a dimension that is not known before."),
    OpDef::new(&["numpy.take", "array.take"], "a, indices, axis=None", Body::Lir(take_rule, emit_take))
        .times()
        .raises()
        .reads()
        .doc("Elements at indices, along a dimension or of all elements in C order."),
    OpDef::new(
        &["numpy.take", "array.take"],
        "a, indices, axis=None, out=None, mode='raise'",
        Body::Py("select.take"),
    )
    .raises()
    .reads()
    .doc("Elements of a sequence at indices."),
    OpDef::new(&["numpy.take_along_axis"], "arr, indices, axis", Body::Py("select.take_along_axis"))
        .raises()
        .reads()
        .doc("For each place of `indices` the element there along a dimension."),
    OpDef::new(&["numpy.put_along_axis"], "arr, indices, values, axis", Body::Py("select.put_along_axis"))
        .raises()
        .writes()
        .doc("Sets for each place of `indices` the element there along a dimension."),
    OpDef::new(&["numpy.put", "array.put"], "a, ind, v", Body::Py("select.put"))
        .raises()
        .writes()
        .doc("Sets elements at positions in C order."),
    OpDef::new(&["numpy.extract"], "condition, arr", Body::Py("select.extract"))
        .raises()
        .reads()
        .doc("The elements where a condition holds."),
    OpDef::new(&["numpy.compress"], "condition, a, axis=None", Body::Py("select.compress"))
        .raises()
        .reads()
        .doc("The slices along a dimension where a condition holds."),
    OpDef::new(&["numpy.place"], "arr, mask, vals", Body::Py("select.place"))
        .raises()
        .writes()
        .doc("Sets the elements where a mask holds, repeating the values."),
    OpDef::new(&["numpy.putmask"], "a, /, mask, values", Body::Py("select.putmask"))
        .raises()
        .writes()
        .doc("Sets the elements where a mask holds to the values at the same places."),
    OpDef::new(&["numpy.copyto"], "dst, src, casting='same_kind', where=True", Body::Py("select.copyto"))
        .raises()
        .writes()
        .doc("`dst[...] = src`."),
    OpDef::new(&["numpy.select"], "condlist, choicelist, default=0", Body::Py("select.select"))
        .raises()
        .reads()
        .doc("For each place the choice of the first condition that holds."),
    OpDef::new(&["numpy.diff"], "a, n=1, axis=-1, prepend=None, append=None", Body::Py("select.diff"))
        .raises()
        .reads()
        .doc("Differences of neighbours along a dimension."),
    OpDef::new(
        &["numpy.unwrap"],
        "p, discont=None, axis=-1, *, period=6.283185307179586",
        Body::Py("select.unwrap"),
    )
    .raises()
    .reads()
    .doc("Angles without jumps of half a period or more."),
    OpDef::new(&["numpy.ediff1d"], "ary, to_end=None, to_begin=None", Body::Py("select.ediff1d"))
        .raises()
        .reads()
        .doc("Differences of neighbours of all elements."),
    OpDef::new(&["numpy.repeat", "array.repeat"], "a, repeats, axis=None", Body::Py("select.repeat"))
        .records()
        .raises()
        .reads()
        .of_scalars()
        .doc("Each element several times."),
    OpDef::new(&["numpy.tile"], "A, reps", Body::Py("select.tile"))
        // How many dimensions the result has is how many numbers there are.
        .only_if(|a| a[1].ty.is_index() || a[1].ty.members().is_some())
        .raises()
        .reads()
        .doc("The array several times."),
    OpDef::new(&["numpy.roll"], "a, shift, axis=None", Body::Py("select.roll"))
        .records()
        .raises()
        .reads()
        .doc("Elements moved round, along a dimension or all of them."),
    OpDef::new(&["numpy.rot90"], "m, k=1, axes=(0, 1)", Body::Py("select.rot90"))
        .raises()
        .reads()
        .doc("The plane of two axes turned by 90 degrees `k` times, as a view; ValueError."),
    OpDef::new(&["numpy.delete"], "arr, obj, axis=None", Body::Py("select.delete"))
        .raises()
        .reads()
        .doc("A copy without some elements."),
    OpDef::new(&["numpy.insert"], "arr, obj, values, axis=None", Body::Py("select.insert"))
        .raises()
        .reads()
        .doc("A copy with values put in."),
    OpDef::new(&["numpy.trim_zeros"], "filt, trim='fb'", Body::Py("select.trim_zeros"))
        .raises()
        .reads()
        .doc("A view without leading and trailing zeros."),
    OpDef::new(&["numpy.resize"], "a, new_shape", Body::Py("select.resize"))
        .raises()
        .reads()
        .doc("An array of another shape, the elements repeated."),
    OpDef::new(&["numpy.fill_diagonal"], "a, val, wrap=False", Body::Py("select.fill_diagonal"))
        .raises()
        .writes()
        .doc("Sets the main diagonal."),
    OpDef::new(
        &["numpy.isclose"],
        "a, b, rtol=1e-05, atol=1e-08, equal_nan=False",
        Body::Ufunc(close_rule, emit_close),
    )
    .doc("Whether numbers agree within tolerances, element by element."),
    OpDef::new(
        &["numpy.isclose"],
        "a, b, rtol=1e-05, atol=1e-08, equal_nan=False",
        Body::Py("compare.isclose"),
    )
    .raises()
    .reads()
    .doc("Whether members of sequences agree within tolerances."),
    OpDef::new(
        &["numpy.allclose"],
        "a, b, rtol=1e-05, atol=1e-08, equal_nan=False",
        Body::Py("compare.allclose"),
    )
    .raises()
    .reads()
    .doc("Whether all numbers agree within tolerances."),
    OpDef::new(&["numpy.array_equal"], "a1, a2, equal_nan=False", Body::Py("compare.array_equal"))
        .raises()
        .reads()
        .doc("Whether shapes and all elements agree."),
    OpDef::new(&["numpy.array_equiv"], "a1, a2", Body::Py("compare.array_equiv"))
        .raises()
        .reads()
        .doc("Whether all elements agree after broadcasting."),
];

// ---- where

fn where_rule(args: &[Arg], _: bool) -> Option<Answer> {
    if !args.iter().all(|a| a.ty.is_number()) {
        return None;
    }
    let t = promote::result_type(args[1].ty, args[2].ty).strong();
    Some(Answer::coerced(t, vec![Type::bool(), t, t]))
}

fn emit_where(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let cond = c.args[0][0];
    Ok(c.args[1].iter().zip(&c.args[2]).map(|(x, y)| choose(cx, cond, *x, *y)).collect())
}

/// A choice without a branch, for loops in which the condition is hard to predict. Floats are chosen as the
/// integers of their bits, for processors have no conditional move for them.
pub(crate) fn choose(cx: &mut LowerCx<'_>, cond: Value, x: Value, y: Value) -> Value {
    let ty = cx.b.ty(x);
    let bits = match ty {
        Ty::F32 => Ty::I32,
        Ty::F64 => Ty::I64,
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr | Ty::Vector(_) => {
            return cx.b.select(cond, x, y);
        }
    };
    let (x, y) = (cx.b.conv(Op::Bitcast, bits, x), cx.b.conv(Op::Bitcast, bits, y));
    let chosen = cx.b.select(cond, x, y);
    cx.b.conv(Op::Bitcast, ty, chosen)
}

// ---- isclose

/// The second number becomes a float first, as in NumPy; then all of it is computed in the type that holds
/// the operands.
fn close_rule(args: &[Arg], _: bool) -> Option<Answer> {
    if !args.iter().all(|a| a.ty.is_number()) {
        return None;
    }
    let second = promote::result_type(args[1].ty.strong(), Type::float());
    let t = [args[0].ty.strong(), args[2].ty, args[3].ty].into_iter().fold(second, promote::result_type);
    let part = part_of(t);
    Some(Answer::coerced(Type::bool(), vec![t, t, part, part, Type::bool()]))
}

fn part_of(t: Type) -> Type {
    if let Kind::Complex(f) = *t { Type::float_of(f) } else { t }
}

/// `|x - y| <= atol + rtol |y|` with `y` finite, or `x == y`, or both NaN where that counts.
fn emit_close(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let t = c.types[0];
    let (x, y) = (&c.args[0], &c.args[1]);
    let difference: Val = x.iter().zip(y).map(|(x, y)| cx.b.bin(Op::Fsub, *x, *y)).collect();
    let (far, size) = (magnitude(cx, &difference)?, magnitude(cx, y)?);
    let allowed = cx.b.bin(Op::Fmul, c.args[2][0], size);
    let allowed = cx.b.bin(Op::Fadd, c.args[3][0], allowed);
    let near = cx.b.bin(Op::FcmpLe, far, allowed);
    let mut finite = near;
    for part in y {
        // What is not finite leaves NaN behind when it is subtracted from itself.
        let zero = cx.b.bin(Op::Fsub, *part, *part);
        let ok = cx.b.bin(Op::FcmpEq, zero, zero);
        finite = cx.and(finite, ok);
    }
    let same = super::compare::equal(cx, x, t, y, t)?;
    let close = cx.or(finite, same);
    if c.consts[4] == Some(Const::Bool(false)) {
        return Ok(vec![close]);
    }
    let nan = |cx: &mut LowerCx<'_>, v: &[Value]| {
        v.iter().fold(None, |any, p| {
            let is = cx.b.bin(Op::FcmpUno, *p, *p);
            Some(match any {
                Some(a) => cx.or(a, is),
                None => is,
            })
        })
    };
    let both = match (nan(cx, x), nan(cx, y)) {
        (Some(a), Some(b)) => cx.and(a, b),
        _ => return Ok(vec![close]),
    };
    let counts = cx.and(both, c.args[4][0]);
    Ok(vec![cx.or(close, counts)])
}

fn magnitude(cx: &mut LowerCx<'_>, v: &[Value]) -> Result<Value> {
    if let [one] = v {
        return Ok(cx.b.un(Op::Fabs, *one));
    }
    let (re, im) = (crate::emit::cast::widen(cx, v[0]), crate::emit::cast::widen(cx, v[1]));
    let h = cx.helper_value(&super::mathfn::f64_hypot, &[re, im]);
    Ok(if cx.b.ty(v[0]) == Ty::F32 { cx.b.conv(Op::Fconvert, Ty::F32, h) } else { h })
}

// ---- nonzero

fn nonzero_rule(args: &[Arg]) -> Result<Answer> {
    if args[0].ty.is_number() {
        return Ok(Answer::of(Type::never()));
    }
    let a = array(args)?;
    if a.ndim == 0 {
        return Ok(Answer::of(Type::never()));
    }
    Ok(Answer::of(Type::tuple(vec![Type::array(Type::i64(), 1, Layout::C); a.ndim()])))
}

fn emit_nonzero(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.types[0].as_array().is_none_or(|t| t.ndim == 0) {
        cx.raise_and_continue(
            Class::ValueError,
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. \
            If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`.",
        );
        return Ok(vec![]);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let n = a.shape.len();
    let (elem, flag) = (element_code(cx, a.ty.dtype)?, cx.chunks.flag());
    let elem = if flag == 0 { elem } else { cx.b.bin_imm(Op::Bor, elem, flag) };
    let dims = cx.b.i64(n as i64);
    let [shape, strides] = spill_parts(cx, [&a.shape, &a.strides]);
    let count = cx.helper_value(&kernel::array_count_nonzero, &[elem, dims, shape, a.data, strides]);
    // The results are the rows of one array.
    let all = ArrayVal::alloc(cx, Type::i64(), &[dims, count], Layout::C, false)?;
    let one = cx.b.i64(1);
    cx.guarded(&[all.owner], |cx| {
        cx.helper(&kernel::array_nonzero, &[elem, dims, shape, a.data, strides, all.data, count, one, count]);
        Ok(())
    })?;
    let mut out = vec![];
    for k in 0..n {
        if k > 0 {
            cx.retain_object(all.owner);
        }
        let off = cx.b.bin_imm(Op::Imul, count, 8 * k as i64);
        out.extend([all.owner, cx.b.ptr_add(all.data, off), count]);
    }
    Ok(out)
}

fn emit_contains(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let no = cx.b.bool(false);
    let dtype = a.ty.dtype;
    fold(cx, &a.shape, &[a.stream()], &[no], &mut |cx, at, found| {
        let x = load_element(cx, at[0], dtype);
        let here = super::compare::equal(cx, &x, dtype, &c.args[1], c.types[1])?;
        Ok(vec![cx.or(found[0], here)])
    })
}

// ---- take

/// The index that `take` along an axis comes to: whole dimensions in front, then the indices; or why there is
/// none.
fn take_index(args: &[Arg]) -> Result<std::result::Result<Type, Promised>> {
    let a = array(args)?;
    let index = args[1].ty;
    let ok = index.is_int()
        || index.as_array().is_some_and(|i| i.dtype.is_int())
        || super::index::row(index).is_some_and(|e| e.is_int());
    if !ok {
        return Err(no_match("take()", args));
    }
    let k = args[2].int().ok_or_else(|| {
        Diagnostic::new(Code::RequiresConstant, "the axis of take() must be a constant")
            .help("write the number in the call")
    })?;
    let Some(axis) = normal_axis(k, a.ndim()) else { return Ok(Err(bad_axis("", k, a.ndim()))) };
    let mut items = vec![Type::new(Kind::Slice([Type::none(); 3])); axis];
    items.push(index);
    Ok(Ok(Type::tuple(items)))
}

/// The array that a `take` of all elements reads: one dimension.
fn flat_type(t: Type) -> Option<Type> {
    t.as_array().map(|a| Type::array(a.dtype, 1, Layout::C))
}

fn take_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let args = &super::index::resolved(cx, args);
    if args[2].is_none() {
        let flat = flat_type(args[0].ty).ok_or_else(|| no_match("take()", args))?;
        let one = [Arg::of(flat), args[1].clone(), Arg::constant(Const::Int(0))];
        let index = take_index(&one)?.map_err(|e| Diagnostic::internal(e.1))?;
        return Ok(Answer::of(picked_type(flat, index).ok_or_else(|| no_match("take()", args))?));
    }
    Ok(Answer::of(match take_index(args)? {
        Ok(index) => picked_type(args[0].ty, index).ok_or_else(|| no_match("take()", args))?,
        Err(_) => Type::never(),
    }))
}

/// Type of `a[index]` as a copy.
fn picked_type(a: Type, index: Type) -> Option<Type> {
    let a = a.as_array()?;
    super::fancy::result_type(a, index).or_else(|| {
        let t = super::index::result_type(a, index)?;
        Some(t.as_array().map_or(t, |v| Type::array(v.dtype, v.ndim(), Layout::C)))
    })
}

fn emit_take(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let args: Vec<Arg> =
        c.types.iter().zip(c.consts).map(|(t, k)| Arg { ty: *t, konst: k.clone() }).collect();
    if *c.types[2] != Kind::None {
        return match take_index(&args)? {
            Ok(index) => pick(cx, &c.args[0], c.types[0], &c.args[1], index, c.ret),
            Err((class, text)) => {
                cx.raise_and_continue(class, &text);
                Ok(vec![])
            }
        };
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let flat = flat_type(c.types[0]).ok_or_else(|| Diagnostic::internal("array"))?;
    let index = take_index(&[Arg::of(flat), args[1].clone(), Arg::constant(Const::Int(0))])?
        .map_err(|e| Diagnostic::internal(e.1))?;
    let n = a.size(cx);
    check_any(cx, n, &c.args[1], c.types[1])?;
    let whole = super::array::contiguous_or_copy(cx, &a, Layout::C)?;
    let out = cx.guarded(&[whole.owner], |cx| {
        pick(cx, &[whole.owner, whole.data, n], flat, &c.args[1], index, c.ret)
    })?;
    cx.release_object(whole.owner);
    Ok(out)
}

/// IndexError where something is taken of nothing.
fn check_any(cx: &mut LowerCx<'_>, n: Value, index: &[Value], t: Type) -> Result<()> {
    let some = cx.b.bin_imm(Op::IcmpNe, n, 0);
    let fine = match t.as_array() {
        Some(_) => {
            let taken = ArrayVal::new(cx, index, t)?.size(cx);
            let none = cx.b.bin_imm(Op::IcmpEq, taken, 0);
            cx.or(some, none)
        }
        None if t.is_index() || t.members().is_some_and(|m| !m.is_empty()) => some,
        None => return Ok(()),
    };
    cx.check(fine, Class::IndexError, "cannot do a non-empty take from an empty axes.");
    Ok(())
}

/// `a[index]` as a copy.
fn pick(
    cx: &mut LowerCx<'_>,
    a: &[Value],
    t: Type,
    index: &[Value],
    index_type: Type,
    ret: Type,
) -> Result<Val> {
    let (args, types) = ([a.to_vec(), index.to_vec()], [t, index_type]);
    let ty = t.as_array().ok_or_else(|| Diagnostic::internal("array"))?;
    let call = OpCall { args: &args, types: &types, consts: &[None, None], ret, elementwise: false };
    if super::fancy::result_type(ty, index_type).is_some() {
        return super::fancy::emit_get(cx, &call);
    }
    let view = super::index::result_type(ty, index_type).ok_or_else(|| Diagnostic::internal("index"))?;
    let v = super::index::emit_get(cx, &OpCall { ret: view, ..call })?;
    match view.as_array() {
        Some(w) => Ok(ArrayVal::new(cx, &v, view)?.copied(cx, w.dtype, Layout::C)?.pack()),
        None => Ok(v),
    }
}
