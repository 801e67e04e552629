//! What a parallel loop keeps of the best of all: `if x > m: m = int(x)`.
//!
//! Where the conversion keeps order and changes nothing that has gone through it, the loop gives the greatest
//! `int(x)`, and so do its pieces, one after the other. That needs two things of what the variable begins
//! with: no `x` above it may be converted to something below it, and none below it to something above. `m =
//! 0.5` is no beginning for `int(x)`: 0.7 would make it 0.

use super::{Body, OpDef, id};
use crate::diag::{Code, Diagnostic, Result};
use crate::types::{Const, Float, Int, Kind, NumberType, Type};
use crate::typing::{Answer, Arg, TyCx};

super::identity::op_ids! {
    PARALLEL_CHECK_KEPT = "parallel.check_kept",
}

pub(crate) static OPS: &[OpDef] = &[OpDef::new(
    &["parallel.check_kept"],
    "start, function, x, kept, followed",
    Body::Lir(rule, |_, _| Ok(vec![])),
)
.doc("Refuses what is kept of the best where it may be ordered otherwise.")];

/// What a conversion does to numbers.
enum Conversion {
    /// Gives what it gets.
    Same,
    /// Rounds to a whole number.
    Whole,
    /// Rounds to what the type holds.
    Rounds(Float),
}

fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let [start, function, x, _, followed] = args else { return Err(Diagnostic::internal("check_kept")) };
    let followed = followed.konst == Some(Const::Bool(true));
    let fits = match conversion(function.ty, x.ty) {
        Some(Conversion::Same) => true,
        // Where several values become one, each of them would count as better than it.
        Some(_) if followed => false,
        Some(Conversion::Whole) => is_whole(start),
        Some(Conversion::Rounds(to)) => holds(to, start),
        None => false,
    };
    if fits {
        return Ok(Answer::of(Type::none()));
    }
    Err(Diagnostic::new(Code::ParallelRace, "an iteration of this prange loop compares one value and keeps another one, so that what it finds depends on what other iterations have left")
        .help("compare what is kept: y = int(x); if y > m: m = y"))
}

fn conversion(function: Type, x: Type) -> Option<Conversion> {
    let from_float = match x.number()? {
        NumberType::Bool | NumberType::Int(_) => None,
        NumberType::Float(f) => Some(f),
        NumberType::Complex(_) => return None,
    };
    if let Kind::DType(to) = *function {
        return match to.number()? {
            NumberType::Float(f) => to_float(f, x),
            // What does not fit is something else.
            NumberType::Int(to) => (from_float.is_none() && contains(to, x)).then_some(Conversion::Same),
            NumberType::Bool | NumberType::Complex(_) => None,
        };
    }
    let Kind::Builtin(function) = *function else { return None };
    match function {
        id::BUILTINS_INT | id::BUILTINS_ROUND | id::MATH_FLOOR | id::MATH_CEIL | id::MATH_TRUNC => {
            Some(if from_float.is_some() { Conversion::Whole } else { Conversion::Same })
        }
        id::NUMPY_FLOOR | id::NUMPY_CEIL | id::NUMPY_TRUNC | id::NUMPY_RINT | id::NUMPY_ROUND => {
            from_float.map(|_| Conversion::Whole)
        }
        id::BUILTINS_FLOAT => to_float(Float::F64, x),
        _ => None,
    }
}

fn to_float(to: Float, x: Type) -> Option<Conversion> {
    let exact =
        if let Kind::Float(f) = *x { f == Float::F32 || to != Float::F32 } else { bits(x) <= digits(to) };
    Some(if exact { Conversion::Same } else { Conversion::Rounds(to) })
}

/// Binary digits of a float's fraction.
fn digits(f: Float) -> u32 {
    if f == Float::F32 { 24 } else { 53 }
}

/// Binary digits of the greatest value of a type of integers.
fn bits(t: Type) -> u32 {
    match t.number() {
        Some(NumberType::Bool) => 1,
        Some(NumberType::Int(i)) => match i {
            Int::I8 => 7,
            Int::U8 => 8,
            Int::I16 => 15,
            Int::U16 => 16,
            Int::I32 => 31,
            Int::U32 => 32,
            Int::I64 | Int::Py => 63,
            Int::U64 | Int::Big => 64,
        },
        Some(NumberType::Float(_) | NumberType::Complex(_)) | None => u32::MAX,
    }
}

fn contains(to: Int, x: Type) -> bool {
    let unsigned = |i: Int| !i.signed();
    let same_sign = if let Kind::Int(from) = *x { unsigned(from) || !unsigned(to) } else { true };
    same_sign && bits(x) <= bits(Type::int_of(to))
}

/// Whether a variable begins with a whole number, an infinity, or nothing.
fn is_whole(start: &Arg) -> bool {
    match &start.konst {
        Some(Const::Float(f)) => f.fract() == 0.0 || f.is_infinite(),
        Some(_) | None => {
            matches!(*start.ty.without_none(), Kind::Bool | Kind::Int(_) | Kind::None)
        }
    }
}

/// Whether a variable begins with a number that a type holds, or with nothing.
fn holds(to: Float, start: &Arg) -> bool {
    let exact = |f: f64| to != Float::F32 || f64::from(f as f32) == f;
    match &start.konst {
        Some(Const::Float(f)) => exact(*f),
        Some(Const::Int(i)) => i.unsigned_abs() < 1 << digits(to),
        Some(_) | None => {
            let t = start.ty.without_none();
            if let Kind::Float(f) = *t {
                f == Float::F32 || to != Float::F32
            } else {
                *t == Kind::None || bits(t) <= digits(to)
            }
        }
    }
}
