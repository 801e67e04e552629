//! What kernels ask of an element type, for every type that an array may have.

use std::cmp::Ordering;

/// A boolean element: any non-zero byte is true, results are 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Bool(pub u8);

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct Complex<T> {
    pub re: T,
    pub im: T,
}

pub(crate) trait Item: Copy + PartialEq + Send + Sync + 'static {
    const ZERO: Self;
    const ONE: Self;
    /// Whether NaN exists among the values.
    const HAS_NAN: bool;
    /// As wide as an element (or as wide as needed), so that a vector of them is made by one comparison.
    type Mask: Copy + std::ops::BitOr<Output = Self::Mask> + Default + PartialEq;
    /// All ones for NaN.
    fn nan_mask(self) -> Self::Mask {
        Self::Mask::default()
    }
    fn truth(self) -> bool;
    fn is_nan(self) -> bool;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `self + a * b`, rounded once where `FUSED` and the type has it: for code of processors that have an
    /// instruction for it.
    #[inline(always)]
    fn add_product<const FUSED: bool>(self, a: Self, b: Self) -> Self {
        self.add(a.mul(b))
    }
    fn conj(self) -> Self {
        self
    }
    /// Order of sorting: NaN is last and equal to itself.
    fn order(self, other: Self) -> Ordering;
    /// Plain comparison of numbers, false with NaN.
    fn less(self, other: Self) -> bool {
        self.order(other) == Ordering::Less
    }
    /// Whether `self` replaces `other` as the minimum: NaN does, and nothing replaces it.
    fn below(self, other: Self) -> bool {
        self.order(other) == Ordering::Less
    }
    /// Whether `self` replaces `other` as the maximum.
    fn above(self, other: Self) -> bool {
        self.order(other) == Ordering::Greater
    }
    /// Whether no number is further from being the minimum, or the maximum: an infinity.
    fn is_worst(self, _max: bool) -> bool {
        false
    }
}

macro_rules! integers { ($($T:ty)*) => {$(impl Item for $T {
    const ZERO: $T = 0;
    const ONE: $T = 1;
    const HAS_NAN: bool = false;
    type Mask = u8;
    #[inline(always)] fn truth(self) -> bool { self != 0 }
    #[inline(always)] fn is_nan(self) -> bool { false }
    #[inline(always)] fn add(self, other: $T) -> $T { self.wrapping_add(other) }
    #[inline(always)] fn mul(self, other: $T) -> $T { self.wrapping_mul(other) }
    #[inline(always)] fn order(self, other: $T) -> Ordering { self.cmp(&other) }
    #[inline(always)] fn less(self, other: $T) -> bool { self < other }
    #[inline(always)] fn below(self, other: $T) -> bool { self < other }
    #[inline(always)] fn above(self, other: $T) -> bool { self > other }
})*}; }
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Item for Bool {
    const ZERO: Bool = Bool(0);
    const ONE: Bool = Bool(1);
    const HAS_NAN: bool = false;
    type Mask = u8;
    #[inline(always)]
    fn truth(self) -> bool {
        self.0 != 0
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn add(self, other: Bool) -> Bool {
        Bool((self.truth() | other.truth()) as u8)
    }
    #[inline(always)]
    fn mul(self, other: Bool) -> Bool {
        Bool((self.truth() & other.truth()) as u8)
    }
    #[inline(always)]
    fn order(self, other: Bool) -> Ordering {
        self.truth().cmp(&other.truth())
    }
    #[inline(always)]
    fn less(self, other: Bool) -> bool {
        !self.truth() & other.truth()
    }
}

macro_rules! floats { ($($T:ident: $M:ident),*) => {$(
impl Item for $T {
    const ZERO: $T = 0.0;
    const ONE: $T = 1.0;
    const HAS_NAN: bool = true;
    type Mask = $M;
    #[inline(always)] fn nan_mask(self) -> $M { if Item::is_nan(self) { !0 } else { 0 } }
    #[inline(always)] fn truth(self) -> bool { self != 0.0 }
    #[inline(always)] fn is_nan(self) -> bool { self.is_nan() }
    #[inline(always)] fn add(self, other: $T) -> $T { self + other }
    #[inline(always)] fn mul(self, other: $T) -> $T { self * other }
    #[inline(always)] fn add_product<const FUSED: bool>(self, a: $T, b: $T) -> $T { if FUSED { a.mul_add(b, self) } else { self + a * b } }
    #[inline(always)] fn order(self, other: $T) -> Ordering { self.partial_cmp(&other).unwrap_or_else(|| self.is_nan().cmp(&other.is_nan())) }
    #[inline(always)] fn less(self, other: $T) -> bool { self < other }
    #[inline(always)] fn below(self, other: $T) -> bool { self < other || self.is_nan() }
    #[inline(always)] fn above(self, other: $T) -> bool { self > other || self.is_nan() }
    fn is_worst(self, max: bool) -> bool { self == if max { $T::NEG_INFINITY } else { $T::INFINITY } }
}
impl Item for Complex<$T> {
    const ZERO: Self = Complex { re: 0.0, im: 0.0 };
    const ONE: Self = Complex { re: 1.0, im: 0.0 };
    const HAS_NAN: bool = true;
    type Mask = $M;
    #[inline(always)] fn nan_mask(self) -> $M { if Item::is_nan(self) { !0 } else { 0 } }
    #[inline(always)] fn truth(self) -> bool { self.re != 0.0 || self.im != 0.0 }
    #[inline(always)] fn is_nan(self) -> bool { self.re.is_nan() || self.im.is_nan() }
    #[inline(always)] fn add(self, other: Self) -> Self { Complex { re: self.re + other.re, im: self.im + other.im } }
    #[inline(always)] fn mul(self, other: Self) -> Self {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
    #[inline(always)] fn conj(self) -> Self { Complex { re: self.re, im: -self.im } }
    /// By the real part, then by the imaginary one; numbers first, then those with a NaN only in the
    /// imaginary part, in the real one, in both.
    fn order(self, other: Self) -> Ordering {
        let class = |z: Self| 2 * z.re.is_nan() as u8 + z.im.is_nan() as u8;
        class(self).cmp(&class(other)).then_with(|| self.re.order(other.re)).then_with(|| self.im.order(other.im))
    }
    fn below(self, other: Self) -> bool { !other.is_nan() && (self.is_nan() || self.order(other) == Ordering::Less) }
    fn above(self, other: Self) -> bool { !other.is_nan() && (self.is_nan() || self.order(other) == Ordering::Greater) }
    fn is_worst(self, max: bool) -> bool { self.re.is_worst(max) && self.im == 0.0 }
}
)*}; }
floats!(f32: u32, f64: u64);

/// Runs an expression with `$T` standing for the element type of a code; `$none` for strings, which arrays do
/// not hold.
macro_rules! with_item {
    ($elem:expr, $T:ident => $e:expr, else $none:expr) => {
        match $elem {
            tierup_core::elem::Elem::Bool => {
                type $T = $crate::array::item::Bool;
                $e
            }
            tierup_core::elem::Elem::I8 => {
                type $T = i8;
                $e
            }
            tierup_core::elem::Elem::I16 => {
                type $T = i16;
                $e
            }
            tierup_core::elem::Elem::I32 => {
                type $T = i32;
                $e
            }
            tierup_core::elem::Elem::I64 => {
                type $T = i64;
                $e
            }
            tierup_core::elem::Elem::U8 => {
                type $T = u8;
                $e
            }
            tierup_core::elem::Elem::U16 => {
                type $T = u16;
                $e
            }
            tierup_core::elem::Elem::U32 => {
                type $T = u32;
                $e
            }
            tierup_core::elem::Elem::U64 => {
                type $T = u64;
                $e
            }
            tierup_core::elem::Elem::F32 => {
                type $T = f32;
                $e
            }
            tierup_core::elem::Elem::F64 => {
                type $T = f64;
                $e
            }
            tierup_core::elem::Elem::C64 => {
                type $T = $crate::array::item::Complex<f32>;
                $e
            }
            tierup_core::elem::Elem::C128 => {
                type $T = $crate::array::item::Complex<f64>;
                $e
            }
            tierup_core::elem::Elem::Str | tierup_core::elem::Elem::Tuple => $none,
        }
    };
}
pub(crate) use with_item;

/// Conversion as `astype` does it; the real part of complex numbers. What an integer does not hold becomes
/// what the processor makes of it, as in compiled code (`core/src/emit/cast.rs`).
pub(crate) trait To<D> {
    fn to(self) -> D;
}

/// Cut to a whole number in 32 bits; the most negative one for what they do not hold.
#[inline(always)]
fn narrow(x: f64) -> i32 {
    if x > i32::MIN as f64 - 1.0 && x < -(i32::MIN as f64) { x as i32 } else { i32::MIN }
}
/// In 64 bits.
#[inline(always)]
fn whole(x: f64) -> i64 {
    if x < HALF { x as i64 } else { i64::MIN }
}
#[inline(always)]
fn unsigned(x: f64) -> u64 {
    if x >= HALF { whole(x - HALF) as u64 ^ 1 << 63 } else { whole(x) as u64 }
}
const HALF: f64 = 9_223_372_036_854_775_808.0;

macro_rules! to_numbers {
    ($S:ty, |$s:ident| int: $i:expr, wide: $w:expr, uint: $u:expr, float: $f:expr, im: $im:expr, truth: $t:expr) => {
        to_numbers!(@ $S, $s, $i; i8 i16 i32 u8 u16);
        to_numbers!(@ $S, $s, $w; i64 u32);
        to_numbers!(@ $S, $s, $u; u64);
        to_numbers!(@ $S, $s, $f; f32 f64);
        impl To<Bool> for $S { #[inline(always)] fn to(self) -> Bool { let $s = self; Bool($t as u8) } }
        impl To<Complex<f32>> for $S { #[inline(always)] fn to(self) -> Complex<f32> { let $s = self; Complex { re: $f as f32, im: $im as f32 } } }
        impl To<Complex<f64>> for $S { #[inline(always)] fn to(self) -> Complex<f64> { let $s = self; Complex { re: $f as f64, im: $im as f64 } } }
    };
    (@ $S:ty, $s:ident, $e:expr; $($D:ty)*) => { $(impl To<$D> for $S { #[inline(always)] fn to(self) -> $D { let $s = self; $e as $D } })* };
}
macro_rules! from_ints { ($($S:ty)*) => { $(to_numbers!($S, |s| int: s, wide: s, uint: s, float: s, im: 0.0, truth: s != 0);)* }; }
from_ints!(i8 i16 i32 i64 u8 u16 u32 u64);
macro_rules! from_floats { ($($S:ty)*) => { $(
    to_numbers!($S, |s| int: narrow(s as f64), wide: whole(s as f64), uint: unsigned(s as f64), float: s, im: 0.0, truth: s != 0.0);
    to_numbers!(Complex<$S>, |s| int: narrow(s.re as f64), wide: whole(s.re as f64), uint: unsigned(s.re as f64), float: s.re, im: s.im, truth: s.re != 0.0 || s.im != 0.0);
)* }; }
from_floats!(f32 f64);
to_numbers!(Bool, |s| int: s.truth() as u8, wide: s.truth() as u8, uint: s.truth() as u8, float: s.truth() as u8, im: 0.0, truth: s.truth());
