//! Elements that a mask chooses, put side by side, and the positions of what is true. With AVX-512 eight or
//! sixteen at a time: what is chosen moves to the front of a vector, which is stored as a whole behind what
//! has been found so far.

use crate::poll::Poll;

/// Elements that are looked at between two polls, and at a time.
const BLOCK: usize = 1 << 12;
/// Bytes of a mask that become one word of bits.
const WORD: usize = 64;

/// How many bytes of a mask are true.
///
/// # Safety
/// The mask has `n` bytes.
pub(crate) unsafe fn count(mask: *const u8, n: usize) -> usize {
    // SAFETY: as required of the caller.
    unsafe { super::lanes::count_true(mask, n) }
}

/// Copies the elements that a mask chooses, the first `most` of them, one behind the other; how many. (There
/// may be more or fewer by now than there were when they were counted: another thread may have changed the
/// mask.)
///
/// # Safety
/// There are `n` elements of that size and as many bytes of a mask, and `out` has room for one element more
/// than `most`.
pub(crate) unsafe fn take(
    itemsize: usize,
    mask: *const u8,
    from: *const u8,
    n: usize,
    out: *mut u8,
    most: usize,
    poll: &mut Poll,
) -> usize {
    // SAFETY: as required of the caller.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if wide::available() {
            match itemsize {
                8 => {
                    return wide::blocks(n, poll, |first, len, done| {
                        wide::take_64(
                            mask.add(first),
                            from.cast::<u64>().add(first),
                            len,
                            out.cast(),
                            done,
                            most,
                        )
                    });
                }
                4 => {
                    return wide::blocks(n, poll, |first, len, done| {
                        wide::take_32(
                            mask.add(first),
                            from.cast::<u32>().add(first),
                            len,
                            out.cast(),
                            done,
                            most,
                        )
                    });
                }
                _ => {}
            }
        }
        match itemsize {
            1 => one_by_one::<[u8; 1]>(mask, from, n, out, most, poll),
            2 => one_by_one::<[u8; 2]>(mask, from, n, out, most, poll),
            4 => one_by_one::<[u8; 4]>(mask, from, n, out, most, poll),
            8 => one_by_one::<[u8; 8]>(mask, from, n, out, most, poll),
            16 => one_by_one::<[u8; 16]>(mask, from, n, out, most, poll),
            _ => 0,
        }
    }
}

/// The same where nothing may be written behind the room, since it is another thread's.
///
/// # Safety
/// As for [`take`], but that `out` has room for `most` elements.
pub(crate) unsafe fn take_within(
    itemsize: usize,
    mask: *const u8,
    from: *const u8,
    n: usize,
    out: *mut u8,
    most: usize,
) -> usize {
    // SAFETY: as required of the caller.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if wide::available() && matches!(itemsize, 4 | 8) {
            return take(itemsize, mask, from, n, out, most, &mut Poll::never());
        }
        match itemsize {
            1 => through_words::<[u8; 1]>(mask, from, n, out, most),
            2 => through_words::<[u8; 2]>(mask, from, n, out, most),
            4 => through_words::<[u8; 4]>(mask, from, n, out, most),
            8 => through_words::<[u8; 8]>(mask, from, n, out, most),
            16 => through_words::<[u8; 16]>(mask, from, n, out, most),
            _ => 0,
        }
    }
}

/// What is found among a few elements is put together elsewhere first.
unsafe fn through_words<T: Copy>(
    mask: *const u8,
    from: *const u8,
    n: usize,
    out: *mut u8,
    most: usize,
) -> usize {
    let (from, out) = (from.cast::<T>(), out.cast::<T>());
    let mut found = [std::mem::MaybeUninit::<T>::uninit(); WORD + 1];
    let mut done = 0;
    for first in (0..n).step_by(WORD) {
        let mut some = 0;
        // SAFETY: as required of the caller; the first `some` have been written.
        unsafe {
            for i in first..n.min(first + WORD) {
                found[some].write(from.add(i).read_unaligned());
                some += usize::from(*mask.add(i) != 0);
            }
            let some = some.min(most - done);
            std::ptr::copy_nonoverlapping(
                found.as_ptr().cast::<u8>(),
                out.add(done).cast::<u8>(),
                some * size_of::<T>(),
            );
            done += some;
        }
    }
    done
}

/// Without branches: every element is written to the next free place, which moves on where it is chosen.
unsafe fn one_by_one<T: Copy>(
    mask: *const u8,
    from: *const u8,
    n: usize,
    out: *mut u8,
    most: usize,
    poll: &mut Poll,
) -> usize {
    let (from, out) = (from.cast::<T>(), out.cast::<T>());
    let (mut done, mut first) = (0usize, 0);
    while first < n {
        let end = n.min(first + BLOCK);
        for i in first..end {
            // SAFETY: as required of the caller: the place is at most the one behind the last.
            unsafe {
                out.add(done.min(most)).write_unaligned(from.add(i).read_unaligned());
                done += usize::from(*mask.add(i) != 0);
            }
        }
        if poll.worked(end - first) {
            break;
        }
        first = end;
    }
    done.min(most)
}

/// Positions of the true ones of `n` bytes, counted from `base`, the first `most` of them; how many.
///
/// # Safety
/// The bytes are there, and `out` has room for `most` numbers.
pub(crate) unsafe fn positions(flags: *const u8, n: usize, base: i64, out: *mut i64, most: usize) -> usize {
    // SAFETY: as required of the caller.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if wide::available() {
            return wide::positions(flags, n, base, out, most);
        }
        let mut done = 0;
        let mut found = [0i64; WORD + 1];
        for first in (0..n).step_by(WORD) {
            let mut some = 0;
            for i in first..n.min(first + WORD) {
                found[some] = base + i as i64;
                some += usize::from(*flags.add(i) != 0);
            }
            let some = some.min(most - done);
            std::ptr::copy_nonoverlapping(found.as_ptr(), out.add(done), some);
            done += some;
        }
        done
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{BLOCK, Poll, WORD};
    use std::arch::x86_64::*;

    pub(crate) fn available() -> bool {
        crate::cpu::has!("avx512f", "avx512bw", "popcnt")
    }

    /// Calls `block` for the first element and the number of some, and how many have been found so far; gives
    /// how many there are then.
    pub(crate) unsafe fn blocks(
        n: usize,
        poll: &mut Poll,
        mut block: impl FnMut(usize, usize, usize) -> usize,
    ) -> usize {
        let (mut done, mut first) = (0, 0);
        while first < n {
            let len = BLOCK.min(n - first);
            done = block(first, len, done);
            if poll.worked(len) {
                break;
            }
            first += len;
        }
        done
    }

    /// A bit for each true one of up to [`WORD`] bytes.
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn bits(mask: *const u8, n: usize) -> u64 {
        // SAFETY: what lies behind the last byte is not read.
        unsafe {
            let here = if n >= WORD { u64::MAX } else { (1 << n) - 1 };
            let bytes = _mm512_maskz_loadu_epi8(here, mask.cast());
            _mm512_test_epi8_mask(bytes, bytes)
        }
    }

    macro_rules! take {
        ($name:ident, $T:ty, $Mask:ty, $lanes:literal, $load:ident, $store:ident, $mask_store:ident, $compress:ident) => {
            /// Goes on behind the first `done` elements found; how many there are then.
            #[target_feature(enable = "avx512f,avx512bw,popcnt")]
            pub(crate) unsafe fn $name(mask: *const u8, from: *const $T, n: usize, out: *mut $T, mut done: usize, most: usize) -> usize {
                // SAFETY: elements that are not there are not read, and nothing is written behind the first
                // `most`.
                unsafe {
                    for first in (0..n).step_by(WORD) {
                        let mut chosen = bits(mask.add(first), n - first);
                        // As a whole where a vector more than what there may be fits.
                        if most - done >= WORD && n - first >= WORD {
                            let mut p = from.add(first);
                            for _ in 0..WORD / $lanes {
                                let few = chosen as $Mask;
                                $store(out.add(done).cast(), $compress(few, $load(p.cast())));
                                done += few.count_ones() as usize;
                                chosen >>= $lanes;
                                p = p.add($lanes);
                            }
                            continue;
                        }
                        let mut at = first;
                        while chosen != 0 {
                            let few = chosen as $Mask;
                            let found = (few.count_ones() as usize).min(most - done);
                            let there = ((1u64 << (n - at).min($lanes)) - 1) as $Mask;
                            let x = $compress(few, take!(@some $name, there, from.add(at)));
                            $mask_store(out.add(done).cast(), ((1u64 << found) - 1) as $Mask, x);
                            done += found;
                            chosen >>= $lanes;
                            at += $lanes;
                        }
                    }
                    done
                }
            }
        };
        (@some take_64, $there:ident, $p:expr) => { _mm512_maskz_loadu_epi64($there, $p.cast()) };
        (@some take_32, $there:ident, $p:expr) => { _mm512_maskz_loadu_epi32($there, $p.cast()) };
    }
    take!(
        take_64,
        u64,
        u8,
        8,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_mask_storeu_epi64,
        _mm512_maskz_compress_epi64
    );
    take!(
        take_32,
        u32,
        u16,
        16,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_mask_storeu_epi32,
        _mm512_maskz_compress_epi32
    );

    /// See [`super::positions`].
    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    pub(crate) unsafe fn positions(
        flags: *const u8,
        n: usize,
        base: i64,
        out: *mut i64,
        most: usize,
    ) -> usize {
        // SAFETY: as required of the caller.
        unsafe {
            let mut done = 0;
            let begin = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
            for first in (0..n).step_by(WORD) {
                let mut found = bits(flags.add(first), n - first);
                let mut at = base + first as i64;
                while found != 0 {
                    let few = found as u8;
                    let some = (few.count_ones() as usize).min(most - done);
                    let x = _mm512_maskz_compress_epi64(few, _mm512_add_epi64(begin, _mm512_set1_epi64(at)));
                    if most - done >= 8 {
                        _mm512_storeu_si512(out.add(done).cast(), x)
                    } else {
                        _mm512_mask_storeu_epi64(out.add(done), ((1u16 << some) - 1) as u8, x)
                    }
                    done += some;
                    found >>= 8;
                    at += 8;
                }
            }
            done
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masks with so many true ones in a thousand.
    fn mask(n: usize, often: u64) -> Vec<u8> {
        let mut x = 12345u64;
        (0..n)
            .map(|_| {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                u8::from((x >> 33) % 1000 < often) * (1 + (x >> 60) as u8)
            })
            .collect()
    }

    fn taken<T: Copy + PartialEq + std::fmt::Debug>(v: &[T], m: &[u8], stray: T) {
        let expected: Vec<T> = v.iter().zip(m).filter(|(_, m)| **m != 0).map(|(x, _)| *x).collect();
        for most in [expected.len(), expected.len() / 2, expected.len() + 3, 0] {
            let mut out = vec![stray; most + 2];
            // SAFETY: the elements are there, and there is room.
            let found = unsafe {
                take(
                    size_of::<T>(),
                    m.as_ptr(),
                    v.as_ptr().cast(),
                    v.len(),
                    out.as_mut_ptr().cast(),
                    most,
                    &mut Poll::never(),
                )
            };
            assert_eq!(found, most.min(expected.len()));
            assert_eq!(out[..found], expected[..found]);
            assert_eq!(out[most + 1], stray, "nothing is written behind the room");
            let mut out = vec![stray; most + 1];
            // SAFETY: as above.
            let found = unsafe {
                take_within(
                    size_of::<T>(),
                    m.as_ptr(),
                    v.as_ptr().cast(),
                    v.len(),
                    out.as_mut_ptr().cast(),
                    most,
                )
            };
            assert_eq!(out[..found], expected[..most.min(expected.len())]);
            assert_eq!(out[most], stray, "nothing is written behind the room");
        }
    }

    #[test]
    fn what_a_mask_chooses() {
        for n in [0usize, 1, 7, 8, 63, 64, 65, 100, 1000, 4096, 4097, 9001] {
            for often in [0, 3, 500, 990, 1000] {
                let m = mask(n, often);
                // SAFETY: the mask has that many bytes.
                assert_eq!(unsafe { count(m.as_ptr(), n) }, m.iter().filter(|m| **m != 0).count());
                taken(&(0..n).map(|i| i as u8).collect::<Vec<_>>(), &m, 77);
                taken(&(0..n).map(|i| i as u16).collect::<Vec<_>>(), &m, 7777);
                taken(&(0..n).map(|i| i as f32).collect::<Vec<_>>(), &m, -1.0);
                taken(&(0..n).map(|i| i as f64).collect::<Vec<_>>(), &m, -1.0);
                taken(&(0..n).map(|i| [i as f64, 1.0]).collect::<Vec<_>>(), &m, [-1.0; 2]);
                let expected: Vec<i64> = (0..n).filter(|i| m[*i] != 0).map(|i| 100 + i as i64).collect();
                for most in [expected.len(), expected.len() / 2] {
                    let mut out = vec![-1; most + 1];
                    // SAFETY: there is room.
                    let found = unsafe { positions(m.as_ptr(), n, 100, out.as_mut_ptr(), most) };
                    assert_eq!((found, &out[..most], out[most]), (most, &expected[..most], -1));
                }
            }
        }
    }
}
