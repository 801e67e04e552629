//! Arrays joined: `concatenate`, `stack` and their relatives. Tuples are joined here, member by member,
//! whatever their types; lists in Python.

use super::create::from_nested;
use super::sequence::nested;
use super::shape::{Promised, bad_axis, normal_axis, runs, value_error, with_ones};
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, copy_elements};
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::exc::Class;
use crate::lir::Op;
use crate::types::{Access, ArrayType, Kind, Layout, Type, promote};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy.concatenate", "numpy.concat"], "arrays, /, axis=0", Body::Py("join.concatenate_at"))
        .only_if(|a| a[0].ty.members().is_some() && runs(&a[1]))
        .records()
        .raises()
        .reads()
        .doc("Arrays joined along a dimension that is not known before."),
    OpDef::new(
        &["numpy.concatenate", "numpy.concat"],
        "arrays, /, axis=0, out=None, *, dtype=None",
        Body::Lir(|cx, a| rule(cx, a, Join::Concatenate), |cx, c| emit(cx, c, Join::Concatenate)),
    )
    .times()
    .raises()
    .reads()
    .alone("where an element goes depends on how many come before it")
    .doc("Arrays joined along a dimension."),
    OpDef::new(&["numpy.concatenate", "numpy.concat"], "arrays, /, axis=0", Body::Py("join.concatenate"))
        .only_if(|a| a[0].ty.members().is_none() && (a[1].is_none() || a[1].ty.is_index()))
        .raises()
        .reads()
        .doc("A list of arrays joined along a dimension."),
    OpDef::new(&["numpy.stack"], "arrays, axis=0", Body::Py("join.stack_at"))
        .only_if(|a| a[0].ty.members().is_some() && runs(&a[1]))
        .records()
        .raises()
        .reads()
        .doc("Arrays joined along a new dimension whose place is not known before."),
    OpDef::new(
        &["numpy.stack"],
        "arrays, axis=0, out=None, *, dtype=None",
        Body::Lir(|cx, a| rule(cx, a, Join::Stack), |cx, c| emit(cx, c, Join::Stack)),
    )
    .times()
    .raises()
    .reads()
    .doc("Arrays joined along a new dimension."),
    OpDef::new(&["numpy.block"], "arrays", Body::Py("join.block"))
        .raises()
        .reads()
        .doc("Lists of arrays, of lists of arrays and so on, joined along the last dimensions; ValueError."),
    OpDef::new(&["numpy.stack"], "arrays, axis=0", Body::Py("join.stack"))
        .only_if(|a| a[0].ty.members().is_none() && (a[1].is_none() || a[1].ty.is_index()))
        .raises()
        .reads()
        .doc("A list of arrays joined along a new dimension."),
    OpDef::new(
        &["numpy.hstack"],
        "tup, *, dtype=None",
        Body::Lir(|cx, a| rule(cx, a, Join::Horizontal), |cx, c| emit(cx, c, Join::Horizontal)),
    )
    .times()
    .raises()
    .reads()
    .doc("Arrays side by side."),
    OpDef::new(&["numpy.hstack"], "tup", Body::Py("join.hstack"))
        .only_if(|a| a[0].ty.members().is_none())
        .raises()
        .reads()
        .doc("A list of arrays side by side."),
    OpDef::new(
        &["numpy.vstack", "numpy.row_stack"],
        "tup, *, dtype=None",
        Body::Lir(|cx, a| rule(cx, a, Join::Vertical), |cx, c| emit(cx, c, Join::Vertical)),
    )
    .times()
    .raises()
    .reads()
    .doc("Arrays as rows below each other."),
    OpDef::new(&["numpy.vstack", "numpy.row_stack"], "tup", Body::Py("join.vstack"))
        .only_if(|a| a[0].ty.members().is_none())
        .raises()
        .reads()
        .doc("A list of arrays as rows below each other."),
    OpDef::new(
        &["numpy.dstack"],
        "tup",
        Body::Lir(|cx, a| rule(cx, a, Join::Deep), |cx, c| emit(cx, c, Join::Deep)),
    )
    .times()
    .raises()
    .reads()
    .doc("Arrays behind each other, along a third dimension."),
    OpDef::new(&["numpy.dstack"], "tup", Body::Py("join.dstack"))
        .only_if(|a| a[0].ty.members().is_none())
        .raises()
        .reads()
        .doc("A list of arrays behind each other."),
    OpDef::new(
        &["numpy.column_stack"],
        "tup",
        Body::Lir(|cx, a| rule(cx, a, Join::Columns), |cx, c| emit(cx, c, Join::Columns)),
    )
    .times()
    .raises()
    .reads()
    .doc("1-d arrays as columns."),
    OpDef::new(&["numpy.column_stack"], "tup", Body::Py("join.column_stack"))
        .only_if(|a| a[0].ty.members().is_none())
        .raises()
        .reads()
        .doc("A list of 1-d arrays as columns."),
    OpDef::new(&["numpy.append"], "arr, values, axis=None", Body::Py("join.append"))
        .records()
        .raises()
        .reads()
        .doc("Values joined to the end."),
    OpDef::new(&["numpy.split"], "ary, indices_or_sections, axis=0", Body::Py("join.split"))
        .records()
        .raises()
        .reads()
        .doc("Views of equal parts, or of the parts between positions."),
    OpDef::new(&["numpy.array_split"], "ary, indices_or_sections, axis=0", Body::Py("join.array_split"))
        .records()
        .raises()
        .reads()
        .doc("Views of parts as equal as can be."),
    OpDef::new(&["numpy.vsplit"], "ary, indices_or_sections", Body::Py("join.vsplit"))
        .raises()
        .reads()
        .doc("`split` along the first dimension."),
    OpDef::new(&["numpy.hsplit"], "ary, indices_or_sections", Body::Py("join.hsplit"))
        .raises()
        .reads()
        .doc("`split` along the second dimension."),
    OpDef::new(&["numpy.dsplit"], "ary, indices_or_sections", Body::Py("join.dsplit"))
        .raises()
        .reads()
        .doc("`split` along the third dimension."),
];

/// How arrays are prepared before they are joined, and along which dimension.
#[derive(Clone, Copy, PartialEq)]
enum Join {
    Concatenate,
    Stack,
    Horizontal,
    Vertical,
    Deep,
    Columns,
}

/// What a call comes to: for each member where dimensions of length 1 are put in, the dimension to join
/// along, and the result's type.
struct Plan {
    ones: Vec<Vec<usize>>,
    flatten: bool,
    axis: usize,
    ret: Type,
}

/// A plan, or the exception that the types already promise.
fn plan(args: &[Arg], how: Join) -> Result<std::result::Result<Plan, Promised>> {
    let m = args[0].ty.members().ok_or_else(|| no_match("joining", args))?;
    if m.is_empty() {
        return Ok(Err(value_error("need at least one array to concatenate")));
    }
    // A string has no dimensions to NumPy.
    let parts: Vec<(usize, Type)> = m
        .iter()
        .map(|t| if *t == Type::str() { Some((0, Type::str())) } else { nested(*t) })
        .collect::<Option<_>>()
        .ok_or_else(|| no_match("joining", args))?;
    let takes_axis = matches!(how, Join::Concatenate | Join::Stack);
    if takes_axis && !args[2].is_none() {
        return Err(Diagnostic::new(Code::NoMatchingOperation, "out= is not compiled here")
            .help("assign the result: out[...] = ..."));
    }
    let flatten = how == Join::Concatenate && args[1].is_none();
    let mut ones = vec![];
    for (k, (n, _)) in parts.iter().enumerate() {
        ones.push(match (how, *n) {
            (Join::Concatenate, 0) if !flatten && k == 0 => {
                return Ok(Err(value_error("zero-dimensional arrays cannot be concatenated")));
            }
            (Join::Concatenate | Join::Stack, _) => vec![],
            (Join::Horizontal | Join::Vertical | Join::Columns, 0) => {
                if how == Join::Horizontal {
                    vec![0]
                } else {
                    vec![0, 1]
                }
            }
            (Join::Vertical, 1) => vec![0],
            (Join::Columns, 1) => vec![1],
            (Join::Deep, 0) => vec![0, 1, 2],
            (Join::Deep, 1) => vec![0, 2],
            (Join::Deep, 2) => vec![2],
            (Join::Horizontal | Join::Vertical | Join::Columns | Join::Deep, _) => vec![],
        });
    }
    let dims: Vec<usize> =
        parts.iter().zip(&ones).map(|((n, _), o)| if flatten { 1 } else { n + o.len() }).collect();
    if let Some(k) = dims.iter().position(|n| *n != dims[0]) {
        if how == Join::Stack {
            return Ok(Err(value_error("all input arrays must have the same shape")));
        }
        return Ok(Err(value_error(format!(
            "all the input arrays must have same number of dimensions, but the array at index 0 has {} dimension(s) and the array at index {k} has {} dimension(s)",
            dims[0], dims[k]
        ))));
    }
    if parts.iter().any(|(_, t)| *t == Type::str()) {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            "there are no arrays of strings in compiled code",
        )
        .help("join numbers, and keep strings in a list"));
    }
    let ndim = dims[0] + (how == Join::Stack) as usize;
    let axis = match how {
        Join::Concatenate | Join::Stack if !flatten => {
            let k = args[1].int().ok_or_else(|| {
                Diagnostic::new(Code::RequiresConstant, "the axis to join along must be a constant")
                    .help("write the number in the call")
            })?;
            match normal_axis(k, ndim) {
                Some(k) => k,
                None => return Ok(Err(bad_axis("", k, ndim))),
            }
        }
        Join::Concatenate | Join::Stack | Join::Vertical => 0,
        Join::Horizontal => (ndim > 1) as usize,
        Join::Columns => 1,
        Join::Deep => 2,
    };
    if how == Join::Stack {
        for o in &mut ones {
            *o = vec![axis];
        }
    }
    let dtype_arg = match how {
        Join::Concatenate | Join::Stack => Some(&args[3]),
        Join::Horizontal | Join::Vertical => Some(&args[1]),
        Join::Deep | Join::Columns => None,
    };
    let common = parts.iter().skip(1).fold(parts[0].1, |t, p| promote::result_type(t.strong(), p.1.strong()));
    let dtype = match dtype_arg {
        Some(a) => super::create::dtype_or(a, common)?,
        None => common.strong(),
    };
    let all_f = ndim > 1 && m.iter().all(|t| t.as_array().is_some_and(|a| a.layout == Layout::F));
    Ok(Ok(Plan {
        ones,
        flatten,
        axis,
        ret: Type::array(dtype, ndim, if all_f { Layout::F } else { Layout::C }),
    }))
}

fn rule(cx: &TyCx<'_, '_>, args: &[Arg], how: Join) -> Result<Answer> {
    Ok(Answer::of(plan(&super::index::resolved(cx, args), how)?.map_or_else(|_| Type::never(), |p| p.ret)))
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, how: Join) -> Result<Val> {
    let args: Vec<Arg> =
        c.types.iter().zip(c.consts).map(|(t, k)| Arg { ty: *t, konst: k.clone() }).collect();
    let p = match plan(&args, how)? {
        Ok(p) => p,
        Err((class, text)) => {
            cx.raise_and_continue(class, &text);
            return Ok(vec![]);
        }
    };
    let Kind::Array(ret) = *p.ret else { return Err(Diagnostic::internal("array")) };
    let types = c.types[0].members().unwrap_or_default();
    let (mut parts, mut temporary) = (vec![], vec![]);
    for ((v, t), ones) in split_leaves(&c.args[0], types).iter().zip(types).zip(&p.ones) {
        let a = match t.as_array() {
            Some(_) => ArrayVal::new(cx, v, *t)?,
            None => {
                let (n, e) = nested(*t).ok_or_else(|| Diagnostic::internal("member"))?;
                let to =
                    ArrayType { dtype: e.strong(), ndim: n as u8, layout: Layout::C, access: Access::Write };
                let a = cx.guarded(&temporary, |cx| from_nested(cx, v, *t, to))?;
                temporary.push(a.owner);
                a
            }
        };
        parts.push(with_ones(cx, &a, ones));
    }
    let out = cx.guarded(&temporary, |cx| joined(cx, &parts, &p, ret, how))?;
    for o in temporary {
        cx.release_object(o);
    }
    Ok(out.pack())
}

fn joined(cx: &mut LowerCx<'_>, parts: &[ArrayVal], p: &Plan, ret: ArrayType, how: Join) -> Result<ArrayVal> {
    let mut shape = if p.flatten { vec![cx.b.i64(0)] } else { parts[0].shape.clone() };
    let mut total = cx.b.i64(0);
    for a in parts {
        let n = if p.flatten { a.size(cx) } else { a.shape[p.axis] };
        total = cx.b.bin(Op::Iadd, total, n);
    }
    if !p.flatten {
        check_shapes(cx, parts, p.axis, how);
    }
    shape[p.axis] = total;
    let out = ArrayVal::alloc(cx, ret.dtype, &shape, ret.layout, false)?;
    let mut data = out.data;
    for a in parts {
        let n = if p.flatten { a.size(cx) } else { a.shape[p.axis] };
        // The part of the result that takes this array: contiguous where rows are joined.
        let mut place = if p.flatten {
            ArrayVal { shape: a.shape.clone(), ty: ArrayType { ndim: a.ty.ndim, ..out.ty }, ..out.clone() }
        } else {
            out.clone()
        };
        if p.flatten {
            place.strides = crate::emit::arrays::contiguous_strides(cx, &a.shape, ret.itemsize(), Layout::C);
        } else {
            place.shape = a.shape.clone();
            let rows = if ret.layout == Layout::F { p.axis + 1 == shape.len() } else { p.axis == 0 };
            if !rows {
                place.ty.layout = Layout::A;
            }
        }
        place.data = data;
        cx.guarded(&[out.owner], |cx| copy_elements(cx, &place, a))?;
        let step = if p.flatten { cx.b.i64(ret.itemsize()) } else { out.strides[p.axis] };
        let bytes = cx.b.bin(Op::Imul, n, step);
        data = cx.b.ptr_add(data, bytes);
    }
    Ok(out)
}

/// ValueError unless all dimensions but the joined one agree.
fn check_shapes(cx: &mut LowerCx<'_>, parts: &[ArrayVal], axis: usize, how: Join) {
    for (k, a) in parts.iter().enumerate().skip(1) {
        for d in 0..a.shape.len() {
            let (m, n) = (parts[0].shape[d], a.shape[d]);
            if d == axis || m == n {
                continue;
            }
            let same = cx.b.bin(Op::IcmpEq, m, n);
            if how == Join::Stack {
                cx.check(same, Class::ValueError, "all input arrays must have the same shape");
            } else {
                let text = format!(
                    "all the input array dimensions except for the concatenation axis must match exactly, but along dimension {d}, the array at index 0 has size {{}} and the array at index {k} has size {{}}"
                );
                cx.check_format(same, Class::ValueError, &text, &[m, n]);
            }
        }
    }
}
