//! `bytearray`: helpers that make and search them, and the operations that change them. What they have in
//! common with `bytes` is said of both (`core/src/ops/bytes.rs`, `core/src/ops/byte_methods.rs`).
//!
//! A bytearray is a list of bytes ([`crate::layout::List`]), whose helpers move them.

use super::bytes::like::{self, checked_byte, element, is_array, is_like};
use super::bytes::{bytes_array, check_source, refused};
use super::iter::Walk;
use super::list::{
    self, list_assign_slice, list_clear, list_close_gap, list_delete, list_extend, list_insert_gap,
    list_repeat_in_place, list_reverse, list_slice,
};
use super::{Body, OpDef};
use crate::diag::{Diagnostic, Result};
use crate::emit::cast;
use crate::emit::constants::absent;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::slice::adjust_slice;
use crate::exc::Class;
use crate::layout::List;
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::rt::{Ctx, P, RtFn};
use crate::types::{Container, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    BUILTINS_BYTEARRAY = "builtins.bytearray" [makes_list, lists(Shallow)],
    BYTEARRAY_APPEND = "bytearray.append" [lists(Shallow)],
    BYTEARRAY_EXTEND = "bytearray.extend" [lists(Shallow)],
    BYTEARRAY_INSERT = "bytearray.insert" [lists(Shallow)],
    BYTEARRAY_POP = "bytearray.pop" [lists(Shallow)],
    BYTEARRAY_REMOVE = "bytearray.remove" [lists(Shallow)],
    BYTEARRAY_REVERSE = "bytearray.reverse" [lists(Shallow)],
    BYTEARRAY_CLEAR = "bytearray.clear" [lists(Shallow)],
    BYTEARRAY_COPY = "bytearray.copy" [makes_list, lists(Shallow)],
}

crate::runtime_fns! {
    /// Bytearray objects.
    trait Helpers;
    /// `bytearray(n)`; ValueError.
    fn bytearray_of_zeros(ctx: Ctx, n: i64) -> *mut List [Allocates, Pending];
    /// Adds the `n` bytes at `data`, which are not those of the bytearray.
    fn bytearray_extend(ctx: Ctx, array: *mut List, data: P, n: i64) [Writes, Pending];
    /// Position of the first byte like this one; -1 where there is none.
    fn bytearray_find(array: *mut List, byte: i8) -> i64 [Reads, Never];
}

/// What CPython says of a number that is no byte.
const NO_BYTE: &str = "byte must be in range(0, 256)";
const OUT_OF_RANGE: &str = "bytearray index out of range";

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["builtins.bytearray"], "source=...", Body::Lir(new_rule, emit_new))
        .raises()
        .reads()
        .doc("A bytearray of so many zeros, of bytes, or of an iterable of integers; ValueError."),
    OpDef::new(
        &["bytearray.append"],
        "array, item",
        Body::Lir(|_, a| byte_rule(a, 1, "append"), emit_append),
    )
    .raises()
    .writes()
    .doc("Adds a byte at the end; ValueError."),
    OpDef::new(&["bytearray.extend"], "array, iterable_of_ints", Body::Lir(extend_rule, emit_extend))
        .raises()
        .writes()
        .doc("Adds bytes, or the values of an iterable of integers; ValueError."),
    OpDef::new(&["bytearray.insert"], "array, index, item", Body::Lir(insert_rule, emit_insert))
        .raises()
        .writes()
        .doc("Inserts a byte before a position; ValueError."),
    OpDef::new(&["bytearray.pop"], "array, index=-1", Body::Lir(|_, a| index_rule(a, Type::int()), emit_pop))
        .raises()
        .writes()
        .doc("Removes and returns a byte; IndexError."),
    OpDef::new(
        &["bytearray.remove"],
        "array, value",
        Body::Lir(|_, a| byte_rule(a, 1, "remove"), emit_remove),
    )
    .raises()
    .writes()
    .doc("Removes the first byte like this one; ValueError."),
    OpDef::new(
        &["bytearray.reverse"],
        "array",
        Body::Lir(|_, a| plain_rule(a, "reverse", Type::none()), |cx, c| unit(cx, c, &list_reverse)),
    )
    .writes()
    .doc("Reverses in place."),
    OpDef::new(
        &["bytearray.clear"],
        "array",
        Body::Lir(|_, a| plain_rule(a, "clear", Type::none()), |cx, c| unit(cx, c, &list_clear)),
    )
    .raises()
    .writes()
    .doc("Removes all bytes."),
    OpDef::new(
        &["bytearray.copy"],
        "array",
        Body::Lir(
            |_, a| plain_rule(a, "copy", Type::bytearray()),
            |cx, c| Ok(vec![copied(cx, c.args[0][0])]),
        ),
    )
    .raises()
    .reads()
    .doc("A copy."),
    OpDef::new(&["operator.getitem"], "array, i", Body::Lir(|_, a| item_rule(a), emit_item))
        .raises()
        .reads()
        .doc("`array[i]`, an integer; IndexError."),
    OpDef::new(
        &["operator.getitem"],
        "array, part",
        Body::Lir(
            |_, a| slice_rule(a, Type::bytearray()),
            |cx, c| {
                let n = list::len(cx, c.args[0][0]);
                let s = adjust_slice(cx, &c.args[1], c.types[1], n)?;
                Ok(vec![cx.helper_value(&list_slice, &[c.args[0][0], s.start, s.step, s.count])])
            },
        ),
    )
    .raises()
    .reads()
    .doc("`array[a:b:c]`."),
    OpDef::new(&["operator.setitem"], "array, i, x", Body::Lir(set_rule, emit_set))
        .raises()
        .writes()
        .doc("`array[i] = x`; IndexError, ValueError."),
    OpDef::new(&["operator.setitem"], "array, part, values", Body::Lir(set_slice_rule, emit_set_slice))
        .raises()
        .writes()
        .doc("`array[a:b:c] = values`, bytes or an iterable of integers; ValueError."),
    OpDef::new(&["operator.delitem"], "array, i", Body::Lir(|_, a| index_rule(a, Type::none()), emit_delete))
        .raises()
        .writes()
        .doc("`del array[i]`; IndexError."),
    OpDef::new(
        &["operator.delitem"],
        "array, part",
        Body::Lir(
            |_, a| slice_rule(a, Type::none()),
            |cx, c| {
                let n = list::len(cx, c.args[0][0]);
                let s = adjust_slice(cx, &c.args[1], c.types[1], n)?;
                cx.helper(&list_delete, &[c.args[0][0], s.start, s.step, s.count]);
                Ok(vec![])
            },
        ),
    )
    .raises()
    .writes()
    .doc("`del array[a:b:c]`."),
    OpDef::new(
        &["operator.iadd"],
        "array, other",
        Body::Lir(add_rule, |cx, c| {
            check_other(cx, c);
            add(cx, c.args[0][0], &c.args[1], c.types[1])?;
            cx.retain(&c.args[0], c.types[0]);
            Ok(c.args[0].clone())
        }),
    )
    .raises()
    .writes()
    .doc("`array += bytes`."),
    OpDef::new(
        &["operator.imul"],
        "array, n",
        Body::Lir(
            |_, a| {
                if is_array(a[0].ty) && a[1].ty.is_index() {
                    Ok(Answer::of(a[0].ty))
                } else {
                    Err(no_match("*=", a))
                }
            },
            |cx, c| {
                let n = cast::to_i64(cx, c.args[1][0], c.types[1]);
                cx.helper(&list_repeat_in_place, &[c.args[0][0], n]);
                cx.retain(&c.args[0], c.types[0]);
                Ok(c.args[0].clone())
            },
        ),
    )
    .raises()
    .writes()
    .doc("`array *= n`."),
];

// ---- rules

fn plain_rule(args: &[Arg], what: &str, ret: Type) -> Result<Answer> {
    if is_array(args[0].ty) { Ok(Answer::of(ret)) } else { Err(no_match(what, args)) }
}

/// Operand `k` is a byte.
fn byte_rule(args: &[Arg], k: usize, what: &str) -> Result<Answer> {
    if !is_array(args[0].ty) {
        return Err(no_match(what, args));
    }
    if !args[k].ty.is_index() {
        let class = &crate::classes::class_of(args[k].ty).name;
        return Err(refused(format!("'{class}' object cannot be interpreted as an integer")));
    }
    Ok(Answer::of(Type::none()))
}

fn new_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    check_source(cx, &args[0], "bytearray")?;
    Ok(Answer::of(Type::bytearray()))
}

/// Values that a bytearray takes: bytes, or an iterable of integers.
fn check_values(cx: &mut TyCx<'_, '_>, values: &Arg, text: &str) -> Result<()> {
    if values.ty.is_number() || *values.ty == Kind::Str {
        return Err(refused(text.into()));
    }
    check_source(cx, values, "bytearray")
}

fn extend_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let class = &crate::classes::class_of(args[1].ty).name;
    check_values(cx, &args[1], &format!("can't extend bytearray with {class}"))?;
    plain_rule(args, "extend", Type::none())
}

fn insert_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    byte_rule(args, 1, "insert")?;
    byte_rule(args, 2, "insert")
}

fn index_rule(args: &[Arg], ret: Type) -> Result<Answer> {
    if is_array(args[0].ty) && args[1].ty.is_index() {
        Ok(Answer::of(ret))
    } else {
        Err(no_match("[]", args))
    }
}

fn item_rule(args: &[Arg]) -> Result<Answer> {
    let wrong = is_array(args[0].ty) && !args[1].ty.is_index() && !matches!(*args[1].ty, Kind::Slice(_));
    if wrong {
        let class = &crate::classes::class_of(args[1].ty).name;
        return Err(refused(format!("bytearray indices must be integers or slices, not {class}")));
    }
    index_rule(args, Type::int())
}

fn slice_rule(args: &[Arg], ret: Type) -> Result<Answer> {
    let fits = is_array(args[0].ty) && matches!(*args[1].ty, Kind::Slice(_));
    if fits { Ok(Answer::of(ret)) } else { Err(no_match("[]", args)) }
}

fn set_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    index_rule(args, Type::none())?;
    byte_rule(args, 2, "[] =")
}

fn set_slice_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let answer = slice_rule(args, Type::none())?;
    let text = "can assign only bytes, buffers, or iterables of ints in range(0, 256)";
    check_values(cx, &args[2], text)?;
    Ok(answer)
}

fn add_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !is_array(args[0].ty) {
        return Err(no_match("+=", args));
    }
    if !is_like(args[1].ty) {
        let class = &crate::classes::class_of(args[1].ty).name;
        return Err(refused(format!("can't concat {class} to bytearray"))
            .help("array.extend takes any iterable of integers"));
    }
    Ok(Answer::of(args[0].ty))
}

// ---- bytes in memory

fn address(cx: &mut LowerCx<'_>, array: Value, at: Value) -> Value {
    let data = cx.b.load(Ty::Ptr, array, offset!(List.data), Alias::Object);
    cx.b.ptr_add(data, at)
}

/// The byte at a position that is known to be one, as an integer.
fn byte_at(cx: &mut LowerCx<'_>, array: Value, at: Value) -> Value {
    let p = address(cx, array, at);
    let byte = cx.b.load(Ty::I8, p, 0, Alias::Object);
    cast::resize(cx, byte, false, Ty::I64)
}

/// The position that the second operand says.
fn checked(cx: &mut LowerCx<'_>, c: &OpCall<'_>, text: &str) -> Value {
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let n = list::len(cx, c.args[0][0]);
    // The memory of a bytearray can be outside what an unchecked index reaches, so this check always stays.
    let at = cx.wrap_index(i, n);
    let ok = cx.b.bin(Op::IcmpUlt, at, n);
    cx.check(ok, Class::IndexError, text);
    at
}

fn copied(cx: &mut LowerCx<'_>, array: Value) -> Value {
    let data = cx.b.load(Ty::Ptr, array, offset!(List.data), Alias::Object);
    let n = list::len(cx, array);
    cx.helper_value(&bytes_array, &[data, n])
}

// ---- emitters

fn unit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, helper: &'static RtFn) -> Result<Val> {
    cx.helper(helper, &[c.args[0][0]]);
    Ok(vec![])
}

fn emit_new(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (v, t) = (&c.args[0], c.types[0]);
    Ok(vec![if *t == Kind::Ellipsis {
        let zero = cx.b.i64(0);
        list::make(cx, element(), zero)
    } else if *t == Kind::Bytes {
        like::array_of(cx, v[0])
    } else if is_array(t) {
        copied(cx, v[0])
    } else if t.is_index() {
        let n = cast::to_i64(cx, v[0], t);
        cx.helper_value(&bytearray_of_zeros, &[n])
    } else {
        like::gathered(cx, v, t, NO_BYTE)?
    }])
}

fn emit_append(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let byte = checked_byte(cx, c.args[1][0], c.types[1], NO_BYTE);
    list::push_owned(cx, c.args[0][0], element(), &[byte]);
    Ok(vec![])
}

/// Adds bytes to a bytearray, which may be its own.
fn add(cx: &mut LowerCx<'_>, array: Value, v: &[Value], t: Type) -> Result<()> {
    if is_array(t) {
        cx.helper(&list_extend, &[array, v[0]]);
        return Ok(());
    }
    let data = cx.b.load(Ty::Ptr, v[0], offset!(Str.data), Alias::Const);
    let n = cx.b.load(Ty::I64, v[0], offset!(Str.len), Alias::Const);
    cx.helper(&bytearray_extend, &[array, data, n]);
    Ok(())
}

/// BufferError where a bytearray that has bytes is added to itself: Python looks at them while it adds them.
fn check_other(cx: &mut LowerCx<'_>, c: &OpCall<'_>) {
    if is_array(c.types[1]) {
        let other = cx.b.bin(Op::IcmpNe, c.args[0][0], c.args[1][0]);
        let n = list::len(cx, c.args[0][0]);
        let empty = cx.b.bin_imm(Op::IcmpEq, n, 0);
        let ok = cx.or(other, empty);
        cx.check(ok, Class::BufferError, "Existing exports of data: object cannot be re-sized");
    }
}

fn emit_extend(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let array = c.args[0][0];
    if is_like(c.types[1]) {
        add(cx, array, &c.args[1], c.types[1])?;
        return Ok(vec![]);
    }
    with_values(cx, &c.args[1], c.types[1], |cx, values| {
        cx.helper(&list_extend, &[array, values]);
        Ok(())
    })?;
    Ok(vec![])
}

/// Does something with a list of the bytes that an operand is or gives.
fn with_values(
    cx: &mut LowerCx<'_>,
    v: &[Value],
    t: Type,
    f: impl FnOnce(&mut LowerCx<'_>, Value) -> Result<()>,
) -> Result<()> {
    if is_array(t) {
        return f(cx, v[0]);
    }
    let values =
        if *t == Kind::Bytes { like::array_of(cx, v[0]) } else { like::gathered(cx, v, t, NO_BYTE)? };
    cx.guarded(&[values], |cx| f(cx, values))?;
    cx.release_object(values);
    Ok(())
}

fn emit_insert(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let i = cast::to_i64(cx, c.args[1][0], c.types[1]);
    let byte = checked_byte(cx, c.args[2][0], c.types[2], NO_BYTE);
    let p = cx.helper_value(&list_insert_gap, &[c.args[0][0], i]);
    cx.b.store(byte, p, 0, Alias::Object);
    Ok(vec![])
}

fn emit_pop(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let n = list::len(cx, c.args[0][0]);
    let some = cx.b.bin_imm(Op::IcmpNe, n, 0);
    cx.check(some, Class::IndexError, "pop from empty bytearray");
    let at = checked(cx, c, "pop index out of range");
    let byte = byte_at(cx, c.args[0][0], at);
    cx.helper(&list_close_gap, &[c.args[0][0], at]);
    Ok(vec![byte])
}

fn emit_remove(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let byte = checked_byte(cx, c.args[1][0], c.types[1], NO_BYTE);
    let at = cx.helper_value(&bytearray_find, &[c.args[0][0], byte]);
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    cx.check(found, Class::ValueError, "value not found in bytearray");
    cx.helper(&list_close_gap, &[c.args[0][0], at]);
    Ok(vec![])
}

fn emit_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = checked(cx, c, OUT_OF_RANGE);
    Ok(vec![byte_at(cx, c.args[0][0], at)])
}

fn emit_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    // In Python's order: what is no byte is found before what is no position.
    let byte = checked_byte(cx, c.args[2][0], c.types[2], NO_BYTE);
    let at = checked(cx, c, OUT_OF_RANGE);
    let p = address(cx, c.args[0][0], at);
    cx.b.store(byte, p, 0, Alias::Object);
    Ok(vec![])
}

fn emit_set_slice(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let array = c.args[0][0];
    with_values(cx, &c.args[2], c.types[2], |cx, values| {
        let n = list::len(cx, array);
        let s = adjust_slice(cx, &c.args[1], c.types[1], n)?;
        let (count, given) = (s.count, list::len(cx, values));
        let by_one = cx.b.bin_imm(Op::IcmpEq, s.step, 1);
        let none = cx.b.bin_imm(Op::IcmpEq, given, 0);
        // No bytes in place of every other one: those go.
        let extended = cx.not(by_one);
        let deletes = cx.and(extended, none);
        cx.if_else(
            deletes,
            |cx| {
                cx.helper(&list_delete, &[array, s.start, s.step, count]);
                Ok(vec![])
            },
            |cx| {
                let same = cx.b.bin(Op::IcmpEq, given, count);
                let fits = cx.or(by_one, same);
                let text = "attempt to assign bytes of size {} to extended slice of size {}";
                cx.check_format(fits, Class::ValueError, text, &[given, count]);
                cx.helper(&list_assign_slice, &[array, s.start, s.step, count, values]);
                Ok(vec![])
            },
        )?;
        Ok(())
    })?;
    Ok(vec![])
}

fn emit_delete(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = checked(cx, c, OUT_OF_RANGE);
    cx.helper(&list_close_gap, &[c.args[0][0], at]);
    Ok(vec![])
}

// ---- going through one

pub(crate) static WALK: Walk = Walk { start, step };

/// At the first byte, or behind the last; what else an iterator over a container has is not needed.
fn start(cx: &mut LowerCx<'_>, v: &[Value], _: Container, reversed: bool) -> Val {
    let zero = cx.b.i64(0);
    let at = if reversed { list::len(cx, v[0]) } else { zero };
    vec![v[0], at, zero, zero]
}

/// The length is looked at in each step, since it may change.
fn step(cx: &mut LowerCx<'_>, v: &[Value], _: Type, reversed: bool) -> Result<(Val, Value, Val)> {
    let [array, at, a, b] = *v else { return Err(Diagnostic::internal("an iterator over a bytearray")) };
    let n = list::len(cx, array);
    let here = if reversed { cx.b.bin_imm(Op::Isub, at, 1) } else { at };
    let has = cx.b.bin(Op::IcmpUlt, here, n);
    let value =
        cx.if_else(has, |cx| Ok(vec![byte_at(cx, array, here)]), |cx| Ok(absent(&mut cx.b, Type::int())))?;
    let next = if reversed { here } else { cx.b.bin_imm(Op::Iadd, at, 1) };
    Ok((vec![array, next, a, b], has, value))
}
