//! Adapters: how a call fits rows that do not take its operands as they are. A function of the library then
//! gets the operation and the operands, makes of these what the rows take, and calls the operation.

use super::create::makes_array;
use super::id::MUL;
use super::{Body, OpDef, OpId, ufunc};
use crate::diag::Result;
use crate::types::{Const, Kind};
use crate::typing::Arg;

/// What a row does of the operands of a call before anything else: what goes in front of them, and which of
/// them follow; none where they stay as they are.
pub(crate) type Rewrite = fn(&[Arg]) -> Result<Option<(Const, Vec<usize>)>>;

/// The ways to adapt a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adapter {
    /// Lists and tuples among the operands of a universal function become arrays; those of an operator do so
    /// only beside an array or a scalar of NumPy's. `*` repeats them beside a scalar, and what is changed in
    /// place stays a list.
    Sequences,
    /// Lists and tuples that are parameters of a distribution become arrays.
    Parameters,
    /// A list or a tuple of numbers in front of a function of NumPy's becomes an array.
    FirstSequence,
    /// Arrays that have no dimensions become numbers for a function of those: `int(x)`, `math.sqrt(x)`, where
    /// `np.nditer` gave `x`.
    Numbers,
}

/// A call as it was written, for one row.
pub(crate) struct Asked<'a> {
    pub op: &'static OpDef,
    /// Operands by position.
    pub given: &'a [Arg],
    /// All of them in the order of the row's parameters, with defaults.
    pub bound: &'a [Arg],
}

/// The function of the library that carries a call out, and which operands it gets behind the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adapted {
    pub library: &'static str,
    pub operands: Operands,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Those by position.
    Given,
    /// The first ones in the order of the parameters.
    First(usize),
}

const OF_SEQUENCE: [&str; 6] = [
    "array.of_sequence_1",
    "array.of_sequence_2",
    "array.of_sequence_3",
    "array.of_sequence_4",
    "array.of_sequence_5",
    "array.of_sequence_6",
];
const OF_PARAMETERS: [[&str; 3]; 2] = [
    ["random.of_sequences_1", "random.of_sequences_2", "random.of_sequences_3"],
    ["random.drawn_of_sequences_1", "random.drawn_of_sequences_2", "random.drawn_of_sequences_3"],
];
const OF_NUMBERS: [&str; 2] = ["array.of_number_1", "array.of_number_2"];

fn becomes_array(a: &Arg) -> bool {
    a.ty.is_sequence() && makes_array(a.ty)
}

fn is_scalar_of_numpys(a: &Arg) -> bool {
    a.ty.is_number() && *a.ty != Kind::Bool && !a.ty.is_weak()
}

/// A record is such an array too, and no number.
fn has_no_dimensions(a: &Arg) -> bool {
    a.ty.as_array().is_some_and(|t| t.ndim == 0) && a.ty.records().is_none()
}

impl Adapter {
    /// Those that are tried before the rows themselves.
    pub(crate) const BEFORE: &[Adapter] = &[Adapter::Sequences];
    /// Those that are tried where no row takes the operands.
    pub(crate) const AFTER: &[Adapter] = &[Adapter::Parameters, Adapter::FirstSequence, Adapter::Numbers];

    /// What rows of a kind are adapted by, unless they say otherwise.
    pub(crate) const fn of_body(body: &Body) -> &'static [Adapter] {
        match body {
            Body::Ufunc(..) => &[Adapter::Sequences, Adapter::Numbers],
            Body::Lir(..) => &[Adapter::Parameters, Adapter::FirstSequence, Adapter::Numbers],
            Body::Py(_) => &[Adapter::Numbers],
            Body::Written(_) => &[],
        }
    }

    /// Whether it may have to do with a call of an operation, by what is given by position.
    pub(crate) fn concerns(self, id: OpId, given: &[Arg], named: bool) -> bool {
        match self {
            Adapter::Sequences => {
                given.iter().any(becomes_array)
                    && (id.facts().makes_arrays
                        || given.iter().any(|a| a.ty.as_array().is_some())
                        || id != MUL && id.plain().is_none() && given.iter().any(is_scalar_of_numpys))
            }
            Adapter::Parameters => id.facts().draws,
            // What makes arrays of sequences itself has said why it does not take this one.
            Adapter::FirstSequence => id.facts().makes_arrays && !id.facts().takes_sequences,
            Adapter::Numbers => {
                !named
                    && id.facts().takes_array_as_number
                    && given.iter().any(has_no_dimensions)
                    && given.iter().all(|a| has_no_dimensions(a) || a.ty.is_number())
            }
        }
    }

    /// How a call that it concerns is carried out, where it is by this row.
    pub(crate) fn adapt(self, asked: &Asked<'_>) -> Option<Adapted> {
        let first = |library, n| Some(Adapted { library, operands: Operands::First(n) });
        match self {
            Adapter::Sequences => {
                let inputs = ufunc::inputs(asked.op);
                let into = asked.bound.get(inputs).is_some_and(|out| !out.is_none());
                let library = match (inputs, into) {
                    (1, false) => "ufunc.of_sequence",
                    (1, true) => "ufunc.of_sequence_into",
                    (2, false) => "ufunc.of_sequences",
                    (2, true) => "ufunc.of_sequences_into",
                    (3, false) => "ufunc.of_three_sequences",
                    _ => return None,
                };
                first(library, inputs + usize::from(into))
            }
            Adapter::Parameters => {
                let params = &asked.op.spec().params;
                let size = params.iter().position(|p| p.name == "size")?;
                let from = usize::from(params[0].name == "self");
                if !asked.bound[from..size].iter().any(becomes_array) || !asked.is_plain_from(size + 1) {
                    return None;
                }
                first(OF_PARAMETERS[from].get((size - from).checked_sub(1)?)?, size + 1)
            }
            Adapter::FirstSequence => {
                let spec = asked.op.spec();
                // What can be given by name only must have its default.
                let fits = !spec.varargs
                    && asked.bound.first().is_some_and(becomes_array)
                    && asked.is_plain_from(spec.positional);
                let n = if fits { spec.positional } else { return None };
                first(OF_SEQUENCE.get(n.checked_sub(1)?)?, n)
            }
            Adapter::Numbers => {
                let library = OF_NUMBERS.get(asked.given.len().checked_sub(1)?)?;
                Some(Adapted { library, operands: Operands::Given })
            }
        }
    }
}

impl Asked<'_> {
    /// Whether the parameters from number `k` on have their defaults.
    fn is_plain_from(&self, k: usize) -> bool {
        let rest = self.op.spec().params.iter().zip(self.bound).skip(k);
        rest.into_iter().all(|(p, a)| p.default.as_ref() == a.konst.as_ref() || a.is_none())
    }
}
