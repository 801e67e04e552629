//! Which build of Tierup, which LLVM and which CPU an object belongs to.
//!
//! Builds are told apart by the build id that the linker wrote: of this library as it lies in memory, and of
//! the library with LLVM as it lies on disk, for a process that finds everything in the cache never opens
//! that one. Without build ids there is no cache, rather than one that may be wrong.

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{OnceLock, PoisonError, RwLock};
use tierup_core::cpu::Cpu;

static LIBRARY: RwLock<Option<PathBuf>> = RwLock::new(None);
static LIBRARY_ID: OnceLock<Option<Vec<u8>>> = OnceLock::new();
static IDENTITY: [OnceLock<Option<[u8; 32]>>; Cpu::ALL.len()] = [const { OnceLock::new() }; Cpu::ALL.len()];

pub(crate) fn set_library(path: PathBuf) {
    *LIBRARY.write().unwrap_or_else(PoisonError::into_inner) = Some(path);
}

/// A hash of all of it, worked out once for each processor that code is made for.
pub(crate) fn identity(target: Cpu) -> Option<&'static [u8; 32]> {
    IDENTITY[target as usize].get_or_init(|| with_library(target, library_id()?)).as_ref()
}

/// The same for objects that the library with this build id made, which need not be here.
pub(super) fn with_library(target: Cpu, library: &[u8]) -> Option<[u8; 32]> {
    let mut hash = blake3::Hasher::new();
    let parts = [
        env!("CARGO_PKG_VERSION").as_bytes().to_vec(),
        loaded_id(identity as *const () as usize)?,
        library.to_vec(),
        processor(target),
    ];
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(&part);
    }
    Some(*hash.finalize().as_bytes())
}

/// Whether the code at `address` belongs to the library that keys were made for.
pub(crate) fn is_library(address: usize) -> bool {
    library_id().is_some_and(|id| loaded_id(address).as_ref() == Some(id))
}

/// The build id of the library with LLVM.
pub(super) fn library_id() -> Option<&'static Vec<u8>> {
    LIBRARY_ID
        .get_or_init(|| {
            let path = LIBRARY.read().unwrap_or_else(PoisonError::into_inner).clone()?;
            let file = std::fs::File::open(path).ok()?;
            build_id_of_file(|part, offset| file.read_exact_at(part, offset).ok())
        })
        .as_ref()
}

/// The build id of an ELF file, of which `read` fills a part with what lies at an offset. Tools that change a library
/// after it was linked, as for wheels, put notes and headers anywhere.
fn build_id_of_file(read: impl Fn(&mut [u8], u64) -> Option<()>) -> Option<Vec<u8>> {
    // Larger ones are no notes of a linker.
    const MOST: usize = 1 << 16;
    let part = |offset: usize, bytes: usize| {
        if bytes > MOST {
            return None;
        }
        let mut part = vec![0; bytes];
        read(&mut part, offset as u64).map(|()| part)
    };
    let number = |part: &[u8], at: usize, bytes: usize| -> Option<usize> {
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(part.get(at..at.checked_add(bytes)?)?);
        usize::try_from(u64::from_le_bytes(word)).ok()
    };
    let head = part(0, 64)?;
    if head.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (table, size, count) = (number(&head, 32, 8)?, number(&head, 54, 2)?, number(&head, 56, 2)?);
    let headers = part(table, size.checked_mul(count)?)?;
    (0..count).find_map(|k| {
        let at = k * size;
        if number(&headers, at, 4)? != libc::PT_NOTE as usize {
            return None;
        }
        build_id(&part(number(&headers, at + 8, 8)?, number(&headers, at + 32, 8)?)?)
    })
}

/// The build id among the notes of a segment.
fn build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    const NT_GNU_BUILD_ID: u32 = 3;
    loop {
        let (head, rest) = notes.split_first_chunk::<12>()?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (name, data) = (word(0) as usize, word(4) as usize);
        let at = name.checked_next_multiple_of(4)?;
        let id = rest.get(at..at.checked_add(data)?)?;
        if word(8) == NT_GNU_BUILD_ID && rest.get(..name) == Some(b"GNU\0") {
            return Some(id.to_vec());
        }
        notes = rest.get(at + data.checked_next_multiple_of(4)?..)?;
    }
}

/// The build id of the library that the code at `address` belongs to.
fn loaded_id(address: usize) -> Option<Vec<u8>> {
    struct Asked {
        address: usize,
        found: Option<Vec<u8>>,
    }
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, asked: *mut libc::c_void) -> i32 {
        // SAFETY: the dynamic linker hands out what it has loaded; `asked` is the value below.
        unsafe {
            let (info, asked) = (&*info, &mut *asked.cast::<Asked>());
            let base = info.dlpi_addr as usize;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            let range = |h: &libc::Elf64_Phdr| {
                base.wrapping_add(h.p_vaddr as usize)..base.wrapping_add((h.p_vaddr + h.p_memsz) as usize)
            };
            if !headers.iter().any(|h| h.p_type == libc::PT_LOAD && range(h).contains(&asked.address)) {
                return 0;
            }
            let notes = headers.iter().filter(|h| h.p_type == libc::PT_NOTE);
            asked.found = notes
                .map(|h| std::slice::from_raw_parts(range(h).start as *const u8, h.p_memsz as usize))
                .find_map(build_id);
            1
        }
    }
    let mut asked = Asked { address, found: None };
    // SAFETY: `look` matches the type that is asked for.
    unsafe {
        libc::dl_iterate_phdr(Some(look), (&raw mut asked).cast());
    }
    asked.found
}

/// What tells processors apart whose objects are not each other's. Every machine of a level runs what was
/// made for it, so machines may share a cache.
fn processor(target: Cpu) -> Vec<u8> {
    if target == Cpu::Native { cpu() } else { target.name().into() }
}

/// Model and features of the CPU. Which CPU of several in the machine answers must not matter, so what
/// numbers them is left out.
#[cfg(target_arch = "x86_64")]
fn cpu() -> Vec<u8> {
    use std::arch::x86_64::{__cpuid_count, _xgetbv};
    let mut out = vec![];
    let mut add = |words: &[u32]| words.iter().for_each(|w| out.extend_from_slice(&w.to_le_bytes()));
    let ask = |leaf, sub| __cpuid_count(leaf, sub);
    let first = ask(0, 0);
    let model = ask(1, 0);
    // Vendor; family, model, stepping; features. EBX numbers the CPU.
    add(&[first.ebx, first.ecx, first.edx, model.eax, model.ecx, model.edx]);
    if first.eax >= 7 {
        let more = ask(7, 0);
        add(&[more.ebx, more.ecx, more.edx]);
        if more.eax >= 1 {
            let l = ask(7, 1);
            add(&[l.eax, l.ebx, l.edx]);
        }
    }
    let extended = ask(0x8000_0000, 0).eax;
    if extended >= 0x8000_0001 {
        let l = ask(0x8000_0001, 0);
        add(&[l.ecx, l.edx]);
    }
    // Registers that the system saves: without them AVX is not to be used.
    const OSXSAVE: u32 = 1 << 27;
    if model.ecx & OSXSAVE != 0 {
        #[target_feature(enable = "xsave")]
        unsafe fn saved() -> u64 {
            // SAFETY: the register that says what is saved is there wherever the instruction is.
            unsafe { _xgetbv(0) }
        }
        // SAFETY: the feature bit says that the instruction is there.
        let saved = unsafe { saved() };
        add(&[saved as u32, (saved >> 32) as u32]);
    }
    out
}

/// Elsewhere there is no tier 1 yet.
#[cfg(not(target_arch = "x86_64"))]
fn cpu() -> Vec<u8> {
    vec![]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_found_in_memory_and_in_the_file() {
        let here = loaded_id(a_build_id_is_found_in_memory_and_in_the_file as *const () as usize)
            .expect("the linker writes one");
        assert!(here.len() >= 8);
        let whole = std::fs::read("/proc/self/exe").unwrap();
        let of = |file: &[u8]| {
            build_id_of_file(|part, offset| {
                let from = usize::try_from(offset).ok()?;
                part.copy_from_slice(file.get(from..from.checked_add(part.len())?)?);
                Some(())
            })
        };
        assert_eq!(of(&whole), Some(here.clone()));
        assert_eq!(loaded_id(1), None);
        // Headers and notes that were moved to the end, as `patchelf` does.
        let number = |at: usize, bytes: usize| {
            whole[at..at + bytes].iter().rev().fold(0, |n, b| n << 8 | usize::from(*b))
        };
        let (table, size, count) = (number(32, 8), number(54, 2), number(56, 2));
        let mut moved = whole.clone();
        let mut headers = whole[table..table + size * count].to_vec();
        for header in headers.chunks_mut(size).filter(|h| h[..4] == libc::PT_NOTE.to_le_bytes()) {
            let [at, bytes] =
                [8, 32].map(|k| u64::from_le_bytes(header[k..k + 8].try_into().unwrap()) as usize);
            header[8..16].copy_from_slice(&(moved.len() as u64).to_le_bytes());
            moved.extend_from_slice(&whole[at..at + bytes]);
            moved[at..at + bytes].fill(0);
        }
        let end = moved.len() as u64;
        moved[32..40].copy_from_slice(&end.to_le_bytes());
        moved.extend_from_slice(&headers);
        assert_eq!(of(&moved), Some(here));
        // Whatever the bytes say, nothing is read outside of them.
        let mut start = whole[..4096].to_vec();
        for cut in 0..start.len() {
            of(&start[..cut]);
        }
        for at in 0..512 {
            for x in [0, 1, 0x7f, 0xff] {
                let old = std::mem::replace(&mut start[at], x);
                of(&start);
                start[at] = old;
            }
        }
    }

    #[test]
    fn the_cpu_is_the_same_one_everywhere() {
        let first = cpu();
        assert!(cfg!(not(target_arch = "x86_64")) || first.len() > 24);
        for _ in 0..4 {
            assert_eq!(std::thread::spawn(cpu).join().unwrap(), first);
        }
    }
}
