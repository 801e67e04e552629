//! Radix sort, least significant digit first: stable, and for long arrays several times faster than
//! comparing.

use crate::poll::Poll;

/// What sorts by digits.
pub(crate) trait Digits: Copy + Default {
    /// Number of key bits.
    const BITS: u32;
    /// `width` bits of the key from bit `shift` on, counted from the least significant one.
    fn digit(self, shift: u32, width: u32) -> usize;
}
macro_rules! digits { ($($T:ty: $bits:literal, |$x:ident| $key:expr;)*) => {$(impl Digits for $T {
    const BITS: u32 = $bits;
    #[inline(always)] fn digit(self, shift: u32, width: u32) -> usize { let $x = self; (($key >> shift) as usize) & ((1 << width) - 1) }
})*}; }
// Signed numbers order as unsigned ones with the sign bit flipped.
digits! {
    u8: 8, |x| x;
    u16: 16, |x| x;
    u32: 32, |x| x;
    i8: 8, |x| x as u8 ^ 0x80;
    i16: 16, |x| x as u16 ^ 0x8000;
    i32: 32, |x| x as u32 ^ 0x8000_0000;
    i64: 64, |x| x as u64 ^ (1 << 63);
}
/// A key of 32 bits above a position of 32 bits, which stays out of it: sorting is stable.
#[derive(Clone, Copy, Default)]
pub(crate) struct Narrow(pub u64);
digits! {
    Narrow: 32, |x| (x.0 >> 32) as u32;
}

/// From this length on, sorting by digits pays.
pub(crate) fn pays<T: Digits>(n: usize) -> bool {
    n >= if T::BITS <= 16 { 256 } else { 1500 }
}

/// Sorts by the key; false when there is no memory for a copy, and then nothing has changed. Where it is time
/// to stop, the elements lie in some order.
pub(crate) fn sort<T: Digits>(v: &mut [T], poll: &mut Poll) -> bool {
    let n = v.len();
    let mut copy: Vec<T> = vec![];
    if copy.try_reserve_exact(n).is_err() {
        return false;
    }
    copy.resize(n, T::default());
    // Eleven bits make 2048 counters, which the cache holds; short arrays would spend their time on counters.
    let width = if n < 20_000 || T::BITS <= 16 { 8 } else { 11 };
    let passes = T::BITS.div_ceil(width);
    let mut counts = vec![0u32; (passes as usize) << width];
    if n > u32::MAX as usize {
        return false;
    }
    for x in v.iter() {
        for (p, c) in counts.chunks_exact_mut(1 << width).enumerate() {
            c[x.digit(p as u32 * width, width)] += 1;
        }
    }
    let mut in_copy = false;
    for (p, c) in counts.chunks_exact_mut(1 << width).enumerate() {
        let shift = p as u32 * width;
        // A digit that is the same everywhere orders nothing.
        if c[v[0].digit(shift, width)] as usize == n {
            continue;
        }
        let mut at = 0;
        for x in c.iter_mut() {
            at += std::mem::replace(x, at);
        }
        let whole = if in_copy {
            scatter(&copy, v, c, shift, width, poll)
        } else {
            scatter(v, &mut copy, c, shift, width, poll)
        };
        // What it was taken from still holds every element.
        if !whole {
            break;
        }
        in_copy = !in_copy;
    }
    if in_copy {
        v.copy_from_slice(&copy);
    }
    true
}

/// Whether all elements were moved.
fn scatter<T: Digits>(
    from: &[T],
    to: &mut [T],
    starts: &mut [u32],
    shift: u32,
    width: u32,
    poll: &mut Poll,
) -> bool {
    poll.in_pieces(from.len(), |at, n| {
        for x in &from[at..at + n] {
            let start = &mut starts[x.digit(shift, width)];
            to[*start as usize] = *x;
            *start += 1;
        }
    });
    !poll.stopped()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_every_kind_stably() {
        let mut seed = 7u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed ^ seed >> 33
        };
        for n in [1usize, 2, 300, 30_000] {
            let raw: Vec<u64> = (0..n).map(|_| random()).collect();
            macro_rules! check { ($($T:ty)*) => {$(
                let mut v: Vec<$T> = raw.iter().map(|x| *x as $T).collect();
                let mut expected = v.clone();
                expected.sort();
                assert!(sort(&mut v, &mut Poll::never()));
                assert_eq!(v, expected);
            )*}; }
            check!(u8 u16 u32 i8 i16 i32 i64);
            let mut pairs: Vec<Narrow> =
                raw.iter().enumerate().map(|(i, x)| Narrow((x % 50) << 32 | (n - i) as u64)).collect();
            let mut expected: Vec<u64> = pairs.iter().map(|p| p.0).collect();
            expected.sort_by_key(|p| p >> 32);
            assert!(sort(&mut pairs, &mut Poll::never()));
            assert_eq!(pairs.iter().map(|p| p.0).collect::<Vec<_>>(), expected);
        }
    }
}
