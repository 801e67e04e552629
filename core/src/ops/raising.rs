//! What compiled code asks of the run-time about exceptions: to make them, what they hold, and which one is
//! being handled.

use super::OpDef;
use crate::layout::{Obj, Str};
use crate::rt::{Ctx, P, RtFn};

crate::runtime_fns! {
    /// Exceptions.
    trait Helpers;
    /// A new exception of built-in class `class` (see `core::exc::Class`) with a constant UTF-8 message; no
    /// message when `len` is negative.
    fn exc_new(class: i64, text: P, len: i64) -> *mut Obj [Allocates, Never];
    /// A new exception of a built-in class; each `{}` in its message is replaced by the next of `values`, and
    /// each `{name}` too, or by that name where the value is negative.
    fn exc_format(class: i64, text: P, len: i64, values: *const i64) -> *mut Obj [Allocates, Never];
    /// A new exception of a built-in class that says what it got: "expected a nonnegative input, got -1.0".
    fn exc_got(class: i64, text: P, len: i64, x: f64) -> *mut Obj [Allocates, Never];
    /// IndexError "index 5 is out of bounds for axis 0 with size 3".
    fn exc_index(index: i64, axis: i64, size: i64) -> *mut Obj [Allocates, Never];
    /// A new exception of a class that the host knows by handle, in the state that the code was compiled for.
    fn exc_new_host(handle: i64, state: i64) -> *mut Obj [Allocates, Never];
    /// Appends an argument of the exception: kind 0 None, 1 bool, 2 int64, 3 float64 (bits), 4 str (the
    /// exception takes a reference of its own), 5 uint64, 6 opens a tuple that later arguments go into, 7
    /// closes it, 8 complex (address of two float64), 9 Python object (owned, from the host), 10 opens a
    /// list, 14 an object of a class, 15 arguments by name, all closed by 7 as well, 11 float32 (bits of that float64), 12 complex64 (as 8).
    fn exc_add_arg(exc: *mut Obj, kind: i64, bits: i64) [Writes, Never];
    /// Appends a frame to the trail: file, function (both made by `core::intern::text`) and line.
    fn exc_add_site(exc: *mut Obj, file: P, func: P, line: i64) [Writes, Never];
    /// How many sites the trail of an exception has.
    fn exc_trail(exc: *mut Obj) -> i64 [Reads, Never];
    /// Forgets the sites behind the first `n`.
    fn exc_cut_trail(exc: *mut Obj, n: i64) [Writes, Never];
    /// Whether the exception is an instance of built-in class `class`.
    fn exc_matches(exc: *mut Obj, class: i64) -> i8 [Reads, Never];
    /// Whether the exception is an instance of a class that the host knows by handle.
    fn exc_matches_host(exc: *mut Obj, handle: i64) -> i8 [Reads, Never];
    /// Sets cause (`raise a from b`; null for `from None`); the caller keeps its references.
    fn exc_set_cause(exc: *mut Obj, cause: *mut Obj) [Writes, Never];
    /// Sets context: `handled` (may be null) was being handled when `exc` was raised; cycles are broken. The
    /// caller keeps its references. Exceptions that helpers raise get `ctx.handled` as context by themselves.
    fn exc_set_context(exc: *mut Obj, handled: *mut Obj) [Writes, Never];
    /// The exception `ctx.handled` with a reference of its own, for bare `raise`; RuntimeError "No active
    /// exception to reraise" when there is none.
    fn exc_reraise(ctx: Ctx) -> *mut Obj [Writes, Never];
    /// `exc` becomes the exception that is being handled (bare `raise`, context of new ones); the caller
    /// keeps its reference.
    fn exc_push_handled(ctx: Ctx, exc: *mut Obj) [Writes, Never];
    /// The exception that was being handled before becomes it again.
    fn exc_pop_handled(ctx: Ctx) [Writes, Never];
    /// Appends a copy of an array to the exception's arguments; `elem` is an `Elem` code, strides are in
    /// bytes.
    fn exc_add_array(exc: *mut Obj, of: P, ndim: i64, shape: *const i64, strides: *const i64, data: P) [Writes, Never];
    /// Appends an object of the user's to the exception's arguments, with the address of its type.
    fn exc_add_object(exc: *mut Obj, object: *mut Obj, ty: P) [Writes, Never];
    /// Has the class of a new exception, whose reference it takes over, make it of its arguments, as only
    /// Python can; gives what it made.
    fn exc_new_python(ctx: Ctx, exc: *mut Obj) -> *mut Obj [Allocates, Pending];
    /// Number of the exception's arguments.
    fn exc_arg_count(exc: *mut Obj) -> i64 [Reads, Never];
    /// Argument `index` of the exception: what it is (0 None, 1 bool, 2 complex, 3 float, 4 int, 5 str) and,
    /// in `out`, its bits: one word, two for a complex number, an owned reference for a string. IndexError;
    /// TypeError of tuples and other objects.
    fn exc_arg(ctx: Ctx, exc: *mut Obj, index: i64, out: P) -> i64 [Writes, Pending];
    /// What an attribute of the exception holds, as of an argument. AttributeError.
    fn exc_attribute(ctx: Ctx, exc: *mut Obj, name: P, len: i64, out: P) -> i64 [Writes, Pending];
    /// The cause of the exception (`which` 0) or its context (1), with a reference of its own; null for None.
    fn exc_link(ctx: Ctx, exc: *mut Obj, which: i64) -> *mut Obj [Writes, Pending];
    /// Whether the context of the exception is not shown.
    fn exc_hides_context(exc: *mut Obj) -> i8 [Reads, Never];
    /// Adds a note to the exception.
    fn exc_add_note(ctx: Ctx, exc: *mut Obj, note: *mut Str) [Writes, Pending];
    /// Whether the exception's class is the one with that handle, no other.
    fn exc_is_exactly(exc: *mut Obj, handle: i64) -> i8 [Reads, Never];
    /// What leaves a generator by `exc`, whose reference it takes over: RuntimeError caused by it where it is
    /// a StopIteration, which would look like the generator's end.
    fn exc_leave_generator(exc: *mut Obj) -> *mut Obj [Allocates, Never];
    /// The name of the exception's class.
    fn exc_class_name(ctx: Ctx, exc: *mut Obj) -> *mut Str [Allocates, Pending];
    /// `str(exc)`.
    fn exc_str(ctx: Ctx, exc: *mut Obj) -> *mut Str [Allocates, Pending];
    /// `repr(exc)`.
    fn exc_repr(ctx: Ctx, exc: *mut Obj) -> *mut Str [Allocates, Pending];
    /// `format(exc, spec)`.
    fn exc_formatted(ctx: Ctx, exc: *mut Obj, spec: *mut Str) -> *mut Str [Writes, Pending];
    /// `bool(exc)`, of which its class may say something.
    fn exc_truth(ctx: Ctx, exc: *mut Obj) -> i8 [Writes, Pending];
}

/// Whether a helper makes an exception or asks one.
pub(crate) fn about_exceptions(helper: &RtFn) -> bool {
    HELPERS.iter().any(|h| *h == helper)
}

pub(crate) static OPS: &[OpDef] = &[];
