//! Data that code refers to by address: texts, string objects and type descriptors, interned for the life of
//! the process so that code never outlives it.

use crate::desc;
use crate::intern;
use crate::lir::builder::Builder;
use crate::lir::{Ty, Value};

/// Address of UTF-8 bytes.
pub(crate) fn bytes(b: &mut Builder<'_>, text: &str) -> Value {
    // SAFETY: interned texts live for ever.
    let addr = unsafe { (*intern::text(text)).ptr } as usize;
    b.symbol_addr(&format!("bytes {text:?}"), addr)
}

/// Address of a `(pointer, length)` pair of UTF-8 bytes.
pub(crate) fn text_pair(b: &mut Builder<'_>, text: &str) -> Value {
    b.symbol_addr(&format!("text {text:?}"), intern::text(text) as usize)
}

/// A string object that is never freed.
pub(crate) fn string(b: &mut Builder<'_>, text: &str) -> Value {
    b.symbol_addr(&format!("str {text:?}"), intern::string(text) as usize)
}

/// A string of bytes that is never freed: the object of the text whose code points they are.
pub(crate) fn byte_string(b: &mut Builder<'_>, bytes: &[u8]) -> Value {
    string(b, &crate::types::consts::bytes_text(bytes))
}

/// The descriptor of a type.
pub(crate) fn descriptor(b: &mut Builder<'_>, t: crate::types::Type) -> Value {
    described(b, desc::of(t))
}
/// A descriptor that is at hand.
pub(crate) fn described(b: &mut Builder<'_>, desc: &'static desc::TypeDesc) -> Value {
    b.symbol_addr(desc.symbol(), std::ptr::from_ref(desc) as usize)
}

/// A constant of a scalar type. Numbers are converted to the type at hand.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type is made of members, or has no constants")]
pub(crate) fn scalar(
    b: &mut Builder<'_>,
    c: &crate::types::Const,
    ty: crate::types::Type,
) -> Option<Vec<Value>> {
    use crate::types::{Const, Kind};
    let as_f64 = |c: &Const| match c {
        Const::Bool(x) => Some(*x as i64 as f64),
        Const::Int(i) => Some(*i as f64),
        Const::UInt(u) => Some(*u as f64),
        Const::Float(x) => Some(*x),
        Const::None
        | Const::Ellipsis
        | Const::Complex(..)
        | Const::Str(_)
        | Const::Bytes(_)
        | Const::Tuple(_) => None,
    };
    let float = |b: &mut Builder<'_>, x: f64, bits: u32| if bits == 32 { b.f32(x as f32) } else { b.f64(x) };
    Some(match *ty {
        Kind::Bool => vec![b.bool(c.truth())],
        Kind::Int(i) => {
            let v = match c {
                Const::UInt(u) => *u as i64,
                Const::Float(x) => *x as i64,
                _ => c.as_int()?,
            };
            let t = ty.scalar_ty()?;
            // Constants are kept sign-extended from their width.
            let shift = 64 - i.bits();
            vec![b.iconst(t, v << shift >> shift)]
        }
        Kind::Float(f) => vec![float(b, as_f64(c)?, f.bits())],
        Kind::Complex(f) => {
            let (re, im) = if let Const::Complex(re, im) = c { (*re, *im) } else { (as_f64(c)?, 0.0) };
            vec![float(b, re, f.bits()), float(b, im, f.bits())]
        }
        Kind::Str => vec![string(b, c.as_str()?)],
        Kind::Bytes => vec![byte_string(b, c.as_bytes()?)],
        Kind::None | Kind::Ellipsis | Kind::Builtin(_) | Kind::Module(_) | Kind::DType(_) => vec![],
        Kind::Optional(t) => {
            let present = !matches!(c, Const::None);
            let mut out = vec![b.bool(present)];
            if present {
                out.extend(scalar(b, c, t)?)
            } else {
                out.extend(t.leaves().iter().map(|l| b.constant(l.ty, 0)).collect::<Vec<_>>())
            }
            out
        }
        _ => {
            let types: &[crate::types::Type] = if let Kind::Slice(m) = ty.kind() { m } else { ty.parts()? };
            let Const::Tuple(m) = c else { return None };
            let mut out = vec![];
            for (c, t) in m.iter().zip(types) {
                out.extend(scalar(b, c, *t)?);
            }
            out
        }
    })
}

/// Zero of every leaf: what stands for a value that is not there.
pub(crate) fn absent(b: &mut Builder<'_>, ty: crate::types::Type) -> Vec<Value> {
    ty.leaves().iter().map(|l| if l.ty == Ty::Ptr { b.null() } else { b.constant(l.ty, 0) }).collect()
}
