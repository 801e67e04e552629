//! Reads what [`super::text`] prints: `parse(print(t)) == t` for every type that needs no Python class or
//! function to be named.
//!
//! `boolean`, `intp`, `void`, `float32x`-like spellings of Numba are the Python package's business, not this
//! grammar's.

use super::{Access, ArrayType, Float, Int, IterType, Kind, Layout, Type};

struct Parser<'a> {
    text: &'a str,
    at: usize,
}
type Res<T> = Result<T, String>;

/// The type that prints as `text`.
pub fn parse(text: &str) -> Res<Type> {
    let mut p = Parser { text, at: 0 };
    let t = p.ty()?;
    p.space();
    if p.at == text.len() { Ok(t) } else { Err(p.error("the end")) }
}

fn scalar(name: &str) -> Option<Type> {
    Some(match name {
        "never" => Type::never(),
        "unbound" => Type::undef(),
        "none" => Type::none(),
        "ellipsis" => Type::new(Kind::Ellipsis),
        "bool" => Type::bool(),
        "str" => Type::str(),
        "int" => Type::int(),
        "float" => Type::float(),
        "complex" => Type::complex(),
        "float32" => Type::float_of(Float::F32),
        "float64" => Type::f64(),
        "complex64" => Type::new(Kind::Complex(Float::F32)),
        "complex128" => Type::new(Kind::Complex(Float::F64)),
        "exception" => Type::new(Kind::Exception),
        "Generator" => Type::new(Kind::Random),
        "range" => Type::new(Kind::Range(None)),
        "range_iter" => Type::iter(IterType::Range(None)),
        "str_iter" => Type::iter(IterType::Str),
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
    fn one(&mut self) -> Res<Type> {
        let t = self.ty()?;
        self.expect(")")?;
        Ok(t)
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

    fn ty(&mut self) -> Res<Type> {
        if self.eat("?") {
            return u32::try_from(self.number()?).map(Type::var).map_err(|_| self.error("a number"));
        }
        let start = self.at;
        let name = self.word().to_string();
        if name == "unbound" && self.eat("?(") {
            return self.one().map(|t| Type::new(Kind::MaybeUndef(t)));
        }
        let table_path = |name: &str| {
            crate::ops::OpId::find(name).ok_or_else(|| format!("no operation is called {name:?}"))
        };
        if !self.eat("(") {
            if let Some(t) = scalar(&name) {
                return Ok(t);
            }
            if name.contains('.') {
                return table_path(&name).map(|p| Type::new(Kind::Builtin(p)));
            }
            self.at = start;
            return Err(self.error("a type"));
        }
        let iter = |i: IterType| Ok(Type::iter(i));
        match name.as_str() {
            "optional" => self.one().map(|t| Type::new(Kind::Optional(t))),
            "tuple" => self.list().map(Type::tuple),
            "variant" => self.list().map(|m| Type::new(Kind::Variant(m))),
            "array" => self.array(),
            "list" => self.one().map(Type::list),
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
            "range_iter" => self.step().and_then(|n| iter(IterType::Range(Some(n)))),
            "array_iter" => self.one().and_then(|t| iter(IterType::Array(t))),
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
            Type::list(Type::list(a)),
            Type::optional(Type::int()),
            Type::new(Kind::MaybeUndef(Type::bool())),
            Type::list(Type::var(3)),
            Type::new(Kind::Range(Some(-2))),
            Type::new(Kind::Range(None)),
            Type::new(Kind::Slice([Type::int(), Type::none(), Type::none()])),
            Type::new(Kind::DType(Type::f64())),
            Type::iter(IterType::NdIndex(3)),
            Type::iter(IterType::Zip(vec![
                Type::iter(IterType::Enumerate(Type::iter(IterType::Array(a)))),
                Type::iter(IterType::Range(Some(1))),
            ])),
            Type::iter(IterType::Flat(a)),
            Type::iter(IterType::Str),
            Type::iter(IterType::Reversed(Type::list(Type::int()))),
        ];
        for t in kinds {
            assert_eq!(parse(&t.to_string()), Ok(t), "{t}");
        }
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
