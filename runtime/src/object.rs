//! Memory of objects and arrays, and what compiled code asks about the thread that runs it.

use crate::Native;
use crate::exc::{Error, Res, or_raise, raising};
use std::sync::atomic::{AtomicI64, Ordering};
use tierup_core::desc::TypeDesc;
use tierup_core::exc::Class;
use tierup_core::layout::{List, MemBlock, Obj, POLL_SAMPLE, POLL_SIGNALS, POLL_STRESS, ThreadCtx};
use tierup_core::ops::object::Helpers;
use tierup_core::rt::{Ctx, P};

pub use crate::counted::{count, live, release, retain};

/// Memory for an object that Rust does not box; aborts when there is none, so use it for small sizes and
/// [`try_allocate`] for the user's.
pub(crate) fn allocate(bytes: usize) -> *mut u8 {
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
pub(crate) fn try_allocate(bytes: Option<usize>) -> Res<*mut u8> {
    let bytes = bytes.filter(|b| *b <= isize::MAX as usize).ok_or_else(|| Error::bare(Class::MemoryError))?;
    // SAFETY: `malloc` takes any size.
    let p = unsafe { libc::malloc(bytes.max(1)) }.cast::<u8>();
    if p.is_null() { Err(Error::bare(Class::MemoryError)) } else { Ok(p) }
}

/// Zeroed memory for a small object. The C library's `calloc` passes over the lists of freed pieces that each
/// thread has, which `malloc` takes from.
pub(crate) fn try_zeroed(bytes: usize) -> Res<*mut u8> {
    let p = try_allocate(Some(bytes))?;
    // SAFETY: so many bytes are there.
    unsafe { p.write_bytes(0, bytes) };
    Ok(p)
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
pub(crate) fn mem_block(bytes: i64, zeroed: bool) -> Res<*mut MemBlock> {
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
pub(crate) fn array_bytes(shape: &[i64], itemsize: i64) -> Res<i64> {
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

/// Polls; whether the helper that asks is to return at once, with an exception pending.
///
/// # Safety
/// `ctx` is the live context of this thread.
pub(crate) unsafe fn wants_to_stop(ctx: Ctx) -> bool {
    // SAFETY: as required of the caller.
    unsafe {
        Native::poll_interrupt(ctx);
        !(*ctx).pending.is_null()
    }
}

impl Helpers for Native {
    unsafe fn obj_retain(o: *mut Obj) {
        // SAFETY: compiled code passes null or an object to which it holds a reference.
        unsafe { retain(o) }
    }
    unsafe fn obj_release(o: *mut Obj) {
        // SAFETY: compiled code passes null, or gives up a reference that it holds.
        unsafe { release(o) }
    }
    raising! {
        fn mem_alloc(bytes: i64) -> *mut MemBlock = mem_block(bytes, false);
        fn mem_alloc_zeroed(bytes: i64) -> *mut MemBlock = mem_block(bytes, true);
    }
    unsafe fn tuple_of(ctx: Ctx, desc: *const TypeDesc, data: P, n: i64) -> *mut List {
        // SAFETY: descriptors live for ever, compiled code passes so many values, and its own context.
        unsafe { crate::exc::or_raise(ctx, crate::var_tuple::of(&*desc, data, n)) }
    }
    unsafe fn mem_copy(to: P, from: P, bytes: i64) {
        // An array of no elements may lie anywhere.
        if bytes > 0 {
            // SAFETY: compiled code passes blocks of that size, the very same one at times.
            unsafe { std::ptr::copy(from, to, bytes as usize) }
        }
    }
    unsafe fn mem_array_bytes(ctx: Ctx, ndim: i64, shape: *const i64, itemsize: i64) -> i64 {
        // SAFETY: compiled code passes `ndim` members.
        let shape = unsafe { crate::raw_slice(shape, ndim) };
        // SAFETY: and the live context of its thread.
        unsafe { or_raise(ctx, array_bytes(shape, itemsize)) }
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
            if ThreadCtx::polls(ctx).answer_poll(POLL_STRESS) & POLL_SIGNALS != 0 {
                or_raise(ctx, crate::parallel::poll())
            }
        }
    }
    unsafe fn tier_sample(ctx: Ctx, site: P) -> P {
        // SAFETY: `ctx` is live, and compiled code passes one of its own sites.
        unsafe {
            ThreadCtx::polls(ctx).answer_poll(!POLL_SAMPLE);
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

    #[test]
    fn blocks_are_aligned_usable_and_freed() {
        let before = live();
        // SAFETY: a block has the bytes asked for, and is the test's until its last release.
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
    fn impossible_sizes_raise_what_numpy_raises() {
        // SAFETY: the context is live, and shapes have the lengths given.
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
    fn constants_are_immortal() {
        let s = intern::string("constant").cast::<Obj>();
        // SAFETY: a constant lives for ever, however often it is released.
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
        // SAFETY: the context is live.
        with_ctx(|ctx| unsafe {
            Native::poll_interrupt(ctx);
            assert!((*ctx).pending.is_null());
            ThreadCtx::polls(ctx).ask_for_poll(POLL_SIGNALS);
            Native::poll_interrupt(ctx);
            assert_eq!(Raised::take(ctx).class, "KeyboardInterrupt");
            assert_eq!(ThreadCtx::polls(ctx).answer_poll(0), 0);
        });
    }

    #[test]
    fn threads_share_a_count() {
        let b = mem_block(8, false).unwrap() as usize;
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(move || {
                    for _ in 0..10_000 {
                        // SAFETY: the test holds a reference until all threads have ended.
                        unsafe {
                            retain(b as *mut Obj);
                            release(b as *mut Obj)
                        }
                    }
                });
            }
        });
        // SAFETY: it is the last reference.
        unsafe {
            assert_eq!((*(b as *mut Obj)).refs.load(Ordering::Relaxed), 1);
            release(b as *mut Obj);
        }
    }
}
