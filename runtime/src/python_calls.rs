//! Calls of Python functions, which the host makes.

use crate::Native;
use crate::exc::or_raise;
use crate::host::callbacks;
use tierup_core::layout::Text;
use tierup_core::ops::python_calls::Helpers;
use tierup_core::rt::{Ctx, P};

impl Helpers for Native {
    unsafe fn python_call(ctx: Ctx, key: i64, types: P, args: P, result: P) {
        // SAFETY: compiled code passes the address of a text that lives for ever, memory of these types, and the
        // live context of its thread.
        unsafe {
            let text = &*types.cast::<Text>();
            let types = std::str::from_utf8_unchecked(std::slice::from_raw_parts(text.ptr, text.len));
            or_raise(ctx, (callbacks().call_python)(key, types, args, result));
        }
    }
}
