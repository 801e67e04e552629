//! What Python's programs see of the class.

use super::elements::{Elements, Slice, elements_of, index, list_of, listed};
use super::{CLASS, TypedList, of};
use crate::convert;
use crate::convert::native::shown::{
    self, Owned, Use, bind_new, refuse_making, refuse_unseen, run, type_name, type_object, typed_meanwhile,
};
use crate::convert::native::{Object, Part};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple, PyType};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tierup_core::elem::Elem;
use tierup_core::ops::list::Helpers;
use tierup_core::types::{Kind, Type};
use tierup_runtime::Native as Runtime;

type This<'py> = Bound<'py, TypedList>;

const READ: &str = "list index out of range";
const WRITTEN: &str = "list assignment index out of range";

fn untyped() -> PyErr {
    PyTypeError::new_err("invalid operation on untyped list")
}

fn elements<'a>(this: &'a This<'_>) -> PyResult<Elements<'a>> {
    of(this.as_any()).map(|(l, part)| Elements { l, part }).ok_or_else(untyped)
}

/// The part that a list of such elements is.
fn whole(py: Python<'_>, elem: &Part) -> Arc<Part> {
    Part::of(py, Type::list(elem.ty))
}

/// The type that elements of a list have.
fn common_type(items: &Bound<'_, PyList>) -> PyResult<Type> {
    let t = convert::type_of(items.as_any()).map_err(|e| e.into_python(items.py()))?;
    let Kind::List(elem) = *t else { return Err(untyped()) };
    refuse_unseen(t, "list")?;
    Ok(elem.strong_throughout())
}

/// Gives a list without a type its elements.
fn fill(this: &This<'_>, items: &Bound<'_, PyList>) -> PyResult<()> {
    if items.is_empty() {
        return Ok(());
    }
    let part = Part::of(this.py(), common_type(items)?);
    let list = list_of(items, &part)?;
    if of(this.as_any()).is_some() {
        return Err(typed_meanwhile());
    }
    // SAFETY: the list is live, and has no Python object yet.
    unsafe { bind_new(this.as_any(), list, whole(this.py(), &part)) }
}

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
        refuse_making(this.as_any(), "List", args, kwargs, lsttype.is_some())?;
        if let Some(t) = lsttype {
            return make_empty(this, &t.getattr("dtype")?, allocated);
        }
        let Ok(iterable) = args.get_item(0) else { return Ok(()) };
        if let Some(e) = elements_of(&iterable) {
            let _use = e.readable()?;
            // SAFETY: the list is alive, and the slice is all of it.
            let copy = run(this.py(), |ctx| unsafe { Runtime::list_slice(ctx, e.l, 0, 1, e.len()) })?;
            // SAFETY: the copy is new.
            return unsafe { bind_new(this.as_any(), Owned::new(copy), whole(this.py(), e.part)) };
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
        let Ok(s) = i.cast::<PySlice>() else {
            let i = index(i)?;
            let _use = e.readable()?;
            return e.object(py, e.position(i, READ)?);
        };
        let s = Slice::of(s)?;
        let _use = e.readable()?;
        let (start, step, count) = e.range(s);
        // SAFETY: the list is alive, and the slice adjusted to it.
        let new = run(py, |ctx| unsafe { Runtime::list_slice(ctx, e.l, start, step, count) })?;
        // SAFETY: the list is new.
        unsafe { CLASS.wrap(py, Owned::new(new), whole(py, e.part)) }
    }

    fn __setitem__(this: &This<'_>, i: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let e = elements(this)?;
        if let Ok(s) = i.cast::<PySlice>() {
            let (s, other) = (Slice::of(s)?, e.given(value)?);
            let _use = e.changeable()?;
            let (start, step, count) = e.range(s);
            // SAFETY: both lists are alive and of one type, and the slice is adjusted.
            return run(this.py(), |ctx| unsafe {
                Runtime::list_assign_slice(ctx, e.l, start, step, count, other.0)
            });
        }
        let (i, mut value) = (index(i)?, e.part.value(value, "element")?);
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
        let delete = |(start, step, count)| {
            // SAFETY: the list is alive, and nothing ran since the position or the slice was adjusted to it.
            run(this.py(), |ctx| unsafe { Runtime::list_delete(ctx, e.l, start, step, count) })
        };
        if let Ok(s) = i.cast::<PySlice>() {
            let s = Slice::of(s)?;
            let _use = e.changeable()?;
            return delete(e.range(s));
        }
        let i = index(i)?;
        let _use = e.changeable()?;
        delete((e.position(i, WRITTEN)?, 1, 1))
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
        let other = if CLASS.has(other) {
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
                let mut value = e.part.value(item, "element")?;
                let _use = e.changeable()?;
                // SAFETY: the list is alive.
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

    /// A new typed list with the elements of both; `other` is a list of either kind.
    fn __add__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        if !other.is_instance_of::<PyList>() && !other.is_instance_of::<TypedList>() {
            return Ok(py.NotImplemented().into_bound(py));
        }
        let new = Self::__copy__(this)?;
        new.call_method1(intern!(py, "extend"), (other,))?;
        Ok(new)
    }

    fn __radd__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        if !other.is_instance_of::<PyList>() {
            return Ok(py.NotImplemented().into_bound(py));
        }
        let new = Self::__mul__(this, 0)?;
        for items in [other, this.as_any()] {
            new.call_method1(intern!(py, "extend"), (items,))?;
        }
        Ok(new)
    }

    /// A new typed list with the elements so many times.
    fn __mul__<'py>(this: &This<'py>, times: isize) -> PyResult<Bound<'py, PyAny>> {
        let new = Self::__copy__(this)?;
        new.call_method1(intern!(this.py(), "__imul__"), (times,))?;
        Ok(new)
    }

    fn __rmul__<'py>(this: &This<'py>, times: isize) -> PyResult<Bound<'py, PyAny>> {
        Self::__mul__(this, times)
    }

    fn __imul__(this: &This<'_>, times: isize) -> PyResult<()> {
        let Ok(e) = elements(this) else { return Ok(()) };
        let _use = e.changeable()?;
        // SAFETY: the list is alive.
        run(this.py(), |ctx| unsafe { Runtime::list_repeat_in_place(ctx, e.l, times as i64) })
    }

    /// Adds the elements of an iterable at the end.
    fn extend(this: &This<'_>, iterable: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(e) = elements(this) else { return fill(this, &listed(iterable)?) };
        let other = e.given(iterable)?;
        let _use = e.changeable()?;
        // SAFETY: both lists are alive and of one type.
        run(this.py(), |ctx| unsafe { Runtime::list_extend(ctx, e.l, other.0) })
    }

    /// Inserts an element before position `i`.
    fn insert(this: &This<'_>, i: i64, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(e) = elements(this) else { return fill(this, &PyList::new(this.py(), [item])?) };
        let mut value = e.part.value(item, "element")?;
        let _use = e.changeable()?;
        // SAFETY: the list is alive; the helper clamps the position.
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
        // SAFETY: the list is alive.
        let at = run(py, |ctx| unsafe { Runtime::list_pop_index(ctx, e.l, i) })?;
        // Making an object may run Python code, so the element leaves the list before.
        // SAFETY: the position is that of an element.
        let one = run(py, |ctx| unsafe { Runtime::list_slice(ctx, e.l, at, 1, 1) })?;
        let one = Owned::new(one);
        // SAFETY: as above; nothing ran in between.
        run(py, |ctx| unsafe { Runtime::list_delete(ctx, e.l, at, 1, 1) })?;
        Elements { l: one.0, part: e.part }.object(py, 0)
    }

    /// Removes the first element that equals `item`; ValueError when there is none.
    fn remove(this: &This<'_>, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, e) = (this.py(), elements(this)?);
        let mut i = 0;
        while i < e.len() {
            let element = {
                let _use = e.readable()?;
                e.object(py, i)?
            };
            if element.eq(item)? {
                let _use = e.changeable()?;
                // Comparing may have run Python code that made the list shorter. CPython removes nothing then.
                let count = i64::from(i < e.len());
                // SAFETY: the list is alive, and the position that of an element, if there is one.
                return run(py, |ctx| unsafe { Runtime::list_delete(ctx, e.l, i, 1, count) });
            }
            i += 1;
        }
        Err(PyValueError::new_err("list.remove(x): x not in list"))
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
        // SAFETY: the list is alive.
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
            drop(used);
            // SAFETY: as below.
            let _use = unsafe { Use::hold(e.l.cast(), true)? };
            // SAFETY: the list is alive; who would change it meanwhile sees that it is in use.
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
            return Err(PyValueError::new_err("list modified during sort"));
        }
        e.permute(&order);
        Ok(())
    }

    fn __repr__(this: &This<'_>) -> PyResult<String> {
        let name =
            shown::of(this.as_any()).map_or_else(|| "ListType[Undefined]".into(), |(_, p)| type_name(p.ty));
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
        type_object(this.py(), part.ty)
    }
    #[getter]
    fn _numba_type_<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        type_object(this.py(), Type::list(elements(this)?.part.ty))
    }
    fn _allocated(this: &This<'_>) -> i64 {
        // SAFETY: the list is alive.
        of(this.as_any()).map_or(0, |(l, _)| unsafe { (*l).cap })
    }
    fn _is_mutable(_this: &This<'_>) -> bool {
        true
    }
}

fn make_empty(this: &This<'_>, item_type: &Bound<'_, PyAny>, allocated: i64) -> PyResult<()> {
    let py = this.py();
    let ty = Type::list(shown::said(item_type)?);
    refuse_unseen(ty, "list")?;
    let part = Part::of(py, ty);
    // SAFETY: the descriptor lives for ever, and the context is this thread's.
    let list = run(py, |ctx| unsafe { Runtime::list_new(ctx, part.inside[0].desc, allocated.max(0)) })?;
    // SAFETY: the list is new.
    unsafe { bind_new(this.as_any(), Owned::new(list), part) }
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
