//! `bytes`: helpers that make, search, split and change them, operators, and how they are made.
//!
//! A value is an object of the kind that texts are ([`crate::layout::Str`]), whose code units are the bytes:
//! the helpers of texts find, cut, join and compare bytes, and their hashes are those of CPython. What is
//! different has a helper here: what counts as a letter or a space, numbers in place of characters, `repr`.

pub(crate) mod like;

use super::string::{self, emit_order, str_concat, str_contains, str_repeat, str_slice};
use super::{Body, OpDef, iter, sequence};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::byte::byte_at;
use crate::emit::cast;
use crate::emit::constants::byte_string;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::length::length;
use crate::emit::slice::adjust_slice;
use crate::exc::Class;
use crate::layout::{List, Str};
use crate::lir::Op;
use crate::rt::{Ctx, P};
use crate::types::{Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};
use like::{Shown, is_like};

super::identity::op_ids! {
    BUILTINS_BYTES = "builtins.bytes",
}

crate::runtime_fns! {
    /// Bytes objects.
    trait Helpers;
    /// `repr(b)`.
    fn bytes_repr(ctx: Ctx, b: *mut Str) -> *mut Str [Allocates, Pending];
    /// `repr` of a bytearray that has these bytes.
    fn bytes_array_repr(ctx: Ctx, b: *mut Str) -> *mut Str [Allocates, Pending];
    /// One byte; ValueError for what is none.
    fn bytes_of_one(ctx: Ctx, byte: i64) -> *mut Str [Allocates, Pending];
    /// `bytes(n)`; ValueError.
    fn bytes_of_zeros(ctx: Ctx, n: i64) -> *mut Str [Allocates, Pending];
    /// The `n` bytes at `data`.
    fn bytes_of_memory(ctx: Ctx, data: P, n: i64) -> *mut Str [Allocates, Pending];
    /// A bytearray of the `n` bytes at `data`.
    fn bytes_array(ctx: Ctx, data: P, n: i64) -> *mut List [Allocates, Pending];
    /// `b.index(sub, start, end)`; ValueError.
    fn bytes_index(ctx: Ctx, b: *mut Str, sub: *mut Str, start: i64, end: i64) -> i64 [Reads, Pending];
    /// `b.rindex(sub, start, end)`; ValueError.
    fn bytes_rindex(ctx: Ctx, b: *mut Str, sub: *mut Str, start: i64, end: i64) -> i64 [Reads, Pending];
    /// `b.split(sep, maxsplit)`; a null separator is whitespace.
    fn bytes_split(ctx: Ctx, b: *mut Str, sep: *mut Str, maxsplit: i64) -> *mut List [Allocates, Pending];
    /// `b.rsplit(sep, maxsplit)`; a null separator is whitespace.
    fn bytes_rsplit(ctx: Ctx, b: *mut Str, sep: *mut Str, maxsplit: i64) -> *mut List [Allocates, Pending];
    /// `b.splitlines(keepends)`.
    fn bytes_splitlines(ctx: Ctx, b: *mut Str, keepends: i8) -> *mut List [Allocates, Pending];
    /// `b.strip(chars)`; null strips whitespace.
    fn bytes_strip(ctx: Ctx, b: *mut Str, chars: *mut Str) -> *mut Str [Allocates, Pending];
    /// `b.lstrip(chars)`; null strips whitespace.
    fn bytes_lstrip(ctx: Ctx, b: *mut Str, chars: *mut Str) -> *mut Str [Allocates, Pending];
    /// `b.rstrip(chars)`; null strips whitespace.
    fn bytes_rstrip(ctx: Ctx, b: *mut Str, chars: *mut Str) -> *mut Str [Allocates, Pending];
    /// `b.capitalize()`.
    fn bytes_capitalize(ctx: Ctx, b: *mut Str) -> *mut Str [Allocates, Pending];
    /// `b.lower()`.
    fn bytes_lower(ctx: Ctx, b: *mut Str) -> *mut Str [Allocates, Pending];
    /// `b.swapcase()`.
    fn bytes_swapcase(ctx: Ctx, b: *mut Str) -> *mut Str [Allocates, Pending];
    /// `b.title()`.
    fn bytes_title(ctx: Ctx, b: *mut Str) -> *mut Str [Allocates, Pending];
    /// `b.upper()`.
    fn bytes_upper(ctx: Ctx, b: *mut Str) -> *mut Str [Allocates, Pending];
    /// `b.isalnum()`.
    fn bytes_isalnum(b: *mut Str) -> i8 [Reads, Never];
    /// `b.isalpha()`.
    fn bytes_isalpha(b: *mut Str) -> i8 [Reads, Never];
    /// `b.isdigit()`.
    fn bytes_isdigit(b: *mut Str) -> i8 [Reads, Never];
    /// `b.islower()`.
    fn bytes_islower(b: *mut Str) -> i8 [Reads, Never];
    /// `b.isspace()`.
    fn bytes_isspace(b: *mut Str) -> i8 [Reads, Never];
    /// `b.istitle()`.
    fn bytes_istitle(b: *mut Str) -> i8 [Reads, Never];
    /// `b.isupper()`.
    fn bytes_isupper(b: *mut Str) -> i8 [Reads, Never];
    /// `b.hex(sep, group)`; a null separator is none. ValueError.
    fn bytes_hex(ctx: Ctx, b: *mut Str, sep: *mut Str, group: i64) -> *mut Str [Allocates, Pending];
    /// `bytes.fromhex(text)`; ValueError.
    fn bytes_fromhex(ctx: Ctx, text: *mut Str) -> *mut Str [Allocates, Pending];
    /// `b.translate(table, delete)`; either may be null. ValueError.
    fn bytes_translate(ctx: Ctx, b: *mut Str, table: *mut Str, delete: *mut Str) -> *mut Str [Allocates, Pending];
    /// `bytes.maketrans(from, to)`; ValueError.
    fn bytes_maketrans(ctx: Ctx, from: *mut Str, to: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.encode(codec, errors)`, both by number (`core/src/ops/codecs.rs`); UnicodeEncodeError.
    fn bytes_encode(ctx: Ctx, s: *mut Str, codec: i64, errors: i64) -> *mut Str [Allocates, Pending];
    /// `b.decode(codec, errors)`, both by number; UnicodeDecodeError, TypeError.
    fn bytes_decode(ctx: Ctx, b: *mut Str, codec: i64, errors: i64) -> *mut Str [Allocates, Pending];
    /// `int(b, base)`; ValueError, and OverflowError past 64 bits.
    fn bytes_to_int(ctx: Ctx, b: *mut Str, base: i64) -> i64 [Reads, Pending];
    /// `float(b)` of bytes, or of those of a bytearray; ValueError.
    fn bytes_to_float(ctx: Ctx, b: *mut Str, array: i8) -> f64 [Reads, Pending];
    /// `v.to_bytes(length, byteorder, signed=signed)` of the 64 bits of `v`, which are a number without sign
    /// where `unsigned` says so; ValueError, OverflowError.
    fn bytes_of_int(ctx: Ctx, v: i64, unsigned: i8, length: i64, byteorder: *mut Str, signed: i8) -> *mut Str [Allocates, Pending];
    /// `int.from_bytes(b, byteorder, signed=signed)`; ValueError, and OverflowError past 64 bits.
    fn bytes_as_int(ctx: Ctx, b: *mut Str, byteorder: *mut Str, signed: i8) -> i64 [Reads, Pending];
}

/// An order of two values of bytes.
macro_rules! ordered {
    ($path:literal, $less:expr, $or_equal:expr, $doc:literal) => {
        OpDef::new(
            &[$path],
            "a, b",
            Body::Lir(
                |_, a| both(a, Type::bool()),
                |cx, c| {
                    like::with_texts(cx, c, Shown::InPlace, |cx, v| {
                        Ok(vec![emit_order(cx, v[0], v[1], $less, $or_equal)?])
                    })
                },
            ),
        )
        .reads()
        .doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["builtins.bytes"], "source=..., encoding=..., errors=...", Body::Lir(new_rule, emit_new))
        .only_if(|a| a[1..].iter().all(Arg::is_omitted))
        .raises()
        .reads()
        .doc("Bytes of so many zeros, of a buffer, or of an iterable of integers; ValueError."),
    OpDef::new(&["operator.add"], "a, b", Body::Lir(concat_rule, |cx, c| like::call(cx, c, &str_concat)))
        .raises()
        .reads()
        .doc("Concatenation of bytes."),
    OpDef::new(
        &["operator.mul"],
        "b, n",
        Body::Lir(|_, a| repeat_rule(a, 0), |cx, c| like::call(cx, c, &str_repeat)),
    )
    .raises()
    .reads()
    .doc("`b * n`."),
    OpDef::new(
        &["operator.mul"],
        "n, b",
        Body::Lir(
            |_, a| repeat_rule(a, 1),
            |cx, c| {
                let turned = OpCall {
                    args: &[c.args[1].clone(), c.args[0].clone()],
                    types: &[c.types[1], c.types[0]],
                    ..*c
                };
                like::call(cx, &turned, &str_repeat)
            },
        ),
    )
    .raises()
    .reads()
    .doc("`n * b`."),
    OpDef::new(
        &["operator.contains"],
        "b, sub",
        Body::Lir(
            |_, a| {
                if is_like(a[0].ty) && (is_like(a[1].ty) || a[1].ty.is_index()) {
                    Ok(Answer::of(Type::bool()))
                } else if is_like(a[0].ty) {
                    let class = &crate::classes::class_of(a[1].ty).name;
                    Err(refused(format!("a bytes-like object is required, not '{class}'")))
                } else {
                    Err(no_match("in", a))
                }
            },
            |cx, c| like::call(cx, c, &str_contains),
        ),
    )
    .raises()
    .reads()
    .doc("`sub in b`, of bytes or of one byte; ValueError."),
    OpDef::new(
        &["operator.eq"],
        "a, b",
        Body::Lir(
            |_, a| both(a, Type::bool()),
            |cx, c| {
                like::with_texts(cx, c, Shown::InPlace, |cx, v| Ok(vec![string::emit_equal(cx, v[0], v[1])?]))
            },
        ),
    )
    .reads()
    .doc("`a == b` of bytes."),
    OpDef::new(
        &["operator.ne"],
        "a, b",
        Body::Lir(
            |_, a| both(a, Type::bool()),
            |cx, c| {
                like::with_texts(cx, c, Shown::InPlace, |cx, v| {
                    let same = string::emit_equal(cx, v[0], v[1])?;
                    Ok(vec![cx.not(same)])
                })
            },
        ),
    )
    .reads()
    .doc("`a != b` of bytes."),
    ordered!("operator.lt", true, false, "`a < b` of bytes."),
    ordered!("operator.le", true, true, "`a <= b` of bytes."),
    ordered!("operator.gt", false, false, "`a > b` of bytes."),
    ordered!("operator.ge", false, true, "`a >= b` of bytes."),
    OpDef::new(&["operator.getitem"], "b, i", Body::Lir(item_rule, emit_item))
        .raises()
        .reads()
        .doc("`b[i]`, an integer; IndexError."),
    OpDef::new(
        &["operator.getitem"],
        "b, part",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Bytes && matches!(*a[1].ty, Kind::Slice(_)) {
                    Ok(Answer::of(Type::bytes()))
                } else {
                    Err(no_match("[]", a))
                }
            },
            |cx, c| {
                let n = length(cx, &c.args[0], c.types[0])?;
                let s = adjust_slice(cx, &c.args[1], c.types[1], n)?;
                Ok(vec![cx.helper_value(&str_slice, &[c.args[0][0], s.start, s.step, s.count])])
            },
        ),
    )
    .raises()
    .reads()
    .doc("`b[a:b:c]`."),
    OpDef::new(
        &["builtins.ord"],
        "c",
        Body::Lir(
            |_, a| if is_like(a[0].ty) { Ok(Answer::of(Type::int())) } else { Err(no_match("ord()", a)) },
            |cx, c| {
                let n = length(cx, &c.args[0], c.types[0])?;
                let one = cx.b.bin_imm(Op::IcmpEq, n, 1);
                let text = "ord() expected a character, but string of length {} found";
                cx.check_format(one, Class::TypeError, text, &[n]);
                let zero = cx.b.i64(0);
                sequence::element(cx, &c.args[0], c.types[0], zero)
            },
        ),
    )
    .raises()
    .reads()
    .doc("The only byte."),
];

pub(super) fn refused(text: String) -> Diagnostic {
    Diagnostic::new(Code::NoMatchingOperation, text)
}

/// Both operands are bytes, one of them perhaps a bytearray.
fn both(args: &[Arg], ret: Type) -> Result<Answer> {
    if args[..2].iter().all(|a| is_like(a.ty)) { Ok(Answer::of(ret)) } else { Err(no_match("bytes", args)) }
}

fn concat_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if is_like(args[0].ty) && !is_like(args[1].ty) {
        let class = |k: usize| &crate::classes::class_of(args[k].ty).name;
        return Err(refused(format!("can't concat {} to {}", class(1), class(0))));
    }
    both(args, args[0].ty)
}

fn repeat_rule(args: &[Arg], k: usize) -> Result<Answer> {
    if is_like(args[k].ty) && args[1 - k].ty.is_index() {
        Ok(Answer::of(args[k].ty))
    } else {
        Err(no_match("*", args))
    }
}

fn item_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if *args[0].ty != Kind::Bytes {
        return Err(no_match("[]", args));
    }
    if args[1].ty.is_index() {
        Ok(Answer::of(Type::int()))
    } else if matches!(*args[1].ty, Kind::Slice(_)) {
        Err(no_match("[]", args))
    } else {
        let class = &crate::classes::class_of(args[1].ty).name;
        Err(refused(format!("byte indices must be integers or slices, not {class}")))
    }
}

fn emit_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let n = length(cx, &c.args[0], c.types[0])?;
    // Bytes can lie outside what an unchecked index reaches, so this check always stays.
    let at = cx.wrap_index(i, n);
    let ok = cx.b.bin(Op::IcmpUlt, at, n);
    cx.check(ok, Class::IndexError, "index out of range");
    Ok(vec![byte_at(cx, c.args[0][0], at)])
}

// ---- making bytes

/// What `bytes()` and `bytearray()` are made of, but for text.
pub(super) fn check_source(cx: &mut TyCx<'_, '_>, source: &Arg, class: &str) -> Result<()> {
    let t = source.ty;
    if source.is_omitted() || is_like(t) || t.is_index() {
        return Ok(());
    }
    if *t == Kind::Str {
        return Err(refused("string argument without an encoding".into()).help("say one: s.encode()"));
    }
    if t.as_array().is_some() {
        return Err(refused(format!("{class}() of an array is not compiled")).help("use a.tobytes()"));
    }
    let values = sequence::element_type_in(cx, t)
        .or_else(|| iter::value_type_in(cx, iter::iterator_of(t)?))
        .map(|x| cx.vars.resolve(x));
    match values {
        Some(x) if x.is_index() || *x == Kind::Never => Ok(()),
        Some(x) => Err(refused(format!("{class}() takes integers, not values of type {x}"))),
        None => {
            let class = &crate::classes::class_of(t).name;
            Err(refused(format!("cannot convert '{class}' object to bytes")))
        }
    }
}

fn new_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    check_source(cx, &args[0], "bytes")?;
    Ok(Answer::of(Type::bytes()))
}

fn emit_new(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (v, t) = (&c.args[0], c.types[0]);
    Ok(vec![if *t == Kind::Ellipsis {
        byte_string(&mut cx.b, &[])
    } else if *t == Kind::Bytes {
        cx.retain(v, t);
        v[0]
    } else if t.is_index() {
        let n = cast::to_i64(cx, v[0], t);
        cx.helper_value(&bytes_of_zeros, &[n])
    } else if is_like(t) {
        like::snapshot(cx, v[0])
    } else {
        let buffer = like::gathered(cx, v, t, "bytes must be in range(0, 256)")?;
        like::into_bytes(cx, buffer)?
    }])
}
