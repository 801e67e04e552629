//! Recursion with tuples that grow: `go(path + (x,))`. Each length would be an instance of its own, without an end, or
//! with lists and dicts that hold one length only. Where that has gone wrong the function is called anew, with
//! tuples of any length for the parameters that grew.

use super::resolved::Source;
use super::state::{Session, Solver};
use crate::diag::{Code, Diagnostic, Result};
use crate::handle::FuncId;
use crate::types::{Container, Kind, Type, promote};

/// So many instances of a function for tuples of more and more members are enough to see where that leads.
const ENOUGH: usize = 12;

/// What the members of a tuple are, if all are of one type.
fn member(t: Type) -> Option<Type> {
    let Kind::Tuple(m) = t.kind() else { return None };
    let first = *m.first()?;
    m.iter().all(|t| promote::same_but_weak(*t, first)).then_some(first)
}

fn length(t: Type) -> Option<usize> {
    if let Kind::Tuple(m) = t.kind() { Some(m.len()) } else { None }
}

/// What the members are of a tuple that is longer than one before, or of any length by now.
fn grown(before: Type, now: Type) -> Option<Type> {
    let before = length(before)?;
    if let Kind::Container(Container::Tuple, m) = now.kind() {
        return Some(m[0]);
    }
    member(now).filter(|_| length(now).is_some_and(|now| now > before))
}

impl Session<'_> {
    /// Looks whether a call within a function has longer tuples for it than it was called with.
    pub(super) fn note_growth(&mut self, func: FuncId, types: &[Type]) -> Result<()> {
        let mut deep = 0;
        for at in (0..self.stack.len()).rev() {
            let id = self.stack[at];
            if self.is_look(id) || self.at(id).key.func != func {
                continue;
            }
            let earlier = self.at(id).key.args.clone();
            let mut grows = false;
            for (p, (old, new)) in earlier.iter().zip(types).enumerate() {
                if let Some(of) = grown(*old, *new) {
                    grows = true;
                    if !self.growing.seen.iter().any(|(f, q, _)| (*f, *q) == (func, p)) {
                        self.growing.seen.push((func, p, of));
                    }
                }
            }
            deep += usize::from(grows);
        }
        if deep < ENOUGH {
            return Ok(());
        }
        Err(Diagnostic::new(Code::RunawayRecursion, "calls nest too deeply: each level has a longer tuple")
            .help("give the recursive call arguments of the types that the function was called with"))
    }

    /// Whether a function that could not be typed is to be called anew, with tuples of any length.
    pub(super) fn grows_anew(&mut self, func: FuncId) -> bool {
        // Of the function that Python calls it is said with what: it may call itself with something else.
        let mut within = self.stack.iter().skip(1);
        let active = within.any(|id| !self.is_look(*id) && self.at(*id).key.func == func);
        let known = self.growing.any.len();
        if !active {
            for (f, p, of) in std::mem::take(&mut self.growing.seen) {
                if !self.growing.any.iter().any(|(g, q, _)| (*g, *q) == (f, p)) {
                    self.growing.any.push((f, p, of));
                }
            }
        }
        self.growing.any.len() > known && self.growing.any.iter().any(|(f, ..)| *f == func)
    }
}

impl Solver<'_, '_> {
    /// What a function is called with, with tuples of any length where it makes them longer.
    pub(super) fn of_any_length(&mut self, func: FuncId, mut sources: Vec<Source>) -> Result<Vec<Source>> {
        let grown: Vec<(usize, Type)> =
            self.session.growing.any.iter().filter(|g| g.0 == func).map(|g| (g.1, g.2)).collect();
        for (p, of) in grown {
            let Some(source) = sources.get_mut(p) else { continue };
            let t = self.source_arg(source)?.ty;
            if length(t) == Some(0) || member(t).is_some_and(|m| promote::same_but_weak(m, of)) {
                *source = Source::As(Box::new(source.clone()), Type::tuple_of(of));
            }
        }
        Ok(sources)
    }
}
