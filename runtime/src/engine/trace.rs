//! What the compiler did and when, in the trace event format that Chrome's and Perfetto's viewers open. Off
//! by default; then a question costs one load.
//!
//! Spans are phases on the threads that ran them; instants are moments: a promotion, a loop that went over.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

static ON: AtomicBool = AtomicBool::new(false);
/// The beginning of the trace's time.
static ZERO: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Events that are kept; later ones are dropped, so that a program that compiles without end keeps its
/// memory.
const MOST: usize = 200_000;

struct Event {
    name: String,
    category: &'static str,
    start: Duration,
    took: Option<Duration>,
    thread: i64,
    about: String,
}

#[derive(Default)]
struct Events {
    list: Vec<Event>,
    threads: Vec<(i64, String)>,
}
static EVENTS: Mutex<Events> = Mutex::new(Events { list: vec![], threads: vec![] });

fn events() -> MutexGuard<'static, Events> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn set(on: bool) {
    if on {
        LazyLock::force(&ZERO);
    }
    ON.store(on, Ordering::Release);
}
#[inline]
pub(crate) fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Something that took `took` from `start` on, on this thread.
pub(crate) fn span(name: &str, category: &'static str, start: Instant, took: Duration, about: &str) {
    if on() {
        add(name, category, start, Some(took), about);
    }
}
/// Something that has just happened on this thread.
pub(crate) fn instant(name: &str, category: &'static str, about: &str) {
    if on() {
        add(name, category, Instant::now(), None, about);
    }
}

#[cold]
fn add(name: &str, category: &'static str, start: Instant, took: Option<Duration>, about: &str) {
    // SAFETY: a call without arguments that cannot fail.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    let event = Event {
        name: name.to_owned(),
        category,
        start: start.saturating_duration_since(*ZERO),
        took,
        thread,
        about: about.to_owned(),
    };
    let mut e = events();
    if e.list.len() >= MOST {
        return;
    }
    if !e.threads.iter().any(|t| t.0 == thread) {
        let current = std::thread::current();
        e.threads.push((thread, current.name().unwrap_or("calling thread").to_owned()));
    }
    e.list.push(event);
}

/// Forgets everything, in a forked child.
pub(crate) fn after_fork() {
    match EVENTS.try_lock() {
        Ok(mut e) => *e = Events::default(),
        // Some thread of the parent was adding an event: here nobody will ever let go of the list.
        Err(_) => set(false),
    }
}

/// The trace as JSON.
pub fn json() -> String {
    // Not for ever: see `after_fork`.
    let patience = Instant::now() + Duration::from_secs(1);
    let e = loop {
        match EVENTS.try_lock() {
            Ok(e) => break e,
            Err(std::sync::TryLockError::Poisoned(e)) => break e.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) if Instant::now() > patience => {
                return "{\"traceEvents\":[]}\n".into();
            }
            Err(std::sync::TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    };
    let pid = std::process::id();
    let mut lines = vec![];
    for (thread, name) in &e.threads {
        lines.push(format!("{{\"ph\":\"M\",\"pid\":{pid},\"tid\":{thread},\"name\":\"thread_name\",\"args\":{{\"name\":{}}}}}", quote(name)));
    }
    for x in &e.list {
        let us = |d: Duration| d.as_nanos() as f64 / 1e3;
        let kind = match x.took {
            Some(took) => format!("\"ph\":\"X\",\"dur\":{:.3}", us(took)),
            None => "\"ph\":\"i\",\"s\":\"t\"".to_owned(),
        };
        lines.push(format!(
            "{{{kind},\"name\":{},\"cat\":{},\"ts\":{:.3},\"pid\":{pid},\"tid\":{},\"args\":{{\"function\":{}}}}}", quote(&x.name), quote(x.category), us(x.start), x.thread, quote(&x.about),
        ));
    }
    format!("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", lines.join(",\n"))
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 32 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn text_is_json() {
        assert_eq!(quote("a\"b\\c\nd é"), "\"a\\\"b\\\\c\\u000ad é\"");
    }
}
