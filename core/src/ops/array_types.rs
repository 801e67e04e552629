//! Types of arrays as compiled code writes them: `types.float64[:, ::1]`.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::Op;
use crate::types::{Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(crate) static OPS: &[OpDef] = &[OpDef::new(&["operator.getitem"], "dtype, index", Body::Lir(rule, emit))
    .only_if(|a| matches!(*a[0].ty, Kind::DType(_)))
    .raises()
    .doc("`types.float64[:, ::1]`: the type of such arrays.")];

/// For each dimension whether a step is said, which is 1 then: elements lie side by side along it.
fn dimensions(index: Type) -> Option<Vec<bool>> {
    let of = |t: Type| {
        let Kind::Slice([start, stop, step]) = *t else { return None };
        if *start != Kind::None || *stop != Kind::None {
            return None;
        }
        if *step == Kind::None { Some(false) } else { step.is_index().then_some(true) }
    };
    if let Some(m) = index.members() {
        m.iter().map(|t| of(*t)).collect()
    } else {
        of(index).map(|d| vec![d])
    }
}

fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let Kind::DType(elem) = *args[0].ty else { return Err(no_match("indexing", args)) };
    let said = dimensions(args[1].ty).filter(|d| !d.is_empty() && elem.is_element());
    let Some(said) = said else { return Err(no_match("indexing", args)) };
    let layout = match (said.iter().filter(|d| **d).count(), said.first(), said.last()) {
        (0, _, _) => Layout::A,
        (1, _, Some(true)) => Layout::C,
        (1, Some(true), _) => Layout::F,
        _ => {
            return Err(Diagnostic::new(
                Code::BadSignature,
                "a type of arrays says `::1` of the first or of the last dimension, and of one",
            )
            .help("write float64[:, ::1] for C order, float64[::1, :] for Fortran's"));
        }
    };
    Ok(Answer::of(Type::new(Kind::DType(Type::array(elem, said.len(), layout)))))
}

/// Nothing but a look at the step, which the type does not know.
fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    for step in &c.args[1] {
        let one = cx.b.bin_imm(Op::IcmpEq, *step, 1);
        cx.check(one, Class::KeyError, "a type of arrays takes the step 1");
    }
    Ok(vec![])
}
