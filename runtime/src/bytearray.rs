//! Bytearrays: lists of bytes. What moves bytes about is what moves elements of any list
//! ([`crate::list`]).

use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::list::{self, at, reserve};
use tierup_core::desc::{self, TypeDesc};
use tierup_core::layout::List;
use tierup_core::ops::bytearray::Helpers;
use tierup_core::rt::{Ctx, P};
use tierup_core::types::{Int, Type};

type L = *mut List;

/// What its elements are.
fn byte() -> &'static TypeDesc {
    desc::of(Type::int_of(Int::U8))
}

/// A new one.
pub fn of(bytes: &[u8]) -> Res<L> {
    let l = list::new(byte(), bytes.len() as i64)?;
    // SAFETY: the list is new and has the room.
    unsafe {
        extend(l, bytes.as_ptr(), bytes.len() as i64)?;
        Ok(l)
    }
}

/// The bytes that one has.
///
/// # Safety
/// It is live, and not changed for `'a`.
pub unsafe fn bytes<'a>(l: *const List) -> &'a [u8] {
    // SAFETY: a live list has so many elements of one byte each.
    unsafe { crate::raw_slice((*l).data.cast_const(), (*l).len) }
}

/// Gives one other bytes in place of its own.
///
/// # Safety
/// It is live, nobody else changes it, and the bytes are not its own.
pub unsafe fn replace(l: L, bytes: &[u8]) -> Res<()> {
    // SAFETY: as required of the caller; there is room for what it is to have.
    unsafe {
        let more = bytes.len() as i64 - (*l).len;
        if more > 0 {
            reserve(l, more)?;
        }
        (*l).len = 0;
        extend(l, bytes.as_ptr(), bytes.len() as i64)
    }
}

/// # Safety
/// The list is live and nobody else changes it; `n` bytes that are not its own lie at `data`.
unsafe fn extend(l: L, data: *const u8, n: i64) -> Res<()> {
    // SAFETY: as required of the caller; room is made before.
    unsafe {
        reserve(l, n)?;
        if n > 0 {
            std::ptr::copy_nonoverlapping(data, at(l, (*l).len), n as usize);
            (*l).len += n;
        }
        Ok(())
    }
}

fn zeros(n: i64) -> Res<L> {
    if n < 0 { Err(Error::value("negative count")) } else { list::zeroed(byte(), n) }
}

impl Helpers for Native {
    unsafe fn bytearray_of_zeros(ctx: Ctx, n: i64) -> L {
        // SAFETY: the context is this thread's.
        unsafe { or_raise(ctx, zeros(n)) }
    }
    unsafe fn bytearray_extend(ctx: Ctx, array: L, data: P, n: i64) {
        // SAFETY: compiled code holds a reference and passes bytes of another object; the context is its
        // thread's.
        unsafe { or_raise(ctx, extend(array, data, n)) }
    }
    unsafe fn bytearray_find(array: L, byte: i8) -> i64 {
        // SAFETY: compiled code holds a reference.
        memchr::memchr(byte as u8, unsafe { bytes(array) }).map_or(-1, |i| i as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{live, release};
    use crate::testing::with_ctx;

    #[test]
    fn bytes_are_replaced_and_found() {
        let before = live();
        with_ctx(|ctx| {
            let l = of(b"abc").unwrap();
            // SAFETY: the list is the test's, and so is the context.
            unsafe {
                replace(l, b"a longer one").unwrap();
                assert_eq!(Native::bytearray_find(l, b'o' as i8), 3);
                assert_eq!(Native::bytearray_find(l, -1), -1);
                replace(l, b"x").unwrap();
                Native::bytearray_extend(ctx, l, b"yz".as_ptr().cast_mut(), 2);
                Native::bytearray_extend(ctx, l, std::ptr::null_mut(), 0);
                assert_eq!(bytes(l), b"xyz");
                let copy = of(&bytes(l)[..2]).unwrap();
                assert_eq!(bytes(copy), b"xy");
                let zeros = zeros(3).unwrap();
                assert_eq!(bytes(zeros), [0; 3]);
                for o in [l, copy, zeros] {
                    release(o.cast());
                }
            }
            assert!(zeros(-1).is_err_and(|e| e.message() == "negative count"));
        });
        assert_eq!(live(), before);
    }
}
