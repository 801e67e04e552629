//! Lines of the source on LLVM's instructions, for remarks. Made only where remarks are asked for: nothing
//! else reads them.

use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DIFile, DIFlags, DIFlagsConstants, DIScope, DISubprogram, DWARFEmissionKind,
    DWARFSourceLanguage, DebugInfoBuilder,
};
use inkwell::module::{FlagBehavior, Module};
use inkwell::values::FunctionValue;
use std::cell::RefCell;
use std::collections::HashMap;
use tierup_core::lir::{Func, Loc};

/// What the functions of one module share.
pub(crate) struct Lines<'c> {
    info: DebugInfoBuilder<'c>,
    unit: DIFile<'c>,
    files: RefCell<HashMap<String, DIFile<'c>>>,
}

/// The scopes of one function: one for each file that its code came from.
pub(crate) struct FuncLines<'c> {
    sub: DISubprogram<'c>,
    scopes: HashMap<String, DIScope<'c>>,
}

impl<'c> Lines<'c> {
    pub(crate) fn new(context: &'c Context, module: &Module<'c>) -> Lines<'c> {
        let version =
            context.i32_type().const_int(u64::from(inkwell::debug_info::debug_metadata_version()), false);
        module.add_basic_value_flag("Debug Info Version", FlagBehavior::Warning, version);
        let (info, unit) = module.create_debug_info_builder(
            true,
            DWARFSourceLanguage::C,
            "tierup",
            "",
            "tierup",
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
        Lines { info, unit: unit.get_file(), files: RefCell::default() }
    }

    fn file(&self, name: &str) -> DIFile<'c> {
        *self.files.borrow_mut().entry(name.into()).or_insert_with(|| self.info.create_file(name, ""))
    }

    /// Begins a function.
    pub(crate) fn func(&self, func: &Func, llvm: FunctionValue<'c>) -> FuncLines<'c> {
        let ty = self.info.create_subroutine_type(self.unit, None, &[], DIFlags::ZERO);
        let sub = self.info.create_function(
            self.unit.as_debug_info_scope(),
            &func.name,
            None,
            self.unit,
            0,
            ty,
            false,
            true,
            0,
            DIFlags::ZERO,
            true,
        );
        llvm.set_subprogram(sub);
        FuncLines { sub, scopes: HashMap::new() }
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
        let (scope, line, col) = match func.place(loc) {
            Some(l) => {
                let sub = here.sub.as_debug_info_scope();
                let scope = *here.scopes.entry(l.file.to_string()).or_insert_with(|| {
                    self.info.create_lexical_block(sub, self.file(&l.file), 0, 0).as_debug_info_scope()
                });
                (scope, l.line, l.col)
            }
            None => (here.sub.as_debug_info_scope(), 0, 0),
        };
        builder.set_current_debug_location(self.info.create_debug_location(context, line, col, scope, None));
    }

    pub(crate) fn finish(&self) {
        self.info.finalize();
    }
}
