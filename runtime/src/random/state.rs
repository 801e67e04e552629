//! The streams of `np.random` and `random` in compiled code: one of each in every thread, apart from the
//! interpreter's own. They begin with entropy of the system.
//!
//! A forked child begins anew, as Python's own does, or all workers of a pool would draw the same numbers.
//! The numbers of a parallel loop belong to its chunks, so that they do not depend on which thread runs what:
//! whoever runs a chunk puts [`in_chunk`] around it, and seeds come from [`region_seed`].

use super::bits::Twister;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering};
use tierup_core::layout::{KEPT_STREAM_WORDS, WordStream};

/// A twister and the second number of a pair of normal ones.
pub(crate) struct Stream {
    pub twister: Twister,
    pub spare: Option<f64>,
    origin: Origin,
}

/// Where a stream that nobody has drawn from yet will begin.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    System,
    Chunk([u64; 3]),
    Begun,
}

impl Stream {
    const fn new() -> Stream {
        Stream { twister: Twister::new(), spare: None, origin: Origin::System }
    }

    /// Begins with entropy of the system, when somebody draws from it: compiled code finds nothing ready.
    fn forget(&mut self) {
        self.origin = Origin::System;
        self.twister.forget_ready();
    }

    #[cold]
    fn begin(&mut self, which: u32) {
        self.spare = None;
        match self.origin {
            Origin::System => {
                let mut words = [0u32; 16];
                entropy(&mut words);
                self.twister.seed_by_array(&words);
            }
            Origin::Chunk(parts) => {
                let mut words = [which; 7];
                for (i, p) in parts.iter().enumerate() {
                    (words[2 * i], words[2 * i + 1]) = (*p as u32, (*p >> 32) as u32);
                }
                self.twister.seed_by_array(&words);
            }
            Origin::Begun => {}
        }
        self.origin = Origin::Begun;
    }
}

fn entropy(words: &mut [u32; 16]) {
    use std::io::Read;
    let mut bytes = [0u8; 64];
    if std::fs::File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes)).is_err() {
        // No such device: what the standard library hashes with, and the time.
        use std::hash::{BuildHasher, Hasher, RandomState};
        for b in bytes.chunks_mut(8) {
            let mut h = RandomState::new().build_hasher();
            h.write_u128(std::time::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_nanos()));
            b.copy_from_slice(&h.finish().to_le_bytes());
        }
    }
    for (w, b) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *w = u32::from_le_bytes(*b);
    }
}

struct Streams {
    of: [Stream; 2],
    epoch: u32,
}

/// Which stream.
pub(crate) const NUMPY: usize = 0;
pub(crate) const PYTHON: usize = 1;

static EPOCH: AtomicU32 = AtomicU32::new(0);

/// Whose the streams are: what is dropped leaves no address behind.
struct Owner(Option<Box<Streams>>);
impl Drop for Owner {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|c| c.set(std::ptr::null_mut()));
    }
}

thread_local! {
    // A number is a few instructions away from its stream: an address needs no destructor and is borrowed by
    // nobody.
    static CURRENT: Cell<*mut Streams> = const { Cell::new(std::ptr::null_mut()) };
    static OWNER: RefCell<Owner> = const { RefCell::new(Owner(None)) };
}

/// Makes these the thread's streams; gives those that were.
fn replace(new: Option<Box<Streams>>) -> Option<Box<Streams>> {
    OWNER.with(|owner| {
        let old = std::mem::replace(&mut owner.borrow_mut().0, new);
        CURRENT.set(owner.borrow_mut().0.as_deref_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut));
        old
    })
}

/// The thread's streams, new where there are none or where the process is a child of the one that made them.
#[cold]
fn renew() {
    let epoch = EPOCH.load(Ordering::Relaxed);
    // SAFETY: the address is that of the owner's streams, and nobody uses them now.
    if let Some(all) = unsafe { CURRENT.get().as_mut() } {
        for s in &mut all.of {
            s.forget();
        }
        all.epoch = epoch;
    } else {
        replace(Some(Box::new(Streams { of: [Stream::new(), Stream::new()], epoch })));
    }
}

/// In a forked child: every stream begins anew. Code that is under way here has the address of this thread's.
pub(crate) fn after_fork() {
    EPOCH.fetch_add(1, Ordering::Relaxed);
    if !CURRENT.get().is_null() {
        renew();
    }
}

/// Where compiled code reads words of one of this thread's streams. The address holds for as long as the
/// thread is in the function that asked, since parallel regions put the streams back that they take away.
pub(crate) fn stream(which: usize) -> *mut WordStream {
    if CURRENT.get().is_null() {
        renew();
    }
    // SAFETY: the address is that of the owner's streams, and nobody uses them now.
    unsafe { (&mut (*CURRENT.get()).of)[which].twister.stream() }
}

/// Runs `f` with one of this thread's streams; `f` asks for no stream itself.
#[inline]
pub(crate) fn with<R>(which: usize, f: impl FnOnce(&mut Stream) -> R) -> R {
    let mut all = CURRENT.get();
    // SAFETY: the address is null or that of the owner's streams, which nobody else has while `f` runs.
    unsafe {
        if all.is_null() || (*all).epoch != EPOCH.load(Ordering::Relaxed) {
            renew();
            all = CURRENT.get();
        }
        let stream = &mut (&mut (*all).of)[which];
        if stream.origin != Origin::Begun {
            stream.begin(which as u32);
        }
        f(stream)
    }
}

/// Begins a stream anew: `np.random.seed(n)` and `random.seed(n)`.
pub(crate) fn seed(which: usize, seed: Option<i64>) {
    if seed.is_none() {
        // SAFETY: null or the owner's streams, which nobody uses now.
        if let Some(all) = unsafe { CURRENT.get().as_mut() } {
            all.of[which].forget();
        }
    }
    with(which, |s| {
        s.spare = None;
        match seed {
            None => {}
            Some(n) if which == NUMPY => s.twister.seed(n as u32),
            Some(n) => {
                let n = n.unsigned_abs();
                let words = [n as u32, (n >> 32) as u32];
                s.twister.seed_by_array(if words[1] == 0 { &words[..1] } else { &words });
            }
        }
    });
}

/// Begins any stream as NumPy begins its own.
pub(crate) fn seed_as_numpy(which: usize, seed: u32) {
    with(which, |s| {
        s.spare = None;
        s.twister.seed(seed);
    });
}

/// Begins a stream anew with several words, as `np.random.seed([…])` does. There is at least one.
pub(crate) fn seed_by_words(which: usize, words: &[u32]) {
    with(which, |s| {
        s.spare = None;
        s.twister.seed_by_array(words);
    });
}

/// A stream of Python's `random` that an object keeps, in words that its library code reads and writes too
/// (`tierup/lib/pyrandom.py`).
#[repr(C)]
pub(crate) struct Kept {
    twister: Twister,
    has_spare: i64,
    spare: f64,
}
const _: () = assert!(size_of::<Kept>() == 8 * KEPT_STREAM_WORDS);

/// Exchanges this thread's stream of `random` for a kept one.
pub(crate) fn swap(kept: &mut Kept) {
    with(PYTHON, |s| {
        std::mem::swap(&mut s.twister, &mut kept.twister);
        let spare = (kept.has_spare != 0).then_some(kept.spare);
        let own = std::mem::replace(&mut s.spare, spare);
        (kept.has_spare, kept.spare) = (i64::from(own.is_some()), own.unwrap_or(0.0));
    });
}

/// A number to derive the streams of a parallel region from: the next of this thread's stream, so that a
/// seeded program has the same regions at every run.
pub(crate) fn region_seed() -> u64 {
    with(NUMPY, |s| s.twister.u64())
}

/// Runs a chunk of a parallel region with streams of its own, which depend on nothing but these numbers, and
/// gives the thread its own back.
pub(crate) fn in_chunk<R>(seed: u64, region: u64, chunk: u64, body: impl FnOnce() -> R) -> R {
    struct Back(Option<Box<Streams>>);
    impl Drop for Back {
        fn drop(&mut self) {
            replace(self.0.take());
            // The process may have become a child in the meantime.
            // SAFETY: null or the owner's streams, which nobody uses now.
            if unsafe { CURRENT.get().as_ref() }.is_some_and(|all| all.epoch != EPOCH.load(Ordering::Relaxed))
            {
                renew();
            }
        }
    }
    let origin = Origin::Chunk([seed, region, chunk]);
    let fresh = || Stream { origin, ..Stream::new() };
    let new = Box::new(Streams { of: [fresh(), fresh()], epoch: EPOCH.load(Ordering::Relaxed) });
    let _back = Back(replace(Some(new)));
    body()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fork begins the streams of the whole process anew: while a test pretends one, no other may be
    /// between its seed and what it draws.
    static FORK: std::sync::RwLock<()> = std::sync::RwLock::new(());

    fn no_fork() -> std::sync::RwLockReadGuard<'static, ()> {
        FORK.read().unwrap_or_else(|e| e.into_inner())
    }

    fn next() -> f64 {
        with(NUMPY, |s| s.twister.f64())
    }

    #[test]
    fn seeds_give_numpys_and_pythons_streams() {
        let _no_fork = no_fork();
        seed(NUMPY, Some(1));
        assert_eq!(next(), 0.417022004702574);
        seed(PYTHON, Some(1));
        assert_eq!(with(PYTHON, |s| s.twister.f64()), 0.13436424411240122);
        seed(PYTHON, Some(-(1 << 40) - 7));
        assert_eq!(with(PYTHON, |s| s.twister.f64()), 0.6137037779936511);
    }

    #[test]
    fn chunks_have_streams_of_their_own_and_threads_keep_theirs() {
        let _no_fork = no_fork();
        seed(NUMPY, Some(1));
        let first = next();
        let chunk = |c| in_chunk(5, 1, c, || (next(), with(PYTHON, |s| s.twister.f64())));
        let (a, b) = (chunk(0), chunk(1));
        assert_ne!(a, b);
        assert_ne!(a.0, a.1);
        assert_eq!(
            std::thread::spawn(move || in_chunk(5, 1, 1, || (next(), with(PYTHON, |s| s.twister.f64()))))
                .join()
                .ok(),
            Some(b)
        );
        let second = next();
        seed(NUMPY, Some(1));
        assert_eq!((next(), next()), (first, second));
    }

    #[test]
    fn threads_and_children_begin_somewhere_else() {
        let _alone = FORK.write().unwrap_or_else(|e| e.into_inner());
        let elsewhere = std::thread::spawn(next).join().ok();
        assert_ne!(elsewhere, Some(next()));
        seed(NUMPY, Some(1));
        next();
        after_fork();
        let after = next();
        seed(NUMPY, Some(1));
        next();
        assert_ne!(after, next());
    }
}
