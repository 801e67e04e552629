//! Strings: helpers that make, compare, search, split and format them.
//!
//! Optional strings are null where a parameter says so. Indices of searches follow Python (negative counts
//! from the end, past the end is the end); pass 0 and `i64::MAX` for the whole string.

mod join;

use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::length::length;
use crate::emit::slice::adjust_slice;
use crate::emit::truth::truth;
use crate::layout::{List, Str};
use crate::lir::{Op, Ty, Value};
use crate::rt::RtFn;
use crate::rt::{Ctx, P};
use crate::types::{Kind, Type};
use crate::typing::{Answer, Arg, no_match};

super::identity::op_ids! {
    STR_JOIN = "str.join",
}

crate::runtime_fns! {
    /// String objects.
    trait Helpers;
    /// `a + b`.
    fn str_concat(ctx: Ctx, a: *mut Str, b: *mut Str) -> *mut Str [Allocates, Pending];
    /// The `n` strings at `parts`, one after the other: f-strings and chains of `+`.
    fn str_concat_all(ctx: Ctx, parts: *const *mut Str, n: i64) -> *mut Str [Allocates, Pending];
    /// `s * n`.
    fn str_repeat(ctx: Ctx, s: *mut Str, n: i64) -> *mut Str [Allocates, Pending];
    /// `a == b`.
    fn str_eq(a: *mut Str, b: *mut Str) -> i8 [Reads, Never];
    /// Order of `a` and `b`: negative, 0 or positive.
    fn str_compare(a: *mut Str, b: *mut Str) -> i64 [Reads, Never];
    /// `hash(s)`, with Python's key once the host has set it.
    fn str_hash(s: *mut Str) -> i64 [Reads, Never];
    /// `s[i]`; IndexError.
    fn str_getitem(ctx: Ctx, s: *mut Str, i: i64) -> *mut Str [Allocates, Pending];
    /// `s[i]` for an index known to be within 0 and the length: iteration.
    fn str_char(s: *mut Str, i: i64) -> *mut Str [Allocates, Never];
    /// Code point `i`, an index known to be within 0 and the length.
    fn str_code(s: *mut Str, i: i64) -> i64 [Reads, Never];
    /// `count` characters from `start` in steps of `step`; the three come from an adjusted slice.
    fn str_slice(ctx: Ctx, s: *mut Str, start: i64, step: i64, count: i64) -> *mut Str [Allocates, Pending];
    /// `sub in s`.
    fn str_contains(s: *mut Str, sub: *mut Str) -> i8 [Reads, Never];
    /// `s.find(sub, start, end)`.
    fn str_find(s: *mut Str, sub: *mut Str, start: i64, end: i64) -> i64 [Reads, Never];
    /// `s.rfind(sub, start, end)`.
    fn str_rfind(s: *mut Str, sub: *mut Str, start: i64, end: i64) -> i64 [Reads, Never];
    /// `s.index(sub, start, end)`; ValueError.
    fn str_index(ctx: Ctx, s: *mut Str, sub: *mut Str, start: i64, end: i64) -> i64 [Reads, Pending];
    /// `s.rindex(sub, start, end)`; ValueError.
    fn str_rindex(ctx: Ctx, s: *mut Str, sub: *mut Str, start: i64, end: i64) -> i64 [Reads, Pending];
    /// `s.count(sub, start, end)`.
    fn str_count(s: *mut Str, sub: *mut Str, start: i64, end: i64) -> i64 [Reads, Never];
    /// `s.startswith(prefix, start, end)`.
    fn str_startswith(s: *mut Str, prefix: *mut Str, start: i64, end: i64) -> i8 [Reads, Never];
    /// `s.endswith(suffix, start, end)`.
    fn str_endswith(s: *mut Str, suffix: *mut Str, start: i64, end: i64) -> i8 [Reads, Never];
    /// `s.replace(old, new, count)`; all where `count` is negative.
    fn str_replace(ctx: Ctx, s: *mut Str, old: *mut Str, new: *mut Str, count: i64) -> *mut Str [Allocates, Pending];
    /// `s.removeprefix(prefix)`.
    fn str_removeprefix(ctx: Ctx, s: *mut Str, prefix: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.removesuffix(suffix)`.
    fn str_removesuffix(ctx: Ctx, s: *mut Str, suffix: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.partition(sep)` into the three owned strings at `out`; ValueError for an empty separator.
    fn str_partition(ctx: Ctx, s: *mut Str, sep: *mut Str, out: *mut *mut Str) [Writes, Pending];
    /// `s.rpartition(sep)` into the three owned strings at `out`; ValueError for an empty separator.
    fn str_rpartition(ctx: Ctx, s: *mut Str, sep: *mut Str, out: *mut *mut Str) [Writes, Pending];
    /// `s.split(sep, maxsplit)`; a null separator is whitespace.
    fn str_split(ctx: Ctx, s: *mut Str, sep: *mut Str, maxsplit: i64) -> *mut List [Allocates, Pending];
    /// `s.rsplit(sep, maxsplit)`; a null separator is whitespace.
    fn str_rsplit(ctx: Ctx, s: *mut Str, sep: *mut Str, maxsplit: i64) -> *mut List [Allocates, Pending];
    /// `s.splitlines(keepends)`.
    fn str_splitlines(ctx: Ctx, s: *mut Str, keepends: i8) -> *mut List [Allocates, Pending];
    /// `sep.join(list)`.
    fn str_join(ctx: Ctx, sep: *mut Str, list: *mut List) -> *mut Str [Allocates, Pending];
    /// `sep.join` of the `n` strings at `parts`.
    fn str_join_all(ctx: Ctx, sep: *mut Str, parts: *const *mut Str, n: i64) -> *mut Str [Allocates, Pending];
    /// `s.strip(chars)`; null strips whitespace.
    fn str_strip(ctx: Ctx, s: *mut Str, chars: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.lstrip(chars)`; null strips whitespace.
    fn str_lstrip(ctx: Ctx, s: *mut Str, chars: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.rstrip(chars)`; null strips whitespace.
    fn str_rstrip(ctx: Ctx, s: *mut Str, chars: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.center(width, fill)`; null fills with spaces.
    fn str_center(ctx: Ctx, s: *mut Str, width: i64, fill: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.ljust(width, fill)`; null fills with spaces.
    fn str_ljust(ctx: Ctx, s: *mut Str, width: i64, fill: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.rjust(width, fill)`; null fills with spaces.
    fn str_rjust(ctx: Ctx, s: *mut Str, width: i64, fill: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.zfill(width)`.
    fn str_zfill(ctx: Ctx, s: *mut Str, width: i64) -> *mut Str [Allocates, Pending];
    /// `s.expandtabs(tabsize)`.
    fn str_expandtabs(ctx: Ctx, s: *mut Str, tabsize: i64) -> *mut Str [Allocates, Pending];
    /// `s.capitalize()`.
    fn str_capitalize(ctx: Ctx, s: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.casefold()`.
    fn str_casefold(ctx: Ctx, s: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.lower()`.
    fn str_lower(ctx: Ctx, s: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.swapcase()`.
    fn str_swapcase(ctx: Ctx, s: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.title()`.
    fn str_title(ctx: Ctx, s: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.upper()`.
    fn str_upper(ctx: Ctx, s: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s.isalnum()`.
    fn str_isalnum(s: *mut Str) -> i8 [Reads, Never];
    /// `s.isalpha()`.
    fn str_isalpha(s: *mut Str) -> i8 [Reads, Never];
    /// `s.isascii()`.
    fn str_isascii(s: *mut Str) -> i8 [Reads, Never];
    /// `s.isdecimal()`.
    fn str_isdecimal(s: *mut Str) -> i8 [Reads, Never];
    /// `s.isdigit()`.
    fn str_isdigit(s: *mut Str) -> i8 [Reads, Never];
    /// `s.isidentifier()`.
    fn str_isidentifier(s: *mut Str) -> i8 [Reads, Never];
    /// `s.islower()`.
    fn str_islower(s: *mut Str) -> i8 [Reads, Never];
    /// `s.isnumeric()`.
    fn str_isnumeric(s: *mut Str) -> i8 [Reads, Never];
    /// `s.isprintable()`.
    fn str_isprintable(s: *mut Str) -> i8 [Reads, Never];
    /// `s.isspace()`.
    fn str_isspace(s: *mut Str) -> i8 [Reads, Never];
    /// `s.istitle()`.
    fn str_istitle(s: *mut Str) -> i8 [Reads, Never];
    /// `s.isupper()`.
    fn str_isupper(s: *mut Str) -> i8 [Reads, Never];
    /// `ord(s)`; TypeError.
    fn str_ord(ctx: Ctx, s: *mut Str) -> i64 [Reads, Pending];
    /// `chr(code)`; ValueError.
    fn str_chr(ctx: Ctx, code: i64) -> *mut Str [Allocates, Pending];
    /// `repr(s)`.
    fn str_repr(ctx: Ctx, s: *mut Str) -> *mut Str [Allocates, Pending];
    /// `ascii(s)`.
    fn str_ascii(ctx: Ctx, s: *mut Str) -> *mut Str [Allocates, Pending];
    /// `s` with escapes for what is not ASCII in it, as `ascii` writes them.
    fn str_escaped(ctx: Ctx, s: *mut Str) -> *mut Str [Allocates, Pending];
    /// A string of `len` bytes of UTF-8 (invalid sequences become U+FFFD).
    fn str_from_utf8(ctx: Ctx, text: P, len: i64) -> *mut Str [Allocates, Pending];
    /// `str(v)`.
    fn str_from_i64(v: i64) -> *mut Str [Allocates, Never];
    /// `str(v)`.
    fn str_from_u64(v: i64) -> *mut Str [Allocates, Never];
    /// `str(v)`, which is also `repr(v)`.
    fn str_from_f64(v: f64) -> *mut Str [Allocates, Never];
    /// `str(np.float32(v))`: the shortest digits that identify the float32.
    fn str_from_f32(v: f32) -> *mut Str [Allocates, Never];
    /// `str(complex(re, im))`.
    fn str_from_complex(re: f64, im: f64) -> *mut Str [Allocates, Never];
    /// `str(np.complex64(complex(re, im)))`.
    fn str_from_complex64(re: f32, im: f32) -> *mut Str [Allocates, Never];
    /// `'True'` or `'False'`.
    fn str_from_bool(v: i8) -> *mut Str [Allocates, Never];
    /// `bin(v)`, `oct(v)` or `hex(v)`: `base` is 2, 8 or 16.
    fn str_from_i64_prefixed(v: i64, base: i64) -> *mut Str [Allocates, Never];
    /// The same of an unsigned number.
    fn str_from_u64_prefixed(v: i64, base: i64) -> *mut Str [Allocates, Never];
    /// `int(s, base)`; ValueError, and OverflowError past 64 bits.
    fn str_to_int(ctx: Ctx, s: *mut Str, base: i64) -> i64 [Reads, Pending];
    /// `float(s)`; ValueError.
    fn str_to_float(ctx: Ctx, s: *mut Str) -> f64 [Reads, Pending];
    /// `complex(s)` into the two numbers at `out`; ValueError.
    fn str_to_complex(ctx: Ctx, s: *mut Str, out: *mut f64) [Writes, Pending];
    /// `format(v, spec)`; ValueError.
    fn str_format_i64(ctx: Ctx, v: i64, spec: *mut Str) -> *mut Str [Allocates, Pending];
    /// `format(v, spec)`; ValueError.
    fn str_format_u64(ctx: Ctx, v: i64, spec: *mut Str) -> *mut Str [Allocates, Pending];
    /// `format(v, spec)`; ValueError.
    fn str_format_bool(ctx: Ctx, v: i8, spec: *mut Str) -> *mut Str [Allocates, Pending];
    /// `format(v, spec)`; ValueError.
    fn str_format_f64(ctx: Ctx, v: f64, spec: *mut Str) -> *mut Str [Allocates, Pending];
    /// `format(complex(re, im), spec)`; ValueError.
    fn str_format_complex(ctx: Ctx, re: f64, im: f64, spec: *mut Str) -> *mut Str [Allocates, Pending];
    /// `format(s, spec)`; ValueError.
    fn str_format_str(ctx: Ctx, s: *mut Str, spec: *mut Str) -> *mut Str [Allocates, Pending];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["operator.add"],
        "a, b",
        Body::Lir(|_, a| strings(a, 2, Type::str()), |cx, c| call(cx, c, &str_concat)),
    )
    .raises()
    .reads()
    .doc("Concatenation of strings."),
    OpDef::new(
        &["operator.mul"],
        "s, n",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Str && a[1].ty.is_index() {
                    Ok(Answer::of(Type::str()))
                } else {
                    Err(no_match("*", a))
                }
            },
            |cx, c| call(cx, c, &str_repeat),
        ),
    )
    .raises()
    .reads()
    .doc("`s * n`."),
    OpDef::new(
        &["operator.mul"],
        "n, s",
        Body::Lir(
            |_, a| {
                if *a[1].ty == Kind::Str && a[0].ty.is_index() {
                    Ok(Answer::of(Type::str()))
                } else {
                    Err(no_match("*", a))
                }
            },
            |cx, c| {
                let n = cast::to_i64(cx, c.args[0][0], c.types[0]);
                Ok(vec![cx.helper_value(&str_repeat, &[c.args[1][0], n])])
            },
        ),
    )
    .raises()
    .reads()
    .doc("`n * s`."),
    OpDef::new(
        &["operator.contains"],
        "s, sub",
        Body::Lir(|_, a| strings(a, 2, Type::bool()), |cx, c| call(cx, c, &str_contains)),
    )
    .reads()
    .doc("`sub in s`."),
    OpDef::new(
        &["operator.lt"],
        "a, b",
        Body::Lir(
            |_, a| strings(a, 2, Type::bool()),
            |cx, c| Ok(vec![emit_order(cx, c.args[0][0], c.args[1][0], true, false)?]),
        ),
    )
    .reads()
    .doc("`a < b` of strings."),
    OpDef::new(
        &["operator.le"],
        "a, b",
        Body::Lir(
            |_, a| strings(a, 2, Type::bool()),
            |cx, c| Ok(vec![emit_order(cx, c.args[0][0], c.args[1][0], true, true)?]),
        ),
    )
    .reads()
    .doc("`a <= b` of strings."),
    OpDef::new(
        &["operator.gt"],
        "a, b",
        Body::Lir(
            |_, a| strings(a, 2, Type::bool()),
            |cx, c| Ok(vec![emit_order(cx, c.args[0][0], c.args[1][0], false, false)?]),
        ),
    )
    .reads()
    .doc("`a > b` of strings."),
    OpDef::new(
        &["operator.ge"],
        "a, b",
        Body::Lir(
            |_, a| strings(a, 2, Type::bool()),
            |cx, c| Ok(vec![emit_order(cx, c.args[0][0], c.args[1][0], false, true)?]),
        ),
    )
    .reads()
    .doc("`a >= b` of strings."),
    OpDef::new(
        &["operator.getitem"],
        "s, i",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Str && a[1].ty.is_index() {
                    Ok(Answer::of(Type::str()))
                } else {
                    Err(no_match("[]", a))
                }
            },
            |cx, c| call(cx, c, &str_getitem),
        ),
    )
    .raises()
    .reads()
    .doc("`s[i]`; IndexError."),
    OpDef::new(
        &["operator.getitem"],
        "s, part",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Str && matches!(*a[1].ty, Kind::Slice(_)) {
                    Ok(Answer::of(Type::str()))
                } else {
                    Err(no_match("[]", a))
                }
            },
            emit_slice,
        ),
    )
    .raises()
    .reads()
    .doc("`s[a:b:c]`."),
    OpDef::new(&["str.join"], "sep, parts", Body::Lir(join::rule, join::emit))
        .raises()
        .reads()
        .doc("The parts with `sep` between them."),
    OpDef::new(&["str.join"], "sep, parts", Body::Py("builtin.join_checked"))
        .only_if(|a| *a[0].ty == Kind::Str && join::may_hold_texts(a[1].ty))
        .raises()
        .reads()
        .doc("The same of a list that may hold something else besides; TypeError where it does."),
    OpDef::new(&["str.join"], "sep, parts", Body::Py("builtin.join"))
        .only_if(|a| *a[0].ty == Kind::Str)
        .raises()
        .reads()
        .doc("The values of an iterable with `sep` between them."),
    OpDef::new(
        &["str.partition"],
        "s, sep",
        Body::Lir(
            |_, a| strings(a, 2, Type::tuple(vec![Type::str(); 3])),
            |cx, c| three(cx, c, &str_partition),
        ),
    )
    .raises()
    .reads()
    .doc("`(before, sep, after)` of the first separator."),
    OpDef::new(
        &["str.rpartition"],
        "s, sep",
        Body::Lir(
            |_, a| strings(a, 2, Type::tuple(vec![Type::str(); 3])),
            |cx, c| three(cx, c, &str_rpartition),
        ),
    )
    .raises()
    .reads()
    .doc("`(before, sep, after)` of the last separator."),
    OpDef::new(
        &["builtins.ord"],
        "c",
        Body::Lir(|_, a| strings(a, 1, Type::int()), |cx, c| call(cx, c, &str_ord)),
    )
    .raises()
    .reads()
    .doc("Code point of a one-character string."),
    OpDef::new(
        &["builtins.chr"],
        "i",
        Body::Lir(
            |_, a| if a[0].ty.is_index() { Ok(Answer::of(Type::str())) } else { Err(no_match("chr()", a)) },
            |cx, c| call(cx, c, &str_chr),
        ),
    )
    .raises()
    .reads()
    .doc("The character of a code point; ValueError."),
    OpDef::new(
        &["str.isalnum"],
        "s",
        Body::Lir(|_, a| method(a, "isalnum", Type::bool()), |cx, c| call(cx, c, &str_isalnum)),
    )
    .reads()
    .doc("Whether the string is all letters or digits."),
    OpDef::new(
        &["str.isalpha"],
        "s",
        Body::Lir(|_, a| method(a, "isalpha", Type::bool()), |cx, c| call(cx, c, &str_isalpha)),
    )
    .reads()
    .doc("Whether the string is all letters."),
    OpDef::new(
        &["str.isascii"],
        "s",
        Body::Lir(|_, a| method(a, "isascii", Type::bool()), |cx, c| call(cx, c, &str_isascii)),
    )
    .reads()
    .doc("Whether the string is all ASCII."),
    OpDef::new(
        &["str._is_ascii"],
        "s",
        Body::Lir(|_, a| method(a, "_is_ascii", Type::bool()), |cx, c| call(cx, c, &str_isascii)),
    )
    .property()
    .reads()
    .doc("The same under the name that Numba's strings have it by, which extensions of it read."),
    OpDef::new(
        &["str.isdecimal"],
        "s",
        Body::Lir(|_, a| method(a, "isdecimal", Type::bool()), |cx, c| call(cx, c, &str_isdecimal)),
    )
    .reads()
    .doc("Whether the string is all decimal digits."),
    OpDef::new(
        &["str.isdigit"],
        "s",
        Body::Lir(|_, a| method(a, "isdigit", Type::bool()), |cx, c| call(cx, c, &str_isdigit)),
    )
    .reads()
    .doc("Whether the string is all digits."),
    OpDef::new(
        &["str.isidentifier"],
        "s",
        Body::Lir(|_, a| method(a, "isidentifier", Type::bool()), |cx, c| call(cx, c, &str_isidentifier)),
    )
    .reads()
    .doc("Whether the string is a valid identifier."),
    OpDef::new(
        &["str.islower"],
        "s",
        Body::Lir(|_, a| method(a, "islower", Type::bool()), |cx, c| call(cx, c, &str_islower)),
    )
    .reads()
    .doc("Whether the string is all cased characters are lower-case."),
    OpDef::new(
        &["str.isnumeric"],
        "s",
        Body::Lir(|_, a| method(a, "isnumeric", Type::bool()), |cx, c| call(cx, c, &str_isnumeric)),
    )
    .reads()
    .doc("Whether the string is all numeric."),
    OpDef::new(
        &["str.isprintable"],
        "s",
        Body::Lir(|_, a| method(a, "isprintable", Type::bool()), |cx, c| call(cx, c, &str_isprintable)),
    )
    .reads()
    .doc("Whether the string is all printable."),
    OpDef::new(
        &["str.isspace"],
        "s",
        Body::Lir(|_, a| method(a, "isspace", Type::bool()), |cx, c| call(cx, c, &str_isspace)),
    )
    .reads()
    .doc("Whether the string is all whitespace."),
    OpDef::new(
        &["str.istitle"],
        "s",
        Body::Lir(|_, a| method(a, "istitle", Type::bool()), |cx, c| call(cx, c, &str_istitle)),
    )
    .reads()
    .doc("Whether the string is title-cased."),
    OpDef::new(
        &["str.isupper"],
        "s",
        Body::Lir(|_, a| method(a, "isupper", Type::bool()), |cx, c| call(cx, c, &str_isupper)),
    )
    .reads()
    .doc("Whether the string is all cased characters are upper-case."),
    OpDef::new(
        &["str.capitalize"],
        "s",
        Body::Lir(|_, a| method(a, "capitalize", Type::str()), |cx, c| call(cx, c, &str_capitalize)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.capitalize`."),
    OpDef::new(
        &["str.casefold"],
        "s",
        Body::Lir(|_, a| method(a, "casefold", Type::str()), |cx, c| call(cx, c, &str_casefold)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.casefold`."),
    OpDef::new(
        &["str.lower"],
        "s",
        Body::Lir(|_, a| method(a, "lower", Type::str()), |cx, c| call(cx, c, &str_lower)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.lower`."),
    OpDef::new(
        &["str.swapcase"],
        "s",
        Body::Lir(|_, a| method(a, "swapcase", Type::str()), |cx, c| call(cx, c, &str_swapcase)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.swapcase`."),
    OpDef::new(
        &["str.title"],
        "s",
        Body::Lir(|_, a| method(a, "title", Type::str()), |cx, c| call(cx, c, &str_title)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.title`."),
    OpDef::new(
        &["str.upper"],
        "s",
        Body::Lir(|_, a| method(a, "upper", Type::str()), |cx, c| call(cx, c, &str_upper)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.upper`."),
    OpDef::new(
        &["str.find"],
        "s, sub, start=None, end=None",
        Body::Lir(|_, a| method(a, "find", Type::int()), |cx, c| call(cx, c, &str_find)),
    )
    .reads()
    .doc("As Python's `str.find`."),
    OpDef::new(
        &["str.rfind"],
        "s, sub, start=None, end=None",
        Body::Lir(|_, a| method(a, "rfind", Type::int()), |cx, c| call(cx, c, &str_rfind)),
    )
    .reads()
    .doc("As Python's `str.rfind`."),
    OpDef::new(
        &["str.count"],
        "s, sub, start=None, end=None",
        Body::Lir(|_, a| method(a, "count", Type::int()), |cx, c| call(cx, c, &str_count)),
    )
    .reads()
    .doc("As Python's `str.count`."),
    OpDef::new(
        &["str.index"],
        "s, sub, start=None, end=None",
        Body::Lir(|_, a| method(a, "index", Type::int()), |cx, c| call(cx, c, &str_index)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.index`; ValueError."),
    OpDef::new(
        &["str.rindex"],
        "s, sub, start=None, end=None",
        Body::Lir(|_, a| method(a, "rindex", Type::int()), |cx, c| call(cx, c, &str_rindex)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.rindex`; ValueError."),
    OpDef::new(
        &["str.startswith"],
        "s, prefix, start=None, end=None",
        Body::Lir(|_, a| method(a, "startswith", Type::bool()), |cx, c| call(cx, c, &str_startswith)),
    )
    .reads()
    .doc("Whether it starts with `prefix`."),
    OpDef::new(&["str.startswith"], "s, prefixes, start=None, end=None", Body::Py("builtin.starts_with_any"))
        .only_if(|a| a[1].ty.members().is_some() || a[1].ty.is_tuple_of_any_length())
        .doc("Whether it starts with one of several prefixes."),
    OpDef::new(&["str.endswith"], "s, suffixes, start=None, end=None", Body::Py("builtin.ends_with_any"))
        .only_if(|a| a[1].ty.members().is_some() || a[1].ty.is_tuple_of_any_length())
        .doc("Whether it ends with one of several suffixes."),
    OpDef::new(
        &["str.endswith"],
        "s, suffix, start=None, end=None",
        Body::Lir(|_, a| method(a, "endswith", Type::bool()), |cx, c| call(cx, c, &str_endswith)),
    )
    .reads()
    .doc("Whether it ends with `suffix`."),
    OpDef::new(
        &["str.replace"],
        "s, old, new, count=-1",
        Body::Lir(|_, a| method(a, "replace", Type::str()), |cx, c| call(cx, c, &str_replace)),
    )
    .raises()
    .reads()
    .doc("Replaces up to `count` occurrences."),
    OpDef::new(
        &["str.removeprefix"],
        "s, prefix",
        Body::Lir(|_, a| method(a, "removeprefix", Type::str()), |cx, c| call(cx, c, &str_removeprefix)),
    )
    .raises()
    .reads()
    .doc("Without `prefix`."),
    OpDef::new(
        &["str.removesuffix"],
        "s, suffix",
        Body::Lir(|_, a| method(a, "removesuffix", Type::str()), |cx, c| call(cx, c, &str_removesuffix)),
    )
    .raises()
    .reads()
    .doc("Without `suffix`."),
    OpDef::new(
        &["str.split"],
        "s, sep=None, maxsplit=-1",
        Body::Lir(|_, a| method(a, "split", Type::list(Type::str())), |cx, c| call(cx, c, &str_split)),
    )
    .raises()
    .reads()
    .doc("Parts between separators."),
    OpDef::new(
        &["str.rsplit"],
        "s, sep=None, maxsplit=-1",
        Body::Lir(|_, a| method(a, "rsplit", Type::list(Type::str())), |cx, c| call(cx, c, &str_rsplit)),
    )
    .raises()
    .reads()
    .doc("Parts between separators, from the right."),
    OpDef::new(
        &["str.splitlines"],
        "s, keepends=False",
        Body::Lir(
            |_, a| match a[1].ty.is_flag() {
                true => method(&a[..1], "splitlines", Type::list(Type::str())),
                false => Err(no_match("str.splitlines()", a)),
            },
            |cx, c| {
                let keepends = truth(cx, &c.args[1], c.types[1])?;
                Ok(vec![cx.helper_value(&str_splitlines, &[c.args[0][0], keepends])])
            },
        ),
    )
    .raises()
    .reads()
    .doc("Lines."),
    OpDef::new(
        &["str.strip"],
        "s, chars=None",
        Body::Lir(|_, a| method(a, "strip", Type::str()), |cx, c| call(cx, c, &str_strip)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.strip`."),
    OpDef::new(
        &["str.lstrip"],
        "s, chars=None",
        Body::Lir(|_, a| method(a, "lstrip", Type::str()), |cx, c| call(cx, c, &str_lstrip)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.lstrip`."),
    OpDef::new(
        &["str.rstrip"],
        "s, chars=None",
        Body::Lir(|_, a| method(a, "rstrip", Type::str()), |cx, c| call(cx, c, &str_rstrip)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.rstrip`."),
    OpDef::new(
        &["str.center"],
        "s, width, fillchar=...",
        Body::Lir(|_, a| method(a, "center", Type::str()), |cx, c| call(cx, c, &str_center)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.center`."),
    OpDef::new(
        &["str.ljust"],
        "s, width, fillchar=...",
        Body::Lir(|_, a| method(a, "ljust", Type::str()), |cx, c| call(cx, c, &str_ljust)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.ljust`."),
    OpDef::new(
        &["str.rjust"],
        "s, width, fillchar=...",
        Body::Lir(|_, a| method(a, "rjust", Type::str()), |cx, c| call(cx, c, &str_rjust)),
    )
    .raises()
    .reads()
    .doc("As Python's `str.rjust`."),
    OpDef::new(
        &["str.zfill"],
        "s, width",
        Body::Lir(|_, a| method(a, "zfill", Type::str()), |cx, c| call(cx, c, &str_zfill)),
    )
    .raises()
    .reads()
    .doc("Padded with zeros."),
    OpDef::new(
        &["str.expandtabs"],
        "s, tabsize=8",
        Body::Lir(|_, a| method(a, "expandtabs", Type::str()), |cx, c| call(cx, c, &str_expandtabs)),
    )
    .raises()
    .reads()
    .doc("Tabs replaced by spaces."),
    OpDef::new(&["str.maketrans"], "x, y=..., z=...", Body::Py("text.maketrans"))
        .of_class()
        .only_if(|a| a[1..].iter().all(|a| a.is_omitted() || *a.ty == Kind::Str))
        .raises()
        .reads()
        .doc("A table for `str.translate`: of a dict, or of characters and what stands for each."),
    OpDef::new(&["str.translate"], "s, table", Body::Py("text.translate"))
        .only_if(|a| *a[0].ty == Kind::Str)
        .raises()
        .reads()
        .doc("Each character as a table has it by its code: another code, a text, or None for none."),
];

/// The first `n` operands are strings.
fn strings(args: &[Arg], n: usize, ret: Type) -> Result<Answer> {
    if args[..n].iter().all(|a| *a.ty == Kind::Str) {
        Ok(Answer::of(ret))
    } else {
        Err(no_match("a string operation", args))
    }
}

/// A method of strings: the receiver is a string, some operands are strings by the method's name, all others
/// integers, or the bounds of a search.
fn method(args: &[Arg], name: &str, ret: Type) -> Result<Answer> {
    let search = matches!(name, "find" | "rfind" | "count" | "index" | "rindex" | "startswith" | "endswith");
    let (texts, optional): (&[usize], fn(&Arg) -> bool) = match name {
        "replace" => (&[1, 2], |_| false),
        "removeprefix" | "removesuffix" => (&[1], |_| false),
        "split" | "rsplit" | "strip" | "lstrip" | "rstrip" => (&[1], Arg::is_none),
        "center" | "ljust" | "rjust" => (&[2], Arg::is_omitted),
        _ => (if search { &[1] } else { &[] }, |_| false),
    };
    let fits = |(k, a): (usize, &Arg)| {
        if texts.contains(&k) {
            *a.ty == Kind::Str || optional(a)
        } else {
            a.ty.is_index() || search && a.is_none()
        }
    };
    let ok = *args[0].ty == Kind::Str && args.iter().enumerate().skip(1).all(fits);
    if ok { Ok(Answer::of(ret)) } else { Err(no_match(&format!("str.{name}"), args)) }
}

/// Calls a helper with the operands: integers as i64, None as null or as the default bound of a search.
fn call(cx: &mut LowerCx<'_>, c: &OpCall<'_>, helper: &'static RtFn) -> Result<Val> {
    let skip = (helper.params.len() > c.args.len()) as usize;
    let mut args = vec![];
    for (k, (v, t)) in c.args.iter().zip(c.types).enumerate() {
        let want = helper.params[k + skip];
        args.push(if **t == Kind::Str {
            v[0]
        } else if **t == Kind::None && want == Ty::I64 {
            // A search ends at the end: only `end` is the last of four integers.
            cx.b.i64(if k == 3 { i64::MAX } else { 0 })
        } else if matches!(**t, Kind::None | Kind::Ellipsis) {
            cx.b.null()
        } else if want == Ty::I8 {
            cast::truth(cx, v[0], *t)
        } else {
            cast::to_index(cx, v[0], *t)
        });
    }
    Ok(vec![cx.helper_value(helper, &args)])
}

fn emit_slice(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let n = length(cx, &c.args[0], c.types[0])?;
    let s = adjust_slice(cx, &c.args[1], c.types[1], n)?;
    Ok(vec![cx.helper_value(&str_slice, &[c.args[0][0], s.start, s.step, s.count])])
}

fn three(cx: &mut LowerCx<'_>, c: &OpCall<'_>, helper: &'static RtFn) -> Result<Val> {
    let out = cx.b.slot_addr(24);
    cx.helper(helper, &[c.args[0][0], c.args[1][0], out]);
    Ok((0..3).map(|k| cx.b.load(Ty::Ptr, out, 8 * k, crate::lir::Alias::Stack)).collect())
}

/// `a == b`.
pub(crate) fn emit_equal(cx: &mut LowerCx<'_>, a: Value, b: Value) -> Result<Value> {
    Ok(cx.helper_value(&str_eq, &[a, b]))
}

/// `a < b` (`less`) or `a > b`, with or without equality.
pub(crate) fn emit_order(
    cx: &mut LowerCx<'_>,
    a: Value,
    b: Value,
    less: bool,
    or_equal: bool,
) -> Result<Value> {
    let order = cx.helper_value(&str_compare, &[a, b]);
    let op = match (less, or_equal) {
        (true, false) => Op::IcmpSlt,
        (true, true) => Op::IcmpSle,
        (false, false) => Op::IcmpSgt,
        (false, true) => Op::IcmpSge,
    };
    Ok(cx.b.bin_imm(op, order, 0))
}
