//! Nothing of LLVM is torn down when the process ends.
//!
//! A compile thread may be in the middle of LLVM when the main thread runs the destructors of global objects.
//! This definition takes the place of the C library's for the code of this shared library alone (`build.rs`
//! sees to that), and forgets what it is told: memory goes back with the process.

/// Takes note of a destructor that is to run at exit; here it never does.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cxa_atexit(_destructor: *const u8, _object: *mut u8, _library: *mut u8) -> i32 {
    0
}
