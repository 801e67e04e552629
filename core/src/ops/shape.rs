//! Other shapes of the same elements: views where NumPy gives views, copies where it must copy.

mod axes;
mod broadcast;
mod reshape;

use super::array::array;
use super::create::shape_values;
use super::{Body, OpDef, Own};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::zero_d;
use crate::emit::arrays::{ArrayVal, load_element};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{Access, ArrayType, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};
pub(crate) use axes::{Promised, bad_axis, constant_axis, constant_ints, normal_axis, runs, value_error};
use axes::{
    always_raises, args_of, checked_axis, constants, emit_moveaxis, emit_moved, emit_swapaxes,
    emit_transpose, ints, moveaxis_rule, moved_type, permuted, permuted_type, reversed, rolled,
    swapaxes_rule, transpose_rule,
};
use broadcast::{
    broadcast_all_rule, broadcast_rule, broadcast_shapes_rule, emit_broadcast, emit_broadcast_all,
    emit_broadcast_shapes,
};
use reshape::{emit_flatten, emit_ravel, emit_reshape, flat_rule, reshape_rule, strides_decide};

crate::runtime_fns! {
    /// Shapes.
    trait Helpers;
    /// Finds strides that give `old_n` dimensions (`old_shape`, then `old_strides` in `old`) the `new_n`
    /// lengths at `new` without a copy; writes them behind the lengths and answers 1, or answers 0 when there
    /// are none.
    fn shape_restride(old_n: i64, old: *const i64, new_n: i64, new: *mut i64, itemsize: i64) -> i8 [Writes, Never];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["array.T"],
        "a",
        Body::Lir(
            |_, a| array(a).map(|t| Answer::of(permuted_type(t, &reversed(t.ndim())))),
            |cx, c| {
                let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
                Ok(permuted(&a, &reversed(a.shape.len()), c.ret)?.pack())
            },
        ),
    )
    .records()
    .aliases()
    .property()
    .doc("The array with its dimensions reversed."),
    OpDef::new(
        &["array.mT", "numpy.matrix_transpose", "numpy.linalg.matrix_transpose"],
        "a",
        Body::Py("array.matrix_transpose"),
    )
    .only_if(|a| a[0].ty.as_array().is_some_and(|t| t.ndim > 1))
    .raises()
    .reads()
    .property()
    .doc("The last two dimensions exchanged."),
    OpDef::new(&["array.transpose"], "a, *axes", Body::Lir(|_, a| transpose_rule(a), emit_transpose))
        .records()
        .raises()
        .aliases()
        .doc("Dimensions in another order."),
    OpDef::new(
        &["numpy.transpose", "numpy.permute_dims"],
        "a, axes=None",
        Body::Lir(|_, a| transpose_rule(a), emit_transpose),
    )
    .times()
    .raises()
    .aliases()
    .doc("Dimensions in another order."),
    OpDef::new(
        &["numpy.swapaxes", "array.swapaxes"],
        "a, axis1, axis2",
        Body::Lir(swapaxes_rule, emit_swapaxes),
    )
    .records()
    .raises()
    .aliases()
    .doc("Two dimensions exchanged."),
    OpDef::new(&["numpy.moveaxis"], "a, source, destination", Body::Py("array.moveaxis"))
        .only_if(|a| {
            let known = |x: &Arg| constant_ints(x).is_some();
            a[0].ty.as_array().is_some()
                && a[1..3].iter().all(|x| ints(x.ty))
                && !(known(&a[1]) && known(&a[2]))
        })
        .records()
        .raises()
        .doc("Dimensions moved to other places that are not known before."),
    OpDef::new(&["numpy.moveaxis"], "a, source, destination", Body::Lir(moveaxis_rule, emit_moveaxis))
        .records()
        .raises()
        .aliases()
        .doc("Dimensions moved to other places."),
    OpDef::new(
        &["numpy.rollaxis"],
        "a, axis, start=0",
        Body::Lir(|_, a| rolled(a).map(moved_type), |cx, c| emit_moved(cx, c, rolled)),
    )
    .times()
    .raises()
    .aliases()
    .doc("A dimension moved in front of another."),
    OpDef::new(
        &["array.reshape"],
        "a, *shape, order='C'",
        Body::Lir(|_, a| reshape_rule(a, 1, 2), |cx, c| emit_reshape(cx, c, 1, 2)),
    )
    .records()
    .raises()
    .reads()
    .may_share()
    .doc("The same elements in another shape."),
    OpDef::new(
        &["numpy.reshape"],
        "a, shape, order='C'",
        Body::Lir(|_, a| reshape_rule(a, 2, 1), |cx, c| emit_reshape(cx, c, 2, 1)),
    )
    .times()
    .raises()
    .reads()
    .may_share()
    .doc("The same elements in another shape."),
    OpDef::new(
        &["numpy.ravel", "array.ravel", "array.flatten"],
        "a, order='C'",
        Body::Py("array.in_memory_order"),
    )
    .records()
    .only_if(strides_decide)
    .raises()
    .reads()
    .doc("All elements in the order in which they lie in memory."),
    OpDef::new(
        &["numpy.ravel", "array.ravel"],
        "a, order='C'",
        Body::Lir(|_, a| flat_rule(a, false), emit_ravel),
    )
    .times()
    .raises()
    .reads()
    .may_share()
    .of_scalars()
    .doc("All elements in one dimension; a view where possible."),
    OpDef::new(&["numpy.ravel"], "a, order='C'", Body::Py("array.ravel"))
        .raises()
        .doc("A number, or the elements of a list, in one dimension."),
    OpDef::new(&["array.flatten"], "a, order='C'", Body::Lir(|_, a| flat_rule(a, true), emit_flatten))
        .records()
        .raises()
        .reads()
        .doc("A copy in one dimension."),
    OpDef::new(&["numpy.squeeze", "array.squeeze"], "a, axis=None", Body::Lir(squeeze_rule, emit_squeeze))
        .times()
        .raises()
        .aliases()
        .doc("Dimensions of length 1 dropped."),
    OpDef::new(&["numpy.expand_dims"], "a, axis", Body::Py("array.expand_dims"))
        .only_if(|a| a[0].ty.as_array().is_some() && runs(&a[1]))
        .records()
        .raises()
        .doc("A dimension of length 1 put in at a place that is not known before."),
    OpDef::new(&["numpy.expand_dims"], "a, axis", Body::Lir(|_, a| expand_rule(a), emit_expand))
        .records()
        .raises()
        .aliases()
        .doc("Dimensions of length 1 put in."),
    OpDef::new(
        &["numpy.atleast_1d"],
        "*a",
        Body::Lir(|_, a| at_least(a, 1), |cx, c| emit_at_least(cx, c, 1)),
    )
    .times()
    .raises()
    .owned_by(number_or_view)
    .doc("Arrays with at least one dimension."),
    OpDef::new(
        &["numpy.atleast_2d"],
        "*a",
        Body::Lir(|_, a| at_least(a, 2), |cx, c| emit_at_least(cx, c, 2)),
    )
    .times()
    .raises()
    .owned_by(number_or_view)
    .doc("Arrays with at least two dimensions."),
    OpDef::new(
        &["numpy.atleast_3d"],
        "*a",
        Body::Lir(|_, a| at_least(a, 3), |cx, c| emit_at_least(cx, c, 3)),
    )
    .times()
    .raises()
    .owned_by(number_or_view)
    .doc("Arrays with at least three dimensions."),
    OpDef::new(&["numpy.atleast_1d"], "a", Body::Py("array.at_least_1"))
        .only_if(|a| a[0].ty.is_sequence())
        .raises()
        .doc("An array of a sequence with at least one dimension."),
    OpDef::new(&["numpy.atleast_2d"], "a", Body::Py("array.at_least_2"))
        .only_if(|a| a[0].ty.is_sequence())
        .raises()
        .doc("An array of a sequence with at least two dimensions."),
    OpDef::new(&["numpy.atleast_3d"], "a", Body::Py("array.at_least_3"))
        .only_if(|a| a[0].ty.is_sequence())
        .raises()
        .doc("An array of a sequence with at least three dimensions."),
    OpDef::new(
        &["numpy.broadcast_to"],
        "array, shape, subok=False",
        Body::Lir(broadcast_rule, emit_broadcast),
    )
    .records()
    .raises()
    .owned_by(number_or_view)
    .doc("A read-only view of a larger shape."),
    OpDef::new(
        &["numpy.broadcast_arrays"],
        "*args, subok=False",
        Body::Lir(broadcast_all_rule, emit_broadcast_all),
    )
    .times()
    .raises()
    .doc("Views of one common shape."),
    OpDef::new(&["numpy.broadcast_arrays"], "*args", Body::Py("ufunc.broadcast_sequences"))
        .only_if(|a| a.iter().any(|x| x.ty.is_sequence()))
        .raises()
        .doc("The same of lists and tuples, which become arrays."),
    OpDef::new(
        &["numpy.broadcast_shapes"],
        "*shapes",
        Body::Lir(broadcast_shapes_rule, emit_broadcast_shapes),
    )
    .raises()
    .doc("The shape that shapes broadcast to."),
    OpDef::new(
        &["numpy.flip"],
        "m, axis=None",
        Body::Lir(|_, a| flip_rule(a, 0), |cx, c| emit_flip(cx, c, None)),
    )
    .times()
    .raises()
    .aliases()
    .doc("Order of elements reversed along dimensions."),
    OpDef::new(&["numpy.flipud"], "m", Body::Lir(|_, a| flip_rule(a, 1), |cx, c| emit_flip(cx, c, Some(0))))
        .times()
        .aliases()
        .doc("Rows in reverse order."),
    OpDef::new(&["numpy.fliplr"], "m", Body::Lir(|_, a| flip_rule(a, 2), |cx, c| emit_flip(cx, c, Some(1))))
        .times()
        .aliases()
        .doc("Columns in reverse order."),
    OpDef::new(
        &["numpy.diagonal", "array.diagonal"],
        "a, offset=0, axis1=0, axis2=1",
        Body::Lir(diagonal_rule, emit_diagonal),
    )
    .times()
    .raises()
    .aliases()
    .doc("A read-only view of a diagonal."),
];

/// A number becomes a new array, an array is viewed.
fn number_or_view(args: &[Type], ret: Type) -> Own {
    if ret.as_array().is_some() && args.first().is_some_and(|t| t.as_array().is_some()) {
        Own::Aliases
    } else {
        Own::Fresh
    }
}

// ---- axes

// ---- dimensions of length 1

/// Which dimensions `squeeze` drops, or why it cannot.
fn squeezed(args: &[Arg]) -> Result<(ArrayType, std::result::Result<Vec<usize>, Promised>)> {
    let a = array(args)?;
    let n = a.ndim();
    if args[1].is_none() {
        if n == 0 {
            return Ok((a, Ok(vec![])));
        }
        return Err(Diagnostic::new(
            Code::RequiresConstant,
            "which dimensions squeeze() drops must be known when the function is compiled",
        )
        .help("name them: np.squeeze(a, axis=0)"));
    }
    let axes = constants(args, 1, "squeeze")?;
    let mut out = vec![];
    for k in axes {
        match normal_axis(k, n) {
            Some(k) => out.push(k),
            None => return Ok((a, Err(bad_axis("", k, n)))),
        }
    }
    Ok((a, Ok(out)))
}

fn squeeze_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (a, dropped) = squeezed(args)?;
    Ok(Answer::of(match dropped {
        Ok(d) => {
            let n = a.ndim() - d.len();
            Type::new(Kind::Array(ArrayType {
                ndim: n as u8,
                layout: if n <= 1 && a.layout == Layout::F { Layout::C } else { a.layout },
                ..a
            }))
        }
        Err(_) => Type::never(),
    }))
}

fn emit_squeeze(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let dropped = match squeezed(&args_of(c))?.1 {
        Ok(d) => d,
        Err(e) => return always_raises(cx, &e),
    };
    for k in &dropped {
        let one = cx.b.bin_imm(Op::IcmpEq, a.shape[*k], 1);
        cx.check(
            one,
            Class::ValueError,
            "cannot select an axis to squeeze out which has size not equal to one",
        );
    }
    let keep: Vec<usize> = (0..a.shape.len()).filter(|k| !dropped.contains(k)).collect();
    Ok(permuted(&a, &keep, c.ret)?.pack())
}

/// Where `expand_dims` puts new dimensions, in the result.
fn expanded(args: &[Arg]) -> Result<(ArrayType, std::result::Result<Vec<usize>, Promised>)> {
    let a = array(args)?;
    let axes = constants(args, 1, "expand_dims")?;
    let n = a.ndim() + axes.len();
    let mut out = vec![];
    for k in axes {
        match normal_axis(k, n) {
            Some(k) if !out.contains(&k) => out.push(k),
            Some(_) => return Ok((a, Err(value_error("repeated axis")))),
            None => return Ok((a, Err(bad_axis("", k, n)))),
        }
    }
    Ok((a, Ok(out)))
}

fn expand_rule(args: &[Arg]) -> Result<Answer> {
    let (a, new) = expanded(args)?;
    Ok(Answer::of(match new {
        Ok(new) => {
            let n = a.ndim() + new.len();
            Type::new(Kind::Array(ArrayType { ndim: n as u8, ..a }))
        }
        Err(_) => Type::never(),
    }))
}

fn emit_expand(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    match expanded(&args_of(c))?.1 {
        Ok(new) => Ok(with_ones(cx, &a, &new).pack()),
        Err(e) => always_raises(cx, &e),
    }
}

/// The array with dimensions of length 1 at these places of the result; its layout stays.
pub(crate) fn with_ones(cx: &mut LowerCx<'_>, a: &ArrayVal, new: &[usize]) -> ArrayVal {
    let n = a.shape.len() + new.len();
    let mut old = a.shape.iter().zip(&a.strides);
    let (mut shape, mut strides) = (vec![], vec![]);
    for k in 0..n {
        let (m, s) = if new.contains(&k) {
            (cx.b.i64(1), cx.b.i64(a.ty.itemsize()))
        } else {
            old.next().map_or_else(|| (cx.b.i64(1), cx.b.i64(0)), |(m, s)| (*m, *s))
        };
        shape.push(m);
        strides.push(s);
    }
    ArrayVal {
        ty: ArrayType { ndim: n as u8, ..a.ty },
        owner: a.owner,
        data: a.data,
        shape,
        strides,
        frozen: a.frozen,
    }
}

/// Places of the new dimensions of `atleast_nd`.
fn leading(have: usize, want: usize) -> Vec<usize> {
    match (have, want) {
        (0, n) => (0..n).collect(),
        (1, 2) => vec![0],
        (1, 3) => vec![0, 2],
        (2, 3) => vec![2],
        _ => vec![],
    }
}

fn at_least(args: &[Arg], n: usize) -> Result<Answer> {
    let types: Option<Vec<Type>> = args
        .iter()
        .map(|x| match x.ty.as_array() {
            Some(a) => Some(Type::new(Kind::Array(ArrayType { ndim: a.ndim.max(n as u8), ..a }))),
            None if x.ty.is_element() => Some(Type::array(x.ty, n, Layout::C)),
            None => None,
        })
        .collect();
    let types = types.filter(|t| !t.is_empty()).ok_or_else(|| no_match(&format!("atleast_{n}d()"), args))?;
    Ok(Answer::of(if types.len() == 1 { types[0] } else { Type::tuple(types) }))
}

fn emit_at_least(cx: &mut LowerCx<'_>, c: &OpCall<'_>, n: usize) -> Result<Val> {
    let mut out = vec![];
    for (v, t) in c.args.iter().zip(c.types) {
        let a = match t.as_array() {
            Some(_) => {
                let a = ArrayVal::new(cx, v, *t)?;
                // Alone it is a view that borrows, beside others it holds references like them.
                if c.args.len() > 1 {
                    cx.retain_object(a.owner);
                }
                a
            }
            None => zero_d(cx, v, *t, t.strong())?,
        };
        let places = leading(a.shape.len(), n);
        out.extend(with_ones(cx, &a, &places).pack());
    }
    Ok(out)
}

// ---- reversal and diagonals

fn flip_rule(args: &[Arg], least: usize) -> Result<Answer> {
    let a = array(args)?;
    if a.ndim() < least {
        return Err(Diagnostic::new(Code::NoMatchingOperation, format!("Input must be >= {least}-d.")));
    }
    if args.len() > 1 {
        let ok = args[1].is_none()
            || args[1].ty.is_index()
            || args[1].ty.members().is_some_and(|m| m.iter().all(|t| t.is_index()));
        if !ok {
            return Err(no_match("flip()", args));
        }
    }
    // Of an array without dimensions the number in it, as NumPy has it.
    Ok(Answer::of(if a.ndim == 0 {
        a.dtype.strong()
    } else {
        Type::new(Kind::Array(ArrayType { layout: Layout::A, ..a }))
    }))
}

fn emit_flip(cx: &mut LowerCx<'_>, c: &OpCall<'_>, fixed: Option<i64>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let n = a.shape.len();
    let mut flags: Vec<Value> = (0..n).map(|_| cx.b.bool(false)).collect();
    if let Some(k) = fixed {
        flags[k as usize] = cx.b.bool(true);
    } else if *c.types[1] == Kind::None {
        flags = (0..n).map(|_| cx.b.bool(true)).collect();
    } else {
        let axes = shape_values(cx, &c.args[1], c.types[1])?;
        for k in axes {
            let at = checked_axis(cx, k, n, "");
            for (d, f) in flags.iter_mut().enumerate() {
                let here = cx.b.bin_imm(Op::IcmpEq, at, d as i64);
                *f = cx.or(*f, here);
            }
        }
    }
    if n == 0 {
        return Ok(load_element(cx, a.data, a.ty.dtype));
    }
    let (mut data, mut strides) = (a.data, vec![]);
    let zero = cx.b.i64(0);
    for ((n, s), f) in a.shape.iter().zip(&a.strides).zip(&flags) {
        let last = cx.b.bin_imm(Op::Isub, *n, 1);
        let last = cx.b.bin(Op::Smax, last, zero);
        let off = cx.b.bin(Op::Imul, last, *s);
        let off = cx.b.select(*f, off, zero);
        data = cx.b.ptr_add(data, off);
        let back = cx.b.un(Op::Ineg, *s);
        strides.push(cx.b.select(*f, back, *s));
    }
    Ok(ArrayVal {
        ty: ArrayType { layout: Layout::A, ..a.ty },
        owner: a.owner,
        data,
        shape: a.shape,
        strides,
        frozen: a.frozen,
    }
    .pack())
}

fn diagonal_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let a = array(args)?;
    if a.ndim < 2 {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            "diag requires an array of at least two dimensions",
        ));
    }
    let (x, y) =
        (constant_axis(&args[2], a.ndim(), "diagonal")?, constant_axis(&args[3], a.ndim(), "diagonal")?);
    if x == y {
        return Err(Diagnostic::new(Code::NoMatchingOperation, "axis1 and axis2 cannot be the same"));
    }
    if !args[1].ty.is_index() {
        return Err(no_match("diagonal()", args));
    }
    Ok(Answer::of(Type::new(Kind::Array(ArrayType {
        ndim: a.ndim - 1,
        layout: Layout::A,
        access: Access::Read,
        ..a
    }))))
}

fn emit_diagonal(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let args = args_of(c);
    let (x, y) = (
        constant_axis(&args[2], a.shape.len(), "diagonal")?,
        constant_axis(&args[3], a.shape.len(), "diagonal")?,
    );
    let k = cast::to_i64(cx, c.args[1][0], c.types[1]);
    let zero = cx.b.i64(0);
    let back = cx.b.un(Op::Ineg, k);
    let (right, down) = (cx.b.bin(Op::Smax, k, zero), cx.b.bin(Op::Smax, back, zero));
    let (rows, columns) = (cx.b.bin(Op::Isub, a.shape[x], down), cx.b.bin(Op::Isub, a.shape[y], right));
    let n = cx.b.bin(Op::Smin, rows, columns);
    let n = cx.b.bin(Op::Smax, n, zero);
    let (off_x, off_y) = (cx.b.bin(Op::Imul, down, a.strides[x]), cx.b.bin(Op::Imul, right, a.strides[y]));
    let off = cx.b.bin(Op::Iadd, off_x, off_y);
    let some = cx.b.bin(Op::IcmpSgt, n, zero);
    let off = cx.b.select(some, off, zero);
    let data = cx.b.ptr_add(a.data, off);
    let keep: Vec<usize> = (0..a.shape.len()).filter(|d| *d != x && *d != y).collect();
    let mut shape: Vec<Value> = keep.iter().map(|d| a.shape[*d]).collect();
    let mut strides: Vec<Value> = keep.iter().map(|d| a.strides[*d]).collect();
    shape.push(n);
    strides.push(cx.b.bin(Op::Iadd, a.strides[x], a.strides[y]));
    let Kind::Array(ty) = *c.ret else { return Err(Diagnostic::internal("array")) };
    Ok(ArrayVal { ty, owner: a.owner, data, shape, strides, frozen: a.frozen }.pack())
}
