//! Calls inside the library stay inside: else the C library's `__cxa_atexit` would be found before ours (see
//! `src/exit.rs`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    // The code cache tells builds apart by what the linker writes here.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--build-id=sha1");
}
