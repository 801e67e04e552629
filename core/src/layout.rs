//! Heap layouts that compiled code, the run-time and the Python boundary share: the only place where an
//! offset is decided.
//!
//! Every heap object starts with an [`Obj`] header. Reference counts are changed through helpers only.
//! Structs are `repr(C)`; compiled code takes offsets with `std::mem::offset_of!` through the constants
//! generated here.

pub(crate) mod object;

use crate::desc::TypeDesc;
pub use object::{IMMORTAL, Obj, Str, release, retain};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};

/// Per-thread state; parameter 0 of every compiled function.
#[repr(C)]
pub struct ThreadCtx {
    /// Exception left by a helper: an owned `*mut Exc`, or null.
    pub pending: *mut Obj,
    /// Frames of recursive functions below this address call `stack_check`: `stack_floor`, or the highest
    /// address when somebody wants a poll.
    pub stack_limit: AtomicUsize,
    /// Frames below this address raise RecursionError. Written by its own thread alone.
    pub stack_floor: usize,
    /// Non-zero when somebody wants a poll: [`POLL_SIGNALS`], [`POLL_SAMPLE`]. A word for each level of a
    /// loop nest, outermost first; deeper loops read the last. Written by other threads, so compiled code
    /// reads it as `Alias::Volatile`.
    pub interrupt: [AtomicU32; LEVELS],
    /// What `except` handlers are handling, innermost last: an owned `*mut Exc`, or null (for bare `raise`).
    pub handled: *mut Obj,
}

/// What a thread of a grid is told where a CPU runs it; parameter 0 of every function of a kernel there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GridThread {
    /// Which thread of the block, along x, y and z.
    pub thread: [u32; 3],
    /// Which block of the grid.
    pub block: [u32; 3],
    /// Threads of a block.
    pub block_size: [u32; 3],
    /// Blocks of the grid.
    pub grid_size: [u32; 3],
    /// Bytes at `dynamic_shared`.
    pub dynamic_bytes: u32,
    /// Which thread of its warp.
    pub lane: u32,
    /// Memory that the block's threads share and the kernel declares.
    pub shared: *mut u8,
    /// The same whose size the launch says.
    pub dynamic_shared: *mut u8,
    /// Whoever runs the thread.
    pub runner: *mut u8,
    /// Who looks for races in the block; null where nobody does.
    pub watch: *mut u8,
    /// Frames of functions that call themselves lie above this address.
    pub stack_limit: usize,
}

impl ThreadCtx {
    /// The context of a thread whose stack has no limit.
    pub const fn new() -> ThreadCtx {
        ThreadCtx {
            pending: std::ptr::null_mut(),
            stack_limit: AtomicUsize::new(0),
            stack_floor: 0,
            interrupt: [const { AtomicU32::new(0) }; LEVELS],
            handled: std::ptr::null_mut(),
        }
    }
    /// What other threads may reach of a context.
    ///
    /// # Safety
    /// The context must be live as long as this is used.
    pub unsafe fn polls<'a>(ctx: *const ThreadCtx) -> Polls<'a> {
        // SAFETY: the context is live, as required of the caller; both fields are atomic, and no reference is
        // made to the others, which their thread writes.
        unsafe {
            Polls {
                interrupt: &*(&raw const (*ctx).interrupt),
                stack_limit: &*(&raw const (*ctx).stack_limit),
            }
        }
    }
}
impl Default for ThreadCtx {
    fn default() -> ThreadCtx {
        ThreadCtx::new()
    }
}

/// What a thread is asked for, by itself or by others: the fields of its [`ThreadCtx`] that any thread writes.
#[derive(Clone, Copy)]
pub struct Polls<'a> {
    interrupt: &'a [AtomicU32; LEVELS],
    stack_limit: &'a AtomicUsize,
}

impl Polls<'_> {
    /// Asks the thread to call `poll_interrupt` soon, for the given reasons; from any thread.
    pub fn ask_for_poll(self, reasons: u32) {
        for word in self.interrupt {
            word.fetch_or(reasons, Ordering::Relaxed);
        }
        self.stack_limit.store(usize::MAX, Ordering::Relaxed);
    }
    /// Asks the thread where it is; from any thread. Outer loops are asked first, since they are the best
    /// places to go over to other code. Who has not answered until the next call, although it `has_run`, is
    /// in an inner loop that lasts, which is asked then.
    pub fn ask_for_sample(self, has_run: bool) {
        let next = self.interrupt.iter().position(|w| w.load(Ordering::Relaxed) & POLL_SAMPLE == 0);
        if let Some(level) = next.filter(|level| *level == 0 || has_run) {
            self.interrupt[level].fetch_or(POLL_SAMPLE, Ordering::Relaxed);
        }
        self.stack_limit.store(usize::MAX, Ordering::Relaxed);
    }
    /// Takes back everything but `kept`; what was asked for, at any level.
    pub fn answer_poll(self, kept: u32) -> u32 {
        self.interrupt
            .iter()
            .map(
                |w| {
                    if w.load(Ordering::Relaxed) & !kept == 0 {
                        0
                    } else {
                        w.fetch_and(kept, Ordering::AcqRel)
                    }
                },
            )
            .fold(0, |a, b| a | b)
    }
}

/// Levels of loop nests that are asked one after the other.
pub(crate) const LEVELS: usize = 4;

/// Look for signals and cancellation.
pub const POLL_SIGNALS: u32 = 1;
/// Say where you are: the profile that decides what is worth compiling better.
pub const POLL_SAMPLE: u32 = 2;
/// Always ask: a test of on-stack replacement. Never cleared by who polls.
pub const POLL_STRESS: u32 = 4;

/// A constant UTF-8 text that lives for ever; see [`crate::intern::text`].
#[repr(C)]
pub struct Text {
    pub ptr: *const u8,
    pub len: usize,
}

/// Owner of array memory: a block of the run-time's own, or a Python object that is kept alive.
/// The memory of an owned block follows the header, aligned to 64 bytes.
#[repr(C)]
pub struct MemBlock {
    pub obj: Obj,
    /// Start of the elements.
    pub data: *mut u8,
    pub bytes: i64,
    /// The Python object that owns the memory (borrowed by an argument, owned by a wrapper), or null.
    pub py: *mut u8,
}

/// A list. Element `i` lies at `data + i * desc.size`.
#[repr(C)]
pub struct List {
    pub obj: Obj,
    pub len: i64,
    pub users: AtomicI64,
    pub changer: AtomicUsize,
    pub cap: i64,
    pub data: *mut u8,
    /// What the elements are.
    pub desc: &'static TypeDesc,
    /// Borrow word: non-zero while somebody iterates in a way that a resize would break.
    pub borrow: i64,
}

/// How every container begins: a list and a dict as well.
#[repr(C)]
pub struct Counted {
    pub obj: Obj,
    pub len: i64,
    /// [`SHOWN`] where Python sees the container itself, not a copy of it; and [`USER`] for each call that was
    /// given it and does not change it.
    pub users: AtomicI64,
    /// The frame of the call that was given it and may change it, or 0.
    pub changer: AtomicUsize,
}

/// A dict. Entry `i` lies at `entries + i * entry.size`, in the order in which keys came; where the entry of a
/// key that was removed lies, all bytes are zero.
#[repr(C)]
pub struct Dict {
    pub obj: Obj,
    /// Entries that are there.
    pub len: i64,
    pub users: AtomicI64,
    pub changer: AtomicUsize,
    /// Places of entries that are taken, those of removed keys included.
    pub used: i64,
    /// Where entries have to grow: `used` comes up to it. There is memory for as many.
    pub cap: i64,
    /// The size that CPython's table of the dict has, which says when entries grow; 0 as long as it has none.
    pub table: i64,
    pub entries: *mut u8,
    /// An entry: the hash of its key, which is not 0, the key and the value, laid out as a tuple of the three.
    pub entry: &'static TypeDesc,
    pub key: &'static TypeDesc,
    pub value: &'static TypeDesc,
    /// Finds places of entries by hash. A slot is 0 where it is empty; else the upper half is that of the hash, and
    /// the lower half the entry's place and 1. The first slot for a hash is `hash >> shift`, and the next ones
    /// follow, round to the beginning; one at least is empty. What has no entries has two empty slots, which are
    /// not its own.
    pub index: *mut u64,
    pub shift: i64,
}

/// A deque, in a ring: the element with number `n` lies at `data + (n & mask) * desc.size`. The first one's
/// number is `start`, which counts on in either direction, so that an element keeps its number as long as it
/// is there and nothing is put in or taken out in the middle.
#[repr(C)]
pub struct Deque {
    pub obj: Obj,
    pub len: i64,
    pub users: AtomicI64,
    pub changer: AtomicUsize,
    pub start: i64,
    /// Places less one, of which there is a power of two; -1 where there are none.
    pub mask: i64,
    pub data: *mut u8,
    /// Below this length an element is added without more ado: there is a place for it, and none has to go.
    pub room: i64,
    /// The greatest length, or -1.
    pub maxlen: i64,
    /// Grows with every change that CPython's iterators notice.
    pub changes: i64,
    /// What the elements are.
    pub desc: &'static TypeDesc,
}

/// See [`Counted::users`].
pub const SHOWN: i64 = 1;
pub const USER: i64 = 2;

/// A generator's or closure's frame: what it keeps follows the header, as a struct that `desc` describes.
#[repr(C)]
pub struct Frame {
    pub obj: Obj,
    /// -1 before the first resumption is never used: 0 is the start, then the number of the `yield`; -1 means
    /// finished.
    pub resume: i64,
    pub desc: &'static TypeDesc,
    /// 0: dropping the frame is all there is to its end. 1: it has `finally` blocks, and is closed before it
    /// is dropped. 2: it is being closed. Else the address of an exception that is thrown in, with a reference.
    pub closing: i64,
    /// Non-zero while it is resumed by a thread that others may disturb: generators that iterations of a
    /// parallel loop share.
    pub busy: AtomicI64,
}

/// An object of a class of the user's: its fields follow the header, as a struct that `desc` describes.
#[repr(C)]
pub struct Instance {
    pub obj: Obj,
    pub desc: &'static TypeDesc,
    /// Where the thread that made it knows it, counted from 1, as one that may be in a ring of objects; 0 for one
    /// that is in none. The run-time's, as what follows.
    pub place: u32,
    /// The number of that thread.
    pub owner: u32,
}

/// A `numpy.random.Generator`, held for as long as compiled code draws from it.
#[repr(C)]
pub struct BitSource {
    pub obj: Obj,
    /// NumPy's `bitgen_t` of its bit generator.
    pub bits: *mut u8,
    /// The generator itself.
    pub py: *mut u8,
}

/// A layer of a ziggurat: 64 bits that stand for a number below `below` are accepted at once, as that many
/// `width`s.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Layer {
    pub below: u64,
    pub width: f64,
}

/// Words of a [`WordStream`] that are made at a time.
pub const STREAM_WORDS: i64 = 624;

/// A thread's stream of random numbers as compiled code reads it: words of bits that are ready, from `at` on.
/// The run-time makes more of them when they are used up, and also where the stream has not begun: none are
/// ready then.
#[repr(C)]
pub struct WordStream {
    pub at: i64,
    pub ready: [u32; STREAM_WORDS as usize],
}

/// So many words of 64 bits keep a stream of an object of `random.Random` (the run-time's `Kept`).
pub const KEPT_STREAM_WORDS: usize = 627;

/// A field's byte offset for lowering.
#[macro_export]
macro_rules! offset {
    ($T:ident . $($field:ident).+) => { std::mem::offset_of!($crate::layout::$T, $($field).+) as i32 };
}

macro_rules! begin_as_counted {
    ({} objects { $($name:ident: $Object:ident),* } $($families:tt)*) => {
        begin_as_counted!(List $($Object)*);
    };
    ($($Object:ident)*) => {
        $(const _: () = {
            assert!(std::mem::offset_of!(Counted, len) == std::mem::offset_of!($Object, len));
            assert!(std::mem::offset_of!(Counted, users) == std::mem::offset_of!($Object, users));
            assert!(std::mem::offset_of!(Counted, changer) == std::mem::offset_of!($Object, changer));
        };)*
    };
}
crate::containers!(begin_as_counted! {});

/// Size of [`Instance`]'s header: where its fields start.
pub const INSTANCE_HEADER: i32 = std::mem::size_of::<Instance>() as i32;

/// Size of [`Frame`]'s header: where its leaves start.
pub const FRAME_HEADER: i32 = std::mem::size_of::<Frame>() as i32;
