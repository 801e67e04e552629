//! `format % values`: conversions in the way of C's `printf`, in the order in which Python does them.

use super::not_constant;
use crate::diag::{Code, Diagnostic, Result};
use crate::exc::Class;
use crate::ops::id;
use crate::ops::written::{At, Called, Program, Step, class_name};
use crate::types::{Const, Container, Kind, Type};
use crate::typing::Arg;

/// What stops the program: it raises from there on, or the format cannot be compiled.
enum Stop {
    Raised(Class, String),
    Refused(Diagnostic),
}

/// What Python says of a number of values that is not the format's.
pub(in crate::ops) const TOO_FEW: &str = "not enough arguments for format string";
pub(in crate::ops) const NOT_ALL: &str = "not all arguments converted during string formatting";

type Made<T> = std::result::Result<T, Stop>;

fn raised<T>(class: Class, text: impl Into<String>) -> Made<T> {
    Err(Stop::Raised(class, text.into()))
}

/// Where `%(name)s` looks names up.
enum Mapping {
    None,
    /// A value that has items.
    Value(At),
    /// The entries of a dictionary that is written out.
    Entries(Vec<(String, At, Type)>),
}

/// A value to convert; the type of what an item is comes out only when the program is typed.
type Value = (At, Option<Type>);

struct Writer {
    program: Program,
    /// Values that are yet to be converted, the next one last.
    values: Vec<Value>,
    /// A tuple of any length that the values are in, and how many were taken.
    many: Option<(At, Type, i64)>,
    /// The number of operands, where a dictionary of them is the one value.
    whole: Option<usize>,
    mapping: Mapping,
}

/// The program of `format % value`.
pub(super) fn write(call: &Called<'_>) -> Result<Program> {
    let [format, value] = call.given else { return Err(crate::typing::no_match("%", call.given)) };
    let mut program = Program::default();
    let at = program.operand(1);
    let (values, mapping) = if let Kind::Tuple(m) | Kind::NamedTuple(_, m) = value.ty.kind() {
        let members = m.iter().enumerate();
        let mut all: Vec<Value> =
            members.map(|(k, t)| (program.step(Step::Member(k as u32, at)), Some(*t))).collect();
        all.reverse();
        (all, Mapping::None)
    } else if has_items(value.ty) {
        (vec![(at, Some(value.ty))], Mapping::Value(at))
    } else {
        (vec![(at, Some(value.ty))], Mapping::None)
    };
    if may_be_tuple(value.ty) {
        return Err(crate::typing::no_match("%", call.given));
    }
    let mut w = Writer { program, values, many: None, whole: None, mapping };
    if let Kind::Container(Container::Tuple, m) = value.ty.kind() {
        (w.values, w.many) = (vec![], Some((at, m[0], 0)));
    }
    w.write(format)
}

/// The program of `format % {key: value, …}`: the dictionary comes to be only where something wants it whole.
pub(super) fn write_keyed(call: &Called<'_>) -> Result<Program> {
    let mut program = Program::default();
    let (mut entries, mut constant) = (vec![], true);
    for (k, pair) in call.given[1..].chunks(2).enumerate() {
        let [key, value] = pair else { return Err(Diagnostic::internal("a key without a value")) };
        let Some(key) = key.text() else {
            constant = false;
            break;
        };
        // The last one of several under the same key counts.
        entries.retain(|(old, _, _)| old != key);
        entries.push((key.to_owned(), program.operand(2 * k + 2), value.ty));
    }
    if *call.given[0].ty != Kind::Str {
        let format = program.operand(0);
        let dict = dict_of(&mut program, call.given.len());
        program.apply(id::MOD, &[format, dict]);
        return Ok(program);
    }
    if constant {
        let (whole, mapping) = (Some(call.given.len()), Mapping::Entries(entries));
        return Writer { program, values: vec![], many: None, whole, mapping }.write(&call.given[0]);
    }
    let dict = dict_of(&mut program, call.given.len());
    let values = vec![(dict, Some(a_dict()))];
    Writer { program, values, many: None, whole: None, mapping: Mapping::Value(dict) }.write(&call.given[0])
}

/// The dictionary of the operands behind the first one.
fn dict_of(program: &mut Program, operands: usize) -> At {
    let entries: Vec<At> = (1..operands).map(|k| program.operand(k)).collect();
    program.apply(id::DICT_BUILD, &entries)
}

/// Some dictionary, for its class.
fn a_dict() -> Type {
    Type::new(Kind::Container(Container::Dict, vec![Type::none(); 2]))
}

/// The program of one conversion of a value whose type was not known before.
pub(super) fn write_converted(call: &Called<'_>) -> Result<Program> {
    let [x, how, _, _] = call.given else { return Err(crate::typing::no_match("%", call.given)) };
    let how = How(how.int().ok_or_else(|| Diagnostic::internal("a conversion that is not constant"))?);
    let mapping = Mapping::None;
    let mut w = Writer { program: Program::default(), values: vec![], many: None, whole: None, mapping };
    let (value, width, precision) = (w.program.operand(0), w.program.operand(2), w.program.operand(3));
    let laid_out = Layout { width, precision, plain: false };
    let made = w.converted(value, Some(x.ty), how, &laid_out);
    w.finish(made.map(|at| vec![at]))
}

/// What has items by Python's rules: `"text" % [1]` is no error, since the list may be what names are looked up
/// in.
fn has_items(t: Type) -> bool {
    matches!(t.kind(), Kind::List(_) | Kind::Range(_) | Kind::Array(_))
        || t.container().is_some_and(|(c, _)| c.is_mapping())
        || t.is_number() && *t != Kind::Bool && !t.is_weak()
}

/// Whether only the running program knows if it is a tuple.
fn may_be_tuple(t: Type) -> bool {
    let is = |t: &Type| t.members().is_some() || t.is_tuple_of_any_length();
    if let Kind::Optional(inner) = t.kind() {
        return is(inner) || may_be_tuple(*inner);
    }
    matches!(t.kind(), Kind::Variant(m) if m.iter().any(is))
}

/// A conversion's letter with its flags; see [`super::Helpers`].
#[derive(Clone, Copy)]
struct How(i64);

const FLAGS: &str = "-+ #0";

impl How {
    fn letter(self) -> char {
        char::from_u32((self.0 & 0xffff_ffff) as u32).unwrap_or('?')
    }
}

struct Layout {
    width: At,
    precision: At,
    /// Neither is given.
    plain: bool,
}

/// A format string that is read from its front.
struct Reader<'f> {
    all: &'f [char],
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Made<char> {
        match self.all.get(self.at) {
            Some(c) => {
                self.at += 1;
                Ok(*c)
            }
            None => raised(Class::ValueError, "incomplete format"),
        }
    }
}

impl Writer {
    fn write(mut self, format: &Arg) -> Result<Program> {
        let Some(text) = format.text() else { return Err(not_constant("%")) };
        let all: Vec<char> = text.chars().collect();
        let made = self.text(&all);
        self.finish(made)
    }

    fn finish(mut self, made: Made<Vec<At>>) -> Result<Program> {
        match made {
            Ok(parts) => {
                self.program.joined(&parts);
            }
            Err(Stop::Raised(class, text)) => {
                self.program.raise(class, &text);
            }
            Err(Stop::Refused(d)) => return Err(d),
        }
        Ok(self.program)
    }

    fn text(&mut self, format: &[char]) -> Made<Vec<At>> {
        let (mut r, mut parts, mut literal) = (Reader { all: format, at: 0 }, vec![], String::new());
        while let Some(c) = format.get(r.at) {
            r.at += 1;
            if *c != '%' {
                literal.push(*c);
                continue;
            }
            // With anything in between it is no percent sign, but an unknown conversion.
            if format.get(r.at) == Some(&'%') {
                r.at += 1;
                literal.push('%');
                continue;
            }
            if !literal.is_empty() {
                parts.push(self.program.text(&literal));
                literal.clear();
            }
            parts.push(self.conversion(&mut r)?);
        }
        if !self.values.is_empty() && matches!(self.mapping, Mapping::None) {
            return raised(Class::TypeError, NOT_ALL);
        }
        if let Some((tuple, _, taken)) = self.many {
            let taken = self.program.int(taken);
            self.program.apply(id::ALL_FORMATTED, &[tuple, taken]);
        }
        if !literal.is_empty() {
            parts.push(self.program.text(&literal));
        }
        Ok(parts)
    }

    /// What follows a percent sign.
    fn conversion(&mut self, r: &mut Reader<'_>) -> Made<At> {
        if r.all.get(r.at) == Some(&'(') {
            r.at += 1;
            self.key(r)?;
        }
        let (mut how, mut c) = (0, r.next()?);
        while let Some(flag) = FLAGS.find(c) {
            how |= 1 << (32 + flag);
            c = r.next()?;
        }
        let (mut width, mut precision) = (None, None);
        if c == '*' {
            width = Some(self.star()?);
            c = r.next()?;
        } else if c.is_ascii_digit() {
            let n = digits(r, &mut c, i64::MAX, "width too big")?;
            width = Some(self.program.int(n));
        }
        if c == '.' {
            c = r.next()?;
            if c == '*' {
                precision = Some(self.star()?);
                c = r.next()?;
            } else {
                let n = digits(r, &mut c, i64::from(i32::MAX), "precision too big")?;
                precision = Some(self.program.int(n));
            }
        }
        if matches!(c, 'h' | 'l' | 'L') {
            c = r.next()?;
        }
        let plain = width.is_none() && precision.is_none();
        let none = self.program.int(i64::MIN);
        let layout = Layout { width: width.unwrap_or(none), precision: precision.unwrap_or(none), plain };
        let (value, ty) = self.next()?;
        if !"diuoxXeEfFgGcrsa".contains(c) {
            let shown = if matches!(c, '\u{1f}'..='~') { c } else { '?' };
            let (code, index) = (c as u32, r.at - 1);
            let text = format!("unsupported format character '{shown}' ({code:#x}) at index {index}");
            return raised(Class::ValueError, text);
        }
        self.converted(value, ty, How(how | c as i64), &layout)
    }

    /// The key of a conversion, whose opening parenthesis is gone: its item is the one value from here on.
    fn key(&mut self, r: &mut Reader<'_>) -> Made<()> {
        if let Mapping::None = self.mapping {
            return raised(Class::TypeError, "format requires a mapping");
        }
        let (start, mut open) = (r.at, 1);
        while open > 0 {
            match r.all.get(r.at) {
                Some('(') => open += 1,
                Some(')') => open -= 1,
                Some(_) => {}
                None => return raised(Class::ValueError, "incomplete format key"),
            }
            r.at += 1;
        }
        let key: String = r.all[start..r.at - 1].iter().collect();
        let value = match &self.mapping {
            Mapping::None => None,
            Mapping::Value(of) => {
                let of = *of;
                let key = self.program.text(&key);
                Some((self.program.apply(id::GETITEM, &[of, key]), None))
            }
            Mapping::Entries(all) => {
                all.iter().find(|(name, _, _)| *name == key).map(|(_, at, ty)| (*at, Some(*ty)))
            }
        };
        match value {
            Some(value) => (self.values, self.whole) = (vec![value], None),
            None => return raised(Class::KeyError, key),
        }
        Ok(())
    }

    fn next(&mut self) -> Made<Value> {
        if let Some((tuple, ty, taken)) = &mut self.many {
            let k = self.program.int(*taken);
            *taken += 1;
            return Ok((self.program.apply(id::TO_FORMAT, &[*tuple, k]), Some(*ty)));
        }
        match (self.values.pop(), self.whole.take()) {
            (Some(value), _) => Ok(value),
            (None, Some(operands)) => Ok((dict_of(&mut self.program, operands), Some(a_dict()))),
            (None, None) => raised(Class::TypeError, TOO_FEW),
        }
    }

    fn star(&mut self) -> Made<At> {
        let (value, _) = self.next()?;
        Ok(self.program.apply(id::FORMAT_STAR, &[value]))
    }

    /// The text of one value.
    fn converted(&mut self, value: At, ty: Option<Type>, how: How, layout: &Layout) -> Made<At> {
        let letter = how.letter();
        let code = self.program.constant(Const::Int(how.0));
        if let Some(k) = "sra".find(letter) {
            let conversion = self.program.int(k as i64 + 1);
            let none = self.program.constant(Const::None);
            let text = self.program.apply(id::FORMAT_VALUE, &[value, conversion, none]);
            if layout.plain {
                return Ok(text);
            }
            return Ok(self.laid_out(text, code, layout));
        }
        let ty = match ty {
            Some(t) if !matches!(t.kind(), Kind::Optional(_) | Kind::Variant(_) | Kind::Var(_)) => t,
            Some(_) | None => {
                let args = [value, code, layout.width, layout.precision];
                return Ok(self.program.apply(id::FORMAT_CONVERTED, &args));
            }
        };
        // A number of an `IntEnum` is one to what wants a number.
        let value = match ty.beneath_member() {
            base if base == ty => value,
            _base => self.program.apply(id::NUMBER_OF, &[value]),
        };
        let ty = ty.beneath_member();
        let wants = match letter {
            'c' => ty.is_index() || *ty == Kind::Str,
            'o' | 'x' | 'X' => ty.is_index(),
            _number => ty.is_number() && !ty.is_complex(),
        };
        if wants { Ok(self.laid_out(value, code, layout)) } else { wrong_type(letter, ty) }
    }

    fn laid_out(&mut self, value: At, code: At, layout: &Layout) -> At {
        self.program.apply(id::FORMAT_LAID_OUT, &[value, code, layout.width, layout.precision])
    }
}

/// The number whose first digit is `c`, if it is one; `c` is what follows.
fn digits(r: &mut Reader<'_>, c: &mut char, limit: i64, too_big: &str) -> Made<i64> {
    let mut n = 0i64;
    while let Some(d) = c.to_digit(10) {
        n = match n.checked_mul(10).and_then(|n| n.checked_add(i64::from(d))).filter(|n| *n <= limit) {
            Some(n) => n,
            None => return raised(Class::ValueError, too_big),
        };
        *c = r.next()?;
    }
    Ok(n)
}

/// A value that a conversion does not take: TypeError, where what it is cannot say otherwise.
fn wrong_type<T>(letter: char, ty: Type) -> Made<T> {
    // A class of the program's may have `__index__`, `__int__` or `__float__`.
    let own = matches!(ty.kind(), Kind::Object(..))
        || matches!(ty.kind(), Kind::Frozen(c, _) if !c.is_builtin_value());
    let asks =
        own || matches!(ty.kind(), Kind::NamedTuple(..) | Kind::Array(_)) || ty.is_complex() && !ty.is_weak();
    let (Some(class), false) = (class_name(ty), asks) else {
        return Err(Stop::Refused(
            Diagnostic::new(
                Code::NoMatchingOperation,
                format!("%{letter} of a value of type {ty} is not compiled"),
            )
            .help("convert it first, with int(x) or float(x), or format its text with %s"),
        ));
    };
    let text = match letter {
        'c' => "%c requires int or char".to_owned(),
        'o' | 'x' | 'X' => format!("%{letter} format: an integer is required, not {class}"),
        'd' | 'i' | 'u' => format!("%{letter} format: a real number is required, not {class}"),
        _float => format!("must be real number, not {class}"),
    };
    raised(Class::TypeError, text)
}
