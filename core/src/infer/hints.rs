//! What an error message suggests: the name that was meant, what to use instead. Texts only; nothing here
//! decides what is compiled.

use crate::ops;

/// The known name that a misspelt one is closest to, if one is close.
pub(crate) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + name.len() / 4;
    known
        .filter(|k| !k.starts_with('_'))
        .map(|k| (distance(name, k), k))
        .filter(|(d, k)| *d <= limit && *d < k.len().min(name.len()))
        .min()
        .map(|(_, k)| k)
}

/// [`closest`] among the rows of the table that stand under a prefix: attributes of a module or class.
pub(crate) fn closest_row(prefix: &str, name: &str) -> Option<&'static str> {
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
pub(crate) fn instead_of(path: &str) -> Option<&'static str> {
    Some(match path {
        "input" => "read and write outside, and pass what was read",
        "eval" | "exec" | "compile" => "write the code out, or pass a function",
        "float16" | "half" => "there are no numbers of 16 bits with a fraction: use np.float32",
        "longdouble" | "clongdouble" => "floats have 32 or 64 bits: use np.float64 or np.complex128",
        "RandomState" => {
            "make the generator outside with np.random.default_rng(seed), and pass it as an argument"
        }
        "memoryview" => {
            "bytes and bytearrays are indexed and cut as they are; np.frombuffer(b, dtype) has the numbers in bytes"
        }
        "super" => "use functions that take what the object holds",
        "numpy.random.default_rng" | "numpy.random.RandomState" => {
            "make the generator outside with np.random.default_rng(seed), and pass it as an argument"
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
