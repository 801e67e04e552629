//! Dicts and their views: helpers that make, search, grow and change them, and the operations.
//!
//! A dict knows what its keys and values are ([`crate::desc`]). Compiled code knows it too and reads and
//! writes values itself; helpers find a key and make room for one. What needs no more than other operations
//! (texts, comparisons, `update` from pairs) is library code.

pub(super) mod entries;
pub(super) mod exact;
pub(super) mod keys;
mod walk;

pub(crate) use walk::WALK;

use super::{Body, OpDef};
use crate::desc::{self, Probe, TypeDesc};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::layout::{Dict, Str};
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::rt::{Ctx, P, RtFn};
use crate::types::{Container, Kind, Type, promote};
use crate::typing::{Answer, Arg, Held, TyCx, no_match};
use entries::{Entry, check_found, find, load, make, set, value_at};
pub(super) use keys::is_found_by_place;
use keys::{check_hashable, may_be_key};
pub use keys::{hashed_by_place, is_own_key};

super::identity::op_ids! {
    DICT_BUILD = "dict.build" [makes_list, lists(Keeps), keywords(Takes)],
    DICT_SET_ITEM = "dict.set_item" [lists(Shallow), keywords(Takes)],
    DICT_UPDATE = "dict.update" [lists(Shallow)],
    DICT_GET = "dict.get" [keeps, lists(Shallow)],
    DICT_POP = "dict.pop" [keeps, lists(Shallow)],
    DICT_POPITEM = "dict.popitem" [lists(Shallow)],
    DICT_SETDEFAULT = "dict.setdefault" [keeps, lists(Shallow)],
    DICT_CLEAR = "dict.clear" [lists(Shallow)],
    DICT_COPY = "dict.copy" [makes_list, lists(Shallow)],
    BUILTINS_DICT = "builtins.dict" [keeps],
    HASHABLE = "operator._hashable" [keywords(Takes)],
}

/// Where the key lies in an entry.
pub const KEY_AT: i32 = 8;

crate::runtime_fns! {
    /// Dict objects.
    trait Helpers;
    /// An empty dict, with room for so many, of the keys and values that the descriptors describe; `entry` is
    /// a hash and both.
    fn dict_new(ctx: Ctx, entry: *const TypeDesc, key: *const TypeDesc, value: *const TypeDesc, room: i64) -> *mut Dict [Allocates, Pending];
    /// The place of the entry whose key equals the one at `key`; -1 where there is none.
    fn dict_find(d: *mut Dict, key: P) -> i64 [Reads, Never];
    /// The same; where there is none, that of a new entry, whose value is all zeros.
    fn dict_place(ctx: Ctx, d: *mut Dict, key: P) -> i64 [Writes, Pending];
    /// The same as `dict_find`, where all that a key is is a 64-bit integer. `size` is that of an entry, which code
    /// that looks in the table itself has to know.
    fn dict_find_int(d: *mut Dict, size: i64, key: i64) -> i64 [Reads, Never];
    /// The same of a float.
    fn dict_find_float(d: *mut Dict, size: i64, key: f64) -> i64 [Reads, Never];
    /// The same of two integers.
    fn dict_find_pair(d: *mut Dict, size: i64, a: i64, b: i64) -> i64 [Reads, Never];
    /// The same of a string.
    fn dict_find_str(d: *mut Dict, size: i64, key: *mut Str) -> i64 [Reads, Never];
    /// The same as `dict_place`, where all that a key is is a 64-bit integer. `known` is its place where that was
    /// found already, else negative.
    fn dict_place_int(ctx: Ctx, d: *mut Dict, size: i64, key: i64, known: i64) -> i64 [Writes, Pending];
    /// The same of a float.
    fn dict_place_float(ctx: Ctx, d: *mut Dict, size: i64, key: f64, known: i64) -> i64 [Writes, Pending];
    /// The same of two integers.
    fn dict_place_pair(ctx: Ctx, d: *mut Dict, size: i64, a: i64, b: i64, known: i64) -> i64 [Writes, Pending];
    /// The same of a string.
    fn dict_place_str(ctx: Ctx, d: *mut Dict, size: i64, key: *mut Str, known: i64) -> i64 [Writes, Pending];
    /// The first place behind `after` whose key has this hash; -1 where there is none.
    fn dict_with_hash(d: *mut Dict, hash: i64, after: i64) -> i64 [Reads, Never];
    /// The place of a new entry of a key that is not there yet, with this hash; its value is all zeros.
    fn dict_append(ctx: Ctx, d: *mut Dict, key: P, hash: i64) -> i64 [Writes, Pending];
    /// Takes an entry out, whose value was moved out: only its key is released.
    fn dict_remove(d: *mut Dict, at: i64) [Writes, Never];
    /// The same of the last entry, whose place is free then.
    fn dict_drop_last(d: *mut Dict, at: i64) [Writes, Never];
    /// `d.clear()`.
    fn dict_clear(d: *mut Dict) [Writes, Never];
    /// `d.copy()`.
    fn dict_copy(ctx: Ctx, d: *mut Dict) -> *mut Dict [Allocates, Pending];
    /// `d.update(other)` with a dict of the same type.
    fn dict_update(ctx: Ctx, d: *mut Dict, other: *mut Dict) [Writes, Pending];
    /// A copy whose entries are in the order of their values, the greatest first; equal ones, and all where
    /// values have no order, as they come.
    fn dict_by_count(ctx: Ctx, d: *mut Dict) -> *mut Dict [Allocates, Pending];
    /// `a == b`.
    fn dict_eq(a: *mut Dict, b: *mut Dict) -> i8 [Reads, Never];
    /// The first place from `at` on that has an entry; where there is none, that behind all.
    fn dict_live(d: *mut Dict, at: i64) -> i64 [Reads, Never];
    /// The last place before `at` that has an entry; -1 where there is none.
    fn dict_live_before(d: *mut Dict, at: i64) -> i64 [Reads, Never];
}

/// Helpers for keys of one kind: what looks one up, and what makes an entry where there is none.
pub(crate) struct LookUps {
    pub of: Probe,
    pub find: &'static RtFn,
    pub place: &'static RtFn,
}

/// Those to which keys are passed in registers.
pub(crate) static LOOK_UPS: [LookUps; 4] = [
    LookUps { of: Probe::Int, find: &dict_find_int, place: &dict_place_int },
    LookUps { of: Probe::Float, find: &dict_find_float, place: &dict_place_float },
    LookUps { of: Probe::Pair, find: &dict_find_pair, place: &dict_place_pair },
    LookUps { of: Probe::Str, find: &dict_find_str, place: &dict_place_str },
];

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["dict.fromkeys"], "iterable, value=None", Body::Py("containers.dict_fromkeys"))
        .of_class()
        .raises()
        .reads()
        .doc("A dict with keys of an iterable, which all have one value."),
    OpDef::new(&["dict.build"], "*items", Body::Lir(build_rule, emit_build))
        .raises()
        .reads()
        .internal()
        .doc("`{key: value}`."),
    OpDef::new(&["builtins.dict"], "**names", Body::Lir(build_rule, emit_build))
        .raises()
        .reads()
        .doc("A dict of names and values; an empty one."),
    OpDef::new(&["builtins.dict"], "d", Body::Lir(copy_rule, emit_copy))
        .raises()
        .reads()
        .doc("A shallow copy."),
    OpDef::new(
        &["dict.copy"],
        "d",
        Body::Lir(copy_like_rule, |cx, c| {
            let copy = emit_copy(cx, c)?;
            entries::show_as(cx, copy[0], c.args[0][0]);
            Ok(copy)
        }),
    )
    .raises()
    .reads()
    .doc("A shallow copy, which Python sees itself if it does so the dict."),
    OpDef::new(&["builtins.dict"], "pairs", Body::Py("containers.dict_of_pairs"))
        .only_if(|a| !is_dict(a))
        .raises()
        .reads()
        .doc("A dict of an iterable's pairs."),
    OpDef::new(&["operator.getitem"], "dict, key", Body::Lir(item_rule, emit_item))
        .raises()
        .reads()
        .doc("`dict[key]`; KeyError."),
    OpDef::new(&["operator.setitem"], "dict, key, value", Body::Lir(set_rule, emit_set))
        .raises()
        .writes()
        .doc("`dict[key] = value`."),
    OpDef::new(&["dict.set_item"], "dict, key, value", Body::Lir(set_rule, emit_set))
        .raises()
        .writes()
        .internal()
        .doc("An entry of a comprehension."),
    OpDef::new(
        &["operator.delitem"],
        "dict, key",
        Body::Lir(
            |cx, a| {
                if is_counter(a) {
                    return Err(no_match("del", a));
                }
                looked_up(cx, a, "del")?;
                Ok(Answer::of(Type::none()))
            },
            emit_delete,
        ),
    )
    .raises()
    .writes()
    .doc("`del dict[key]`; KeyError."),
    OpDef::new(
        &["operator.contains"],
        "dict, key",
        Body::Lir(contains_rule, |cx, c| {
            let at = find(cx, c, 1)?;
            Ok(vec![cx.b.bin_imm(Op::IcmpSge, at, 0)])
        }),
    )
    .reads()
    .doc("`key in dict`, `key in dict.keys()`."),
    OpDef::new(&["operator.contains"], "items, pair", Body::Py("containers.items_contains"))
        .only_if(looks_up)
        .raises()
        .reads()
        .doc("`(key, value) in dict.items()`: the key is looked up."),
    OpDef::new(&["operator.contains"], "view, x", Body::Py("containers.view_contains"))
        .only_if(|a| {
            matches!(a[0].ty.container(), Some((Container::Values | Container::Items, _))) && !looks_up(a)
        })
        .raises()
        .reads()
        .doc("`x in dict.values()`, `x in dict.items()`."),
    OpDef::new(&["dict.get"], "dict, key, default=None", Body::Lir(get_rule, emit_get))
        .reads()
        .raises()
        .doc("The value of a key, or `default`."),
    OpDef::new(&["dict.pop"], "dict, key, default=...", Body::Lir(pop_rule, emit_pop))
        .raises()
        .writes()
        .doc("Removes a key and returns its value; `default`, or KeyError."),
    OpDef::new(
        &["dict.popitem"],
        "dict",
        Body::Lir(
            |cx, a| {
                let (k, v) = known_parts(cx, a, "popitem")?;
                Ok(Answer::of(Container::Items.gives(&[k, v])))
            },
            emit_popitem,
        ),
    )
    .raises()
    .writes()
    .doc("Removes and returns the last pair; KeyError."),
    OpDef::new(&["dict.setdefault"], "dict, key, default=None", Body::Lir(setdefault_rule, emit_setdefault))
        .raises()
        .writes()
        .doc("The value of a key, which is `default` from now on where there was none."),
    OpDef::new(
        &["dict.clear"],
        "dict",
        Body::Lir(
            |cx, a| {
                known_parts(cx, a, "clear")?;
                Ok(Answer::of(Type::none()))
            },
            |cx, c| {
                cx.helper(&dict_clear, &[c.args[0][0]]);
                Ok(vec![])
            },
        ),
    )
    .writes()
    .doc("Removes all keys."),
    OpDef::new(
        &["dict.update"],
        "dict, other",
        Body::Lir(update_rule, |cx, c| {
            update(cx, (c.args[0][0], c.types[0]), (c.args[1][0], c.types[1]))?;
            Ok(vec![])
        }),
    )
    .raises()
    .writes()
    .doc("Sets all keys of another dict."),
    OpDef::new(&["dict.update"], "dict, other", Body::Py("own_keys.update"))
        .only_if(|a| is_dict(a) && !is_counter(a) && is_dict(&a[1..]))
        .raises()
        .writes()
        .doc("Sets all keys of another dict, which say themselves when they are equal."),
    OpDef::new(&["dict.update"], "dict, pairs", Body::Py("containers.dict_update"))
        .only_if(|a| is_dict(a) && !is_dict(&a[1..]))
        .raises()
        .writes()
        .doc("Sets the keys of an iterable's pairs."),
    OpDef::new(
        &["dict.update"],
        "dict, **names",
        Body::Lir(
            |cx, a| {
                dict_parts(a, "dict.update()")?;
                a[1..].chunks(2).try_for_each(|pair| hold(cx, a[0].ty, pair[0].ty, pair[1].ty))?;
                Ok(Answer::of(Type::none()))
            },
            |cx, c| {
                let dict = (c.args[0][0], c.types[0]);
                for (pair, types) in c.args[1..].chunks(2).zip(c.types[1..].chunks(2)) {
                    set(cx, dict, (&pair[0], types[0]), (&pair[1], types[1]))?;
                }
                Ok(vec![])
            },
        ),
    )
    .raises()
    .writes()
    .doc("Sets names to values."),
    OpDef::new(&["operator.or_"], "a, b", Body::Py("containers.dict_union"))
        .only_if(|a| is_plain(a) && is_plain(&a[1..]))
        .raises()
        .reads()
        .doc("`a | b` of dicts."),
    OpDef::new(
        &["operator.ior"],
        "dict, other",
        Body::Lir(
            |cx, a| {
                if is_counter(a) {
                    return Err(no_match("|=", a));
                }
                update_rule(cx, a)?;
                Ok(Answer::of(a[0].ty))
            },
            |cx, c| {
                update(cx, (c.args[0][0], c.types[0]), (c.args[1][0], c.types[1]))?;
                cx.retain(&c.args[0], c.types[0]);
                Ok(c.args[0].clone())
            },
        ),
    )
    .raises()
    .writes()
    .doc("`dict |= other`."),
    OpDef::new(&["operator.ior"], "dict, other", Body::Py("own_keys.updated"))
        .only_if(|a| is_dict(a) && !is_counter(a) && is_dict(&a[1..]))
        .raises()
        .writes()
        .doc("`dict |= other`, whose keys say themselves when they are equal."),
    OpDef::new(&["operator.ior"], "dict, pairs", Body::Py("containers.dict_updated"))
        .only_if(|a| is_dict(a) && !is_counter(a) && !is_dict(&a[1..]))
        .raises()
        .writes()
        .doc("`dict |= pairs`."),
    OpDef::new(
        &["dict.keys"],
        "dict",
        Body::Lir(|_, a| view(a, Container::Keys), |_, c| Ok(c.args[0].clone())),
    )
    .consumes()
    .doc("A view of the keys."),
    OpDef::new(
        &["dict.values"],
        "dict",
        Body::Lir(|_, a| view(a, Container::Values), |_, c| Ok(c.args[0].clone())),
    )
    .consumes()
    .doc("A view of the values."),
    OpDef::new(
        &["dict.items"],
        "dict",
        Body::Lir(|_, a| view(a, Container::Items), |_, c| Ok(c.args[0].clone())),
    )
    .consumes()
    .doc("A view of the pairs."),
    OpDef::new(
        &["operator.eq"],
        "a, b",
        Body::Lir(equal_rule, |cx, c| Ok(vec![cx.helper_value(&dict_eq, &[c.args[0][0], c.args[1][0]])])),
    )
    .reads()
    .doc("`a == b` of dicts."),
    OpDef::new(
        &["operator.ne"],
        "a, b",
        Body::Lir(equal_rule, |cx, c| {
            let v = cx.helper_value(&dict_eq, &[c.args[0][0], c.args[1][0]]);
            Ok(vec![cx.not(v)])
        }),
    )
    .reads()
    .doc("`a != b` of dicts."),
    OpDef::new(&["operator.eq"], "a, b", Body::Py("containers.dict_equal"))
        .only_if(compares_as_dicts)
        .raises()
        .reads()
        .doc("`a == b` of dicts."),
    OpDef::new(&["operator.ne"], "a, b", Body::Py("containers.dict_unequal"))
        .only_if(compares_as_dicts)
        .raises()
        .reads()
        .doc("`a != b` of dicts."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("containers.dict_repr"))
        .only_if(is_plain)
        .raises()
        .reads()
        .doc("`repr` of a dict."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("containers.view_repr"))
        .only_if(|a| a[0].ty.container().is_some_and(|(c, _)| c.is_view()))
        .raises()
        .reads()
        .doc("`repr` of a view."),
    OpDef::new(
        &["operator._dict_of"],
        "view",
        Body::Lir(
            |_, a| match a[0].ty.container() {
                Some((Container::Items, m)) => {
                    Ok(Answer::of(Type::new(Kind::Container(Container::Dict, m.to_vec()))))
                }
                _ => Err(no_match("a view", a)),
            },
            |_, c| Ok(c.args[0].clone()),
        ),
    )
    .aliases()
    .internal()
    .doc("The dict whose items these are (library use)."),
    OpDef::new(
        &["operator._may_be_key"],
        "dict, key",
        Body::Lir(
            |cx, a| {
                let Some((_, [held, ..])) = a[0].ty.container() else { return Err(no_match("in", a)) };
                let [key, held] = [a[1].ty, *held].map(|t| cx.vars.resolve(t));
                if let Some(class) = keys::unhashable(key) {
                    return Err(keys::is_unhashable(&class));
                }
                Ok(Answer::constant(crate::types::Const::Bool(may_be_key(key, held))))
            },
            |cx, _| Ok(vec![cx.b.bool(false)]),
        ),
    )
    .internal()
    .doc("Whether a value is of a type of which keys may be (library use)."),
    OpDef::new(
        &["operator._hashable"],
        "x",
        Body::Lir(
            |cx, a| match has_no_hash(cx.vars.resolve(a[0].ty)) {
                Some(d) => Err(d),
                None => Ok(Answer::constant(crate::types::Const::None)),
            },
            |_, _| Ok(vec![]),
        ),
    )
    .internal()
    .doc("Refuses what has no hash, whatever it is looked for in (library use)."),
    OpDef::new(
        &["operator._view_name"],
        "x",
        Body::Lir(
            |_, a| match a[0].ty.container() {
                Some((c, _)) => Ok(Answer::constant(crate::types::Const::Str(c.name().into()))),
                None => Err(no_match("a view", a)),
            },
            |cx, c| {
                Ok(vec![crate::emit::constants::string(
                    &mut cx.b,
                    c.types[0].container().map_or("", |(c, _)| c.name()),
                )])
            },
        ),
    )
    .internal()
    .doc("What Python calls a view (library use)."),
];

// ---- types

/// Whether the first operand is a dict, of whatever class.
pub(super) fn is_dict(args: &[Arg]) -> bool {
    args[0].ty.container().is_some_and(|(c, _)| c.is_mapping())
}

/// Whether it is of this class.
pub(super) fn is_a(args: &[Arg], class: Container) -> bool {
    args[0].ty.container().is_some_and(|(c, _)| c == class)
}

fn is_plain(args: &[Arg]) -> bool {
    is_a(args, Container::Dict)
}

pub(super) fn is_counter(args: &[Arg]) -> bool {
    is_a(args, Container::Counter)
}

/// Counters are equal to one another, and ordered dicts, in their own ways.
fn compares_as_dicts(args: &[Arg]) -> bool {
    let both = |class| is_a(args, class) && is_a(&args[1..], class);
    is_dict(args) && is_dict(&args[1..]) && !both(Container::Counter) && !both(Container::OrderedDict)
}

/// The types of keys and values in a dict, which may be seen through a view; a set's values are nothing.
pub(super) fn parts(t: Type) -> Result<(Type, Type)> {
    match t.container() {
        Some((_, m)) => Ok((m[0], m.get(1).copied().unwrap_or_else(|| Type::tuple(vec![])))),
        None => Err(Diagnostic::internal(format!("{t} is no dict"))),
    }
}

/// Whether a pair is looked for among the items of a dict.
fn looks_up(args: &[Arg]) -> bool {
    matches!(args[0].ty.container(), Some((Container::Items, _)))
        && args[1].ty.members().is_some_and(|m| m.len() == 2)
}

/// The arguments of the type of the first operand, which must be a dict.
fn dict_parts(args: &[Arg], what: &str) -> Result<(Type, Type)> {
    if is_dict(args) { parts(args[0].ty) } else { Err(no_match(what, args)) }
}

/// The same, as far as they are known.
pub(super) fn known_parts(cx: &TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<(Type, Type)> {
    let (k, v) = dict_parts(args, what)?;
    Ok((cx.vars.known(k), cx.vars.known(v)))
}

/// A dict that is made here, whose keys and values are found out by use.
pub(super) fn new_dict(cx: &mut TyCx<'_, '_>) -> Type {
    new_of(cx, Container::Dict, &[])
}

/// The same of a class, with what stands in its types behind keys and values.
pub(super) fn new_of(cx: &mut TyCx<'_, '_>, class: Container, rest: &[Type]) -> Type {
    let [k, v] = [0, 1].map(|n| cx.vars.at(cx.site, n, Type::int()));
    Type::new(Kind::Container(class, [&[k, v], rest].concat()))
}

/// A dict also has such keys and values.
pub(super) fn hold(cx: &mut TyCx<'_, '_>, dict: Type, key: Type, value: Type) -> Result<()> {
    let (k, v) = parts(dict)?;
    check_hashable(cx, key, Held::Key)?;
    cx.hold(k, key, Held::Key)?;
    check_hashable(cx, k, Held::Key)?;
    cx.hold(v, value, Held::Value)
}

/// The known parts of a dict, or a view of keys, in which the second operand is looked up.
pub(super) fn looked_up(cx: &mut TyCx<'_, '_>, args: &[Arg], what: &str) -> Result<(Type, Type)> {
    let (k, v) = known_parts(cx, args, what)?;
    check_key(cx, args[1].ty, k)?;
    Ok((k, v))
}

/// Why a value is looked for in no dict or set: it has no hash.
pub(crate) fn has_no_hash(t: Type) -> Option<Diagnostic> {
    keys::unhashable(t).map(|class| keys::is_unhashable(&class))
}

/// Whether a value of one type, which dicts take as a key, is never one of a dict with keys of another.
pub(crate) fn is_never_key(key: Type, held: Type) -> bool {
    let known = |t: Type| *t != Kind::Never && !crate::typing::vars::has_unknown(t);
    known(key) && known(held) && keys::unhashable(key).is_none() && !may_be_key(key, held)
}

fn check_key(cx: &TyCx<'_, '_>, key: Type, held: Type) -> Result<()> {
    check_hashable(cx, key, Held::Key)?;
    let [key, held] = [key, held].map(|t| cx.vars.resolve(t));
    if *held == Kind::Never || *key == Kind::Never || may_be_key(key, held) {
        return Ok(());
    }
    Err(Diagnostic::new(
        Code::NoMatchingOperation,
        format!("a value of type {key} is never a key of a dict with keys of type {held}"),
    ))
}

// ---- rules

fn build_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let dict = new_dict(cx);
    for pair in args.chunks(2) {
        hold(cx, dict, pair[0].ty, pair[1].ty)?;
    }
    Ok(Answer::of(dict))
}

fn copy_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (k, v) = known_parts(cx, args, "dict()")?;
    let dict = new_dict(cx);
    hold(cx, dict, k, v)?;
    Ok(Answer::of(dict))
}

fn copy_like_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (k, v) = known_parts(cx, args, "copy()")?;
    let Some((class, m)) = args[0].ty.container() else { return Err(no_match("copy()", args)) };
    let dict = new_of(cx, class, &m[2..]);
    hold(cx, dict, k, v)?;
    Ok(Answer::of(dict))
}

fn set_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    dict_parts(args, "[] =")?;
    hold(cx, args[0].ty, args[1].ty, args[2].ty)?;
    Ok(Answer::of(Type::none()))
}

fn item_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if args[0].ty.container().is_some_and(|(c, _)| c.has_defaults()) {
        return Err(no_match("[]", args));
    }
    looked_up(cx, args, "[]").map(|(_, v)| Answer::of(v))
}

fn contains_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let Some((_, m)) = args[0].ty.container().filter(|(c, _)| c.is_mapping() || *c == Container::Keys) else {
        return Err(no_match("in", args));
    };
    check_key(cx, args[1].ty, cx.vars.known(m[0]))?;
    Ok(Answer::of(Type::bool()))
}

/// The type of a value of the dict or another one.
fn or_else(cx: &mut TyCx<'_, '_>, v: Type, other: Type) -> Result<Answer> {
    match cx.unify(v, other) {
        Some(t) => Ok(Answer::of(t)),
        None => {
            let [v, other] = [v, other].map(|t| cx.vars.resolve(t));
            Err(Diagnostic::new(
                Code::CannotUnify,
                format!("this is a value of type {v}, or the default, which is one of type {other}"),
            )
            .help("give a default of the type of the values"))
        }
    }
}

fn get_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (_, v) = looked_up(cx, args, "dict.get()")?;
    or_else(cx, v, args[2].ty)
}

fn pop_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (_, v) = looked_up(cx, args, "dict.pop()")?;
    if args[2].is_omitted() { Ok(Answer::of(v)) } else { or_else(cx, v, args[2].ty) }
}

fn setdefault_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (_, v) = dict_parts(args, "dict.setdefault()")?;
    hold(cx, args[0].ty, args[1].ty, args[2].ty)?;
    Ok(Answer::of(cx.vars.known(v)))
}

fn update_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    dict_parts(args, "dict.update()")?;
    let (k, v) = known_parts(cx, &args[1..], "dict.update()")?;
    hold(cx, args[0].ty, k, v)?;
    Ok(Answer::of(Type::none()))
}

fn view(args: &[Arg], of: Container) -> Result<Answer> {
    let (k, v) = dict_parts(args, of.name())?;
    Ok(Answer::of(Type::new(Kind::Container(of, vec![k, v]))))
}

/// Helpers compare dicts of one type whose values they can compare.
fn equal_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    dict_parts(args, "==")?;
    dict_parts(&args[1..], "==")?;
    let [a, b] = [0, 1].map(|k| cx.vars.resolve(args[k].ty));
    let (k, v) = parts(a)?;
    let known = [k, v].iter().all(|t| **t != Kind::Never && desc::compared_parts(*t).is_some());
    let special =
        a.container().is_some_and(|(c, _)| matches!(c, Container::Counter | Container::OrderedDict));
    if a == b && known && !special { Ok(Answer::of(Type::bool())) } else { Err(no_match("==", args)) }
}

// ---- emitters

pub(super) fn emit_build(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let dict = make(cx, c.ret, c.args.len() / 2)?;
    cx.guarded(&[dict], |cx| {
        for (pair, types) in c.args.chunks(2).zip(c.types.chunks(2)) {
            set(cx, (dict, c.ret), (&pair[0], types[0]), (&pair[1], types[1]))?;
        }
        Ok(vec![dict])
    })
}

fn emit_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    set(cx, (c.args[0][0], c.types[0]), (&c.args[1], c.types[1]), (&c.args[2], c.types[2]))?;
    Ok(vec![])
}

fn emit_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = find(cx, c, 1)?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    check_found(cx, found, &c.args[1], c.types[1])?;
    let x = value_at(cx, c.args[0][0], c.types[0], at)?;
    cx.retain(&x, c.ret);
    Ok(x)
}

fn emit_delete(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (_, v) = parts(c.types[0])?;
    let at = find(cx, c, 1)?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    check_found(cx, found, &c.args[1], c.types[1])?;
    let old = value_at(cx, c.args[0][0], c.types[0], at)?;
    cx.helper(&dict_remove, &[c.args[0][0], at]);
    cx.release(&old, v);
    Ok(vec![])
}

/// Operand `k` as a value of the result's type, with references of its own.
fn other(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Val> {
    cast::kept(cx, &c.args[k], c.types[k], c.ret)
}

fn emit_get(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (_, v) = parts(c.types[0])?;
    let at = find(cx, c, 1)?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    if *v == Kind::Never {
        return other(cx, c, 2);
    }
    cx.if_else(
        found,
        |cx| {
            let x = value_at(cx, c.args[0][0], c.types[0], at)?;
            cast::kept(cx, &x, v, c.ret)
        },
        |cx| other(cx, c, 2),
    )
}

fn emit_pop(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (_, v) = parts(c.types[0])?;
    let at = find(cx, c, 1)?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    // The value's references move out with it.
    let taken = |cx: &mut LowerCx<'_>| {
        let x = value_at(cx, c.args[0][0], c.types[0], at)?;
        let x = cast::joined(cx, &x, v, c.ret, promote::makes_tuple(v, c.ret))?;
        cx.helper(&dict_remove, &[c.args[0][0], at]);
        Ok(x)
    };
    if *c.types[2] == Kind::Ellipsis {
        check_found(cx, found, &c.args[1], c.types[1])?;
        return taken(cx);
    }
    if *v == Kind::Never {
        return other(cx, c, 2);
    }
    cx.if_else(found, taken, |cx| other(cx, c, 2))
}

fn emit_popitem(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let dict = c.args[0][0];
    let used = cx.b.load(Ty::I64, dict, offset!(Dict.used), Alias::Object);
    let at = cx.helper_value(&dict_live_before, &[dict, used]);
    let some = cx.b.bin_imm(Op::IcmpSge, at, 0);
    let empty = "popitem(): dictionary is empty";
    let text = crate::emit::constants::string(&mut cx.b, empty);
    check_found(cx, some, &[text], Type::str())?;
    if *c.ret == Kind::Never {
        return Ok(vec![]);
    }
    let (k, _) = parts(c.types[0])?;
    let entry = Entry::of(c.types[0])?;
    let p = entry.address(cx, dict, at);
    let key = load(cx, p, entry.key());
    let value = load(cx, p, entry.value());
    cx.retain(&key, k);
    cx.helper(&dict_drop_last, &[dict, at]);
    Ok([key, value].concat())
}

fn emit_setdefault(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let at = find(cx, c, 1)?;
    let found = cx.b.bin_imm(Op::IcmpSge, at, 0);
    let t = c.types[0];
    cx.if_else(
        found,
        |cx| {
            let x = value_at(cx, c.args[0][0], t, at)?;
            cx.retain(&x, c.ret);
            Ok(x)
        },
        |cx| {
            set(cx, (c.args[0][0], t), (&c.args[1], c.types[1]), (&c.args[2], c.types[2]))?;
            other(cx, c, 2)
        },
    )
}

/// Sets all keys of another dict, converted.
fn update(cx: &mut LowerCx<'_>, (to, to_ty): (Value, Type), (from, from_ty): (Value, Type)) -> Result<()> {
    if promote::same_but_weak(to_ty, from_ty) {
        cx.helper(&dict_update, &[to, from]);
        return Ok(());
    }
    let (k, v) = parts(from_ty)?;
    if *k == Kind::Never || *v == Kind::Never {
        return Ok(());
    }
    let items = Type::new(Kind::Container(Container::Items, vec![k, v]));
    super::iter::for_each(cx, &[from], items, |cx, pair, _| {
        let (key, value) = pair.split_at(k.leaf_count());
        set(cx, (to, to_ty), (key, k), (value, v))?;
        cx.release(key, k);
        cx.release(value, v);
        Ok(())
    })
}

fn emit_copy(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if promote::same_but_weak(c.types[0], c.ret) {
        return Ok(vec![cx.helper_value(&dict_copy, &[c.args[0][0]])]);
    }
    let dict = make(cx, c.ret, 0)?;
    cx.guarded(&[dict], |cx| {
        update(cx, (dict, c.ret), (c.args[0][0], c.types[0]))?;
        Ok(vec![dict])
    })
}
