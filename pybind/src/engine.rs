//! The door to the compiler: a function and argument types in, an address to call out.

use std::sync::{Arc, RwLock};
use tierup_core::backend::Backend;
use tierup_core::diag::Result;
use tierup_core::emit::cx::Places;
use tierup_core::host::Host;
use tierup_core::layout::ThreadCtx;
use tierup_core::meaning::Meaning;
use tierup_core::pass;
use tierup_core::ssa::FuncId;
use tierup_core::types::{Const, Type};
use tierup_runtime::engine::promote::{self, Osr, Policy, Unit};
use tierup_runtime::engine::{self, Interpreted, Phases, Request};
use tierup_runtime::gpu::Build;
use tierup_runtime::panics::settle;
use tierup_tier0::Cranelift;

pub(crate) use engine::Wrapper;

/// What `@jit` was told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub code: tierup_core::emit::cx::Options,
    /// Calls release the GIL.
    pub nogil: bool,
    /// Code has lines for debuggers and profilers.
    pub lines: bool,
    /// What runs in parallel.
    pub parallel: tierup_core::ssa::Parts,
    /// Nothing is compiled: Python runs the function.
    pub force_python: bool,
    /// It is the inner loop of a ufunc, over arrays of one dimension.
    pub inner_loop: bool,
    /// It is a loop of a function that Python runs, which goes on with what the loop gives.
    pub goes_on: bool,
    /// Python runs it where it does not compile.
    pub falls_back: bool,
    /// What numbers mean in it; none where its caller says.
    pub meaning: Option<Meaning>,
}

impl Options {
    /// Whether calls give what Python would give for them, so that it may as well make some.
    pub(crate) fn gives_pythons_answer(&self) -> bool {
        let code = &self.code;
        self.falls_back
            && self.meaning != Some(Meaning::Numba)
            && !self.goes_on
            && !self.nogil
            && !self.force_python
            && code.overflow == tierup_core::emit::cx::Overflow::Python
            && !code.numpy_errors
            && code.fast_math == 0
            && self.parallel == tierup_core::ssa::Parts(0)
    }
}

/// A function, the types of its arguments, and the values of some of them that code is for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub func: FuncId,
    pub args: &'a [Type],
    pub values: &'a [Option<Const>],
    /// Groups of arguments whose empty containers may be one object.
    pub alike: &'a [Option<usize>],
}

/// Code of one overload; dropping it frees the code.
pub(crate) struct Compiled(engine::Compiled);

impl Compiled {
    /// The unit whose cells hold the addresses to jump to; none where the code is interpreted.
    pub(crate) fn native(&self) -> Option<&Arc<Unit>> {
        self.0.is_native().then_some(&self.0.unit)
    }
    pub(crate) fn unit(&self) -> &Arc<Unit> {
        &self.0.unit
    }
    /// Calls the function.
    ///
    /// # Safety
    /// As for `engine::Compiled::call`.
    pub(crate) unsafe fn call(&self, ctx: *mut ThreadCtx, args: *const u64, results: *mut u64) -> u64 {
        // SAFETY: as required of the caller.
        settle(unsafe { self.0.call(&self.0.unit.wrapper, ctx, args, results) })
    }
    /// What the generator that the function returns yields, and what its frame keeps.
    pub(crate) fn yields(&self) -> Option<&(Type, Places)> {
        self.0.yields.as_ref()
    }
    /// Whether the code may change anything.
    pub(crate) fn changes_something(&self) -> bool {
        self.0.changes_something
    }
    pub(crate) fn keeps_to_copies(&self) -> bool {
        self.0.keeps_to_copies
    }
    pub(crate) fn draws(&self) -> bool {
        self.0.draws
    }
    pub(crate) fn runs_in_parallel(&self) -> bool {
        self.0.in_parallel
    }
    /// Whether the code, a generator's included, may change lists that it was given.
    pub(crate) fn changes_lists(&self) -> bool {
        self.0.changes_lists
    }
    /// Resumes that generator.
    ///
    /// # Safety
    /// As for `engine::Compiled::call`, with the frame as the argument; the function returns a generator.
    pub(crate) unsafe fn resume(&self, ctx: *mut ThreadCtx, args: *const u64, results: *mut u64) -> u64 {
        // SAFETY: as required of the caller; resuming takes the frame.
        settle(unsafe { self.0.call(&self.0.unit.resume, ctx, args, results) })
    }
    /// The types that it takes, which may be wider than those that were asked for.
    pub(crate) fn params(&self) -> &[Type] {
        &self.0.params
    }
    pub(crate) fn ret(&self) -> Type {
        self.0.ret
    }
    pub(crate) fn text(&self, level: &str) -> Option<String> {
        self.0.text(level)
    }
    pub(crate) fn phases(&self) -> Phases {
        self.0.phases
    }
    pub(crate) fn size(&self) -> usize {
        self.0.size()
    }
}

/// Settings of `tierup.config` that compilation follows.
struct Settings {
    interpret: bool,
    promote: bool,
    dump: Vec<String>,
    trace: bool,
}
static SETTINGS: RwLock<Settings> =
    RwLock::new(Settings { interpret: false, promote: true, dump: vec![], trace: false });

pub(crate) fn configure(tier: &str, dump: Vec<String>, trace: bool, policy: Policy) {
    promote::set_stress(policy.osr == Osr::Stress);
    crate::ctx::set_stress(policy.osr == Osr::Stress);
    promote::set_policy(policy);
    pass::set_dump(dump.iter().any(|d| d == "passes"));
    *SETTINGS.write().unwrap_or_else(|e| e.into_inner()) =
        Settings { interpret: tier == "interp", promote: !policy.off, dump, trace };
}

/// Whether a level is printed while compiling.
pub(crate) fn dumps(level: &str) -> bool {
    SETTINGS.read().unwrap_or_else(|e| e.into_inner()).dump.iter().any(|d| d == level)
}

/// Compiles one overload; `keep_text` keeps what [`Compiled::text`] prints.
pub(crate) fn compile(
    wanted: Wanted<'_>,
    options: &Options,
    host: &dyn Host,
    keep_text: bool,
) -> Result<Compiled> {
    let (interpret, ready, dump, trace) = {
        let s = SETTINGS.read().unwrap_or_else(|e| e.into_inner());
        (s.interpret, s.promote && !s.interpret && !keep_text, s.dump.clone(), s.trace)
    };
    let cranelift = Cranelift::new();
    let backend: &dyn Backend = if interpret && !keep_text { &Interpreted } else { &cranelift };
    let request = Request {
        func: wanted.func,
        args: wanted.args.to_vec(),
        values: wanted.values.to_vec(),
        host,
        backend,
        options: options.code,
        keep_text: keep_text || !dump.is_empty(),
        lines: options.lines || engine::debug::lines_wanted(),
        promote: ready && promote::available(),
        ready,
        inner_loop: options.inner_loop,
        goes_on: options.goes_on,
        alike: wanted.alike.to_vec(),
    };
    let compiled = engine::compile(&request);
    let passes = pass::take_times();
    if trace {
        eprintln!("tierup: passes, in milliseconds: {}", pass::show(passes));
    }
    if trace || !dump.is_empty() {
        report(&request, &compiled, &dump, trace);
    }
    compiled.map(Compiled)
}

/// The type of what the function gives for these types.
pub(crate) fn result_type(func: FuncId, args: &[Type], host: &dyn Host) -> Result<Type> {
    engine::result_type(func, args, host)
}

/// A request for what is looked at and not run.
fn to_look_at<'a>(wanted: Wanted<'_>, options: &Options, host: &'a dyn Host) -> Request<'a> {
    Request {
        func: wanted.func,
        args: wanted.args.to_vec(),
        values: wanted.values.to_vec(),
        host,
        backend: &Interpreted,
        options: options.code,
        keep_text: false,
        lines: false,
        promote: false,
        ready: false,
        inner_loop: options.inner_loop,
        goes_on: options.goes_on,
        alike: wanted.alike.to_vec(),
    }
}

/// What tier 1 makes of the function for these types: `llvm` or `asm1`.
pub(crate) fn tier1_text(
    wanted: Wanted<'_>,
    options: &Options,
    host: &dyn Host,
    level: &str,
) -> Result<Option<String>> {
    engine::inspect::text(&to_look_at(wanted, options, host), level)
}

/// What became of the function in tier 1.
pub(crate) fn explain(
    wanted: Wanted<'_>,
    options: &Options,
    host: &dyn Host,
) -> Result<engine::inspect::Explanation> {
    engine::inspect::explain(&to_look_at(wanted, options, host))
}

/// What became of the operations on arrays of a function with parallel parts.
pub(crate) fn parallel(
    wanted: Wanted<'_>,
    options: &Options,
    host: &dyn Host,
) -> Result<std::collections::BTreeSet<tierup_core::lower::notes::Note>> {
    engine::inspect::parallel(&to_look_at(wanted, options, host))
}

/// PTX of a kernel that runs the function.
pub(crate) fn ptx(wanted: Wanted<'_>, options: &Options, host: &dyn Host, capability: u32) -> Result<String> {
    engine::gpu::ptx(&to_look_at(wanted, options, host), capability)
}

/// PTX of the function for code of a device that calls it by that name, and the type of its result.
pub(crate) fn device_ptx(
    wanted: Wanted<'_>,
    options: &Options,
    host: &dyn Host,
    build: &Build,
    (name, capability): (&str, u32),
) -> Result<(String, Type)> {
    let request = to_look_at(wanted, options, host);
    engine::gpu::device_ptx(&Request { inner_loop: false, ..request }, build, name, capability)
}

/// The function as a grid kernel, typed and lowered.
pub(crate) fn kernel(
    wanted: Wanted<'_>,
    options: &Options,
    host: &dyn Host,
    build: &Build,
) -> Result<engine::gpu::Kernel> {
    let request = to_look_at(wanted, options, host);
    engine::gpu::kernel(&Request { inner_loop: false, ..request }, build)
}

/// The function as a grid kernel for this machine's CPU.
pub(crate) fn host_kernel(
    wanted: Wanted<'_>,
    options: &Options,
    host: &dyn Host,
    build: &Build,
) -> Result<tierup_runtime::gpu::simulate::HostKernel> {
    let cranelift = Cranelift::new();
    let request = to_look_at(wanted, options, host);
    engine::gpu::host_kernel(&Request { inner_loop: false, backend: &cranelift, ..request }, build)
}

/// `TIERUP_TRACE` and `TIERUP_DUMP`: on standard error, whatever came of it.
fn report(request: &Request<'_>, compiled: &Result<engine::Compiled>, dump: &[String], trace: bool) {
    let name = request.func.name();
    let args = request.args.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    if let Some(f) = tierup_core::ssa::registry::get(request.func) {
        for d in dump {
            if d == "ssa" {
                eprintln!("tierup: ssa of {name}\n{f}");
            }
            if d == "cfg" {
                eprintln!("tierup: cfg of {name}\n{}", f.control_flow());
            }
        }
    }
    match compiled {
        Ok(c) => {
            let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
            let p = c.phases;
            if trace {
                eprintln!(
                    "tierup: {name}({args}) -> {}: infer {:.2} ms, lower {:.2}, optimise {:.2}, back end {:.2}, {} bytes",
                    c.ret,
                    ms(p.infer),
                    ms(p.lower),
                    ms(p.optimise),
                    ms(p.backend),
                    c.size(),
                );
            }
            for d in dump {
                if let Some(text) = level(request, c, d) {
                    eprintln!("tierup: {d} of {name}({args})\n{text}");
                }
            }
        }
        Err(e) if trace => {
            eprintln!("tierup: {name}({args}) is not compiled: {} [{}]", e.message, e.code.name())
        }
        Err(_) => {}
    }
}

/// One level of a compiled function, or why there is none; those of tier 1 are made for this.
fn level(request: &Request<'_>, c: &engine::Compiled, level: &str) -> Option<String> {
    let kept = c.text(level);
    if kept.is_some() {
        return kept;
    }
    let request = Request {
        backend: &Interpreted,
        keep_text: false,
        promote: false,
        ready: false,
        args: request.args.clone(),
        values: request.values.clone(),
        alike: request.alike.clone(),
        ..*request
    };
    let text = match level {
        "llvm" => engine::inspect::text(&request, level),
        "ptx" => engine::gpu::ptx(&request, 90).map(Some),
        _not_of_tier_1 => Ok(None),
    };
    text.unwrap_or_else(|e| Some(format!("; {} [{}]", e.message, e.code.name())))
}
