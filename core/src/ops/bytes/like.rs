//! Values that are bytes: of the immutable class, or a bytearray. A bytearray is a list of bytes
//! ([`crate::layout::List`]); helpers are given its bytes, or a copy of them where they may keep what they are
//! given.

use super::{bytes_array, bytes_of_memory, bytes_of_one};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::length::length;
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::ops::{iter, list, sequence};
use crate::rt::{Effect, RtFn};
use crate::types::{Container, Int, Kind, Type};

/// What a bytearray has for elements.
pub(crate) fn element() -> Type {
    Type::int_of(Int::U8)
}

/// Whether values of a type are bytearrays.
pub(crate) fn is_array(t: Type) -> bool {
    matches!(t.kind(), Kind::Container(Container::ByteArray, _))
}

/// Whether values of a type are bytes or bytearrays.
pub(crate) fn is_like(t: Type) -> bool {
    *t == Kind::Bytes || is_array(t)
}

/// The bytes that a bytearray has now.
pub(crate) fn snapshot(cx: &mut LowerCx<'_>, array: Value) -> Value {
    let data = cx.b.load(Ty::Ptr, array, offset!(List.data), Alias::Object);
    let n = list::len(cx, array);
    cx.helper_value(&bytes_of_memory, &[data, n])
}

/// [`snapshot`] of one that is not used any more.
pub(crate) fn into_bytes(cx: &mut LowerCx<'_>, array: Value) -> Result<Value> {
    let bytes = cx.guarded(&[array], |cx| Ok(snapshot(cx, array)))?;
    cx.release_object(array);
    Ok(bytes)
}

/// A number as a byte; ValueError with this text.
pub(crate) fn checked_byte(cx: &mut LowerCx<'_>, v: Value, t: Type, text: &str) -> Value {
    let x = cast::to_i64(cx, v, t);
    let limit = cx.b.i64(256);
    let ok = cx.b.bin(Op::IcmpUlt, x, limit);
    cx.check(ok, Class::ValueError, text);
    cast::resize(cx, x, false, Ty::I8)
}

/// A new list of bytes with the values of an iterable of integers.
pub(crate) fn gathered(cx: &mut LowerCx<'_>, v: &[Value], t: Type, text: &str) -> Result<Value> {
    let zero = cx.b.i64(0);
    let out = list::make(cx, element(), zero);
    cx.guarded(&[out], |cx| add_all(cx, out, (v, t), text))?;
    Ok(out)
}

/// Adds the values of an iterable of integers to a list of bytes.
pub(crate) fn add_all(cx: &mut LowerCx<'_>, out: Value, (v, t): (&[Value], Type), text: &str) -> Result<()> {
    let put = |cx: &mut LowerCx<'_>, x: &[Value], of: Type| {
        if *of != Kind::Never {
            let byte = checked_byte(cx, x[0], of, text);
            list::push_owned(cx, out, element(), &[byte]);
        }
    };
    if let Some(x) = sequence::element_type(t) {
        let n = length(cx, v, t)?;
        cx.for_range(n, &[], |cx, i, _| {
            let value = sequence::element(cx, v, t, i)?;
            put(cx, &value, x);
            Ok(vec![])
        })?;
        return Ok(());
    }
    iter::for_each(cx, v, t, |cx, value, x| {
        put(cx, &value, x);
        Ok(())
    })
}

/// How operands that are bytearrays are shown to a helper.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Where they lie: the helper looks at them and keeps nothing.
    InPlace,
    /// As copies.
    Copied,
}

/// Bytes that lie in a bytearray, as an object that nobody may keep.
fn view(cx: &mut LowerCx<'_>, array: Value) -> Value {
    let at = cx.b.slot_addr(std::mem::size_of::<crate::layout::Str>() as u32);
    let data = cx.b.load(Ty::Ptr, array, offset!(List.data), Alias::Object);
    let n = list::len(cx, array);
    // An empty bytearray may have no memory.
    let empty = cx.b.bin_imm(Op::IcmpEq, n, 0);
    let data = cx.b.select(empty, at, data);
    let (refs, one, zero) = (cx.b.i64(crate::layout::IMMORTAL), cx.b.i64(1), cx.b.i64(0));
    for (value, offset) in [
        (refs, offset!(Str.obj.refs)),
        (zero, offset!(Str.obj.drop)),
        (n, offset!(Str.len)),
        (one, offset!(Str.kind)),
        (data, offset!(Str.data)),
        (zero, offset!(Str.hash)),
    ] {
        cx.b.store(value, at, offset, Alias::Stack);
    }
    at
}

/// Does something with all operands as machine values, those that are bytes as objects of them.
pub(crate) fn with_texts(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    how: Shown,
    f: impl FnOnce(&mut LowerCx<'_>, &[Value]) -> Result<Val>,
) -> Result<Val> {
    let mut args: Vec<Value> = c.args.iter().map(|v| v[0]).collect();
    borrowed(cx, c, how, &mut args, f)
}

/// The same with the first operand alone.
pub(crate) fn with_text(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    how: Shown,
    f: impl FnOnce(&mut LowerCx<'_>, Value) -> Result<Val>,
) -> Result<Val> {
    let first = OpCall { args: &c.args[..1], types: &c.types[..1], ..*c };
    with_texts(cx, &first, how, |cx, v| f(cx, v[0]))
}

/// The same where some operands stand at their places already: bytearrays are replaced by their bytes.
fn borrowed(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    how: Shown,
    args: &mut [Value],
    f: impl FnOnce(&mut LowerCx<'_>, &[Value]) -> Result<Val>,
) -> Result<Val> {
    let arrays: Vec<usize> = (0..c.types.len()).filter(|k| is_array(c.types[*k])).collect();
    let mut copies = vec![];
    for k in arrays {
        args[k] = if how == Shown::InPlace {
            view(cx, c.args[k][0])
        } else {
            let copy = cx.guarded(&copies, |cx| Ok(snapshot(cx, c.args[k][0])))?;
            copies.push(copy);
            copy
        };
    }
    let out = cx.guarded(&copies, |cx| f(cx, args))?;
    copies.iter().for_each(|copy| cx.release_object(*copy));
    Ok(out)
}

/// Calls a helper with the operands: bytes as they are, one byte where the helper wants bytes and is given a
/// number, integers as i64, None as null or as the default bound of a search.
pub(crate) fn call(cx: &mut LowerCx<'_>, c: &OpCall<'_>, helper: &'static RtFn) -> Result<Val> {
    let skip = (helper.params.len() > c.args.len()) as usize;
    let mut args = vec![];
    for (k, (v, t)) in c.args.iter().zip(c.types).enumerate() {
        let want = helper.params[k + skip];
        args.push(if is_like(*t) || *t.kind() == Kind::Str {
            v[0]
        } else if *t.kind() == Kind::None && want == Ty::I64 {
            // A search ends at the end: only `end` is the last of four operands.
            cx.b.i64(if k == 3 { i64::MAX } else { 0 })
        } else if matches!(t.kind(), Kind::None | Kind::Ellipsis) {
            cx.b.null()
        } else if want == Ty::Ptr {
            // Bytes of one are there for ever: nothing is to be released.
            let x = cast::to_i64(cx, v[0], *t);
            cx.helper_value(&bytes_of_one, &[x])
        } else if want == Ty::I8 {
            cast::truth(cx, v[0], *t)
        } else {
            cast::to_i64(cx, v[0], *t)
        });
    }
    let how = if helper.effect == Effect::Reads { Shown::InPlace } else { Shown::Copied };
    let made = borrowed(cx, c, how, &mut args, |cx, args| Ok(vec![cx.helper_value(helper, args)]))?;
    if is_array(c.ret) {
        return Ok(vec![into_array(cx, made[0])?]);
    }
    if let Kind::List(e) = c.ret.kind()
        && is_array(*e)
    {
        let arrays = cx.guarded(&made, |cx| arrays_of(cx, made[0]))?;
        cx.release_object(made[0]);
        return Ok(vec![arrays]);
    }
    Ok(made)
}

/// A new bytearray of bytes.
pub(crate) fn array_of(cx: &mut LowerCx<'_>, bytes: Value) -> Value {
    let data = cx.b.load(Ty::Ptr, bytes, offset!(Str.data), Alias::Const);
    let n = cx.b.load(Ty::I64, bytes, offset!(Str.len), Alias::Const);
    cx.helper_value(&bytes_array, &[data, n])
}

/// [`array_of`] of bytes that are not used any more.
pub(crate) fn into_array(cx: &mut LowerCx<'_>, bytes: Value) -> Result<Value> {
    let array = cx.guarded(&[bytes], |cx| Ok(array_of(cx, bytes)))?;
    cx.release_object(bytes);
    Ok(array)
}

/// A list of bytearrays for one of bytes.
fn arrays_of(cx: &mut LowerCx<'_>, list: Value) -> Result<Value> {
    let n = list::len(cx, list);
    let out = list::make(cx, Type::bytearray(), n);
    cx.guarded(&[out], |cx| {
        cx.for_range(n, &[], |cx, i, _| {
            let part = list::element(cx, list, Type::bytes(), i);
            let array = into_array(cx, part[0])?;
            list::push_owned(cx, out, Type::bytearray(), &[array]);
            Ok(vec![])
        })
    })?;
    Ok(out)
}
