//! `collections.deque`: helpers that make, grow, change and compare deques, and the operations.
//!
//! A deque is a ring ([`crate::layout::Deque`]). Compiled code adds and takes elements at both ends and reads
//! them by itself ([`ring`]); helpers do what moves elements, allocates or compares, and they add one where
//! there is no place, or where another one has to go for it. What needs no more than other operations is
//! library code (`pybind/python/tierup/lib/deques.py`).

mod ring;
mod rules;
mod walk;

pub(crate) use walk::WALK;

use super::list::check_comparable;
use super::{Body, OpDef, iter, sequence};
use crate::desc::TypeDesc;
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::length::length;
use crate::exc::Class;
use crate::layout::Deque;
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::rt::{Ctx, P, RtFn};
use crate::types::{Kind, Type, promote};
use crate::typing::Answer;
use ring::{End, held_by};

super::identity::op_ids! {
    COLLECTIONS_DEQUE = "collections.deque" [makes_list, lists(Shallow)],
    DEQUE_APPEND = "deque.append" [lists(Shallow)],
    DEQUE_APPENDLEFT = "deque.appendleft" [lists(Shallow)],
    DEQUE_EXTEND = "deque.extend" [lists(Shallow)],
    DEQUE_EXTENDLEFT = "deque.extendleft" [lists(Shallow)],
    DEQUE_POP = "deque.pop" [lists(Shallow)],
    DEQUE_POPLEFT = "deque.popleft" [lists(Shallow)],
    DEQUE_INSERT = "deque.insert" [lists(Shallow)],
    DEQUE_ROTATE = "deque.rotate" [lists(Shallow)],
    DEQUE_REVERSE = "deque.reverse" [lists(Shallow)],
    DEQUE_CLEAR = "deque.clear" [lists(Shallow)],
    DEQUE_COPY = "deque.copy" [makes_list, lists(Shallow)],
    DEQUE_REMOVE = "deque.remove",
    DEQUE_INDEX = "deque.index",
    DEQUE_COUNT = "deque.count",
}

crate::runtime_fns! {
    /// Deque objects.
    trait Helpers;
    /// An empty deque of elements that `desc` describes, with a greatest length or -1.
    fn deque_new(desc: *const TypeDesc, maxlen: i64) -> *mut Deque [Allocates, Never];
    /// Adds the element at `value`, whose references move, at the end; where the deque is as long as it may
    /// be, the first one goes.
    fn deque_append(ctx: Ctx, d: *mut Deque, value: P) [Writes, Pending];
    /// The same the other way round.
    fn deque_append_left(ctx: Ctx, d: *mut Deque, value: P) [Writes, Pending];
    /// `d.extend(other)` with a deque of the same type, which may be the same one.
    fn deque_extend(ctx: Ctx, d: *mut Deque, other: *mut Deque) [Writes, Pending];
    /// `d.extendleft(other)` with a deque of the same type, which may be the same one.
    fn deque_extend_left(ctx: Ctx, d: *mut Deque, other: *mut Deque) [Writes, Pending];
    /// Makes a gap at Python index `i` (negative counts from the end; clamped) and answers the address of the
    /// new element, all zeros; IndexError where the deque is as long as it may be.
    fn deque_insert_gap(ctx: Ctx, d: *mut Deque, i: i64) -> P [Writes, Pending];
    /// Releases and removes the element at position `i`.
    fn deque_delete(d: *mut Deque, i: i64) [Writes, Never];
    /// `d.rotate(n)`.
    fn deque_rotate(d: *mut Deque, n: i64) [Writes, Never];
    /// `d.reverse()`.
    fn deque_reverse(d: *mut Deque) [Writes, Never];
    /// `d.clear()`.
    fn deque_clear(d: *mut Deque) [Writes, Never];
    /// `d.copy()`, with the same greatest length.
    fn deque_copy(ctx: Ctx, d: *mut Deque) -> *mut Deque [Allocates, Pending];
    /// `d *= n`.
    fn deque_repeat_in_place(ctx: Ctx, d: *mut Deque, n: i64) [Writes, Pending];
    /// `a == b`.
    fn deque_eq(a: *mut Deque, b: *mut Deque) -> i8 [Reads, Never];
    /// Order of `a` and `b`: -1, 0, 1, or 2 where NaN makes all comparisons but `!=` false.
    fn deque_compare(a: *mut Deque, b: *mut Deque) -> i64 [Reads, Never];
    /// Position of the first element that equals the one at `value`, from Python index `start` to before
    /// `stop`; -1 where there is none.
    fn deque_find(d: *mut Deque, value: P, start: i64, stop: i64) -> i64 [Reads, Never];
    /// How many elements equal the one at `value`.
    fn deque_count(d: *mut Deque, value: P) -> i64 [Reads, Never];
}

/// An order that helpers find out, by which of their answers mean that it holds.
macro_rules! ordered {
    ($path:literal, $accepted:expr, $doc:literal) => {
        OpDef::new(&[$path], "a, b", Body::Lir(rules::order, |cx, c| order(cx, c, $accepted)))
            .reads()
            .doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["collections.deque"], "iterable=..., maxlen=None", Body::Lir(rules::new, emit_new))
        .raises()
        .reads()
        .doc("A deque of an iterable's values, of the last `maxlen` of them; ValueError."),
    OpDef::new(
        &["deque.append"],
        "deque, x",
        Body::Lir(|cx, a| rules::put(cx, a, 1, "append"), |cx, c| emit_append(cx, c, End::Right)),
    )
    .raises()
    .writes()
    .doc("Adds an element at the end."),
    OpDef::new(
        &["deque.appendleft"],
        "deque, x",
        Body::Lir(|cx, a| rules::put(cx, a, 1, "appendleft"), |cx, c| emit_append(cx, c, End::Left)),
    )
    .raises()
    .writes()
    .doc("Adds an element at the beginning."),
    OpDef::new(
        &["deque.pop"],
        "deque",
        Body::Lir(|cx, a| rules::taken(cx, a, "pop"), |cx, c| emit_pop(cx, c, End::Right)),
    )
    .raises()
    .writes()
    .doc("Removes and returns the last element; IndexError."),
    OpDef::new(
        &["deque.popleft"],
        "deque",
        Body::Lir(|cx, a| rules::taken(cx, a, "popleft"), |cx, c| emit_pop(cx, c, End::Left)),
    )
    .raises()
    .writes()
    .doc("Removes and returns the first element; IndexError."),
    OpDef::new(
        &["deque.extend"],
        "deque, iterable",
        Body::Lir(
            |cx, a| rules::extend(cx, a, "extend").map(|()| Answer::of(Type::none())),
            |cx, c| emit_extend(cx, c, End::Right).map(|()| vec![]),
        ),
    )
    .raises()
    .writes()
    .doc("Adds the values of an iterable at the end."),
    OpDef::new(
        &["deque.extendleft"],
        "deque, iterable",
        Body::Lir(
            |cx, a| rules::extend(cx, a, "extendleft").map(|()| Answer::of(Type::none())),
            |cx, c| emit_extend(cx, c, End::Left).map(|()| vec![]),
        ),
    )
    .raises()
    .writes()
    .doc("Adds the values of an iterable at the beginning, the last one first."),
    // What parallel loops make of `append`.
    OpDef::new(&["list.extend"], "deque, values", Body::Lir(|_, a| rules::shared(a), |_, _| Ok(vec![])))
        .writes()
        .internal()
        .doc("Says that iterations of a parallel loop share no deque that they change."),
    OpDef::new(&["deque.insert"], "deque, i, x", Body::Lir(rules::insert, emit_insert))
        .raises()
        .writes()
        .doc("Inserts an element before position `i`; IndexError where the deque is full."),
    OpDef::new(
        &["deque.rotate"],
        "deque, n=1",
        Body::Lir(rules::rotate, |cx, c| {
            let n = cast::to_i64(cx, c.args[1][0], c.types[1]);
            cx.helper(&deque_rotate, &[c.args[0][0], n]);
            Ok(vec![])
        }),
    )
    .writes()
    .doc("Moves `n` elements from the end to the beginning, or the other way round."),
    OpDef::new(
        &["deque.reverse"],
        "deque",
        Body::Lir(|_, a| rules::nothing(a, "reverse"), |cx, c| unit(cx, c, &deque_reverse)),
    )
    .writes()
    .doc("Reverses in place."),
    OpDef::new(
        &["deque.clear"],
        "deque",
        Body::Lir(|_, a| rules::nothing(a, "clear"), |cx, c| unit(cx, c, &deque_clear)),
    )
    .writes()
    .doc("Removes all elements."),
    OpDef::new(&["deque.copy"], "deque", Body::Lir(|cx, a| rules::made_of(cx, a, "copy"), emit_copy))
        .raises()
        .reads()
        .doc("A shallow copy."),
    OpDef::new(&["deque.maxlen"], "deque", Body::Lir(rules::maxlen, emit_maxlen))
        .reads()
        .property()
        .doc("The greatest length, or None."),
    OpDef::new(
        &["deque.index"],
        "deque, x, start=0, stop=9223372036854775807",
        Body::Lir(rules::index, emit_index),
    )
    .raises()
    .reads()
    .doc("Position of the first element that equals `x`; ValueError."),
    // What run-time helpers cannot compare is compared in Python.
    OpDef::new(&["deque.index"], "deque, x, start=0, stop=9223372036854775807", Body::Py("deques.index"))
        .only_if(|a| rules::is_deque(a) && a[2..].iter().all(|a| a.ty.is_index()))
        .raises()
        .reads()
        .doc("Position of the first element that equals `x`; ValueError."),
    OpDef::new(
        &["deque.count"],
        "deque, x",
        Body::Lir(
            |cx, a| rules::search(cx, a, Type::int()),
            |cx, c| Ok(vec![searched(cx, c, &deque_count, &[])?]),
        ),
    )
    .reads()
    .doc("How many elements equal `x`."),
    OpDef::new(&["deque.count"], "deque, x", Body::Py("containers.count_of"))
        .only_if(rules::is_deque)
        .raises()
        .reads()
        .doc("How many elements equal `x`."),
    OpDef::new(
        &["deque.remove"],
        "deque, x",
        Body::Lir(|cx, a| rules::shown(cx, a, Type::none()), emit_remove),
    )
    .raises()
    .writes()
    .doc("Removes the first element that equals `x`; ValueError."),
    OpDef::new(&["deque.remove"], "deque, x", Body::Py("deques.remove"))
        .only_if(rules::is_deque)
        .raises()
        .writes()
        .doc("Removes the first element that equals `x`; ValueError."),
    OpDef::new(
        &["operator.contains"],
        "deque, x",
        Body::Lir(|cx, a| rules::search(cx, a, Type::bool()), emit_contains),
    )
    .reads()
    .doc("`x in deque`."),
    OpDef::new(&["operator.contains"], "deque, x", Body::Py("containers.list_contains"))
        .only_if(rules::is_deque)
        .raises()
        .reads()
        .doc("`x in deque`."),
    OpDef::new(&["operator.getitem"], "deque, i", Body::Lir(rules::item, emit_item))
        .raises()
        .reads()
        .doc("`deque[i]`; IndexError."),
    OpDef::new(&["operator.setitem"], "deque, i, x", Body::Lir(rules::set, emit_set))
        .raises()
        .writes()
        .doc("`deque[i] = x`; IndexError."),
    OpDef::new(&["operator.delitem"], "deque, i", Body::Lir(rules::delete, emit_delete))
        .raises()
        .writes()
        .doc("`del deque[i]`; IndexError."),
    OpDef::new(&["operator.add"], "a, b", Body::Lir(rules::concat, emit_concat))
        .raises()
        .reads()
        .doc("`a + b` of deques, as long as `a` may be."),
    OpDef::new(
        &["operator.iadd"],
        "deque, iterable",
        Body::Lir(
            |cx, a| rules::extend(cx, a, "+=").map(|()| Answer::of(a[0].ty)),
            |cx, c| {
                emit_extend(cx, c, End::Right)?;
                cx.retain(&c.args[0], c.types[0]);
                Ok(c.args[0].clone())
            },
        ),
    )
    .raises()
    .writes()
    .doc("`deque += iterable`."),
    OpDef::new(
        &["operator.mul"],
        "deque, n",
        Body::Lir(|cx, a| rules::repeat(cx, a, 0), |cx, c| emit_repeat(cx, c, 0)),
    )
    .raises()
    .reads()
    .doc("`deque * n`."),
    OpDef::new(
        &["operator.mul"],
        "n, deque",
        Body::Lir(|cx, a| rules::repeat(cx, a, 1), |cx, c| emit_repeat(cx, c, 1)),
    )
    .raises()
    .reads()
    .doc("`n * deque`."),
    OpDef::new(
        &["operator.imul"],
        "deque, n",
        Body::Lir(rules::repeat_in_place, |cx, c| {
            let n = cast::to_i64(cx, c.args[1][0], c.types[1]);
            cx.helper(&deque_repeat_in_place, &[c.args[0][0], n]);
            cx.retain(&c.args[0], c.types[0]);
            Ok(c.args[0].clone())
        }),
    )
    .raises()
    .writes()
    .doc("`deque *= n`."),
    OpDef::new(&["operator.eq"], "a, b", Body::Lir(rules::compare, |cx, c| Ok(vec![equal(cx, c)?])))
        .reads()
        .doc("`a == b` of deques."),
    OpDef::new(
        &["operator.ne"],
        "a, b",
        Body::Lir(rules::compare, |cx, c| {
            let same = equal(cx, c)?;
            Ok(vec![cx.not(same)])
        }),
    )
    .reads()
    .doc("`a != b` of deques."),
    ordered!("operator.lt", &[-1], "`a < b` of deques."),
    ordered!("operator.le", &[-1, 0], "`a <= b` of deques."),
    ordered!("operator.gt", &[1], "`a > b` of deques."),
    ordered!("operator.ge", &[1, 0], "`a >= b` of deques."),
    compared(&["operator.eq"], "containers.list_equal", "`a == b` of deques."),
    compared(&["operator.ne"], "containers.list_unequal", "`a != b` of deques."),
    compared(&["operator.lt"], "containers.list_less", "`a < b` of deques."),
    compared(&["operator.le"], "containers.list_less_equal", "`a <= b` of deques."),
    compared(&["operator.gt"], "containers.list_greater", "`a > b` of deques."),
    compared(&["operator.ge"], "containers.list_greater_equal", "`a >= b` of deques."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("deques.text"))
        .only_if(rules::is_deque)
        .raises()
        .reads()
        .doc("`repr` of a deque."),
];

/// A comparison of elements one by one, in Python.
const fn compared(path: &'static [&'static str], body: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(path, "a, b", Body::Py(body)).only_if(rules::are_deques).raises().reads().doc(doc)
}

/// The greatest length of a deque, or -1.
pub(super) fn limit(cx: &mut LowerCx<'_>, deque: Value) -> Value {
    cx.b.load(Ty::I64, deque, offset!(Deque.maxlen), Alias::Object)
}

/// A new empty deque with a greatest length, or -1.
fn make(cx: &mut LowerCx<'_>, t: Type, maxlen: Value) -> Result<Value> {
    let desc = crate::emit::constants::descriptor(&mut cx.b, held_by(t)?);
    Ok(cx.helper_value(&deque_new, &[desc, maxlen]))
}

fn unit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, helper: &'static RtFn) -> Result<Val> {
    cx.helper(helper, &[c.args[0][0]]);
    Ok(vec![])
}

/// A value converted to the type of the elements, with references of its own.
fn owned(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Val> {
    let e = held_by(c.types[0])?;
    cast::kept(cx, &c.args[k], c.types[k], e)
}

// ---- emitters

fn emit_new(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let none = cx.b.i64(-1);
    let checked = |cx: &mut LowerCx<'_>, v: Value, t: Type| {
        let n = cast::to_i64(cx, v, t);
        let ok = cx.b.bin_imm(Op::IcmpSge, n, 0);
        cx.check(ok, Class::ValueError, "maxlen must be non-negative");
        n
    };
    let maxlen = if *c.types[1] == Kind::None {
        none
    } else if let Kind::Optional(t) = *c.types[1] {
        cx.if_else(c.args[1][0], |cx| Ok(vec![checked(cx, c.args[1][1], t)]), |_| Ok(vec![none]))?[0]
    } else {
        checked(cx, c.args[1][0], c.types[1])
    };
    let deque = make(cx, c.ret, maxlen)?;
    if *c.types[0] == Kind::Ellipsis {
        return Ok(vec![deque]);
    }
    cx.guarded(&[deque], |cx| {
        put_all(cx, (deque, c.ret), (&c.args[0], c.types[0]), End::Right)?;
        Ok(vec![deque])
    })
}

fn emit_append(cx: &mut LowerCx<'_>, c: &OpCall<'_>, end: End) -> Result<Val> {
    let x = owned(cx, c, 1)?;
    ring::push(cx, c.args[0][0], held_by(c.types[0])?, &x, end);
    Ok(vec![])
}

fn emit_pop(cx: &mut LowerCx<'_>, c: &OpCall<'_>, end: End) -> Result<Val> {
    Ok(ring::pop(cx, c.args[0][0], held_by(c.types[0])?, end))
}

/// Adds all values of an iterable.
fn put_all(
    cx: &mut LowerCx<'_>,
    (deque, t): (Value, Type),
    (other, from): (&[Value], Type),
    end: End,
) -> Result<()> {
    let e = held_by(t)?;
    if promote::same_but_weak(from, t) {
        let helper = if end == End::Left { &deque_extend_left } else { &deque_extend };
        cx.helper(helper, &[deque, other[0]]);
    } else if let Some(x) = sequence::element_type(from) {
        let n = length(cx, other, from)?;
        cx.for_range(n, &[], |cx, i, _| {
            let v = sequence::element(cx, other, from, i)?;
            let v = cast::joined(cx, &v, x, e, true)?;
            ring::push(cx, deque, e, &v, end);
            Ok(vec![])
        })?;
    } else {
        iter::for_each(cx, other, from, |cx, v, x| {
            // What gives no values has none to be added.
            if *x != Kind::Never {
                let v = cast::joined(cx, &v, x, e, true)?;
                ring::push(cx, deque, e, &v, end);
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn emit_extend(cx: &mut LowerCx<'_>, c: &OpCall<'_>, end: End) -> Result<()> {
    let deque = c.args[0][0];
    let before = cx.b.load(Ty::I64, deque, offset!(Deque.changes), Alias::Object);
    put_all(cx, (deque, c.types[0]), (&c.args[1], c.types[1]), end)?;
    // Of a deque that never has an element Python only uses the values up, which is no change.
    let maxlen = limit(cx, deque);
    let never = cx.b.bin_imm(Op::IcmpEq, maxlen, 0);
    let after = cx.b.load(Ty::I64, deque, offset!(Deque.changes), Alias::Object);
    let changes = cx.b.select(never, before, after);
    cx.b.store(changes, deque, offset!(Deque.changes), Alias::Object);
    Ok(())
}

fn emit_insert(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let e = held_by(c.types[0])?;
    let i = cast::to_i64(cx, c.args[1][0], c.types[1]);
    let x = cast::joined(cx, &c.args[2], c.types[2], e, false)?;
    let p = cx.helper_value(&deque_insert_gap, &[c.args[0][0], i]);
    cx.retain(&x, e);
    ring::store(cx, p, e, &x, Alias::Object);
    Ok(vec![])
}

/// A deque of type `c.ret` with the elements of operand `k`, and its greatest length.
fn copied(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Value> {
    let from = c.args[k][0];
    if promote::same_but_weak(c.types[k], c.ret) {
        return Ok(cx.helper_value(&deque_copy, &[from]));
    }
    let maxlen = limit(cx, from);
    let new = make(cx, c.ret, maxlen)?;
    cx.guarded(&[new], |cx| put_all(cx, (new, c.ret), (&c.args[k], c.types[k]), End::Right))?;
    Ok(new)
}

fn emit_copy(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    Ok(vec![copied(cx, c, 0)?])
}

fn emit_concat(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let new = copied(cx, c, 0)?;
    cx.guarded(&[new], |cx| put_all(cx, (new, c.ret), (&c.args[1], c.types[1]), End::Right))?;
    Ok(vec![new])
}

fn emit_repeat(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Val> {
    let n = cast::to_i64(cx, c.args[1 - k][0], c.types[1 - k]);
    let new = copied(cx, c, k)?;
    cx.guarded(&[new], |cx| {
        cx.helper(&deque_repeat_in_place, &[new, n]);
        Ok(vec![new])
    })
}

fn emit_maxlen(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let maxlen = limit(cx, c.args[0][0]);
    let some = cx.b.bin_imm(Op::IcmpSge, maxlen, 0);
    let zero = cx.b.i64(0);
    Ok(vec![some, cx.b.bin(Op::Smax, maxlen, zero)])
}

/// A search helper called with the address of a copy of the value.
fn searched(cx: &mut LowerCx<'_>, c: &OpCall<'_>, helper: &'static RtFn, rest: &[Value]) -> Result<Value> {
    let e = held_by(c.types[0])?;
    check_comparable(e)?;
    // Nothing is equal to an element of a deque that stays empty.
    let x = if *e == Kind::Never { vec![] } else { cast::cast(cx, &c.args[1], c.types[1], e)? };
    let at = ring::spilled(cx, e, &x);
    Ok(cx.helper_value(helper, &[&[c.args[0][0], at], rest].concat()))
}

/// Searches all of it.
fn found(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<(Value, Value)> {
    let (zero, end) = (cx.b.i64(0), cx.b.i64(i64::MAX));
    let at = searched(cx, c, &deque_find, &[zero, end])?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    Ok((at, found))
}

fn emit_contains(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    Ok(vec![found(cx, c)?.1])
}

fn emit_remove(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (at, found) = found(cx, c)?;
    check_found(cx, c, found, "deque.remove(x): x not in deque");
    cx.helper(&deque_delete, &[c.args[0][0], at]);
    Ok(vec![])
}

fn emit_index(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let [start, stop] = [2, 3].map(|k| cast::to_i64(cx, c.args[k][0], c.types[k]));
    let at = searched(cx, c, &deque_find, &[start, stop])?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    check_found(cx, c, found, "deque.index(x): x not in deque");
    Ok(vec![at])
}

/// ValueError where the second operand, an integer of Python's, was not found. Up to Python 3.13 it is in the
/// message.
fn check_found(cx: &mut LowerCx<'_>, c: &OpCall<'_>, found: Value, since_14: &str) {
    if crate::python::since(14) {
        cx.check(found, Class::ValueError, since_14);
    } else {
        let x = cast::to_i64(cx, c.args[1][0], c.types[1]);
        cx.check_format(found, Class::ValueError, "{} is not in deque", &[x]);
    }
}

/// The position that the second operand says.
fn checked(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Value {
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let n = ring::len(cx, c.args[0][0]);
    // The memory of a deque can be outside what an unchecked index reaches, so this check always stays.
    let at = cx.wrap_index(i, n);
    let ok = cx.b.bin(Op::IcmpUlt, at, n);
    cx.check(ok, Class::IndexError, "deque index out of range");
    at
}

fn emit_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = checked(cx, c);
    Ok(ring::element(cx, c.args[0][0], c.ret, at))
}

fn emit_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let e = held_by(c.types[0])?;
    let at = checked(cx, c);
    let x = owned(cx, c, 2)?;
    let p = ring::address(cx, c.args[0][0], e, at);
    let old = if e.is_counted() { ring::load(cx, p, e) } else { vec![] };
    ring::store(cx, p, e, &x, Alias::Object);
    if e.is_counted() {
        cx.release(&old, e);
    }
    Ok(vec![])
}

fn emit_delete(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = checked(cx, c);
    cx.helper(&deque_delete, &[c.args[0][0], at]);
    Ok(vec![])
}

fn equal(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Value> {
    check_comparable(held_by(c.types[0])?)?;
    Ok(cx.helper_value(&deque_eq, &[c.args[0][0], c.args[1][0]]))
}

/// Whether the order of two deques is among `accepted` (see [`deque_compare`]).
fn order(cx: &mut LowerCx<'_>, c: &OpCall<'_>, accepted: &[i64]) -> Result<Val> {
    check_comparable(held_by(c.types[0])?)?;
    let o = cx.helper_value(&deque_compare, &[c.args[0][0], c.args[1][0]]);
    let mut any = cx.b.bool(false);
    for a in accepted {
        let hit = cx.b.bin_imm(Op::IcmpEq, o, *a);
        any = cx.or(any, hit);
    }
    Ok(vec![any])
}
