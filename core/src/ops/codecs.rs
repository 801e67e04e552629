//! Text as bytes and bytes as text (`encode`, `decode`), and numbers as bytes.
//!
//! Which encoding it is, and what is done about what it cannot say, must be known when a function is
//! compiled. The run-time is told by number: [`Codec`], [`Errors`].

use super::bytes::like::{self, Shown, is_like};
use super::bytes::{
    bytes_as_int, bytes_decode, bytes_encode, bytes_of_int, bytes_to_float, bytes_to_int, refused,
};
use super::{Body, OpDef};
use crate::diag::{Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::truth::truth;
use crate::lir::Ty;
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, no_match};

/// The encodings that compiled code knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Codec {
    Utf8 = 0,
    Ascii = 1,
    Latin1 = 2,
}
impl Codec {
    pub fn from_number(n: i64) -> Codec {
        [Codec::Utf8, Codec::Ascii, Codec::Latin1][n.clamp(0, 2) as usize]
    }
    /// What Python's messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Codec::Utf8 => "utf-8",
            Codec::Ascii => "ascii",
            Codec::Latin1 => "latin-1",
        }
    }
    fn named(name: &str) -> Option<Codec> {
        let plain: String =
            name.chars().map(|c| if c == '_' || c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect();
        Some(match plain.as_str() {
            "utf-8" | "utf8" | "u8" | "utf" | "utf8-ucs2" | "utf8-ucs4" | "cp65001" => Codec::Utf8,
            "ascii" | "us-ascii" | "646" | "ansi-x3.4-1968" | "iso646-us" | "us" => Codec::Ascii,
            "latin-1" | "latin1" | "latin" | "l1" | "iso-8859-1" | "iso8859-1" | "iso8859" | "8859"
            | "cp819" => Codec::Latin1,
            _ => return None,
        })
    }
}

/// What is done about what an encoding cannot say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Errors {
    Strict = 0,
    Ignore = 1,
    Replace = 2,
    BackslashReplace = 3,
    XmlCharRefReplace = 4,
}
impl Errors {
    const ALL: [Errors; 5] = [
        Errors::Strict,
        Errors::Ignore,
        Errors::Replace,
        Errors::BackslashReplace,
        Errors::XmlCharRefReplace,
    ];
    pub fn from_number(n: i64) -> Errors {
        Errors::ALL[n.clamp(0, 4) as usize]
    }
    fn name(self) -> &'static str {
        match self {
            Errors::Strict => "strict",
            Errors::Ignore => "ignore",
            Errors::Replace => "replace",
            Errors::BackslashReplace => "backslashreplace",
            Errors::XmlCharRefReplace => "xmlcharrefreplace",
        }
    }
    fn named(name: &str) -> Option<Errors> {
        Errors::ALL.into_iter().find(|e| e.name() == name)
    }
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["str.encode"],
        "s, encoding='utf-8', errors='strict'",
        Body::Lir(|_, a| encode_rule(a), emit_encode),
    )
    .raises()
    .reads()
    .doc("The bytes of a text in UTF-8, ASCII or Latin-1; UnicodeEncodeError."),
    OpDef::new(
        &["builtins.bytes"],
        "source, encoding, errors='strict'",
        Body::Lir(|_, a| encode_rule(a), emit_encode),
    )
    .only_if(|a| *a[0].ty == Kind::Str)
    .raises()
    .reads()
    .doc("The bytes of a text in UTF-8, ASCII or Latin-1; UnicodeEncodeError."),
    OpDef::new(
        &["builtins.bytearray"],
        "source, encoding, errors='strict'",
        Body::Lir(
            |_, a| encode_rule(a).map(|_| Answer::of(Type::bytearray())),
            |cx, c| {
                let bytes = emit_encode(cx, c)?[0];
                Ok(vec![like::into_array(cx, bytes)?])
            },
        ),
    )
    .only_if(|a| *a[0].ty == Kind::Str)
    .raises()
    .reads()
    .doc("A bytearray of a text in UTF-8, ASCII or Latin-1; UnicodeEncodeError."),
    OpDef::new(
        &["bytes.decode", "bytearray.decode"],
        "b, encoding='utf-8', errors='strict'",
        Body::Lir(|_, a| decode_rule(a), emit_decode),
    )
    .raises()
    .reads()
    .doc("The text that bytes are in UTF-8, ASCII or Latin-1; UnicodeDecodeError."),
    OpDef::new(
        &["builtins.str"],
        "object, encoding=..., errors=...",
        Body::Lir(|_, a| decode_rule(a), emit_decode),
    )
    .only_if(|a| is_like(a[0].ty) && !a[1..].iter().all(Arg::is_omitted))
    .raises()
    .reads()
    .doc("The text that bytes are in UTF-8, ASCII or Latin-1; UnicodeDecodeError."),
    // Encodings that only Python knows, or that nobody knows before the call.
    OpDef::new(&["str.encode", "builtins.bytes"], "s, encoding, errors='strict'", Body::Py("text.encoded"))
        .only_if(|a| a.iter().all(|x| *x.ty == Kind::Str))
        .raises()
        .reads()
        .doc("The bytes of a text in an encoding that Python has; LookupError, UnicodeEncodeError."),
    OpDef::new(
        &["bytes.decode", "bytearray.decode"],
        "b, encoding, errors='strict'",
        Body::Py("text.decoded"),
    )
    .only_if(|a| is_like(a[0].ty) && a[1..].iter().all(|x| *x.ty == Kind::Str))
    .raises()
    .reads()
    .doc("The text that bytes are in an encoding that Python has; LookupError, UnicodeDecodeError."),
    OpDef::new(&["builtins.str"], "object, encoding, errors='strict'", Body::Py("text.decoded"))
        .only_if(|a| is_like(a[0].ty) && a[1..].iter().all(|x| *x.ty == Kind::Str))
        .raises()
        .reads()
        .doc("The text that bytes are in an encoding that Python has; LookupError, UnicodeDecodeError."),
    OpDef::new(&["operator.mod"], "format, values", Body::Py("text.percent_of_bytes"))
        .only_if(|a| {
            *a[0].ty == Kind::Bytes
                && a[1].ty.members().map_or_else(|| is_shown(a[1].ty), |m| m.iter().all(|t| is_shown(*t)))
        })
        .raises()
        .reads()
        .doc("The bytes that a format describes, in the way of C's `printf`."),
    OpDef::new(
        &["builtins.int"],
        "x, base=10",
        Body::Lir(
            |_, a| {
                if is_like(a[0].ty) && a[1].ty.is_index() {
                    Ok(Answer::of(Type::int()))
                } else {
                    Err(no_match("int()", a))
                }
            },
            |cx, c| like::call(cx, c, &bytes_to_int),
        ),
    )
    .raises()
    .reads()
    .doc("The integer that bytes spell; ValueError."),
    OpDef::new(
        &["builtins.float"],
        "x",
        Body::Lir(
            |_, a| if is_like(a[0].ty) { Ok(Answer::of(Type::float())) } else { Err(no_match("float()", a)) },
            |cx, c| {
                let array = cx.b.bool(like::is_array(c.types[0]));
                like::with_text(cx, c, Shown::InPlace, |cx, b| {
                    Ok(vec![cx.helper_value(&bytes_to_float, &[b, array])])
                })
            },
        ),
    )
    .raises()
    .reads()
    .doc("The number that bytes spell; ValueError."),
    OpDef::new(
        &["int.to_bytes"],
        "v, length=1, byteorder='big', *, signed=False",
        Body::Lir(
            |_, a| {
                let fits = a[0].ty.is_index()
                    && (a[0].ty.is_weak() || *a[0].ty == Kind::Bool)
                    && a[1].ty.is_index()
                    && *a[2].ty == Kind::Str
                    && a[3].ty.is_flag();
                if fits { Ok(Answer::of(Type::bytes())) } else { Err(no_match("int.to_bytes()", a)) }
            },
            |cx, c| {
                let v = cast::to_i64(cx, c.args[0][0], c.types[0]);
                let unsigned = matches!(*c.types[0], Kind::Int(i) if !i.signed());
                let (unsigned, signed) = (cx.b.bool(unsigned), truth(cx, &c.args[3], c.types[3])?);
                let n = cast::to_i64(cx, c.args[1][0], c.types[1]);
                Ok(vec![cx.helper_value(&bytes_of_int, &[v, unsigned, n, c.args[2][0], signed])])
            },
        ),
    )
    .raises()
    .reads()
    .doc("So many bytes of an integer; ValueError, OverflowError."),
    OpDef::new(
        &["int.from_bytes"],
        "bytes, byteorder='big', *, signed=False",
        Body::Py("bytestrings.int_from_integers"),
    )
    .only_if(|a| !is_like(a[0].ty))
    .of_class()
    .raises()
    .reads()
    .doc("The integer that bytes are, given as integers; ValueError, OverflowError."),
    OpDef::new(
        &["int.from_bytes"],
        "bytes, byteorder='big', *, signed=False",
        Body::Lir(
            |_, a| {
                let fits = is_like(a[0].ty) && *a[1].ty == Kind::Str && a[2].ty.is_flag();
                if fits { Ok(Answer::of(Type::int())) } else { Err(no_match("int.from_bytes()", a)) }
            },
            |cx, c| {
                let signed = truth(cx, &c.args[2], c.types[2])?;
                let order = c.args[1][0];
                like::with_text(cx, c, Shown::InPlace, |cx, b| {
                    Ok(vec![cx.helper_value(&bytes_as_int, &[b, order, signed])])
                })
            },
        ),
    )
    .of_class()
    .raises()
    .reads()
    .doc("The integer that bytes are; ValueError, and OverflowError past 64 bits."),
];

/// The encoding and what is done about errors, which must be known.
fn manner(args: &[Arg]) -> Result<(Codec, Errors)> {
    let of = |k: usize, what: &str, default: &str| -> Result<String> {
        if args[k].is_omitted() {
            return Ok(default.into());
        }
        args[k].text().map(str::to_owned).ok_or_else(|| {
            refused(format!("the {what} must be known when the function is compiled"))
                .help("write it as a text in the call")
        })
    };
    let (encoding, errors) =
        (of(1, "encoding", "utf-8")?, of(2, "name of what is done about errors", "strict")?);
    let codec = Codec::named(&encoding).ok_or_else(|| {
        refused(format!("the encoding '{encoding}' is not compiled"))
            .help("utf-8, ascii and latin-1 are; convert outside the function otherwise")
    })?;
    let errors = Errors::named(&errors).ok_or_else(|| {
        let known: Vec<&str> = Errors::ALL.iter().map(|e| e.name()).collect();
        refused(format!("errors='{errors}' is not compiled")).help(format!("{} are", known.join(", ")))
    })?;
    Ok((codec, errors))
}

/// Whether Python has the same for a value: one of its own numbers, a text or bytes.
fn is_shown(t: Type) -> bool {
    matches!(*t, Kind::Str | Kind::Bytes) || *t == Kind::Bool || t.is_number() && t.is_weak()
}

fn encode_rule(args: &[Arg]) -> Result<Answer> {
    if *args[0].ty != Kind::Str {
        return Err(no_match("str.encode()", args));
    }
    manner(args)?;
    Ok(Answer::of(Type::bytes()))
}

fn decode_rule(args: &[Arg]) -> Result<Answer> {
    if !is_like(args[0].ty) {
        return Err(no_match("bytes.decode()", args));
    }
    manner(args)?;
    Ok(Answer::of(Type::str()))
}

/// The numbers that the helpers are told.
fn numbers(c: &OpCall<'_>) -> Result<(Codec, Errors)> {
    let arg = |k: usize| match &c.consts[k] {
        Some(Const::Str(s)) => Ok(Arg::constant(Const::Str(s.clone()))),
        _ if *c.types[k] == Kind::Ellipsis => Ok(Arg::of(c.types[k])),
        _ => Err(Diagnostic::internal("an encoding that is not known")),
    };
    manner(&[Arg::of(c.types[0]), arg(1)?, arg(2)?])
}

fn emit_encode(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (codec, errors) = numbers(c)?;
    let (codec, errors) = (cx.b.i64(codec as i64), cx.b.i64(errors as i64));
    Ok(vec![cx.helper_value(&bytes_encode, &[c.args[0][0], codec, errors])])
}

fn emit_decode(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (codec, errors) = numbers(c)?;
    let (codec, errors) = (cx.b.iconst(Ty::I64, codec as i64), cx.b.iconst(Ty::I64, errors as i64));
    like::with_text(cx, c, Shown::Copied, |cx, b| {
        Ok(vec![cx.helper_value(&bytes_decode, &[b, codec, errors])])
    })
}
