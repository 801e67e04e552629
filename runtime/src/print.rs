//! Printing: a buffer per thread, written through the host at the end of each `print`.

use crate::Native;
use crate::exc::{Res, or_raise};
use crate::host::{ArrayView, callbacks};
use crate::string::{Chars, from_text, number, repr};
use std::cell::RefCell;
use std::fmt::Write;
use tierup_core::layout::Str;
use tierup_core::ops::print::Helpers;
use tierup_core::rt::{Ctx, P};
use tierup_core::types::Type;

thread_local! { static BUFFER: RefCell<String> = const { RefCell::new(String::new()) }; }

fn send(f: impl FnOnce(&mut String)) {
    BUFFER.with_borrow_mut(f)
}
/// Writing to a `String` cannot fail.
fn show(v: impl std::fmt::Display) {
    send(|b| {
        let _ = write!(b, "{v}");
    })
}

/// # Safety
/// `of` is the address of a type, shape and strides have `ndim` members, and the data is that of an array.
unsafe fn array(of: P, ndim: i64, shape: *const i64, strides: *const i64, data: P, repr: i8) -> Res<String> {
    // SAFETY: as required of the caller.
    let (shape, strides, dtype) =
        unsafe { (crate::raw_slice(shape, ndim), crate::raw_slice(strides, ndim), Type::of_address(of)) };
    (callbacks().show_array)(&ArrayView { dtype, shape, strides, data }, repr != 0)
}

impl Helpers for Native {
    unsafe fn print_text(text: P, len: i64) {
        // SAFETY: compiled code passes `len` bytes.
        let bytes = unsafe { crate::raw_slice(text.cast_const(), len) };
        send(|b| b.push_str(&String::from_utf8_lossy(bytes)));
    }
    unsafe fn print_i64(v: i64) {
        show(v)
    }
    unsafe fn print_u64(v: i64) {
        show(v as u64)
    }
    unsafe fn print_bool(v: i8) {
        show(number::bool_text(v != 0))
    }
    unsafe fn print_f64(v: f64) {
        send(|b| number::write_f64(v, true, b))
    }
    unsafe fn print_f32(v: f32) {
        send(|b| number::write_f32(v, true, b))
    }
    unsafe fn print_complex(re: f64, im: f64) {
        show(number::complex_text(re, im))
    }
    unsafe fn print_complex64(re: f32, im: f32) {
        show(number::complex64_text(re, im))
    }
    unsafe fn print_str(s: *mut Str, as_repr: i8) {
        // SAFETY: compiled code holds a reference to the string.
        let chars = unsafe { Chars::of(s) };
        if as_repr != 0 { show(Chars::Four(&repr(chars, false)).text()) } else { show(chars.text()) }
    }
    unsafe fn print_array(
        ctx: Ctx,
        of: P,
        ndim: i64,
        shape: *const i64,
        strides: *const i64,
        data: P,
        repr: i8,
    ) {
        // SAFETY: compiled code describes a live array, and passes its context.
        unsafe { or_raise(ctx, array(of, ndim, shape, strides, data, repr).map(show)) }
    }
    unsafe fn array_text(
        ctx: Ctx,
        of: P,
        ndim: i64,
        shape: *const i64,
        strides: *const i64,
        data: P,
        repr: i8,
    ) -> *mut Str {
        // SAFETY: compiled code describes a live array, and passes its context.
        unsafe { or_raise(ctx, array(of, ndim, shape, strides, data, repr).and_then(|t| from_text(&t))) }
    }
    unsafe fn print_end(ctx: Ctx, flush: i8) {
        // Taken out first: writing may run Python code that prints.
        let text = BUFFER.take();
        let host = callbacks();
        let result = (host.write)(&text).and_then(|()| if flush != 0 { (host.flush)() } else { Ok(()) });
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, result) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::string::Owned;
    use crate::testing::with_ctx;

    fn sent(f: impl FnOnce()) -> String {
        f();
        BUFFER.take()
    }

    #[test]
    fn pieces_print_as_python_prints_them() {
        let s = Owned::of_text("it's").unwrap();
        // SAFETY: texts have the lengths given, and the string is live.
        let text = sent(|| unsafe {
            Native::print_i64(-3);
            Native::print_text(c" ".as_ptr().cast_mut().cast(), 1);
            Native::print_u64(-1);
            Native::print_bool(1);
            Native::print_f64(1e16);
            Native::print_f32(0.1);
            Native::print_complex(0.0, 1.0);
            Native::print_complex64(0.1, -0.5);
            Native::print_str(s.get(), 0);
            Native::print_str(s.get(), 1);
        });
        assert_eq!(text, "-3 18446744073709551615True1e+160.11j(0.1-0.5j)it's\"it's\"");
    }

    #[test]
    fn arrays_go_through_the_host() {
        // SAFETY: the array lives as long as the test, and the context as long as this runs.
        with_ctx(|ctx| unsafe {
            let (shape, strides, data) = ([2i64], [8i64], [1.0f64, 2.0]);
            let s = Owned::new(Native::array_text(
                ctx,
                std::ptr::from_ref(Type::f64().kind()).cast_mut().cast(),
                1,
                shape.as_ptr(),
                strides.as_ptr(),
                data.as_ptr().cast_mut().cast(),
                0,
            ));
            assert_eq!(s.chars().text(), "<array of float64 with shape [2]>");
        });
    }

    #[test]
    fn the_end_empties_the_buffer() {
        // SAFETY: no byte is read of an empty text, and the context is live.
        with_ctx(|ctx| unsafe {
            Native::print_text(c"".as_ptr().cast_mut().cast(), 0);
            Native::print_end(ctx, 1);
            assert_eq!(sent(|| ()), "");
        });
    }
}
