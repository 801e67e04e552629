//! A cursor over the text of bytecode and SSA: words, numbers, quoted strings, constants. Spaces and `;`
//! comments are skipped.

use crate::diag::{Code, Diagnostic, Result, Span};
use crate::source::{File, Origin};
use crate::types::Const;
use std::sync::Arc;

#[derive(Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// "expected …" with the line and what stands there.
    pub(crate) fn error(&self, wanted: &str) -> Diagnostic {
        let here: String = self.text[self.at..].chars().take_while(|c| *c != '\n').take(40).collect();
        self.fault(&format!("expected {wanted} at {here:?}"))
    }
    /// An error at this line.
    pub(crate) fn fault(&self, message: &str) -> Diagnostic {
        let line = self.line(&mut (0, 1));
        Diagnostic::new(Code::ParseError, message).at(Span { line, ..Span::default() })
    }
    /// The line of the cursor, counted from a place whose line is known; that place moves here.
    pub(crate) fn line(&self, known: &mut (usize, u32)) -> u32 {
        let (from, line) = *known;
        *known = (self.at, line + self.text[from..self.at].matches('\n').count() as u32);
        known.1
    }
    /// How much of the text lies behind.
    pub(crate) fn taken(&self) -> usize {
        self.at
    }
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips spaces, line ends and comments.
    pub(crate) fn space(&mut self) {
        loop {
            self.at = self.text.len() - self.rest().trim_start().len();
            if !self.rest().starts_with(';') {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }
    pub(crate) fn at_end(&mut self) -> bool {
        self.space();
        self.rest().is_empty()
    }
    pub(crate) fn peek(&mut self, s: &str) -> bool {
        self.space();
        self.rest().starts_with(s)
    }
    /// Takes `s` if it comes next.
    pub(crate) fn eat(&mut self, s: &str) -> bool {
        let hit = self.peek(s);
        if hit {
            self.at += s.len();
        }
        hit
    }
    pub(crate) fn expect(&mut self, s: &str) -> Result<()> {
        if self.eat(s) { Ok(()) } else { Err(self.error(&format!("{s:?}"))) }
    }

    /// Letters, digits, `_`, `.`; empty if something else comes next.
    pub(crate) fn word(&mut self) -> &'a str {
        self.space();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
    pub(crate) fn peek_word(&mut self) -> &'a str {
        self.clone().word()
    }
    /// Takes the whole word `w`.
    pub(crate) fn eat_word(&mut self, w: &str) -> bool {
        let hit = self.peek_word() == w;
        if hit {
            self.word();
        }
        hit
    }
    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        self.space();
        let start = self.clone();
        let negative = self.eat("-");
        let digits = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        let from = self.at - negative as usize;
        self.at += digits;
        self.text[from..self.at].parse().map_err(|_| start.error("a number"))
    }
    /// A prefix followed by a number: `v12`.
    pub(crate) fn entity(&mut self, prefix: &str) -> Result<u32> {
        self.expect(prefix)?;
        self.number()
    }
    /// The text up to one of `stops` outside brackets and strings, which is not taken.
    pub(crate) fn until(&mut self, stops: &[char]) -> Result<&'a str> {
        self.space();
        let (rest, mut depth) = (self.rest(), 0);
        let (mut quoted, mut escaped) = (false, false);
        for (i, c) in rest.char_indices() {
            if quoted {
                quoted = escaped || c != '"';
                escaped = c == '\\' && !escaped;
                continue;
            }
            if depth == 0 && stops.contains(&c) {
                self.at += i;
                return Ok(&rest[..i]);
            }
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                '"' => quoted = true,
                '\n' => break,
                _ => {}
            }
        }
        Err(self.error(&format!("one of {stops:?}")))
    }
    pub(crate) fn string(&mut self) -> Result<Arc<str>> {
        self.space();
        let start = self.clone();
        self.expect("\"")?;
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        let unescape = |chars: &mut std::str::CharIndices<'_>| -> Option<char> {
            Some(match chars.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'u' => {
                    if chars.next()?.1 != '{' {
                        return None;
                    }
                    let hex: String = chars.map(|(_, c)| c).take_while(|c| *c != '}').collect();
                    char::from_u32(u32::from_str_radix(&hex, 16).ok()?)?
                }
                c @ ('"' | '\\' | '\'') => c,
                _ => return None,
            })
        };
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(out.into());
                }
                '\\' => out.push(unescape(&mut chars).ok_or_else(|| start.error("a string"))?),
                c => out.push(c),
            }
        }
        Err(start.error("a string"))
    }

    fn float(&mut self) -> Result<f64> {
        self.space();
        let end = self
            .rest()
            .find(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '+'))
            .unwrap_or(self.rest().len());
        let x = self.rest()[..end].parse().map_err(|_| self.error("a number"))?;
        self.at += end;
        Ok(x)
    }

    /// A source file as its [`std::fmt::Debug`] prints it: `"path"`, `library "path"`.
    pub(crate) fn file(&mut self) -> Result<File> {
        let origin = Origin::named(self.peek_word());
        if origin.is_some() {
            self.word();
        }
        Ok(File::new(self.string()?, origin.unwrap_or_default()))
    }

    /// A constant as it prints.
    pub fn constant(&mut self) -> Result<Const> {
        if self.peek("\"") {
            return self.string().map(Const::Str);
        }
        if self.peek("b\"") {
            self.expect("b")?;
            let text = self.string()?;
            let bytes = text.chars().map(|c| u8::try_from(c).map_err(|_| self.error("bytes")));
            return bytes.collect::<Result<_>>().map(Const::Bytes);
        }
        if self.eat("(") {
            let mut members = vec![];
            while !self.eat(")") {
                members.push(self.constant()?);
                if !self.eat(",") {
                    self.expect(")")?;
                    break;
                }
            }
            return Ok(Const::Tuple(members));
        }
        if self.eat("complex(") {
            let re = self.float()?;
            self.expect(",")?;
            let im = self.float()?;
            self.expect(")")?;
            return Ok(Const::Complex(re, im));
        }
        if self.eat("...") {
            return Ok(Const::Ellipsis);
        }
        match self.peek_word() {
            "None" => {
                self.word();
                Ok(Const::None)
            }
            "True" => {
                self.word();
                Ok(Const::Bool(true))
            }
            "False" => {
                self.word();
                Ok(Const::Bool(false))
            }
            _ => {
                let mut ahead = self.clone();
                if let Ok(i) = ahead.number::<i128>()
                    && !ahead.rest().starts_with(|c: char| c == '.' || c.is_alphanumeric())
                {
                    *self = ahead;
                    return match (i64::try_from(i), u64::try_from(i)) {
                        (Ok(i), _) => Ok(Const::Int(i)),
                        (_, Ok(u)) => Ok(Const::UInt(u)),
                        _ => Err(self.error("an integer of 64 bits")),
                    };
                }
                self.float().map(Const::Float)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_is_printed() {
        for origin in [
            Origin::User,
            Origin::Library,
            Origin::Checked,
            Origin::Stencil,
            Origin::Special,
            Origin::Written,
        ] {
            let file = File::new("a \"b\".py", origin);
            let text = format!("{file:?}");
            assert_eq!(Cursor::new(&text).file(), Ok(file));
        }
    }

    #[test]
    fn constants_are_read_as_they_print() {
        let all = [
            Const::None,
            Const::Ellipsis,
            Const::Bool(true),
            Const::Int(-5),
            Const::Int(i64::MIN),
            Const::UInt(u64::MAX),
            Const::Float(1.0),
            Const::Float(-0.0),
            Const::Float(1e300),
            Const::Float(5e-324),
            Const::Float(f64::INFINITY),
            Const::Float(f64::NEG_INFINITY),
            Const::Float(f64::NAN),
            Const::Complex(0.5, -2.0),
            Const::Str("a\"b\n\u{7f}é😀\\'".into()),
            Const::Str("".into()),
            Const::Bytes((0..=255).collect()),
            Const::Bytes([].into()),
            Const::Tuple(vec![]),
            Const::Tuple(vec![Const::Int(1), Const::Tuple(vec![Const::None])]),
        ];
        for c in all {
            let text = c.to_string();
            let mut cur = Cursor::new(&text);
            assert_eq!(cur.constant(), Ok(c));
            assert!(cur.at_end(), "{text}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let mut cur = Cursor::new("a\n; comment\n  ?");
        assert_eq!(cur.word(), "a");
        let error = cur.number::<u32>().unwrap_err();
        assert!(error.message.starts_with("expected a number"));
        assert_eq!(error.span.map(|s| s.line), Some(3));
    }
}
