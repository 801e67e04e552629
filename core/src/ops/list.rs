//! Lists: helpers that make, grow, change, compare and sort them.
//!
//! Elements are described by `elem_bytes` and `ref_mask` as in [`crate::layout::List`]; where their order or equality matters, by `n` codes
//! (see [`crate::elem::Elem`]) at `elems`: one for a scalar of its own width, several for leaves in slots of 8 bytes.
//! Compiled code reads and writes elements itself; it calls these for everything that changes the length or allocates.

use super::OpDef;
use crate::layout::List;
use crate::rt::{Ctx, P};

crate::runtime_fns! {
    /// List objects.
    trait Helpers;
    /// An empty list with room for `cap` elements.
    fn list_new(ctx: Ctx, elem_bytes: i64, ref_mask: i64, cap: i64) -> *mut List [Allocates, Pending];
    /// Makes room for `extra` more elements; `append` calls it with 1 when `len == cap`, then stores and increments `len` itself.
    fn list_reserve(ctx: Ctx, l: *mut List, extra: i64) [Writes, Pending];
    /// Makes a gap at Python index `i` (negative counts from the end; clamped) and answers the address of the new, uninitialised element.
    fn list_insert_gap(ctx: Ctx, l: *mut List, i: i64) -> P [Writes, Pending];
    /// The position of Python index `i` for `pop`; IndexError "pop from empty list" or "pop index out of range".
    fn list_pop_index(ctx: Ctx, l: *mut List, i: i64) -> i64 [Reads, Pending];
    /// Closes the gap of the element at position `i`, which was moved out: nothing is released.
    fn list_close_gap(ctx: Ctx, l: *mut List, i: i64) [Writes, Pending];
    /// `del l[...]`: releases and removes `count` elements from `start` in steps of `step`, as an adjusted slice gives them.
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
    fn list_eq(a: *mut List, b: *mut List, elems: *const u8, n: i64) -> i8 [Reads, Never];
    /// Order of `a` and `b`: -1, 0, 1, or 2 where NaN makes all comparisons but `!=` false.
    fn list_compare(a: *mut List, b: *mut List, elems: *const u8, n: i64) -> i64 [Reads, Never];
    /// Position of the first element that equals the one at `value`, from Python index `start` to before `stop`; -1 when there is none.
    fn list_find(l: *mut List, value: P, elems: *const u8, n: i64, start: i64, stop: i64) -> i64 [Reads, Never];
    /// How many elements equal the one at `value`.
    fn list_count(l: *mut List, value: P, elems: *const u8, n: i64) -> i64 [Reads, Never];
    /// `l.sort(reverse=...)`: stable, with CPython's answer for NaN; ValueError when the list is in use.
    fn list_sort(ctx: Ctx, l: *mut List, elems: *const u8, n: i64, reverse: i8) [Writes, Pending];
    /// `l.sort(key=...)`: sorts `l` by the list of its keys, which `elems` describes and which is sorted along.
    fn list_sort_by_keys(ctx: Ctx, l: *mut List, keys: *mut List, elems: *const u8, n: i64, reverse: i8) [Writes, Pending];
}

pub static OPS: &[OpDef] = &[];
