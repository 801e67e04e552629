//! What a decorator declares of a function, its signatures above all, and how a call chooses among them: the
//! one rule for calls from Python and from compiled code.
//!
//! ```python
//! @njit(["float32(float32)", "float64(float64)"])
//! def f(x): ...
//! ```
//!
//! The choice is Numba's: of the signatures that take the arguments the one that needs the fewest unsafe
//! conversions, then the fewest safe ones, then the fewest promotions. Two that are equally good are an
//! error, which lists them. What is chosen takes its arguments converted, member by member, and its result is
//! converted to the type that the signature names (`infer::session`), so that a caller sees no difference
//! between a function and its declaration.

use crate::types::record::{has_fields_of, lie_alike};
use crate::types::{Access, Container, Float, Int, Kind, Layout, Type, promote};

/// Argument types, and what the result is converted to where that is said.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    pub args: Vec<Type>,
    pub ret: Option<Type>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    pub signatures: Vec<Signature>,
    /// Other argument types are compiled for as well; a signature is then for exactly its own.
    pub open: bool,
    /// Numbers become ones of their own kind or a wider one, as ctypes has it: no float an integer. For
    /// functions that are made for C.
    pub careful: bool,
}

/// Nothing is declared.
impl Default for Declared {
    fn default() -> Declared {
        Declared { signatures: vec![], open: true, careful: false }
    }
}

/// What it takes to give a value as one of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conversion {
    Exact,
    Promotion,
    Safe,
    Unsafe,
}

/// The outcome of a call's choice: positions among the signatures.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    One(usize),
    Several(Vec<usize>),
    Nothing,
}

/// Numba's conversions between numbers, in the order of [`place`]: to the type in the column. `=` exact, `p`
/// promotion, `s` safe, `u` unsafe, `-` none.
const NUMBERS: [&[u8; 13]; 13] = [
    b"=ssssssssssss",
    b"u=pppuuuussss",
    b"uu=ppuuuussss",
    b"uuu=puuuuusus",
    b"uuuu=uuuuusus",
    b"uusss=pppssss",
    b"uuussu=ppusus",
    b"uuuusuu=pusus",
    b"uuuuuuuu=usus",
    b"uuuuuuuuu=pss",
    b"uuuuuuuuuu=us",
    b"-----------=p",
    b"-----------u=",
];

#[expect(clippy::wildcard_enum_match_arm, reason = "only numbers have a place among promotions")]
fn place(t: Type) -> Option<usize> {
    Some(match *t {
        Kind::Bool => 0,
        Kind::Int(i) => match i {
            Int::I8 => 1,
            Int::I16 => 2,
            Int::I32 => 3,
            Int::I64 | Int::Py => 4,
            Int::U8 => 5,
            Int::U16 => 6,
            Int::U32 => 7,
            Int::U64 | Int::Big => 8,
        },
        // What one of 16 bits becomes one of 32 does.
        Kind::Float(Float::F16 | Float::F32) => 9,
        Kind::Float(Float::F64 | Float::Py) => 10,
        Kind::Complex(Float::F32) => 11,
        Kind::Complex(Float::F64 | Float::Py) => 12,
        _ => return None,
    })
}

/// How a value of type `from` becomes one of type `to`; none where it does not. Lists keep their elements,
/// since several may hold the same list.
pub fn conversion(from: Type, to: Type) -> Option<Conversion> {
    use Conversion::{Exact, Promotion, Safe};
    if from == to || *from == Kind::Never {
        return Some(Exact);
    }
    if let (Some(a), Some(b)) = (place(from), place(to)) {
        if a == b && from.strong() != to.strong() {
            // Floats of 16 and of 32 bits.
            return Some(if *to == Kind::Float(Float::F16) { Conversion::Unsafe } else { Promotion });
        }
        return match NUMBERS[a][b] {
            b'=' => Some(Exact),
            b'p' => Some(Promotion),
            b's' => Some(Safe),
            b'u' => Some(Conversion::Unsafe),
            _ => None,
        };
    }
    match (from.kind(), to.kind()) {
        (Kind::Optional(a), Kind::Optional(b)) => conversion(*a, *b),
        (Kind::None, Kind::Optional(_)) => Some(Promotion),
        (Kind::Optional(a), _) => conversion(*a, to).map(|c| c.max(Safe)),
        (_, Kind::Optional(b)) => conversion(from, *b).map(|c| c.max(Promotion)),
        (Kind::Tuple(a), Kind::Tuple(b)) => members(a, b),
        (Kind::NamedTuple(c, a), Kind::NamedTuple(d, b)) if c == d => members(a, b),
        (Kind::Slice(a), Kind::Slice(b)) => members(a, b),
        (Kind::Array(a), Kind::Array(b)) if lie_alike(a.dtype, b.dtype) && a.ndim == b.ndim => {
            let access = a.access == b.access || b.access == Access::Either || a.access == Access::Write;
            let layout = a.layout == b.layout || b.layout == Layout::A || a.ndim == 0;
            (access && layout).then_some(Safe)
        }
        (Kind::Array(a), Kind::Array(b)) if a.ndim == 0 && b.ndim == 0 && has_fields_of(a.dtype, b.dtype) => {
            (a.access == b.access || b.access == Access::Either || a.access == Access::Write).then_some(Safe)
        }
        // An empty list is one of anything.
        (Kind::List(a), Kind::List(b)) => {
            (**a == Kind::Never || promote::same_but_weak(*a, *b)).then_some(Exact)
        }
        (Kind::Container(c, a), Kind::Container(d, b)) if c == d => {
            let held = |(x, y): (&Type, &Type)| **x == Kind::Never || promote::same_but_weak(*x, *y);
            a.iter().zip(b).all(held).then_some(Exact)
        }
        (Kind::Tuple(m), Kind::Container(Container::Tuple, to)) => {
            let held = |x: &Type| **x == Kind::Never || promote::same_but_weak(*x, to[0]);
            m.iter().all(held).then_some(Promotion)
        }
        (Kind::Variant(m), _) if to.is_number() && m.iter().all(|t| t.is_number()) => {
            members(m, &vec![to; m.len()])
        }
        _ => None,
    }
}

fn members(a: &[Type], b: &[Type]) -> Option<Conversion> {
    if a.len() != b.len() {
        return None;
    }
    a.iter().zip(b).try_fold(Conversion::Exact, |worst, (x, y)| conversion(*x, *y).map(|c| c.max(worst)))
}

/// Whether a number becomes one of the same kind or a wider one: bool, integer, float, complex.
#[expect(clippy::wildcard_enum_match_arm, reason = "only numbers have kinds in this sense")]
fn keeps_kind(from: Type, to: Type) -> bool {
    let rank = |t: Type| match *t {
        Kind::Bool => Some(0),
        Kind::Int(_) => Some(1),
        Kind::Float(_) => Some(2),
        Kind::Complex(_) => Some(3),
        _ => None,
    };
    match (rank(from), rank(to)) {
        (Some(a), Some(b)) => a <= b,
        _ => true,
    }
}

/// The type of the result of a function that gives `from` and declares `to`; none where the two do not go
/// together. An array's layout stays its own where the one that is declared would have to be looked for.
pub(crate) fn result(from: Type, to: Type) -> Option<Type> {
    if conversion(from, to).is_some() {
        return Some(to);
    }
    match (from.kind(), to.kind()) {
        (Kind::Array(a), Kind::Array(b)) if a.dtype == b.dtype && a.ndim == b.ndim => Some(from),
        (Kind::Tuple(a), Kind::Tuple(b)) if a.len() == b.len() => {
            a.iter().zip(b).map(|(x, y)| result(*x, *y)).collect::<Option<Vec<_>>>().map(Type::tuple)
        }
        (Kind::Optional(a), Kind::Optional(b)) => result(*a, *b).map(Type::optional),
        (_, Kind::Optional(b)) => result(from, *b).map(Type::optional),
        _ => None,
    }
}

impl Declared {
    /// Which signature a call with arguments of these types is for.
    pub fn choose(&self, args: &[Type]) -> Choice {
        let (mut best, mut found): (_, Vec<usize>) = ([usize::MAX; 3], vec![]);
        for (k, s) in self.signatures.iter().enumerate() {
            let Some(rating) = self.rate(args, &s.args) else { continue };
            if rating < best {
                (best, found) = (rating, vec![]);
            }
            if rating == best {
                found.push(k);
            }
        }
        match found.len() {
            0 => Choice::Nothing,
            1 => Choice::One(found[0]),
            _ => Choice::Several(found),
        }
    }

    /// How many arguments need an unsafe conversion, a safe one, a promotion.
    fn rate(&self, args: &[Type], to: &[Type]) -> Option<[usize; 3]> {
        if args.len() != to.len() {
            return None;
        }
        let mut counts = [0; 3];
        for (a, t) in args.iter().zip(to) {
            match conversion(*a, *t)? {
                Conversion::Exact => {}
                _ if self.open || self.careful && !keeps_kind(*a, *t) => return None,
                Conversion::Unsafe => counts[0] += 1,
                Conversion::Safe => counts[1] += 1,
                Conversion::Promotion => counts[2] += 1,
            }
        }
        Some(counts)
    }

    /// The declared result for exactly these argument types.
    pub(crate) fn ret(&self, args: &[Type]) -> Option<Type> {
        self.signatures.iter().find(|s| s.args == args).and_then(|s| s.ret)
    }

    /// "No matching definition" or "Ambiguous overloading" for a call of the function `name`, as Numba has
    /// it, with what there is.
    pub fn refusal(&self, name: &str, args: &[Type], several: &[usize]) -> String {
        let list =
            |k: &[usize]| k.iter().map(|k| shown(&self.signatures[*k].args)).collect::<Vec<_>>().join(", ");
        let all: Vec<usize> = (0..self.signatures.len()).collect();
        if several.is_empty() {
            let careful = if self.careful { ", takes no number for one of a narrower kind," } else { "" };
            let given = args.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
            let known =
                if all.is_empty() { "has no signature".into() } else { format!("declares {}", list(&all)) };
            return format!(
                "No matching definition for argument type(s) {given}: {name}() {known}{careful} and may not compile more"
            );
        }
        format!("Ambiguous overloading for {name}() with {}: equally good are {}", shown(args), list(several))
    }
}

fn shown(types: &[Type]) -> String {
    format!("({})", types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(text: &str) -> Type {
        crate::types::parse::parse(text).unwrap()
    }
    fn declared(all: &[&str]) -> Declared {
        Declared {
            signatures: all
                .iter()
                .map(|s| Signature { args: s.split(' ').map(t).collect(), ret: None })
                .collect(),
            open: false,
            careful: false,
        }
    }
    fn choose(d: &Declared, args: &str) -> Choice {
        d.choose(&args.split(' ').map(t).collect::<Vec<_>>())
    }

    #[test]
    fn the_signature_that_needs_least_is_chosen() {
        let d = declared(&["float32 float32", "float64 float64"]);
        assert_eq!(choose(&d, "int float"), Choice::One(1));
        assert_eq!(choose(&d, "float32 float32"), Choice::One(0));
        assert_eq!(choose(&d, "float32 str"), Choice::Nothing);
        let d = declared(&["int32", "float32"]);
        assert_eq!(choose(&d, "float64"), Choice::Several(vec![0, 1]));
        assert_eq!(choose(&d, "int8"), Choice::One(0));
    }

    #[test]
    fn an_open_declaration_takes_its_own_types_alone() {
        let d = Declared { open: true, ..declared(&["int64"]) };
        assert_eq!((choose(&d, "int"), choose(&d, "float")), (Choice::One(0), Choice::Nothing));
        let d = Declared { careful: true, ..declared(&["int64"]) };
        assert_eq!((choose(&d, "uint64"), choose(&d, "float")), (Choice::One(0), Choice::Nothing));
    }

    #[test]
    fn members_are_converted_one_by_one() {
        assert_eq!(conversion(t("tuple(int, float)"), t("tuple(float64, float64)")), Some(Conversion::Safe));
        assert_eq!(conversion(t("tuple(float, int)"), t("tuple(int64, int64)")), Some(Conversion::Unsafe));
        assert_eq!(conversion(t("none"), t("optional(int64)")), Some(Conversion::Promotion));
        assert_eq!(conversion(t("optional(int64)"), t("int64")), Some(Conversion::Safe));
        assert_eq!(conversion(t("array(float64, 1d, C, readonly)"), t("array(float64, 1d, A)")), None);
        assert_eq!(
            conversion(t("array(float64, 1d, C)"), t("array(float64, 1d, A)")),
            Some(Conversion::Safe)
        );
        assert_eq!(conversion(t("list(int)"), t("list(float64)")), None);
    }
}
