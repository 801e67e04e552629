//! Several reductions of one array in one pass, which fusion makes of neighbours.

use super::element_code;
use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, load_element};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::Op;
use crate::ops::kernel::{self as k, Reduce};
use crate::ops::{Body, OpDef};
use crate::types::Const;
use crate::typing::no_match;

/// Several reductions of one array in one pass: the array, and a constant with a bit for each; gives a tuple
/// ([`crate::lower::reduction_merging`] makes it).
pub(crate) static SEVERAL: OpDef = OpDef::new(
    &["numpy._reduce_several"],
    "a, which",
    Body::Lir(|_, a| Err(no_match("_reduce_several()", a)), emit_several),
)
.raises()
.reads();
/// Its minimum, which an array without elements has none of.
pub(crate) static SMALLEST: OpDef = OpDef::new(
    &["numpy._smallest"],
    "a, x",
    Body::Lir(|_, a| Err(no_match("_smallest()", a)), |cx, c| some(cx, c, "minimum")),
)
.raises()
.of_shape();
/// Its maximum.
pub(crate) static LARGEST: OpDef = OpDef::new(
    &["numpy._largest"],
    "a, x",
    Body::Lir(|_, a| Err(no_match("_largest()", a)), |cx, c| some(cx, c, "maximum")),
)
.raises()
.of_shape();

/// What reports call a reduction.
pub(crate) fn shown_reduction(op: Reduce) -> &'static str {
    match op {
        Reduce::Sum => "sum",
        Reduce::Prod => "prod",
        Reduce::Min => "min",
        Reduce::Max => "max",
        Reduce::Any => "any",
        Reduce::All => "all",
        Reduce::CountNonzero => "count_nonzero",
        Reduce::NanMin => "nanmin",
        Reduce::NanMax => "nanmax",
        Reduce::NanSum => "nansum",
        Reduce::NanProd => "nanprod",
        Reduce::CountNotNan => "count_not_nan",
    }
}

fn emit_several(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let Some(Const::Int(which)) = &c.consts[1] else {
        return Err(Diagnostic::internal("reductions that nobody named"));
    };
    let (which, elem) = (cx.b.i64(*which | cx.chunks.flag()), element_code(cx, a.ty.dtype)?);
    let (n, shape, strides) = (cx.b.i64(a.shape.len() as i64), cx.spill(&a.shape), cx.spill(&a.strides));
    let count = c.ret.members().map_or(0, |m| m.len());
    let out = cx.b.slot_addr(16 * count as u32);
    cx.helper(&k::array_reduce_several, &[which, elem, n, shape, a.data, strides, out]);
    let mut all = vec![];
    for k in 0..count {
        let place = cx.b.i64(16 * k as i64);
        let p = cx.b.ptr_add(out, place);
        all.extend(load_element(cx, p, a.ty.dtype));
    }
    Ok(all)
}

/// The number beside an array, ValueError where that has no elements.
fn some(cx: &mut LowerCx<'_>, c: &OpCall<'_>, name: &str) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let n = a.size(cx);
    let any = cx.b.bin_imm(Op::IcmpNe, n, 0);
    cx.check(
        any,
        Class::ValueError,
        &format!("zero-size array to reduction operation {name} which has no identity"),
    );
    Ok(c.args[1].clone())
}
