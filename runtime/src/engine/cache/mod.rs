//! The code cache: objects of tier 1 on disk, so that the next process starts where this one ended.
//!
//! An entry is found by what is compiled. The key is a hash of the optimised LIR of an overload and of
//! everything that it calls, of its entries, of the options, of this build of Tierup and of LLVM, and of the
//! CPU ([`key`]). An object is a function of these alone: whatever lies elsewhere in each process is asked
//! for by name when it is loaded. So there is nothing to validate, and closures, edited modules, notebooks
//! and changed globals need no rule of their own: where the code would be another, so is the key.
//!
//! [`entry`] is the file format, [`directory`] finds, writes and removes files, [`shipped`] reads those that
//! packages bring with them, [`identity`] says which build and which CPU this is. No failure in here is an error: what cannot be read is a miss, what cannot be
//! written is not cached. `docs/code-cache.md` says what is trusted and why.

mod directory;
mod entry;
mod identity;
pub mod shipped;
#[cfg(test)]
mod tests;

pub use directory::{Directory, Listed};

use super::tier1::Codegen;
use shipped::Shipped;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use tierup_core::cpu::Cpu;
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

/// The build id of the library with LLVM, as hexadecimal digits.
pub fn compiler() -> Option<String> {
    identity::library_id().map(|id| id.iter().map(|b| format!("{b:02x}")).collect())
}

/// What the key of a module is made of, beside the machine that its code is for.
struct Content {
    options: [u8; 2],
    roots: Vec<u8>,
    code: Vec<u8>,
}

impl Content {
    /// That of a module, whose symbols are named by number, as the object will ask for them.
    fn new(module: &mut Module, roots: &[&str], codegen: Codegen) -> Content {
        canon::number_symbols(module);
        let mut names = (roots.len() as u64).to_le_bytes().to_vec();
        for r in roots {
            names.extend_from_slice(&(r.len() as u64).to_le_bytes());
            names.extend_from_slice(r.as_bytes());
        }
        Content { options: [codegen.fast_math, codegen.opt], roots: names, code: canon::bytes(module) }
    }

    fn key(&self, identity: &[u8; 32]) -> Key {
        let mut hash = blake3::Hasher::new();
        hash.update(identity);
        hash.update(&self.options);
        hash.update(&self.roots);
        hash.update(&self.code);
        Key(*hash.finalize().as_bytes())
    }
}

/// What tells apart objects that would be put into the directory; none where there is no cache.
fn own_identity(cpu: Cpu) -> Option<&'static [u8; 32]> {
    if DIRECTORY.read().unwrap_or_else(PoisonError::into_inner).is_none() {
        return None;
    }
    identity::identity(cpu)
}

/// The key of a module, and its symbols named by number, as the object will ask for them. None where there is
/// no cache.
pub(crate) fn key(module: &mut Module, roots: &[&str], codegen: Codegen) -> Option<Key> {
    let identity = own_identity(codegen.cpu)?;
    Some(Content::new(module, roots, codegen).key(identity))
}

/// Where the object of a module may lie.
pub(crate) struct Sought {
    /// What it is put under, where there is a cache.
    pub own: Option<Key>,
    /// The best place first.
    places: Vec<Place>,
}

/// One of these places.
pub(crate) struct Place {
    pub key: Key,
    /// What its code runs on.
    pub cpu: Cpu,
    /// A folder of a package; else the directory.
    shipped: Option<Arc<Shipped>>,
}

/// Looks for what was made of a module before, whose symbols are then named by number. None where nothing can
/// be found or kept.
///
/// What a package ships for this very processor is looked for first, then what was compiled here, which is
/// for this processor as well; then what packages ship for a level that it has, the highest one first.
pub(crate) fn sought(module: &mut Module, roots: &[&str], codegen: Codegen) -> Option<Sought> {
    let (own, folders) = (own_identity(codegen.cpu), shipped::folders());
    if own.is_none() && folders.is_empty() {
        return None;
    }
    let content = Content::new(module, roots, codegen);
    let own = own.map(|identity| content.key(identity));
    let mut places = vec![];
    for &cpu in Cpu::ALL.iter().rev().filter(|c| **c <= codegen.cpu && crate::cpu::supports(**c)) {
        for folder in &folders {
            places.extend(folder.identities(cpu).map(|identity| Place {
                key: content.key(identity),
                cpu,
                shipped: Some(folder.clone()),
            }));
        }
        if let Some(key) = own.filter(|_| cpu == codegen.cpu) {
            places.push(Place { key, cpu, shipped: None });
        }
    }
    Some(Sought { own, places })
}

impl Sought {
    /// What `load` makes of the first object that can be loaded.
    pub(crate) fn first<T>(&self, mut load: impl FnMut(&Place, Vec<u8>) -> Option<T>) -> Option<T> {
        let mut read = false;
        for place in &self.places {
            match place.get() {
                Ok(None) => {}
                Err(_) => {
                    read = true;
                    COUNTS.refused.fetch_add(1, Ordering::Relaxed);
                }
                Ok(Some(object)) => {
                    read = true;
                    COUNTS.hits.fetch_add(1, Ordering::Relaxed);
                    if let Some(loaded) = load(place, object) {
                        return Some(loaded);
                    }
                    place.forget();
                }
            }
        }
        if !read {
            COUNTS.misses.fetch_add(1, Ordering::Relaxed);
        }
        None
    }
}

impl Place {
    fn get(&self) -> std::result::Result<Option<Vec<u8>>, String> {
        match &self.shipped {
            Some(folder) => folder.get(self.key),
            None => directory().map_or(Ok(None), |d| d.get(self.key)),
        }
    }

    /// Forgets an entry that could not be loaded. What a package ships stays, and is not this program's.
    fn forget(&self) {
        if self.shipped.is_none() {
            return forget(self.key);
        }
        COUNTS.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the code came with a package.
    pub(crate) fn is_shipped(&self) -> bool {
        self.shipped.is_some()
    }
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
