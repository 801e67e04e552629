//! Entries of dicts and sets in memory, as compiled code reads and writes them: hash, key and value, laid out as
//! a tuple of the three.

use super::exact::check_exact;
use super::keys::{is_among, is_own_key, may_be_key, sought_among};
use super::{LOOK_UPS, LookUps, dict_find, dict_new, dict_place, parts};
use crate::desc::{self, Field, TypeDesc};
use crate::diag::{Diagnostic, Result};
use crate::emit::cast;
use crate::emit::constants::descriptor;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::exc::Class;
use crate::layout::SHOWN;
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::ops::{compare, exception, list};
use crate::rt::RtFn;
use crate::types::{Container, Kind, Type, promote};
use crate::typing::Held;

/// Leaves of the keys and of the values in entries.
pub(in crate::ops) struct Entry {
    desc: &'static TypeDesc,
    keys: usize,
}

impl Entry {
    pub(in crate::ops) fn of(t: Type) -> Result<Entry> {
        let (k, v) = parts(t)?;
        Ok(Entry { desc: desc::of(Type::tuple(vec![Type::i64(), k, v])), keys: k.leaf_count() })
    }
    pub(in crate::ops) fn key(&self) -> &'static [Field] {
        &self.desc.leaves[1..1 + self.keys]
    }
    pub(super) fn value(&self) -> &'static [Field] {
        &self.desc.leaves[1 + self.keys..]
    }
    /// Key and value.
    pub(super) fn both(&self) -> &'static [Field] {
        &self.desc.leaves[1..]
    }
    pub(in crate::ops) fn address(&self, cx: &mut LowerCx<'_>, dict: Value, at: Value) -> Value {
        let entries = cx.b.load(Ty::Ptr, dict, offset!(Dict.entries), Alias::Object);
        let off = cx.b.bin_imm(Op::Imul, at, self.desc.size);
        cx.b.ptr_add(entries, off)
    }
}

pub(in crate::ops) fn load(cx: &mut LowerCx<'_>, p: Value, leaves: &[Field]) -> Val {
    leaves.iter().map(|l| cx.b.load(l.ty, p, l.offset as i32, Alias::Object)).collect()
}

/// The value at a place, whose references stay the dict's.
pub(in crate::ops) fn value_at(cx: &mut LowerCx<'_>, dict: Value, t: Type, at: Value) -> Result<Val> {
    let entry = Entry::of(t)?;
    let p = entry.address(cx, dict, at);
    Ok(load(cx, p, entry.value()))
}

/// The descriptors that a helper makes a dict by: of its entries, keys and values.
pub(in crate::ops) fn described(cx: &mut LowerCx<'_>, t: Type) -> Result<[Value; 3]> {
    let (k, v) = parts(t)?;
    Ok([Type::tuple(vec![Type::i64(), k, v]), k, v].map(|t| descriptor(&mut cx.b, t)))
}

/// A new empty dict with room for so many.
pub(in crate::ops) fn make(cx: &mut LowerCx<'_>, t: Type, room: usize) -> Result<Value> {
    let [entry, k, v] = described(cx, t)?;
    let room = cx.b.i64(room as i64);
    Ok(cx.helper_value(&dict_new, &[entry, k, v, room]))
}

/// What is copied from a dict that Python sees itself is one too.
pub(in crate::ops) fn show_as(cx: &mut LowerCx<'_>, new: Value, from: Value) {
    let users = cx.b.load(Ty::I64, from, offset!(Dict.users), Alias::Object);
    let shown = cx.b.bin_imm(Op::Band, users, SHOWN);
    cx.b.store(shown, new, offset!(Dict.users), Alias::Object);
}

/// The place of a key, of the type of the dict's keys, or -1.
fn find_key(cx: &mut LowerCx<'_>, dict: (Value, Type), key: &[Value]) -> Result<Value> {
    look_up(cx, (&dict_find, |l| l.find), dict, key, &[])
}

/// The same; where there is none, that of a new entry, whose value is all zeros.
pub(in crate::ops) fn place_key(cx: &mut LowerCx<'_>, dict: (Value, Type), key: &[Value]) -> Result<Value> {
    let unknown = cx.b.i64(-1);
    look_up(cx, (&dict_place, |l| l.place), dict, key, &[unknown])
}

/// Calls the helper for keys of the dict's type; `any` takes those that lie in memory.
fn look_up(
    cx: &mut LowerCx<'_>,
    (any, which): (&'static RtFn, fn(&LookUps) -> &'static RtFn),
    (dict, t): (Value, Type),
    key: &[Value],
    more: &[Value],
) -> Result<Value> {
    let (held, _) = parts(t)?;
    if is_own_key(held) {
        return Err(Diagnostic::internal(format!("{held} is looked up without its own methods")));
    }
    let probe = desc::of(held).probe;
    let Some(helpers) = LOOK_UPS.iter().find(|l| Some(l.of) == probe) else {
        let at = spilled(cx, key, held);
        return Ok(cx.helper_value(any, &[dict, at]));
    };
    let size = cx.b.i64(Entry::of(t)?.desc.size);
    Ok(cx.helper_value(which(helpers), &[&[dict, size], key, more].concat()))
}

/// The address of operand `k`, a key that is not there yet, of the type of the keys.
pub(in crate::ops) fn spill_new_key(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Value> {
    let (held, _) = parts(c.types[0])?;
    let key = cast::cast(cx, &c.args[k], c.types[k], held)?;
    Ok(spilled(cx, &key, held))
}

fn spilled(cx: &mut LowerCx<'_>, key: &[Value], t: Type) -> Value {
    let desc = desc::of(t);
    let at = cx.b.slot_addr(desc.size.max(8) as u32);
    for (v, l) in key.iter().zip(desc.leaves.iter()) {
        cx.b.store(*v, at, l.offset as i32, Alias::Stack);
    }
    at
}

/// The place of operand `k` in the dict that is the first operand, or -1.
pub(in crate::ops) fn find(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Value> {
    let (held, _) = parts(c.types[0])?;
    // There is nothing in a dict that stays empty.
    if *held == Kind::Never || *c.types[k] == Kind::Never {
        return Ok(cx.b.i64(-1));
    }
    find_one(cx, (c.args[0][0], c.types[0]), &c.args[k], c.types[k])
}

/// The place of a key in a dict of that type, or -1.
fn find_one(cx: &mut LowerCx<'_>, dict: (Value, Type), key: &[Value], t: Type) -> Result<Value> {
    let (held, _) = parts(dict.1)?;
    if let Kind::Variant(all) = t.kind()
        && !is_among(t, held)
    {
        // Some of what it may be is never a key.
        let mut place = cx.b.i64(-1);
        for (k, (v, t)) in split_leaves(&key[1..], all).iter().zip(all).enumerate() {
            if may_be_key(*t, held) {
                let is = cx.b.bin_imm(Op::IcmpEq, key[0], k as i64);
                let one = cx.if_else(is, |cx| Ok(vec![find_one(cx, dict, v, *t)?]), |_| Ok(vec![place]))?;
                place = one[0];
            }
        }
        return Ok(place);
    }
    if let (Kind::Container(Container::Tuple, of), Kind::Tuple(members)) = (t.kind(), held.kind()) {
        return find_of_length(cx, dict, key[0], of[0], members.len());
    }
    let made = cx.made.len();
    let (key, same) = as_key(cx, key, t, held)?;
    let place = find_key(cx, dict, &key)?;
    cx.release_made(made);
    let Some(same) = same else { return Ok(place) };
    let none = cx.b.i64(-1);
    Ok(cx.b.select(same, place, none))
}

/// A value as a key of that type, and whether it is equal to what it became where that may be another number.
fn as_key(cx: &mut LowerCx<'_>, key: &[Value], t: Type, held: Type) -> Result<(Val, Option<Value>)> {
    // A tuple becomes one of any length with the same members.
    if promote::same_but_weak(t, held) || promote::makes_tuple(t, held) {
        return Ok((cast::cast(cx, key, t, held)?, None));
    }
    match (t.kind(), held.kind()) {
        (Kind::Variant(_) | Kind::Optional(_) | Kind::None, _) => Ok((cast::cast(cx, key, t, held)?, None)),
        (_, Kind::Optional(inner)) => {
            let (key, same) = as_key(cx, key, t, *inner)?;
            Ok((cast::cast(cx, &key, *inner, held)?, same))
        }
        (_, Kind::Variant(all)) => {
            let among = sought_among(t, all);
            let one =
                all[among.ok_or_else(|| Diagnostic::internal(format!("no {t} among keys of {held}")))?];
            let (key, same) = as_key(cx, key, t, one)?;
            Ok((cast::cast(cx, &key, one, held)?, same))
        }
        (Kind::Tuple(from), Kind::Tuple(to)) if from.len() == to.len() => {
            let (mut out, mut all) = (vec![], None);
            for ((v, t), held) in split_leaves(key, from).iter().zip(from).zip(to) {
                let (member, same) = as_key(cx, v, *t, *held)?;
                out.extend(member);
                all = match (all, same) {
                    (Some(a), Some(b)) => Some(cx.and(a, b)),
                    (a, b) => a.or(b),
                };
            }
            Ok((out, all))
        }
        (_, _) => {
            let cast = cast::cast(cx, key, t, held)?;
            let same = compare::equal(cx, key, t, &cast, held)?;
            Ok((cast, Some(same)))
        }
    }
}

/// The place of a tuple of any length in a dict whose keys are tuples of one length.
fn find_of_length(
    cx: &mut LowerCx<'_>,
    dict: (Value, Type),
    key: Value,
    of: Type,
    length: usize,
) -> Result<Value> {
    let (held, _) = parts(dict.1)?;
    let n = list::len(cx, key);
    let fits = cx.b.bin_imm(Op::IcmpEq, n, length as i64);
    let found = cx.if_else(
        fits,
        |cx| {
            let at = |cx: &mut LowerCx<'_>, k: usize| {
                let k = cx.b.i64(k as i64);
                list::element(cx, key, of, k)
            };
            let members: Val = (0..length).flat_map(|k| at(cx, k)).collect();
            let place = find_key(cx, dict, &members)?;
            cx.release(&members, held);
            Ok(vec![place])
        },
        |cx| Ok(vec![cx.b.i64(-1)]),
    )?;
    Ok(found[0])
}

/// Raises KeyError with the key where `found` is false.
pub(in crate::ops) fn check_found(cx: &mut LowerCx<'_>, found: Value, key: &[Value], t: Type) -> Result<()> {
    let (ok, bad) = (cx.b.new_block(&[]), cx.b.new_cold_block(&[]));
    cx.b.brif(found, ok, &[], bad, &[]);
    cx.b.switch_to(bad);
    let exc = exception::with_argument(cx, Class::KeyError, key, t)?;
    cx.set_context(exc);
    cx.end_raising(exc);
    cx.b.switch_to(ok);
    Ok(())
}

/// Puts a value, whose references move, at a place, and drops what was there.
pub(in crate::ops) fn put(
    cx: &mut LowerCx<'_>,
    (dict, t): (Value, Type),
    at: Value,
    value: &[Value],
) -> Result<()> {
    let (_, v) = parts(t)?;
    let entry = Entry::of(t)?;
    let p = entry.address(cx, dict, at);
    let old = if v.is_counted() { load(cx, p, entry.value()) } else { vec![] };
    for (x, l) in value.iter().zip(entry.value()) {
        cx.b.store(*x, p, l.offset as i32, Alias::Object);
    }
    if v.is_counted() {
        cx.release(&old, v);
    }
    Ok(())
}

/// `dict[key] = value`, both borrowed and converted.
pub(super) fn set(
    cx: &mut LowerCx<'_>,
    (dict, t): (Value, Type),
    (key, kt): (&[Value], Type),
    (value, vt): (&[Value], Type),
) -> Result<()> {
    let ((k, v), made) = (parts(t)?, cx.made.len());
    let (held, value) = (cast::cast(cx, key, kt, k)?, cast::joined(cx, value, vt, v, false)?);
    check_exact(cx, Held::Key, (key, kt), (&held, k))?;
    let at = place_key(cx, (dict, t), &held)?;
    cx.retain(&value, v);
    put(cx, (dict, t), at, &value)?;
    cx.release_made(made);
    Ok(())
}
