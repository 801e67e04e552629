//! LIR to LLVM IR: this file is about modules, signatures and blocks; `inst.rs` and `ops.rs` hold the two
//! exhaustive matches.
//!
//! Invariants: every LIR value maps to one LLVM value of the same width; meanings are those of
//! `core/src/lir/inst.rs`, so whatever LLVM leaves undefined (division by zero, wide shifts, conversions out
//! of range) is guarded here, and nothing is marked as impossible that LIR allows.

mod bodies;
pub(crate) mod choices;
mod grid;
mod inst;
mod lines;
mod loops;
mod ops;
mod permute;
mod vectors;
mod wide;

pub(crate) use bodies::finish;

use crate::Options;
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FunctionType};
use inkwell::values::{BasicValueEnum, FunctionValue, MetadataValue, PhiValue, PointerValue};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use tierup_core::diag::{Code, Diagnostic, Result};
use tierup_core::door::{FUNC_PREFIX, HELPER_PREFIX, SYMBOL_PREFIX};
use tierup_core::lir::cfg::{Cfg, Loops};
use tierup_core::lir::{self, Alias, Block, BlockCall, Func, Signature, Ty, Value};
use tierup_core::rt::{Effect, Raises, RtFn};

fn bug(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BackendError, message)
}

/// LLVM's builder fails only when it is used wrongly.
fn built<T>(r: std::result::Result<T, BuilderError>) -> Result<T> {
    r.map_err(|e| bug(format!("LLVM's builder: {e}")))
}

/// Everything that the functions of one module share.
struct Shared<'c, 'a> {
    context: &'c Context,
    module: &'a Module<'c>,
    options: &'a Options<'a>,
    funcs: HashMap<&'a str, FunctionValue<'c>>,
    /// Definitions of elementary functions, by the names of the helpers. Definitions by the names of their
    /// helpers, and whether they are those for numbers that come one by one.
    bodies: HashMap<(&'static str, bool), FunctionValue<'c>>,
    /// Versions of rare helpers for vectors.
    versions: RefCell<Vec<PointerValue<'c>>>,
    /// Access tags of the alias classes, in the order of [`Alias::ALL`].
    tags: Vec<MetadataValue<'c>>,
    kinds: Kinds,
    lines: Option<lines::Lines<'c>>,
    /// What we have to say of loops, in the form of LLVM's remarks.
    notes: RefCell<Vec<String>>,
}

/// Numbers of metadata kinds.
struct Kinds {
    tbaa: u32,
    prof: u32,
}

/// Writes `module` into the empty `out`; our own remarks, where remarks are asked for.
pub(crate) fn emit_module<'c>(
    module: &lir::Module,
    options: &Options<'_>,
    context: &'c Context,
    out: &Module<'c>,
) -> Result<Vec<String>> {
    let kinds = Kinds { tbaa: context.get_kind_id("tbaa"), prof: context.get_kind_id("prof") };
    let mut shared = Shared {
        context,
        module: out,
        options,
        funcs: HashMap::new(),
        bodies: HashMap::new(),
        versions: RefCell::default(),
        tags: alias_tags(context),
        kinds,
        lines: None,
        notes: RefCell::default(),
    };
    if options.keep_remarks || options.keep_lines {
        shared.lines = Some(lines::Lines::new(context, out));
    }
    for func in &module.funcs {
        let declared = shared.declare(&func.name, &func.sig, options.roots.contains(&func.name.as_str()));
        if shared.funcs.insert(&func.name, declared).is_some() {
            return Err(bug(format!("two functions are called `{}`", func.name)));
        }
    }
    let bodies = bodies::wanted(module, options);
    for w in &bodies {
        let declared = shared.declare_body(w.helper, &w.func);
        shared.bodies.insert((w.helper.name, w.alone), declared);
    }
    // Whatever liberties the user allows: these functions give the same bits always.
    for w in &bodies {
        emit_func(&shared, &w.func, shared.bodies[&(w.helper.name, w.alone)], 0)?;
    }
    for func in &module.funcs {
        let llvm =
            *shared.funcs.get(func.name.as_str()).ok_or_else(|| bug("the function is not declared"))?;
        emit_func(&shared, func, llvm, options.fast_math)
            .map_err(|d| d.note(format!("in the compiled function `{}`", func.name)))?;
    }
    shared.keep_versions();
    if let Some(l) = &shared.lines {
        l.finish();
    }
    Ok(shared.notes.take())
}

/// One tag for each alias class: accesses of different classes never touch the same bytes.
fn alias_tags(context: &Context) -> Vec<MetadataValue<'_>> {
    let root = context.metadata_node(&[context.metadata_string("tierup").into()]);
    let zero = context.i64_type().const_zero();
    Alias::ALL
        .iter()
        .map(|a| {
            let class =
                context.metadata_node(&[context.metadata_string(a.name()).into(), root.into(), zero.into()]);
            context.metadata_node(&[class.into(), class.into(), zero.into()])
        })
        .collect()
}

impl<'c, 'a> Shared<'c, 'a> {
    fn ty(&self, ty: Ty) -> BasicTypeEnum<'c> {
        match ty {
            Ty::I8 => self.context.i8_type().into(),
            Ty::I16 => self.context.i16_type().into(),
            Ty::I32 => self.context.i32_type().into(),
            Ty::I64 => self.context.i64_type().into(),
            Ty::F32 => self.context.f32_type().into(),
            Ty::F64 => self.context.f64_type().into(),
            Ty::Ptr => self.context.ptr_type(AddressSpace::default()).into(),
            Ty::Vector(v) => {
                let (lane, lanes) = (self.ty(v.lane()), v.lanes() as u32);
                if lane.is_float_type() {
                    lane.into_float_type().vec_type(lanes).into()
                } else {
                    lane.into_int_type().vec_type(lanes).into()
                }
            }
        }
    }

    fn func_type(&self, sig: &Signature) -> FunctionType<'c> {
        let params: Vec<BasicMetadataTypeEnum<'_>> = sig.params.iter().map(|t| self.ty(*t).into()).collect();
        match sig.results.as_slice() {
            [] => self.context.void_type().fn_type(&params, false),
            [one] => self.ty(*one).fn_type(&params, false),
            many => self
                .context
                .struct_type(&many.iter().map(|t| self.ty(*t)).collect::<Vec<_>>(), false)
                .fn_type(&params, false),
        }
    }

    fn attribute(&self, name: &str, value: u64) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
    }

    /// SysV leaves the upper bits of narrow integers open, but Rust and C compilers, and tier 0, assume that
    /// they are sign-extended.
    fn extend_narrow(&self, func: FunctionValue<'c>, sig: &Signature) {
        for (k, ty) in sig.params.iter().enumerate() {
            if matches!(ty, Ty::I8 | Ty::I16) {
                func.add_attribute(AttributeLoc::Param(k as u32), self.attribute("signext", 0));
            }
        }
        if let [Ty::I8 | Ty::I16] = sig.results.as_slice() {
            func.add_attribute(AttributeLoc::Return, self.attribute("signext", 0));
        }
    }

    fn declare(&self, name: &str, sig: &Signature, root: bool) -> FunctionValue<'c> {
        let linkage = if root { Linkage::External } else { Linkage::Internal };
        let target = self.options.target;
        let func = self.module.add_function(
            &if root { target.entry_name(name) } else { format!("{FUNC_PREFIX}{name}") },
            self.func_type(sig),
            Some(linkage),
        );
        let called_by_others = name.starts_with(tierup_core::door::DEVICE_PREFIX);
        if let Some(convention) = target.entry_convention().filter(|_| root && !called_by_others) {
            func.set_call_conventions(convention);
        }
        self.extend_narrow(func, sig);
        func.add_attribute(AttributeLoc::Function, self.attribute("nounwind", 0));
        if target.is_gpu() {
            // It may wait for other threads; LLVM takes that away where it does not.
            func.add_attribute(AttributeLoc::Function, self.attribute("convergent", 0));
        }
        if self.options.keep_lines && !target.is_gpu() {
            let frames = self.context.create_string_attribute("frame-pointer", "all");
            func.add_attribute(AttributeLoc::Function, frames);
        }
        self.add_target_attributes(func);
        func
    }

    fn add_target_attributes(&self, func: FunctionValue<'c>) {
        for (key, value) in self.options.target.function_attributes(self.options.fast_math) {
            func.add_attribute(AttributeLoc::Function, self.context.create_string_attribute(key, &value));
        }
    }

    /// A function that a GPU's code is linked with.
    fn linked(&self, name: &str, sig: &Signature) -> FunctionValue<'c> {
        if let Some(f) = self.module.get_function(name) {
            return f;
        }
        let func = self.module.add_function(name, self.func_type(sig), None);
        self.extend_narrow(func, sig);
        for name in ["nounwind", "convergent"] {
            func.add_attribute(AttributeLoc::Function, self.attribute(name, 0));
        }
        func
    }

    /// A helper of the run-time, found by name when the object is loaded.
    fn helper(&self, helper: &'static RtFn) -> Result<FunctionValue<'c>> {
        let name = format!("{HELPER_PREFIX}{}", helper.name);
        if let Some(f) = self.module.get_function(&name) {
            return Ok(f);
        }
        let sig =
            Signature { params: helper.params.to_vec(), results: helper.ret.ty().into_iter().collect() };
        let func = self.module.add_function(&name, self.func_type(&sig), None);
        self.extend_narrow(func, &sig);
        let add =
            |name: &str, value: u64| func.add_attribute(AttributeLoc::Function, self.attribute(name, value));
        add("nounwind", 0);
        if helper.gives_object() {
            func.add_attribute(AttributeLoc::Return, self.attribute("nonnull", 0));
        }
        match (helper.effect, helper.raises) {
            // `memory(none)`.
            (Effect::Pure, Raises::Never) => {
                add("memory", 0);
                add("willreturn", 0);
            }
            // `memory(read)`: a `Ref` for each of LLVM's locations.
            (Effect::Reads, Raises::Never) => {
                add("memory", memory_read());
                add("willreturn", 0);
            }
            (Effect::Pure | Effect::Reads, Raises::Pending)
            | (Effect::Allocates | Effect::Writes, Raises::Never | Raises::Pending) => {}
        }
        Ok(func)
    }

    /// The address of something outside, found by name when the object is loaded.
    fn symbol(&self, name: &str) -> PointerValue<'c> {
        let name = format!("{SYMBOL_PREFIX}{name}");
        let global = self
            .module
            .get_global(&name)
            .unwrap_or_else(|| self.module.add_global(self.context.i8_type(), None, &name));
        global.as_pointer_value()
    }

    fn intrinsic(&self, name: &str, types: &[BasicTypeEnum<'c>]) -> Result<FunctionValue<'c>> {
        inkwell::intrinsics::Intrinsic::find(name)
            .and_then(|i| i.get_declaration(self.module, types))
            .ok_or_else(|| bug(format!("LLVM has no {name}")))
    }
}

/// The value of the attribute `memory(read)`, asked of LLVM itself, since its encoding counts locations and
/// changes between versions.
fn memory_read() -> u64 {
    static VALUE: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    *VALUE.get_or_init(|| {
        let context = Context::create();
        let text = b"declare void @f() memory(read)\n\0";
        let module = context.create_module_from_ir(
            inkwell::memory_buffer::MemoryBuffer::create_from_memory_range(text, "memory"),
        );
        let kind = Attribute::get_named_enum_kind_id("memory");
        module
            .ok()
            .and_then(|m| {
                m.get_function("f").and_then(|f| f.get_enum_attribute(AttributeLoc::Function, kind))
            })
            .map_or(u64::MAX, |a| a.get_enum_value())
    })
}

struct Emitter<'c, 's, 'a> {
    shared: &'s Shared<'c, 'a>,
    func: &'s Func,
    cfg: &'s Cfg,
    /// Found where they are first asked for.
    loops: OnceCell<Loops>,
    /// Headers of loops over elements of unknown stride.
    strided: OnceCell<Vec<Block>>,
    /// Which instruction makes each value.
    defs: OnceCell<Vec<Option<usize>>>,
    llvm: FunctionValue<'c>,
    b: Builder<'c>,
    blocks: Vec<Option<BasicBlock<'c>>>,
    values: Vec<Option<BasicValueEnum<'c>>>,
    phis: Vec<Vec<PhiValue<'c>>>,
    slots: Vec<PointerValue<'c>>,
    /// Fast-math flags, as LLVM's bits.
    fast_math: u8,
    /// Where definitions of elementary functions take the place of helpers, and where we are.
    copies: bodies::Copies,
    at: Block,
}

fn emit_func<'c>(shared: &Shared<'c, '_>, func: &Func, llvm: FunctionValue<'c>, fast_math: u8) -> Result<()> {
    if func.layout.is_empty() {
        return Err(bug("the function has no block"));
    }
    let cfg = Cfg::new(func);
    let mut e = Emitter {
        shared,
        func,
        cfg: &cfg,
        loops: OnceCell::new(),
        strided: OnceCell::new(),
        defs: OnceCell::new(),
        llvm,
        b: shared.context.create_builder(),
        blocks: vec![None; func.blocks.len()],
        values: vec![None; func.value_types.len()],
        phis: vec![vec![]; func.blocks.len()],
        slots: vec![],
        fast_math,
        copies: bodies::Copies::of(func, &cfg, shared.options),
        at: func.entry(),
    };
    let mut here = shared.lines.as_ref().map(|l| l.func(func, llvm));
    if let (Some(l), Some(h)) = (&shared.lines, &mut here) {
        l.at(shared.context, &e.b, h, func, lir::Loc(0));
    }
    e.make_blocks(&cfg)?;
    for &block in cfg.rpo() {
        e.at = block;
        e.b.position_at_end(e.block(block)?);
        for inst in &func.blocks[block.index()].insts {
            let node = &func.insts[inst.index()];
            if let (Some(l), Some(h)) = (&shared.lines, &mut here) {
                l.at(shared.context, &e.b, h, func, node.loc);
            }
            e.inst(&node.data, &node.results).map_err(|d| locate(d, func, node.loc))?;
        }
    }
    Ok(())
}

impl<'c> Emitter<'c, '_, '_> {
    /// The entry with the stack slots, and a block with its parameters for each of LIR's.
    fn make_blocks(&mut self, cfg: &Cfg) -> Result<()> {
        let (func, context) = (self.func, self.shared.context);
        let entry = context.append_basic_block(self.llvm, "entry");
        self.b.position_at_end(entry);
        for slot in &func.slots {
            if slot.shared {
                self.slots.push(self.shared_memory(Some(slot.bytes.max(1)))?);
                continue;
            }
            let at = built(self.b.build_alloca(context.i8_type().array_type(slot.bytes.max(1)), "slot"))?;
            if let Some(i) = at.as_instruction() {
                i.set_alignment(16).map_err(|e| bug(e.to_string()))?;
            }
            self.slots.push(at);
        }
        for &block in cfg.rpo() {
            let made = context.append_basic_block(self.llvm, "");
            self.blocks[block.index()] = Some(made);
            self.b.position_at_end(made);
            for p in &func.blocks[block.index()].params {
                let phi = built(self.b.build_phi(self.shared.ty(func.value_type(*p)), ""))?;
                self.values[p.index()] = Some(phi.as_basic_value());
                self.phis[block.index()].push(phi);
            }
        }
        self.b.position_at_end(entry);
        let first = func.entry();
        built(self.b.build_unconditional_branch(self.block(first)?))?;
        for (phi, arg) in self.phis[first.index()].iter().zip(self.llvm.get_param_iter()) {
            phi.add_incoming(&[(&arg, entry)]);
        }
        Ok(())
    }

    fn block(&self, b: Block) -> Result<BasicBlock<'c>> {
        self.blocks[b.index()].ok_or_else(|| bug("jump to a block that is not in the layout"))
    }
    fn value(&self, v: Value) -> Result<BasicValueEnum<'c>> {
        self.values[v.index()].ok_or_else(|| bug(format!("{v} is used before it is defined")))
    }
    fn list(&self, vs: &[Value]) -> Result<Vec<BasicValueEnum<'c>>> {
        vs.iter().map(|v| self.value(*v)).collect()
    }

    /// Notes the arguments of an edge from the current block.
    fn edge(&mut self, to: &BlockCall) -> Result<BasicBlock<'c>> {
        let from = self.b.get_insert_block().ok_or_else(|| bug("no current block"))?;
        for (k, a) in to.args.iter().enumerate() {
            let v = self.value(*a)?;
            self.phis[to.block.index()]
                .get(k)
                .ok_or_else(|| bug("too many block arguments"))?
                .add_incoming(&[(&v, from)]);
        }
        self.block(to.block)
    }
}

fn locate(d: Diagnostic, func: &Func, loc: lir::Loc) -> Diagnostic {
    match func.loc(loc) {
        Some(l) => d.at(tierup_core::diag::Span {
            file: l.file.clone(),
            func: l.func.clone(),
            line: l.line,
            col: l.col,
            end_col: 0,
        }),
        None => d,
    }
}
