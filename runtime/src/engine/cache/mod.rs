//! The code cache: objects of tier 1 on disk, so that the next process starts where this one ended.
//!
//! An entry is found by what is compiled. The key is a hash of the optimised LIR of an overload and of
//! everything that it calls, of its entries, of the options, of this build of Tierup and of LLVM, and of the
//! CPU ([`key`]). An object is a function of these alone: whatever lies elsewhere in each process is asked
//! for by name when it is loaded. So there is nothing to validate, and closures, edited modules, notebooks
//! and changed globals need no rule of their own: where the code would be another, so is the key.
//!
//! [`entry`] is the file format, [`directory`] finds, writes and removes files, [`identity`] says which build
//! and which CPU this is. No failure in here is an error: what cannot be read is a miss, what cannot be
//! written is not cached. `docs/code-cache.md` says what is trusted and why.

mod directory;
mod entry;
mod identity;
#[cfg(test)]
mod tests;

pub use directory::{Directory, Listed};

use super::tier1::Codegen;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use tierup_core::lir::{Module, canon};

/// What an entry is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub [u8; 32]);

impl Key {
    /// What the code is found by that goes on at a point of the unit with this key.
    pub(crate) fn of_point(self, func: usize, point: usize) -> Key {
        let mut hash = blake3::Hasher::new();
        hash.update(b"from a loop on");
        hash.update(&self.0);
        hash.update(&(func as u64).to_le_bytes());
        hash.update(&(point as u64).to_le_bytes());
        Key(*hash.finalize().as_bytes())
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// The directory in force; none: there is no cache.
static DIRECTORY: RwLock<Option<Directory>> = RwLock::new(None);

/// What happened in this process, for reports and tests.
#[derive(Debug, Default)]
pub struct Counts {
    pub hits: AtomicU64,
    pub misses: AtomicU64,
    pub stored: AtomicU64,
    pub refused: AtomicU64,
}
pub static COUNTS: Counts = Counts {
    hits: AtomicU64::new(0),
    misses: AtomicU64::new(0),
    stored: AtomicU64::new(0),
    refused: AtomicU64::new(0),
};

/// Chooses the directory: `base` (where it is empty, the user's cache directory) and the most that it may
/// hold.
pub fn configure(on: bool, base: &str, most: u64) {
    let directory = if on { directory::base(base).map(|b| Directory::new(b, most)) } else { None };
    *DIRECTORY.write().unwrap_or_else(PoisonError::into_inner) = directory;
}

/// The directory in force.
pub(crate) fn directory() -> Option<Directory> {
    DIRECTORY.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Where entries of `base` would be, whether the cache is on or not.
pub fn place(base: &str, most: u64) -> Option<Directory> {
    directory::base(base).map(|b| Directory::new(b, most))
}

/// Says where the library with LLVM is: entries belong to it.
pub(crate) fn set_library(path: PathBuf) {
    identity::set_library(path)
}

/// The key of a module, and its symbols named by number, as the object will ask for them. None where there is
/// no cache.
pub(crate) fn key(module: &mut Module, roots: &[&str], codegen: Codegen) -> Option<Key> {
    if DIRECTORY.read().unwrap_or_else(PoisonError::into_inner).is_none() {
        return None;
    }
    let Codegen { fast_math, opt, cpu } = codegen;
    let identity = identity::identity(cpu)?;
    canon::number_symbols(module);
    let mut hash = blake3::Hasher::new();
    hash.update(identity);
    hash.update(&[fast_math, opt]);
    hash.update(&(roots.len() as u64).to_le_bytes());
    for r in roots {
        hash.update(&(r.len() as u64).to_le_bytes());
        hash.update(r.as_bytes());
    }
    hash.update(&canon::bytes(module));
    Some(Key(*hash.finalize().as_bytes()))
}

/// The object of a key.
pub(crate) fn get(key: Key) -> Option<Vec<u8>> {
    let found = directory()?.get(key);
    let count = match &found {
        Ok(Some(_)) => &COUNTS.hits,
        Ok(None) => &COUNTS.misses,
        Err(_) => &COUNTS.refused,
    };
    count.fetch_add(1, Ordering::Relaxed);
    found.ok().flatten()
}

/// Keeps the object of a key. `label` tells people what it is. `compiler` is an address in the library that
/// made the object.
pub(crate) fn put(key: Key, label: &str, object: &[u8], compiler: usize) {
    // The file may have been replaced between the making of the key and the opening of the library.
    if !identity::is_library(compiler) {
        return;
    }
    if directory().is_some_and(|d| d.put(key, label, object)) {
        COUNTS.stored.fetch_add(1, Ordering::Relaxed);
    }
}

/// Forgets an entry that could not be loaded.
pub(crate) fn forget(key: Key) {
    COUNTS.refused.fetch_add(1, Ordering::Relaxed);
    if let Some(d) = directory() {
        d.forget(key);
    }
}
