//! `/tmp/perf-PID.map`: names of compiled code for `perf` and other profilers, one line for each function:
//! address, size, name. Off by default.
//!
//! Lines are appended, as CPython's own (`-X perf`) are, so both may write. An address that is used again
//! after code was freed gets a second line; `perf` takes the last one.

use super::Function;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

pub fn set(on: bool) {
    ON.store(on, Ordering::Release)
}

pub(super) fn is_on() -> bool {
    ON.load(Ordering::Acquire)
}

/// Notes the functions of fresh code. What cannot be written is left out: a profile without names is no
/// reason to stop.
pub(super) fn note(functions: &[Function]) {
    let line = |f: &Function| format!("{:x} {:x} {}\n", f.address, f.bytes, f.label);
    let text: String = functions.iter().map(line).collect();
    if text.is_empty() {
        return;
    }
    // One write for all lines, so that other writers' lines stay whole.
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(format!("/tmp/perf-{}.map", std::process::id()));
    if let Ok(mut f) = file {
        let _ = f.write_all(text.as_bytes());
    }
}
