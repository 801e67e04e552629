//! Runs `tests/filetests/**`. Start at [`run_file`].
//!
//! The first lines of a file say what to do, one `; test` line for each thing. A file of LIR (`.lir`,
//! [`lir`]):
//!
//! * `; test interp` runs the `; run:` lines on the interpreter, before and after legalisation; `; test run
//!   tier0` and `; test run tier1` run them on the tiers.
//! * `; test verify` expects the errors of the `; error: text` comments, each at its line (a comment alone on
//!   a line speaks of the line above), and no others. Parse errors count; after one nothing else of the case
//!   is checked.
//! * `; test short-loop-entry` compares the entries that the wrappers among the functions get.
//! * `; test print` compares the module's text with the `; output:` block; `; test opt NAME …` does so after
//!   the named passes, and runs the `; run:` lines on the result.
//!
//! A file of SSA (`.ssa`, [`ssa`]):
//!
//! * `; test verify` and `; test print` do the same.
//! * `; test parallel` expects what became of operations on arrays in functions whose text says what of them
//!   is parallel, as `; note: NAMES: how` at their lines.
//! * `; test ssa NAME …` runs passes of `core/src/ssa/opt` over the functions in the order of the file (inner
//!   functions come first) and compares all that have changed or are new. An error of a pass is expected as
//!   `; error: code: text`.
//! * `; test loops` expects what is found out about loops over `prange` as `; note: text` at the lines that
//!   ask for their next numbers, and what is doubtful about them as `; note: doubt: text`.
//! * `; test infer` infers the function that an `; args: f(int, array(float64, 1d, C))` line names for
//!   arguments of these types, and compares the typed code of all functions that it needs; `; test inline`,
//!   `; test fuse` and `; test ownership` do so as far as that step of `core/src/lower`, `; test lower`
//!   compares the LIR that it becomes, and runs `; run: f.0(ctx, 1) == 0, 2` lines on it. `; test wrapper`
//!   compares what the Python side calls, `; test gpu` what a GPU gets once LIR is optimised.
//!   `; options: overflow_checks` says what is not as usual, `; platform: gpu` what the code is to run on, which
//!   objects once LIR is optimised.
//!
//! Where no instruction of a case has a place in a source, its places are the file's lines.
//!
//! What names mean there: `np` and `numpy`, `math`, `prange` and the builtins are what they are in Python,
//! functions of the file are known by name, `; global: NAME = 2.5` gives another one.
//!
//! `; run: f(1, -2.5, buf) == 3, nan` calls a function and compares all results; see [`crate::exec`] for
//! pointers. `; run: f(0) stops: text` expects the interpreter to stop, and is for it alone. A line `; ---`
//! starts an independent module. `; contains: text` and `; lacks: text` lines stand in place of the output
//! block where the answer is long. `TIERUP_BLESS=1` rewrites what stands after `==` (with the interpreter's
//! answer), output blocks, and `; error:` and `; note:` comments that do not say what is found. Every module is also printed and parsed back, and every module that the
//! interpreter runs is run again after each optimisation.

mod case;
mod host;
mod lir;
mod outcome;
mod program;
pub mod ssa;
mod typed;

use std::path::Path;

use case::Case;
use outcome::Outcome;

pub use lir::{call_text, exercised};
pub use typed::Level;

/// Runs one file; gives the number of checks, or what failed.
pub fn run_file(path: &Path, bless: bool) -> Result<usize, Vec<String>> {
    let text = std::fs::read_to_string(path).map_err(|e| vec![format!("{}: {e}", path.display())])?;
    let mut out = Outcome::new(path, &text, bless);
    if path.extension().is_some_and(|e| e == "ssa") {
        run_cases(&mut out, &text, ssa::test, ssa::run_case);
    } else {
        run_cases(&mut out, &text, lir::test, lir::run_case);
    }
    if !out.failures.is_empty() {
        return Err(out.failures);
    }
    let checks = out.checks;
    if bless {
        let new = out.blessed();
        if new != text {
            std::fs::write(path, new).map_err(|e| vec![e.to_string()])?;
        }
    }
    Ok(checks)
}

/// Does with every case of a file what its `; test` lines say.
fn run_cases<T>(
    out: &mut Outcome,
    text: &str,
    test: fn(&[&str]) -> Option<T>,
    run_case: fn(&mut Outcome, &[T], &Case),
) {
    let mut tests = vec![];
    for spec in text.lines().filter_map(|l| l.strip_prefix("; test ")) {
        match test(&spec.split_whitespace().collect::<Vec<_>>()) {
            Some(t) => tests.push(t),
            None => return out.fail(1, format!("unknown `; test {spec}`, or a pass that it names")),
        }
    }
    if tests.is_empty() {
        return out.fail(1, "no `; test` line says what to do");
    }
    for case in case::split(text) {
        run_case(out, &tests, &case);
    }
}

/// Runs every file below a folder of `tests/filetests`.
pub fn run_all(folder: &str, suffix: &str) -> Result<usize, Vec<String>> {
    let files = crate::files_below(&crate::root().join("tests/filetests").join(folder), suffix);
    let (mut checks, mut failures) = (0, vec![]);
    for f in &files {
        match run_file(f, crate::bless()) {
            Ok(n) => checks += n,
            Err(e) => failures.extend(e),
        }
    }
    if files.is_empty() {
        failures.push(format!("no {suffix} files below {folder}"));
    }
    if failures.is_empty() { Ok(checks) } else { Err(failures) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use tierup_core::lir::{InstData, Op};

    fn check(folder: &str, suffix: &str) {
        match super::run_all(folder, suffix) {
            Ok(n) => println!("{n} checks"),
            Err(failures) => panic!("{} failures\n{}", failures.len(), failures.join("\n")),
        }
    }

    #[test]
    fn lir_files() {
        check("lir", ".lir");
    }

    #[test]
    fn optimisations() {
        check("opt", ".lir");
    }

    #[test]
    fn ssa_files() {
        check("ssa", ".ssa");
    }

    #[test]
    fn typed_files() {
        check("infer", ".ssa");
        check("lower", ".ssa");
        check("lower", ".lir");
    }

    /// A new row of the table, or a new type of an old one, needs a filetest that runs it on the interpreter
    /// and on tier 0.
    #[test]
    fn every_form_of_every_instruction_is_run() {
        let mut seen = HashSet::new();
        for path in crate::files_below(&crate::root().join("tests/filetests/lir"), ".lir") {
            for (module, names) in
                super::lir::exercised(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
            {
                for f in module.funcs.iter().filter(|f| names.contains(&f.name)) {
                    for node in &f.insts {
                        if let InstData::Op { op, ty, args } = &node.data {
                            seen.insert((*op, *ty, f.value_type(args[args.len() - 1])));
                        }
                    }
                }
            }
        }
        let forms = Op::ALL
            .iter()
            .flat_map(|op| op.forms().into_iter().map(move |(ty, args)| (*op, ty, args[args.len() - 1])));
        let missing: Vec<_> = forms
            .filter(|f| !seen.contains(f))
            .map(|(op, ty, from)| format!("{}.{ty} of {from}", op.mnemonic()))
            .collect();
        assert!(missing.is_empty(), "no file under tests/filetests/lir runs: {}", missing.join(", "));
        assert!(seen.len() > 200);
    }
}
