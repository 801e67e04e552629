//! `/tmp/perf-PID.map`: names of compiled code for `perf` and other profilers, one line for each function:
//! address, size, name. Off by default.
//!
//! Lines are appended, as CPython's own (`-X perf`) are, so both may write. An address that is used again
//! after code was freed gets a second line; `perf` takes the last one.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use tierup_core::backend::Code;
use tierup_core::lir::Module;

static ON: AtomicBool = AtomicBool::new(false);

pub fn set(on: bool) {
    ON.store(on, Ordering::Release)
}

/// Notes the functions of fresh code. What cannot be written is left out: a profile without names is no
/// reason to stop.
pub(crate) fn note(code: &dyn Code, module: &Module, tier: u8) {
    if !ON.load(Ordering::Acquire) {
        return;
    }
    let mut text = String::new();
    for (name, address, bytes) in code.functions() {
        text.push_str(&format!("{address:x} {bytes:x} {}\n", label(&name, module, tier)));
    }
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

/// `name (file:line) [tier N]`, with what the compiler added to the name left out.
fn label(name: &str, module: &Module, tier: u8) -> String {
    let wrapped = module.func(name).and_then(|f| f.wraps.as_deref());
    let plain = wrapped.unwrap_or(name.split_once("@osr").map_or(name, |n| n.0));
    let plain =
        plain.rsplit_once('.').filter(|n| n.1.bytes().all(|b| b.is_ascii_digit())).map_or(plain, |n| n.0);
    let part = if name.contains("@osr") { ", from a running loop on" } else { "" };
    let first =
        module.funcs.iter().flat_map(|f| &f.locs).filter(|l| *l.func == *plain).min_by_key(|l| l.line);
    match first {
        Some(l) => format!("{plain} ({}:{}{part}) [tier {tier}]", l.file, l.line),
        None => format!("{plain} [tier {tier}]"),
    }
}
