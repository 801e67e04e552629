//! Stencils: what the library asks about kernels, and `stencil` in compiled code. The loops around a kernel
//! are a text that the host makes (`tierup/_stencil.py`).

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::ssa::{Func, reads, registry};
use crate::types::{Const, FuncType, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    NUMPY_STENCIL_PLACE = "numpy._stencil_place",
    TIERUP_STENCIL = "tierup.stencil",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["tierup.stencil"], "func_or_mode='constant', *, neighborhood=None, cval=None, standard_indexing=None", Body::Py("stencils.stencil")).raises()
        .doc("A function of whole arrays, out of a kernel that computes one element; in compiled code too, where the neighborhood may be computed."),
    OpDef::new(&["numpy._stencil_place"], "x, k, at", Body::Py("stencils.place")).raises().reads().doc("For library use: the index of a whole array that an index from an element is."),
    OpDef::new(&["numpy._from_place"], "kernel, relative, ndim", Body::Lir(from_place, |_, call| Ok(call.args[0].clone()))).aliases()
        .doc("For library use: a kernel that takes the place of its element as well."),
    OpDef::new(&["numpy._stencil"], "kernel, neighborhood, standard, cval", Body::Lir(loops, |_, _| Ok(vec![]))).doc("For library use: what makes the loops around a kernel."),
    OpDef::new(&["numpy._stencil_decorator"], "standard", Body::Lir(decorator, |_, _| Ok(vec![]))).doc("For library use: what makes the decorator for kernels with arrays that are indexed as usual."),
];

fn kernel<'a>(arg: &'a Arg) -> Result<&'a FuncType> {
    if let Kind::Function(f) = arg.ty.kind()
        && !f.bound
    {
        return Ok(f);
    }
    Err(Diagnostic::new(
        Code::BadCall,
        format!("stencil takes a kernel that is a Python function, not {}", arg.ty),
    )
    .help("write the kernel as a function or a lambda, and pass that"))
}

fn from_place(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let f = kernel(&args[0])?;
    let (Some(Const::Int(relative)), Some(Const::Int(ndim))) = (&args[1].konst, &args[2].konst) else {
        return Err(no_match("a stencil kernel", args));
    };
    let func = reads::from_place(f.func, *relative as u64, *ndim as usize)
        .ok_or_else(|| Diagnostic::internal("a kernel without code"))?;
    Ok(Answer::of(Type::new(Kind::Function(FuncType { func, ..f.clone() }))))
}

/// Names of arrays that are indexed as usual, as a tuple.
fn standard(arg: &Arg) -> Result<Const> {
    let unknown = || {
        Diagnostic::new(
            Code::BadCall,
            "standard_indexing is the name of a parameter of the kernel or a tuple of names, written where the stencil is made",
        )
    };
    match &arg.konst {
        Some(Const::None) => Ok(Const::Tuple(vec![])),
        Some(name @ Const::Str(_)) => Ok(Const::Tuple(vec![name.clone()])),
        Some(names @ Const::Tuple(all)) if all.iter().all(|n| matches!(n, Const::Str(_))) => {
            Ok(names.clone())
        }
        Some(_) | None => Err(unknown()),
    }
}

/// Every indexing of a parameter, as tuples: its number, whether it is written to, and the index where it is
/// constant.
fn found(func: &Func) -> Const {
    let all = reads::accesses(func).into_iter().map(|a| {
        let index = a.index.map_or(Const::None, |i| Const::Tuple(i.into_iter().map(Const::Int).collect()));
        Const::Tuple(vec![Const::Int(a.param as i64), Const::Bool(a.writes), index])
    });
    Const::Tuple(all.collect())
}

fn loops(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let f = kernel(&args[0])?;
    let func = registry::get(f.func).ok_or_else(|| Diagnostic::internal("a kernel without code"))?;
    let is_pair = |d: &Type| matches!(d.kind(), Kind::Tuple(pair) if pair.len() == 2 && pair.iter().all(|t| t.is_int()));
    let given = if let Kind::Tuple(dims) = args[1].ty.kind()
        && dims.iter().all(is_pair)
    {
        Some(dims.len())
    } else if *args[1].ty == Kind::None {
        None
    } else {
        return Err(Diagnostic::new(
            Code::BadCall,
            format!(
                "neighborhood is a pair of the lowest and the highest index for each dimension, not {}",
                args[1].ty
            ),
        )
        .help("write a tuple of pairs, as in ((-1, 1), (0, 2))"));
    };
    if !args[3].is_none() && !args[3].ty.is_number() {
        return Err(Diagnostic::new(Code::BadCall, format!("cval is a number, not {}", args[3].ty)));
    }
    let p = &func.params;
    let kernel = [
        Const::Str(func.name.clone()),
        Const::Tuple(p.names.iter().cloned().map(Const::Str).collect()),
        Const::Bool(p.positional == p.names.len()),
        found(&func),
        standard(&args[2])?,
        given.map_or(Const::None, |n| Const::Int(n as i64)),
        Const::Bool(!args[3].is_none()),
    ];
    cx.written("_stencil.loops_for", &kernel)
}

fn decorator(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    cx.written("_stencil.decorator_for", &[standard(&args[0])?])
}
