//! Built-in functions over numbers and iterables: extremes, rounding, classes, conversions between sequences,
//! and number methods.
//!
//! What walks an iterable is Python in `tierup/lib/builtin.py`; `...` stands for a default that was not given
//! where None is a value.

use super::number as num;
use super::{Body, OpDef, Own, id};
use crate::classes;
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::host::Host;
use crate::lir::{Alias, Op, Ty, Value};
use crate::types::{Const, Int, Kind, NumberType, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    BUILTINS_OBJECT = "builtins.object",
    BUILTINS_ISINSTANCE = "builtins.isinstance" [keywords(Takes)],
    BUILTINS_MIN = "builtins.min" [computes, chooses, keywords(Goes), scalars(Unsaid)],
    BUILTINS_MAX = "builtins.max" [computes, chooses, keywords(Goes), scalars(Unsaid)],
    BUILTINS_SUM = "builtins.sum",
    BUILTINS_ANY = "builtins.any" [keywords(Goes)],
    BUILTINS_ALL = "builtins.all" [keywords(Goes)],
    BUILTINS_SORTED = "builtins.sorted" [keywords(Goes)],
    BUILTINS_MAP = "builtins.map" [keeps, keywords(Goes)],
    BUILTINS_FILTER = "builtins.filter" [keeps, keywords(Goes)],
    BUILTINS_LIST = "builtins.list" [keywords(Goes)],
    ITER_OBJECT = "iter.object",
    BUILTINS_NEXT = "builtins.next" [keeps, scalars(Unsaid)],
    BUILTINS_TUPLE = "builtins.tuple" [keywords(Goes)],
    BUILTINS_GETATTR = "builtins.getattr" [keeps, scalars(Unsaid)],
    BUILTINS_HASATTR = "builtins.hasattr",
    MATCH_CLASS = "match.class",
    MATCH_MAPPING = "match.mapping",
    BUILTINS_ROUND = "builtins.round" [computes],
    BUILTINS_HASH = "builtins.hash",
    BUILTINS_CALLABLE = "builtins.callable",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["builtins.min"],
        "*values",
        Body::Lir(|cx, a| extreme_rule(cx, a, false), |cx, c| extreme(cx, c, false)),
    )
    .doc("Smallest of several numbers."),
    OpDef::new(
        &["builtins.max"],
        "*values",
        Body::Lir(|cx, a| extreme_rule(cx, a, true), |cx, c| extreme(cx, c, true)),
    )
    .doc("Largest of several numbers."),
    OpDef::new(&["builtins.min"], "iterable, *, key=None, default=...", Body::Py("builtin.smallest"))
        .raises()
        .doc("Smallest value of an iterable; ValueError."),
    OpDef::new(&["builtins.max"], "iterable, *, key=None, default=...", Body::Py("builtin.largest"))
        .raises()
        .doc("Largest value of an iterable; ValueError."),
    OpDef::new(&["builtins.min"], "*values, key=None", Body::Py("builtin.smallest_of"))
        .only_if(|a| a.len() > 2)
        .raises()
        .doc("Smallest of several values."),
    OpDef::new(&["builtins.max"], "*values, key=None", Body::Py("builtin.largest_of"))
        .only_if(|a| a.len() > 2)
        .raises()
        .doc("Largest of several values."),
    OpDef::new(&["builtins.sum"], "iterable, start=0", Body::Py("builtin.sum_"))
        .raises()
        .doc("Sum of an iterable, from left to right."),
    OpDef::new(&["builtins.any"], "iterable", Body::Py("builtin.any_"))
        .raises()
        .doc("Whether any value is true."),
    OpDef::new(&["builtins.all"], "iterable", Body::Py("builtin.all_"))
        .raises()
        .doc("Whether all values are true."),
    OpDef::new(&["builtins.sorted"], "iterable, *, key=None, reverse=False", Body::Py("builtin.sorted_"))
        .raises()
        .doc("A sorted list of an iterable's values."),
    OpDef::new(&["builtins.map"], "f, *iterables", Body::Py("builtin.map_"))
        .raises()
        .doc("`f` of the values of iterables, one by one."),
    OpDef::new(&["builtins.filter"], "f, iterable", Body::Py("builtin.filter_"))
        .raises()
        .doc("The values for which `f` is true."),
    OpDef::new(
        &["builtins.list"],
        "",
        Body::Lir(|cx, _| cx.new_list(Type::never()).map(Answer::of), super::list::emit_build),
    )
    .times()
    .raises()
    .reads()
    .doc("An empty list."),
    OpDef::new(&["builtins.list"], "iterable", Body::Py("builtin.list_"))
        .raises()
        .doc("A list of an iterable's values."),
    OpDef::new(
        &["iter.object"],
        "x",
        Body::Lir(
            |_, a| {
                if matches!(*a[0].ty, Kind::Generator(..)) {
                    Ok(Answer::of(a[0].ty))
                } else {
                    Err(no_match("iter()", a))
                }
            },
            |_, c| Ok(c.args[0].clone()),
        ),
    )
    .owned_by(|_, _| Own::Aliases)
    .doc("A generator is its own iterator."),
    OpDef::new(&["iter.object"], "x", Body::Py("builtin.iter_of_container"))
        .only_if(|a| a[0].ty.container().is_some())
        .raises()
        .doc("An iterator that `next` advances, and that notices what has changed since it was made."),
    OpDef::new(&["iter.object"], "x", Body::Py("builtin.iter_"))
        .raises()
        .doc("An iterator that `next` advances."),
    OpDef::new(&["builtins.next"], "it, default=...", Body::Py("builtin.next_"))
        .only_if(|a| matches!(*a[0].ty, Kind::Generator(..)))
        .raises()
        .doc("The next value of an iterator; StopIteration."),
    OpDef::new(&["builtins.len"], "x", Body::Py("builtin.len_of_scalar"))
        .only_if(|a| a[0].ty.as_array().is_some_and(|a| a.ndim == 0))
        .raises()
        .doc("An array without dimensions has no length: TypeError."),
    OpDef::new(&["builtins.tuple"], "t=()", Body::Lir(tuple_rule, |_, c| Ok(c.args[0].clone())))
        .times()
        .owned_by(|_, _| Own::Aliases)
        .doc("A tuple of a tuple's members."),
    OpDef::new(
        &["builtins.isinstance"],
        "x, classes",
        Body::Lir(isinstance_rule, |cx, _| Ok(vec![cx.b.bool(false)])),
    )
    .records()
    .doc("Whether a value is of a class; known when it is compiled."),
    OpDef::new(
        &["builtins.issubclass"],
        "cls, classes",
        Body::Lir(issubclass_rule, |cx, _| Ok(vec![cx.b.bool(false)])),
    )
    .doc("Whether a class is a subclass of another one; known when it is compiled."),
    OpDef::new(
        &["builtins.type"],
        "x",
        Body::Lir(
            |cx, a| class_value(cx.host, a[0].ty).map(Answer::of).ok_or_else(|| no_match("type()", a)),
            |_, _| Ok(vec![]),
        ),
    )
    .doc("The class of a value."),
    OpDef::new(&["builtins.callable"], "x", Body::Lir(callable_rule, |cx, _| Ok(vec![cx.b.bool(false)])))
        .doc("Whether a value can be called."),
    OpDef::new(
        &["builtins.getattr"],
        "x, name, default=...",
        Body::Lir(|_, a| Err(no_match("getattr()", a)), |_, _| Ok(vec![])),
    )
    .doc("An attribute whose name is a constant."),
    OpDef::new(
        &["builtins.hasattr"],
        "x, name",
        Body::Lir(|_, a| Err(no_match("hasattr()", a)), |_, _| Ok(vec![])),
    )
    .doc("Whether a value has an attribute."),
    OpDef::new(&["match.class"], "x, cls, names, count", Body::Lir(match_class_rule, emit_match_class))
        .aliases()
        .doc("`case int(i)`, `case Point(x, y=0)`: a tuple of what the patterns inside look at, or None."),
    OpDef::new(&["match.mapping"], "x", Body::Lir(mapping_rule, |cx, _| Ok(vec![cx.b.bool(false)]))).doc(
        "Whether a mapping pattern may match: no value but a dict, which patterns do not look into yet.",
    ),
    OpDef::new(&["builtins.round"], "number, ndigits=None", Body::Lir(round_rule, emit_round))
        .raises()
        .doc("To the nearest integer, ties to even, or to a number of decimals."),
    OpDef::new(
        &["builtins.hash"],
        "x",
        Body::Lir(
            |_, a| if hashable(a[0].ty) { Ok(Answer::of(Type::int())) } else { Err(no_match("hash()", a)) },
            |cx, c| Ok(vec![hash(cx, &c.args[0], c.types[0])?]),
        ),
    )
    .reads()
    .doc("Hash of a number, string or tuple."),
    OpDef::new(&["builtins.hash"], "x", Body::Py("instances.hash_of_tuple"))
        .only_if(|a| matches!(*a[0].ty, Kind::Tuple(_)))
        .raises()
        .reads()
        .doc("Hash of a tuple with instances in it whose classes have hashes of their own."),
    OpDef::new(&["builtins.hash"], "x", Body::Py("instances.hash_of_fields"))
        .only_if(|a| matches!(a[0].ty.kind(), Kind::Frozen(c, _) if c.generated().hash))
        .raises()
        .reads()
        .doc("Hash of a dataclass with such fields."),
    OpDef::new(
        &["operator._combined_hash"],
        "hashes",
        Body::Lir(
            |cx, a| {
                let ints = matches!(*cx.vars.resolve(a[0].ty), Kind::List(e) if e.is_int() && e.is_weak());
                ints.then(|| Answer::of(Type::int())).ok_or_else(|| no_match("_combined_hash()", a))
            },
            |cx, c| {
                let list = c.args[0][0];
                let data = cx.b.load(Ty::Ptr, list, crate::offset!(List.data), Alias::Object);
                let n = super::list::len(cx, list);
                Ok(vec![cx.helper_value(&num::tuple_hash, &[data, n])])
            },
        ),
    )
    .reads()
    .internal()
    .doc("The hash of a tuple whose members have these (library use)."),
    // Methods of numbers.
    OpDef::new(
        &["float.is_integer", "int.is_integer"],
        "x",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::bool())),
            |cx, c| {
                let v = c.args[0][0];
                if !c.types[0].is_float() {
                    return Ok(vec![cx.b.bool(true)]);
                }
                // The difference of an infinity and itself is NaN.
                let whole = cx.b.un(Op::Ffloor, v);
                let rest = cx.b.bin(Op::Fsub, v, whole);
                let t = cx.b.ty(v);
                let zero = cx.zero(t);
                Ok(vec![cx.b.bin(Op::FcmpEq, rest, zero)])
            },
        ),
    )
    .doc("Whether the value is whole."),
    OpDef::new(
        &["int.bit_length", "bool.bit_length"],
        "n",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::int())),
            |cx, c| {
                let v = cast::to_i64(cx, c.args[0][0], c.types[0]);
                let size = magnitude(cx, v, c.types[0]);
                let zeros = cx.b.un(Op::Clz, size);
                let width = cx.b.i64(64);
                Ok(vec![cx.b.bin(Op::Isub, width, zeros)])
            },
        ),
    )
    .doc("Bits of the magnitude."),
    OpDef::new(
        &["int.bit_count", "bool.bit_count"],
        "n",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::int())),
            |cx, c| {
                let v = cast::to_i64(cx, c.args[0][0], c.types[0]);
                let size = magnitude(cx, v, c.types[0]);
                Ok(vec![cx.b.un(Op::Popcnt, size)])
            },
        ),
    )
    .doc("One bits of the magnitude."),
    OpDef::new(
        &["int.numerator", "bool.numerator"],
        "n",
        Body::Lir(|_, a| Ok(Answer::of(a[0].ty)), |_, c| Ok(c.args[0].clone())),
    )
    .property()
    .doc("The integer itself."),
    OpDef::new(
        &["int.denominator", "bool.denominator"],
        "n",
        Body::Lir(|_, _| Ok(Answer::constant(Const::Int(1))), |cx, _| Ok(vec![cx.b.i64(1)])),
    )
    .property()
    .doc("1."),
    OpDef::new(&["operator.itemgetter"], "item, *items", Body::Py("builtin.itemgetter"))
        .raises()
        .doc("A function that takes items out of its argument."),
    // operator's functions that no syntax has.
    OpDef::new(&["operator.call"], "obj, *args", Body::Py("functions.call")).raises().doc("`obj(*args)`."),
    OpDef::new(&["operator.length_hint"], "obj, default=0", Body::Py("functions.length_hint"))
        .raises()
        .doc("How many values an object has, or a default."),
    OpDef::new(&["operator.concat"], "a, b", Body::Py("builtin.concat"))
        .raises()
        .doc("`a + b` of sequences."),
    OpDef::new(&["operator.countOf"], "a, b", Body::Py("containers.count_of"))
        .raises()
        .doc("How many values equal `b`."),
    OpDef::new(&["operator.indexOf"], "a, b", Body::Py("containers.index_of"))
        .raises()
        .doc("Position of the first value that equals `b`; ValueError."),
    OpDef::new(&["builtins.object"], "", Body::Py("instances.plain"))
        .doc("An object that is nothing but itself, for `is`."),
    // Classes that are only asked about.
    OpDef::new(
        &[
            "builtins.object",
            "numpy.ndarray",
            "numpy.generic",
            "numpy.number",
            "numpy.integer",
            "numpy.signedinteger",
            "numpy.unsignedinteger",
            "numpy.inexact",
            "numpy.floating",
            "numpy.complexfloating",
            "types.NoneType",
        ],
        "*args",
        Body::Lir(
            |_, _| {
                Err(Diagnostic::new(
                    Code::NoMatchingOperation,
                    "objects of this class cannot be made in compiled code",
                ))
            },
            |_, _| Ok(vec![]),
        ),
    )
    .doc("A class for `isinstance`."),
];

// ---- extremes

fn extreme_rule(cx: &mut TyCx<'_, '_>, args: &[Arg], largest: bool) -> Result<Answer> {
    let pick: fn(i64, i64) -> i64 = if largest { i64::max } else { i64::min };
    if args.len() < 2 || !args.iter().all(|a| a.ty.is_real()) {
        return Err(no_match("an extreme", args));
    }
    let mut t = args[0].ty;
    for a in &args[1..] {
        t = cx.unify(t, a.ty).ok_or_else(|| no_match("an extreme", args))?;
    }
    let known = args
        .iter()
        .map(|a| match a.konst {
            Some(Const::Int(i)) => Some(i),
            _ => None,
        })
        .reduce(|a, b| Some(pick(a?, b?)))
        .flatten();
    let known = known.map(Const::Int);
    if let Some((t, types)) = of_both_signs(args, largest) {
        return Ok(Answer::coerced(t, types).known(known));
    }
    Ok(Answer::coerced(t, vec![t; args.len()]).known(known))
}

/// The extreme of uint64 and numbers that may be negative, none of which is converted: the largest is uint64,
/// the smallest a signed integer. None where one type holds all of them.
fn of_both_signs(args: &[Arg], largest: bool) -> Option<(Type, Vec<Type>)> {
    let signed = |a: &Arg| matches!(*a.ty, Kind::Int(i) if i.signed()) && a.int().is_none_or(|n| n < 0);
    let ints = args.iter().all(|a| a.ty.is_int() || *a.ty == Kind::Bool);
    if !ints || !args.iter().any(|a| a.ty.strong() == Type::int_of(Int::U64)) || !args.iter().any(signed) {
        return None;
    }
    let weak = args.iter().filter(|a| signed(a)).all(|a| a.ty.is_weak());
    let wide = if weak { Type::int() } else { Type::i64() };
    let weak = args.iter().all(|a| !a.ty.is_int() || a.ty.is_weak());
    let (unsigned, wide) = (if weak { Type::big_int() } else { Type::int_of(Int::U64) }, wide);
    let types = args.iter().map(|a| if signed(a) { wide } else { unsigned }).collect();
    Some((if largest { unsigned } else { wide }, types))
}

/// The largest or smallest of numbers as [`of_both_signs`] types them. What is beyond the numbers of the
/// other sign is beyond all of those: it stands for the last of them.
fn extreme_of_both_signs(cx: &mut LowerCx<'_>, c: &OpCall<'_>, largest: bool) -> Value {
    let signed = |t: &Type| matches!(**t, Kind::Int(i) if i.signed());
    let edge = cx.b.i64(if largest { 0 } else { i64::MAX });
    let mut best: Option<Value> = None;
    for (v, t) in c.args.iter().zip(c.types) {
        let v = match (largest, signed(t)) {
            (true, true) => cx.b.bin(Op::Smax, v[0], edge),
            (false, false) => cx.b.bin(Op::Umin, v[0], edge),
            _ => v[0],
        };
        let pick = if largest { Op::Umax } else { Op::Smin };
        best = Some(best.map_or(v, |b| cx.b.bin(pick, b, v)));
    }
    best.unwrap_or(edge)
}

/// The first of equal values, and the first where a NaN is compared, as Python's loop gives.
fn extreme(cx: &mut LowerCx<'_>, c: &OpCall<'_>, largest: bool) -> Result<Val> {
    if c.types.iter().any(|t| *t != c.types[0]) {
        return Ok(vec![extreme_of_both_signs(cx, c, largest)]);
    }
    let mut best = c.args[0][0];
    for v in &c.args[1..] {
        best = match c.types[0].number() {
            Some(NumberType::Int(i)) if i.signed() => {
                cx.b.bin(if largest { Op::Smax } else { Op::Smin }, best, v[0])
            }
            Some(NumberType::Int(_)) => cx.b.bin(if largest { Op::Umax } else { Op::Umin }, best, v[0]),
            Some(NumberType::Bool) => cx.b.bin(if largest { Op::Bor } else { Op::Band }, best, v[0]),
            Some(NumberType::Float(_) | NumberType::Complex(_)) | None => {
                let better = cx.b.bin(if largest { Op::FcmpGt } else { Op::FcmpLt }, v[0], best);
                cx.b.select(better, v[0], best)
            }
        };
    }
    Ok(vec![best])
}

// ---- classes

fn callable_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if crate::types::promote::is_variant(args[0].ty) {
        return Err(no_match("callable()", args));
    }
    // Only its class says whether an exception can be called.
    if *args[0].ty == Kind::Exception {
        return Err(no_match("callable()", args).help("ask callable() of its class, outside the function"));
    }
    let yes = matches!(
        args[0].ty.kind(),
        Kind::Function(_)
            | Kind::Builtin(_)
            | Kind::Method(..)
            | Kind::DType(_)
            | Kind::NamedTupleClass(_)
            | Kind::ExcClass(_)
            | Kind::Class(_)
    );
    Ok(Answer::constant(Const::Bool(yes)))
}

fn tuple_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    match args[0].ty.members() {
        Some(m) => Ok(Answer::of(Type::tuple(m.to_vec())).known(args[0].konst.clone())),
        None => Err(no_match("tuple()", args)),
    }
}

fn isinstance_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    // What may be of several types is asked as each of them.
    if matches!(*args[0].ty, Kind::Optional(_) | Kind::Variant(_)) {
        return Err(no_match("isinstance()", args));
    }
    let of = if super::exception::is_args(args[0].ty) { Type::tuple(vec![]) } else { args[0].ty };
    is_instance(cx.host, of, args[1].ty).map(|yes| Answer::constant(Const::Bool(yes))).ok_or_else(|| {
        let d = no_match("isinstance()", args);
        if let Kind::Class(c) = args[1].ty.kind() { d.help(format!("compiled code knows the values that {} could be as the class below it: ask outside, and pass the answer", c.name)) } else { d }
    })
}

fn issubclass_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    fn holds(host: &dyn Host, class: Type, of: Type) -> Option<bool> {
        match of.members() {
            Some(m) => m.iter().try_fold(false, |yes, c| Some(yes | holds(host, class, *c)?)),
            // Classes that are known without the host have nothing to say of their own.
            None => match (classes::class_named(class), classes::class_named(of)) {
                (Some(class), Some(of)) if of.id.is_fixed() => Some(class.is_a(of.id)),
                (_, _) => host.is_subclass(class, of),
            },
        }
    }
    holds(cx.host, args[0].ty, args[1].ty)
        .map(|yes| Answer::constant(Const::Bool(yes)))
        .ok_or_else(|| no_match("issubclass()", args))
}

/// The class of a type's values, as a value.
fn class_value(host: &dyn Host, t: Type) -> Option<Type> {
    if matches!(*t, Kind::Int(_) | Kind::Float(_) | Kind::Complex(_)) && !t.is_weak() {
        return Some(Type::new(Kind::DType(t)));
    }
    if let Kind::NamedTuple(c, _) = t.kind()
        && !c.is_keywords()
    {
        return Some(host.pythons_class(c).unwrap_or_else(|| Type::new(Kind::NamedTupleClass(c))));
    }
    if let Kind::Frozen(c, _) | Kind::Object(c, _) | Kind::Member(c) = t.kind()
        && !(c.is_builtin_value() || c.is_mark())
    {
        return Some(host.pythons_class(c).unwrap_or_else(|| Type::new(Kind::Class(c))));
    }
    // Of these the type does not say which class it is, or whether the value is one itself.
    let unsaid = matches!(
        *t,
        Kind::DType(_) | Kind::ExcClass(_) | Kind::NamedTupleClass(_) | Kind::Class(_) | Kind::Exception
    ) || matches!(
        *t,
        Kind::Never | Kind::Undef | Kind::MaybeUndef(_) | Kind::Var(_) | Kind::Conflict(..)
    ) || matches!(*t, Kind::Optional(_) | Kind::Variant(_));
    if unsaid {
        return None;
    }
    classes::object_of(classes::class_of(t).id).map(|op| Type::new(Kind::Builtin(op)))
}

/// Whether values of a type are instances of a class, or of one of a tuple of classes; none for what is no
/// class.
pub(crate) fn is_instance(host: &dyn Host, t: Type, classes: Type) -> Option<bool> {
    match classes.members() {
        // What is an instance of one of them is not asked about the others.
        Some(m) => {
            let mut unknown = false;
            for c in m {
                match is_instance(host, t, *c) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => unknown = true,
                }
            }
            (!unknown).then_some(false)
        }
        None => is_a(host, t, classes),
    }
}

/// Types whose class pattern with one pattern inside looks at the value itself.
const WHOLE: [super::OpId; 6] = [
    id::BUILTINS_BOOL,
    id::BUILTINS_FLOAT,
    id::BUILTINS_INT,
    id::BUILTINS_LIST,
    id::BUILTINS_STR,
    id::BUILTINS_TUPLE,
];

/// The members that a class pattern looks at, by index; None for the value itself.
fn matched_members(args: &[Arg]) -> Result<Option<Vec<usize>>> {
    let count = args[3].int().unwrap_or(0) as usize;
    let names: &[Const] = if let Some(Const::Tuple(n)) = &args[2].konst { n } else { &[] };
    if matches!(args[1].ty.kind(), Kind::Builtin(p) if WHOLE.contains(p)) && count == 1 && names.is_empty() {
        return Ok(None);
    }
    let of = args[0].ty.without_none();
    let fields = of.field_names();
    let named = names.iter().map(|n| n.as_str().and_then(|n| fields.iter().position(|f| f == n)));
    let all: Option<Vec<usize>> =
        (0..count).map(|k| Some(k).filter(|k| *k < fields.len())).chain(named).collect();
    all.map(Some).ok_or_else(|| {
        Diagnostic::new(
            Code::UnsupportedSyntax,
            format!("this class pattern cannot look inside {}", args[0].ty),
        )
        .help("take the value itself (`case int(i)`) or fields of a named tuple or a frozen dataclass")
    })
}

fn match_class_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if crate::types::promote::is_variant(args[0].ty) {
        return Err(no_match("a class pattern", args));
    }
    let (inner, optional) = (args[0].ty.without_none(), args[0].ty.as_optional().is_some());
    let is = is_a(cx.host, inner, args[1].ty).ok_or_else(|| no_match("a class pattern", args))?;
    if !is {
        return Ok(Answer::constant(Const::None));
    }
    match matched_members(args)? {
        // An optional value and the optional tuple of it are the same machine values.
        None => {
            let t = Type::tuple(vec![inner]);
            Ok(Answer::of(if optional { Type::optional(t) } else { t }))
        }
        Some(members) => {
            let t = Type::tuple(members.into_iter().filter_map(|k| inner.parts()?.get(k).copied()).collect());
            Ok(Answer::of(if optional { Type::optional(t) } else { t }))
        }
    }
}

fn emit_match_class(_: &mut LowerCx<'_>, call: &OpCall<'_>) -> Result<Val> {
    if *call.ret == Kind::None {
        return Ok(vec![]);
    }
    let args: Vec<Arg> =
        call.types.iter().zip(call.consts).map(|(t, c)| Arg { ty: *t, konst: c.clone() }).collect();
    let Some(members) = matched_members(&args)? else { return Ok(call.args[0].clone()) };
    // Of an optional value the flag comes first, and goes on into the optional tuple.
    let (flag, value) = call.args[0].split_at(usize::from(call.types[0].as_optional().is_some()));
    let ty = call.types[0].without_none();
    let parts = split_leaves(value, ty.parts().unwrap_or_default());
    Ok(flag
        .iter()
        .copied()
        .chain(members.into_iter().filter_map(|k| parts.get(k).cloned()).flatten())
        .collect())
}

/// Whether values of a type are instances of a class; none for what is no class.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other value is a class")]
fn is_a(host: &dyn Host, t: Type, class: Type) -> Option<bool> {
    Some(match class.kind() {
        Kind::DType(d) if d.is_number() => t == *d || !t.is_weak() && t.strong() == *d,
        Kind::NamedTupleClass(c) => classes::class_of(t).is_a(c.id),
        Kind::ExcClass(_) => return if *t == Kind::Exception { None } else { Some(false) },
        // `np.float64` and `np.dtype("float64")` are one type, but not of one class; not every class object is
        // in the table of classes.
        Kind::Builtin(_) if matches!(*t, Kind::DType(_) | Kind::Builtin(_)) => {
            return host.is_instance(t, class);
        }
        // One type for lists of both classes: which of them it is shows when the program runs.
        Kind::Builtin(_) if super::typed::tells(t, class) => return None,
        Kind::Builtin(path) => match classes::object(*path) {
            Some(base) => classes::class_of(t).is_a(base),
            None => return host.is_instance(t, class),
        },
        Kind::Class(_) => return host.is_instance(t, class),
        _ => return None,
    })
}

// ---- rounding

fn round_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let (t, n) = (args[0].ty, args[1].ty);
    // To tens an int past 63 bits may be rounded to one that has no place here.
    let may_outgrow = cx.vars.promised && t == Type::big_int() && !args[1].is_none();
    if may_outgrow || !t.is_real() || !(args[1].is_none() || n.is_index()) {
        return Err(no_match("round()", args));
    }
    let whole = if *t == Kind::Bool { Type::int() } else { t };
    Ok(Answer::of(if t.is_float() && args[1].is_none() { Type::int() } else { whole }))
}

fn emit_round(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (v, t) = (c.args[0][0], c.types[0]);
    if *c.types[1] == Kind::None {
        if !t.is_float() {
            return cast::cast(cx, &c.args[0], t, c.ret);
        }
        let near = cx.b.un(Op::Fnearest, v);
        return super::real::emit_int(cx, &OpCall { args: &[vec![near]], ..*c });
    }
    let n = cast::to_i64(cx, c.args[1][0], c.types[1]);
    if t.is_float() {
        let wide = crate::emit::cast::widen(cx, v);
        let known = c.consts[1].as_ref().and_then(Const::as_int);
        let r = match known.and_then(|n| super::quick::decimals(cx, wide, n)) {
            Some(r) => r,
            None => super::quick::any_decimals(cx, wide, n),
        };
        return Ok(vec![if cx.b.ty(v) == Ty::F32 { cx.b.conv(Op::Fconvert, Ty::F32, r) } else { r }]);
    }
    let wide = cast::to_i64(cx, v, t);
    let r = cx.helper_value(&num::int_round, &[wide, n]);
    Ok(vec![cast::scalar(cx, r, Type::i64(), c.ret)])
}

// ---- hashes

fn mapping_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    fn may_be_dict(t: Type) -> bool {
        t.container().is_some()
            || matches!(*t, Kind::Optional(_) | Kind::Variant(_)) && t.arguments().iter().any(may_be_dict)
    }
    if may_be_dict(args[0].ty) {
        return Err(Diagnostic::new(
            Code::UnsupportedSyntax,
            "patterns that look into a dict are not compiled",
        )
        .help("ask with `in`, and take the values with []"));
    }
    Ok(Answer::constant(Const::Bool(false)))
}

fn hashable(t: Type) -> bool {
    let t = t.beneath_member();
    t.is_number()
        || matches!(*t, Kind::Str | Kind::Bytes | Kind::None)
        || t.as_optional().is_some_and(hashable)
        || !matches!(t.kind(), Kind::Frozen(c, _) if !c.generated().hash)
            && t.parts().is_some_and(|m| m.iter().all(|t| hashable(*t)))
}

fn hash(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Result<Value> {
    let t = t.beneath_member();
    if let Some(m) = t.parts() {
        let parts = split_leaves(v, m);
        let all = parts.iter().zip(m).map(|(p, t)| hash(cx, p, *t)).collect::<Result<Vec<_>>>()?;
        let (at, n) = (cx.spill(&all), cx.b.i64(all.len() as i64));
        return Ok(cx.helper_value(&num::tuple_hash, &[at, n]));
    }
    if *t == Kind::None {
        return Ok(cx.helper_value(&num::none_hash, &[]));
    }
    if let Kind::Optional(inner) = *t {
        let r = cx.if_else(
            v[0],
            |cx| Ok(vec![hash(cx, &v[1..], inner)?]),
            |cx| Ok(vec![cx.helper_value(&num::none_hash, &[])]),
        )?;
        return Ok(r[0]);
    }
    if matches!(*t, Kind::Str | Kind::Bytes) {
        return Ok(cx.helper_value(&super::string::str_hash, &[v[0]]));
    }
    Ok(match t.number() {
        Some(NumberType::Float(_)) => {
            let x = crate::emit::cast::widen(cx, v[0]);
            cx.helper_value(&num::float_hash, &[x])
        }
        Some(NumberType::Complex(_)) => {
            let (re, im) = (crate::emit::cast::widen(cx, v[0]), crate::emit::cast::widen(cx, v[1]));
            cx.helper_value(&num::complex_hash, &[re, im])
        }
        Some(NumberType::Bool | NumberType::Int(_)) | None => {
            let x = cast::to_i64(cx, v[0], t);
            let unsigned = matches!(*t, Kind::Int(i) if !i.signed() && i.bits() == 64);
            cx.helper_value(if unsigned { &num::uint_hash } else { &num::int_hash }, &[x])
        }
    })
}

/// Magnitude of an integer as i64; that of -2⁶³ is itself, whose bits are right when taken as unsigned.
fn magnitude(cx: &mut LowerCx<'_>, v: Value, t: Type) -> Value {
    if !matches!(*t, Kind::Int(i) if i.signed()) {
        return v;
    }
    let (negative, minus) = (cx.b.bin_imm(Op::IcmpSlt, v, 0), cx.b.un(Op::Ineg, v));
    cx.b.select(negative, minus, v)
}
