//! What differs between targets: triple, features, calling conventions, attributes.

mod cpu;
mod nvptx;

use inkwell::OptimizationLevel;
use inkwell::targets::TargetMachine;
use tierup_core::cpu::Cpu;
use tierup_core::diag::{Code, Diagnostic, Result};

/// Where the code will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A CPU: this machine's, with all that it can do, or a level of x86-64.
    Cpu(Cpu),
    /// An NVIDIA GPU of a compute capability, 75 for 7.5.
    Nvptx { capability: u32 },
}

impl Target {
    pub(crate) fn is_gpu(self) -> bool {
        matches!(self, Target::Nvptx { .. })
    }

    pub(crate) fn machine(self, level: OptimizationLevel) -> Result<TargetMachine> {
        match self {
            Target::Cpu(cpu) => cpu::machine(cpu, level),
            Target::Nvptx { capability } => nvptx::machine(capability, level),
        }
    }

    /// The alignment of an access of that many bytes. A CPU takes any; a GPU would need a load for each byte,
    /// so whoever launches a kernel aligns its arrays.
    pub(crate) fn alignment(self, bytes: u32) -> u32 {
        match self {
            Target::Cpu(_) => 1,
            Target::Nvptx { .. } => bytes,
        }
    }

    /// The calling convention of functions that are called from outside, where it is not C's.
    pub(crate) fn entry_convention(self) -> Option<u32> {
        match self {
            Target::Cpu(_) => None,
            Target::Nvptx { .. } => Some(nvptx::KERNEL),
        }
    }

    /// What a function that is called from outside is called in the output.
    pub(crate) fn entry_name(self, name: &str) -> String {
        match self {
            Target::Cpu(_) => format!("{}{name}", tierup_core::door::FUNC_PREFIX),
            Target::Nvptx { .. } => {
                name.strip_prefix(tierup_core::door::DEVICE_PREFIX).unwrap_or(name).to_owned()
            }
        }
    }

    /// Whether a multiplication with an addition is one instruction.
    pub(crate) fn fuses(self) -> bool {
        match self {
            Target::Cpu(cpu) => cpu::fuses(cpu),
            Target::Nvptx { .. } => true,
        }
    }

    /// String attributes of every function.
    pub(crate) fn function_attributes(self, fast_math: u8) -> Vec<(&'static str, String)> {
        match self {
            Target::Cpu(cpu) => cpu::function_attributes(cpu),
            // As nvcc has it: approximate functions come with floats of 32 bits that are 0 where they are smaller
            // than all others.
            Target::Nvptx { .. } if fast_math & APPROXIMATE != 0 => {
                vec![("denormal-fp-math-f32", "preserve-sign,preserve-sign".into())]
            }
            Target::Nvptx { .. } => vec![],
        }
    }
}

/// The bit of `afn` in [`tierup_core::emit::cx::Options::fast_math`].
const APPROXIMATE: u8 = 1 << 6;

fn error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BackendError, message)
}
