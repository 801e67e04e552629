//! What debuggers and profilers are told of compiled code: names of functions ([`map`]), code with its lines
//! for `perf` ([`dump`]), and objects with DWARF for GDB ([`gdb`]).
//!
//! Lines are made where [`lines_wanted`] or the function's own option says so: they cost time and memory, and
//! code that has them keeps frame pointers, so that `perf record -g` sees who called.

pub mod dump;
pub(crate) mod elf;
pub mod gdb;
pub(crate) mod linked;
pub mod map;

use std::sync::atomic::{AtomicBool, Ordering};
use tierup_core::backend::Code;
use tierup_core::lir::Module;

pub(crate) use gdb::Registered;

static ALL: AtomicBool = AtomicBool::new(false);

/// Whether all functions have lines, whatever their decorators say.
pub fn set_all(on: bool) {
    ALL.store(on, Ordering::Release)
}

/// Whether all functions have lines: somebody reads them.
pub fn lines_wanted() -> bool {
    ALL.load(Ordering::Acquire) || dump::is_on()
}

/// A function of fresh code.
pub(crate) struct Function {
    pub name: String,
    pub address: usize,
    pub bytes: usize,
    /// `name (file:line) [tier N]`.
    pub label: String,
}

/// Tells whoever listens of fresh code. What comes back is to be dropped before the code is.
pub(crate) fn tell(code: &dyn Code, module: &Module, tier: u8) -> Option<Registered> {
    let sections = code.sections();
    if sections.is_empty() && !map::is_on() && !dump::is_on() {
        return None;
    }
    let function = |(name, address, bytes): (String, usize, usize)| {
        let label = label(&name, module, tier);
        Function {
            name: module.func(&name).map_or(name, |f| f.plain_name().to_owned()),
            address,
            bytes,
            label,
        }
    };
    let functions: Vec<Function> = code.functions().into_iter().map(function).collect();
    if functions.is_empty() {
        return None;
    }
    if map::is_on() {
        map::note(&functions);
    }
    if dump::is_on() {
        dump::note(&functions, sections);
    }
    (!sections.is_empty()).then(|| gdb::register(elf::image(&functions, sections)))
}

/// `name (file:line) [tier N]`, with what the compiler added to the name left out.
fn label(name: &str, module: &Module, tier: u8) -> String {
    let func = module.func(name);
    let plain = func.map_or(name, |f| f.plain_name());
    let part = if name.contains("@osr") { ", from a running loop on" } else { "" };
    // Of a function that was inlined there are places in others alone.
    let places = module.funcs.iter().flat_map(|f| &f.locs);
    match places.filter(|l| *l.func == *plain).min_by_key(|l| l.line) {
        Some(l) => format!("{plain} ({}:{}{part}) [tier {tier}]", l.file, l.line),
        None => format!("{plain} [tier {tier}]"),
    }
}
