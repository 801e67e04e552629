//! What the processor has noted about operations on floats. NumPy reads it after the loops of a ufunc, and
//! warns or raises as `np.errstate` says.
//!
//! Elementary functions (`tierup_core::math`) have no branches: they compute on with operands that are NaN or
//! infinite, and choose the answer in the end. So they leave marks that the operation is not to blame for,
//! and `exp(nan)` would warn. After a loop that calls such functions what is new among the marks is judged by
//! operands and results.

use std::ops::BitOr;

/// A set of marks, as the processor keeps them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks(u32);

impl BitOr for Marks {
    type Output = Marks;
    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

#[cfg(target_arch = "x86_64")]
mod cpu {
    pub(crate) const INVALID: u32 = 1;
    pub(crate) const DIVIDED: u32 = 4;
    pub(crate) const OVERFLOW: u32 = 8;
    pub(crate) const UNDERFLOW: u32 = 16;

    pub(crate) fn read() -> u32 {
        let mut word = 0u32;
        // SAFETY: stores the control and status word of vector registers.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    /// Takes marks away.
    pub(crate) fn clear(marks: u32) {
        let word = read() & !marks;
        // SAFETY: the word differs from the one that is there only by marks.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags))
        };
    }
}

#[cfg(target_arch = "aarch64")]
mod cpu {
    pub(crate) const INVALID: u32 = 1;
    pub(crate) const DIVIDED: u32 = 2;
    pub(crate) const OVERFLOW: u32 = 4;
    pub(crate) const UNDERFLOW: u32 = 8;

    pub(crate) fn read() -> u32 {
        let word: u64;
        // SAFETY: reads the status register of floats.
        unsafe { std::arch::asm!("mrs {}, fpsr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word as u32
    }

    /// Takes marks away.
    pub(crate) fn clear(marks: u32) {
        let word = u64::from(read() & !marks);
        // SAFETY: the word differs from the one that is there only by marks.
        unsafe { std::arch::asm!("msr fpsr, {}", in(reg) word, options(nomem, nostack, preserves_flags)) };
    }
}

impl Marks {
    pub(crate) const NONE: Marks = Marks(0);
    pub(crate) const INVALID: Marks = Marks(cpu::INVALID);
    /// A division by zero, or a value that is infinite by a finite operand.
    pub(crate) const INFINITE: Marks = Marks(cpu::DIVIDED | cpu::OVERFLOW);
    const ALL: Marks = Marks(cpu::INVALID | cpu::DIVIDED | cpu::OVERFLOW | cpu::UNDERFLOW);

    pub(crate) fn now() -> Marks {
        Marks(cpu::read() & Marks::ALL.0)
    }

    /// Runs something; of the marks that are new after it, `credible` says which to keep.
    pub(crate) fn judged(body: impl FnOnce(), credible: impl FnOnce() -> Marks) {
        let before = Marks::now();
        body();
        let new = Marks::now().0 & !before.0;
        if new != 0 {
            cpu::clear(new & !credible().0);
        }
    }

    /// Those that nobody doubts.
    pub(crate) fn every() -> Marks {
        Marks::ALL
    }
}

/// What numbers in memory may be: NaN, infinite.
#[derive(Clone, Copy, Default)]
pub(crate) struct Special {
    pub nan: bool,
    pub infinite: bool,
}

/// The floats that an element consists of: none, one, or the two of a complex number.
#[derive(Clone, Copy)]
pub(crate) struct Floats {
    pub count: u8,
    pub bytes: u8,
}

impl Floats {
    /// # Safety
    /// `at` is such an element.
    pub(crate) unsafe fn special(self, at: *const u8) -> Special {
        let mut found = Special::default();
        for k in 0..usize::from(self.count) {
            // SAFETY: as required of the caller.
            let x = unsafe {
                if self.bytes == 4 {
                    f64::from(at.cast::<f32>().add(k).read_unaligned())
                } else {
                    at.cast::<f64>().add(k).read_unaligned()
                }
            };
            found.nan |= x.is_nan();
            found.infinite |= x.is_infinite();
        }
        found
    }
}
