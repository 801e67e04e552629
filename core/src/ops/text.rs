//! Values as text: `str`, `repr`, f-strings, and numbers out of text.

use super::bytes::like::is_array;
use super::string as st;
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::constants::string;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::platform::NewException;
use crate::exc::Class;
use crate::lir::{Ty, Value};
use crate::ops::raising;
use crate::ops::written::class_name;
use crate::types::{ClassDef, Const, Kind, NumberType, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    BUILTINS_STR = "builtins.str" [keywords(Takes)],
    BUILTINS_REPR = "builtins.repr" [keywords(Takes)],
    BUILTINS_ASCII = "builtins.ascii" [keywords(Takes)],
    BUILTINS_FORMAT = "builtins.format",
    FORMAT_VALUE = "format.value" [keywords(Takes)],
    STR_CONCAT_ALL = "str.concat_all",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["builtins.str"],
        "object=''",
        Body::Lir(|_, a| to_text(a, "str()"), |cx, c| Ok(vec![text(cx, &c.args[0], c.types[0], false)?])),
    )
    .raises()
    .reads()
    .doc("`str(x)`."),
    OpDef::new(
        &["builtins.repr"],
        "x",
        Body::Lir(|_, a| to_text(a, "repr()"), |cx, c| Ok(vec![text(cx, &c.args[0], c.types[0], true)?])),
    )
    .raises()
    .reads()
    .doc("`repr(x)`."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("builtin.optional_repr"))
        .only_if(|a| is_perhaps_of_parts(a[0].ty))
        .raises()
        .reads()
        .doc("`repr` of a list or another value without a text of its own, or of None."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("builtin.list_repr"))
        .only_if(|a| matches!(*a[0].ty, Kind::List(_)))
        .raises()
        .reads()
        .doc("`repr` of a list."),
    OpDef::new(
        &["builtins.ascii"],
        "x",
        Body::Lir(|_, a| to_text(a, "ascii()"), |cx, c| Ok(vec![ascii(cx, &c.args[0], c.types[0])?])),
    )
    .raises()
    .reads()
    .doc("`ascii(x)`."),
    OpDef::new(&["builtins.ascii"], "x", Body::Py("text.ascii_of_parts"))
        .only_if(|a| made_of_parts(a[0].ty))
        .raises()
        .reads()
        .doc("`ascii` of a list or another value without a text of its own."),
    OpDef::new(
        &["operator._escaped"],
        "s",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Str { Ok(Answer::of(Type::str())) } else { Err(no_match("ascii()", a)) }
            },
            |cx, c| Ok(vec![cx.helper_value(&st::str_escaped, &[c.args[0][0]])]),
        ),
    )
    .raises()
    .reads()
    .internal()
    .doc("A text with escapes for what is not ASCII in it."),
    OpDef::new(
        &["operator._class_name"],
        "x",
        Body::Lir(
            |_, a| match class_name(a[0].ty) {
                Some(name) => Ok(Answer::constant(Const::Str(name.into()))),
                None => Err(no_match("format()", a)),
            },
            |_, _| Err(Diagnostic::internal("the name of a class is a constant")),
        ),
    )
    .internal()
    .doc("The class of a value as messages call it."),
    OpDef::new(&["format.value"], "x, conversion=0, spec=None", Body::Lir(format_rule, emit_format))
        .raises()
        .reads()
        .doc("One field of an f-string."),
    OpDef::new(&["format.value"], "x, conversion=0, spec=None", Body::Py("text.format_value"))
        .only_if(|a| (made_of_parts(a[0].ty) || printable(a[0].ty)) && !formats_itself(a[0].ty))
        .raises()
        .reads()
        .doc("A value in an f-string that has no text of its own, or takes no specification."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("builtin.tuple_repr"))
        .only_if(|a| a[0].ty.members().is_some())
        .raises()
        .reads()
        .doc("`repr` of a tuple with lists or arrays."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("builtin.range_repr"))
        .only_if(|a| matches!(*a[0].ty, Kind::Range(_)))
        .raises()
        .reads()
        .doc("`repr` of a range."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("builtin.slice_repr"))
        .only_if(|a| matches!(*a[0].ty, Kind::Slice(_)))
        .raises()
        .reads()
        .doc("`repr` of a slice."),
    OpDef::new(
        &["builtins.format"],
        "x, spec=''",
        Body::Lir(
            |_, a| format_args(&a[0], &a[1], a),
            |cx, c| Ok(vec![format(cx, &c.args[0], c.types[0], &c.args[1], c.types[1])?]),
        ),
    )
    .raises()
    .reads()
    .doc("`format(x, spec)`."),
    OpDef::new(&["builtins.format"], "x, spec=''", Body::Py("text.formatted"))
        .only_if(|a| *a[1].ty == Kind::Str && !takes_spec(a[0].ty) && !formats_itself(a[0].ty))
        .raises()
        .reads()
        .doc("`format(x, spec)` of a value that takes no specification."),
    OpDef::new(
        &["str.concat_all"],
        "*parts",
        Body::Lir(
            |_, a| {
                if a.iter().all(|a| *a.ty == Kind::Str) {
                    Ok(Answer::of(Type::str()))
                } else {
                    Err(no_match("an f-string", a))
                }
            },
            |cx, c| {
                let all: Vec<Value> = c.args.iter().map(|v| v[0]).collect();
                let (at, n) = (cx.spill(&all), cx.b.i64(all.len() as i64));
                Ok(vec![cx.helper_value(&st::str_concat_all, &[at, n])])
            },
        ),
    )
    .raises()
    .reads()
    .internal()
    .doc("An f-string's parts, put together."),
    OpDef::new(
        &["builtins.int"],
        "x, base=10",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Str && a[1].ty.is_index() {
                    Ok(Answer::of(Type::int()))
                } else {
                    Err(no_match("int()", a))
                }
            },
            |cx, c| {
                let base = cast::to_i64(cx, c.args[1][0], c.types[1]);
                Ok(vec![cx.helper_value(&st::str_to_int, &[c.args[0][0], base])])
            },
        ),
    )
    .raises()
    .reads()
    .doc("The integer that a text spells; ValueError."),
    OpDef::new(
        &["builtins.float"],
        "x",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Str {
                    Ok(Answer::of(Type::float()))
                } else {
                    Err(no_match("float()", a))
                }
            },
            |cx, c| Ok(vec![cx.helper_value(&st::str_to_float, &[c.args[0][0]])]),
        ),
    )
    .raises()
    .reads()
    .doc("The number that a text spells; ValueError."),
    OpDef::new(
        &["builtins.complex"],
        "real",
        Body::Lir(
            |_, a| {
                if *a[0].ty == Kind::Str {
                    Ok(Answer::of(Type::complex()))
                } else {
                    Err(no_match("complex()", a))
                }
            },
            |cx, c| {
                let out = cx.b.slot_addr(16);
                cx.helper(&st::str_to_complex, &[c.args[0][0], out]);
                Ok((0..2).map(|k| cx.b.load(Ty::F64, out, 8 * k, crate::lir::Alias::Stack)).collect())
            },
        ),
    )
    .raises()
    .reads()
    .doc("The complex number that a text spells; ValueError."),
    OpDef::new(&["builtins.bin"], "x", Body::Lir(|_, a| based(a, "bin()"), |cx, c| prefixed(cx, c, 2)))
        .reads()
        .doc("Binary digits."),
    OpDef::new(&["builtins.oct"], "x", Body::Lir(|_, a| based(a, "oct()"), |cx, c| prefixed(cx, c, 8)))
        .reads()
        .doc("Octal digits."),
    OpDef::new(&["builtins.hex"], "x", Body::Lir(|_, a| based(a, "hex()"), |cx, c| prefixed(cx, c, 16)))
        .reads()
        .doc("Hexadecimal digits."),
];

fn based(args: &[Arg], what: &str) -> Result<Answer> {
    if args[0].ty.is_index() { Ok(Answer::of(Type::str())) } else { Err(no_match(what, args)) }
}

fn prefixed(cx: &mut LowerCx<'_>, c: &OpCall<'_>, base: i64) -> Result<Val> {
    let v = cast::to_i64(cx, c.args[0][0], c.types[0]);
    let base = cx.b.i64(base);
    let unsigned = matches!(*c.types[0], Kind::Int(i) if !i.signed());
    Ok(vec![cx.helper_value(
        if unsigned { &st::str_from_u64_prefixed } else { &st::str_from_i64_prefixed },
        &[v, base],
    )])
}

/// Types whose text is put together by a function in Python.
fn made_of_parts(t: Type) -> bool {
    matches!(t.kind(), Kind::List(_) | Kind::Container(..) | Kind::Range(_) | Kind::Slice(_) | Kind::Array(_))
        || t.members().is_some() && !printable(t)
        || matches!(t.kind(), Kind::Frozen(c, _) if c.generated().text) && !printable(t)
        || matches!(t.kind(), Kind::Object(..))
        || is_perhaps_of_parts(t)
}

/// None, or a value whose text is put together by a function in Python.
fn is_perhaps_of_parts(t: Type) -> bool {
    matches!(*t, Kind::Optional(t) if made_of_parts(t))
}

/// Types with a text of their own here.
fn printable(t: Type) -> bool {
    t.is_element()
        || matches!(*t, Kind::None | Kind::Ellipsis | Kind::Str | Kind::Bytes | Kind::Exception)
        || is_array(t)
        || t.as_optional().is_some_and(printable)
        || t.as_simd().is_some()
        || is_mark(t)
        || matches!(t.kind(), Kind::Frozen(c, _) if c.is_builtin_value())
        || !matches!(t.kind(), Kind::Frozen(c, _) if !c.generated().text)
            && t.parts().is_some_and(|m| m.iter().all(|t| printable(*t)))
}

/// Whether it is an object of `object` itself.
pub(super) fn is_mark(t: Type) -> bool {
    matches!(t.kind(), Kind::Member(c) if c.is_mark())
}

/// The text of a mark says where it is, which Python knows: it is that of an exception that carries nothing else.
fn mark_text(cx: &mut LowerCx<'_>, v: &[Value], class: &ClassDef) -> Result<Value> {
    let exc = cx.new_exception(&NewException::Instance(Class::ValueError));
    let handle = class.handle().ok_or_else(|| Diagnostic::internal("a mark without a class"))?;
    let which = cast::resize(cx, v[0], false, Ty::I64);
    let [object, number, close] = [14, 2, 7].map(|kind| cx.b.i64(kind));
    let (handle, zero) = (cx.b.i64(handle as i64), cx.b.i64(0));
    for (kind, bits) in [(object, handle), (number, which), (close, zero)] {
        cx.add_argument(exc, kind, bits);
    }
    let text = cx.guarded(&[exc], |cx| Ok(cx.helper_value(&raising::exc_str, &[exc])))?;
    cx.release_object(exc);
    Ok(text)
}

fn to_text(args: &[Arg], what: &str) -> Result<Answer> {
    if !printable(args[0].ty) {
        return Err(no_match(what, args));
    }
    let konst = match &args[0].konst {
        Some(Const::Str(s)) if what == "str()" => Some(Const::Str(s.clone())),
        _ => None,
    };
    Ok(Answer::of(Type::str()).known(konst))
}

/// Numbers, strings and times, whose texts a specification lays out, and exceptions, whose classes may do so.
fn takes_spec(t: Type) -> bool {
    matches!(
        *t,
        Kind::Bool
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Complex(_)
            | Kind::Str
            | Kind::Time(_)
            | Kind::Exception
    )
}

/// Values of `datetime`, which know formats of their own.
fn formats_itself(t: Type) -> bool {
    super::datetimes::class_of(t).is_some()
}

/// `ascii(x)`, as an owned string.
fn ascii(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Result<Value> {
    if *t == Kind::Str {
        return Ok(cx.helper_value(&st::str_ascii, &[v[0]]));
    }
    let plain = text(cx, v, t, true)?;
    if t.is_element() || *t == Kind::Bytes {
        return Ok(plain);
    }
    // Texts in it stand between their quotes already.
    let escaped = cx.helper_value(&st::str_escaped, &[plain]);
    cx.release_object(plain);
    Ok(escaped)
}

/// The text of a value, as an owned string.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other type is printable")]
pub(crate) fn text(cx: &mut LowerCx<'_>, v: &[Value], t: Type, repr: bool) -> Result<Value> {
    Ok(match t.kind() {
        Kind::None => string(&mut cx.b, "None"),
        Kind::Ellipsis => string(&mut cx.b, "Ellipsis"),
        Kind::Bool => cx.helper_value(&st::str_from_bool, &[v[0]]),
        Kind::Int(i) => {
            let x = cast::to_i64(cx, v[0], t);
            cx.helper_value(if i.signed() { &st::str_from_i64 } else { &st::str_from_u64 }, &[x])
        }
        Kind::Float(_) if cx.b.ty(v[0]) == Ty::F32 => cx.helper_value(&st::str_from_f32, v),
        Kind::Float(_) => cx.helper_value(&st::str_from_f64, v),
        Kind::Complex(_) if cx.b.ty(v[0]) == Ty::F32 => cx.helper_value(&st::str_from_complex64, v),
        Kind::Complex(_) => cx.helper_value(&st::str_from_complex, v),
        Kind::Str if repr => cx.helper_value(&st::str_repr, v),
        Kind::Str => {
            cx.retain(v, t);
            v[0]
        }
        Kind::Bytes => cx.helper_value(&super::bytes::bytes_repr, v),
        Kind::Time(time) => super::date_texts::text(cx, v[0], *time, repr),
        Kind::Frozen(c, _) if c.is_builtin_value() => super::datetimes::shown_text(cx, v, c.id, repr),
        _ if is_array(t) => bytearray_text(cx, v[0])?,
        Kind::Exception => cx.helper_value(if repr { &raising::exc_repr } else { &raising::exc_str }, v),
        Kind::Member(c) if c.is_mark() => mark_text(cx, v, c)?,
        Kind::Optional(inner) => {
            let r = cx.if_else(
                v[0],
                |cx| Ok(vec![text(cx, &v[1..], *inner, repr)?]),
                |cx| Ok(vec![string(&mut cx.b, "None")]),
            )?;
            r[0]
        }
        Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Frozen(_, m) => tuple_text(cx, v, t, m)?,
        Kind::Simd(lane, n) => tuple_text(cx, v, t, &vec![*lane; usize::from(*n)])?,
        _ => return Err(Diagnostic::internal(format!("text of {t}"))),
    })
}

/// What stands in front of the members in the text of a tuple or an instance.
#[expect(clippy::wildcard_enum_match_arm, reason = "only instances are shown with their class")]
pub(super) fn class_shown(t: Type) -> &'static str {
    match t.kind() {
        Kind::NamedTuple(c, _) => &c.name,
        Kind::Frozen(c, _) => &c.qualname,
        Kind::Simd(..) => "Vec",
        _ => "",
    }
}

/// The text of a bytearray.
fn bytearray_text(cx: &mut LowerCx<'_>, array: Value) -> Result<Value> {
    let bytes = super::bytes::like::snapshot(cx, array);
    let text = cx.guarded(&[bytes], |cx| Ok(cx.helper_value(&super::bytes::bytes_array_repr, &[bytes])))?;
    cx.release_object(bytes);
    Ok(text)
}

/// What stands around and between the members in the text of a tuple, an instance or a dict of known keys.
pub(super) struct Around {
    pub open: String,
    pub close: &'static str,
    /// Whether the names in front of the members are keys.
    pub keys: bool,
}

pub(super) fn around(t: Type, members: &[Type]) -> Around {
    let keys = matches!(t.kind(), Kind::NamedTuple(c, _) if c.is_keywords());
    let one = members.len() == 1 && matches!(t.kind(), Kind::Tuple(_));
    let open = if keys { "{".into() } else { format!("{}(", class_shown(t)) };
    let close = match (keys, one) {
        (true, _) => "}",
        (false, true) => ",)",
        (false, false) => ")",
    };
    Around { open, close, keys }
}

fn tuple_text(cx: &mut LowerCx<'_>, v: &[Value], t: Type, m: &[Type]) -> Result<Value> {
    let (mut parts, mut made) = (vec![], vec![]);
    let (names, around) = (t.field_names(), around(t, m));
    parts.push(string(&mut cx.b, &around.open));
    for (k, (x, ty)) in split_leaves(v, m).iter().zip(m).enumerate() {
        let mut lead = if k > 0 { ", ".to_owned() } else { String::new() };
        if let Some(name) = names.get(k).filter(|_| !around.keys) {
            lead += &format!("{name}=");
        }
        if !lead.is_empty() {
            parts.push(string(&mut cx.b, &lead));
        }
        if let Some(name) = names.get(k).filter(|_| around.keys) {
            let name = string(&mut cx.b, name);
            let shown = text(cx, &[name], Type::str(), true)?;
            made.push(shown);
            parts.extend([shown, string(&mut cx.b, ": ")]);
        }
        let s = text(cx, x, *ty, true)?;
        parts.push(s);
        made.push(s);
    }
    parts.push(string(&mut cx.b, around.close));
    let (at, n) = (cx.spill(&parts), cx.b.i64(parts.len() as i64));
    let all = cx.helper_value(&st::str_concat_all, &[at, n]);
    for s in made {
        cx.release_object(s);
    }
    Ok(all)
}

fn format_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let conversion = args[1].int().unwrap_or(0);
    if args[2].is_none() || conversion != 0 {
        if !printable(args[0].ty) {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                format!("a value of type {} cannot be formatted in compiled code", args[0].ty),
            )
            .help("format its elements"));
        }
        return Ok(Answer::of(Type::str()));
    }
    format_args(&args[0], &args[2], args)
}

fn format_args(x: &Arg, spec: &Arg, args: &[Arg]) -> Result<Answer> {
    if *spec.ty == Kind::Str && takes_spec(x.ty) {
        Ok(Answer::of(Type::str()))
    } else {
        Err(no_match("format()", args))
    }
}

fn emit_format(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let conversion = c.consts[1].as_ref().and_then(Const::as_int).unwrap_or(0);
    let plain = *c.types[2] == Kind::None;
    if conversion == 0 && !plain {
        return Ok(vec![format(cx, &c.args[0], c.types[0], &c.args[2], c.types[2])?]);
    }
    // Conversions of CPython's FORMAT_VALUE: 1 is str, 2 repr, 3 ascii.
    let s = match conversion {
        3 => ascii(cx, &c.args[0], c.types[0])?,
        // NumPy has Python's own numbers formatted, which have 64 bits.
        0 if c.types[0].is_float() || c.types[0].is_complex() => {
            let wide = if c.types[0].is_complex() { Type::complex() } else { Type::float() };
            let v: Vec<Value> = c.args[0].iter().map(|x| cast::widen(cx, *x)).collect();
            text(cx, &v, wide, false)?
        }
        0 => field(cx, &c.args[0], c.types[0])?,
        other => text(cx, &c.args[0], c.types[0], other == 2)?,
    };
    if plain {
        return Ok(vec![s]);
    }
    let r = format(cx, &[s], Type::str(), &c.args[2], c.types[2])?;
    cx.release_object(s);
    Ok(vec![r])
}

/// The text of a value in an f-string that says no more of it: `str`, but for what its class has as `__format__`.
fn field(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Result<Value> {
    if *t == Kind::Exception {
        let nothing = string(&mut cx.b, "");
        return Ok(cx.helper_value(&raising::exc_formatted, &[v[0], nothing]));
    }
    if *t.without_none() == Kind::Exception {
        let r = cx.if_else(
            v[0],
            |cx| Ok(vec![field(cx, &v[1..], t.without_none())?]),
            |cx| Ok(vec![string(&mut cx.b, "None")]),
        )?;
        return Ok(r[0]);
    }
    text(cx, v, t, false)
}

fn format(cx: &mut LowerCx<'_>, v: &[Value], t: Type, spec: &[Value], _: Type) -> Result<Value> {
    if *t == Kind::Str {
        return Ok(cx.helper_value(&st::str_format_str, &[v[0], spec[0]]));
    }
    if *t == Kind::Exception {
        return Ok(cx.helper_value(&raising::exc_formatted, &[v[0], spec[0]]));
    }
    // NumPy lays the text of a time out.
    if t.time().is_some() {
        let text = text(cx, v, t, false)?;
        let laid_out =
            cx.guarded(&[text], |cx| Ok(cx.helper_value(&st::str_format_str, &[text, spec[0]])))?;
        cx.release_object(text);
        return Ok(laid_out);
    }
    Ok(match t.number() {
        Some(NumberType::Bool) => cx.helper_value(&st::str_format_bool, &[v[0], spec[0]]),
        Some(NumberType::Int(i)) => {
            let x = cast::to_i64(cx, v[0], t);
            cx.helper_value(if i.signed() { &st::str_format_i64 } else { &st::str_format_u64 }, &[x, spec[0]])
        }
        Some(NumberType::Float(_)) => {
            let x = crate::emit::cast::widen(cx, v[0]);
            cx.helper_value(&st::str_format_f64, &[x, spec[0]])
        }
        Some(NumberType::Complex(_)) => {
            let (re, im) = (crate::emit::cast::widen(cx, v[0]), crate::emit::cast::widen(cx, v[1]));
            cx.helper_value(&st::str_format_complex, &[re, im, spec[0]])
        }
        None => return Err(Diagnostic::internal(format!("format of {t}"))),
    })
}
