//! Lines of the source on LLVM's instructions: for remarks, and for debuggers and profilers, who also want to
//! know of what was inlined. Made only where one of them is asked for.
//!
//! A place has a subprogram of the Python function that it lies in, and the place of the call that brought it
//! into another. Of what is the user's own: a call into the library is one place.

use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DIFile, DIFlags, DIFlagsConstants, DILocation, DIScope, DISubprogram, DWARFEmissionKind,
    DWARFSourceLanguage, DebugInfoBuilder,
};
use inkwell::module::{FlagBehavior, Module};
use inkwell::values::FunctionValue;
use std::cell::RefCell;
use std::collections::HashMap;
use tierup_core::lir::{Func, Loc, LocData};

/// What the functions of one module share.
pub(crate) struct Lines<'c> {
    info: DebugInfoBuilder<'c>,
    unit: DIFile<'c>,
    files: RefCell<HashMap<String, DIFile<'c>>>,
    /// Functions that were inlined before LLVM, by file and name.
    inlined: RefCell<HashMap<(String, String), DISubprogram<'c>>>,
}

/// The scopes of one function: itself, in each file that its code came from.
pub(crate) struct FuncLines<'c> {
    sub: DISubprogram<'c>,
    scopes: HashMap<String, DIScope<'c>>,
    /// Places of its table that were asked for.
    places: HashMap<Loc, DILocation<'c>>,
}

impl<'c> Lines<'c> {
    pub(crate) fn new(context: &'c Context, module: &Module<'c>) -> Lines<'c> {
        let number = |n: u32| context.i32_type().const_int(u64::from(n), false);
        let version = number(inkwell::debug_info::debug_metadata_version());
        module.add_basic_value_flag("Debug Info Version", FlagBehavior::Warning, version);
        module.add_basic_value_flag("Dwarf Version", FlagBehavior::Warning, number(4));
        let (info, unit) = module.create_debug_info_builder(
            true,
            DWARFSourceLanguage::C,
            "tierup",
            "",
            "tierup, tier 1",
            true,
            "",
            0,
            "",
            DWARFEmissionKind::LineTablesOnly,
            0,
            false,
            false,
            "",
            "",
        );
        Lines { info, unit: unit.get_file(), files: RefCell::default(), inlined: RefCell::default() }
    }

    fn file(&self, name: &str) -> DIFile<'c> {
        *self.files.borrow_mut().entry(name.into()).or_insert_with(|| self.info.create_file(name, ""))
    }

    /// A Python function, in the file and at the line of a place in it.
    fn subprogram(&self, name: &str, place: Option<&LocData>, local: bool) -> DISubprogram<'c> {
        let ty = self.info.create_subroutine_type(self.unit, None, &[], DIFlags::ZERO);
        let file = place.map_or(self.unit, |l| self.file(&l.file));
        let line = place.map_or(0, |l| l.line);
        let unit = self.unit.as_debug_info_scope();
        self.info.create_function(unit, name, None, file, line, ty, local, true, line, DIFlags::ZERO, true)
    }

    /// Begins a function.
    pub(crate) fn func(&self, func: &Func, llvm: FunctionValue<'c>) -> FuncLines<'c> {
        let sub = self.subprogram(func.plain_name(), func.first_place(), false);
        llvm.set_subprogram(sub);
        FuncLines { sub, scopes: HashMap::new(), places: HashMap::new() }
    }

    /// What is built next came from there.
    pub(crate) fn at(
        &self,
        context: &'c Context,
        builder: &Builder<'c>,
        here: &mut FuncLines<'c>,
        func: &Func,
        loc: Loc,
    ) {
        let mut found = None;
        for (k, (number, place)) in func.calls_to(loc).into_iter().enumerate() {
            let known = here.places.get(&number).copied();
            found = Some(known.unwrap_or_else(|| {
                let scope = if k == 0 { self.own(here, place) } else { self.inside(place) };
                self.info.create_debug_location(context, place.line, place.col, scope, found)
            }));
            here.places.extend(found.map(|l| (number, l)));
        }
        let begin = || {
            let sub = here.sub.as_debug_info_scope();
            self.info.create_debug_location(context, 0, 0, sub, None)
        };
        builder.set_current_debug_location(found.unwrap_or_else(begin));
    }

    /// The function itself, where its code came from that file.
    fn own(&self, here: &mut FuncLines<'c>, place: &LocData) -> DIScope<'c> {
        let sub = here.sub.as_debug_info_scope();
        *here.scopes.entry(place.file.to_string()).or_insert_with(|| {
            self.info.create_lexical_block(sub, self.file(&place.file), 0, 0).as_debug_info_scope()
        })
    }

    /// The function that a place lies in, inlined into another.
    fn inside(&self, place: &LocData) -> DIScope<'c> {
        let key = (place.file.to_string(), place.func.to_string());
        let known = self.inlined.borrow().get(&key).copied();
        let sub = known.unwrap_or_else(|| {
            let made = self.subprogram(&place.func, Some(place), true);
            self.inlined.borrow_mut().insert(key, made);
            made
        });
        sub.as_debug_info_scope()
    }

    pub(crate) fn finish(&self) {
        self.info.finalize();
    }
}
