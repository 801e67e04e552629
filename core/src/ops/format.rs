//! Texts that a format string describes: `str.format`, and `%` with a string on its left.
//!
//! The format is known when the call is compiled, so its body is written out as one operation for each field
//! ([`super::written`]): what a class says of its own text, what a value without a text of its own is made of,
//! is found as for an f-string. What Python finds wrong with a format is raised when the call is reached, after
//! the fields before it have been formatted.

mod fields;
mod percent;
pub(super) use percent::{NOT_ALL, TOO_FEW};

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::layout::Str;
use crate::rt::Ctx;
use crate::types::{Kind, NumberType, Type};
use crate::typing::{Answer, Arg, no_match};

super::identity::op_ids! {
    STR_FORMAT = "str.format",
    FORMAT_IN_PYTHON = "format.in_python",
    FORMAT_KEYED = "format.keyed",
    FORMAT_CONVERTED = "format.converted",
    FORMAT_LAID_OUT = "format.laid_out",
    FORMAT_STAR = "format.star",
}

crate::runtime_fns! {
    /// Conversions of `%`. `how` is the conversion's letter, with its flags above: bit 32 `-`, 33 `+`, 34 a
    /// space, 35 `#`, 36 `0`; a width or precision that is not given is the least integer.
    trait Helpers;
    /// `%d`, `%o`, `%x`, `%X` and `%c`.
    fn percent_i64(ctx: Ctx, v: i64, how: i64, width: i64, precision: i64) -> *mut Str [Allocates, Pending];
    /// The same of an unsigned integer.
    fn percent_u64(ctx: Ctx, v: i64, how: i64, width: i64, precision: i64) -> *mut Str [Allocates, Pending];
    /// `%e`, `%f`, `%g` and their upper-case forms; `%d` of a float.
    fn percent_f64(ctx: Ctx, v: f64, how: i64, width: i64, precision: i64) -> *mut Str [Allocates, Pending];
    /// `%s` of a text, and `%c` of one character.
    fn percent_str(ctx: Ctx, s: *mut Str, how: i64, width: i64, precision: i64) -> *mut Str [Allocates, Pending];
}

/// Whether only the run knows the format.
fn is_unknown_format(args: &[Arg]) -> bool {
    *args[0].ty == Kind::Str && args[0].text().is_none()
}

/// Whether a value becomes the object that Python would have: what Python formats it as is the text of it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "numbers of NumPy's and what may be changed are other objects"
)]
fn is_python(t: Type) -> bool {
    match t.kind() {
        Kind::None | Kind::Bool | Kind::Str | Kind::Bytes => true,
        Kind::Optional(t) => is_python(*t),
        Kind::Tuple(m) | Kind::Variant(m) => m.iter().all(|t| is_python(*t)),
        Kind::NamedTuple(c, m) if c.is_keywords() => m.iter().all(|t| is_python(*t)),
        _ => t.is_weak(),
    }
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["format.in_python"], "format, args, names, values", Body::Py("text.format_in_python"))
        .raises()
        .reads()
        .internal()
        .doc("The text that a format string describes which only the run knows, and Python formats."),
    OpDef::new(&["operator.mod"], "format, values", Body::Py("text.percent_in_python"))
        .only_if(|a| is_unknown_format(a) && is_python(a[1].ty))
        .raises()
        .reads()
        .doc("The text of a format string that only the run knows, in the way of C's `printf`: Python formats it."),
    OpDef::new(&["str.format"], "self, *args, **kwargs", Body::Written(fields::write))
        .raises()
        .reads()
        .doc("The text that a constant format string describes."),
    OpDef::new(&["str.format_map"], "self, mapping", Body::Written(fields::write_of_mapping))
        .raises()
        .reads()
        .doc("The same of fields that a mapping has under their names."),
    OpDef::new(&["operator.mod"], "format, values", Body::Written(percent::write))
        .only_if(|a| *a[0].ty == Kind::Str)
        .raises()
        .reads()
        .doc("The text that a constant format string describes, in the way of C's `printf`."),
    OpDef::new(&["format.keyed"], "format, *entries", Body::Written(percent::write_keyed))
        .raises()
        .reads()
        .internal()
        .doc("`format % {key: value, …}`, whose dictionary need not come to be."),
    OpDef::new(
        &["format.converted", "operator._converted"],
        "x, how, width, precision",
        Body::Written(percent::write_converted),
    )
    .only_if(|a| !matches!(*a[0].ty, Kind::Optional(_) | Kind::Variant(_)))
    .raises()
    .reads()
    .internal()
    .doc("One conversion of `%`."),
    OpDef::new(
        &["format.converted", "operator._converted"],
        "x, how, width, precision",
        Body::Py("text.converted_optional"),
    )
    .only_if(|a| matches!(*a[0].ty, Kind::Optional(_)))
    .raises()
    .reads()
    .internal()
    .doc("One conversion of `%` of a value that may be None."),
    OpDef::new(
        &["format.laid_out"],
        "x, how, width, precision",
        Body::Lir(
            |_, a| {
                let known = a[0].ty.is_number() && !a[0].ty.is_complex() || *a[0].ty == Kind::Str;
                if known { Ok(Answer::of(Type::str())) } else { Err(no_match("%", a)) }
            },
            emit_laid_out,
        ),
    )
    .raises()
    .reads()
    .internal()
    .doc("A number or a text as a conversion of `%` lays it out."),
    OpDef::new(
        &["format.star", "operator._star"],
        "x",
        Body::Lir(
            |_, a| {
                if matches!(a[0].ty.kind(), Kind::Optional(_) | Kind::Variant(_)) {
                    return Err(no_match("%", a));
                }
                Ok(Answer::of(if is_own_integer(&a[0]) { Type::int() } else { Type::never() }))
            },
            |cx, c| {
                if *c.ret == Kind::Never {
                    cx.raise_and_continue(Class::TypeError, "* wants int");
                    return Ok(vec![]);
                }
                Ok(vec![cast::to_i64(cx, c.args[0][0], c.types[0])])
            },
        ),
    )
    .raises()
    .reads()
    .internal()
    .doc("A width or a precision that an argument gives."),
    OpDef::new(&["format.star", "operator._star"], "x", Body::Py("text.star_optional"))
        .only_if(|a| matches!(*a[0].ty, Kind::Optional(_)))
        .raises()
        .reads()
        .internal()
        .doc("The same where it may be None."),
];

/// An integer of Python's own: those of NumPy are none to `*`.
fn is_own_integer(a: &Arg) -> bool {
    *a.ty == Kind::Bool || a.ty.is_int() && a.ty.is_weak()
}

/// The error for a format that is not known when the call is compiled.
fn not_constant(what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::RequiresConstant,
        format!("the format string of {what} must be known when the function is compiled"),
    )
    .help("write it in the call or keep it in a global variable, or use an f-string: f\"{x:.2f}\"")
}

fn emit_laid_out(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> crate::diag::Result<Val> {
    let t = c.types[0];
    let rest = [1, 2, 3].map(|k| cast::to_i64(cx, c.args[k][0], c.types[k]));
    let letter = c.consts[1].as_ref().and_then(crate::types::Const::as_int).unwrap_or(0);
    let as_float = matches!(u8::try_from(letter & 0xff), Ok(b'e' | b'E' | b'f' | b'F' | b'g' | b'G'));
    let (helper, x) = match t.number() {
        None => (&percent_str, c.args[0][0]),
        Some(NumberType::Float(_)) => (&percent_f64, cast::widen(cx, c.args[0][0])),
        Some(NumberType::Complex(_)) => return Err(Diagnostic::internal("% of a complex number")),
        Some(NumberType::Bool | NumberType::Int(_)) if as_float => {
            (&percent_f64, cast::cast(cx, &c.args[0], t, Type::float())?[0])
        }
        Some(NumberType::Int(i)) if !i.signed() => (&percent_u64, cast::to_i64(cx, c.args[0][0], t)),
        Some(NumberType::Bool | NumberType::Int(_)) => (&percent_i64, cast::to_i64(cx, c.args[0][0], t)),
    };
    Ok(vec![cx.helper_value(helper, &[x, rest[0], rest[1], rest[2]])])
}
