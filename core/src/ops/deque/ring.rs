//! Elements of deques in memory, as compiled code reads, adds and takes them.

use super::{deque_append, deque_append_left};
use crate::desc;
use crate::diag::{Diagnostic, Result};
use crate::emit::cx::{LowerCx, Val};
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::types::Type;

/// Where an element is added or taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Left,
    Right,
}

/// The type of the elements.
pub(super) fn held_by(t: Type) -> Result<Type> {
    match t.container() {
        Some((_, [e])) => Ok(*e),
        _ => Err(Diagnostic::internal(format!("{t} is no deque"))),
    }
}

pub(super) fn len(cx: &mut LowerCx<'_>, deque: Value) -> Value {
    cx.b.load(Ty::I64, deque, offset!(Deque.len), Alias::Length)
}

fn start(cx: &mut LowerCx<'_>, deque: Value) -> Value {
    cx.b.load(Ty::I64, deque, offset!(Deque.start), Alias::Object)
}

/// Where the element with that number lies (see [`crate::layout::Deque`]).
fn place(cx: &mut LowerCx<'_>, deque: Value, elem: Type, number: Value) -> Value {
    let data = cx.b.load(Ty::Ptr, deque, offset!(Deque.data), Alias::Object);
    let mask = cx.b.load(Ty::I64, deque, offset!(Deque.mask), Alias::Object);
    let place = cx.b.bin(Op::Band, number, mask);
    let off = cx.b.bin_imm(Op::Imul, place, desc::of(elem).size);
    cx.b.ptr_add(data, off)
}

/// Where the element lies at a position that is known to be one.
pub(super) fn address(cx: &mut LowerCx<'_>, deque: Value, elem: Type, at: Value) -> Value {
    let first = start(cx, deque);
    let number = cx.b.bin(Op::Iadd, first, at);
    place(cx, deque, elem, number)
}

pub(super) fn load(cx: &mut LowerCx<'_>, p: Value, elem: Type) -> Val {
    let leaves = &desc::of(elem).leaves;
    leaves.iter().map(|l| cx.b.load(l.ty, p, l.offset as i32, Alias::Object)).collect()
}

pub(super) fn store(cx: &mut LowerCx<'_>, p: Value, elem: Type, val: &[Value], alias: Alias) {
    for (v, l) in val.iter().zip(desc::of(elem).leaves.iter()) {
        cx.b.store(*v, p, l.offset as i32, alias);
    }
}

/// The address of a copy of a value, for helpers.
pub(super) fn spilled(cx: &mut LowerCx<'_>, elem: Type, val: &[Value]) -> Value {
    let at = cx.b.slot_addr(desc::of(elem).size.max(8) as u32);
    store(cx, at, elem, val, Alias::Stack);
    at
}

/// The element at a position that is known to be one, with references of its own.
pub(super) fn element(cx: &mut LowerCx<'_>, deque: Value, elem: Type, at: Value) -> Val {
    let p = address(cx, deque, elem, at);
    let val = load(cx, p, elem);
    cx.retain(&val, elem);
    val
}

/// Says that the deque has another length, which iterators notice.
fn resized(cx: &mut LowerCx<'_>, deque: Value, len: Value) {
    cx.b.store(len, deque, offset!(Deque.len), Alias::Length);
    let changes = cx.b.load(Ty::I64, deque, offset!(Deque.changes), Alias::Object);
    let more = cx.b.bin_imm(Op::Iadd, changes, 1);
    cx.b.store(more, deque, offset!(Deque.changes), Alias::Object);
}

/// Adds a value, whose references move into the deque.
pub(super) fn push(cx: &mut LowerCx<'_>, deque: Value, elem: Type, val: &[Value], end: End) {
    let n = len(cx, deque);
    let room = cx.b.load(Ty::I64, deque, offset!(Deque.room), Alias::Object);
    let full = cx.b.bin(Op::IcmpSge, n, room);
    let (slow, fast, done) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[]), cx.b.new_block(&[]));
    cx.b.brif(full, slow, &[], fast, &[]);
    cx.b.switch_to(slow);
    let at = spilled(cx, elem, val);
    cx.helper(if end == End::Left { &deque_append_left } else { &deque_append }, &[deque, at]);
    cx.b.jump(done, &[]);
    cx.b.switch_to(fast);
    let first = start(cx, deque);
    let number = match end {
        End::Left => cx.b.bin_imm(Op::Isub, first, 1),
        End::Right => cx.b.bin(Op::Iadd, first, n),
    };
    let p = place(cx, deque, elem, number);
    store(cx, p, elem, val, Alias::Object);
    if end == End::Left {
        cx.b.store(number, deque, offset!(Deque.start), Alias::Object);
    }
    let more = cx.b.bin_imm(Op::Iadd, n, 1);
    resized(cx, deque, more);
    cx.b.jump(done, &[]);
    cx.b.switch_to(done);
}

/// Takes an element out, whose references move out with it; IndexError where there is none.
pub(super) fn pop(cx: &mut LowerCx<'_>, deque: Value, elem: Type, end: End) -> Val {
    let n = len(cx, deque);
    let some = cx.b.bin_imm(Op::IcmpNe, n, 0);
    cx.check(some, Class::IndexError, "pop from an empty deque");
    let first = start(cx, deque);
    let fewer = cx.b.bin_imm(Op::Isub, n, 1);
    let number = match end {
        End::Left => first,
        End::Right => cx.b.bin(Op::Iadd, first, fewer),
    };
    let p = place(cx, deque, elem, number);
    let val = load(cx, p, elem);
    if end == End::Left {
        let next = cx.b.bin_imm(Op::Iadd, first, 1);
        cx.b.store(next, deque, offset!(Deque.start), Alias::Object);
    }
    resized(cx, deque, fewer);
    val
}
