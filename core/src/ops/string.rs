//! Strings: helpers that make, compare, search, split and format them.
//!
//! Optional strings are null where a parameter says so. Indices of searches follow Python (negative counts from the end, past the end is the end);
//! pass 0 and `i64::MAX` for the whole string.

use super::OpDef;
use crate::diag::Result;
use crate::layout::{List, Obj, Str};
use crate::lir::{Op, Value};
use crate::lower::cx::LowerCx;
use crate::rt::{Ctx, P};

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
    /// `str(exc)`.
    fn exc_str(ctx: Ctx, exc: *mut Obj) -> *mut Str [Allocates, Pending];
    /// `repr(exc)`.
    fn exc_repr(ctx: Ctx, exc: *mut Obj) -> *mut Str [Allocates, Pending];
}

pub static OPS: &[OpDef] = &[];

/// `a == b`.
pub fn emit_equal(cx: &mut LowerCx<'_>, a: Value, b: Value) -> Result<Value> { Ok(cx.helper_value(&str_eq, &[a, b])) }

/// `a < b` (`less`) or `a > b`, with or without equality.
pub fn emit_order(cx: &mut LowerCx<'_>, a: Value, b: Value, less: bool, or_equal: bool) -> Result<Value> {
    let order = cx.helper_value(&str_compare, &[a, b]);
    let op = match (less, or_equal) { (true, false) => Op::IcmpSlt, (true, true) => Op::IcmpSle, (false, false) => Op::IcmpSgt, (false, true) => Op::IcmpSge };
    Ok(cx.b.bin_imm(op, order, 0))
}
