//! Calls of C functions that the host hands over by address: `ctypes` and `cffi` functions,
//! `scipy.special.cython_special`. The address lies in an array that the calling function captures, so code
//! in the cache holds none.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::{Alias, Op, Ty, Value};
use crate::rt::P;
use crate::types::{Kind, Type, parse};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    ARRAY_CTYPES = "array.ctypes",
    INTRINSIC = "operator._intrinsic",
}

crate::runtime_fns! {
    /// C functions.
    trait Helpers;
    /// Calls the function at `addr` with arguments in the order of their registers: [`INTS`] integers or
    /// pointers, [`FLOATS`] floats; what has found no register lies in the `more` words of `stack`. `result`
    /// says what it gives: 0 an integer, a pointer or nothing, 1 a double, 2 a float; floats come back as
    /// bits.
    fn c_call(addr: i64, ints: P, floats: P, stack: P, more: i64, result: i64) -> i64 [Writes, Never];
}

/// Registers that integers and floats are passed in: System V's on x86-64, those of AArch64's standard.
pub const INTS: usize = if cfg!(target_arch = "aarch64") { 8 } else { 6 };
pub const FLOATS: usize = 8;
/// The most words that are passed over the stack.
pub const STACK: usize = 24;

/// What a C function takes or gives.
#[derive(Clone, Copy)]
pub(super) enum CType {
    Number(Type),
    /// What it points to is known where it is numbers.
    Pointer(Option<Type>),
}

impl CType {
    fn is_float(self) -> bool {
        matches!(self, CType::Number(t) if t.is_float())
    }

    fn parse(text: &str) -> Option<CType> {
        let text = text.trim();
        let Some(rest) = text.strip_prefix("pointer") else {
            return parse::parse(text).ok().map(CType::Number);
        };
        if rest.is_empty() {
            return Some(CType::Pointer(None));
        }
        parse::parse(rest.strip_prefix('(')?.strip_suffix(')')?).ok().map(|t| CType::Pointer(Some(t)))
    }

    pub(super) fn describe(self) -> String {
        match self {
            CType::Number(t) => t.to_string(),
            CType::Pointer(None) => "a pointer".into(),
            CType::Pointer(Some(t)) => format!("a pointer to {t}"),
        }
    }
}

/// `float64(float64, pointer, pointer(float32))`: the result, then the arguments.
pub(super) fn signature(text: &str) -> Option<(CType, Vec<CType>)> {
    let one = CType::parse;
    let (ret, rest) = text.split_once('(')?;
    let inside = rest.strip_suffix(')')?;
    let args = if inside.trim().is_empty() { Some(vec![]) } else { inside.split(',').map(one).collect() };
    Some((one(ret)?, args?))
}

fn of_call(args: &[Arg]) -> Result<(CType, Vec<CType>)> {
    args[1].text().and_then(signature).ok_or_else(|| no_match("a C function", args))
}

/// The elements of the array whose memory a value stands for where a pointer is wanted: an array, or what its
/// `ctypes` attribute is.
pub(super) fn memory(t: Type) -> Option<Type> {
    let t = if let Kind::Method(ids::ARRAY_CTYPES, of) = *t { of } else { t };
    t.as_array().map(|a| a.dtype)
}

/// Whether memory of these elements is what a pointer is declared for. Integers of one width are read as what
/// they are declared as.
pub(super) fn points_to(wanted: Option<Type>, elements: Type) -> bool {
    let whole = |t: Type| t.is_int() || *t == Kind::Bool;
    wanted.is_none_or(|t| t == elements || whole(t) && whole(elements) && t.itemsize() == elements.itemsize())
}

fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (ret, wanted) = of_call(args)?;
    let given = &args[2..];
    if given.len() != wanted.len() {
        return Err(Diagnostic::new(
            Code::BadCall,
            format!("a C function of {} arguments is called with {}", wanted.len(), given.len()),
        ));
    }
    let mut coerce = vec![args[0].ty, args[1].ty];
    for (a, want) in given.iter().zip(&wanted) {
        match want {
            CType::Number(t)
                if a.ty.is_number()
                    && t.is_number()
                    && !t.is_complex()
                    && !a.ty.is_complex()
                    && !(a.ty.is_float() && !t.is_float()) =>
            {
                coerce.push(*t)
            }
            CType::Pointer(t)
                if memory(a.ty).is_some_and(|e| points_to(*t, e)) || a.ty.is_int() || a.is_none() =>
            {
                coerce.push(a.ty)
            }
            CType::Number(_) | CType::Pointer(_) => {
                let help = match want {
                    CType::Number(_) => "convert it first",
                    CType::Pointer(Some(_)) if memory(a.ty).is_some() => {
                        "convert the array by astype(), or view its memory as what it is by view()"
                    }
                    CType::Pointer(_) => "pass an array, its ctypes attribute, or an address",
                };
                return Err(Diagnostic::new(
                    Code::NoMatchingOperation,
                    format!(
                        "a C function takes {} here, not {}",
                        want.describe(),
                        if let Kind::Method(ids::ARRAY_CTYPES, of) = *a.ty { of } else { a.ty }
                    ),
                )
                .help(help));
            }
        }
    }
    if places(&wanted).1 > STACK {
        return Err(no_match("a C function", args));
    }
    Ok(Answer::coerced(
        match ret {
            CType::Number(t) => t,
            CType::Pointer(_) => Type::int(),
        },
        coerce,
    ))
}

/// Where an argument goes: which register of its kind, or which word of the stack.
#[derive(Clone, Copy)]
enum Place {
    Int(usize),
    Float(usize),
    Stack(usize),
}

/// The place of each argument, and how many words of the stack there are.
fn places(wanted: &[CType]) -> (Vec<Place>, usize) {
    let (mut ints, mut floats, mut stack) = (0, 0, 0);
    let mut next = |w: &CType| {
        let (count, most, place): (&mut usize, usize, fn(usize) -> Place) =
            if w.is_float() { (&mut floats, FLOATS, Place::Float) } else { (&mut ints, INTS, Place::Int) };
        let (count, place) =
            if *count < most { (count, place) } else { (&mut stack, Place::Stack as fn(usize) -> Place) };
        *count += 1;
        place(*count - 1)
    };
    let found = wanted.iter().map(&mut next).collect();
    (found, stack)
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let all: Vec<Arg> = c.types.iter().zip(c.consts).map(|(t, k)| Arg { ty: *t, konst: k.clone() }).collect();
    let (ret, wanted) = of_call(&all)?;
    let (found, more) = places(&wanted);
    let (ints, floats) = (cx.b.slot_addr(8 * INTS as u32), cx.b.slot_addr(8 * FLOATS as u32));
    // The helper reads all words of the size that it passes.
    let stack = if more > 0 { cx.b.slot_addr(8 * STACK as u32) } else { ints };
    for (((v, t), want), place) in c.args[2..].iter().zip(&c.types[2..]).zip(&wanted).zip(found) {
        let word: Value = match want {
            CType::Number(w) if w.is_float() => v[0],
            CType::Number(_) => cast::to_i64(cx, v[0], *t),
            CType::Pointer(_) if memory(*t).is_some() => cx.b.conv(Op::Bitcast, Ty::I64, v[1]),
            CType::Pointer(_) if v.is_empty() => cx.b.i64(0),
            CType::Pointer(_) => cast::to_i64(cx, v[0], *t),
        };
        let (base, at) = match place {
            Place::Int(k) => (ints, k),
            Place::Float(k) => (floats, k),
            Place::Stack(k) => (stack, k),
        };
        cx.b.store(word, base, 8 * at as i32, Alias::Stack);
    }
    let ret = match ret {
        CType::Number(t) => Some(t),
        CType::Pointer(_) => None,
    };
    let kind = match ret {
        Some(t) if t.is_float() => {
            if t.itemsize() == 4 {
                2
            } else {
                1
            }
        }
        Some(_) | None => 0,
    };
    let (addr, more, kind) =
        (cast::to_i64(cx, c.args[0][0], c.types[0]), cx.b.i64(more as i64), cx.b.i64(kind));
    let bits = cx.helper_value(&c_call, &[addr, ints, floats, stack, more, kind]);
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
        Some(t) => match t.scalar_ty() {
            Some(ty) => vec![cast::resize(cx, bits, true, ty)],
            None => vec![],
        },
    })
}

fn address_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if memory(args[0].ty).is_some() {
        Ok(Answer::of(Type::int()))
    } else {
        Err(no_match("ctypes.data", args))
    }
}

/// The row of what a code generator has written.
pub(crate) fn intrinsic() -> &'static OpDef {
    &OPS[0]
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["operator._intrinsic"],
        "*operands",
        Body::Lir(
            |_, a| Err(no_match("an intrinsic", a)),
            |_, _| Err(Diagnostic::internal("an intrinsic is lowered as a whole")),
        ),
    )
    .writes()
    .raises()
    .aliases()
    .internal()
    .doc("What generated code does with its operands, which may be anything (`tierup.extending.intrinsic`)."),
    OpDef::new(&["numpy._c_call"], "address, signature, *args", Body::Lir(rule, emit))
        .writes()
        .doc("Calls a C function by its address (library use)."),
    OpDef::new(&["array.ctypes"], "a", Body::Lir(|_, a| Err(no_match("ctypes()", a)), |_, _| Ok(vec![])))
        .doc("The memory of an array, for C functions."),
    OpDef::new(
        &["array.ctypes.data"],
        "c",
        Body::Lir(address_rule, |cx, c| Ok(vec![cx.b.conv(Op::Bitcast, Ty::I64, c.args[0][1])])),
    )
    .property()
    .doc("The address of the first element."),
];
