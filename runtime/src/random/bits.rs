//! Where random bits come from: NumPy's bit generators through their C interface, and a Mersenne twister of
//! our own.

use std::ffi::c_void;
use tierup_core::layout::{STREAM_WORDS, WordStream};

/// NumPy's `bitgen_t`: the functions that every bit generator offers.
#[repr(C)]
pub(crate) struct Bits {
    pub state: *mut c_void,
    pub next_u64: unsafe extern "C" fn(*mut c_void) -> u64,
    pub next_u32: unsafe extern "C" fn(*mut c_void) -> u32,
    pub next_double: unsafe extern "C" fn(*mut c_void) -> f64,
    pub next_raw: unsafe extern "C" fn(*mut c_void) -> u64,
}

/// What draws bits. Each is a way to a state that changes behind a shared reference, since distributions
/// borrow it in several places at once.
pub(crate) trait Source {
    fn u64(&self) -> u64;
    fn u32(&self) -> u32;
    /// Of [0, 1), 53 bits.
    fn f64(&self) -> f64;
    /// Of [0, 1), 24 bits.
    #[inline]
    fn f32(&self) -> f32 {
        (self.u32() >> 8) as f32 * (1.0 / 16_777_216.0)
    }
}

// SAFETY of all: who makes a `Bits` gives functions that go with the state, and keeps others away from it
// while it is borrowed.
impl Source for Bits {
    #[inline]
    fn u64(&self) -> u64 {
        // SAFETY: who makes a `Bits` gives a function that goes with the state, and keeps others away from
        // it.
        unsafe { (self.next_u64)(self.state) }
    }
    #[inline]
    fn u32(&self) -> u32 {
        // SAFETY: as above.
        unsafe { (self.next_u32)(self.state) }
    }
    #[inline]
    fn f64(&self) -> f64 {
        // SAFETY: as above.
        unsafe { (self.next_double)(self.state) }
    }
}

/// A twister that is borrowed for as long as this lives.
pub(crate) struct Own<'a>(*mut Twister, std::marker::PhantomData<&'a mut Twister>);
impl<'a> Own<'a> {
    #[inline]
    pub(crate) fn new(t: &'a mut Twister) -> Own<'a> {
        Own(t, std::marker::PhantomData)
    }
}
// SAFETY of all: the twister is lent to this alone, and none of its methods calls back.
impl Source for Own<'_> {
    #[inline]
    fn u64(&self) -> u64 {
        // SAFETY: the twister is lent to this alone, and its method calls nothing back that could use it.
        unsafe { (*self.0).u64() }
    }
    #[inline]
    fn u32(&self) -> u32 {
        // SAFETY: as above.
        unsafe { (*self.0).u32() }
    }
    #[inline]
    fn f64(&self) -> f64 {
        // SAFETY: as above.
        unsafe { (*self.0).f64() }
    }
}

const N: usize = STREAM_WORDS as usize;
const M: usize = 397;

/// MT19937, as in CPython and NumPy. Its words are tempered all at once, which vectors do, and read by
/// compiled code.
#[repr(C)]
pub(crate) struct Twister {
    stream: WordStream,
    key: [u32; N],
}

impl Twister {
    pub(crate) const fn new() -> Twister {
        Twister { stream: WordStream { at: STREAM_WORDS, ready: [0; N] }, key: [0; N] }
    }

    /// What compiled code reads; it lies at the twister's start.
    pub(crate) fn stream(&mut self) -> *mut WordStream {
        &raw mut self.stream
    }

    /// Whoever reads next comes to the run-time first.
    pub(crate) fn forget_ready(&mut self) {
        self.stream.at = STREAM_WORDS;
    }

    /// Seeding by one number: `np.random.seed(n)`.
    pub(crate) fn seed(&mut self, mut seed: u32) {
        for (i, k) in self.key.iter_mut().enumerate() {
            *k = seed;
            seed = 1_812_433_253u32.wrapping_mul(seed ^ seed >> 30).wrapping_add(i as u32 + 1);
        }
        self.forget_ready();
    }

    /// Seeding by any number of words: `random.seed(n)`. `words` is not empty.
    pub(crate) fn seed_by_array(&mut self, words: &[u32]) {
        self.seed(19_650_218);
        let key = &mut self.key;
        let (mut i, mut j) = (1, 0);
        for _ in 0..N.max(words.len()) {
            key[i] = (key[i] ^ (key[i - 1] ^ key[i - 1] >> 30).wrapping_mul(1_664_525))
                .wrapping_add(words[j])
                .wrapping_add(j as u32);
            i += 1;
            j += 1;
            if i == N {
                key[0] = key[N - 1];
                i = 1;
            }
            if j == words.len() {
                j = 0;
            }
        }
        for _ in 1..N {
            key[i] =
                (key[i] ^ (key[i - 1] ^ key[i - 1] >> 30).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            i += 1;
            if i == N {
                key[0] = key[N - 1];
                i = 1;
            }
        }
        key[0] = 0x8000_0000;
    }

    #[cold]
    fn refill(&mut self) {
        let mix = |a: u32, b: u32| {
            let y = a & 0x8000_0000 | b & 0x7fff_ffff;
            y >> 1 ^ (y & 1).wrapping_neg() & 0x9908_b0df
        };
        let key = &mut self.key;
        for i in 0..N - M {
            key[i] = key[i + M] ^ mix(key[i], key[i + 1]);
        }
        for i in N - M..N - 1 {
            key[i] = key[i + M - N] ^ mix(key[i], key[i + 1]);
        }
        key[N - 1] = key[M - 1] ^ mix(key[N - 1], key[0]);
        for (out, y) in self.stream.ready.iter_mut().zip(*key) {
            let y = y ^ y >> 11;
            let y = y ^ y << 7 & 0x9d2c_5680;
            let y = y ^ y << 15 & 0xefc6_0000;
            *out = y ^ y >> 18;
        }
        self.stream.at = 0;
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> u32 {
        if self.stream.at as usize >= N {
            self.refill();
        }
        // SAFETY: less than N, also after the refill.
        let y = unsafe { *self.stream.ready.get_unchecked(self.stream.at as usize) };
        self.stream.at += 1;
        y
    }
    #[inline]
    pub(crate) fn u64(&mut self) -> u64 {
        let high = self.u32() as u64;
        high << 32 | self.u32() as u64
    }
    #[inline]
    pub(crate) fn f64(&mut self) -> f64 {
        let (a, b) = (self.u32() >> 5, self.u32() >> 6);
        ((a as i64) << 26 | b as i64) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twister_is_the_reference_implementation() {
        // The first numbers of the reference implementation's own test: init_by_array of {0x123, 0x234,
        // 0x345, 0x456}.
        let mut t = Twister::new();
        t.seed_by_array(&[0x123, 0x234, 0x345, 0x456]);
        assert_eq!(
            [t.u32(), t.u32(), t.u32(), t.u32(), t.u32()],
            [1_067_595_299, 955_945_823, 477_289_528, 4_107_218_783, 4_228_976_476]
        );
        // np.random.seed(5489) is its default seed, whose ten thousandth number is known.
        t.seed(5489);
        assert_eq!((0..10_000).map(|_| t.u32()).last(), Some(4_123_659_995));
    }
}
