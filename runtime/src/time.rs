//! Clocks, read as CPython reads them, so that readings compare with those taken in Python.

use crate::Native;
use crate::exc::{Error, Res, or_raise};
use tierup_core::ops::time::Helpers;
use tierup_core::rt::Ctx;

#[cfg(unix)]
fn clock(id: libc::clockid_t) -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is writable; the clocks asked for exist on every system that CPython runs on.
    unsafe { libc::clock_gettime(id, &mut t) };
    t.tv_sec as i64 * 1_000_000_000 + t.tv_nsec as i64
}

/// Seconds since 1970.
pub(crate) fn unix_seconds() -> i64 {
    clock(libc::CLOCK_REALTIME).div_euclid(1_000_000_000)
}

/// What clocks on the wall show, as seconds since 1970.
pub(crate) fn local(unix: i64) -> Res<i64> {
    let mut tm = std::mem::MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both are valid for the call; where it fails the zeroed value is not used.
    let offset = unsafe {
        if libc::localtime_r(&unix, tm.as_mut_ptr()).is_null() {
            return Err(Error::overflow("timestamp out of range for platform time_t"));
        }
        tm.assume_init().tm_gmtoff
    };
    Ok(unix + offset)
}

/// What clocks on the wall show now, as microseconds since 1970.
pub(crate) fn local_micros() -> Res<i64> {
    let ns = clock(libc::CLOCK_REALTIME);
    Ok(local(ns.div_euclid(1_000_000_000))? * 1_000_000 + ns.rem_euclid(1_000_000_000) / 1000)
}

fn seconds(ns: i64) -> f64 {
    ns as f64 * 1e-9
}

/// Sleeps in slices, so that Ctrl-C is noticed.
///
/// # Safety
/// `ctx` is the live context of this thread.
unsafe fn sleep(ctx: Ctx, s: f64) -> Res<()> {
    if s.is_nan() {
        return Err(Error::value("Invalid value NaN (not a number)"));
    }
    if s < 0.0 {
        return Err(Error::value("sleep length must be non-negative"));
    }
    let length = std::time::Duration::try_from_secs_f64(s)
        .map_err(|_| Error::overflow("timestamp out of range for platform time_t"))?;
    if length.as_secs() > i64::MAX as u64 / 1_000_000_000 {
        return Err(Error::overflow("timestamp too large to convert to C PyTime_t"));
    }
    let (start, slice) = (std::time::Instant::now(), std::time::Duration::from_millis(50));
    while let Some(left) = length.checked_sub(start.elapsed()).filter(|d| !d.is_zero()) {
        std::thread::sleep(left.min(slice));
        // SAFETY: as required of the caller, the context is this thread's.
        unsafe {
            <Native as tierup_core::ops::object::Helpers>::poll_interrupt(ctx);
            if !(*ctx).pending.is_null() {
                return Ok(());
            }
        }
    }
    Ok(())
}

impl Helpers for Native {
    unsafe fn time_perf_counter() -> f64 {
        seconds(clock(libc::CLOCK_MONOTONIC))
    }
    unsafe fn time_perf_counter_ns() -> i64 {
        clock(libc::CLOCK_MONOTONIC)
    }
    unsafe fn time_time() -> f64 {
        seconds(clock(libc::CLOCK_REALTIME))
    }
    unsafe fn time_time_ns() -> i64 {
        clock(libc::CLOCK_REALTIME)
    }
    unsafe fn time_thread_ns() -> i64 {
        clock(libc::CLOCK_THREAD_CPUTIME_ID)
    }
    unsafe fn time_process_ns() -> i64 {
        clock(libc::CLOCK_PROCESS_CPUTIME_ID)
    }
    unsafe fn time_sleep(ctx: Ctx, seconds: f64) {
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, sleep(ctx, seconds)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Raised, with_ctx};

    #[test]
    fn clocks_advance_and_sleeping_takes_time() {
        // SAFETY: the context is live.
        with_ctx(|ctx| unsafe {
            let (a, wall) = (Native::time_perf_counter_ns(), Native::time_time());
            Native::time_sleep(ctx, 0.002);
            let b = Native::time_perf_counter_ns();
            assert!(b - a >= 2_000_000, "{}", b - a);
            assert!((Native::time_perf_counter() - seconds(b)).abs() < 10.0);
            assert!(wall > 1.6e9 && Native::time_time_ns() > 1_600_000_000_000_000_000);
            assert!(Native::time_process_ns() > 0);
        });
    }

    #[test]
    fn bad_lengths_raise_and_an_interrupt_ends_the_sleep() {
        // SAFETY: the context is live.
        with_ctx(|ctx| unsafe {
            Native::time_sleep(ctx, -1.0);
            assert_eq!(Raised::take(ctx), Raised::new("ValueError", "sleep length must be non-negative"));
            Native::time_sleep(ctx, f64::NAN);
            assert_eq!(Raised::take(ctx), Raised::new("ValueError", "Invalid value NaN (not a number)"));
            Native::time_sleep(ctx, 1e300);
            assert_eq!(Raised::take(ctx).class, "OverflowError");
            tierup_core::layout::ThreadCtx::polls(ctx).ask_for_poll(tierup_core::layout::POLL_SIGNALS);
            Native::time_sleep(ctx, 1000.0);
            assert_eq!(Raised::take(ctx).class, "KeyboardInterrupt");
        });
    }
}
