//! What the run-time's kernels may ask of the processor: what it has, up to the level that the process makes
//! code for ([`Cpu::chosen`]).

use tierup_core::cpu::Cpu;

/// Whether kernels may use these features: `has!("avx2", "fma")`. A feature that no level names is no arm of
/// this macro.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    (@level "popcnt") => { tierup_core::cpu::Cpu::V2 };
    (@level "avx2") => { tierup_core::cpu::Cpu::V3 };
    (@level "fma") => { tierup_core::cpu::Cpu::V3 };
    (@level "avx512f") => { tierup_core::cpu::Cpu::V4 };
    (@level "avx512bw") => { tierup_core::cpu::Cpu::V4 };
    (@level "avx512dq") => { tierup_core::cpu::Cpu::V4 };
    (@level "avx512vl") => { tierup_core::cpu::Cpu::V4 };
    ($($feature:tt),+) => { true $( && $crate::cpu::allows($crate::cpu::has!(@level $feature)) && std::arch::is_x86_feature_detected!($feature) )+ };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use has;

#[inline]
#[cfg(target_arch = "x86_64")]
pub(crate) fn allows(level: Cpu) -> bool {
    Cpu::chosen() >= level
}

/// Whether this machine runs code that is made for `cpu`.
pub fn supports(cpu: Cpu) -> bool {
    macro_rules! all { ($($feature:tt)+) => {{
        #[cfg(target_arch = "x86_64")]
        let has = true $(&& std::arch::is_x86_feature_detected!($feature))+;
        #[cfg(not(target_arch = "x86_64"))]
        let has = false;
        has
    }}; }
    let v2 = || all!("sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "cmpxchg16b");
    let v3 = || v2() && all!("avx" "avx2" "fma" "bmi1" "bmi2" "lzcnt" "f16c" "movbe");
    match cpu {
        Cpu::Native => true,
        Cpu::V2 => v2(),
        Cpu::V3 => v3(),
        Cpu::V4 => v3() && all!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"),
    }
}
