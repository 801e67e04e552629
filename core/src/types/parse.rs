//! Reads what [`super::text`] prints: `exact(print(t)) == t` for what `{:#}` prints of any type, and the same
//! of [`parse`] and `{}` for every type that needs no Python class or function to be named.
//!
//! `boolean`, `intp`, `void`, `float32x`-like spellings of Numba are the Python package's business, not this
//! grammar's.

use super::class::{Generated, HostClass, Instances};
use super::record::{Chars, RecordDef, RecordField};
use super::time::{Time, Unit};
use super::{
    Access, ArrayType, ClassDef, ClassId, Const, Container, Float, FuncType, Int, IterType, Kind, Layout,
    Type,
};
use crate::handle::FuncId;
use crate::lex::Cursor;
use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex};

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Functions, classes and generators may be named by their numbers.
    exact: bool,
}
type Res<T> = Result<T, String>;

/// The type that prints as `text`.
pub fn parse(text: &str) -> Res<Type> {
    read(text, false)
}

/// The type that `{:#}` prints as `text`. Numbers mean something in the process alone that gave them.
pub fn exact(text: &str) -> Res<Type> {
    read(text, true)
}

fn read(text: &str, exact: bool) -> Res<Type> {
    let mut p = Parser { text, at: 0, exact };
    let t = p.ty()?;
    p.space();
    if p.at == text.len() { Ok(t) } else { Err(p.error("the end")) }
}

/// The name of a module, kept for ever: there are few.
fn module(name: &str) -> &'static str {
    static NAMES: LazyLock<Mutex<BTreeSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut names = NAMES.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.into());
    names.insert(kept);
    kept
}

fn scalar(name: &str) -> Option<Type> {
    Some(match name {
        "never" => Type::never(),
        "unbound" => Type::undef(),
        "none" => Type::none(),
        "ellipsis" => Type::new(Kind::Ellipsis),
        "bool" => Type::bool(),
        "str" => Type::str(),
        "bytes" => Type::bytes(),
        "bytearray" => Type::bytearray(),
        "int" => Type::int(),
        "float" => Type::float(),
        "complex" => Type::complex(),
        "float16" => Type::float_of(Float::F16),
        "float32" => Type::float_of(Float::F32),
        "float64" => Type::f64(),
        "complex64" => Type::new(Kind::Complex(Float::F32)),
        "complex128" => Type::new(Kind::Complex(Float::F64)),
        "exception" => Type::new(Kind::Exception),
        "Generator" => Type::new(Kind::Random),
        "range" => Type::new(Kind::Range(None)),
        "range_iter" => Type::iter(IterType::Range(None)),
        "str_iter" => Type::iter(IterType::Str),
        "bytes_iter" => Type::iter(IterType::Bytes),
        other => return Int::ALL.iter().map(|i| Type::int_of(*i)).find(|t| t.to_string() == other),
    })
}

impl Parser<'_> {
    fn error(&self, wanted: &str) -> String {
        format!("expected {wanted} at {:?} in type {:?}", &self.text[self.at..], self.text)
    }
    fn space(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }
    fn eat(&mut self, s: &str) -> bool {
        self.space();
        let hit = self.text[self.at..].starts_with(s);
        if hit {
            self.at += s.len();
        }
        hit
    }
    fn expect(&mut self, s: &str) -> Res<()> {
        if self.eat(s) { Ok(()) } else { Err(self.error(&format!("{s:?}"))) }
    }
    fn word(&mut self) -> &str {
        self.space();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
    fn number(&mut self) -> Res<i64> {
        let negative = self.eat("-");
        let digits: String = self.text[self.at..].chars().take_while(char::is_ascii_digit).collect();
        self.at += digits.len();
        digits.parse::<i64>().map(|n| if negative { -n } else { n }).map_err(|_| self.error("a number"))
    }
    /// Types up to the closing parenthesis, which is taken.
    fn list(&mut self) -> Res<Vec<Type>> {
        let mut out = vec![];
        if self.eat(")") {
            return Ok(out);
        }
        loop {
            out.push(self.ty()?);
            if self.eat(")") {
                return Ok(out);
            }
            self.expect(",")?;
        }
    }
    /// The members of a tuple: a type for each, or one for any number of them, `int, ...`.
    fn tuple(&mut self) -> Res<Type> {
        let mut members = vec![];
        while !self.eat(")") {
            if !members.is_empty() {
                self.expect(",")?;
            }
            if members.len() == 1 && self.eat("...") {
                self.expect(")")?;
                return Ok(Type::tuple_of(members[0]));
            }
            members.push(self.ty()?);
        }
        Ok(Type::tuple(members))
    }
    fn one(&mut self) -> Res<Type> {
        let t = self.ty()?;
        self.expect(")")?;
        Ok(t)
    }
    fn two(&mut self) -> Res<[Type; 2]> {
        <[Type; 2]>::try_from(self.list()?).map_err(|_| self.error("two types"))
    }
    fn unsigned<T: std::str::FromStr>(&mut self) -> Res<T> {
        self.space();
        let rest = &self.text[self.at..];
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let n = rest[..digits].parse().map_err(|_| self.error("a number"))?;
        self.at += digits;
        Ok(n)
    }
    fn string(&mut self) -> Res<String> {
        self.space();
        let mut c = Cursor::new(&self.text[self.at..]);
        let text = c.string().map_err(|_| self.error("a string"))?;
        self.at += c.taken();
        Ok(text.to_string())
    }
    /// Strings up to the closing parenthesis, which is taken.
    fn strings(&mut self) -> Res<Vec<String>> {
        let mut out = vec![];
        while !self.eat(")") {
            out.push(self.string()?);
        }
        Ok(out)
    }
    /// `what("a" "b")`; nothing where it does not come.
    fn names(&mut self, what: &str) -> Res<Vec<String>> {
        if !self.eat(what) {
            return Ok(vec![]);
        }
        self.expect("(")?;
        self.strings()
    }
    fn types(&mut self, what: &str) -> Res<Vec<Type>> {
        if !self.eat(what) {
            return Ok(vec![]);
        }
        self.expect("(")?;
        self.list()
    }
    fn class(&mut self) -> Res<&'static ClassDef> {
        if self.eat("keywords(") {
            return self.strings().map(ClassDef::keywords);
        }
        let name = self.string()?;
        self.space();
        if !self.text[self.at..].starts_with(|c: char| c.is_ascii_digit()) {
            let mut fixed = (0..ClassId::FIXED).filter_map(ClassId::of_number).map(ClassId::def);
            return fixed.find(|c| c.name == name).ok_or_else(|| format!("no class is called {name:?}"));
        }
        let handle = self.unsigned()?;
        let qualname = self.names("qualname")?.pop().unwrap_or_else(|| name.clone());
        let bases = self.classes("bases(")?.unwrap_or_else(|| vec![ClassId::OBJECT]);
        let order = self.classes("order(")?;
        let (fields, instances) = (self.names("fields")?, self.instances()?);
        let constructed = self.eat("constructed");
        let class = HostClass { handle, name, qualname, bases, order, fields, instances, constructed };
        ClassDef::of_host(class).map_err(|_| self.error("bases that agree"))
    }
    fn value_of_member(&mut self) -> Res<Const> {
        self.space();
        if self.text[self.at..].starts_with('"') {
            return Ok(Const::Str(self.string()?.into()));
        }
        let (negative, size) = (self.eat("-"), self.unsigned::<u64>()?);
        Ok(Const::Int(if negative { size.wrapping_neg() } else { size } as i64))
    }
    fn instances(&mut self) -> Res<Instances> {
        if self.eat("members(") {
            let (count, equality) = (self.unsigned()?, self.eat("equality"));
            self.expect(")")?;
            return Ok(Instances::Members { count, equality });
        }
        if self.eat("values(") {
            let mut all = vec![];
            while !self.eat(")") {
                self.eat(",");
                all.push(self.value_of_member()?);
            }
            return Ok(Instances::Values(all.leak()));
        }
        if self.eat("flags(") {
            let (whole, mut single) = (self.eat("whole"), vec![]);
            while !self.eat(")") {
                single.push(self.unsigned()?);
            }
            return Ok(Instances::Flags { single: single.leak(), whole });
        }
        if self.eat("mark") {
            return Ok(Instances::Mark);
        }
        if self.eat("objects(") {
            let (identity, native) = (self.eat("identity"), self.eat("native"));
            self.expect(")")?;
            return Ok(Instances::Objects { identity, native });
        }
        if !self.eat("frozen(") {
            return Ok(Instances::Inherited);
        }
        let mut generated = Generated::default();
        for (name, has) in generated.named() {
            *has = self.eat(name);
        }
        self.expect(")")?;
        Ok(Instances::Frozen(generated))
    }
    fn classes(&mut self, what: &str) -> Res<Option<Vec<ClassId>>> {
        if !self.eat(what) {
            return Ok(None);
        }
        let mut all = vec![];
        while !self.eat(")") {
            all.push(self.class()?.id);
            self.eat(",");
        }
        Ok(Some(all))
    }
    fn one_class(&mut self) -> Res<&'static ClassDef> {
        let c = self.class()?;
        self.expect(")")?;
        Ok(c)
    }
    /// `datetime64[ns]`, `timedelta64`; none for other names. Numbers in brackets are a shape behind it.
    fn time(&mut self, name: &str) -> Res<Option<Type>> {
        let Some(t) = Time::from_name(name) else { return Ok(None) };
        let rest = &self.text[self.at..];
        if !rest.strip_prefix('[').is_some_and(|r| r.starts_with(char::is_alphabetic)) {
            return Ok(Some(t.ty()));
        }
        let end = rest.find(']').ok_or_else(|| self.error("\"]\""))?;
        let unit = Unit::from_name(&rest[1..end]).ok_or_else(|| self.error("a unit of time"))?;
        self.at += end + 1;
        Ok(Some(Time { unit, ..t }.ty()))
    }
    /// What is told apart by identity; none for other names.
    fn identified(&mut self, name: &str) -> Res<Option<Kind>> {
        Ok(Some(match name {
            "function" => {
                self.expect("f")?;
                let func = FuncId(self.unsigned()?);
                let (captures, defaults) = (self.types("captures")?, self.types("defaults")?);
                let (kwdefaults, bound) = (self.names("keywords")?, self.eat("bound"));
                self.expect(")")?;
                Kind::Function(FuncType { func, defaults, captures, kwdefaults, bound })
            }
            "namedtuple" | "frozen" | "object" => {
                let class = self.class()?;
                let members = if self.eat(",") { self.list()? } else { self.expect(")").map(|()| vec![])? };
                match name {
                    "frozen" => Kind::Frozen(class, members),
                    "object" => Kind::Object(class, members),
                    _ => Kind::NamedTuple(class, members),
                }
            }
            "member" => Kind::Member(self.one_class()?),
            "outer" => {
                let levels = self.unsigned()?;
                self.expect(")")?;
                Kind::Outer(levels)
            }
            "super" => {
                let class = self.class()?;
                self.expect(",")?;
                let of = self.list()?;
                let [of] = of[..] else { return Err(self.error("one type")) };
                Kind::Super(class, of)
            }
            "namedtuple_class" => Kind::NamedTupleClass(self.one_class()?),
            "exception_class" => Kind::ExcClass(self.one_class()?),
            "class" => Kind::Class(self.one_class()?),
            "generator" => {
                self.expect("#")?;
                let n = self.unsigned()?;
                self.expect(",")?;
                Kind::Generator(n, self.one()?)
            }
            "module" => {
                let name = module(self.word());
                self.expect(")")?;
                Kind::Module(name)
            }
            _ => return Ok(None),
        }))
    }
    fn step(&mut self) -> Res<i64> {
        self.expect("step=")?;
        let n = self.number()?;
        self.expect(")")?;
        Ok(n)
    }
    fn array(&mut self) -> Res<Type> {
        let dtype = self.ty()?;
        self.expect(",")?;
        let ndim = u8::try_from(self.number()?).map_err(|_| self.error("a number of dimensions"))?;
        self.expect("d")?;
        self.expect(",")?;
        let layout = if self.eat("C") {
            Layout::C
        } else if self.eat("F") {
            Layout::F
        } else if self.eat("A") {
            Layout::A
        } else {
            return Err(self.error("a layout"));
        };
        let access = if !self.eat(",") {
            Access::Write
        } else if self.eat("perhaps") {
            Access::Either
        } else {
            Access::Read
        };
        if access != Access::Write {
            self.expect("readonly")?;
        }
        self.expect(")")?;
        Ok(Type::new(Kind::Array(ArrayType { dtype, ndim, layout, access })))
    }

    /// The size of records, then the name, place and type of each field.
    fn record(&mut self) -> Res<Type> {
        let (size, mut fields) = (self.unsigned()?, vec![]);
        let (aligned, attributes) = (self.eat("aligned"), self.eat("attributes"));
        let opaque = if self.eat("as") { Some(self.string()?) } else { None };
        while self.eat(",") {
            let name = self.string()?;
            self.space();
            let title = if self.text[self.at..].starts_with('"') { Some(self.string()?) } else { None };
            let offset = self.unsigned()?;
            let (ty, mut shape) = (self.ty()?, vec![]);
            if self.eat("[") {
                while !self.eat("]") {
                    shape.push(self.unsigned()?);
                    self.eat(",");
                }
            }
            fields.push(RecordField { name, title, offset, ty, shape });
        }
        self.expect(")")?;
        Ok(Type::new(Kind::Record(RecordDef::new(RecordDef { fields, size, aligned, attributes, opaque }))))
    }

    fn ty(&mut self) -> Res<Type> {
        self.space();
        if self.text[self.at..].starts_with(['<', '|']) {
            let rest = &self.text[self.at..];
            let end = rest[1..].find(|c: char| !c.is_alphanumeric()).map_or(rest.len(), |n| n + 1);
            let text = Chars::from_name(&rest[..end]).ok_or_else(|| self.error("a type of text"))?;
            self.at += end;
            return Ok(text.dtype());
        }
        if self.eat("?") {
            return u32::try_from(self.number()?).map(Type::var).map_err(|_| self.error("a number"));
        }
        let start = self.at;
        let name = self.word().to_string();
        if name == "unbound" && self.eat("?(") {
            return self.one().map(|t| Type::new(Kind::MaybeUndef(t)));
        }
        let exact = self.exact;
        let table_path = |name: &str| {
            let found =
                if exact { crate::handle::OpId::parse(name) } else { crate::handle::OpId::find(name) };
            found.ok_or_else(|| format!("no operation is called {name:?}"))
        };
        if !self.eat("(") {
            if let Some(t) = scalar(&name) {
                return Ok(t);
            }
            if let Some(t) = self.time(&name)? {
                return Ok(t);
            }
            // What a program writes means the values; the class by itself has the same name.
            if !exact && let Some(t) = ClassDef::of_values(&name).and_then(Type::of_values) {
                return Ok(t);
            }
            if name.contains('.') {
                return table_path(&name).map(|p| Type::new(Kind::Builtin(p)));
            }
            self.at = start;
            return Err(self.error("a type"));
        }
        if exact && let Some(kind) = self.identified(&name)? {
            return Ok(Type::new(kind));
        }
        let iter = |i: IterType| Ok(Type::iter(i));
        match name.as_str() {
            "optional" => self.one().map(|t| Type::new(Kind::Optional(t))),
            "tuple" => self.tuple(),
            "variant" => self.list().map(|m| Type::new(Kind::Variant(m))),
            "array" => self.array(),
            "record" => self.record(),
            "vec" => {
                let element = self.ty()?;
                self.expect(",")?;
                let lanes: usize = self.unsigned()?;
                self.expect(")")?;
                Type::simd(element, lanes).ok_or_else(|| self.error("a power of two of lanes"))
            }
            "list" => self.one().map(Type::list),
            _ if let Some(c) = Container::ALL.iter().find(|c| c.name() == name) => {
                let arguments = self.list()?;
                if arguments.len() != c.arguments() {
                    return Err(self.error("another number of types"));
                }
                Ok(Type::new(Kind::Container(*c, arguments)))
            }
            "range" => self.step().map(|n| Type::new(Kind::Range(Some(n)))),
            "slice" => <[Type; 3]>::try_from(self.list()?)
                .map(|p| Type::new(Kind::Slice(p)))
                .map_err(|_| self.error("three parts of a slice")),
            "dtype" => self.one().map(|t| Type::new(Kind::DType(t))),
            "method" => {
                let path = self.word().to_string();
                self.expect("of")?;
                let receiver = self.one()?;
                Ok(Type::new(Kind::Method(table_path(&path)?, receiver)))
            }
            "conflict" => self.two().map(|[a, b]| Type::new(Kind::Conflict(a, b))),
            "range_iter" => self.step().and_then(|n| iter(IterType::Range(Some(n)))),
            "array_iter" => self.one().and_then(|t| iter(IterType::Array(t))),
            "iter" => self.one().and_then(|t| iter(IterType::Container(t))),
            "list_iter" => self.one().and_then(|t| iter(IterType::List(t))),
            "tuple_iter" => self.one().and_then(|t| iter(IterType::Tuple(t))),
            "enumerate" => self.one().and_then(|t| iter(IterType::Enumerate(t))),
            "zip" => self.list().and_then(|m| iter(IterType::Zip(m))),
            "reversed" => self.one().and_then(|t| iter(IterType::Reversed(t))),
            "ndenumerate" => self.one().and_then(|t| iter(IterType::NdEnumerate(t))),
            "flat" => self.one().and_then(|t| iter(IterType::Flat(t))),
            "ndindex" => {
                let n = u8::try_from(self.number()?).map_err(|_| self.error("a number of dimensions"))?;
                self.expect("d)")?;
                iter(IterType::NdIndex(n))
            }
            other => Err(format!("{other}(…) cannot be written as text; only the Python object names it")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        let a = Type::array(Type::f64(), 2, Layout::A);
        let mut frozen = a.as_array().unwrap();
        frozen.access = Access::Read;
        let either = ArrayType { access: Access::Either, ..frozen };
        let kinds = [
            Type::int(),
            Type::i64(),
            Type::int_of(Int::U8),
            Type::float(),
            Type::complex(),
            Type::new(Kind::Complex(Float::F32)),
            a,
            frozen.ty(),
            either.ty(),
            Type::new(Kind::Variant(vec![Type::int(), Type::str()])),
            Type::tuple(vec![]),
            Type::tuple(vec![Type::int(), Type::tuple(vec![Type::str()])]),
            Type::tuple_of(Type::tuple_of(Type::int())),
            Type::list(Type::list(a)),
            Type::optional(Type::int()),
            Type::new(Kind::MaybeUndef(Type::bool())),
            Type::list(Type::var(3)),
            Type::new(Kind::Range(Some(-2))),
            Type::new(Kind::Range(None)),
            Type::new(Kind::Slice([Type::int(), Type::none(), Type::none()])),
            Type::new(Kind::DType(Type::f64())),
            Type::iter(IterType::NdIndex(3)),
            Type::simd(Type::f64(), 8).unwrap(),
            Type::iter(IterType::Zip(vec![
                Type::iter(IterType::Enumerate(Type::iter(IterType::Array(a)))),
                Type::iter(IterType::Range(Some(1))),
            ])),
            Type::iter(IterType::Flat(a)),
            Type::iter(IterType::Str),
            Type::iter(IterType::Bytes),
            Type::bytes(),
            Type::bytearray(),
            Type::iter(IterType::Reversed(Type::list(Type::int()))),
        ];
        for t in kinds {
            assert_eq!(parse(&t.to_string()), Ok(t), "{t}");
        }
    }

    #[test]
    fn identities_are_read_back() {
        let class = |handle, name: &str, bases: &[ClassId], fields: &[&str]| {
            let fields = fields.iter().map(|f| f.to_string()).collect();
            let class =
                HostClass { fields, constructed: handle == 70_001, ..HostClass::new(handle, name, bases) };
            ClassDef::of_host(class).expect("bases agree")
        };
        let point = class(70_000, "Point", &[ClassId::TUPLE], &["x", "y"]);
        let own_error = class(70_001, "MyError", &[ClassId::BASE_EXCEPTION], &[]);
        let below = class(70_002, "Below", &[own_error.id, point.id], &[]);
        // A class as it was is another one than as it is, and both are read back.
        let before = class(70_003, "Changed", &[own_error.id], &[]);
        let after = class(70_003, "Changed", &[ClassId::BASE_EXCEPTION], &[]);
        assert_ne!(before, after);
        let order = Some(vec![point.id, own_error.id, ClassId::OBJECT]);
        let bases = [own_error.id, point.id];
        let backwards = HostClass { order, ..HostClass::new(70_004, "Backwards", &bases) };
        let backwards = ClassDef::of_host(backwards).expect("an order that is given");
        let function = |captures: Vec<Type>, defaults: Vec<Type>, kwdefaults: &[&str], bound| {
            let kwdefaults = kwdefaults.iter().map(|n| n.to_string()).collect();
            Type::new(Kind::Function(FuncType { func: FuncId(7), defaults, captures, kwdefaults, bound }))
        };
        let pair = Type::new(Kind::NamedTuple(point, vec![Type::int(), Type::str()]));
        let frozen = HostClass {
            qualname: "outer.<locals>.Value".into(),
            fields: vec!["x".into()],
            instances: Instances::Frozen(Generated { equality: true, text: true, ..Generated::default() }),
            ..HostClass::new(70_005, "Value", &[ClassId::OBJECT])
        };
        let frozen = ClassDef::of_host(frozen).expect("one base");
        let colours = HostClass {
            instances: Instances::Members { count: 3, equality: true },
            ..HostClass::new(70_006, "Colour", &[ClassId::OBJECT])
        };
        let colours = ClassDef::of_host(colours).expect("one base");
        let of_values = |handle, values: &'static [Const]| {
            let instances = Instances::Values(values);
            let class = HostClass { instances, ..HostClass::new(handle, "Level", &[ClassId::OBJECT]) };
            Type::new(Kind::Member(ClassDef::of_host(class).expect("one base")))
        };
        let whole = HostClass {
            instances: Instances::Flags { single: &[4, 2, 1], whole: true },
            ..HostClass::new(70_009, "Perm", &[ClassId::OBJECT])
        };
        let plain = function(vec![], vec![], &[], false);
        let keywords = ClassDef::keywords(vec!["a \"b\"".into()]);
        let kinds = [
            plain,
            function(vec![pair], vec![plain, Type::none()], &["k"], true),
            pair,
            Type::new(Kind::Frozen(frozen, vec![pair])),
            Type::new(Kind::Class(frozen)),
            Type::new(Kind::Super(frozen, pair)),
            Type::new(Kind::Member(colours)),
            of_values(70_007, vec![Const::Int(-3), Const::Int(i64::MIN), Const::Int(7)].leak()),
            of_values(70_008, vec![Const::Str("a \"b\"".into()), Const::Str("".into())].leak()),
            Type::new(Kind::Member(ClassDef::of_host(whole).expect("one base"))),
            Time::date(Unit::Nano).ty(),
            Time::span(Unit::Generic).ty(),
            Type::list(Time::span(Unit::Month).ty()),
            Type::array(Chars { wide: true, count: 3 }.dtype(), 1, Layout::C),
            Type::tuple(vec![Chars { wide: false, count: 12 }.dtype(), Type::int()]),
            Type::new(Kind::Frozen(ClassId::TIMEDELTA.def(), vec![Type::int(), Type::int()])),
            Type::new(Kind::NamedTuple(keywords, vec![Type::tuple(vec![])])),
            Type::new(Kind::NamedTuple(ClassDef::keywords(vec![]), vec![])),
            Type::new(Kind::NamedTupleClass(point)),
            Type::new(Kind::ExcClass(ClassId::of_exception(crate::exc::Class::ValueError).def())),
            Type::new(Kind::ExcClass(own_error)),
            Type::new(Kind::Class(below)),
            Type::new(Kind::Class(backwards)),
            Type::new(Kind::ExcClass(before)),
            Type::new(Kind::ExcClass(after)),
            Type::new(Kind::Class(ClassId::OBJECT.def())),
            Type::new(Kind::Generator(3, pair)),
            Type::new(Kind::Module("numpy.linalg")),
            Type::new(Kind::Conflict(Type::int(), pair)),
            Type::new(Kind::Builtin(crate::ops::id::EXCEPTION_CLASS)),
            Type::new(Kind::Method(crate::ops::id::ADD, pair)),
            Type::list(Type::optional(pair)),
            Type::new(Kind::Variant(vec![plain, Type::new(Kind::MaybeUndef(pair))])),
            Type::new(Kind::Slice([pair, plain, Type::none()])),
            Type::iter(IterType::Zip(vec![Type::iter(IterType::Reversed(Type::list(pair)))])),
        ];
        for t in kinds {
            assert_eq!(exact(&format!("{t:#}")), Ok(t), "{t:#}");
            assert_eq!(parse(&t.to_string()).ok().filter(|got| *got != t), None, "{t}");
        }
        assert!(exact("class(\"nobody\")").is_err());
        assert!(parse(&format!("{plain:#}")).is_err(), "numbers are for texts of ours");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "int65",
            "array(float64, 2d)",
            "tuple(int",
            "int64 int64",
            "function(f)",
            "list()",
            "array(float64, 300d, C)",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
