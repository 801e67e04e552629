//! Conversions of `%`: numbers and texts as `format % values` lays them out.
//!
//! A number is laid out as `spaces sign prefix zeros digits spaces`; a precision puts zeros into an integer's
//! digits before that, and cuts a text.

use super::format::{Style, padded};
use super::{Chars, from_chars};
use crate::Native;
use crate::exc::{Error, Res, or_raise};
use tierup_core::exc::Class;
use tierup_core::layout::Str;
use tierup_core::ops::format::Helpers;
use tierup_core::rt::Ctx;

type S = *mut Str;

/// How a conversion lays out what it converts.
struct How {
    letter: char,
    left: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
}

impl How {
    fn of(how: i64, width: i64, precision: i64) -> Res<How> {
        let given = |x: i64| (x != i64::MIN).then_some(x);
        let flag = |k: i64| how >> (32 + k) & 1 != 0;
        let precision = match given(precision) {
            Some(p) if i32::try_from(p).is_err() => {
                return Err(Error::overflow("Python int too large to convert to C int"));
            }
            Some(p) if p > 1 << 28 => return Err(Error::bare(Class::MemoryError)),
            p => p.map(|p| p.max(0) as usize),
        };
        let width = given(width);
        Ok(How {
            letter: char::from((how & 0xff) as u8),
            left: flag(0) || width.is_some_and(|w| w < 0),
            plus: flag(1),
            blank: flag(2),
            alternate: flag(3),
            zeros: flag(4),
            width: width.map_or(0, |w| w.unsigned_abs() as usize),
            precision,
        })
    }

    /// The sign of a number.
    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.blank) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    fn number(&self, negative: bool, prefix: &str, digits: &str) -> Res<S> {
        let sign = self.sign(negative);
        let padding = self.width.saturating_sub(sign.len() + prefix.len() + digits.len());
        let (spaces, zeros, behind) = match (self.left, self.zeros) {
            (true, _) => (0, 0, padding),
            (false, true) => (0, padding, 0),
            (false, false) => (padding, 0, 0),
        };
        let (space, zero) = (u32::from(b' '), u32::from(b'0'));
        padded(&[
            (spaces, space, Chars::One(sign.as_bytes())),
            (0, space, Chars::One(prefix.as_bytes())),
            (zeros, zero, Chars::One(digits.as_bytes())),
            (behind, space, Chars::One(b"")),
        ])
    }

    fn text(&self, text: Chars<'_>) -> Res<S> {
        let padding = self.width.saturating_sub(text.len());
        let (before, behind) = if self.left { (0, padding) } else { (padding, 0) };
        let space = u32::from(b' ');
        padded(&[(before, space, text), (behind, space, Chars::One(b""))])
    }

    fn integer(&self, negative: bool, magnitude: u64) -> Res<S> {
        let (prefix, digits) = match self.letter {
            'c' => {
                let code = u32::try_from(magnitude).ok().filter(|c| *c < 0x11_0000 && !negative);
                let code = code.ok_or_else(|| Error::overflow("%c arg not in range(0x110000)"))?;
                return self.text(Chars::Four(&[code]));
            }
            'o' => ("0o", format!("{magnitude:o}")),
            'x' => ("0x", format!("{magnitude:x}")),
            'X' => ("0X", format!("{magnitude:X}")),
            _decimal => ("", magnitude.to_string()),
        };
        self.digits(negative, if self.alternate { prefix } else { "" }, &digits)
    }

    /// The digits of an integer, as many as the precision asks for.
    fn digits(&self, negative: bool, prefix: &str, digits: &str) -> Res<S> {
        let zeros = self.precision.unwrap_or(0).saturating_sub(digits.len());
        self.number(negative, prefix, &("0".repeat(zeros) + digits))
    }

    fn float(&self, x: f64) -> Res<S> {
        if matches!(self.letter, 'd' | 'i' | 'u') {
            if x.is_nan() {
                return Err(Error::value("cannot convert float NaN to integer"));
            }
            if x.is_infinite() {
                return Err(Error::overflow("cannot convert float infinity to integer"));
            }
            let whole = x.trunc();
            return self.digits(whole < 0.0, "", &format!("{:.0}", whole.abs()));
        }
        let style = Style::plain(self.letter, self.precision.unwrap_or(6), self.alternate);
        let (negative, text) = style.text(x);
        self.number(negative, "", &text)
    }

    fn of_text(&self, s: Chars<'_>) -> Res<S> {
        if self.letter == 'c' {
            if s.len() != 1 {
                return Err(Error::type_error("%c requires int or char"));
            }
            return self.text(s);
        }
        let len = self.precision.map_or(s.len(), |p| p.min(s.len()));
        if self.width <= len { from_chars(s.slice(0..len)) } else { self.text(s.slice(0..len)) }
    }
}

impl Helpers for Native {
    unsafe fn percent_i64(ctx: Ctx, v: i64, how: i64, width: i64, precision: i64) -> S {
        let made = How::of(how, width, precision).and_then(|h| h.integer(v < 0, v.unsigned_abs()));
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, made) }
    }
    unsafe fn percent_u64(ctx: Ctx, v: i64, how: i64, width: i64, precision: i64) -> S {
        let made = How::of(how, width, precision).and_then(|h| h.integer(false, v as u64));
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, made) }
    }
    unsafe fn percent_f64(ctx: Ctx, v: f64, how: i64, width: i64, precision: i64) -> S {
        let made = How::of(how, width, precision).and_then(|h| h.float(v));
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, made) }
    }
    unsafe fn percent_str(ctx: Ctx, s: S, how: i64, width: i64, precision: i64) -> S {
        // SAFETY: compiled code holds a reference to the string until the helper has returned.
        let chars = unsafe { Chars::of(s) };
        let made = How::of(how, width, precision).and_then(|h| h.of_text(chars));
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, made) }
    }
}
