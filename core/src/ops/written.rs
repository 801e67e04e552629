//! Bodies that are written for one call, out of what is constant in it: `"{:>{}}".format(x, n)` does what its
//! format says, one operation after the other.
//!
//! A program is a straight line of operations on the operands and on each other. What it writes down depends
//! on the constants and types of a call alone, so calls that are alike share one function.

use super::id;
use crate::diag::Result;
use crate::exc::Class;
use crate::handle::OpId;
use crate::types::{Const, Kind, Type};
use crate::typing::Arg;
use std::sync::Arc;

/// A call as it was written.
pub struct Called<'a> {
    pub given: &'a [Arg],
    pub named: &'a [(Arc<str>, Arg)],
}

/// Writes the body of a call.
pub type Write = fn(&Called<'_>) -> Result<Program>;

/// The value of an earlier step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub u32);

#[derive(Clone, Debug)]
pub enum Step {
    /// An operand of the call, those by name behind the others.
    Operand(usize),
    Const(Const),
    /// An operation of the table.
    Do(OpId, Vec<At>),
    /// An attribute of a value.
    Attr(Arc<str>, At),
    /// A member of a tuple.
    Member(u32, At),
}

/// Steps, the last of which gives the result.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub steps: Vec<Step>,
}

impl Program {
    pub(crate) fn step(&mut self, step: Step) -> At {
        self.steps.push(step);
        At(self.steps.len() as u32 - 1)
    }
    pub(crate) fn operand(&mut self, k: usize) -> At {
        self.step(Step::Operand(k))
    }
    pub(crate) fn constant(&mut self, c: Const) -> At {
        self.step(Step::Const(c))
    }
    pub(crate) fn text(&mut self, s: &str) -> At {
        self.constant(Const::Str(s.into()))
    }
    pub(crate) fn int(&mut self, i: i64) -> At {
        self.constant(Const::Int(i))
    }
    pub(crate) fn apply(&mut self, op: OpId, args: &[At]) -> At {
        self.step(Step::Do(op, args.to_vec()))
    }
    /// Raises when this is reached; whatever is written behind it is not.
    pub(crate) fn raise(&mut self, class: Class, text: &str) -> At {
        let (class, text) = (self.int(class as i64), self.text(text));
        self.apply(id::EXC_RAISE, &[class, text])
    }
    /// The texts put together.
    pub(crate) fn joined(&mut self, parts: &[At]) -> At {
        match parts {
            [] => self.text(""),
            // The step that made it need not be the last one.
            [one] => self.apply(id::BUILTINS_STR, &[*one]),
            several => self.apply(id::STR_CONCAT_ALL, several),
        }
    }
}

/// How CPython's messages call the class of a value; none where only the running program can say.
#[expect(clippy::wildcard_enum_match_arm, reason = "of other types no name is known, or none is asked for")]
pub(crate) fn class_name(t: Type) -> Option<String> {
    match t.kind() {
        Kind::NamedTuple(class, _) if class.is_keywords() => Some("dict".into()),
        Kind::Array(_) => Some("numpy.ndarray".into()),
        Kind::Simd(..) => Some("Vec".into()),
        Kind::Container(c, _) => Some(c.full_name().into()),
        Kind::None
        | Kind::Ellipsis
        | Kind::Bool
        | Kind::Int(_)
        | Kind::Float(_)
        | Kind::Complex(_)
        | Kind::Str
        | Kind::Bytes
        | Kind::Tuple(_)
        | Kind::NamedTuple(..)
        | Kind::Frozen(..)
        | Kind::Object(..)
        | Kind::Member(_)
        | Kind::List(_)
        | Kind::Range(_)
        | Kind::Slice(_) => Some(super::order::class_name(t)),
        _ => None,
    }
}
