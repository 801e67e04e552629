//! Order of axes: which of them an argument names, `transpose`, `swapaxes`, `moveaxis`, `roll` of axes.

use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::ArrayVal;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{ArrayType, Const, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

/// A constant axis of `n` dimensions, counted from 0.
pub(crate) fn constant_axis(arg: &Arg, n: usize, what: &str) -> Result<usize> {
    let k = arg.int().ok_or_else(|| {
        Diagnostic::new(Code::RequiresConstant, format!("the axis of {what}() must be a constant"))
            .help("write the number in the call")
    })?;
    normal_axis(k, n).ok_or_else(|| Diagnostic::new(Code::NoMatchingOperation, bad_axis("", k, n).1))
}

/// Whether a type is that of an integer, or of several.
pub(super) fn ints(t: Type) -> bool {
    t.is_index() || super::super::index::row(t).is_some_and(|e| e.is_index())
}

/// Whether an axis is an integer that is known when the code runs, and not before.
pub(crate) fn runs(axis: &Arg) -> bool {
    axis.ty.is_index() && axis.int().is_none()
}

/// An axis counted from 0; none when it is out of bounds.
pub(crate) fn normal_axis(k: i64, n: usize) -> Option<usize> {
    let at = if k < 0 { k + n as i64 } else { k };
    usize::try_from(at).ok().filter(|k| *k < n)
}

/// An exception that the types promise: its class and what it says.
pub(crate) type Promised = (Class, String);

pub(crate) fn value_error(text: impl Into<String>) -> Promised {
    (Class::ValueError, text.into())
}

/// What NumPy says of an axis that an array of `n` dimensions has not; `what` stands in front.
pub(crate) fn bad_axis(what: &str, k: i64, n: usize) -> Promised {
    (Class::AxisError, format!("{what}axis {k} is out of bounds for array of dimension {n}"))
}

/// Constant integers: one, or a tuple of them.
pub(crate) fn constant_ints(arg: &Arg) -> Option<Vec<i64>> {
    match &arg.konst {
        Some(Const::Tuple(m)) => m.iter().map(Const::as_int).collect(),
        Some(c) => Some(vec![c.as_int()?]),
        None => None,
    }
}

pub(super) fn reversed(n: usize) -> Vec<usize> {
    (0..n).rev().collect()
}

/// Type of an array whose dimension `k` is dimension `axes[k]` of `a`.
pub(super) fn permuted_type(a: ArrayType, axes: &[usize]) -> Type {
    let n = axes.len();
    let layout = if axes.iter().enumerate().all(|(k, x)| k == *x) {
        a.layout
    } else if *axes == reversed(n) {
        match a.layout {
            Layout::C => Layout::F,
            Layout::F => Layout::C,
            Layout::A => Layout::A,
        }
    } else {
        Layout::A
    };
    Type::new(Kind::Array(ArrayType { layout: if n <= 1 { a.layout } else { layout }, ..a }))
}

/// Type of an array whose dimensions are put in an order that is known at run time.
fn dynamic_type(a: ArrayType) -> Type {
    Type::new(Kind::Array(ArrayType { layout: if a.ndim > 1 { Layout::A } else { a.layout }, ..a }))
}

pub(super) fn permuted(a: &ArrayVal, axes: &[usize], ret: Type) -> Result<ArrayVal> {
    let Kind::Array(ty) = *ret else { return Err(Diagnostic::internal("array")) };
    let pick = |v: &[Value]| axes.iter().map(|k| v[*k]).collect();
    Ok(ArrayVal {
        ty,
        owner: a.owner,
        data: a.data,
        shape: pick(&a.shape),
        strides: pick(&a.strides),
        frozen: a.frozen,
    })
}

/// What `transpose` was told: nothing, constant axes, or axes known at run time.
enum Axes {
    Reversed,
    Constant(Vec<i64>),
    Dynamic(usize),
}

fn axes_of(args: &[Arg]) -> Option<Axes> {
    let given: Vec<&Arg> = args[1..].iter().collect();
    let one = |a: &Arg| -> Option<Axes> {
        if let Some(c) = constant_ints(a)
            && a.ty.members().is_some()
        {
            return Some(Axes::Constant(c));
        }
        let m = a.ty.members()?;
        m.iter().all(|t| t.is_index()).then_some(Axes::Dynamic(m.len()))
    };
    match given.as_slice() {
        [] => Some(Axes::Reversed),
        [a] if a.is_none() => Some(Axes::Reversed),
        [a] if a.ty.members().is_some() => one(a),
        many => {
            if let Some(c) = many.iter().map(|a| a.int()).collect::<Option<Vec<i64>>>() {
                return Some(Axes::Constant(c));
            }
            many.iter().all(|a| a.ty.is_index()).then_some(Axes::Dynamic(many.len()))
        }
    }
}

/// Constant axes as a permutation of `n` dimensions, or why they are none.
fn permutation(axes: &[i64], n: usize) -> std::result::Result<Vec<usize>, Promised> {
    if axes.len() != n {
        return Err(value_error("axes don't match array"));
    }
    let mut out = vec![];
    for k in axes {
        let at = normal_axis(*k, n).ok_or_else(|| bad_axis("", *k, n))?;
        if out.contains(&at) {
            return Err(value_error("repeated axis in transpose"));
        }
        out.push(at);
    }
    Ok(out)
}

pub(super) fn transpose_rule(args: &[Arg]) -> Result<Answer> {
    let a = array_of(args)?;
    let n = a.ndim();
    Ok(Answer::of(match axes_of(args).ok_or_else(|| no_match("transpose()", args))? {
        Axes::Reversed => permuted_type(a, &reversed(n)),
        Axes::Constant(axes) => {
            permutation(&axes, n).map_or_else(|_| Type::never(), |p| permuted_type(a, &p))
        }
        Axes::Dynamic(m) if m == n => dynamic_type(a),
        Axes::Dynamic(_) => Type::never(),
    }))
}

pub(super) fn args_of(c: &OpCall<'_>) -> Vec<Arg> {
    c.types.iter().zip(c.consts).map(|(t, k)| Arg { ty: *t, konst: k.clone() }).collect()
}

/// Raises at run time what NumPy raises, where the types say already that it will.
pub(super) fn always_raises(cx: &mut LowerCx<'_>, (class, text): &Promised) -> Result<Val> {
    cx.raise_and_continue(*class, text);
    Ok(vec![])
}

pub(super) fn emit_transpose(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let n = a.shape.len();
    match axes_of(&args_of(c)).ok_or_else(|| Diagnostic::internal("axes"))? {
        Axes::Reversed => Ok(permuted(&a, &reversed(n), c.ret)?.pack()),
        Axes::Constant(axes) => match permutation(&axes, n) {
            Ok(p) => Ok(permuted(&a, &p, c.ret)?.pack()),
            Err(e) => always_raises(cx, &e),
        },
        Axes::Dynamic(m) if m != n => always_raises(cx, &value_error("axes don't match array")),
        Axes::Dynamic(_) => {
            let types: Vec<Type> = c.types[1..]
                .iter()
                .flat_map(|t| t.members().map_or_else(|| vec![*t], <[Type]>::to_vec))
                .collect();
            let values = c.args[1..].concat();
            let mut at = vec![];
            for (v, t) in values.iter().zip(&types) {
                let k = cast::to_i64(cx, *v, *t);
                at.push(checked_axis(cx, k, n, ""));
            }
            for (i, x) in at.iter().enumerate() {
                for y in &at[..i] {
                    let differ = cx.b.bin(Op::IcmpNe, *x, *y);
                    cx.check(differ, Class::ValueError, "repeated axis in transpose");
                }
            }
            let pick = |cx: &mut LowerCx<'_>, v: &[Value]| -> Vec<Value> {
                let parts: Vec<Val> = v.iter().map(|x| vec![*x]).collect();
                at.iter().map(|k| crate::ops::sequence::pick(cx, &parts, *k)[0]).collect()
            };
            let (shape, strides) = (pick(cx, &a.shape), pick(cx, &a.strides));
            let Kind::Array(ty) = *c.ret else { return Err(Diagnostic::internal("array")) };
            Ok(ArrayVal { ty, owner: a.owner, data: a.data, shape, strides, frozen: a.frozen }.pack())
        }
    }
}

/// An axis known at run time, counted from 0; `what` is the beginning of the message about one that is not
/// there.
pub(super) fn checked_axis(cx: &mut LowerCx<'_>, k: Value, n: usize, what: &str) -> Value {
    let count = cx.b.i64(n as i64);
    let at = cx.wrap_index(k, count);
    let ok = cx.b.bin(Op::IcmpUlt, at, count);
    cx.check_format(
        ok,
        Class::AxisError,
        &format!("{what}axis {{}} is out of bounds for array of dimension {{}}"),
        &[k, count],
    );
    at
}

pub(super) fn swapaxes_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let a = array_of(args)?;
    if !args[1..].iter().all(|x| x.ty.is_index()) {
        return Err(no_match("swapaxes()", args));
    }
    let n = a.ndim();
    let dynamic = dynamic_type(a);
    Ok(Answer::of(match (args[1].int(), args[2].int()) {
        (Some(x), Some(y)) => match (normal_axis(x, n), normal_axis(y, n)) {
            (Some(x), Some(y)) => permuted_type(a, &swapped(n, x, y)),
            _ => Type::never(),
        },
        _ => dynamic,
    }))
}

fn swapped(n: usize, x: usize, y: usize) -> Vec<usize> {
    let mut axes: Vec<usize> = (0..n).collect();
    axes.swap(x, y);
    axes
}

pub(super) fn emit_swapaxes(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let n = a.shape.len();
    let known = |k: usize| c.consts[k].as_ref().and_then(Const::as_int);
    if let (Some(x), Some(y)) = (known(1), known(2)) {
        return match (normal_axis(x, n), normal_axis(y, n)) {
            (Some(i), Some(j)) => Ok(permuted(&a, &swapped(n, i, j), c.ret)?.pack()),
            (i, _) => always_raises(
                cx,
                &if i.is_none() { bad_axis("axis1: ", x, n) } else { bad_axis("axis2: ", y, n) },
            ),
        };
    }
    let at: Vec<Value> = [(1, "axis1: "), (2, "axis2: ")]
        .map(|(k, what)| {
            let v = cast::to_i64(cx, c.args[k][0], c.types[k]);
            checked_axis(cx, v, n, what)
        })
        .to_vec();
    let exchange = |cx: &mut LowerCx<'_>, v: &[Value]| -> Vec<Value> {
        let parts: Vec<Val> = v.iter().map(|x| vec![*x]).collect();
        let (x, y) = (
            crate::ops::sequence::pick(cx, &parts, at[0])[0],
            crate::ops::sequence::pick(cx, &parts, at[1])[0],
        );
        v.iter()
            .enumerate()
            .map(|(k, old)| {
                let (is_x, is_y) =
                    (cx.b.bin_imm(Op::IcmpEq, at[0], k as i64), cx.b.bin_imm(Op::IcmpEq, at[1], k as i64));
                let new = cx.b.select(is_y, x, *old);
                cx.b.select(is_x, y, new)
            })
            .collect()
    };
    let (shape, strides) =
        if n == 0 { (vec![], vec![]) } else { (exchange(cx, &a.shape), exchange(cx, &a.strides)) };
    let Kind::Array(ty) = *c.ret else { return Err(Diagnostic::internal("array")) };
    Ok(ArrayVal { ty, owner: a.owner, data: a.data, shape, strides, frozen: a.frozen }.pack())
}

/// A permutation that constant arguments name, or why they name none.
type Moved = Result<(ArrayType, std::result::Result<Vec<usize>, Promised>)>;

pub(super) fn moved_type((a, axes): (ArrayType, std::result::Result<Vec<usize>, Promised>)) -> Answer {
    Answer::of(axes.map_or_else(|_| Type::never(), |p| permuted_type(a, &p)))
}

pub(super) fn constants(args: &[Arg], k: usize, what: &str) -> Result<Vec<i64>> {
    constant_ints(&args[k]).ok_or_else(|| {
        Diagnostic::new(Code::RequiresConstant, format!("the axes of {what}() must be constants"))
            .help("write them in the call")
    })
}

pub(super) fn moved(args: &[Arg]) -> Moved {
    let a = array_of(args)?;
    let n = a.ndim();
    let (source, target) = (constants(args, 1, "moveaxis")?, constants(args, 2, "moveaxis")?);
    let found = (|| {
        if source.len() != target.len() {
            return Err(value_error(
                "`source` and `destination` arguments must have the same number of elements",
            ));
        }
        let place = |v: &[i64], what: &str| -> std::result::Result<Vec<usize>, Promised> {
            let mut out = vec![];
            for k in v {
                let at = normal_axis(*k, n).ok_or_else(|| bad_axis(&format!("{what}: "), *k, n))?;
                if out.contains(&at) {
                    return Err(value_error(format!("repeated axis in `{what}` argument")));
                }
                out.push(at);
            }
            Ok(out)
        };
        let (from, to) = (place(&source, "source")?, place(&target, "destination")?);
        let mut order: Vec<usize> = (0..n).filter(|k| !from.contains(k)).collect();
        let mut pairs: Vec<(usize, usize)> = to.into_iter().zip(from).collect();
        pairs.sort_unstable();
        for (d, s) in pairs {
            order.insert(d, s);
        }
        Ok(order)
    })();
    Ok((a, found))
}

/// Whether one dimension is moved and which one, or where to, is known at run time.
fn moves_one(args: &[Arg]) -> bool {
    args[1..].iter().all(|a| a.ty.is_index()) && args[1..].iter().any(|a| a.int().is_none())
}

pub(super) fn moveaxis_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if moves_one(args) {
        array_of(args).map(|a| Answer::of(dynamic_type(a)))
    } else {
        moved(args).map(moved_type)
    }
}

pub(super) fn emit_moveaxis(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if !moves_one(&args_of(c)) {
        return emit_moved(cx, c, moved);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let n = a.shape.len();
    let [from, to] = [(1, "source: "), (2, "destination: ")].map(|(k, what)| {
        let v = cast::to_i64(cx, c.args[k][0], c.types[k]);
        checked_axis(cx, v, n, what)
    });
    let mut order = vec![];
    for k in 0..n {
        // The others keep their order: without the place of the one that came, and past the one that went.
        let k = cx.b.i64(k as i64);
        let (behind, one) = (cx.b.bin(Op::IcmpSlt, to, k), cx.b.i64(1));
        let before = cx.b.bin(Op::Isub, k, one);
        let other = cx.b.select(behind, before, k);
        let (passed, next) = (cx.b.bin(Op::IcmpSle, from, other), cx.b.bin(Op::Iadd, other, one));
        let other = cx.b.select(passed, next, other);
        let here = cx.b.bin(Op::IcmpEq, k, to);
        order.push(cx.b.select(here, from, other));
    }
    let pick = |cx: &mut LowerCx<'_>, v: &[Value]| -> Vec<Value> {
        let parts: Vec<Val> = v.iter().map(|x| vec![*x]).collect();
        order.iter().map(|k| crate::ops::sequence::pick(cx, &parts, *k)[0]).collect()
    };
    let (shape, strides) = (pick(cx, &a.shape), pick(cx, &a.strides));
    let Kind::Array(ty) = *c.ret else { return Err(Diagnostic::internal("array")) };
    Ok(ArrayVal { ty, owner: a.owner, data: a.data, shape, strides, frozen: a.frozen }.pack())
}

pub(super) fn rolled(args: &[Arg]) -> Moved {
    let a = array_of(args)?;
    let n = a.ndim();
    let (axis, start) = (constants(args, 1, "rollaxis")?, constants(args, 2, "rollaxis")?);
    let found = (|| {
        let at = normal_axis(axis[0], n).ok_or_else(|| bad_axis("", axis[0], n))?;
        let start = if start[0] < 0 { start[0] + n as i64 } else { start[0] };
        if start < 0 || start > n as i64 {
            return Err(value_error(format!(
                "'start' arg requires {} <= start < {}, but {start} was passed in",
                -(n as i64),
                n + 1
            )));
        }
        let to = if (at as i64) < start { start as usize - 1 } else { start as usize };
        let mut order: Vec<usize> = (0..n).filter(|k| *k != at).collect();
        order.insert(to, at);
        Ok(order)
    })();
    Ok((a, found))
}

pub(super) fn emit_moved(cx: &mut LowerCx<'_>, c: &OpCall<'_>, which: fn(&[Arg]) -> Moved) -> Result<Val> {
    match which(&args_of(c))?.1 {
        Ok(p) => Ok(permuted(&ArrayVal::new(cx, &c.args[0], c.types[0])?, &p, c.ret)?.pack()),
        Err(e) => always_raises(cx, &e),
    }
}

/// The array type of the first operand.
fn array_of(args: &[Arg]) -> Result<ArrayType> {
    args[0].ty.as_array().ok_or_else(|| no_match("an array's attribute", args))
}
