//! The developer's tool: every level of the compiler by itself. `cargo run -p tierup-tests --bin jitc --
//! COMMAND …`
//!
//! A level is added by a row of [`COMMANDS`].

use std::time::{Duration, Instant};

use tierup_core::backend::{Backend, Keep};
use tierup_core::bytecode;
use tierup_core::diag::Diagnostic;
use tierup_core::lir::legalise::legalise;
use tierup_core::lir::{Module, parse_module, verify_module};
use tierup_core::pass;
use tierup_core::ssa::{self, Func, FuncId, Op, build, registry};
use tierup_runtime::engine::tier1::{Codegen, Compiler};
use tierup_tier0::Cranelift;

use crate::exec::{Linked, Program, Target};
use crate::filetests::Level;
use crate::{filetests, fuzz, helpers, passes};

pub struct Command {
    pub name: &'static str,
    pub usage: &'static str,
    pub about: &'static str,
    run: fn(&[String]) -> Result<String, String>,
}

pub const COMMANDS: &[Command] = &[
    Command {
        name: "decode",
        usage: "[--print] FILE.raw…",
        about: "decodes what a Python recorded (tests/tools/dump_bytecode.py) and reports what it does not know",
        run: decode,
    },
    Command {
        name: "ssa",
        usage: "[--keep-going] [--bare] FILE.raw",
        about: "untyped SSA of the functions of such a file, or of one in the `.bc` form; `--bare` leaves out where code comes from, as in filetests",
        run: ssa,
    },
    Command {
        name: "cat",
        usage: "FILE",
        about: "parses SSA or LIR and prints it",
        run: |a| match text(one(a)?)? {
            Text::Ssa(text) => in_file(one(a)?, filetests::ssa::cat(&text)),
            Text::Lir(text) => Ok(module(one(a)?, &text)?.to_string()),
        },
    },
    Command { name: "verify", usage: "FILE", about: "parses and verifies SSA or LIR", run: verify },
    Command {
        name: "opt",
        usage: "[--fuel N] [--dump] PASS… FILE",
        about: "runs passes over SSA or LIR and prints the result; `all` is the pipeline of LIR; without arguments, lists them",
        run: opt,
    },
    Command {
        name: "infer",
        usage: "FILE ['f(int, float64)' …]",
        about: "infers functions of a file of SSA for arguments of these types, or those of its `; args:` lines; prints typed SSA",
        run: |a| typed(a, Level::Infer),
    },
    Command {
        name: "lower",
        usage: "[STEP] FILE ['f(int, float64)' …]",
        about: "the same down to LIR, or as far as a step before it: inline, fuse, ownership",
        run: |a| match a.first().and_then(|word| Level::parse(word)) {
            Some(level) => typed(&a[1..], level),
            None => typed(a, Level::Lower),
        },
    },
    Command {
        name: "interp",
        usage: "FILE ['f(1, 2.5)' …]",
        about: "calls functions in the interpreter, or runs the file's `; run:` lines",
        run: |a| call(a, Target::Interp),
    },
    Command {
        name: "run",
        usage: "FILE ['f(1, 2.5)' …]",
        about: "calls functions compiled by tier 0, or runs the file's `; run:` lines",
        run: |a| call(a, Target::Tier0),
    },
    Command {
        name: "run1",
        usage: "FILE ['f(1, 2.5)' …]",
        about: "the same on tier 1",
        run: |a| call(a, Target::Tier1),
    },
    Command { name: "clif", usage: "FILE", about: "prints Cranelift's IR", run: |a| backend_text(a, "clif") },
    Command {
        name: "asm",
        usage: "FILE",
        about: "prints tier 0's machine code",
        run: |a| backend_text(a, "asm"),
    },
    Command { name: "llvm", usage: "FILE", about: "prints optimised LLVM IR", run: |a| llvm_text(a, "llvm") },
    Command {
        name: "asm1",
        usage: "FILE",
        about: "prints tier 1's machine code",
        run: |a| llvm_text(a, "asm"),
    },
    Command {
        name: "fuzz",
        usage: "[--seconds N] [--seed S]",
        about: "compares interpreter and back ends on random LIR from seed S on",
        run: fuzz_command,
    },
    Command {
        name: "generate",
        usage: "SEED",
        about: "prints the fuzzer's module of a seed with its calls",
        run: generate,
    },
    Command {
        name: "test",
        usage: "FILE…",
        about: "runs filetests; TIERUP_BLESS=1 rewrites expected output",
        run: test,
    },
];

/// Runs one command line; the answer is what to print.
pub fn main(args: &[String]) -> Result<String, String> {
    let Some((name, rest)) = args.split_first() else { return Err(usage()) };
    match COMMANDS.iter().find(|c| c.name == name) {
        Some(c) => (c.run)(rest)
            .map_err(|e| if e.is_empty() { format!("usage: jitc {} {}", c.name, c.usage) } else { e }),
        None => Err(usage()),
    }
}

fn usage() -> String {
    let lines: Vec<String> =
        COMMANDS.iter().map(|c| format!("  {:<32} {}", format!("{} {}", c.name, c.usage), c.about)).collect();
    format!("usage: jitc COMMAND …\n{}", lines.join("\n"))
}

/// The only argument; an empty error asks for the usage line.
fn one(args: &[String]) -> Result<&str, String> {
    if let [file] = args { Ok(file) } else { Err(String::new()) }
}

/// A file's text, by what it is.
enum Text {
    Ssa(String),
    Lir(String),
}

/// The text of a file, or of standard input where the name is `-`.
fn text(file: &str) -> Result<Text, String> {
    let text =
        if file == "-" { std::io::read_to_string(std::io::stdin()) } else { std::fs::read_to_string(file) };
    let text = text.map_err(|e| format!("{file}: {e}"))?;
    // Names of functions are quoted in SSA, and have a mark in front of them in LIR.
    Ok(if text.lines().any(|l| l.starts_with("func \"")) { Text::Ssa(text) } else { Text::Lir(text) })
}

fn module(file: &str, text: &str) -> Result<Module, String> {
    parse_module(text, &helpers::all()).map_err(|d| format!("{file}: {}", d.message))
}

/// The LIR of a file.
fn read(file: &str) -> Result<Module, String> {
    match text(file)? {
        Text::Lir(text) => module(file, &text),
        Text::Ssa(_) => Err(format!("{file}: this takes LIR")),
    }
}

fn in_file(file: &str, answer: Result<String, String>) -> Result<String, String> {
    answer.map_err(|e| format!("{file}: {e}"))
}

fn typed(args: &[String], level: Level) -> Result<String, String> {
    let (file, calls) = args.split_first().ok_or("")?;
    match text(file)? {
        Text::Ssa(text) => in_file(file, filetests::ssa::typed(&text, level, calls)),
        Text::Lir(_) => Err(format!("{file}: this takes SSA")),
    }
}

/// Decodes every code object and follows the stack of each; the first failures are shown.
fn decode(args: &[String]) -> Result<String, String> {
    let (print, files) = match args {
        [flag, rest @ ..] if flag == "--print" => (true, rest),
        _ => (false, args),
    };
    if files.is_empty() {
        return Err(String::new());
    }
    let (mut out, mut failures) = (String::new(), vec![]);
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
        let before = failures.len();
        let mut failed = |c: &bytecode::Code, e: Diagnostic| {
            failures.push(format!("{}:{} {}: {}", c.file, c.first_line, c.qualname, e.message));
            Ok(())
        };
        let codes = bytecode::recorded::parse_with(&text, &mut failed).map_err(|e| format!("{file}: {e}"))?;
        let (mut count, mut insts) = (0, 0);
        for c in &codes {
            if print {
                out.push_str(&c.to_string());
            }
            each_code(c, &mut |c| {
                count += 1;
                insts += c.insts.len();
                if let Err(e) = bytecode::stack::restores(c) {
                    failures.push(format!("{}:{} {}: {}", c.file, c.first_line, c.qualname, e.message));
                }
            });
        }
        let version = text.lines().next().unwrap_or_default();
        let wrong = failures.len() - before;
        out.push_str(&format!(
            "; {file}, {version}: {count} code objects, {insts} instructions, {wrong} failures\n"
        ));
    }
    if failures.is_empty() {
        return Ok(out);
    }
    failures.truncate(20);
    Err(format!("{out}{}", failures.join("\n")))
}

fn each_code(code: &bytecode::Code, f: &mut dyn FnMut(&bytecode::Code)) {
    f(code);
    for c in &code.consts {
        if let bytecode::Constant::Code(inner) = c {
            each_code(inner, f);
        }
    }
}

/// Untyped SSA, verified; inner functions follow the function that makes them. `--keep-going` reports errors
/// as comments.
fn ssa(args: &[String]) -> Result<String, String> {
    let (flags, rest) = args.split_at(args.iter().take_while(|a| a.starts_with("--")).count());
    let (mut keep_going, mut bare) = (false, false);
    for flag in flags {
        match flag.as_str() {
            "--keep-going" => keep_going = true,
            "--bare" => bare = true,
            _ => return Err(String::new()),
        }
    }
    let file = one(rest)?;
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let mut out = String::new();
    let recorded = text.starts_with("python");
    let codes = if recorded { bytecode::recorded::parse(&text) } else { bytecode::text::parse(&text) };
    for code in codes.map_err(|e| format!("{file}: {e}"))? {
        let start = Instant::now();
        let built = build::build(&code, 0).and_then(|mut f| {
            let time = start.elapsed();
            f.id = None;
            print_ssa(&f, bare, &mut vec![], &mut out).map(|()| time)
        });
        match built {
            Ok(time) => {
                out.push_str(&format!("; {} instructions of bytecode in {time:.0?}\n\n", code.insts.len()))
            }
            Err(e) if keep_going => {
                out.push_str(&format!("; {}: {}\n\n", code.qualname, e.to_string().replace('\n', "\n; ")))
            }
            Err(e) => return Err(e.to_string()),
        }
    }
    Ok(out)
}

fn print_ssa(func: &Func, bare: bool, seen: &mut Vec<FuncId>, out: &mut String) -> Result<(), Diagnostic> {
    ssa::verify::verify(func)?;
    out.push_str(&if bare { filetests::ssa::bare(func).to_string() } else { func.to_string() });
    for n in &func.insts {
        let Op::MakeFunction { func: id, .. } = n.op else { continue };
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        if let Some(inner) = registry::get(id) {
            print_ssa(&inner, bare, seen, out)?;
        }
    }
    Ok(())
}

fn verify(args: &[String]) -> Result<String, String> {
    let file = one(args)?;
    match text(file)? {
        Text::Ssa(text) => in_file(file, filetests::ssa::check_text(&text)),
        Text::Lir(text) => {
            verify_module(&module(file, &text)?).map_err(|d| d.to_string())?;
            Ok(String::new())
        }
    }
}

fn opt(args: &[String]) -> Result<String, String> {
    let Some((file, names)) = args.split_last() else {
        let lir: String = passes::passes().map(|p| format!("{:14} {}\n", p.name, p.doc)).collect();
        let ssa: String = ssa::opt::PASSES.iter().map(|p| format!("{:14} {}\n", p.name, p.doc)).collect();
        return Ok(format!("of SSA\n{ssa}of LIR\n{lir}"));
    };
    let mut module = match text(file)? {
        Text::Lir(text) => module(file, &text)?,
        Text::Ssa(text) => {
            let found: Result<Vec<&ssa::opt::Pass>, String> = names
                .iter()
                .map(|name| ssa::opt::lookup(name).ok_or_else(|| format!("unknown pass `{name}`")))
                .collect();
            return in_file(file, filetests::ssa::optimise(&text, &found?));
        }
    };
    let (mut dump, mut fuel, mut wanted) = (false, None, vec![]);
    let mut words = names.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--dump" => dump = true,
            "--fuel" => {
                fuel = Some(words.next().and_then(|n| n.parse().ok()).ok_or("--fuel takes a number")?)
            }
            // The whole pipeline, pass by pass.
            "all" => wanted.extend(passes::opt::PIPELINE.iter().filter_map(|name| passes::lookup(name))),
            name => wanted.push(passes::lookup(name).ok_or_else(|| format!("unknown pass `{name}`"))?),
        }
    }
    pass::set_dump(dump);
    pass::set_own_fuel(fuel);
    pass::take_times();
    let mut analyses = passes::ModuleAnalyses::default();
    let done = wanted.iter().try_for_each(|p| {
        p.apply(&mut module, &mut analyses, &passes::opt::Options::default());
        verify_module(&module).map_err(|d| format!("after {}: {d}", p.name))
    });
    pass::set_dump(false);
    pass::set_own_fuel(None);
    done?;
    eprintln!("milliseconds: {}", pass::show(pass::take_times()));
    Ok(module.renumbered().to_string())
}

fn call(args: &[String], target: Target) -> Result<String, String> {
    let (file, calls) = args.split_first().ok_or("")?;
    let module = read(file)?;
    let lines: Vec<String> = if !calls.is_empty() {
        calls.to_vec()
    } else {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
        text.lines().filter_map(|l| l.strip_prefix("; run: ")).map(String::from).collect()
    };
    let mut program = Program::new(&module, target).map_err(|d| d.to_string())?;
    let mut out = String::new();
    for line in lines {
        let start = Instant::now();
        let got = filetests::call_text(&mut program, &line);
        let time = start.elapsed();
        match got {
            Ok(text) => out.push_str(&format!("{line}\n    {text}    ({time:.0?})\n")),
            Err(e) => out.push_str(&format!("{line}\n    error: {e}\n")),
        }
    }
    Ok(out)
}

fn backend_text(args: &[String], what: &str) -> Result<String, String> {
    let mut module = read(one(args)?)?;
    verify_module(&module).map_err(|d| d.to_string())?;
    legalise(&mut module);
    let code = Cranelift::new()
        .compile(&module, &helpers::address, Keep { text: true, ..Keep::default() })
        .map_err(|d| d.to_string())?;
    code.text(what).ok_or_else(|| format!("tier 0 has no text `{what}`"))
}

fn llvm_text(args: &[String], what: &str) -> Result<String, String> {
    let mut module = read(one(args)?)?;
    verify_module(&module).map_err(|d| d.to_string())?;
    legalise(&mut module);
    let roots: Vec<&str> = module.funcs.iter().map(|f| f.name.as_str()).collect();
    let object = Linked
        .object(&module, &roots, Codegen::default(), Keep { text: true, ..Keep::default() })
        .map_err(|d| d.to_string())?;
    Ok(if what == "llvm" { object.llvm } else { object.asm })
}

fn fuzz_command(args: &[String]) -> Result<String, String> {
    let (mut seconds, mut seed) = (10, 1);
    let mut args = args.iter();
    while let Some(a) = args.next() {
        let value = args.next().and_then(|v| v.parse().ok()).ok_or("")?;
        match a.as_str() {
            "--seconds" => seconds = value,
            "--seed" => seed = value,
            other => return Err(format!("unknown option {other}")),
        }
    }
    // A crash of compiled code ends the process, so the seed must be on disk before it runs.
    let current = std::env::temp_dir().join(format!("jitc-fuzz-{}.seed", std::process::id()));
    eprintln!("the current seed is in {}", current.display());
    let (mut last, start) = (Instant::now(), Instant::now());
    let summary = fuzz::run(seed, Duration::from_secs(seconds), &mut |seed, s| {
        let _ = std::fs::write(&current, seed.to_string());
        if last.elapsed() > Duration::from_secs(5) {
            last = Instant::now();
            eprintln!(
                "{:>6.0?}  seed {seed}: {} modules, {} instructions, {} calls compared",
                start.elapsed(),
                s.modules,
                s.instructions,
                s.calls
            );
        }
    });
    let _ = std::fs::remove_file(&current);
    let s = summary?;
    Ok(format!(
        "no mismatch in {} modules of {} instructions, {} calls compared\n",
        s.modules, s.instructions, s.calls
    ))
}

fn generate(args: &[String]) -> Result<String, String> {
    let seed = one(args)?.parse().map_err(|_| String::new())?;
    let module = fuzz::generate::module(seed);
    let calls: Vec<String> = fuzz::calls(&module, seed).iter().map(|c| fuzz::run_line(&module, c)).collect();
    Ok(format!("; test interp\n; test run tier0\n; test run tier1\n{module}{}\n", calls.join("\n")))
}

fn test(args: &[String]) -> Result<String, String> {
    if args.is_empty() {
        return Err(String::new());
    }
    let mut out = String::new();
    for file in args {
        let n = filetests::run_file(std::path::Path::new(file), crate::bless()).map_err(|f| f.join("\n"))?;
        out.push_str(&format!("{file}: {n} checks\n"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::main;

    fn jitc(args: &[&str]) -> Result<String, String> {
        main(&args.iter().map(|a| a.to_string()).collect::<Vec<_>>())
    }
    fn file(name: &str) -> String {
        crate::root().join("tests/filetests/lir").join(name).display().to_string()
    }

    #[test]
    fn commands_answer() {
        let calls = file("calls.lir");
        assert!(jitc(&["cat", &calls]).is_ok_and(|t| t.contains("func @fib(i64) -> i64 {")));
        assert_eq!(jitc(&["verify", &calls]), Ok(String::new()));
        for target in ["interp", "run"] {
            assert!(jitc(&[target, &calls, "fib(20)"]).is_ok_and(|t| t.contains("6765")));
            assert!(jitc(&[target, &calls]).is_ok_and(|t| t.contains("fib(15) == 610\n    610 ")));
        }
        assert!(jitc(&["opt", "legalise", &calls]).is_ok_and(|t| t.contains("stack_addr")));
        // Without fuel nothing happens, with more and more of it more and more passes run.
        let all = jitc(&["opt", "all", &calls]).unwrap();
        assert_eq!(jitc(&["opt", "--fuel", "0", "all", &calls]), jitc(&["opt", "renumber", &calls]));
        assert_ne!(jitc(&["opt", "--fuel", "3", "all", &calls]), Ok(all.clone()));
        assert_eq!(jitc(&["opt", "--fuel", "10000", "--dump", "all", &calls]), Ok(all));
        assert!(jitc(&["clif", &calls]).is_ok_and(|t| t.contains("iadd")));
        assert!(jitc(&["asm", &calls]).is_ok_and(|t| !t.is_empty()));
        assert!(jitc(&["generate", "5"]).is_ok_and(|t| t.contains("; run: f0(buf")));
        assert!(jitc(&["test", &calls]).is_ok_and(|t| t.contains("checks")));
    }

    #[test]
    fn commands_take_ssa() {
        let file = crate::root().join("tests/filetests/ssa/type_narrowing.ssa").display().to_string();
        assert!(jitc(&["cat", &file]).is_ok_and(|t| t.starts_with("func \"")));
        assert_eq!(jitc(&["verify", &file]).map(|t| t.replace("; ---\n", "")), Ok(String::new()));
        assert!(jitc(&["opt", "type-narrowing", &file]).is_ok_and(|t| t.contains("not_none")));
        assert!(jitc(&["opt", "licm", &file]).is_err_and(|t| t == "unknown pass `licm`"));
        assert!(jitc(&["clif", &file]).is_err_and(|t| t.ends_with("this takes LIR")));
        let joins = crate::root().join("tests/filetests/infer/joins.ssa").display().to_string();
        assert!(jitc(&["infer", &joins]).is_ok_and(|t| t.contains("inst0 = ")));
        assert!(jitc(&["lower", "fuse", &joins]).is_ok_and(|t| t.contains("inst0 = ")));
        assert!(jitc(&["lower", &joins]).is_ok_and(|t| t.contains("func @")));
    }

    #[test]
    fn mistakes_are_explained() {
        assert!(jitc(&[]).is_err_and(|t| t.starts_with("usage: jitc COMMAND")));
        assert!(jitc(&["frobnicate"]).is_err_and(|t| t.contains("verify FILE")));
        assert_eq!(jitc(&["cat"]), Err("usage: jitc cat FILE".into()));
        assert!(jitc(&["cat", "/nonexistent.lir"]).is_err_and(|t| t.contains("/nonexistent.lir")));
        assert!(
            jitc(&["opt", "--fuel", "licm", &file("calls.lir")]).is_err_and(|t| t == "--fuel takes a number")
        );
        assert!(jitc(&["opt", "fuse", &file("calls.lir")]).is_err_and(|t| t == "unknown pass `fuse`"));
    }
}
