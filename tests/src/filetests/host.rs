//! What names mean in files of SSA: what they do in a Python module that imports `numpy` as `np`, `math`, and
//! `prange` and `pndindex` of Tierup, and that has the functions of the file.

use std::collections::HashMap;

use tierup_core::diag::{Diagnostic, Result};
use tierup_core::exc::Class;
use tierup_core::host::{GlobalValue, Host};
use tierup_core::lex::Cursor;
use tierup_core::ops::dtype::dtype_name;
use tierup_core::ops::{OpId, id};
use tierup_core::ssa::FuncId;
use tierup_core::ssa::names::{Meaning, Names, Root};
use tierup_core::types::{ClassId, Const};

use super::case::Case;
use super::program::{Fault, Program};

/// Modules by the names that files have for them.
const MODULES: [(&str, &str); 5] =
    [("np", "numpy"), ("numpy", "numpy"), ("math", "math"), ("cmath", "cmath"), ("operator", "operator")];
/// Constants of these modules.
const CONSTANTS: [(&str, f64); 3] = [("pi", std::f64::consts::PI), ("inf", f64::INFINITY), ("nan", f64::NAN)];

pub(super) struct FileHost {
    given: HashMap<String, Const>,
    /// Functions by the names by which others call them.
    funcs: HashMap<String, FuncId>,
}

impl FileHost {
    pub(crate) fn new(case: &Case, program: &Program) -> std::result::Result<FileHost, Fault> {
        let mut given = HashMap::new();
        for (line, text) in case.facts("global") {
            let (name, value) = text.split_once('=').ok_or((line, "expected NAME = value".to_string()))?;
            let value = Cursor::new(value).constant().map_err(|d| (line, d.message))?;
            given.insert(name.trim().to_string(), value);
        }
        let funcs = program.funcs.iter().map(|f| (f.func.qualname.to_string(), f.id)).collect();
        Ok(FileHost { given, funcs })
    }

    /// What functions that are called so mean by names.
    #[cfg(test)]
    pub(crate) fn of(funcs: HashMap<String, FuncId>) -> FileHost {
        FileHost { given: HashMap::new(), funcs }
    }

    fn module(name: &str) -> Option<&'static str> {
        MODULES.iter().find(|(n, _)| *n == name).map(|(_, module)| *module)
    }
}

impl Names for FileHost {
    fn meaning(&self, root: Root<'_>, attributes: &[&str]) -> Option<Meaning> {
        let operation = |path: &str| OpId::find(path).map(Meaning::Operation);
        let of_module = |module: &str, name: &str| {
            let cast = dtype_name(name).filter(|_| module == "numpy").map(Meaning::Cast);
            cast.or_else(|| operation(&format!("{module}.{name}")))
        };
        match (root, attributes) {
            (Root::Global(n), _) if self.given.contains_key(n) || self.funcs.contains_key(n) => None,
            (Root::Global("prange"), []) | (Root::Global("tierup") | Root::Import(_), ["prange"]) => {
                Some(Meaning::Operation(id::TIERUP_PRANGE))
            }
            (Root::Global("pndindex"), []) | (Root::Global("tierup") | Root::Import(_), ["pndindex"]) => {
                Some(Meaning::Operation(id::TIERUP_PNDINDEX))
            }
            (Root::Global(n), []) if Self::module(n).is_some() => Some(Meaning::Module),
            (Root::Global(n), []) => operation(&format!("builtins.{n}")),
            (Root::Global(n), [name]) => of_module(Self::module(n)?, name),
            (Root::Import(module), []) => Self::module(module).map(|_| Meaning::Module),
            (Root::Import(module), [name]) => of_module(module, name),
            (Root::Global(_) | Root::Import(_) | Root::Free(_), _) => None,
        }
    }
}

impl Host for FileHost {
    fn global(&self, _host: u64, name: &str) -> Option<GlobalValue> {
        if let Some(c) = self.given.get(name) {
            return Some(GlobalValue::Const(c.clone()));
        }
        if let Some(id) = self.funcs.get(name) {
            return Some(GlobalValue::Function(*id));
        }
        if let Some(module) = Self::module(name) {
            return Some(GlobalValue::Module(module));
        }
        if let Some(c) = Class::from_name(name) {
            return Some(GlobalValue::ExcClass(ClassId::of_exception(c).def()));
        }
        match name {
            "prange" => Some(GlobalValue::Builtin(id::TIERUP_PRANGE)),
            "pndindex" => Some(GlobalValue::Builtin(id::TIERUP_PNDINDEX)),
            _ => OpId::find(&format!("builtins.{name}")).map(GlobalValue::Builtin),
        }
    }
    fn free(&self, _host: u64, _index: u32) -> Option<GlobalValue> {
        None
    }
    fn default(&self, _host: u64, _param: &str) -> Option<GlobalValue> {
        None
    }
    fn module_attr(&self, module: &str, name: &str) -> Option<GlobalValue> {
        if let Some((_, x)) = CONSTANTS.iter().find(|(n, _)| *n == name) {
            return Some(GlobalValue::Const(Const::Float(*x)));
        }
        if let Some(op) = OpId::find(&format!("{module}.{name}")) {
            return Some(GlobalValue::Builtin(op));
        }
        dtype_name(name).filter(|_| module == "numpy").map(GlobalValue::DType)
    }
    fn import(&self, name: &str) -> Option<&'static str> {
        Self::module(name).filter(|m| *m == name)
    }
    /// `builtin.sum` is a function of the file by that name.
    fn library(&self, path: &str) -> Result<FuncId> {
        self.funcs
            .get(path)
            .copied()
            .ok_or_else(|| Diagnostic::internal(format!("the file has no library function {path:?}")))
    }
}
