//! Accesses to memory that other threads see at once.

use crate::Native;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst, fence};
use tierup_core::ops::atomics::{Helpers, UPDATES};
use tierup_core::rt::P;

/// What an update makes of what is there; both are numbers of `width` bytes with the rest of their bits as
/// the program has them.
fn updated(op: &str, old: u64, new: u64, width: u32) -> u64 {
    let unused = 64 - 8 * width;
    let signed = |x: u64| (x << unused) as i64 >> unused;
    let plain = |x: u64| x << unused >> unused;
    let float = |of: fn(f64, f64) -> f64| match width {
        4 => {
            let (a, b) = (f32::from_bits(old as u32), f32::from_bits(new as u32));
            // Sums of two narrow floats are the same when they are rounded twice.
            u64::from((of(f64::from(a), f64::from(b)) as f32).to_bits())
        }
        _ => of(f64::from_bits(old), f64::from_bits(new)).to_bits(),
    };
    match op {
        "xchg" => new,
        "add" => old.wrapping_add(new),
        "sub" => old.wrapping_sub(new),
        "and" => old & new,
        "nand" => !(old & new),
        "or" => old | new,
        "xor" => old ^ new,
        "max" => signed(old).max(signed(new)) as u64,
        "min" => signed(old).min(signed(new)) as u64,
        "umax" => plain(old).max(plain(new)),
        "umin" => plain(old).min(plain(new)),
        "fadd" => float(|a, b| a + b),
        "fsub" => float(|a, b| a - b),
        _ => old,
    }
}

macro_rules! with_width {
    ($width:expr, $at:ident as $T:ident => $body:expr) => {
        match $width {
            1 => {
                type $T = u8;
                // SAFETY: as the helper's caller says of the address.
                let $at = unsafe { AtomicU8::from_ptr($at) };
                $body
            }
            2 => {
                type $T = u16;
                // SAFETY: as above.
                let $at = unsafe { AtomicU16::from_ptr($at.cast()) };
                $body
            }
            4 => {
                type $T = u32;
                // SAFETY: as above.
                let $at = unsafe { AtomicU32::from_ptr($at.cast()) };
                $body
            }
            _ => {
                type $T = u64;
                // SAFETY: as above.
                let $at = unsafe { AtomicU64::from_ptr($at.cast()) };
                $body
            }
        }
    };
}

impl Helpers for Native {
    unsafe fn atomic_update(op: i64, at: P, bits: i64, width: i64) -> i64 {
        let op = UPDATES.get(op as usize).copied().unwrap_or("load");
        // That the address is one of such a number, aligned, is the word of whoever wrote the generator.
        with_width!(width, at as T => {
            if op == "load" {
                return u64::from(at.load(SeqCst)) as i64;
            }
            let make = |old: T| updated(op, u64::from(old), bits as u64, size_of::<T>() as u32) as T;
            let mut old = at.load(SeqCst);
            while let Err(now) = at.compare_exchange_weak(old, make(old), SeqCst, SeqCst) {
                old = now;
            }
            u64::from(old) as i64
        })
    }

    unsafe fn atomic_compare(at: P, expected: i64, new: i64, width: i64) -> i64 {
        with_width!(width, at as T => {
            let (Ok(old) | Err(old)) = at.compare_exchange(expected as T, new as T, SeqCst, SeqCst);
            u64::from(old) as i64
        })
    }

    unsafe fn atomic_fence() {
        fence(SeqCst);
    }

    unsafe fn memory_barrier() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_of_their_width() {
        assert_eq!(updated("max", 0xFF, 1, 1) as u8, 1);
        assert_eq!(updated("umax", 0xFF, 1, 1) as u8, 0xFF);
        assert_eq!(updated("min", 5, (-3_i64) as u64, 8) as i64, -3);
        assert_eq!(updated("nand", 6, 3, 4) as u32, !2);
        let x = f64::from_bits(updated("fadd", 1.5_f64.to_bits(), 2.0_f64.to_bits(), 8));
        assert!((x - 3.5).abs() < f64::EPSILON);
    }

    #[test]
    fn what_was_there_is_given() {
        let mut x = 40_i32;
        let at = std::ptr::from_mut(&mut x).cast();
        // SAFETY: the address of a number of four bytes.
        unsafe {
            assert_eq!(Native::atomic_update(1, at, 2, 4), 40);
            assert_eq!(Native::atomic_update(13, at, 0, 4), 42);
            assert_eq!(Native::atomic_compare(at, 42, -1, 4), 42);
            assert_eq!(Native::atomic_compare(at, 42, 7, 4) as i32, -1);
        }
        assert_eq!(x, -1);
    }
}
