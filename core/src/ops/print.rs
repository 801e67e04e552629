//! `print`: values are sent piece by piece to a buffer of the thread; the end writes it to Python's `sys.stdout` in one go.

use super::OpDef;
use crate::layout::Str;
use crate::rt::{Ctx, P};

crate::runtime_fns! {
    /// Printing.
    trait Helpers;
    /// Constant UTF-8 text: separators, parentheses, the end.
    fn print_text(text: P, len: i64) [Writes, Never];
    /// `str(v)`.
    fn print_i64(v: i64) [Writes, Never];
    /// `str(v)` of an unsigned integer.
    fn print_u64(v: i64) [Writes, Never];
    /// `str(v)`.
    fn print_bool(v: i8) [Writes, Never];
    /// `str(v)`.
    fn print_f64(v: f64) [Writes, Never];
    /// `str(np.float32(v))`.
    fn print_f32(v: f32) [Writes, Never];
    /// `str(complex(re, im))`.
    fn print_complex(re: f64, im: f64) [Writes, Never];
    /// `str(np.complex64(complex(re, im)))`.
    fn print_complex64(re: f32, im: f32) [Writes, Never];
    /// The string itself, or its `repr` (inside tuples and lists).
    fn print_str(s: *mut Str, repr: i8) [Writes, Never];
    /// An array as NumPy prints it; `elem` is an `Elem` code, strides are in bytes, `repr` asks for its `repr`.
    fn print_array(ctx: Ctx, elem: i64, ndim: i64, shape: *const i64, strides: *const i64, data: P, repr: i8) [Writes, Pending];
    /// The same as a string object, for `str(a)` and `repr(a)`.
    fn array_text(ctx: Ctx, elem: i64, ndim: i64, shape: *const i64, strides: *const i64, data: P, repr: i8) -> *mut Str [Allocates, Pending];
    /// Writes what was sent to `sys.stdout`, and flushes that where asked for. What writing raises is raised.
    fn print_end(ctx: Ctx, flush: i8) [Writes, Pending];
}

pub static OPS: &[OpDef] = &[];
