//! Tests that need more than one crate, and `jitc`, the developer's tool for every level of the compiler.
//!
//! [`filetests`] runs `tests/filetests/**`, [`fuzz`] compares interpreter and back ends on random LIR,
//! [`docs`] keeps generated documentation current, [`rules`] checks the repository itself. All run under
//! `cargo test -p tierup-tests`; `TIERUP_BLESS=1` rewrites expected output and generated files.

mod circles;
pub mod docs;
pub mod exec;
pub mod filetests;
pub mod fuzz;
pub mod helpers;
pub mod jitc;
pub mod passes;
pub mod rules;

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}

/// Whether expected output is to be rewritten.
pub fn bless() -> bool {
    std::env::var("TIERUP_BLESS").is_ok_and(|v| v != "0" && !v.is_empty())
}

/// Every file below `dir` whose name ends in `suffix`, sorted.
pub fn files_below(dir: &Path, suffix: &str) -> Vec<PathBuf> {
    let (mut out, mut todo) = (vec![], vec![dir.to_path_buf()]);
    while let Some(d) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(&d) else { continue };
        for path in entries.flatten().map(|e| e.path()) {
            if path.is_dir() {
                todo.push(path)
            } else if path.to_string_lossy().ends_with(suffix) {
                out.push(path)
            }
        }
    }
    out.sort();
    out
}
