//! Passes over untyped SSA, one a file: a table, and what every function goes through when it is read. None
//! may be left out.

pub mod cleanup;
mod displays;
pub(crate) mod inline_closures;
pub mod parallel;
pub(crate) mod promote_cells;
pub(crate) mod type_narrowing;
pub(crate) mod unroll;

use super::Func;
use super::analysis::Analyses;
use super::names::Names;
use crate::diag::Result;
use crate::pass::{self, Preserves, Step};

/// What a pass does; it says whether it changed anything.
#[derive(Clone, Copy)]
pub enum Run {
    Alone(fn(&mut Func, &mut Analyses) -> bool),
    /// It asks what names mean, and what it cannot do may be the user's error.
    Asking(fn(&mut Func, &dyn Names) -> Result<bool>),
}

/// One row of the table.
pub struct Pass {
    pub name: &'static str,
    pub doc: &'static str,
    pub preserves: Preserves,
    pub run: Run,
}

/// Every pass. The order here means nothing; see [`simplify`] and [`parallel::run`].
pub const PASSES: &[Pass] =
    &[CLEANUP, INLINE_CLOSURES, PROMOTE_CELLS, FILL_ARRAYS, TYPE_NARROWING, POINTS, FUSE_LOOPS, PARALLEL];

const CLEANUP: Pass = Pass {
    name: "cleanup",
    doc: "Block parameters with one value, dead instructions and unreachable blocks dropped.",
    preserves: Preserves::UnlessMoved,
    run: Run::Alone(|f, analyses| {
        cleanup::run(f, analyses);
        true
    }),
};
const INLINE_CLOSURES: Pass = Pass {
    name: "inline-closures",
    doc: "Calls of functions made in this very function replaced by what they do.",
    preserves: Preserves::Nothing,
    run: Run::Alone(|f, _| inline_closures::run(f)),
};
const PROMOTE_CELLS: Pass = Pass {
    name: "promote-cells",
    doc: "Cells of captured variables that nobody else can see become ordinary variables.",
    preserves: Preserves::Nothing,
    run: Run::Alone(promote_cells::run),
};
const FILL_ARRAYS: Pass = Pass {
    name: "fill-arrays",
    doc: "Comprehensions whose list becomes an array may fill the array instead.",
    preserves: Preserves::UnlessMoved,
    run: Run::Alone(parallel::collect::run),
};
const TYPE_NARROWING: Pass = Pass {
    name: "type-narrowing",
    doc: "Values get names of their own behind branches that find something out about them.",
    preserves: Preserves::UnlessMoved,
    run: Run::Alone(|f, analyses| {
        type_narrowing::run(f, analyses);
        true
    }),
};

const POINTS: Pass = Pass {
    name: "points",
    doc: "Loops over `pndindex` become loops over `prange`.",
    preserves: Preserves::Nothing,
    run: Run::Asking(|f, names| Ok(parallel::points::rewrite(f, names))),
};
const FUSE_LOOPS: Pass = Pass {
    name: "fuse-loops",
    doc: "Neighbouring loops over `prange` of the same length become one.",
    preserves: Preserves::Nothing,
    run: Run::Asking(|f, names| Ok(parallel::loop_fusion::fuse(f, names))),
};
pub(super) const PARALLEL: Pass = Pass {
    name: "parallel",
    doc: "Loops over `prange` become parallel regions, with all that belongs to it.",
    preserves: Preserves::Nothing,
    run: Run::Asking(parallel::run),
};

pub fn lookup(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}

impl Pass {
    /// Runs the pass; whether it changed anything.
    pub fn apply(&self, func: &mut Func, names: &dyn Names) -> Result<bool> {
        let on = func.qualname.clone();
        let run = |f: &mut Func| match self.run {
            Run::Alone(run) => {
                let mut analyses = Analyses::default();
                let changed = run(f, &mut analyses);
                self.preserves.keep(self.name, f, &mut analyses);
                Ok(changed)
            }
            Run::Asking(run) => run(f, names),
        };
        pass::run(Step { pass: self.name, on: &on, optional: false }, func, run).unwrap_or(Ok(false))
    }
}

/// What becomes of a function after it is built.
pub(crate) fn simplify(func: &mut Func) {
    let mut analyses = Analyses::default();
    let mut apply = |p: &Pass| {
        let Run::Alone(run) = p.run else { return false };
        let name = func.qualname.clone();
        let step = Step { pass: p.name, on: &name, optional: false };
        let changed = pass::run(step, func, |f| run(f, &mut analyses)).unwrap_or(false);
        p.preserves.keep(p.name, func, &mut analyses);
        changed
    };
    apply(&CLEANUP);
    if apply(&INLINE_CLOSURES) {
        apply(&CLEANUP);
        if apply(&PROMOTE_CELLS) {
            apply(&CLEANUP);
        }
    }
    apply(&FILL_ARRAYS);
    apply(&TYPE_NARROWING);
}
