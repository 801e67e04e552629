//! Generators as a program uses them: what they are sent, what is thrown into them, what they return, and
//! `yield from`.

use super::exception::{cannot_carry, is_carried, made, make_rule, with_argument};
use super::iter;
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::generators::{self, of_several};
use crate::exc::Class;
use crate::lir::Value;
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    ITER_BEGIN = "iter.begin",
    GENERATOR_SEND = "generator.send",
    ITER_SEND = "iter.send" [computes, never_none, lists(Shallow)],
    ITER_THROW = "iter.throw" [lists(Shallow)],
    ITER_RESULT = "iter.result" [lists(Shallow)],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["iter.send"], "state, value", Body::Lir(delegate_rule, emit_delegate))
        .consumes()
        .raises()
        .doc("One step of `yield from`: the value is sent on, then as `iter.next`."),
    OpDef::new(&["iter.throw"], "state, exception, new", Body::Lir(throw_on_rule, emit_throw_on))
        .raises()
        .writes()
        .internal()
        .doc("An exception is thrown on, into what `yield from` delegates to: `(has_value, value)`."),
    OpDef::new(&["iter.result"], "state, new", Body::Lir(result_rule, emit_result))
        .raises()
        .writes()
        .internal()
        .doc("The value of `yield from`, whose iterator has ended; a new one had not ended before."),
    OpDef::new(&["generator.send"], "generator, value", Body::Py("generators.send"))
        .raises()
        .doc("Goes on, `yield` giving the value: the next value of the generator; StopIteration."),
    OpDef::new(&["generator.throw"], "generator, exception", Body::Py("generators.throw"))
        .raises()
        .doc("Raises an exception where the generator waits: its next value; StopIteration."),
    OpDef::new(&["generator.close"], "generator", Body::Py("generators.close"))
        .raises()
        .doc("Ends a generator, by GeneratorExit where it waits."),
    OpDef::new(&["iter.begin"], "generator", Body::Py("generators.begin"))
        .internal()
        .raises()
        .doc("The first step of a generator, which delivers nothing to it: its first value; StopIteration."),
    OpDef::new(
        &["operator._begin"],
        "generator",
        Body::Lir(
            |_, a| {
                let Kind::Generator(_, yields) = *a[0].ty else { return Err(no_match("next()", a)) };
                Ok(Answer::of(Type::tuple(vec![Type::bool(), yields])))
            },
            |cx, c| {
                let Kind::Generator(id, _) = *c.types[0] else { return Ok(vec![]) };
                let (_, has, value) = generators::step(cx, id, &c.args[0])?;
                Ok([vec![has], value].concat())
            },
        ),
    )
    .internal()
    .raises()
    .writes()
    .doc("A first step of a generator: `(has_value, value)` (library use)."),
    OpDef::new(
        &["operator._send"],
        "generator, value",
        Body::Lir(
            |cx, a| {
                let Kind::Generator(id, yields) = *a[0].ty else { return Err(no_match("send()", a)) };
                sends(cx, id, a[1].ty)?;
                Ok(Answer::of(Type::tuple(vec![Type::bool(), yields])))
            },
            |cx, c| {
                let Kind::Generator(id, _) = *c.types[0] else { return Ok(vec![]) };
                let (_, has, value) = generators::send(cx, id, c.args[0][0], &c.args[1], c.types[1])?;
                Ok([vec![has], value].concat())
            },
        ),
    )
    .internal()
    .raises()
    .writes()
    .doc("A step of a generator that is sent a value: `(has_value, value)` (library use)."),
    OpDef::new(
        &["operator._throw"],
        "generator, exception",
        Body::Lir(
            |_, a| match (a[0].ty.kind(), a[1].ty.kind()) {
                (Kind::Generator(_, yields), Kind::Exception) => {
                    Ok(Answer::of(Type::tuple(vec![Type::bool(), *yields])))
                }
                _ => Err(no_match("throw()", a)),
            },
            |cx, c| {
                let Kind::Generator(id, yields) = *c.types[0] else { return Ok(vec![]) };
                let (has, value) = generators::throw(cx, (id, yields), c.args[0][0], c.args[1][0])?;
                Ok([vec![has], value].concat())
            },
        ),
    )
    .internal()
    .raises()
    .writes()
    .doc("Throws an exception into a generator: `(has_value, value)` (library use)."),
    OpDef::new(
        &["operator._thrown"],
        "exception",
        Body::Lir(
            |cx, a| {
                if matches!(*a[0].ty, Kind::Exception | Kind::ExcClass(_)) {
                    make_rule(cx, a)
                } else {
                    Err(no_match("throw()", a))
                }
            },
            |cx, c| Ok(vec![made(cx, &c.args[0], c.types[0])?]),
        ),
    )
    .internal()
    .raises()
    .writes()
    .doc(
        "The exception that `throw` throws: an instance, or a class called without arguments (library use).",
    ),
    OpDef::new(&["operator._stopped"], "generator", Body::Lir(stopped_rule, emit_stopped))
        .internal()
        .raises()
        .writes()
        .doc("The StopIteration of a generator that has ended, with what it returned (library use)."),
];

fn sends(cx: &mut TyCx<'_, '_>, id: u32, ty: Type) -> Result<()> {
    if cx.site.is_of_a_look() || cx.vars.send(id, ty).is_some() {
        return Ok(());
    }
    let (sent, ty) = (cx.vars.channels.sent(id), cx.vars.resolve(ty));
    let text = format!("this generator is sent {ty} here, and {sent} elsewhere");
    Err(Diagnostic::new(Code::CannotUnify, text).help("send values of one type"))
}

fn delegate_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if let Kind::Generator(id, _) = *args[0].ty {
        sends(cx, id, sent(args[1].ty).unwrap_or_else(Type::never))?;
    } else if sent(args[1].ty).is_none_or(|t| *t == Kind::None) {
        cx.vars.steps(args[0].ty);
    } else if let Kind::Variant(_) = *args[0].ty {
        let text = "a generator that is sent values cannot pass them on to one of several generators";
        return Err(
            Diagnostic::new(Code::UnsupportedSyntax, text).help("write `yield from` for each of them")
        );
    }
    iter::given_by(cx, &args[..1])
}

/// What may be sent on, if anything: the first step of a generator delivers nothing.
fn sent(t: Type) -> Option<Type> {
    if let Kind::MaybeUndef(t) = *t { Some(t) } else { (*t != Kind::Undef).then_some(t) }
}

fn emit_delegate(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let state = &c.args[0];
    let (value, ty) = sent_on(cx, &c.args[1], c.types[1]);
    if let Kind::Generator(id, _) = *c.types[0] {
        let (state, has, given) = generators::send(cx, id, state[0], &value, ty)?;
        // The generator has a reference of its own.
        cx.release(&value, ty);
        return Ok([state, vec![has], given].concat());
    }
    if *ty != Kind::None {
        let none = if ty.as_optional().is_some() { cx.not(value[0]) } else { cx.b.bool(false) };
        cx.check(none, Class::AttributeError, "this iterator is no generator: it has no attribute 'send'");
    }
    let (state, has, value) = iter::step(cx, state, c.types[0])?;
    Ok([state, vec![has], value].concat())
}

/// What is sent on, where there may be nothing yet: None then.
fn sent_on(cx: &mut LowerCx<'_>, value: &[Value], ty: Type) -> (Val, Type) {
    let Kind::MaybeUndef(there) = *ty else {
        return (value.to_vec(), if *ty == Kind::Undef { Type::none() } else { ty });
    };
    if *there == Kind::None {
        return (vec![], there);
    }
    if there.as_optional().is_some() {
        let is = cx.and(value[0], value[1]);
        return ([&[is], &value[2..]].concat(), there);
    }
    (value.to_vec(), Type::optional(there))
}

fn throw_on_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if *args[1].ty != Kind::Exception {
        return Err(no_match("throw()", args));
    }
    // Nothing else handles it.
    if !matches!(*args[0].ty, Kind::Generator(..) | Kind::Variant(_)) {
        return Ok(Answer::of(Type::never()));
    }
    let yields = iter::value_type_in(cx, args[0].ty).ok_or_else(|| no_match("throw()", args))?;
    Ok(Answer::of(Type::tuple(vec![Type::bool(), yields])))
}

fn emit_throw_on(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let exc = c.args[1][0];
    let one = |cx: &mut LowerCx<'_>, t: Type, frame: &[Value], to: Type| {
        let Kind::Generator(id, yields) = *t else { return Err(Diagnostic::internal("no generator")) };
        let (has, value) = generators::throw_on(cx, (id, yields), frame[0], exc)?;
        let value = cast::joined(cx, &value, yields, to, true)?;
        Ok([vec![has], value].concat())
    };
    if let Kind::Generator(_, yields) = *c.types[0] {
        return one(cx, c.types[0], &c.args[0], yields);
    }
    if let Kind::Variant(m) = c.types[0].kind() {
        let to = iter::value_type(c.types[0]).ok_or_else(|| Diagnostic::internal("no value"))?;
        return of_several(cx, &c.args[0], m, &|cx, t, frame| one(cx, t, frame, to));
    }
    cx.retain_object(exc);
    let landing = cx.landing();
    cx.b.jump(landing, &[exc]);
    let dead = cx.b.new_cold_block(&[]);
    cx.b.switch_to(dead);
    Ok(vec![])
}

fn result_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if let Kind::Generator(id, _) = *args[0].ty {
        let returned = cx.vars.channels.result(id);
        let fits = args[1].konst == Some(Const::Bool(true)) || *returned == Kind::Never;
        return Ok(Answer::of(if fits { returned } else { Type::optional(returned) }));
    }
    if let Kind::Variant(m) = args[0].ty.kind() {
        let of = |t: &Type| if let Kind::Generator(id, _) = **t { Some(id) } else { None };
        if m.iter().filter_map(of).any(|id| *cx.vars.channels.result(id) != Kind::None) {
            let text = "the value of `yield from` for one of several generators is not known";
            return Err(
                Diagnostic::new(Code::UnsupportedSyntax, text).help("write `yield from` for each of them")
            );
        }
    }
    Ok(Answer::of(Type::none()))
}

fn emit_result(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let Kind::Generator(id, _) = *c.types[0] else { return Ok(vec![]) };
    let (val, kept) = generators::result(cx, id, c.args[0][0])?;
    if kept == c.ret || kept.as_optional() != Some(c.ret) {
        return Ok(val);
    }
    cx.check(val[0], Class::RuntimeError, "what is delegated to is a generator that had ended before");
    Ok(val[1..].to_vec())
}

fn stopped_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let Kind::Generator(id, _) = *args[0].ty else { return Err(no_match("next()", args)) };
    let returned = cx.vars.channels.stops(id).without_none();
    if *returned != Kind::Never && !is_carried(returned) {
        return Err(cannot_carry(returned));
    }
    Ok(Answer::of(Type::new(Kind::Exception)))
}

fn emit_stopped(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let Kind::Generator(id, _) = *c.types[0] else { return Ok(vec![]) };
    let (val, kept) = generators::result(cx, id, c.args[0][0])?;
    let Some(inner) = kept.as_optional() else { return Ok(vec![cx.exception(Class::StopIteration, "")]) };
    cx.if_else(
        val[0],
        |cx| {
            let exc = with_argument(cx, Class::StopIteration, &val[1..], inner)?;
            cx.release(&val[1..], inner);
            Ok(vec![exc])
        },
        |cx| Ok(vec![cx.exception(Class::StopIteration, "")]),
    )
}
