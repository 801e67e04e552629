//! What compiled code asks of what it runs on, beside instructions: somebody who may stop it, counts of
//! references, exceptions, and everything else that helpers do. The host does all of it. Another platform,
//! such as a GPU, says what it does in its place, does without, or objects.
//!
//! Emitters ask [`Platform`] through the emit context and do not know which one it is. What a platform cannot
//! do it says twice. Where code cannot be made at all, lowering ends with its diagnostic. Everything else is
//! emitted and looked at when the optimiser is done ([`check`]): that overlapping arrays would be copied is no
//! objection to code whose arrays cannot overlap.

use super::constants;
use crate::diag::{Diagnostic, Result};
use crate::exc::Class;
use crate::lir::builder::Builder;
use crate::lir::cfg::Cfg;
use crate::lir::{Alias, InstData, Module, Ty, Value};
use crate::offset;
use crate::ops::{object, raising};
use crate::rt::RtFn;
use crate::source::Frame;

/// An exception that code makes.
pub enum NewException<'a> {
    /// An instance that a program makes; its arguments follow one by one.
    Instance(Class),
    /// One of a class that the host knows by handle, in the state that the code is compiled for.
    OfHost { handle: u64, state: u32 },
    /// With a constant message; an empty one is none.
    Message(Class, &'a str),
    /// With a message in which each `{}` is replaced by the next of the values.
    Format(Class, &'a str, &'a [Value]),
    /// With a message that says what it got.
    Got(Class, &'a str, Value),
    /// An index that is out of bounds in a dimension of that size.
    Index { index: Value, axis: usize, size: Value },
}
impl NewException<'_> {
    /// The handle of its class ([`crate::types::class::ClassDef::handle`]).
    pub(crate) fn handle(&self) -> u64 {
        match self {
            NewException::Instance(class)
            | NewException::Message(class, _)
            | NewException::Format(class, ..)
            | NewException::Got(class, ..) => *class as u64,
            NewException::Index { .. } => Class::IndexError as u64,
            NewException::OfHost { handle, .. } => *handle,
        }
    }
}

/// What code runs on. What a platform does not say otherwise is done as on the host.
pub trait Platform: Sync {
    fn name(&self) -> &'static str;

    /// Whether somebody may want running code to stop, so that loops look.
    fn polls(&self) -> bool {
        true
    }
    /// Where in what parameter 0 points to the lowest address stands that frames of functions which call
    /// themselves may have: below it they raise RecursionError. None where they ask a helper, which knows more.
    fn stack_limit(&self) -> Option<usize> {
        None
    }
    /// Whether there are helpers that pass over whole arrays, faster than a loop of calls.
    fn array_kernels(&self) -> bool {
        true
    }

    /// Whether there are helpers for what a few instructions do not reach; else code does that too.
    fn slow_ways(&self) -> bool {
        true
    }

    /// Whether code can have memory for arrays that live beside those of the program.
    fn allocates(&self) -> bool {
        true
    }

    /// Adds a reference to an object, which may be null.
    fn retain(&self, b: &mut Builder<'_>, object: Value) {
        b.helper(&object::obj_retain, &[object]);
    }
    /// Drops a reference to an object, which may be null.
    fn release(&self, b: &mut Builder<'_>, object: Value) {
        b.helper(&object::obj_release, &[object]);
    }

    /// A new exception. It is not null, and its address is all that code knows of it.
    fn exception(&self, b: &mut Builder<'_>, new: &NewException<'_>) -> Value {
        host_exception(b, new)
    }
    /// Appends an argument; see `exc_add_arg`.
    fn add_argument(&self, b: &mut Builder<'_>, exc: Value, kind: Value, bits: Value) {
        b.helper(&raising::exc_add_arg, &[exc, kind, bits]);
    }
    /// Makes the exception that is being handled the context of a new one.
    fn set_context(&self, b: &mut Builder<'_>, ctx: Value, exc: Value) {
        let handled = b.load(Ty::Ptr, ctx, offset!(ThreadCtx.handled), Alias::Ctx);
        b.helper(&raising::exc_set_context, &[exc, handled]);
    }
    fn set_cause(&self, b: &mut Builder<'_>, exc: Value, cause: Value) {
        b.helper(&raising::exc_set_cause, &[exc, cause]);
    }
    /// Adds a place to the trail of an exception.
    fn add_site(&self, b: &mut Builder<'_>, exc: Value, frame: &Frame) {
        let file = constants::text_pair(b, &frame.file);
        let func = constants::text_pair(b, &frame.func);
        let line = b.i64(frame.line as i64);
        b.helper(&raising::exc_add_site, &[exc, file, func, line]);
    }

    /// Anything else: memory, output, random numbers, locks, mathematics.
    fn helper(&self, b: &mut Builder<'_>, helper: &'static RtFn, args: &[Value]) -> Option<Value> {
        b.helper(helper, args)
    }
    /// Why it cannot do what an instruction asks.
    fn objection(&self, _to: &InstData) -> Option<Diagnostic> {
        None
    }
}

impl PartialEq for dyn Platform {
    fn eq(&self, other: &dyn Platform) -> bool {
        self.name() == other.name()
    }
}
impl Eq for dyn Platform {}
impl std::hash::Hash for dyn Platform {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
impl std::fmt::Debug for dyn Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The process in which the compiler runs, with the run-time's helpers.
pub struct Host;
impl Platform for Host {
    fn name(&self) -> &'static str {
        "host"
    }
}

fn host_exception(b: &mut Builder<'_>, new: &NewException<'_>) -> Value {
    let (helper, args) = match *new {
        NewException::Instance(class) => (&raising::exc_new, vec![b.i64(class as i64), b.null(), b.i64(-1)]),
        NewException::OfHost { handle, state } => {
            (&raising::exc_new_host, vec![b.i64(handle as i64), b.i64(state.into())])
        }
        NewException::Message(class, message) => {
            let message = crate::python::words(message);
            let text = constants::bytes(b, message);
            let class = b.i64(class as i64);
            let len = b.i64(if message.is_empty() { -1 } else { message.len() as i64 });
            (&raising::exc_new, vec![class, text, len])
        }
        NewException::Format(class, template, values) => {
            let template = crate::python::words(template);
            let text = constants::bytes(b, template);
            let class = b.i64(class as i64);
            let len = b.i64(template.len() as i64);
            (&raising::exc_format, vec![class, text, len, b.spill(values)])
        }
        NewException::Got(class, message, x) => {
            let text = constants::bytes(b, message);
            let class = b.i64(class as i64);
            let len = b.i64(message.len() as i64);
            (&raising::exc_got, vec![class, text, len, x])
        }
        NewException::Index { index, axis, size } => {
            (&raising::exc_index, vec![index, b.i64(axis as i64), size])
        }
    };
    b.helper(helper, &args).unwrap_or(args[0])
}

/// Refuses what is left in a module and its platform cannot do: the first such instruction in the order of
/// the program, at its line.
pub fn check(module: &Module, platform: &dyn Platform) -> Result<()> {
    for func in &module.funcs {
        let cfg = Cfg::new(func);
        for b in cfg.rpo() {
            for i in &func.blocks[b.index()].insts {
                let node = &func.insts[i.index()];
                let Some(d) = platform.objection(&node.data) else { continue };
                return Err(match func.span(node.loc) {
                    Some(at) => d.at(at),
                    None => d,
                });
            }
        }
    }
    Ok(())
}
