//! Passes over SSA, one a file: a table, and what every function goes through when it is read. None may be
//! left out.

pub mod cleanup;
pub mod inline_closures;
pub mod narrow;
pub mod parallel;
pub mod promote_cells;

use super::Func;
use crate::pass::{self, Step};

/// One row of the table; the function says whether it changed anything.
pub struct Pass {
    pub name: &'static str,
    pub doc: &'static str,
    pub run: fn(&mut Func) -> bool,
}

/// Every pass. The order here means nothing; see [`simplify`].
pub const PASSES: &[Pass] = &[CLEANUP, INLINE_CLOSURES, PROMOTE_CELLS, NARROW];

const CLEANUP: Pass = Pass {
    name: "cleanup",
    doc: "Block parameters with one value, dead instructions and unreachable blocks dropped.",
    run: |f| {
        cleanup::run(f);
        true
    },
};
const INLINE_CLOSURES: Pass = Pass {
    name: "inline-closures",
    doc: "Calls of functions made in this very function replaced by what they do.",
    run: inline_closures::run,
};
const PROMOTE_CELLS: Pass = Pass {
    name: "promote-cells",
    doc: "Cells of captured variables that nobody else can see become ordinary variables.",
    run: promote_cells::run,
};
const NARROW: Pass = Pass {
    name: "narrow",
    doc: "Values get names of their own behind branches that find something out about them.",
    run: |f| {
        narrow::run(f);
        true
    },
};

/// What becomes of a function after it is built.
pub fn simplify(func: &mut Func) {
    apply(func, &CLEANUP);
    if apply(func, &INLINE_CLOSURES) {
        apply(func, &CLEANUP);
        if apply(func, &PROMOTE_CELLS) {
            apply(func, &CLEANUP);
        }
    }
    parallel::collect::run(func);
    apply(func, &NARROW);
}

fn apply(func: &mut Func, p: &Pass) -> bool {
    let name = func.qualname.clone();
    pass::run(Step { pass: p.name, on: &name, optional: false }, func, p.run).unwrap_or(false)
}
