//! Bytearrays. An argument is copied into a native one, and what compiled code changed is written back
//! ([`copies`]): byte by byte, as long as it has the same length. One whose memory others show, a memoryview or an array,
//! is refused where compiled code may see them: what it changes in its copy they would not show.
//!
//! [`copies`]: super::protocol

use super::protocol::{BoxCx, Class, Convert, Copied, Frame, Made, Obj, new_ref, next};
use super::recognise::{self, Records};
use super::{Constructor, Plan};
use crate::errors::Failure;
use crate::gil::attached;
use pyo3::ffi;
use pyo3::prelude::*;
use std::mem::MaybeUninit;
use tierup_core::layout::List;
use tierup_core::types::Type;
use tierup_runtime::bytearray;
use tierup_runtime::object::release;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        // Classes derived from it may have meanings of their own.
        if obj.get_type().as_type_ptr() != &raw mut ffi::PyByteArray_Type {
            return Ok(None);
        }
        // Where Python's answer is promised, nobody knows what else the code will see.
        // SAFETY: a live bytearray.
        if recognise::records() == Records::Exact && unsafe { is_shown(obj.as_ptr()) } {
            return Err(refused());
        }
        Ok(Some(Type::bytearray()))
    },
    plan: |_, _| Plan::other(ByteArray),
};

struct ByteArray;

/// Whether a bytearray has handed out its memory.
///
/// # Safety
/// It is live.
unsafe fn is_shown(array: Obj) -> bool {
    // SAFETY: as required of the caller.
    unsafe { (*array.cast::<ffi::PyByteArrayObject>()).ob_exports > 0 }
}

fn refused() -> Failure {
    recognise::unsupported(
        "compiled code cannot take a bytearray while a memoryview or an array shows its memory",
        "pass the view alone, or release it first",
    )
}

/// The bytes of a bytearray of Python's.
///
/// # Safety
/// It is live, and nobody changes it for `'a`; the thread is attached.
unsafe fn of_python<'a>(array: Obj) -> &'a [u8] {
    // SAFETY: as required of the caller; so many bytes are there.
    unsafe {
        let n = ffi::PyByteArray_Size(array).max(0) as usize;
        std::slice::from_raw_parts(ffi::PyByteArray_AsString(array).cast(), n)
    }
}

fn kept(bytes: &[u8]) -> Vec<MaybeUninit<u8>> {
    bytes.iter().map(|b| MaybeUninit::new(*b)).collect()
}

impl Convert for ByteArray {
    unsafe fn unbox(&self, obj: Obj, of: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        if of != &raw mut ffi::PyByteArray_Type {
            return None;
        }
        // SAFETY: the thread is attached; both references are new, and the plan belongs to the overload.
        unsafe {
            if frame.sees_memory && is_shown(obj) {
                frame.extra().failure = Some(refused());
                return None;
            }
            let native = match frame.copies().and_then(|c| c.of(obj)) {
                Some(known) if known.ty != Type::bytearray() => return None,
                Some(known) => known.native.cast(),
                None => {
                    let bytes = of_python(obj);
                    let native = match bytearray::of(bytes) {
                        Ok(native) => native,
                        Err(_) => {
                            let e = pyo3::exceptions::PyMemoryError::new_err(());
                            frame.extra().failure = Some(e.into());
                            return None;
                        }
                    };
                    let at = frame.extra().copies.add(new_ref(obj), native.cast(), Type::bytearray(), self);
                    frame.extra().copies.get(at)?.before.replace(kept(bytes));
                    native
                }
            };
            out.write(native as u64);
            Some(out.add(1))
        }
    }

    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned bytearray.
        unsafe {
            let l = next(at) as *mut List;
            let object = match cx.known(l.cast()) {
                Some(o) => new_ref(o),
                None => {
                    let bytes = bytearray::bytes(l);
                    let object =
                        ffi::PyByteArray_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize);
                    if !object.is_null() {
                        cx.add(Made { native: l.cast(), object, ty: Type::bytearray(), by: self });
                    }
                    object
                }
            };
            release(l.cast());
            object
        }
    }

    unsafe fn write_back(&self, copy: &Copied, _: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller; what was kept are bytes.
        unsafe {
            let now = bytearray::bytes(copy.native.cast());
            let before = copy.before.replace(kept(now));
            let was: &[u8] = std::slice::from_raw_parts(before.as_ptr().cast(), before.len());
            if now == was {
                return true;
            }
            let n = now.len() as isize;
            let whole = was.len() != now.len() || ffi::PyByteArray_Size(copy.source) != n;
            if whole && ffi::PyByteArray_Resize(copy.source, n) != 0 {
                return false;
            }
            let to = ffi::PyByteArray_AsString(copy.source).cast::<u8>();
            for (i, byte) in now.iter().enumerate().filter(|(i, byte)| whole || was[*i] != **byte) {
                to.add(i).write(*byte);
            }
            true
        }
    }

    unsafe fn follow(&self, copy: &Copied) {
        // SAFETY: as required of the caller.
        unsafe { copy.before.replace(kept(bytearray::bytes(copy.native.cast()))) };
    }

    unsafe fn read_again(&self, at: usize, frame: &mut Frame) -> Option<()> {
        // SAFETY: as required of the caller; nobody else changes the native one.
        unsafe {
            let copy = frame.extra().copies.get(at)?;
            let (native, now) = (copy.native.cast::<List>(), of_python(copy.source));
            if bytearray::bytes(native) != now && bytearray::replace(native, now).is_err() {
                let e = attached(|_| pyo3::exceptions::PyMemoryError::new_err(()));
                frame.extra().failure = Some(e.into());
                return None;
            }
            self.follow(frame.extra().copies.get(at)?);
            Some(())
        }
    }
}
