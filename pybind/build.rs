//! Passes on which Python is built against, as `cfg(Py_3_12)` and the like.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    // The code cache tells builds apart by what the linker writes here.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--build-id=sha1");
}
