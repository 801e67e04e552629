//! Elements that are fixed-width text, NumPy's dtypes `U` and `S`: read as str and bytes, written from them, compared.
//!
//! An array keeps such elements as it keeps records; by itself one is a text of its own.

use super::{Body, OpDef};
use crate::emit::arrays::load_element;
use crate::emit::cx::{LowerCx, Val};
use crate::layout::Str;
use crate::lir::Value;
use crate::rt::P;
use crate::types::Type;
use crate::types::record::Chars;
use crate::typing::Arg;

crate::runtime_fns! {
    /// Fixed-width text in arrays.
    trait Helpers;
    /// The text of at most `n` characters of four bytes at `data`.
    fn chars_str(data: P, n: i64) -> *mut Str [Allocates, Never];
    /// The text of at most `n` bytes at `data`.
    fn chars_bytes(data: P, n: i64) -> *mut Str [Allocates, Never];
    /// Writes a text as `n` characters of four bytes: what is longer is cut off, NULs fill the rest.
    fn chars_set_str(s: *mut Str, data: P, n: i64) [Writes, Never];
    /// The same for bytes.
    fn chars_set_bytes(s: *mut Str, data: P, n: i64) [Writes, Never];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["operator.eq", "numpy.equal", "numpy.strings.equal"], "x1, x2", Body::Py("chars.equal"))
        .only_if(compared)
        .records()
        .raises()
        .reads()
        .doc("`a == b` of fixed-width text, element by element."),
    OpDef::new(
        &["operator.ne", "numpy.not_equal", "numpy.strings.not_equal"],
        "x1, x2",
        Body::Py("chars.not_equal"),
    )
    .only_if(compared)
    .records()
    .raises()
    .reads()
    .doc("`a != b` of fixed-width text, element by element."),
    OpDef::new(&["operator.lt", "numpy.less", "numpy.strings.less"], "x1, x2", Body::Py("chars.less"))
        .only_if(compared)
        .records()
        .raises()
        .reads()
        .doc("`a < b` of fixed-width text, element by element."),
    OpDef::new(
        &["operator.le", "numpy.less_equal", "numpy.strings.less_equal"],
        "x1, x2",
        Body::Py("chars.less_equal"),
    )
    .only_if(compared)
    .records()
    .raises()
    .reads()
    .doc("`a <= b` of fixed-width text, element by element."),
    OpDef::new(
        &["operator.gt", "numpy.greater", "numpy.strings.greater"],
        "x1, x2",
        Body::Py("chars.greater"),
    )
    .only_if(compared)
    .records()
    .raises()
    .reads()
    .doc("`a > b` of fixed-width text, element by element."),
    OpDef::new(
        &["operator.ge", "numpy.greater_equal", "numpy.strings.greater_equal"],
        "x1, x2",
        Body::Py("chars.greater_equal"),
    )
    .only_if(compared)
    .records()
    .raises()
    .reads()
    .doc("`a >= b` of fixed-width text, element by element."),
    OpDef::new(&["numpy.nonzero", "array.nonzero"], "a", Body::Py("chars.nonzero"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Where texts are not empty."),
    OpDef::new(&["numpy.where"], "condition", Body::Py("chars.nonzero"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("The same."),
    OpDef::new(&["numpy.strings.str_len", "numpy.char.str_len"], "x", Body::Py("chars.str_len"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Lengths of texts."),
    OpDef::new(&["numpy.strings.isalpha", "numpy.char.isalpha"], "x", Body::Py("chars.isalpha"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Which texts are letters alone."),
    OpDef::new(&["numpy.strings.isdigit", "numpy.char.isdigit"], "x", Body::Py("chars.isdigit"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Which texts are digits alone."),
    OpDef::new(&["numpy.strings.isalnum", "numpy.char.isalnum"], "x", Body::Py("chars.isalnum"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Which texts are letters and digits alone."),
    OpDef::new(&["numpy.strings.isspace", "numpy.char.isspace"], "x", Body::Py("chars.isspace"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Which texts are whitespace alone."),
    OpDef::new(&["numpy.strings.isupper", "numpy.char.isupper"], "x", Body::Py("chars.isupper"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Which texts are in upper case."),
    OpDef::new(&["numpy.strings.islower", "numpy.char.islower"], "x", Body::Py("chars.islower"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Which texts are in lower case."),
    OpDef::new(&["numpy.strings.istitle", "numpy.char.istitle"], "x", Body::Py("chars.istitle"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Which texts are in title case."),
    OpDef::new(&["numpy.strings.isdecimal", "numpy.char.isdecimal"], "x", Body::Py("chars.isdecimal"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Which texts are decimal digits alone."),
    OpDef::new(&["numpy.strings.isnumeric", "numpy.char.isnumeric"], "x", Body::Py("chars.isnumeric"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("Which texts are numeric characters alone."),
    OpDef::new(&["numpy.strings.find", "numpy.char.find"], "a, sub", Body::Py("chars.find"))
        .only_if(compared)
        .records()
        .raises()
        .reads()
        .doc("`s.find(part)` of each text."),
    OpDef::new(&["numpy.strings.rfind", "numpy.char.rfind"], "a, sub", Body::Py("chars.rfind"))
        .only_if(compared)
        .records()
        .raises()
        .reads()
        .doc("`s.rfind(part)` of each text."),
    OpDef::new(&["numpy.strings.count", "numpy.char.count"], "a, sub", Body::Py("chars.count"))
        .only_if(compared)
        .records()
        .raises()
        .reads()
        .doc("`s.count(part)` of each text."),
    OpDef::new(
        &["numpy.strings.startswith", "numpy.char.startswith"],
        "a, prefix",
        Body::Py("chars.startswith"),
    )
    .only_if(compared)
    .records()
    .raises()
    .reads()
    .doc("`s.startswith(part)` of each text."),
    OpDef::new(&["numpy.strings.endswith", "numpy.char.endswith"], "a, suffix", Body::Py("chars.endswith"))
        .only_if(compared)
        .records()
        .raises()
        .reads()
        .doc("`s.endswith(part)` of each text."),
    OpDef::new(&["numpy.strings.upper", "numpy.char.upper"], "a", Body::Py("chars.upper"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("`s.upper()` of each text, in its width."),
    OpDef::new(&["numpy.strings.lower", "numpy.char.lower"], "a", Body::Py("chars.lower"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("`s.lower()` of each text, in its width."),
    OpDef::new(&["numpy.strings.swapcase", "numpy.char.swapcase"], "a", Body::Py("chars.swapcase"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("`s.swapcase()` of each text, in its width."),
    OpDef::new(&["numpy.strings.capitalize", "numpy.char.capitalize"], "a", Body::Py("chars.capitalize"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("`s.capitalize()` of each text, in its width."),
    OpDef::new(&["numpy.strings.title", "numpy.char.title"], "a", Body::Py("chars.title"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("`s.title()` of each text, in its width."),
    OpDef::new(&["numpy.strings.strip", "numpy.char.strip"], "a, chars=None", Body::Py("chars.strip"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("`s.strip(chars)` of each text."),
    OpDef::new(&["numpy.strings.lstrip", "numpy.char.lstrip"], "a, chars=None", Body::Py("chars.lstrip"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("`s.lstrip(chars)` of each text."),
    OpDef::new(&["numpy.strings.rstrip", "numpy.char.rstrip"], "a, chars=None", Body::Py("chars.rstrip"))
        .only_if(|a| is_text(&a[0]))
        .records()
        .raises()
        .reads()
        .doc("`s.rstrip(chars)` of each text."),
];

/// Whether an operand is an array of fixed-width text.
pub(super) fn is_text(a: &Arg) -> bool {
    a.ty.as_array().is_some_and(|a| a.dtype.chars().is_some())
}

/// Whether one of two operands is such an array, and the other one too, or a text of that kind.
pub(super) fn compared(args: &[Arg]) -> bool {
    let held = |a: &Arg| match a.ty.as_array() {
        Some(a) => a.dtype.chars().map(Chars::ty),
        None => Some(a.ty),
    };
    (is_text(&args[0]) || is_text(&args[1])) && held(&args[0]) == held(&args[1])
}

/// An element of an array by itself: a number, or a new text of what fixed-width text is there.
pub(crate) fn load_value(cx: &mut LowerCx<'_>, p: Value, dtype: Type) -> Val {
    let Some(chars) = dtype.chars() else { return load_element(cx, p, dtype) };
    let n = cx.b.i64(chars.count);
    vec![cx.helper_value(if chars.wide { &chars_str } else { &chars_bytes }, &[p, n])]
}

/// Writes a text into an element.
pub(crate) fn store(cx: &mut LowerCx<'_>, text: Value, to: Value, chars: Chars) {
    let n = cx.b.i64(chars.count);
    cx.helper(if chars.wide { &chars_set_str } else { &chars_set_bytes }, &[text, to, n]);
}
