//! Matches found without Python: by the automata of the crate `regex-automata`, for patterns and texts of which they
//! say what Python's engine says.

use super::program::{Engine, whole};
use crate::host::{Regex, callbacks};
use crate::object::{release, retain};
use regex_automata::meta::Cache;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use tierup_core::layout::{IMMORTAL, Str};
use tierup_core::ops::regexes::How;

/// A pattern that was looked for.
struct Pattern {
    text: Box<[u8]>,
    kind: i64,
    of_bytes: bool,
    flags: i64,
    /// How much was asked of it, in units of a short text.
    asked: AtomicU32,
    engine: OnceLock<Option<Arc<Engine>>>,
}

/// An engine takes as long to make as this many short texts to search: few searches are Python's.
const WORTH: u32 = 16;
/// Bytes of a text that is searched in about the time of a short one.
const SHORT: i64 = 256;
/// So many patterns are kept, as many as Python keeps; so many by each thread.
const MOST: usize = 512;
const RECENT: usize = 8;

static PATTERNS: LazyLock<Mutex<HashMap<Box<[u8]>, Vec<Arc<Pattern>>>>> = LazyLock::new(Default::default);

/// What a thread needs to search for a pattern.
struct Recent {
    pattern: Arc<Pattern>,
    cache: Option<Cache>,
    whole: Option<Cache>,
}

/// A long text that was looked through for characters beyond ASCII. It is held, so that no other lies at its address.
struct Seen {
    text: *mut Str,
    ascii: bool,
}

impl Drop for Seen {
    fn drop(&mut self) {
        // SAFETY: it was retained when it was noted.
        unsafe { release(self.text.cast()) }
    }
}

#[derive(Default)]
struct Thread {
    recent: Vec<Recent>,
    slots: Vec<Option<NonMaxUsize>>,
    seen: Option<Seen>,
}

thread_local! {
    static THREAD: RefCell<Thread> = RefCell::default();
}

impl Pattern {
    fn is(&self, asked: &Regex, text: &[u8], kind: i64) -> bool {
        (self.kind, self.of_bytes, self.flags) == (kind, asked.of_bytes, asked.flags) && *self.text == *text
    }

    fn of(asked: &Regex, text: &[u8], kind: i64) -> Arc<Pattern> {
        let mut all = PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(text).and_then(|same| same.iter().find(|p| p.is(asked, text, kind))) {
            return known.clone();
        }
        if all.len() >= MOST {
            all.clear();
        }
        let new = Arc::new(Pattern {
            text: text.into(),
            kind,
            of_bytes: asked.of_bytes,
            flags: asked.flags,
            asked: AtomicU32::new(0),
            engine: OnceLock::new(),
        });
        all.entry(text.into()).or_default().push(new.clone());
        new
    }

    /// The engine, once it is worth its making.
    fn engine(&self, asked: &Regex, bytes: i64) -> Option<&Engine> {
        if let Some(known) = self.engine.get() {
            return known.as_deref();
        }
        let more = 1 + u32::try_from(bytes / SHORT).unwrap_or(WORTH).min(WORTH);
        if self.asked.fetch_add(more, Ordering::Relaxed).saturating_add(more) < WORTH {
            return None;
        }
        // Outside of the cell: the host may wait for the GIL, whose owner may be at the same pattern.
        let made = (callbacks().regex_program)(asked).and_then(|numbers| Engine::new(&numbers));
        _ = self.engine.set(made);
        self.engine.get().and_then(|e| e.as_deref())
    }
}

/// # Safety
/// A live text.
unsafe fn bytes_of<'a>(s: *mut Str) -> &'a [u8] {
    // SAFETY: as required of the caller: it has `len` units of `kind` bytes; of one without, no byte is read.
    unsafe {
        if (*s).len == 0 {
            &[]
        } else {
            std::slice::from_raw_parts((*s).data, ((*s).len * (*s).kind) as usize)
        }
    }
}

impl Thread {
    fn recent(&mut self, asked: &Regex) -> &mut Recent {
        // SAFETY: the pattern is live.
        let (text, kind) = unsafe { (bytes_of(asked.pattern), (*asked.pattern).kind) };
        match self.recent.iter().position(|r| r.pattern.is(asked, text, kind)) {
            Some(0) => {}
            Some(at) => self.recent[..=at].rotate_right(1),
            None => {
                self.recent.truncate(RECENT - 1);
                self.recent
                    .insert(0, Recent { pattern: Pattern::of(asked, text, kind), cache: None, whole: None });
            }
        }
        &mut self.recent[0]
    }

    /// Whether a text has no character beyond ASCII, without looking through a long one at each match.
    fn is_ascii(&mut self, s: *mut Str, all: &[u8]) -> bool {
        // What stands for a text of Python's lives as long as the call; Python knows this of it.
        if let Some(known) = (callbacks().is_ascii)(s) {
            return known;
        }
        // SAFETY: the text is live while it is searched.
        let counted = unsafe { (*s).obj.refs.load(Ordering::Relaxed) < IMMORTAL / 2 };
        if !counted || (all.len() as i64) < SHORT {
            return all.is_ascii();
        }
        if let Some(seen) = self.seen.as_ref().filter(|seen| seen.text == s) {
            return seen.ascii;
        }
        // SAFETY: as above; it is retained as long as it is noted.
        unsafe { retain(s.cast()) };
        let ascii = all.is_ascii();
        self.seen = Some(Seen { text: s, ascii });
        ascii
    }

    /// The text up to the end of what is searched, with the pattern in front of the recent ones, whose engine is there;
    /// none where the text is Python's.
    fn prepare<'a>(&mut self, asked: &'a Regex) -> Option<&'a [u8]> {
        let text = asked.text;
        // SAFETY: the text is live, as [`find`] requires.
        let (all, len, kind) = unsafe { (bytes_of(text), (*text).len, (*text).kind) };
        let (pos, endpos) = (asked.pos.clamp(0, len), asked.endpos.clamp(0, len));
        if kind != 1 || asked.of_bytes != asked.in_bytes || pos > endpos {
            return None;
        }
        let asks = self.recent(asked).pattern.engine(asked, endpos - pos)?.program.asks;
        let hay = &all[..endpos as usize];
        let of_python = (asks.ends_before_newline && hay.last() == Some(&b'\n'))
            || (asks.not_a_border && hay.is_empty())
            || (asks.words_beyond_ascii && !self.is_ascii(text, all));
        (!of_python).then_some(hay)
    }

    /// As [`find`].
    fn find(&mut self, asked: &Regex, numbers: &mut Vec<i64>) -> Option<bool> {
        let hay = self.prepare(asked)?;
        let Thread { recent, slots, .. } = self;
        let Recent { pattern, cache, whole: whole_cache } = &mut recent[0];
        let engine = pattern.engine.get()?.as_deref()?;
        // What comes behind a match of no length, the engines say by different rules.
        if asked.how == How::Next && engine.least == 0 {
            return None;
        }
        let anchored = matches!(asked.how, How::Match | How::FullMatch);
        let (regex, cache) = match asked.how {
            How::FullMatch => {
                let regex = engine.whole.get_or_init(|| whole(&engine.program.hir)).as_ref()?;
                (regex, whole_cache.get_or_insert_with(|| regex.create_cache()))
            }
            How::Match | How::Search | How::Next => {
                (&engine.regex, cache.get_or_insert_with(|| engine.regex.create_cache()))
            }
        };
        let input = Input::new(hay).span(asked.pos.max(0) as usize..hay.len()).anchored(if anchored {
            Anchored::Yes
        } else {
            Anchored::No
        });
        slots.clear();
        slots.resize(2 * engine.program.groups + 2, None);
        if regex.search_slots_with(cache, &input, slots).is_none() {
            return Some(false);
        }
        // The group that ended last. Each stands once in a pattern that has an engine, and so they end in its order.
        let last = engine.program.ends.iter().rev().find(|&&g| slots[2 * g + 1].is_some());
        numbers.push(last.map_or(-1, |&g| g as i64));
        numbers.extend(slots.iter().map(|s| s.map_or(-1, |at| at.get() as i64)));
        Some(true)
    }
}

/// Looks for a pattern, as the host's `find` says: whether there is a match. None where only Python's engine knows, or
/// where it is not worth another one yet.
///
/// # Safety
/// Both texts are live.
pub(super) unsafe fn find(asked: &Regex, numbers: &mut Vec<i64>) -> Option<bool> {
    // No thread that ends searches any more, and the host, which is asked for a program, may run compiled code: it
    // has Python's engine then.
    THREAD.try_with(|t| t.try_borrow_mut().ok().and_then(|mut t| t.find(asked, numbers))).ok().flatten()
}

/// Whether [`find`] finds all matches of a text, one behind the other.
///
/// # Safety
/// Both texts are live.
pub(super) unsafe fn finds_all(asked: &Regex) -> bool {
    let ours = |t: &mut Thread| {
        t.prepare(asked)?;
        Some(t.recent[0].pattern.engine.get()?.as_deref()?.least > 0)
    };
    THREAD.try_with(|t| ours(&mut *t.try_borrow_mut().ok()?)).ok().flatten().unwrap_or(false)
}
