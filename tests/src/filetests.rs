//! Runs `tests/filetests/**/*.lir`. Start at [`run_file`].
//!
//! The first lines say what to do, one `; test` line for each thing:
//!
//! * `; test interp` runs the `; run:` lines on the interpreter, before and after legalisation; `; test run
//!   tier0` and `; test run tier1` run them on the tiers.
//! * `; test verify` expects the errors of the `; error: text` comments, each at its line (a comment alone on
//!   a line speaks of the line above), and no others. Parse errors count; after one nothing else of the case
//!   is checked.
//! * `; test print` compares the module's text with the `; output:` block; `; test opt NAME …` does so after
//!   the named passes, and runs the `; run:` lines on the result.
//!
//! `; run: f(1, -2.5, buf) == 3, nan` calls a function and compares all results; see [`crate::exec`] for
//! pointers. `; run: f(0) stops: text` expects the interpreter to stop, and is for it alone. A line `; ---`
//! starts an independent module. `TIERUP_BLESS=1` rewrites what stands after `==` (with the interpreter's
//! answer) and output blocks. Every module is also printed and parsed back, and every module that the
//! interpreter runs is run again after each optimisation.

use std::path::Path;

use tierup_core::diag::Diagnostic;
use tierup_core::lir::text::{FuncLines, parse_module_with_lines};
use tierup_core::lir::verify::{Place, violations};
use tierup_core::lir::{Module, verify_module};

use crate::exec::{Program, Target};
use crate::passes::{self, Pass};

enum Test {
    Exec(&'static [Target]),
    Verify,
    Print,
    Opt(Vec<&'static Pass>),
}

/// One `; run:` line.
#[derive(Clone, Debug)]
pub struct Run {
    pub line: u32,
    pub func: String,
    pub args: Vec<String>,
    pub expect: Expect,
}
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    Results(Vec<String>),
    Stops(String),
    Missing,
}

/// One module of a file; lines of other modules are blank, so that line numbers are the file's.
struct Case {
    text: String,
    runs: Vec<Run>,
    errors: Vec<(u32, String)>,
    output: Option<Vec<String>>,
    last_line: u32,
}

/// Collects failures, and new lines while blessing.
struct Outcome {
    path: String,
    failures: Vec<String>,
    checks: usize,
    bless: bool,
    lines: Vec<String>,
    outputs: Vec<(u32, Vec<String>)>,
}

impl Outcome {
    fn fail(&mut self, line: u32, message: impl std::fmt::Display) {
        self.failures.push(format!("{}:{line}: {message}", self.path));
    }
}

/// Runs one file; gives the number of checks, or what failed.
pub fn run_file(path: &Path, bless: bool) -> Result<usize, Vec<String>> {
    let text = std::fs::read_to_string(path).map_err(|e| vec![format!("{}: {e}", path.display())])?;
    let name = path.strip_prefix(crate::root()).unwrap_or(path).display().to_string();
    let mut out = Outcome {
        path: name,
        failures: vec![],
        checks: 0,
        bless,
        lines: text.lines().map(String::from).collect(),
        outputs: vec![],
    };
    match tests(&text) {
        Err(e) => out.fail(1, e),
        Ok(tests) if tests.is_empty() => out.fail(1, "no `; test` line says what to do"),
        Ok(tests) => {
            for case in split(&text) {
                run_case(&mut out, &tests, &case);
            }
        }
    }
    if bless && out.failures.is_empty() {
        let mut lines = out.lines;
        for (after, block) in out.outputs.into_iter().rev() {
            replace_output(&mut lines, after, block);
        }
        let new = lines.join("\n") + "\n";
        if new != text {
            std::fs::write(path, new).map_err(|e| vec![e.to_string()])?;
        }
    }
    if out.failures.is_empty() { Ok(out.checks) } else { Err(out.failures) }
}

fn tests(text: &str) -> Result<Vec<Test>, String> {
    text.lines()
        .filter_map(|l| l.strip_prefix("; test "))
        .map(|spec| {
            let words: Vec<&str> = spec.split_whitespace().collect();
            match words.as_slice() {
                ["verify"] => Ok(Test::Verify),
                ["print"] => Ok(Test::Print),
                ["opt", names @ ..] if !names.is_empty() => {
                    let found: Option<Vec<_>> = names.iter().map(|n| passes::lookup(n)).collect();
                    found.map(Test::Opt).ok_or_else(|| format!("unknown pass in `; test {spec}`"))
                }
                other => {
                    Target::parse(other).map(Test::Exec).ok_or_else(|| format!("unknown `; test {spec}`"))
                }
            }
        })
        .collect()
}

fn split(text: &str) -> Vec<Case> {
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> =
        lines.iter().enumerate().filter(|(_, l)| l.trim() == "; ---").map(|(i, _)| i + 1).collect();
    let ends = starts.iter().map(|s| s - 1).chain([lines.len()]);
    let cases = [0].iter().copied().chain(starts.iter().copied()).zip(ends);
    cases
        .map(|(from, to)| {
            let mut case = Case {
                text: "\n".repeat(from),
                runs: vec![],
                errors: vec![],
                output: None,
                last_line: to as u32,
            };
            let mut last_code = from as u32 + 1;
            for (i, line) in lines[from..to].iter().enumerate() {
                let no = (from + i) as u32 + 1;
                if let Some(block) = &mut case.output {
                    if let Some(l) = line.strip_prefix(';') {
                        block.push(l.strip_prefix(' ').unwrap_or(l).trim_end().to_string());
                    }
                    continue;
                }
                case.text.push_str(line);
                case.text.push('\n');
                let code = line.split(';').next().unwrap_or("").trim();
                if !code.is_empty() {
                    last_code = no;
                }
                if let Some(run) = line.strip_prefix("; run: ") {
                    case.runs.push(parse_run(no, run));
                }
                if let Some((_, e)) = line.split_once("; error: ") {
                    case.errors.push((last_code, e.trim().to_string()));
                }
                if line.trim() == "; output:" {
                    case.output = Some(vec![]);
                }
            }
            case
        })
        .collect()
}

fn parse_run(line: u32, text: &str) -> Run {
    let (call, expect) = if let Some((call, what)) = text.split_once(" stops: ") {
        (call, Expect::Stops(what.trim().into()))
    } else if let Some((call, want)) = text.split_once(" ==") {
        (call, Expect::Results(list(want)))
    } else {
        (text, Expect::Missing)
    };
    let call = call.trim();
    let open = call.rfind('(').unwrap_or(call.len());
    let args = call.get(open + 1..call.len().saturating_sub(1)).map(list).unwrap_or_default();
    Run { line, func: call[..open].trim_start_matches('@').trim_matches('"').to_string(), args, expect }
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(|s| s.trim().to_string()).filter(|s| !s.is_empty() && s != "()").collect()
}

fn run_case(out: &mut Outcome, tests: &[Test], case: &Case) {
    let parsed = parse_module_with_lines(&case.text, &crate::helpers::all());
    let verifying = tests.iter().any(|t| matches!(t, Test::Verify));
    let (module, lines) = match parsed {
        Ok(x) => x,
        Err(d) if verifying => {
            let line = d.span.as_ref().map_or(0, |s| s.line);
            return compare_errors(out, &[(line, d.message)], &case.errors);
        }
        Err(d) => return out.fail(d.span.as_ref().map_or(0, |s| s.line), &d.message),
    };
    round_trip(out, case, &module);
    if verifying {
        let found: Vec<(u32, String)> =
            violations(&module).into_iter().map(|v| (line_of(&lines[v.func], v.place), v.message)).collect();
        return compare_errors(out, &found, &case.errors);
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
            Test::Print => compare_output(out, case, &module.to_string()),
            Test::Opt(passes) => optimise(out, case, &module, passes),
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

fn compare_errors(out: &mut Outcome, found: &[(u32, String)], want: &[(u32, String)]) {
    for (line, message) in found {
        out.checks += 1;
        if !want.iter().any(|(l, text)| l == line && message.contains(text.as_str())) {
            out.fail(*line, format!("unexpected error: {message}"));
        }
    }
    for (line, text) in want {
        if !found.iter().any(|(l, message)| l == line && message.contains(text.as_str())) {
            out.fail(*line, format!("expected error did not occur: {text}"));
        }
    }
}

fn compare_output(out: &mut Outcome, case: &Case, got: &str) {
    out.checks += 1;
    let got: Vec<String> = got.trim_end().lines().map(|l| l.trim_end().to_string()).collect();
    if out.bless {
        out.outputs.push((case.last_line, got));
        return;
    }
    match &case.output {
        None => out.fail(case.last_line, "no `; output:` block (TIERUP_BLESS=1 writes it)"),
        Some(want) => {
            if let Some(at) = (0..got.len().max(want.len())).find(|i| got.get(*i) != want.get(*i)) {
                out.fail(
                    case.last_line,
                    format!(
                        "output differs in line {}:\n  expected {:?}\n  got      {:?}\nwhole output:\n{}",
                        at + 1,
                        want.get(at),
                        got.get(at),
                        got.join("\n")
                    ),
                );
            }
        }
    }
}

/// Replaces or appends the output block of the case that ends at line `end`.
fn replace_output(lines: &mut Vec<String>, end: u32, block: Vec<String>) {
    let end = end as usize;
    let from = lines[..end].iter().rposition(|l| l.trim() == "; ---").map_or(0, |i| i + 1);
    let start = lines[from..end].iter().position(|l| l.trim() == "; output:").map_or(end, |i| from + i);
    let new = std::iter::once("; output:".to_string())
        .chain(block.into_iter().map(|l| format!("; {l}").trim_end().to_string()));
    lines.splice(start..end, new);
}

fn optimise(out: &mut Outcome, case: &Case, module: &Module, passes: &[&Pass]) {
    let mut m = module.clone();
    for p in passes {
        p.apply(&mut m, &passes::opt::Options::default());
        if let Err(d) = verify_module(&m) {
            return out.fail(case.last_line, format!("after pass {}: {d}\n{m}", p.name));
        }
    }
    compare_output(out, case, &m.renumbered().to_string());
    let same_signatures = m.funcs.iter().all(|f| module.func(&f.name).is_none_or(|g| g.sig == f.sig));
    if same_signatures {
        for t in [Target::Interp, Target::Tier0] {
            run_lines(out, case, &m, t);
        }
    }
}

/// What a module computes stays the same after each pass alone and after the pipeline.
fn survives_passes(out: &mut Outcome, case: &Case, module: &Module) {
    let case = Case {
        runs: case.runs.iter().filter(|r| matches!(r.expect, Expect::Results(_))).cloned().collect(),
        text: String::new(),
        errors: vec![],
        output: None,
        ..*case
    };
    for p in passes::passes() {
        let mut m = module.clone();
        p.apply(&mut m, &passes::opt::Options::default());
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

fn run_lines(out: &mut Outcome, case: &Case, module: &Module, target: Target) {
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

/// Runs every file below a folder of `tests/filetests`.
pub fn run_all(folder: &str) -> Result<usize, Vec<String>> {
    let files = crate::files_below(&crate::root().join("tests/filetests").join(folder), ".lir");
    let (mut checks, mut failures) = (0, vec![]);
    for f in &files {
        match run_file(f, crate::bless()) {
            Ok(n) => checks += n,
            Err(e) => failures.extend(e),
        }
    }
    if files.is_empty() {
        failures.push(format!("no files below {folder}"));
    }
    if failures.is_empty() { Ok(checks) } else { Err(failures) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use tierup_core::lir::{InstData, Op};

    #[test]
    fn lir_files() {
        match super::run_all("lir") {
            Ok(n) => println!("{n} checks"),
            Err(failures) => panic!("{} failures\n{}", failures.len(), failures.join("\n")),
        }
    }

    #[test]
    fn optimisations() {
        match super::run_all("opt") {
            Ok(n) => println!("{n} checks"),
            Err(failures) => panic!("{} failures\n{}", failures.len(), failures.join("\n")),
        }
    }

    /// A new row of the table, or a new type of an old one, needs a filetest that runs it on the interpreter
    /// and on tier 0.
    #[test]
    fn every_form_of_every_instruction_is_run() {
        let mut seen = HashSet::new();
        for path in crate::files_below(&crate::root().join("tests/filetests/lir"), ".lir") {
            for (module, names) in
                super::exercised(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
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
