//! Reference counts. In debug builds every allocation is counted per thread ([`live`]), so tests can show that
//! nothing leaks.

pub use tierup_core::layout::{release, retain};

#[cfg(debug_assertions)]
thread_local! { static LIVE: std::cell::Cell<i64> = const { std::cell::Cell::new(0) }; }

/// Counts objects made (1) and freed (-1) by this thread; free of cost in release builds.
#[inline]
pub fn count(_delta: i64) {
    #[cfg(debug_assertions)]
    LIVE.with(|c| c.set(c.get() + _delta));
}
/// Objects that this thread made and nobody freed yet, less those that it freed for others; 0 in release
/// builds.
pub fn live() -> i64 {
    #[cfg(debug_assertions)]
    {
        LIVE.with(|c| c.get())
    }
    #[cfg(not(debug_assertions))]
    {
        0
    }
}
