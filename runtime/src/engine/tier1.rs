//! Tier 1 as a back end: LIR goes to a compiler that gives objects, and the objects are loaded here.
//!
//! The compiler is the shared library of `tier1-llvm`, opened at the first promotion ([`Library`]); tests
//! hand in the linked one.

use super::debug::{self, Registered};
use super::loader::{self, Loaded};
use std::collections::HashMap;
use tierup_core::backend::{Backend, Code, HelperAddress, Keep, Section};
use tierup_core::cpu::Cpu;
use tierup_core::diag::{Code as ErrorCode, Diagnostic, Result};
use tierup_core::door::{ABI, Compile, FUNC_PREFIX, HELPER_PREFIX, Part, Request, SYMBOL_PREFIX};
use tierup_core::lir::{InstData, InstNode, Module};
use tierup_core::math::hidden;
use tierup_core::rt::RtFn;

/// An object and, where asked for, its text.
#[derive(Clone, Debug, Default)]
pub struct Object {
    pub bytes: Vec<u8>,
    pub llvm: String,
    pub asm: String,
    pub remarks: String,
}

/// What changes the code that LLVM makes of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Codegen {
    /// LLVM's bits, in the order of `core::emit::cx::FAST_MATH`; 0 is strict.
    pub fast_math: u8,
    /// Optimisation level, 0 to 3.
    pub opt: u8,
    /// What the code may run on.
    pub cpu: Cpu,
    /// Sections for debuggers, and frame pointers.
    pub lines: bool,
}
impl Default for Codegen {
    fn default() -> Self {
        Codegen { fast_math: 0, opt: 3, cpu: Cpu::chosen(), lines: false }
    }
}

/// Makes objects of legalised modules.
pub trait Compiler: Send + Sync {
    /// `roots` are the functions called from outside.
    fn object(&self, module: &Module, roots: &[&str], codegen: Codegen, keep: Keep) -> Result<Object>;
}

/// Code of one loaded object.
pub(crate) struct Native {
    /// Debuggers forget it before it goes.
    told: Option<Registered>,
    loaded: Loaded,
    llvm: String,
    asm: String,
}

impl Code for Native {
    fn entry(&self, name: &str) -> Option<*const u8> {
        self.loaded.entry(&format!("{FUNC_PREFIX}{name}")).map(std::ptr::with_exposed_provenance)
    }
    fn functions(&self) -> Vec<(String, usize, usize)> {
        self.loaded
            .functions()
            .iter()
            .map(|(n, at, bytes)| (n.strip_prefix(FUNC_PREFIX).unwrap_or(n).to_owned(), *at, *bytes))
            .collect()
    }
    fn sections(&self) -> &[Section] {
        self.loaded.sections()
    }
    fn size(&self) -> usize {
        self.loaded.size()
    }
    fn text(&self, what: &str) -> Option<String> {
        match what {
            "llvm" => Some(self.llvm.clone()).filter(|t| !t.is_empty()),
            "asm" => Some(self.asm.clone()).filter(|t| !t.is_empty()),
            _ => None,
        }
    }
}

/// Loads an object that was made of `module`: helpers by name, symbols by the names that the module gives
/// them. With `lines` its sections for debuggers are kept.
pub(crate) fn load(
    object: Object,
    module: &Module,
    helpers: HelperAddress<'_>,
    lines: bool,
) -> Result<Native> {
    let symbols: HashMap<&str, usize> =
        module.funcs.iter().flat_map(|f| &f.symbols).map(|s| (s.name.as_str(), s.addr)).collect();
    let called = |n: &InstNode| {
        if let InstData::CallHelper { helper, .. } = &n.data { Some((helper.name, *helper)) } else { None }
    };
    let used: HashMap<&'static str, &'static RtFn> =
        module.funcs.iter().flat_map(|f| &f.insts).filter_map(called).collect();
    let resolve = |name: &str| -> Option<usize> {
        if let Some(helper) = name.strip_prefix(HELPER_PREFIX) {
            return used
                .get(helper)
                .or_else(|| hidden().iter().find(|h| h.name == helper))
                .map(|h| helpers(h) as usize)
                .filter(|a| *a != 0);
        }
        symbols.get(name.strip_prefix(SYMBOL_PREFIX)?).copied()
    };
    let loaded = loader::load(&object.bytes, &resolve, lines)?;
    Ok(Native { told: None, loaded, llvm: object.llvm, asm: object.asm })
}

impl Native {
    /// Tells debuggers and profilers of the code.
    pub(crate) fn tell(&mut self, module: &Module) {
        self.told = debug::tell(self, module, 1);
    }
}

/// The back end: compiles with all functions as roots.
pub struct Tier1<C> {
    pub compiler: C,
}

impl<C: Compiler> Backend for Tier1<C> {
    fn name(&self) -> &'static str {
        "tier1"
    }
    fn compile(&self, module: &Module, helpers: HelperAddress<'_>, keep: Keep) -> Result<Box<dyn Code>> {
        let roots: Vec<&str> = module.funcs.iter().map(|f| f.name.as_str()).collect();
        let codegen = Codegen { lines: keep.lines, ..Codegen::default() };
        let object = self.compiler.object(module, &roots, codegen, keep)?;
        Ok(Box::new(load(object, module, helpers, keep.lines)?))
    }
}

fn error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(ErrorCode::BackendError, message)
}

/// The shared library with LLVM in it.
pub(crate) struct Library {
    compile: Compile,
}

impl Library {
    /// An address in the library: which file it was made of.
    pub(crate) fn address(&self) -> usize {
        self.compile as usize
    }

    /// Opens the library, which stays open for the life of the process.
    pub(crate) fn open(path: &std::path::Path) -> Result<Library> {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::CString::new(path.as_os_str().as_bytes())
            .map_err(|_| error("the path of the LLVM library has a NUL in it"))?;
        // SAFETY: plain calls of the dynamic linker; the symbols are checked for null and have the types that
        // it gives them.
        unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            if handle.is_null() {
                let why = libc::dlerror();
                let why = if why.is_null() {
                    "unknown".into()
                } else {
                    std::ffi::CStr::from_ptr(why).to_string_lossy()
                };
                return Err(error(format!("the LLVM library cannot be opened: {why}")));
            }
            let abi = libc::dlsym(handle, c"TIERUP_TIER1_ABI".as_ptr()).cast::<u32>();
            if abi.is_null() || *abi != ABI {
                return Err(error(format!("{} belongs to another version of Tierup", path.display())));
            }
            let compile = libc::dlsym(handle, c"tierup_tier1_compile".as_ptr());
            if compile.is_null() {
                return Err(error(format!("{} is not Tierup's LLVM library", path.display())));
            }
            Ok(Library { compile: std::mem::transmute::<*mut libc::c_void, Compile>(compile) })
        }
    }

    /// PTX of a legalised module for a GPU of that compute capability.
    pub(crate) fn ptx(
        &self,
        module: &Module,
        roots: &[&str],
        capability: u32,
        codegen: Codegen,
        lines: bool,
    ) -> Result<String> {
        let keep = Keep { remarks: lines, ..Keep::default() };
        Ok(String::from_utf8_lossy(&self.call(module, roots, capability, codegen, keep)?.bytes).into_owned())
    }

    fn call(
        &self,
        module: &Module,
        roots: &[&str],
        capability: u32,
        codegen: Codegen,
        keep: Keep,
    ) -> Result<Object> {
        #[derive(Default)]
        struct Got {
            object: Object,
            message: String,
        }
        unsafe extern "C" fn sink(user: *mut u8, part: u32, bytes: *const u8, len: usize) {
            // SAFETY: `user` is the `Got` below, and the library gives `len` readable bytes.
            let (got, bytes) = unsafe { (&mut *user.cast::<Got>(), std::slice::from_raw_parts(bytes, len)) };
            let text = || String::from_utf8_lossy(bytes).into_owned();
            match Part::from_number(part) {
                Some(Part::Object) => got.object.bytes = bytes.to_vec(),
                Some(Part::Llvm) => got.object.llvm = text(),
                Some(Part::Asm) => got.object.asm = text(),
                Some(Part::Remarks) => got.object.remarks = text(),
                Some(Part::Error) => got.message = text(),
                None => {}
            }
        }
        let lir = module.to_string();
        let roots: String = roots.iter().map(|r| format!("{r}\n")).collect();
        let request = Request {
            lir: lir.as_ptr(),
            lir_len: lir.len(),
            roots: roots.as_ptr(),
            roots_len: roots.len(),
            capability,
            cpu: codegen.cpu as u8,
            fast_math: codegen.fast_math,
            opt: codegen.opt,
            keep_text: keep.text,
            keep_remarks: keep.remarks,
            keep_lines: codegen.lines,
        };
        let mut got = Got::default();
        // SAFETY: the request lives across the call, and the sink takes what it gets.
        let failed = unsafe { (self.compile)(&request, sink, (&raw mut got).cast()) } != 0;
        if failed {
            return Err(error(got.message));
        }
        Ok(got.object)
    }
}

impl Compiler for Library {
    fn object(&self, module: &Module, roots: &[&str], codegen: Codegen, keep: Keep) -> Result<Object> {
        self.call(module, roots, 0, codegen, keep)
    }
}
