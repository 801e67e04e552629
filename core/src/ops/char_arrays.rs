//! Arrays of fixed-width text as a whole: sorted, searched, joined and padded. Where the width of a result depends on
//! what the texts say, there is no row: the type of an array says how wide its texts are.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::ops::chars::{compared, is_text};
use crate::types::record::Chars;
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

/// A row in Python whose first operand is an array of text.
const fn of_text(
    paths: &'static [&'static str],
    params: &'static str,
    body: &'static str,
    doc: &'static str,
) -> OpDef {
    OpDef::new(paths, params, Body::Py(body)).only_if(|a| is_text(&a[0])).records().raises().reads().doc(doc)
}

pub(crate) static OPS: &[OpDef] = &[
    of_text(&["numpy.sort"], "a, axis=-1, kind=None, order=None, *, stable=None", "char_arrays.sort", "Texts in order.")
        .only_if(|a| is_text(&a[0]) && a[3].is_none()),
    of_text(&["array.sort"], "a, axis=-1, kind=None, order=None", "char_arrays.sort_in_place", "Sorts texts in place.")
        .only_if(|a| is_text(&a[0]) && a[3].is_none())
        .writes(),
    of_text(
        &["numpy.argsort", "array.argsort"],
        "a, axis=-1, kind=None, order=None, *, stable=None",
        "char_arrays.argsort",
        "The order that sorts texts; those that are equal stay in theirs.",
    )
    .only_if(|a| is_text(&a[0]) && a[3].is_none()),
    of_text(
        &["numpy.searchsorted", "array.searchsorted"],
        "a, v, side='left', sorter=None",
        "char_arrays.searchsorted",
        "Where texts would stand in sorted ones.",
    )
    .only_if(|a| compared(a) && is_text(&a[0]) && a[3].is_none()),
    of_text(&["numpy.argmin", "array.argmin"], "a", "char_arrays.argmin", "Where the first text is."),
    of_text(&["numpy.argmax", "array.argmax"], "a", "char_arrays.argmax", "Where the last text is."),
    of_text(
        &["numpy.unique"],
        "ar, return_index=False, return_inverse=False, return_counts=False",
        "char_arrays.unique",
        "Sorted texts without repetitions, where each is first, which one each is, how often each is there.",
    ),
    of_text(&["numpy.isin", "numpy.in1d"], "element, test_elements", "char_arrays.isin", "Which texts are among others.")
        .only_if(|a| {
        let of = a[1].ty.arguments().iter().next();
        let listed = a[1].ty.is_sequence() && a[1].ty.arguments().iter().all(|t| Some(t) == of);
        let held = a[0].ty.as_array().and_then(|t| t.dtype.chars()).map(Chars::ty);
        is_text(&a[0]) && (compared(a) || listed && of == held)
    }),
    of_text(&["numpy.strings.index", "numpy.char.index"], "a, sub", "char_arrays.index", "`s.index(part)` of each text; ValueError.")
        .only_if(compared),
    of_text(&["numpy.strings.rindex", "numpy.char.rindex"], "a, sub", "char_arrays.rindex", "`s.rindex(part)` of each text; ValueError.")
        .only_if(compared),
    of_text(
        &["numpy.strings.add", "numpy.char.add", "operator.add", "numpy.add"],
        "x1, x2",
        "char_arrays.add",
        "Texts, one after the other. A text that stands by itself is a constant: the width of the result is known then.",
    )
    .only_if(|a| compared(a) && width(&a[0]).is_some() && width(&a[1]).is_some()),
    of_text(
        &["numpy.strings.ljust", "numpy.char.ljust"],
        "a, width, fillchar=' '",
        "char_arrays.ljust",
        "Texts, filled on the right to a constant width that none is longer than.",
    ),
    of_text(
        &["numpy.strings.rjust", "numpy.char.rjust"],
        "a, width, fillchar=' '",
        "char_arrays.rjust",
        "Texts, filled on the left to such a width.",
    ),
    of_text(
        &["numpy.strings.center", "numpy.char.center"],
        "a, width, fillchar=' '",
        "char_arrays.center",
        "Texts, filled on both sides to such a width.",
    ),
    of_text(
        &["numpy.strings.zfill", "numpy.char.zfill"],
        "a, width",
        "char_arrays.zfill",
        "Texts, filled with zeros behind their sign to such a width.",
    ),
    of_text(
        &["numpy.strings.slice"],
        "a, start=None, stop=..., step=None",
        "char_arrays.slice_",
        "`s[start:stop:step]` of each text, in its width; a number alone says where to stop.",
    ),
    OpDef::new(&["numpy._joined_type"], "a, b", Body::Lir(joined_rule, |_, _| Ok(vec![])))
        .records()
        .internal()
        .doc("The type of texts that are put together of these (library use)."),
    OpDef::new(&["numpy._padded_type"], "a, width", Body::Lir(padded_rule, |_, _| Ok(vec![])))
        .records()
        .internal()
        .doc("The type of texts that are filled to a width (library use)."),
];

/// How wide an operand is: the texts of an array, or a constant text.
fn width(a: &Arg) -> Option<Chars> {
    if let Some(t) = a.ty.as_array() {
        return t.dtype.chars();
    }
    let text = a.konst.as_ref()?;
    if let Const::Str(s) = text {
        return Some(Chars { wide: true, count: s.chars().count() as i64 });
    }
    text.as_bytes().map(|s| Chars { wide: false, count: s.len() as i64 })
}

fn joined_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    match (width(&a[0]), width(&a[1])) {
        (Some(x), Some(y)) if x.wide == y.wide => {
            let both = Chars { count: (x.count + y.count).max(1), ..x };
            Ok(Answer::of(Type::new(Kind::DType(both.dtype()))))
        }
        _ => Err(no_match("numpy.strings.add()", a)),
    }
}

fn padded_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let refused = || {
        let text = "the width of the results depends on what the texts say";
        Diagnostic::new(Code::RequiresConstant, text).help(
            "give a constant width that no text of the array is longer than: its type says how wide it is",
        )
    };
    let chars = a[0].ty.as_array().and_then(|t| t.dtype.chars()).ok_or_else(refused)?;
    let count = a[1].int().filter(|n| *n >= chars.count).ok_or_else(refused)?;
    Ok(Answer::of(Type::new(Kind::DType(Chars { count, ..chars }.dtype()))))
}
