//! `print`: values are sent piece by piece to a buffer of the thread; the end writes it to Python's
//! `sys.stdout` in one go.

use super::mapping::texts;
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::elem::Elem;
use crate::emit::arrays::ArrayVal;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::truth::truth;
use crate::emit::{cast, constants};
use crate::layout::Str;
use crate::lir::{Alias, Op, Ty, Value};
use crate::rt::{Ctx, P};
use crate::types::{ArrayType, Container, Kind, Type};
use crate::typing::{Answer, Arg, TyCx};

super::identity::op_ids! {
    BUILTINS_PRINT = "builtins.print" [keywords(Takes)],
}

crate::runtime_fns! {
    /// Printing.
    trait Helpers;
    /// Constant UTF-8 text: separators, parentheses, the end.
    fn print_text(text: P, len: i64) [Writes, Never];
    /// `str(v)`.
    fn print_i64(v: i64) [Writes, Never];
    /// `str(v)` of an unsigned integer.
    fn print_u64(v: i64) [Writes, Never];
    /// `str(v)`.
    fn print_bool(v: i8) [Writes, Never];
    /// `str(v)`.
    fn print_f64(v: f64) [Writes, Never];
    /// `str(np.float32(v))`.
    fn print_f32(v: f32) [Writes, Never];
    /// `str(complex(re, im))`.
    fn print_complex(re: f64, im: f64) [Writes, Never];
    /// `str(np.complex64(complex(re, im)))`.
    fn print_complex64(re: f32, im: f32) [Writes, Never];
    /// The string itself, or its `repr` (inside tuples and lists).
    fn print_str(s: *mut Str, repr: i8) [Writes, Never];
    /// An array as NumPy prints it; `of` is the type of its elements, strides are in bytes, `repr` asks for its
    /// `repr`.
    fn print_array(ctx: Ctx, of: P, ndim: i64, shape: *const i64, strides: *const i64, data: P, repr: i8) [Writes, Pending];
    /// The same as a string object, for `str(a)` and `repr(a)`.
    fn array_text(ctx: Ctx, of: P, ndim: i64, shape: *const i64, strides: *const i64, data: P, repr: i8) -> *mut Str [Allocates, Pending];
    /// Writes what was sent to `sys.stdout`, and flushes that where asked for. What writing raises is raised.
    fn print_end(ctx: Ctx, flush: i8) [Writes, Pending];
}

pub(crate) static OPS: &[OpDef] = &[
    // Keyword parameters come first.
    OpDef::new(
        &["builtins.print"],
        "*values, sep=' ', end='\n', flush=False, file=None",
        Body::Py("streams.print_to"),
    )
    .only_if(|a| matches!(*a[3].ty, Kind::Frozen(..) | Kind::Object(..)))
    .records()
    .raises()
    .writes()
    .doc("Writes values to an object, by its `write`."),
    OpDef::new(
        &["builtins.print"],
        "*values, sep=' ', end='\n', flush=False, file=None",
        Body::Lir(print_rule, emit_print),
    )
    .records()
    .raises()
    .writes()
    .halves()
    .doc("Writes values to `sys.stdout`, in one go."),
    OpDef::new(&["builtins.print"], "*values, sep=' ', end='\n', flush=False", Body::Py("text.print_texts"))
        .records()
        .raises()
        .writes()
        .doc("The same of values whose text is put together in Python."),
    OpDef::new(
        &["builtins.str"],
        "object",
        Body::Lir(|_, a| array_rule(a), |cx, c| array_string(cx, c, false)),
    )
    .records()
    .raises()
    .reads()
    .doc("The text of an array as NumPy prints it."),
    OpDef::new(&["builtins.repr"], "a", Body::Lir(|_, a| array_rule(a), |cx, c| array_string(cx, c, true)))
        .records()
        .raises()
        .reads()
        .doc("`repr` of an array."),
];

fn printable(t: Type) -> bool {
    t.is_element()
        || matches!(*t, Kind::None | Kind::Ellipsis | Kind::Str | Kind::Bytes | Kind::Exception)
        || matches!(*t, Kind::Var(_) | Kind::Never | Kind::Range(_) | Kind::DType(_) | Kind::Simd(..))
        || t.as_array().is_some_and(is_shown)
        || super::text::is_mark(t)
        || t.container()
            .is_some_and(|(c, m)| texts::around(c, m).is_some() && m.iter().take(2).all(|t| printable(*t)))
        || matches!(*t, Kind::Optional(_) | Kind::List(_) | Kind::Variant(_))
            && t.arguments().iter().all(printable)
        || matches!(t.kind(), Kind::Frozen(c, _) if c.is_builtin_value())
        || !matches!(t.kind(), Kind::Frozen(c, _) if !c.generated().text)
            && t.parts().is_some_and(|m| m.iter().all(|t| printable(*t)))
}

fn print_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    // Keyword parameters come first: the values are the rest.
    if !args[3].is_none() {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            "print(file=…) takes an object of a class that is compiled, such as io.StringIO",
        )
        .help("leave `file` out, or print outside the function"));
    }
    for a in &args[4..] {
        if !printable(a.ty) {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                format!("print() cannot print a value of type {}", a.ty),
            ));
        }
    }
    for (a, name) in args[..2].iter().zip(["sep", "end"]) {
        if *a.ty != Kind::Str && !a.is_none() {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                format!("{name} must be None or a string, not {}", a.ty),
            ));
        }
    }
    Ok(Answer::of(Type::none()))
}

fn emit_print(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if cx.options.kernel {
        return super::cuda_print::emit(cx, c);
    }
    for (k, (v, t)) in c.args[4..].iter().zip(&c.types[4..]).enumerate() {
        if k > 0 {
            send_text(cx, c, 0, " ");
        }
        send(cx, v, *t, false)?;
    }
    send_text(cx, c, 1, "\n");
    let flush = truth(cx, &c.args[2], c.types[2])?;
    cx.helper(&print_end, &[flush]);
    Ok(vec![])
}

/// `sep` or `end`.
fn send_text(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize, default: &str) {
    if *c.types[k] == Kind::None {
        return constant(cx, default);
    }
    let no = cx.b.bool(false);
    cx.helper(&print_str, &[c.args[k][0], no]);
}

fn constant(cx: &mut LowerCx<'_>, text: &str) {
    let (at, n) = (constants::bytes(&mut cx.b, text), cx.b.i64(text.len() as i64));
    cx.helper(&print_text, &[at, n]);
}

/// Sends the text of one value.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other type is printable")]
fn send(cx: &mut LowerCx<'_>, v: &[Value], t: Type, repr: bool) -> Result<()> {
    match t.kind() {
        Kind::None => constant(cx, "None"),
        Kind::Ellipsis => constant(cx, "Ellipsis"),
        Kind::Bool => {
            cx.helper(&print_bool, v);
        }
        Kind::Int(i) => {
            let x = cast::to_i64(cx, v[0], t);
            cx.helper(if i.signed() { &print_i64 } else { &print_u64 }, &[x]);
        }
        Kind::Float(_) => {
            cx.helper(if cx.b.ty(v[0]) == Ty::F32 { &print_f32 } else { &print_f64 }, v);
        }
        Kind::Complex(_) => {
            cx.helper(if cx.b.ty(v[0]) == Ty::F32 { &print_complex64 } else { &print_complex }, v);
        }
        Kind::Str => {
            let quoted = cx.b.bool(repr);
            cx.helper(&print_str, &[v[0], quoted]);
        }
        Kind::Bytes | Kind::Time(_) | Kind::Exception | Kind::Container(Container::ByteArray, _) => {
            let s = super::text::text(cx, v, t, repr)?;
            let no = cx.b.bool(false);
            cx.helper(&print_str, &[s, no]);
            cx.release_object(s);
        }
        Kind::Frozen(c, _) if c.is_builtin_value() => {
            let s = super::text::text(cx, v, t, repr)?;
            let no = cx.b.bool(false);
            cx.helper(&print_str, &[s, no]);
            cx.release_object(s);
        }
        Kind::Member(c) if c.is_mark() => {
            let s = super::text::text(cx, v, t, repr)?;
            let no = cx.b.bool(false);
            cx.helper(&print_str, &[s, no]);
            cx.release_object(s);
        }
        Kind::DType(d) => constant(cx, &if repr { format!("dtype('{d}')") } else { d.to_string() }),
        Kind::Optional(inner) => {
            cx.if_else(
                v[0],
                |cx| send(cx, &v[1..], *inner, repr).map(|()| vec![]),
                |cx| {
                    constant(cx, "None");
                    Ok(vec![])
                },
            )?;
        }
        Kind::Array(_) => {
            let args = array_args(cx, v, t, repr)?;
            cx.helper(&print_array, &args);
        }
        Kind::Variant(m) => send_variant(cx, v, m, 0, repr)?,
        Kind::List(e) if **e == Kind::Never => constant(cx, "[]"),
        Kind::List(e) => send_list(cx, v[0], *e)?,
        Kind::Container(c, m) => send_container(cx, v, *c, m)?,
        Kind::Range(_) => {
            let by = crate::emit::range::step(cx, v, t);
            constant(cx, "range(");
            cx.helper(&print_i64, &[v[0]]);
            constant(cx, ", ");
            cx.helper(&print_i64, &[v[1]]);
            let plain = cx.b.bin_imm(Op::IcmpEq, by, 1);
            cx.if_else(
                plain,
                |_| Ok(vec![]),
                |cx| {
                    constant(cx, ", ");
                    cx.helper(&print_i64, &[by]);
                    Ok(vec![])
                },
            )?;
            constant(cx, ")");
        }
        Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Frozen(_, m) => send_tuple(cx, v, t, m)?,
        Kind::Simd(lane, n) => send_tuple(cx, v, t, &vec![*lane; usize::from(*n)])?,
        _ => return Err(Diagnostic::internal(format!("print of {t}"))),
    }
    Ok(())
}

/// Whichever it is, from the `k`-th on.
fn send_variant(cx: &mut LowerCx<'_>, v: &[Value], m: &[Type], k: usize, repr: bool) -> Result<()> {
    let part = split_leaves(&v[1..], m)[k].clone();
    if k + 1 == m.len() {
        return send(cx, &part, m[k], repr);
    }
    let is = cx.b.bin_imm(Op::IcmpEq, v[0], k as i64);
    cx.if_else(
        is,
        |cx| send(cx, &part, m[k], repr).map(|()| vec![]),
        |cx| send_variant(cx, v, m, k + 1, repr).map(|()| vec![]),
    )?;
    Ok(())
}

fn send_tuple(cx: &mut LowerCx<'_>, v: &[Value], t: Type, m: &[Type]) -> Result<()> {
    let (names, around) = (t.field_names(), super::text::around(t, m));
    constant(cx, &around.open);
    for (k, (x, ty)) in split_leaves(v, m).iter().zip(m).enumerate() {
        if k > 0 {
            constant(cx, ", ");
        }
        match names.get(k) {
            Some(name) if around.keys => {
                let name = crate::emit::constants::string(&mut cx.b, name);
                send(cx, &[name], Type::str(), true)?;
                constant(cx, ": ");
            }
            Some(name) => constant(cx, &format!("{name}=")),
            None => {}
        }
        send(cx, x, *ty, true)?;
    }
    constant(cx, around.close);
    Ok(())
}

fn send_list(cx: &mut LowerCx<'_>, list: Value, e: Type) -> Result<()> {
    constant(cx, "[");
    let n = super::list::len(cx, list);
    cx.for_range(n, &[], |cx, i, _| {
        let first = cx.b.bin_imm(Op::IcmpEq, i, 0);
        cx.if_else(
            first,
            |_| Ok(vec![]),
            |cx| {
                constant(cx, ", ");
                Ok(vec![])
            },
        )?;
        let x = super::list::element(cx, list, e, i);
        send(cx, &x, e, true)?;
        cx.release(&x, e);
        Ok(vec![])
    })?;
    constant(cx, "]");
    Ok(())
}

/// A dict, or a view of one.
fn send_container(cx: &mut LowerCx<'_>, v: &[Value], c: Container, m: &[Type]) -> Result<()> {
    if let Some(empty) = c.text_when_empty() {
        let n = crate::emit::length::length(cx, v, Type::new(Kind::Container(c, m.to_vec())))?;
        let none = cx.b.bin_imm(Op::IcmpEq, n, 0);
        cx.if_else(
            none,
            |cx| {
                constant(cx, empty);
                Ok(vec![])
            },
            |cx| send_entries(cx, v, c, m).map(|()| vec![]),
        )?;
        return Ok(());
    }
    send_entries(cx, v, c, m)
}

fn send_entries(cx: &mut LowerCx<'_>, v: &[Value], c: Container, m: &[Type]) -> Result<()> {
    let Some([open, close]) = texts::around(c, m) else {
        return Err(Diagnostic::internal("a container without a text"));
    };
    if c == Container::Counter {
        let sorted = cx.helper_value(&super::dict::dict_by_count, v);
        constant(cx, &open);
        send_each(cx, &[sorted], c, m)?;
        cx.release_object(sorted);
    } else {
        constant(cx, &open);
        send_each(cx, v, c, m)?;
    }
    if c == Container::Deque {
        return send_limit(cx, v[0], &close);
    }
    if c == Container::Tuple {
        let n = super::list::len(cx, v[0]);
        let one = cx.b.bin_imm(Op::IcmpEq, n, 1);
        cx.if_then(one, |cx| {
            constant(cx, ",");
            Ok(())
        })?;
    }
    constant(cx, &close);
    Ok(())
}

fn send_each(cx: &mut LowerCx<'_>, v: &[Value], c: Container, m: &[Type]) -> Result<()> {
    let shown = c.shown();
    let in_pairs = shown != c && !texts::shows_tuples(c);
    if m.iter().all(|t| **t != Kind::Never) {
        let sent = cx.b.slot_addr(8);
        let zero = cx.b.i64(0);
        cx.b.store(zero, sent, 0, Alias::Stack);
        super::iter::for_each(cx, v, Type::new(Kind::Container(shown, m.to_vec())), |cx, x, t| {
            let n = cx.b.load(Ty::I64, sent, 0, Alias::Stack);
            let more = cx.b.bin_imm(Op::Iadd, n, 1);
            cx.b.store(more, sent, 0, Alias::Stack);
            let later = cx.b.bin_imm(Op::IcmpNe, n, 0);
            cx.if_then(later, |cx| {
                constant(cx, ", ");
                Ok(())
            })?;
            if in_pairs {
                let (key, value) = x.split_at(m[0].leaf_count());
                send(cx, key, m[0], true)?;
                constant(cx, ": ");
                send(cx, value, m[1], true)?;
            } else {
                send(cx, &x, t, true)?;
            }
            cx.release(&x, t);
            Ok(())
        })?;
    }
    Ok(())
}

/// How the text of a deque ends: with its greatest length, where it has one.
fn send_limit(cx: &mut LowerCx<'_>, deque: Value, close: &str) -> Result<()> {
    let limit = super::deque::limit(cx, deque);
    let some = cx.b.bin_imm(Op::IcmpSge, limit, 0);
    cx.if_else(
        some,
        |cx| {
            constant(cx, "], maxlen=");
            cx.helper(&print_i64, &[limit]);
            constant(cx, ")");
            Ok(vec![])
        },
        |cx| {
            constant(cx, close);
            Ok(vec![])
        },
    )?;
    Ok(())
}

/// Whether the host can show arrays of this type: of numbers, times and text, and of records that are not by
/// themselves.
pub(crate) fn is_shown(a: ArrayType) -> bool {
    let by_itself = a.ndim == 0 && a.dtype.chars().is_none();
    Elem::of(a.dtype).is_some() || a.dtype.time().is_some() || a.dtype.record().is_some() && !by_itself
}

/// Arguments of the helpers that print arrays.
pub(crate) fn array_args(cx: &mut LowerCx<'_>, v: &[Value], t: Type, repr: bool) -> Result<Vec<Value>> {
    let a = ArrayVal::new(cx, v, t)?;
    let n = a.shape.len();
    let slot = cx.b.slot_addr(16 * n.max(1) as u32);
    for (k, x) in a.shape.iter().chain(&a.strides).enumerate() {
        cx.b.store(*x, slot, 8 * k as i32, Alias::Stack);
    }
    let off = cx.b.i64(8 * n as i64);
    let strides = cx.b.ptr_add(slot, off);
    let of = cx.b.symbol_addr(&format!("objects {:#}", a.ty.dtype), a.ty.dtype.address());
    Ok(vec![of, cx.b.i64(n as i64), slot, strides, a.data, cx.b.bool(repr)])
}

fn array_rule(args: &[Arg]) -> Result<Answer> {
    match args[0].ty.as_array() {
        Some(a) if is_shown(a) => Ok(Answer::of(Type::str())),
        _ => Err(crate::typing::no_match("str()", args)),
    }
}

fn array_string(cx: &mut LowerCx<'_>, c: &OpCall<'_>, repr: bool) -> Result<Val> {
    let args = array_args(cx, &c.args[0], c.types[0], repr)?;
    Ok(vec![cx.helper_value(&array_text, &args)])
}
