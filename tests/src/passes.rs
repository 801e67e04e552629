//! Passes over LIR by name, for `; test opt NAME` and `jitc opt`. A row of `core/src/lir/opt` is found by
//! itself.

pub use tierup_core::lir::opt::{self, ModuleAnalyses, Pass, Run};
use tierup_core::lir::{Module, legalise};
use tierup_core::pass::Preserves;

/// Passes that are no optimisations.
const OTHERS: &[Pass] = &[
    Pass {
        name: "legalise",
        doc: "At most one result scalar beside the status.",
        preserves: Preserves::Nothing,
        run: Run::Module(legalise::legalise),
    },
    Pass {
        name: "contract",
        doc: "Products fused with the sums that they go into.",
        preserves: Preserves::Nothing,
        run: Run::Module(tierup_core::lir::contract::contract),
    },
    Pass {
        name: "renumber",
        doc: "Everything numbered in layout order.",
        preserves: Preserves::Nothing,
        run: Run::Module(|m| *m = m.renumbered()),
    },
    Pass {
        name: "all",
        doc: "The pipeline of tier 0.",
        preserves: Preserves::Nothing,
        run: Run::Module(optimise),
    },
];

pub fn passes() -> impl Iterator<Item = &'static Pass> {
    OTHERS.iter().chain(opt::PASSES)
}
pub fn lookup(name: &str) -> Option<&'static Pass> {
    passes().find(|p| p.name == name)
}

/// What the fuzzer calls "optimised".
pub fn optimise(module: &mut Module) {
    opt::optimise(module, &opt::Options::default());
}
