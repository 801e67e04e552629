//! `format(value, spec)`: the format specification of f-strings for ints, floats, complex numbers and
//! strings.
//!
//! A number is laid out as `padding sign prefix padding digits point-and-rest padding`; grouping puts
//! separators, and zeros up to the width, into the digits.

use super::number::Decimal;
use super::{Chars, Owned, concat};
use crate::exc::{Error, Res};
use tierup_core::layout::Str;

const fn ch(c: char) -> u32 {
    c as u32
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Grouping {
    None,
    Comma,
    Underscore,
    UnderscoreFour,
}

/// A parsed specification. Characters are code points; 0 stands for "not given".
#[derive(Clone, Debug)]
struct Spec {
    fill: u32,
    align: u32,
    sign: u32,
    no_negative_zero: bool,
    alternate: bool,
    width: Option<usize>,
    grouping: Grouping,
    precision: Option<usize>,
    kind: u32,
}

/// Prints a presentation type in a message.
fn shown(kind: u32) -> String {
    if (33..128).contains(&kind) { char::from(kind as u8).to_string() } else { format!("\\x{kind:x}") }
}
fn unknown(kind: u32, type_name: &str) -> Error {
    Error::value(format!("Unknown format code '{}' for object of type '{type_name}'", shown(kind)))
}

fn is_align(c: u32) -> bool {
    matches!(char::from_u32(c), Some('<' | '>' | '=' | '^'))
}

impl Spec {
    fn parse(text: Chars<'_>, default_kind: u32, default_align: u32, type_name: &str) -> Res<Spec> {
        let mut spec = Spec {
            fill: ch(' '),
            align: default_align,
            sign: 0,
            no_negative_zero: false,
            alternate: false,
            width: None,
            grouping: Grouping::None,
            precision: None,
            kind: default_kind,
        };
        let at = |i: usize| if i < text.len() { text.get(i) } else { 0 };
        let (mut i, mut fill_given, mut align_given) = (0, false, false);
        if text.len() >= 2 && is_align(at(1)) {
            (spec.fill, spec.align, fill_given, align_given, i) = (at(0), at(1), true, true, 2);
        } else if is_align(at(0)) {
            (spec.align, align_given, i) = (at(0), true, 1);
        }
        if [ch('+'), ch('-'), ch(' ')].contains(&at(i)) {
            spec.sign = at(i);
            i += 1;
        }
        if at(i) == ch('z') {
            spec.no_negative_zero = true;
            i += 1;
        }
        if at(i) == ch('#') {
            spec.alternate = true;
            i += 1;
        }
        if !fill_given && at(i) == ch('0') {
            spec.fill = ch('0');
            if !align_given && default_align == ch('>') {
                spec.align = ch('=');
            }
            i += 1;
        }
        spec.width = integer(text, &mut i)?;
        let both = || Error::value("Cannot specify both ',' and '_'.");
        if at(i) == ch(',') {
            spec.grouping = Grouping::Comma;
            i += 1;
        }
        if at(i) == ch('_') {
            if spec.grouping != Grouping::None {
                return Err(both());
            }
            spec.grouping = Grouping::Underscore;
            i += 1;
        }
        if at(i) == ch(',') && spec.grouping == Grouping::Underscore {
            return Err(both());
        }
        if at(i) == ch('.') {
            i += 1;
            spec.precision = integer(text, &mut i)?;
            if spec.precision.is_none() {
                return Err(Error::value("Format specifier missing precision"));
            }
        }
        match text.len() - i {
            0 => {}
            1 => spec.kind = at(i),
            _more => {
                return Err(Error::value(format!(
                    "Invalid format specifier {} for object of type '{type_name}'",
                    quote(text)
                )));
            }
        }
        if spec.grouping != Grouping::None {
            match char::from_u32(spec.kind) {
                Some('d' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F' | '\0') => {}
                Some('b' | 'o' | 'x' | 'X') if spec.grouping == Grouping::Underscore => {
                    spec.grouping = Grouping::UnderscoreFour
                }
                Some(_) | None => {
                    let sep = if spec.grouping == Grouping::Comma { ',' } else { '_' };
                    return Err(Error::value(format!("Cannot specify '{sep}' with '{}'.", shown(spec.kind))));
                }
            }
        }
        if spec.kind == ch('n') && default_kind != ch('s') {
            own_locale()?;
        }
        Ok(spec)
    }
}

/// `n` separates digits as the locale of the process says; this here knows the one that Python starts with.
fn own_locale() -> Res<()> {
    // SAFETY: what `localeconv` points to lives until the locale changes, which CPython does under its lock;
    // the texts are only looked at here.
    let plain = unsafe {
        let now = &*libc::localeconv();
        let is = |text: *const std::ffi::c_char, wanted: &std::ffi::CStr| {
            text.is_null() || std::ffi::CStr::from_ptr(text) == wanted
        };
        is(now.decimal_point, c".") && is(now.thousands_sep, c"")
    };
    if plain {
        return Ok(());
    }
    Err(Error::new(
        tierup_core::exc::Class::NotImplementedError,
        "the format code 'n' with a locale of its own is not compiled: use ',' or '_'",
    ))
}

/// CPython puts the specification between plain quotes, not as its repr.
fn quote(text: Chars<'_>) -> String {
    format!("'{}'", text.text())
}

/// Digits (of any script) at `i`; None when there are none.
fn integer(text: Chars<'_>, i: &mut usize) -> Res<Option<usize>> {
    let mut value = None::<usize>;
    while *i < text.len()
        && let Some(d) = super::case::decimal(text.get(*i))
    {
        let next = value
            .unwrap_or(0)
            .checked_mul(10)
            .and_then(|v| v.checked_add(d as usize))
            .filter(|v| *v <= isize::MAX as usize);
        value = Some(next.ok_or_else(|| Error::value("Too many decimal digits in format string"))?);
        *i += 1;
    }
    Ok(value)
}

/// The parts of a number before layout.
struct Number<'a> {
    negative: bool,
    prefix: &'a str,
    digits: &'a str,
    rest: &'a str,
}

/// Digits with separators, and with zeros in front up to `min_width`.
fn grouped(digits: &str, min_width: usize, grouping: Grouping) -> String {
    let (size, sep) = match grouping {
        Grouping::None => return format!("{}{digits}", "0".repeat(min_width.saturating_sub(digits.len()))),
        Grouping::Comma => (3, ','),
        Grouping::Underscore => (3, '_'),
        Grouping::UnderscoreFour => (4, '_'),
    };
    // From the right: the group's digits, then zeros while the width asks for more; a separator takes its
    // share of the width too.
    let mut reversed = String::new();
    let (mut remaining, mut width) = (digits.len() as isize, min_width as isize);
    let mut source = digits.bytes().rev();
    loop {
        let take = (size as isize).min(remaining.max(width).max(1));
        for _ in 0..take {
            reversed.push(source.next().map_or('0', char::from));
        }
        remaining -= take.min(remaining);
        width -= take;
        if remaining <= 0 && width <= 0 {
            break;
        }
        reversed.push(sep);
        width -= 1;
    }
    reversed.chars().rev().collect()
}

fn sign_text(negative: bool, sign: u32) -> &'static str {
    if negative {
        "-"
    } else if sign == ch('+') {
        "+"
    } else if sign == ch(' ') {
        " "
    } else {
        ""
    }
}

/// Lays a number out to the width of `spec`.
fn number(n: Number<'_>, spec: &Spec) -> Res<*mut Str> {
    let sign = sign_text(n.negative, spec.sign);
    let others = sign.len() + n.prefix.len() + n.rest.chars().count();
    let width = spec.width.unwrap_or(0);
    let min = if spec.fill == ch('0') && spec.align == ch('=') { width.saturating_sub(others) } else { 0 };
    // A width that no memory holds must not be tried in `grouped`, which cannot fail.
    if min > 1 << 32 {
        return Err(Error::bare(tierup_core::exc::Class::MemoryError));
    }
    let digits = if n.digits.is_empty() { String::new() } else { grouped(n.digits, min, spec.grouping) };
    let padding = width.saturating_sub(others + digits.len());
    let (left, inner, right) = match char::from_u32(spec.align) {
        Some('<') => (0, 0, padding),
        Some('^') => (padding / 2, 0, padding - padding / 2),
        Some('=') => (0, padding, 0),
        Some(_) | None => (padding, 0, 0),
    };
    let rest: Vec<u32> = n.rest.chars().map(ch).collect();
    padded(&[
        (left, spec.fill, Chars::One(sign.as_bytes())),
        (0, 0, Chars::One(n.prefix.as_bytes())),
        (inner, spec.fill, Chars::One(digits.as_bytes())),
        (0, 0, Chars::Four(&rest)),
        (right, spec.fill, Chars::One(b"")),
    ])
}

/// Pieces of `n` fill characters and a text.
pub(super) fn padded(pieces: &[(usize, u32, Chars<'_>)]) -> Res<*mut Str> {
    let fills = pieces
        .iter()
        .map(|(n, fill, _)| Owned::repeated(Chars::Four(&[*fill]), *n as i64))
        .collect::<Res<Vec<_>>>()?;
    let parts: Vec<Chars<'_>> =
        pieces.iter().zip(&fills).flat_map(|((_, _, text), fill)| [fill.chars(), *text]).collect();
    concat(&parts)
}

/// `format(int, spec)`; `type_name` is `int` or `bool`.
pub(crate) fn integer_text(
    negative: bool,
    magnitude: u64,
    text: Chars<'_>,
    type_name: &str,
) -> Res<*mut Str> {
    let spec = Spec::parse(text, ch('d'), ch('>'), type_name)?;
    let kind = char::from_u32(spec.kind).unwrap_or('\u{FFFD}');
    match kind {
        'b' | 'c' | 'd' | 'o' | 'x' | 'X' | 'n' => {}
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' => {
            return float_with(if negative { -(magnitude as f64) } else { magnitude as f64 }, &spec);
        }
        _other => return Err(unknown(spec.kind, type_name)),
    }
    if spec.precision.is_some() {
        return Err(Error::value("Precision not allowed in integer format specifier"));
    }
    if spec.no_negative_zero {
        return Err(Error::value("Negative zero coercion (z) not allowed in integer format specifier"));
    }
    if kind == 'c' {
        if spec.sign != 0 {
            return Err(Error::value("Sign not allowed with integer format specifier 'c'"));
        }
        if spec.alternate {
            return Err(Error::value("Alternate form (#) not allowed with integer format specifier 'c'"));
        }
        if magnitude > i64::MAX as u64 && !negative {
            return Err(Error::overflow("Python int too large to convert to C long"));
        }
        let code = u32::try_from(magnitude)
            .ok()
            .filter(|c| *c < 0x110000 && !negative)
            .ok_or_else(|| Error::overflow("%c arg not in range(0x110000)"))?;
        let padding = spec.width.unwrap_or(0).saturating_sub(1);
        let (left, right) = match char::from_u32(spec.align) {
            Some('<') => (0, padding),
            Some('^') => (padding / 2, padding - padding / 2),
            Some(_) | None => (padding, 0),
        };
        return padded(&[(left, spec.fill, Chars::Four(&[code])), (right, spec.fill, Chars::One(b""))]);
    }
    let (prefix, digits) = match kind {
        'b' => ("0b", format!("{magnitude:b}")),
        'o' => ("0o", format!("{magnitude:o}")),
        'x' => ("0x", format!("{magnitude:x}")),
        'X' => ("0X", format!("{magnitude:X}")),
        _decimal => ("", magnitude.to_string()),
    };
    number(
        Number { negative, prefix: if spec.alternate { prefix } else { "" }, digits: &digits, rest: "" },
        &spec,
    )
}

/// `format(float, spec)`.
pub(crate) fn float_text(x: f64, text: Chars<'_>) -> Res<*mut Str> {
    let spec = Spec::parse(text, 0, ch('>'), "float")?;
    match char::from_u32(spec.kind) {
        Some('\0' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%') => float_with(x, &spec),
        Some(_) | None => Err(unknown(spec.kind, "float")),
    }
}

/// How digits are chosen and laid out: a C `printf` conversion or `r` for the shortest.
pub(super) struct Style {
    kind: char,
    precision: usize,
    dot_zero: bool,
    alternate: bool,
    no_negative_zero: bool,
}

impl Style {
    fn of(spec: &Spec, dot_zero: bool) -> Res<Style> {
        if spec.precision.is_some_and(|p| p > i32::MAX as usize) {
            return Err(Error::value("precision too big"));
        }
        if spec.precision.is_some_and(|p| p > 1 << 28) {
            return Err(Error::bare(tierup_core::exc::Class::MemoryError));
        }
        let mut kind = char::from_u32(spec.kind).unwrap_or('g');
        let shortest = kind == '\0';
        if shortest {
            kind = 'r';
        }
        if kind == 'n' {
            kind = 'g';
        }
        if kind == '%' {
            kind = 'f';
        }
        let precision = match spec.precision {
            Some(p) => {
                if shortest {
                    kind = 'g';
                }
                p
            }
            None => {
                if shortest {
                    0
                } else {
                    6
                }
            }
        };
        Ok(Style {
            kind,
            precision,
            dot_zero: dot_zero && shortest,
            alternate: spec.alternate,
            no_negative_zero: spec.no_negative_zero,
        })
    }

    /// A C `printf` conversion.
    pub(super) fn plain(kind: char, precision: usize, alternate: bool) -> Style {
        Style { kind, precision, dot_zero: false, alternate, no_negative_zero: false }
    }

    /// Sign and text of a float, without the sign.
    pub(super) fn text(&self, x: f64) -> (bool, String) {
        let upper = self.kind.is_ascii_uppercase();
        if !x.is_finite() {
            let word = if x.is_nan() { "nan" } else { "inf" };
            return (
                x.is_sign_negative() && !x.is_nan(),
                if upper { word.to_uppercase() } else { word.into() },
            );
        }
        let (mut out, mut p) = (String::new(), self.precision);
        // No float64 has more than 1100 digits; the others are zeros.
        let exact = |n: usize| n.min(1100);
        let decimal = match self.kind.to_ascii_lowercase() {
            'e' => {
                let d = Decimal::parse(&format!("{:.*e}", exact(p), x.abs()));
                d.scientific(p, self.alternate, upper, &mut out);
                d
            }
            'f' => {
                let d = Decimal::parse(&format!("{:.*}", exact(p), x.abs()));
                d.fixed(p, &mut out);
                if p == 0 && self.alternate {
                    out.push('.');
                }
                d
            }
            'g' => {
                p = p.max(1);
                let d = Decimal::parse(&format!("{:.*e}", exact(p - 1), x.abs()));
                let scientific = d.point <= -4 || d.point > p as i32 - self.dot_zero as i32;
                let digits = if self.alternate { p } else { d.digits.len() };
                if scientific {
                    d.scientific(digits - 1, self.alternate, upper, &mut out);
                } else {
                    let decimals = (digits as i32 - d.point).max(0) as usize;
                    d.fixed(if decimals == 0 && self.dot_zero { 1 } else { decimals }, &mut out);
                    if self.alternate && decimals == 0 && !self.dot_zero {
                        out.push('.');
                    }
                }
                d
            }
            _shortest => {
                let d = Decimal::shortest(x);
                d.repr(self.dot_zero, &mut out);
                if self.alternate && !out.contains('.') {
                    let at = out.find('e').unwrap_or(out.len());
                    out.insert(at, '.');
                }
                d
            }
        };
        (x.is_sign_negative() && !(self.no_negative_zero && decimal.is_zero()), out)
    }
}

fn float_with(x: f64, spec: &Spec) -> Res<*mut Str> {
    let style = Style::of(spec, true)?;
    let percent = spec.kind == ch('%');
    let (negative, mut text) = style.text(if percent { x * 100.0 } else { x });
    if percent {
        text.push('%');
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    number(Number { negative, prefix: "", digits: &text[..digits], rest: &text[digits..] }, spec)
}

/// `format(complex, spec)`.
pub(crate) fn complex_text(re: f64, im: f64, text: Chars<'_>) -> Res<*mut Str> {
    let spec = Spec::parse(text, 0, ch('>'), "complex")?;
    match char::from_u32(spec.kind) {
        Some('\0' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n') => {}
        Some(_) | None => return Err(unknown(spec.kind, "complex")),
    }
    let style = Style::of(&spec, false)?;
    if spec.fill == ch('0') {
        return Err(Error::value("Zero padding is not allowed in complex format specifier"));
    }
    if spec.align == ch('=') {
        return Err(Error::value("'=' alignment flag is not allowed in complex format specifier"));
    }
    let plain = spec.kind == 0;
    let skip_re = plain && re.to_bits() == 0;
    let part = |x: f64, sign: u32| {
        let (negative, text) = style.text(x);
        let n = text.bytes().take_while(u8::is_ascii_digit).count();
        let digits = if n == 0 { String::new() } else { grouped(&text[..n], 0, spec.grouping) };
        format!("{}{digits}{}", sign_text(negative, sign), &text[n..])
    };
    let imaginary = part(im, if skip_re { spec.sign } else { ch('+') });
    let body = match (skip_re, plain) {
        (true, _) => format!("{imaginary}j"),
        (false, true) => format!("({}{imaginary}j)", part(re, spec.sign)),
        (false, false) => format!("{}{imaginary}j", part(re, spec.sign)),
    };
    let padding = spec.width.unwrap_or(0).saturating_sub(body.len());
    let (left, right) = match char::from_u32(spec.align) {
        Some('<') => (0, padding),
        Some('^') => (padding / 2, padding - padding / 2),
        Some(_) | None => (padding, 0),
    };
    padded(&[(left, spec.fill, Chars::One(body.as_bytes())), (right, spec.fill, Chars::One(b""))])
}

/// `format(str, spec)`.
pub(crate) fn string_text(s: Chars<'_>, text: Chars<'_>) -> Res<*mut Str> {
    let spec = Spec::parse(text, ch('s'), ch('<'), "str")?;
    if spec.kind != ch('s') {
        return Err(unknown(spec.kind, "str"));
    }
    let refuse = |what: &'static str| Err(Error::value(what));
    if spec.sign == ch(' ') {
        return refuse("Space not allowed in string format specifier");
    }
    if spec.sign != 0 {
        return refuse("Sign not allowed in string format specifier");
    }
    if spec.no_negative_zero {
        return refuse("Negative zero coercion (z) not allowed in string format specifier");
    }
    if spec.alternate {
        return refuse("Alternate form (#) not allowed in string format specifier");
    }
    if spec.align == ch('=') {
        return refuse("'=' alignment not allowed in string format specifier");
    }
    let s = s.slice(0..spec.precision.unwrap_or(usize::MAX).min(s.len()));
    let padding = spec.width.unwrap_or(0).saturating_sub(s.len());
    let (left, right) = match char::from_u32(spec.align) {
        Some('>') => (padding, 0),
        Some('^') => (padding / 2, padding - padding / 2),
        Some(_) | None => (0, padding),
    };
    padded(&[(left, spec.fill, s), (right, spec.fill, Chars::One(b""))])
}
