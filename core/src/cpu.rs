//! Which processor code is made for: the one it runs on, with all that it can do, or a level of x86-64 that
//! other machines have as well.
//!
//! A setting of the process. Back ends read it when they compile, the run-time's kernels when they choose
//! between their versions; both give the same bits on every level. Where to start: [`Cpu::chosen`].

use std::sync::atomic::{AtomicU8, Ordering};

macro_rules! cpus {
    ($( $(#[doc = $doc:expr])+ $Cpu:ident = $name:literal, )+) => {
        /// A processor, or a level of x86-64 as the psABI numbers them. Levels are ordered: each has what
        /// those before it have.
        #[repr(u8)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cpu { $( $(#[doc = $doc])+ $Cpu, )+ }
        impl Cpu {
            pub const ALL: &[Cpu] = &[$(Cpu::$Cpu),+];
            /// As the psABI and compilers call it.
            pub fn name(self) -> &'static str { match self { $(Cpu::$Cpu => $name,)+ } }
        }
    };
}
cpus! {
    /// SSE4.2 and popcnt: from 2009 on.
    V2 = "x86-64-v2",
    /// AVX2 and FMA: from 2013 on.
    V3 = "x86-64-v3",
    /// AVX-512.
    V4 = "x86-64-v4",
    /// The processor of this machine.
    Native = "native",
}

static CHOSEN: AtomicU8 = AtomicU8::new(Cpu::Native as u8);

impl Cpu {
    /// What the process makes code for.
    #[inline]
    pub fn chosen() -> Cpu {
        Cpu::from_number(CHOSEN.load(Ordering::Relaxed)).unwrap_or(Cpu::Native)
    }
    /// From now on code is made for this one. The machine must have it.
    pub fn choose(self) {
        CHOSEN.store(self as u8, Ordering::Relaxed);
    }
    #[inline]
    pub fn from_number(n: u8) -> Option<Cpu> {
        Self::ALL.get(usize::from(n)).copied()
    }
    pub fn from_name(name: &str) -> Option<Cpu> {
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }
}
