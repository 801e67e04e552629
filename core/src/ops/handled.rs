//! What compiled code asks of the run-time about exceptions that are being handled, and what they hold.

use super::OpDef;
use crate::layout::{Obj, Str};
use crate::rt::{Ctx, P};

crate::runtime_fns! {
    /// What `except` blocks are handling.
    trait Helpers;
    /// `exc` becomes the exception that is being handled (bare `raise`, context of new ones); the caller
    /// keeps its reference.
    fn exc_push_handled(ctx: Ctx, exc: *mut Obj) [Writes, Never];
    /// The exception that was being handled before becomes it again.
    fn exc_pop_handled(ctx: Ctx) [Writes, Never];
    /// Appends a copy of an array to the exception's arguments; `elem` is an `Elem` code, strides are in
    /// bytes.
    fn exc_add_array(exc: *mut Obj, elem: i64, ndim: i64, shape: *const i64, strides: *const i64, data: P) [Writes, Never];
    /// Has the class of a new exception, whose reference it takes over, make it of its arguments, as only
    /// Python can; gives what it made.
    fn exc_new_python(ctx: Ctx, exc: *mut Obj) -> *mut Obj [Allocates, Pending];
    /// Number of the exception's arguments.
    fn exc_arg_count(exc: *mut Obj) -> i64 [Reads, Never];
    /// Argument `index` of the exception: what it is (0 None, 1 bool, 2 complex, 3 float, 4 int, 5 str) and,
    /// in `out`, its bits: one word, two for a complex number, an owned reference for a string. IndexError;
    /// TypeError of tuples and other objects.
    fn exc_arg(ctx: Ctx, exc: *mut Obj, index: i64, out: P) -> i64 [Writes, Pending];
    /// Whether the exception's class is the one with that handle, no other.
    fn exc_is_exactly(exc: *mut Obj, handle: i64) -> i8 [Reads, Never];
    /// What leaves a generator by `exc`, whose reference it takes over: RuntimeError caused by it where it is
    /// a StopIteration, which would look like the generator's end.
    fn exc_leave_generator(exc: *mut Obj) -> *mut Obj [Allocates, Never];
    /// The name of the exception's class.
    fn exc_class_name(ctx: Ctx, exc: *mut Obj) -> *mut Str [Allocates, Pending];
}

pub static OPS: &[OpDef] = &[];
