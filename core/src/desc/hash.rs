//! Hashes of values in memory: what tables of the run-time use inside. They are not what `hash(x)` gives, and
//! nobody sees them: containers keep the order in which keys came.
//!
//! A table looks at the upper bits first. Numbers are hashed by one multiplication, which spreads what is in any bit
//! over those above it, and numbers in a row evenly. Compiled code computes the same (`lir/opt/probe.rs`), so a change
//! here is one there. Strings are hashed with a key that each process draws, so that nobody who chooses
//! strings can make them meet in one place.

use super::Key;
use crate::elem::Elem;
use crate::layout::List;
use crate::layout::object::Str;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::Ordering;

/// The 64-bit fraction of the golden ratio: multiples of it lie apart from one another, however many there are.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// How far what is known of the first parts of a value is turned before the next one.
pub(crate) const TURN: u32 = 26;
/// What all NaN are hashed as.
pub(crate) const NAN: u64 = 0x7ff8_0000_0000_0000;

/// The hash of values with one part more. It may be 0, which is that of no entry: see [`entry`].
#[inline(always)]
pub(crate) fn with_part(sum: u64, part: u64) -> u64 {
    (sum.rotate_left(TURN) ^ part).wrapping_mul(GOLDEN)
}

/// What an entry with such a key begins with, which is never 0.
#[inline(always)]
pub fn entry(hash: u64) -> u64 {
    hash | 1
}

/// Spreads what differs in any bit over all bits.
#[inline(always)]
fn mix(x: u64) -> u64 {
    let wide = u128::from(x ^ GOLDEN) * 0xd1b5_4a32_d192_ed03_u128;
    (wide as u64) ^ (wide >> 64) as u64
}

/// The hash of a 64-bit integer.
#[inline(always)]
pub fn integer(x: i64) -> u64 {
    with_part(0, x as u64)
}

/// The hash of two 64-bit integers.
#[inline(always)]
pub fn pair(x: [i64; 2]) -> u64 {
    with_part(with_part(0, x[0] as u64), x[1] as u64)
}

/// The hash of a string.
#[inline(always)]
pub fn of_string(s: &Str) -> u64 {
    with_part(0, string(s))
}

/// The hash of a float.
#[inline(always)]
pub fn float(x: f64) -> u64 {
    with_part(0, float_bits(x))
}

/// Zeros of both signs are one key, and so are all NaN (see [`super::order`]).
#[inline(always)]
fn float_bits(x: f64) -> u64 {
    if x.is_nan() { NAN } else { (x + 0.0).to_bits() }
}

/// A number of whatever type, as others are compared with it: an integer, where it is one, else its real and imaginary
/// part. All NaN are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Whole(i128),
    Other(u64, u64),
}

impl Number {
    fn of_parts(re: f64, im: f64) -> Number {
        // Floats beyond that are no 64-bit integers.
        if im == 0.0 && re.fract() == 0.0 && re.abs() < 1e30 {
            return Number::Whole(re as i128);
        }
        let bits = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { (x + 0.0).to_bits() };
        Number::Other(bits(re), bits(im))
    }
}

/// # Safety
/// A number of that code lies at `at`.
pub(super) unsafe fn number(elem: Elem, at: *const u8) -> Number {
    macro_rules! read {
        ($T:ty) => {
            // SAFETY: as required of the caller.
            (unsafe { at.cast::<$T>().read_unaligned() })
        };
    }
    match elem {
        Elem::Bool => Number::Whole(i128::from(read!(u8) != 0)),
        Elem::I8 => Number::Whole(read!(i8).into()),
        Elem::I16 => Number::Whole(read!(i16).into()),
        Elem::I32 => Number::Whole(read!(i32).into()),
        Elem::I64 => Number::Whole(read!(i64).into()),
        Elem::U8 => Number::Whole(read!(u8).into()),
        Elem::U16 => Number::Whole(read!(u16).into()),
        Elem::U32 => Number::Whole(read!(u32).into()),
        Elem::U64 => Number::Whole(read!(u64).into()),
        Elem::F32 => Number::of_parts(read!(f32).into(), 0.0),
        Elem::F64 => Number::of_parts(read!(f64), 0.0),
        Elem::C64 => {
            let [re, im] = read!([f32; 2]);
            Number::of_parts(re.into(), im.into())
        }
        Elem::C128 => {
            let [re, im] = read!([f64; 2]);
            Number::of_parts(re, im)
        }
        Elem::Str | Elem::Tuple => Number::Other(0, 0),
    }
}

/// What one part adds to the hash of a value. What is of one of several types adds what that does; numbers that are
/// equal add the same.
///
/// # Safety
/// A value with that key lies at `at`.
#[inline]
pub(super) unsafe fn key_part(key: &Key, at: *const u8) -> u64 {
    // SAFETY: as required of the caller: keys of a way lie in the value.
    unsafe {
        if key.ways.is_empty() {
            return leaf_part(key.elem, at.add(key.offset as usize));
        }
        let Some(way) = key.ways.get(key.way(at)) else { return 0 };
        if let Some(only) = way.number() {
            return match number(only.elem, at.add(only.offset as usize)) {
                Number::Whole(x) => x as u64,
                Number::Other(re, im) => complex_part(re, im),
            };
        }
        way.keys.iter().fold(0, |sum, key| with_part(sum, key_part(key, at)))
    }
}

#[inline(always)]
fn complex_part(re: u64, im: u64) -> u64 {
    if im == 0 { re } else { with_part(with_part(0, re), im) }
}

/// # Safety
/// A value of that code lies at `at`.
#[inline(always)]
pub(super) unsafe fn leaf_part(elem: Elem, at: *const u8) -> u64 {
    macro_rules! read {
        ($T:ty) => {
            // SAFETY: as required of the caller.
            (unsafe { at.cast::<$T>().read_unaligned() })
        };
    }
    match elem {
        Elem::Bool => u64::from(read!(u8) != 0),
        Elem::I8 => read!(i8) as u64,
        Elem::I16 => read!(i16) as u64,
        Elem::I32 => read!(i32) as u64,
        Elem::I64 | Elem::U64 => read!(u64),
        Elem::U8 => u64::from(read!(u8)),
        Elem::U16 => u64::from(read!(u16)),
        Elem::U32 => u64::from(read!(u32)),
        Elem::F32 => float_bits(f64::from(read!(f32))),
        Elem::F64 => float_bits(read!(f64)),
        Elem::C64 => {
            let [re, im] = read!([f32; 2]).map(|x| float_bits(x.into()));
            complex_part(re, im)
        }
        Elem::C128 => {
            let [re, im] = read!([f64; 2]).map(float_bits);
            complex_part(re, im)
        }
        Elem::Tuple => {
            let t = read!(*const List);
            // SAFETY: values hold live tuples, whose members are as their descriptor says.
            unsafe {
                let (desc, at) = ((*t).desc, (*t).data.cast_const());
                let hash = |sum: u64, k: i64| with_part(sum, desc.hash(at.offset((k * desc.size) as isize)));
                (0..(*t).len).fold((*t).len as u64, hash)
            }
        }
        Elem::Str => {
            let s = read!(*const Str);
            // SAFETY: values hold live strings.
            string(unsafe { &*s })
        }
    }
}

static KEYED: LazyLock<(RandomState, u64)> = LazyLock::new(|| {
    let state = RandomState::new();
    (state.clone(), state.hash_one(0u8))
});

/// What a string adds to a hash, which it remembers; never 0.
#[inline(always)]
fn string(s: &Str) -> u64 {
    match s.hash.load(Ordering::Relaxed) {
        0 => {
            let found = string_anew(s).max(1);
            // Whichever thread comes first, all find the same.
            s.hash.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    }
}

/// Short strings are mixed word by word, beginning with the key; long ones by the standard library's hash.
fn string_anew(s: &Str) -> u64 {
    let all = bytes_of(s);
    let bytes = all.len();
    let (state, key) = &*KEYED;
    if bytes > 256 {
        let mut hasher = state.build_hasher();
        hasher.write(all);
        return hasher.finish();
    }
    let (words, rest) = all.as_chunks::<8>();
    let mut sum = words
        .iter()
        .fold(mix(*key ^ bytes as u64), |sum, w| mix((sum ^ u64::from_le_bytes(*w)).wrapping_add(*key)));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        sum = mix((sum ^ u64::from_le_bytes(last)).wrapping_add(*key));
    }
    sum
}

fn bytes_of(s: &Str) -> &[u8] {
    // SAFETY: a live string has that many bytes.
    unsafe { std::slice::from_raw_parts(s.data, s.len as usize * s.kind as usize) }
}

/// Whether two strings are equal.
pub fn same_string(a: &Str, b: &Str) -> bool {
    // Equal strings have the same kind: the narrowest that holds their code points.
    std::ptr::eq(a, b) || a.len == b.len && a.kind == b.kind && bytes_of(a) == bytes_of(b)
}
