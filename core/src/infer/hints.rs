//! What an error message suggests: the name that was meant, the operation that would do. Texts only; nothing
//! here decides what is compiled.

use super::cx::Arg;
use crate::ops;
use crate::types::{Kind, Type};

/// A type as messages show it: what the user would call it.
pub fn shown(t: Type) -> String {
    match t.kind() {
        Kind::None => "None".into(),
        Kind::Builtin(path) => path.name().trim_start_matches("builtins.").into(),
        _ => t.to_string().replace("(none", "(None").replace(", none", ", None"),
    }
}

/// The operands of a message; parameters at the end that were left out are not shown.
pub fn operands(what: &str, args: &[Arg]) -> String {
    let given = if what.ends_with("()") {
        args.iter().rposition(|a| *a.ty != Kind::None).map_or(args.len().min(1), |k| k + 1)
    } else {
        args.len()
    };
    args[..given].iter().map(|a| shown(a.ty)).collect::<Vec<_>>().join(", ")
}

/// How a path is written in Python.
pub fn spelling(path: &str) -> String {
    let symbol = match path {
        "operator.add" => "+",
        "operator.sub" => "-",
        "operator.mul" => "*",
        "operator.truediv" => "/",
        "operator.floordiv" => "//",
        "operator.mod" => "%",
        "operator.pow" => "**",
        "operator.matmul" => "@",
        "operator.and_" => "&",
        "operator.or_" => "|",
        "operator.xor" => "^",
        "operator.lshift" => "<<",
        "operator.rshift" => ">>",
        "operator.eq" => "==",
        "operator.ne" => "!=",
        "operator.lt" => "<",
        "operator.le" => "<=",
        "operator.gt" => ">",
        "operator.ge" => ">=",
        "operator.getitem" => "indexing",
        "operator.setitem" => "item assignment",
        "operator.delitem" => "item deletion",
        "operator.contains" => "in",
        "operator.neg" => "unary -",
        "operator.pos" => "unary +",
        "operator.invert" => "~",
        "operator.truth" => "a truth test",
        "numpy.concat" => "numpy.concatenate()",
        _ => return format!("{}()", path.trim_start_matches("builtins.")),
    };
    symbol.into()
}

/// A way out where an operation does not take its operands.
pub fn for_operands(what: &str, args: &[Arg]) -> Option<&'static str> {
    let is = |k: usize, test: fn(Type) -> bool| args.get(k).is_some_and(|a| test(a.ty));
    let any = |test: fn(Type) -> bool| args.iter().any(|a| test(a.ty));
    let (text, none, float) =
        (|t: Type| *t == Kind::Str, |t: Type| *t == Kind::None, |t: Type| matches!(*t, Kind::Float(_)));
    let tuple = |t: Type| matches!(*t, Kind::Tuple(_) | Kind::NamedTuple(..));
    let array = |t: Type| t.as_array().is_some();
    let fraction = |t: Type| {
        let e = t.as_array().map_or(t, |a| a.dtype);
        e.is_complex() || matches!(*e, Kind::Float(_))
    };
    let fractions =
        |t: Type| t.as_array().is_some_and(|a| a.dtype.is_complex() || matches!(*a.dtype, Kind::Float(_)));
    match what {
        "+" if any(text) && any(Type::is_number) => {
            Some("str(x) makes a string of a number, int(s) or float(s) a number of a string")
        }
        "%" if is(0, text) => Some("format with an f-string: f\"{x:.2f}\""),
        "<" | "<=" | ">" | ">=" if any(|t| matches!(*t, Kind::Complex(_))) => {
            Some("compare abs(z), z.real or z.imag")
        }
        "indexing" if is(1, float) => Some("an index is an int: a[int(i)]"),
        "@" if any(Type::is_number) => Some("@ multiplies matrices and vectors; use * for a number"),
        "&" | "|" | "^" | "<<" | ">>" | "~" if any(fraction) => Some(
            "only bools and integers have bits: compare first, (a > 0) & (b > 0), or convert with a.astype(np.int64)",
        ),
        "indexing" | "item assignment" if is(1, fractions) => {
            Some("an array of indices holds integers or bools: a[i.astype(np.int64)]")
        }
        "indexing" if is(1, array) && is(0, |t| t.is_sequence()) => {
            Some("only arrays are indexed by arrays: np.array(x)[i]")
        }
        "numpy.take()" | "array.take()" if is(1, float) || is(1, fractions) => {
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
            if any(text) =>
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
        "random.randint()" | "random.randrange()" if any(float) => Some("the ends are integers: int(x)"),
        "int()" | "float()" | "complex()" | "range()" if is(0, array) => {
            Some("that takes one number: an element, a[0], or a.item() of an array of one element")
        }
        "numpy.concatenate()"
        | "numpy.stack()"
        | "numpy.block()"
        | "numpy.vstack()"
        | "numpy.hstack()"
        | "numpy.dstack()"
        | "numpy.column_stack()"
            if is(0, array) =>
        {
            Some("what is joined is given in a tuple or a list: (a, b)")
        }
        "array.reshape()" | "numpy.reshape()" => Some(
            "a shape is integers or a tuple of them: how many dimensions there are must be known when the function is compiled",
        ),
        "array.astype()" | "array.view()" => {
            Some("pass np.float64, np.int32, ... or a constant string such as \"float32\"")
        }
        "indexing" if is(1, text) && is(0, |t| t.as_array().is_some()) => {
            Some("arrays with named fields are not compiled; pass one array for each field")
        }
        "item assignment" if is(0, tuple) => {
            Some("a tuple cannot be changed; use a list, or build a new tuple")
        }
        "item assignment" if is(0, text) => Some("a string cannot be changed; build a new one"),
        "range()" if any(float) => Some("range() takes ints: range(int(n))"),
        _ if any(text) && any(array) && !what.ends_with("()") => {
            Some("arrays hold numbers: int(s) or float(s) makes one of a string")
        }
        _ if any(none) && !what.ends_with("()") => Some("test for None first: if x is not None"),
        _ => None,
    }
}

/// A way out where it is an argument given by name that an operation does not take.
pub fn for_named(named: &[(std::sync::Arc<str>, Arg)]) -> Option<&'static str> {
    named.iter().find_map(|(name, a)| match &**name {
        "axis" if !a.ty.is_int() && *a.ty != Kind::None => {
            Some("an axis is an integer, for some functions also a tuple of integers or None")
        }
        "dtype" => Some("pass np.float64, np.int32, ... or a constant string such as \"float32\""),
        "out" if a.ty.as_array().is_none() => Some("out is an array of the result's shape and type"),
        _ => None,
    })
}

/// The known name that a misspelt one is closest to, if one is close.
pub fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + name.len() / 4;
    known
        .filter(|k| !k.starts_with('_'))
        .map(|k| (distance(name, k), k))
        .filter(|(d, k)| *d <= limit && *d < k.len().min(name.len()))
        .min()
        .map(|(_, k)| k)
}

/// [`closest`] among the rows of the table that stand under a prefix: attributes of a module or class.
pub fn closest_row(prefix: &str, name: &str) -> Option<&'static str> {
    let members = ops::all()
        .filter_map(|p| p.name().strip_prefix(prefix)?.strip_prefix('.'))
        .filter(|rest| !rest.contains('.'));
    closest(name, members)
}

/// Edit distance, two neighbours that changed places counting once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let mut best = (rows[i - 1][j] + 1)
                .min(row[j - 1] + 1)
                .min(rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// What to use instead of a construct or function that is not compiled.
pub fn instead_of(path: &str) -> Option<&'static str> {
    Some(match path {
        "dict.build" | "dict" => {
            "use a named tuple, or two lists or arrays for keys and values; @jit instead of @njit runs the function in Python"
        }
        "set.build" | "set" | "frozenset" => {
            "use a sorted array or np.unique; @jit instead of @njit runs the function in Python"
        }
        "open" | "input" => "read and write outside, and pass what was read",
        "eval" | "exec" | "compile" => "write the code out, or pass a function",
        "float16" | "half" => "there are no numbers of 16 bits with a fraction: use np.float32",
        "longdouble" | "clongdouble" => "floats have 32 or 64 bits: use np.float64 or np.complex128",
        "RandomState" => {
            "make the generator outside with np.random.default_rng(seed), and pass it as an argument"
        }
        "super" => "use functions that take what the object holds",
        "str.format" => "use an f-string: f\"{x:.2f}\"",
        "numpy.random.default_rng" | "numpy.random.RandomState" => {
            "make the generator outside with np.random.default_rng(seed), and pass it as an argument"
        }
        "numpy.random.bytes" => {
            "there are no bytes in compiled code: np.random.randint(0, 2**32, (n + 3) // 4, dtype=np.uint32).view(np.uint8)[:n] is an array of the same ones"
        }
        "numpy.random.Generator.bytes" => {
            "there are no bytes in compiled code: g.integers(0, 2**32, (n + 3) // 4, dtype=np.uint32).view(np.uint8)[:n] is an array of the same ones"
        }
        "random.randbytes" => {
            "there are no bytes in compiled code: [random.getrandbits(8) for _ in range(n)] is a list of random ones"
        }
        "numpy.random.get_state" | "numpy.random.set_state" | "random.getstate" | "random.setstate" => {
            "compiled code has streams of its own, which np.random.seed(n) and random.seed(n) begin; a Generator that is passed keeps its state in Python"
        }
        p if p.starts_with("random.") || p.starts_with("numpy.random.") => {
            "make the numbers outside, and pass them as an array"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_recognised() {
        assert_eq!(closest_row("numpy", "arrange"), Some("arange"));
        assert_eq!(closest_row("math", "sqr"), Some("sqrt"));
        assert_eq!(closest_row("array", "sums"), Some("sum"));
        assert_eq!(closest_row("array", "hsape"), Some("shape"));
        assert_eq!(closest_row("numpy", "qwertyuiop"), None);
        assert_eq!(closest("x", ["y"].into_iter()), None);
    }
}
