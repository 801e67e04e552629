//! Frames of generators.

use crate::Native;
use crate::exc::Error;
use crate::object::count;
use std::sync::atomic::{AtomicI64, Ordering};
use tierup_core::desc::TypeDesc;
use tierup_core::exc::Class;
use tierup_core::layout::{FRAME_HEADER, Frame, Obj};
use tierup_core::ops::generator;
use tierup_core::rt::Ctx;

/// Frames hold frames: a recursive generator leaves a chain as deep as its recursion.
unsafe extern "C" fn drop_frame(o: *mut Obj) {
    // SAFETY: called once, with a frame that `frame_new` made, when nobody holds a reference any more.
    unsafe { crate::drops::with_little_stack(o, free_frame) }
}

/// # Safety
/// `o` is a frame that nobody refers to.
unsafe fn free_frame(o: *mut Obj) {
    count(-1);
    // SAFETY: as required of the caller. What it keeps follows its header.
    unsafe {
        let f = o.cast::<Frame>();
        (*f).desc.release(f.cast::<u8>().add(FRAME_HEADER as usize), 1);
        libc::free(f.cast());
    }
}

impl generator::Helpers for Native {
    unsafe fn frame_new(ctx: Ctx, desc: *const TypeDesc) -> *mut Frame {
        // SAFETY: descriptors live for ever. calloc gives zeroed memory of the size asked for, or null, which
        // is reported.
        unsafe {
            let desc = &*desc;
            let f: *mut Frame = libc::calloc(1, FRAME_HEADER as usize + desc.size as usize).cast();
            if f.is_null() {
                Error::bare(Class::MemoryError).raise(ctx);
                return f;
            }
            count(1);
            f.write(Frame {
                obj: Obj { refs: AtomicI64::new(1), drop: drop_frame },
                resume: 0,
                desc,
                closing: 0,
                busy: AtomicI64::new(0),
            });
            f
        }
    }
    unsafe fn frame_enter(ctx: Ctx, f: *mut Frame) {
        // SAFETY: the frame is live.
        unsafe {
            if (*f).busy.swap(1, Ordering::AcqRel) != 0 {
                Error::value("generator already executing").raise(ctx);
            }
        }
    }
    unsafe fn frame_leave(f: *mut Frame) {
        // SAFETY: who leaves a frame holds a reference to it.
        unsafe { (*f).busy.store(0, Ordering::Release) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::release;
    use tierup_core::desc::{of_struct, place::Place};
    use tierup_core::ops::generator::Helpers;
    use tierup_core::types::Type;

    /// A descriptor of values of these types, and where they lie in a frame.
    fn layout(types: &[Type]) -> (*const TypeDesc, Vec<usize>) {
        let mut place = Place::default();
        for t in types {
            place.add(*t);
        }
        let at = place.leaves().iter().map(|l| FRAME_HEADER as usize + l.offset as usize).collect();
        (of_struct(&place), at)
    }

    #[test]
    fn a_long_chain_of_frames_needs_little_stack() {
        let chain = || {
            let (desc, at) = layout(&[Type::list(Type::int())]);
            let (empty, _) = layout(&[]);
            let before = crate::object::live();
            crate::testing::with_ctx(|ctx| {
                // SAFETY: frames made here are used as the helper documents.
                unsafe {
                    let mut last = Native::frame_new(ctx, empty);
                    for _ in 0..100_000 {
                        let outer = Native::frame_new(ctx, desc);
                        *outer.cast::<u8>().add(at[0]).cast::<*mut Obj>() = last.cast();
                        last = outer;
                    }
                    release(last.cast());
                }
            });
            assert_eq!(crate::object::live(), before);
        };
        let thread = std::thread::Builder::new().stack_size(128 << 10).spawn(chain).expect("a thread");
        assert!(thread.join().is_ok());
    }

    #[test]
    fn a_frame_releases_what_it_keeps() {
        // Far more references than a word has bits.
        let types: Vec<Type> = (0..100).flat_map(|_| [Type::bool(), Type::list(Type::int())]).collect();
        let (desc, at) = layout(&types);
        let before = crate::object::live();
        crate::testing::with_ctx(|ctx| {
            // SAFETY: frames made here are used as the helper documents.
            unsafe {
                let outer = Native::frame_new(ctx, desc);
                for at in at.iter().skip(1).step_by(2) {
                    *outer.cast::<u8>().add(*at).cast::<*mut Obj>() =
                        Native::frame_new(ctx, layout(&[]).0).cast();
                }
                release(outer.cast());
            }
        });
        assert_eq!(crate::object::live(), before);
    }
}
