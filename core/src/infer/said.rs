//! What Python says where something is done to a value of one of several types that this one does not take: an error of
//! the running program, and not of the function.

use super::answers::nobody_answers;
use super::special::class_of;
use super::state::Solver;
use crate::classes::slots::{self, Slot};
use crate::diag::{Code, Diagnostic};
use crate::ops::{OpId, id};
use crate::ssa::{Inst, Op, Value};
use crate::types::{Kind, Type};
use crate::typing::Arg;

impl Solver<'_, '_> {
    /// Whether what is refused of one of several values is an error of Python's when that value comes. Of Python's own
    /// values it must be known that it is: what is only not compiled stays refused.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of nothing else it is known that it is an error of Python's"
    )]
    pub(super) fn raises_when_it_comes(&self, i: Inst, e: &Diagnostic, of: Type) -> bool {
        if e.notes.iter().any(|note| note.1.is_some()) {
            return false;
        }
        match e.code {
            Code::NoMatchingOperation => {
                e.said.is_some() || !is_plain(of) && !self.may_stand_for_a_number(i, of)
            }
            // What Python's own classes have beside their methods is only not compiled.
            Code::UnknownAttribute => !is_plain(of) || e.said.as_ref().is_some_and(|s| !s.contains("'__")),
            Code::AmbiguousDispatch => true,
            Code::BadCall => self.func.inst(i).op == Op::Table(id::UNPACK_SEQUENCE),
            _ => false,
        }
    }
}

impl Solver<'_, '_> {
    /// Whether an operation may ask a value for the number or the array that it stands for, which is not compiled.
    /// Operators do not, but for those of arrays, and formats.
    fn may_stand_for_a_number(&self, i: Inst, t: Type) -> bool {
        let inst = self.func.inst(i);
        let is_array = |v: &Value| self.ty(*v).without_none().as_array().is_some();
        if let Op::Table(op) = inst.op {
            let first = inst.args.first();
            // For an object that is no index it raises IndexError.
            if matches!(op, id::GETITEM | id::SETITEM | id::DELITEM) && first.is_some_and(is_array) {
                return class_of(t).is_some();
            }
            let text = |v: &Value| matches!(*self.ty(*v), Kind::Str | Kind::Bytes);
            let formats = op == id::MOD && first.is_some_and(text);
            if slots::of_two(op).is_some() && !formats && !inst.args.iter().any(is_array) {
                return false;
            }
        }
        class_of(t).is_some_and(|c| STANDS_FOR.iter().any(|slot| self.has_own(c, *slot).is_some()))
    }
}

/// What gives a number or an array for a value.
const STANDS_FOR: &[Slot] = &[
    Slot::Index,
    Slot::Int,
    Slot::Float,
    Slot::Complex,
    Slot::Array,
    Slot::ArrayUfunc,
    Slot::ArrayFunction,
    Slot::ArrayInterface,
    Slot::ArrayStruct,
];

/// Whether values of a type are Python's own.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other is a value by itself")]
fn is_plain(t: Type) -> bool {
    match t.kind() {
        Kind::Variant(m) => m.iter().any(|t| is_plain(*t)),
        Kind::Optional(t) => is_plain(*t),
        Kind::Tuple(_) | Kind::List(_) | Kind::Container(..) | Kind::Range(_) | Kind::Generator(..) => true,
        _ => is_scalar(t),
    }
}

/// How Python calls what is indexed, where it is a sequence and the index is none.
#[expect(clippy::wildcard_enum_match_arm, reason = "of other values no index is none")]
fn indices_of(operands: &[Arg]) -> Option<&'static str> {
    let [of, index] = operands else { return None };
    if !is_scalar(index.ty) || index.ty.is_index() {
        return None;
    }
    match of.ty.kind() {
        Kind::List(_) => Some("list"),
        Kind::Tuple(_) => Some("tuple"),
        Kind::Str => Some("string"),
        Kind::Bytes => Some("byte"),
        _ => None,
    }
}

fn is_scalar(t: Type) -> bool {
    t.is_weak() || matches!(*t, Kind::None | Kind::Bool | Kind::Str | Kind::Bytes)
}

/// What Python says where an operation is done to such values of its own, if it is an error of which that is known.
pub(super) fn said_of(op: OpId, operands: &[Arg]) -> Option<String> {
    let name = |k: usize| {
        let of = operands.get(k).filter(|a| is_plain(a.ty))?;
        crate::ops::written::class_name(of.ty)
    };
    let (first, sign) = (name(0)?, crate::typing::refusal::spelling(op.name()));
    let is_none = |k: usize| operands.get(k).is_some_and(|a| *a.ty == Kind::None);
    let is_number = |k: usize| is_none(k) || operands.get(k).is_some_and(|a| a.ty.is_number());
    match op {
        id::BUILTINS_NEXT if is_none(0) => return Some(format!("'{first}' object is not an iterator")),
        id::BUILTINS_REVERSED | id::REVERSED_OBJECT if is_none(0) => {
            return Some(format!("'{first}' object is not reversible"));
        }
        id::ITER_OBJECT if is_none(0) => return Some(format!("'{first}' object is not iterable")),
        _ => {}
    }
    if let (id::UNPACK_SEQUENCE | id::UNPACK_EX, true) = (op, is_number(0)) {
        return Some(format!("cannot unpack non-iterable {first} object"));
    }
    if let [_] = operands {
        return match sign.as_str() {
            "unary -" | "unary +" | "~" => {
                let sign = sign.trim_start_matches("unary ");
                Some(format!("bad operand type for unary {sign}: '{first}'"))
            }
            "abs()" if !is_number(0) || is_none(0) => Some(format!("bad operand type for abs(): '{first}'")),
            "int()" if is_none(0) => {
                let takes = "a string, a bytes-like object or a real number";
                Some(format!("int() argument must be {takes}, not '{first}'"))
            }
            "float()" if is_none(0) => {
                Some(format!("float() argument must be a string or a real number, not '{first}'"))
            }
            "round()" if is_none(0) => Some(format!("type {first} doesn't define __round__ method")),
            "chr()" | "range()" | "bin()" | "oct()" | "hex()" if is_none(0) => {
                Some(format!("'{first}' object cannot be interpreted as an integer"))
            }
            "ord()" if is_number(0) => Some(format!("ord() expected string of length 1, but {first} found")),
            "len()" if is_number(0) => Some(format!("object of type '{first}' has no len()")),
            "iter()" | "list()" | "tuple()" | "set()" | "frozenset()" | "sorted()" | "sum()" | "any()"
            | "all()" | "enumerate()" | "min()" | "max()"
                if is_number(0) =>
            {
                Some(format!("'{first}' object is not iterable"))
            }
            _ => None,
        };
    }
    match sign.as_str() {
        "indexing" if let Some(kind) = indices_of(operands) => {
            let second = name(1)?;
            return Some(match kind {
                "string" => format!("string indices must be integers, not '{second}'"),
                kind => format!("{kind} indices must be integers or slices, not {second}"),
            });
        }
        "indexing" if is_number(0) => return Some(format!("'{first}' object is not subscriptable")),
        "item assignment" | "item deletion" => {
            if let Some("list") = indices_of(&operands[..2]) {
                return Some(format!("list indices must be integers or slices, not {}", name(1)?));
            }
            let sequence = matches!(*operands[0].ty, Kind::Str | Kind::Bytes | Kind::Tuple(_));
            let by_place = sequence && operands.get(1).is_some_and(|a| a.ty.is_index());
            let does_not = if by_place && sign == "item deletion" { "doesn't" } else { "does not" };
            let takes_none = sequence || is_number(0) || is_scalar(operands[0].ty);
            return takes_none.then(|| format!("'{first}' object {does_not} support {sign}"));
        }
        "in" if is_number(0) => return Some(format!("argument of type '{first}' is not iterable")),
        _ => {}
    }
    let second = name(1)?;
    if sign == "in" && *operands[0].ty == Kind::Str && is_scalar(operands[1].ty) {
        return Some(format!("'in <string>' requires string as left operand, not {second}"));
    }
    if sign == "divmod()" && is_scalar(operands[0].ty) && is_scalar(operands[1].ty) {
        return Some(nobody_answers(&sign, operands));
    }
    // What is not done with two containers may only be not compiled.
    if sign == "in" || sign.len() > 2 || !is_scalar(operands[0].ty) && !is_scalar(operands[1].ty) {
        return None;
    }
    let is_sequence = |k: usize| {
        matches!(*operands[k].ty, Kind::Str | Kind::Bytes | Kind::List(_) | Kind::Tuple(_))
            || operands[k].ty.is_tuple_of_any_length()
    };
    Some(match sign.as_str() {
        "==" | "!=" => return None,
        "%" if matches!(*operands[0].ty, Kind::Str | Kind::Bytes) => return None,
        "*" if is_sequence(0) || is_sequence(1) => {
            let (of, other) = if is_sequence(0) { (1, second) } else { (0, first) };
            if operands[of].ty.is_index() {
                return None;
            }
            format!("can't multiply sequence by non-int of type '{other}'")
        }
        "+" if *operands[0].ty == Kind::Bytes => format!("can't concat {second} to bytes"),
        "+" if is_sequence(0) => format!("can only concatenate {first} (not \"{second}\") to {first}"),
        sign => nobody_answers(sign, operands),
    })
}
