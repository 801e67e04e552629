//! What a back end is: LIR in, callable code out. Nothing here knows which one.

use crate::layout::ThreadCtx;
use crate::lir::Module;

/// Finds the address of a helper by name.
pub type HelperAddress<'a> = &'a (dyn Fn(&'static crate::rt::RtFn) -> *const u8 + Sync);

/// Name and contents of a section of an object.
pub type Section = (String, Vec<u8>);

/// Code of one module; dropping it frees the code, so the engine keeps it as long as anyone may run it.
pub trait Code: Send + Sync {
    /// Entry address of the function of that name.
    fn entry(&self, name: &str) -> Option<*const u8>;
    /// Name, address and bytes of every function, for profilers; none where code is interpreted.
    fn functions(&self) -> Vec<(String, usize, usize)> {
        vec![]
    }
    /// What [`Keep::lines`] asks for: sections of DWARF by their names, in which every address is final.
    fn sections(&self) -> &[Section] {
        &[]
    }
    /// Bytes of machine code.
    fn size(&self) -> usize;
    /// Human-readable machine code, or the back end's own IR (`what` is `clif`, `llvm`, `asm`, `ptx`).
    fn text(&self, what: &str) -> Option<String>;
    /// What calls the functions where they are no machine code; their entries are then names, not to be
    /// jumped to.
    fn calls(&self) -> Option<&dyn Calls> {
        None
    }
}

/// Calls functions that are no machine code.
pub trait Calls {
    /// Calls the function that an entry names: its status.
    ///
    /// # Safety
    /// `ctx` is the live context of this thread; `args` and `results` are as the function expects.
    unsafe fn call(&self, entry: *const u8, ctx: *mut ThreadCtx, args: *const u64, results: *mut u64) -> u64;
}

/// What is wanted of a compilation beside code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// What [`Code::text`] prints.
    pub text: bool,
    /// Lines of the source on everything, and what LLVM says of loops: `core::remarks` reads it.
    pub remarks: bool,
    /// What debuggers and profilers by line want: [`Code::sections`], and frame pointers.
    pub lines: bool,
}

/// Turns modules into code. Thread-safe; takes no global lock.
pub trait Backend: Send + Sync {
    fn name(&self) -> &'static str;
    /// The same back end for another thread, which may outlive this one's interest in it; none where
    /// compiling takes no time.
    fn detached(&self) -> Option<Box<dyn Backend>> {
        None
    }
    /// Compiles legalised, verified LIR.
    fn compile(
        &self,
        module: &Module,
        helpers: HelperAddress<'_>,
        keep: Keep,
    ) -> Result<Box<dyn Code>, crate::diag::Diagnostic>;
}
