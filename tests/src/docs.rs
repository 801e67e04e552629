//! Generated documentation: `docs/lir.md` from the instruction table, tables of pages of `docs/reference/`
//! from that of operations. A test compares; `TIERUP_BLESS=1` writes. What can be read off the sources as
//! text is made by `scripts/generate_docs.py`.

use std::fmt::Write as _;

use tierup_core::lir::grid_op::{GridOp, GridShape};
use tierup_core::lir::text::spelling;
use tierup_core::lir::{Alias, Op, Shape, Ty};
use tierup_core::ops::OpId;

/// A generated file, relative to the root, and what it must contain.
pub const GENERATED: &[(&str, fn() -> String)] = &[
    ("docs/lir.md", lir),
    (LINALG, || with_tables(LINALG)),
    (FFT, || with_tables(FFT)),
    (SORTING, || with_tables(SORTING)),
    (RANDOM, || with_tables(RANDOM)),
    (NUMPY, || with_tables(NUMPY)),
    (PYTHON, || with_tables(PYTHON)),
    (INTERCHANGE, || with_tables(INTERCHANGE)),
];

fn title(shape: Shape) -> &'static str {
    match shape {
        Shape::IntBinary => "Integers, two operands",
        Shape::IntUnary => "Integers, one operand",
        Shape::IntCompare => "Comparisons of integers and pointers",
        Shape::FloatBinary => "Floats, two operands",
        Shape::FloatTernary => "Floats, three operands",
        Shape::FloatUnary => "Floats, one operand",
        Shape::FloatCompare => "Comparisons of floats",
        Shape::IntToWiderInt => "Wider integers",
        Shape::IntToNarrowerInt => "Narrower integers",
        Shape::IntToFloat => "Integers to floats",
        Shape::FloatToInt => "Floats to integers",
        Shape::FloatToFloat => "Between floats",
        Shape::Bitcast => "Bits",
        Shape::PtrOffset => "Pointers",
        Shape::AnySelect => "Choice",
        Shape::Splat | Shape::Lanes | Shape::Lane | Shape::LaneTruth => "Vectors",
    }
}

/// The reference of LIR.
pub fn lir() -> String {
    let mut s = String::from(INTRODUCTION);
    let mut last = None;
    for &op in Op::ALL {
        if last != Some(title(op.shape())) {
            let _ = write!(
                s,
                "\n### {}\n\n| instruction | meaning | types |\n|---|---|---|\n",
                title(op.shape())
            );
            last = Some(title(op.shape()));
        }
        let mut types: Vec<String> = vec![];
        for (ty, args) in op.forms() {
            let text =
                if op.shape().suffix_is_result() { format!("{}→{ty}", args[0]) } else { ty.to_string() };
            if !types.contains(&text) {
                types.push(text);
            }
        }
        let _ = writeln!(s, "| `{}` | {} | {} |", spelling(op), op.doc().trim(), types.join(" "));
    }
    s.push_str(OTHERS);
    s.push_str(KERNELS);
    for &op in GridOp::ALL {
        let types: Vec<&str> =
            Ty::ALL.iter().filter(|t| op.operands(**t).is_ok()).map(|t| t.name()).collect();
        let types = if op.has_suffix() { types.join(" ") } else { String::new() };
        let _ = writeln!(s, "| `{}` | {} | {types} |", grid_spelling(op), op.doc().trim());
    }
    let classes: Vec<String> = Alias::ALL.iter().map(|a| format!("`{}`", a.name())).collect();
    let _ = writeln!(
        s,
        "\nAlias classes: {}.\nAccesses of different classes never touch the same memory.",
        classes.join(", ")
    );
    s
}

/// Pages with tables of operations, relative to the root.
const LINALG: &str = "docs/reference/linalg.md";
const FFT: &str = "docs/reference/fft.md";
const SORTING: &str = "docs/reference/sorting.md";
const RANDOM: &str = "docs/reference/random.md";
const NUMPY: &str = "docs/reference/numpy.md";
const PYTHON: &str = "docs/reference/python.md";
const INTERCHANGE: &str = "docs/reference/interchange.md";

/// Which paths a table or a list of names shows.
type Belongs = fn(&str) -> bool;

/// Tables of those pages: the name of each, and which paths belong in it.
const TABLES: &[(&str, Belongs)] = &[
    ("products", is_product),
    ("linalg", |p| p.starts_with(LINALG_PATH)),
    ("fft", |p| p.starts_with(FFT_PATH)),
    ("sorting", sorts),
    ("legacy", |p| p.starts_with(RANDOM_PATH) && !p.starts_with(GENERATOR)),
    ("generator", |p| p.starts_with(GENERATOR)),
    ("python", |p| p.starts_with("random.")),
    ("numpy", |p| {
        p.starts_with("numpy.")
            && !p.starts_with(LINALG_PATH)
            && !p.starts_with(FFT_PATH)
            && !p.starts_with(RANDOM_PATH)
            && !is_product(p)
            && !sorts(p)
            && !is_class(p)
    }),
    ("array", |p| p.starts_with("array.") && !sorts(p)),
    ("heapq", |p| p.starts_with("heapq.")),
    ("bisect", |p| p.starts_with("bisect.")),
    ("itertools", |p| p.starts_with("itertools.") || p.starts_with("chain.")),
    ("par", |p| p.starts_with("tierup.par.")),
    ("statistics", |p| p.starts_with("statistics.")),
    ("struct", |p| p.starts_with("struct.") || is_hexadecimal(p)),
    ("interchange", |p| {
        let modules = ["json.", "csv.", "zlib.", "hashlib.", "binascii."];
        modules.iter().any(|m| p.starts_with(m)) && !is_hexadecimal(p)
    }),
    ("re", |p| p.starts_with("re.")),
    ("math", |p| p.starts_with("math.")),
    ("cmath", |p| p.starts_with("cmath.")),
];

/// Lists of names: what Python's own documentation describes.
const NAMES: &[(&str, Belongs)] = &[
    ("builtins", |p| p.starts_with("builtins.")),
    ("str", |p| p.starts_with("str.")),
    ("bytes", |p| p.starts_with("bytes.")),
    ("bytearray", |p| {
        p.strip_prefix("bytearray.").is_some_and(|n| OpId::find(&format!("bytes.{n}")).is_none())
    }),
    ("list", |p| p.starts_with("list.")),
    ("dict", |p| p.starts_with("dict.")),
    ("set", |p| p.starts_with("set.")),
    ("frozenset", |p| p.starts_with("frozenset.")),
    ("deque", |p| p.starts_with("deque.")),
    ("tuple", |p| p.starts_with("tuple.")),
    ("operator", |p| p.starts_with("operator.")),
    ("others", |p| p.starts_with("time.") || p.starts_with("functools.")),
    ("datetime", |p| p.starts_with("datetime.") && !p.contains("timezone")),
    ("classes", is_class),
];
const GENERATOR: &str = "numpy.random.Generator.";
const LINALG_PATH: &str = "numpy.linalg.";
const FFT_PATH: &str = "numpy.fft.";
const RANDOM_PATH: &str = "numpy.random.";

/// Paths whose first row takes a special case: the one with the most parameters says what they do.
const SPECIAL_FIRST: &[&str] = &[
    "numpy.array",
    "numpy.asarray",
    "numpy.asanyarray",
    "numpy.pow",
    "numpy.power",
    "array.flatten",
    "array.ravel",
    "math.gcd",
    "math.isqrt",
    "math.lcm",
];

fn is_hexadecimal(path: &str) -> bool {
    path.strip_prefix("binascii.").is_some_and(|f| f.contains("hex"))
}

fn is_product(path: &str) -> bool {
    path.strip_prefix("numpy.").is_some_and(|f| {
        [
            "dot",
            "matmul",
            "vdot",
            "inner",
            "outer",
            "kron",
            "einsum",
            "tensordot",
            "trace",
            "vecdot",
            "matvec",
            "vecmat",
            "cross",
        ]
        .contains(&f)
    })
}

fn sorts(path: &str) -> bool {
    path.strip_prefix("numpy.").or_else(|| path.strip_prefix("array.")).is_some_and(|n| {
        [
            "sort",
            "sort_complex",
            "argsort",
            "partition",
            "argpartition",
            "lexsort",
            "searchsorted",
            "digitize",
            "unique",
        ]
        .contains(&n)
    })
}

fn rows(path: &str) -> Vec<&'static tierup_core::ops::OpDef> {
    let all = OpId::find(path).map_or(&[][..], OpId::rows);
    all.iter().copied().filter(|row| !row.internal).collect()
}

/// Classes of NumPy's that mean something in `isinstance` alone.
fn is_class(path: &str) -> bool {
    path.starts_with("numpy.") && rows(path).iter().any(|r| r.doc == "A class for `isinstance`.")
}

/// The page as it stands, with its tables and lists made anew.
fn with_tables(page: &str) -> String {
    let mut text = std::fs::read_to_string(crate::root().join(page)).unwrap_or_default();
    let parts = TABLES.iter().map(|(n, b)| (n, b, table as fn(Belongs) -> String));
    let parts = parts.chain(NAMES.iter().map(|(n, b)| (n, b, names as fn(Belongs) -> String)));
    for (name, belongs, make) in parts {
        let begin = format!("<!-- table: {name} -->\n");
        let Some(at) = text.find(&begin).map(|at| at + begin.len()) else { continue };
        let end = text[at..].find("<!-- end -->").map_or(text.len(), |n| at + n);
        text.replace_range(at..end, &make(*belongs));
    }
    text
}

/// Paths that users may write, in order.
fn public(belongs: Belongs) -> Vec<&'static str> {
    let mut paths: Vec<&str> = tierup_core::ops::all()
        .filter(|op| !op.rows().is_empty() && !op.is_internal())
        .map(OpId::name)
        .filter(|p| belongs(p) && !p.split('.').any(|n| n.starts_with('_')) && !p.ends_with('='))
        .collect();
    paths.sort_unstable();
    paths
}

/// Names without their module, on lines of a page's width.
fn names(belongs: Belongs) -> String {
    let (mut s, mut line) = (String::new(), String::new());
    let paths = public(belongs);
    for (i, path) in paths.iter().enumerate() {
        let name = path.split_once('.').map_or(*path, |(_, name)| name);
        let word = format!("`{name}`{}", if i + 1 < paths.len() { "," } else { "" });
        if line.len() + word.len() > 108 {
            let _ = writeln!(s, "{}", line.trim_end());
            line.clear();
        }
        let _ = write!(line, "{word} ");
    }
    let _ = writeln!(s, "{}", line.trim_end());
    s
}

/// One row for each path: how it is called, by the row of the table with the most parameters, and what it
/// does, by the first.
fn table(belongs: Belongs) -> String {
    let mut s = String::from("| call | what it gives |\n|---|---|\n");
    for path in public(belongs) {
        let rows = rows(path);
        let most = rows.iter().max_by_key(|r| (r.spec().params.len(), r.params.contains('=')));
        let fullest = most.map_or("", |r| r.params);
        let described = if SPECIAL_FIRST.contains(&path) { most } else { rows.first() };
        let doc = described.map_or(String::new(), |r| r.doc.replace('|', "\\|"));
        let method = path.starts_with("array.") || path.starts_with(GENERATOR);
        let params =
            if method { fullest.split_once(',').map_or("", |(_, rest)| rest.trim_start()) } else { fullest };
        // A row of its own takes what may be given and has no value that stands for leaving it out.
        let mut params: Vec<&str> = params
            .split(", ")
            .map(|p| match p {
                "out" => "out=None",
                "rtol" => "rtol=<no value>",
                p => p,
            })
            .collect();
        if params.ends_with(&["*", "out=None"]) && path != "numpy.linalg.multi_dot" {
            params.remove(params.len() - 2);
        }
        let shown = path
            .replacen("numpy.random.Generator.", "g.", 1)
            .replacen("array.", "a.", 1)
            .replacen("numpy.", "np.", 1);
        let call =
            if rows.iter().any(|r| r.property) { shown } else { format!("{shown}({})", params.join(", ")) };
        let _ = writeln!(s, "| `{call}` | {} |", doc);
    }
    s
}

const INTRODUCTION: &str = "\
# LIR

<!-- Generated from core/src/lir/inst.rs by tests/src/docs.rs: TIERUP_BLESS=1 cargo test -p tierup-tests -->

The portable IR that every back end and the interpreter take: machine types (`i8 i16 i32 i64 f32 f64 ptr`),
blocks with parameters, source locations. `core/src/interp.rs` defines what it means; `core/src/lir/text.rs`
shows the text as a whole. Every instruction is total.

A function begins with `func @f(ptr, i64) -> i64`, types of parameters and results. Behind them may stand
`always_inline` (calls of it are replaced by its body, however large) and `wraps @g`: the function is the
wrapper through which the Python side, NumPy or a parallel loop enters `@g`, so it stays, and reports name
`@g` for it. A block may be `cold` (it rarely runs) or `short` (the header of a loop with so few iterations
that vectors and copies of its body do not pay).

Below, `T` is an integer type, `F` a float type, `X` any type; the suffix of an instruction is the type of its
operands, or of its result where it converts.

## Pure instructions
";

const OTHERS: &str = "
## The others

| instruction | meaning |
|---|---|
| `const.X 5` | a constant; floats in decimal, `inf`, or `nan:0x…` with their bits |
| `load.X class p+8` | reads memory; any alignment is allowed |
| `store.X class v, p+8` | writes memory; any alignment is allowed |
| `stack_addr slot0` | the address of a piece of the frame, declared by `slot0 = slot 16` |
| `symbol_addr sym0` | the address of a constant outside of the code (a text, a string, a type descriptor, a global array), declared by `sym0 = symbol \"name\" 0x…`; each process puts its own address there |
| `call @f(a, b)` | a LIR function of the same module, declared by `declare @f(i64, ptr) -> i64` |
| `call_indirect p(a, b) : (i64, ptr) -> i64` | through a pointer |
| `call_helper @name(a)` | a helper of the run-time |
| `jump block1(a)` | |
| `brif c, block1(a), cold block2` | to the first where the i8 is not zero; `cold` marks the unlikely side |
| `switch n, [block1, block2], block3` | to the n-th of the list (i64, unsigned), past its end to the last; no arguments |
| `return a, b` | first the status, then the result scalars |
| `unreachable` | never reached |
";

const KERNELS: &str = "
## Of kernels

Only code that a grid of threads runs has these, and pieces of memory that the threads of a block share
(`slot0 = slot 64 shared`); see `core/src/lir/grid.rs`.

| instruction | meaning | types |
|---|---|---|
";

fn grid_spelling(op: GridOp) -> String {
    let m = op.mnemonic();
    match op.shape() {
        GridShape::Index => format!("{m} → i32"),
        GridShape::Memory => format!("{m} → ptr"),
        GridShape::Order => m.to_owned(),
        GridShape::Update | GridShape::IntUpdate => format!("{m}.T p, a → T"),
        GridShape::Exchange => format!("{m}.T p, a, b → T"),
        GridShape::Warp => format!("{m} m"),
        GridShape::Shuffle => format!("{m}.T m, a, n → T"),
        GridShape::Vote => format!("{m} m, c → i32"),
        GridShape::Match => format!("{m}.T m, a → i32"),
        GridShape::Count => format!("{m} c → i32"),
        GridShape::Now => format!("{m} → i32"),
        GridShape::Pause => format!("{m} n"),
        GridShape::Grid => format!("{m} p"),
        GridShape::Widen => format!("{m} a → f32"),
        GridShape::Narrow => format!("{m} a → i16"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn generated_files_are_current() {
        for (name, make) in super::GENERATED {
            let (path, want) = (crate::root().join(name), make());
            if std::fs::read_to_string(&path).is_ok_and(|have| have == want) {
                continue;
            }
            assert!(
                crate::bless(),
                "{name} is out of date: TIERUP_BLESS=1 cargo test -p tierup-tests writes it"
            );
            std::fs::write(&path, want).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}
