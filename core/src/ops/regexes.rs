//! Python's module `re`. Patterns and matches are instances of classes of the library
//! (`tierup/lib/regexes.py`); what matches is found by the run-time, or by Python's own `re`, which the host asks.
//!
//! A pattern is its text and its flags, so code in the cache holds no object. How many groups it has is in its
//! type where the text is known when the function is compiled: the *shape* is a tuple with a member for each, a named
//! one where groups have names.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::layout::{List, Str};
use crate::lir::{Alias, Op, Ty, Value};
use crate::rt::{Ctx, P};
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

crate::runtime_fns! {
    /// Python's `re`. `asked` points to five integers: how ([`How`]), whether the pattern is bytes and whether the
    /// text is (bits 0 and 1), the flags of the pattern, and the places between which it is looked for.
    trait Helpers;
    /// Looks for a pattern and writes the number of the last group that matched (-1 for none), then where the match
    /// and each of its `groups` begin and end (-1 where one has not matched). 0 for no match, of which nothing is
    /// written. Raises what Python raises.
    fn regex_find(ctx: Ctx, pattern: *mut Str, text: *mut Str, asked: P, groups: i64, out: P) -> i64 [Writes, Pending];
    /// The same numbers as a list, which is empty for no match.
    fn regex_find_list(ctx: Ctx, pattern: *mut Str, text: *mut Str, asked: P) -> *mut List [Writes, Pending];
    /// Whether all matches of a text are found without Python.
    fn regex_finds_all(pattern: *mut Str, text: *mut Str, asked: P) -> i64 [Writes, Never];
}

/// What a match is looked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum How {
    Match = 0,
    Search = 1,
    FullMatch = 2,
    /// What `finditer` finds behind a match of no length that ends at the first of the places.
    Next = 3,
}

impl How {
    pub const ALL: [How; 4] = [How::Match, How::Search, How::FullMatch, How::Next];
    /// The method of Python's patterns that finds it.
    pub fn method(self) -> &'static str {
        match self {
            How::Match => "match",
            How::Search => "search",
            How::FullMatch => "fullmatch",
            How::Next => "finditer",
        }
    }
}

/// A row of the module: a function of the library.
macro_rules! row {
    ([$($path:literal),+], $params:literal, $function:literal, $doc:literal) => {
        OpDef::new(&[$($path),+], $params, Body::Py($function)).raises().doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    row!(["re.compile"], "pattern, flags=0", "regexes.compile", "A pattern; re.error."),
    row!(
        ["re.match"],
        "pattern, string, flags=0",
        "regexes.match",
        "The match at the start of a text, or None."
    ),
    row!(["re.search"], "pattern, string, flags=0", "regexes.search", "The first match in a text, or None."),
    row!(
        ["re.fullmatch"],
        "pattern, string, flags=0",
        "regexes.fullmatch",
        "The match of a whole text, or None."
    ),
    row!(
        ["re.findall"],
        "pattern, string, flags=0",
        "regexes.findall",
        "What matches, or what the groups of each match are."
    ),
    row!(
        ["re.finditer"],
        "pattern, string, flags=0",
        "regexes.finditer",
        "All matches, one after the other."
    ),
    row!(
        ["re.split"],
        "pattern, string, maxsplit=0, flags=0",
        "regexes.split",
        "What stands between matches, with their groups."
    ),
    row!(
        ["re.sub"],
        "pattern, repl, string, count=0, flags=0",
        "regexes.sub",
        "A text with matches replaced by a template, or by what a function gives for each."
    ),
    row!(
        ["re.subn"],
        "pattern, repl, string, count=0, flags=0",
        "regexes.subn",
        "The same, and how many were replaced."
    ),
    row!(["re.escape"], "pattern", "regexes.escape", "A pattern that matches a text and nothing else."),
    OpDef::new(&["re._known"], "pattern, flags", Body::Lir(known_rule, |_, _| Ok(vec![])))
        .internal()
        .doc("A function that gives flags and shape of a pattern that is known (library use)."),
    OpDef::new(
        &["re._needs"],
        "shape",
        Body::Lir(|_, a| groups(&a[0]).map(|_| Answer::of(Type::none())), |_, _| Ok(vec![])),
    )
    .internal()
    .doc("Refuses a pattern whose groups are not known (library use)."),
    OpDef::new(&["re._sure"], "shape, group", Body::Lir(sure_rule, |_, _| Ok(vec![])))
        .internal()
        .doc("Whether a group, which is a constant, is set in every match; all of them for None (library use)."),
    OpDef::new(&["re._names"], "shape", Body::Lir(names_rule, |_, _| Ok(vec![])))
        .internal()
        .doc("The names of groups, empty where they have none (library use)."),
    OpDef::new(&["re._index"], "shape, name", Body::Lir(index_rule, |_, _| Ok(vec![])))
        .internal()
        .doc("The number of a group by its name: -1 where there is none, -2 where the name is not known (library use)."),
    OpDef::new(&["re._all"], "shape, bytes, split", Body::Lir(all_rule, |_, _| Ok(vec![])))
        .internal()
        .doc("A function that has Python find all matches, or split a text by them (library use)."),
    OpDef::new(
        &["re._finds_all"],
        "pattern, flags, how, string, pos, endpos",
        Body::Lir(finds_all_rule, emit_finds_all),
    )
    .reads()
    .internal()
    .doc("Whether all matches of a text are found without Python (library use)."),
    OpDef::new(
        &["re._find"],
        "pattern, flags, how, string, pos, endpos, shape",
        Body::Lir(find_rule, emit_find),
    )
    .raises()
    .reads()
    .internal()
    .doc("Whether there is a match, its last group, and where it and its groups lie (library use)."),
    OpDef::new(
        &["re._find_list"],
        "pattern, flags, how, string, pos, endpos",
        Body::Lir(list_rule, emit_list),
    )
    .raises()
    .reads()
    .internal()
    .doc("Last group and places of a match of a pattern whose groups are not known (library use)."),
];

fn known_rule(cx: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let (Some(pattern), Some(flags)) = (&a[0].konst, &a[1].konst) else {
        return cx.written("_regexes.unknown", &[]);
    };
    cx.written("_regexes.known", &[pattern.clone(), flags.clone()])
}

/// The groups of a shape.
fn groups(shape: &Arg) -> Result<&'static [Type]> {
    shape.ty.members().ok_or_else(|| {
        Diagnostic::new(
            Code::RequiresConstant,
            "the type of this depends on how many groups the pattern has, which is not known here",
        )
        .help("write the pattern as a text in the call or compile it at module level; m.group(k) does with any pattern")
    })
}

/// The name of a group by that of its field in a shape.
fn group_name(field: &str) -> &str {
    field.strip_prefix("group_").unwrap_or("")
}

/// The number of the group of a shape that a constant says, by number or name.
fn number_of(shape: Type, group: &Arg) -> Option<usize> {
    match group.text() {
        Some(name) => shape.field_names().iter().position(|f| group_name(f) == name).map(|k| k + 1),
        None => usize::try_from(group.int()?).ok(),
    }
}

fn sure_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let sure = |t: &Type| *t != Type::none();
    let members = a[0].ty.members();
    let answer = if a[1].is_none() {
        members.is_some_and(|all| all.iter().all(sure))
    } else {
        match number_of(a[0].ty, &a[1]) {
            Some(0) => true,
            Some(k) => members.and_then(|all| all.get(k - 1)).is_some_and(sure),
            None => false,
        }
    };
    Ok(Answer::constant(Const::Bool(answer)))
}

fn names_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let (all, fields) = (groups(&a[0])?, a[0].ty.field_names());
    let name = |k: usize| Const::Str(fields.get(k).map_or("", |f| group_name(f)).into());
    Ok(Answer::constant(Const::Tuple((0..all.len()).map(name).collect())))
}

fn index_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let known = a[1].text().is_some() && a[0].ty.members().is_some();
    let number = number_of(a[0].ty, &a[1]).map_or(-1, |k| k as i64);
    Ok(Answer::constant(Const::Int(if known { number } else { -2 })))
}

fn all_rule(cx: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let flag = |k: usize| a[k].konst.clone().ok_or_else(|| no_match("re", a));
    if a[0].is_none() {
        return cx.written("_regexes.all_of_unknown", &[flag(1)?, flag(2)?]);
    }
    let groups = groups(&a[0])?;
    // Which of them match always.
    let sure = groups.iter().map(|g| Const::Bool(*g != Type::none())).collect();
    cx.written("_regexes.all_of", &[Const::Tuple(sure), flag(1)?, flag(2)?])
}

fn check_operands(a: &[Arg]) -> Result<()> {
    let text = |k: usize| matches!(*a[k].ty, Kind::Str | Kind::Bytes);
    let whole = |k: usize| a[k].ty.is_index();
    if !text(0) || !whole(1) || !whole(2) || !text(3) || !whole(4) || !whole(5) {
        return Err(no_match("a function of re", a).help("patterns and texts are str or bytes"));
    }
    Ok(())
}

fn find_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    check_operands(a)?;
    let groups = a[6].ty.members().ok_or_else(|| no_match("a function of re", a))?.len();
    let places = Type::tuple(vec![Type::int(); 2 * groups + 2]);
    Ok(Answer::of(Type::tuple(vec![Type::bool(), Type::int(), places])))
}

fn finds_all_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    check_operands(a)?;
    Ok(Answer::of(Type::bool()))
}

fn list_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    check_operands(a)?;
    Ok(Answer::of(Type::list(Type::int())))
}

/// Where the numbers lie that say what is asked.
fn asked(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Value {
    let bytes = [0, 3].map(|k| *c.types[k] == Kind::Bytes);
    let kinds = cx.b.i64(i64::from(bytes[0]) + 2 * i64::from(bytes[1]));
    let [flags, how, pos, endpos] = [1, 2, 4, 5].map(|k| cast::to_i64(cx, c.args[k][0], c.types[k]));
    cx.spill(&[how, kinds, flags, pos, endpos])
}

fn emit_find(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let groups = c.types[6].members().map_or(0, <[Type]>::len);
    let numbers = 2 * groups + 3;
    let (asked, out) = (asked(cx, c), cx.b.slot_addr(8 * numbers as u32));
    let zero = cx.b.i64(0);
    for k in 0..numbers {
        cx.b.store(zero, out, 8 * k as i32, Alias::Stack);
    }
    let groups = cx.b.i64(groups as i64);
    let found = cx.helper_value(&regex_find, &[c.args[0][0], c.args[3][0], asked, groups, out]);
    let mut all = vec![cx.b.bin_imm(Op::IcmpNe, found, 0)];
    all.extend((0..numbers).map(|k| cx.b.load(Ty::I64, out, 8 * k as i32, Alias::Stack)));
    Ok(all)
}

fn emit_list(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let asked = asked(cx, c);
    Ok(vec![cx.helper_value(&regex_find_list, &[c.args[0][0], c.args[3][0], asked])])
}

fn emit_finds_all(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let asked = asked(cx, c);
    let answer = cx.helper_value(&regex_finds_all, &[c.args[0][0], c.args[3][0], asked]);
    Ok(vec![cx.b.bin_imm(Op::IcmpNe, answer, 0)])
}
