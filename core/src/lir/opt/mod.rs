//! Optimisations of LIR, shared by all back ends: a table of passes and the pipeline that runs them.
//!
//! Every pass takes verified LIR and gives verified LIR that means the same (NaN payloads aside), in near
//! linear time. Passes run before `legalise`. Start at [`PASSES`]; each pass is one file, `edit.rs` holds
//! what they share.

mod cse;
mod dce;
mod defer;
pub(crate) mod edit;
mod fold;
mod inline;
mod licm;
mod memory;
mod narrow_division;
mod nest;
mod range;
mod refs;
pub(crate) mod region;
mod simplify;
mod simplify_cfg;
mod strip;
mod thread;
mod unfold;
mod unit;
mod unroll;
mod unwrap;
mod version;

pub use dce::drop_dead_code;
pub use unit::strided_loops;

use crate::lir::{Func, Module};
use crate::pass::{self, Step};

/// What a pass works on.
#[derive(Clone, Copy)]
pub enum Run {
    Func(fn(&mut Func)),
    Module(fn(&mut Module)),
}

/// One row of the table.
pub struct Pass {
    pub name: &'static str,
    pub doc: &'static str,
    pub run: Run,
}

/// Every pass, by name. The order here means nothing; see [`PIPELINE`].
pub const PASSES: &[Pass] = &[
    Pass {
        name: "fold",
        doc: "Constants propagated along possible edges only, algebraic identities, decided branches.",
        run: Run::Func(fold::fold),
    },
    Pass {
        name: "simplify-cfg",
        doc: "Jumps threaded through blocks that decide nothing, straight-line blocks merged, unreachable ones dropped.",
        run: Run::Func(simplify_cfg::simplify_cfg),
    },
    Pass {
        name: "dce",
        doc: "Instructions, block parameters and blocks without effect dropped.",
        run: Run::Func(dce::drop_dead_code),
    },
    Pass {
        name: "unroll",
        doc: "Loops with few turns, known in advance, as straight code.",
        run: Run::Func(unroll::unroll_loops),
    },
    Pass {
        name: "cse",
        doc: "Computations and loads that a dominating one has done already, and branches that a dominating one has decided.",
        run: Run::Func(cse::reuse_values),
    },
    Pass {
        name: "licm",
        doc: "Loop-invariant operations and loads moved in front of the loop.",
        run: Run::Func(licm::hoist_invariants),
    },
    Pass {
        name: "inline",
        doc: "Small functions of the module copied into their callers.",
        run: Run::Module(inline::inline_calls),
    },
    Pass {
        name: "range",
        doc: "Comparisons that loops and dominating conditions decide: bounds checks, negative indices.",
        run: Run::Func(range::decide_comparisons),
    },
    Pass {
        name: "version",
        doc: "Innermost counted loops in two versions: without bounds checks where a test in front allows it, and as they were.",
        run: Run::Func(version::version_loops),
    },
    Pass {
        name: "unwrap",
        doc: "Indices checked before they are wrapped: a negative one takes a side way.",
        run: Run::Func(unwrap::unwrap_indices),
    },
    Pass {
        name: "strip",
        doc: "Innermost loops poll once in many turns only, in a loop around them, and check values after the fact, so that a back end can vectorise them.",
        run: Run::Func(strip::strip_polls),
    },
    Pass {
        name: "narrow-division",
        doc: "Divisions of Python's integers in 32 bits where both operands are small, in loops.",
        run: Run::Func(narrow_division::narrow_divisions),
    },
    Pass {
        name: "unit",
        doc: "Innermost loops over elements of unknown stride in two versions: for elements side by side, and as they were.",
        run: Run::Func(unit::ask_strides),
    },
    Pass {
        name: "unfold",
        doc: "Some calls of a small function to itself replaced by its body.",
        run: Run::Func(unfold::unfold_recursion),
    },
    Pass {
        name: "thread",
        doc: "Branches that ask what the way there has decided, or passes: that way goes straight on.",
        run: Run::Func(thread::thread_branches),
    },
    Pass {
        name: "refs",
        doc: "References that are added and dropped again with nothing between that could drop another, not counted.",
        run: Run::Func(refs::drop_counts),
    },
    Pass {
        name: "assume",
        doc: "Branches that only stated a fact (one side unreachable) dropped, once nothing asks any more.",
        run: Run::Func(simplify_cfg::drop_assumptions),
    },
];

/// What tier 0 runs, in order.
pub const PIPELINE: &[&str] = &[
    "inline",
    "fold",
    "simplify-cfg",
    "thread",
    "unroll",
    "cse",
    "range",
    "fold",
    "simplify-cfg",
    "licm",
    "version",
    "unwrap",
    "assume",
    "simplify-cfg",
    "refs",
    "dce",
];

/// What tier 1 runs on the snapshot that both tiers share, or on a function that goes on from the middle of
/// it.
pub const TIER1: &[&str] = &[
    "unfold",
    "fold",
    "simplify-cfg",
    "thread",
    "cse",
    "unit",
    "strip",
    "narrow-division",
    "fold",
    "simplify-cfg",
    "dce",
];

pub fn lookup(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}

impl Pass {
    /// Runs the pass on all functions, as far as there is fuel, or until it is time to stop.
    pub fn apply(&self, module: &mut Module, options: &Options<'_>) {
        match self.run {
            Run::Func(run) => {
                for func in &mut module.funcs {
                    if options.stops() {
                        return;
                    }
                    let name = func.name.clone();
                    pass::run(Step { pass: self.name, on: &name, optional: true }, func, run);
                }
            }
            Run::Module(run) => {
                let step = Step { pass: self.name, on: "the module", optional: true };
                let roots = options.roots;
                pass::run(step, module, |m| {
                    if self.name == "inline" { inline::inline_with_roots(m, roots) } else { run(m) }
                });
            }
        }
    }
}

/// How to run passes.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// The functions that are called from outside by name; the module's others may be inlined wholly and
    /// dropped. Without a list every function stays.
    pub roots: Option<&'a [&'a str]>,
    /// Asked before each pass over each function: whether to leave it at that.
    pub stop: Option<&'a dyn Fn() -> bool>,
}
impl Options<'_> {
    pub fn stops(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }
}

/// Runs the pipeline.
pub fn optimise(module: &mut Module, options: &Options<'_>) {
    for pass in PIPELINE.iter().filter_map(|name| lookup(name)) {
        pass.apply(module, options);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipeline_names_passes() {
        for name in PIPELINE.iter().chain(TIER1) {
            assert!(lookup(name).is_some(), "{name}");
        }
    }
}
