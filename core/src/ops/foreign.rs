//! Calls of C functions that the host hands over by address: `ctypes` and `cffi` functions, `scipy.special.cython_special`. The address lies in an array that the
//! calling function captures, so code in the cache holds none.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::infer::cx::{Answer, Arg, TyCx, no_match};
use crate::lir::{Alias, Op, Ty, Value};
use crate::lower::cast;
use crate::lower::cx::{LowerCx, OpCall, Val};
use crate::rt::P;
use crate::types::{Kind, Type, parse};

crate::runtime_fns! {
    /// C functions.
    trait Helpers;
    /// Calls the function at `addr` with arguments in the order of their registers: six integers or pointers, eight floats. `result` says what it gives:
    /// 0 an integer, a pointer or nothing, 1 a double, 2 a float; floats come back as bits.
    fn c_call(addr: i64, ints: P, floats: P, result: i64) -> i64 [Writes, Never];
}

/// Registers that integers and floats are passed in. What has more would go over the stack.
const INTS: usize = 6;
const FLOATS: usize = 8;

/// What a C function takes or gives; none is a pointer.
type CType = Option<Type>;

/// `float64(float64, pointer)`: the result, then the arguments.
fn signature(text: &str) -> Option<(CType, Vec<CType>)> {
    let one = |t: &str| if t.trim() == "pointer" { Some(None) } else { parse::parse(t.trim()).ok().map(Some) };
    let (ret, rest) = text.split_once('(')?;
    let inside = rest.strip_suffix(')')?;
    let args = if inside.trim().is_empty() { Some(vec![]) } else { inside.split(',').map(one).collect() };
    Some((one(ret)?, args?))
}

fn of_call(args: &[Arg]) -> Result<(CType, Vec<CType>)> {
    args[1].text().and_then(signature).ok_or_else(|| no_match("a C function", args))
}

/// The array whose memory a value stands for where a pointer is wanted: an array, or what its `ctypes` attribute is.
fn memory(t: Type) -> bool {
    let t = if let Kind::Method("array.ctypes", of) = *t { of } else { t };
    t.as_array().is_some()
}

fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (ret, wanted) = of_call(args)?;
    let given = &args[2..];
    if given.len() != wanted.len() {
        return Err(Diagnostic::new(Code::BadCall, format!("a C function of {} arguments is called with {}", wanted.len(), given.len())));
    }
    let mut coerce = vec![args[0].ty, args[1].ty];
    let (mut ints, mut floats) = (0, 0);
    for (a, want) in given.iter().zip(&wanted) {
        match want {
            Some(t) if a.ty.is_number() && t.is_number() && !t.is_complex() && (!a.ty.is_complex()) && !(a.ty.is_float() && !t.is_float()) => coerce.push(*t),
            None if memory(a.ty) || a.ty.is_int() || a.is_none() => coerce.push(a.ty),
            Some(_) | None => {
                let want = want.map_or("a pointer".into(), |t| t.to_string());
                return Err(Diagnostic::new(Code::NoMatchingOperation, format!("a C function takes {want} here, not {}", a.ty))
                    .help(if want == "a pointer" { "pass an array, its ctypes attribute, or an address" } else { "convert it first" }));
            }
        }
        if want.is_some_and(|t| t.is_float()) { floats += 1 } else { ints += 1 }
    }
    if ints > INTS || floats > FLOATS {
        return Err(Diagnostic::new(Code::UnsupportedSyntax, format!("a C function with more than {INTS} integers and pointers or {FLOATS} floats cannot be called from compiled code"))
            .help("write a C function that takes a pointer to them"));
    }
    Ok(Answer::coerced(ret.unwrap_or(Type::int()), coerce))
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let all: Vec<Arg> = c.types.iter().zip(c.consts).map(|(t, k)| Arg { ty: *t, konst: k.clone() }).collect();
    let (ret, wanted) = of_call(&all)?;
    let (ints, floats) = (cx.b.slot_addr(8 * INTS as u32), cx.b.slot_addr(8 * FLOATS as u32));
    let (mut i, mut f) = (0, 0);
    for ((v, t), want) in c.args[2..].iter().zip(&c.types[2..]).zip(&wanted) {
        if want.is_some_and(|t| t.is_float()) {
            cx.b.store(v[0], floats, 8 * f, Alias::Stack);
            f += 1;
            continue;
        }
        let word: Value = match want {
            Some(_) => cast::to_i64(cx, v[0], *t),
            None if memory(*t) => cx.b.conv(Op::Bitcast, Ty::I64, v[1]),
            None if v.is_empty() => cx.b.i64(0),
            None => cast::to_i64(cx, v[0], *t),
        };
        cx.b.store(word, ints, 8 * i, Alias::Stack);
        i += 1;
    }
    let kind = match ret { Some(t) if t.is_float() => if t.itemsize() == 4 { 2 } else { 1 }, Some(_) | None => 0 };
    let (addr, kind) = (cast::to_i64(cx, c.args[0][0], c.types[0]), cx.b.i64(kind));
    let bits = cx.helper_value(&c_call, &[addr, ints, floats, kind]);
    Ok(match ret {
        None => vec![bits],
        Some(t) if t.is_float() && t.itemsize() == 8 => vec![cx.b.conv(Op::Bitcast, Ty::F64, bits)],
        Some(t) if t.is_float() => {
            let low = cx.b.conv(Op::Itrunc, Ty::I32, bits);
            vec![cx.b.conv(Op::Bitcast, Ty::F32, low)]
        }
        Some(t) if *t == Kind::Bool => {
            let (low, zero) = (cx.b.conv(Op::Itrunc, Ty::I8, bits), cx.b.iconst(Ty::I8, 0));
            vec![cx.b.bin(Op::IcmpNe, low, zero)]
        }
        Some(t) => match t.scalar_ty() { Some(ty) => vec![cast::resize(cx, bits, true, ty)], None => vec![] },
    })
}

fn address_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if memory(args[0].ty) { Ok(Answer::of(Type::int())) } else { Err(no_match("ctypes.data", args)) }
}

pub static OPS: &[OpDef] = &[
    OpDef::new(&["numpy._c_call"], "address, signature, *args", Body::Lir(rule, emit)).writes().doc("Calls a C function by its address (library use)."),
    OpDef::new(&["array.ctypes"], "a", Body::Lir(|_, a| Err(no_match("ctypes()", a)), |_, _| Ok(vec![]))).doc("The memory of an array, for C functions."),
    OpDef::new(&["array.ctypes.data"], "c", Body::Lir(address_rule, |cx, c| Ok(vec![cx.b.conv(Op::Bitcast, Ty::I64, c.args[0][1])]))).property().doc("The address of the first element."),
];
