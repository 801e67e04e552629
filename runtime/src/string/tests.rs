//! Expected values are CPython 3.11's.

use super::*;
use crate::Native;
use crate::exc::{Arg, Exc};
use crate::object::{live, release};
use crate::testing::{Raised, call, has_raised, with_ctx};
use tierup_core::layout::List;
use tierup_core::ops::raising::Helpers as _;
use tierup_core::ops::string::Helpers;
use tierup_core::rt::Ctx;

type S = *mut Str;

/// Runs a helper on strings and gives back its text, releasing everything.
fn text(f: impl FnOnce(Ctx) -> S) -> String {
    result(f).unwrap_or_else(|r| panic!("raised {r:?}"))
}
fn result(f: impl FnOnce(Ctx) -> S) -> Result<String, Raised> {
    with_ctx(|ctx| {
        let s = f(ctx);
        if s.is_null() {
            return Err(Raised::take(ctx));
        }
        // SAFETY: it is a new string.
        Ok(unsafe { Owned::new(s) }.chars().text())
    })
}
fn value(message: &str) -> Result<String, Raised> {
    Err(Raised::new("ValueError", message))
}
fn s(t: &str) -> Owned {
    Owned::of_text(t).unwrap()
}
fn list(l: *mut List) -> Vec<String> {
    // SAFETY: the list is live, holds strings, and is released once they have been copied.
    unsafe {
        let out =
            crate::raw_slice((*l).data.cast::<S>(), (*l).len).iter().map(|s| Chars::of(*s).text()).collect();
        release(l.cast());
        out
    }
}

#[test]
fn results_have_the_narrowest_kind() {
    let before = live();
    let (wide, narrow) = (s("a😀b"), s("b"));
    for (text, kind) in [("", 1), ("é", 1), ("éж", 2), ("ж😀", 4)] {
        assert_eq!(s(text).chars().kind(), kind, "{text}");
    }
    // SAFETY: strings and context are live.
    with_ctx(|ctx| unsafe {
        let part = Owned::new(Native::str_slice(ctx, wide.get(), 2, -2, 2));
        assert_eq!(part.chars().text(), "ba");
        assert_eq!(part.chars().kind(), 1);
        let gone = Owned::new(Native::str_replace(ctx, wide.get(), s("😀").get(), narrow.get(), -1));
        assert_eq!((gone.chars().text().as_str(), gone.chars().kind()), ("abb", 1));
    });
    drop(wide);
    assert_eq!(live(), before);
}

#[test]
fn single_latin1_characters_are_shared() {
    // SAFETY: strings and context are live.
    with_ctx(|ctx| unsafe {
        let word = s("aba");
        assert_eq!(Native::str_getitem(ctx, word.get(), 0), Native::str_getitem(ctx, word.get(), -1));
        Native::str_getitem(ctx, word.get(), 3);
        assert_eq!(Raised::take(ctx), Raised::new("IndexError", "string index out of range"));
    });
}

#[test]
fn hash_is_siphash13_of_the_code_units() {
    // PYTHONHASHSEED=0 gives a key of zeros: hash('a'), hash('abcdefgh'), hash('жж').
    for (t, h) in
        [("", 0), ("a", 4644417185603328019), ("abcdefgh", 4574395652268504554), ("жж", -7339575442533429425)]
    {
        assert_eq!(hash(s(t).chars()), h, "{t}");
    }
}

#[test]
fn searching_across_widths() {
    let find = |h: &str, n: &str, a, b| call!(str_find(s(h).get(), s(n).get(), a, b));
    // `жa` has bytes 36 04 61 00: a hit in the middle of a code unit must not count.
    assert_eq!(find("ж\u{6136}a\u{3600}", "\u{3600}", 0, i64::MAX), 3);
    assert_eq!(find("abcж", "c", 0, i64::MAX), 2);
    assert_eq!(find("abc", "ж", 0, i64::MAX), -1);
    assert_eq!(find("abc", "", 3, i64::MAX), 3);
    assert_eq!(find("abc", "", 4, i64::MAX), -1);
    assert_eq!(find("hello", "l", -2, i64::MAX), 3);
    // SAFETY: strings live until the end of the statement that makes them.
    unsafe {
        assert_eq!(Native::str_rfind(s("хабаба").get(), s("аба").get(), 0, i64::MAX), 3);
        assert_eq!(Native::str_count(s("aaaa").get(), s("aa").get(), 0, i64::MAX), 2);
        assert_eq!(Native::str_count(s("abc").get(), s("").get(), 0, i64::MAX), 4);
        assert_eq!(Native::str_startswith(s("abc").get(), s("").get(), 4, i64::MAX), 0);
        with_ctx(|ctx| {
            Native::str_index(ctx, s("a").get(), s("b").get(), 0, i64::MAX);
            assert_eq!(Raised::take(ctx), Raised::new("ValueError", "substring not found"));
        });
    }
}

#[test]
fn splitting_and_joining() {
    let before = live();
    // SAFETY: strings, lists and context are live.
    with_ctx(|ctx| unsafe {
        let null = std::ptr::null_mut();
        let none: [&str; 0] = [];
        assert_eq!(list(Native::str_split(ctx, s(" a  b c ").get(), null, 1)), ["a", "b c "]);
        assert_eq!(list(Native::str_rsplit(ctx, s(" a  b c ").get(), null, 1)), [" a  b", "c"]);
        assert_eq!(list(Native::str_split(ctx, s("  ").get(), null, -1)), none);
        assert_eq!(list(Native::str_split(ctx, s("a,b,,c").get(), s(",").get(), 2)), ["a", "b", ",c"]);
        assert_eq!(list(Native::str_rsplit(ctx, s("a,b,,c").get(), s(",").get(), 1)), ["a,b,", "c"]);
        assert_eq!(list(Native::str_splitlines(ctx, s("a\r\nb\n\nc").get(), 1)), ["a\r\n", "b\n", "\n", "c"]);
        assert!(Native::str_split(ctx, s("a").get(), s("").get(), -1).is_null());
        assert_eq!(Raised::take(ctx).text, "empty separator");
        let parts = Native::str_split(ctx, s("x y z").get(), null, -1);
        let joined = Owned::new(Native::str_join(ctx, s("ж").get(), parts));
        assert_eq!(joined.chars().text(), "xжyжz");
        release(parts.cast());
        let mut three = [null; 3];
        Native::str_rpartition(ctx, s("a-b-c").get(), s("-").get(), three.as_mut_ptr());
        assert_eq!(three.map(|p| Owned::new(p).chars().text()), ["a-b", "-", "c"]);
        Native::str_partition(ctx, s("a").get(), s("").get(), three.as_mut_ptr());
        assert_eq!(Raised::take(ctx).text, "empty separator");
        assert_eq!(three, [null; 3]);
    });
    assert_eq!(live(), before);
}

#[test]
fn case_follows_the_full_rules() {
    // SAFETY: the string lives until the end of the call, and the context is live.
    let of = |f: unsafe fn(Ctx, S) -> S, t: &str| text(|ctx| unsafe { f(ctx, s(t).get()) });
    assert_eq!(of(Native::str_upper, "straße ŉ"), "STRASSE ʼN");
    assert_eq!(of(Native::str_lower, "ΑΣ ΑΣΑ İ"), "ας ασα i̇");
    assert_eq!(of(Native::str_title, "ǆungla they're ßx"), "ǅungla They'Re Ssx");
    assert_eq!(of(Native::str_capitalize, "ǆABC"), "ǅabc");
    assert_eq!(of(Native::str_swapcase, "aBß"), "AbSS");
    assert_eq!(of(Native::str_casefold, "Straße ς"), "strasse σ");
    // SAFETY: strings live until the end of the statement that makes them.
    unsafe {
        assert_eq!(
            (
                Native::str_istitle(s("Ab Cd").get()),
                Native::str_istitle(s("AB").get()),
                Native::str_islower(s("ª1").get())
            ),
            (1, 0, 1)
        );
        assert_eq!(
            (
                Native::str_isdecimal(s("٣").get()),
                Native::str_isdecimal(s("²").get()),
                Native::str_isdigit(s("²").get()),
                Native::str_isnumeric(s("½").get())
            ),
            (1, 0, 1, 1)
        );
        assert_eq!(
            (
                Native::str_isidentifier(s("_é1").get()),
                Native::str_isidentifier(s("1a").get()),
                Native::str_isprintable(s("").get())
            ),
            (1, 0, 1)
        );
    }
}

#[test]
fn padding_and_tabs() {
    let null = std::ptr::null_mut();
    assert_eq!(text(|c| call!(str_center(c, s("ab").get(), 5, null))), "  ab ");
    assert_eq!(text(|c| call!(str_center(c, s("abc").get(), 6, s("*").get()))), "*abc**");
    assert_eq!(text(|c| call!(str_zfill(c, s("-7").get(), 4))), "-007");
    assert_eq!(text(|c| call!(str_expandtabs(c, s("a\tbc\t\nd\t").get(), 4))), "a   bc  \nd   ");
    assert_eq!(
        result(|c| call!(str_ljust(c, s("a").get(), 5, s("xy").get()))),
        Err(Raised::new("TypeError", "The fill character must be exactly one character long"))
    );
    let huge = |r: Result<String, Raised>| assert_eq!(r.unwrap_err().class, "MemoryError");
    huge(result(|c| call!(str_repeat(c, s("ab").get(), i64::MAX))));
    huge(result(|c| call!(str_rjust(c, s("ab").get(), i64::MAX, null))));
}

#[test]
fn repr_quotes_and_escapes() {
    for (t, r) in [
        ("it's", "\"it's\""),
        ("'\"", "'\\'\"'"),
        ("a\n\t\\\x07é\u{ad}\u{2028}😀\u{e000}", "'a\\n\\t\\\\\\x07é\\xad\\u2028😀\\ue000'"),
    ] {
        assert_eq!(text(|c| call!(str_repr(c, s(t).get()))), r);
    }
    assert_eq!(text(|c| call!(str_ascii(c, s("é😀").get()))), "'\\xe9\\U0001f600'");
}

#[test]
fn floats_print_as_cpython_prints_them() {
    for (x, t) in [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1e16, "1e+16"),
        (9999999999999998.0, "9999999999999998.0"),
        (1e-5, "1e-05"),
        (0.0001, "0.0001"),
        (0.1, "0.1"),
        (123456789.125, "123456789.125"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::INFINITY, "inf"),
        (-f64::INFINITY, "-inf"),
        (f64::NAN, "nan"),
    ] {
        assert_eq!(text(|_| call!(str_from_f64(x))), t);
    }
    assert_eq!(text(|_| call!(str_from_f32(0.1))), "0.1");
    assert_eq!(text(|_| call!(str_from_f32(1e16))), "1e+16");
    for (re, im, t) in [
        (1.0, 2.0, "(1+2j)"),
        (0.0, -1.5, "-1.5j"),
        (-0.0, 0.0, "(-0+0j)"),
        (f64::NAN, f64::NEG_INFINITY, "(nan-infj)"),
        (1e16, -0.0, "(1e+16-0j)"),
    ] {
        assert_eq!(text(|_| call!(str_from_complex(re, im))), t);
    }
}

#[test]
fn text_becomes_numbers() {
    let int = |t: &str, base| {
        with_ctx(|ctx| {
            let v = call!(str_to_int(ctx, s(t).get(), base));
            if has_raised(ctx) { Err(Raised::take(ctx).text) } else { Ok(v) }
        })
    };
    assert_eq!(int(" -1_0\n", 10), Ok(-10));
    assert_eq!(int("0x_ff", 16), Ok(255));
    assert_eq!(int("0b11", 0), Ok(3));
    assert_eq!(int("٣٤", 10), Ok(34));
    assert_eq!(int("-9223372036854775808", 10), Ok(i64::MIN));
    assert_eq!(int("9223372036854775808", 10), Err("Python int too large to convert to C long".into()));
    for bad in ["", "1__0", "_1", "1_", "1 2", "0x", "a"] {
        assert_eq!(int(bad, 10), Err(format!("invalid literal for int() with base 10: '{bad}'")));
    }
    assert_eq!(int("010", 0), Err("invalid literal for int() with base 0: '010'".into()));
    assert_eq!(int("1", 1), Err("int() base must be >= 2 and <= 36, or 0".into()));
    let float = |t: &str| {
        with_ctx(|ctx| {
            let v = call!(str_to_float(ctx, s(t).get()));
            if has_raised(ctx) { Err(Raised::take(ctx).text) } else { Ok(v) }
        })
    };
    assert_eq!(float(" 1_0.5e-1_0 "), Ok(1.05e-9));
    assert_eq!(float("-Infinity"), Ok(f64::NEG_INFINITY));
    assert_eq!(float(".5"), Ok(0.5));
    for bad in ["", ".", "1e", "1_.5", "0x1", &"x".repeat(300)] {
        assert_eq!(float(bad), Err(format!("could not convert string to float: '{bad}'")));
    }
    for (t, re, im) in [
        ("1+2j", 1.0, 2.0),
        (" ( -j ) ", 0.0, -1.0),
        ("1e3-infj", 1000.0, f64::NEG_INFINITY),
        ("2", 2.0, 0.0),
    ] {
        with_ctx(|ctx| {
            let mut out = [0.0; 2];
            call!(str_to_complex(ctx, s(t).get(), out.as_mut_ptr()));
            assert_eq!(out, [re, im], "{t}");
        });
    }
}

#[test]
fn format_specifications() {
    let int = |v, spec: &str| result(|c| call!(str_format_i64(c, v, s(spec).get())));
    for (v, spec, t) in [
        (42, "5", "   42"),
        (-42, "=+6", "-   42"),
        (-42, "06", "-00042"),
        (255, "#010x", "0x000000ff"),
        (255, "#X", "0XFF"),
        (1234567, ",", "1,234,567"),
        (1234567, "012,", "0,001,234,567"),
        (65535, "_b", "1111_1111_1111_1111"),
        (97, "c", "a"),
        (97, "^5c", "  a  "),
        (3, ".2f", "3.00"),
        (5, "é>3", "éé5"),
        (i64::MIN, "d", "-9223372036854775808"),
    ] {
        assert_eq!(int(v, spec).as_deref(), Ok(t), "{spec}");
    }
    assert_eq!(int(1, ".3d"), value("Precision not allowed in integer format specifier"));
    assert_eq!(int(1, ",_"), value("Cannot specify both ',' and '_'."));
    assert_eq!(int(1, ",x"), value("Cannot specify ',' with 'x'."));
    assert_eq!(int(1, "s"), value("Unknown format code 's' for object of type 'int'"));
    assert_eq!(int(1, "%%"), value("Invalid format specifier '%%' for object of type 'int'"));
    assert_eq!(int(1, "9999999999999999999999"), value("Too many decimal digits in format string"));
    assert_eq!(int(1, "999999999999999").unwrap_err().class, "MemoryError");
    assert_eq!(int(-1, "c"), Err(Raised::new("OverflowError", "%c arg not in range(0x110000)")));
    let float = |v, spec: &str| result(|c| call!(str_format_f64(c, v, s(spec).get())));
    for (v, spec, t) in [
        (3.14159, ".2f", "3.14"),
        (2.5, ".0f", "2"),
        (1234.5, ",.1f", "1,234.5"),
        (1e20, ".3", "1e+20"),
        (1.0, ".3", "1.0"),
        (12.0, ".2", "1.2e+01"),
        (0.5, "%", "50.000000%"),
        (1.5, "010", "00000001.5"),
        (f64::INFINITY, "010", "0000000inf"),
        (-0.001, "z.1f", "0.0"),
        (1.0, "#.0f", "1."),
        (1.0, "#g", "1.00000"),
        (1e-5, "g", "1e-05"),
        (12345.678, "E", "1.234568E+04"),
    ] {
        assert_eq!(float(v, spec).as_deref(), Ok(t), "{spec}");
    }
    assert_eq!(float(1.0, "."), value("Format specifier missing precision"));
    assert_eq!(float(1.0, ".99999999999f"), value("precision too big"));
    assert_eq!(
        result(|c| call!(str_format_complex(c, 1.5, -2.0, s(">+12.1f").get()))).as_deref(),
        Ok("   +1.5-2.0j")
    );
    assert_eq!(
        result(|c| call!(str_format_complex(c, 1.0, 1.0, s("05").get()))),
        value("Zero padding is not allowed in complex format specifier")
    );
    assert_eq!(
        result(|c| call!(str_format_str(c, s("héllo").get(), s("*^7.3").get()))).as_deref(),
        Ok("**hél**")
    );
    assert_eq!(
        result(|c| call!(str_format_str(c, s("a").get(), s("=5").get()))),
        value("'=' alignment not allowed in string format specifier")
    );
    assert_eq!(result(|c| call!(str_format_bool(c, 1, s("5").get()))).as_deref(), Ok("    1"));
}

#[test]
fn exceptions_as_text() {
    let before = live();
    let show = |class, args: Vec<Arg>| {
        let e = Exc::builtin(class, args).cast();
        let both = (text(|c| call!(exc_str(c, e))), text(|c| call!(exc_repr(c, e))));
        // SAFETY: the exception was made here, and nobody else has it.
        unsafe { release(e) };
        both
    };
    let both = |a: &str, b: &str| (a.to_string(), b.to_string());
    assert_eq!(show(Class::ValueError, vec![]), both("", "ValueError()"));
    assert_eq!(show(Class::ValueError, vec![Arg::Text("it's".into())]), both("it's", "ValueError(\"it's\")"));
    assert_eq!(show(Class::KeyError, vec![Arg::Text("k".into())]), both("'k'", "KeyError('k')"));
    assert_eq!(
        show(Class::OverflowError, vec![Arg::Int(34), Arg::Text("big".into())]),
        both("(34, 'big')", "OverflowError(34, 'big')")
    );
    assert_eq!(
        show(Class::OSError, vec![Arg::Int(2), Arg::Text("gone".into())]),
        both("[Errno 2] gone", "OSError(2, 'gone')")
    );
    assert_eq!(
        show(Class::TypeError, vec![Arg::Tuple(vec![Arg::Float(1.0)]), Arg::Str(from_text("xy").unwrap())]),
        both("((1.0,), 'xy')", "TypeError((1.0,), 'xy')")
    );
    assert_eq!(live(), before);
}
