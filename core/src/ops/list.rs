//! Lists: helpers that make, grow, change, compare and sort them.
//!
//! A list knows what its elements are ([`crate::desc`]). Compiled code knows it too and reads and writes
//! elements itself; it calls helpers for everything that changes the length, allocates or compares.

use super::{Body, OpDef};
use crate::desc::{self, TypeDesc};
use crate::diag::{Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::slice::{Adjusted, adjust_slice};
use crate::emit::truth::truth;
use crate::emit::{cast, constants};
use crate::exc::Class;
use crate::layout::List;
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::rt::{Ctx, P};
use crate::types::{Container, Kind, Type, promote};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    LIST_BUILD = "list.build" [makes_list, lists(Keeps), keywords(Takes)],
    LIST_APPEND = "list.append" [keeps, lists(Shallow), keywords(Takes)],
    LIST_INSERT = "list.insert" [keeps, lists(Shallow)],
    LIST_POP = "list.pop" [lists(Shallow)],
    LIST_CLEAR = "list.clear" [lists(Shallow)],
    LIST_REVERSE = "list.reverse" [lists(Shallow)],
    LIST_COPY = "list.copy" [makes_list, lists(Shallow)],
    LIST_REMOVE = "list.remove",
    LIST_INDEX = "list.index",
    LIST_COUNT = "list.count",
    LIST_SORT = "list.sort",
    LIST_SORT_BY_KEYS = "list.sort_by_keys",
    DELITEM = "operator.delitem" [lists(Shallow)],
    IMUL = "operator.imul" [computes, lists(Shallow)],
    CELL_NEW = "cell.new" [makes_list, lists(Keeps), keywords(Takes)],
    CELL_GET = "cell.get" [lists(Shallow)],
    CELL_DELETE = "cell.delete" [lists(Shallow)],
    CELL_SET = "cell.set" [lists(Shallow), keywords(Takes)],
}

crate::runtime_fns! {
    /// List objects.
    trait Helpers;
    /// An empty list with room for `cap` elements of the type that `desc` describes.
    fn list_new(ctx: Ctx, desc: *const TypeDesc, cap: i64) -> *mut List [Allocates, Pending];
    /// Makes room for `extra` more elements; `append` calls it with 1 when `len == cap`, then stores and
    /// increments `len` itself.
    fn list_reserve(ctx: Ctx, l: *mut List, extra: i64) [Writes, Pending];
    /// Makes a gap at Python index `i` (negative counts from the end; clamped) and answers the address of the
    /// new, uninitialised element.
    fn list_insert_gap(ctx: Ctx, l: *mut List, i: i64) -> P [Writes, Pending];
    /// The position of Python index `i` for `pop`; IndexError "pop from empty list" or "pop index out of
    /// range".
    fn list_pop_index(ctx: Ctx, l: *mut List, i: i64) -> i64 [Reads, Pending];
    /// Closes the gap of the element at position `i`, which was moved out: nothing is released.
    fn list_close_gap(ctx: Ctx, l: *mut List, i: i64) [Writes, Pending];
    /// `del l[...]`: releases and removes `count` elements from `start` in steps of `step`, as an adjusted
    /// slice gives them.
    fn list_delete(ctx: Ctx, l: *mut List, start: i64, step: i64, count: i64) [Writes, Pending];
    /// `l[...]`: a new list of `count` elements from `start` in steps of `step`.
    fn list_slice(ctx: Ctx, l: *mut List, start: i64, step: i64, count: i64) -> *mut List [Allocates, Pending];
    /// `l[...] = other` for an adjusted slice; ValueError where an extended slice has another size.
    fn list_assign_slice(ctx: Ctx, l: *mut List, start: i64, step: i64, count: i64, other: *mut List) [Writes, Pending];
    /// `l.extend(other)`; they may be the same list.
    fn list_extend(ctx: Ctx, l: *mut List, other: *mut List) [Writes, Pending];
    /// `l.clear()`.
    fn list_clear(ctx: Ctx, l: *mut List) [Writes, Pending];
    /// `l.reverse()`.
    fn list_reverse(l: *mut List) [Writes, Never];
    /// `a + b`.
    fn list_concat(ctx: Ctx, a: *mut List, b: *mut List) -> *mut List [Allocates, Pending];
    /// `l * n`.
    fn list_repeat(ctx: Ctx, l: *mut List, n: i64) -> *mut List [Allocates, Pending];
    /// `l *= n`.
    fn list_repeat_in_place(ctx: Ctx, l: *mut List, n: i64) [Writes, Pending];
    /// `a == b`.
    fn list_eq(a: *mut List, b: *mut List) -> i8 [Reads, Never];
    /// Order of `a` and `b`: -1, 0, 1, or 2 where NaN makes all comparisons but `!=` false.
    fn list_compare(a: *mut List, b: *mut List) -> i64 [Reads, Never];
    /// Position of the first element that equals the one at `value`, from Python index `start` to before
    /// `stop`; -1 when there is none.
    fn list_find(l: *mut List, value: P, start: i64, stop: i64) -> i64 [Reads, Never];
    /// How many elements equal the one at `value`.
    fn list_count(l: *mut List, value: P) -> i64 [Reads, Never];
    /// `l.sort(reverse=...)`: stable, with CPython's answer for NaN; ValueError when the list is in use.
    fn list_sort(ctx: Ctx, l: *mut List, reverse: i8) [Writes, Pending];
    /// `l.sort(key=...)`: sorts `l` by the list of its keys, which is sorted along.
    fn list_sort_by_keys(ctx: Ctx, l: *mut List, keys: *mut List, reverse: i8) [Writes, Pending];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["list.build"], "*items", Body::Lir(build_rule, emit_build)).raises().reads().internal().doc("`[a, b, c]`."),
    OpDef::new(&["list.append"], "list, x", Body::Lir(append_rule, emit_append)).raises().writes().doc("Adds an element at the end."),
    OpDef::new(&["list.insert"], "list, i, x", Body::Lir(insert_rule, emit_insert)).raises().writes().doc("Inserts an element before position `i`."),
    OpDef::new(&["list.pop"], "list, i=-1", Body::Lir(|cx, a| { let e = list_elem(cx, a, "pop")?; if a[1].ty.is_index() { Ok(Answer::of(e)) } else { Err(no_match("list.pop()", a)) } }, emit_pop)).raises().writes().doc("Removes and returns an element."),
    OpDef::new(&["list.clear"], "list", Body::Lir(|cx, a| list_elem(cx, a, "clear").map(|_| Answer::of(Type::none())), |cx, c| unit(cx, &list_clear, c))).raises().writes().doc("Removes all elements."),
    OpDef::new(&["list.reverse"], "list", Body::Lir(|cx, a| list_elem(cx, a, "reverse").map(|_| Answer::of(Type::none())), |cx, c| unit(cx, &list_reverse, c))).writes().doc("Reverses in place."),
    OpDef::new(&["list.copy"], "list", Body::Lir(|cx, a| { list_elem(cx, a, "copy")?; made_of(cx, a[0].ty) }, emit_copy)).raises().reads().doc("A shallow copy."),
    OpDef::new(&["list.remove"], "list, x", Body::Lir(|cx, a| search(cx, a, Type::none()), emit_remove)).raises().writes().doc("Removes the first element that equals `x`; ValueError."),
    OpDef::new(&["list.index"], "list, x, start=0, stop=9223372036854775807", Body::Lir(index_rule, emit_index)).raises().reads().doc("Position of the first element that equals `x`; ValueError."),
    // What run-time helpers cannot compare (lists of lists, optional values, elements and values of different
    // types) is compared in Python.
    OpDef::new(&["list.index"], "list, x, start=0, stop=9223372036854775807", Body::Py("containers.list_index")).only_if(|a| is_list(a) && a[2..].iter().all(|a| a.ty.is_index())).raises().reads().doc("Position of the first element that equals `x`; ValueError."),
    OpDef::new(&["list.index"], "list, x, start=0, stop=9223372036854775807", Body::Lir(
        |cx, a| list_elem(cx, a, "index").map(|_| Answer::of(Type::never())),
        |cx, _| { cx.raise_and_continue(Class::TypeError, "slice indices must be integers or have an __index__ method"); Ok(vec![]) },
    )).only_if(|a| !a[2..].iter().all(|a| a.ty.is_index())).raises().internal().doc("TypeError where `start` or `stop` is no integer."),
    OpDef::new(&["list.count"], "list, x", Body::Lir(|cx, a| search(cx, a, Type::int()), |cx, c| { let v = searched(cx, c, &list_count, &[])?; Ok(vec![v]) })).reads().doc("How many elements equal `x`."),
    OpDef::new(&["operator.contains"], "list, x", Body::Lir(|cx, a| search(cx, a, Type::bool()), |cx, c| {
        let (zero, end) = (cx.b.i64(0), cx.b.i64(i64::MAX));
        let at = searched(cx, c, &list_find, &[zero, end])?;
        Ok(vec![cx.b.bin_imm(Op::IcmpSge, at, 0)])
    })).reads().doc("`x in list`."),
    OpDef::new(&["list.sort"], "list, *, key=None, reverse=False", Body::Lir(sort_rule, emit_sort)).raises().writes().doc("Sorts in place; stable."),
    OpDef::new(&["list.sort"], "list, *, key=None, reverse=False", Body::Py("builtin.list_sort_key")).only_if(|a| matches!(*a[1].ty, Kind::Function(_) | Kind::Builtin(_) | Kind::Method(..)) && a[2].ty.is_flag()).raises().writes().doc("Sorts in place by a key function."),
    OpDef::new(&["list.sort_by_keys"], "list, keys, reverse", Body::Lir(
        |cx, a| { sortable(cx, &a[1..])?; list_elem(cx, a, "sort").map(|_| Answer::of(Type::none())) },
        |cx, c| {
            check_comparable(list_of(c.types[1])?)?;
            let reverse = truth(cx, &c.args[2], c.types[2])?;
            cx.helper(&list_sort_by_keys, &[c.args[0][0], c.args[1][0], reverse]);
            Ok(vec![])
        },
    )).raises().writes().internal().doc("Sorts a list by the list of its keys (library use)."),
    OpDef::new(&["list.remove"], "list, x", Body::Py("containers.list_remove")).only_if(is_list).raises().writes().doc("Removes the first element that equals `x`; ValueError."),
    OpDef::new(&["list.count"], "list, x", Body::Py("containers.count_of")).only_if(is_list).raises().reads().doc("How many elements equal `x`."),
    OpDef::new(&["operator.contains"], "list, x", Body::Py("containers.list_contains")).only_if(is_list).raises().reads().doc("`x in list`."),
    OpDef::new(&["list.sort"], "list, *, key=None, reverse=False", Body::Py("builtin.list_sort")).only_if(|a| is_list(a) && a[1].is_none() && a[2].ty.is_flag()).raises().writes().doc("Sorts in place; stable."),
    OpDef::new(&["list.sort_by_keys"], "list, keys, reverse", Body::Py("builtin.list_sort_by_keys")).only_if(are_lists).raises().writes().internal().doc("Sorts a list by the list of its keys (library use)."),
    OpDef::new(&["operator.getitem"], "list, i", Body::Lir(item_rule, emit_item)).raises().reads().doc("`list[i]`; IndexError."),
    OpDef::new(&["operator.getitem"], "list, s", Body::Lir(slice_rule, |cx, c| sliced(cx, c, |cx, l, s| {
        let part = cx.helper_value(&list_slice, &[l, s.start, s.step, s.count]);
        retyped(cx, part, c.types[0], c.ret)
    }))).raises().reads().doc("`list[a:b:c]`."),
    OpDef::new(&["operator.setitem"], "list, i, x", Body::Lir(set_rule, emit_set)).raises().writes().doc("`list[i] = x`; IndexError."),
    OpDef::new(&["operator.setitem"], "list, s, other", Body::Lir(set_slice_rule, |cx, c| {
        let other = c.args[2][0];
        sliced(cx, c, |cx, l, s| { cx.helper(&list_assign_slice, &[l, s.start, s.step, s.count, other]); Ok(vec![]) })
    })).raises().writes().doc("`list[a:b] = other`."),
    OpDef::new(&["operator.setitem"], "list, s, other", Body::Py("builtin.list_set_slice")).only_if(|a| is_list(a) && matches!(*a[1].ty, Kind::Slice(_)) && !is_list(&a[2..])).raises().writes()
        .doc("`list[a:b] = other` for a tuple, a range or an iterator."),
    OpDef::new(&["operator.delitem"], "list, i", Body::Lir(|cx, a| { list_elem(cx, a, "del")?; index_only(a) }, emit_delete)).raises().writes().doc("`del list[i]`."),
    OpDef::new(&["operator.delitem"], "list, s", Body::Lir(|cx, a| slice_only(cx, a).map(|()| Answer::of(Type::none())), |cx, c| {
        sliced(cx, c, |cx, l, s| { cx.helper(&list_delete, &[l, s.start, s.step, s.count]); Ok(vec![]) })
    })).raises().writes().doc("`del list[a:b]`."),
    OpDef::new(&["operator.add"], "a, b", Body::Lir(same_lists_rule, emit_concat)).raises().reads().doc("Concatenation of lists."),
    OpDef::new(&["operator.mul"], "list, n", Body::Lir(|cx, a| repeat_rule(cx, a, 0), |cx, c| {
        let n = cast::to_i64(cx, c.args[1][0], c.types[1]);
        repeated(cx, (c.args[0][0], c.types[0]), n, c.ret)
    })).raises().reads().doc("`list * n`."),
    OpDef::new(&["operator.mul"], "n, list", Body::Lir(|cx, a| repeat_rule(cx, a, 1), |cx, c| {
        let n = cast::to_i64(cx, c.args[0][0], c.types[0]);
        repeated(cx, (c.args[1][0], c.types[1]), n, c.ret)
    })).raises().reads().doc("`n * list`."),
    OpDef::new(&["operator.imul"], "list, n", Body::Lir(|cx, a| { list_elem(cx, a, "*=")?; if a[1].ty.is_index() { Ok(Answer::of(a[0].ty)) } else { Err(no_match("*=", a)) } }, |cx, c| {
        let n = cast::to_i64(cx, c.args[1][0], c.types[1]);
        cx.helper(&list_repeat_in_place, &[c.args[0][0], n]);
        cx.retain(&c.args[0], c.types[0]);
        Ok(c.args[0].clone())
    })).raises().writes().doc("`list *= n`."),
    OpDef::new(&["operator.eq"], "a, b", Body::Lir(compare_rule, |cx, c| Ok(vec![equal(cx, c.args[0][0], c.args[1][0], c.types[0])?]))).reads().doc("`a == b` of lists."),
    OpDef::new(&["operator.ne"], "a, b", Body::Lir(compare_rule, |cx, c| { let v = equal(cx, c.args[0][0], c.args[1][0], c.types[0])?; Ok(vec![cx.not(v)]) })).reads().doc("`a != b` of lists."),
    OpDef::new(&["operator.lt"], "a, b", Body::Lir(order_rule, |cx, c| ordered(cx, c, &[-1]))).reads().doc("`a < b` of lists."),
    OpDef::new(&["operator.le"], "a, b", Body::Lir(order_rule, |cx, c| ordered(cx, c, &[-1, 0]))).reads().doc("`a <= b` of lists."),
    OpDef::new(&["operator.gt"], "a, b", Body::Lir(order_rule, |cx, c| ordered(cx, c, &[1]))).reads().doc("`a > b` of lists."),
    OpDef::new(&["operator.ge"], "a, b", Body::Lir(order_rule, |cx, c| ordered(cx, c, &[1, 0]))).reads().doc("`a >= b` of lists."),
    OpDef::new(&["operator.eq"], "a, b", Body::Py("containers.list_equal")).only_if(are_lists).raises().reads().doc("`a == b` of lists."),
    OpDef::new(&["operator.ne"], "a, b", Body::Py("containers.list_unequal")).only_if(are_lists).raises().reads().doc("`a != b` of lists."),
    OpDef::new(&["operator.lt"], "a, b", Body::Py("containers.list_less")).only_if(are_lists).raises().reads().doc("`a < b` of lists."),
    OpDef::new(&["operator.le"], "a, b", Body::Py("containers.list_less_equal")).only_if(are_lists).raises().reads().doc("`a <= b` of lists."),
    OpDef::new(&["operator.gt"], "a, b", Body::Py("containers.list_greater")).only_if(are_lists).raises().reads().doc("`a > b` of lists."),
    OpDef::new(&["operator.ge"], "a, b", Body::Py("containers.list_greater_equal")).only_if(are_lists).raises().reads().doc("`a >= b` of lists."),
    // Captured variables that are rebound live in lists of one element.
    OpDef::new(&["cell.new"], "*init", Body::Lir(build_rule, emit_build)).raises().reads().doc("A cell for a captured variable."),
    OpDef::new(&["cell.get"], "cell, name=None, own=False", Body::Lir(|cx, a| list_elem(cx, a, "cell").map(Answer::of), emit_cell_get)).raises().reads().doc("The captured variable's value; NameError, or UnboundLocalError in the function whose variable it is."),
    OpDef::new(&["cell.delete"], "cell, name=None, own=False", Body::Lir(|cx, a| list_elem(cx, a, "cell").map(|_| Answer::of(Type::none())), emit_cell_delete)).raises().writes().doc("Unbinds a captured variable; raises as `cell.get`."),
    OpDef::new(&["cell.set"], "cell, x", Body::Lir(append_rule, emit_cell_set)).raises().writes().doc("Binds a captured variable."),
];

pub(super) fn list_of(t: Type) -> Result<Type> {
    if let Kind::List(e) = *t { Ok(e) } else { Err(Diagnostic::internal(format!("{t} is no list"))) }
}

/// Element type of the first operand, which must be a list.
pub(super) fn list_elem(cx: &mut TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<Type> {
    cx.elem(args[0].ty).ok_or_else(|| no_match(what, args))
}

fn build_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let list = cx.new_list(Type::never())?;
    for a in args {
        cx.push_elem(list, a.ty)?;
    }
    Ok(Answer::of(list))
}

fn append_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    list_elem(cx, args, "append")?;
    cx.push_elem(args[0].ty, args[1].ty)?;
    Ok(Answer::of(Type::none()))
}

fn insert_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    list_elem(cx, args, "insert")?;
    if !args[1].ty.is_index() {
        return Err(no_match("insert", args));
    }
    cx.push_elem(args[0].ty, args[2].ty)?;
    Ok(Answer::of(Type::none()))
}

fn item_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let e = list_elem(cx, args, "[]")?;
    if args[1].ty.is_index() { Ok(Answer::of(e)) } else { Err(no_match("[]", args)) }
}

fn index_only(args: &[Arg]) -> Result<Answer> {
    if args[1].ty.is_index() { Ok(Answer::of(Type::none())) } else { Err(no_match("[]", args)) }
}

fn slice_only(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<()> {
    list_elem(cx, args, "[]")?;
    if matches!(*args[1].ty, Kind::Slice(_)) { Ok(()) } else { Err(no_match("[]", args)) }
}

fn slice_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    slice_only(cx, args)?;
    made_of(cx, args[0].ty)
}

/// A list with the elements of another: it may come to hold more than that one.
fn made_of(cx: &mut TyCx<'_, '_>, list: Type) -> Result<Answer> {
    let e = cx.elem(list).ok_or_else(|| Diagnostic::internal(format!("{list} is no list")))?;
    cx.new_list(e).map(Answer::of)
}

fn repeat_rule(cx: &mut TyCx<'_, '_>, args: &[Arg], list: usize) -> Result<Answer> {
    list_elem(cx, &args[list..], "*")?;
    if !args[1 - list].ty.is_index() || args[1 - list].ty == Type::big_int() {
        return Err(no_match("*", args));
    }
    made_of(cx, args[list].ty)
}

/// The elements of a list over and over. What has to be converted is converted once: `[0] * n`, into which
/// floats are put.
fn repeated(cx: &mut LowerCx<'_>, (list, from): (Value, Type), n: Value, to: Type) -> Result<Val> {
    if promote::same_but_weak(from, to) {
        return Ok(vec![cx.helper_value(&list_repeat, &[list, n])]);
    }
    let once = converted(cx, (list, from), to)?;
    cx.guarded(&[once], |cx| {
        let all = cx.helper_value(&list_repeat, &[once, n]);
        cx.release(&[once], to);
        Ok(vec![all])
    })
}

fn set_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    list_elem(cx, args, "[] =")?;
    index_only(args)?;
    cx.push_elem(args[0].ty, args[2].ty)?;
    Ok(Answer::of(Type::none()))
}

fn set_slice_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    slice_only(cx, args)?;
    let t = cx.unify(args[0].ty, args[2].ty).ok_or_else(|| no_match("[] =", args))?;
    if cx.elem(t).is_none() {
        return Err(no_match("[] =", args));
    }
    Ok(Answer::of(Type::none()))
}

fn same_lists_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (a, b) = (list_elem(cx, args, "+")?, list_elem(cx, &args[1..], "+")?);
    // The result holds what both hold, whatever they are themselves.
    let e = cx.unify(a, b).ok_or_else(|| no_match("+", args))?;
    cx.new_list(e).map(Answer::of)
}

fn emit_concat(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.types[0] == c.ret && c.types[1] == c.ret {
        return Ok(vec![cx.helper_value(&list_concat, &[c.args[0][0], c.args[1][0]])]);
    }
    let e = list_of(c.ret)?;
    let (m, n) = (len(cx, c.args[0][0]), len(cx, c.args[1][0]));
    let total = cx.b.bin(Op::Iadd, m, n);
    let out = make(cx, e, total);
    cx.guarded(&[out], |cx| {
        for (v, t) in c.args.iter().zip(c.types) {
            push_all(cx, out, e, (v[0], list_of(*t)?))?;
        }
        Ok(vec![out])
    })
}

fn is_list(args: &[Arg]) -> bool {
    matches!(*args[0].ty, Kind::List(_))
}
fn are_lists(args: &[Arg]) -> bool {
    args[..2].iter().all(|a| matches!(*a.ty, Kind::List(_)))
}

/// Element type of the first operand as far as it is known; `Never` where nothing is.
fn known_elem(cx: &mut TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<Type> {
    let e = list_elem(cx, args, what)?;
    Ok(cx.vars.resolve(e))
}

/// Helpers compare elements of one type that has codes.
fn compare_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (a, b) = (known_elem(cx, args, "==")?, known_elem(cx, &args[1..], "==")?);
    // An empty literal is a list of what it is compared with.
    let unknown = *a == Kind::Never || *b == Kind::Never;
    if unknown {
        cx.unify(args[0].ty, args[1].ty).ok_or_else(|| no_match("==", args))?;
    }
    if !unknown && (a != b || desc::compared_parts(a).is_none()) {
        return Err(no_match("==", args));
    }
    Ok(Answer::of(Type::bool()))
}

/// Helpers order elements that have an order; complex numbers raise, or are NumPy's, which have one.
fn order_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let answer = compare_rule(cx, args)?;
    let e = known_elem(cx, args, "<")?;
    if *e == Kind::Never || ordered_by_helpers(e) { Ok(answer) } else { Err(no_match("<", args)) }
}

/// A search for a value gives a fixed type, whatever the elements are. Helpers look for a value of the
/// elements' type.
fn search(cx: &mut TyCx<'_, '_>, args: &[Arg], ret: Type) -> Result<Answer> {
    let e = known_elem(cx, args, "search")?;
    if *e != Kind::Never && !found_by_helpers(e, args[1].ty) {
        return Err(no_match("search in a list", args));
    }
    Ok(Answer::of(ret))
}

/// Whether helpers can look for a value of type `x` among elements.
pub(super) fn found_by_helpers(elem: Type, x: Type) -> bool {
    // A float of Python is never one object with one of NumPy, which a NaN has to be to be found.
    let may_be_nan = elem.is_float() || elem.is_complex();
    let fits = elem == x
        || one_class(elem, x)
        || (elem.strong() == x.strong() && !may_be_nan)
        || (elem.strong() == Type::i64() && matches!(*x, Kind::Bool));
    fits && desc::compared_parts(elem).is_some()
}

/// Whether both are objects of one class, of which one place knows more than the other so far.
pub(super) fn one_class(a: Type, b: Type) -> bool {
    matches!((a.kind(), b.kind()), (Kind::Object(c, _), Kind::Object(d, _)) if c == d)
}

/// The message of `index` shows the value, which a helper can for integers.
fn index_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if *args[1].ty == Kind::Bool || !args[1..].iter().all(|a| a.ty.is_index()) {
        return Err(no_match("list.index()", args));
    }
    search(cx, args, Type::int())
}

/// Whether a helper can sort the first operand.
fn sortable(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<()> {
    let e = known_elem(cx, args, "sort")?;
    if *e == Kind::Never || ordered_by_helpers(e) { Ok(()) } else { Err(no_match("sort", args)) }
}

fn sort_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    sortable(cx, args)?;
    if !args[1].is_none() || !args[2].ty.is_flag() {
        return Err(no_match("list.sort()", args));
    }
    Ok(Answer::of(Type::none()))
}

// ---- elements in memory

/// What lists and tuples of any length hold, which lie alike.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else lies as a list does")]
fn held_by(t: Type) -> Option<Type> {
    match t.kind() {
        Kind::List(e) => Some(*e),
        Kind::Container(Container::Tuple, m) => Some(m[0]),
        _ => None,
    }
}

/// Whether helpers can compare lists, or tuples of any length, of this type.
pub(crate) fn comparable(list: Type) -> bool {
    held_by(list).is_some_and(|e| desc::compared_parts(e).is_some())
}

/// Whether helpers can order lists, or tuples of any length, of this type.
pub(crate) fn orderable(list: Type) -> bool {
    held_by(list).is_some_and(ordered_by_helpers)
}

pub(super) fn ordered_by_helpers(elem: Type) -> bool {
    // What is equal where it is one thing has no order, nor has a dict.
    !has_objects(elem) && !has_complex(elem) && desc::compared_parts(elem).is_some()
}

fn has_complex(t: Type) -> bool {
    let inside = t.parts().or_else(|| t.container().map(|(_, m)| m)).unwrap_or_default();
    t.is_complex() || inside.iter().any(|t| has_complex(*t))
}

fn has_objects(t: Type) -> bool {
    matches!(*t.beneath_member(), Kind::Object(..) | Kind::Member(_))
        || matches!(t.kind(), Kind::Container(Container::Tuple, m) if has_objects(m[0]))
        || matches!(t.kind(), Kind::NamedTuple(c, _) if c.is_keywords())
        || t.parts().is_some_and(|m| m.iter().any(|t| has_objects(*t)))
}

/// Helpers compare the elements. The rules have seen to it that they can, as far as the type was known then. A
/// list that nothing was put into has nothing to compare.
pub(super) fn check_comparable(elem: Type) -> Result<()> {
    if *elem == Kind::Never || desc::of(elem).is_comparable() {
        return Ok(());
    }
    Err(Diagnostic::new(
        crate::diag::Code::NoMatchingOperation,
        format!("elements of type {elem} cannot be compared"),
    ))
}

fn address(cx: &mut LowerCx<'_>, list: Value, elem: Type, at: Value) -> Value {
    let data = cx.b.load(Ty::Ptr, list, offset!(List.data), Alias::Object);
    let off = cx.b.bin_imm(Op::Imul, at, desc::of(elem).size);
    cx.b.ptr_add(data, off)
}

fn load(cx: &mut LowerCx<'_>, p: Value, elem: Type) -> Val {
    let leaves = &desc::of(elem).leaves;
    leaves.iter().map(|l| cx.b.load(l.ty, p, l.offset as i32, Alias::Object)).collect()
}
fn store(cx: &mut LowerCx<'_>, p: Value, elem: Type, val: &[Value]) {
    store_leaves(cx, p, elem, val, Alias::Object);
}
fn store_leaves(cx: &mut LowerCx<'_>, p: Value, elem: Type, val: &[Value], alias: Alias) {
    for (v, l) in val.iter().zip(desc::of(elem).leaves.iter()) {
        cx.b.store(*v, p, l.offset as i32, alias);
    }
}

/// The element at an index known to be in range, with references of its own.
pub(crate) fn element(cx: &mut LowerCx<'_>, list: Value, elem: Type, at: Value) -> Val {
    let p = address(cx, list, elem, at);
    let val = load(cx, p, elem);
    cx.retain(&val, elem);
    val
}

pub(crate) fn len(cx: &mut LowerCx<'_>, list: Value) -> Value {
    cx.b.load(Ty::I64, list, offset!(List.len), Alias::Length)
}

/// A new empty list with room for `cap` elements.
pub(crate) fn make(cx: &mut LowerCx<'_>, elem: Type, cap: Value) -> Value {
    let desc = constants::descriptor(&mut cx.b, elem);
    cx.helper_value(&list_new, &[desc, cap])
}

/// Appends a value whose references move into the list.
pub(crate) fn push_owned(cx: &mut LowerCx<'_>, list: Value, elem: Type, val: &[Value]) {
    let lock = cx.push_lock(list);
    let before = cx.lock(&lock);
    push_in_place(cx, list, elem, val);
    cx.unlock(before);
}

fn push_in_place(cx: &mut LowerCx<'_>, list: Value, elem: Type, val: &[Value]) {
    let n = len(cx, list);
    let cap = cx.b.load(Ty::I64, list, offset!(List.cap), Alias::Object);
    let full = cx.b.bin(Op::IcmpSge, n, cap);
    let (grow, ready) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[]));
    cx.b.brif(full, grow, &[], ready, &[]);
    cx.b.switch_to(grow);
    let one = cx.b.i64(1);
    cx.helper(&list_reserve, &[list, one]);
    cx.b.jump(ready, &[]);
    cx.b.switch_to(ready);
    let p = address(cx, list, elem, n);
    store(cx, p, elem, val);
    let more = cx.b.bin_imm(Op::Iadd, n, 1);
    cx.b.store(more, list, offset!(List.len), Alias::Length);
}

/// A value converted to the element type, with references of its own. It may raise: nothing that a list lacks
/// until it comes may be missing yet.
fn owned_elem(cx: &mut LowerCx<'_>, val: &[Value], from: Type, elem: Type) -> Result<Val> {
    cast::kept(cx, val, from, elem)
}

// ---- emitters

pub(crate) fn emit_build(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let e = list_of(c.ret)?;
    let mut all = vec![];
    for (v, t) in c.args.iter().zip(c.types) {
        all.push(cast::joined(cx, v, *t, e, false)?);
    }
    let cap = cx.b.i64(c.args.len() as i64);
    let list = make(cx, e, cap);
    for (k, v) in all.into_iter().enumerate() {
        cx.retain(&v, e);
        let at = cx.b.i64(k as i64);
        let p = address(cx, list, e, at);
        store(cx, p, e, &v);
    }
    cx.b.store(cap, list, offset!(List.len), Alias::Length);
    Ok(vec![list])
}

fn emit_append(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let e = list_of(c.types[0])?;
    let v = owned_elem(cx, &c.args[1], c.types[1], e)?;
    push_owned(cx, c.args[0][0], e, &v);
    Ok(vec![])
}

fn emit_insert(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let e = list_of(c.types[0])?;
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let v = owned_elem(cx, &c.args[2], c.types[2], e)?;
    let p = cx.helper_value(&list_insert_gap, &[c.args[0][0], i]);
    store(cx, p, e, &v);
    Ok(vec![])
}

fn emit_pop(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let e = list_of(c.types[0])?;
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let at = pop_position(cx, c.args[0][0], i);
    let p = address(cx, c.args[0][0], e, at);
    // The element's references move out with it.
    let v = load(cx, p, e);
    cx.helper(&list_close_gap, &[c.args[0][0], at]);
    Ok(v)
}

/// The position that `pop` takes an element from; IndexError.
fn pop_position(cx: &mut LowerCx<'_>, list: Value, i: Value) -> Value {
    let (n, zero) = (len(cx, list), cx.b.i64(0));
    let (negative, wrapped) = (cx.b.bin(Op::IcmpSlt, i, zero), cx.b.bin(Op::Iadd, i, n));
    let at = cx.b.select(negative, wrapped, i);
    let ok = cx.b.bin(Op::IcmpUlt, at, n);
    let (bad, ready) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[Ty::I64]));
    cx.b.brif(ok, ready, &[at], bad, &[]);
    cx.b.switch_to(bad);
    let found = cx.helper_value(&list_pop_index, &[list, i]);
    cx.b.jump(ready, &[found]);
    cx.b.switch_to(ready);
    cx.b.params(ready)[0]
}

fn unit(cx: &mut LowerCx<'_>, helper: &'static crate::rt::RtFn, c: &OpCall<'_>) -> Result<Val> {
    cx.helper(helper, &[c.args[0][0]]);
    Ok(vec![])
}

fn emit_copy(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (zero, one) = (cx.b.i64(0), cx.b.i64(1));
    let n = len(cx, c.args[0][0]);
    let copy = cx.helper_value(&list_slice, &[c.args[0][0], zero, one, n]);
    retyped(cx, copy, c.types[0], c.ret)
}

/// A new list as one of another type, where that is wanted: its elements are converted.
fn retyped(cx: &mut LowerCx<'_>, list: Value, from: Type, to: Type) -> Result<Val> {
    if promote::same_but_weak(from, to) {
        return Ok(vec![list]);
    }
    let out = cx.guarded(&[list], |cx| converted(cx, (list, from), to))?;
    cx.release(&[list], from);
    Ok(vec![out])
}

/// The elements of a list in a new one of another type.
fn converted(cx: &mut LowerCx<'_>, (list, from): (Value, Type), to: Type) -> Result<Value> {
    let (x, y) = (list_of(from)?, list_of(to)?);
    let n = len(cx, list);
    let out = make(cx, y, n);
    cx.guarded(&[out], |cx| push_all(cx, out, y, (list, x)))?;
    Ok(out)
}

/// Appends the elements of another list, converted.
fn push_all(cx: &mut LowerCx<'_>, out: Value, elem: Type, (list, from): (Value, Type)) -> Result<()> {
    let n = len(cx, list);
    cx.for_range(n, &[], |cx, i, _| {
        let x = element(cx, list, from, i);
        let x = cast::joined(cx, &x, from, elem, true)?;
        push_owned(cx, out, elem, &x);
        Ok(vec![])
    })
    .map(|_| ())
}

/// A search helper called with the address of a copy of the value.
fn searched(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    helper: &'static crate::rt::RtFn,
    rest: &[Value],
) -> Result<Value> {
    let e = list_of(c.types[0])?;
    check_comparable(e)?;
    // Nothing is equal to an element of a list that stays empty.
    let v = if *e == Kind::Never { vec![] } else { cast::cast(cx, &c.args[1], c.types[1], e)? };
    let at = cx.b.slot_addr(desc::of(e).size.max(8) as u32);
    store_leaves(cx, at, e, &v, Alias::Stack);
    let mut args = vec![c.args[0][0], at];
    args.extend(rest);
    Ok(cx.helper_value(helper, &args))
}

fn emit_index(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (start, stop) =
        (cast::to_i64(cx, c.args[2][0], c.types[2]), cast::to_i64(cx, c.args[3][0], c.types[3]));
    let at = searched(cx, c, &list_find, &[start, stop])?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    let x = cast::to_i64(cx, c.args[1][0], c.types[1]);
    cx.check_format(found, Class::ValueError, "{} is not in list", &[x]);
    Ok(vec![at])
}

fn emit_remove(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (zero, end) = (cx.b.i64(0), cx.b.i64(i64::MAX));
    let at = searched(cx, c, &list_find, &[zero, end])?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    cx.check(found, Class::ValueError, "list.remove(x): x not in list");
    let one = cx.b.i64(1);
    cx.helper(&list_delete, &[c.args[0][0], at, one, one]);
    Ok(vec![])
}

fn emit_sort(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    check_comparable(list_of(c.types[0])?)?;
    let reverse = truth(cx, &c.args[2], c.types[2])?;
    cx.helper(&list_sort, &[c.args[0][0], reverse]);
    Ok(vec![])
}

fn checked(cx: &mut LowerCx<'_>, c: &OpCall<'_>, message: &str) -> Value {
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let n = len(cx, c.args[0][0]);
    // The memory of a list can be outside what an unchecked index reaches, so this check always stays.
    let at = cx.wrap_index(i, n);
    let ok = cx.b.bin(Op::IcmpUlt, at, n);
    cx.check(ok, Class::IndexError, message);
    at
}

fn emit_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = checked(cx, c, "list index out of range");
    Ok(element(cx, c.args[0][0], c.ret, at))
}

fn emit_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let e = list_of(c.types[0])?;
    let at = checked(cx, c, "list assignment index out of range");
    let v = owned_elem(cx, &c.args[2], c.types[2], e)?;
    let p = address(cx, c.args[0][0], e, at);
    let old = if e.is_counted() { load(cx, p, e) } else { vec![] };
    store(cx, p, e, &v);
    if e.is_counted() {
        cx.release(&old, e);
    }
    Ok(vec![])
}

fn emit_delete(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = checked(cx, c, "list assignment index out of range");
    let one = cx.b.i64(1);
    cx.helper(&list_delete, &[c.args[0][0], at, one, one]);
    Ok(vec![])
}

fn sliced(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    f: impl FnOnce(&mut LowerCx<'_>, Value, Adjusted) -> Result<Val>,
) -> Result<Val> {
    let n = len(cx, c.args[0][0]);
    let s = adjust_slice(cx, &c.args[1], c.types[1], n)?;
    f(cx, c.args[0][0], s)
}

/// Whether two lists, or tuples of any length, of one type are equal.
pub(crate) fn equal(cx: &mut LowerCx<'_>, a: Value, b: Value, list: Type) -> Result<Value> {
    check_comparable(held_by(list).ok_or_else(|| Diagnostic::internal(format!("{list} is no list")))?)?;
    Ok(cx.helper_value(&list_eq, &[a, b]))
}

fn ordered(cx: &mut LowerCx<'_>, c: &OpCall<'_>, accepted: &[i64]) -> Result<Val> {
    Ok(vec![order(cx, c.args[0][0], c.args[1][0], c.types[0], accepted)?])
}

/// Whether the order of two lists, or tuples of any length, of one type is among `accepted` (see
/// [`list_compare`]).
pub(crate) fn order(cx: &mut LowerCx<'_>, a: Value, b: Value, list: Type, accepted: &[i64]) -> Result<Value> {
    check_comparable(held_by(list).ok_or_else(|| Diagnostic::internal(format!("{list} is no list")))?)?;
    let o = cx.helper_value(&list_compare, &[a, b]);
    let mut any = cx.b.bool(false);
    for a in accepted {
        let hit = cx.b.bin_imm(Op::IcmpEq, o, *a);
        any = cx.or(any, hit);
    }
    Ok(any)
}

fn emit_cell_get(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    check_cell(cx, c);
    let zero = cx.b.i64(0);
    Ok(element(cx, c.args[0][0], c.ret, zero))
}

fn emit_cell_delete(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    check_cell(cx, c);
    cx.helper(&list_clear, &[c.args[0][0]]);
    Ok(vec![])
}

/// Raises where the cell is empty.
fn check_cell(cx: &mut LowerCx<'_>, c: &OpCall<'_>) {
    let n = len(cx, c.args[0][0]);
    let bound = cx.b.bin_imm(Op::IcmpNe, n, 0);
    let name = c
        .consts
        .get(1)
        .and_then(|k| k.as_ref())
        .and_then(crate::types::Const::as_str)
        .unwrap_or("?")
        .to_owned();
    let own = c.consts.get(2).and_then(|k| k.as_ref()).is_some_and(crate::types::Const::truth);
    let (class, message) = crate::exc::unbound(&name, !own);
    cx.check(bound, class, &message);
}

fn emit_cell_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let e = list_of(c.types[0])?;
    let v = owned_elem(cx, &c.args[1], c.types[1], e)?;
    cx.helper(&list_clear, &[c.args[0][0]]);
    push_owned(cx, c.args[0][0], e, &v);
    Ok(vec![])
}
