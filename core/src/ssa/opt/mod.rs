//! Passes over untyped SSA, one a file: a table, and what every function goes through when it is read. None
//! may be left out.

pub mod cleanup;
pub mod inline_closures;
pub mod parallel;
pub mod promote_cells;
pub mod type_narrowing;

use super::Func;
use crate::diag::Result;
use crate::pass::{self, Step};
use parallel::Names;

/// What a pass does; it says whether it changed anything.
#[derive(Clone, Copy)]
pub enum Run {
    Alone(fn(&mut Func) -> bool),
    /// It asks what names mean, and what it cannot do may be the user's error.
    Asking(fn(&mut Func, &dyn Names) -> Result<bool>),
}

/// One row of the table.
pub struct Pass {
    pub name: &'static str,
    pub doc: &'static str,
    pub run: Run,
}

/// Every pass. The order here means nothing; see [`simplify`] and [`parallel::run`].
pub const PASSES: &[Pass] =
    &[CLEANUP, INLINE_CLOSURES, PROMOTE_CELLS, FILL_ARRAYS, TYPE_NARROWING, POINTS, FUSE_LOOPS, PARALLEL];

const CLEANUP: Pass = Pass {
    name: "cleanup",
    doc: "Block parameters with one value, dead instructions and unreachable blocks dropped.",
    run: Run::Alone(|f| {
        cleanup::run(f);
        true
    }),
};
const INLINE_CLOSURES: Pass = Pass {
    name: "inline-closures",
    doc: "Calls of functions made in this very function replaced by what they do.",
    run: Run::Alone(inline_closures::run),
};
const PROMOTE_CELLS: Pass = Pass {
    name: "promote-cells",
    doc: "Cells of captured variables that nobody else can see become ordinary variables.",
    run: Run::Alone(promote_cells::run),
};
const FILL_ARRAYS: Pass = Pass {
    name: "fill-arrays",
    doc: "Comprehensions whose list becomes an array may fill the array instead.",
    run: Run::Alone(parallel::collect::run),
};
const TYPE_NARROWING: Pass = Pass {
    name: "type-narrowing",
    doc: "Values get names of their own behind branches that find something out about them.",
    run: Run::Alone(|f| {
        type_narrowing::run(f);
        true
    }),
};

const POINTS: Pass = Pass {
    name: "points",
    doc: "Loops over `pndindex` become loops over `prange`.",
    run: Run::Asking(|f, names| Ok(parallel::points::rewrite(f, names))),
};
const FUSE_LOOPS: Pass = Pass {
    name: "fuse-loops",
    doc: "Neighbouring loops over `prange` of the same length become one.",
    run: Run::Asking(|f, names| Ok(parallel::loop_fusion::fuse(f, names))),
};
pub(super) const PARALLEL: Pass = Pass {
    name: "parallel",
    doc: "Loops over `prange` become parallel regions, with all that belongs to it.",
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
            Run::Alone(run) => Ok(run(f)),
            Run::Asking(run) => run(f, names),
        };
        pass::run(Step { pass: self.name, on: &on, optional: false }, func, run).unwrap_or(Ok(false))
    }
}

/// What becomes of a function after it is built.
pub fn simplify(func: &mut Func) {
    apply(func, &CLEANUP);
    if apply(func, &INLINE_CLOSURES) {
        apply(func, &CLEANUP);
        if apply(func, &PROMOTE_CELLS) {
            apply(func, &CLEANUP);
        }
    }
    apply(func, &FILL_ARRAYS);
    apply(func, &TYPE_NARROWING);
}

fn apply(func: &mut Func, p: &Pass) -> bool {
    let Run::Alone(run) = p.run else { return false };
    let name = func.qualname.clone();
    pass::run(Step { pass: p.name, on: &name, optional: false }, func, run).unwrap_or(false)
}
