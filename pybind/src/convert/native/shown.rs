//! Containers in native memory that Python sees there: what the classes of `tierup.typed` share.
//! Their types are what was said, or those of what they are first given.

use super::turns::Turn;
use super::{Object, Part, object_of};
use crate::convert::Plan;
use crate::convert::protocol::{Class, Obj, in_use, result};
use crate::errors::typing_error;
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::layout::{Counted, ThreadCtx};
use tierup_core::types::{Container, Kind, Type};
use tierup_runtime::object::{release, retain};
use tierup_runtime::use_word;

/// The Python class of containers of one kind.
pub(crate) struct ShownClass {
    class: AtomicPtr<ffi::PyTypeObject>,
    unbound: for<'py> fn(Python<'py>) -> PyResult<Bound<'py, PyAny>>,
}

impl ShownClass {
    /// `unbound` makes an object without a container.
    pub(crate) const fn new(unbound: for<'py> fn(Python<'py>) -> PyResult<Bound<'py, PyAny>>) -> ShownClass {
        ShownClass { class: AtomicPtr::new(std::ptr::null_mut()), unbound }
    }

    /// Puts the class into the module.
    pub(crate) fn register<T: PyTypeInfo>(&self, m: &Bound<'_, PyModule>) -> PyResult<()> {
        let class = m.py().get_type::<T>();
        m.add(class.name()?, &class)?;
        // It lives as long as the module, which is never unloaded.
        self.class.store(class.as_ptr().cast(), Ordering::Release);
        Ok(())
    }

    /// Whether objects of a class are such containers.
    #[inline]
    pub(crate) fn is(&self, class: Class) -> bool {
        let ours = self.class.load(Ordering::Relaxed);
        // SAFETY: both are live type objects; ours is not null once the module is loaded.
        class == ours || !ours.is_null() && unsafe { ffi::PyType_IsSubtype(class, ours) != 0 }
    }

    /// Whether an object is such a container.
    pub(crate) fn has(&self, obj: &Bound<'_, PyAny>) -> bool {
        // SAFETY: the object is live.
        self.is(unsafe { ffi::Py_TYPE(obj.as_ptr()) })
    }

    /// The Python object of a container; null with an exception where there can be none.
    ///
    /// # Safety
    /// `c` is an owned reference to a container of that type, which is taken over; the thread is attached.
    pub(crate) unsafe fn object(&self, ty: Type, c: *mut Counted) -> Obj {
        // SAFETY: as required of the caller; the reference is given up at the end.
        unsafe {
            let object = result(|py| {
                refuse_unseen(ty, use_word::name(c))?;
                self.object_in(py, ty, c)
            });
            release(c.cast());
            object
        }
    }

    /// # Safety
    /// As for [`ShownClass::object`], but that the reference stays the caller's.
    unsafe fn object_in<'py>(
        &self,
        py: Python<'py>,
        ty: Type,
        c: *mut Counted,
    ) -> PyResult<Bound<'py, PyAny>> {
        loop {
            // SAFETY: as required of the caller.
            unsafe {
                let known = object_of(c.cast());
                if !known.is_null() {
                    return Ok(Bound::from_owned_ptr(py, known));
                }
                // Another thread may make it meanwhile, and that one may be gone again.
                let new = (self.unbound)(py)?;
                retain(c.cast());
                if bind(&new, c, Part::of(py, ty.strong_throughout()))? {
                    return Ok(new);
                }
            }
        }
    }

    /// A new object for a container that nobody else has.
    ///
    /// # Safety
    /// The container is of the type of `part`.
    pub(crate) unsafe fn wrap<'py, T>(
        &self,
        py: Python<'py>,
        new: Owned<T>,
        part: Arc<Part>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = (self.unbound)(py)?;
        // SAFETY: as required of the caller.
        unsafe { bind_new(&object, new, part)? };
        Ok(object)
    }
}

/// The container of an object of such a class, and its type; none as long as it has no type.
pub(crate) fn of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<(*mut Counted, &'a Arc<Part>)> {
    // SAFETY: the class has been looked at.
    let object = unsafe { obj.cast_unchecked::<Object>() };
    object.get().get().map(|(c, part)| (c.cast(), part))
}

/// Makes `this` the object of a container; false where that has one or `this` is another one's. Takes the
/// reference over.
///
/// # Safety
/// As for [`Object::bind`].
unsafe fn bind(this: &Bound<'_, PyAny>, c: *mut Counted, part: Arc<Part>) -> PyResult<bool> {
    // SAFETY: as required of the caller; `this` is of a class whose base is `Object`.
    unsafe {
        use_word::show(c);
        let bound = this.cast_unchecked::<Object>().get().bind(this, c.cast(), part);
        if !matches!(bound, Ok(true)) {
            release(c.cast());
        }
        bound
    }
}

/// Makes `this` the object of a container that nobody else has.
///
/// # Safety
/// As for [`Object::bind`].
pub(crate) unsafe fn bind_new<T>(this: &Bound<'_, PyAny>, new: Owned<T>, part: Arc<Part>) -> PyResult<()> {
    // SAFETY: as required of the caller; `new` keeps its reference.
    let bound = unsafe {
        retain(new.0.cast());
        bind(this, new.0.cast(), part)?
    };
    if bound { Ok(()) } else { Err(typed_meanwhile()) }
}

/// Refuses arguments of a class called `name` that make no container: keywords, more than one, or one beside
/// types that are `declared`; and to make an object anew that has one.
pub(crate) fn refuse_making(
    this: &Bound<'_, PyAny>,
    name: &str,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
    declared: bool,
) -> PyResult<()> {
    let text = if kwargs.is_some_and(|k| !k.is_empty()) || declared && !args.is_empty() {
        format!("{name}() takes no keyword arguments")
    } else if args.len() > 1 {
        format!("{name}() expected at most 1 argument, got {}", args.len())
    } else if of(this).is_some() {
        format!("a {name} is made once")
    } else {
        return Ok(());
    };
    Err(typing_error(this.py(), &text))
}

pub(crate) fn typed_meanwhile() -> PyErr {
    PyRuntimeError::new_err("the container was given a type meanwhile")
}

/// What is in such a container is read where it lies, but of a frozen set or a deque Python sees copies: what it changes there
/// would be lost.
pub(crate) fn refuse_unseen(ty: Type, name: &str) -> PyResult<()> {
    fn holds_any(t: Type) -> bool {
        let seen = t.container().is_none_or(|(c, _)| matches!(c, Container::Dict | Container::Set));
        !seen || t.arguments().iter().any(holds_any)
    }
    match ty.arguments().iter().find(|t| holds_any(*t)) {
        Some(t) => {
            Err(PyTypeError::new_err(format!("a typed {name} cannot hold values of type {t} (not yet)")))
        }
        None => Ok(()),
    }
}

/// What a type that is said for a container's contents is there.
pub(crate) fn said(ty: &Bound<'_, PyAny>) -> PyResult<Type> {
    let py = ty.py();
    let text: String =
        py.import("tierup.types")?.getattr("as_type")?.call1((ty,))?.getattr("_tierup_type_")?.extract()?;
    let ty = crate::texts::parse_type(py, &text)?.strong_throughout();
    match Plan::new(ty, None).convert().cannot_box(true) {
        Some(why) => Err(PyTypeError::new_err(why)),
        None => Ok(ty),
    }
}

/// A type as an object of `tierup.types`.
pub(crate) fn type_object<'py>(py: Python<'py>, ty: Type) -> PyResult<Bound<'py, PyAny>> {
    py.import("tierup.types")?.getattr("from_text")?.call1((ty.to_string(),))
}

/// What Numba calls a type of such containers.
pub(crate) fn type_name(t: Type) -> String {
    match t.container() {
        Some((Container::Dict, m)) => format!("DictType[{},{}]", type_name(m[0]), type_name(m[1])),
        Some((Container::Set, m)) => format!("SetType[{}]", type_name(m[0])),
        Some(_) => t.to_string(),
        None => {
            if let Kind::List(e) = *t {
                format!("ListType[{}]", type_name(e))
            } else {
                t.to_string()
            }
        }
    }
}

/// Runs helpers; what they raise.
pub(crate) fn run<R>(py: Python<'_>, body: impl FnOnce(*mut ThreadCtx) -> R) -> PyResult<R> {
    let ctx = crate::ctx::current();
    let answer = body(ctx);
    // SAFETY: the context is this thread's, and the thread is attached.
    unsafe {
        match tierup_runtime::exc::take_pending(ctx) {
            Some(e) => Err(crate::exc::raise(py, e.into_raw(), PyDict::new(py).as_any())),
            None => Ok(answer),
        }
    }
}

/// A method that looks at a container or changes it. With a GIL nothing else does meanwhile; without one
/// others have to see it.
#[must_use]
pub(crate) struct Use(
    Option<(*mut Counted, bool)>,
    #[allow(dead_code, reason = "ends with this: the container may be part of an object in native memory")]
    Option<Turn>,
);

impl Use {
    pub(crate) const NONE: Use = Use(None, None);

    /// Refuses while somebody who may change the container runs.
    ///
    /// # Safety
    /// Of this and those below: the container is alive, and longer than the use.
    pub(crate) unsafe fn to_read(c: *mut Counted) -> PyResult<Use> {
        // SAFETY: as required of the caller.
        unsafe { Use::begin(c, false, use_word::is_changed(c)) }
    }
    /// Refuses while anybody runs who has been given the container.
    ///
    /// # Safety
    /// See [`Use::to_read`].
    pub(crate) unsafe fn to_change(c: *mut Counted) -> PyResult<Use> {
        // SAFETY: as required of the caller.
        unsafe { Use::begin(c, true, use_word::is_used(c)) }
    }
    unsafe fn begin(c: *mut Counted, changes: bool, forbidden: bool) -> PyResult<Use> {
        // SAFETY: as required of the caller.
        unsafe {
            // Whoever looks into a container is attached.
            let turn = Turn::of_python(Python::assume_attached(), changes)?;
            if !cfg!(Py_GIL_DISABLED) {
                return if forbidden { Err(in_use(c)) } else { Ok(Use(None, turn)) };
            }
            let mut held = Use::hold(c, changes)?;
            held.1 = turn;
            Ok(held)
        }
    }
    /// Others see the use with a GIL too: signal handlers run before it ends.
    ///
    /// # Safety
    /// See [`Use::to_read`].
    pub(crate) unsafe fn hold(c: *mut Counted, changes: bool) -> PyResult<Use> {
        // No frame has this address.
        let by = crate::ctx::current() as usize | 1;
        // SAFETY: as required of the caller.
        unsafe {
            if use_word::begin(c, changes, by) { Ok(Use(Some((c, changes)), None)) } else { Err(in_use(c)) }
        }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        if let Some((c, changes)) = self.0 {
            // SAFETY: as was required; the use was begun with these.
            unsafe { use_word::end(c, changes) }
        }
    }
}

/// A reference to a native container, and the use of one that others may have.
pub(crate) struct Owned<T>(pub(crate) *mut T, #[allow(dead_code, reason = "ends with this")] Use);

impl<T> Owned<T> {
    /// A reference that is taken over, to a container that nobody else has.
    pub(crate) fn new(c: *mut T) -> Owned<T> {
        Owned(c, Use::NONE)
    }
    /// One that others have, which is used.
    ///
    /// # Safety
    /// It is alive.
    pub(crate) unsafe fn shared(c: *mut T, used: Use) -> Owned<T> {
        // SAFETY: as required of the caller.
        unsafe { retain(c.cast()) };
        Owned(c, used)
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the reference is owned.
        unsafe { release(self.0.cast()) }
    }
}
