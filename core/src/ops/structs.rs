//! Python's modules `struct` and `binascii`. A format must be known when a function is compiled: it says what
//! types come out, and each field is a load or a store.

mod format;

use super::bytes::like::{self, Shown, is_like};
use super::bytes::{bytes_of_memory, refused};
use super::written::{At, Called, Program};
use super::{Body, OpDef, id};
use crate::diag::{Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};
use format::{Field, Format, Holds};

super::identity::op_ids! {
    STRUCT_FIELD = "struct.field",
    STRUCT_JOIN = "struct.join",
    STRUCT_PUT = "struct.put",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["struct.calcsize"],
        "format",
        Body::Lir(
            |_, a| Ok(Answer::constant(Const::Int(format_of(a)?.size))),
            |_, _| Err(Diagnostic::internal("the size of a format is a constant")),
        ),
    )
    .doc("The number of bytes of a format."),
    OpDef::new(&["struct.pack"], "format, *values", Body::Written(write_pack))
        .raises()
        .reads()
        .doc("Values as bytes; struct.error."),
    OpDef::new(&["struct.unpack"], "format, buffer", Body::Py("structs.unpack"))
        .only_if(|a| is_like(a[1].ty))
        .raises()
        .reads()
        .doc("The values that bytes hold; struct.error."),
    OpDef::new(&["struct.unpack_from"], "format, buffer, offset=0", Body::Py("structs.unpack_from"))
        .only_if(|a| is_like(a[1].ty) && a[2].ty.is_index())
        .raises()
        .reads()
        .doc("The values that bytes hold from a place on; struct.error."),
    // Of objects with memory that are instances of classes of the library.
    OpDef::new(&["struct.unpack"], "format, buffer", Body::Py("structs.unpack_view"))
        .only_if(|a| matches!(*a[1].ty, Kind::Frozen(..)))
        .raises()
        .reads()
        .doc("The values that memory holds; struct.error."),
    OpDef::new(&["struct.unpack_from"], "format, buffer, offset=0", Body::Py("structs.unpack_view_from"))
        .only_if(|a| matches!(*a[1].ty, Kind::Frozen(..)) && a[2].ty.is_index())
        .raises()
        .reads()
        .doc("The values that memory holds from a place on; struct.error."),
    OpDef::new(&["struct.iter_unpack"], "format, buffer", Body::Py("structs.iter_unpack"))
        .only_if(|a| is_like(a[1].ty) || matches!(*a[1].ty, Kind::Frozen(..)))
        .raises()
        .reads()
        .doc("The values of one part after the other; struct.error."),
    OpDef::new(&["struct.pack_into"], "format, buffer, offset, *values", Body::Written(write_pack_into))
        .only_if(|a| {
            let memory = like::is_array(a[1].ty)
                || a[1].ty.as_array().is_some()
                || matches!(*a[1].ty, Kind::Frozen(..));
            memory && a[2].ty.is_index()
        })
        .raises()
        .writes()
        .doc("Writes values as bytes into a bytearray, an array or a view; struct.error."),
    OpDef::new(&["struct.put"], "buffer, offset, data", Body::Py("structs.put"))
        .raises()
        .writes()
        .internal()
        .doc("Writes bytes to a place; struct.error."),
    OpDef::new(&["struct.Struct"], "format", Body::Py("structs.compiled"))
        .raises()
        .doc("A format with its functions as methods."),
    OpDef::new(&["struct._compiled"], "format", Body::Lir(compiled_rule, |_, _| Ok(vec![])))
        .internal()
        .doc("The function that gives a format (library use)."),
    OpDef::new(&["struct.field"], "code, native, x", Body::Py("structs.field"))
        .raises()
        .internal()
        .doc("A value as a field of a format takes it; struct.error."),
    OpDef::new(
        &["struct.join"],
        "format, *values",
        Body::Lir(
            |_, a| {
                format_of(a)?;
                Ok(Answer::of(Type::bytes()))
            },
            emit_pack,
        ),
    )
    .raises()
    .reads()
    .internal()
    .doc("Fields of a format, one behind the other."),
    OpDef::new(&["operator._unpacked"], "format, buffer, offset", Body::Lir(unpack_rule, emit_unpack))
        .raises()
        .reads()
        .internal()
        .doc("The fields at a place where there are as many bytes."),
    OpDef::new(
        &["binascii.hexlify", "binascii.b2a_hex"],
        "data, sep=..., bytes_per_sep=1",
        Body::Py("structs.hexlify"),
    )
    .only_if(|a| is_like(a[0].ty))
    .raises()
    .reads()
    .doc("Two hexadecimal digits for each byte, as bytes; ValueError."),
    OpDef::new(&["binascii.unhexlify", "binascii.a2b_hex"], "hexstr", Body::Py("structs.unhexlify"))
        .only_if(|a| is_like(a[0].ty) || *a[0].ty == Kind::Str)
        .raises()
        .reads()
        .doc("Bytes by their hexadecimal digits; binascii.Error, ValueError."),
];

fn compiled_rule(cx: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    format_of(a)?;
    let format = a[0].konst.clone().ok_or_else(|| no_match("struct.Struct()", a))?;
    cx.written("_structs.maker", &[format])
}

/// The format that the first operand is.
fn format_of(args: &[Arg]) -> Result<Format> {
    let text = match &args[0].konst {
        Some(Const::Str(s)) => s.to_string(),
        Some(Const::Bytes(b)) => String::from_utf8_lossy(b).into_owned(),
        _ => {
            return Err(refused("the format must be known when the function is compiled".into())
                .help("write it as a text in the call"));
        }
    };
    Format::parse(&text).map_err(refused)
}

/// `struct.pack`: each value is made what its field takes, then all are put together.
fn write_pack(call: &Called<'_>) -> Result<Program> {
    packed(call.given, 1, "pack").map(|(program, _)| program)
}

/// `struct.pack_into`: what `pack` gives is written to a place.
fn write_pack_into(call: &Called<'_>) -> Result<Program> {
    let (mut program, data) = packed(call.given, 3, "pack_into")?;
    let (buffer, offset) = (program.operand(1), program.operand(2));
    program.apply(id::STRUCT_PUT, &[buffer, offset, data]);
    Ok(program)
}

/// The bytes of values, which begin at that operand.
fn packed(given: &[Arg], first: usize, what: &str) -> Result<(Program, At)> {
    let (Some(format), Some(values)) = (given.first(), given.get(first..)) else {
        return Err(no_match(&format!("struct.{what}()"), given));
    };
    let form = format_of(std::slice::from_ref(format))?;
    let fields: Vec<&Field> = form.fields.iter().filter(|f| f.holds != Holds::Nothing).collect();
    if fields.len() != values.len() {
        let text = format!("{what} expected {} items for packing (got {})", fields.len(), values.len());
        return Err(refused(text));
    }
    let mut program = Program::default();
    let konst = format.konst.clone().ok_or_else(|| Diagnostic::internal("a format that is not known"))?;
    let mut all = vec![];
    for (k, field) in fields.iter().enumerate() {
        let code = program.text(&field.code.to_string());
        let native = program.constant(Const::Bool(form.native));
        let value = program.operand(k + first);
        all.push(program.apply(id::STRUCT_FIELD, &[code, native, value]));
    }
    let format = program.constant(konst);
    let data = program.apply(id::STRUCT_JOIN, &[&[format], &all[..]].concat());
    Ok((program, data))
}

/// The format of a call that was typed.
fn known(c: &OpCall<'_>) -> Result<Format> {
    let konst = c.consts[0].clone().ok_or_else(|| Diagnostic::internal("a format that is not known"))?;
    format_of(&[Arg::constant(konst)])
}

fn emit_pack(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let form = known(c)?;
    let to = cx.b.slot_addr((form.size as u32).next_multiple_of(8).max(8));
    let zero = cx.b.iconst(Ty::I8, 0);
    let mut values = c.args[1..].iter().zip(&c.types[1..]);
    let mut end = 0;
    for field in &form.fields {
        // What lies between fields is zero.
        (end..field.at).for_each(|at| cx.b.store(zero, to, at as i32, Alias::Stack));
        end = field.at + field.size;
        if field.holds == Holds::Nothing {
            (field.at..end).for_each(|at| cx.b.store(zero, to, at as i32, Alias::Stack));
            continue;
        }
        let Some((v, t)) = values.next() else { return Err(Diagnostic::internal("a field without a value")) };
        let bits = match field.holds {
            Holds::Bytes => {
                store_bytes(cx, to, field, v[0])?;
                continue;
            }
            Holds::Float if field.size == 4 => {
                let x = cast::scalar(cx, v[0], *t, Type::float_of(crate::types::Float::F32));
                cx.b.conv(Op::Bitcast, Ty::I32, x)
            }
            Holds::Float => {
                let x = cast::scalar(cx, v[0], *t, Type::f64());
                cx.b.conv(Op::Bitcast, Ty::I64, x)
            }
            Holds::Int | Holds::Unsigned | Holds::Bool | Holds::Nothing => cast::to_i64(cx, v[0], *t),
        };
        let wide = if cx.b.ty(bits) == Ty::I64 { bits } else { cast::resize(cx, bits, false, Ty::I64) };
        for k in 0..field.size {
            let shift = 8 * if form.big { field.size - 1 - k } else { k };
            let part = if shift == 0 { wide } else { cx.b.bin_imm(Op::Ushr, wide, shift) };
            let byte = cast::resize(cx, part, false, Ty::I8);
            cx.b.store(byte, to, (field.at + k) as i32, Alias::Stack);
        }
    }
    (end..form.size).for_each(|at| cx.b.store(zero, to, at as i32, Alias::Stack));
    let n = cx.b.i64(form.size);
    Ok(vec![cx.helper_value(&bytes_of_memory, &[to, n])])
}

/// As many bytes of a value as a field has room for, and zeros behind them.
fn store_bytes(cx: &mut LowerCx<'_>, to: Value, field: &Field, bytes: Value) -> Result<()> {
    let data = cx.b.load(Ty::Ptr, bytes, offset!(Str.data), Alias::Const);
    let n = cx.b.load(Ty::I64, bytes, offset!(Str.len), Alias::Const);
    for k in 0..field.size {
        let there = cx.b.bin_imm(Op::IcmpSgt, n, k);
        let byte = cx.if_else(
            there,
            |cx| Ok(vec![cx.b.load(Ty::I8, data, k as i32, Alias::Const)]),
            |cx| Ok(vec![cx.b.iconst(Ty::I8, 0)]),
        )?;
        cx.b.store(byte[0], to, (field.at + k) as i32, Alias::Stack);
    }
    Ok(())
}

fn unpack_rule(_: &mut crate::typing::TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !is_like(args[1].ty) || !args[2].ty.is_index() {
        return Err(no_match("struct.unpack()", args));
    }
    let fields = format_of(args)?.fields;
    let types = fields.iter().filter_map(|f| match f.holds {
        Holds::Nothing => None,
        Holds::Int => Some(Type::int()),
        Holds::Unsigned => Some(if f.size == 8 { Type::big_int() } else { Type::int() }),
        Holds::Bool => Some(Type::bool()),
        Holds::Float => Some(Type::float()),
        Holds::Bytes => Some(Type::bytes()),
    });
    Ok(Answer::of(Type::tuple(types.collect())))
}

fn emit_unpack(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let form = known(c)?;
    let from = cast::to_i64(cx, c.args[2][0], c.types[2]);
    let only = OpCall { args: &c.args[1..2], types: &c.types[1..2], ..*c };
    like::with_text(cx, &only, Shown::InPlace, |cx, bytes| {
        let alias = if like::is_array(c.types[1]) { Alias::Object } else { Alias::Const };
        let data = cx.b.load(
            Ty::Ptr,
            bytes,
            offset!(Str.data),
            if alias == Alias::Const { alias } else { Alias::Stack },
        );
        let at = cx.b.ptr_add(data, from);
        let (mut out, mut made) = (vec![], vec![]);
        for field in form.fields.iter().filter(|f| f.holds != Holds::Nothing) {
            if field.holds == Holds::Bytes {
                let (p, n) = (cx.b.i64(field.at), cx.b.i64(field.size));
                let p = cx.b.ptr_add(at, p);
                let part = cx.guarded(&made, |cx| Ok(cx.helper_value(&bytes_of_memory, &[p, n])))?;
                made.push(part);
                out.push(part);
                continue;
            }
            let bits = bits_at(cx, at, field, form.big, alias);
            out.push(match field.holds {
                Holds::Float if field.size == 4 => {
                    let narrow = cast::resize(cx, bits, false, Ty::I32);
                    let x = cx.b.conv(Op::Bitcast, Ty::F32, narrow);
                    cast::widen(cx, x)
                }
                Holds::Float => cx.b.conv(Op::Bitcast, Ty::F64, bits),
                Holds::Bool => cx.b.bin_imm(Op::IcmpNe, bits, 0),
                Holds::Int if field.size < 8 => {
                    let shift = 64 - 8 * field.size;
                    let up = cx.b.bin_imm(Op::Ishl, bits, shift);
                    cx.b.bin_imm(Op::Sshr, up, shift)
                }
                Holds::Int | Holds::Unsigned | Holds::Bytes | Holds::Nothing => bits,
            });
        }
        Ok(out)
    })
}

/// The bytes of a field as one number.
fn bits_at(cx: &mut LowerCx<'_>, at: Value, field: &Field, big: bool, alias: Alias) -> Value {
    let mut sum = cx.b.i64(0);
    for k in 0..field.size {
        let byte = cx.b.load(Ty::I8, at, (field.at + k) as i32, alias);
        let wide = cast::resize(cx, byte, false, Ty::I64);
        let shift = 8 * if big { field.size - 1 - k } else { k };
        let part = if shift == 0 { wide } else { cx.b.bin_imm(Op::Ishl, wide, shift) };
        sum = cx.b.bin(Op::Bor, sum, part);
    }
    sum
}
