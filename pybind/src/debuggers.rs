//! The names under which debuggers look for compiled code. They are the extension's, since tests have LLVM linked
//! in, which has the same.

use tierup_runtime::engine::debug::gdb::{self, Descriptor};

/// Read by debuggers.
#[unsafe(no_mangle)]
static mut __jit_debug_descriptor: Descriptor = Descriptor::EMPTY;

/// Where debuggers stop, whenever the list has changed.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // Nothing may assume that the call does nothing.
    std::hint::black_box(());
}

/// When the extension is loaded.
pub(crate) fn announce() {
    // SAFETY: nobody else uses it.
    unsafe { gdb::announce(&raw mut __jit_debug_descriptor, __jit_debug_register_code) }
}
