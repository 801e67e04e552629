//! `jit-PID.dump`: code with its lines, for `perf inject --jit`, which makes of each function an object that
//! `perf report` and `perf annotate` read. Off by default.
//!
//! The format is that of Linux' `tools/perf/Documentation/jitdump-specification.txt`. `perf record` has to be
//! told the clock (`-k mono`), and learns of the file by a mapping of it that is executable.

use super::Function;
use gimli::{LittleEndian, Reader};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tierup_core::backend::Section;

const MAGIC: u32 = u32::from_le_bytes(*b"DTiJ");
const X86_64: u32 = 62;
const LOAD: u32 = 0;
const LINES: u32 = 2;
const PAGE: usize = 4096;

static ON: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> = Mutex::new(State { folder: None, file: None });

struct State {
    folder: Option<PathBuf>,
    /// The file of this process: a child that came by `fork` begins its own.
    file: Option<Open>,
}

struct Open {
    pid: u32,
    file: File,
    /// Number of the next function.
    next: u64,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the folder for the files; without one nothing is written.
pub fn set(folder: Option<&Path>) {
    let mut state = state();
    if state.folder.as_deref() != folder {
        (state.folder, state.file) = (folder.map(Path::to_path_buf), None);
    }
    ON.store(folder.is_some(), Ordering::Release);
}

pub(super) fn is_on() -> bool {
    ON.load(Ordering::Acquire)
}

/// Writes the functions of fresh code. What cannot be written is left out, as in the map of names.
pub(super) fn note(functions: &[Function], sections: &[Section]) {
    let mut state = state();
    let Some(folder) = state.folder.clone() else { return };
    let pid = std::process::id();
    if state.file.as_ref().is_none_or(|f| f.pid != pid) {
        state.file = begin(&folder, pid).ok();
    }
    let Some(open) = &mut state.file else { return };
    let rows = rows(sections);
    let mut out = vec![];
    for f in functions {
        let inside: Vec<&Row> = rows.iter().filter(|r| r.address.wrapping_sub(f.address) < f.bytes).collect();
        if !inside.is_empty() {
            lines(&mut out, f, &inside);
        }
        load(&mut out, f, pid, open.next);
        open.next += 1;
    }
    let _ = open.file.write_all(&out);
}

fn begin(folder: &Path, pid: u32) -> std::io::Result<Open> {
    let path = folder.join(format!("jit-{pid}.dump"));
    let mut file = File::options().create(true).truncate(true).read(true).write(true).open(path)?;
    let mut header = vec![];
    for word in [MAGIC, 1, 40, X86_64, 0, pid] {
        header.extend(word.to_le_bytes());
    }
    header.extend(now().to_le_bytes());
    header.extend(0u64.to_le_bytes());
    file.write_all(&header)?;
    // SAFETY: a fresh mapping that nobody uses and that stays: it tells `perf record` of the file.
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        libc::mmap(std::ptr::null_mut(), PAGE, protection, libc::MAP_PRIVATE, file.as_raw_fd(), 0);
    }
    Ok(Open { pid, file, next: 0 })
}

/// Nanoseconds of the clock that `perf record -k mono` uses.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A record, whose length is known when its contents are.
fn record(out: &mut Vec<u8>, kind: u32, contents: &[u8]) {
    out.extend(kind.to_le_bytes());
    out.extend((16 + contents.len() as u32).to_le_bytes());
    out.extend(now().to_le_bytes());
    out.extend_from_slice(contents);
}

fn load(out: &mut Vec<u8>, f: &Function, pid: u32, number: u64) {
    let mut body = vec![];
    // SAFETY: a plain call.
    let thread = unsafe { libc::gettid() } as u32;
    body.extend(pid.to_le_bytes());
    body.extend(thread.to_le_bytes());
    for word in [f.address as u64, f.address as u64, f.bytes as u64, number] {
        body.extend(word.to_le_bytes());
    }
    body.extend(f.label.bytes().filter(|b| *b != 0));
    body.push(0);
    // SAFETY: code that was just made, which stays readable while its maker tells of it.
    body.extend_from_slice(unsafe {
        std::slice::from_raw_parts(std::ptr::with_exposed_provenance(f.address), f.bytes)
    });
    record(out, LOAD, &body);
}

fn lines(out: &mut Vec<u8>, f: &Function, rows: &[&Row]) {
    let mut body = vec![];
    body.extend((f.address as u64).to_le_bytes());
    body.extend((rows.len() as u64).to_le_bytes());
    for row in rows {
        body.extend((row.address as u64).to_le_bytes());
        body.extend((row.line as u32).to_le_bytes());
        body.extend(0u32.to_le_bytes());
        body.extend(row.file.bytes().filter(|b| *b != 0));
        body.push(0);
    }
    record(out, LINES, &body);
}

/// From here on code is of that line.
pub(crate) struct Row {
    pub address: usize,
    pub file: String,
    pub line: u64,
}

/// The table of lines in sections of DWARF; as much of it as can be read.
pub(crate) fn rows(sections: &[Section]) -> Vec<Row> {
    let find = |id: gimli::SectionId| {
        let data = sections.iter().find(|s| s.0 == id.name()).map_or(&[][..], |s| &s.1);
        Ok::<_, gimli::Error>(gimli::EndianSlice::new(data, LittleEndian))
    };
    let mut found = vec![];
    if let Ok(dwarf) = gimli::Dwarf::load(find) {
        // What was read before an error counts.
        let _ = read(&dwarf, &mut found);
    }
    found
}

fn read<R: Reader>(dwarf: &gimli::Dwarf<R>, found: &mut Vec<Row>) -> gimli::Result<()> {
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let Some(program) = unit.line_program.clone() else { continue };
        let mut rows = program.rows();
        while let Some((header, row)) = rows.next_row()? {
            let (Some(file), Some(line)) = (row.file(header), row.line()) else { continue };
            if row.end_sequence() {
                continue;
            }
            let mut path = PathBuf::new();
            // LLVM has folders apart. An absolute name takes the place of what is in front.
            for part in file.directory(header).into_iter().chain([file.path_name()]) {
                path.push(&*dwarf.attr_string(&unit, part)?.to_string_lossy()?);
            }
            let file = path.to_string_lossy().into_owned();
            found.push(Row { address: row.address() as usize, file, line: line.get() });
        }
    }
    Ok(())
}
