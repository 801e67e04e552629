//! Passes on which Python is built against, as `cfg(Py_3_12)` and the like.

fn main() { pyo3_build_config::use_pyo3_cfgs(); }
