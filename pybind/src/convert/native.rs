//! Objects that live in native memory and that Python sees there: the base of their Python classes. Python
//! and compiled code have one object, so what one changes the other sees; nothing is copied, and nothing is
//! compiled to look at a part of it.
//!
//! A native object has one Python object at most, which is found again by its address as long as it lives.
//! A part (an element; a field) lies where the descriptor of its type says, and is read and written through
//! [`Part`].
//!
//! While compiled code that was given an object runs, other threads and signal handlers run Python code now
//! and then. Who calls it therefore says that it uses the object ([`Frame::uses`]); changing it
//! meanwhile is a RuntimeError.

pub(crate) mod keyed;
pub(crate) mod shown;
pub(crate) mod turns;

use super::protocol::{BoxCx, Frame, Lenience, Obj};
use super::{Plan, Purpose, text};
use crate::errors::typing_error;
use crate::stand_in::{self, BorrowedStr};
use crate::{identity, known, npy};
use pyo3::ffi;
use pyo3::prelude::*;
use shown::Owned;
use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use tierup_core::desc::{self, TypeDesc};
use tierup_core::layout::{Obj as Native, Str};
use tierup_core::types::{Int, Kind, Type};
use tierup_runtime::object::release;

/// An object in native memory.
#[pyclass(name = "Native", module = "tierup", subclass, weakref, frozen)]
#[derive(Default)]
pub(crate) struct Object {
    /// Owned; null as long as its type is not known.
    native: AtomicPtr<Native>,
    part: OnceLock<Arc<Part>>,
    /// A weak reference to this, owned; null as long as there is no native object.
    weak: AtomicPtr<ffi::PyObject>,
}

/// Weak references to the Python objects of native ones, by the addresses of these. An entry ends with the
/// Python object, which owns the weak reference and keeps the native object alive.
static OBJECTS: LazyLock<Mutex<HashMap<usize, usize>>> = LazyLock::new(Default::default);

fn objects() -> MutexGuard<'static, HashMap<usize, usize>> {
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The Python object of a native one, with a reference of its own; null where there is none.
pub(crate) fn object_of(native: *mut Native) -> Obj {
    let all = objects();
    let Some(weak) = all.get(&(native as usize)) else { return std::ptr::null_mut() };
    // SAFETY: the weak reference lives as long as its entry, and asking it runs no Python code.
    unsafe { alive(*weak as Obj) }
}

/// The object of a weak reference, with a reference of its own; null where it is gone.
///
/// # Safety
/// The weak reference is live.
unsafe fn alive(weak: Obj) -> Obj {
    // SAFETY: as required of the caller.
    unsafe {
        #[cfg(Py_3_13)]
        {
            let mut found = std::ptr::null_mut();
            ffi::PyWeakref_GetRef(weak, &raw mut found);
            found
        }
        #[cfg(not(Py_3_13))]
        {
            let found = ffi::PyWeakref_GetObject(weak);
            if found == ffi::Py_None() { std::ptr::null_mut() } else { super::protocol::new_ref(found) }
        }
    }
}

impl Object {
    /// The native object; null as long as there is none.
    #[inline]
    pub(crate) fn pointer(&self) -> *mut Native {
        self.native.load(Ordering::Acquire)
    }
    /// The native object, if its type is known.
    pub(crate) fn get(&self) -> Option<(*mut Native, &Arc<Part>)> {
        let part = self.part.get()?;
        Some((self.native.load(Ordering::Acquire), part))
    }
    /// Makes `this`, whose base this is, the Python object of a native one, unless that has one or this is
    /// another one's.
    ///
    /// # Safety
    /// `native` is a reference to an object of parts like `part`, which is taken over if the answer is true.
    pub(crate) unsafe fn bind(
        &self,
        this: &Bound<'_, PyAny>,
        native: *mut Native,
        part: Arc<Part>,
    ) -> PyResult<bool> {
        // SAFETY: `this` is live, and of a class that allows weak references.
        let weak = unsafe {
            Bound::from_owned_ptr_or_err(
                this.py(),
                ffi::PyWeakref_NewRef(this.as_ptr(), std::ptr::null_mut()),
            )?
        };
        let mut all = objects();
        // One that is being freed may still have an entry, which is no longer of any use.
        // SAFETY: as for `object_of`.
        let other = all.get(&(native as usize)).map_or(std::ptr::null_mut(), |w| unsafe { alive(*w as Obj) });
        let free = other.is_null()
            && self
                .native
                .compare_exchange(other.cast(), native, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if free {
            all.insert(native as usize, weak.as_ptr() as usize);
            self.weak.store(weak.into_ptr(), Ordering::Relaxed);
            // Nobody finds it before it knows its parts.
            let first = self.part.set(part).is_ok();
            debug_assert!(first, "who has set the native object sets its parts");
        }
        drop(all);
        // SAFETY: null, or a reference of our own; its last one may be freed here, where no lock is held.
        unsafe { ffi::Py_XDECREF(other) };
        Ok(free)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        let native = *self.native.get_mut();
        if native.is_null() {
            return;
        }
        let (weak, mut all) = (*self.weak.get_mut(), objects());
        // Another one may have been made since this could no longer be found.
        if all.get(&(native as usize)) == Some(&(weak as usize)) {
            all.remove(&(native as usize));
        }
        drop(all);
        // SAFETY: the references were owned; Python frees objects in threads that are attached.
        unsafe {
            ffi::Py_XDECREF(weak);
            release(native);
        }
    }
}

/// How parts of one type are read and written where they lie.
pub(crate) struct Part {
    pub ty: Type,
    pub desc: &'static TypeDesc,
    /// Those in a container of this type.
    pub inside: Box<[Arc<Part>]>,
    plan: Plan,
    exact: Exact,
    has_arrays: bool,
    #[allow(dead_code, reason = "keeps the classes alive by whose addresses the plan recognises objects")]
    classes: Vec<Py<PyAny>>,
}

/// Objects of Python's own classes that need no plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exact {
    Int,
    Float,
    Text,
    None,
}

impl Exact {
    fn of(t: Type) -> Exact {
        if *t == Kind::Int(Int::I64) {
            Exact::Int
        } else if t == Type::f64() {
            Exact::Float
        } else if *t == Kind::Str {
            Exact::Text
        } else {
            Exact::None
        }
    }
    /// The word of a number that is of Python's own class and fits.
    fn word(self, obj: &Bound<'_, PyAny>) -> Option<u64> {
        let obj = obj.as_ptr();
        // SAFETY: the object is live, and is of the class that is asked for.
        unsafe {
            let class = ffi::Py_TYPE(obj);
            if self == Exact::Int && class == &raw mut ffi::PyLong_Type {
                let mut beyond = 0;
                let x = ffi::PyLong_AsLongLongAndOverflow(obj, &mut beyond);
                return (beyond == 0).then_some(x as u64);
            }
            (self == Exact::Float && class == &raw mut ffi::PyFloat_Type)
                .then(|| ffi::PyFloat_AS_DOUBLE(obj).to_bits())
        }
    }
}

/// Parts by their types: there are as many as types.
static PARTS: LazyLock<Mutex<HashMap<Type, Arc<Part>>>> = LazyLock::new(Default::default);

impl Part {
    pub(crate) fn of(py: Python<'_>, ty: Type) -> Arc<Part> {
        if let Some(known) = PARTS.lock().unwrap_or_else(PoisonError::into_inner).get(&ty) {
            return known.clone();
        }
        let part = Arc::new(Part::new(py, ty, Purpose::Element));
        PARTS.lock().unwrap_or_else(PoisonError::into_inner).entry(ty).or_insert(part).clone()
    }

    /// One whose numbers are those that Python would go on with, NumPy's among them.
    pub(crate) fn going_on(py: Python<'_>, ty: Type) -> Arc<Part> {
        Arc::new(Part::new(py, ty, Purpose::GoesOn))
    }

    fn new(py: Python<'_>, ty: Type, purpose: Purpose) -> Part {
        let mut found = vec![];
        known::objects_of(ty, &mut found);
        let classes = found.iter().filter_map(|n| identity::object(py, *n).map(Bound::unbind)).collect();
        let plan = Plan::new(ty, Some(purpose));
        let is_container = matches!(*ty, Kind::List(_) | Kind::Container(..));
        let inside = if is_container {
            ty.arguments().iter().map(|t| Part::of(py, t)).collect()
        } else {
            Box::default()
        };
        let exact = if matches!(purpose, Purpose::Element) { Exact::of(ty) } else { Exact::None };
        Part { ty, desc: desc::of(ty), inside, plan, exact, has_arrays: has_arrays(ty), classes }
    }

    /// The word that a number of Python's own class becomes, where that is all that a value is.
    #[inline(always)]
    pub(crate) fn word(&self, obj: &Bound<'_, PyAny>) -> Option<u64> {
        self.exact.word(obj)
    }

    /// What stands for an object of Python's own class of texts, where values are texts.
    ///
    /// # Safety
    /// The object outlives the answer.
    #[inline(always)]
    pub(crate) unsafe fn text(&self, obj: &Bound<'_, PyAny>) -> Option<BorrowedStr> {
        let obj = obj.as_ptr();
        // SAFETY: the object is live, and a str in its final form where one stands for it.
        unsafe {
            let is_text = self.exact == Exact::Text && ffi::Py_TYPE(obj) == &raw mut ffi::PyUnicode_Type;
            (is_text && text::ready(obj)).then(|| stand_in::borrowed_str(obj))
        }
    }

    /// The Python object of the part at `at`.
    ///
    /// # Safety
    /// Such a value lies there; the thread is attached.
    pub(crate) unsafe fn read(&self, at: *const u8) -> Obj {
        let mut words = Words::new(self.desc);
        let words = words.as_mut_ptr();
        let mut cx = BoxCx::new(None);
        cx.shares = true;
        // SAFETY: boxing takes references over, so it is given some.
        unsafe {
            self.desc.gather(at, words);
            self.desc.retain(at, 1);
            self.plan.to_python(&mut words.cast_const(), &mut cx)
        }
    }

    pub(crate) fn ty(&self) -> Type {
        self.ty
    }

    /// The Python object of the value at `at`, whose references are taken over.
    ///
    /// # Safety
    /// As for [`Part::read`].
    pub(crate) unsafe fn take(&self, at: *const u8) -> Obj {
        let mut words = Words::new(self.desc);
        let words = words.as_mut_ptr();
        // SAFETY: as required of the caller.
        unsafe {
            self.desc.gather(at, words);
            self.plan.to_python(&mut words.cast_const(), &mut BoxCx::new(None))
        }
    }

    /// The value of a Python object, ready to be written; `what` it is to be is said where it cannot be that.
    pub(crate) fn value(&self, obj: &Bound<'_, PyAny>, what: &str) -> PyResult<Value<'_>> {
        match self.value_of(obj)? {
            Some(value) => Ok(value),
            None => {
                let text = format!("{} is no {what} of type {}", obj.repr()?, self.ty);
                Err(typing_error(obj.py(), &text))
            }
        }
    }

    /// The same; none of an object of another type.
    pub(crate) fn value_of(&self, obj: &Bound<'_, PyAny>) -> PyResult<Option<Value<'_>>> {
        if let Some(word) = self.word(obj) {
            return Ok(Some(Value { part: self, words: Words::one(word), held: Held::Nothing }));
        }
        // SAFETY: the object is alive, and the string that is made keeps it so.
        if let Some(text) = unsafe { self.text(obj).map(|text| text.lasting()) } {
            let held = Held::Text(Owned::new(text));
            return Ok(Some(Value { part: self, words: Words::one(text as u64), held }));
        }
        // Plans compare classes with NumPy's, which nobody may have asked for yet.
        if self.has_arrays && npy::loaded().is_none() {
            npy::get(obj.py())?;
        }
        let mut frame = Box::new(Frame::new(true));
        frame.lenience = Lenience::Converted;
        let mut words = Words::new(self.desc);
        // SAFETY: the object lives as long as it is looked at; the frame stays where it is.
        if unsafe { self.plan.unbox(obj.as_ptr(), words.as_mut_ptr(), &mut frame) }.is_some() {
            return Ok(Some(Value { part: self, words, held: Held::Frame(frame) }));
        }
        match frame.extra().failure.take() {
            Some(e) => Err(e.into_python(obj.py())),
            None => Ok(None),
        }
    }
}

pub(crate) fn has_arrays(t: Type) -> bool {
    t.as_array().is_some() || t.arguments().iter().any(has_arrays)
}

/// A value on its way into native memory.
pub(crate) struct Value<'p> {
    part: &'p Part,
    words: Words,
    #[allow(dead_code, reason = "holds what the words refer to")]
    held: Held,
}

/// What a value refers to.
#[allow(dead_code, reason = "ends with the value")]
enum Held {
    Nothing,
    Text(Owned<Str>),
    Frame(Box<Frame>),
}

impl Value<'_> {
    /// Writes it at `to`, with references of its own.
    ///
    /// # Safety
    /// There is room.
    pub(crate) unsafe fn write(&mut self, to: *mut u8) {
        // SAFETY: as required of the caller.
        unsafe {
            self.part.desc.scatter(self.words.as_mut_ptr(), to);
            self.part.desc.retain(to, 1);
        }
    }
    /// It as it lies in memory, with references that stay this one's.
    pub(crate) fn laid(&mut self) -> Words {
        let mut room = Words::with_room((self.part.desc.size as usize).div_ceil(8));
        // SAFETY: there is room.
        unsafe { self.part.desc.scatter(self.words.as_mut_ptr(), room.as_mut_ptr().cast()) };
        room
    }
}

/// A word for each leaf of a value, as plans write and boxing reads them.
pub(crate) struct Words {
    few: [u64; 8],
    many: Vec<u64>,
}

impl Words {
    pub(crate) fn new(desc: &TypeDesc) -> Words {
        Words::with_room(desc.leaves.len())
    }
    fn with_room(n: usize) -> Words {
        Words { few: [0; 8], many: if n > 8 { vec![0; n] } else { vec![] } }
    }
    fn one(word: u64) -> Words {
        Words { few: [word, 0, 0, 0, 0, 0, 0, 0], many: vec![] }
    }
    pub(crate) fn as_ptr(&self) -> *const u64 {
        if self.many.is_empty() { self.few.as_ptr() } else { self.many.as_ptr() }
    }
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u64 {
        if self.many.is_empty() { self.few.as_mut_ptr() } else { self.many.as_mut_ptr() }
    }
}
