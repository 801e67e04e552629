//! What an error says where an operation does not take its operands: their types as users know them, how the
//! operation is spelt, and a way out. Texts only; nothing here decides what is compiled.

use super::cx::Arg;
use crate::diag::{Code, Diagnostic, Subject};
use crate::types::{Kind, Type};

/// "No version takes these types", without a place; inference adds it.
pub(crate) fn no_match(what: &str, args: &[Arg]) -> Diagnostic {
    no_match_named(what, args, &[])
}

/// [`no_match`] with arguments that were given by name.
pub(crate) fn no_match_named(what: &str, args: &[Arg], named: &[(std::sync::Arc<str>, Arg)]) -> Diagnostic {
    let spelt;
    let what = if what.starts_with("operator.") || what.starts_with("numpy.") && !what.ends_with(')') {
        spelt = spelling(what);
        &spelt
    } else {
        what
    };
    // A method of a universal function is that function's.
    let method;
    let (what, args) = match (what.strip_prefix("ufunc."), args) {
        (Some(name), [Arg { ty, .. }, rest @ ..]) if let Kind::Builtin(f) = **ty => {
            method = format!("{f}.{name}");
            (method.as_str(), rest)
        }
        _ => (what, args),
    };
    let by_name = named.iter().map(|(name, a)| format!("{name}={}", shown(a.ty)));
    let all: Vec<String> =
        [operands(what, args)].into_iter().filter(|t| !t.is_empty()).chain(by_name).collect();
    let d = Diagnostic::new(Code::NoMatchingOperation, format!("{what} does not take ({})", all.join(", ")))
        .generic(subject(what));
    match for_operands(what, args).or_else(|| for_named(named)) {
        Some(h) => d.help(h),
        None => d,
    }
}

/// A type as messages show it: what the user would call it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "some names are shortened for people: any other is shown as it is"
)]
pub(crate) fn shown(t: Type) -> String {
    match t.kind() {
        Kind::None => "None".into(),
        Kind::Builtin(path) => path.name().trim_start_matches("builtins.").into(),
        _ => t.to_string().replace("(none", "(None").replace(", none", ", None"),
    }
}

/// The operands of a message; parameters at the end that were left out are not shown.
pub(crate) fn operands(what: &str, args: &[Arg]) -> String {
    let given = if what.ends_with("()") {
        args.iter().rposition(|a| *a.ty != Kind::None).map_or(args.len().min(1), |k| k + 1)
    } else {
        args.len()
    };
    args[..given].iter().map(|a| shown(a.ty)).collect::<Vec<_>>().join(", ")
}

/// Operators that are written as signs.
const SIGNS: [(&str, &str); 20] = [
    ("operator.add", "+"),
    ("operator.sub", "-"),
    ("operator.mul", "*"),
    ("operator.truediv", "/"),
    ("operator.floordiv", "//"),
    ("operator.mod", "%"),
    ("operator.pow", "**"),
    ("operator.matmul", "@"),
    ("operator.and_", "&"),
    ("operator.or_", "|"),
    ("operator.xor", "^"),
    ("operator.lshift", "<<"),
    ("operator.rshift", ">>"),
    ("operator.eq", "=="),
    ("operator.ne", "!="),
    ("operator.lt", "<"),
    ("operator.le", "<="),
    ("operator.gt", ">"),
    ("operator.ge", ">="),
    ("operator.invert", "~"),
];

/// What a message speaks of that begins with this: a path, or how it is written.
fn subject(what: &str) -> Subject {
    match SIGNS.iter().find(|(path, sign)| *path == what || *sign == what) {
        Some((_, "%")) => Subject::Percent,
        Some(_) => Subject::Sign,
        None => Subject::Name,
    }
}

/// What Python says of an augmented assignment where it says `said` of the operator behind it, which has this path.
pub(crate) fn augmented(said: &str, plain: &str) -> String {
    let sign = spelling(plain);
    let before = if sign == "**" { "** or pow()" } else { &sign };
    said.replace(&format!("operand type(s) for {before}: "), &format!("operand type(s) for {sign}=: "))
}

/// How a path is written in Python.
pub(crate) fn spelling(path: &str) -> String {
    if let Some((_, sign)) = SIGNS.iter().find(|(p, _)| *p == path) {
        return (*sign).into();
    }
    let words = match path {
        "operator.getitem" => "indexing",
        "operator.setitem" => "item assignment",
        "operator.delitem" => "item deletion",
        "operator.contains" => "in",
        "operator.neg" => "unary -",
        "operator.pos" => "unary +",
        "operator.truth" => "a truth test",
        "numpy.concat" => "numpy.concatenate()",
        _ => return format!("{}()", path.trim_start_matches("builtins.")),
    };
    words.into()
}

/// What a type is, for hints.
const TEXT: fn(Type) -> bool = |t| *t == Kind::Str;
const BYTES: fn(Type) -> bool = |t| *t == Kind::Bytes;
const ARRAY: fn(Type) -> bool = |t| t.as_array().is_some();
/// An array of floats or complex numbers.
const FRACTIONS: fn(Type) -> bool =
    |t| t.as_array().is_some_and(|a| a.dtype.is_complex() || a.dtype.is_float());

fn is(args: &[Arg], k: usize, test: fn(Type) -> bool) -> bool {
    args.get(k).is_some_and(|a| test(a.ty))
}

fn any(args: &[Arg], test: fn(Type) -> bool) -> bool {
    args.iter().any(|a| test(a.ty))
}

/// A way out where an operation does not take its operands.
pub(crate) fn for_operands(what: &str, args: &[Arg]) -> Option<&'static str> {
    if what.ends_with("()") { for_function(what, args) } else { for_operator(what, args) }
}

fn for_operator(what: &str, args: &[Arg]) -> Option<&'static str> {
    let is = |k: usize, test: fn(Type) -> bool| is(args, k, test);
    let any = |test: fn(Type) -> bool| any(args, test);
    match what {
        "+" if any(TEXT) && any(Type::is_number) => {
            Some("str(x) makes a string of a number, int(s) or float(s) a number of a string")
        }
        "%" if is(0, BYTES) => Some("format a text and encode it: f\"{x:.2f}\".encode()"),
        "+" | "<" | "<=" | ">" | ">=" if any(BYTES) && any(TEXT) => {
            Some("s.encode() has the bytes of a text, b.decode() the text that bytes are")
        }
        "item assignment" if is(0, BYTES) => Some("bytes cannot be changed; bytearray(b) can"),
        "%" if is(0, TEXT) => Some("format with an f-string: f\"{x:.2f}\""),
        "<" | "<=" | ">" | ">=" if any(Type::is_complex) => Some("compare abs(z), z.real or z.imag"),
        "indexing" if is(1, Type::is_float) => Some("an index is an int: a[int(i)]"),
        "@" if any(Type::is_number) => Some("@ multiplies matrices and vectors; use * for a number"),
        "&" | "|" | "^" | "<<" | ">>" | "~" if any(|t| FRACTIONS(t) || t.is_complex() || t.is_float()) => {
            Some(
                "only bools and integers have bits: compare first, (a > 0) & (b > 0), or convert with a.astype(np.int64)",
            )
        }
        "indexing" | "item assignment" if is(1, FRACTIONS) => {
            Some("an array of indices holds integers or bools: a[i.astype(np.int64)]")
        }
        "indexing" if is(1, ARRAY) && is(0, |t| t.is_sequence()) => {
            Some("only arrays are indexed by arrays: np.array(x)[i]")
        }
        "indexing" if is(1, TEXT) && is(0, ARRAY) => {
            Some("arrays with named fields are not compiled; pass one array for each field")
        }
        "item assignment" if is(0, |t| t.members().is_some()) => {
            Some("a tuple cannot be changed; use a list, or build a new tuple")
        }
        "item assignment" if is(0, TEXT) => Some("a string cannot be changed; build a new one"),
        _ if any(TEXT) && any(ARRAY) => Some("arrays hold numbers: int(s) or float(s) makes one of a string"),
        _ if any(|t| *t == Kind::None) => Some("test for None first: if x is not None"),
        _ => None,
    }
}

fn for_function(what: &str, args: &[Arg]) -> Option<&'static str> {
    let is = |k: usize, test: fn(Type) -> bool| is(args, k, test);
    let any = |test: fn(Type) -> bool| any(args, test);
    match what {
        "numpy.take()" | "array.take()" if is(1, Type::is_float) || is(1, FRACTIONS) => {
            Some("what is taken is said by integers: np.take(a, int(i)), or i.astype(np.int64) of an array")
        }
        "numpy.where()"
        | "numpy.clip()"
        | "numpy.select()"
        | "numpy.add()"
        | "numpy.subtract()"
        | "numpy.multiply()"
        | "numpy.divide()"
        | "numpy.maximum()"
        | "numpy.minimum()"
        | "numpy.dot()"
        | "numpy.inner()"
        | "numpy.matmul()"
        | "array.dot()"
        | "numpy.full()"
        | "numpy.arange()"
        | "numpy.linspace()"
        | "numpy.searchsorted()"
        | "array.searchsorted()"
        | "numpy.sqrt()"
        | "numpy.exp()"
        | "numpy.log()"
            if any(TEXT) =>
        {
            Some("arrays hold numbers: int(s) or float(s) makes one of a string")
        }
        "numpy.matmul()" if any(Type::is_number) => {
            Some("matmul multiplies matrices and vectors; use * for a number")
        }
        "array.sort()" | "numpy.sort()" | "array.argsort()" | "numpy.argsort()" => {
            Some("the arguments are a, axis=-1, kind=None, where a kind is a string: \"stable\"")
        }
        "numpy.random.shuffle()" | "random.shuffle()" | "numpy.random.Generator.shuffle()" => Some(
            "what is shuffled is a list or an array, in place; np.random.permutation(n) gives shuffled integers",
        ),
        "random.choice()" | "random.sample()" => {
            Some("what is chosen from is a list, a tuple, a string or a range")
        }
        "random.randint()" | "random.randrange()" if any(Type::is_float) => {
            Some("the ends are integers: int(x)")
        }
        "int()" | "float()" | "complex()" | "range()" if is(0, ARRAY) => {
            Some("that takes one number: an element, a[0], or a.item() of an array of one element")
        }
        "numpy.concatenate()"
        | "numpy.stack()"
        | "numpy.block()"
        | "numpy.vstack()"
        | "numpy.hstack()"
        | "numpy.dstack()"
        | "numpy.column_stack()"
            if is(0, ARRAY) =>
        {
            Some("what is joined is given in a tuple or a list: (a, b)")
        }
        "array.reshape()" | "numpy.reshape()" => Some(
            "a shape is integers or a tuple of them: how many dimensions there are must be known when the function is compiled",
        ),
        "array.astype()" | "array.view()" => {
            Some("pass np.float64, np.int32, ... or a constant string such as \"float32\"")
        }
        "range()" if any(Type::is_float) => Some("range() takes ints: range(int(n))"),
        _ => None,
    }
}

/// A way out where it is an argument given by name that an operation does not take.
pub(crate) fn for_named(named: &[(std::sync::Arc<str>, Arg)]) -> Option<&'static str> {
    named.iter().find_map(|(name, a)| match &**name {
        "axis" if !a.ty.is_int() && *a.ty != Kind::None => {
            Some("an axis is an integer, for some functions also a tuple of integers or None")
        }
        "dtype" => Some("pass np.float64, np.int32, ... or a constant string such as \"float32\""),
        "out" if a.ty.as_array().is_none() => Some("out is an array of the result's shape and type"),
        _ => None,
    })
}
