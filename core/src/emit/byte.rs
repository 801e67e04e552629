//! Bytes of objects of the kind that texts are.

use super::cast;
use super::cx::LowerCx;
use crate::lir::{Alias, Ty, Value};
use crate::offset;

/// The byte at a position that is known to be one, as an integer.
pub(crate) fn byte_at(cx: &mut LowerCx<'_>, bytes: Value, at: Value) -> Value {
    let data = cx.b.load(Ty::Ptr, bytes, offset!(Str.data), Alias::Const);
    let p = cx.b.ptr_add(data, at);
    let byte = cx.b.load(Ty::I8, p, 0, Alias::Const);
    cast::resize(cx, byte, false, Ty::I64)
}
