//! CPUs: this machine's, and levels of x86-64 that it has.

use super::error;
use inkwell::OptimizationLevel;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use std::ffi::CStr;
use std::sync::OnceLock;
use tierup_core::cpu::Cpu;
use tierup_core::diag::Result;

/// What LLVM does differently here than by default. Loops with ways out in the middle are unrolled too:
/// nearly all have them, for checks that hardly ever fail. Straight code becomes vectors only where the gain
/// is beyond doubt: it slowed down `nbody` by a tenth otherwise. What a loop adds up in order is added up in
/// order, but computed in vectors: the gain is large where that is a division or an exponential.
const SETTINGS: [&CStr; 5] = [
    c"tierup",
    c"-unroll-runtime-multi-exit",
    c"-slp-threshold=2",
    c"-force-ordered-reductions",
    c"-enable-mem-access-versioning=false",
];

/// LLVM's name and features of a processor. A level is a name that says all.
fn named(cpu: Cpu) -> (&'static str, &'static str) {
    let (name, features) = host();
    if cpu == Cpu::Native { (name, features) } else { (cpu.name(), "") }
}

/// Name and features of the host, asked for once.
fn host() -> &'static (String, String) {
    static HOST: OnceLock<(String, String)> = OnceLock::new();
    HOST.get_or_init(|| {
        let settings = SETTINGS.map(CStr::as_ptr);
        // SAFETY: strings that live for ever, and their number; this copy of LLVM belongs to this library
        // alone, and nobody compiles yet.
        unsafe {
            inkwell::llvm_sys::support::LLVMParseCommandLineOptions(
                settings.len() as i32,
                settings.as_ptr(),
                std::ptr::null(),
            )
        }
        Target::initialize_x86(&InitializationConfig::default());
        (
            TargetMachine::get_host_cpu_name().to_string_lossy().into_owned(),
            TargetMachine::get_host_cpu_features().to_string_lossy().into_owned(),
        )
    })
}

/// Position-independent code of the small model: code and constants lie in one mapping, everything else is
/// reached through tables beside it.
pub(crate) fn machine(cpu: Cpu, level: OptimizationLevel) -> Result<TargetMachine> {
    let (cpu, features) = named(cpu);
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple)
        .map_err(|e| error(format!("LLVM does not know this machine: {}", e.to_string_lossy())))?;
    target
        .create_target_machine(&triple, cpu, features, level, RelocMode::PIC, CodeModel::Small)
        .ok_or_else(|| error(format!("LLVM makes no code for {cpu}")))
}

pub(crate) fn fuses(cpu: Cpu) -> bool {
    if cpu == Cpu::Native { host().1.split(',').any(|f| f == "+fma") } else { cpu >= Cpu::V3 }
}

pub(crate) fn function_attributes(cpu: Cpu) -> Vec<(&'static str, String)> {
    let (cpu, features) = named(cpu);
    vec![
        ("target-cpu", cpu.into()),
        ("target-features", features.into()),
        // A frame larger than the guard page touches every page on its way down.
        ("probe-stack", "inline-asm".into()),
    ]
}
