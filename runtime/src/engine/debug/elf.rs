//! An ELF image of code that is in memory already: names and addresses of its functions, and sections of DWARF.
//! The code itself is not in it: debuggers read it where it lies.

use super::Function;
use object::LittleEndian as LE;
use object::elf::{
    ELFCLASS64, ELFDATA2LSB, ELFMAG, EM_X86_64, ET_REL, EV_CURRENT, FileHeader64, Ident, SHF_ALLOC,
    SHF_EXECINSTR, SHT_NOBITS, SHT_NULL, SHT_PROGBITS, SHT_STRTAB, SHT_SYMTAB, STB_GLOBAL, STT_FUNC,
    SectionHeader64, Sym64,
};
use object::pod::bytes_of;
use object::{U16, U32, U64};
use tierup_core::backend::Section;

const HEADER: usize = size_of::<FileHeader64<LE>>();
const SECTION: usize = size_of::<SectionHeader64<LE>>();
const SYMBOL: usize = size_of::<Sym64<LE>>();
/// The section that stands for the code.
const TEXT: u16 = 1;

/// Strings by their offsets, each ended by a NUL.
struct Strings(Vec<u8>);

impl Strings {
    fn add(&mut self, text: &str) -> u32 {
        let at = self.0.len() as u32;
        self.0.extend(text.bytes().filter(|b| *b != 0));
        self.0.push(0);
        at
    }
}

struct Image {
    bytes: Vec<u8>,
    names: Strings,
    headers: Vec<SectionHeader64<LE>>,
}

impl Image {
    fn section(&mut self, name: &str, kind: u32, contents: &[u8]) -> &mut SectionHeader64<LE> {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let header = header(self.names.add(name), kind, self.bytes.len(), contents.len());
        self.bytes.extend_from_slice(contents);
        self.headers.push(header);
        let last = self.headers.len() - 1;
        &mut self.headers[last]
    }
}

fn header(name: u32, kind: u32, offset: usize, size: usize) -> SectionHeader64<LE> {
    SectionHeader64 {
        sh_name: U32::new(LE, name),
        sh_type: U32::new(LE, kind),
        sh_flags: U64::new(LE, 0),
        sh_addr: U64::new(LE, 0),
        sh_offset: U64::new(LE, offset as u64),
        sh_size: U64::new(LE, size as u64),
        sh_link: U32::new(LE, 0),
        sh_info: U32::new(LE, 0),
        sh_addralign: U64::new(LE, 1),
        sh_entsize: U64::new(LE, 0),
    }
}

/// The image, of at least one function.
pub(crate) fn image(functions: &[Function], sections: &[Section]) -> Vec<u8> {
    let start = functions.iter().map(|f| f.address).min().unwrap_or(0);
    let end = functions.iter().map(|f| f.address + f.bytes).max().unwrap_or(0);
    let mut image = Image { bytes: vec![0; HEADER], names: Strings(vec![]), headers: vec![] };
    image.section("", SHT_NULL, &[]);
    let text = image.section(".text", SHT_NOBITS, &[]);
    text.sh_addr = U64::new(LE, start as u64);
    text.sh_size = U64::new(LE, (end - start) as u64);
    text.sh_flags = U64::new(LE, u64::from(SHF_ALLOC | SHF_EXECINSTR));
    text.sh_addralign = U64::new(LE, 16);
    for (name, contents) in sections {
        image.section(name, SHT_PROGBITS, contents);
    }
    let mut names = Strings(vec![0]);
    let mut symbols = vec![0; SYMBOL];
    for f in functions {
        symbols.extend_from_slice(bytes_of(&Sym64::<LE> {
            st_name: U32::new(LE, names.add(&f.name)),
            st_info: (STB_GLOBAL << 4) | STT_FUNC,
            st_other: 0,
            st_shndx: U16::new(LE, TEXT),
            // In a relocatable file symbols count from the start of their section.
            st_value: U64::new(LE, (f.address - start) as u64),
            st_size: U64::new(LE, f.bytes as u64),
        }));
    }
    let strings = image.headers.len() as u32 + 1;
    let table = image.section(".symtab", SHT_SYMTAB, &symbols);
    table.sh_link = U32::new(LE, strings);
    // The first that is global.
    table.sh_info = U32::new(LE, 1);
    table.sh_entsize = U64::new(LE, SYMBOL as u64);
    image.section(".strtab", SHT_STRTAB, &names.0);
    let last = image.headers.len();
    let name = image.names.add(".shstrtab");
    image.headers.push(header(name, SHT_STRTAB, image.bytes.len(), image.names.0.len()));
    image.bytes.extend_from_slice(&image.names.0);
    finish(image, last)
}

fn finish(mut image: Image, names: usize) -> Vec<u8> {
    image.bytes.resize(image.bytes.len().next_multiple_of(8), 0);
    let header = FileHeader64::<LE> {
        e_ident: Ident {
            magic: ELFMAG,
            class: ELFCLASS64,
            data: ELFDATA2LSB,
            version: EV_CURRENT,
            os_abi: 0,
            abi_version: 0,
            padding: [0; 7],
        },
        e_type: U16::new(LE, ET_REL),
        e_machine: U16::new(LE, EM_X86_64),
        e_version: U32::new(LE, u32::from(EV_CURRENT)),
        e_entry: U64::new(LE, 0),
        e_phoff: U64::new(LE, 0),
        e_shoff: U64::new(LE, image.bytes.len() as u64),
        e_flags: U32::new(LE, 0),
        e_ehsize: U16::new(LE, HEADER as u16),
        e_phentsize: U16::new(LE, 0),
        e_phnum: U16::new(LE, 0),
        e_shentsize: U16::new(LE, SECTION as u16),
        e_shnum: U16::new(LE, image.headers.len() as u16),
        e_shstrndx: U16::new(LE, names as u16),
    };
    image.bytes[..HEADER].copy_from_slice(bytes_of(&header));
    image.headers.iter().for_each(|h| image.bytes.extend_from_slice(bytes_of(h)));
    image.bytes
}
