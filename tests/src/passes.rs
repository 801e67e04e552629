//! Passes over LIR by name, for `; test opt NAME` and `jitc opt`. A pass is tested by adding a row.

use tierup_core::lir::{Module, legalise};

pub struct Pass { pub name: &'static str, pub run: fn(&mut Module) }

pub const PASSES: &[Pass] = &[
    Pass { name: "legalise", run: legalise::legalise },
    Pass { name: "renumber", run: |m| *m = m.renumbered() },
];

/// What the fuzzer calls "optimised": passes in order.
pub const OPTIMISE: &[&str] = &[];

pub fn lookup(name: &str) -> Option<&'static Pass> { PASSES.iter().find(|p| p.name == name) }

/// Runs [`OPTIMISE`].
pub fn optimise(module: &mut Module) {
    for pass in OPTIMISE.iter().filter_map(|n| lookup(n)) { (pass.run)(module); }
}
