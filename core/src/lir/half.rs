//! Floats of 16 bits, which only kernels have: what they are as floats of 32, in numbers and as instructions of a
//! CPU that knows none.

use super::inst::Op;
use super::ty::Ty;

/// Bits from which on a float of 32 bits is too large for 16.
const TOO_LARGE: u32 = (127 + 16) << 23;
/// Bits below which its exponent is too small.
const SMALL: u32 = 113 << 23;
/// Added to a small one it leaves the bits of 16 at the end.
const MAGIC: u32 = ((127 - 15) + (23 - 10) + 1) << 23;
const INFINITY: u32 = 255 << 23;
/// 2^112, the distance of the exponents.
const SCALE: u32 = (127 + 112) << 23;

/// The float with the value of these bits.
pub fn to_float(bits: u16) -> f32 {
    let whole = u32::from(bits);
    let size = (whole & 0x7fff) << 13;
    let scaled = (f32::from_bits(size) * f32::from_bits(SCALE)).to_bits();
    let special = if size >= 31 << 23 { INFINITY } else { 0 };
    f32::from_bits(scaled | special | (whole & 0x8000) << 16)
}

/// The bits of the nearest float of 16 bits, ties to even.
pub fn from_float(x: f32) -> u16 {
    let bits = x.to_bits();
    let (sign, size) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    let made = if size >= TOO_LARGE {
        if size > INFINITY { 0x7e00 } else { 0x7c00 }
    } else if size < SMALL {
        (f32::from_bits(size) + f32::from_bits(MAGIC)).to_bits().wrapping_sub(MAGIC)
    } else {
        size.wrapping_add(REBIAS).wrapping_add(size >> 13 & 1) >> 13
    };
    (made | sign) as u16
}

/// The other exponent, and nearly half of what is cut off.
const REBIAS: u32 = (15u32.wrapping_sub(127) << 23).wrapping_add(0xfff);

/// What instructions are put with.
pub(crate) struct Write<'a, V> {
    pub op: &'a mut dyn FnMut(Op, Ty, &[V]) -> V,
}

impl<V: Copy> Write<'_, V> {
    fn two(&mut self, op: Op, a: V, b: V) -> V {
        (self.op)(op, Ty::I32, &[a, b])
    }
    fn float(&mut self, bits: V) -> V {
        (self.op)(Op::Bitcast, Ty::F32, &[bits])
    }
    fn bits(&mut self, float: V) -> V {
        (self.op)(Op::Bitcast, Ty::I32, &[float])
    }

    /// [`to_float`] but for the last instruction, a `bitcast` of what this gives. `n` makes constants.
    pub(crate) fn to_float(&mut self, bits: V, n: &mut dyn FnMut(u32) -> V) -> V {
        let whole = (self.op)(Op::Zext, Ty::I32, &[bits]);
        let size = self.two(Op::Band, whole, n(0x7fff));
        let size = self.two(Op::Ishl, size, n(13));
        let (float, scale) = (self.float(size), n(SCALE));
        let scale = self.float(scale);
        let scaled = (self.op)(Op::Fmul, Ty::F32, &[float, scale]);
        let scaled = self.bits(scaled);
        let ordinary = self.two(Op::IcmpUlt, size, n(31 << 23));
        let special = (self.op)(Op::Select, Ty::I32, &[ordinary, n(0), n(INFINITY)]);
        let sign = self.two(Op::Band, whole, n(0x8000));
        let sign = self.two(Op::Ishl, sign, n(16));
        let made = self.two(Op::Bor, scaled, special);
        self.two(Op::Bor, made, sign)
    }

    /// [`from_float`] but for the last instruction, an `itrunc` of what this gives.
    pub(crate) fn from_float(&mut self, x: V, n: &mut dyn FnMut(u32) -> V) -> V {
        let bits = self.bits(x);
        let sign = self.two(Op::Ushr, bits, n(16));
        let sign = self.two(Op::Band, sign, n(0x8000));
        let size = self.two(Op::Band, bits, n(0x7fff_ffff));
        let is_number = self.two(Op::IcmpUle, size, n(INFINITY));
        let large = (self.op)(Op::Select, Ty::I32, &[is_number, n(0x7c00), n(0x7e00)]);
        let (float, magic) = (self.float(size), n(MAGIC));
        let shift = self.float(magic);
        let sum = (self.op)(Op::Fadd, Ty::F32, &[float, shift]);
        let sum = self.bits(sum);
        let small = self.two(Op::Isub, sum, magic);
        let last = self.two(Op::Ushr, size, n(13));
        let last = self.two(Op::Band, last, n(1));
        let made = self.two(Op::Iadd, size, n(REBIAS));
        let made = self.two(Op::Iadd, made, last);
        let made = self.two(Op::Ushr, made, n(13));
        let is_small = self.two(Op::IcmpUlt, size, n(SMALL));
        let made = (self.op)(Op::Select, Ty::I32, &[is_small, small, made]);
        let fits = self.two(Op::IcmpUlt, size, n(TOO_LARGE));
        let made = (self.op)(Op::Select, Ty::I32, &[fits, made, large]);
        self.two(Op::Bor, made, sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float_of_16_bits_comes_back() {
        for bits in 0..=u16::MAX {
            let x = to_float(bits);
            if x.is_nan() {
                assert!(bits & 0x7fff > 0x7c00 && to_float(from_float(x)).is_nan());
                continue;
            }
            assert_eq!(from_float(x), bits, "{bits:#x}");
            // The middle to the next one goes to the even one, what lies beside it to the nearer one.
            let next = to_float(bits.wrapping_add(1));
            if bits & 0x7fff < 0x7bff {
                let middle = (x + next) / 2.0;
                let even = if bits & 1 == 0 { bits } else { bits + 1 };
                assert_eq!(from_float(middle), even, "{bits:#x}");
                assert_eq!(from_float(f32::from_bits(middle.to_bits() - 1)), bits, "{bits:#x}");
                assert_eq!(from_float(f32::from_bits(middle.to_bits() + 1)), bits + 1, "{bits:#x}");
            }
        }
        assert_eq!((from_float(65519.996), from_float(65520.0), from_float(1e30)), (0x7bff, 0x7c00, 0x7c00));
        assert_eq!(
            (to_float(0x3c00), to_float(1), to_float(0xfc00)),
            (1.0, 2f32.powi(-24), f32::NEG_INFINITY)
        );
    }
}
