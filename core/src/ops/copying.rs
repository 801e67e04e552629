//! Python's module `copy`. What never changes is its own copy; a deep copy of containers is made by the run-time,
//! which keeps what was one object one object.

use super::{Body, OpDef};
use crate::desc::place::Place;
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::layout::Obj;
use crate::lir::{Alias, Ty};
use crate::rt::Ctx;
use crate::types::{Access, Kind, Type};
use crate::typing::{Answer, Arg, TyCx};

super::identity::op_ids! {
    COPY_COPY = "copy.copy" [keeps],
    COPY_DEEPCOPY = "copy.deepcopy" [keeps],
}

crate::runtime_fns! {
    /// Copies of objects with what is in them.
    trait Helpers;
    /// Puts deep copies in the place of `n` references, which stay the caller's; null stays null. What is one
    /// object in any of them is one object in the copies. MemoryError.
    fn deep_copies(ctx: Ctx, at: *mut *mut Obj, n: i64) -> i64 [Writes, Pending];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["copy.copy", "copy.deepcopy"],
        "x",
        Body::Lir(|_, a| same_rule(a), |_, c| Ok(c.args[0].clone())),
    )
    .only_if(|a| never_changes(a[0].ty))
    .aliases()
    .doc("A value that never changes is its own copy."),
    OpDef::new(&["copy.copy"], "x", Body::Lir(|_, a| same_rule(a), |_, c| Ok(c.args[0].clone())))
        .only_if(|a| a[0].ty.parts().is_some() || a[0].ty.is_tuple_of_any_length())
        .aliases()
        .doc("A tuple or an instance with the same parts."),
    OpDef::new(&["copy.copy"], "x", Body::Py("copying.shallow"))
        .raises()
        .reads()
        .doc("A container with the same elements, or an array."),
    OpDef::new(&["copy.deepcopy"], "x", Body::Py("copying.of_array"))
        .only_if(|a| a[0].ty.as_array().is_some())
        .raises()
        .reads()
        .doc("A copy of an array."),
    OpDef::new(&["copy.deepcopy"], "x", Body::Py("copying.of_parts"))
        .only_if(|a| has_arrays(a[0].ty))
        .raises()
        .reads()
        .doc("A copy of a tuple or an instance with arrays, or of an array that may be None."),
    OpDef::new(&["copy.deepcopy"], "x", Body::Lir(deep_rule, emit_deep))
        .raises()
        .reads()
        .doc("A copy of a container with copies of the containers in it."),
];

fn same_rule(args: &[Arg]) -> Result<Answer> {
    Ok(Answer::of(args[0].ty).known(args[0].konst.clone()))
}

/// Whether nothing in a value can change.
fn never_changes(t: Type) -> bool {
    t.is_number()
        || matches!(
            *t,
            Kind::Str | Kind::Bytes | Kind::None | Kind::Ellipsis | Kind::Member(_) | Kind::Range(_)
        )
        || matches!(*t, Kind::Function(_) | Kind::Builtin(_) | Kind::DType(_) | Kind::Module(_))
        || (t.parts().is_some() || t.as_optional().is_some() || t.is_tuple_of_any_length())
            && t.arguments().iter().all(never_changes)
}

/// Whether a value consists of what never changes, of arrays of numbers, and of containers of such values.
fn is_copied(t: Type) -> bool {
    never_changes(t)
        || t.as_array().is_some_and(|a| a.dtype.is_number() && a.access != Access::Read)
        || matches!(*t, Kind::Var(_) | Kind::Never | Kind::Undef | Kind::Outer(_))
        || (matches!(
            *t,
            Kind::List(_) | Kind::Optional(_) | Kind::Variant(_) | Kind::MaybeUndef(_) | Kind::Object(..)
        ) || t.parts().is_some()
            || t.container().is_some_and(|(c, _)| !c.is_view()))
            && t.arguments().iter().all(is_copied)
}

/// Whether a value has arrays outside of memory, where nobody finds them.
fn has_arrays(t: Type) -> bool {
    !Place::of(t).arrays().is_empty()
}

fn deep_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = cx.vars.resolve(args[0].ty);
    if !is_copied(t) || has_arrays(t) {
        let text =
            format!("deepcopy() copies numbers, strings and containers of them, not a value of type {t}");
        return Err(Diagnostic::new(Code::NoMatchingOperation, text).help("copy its parts one by one"));
    }
    if let Some(key) = super::dict::hashed_by_place(t) {
        let text =
            format!("deepcopy() keeps the hashes of keys, and that of {key} may be another one for a copy");
        return Err(Diagnostic::new(Code::NoMatchingOperation, text).help("copy its parts one by one"));
    }
    Ok(Answer::of(args[0].ty))
}

fn emit_deep(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let leaves = c.types[0].leaves();
    let mut out = c.args[0].clone();
    let refs: Vec<usize> = (0..leaves.len()).filter(|k| leaves[*k].is_ref).collect();
    let (at, n) = (cx.spill(&refs.iter().map(|k| out[*k]).collect::<Vec<_>>()), cx.b.i64(refs.len() as i64));
    cx.helper_value(&deep_copies, &[at, n]);
    for (i, k) in refs.into_iter().enumerate() {
        out[k] = cx.b.load(Ty::Ptr, at, 8 * i as i32, Alias::Stack);
    }
    Ok(out)
}
