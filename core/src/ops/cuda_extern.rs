//! Functions of a device that another compiler has made: kernels call them by name, and are linked with them.
//! They have the convention of `numba.cuda.declare_device`: a status comes back, 0 where all is well, and the
//! first parameter says where the result goes.

use super::cuda::in_kernel;
use super::foreign::{CType, memory, points_to, signature};
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::door::EXTERN_PREFIX;
use crate::emit::arrays::load_element;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Signature, Ty, Value};
use crate::types::{Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(crate) static OPS: &[OpDef] =
    &[OpDef::new(&["tierup.cuda._device_call"], "name, signature, *args", Body::Lir(rule, emit))
        .raises()
        .writes()
        .doc("Calls a function that the kernel is linked with.")];

fn declared(args: &[Arg]) -> Result<(CType, Vec<CType>)> {
    args[1]
        .text()
        .and_then(signature)
        .ok_or_else(|| no_match("a function that kernels are linked with", args))
}

fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let ((ret, wanted), given) = (declared(args)?, &args[2..]);
    if given.len() != wanted.len() {
        let text = format!("a device function of {} arguments is called with {}", wanted.len(), given.len());
        return Err(Diagnostic::new(Code::BadCall, text));
    }
    let mut coerce = vec![args[0].ty, args[1].ty];
    for (a, want) in given.iter().zip(&wanted) {
        match want {
            CType::Number(t)
                if a.ty.is_number()
                    && (t.is_complex() || !a.ty.is_complex())
                    && !(a.ty.is_float() && t.is_int()) =>
            {
                coerce.push(*t);
            }
            CType::Pointer(t) if memory(a.ty).is_some_and(|e| points_to(*t, e)) || a.ty.is_int() => {
                coerce.push(a.ty)
            }
            CType::Number(_) | CType::Pointer(_) => {
                let text = format!("a device function takes {} here, not {}", want.describe(), a.ty);
                return Err(Diagnostic::new(Code::NoMatchingOperation, text)
                    .help("convert the number first; a pointer is the memory of an array, or an address"));
            }
        }
    }
    let ret = if let CType::Number(t) = ret { t } else { Type::int() };
    Ok(Answer::coerced(ret, coerce))
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    in_kernel(cx, "a function that kernels are linked with")?;
    let all: Vec<Arg> = c.types.iter().zip(c.consts).map(|(t, k)| Arg { ty: *t, konst: k.clone() }).collect();
    let (_, wanted) = declared(&all)?;
    let name = all[0].text().ok_or_else(|| Diagnostic::internal("a device function without a name"))?;
    let out = cx.b.slot_addr(16);
    let mut args: Vec<Value> = vec![out];
    for ((v, t), want) in c.args[2..].iter().zip(&c.types[2..]).zip(&wanted) {
        match want {
            CType::Number(_) => args.extend(v),
            CType::Pointer(_) if memory(*t).is_some() => args.push(v[1]),
            CType::Pointer(_) => {
                let address = cast::to_i64(cx, v[0], *t);
                args.push(cx.b.conv(Op::Bitcast, Ty::Ptr, address));
            }
        }
    }
    let params: Vec<Ty> = args.iter().map(|v| cx.b.ty(*v)).collect();
    let sig = Signature { params, results: vec![Ty::I32] };
    let status = cx.b.call(&format!("{EXTERN_PREFIX}{name}"), &sig, &args)[0];
    let zero = cx.b.iconst(Ty::I32, 0);
    let fine = cx.b.bin(Op::IcmpEq, status, zero);
    cx.check(fine, Class::RuntimeError, "a linked function has failed");
    if *c.ret == Kind::None {
        return Ok(vec![]);
    }
    Ok(load_element(cx, out, c.ret))
}
