//! Tests of LIR.

use std::path::Path;

use tierup_core::diag::Diagnostic;
use tierup_core::lir::text::{FuncLines, parse_module_with_lines};
use tierup_core::lir::verify::{Place, violations};
use tierup_core::lir::{Module, verify_module};
use tierup_core::lower::short_loop_entry::{SHORT_SUFFIX, short_loop_entry};

use super::case::{Case, Expect, Run, parse_run, split};
use super::outcome::Outcome;
use crate::exec::{Program, Target};
use crate::passes::{self, Pass};

/// What is done with a case.
pub(super) enum Test {
    Exec(&'static [Target]),
    Verify,
    Print,
    Opt(Vec<&'static Pass>),
    ShortLoop,
}

/// The test that the words of a `; test` line mean.
pub(super) fn test(words: &[&str]) -> Option<Test> {
    match words {
        ["verify"] => Some(Test::Verify),
        ["print"] => Some(Test::Print),
        ["opt", names @ ..] if !names.is_empty() => {
            names.iter().map(|n| passes::lookup(n)).collect::<Option<Vec<_>>>().map(Test::Opt)
        }
        ["short-loop-entry"] => Some(Test::ShortLoop),
        other => Target::parse(other).map(Test::Exec),
    }
}

pub(super) fn run_case(out: &mut Outcome, tests: &[Test], case: &Case) {
    let parsed = parse_module_with_lines(&case.text, &crate::helpers::all());
    let verifying = tests.iter().any(|t| matches!(t, Test::Verify));
    let (module, lines) = match parsed {
        Ok(x) => x,
        Err(d) if verifying => {
            let line = d.span.as_ref().map_or(0, |s| s.line);
            return out.compare_errors(&[(line, d.message)], &case.errors);
        }
        Err(d) => return out.fail(d.span.as_ref().map_or(0, |s| s.line), &d.message),
    };
    round_trip(out, case, &module);
    if verifying {
        let found: Vec<(u32, String)> =
            violations(&module).into_iter().map(|v| (line_of(&lines[v.func], v.place), v.message)).collect();
        return out.compare_errors(&found, &case.errors);
    }
    if let Err(d) = verify_module(&module) {
        return out.fail(case.last_line, d);
    }
    for test in tests {
        match test {
            Test::Exec(targets) => {
                for t in *targets {
                    run_lines(out, case, &module, *t);
                }
                if targets.contains(&Target::Interp) && !out.bless {
                    survives_passes(out, case, &module);
                }
            }
            Test::Verify => {}
            Test::Print => out.compare_output(case, &module.to_string()),
            Test::Opt(passes) => optimise(out, case, &module, passes),
            Test::ShortLoop => short_loops(out, case, &module),
        }
    }
}

fn round_trip(out: &mut Outcome, case: &Case, module: &Module) {
    out.checks += 1;
    let text = module.to_string();
    match parse_module_with_lines(&text, &crate::helpers::all()) {
        Ok((again, _)) if again == *module && module.renumbered() == *module => {}
        Ok(_) => out.fail(case.last_line, format!("parsing the printed text gives another module:\n{text}")),
        Err(d) => out.fail(case.last_line, format!("the printed text does not parse: {}\n{text}", d.message)),
    }
}

fn line_of(lines: &FuncLines, place: Place) -> u32 {
    match place {
        Place::Func => lines.header,
        Place::Block(b) => lines.blocks[b.index()],
        Place::Inst(i) => lines.insts[i.index()],
    }
}

fn optimise(out: &mut Outcome, case: &Case, module: &Module, passes: &[&Pass]) {
    let (mut m, mut analyses) = (module.clone(), passes::ModuleAnalyses::default());
    for p in passes {
        p.apply(&mut m, &mut analyses, &passes::opt::Options::default());
        if let Err(d) = verify_module(&m) {
            return out.fail(case.last_line, format!("after pass {}: {d}\n{m}", p.name));
        }
    }
    out.compare_output(case, &m.renumbered().to_string());
    let same_signatures = m.funcs.iter().all(|f| module.func(&f.name).is_none_or(|g| g.sig == f.sig));
    if same_signatures {
        for t in [Target::Interp, Target::Tier0] {
            run_lines(out, case, &m, t);
        }
    }
}

/// The entries for short loops of the wrappers of a module.
fn short_loops(out: &mut Outcome, case: &Case, module: &Module) {
    let mut text = String::new();
    for wrapper in module.funcs.iter().filter(|f| f.wraps.is_some()) {
        match short_loop_entry(wrapper, &format!("{}{SHORT_SUFFIX}", wrapper.name)) {
            Some(func) => text.push_str(&func.renumbered().to_string()),
            None => text.push_str(&format!("{} has no such entry\n", wrapper.name)),
        }
    }
    out.compare_output(case, &text);
}

/// What a module computes stays the same after each pass alone and after the pipeline.
fn survives_passes(out: &mut Outcome, case: &Case, module: &Module) {
    let case = Case {
        facts: vec![],
        runs: case.runs.iter().filter(|r| matches!(r.expect, Expect::Results(_))).cloned().collect(),
        text: String::new(),
        errors: vec![],
        notes: vec![],
        parts: vec![],
        output: None,
        ..*case
    };
    for p in passes::passes() {
        let mut m = module.clone();
        p.apply(&mut m, &mut passes::ModuleAnalyses::default(), &passes::opt::Options::default());
        if let Err(d) = verify_module(&m) {
            return out.fail(case.last_line, format!("after pass {}: {d}\n{m}", p.name));
        }
        if !m.funcs.iter().all(|f| module.func(&f.name).is_none_or(|g| g.sig == f.sig)) {
            continue;
        }
        let before = out.failures.len();
        run_lines(out, &case, &m, Target::Interp);
        if out.failures.len() > before {
            return out.fail(case.last_line, format!("this was after pass {}:\n{m}", p.name));
        }
    }
}

pub(super) fn run_lines(out: &mut Outcome, case: &Case, module: &Module, target: Target) {
    if case.runs.is_empty() {
        return;
    }
    let mut program = match Program::new(module, target) {
        Ok(p) => p,
        Err(d) => return out.fail(case.last_line, format!("{}: {d}", target.name())),
    };
    for run in &case.runs {
        let interpreted = matches!(target, Target::Interp | Target::InterpLegalised);
        if matches!(run.expect, Expect::Stops(_)) && !interpreted {
            continue;
        }
        out.checks += 1;
        match run_line(&mut program, run) {
            Ok((got, want)) if Some(&got) == want.as_ref() => {}
            Ok((got, _)) if out.bless && target == Target::Interp => {
                let line = &mut out.lines[run.line as usize - 1];
                let call = line.split(" ==").next().unwrap_or("").trim_end().to_string();
                *line = format!("{call} == {got}");
            }
            Ok((got, want)) if !out.bless => out.fail(
                run.line,
                format!(
                    "{}: expected {}, got {got}",
                    target.name(),
                    want.as_deref().unwrap_or("nothing yet")
                ),
            ),
            // While blessing the expectation is the interpreter's answer, which the next run compares.
            Ok(_) => {}
            Err(e) => out.fail(run.line, format!("{}: {e}", target.name())),
        }
    }
}

/// What the call gives and what the line expects, both in the same spelling.
fn run_line(p: &mut Program, run: &Run) -> Result<(String, Option<String>), String> {
    let sig = p.sig(&run.func).ok_or_else(|| format!("the module has no function {}", run.func))?.clone();
    if sig.params.len() != run.args.len() {
        return Err(format!("{} takes {} arguments", run.func, sig.params.len()));
    }
    let value = |p: &Program, t, s: &String| p.parse_arg(t, s).ok_or_else(|| format!("`{s}` is no {t}"));
    let args =
        sig.params.iter().zip(&run.args).map(|(t, s)| value(p, *t, s)).collect::<Result<Vec<u64>, _>>()?;
    let got = p.call(&run.func, &args);
    if let Expect::Stops(text) = &run.expect {
        let got = got.err().map_or("a result".to_string(), |s| s.to_string());
        return if got.contains(text.as_str()) {
            Ok((got.clone(), Some(got)))
        } else {
            Err(format!("expected to stop with `{text}`, got {got}"))
        };
    }
    let show = |p: &Program, values: &[u64]| {
        if values.is_empty() {
            return "()".to_string();
        }
        sig.results.iter().zip(values).map(|(t, x)| p.show(*t, *x)).collect::<Vec<_>>().join(", ")
    };
    let got = show(p, &got.map_err(|s| s.to_string())?);
    match &run.expect {
        Expect::Results(want) => {
            if want.len() != sig.results.len() {
                return Ok((got, Some(want.join(", "))));
            }
            let want = sig
                .results
                .iter()
                .zip(want)
                .map(|(t, s)| value(p, *t, s))
                .collect::<Result<Vec<u64>, _>>()?;
            let want = show(p, &want);
            Ok((got, Some(want)))
        }
        Expect::Missing | Expect::Stops(_) => Ok((got, None)),
    }
}

/// Calls `f(1, 2.5)` (what follows `==` does not matter) and gives the results as text.
pub fn call_text(p: &mut Program, call: &str) -> Result<String, String> {
    let mut run = parse_run(0, call);
    run.expect = Expect::Missing;
    run_line(p, &run).map(|(got, _)| got)
}

/// The functions of a file that `; run:` lines call, directly or through other functions of the module, with
/// the module.
pub fn exercised(path: &Path) -> Result<Vec<(Module, Vec<String>)>, Diagnostic> {
    let text = std::fs::read_to_string(path).map_err(|e| Diagnostic::internal(e.to_string()))?;
    if !text.contains("; test interp") || !text.contains("; test run tier0") {
        return Ok(vec![]);
    }
    split(&text)
        .iter()
        .map(|case| {
            let (module, _) = parse_module_with_lines(&case.text, &crate::helpers::all())?;
            let mut names: Vec<String> = case
                .runs
                .iter()
                .filter(|r| matches!(r.expect, Expect::Results(_)))
                .map(|r| r.func.clone())
                .collect();
            let mut at = 0;
            while at < names.len() {
                let callees = module
                    .func(&names[at])
                    .map(|f| f.funcs.iter().map(|x| x.name.clone()).collect::<Vec<_>>())
                    .unwrap_or_default();
                for c in callees {
                    if !names.contains(&c) {
                        names.push(c);
                    }
                }
                at += 1;
            }
            Ok((module, names))
        })
        .collect()
}
