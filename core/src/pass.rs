//! Running a pass: a timer, a dump of what it changed, and fuel.
//!
//! The passes themselves are rows of two tables: [`crate::ssa::opt::PASSES`], which every function needs, and
//! [`crate::lir::opt::PASSES`], which only make code faster. Each of the latter that is run on one function
//! (or module) takes one unit of fuel. Where there is no more, it is left out, so a wrong result that comes
//! and goes with the fuel is the fault of the pass that took the last unit.

use crate::graph::{Analyses, FlowGraph};
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// Units left in this process.
static FUEL: AtomicI64 = AtomicI64::new(i64::MAX);
static DUMP: AtomicBool = AtomicBool::new(false);

thread_local! {
    static TIMES: RefCell<Times> = const { RefCell::new(vec![]) };
    /// Units left for this thread alone, which then does not touch the others'.
    static OWN_FUEL: Cell<Option<i64>> = const { Cell::new(None) };
}

/// Time by pass, in the order in which they first ran.
pub(crate) type Times = Vec<(&'static str, Duration)>;

/// Fuel for all that is compiled from now on; none for as much as is wanted.
pub fn set_fuel(units: Option<u64>) {
    FUEL.store(units.map_or(i64::MAX, |n| i64::try_from(n).unwrap_or(i64::MAX)), Ordering::Relaxed);
}
/// Fuel of this thread alone; none for the process's.
pub fn set_own_fuel(units: Option<u64>) {
    OWN_FUEL.set(units.map(|n| i64::try_from(n).unwrap_or(i64::MAX)));
}
/// Whether every pass prints what it changed, on standard error.
pub fn set_dump(on: bool) {
    DUMP.store(on, Ordering::Relaxed);
}

/// Time that passes took on this thread since the last call.
pub fn take_times() -> Times {
    TIMES.take()
}

/// A pass as it is run.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub pass: &'static str,
    /* what it runs on */ pub on: &'a str,
    /* it may be left out */ pub optional: bool,
}

/// What of the analyses of a function still holds behind a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preserves {
    /// All: the pass moves no edge, and makes and drops no block that can be reached.
    ControlFlow,
    /// What the pass has not invalidated where it moved an edge: most often it finds nothing to move.
    UnlessMoved,
    Nothing,
}

impl Preserves {
    /// Forgets what the pass has not preserved. Where assertions are on, all the rest is found out once more
    /// and must be the same.
    pub(crate) fn keep<G: FlowGraph>(self, pass: &str, func: &G, analyses: &mut Analyses<G::Block>) {
        if self == Preserves::Nothing {
            analyses.invalidate();
        }
        if cfg!(debug_assertions) {
            assert!(analyses.hold(func), "the pass {pass} does not preserve {self:?}");
        }
    }
}

/// Runs a pass, if there is fuel for it; its answer, if it ran.
pub(crate) fn run<T: Display, R>(step: Step<'_>, ir: &mut T, pass: impl FnOnce(&mut T) -> R) -> Option<R> {
    if step.optional && !burn(step) {
        return None;
    }
    let before = DUMP.load(Ordering::Relaxed).then(|| ir.to_string());
    let start = Instant::now();
    let answer = pass(ir);
    let took = start.elapsed();
    TIMES.with_borrow_mut(|all| match all.iter_mut().find(|(name, _)| *name == step.pass) {
        Some((_, time)) => *time += took,
        None => all.push((step.pass, took)),
    });
    if let Some(before) = before {
        let after = ir.to_string();
        if after == before {
            eprintln!("tierup: {} changed nothing in {}", step.pass, step.on)
        } else {
            eprintln!("tierup: {} after {}\n{after}", step.on, step.pass)
        }
    }
    Some(answer)
}

fn burn(step: Step<'_>) -> bool {
    let left = match OWN_FUEL.get() {
        Some(n) => {
            OWN_FUEL.set(Some(n.saturating_sub(1)));
            n
        }
        None if FUEL.load(Ordering::Relaxed) == i64::MAX => return true,
        None => FUEL.fetch_sub(1, Ordering::Relaxed),
    };
    match left {
        2.. => true,
        1 => {
            eprintln!("tierup: the last unit of fuel goes to {} of {}", step.pass, step.on);
            true
        }
        _ => false,
    }
}

/// `fold 1.20 ms, licm 0.31`: the passes that took longest first.
pub fn show(mut times: Times) -> String {
    times.sort_by_key(|(_, t)| std::cmp::Reverse(*t));
    let each: Vec<String> =
        times.iter().map(|(name, t)| format!("{name} {:.2}", t.as_secs_f64() * 1e3)).collect();
    each.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuel_runs_out_and_times_add_up() {
        let step = |pass, optional| Step { pass, on: "f", optional };
        let mut n = 0;
        take_times();
        set_own_fuel(Some(2));
        for _ in 0..5 {
            run(step("test-a", true), &mut n, |n| *n += 1);
        }
        run(step("test-b", false), &mut n, |n| *n += 10);
        set_own_fuel(None);
        assert_eq!(n, 12);
        assert_eq!(run(step("test-a", true), &mut n, |n| *n), Some(12));
        let times = take_times();
        assert_eq!(times.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["test-a", "test-b"]);
        assert!(show(times).contains("test-b "));
        assert!(take_times().is_empty());
    }
}
