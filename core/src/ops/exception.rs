//! Raising, matching and handling exceptions.

use super::raising::{
    self, exc_add_array, exc_add_object, exc_arg, exc_arg_count, exc_class_name, exc_is_exactly,
    exc_new_python,
};
use super::{Body, OpDef, id};
use crate::classes;
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::constants;
use crate::emit::cx::{LowerCx, OpCall, Overflow, Val, split_leaves};
use crate::emit::platform::NewException;
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty, Value};
use crate::types::{ClassDef, ClassId, Container, Float, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    NAME_MISSING = "name.missing",
    EXC_RAISE = "exc.raise",
    EXC_NEW = "exc.new",
    EXC_NEW_NAMED = "exc.new_named" [keywords(Takes)],
    EXC_MAKE = "exc.make",
    EXC_WITH_CAUSE = "exc.with_cause",
    EXC_CURRENT = "exc.current",
    EXC_THROWN = "exc.thrown",
    EXC_LEAVE = "exc.leave",
    EXC_PASS_BY = "exc.pass_by",
    BUILTINS_TYPE = "builtins.type",
    EXC_CLASS = "exc.class" [total],
    EXCEPTION_ARGS = "exception.args",
    EXC_MATCHES = "exc.matches" [total, never_none],
    EXC_ASSERTION = "exc.assertion" [total],
    INTERRUPT_POLL = "interrupt.poll",
}

pub(crate) static OPS: &[OpDef] = &[
    POLL,
    OpDef::new(
        &["name.missing"],
        "name",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::never())),
            |cx, c| {
                let name =
                    c.consts[0].as_ref().and_then(crate::types::Const::as_str).unwrap_or("?").to_owned();
                cx.raise_and_continue(Class::NameError, &format!("name '{name}' is not defined"));
                Ok(vec![])
            },
        ),
    )
    .raises()
    .writes()
    .doc("A global that does not exist."),
    OpDef::new(
        &["exc.raise"],
        "number, text",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::never())),
            |cx, c| {
                let number = c.consts[0].as_ref().and_then(crate::types::Const::as_int);
                let class = Class::ALL.iter().find(|class| Some(**class as i64) == number);
                let class = class.ok_or_else(|| Diagnostic::internal("an exception of no class"))?;
                let text = c.consts[1].as_ref().and_then(crate::types::Const::as_str).unwrap_or_default();
                cx.raise_and_continue(*class, &text.to_owned());
                Ok(vec![])
            },
        ),
    )
    .raises()
    .writes()
    .internal()
    .doc("Raises an exception of a built-in class, by its number, with a constant text."),
    OpDef::new(&["exc.new"], "cls, *args", Body::Lir(new_rule, emit_new))
        .raises()
        .writes()
        .doc("An exception instance: `ValueError(\"text\", 3)`."),
    OpDef::new(&["exc.new_named"], "cls, *args", Body::Lir(new_named_rule, emit_new_named))
        .raises()
        .writes()
        .internal()
        .doc("The same with arguments by name, which are the last operand: `Coded(\"text\", code=3)`."),
    OpDef::new(&["exc.make"], "value", Body::Lir(make_rule, emit_make))
        .raises()
        .writes()
        .doc("What `raise value` raises: an instance, or a class called without arguments."),
    OpDef::new(&["exc.with_cause"], "exc, cause", Body::Lir(cause_rule, emit_cause))
        .raises()
        .writes()
        .doc("`raise exc from cause`."),
    OpDef::new(
        &["exc.thrown"],
        "exc",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::none())),
            |cx, c| {
                cx.set_context(c.args[0][0]);
                Ok(vec![])
            },
        ),
    )
    .writes()
    .internal()
    .doc("What is thrown into a generator has what that handles for its context."),
    OpDef::new(
        &["exc.current"],
        "",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::new(Kind::Exception))),
            |cx, _| {
                let handled =
                    cx.b.load(Ty::Ptr, cx.ctx, crate::offset!(ThreadCtx.handled), crate::lir::Alias::Ctx);
                let null = cx.b.null();
                let some = cx.b.bin(Op::IcmpNe, handled, null);
                cx.check(some, Class::RuntimeError, "No active exception to reraise");
                Ok(vec![
                    cx.helper(&raising::exc_reraise, &[cx.ctx])
                        .ok_or_else(|| Diagnostic::internal("helper result"))?,
                ])
            },
        ),
    )
    .raises()
    .writes()
    .doc("What a bare `raise` raises."),
    OpDef::new(
        &["exc.leave"],
        "exc",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::none())),
            |cx, c| {
                cx.site(c.args[0][0]);
                Ok(vec![])
            },
        ),
    )
    .writes()
    .doc("An exception leaves an inlined function: adds the calls that it passes to its trail."),
    OpDef::new(
        &["exc.pass_by"],
        "exc",
        Body::Lir(|_, _| Ok(Answer::of(Type::none())), |cx, c| Ok(emit_pass_by(cx, c.args[0][0]))),
    )
    .raises()
    .writes()
    .internal()
    .doc("A handler for all exceptions begins: raises again what no handler is for."),
    OpDef::new(
        &["builtins.type", "exc.class"],
        "x",
        Body::Lir(|_, a| part_of(a, Kind::Exception, id::EXCEPTION_CLASS), |_, c| Ok(c.args[0].clone())),
    )
    .aliases()
    .doc("The class of an exception: to be compared with others, or for its name."),
    OpDef::new(
        &["exception.__class__.__name__", "exception.__class__.__qualname__"],
        "cls",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::str())),
            |cx, c| Ok(vec![cx.helper_value(&exc_class_name, &[c.args[0][0]])]),
        ),
    )
    .property()
    .raises()
    .reads()
    .doc("The name of an exception's class."),
    OpDef::new(
        &["operator.is_", "operator.eq"],
        "a, b",
        Body::Lir(|_, a| same_class_rule(a), |cx, c| same_class(cx, c)),
    )
    .reads()
    .doc("Whether an exception is of that very class."),
    OpDef::new(
        &["operator.is_not", "operator.ne"],
        "a, b",
        Body::Lir(
            |_, a| same_class_rule(a),
            |cx, c| {
                let v = same_class(cx, c)?;
                Ok(vec![cx.not(v[0])])
            },
        ),
    )
    .reads()
    .doc("Whether an exception is of another class."),
    OpDef::new(
        &["exception.args"],
        "exc",
        Body::Lir(|_, a| part_of(a, Kind::Exception, id::EXCEPTION_ARGS), |_, c| Ok(c.args[0].clone())),
    )
    .property()
    .aliases()
    .doc("The arguments of an exception, one by one."),
    OpDef::new(&["exception.split"], "exc, condition", Body::Py("builtin.split_group"))
        .raises()
        .doc("Of a group of exceptions; an error, since compiled code keeps none apart."),
    OpDef::new(
        &["builtins.len"],
        "args",
        Body::Lir(|_, a| args_rule(a, "len()", Type::int()), |cx, c| Ok(vec![args_count(cx, &c.args[0])])),
    )
    .reads()
    .doc("How many arguments an exception has."),
    OpDef::new(
        &["operator.getitem"],
        "args, index",
        Body::Lir(
            |_, a| {
                if a[1].ty.is_index() { args_rule(a, "[]", any_argument()) } else { Err(no_match("[]", a)) }
            },
            emit_argument,
        ),
    )
    .raises()
    .writes()
    .doc("An argument of an exception: a number, a string or None; IndexError."),
    OpDef::new(&["builtins.iter"], "args", Body::Py("builtin.exception_args"))
        .only_if(|a| is_args(a[0].ty))
        .raises()
        .doc("The arguments of an exception."),
    OpDef::new(&["operator.eq"], "args, other", Body::Py("builtin.same_args"))
        .only_if(|a| is_args(a[0].ty))
        .raises()
        .doc("Whether an exception has these arguments."),
    OpDef::new(&["operator.ne"], "args, other", Body::Py("builtin.other_args"))
        .only_if(|a| is_args(a[0].ty))
        .raises()
        .doc("Whether an exception has other arguments."),
    OpDef::new(&["unpack.sequence"], "args, count", Body::Py("builtin.unpack_args"))
        .only_if(|a| is_args(a[0].ty))
        .raises()
        .doc("`a, b = e.args`."),
    OpDef::new(&["exc.matches"], "exc, classes", Body::Lir(caught_rule, emit_matches))
        .reads()
        .doc("Whether `except classes` catches the exception."),
    OpDef::new(&["builtins.isinstance"], "exc, classes", Body::Lir(matches_rule, emit_matches))
        .reads()
        .doc("Whether an exception is of one of the classes."),
    OpDef::new(&["builtins.issubclass"], "cls, classes", Body::Lir(derives_rule, emit_matches))
        .reads()
        .doc("Whether the class of an exception is derived from one of the classes."),
    OpDef::new(
        &["exc.assertion"],
        "",
        Body::Lir(
            |_, _| {
                Ok(Answer::of(Type::new(Kind::ExcClass(ClassId::of_exception(Class::AssertionError).def()))))
            },
            |_, _| Ok(vec![]),
        ),
    )
    .doc("The class that `assert` raises."),
];

const POLL: OpDef =
    OpDef::new(&["interrupt.poll"], "", Body::Lir(|_, _| Ok(Answer::of(Type::none())), emit_poll))
        .raises()
        .writes()
        .unordered()
        .doc("Looks whether somebody wants this thread to stop (Ctrl-C); at every loop back edge.");

/// The row that polls.
pub(crate) fn poll() -> &'static OpDef {
    ids::INTERRUPT_POLL.rows()[0]
}

fn emit_poll(cx: &mut LowerCx<'_>, _: &OpCall<'_>) -> Result<Val> {
    cx.poll();
    Ok(vec![])
}

fn new_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    depends_on_making(cx, args[0].ty);
    for a in &args[1..] {
        if !is_carried(a.ty) {
            return Err(cannot_carry(a.ty));
        }
    }
    Ok(Answer::of(Type::new(Kind::Exception)))
}

/// Only code of a class's own takes arguments by their names.
fn new_named_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let is_dict = |a: &&Arg| matches!(a.ty.kind(), Kind::NamedTuple(c, _) if c.is_keywords());
    if let Some(a) = args[1..args.len() - 1].iter().find(is_dict) {
        return Err(cannot_carry(a.ty));
    }
    let answer = new_rule(cx, args)?;
    if let Kind::ExcClass(class) = args[0].ty.kind()
        && !class.constructed
    {
        let text = format!("{}() takes no keyword arguments", class.name);
        return Err(Diagnostic::new(Code::BadCall, text));
    }
    Ok(answer)
}

/// How the class makes its instances is looked up, so that the host sees it change.
fn depends_on_making(cx: &TyCx<'_, '_>, t: Type) {
    if let Kind::ExcClass(class) = t.kind()
        && class.exception().is_none()
    {
        for name in ["__init__", "__new__"] {
            cx.host.class_attr(class, name);
        }
    }
}

/// Whether only Python can make an exception of these arguments: its class has code of its own for that, or
/// what comes of them is another class (OSError picks one by the number of the error) or other arguments.
fn made_by_python(class: &ClassDef, args: &[Type]) -> bool {
    match class.exception() {
        None => class.constructed,
        Some(Class::AxisError) => !matches!(
            args.iter().map(|t| t.kind()).collect::<Vec<_>>()[..],
            [Kind::Str] | [Kind::Int(_), Kind::Int(_)] | [Kind::Int(_), Kind::Int(_), Kind::Str | Kind::None]
        ),
        // Which say what of an object they are about.
        Some(Class::UnicodeDecodeError | Class::UnicodeEncodeError) => true,
        Some(_) => class.is_a(ClassId::of_exception(Class::OSError)) && (2..=5).contains(&args.len()),
    }
}

pub(crate) fn cannot_carry(t: Type) -> Diagnostic {
    Diagnostic::new(Code::NoMatchingOperation, format!("an exception cannot carry a value of type {t}"))
        .help("pass numbers, strings, arrays, and tuples and lists of them")
}

/// Whether exceptions can carry values of the type.
pub(crate) fn is_carried(t: Type) -> bool {
    t.is_number()
        || matches!(*t, Kind::Str | Kind::Bytes | Kind::None | Kind::Var(_) | Kind::Never)
        || t.as_array().is_some_and(super::print::is_shown)
        || matches!(*t, Kind::Member(_) | Kind::Object(..))
        || matches!(
            *t,
            Kind::Tuple(_)
                | Kind::NamedTuple(..)
                | Kind::Frozen(..)
                | Kind::Optional(_)
                | Kind::Variant(_)
                | Kind::List(_)
                | Kind::Container(Container::Tuple, _)
        ) && t.arguments().iter().all(is_carried)
}

/// A new exception of a class, without arguments yet.
fn bare_exception(cx: &mut LowerCx<'_>, ty: Type) -> Result<Value> {
    let Kind::ExcClass(class) = *ty else { return Err(Diagnostic::internal("no exception class")) };
    let new = match class.exception() {
        Some(class) => NewException::Instance(class),
        None => {
            let handle = class.handle().ok_or_else(no_handle)?;
            NewException::OfHost { handle, state: class.state }
        }
    };
    Ok(cx.new_exception(&new))
}

/// A new exception of a class with these arguments.
fn new_exception(cx: &mut LowerCx<'_>, ty: Type, args: &[Vec<Value>], types: &[Type]) -> Result<Value> {
    let Kind::ExcClass(class) = *ty else { return Err(Diagnostic::internal("no exception class")) };
    let exc = bare_exception(cx, ty)?;
    for (v, t) in args.iter().zip(types) {
        add_argument(cx, exc, v, *t)?;
    }
    Ok(if made_by_python(class, types) { cx.helper_value(&exc_new_python, &[exc]) } else { exc })
}

/// A new exception of a built-in class with one argument, which is borrowed.
pub(crate) fn with_argument(cx: &mut LowerCx<'_>, class: Class, v: &[Value], t: Type) -> Result<Value> {
    let of = Type::new(Kind::ExcClass(ClassId::of_exception(class).def()));
    new_exception(cx, of, &[v.to_vec()], &[t])
}

/// The number by which the run-time knows a class.
fn handle_of(cx: &mut LowerCx<'_>, class: &ClassDef) -> Result<Value> {
    Ok(cx.b.i64(class.handle().ok_or_else(no_handle)? as i64))
}
fn no_handle() -> Diagnostic {
    Diagnostic::internal("a class without a handle")
}

fn emit_new(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    new_exception(cx, call.types[0], &call.args[1..], &call.types[1..]).map(|exc| vec![exc])
}

/// What begins and ends an argument with members.
const TUPLE: i64 = 6;
const CLOSE: i64 = 7;
const LIST: i64 = 10;

/// Appends a list, or a tuple of any length.
fn add_members(cx: &mut LowerCx<'_>, exc: Value, list: Value, e: Type, open: i64) -> Result<()> {
    let (zero, open, close) = (cx.b.i64(0), cx.b.i64(open), cx.b.i64(CLOSE));
    cx.add_argument(exc, open, zero);
    if *e != Kind::Never {
        let n = super::list::len(cx, list);
        cx.for_range(n, &[], |cx, i, _| {
            let x = super::list::element(cx, list, e, i);
            add_argument(cx, exc, &x, e)?;
            cx.release(&x, e);
            Ok(vec![])
        })?;
    }
    cx.add_argument(exc, close, zero);
    Ok(())
}

fn emit_new_named(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    let (last, named) = (call.args.len() - 1, call.types[call.args.len() - 1]);
    let exc = bare_exception(cx, call.types[0])?;
    for (v, t) in call.args[1..last].iter().zip(&call.types[1..last]) {
        add_argument(cx, exc, v, *t)?;
    }
    let members = named.members().ok_or_else(|| Diagnostic::internal("no arguments by name"))?;
    let (open, close, zero) = (cx.b.i64(15), cx.b.i64(CLOSE), cx.b.i64(0));
    cx.add_argument(exc, open, zero);
    let parts = split_leaves(&call.args[last], members);
    for ((name, v), t) in named.field_names().iter().zip(&parts).zip(members) {
        let name = constants::string(&mut cx.b, name);
        add_argument(cx, exc, &[name], Type::str())?;
        add_argument(cx, exc, v, *t)?;
    }
    cx.add_argument(exc, close, zero);
    Ok(vec![cx.helper_value(&exc_new_python, &[exc])])
}

/// Appends a value to the exception's arguments.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other argument has members")]
fn add_argument(cx: &mut LowerCx<'_>, exc: Value, v: &[Value], t: Type) -> Result<()> {
    let zero = cx.b.i64(0);
    let (kind, bits) = match t.kind() {
        Kind::None => (0, zero),
        Kind::Bool => (1, crate::emit::cast::resize(cx, v[0], false, Ty::I64)),
        Kind::Int(i) => {
            (if i.signed() { 2 } else { 5 }, crate::emit::cast::resize(cx, v[0], i.signed(), Ty::I64))
        }
        Kind::Float(f) => {
            let wide = crate::emit::cast::scalar(cx, v[0], t, Type::float_of(Float::F64));
            (if f.bits() == 32 { 11 } else { 3 }, cx.b.conv(Op::Bitcast, Ty::I64, wide))
        }
        Kind::Bytes => (13, cx.b.conv(Op::Bitcast, Ty::I64, v[0])),
        Kind::Str => (4, cx.b.conv(Op::Bitcast, Ty::I64, v[0])),
        Kind::Complex(f) => {
            let part = Type::float_of(*f);
            let parts = [0, 1].map(|k| crate::emit::cast::scalar(cx, v[k], part, Type::f64()));
            let at = cx.spill(&parts);
            (if f.bits() == 32 { 12 } else { 8 }, cx.b.conv(Op::Bitcast, Ty::I64, at))
        }
        Kind::Optional(inner) => {
            cx.if_else(
                v[0],
                |cx| add_argument(cx, exc, &v[1..], *inner).map(|()| vec![]),
                |cx| add_argument(cx, exc, &[], Type::none()).map(|()| vec![]),
            )?;
            return Ok(());
        }
        Kind::Variant(all) => {
            for (k, (x, t)) in split_leaves(&v[1..], all).iter().zip(all).enumerate() {
                let is = cx.b.bin_imm(Op::IcmpEq, v[0], k as i64);
                cx.if_then(is, |cx| add_argument(cx, exc, x, *t))?;
            }
            return Ok(());
        }
        Kind::List(e) => return add_members(cx, exc, v[0], *e, LIST),
        Kind::Container(Container::Tuple, m) => return add_members(cx, exc, v[0], m[0], TUPLE),
        Kind::Object(..) => {
            let ty = cx.b.symbol_addr(&format!("objects {t:#}"), t.address());
            cx.helper(&exc_add_object, &[exc, v[0], ty]);
            return Ok(());
        }
        Kind::Array(_) => {
            let args = super::print::array_args(cx, v, t, false)?;
            cx.helper(&exc_add_array, &[&[exc], &args[..5]].concat());
            return Ok(());
        }
        _ => {
            // Of a list that is filled later nothing was known when the call was typed.
            let base = t.beneath_member();
            let number = [if base == t { Type::int() } else { base }];
            let members = match t.kind() {
                Kind::Member(_) => &number[..],
                _ => t.parts().ok_or_else(|| cannot_carry(t))?,
            };
            let (open, class) = match t.kind() {
                Kind::Tuple(_) => (TUPLE, zero),
                Kind::NamedTuple(c, _) if c.is_keywords() => (TUPLE, zero),
                // A mark has a class of its own, which stands for it.
                Kind::Member(c) => (14, handle_of(cx, c)?),
                _ => (14, handle_of(cx, crate::classes::class_of(t))?),
            };
            let (open, close) = (cx.b.i64(open), cx.b.i64(CLOSE));
            cx.add_argument(exc, open, class);
            for (v, t) in split_leaves(v, members).iter().zip(members) {
                add_argument(cx, exc, v, *t)?;
            }
            cx.add_argument(exc, close, zero);
            return Ok(());
        }
    };
    let kind = cx.b.i64(kind);
    cx.add_argument(exc, kind, bits);
    Ok(())
}

// ---- what an exception is made of

/// The exception under another type, by which its class or its arguments are meant.
fn part_of(args: &[Arg], of: Kind, what: super::OpId) -> Result<Answer> {
    if *args[0].ty == of {
        Ok(Answer::of(Type::new(Kind::Method(what, args[0].ty))))
    } else {
        Err(no_match(what.name(), args))
    }
}

/// Whether it stands for the arguments of an exception.
pub(crate) fn is_args(t: Type) -> bool {
    matches!(t.kind(), Kind::Method(p, _) if *p == id::EXCEPTION_ARGS)
}

pub(crate) fn args_count(cx: &mut LowerCx<'_>, args: &[Value]) -> Value {
    cx.helper_value(&exc_arg_count, &[args[0]])
}

fn args_rule(args: &[Arg], what: &str, ret: Type) -> Result<Answer> {
    if is_args(args[0].ty) { Ok(Answer::of(ret)) } else { Err(no_match(what, args)) }
}

/// What an argument may be, in the order of the numbers that `exc_arg` gives, from 1 on.
/// The types of what compiled code takes out of an exception, beside None, as helpers number them.
pub(crate) fn argument_types() -> [Type; 5] {
    [Type::bool(), Type::complex(), Type::float(), Type::int(), Type::str()]
}

/// What compiled code takes out of an exception.
pub(crate) fn any_argument() -> Type {
    Type::optional(Type::one_of(&argument_types()))
}

fn emit_argument(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let index = crate::emit::cast::to_i64(cx, c.args[1][0], c.types[1]);
    let out = cx.b.slot_addr(16);
    let what = cx.helper_value(&exc_arg, &[c.args[0][0], index, out]);
    Ok(given(cx, what, out))
}

/// What a helper has said of a value that an exception holds, and put into two words at `out`.
pub(crate) fn given(cx: &mut LowerCx<'_>, what: Value, out: Value) -> Val {
    let (bits, more) = (cx.b.load(Ty::I64, out, 0, Alias::Stack), cx.b.load(Ty::I64, out, 8, Alias::Stack));
    let present = cx.b.bin_imm(Op::IcmpNe, what, 0);
    let tag = cx.b.bin_imm(Op::Isub, what, 1);
    let is_text = cx.b.bin_imm(Op::IcmpEq, what, 5);
    let (text, null) = (cx.b.conv(Op::Bitcast, Ty::Ptr, bits), cx.b.null());
    let text = cx.b.select(is_text, text, null);
    let (real, imaginary) = (cx.b.conv(Op::Bitcast, Ty::F64, bits), cx.b.conv(Op::Bitcast, Ty::F64, more));
    let truth = cx.b.conv(Op::Itrunc, Ty::I8, bits);
    vec![present, tag, truth, real, imaginary, real, bits, text]
}

fn same_class_rule(args: &[Arg]) -> Result<Answer> {
    let class = |t: Type| matches!(t.kind(), Kind::Method(p, _) if *p == id::EXCEPTION_CLASS);
    let (a, b) = (args[0].ty, args[1].ty);
    let ok = class(a) && classes::is_class(b) || class(b) && classes::is_class(a);
    if ok { Ok(Answer::of(Type::bool())) } else { Err(no_match("is", args)) }
}

fn same_class(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (exc, class) = if let Kind::ExcClass(class) = c.types[1].kind() {
        (c.args[0][0], class)
    } else if let Kind::ExcClass(class) = c.types[0].kind() {
        (c.args[1][0], class)
    } else {
        // No exception is of another class.
        return Ok(vec![cx.b.bool(false)]);
    };
    let handle = handle_of(cx, class)?;
    Ok(vec![cx.helper_value(&exc_is_exactly, &[exc, handle])])
}

pub(crate) fn make_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    // Each of several types is looked at by itself. Raising what is no exception is a TypeError, which Python
    // too finds when it happens.
    if args.is_empty() || crate::types::promote::is_variant(args[0].ty) {
        return Err(no_match("raise", args));
    }
    depends_on_making(cx, args[0].ty);
    Ok(Answer::of(Type::new(Kind::Exception)))
}

/// What `raise value` raises, as an owned reference.
pub(crate) fn made(cx: &mut LowerCx<'_>, value: &[Value], ty: Type) -> Result<Value> {
    if let Some(inner) = ty.as_optional() {
        let exc = cx.if_else(
            value[0],
            |cx| made(cx, &value[1..], inner).map(|e| vec![e]),
            |cx| made(cx, &[], Type::none()).map(|e| vec![e]),
        )?;
        return Ok(exc[0]);
    }
    if let Kind::ExcClass(_) = *ty {
        return new_exception(cx, ty, &[], &[]);
    }
    if *ty != Kind::Exception {
        return Ok(cx.exception(Class::TypeError, "exceptions must derive from BaseException"));
    }
    cx.retain(value, ty);
    Ok(value[0])
}

fn emit_make(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    let exc = made(cx, &call.args[0], call.types[0])?;
    cx.set_context(exc);
    // Raising adds this line to the trail.
    cx.site(exc);
    Ok(vec![exc])
}

fn cause_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    depends_on_making(cx, args[1].ty);
    // Each of several types is looked at by itself. What is no exception is a TypeError, which Python too
    // finds when it happens.
    let ok = *args[0].ty == Kind::Exception && !crate::types::promote::is_variant(args[1].ty);
    if ok { Ok(Answer::of(args[0].ty)) } else { Err(no_match("raise … from", args)) }
}

fn emit_cause(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    caused(cx, call.args[0][0], &call.args[1], call.types[1]).map(|exc| vec![exc])
}

/// `exc` with that cause, as an owned reference; a TypeError in its place where the cause is no exception.
fn caused(cx: &mut LowerCx<'_>, exc: Value, cause: &[Value], ty: Type) -> Result<Value> {
    if let Some(inner) = ty.as_optional() {
        let exc = cx.if_else(
            cause[0],
            |cx| caused(cx, exc, &cause[1..], inner).map(|e| vec![e]),
            |cx| caused(cx, exc, &[], Type::none()).map(|e| vec![e]),
        )?;
        return Ok(exc[0]);
    }
    let (cause, made) = if *ty == Kind::None {
        (cx.b.null(), false)
    } else if *ty == Kind::Exception {
        (cause[0], false)
    } else if let Kind::ExcClass(_) = *ty {
        (new_exception(cx, ty, &[], &[])?, true)
    } else {
        let wrong = cx.exception(Class::TypeError, "exception causes must derive from BaseException");
        cx.set_context(wrong);
        cx.site(wrong);
        return Ok(wrong);
    };
    cx.set_cause(exc, cause);
    if made {
        cx.release_object(cause);
    }
    cx.retain_object(exc);
    Ok(exc)
}

/// The exception classes that a value is: one, or a tuple of them.
fn classes(t: Type) -> Option<Vec<&'static ClassDef>> {
    if let Kind::ExcClass(c) = t.kind() {
        return Some(vec![c]);
    }
    let Kind::Tuple(m) = t.kind() else { return None };
    Some(m.iter().map(|t| classes(*t)).collect::<Option<Vec<_>>>()?.concat())
}

/// What `except` takes. Python refuses a tuple in a tuple, which isinstance takes, when an exception comes by.
fn caught_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let nested = |t: &Type| matches!(t.kind(), Kind::Tuple(_));
    if args[1].ty.members().is_some_and(|m| m.iter().any(nested)) {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            "catching classes that do not inherit from BaseException is not allowed: a tuple in a tuple is no class",
        )
        .help("write the classes in one tuple: except (A, B, C)"));
    }
    if *args[0].ty == Kind::Exception && classes(args[1].ty).is_none() {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("catching {} is not allowed: it is no exception class", args[1].ty),
        ));
    }
    matches_rule(cx, args)
}

fn matches_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if *args[0].ty != Kind::Exception {
        return Err(no_match("isinstance()", args));
    }
    if classes(args[1].ty).is_none() {
        let text = format!("whether an exception is of {} is not known to compiled code", args[1].ty);
        return Err(Diagnostic::new(Code::NoMatchingOperation, text)
            .help("ask for exception classes, one or a tuple of them"));
    }
    Ok(Answer::of(Type::bool()))
}

/// The class of an exception is the exception itself, seen otherwise.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is a class of exceptions")]
fn derives_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    match args[0].ty.kind() {
        Kind::Method(id::EXCEPTION_CLASS, of) => matches_rule(cx, &[Arg::of(*of), args[1].clone()]),
        _ => Err(no_match("issubclass()", args)),
    }
}

/// Python would go on where an integer outgrew 64 bits, so a bare `except` is not for that.
fn emit_pass_by(cx: &mut LowerCx<'_>, exc: Value) -> Val {
    if cx.options.overflow == Overflow::Python {
        let class = cx.b.i64(Class::IntegerOverflow as i64);
        let hit = cx.helper_value(&raising::exc_matches, &[exc, class]);
        let on = cx.not(hit);
        cx.check_made(on, |cx| {
            cx.retain_object(exc);
            exc
        });
    }
    vec![]
}

fn emit_matches(cx: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    let mut any = cx.b.bool(false);
    for c in classes(call.types[1]).unwrap_or_default() {
        let n = handle_of(cx, c)?;
        let helper = match c.exception() {
            Some(_) => &raising::exc_matches,
            None => &raising::exc_matches_host,
        };
        let hit = cx.helper_value(helper, &[call.args[0][0], n]);
        any = cx.or(any, hit);
    }
    Ok(vec![any])
}
