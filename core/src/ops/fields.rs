//! Objects of the user's classes whose fields may change ([`crate::types::Kind::Object`]): making one, reading
//! and writing a field. Inference says which field is meant and what it holds ([`crate::infer`]).
//!
//! A field that may not be set has a type that says so, with a flag beside the value; one that is set before
//! anybody can read it needs none.

use super::{Body, OpDef};
use crate::desc::place::Place;
use crate::desc::{self, Field, TypeDesc};
use crate::diag::{Diagnostic, Result};
use crate::emit::cast;
use crate::emit::constants::described;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::layout::{INSTANCE_HEADER, Instance, SHOWN};
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::rt::Ctx;
use crate::types::{Const, Kind, Type, object};
use crate::typing::{Answer, Arg, no_match};

super::identity::op_ids! {
    OBJECT_NEW = "operator._new_object",
    FIELD_GET = "operator._get_field" [lists(Passes)],
    FIELD_GET_OR = "operator._get_field_or" [lists(Passes)],
    FIELD_SET = "operator._set_field" [keeps, lists(Keeps)],
    OWN_GET = "operator._own" [lists(Passes)],
    OWN_SET = "operator._set_own" [keeps, lists(Keeps)],
    BUILTINS_SETATTR = "builtins.setattr" [keeps],
    FIELD_DELETE = "operator._delete_field",
    BUILTINS_DELATTR = "builtins.delattr",
}

crate::runtime_fns! {
    /// Objects of the user's classes.
    trait Helpers;
    /// An object whose fields `desc` describes, all of them zeros; MemoryError.
    fn instance_new(ctx: Ctx, desc: *const TypeDesc) -> *mut Instance [Allocates, Pending];
    /// The same of one that may lead back to itself: rings of such objects are found when nobody else has them.
    fn instance_new_in_ring(ctx: Ctx, desc: *const TypeDesc) -> *mut Instance [Allocates, Pending];
    /// Another object with the same fields.
    fn instance_copy(ctx: Ctx, object: *mut Instance) -> *mut Instance [Allocates, Pending];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["operator._new_object"],
        "cls",
        Body::Lir(|_, a| Err(no_match("_new_object()", a)), |cx, c| emit_new(cx, c)),
    )
    .internal()
    .raises()
    .writes()
    .doc("An object of a class, none of its fields set (library use; calls type it)."),
    OpDef::new(
        &["operator._get_field"],
        "object, k",
        Body::Lir(|_, a| Err(no_match("_get_field()", a)), |cx, c| emit_get(cx, c)),
    )
    .internal()
    .raises()
    .reads()
    .doc("A field of an object by its number; AttributeError where it is not set."),
    OpDef::new(
        &["operator._get_field_or"],
        "object, k, default",
        Body::Lir(|_, a| Err(no_match("_get_field_or()", a)), |cx, c| emit_get_or(cx, c)),
    )
    .internal()
    .raises()
    .reads()
    .doc("A field of an object by its number, or what its class has where it is not set."),
    OpDef::new(
        &["operator._set_field"],
        "object, k, value",
        Body::Lir(|_, a| Err(no_match("_set_field()", a)), |cx, c| emit_set(cx, c)),
    )
    .internal()
    .raises()
    .writes()
    .doc("Gives a field of an object another value."),
    OpDef::new(
        &["operator._own"],
        "object, name",
        Body::Lir(|_, a| Err(no_match("_own()", a)), |_, _| Err(Diagnostic::internal("a field"))),
    )
    .internal()
    .raises()
    .reads()
    .doc("A field by its name, whatever its class has under it (library use; calls type it)."),
    OpDef::new(
        &["operator._set_own"],
        "object, name, value",
        Body::Lir(|_, a| Err(no_match("_set_own()", a)), |_, _| Err(Diagnostic::internal("a field"))),
    )
    .internal()
    .raises()
    .writes()
    .doc("Gives such a field another value (library use; calls type it)."),
    OpDef::new(
        &["builtins.setattr"],
        "object, name, value, /",
        Body::Lir(|_, a| Err(no_match("setattr()", a)), |_, _| Err(Diagnostic::internal("an attribute"))),
    )
    .raises()
    .writes()
    .doc("Gives an attribute whose name is a constant another value."),
    OpDef::new(
        &["operator._delete_field"],
        "object, k",
        Body::Lir(|_, a| Err(no_match("_delete_field()", a)), |cx, c| emit_delete(cx, c)),
    )
    .internal()
    .raises()
    .writes()
    .doc("Takes a field from an object; AttributeError where it is not set."),
    OpDef::new(
        &["builtins.delattr"],
        "object, name, /",
        Body::Lir(|_, a| Err(no_match("delattr()", a)), |_, _| Err(Diagnostic::internal("an attribute"))),
    )
    .raises()
    .writes()
    .doc("Takes an attribute from an object whose name is a constant: `del object.name`."),
    OpDef::new(
        &["copy.copy"],
        "x",
        Body::Lir(
            |_, a| {
                let object = matches!(a[0].ty.kind(), Kind::Object(..));
                object.then(|| Answer::of(a[0].ty)).ok_or_else(|| no_match("copy()", a))
            },
            |cx, c| Ok(vec![cx.helper_value(&instance_copy, &[c.args[0][0]])]),
        ),
    )
    .raises()
    .reads()
    .doc("An object with the same fields."),
    OpDef::new(&["builtins.repr", "builtins.str"], "object", Body::Py("instances.text_of_object"))
        .only_if(|a| matches!(a[0].ty.kind(), Kind::Object(..)))
        .raises()
        .reads()
        .guesses(|_| true)
        .doc("The text of an object whose class has none: its class, and where it is."),
    OpDef::new(
        &["builtins.hash"],
        "x",
        Body::Lir(
            |_, a| address_rule(a, "hash()"),
            |cx, c| {
                let at = cx.b.conv(Op::Bitcast, Ty::I64, c.args[0][0]);
                Ok(vec![cx.b.bin_imm(Op::Ushr, at, 4)])
            },
        ),
    )
    .guesses(|_| true)
    .doc("The hash of an object that is equal to itself alone."),
    OpDef::new(
        &["operator._address"],
        "x",
        Body::Lir(
            |_, a| address_rule(a, "_address()"),
            |cx, c| Ok(vec![cx.b.conv(Op::Bitcast, Ty::I64, c.args[0][0])]),
        ),
    )
    .internal()
    .doc("Where an object is (library use)."),
];

#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else lies anywhere")]
fn address_rule(args: &[Arg], what: &str) -> Result<Answer> {
    match args[0].ty.kind() {
        Kind::Object(c, _) if what != "hash()" || c.objects_are_themselves() => Ok(Answer::of(Type::int())),
        _ => Err(no_match(what, args)),
    }
}

/// How the fields of an object lie, from its first one on.
pub fn described_fields(t: Type) -> &'static TypeDesc {
    let mut place = Place::default();
    object::fields(t).unwrap_or_default().iter().for_each(|f| _ = place.add(*f));
    desc::of_struct(&place)
}

/// Where the machine values of a field lie, from the first field on.
pub fn leaves_of_field(t: Type, k: usize) -> Vec<Field> {
    let mut place = Place::default();
    let fields = object::fields(t).unwrap_or_default();
    fields.iter().take(k).for_each(|f| _ = place.add(*f));
    fields.get(k).map(|f| place.add(*f).to_vec()).unwrap_or_default()
}

/// The field that a call is about: its number, its type, and where it lies.
fn field_of(c: &OpCall<'_>) -> Result<(Type, Vec<Field>)> {
    let k = c.consts[1].as_ref().and_then(Const::as_int).unwrap_or(-1) as usize;
    let ty = object::field(c.types[0], k)
        .ok_or_else(|| Diagnostic::internal(format!("{} has no field {k}", c.types[0])))?;
    Ok((ty, leaves_of_field(c.types[0], k)))
}

fn load(cx: &mut LowerCx<'_>, object: Value, leaves: &[Field]) -> Val {
    leaves.iter().map(|l| cx.b.load(l.ty, object, INSTANCE_HEADER + l.offset as i32, Alias::Object)).collect()
}

fn emit_new(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let desc = described(&mut cx.b, described_fields(c.ret));
    let new = if object::leads_back(c.ret) { &instance_new_in_ring } else { &instance_new };
    Ok(vec![cx.helper_value(new, &[desc])])
}

fn emit_get(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (ty, leaves) = field_of(c)?;
    let mut val = load(cx, c.args[0][0], &leaves);
    if let Kind::MaybeUndef(_) = *ty {
        let name = field_name(c);
        let text = format!("'{}' object has no attribute '{name}'", c.types[0]);
        cx.check(val[0], Class::AttributeError, &text);
        val.remove(0);
    }
    cx.retain(&val, c.ret);
    Ok(val)
}

fn emit_get_or(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (ty, leaves) = field_of(c)?;
    let Kind::MaybeUndef(held) = *ty else { return Err(Diagnostic::internal("a field that is always set")) };
    let val = load(cx, c.args[0][0], &leaves);
    cx.if_else(
        val[0],
        |cx| cast::kept(cx, &val[1..], held, c.ret),
        |cx| cast::kept(cx, &c.args[2], c.types[2], c.ret),
    )
}

fn field_name(c: &OpCall<'_>) -> &'static str {
    let k = c.consts[1].as_ref().and_then(Const::as_int).unwrap_or(0) as usize;
    c.types[0].field_names().get(k).map_or("?", |n| n)
}

fn emit_delete(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (ty, leaves) = field_of(c)?;
    let object = c.args[0][0];
    let Kind::MaybeUndef(held) = *ty else { return Err(Diagnostic::internal("a field that is always set")) };
    let old = load(cx, object, &leaves);
    let text = format!("'{}' object has no attribute '{}'", c.types[0], field_name(c));
    cx.check(old[0], Class::AttributeError, &text);
    for l in &leaves {
        let nothing = cx.zero(l.ty);
        cx.b.store(nothing, object, INSTANCE_HEADER + l.offset as i32, Alias::Object);
    }
    cx.release(&old[1..], held);
    Ok(vec![])
}

fn emit_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (ty, leaves) = field_of(c)?;
    let object = c.args[0][0];
    let val = cast::joined(cx, &c.args[2], c.types[2], ty, false)?;
    cx.retain(&val, ty);
    let old = if ty.is_counted() { load(cx, object, &leaves) } else { vec![] };
    if c.types[0].class_of_object().is_some_and(|c| c.is_native()) {
        show_container(cx, &val, ty);
    }
    for (v, l) in val.iter().zip(&leaves) {
        cx.b.store(*v, object, INSTANCE_HEADER + l.offset as i32, Alias::Object);
    }
    if ty.is_counted() {
        cx.release(&old, ty);
    }
    Ok(vec![])
}

/// A container in a field that Python sees where it lies is one that Python sees itself.
fn show_container(cx: &mut LowerCx<'_>, val: &[Value], field: Type) {
    let (value, flags) = if let Kind::MaybeUndef(t) = *field { (t, 1) } else { (field, 0) };
    if matches!(*value, Kind::List(_) | Kind::Container(..)) {
        let users = cx.b.load(Ty::I64, val[flags], offset!(Counted.users), Alias::Object);
        let shown = cx.b.bin_imm(Op::Bor, users, SHOWN);
        cx.b.store(shown, val[flags], offset!(Counted.users), Alias::Object);
    }
}
