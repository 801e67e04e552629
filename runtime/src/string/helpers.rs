//! The string family as compiled code calls it: views of the arguments in, owned strings out.

use super::split::{Justify, Parts, justify, strip};
use super::{
    Chars, case, empty, format, from_chars, from_text, number, parse, search, share, single, slice, split,
};
use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::list;
use tierup_core::desc::order::strings as compare;
use tierup_core::layout::{List, Str};
use tierup_core::ops::string::Helpers;
use tierup_core::rt::{Ctx, P};

pub(crate) type S = *mut Str;

/// A string that may be null.
pub(crate) type Nullable = S;

/// A number of Rust's own making as a string object.
pub(crate) fn small(text: &str) -> S {
    from_text(text).unwrap_or_else(|_| empty())
}

/// A part of a string; none when it is all of it.
pub(crate) fn part(s: Chars<'_>, range: std::ops::Range<usize>) -> Res<Option<S>> {
    if range == (0..s.len()) { Ok(None) } else { from_chars(s.slice(range)).map(Some) }
}

/// The strings of an array of them.
///
/// # Safety
/// `parts` points to `n` strings that live for `'a`.
unsafe fn views<'a>(parts: *const S, n: i64) -> Vec<Chars<'a>> {
    // SAFETY: as required of the caller.
    unsafe { crate::raw_slice(parts, n).iter().map(|p| Chars::of(*p)).collect() }
}

/// Writes what is in front of a separator, the separator, and what is behind it.
///
/// # Safety
/// The context is this thread's, both strings are live, and `out` has room for three.
unsafe fn partition(ctx: Ctx, s: S, sep: S, out: *mut S, last: bool) {
    let make = || -> Res<[S; 3]> {
        // SAFETY: both are live.
        let (chars, sep_chars) = unsafe { (Chars::of(s), Chars::of(sep)) };
        let Some(i) = split::partition_at(chars, sep_chars, last)? else {
            // SAFETY: it is live.
            let all = unsafe { share(s) };
            return Ok(if last { [empty(), empty(), all] } else { [all, empty(), empty()] });
        };
        let front = from_chars(chars.slice(0..i))?;
        let behind = from_chars(chars.slice(i + sep_chars.len()..chars.len()))?;
        // SAFETY: it is live.
        Ok([front, unsafe { share(sep) }, behind])
    };
    let (three, error) = match make() {
        Ok(three) => (three, None),
        Err(e) => ([std::ptr::null_mut(); 3], Some(e)),
    };
    // SAFETY: there is room for three pointers, and the context is live.
    unsafe {
        out.cast::<[S; 3]>().write(three);
        if let Some(e) = error {
            e.raise(ctx);
        }
    }
}
fn position(i: i64) -> Res<i64> {
    if i < 0 { Err(search::not_found()) } else { Ok(i) }
}

fn getitem(s: Chars<'_>, i: i64) -> Res<S> {
    let n = s.len() as i64;
    let at = if i < 0 { i + n } else { i };
    if at < 0 || at >= n {
        return Err(Error::index("string index out of range"));
    }
    Ok(single(s.get(at as usize)))
}
fn ord(s: Chars<'_>) -> Res<i64> {
    if s.len() != 1 {
        return Err(Error::type_error(format!(
            "ord() expected a character, but string of length {} found",
            s.len()
        )));
    }
    Ok(s.get(0) as i64)
}
fn chr(code: i64) -> Res<S> {
    u32::try_from(code)
        .ok()
        .filter(|c| *c < 0x110000)
        .map(single)
        .ok_or_else(|| Error::value("chr() arg not in range(0x110000)"))
}
fn units(v: Vec<u32>) -> Res<S> {
    from_chars(Chars::Four(&v))
}

/// What a helper's body sees of an argument: of strings their characters.
macro_rules! seen {
    (S, $p:ident) => {
        // SAFETY: compiled code holds a reference to every argument until the helper has returned.
        let $p = unsafe { Chars::of($p) };
    };
    (Nullable, $p:ident) => {
        // SAFETY: it is null or, as above, live.
        let $p = (!$p.is_null()).then(|| unsafe { Chars::of($p) });
    };
    ($scalar:ident, $p:ident) => {};
}

/// Helpers that are safe expressions of their arguments' characters. Those that raise leave an error pending;
/// `changed` gives the first argument itself where there is no other string, `parts` makes a list of ranges
/// of it.
macro_rules! strings {
    (plain $(fn $name:ident($($p:ident: $t:ident),*) -> $r:ty = $e:expr;)*) => {$(
        unsafe fn $name($($p: $t),*) -> $r {
            $(seen!($t, $p);)*
            $e
        }
    )*};
    (raising $(fn $name:ident($($p:ident: $t:ident),*) -> $r:ty = $e:expr;)*) => {$(
        unsafe fn $name(ctx: Ctx, $($p: $t),*) -> $r {
            $(seen!($t, $p);)*
            let answer: Res<$r> = $e;
            // SAFETY: compiled code passes the live context of its thread.
            unsafe { or_raise(ctx, answer) }
        }
    )*};
    (changed $(fn $name:ident($s:ident: S $(, $p:ident: $t:ident)*) = $e:expr;)*) => {$(
        unsafe fn $name(ctx: Ctx, $s: S $(, $p: $t)*) -> S {
            let itself = $s;
            seen!(S, $s);
            $(seen!($t, $p);)*
            let changed: Res<Option<S>> = $e;
            // SAFETY: the argument is live, and so is the context of the thread.
            unsafe { or_raise(ctx, changed.map(|c| c.unwrap_or_else(|| share(itself)))) }
        }
    )*};
    (parts $(fn $name:ident($s:ident: S $(, $p:ident: $t:ident)*) = $e:expr;)*) => {$(
        unsafe fn $name(ctx: Ctx, $s: S $(, $p: $t)*) -> *mut List {
            let itself = $s;
            seen!(S, $s);
            $(seen!($t, $p);)*
            let ranges: Res<Parts> = $e;
            let list = ranges.and_then(|ranges| {
                list::of_strings(ranges.len(), ranges.into_iter().map(|range| {
                    // SAFETY: the argument is live.
                    part($s, range).map(|p| p.unwrap_or_else(|| unsafe { share(itself) }))
                }))
            });
            // SAFETY: compiled code passes the live context of its thread.
            unsafe { or_raise(ctx, list) }
        }
    )*};
}
pub(crate) use {seen, strings};

impl Helpers for Native {
    unsafe fn str_concat(ctx: Ctx, a: S, b: S) -> S {
        // SAFETY: both are live, and so is the context of the thread.
        unsafe {
            match (Chars::of(a), Chars::of(b)) {
                (x, _) if x.is_empty() => share(b),
                (_, y) if y.is_empty() => share(a),
                (x, y) => or_raise(ctx, super::concat(&[x, y])),
            }
        }
    }
    unsafe fn str_concat_all(ctx: Ctx, parts: *const S, n: i64) -> S {
        // SAFETY: compiled code holds references to `n` strings; the context is its thread's.
        unsafe { or_raise(ctx, super::concat(&views(parts, n))) }
    }
    unsafe fn str_eq(a: S, b: S) -> i8 {
        // SAFETY: compiled code holds references to both.
        i8::from(a == b || unsafe { Chars::of(a).equals(Chars::of(b)) })
    }
    unsafe fn str_compare(a: S, b: S) -> i64 {
        // SAFETY: compiled code holds references to both.
        unsafe { compare(&*a, &*b) as i64 }
    }
    strings! { changed
        fn str_repeat(s: S, n: i64) = if n == 1 { Ok(None) } else { super::repeat(s, n).map(Some) };
        fn str_slice(s: S, start: i64, step: i64, count: i64) = if step == 1 && count == s.len() as i64 {
            Ok(None)
        } else {
            slice(s, start, step, count).map(Some)
        };
        fn str_replace(s: S, old: S, new: S, count: i64) = search::replace(s, old, new, count);
        fn str_removeprefix(s: S, prefix: S) = {
            let from = if search::starts_with(s, prefix, 0, i64::MAX) { prefix.len() } else { 0 };
            part(s, from..s.len())
        };
        fn str_removesuffix(s: S, suffix: S) = {
            let cut = if search::ends_with(s, suffix, 0, i64::MAX) { suffix.len() } else { 0 };
            part(s, 0..s.len() - cut)
        };
        fn str_strip(s: S, chars: Nullable) = part(s, strip(s, chars, case::is_space, [true; 2]));
        fn str_lstrip(s: S, chars: Nullable) = part(s, strip(s, chars, case::is_space, [true, false]));
        fn str_rstrip(s: S, chars: Nullable) = part(s, strip(s, chars, case::is_space, [false, true]));
        fn str_center(s: S, width: i64, fill: Nullable) = justify(s, width, fill, Justify::Center);
        fn str_ljust(s: S, width: i64, fill: Nullable) = justify(s, width, fill, Justify::Left);
        fn str_rjust(s: S, width: i64, fill: Nullable) = justify(s, width, fill, Justify::Right);
        fn str_zfill(s: S, width: i64) = split::zfill(s, width);
        fn str_format_str(s: S, spec: S) =
            if spec.is_empty() { Ok(None) } else { format::string_text(s, spec).map(Some) };
    }
    strings! { parts
        fn str_split(s: S, sep: Nullable, maxsplit: i64) = match sep {
            None => Ok(split::split_space(s, maxsplit, case::is_space)),
            Some(sep) => split::split_on(s, sep, maxsplit),
        };
        fn str_rsplit(s: S, sep: Nullable, maxsplit: i64) = match sep {
            None => Ok(split::rsplit_space(s, maxsplit, case::is_space)),
            Some(sep) => split::rsplit_on(s, sep, maxsplit),
        };
        fn str_splitlines(s: S, keepends: i8) = Ok(split::split_lines(s, keepends != 0, split::is_line_break));
    }
    unsafe fn str_partition(ctx: Ctx, s: S, sep: S, out: *mut S) {
        // SAFETY: compiled code holds references to both, and passes room for three.
        unsafe { partition(ctx, s, sep, out, false) }
    }
    unsafe fn str_rpartition(ctx: Ctx, s: S, sep: S, out: *mut S) {
        // SAFETY: compiled code holds references to both, and passes room for three.
        unsafe { partition(ctx, s, sep, out, true) }
    }
    unsafe fn str_join(ctx: Ctx, sep: S, list: *mut List) -> S {
        // SAFETY: a live list of strings has `len` of them at `data`, and holds references to them.
        unsafe { Self::str_join_all(ctx, sep, (*list).data.cast(), (*list).len) }
    }
    unsafe fn str_join_all(ctx: Ctx, sep: S, parts: *const S, n: i64) -> S {
        // SAFETY: compiled code holds references to the separator and to `n` strings.
        unsafe {
            if n == 1 { share(*parts) } else { or_raise(ctx, split::join(Chars::of(sep), &views(parts, n))) }
        }
    }

    strings! { plain
        fn str_hash(s: S) -> i64 = super::hash(s);
        fn str_char(s: S, i: i64) -> S = single(s.get(i as usize));
        fn str_code(s: S, i: i64) -> i64 = i64::from(s.get(i as usize));
        fn str_contains(s: S, sub: S) -> i8 = i8::from(search::find(s, sub).is_some());
        fn str_find(s: S, sub: S, start: i64, end: i64) -> i64 =
            search::find_in(s, sub, start, end, search::find);
        fn str_rfind(s: S, sub: S, start: i64, end: i64) -> i64 =
            search::find_in(s, sub, start, end, search::rfind);
        fn str_count(s: S, sub: S, start: i64, end: i64) -> i64 = search::count_in(s, sub, start, end);
        fn str_startswith(s: S, prefix: S, start: i64, end: i64) -> i8 =
            i8::from(search::starts_with(s, prefix, start, end));
        fn str_endswith(s: S, suffix: S, start: i64, end: i64) -> i8 =
            i8::from(search::ends_with(s, suffix, start, end));
        fn str_isalnum(s: S) -> i8 = i8::from(case::all(s, case::is_alnum));
        fn str_isalpha(s: S) -> i8 = i8::from(case::all(s, case::is_alpha));
        fn str_isascii(s: S) -> i8 = i8::from(s.is_ascii());
        fn str_isdecimal(s: S) -> i8 = i8::from(case::all(s, |c| case::decimal(c).is_some()));
        fn str_isdigit(s: S) -> i8 = i8::from(case::all(s, case::is_digit));
        fn str_isidentifier(s: S) -> i8 = i8::from(case::is_identifier(s));
        fn str_islower(s: S) -> i8 = i8::from(case::all_lower(s));
        fn str_isnumeric(s: S) -> i8 = i8::from(case::all(s, case::is_numeric));
        fn str_isprintable(s: S) -> i8 = i8::from(s.iter().all(case::is_printable));
        fn str_isspace(s: S) -> i8 = i8::from(case::all(s, case::is_space));
        fn str_istitle(s: S) -> i8 = i8::from(case::all_title(s));
        fn str_isupper(s: S) -> i8 = i8::from(case::all_upper(s));
        fn str_from_i64(v: i64) -> S = small(&v.to_string());
        fn str_from_u64(v: i64) -> S = small(&(v as u64).to_string());
        fn str_from_f64(v: f64) -> S = small(&number::f64_text(v));
        fn str_from_f32(v: f32) -> S = small(&number::f32_text(v));
        fn str_from_complex(re: f64, im: f64) -> S = small(&number::complex_text(re, im));
        fn str_from_complex64(re: f32, im: f32) -> S = small(&number::complex64_text(re, im));
        fn str_from_bool(v: i8) -> S = small(number::bool_text(v != 0));
        fn str_from_i64_prefixed(v: i64, base: i64) -> S =
            small(&number::prefixed(v < 0, v.unsigned_abs(), base));
        fn str_from_u64_prefixed(v: i64, base: i64) -> S = small(&number::prefixed(false, v as u64, base));
    }
    strings! { raising
        fn str_getitem(s: S, i: i64) -> S = getitem(s, i);
        fn str_index(s: S, sub: S, start: i64, end: i64) -> i64 =
            position(search::find_in(s, sub, start, end, search::find));
        fn str_rindex(s: S, sub: S, start: i64, end: i64) -> i64 =
            position(search::find_in(s, sub, start, end, search::rfind));
        fn str_expandtabs(s: S, tabsize: i64) -> S = split::expand_tabs(s, tabsize);
        fn str_capitalize(s: S) -> S = case::capitalize(s);
        fn str_casefold(s: S) -> S = case::casefold(s);
        fn str_lower(s: S) -> S = case::lower(s);
        fn str_swapcase(s: S) -> S = case::swapcase(s);
        fn str_title(s: S) -> S = case::title(s);
        fn str_upper(s: S) -> S = case::upper(s);
        fn str_ord(s: S) -> i64 = ord(s);
        fn str_chr(code: i64) -> S = chr(code);
        fn str_repr(s: S) -> S = units(super::repr(s, false));
        fn str_ascii(s: S) -> S = units(super::repr(s, true));
        fn str_escaped(s: S) -> S = units(super::escaped(s));
        fn str_to_int(s: S, base: i64) -> i64 = parse::to_int(s, base);
        fn str_to_float(s: S) -> f64 = parse::to_float(s);
        fn str_format_i64(v: i64, spec: S) -> S = if spec.is_empty() {
            Ok(small(&v.to_string()))
        } else {
            format::integer_text(v < 0, v.unsigned_abs(), spec, "int")
        };
        fn str_format_u64(v: i64, spec: S) -> S = if spec.is_empty() {
            Ok(small(&(v as u64).to_string()))
        } else {
            format::integer_text(false, v as u64, spec, "int")
        };
        fn str_format_bool(v: i8, spec: S) -> S = if spec.is_empty() {
            Ok(small(number::bool_text(v != 0)))
        } else {
            format::integer_text(false, (v != 0) as u64, spec, "bool")
        };
        fn str_format_f64(v: f64, spec: S) -> S =
            if spec.is_empty() { Ok(small(&number::f64_text(v))) } else { format::float_text(v, spec) };
        fn str_format_complex(re: f64, im: f64, spec: S) -> S = if spec.is_empty() {
            Ok(small(&number::complex_text(re, im)))
        } else {
            format::complex_text(re, im, spec)
        };
    }
    unsafe fn str_from_utf8(ctx: Ctx, text: P, len: i64) -> S {
        // SAFETY: compiled code passes `len` bytes, and the live context of its thread.
        unsafe {
            let bytes = crate::raw_slice(text.cast_const(), len);
            or_raise(ctx, from_text(&String::from_utf8_lossy(bytes)))
        }
    }
    unsafe fn str_to_complex(ctx: Ctx, s: S, out: *mut f64) {
        // SAFETY: the string and the context are live, and `out` has room for two numbers.
        unsafe {
            match parse::to_complex(Chars::of(s)) {
                Ok((re, im)) => out.cast::<[f64; 2]>().write_unaligned([re, im]),
                Err(e) => e.raise(ctx),
            }
        }
    }
}
