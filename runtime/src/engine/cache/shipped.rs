//! Entries that packages ship: in folders beside them (`python -m tierup precompile`), or inside extension
//! modules (`CC` of `numba.pycc`). They are read, and never written.
//!
//! A folder is trusted as far as the package that it lies in, whose Python code runs anyway: it belongs to
//! this user, to root or to the owner of the package, and nobody may write it who may not write the package.
//! A second name of a file is no sign of anything here, since installers link what they unpack once.
//!
//! Its file `compiler` names the builds of the library with LLVM that its objects are from, so that they are
//! found where that library is not.

use super::directory::{
    Wrong, contents, entry_name, has_other_rights, open_folder, open_plain, state_of, user,
};
use super::{Key, entry, identity};
use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use tierup_core::cpu::Cpu;

/// The file with the build ids, one a line, as hexadecimal digits.
const COMPILER: &CStr = c"compiler";

/// What one package ships.
#[derive(Debug)]
pub(crate) struct Shipped {
    source: Source,
    makers: Vec<Maker>,
}

/// Where the entries are.
#[derive(Debug)]
enum Source {
    Folder(PathBuf),
    /// Files by name, out of an extension module, which can run code anyway.
    Memory(HashMap<String, Vec<u8>>),
}

/// A build of LLVM, and what its objects for each processor are told apart by.
#[derive(Debug)]
struct Maker {
    library: Vec<u8>,
    identities: [OnceLock<Option<[u8; 32]>>; Cpu::ALL.len()],
}

static FOLDERS: RwLock<Vec<Arc<Shipped>>> = RwLock::new(Vec::new());
static ON: AtomicBool = AtomicBool::new(true);

/// Whether what packages ship is looked at.
pub fn configure(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// From now on the folder is looked into. Says why not, where it cannot be trusted or is none of ours.
pub fn add(path: PathBuf) -> Result<(), String> {
    if has_other_rights() {
        return Err("the program runs with other rights than its user's".into());
    }
    let same = |s: &Source| matches!(s, Source::Folder(known) if *known == path);
    if FOLDERS.read().unwrap_or_else(PoisonError::into_inner).iter().any(|f| same(&f.source)) {
        return Ok(());
    }
    let found = Shipped::open(Source::Folder(path.clone()))?;
    FOLDERS.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(found));
    Ok(())
}

/// From now on these files are looked among, as if they lay in a folder.
pub fn add_files(files: HashMap<String, Vec<u8>>) -> Result<(), String> {
    let found = Shipped::open(Source::Memory(files))?;
    FOLDERS.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(found));
    Ok(())
}

/// All of them; none where they are not looked at.
pub(super) fn folders() -> Vec<Arc<Shipped>> {
    if !ON.load(Ordering::Relaxed) {
        return vec![];
    }
    FOLDERS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Nobody may write it who may not write the package.
fn check(s: &libc::stat, package: &libc::stat) -> Result<(), Wrong> {
    if ![user(), 0, package.st_uid].contains(&s.st_uid) {
        return Err(format!("it belongs to user {}", s.st_uid));
    }
    // Where the sticky bit is set others may add files, and not replace them.
    let sticky = package.st_mode & libc::S_ISVTX != 0;
    let may = if sticky { 0 } else { package.st_mode & 0o022 };
    let other_group = s.st_mode & 0o020 != 0 && s.st_gid != package.st_gid;
    if s.st_mode & 0o022 & !may != 0 || other_group {
        return Err("others may write it".into());
    }
    Ok(())
}

/// A folder, and who may write the package that it lies in.
fn folder(path: &Path) -> Result<Option<(OwnedFd, libc::stat)>, Wrong> {
    let package = path.parent().filter(|p| *p != Path::new("")).ok_or("it lies in no package")?;
    let Some(dir) = open_folder(path)? else { return Ok(None) };
    // The package may be a link: what it leads to is what Python imports.
    let package = std::fs::File::open(package).map_err(|e| e.to_string())?;
    let package = state_of(&package)?;
    check(&state_of(&dir)?, &package)?;
    Ok(Some((dir, package)))
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    if digits.is_empty() || !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    (0..digits.len()).step_by(2).map(|k| u8::from_str_radix(&digits[k..k + 2], 16).ok()).collect()
}

impl Shipped {
    fn open(source: Source) -> Result<Shipped, Wrong> {
        let none = Shipped { source, makers: vec![] };
        let text = none.read(COMPILER)?.ok_or("it has no file `compiler`")?;
        let text = String::from_utf8(text).map_err(|_| "its file `compiler` is no text")?;
        let makers = text
            .lines()
            .map(|line| Some(Maker { library: bytes_of(line)?, identities: Default::default() }))
            .collect::<Option<Vec<_>>>()
            .ok_or("its file `compiler` is not as it should be")?;
        Ok(Shipped { makers, ..none })
    }

    fn read(&self, name: &CStr) -> Result<Option<Vec<u8>>, Wrong> {
        let path = match &self.source {
            Source::Folder(path) => path,
            Source::Memory(files) => return Ok(name.to_str().ok().and_then(|n| files.get(n)).cloned()),
        };
        let Some((dir, package)) = folder(path)? else { return Ok(None) };
        let Some((mut file, state)) = open_plain(&dir, name)? else { return Ok(None) };
        check(&state, &package)?;
        contents(&mut file, &state).map(Some)
    }

    /// The object of a key; none where there is no entry.
    pub(super) fn get(&self, key: Key) -> Result<Option<Vec<u8>>, Wrong> {
        let Some(bytes) = self.read(&entry_name(key))? else { return Ok(None) };
        Ok(Some(entry::read(key, &bytes)?.object.to_vec()))
    }

    /// What objects for a processor are told apart by, for each build that made some.
    pub(super) fn identities(&self, cpu: Cpu) -> impl Iterator<Item = &[u8; 32]> {
        self.makers.iter().filter_map(move |m| {
            m.identities[cpu as usize].get_or_init(|| identity::with_library(cpu, &m.library)).as_ref()
        })
    }
}
