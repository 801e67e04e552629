//! This machine's CPU.

use super::error;
use inkwell::OptimizationLevel;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use std::sync::OnceLock;
use tierup_core::diag::Result;

/// Name and features of the host, asked for once.
fn host() -> &'static (String, String) {
    static HOST: OnceLock<(String, String)> = OnceLock::new();
    HOST.get_or_init(|| {
        Target::initialize_x86(&InitializationConfig::default());
        (TargetMachine::get_host_cpu_name().to_string_lossy().into_owned(), TargetMachine::get_host_cpu_features().to_string_lossy().into_owned())
    })
}

/// Position-independent code of the small model: code and constants lie in one mapping, everything else is reached through tables beside it.
pub fn machine(level: OptimizationLevel) -> Result<TargetMachine> {
    let (cpu, features) = host();
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|e| error(format!("LLVM does not know this machine: {}", e.to_string_lossy())))?;
    target
        .create_target_machine(&triple, cpu, features, level, RelocMode::PIC, CodeModel::Small)
        .ok_or_else(|| error(format!("LLVM makes no code for {cpu}")))
}

pub fn function_attributes() -> Vec<(&'static str, String)> {
    let (cpu, features) = host();
    vec![
        ("target-cpu", cpu.clone()),
        ("target-features", features.clone()),
        // A frame larger than the guard page touches every page on its way down.
        ("probe-stack", "inline-asm".into()),
    ]
}
