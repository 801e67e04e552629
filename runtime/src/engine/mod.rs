//! Drives a compilation: a function and argument types go in, callable code comes out.
//!
//! Nothing here knows Python or a particular back end: the host answers questions about globals, the back end
//! takes LIR.

pub mod cache;
pub mod debug;
pub mod gpu;
pub mod inspect;
pub(crate) mod interpreted;
pub(crate) mod loader;
pub(crate) mod policy;
pub mod promote;
mod queue;
pub mod tier1;
pub mod trace;

pub use interpreted::Interpreted;

use promote::{Names, Snapshot, Unit};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use tier1::Codegen;
use tierup_core::backend::{Backend, Code, Keep};
use tierup_core::cpu::Cpu;
use tierup_core::diag::{self, Diagnostic, Result};
use tierup_core::emit::cx::Places;
use tierup_core::emit::cx::{Options, Overflow};
use tierup_core::emit::wrapper;
use tierup_core::host::Host;
use tierup_core::infer::state::Session;
use tierup_core::layout::ThreadCtx;
use tierup_core::lir::cfg::Analyses;
use tierup_core::lir::{Module, cells, legalise, opt, osr};
use tierup_core::lower::{self, generator, short_loop_entry};
use tierup_core::ssa::FuncId;
use tierup_core::types::{Const, Kind, Type};

/// What is to be compiled, and how.
pub struct Request<'a> {
    pub func: FuncId,
    pub args: Vec<Type>,
    /// Values of arguments that the code is for; none for all that are left out.
    pub values: Vec<Option<Const>>,
    pub host: &'a dyn Host,
    pub backend: &'a dyn Backend,
    pub options: Options,
    /// Keeps the text of every level for [`Compiled::text`].
    pub keep_text: bool,
    /// Has lines for debuggers and profilers, in both tiers; such code is neither kept on disk nor taken from
    /// there.
    pub lines: bool,
    /// Whether what becomes hot may be promoted.
    pub promote: bool,
    /// Whether code of tier 1 may be taken that was made before.
    pub ready: bool,
    /// It is the inner loop of a ufunc, whose operands are arrays of one dimension: tier 1 gives it an entry
    /// for few turns ([`short_loop_entry`]).
    pub inner_loop: bool,
    /// It is a loop of a function that Python runs.
    pub goes_on: bool,
    /// Groups of arguments whose empty containers may be one object ([`Session::alike`]).
    pub alike: Vec<Option<usize>>,
}

impl<'a> Request<'a> {
    /// A session in which the function is typed.
    fn session(&self) -> Session<'a> {
        let mut session = Session::new(self.host, self.options.overflow);
        session.alike = self.alike.clone();
        session
    }
}

/// Time spent in each phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    pub infer: Duration,
    pub lower: Duration,
    pub optimise: Duration,
    pub backend: Duration,
}

/// Machine code of one overload and of everything that it calls. Dropping it frees the code.
pub struct Compiled {
    /// Debuggers forget the code before it goes.
    _told: Option<debug::Registered>,
    code: Box<dyn Code>,
    pub params: Vec<Type>,
    pub ret: Type,
    /// The cells through which it is entered. The wrapper is `(ctx, args, results) -> status`, see
    /// [`wrapper`]; the same for resuming a generator that the function returns: one argument (the frame),
    /// results `has_value` and the value.
    pub unit: Arc<Unit>,
    /// What that generator yields, and what its frame keeps for those who resume it.
    pub yields: Option<(Type, Places)>,
    /// Whether the code, the generator's included, may change lists that it was given.
    pub changes_lists: bool,
    /// Whether it may change anything; true where nobody asks.
    pub changes_something: bool,
    /// Whether it changes nothing but copies of what the call was given; false where nobody asks.
    pub keeps_to_copies: bool,
    /// Whether it draws from the streams of `random` and `np.random`, which are others than Python's.
    pub draws: bool,
    /// Whether some of it runs in several threads.
    pub in_parallel: bool,
    pub phases: Phases,
    typed: String,
    lir: String,
}

// SAFETY: the addresses point into `code`, which lives as long as this value and never changes.
unsafe impl Send for Compiled {}
// SAFETY: as above.
unsafe impl Sync for Compiled {}

/// Stands for tier 0's code where there is none: the unit has code of tier 1, from the cache.
struct Elsewhere;

impl Code for Elsewhere {
    fn entry(&self, _: &str) -> Option<*const u8> {
        None
    }
    fn size(&self) -> usize {
        0
    }
    fn text(&self, _: &str) -> Option<String> {
        None
    }
}

/// The machine form of a wrapper.
pub type Wrapper = unsafe extern "C" fn(ctx: *mut ThreadCtx, args: *const u64, results: *mut u64) -> u64;

impl Compiled {
    /// Whether the cells hold addresses to jump to; else the code is interpreted.
    pub fn is_native(&self) -> bool {
        self.code.calls().is_none()
    }

    /// Calls a wrapper of this code.
    ///
    /// # Safety
    /// `cell` is one of this value's; `ctx` is the live context of this thread; `args` and `results` are as
    /// the wrapper expects.
    pub unsafe fn call(
        &self,
        cell: &AtomicPtr<u8>,
        ctx: *mut ThreadCtx,
        args: *const u64,
        results: *mut u64,
    ) -> u64 {
        // SAFETY: as required of the caller.
        unsafe {
            let address = cell.load(Ordering::Acquire);
            match self.code.calls() {
                None => std::mem::transmute::<*mut u8, Wrapper>(address)(ctx, args, results),
                Some(calls) => calls.call(address, ctx, args, results),
            }
        }
    }

    /// Bytes of machine code.
    pub fn size(&self) -> usize {
        self.code.size() + self.unit.size()
    }
    /// Text of one level (`typed`, `lir`, or what the back end knows: `clif`, `asm`), when it was kept.
    pub fn text(&self, level: &str) -> Option<String> {
        match level {
            "typed" => Some(self.typed.clone()).filter(|t| !t.is_empty()),
            "lir" => Some(self.lir.clone()).filter(|t| !t.is_empty()),
            other => self.code.text(other),
        }
    }
}

/// Compiles one overload.
pub fn compile(request: &Request<'_>) -> Result<Compiled> {
    guarded(|| compile_unguarded(request))
}

/// The type of what a function gives for these argument types.
pub fn result_type(func: FuncId, args: &[Type], host: &dyn Host) -> Result<Type> {
    guarded(|| {
        // Checks change what is raised, never a type.
        let mut session = Session::new(host, Overflow::Wrap);
        let root = session.infer_root(func, args.to_vec())?;
        Ok(session.at(root).ret)
    })
}

/// A panic on the way is a bug of ours and comes back as a diagnostic.
fn guarded<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or_else(|p| {
        Err(Diagnostic::internal(format!("the compiler panicked: {}", panic_text(&*p)))
            .help("please report this function"))
    })
}

fn panic_text(p: &(dyn std::any::Any + Send)) -> String {
    p.downcast_ref::<String>()
        .cloned()
        .or_else(|| p.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap_or_default()
}

/// What the front end makes of a request: optimised LIR, from which both tiers start.
struct Front {
    module: Module,
    names: Names,
    params: Vec<Type>,
    ret: Type,
    yields: Option<(Type, Places)>,
    changes_lists: bool,
    changes_something: bool,
    keeps_to_copies: bool,
    draws: bool,
    in_parallel: bool,
    typed: String,
    phases: Phases,
}

fn front(request: &Request<'_>) -> Result<Front> {
    let mut phases = Phases::default();
    let start = Instant::now();
    let mut session = request.session();
    let root = session.infer_root_for(request.func, request.args.clone(), &request.values)?;
    phases.infer = start.elapsed();
    let began = start;

    let start = Instant::now();
    let (mut module, target) = lower::lower(&session, root, request.options)?;
    trace::span("infer", "front end", began, phases.infer, &target.name);
    let asked = session.at(root);
    for called in session.instances.iter().filter(|i| i.typed.is_some() && !std::ptr::eq(*i, asked)) {
        request.host.calls(called.key.func, &called.key.args, &called.key.consts, called.ret);
    }
    module.funcs.push(wrapper::make_wrapper(&target.name, &target.sig, &target.params));
    let short_loop = request.inner_loop.then(|| format!("{}{}", target.name, short_loop_entry::SHORT_SUFFIX));
    let mut names = Names {
        function: target.name.clone(),
        wrapper: wrapper::wrapper_name(&target.name),
        resume: None,
        short_loop,
    };
    let mut yielded = None;
    if let Kind::Generator(id, yields) = *target.ret {
        let (name, sig, places) = generator::resume_target(&session, id)?;
        module.funcs.push(wrapper::make_wrapper(&name, &sig, &[]));
        names.resume = Some(wrapper::wrapper_name(&name));
        yielded = Some((yields, places));
    }
    // What objects in native memory lead to is not followed.
    let changes_lists = if yielded.is_some() || target.params.iter().any(|t| t.keeps_references()) {
        lower::changes::changes_any(&session)
    } else {
        target.params.iter().any(|t| t.holds_list()) && lower::changes::changes_lists(&session, root)
    };
    if request.options.overflow == Overflow::Python {
        lower::changes::leaves_rows(&session, root)?;
    }
    let draws = lower::pure::draws_from_streams(&session, root);
    if request.goes_on && draws {
        let text = "the streams of `random` and `np.random` are others in compiled code than in the Python code around the loop";
        return Err(Diagnostic::new(diag::Code::UnsupportedSyntax, text)
            .help("draw from a generator: rng = np.random.default_rng(seed)"));
    }
    let in_parallel = lower::runs_in_parallel(&module);
    let changes_something =
        request.options.overflow != Overflow::Python || lower::changes::changes_something(&session);
    let keeps_to_copies =
        request.options.overflow == Overflow::Python && lower::changes::keeps_to_copies(&session, root);
    phases.lower = start.elapsed();
    trace::span("lower", "front end", start, phases.lower, &target.name);

    let start = Instant::now();
    let wrappers: Vec<String> =
        module.funcs.iter().filter(|f| f.wraps.is_some()).map(|f| f.name.clone()).collect();
    optimise(&mut module, &wrappers.iter().map(String::as_str).collect::<Vec<_>>(), request.host)?;
    phases.optimise = start.elapsed();
    trace::span("optimise", "front end", start, phases.optimise, &target.name);
    let typed = if request.keep_text { typed_text(&session) } else { String::new() };
    let (params, ret) = (target.params, target.ret);
    Ok(Front {
        module,
        names,
        params,
        ret,
        yields: yielded,
        changes_lists,
        changes_something,
        keeps_to_copies,
        draws,
        in_parallel,
        typed,
        phases,
    })
}

fn compile_unguarded(request: &Request<'_>) -> Result<Compiled> {
    let Front {
        mut module,
        names,
        params,
        ret,
        yields,
        changes_lists,
        changes_something,
        keeps_to_copies,
        draws,
        in_parallel,
        typed,
        mut phases,
    } = front(request)?;
    let done = |told, code, unit, phases, lir| Compiled {
        _told: told,
        code,
        params,
        ret,
        unit,
        yields,
        changes_lists,
        changes_something,
        keeps_to_copies,
        draws,
        in_parallel,
        phases,
        typed,
        lir,
    };
    let start = Instant::now();
    let codegen = Codegen {
        fast_math: request.options.fast_math,
        opt: promote::policy().opt,
        cpu: Cpu::chosen(),
        lines: request.lines,
    };
    // Under stress loops leave tier 0, so there must be some.
    // What is kept has no lines.
    let kept = request.ready && !request.keep_text && !request.lines;
    let sought = if kept && promote::policy().osr != promote::Osr::Stress {
        cache::sought(&mut module, &names.wanted(), codegen)
    } else {
        None
    };
    if let Some(unit) =
        sought.as_ref().and_then(|s| Unit::cached(&names.function, &names, s, codegen, &mut module))
    {
        phases.optimise += start.elapsed();
        trace::span("load from the cache", "tier 1", start, start.elapsed(), &unit.name);
        return Ok(done(None, Box::new(Elsewhere), unit, phases, String::new()));
    }
    let key = sought.and_then(|s| s.own);
    let unit = make_unit(request, &mut module, names.clone(), codegen, key);
    tierup_core::emit::blockwise::settle(&mut module, true);
    legalise::legalise(&mut module);
    if cfg!(debug_assertions) {
        tierup_core::lir::verify::verify_module(&module)?;
    }
    phases.optimise += start.elapsed();

    let start = Instant::now();
    let code = machine_code(request, &module)?;
    phases.backend = start.elapsed();
    trace::span("tier 0", "tier 0", start, phases.backend, &unit.name);
    let told = debug::tell(&*code, &module, 0);
    let find = |name: &str| {
        code.entry(name).ok_or_else(|| Diagnostic::internal(format!("{name} is not in its module")))
    };
    unit.wrapper.store(find(&names.wrapper)?.cast_mut(), Ordering::Release);
    unit.fill_cells(find)?;
    if let Some(name) = &names.resume {
        unit.resume.store(find(name)?.cast_mut(), Ordering::Release);
    }
    if request.promote && promote::policy().eager {
        unit.promote_now();
    }
    let lir = if request.keep_text { module.to_string() } else { String::new() };
    Ok(done(told, code, unit, phases, lir))
}

/// LIR instructions from which on a back end may need seconds.
const LARGE: usize = 20_000;
/// How often a thread that waits for it looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Runs the back end: for a large module in a thread of its own, so that this one can look for Ctrl-C. If it
/// comes, that thread is left to itself.
fn machine_code(request: &Request<'_>, module: &Module) -> Result<Box<dyn Code>> {
    let size: usize =
        module.funcs.iter().flat_map(|f| f.layout.iter().map(|b| f.blocks[b.index()].insts.len())).sum();
    let keep = Keep { text: request.keep_text, lines: request.lines, ..Keep::default() };
    let here = || request.backend.compile(module, &crate::helper_address, keep);
    let Some(backend) = (size >= LARGE).then(|| request.backend.detached()).flatten() else { return here() };
    let (answer, waiting) = std::sync::mpsc::channel();
    let module = module.clone();
    let started =
        std::thread::Builder::new().name("tierup-backend".into()).stack_size(8 << 20).spawn(move || {
            // Nobody waits any more: the code is dropped.
            drop(answer.send(backend.compile(&module, &crate::helper_address, keep)));
        });
    if started.is_err() {
        return here();
    }
    loop {
        match waiting.recv_timeout(LOOK) {
            Ok(code) => return code,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Diagnostic::internal("the back end's thread is gone"));
            }
            Err(RecvTimeoutError::Timeout) => {
                if request.host.interrupted() {
                    return Err(Diagnostic::stopped());
                }
            }
        }
    }
}

/// What both tiers share between lowering and the back end. Only `roots` are called from outside.
fn optimise(module: &mut Module, roots: &[&str], host: &dyn Host) -> Result<()> {
    if cfg!(debug_assertions) {
        tierup_core::lir::verify::verify_module(module)?;
    }
    opt::optimise(module, &opt::Options { roots: Some(roots), stop: Some(&|| host.interrupted()) });
    if host.interrupted() {
        return Err(Diagnostic::stopped());
    }
    if cfg!(debug_assertions) {
        tierup_core::lir::verify::verify_module(module)?;
    }
    Ok(())
}

/// The unit with its snapshot, and in the module the exits of its loops and the cells of its functions.
fn make_unit(
    request: &Request<'_>,
    module: &mut Module,
    names: Names,
    codegen: Codegen,
    key: Option<cache::Key>,
) -> Arc<Unit> {
    let cells = promote::make_cells(module, request.promote);
    if !request.promote {
        return Unit::new(names.function.clone(), names, module, cells, None, codegen, None);
    }
    module.funcs.iter_mut().for_each(|f| osr::split_switch_edges(f, &mut Analyses::default()));
    let points: Vec<_> = module.funcs.iter().map(osr::points).collect();
    for (func, points) in module.funcs.iter_mut().zip(&points) {
        osr::set_levels(func, points);
    }
    let unit = Unit::new(
        names.function.clone(),
        names,
        module,
        cells,
        Some(Snapshot { module: module.clone(), points: points.clone() }),
        codegen,
        key,
    );
    if promote::policy().osr != promote::Osr::Off {
        for (k, func) in module.funcs.iter_mut().enumerate() {
            osr::insert_exits(func, &points[k], |point| unit.site(k, point));
        }
    }
    for (k, func) in module.funcs.iter_mut().enumerate() {
        cells::call_through(func, |name| unit.cell(name));
        if let Some(site) = unit.whole_site(k) {
            cells::say_that_it_runs(func, site);
        }
    }
    unit
}

fn typed_text(session: &Session<'_>) -> String {
    session.instances.iter().filter_map(|i| i.typed.as_ref()).map(|t| format!("{}\n", t.func)).collect()
}
