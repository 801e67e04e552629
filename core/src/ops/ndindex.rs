//! Indices of n-dimensional shapes in C order: `np.ndindex`, `np.ndenumerate`, `a.flat`.
//!
//! The state is the shape, the current index and how many are left, all scalars.

use super::{Body, OpDef};
use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, product};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::{Op, Value};
use crate::types::{IterType, Kind, Type};
use crate::typing::{Answer, Arg, no_match};

super::identity::op_ids! {
    TIERUP_PNDINDEX = "tierup.pndindex",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy.ndindex", "tierup.pndindex"], "*shape", Body::Lir(|_, a| ndindex_type(a), emit_ndindex)).doc("All indices of a shape, as tuples."),
    OpDef::new(&["numpy.ndenumerate"], "a", Body::Lir(|_, a| over(a, IterType::NdEnumerate), emit_over)).times().consumes().doc("Pairs of index and element."),
    OpDef::new(&["array.flat"], "a", Body::Lir(|_, a| over(a, IterType::Flat), emit_over)).times().consumes().property().doc("All elements in C order."),
    OpDef::new(&["builtins.len"], "flat", Body::Lir(
        |_, a| if a[0].ty.is_flat() { Ok(Answer::of(Type::int())) } else { Err(no_match("len()", a)) },
        |cx, c| {
            let of = c.types[0].as_flat().ok_or_else(|| Diagnostic::internal("flat"))?;
            Ok(vec![ArrayVal::new(cx, &c.args[0], of)?.size(cx)])
        },
    )).times().doc("`len(a.flat)`."),
    OpDef::new(&["numpy._flat_array"], "flat", Body::Lir(
        |_, a| a[0].ty.as_flat().map(Answer::of).ok_or_else(|| no_match("a.flat", a)),
        |_, c| {
            let of = c.types[0].as_flat().ok_or_else(|| Diagnostic::internal("flat"))?;
            Ok(c.args[0][..of.leaf_count()].to_vec())
        },
    )).times().aliases().doc("The array behind `a.flat` (library use)."),
    OpDef::new(&["flat.copy", "flat.__array__"], "flat", Body::Py("array.flat_copy")).raises().reads().doc("The elements in an array of their own."),
    OpDef::new(&["numpy.nditer"], "op, flags=None, op_flags=None, *, order='K'", Body::Py("iterate.nditer")).raises().writes().doc("All elements as arrays without dimensions, in the order of memory; of a tuple of arrays their elements side by side."),
];

fn dims(args: &[Arg]) -> Option<usize> {
    if args.iter().all(|a| a.ty.is_index()) {
        return Some(args.len());
    }
    let m = args[0].ty.members()?;
    (args.len() == 1 && m.iter().all(|t| t.is_index())).then_some(m.len())
}

fn ndindex_type(args: &[Arg]) -> Result<Answer> {
    let n = dims(args).ok_or_else(|| no_match("ndindex()", args))?;
    Ok(Answer::of(Type::iter(IterType::NdIndex(n as u8))))
}

fn over(args: &[Arg], make: fn(Type) -> IterType) -> Result<Answer> {
    if args[0].ty.as_array().is_none() {
        return Err(no_match("an iterator over elements", args));
    }
    Ok(Answer::of(Type::iter(make(args[0].ty))))
}

fn begin(cx: &mut LowerCx<'_>, shape: &[Value]) -> Val {
    let zero = cx.b.i64(0);
    let total = product(cx, shape);
    let mut out = shape.to_vec();
    out.extend(std::iter::repeat_n(zero, shape.len()));
    out.push(total);
    out
}

fn emit_ndindex(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let mut shape = vec![];
    for (v, t) in c.args.iter().zip(c.types) {
        match t.members() {
            Some(m) => {
                for (x, t) in v.iter().zip(m) {
                    shape.push(cast::to_i64(cx, *x, *t));
                }
            }
            None => shape.push(cast::to_i64(cx, v[0], *t)),
        }
    }
    Ok(begin(cx, &shape))
}

fn emit_over(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let state = begin(cx, &a.shape);
    Ok([c.args[0].clone(), state].concat())
}

/// One step over the indices of a shape of `n` dimensions.
pub(crate) fn step(cx: &mut LowerCx<'_>, v: &[Value], n: usize) -> Result<(Val, Value, Val)> {
    let (shape, index, left) = (&v[..n], &v[n..2 * n], v[2 * n]);
    let has = cx.b.bin_imm(Op::IcmpSgt, left, 0);
    let mut next = index.to_vec();
    let mut carry = cx.b.bool(true);
    for k in (0..n).rev() {
        let one = cx.b.conv(Op::Zext, crate::lir::Ty::I64, carry);
        let up = cx.b.bin(Op::Iadd, next[k], one);
        let full = cx.b.bin(Op::IcmpSge, up, shape[k]);
        let zero = cx.b.i64(0);
        next[k] = cx.b.select(full, zero, up);
        carry = cx.and(carry, full);
    }
    let less = cx.b.bin_imm(Op::Isub, left, 1);
    let state = [shape.to_vec(), next, vec![less]].concat();
    Ok((state, has, index.to_vec()))
}

/// One step over the elements of an array; with the index in front when asked for.
pub(crate) fn step_array(
    cx: &mut LowerCx<'_>,
    v: &[Value],
    t: Type,
    with_index: bool,
) -> Result<(Val, Value, Val)> {
    let Kind::Array(ty) = *t else { return Err(Diagnostic::internal("no array")) };
    let leaves = t.leaf_count();
    let (state, has, index) = step(cx, &v[leaves..], ty.ndim())?;
    let a = ArrayVal::new(cx, &v[..leaves], t)?;
    let at = index.clone();
    let elem = cx.if_else(
        has,
        |cx| Ok(a.load(cx, &at)),
        |cx| Ok(crate::emit::constants::absent(&mut cx.b, ty.dtype)),
    )?;
    let value = if with_index { [index, elem].concat() } else { elem };
    Ok(([v[..leaves].to_vec(), state].concat(), has, value))
}
