//! Where random bits come from: NumPy's bit generators through their C interface, and a Mersenne twister of our own behind the same interface.

use std::ffi::c_void;

/// NumPy's `bitgen_t`: the functions that every bit generator offers.
#[repr(C)]
pub struct Bits {
    pub state: *mut c_void,
    pub next_u64: unsafe extern "C" fn(*mut c_void) -> u64,
    pub next_u32: unsafe extern "C" fn(*mut c_void) -> u32,
    pub next_double: unsafe extern "C" fn(*mut c_void) -> f64,
    pub next_raw: unsafe extern "C" fn(*mut c_void) -> u64,
}

impl Bits {
    // Our own twister is not called through an address: it is a few instructions.
    #[inline]
    fn twister(&self) -> *mut Twister {
        if self.next_raw as *const () == own::next_raw as *const () { self.state.cast() } else { std::ptr::null_mut() }
    }
    #[inline]
    pub fn u64(&self) -> u64 {
        // SAFETY: the state that goes with our functions is a live twister, lent by whoever made this.
        if let Some(t) = unsafe { self.twister().as_mut() } { return t.u64(); }
        // SAFETY: who makes a `Bits` gives functions that go with the state, and keeps others away from it while it is borrowed.
        unsafe { (self.next_u64)(self.state) }
    }
    #[inline]
    pub fn u32(&self) -> u32 {
        // SAFETY: the state that goes with our functions is a live twister, lent by whoever made this.
        if let Some(t) = unsafe { self.twister().as_mut() } { return t.u32(); }
        // SAFETY: as above.
        unsafe { (self.next_u32)(self.state) }
    }
    /// Of [0, 1), 53 bits.
    #[inline]
    pub fn f64(&self) -> f64 {
        // SAFETY: the state that goes with our functions is a live twister, lent by whoever made this.
        if let Some(t) = unsafe { self.twister().as_mut() } { return t.f64(); }
        // SAFETY: as above.
        unsafe { (self.next_double)(self.state) }
    }
    /// Of [0, 1), 24 bits.
    #[inline]
    pub fn f32(&self) -> f32 { (self.u32() >> 8) as f32 * (1.0 / 16_777_216.0) }
}

const N: usize = 624;
const M: usize = 397;

/// MT19937, as in CPython and NumPy.
pub struct Twister { key: [u32; N], at: usize }

impl Twister {
    pub const fn new() -> Twister { Twister { key: [0; N], at: N } }

    /// Seeding by one number: `np.random.seed(n)`.
    pub fn seed(&mut self, mut seed: u32) {
        for (i, k) in self.key.iter_mut().enumerate() {
            *k = seed;
            seed = 1_812_433_253u32.wrapping_mul(seed ^ seed >> 30).wrapping_add(i as u32 + 1);
        }
        self.at = N;
    }

    /// Seeding by any number of words: `random.seed(n)`. `words` is not empty.
    pub fn seed_by_array(&mut self, words: &[u32]) {
        self.seed(19_650_218);
        let key = &mut self.key;
        let (mut i, mut j) = (1, 0);
        for _ in 0..N.max(words.len()) {
            key[i] = (key[i] ^ (key[i - 1] ^ key[i - 1] >> 30).wrapping_mul(1_664_525)).wrapping_add(words[j]).wrapping_add(j as u32);
            i += 1;
            j += 1;
            if i == N { key[0] = key[N - 1]; i = 1; }
            if j == words.len() { j = 0; }
        }
        for _ in 1..N {
            key[i] = (key[i] ^ (key[i - 1] ^ key[i - 1] >> 30).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            i += 1;
            if i == N { key[0] = key[N - 1]; i = 1; }
        }
        key[0] = 0x8000_0000;
    }

    #[cold]
    fn refill(&mut self) {
        let mix = |a: u32, b: u32| { let y = a & 0x8000_0000 | b & 0x7fff_ffff; y >> 1 ^ (y & 1).wrapping_neg() & 0x9908_b0df };
        let key = &mut self.key;
        for i in 0..N - M { key[i] = key[i + M] ^ mix(key[i], key[i + 1]); }
        for i in N - M..N - 1 { key[i] = key[i + M - N] ^ mix(key[i], key[i + 1]); }
        key[N - 1] = key[M - 1] ^ mix(key[N - 1], key[0]);
        self.at = 0;
    }

    #[inline]
    pub fn u32(&mut self) -> u32 {
        if self.at >= N { self.refill(); }
        let mut y = self.key[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }
    #[inline]
    pub fn u64(&mut self) -> u64 {
        let high = self.u32() as u64;
        high << 32 | self.u32() as u64
    }
    #[inline]
    pub fn f64(&mut self) -> f64 {
        let (a, b) = (self.u32() >> 5, self.u32() >> 6);
        (a as f64 * 67_108_864.0 + b as f64) / 9_007_199_254_740_992.0
    }

    /// The twister behind NumPy's interface; nobody else may use it while the result is in use.
    #[inline]
    pub fn bits(&mut self) -> Bits {
        Bits { state: std::ptr::from_mut(self).cast(), next_u64: own::next_u64, next_u32: own::next_u32, next_double: own::next_double, next_raw: own::next_raw }
    }
}

/// The functions of our twister. The state of each is a live one.
mod own {
    use super::{Twister, c_void};
    pub unsafe extern "C" fn next_u64(s: *mut c_void) -> u64 {
        // SAFETY: as said above.
        unsafe { (*s.cast::<Twister>()).u64() }
    }
    pub unsafe extern "C" fn next_u32(s: *mut c_void) -> u32 {
        // SAFETY: as said above.
        unsafe { (*s.cast::<Twister>()).u32() }
    }
    pub unsafe extern "C" fn next_double(s: *mut c_void) -> f64 {
        // SAFETY: as said above.
        unsafe { (*s.cast::<Twister>()).f64() }
    }
    pub unsafe extern "C" fn next_raw(s: *mut c_void) -> u64 {
        // SAFETY: as said above.
        unsafe { (*s.cast::<Twister>()).u32() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twister_is_the_reference_implementation() {
        // The first numbers of the reference implementation's own test: init_by_array of {0x123, 0x234, 0x345, 0x456}.
        let mut t = Twister::new();
        t.seed_by_array(&[0x123, 0x234, 0x345, 0x456]);
        assert_eq!([t.u32(), t.u32(), t.u32(), t.u32(), t.u32()], [1_067_595_299, 955_945_823, 477_289_528, 4_107_218_783, 4_228_976_476]);
        // np.random.seed(5489) is its default seed, whose ten thousandth number is known.
        t.seed(5489);
        assert_eq!((0..10_000).map(|_| t.u32()).last(), Some(4_123_659_995));
    }
}
