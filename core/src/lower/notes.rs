//! What of a function's operations on arrays may run in parallel, and what became of each, for reports.

use super::inline::user_place;
use crate::emit::chunks::ChunkedLoops;
use crate::lir::explain::Place;
use crate::ops::{self, Body, Divides, Division, Effect, OpDef, Own, id, random, ufunc};
use crate::ssa::{self, FusedArg, Parts};
use crate::types::{Const, Kind, Layout};

/// What became of one operation on arrays, or of several in one loop, for reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    pub place: Place,
    /// Operations in their order, each with the earlier ones that it reads.
    pub steps: Vec<(String, Vec<u32>)>,
    /// Why the calling thread does it alone; none where it runs in parallel.
    pub serial: Option<&'static str>,
    /// The line of the region that it is part of, where that stands elsewhere.
    pub with: Option<u32>,
    /// What its operands must be like, where that shows only at run time.
    pub only: Option<&'static str>,
}

/// The operation of an instruction, the last one of a chain, and the chain.
fn operation(node: &ssa::InstNode) -> Option<(&'static OpDef, Option<&ssa::Fused>)> {
    if let ssa::Op::Apply(op) = node.op {
        return Some((op, None));
    }
    if let ssa::Op::Fused(chain) = &node.op {
        return Some((chain.steps.last()?.op, Some(chain)));
    }
    None
}

/// An operation's name as reports have it.
pub(crate) fn shown(op: &OpDef) -> String {
    op.name()
        .trim_start_matches("operator.")
        .trim_start_matches("numpy.")
        .trim_start_matches("array.")
        .trim_start_matches('_')
        .to_owned()
}

/// Why an operation does not run in parallel; none where there is nothing to say, since it does not pass over
/// an array.
fn why_alone(
    func: &ssa::Func,
    op: &'static OpDef,
    node: &ssa::InstNode,
    wanted: bool,
) -> Option<&'static str> {
    let is_array = |v: &ssa::Value| func.types[v.index()].as_array().is_some_and(|a| a.ndim > 0);
    let makes = node.result.as_ref().is_some_and(is_array);
    let passes = matches!(op.body, Body::Ufunc(..)) && makes
        || op.lazy.is_some_and(|(k, _)| node.args.get(k).is_some_and(is_array));
    let indexes = op.is(id::GETITEM);
    let chooses = op.chooses || indexes && chosen_by(func, node) == Some(true);
    if (passes || chooses) && !wanted {
        return Some(if func.body.is_some() { "its loop is" } else { "switched off by the dictionary" });
    }
    if indexes && makes && matches!(node.op, ssa::Op::Apply(_)) {
        let types: Vec<_> = node.args.iter().map(|a| func.types[a.index()]).collect();
        let view = node.result.is_some_and(|r| (op.own)(&types, func.types[r.index()]) == Own::Aliases);
        return if view { None } else { Some("where an element goes depends on how many come before it") };
    }
    op.alone.or((random::draws(op) && makes).then_some("the numbers of a stream come one after the other"))
}

/// Whether `a[mask]` chooses numbers that lie side by side as their mask does, as far as the types say.
fn chosen_by(func: &ssa::Func, node: &ssa::InstNode) -> Option<bool> {
    let [a, mask] = [*node.args.first()?, *node.args.get(1)?].map(|v| func.types[v.index()].as_array());
    let (a, mask) = (a?, mask.filter(|m| *m.dtype == Kind::Bool)?);
    Some(a.ndim == mask.ndim && (a.layout == Layout::C && mask.layout == Layout::C || a.ndim == 1))
}

fn divides(
    func: &ssa::Func,
    op: &'static OpDef,
    node: &ssa::InstNode,
    chain: Option<&ssa::Fused>,
) -> Divides {
    let operand = |k: usize| match chain.and_then(|c| c.steps.last()) {
        None => node.args.get(k).copied(),
        Some(last) => last
            .args
            .get(k)
            .and_then(|a| if let FusedArg::Operand(i) = a { Some(node.args[*i as usize]) } else { None }),
    };
    let step = |k: usize| {
        chain.and_then(|c| match c.steps.last()?.args.get(k)? {
            FusedArg::Step(j) => c.steps[*j as usize].ty.as_array(),
            FusedArg::Operand(_) => None,
        })
    };
    let array = |k: usize| operand(k).and_then(|a| func.types[a.index()].as_array()).or_else(|| step(k));
    let Some(first) = array(0) else { return Divides::Always };
    let constant = |k: usize| {
        operand(k)
            .and_then(|a| func.insts.iter().find(|n| n.result == Some(a)))
            .and_then(|n| if let ssa::Op::Const(Const::Int(x)) = n.op { Some(x) } else { None })
    };
    (op.divides)(&Division {
        array: first,
        second: array(1),
        number: constant(1),
        ret: node.result.map(|r| func.types[r.index()]),
    })
}

/// The notes of a function that is being lowered.
#[derive(Default)]
pub(crate) struct Notes {
    /// What of it was asked to run in parallel.
    pub parts: Parts,
    /// What became of the operations on arrays so far.
    pub made: Vec<Note>,
}

impl Notes {
    /// Begins an operation: says whether it may run in parallel.
    pub(crate) fn begin(&self, func: &ssa::Func, node: &ssa::InstNode, chunks: &mut ChunkedLoops) {
        if !self.parts.any() {
            return;
        }
        let Some((op, chain)) = operation(node) else { return };
        let out = match chain.and_then(|c| c.steps.last()) {
            None => node.args.get(ufunc::inputs(op)).copied(),
            Some(last) => last
                .args
                .get(ufunc::inputs(op))
                .and_then(|a| if let FusedArg::Operand(k) = a { Some(node.args[*k as usize]) } else { None }),
        };
        let augmented = matches!(op.body, Body::Ufunc(..))
            && op.is_operator()
            && out.is_some_and(|v| func.types[v.index()].as_array().is_some());
        let part = if op.is(id::SETITEM) {
            Parts::SETITEM
        } else if op.lazy.is_some() || *op == ops::reduce::SEVERAL {
            Parts::REDUCTION
        } else if augmented {
            Parts::INPLACE
        } else {
            Parts::NUMPY
        };
        chunks.begin(self.parts.has(part));
    }

    /// Notes what became of a loop or a comprehension.
    pub(crate) fn note_region(
        &mut self,
        func: &ssa::Func,
        node: &ssa::InstNode,
        what: &str,
        serial: Option<&'static str>,
    ) {
        let span = func.span(user_place(func, node.loc).0);
        self.made.push(Note {
            place: Place { file: span.file.to_string(), line: span.line },
            steps: vec![(what.into(), vec![])],
            serial,
            with: None,
            only: None,
        });
    }

    /// Notes what became of the operation that has just been lowered, if it is one that somebody would ask
    /// about.
    pub(crate) fn note(&mut self, func: &ssa::Func, node: &ssa::InstNode, chunks: &ChunkedLoops) {
        if !self.parts.any() {
            return;
        }
        let Some((op, chain)) = operation(node) else { return };
        let reads = |args: &[FusedArg]| {
            args.iter().filter_map(|a| if let FusedArg::Step(k) = a { Some(*k) } else { None }).collect()
        };
        let mut steps: Vec<(String, Vec<u32>)> = chain.map_or_else(
            || vec![(shown(op), vec![])],
            |c| c.steps.iter().map(|s| (shown(s.op), reads(&s.args))).collect(),
        );
        let (loc, library) = user_place(func, node.loc);
        // The sum in a mean is the mean for who wrote it.
        if let (Some(name), Some(last)) = (library, steps.last_mut())
            && op.lazy.is_some()
            && op.effect == Effect::Reads
        {
            last.0 = name.trim_matches('_').to_owned();
        }
        let serial = if chunks.used() {
            None
        } else {
            match why_alone(func, op, node, chunks.wanted()) {
                Some(why) => Some(why),
                None => return,
            }
        };
        let place = |loc| {
            let span = func.span(loc);
            Place { file: span.file.to_string(), line: span.line }
        };
        let joined = node.result.and_then(|r| func.side.joined.get(&r)).map_or(&[][..], |j| j);
        if !joined.is_empty() && chain.is_none() {
            steps = joined.iter().map(|j| (j.name.to_string(), vec![])).collect();
        }
        for j in joined.iter().filter(|j| place(j.loc) != place(loc)) {
            self.made.push(Note {
                place: place(j.loc),
                steps: vec![(j.name.to_string(), vec![])],
                serial,
                with: Some(place(loc).line),
                only: None,
            });
        }
        // What a reduction in a chain reads is made in parallel, even where the reduction is not.
        let divides = if serial.is_some() || chain.is_some_and(|c| c.steps.iter().any(|s| s.made)) {
            Divides::Always
        } else {
            divides(func, op, node, chain)
        };
        let (serial, only) = match divides {
            Divides::Always => (serial, None),
            Divides::Never(why) => (Some(why), None),
            Divides::Where(what) => (None, Some(what)),
        };
        if chain.is_some()
            && let Divides::Never(_) = divides
            && let Some(last) = steps.pop()
        {
            self.made.push(Note {
                place: place(loc),
                steps: vec![(last.0, vec![])],
                serial,
                with: None,
                only,
            });
            self.made.push(Note { place: place(loc), steps, serial: None, with: None, only: None });
            return;
        }
        self.made.push(Note { place: place(loc), steps, serial, with: None, only });
    }
}
