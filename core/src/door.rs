//! What the engine and the shared library with LLVM agree on: the names in objects, and the C call between
//! them.
//!
//! The two are built apart, so nothing but bytes crosses. Both sides take these declarations from here;
//! [`ABI`] changes when their meaning does.

/// What stands before the name of a helper in an object, so that no name means anything to LLVM.
pub const HELPER_PREFIX: &str = "rt.";
/// What stands before the name of a symbol.
pub const SYMBOL_PREFIX: &str = "sym.";
/// What stands before the name of a function.
pub const FUNC_PREFIX: &str = "fn.";

/// What stands before the name of a root that a GPU's own code calls, and no launch.
pub const DEVICE_PREFIX: &str = "device ";
/// What stands before the name of a function that a GPU's code is linked with.
pub const EXTERN_PREFIX: &str = "extern ";

/// The version of the door; the library shows its own as `TIERUP_TIER1_ABI`.
pub const ABI: u32 = 6;

/// What is to be compiled; all strings are UTF-8 with a length.
#[repr(C)]
pub struct Request {
    /// A legalised module as text.
    pub lir: *const u8,
    pub lir_len: usize,
    /// Names of the functions that are called from outside, each ended by a newline.
    pub roots: *const u8,
    pub roots_len: usize,
    /// 0 for a CPU, else a GPU's compute capability.
    pub capability: u32,
    /// Which CPU: a number of [`crate::cpu::Cpu`].
    pub cpu: u8,
    pub fast_math: u8,
    pub opt: u8,
    pub keep_text: bool,
    pub keep_remarks: bool,
    pub keep_lines: bool,
}

macro_rules! parts {
    ($( $(#[doc = $doc:expr])+ $Part:ident = $number:literal, )+) => {
        /// What one piece of the answer is.
        #[repr(u32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Part { $( $(#[doc = $doc])+ $Part = $number, )+ }
        impl Part {
            pub fn from_number(n: u32) -> Option<Part> { match n { $($number => Some(Part::$Part),)+ _ => None } }
        }
    };
}
parts! {
    /// The object, or the text of the PTX.
    Object = 0,
    /// Optimised LLVM IR.
    Llvm = 1,
    /// Assembly.
    Asm = 2,
    /// The message of an error.
    Error = 3,
    /// What LLVM says of loops.
    Remarks = 4,
}

/// Takes one piece of the answer; `part` is a [`Part`].
pub type Sink = unsafe extern "C" fn(user: *mut u8, part: u32, bytes: *const u8, len: usize);
/// `tierup_tier1_compile`: 0, or 1 after an error.
pub type Compile = unsafe extern "C" fn(request: *const Request, sink: Sink, user: *mut u8) -> u32;
