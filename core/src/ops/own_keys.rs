//! Dicts and sets of objects whose class says itself when two are equal: `__hash__` and `__eq__` of the
//! user's. No descriptor can find such a key, so what looks one up is library code
//! (`pybind/python/tierup/lib/own_keys.py`): it asks the methods, and the index for entries by their hash.
//! The rows of [`super::dict`] and [`super::set`] do not take such keys.

use super::dict::entries::{Entry, load, put, spill_new_key, value_at};
use super::dict::keys::is_own_key;
use super::dict::{dict_append, dict_copy, dict_remove, dict_with_hash, known_parts, new_of, parts};
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::types::{Container, Kind, Type, promote};
use crate::typing::{Answer, Arg, Held, TyCx, no_match};

pub(crate) static OPS: &[OpDef] = &[
    looks_up(
        &["operator._find"],
        "own_keys.find",
        "The place of a key; -1 where it is missing (library use).",
    )
    .internal(),
    OpDef::new(&["operator.getitem"], "dict, key", Body::Py("own_keys.item"))
        .only_if(|a| {
            of_own(a)
                && !super::dict::is_counter(a)
                && !a[0].ty.container().is_some_and(|(c, _)| c.has_defaults())
        })
        .raises()
        .reads()
        .doc("`dict[key]`; KeyError."),
    looks_up(&["operator.contains"], "own_keys.contains", "`key in dict`, `x in set`."),
    OpDef::new(&["dict.get"], "dict, key, default=None", Body::Py("own_keys.get"))
        .only_if(of_own)
        .raises()
        .reads()
        .doc("The value of a key, or `default`."),
    OpDef::new(&["dict.setdefault"], "dict, key, default=None", Body::Py("own_keys.setdefault"))
        .only_if(of_own)
        .raises()
        .writes()
        .doc("The value of a key, which is `default` from now on where there was none."),
    changes(&["operator.setitem"], "dict, key, value", "own_keys.set_item", "`dict[key] = value`."),
    changes(&["dict.set_item"], "dict, key, value", "own_keys.set_item", "`dict[key] = value`.").internal(),
    changes(&["operator.delitem"], "dict, key", "own_keys.delete", "`del dict[key]`; KeyError."),
    changes(&["dict.pop"], "dict, key", "own_keys.pop", "Removes a key and returns its value; KeyError."),
    changes(&["dict.pop"], "dict, key, default", "own_keys.pop_or", "The same, or `default`."),
    changes(&["set.add"], "set, x", "own_keys.add", "Puts an element in."),
    changes(&["set.discard"], "set, x", "own_keys.discard", "Takes an element out, if it is there."),
    changes(&["set.remove"], "set, x", "own_keys.remove", "Takes an element out; KeyError."),
    OpDef::new(&["dict.build"], "*items", Body::Py("own_keys.build"))
        .only_if(|a| a.iter().step_by(2).any(|x| is_own_key(x.ty)))
        .raises()
        .reads()
        .internal()
        .doc("`{key: value}`."),
    OpDef::new(&["set.build"], "*items", Body::Py("own_keys.build_set"))
        .only_if(|a| a.iter().any(|x| is_own_key(x.ty)))
        .raises()
        .reads()
        .internal()
        .doc("`{a, b}`."),
    OpDef::new(&["set._add_all"], "set, members", Body::Py("own_keys.add_members"))
        .only_if(|a| a[1].ty.members().is_some_and(|m| m.iter().any(|t| is_own_key(*t))))
        .raises()
        .writes()
        .internal()
        .doc("Puts in the members of a tuple (library use)."),
    OpDef::new(&["builtins.dict", "dict.copy"], "d", Body::Lir(copied_rule, emit_copied))
        .raises()
        .reads()
        .doc("A shallow copy."),
    OpDef::new(&["builtins.set", "set.copy"], "s", Body::Lir(copied_rule, emit_copied))
        .raises()
        .reads()
        .doc("A set of the elements of a set."),
    OpDef::new(
        &["operator._with_hash"],
        "table, hash, after",
        Body::Lir(
            |_, a| match found_by_hash(a[0].ty) {
                true => Ok(Answer::of(Type::int())),
                false => Err(no_match("a dict or a set", a)),
            },
            |cx, c| {
                let [hash, after] = [1, 2].map(|k| cast::cast(cx, &c.args[k], c.types[k], Type::i64()));
                Ok(vec![cx.helper_value(&dict_with_hash, &[c.args[0][0], hash?[0], after?[0]])])
            },
        ),
    )
    .reads()
    .internal()
    .doc("The first place behind another whose entry has a hash; -1 where there is none (library use)."),
    OpDef::new(
        &["operator._key_at"],
        "table, place",
        Body::Lir(
            |cx, a| match found_by_hash(a[0].ty) {
                true => parts(a[0].ty).map(|(k, _)| Answer::of(cx.vars.known(k))),
                false => Err(no_match("a dict or a set", a)),
            },
            |cx, c| {
                let entry = Entry::of(c.types[0])?;
                let at = entry.address(cx, c.args[0][0], c.args[1][0]);
                let key = load(cx, at, entry.key());
                cx.retain(&key, c.ret);
                Ok(key)
            },
        ),
    )
    .reads()
    .internal()
    .doc("The key or element at a place, which need not be what it was found with: 0.0 and -0.0 (library use)."),
    OpDef::new(
        &["operator._append"],
        "dict, hash, key, value",
        Body::Lir(
            |cx, a| {
                known_parts(cx, a, "[] =")?;
                let (k, v) = parts(a[0].ty)?;
                cx.hold(k, a[2].ty, Held::Key)?;
                cx.hold(v, a[3].ty, Held::Value)?;
                Ok(Answer::of(Type::none()))
            },
            |cx, c| {
                let (_, v) = parts(c.types[0])?;
                let value = cast::joined(cx, &c.args[3], c.types[3], v, false)?;
                let at = append(cx, c)?;
                cx.retain(&value, v);
                put(cx, (c.args[0][0], c.types[0]), at, &value)?;
                Ok(vec![])
            },
        ),
    )
    .raises()
    .writes()
    .internal()
    .doc("A new entry of a key that is not there (library use)."),
    OpDef::new(
        &["operator._append"],
        "set, hash, x",
        Body::Lir(
            |cx, a| match a[0].ty.container() {
                Some((Container::Set, m)) => {
                    cx.hold(m[0], a[2].ty, Held::Member)?;
                    Ok(Answer::of(Type::none()))
                }
                _ => Err(no_match("set.add()", a)),
            },
            |cx, c| append(cx, c).map(|_| vec![]),
        ),
    )
    .raises()
    .writes()
    .internal()
    .doc("An element that is not there (library use)."),
    OpDef::new(
        &["operator._put"],
        "dict, place, value",
        Body::Lir(
            |cx, a| {
                known_parts(cx, a, "[] =")?;
                let (_, v) = parts(a[0].ty)?;
                cx.hold(v, a[2].ty, Held::Value)?;
                Ok(Answer::of(Type::none()))
            },
            |cx, c| {
                let (_, v) = parts(c.types[0])?;
                let value = cast::joined(cx, &c.args[2], c.types[2], v, false)?;
                cx.retain(&value, v);
                put(cx, (c.args[0][0], c.types[0]), c.args[1][0], &value)?;
                Ok(vec![])
            },
        ),
    )
    .writes()
    .internal()
    .doc("Gives the entry at a place another value (library use)."),
    OpDef::new(
        &["operator._remove_at"],
        "table, place",
        Body::Lir(
            |_, a| match found_by_hash(a[0].ty) {
                true => Ok(Answer::of(Type::none())),
                false => Err(no_match("a dict or a set", a)),
            },
            |cx, c| {
                let (_, v) = parts(c.types[0])?;
                let old = value_at(cx, c.args[0][0], c.types[0], c.args[1][0])?;
                cx.helper(&dict_remove, &[c.args[0][0], c.args[1][0]]);
                cx.release(&old, v);
                Ok(vec![])
            },
        ),
    )
    .writes()
    .internal()
    .doc("Takes the entry at a place out (library use)."),
];

/// A row that looks the second operand up.
const fn looks_up(path: &'static [&'static str], body: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(path, "table, key", Body::Py(body)).only_if(of_own).raises().reads().doc(doc)
}

/// A row that changes what its first operand holds for the second.
const fn changes(
    path: &'static [&'static str],
    params: &'static str,
    body: &'static str,
    doc: &'static str,
) -> OpDef {
    OpDef::new(path, params, Body::Py(body)).only_if(of_own).raises().writes().doc(doc)
}

// ---- types

/// Whether an object with methods of its own is looked up in what finds by hash.
fn of_own(a: &[Arg]) -> bool {
    found_by_hash(a[0].ty) && is_own_key(a[1].ty)
}

/// Whether it is a dict, a view of its keys, or a set.
fn found_by_hash(t: Type) -> bool {
    t.container().is_some_and(|(c, _)| {
        c.is_mapping() || matches!(c, Container::Keys | Container::Set | Container::FrozenSet)
    })
}

/// A copy is of the same class; only `set()` and `dict()` are of another.
fn copied_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let table = args[0].ty.container().filter(|_| found_by_hash(args[0].ty));
    let Some((class, m)) = table else { return Err(no_match("copy()", args)) };
    let key = cx.vars.known(m[0]);
    if !is_own_key(cx.vars.resolve(key)) {
        return Err(no_match("copy()", args));
    }
    if class.is_mapping() {
        let dict = new_of(cx, class, &m[2..]);
        let (k, v) = parts(dict)?;
        cx.hold(k, key, Held::Key)?;
        let value = cx.vars.known(m[1]);
        cx.hold(v, value, Held::Value)?;
        return Ok(Answer::of(dict));
    }
    let held = cx.vars.at(cx.site, 0, Type::bool());
    cx.hold(held, key, Held::Member)?;
    Ok(Answer::of(Type::new(Kind::Container(Container::Set, vec![held]))))
}

fn emit_copied(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let same = match (c.types[0].container(), c.ret.container()) {
        (Some((_, from)), Some((_, to))) => {
            from.iter().zip(to).all(|(from, to)| promote::same_but_weak(*from, *to))
        }
        _ => false,
    };
    if !same {
        return Err(super::dict::keys::own_keys_converted(c.types[0], c.ret));
    }
    Ok(vec![cx.helper_value(&dict_copy, &[c.args[0][0]])])
}

/// Makes an entry of a key, operand 2, with a hash, operand 1.
fn append(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<crate::lir::Value> {
    let hash = cast::cast(cx, &c.args[1], c.types[1], Type::i64())?;
    let key = spill_new_key(cx, c, 2)?;
    Ok(cx.helper_value(&dict_append, &[c.args[0][0], key, hash[0]]))
}
