//! What the parser reads from one line: words, numbers, names, types, constants.

use super::super::func::*;
use super::super::ty::Ty;
use super::is_name_char;
use crate::diag::{Code, Diagnostic, Span};

/// A cursor in one line, comment removed.
#[derive(Clone)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) no: u32,
}
pub(super) type Parse<T> = Result<T, Diagnostic>;

impl<'a> Line<'a> {
    pub(super) fn new(raw: &'a str, no: u32) -> Line<'a> {
        let (mut quoted, mut escaped, mut end) = (false, false, raw.len());
        for (i, c) in raw.char_indices() {
            if c == ';' && !quoted {
                end = i;
                break;
            }
            if c == '"' && !escaped {
                quoted = !quoted;
            }
            escaped = quoted && c == '\\' && !escaped;
        }
        let mut line = Line { text: raw[..end].trim_end(), at: 0, no };
        line.ws();
        line
    }
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    pub(super) fn ws(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }
    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }
    pub(super) fn error(&self, message: impl Into<String>) -> Diagnostic {
        let span =
            Span { file: "lir".into(), func: "text".into(), line: self.no, col: self.at as u32, end_col: 0 };
        Diagnostic::new(Code::ParseError, format!("line {}: {}", self.no, message.into())).at(span)
    }
    pub(super) fn found(&self) -> String {
        let rest = self.rest();
        if rest.is_empty() {
            return "the end of the line".into();
        }
        format!("`{}`", rest.split_whitespace().next().unwrap_or(rest))
    }
    pub(super) fn expected<T>(&self, what: &str) -> Parse<T> {
        Err(self.error(format!("expected {what}, found {}", self.found())))
    }

    pub(super) fn eat(&mut self, s: &str) -> bool {
        if !self.rest().starts_with(s) {
            return false;
        }
        self.at += s.len();
        self.ws();
        true
    }
    pub(super) fn expect(&mut self, s: &str) -> Parse<()> {
        if self.eat(s) { Ok(()) } else { self.expected(&format!("`{s}`")) }
    }
    pub(super) fn finish(&self) -> Parse<()> {
        if self.at_end() { Ok(()) } else { self.expected("the end of the line") }
    }
    pub(super) fn take(&mut self, ok: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !ok(c)).unwrap_or(rest.len())];
        self.at += word.len();
        self.ws();
        word
    }
    /// An identifier; mnemonics with their suffix are one word.
    pub(super) fn word(&mut self) -> &'a str {
        self.take(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
    }
    /// Eats `s` only where it is a whole word.
    pub(super) fn eat_word(&mut self, s: &str) -> bool {
        let before = self.at;
        if self.word() == s {
            return true;
        }
        self.at = before;
        false
    }
    pub(super) fn number<T: TryFrom<i128>>(&mut self) -> Parse<T> {
        let before = self.clone();
        let token = self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+'));
        let (negative, digits) = match token.as_bytes().first() {
            Some(b'-') => (true, &token[1..]),
            Some(b'+') => (false, &token[1..]),
            Some(_) | None => (false, token),
        };
        let parsed = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        match parsed.ok().map(|x: i128| if negative { -x } else { x }).and_then(|x| T::try_from(x).ok()) {
            Some(x) => Ok(x),
            None => before.expected("a number that fits"),
        }
    }
    /// `v3`, `block3`, `slot3` …: the number after `prefix`.
    pub(super) fn entity(&mut self, prefix: &str) -> Parse<u32> {
        let before = self.clone();
        match self.word().strip_prefix(prefix).and_then(|n| n.parse().ok()) {
            Some(n) => Ok(n),
            None => before.expected(&format!("{prefix}0, {prefix}1 …")),
        }
    }
    pub(super) fn ty(&mut self) -> Parse<Ty> {
        let before = self.clone();
        match Ty::parse(self.word()) {
            Some(t) => Ok(t),
            None => before.expected("a type (i8, i16, i32, i64, f32, f64, ptr, or a vector such as f64x4)"),
        }
    }
    pub(super) fn string(&mut self) -> Parse<String> {
        let start = self.clone();
        let bad = || start.error("expected a string in double quotes");
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        if !matches!(chars.next(), Some((_, '"'))) {
            return Err(bad());
        }
        loop {
            let (i, c) = chars.next().ok_or_else(bad)?;
            match c {
                '"' => {
                    self.at += i + 1;
                    self.ws();
                    return Ok(out);
                }
                '\\' => out.push(match chars.next().ok_or_else(bad)?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '0' => '\0',
                    '\\' => '\\',
                    '"' => '"',
                    '\'' => '\'',
                    'u' => {
                        let hex: String = chars
                            .by_ref()
                            .map(|(_, c)| c)
                            .skip_while(|c| *c == '{')
                            .take_while(|c| *c != '}')
                            .collect();
                        u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32).ok_or_else(bad)?
                    }
                    other => return Err(start.error(format!("unknown escape `\\{other}`"))),
                }),
                plain => out.push(plain),
            }
        }
    }
    pub(super) fn name(&mut self) -> Parse<String> {
        if !self.rest().starts_with('@') {
            return self.expected("a name (`@f`)");
        }
        self.at += 1;
        if self.rest().starts_with('"') {
            return self.string();
        }
        let name = self.take(is_name_char);
        if name.is_empty() { self.expected("a name (`@f`)") } else { Ok(name.into()) }
    }
    /// Comma-separated items up to `close`, which is eaten.
    pub(super) fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut out = vec![];
        if self.eat(close) {
            return Ok(out);
        }
        loop {
            out.push(item(self)?);
            if self.eat(close) {
                return Ok(out);
            }
            self.expect(",")?;
        }
    }
    pub(super) fn sig(&mut self) -> Parse<Signature> {
        self.expect("(")?;
        let params = self.list(")", Line::ty)?;
        let mut results = vec![];
        if self.eat("->") {
            results.push(self.ty()?);
            while self.eat(",") {
                results.push(self.ty()?);
            }
        }
        Ok(Signature { params, results })
    }
    pub(super) fn loc(&mut self) -> Parse<Loc> {
        self.expect("!")?;
        Ok(Loc(self.number()?))
    }
}

/// The bits of a constant of type `ty`, or `None`. Integers in decimal or `0x` (bits), floats in decimal,
/// `inf`, `nan`, `nan:0x…` (bits).
pub fn parse_constant(ty: Ty, text: &str) -> Option<u64> {
    let hex = |s: &str| {
        u64::from_str_radix(s, 16)
            .ok()
            .filter(|x| ty.bytes() == 8 || *x >> (8 * ty.bytes()) == 0)
            .map(|x| ty.canonical(x))
    };
    match ty {
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr => {
            if let Some(h) = text.strip_prefix("0x") {
                return hex(h);
            }
            let x: i64 = text.parse().ok()?;
            (ty.canonical(x as u64) == x as u64).then_some(x as u64)
        }
        Ty::Vector(_) => None,
        Ty::F32 | Ty::F64 => {
            if let Some(h) = text.strip_prefix("nan:0x") {
                return hex(h).filter(|b| {
                    if ty == Ty::F32 {
                        f32::from_bits(*b as u32).is_nan()
                    } else {
                        f64::from_bits(*b).is_nan()
                    }
                });
            }
            let decimal = text == "nan"
                || text.trim_start_matches(['-', '+']) == "inf"
                || text.bytes().any(|b| b.is_ascii_digit());
            if !decimal {
                return None;
            }
            if ty == Ty::F32 {
                text.parse().ok().map(|x: f32| x.to_bits() as u64)
            } else {
                text.parse().ok().map(|x: f64| x.to_bits())
            }
        }
    }
}
