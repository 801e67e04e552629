//! NVIDIA GPUs: PTX text, which the driver or `ptxas` turns into machine code.

use super::error;
use inkwell::OptimizationLevel;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use tierup_core::diag::Result;

/// LLVM's number of the calling convention `ptx_kernel`.
pub(crate) const KERNEL: u32 = 71;

pub(crate) fn machine(capability: u32, level: OptimizationLevel) -> Result<TargetMachine> {
    Target::initialize_nvptx(&InitializationConfig::default());
    let triple = TargetTriple::create("nvptx64-nvidia-cuda");
    let target = Target::from_triple(&triple)
        .map_err(|e| error(format!("this LLVM has no NVPTX: {}", e.to_string_lossy())))?;
    // The oldest version of PTX that knows the capability, so that older drivers take it.
    let version = match capability {
        ..=75 => "+ptx63",
        76..=80 => "+ptx70",
        81..=90 => "+ptx78",
        91..=101 => "+ptx86",
        102.. => "+ptx88",
    };
    target
        .create_target_machine(
            &triple,
            &format!("sm_{capability}"),
            version,
            level,
            RelocMode::Default,
            CodeModel::Default,
        )
        .ok_or_else(|| error(format!("LLVM makes no code for sm_{capability}")))
}
