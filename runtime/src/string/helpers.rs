//! The string family as compiled code calls it: views of the arguments in, owned strings out.

use super::split::{Justify, Parts, justify, strip};
use super::{
    Chars, case, empty, format, from_chars, from_text, number, parse, search, share, single, slice, split,
};
use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::list;
use tierup_core::desc::order::strings;
use tierup_core::layout::{List, Str};
use tierup_core::ops::string::Helpers;
use tierup_core::rt::{Ctx, P};

type S = *mut Str;

/// A view for the duration of a helper.
///
/// # Safety
/// `s` must be live; compiled code holds a reference to every argument.
unsafe fn view<'a>(s: S) -> Chars<'a> {
    unsafe { Chars::of(s) }
}
unsafe fn optional<'a>(s: S) -> Option<Chars<'a>> {
    (!s.is_null()).then(|| unsafe { view(s) })
}
unsafe fn views<'a>(parts: *const S, n: i64) -> Vec<Chars<'a>> {
    unsafe { crate::raw_slice(parts, n).iter().map(|p| view(*p)).collect() }
}

/// A number of Rust's own making as a string object.
fn small(text: &str) -> S {
    from_text(text).unwrap_or_else(|_| empty())
}

/// The changed string, or `s` itself.
unsafe fn or_same(ctx: Ctx, s: S, changed: Res<Option<S>>) -> S {
    unsafe { or_raise(ctx, changed.map(|c| c.unwrap_or_else(|| share(s)))) }
}
/// A part of `s`, which is `s` itself when it is all of it.
unsafe fn part(ctx: Ctx, s: S, range: std::ops::Range<usize>) -> S {
    let chars = unsafe { view(s) };
    unsafe {
        or_same(
            ctx,
            s,
            if range == (0..chars.len()) { Ok(None) } else { from_chars(chars.slice(range)).map(Some) },
        )
    }
}
unsafe fn parts(ctx: Ctx, s: S, parts: Res<Parts>) -> *mut List {
    let make = || {
        let ranges = parts?;
        let chars = unsafe { view(s) };
        list::of_strings(
            ranges.len(),
            ranges.into_iter().map(|r| {
                if r == (0..chars.len()) { Ok(unsafe { share(s) }) } else { from_chars(chars.slice(r)) }
            }),
        )
    };
    unsafe { or_raise(ctx, make()) }
}
unsafe fn partition(ctx: Ctx, s: S, sep: S, out: *mut S, last: bool) {
    let (chars, sep_chars) = unsafe { (view(s), view(sep)) };
    let make = || -> Res<[S; 3]> {
        Ok(match split::partition_at(chars, sep_chars, last)? {
            Some(i) => [
                from_chars(chars.slice(0..i))?,
                unsafe { share(sep) },
                from_chars(chars.slice(i + sep_chars.len()..chars.len()))?,
            ],
            None if last => [empty(), empty(), unsafe { share(s) }],
            None => [unsafe { share(s) }, empty(), empty()],
        })
    };
    match make() {
        // SAFETY: `out` has room for three pointers.
        Ok(three) => unsafe { out.cast::<[S; 3]>().write(three) },
        Err(e) => unsafe {
            out.cast::<[S; 3]>().write([std::ptr::null_mut(); 3]);
            e.raise(ctx)
        },
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

// The helpers below forward to safe functions; every argument is live for the call.
impl Helpers for Native {
    unsafe fn str_concat(ctx: Ctx, a: S, b: S) -> S {
        let (x, y) = unsafe { (view(a), view(b)) };
        if x.is_empty() {
            return unsafe { share(b) };
        }
        if y.is_empty() {
            return unsafe { share(a) };
        }
        unsafe { or_raise(ctx, super::concat(&[x, y])) }
    }
    unsafe fn str_concat_all(ctx: Ctx, parts: *const S, n: i64) -> S {
        unsafe { or_raise(ctx, super::concat(&views(parts, n))) }
    }
    unsafe fn str_repeat(ctx: Ctx, s: S, n: i64) -> S {
        unsafe { if n == 1 { share(s) } else { or_raise(ctx, super::repeat(view(s), n)) } }
    }
    unsafe fn str_eq(a: S, b: S) -> i8 {
        (a == b || unsafe { view(a).equals(view(b)) }) as i8
    }
    unsafe fn str_compare(a: S, b: S) -> i64 {
        unsafe { strings(&*a, &*b) as i64 }
    }
    unsafe fn str_hash(s: S) -> i64 {
        unsafe { super::hash(view(s)) }
    }
    unsafe fn str_getitem(ctx: Ctx, s: S, i: i64) -> S {
        unsafe { or_raise(ctx, getitem(view(s), i)) }
    }
    unsafe fn str_char(s: S, i: i64) -> S {
        unsafe { single(view(s).get(i as usize)) }
    }
    unsafe fn str_code(s: S, i: i64) -> i64 {
        unsafe { view(s).get(i as usize) as i64 }
    }
    unsafe fn str_slice(ctx: Ctx, s: S, start: i64, step: i64, count: i64) -> S {
        unsafe {
            if step == 1 && count == (*s).len {
                share(s)
            } else {
                or_raise(ctx, slice(view(s), start, step, count))
            }
        }
    }

    unsafe fn str_contains(s: S, sub: S) -> i8 {
        unsafe { search::find(view(s), view(sub)).is_some() as i8 }
    }
    unsafe fn str_find(s: S, sub: S, start: i64, end: i64) -> i64 {
        unsafe { search::find_in(view(s), view(sub), start, end, search::find) }
    }
    unsafe fn str_rfind(s: S, sub: S, start: i64, end: i64) -> i64 {
        unsafe { search::find_in(view(s), view(sub), start, end, search::rfind) }
    }
    unsafe fn str_index(ctx: Ctx, s: S, sub: S, start: i64, end: i64) -> i64 {
        unsafe { or_raise(ctx, position(Self::str_find(s, sub, start, end))) }
    }
    unsafe fn str_rindex(ctx: Ctx, s: S, sub: S, start: i64, end: i64) -> i64 {
        unsafe { or_raise(ctx, position(Self::str_rfind(s, sub, start, end))) }
    }
    unsafe fn str_count(s: S, sub: S, start: i64, end: i64) -> i64 {
        unsafe { search::count_in(view(s), view(sub), start, end) }
    }
    unsafe fn str_startswith(s: S, prefix: S, start: i64, end: i64) -> i8 {
        unsafe { search::starts_with(view(s), view(prefix), start, end) as i8 }
    }
    unsafe fn str_endswith(s: S, suffix: S, start: i64, end: i64) -> i8 {
        unsafe { search::ends_with(view(s), view(suffix), start, end) as i8 }
    }
    unsafe fn str_replace(ctx: Ctx, s: S, old: S, new: S, count: i64) -> S {
        unsafe { or_same(ctx, s, search::replace(view(s), view(old), view(new), count)) }
    }
    unsafe fn str_removeprefix(ctx: Ctx, s: S, prefix: S) -> S {
        unsafe {
            part(
                ctx,
                s,
                if Self::str_startswith(s, prefix, 0, i64::MAX) != 0 { (*prefix).len as usize } else { 0 }
                    ..(*s).len as usize,
            )
        }
    }
    unsafe fn str_removesuffix(ctx: Ctx, s: S, suffix: S) -> S {
        unsafe {
            part(
                ctx,
                s,
                0..(*s).len as usize
                    - if Self::str_endswith(s, suffix, 0, i64::MAX) != 0 {
                        (*suffix).len as usize
                    } else {
                        0
                    },
            )
        }
    }

    unsafe fn str_partition(ctx: Ctx, s: S, sep: S, out: *mut S) {
        unsafe { partition(ctx, s, sep, out, false) }
    }
    unsafe fn str_rpartition(ctx: Ctx, s: S, sep: S, out: *mut S) {
        unsafe { partition(ctx, s, sep, out, true) }
    }
    unsafe fn str_split(ctx: Ctx, s: S, sep: S, maxsplit: i64) -> *mut List {
        unsafe {
            parts(
                ctx,
                s,
                optional(sep).map_or_else(
                    || Ok(split::split_space(view(s), maxsplit)),
                    |sep| split::split_on(view(s), sep, maxsplit),
                ),
            )
        }
    }
    unsafe fn str_rsplit(ctx: Ctx, s: S, sep: S, maxsplit: i64) -> *mut List {
        unsafe {
            parts(
                ctx,
                s,
                optional(sep).map_or_else(
                    || Ok(split::rsplit_space(view(s), maxsplit)),
                    |sep| split::rsplit_on(view(s), sep, maxsplit),
                ),
            )
        }
    }
    unsafe fn str_splitlines(ctx: Ctx, s: S, keepends: i8) -> *mut List {
        unsafe { parts(ctx, s, Ok(split::split_lines(view(s), keepends != 0))) }
    }
    unsafe fn str_join(ctx: Ctx, sep: S, list: *mut List) -> S {
        unsafe { Self::str_join_all(ctx, sep, (*list).data.cast(), (*list).len) }
    }
    unsafe fn str_join_all(ctx: Ctx, sep: S, parts: *const S, n: i64) -> S {
        unsafe {
            if n == 1 { share(*parts) } else { or_raise(ctx, split::join(view(sep), &views(parts, n))) }
        }
    }
    unsafe fn str_strip(ctx: Ctx, s: S, chars: S) -> S {
        unsafe { part(ctx, s, strip(view(s), optional(chars), true, true)) }
    }
    unsafe fn str_lstrip(ctx: Ctx, s: S, chars: S) -> S {
        unsafe { part(ctx, s, strip(view(s), optional(chars), true, false)) }
    }
    unsafe fn str_rstrip(ctx: Ctx, s: S, chars: S) -> S {
        unsafe { part(ctx, s, strip(view(s), optional(chars), false, true)) }
    }
    unsafe fn str_center(ctx: Ctx, s: S, width: i64, fill: S) -> S {
        unsafe { or_same(ctx, s, justify(view(s), width, optional(fill), Justify::Center)) }
    }
    unsafe fn str_ljust(ctx: Ctx, s: S, width: i64, fill: S) -> S {
        unsafe { or_same(ctx, s, justify(view(s), width, optional(fill), Justify::Left)) }
    }
    unsafe fn str_rjust(ctx: Ctx, s: S, width: i64, fill: S) -> S {
        unsafe { or_same(ctx, s, justify(view(s), width, optional(fill), Justify::Right)) }
    }
    unsafe fn str_zfill(ctx: Ctx, s: S, width: i64) -> S {
        unsafe { or_same(ctx, s, split::zfill(view(s), width)) }
    }
    unsafe fn str_expandtabs(ctx: Ctx, s: S, tabsize: i64) -> S {
        unsafe { or_raise(ctx, split::expand_tabs(view(s), tabsize)) }
    }

    unsafe fn str_capitalize(ctx: Ctx, s: S) -> S {
        unsafe { or_raise(ctx, case::capitalize(view(s))) }
    }
    unsafe fn str_casefold(ctx: Ctx, s: S) -> S {
        unsafe { or_raise(ctx, case::casefold(view(s))) }
    }
    unsafe fn str_lower(ctx: Ctx, s: S) -> S {
        unsafe { or_raise(ctx, case::lower(view(s))) }
    }
    unsafe fn str_swapcase(ctx: Ctx, s: S) -> S {
        unsafe { or_raise(ctx, case::swapcase(view(s))) }
    }
    unsafe fn str_title(ctx: Ctx, s: S) -> S {
        unsafe { or_raise(ctx, case::title(view(s))) }
    }
    unsafe fn str_upper(ctx: Ctx, s: S) -> S {
        unsafe { or_raise(ctx, case::upper(view(s))) }
    }
    unsafe fn str_isalnum(s: S) -> i8 {
        unsafe { case::all(view(s), case::is_alnum) as i8 }
    }
    unsafe fn str_isalpha(s: S) -> i8 {
        unsafe { case::all(view(s), case::is_alpha) as i8 }
    }
    unsafe fn str_isascii(s: S) -> i8 {
        unsafe { view(s).is_ascii() as i8 }
    }
    unsafe fn str_isdecimal(s: S) -> i8 {
        unsafe { case::all(view(s), |c| case::decimal(c).is_some()) as i8 }
    }
    unsafe fn str_isdigit(s: S) -> i8 {
        unsafe { case::all(view(s), case::is_digit) as i8 }
    }
    unsafe fn str_isidentifier(s: S) -> i8 {
        unsafe { case::is_identifier(view(s)) as i8 }
    }
    unsafe fn str_islower(s: S) -> i8 {
        unsafe { case::all_lower(view(s)) as i8 }
    }
    unsafe fn str_isnumeric(s: S) -> i8 {
        unsafe { case::all(view(s), case::is_numeric) as i8 }
    }
    unsafe fn str_isprintable(s: S) -> i8 {
        unsafe { view(s).iter().all(case::is_printable) as i8 }
    }
    unsafe fn str_isspace(s: S) -> i8 {
        unsafe { case::all(view(s), case::is_space) as i8 }
    }
    unsafe fn str_istitle(s: S) -> i8 {
        unsafe { case::all_title(view(s)) as i8 }
    }
    unsafe fn str_isupper(s: S) -> i8 {
        unsafe { case::all_upper(view(s)) as i8 }
    }

    unsafe fn str_ord(ctx: Ctx, s: S) -> i64 {
        unsafe { or_raise(ctx, ord(view(s))) }
    }
    unsafe fn str_chr(ctx: Ctx, code: i64) -> S {
        unsafe { or_raise(ctx, chr(code)) }
    }
    unsafe fn str_repr(ctx: Ctx, s: S) -> S {
        unsafe { or_raise(ctx, units(super::repr(view(s), false))) }
    }
    unsafe fn str_ascii(ctx: Ctx, s: S) -> S {
        unsafe { or_raise(ctx, units(super::repr(view(s), true))) }
    }
    unsafe fn str_from_utf8(ctx: Ctx, text: P, len: i64) -> S {
        // SAFETY: compiled code passes `len` bytes.
        let bytes = unsafe { crate::raw_slice(text.cast_const(), len) };
        unsafe { or_raise(ctx, from_text(&String::from_utf8_lossy(bytes))) }
    }
    unsafe fn str_from_i64(v: i64) -> S {
        small(&v.to_string())
    }
    unsafe fn str_from_u64(v: i64) -> S {
        small(&(v as u64).to_string())
    }
    unsafe fn str_from_f64(v: f64) -> S {
        small(&number::f64_text(v))
    }
    unsafe fn str_from_f32(v: f32) -> S {
        small(&number::f32_text(v))
    }
    unsafe fn str_from_complex(re: f64, im: f64) -> S {
        small(&number::complex_text(re, im))
    }
    unsafe fn str_from_complex64(re: f32, im: f32) -> S {
        small(&number::complex64_text(re, im))
    }
    unsafe fn str_from_bool(v: i8) -> S {
        small(number::bool_text(v != 0))
    }
    unsafe fn str_from_i64_prefixed(v: i64, base: i64) -> S {
        small(&number::prefixed(v < 0, v.unsigned_abs(), base))
    }
    unsafe fn str_from_u64_prefixed(v: i64, base: i64) -> S {
        small(&number::prefixed(false, v as u64, base))
    }
    unsafe fn str_to_int(ctx: Ctx, s: S, base: i64) -> i64 {
        unsafe { or_raise(ctx, parse::to_int(view(s), base)) }
    }
    unsafe fn str_to_float(ctx: Ctx, s: S) -> f64 {
        unsafe { or_raise(ctx, parse::to_float(view(s))) }
    }
    unsafe fn str_to_complex(ctx: Ctx, s: S, out: *mut f64) {
        match parse::to_complex(unsafe { view(s) }) {
            // SAFETY: `out` has room for two numbers.
            Ok((re, im)) => unsafe { out.cast::<[f64; 2]>().write_unaligned([re, im]) },
            Err(e) => unsafe { e.raise(ctx) },
        }
    }

    unsafe fn str_format_i64(ctx: Ctx, v: i64, spec: S) -> S {
        let spec = unsafe { view(spec) };
        if spec.is_empty() {
            return small(&v.to_string());
        }
        unsafe { or_raise(ctx, format::integer_text(v < 0, v.unsigned_abs(), spec, "int")) }
    }
    unsafe fn str_format_u64(ctx: Ctx, v: i64, spec: S) -> S {
        let spec = unsafe { view(spec) };
        if spec.is_empty() {
            return small(&(v as u64).to_string());
        }
        unsafe { or_raise(ctx, format::integer_text(false, v as u64, spec, "int")) }
    }
    unsafe fn str_format_bool(ctx: Ctx, v: i8, spec: S) -> S {
        let spec = unsafe { view(spec) };
        if spec.is_empty() {
            return small(number::bool_text(v != 0));
        }
        unsafe { or_raise(ctx, format::integer_text(false, (v != 0) as u64, spec, "bool")) }
    }
    unsafe fn str_format_f64(ctx: Ctx, v: f64, spec: S) -> S {
        let spec = unsafe { view(spec) };
        if spec.is_empty() {
            return small(&number::f64_text(v));
        }
        unsafe { or_raise(ctx, format::float_text(v, spec)) }
    }
    unsafe fn str_format_complex(ctx: Ctx, re: f64, im: f64, spec: S) -> S {
        let spec = unsafe { view(spec) };
        if spec.is_empty() {
            return small(&number::complex_text(re, im));
        }
        unsafe { or_raise(ctx, format::complex_text(re, im, spec)) }
    }
    unsafe fn str_format_str(ctx: Ctx, s: S, spec: S) -> S {
        unsafe {
            if view(spec).is_empty() {
                share(s)
            } else {
                or_raise(ctx, format::string_text(view(s), view(spec)))
            }
        }
    }
}
