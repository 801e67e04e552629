//! `collections.defaultdict`, `Counter` and `OrderedDict`: dicts of other classes. Objects and helpers are those
//! of [`super::dict`], and so are the operations in which they do not differ from it; a `defaultdict`'s type
//! also holds what it makes values with.
//!
//! What builds and looks up is here; what Python defines by these is library code
//! (`pybind/python/tierup/lib/mappings.py`).

pub(super) mod texts;

use super::dict::entries::{find, value_at};
use super::dict::{
    dict_by_count, emit_build, hold, is_a, is_counter, is_dict, known_parts, looked_up, new_of,
};
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::constants::string;
use crate::emit::cx::OpCall;
use crate::types::{Const, Container, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};
use texts::around;

super::identity::op_ids! {
    DEFAULTDICT = "collections.defaultdict" [keeps, makes_list, lists(Keeps)],
    COUNTER = "collections.Counter" [makes_list],
    ORDERED_DICT = "collections.OrderedDict" [keeps, makes_list],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["collections.defaultdict"],
        "factory=None, **names",
        Body::Lir(default_rule, |cx, c| {
            emit_build(cx, &OpCall { args: &c.args[1..], types: &c.types[1..], ..*c })
        }),
    )
    .raises()
    .reads()
    .doc("A dict that makes a value for a key that it does not have, by a class or a function."),
    OpDef::new(&["collections.defaultdict"], "factory, entries", Body::Py("mappings.defaultdict_of"))
        .raises()
        .reads()
        .doc("The same, of a dict's or an iterable's pairs."),
    OpDef::new(
        &["collections.Counter"],
        "**names",
        Body::Lir(|cx, a| build_rule(cx, a, Container::Counter), emit_build),
    )
    .raises()
    .reads()
    .doc("Counts by names; an empty counter."),
    OpDef::new(&["collections.Counter"], "counts", Body::Py("mappings.counter_of"))
        .only_if(is_dict)
        .raises()
        .reads()
        .doc("The counts of a dict."),
    OpDef::new(&["collections.Counter"], "iterable", Body::Py("mappings.counted"))
        .only_if(|a| !is_dict(a))
        .raises()
        .reads()
        .doc("How often each element of an iterable comes."),
    OpDef::new(
        &["collections.OrderedDict"],
        "**names",
        Body::Lir(|cx, a| build_rule(cx, a, Container::OrderedDict), emit_build),
    )
    .raises()
    .reads()
    .doc("A dict whose keys can be moved to its ends."),
    OpDef::new(&["collections.OrderedDict"], "entries", Body::Py("mappings.ordered_of"))
        .raises()
        .reads()
        .doc("The same, of a dict's or an iterable's pairs."),
    // What is looked up.
    OpDef::new(&["operator.getitem"], "dict, key", Body::Py("mappings.default_item"))
        .only_if(is_default)
        .raises()
        .writes()
        .doc("`d[key]`, which is made where it is missing."),
    OpDef::new(&["operator.getitem"], "counter, key", Body::Py("mappings.count_of"))
        .only_if(is_counter)
        .reads()
        .doc("`counter[key]`, or 0."),
    OpDef::new(
        &["operator._find"],
        "dict, key",
        Body::Lir(
            |cx, a| looked_up(cx, a, "[]").map(|_| Answer::of(Type::int())),
            |cx, c| Ok(vec![find(cx, c, 1)?]),
        ),
    )
    .reads()
    .internal()
    .doc("The place of a key; -1 where it is missing (library use)."),
    OpDef::new(
        &["operator._value_at"],
        "dict, place",
        Body::Lir(
            |cx, a| known_parts(cx, a, "[]").map(|(_, v)| Answer::of(v)),
            |cx, c| {
                let x = value_at(cx, c.args[0][0], c.types[0], c.args[1][0])?;
                cx.retain(&x, c.ret);
                Ok(x)
            },
        ),
    )
    .reads()
    .internal()
    .doc("The value at a place (library use)."),
    OpDef::new(
        &["defaultdict.default_factory"],
        "d",
        Body::Lir(|_, a| factory(a).map(Answer::of), |_, _| Ok(vec![])),
    )
    .property()
    .doc("What a missing key's value is made with."),
    OpDef::new(
        &["operator._by_count"],
        "d",
        Body::Lir(
            |cx, a| {
                known_parts(cx, a, "most_common()")?;
                Ok(Answer::of(a[0].ty))
            },
            |cx, c| Ok(vec![cx.helper_value(&dict_by_count, &c.args[0])]),
        ),
    )
    .raises()
    .reads()
    .internal()
    .doc("A copy with the greatest values first (library use)."),
    OpDef::new(
        &["operator._mapping_text"],
        "d",
        Body::Lir(
            |_, a| {
                text_of(a).map(|around| {
                    Answer::constant(Const::Tuple(around.into_iter().map(|s| Const::Str(s.into())).collect()))
                })
            },
            |cx, c| {
                let Some((class, m)) = c.types[0].container() else { return Ok(vec![]) };
                let around = around(class, m).unwrap_or_default();
                Ok(around.iter().map(|s| string(&mut cx.b, s)).collect())
            },
        ),
    )
    .internal()
    .doc("What stands around the entries in a dict's text (library use)."),
    // Counters.
    OpDef::new(&["operator.delitem"], "counter, key", Body::Py("mappings.count_delete"))
        .only_if(is_counter)
        .raises()
        .writes()
        .doc("`del counter[key]`, which need not be there."),
    OpDef::new(&["Counter.most_common"], "counter, n=None", Body::Py("mappings.most_common"))
        .raises()
        .reads()
        .doc("The `n` elements that come most often, with their counts."),
    OpDef::new(&["Counter.elements"], "counter", Body::Py("mappings.elements"))
        .raises()
        .reads()
        .doc("Each element as often as it is counted."),
    OpDef::new(&["Counter.total"], "counter", Body::Py("mappings.total"))
        .raises()
        .reads()
        .doc("The sum of all counts."),
    OpDef::new(&["Counter.update"], "counter, counts", Body::Py("mappings.add_counts"))
        .only_if(|a| is_dict(&a[1..]))
        .raises()
        .writes()
        .doc("Adds the counts of a dict."),
    OpDef::new(&["Counter.update"], "counter, iterable", Body::Py("mappings.count_all"))
        .only_if(|a| !is_dict(&a[1..]))
        .raises()
        .writes()
        .doc("Counts the elements of an iterable."),
    OpDef::new(&["Counter.subtract"], "counter, counts", Body::Py("mappings.subtract_counts"))
        .only_if(|a| is_dict(&a[1..]))
        .raises()
        .writes()
        .doc("Takes the counts of a dict away."),
    OpDef::new(&["Counter.subtract"], "counter, iterable", Body::Py("mappings.uncount_all"))
        .only_if(|a| !is_dict(&a[1..]))
        .raises()
        .writes()
        .doc("Takes the elements of an iterable away."),
    of_counters(&["operator.add"], "mappings.counter_add", "`a + b` of counters: positive sums."),
    of_counters(&["operator.sub"], "mappings.counter_sub", "`a - b` of counters: positive differences."),
    of_counters(&["operator.or_"], "mappings.counter_or", "`a | b` of counters: the greater counts."),
    of_counters(&["operator.and_"], "mappings.counter_and", "`a & b` of counters: the smaller counts."),
    of_counters(&["operator.iadd"], "mappings.counter_iadd", "`a += b` of counters.").writes(),
    of_counters(&["operator.isub"], "mappings.counter_isub", "`a -= b` of counters.").writes(),
    of_counters(&["operator.ior"], "mappings.counter_ior", "`a |= b` of counters.").writes(),
    of_counters(&["operator.iand"], "mappings.counter_iand", "`a &= b` of counters.").writes(),
    of_counters(&["operator.eq"], "mappings.counter_eq", "Whether counters count alike; 0 is missing."),
    of_counters(&["operator.ne"], "mappings.counter_ne", "Whether they do not."),
    of_counters(&["operator.le"], "mappings.counter_le", "Whether no count of one is greater."),
    of_counters(&["operator.lt"], "mappings.counter_lt", "Whether it is a proper part."),
    of_counters(&["operator.ge"], "mappings.counter_ge", "Whether no count of one is smaller."),
    of_counters(&["operator.gt"], "mappings.counter_gt", "Whether the other is a proper part."),
    OpDef::new(&["operator.pos"], "counter", Body::Py("mappings.counter_pos"))
        .only_if(is_counter)
        .raises()
        .reads()
        .doc("`+counter`: the positive counts."),
    OpDef::new(&["operator.neg"], "counter", Body::Py("mappings.counter_neg"))
        .only_if(is_counter)
        .raises()
        .reads()
        .doc("`-counter`: the negative counts, negated."),
    // Ordered dicts.
    OpDef::new(&["OrderedDict.fromkeys"], "iterable, value=None", Body::Py("mappings.ordered_fromkeys"))
        .of_class()
        .raises()
        .reads()
        .doc("An ordered dict with keys of an iterable, which all have one value."),
    OpDef::new(
        &["defaultdict.fromkeys", "Counter.fromkeys"],
        "iterable, value=None",
        Body::Lir(
            |_, _| {
                Err(Diagnostic::new(
                    Code::NoMatchingOperation,
                    "fromkeys() is compiled for dict and OrderedDict",
                )
                .help("write a loop"))
            },
            |_, _| Ok(vec![]),
        ),
    )
    .of_class()
    .doc("Says what has the method."),
    OpDef::new(&["OrderedDict.move_to_end"], "d, key, last=True", Body::Py("mappings.move_to_end"))
        .raises()
        .writes()
        .doc("Makes a key the last one, or the first; KeyError."),
    OpDef::new(&["OrderedDict.popitem"], "d, last=True", Body::Py("mappings.ordered_popitem"))
        .raises()
        .writes()
        .doc("Removes and returns the last pair, or the first; KeyError."),
    OpDef::new(&["operator.eq"], "a, b", Body::Py("mappings.ordered_eq"))
        .only_if(both_ordered)
        .raises()
        .reads()
        .doc("Whether ordered dicts have equal pairs in the same order."),
    OpDef::new(&["operator.ne"], "a, b", Body::Py("mappings.ordered_ne"))
        .only_if(both_ordered)
        .raises()
        .reads()
        .doc("Whether they do not."),
    // Of several classes.
    OpDef::new(&["operator.or_"], "a, b", Body::Py("mappings.union"))
        .only_if(|a| is_dict(a) && is_dict(&a[1..]) && takes_class(&a[0]))
        .raises()
        .reads()
        .doc("`a | b`, of the class of `a`."),
    OpDef::new(&["operator.or_"], "a, b", Body::Py("mappings.union_as_right"))
        .only_if(|a| is_a(a, Container::Dict) && is_dict(&a[1..]) && takes_class(&a[1]))
        .raises()
        .reads()
        .doc("`a | b` of a plain dict and one of another class, which the result is of."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("mappings.counter_repr"))
        .only_if(is_counter)
        .raises()
        .reads()
        .doc("`repr` of a counter."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("mappings.ordered_repr"))
        .only_if(|a| is_a(a, Container::OrderedDict))
        .raises()
        .reads()
        .doc("`repr` of an ordered dict."),
    OpDef::new(&["builtins.str", "builtins.repr"], "x", Body::Py("mappings.default_repr"))
        .only_if(is_default)
        .raises()
        .reads()
        .doc("`repr` of a dict with defaults."),
];

/// A row for two counters.
const fn of_counters(path: &'static [&'static str], body: &'static str, doc: &'static str) -> OpDef {
    OpDef::new(path, "a, b", Body::Py(body))
        .only_if(|a| is_counter(a) && is_counter(&a[1..]))
        .raises()
        .reads()
        .doc(doc)
}

// ---- types

fn is_default(args: &[Arg]) -> bool {
    is_a(args, Container::DefaultDict)
}

fn both_ordered(args: &[Arg]) -> bool {
    is_a(args, Container::OrderedDict) && is_a(&args[1..], Container::OrderedDict)
}

/// Whether a union with it is of its class.
fn takes_class(a: &Arg) -> bool {
    matches!(a.ty.container(), Some((Container::DefaultDict | Container::OrderedDict, _)))
}

/// What a dict with defaults makes values with.
fn factory(args: &[Arg]) -> Result<Type> {
    match args[0].ty.container() {
        Some((Container::DefaultDict, m)) => Ok(m[2]),
        _ => Err(no_match("default_factory", args)),
    }
}

fn default_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let made_by = args[0].ty;
    let is_known = matches!(
        *made_by,
        Kind::None
            | Kind::Function(_)
            | Kind::Builtin(_)
            | Kind::DType(_)
            | Kind::NamedTupleClass(_)
            | Kind::Class(_)
    );
    if !is_known {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("a value of type {made_by} makes no values: defaultdict() takes a class or a function"),
        ));
    }
    if made_by.leaf_count() > 0 {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            "a defaultdict whose function has captured variables is not compiled",
        )
        .help("give it a class, or a function that needs none: defaultdict(list), defaultdict(lambda: 1)"));
    }
    let dict = new_of(cx, Container::DefaultDict, &[made_by]);
    held_by_names(cx, dict, &args[1..])
}

fn build_rule(cx: &mut TyCx<'_, '_>, args: &[Arg], class: Container) -> Result<Answer> {
    let dict = new_of(cx, class, &[]);
    held_by_names(cx, dict, args)
}

fn held_by_names(cx: &mut TyCx<'_, '_>, dict: Type, names: &[Arg]) -> Result<Answer> {
    for pair in names.chunks(2) {
        hold(cx, dict, pair[0].ty, pair[1].ty)?;
    }
    Ok(Answer::of(dict))
}

// ---- texts

fn text_of(args: &[Arg]) -> Result<[String; 2]> {
    let around = args[0].ty.container().and_then(|(c, m)| around(c, m));
    around.ok_or_else(|| {
        Diagnostic::new(
            Code::NoMatchingOperation,
            "the text of a defaultdict says where in memory its function is, which compiled code does not know",
        )
        .help("use dict(d), or repr(dict(d))")
    })
}
