//! Instances of the user's classes that are values: what the methods do that Python generated for a class.
//! What a class defines itself is asked first ([`crate::infer`]); fields are members in registers, as those of
//! tuples.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::types::{ClassDef, Const, Kind, Type, class::Generated};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    BUILTINS_SUPER = "builtins.super",
    NOT_IMPLEMENTED = "builtins.NotImplemented",
    MEMBER_MAKE = "operator._make_member" [computes, keeps],
    INSTANCE_MAKE = "operator._make_instance" [computes, keeps],
    NUMBER_OF = "operator._number_of" [computes],
    NAMEDTUPLE_ASDICT = "namedtuple._asdict" [keeps],
    DATACLASSES_REPLACE = "dataclasses.replace" [keeps],
    DATACLASSES_ASDICT = "dataclasses.asdict" [keeps],
    DATACLASSES_ASTUPLE = "dataclasses.astuple" [keeps],
    DATACLASSES_IS_DATACLASS = "dataclasses.is_dataclass",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["namedtuple._asdict"],
        "self",
        Body::Lir(
            |_, a| {
                let Kind::NamedTuple(c, m) = a[0].ty.kind() else { return Err(no_match("_asdict()", a)) };
                let names = ClassDef::keywords(c.fields.clone());
                Ok(Answer::of(Type::new(Kind::NamedTuple(names, m.clone()))))
            },
            |_, c| Ok(c.args[0].clone()),
        ),
    )
    .aliases()
    .doc("The fields as a dict, which keeps the type of each."),
    OpDef::new(
        &["builtins.super"],
        "cls, obj",
        Body::Lir(|_, a| Err(no_match("super()", a)), |_, _| Err(Diagnostic::internal("super"))),
    )
    .doc("An instance as one of the classes behind a class in its MRO: `super().method()`."),
    OpDef::new(
        &["builtins.NotImplemented"],
        "",
        Body::Lir(|_, a| Err(no_match("NotImplemented", a)), |_, _| Err(Diagnostic::internal("a call"))),
    )
    .doc("What a special method gives that leaves an operation to the other operand."),
    OpDef::new(
        &["operator._make_instance"],
        "cls, *fields",
        Body::Lir(
            |_, a| Err(no_match("_make_instance()", a)),
            |_, _| Err(Diagnostic::internal("an instance")),
        ),
    )
    .internal()
    .doc("An instance of a class whose instances are values (library use; calls type it)."),
    OpDef::new(
        &["dataclasses.replace"],
        "obj, /, **changes",
        Body::Lir(|_, a| Err(no_instance("replace", a)), |_, _| Err(Diagnostic::internal("an instance"))),
    )
    .doc("Another instance with some fields changed."),
    OpDef::new(
        &["dataclasses.asdict"],
        "obj",
        Body::Lir(|_, a| Err(no_instance("asdict", a)), |_, _| Err(Diagnostic::internal("a dict"))),
    )
    .doc("The fields by name, as `**kwargs` are: a dict that compiled code does not change."),
    OpDef::new(
        &["dataclasses.astuple"],
        "obj",
        Body::Lir(|_, a| Err(no_instance("astuple", a)), |_, _| Err(Diagnostic::internal("a tuple"))),
    )
    .doc("The fields as a tuple."),
    OpDef::new(&["operator._part_of_dict"], "x", Body::Py("instances.part_of_dict"))
        .raises()
        .reads()
        .internal()
        .doc("What `asdict` makes of what a field holds (library use)."),
    OpDef::new(&["operator._part_of_tuple"], "x", Body::Py("instances.part_of_tuple"))
        .raises()
        .reads()
        .internal()
        .doc("The same of `astuple` (library use)."),
    OpDef::new(
        &["dataclasses.fields"],
        "class_or_instance",
        Body::Lir(
            |_, _| {
                let text = "fields() gives objects of the module dataclasses, which compiled code does not make";
                Err(Diagnostic::new(Code::NoMatchingOperation, text).help(
                    "ask outside for what is needed: NAMES = tuple(f.name for f in fields(C)) is a tuple of constants",
                ))
            },
            |_, _| Err(Diagnostic::internal("fields")),
        ),
    )
    .doc("Refused: what is needed of fields can be a tuple of constants."),
    OpDef::new(
        &["dataclasses.is_dataclass"],
        "obj",
        Body::Lir(
            |_, a| {
                if let Kind::Class(c) = a[0].ty.kind()
                    && !c.is_frozen()
                {
                    return Err(no_match("is_dataclass()", a));
                }
                let is = matches!(a[0].ty.kind(), Kind::Frozen(..) | Kind::Class(_));
                Ok(Answer::constant(Const::Bool(is)))
            },
            |cx, _| Ok(vec![cx.b.bool(false)]),
        ),
    )
    .doc("Whether it is a dataclass or an instance of one."),
    OpDef::new(
        &["operator._make_member"],
        "cls, n",
        Body::Lir(|_, a| Err(no_match("_make_member()", a)), |_, _| Err(Diagnostic::internal("a member"))),
    )
    .internal()
    .doc("The member of an enumeration with a number that is known (library use; calls type it)."),
    OpDef::new(
        &["operator._number_of"],
        "x",
        Body::Lir(
            |_, a| {
                let Kind::Member(c) = a[0].ty.kind() else { return Err(no_match("_number_of()", a)) };
                Ok(Answer::of(c.base_of_members().unwrap_or(Type::int())))
            },
            |_, c| Ok(c.args[0].clone()),
        ),
    )
    .aliases()
    .internal()
    .doc("The number of a member of an enumeration, or the value that it is beside (library use)."),
    OpDef::new(
        &["operator._leads"],
        "x",
        Body::Lir(leads_rule, |_, _| Err(Diagnostic::internal("names of fields are constants"))),
    )
    .internal()
    .doc("What stands in the text of an instance in front of each field (library use)."),
    OpDef::new(
        &["operator._fields"],
        "x",
        Body::Lir(
            |_, a| {
                let Kind::Frozen(_, m) = a[0].ty.kind() else { return Err(no_match("_fields()", a)) };
                Ok(Answer::of(Type::tuple(m.clone())).known(a[0].konst.clone()))
            },
            |_, c| Ok(c.args[0].clone()),
        ),
    )
    .aliases()
    .internal()
    .doc("The fields of an instance as a tuple (library use)."),
    OpDef::new(&["operator.eq"], "a, b", Body::Py("instances.equal"))
        .only_if(|a| both(a, |g| g.equality))
        .raises()
        .reads()
        .doc("`a == b` of dataclasses."),
    OpDef::new(&["operator.ne"], "a, b", Body::Py("instances.unequal"))
        .only_if(|a| both(a, |g| g.equality))
        .raises()
        .reads()
        .doc("`a != b` of dataclasses."),
    OpDef::new(&["operator.lt"], "a, b", Body::Py("instances.less"))
        .only_if(|a| both(a, |g| g.order))
        .raises()
        .reads()
        .doc("`a < b` of dataclasses with `order=True`."),
    OpDef::new(&["operator.le"], "a, b", Body::Py("instances.less_equal"))
        .only_if(|a| both(a, |g| g.order))
        .raises()
        .reads()
        .doc("`a <= b` of dataclasses with `order=True`."),
    OpDef::new(&["operator.gt"], "a, b", Body::Py("instances.greater"))
        .only_if(|a| both(a, |g| g.order))
        .raises()
        .reads()
        .doc("`a > b` of dataclasses with `order=True`."),
    OpDef::new(&["operator.ge"], "a, b", Body::Py("instances.greater_equal"))
        .only_if(|a| both(a, |g| g.order))
        .raises()
        .reads()
        .doc("`a >= b` of dataclasses with `order=True`."),
    OpDef::new(&["builtins.repr", "builtins.str"], "object", Body::Py("instances.text"))
        .only_if(|a| matches!(a[0].ty.kind(), Kind::Frozen(c, _) if c.generated().text))
        .raises()
        .reads()
        .doc("The text of a dataclass."),
];

fn no_instance(name: &str, args: &[Arg]) -> Diagnostic {
    let text = format!("{name}() is compiled for instances of frozen dataclasses, not for {}", args[0].ty);
    Diagnostic::new(Code::NoMatchingOperation, text)
}

fn leads_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let names = args[0].ty.field_names().iter().enumerate();
    let leads = names.map(|(k, name)| format!("{}{name}=", if k > 0 { ", " } else { "" }));
    let first = format!("{}(", super::text::class_shown(args[0].ty));
    let all = std::iter::once(first).chain(leads).map(|lead| Const::Str(lead.into()));
    Ok(Answer::constant(Const::Tuple(all.collect())))
}

/// Whether both operands are instances of one class that has a generated method.
fn both(args: &[Arg], has: impl Fn(Generated) -> bool) -> bool {
    matches!(
        (args[0].ty.kind(), args[1].ty.kind()),
        (Kind::Frozen(c, _), Kind::Frozen(d, _)) if c == d && has(c.generated())
    )
}
