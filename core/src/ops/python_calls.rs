//! Calls of Python functions that say what they give. What they are given becomes Python objects, and what comes
//! back is converted to the declared type, or raises as Python would. The number of the function lies in an
//! array that the calling function captures, so code in the cache holds none.

use super::{Body, OpDef};
use crate::desc::place::Place;
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::constants::text_pair;
use crate::emit::cx::{LowerCx, OpCall, Overflow, Val};
use crate::exc::Class;
use crate::lir::Alias;
use crate::rt::{Ctx, P};
use crate::types::{Const, Container, Kind, Type, parse};
use crate::typing::{Answer, Arg, TyCx, no_match};

crate::runtime_fns! {
    /// Python functions.
    trait Helpers;
    /// Calls the Python function of number `key`. `types` is the address of a text: the type of `args`, a tuple in
    /// memory whose references are taken over, and on a line of its own that of the result, which is written to
    /// `result`. Lists, dicts and sets among the arguments have the contents then that Python leaves in its copies.
    /// Raises what Python raises, and TypeError for a result of another type.
    fn python_call(ctx: Ctx, key: i64, types: P, args: P, result: P) [Writes, Pending];
}

/// In the place of a result's type: nobody reads it, and arguments are the numbers that Python would have, NumPy's among
/// them.
pub const DISCARDED: &str = "discard";

fn result(args: &[Arg]) -> Result<Type> {
    let text = args[1].text().ok_or_else(|| no_match("a Python function", args))?;
    if text == DISCARDED {
        return Ok(Type::none());
    }
    parse::parse(text).map_err(|e| Diagnostic::new(Code::BadSignature, e))
}

/// Whether a Python function may be given a container: Python has a copy of it, which is taken back behind the call.
pub fn is_taken_back(t: Type) -> bool {
    const DICTS: [Container; 6] = [
        Container::Dict,
        Container::DefaultDict,
        Container::Counter,
        Container::OrderedDict,
        Container::Set,
        Container::FrozenSet,
    ];
    let known = matches!(t.kind(), Kind::List(_)) || t.container().is_some_and(|(c, _)| DICTS.contains(&c));
    known && !t.arguments().iter().any(Type::holds_list)
}

fn rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let ret = result(args)?;
    for a in &args[2..] {
        if a.ty.holds_list() && !is_taken_back(a.ty) {
            let text = format!(
                "a Python function is given copies of what is in a {}, whose changes would be lost",
                a.ty
            );
            return Err(Diagnostic::new(Code::NoMatchingOperation, text)
                .help("pass an array, a tuple or a list, dict or set that holds no other containers"));
        }
        if parse::parse(&a.ty.to_string()) != Ok(a.ty) {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                format!("a value of type {} cannot be given to a Python function", a.ty),
            )
            .help("pass numbers, strs, arrays, and tuples of them"));
        }
    }
    Ok(Answer::of(ret))
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let given = Type::tuple(c.types[2..].to_vec());
    if cx.guard.is_some() && given.holds_list() {
        let text = "a container that iterations of a parallel loop may share is given to a Python function";
        return Err(
            Diagnostic::new(Code::UnsupportedSyntax, text).help("pass an array or what it needs of it")
        );
    }
    for (v, t) in c.args[2..].iter().zip(&c.types[2..]) {
        cx.retain(v, *t);
    }
    let (from, to) = (Place::of(given), Place::of(c.ret));
    let (args, out) = (cx.b.slot_addr(from.size().max(8)), cx.b.slot_addr(to.size().max(8)));
    for (v, leaf) in c.args[2..].iter().flatten().zip(from.leaves()) {
        cx.b.store(*v, args, leaf.offset as i32, Alias::Stack);
    }
    let key = cast::to_i64(cx, c.args[0][0], c.types[0]);
    let discards = matches!(&c.consts[1], Some(Const::Str(s)) if **s == *DISCARDED);
    let ret = if discards { DISCARDED.into() } else { c.ret.to_string() };
    let types = text_pair(&mut cx.b, &format!("{given}\n{ret}"));
    cx.helper(&python_call, &[key, types, args, out]);
    Ok(to.leaves().iter().map(|leaf| cx.b.load(leaf.ty, out, leaf.offset as i32, Alias::Stack)).collect())
}

/// Python's answer, where it is promised, is that of Python's code, which runs instead where it can.
fn not_said(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let class = match cx.options.overflow {
        Overflow::Wrap | Overflow::Raise => Class::ValueError,
        Overflow::Python => Class::IntegerOverflow,
    };
    let Some(Const::Str(text)) = &c.consts[0] else { return Err(Diagnostic::internal("no reason")) };
    let never = cx.b.bool(false);
    cx.check(never, class, text);
    Ok(vec![])
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy._python_call"], "key, result, *args", Body::Lir(rule, emit))
        .writes()
        .raises()
        .doc("Calls a Python function by its number (library use)."),
    OpDef::new(&["numpy._ask_python"], "key, result, *args", Body::Lir(rule, emit))
        .reads()
        .raises()
        .doc("The same of a function that changes nothing (library use)."),
    OpDef::new(
        &["operator._not_said"],
        "text",
        Body::Lir(
            |_, a| match a[0].text() {
                Some(_) => Ok(Answer::of(Type::none())),
                None => Err(no_match("a reason", a)),
            },
            not_said,
        ),
    )
    .raises()
    .internal()
    .doc("Raises, for a reason, where Python has an answer that compiled code has not (library use)."),
];
