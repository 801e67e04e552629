//! Exceptions: how emitters raise, what joins the trail of an exception, and where it goes.

use super::super::platform::NewException;
use super::LowerCx;
use crate::exc::Class;
use crate::lir::{Block, Op, Ty, Value};
use crate::ops::{raising, region};

impl LowerCx<'_> {
    /// The cold block that takes an owned exception (`ptr`), adds this place to its trail and leaves.
    pub(crate) fn landing(&mut self) -> Block {
        if let Some(b) = self.landing {
            return b;
        }
        let block = self.b.new_cold_block(&[Ty::Ptr]);
        let back = self.b.block;
        self.b.switch_to(block);
        let exc = self.b.params(block)[0];
        if let Some((a, b)) = self.locked {
            self.helper(&region::parallel_unlock, &[a, b]);
        }
        self.add_sites(exc, usize::MAX);
        for o in [self.cleanup.as_slice(), &self.made].concat() {
            self.release_object(o);
        }
        match self.on_error.handler.clone() {
            Some((handler, args)) => {
                let all: Vec<Value> = std::iter::once(exc).chain(args).collect();
                self.b.jump(handler, &all);
            }
            None => self.return_error(exc),
        }
        self.b.switch_to(back);
        self.landing = Some(block);
        block
    }

    /// Whether the current instruction has raised something so far.
    pub(crate) fn landing_made(&self) -> bool {
        self.landing.is_some()
    }

    /// Adds the current line to the exception's trail. Where it leaves a function that was inlined is said
    /// there, if it does (`exc.leave`).
    pub(crate) fn site(&mut self, exc: Value) {
        self.add_sites(exc, 1);
    }

    /// Adds the current line and those of the calls that were inlined, as far as the exception goes: this
    /// many at most.
    fn add_sites(&mut self, exc: Value, most: usize) {
        // What a builtin function is made of is no business of the user's: in Python it has no frame either.
        let frames = self.on_error.frames.iter().take(most).filter(|f| !f.file.is_library());
        for frame in frames.cloned().collect::<Vec<_>>() {
            self.options.platform.add_site(&mut self.b, exc, &frame);
        }
    }

    /// Leaves the function with an owned exception.
    pub(crate) fn return_error(&mut self, exc: Value) {
        let exc = if self.resumes {
            self.helper(&raising::exc_leave_generator, &[exc]).unwrap_or(exc)
        } else {
            exc
        };
        let status = self.b.conv(Op::Bitcast, Ty::I64, exc);
        let mut all = vec![status];
        for t in self.results.clone() {
            all.push(self.zero(t));
        }
        self.b.ret(all);
    }

    pub(crate) fn zero(&mut self, ty: Ty) -> Value {
        self.b.constant(ty, 0)
    }

    pub(crate) fn new_exception(&mut self, new: &NewException<'_>) -> Value {
        self.options.platform.exception(&mut self.b, new)
    }

    /// A new exception with a constant message; an empty one is none.
    pub(crate) fn exception(&mut self, class: Class, message: &str) -> Value {
        self.new_exception(&NewException::Message(class, message))
    }

    /// Raises where `cond` (i8) is zero; goes on where it is not.
    pub(crate) fn check(&mut self, cond: Value, class: Class, message: &str) {
        let ok = self.b.new_block(&[]);
        let bad = self.b.new_cold_block(&[]);
        self.b.brif(cond, ok, &[], bad, &[]);
        self.b.switch_to(bad);
        self.raise(class, message);
        self.b.switch_to(ok);
    }

    /// The same with a message that holds numbers: each `{}` stands for the next of `values` (i64).
    pub(crate) fn check_format(&mut self, cond: Value, class: Class, template: &str, values: &[Value]) {
        self.check_made(cond, |cx| cx.formatted(class, template, values));
    }

    /// Raises what `make` gives where `cond` is zero.
    pub(crate) fn check_made(&mut self, cond: Value, make: impl FnOnce(&mut Self) -> Value) {
        let ok = self.b.new_block(&[]);
        let bad = self.b.new_cold_block(&[]);
        self.b.brif(cond, ok, &[], bad, &[]);
        self.b.switch_to(bad);
        let exc = make(self);
        let landing = self.landing();
        self.b.jump(landing, &[exc]);
        self.b.switch_to(ok);
    }

    /// A new exception that says what it got.
    pub(crate) fn exception_got(&mut self, class: Class, message: &str, x: Value) -> Value {
        self.new_exception(&NewException::Got(class, message, x))
    }

    /// A new exception whose message has each `{}` replaced by the next of `values`.
    pub(crate) fn formatted(&mut self, class: Class, template: &str, values: &[Value]) -> Value {
        self.new_exception(&NewException::Format(class, template, values))
    }

    /// Appends an argument to an exception; see `exc_add_arg`.
    pub(crate) fn add_argument(&mut self, exc: Value, kind: Value, bits: Value) {
        self.options.platform.add_argument(&mut self.b, exc, kind, bits);
    }

    /// Makes the exception that is being handled the context of a new one.
    pub(crate) fn set_context(&mut self, exc: Value) {
        self.options.platform.set_context(&mut self.b, self.ctx, exc);
    }

    pub(crate) fn set_cause(&mut self, exc: Value, cause: Value) {
        self.options.platform.set_cause(&mut self.b, exc, cause);
    }

    /// Raises an exception made here; the current block ends.
    pub(crate) fn end_raising(&mut self, exc: Value) {
        let landing = self.landing();
        self.b.jump(landing, &[exc]);
    }

    /// Raises an exception made here and goes on in a block that is never reached.
    pub(crate) fn raise_made(&mut self, exc: Value) {
        self.end_raising(exc);
        let dead = self.b.new_cold_block(&[]);
        self.b.switch_to(dead);
    }

    /// Raises; the current block ends.
    pub(crate) fn raise(&mut self, class: Class, message: &str) {
        let exc = self.exception(class, message);
        let landing = self.landing();
        self.b.jump(landing, &[exc]);
    }

    /// Raises and goes on in a block that is never reached, for emitters that must give a value.
    pub(crate) fn raise_and_continue(&mut self, class: Class, message: &str) {
        self.raise(class, message);
        let dead = self.b.new_cold_block(&[]);
        self.b.switch_to(dead);
    }

    /// Leaves for the landing place when `status` (i64) is not zero.
    pub(crate) fn check_status(&mut self, status: Value) {
        let zero = self.b.i64(0);
        let bad = self.b.bin(Op::IcmpNe, status, zero);
        let (ok, cold) = (self.b.new_block(&[]), self.b.new_cold_block(&[]));
        self.b.brif(bad, cold, &[], ok, &[]);
        self.b.switch_to(cold);
        let exc = self.b.conv(Op::Bitcast, Ty::Ptr, status);
        let landing = self.landing();
        self.b.jump(landing, &[exc]);
        self.b.switch_to(ok);
    }
}
