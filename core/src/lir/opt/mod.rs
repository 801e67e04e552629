//! Optimisations of LIR, shared by all back ends: a table of passes and the pipeline that runs them.
//!
//! Every pass takes verified LIR and gives verified LIR that means the same (NaN payloads aside), in near linear time. Passes
//! run before `legalise`. Start at [`PASSES`]; each pass is one file, `edit.rs` holds what they share.

pub(crate) mod edit;
mod blocks;
mod cse;
mod dce;
mod fold;
mod inline;
mod licm;
mod memory;
mod range;
pub(crate) mod region;
mod simplify;
mod strip;
mod thread;
mod unroll;
mod unwrap;
mod version;

use crate::lir::{Func, Module};
use std::time::{Duration, Instant};

/// What a pass works on.
#[derive(Clone, Copy)]
pub enum Run { Func(fn(&mut Func)), Module(fn(&mut Module)) }

/// One row of the table.
pub struct Pass { pub name: &'static str, pub doc: &'static str, pub run: Run }

/// Every pass, by name. The order here means nothing; see [`PIPELINE`].
pub const PASSES: &[Pass] = &[
    Pass { name: "fold", doc: "Constants propagated along possible edges only, algebraic identities, decided branches.", run: Run::Func(fold::fold) },
    Pass { name: "blocks", doc: "Jumps threaded through blocks that decide nothing, straight-line blocks merged, unreachable ones dropped.", run: Run::Func(blocks::simplify_blocks) },
    Pass { name: "dce", doc: "Instructions, block parameters and blocks without effect dropped.", run: Run::Func(dce::drop_dead_code) },
    Pass { name: "unroll", doc: "Loops with few turns, known in advance, as straight code.", run: Run::Func(unroll::unroll_loops) },
    Pass { name: "cse", doc: "Computations and loads that a dominating one has done already, and branches that a dominating one has decided.", run: Run::Func(cse::reuse_values) },
    Pass { name: "licm", doc: "Loop-invariant operations and loads moved in front of the loop.", run: Run::Func(licm::hoist_invariants) },
    Pass { name: "inline", doc: "Small functions of the module copied into their callers.", run: Run::Module(inline::inline_calls) },
    Pass { name: "range", doc: "Comparisons that loops and dominating conditions decide: bounds checks, negative indices.", run: Run::Func(range::decide_comparisons) },
    Pass { name: "version", doc: "Innermost counted loops in two versions: without bounds checks where a test in front allows it, and as they were.", run: Run::Func(version::version_loops) },
    Pass { name: "unwrap", doc: "Indices checked before they are wrapped: a negative one takes a side way.", run: Run::Func(unwrap::unwrap_indices) },
    Pass { name: "strip", doc: "Innermost loops poll once in many turns only, in a loop around them, so that a back end can vectorise them.", run: Run::Func(strip::strip_polls) },
    Pass { name: "thread", doc: "Branches that ask what the way there has decided: that way goes straight on.", run: Run::Func(thread::thread_branches) },
    Pass { name: "assume", doc: "Branches that only stated a fact (one side unreachable) dropped, once nothing asks any more.", run: Run::Func(blocks::drop_assumptions) },
];

/// What tier 0 runs, in order.
pub const PIPELINE: &[&str] = &["inline", "fold", "blocks", "unroll", "cse", "range", "fold", "blocks", "licm", "version", "unwrap", "assume", "blocks", "dce"];

/// What tier 1 runs on the snapshot that both tiers share, or on a function that goes on from the middle of it.
pub const TIER1: &[&str] = &["fold", "blocks", "thread", "cse", "strip", "fold", "blocks", "dce"];

pub fn lookup(name: &str) -> Option<&'static Pass> { PASSES.iter().find(|p| p.name == name) }

impl Pass {
    pub fn apply(&self, module: &mut Module) {
        match self.run {
            Run::Func(run) => module.funcs.iter_mut().for_each(run),
            Run::Module(run) => run(module),
        }
    }
}

/// How to run the pipeline.
#[derive(Default)]
pub struct Options<'a> {
    /// The functions that are called from outside by name; the module's others may be inlined wholly and dropped. Without a list
    /// every function stays.
    pub roots: Option<&'a [&'a str]>,
    /// Stop after this many passes: bisecting a miscompilation.
    pub fuel: Option<usize>,
    /// Called after every pass: dumps, verification.
    pub after: Option<&'a dyn Fn(&'static Pass, &Module)>,
}

/// Time that each pass of [`PIPELINE`] took.
pub type Timers = Vec<(&'static str, Duration)>;

/// Runs the pipeline.
pub fn optimise(module: &mut Module, options: &Options<'_>) -> Timers {
    let mut timers = vec![];
    for pass in PIPELINE.iter().filter_map(|name| lookup(name)).take(options.fuel.unwrap_or(usize::MAX)) {
        let start = Instant::now();
        if pass.name == "inline" { inline::inline_with_roots(module, options.roots); } else { pass.apply(module); }
        timers.push((pass.name, start.elapsed()));
        if let Some(after) = options.after { after(pass, module); }
    }
    timers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipeline_names_passes() {
        for name in PIPELINE { assert!(lookup(name).is_some(), "{name}"); }
    }
}
