//! `tierup.typed.List`: a list in native memory ([`native`]), which compiled code takes as it is.
//!
//! Its elements have one type: what was said, or that of the elements that it is first given. What Python
//! does to them where they lie, no code is compiled for; what has to compare elements asks Python's own list
//! of them.
//!
//! [`native`]: super::native

use super::Plan;
use super::native::{Object, Part, object_of};
use super::protocol::{Class, Obj, in_use};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple, PyType};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use tierup_core::elem::Elem;
use tierup_core::layout::{List, ThreadCtx};
use tierup_core::ops::list::Helpers;
use tierup_core::types::{Kind, Type};
use tierup_runtime::Native as Runtime;
use tierup_runtime::list::use_word;
use tierup_runtime::object::{release, retain};

/// A list whose elements have one type and lie in native memory. Compiled code is given the list itself: what
/// it changes is changed here.
#[pyclass(name = "List", module = "tierup.typed", extends = Object, subclass, frozen, sequence)]
#[derive(Default)]
pub(crate) struct TypedList;

static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Object>()?;
    m.add_class::<TypedList>()?;
    // Both live as long as the module, which is never unloaded.
    CLASS.store(m.py().get_type::<TypedList>().as_ptr().cast(), Ordering::Release);
    Ok(())
}

// ---------------------------------------------------------------- the boundary

/// Whether objects of a class are such lists.
#[inline]
pub(crate) fn is_class(class: Class) -> bool {
    let ours = CLASS.load(Ordering::Relaxed);
    // SAFETY: both are live type objects; ours is not null once the module is loaded.
    class == ours || !ours.is_null() && unsafe { ffi::PyType_IsSubtype(class, ours) != 0 }
}

/// The list of an object of such a class, and its elements; none as long as they have no type.
pub(crate) fn of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<(*mut List, &'a Arc<Part>)> {
    // SAFETY: the class has been looked at.
    let object = unsafe { obj.cast_unchecked::<Object>() };
    object.get().get().map(|(l, part)| (l.cast(), part))
}

/// The type of such a list as compiled code has it.
pub(crate) fn type_of(part: &Part) -> Type {
    Type::list(part.ty)
}

/// The Python object of a native list.
///
/// # Safety
/// `l` is an owned reference to a list of such elements, which is taken over; the thread is attached.
pub(crate) unsafe fn object(elem: Type, l: *mut List) -> Obj {
    // SAFETY: as required of the caller; the reference is given up at the end.
    unsafe {
        let object = super::protocol::result(|py| object_in(py, elem, l));
        release(l.cast());
        object
    }
}

/// # Safety
/// As for [`object`], but that the reference stays the caller's.
unsafe fn object_in<'py>(py: Python<'py>, elem: Type, l: *mut List) -> PyResult<Bound<'py, PyAny>> {
    loop {
        // SAFETY: as required of the caller.
        unsafe {
            let known = object_of(l.cast());
            if !known.is_null() {
                return Ok(Bound::from_owned_ptr(py, known));
            }
            // Another thread may make it meanwhile, and that one may be gone again.
            let new = unbound(py)?;
            retain(l.cast());
            if bind(new.as_any(), l, Part::of(py, elem.strong_throughout()))? {
                return Ok(new.into_any());
            }
        }
    }
}

fn unbound(py: Python<'_>) -> PyResult<Bound<'_, TypedList>> {
    Bound::new(py, PyClassInitializer::from(Object::default()).add_subclass(TypedList))
}

/// A new object for a new list, whose reference is taken over.
///
/// # Safety
/// As for [`Object::bind`].
unsafe fn wrap<'py>(py: Python<'py>, l: *mut List, part: Arc<Part>) -> PyResult<Bound<'py, TypedList>> {
    let list = Owned(l, Use(None));
    let new = unbound(py)?;
    // SAFETY: as required of the caller.
    unsafe { bind_new(new.as_any(), list, part)? };
    Ok(new)
}

/// Makes `this` the object of a list; false where that has one or `this` is another one's. Takes the
/// reference over.
///
/// # Safety
/// As for [`Object::bind`].
unsafe fn bind(this: &Bound<'_, PyAny>, l: *mut List, part: Arc<Part>) -> PyResult<bool> {
    // SAFETY: as required of the caller; `this` is of a class whose base is `Object`.
    unsafe {
        use_word::show(l);
        let bound = this.cast_unchecked::<Object>().get().bind(this, l.cast(), part);
        if !matches!(bound, Ok(true)) {
            release(l.cast());
        }
        bound
    }
}

/// The same for a list that nobody else has.
///
/// # Safety
/// As for [`Object::bind`].
unsafe fn bind_new(this: &Bound<'_, PyAny>, list: Owned, part: Arc<Part>) -> PyResult<()> {
    // SAFETY: as required of the caller; `list` keeps its reference.
    let bound = unsafe {
        retain(list.0.cast());
        bind(this, list.0, part)?
    };
    if bound { Ok(()) } else { Err(PyRuntimeError::new_err("the list was given a type meanwhile")) }
}

// ---------------------------------------------------------------- parts of methods

type This<'py> = Bound<'py, TypedList>;

/// A list whose elements have a type, as methods see it.
struct Elements<'a> {
    l: *mut List,
    part: &'a Arc<Part>,
}

const READ: &str = "list index out of range";
const WRITTEN: &str = "list assignment index out of range";

fn untyped() -> PyErr {
    PyTypeError::new_err("invalid operation on untyped list")
}

fn elements<'a>(this: &'a This<'_>) -> PyResult<Elements<'a>> {
    of(this.as_any()).map(|(l, part)| Elements { l, part }).ok_or_else(untyped)
}

/// Those of an object that is such a list too.
fn elements_of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<Elements<'a>> {
    // SAFETY: `obj` is live.
    if !is_class(unsafe { ffi::Py_TYPE(obj.as_ptr()) }) {
        return None;
    }
    of(obj).map(|(l, part)| Elements { l, part })
}

/// Runs helpers; what they raise.
fn run<R>(py: Python<'_>, body: impl FnOnce(*mut ThreadCtx) -> R) -> PyResult<R> {
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

impl Elements<'_> {
    fn len(&self) -> i64 {
        // SAFETY: the list is alive as long as its Python object.
        unsafe { (*self.l).len }
    }
    fn at(&self, i: i64) -> *mut u8 {
        // SAFETY: as above; the caller has an index in range.
        unsafe { (*self.l).data.wrapping_offset((i * self.part.desc.size) as isize) }
    }
    /// Refuses while somebody who may change the list runs.
    fn readable(&self) -> PyResult<Use> {
        // SAFETY: as above.
        Use::begin(self.l, false, unsafe { use_word::is_changed(self.l) })
    }
    /// Refuses while anybody runs who has been given the list.
    fn changeable(&self) -> PyResult<Use> {
        // SAFETY: as above.
        Use::begin(self.l, true, unsafe { use_word::is_used(self.l) })
    }
    fn object<'py>(&self, py: Python<'py>, i: i64) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: an element lies there.
        unsafe { Bound::from_owned_ptr_or_err(py, self.part.read(self.at(i))) }
    }
    /// All elements as Python's objects.
    fn objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let _use = self.readable()?;
        let all = PyList::empty(py);
        let mut i = 0;
        while i < self.len() {
            all.append(self.object(py, i)?)?;
            i += 1;
        }
        Ok(all)
    }
    /// The position of a Python index; `outside` is what is said of one that is out of range.
    fn position(&self, i: &Bound<'_, PyAny>, outside: &'static str) -> PyResult<i64> {
        let i: isize = i.extract().map_err(|e: PyErr| {
            let class = i.get_type().name().map_or_else(|_| "object".into(), |n| n.to_string());
            if e.is_instance_of::<PyTypeError>(i.py()) {
                PyTypeError::new_err(format!("list indices must be integers or slices, not {class}"))
            } else {
                PyIndexError::new_err(format!("cannot fit '{class}' into an index-sized integer"))
            }
        })?;
        let (i, len) = (i as i64, self.len());
        let at = if i < 0 { i + len } else { i };
        if (0..len).contains(&at) { Ok(at) } else { Err(PyIndexError::new_err(outside)) }
    }
    /// Start, step and count of a slice.
    fn range(&self, s: &Bound<'_, PySlice>) -> PyResult<(i64, i64, i64)> {
        let s = s.indices(self.len() as isize)?;
        Ok((s.start as i64, s.step as i64, s.slicelength as i64))
    }
    /// A new native list of Python's objects.
    fn list_of(&self, items: &Bound<'_, PyList>) -> PyResult<Owned> {
        list_of(items, self.part)
    }
    /// A native list of what an object gives: itself, if it is one of the same type.
    fn given(&self, other: &Bound<'_, PyAny>) -> PyResult<Owned> {
        if let Some(e) = elements_of(other)
            && e.part.ty == self.part.ty
        {
            // Whoever gives a list to itself uses it once.
            let used = if e.l == self.l { Use(None) } else { e.readable()? };
            // SAFETY: the list is alive.
            unsafe { retain(e.l.cast()) };
            return Ok(Owned(e.l, used));
        }
        self.list_of(&listed(other)?)
    }
}

/// A method that looks at a list or changes it. With a GIL nothing else does meanwhile; without one others
/// have to see it.
#[must_use]
struct Use(Option<(*mut List, bool)>);

impl Use {
    fn begin(l: *mut List, changes: bool, forbidden: bool) -> PyResult<Use> {
        if !cfg!(Py_GIL_DISABLED) {
            return if forbidden { Err(in_use()) } else { Ok(Use(None)) };
        }
        // No frame has this address.
        let by = crate::ctx::current() as usize | 1;
        // SAFETY: the list is alive as long as its Python object, whose method this is for.
        if unsafe { use_word::begin(l, changes, by) } { Ok(Use(Some((l, changes)))) } else { Err(in_use()) }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        if let Some((l, changes)) = self.0 {
            // SAFETY: as above; the use was begun with these.
            unsafe { use_word::end(l, changes) }
        }
    }
}

/// A reference to a native list, and the use of one that others may have.
struct Owned(*mut List, #[allow(dead_code, reason = "ends with this")] Use);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the reference is owned.
        unsafe { release(self.0.cast()) }
    }
}

fn list_of(items: &Bound<'_, PyList>, part: &Arc<Part>) -> PyResult<Owned> {
    let py = items.py();
    let new = run(py, |ctx| unsafe { Runtime::list_new(ctx, part.desc, items.len() as i64) })?;
    let list = Owned(new, Use(None));
    let new = Elements { l: list.0, part };
    for item in items.iter() {
        let mut value = part.value(&item)?;
        // Converting may run Python code that makes the list longer.
        run(py, |ctx| unsafe { Runtime::list_reserve(ctx, list.0, 1) })?;
        // SAFETY: there is room for one more.
        unsafe {
            value.write(new.at(new.len()));
            (*list.0).len += 1;
        }
    }
    Ok(list)
}

/// What an iterable gives.
fn listed<'py>(iterable: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    if let Ok(l) = iterable.cast_exact::<PyList>() {
        return Ok(l.clone());
    }
    let values = iterable
        .try_iter()
        .map_err(|e| match e.is_instance_of::<PyTypeError>(iterable.py()) {
            true => PyTypeError::new_err("List() argument must be iterable"),
            false => e,
        })?
        .collect::<PyResult<Vec<_>>>()?;
    PyList::new(iterable.py(), values)
}

/// The type that elements of a list have.
fn common_type(items: &Bound<'_, PyList>) -> PyResult<Type> {
    match super::type_of(items.as_any()).map_err(|e| e.into_python(items.py()))?.kind() {
        Kind::List(elem) => {
            refuse_containers(*elem)?;
            Ok(elem.strong_throughout())
        }
        _ => Err(untyped()),
    }
}

/// Elements are read where they lie, but of a dict Python sees copies: what it changes there would be lost.
pub(crate) fn refuse_containers(elem: Type) -> PyResult<()> {
    fn holds_any(t: Type) -> bool {
        t.container().is_some() || t.arguments().iter().any(holds_any)
    }
    if holds_any(elem) {
        return Err(PyTypeError::new_err(format!(
            "a typed list cannot hold values of type {elem} (not yet)"
        )));
    }
    Ok(())
}

/// Gives a list without a type its elements.
fn fill(this: &This<'_>, items: &Bound<'_, PyList>) -> PyResult<()> {
    if items.is_empty() {
        return Ok(());
    }
    let part = Part::of(this.py(), common_type(items)?);
    let list = list_of(items, &part)?;
    if of(this.as_any()).is_some() {
        return Err(PyRuntimeError::new_err("the list was given a type meanwhile"));
    }
    // SAFETY: the list is live, and has no Python object yet.
    unsafe { bind_new(this.as_any(), list, part) }
}

fn type_name(t: Type) -> String {
    match *t {
        Kind::List(e) => format!("ListType[{}]", type_name(e)),
        _ => t.to_string(),
    }
}

// ---------------------------------------------------------------- the class

#[pymethods]
impl TypedList {
    #[new]
    #[pyo3(signature = (*args, **kwargs))]
    fn new(
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        // Classes of the user's have parameters of their own.
        let _ = (args, kwargs);
        Ok(PyClassInitializer::from(Object::default()).add_subclass(TypedList))
    }

    #[pyo3(signature = (*args, lsttype = None, allocated = 0, **kwargs))]
    fn __init__(
        this: &This<'_>,
        args: &Bound<'_, PyTuple>,
        lsttype: Option<&Bound<'_, PyAny>>,
        allocated: i64,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        if kwargs.is_some_and(|k| !k.is_empty()) || lsttype.is_some() && !args.is_empty() {
            return Err(PyTypeError::new_err("List() takes no keyword arguments"));
        }
        if args.len() > 1 {
            let text = format!("List() expected at most 1 argument, got {}", args.len());
            return Err(PyTypeError::new_err(text));
        }
        if of(this.as_any()).is_some() {
            return Err(PyTypeError::new_err("a List is made once"));
        }
        if let Some(t) = lsttype {
            return make_empty(this, &t.getattr("dtype")?, allocated);
        }
        let Ok(iterable) = args.get_item(0) else { return Ok(()) };
        if let Some(e) = elements_of(&iterable) {
            let _use = e.readable()?;
            let copy = run(this.py(), |ctx| unsafe { Runtime::list_slice(ctx, e.l, 0, 1, e.len()) })?;
            // SAFETY: the copy is new.
            return unsafe { bind_new(this.as_any(), Owned(copy, Use(None)), e.part.clone()) };
        }
        if iterable.getattr("ndim").is_ok_and(|n| n.extract::<i64>().is_ok_and(|n| n == 0)) {
            return fill(this, &PyList::new(this.py(), [iterable.call_method0("item")?])?);
        }
        fill(this, &listed(&iterable)?)
    }

    /// A new list of elements of a type, with room for `allocated` of them.
    #[classmethod]
    #[pyo3(signature = (item_type, allocated = 0))]
    fn empty_list<'py>(
        class: &Bound<'py, PyType>,
        item_type: &Bound<'py, PyAny>,
        allocated: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let new = class.call_method1("__new__", (class,))?;
        make_empty(new.cast::<TypedList>()?, item_type, allocated)?;
        Ok(new)
    }

    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        class.py().import("types")?.getattr("GenericAlias")?.call1((class, item))
    }

    fn __len__(this: &This<'_>) -> usize {
        of(this.as_any()).map_or(0, |(l, part)| Elements { l, part }.len() as usize)
    }

    fn __getitem__<'py>(this: &This<'py>, i: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let e = match elements(this) {
            Ok(e) => e,
            Err(_) if !i.is_instance_of::<PySlice>() => {
                return Err(PyIndexError::new_err(READ));
            }
            Err(e) => return Err(e),
        };
        let _use = e.readable()?;
        let Ok(s) = i.cast::<PySlice>() else {
            let at = e.position(i, READ)?;
            return e.object(py, at);
        };
        let (start, step, count) = e.range(s)?;
        let new = run(py, |ctx| unsafe { Runtime::list_slice(ctx, e.l, start, step, count) })?;
        // SAFETY: the list is new.
        unsafe { Ok(wrap(py, new, e.part.clone())?.into_any()) }
    }

    fn __setitem__(this: &This<'_>, i: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let e = elements(this)?;
        if let Ok(s) = i.cast::<PySlice>() {
            let other = e.given(value)?;
            let _use = e.changeable()?;
            let (start, step, count) = e.range(s)?;
            return run(this.py(), |ctx| unsafe {
                Runtime::list_assign_slice(ctx, e.l, start, step, count, other.0)
            });
        }
        let mut value = e.part.value(value)?;
        let _use = e.changeable()?;
        let (at, size) = (e.at(e.position(i, WRITTEN)?), e.part.desc.size as usize);
        let mut old = vec![0u64; size.div_ceil(8)];
        // SAFETY: an element lies there; it is moved out, and its references are given up when the new one is
        // in its place.
        unsafe {
            std::ptr::copy_nonoverlapping(at, old.as_mut_ptr().cast::<u8>(), size);
            value.write(at);
            e.part.desc.release(old.as_ptr().cast(), 1);
        }
        Ok(())
    }

    fn __delitem__(this: &This<'_>, i: &Bound<'_, PyAny>) -> PyResult<()> {
        let e = elements(this)?;
        let _use = e.changeable()?;
        let (start, step, count) = match i.cast::<PySlice>() {
            Ok(s) => e.range(s)?,
            Err(_) => (e.position(i, WRITTEN)?, 1, 1),
        };
        run(this.py(), |ctx| unsafe { Runtime::list_delete(ctx, e.l, start, step, count) })
    }

    fn __iter__(this: This<'_>) -> ListIterator {
        ListIterator { list: this.unbind(), at: AtomicUsize::new(0) }
    }

    fn __contains__(this: &This<'_>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        elements(this)?.objects(this.py())?.contains(value)
    }

    fn __richcmp__<'py>(
        this: &This<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        // SAFETY: `other` is live.
        let other = if is_class(unsafe { ffi::Py_TYPE(other.as_ptr()) }) {
            values(other)?
        } else if let Ok(l) = other.cast::<PyList>() {
            l.clone()
        } else {
            return Ok(py.NotImplemented().into_bound(py));
        };
        values(this.as_any())?.rich_compare(other, op)
    }

    fn __iadd__(this: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::extend(this, other)
    }

    /// Adds an element at the end. The first one says what type the elements have.
    fn append(this: &This<'_>, item: &Bound<'_, PyAny>) -> PyResult<()> {
        match of(this.as_any()) {
            None => fill(this, &PyList::new(this.py(), [item])?),
            Some((l, part)) => {
                let e = Elements { l, part };
                let mut value = e.part.value(item)?;
                let _use = e.changeable()?;
                run(this.py(), |ctx| unsafe { Runtime::list_reserve(ctx, e.l, 1) })?;
                // SAFETY: there is room for one more.
                unsafe {
                    value.write(e.at(e.len()));
                    (*l).len += 1;
                }
                Ok(())
            }
        }
    }

    /// Adds the elements of an iterable at the end.
    fn extend(this: &This<'_>, iterable: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(e) = elements(this) else { return fill(this, &listed(iterable)?) };
        let other = e.given(iterable)?;
        let _use = e.changeable()?;
        run(this.py(), |ctx| unsafe { Runtime::list_extend(ctx, e.l, other.0) })
    }

    /// Inserts an element before position `i`.
    fn insert(this: &This<'_>, i: i64, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(e) = elements(this) else { return fill(this, &PyList::new(this.py(), [item])?) };
        let mut value = e.part.value(item)?;
        let _use = e.changeable()?;
        let gap = run(this.py(), |ctx| unsafe { Runtime::list_insert_gap(ctx, e.l, i) })?;
        // SAFETY: the gap is for one element.
        unsafe { value.write(gap) };
        Ok(())
    }

    /// Removes the element at position `i`, by default the last one, and returns it.
    #[pyo3(signature = (i = -1))]
    fn pop<'py>(this: &This<'py>, i: i64) -> PyResult<Bound<'py, PyAny>> {
        let (py, e) = (this.py(), elements(this)?);
        let _use = e.changeable()?;
        let at = run(py, |ctx| unsafe { Runtime::list_pop_index(ctx, e.l, i) })?;
        let object = e.object(py, at)?;
        run(py, |ctx| unsafe { Runtime::list_delete(ctx, e.l, at, 1, 1) })?;
        Ok(object)
    }

    /// Removes the first element that equals `item`; ValueError when there is none.
    fn remove(this: &This<'_>, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, e) = (this.py(), elements(this)?);
        let all = e.objects(py)?;
        let n = all.len();
        for i in 0..n {
            if all.get_item(i)?.eq(item)? {
                let _use = e.changeable()?;
                return run(py, |ctx| unsafe { Runtime::list_delete(ctx, e.l, i as i64, 1, 1) });
            }
        }
        all.call_method1("remove", (item,)).map(|_| ())
    }

    /// The position of the first element that equals `item`; ValueError when there is none.
    #[pyo3(signature = (item, start = None, stop = None))]
    fn index(
        this: &This<'_>,
        item: &Bound<'_, PyAny>,
        start: Option<i64>,
        stop: Option<i64>,
    ) -> PyResult<usize> {
        let all = elements(this)?.objects(this.py())?;
        all.call_method1("index", (item, start.unwrap_or(0), stop.unwrap_or(i64::MAX)))?.extract()
    }

    /// How many elements equal `item`.
    fn count(this: &This<'_>, item: &Bound<'_, PyAny>) -> PyResult<usize> {
        elements(this)?.objects(this.py())?.call_method1("count", (item,))?.extract()
    }

    /// Removes all elements.
    fn clear(this: &This<'_>) -> PyResult<()> {
        let e = elements(this)?;
        let _use = e.changeable()?;
        run(this.py(), |ctx| unsafe { Runtime::list_clear(ctx, e.l) })
    }

    /// Reverses the list in place.
    fn reverse(this: &This<'_>) -> PyResult<()> {
        let e = elements(this)?;
        let _use = e.changeable()?;
        // SAFETY: the list is alive.
        unsafe { Runtime::list_reverse(e.l) };
        Ok(())
    }

    /// A new list of the same elements.
    fn copy<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        Self::__getitem__(this, PySlice::full(this.py()).as_any())
    }

    fn __copy__<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        if of(this.as_any()).is_none() { this.get_type().call0() } else { Self::copy(this) }
    }

    /// Sorts the list in place. The order is stable.
    #[pyo3(signature = (key = None, reverse = false))]
    fn sort(this: &This<'_>, key: Option<&Bound<'_, PyAny>>, reverse: bool) -> PyResult<()> {
        let (py, e) = (this.py(), elements(this)?);
        let used = e.changeable()?;
        let complex = e.part.desc.keys.iter().any(|k| matches!(k.elem, Elem::C64 | Elem::C128));
        if key.is_none() && e.part.desc.is_comparable() && !complex {
            return run(py, |ctx| unsafe { Runtime::list_sort(ctx, e.l, i8::from(reverse)) });
        }
        // Keys are asked of Python, which may look at the list.
        drop(used);
        let keys = e.objects(py)?;
        if let Some(key) = key {
            for i in 0..keys.len() {
                keys.set_item(i, key.call1((keys.get_item(i)?,))?)?;
            }
        }
        let by = PyDict::new(py);
        by.set_item("key", keys.getattr("__getitem__")?)?;
        by.set_item("reverse", reverse)?;
        let builtins = py.import("builtins")?;
        let order = builtins.getattr("range")?.call1((keys.len(),))?;
        let order: Vec<i64> = builtins.getattr("sorted")?.call((order,), Some(&by))?.extract()?;
        let _use = e.changeable()?;
        if e.len() as usize != order.len() {
            return Err(pyo3::exceptions::PyValueError::new_err("list modified during sort"));
        }
        e.permute(&order);
        Ok(())
    }

    fn __repr__(this: &This<'_>) -> PyResult<String> {
        let name =
            of(this.as_any()).map_or_else(|| "ListType[Undefined]".into(), |(_, p)| type_name(type_of(p)));
        Ok(format!("{name}({})", Self::__str__(this)?))
    }

    fn __str__(this: &This<'_>) -> PyResult<String> {
        let all = values(this.as_any())?;
        let texts = all.iter().map(|x| Ok(x.str()?.to_string())).collect::<PyResult<Vec<_>>>()?;
        Ok(format!("[{}]", texts.join(", ")))
    }

    /// The list is made anew of its elements and of their type, which has a text.
    fn __reduce__<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let py = this.py();
        let rebuild = py.import("tierup.typed")?.getattr("_list")?;
        let text = of(this.as_any()).map(|(_, part)| part.ty.to_string());
        let all = values(this.as_any())?;
        (rebuild, (this.get_type(), text, all)).into_pyobject(py)
    }

    #[getter]
    fn _typed(this: &This<'_>) -> bool {
        of(this.as_any()).is_some()
    }
    /// The type of the elements, in the words of `tierup.types`.
    #[getter]
    fn _dtype<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some((_, part)) = of(this.as_any()) else {
            return Err(PyRuntimeError::new_err("invalid operation on untyped list"));
        };
        this.py().import("tierup.types")?.getattr("from_text")?.call1((part.ty.to_string(),))
    }
    #[getter]
    fn _numba_type_<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = type_of(elements(this)?.part).to_string();
        this.py().import("tierup.types")?.getattr("from_text")?.call1((text,))
    }
    fn _allocated(this: &This<'_>) -> i64 {
        // SAFETY: the list is alive.
        of(this.as_any()).map_or(0, |(l, _)| unsafe { (*l).cap })
    }
    fn _is_mutable(_this: &This<'_>) -> bool {
        true
    }
}

impl Elements<'_> {
    /// Puts element `order[k]` in place `k`.
    fn permute(&self, order: &[i64]) {
        let size = self.part.desc.size as usize;
        let mut bytes = vec![0u8; size * order.len()];
        // SAFETY: as many elements lie there; each is moved to another place, with what it refers to.
        unsafe {
            for (k, i) in order.iter().enumerate() {
                std::ptr::copy_nonoverlapping(self.at(*i), bytes.as_mut_ptr().add(k * size), size);
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(0), bytes.len());
        }
    }
}

fn make_empty(this: &This<'_>, item_type: &Bound<'_, PyAny>, allocated: i64) -> PyResult<()> {
    let py = this.py();
    let text: String = py
        .import("tierup.types")?
        .getattr("as_type")?
        .call1((item_type,))?
        .getattr("_tierup_type_")?
        .extract()?;
    let ty = crate::texts::parse_type(py, &text)?.strong_throughout();
    if let Some(why) = Plan::new(ty, None).convert().cannot_box(true) {
        return Err(PyTypeError::new_err(why));
    }
    let part = Part::of(py, ty);
    let list = run(py, |ctx| unsafe { Runtime::list_new(ctx, part.desc, allocated.max(0)) })?;
    // SAFETY: the list is new.
    unsafe { bind_new(this.as_any(), Owned(list, Use(None)), part) }
}

/// The elements of such a list, of whatever type; none of one that has no type.
fn values<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    match of(this) {
        Some((l, part)) => Elements { l, part }.objects(this.py()),
        None => Ok(PyList::empty(this.py())),
    }
}

/// Goes through a list as it is when each element is asked for.
#[pyclass(module = "tierup.typed", frozen)]
struct ListIterator {
    list: Py<TypedList>,
    at: AtomicUsize,
}

#[pymethods]
impl ListIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((l, part)) = of(self.list.bind(py).as_any()) else { return Ok(None) };
        let e = Elements { l, part };
        let _use = e.readable()?;
        let i = self.at.load(Ordering::Relaxed);
        if i as i64 >= e.len() {
            // As with Python's own: one that has ended stays so.
            self.at.store(usize::MAX >> 1, Ordering::Relaxed);
            return Ok(None);
        }
        self.at.store(i + 1, Ordering::Relaxed);
        e.object(py, i as i64).map(Some)
    }
}
