//! Python's module `functools`.

use super::dict::entries::described;
use super::dict::{is_found_by_place, new_of};
use super::{Body, OpDef};
use crate::desc::TypeDesc;
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::layout::Dict;
use crate::lir::Value;
use crate::types::{Container, Kind, Type};
use crate::typing::Answer;

super::identity::op_ids! {
    FUNCTOOLS_PARTIAL = "functools.partial" [keeps],
    FUNCTOOLS_CMP_TO_KEY = "functools.cmp_to_key" [keeps],
    CMP_TO_KEY = "_functools.cmp_to_key" [keeps],
    FUNCTOOLS_CACHE = "functools.cache" [keeps],
    FUNCTOOLS_LRU_CACHE = "functools.lru_cache" [keeps],
    FUNCTOOLS_MEMORY = "functools._memory",
    FUNCTOOLS_REMEMBERING = "functools._remembering" [keeps],
    FUNCTOOLS_REMEMBERED = "functools._remembered",
    FUNCTOOLS_REMEMBERED_IN_ORDER = "functools._remembered_in_order",
    FUNCTOOLS_MISSED = "functools._missed",
}

crate::runtime_fns! {
    /// Functions that remember their results.
    trait Helpers;
    /// The dict of this thread with what the function of that number has given, of keys and values that the
    /// descriptors describe. It is empty where the thread has none, or one of another time: before the function
    /// was made to forget.
    fn remembered(number: i64, time: i64, entry: *const TypeDesc, key: *const TypeDesc, value: *const TypeDesc) -> *mut Dict [Writes, Never];
    /// Counts a call of the function of that number whose result was not remembered.
    fn remembered_not(number: i64, time: i64) [Writes, Never];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["_functools.reduce", "functools.reduce"],
        "f, values, start=...",
        Body::Py("builtin.reduce"),
    )
    .raises()
    .doc("`f` of the values so far and the next; TypeError of an empty iterable."),
    OpDef::new(&["functools.partial"], "func, *args", Body::Py("functions.partial"))
        .raises()
        .doc("A function whose first arguments are given."),
    OpDef::new(&["_functools.cmp_to_key", "functools.cmp_to_key"], "mycmp", Body::Py("functions.cmp_to_key"))
        .raises()
        .doc("A function that makes keys, which compare as `mycmp` says: below, equal and above as below 0, 0 and above 0."),
    OpDef::new(&["functools.cache"], "user_function", Body::Py("functions.cache"))
        .raises()
        .doc("A function that remembers its results while the call that made it runs."),
    OpDef::new(&["functools.lru_cache"], "user_function", Body::Py("functions.lru_cached"))
        .only_if(|a| is_function(a[0].ty))
        .raises()
        .doc("The same, of the last 128 calls."),
    OpDef::new(&["functools.lru_cache"], "maxsize=128, typed=False", Body::Py("functions.lru_cache"))
        .only_if(|a| !is_function(a[0].ty))
        .raises()
        .doc("What makes such functions; without a bound where `maxsize` is None."),
    OpDef::new(&["functools._memory"], "maxsize", Body::Py("functions.memory"))
        .internal()
        .raises()
        .doc("What remembers the results of a function (library use)."),
    OpDef::new(
        &["functools._remembering"],
        "user_function, known, maxsize",
        Body::Py("functions.remembering"),
    )
    .internal()
    .raises()
    .doc("A function that remembers its results there (library use)."),
    OpDef::new(
        &["functools._remembered"],
        "number, time",
        Body::Lir(|cx, _| Ok(Answer::of(new_of(cx, Container::Dict, &[]))), emit_remembered),
    )
    .writes()
    .internal()
    .doc("The dict in which a function remembers what it gave (library use)."),
    OpDef::new(
        &["functools._remembered_in_order"],
        "number, time",
        Body::Lir(|cx, _| Ok(Answer::of(new_of(cx, Container::OrderedDict, &[]))), emit_remembered),
    )
    .writes()
    .internal()
    .doc("The same, of a function that forgets what was asked for the longest time ago (library use)."),
    OpDef::new(
        &["functools._missed"],
        "number, time",
        Body::Lir(|_, _| Ok(Answer::of(Type::none())), |cx, c| {
            let [number, time] = numbers(cx, c);
            cx.helper(&remembered_not, &[number, time]);
            Ok(vec![])
        }),
    )
    .writes()
    .internal()
    .doc("Counts a call whose result was not remembered (library use)."),
];

/// The number of a function and the time since which it remembers.
fn numbers(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> [Value; 2] {
    [0, 1].map(|k| cast::to_i64(cx, c.args[k][0], c.types[k]))
}

fn is_function(t: Type) -> bool {
    matches!(t.kind(), Kind::Function(_) | Kind::Builtin(_) | Kind::Method(..))
}

fn emit_remembered(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    // Python's object is another one to compiled code at each call, and would never be found again.
    if let Some((_, m)) = c.ret.container()
        && is_found_by_place(m[0])
    {
        let text = "results are remembered for objects that are equal to nothing but themselves, which are copied at each call";
        return Err(Diagnostic::new(Code::NoMatchingOperation, text).help(
            "make the class a frozen dataclass, give it __eq__ and __hash__, or pass what the result depends on",
        ));
    }
    let [number, time] = numbers(cx, c);
    let [entry, key, value] = described(cx, c.ret)?;
    Ok(vec![cx.helper_value(&remembered, &[number, time, entry, key, value])])
}
