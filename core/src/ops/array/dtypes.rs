//! Facts about element types, and which may be cast to which.

use super::{Result1, array, element_type};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, product};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::writing::extents_meet;
use crate::lir::Op;
use crate::ops::dtype::dtype_arg;
use crate::types::{Const, Float, Int, Kind, NumberType, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(super) fn dtype_fact(args: &[Arg], fact: impl FnOnce(Type) -> Const) -> Result1 {
    Ok(Answer::constant(fact(dtype_arg(&args[0]).ok_or_else(|| no_match("a dtype's attribute", args))?)))
}

pub(super) fn kind_letter(t: Type) -> &'static str {
    match t.number() {
        Some(NumberType::Bool) => "b",
        Some(NumberType::Int(i)) => {
            if i.signed() {
                "i"
            } else {
                "u"
            }
        }
        Some(NumberType::Float(_)) => "f",
        Some(NumberType::Complex(_)) | None => "c",
    }
}

pub(super) fn char_code(t: Type) -> &'static str {
    match t.number() {
        Some(NumberType::Bool) => "?",
        Some(NumberType::Int(i)) => match i {
            Int::I8 => "b",
            Int::I16 => "h",
            Int::I32 => "i",
            Int::I64 | Int::Py => "l",
            Int::U8 => "B",
            Int::U16 => "H",
            Int::U32 => "I",
            Int::U64 | Int::Big => "L",
        },
        Some(NumberType::Float(Float::F16)) => "e",
        Some(NumberType::Float(Float::F32)) => "f",
        Some(NumberType::Float(Float::F64 | Float::Py)) => "d",
        Some(NumberType::Complex(Float::F16 | Float::F32)) => "F",
        Some(NumberType::Complex(Float::F64 | Float::Py)) | None => "D",
    }
}

pub(super) fn result_type_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let mut all: Option<Type> = None;
    for a in args {
        let t = match a.ty.as_array() {
            Some(t) => t.dtype,
            None if a.ty.is_number() => a.ty,
            None => dtype_arg(a).ok_or_else(|| no_match("result_type()", args))?,
        };
        all = Some(all.map_or(t, |x| crate::types::promote::result_type(x, t)));
    }
    Ok(Answer::of(Type::new(Kind::DType(all.ok_or_else(|| no_match("result_type()", args))?.strong()))))
}

/// `np.iinfo` and `np.finfo` of a dtype, a number or an array.
pub(super) fn info_rule(args: &[Arg], info: crate::ops::OpId, fits: fn(Type) -> bool) -> Result1 {
    let t = dtype_arg(&args[0]).unwrap_or(element_type(args[0].ty)).strong();
    let t = if let Kind::Complex(f) = *t { Type::float_of(f) } else { t };
    if !fits(t) {
        return Err(no_match(info.name(), args));
    }
    Ok(Answer::of(Type::new(Kind::Method(info, Type::new(Kind::DType(t))))))
}

/// The type that `np.iinfo` or `np.finfo` is about.
pub(super) fn info(args: &[Arg]) -> Result<Type> {
    if let Kind::Method(_, t) = *args[0].ty
        && let Kind::DType(t) = *t
    {
        Ok(t)
    } else {
        Err(no_match("a type's limit", args))
    }
}

pub(super) fn int_limits(t: Type) -> Result<(Const, Const)> {
    let Kind::Int(i) = *t else { return Err(Diagnostic::internal(format!("{t} is no integer"))) };
    let bits = i.bits();
    Ok(match (i.signed(), bits) {
        (true, _) => (Const::Int(-1i64 << (bits - 1)), Const::Int(!(-1i64 << (bits - 1)))),
        (false, 64) => (Const::Int(0), Const::UInt(u64::MAX)),
        (false, _) => (Const::Int(0), Const::Int((1i64 << bits) - 1)),
    })
}

pub(super) fn float_limit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, single: f32, double: f64) -> Result<Val> {
    Ok(vec![if c.ret.itemsize() == 4 { cx.b.f32(single) } else { cx.b.f64(double) }])
}

// ---- casting rules

/// Whether NumPy converts elements of one type to another under a casting rule; none for an unknown rule.
pub(super) fn can_cast(from: Type, to: Type, rule: &str) -> Option<bool> {
    // Of a Python number the kind alone counts: it is checked when it is stored.
    let weak = from.is_weak()
        && (from.is_index() && !to.is_complex() && *to != Kind::Bool && !to.is_float()
            || crate::ops::ufunc::same_kind(from, to));
    Some(match rule {
        "safe" | "same_kind" if weak => true,
        "no" | "equiv" => from.strong() == to,
        "safe" => crate::types::promote::result_type(from.strong(), to) == to,
        "same_kind" => crate::ops::ufunc::same_kind(from, to),
        "unsafe" => true,
        _ => return None,
    })
}

/// A type as a dtype object.
pub(crate) fn dtype_of(t: Type) -> Type {
    Type::new(Kind::DType(t.strong()))
}

/// Python's own numbers take the type of what they meet, where there is something of their kind or a higher
/// one; else they have their own: 2.5 beside int8 is a float64.
pub(super) fn takes_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let to = dtype_arg(&args[0]).ok_or_else(|| no_match("_takes()", args))?;
    let element = |a: &Arg| a.ty.as_array().map_or(a.ty, |t| t.dtype);
    let rank = |t: Type| {
        if t.is_complex() {
            3
        } else if t.is_float() {
            2
        } else {
            i32::from(*t != Kind::Bool)
        }
    };
    let met = args[2..].iter().map(element).filter(|t| !t.is_weak()).map(rank).max();
    let own = element(&args[1]);
    let from = if own.is_weak() && met.is_none_or(|m| m < rank(own)) { own.strong() } else { own };
    Ok(Answer::constant(Const::Bool(from.is_number() && can_cast(from, to, "safe") == Some(true))))
}

pub(super) fn check_casting(from: Type, to: Type, casting: &Arg) -> Result<()> {
    let rule = casting
        .text()
        .ok_or_else(|| Diagnostic::new(Code::RequiresConstant, "casting must be a constant string"))?;
    match can_cast(from, to, rule) {
        Some(true) => Ok(()),
        Some(false) => Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!(
                "Cannot cast array data from dtype('{}') to dtype('{to}') according to the rule '{rule}'",
                from.strong()
            ),
        )),
        None => Err(Diagnostic::new(
            Code::NoMatchingOperation,
            "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe'",
        )),
    }
}

pub(super) fn check_cast_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let from = element_type(args[0].ty);
    if from.is_number() {
        check_casting(from, array(&args[1..])?.dtype, &args[2])?;
    }
    Ok(Answer::of(Type::none()))
}

pub(super) fn share_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    if args[..2].iter().any(|a| a.ty.as_array().is_none()) || *args[2].ty != Kind::None {
        return Err(no_match("may_share_memory()", args));
    }
    Ok(Answer::of(Type::bool()))
}

pub(super) fn emit_share(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, b) = (ArrayVal::new(cx, &c.args[0], c.types[0])?, ArrayVal::new(cx, &c.args[1], c.types[1])?);
    let mut meet = extents_meet(cx, &a, &b);
    for x in [&a, &b] {
        let size = product(cx, &x.shape);
        let some = cx.b.bin_imm(Op::IcmpNe, size, 0);
        meet = cx.and(meet, some);
    }
    Ok(vec![meet])
}
