//! Reference counts, array memory, and the helpers that make and inspect native exceptions.
//!
//! In debug builds every allocation is counted per thread ([`live`]), so tests can show that nothing leaks.

use crate::Native;
use crate::exc::{Arg, Error, Exc, Res, Site, or_raise, set_context};
use std::sync::atomic::{AtomicI64, Ordering};
use tierup_core::exc::Class;
use tierup_core::layout::{MemBlock, Obj, POLL_SAMPLE, POLL_SIGNALS, POLL_STRESS, Str};
use tierup_core::ops::object::Helpers;
use tierup_core::rt::{Ctx, P};
use tierup_core::types::{ClassDef, ClassId};

pub use tierup_core::layout::{release, retain};

#[cfg(debug_assertions)]
thread_local! { static LIVE: std::cell::Cell<i64> = const { std::cell::Cell::new(0) }; }

/// Counts objects made (1) and freed (-1) by this thread; free of cost in release builds.
#[inline]
pub fn count(_delta: i64) {
    #[cfg(debug_assertions)]
    LIVE.with(|c| c.set(c.get() + _delta));
}
/// Objects that this thread made and nobody freed yet, less those that it freed for others; 0 in release
/// builds.
pub fn live() -> i64 {
    #[cfg(debug_assertions)]
    {
        LIVE.with(|c| c.get())
    }
    #[cfg(not(debug_assertions))]
    {
        0
    }
}

/// Memory for an object that Rust does not box; aborts when there is none, so use it for small sizes and
/// [`try_allocate`] for the user's.
pub fn allocate(bytes: usize) -> *mut u8 {
    // SAFETY: `malloc` takes any size.
    let p = unsafe { libc::malloc(bytes.max(1)) }.cast::<u8>();
    if p.is_null() {
        std::alloc::handle_alloc_error(
            std::alloc::Layout::array::<u8>(bytes).unwrap_or(std::alloc::Layout::new::<u8>()),
        );
    }
    p
}
/// The same with MemoryError, which carries no text in CPython.
pub fn try_allocate(bytes: Option<usize>) -> Res<*mut u8> {
    let bytes = bytes.filter(|b| *b <= isize::MAX as usize).ok_or_else(|| Error::bare(Class::MemoryError))?;
    // SAFETY: `malloc` takes any size.
    let p = unsafe { libc::malloc(bytes.max(1)) }.cast::<u8>();
    if p.is_null() { Err(Error::bare(Class::MemoryError)) } else { Ok(p) }
}

/// A block that owns its memory: the header and, at the next multiple of 64, the elements, in one allocation.
#[repr(C)]
struct Owned {
    block: MemBlock,
    /// What the allocator gave, and how much.
    raw: *mut libc::c_void,
    room: usize,
}
const ALIGN: usize = 64;
const HEADER: usize = 64;
const _: () = assert!(size_of::<Owned>() <= HEADER);
/// Blocks from this size on ask for huge pages: fewer page faults, which is most of the cost of a fresh large
/// array.
const HUGE: usize = 1 << 22;

unsafe extern "C" fn drop_owned(o: *mut Obj) {
    count(-1);
    // SAFETY: `o` is the header of an `Owned` made by `mem_block`, and nobody refers to it any more.
    unsafe { crate::blocks::give((*o.cast::<Owned>()).raw, (*o.cast::<Owned>()).room) };
}

/// A new block of `bytes` bytes, 64-byte aligned.
pub fn mem_block(bytes: i64, zeroed: bool) -> Res<*mut MemBlock> {
    let size = usize::try_from(bytes).map_err(|_| Error::value("negative dimensions are not allowed"))?;
    let no_memory =
        || Error::new(Class::MemoryError, format!("Unable to allocate {} for an array", human_bytes(bytes)));
    let total =
        size.checked_add(HEADER + ALIGN).filter(|t| *t <= isize::MAX as usize).ok_or_else(no_memory)?;
    let (raw, room, fresh) = crate::blocks::take(total, zeroed);
    if raw.is_null() {
        return Err(no_memory());
    }
    let at = (raw as usize).next_multiple_of(ALIGN);
    let owned = at as *mut Owned;
    // SAFETY: `at` is at most ALIGN - 1 bytes past `raw`, so header and elements lie within `total` bytes.
    unsafe {
        let data = (at + HEADER) as *mut u8;
        owned.write(Owned {
            block: MemBlock {
                obj: Obj { refs: AtomicI64::new(1), drop: drop_owned },
                data,
                bytes,
                py: std::ptr::null_mut(),
            },
            raw,
            room,
        });
        #[cfg(target_os = "linux")]
        if fresh && size >= HUGE {
            let page = 4096;
            let (from, to) = ((data as usize).next_multiple_of(page), (data as usize + size) & !(page - 1));
            libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_HUGEPAGE);
        }
    }
    count(1);
    Ok(owned.cast())
}

/// `7.45 GiB`, as NumPy writes sizes in its MemoryError.
fn human_bytes(bytes: i64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut unit = (63 - (bytes.max(1) as u64).leading_zeros()) as usize / 10;
    let mut n = bytes as f64 / f64::powi(1024.0, unit as i32);
    // Rounding may carry into the next unit: 1023.9999 KiB.
    if unit < 6 && format!("{n:.0}") == "1024" {
        unit += 1;
        n /= 1024.0;
    }
    if unit == 0 {
        return format!("{n:.0} bytes");
    }
    // Three significant digits, and a point even where no digit follows it.
    if n < 9.995 {
        format!("{n:.2} {}", units[unit])
    } else if n < 99.95 {
        format!("{n:.1} {}", units[unit])
    } else {
        format!("{n:.0}. {}", units[unit])
    }
}

/// Bytes of an array of that shape.
pub fn array_bytes(shape: &[i64], itemsize: i64) -> Res<i64> {
    if shape.iter().any(|d| *d < 0) {
        return Err(Error::value("negative dimensions are not allowed"));
    }
    // Like NumPy, a product that overflows is refused even when another member is zero.
    let mut bytes = itemsize;
    for d in shape.iter().filter(|d| **d != 0) {
        bytes = bytes.checked_mul(*d).ok_or_else(|| {
            Error::value(
                "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.",
            )
        })?;
    }
    Ok(if shape.contains(&0) { 0 } else { bytes })
}

/// The template with each `{}` replaced by the next value; a negative one is called by a name in the braces
/// (`{newaxis}`), if there is one.
fn fill(template: &str, values: &[i64]) -> String {
    let mut parts = template.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (value, part) in values.iter().zip(parts) {
        let (name, rest) = part.split_once('}').unwrap_or(("", part));
        // NumPy leaves out what stands in front: `a.reshape(-1, 2)` says `(2)`.
        if *value < 0 && !name.is_empty() && out.ends_with('(') {
            out += rest.strip_prefix(',').unwrap_or(rest);
            continue;
        }
        if *value < 0 && !name.is_empty() {
            out += name
        } else {
            out += &value.to_string()
        }
        out += rest;
    }
    out
}

/// Polls; whether the helper that asks is to return at once, with an exception pending.
///
/// # Safety
/// `ctx` is the live context of this thread.
pub unsafe fn wants_to_stop(ctx: Ctx) -> bool {
    // SAFETY: as required of the caller.
    unsafe {
        Native::poll_interrupt(ctx);
        !(*ctx).pending.is_null()
    }
}

impl Helpers for Native {
    unsafe fn obj_retain(o: *mut Obj) {
        unsafe { retain(o) }
    }
    unsafe fn obj_release(o: *mut Obj) {
        unsafe { release(o) }
    }
    unsafe fn mem_alloc(ctx: Ctx, bytes: i64) -> *mut MemBlock {
        unsafe { or_raise(ctx, mem_block(bytes, false)) }
    }
    unsafe fn mem_alloc_zeroed(ctx: Ctx, bytes: i64) -> *mut MemBlock {
        unsafe { or_raise(ctx, mem_block(bytes, true)) }
    }
    unsafe fn mem_copy(to: P, from: P, bytes: i64) {
        // SAFETY: compiled code passes blocks of that size, the very same one at times; an array of no
        // elements may lie anywhere.
        if bytes > 0 {
            unsafe { std::ptr::copy(from, to, bytes as usize) }
        }
    }
    unsafe fn mem_array_bytes(ctx: Ctx, ndim: i64, shape: *const i64, itemsize: i64) -> i64 {
        // SAFETY: compiled code passes `ndim` members.
        let shape = unsafe { crate::raw_slice(shape, ndim) };
        unsafe { or_raise(ctx, array_bytes(shape, itemsize)) }
    }

    unsafe fn exc_new(class: i64, text: P, len: i64) -> *mut Obj {
        // A number that is no class is a bug of whoever emitted it; the exception still arrives, as a
        // SystemError.
        let class = Class::from_number(class).unwrap_or(Class::SystemError);
        let mut args = vec![];
        if let Ok(n) = usize::try_from(len) {
            // SAFETY: compiled code passes `len` bytes of UTF-8. They are copied, for the code may be freed
            // before the exception is.
            args.push(Arg::Text(
                String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text, n) }).into_owned().into(),
            ));
        }
        let exc = Exc::builtin(class, args);
        // Without a message it is an instance that a program makes, which is given its context when it is
        // raised.
        if len < 0 { exc.cast() } else { crate::frame::in_context(exc) }
    }
    unsafe fn exc_format(class: i64, text: P, len: i64, values: *const i64) -> *mut Obj {
        let class = Class::from_number(class).unwrap_or(Class::SystemError);
        // SAFETY: compiled code passes `len` bytes of UTF-8 and a value for each pair of braces.
        let message = unsafe {
            let text = String::from_utf8_lossy(crate::raw_slice(text, len));
            let values = crate::raw_slice(values, text.matches('{').count() as i64);
            fill(&text, values)
        };
        crate::frame::in_context(Exc::builtin(class, vec![Arg::Text(message.into())]))
    }
    unsafe fn exc_got(class: i64, text: P, len: i64, x: f64) -> *mut Obj {
        let class = Class::from_number(class).unwrap_or(Class::SystemError);
        // SAFETY: compiled code passes `len` bytes of UTF-8.
        let text = String::from_utf8_lossy(unsafe { crate::raw_slice(text, len) });
        let message = format!("{text}, got {}", crate::string::number::f64_text(x));
        crate::frame::in_context(Exc::builtin(class, vec![Arg::Text(message.into())]))
    }
    unsafe fn exc_index(index: i64, axis: i64, size: i64) -> *mut Obj {
        let text = format!("index {index} is out of bounds for axis {axis} with size {size}");
        crate::frame::in_context(Exc::builtin(Class::IndexError, vec![Arg::Text(text.into())]))
    }
    unsafe fn exc_new_host(handle: i64, state: i64) -> *mut Obj {
        // As above: a handle that is no class's is a bug of whoever emitted it.
        let class = ClassDef::of_state(handle as u64, state as u32);
        Exc::alloc(class.unwrap_or_else(|| ClassId::of_exception(Class::SystemError).def()), vec![]).cast()
    }
    unsafe fn exc_add_arg(exc: *mut Obj, kind: i64, bits: i64) {
        // SAFETY: `exc` is a live exception of this thread.
        let exc = unsafe { &mut *exc.cast::<Exc>() };
        let arg = match kind {
            0 => Arg::None,
            1 => Arg::Bool(bits != 0),
            2 => Arg::Int(bits),
            3 => Arg::Float(f64::from_bits(bits as u64)),
            4 => {
                // SAFETY: kind 4 passes a live string.
                unsafe { retain(bits as usize as *mut Obj) };
                Arg::Str(bits as usize as *mut Str)
            }
            5 => Arg::UInt(bits as u64),
            6 => return exc.open_tuple(),
            7 => return exc.close_tuple(),
            8 => {
                // SAFETY: kind 8 passes the address of two f64.
                let [re, im] = unsafe { (bits as usize as *const [f64; 2]).read_unaligned() };
                Arg::Complex(re, im)
            }
            10 => return exc.open_list(),
            9 => Arg::Py(bits as usize as *mut u8),
            unknown => Arg::Text(format!("<argument of unknown kind {unknown}>").into()),
        };
        exc.push_arg(arg);
    }
    unsafe fn exc_add_site(exc: *mut Obj, file: P, func: P, line: i64) {
        // SAFETY: `exc` is a live exception; the texts are interned.
        unsafe {
            crate::exc::alone(exc, || {
                (*exc.cast::<Exc>()).trail.push(Site { file: file.cast(), func: func.cast(), line })
            })
        }
    }
    unsafe fn exc_matches(exc: *mut Obj, class: i64) -> i8 {
        // SAFETY: `exc` is a live exception.
        Class::from_number(class).is_some_and(|c| unsafe { (*exc.cast::<Exc>()).is_a(c) }) as i8
    }
    unsafe fn exc_matches_host(exc: *mut Obj, handle: i64) -> i8 {
        unsafe { (*exc.cast::<Exc>()).is_a_host(handle) as i8 }
    }
    unsafe fn exc_set_cause(exc: *mut Obj, cause: *mut Obj) {
        let exc = exc.cast::<Exc>();
        // SAFETY: both are null or live exceptions; the link gets a reference of its own.
        unsafe {
            let old = crate::exc::alone(exc.cast(), || {
                (*exc).suppress_context = true;
                (*exc).own_cause = std::ptr::eq(exc, cause.cast());
                let cause = if (*exc).own_cause { std::ptr::null_mut() } else { cause };
                retain(cause);
                std::mem::replace(&mut (*exc).cause, cause.cast())
            });
            release(old.cast());
        }
    }
    unsafe fn exc_set_context(exc: *mut Obj, handled: *mut Obj) {
        unsafe { set_context(exc.cast(), handled.cast()) }
    }
    unsafe fn exc_reraise(ctx: Ctx) -> *mut Obj {
        // SAFETY: `ctx` is live; `handled` is null or an owned exception.
        unsafe {
            let handled = (*ctx).handled;
            if handled.is_null() {
                return Error::new(Class::RuntimeError, "No active exception to reraise").into_raw().cast();
            }
            retain(handled);
            handled
        }
    }
    unsafe fn stack_check(ctx: Ctx, here: P) {
        // SAFETY: `ctx` is the live context of this thread.
        unsafe {
            if (here as usize) < (*ctx).stack_floor {
                return Error::new(Class::RecursionError, "maximum recursion depth exceeded").raise(ctx);
            }
            (*ctx).stack_limit.store((*ctx).stack_floor, Ordering::Relaxed);
            Native::poll_interrupt(ctx);
        }
    }
    unsafe fn poll_interrupt(ctx: Ctx) {
        // SAFETY: `ctx` is the live context of this thread.
        unsafe {
            if (*ctx).answer_poll(POLL_STRESS) & POLL_SIGNALS != 0 {
                or_raise(ctx, crate::parallel::poll())
            }
        }
    }
    unsafe fn tier_sample(ctx: Ctx, site: P) -> P {
        // SAFETY: `ctx` is live, and compiled code passes one of its own sites.
        unsafe {
            (*ctx).answer_poll(!POLL_SAMPLE);
            crate::engine::promote::sample(&*site.cast())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Raised, with_ctx};
    use tierup_core::intern;
    use tierup_core::layout::IMMORTAL;
    use tierup_core::types::class::HostClass;

    fn exc(class: Class, text: &str) -> *mut Obj {
        unsafe { Native::exc_new(class as i64, text.as_ptr().cast_mut(), text.len() as i64) }
    }

    #[test]
    fn blocks_are_aligned_usable_and_freed() {
        let before = live();
        with_ctx(|ctx| unsafe {
            for bytes in [0, 1, 63, 4096, (HUGE + 12345) as i64] {
                let b = Native::mem_alloc_zeroed(ctx, bytes);
                assert_eq!((*b).data as usize % ALIGN, 0);
                assert_eq!((*b).bytes, bytes);
                let data = std::slice::from_raw_parts_mut((*b).data, bytes as usize);
                assert!(data.iter().all(|x| *x == 0));
                data.fill(7);
                retain(b.cast());
                release(b.cast());
                release(b.cast());
            }
        });
        assert_eq!(live(), before);
    }

    #[test]
    fn templates_are_filled_in_order() {
        assert_eq!(fill("no numbers", &[]), "no numbers");
        assert_eq!(fill("shapes ({},) ({},{})", &[3, -1, 20]), "shapes (3,) (-1,20)");
        assert_eq!(fill("into ({newaxis},{newaxis})", &[4, -1]), "into (4,newaxis)");
    }

    #[test]
    fn impossible_sizes_raise_what_numpy_raises() {
        with_ctx(|ctx| unsafe {
            assert!(Native::mem_alloc(ctx, -1).is_null());
            assert_eq!(Raised::take(ctx), Raised::new("ValueError", "negative dimensions are not allowed"));
            assert!(Native::mem_alloc(ctx, i64::MAX).is_null());
            assert_eq!(
                Raised::take(ctx),
                Raised::new("MemoryError", "Unable to allocate 8.00 EiB for an array")
            );
            let bytes =
                |shape: &[i64], item| Native::mem_array_bytes(ctx, shape.len() as i64, shape.as_ptr(), item);
            assert_eq!(bytes(&[3, 4], 8), 96);
            assert_eq!(bytes(&[], 8), 8);
            assert_eq!(bytes(&[3, 0, 1 << 40], 8), 0);
            bytes(&[3, -1], 8);
            assert_eq!(Raised::take(ctx), Raised::new("ValueError", "negative dimensions are not allowed"));
            bytes(&[1 << 32, 1 << 31, 0], 8);
            assert_eq!(
                Raised::take(ctx).text,
                "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."
            );
        });
    }

    #[test]
    fn sizes_read_like_numpys() {
        // Expected values are NumPy's own `_ArrayMemoryError._size_to_string`.
        for (n, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.00 KiB"),
            (10 * 1024 - 1, "10.0 KiB"),
            (1 << 20, "1.00 MiB"),
            ((1 << 20) - 1, "1.00 MiB"),
            (8_000_000_000, "7.45 GiB"),
            (123 << 30, "123. GiB"),
            (1000 << 20, "1000. MiB"),
        ] {
            assert_eq!(human_bytes(n), text);
        }
    }

    #[test]
    fn exceptions_match_by_class_and_free_what_they_hold() {
        let before = live();
        unsafe {
            let e = exc(Class::KeyError, "k");
            for (class, yes) in [
                (Class::KeyError, 1),
                (Class::LookupError, 1),
                (Class::Exception, 1),
                (Class::IndexError, 0),
                (Class::KeyboardInterrupt, 0),
            ] {
                assert_eq!(Native::exc_matches(e, class as i64), yes, "{class:?}");
            }
            // Two classes of a host's, the second derived from the first, with handles that nobody else has.
            let of_host = |handle, bases| {
                let (order, fields, constructed) = (None, vec![], false);
                let class = HostClass { handle, name: "Mine".into(), bases, order, fields, constructed };
                ClassDef::of_host(class).expect("bases that agree")
            };
            let (base, derived) = (1 << 41, (1 << 41) + 1);
            let first = of_host(base, vec![ClassId::of_exception(Class::ValueError)]);
            of_host(derived, vec![first.id]);
            let h = Native::exc_new_host(derived as i64, 0);
            let matches = [derived, base, derived + 1].map(|c| Native::exc_matches_host(h, c as i64));
            assert_eq!(matches, [1, 1, 0]);
            assert_eq!(Native::exc_matches_host(e, base as i64), 0);
            let builtin = [Class::ValueError, Class::Exception, Class::KeyError];
            assert_eq!(builtin.map(|c| Native::exc_matches(h, c as i64)), [1, 1, 0]);
            for (kind, bits) in [
                (0, 0),
                (1, 1),
                (2, -5),
                (3, 1.5f64.to_bits() as i64),
                (5, -1),
                (4, intern::string("s") as i64),
                (6, 0),
                (2, 1),
                (6, 0),
                (7, 0),
                (7, 0),
                (2, 9),
            ] {
                Native::exc_add_arg(h, kind, bits);
            }
            let args = &(*h.cast::<Exc>()).args;
            assert_eq!(args.len(), 8);
            assert!(
                matches!(&args[6], Arg::Tuple(m) if matches!(m.as_slice(), [Arg::Int(1), Arg::Tuple(inner)] if inner.is_empty()))
            );
            assert!(matches!((&args[4], &args[7]), (Arg::UInt(u64::MAX), Arg::Int(9))));
            Native::exc_set_cause(h, e);
            Native::exc_add_site(
                h,
                intern::text("f.py").cast_mut().cast(),
                intern::text("f").cast_mut().cast(),
                3,
            );
            let site = (&(*h.cast::<Exc>()).trail)[0];
            assert_eq!((site.file(), site.func(), site.line), ("f.py", "f", 3));
            release(e);
            release(h);
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn contexts_never_form_a_cycle_and_long_chains_are_freed() {
        let before = live();
        unsafe {
            let (a, b) = (exc(Class::ValueError, "a"), exc(Class::ValueError, "b"));
            Native::exc_set_context(b, a);
            Native::exc_set_context(a, b);
            assert!((*b.cast::<Exc>()).context.is_null(), "the old link is cut");
            Native::exc_set_context(a, a);
            release(a);
            release(b);
            let mut last = exc(Class::ValueError, "0");
            for _ in 0..200_000 {
                let next = exc(Class::ValueError, "n");
                // Not `set_context`, which walks the chain.
                (*next.cast::<Exc>()).context = last.cast();
                last = next;
            }
            release(last);
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn helpers_errors_take_the_handled_exception_as_context() {
        with_ctx(|ctx| unsafe {
            let none = Native::exc_reraise(ctx);
            assert_eq!((*none.cast::<Exc>()).message(), "No active exception to reraise");
            release(none);
            (*ctx).handled = exc(Class::ValueError, "first");
            let again = Native::exc_reraise(ctx);
            assert_eq!(again, (*ctx).handled);
            release(again);
            Error::index("second").raise(ctx);
            let e = crate::exc::take_pending(ctx).unwrap();
            assert_eq!((*e.context).message(), "first");
            drop(e);
            release((*ctx).handled);
            (*ctx).handled = std::ptr::null_mut();
        });
    }

    #[test]
    fn constants_are_immortal() {
        let s = intern::string("constant").cast::<Obj>();
        unsafe {
            for _ in 0..3 {
                release(s);
            }
            retain(s);
            assert_eq!((*s).refs.load(Ordering::Relaxed), IMMORTAL);
        }
    }

    #[test]
    fn a_poll_without_a_host_means_ctrl_c() {
        with_ctx(|ctx| unsafe {
            Native::poll_interrupt(ctx);
            assert!((*ctx).pending.is_null());
            (*ctx).ask_for_poll(POLL_SIGNALS);
            Native::poll_interrupt(ctx);
            assert_eq!(Raised::take(ctx).class, "KeyboardInterrupt");
            assert_eq!((*ctx).answer_poll(0), 0);
        });
    }

    #[test]
    fn threads_share_a_count() {
        let b = mem_block(8, false).unwrap() as usize;
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(move || {
                    for _ in 0..10_000 {
                        unsafe {
                            retain(b as *mut Obj);
                            release(b as *mut Obj)
                        }
                    }
                });
            }
        });
        unsafe {
            assert_eq!((*(b as *mut Obj)).refs.load(Ordering::Relaxed), 1);
            release(b as *mut Obj);
        }
    }
}
