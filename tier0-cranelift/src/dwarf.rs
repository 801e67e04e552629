//! What debuggers and profilers read, as DWARF: lines, functions with the calls that were inlined into them,
//! and how frames are unwound. There are no variables.
//!
//! The language is said to be C, since GDB evaluates no expressions in others that it does not know.

use cranelift_codegen::ir;
use cranelift_codegen::isa::unwind::systemv::UnwindInfo;
use gimli::write::{
    Address, AttributeValue, DebugFrame, DwarfUnit, EndianVec, FileId, FrameTable, LineProgram, LineString,
    Range, RangeList, Sections, UnitEntryId,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian, constants as dw};
use std::collections::HashMap;
use tierup_core::backend::Section;
use tierup_core::lir::{Func, Loc, LocData};

/// Code of one function, placed.
pub(crate) struct Placed<'a> {
    pub func: &'a Func,
    pub address: u64,
    pub bytes: u64,
    /// Which code came from which place: from, to, place; in order.
    pub places: &'a [(u32, u32, Loc)],
    pub unwind: Option<&'a UnwindInfo>,
}

/// The place that Cranelift's number stands for: it carries LIR's.
pub(crate) fn place(at: ir::SourceLoc) -> Loc {
    Loc(if at.is_default() { 0 } else { at.bits() })
}

/// The sections for a module's functions.
pub(crate) fn sections(
    funcs: &[Placed<'_>],
    cie: Option<gimli::write::CommonInformationEntry>,
) -> gimli::write::Result<Vec<Section>> {
    let encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 8 };
    let mut dwarf = DwarfUnit::new(encoding);
    let name = LineString::String(b"tierup".to_vec());
    dwarf.unit.line_program =
        LineProgram::new(encoding, LineEncoding::default(), LineString::String(vec![]), None, name, None);
    let mut unit = Unit { dwarf, files: HashMap::new(), origins: HashMap::new() };
    let mut code = vec![];
    for func in funcs {
        unit.lines(func);
        unit.function(func);
        code.push(Range::StartLength { begin: Address::Constant(func.address), length: func.bytes });
    }
    unit.root(code);
    let mut sections = Sections::new(EndianVec::new(LittleEndian));
    unit.dwarf.write(&mut sections)?;
    let mut found = vec![];
    sections.for_each(|id, data| {
        if !data.slice().is_empty() {
            found.push((id.name().to_owned(), data.slice().to_vec()));
        }
        gimli::write::Result::Ok(())
    })?;
    if let Some(cie) = cie {
        found.push((".debug_frame".into(), frames(funcs, cie)?));
    }
    Ok(found)
}

fn frames(funcs: &[Placed<'_>], cie: gimli::write::CommonInformationEntry) -> gimli::write::Result<Vec<u8>> {
    let mut table = FrameTable::default();
    let cie = table.add_cie(cie);
    for func in funcs {
        if let Some(unwind) = func.unwind {
            table.add_fde(cie, unwind.to_fde(Address::Constant(func.address)));
        }
    }
    let mut out = DebugFrame(EndianVec::new(LittleEndian));
    table.write_debug_frame(&mut out)?;
    Ok(out.0.into_vec())
}

struct Unit {
    dwarf: DwarfUnit,
    files: HashMap<String, FileId>,
    /// Functions that were inlined somewhere, by file and name.
    origins: HashMap<(String, String), UnitEntryId>,
}

impl Unit {
    fn file(&mut self, name: &str) -> FileId {
        if let Some(id) = self.files.get(name) {
            return *id;
        }
        let program = &mut self.dwarf.unit.line_program;
        let directory = program.default_directory();
        let id = program.add_file(LineString::String(name.as_bytes().to_vec()), directory, None);
        self.files.insert(name.to_owned(), id);
        id
    }

    fn lines(&mut self, func: &Placed<'_>) {
        let first = func.func.first_place();
        self.dwarf.unit.line_program.begin_sequence(Some(Address::Constant(func.address)));
        // What stands in front of the first place is the function's own beginning.
        let begin = first.into_iter().map(|l| (0, l));
        let rows = func.places.iter().filter_map(|(from, _, loc)| Some((*from, func.func.place(*loc)?)));
        let mut last = None;
        for (offset, place) in begin.chain(rows) {
            let now = (&place.file, place.line);
            if last.replace(now) == Some(now) {
                continue;
            }
            let file = self.file(&place.file);
            let row = self.dwarf.unit.line_program.row();
            (row.address_offset, row.file, row.line) = (u64::from(offset), file, u64::from(place.line));
            row.is_statement = true;
            self.dwarf.unit.line_program.generate_row();
        }
        self.dwarf.unit.line_program.end_sequence(func.bytes);
    }

    /// The function, and in it a tree of the calls that were inlined.
    fn function(&mut self, func: &Placed<'_>) {
        let root = self.dwarf.unit.root();
        let entry = self.dwarf.unit.add(root, dw::DW_TAG_subprogram);
        self.set(entry, dw::DW_AT_name, text(func.func.plain_name()));
        if let Some(place) = func.func.first_place() {
            self.declared(entry, place);
        }
        self.set(entry, dw::DW_AT_low_pc, AttributeValue::Address(Address::Constant(func.address)));
        self.set(entry, dw::DW_AT_high_pc, AttributeValue::Udata(func.bytes));
        let mut calls: HashMap<(UnitEntryId, Loc, &str), UnitEntryId> = HashMap::new();
        let mut ranges: HashMap<UnitEntryId, Vec<Range>> = HashMap::new();
        for (from, to, loc) in func.places {
            let length = u64::from(to - from);
            let mut here = entry;
            for pair in func.func.calls_to(*loc).windows(2) {
                let [(site, call), (_, inside)] = pair else { continue };
                here = *calls
                    .entry((here, *site, &inside.func))
                    .or_insert_with(|| self.inlined(here, call, inside));
                ranges.entry(here).or_default().push(Range::StartLength {
                    begin: Address::Constant(func.address + u64::from(*from)),
                    length,
                });
            }
        }
        for (call, ranges) in ranges {
            let list = self.dwarf.unit.ranges.add(RangeList(ranges));
            self.set(call, dw::DW_AT_ranges, AttributeValue::RangeListRef(list));
        }
    }

    fn inlined(&mut self, parent: UnitEntryId, call: &LocData, inside: &LocData) -> UnitEntryId {
        let origin = self.origin(inside);
        let file = self.file(&call.file);
        let entry = self.dwarf.unit.add(parent, dw::DW_TAG_inlined_subroutine);
        self.set(entry, dw::DW_AT_abstract_origin, AttributeValue::UnitRef(origin));
        self.set(entry, dw::DW_AT_call_file, AttributeValue::FileIndex(Some(file)));
        self.set(entry, dw::DW_AT_call_line, AttributeValue::Udata(u64::from(call.line)));
        entry
    }

    /// The function of a place, apart from any code of it.
    fn origin(&mut self, place: &LocData) -> UnitEntryId {
        let key = (place.file.to_string(), place.func.to_string());
        if let Some(entry) = self.origins.get(&key) {
            return *entry;
        }
        let root = self.dwarf.unit.root();
        let entry = self.dwarf.unit.add(root, dw::DW_TAG_subprogram);
        self.set(entry, dw::DW_AT_name, text(&place.func));
        self.declared(entry, place);
        self.set(entry, dw::DW_AT_inline, AttributeValue::Inline(dw::DW_INL_inlined));
        self.origins.insert(key, entry);
        entry
    }

    fn declared(&mut self, entry: UnitEntryId, place: &LocData) {
        let file = self.file(&place.file);
        self.set(entry, dw::DW_AT_decl_file, AttributeValue::FileIndex(Some(file)));
        self.set(entry, dw::DW_AT_decl_line, AttributeValue::Udata(u64::from(place.line)));
        self.set(entry, dw::DW_AT_external, AttributeValue::Flag(true));
    }

    fn root(&mut self, code: Vec<Range>) {
        let root = self.dwarf.unit.root();
        self.set(root, dw::DW_AT_name, text("tierup"));
        self.set(root, dw::DW_AT_producer, text("tierup, tier 0"));
        self.set(root, dw::DW_AT_language, AttributeValue::Language(dw::DW_LANG_C99));
        self.set(root, dw::DW_AT_low_pc, AttributeValue::Address(Address::Constant(0)));
        let list = self.dwarf.unit.ranges.add(RangeList(code));
        self.set(root, dw::DW_AT_ranges, AttributeValue::RangeListRef(list));
    }

    fn set(&mut self, entry: UnitEntryId, name: gimli::DwAt, value: AttributeValue) {
        self.dwarf.unit.get_mut(entry).set(name, value);
    }
}

fn text(name: &str) -> AttributeValue {
    AttributeValue::String(name.as_bytes().to_vec())
}
