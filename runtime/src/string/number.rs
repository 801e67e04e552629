//! Numbers as text: `str` and `repr` of ints, floats, complex numbers and exceptions, exactly as CPython
//! writes them.

use super::{Chars, each};
use crate::exc::{Arg, Error, Exc, Res, axis_text};
use crate::host::{Form, callbacks};
use tierup_core::exc::Class;

/// Decimal digits without leading or trailing zeros (`0` for zero) and the position of the point: `0.d₁d₂… ×
/// 10^point`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decimal {
    pub digits: Vec<u8>,
    pub point: i32,
}

impl Decimal {
    /// From text such as `12.5`, `0.00125`, `1.25e-7`, without a sign.
    pub(crate) fn parse(text: &str) -> Decimal {
        let (mantissa, exp) = text.split_once('e').map_or((text, 0), |(m, e)| (m, e.parse().unwrap_or(0)));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let zeros = digits.iter().take_while(|d| **d == b'0').count();
        if zeros == digits.len() {
            return Decimal { digits: vec![b'0'], point: 1 };
        }
        digits.drain(..zeros);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        Decimal { digits, point: whole.len() as i32 + exp - zeros as i32 }
    }
    /// The shortest digits that give the same float64.
    pub(crate) fn shortest(x: f64) -> Decimal {
        Decimal::parse(ryu::Buffer::new().format_finite(x.abs()))
    }
    /// The shortest digits that give the same float32.
    pub(crate) fn shortest32(x: f32) -> Decimal {
        Decimal::parse(ryu::Buffer::new().format_finite(x.abs()))
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits == b"0"
    }
    fn digit(&self, i: i32) -> char {
        usize::try_from(i).ok().and_then(|i| self.digits.get(i)).map_or('0', |d| *d as char)
    }

    /// Fixed notation with `decimals` digits after the point (which is left out when there are none).
    pub(crate) fn fixed(&self, decimals: usize, out: &mut String) {
        if self.point <= 0 {
            out.push('0');
        }
        out.extend((0..self.point.max(0)).map(|i| self.digit(i)));
        if decimals > 0 {
            out.push('.');
            out.extend((0..decimals as i32).map(|i| self.digit(self.point + i)));
        }
    }
    /// Scientific notation with `decimals` digits after the point.
    pub(crate) fn scientific(&self, decimals: usize, point_always: bool, upper: bool, out: &mut String) {
        out.push(self.digit(0));
        if decimals > 0 || point_always {
            out.push('.');
        }
        out.extend((1..=decimals as i32).map(|i| self.digit(i)));
        let exp = if self.is_zero() { 0 } else { self.point - 1 };
        out.push_str(&format!(
            "{}{}{:02}",
            if upper { 'E' } else { 'e' },
            if exp < 0 { '-' } else { '+' },
            exp.abs()
        ));
    }
    /// As `repr` writes it: scientific from 1e16 and below 1e-4. `dot_zero` says whether an integral value
    /// ends in `.0`.
    pub(crate) fn repr(&self, dot_zero: bool, out: &mut String) {
        let n = self.digits.len();
        if self.point > 16 || self.point <= -4 {
            return self.scientific(n - 1, false, false, out);
        }
        let decimals = (n as i32 - self.point).max(0) as usize;
        self.fixed(if decimals == 0 && dot_zero { 1 } else { decimals }, out);
    }
}

/// Writes `inf`, `nan` or a finite number with its sign.
fn write_float(
    negative: bool,
    nan: bool,
    infinite: bool,
    finite: impl FnOnce() -> Decimal,
    dot_zero: bool,
    out: &mut String,
) {
    if nan {
        return out.push_str("nan");
    }
    if negative {
        out.push('-');
    }
    if infinite { out.push_str("inf") } else { finite().repr(dot_zero, out) }
}
pub(crate) fn write_f64(x: f64, dot_zero: bool, out: &mut String) {
    write_float(x.is_sign_negative(), x.is_nan(), x.is_infinite(), || Decimal::shortest(x), dot_zero, out);
}
pub(crate) fn write_f32(x: f32, dot_zero: bool, out: &mut String) {
    write_float(x.is_sign_negative(), x.is_nan(), x.is_infinite(), || Decimal::shortest32(x), dot_zero, out);
}
pub(crate) fn f64_text(x: f64) -> String {
    let mut out = String::new();
    write_f64(x, true, &mut out);
    out
}
pub(crate) fn f32_text(x: f32) -> String {
    let mut out = String::new();
    write_f32(x, true, &mut out);
    out
}

/// `(re+imj)`, or `imj` when the real part is a positive zero.
fn complex<T: Copy>(re: T, im: T, skip_re: bool, im_plus: bool, write: fn(T, bool, &mut String)) -> String {
    let mut out = String::new();
    if skip_re {
        write(im, false, &mut out);
        out.push('j');
        return out;
    }
    out.push('(');
    write(re, false, &mut out);
    if im_plus {
        out.push('+');
    }
    write(im, false, &mut out);
    out.push_str("j)");
    out
}
pub(crate) fn complex_text(re: f64, im: f64) -> String {
    complex(re, im, re.to_bits() == 0, im.is_nan() || im.is_sign_positive(), write_f64)
}
pub(crate) fn complex64_text(re: f32, im: f32) -> String {
    complex(re, im, re.to_bits() == 0, im.is_nan() || im.is_sign_positive(), write_f32)
}

pub(crate) fn bool_text(b: bool) -> &'static str {
    if b { "True" } else { "False" }
}

/// `bin`, `oct` or `hex`.
pub(crate) fn prefixed(negative: bool, magnitude: u64, base: i64) -> String {
    let sign = if negative { "-" } else { "" };
    match base {
        2 => format!("{sign}0b{magnitude:b}"),
        8 => format!("{sign}0o{magnitude:o}"),
        _hex => format!("{sign}0x{magnitude:x}"),
    }
}

/// `str` or `repr` of one argument of an exception, as code points.
fn push_arg(arg: &Arg, repr: bool, out: &mut Vec<u32>) {
    let text = match arg {
        Arg::None => "None".to_string(),
        Arg::Bool(b) => bool_text(*b).to_string(),
        Arg::Int(i) => i.to_string(),
        Arg::UInt(u) => u.to_string(),
        Arg::Float(x) => f64_text(*x),
        Arg::Float32(x) => f32_text(*x),
        Arg::Complex(re, im) => complex_text(*re, *im),
        Arg::Complex64(re, im) => complex64_text(*re, *im),
        Arg::Text(t) => {
            let units: Vec<u32> = t.chars().map(|c| c as u32).collect();
            return if repr {
                out.extend(super::repr(Chars::Four(&units), false))
            } else {
                out.extend(units)
            };
        }
        Arg::Str(s) => {
            // SAFETY: the argument owns a live string.
            let chars = unsafe { Chars::of(*s) };
            return if repr {
                out.extend(super::repr(chars, false))
            } else {
                each!(chars, |u| out.extend(u.iter().map(|c| *c as u32)))
            };
        }
        Arg::Bytes(b) => {
            // SAFETY: the argument owns a live object of bytes.
            return out.extend(super::bytes_repr(unsafe { Chars::of(*b) }));
        }
        Arg::Tuple(members) | Arg::Named(members) => return push_tuple(members, out),
        Arg::List(members) => return push_list(members, out),
        // Their class may say how they look.
        Arg::Instance(_, parts) => match (callbacks().show_part)(arg, repr) {
            Some(text) => text,
            None => return push_tuple(parts, out),
        },
        Arg::Object(_, ty) => (callbacks().show_part)(arg, repr).unwrap_or_else(|| format!("<{ty} object>")),
        Arg::Py(p) => (callbacks().show_object)(*p, repr),
    };
    out.extend(text.chars().map(|c| c as u32));
}
fn push_list(members: &[Arg], out: &mut Vec<u32>) {
    out.push(b'[' as u32);
    for (i, m) in members.iter().enumerate() {
        if i > 0 {
            out.extend([b',' as u32, b' ' as u32]);
        }
        push_arg(m, true, out);
    }
    out.push(b']' as u32);
}
fn push_tuple(members: &[Arg], out: &mut Vec<u32>) {
    out.push(b'(' as u32);
    for (i, m) in members.iter().enumerate() {
        if i > 0 {
            out.extend([b',' as u32, b' ' as u32]);
        }
        push_arg(m, true, out);
    }
    if members.len() == 1 {
        out.push(b',' as u32);
    }
    out.push(b')' as u32);
}

/// `str(exc)` of a built-in class.
pub(crate) fn exc_str(e: &Exc) -> Vec<u32> {
    let mut out = vec![];
    match e.args.as_slice() {
        [] => {}
        // The key itself would be hard to tell from a message.
        [one] => push_arg(one, e.is_a(Class::KeyError), &mut out),
        [errno, text] if e.is_a(Class::OSError) => {
            out.extend("[Errno ".chars().map(|c| c as u32));
            push_arg(errno, false, &mut out);
            out.extend("] ".chars().map(|c| c as u32));
            push_arg(text, false, &mut out);
        }
        many => match axis_text(many).filter(|_| e.is_a(Class::AxisError)) {
            Some(text) => out.extend(text.chars().map(|c| c as u32)),
            None => match codec_text(e) {
                Some(text) => out.extend(text.chars().map(|c| c as u32)),
                None => push_tuple(many, &mut out),
            },
        },
    }
    out
}

/// What exceptions of encodings say of the part of an object that they are about.
fn codec_text(e: &Exc) -> Option<String> {
    let [Arg::Text(codec), object, Arg::Int(start), Arg::Int(end), Arg::Text(reason)] = e.args.as_slice()
    else {
        return None;
    };
    let encodes = e.is_a(Class::UnicodeEncodeError);
    let (what, units) = if encodes { ("encode", "character") } else { ("decode", "byte") };
    let chars = if let Arg::Str(s) = object
        && encodes
    {
        s
    } else if let Arg::Bytes(b) = object
        && e.is_a(Class::UnicodeDecodeError)
    {
        b
    } else {
        return None;
    };
    // SAFETY: the argument owns a live object.
    let chars = unsafe { Chars::of(*chars) };
    let at = |i: i64| usize::try_from(i).ok().filter(|i| *i < chars.len()).map(|i| chars.get(i));
    Some(match at(*start).filter(|_| end - start == 1) {
        Some(c) if encodes => {
            let shown = super::escape(c);
            format!("'{codec}' codec can't encode character '{shown}' in position {start}: {reason}")
        }
        Some(c) => format!("'{codec}' codec can't decode byte 0x{c:02x} in position {start}: {reason}"),
        None => {
            let last = end - 1;
            format!("'{codec}' codec can't {what} {units}s in position {start}-{last}: {reason}")
        }
    })
}

/// `repr(exc)` of a built-in class.
fn exc_repr(e: &Exc) -> Vec<u32> {
    let mut out: Vec<u32> = e.class.name.chars().map(|c| c as u32).collect();
    match e.args.as_slice() {
        [one] => {
            out.push(b'(' as u32);
            push_arg(one, true, &mut out);
            out.push(b')' as u32);
        }
        many => push_tuple(many, &mut out),
    }
    out
}

/// A text of an exception: what the host says of its own classes and of what came out of Python, else our own.
pub(crate) fn exc_text(e: &mut Exc, form: Form<'_>) -> Res<Vec<u32>> {
    if e.is_of_host()
        && let Some(text) = (callbacks().exc_text)(e, form)?
    {
        return Ok(text.chars().map(|c| c as u32).collect());
    }
    match form {
        Form::Str => Ok(exc_str(e)),
        Form::Repr => Ok(exc_repr(e)),
        Form::Format(Arg::Str(spec)) => {
            // SAFETY: the argument owns a live string.
            if unsafe { (**spec).len } > 0 {
                let name = &e.class.name;
                let text = format!("unsupported format string passed to {name}.__format__");
                return Err(Error::type_error(text));
            }
            Ok(exc_str(e))
        }
        Form::Format(_) => Ok(exc_str(e)),
    }
}
