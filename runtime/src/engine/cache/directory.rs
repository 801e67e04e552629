//! The directory with the entries, one file each.
//!
//! It is a folder of its own (`code-UID`) below what the user chose, so that a directory may be shared by
//! users and by machines, and nothing else is ever removed. It must belong to this user, be writable by
//! nobody else, and be no symbolic link; so must every file in it. Files are written under another name and
//! renamed, so a reader sees a whole entry or none. Every operation opens the directory anew and works
//! relative to it.

use super::{Key, entry};
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What ends the name of an entry.
const SUFFIX: &str = ".tierup";
/// What starts the name of a file that is being written.
const UNFINISHED: &str = ".new-";
/// A hit notes that the entry is used, but not more often than this (seconds).
const TOUCH: i64 = 3600;
/// Unfinished files of processes that died are removed after that time (seconds).
const ABANDONED: i64 = 3600;

/// Whether the program runs with other rights than its user's: what lies in files is not run then.
pub(crate) fn has_other_rights() -> bool {
    // SAFETY: a plain question to the C library.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The chosen directory: empty means the user's. None where there is none: no home, or a program that runs
/// with other rights than its user's.
pub(crate) fn base(chosen: &str) -> Option<PathBuf> {
    if has_other_rights() {
        return None;
    }
    if !chosen.is_empty() {
        return Some(PathBuf::from(chosen));
    }
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    Some(variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?.join("tierup"))
}

#[derive(Clone, Debug)]
pub struct Directory {
    pub path: PathBuf,
    /// Bytes that the entries may take together.
    most: u64,
    /// Bytes that this process may still write before it looks again how many there are.
    credit: Arc<AtomicU64>,
}

/// One file, for people.
#[derive(Clone, Debug)]
pub struct Listed {
    pub name: String,
    pub label: String,
    pub bytes: u64,
    /** Seconds since 1970. */
    pub used: i64,
    pub problem: Option<String>,
}

/// What is wrong with a file or directory.
pub(super) type Wrong = String;

pub(super) fn user() -> libc::uid_t {
    // SAFETY: a plain question to the system.
    unsafe { libc::geteuid() }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64)
}

pub(super) fn state_of(file: &impl AsRawFd) -> Result<libc::stat, Wrong> {
    // SAFETY: all zeros is a `stat`, and the call fills it.
    unsafe {
        let mut s: libc::stat = std::mem::zeroed();
        if libc::fstat(file.as_raw_fd(), &raw mut s) != 0 {
            return Err("its state cannot be read".into());
        }
        Ok(s)
    }
}

/// Belongs to this user, and nobody else may write it.
fn check_owner(s: &libc::stat) -> Result<(), Wrong> {
    if s.st_uid != user() {
        return Err(format!("it belongs to user {}", s.st_uid));
    }
    if s.st_mode & 0o022 != 0 {
        return Err("others may write it".into());
    }
    Ok(())
}

pub(super) fn entry_name(key: Key) -> CString {
    CString::new(format!("{key}{SUFFIX}")).unwrap_or_default()
}

fn key_of(name: &str) -> Option<Key> {
    let hex = name.strip_suffix(SUFFIX)?;
    if hex.len() != 64 || !hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let mut key = [0; 32];
    for (k, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).ok()?;
    }
    Some(Key(key))
}

impl Directory {
    pub(crate) fn new(base: PathBuf, most: u64) -> Directory {
        Directory { path: base.join(format!("code-{}", user())), most, credit: Arc::default() }
    }

    /// Opens the directory, if it can be trusted.
    fn open(&self) -> Result<Option<OwnedFd>, Wrong> {
        let Some(dir) = open_folder(&self.path)? else { return Ok(None) };
        check_owner(&state_of(&dir)?)?;
        Ok(Some(dir))
    }

    /// The same, made where it is missing.
    fn open_or_make(&self) -> Option<OwnedFd> {
        if let Some(dir) = self.open().ok()? {
            return Some(dir);
        }
        std::fs::create_dir_all(self.path.parent()?).ok()?;
        // Another process may be first.
        let _ =
            std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&self.path);
        self.open().ok()?
    }

    /// Why the directory is not used, if it is there and cannot be trusted.
    pub fn problem(&self) -> Option<String> {
        self.open().err()
    }

    /// The object of a key; none where there is no entry. What is not as it should be is removed, and says
    /// why.
    pub(crate) fn get(&self, key: Key) -> Result<Option<Vec<u8>>, Wrong> {
        let Some(dir) = self.open()? else { return Ok(None) };
        let name = entry_name(key);
        let Some((mut file, state)) = open_file(&dir, &name)? else { return Ok(None) };
        let found =
            contents(&mut file, &state).and_then(|bytes| Ok(entry::read(key, &bytes)?.object.to_vec()));
        if found.is_err() {
            remove(&dir, &name);
        } else if now() - state.st_mtime > TOUCH {
            touch(&file);
        }
        found.map(Some)
    }

    /// Writes an entry; whether it was done.
    pub(crate) fn put(&self, key: Key, label: &str, object: &[u8]) -> bool {
        let bytes = entry::write(key, label, object);
        // What would push out most of the others is not worth it.
        if bytes.len() as u64 > (self.most / 4).min(entry::LARGEST) {
            return false;
        }
        let Some(dir) = self.open_or_make() else { return false };
        self.make_room(&dir, bytes.len() as u64);
        write_file(&dir, &entry_name(key), &bytes).is_some()
    }

    pub(crate) fn forget(&self, key: Key) {
        if let Ok(Some(dir)) = self.open() {
            remove(&dir, &entry_name(key));
        }
    }

    /// Removes what has not been used for longest, until `more` bytes fit. Looks only when this process has
    /// written a part of what is allowed.
    fn make_room(&self, dir: &OwnedFd, more: u64) {
        if self.credit.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |c| c.checked_sub(more)).is_ok() {
            return;
        }
        let mut all = vec![];
        for (name, state) in files(dir) {
            let unfinished = name.to_bytes().starts_with(UNFINISHED.as_bytes());
            if unfinished && now() - state.st_mtime > ABANDONED {
                remove(dir, &name);
                continue;
            }
            if !unfinished {
                all.push((state.st_mtime, state.st_mtime_nsec, state.st_size as u64, name));
            }
        }
        let mut sum: u64 = all.iter().map(|a| a.2).sum();
        if sum + more > self.most {
            all.sort_unstable();
            let keep = self.most / 8 * 7;
            for (_, _, bytes, name) in &all {
                if sum + more <= keep {
                    break;
                }
                remove(dir, name);
                sum -= bytes;
            }
        }
        let room = self.most.saturating_sub(sum).saturating_sub(more);
        self.credit.store(room.min(self.most / 16), Ordering::Relaxed);
    }

    /// Every entry, each read and checked.
    pub fn list(&self) -> Result<Vec<Listed>, Wrong> {
        let Some(dir) = self.open()? else { return Ok(vec![]) };
        let mut out: Vec<Listed> = files(&dir)
            .into_iter()
            .map(|(name, state)| {
                let text = name.to_string_lossy().into_owned();
                let looked = || -> Result<String, Wrong> {
                    let key = key_of(&text).ok_or("it is not finished, or no entry")?;
                    let (mut file, state) = open_file(&dir, &name)?.ok_or("it has just been removed")?;
                    let bytes = contents(&mut file, &state)?;
                    Ok(entry::read(key, &bytes)?.label.to_owned())
                };
                let (label, problem) = match looked() {
                    Ok(label) => (label, None),
                    Err(why) => (String::new(), Some(why)),
                };
                Listed { name: text, label, bytes: state.st_size as u64, used: state.st_mtime, problem }
            })
            .collect();
        out.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
        Ok(out)
    }

    /// Removes everything that was put here; how many files that were.
    pub fn clear(&self) -> Result<usize, Wrong> {
        let Some(dir) = self.open()? else { return Ok(0) };
        self.credit.store(0, Ordering::Relaxed);
        Ok(files(&dir).into_iter().filter(|(name, _)| remove(&dir, name)).count())
    }
}

/// Opens a folder that is no symbolic link; none where there is none.
pub(super) fn open_folder(path: &Path) -> Result<Option<OwnedFd>, Wrong> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| "its name has a NUL in it")?;
    // SAFETY: a C string; the descriptor is new and ours.
    unsafe {
        let fd = libc::open(
            path.as_ptr(),
            libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC,
        );
        if fd < 0 {
            let e = std::io::Error::last_os_error();
            return if e.raw_os_error() == Some(libc::ENOENT) { Ok(None) } else { Err(e.to_string()) };
        }
        Ok(Some(OwnedFd::from_raw_fd(fd)))
    }
}

/// Opens an entry, if it can be trusted.
fn open_file(dir: &OwnedFd, name: &CStr) -> Result<Option<(File, libc::stat)>, Wrong> {
    let Some((file, state)) = open_plain(dir, name)? else { return Ok(None) };
    // A second name could lie where others may see to what is in it.
    if state.st_nlink > 1 {
        return Err("it has more than one name".into());
    }
    check_owner(&state)?;
    Ok(Some((file, state)))
}

/// Opens a plain file; none where there is none.
pub(super) fn open_plain(dir: &OwnedFd, name: &CStr) -> Result<Option<(File, libc::stat)>, Wrong> {
    // SAFETY: a C string; the descriptor is new and ours. Without O_NONBLOCK a FIFO under this name would
    // stop us here.
    let file = unsafe {
        let fd = libc::openat(
            dir.as_raw_fd(),
            name.as_ptr(),
            libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC,
        );
        if fd < 0 {
            let e = std::io::Error::last_os_error();
            return if e.raw_os_error() == Some(libc::ENOENT) { Ok(None) } else { Err(e.to_string()) };
        }
        File::from_raw_fd(fd)
    };
    let state = state_of(&file)?;
    if state.st_mode & libc::S_IFMT != libc::S_IFREG {
        return Err("it is no plain file".into());
    }
    Ok(Some((file, state)))
}

/// All of a file. It is read, not mapped: a mapping would change, or fail, when somebody cuts the file short.
pub(super) fn contents(file: &mut File, state: &libc::stat) -> Result<Vec<u8>, Wrong> {
    if state.st_size as u64 > entry::LARGEST {
        return Err("it is too large".into());
    }
    let mut bytes = Vec::with_capacity(state.st_size as usize + 1);
    file.take(entry::LARGEST).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

fn write_file(dir: &OwnedFd, name: &CStr, bytes: &[u8]) -> Option<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let unfinished = format!(
        "{UNFINISHED}{}-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed),
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.subsec_nanos())
    );
    let unfinished = CString::new(unfinished).ok()?;
    let mode: libc::c_uint = 0o600;
    // SAFETY: C strings; the descriptor is new and ours.
    let mut file = unsafe {
        let fd = libc::openat(
            dir.as_raw_fd(),
            unfinished.as_ptr(),
            libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC,
            mode,
        );
        if fd < 0 {
            return None;
        }
        File::from_raw_fd(fd)
    };
    let written = file.write_all(bytes).is_ok();
    drop(file);
    // SAFETY: C strings, and a descriptor of ours.
    let done = written
        && unsafe { libc::renameat(dir.as_raw_fd(), unfinished.as_ptr(), dir.as_raw_fd(), name.as_ptr()) }
            == 0;
    if !done {
        remove(dir, &unfinished);
    }
    done.then_some(())
}

fn touch(file: &File) {
    // SAFETY: no times means now. A read-only file system refuses; then the entry merely looks old.
    unsafe {
        libc::futimens(file.as_raw_fd(), std::ptr::null());
    }
}

fn remove(dir: &OwnedFd, name: &CStr) -> bool {
    // SAFETY: a C string, and a descriptor of ours.
    unsafe { libc::unlinkat(dir.as_raw_fd(), name.as_ptr(), 0) == 0 }
}

/// Files that were put here, by name: entries and unfinished ones.
fn files(dir: &OwnedFd) -> Vec<(CString, libc::stat)> {
    let mut out = vec![];
    let Ok(copy) = dir.try_clone() else { return out };
    // SAFETY: the stream takes the copy of the descriptor and is closed below; a name lives until the next
    // call.
    unsafe {
        let raw = copy.into_raw_fd();
        let stream = libc::fdopendir(raw);
        if stream.is_null() {
            drop(OwnedFd::from_raw_fd(raw));
            return out;
        }
        // The copy shares its position with the descriptor.
        libc::rewinddir(stream);
        loop {
            let e = libc::readdir(stream);
            if e.is_null() {
                break;
            }
            let name = CStr::from_ptr((*e).d_name.as_ptr());
            let text = Path::new(OsStr::from_bytes(name.to_bytes())).to_str().unwrap_or("");
            if key_of(text).is_none() && !text.starts_with(UNFINISHED) {
                continue;
            }
            let mut state: libc::stat = std::mem::zeroed();
            if libc::fstatat(dir.as_raw_fd(), name.as_ptr(), &raw mut state, libc::AT_SYMLINK_NOFOLLOW) == 0 {
                out.push((name.to_owned(), state));
            }
        }
        libc::closedir(stream);
    }
    out
}
