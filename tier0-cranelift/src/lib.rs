//! Tier 0: LIR to machine code through Cranelift, fast to compile rather than fast to run.
//!
//! Start at [`Cranelift`]; `emit.rs` translates one function, `memory.rs` holds the code. Functions use the
//! native SysV convention: parameters in order, the status and at most one more scalar in the result
//! registers. Calls to helpers and symbols embed absolute addresses; calls inside a module are near calls.
//!
//! A panic inside Cranelift (a bug, ours or theirs) becomes a diagnostic, and the scratch memory it may have
//! spoiled is dropped.

mod cold_call;
mod divisors;
mod dwarf;
mod emit;
mod memory;
mod order;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::isa::unwind::{UnwindInfo, UnwindInfoKind, systemv};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _, ModuleReloc};
use emit::Marks;
use memory::{CodePages, Provider};
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use tierup_core::backend::{Backend, Code, HelperAddress, Keep, Section};
use tierup_core::cpu::Cpu;
use tierup_core::diag::{Code as ErrorCode, Diagnostic, Result};
use tierup_core::lir::{Func, Loc, Module};

/// How much work a function is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Effort {
    /// [`Effort::Optimised`] up to [`QUICK_ABOVE`] instructions, [`Effort::Quick`] beyond.
    #[default]
    BySize,
    /// Mid-end optimisations and the backtracking register allocator.
    Optimised,
    /// Neither: half the time, about three times the code.
    Quick,
}

/// LIR instructions above which a function is compiled quickly instead of well.
pub(crate) const QUICK_ABOVE: usize = 5_000;

/// Scratch memory that has grown past this many LIR instructions is given back.
const KEEP_SCRATCH_BELOW: usize = 50_000;

/// The Cranelift back end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cranelift {
    effort: Effort,
}

impl Cranelift {
    pub fn new() -> Cranelift {
        Cranelift::default()
    }
    pub fn with_effort(effort: Effort) -> Cranelift {
        Cranelift { effort }
    }
}

struct Targets {
    optimised: OwnedTargetIsa,
    quick: OwnedTargetIsa,
}

/// The instruction set of the chosen processor with our settings, made once per process and processor; with
/// `frames` functions have frame pointers, and say how they are unwound.
fn targets(frames: bool) -> Result<&'static Targets> {
    static TARGETS: [[OnceLock<std::result::Result<Targets, String>>; 2]; Cpu::ALL.len()] =
        [const { [const { OnceLock::new() }; 2] }; Cpu::ALL.len()];
    let cpu = Cpu::chosen();
    TARGETS[cpu as usize][usize::from(frames)]
        .get_or_init(|| {
            Ok(Targets {
                optimised: target(cpu, frames, "speed", "backtracking")?,
                quick: target(cpu, frames, "none", "single_pass")?,
            })
        })
        .as_ref()
        .map_err(|message| error(message.clone()))
}

fn target(
    cpu: Cpu,
    frames: bool,
    opt_level: &str,
    register_allocator: &str,
) -> std::result::Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let mut set = |name: &str, value: &str| {
        flags.set(name, value).map_err(|e| format!("Cranelift has no setting {name}={value}: {e}"))
    };
    set("opt_level", opt_level)?;
    set("regalloc_algorithm", register_allocator)?;
    set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" })?;
    set("is_pic", "false")?;
    // Exceptions travel as a status word, and nothing walks the stack but debuggers and profilers.
    set("unwind_info", if frames { "true" } else { "false" })?;
    set("preserve_frame_pointers", if frames { "true" } else { "false" })?;
    // A frame larger than the guard page must touch every page on its way down.
    set("enable_probestack", "true")?;
    set("probestack_strategy", "inline")?;
    let mut isa = cranelift_native::builder_with_options(cpu == Cpu::Native)
        .map_err(|e| format!("Cranelift does not know this machine: {e}"))?;
    // Cranelift's levels name the later extensions of a family and leave out the one that they build on.
    let enabled: &[&str] = match cpu {
        Cpu::Native => &[],
        Cpu::V2 => &["x86-64-v2"],
        Cpu::V3 => &["x86-64-v3", "has_avx"],
        Cpu::V4 => &["x86-64-v4", "has_avx", "has_avx512f"],
    };
    for name in enabled {
        isa.enable(name).map_err(|e| format!("Cranelift does not know {name}: {e}"))?;
    }
    isa.finish(settings::Flags::new(flags)).map_err(|e| format!("Cranelift refuses this machine: {e}"))
}

fn error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(ErrorCode::BackendError, message)
}

/// Buffers that are worth keeping from one compilation to the next.
struct Scratch {
    context: cranelift_codegen::Context,
    builder: FunctionBuilderContext,
}
impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { context: cranelift_codegen::Context::new(), builder: FunctionBuilderContext::new() }
    }
}

thread_local! {
    static SCRATCH: RefCell<Option<Box<Scratch>>> = const { RefCell::new(None) };
}

/// One function as machine code, not yet placed.
struct Body {
    signature: cranelift_codegen::ir::Signature,
    bytes: Vec<u8>,
    align: u64,
    relocs: Vec<ModuleReloc>,
    clif: String,
    asm: String,
    /// For debuggers: which code came from which place, and how the frame is unwound.
    places: Vec<(u32, u32, Loc)>,
    unwind: Option<systemv::UnwindInfo>,
}

impl Cranelift {
    fn target<'t>(&self, func: &Func, targets: &'t Targets) -> &'t OwnedTargetIsa {
        match self.effort {
            Effort::BySize => {
                if size(func) > QUICK_ABOVE {
                    &targets.quick
                } else {
                    &targets.optimised
                }
            }
            Effort::Optimised => &targets.optimised,
            Effort::Quick => &targets.quick,
        }
    }

    fn compile_module(
        &self,
        module: &Module,
        helpers: HelperAddress<'_>,
        keep: Keep,
    ) -> Result<CompiledModule> {
        let targets = targets(keep.lines)?;
        let mut index = HashMap::with_capacity(module.funcs.len());
        for (i, func) in module.funcs.iter().enumerate() {
            if index.insert(func.name.as_str(), i as u32).is_some() {
                return Err(error(format!("two functions are called `{}`", func.name)));
            }
        }
        let env = emit::Env {
            index: &index,
            helpers,
            call_conv: targets.optimised.default_call_conv(),
            config: targets.optimised.frontend_config(),
            marks: match keep {
                Keep { lines: true, .. } => Marks::Places,
                Keep { text: true, .. } => Marks::Lines,
                Keep { .. } => Marks::Nothing,
            },
            keep,
        };
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let bodies = module
            .funcs
            .iter()
            .enumerate()
            .map(|(i, func)| self.compile_func(func, i as u32, targets, &env, &mut scratch))
            .collect::<Result<Vec<_>>>()?;
        if module.funcs.iter().all(|f| size(f) < KEEP_SCRATCH_BELOW) {
            SCRATCH.set(Some(scratch));
        }
        link(module, bodies, targets, keep)
    }

    fn compile_func(
        &self,
        func: &Func,
        id: u32,
        targets: &Targets,
        env: &emit::Env<'_>,
        scratch: &mut Scratch,
    ) -> Result<Body> {
        let split = func.has_vectors().then(|| {
            let mut split = func.clone();
            tierup_core::lir::parts::split_vectors(&mut split, &emit::vectors::has);
            split
        });
        let func = split.as_ref().unwrap_or(func);
        let Scratch { context, builder } = scratch;
        context.clear();
        context.set_disasm(env.keep.text);
        context.func.name = cranelift_codegen::ir::UserFuncName::user(0, id);
        emit::emit(func, env, builder, &mut context.func)
            .map_err(|d| d.note(format!("in the compiled function `{}`", func.name)))?;
        let clif = if env.keep.text { context.func.display().to_string() } else { String::new() };
        let isa = self.target(func, targets);
        if let Err(e) = context.compile(&**isa, &mut ControlPlane::default()) {
            return Err(error(format!(
                "Cranelift refuses `{}`: {}",
                func.name,
                cranelift_codegen::print_errors::pretty_error(e.func, e.inner)
            )));
        }
        let code = context
            .take_compiled_code()
            .ok_or_else(|| error(format!("Cranelift made no code for `{}`", func.name)))?;
        let align = (code.buffer.alignment as u64).max(isa.function_alignment().preferred as u64);
        let relocs = code
            .buffer
            .relocs()
            .iter()
            .map(|r| ModuleReloc::from_mach_reloc(r, &context.func, FuncId::from_u32(id)))
            .collect();
        let asm = code.vcode.clone().unwrap_or_default();
        let (mut places, mut unwind) = (vec![], None);
        if env.keep.lines {
            places = code
                .buffer
                .get_srclocs_sorted()
                .iter()
                .map(|s| (s.start, s.end, dwarf::place(s.loc)))
                .collect();
            let made = code.create_unwind_info_of_kind(&**isa, UnwindInfoKind::SystemV);
            unwind = match made.map_err(|e| error(format!("no unwinding of `{}`: {e}", func.name)))? {
                Some(UnwindInfo::SystemV(info)) => Some(info),
                Some(_) | None => None,
            };
        }
        Ok(Body {
            signature: context.func.signature.clone(),
            bytes: code.code_buffer().to_vec(),
            align,
            relocs,
            clif,
            asm,
            places,
            unwind,
        })
    }
}

/// LIR instructions of a function.
fn size(func: &Func) -> usize {
    func.layout.iter().map(|b| func.blocks[b.index()].insts.len()).sum()
}

/// Places the bodies in memory of their own and resolves the calls among them.
fn link(module: &Module, bodies: Vec<Body>, targets: &Targets, keep: Keep) -> Result<CompiledModule> {
    let failed = |e: cranelift_module::ModuleError| error(format!("linking failed: {e}"));
    let size =
        bodies.iter().fold(0, |at: usize, body| at.next_multiple_of(body.align as usize) + body.bytes.len());
    let pages =
        CodePages::new(size).map_err(|e| error(format!("no memory for {size} bytes of code: {e}")))?;
    let mut builder =
        JITBuilder::with_isa(targets.optimised.clone(), cranelift_module::default_libcall_names());
    builder.memory_provider(Box::new(Provider(pages.clone())));
    let mut jit = JITModule::new(builder);
    // Declared in order, so that a function's id is its position in the module, as `emit` assumes.
    let ids = module
        .funcs
        .iter()
        .zip(&bodies)
        .map(|(f, body)| jit.declare_function(&f.name, Linkage::Local, &body.signature))
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(failed)?;
    for (id, body) in ids.iter().zip(&bodies) {
        jit.define_function_bytes(*id, body.align, &body.bytes, &body.relocs).map_err(failed)?;
    }
    jit.finalize_definitions().map_err(failed)?;
    let entries: HashMap<String, usize> = module
        .funcs
        .iter()
        .zip(&ids)
        .map(|(f, id)| (f.name.clone(), jit.get_finalized_function(*id).expose_provenance()))
        .collect();
    let sizes = module.funcs.iter().zip(&bodies).map(|(f, b)| (f.name.clone(), b.bytes.len())).collect();
    let text = keep.text.then(|| {
        let join = |part: fn(&Body) -> &str| {
            module
                .funcs
                .iter()
                .zip(&bodies)
                .map(|(f, b)| format!("; {}\n{}", f.name, part(b)))
                .collect::<Vec<_>>()
                .join("\n")
        };
        Text { clif: join(|b| &b.clif), asm: join(|b| &b.asm) }
    });
    let sections = if keep.lines { sections(module, &bodies, &entries, targets)? } else { vec![] };
    Ok(CompiledModule { entries, sizes, size, text, sections, _pages: pages })
}

fn sections(
    module: &Module,
    bodies: &[Body],
    entries: &HashMap<String, usize>,
    targets: &Targets,
) -> Result<Vec<Section>> {
    let placed: Vec<_> = module
        .funcs
        .iter()
        .zip(bodies)
        .map(|(func, body)| dwarf::Placed {
            func,
            address: entries[&func.name] as u64,
            bytes: body.bytes.len() as u64,
            places: &body.places,
            unwind: body.unwind.as_ref(),
        })
        .collect();
    dwarf::sections(&placed, targets.optimised.create_systemv_cie())
        .map_err(|e| error(format!("no lines for debuggers: {e}")))
}

struct Text {
    clif: String,
    asm: String,
}

/// Machine code of one module; frees it when dropped.
struct CompiledModule {
    entries: HashMap<String, usize>,
    sizes: Vec<(String, usize)>,
    size: usize,
    text: Option<Text>,
    sections: Vec<Section>,
    _pages: Arc<CodePages>,
}

impl Code for CompiledModule {
    fn entry(&self, name: &str) -> Option<*const u8> {
        self.entries.get(name).map(|a| std::ptr::with_exposed_provenance(*a))
    }
    fn functions(&self) -> Vec<(String, usize, usize)> {
        self.sizes.iter().filter_map(|(n, bytes)| Some((n.clone(), *self.entries.get(n)?, *bytes))).collect()
    }
    fn sections(&self) -> &[Section] {
        &self.sections
    }
    fn size(&self) -> usize {
        self.size
    }
    fn text(&self, what: &str) -> Option<String> {
        let text = self.text.as_ref()?;
        match what {
            "clif" => Some(text.clif.clone()),
            "asm" => Some(text.asm.clone()),
            _ => None,
        }
    }
}

impl Backend for Cranelift {
    fn name(&self) -> &'static str {
        "tier0"
    }
    fn detached(&self) -> Option<Box<dyn Backend>> {
        Some(Box::new(*self))
    }

    fn compile(&self, module: &Module, helpers: HelperAddress<'_>, keep: Keep) -> Result<Box<dyn Code>> {
        match catch_unwind(AssertUnwindSafe(|| self.compile_module(module, helpers, keep))) {
            Ok(result) => Ok(Box::new(result?)),
            Err(panic) => {
                let text = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied())
                    .unwrap_or("no message");
                let names: Vec<&str> = module.funcs.iter().map(|f| f.name.as_str()).take(3).collect();
                Err(error(format!("the back end panicked while compiling `{}`: {text}", names.join("`, `"))))
            }
        }
    }
}
