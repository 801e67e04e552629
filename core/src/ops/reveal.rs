//! `tierup.reveal_type(x)`: tells the compiler's idea of a type, for tests and for users who ask; gives its argument back.
//!
//! What is revealed while functions are lowered is kept here until [`take`] is called.

use super::{Body, OpDef};
use crate::diag::Result;
use crate::infer::cx::{Answer, Arg, TyCx};
use crate::lower::cx::{LowerCx, OpCall, Val};
use std::sync::Mutex;

pub static OPS: &[OpDef] = &[
    // "Writes" keeps a call whose result nobody uses.
    OpDef::new(&["tierup.reveal_type"], "x", Body::Lir(rule, emit)).writes().aliases().doc("The argument; its type is noted when the function is compiled."),
];

/// A type at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revealed { pub file: String, pub line: u32, pub ty: String }

/// More than this many are not kept: nobody takes them.
const MOST: usize = 10_000;

static REVEALED: Mutex<Vec<Revealed>> = Mutex::new(Vec::new());

/// Everything revealed since the last call, in the order of compilation.
pub fn take() -> Vec<Revealed> { std::mem::take(&mut *REVEALED.lock().unwrap_or_else(|e| e.into_inner())) }

// The value counts as unknown afterwards: a constant would take the place of the call.
fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> { Ok(Answer::of(args[0].ty)) }

fn emit(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    if let Some(l) = cx.b.func.loc(cx.b.loc) {
        let revealed = Revealed { file: l.file.to_string(), line: l.line, ty: call.types[0].to_string() };
        let mut all = REVEALED.lock().unwrap_or_else(|e| e.into_inner());
        if all.len() < MOST { all.push(revealed); }
    }
    Ok(call.args[0].clone())
}
