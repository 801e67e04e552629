//! Puts an ELF object into executable memory: the only way by which LLVM's code, fresh or cached, enters the
//! process.
//!
//! An object holds code and constants and asks for what is outside by name, so nothing in it depends on where
//! anything lies. It is not trusted: every section, symbol and relocation is checked against the bounds of
//! the mapping, only the kinds of relocation that position-independent code needs are known, and a name
//! outside must be one that the caller resolves or one that [`library`] knows. Everything else is an error,
//! and the object is not loaded.
//!
//! One mapping: sections, then a table of the addresses of everything outside, then a stub of code for each
//! function outside. Written once, then made executable, never both.

use super::debug::linked;
use object::elf::{
    R_X86_64_64, R_X86_64_GOTPCREL, R_X86_64_GOTPCRELX, R_X86_64_PC32, R_X86_64_PC64, R_X86_64_PLT32,
    R_X86_64_REX_GOTPCRELX, SHF_ALLOC, SHF_WRITE,
};
use object::read::elf::ElfFile64;
use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags,
    SectionIndex, SymbolSection,
};
use std::collections::HashMap;
use tierup_core::backend::Section;
use tierup_core::diag::{Code, Diagnostic, Result};

/// Functions of the C library that LLVM calls of its own accord.
fn library(name: &str) -> Option<usize> {
    unsafe extern "C" {
        fn memcpy(to: *mut u8, from: *const u8, n: usize) -> *mut u8;
        fn memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8;
        fn memset(to: *mut u8, x: i32, n: usize) -> *mut u8;
        fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32;
        fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32;
        fn floor(x: f64) -> f64;
        fn ceil(x: f64) -> f64;
        fn trunc(x: f64) -> f64;
        fn floorf(x: f32) -> f32;
        fn ceilf(x: f32) -> f32;
        fn truncf(x: f32) -> f32;
    }
    extern "C" fn roundeven(x: f64) -> f64 {
        x.round_ties_even()
    }
    extern "C" fn fma(x: f64, y: f64, z: f64) -> f64 {
        x.mul_add(y, z)
    }
    extern "C" fn fmaf(x: f32, y: f32, z: f32) -> f32 {
        x.mul_add(y, z)
    }
    extern "C" fn roundevenf(x: f32) -> f32 {
        x.round_ties_even()
    }
    Some(match name {
        "memcpy" => memcpy as *const () as usize,
        "memmove" => memmove as *const () as usize,
        "memset" => memset as *const () as usize,
        "memcmp" => memcmp as *const () as usize,
        "bcmp" => bcmp as *const () as usize,
        // On CPUs without FMA.
        "fma" => fma as *const () as usize,
        "fmaf" => fmaf as *const () as usize,
        // On CPUs without SSE4.1.
        "floor" => floor as *const () as usize,
        "ceil" => ceil as *const () as usize,
        "trunc" => trunc as *const () as usize,
        "roundeven" => roundeven as *const () as usize,
        "floorf" => floorf as *const () as usize,
        "ceilf" => ceilf as *const () as usize,
        "truncf" => truncf as *const () as usize,
        "roundevenf" => roundevenf as *const () as usize,
        _ => return None,
    })
}

/// Code in executable memory; dropping it unmaps it, so it must outlive every call.
pub(crate) struct Loaded {
    base: *mut u8,
    bytes: usize,
    entries: HashMap<String, usize>,
    functions: Vec<(String, usize, usize)>,
    sections: Vec<Section>,
}

// SAFETY: the mapping never changes after loading.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and whoever drops this promises that no thread runs in it.
        unsafe {
            libc::munmap(self.base.cast(), self.bytes);
        }
    }
}

impl Loaded {
    /// Address of a function that the object defines for others.
    pub(crate) fn entry(&self, name: &str) -> Option<usize> {
        self.entries.get(name).copied()
    }
    /// Name, address and bytes of all functions, also those that only the object itself calls.
    pub(crate) fn functions(&self) -> &[(String, usize, usize)] {
        &self.functions
    }
    /// What debuggers read, where it was asked for.
    pub(crate) fn sections(&self) -> &[Section] {
        &self.sections
    }
    pub(crate) fn size(&self) -> usize {
        self.bytes
    }
}

fn refuse(why: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BackendError, format!("the object is not loaded: {}", why.into()))
}

/// Bytes of one stub: `jmp *[rip + table entry]`, padded.
const STUB: usize = 8;
const PAGE: usize = 4096;
/// Larger objects are refused, so that every distance inside fits into 32 bits.
const LARGEST: usize = 1 << 28;

/// Loads `bytes`. `resolve` gives the addresses of names that the object does not define; with `lines` sections
/// for debuggers are kept.
pub(crate) fn load(bytes: &[u8], resolve: &dyn Fn(&str) -> Option<usize>, lines: bool) -> Result<Loaded> {
    let file: ElfFile64<'_, LittleEndian> = ElfFile64::parse(bytes).map_err(|e| refuse(e.to_string()))?;
    if file.architecture() != object::Architecture::X86_64 {
        return Err(refuse("it is for another processor"));
    }
    let layout = Layout::of(&file)?;
    let outside = Outside::of(&file, resolve)?;
    let table = layout.bytes.next_multiple_of(8);
    let stubs = table + 8 * outside.addresses.len();
    let total = (stubs + STUB * outside.addresses.len()).next_multiple_of(PAGE);
    if total > LARGEST {
        return Err(refuse(format!("it needs {total} bytes")));
    }
    let image = Image { loaded: map(total)?, table, stubs };
    image.place(&file, &layout, &outside)?;
    for section in file.sections() {
        let Some(at) = layout.sections.get(&section.index()) else { continue };
        for (offset, relocation) in section.relocations() {
            image.relocate(&file, &layout, &outside, *at, section.size(), offset, &relocation)?;
        }
    }
    let mut loaded = image.finish(&file, &layout)?;
    if lines {
        let base = loaded.base as usize;
        loaded.sections =
            linked::sections(bytes, &|s| layout.sections.get(&s).map(|at| base + at)).unwrap_or_default();
    }
    Ok(loaded)
}

/// Where each section goes.
struct Layout {
    sections: HashMap<SectionIndex, usize>,
    bytes: usize,
}

impl Layout {
    fn of(file: &ElfFile64<'_, LittleEndian>) -> Result<Layout> {
        let mut layout = Layout { sections: HashMap::new(), bytes: 0 };
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { return Err(refuse("it is not ELF")) };
            let name = section.name().map_err(|e| refuse(e.to_string()))?;
            if sh_flags & u64::from(SHF_ALLOC) == 0 || section.size() == 0 || name == ".eh_frame" {
                continue;
            }
            // Constants that need addresses are writable until they are relocated; anything else that is
            // writable would be a global variable.
            if sh_flags & u64::from(SHF_WRITE) != 0 && !name.starts_with(".data.rel.ro") {
                return Err(refuse(format!("section {name} is writable")));
            }
            let align = section.align().max(1);
            if align > PAGE as u64 || !align.is_power_of_two() || section.size() > LARGEST as u64 {
                return Err(refuse(format!("section {name} has no sound size")));
            }
            let at = layout.bytes.next_multiple_of(align as usize);
            layout.sections.insert(section.index(), at);
            layout.bytes = at + section.size() as usize;
        }
        if layout.bytes > LARGEST {
            return Err(refuse("it is too large"));
        }
        Ok(layout)
    }
}

/// Names that the object asks for, with their addresses.
struct Outside {
    index: HashMap<usize, usize>,
    addresses: Vec<usize>,
}

impl Outside {
    fn of(file: &ElfFile64<'_, LittleEndian>, resolve: &dyn Fn(&str) -> Option<usize>) -> Result<Outside> {
        let mut outside = Outside { index: HashMap::new(), addresses: vec![] };
        for symbol in file.symbols() {
            // Of code of its own a table entry may be asked for as well; the address is added when the base is
            // known.
            if symbol.section() != SymbolSection::Undefined {
                continue;
            }
            let name = symbol.name().map_err(|e| refuse(e.to_string()))?;
            if name.is_empty() || name == "_GLOBAL_OFFSET_TABLE_" {
                continue;
            }
            let address = resolve(name)
                .or_else(|| library(name))
                .ok_or_else(|| refuse(format!("it asks for `{name}`")))?;
            outside.index.insert(symbol.index().0, outside.addresses.len());
            outside.addresses.push(address);
        }
        Ok(outside)
    }
}

fn map(total: usize) -> Result<Loaded> {
    // SAFETY: a fresh private mapping.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            total,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(refuse(format!("no memory for {total} bytes of code")));
    }
    Ok(Loaded {
        base: base.cast(),
        bytes: total,
        entries: HashMap::new(),
        functions: vec![],
        sections: vec![],
    })
}

struct Image {
    loaded: Loaded,
    table: usize,
    stubs: usize,
}

impl Image {
    fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        if at.checked_add(bytes.len()).is_none_or(|end| end > self.loaded.bytes) {
            return Err(refuse("it writes outside of its memory"));
        }
        // SAFETY: the range lies in the mapping, which is writable and which nobody else knows yet.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.loaded.base.add(at), bytes.len());
        }
        Ok(())
    }

    fn place(&self, file: &ElfFile64<'_, LittleEndian>, layout: &Layout, outside: &Outside) -> Result<()> {
        for section in file.sections() {
            let Some(at) = layout.sections.get(&section.index()) else { continue };
            let data = section.data().map_err(|e| refuse(e.to_string()))?;
            if data.len() as u64 > section.size() {
                return Err(refuse("a section is larger than it says"));
            }
            self.write(*at, data)?;
        }
        for (k, address) in outside.addresses.iter().enumerate() {
            self.write(self.table + 8 * k, &address.to_le_bytes())?;
            // FF 25 disp32: jump to where the table says.
            let stub = self.stubs + STUB * k;
            let distance = (self.table + 8 * k) as i64 - (stub + 6) as i64;
            let mut code = [0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc];
            code[2..6].copy_from_slice(&(distance as i32).to_le_bytes());
            self.write(stub, &code)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn relocate(
        &self,
        file: &ElfFile64<'_, LittleEndian>,
        layout: &Layout,
        outside: &Outside,
        section: usize,
        size: u64,
        offset: u64,
        relocation: &object::Relocation,
    ) -> Result<()> {
        let RelocationFlags::Elf { r_type } = relocation.flags() else {
            return Err(refuse("a relocation is not ELF's"));
        };
        let bytes = match r_type {
            R_X86_64_64 | R_X86_64_PC64 => 8,
            _ => 4,
        };
        if offset.checked_add(bytes).is_none_or(|end| end > size) {
            return Err(refuse("a relocation lies outside of its section"));
        }
        let base = self.loaded.base as i64;
        let place = section + offset as usize;
        let RelocationTarget::Symbol(index) = relocation.target() else {
            return Err(refuse("a relocation has no symbol"));
        };
        let symbol = file.symbol_by_index(index).map_err(|e| refuse(e.to_string()))?;
        let inside = if let SymbolSection::Section(s) = symbol.section() {
            let at = layout
                .sections
                .get(&s)
                .ok_or_else(|| refuse("a relocation asks for a section that is not loaded"))?;
            let at = *at as u64 + symbol.address();
            if at > layout.bytes as u64 {
                return Err(refuse("a symbol lies outside of the object"));
            }
            Some(at as i64)
        } else {
            None
        };
        let entry = outside.index.get(&index.0).copied();
        let addend = relocation.addend();
        // Offsets from the start of the mapping; what is outside is reached through its stub or its table
        // entry.
        let value: i64 = match r_type {
            R_X86_64_64 => match (inside, entry) {
                (Some(at), _) => base + at + addend,
                (None, Some(k)) => outside.addresses[k] as i64 + addend,
                (None, None) => return Err(refuse("a relocation asks for nothing")),
            },
            R_X86_64_PC32 | R_X86_64_PLT32 | R_X86_64_PC64 => match (inside, entry) {
                (Some(at), _) => at + addend - place as i64,
                (None, Some(k)) => (self.stubs + STUB * k) as i64 + addend - place as i64,
                (None, None) => return Err(refuse("a relocation asks for nothing")),
            },
            R_X86_64_GOTPCREL | R_X86_64_GOTPCRELX | R_X86_64_REX_GOTPCRELX => match entry {
                Some(k) => (self.table + 8 * k) as i64 + addend - place as i64,
                None => return Err(refuse("a table entry is asked for something inside")),
            },
            other => return Err(refuse(format!("relocations of kind {other} are not known"))),
        };
        if bytes == 8 {
            return self.write(place, &value.to_le_bytes());
        }
        let value = i32::try_from(value).map_err(|_| refuse("a distance does not fit"))?;
        self.write(place, &value.to_le_bytes())
    }

    fn finish(mut self, file: &ElfFile64<'_, LittleEndian>, layout: &Layout) -> Result<Loaded> {
        // SAFETY: the whole of our own mapping.
        let ok = unsafe {
            libc::mprotect(self.loaded.base.cast(), self.loaded.bytes, libc::PROT_READ | libc::PROT_EXEC)
        } == 0;
        if !ok {
            return Err(refuse("the system does not let memory become executable"));
        }
        for symbol in file.symbols().filter(|s| s.is_global() && s.is_definition()) {
            let SymbolSection::Section(s) = symbol.section() else { continue };
            let Some(at) = layout.sections.get(&s) else { continue };
            let at = *at as u64 + symbol.address();
            if at >= layout.bytes as u64 {
                return Err(refuse("a symbol lies outside of the object"));
            }
            let name = symbol.name().map_err(|e| refuse(e.to_string()))?.to_owned();
            self.loaded.entries.insert(name, self.loaded.base as usize + at as usize);
        }
        for symbol in file.symbols().filter(|s| s.is_definition() && s.kind() == object::SymbolKind::Text) {
            let at = symbol.section_index().and_then(|s| layout.sections.get(&s));
            let (Some(at), Ok(name)) = (at, symbol.name()) else { continue };
            self.loaded.functions.push((
                name.to_owned(),
                (self.loaded.base as usize).wrapping_add(*at).wrapping_add(symbol.address() as usize),
                symbol.size() as usize,
            ));
        }
        Ok(self.loaded)
    }
}
