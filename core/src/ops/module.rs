//! Modules that compiled code knows, as values.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::types::{Kind, Type};
use crate::typing::{Answer, Arg, TyCx};

super::identity::op_ids! {
    IMPORT_MODULE = "import.module",
}

pub(crate) static OPS: &[OpDef] =
    &[OpDef::new(&["import.module"], "name, *rest", Body::Lir(import_rule, |_, _| Ok(vec![])))
        .doc("`import math` inside a function.")];

fn import_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let name = args[0].text().unwrap_or_default();
    let known = cx.host.import(name).ok_or_else(|| {
        Diagnostic::new(Code::UnsupportedSyntax, format!("`import {name}` inside a function is not compiled"))
            .help("import it at the top of the module")
    })?;
    Ok(Answer::of(Type::new(Kind::Module(known))))
}
