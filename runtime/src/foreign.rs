//! Calls of C functions by address.
//!
//! Integers and floats are passed in registers of their own, each kind in its order, on x86-64 (System V) and on AArch64 alike. So a call with all of
//! these registers filled is the right one for every function that takes no more: it reads those that it knows.

use crate::Native;
use tierup_core::ops::foreign::Helpers;
use tierup_core::rt::P;

type Int = [i64; 6];
type Real = [f64; 8];

macro_rules! call {
    ($addr:expr, $i:expr, $f:expr, $ret:ty) => {{
        type F = unsafe extern "C" fn(i64, i64, i64, i64, i64, i64, f64, f64, f64, f64, f64, f64, f64, f64) -> $ret;
        let (i, f) = ($i, $f);
        std::mem::transmute::<usize, F>($addr as usize)(i[0], i[1], i[2], i[3], i[4], i[5], f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7])
    }};
}

impl Helpers for Native {
    unsafe fn c_call(addr: i64, ints: P, floats: P, result: i64) -> i64 {
        // SAFETY: the buffers have room for all registers; what a function does not take may hold anything. The address, and that the function is what its
        // declaration says, is the user's word, as for every call of C.
        unsafe {
            let (i, f) = (ints.cast::<Int>().read_unaligned(), floats.cast::<Real>().read_unaligned());
            match result {
                1 => call!(addr, i, f, f64).to_bits() as i64,
                2 => i64::from(call!(addr, i, f, f32).to_bits()),
                _ => call!(addr, i, f, i64),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn mixed(a: f64, n: i32, b: f32, p: *const i64) -> f64 { unsafe { a + f64::from(n) + f64::from(b) + *p as f64 } }
    unsafe extern "C" fn single(b: f32) -> f32 { b * 2.0 }
    unsafe extern "C" fn whole(n: i64, m: u8) -> i64 { n - i64::from(m) }

    #[test]
    fn each_kind_of_argument_finds_its_register() {
        let seven = 7i64;
        let ints: Int = [-3, &raw const seven as i64, 0, 0, 0, 0];
        let low = |x: f32| f64::from_bits(u64::from(x.to_bits()));
        let floats: Real = [0.5, low(2.25), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let (i, f) = (ints.as_ptr().cast_mut().cast(), floats.as_ptr().cast_mut().cast());
        // SAFETY: the functions take what is passed.
        unsafe {
            assert_eq!(f64::from_bits(Native::c_call(mixed as *const () as usize as i64, i, f, 1) as u64), 6.75);
            let one: Real = [low(1.5), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            assert_eq!(f32::from_bits(Native::c_call(single as *const () as usize as i64, i, one.as_ptr().cast_mut().cast(), 2) as u32), 3.0);
            let two: Int = [5, 255, 0, 0, 0, 0];
            assert_eq!(Native::c_call(whole as *const () as usize as i64, two.as_ptr().cast_mut().cast(), f, 0), -250);
        }
    }
}
