//! `par.tasks`, `par.Channel`, `par.move` and `par.borrow`, in Python in `tierup/lib/tasks.py`: threads of
//! their own, and what they wait for.
//!
//! Only immutable values pass from one to another as they are; others must be moved or borrowed
//! ([`crate::infer`] looks for uses of what was moved).

use super::{Body, OpDef, OpId, id};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::ArrayVal;
use crate::emit::constants;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::{Ty, Value};
use crate::rt::{Ctx, P};
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    PAR_CHANNEL = "tierup.par.Channel",
    PAR_MOVE = "tierup.par.move",
    PAR_TASKS = "tierup.par.tasks",
    PAR_START = "tierup.par._start",
}

/// What a thread waits for at a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Room for one more value.
    Room = 0,
    /// A value.
    Value = 1,
}

/// The words of a channel, which lie in an array of int64.
#[repr(C)]
pub struct ChannelWords {
    /// Values that are there.
    pub count: i64,
    /// The most there may be.
    pub capacity: i64,
    /// Whether no more will come.
    pub closed: i64,
    /// Whether some thread puts a value in or takes one out right now.
    pub busy: i64,
}

crate::runtime_fns! {
    /// Helpers of tasks and channels.
    trait Helpers;
    /// Opens a group of tasks, which this thread is to close; its number.
    fn task_group_open(ctx: Ctx) -> i64 [Writes, Pending];
    /// Starts a task of a group: a thread that calls the function whose wrapper's address `word` holds, with
    /// `count` argument slots. `refs` has a byte for each, 1 where it is a reference, which the task gives back.
    fn task_start(ctx: Ctx, group: i64, word: P, args: P, count: i64, refs: *const u8) [Writes, Pending];
    /// Waits for the tasks of a group, and raises what the first of them raised, in the order in which they were
    /// started. `failed` says that the block around them raised: then tasks that wait are told to stop, and
    /// what the block raised goes on, unless it was told to stop itself.
    fn task_group_close(ctx: Ctx, group: i64, failed: i8) [Writes, Pending];
    /// Waits until a channel has room or a value ([`Wanted`]), and keeps others out of it. False where a value
    /// is wanted and none will come; ValueError where room is wanted in a channel that is closed.
    fn channel_enter(ctx: Ctx, words: P, wanted: i8) -> i8 [Writes, Pending];
    /// Lets others in again; the channel has so many values more.
    fn channel_leave(words: P, more: i64) [Writes, Never];
    /// No more values will come.
    fn channel_close(words: P) [Writes, Never];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["tierup.par.Channel"], "capacity=None", Body::Py("tasks.channel"))
        .raises()
        .doc("A queue of values between tasks, of at most `capacity`."),
    OpDef::new(
        &["operator.getitem"],
        "cls, item",
        Body::Lir(|_, a| Ok(Answer::of(a[0].ty)), |_, _| Ok(vec![])),
    )
    .only_if(is_channel_class)
    .doc("`Channel[T]`: a channel of values of a type, which what is sent says again."),
    OpDef::new(&["tierup.par.tasks"], "", Body::Py("tasks.tasks"))
        .doc("A context manager; `spawn(f, *args)` starts tasks, and the end of its block waits for them."),
    OpDef::new(&["tierup.par.move"], "x", Body::Py("tasks.moved"))
        .doc("Says that a value is given away where it is sent."),
    OpDef::new(&["tierup.par.borrow"], "x", Body::Py("tasks.borrowed"))
        .doc("Says that a value which others may change is meant to be shared where it is sent."),
    OpDef::new(
        &["tierup.par._group"],
        "",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::int())),
            |cx, _| Ok(vec![cx.helper_value(&task_group_open, &[])]),
        ),
    )
    .raises()
    .writes()
    .doc("Opens a group of tasks."),
    OpDef::new(
        &["tierup.par._start"],
        "group, f",
        Body::Lir(|_, a| Err(no_match("spawn()", a)), |_, _| Ok(vec![])),
    )
    .raises()
    .writes()
    .doc("Starts a task that calls a function."),
    OpDef::new(
        &["tierup.par._close"],
        "group, failed",
        Body::Lir(
            |_, _| Ok(Answer::coerced(Type::none(), vec![Type::int(), Type::bool()])),
            |cx, c| {
                cx.helper(&task_group_close, &[c.args[0][0], c.args[1][0]]);
                Ok(vec![])
            },
        ),
    )
    .raises()
    .writes()
    .doc("Waits for the tasks of a group."),
    OpDef::new(&["tierup.par._room"], "words", Body::Lir(words_rule, |cx, c| enter(cx, c, Wanted::Room)))
        .raises()
        .writes()
        .doc("Waits for room in a channel."),
    OpDef::new(&["tierup.par._value"], "words", Body::Lir(words_rule, |cx, c| enter(cx, c, Wanted::Value)))
        .raises()
        .writes()
        .doc("Waits for a value in a channel; false where none will come."),
    OpDef::new(
        &["tierup.par._leave"],
        "words, more",
        Body::Lir(
            |_, a| Ok(Answer::coerced(Type::none(), vec![a[0].ty, Type::int()])),
            |cx, c| {
                let words = words(cx, c)?;
                cx.helper(&channel_leave, &[words, c.args[1][0]]);
                Ok(vec![])
            },
        ),
    )
    .writes()
    .doc("Lets others into a channel."),
    OpDef::new(
        &["tierup.par._no_more"],
        "words",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::none())),
            |cx, c| {
                let words = words(cx, c)?;
                cx.helper(&channel_close, &[words]);
                Ok(vec![])
            },
        ),
    )
    .writes()
    .doc("Closes a channel."),
    OpDef::new(&["tierup.par._check_sent"], "x", Body::Lir(sent_rule, |_, _| Ok(vec![])))
        .doc("Refuses to send what others may change."),
];

fn is_channel_class(args: &[Arg]) -> bool {
    *args[0].ty == Kind::Builtin(id::PAR_CHANNEL)
}

fn words_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    match args[0].ty.as_array() {
        Some(_) => Ok(Answer::of(Type::bool())),
        None => Err(no_match("a channel", args)),
    }
}

/// Where the words of a channel lie.
fn words(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Value> {
    Ok(ArrayVal::new(cx, &c.args[0], c.types[0])?.data)
}

fn enter(cx: &mut LowerCx<'_>, c: &OpCall<'_>, wanted: Wanted) -> Result<Val> {
    let (words, wanted) = (words(cx, c)?, cx.b.iconst(Ty::I8, wanted as i64));
    Ok(vec![cx.helper_value(&channel_enter, &[words, wanted])])
}

fn sent_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let given = cx.vars.resolve(args[0].ty);
    match shared(given) {
        None => Ok(Answer::constant(Const::None)),
        Some(part) => {
            let what =
                if part == given { format!("{given}") } else { format!("{given}, which holds {part},") };
            Err(Diagnostic::new(
                Code::NotSendable,
                format!("{what} cannot be sent as it is: what may change has one owner"),
            )
            .help("give it away with par.move(x), or share it with par.borrow(x)"))
        }
    }
}

/// What a value of a type is that tasks of compiled code share: a field says so that nothing else has.
fn role(t: Type) -> Option<OpId> {
    let Kind::Frozen(_, fields) = t.kind() else { return None };
    let Kind::Builtin(op @ (id::PAR_CHANNEL | id::PAR_TASKS | id::PAR_MOVE)) = fields.first()?.kind() else {
        return None;
    };
    Some(*op)
}

/// Whether values of a type are channels.
pub(crate) fn is_channel(t: Type) -> bool {
    role(t) == Some(id::PAR_CHANNEL)
}

/// Whether values of a type are what `move` and `borrow` give.
pub(crate) fn is_given(t: Type) -> bool {
    role(t) == Some(id::PAR_MOVE)
}

/// Why values of a type cannot leave compiled code, if they are of those that tasks share.
pub fn cannot_leave(t: Type) -> Option<String> {
    Some(match role(t)? {
        id::PAR_CHANNEL => {
            "a channel cannot be returned to Python: it belongs to tasks of compiled code; return what was received".into()
        }
        id::PAR_TASKS => "a group of tasks cannot be returned to Python: its block has ended by then".into(),
        _ => "what par.move() or par.borrow() gives can only be sent; it cannot be returned to Python".into(),
    })
}

/// The part of a value that its owner may change, if there is one. Channels are made to be shared.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not said to be immutable may change")]
fn shared(t: Type) -> Option<Type> {
    match t.kind() {
        Kind::Never
        | Kind::Undef
        | Kind::None
        | Kind::Bool
        | Kind::Int(_)
        | Kind::Float(_)
        | Kind::Complex(_) => None,
        Kind::Str | Kind::Bytes | Kind::Range(_) | Kind::Builtin(_) | Kind::DType(_) | Kind::Class(_) => None,
        Kind::Module(_) | Kind::Member(_) | Kind::Ellipsis | Kind::ExcClass(_) | Kind::NamedTupleClass(_) => {
            None
        }
        Kind::Slice(parts) => parts.iter().find_map(|t| shared(*t)),
        Kind::Method(_, of) => shared(*of),
        Kind::Frozen(..) if is_channel(t) => None,
        Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Frozen(_, m) | Kind::Variant(m) => {
            m.iter().find_map(|t| shared(*t))
        }
        Kind::Optional(t) | Kind::MaybeUndef(t) => shared(*t),
        Kind::Function(f) => f.captures.iter().chain(&f.defaults).find_map(|t| shared(*t)),
        _ if t.is_number() => None,
        _ => Some(t),
    }
}

/// Starts a task whose wrapper is `wrapper`, with the machine values of all its arguments, of those types.
pub(crate) fn emit_task(
    cx: &mut LowerCx<'_>,
    wrapper: &str,
    group: Value,
    args: &[Value],
    types: &[Type],
) -> Val {
    let word = cx.b.symbol_addr(&crate::lir::cells::word(wrapper), 0);
    let leaves: Vec<bool> = types.iter().flat_map(|t| t.leaves()).map(|l| l.is_ref).collect();
    let mut at = 0;
    for t in types {
        let n = t.leaf_count();
        cx.retain(&args[at..at + n], *t);
        at += n;
    }
    let refs: String = leaves.iter().map(|r| if *r { '\u{1}' } else { '\0' }).collect();
    let (refs, slots) = (constants::bytes(&mut cx.b, &refs), cx.spill(args));
    let count = cx.b.i64(leaves.len() as i64);
    cx.helper(&task_start, &[group, word, slots, count, refs]);
    vec![]
}
