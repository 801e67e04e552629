//! What functions remember that keep their results (`functools.lru_cache`): dicts of a thread's own, so that no
//! lock is taken and no loop in parallel waits for another one.

use super::{D, new};
use crate::Native;
use crate::object::{release, retain};
use std::cell::RefCell;
use std::collections::HashMap;
use tierup_core::desc::TypeDesc;
use tierup_core::ops::functools::Helpers;

/// A dict of results, and the time since which they are remembered.
struct Results {
    time: i64,
    dict: D,
    /// How often it was asked for.
    calls: i64,
}

/// What a function has done since a time.
#[derive(Clone, Copy, Default)]
struct Counts {
    time: i64,
    misses: i64,
}

impl Drop for Results {
    fn drop(&mut self) {
        // SAFETY: the reference is the table's own, and the thread that made the dict ends or forgets it.
        unsafe { release(self.dict.cast()) }
    }
}

/// By the number of the function and the descriptors of its dict, which live for ever.
#[derive(Default)]
struct Functions(HashMap<(i64, usize, usize), Results>);

/// What `functools.lru_cache` tells of this thread's dicts of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub hits: i64,
    pub misses: i64,
    pub size: i64,
}

impl Drop for Functions {
    fn drop(&mut self) {
        // With the first thread the process ends, and Python, to which arrays may belong, is gone.
        // SAFETY: both ask for numbers.
        if unsafe { libc::gettid() == libc::getpid() } {
            std::mem::forget(std::mem::take(&mut self.0));
        }
    }
}

thread_local! {
    static RESULTS: RefCell<Functions> = RefCell::default();
    /// By the number of the function.
    static MISSES: RefCell<HashMap<i64, Counts>> = RefCell::default();
}

/// What the function of that number has done in this thread since that time.
pub fn told(number: i64, time: i64) -> Told {
    let counts = MISSES.with(|all| all.borrow().get(&number).copied().unwrap_or_default());
    let misses = if counts.time == time { counts.misses } else { 0 };
    RESULTS.with(|all| {
        let all = all.borrow();
        let of = all.0.iter().filter(|((n, ..), r)| *n == number && r.time == time);
        let (mut calls, mut size) = (0, 0);
        for (_, r) in of {
            calls += r.calls;
            // SAFETY: the table holds the dict.
            size += unsafe { (*r.dict).len };
        }
        Told { hits: (calls - misses).max(0), misses, size }
    })
}

impl Helpers for Native {
    unsafe fn remembered(
        number: i64,
        time: i64,
        entry: *const TypeDesc,
        key: *const TypeDesc,
        value: *const TypeDesc,
    ) -> D {
        let fresh = || {
            // SAFETY: descriptors live for ever.
            let dict = unsafe { new(&*entry, &*key, &*value) };
            Results { time, dict, calls: 0 }
        };
        let mut old = None;
        let dict = RESULTS.with(|all| {
            let mut all = all.borrow_mut();
            let known = all.0.entry((number, key.addr(), value.addr())).or_insert_with(fresh);
            if known.time != time {
                old = Some(std::mem::replace(known, fresh()));
            }
            known.calls += 1;
            known.dict
        });
        // What is forgotten may be much, and goes when the table is free.
        drop(old);
        // SAFETY: the table holds the dict.
        unsafe { retain(dict.cast()) };
        dict
    }

    unsafe fn remembered_not(number: i64, time: i64) {
        MISSES.with(|all| {
            let mut all = all.borrow_mut();
            let counts = all.entry(number).or_default();
            if counts.time != time {
                *counts = Counts { time, misses: 0 };
            }
            counts.misses += 1;
        });
    }
}
