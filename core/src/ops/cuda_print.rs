//! `print` in kernels: a thread leaves what it prints in a buffer, and the host puts the text together when it
//! next waits for the device. What is left of a call is the number of its form, then a word for each value; the
//! form says what stands around them.

use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::lir::grid::{PRINT_WORDS, VALUE, print_buffer, print_form};
use crate::lir::grid_op::GridOp;
use crate::lir::{Alias, InstData, Op, Ty, Value};
use crate::types::{Const, Float, Kind, Type};

/// A call of `print` as far as it has been written.
#[derive(Default)]
struct Call {
    form: String,
    words: Vec<Value>,
}

fn refuse(what: &str) -> Diagnostic {
    Diagnostic::new(Code::GpuUnsupported, format!("print() in a kernel takes no {what}"))
        .help("it takes numbers, constant strings, and tuples of numbers")
}

/// A text in a form.
fn literal(s: &str) -> String {
    s.replace(VALUE, &format!("{VALUE}{VALUE}"))
}

/// What stands for `sep` or `end`.
fn text(c: &OpCall<'_>, k: usize, default: &str) -> Result<String> {
    match (c.types[k].kind(), c.consts[k].as_ref()) {
        (Kind::None, _) => Ok(default.to_owned()),
        (_, Some(Const::Str(s))) => Ok(literal(s)),
        (_, _) => Err(refuse("sep or end that is known only when it runs")),
    }
}

pub(super) fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (sep, mut call) = (text(c, 0, " ")?, Call::default());
    for k in 4..c.args.len() {
        if k > 4 {
            call.form += &sep;
        }
        value(cx, &mut call, &c.args[k], c.types[k], c.consts[k].as_ref(), false)?;
    }
    call.form += &text(c, 1, "\n")?;
    leave(cx, &call)?;
    Ok(vec![])
}

fn value(
    cx: &mut LowerCx<'_>,
    call: &mut Call,
    v: &[Value],
    t: Type,
    konst: Option<&Const>,
    inside: bool,
) -> Result<()> {
    let mut put = |letter: char, word: Value| {
        call.form.extend([VALUE, letter]);
        call.words.push(word);
    };
    if let Kind::Bool = t.kind() {
        let word = cx.b.conv(Op::Zext, Ty::I64, v[0]);
        put('b', word);
    } else if let Kind::Int(i) = t.kind() {
        let word = cast::to_i64(cx, v[0], t);
        put(if i.signed() { 'i' } else { 'u' }, word);
    } else if let Kind::Float(f) = t.kind() {
        let word = bits(cx, v[0]);
        put(if *f == Float::F16 { 'h' } else { letter(cx, v[0]) }, word);
    } else if let Kind::Complex(_) = t.kind() {
        // Its parts are two words.
        let (re, im, letter) = (bits(cx, v[0]), bits(cx, v[1]), letter(cx, v[0]));
        put(letter.to_ascii_uppercase(), re);
        call.words.push(im);
    } else if let (Kind::Str, Some(Const::Str(s))) = (t.kind(), konst) {
        let (open, close) =
            if inside { (format!("{VALUE}r"), format!("{VALUE}e")) } else { Default::default() };
        call.form += &format!("{open}{}{close}", literal(s));
    } else if let Kind::None = t.kind() {
        call.form += "None";
    } else if let Kind::Tuple(m) = t.kind() {
        call.form += "(";
        for (k, (x, ty)) in split_leaves(v, m).iter().zip(m.iter()).enumerate() {
            if k > 0 {
                call.form += ", ";
            }
            let konst = if let Some(Const::Tuple(parts)) = konst { parts.get(k) } else { None };
            value(cx, call, x, *ty, konst, true)?;
        }
        call.form += if m.len() == 1 { ",)" } else { ")" };
    } else {
        return Err(refuse(&t.to_string()));
    }
    Ok(())
}

fn letter(cx: &LowerCx<'_>, v: Value) -> char {
    if cx.b.ty(v) == Ty::F32 { 'f' } else { 'd' }
}

/// A float as a word.
fn bits(cx: &mut LowerCx<'_>, v: Value) -> Value {
    match cx.b.ty(v) {
        Ty::F64 => cx.b.conv(Op::Bitcast, Ty::I64, v),
        Ty::F32 => {
            let narrow = cx.b.conv(Op::Bitcast, Ty::I32, v);
            cx.b.conv(Op::Zext, Ty::I64, narrow)
        }
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr | Ty::Vector(_) => cx.b.conv(Op::Zext, Ty::I64, v),
    }
}

/// Leaves a call in the buffer, where there is room for it; what has none is counted.
fn leave(cx: &mut LowerCx<'_>, call: &Call) -> Result<()> {
    let n = call.words.len() as i64 + 1;
    let buffer = cx.b.symbol_addr(&print_buffer(), 0);
    let form = cx.b.symbol_addr(&print_form(&call.form), 0);
    // The kernel gets its address, so the code that uses it must be the kernel's own.
    cx.b.func.always_inline = true;
    let count = cx.b.i64(n);
    let before = cx.b.value(InstData::Grid { op: GridOp::AtomicAdd, ty: Ty::I64, args: vec![buffer, count] });
    let fits = cx.b.bin_imm(Op::IcmpUle, before, PRINT_WORDS - n);
    cx.if_else(
        fits,
        |cx| {
            let bytes = cx.b.bin_imm(Op::Imul, before, 8);
            let at = cx.b.bin(Op::PtrAdd, buffer, bytes);
            cx.b.store(form, at, 8, Alias::Volatile);
            for (k, word) in call.words.iter().enumerate() {
                cx.b.store(*word, at, 16 + 8 * k as i32, Alias::Volatile);
            }
            Ok(vec![])
        },
        |_| Ok(vec![]),
    )?;
    Ok(())
}
