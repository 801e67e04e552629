//! What the iterations of a parallel loop share, as classification finds it: variables that the loop carries,
//! elements that pieces have copies of, code that runs more or less often than in the plain loop.

use crate::ops::{OpId, id};
use crate::ssa::loops::Doubt;
use crate::ssa::{Block, Inst, Value};
use std::collections::{HashMap, HashSet};

/// How the results of two pieces of the range become one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// `acc = path(acc, part)`; pieces begin with what `neutral` makes of the first value. `swapped`: the
    /// part comes first.
    Binary { path: OpId, neutral: OpId, swapped: bool },
    /// `acc = callee(acc, part)`: `min`, `max`; `swapped`: the part comes first. Then Python's functions take
    /// a NaN and forget it at the next value: it `resets`. `several`: sometimes the one, sometimes the other.
    Choose { callee: Value, swapped: bool, resets: bool, several: bool },
    /// `acc = acc and part`, or `or`.
    Truth { and: bool },
    /// `if part > acc: acc = part`: `path` compares, the new value first unless `swapped`; it is taken where
    /// the answer is `taken`. What is compared is found by the steps of `via`; without a `path` the first one
    /// counts.
    Select { path: Option<OpId>, via: Vec<Step>, swapped: bool, taken: bool, missing: Missing, flag: bool },
    /// Changes together with another variable, a `Select` or a `Truth`.
    Follow { leader: usize },
    /// What the last iteration left, or the last one that left something.
    Last { flag: bool },
}

/// When a variable that is the best of all has no value yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Missing {
    Never,
    /// While it is None.
    None,
    /// While a comparison with a constant gives this answer: `best == -1`, `best < 0`. The loop's index, which is
    /// all that it is set to, gives the other one. `swapped`: the constant comes first.
    Marked {
        test: OpId,
        with: Value,
        swapped: bool,
        answer: bool,
    },
}

/// A variable that the loop carries.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    /// Its place among the header's parameters.
    pub at: usize,
    pub param: Value,
    /// Before the loop.
    pub init: Value,
    pub kind: Kind,
    pub versions: HashSet<Value>,
    /// Of what is chosen: where that happens.
    pub choice: Choice,
}

/// What iterations share.
#[derive(Default)]
pub(crate) struct Shared {
    pub carried: Vec<Carried>,
    /// Lists from outside that iterations append to and do nothing else with.
    pub lists: Vec<Value>,
    /// Arrays and lists from outside that iterations add to, element by element.
    pub privatised: Vec<Privatised>,
    /// Stores that may go to one element in several iterations.
    pub doubts: Vec<Doubt>,
    /// Variables that each iteration has to itself, by their places among the header's parameters.
    pub own: Vec<usize>,
    /// Blocks that run where something is found, or where nothing is, and may raise.
    pub speculative: HashMap<Block, Speculative>,
}

impl Carried {
    /// Whether the pieces say whether they changed it.
    pub(crate) fn flag(&self) -> bool {
        matches!(
            self.kind,
            Kind::Select { flag: true, .. }
                | Kind::Choose { resets: true, .. }
                | Kind::Truth { .. }
                | Kind::Last { flag: true }
        )
    }
    /// Whether a NaN is taken, and forgotten at the next value.
    pub(crate) fn resets(&self) -> bool {
        matches!(
            self.kind,
            Kind::Select { path: Some(_), taken: false, .. } | Kind::Choose { resets: true, .. }
        )
    }
    /// Whether the first value of all counts although it is NaN, and stays.
    pub(crate) fn keeps_first(&self) -> bool {
        matches!(self.kind, Kind::Select { path: Some(_), taken: true, missing, .. } if missing != Missing::Never)
    }
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Binary { path, .. } => match *path {
                id::ADD | id::IADD => "a sum",
                id::MUL | id::IMUL => "a product",
                id::AND | id::IAND => "a bitwise and",
                id::OR | id::IOR => "a bitwise or",
                _ => "an exclusive or",
            },
            Kind::Choose { .. } => "a minimum or maximum",
            Kind::Truth { and: true } => "`and` of all",
            Kind::Truth { and: false } => "`or` of all",
            Kind::Select { path: None, .. } => "the first one of all",
            Kind::Select { .. } => "the best of all",
            Kind::Follow { .. } => "what belongs to the best of all",
            Kind::Last { .. } => "what the last iteration left",
        }
        .into()
    }
}

/// A branch, and which of its sides it is: 0 where the condition holds.
pub(crate) type Gate = (Block, usize);

/// From a variable to what is compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /** `best[0]`, with the index. */
    Part(Value),
    /** `a[best]`, with the array. */
    Of(Value),
    /** `abs(best)`, with the function. */
    Applied(Value),
}

/// A comparison of a version: its operand, the way from the version to it, and the version.
#[derive(Clone)]
pub(crate) struct Compared {
    pub inst: Inst,
    pub side: usize,
    pub via: Vec<Step>,
    pub of: Value,
}

/// Where a variable is chosen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    /// Branches on a comparison, with the version that is compared and what is found from it.
    pub branches: Vec<(Block, Value, Value)>,
    /// The version that a new value takes the place of, by the block that it comes from.
    pub before: HashMap<Block, Value>,
    /// Calls of `min` or `max`, and which argument the version is.
    pub calls: Vec<(Inst, usize)>,
    /// Calls through which a new value goes before it is kept: `if x > m: m = int(x)`.
    pub conversions: Vec<Inst>,
    /// What leads to where there is no value yet.
    pub missing: Vec<Gate>,
}

/// What pieces have a copy of.
#[derive(Clone, Debug)]
pub(crate) struct Privatised {
    pub of: Value,
    /// Makes what a piece begins with.
    pub start: OpId,
    /// Takes what a piece has into the whole: `merge(whole, part)`, or with `choose` or what it follows as
    /// further operands.
    pub merge: OpId,
    /// `min` or `max`.
    pub choose: Option<Value>,
    /// Elements change with those of this one, which are the best of all.
    pub follows: Option<Value>,
    /// A NaN is taken, and forgotten at the next value: `h[k] = max(x, h[k])`. Each piece says where it was.
    pub resets: bool,
    /// Of equal ones the last counts, and others follow: `if x <= h[k]: h[k] = x; w[k] = i`. Each piece says
    /// where something was taken.
    pub changes: bool,
    /// Sometimes the old one is the first argument, sometimes the new one.
    pub several: bool,
    /// What leads to a new one, where it is the best that counts.
    pub gates: Vec<Gate>,
}

impl Privatised {
    /// Whether each piece keeps a note for each element.
    pub(crate) fn notes(&self) -> bool {
        self.resets || self.changes
    }
    pub(crate) fn describe(&self) -> &'static str {
        if self.follows.is_some() {
            "elements that belong to the least or greatest"
        } else if matches!(
            self.merge,
            id::PARALLEL_LESSER_BINS
                | id::PARALLEL_GREATER_BINS
                | id::PARALLEL_LEAST_BINS
                | id::PARALLEL_GREATEST_BINS
        ) || self.choose.is_some()
        {
            "elements that are the least or greatest"
        } else {
            "elements that are added up"
        }
    }
}

/// In how many iterations a piece runs a block, compared with the plain loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speculative {
    More,
    Fewer,
    /// In as many, but a variable may be missing that an earlier iteration has set
    /// ([`super::privatised_scalars`]).
    Unset,
}

impl Speculative {
    /// The operation that marks the rest of a block.
    pub(crate) fn mark(self) -> OpId {
        match self {
            Speculative::More => id::PARALLEL_MORE,
            Speculative::Fewer => id::PARALLEL_FEWER,
            Speculative::Unset => id::PARALLEL_UNSET,
        }
    }
}

/// What goes with the versions of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    /// Whether the piece changed it.
    Changed,
    /// Whether what came before does not matter.
    Reset,
    /// The first value of the piece, of the variable itself or of one that follows it.
    First(usize),
}

/// One of them: for which variable, and its value by version.
pub(crate) struct Flag {
    pub leader: usize,
    pub what: What,
    pub of: HashMap<Value, Value>,
}

/// A variable that decides, and those that follow it.
pub(crate) fn group(all: &[Carried], leader: usize) -> Vec<usize> {
    (0..all.len()).filter(|j| *j == leader || all[*j].kind == Kind::Follow { leader }).collect()
}
