//! The run-time: what compiled code calls. Each helper family of `core::ops` is implemented in the module of
//! its name on [`Native`].
//!
//! Start with [`object`] (reference counts, memory) and [`exc`] (native exceptions). [`host`] holds the
//! callbacks to Python, the only way out; everything else works without Python.

pub(crate) mod array;
mod atomics;
mod blocks;
pub mod bytearray;
mod bytes;
mod calendar;
mod chars;
mod copying;
mod counted;
pub mod cpu;
pub mod cycles;
mod datetimes;
pub mod deque;
pub mod dict;
mod drops;
pub mod engine;
pub mod exc;
mod fft;
mod foreign;
mod frame;
pub mod gpu;
pub mod host;
pub mod instance;
mod lapack;
mod linalg;
pub mod list;
pub(crate) mod mathfn;
pub(crate) mod number;
pub mod object;
mod objects;
pub mod panics;
pub mod parallel;
pub(crate) mod poll;
pub(crate) mod print;
mod python_calls;
mod raising;
pub mod random;
mod regexes;
mod ring_members;
mod shape;
mod shown;
pub mod string;
#[cfg(test)]
mod testing;
pub(crate) mod time;
pub mod use_word;
pub mod var_tuple;

use std::collections::HashMap;
use std::sync::LazyLock;
use tierup_core::ops::Runtime;
use tierup_core::rt::RtFn;

/// Makes code, and chooses kernels, for `cpu` from now on.
pub fn choose_cpu(cpu: tierup_core::cpu::Cpu) {
    cpu.choose();
    #[cfg(target_arch = "x86_64")]
    mathfn::elementary::find_out();
}

pub use number::hash::set_none as set_none_hash;

/// Implements every helper family natively.
pub struct Native;

static ADDRESSES: LazyLock<HashMap<usize, usize>> = LazyLock::new(|| {
    tierup_core::rt::on_panic(panics::report);
    Native::bind_all().iter().map(|b| (std::ptr::from_ref(b.decl) as usize, b.addr as usize)).collect()
});

/// The address of the shim that runs a helper; null for a declaration that belongs to no family.
pub fn helper_address(helper: &'static RtFn) -> *const u8 {
    // Compiling is the time to look for libraries: the thread has time, and Python where it needs it.
    if std::ptr::eq(helper, &tierup_core::ops::linalg::linalg_lapack) {
        lapack::prepare();
    }
    if std::ptr::eq(helper, &tierup_core::ops::fft::fft_lines) {
        fft::prepare();
    }
    ADDRESSES.get(&(std::ptr::from_ref(helper) as usize)).map_or(std::ptr::null(), |a| *a as *const u8)
}

/// `n` elements at `p`; empty when there are none, whatever `p` is then.
///
/// # Safety
/// `p` must point to `n` initialised elements that nobody changes meanwhile.
pub(crate) unsafe fn raw_slice<'a, T>(p: *const T, n: i64) -> &'a [T] {
    // SAFETY: as required of the caller.
    if n <= 0 { &[] } else { unsafe { std::slice::from_raw_parts(p, n as usize) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declared_helper_has_an_address_and_names_are_unique() {
        let mut names = std::collections::HashSet::new();
        for h in tierup_core::ops::helpers() {
            assert!(!helper_address(h).is_null(), "{h:?}");
            assert!(names.insert(h.name), "{h:?} is declared twice");
        }
    }
}
