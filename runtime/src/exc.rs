//! Native exceptions: what travels as a status through compiled code until it reaches Python.
//!
//! [`Exc`] is the heap object. [`Error`] is an owned one on its way through Rust code, so helpers are written
//! with `?` and end in [`or_raise`]. What several threads may hold is changed through [`alone`].

use crate::counted::{count, release, retain};
use crate::host::quiet;
use std::borrow::Cow;
use std::sync::atomic::AtomicI64;
use tierup_core::exc::Class;
use tierup_core::layout::{Obj, Str, Text};
use tierup_core::rt::{AbiTy, Ctx};
use tierup_core::types::{ClassDef, ClassId, Type};

/// One argument of an exception.
pub enum Arg {
    None,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    /** `np.float32`, whose text is shorter than that of the same number with more bits. */
    Float32(f32),
    Complex(f64, f64),
    Complex64(f32, f32),
    /// A constant message, or one that a helper made.
    Text(Cow<'static, str>),
    /// An owned reference to a string object.
    Str(*mut Str),
    /// An owned reference to an object of bytes.
    Bytes(*mut Str),
    Tuple(Vec<Arg>),
    List(Vec<Arg>),
    /// An instance of the class with that handle that is still being put together of these.
    Instance(u64, Vec<Arg>),
    /// Arguments by name, the last of all: each name, then the value.
    Named(Vec<Arg>),
    /// An owned reference to an object of the user's, with its type.
    Object(*mut Obj, Type),
    /// An owned reference to a Python object.
    Py(*mut u8),
}

impl Drop for Arg {
    fn drop(&mut self) {
        match self {
            // SAFETY: the reference is owned and dropped once.
            Arg::Str(s) | Arg::Bytes(s) => unsafe { release(s.cast()) },
            // SAFETY: as above.
            Arg::Object(o, _) => unsafe { release(*o) },
            Arg::Py(p) => (quiet().release)(*p),
            Arg::None
            | Arg::Bool(_)
            | Arg::Int(_)
            | Arg::UInt(_)
            | Arg::Float(_)
            | Arg::Float32(_)
            | Arg::Complex64(..)
            | Arg::Complex(..)
            | Arg::Text(_)
            | Arg::Tuple(_)
            | Arg::List(_)
            | Arg::Named(_)
            | Arg::Instance(..) => {}
        }
    }
}

/// One frame of a traceback: interned texts and a line.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub file: *const Text,
    pub func: *const Text,
    pub line: i64,
}

impl Site {
    pub fn file(&self) -> &'static str {
        text(self.file)
    }
    pub fn func(&self) -> &'static str {
        text(self.func)
    }
}
fn text(t: *const Text) -> &'static str {
    // SAFETY: sites hold null or texts made by `core::intern::text`, which are UTF-8 and live for ever.
    unsafe {
        t.as_ref().map_or("?", |t| std::str::from_utf8_unchecked(std::slice::from_raw_parts(t.ptr, t.len)))
    }
}

/// A native exception object.
#[repr(C)]
pub struct Exc {
    pub obj: Obj,
    pub class: &'static ClassDef,
    pub args: Vec<Arg>,
    /// Owned, or null.
    pub cause: *mut Exc,
    /// `raise e from e`: a reference to itself would keep it for ever.
    pub own_cause: bool,
    /// Owned, or null.
    pub context: *mut Exc,
    /// `raise … from …` was used, so that the context is not shown.
    pub suppress_context: bool,
    /// Frames, innermost first.
    pub trail: Vec<Site>,
    /// The Python exception that this one stands for (owned), or null: it came out of a call of Python.
    pub py: *mut u8,
    /// How many tuples of `args` are still open.
    open: usize,
}

unsafe extern "C" fn drop_exc(o: *mut Obj) {
    // SAFETY: called once, by `release`, with the pointer that `Exc::alloc` made.
    let mut e = unsafe { Box::from_raw(o.cast::<Exc>()) };
    count(-1);
    // Long chains are unlinked one by one: a program that raises in a handler a million times must not
    // overflow the stack here.
    let mut rest = vec![e.cause, e.context];
    (e.cause, e.context) = (std::ptr::null_mut(), std::ptr::null_mut());
    if !e.py.is_null() {
        (quiet().release)(e.py);
    }
    drop(e);
    while let Some(p) = rest.pop() {
        if p.is_null() {
            continue;
        }
        // SAFETY: an owned reference; if it is the last one, its own links are taken over before it is freed.
        unsafe {
            if (*p).obj.refs.load(std::sync::atomic::Ordering::Acquire) == 1 {
                rest.extend([(*p).cause, (*p).context]);
                ((*p).cause, (*p).context) = (std::ptr::null_mut(), std::ptr::null_mut());
            }
            release(p.cast());
        }
    }
}

impl Exc {
    /// Whether it is of a class of the host's own, or came out of the host.
    pub(crate) fn is_of_host(&self) -> bool {
        !self.py.is_null() || self.class.exception().is_none()
    }
    /// A new exception with one reference.
    pub(crate) fn alloc(class: &'static ClassDef, args: Vec<Arg>) -> *mut Exc {
        count(1);
        Box::into_raw(Box::new(Exc {
            obj: Obj { refs: AtomicI64::new(1), drop: drop_exc },
            class,
            args,
            cause: std::ptr::null_mut(),
            own_cause: false,
            context: std::ptr::null_mut(),
            suppress_context: false,
            trail: vec![],
            py: std::ptr::null_mut(),
            open: 0,
        }))
    }

    /// A new exception of a built-in class.
    pub fn builtin(class: Class, mut args: Vec<Arg>) -> *mut Exc {
        if let (Class::AxisError, [Arg::Text(text)]) = (class, &*args)
            && let Some(said) = axis_args(text)
        {
            args = said;
        }
        Exc::alloc(ClassId::of_exception(class).def(), args)
    }

    pub(crate) fn is_a(&self, class: Class) -> bool {
        self.class.is_a(ClassId::of_exception(class))
    }
    /// Whether it is an instance of the class with that handle.
    pub(crate) fn is_a_host(&self, handle: i64) -> bool {
        self.class.is_a_host(handle as u64)
    }

    /// Appends an argument, into the innermost open tuple if there is one.
    pub(crate) fn push_arg(&mut self, arg: Arg) {
        let mut to = &mut self.args;
        for _ in 0..self.open {
            match to.last_mut() {
                Some(Arg::Tuple(inner) | Arg::List(inner) | Arg::Instance(_, inner) | Arg::Named(inner)) => {
                    to = inner
                }
                Some(_) | None => return,
            }
        }
        to.push(arg);
    }
    pub(crate) fn open_tuple(&mut self) {
        self.push_arg(Arg::Tuple(vec![]));
        self.open += 1;
    }
    pub(crate) fn open_list(&mut self) {
        self.push_arg(Arg::List(vec![]));
        self.open += 1;
    }
    pub(crate) fn open_named(&mut self) {
        self.push_arg(Arg::Named(vec![]));
        self.open += 1;
    }
    pub(crate) fn open_instance(&mut self, handle: u64) {
        self.push_arg(Arg::Instance(handle, vec![]));
        self.open += 1;
    }
    /// Closes the innermost open argument, and gives it.
    pub(crate) fn close(&mut self) -> Option<&mut Arg> {
        self.open = self.open.saturating_sub(1);
        let mut to = &mut self.args;
        for _ in 0..self.open {
            match to.last_mut() {
                Some(Arg::Tuple(inner) | Arg::List(inner) | Arg::Instance(_, inner) | Arg::Named(inner)) => {
                    to = inner
                }
                Some(_) | None => return None,
            }
        }
        to.last_mut()
    }

    /// The text of a single text argument; what messages in tests compare.
    pub fn message(&self) -> String {
        match self.args.as_slice() {
            [Arg::Text(t)] => t.to_string(),
            // SAFETY: the argument owns a live string.
            [Arg::Str(s)] => unsafe { crate::exc::str_text(*s) },
            args if self.is_a(Class::AxisError) => axis_text(args).unwrap_or_default(),
            args => format!("{} arguments", args.len()),
        }
    }
}

/// What NumPy says of an axis that an array does not have.
const AXIS: [&str; 2] = ["axis ", " is out of bounds for array of dimension "];

/// The arguments of NumPy's AxisError that says this: the axis, the number of dimensions, and what stands in
/// front.
fn axis_args(text: &str) -> Option<Vec<Arg>> {
    let (front, rest) = match text.split_once(": ") {
        Some((front, rest)) => (Arg::Text(front.to_string().into()), rest),
        None => (Arg::None, text),
    };
    let (axis, dims) = rest.strip_prefix(AXIS[0])?.split_once(AXIS[1])?;
    Some(vec![Arg::Int(axis.parse().ok()?), Arg::Int(dims.parse().ok()?), front])
}

/// `str(AxisError(axis, dims, front))`; none for other arguments.
#[expect(clippy::wildcard_enum_match_arm, reason = "the exception has no other first argument")]
pub(crate) fn axis_text(args: &[Arg]) -> Option<String> {
    let (axis, dims, front) = match args {
        [Arg::Int(axis), Arg::Int(dims)] => (axis, dims, &Arg::None),
        [Arg::Int(axis), Arg::Int(dims), front] => (axis, dims, front),
        _ => return None,
    };
    let said = format!("{}{axis}{}{dims}", AXIS[0], AXIS[1]);
    match front {
        Arg::None => Some(said),
        Arg::Text(front) => Some(format!("{front}: {said}")),
        // SAFETY: the argument owns a live string.
        Arg::Str(front) => Some(format!("{}: {said}", unsafe { str_text(*front) })),
        _ => None,
    }
}

/// The text of a string object; lone surrogates become U+FFFD.
///
/// # Safety
/// `s` must be a live string.
pub(crate) unsafe fn str_text(s: *const Str) -> String {
    // SAFETY: a live string has `len` code units of `kind` bytes at `data`.
    unsafe {
        let n = (*s).len as usize;
        let decode = |c: u32| char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER);
        match (*s).kind {
            1 => std::slice::from_raw_parts((*s).data, n).iter().map(|c| *c as char).collect(),
            2 => std::slice::from_raw_parts((*s).data.cast::<u16>(), n)
                .iter()
                .map(|c| decode(*c as u32))
                .collect(),
            _ => std::slice::from_raw_parts((*s).data.cast::<u32>(), n).iter().map(|c| decode(*c)).collect(),
        }
    }
}

/// An owned exception on its way.
pub struct Error(*mut Exc);
pub type Res<T> = Result<T, Error>;

impl Error {
    /// As `raise ... from None`: what is being handled when it is raised is not shown with it.
    pub(crate) fn from_none(self) -> Error {
        // SAFETY: the only reference to a live exception, or one that nobody else looks at now.
        unsafe { (*self.0).suppress_context = true };
        self
    }
    pub(crate) fn new(class: Class, message: impl Into<Cow<'static, str>>) -> Error {
        let message = match message.into() {
            Cow::Borrowed(text) => Cow::Borrowed(tierup_core::python::words(text)),
            made => made,
        };
        Error(Exc::builtin(class, vec![Arg::Text(message)]))
    }
    /// Without arguments.
    pub(crate) fn bare(class: Class) -> Error {
        Error(Exc::builtin(class, vec![]))
    }
    pub(crate) fn with_args(class: &'static ClassDef, args: Vec<Arg>) -> Error {
        Error(Exc::alloc(class, args))
    }
    pub(crate) fn value(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(Class::ValueError, message)
    }
    pub(crate) fn overflow(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(Class::OverflowError, message)
    }
    pub(crate) fn index(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(Class::IndexError, message)
    }
    pub(crate) fn type_error(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(Class::TypeError, message)
    }
    pub(crate) fn zero_division(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(Class::ZeroDivisionError, message)
    }

    /// Takes over a reference.
    ///
    /// # Safety
    /// `exc` must be an owned reference to a live exception.
    pub unsafe fn from_raw(exc: *mut Exc) -> Error {
        Error(exc)
    }
    /// Hands out the reference.
    pub fn into_raw(self) -> *mut Exc {
        let e = self.0;
        std::mem::forget(self);
        e
    }

    /// Leaves the exception pending, with the exception being handled as its context.
    ///
    /// # Safety
    /// `ctx` must be the live context of this thread.
    pub(crate) unsafe fn raise(self, ctx: Ctx) {
        let exc = self.into_raw();
        // SAFETY: `ctx` is live; `pending` and `handled` are null or owned exceptions.
        unsafe {
            set_context(exc, (*ctx).handled.cast());
            let old = std::mem::replace(&mut (*ctx).pending, exc.cast());
            release(old);
        }
    }
}
impl std::ops::Deref for Error {
    type Target = Exc;
    fn deref(&self) -> &Exc {
        // SAFETY: `self.0` is an owned reference, so the exception lives as long as `self`. What others who
        // hold it change is changed by [`alone`].
        unsafe { &*self.0 }
    }
}
impl Drop for Error {
    fn drop(&mut self) {
        // SAFETY: the reference is owned, and this is its end.
        unsafe { release(self.0.cast()) }
    }
}
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?})", self.class.name, self.message())
    }
}

/// The value, or a pending exception and a harmless null or zero.
///
/// # Safety
/// `ctx` must be the live context of this thread.
pub(crate) unsafe fn or_raise<T: AbiTy>(ctx: Ctx, result: Res<T>) -> T {
    match result {
        Ok(v) => v,
        Err(e) => {
            // SAFETY: as required of the caller.
            unsafe { e.raise(ctx) };
            T::fallback()
        }
    }
}

/// Helpers that only compute: each is a safe expression of its arguments, whose error is left pending.
macro_rules! raising {
    ($(fn $name:ident($($p:ident: $t:ty),*) -> $r:ty = $e:expr;)*) => {$(
        unsafe fn $name(ctx: tierup_core::rt::Ctx, $($p: $t),*) -> $r {
            let answer: $crate::exc::Res<$r> = $e;
            // SAFETY: compiled code passes the live context of its thread.
            unsafe { $crate::exc::or_raise(ctx, answer) }
        }
    )*};
}
pub(crate) use raising;

/// Takes the pending exception out of the context.
///
/// # Safety
/// `ctx` must be the live context of this thread.
pub unsafe fn take_pending(ctx: Ctx) -> Option<Error> {
    // SAFETY: `pending` is null or an owned exception.
    unsafe {
        let p = std::mem::replace(&mut (*ctx).pending, std::ptr::null_mut());
        (!p.is_null()).then_some(Error(p.cast()))
    }
}

/// Sets `exc.__context__ = context`, as CPython does at `raise`: an exception is not its own context, and a
/// cycle is cut.
///
/// # Safety
/// Both are null or live exceptions.
pub(crate) unsafe fn set_context(exc: *mut Exc, context: *mut Exc) {
    // SAFETY: links are null or owned references to live exceptions, and change under the lock.
    unsafe {
        if exc.is_null() || context.is_null() || exc == context {
            return;
        }
        let old = crate::parallel::lock::exceptions(|| {
            if (*exc).context == context {
                return [std::ptr::null_mut(); 2];
            }
            let (mut at, mut cut) = (context, std::ptr::null_mut());
            while !(*at).context.is_null() {
                if (*at).context == exc {
                    cut = std::mem::replace(&mut (*at).context, std::ptr::null_mut());
                    break;
                }
                at = (*at).context;
            }
            retain(context.cast());
            [cut, std::mem::replace(&mut (*exc).context, context)]
        });
        for o in old {
            release(o.cast());
        }
    }
}

/// Changes an exception. One that somebody else holds too may be raised in several iterations of a parallel
/// loop at once.
///
/// # Safety
/// The exception is live.
pub(crate) unsafe fn alone<R>(exc: *mut Obj, change: impl FnOnce() -> R) -> R {
    // SAFETY: as required of the caller.
    if unsafe { (*exc).refs.load(std::sync::atomic::Ordering::Acquire) } == 1 {
        change()
    } else {
        crate::parallel::lock::exceptions(change)
    }
}
