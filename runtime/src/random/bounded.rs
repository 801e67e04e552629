//! Integers of an interval: by masks and rejection for the legacy functions, by Lemire's multiplication for
//! `Generator`.

use super::bits::Source;
use tierup_core::elem::Elem;

fn mask_of(max: u64) -> u64 {
    if max == 0 { 0 } else { u64::MAX >> max.leading_zeros() }
}

/// Of 0 to `max`, both included; what the legacy functions use, and shuffles of both families.
pub(crate) fn masked(bits: &impl Source, max: u64) -> u64 {
    if max == 0 {
        return 0;
    }
    let mask = mask_of(max);
    loop {
        let x = mask & if max <= u32::MAX as u64 { bits.u32() as u64 } else { bits.u64() };
        if x <= max {
            return x;
        }
    }
}

/// Of 0 to `max`, both included; what `Generator.integers` and `choice` use.
fn lemire(bits: &impl Source, max: u64) -> u64 {
    match max {
        0 => 0,
        0xffff_ffff => bits.u32() as u64,
        m if m < u32::MAX as u64 => lemire32(bits, m as u32) as u64,
        u64::MAX => bits.u64(),
        m => lemire64(bits, m),
    }
}

fn lemire32(bits: &impl Source, max: u32) -> u32 {
    let n = max + 1;
    let mut m = bits.u32() as u64 * n as u64;
    if (m as u32) < n {
        let threshold = (u32::MAX - max) % n;
        while (m as u32) < threshold {
            m = bits.u32() as u64 * n as u64;
        }
    }
    (m >> 32) as u32
}

fn lemire64(bits: &impl Source, max: u64) -> u64 {
    let n = max + 1;
    let mut m = bits.u64() as u128 * n as u128;
    if (m as u64) < n {
        let threshold = (u64::MAX - max) % n;
        while (m as u64) < threshold {
            m = bits.u64() as u128 * n as u128;
        }
    }
    (m >> 64) as u64
}

/// Bits that are dealt out in bytes or half words, lowest first.
#[derive(Default)]
struct Buffer {
    bits: u32,
    left: u32,
}
impl Buffer {
    fn take(&mut self, source: &impl Source, width: u32) -> u32 {
        if self.left == 0 {
            self.bits = source.u32();
            self.left = 32 / width - 1;
        } else {
            self.bits >>= width;
            self.left -= 1;
        }
        self.bits & (u32::MAX >> (32 - width))
    }
    /// Of 0 to `max`, which has `width` bits: 8 or 16.
    fn bounded(&mut self, source: &impl Source, max: u32, width: u32, legacy: bool) -> u32 {
        let whole = u32::MAX >> (32 - width);
        if max == 0 {
            return 0;
        }
        if max == whole {
            return self.take(source, width);
        }
        if legacy {
            let mask = mask_of(max as u64) as u32;
            loop {
                let x = self.take(source, width) & mask;
                if x <= max {
                    return x;
                }
            }
        }
        let n = max + 1;
        let mut m = self.take(source, width) * n;
        if m & whole < n {
            let threshold = (whole - max) % n;
            while m & whole < threshold {
                m = self.take(source, width) * n;
            }
        }
        m >> width
    }
}

/// Fills `n` elements with integers of `low` to `low + range`, both included; `ends` gives both for an
/// element.
///
/// # Safety
/// `out` has room for `n` elements of that type, which is an integer's or bool.
pub(crate) unsafe fn fill(
    bits: &impl Source,
    elem: Elem,
    ends: impl Fn(usize) -> (u64, u64),
    legacy: bool,
    n: usize,
    out: *mut u8,
) {
    let mut buffer = Buffer::default();
    // SAFETY: as required of the caller.
    unsafe {
        for i in 0..n {
            let (low, range) = ends(i);
            match elem {
                // Bits are taken from a whole word.
                Elem::Bool => *out.add(i) = if range == 0 { low as u8 } else { buffer.take(bits, 1) as u8 },
                Elem::I8 | Elem::U8 => {
                    *out.add(i) =
                        (low as u8).wrapping_add(buffer.bounded(bits, range as u32, 8, legacy) as u8)
                }
                Elem::I16 | Elem::U16 => {
                    *out.cast::<u16>().add(i) =
                        (low as u16).wrapping_add(buffer.bounded(bits, range as u32, 16, legacy) as u16)
                }
                Elem::I32 | Elem::U32 => {
                    *out.cast::<u32>().add(i) = (low as u32).wrapping_add(word(bits, range, legacy) as u32)
                }
                Elem::I64
                | Elem::U64
                | Elem::F32
                | Elem::F64
                | Elem::C64
                | Elem::C128
                | Elem::Str
                | Elem::Tuple => *out.cast::<u64>().add(i) = low.wrapping_add(word(bits, range, legacy)),
            }
        }
    }
}

fn word(bits: &impl Source, range: u64, legacy: bool) -> u64 {
    if legacy { masked(bits, range) } else { lemire(bits, range) }
}
