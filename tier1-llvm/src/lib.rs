//! Tier 1: LIR to machine code through LLVM, slow to compile and fast to run.
//!
//! LIR goes in, an object file (or PTX) comes out; nothing is loaded or run here. Start at [`compile`]:
//! `emit/` translates one module with one exhaustive match over instructions and one over operations,
//! `target/` holds what differs between CPU and GPU, and `library/` makes of this crate the shared library
//! that the engine opens. No name of libm reaches LLVM, or it would fold and rewrite calls.
//!
//! Without the feature `llvm` the crate is empty: everything then runs on tier 0.

#[cfg(feature = "llvm")]
mod emit;
#[cfg(feature = "llvm")]
mod remarks;
#[cfg(feature = "llvm")]
mod target;

#[cfg(feature = "llvm")]
pub use compile::{Compiled, Options, compile};
#[cfg(feature = "llvm")]
pub use target::Target;

/// Whether this build has LLVM in it.
pub const AVAILABLE: bool = cfg!(feature = "llvm");

#[cfg(feature = "llvm")]
mod compile {
    use crate::{emit, remarks, target::Target};
    use inkwell::OptimizationLevel;
    use inkwell::context::Context;
    use inkwell::passes::PassBuilderOptions;
    use inkwell::targets::{FileType, TargetMachine};
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;
    use tierup_core::diag::{Code, Diagnostic, Result};
    use tierup_core::lir::Module;

    /// How to compile.
    #[derive(Clone, Debug)]
    pub struct Options<'a> {
        pub target: Target,
        /// Functions that are called from outside; the others may vanish into their callers.
        pub roots: &'a [&'a str],
        /// Fast-math flags for every floating-point instruction, as LLVM's bits; 0 is strict.
        pub fast_math: u8,
        /// Optimisation level, 0 to 3.
        pub opt: u8,
        /// Keep LLVM IR and assembly as text.
        pub keep_text: bool,
        /// Give every instruction its line, and collect what the loop passes say. From then on LLVM makes
        /// remarks for the whole process.
        pub keep_remarks: bool,
        /// Make sections for debuggers, and keep frame pointers.
        pub keep_lines: bool,
    }

    /// What came of a module.
    #[derive(Clone, Debug, Default)]
    pub struct Compiled {
        /// A relocatable ELF object; for NVPTX the text of the PTX.
        pub object: Vec<u8>,
        pub llvm: String,
        pub asm: String,
        /// One line for each remark: `file:line:col: text`.
        pub remarks: String,
    }

    fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Code::BackendError, message)
    }

    fn level(opt: u8) -> OptimizationLevel {
        match opt {
            0 => OptimizationLevel::None,
            1 => OptimizationLevel::Less,
            2 => OptimizationLevel::Default,
            3.. => OptimizationLevel::Aggressive,
        }
    }

    /// Compiles legalised, verified LIR. A panic on the way is a bug of ours and comes back as a diagnostic.
    pub fn compile(module: &Module, options: &Options<'_>) -> Result<Compiled> {
        catch_unwind(AssertUnwindSafe(|| compile_unguarded(module, options))).unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            Err(error(format!("the LLVM back end panicked: {text}")))
        })
    }

    thread_local! {
        /// The machine that this thread compiled for last. Making one reads a list of some hundred features,
        /// twice: a third of what a function of one line takes.
        static MACHINE: RefCell<Option<(Target, u8, Rc<TargetMachine>)>> = const { RefCell::new(None) };
    }

    fn machine(options: &Options<'_>) -> Result<Rc<TargetMachine>> {
        let last = MACHINE.with_borrow(|m| {
            m.as_ref().filter(|m| (m.0, m.1) == (options.target, options.opt)).map(|m| m.2.clone())
        });
        if let Some(machine) = last {
            return Ok(machine);
        }
        let made = Rc::new(options.target.machine(level(options.opt))?);
        MACHINE.set(Some((options.target, options.opt, made.clone())));
        Ok(made)
    }

    fn compile_unguarded(module: &Module, options: &Options<'_>) -> Result<Compiled> {
        let machine = machine(options)?;
        let _switch = remarks::begin(options.keep_remarks);
        let mut told = Box::<remarks::Told>::default();
        let context = Context::create();
        remarks::collect(&context, &mut told);
        let out = context.create_module("tierup");
        out.set_triple(&machine.get_triple());
        out.set_data_layout(&machine.get_target_data().get_data_layout());
        let notes = emit::emit_module(module, options, &context, &out)?;
        if cfg!(debug_assertions) {
            out.verify().map_err(|e| error(format!("LLVM refuses the module: {}", e.to_string_lossy())))?;
        }
        let passes = PassBuilderOptions::create();
        passes.set_loop_vectorization(true);
        passes.set_loop_slp_vectorization(true);
        passes.set_loop_unrolling(true);
        passes.set_loop_interleaving(true);
        out.run_passes(&format!("default<O{}>", options.opt.min(3)), &machine, passes)
            .map_err(|e| error(format!("LLVM's passes failed: {}", e.to_string_lossy())))?;
        if let Some(rest) = emit::finish(&out) {
            out.run_passes(rest, &machine, PassBuilderOptions::create())
                .map_err(|e| error(format!("LLVM's passes failed: {}", e.to_string_lossy())))?;
        }
        if !options.target.is_gpu() {
            emit::choices::keep(&out);
        }
        let llvm = if options.keep_text {
            out.print_to_string().to_string_lossy().into_owned()
        } else {
            String::new()
        };
        let write = |kind: FileType| {
            machine
                .write_to_memory_buffer(&out, kind)
                .map_err(|e| error(format!("LLVM makes no code: {}", e.to_string_lossy())))
        };
        let text = |b: inkwell::memory_buffer::MemoryBuffer| {
            b.as_slice().strip_suffix(b"\0").unwrap_or(b.as_slice()).to_vec()
        };
        if options.target.is_gpu() {
            let ptx = text(write(FileType::Assembly)?);
            if let Some(e) = told.errors.first() {
                return Err(error(format!("LLVM: {e}")));
            }
            return Ok(Compiled {
                asm: String::from_utf8_lossy(&ptx).into_owned(),
                object: ptx,
                llvm,
                remarks: String::new(),
            });
        }
        let asm = if options.keep_text {
            String::from_utf8_lossy(&text(write(FileType::Assembly)?)).into_owned()
        } else {
            String::new()
        };
        let object = write(FileType::Object)?.as_slice().to_vec();
        if let Some(e) = told.errors.first() {
            return Err(error(format!("LLVM: {e}")));
        }
        let remarks = if options.keep_remarks {
            [notes, std::mem::take(&mut told.remarks)].concat().join("\n")
        } else {
            String::new()
        };
        Ok(Compiled { object, llvm, asm, remarks })
    }
}
