//! `tierup.reveal_type(x)`: tells the compiler's idea of a type, for tests and for users who ask; gives its
//! argument back. And helpers that panic, with which tests show that a bug in the run-time ends in an
//! exception.
//!
//! What is revealed while functions are lowered is kept here until [`take`] is called.

use super::{Body, OpDef, id};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::rt::Ctx;
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx};
use std::sync::Mutex;

super::identity::op_ids! {
    TIERUP_REVEAL_TYPE = "tierup.reveal_type" [keywords(Takes)],
    // What they give is called later.
    TIERUP_JIT = "tierup.jit" [keeps],
    TIERUP_NJIT = "tierup.njit" [keeps],
}

crate::runtime_fns! {
    /// For tests.
    trait Helpers;
    /// Panics, where an exception could be raised.
    fn test_panic(ctx: Ctx) [Writes, Pending];
    /// Panics, where none could.
    fn test_panic_quietly() -> i64 [Writes, Never];
}

pub(crate) static OPS: &[OpDef] = &[
    // "Writes" keeps a call whose result nobody uses.
    OpDef::new(&["tierup.reveal_type"], "x", Body::Lir(rule, emit)).writes().aliases().doc("The argument; its type is noted when the function is compiled."),
    OpDef::new(
        &["tierup.njit", "tierup.jit"],
        "function=None, *, locals=None, nopython=True, nogil=False, cache=False, parallel=False, fastmath=False, error_model='python', inline='never', boundscheck=None, debug=False, overflow='wrap'",
        Body::Lir(decorator_rule, |_, call| Ok(if let Kind::Function(_) = call.types[0].kind() { call.args[0].clone() } else { vec![] })),
    ).aliases().doc("In compiled code every function is compiled: the decorator gives the function itself. Its options are those of the function that Python calls."),
    OpDef::new(&["tierup._panic"], "raises", Body::Lir(
        |_, args| if let Some(Const::Bool(_)) = args[0].konst { Ok(Answer::of(Type::int())) } else { Err(crate::typing::no_match("_panic()", args)) },
        |cx, call| {
            let zero = cx.b.i64(0);
            if call.consts[0] == Some(Const::Bool(false)) { return Ok(vec![cx.helper_value(&test_panic_quietly, &[])]); }
            cx.helper(&test_panic, &[]);
            Ok(vec![zero])
        },
    )).raises().writes().doc("For tests: a helper of the run-time panics, one that may raise or one that may not."),
];

/// `@njit` above a function made in compiled code, or `@njit(cache=True)`.
fn decorator_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[0].ty;
    if matches!(*t, Kind::Function(_)) {
        return Ok(Answer::of(t));
    }
    if *t == Kind::Str {
        return Err(Diagnostic::new(Code::UnsupportedSyntax, "a decorator in compiled code declares no types: the function is compiled for the arguments of each call")
            .help("leave the signature out, or decorate the function outside of compiled code"));
    }
    if *t != Kind::None {
        return Err(crate::typing::no_match("njit()", args));
    }
    Ok(Answer::of(Type::new(Kind::Builtin(id::TIERUP_NJIT))))
}

/// A type at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revealed {
    pub file: String,
    pub line: u32,
    pub ty: String,
}

/// More than this many are not kept: nobody takes them.
const MOST: usize = 10_000;

static REVEALED: Mutex<Vec<Revealed>> = Mutex::new(Vec::new());

/// Everything revealed since the last call, in the order of compilation.
pub fn take() -> Vec<Revealed> {
    std::mem::take(&mut *REVEALED.lock().unwrap_or_else(|e| e.into_inner()))
}

// The value counts as unknown afterwards: a constant would take the place of the call.
fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    Ok(Answer::of(args[0].ty))
}

fn emit(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    if let Some(l) = cx.b.func.loc(cx.b.loc) {
        let revealed = Revealed { file: l.file.to_string(), line: l.line, ty: call.types[0].to_string() };
        let mut all = REVEALED.lock().unwrap_or_else(|e| e.into_inner());
        if all.len() < MOST {
            all.push(revealed);
        }
    }
    Ok(call.args[0].clone())
}
