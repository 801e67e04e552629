//! The sections of DWARF in an object that was loaded, with the addresses that its code got.

use object::elf::{R_X86_64_32, R_X86_64_64};
use object::read::elf::ElfFile64;
use object::{
    LittleEndian, Object, ObjectSection, ObjectSymbol, Relocation, RelocationFlags, RelocationTarget,
    SectionIndex, SymbolSection,
};
use tierup_core::backend::Section;

/// The sections. `address` says where a section of code lies. None where one asks for what is not known: then
/// there are no lines.
pub(crate) fn sections(
    bytes: &[u8],
    address: &dyn Fn(SectionIndex) -> Option<usize>,
) -> Option<Vec<Section>> {
    let file: ElfFile64<'_, LittleEndian> = ElfFile64::parse(bytes).ok()?;
    let mut found = vec![];
    for section in file.sections() {
        let name = section.name().ok()?;
        if !name.starts_with(".debug_") {
            continue;
        }
        let mut data = section.data().ok()?.to_vec();
        for (offset, relocation) in section.relocations() {
            relocate(&file, &mut data, offset, &relocation, address)?;
        }
        found.push((name.to_owned(), data));
    }
    Some(found)
}

fn relocate(
    file: &ElfFile64<'_, LittleEndian>,
    data: &mut [u8],
    offset: u64,
    relocation: &Relocation,
    address: &dyn Fn(SectionIndex) -> Option<usize>,
) -> Option<()> {
    let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
    let RelocationTarget::Symbol(index) = relocation.target() else { return None };
    let symbol = file.symbol_by_index(index).ok()?;
    let SymbolSection::Section(section) = symbol.section() else { return None };
    // What lies in another section of DWARF is named by its place in that section.
    let base = address(section).unwrap_or(0) as u64;
    let value = base.wrapping_add(symbol.address()).wrapping_add_signed(relocation.addend());
    let at = usize::try_from(offset).ok()?;
    match r_type {
        R_X86_64_64 => data.get_mut(at..at.checked_add(8)?)?.copy_from_slice(&value.to_le_bytes()),
        R_X86_64_32 => {
            data.get_mut(at..at.checked_add(4)?)?.copy_from_slice(&u32::try_from(value).ok()?.to_le_bytes())
        }
        _ => return None,
    }
    Some(())
}
