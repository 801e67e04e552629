//! Optimisations of LIR, shared by all back ends: a table of passes and the pipeline that runs them.
//!
//! Every pass takes verified LIR and gives verified LIR that means the same (NaN payloads aside), in near
//! linear time. Passes run before `legalise`. Start at [`PASSES`]; each pass is one file, `edit.rs` holds
//! what they share. What is found out about control flow is kept from pass to pass ([`ModuleAnalyses`]).

mod cse;
mod dce;
mod defer;
mod early;
pub(crate) mod edit;
mod fold;
mod frame_values;
mod frames;
mod handlers;
mod inline;
mod lengths;
mod licm;
mod memory;
mod narrow_division;
mod nest;
mod polling;
mod probe;
mod range;
mod refs;
pub(crate) mod region;
mod simplify;
mod simplify_cfg;
mod states;
mod strip;
mod thread;
mod unbox;
mod unfold;
mod unit;
mod unroll;
mod unwrap;
mod vectors;
mod version;

pub(crate) use dce::drop_dead_code;
pub(crate) use frames::{Boundary, boundaries};
pub use unit::strided_loops;

use crate::lir::cfg::Analyses;
use crate::lir::{Func, Module};
use crate::pass::{self, Preserves, Step};

/// What a pass works on.
#[derive(Clone, Copy)]
pub enum Run {
    Func(fn(&mut Func, &mut Analyses)),
    Module(fn(&mut Module)),
}

/// One row of the table.
pub struct Pass {
    pub name: &'static str,
    pub doc: &'static str,
    pub preserves: Preserves,
    pub run: Run,
}

/// Every pass, by name. The order here means nothing; see [`PIPELINE`].
pub const PASSES: &[Pass] = &[
    Pass {
        name: "fold",
        doc: "Constants propagated along possible edges only, algebraic identities, decided branches.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(fold::fold),
    },
    Pass {
        name: "simplify-cfg",
        doc: "Jumps threaded through blocks that decide nothing, straight-line blocks merged, unreachable ones dropped.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(simplify_cfg::simplify_cfg),
    },
    Pass {
        name: "dce",
        doc: "Instructions, block parameters and blocks without effect dropped.",
        preserves: Preserves::ControlFlow,
        run: Run::Func(dce::drop_dead_code),
    },
    Pass {
        name: "vectors",
        doc: "Block parameters that are the lanes of a vector replaced by the vector.",
        preserves: Preserves::ControlFlow,
        run: Run::Func(vectors::join_lanes),
    },
    Pass {
        name: "unroll",
        doc: "Loops with few turns, known in advance, as straight code.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(unroll::unroll_loops),
    },
    Pass {
        name: "cse",
        doc: "Computations and loads that a dominating one has done already, and branches that a dominating one has decided.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(cse::reuse_values),
    },
    Pass {
        name: "licm",
        doc: "Loop-invariant operations and loads moved in front of the loop.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(licm::hoist_invariants),
    },
    Pass {
        name: "inline",
        doc: "Small functions of the module copied into their callers.",
        preserves: Preserves::Nothing,
        run: Run::Module(inline::inline_calls),
    },
    Pass {
        name: "range",
        doc: "Comparisons that loops and dominating conditions decide: bounds checks, negative indices.",
        preserves: Preserves::ControlFlow,
        run: Run::Func(range::decide_comparisons),
    },
    Pass {
        name: "version",
        doc: "Innermost counted loops in two versions: without bounds checks where a test in front allows it, and as they were.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(version::version_loops),
    },
    Pass {
        name: "unwrap",
        doc: "Indices checked before they are wrapped: a negative one takes a side way.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(unwrap::unwrap_indices),
    },
    Pass {
        name: "strip",
        doc: "Innermost loops poll once in many turns only, in a loop around them, and check values after the fact, so that a back end can vectorise them.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(strip::strip_polls),
    },
    Pass {
        name: "compare-squares",
        doc: "Lengths of vectors that are only compared with a number: their squares are, unless these are nearly equal.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(lengths::compare_squares),
    },
    Pass {
        name: "probe",
        doc: "Keys of dicts and sets looked up in place: integers, pairs of them, floats and strings.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(probe::look_up_in_place),
    },
    Pass {
        name: "narrow-division",
        doc: "Divisions of Python's integers in 32 bits where both operands are small, in loops.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(narrow_division::narrow_divisions),
    },
    Pass {
        name: "unit",
        doc: "Innermost loops over elements of unknown stride in two versions: for elements side by side, and as they were.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(unit::ask_strides),
    },
    Pass {
        name: "unfold",
        doc: "Some calls of a small function to itself replaced by its body.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(unfold::unfold_recursion),
    },
    Pass {
        name: "thread",
        doc: "Branches that ask what the way there has decided, or passes: that way goes straight on.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(thread::thread_branches),
    },
    Pass {
        name: "refs",
        doc: "References that are added and dropped again with nothing between that could drop another, not counted.",
        preserves: Preserves::ControlFlow,
        run: Run::Func(refs::drop_counts),
    },
    Pass {
        name: "unbox",
        doc: "Objects that nobody else sees replaced by their fields.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(unbox::unbox_objects),
    },
    Pass {
        name: "frames",
        doc: "Generators that are driven where they are made: no frame, and no question where they stopped.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(frames::dissolve_frames),
    },
    Pass {
        name: "decide-handlers",
        doc: "Which handler is for an exception that is raised in the same function.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(handlers::decide),
    },
    Pass {
        name: "forget-handled",
        doc: "Exceptions that are raised and handled in one function and that nobody looks at: not made.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(handlers::forget),
    },
    Pass {
        name: "checks-first",
        doc: "For GPUs: checks that follow each other come before what they protect.",
        preserves: Preserves::ControlFlow,
        run: Run::Func(early::checks_first),
    },
    Pass {
        name: "assume",
        doc: "Branches that only stated a fact (one side unreachable) dropped, once nothing asks any more.",
        preserves: Preserves::UnlessMoved,
        run: Run::Func(simplify_cfg::drop_assumptions),
    },
];

/// What tier 0 runs, in order.
pub const PIPELINE: &[&str] = &[
    "inline",
    "fold",
    "simplify-cfg",
    "thread",
    "frames",
    "unbox",
    "decide-handlers",
    "fold",
    "simplify-cfg",
    "forget-handled",
    "vectors",
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
    "range",
    "fold",
    "compare-squares",
    "unit",
    "strip",
    "probe",
    "narrow-division",
    "fold",
    "simplify-cfg",
    "dce",
];

pub fn lookup(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}

/// What is known of each function of a module while passes run over it. Nobody else may change the module in
/// between.
#[derive(Default)]
pub struct ModuleAnalyses {
    funcs: Vec<Analyses>,
}

impl ModuleAnalyses {
    fn of(&mut self, n: usize) -> &mut Analyses {
        if self.funcs.len() <= n {
            self.funcs.resize_with(n + 1, Analyses::default);
        }
        &mut self.funcs[n]
    }
}

impl Pass {
    /// Runs the pass on all functions, as far as there is fuel, or until it is time to stop.
    pub fn apply(&self, module: &mut Module, analyses: &mut ModuleAnalyses, options: &Options<'_>) {
        match self.run {
            Run::Func(run) => {
                for (n, func) in module.funcs.iter_mut().enumerate() {
                    if options.stops() {
                        return;
                    }
                    let (name, analyses) = (func.name.clone(), analyses.of(n));
                    let step = Step { pass: self.name, on: &name, optional: true };
                    pass::run(step, func, |f| run(f, analyses));
                    self.preserves.keep(self.name, func, analyses);
                }
            }
            Run::Module(run) => {
                let step = Step { pass: self.name, on: "the module", optional: true };
                let roots = options.roots;
                pass::run(step, module, |m| {
                    if self.name == "inline" { inline::inline_with_roots(m, roots) } else { run(m) }
                });
                *analyses = ModuleAnalyses::default();
            }
        }
    }
}

/// Runs passes of one function over it, by their names: what a function needs that is made behind the
/// pipeline, whatever the fuel.
pub(crate) fn clean_up(func: &mut Func, passes: &[&str]) {
    let mut analyses = Analyses::default();
    for pass in passes.iter().filter_map(|name| lookup(name)) {
        if let Run::Func(run) = pass.run {
            run(func, &mut analyses);
            pass.preserves.keep(pass.name, func, &mut analyses);
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
    pub(crate) fn stops(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }
}

/// Runs the pipeline.
pub fn optimise(module: &mut Module, options: &Options<'_>) {
    run(module, options, PIPELINE);
}

/// Runs the pipeline as kernels have it. A branch around the wrapping of a negative index would cost more than
/// a choice.
pub fn optimise_kernel(module: &mut Module, options: &Options<'_>) {
    let passes: Vec<&str> =
        PIPELINE.iter().copied().filter(|p| *p != "unwrap").chain(["checks-first", "simplify-cfg"]).collect();
    run(module, options, &passes);
}

fn run(module: &mut Module, options: &Options<'_>, passes: &[&str]) {
    let mut analyses = ModuleAnalyses::default();
    for pass in passes.iter().filter_map(|name| lookup(name)) {
        pass.apply(module, &mut analyses, options);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::{InstData, parse_module};

    /// A branch that a pass may take out.
    fn diamond() -> Module {
        let text = "func @f(i8) -> i64 {\nblock0(v0: i8):\n v1 = const.i64 1\n brif v0, block1, block2\nblock1:\n jump block2\nblock2:\n return v1\n}";
        parse_module(text, &[]).expect("parses")
    }

    fn takes_out_the_branch(func: &mut Func, analyses: &mut Analyses) {
        assert_eq!(analyses.cfg(func).rpo().len(), 3);
        let t = func.terminator(func.entry()).expect("it ends");
        if let InstData::Brif { else_to, .. } = func.insts[t.index()].data.clone() {
            func.insts[t.index()].data = InstData::Jump(else_to);
        }
    }

    fn apply(preserves: Preserves) {
        let (mut module, mut analyses) = (diamond(), ModuleAnalyses::default());
        let pass = Pass { name: "test", doc: "", preserves, run: Run::Func(takes_out_the_branch) };
        pass.apply(&mut module, &mut analyses, &Options::default());
        assert_eq!(analyses.of(0).cfg(&module.funcs[0]).rpo().len(), 2);
    }

    #[test]
    fn what_a_pass_does_not_preserve_is_found_out_again() {
        apply(Preserves::Nothing);
    }

    #[test]
    #[should_panic(expected = "the pass test does not preserve ControlFlow")]
    fn a_pass_that_moves_an_edge_cannot_say_that_it_preserves_control_flow() {
        apply(Preserves::ControlFlow);
    }

    #[test]
    #[should_panic(expected = "the pass test does not preserve UnlessMoved")]
    fn a_pass_that_moves_an_edge_has_to_invalidate() {
        apply(Preserves::UnlessMoved);
    }

    #[test]
    fn the_pipeline_names_passes() {
        for name in PIPELINE.iter().chain(TIER1) {
            assert!(lookup(name).is_some(), "{name}");
        }
    }
}
