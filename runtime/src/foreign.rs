//! Calls of C functions by address.
//!
//! Integers and floats are passed in registers of their own, each kind in its order, on x86-64 (System V) and
//! on AArch64 alike. So a call with all of these registers filled is the right one for every function that
//! takes no more: it reads those that it knows. What follows lies on the stack, a word each, where a function
//! finds what has found no register; words that it does not know are the caller's and harm nobody.

use crate::Native;
use tierup_core::ops::foreign::{FLOATS, Helpers, INTS, STACK};
use tierup_core::rt::P;

type Int = [i64; INTS];
type Real = [f64; FLOATS];
type Stack = [i64; STACK];

macro_rules! of_type {
    ($_any:tt, $t:ty) => {
        $t
    };
}

/// A call with these members of `$i`, `$f` and `$s`.
macro_rules! call {
    ($addr:expr, $ret:ty, $i:ident [$($ik:tt)*], $f:ident [$($fk:tt)*], $s:ident [$($sk:tt)*]) => {{
        type F = unsafe extern "C" fn($(of_type!($ik, i64),)* $(of_type!($fk, f64),)* $(of_type!($sk, i64),)*) -> $ret;
        std::mem::transmute::<usize, F>($addr as usize)($($i[$ik],)* $($f[$fk],)* $($s[$sk],)*)
    }};
}

macro_rules! with_registers {
    ($addr:expr, $ret:ty, $i:ident, $f:ident, $s:ident [$($sk:tt)*]) => {{
        #[cfg(target_arch = "aarch64")]
        let answer = call!($addr, $ret, $i [0 1 2 3 4 5 6 7], $f [0 1 2 3 4 5 6 7], $s [$($sk)*]);
        #[cfg(not(target_arch = "aarch64"))]
        let answer = call!($addr, $ret, $i [0 1 2 3 4 5], $f [0 1 2 3 4 5 6 7], $s [$($sk)*]);
        answer
    }};
}

macro_rules! with_stack {
    ($addr:expr, $ret:ty, $i:ident, $f:ident, $stack:expr, $more:expr) => {
        if $more == 0 {
            with_registers!($addr, $ret, $i, $f, s [])
        } else {
            let s = $stack.cast::<Stack>().read_unaligned();
            if $more <= 8 {
                with_registers!($addr, $ret, $i, $f, s [0 1 2 3 4 5 6 7])
            } else {
                with_registers!($addr, $ret, $i, $f, s [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23])
            }
        }
    };
}

impl Helpers for Native {
    unsafe fn c_call(addr: i64, ints: P, floats: P, stack: P, more: i64, result: i64) -> i64 {
        // SAFETY: the buffers have room for all registers, and for all words of the stack where there are
        // some; what a function does not take may hold anything. The address, and that the function is what
        // its declaration says, is the user's word, as for every call of C.
        unsafe {
            let (i, f) = (ints.cast::<Int>().read_unaligned(), floats.cast::<Real>().read_unaligned());
            match result {
                1 => with_stack!(addr, f64, i, f, stack, more).to_bits() as i64,
                2 => i64::from(with_stack!(addr, f32, i, f, stack, more).to_bits()),
                _ => with_stack!(addr, i64, i, f, stack, more),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn mixed(a: f64, n: i32, b: f32, p: *const i64) -> f64 {
        // SAFETY: the tests pass the address of a number.
        unsafe { a + f64::from(n) + f64::from(b) + *p as f64 }
    }
    unsafe extern "C" fn single(b: f32) -> f32 {
        b * 2.0
    }
    unsafe extern "C" fn whole(n: i64, m: u8) -> i64 {
        n - i64::from(m)
    }
    #[allow(clippy::too_many_arguments)]
    unsafe extern "C" fn many(
        a: i64,
        b: i64,
        c: i64,
        d: i64,
        e: i64,
        f: i64,
        g: i64,
        h: i64,
        p: f64,
        q: f64,
        r: f64,
        s: f64,
        t: f64,
        u: f64,
        v: f64,
        w: f64,
        over: i32,
        x: f64,
        y: f32,
        last: u8,
    ) -> f64 {
        let ints = [a, b, c, d, e, f, g, h].iter().enumerate().map(|(k, n)| (k as i64 + 1) * n).sum::<i64>();
        let floats: f64 =
            [p, q, r, s, t, u, v, w].iter().enumerate().map(|(k, z)| (k as f64 + 1.0) * z).sum();
        ints as f64
            + floats
            + f64::from(over) * 1000.0
            + x * 10000.0
            + f64::from(y) * 1e5
            + f64::from(last) * 1e6
    }

    fn ints(given: &[i64]) -> Int {
        let mut all = [0; INTS];
        all[..given.len()].copy_from_slice(given);
        all
    }

    unsafe fn called(f: usize, i: &Int, r: &Real, more: &[i64], result: i64) -> u64 {
        let mut stack = [0; STACK];
        stack[..more.len()].copy_from_slice(more);
        // SAFETY: the functions take what is passed.
        unsafe {
            Native::c_call(
                f as i64,
                i.as_ptr().cast_mut().cast(),
                r.as_ptr().cast_mut().cast(),
                stack.as_mut_ptr().cast(),
                more.len() as i64,
                result,
            ) as u64
        }
    }

    #[test]
    fn each_kind_of_argument_finds_its_register() {
        let seven = 7i64;
        let low = |x: f32| f64::from_bits(u64::from(x.to_bits()));
        let mut r: Real = [0.0; FLOATS];
        // SAFETY: the functions take what is passed.
        unsafe {
            (r[0], r[1]) = (0.5, low(2.25));
            assert_eq!(
                f64::from_bits(called(
                    mixed as *const () as usize,
                    &ints(&[-3, &raw const seven as i64]),
                    &r,
                    &[],
                    1
                )),
                6.75
            );
            r[0] = low(1.5);
            assert_eq!(
                f32::from_bits(called(single as *const () as usize, &ints(&[]), &r, &[], 2) as u32),
                3.0
            );
            assert_eq!(called(whole as *const () as usize, &ints(&[5, 255]), &r, &[], 0) as i64, -250);
        }
    }

    #[test]
    fn what_finds_no_register_lies_on_the_stack() {
        let r: Real = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let all: Vec<i64> = (1..=8).collect();
        let mut more = all[INTS..].to_vec();
        more.extend([-2, 0.5f64.to_bits() as i64, i64::from(0.25f32.to_bits()), 3]);
        // SAFETY: the function takes what is passed.
        let got =
            f64::from_bits(unsafe { called(many as *const () as usize, &ints(&all[..INTS]), &r, &more, 1) });
        assert_eq!(got, 204.0 + 204.0 - 2000.0 + 5000.0 + 25000.0 + 3e6);
        // More of them than a short call passes.
        more.resize(12, 0);
        // SAFETY: as above; what more there is nobody looks at.
        let again = unsafe { called(many as *const () as usize, &ints(&all[..INTS]), &r, &more, 1) };
        assert_eq!(f64::from_bits(again), got);
    }
}
