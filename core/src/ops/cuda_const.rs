//! Arrays of the host that a kernel has as constants: what is in them when it is compiled.

use super::cuda::in_kernel;
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::ArrayVal;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::{InstData, Value, grid};
use crate::types::{Access, ArrayType, Layout};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(crate) static OPS: &[OpDef] =
    &[OpDef::new(&["tierup.cuda.const.array_like"], "ary", Body::Lir(rule, emit))
        .doc("What is in a global array when the kernel is compiled, as an array that is only read.")];

fn refuse(what: &str) -> Diagnostic {
    Diagnostic::new(Code::BadCall, format!("cuda.const.array_like() takes {what}"))
        .help("pass the array to the kernel as an argument")
}

fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let a = args[0].ty.as_array().ok_or_else(|| no_match("cuda.const.array_like()", args))?;
    if a.layout == Layout::A {
        return Err(refuse("an array without gaps, in C or Fortran's order"));
    }
    Ok(Answer::of(ArrayType { access: Access::Read, ..a }.ty()))
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    in_kernel(cx, "cuda.const.array_like()")?;
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let made = |cx: &LowerCx<'_>, v: Value| {
        cx.b.func.insts.iter().find(|i| i.results.contains(&v)).map(|i| i.data.clone())
    };
    let Some(InstData::SymbolAddr { symbol }) = made(cx, a.data) else {
        return Err(refuse("a global array, or one of an enclosing function"));
    };
    let mut bytes = a.ty.itemsize() as u64;
    for n in &a.shape {
        let Some(InstData::Const { bits, .. }) = made(cx, *n) else {
            return Err(Diagnostic::internal("a global array of unknown shape"));
        };
        bytes *= bits;
    }
    let addr = cx.b.func.symbols[symbol.index()].addr;
    let data = cx.b.symbol_addr(&grid::constant_name(addr, bytes), addr);
    // The kernel gets its address, so the code that uses it must be the kernel's own.
    cx.b.func.always_inline = true;
    let Some(ret) = c.ret.as_array() else { return Err(Diagnostic::internal("a constant that is no array")) };
    let owner = cx.b.null();
    Ok(ArrayVal { ty: ret, owner, data, ..a }.pack())
}
