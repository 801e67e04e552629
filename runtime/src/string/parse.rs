//! Text as numbers: `int(s, base)`, `float(s)` and `complex(s)` with Python's rules and messages.

use super::case::{decimal, is_space};
use super::split::strip;
use super::{Chars, repr};
use crate::exc::{Error, Res};

/// The characters as ASCII, without surrounding whitespace, with decimal digits of any script as `0` to `9`
/// and inner spaces as ` `. What is no such thing becomes `?`, which no number contains.
fn ascii(s: Chars<'_>) -> Vec<u8> {
    s.slice(strip(s, None, is_space, [true; 2]))
        .iter()
        .map(|c| match c {
            0..128 => c as u8,
            _ if is_space(c) => b' ',
            _other => decimal(c).map_or(b'?', |d| b'0' + d as u8),
        })
        .collect()
}

/// CPython's `%.200R` of the argument.
fn quoted(s: Chars<'_>) -> String {
    let r = repr(s, false);
    Chars::Four(&r[..r.len().min(200)]).text()
}

/// `int(s, base)` within 64 bits.
pub(crate) fn to_int(s: Chars<'_>, base: i64) -> Res<i64> {
    integer(&ascii(s), base, || quoted(s))
}

/// Bytes without the whitespace around them; what is no ASCII becomes `?`.
fn ascii_of_bytes(b: Chars<'_>) -> Vec<u8> {
    let is_space = |c: u32| matches!(c, 9..=13 | 32);
    // Other whitespace inside of texts, which bytes have not, is no digit either way.
    let plain = |c: &u8| if c.is_ascii() && !matches!(c, 28..=31) { *c } else { b'?' };
    b.slice(strip(b, None, is_space, [true; 2])).bytes().iter().map(plain).collect()
}

/// `int(b, base)` of bytes, whose `repr` an error shows.
pub(crate) fn bytes_to_int(b: Chars<'_>, base: i64, shown: impl Fn() -> String) -> Res<i64> {
    integer(&ascii_of_bytes(b), base, shown)
}

fn integer(text: &[u8], base: i64, quoted: impl Fn() -> String) -> Res<i64> {
    if base != 0 && !(2..=36).contains(&base) {
        return Err(Error::value("int() base must be >= 2 and <= 36, or 0"));
    }
    let invalid = || Error::value(format!("invalid literal for int() with base {base}: {}", quoted()));
    let (negative, mut rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let prefix = match rest {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _none => 0,
    };
    let radix = match (base, prefix) {
        (0, 0) => 10,
        (0, p) => p,
        (b, _) => b,
    };
    if prefix != 0 && prefix == radix {
        rest = &rest[2..];
        if let [b'_', after @ ..] = rest {
            rest = after;
        }
    }
    // In base 0, as in source code, `010` is refused but `00` is not.
    let old_octal = base == 0 && prefix == 0 && rest.first() == Some(&b'0');
    let (mut value, mut overflow, mut last_digit) = (0i128, false, false);
    for &b in rest {
        if b == b'_' {
            if !last_digit {
                return Err(invalid());
            }
            last_digit = false;
            continue;
        }
        let d = (b as char).to_digit(radix as u32).ok_or_else(invalid)?;
        last_digit = true;
        value = value * radix as i128 + d as i128;
        if value > 1 << 64 {
            (overflow, value) = (true, 1 << 64);
        }
    }
    if !last_digit || (old_octal && value != 0) {
        return Err(invalid());
    }
    let value = if negative { -value } else { value };
    i64::try_from(value)
        .ok()
        .filter(|_| !overflow)
        .ok_or_else(|| Error::overflow("Python int too large to convert to C long"))
}

/// Drops underscores between digits; None where one stands elsewhere.
fn without_underscores(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    for (i, &b) in text.iter().enumerate() {
        if b != b'_' {
            out.push(b);
            continue;
        }
        let digit_at = |j: Option<usize>| j.and_then(|j| text.get(j)).is_some_and(u8::is_ascii_digit);
        if !digit_at(i.checked_sub(1)) || !digit_at(Some(i + 1)) {
            return None;
        }
    }
    Some(out)
}

/// Length of the longest float at the start of the text, sign included; 0 when there is none.
fn float_len(text: &[u8]) -> usize {
    let sign = matches!(text.first(), Some(b'+' | b'-')) as usize;
    let rest = &text[sign..];
    for word in [&b"infinity"[..], b"inf", b"nan"] {
        if rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word) {
            return sign + word.len();
        }
    }
    let digits = |from: usize| rest[from.min(rest.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let (mut n, mut fraction) = (whole, 0);
    if rest.get(n) == Some(&b'.') {
        fraction = digits(n + 1);
        n += 1 + fraction;
    }
    if whole + fraction == 0 {
        return 0;
    }
    if matches!(rest.get(n), Some(b'e' | b'E')) {
        let exp_sign = matches!(rest.get(n + 1), Some(b'+' | b'-')) as usize;
        let exp = digits(n + 1 + exp_sign);
        if exp > 0 {
            n += 1 + exp_sign + exp;
        }
    }
    sign + n
}

/// The float at the start of the text and what follows it.
fn take_float(text: &[u8]) -> Option<(f64, &[u8])> {
    let n = float_len(text);
    let value = std::str::from_utf8(&text[..n]).ok()?.parse().ok()?;
    Some((value, &text[n..]))
}

pub(crate) fn to_float(s: Chars<'_>) -> Res<f64> {
    float(&ascii(s), || Chars::Four(&repr(s, false)).text())
}

/// `float(b)` of bytes, whose `repr` an error shows.
pub(crate) fn bytes_to_float(b: Chars<'_>, shown: impl Fn() -> String) -> Res<f64> {
    float(&ascii_of_bytes(b), shown)
}

fn float(text: &[u8], quoted: impl Fn() -> String) -> Res<f64> {
    let invalid = || Error::value(format!("could not convert string to float: {}", quoted()));
    let text = without_underscores(text).ok_or_else(invalid)?;
    match take_float(&text) {
        Some((x, [])) => Ok(x),
        Some(_) | None => Err(invalid()),
    }
}

pub(crate) fn to_complex(s: Chars<'_>) -> Res<(f64, f64)> {
    let text = without_underscores(&ascii(s))
        .ok_or_else(|| Error::value(format!("could not convert string to complex: {}", quoted(s))))?;
    complex(&text).ok_or_else(|| Error::value("complex() arg is a malformed string"))
}

fn complex(text: &[u8]) -> Option<(f64, f64)> {
    let text = match text {
        [b'(', inner @ .., b')'] => inner.trim_ascii(),
        all => all,
    };
    let imaginary = |text: &[u8]| -> Option<f64> {
        // A number, or a sign alone, before the `j`.
        let (y, rest) = match take_float(text) {
            Some(found) => found,
            None => match text {
                [b'+', rest @ ..] => (1.0, rest),
                [b'-', rest @ ..] => (-1.0, rest),
                rest => (1.0, rest),
            },
        };
        matches!(rest, [b'j' | b'J']).then_some(y)
    };
    match take_float(text) {
        Some((x, [])) => Some((x, 0.0)),
        Some((x, rest @ [b'+' | b'-', ..])) => Some((x, imaginary(rest)?)),
        Some(_) | None => Some((0.0, imaginary(text)?)),
    }
}
