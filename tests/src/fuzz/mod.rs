//! Differential fuzzing of LIR: random modules on the interpreter and on every other target, results and
//! memory compared bit for bit (any NaN equals any NaN). [`generate`] and [`loops`] make them, [`reduce`]
//! shrinks what fails.
//!
//! `jitc fuzz --seconds 60 --seed 1` runs it at length; a short run is part of the tests. A seed says all
//! about a module and its inputs.

pub mod generate;
pub mod loops;
pub mod reduce;
pub mod rng;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use tierup_core::interp::Stop;
use tierup_core::lir::{Module, Signature, Ty, parse_module, verify_module};

use crate::exec::{Program, Target, is_nan};
use crate::{helpers, passes};
use rng::Rng;

/// Instructions that one call may take in the interpreter; what needs more is skipped.
const FUEL: u64 = 1_000_000;
const CALLS: usize = 6;

/// One call that two targets answer differently, or a step that failed.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// What disagreed with the interpreter: a target, `verify`, `text`, or a pass.
    pub what: String,
    pub detail: String,
    /// The call that shows it.
    pub call: Option<(String, Vec<u64>)>,
}

/// What stands on the other side of a comparison.
#[derive(Clone, Copy)]
pub struct Side {
    pub target: Target,
    pub optimised: bool,
}
impl Side {
    pub fn all() -> Vec<Side> {
        let plain = Target::ALL
            .iter()
            .skip(1)
            .map(|t| Side { target: *t, optimised: false })
            .filter(|s| s.target.available());
        // Optimised code on the interpreter tells a wrong pass from a wrong back end.
        let optimised = [Target::Interp, Target::Tier0, Target::Tier1]
            .map(|target| Side { target, optimised: true })
            .into_iter()
            .filter(|s| s.target.available());
        plain.chain(optimised).collect()
    }
    fn name(self) -> String {
        format!("{}{}", self.target.name(), if self.optimised { ", optimised" } else { "" })
    }
}

/// What a call leaves: results and the buffer's bytes, or why it stopped.
type Answer = Result<(Vec<u64>, Vec<u8>), Stop>;

fn answer(p: &mut Program, name: &str, args: &[u64]) -> Answer {
    let results = p.call(name, args)?;
    Ok((results, p.memory.buf.to_vec()))
}

/// The calls of a module: several for each function, with arguments from the seed.
pub fn calls(module: &Module, seed: u64) -> Vec<(String, Vec<u64>)> {
    let mut rng = Rng::new(seed ^ 0xca11);
    module
        .funcs
        .iter()
        .flat_map(|f| {
            (0..CALLS).map(|_| (f.name.clone(), generate::arguments(&f.sig, &mut rng, 0))).collect::<Vec<_>>()
        })
        .collect()
}

/// Runs the calls everywhere; `None` where all agree. Counts calls that were compared.
pub fn check(module: &Module, calls: &[(String, Vec<u64>)], compared: &mut usize) -> Option<Mismatch> {
    let fail = |what: &str, detail: String, call: Option<(String, Vec<u64>)>| {
        Some(Mismatch { what: what.into(), detail, call })
    };
    if let Err(d) = verify_module(module) {
        return fail("verify", d.to_string(), None);
    }
    match parse_module(&module.to_string(), &helpers::all()) {
        Ok(again) if again == module.renumbered() => {}
        Ok(_) => return fail("text", "parsing the printed text gives another module".into(), None),
        Err(d) => return fail("text", d.to_string(), None),
    }
    let mut reference = match Program::new(module, Target::Interp) {
        Ok(p) => p,
        Err(d) => return fail("interp", d.to_string(), None),
    };
    reference.set_fuel(FUEL);
    let buf = reference.memory.buf.as_ptr() as u64;
    let answers: Vec<Answer> =
        calls.iter().map(|(f, args)| answer(&mut reference, f, &with_buffer(args, buf))).collect();
    for side in Side::all() {
        let mut optimised = module.clone();
        if side.optimised {
            passes::optimise(&mut optimised);
            if let Err(d) = verify_module(&optimised) {
                return fail("verify, optimised", d.to_string(), None);
            }
        }
        let mut p = match Program::new(&optimised, side.target) {
            Ok(p) => p,
            Err(d) => return fail(&side.name(), d.to_string(), None),
        };
        p.set_fuel(2 * FUEL);
        let buf = p.memory.buf.as_ptr() as u64;
        for ((f, args), want) in calls.iter().zip(&answers) {
            // Undefined for compiled code, or too long.
            if want.is_err() {
                continue;
            }
            *compared += 1;
            let got = answer(&mut p, f, &with_buffer(args, buf));
            let sig = module.func(f).map(|x| x.sig.clone()).unwrap_or_default();
            if let Some(detail) = difference(&sig, want, &got) {
                return fail(&side.name(), detail, Some((f.clone(), args.clone())));
            }
        }
    }
    None
}

/// The first argument is the buffer of the program at hand.
fn with_buffer(args: &[u64], buf: u64) -> Vec<u64> {
    let mut args = args.to_vec();
    if let Some(first) = args.first_mut() {
        *first = buf;
    }
    args
}

fn difference(sig: &Signature, want: &Answer, got: &Answer) -> Option<String> {
    let ((want, want_memory), (got, got_memory)) = match (want, got) {
        (Ok(w), Ok(g)) => (w, g),
        (_, g) => return Some(format!("stopped: {g:?}")),
    };
    for (i, (ty, (w, g))) in sig.results.iter().zip(want.iter().zip(got)).enumerate() {
        if w != g && !(is_nan(*ty, *w) && is_nan(*ty, *g)) {
            return Some(format!("result {i}: expected {}, got {}", show(*ty, *w), show(*ty, *g)));
        }
    }
    let at = (0..want_memory.len()).find(|i| want_memory[*i] != got_memory[*i])?;
    Some(format!("byte {at} of the buffer: expected {}, got {}", want_memory[at], got_memory[at]))
}

fn show(ty: Ty, bits: u64) -> String {
    format!("{ty} {}", tierup_core::lir::text::Constant { ty, bits })
}

/// A `; run:` line that shows a call.
pub fn run_line(module: &Module, call: &(String, Vec<u64>)) -> String {
    let Some(f) = module.func(&call.0) else { return String::new() };
    let args: Vec<String> = f
        .sig
        .params
        .iter()
        .zip(&call.1)
        .enumerate()
        .map(|(i, (ty, bits))| {
            if i == 0 {
                "buf".to_string()
            } else {
                tierup_core::lir::text::Constant { ty: *ty, bits: *bits }.to_string()
            }
        })
        .collect();
    format!("; run: {}({})", call.0, args.join(", "))
}

/// Modules and calls that were compared, or the first mismatch.
#[derive(Debug, Default)]
pub struct Summary {
    pub modules: usize,
    pub calls: usize,
    pub instructions: usize,
}

/// Checks one seed.
pub fn one(seed: u64, summary: &mut Summary) -> Result<(), Box<(Module, Mismatch)>> {
    let module = generate::module(seed);
    let calls = calls(&module, seed);
    summary.modules += 1;
    summary.instructions += module.funcs.iter().map(|f| f.insts.len()).sum::<usize>();
    match check(&module, &calls, &mut summary.calls) {
        None => Ok(()),
        Some(m) => Err(Box::new((module, m))),
    }
}

/// Runs seeds from `first` on until the time is over or a mismatch is found, which is reduced and described.
pub fn run(first: u64, time: Duration, progress: &mut dyn FnMut(u64, &Summary)) -> Result<Summary, String> {
    let (start, mut summary) = (Instant::now(), Summary::default());
    let mut seed = first;
    while start.elapsed() < time {
        progress(seed, &summary);
        if let Err(found) = one(seed, &mut summary) {
            return Err(describe(seed, found.0, found.1));
        }
        seed += 1;
    }
    Ok(summary)
}

/// A mismatch, reduced, as a filetest.
pub fn describe(seed: u64, module: Module, mismatch: Mismatch) -> String {
    let (what, call) = (mismatch.what.clone(), mismatch.call.clone());
    let calls: Vec<_> =
        calls(&module, seed).into_iter().filter(|c| call.as_ref().is_none_or(|k| k == c)).collect();
    let (module, mismatch) =
        reduce::reduce(module, mismatch, &|m| check(m, &calls, &mut 0).filter(|found| found.what == what));
    let mut s = format!(
        "; test interp\n; test run tier0\n; test run tier1\n; Found by fuzzing, seed {seed}: {}: {}\n\n",
        mismatch.what,
        mismatch.detail.replace('\n', "\n; ")
    );
    let _ = write!(s, "{}", module.renumbered());
    if let Some(call) = &mismatch.call {
        let _ = writeln!(s, "{}", run_line(&module, call));
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_finds_no_mismatch() {
        let mut summary = Summary::default();
        for seed in 0..150 {
            if let Err(found) = one(seed, &mut summary) {
                panic!("{}", describe(seed, found.0, found.1));
            }
        }
        // The generator must not degenerate into modules that are skipped.
        assert!(summary.calls > 2_000, "{summary:?}");
    }

    /// The fuzzer would find a wrong answer: a module is compared with one that differs in one operation.
    #[test]
    fn a_difference_is_noticed() {
        let text = |op: &str| {
            format!(
                "func @f(ptr, i64) -> i64 {{\nblock0(v0: ptr, v1: i64):\n v2 = {op}.i64 v1, v1\n return v2\n}}\n"
            )
        };
        let program = |op: &str| {
            Program::new(&parse_module(&text(op), &[]).expect("parses"), Target::Interp).expect("verifies")
        };
        let (mut a, mut b) = (program("iadd"), program("imul"));
        let sig = a.sig("f").expect("defined").clone();
        let (x, y) = (answer(&mut a, "f", &[0, 3]), answer(&mut b, "f", &[0, 3]));
        assert!(difference(&sig, &x, &x).is_none());
        assert_eq!(difference(&sig, &x, &y).as_deref(), Some("result 0: expected i64 6, got i64 9"));
    }

    #[test]
    fn generation_is_deterministic() {
        assert_eq!(generate::module(7).to_string(), generate::module(7).to_string());
        assert_ne!(generate::module(7).to_string(), generate::module(8).to_string());
    }
}
