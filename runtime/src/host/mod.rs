//! Callbacks to the host (Python): the few things that only it knows. Without a host everything has a
//! sensible native answer.

mod quiet;

use crate::exc::{Arg, Error, Exc, Res};
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::exc::Class;
use tierup_core::layout::{BitSource, Obj, Str};
use tierup_core::ops::regexes::How;
use tierup_core::types::Type;

pub use quiet::{Quiet, quiet};

/// An array in memory, to be shown. Strides are in bytes.
pub struct ArrayView<'a> {
    /// The type of its elements.
    pub dtype: Type,
    pub shape: &'a [i64],
    pub strides: &'a [i64],
    pub data: *const u8,
}

/// The loop of a generalised ufunc of NumPy's: addresses of operands, lengths (how many times, then those of
/// the signature), distances in bytes (between operands, then inside of them), and what belongs to the loop.
#[derive(Clone, Copy)]
pub struct InnerLoop {
    pub run: unsafe extern "C" fn(*mut *mut u8, *const isize, *const isize, *mut c_void),
    pub data: *mut c_void,
}
// SAFETY: both are addresses of what NumPy made once and for ever.
unsafe impl Send for InnerLoop {}
// SAFETY: as above; loops are called from many threads at once.
unsafe impl Sync for InnerLoop {}

impl InnerLoop {
    /// One that does nothing.
    pub(crate) const NONE: InnerLoop = InnerLoop { run: nothing, data: std::ptr::null_mut() };
}

unsafe extern "C" fn nothing(_: *mut *mut u8, _: *const isize, _: *const isize, _: *mut c_void) {}

/// What is asked of Python's `re`.
pub struct Regex {
    /// Live texts, each in bytes or not.
    pub pattern: *mut Str,
    pub text: *mut Str,
    pub of_bytes: bool,
    pub in_bytes: bool,
    pub how: How,
    pub flags: i64,
    /// The places between which it is looked for.
    pub pos: i64,
    pub endpos: i64,
}

/// Which text of an exception is asked for: `str`, `repr`, or `format` with a specification.
#[derive(Clone, Copy)]
pub enum Form<'a> {
    Str,
    Repr,
    Format(&'a Arg),
}

/// What the host offers. Every function may be called from any thread and takes the GIL itself where it needs
/// it.
#[derive(Clone, Copy)]
pub struct Callbacks {
    /// The text of an exception of the host's own class, or one that came out of Python. It stands for an object
    /// from then on.
    pub exc_text: fn(&mut Exc, Form<'_>) -> Res<Option<String>>,
    /// The truth of such an exception, in the same way.
    pub exc_truth: fn(&mut Exc) -> Res<bool>,
    /// Has the class of an exception make it of its arguments: what the class says is then its class, its
    /// arguments, and the object that it stands for.
    pub construct: fn(&mut Exc) -> Res<()>,
    /// An attribute of an exception, which its class has given it. It stands for an object from then on.
    pub attribute: fn(&mut Exc, &str) -> Res<Arg>,
    /// The cause or the context of an exception that came out of Python, owned; null for None.
    pub link: fn(&Exc, cause: bool) -> Res<*mut Obj>,
    /// Whether such an exception hides its context.
    pub hides_context: fn(&Exc) -> bool,
    /// Adds a note to an exception, in the same way.
    pub add_note: fn(&mut Exc, &Arg) -> Res<()>,
    /// `str` or `repr` of a Python object.
    pub show_object: fn(*mut u8, repr: bool) -> String,
    /// `str` or `repr` of what an exception carries of a class of the user's; None where there is no host.
    pub show_part: fn(&Arg, repr: bool) -> Option<String>,
    /// An instance of the class with that handle, made of its parts, as a Python object (owned), or null.
    pub instance: fn(u64, &[Arg]) -> *mut u8,
    /// Runs pending signal handlers; an error is what they raised (KeyboardInterrupt).
    pub poll: fn() -> Res<()>,
    /// Writes to `sys.stdout`; lone surrogates arrive as U+FFFD.
    pub write: fn(&str) -> Res<()>,
    /// Flushes `sys.stdout`.
    pub flush: fn() -> Res<()>,
    /// `str(array)`, or `repr(array)` where asked for.
    pub show_array: fn(&ArrayView<'_>, repr: bool) -> Res<String>,
    /// A copy of an array as a Python object (owned), or null.
    pub copy_array: fn(&ArrayView<'_>) -> *mut u8,
    /// The address of a routine of SciPy's LAPACK, or null.
    pub lapack: fn(&str) -> *const u8,
    /// A loop of NumPy's transforms by name, in single or double precision.
    pub fourier: fn(&str, single: bool) -> Option<InnerLoop>,
    /// The exception that a function of the host's own has left behind, which cannot say so by its result.
    pub raised: fn() -> Res<()>,
    /// Calls the Python function of that number. The types of the arguments, as a tuple, and of the result are
    /// texts; the arguments lie in memory, their references are taken over, and the result is written.
    pub call_python: fn(i64, types: &str, args: *mut u8, result: *mut u8) -> Res<()>,
    /// Looks for a pattern: the number of the last group that matched (-1 for none), then where the match and each of
    /// its groups begin and end (-1 where one has not matched); nothing where there is no match.
    pub find: fn(&Regex, &mut Vec<i64>) -> Res<()>,
    /// The program of a pattern for the run-time's own engine; none of one that has none.
    pub regex_program: fn(&Regex) -> Option<Vec<i64>>,
    /// Whether a live text that stands for one of the host's has no character beyond ASCII; none of other texts.
    pub is_ascii: fn(*mut Str) -> Option<bool>,
    /// A new source of random numbers (owned) that a Python generator spawns; null where none is asked for,
    /// or where there is no host.
    pub spawn: fn(*mut u8, one: bool) -> Res<*mut BitSource>,
}

fn native_write(text: &str) -> Res<()> {
    use std::io::Write;
    std::io::stdout().write_all(text.as_bytes()).map_err(|e| Error::new(Class::OSError, e.to_string()))
}
fn native_flush() -> Res<()> {
    use std::io::Write;
    std::io::stdout().flush().map_err(|e| Error::new(Class::OSError, e.to_string()))
}

const NATIVE: Callbacks = Callbacks {
    exc_text: |_, _| Ok(None),
    exc_truth: |_| Ok(true),
    construct: |_| Ok(()),
    attribute: |e, name| {
        let text = format!("'{}' object has no attribute '{name}'", e.class.name);
        Err(Error::new(Class::AttributeError, text))
    },
    link: |_, _| Ok(std::ptr::null_mut()),
    hides_context: |_| false,
    add_note: |_, _| Ok(()),
    show_object: |p, _| format!("<object at {p:p}>"),
    show_part: |_, _| None,
    instance: |_, _| std::ptr::null_mut(),
    // Whoever sets `ThreadCtx::interrupt` without a host means Ctrl-C.
    poll: || Err(Error::bare(Class::KeyboardInterrupt)),
    write: native_write,
    flush: native_flush,
    show_array: |a, _| Ok(format!("<array of {} with shape {:?}>", a.dtype, a.shape)),
    copy_array: |_| std::ptr::null_mut(),
    lapack: |_| std::ptr::null(),
    fourier: |_, _| None,
    raised: || Ok(()),
    call_python: |_, _, _, _| Err(Error::new(Class::RuntimeError, "there is no Python")),
    find: |_, _| Err(Error::new(Class::RuntimeError, "there is no Python")),
    regex_program: |_| None,
    is_ascii: |_| None,
    spawn: |_, _| Ok(std::ptr::null_mut()),
};

static CURRENT: AtomicPtr<Callbacks> = AtomicPtr::new(std::ptr::null_mut());

/// Installs the host's callbacks, for the rest of the process or until others are installed.
pub fn set_callbacks(callbacks: Callbacks, what_never_raises: Quiet) {
    quiet::set(what_never_raises);
    // Leaked on purpose: another thread may be using the old ones, and this happens once per process.
    CURRENT.store(Box::into_raw(Box::new(callbacks)), Ordering::Release);
}

/// The callbacks in force.
pub(crate) fn callbacks() -> &'static Callbacks {
    // SAFETY: null, or a pointer that `set_callbacks` leaked.
    unsafe { CURRENT.load(Ordering::Acquire).as_ref() }.unwrap_or(&NATIVE)
}
