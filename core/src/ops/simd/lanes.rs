//! What rules and emitters of vectors share: numbers of lanes, places of lanes.

use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::LowerCx;
use crate::exc::Class;
use crate::lir::{Alias, Op, Value};
use crate::types::{Const, Kind, Type};
use crate::typing::{Arg, no_match};

/// A number of lanes, which is part of a type.
pub(super) fn lane_count(what: &str, n: &Arg) -> Result<usize> {
    let Some(n) = n.konst.as_ref().and_then(Const::as_int) else {
        let text = format!(
            "{what} must know when it is compiled how many lanes there are: they are part of the type"
        );
        return Err(Diagnostic::new(Code::RequiresConstant, text)
            .help("write the number itself, or a global or `static` variable"));
    };
    usize::try_from(n).ok().filter(|n| n.is_power_of_two() && (2..=64).contains(n)).ok_or_else(|| {
        let text = format!("a vector has 2, 4, 8, 16, 32 or 64 lanes, not {n}");
        Diagnostic::new(Code::NoMatchingOperation, text)
    })
}

/// The vector of `n` lanes of a number's type.
pub(super) fn vector_of(t: Type, n: usize, what: &str, args: &[Arg]) -> Result<Type> {
    Type::simd(t, n).ok_or_else(|| no_match(what, args))
}

pub(super) fn simd(arg: &Arg) -> Option<(Type, usize)> {
    arg.ty.as_simd()
}

/// Words in which lanes are spilled, and a lane of those at a place that is in bounds.
pub(super) fn lane_at(cx: &mut LowerCx<'_>, spilled: Value, lane: Value, place: Value) -> Value {
    let ty = cx.b.ty(lane);
    let offset = cx.b.bin_imm(Op::Imul, place, 8);
    let at = cx.b.ptr_add(spilled, offset);
    cx.b.load(ty, at, 0, Alias::Stack)
}

/// The lane that an index means which is not known when the code is made, or those that a vector of them means;
/// IndexError outside of them.
pub(super) fn checked_lane(cx: &mut LowerCx<'_>, i: Value, n: usize) -> Value {
    let n = cx.b.i64(n as i64);
    let at = cx.wrap_index(i, n);
    let ok = cx.b.bin(Op::IcmpUlt, at, n);
    let ok = if cx.b.ty(ok).is_vector() { cx.b.un(Op::EveryLane, ok) } else { ok };
    cx.check(ok, Class::IndexError, "lane out of range");
    at
}

/// A mask of `n` lanes.
pub(super) fn is_mask(a: &Arg, n: usize) -> bool {
    simd(a).is_some_and(|(t, m)| *t == Kind::Bool && m == n)
}
