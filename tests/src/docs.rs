//! Generated documentation: `docs/lir.md` from the instruction table, the tables of
//! `docs/linalg-sort-random.md` from that of operations. A test compares; `TIERUP_BLESS=1` writes.

use std::fmt::Write as _;

use tierup_core::lir::text::spelling;
use tierup_core::lir::{Alias, Op, Shape};

/// A generated file, relative to the root, and what it must contain.
pub const GENERATED: &[(&str, fn() -> String)] = &[("docs/lir.md", lir), (NUMERIC, numeric)];

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
    }
}

/// The reference of LIR.
pub fn lir() -> String {
    let mut s = String::from(INTRODUCTION);
    let mut last = None;
    for &op in Op::ALL {
        if last != Some(op.shape()) {
            let _ = write!(
                s,
                "\n### {}\n\n| instruction | meaning | types |\n|---|---|---|\n",
                title(op.shape())
            );
            last = Some(op.shape());
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
    let classes: Vec<String> = Alias::ALL.iter().map(|a| format!("`{}`", a.name())).collect();
    let _ = writeln!(
        s,
        "\nAlias classes: {}. Accesses of different classes never touch the same memory.",
        classes.join(", ")
    );
    s
}

const NUMERIC: &str = "docs/linalg-sort-random.md";

/// Tables of that page: the name of each, and which paths belong in it.
const TABLES: &[(&str, fn(&str) -> bool)] = &[
    ("products", |p| {
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
        .iter()
        .any(|f| p.strip_prefix("numpy.") == Some(f))
    }),
    ("linalg", |p| p.starts_with("numpy.linalg.")),
    ("sorting", |p| {
        let name = p.strip_prefix("numpy.").or_else(|| p.strip_prefix("array."));
        name.is_some_and(|n| {
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
    }),
    ("legacy", |p| p.starts_with("numpy.random.") && !p.starts_with(GENERATOR)),
    ("generator", |p| p.starts_with(GENERATOR)),
    ("python", |p| p.starts_with("random.")),
];
const GENERATOR: &str = "numpy.random.Generator.";

/// The page as it stands, with its tables made anew.
pub fn numeric() -> String {
    let mut page = std::fs::read_to_string(crate::root().join(NUMERIC)).unwrap_or_default();
    for (name, belongs) in TABLES {
        let begin = format!("<!-- table: {name} -->\n");
        let Some(at) = page.find(&begin).map(|at| at + begin.len()) else { continue };
        let end = page[at..].find("<!-- end -->").map_or(page.len(), |n| at + n);
        page.replace_range(at..end, &table(*belongs));
    }
    page
}

/// One row for each path: how it is called, by the row of the table with the most parameters, and what it
/// does, by the first.
fn table(belongs: fn(&str) -> bool) -> String {
    let mut paths: Vec<&str> = tierup_core::ops::paths()
        .filter(|p| belongs(p) && !p.rsplit('.').next().is_some_and(|n| n.starts_with('_')))
        .collect();
    paths.sort_unstable();
    let mut s = String::from("| call | what it gives |\n|---|---|\n");
    for path in paths {
        let rows = tierup_core::ops::lookup(path);
        let fullest = rows
            .iter()
            .max_by_key(|r| (r.spec().params.len(), r.params.contains('=')))
            .map_or("", |r| r.params);
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
        let _ = writeln!(s, "| `{shown}({})` | {} |", params.join(", "), rows.first().map_or("", |r| r.doc));
    }
    s
}

const INTRODUCTION: &str = "\
# LIR

<!-- Generated from core/src/lir/inst.rs by tests/src/docs.rs: TIERUP_BLESS=1 cargo test -p tierup-tests -->

The portable IR that every back end and the interpreter take: machine types (`i8 i16 i32 i64 f32 f64 ptr`), blocks with parameters,
source locations. `core/src/interp.rs` defines what it means; `core/src/lir/text.rs` shows the text as a whole. Every instruction is total.

Below, `T` is an integer type, `F` a float type, `X` any type; the suffix of an instruction is the type of its operands, or of its result
where it converts.

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
| `symbol_addr sym0` | an address known when the code is made, declared by `sym0 = symbol \"name\" 0x…` |
| `call @f(a, b)` | a LIR function of the same module, declared by `declare @f(i64, ptr) -> i64` |
| `call_indirect p(a, b) : (i64, ptr) -> i64` | through a pointer |
| `call_helper @name(a)` | a helper of the run-time |
| `jump block1(a)` | |
| `brif c, block1(a), cold block2` | to the first where the i8 is not zero; `cold` marks the unlikely side |
| `switch n, [block1, block2], block3` | to the n-th of the list (i64, unsigned), past its end to the last; no arguments |
| `return a, b` | first the status, then the result scalars |
| `unreachable` | never reached |
";

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
