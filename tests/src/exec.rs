//! Runs functions of a LIR module on the interpreter or a back end with arguments and results as words.
//!
//! Test modules get memory by name: the symbol `data` and the argument `buf` are 256 bytes each, filled with
//! a pattern before every call; the argument `ctx` is a thread context; the symbol `cell:NAME` is a word that
//! holds the address of a function of the module.

use tierup_core::backend::{Backend, Code, Keep};
use tierup_core::diag::Diagnostic;
use tierup_core::interp::{Interp, Stop};
use tierup_core::layout::ThreadCtx;
use tierup_core::lir::builder::Builder;
use tierup_core::lir::legalise::legalise;
use tierup_core::lir::text::{Constant, parse_constant};
use tierup_core::lir::{Alias, Func, Module, Op, Signature, Ty, Value, verify_module};
use tierup_runtime::engine::tier1::{Codegen, Compiler, Object, Tier1};
use tierup_tier0::{Cranelift, Effort};

use crate::helpers;

/// What can run LIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Interp,
    InterpLegalised,
    Tier0,
    Tier0Quick,
    Tier1,
}

impl Target {
    pub const ALL: &'static [Target] =
        &[Target::Interp, Target::InterpLegalised, Target::Tier0, Target::Tier0Quick, Target::Tier1];
    pub fn name(self) -> &'static str {
        match self {
            Target::Interp => "interp",
            Target::InterpLegalised => "interp (legalised)",
            Target::Tier0 => "tier0",
            Target::Tier0Quick => "tier0 (quick)",
            Target::Tier1 => "tier1",
        }
    }
    /// Whether this build has it.
    pub fn available(self) -> bool {
        self != Target::Tier1 || tierup_tier1::AVAILABLE
    }
    fn backend(self) -> Option<Box<dyn Backend>> {
        match self {
            Target::Interp | Target::InterpLegalised => None,
            Target::Tier0 => Some(Box::new(Cranelift::with_effort(Effort::Optimised))),
            Target::Tier0Quick => Some(Box::new(Cranelift::with_effort(Effort::Quick))),
            Target::Tier1 => Some(Box::new(Tier1 { compiler: Linked })),
        }
    }
    /// The targets that a `; test` line means.
    pub fn parse(words: &[&str]) -> Option<&'static [Target]> {
        match words {
            ["interp"] => Some(&[Target::Interp, Target::InterpLegalised]),
            ["run", "tier0"] => Some(&[Target::Tier0, Target::Tier0Quick]),
            ["run", "tier1"] => Some(if tierup_tier1::AVAILABLE { &[Target::Tier1] } else { &[] }),
            [] | [_, ..] => None,
        }
    }
}

/// LLVM as it is linked into the tests.
pub struct Linked;
impl Compiler for Linked {
    #[cfg(feature = "llvm")]
    fn object(
        &self,
        module: &Module,
        roots: &[&str],
        codegen: Codegen,
        keep: Keep,
    ) -> Result<Object, Diagnostic> {
        let options = tierup_tier1::Options {
            target: tierup_tier1::Target::Cpu(codegen.cpu),
            roots,
            fast_math: codegen.fast_math,
            opt: codegen.opt,
            keep_text: keep.text,
            keep_remarks: keep.remarks,
            keep_lines: codegen.lines,
        };
        tierup_tier1::compile(module, &options).map(|c| Object {
            bytes: c.object,
            llvm: c.llvm,
            asm: c.asm,
            remarks: c.remarks,
        })
    }
    #[cfg(not(feature = "llvm"))]
    fn object(&self, _: &Module, _: &[&str], _: Codegen, _: Keep) -> Result<Object, Diagnostic> {
        Err(Diagnostic::internal("this build has no LLVM"))
    }
}

pub const MEMORY: usize = 256;

/// Memory that tests may touch. Boxed: addresses stay.
pub struct Memory {
    pub buf: Box<[u8; MEMORY]>,
    pub data: Box<[u8; MEMORY]>,
    pub ctx: Box<ThreadCtx>,
}

impl Memory {
    pub fn new() -> Memory {
        let ctx = ThreadCtx::new();
        let mut m = Memory { buf: Box::new([0; MEMORY]), data: Box::new([0; MEMORY]), ctx: Box::new(ctx) };
        m.reset();
        m
    }
    pub fn reset(&mut self) {
        for i in 0..MEMORY {
            self.buf[i] = (i * 37 + 11) as u8;
            self.data[i] = (i * 91 + 200) as u8;
        }
        self.ctx.pending = std::ptr::null_mut();
        self.ctx.handled = std::ptr::null_mut();
    }
    /// `buf+3`, `data`, `ctx`, or `None` for a pointer elsewhere.
    fn describe(&self, p: u64) -> Option<String> {
        [("buf", self.buf.as_ptr() as u64), ("data", self.data.as_ptr() as u64)].iter().find_map(
            |(name, start)| {
                let at = p.wrapping_sub(*start);
                (at <= MEMORY as u64).then(|| if at == 0 { name.to_string() } else { format!("{name}+{at}") })
            },
        )
    }
}
impl Default for Memory {
    fn default() -> Self {
        Memory::new()
    }
}

/// A module made ready for one target, with its memory.
pub struct Program {
    kind: Kind,
    sigs: Vec<(String, Signature)>,
    pub memory: Memory,
    /// Entry cells, by the names of the functions that they hold.
    _cells: Vec<Box<u64>>,
}
enum Kind {
    Interp(Box<Interp<'static>>),
    Native(Box<dyn Code>),
}

const HELPERS: &(dyn Fn(&'static tierup_core::rt::RtFn) -> *const u8 + Sync) = &helpers::address;

impl Program {
    /// Verifies, legalises where the target needs it, and compiles.
    pub fn new(module: &Module, target: Target) -> Result<Program, Diagnostic> {
        verify_module(module)?;
        let memory = Memory::new();
        let sigs: Vec<_> = module.funcs.iter().map(|f| (f.name.clone(), f.sig.clone())).collect();
        let mut module = module.clone();
        let mut cells: Vec<(String, Box<u64>)> = vec![];
        for s in module.funcs.iter_mut().flat_map(|f| &mut f.symbols) {
            if s.name == "data" {
                s.addr = memory.data.as_ptr() as usize;
            }
            let Some(name) = s.name.strip_prefix("cell:") else { continue };
            let at = cells.iter().position(|(n, _)| n == name).unwrap_or_else(|| {
                cells.push((name.into(), Box::new(0)));
                cells.len() - 1
            });
            s.addr = &raw mut *cells[at].1 as usize;
        }
        let backend = target.backend();
        if backend.is_some() {
            for (name, sig) in &sigs {
                module.funcs.push(word_wrapper(&wrapper(name), name, sig));
            }
        }
        if target != Target::Interp {
            legalise(&mut module);
            verify_module(&module)?;
        }
        let kind = match backend {
            None => {
                let mut interp = Interp::new(HELPERS);
                interp.add(&module);
                interp.fuel = 10_000_000;
                for (name, cell) in &mut cells {
                    **cell = interp.address(name).unwrap_or(0);
                }
                Kind::Interp(Box::new(interp))
            }
            Some(b) => {
                let code = b.compile(&module, HELPERS, Keep::default())?;
                for (name, cell) in &mut cells {
                    **cell = code.entry(name).map_or(0, |p| p as u64);
                }
                Kind::Native(code)
            }
        };
        Ok(Program { kind, sigs, memory, _cells: cells.into_iter().map(|c| c.1).collect() })
    }

    pub fn sig(&self, name: &str) -> Option<&Signature> {
        self.sigs.iter().find(|s| s.0 == name).map(|s| &s.1)
    }

    /// Limits the interpreter.
    pub fn set_fuel(&mut self, fuel: u64) {
        if let Kind::Interp(i) = &mut self.kind {
            i.fuel = fuel;
        }
    }

    /// Calls a function of the module (as it was before legalisation) with fresh memory; gives all results.
    pub fn call(&mut self, name: &str, args: &[u64]) -> Result<Vec<u64>, Stop> {
        self.memory.reset();
        let sig = self.sig(name).ok_or_else(|| Stop::UnknownFunction(name.into()))?.clone();
        if sig.params.len() != args.len() {
            return Err(Stop::BadArguments(format!(
                "{name} takes {} arguments, got {}",
                sig.params.len(),
                args.len()
            )));
        }
        match &self.kind {
            Kind::Interp(i) => call_interpreted(i, name, &sig, args),
            Kind::Native(code) => {
                let entry = code.entry(&wrapper(name)).ok_or_else(|| Stop::UnknownFunction(wrapper(name)))?;
                let mut results = vec![0u64; sig.results.len()];
                // SAFETY: every word wrapper has this type, and both buffers have a word for each parameter
                // and result.
                unsafe {
                    let f: unsafe extern "C" fn(*const u64, *mut u64) -> i64 = std::mem::transmute(entry);
                    f(args.as_ptr(), results.as_mut_ptr());
                }
                Ok(results)
            }
        }
    }

    /// An argument as run lines write it.
    pub fn parse_arg(&self, ty: Ty, text: &str) -> Option<u64> {
        let bits = 8 * ty.bytes();
        match (ty, text) {
            (Ty::Ptr, "ctx") => Some(&raw const *self.memory.ctx as u64),
            (Ty::Ptr, "null") => Some(0),
            (Ty::Ptr, t) if t.starts_with("buf") => {
                offset(t, "buf").map(|n| self.memory.buf.as_ptr() as u64 + n)
            }
            (Ty::Ptr, t) if t.starts_with("data") => {
                offset(t, "data").map(|n| self.memory.data.as_ptr() as u64 + n)
            }
            (t, "min") if t.is_int() => Some(t.canonical(1 << (bits - 1))),
            (t, "max") if t.is_int() => Some((1u64 << (bits - 1)) - 1),
            (t, text) => parse_constant(t, text),
        }
    }

    /// A result as run lines write it: no payload of a NaN, pointers relative to the memory they point into.
    pub fn show(&self, ty: Ty, bits: u64) -> String {
        if is_nan(ty, bits) {
            return "nan".into();
        }
        let pointer = (ty == Ty::Ptr).then(|| self.memory.describe(bits)).flatten();
        pointer.unwrap_or_else(|| Constant { ty, bits }.to_string())
    }
}

fn offset(text: &str, name: &str) -> Option<u64> {
    let rest = text.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(0);
    }
    rest.strip_prefix('+')?.parse().ok().filter(|n| *n < MEMORY as u64)
}

fn wrapper(name: &str) -> String {
    format!("words:{name}")
}

/// A function `name(args: ptr, results: ptr) -> i64` that loads the arguments of `target` from 8-byte words,
/// calls it, stores all its results (the first one too) in 8-byte words, and returns 0. One native signature
/// for any function.
fn word_wrapper(name: &str, target: &str, sig: &Signature) -> Func {
    let mut func = Func::new(name, Signature { params: vec![Ty::Ptr, Ty::Ptr], results: vec![Ty::I64] });
    let mut b = Builder::start(&mut func);
    let words = b.params(b.block);
    let args: Vec<Value> = sig
        .params
        .iter()
        .enumerate()
        .map(|(i, t)| b.load(*t, words[0], 8 * i as i32, Alias::Frame))
        .collect();
    for (i, v) in b.call(target, sig, &args).into_iter().enumerate() {
        // Whole words, so that the upper bytes are what they are in the interpreter.
        let wide = match b.ty(v) {
            Ty::I8 | Ty::I16 | Ty::I32 => b.conv(Op::Sext, Ty::I64, v),
            Ty::F32 => {
                let bits = b.conv(Op::Bitcast, Ty::I32, v);
                b.conv(Op::Zext, Ty::I64, bits)
            }
            Ty::I64 | Ty::F64 | Ty::Ptr | Ty::Vector(_) => v,
        };
        b.store(wide, words[1], 8 * i as i32, Alias::Frame);
    }
    let zero = b.i64(0);
    b.ret(vec![zero]);
    func
}

/// Calls with the out-pointer that legalisation may have added.
fn call_interpreted(
    interp: &Interp<'_>,
    name: &str,
    sig: &Signature,
    args: &[u64],
) -> Result<Vec<u64>, Stop> {
    let extra = sig.results.len().saturating_sub(1);
    let mut out = vec![0u64; extra];
    let mut args = args.to_vec();
    let legalised = interp.signature(name).is_some_and(|s| s.params.len() > args.len());
    if legalised {
        args.push(out.as_mut_ptr() as u64);
    }
    let mut results = interp.call(name, &args)?;
    if legalised {
        results.extend(sig.results[1..].iter().zip(&out).map(|(t, x)| t.canonical(*x)));
    }
    Ok(results)
}

pub fn is_nan(ty: Ty, bits: u64) -> bool {
    match ty {
        Ty::F32 => f32::from_bits(bits as u32).is_nan(),
        Ty::F64 => f64::from_bits(bits).is_nan(),
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr | Ty::Vector(_) => false,
    }
}
