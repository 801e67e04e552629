//! Tests of what comes after untyped SSA: inference, and lowering step by step.

use std::collections::HashSet;

use tierup_core::diag::Diagnostic;
use tierup_core::emit::cx::{Options, Overflow};
use tierup_core::emit::platform;
use tierup_core::emit::wrapper::make_wrapper;
use tierup_core::infer::state::Session;
use tierup_core::lir::opt;
use tierup_core::lir::{Loc, Module, verify_module};
use tierup_core::lower::{self, PLATFORMS, STEPS, gpu};
use tierup_core::ssa::opt::parallel;
use tierup_core::ssa::{Func, InstanceId, registry};
use tierup_core::types::{Type, parse};

use super::case::Case;
use super::host::FileHost;
use super::program::{Fault, Loaded, Program, check, fault};

/// How far a function is taken.
#[derive(Clone, Copy, PartialEq)]
pub enum Level {
    Infer,
    /// So many of [`STEPS`] have run.
    Step(usize),
    Lower,
    /// What the Python side calls.
    Wrapper,
    /// What a GPU gets.
    Kernel,
}

impl Level {
    pub fn parse(word: &str) -> Option<Level> {
        match word {
            "infer" => Some(Level::Infer),
            "lower" => Some(Level::Lower),
            "wrapper" => Some(Level::Wrapper),
            "gpu" => Some(Level::Kernel),
            name => STEPS.iter().position(|s| s.name == name).map(|k| Level::Step(k + 1)),
        }
    }
}

/// What the `; args:` lines of a case ask for, at that level. `lowered` gets the LIR.
pub(super) fn run(
    case: &Case,
    mut program: Program,
    level: Level,
    lowered: &mut dyn FnMut(&Module),
) -> Result<String, Fault> {
    let host = FileHost::new(case, &program)?;
    outline(&program, &host)?;
    let options = options(case)?;
    let mut text = String::new();
    let mut asked = false;
    for (line, call) in case.facts("args") {
        asked = true;
        let (func, args) = called(&program, line, call)?;
        let mut session = Session::new(&host, options.overflow);
        let header = func.lines.header;
        let root = session.infer_root(func.id, args).map_err(|d| fault(&program, &d))?;
        if matches!(level, Level::Infer | Level::Step(_)) {
            text.push_str(&instances(&mut program, &session, root, level).map_err(|e| (line, e))?);
            continue;
        }
        let mut module = machine_code(&session, root, options, level).map_err(|d| {
            let (line, message) = fault(&program, &d);
            (if line == 0 { header } else { line }, message)
        })?;
        verify_module(&module).map_err(|d| (line, format!("{d}\n{module}")))?;
        lowered(&module);
        forget_places(&mut module);
        text.push_str(&module.to_string());
    }
    if asked { Ok(text) } else { Err((1, "no `; args:` line says what for".into())) }
}

/// An instance and everything it calls as LIR: all of it, its wrapper, or what becomes of it for a GPU.
fn machine_code(
    session: &Session<'_>,
    root: InstanceId,
    options: Options,
    level: Level,
) -> Result<Module, Diagnostic> {
    let options = if level == Level::Kernel { Options { platform: &gpu::Gpu, ..options } } else { options };
    let (mut module, target) = lower::lower(session, root, options)?;
    match level {
        Level::Infer | Level::Step(_) | Level::Lower => {}
        Level::Wrapper => {
            module.funcs = vec![make_wrapper(&target.name, &target.sig, &target.params)];
        }
        Level::Kernel => module.funcs.push(gpu::make_kernel("kernel", &target)?),
    }
    let objected = |m: &mut Module, roots: &[&str]| {
        opt::optimise(m, &opt::Options { roots: Some(roots), stop: None });
        platform::check(m, options.platform)
    };
    match level {
        Level::Kernel => objected(&mut module, &["kernel"])?,
        // Shown as it is lowered.
        Level::Lower => objected(&mut module.clone(), &[&target.name])?,
        Level::Infer | Level::Step(_) | Level::Wrapper => {}
    }
    Ok(module)
}

/// What became of operations on arrays in parallel code, each at its line: the operations, and why one thread
/// does them where it does.
pub(super) fn notes(case: &Case, program: &Program) -> Result<Vec<Fault>, Fault> {
    let host = FileHost::new(case, program)?;
    outline(program, &host)?;
    let options = options(case)?;
    let mut out = vec![];
    for (line, call) in case.facts("args") {
        let (func, args) = called(program, line, call)?;
        let mut session = Session::new(&host, options.overflow);
        let root = session.infer_root(func.id, args).map_err(|d| fault(program, &d))?;
        let notes = lower::parallel_notes(&session, root, options).map_err(|d| fault(program, &d))?;
        for n in notes {
            let steps: Vec<String> = n.steps.into_iter().map(|s| s.0).collect();
            let how = match (n.serial, n.with) {
                (Some(why), _) => format!("one thread: {why}"),
                (None, Some(with)) => format!("with line {with}"),
                (None, None) => {
                    n.only.map_or("in chunks".to_string(), |only| format!("in chunks where {only}"))
                }
            };
            out.push((
                program.line(&func.func.qualname, n.place.line),
                format!("{}: {how}", steps.join(", ")),
            ));
        }
    }
    Ok(out)
}

/// Does with the loops of parallel functions what is done when they are built.
fn outline(program: &Program, host: &FileHost) -> Result<(), Fault> {
    for f in program.funcs.iter().filter(|f| f.func.parallel.any() && f.func.loops.is_empty()) {
        let mut func = f.func.clone();
        parallel::run(&mut func, host).map_err(|d| fault(program, &d))?;
        check(&func).map_err(|e| (f.lines.header, e))?;
        registry::set(f.id, func);
    }
    Ok(())
}

/// The function of an `; args:` line, and the types of its arguments.
fn called<'p>(program: &'p Program, line: u32, call: &str) -> Result<(&'p Loaded, Vec<Type>), Fault> {
    let (name, args) = signature(call).map_err(|e| (line, e))?;
    let of = program.funcs.iter().find(|f| *f.func.qualname == *name);
    Ok((of.ok_or_else(|| (line, format!("the file has no function {name:?}")))?, args))
}

/// `f(int, array(float64, 1d, C))`.
fn signature(text: &str) -> Result<(&str, Vec<Type>), String> {
    let (name, args) = text.split_once('(').ok_or("expected NAME(types)")?;
    let all = parse::exact(&format!("tuple({args}"))?;
    Ok((name.trim(), all.members().unwrap_or_default().to_vec()))
}

/// `; options: overflow_checks numpy_errors`: those that are not as usual.
fn options(case: &Case) -> Result<Options, Fault> {
    let mut options = Options::default();
    for (line, text) in case.facts("options") {
        for word in text.split_whitespace() {
            match word {
                "overflow_checks" => options.overflow = Overflow::Raise,
                "numpy_errors" => options.numpy_errors = true,
                "no_boundscheck" => options.boundscheck = false,
                _ => return Err((line, format!("unknown option {word:?}"))),
            }
        }
    }
    for (line, name) in case.facts("platform") {
        options.platform = *PLATFORMS
            .iter()
            .find(|p| p.name() == name.trim())
            .ok_or_else(|| (line, format!("unknown platform {name:?}")))?;
    }
    Ok(options)
}

/// The typed code of every instance that `root` needs.
fn instances(
    program: &mut Program,
    session: &Session<'_>,
    root: InstanceId,
    level: Level,
) -> Result<String, String> {
    let mut out = String::new();
    let made = lower::generator::typed(session);
    let (mut seen, mut todo) = (HashSet::from([root]), vec![root]);
    while let Some(id) = todo.pop() {
        let inst = session.at(id);
        let Some(typed) = &inst.typed else { return Err(format!("{} is not typed", inst.func.name)) };
        let (mut func, mut globals) = (Func::clone(&typed.func), typed.globals.clone());
        check(&func)?;
        if let Level::Step(n) = level {
            for step in &STEPS[..n] {
                (step.run)(&mut func, &mut globals, session, &platform::Host);
                check(&func).map_err(|e| format!("after {}: {e}", step.name))?;
            }
        }
        let args: Vec<String> = inst.key.args.iter().map(|t| format!("{:#}", program.ty(*t))).collect();
        let ret = program.ty(inst.ret);
        out.push_str(&format!("{id} = {}({}) -> {ret:#}\n", inst.func.name, args.join(", ")));
        out.push_str(&program.show(&func).0);
        let mut more = lower::callees(&func);
        more.extend(lower::generator::mentioned(&func, &made));
        more.retain(|c| seen.insert(*c));
        todo.extend(more.into_iter().rev());
    }
    Ok(out)
}

/// Places in the source say nothing where the source is the file itself, and addresses are others each time.
fn forget_places(module: &mut Module) {
    for func in &mut module.funcs {
        func.symbols.iter_mut().for_each(|s| s.addr = 0);
        func.locs.clear();
        func.insts.iter_mut().for_each(|i| i.loc = Loc(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use tierup_core::bytecode::recorded;
    use tierup_core::ssa::{FuncId, build, registry};

    /// Functions of the recordings, by name.
    fn recorded_functions() -> HashMap<String, FuncId> {
        let mut out = HashMap::new();
        for name in ["statements", "exceptions", "closures", "encodings"] {
            let path = crate::root().join(format!("tests/bytecode/py311/{name}.raw"));
            let text = std::fs::read_to_string(path).expect("the recording is there");
            for code in recorded::parse(&text).expect("the recording is one") {
                let func = build::build(&code, 0).expect("what is recorded is built");
                out.insert(func.qualname.to_string(), registry::add(func));
            }
        }
        out
    }

    /// Typed code of real functions, as far as each step of lowering, follows the rules of SSA and is read
    /// back as what was printed.
    #[test]
    fn typed_code_of_recorded_functions_is_read_back() {
        let funcs = recorded_functions();
        let host = FileHost::of(funcs.clone());
        let types =
            ["int", "float64", "bool", "str", "array(float64, 1d, C)", "list(int)", "tuple(int, str)"];
        let mut checked = 0;
        for (name, id) in &funcs {
            let params = registry::get(*id).map_or(0, |f| f.params.names.len());
            for ty in types {
                let args = vec![parse::parse(ty).expect("a type"); params];
                let mut session = Session::new(&host, Overflow::Raise);
                let Ok(root) = session.infer_root(*id, args) else { continue };
                for step in 0..=STEPS.len() {
                    let mut program = Program::new(vec![]).expect("nothing is wrong with nothing");
                    if let Err(e) = instances(&mut program, &session, root, Level::Step(step)) {
                        panic!("{name}({ty}), {step} steps: {e}");
                    }
                    checked += 1;
                }
            }
        }
        assert!(checked > 500, "{checked}");
    }
}
