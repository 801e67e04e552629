//! Memory of arrays and containers: freed blocks of middling size are kept for the next one of that size.
//!
//! An expression such as `a * 2 + b` makes and drops an array for each operation, and a dict or a list that
//! grows leaves a block behind with each step. The C library gives blocks of a few hundred KiB and more back to
//! the system at once, and each fresh page costs more than the arithmetic on it, or than all keys on it. Every
//! thread keeps a few; what it keeps is bounded by [`BYTES`].

use std::cell::RefCell;

/// Smaller blocks stay in the C library's own lists.
const SMALLEST: usize = 1 << 16;
/// Bytes that one thread keeps at most.
const BYTES: usize = 1 << 25;
/// Blocks that one thread keeps at most.
const BLOCKS: usize = 24;

struct Block {
    raw: *mut libc::c_void,
    total: usize,
}

#[derive(Default)]
struct Kept {
    blocks: Vec<Block>,
    bytes: usize,
}

impl Drop for Kept {
    fn drop(&mut self) {
        for b in &self.blocks {
            // SAFETY: the list owns what it holds, and goes.
            unsafe { libc::free(b.raw) }
        }
    }
}

thread_local! { static KEPT: RefCell<Kept> = RefCell::default(); }

/// A block of at least `total` bytes, its size, and whether the C library has just given it; null when there
/// is no memory.
pub(crate) fn take(total: usize, zeroed: bool) -> (*mut libc::c_void, usize, bool) {
    if let Some(b) = (total >= SMALLEST).then(|| find(total)).flatten() {
        if zeroed {
            // SAFETY: the block is ours and has at least `total` bytes.
            unsafe { libc::memset(b.raw, 0, total) };
        }
        return (b.raw, b.total, false);
    }
    // SAFETY: both take any size; `calloc` gets large blocks zeroed from the system without touching them.
    (unsafe { if zeroed { libc::calloc(1, total) } else { libc::malloc(total) } }, total, true)
}

/// The smallest kept block that fits without wasting more than a quarter.
fn find(total: usize) -> Option<Block> {
    KEPT.try_with(|k| {
        let mut k = k.borrow_mut();
        let fits = |b: &Block| b.total >= total && b.total - total <= total / 4;
        let at = (0..k.blocks.len()).filter(|i| fits(&k.blocks[*i])).min_by_key(|i| k.blocks[*i].total)?;
        let b = k.blocks.remove(at);
        k.bytes -= b.total;
        Some(b)
    })
    .ok()
    .flatten()
}

/// A block of `new` bytes that begins with the `old` ones of another, which is given back; null where there is no
/// memory, and then the other stays as it was.
///
/// # Safety
/// Nobody else uses the other block, which is null or came from here with `old` bytes, fewer than `new`.
pub(crate) unsafe fn grow(raw: *mut libc::c_void, old: usize, new: usize) -> *mut libc::c_void {
    match (new >= SMALLEST).then(|| find(new)).flatten() {
        // SAFETY: both have as many bytes, and nobody uses the old one any more.
        Some(b) => unsafe {
            if old > 0 {
                libc::memcpy(b.raw, raw, old);
            }
            give(raw, old);
            b.raw
        },
        // SAFETY: the C library gave it. What is large moves without being copied.
        None => unsafe { libc::realloc(raw, new.max(1)) },
    }
}

/// Gives back a block that [`take`] or [`grow`] gave, or null.
///
/// # Safety
/// The block must not be used any more.
pub(crate) unsafe fn give(raw: *mut libc::c_void, total: usize) {
    let kept = (SMALLEST..=BYTES).contains(&total)
        && KEPT.try_with(|k| keep(&mut k.borrow_mut(), Block { raw, total })).is_ok();
    if !kept {
        // SAFETY: the C library gave it, and as required of the caller nobody uses it.
        unsafe { libc::free(raw) }
    }
}

/// Keeps a block; the oldest ones go where there are too many.
fn keep(k: &mut Kept, b: Block) {
    k.bytes += b.total;
    k.blocks.push(b);
    while k.bytes > BYTES || k.blocks.len() > BLOCKS {
        let oldest = k.blocks.remove(0);
        k.bytes -= oldest.total;
        // SAFETY: the list owned it.
        unsafe { libc::free(oldest.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_block_serves_the_next_of_its_size() {
        let (a, size, fresh) = take(100_000, false);
        // SAFETY: blocks have the sizes that `take` said, and are not used once given back.
        unsafe {
            libc::memset(a, 7, size);
            give(a, size);
            let (b, room, again) = take(99_000, true);
            assert_eq!((b, fresh, again), (a, true, false));
            assert!(std::slice::from_raw_parts(b.cast::<u8>(), 99_000).iter().all(|x| *x == 0));
            give(b, room);
            let (c, ..) = take(200_000, false);
            assert_ne!(c, a);
            libc::free(c);
        }
    }

    #[test]
    fn a_block_that_grows_keeps_what_it_holds() {
        // SAFETY: blocks have the sizes that were asked for, and are not used once given back.
        unsafe {
            let mut a = grow(std::ptr::null_mut(), 0, 50);
            let (kept, size, _) = take(150_000, false);
            give(kept, size);
            libc::memset(a, 7, 50);
            a = grow(a, 50, 70_000);
            a = grow(a, 70_000, 149_000);
            assert_eq!(a, kept);
            assert!(std::slice::from_raw_parts(a.cast::<u8>(), 50).iter().all(|x| *x == 7));
            give(a, 149_000);
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let all: Vec<_> = (0..40).map(|i| take(SMALLEST * (i + 1), false)).collect();
        for (raw, total, _) in all {
            // SAFETY: nobody uses the blocks.
            unsafe { give(raw, total) }
        }
        KEPT.with(|k| {
            let k = k.borrow();
            assert!(k.blocks.len() <= BLOCKS && k.bytes <= BYTES);
            assert_eq!(k.bytes, k.blocks.iter().map(|b| b.total).sum::<usize>());
        });
    }
}
