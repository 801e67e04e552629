//! Frames of generators, the exception being handled, and remainders: small helpers of the families
//! `generator`, `handled` and `real`.

use crate::Native;
use crate::exc::{Arg, Error, Exc, Res, or_raise};
use crate::host::{ArrayView, callbacks};
use crate::object::{count, release, retain};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicI64, Ordering};
use tierup_core::desc::TypeDesc;
use tierup_core::elem::Elem;
use tierup_core::exc::Class;
use tierup_core::layout::{FRAME_HEADER, Frame, Obj, Str};
use tierup_core::ops::{generator, handled, real};
use tierup_core::rt::{Ctx, P};

/// Frames hold frames: a recursive generator leaves a chain as deep as its recursion, and the thread that
/// drops it may have little stack.
const NESTED_DROPS: u32 = 64;

thread_local! {
    /// How many frames are being dropped inside one another, and those that wait until the outermost is done.
    static DROPS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    static WAITING: RefCell<Vec<*mut Obj>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn drop_frame(o: *mut Obj) {
    let depth = DROPS.get();
    if depth >= NESTED_DROPS {
        return WAITING.with(|w| w.borrow_mut().push(o));
    }
    DROPS.set(depth + 1);
    // SAFETY: called once, with a frame that `frame_new` made, when nobody holds a reference any more; so are
    // those that waited.
    unsafe {
        release_contents(o);
        if depth == 0 {
            while let Some(next) = WAITING.with(|w| w.borrow_mut().pop()) {
                release_contents(next);
            }
        }
    }
    DROPS.set(depth);
}

/// # Safety
/// `o` is a frame that nobody refers to.
unsafe fn release_contents(o: *mut Obj) {
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
        unsafe { (*f).busy.store(0, Ordering::Release) }
    }
}

thread_local! {
    /// What was being handled before, outermost first.
    static HANDLED: RefCell<Vec<*mut Obj>> = const { RefCell::new(Vec::new()) };
    /// What is being handled now: `handled` of this thread's context, for helpers that are not given the
    /// context.
    static CURRENT: Cell<*mut Obj> = const { Cell::new(std::ptr::null_mut()) };
}

/// The exception that a check just made, with the one being handled as its context.
pub fn in_context(exc: *mut Exc) -> *mut Obj {
    // SAFETY: the exception is new, and what is being handled lives until its handler is left.
    unsafe { crate::exc::set_context(exc, CURRENT.get().cast()) };
    exc.cast()
}

impl handled::Helpers for Native {
    unsafe fn exc_push_handled(ctx: Ctx, exc: *mut Obj) {
        // SAFETY: `exc` is live; the context belongs to this thread.
        unsafe {
            retain(exc);
            HANDLED.with(|h| h.borrow_mut().push((*ctx).handled));
            (*ctx).handled = exc;
            CURRENT.set(exc);
        }
    }
    unsafe fn exc_pop_handled(ctx: Ctx) {
        // SAFETY: pairs with a push on this thread, whose reference is dropped.
        unsafe {
            let old = (*ctx).handled;
            (*ctx).handled = HANDLED.with(|h| h.borrow_mut().pop()).unwrap_or(std::ptr::null_mut());
            CURRENT.set((*ctx).handled);
            release(old);
        }
    }
    unsafe fn exc_add_array(
        exc: *mut Obj,
        elem: i64,
        ndim: i64,
        shape: *const i64,
        strides: *const i64,
        data: P,
    ) {
        // SAFETY: the caller describes a live array; shape and strides have `ndim` members.
        unsafe {
            let n = ndim as usize;
            let (shape, strides) =
                (std::slice::from_raw_parts(shape, n), std::slice::from_raw_parts(strides, n));
            let Some(elem) = Elem::from_number(elem) else { return };
            let copy = (callbacks().copy_array)(&ArrayView { elem, shape, strides, data });
            (*exc.cast::<Exc>()).push_arg(if copy.is_null() { Arg::None } else { Arg::Py(copy) });
        }
    }
    unsafe fn exc_new_python(ctx: Ctx, exc: *mut Obj) -> *mut Obj {
        // SAFETY: the exception is live and nobody else's; its reference is given up here, or handed back.
        unsafe {
            let made = (callbacks().construct)(&mut *exc.cast::<Exc>());
            let answer = made.map(|()| exc);
            if answer.is_err() {
                release(exc);
            }
            or_raise(ctx, answer)
        }
    }
    unsafe fn exc_arg_count(exc: *mut Obj) -> i64 {
        unsafe { (*exc.cast::<Exc>()).args.len() as i64 }
    }
    unsafe fn exc_arg(ctx: Ctx, exc: *mut Obj, index: i64, out: P) -> i64 {
        // SAFETY: the exception is live; `out` has room for two words.
        unsafe { or_raise(ctx, argument(&*exc.cast::<Exc>(), index, &mut *(out.cast::<[u64; 2]>()))) }
    }
    unsafe fn exc_is_exactly(exc: *mut Obj, handle: i64) -> i8 {
        // SAFETY: the exception is live.
        let class = unsafe { (*exc.cast::<Exc>()).class };
        (class.handle() == Some(handle as u64)) as i8
    }
    unsafe fn exc_leave_generator(exc: *mut Obj) -> *mut Obj {
        // SAFETY: the exception is live, and its reference the caller's, who gives it up; the new one is ours
        // alone.
        unsafe {
            if !(*exc.cast::<Exc>()).is_a(Class::StopIteration) {
                return exc;
            }
            let new = Error::new(Class::RuntimeError, "generator raised StopIteration").into_raw().cast();
            <Native as tierup_core::ops::object::Helpers>::exc_set_cause(new, exc);
            <Native as tierup_core::ops::object::Helpers>::exc_set_context(new, exc);
            release(exc);
            new
        }
    }
    unsafe fn exc_class_name(ctx: Ctx, exc: *mut Obj) -> *mut Str {
        // SAFETY: the exception is live.
        let class = unsafe { (*exc.cast::<Exc>()).class };
        unsafe { or_raise(ctx, crate::string::from_text(&class.name)) }
    }
}

/// An argument of an exception for compiled code: what it is, and its bits.
fn argument(exc: &Exc, index: i64, out: &mut [u64; 2]) -> Res<i64> {
    let n = exc.args.len() as i64;
    let at = if index < 0 { index + n } else { index };
    let arg = usize::try_from(at)
        .ok()
        .and_then(|k| exc.args.get(k))
        .ok_or_else(|| Error::index("tuple index out of range"))?;
    let other = |what: &str| {
        Err(Error::type_error(format!("compiled code cannot take {what} out of an exception's arguments")))
    };
    *out = [0; 2];
    Ok(match arg {
        Arg::None => 0,
        Arg::Bool(b) => {
            out[0] = *b as u64;
            1
        }
        Arg::Complex(re, im) => {
            *out = [re.to_bits(), im.to_bits()];
            2
        }
        Arg::Float(x) => {
            out[0] = x.to_bits();
            3
        }
        Arg::Int(i) => {
            out[0] = *i as u64;
            4
        }
        Arg::Text(t) => {
            out[0] = crate::string::from_text(t)? as u64;
            5
        }
        Arg::Str(s) => {
            // SAFETY: the argument owns a live string.
            unsafe { retain((*s).cast()) };
            out[0] = *s as u64;
            5
        }
        Arg::UInt(_) => return other("an int past 63 bits"),
        Arg::Tuple(_) => return other("a tuple"),
        Arg::List(_) => return other("a list"),
        Arg::Py(_) => return other("an array or an object of Python's"),
    })
}

impl real::Helpers for Native {
    unsafe fn real_fmod(a: f64, b: f64) -> f64 {
        a % b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
