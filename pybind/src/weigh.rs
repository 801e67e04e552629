//! Whether it pays to carry arguments across: lists, dicts and objects are copied in at each call, and a function that
//! looks up one entry of a large dict costs more than in Python, however fast its code is.
//!
//! Where Python's answer is promised both ways give the same, so both are tried. Calls of compiled code are timed,
//! in whole and the part that the code itself takes; when carrying has cost as much as Python might take for one
//! call, estimated from the code's own time, Python makes one. The quicker way makes the next calls, so many that
//! what it costs to ask again does not count.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What is spent on carrying, in nanoseconds, before anybody asks.
const FREE: u64 = 100_000;
/// Python may take so many times as long as compiled code.
const SLOWER: u64 = 100;
/// A call in so many may be spent on asking.
const SHARE: u64 = 50;
/// Calls that Python makes at least, and at most.
const CALLS: (u64, u64) = (64, 1 << 20);
/// So many calls are timed, then one in [`SAMPLE`].
const FIRST: u32 = 64;
const SAMPLE: u32 = 16;

#[derive(Default)]
pub(crate) struct Weigh {
    /// Calls by now.
    calls: AtomicU32,
    /// Of those that were timed: how many, and what their code took.
    timed: AtomicU64,
    computed: AtomicU64,
    /// What the last ones took in whole. The least of them counts: others may have had the processor meanwhile.
    last: [AtomicU64; 4],
    /// What carrying has cost since Python was tried, and what it may cost.
    spent: AtomicU64,
    budget: AtomicU64,
    try_python: AtomicBool,
    /// What a call took in compiled code and in Python when they were compared last, in nanoseconds, and for how many
    /// calls Python was the quicker way then; 0 each before that.
    compared: [AtomicU64; 3],
}

/// What came out of the last comparison.
pub(crate) struct Compared {
    pub here: Duration,
    pub python: Duration,
    /// So many calls are Python's; none where it is not quicker.
    pub calls: u64,
}

/// A call that is timed: since when.
#[derive(Clone, Copy)]
pub(crate) struct Timed(Instant);

impl Weigh {
    /// Begins a call; none where it is not timed.
    pub(crate) fn begin(&self) -> Option<Timed> {
        let calls = self.calls.fetch_add(1, Relaxed);
        (calls < FIRST || calls.is_multiple_of(SAMPLE)).then(|| Timed(Instant::now()))
    }

    /// Whether the next call is Python's, to see how long it takes.
    pub(crate) fn takes_python(&self) -> bool {
        self.try_python.swap(false, Relaxed)
    }

    /// A call has ended, whose code took that long.
    pub(crate) fn end(&self, since: Timed, code: Duration) {
        let (whole, code) = (nanos(since.0.elapsed()), nanos(code));
        let timed = self.timed.fetch_add(1, Relaxed) + 1;
        self.last[timed as usize % self.last.len()].store(whole.max(1), Relaxed);
        let computed = self.computed.fetch_add(code, Relaxed) + code;
        let stands_for = if self.calls.load(Relaxed) > FIRST { SAMPLE as u64 } else { 1 };
        let carried = whole.saturating_sub(code) * stands_for;
        let spent = self.spent.fetch_add(carried, Relaxed) + carried;
        let enough = FREE.max(SLOWER * (computed / timed)).max(self.budget.load(Relaxed));
        if timed > 1 && spent > enough {
            self.try_python.store(true, Relaxed);
        }
    }

    /// Python has made a call, in that time: for how many calls it is the quicker way; none where it is not.
    pub(crate) fn tried(&self, python: Duration) -> Option<u32> {
        self.timed.store(0, Relaxed);
        // Places that nobody has filled are 0.
        let here = self.last.iter().map(|w| w.swap(0, Relaxed)).filter(|w| *w > 0).min().unwrap_or(0);
        self.computed.store(0, Relaxed);
        self.spent.store(0, Relaxed);
        let python = nanos(python).max(1);
        let quicker = python.saturating_mul(5) <= here.saturating_mul(4);
        let calls = if quicker { (SHARE * here / python).clamp(CALLS.0, CALLS.1) } else { 0 };
        self.compared.iter().zip([here, python, calls]).for_each(|(to, n)| to.store(n, Relaxed));
        if !quicker {
            let budget = self.budget.load(Relaxed).max(FREE);
            self.budget.store(budget.saturating_mul(4), Relaxed);
            return None;
        }
        self.budget.store(0, Relaxed);
        Some(calls as u32)
    }

    /// What came out of the last comparison; none before the first.
    pub(crate) fn compared(&self) -> Option<Compared> {
        let [here, python, calls] = [0, 1, 2].map(|k: usize| self.compared[k].load(Relaxed));
        let (here, python) = (Duration::from_nanos(here), Duration::from_nanos(python));
        (!python.is_zero()).then_some(Compared { here, python, calls })
    }
}

fn nanos(d: Duration) -> u64 {
    d.as_nanos().min(u64::MAX as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(w: &Weigh, whole: u64, code: u64) {
        if let Some(Timed(start)) = w.begin() {
            let since = start.checked_sub(Duration::from_nanos(whole)).expect("a clock that runs");
            w.end(Timed(since), Duration::from_nanos(code));
        }
    }

    #[test]
    fn python_is_tried_when_carrying_has_cost_as_much() {
        let w = Weigh::default();
        for _ in 0..4 {
            assert!(!w.takes_python());
            call(&w, 1_000_000, 100);
        }
        assert!(w.takes_python() && !w.takes_python());
        let calls = w.tried(Duration::from_nanos(100)).expect("Python is quicker");
        assert!(calls as u64 >= SHARE * 1000);
    }

    #[test]
    fn code_that_computes_is_left_alone() {
        let w = Weigh::default();
        for _ in 0..60 {
            call(&w, 2_000_000, 1_900_000);
        }
        assert!(!w.takes_python());
    }

    #[test]
    fn after_a_slow_trial_the_next_one_waits() {
        let w = Weigh::default();
        let until = |w: &Weigh| {
            (1..)
                .take_while(|_| {
                    call(w, 50_000, 10);
                    !w.takes_python()
                })
                .count()
        };
        let first = until(&w);
        assert!(w.compared().is_none());
        assert_eq!(w.tried(Duration::from_millis(1)), None);
        let found = w.compared().expect("they were compared");
        assert!(found.calls == 0 && found.here < found.python && found.python == Duration::from_millis(1));
        assert!(until(&w) > 2 * first);
    }
}
