//! Methods of `bytes` and `bytearray`. Those of a bytearray give bytearrays.

use super::bytes::like::{self, Shown, is_like};
use super::bytes::{self as by};
use super::string as st;
use super::{Body, OpDef};
use crate::diag::{Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::length::length;
use crate::emit::truth::truth;
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty};
use crate::rt::RtFn;
use crate::types::{Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

/// What a method gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Bool,
    Int,
    /// Bytes of the class that it is a method of.
    Own,
    /// A list of them.
    List,
}

/// A method whose helper takes the operands in order: bytes first, then what `Takes` says.
macro_rules! method {
    ($name:literal, $params:literal, $takes:expr, $gives:expr, $helper:path, $doc:literal) => {
        OpDef::new(
            &[concat!("bytes.", $name), concat!("bytearray.", $name)],
            $params,
            Body::Lir(|_, a| rule(a, $name, $takes, $gives), |cx, c| like::call(cx, c, &$helper)),
        )
        .raises()
        .reads()
        .doc($doc)
    };
}

/// What a method takes behind the bytes that it is called on.
#[derive(Clone, Copy)]
enum Takes {
    Nothing,
    /// Bytes, or one byte as a number; then the bounds of a search.
    Search,
    /// Bytes; then the bounds of a search.
    Prefix,
    /// So many operands that are bytes; then integers.
    Bytes(usize),
    /// Bytes or None; then integers.
    Optional,
    /// An integer; then bytes, which may be left out.
    Width,
}

pub(crate) static OPS: &[OpDef] = &[
    method!(
        "find",
        "b, sub, start=None, end=None",
        Takes::Search,
        Gives::Int,
        st::str_find,
        "As Python's `bytes.find`."
    ),
    method!(
        "rfind",
        "b, sub, start=None, end=None",
        Takes::Search,
        Gives::Int,
        st::str_rfind,
        "As Python's `bytes.rfind`."
    ),
    method!(
        "count",
        "b, sub, start=None, end=None",
        Takes::Search,
        Gives::Int,
        st::str_count,
        "As Python's `bytes.count`."
    ),
    method!(
        "index",
        "b, sub, start=None, end=None",
        Takes::Search,
        Gives::Int,
        by::bytes_index,
        "As Python's `bytes.index`; ValueError."
    ),
    method!(
        "rindex",
        "b, sub, start=None, end=None",
        Takes::Search,
        Gives::Int,
        by::bytes_rindex,
        "As Python's `bytes.rindex`; ValueError."
    ),
    method!(
        "startswith",
        "b, prefix, start=None, end=None",
        Takes::Prefix,
        Gives::Bool,
        st::str_startswith,
        "Whether it starts with `prefix`."
    ),
    method!(
        "endswith",
        "b, suffix, start=None, end=None",
        Takes::Prefix,
        Gives::Bool,
        st::str_endswith,
        "Whether it ends with `suffix`."
    ),
    OpDef::new(
        &["bytes.startswith", "bytearray.startswith"],
        "b, prefixes, start=None, end=None",
        Body::Py("builtin.starts_with_any"),
    )
    .only_if(|a| a[1].ty.members().is_some())
    .doc("Whether it starts with one of several prefixes."),
    OpDef::new(
        &["bytes.endswith", "bytearray.endswith"],
        "b, suffixes, start=None, end=None",
        Body::Py("builtin.ends_with_any"),
    )
    .only_if(|a| a[1].ty.members().is_some())
    .doc("Whether it ends with one of several suffixes."),
    method!(
        "replace",
        "b, old, new, count=-1",
        Takes::Bytes(2),
        Gives::Own,
        st::str_replace,
        "Replaces up to `count` occurrences."
    ),
    method!(
        "removeprefix",
        "b, prefix",
        Takes::Bytes(1),
        Gives::Own,
        st::str_removeprefix,
        "Without `prefix`."
    ),
    method!(
        "removesuffix",
        "b, suffix",
        Takes::Bytes(1),
        Gives::Own,
        st::str_removesuffix,
        "Without `suffix`."
    ),
    method!(
        "split",
        "b, sep=None, maxsplit=-1",
        Takes::Optional,
        Gives::List,
        by::bytes_split,
        "Parts between separators."
    ),
    method!(
        "rsplit",
        "b, sep=None, maxsplit=-1",
        Takes::Optional,
        Gives::List,
        by::bytes_rsplit,
        "Parts between separators, from the right."
    ),
    OpDef::new(
        &["bytes.splitlines", "bytearray.splitlines"],
        "b, keepends=False",
        Body::Lir(
            |_, a| match is_like(a[0].ty) && a[1].ty.is_flag() {
                true => Ok(Answer::of(Type::list(a[0].ty))),
                false => Err(no_match("bytes.splitlines()", a)),
            },
            |cx, c| {
                let keepends = truth(cx, &c.args[1], c.types[1])?;
                let as_flag = OpCall {
                    args: &[c.args[0].clone(), vec![keepends]],
                    types: &[c.types[0], Type::bool()],
                    ..*c
                };
                like::call(cx, &as_flag, &by::bytes_splitlines)
            },
        ),
    )
    .raises()
    .reads()
    .doc("Lines."),
    OpDef::new(
        &["bytes.partition", "bytearray.partition"],
        "b, sep",
        Body::Lir(|_, a| parts_rule(a, "partition"), |cx, c| three(cx, c, &st::str_partition)),
    )
    .raises()
    .reads()
    .doc("`(before, sep, after)` of the first separator."),
    OpDef::new(
        &["bytes.rpartition", "bytearray.rpartition"],
        "b, sep",
        Body::Lir(|_, a| parts_rule(a, "rpartition"), |cx, c| three(cx, c, &st::str_rpartition)),
    )
    .raises()
    .reads()
    .doc("`(before, sep, after)` of the last separator."),
    OpDef::new(&["bytes.join", "bytearray.join"], "sep, parts", Body::Lir(join_rule, emit_join))
        .raises()
        .reads()
        .doc("The parts with `sep` between them."),
    OpDef::new(&["bytes.join", "bytearray.join"], "sep, parts", Body::Py("bytestrings.join"))
        .only_if(|a| is_like(a[0].ty))
        .raises()
        .reads()
        .doc("The values of an iterable with `sep` between them."),
    method!(
        "strip",
        "b, chars=None",
        Takes::Optional,
        Gives::Own,
        by::bytes_strip,
        "As Python's `bytes.strip`."
    ),
    method!(
        "lstrip",
        "b, chars=None",
        Takes::Optional,
        Gives::Own,
        by::bytes_lstrip,
        "As Python's `bytes.lstrip`."
    ),
    method!(
        "rstrip",
        "b, chars=None",
        Takes::Optional,
        Gives::Own,
        by::bytes_rstrip,
        "As Python's `bytes.rstrip`."
    ),
    OpDef::new(
        &["bytes.center", "bytearray.center"],
        "b, width, fillchar=...",
        Body::Lir(
            |_, a| rule(a, "center", Takes::Width, Gives::Own),
            |cx, c| padded(cx, c, "center", &st::str_center),
        ),
    )
    .raises()
    .reads()
    .doc("As Python's `bytes.center`."),
    OpDef::new(
        &["bytes.ljust", "bytearray.ljust"],
        "b, width, fillchar=...",
        Body::Lir(
            |_, a| rule(a, "ljust", Takes::Width, Gives::Own),
            |cx, c| padded(cx, c, "ljust", &st::str_ljust),
        ),
    )
    .raises()
    .reads()
    .doc("As Python's `bytes.ljust`."),
    OpDef::new(
        &["bytes.rjust", "bytearray.rjust"],
        "b, width, fillchar=...",
        Body::Lir(
            |_, a| rule(a, "rjust", Takes::Width, Gives::Own),
            |cx, c| padded(cx, c, "rjust", &st::str_rjust),
        ),
    )
    .raises()
    .reads()
    .doc("As Python's `bytes.rjust`."),
    method!("zfill", "b, width", Takes::Bytes(0), Gives::Own, st::str_zfill, "Padded with zeros."),
    method!(
        "expandtabs",
        "b, tabsize=8",
        Takes::Bytes(0),
        Gives::Own,
        st::str_expandtabs,
        "Tabs replaced by spaces."
    ),
    method!(
        "capitalize",
        "b",
        Takes::Nothing,
        Gives::Own,
        by::bytes_capitalize,
        "The first letter of ASCII upper-case, the others lower-case."
    ),
    method!("lower", "b", Takes::Nothing, Gives::Own, by::bytes_lower, "Letters of ASCII lower-case."),
    method!(
        "swapcase",
        "b",
        Takes::Nothing,
        Gives::Own,
        by::bytes_swapcase,
        "Letters of ASCII in the other case."
    ),
    method!(
        "title",
        "b",
        Takes::Nothing,
        Gives::Own,
        by::bytes_title,
        "The first letter of each word upper-case."
    ),
    method!("upper", "b", Takes::Nothing, Gives::Own, by::bytes_upper, "Letters of ASCII upper-case."),
    method!(
        "isalnum",
        "b",
        Takes::Nothing,
        Gives::Bool,
        by::bytes_isalnum,
        "Whether all are letters or digits of ASCII."
    ),
    method!(
        "isalpha",
        "b",
        Takes::Nothing,
        Gives::Bool,
        by::bytes_isalpha,
        "Whether all are letters of ASCII."
    ),
    method!("isascii", "b", Takes::Nothing, Gives::Bool, st::str_isascii, "Whether all are ASCII."),
    method!(
        "isdigit",
        "b",
        Takes::Nothing,
        Gives::Bool,
        by::bytes_isdigit,
        "Whether all are digits of ASCII."
    ),
    method!(
        "islower",
        "b",
        Takes::Nothing,
        Gives::Bool,
        by::bytes_islower,
        "Whether all letters of ASCII are lower-case."
    ),
    method!(
        "isspace",
        "b",
        Takes::Nothing,
        Gives::Bool,
        by::bytes_isspace,
        "Whether all are whitespace of ASCII."
    ),
    method!("istitle", "b", Takes::Nothing, Gives::Bool, by::bytes_istitle, "Whether it is title-cased."),
    method!(
        "isupper",
        "b",
        Takes::Nothing,
        Gives::Bool,
        by::bytes_isupper,
        "Whether all letters of ASCII are upper-case."
    ),
    OpDef::new(
        &["bytes.hex", "bytearray.hex"],
        "b, sep=..., bytes_per_sep=1",
        Body::Lir(
            |_, a| match is_like(a[0].ty)
                && (a[1].is_omitted() || is_like(a[1].ty) || *a[1].ty == Kind::Str)
                && a[2].ty.is_index()
            {
                true => Ok(Answer::of(Type::str())),
                false => Err(no_match("bytes.hex()", a)),
            },
            |cx, c| like::call(cx, c, &by::bytes_hex),
        ),
    )
    .raises()
    .reads()
    .doc("Two hexadecimal digits for each byte; ValueError."),
    OpDef::new(
        &["bytes.fromhex"],
        "string",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Str {
                    Ok(Answer::of(Type::bytes()))
                } else {
                    Err(no_match("bytes.fromhex()", a))
                }
            },
            |cx, c| like::call(cx, c, &by::bytes_fromhex),
        ),
    )
    .of_class()
    .raises()
    .reads()
    .doc("Bytes by their hexadecimal digits; ValueError."),
    OpDef::new(
        &["bytearray.fromhex"],
        "string",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Str {
                    Ok(Answer::of(Type::bytearray()))
                } else {
                    Err(no_match("bytearray.fromhex()", a))
                }
            },
            |cx, c| like::call(cx, c, &by::bytes_fromhex),
        ),
    )
    .of_class()
    .raises()
    .reads()
    .doc("A bytearray by hexadecimal digits; ValueError."),
    OpDef::new(
        &["bytes.translate", "bytearray.translate"],
        "b, table, delete=...",
        Body::Lir(
            |_, a| {
                let fits = is_like(a[0].ty)
                    && (a[1].is_none() || is_like(a[1].ty))
                    && (a[2].is_omitted() || is_like(a[2].ty));
                if fits { Ok(Answer::of(a[0].ty)) } else { Err(no_match("bytes.translate()", a)) }
            },
            |cx, c| like::call(cx, c, &by::bytes_translate),
        ),
    )
    .raises()
    .reads()
    .doc("Each byte as a table of 256 has it, without those of `delete`; ValueError."),
    OpDef::new(
        &["bytes.maketrans", "bytearray.maketrans"],
        "frm, to",
        Body::Lir(
            |_, a| {
                if is_like(a[0].ty) && is_like(a[1].ty) {
                    Ok(Answer::of(Type::bytes()))
                } else {
                    Err(no_match("bytes.maketrans()", a))
                }
            },
            |cx, c| like::call(cx, c, &by::bytes_maketrans),
        ),
    )
    .of_class()
    .raises()
    .reads()
    .doc("A table for `translate`; ValueError."),
];

fn rule(args: &[Arg], name: &str, takes: Takes, gives: Gives) -> Result<Answer> {
    let bound = |a: &Arg| a.ty.is_index() || a.is_none();
    let fits = |(k, a): (usize, &Arg)| match takes {
        Takes::Nothing => false,
        Takes::Search if k == 1 => is_like(a.ty) || a.ty.is_index(),
        Takes::Prefix if k == 1 => is_like(a.ty),
        Takes::Search | Takes::Prefix => bound(a),
        Takes::Bytes(n) if k <= n => is_like(a.ty),
        Takes::Optional if k == 1 => is_like(a.ty) || a.is_none(),
        Takes::Width if k == 2 => is_like(a.ty) || a.is_omitted(),
        Takes::Bytes(_) | Takes::Optional | Takes::Width => a.ty.is_index(),
    };
    let own = args[0].ty;
    if let Some((_, text)) = args.iter().enumerate().skip(1).find(|a| *a.1.ty == Kind::Str && !fits(*a)) {
        return Err(not_bytes(text, name));
    }
    if !is_like(own) || !args.iter().enumerate().skip(1).all(fits) {
        return Err(no_match(&format!("bytes.{name}"), args));
    }
    Ok(Answer::of(match gives {
        Gives::Bool => Type::bool(),
        Gives::Int => Type::int(),
        Gives::Own => own,
        Gives::List => Type::list(own),
    }))
}

/// What Python says where a text stands for bytes.
fn not_bytes(arg: &Arg, name: &str) -> Diagnostic {
    let class = &crate::classes::class_of(arg.ty).name;
    by::refused(format!("bytes.{name}(): a bytes-like object is required, not '{class}'"))
        .help("s.encode() has the bytes of a text")
}

/// Bytes with others around them, of which one is said.
fn padded(cx: &mut LowerCx<'_>, c: &OpCall<'_>, name: &str, helper: &'static RtFn) -> Result<Val> {
    if is_like(c.types[2]) {
        let n = length(cx, &c.args[2], c.types[2])?;
        let one = cx.b.bin_imm(Op::IcmpEq, n, 1);
        let class = &crate::classes::class_of(c.types[2]).name;
        let text = format!("{name}() argument 2 must be a byte string of length 1, not {class}");
        cx.check(one, Class::TypeError, &text);
    }
    like::call(cx, c, helper)
}

fn parts_rule(args: &[Arg], name: &str) -> Result<Answer> {
    let answer = rule(args, name, Takes::Bytes(1), Gives::Own)?;
    Ok(Answer::of(Type::tuple(vec![answer.ret; 3])))
}

fn three(cx: &mut LowerCx<'_>, c: &OpCall<'_>, helper: &'static RtFn) -> Result<Val> {
    let parts = like::with_texts(cx, c, Shown::Copied, |cx, args| {
        let out = cx.b.slot_addr(24);
        cx.helper(helper, &[args[0], args[1], out]);
        Ok((0..3).map(|k| cx.b.load(Ty::Ptr, out, 8 * k, Alias::Stack)).collect())
    })?;
    if !like::is_array(c.types[0]) {
        return Ok(parts);
    }
    let mut left = parts.as_slice();
    let mut made = vec![];
    while let [part, rest @ ..] = left {
        let held = [&made[..], left].concat();
        made.push(cx.guarded(&held, |cx| Ok(like::array_of(cx, *part)))?);
        cx.release_object(*part);
        left = rest;
    }
    Ok(made)
}

fn join_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let list = cx.elem(args[1].ty).is_some_and(|e| matches!(*e, Kind::Bytes | Kind::Never));
    let tuple = args[1].ty.members().is_some_and(|m| m.iter().all(|t| **t == Kind::Bytes));
    if *args[0].ty == Kind::Bytes && (list || tuple) {
        Ok(Answer::of(Type::bytes()))
    } else {
        Err(no_match("bytes.join", args))
    }
}

fn emit_join(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.types[1].members().is_none() {
        return Ok(vec![cx.helper_value(&st::str_join, &[c.args[0][0], c.args[1][0]])]);
    }
    let (at, n) = (cx.spill(&c.args[1]), cx.b.i64(c.args[1].len() as i64));
    Ok(vec![cx.helper_value(&st::str_join_all, &[c.args[0][0], at, n])])
}
