//! `str.format`: the fields of a format string, in the order in which Python formats them.

use super::not_constant;
use crate::diag::{Code, Diagnostic, Result};
use crate::exc::Class;
use crate::ops::id;
use crate::ops::written::{At, Called, Program, Step};
use crate::types::{Const, Kind};

/// How deep formats nest: in the specification of a field there may be fields, in theirs none.
const DEEPEST: u32 = 2;

/// What stops the program: it raises from there on, or the format cannot be compiled.
enum Stop {
    Raised(Class, String),
    Refused(Diagnostic),
}

type Made<T> = std::result::Result<T, Stop>;

fn invalid<T>(text: impl Into<String>) -> Made<T> {
    Err(Stop::Raised(Class::ValueError, text.into()))
}

/// The program of `format.format(…)`.
pub(super) fn write(call: &Called<'_>) -> Result<Program> {
    written(call, false)
}

/// The program of `format.format_map(mapping)`.
pub(super) fn write_of_mapping(call: &Called<'_>) -> Result<Program> {
    written(call, true)
}

fn written(call: &Called<'_>, of_mapping: bool) -> Result<Program> {
    let name = if of_mapping { "str.format_map()" } else { "str.format()" };
    let format = call.given.first().filter(|a| *a.ty == Kind::Str);
    let Some(format) = format else { return Err(crate::typing::no_match(name, call.given)) };
    let Some(format) = format.text() else {
        return if of_mapping { Err(not_constant(name)) } else { in_python(call) };
    };
    let format: Vec<char> = format.chars().collect();
    let mut w = Writer { call, of_mapping, program: Program::default(), numbering: None };
    match w.text(&format, DEEPEST) {
        Ok(parts) => {
            w.program.joined(&parts);
        }
        Err(Stop::Raised(class, text)) => {
            w.program.raise(class, &text);
        }
        Err(Stop::Refused(d)) => return Err(d),
    }
    Ok(w.program)
}

/// The same where only the run knows the format: Python formats values that are the objects that it would have.
fn in_python(call: &Called<'_>) -> Result<Program> {
    let named = call.named.iter().map(|(_, a)| a);
    if !call.given[1..].iter().chain(named).all(|a| super::is_python(a.ty)) {
        return Err(not_constant("str.format()"));
    }
    let mut program = Program::default();
    let format = program.operand(0);
    let given = call.given.len();
    let [args, values] = [1..given, given..given + call.named.len()].map(|which| {
        let all: Vec<At> = which.map(|k| program.operand(k)).collect();
        program.apply(id::TUPLE_BUILD, &all)
    });
    let names = call.named.iter().map(|(n, _)| Const::Str(n.clone())).collect();
    let names = program.constant(Const::Tuple(names));
    program.apply(id::FORMAT_IN_PYTHON, &[format, args, names, values]);
    Ok(program)
}

/// Who numbers the fields: the format itself, or their order, with the number of the next one.
enum Numbering {
    Manual,
    Automatic(usize),
}

struct Writer<'a> {
    call: &'a Called<'a>,
    /// Names are looked up in the second operand, and there are no numbers.
    of_mapping: bool,
    program: Program,
    numbering: Option<Numbering>,
}

/// A field: what stands between its braces.
struct Field<'f> {
    name: &'f [char],
    conversion: Option<char>,
    spec: &'f [char],
    /// Fields stand in the specification.
    nested: bool,
}

impl Writer<'_> {
    /// The parts of a text with fields.
    fn text(&mut self, format: &[char], depth: u32) -> Made<Vec<At>> {
        if depth == 0 {
            return invalid("Max string recursion exceeded");
        }
        let (mut parts, mut literal, mut rest) = (vec![], String::new(), format);
        while let Some((c, behind)) = rest.split_first() {
            rest = behind;
            if !matches!(c, '{' | '}') {
                literal.push(*c);
                continue;
            }
            if behind.first() == Some(c) {
                literal.push(*c);
                rest = &behind[1..];
                continue;
            }
            if *c == '}' || behind.is_empty() {
                return invalid(format!("Single '{c}' encountered in format string"));
            }
            self.literal(&mut literal, &mut parts);
            let field = field(&mut rest)?;
            parts.push(self.field(&field, depth)?);
        }
        self.literal(&mut literal, &mut parts);
        Ok(parts)
    }

    fn literal(&mut self, literal: &mut String, parts: &mut Vec<At>) {
        if !literal.is_empty() {
            parts.push(self.program.text(literal));
            literal.clear();
        }
    }

    fn field(&mut self, field: &Field<'_>, depth: u32) -> Made<At> {
        let value = self.value(field.name)?;
        let conversion = match field.conversion {
            None => 0,
            Some('s') => 1,
            Some('r') => 2,
            Some('a') => 3,
            Some(c @ '!'..='~') => return invalid(format!("Unknown conversion specifier {c}")),
            Some(c) => return invalid(format!("Unknown conversion specifier \\x{:x}", c as u32)),
        };
        let conversion = self.program.int(conversion);
        let spec = if field.nested {
            let parts = self.text(field.spec, depth - 1)?;
            self.program.joined(&parts)
        } else if field.spec.is_empty() {
            self.program.constant(Const::None)
        } else {
            self.program.text(&field.spec.iter().collect::<String>())
        };
        Ok(self.program.apply(id::FORMAT_VALUE, &[value, conversion, spec]))
    }

    /// The value that a field names, with its attributes and items.
    fn value(&mut self, name: &[char]) -> Made<At> {
        let end = name.iter().position(|c| matches!(c, '.' | '[')).unwrap_or(name.len());
        let (first, mut rest) = name.split_at(end);
        let mut value = self.argument(first)?;
        while let Some((c, behind)) = rest.split_first() {
            match c {
                '.' => {
                    let end = behind.iter().position(|c| matches!(c, '.' | '[')).unwrap_or(behind.len());
                    let (attribute, after) = behind.split_at(end);
                    rest = after;
                    let attribute: String = attribute.iter().collect();
                    named(&attribute)?;
                    value = self.program.step(Step::Attr(attribute.into(), value));
                }
                '[' => {
                    let Some(end) = behind.iter().position(|c| *c == ']') else {
                        return invalid("Missing ']' in format string");
                    };
                    let item = &behind[..end];
                    rest = &behind[end + 1..];
                    let key = match number(item)? {
                        Some(k) => self.program.int(k),
                        None => {
                            let key: String = item.iter().collect();
                            named(&key)?;
                            self.program.text(&key)
                        }
                    };
                    value = self.program.apply(id::GETITEM, &[value, key]);
                }
                _other => return invalid("Only '.' or '[' may follow ']' in format field specifier"),
            }
        }
        Ok(value)
    }

    /// The argument that a field begins with: by its number, the next one, or by name.
    fn argument(&mut self, first: &[char]) -> Made<At> {
        let number = number(first)?;
        let k = match (number, first.is_empty(), &mut self.numbering) {
            (None, false, _) => return self.keyword(&first.iter().collect::<String>()),
            (None, true, Some(Numbering::Manual)) => {
                return invalid("cannot switch from manual field specification to automatic field numbering");
            }
            (Some(_), _, Some(Numbering::Automatic(_))) => {
                return invalid("cannot switch from automatic field numbering to manual field specification");
            }
            (None, true, Some(Numbering::Automatic(next))) => {
                *next += 1;
                *next as i64 - 1
            }
            (None, true, none) => {
                *none = Some(Numbering::Automatic(1));
                0
            }
            (Some(k), _, any) => {
                *any = Some(Numbering::Manual);
                k
            }
        };
        if self.of_mapping {
            return invalid("Format string contains positional fields");
        }
        // The format itself is the first operand.
        match usize::try_from(k).ok().filter(|k| *k + 1 < self.call.given.len()) {
            Some(k) => Ok(self.program.operand(k + 1)),
            None => {
                let text = format!("Replacement index {k} out of range for positional args tuple");
                Err(Stop::Raised(Class::IndexError, text))
            }
        }
    }

    fn keyword(&mut self, name: &str) -> Made<At> {
        if self.of_mapping {
            let (mapping, key) = (self.program.operand(1), self.program.text(name));
            return Ok(self.program.apply(id::GETITEM, &[mapping, key]));
        }
        match self.call.named.iter().position(|(n, _)| **n == *name) {
            Some(k) => Ok(self.program.operand(self.call.given.len() + k)),
            None => Err(Stop::Raised(Class::KeyError, name.into())),
        }
    }
}

fn named(name: &str) -> Made<()> {
    if name.is_empty() { invalid("Empty attribute in format string") } else { Ok(()) }
}

/// What a name is as a number, if it is one.
fn number(name: &[char]) -> Made<Option<i64>> {
    if name.iter().any(|c| !c.is_ascii() && c.is_numeric()) {
        return Err(Stop::Refused(
            Diagnostic::new(
                Code::UnsupportedSyntax,
                "a field of a format string that is named by digits of another script is not compiled",
            )
            .help("write it with the digits 0 to 9"),
        ));
    }
    if name.is_empty() || !name.iter().all(char::is_ascii_digit) {
        return Ok(None);
    }
    match name.iter().collect::<String>().parse() {
        Ok(k) => Ok(Some(k)),
        Err(_) => invalid("Too many decimal digits in format string"),
    }
}

/// Takes a field, whose opening brace is gone, from the front of what is left.
fn field<'f>(rest: &mut &'f [char]) -> Made<Field<'f>> {
    let all = *rest;
    let (mut at, mut end) = (0, None);
    while let Some(c) = all.get(at) {
        at += 1;
        match c {
            '{' => return invalid("unexpected '{' in field name"),
            // In brackets everything is part of the key, braces too.
            '[' => at += all[at..].iter().position(|c| *c == ']').unwrap_or(all.len() - at),
            '}' | ':' | '!' => {
                end = Some(*c);
                break;
            }
            _other => {}
        }
    }
    let Some(end) = end else { return invalid("expected '}' before end of string") };
    let mut field = Field { name: &all[..at - 1], conversion: None, spec: &[], nested: false };
    if end == '}' {
        *rest = &all[at..];
        return Ok(field);
    }
    if end == '!' {
        let Some(c) = all.get(at) else {
            return invalid("end of string while looking for conversion specifier");
        };
        field.conversion = Some(*c);
        at += 1;
        match all.get(at) {
            Some('}') => {
                *rest = &all[at + 1..];
                return Ok(field);
            }
            Some(':') => at += 1,
            Some(_) => return invalid("expected ':' after conversion specifier"),
            None => {}
        }
    }
    let (start, mut open) = (at, 1);
    for (k, c) in all.iter().enumerate().skip(start) {
        match c {
            '{' => {
                field.nested = true;
                open += 1;
            }
            '}' => open -= 1,
            _other => {}
        }
        if open == 0 {
            field.spec = &all[start..k];
            *rest = &all[k + 1..];
            return Ok(field);
        }
    }
    invalid("unmatched '{' in format spec")
}
