//! Tests of SSA.

use std::collections::BTreeSet;

use tierup_core::ssa::opt::{self, Pass, parallel};
use tierup_core::ssa::parse::FuncLines;
use tierup_core::ssa::verify::{Place, verify, violations};
use tierup_core::ssa::{Func, registry};

use super::case::{Case, split};
use super::host::FileHost;
use super::lir::run_lines;
use super::outcome::Outcome;
pub use super::program::bare;
use super::program::{Fault, Program, check, fault, read, round_trip};
use super::typed::{self, Level};
use crate::exec::Target;

/// What is done with a case.
pub(super) enum Test {
    Verify,
    Print,
    Passes(Vec<&'static Pass>),
    Loops,
    Notes,
    Typed(Level),
}

/// The test that the words of a `; test` line mean.
pub(super) fn test(words: &[&str]) -> Option<Test> {
    match words {
        ["verify"] => Some(Test::Verify),
        ["print"] => Some(Test::Print),
        ["loops"] => Some(Test::Loops),
        ["parallel"] => Some(Test::Notes),
        ["ssa", names @ ..] if !names.is_empty() => {
            names.iter().map(|n| opt::lookup(n)).collect::<Option<Vec<_>>>().map(Test::Passes)
        }
        [word] => Level::parse(word).map(Test::Typed),
        _ => None,
    }
}

pub(super) fn run_case(out: &mut Outcome, tests: &[Test], case: &Case) {
    let verifying = tests.iter().any(|t| matches!(t, Test::Verify));
    let funcs = match read(&case.text) {
        Ok(x) => x,
        Err(fault) if verifying => return out.compare_errors(&[fault], &case.errors),
        Err((line, message)) => return out.fail(line, message),
    };
    if verifying {
        let found: Vec<Fault> = funcs
            .iter()
            .flat_map(|(f, lines)| violations(f).into_iter().map(|v| (line_of(lines, v.place), v.message)))
            .collect();
        return out.compare_errors(&found, &case.errors);
    }
    for (f, lines) in &funcs {
        out.checks += 1;
        if let Err(e) = verify(f).map_err(|d| d.message).and_then(|()| round_trip(f)) {
            return out.fail(lines.header, e);
        }
    }
    for test in tests {
        let answer = match test {
            Test::Verify => continue,
            Test::Print => Ok(funcs.iter().map(|(f, _)| f.to_string()).collect()),
            Test::Passes(passes) => Program::new(funcs.clone()).and_then(|p| run_passes(case, p, passes)),
            Test::Loops | Test::Notes => match Program::new(funcs.clone())
                .and_then(|p| if let Test::Notes = test { typed::notes(case, &p) } else { loops(case, p) })
            {
                Ok(notes) => {
                    out.compare_errors(&[], &case.errors);
                    out.compare_notes(&notes, &case.notes);
                    continue;
                }
                Err(fault) => Err(fault),
            },
            Test::Typed(level) => Program::new(funcs.clone()).and_then(|p| {
                typed::run(case, p, *level, &mut |module| {
                    for target in [Target::Interp, Target::InterpLegalised, Target::Tier0] {
                        run_lines(out, case, module, target);
                    }
                })
            }),
        };
        match answer {
            Ok(text) => {
                out.compare_errors(&[], &case.errors);
                out.compare_output(case, &text);
            }
            Err(fault) => out.compare_errors(&[fault], &case.errors),
        }
    }
}

/// Does one thing with the functions of every case of a text.
fn each_case(
    text: &str,
    f: &mut dyn FnMut(&Case, Vec<(Func, FuncLines)>) -> Result<String, Fault>,
) -> Result<String, String> {
    let mut out = vec![];
    for case in split(text) {
        let answer = read(&case.text).and_then(|funcs| f(&case, funcs));
        out.push(answer.map_err(|(line, message)| format!("line {line}: {message}"))?);
    }
    Ok(out.join("; ---\n"))
}

/// Reads SSA and prints it.
pub fn cat(text: &str) -> Result<String, String> {
    each_case(text, &mut |_, funcs| Ok(funcs.iter().map(|(f, _)| f.to_string()).collect()))
}

/// Reads SSA and verifies it.
pub fn check_text(text: &str) -> Result<String, String> {
    each_case(text, &mut |_, funcs| {
        for (f, lines) in &funcs {
            if let Some(v) = violations(f).into_iter().next() {
                return Err((line_of(lines, v.place), v.message));
            }
        }
        Ok(String::new())
    })
}

/// Runs passes over the functions of a text; those that they change or make.
pub fn optimise(text: &str, passes: &[&Pass]) -> Result<String, String> {
    each_case(text, &mut |case, funcs| run_passes(case, Program::new(funcs)?, passes))
}

/// Takes functions of a text to a typed level: those of `calls`, `f(int)`, or of the `; args:` lines.
pub fn typed(text: &str, level: Level, calls: &[String]) -> Result<String, String> {
    let mut all = text.to_string();
    if !calls.is_empty() {
        let args: Vec<String> = calls.iter().map(|c| format!("; args: {c}\n")).collect();
        all = text.lines().filter(|l| !l.starts_with("; args: ")).map(|l| format!("{l}\n")).collect();
        all = args.concat() + &all;
    }
    each_case(&all, &mut |case, funcs| typed::run(case, Program::new(funcs)?, level, &mut |_| {}))
}

fn line_of(lines: &FuncLines, place: Place) -> u32 {
    match place {
        Place::Func => lines.header,
        Place::Block(b) => lines.blocks[b.index()],
        Place::Inst(i) => lines.insts[i.index()],
        Place::Term(b) => lines.terms[b.index()],
    }
}

/// The functions that passes change or make.
fn run_passes(case: &Case, mut program: Program, passes: &[&Pass]) -> Result<String, Fault> {
    let host = FileHost::new(case, &program)?;
    let mut out = String::new();
    let (mut seen, mut todo) = (BTreeSet::new(), BTreeSet::new());
    for k in 0..program.funcs.len() {
        let (id, mut func) = (program.funcs[k].id, program.funcs[k].func.clone());
        for p in passes {
            p.apply(&mut func, &host).map_err(|d| fault(&program, &d))?;
            check(&func).map_err(|e| (program.funcs[k].lines.header, format!("after {}: {e}", p.name)))?;
        }
        registry::set(id, func.clone());
        let (before, _) = program.show(&program.funcs[k].func.clone());
        let (after, named) = program.show(&func);
        if after == before {
            out.push_str(&format!("func {:?} is unchanged\n", func.name));
        } else {
            out.push_str(&after);
        }
        seen.insert(id);
        todo.extend(named);
    }
    seen.extend(program.funcs.iter().map(|f| f.id));
    while let Some(id) = todo.pop_first() {
        if !seen.insert(id) {
            continue;
        }
        let Some(func) = registry::get(id) else {
            return Err((case.last_line, format!("a pass names {id}, which is not registered")));
        };
        check(&func).map_err(|e| (case.last_line, e))?;
        let (text, named) = program.show(&func);
        out.push_str(&text);
        todo.extend(named);
    }
    Ok(out)
}

/// What is said of loops over `prange`, each at the line where it asks for its next number, and what of them
/// is doubtful.
fn loops(case: &Case, program: Program) -> Result<Vec<Fault>, Fault> {
    let host = FileHost::new(case, &program)?;
    let mut out = vec![];
    for f in &program.funcs {
        let mut func = f.func.clone();
        parallel::run(&mut func, &host).map_err(|d| fault(&program, &d))?;
        check(&func).map_err(|e| (f.lines.header, e))?;
        let at = |loc| {
            let span = func.span(loc);
            program.line(&span.func, span.line)
        };
        for l in &func.loops {
            let mut said = vec![];
            if l.body.is_some() {
                said.push("parallel".to_string());
            }
            said.extend(l.serial.iter().map(|why| format!("serial: {why}")));
            said.extend(l.shares.iter().cloned());
            said.extend(l.into.iter().map(|_| "joined with the one before".to_string()));
            said.extend(l.apart.iter().map(|(_, why)| format!("apart: {why}")));
            out.push((at(l.loc), said.join(", ")));
            out.extend(l.doubts.iter().map(|(loc, why)| (at(*loc), format!("doubt: {why}"))));
        }
    }
    Ok(out)
}
