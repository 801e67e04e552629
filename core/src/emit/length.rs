//! How many elements a value has.

use super::arrays::ArrayVal;
use super::cx::LowerCx;
use super::range::range_length;
use crate::diag::{Diagnostic, Result};
use crate::lir::{Alias, Ty, Value};
use crate::offset;
use crate::types::{Kind, Type};

/// Number of elements.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "any other type has no length, which its rules have refused"
)]
pub(crate) fn length(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Result<Value> {
    Ok(match t.kind() {
        Kind::Tuple(m) | Kind::NamedTuple(_, m) => cx.b.i64(m.len() as i64),
        Kind::Array(_) => ArrayVal::new(cx, v, t)?.shape[0],
        Kind::Str | Kind::Bytes => cx.b.load(Ty::I64, v[0], offset!(Str.len), Alias::Const),
        Kind::List(_) => cx.b.load(Ty::I64, v[0], offset!(List.len), Alias::Length),
        Kind::Container(..) => cx.b.load(Ty::I64, v[0], offset!(Counted.len), Alias::Length),
        Kind::Range(step) => {
            let step = match step {
                Some(s) => cx.b.i64(*s),
                None => v[2],
            };
            range_length(cx, v[0], v[1], step)
        }
        _ => return Err(Diagnostic::internal(format!("length of {t}"))),
    })
}
