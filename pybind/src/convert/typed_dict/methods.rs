//! What Python's programs see of the class.

use super::entries::{Entries, dict_of, entries_of, gathered};
use super::iterate::{DictIterator, What};
use super::{CLASS, TypedDict};
use crate::convert;
use crate::convert::native::keyed::{self, Keyed, Laid, missing};
use crate::convert::native::shown::{
    self, Owned, bind_new, refuse_making, refuse_unseen, run, type_name, type_object, typed_meanwhile,
};
use crate::convert::native::{Object, Part};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyDict, PyTuple, PyType};
use tierup_core::ops::dict::Helpers;
use tierup_core::types::Type;
use tierup_runtime::Native as Runtime;

type This<'py> = Bound<'py, TypedDict>;

fn entries<'a>(this: &'a This<'_>) -> Option<Entries<'a>> {
    shown::of(this.as_any()).map(|(d, whole)| Entries(Keyed { d: d.cast(), whole }))
}

/// The entries of a dict that surely has a type: it was just given one.
fn typed<'a>(this: &'a This<'_>) -> PyResult<Entries<'a>> {
    entries(this).ok_or_else(|| PyTypeError::new_err("invalid operation on untyped dictionary"))
}

/// Gives a dict without a type its entries.
fn fill(this: &This<'_>, items: &Bound<'_, PyDict>) -> PyResult<()> {
    if items.is_empty() {
        return Ok(());
    }
    let py = this.py();
    let ty = convert::type_of(items.as_any()).map_err(|e| e.into_python(py))?;
    refuse_unseen(ty, "dict")?;
    let whole = Part::of(py, ty.strong_throughout());
    let new = dict_of(items, &whole)?;
    if entries(this).is_some() {
        return Err(typed_meanwhile());
    }
    // SAFETY: the dict is live, and has no Python object yet.
    unsafe { bind_new(this.as_any(), new, whole) }
}

fn fill_one(this: &This<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let items = PyDict::new(this.py());
    items.set_item(key, value)?;
    fill(this, &items)
}

fn make_empty(this: &This<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, room: i64) -> PyResult<()> {
    let key = shown::said(key)?;
    keyed::check_key(this.py(), key, "dict cannot have keys")?;
    let ty = Type::dict(key, shown::said(value)?);
    refuse_unseen(ty, "dict")?;
    let whole = Part::of(this.py(), ty);
    let new = keyed::empty(this.py(), &whole, room)?;
    // SAFETY: the dict is new.
    unsafe { bind_new(this.as_any(), new, whole) }
}

/// The entries of such a dict as Python's objects.
fn items<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyDict>> {
    gathered(this.as_any())
}

/// Its view: of a class of `tierup.typed`.
fn view<'py>(this: &This<'py>, class: &str) -> PyResult<Bound<'py, PyAny>> {
    this.py().import("tierup.typed")?.getattr(class)?.call1((this,))
}

#[pymethods]
impl TypedDict {
    #[new]
    #[pyo3(signature = (*args, **kwargs))]
    fn new(
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        // Classes of the user's have parameters of their own.
        let _ = (args, kwargs);
        Ok(PyClassInitializer::from(Object::default()).add_subclass(TypedDict))
    }

    #[pyo3(signature = (*args, dcttype = None, n_keys = 0, **kwargs))]
    fn __init__(
        this: &This<'_>,
        args: &Bound<'_, PyTuple>,
        dcttype: Option<&Bound<'_, PyAny>>,
        n_keys: i64,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        refuse_making(this.as_any(), "Dict", args, kwargs, dcttype.is_some())?;
        if let Some(t) = dcttype {
            return make_empty(this, &t.getattr("key_type")?, &t.getattr("value_type")?, n_keys);
        }
        let Ok(other) = args.get_item(0) else { return Ok(()) };
        if let Some(e) = entries_of(&other) {
            let _use = e.readable()?;
            // SAFETY: the dict is alive.
            let copy = run(this.py(), |ctx| unsafe { Runtime::dict_copy(ctx, e.d) })?;
            // SAFETY: the copy is new.
            return unsafe { bind_new(this.as_any(), Owned::new(copy), e.whole.clone()) };
        }
        fill(this, &gathered(&other)?)
    }

    /// A new dict of keys and values of two types, with room for `n_keys` of them.
    #[classmethod]
    #[pyo3(signature = (key_type, value_type, n_keys = 0))]
    fn empty<'py>(
        class: &Bound<'py, PyType>,
        key_type: &Bound<'py, PyAny>,
        value_type: &Bound<'py, PyAny>,
        n_keys: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let new = class.call_method1("__new__", (class,))?;
        make_empty(new.cast::<TypedDict>()?, key_type, value_type, n_keys)?;
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
        entries(this).map_or(0, |e| e.len() as usize)
    }

    fn __getitem__<'py>(this: &This<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        found(this, key)?.ok_or_else(|| missing(key))
    }

    fn __setitem__(this: &This<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(e) = entries(this) else { return fill_one(this, key, value) };
        let (key, value) = (e.new_key(key)?, Laid::of(e.value_part(), value, "value")?);
        let _use = e.changeable()?;
        e.set(this.py(), &key, &value)
    }

    fn __delitem__(this: &This<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match entries(this) {
            Some(e) if let Some(k) = e.key(key)? => {
                let _use = e.changeable()?;
                let at = e.find(&k).ok_or_else(|| missing(key))?;
                drop(e.take(at, false));
                Ok(())
            }
            _ => Err(missing(key)),
        }
    }

    fn __contains__(this: &This<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(e) = entries(this) else {
            key.hash()?;
            return Ok(false);
        };
        let Some(key) = e.key(key)? else { return Ok(false) };
        let _use = e.readable()?;
        Ok(e.find(&key).is_some())
    }

    fn __iter__(this: &This<'_>) -> PyResult<DictIterator> {
        DictIterator::new(this, What::Keys, false)
    }
    fn __reversed__(this: &This<'_>) -> PyResult<DictIterator> {
        DictIterator::new(this, What::Keys, true)
    }
    /// What views go through.
    fn _entries(this: &This<'_>, keys: bool, values: bool, reversed: bool) -> PyResult<DictIterator> {
        let what = match (keys, values) {
            (true, true) => What::Items,
            (_, false) => What::Keys,
            (false, true) => What::Values,
        };
        DictIterator::new(this, what, reversed)
    }

    fn __richcmp__<'py>(
        this: &This<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !CLASS.has(other) && !other.is_instance_of::<PyDict>() {
            return Ok(this.py().NotImplemented().into_bound(this.py()));
        }
        items(this)?.rich_compare(gathered(other)?, op)
    }

    fn __or__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !CLASS.has(other) && !other.is_instance_of::<PyDict>() {
            return Ok(this.py().NotImplemented().into_bound(this.py()));
        }
        let new = Self::copy(this)?;
        Self::update(new.cast::<TypedDict>()?, Some(other), None)?;
        Ok(new)
    }
    fn __ior__(this: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::update(this, Some(other), None)
    }

    /// The value of a key, or `default`.
    #[pyo3(signature = (key, default = None))]
    fn get<'py>(
        this: &This<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(found(this, key)?.or(default))
    }

    /// The value of a key, which is `default` from now on where there was none.
    #[pyo3(signature = (key, default = None))]
    fn setdefault<'py>(
        this: &This<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(value) = found(this, key)? {
            return Ok(value);
        }
        let default = default.unwrap_or_else(|| this.py().None().into_bound(this.py()));
        Self::__setitem__(this, key, &default)?;
        // As it is in the dict: an int among floats is one.
        Self::__getitem__(this, key)
    }

    /// Removes a key and returns its value; `default`, or KeyError, where there is none.
    #[pyo3(signature = (key, *default))]
    fn pop<'py>(
        this: &This<'py>,
        key: &Bound<'py, PyAny>,
        default: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if default.len() > 1 {
            let text = format!("pop expected at most 2 arguments, got {}", default.len() + 1);
            return Err(PyTypeError::new_err(text));
        }
        if let Some(e) = entries(this)
            && let Some(k) = e.key(key)?
        {
            let used = e.changeable()?;
            if let Some(at) = e.find(&k) {
                let taken = e.take(at, false);
                drop(used);
                return taken.object(this.py());
            }
        }
        default.get_item(0).map_err(|_| missing(key))
    }

    /// Removes the last pair and returns it; KeyError where there is none.
    fn popitem<'py>(this: &This<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = this.py();
        let none = || PyKeyError::new_err("popitem(): dictionary is empty");
        let e = entries(this).ok_or_else(none)?;
        let used = e.changeable()?;
        let at = e.last().ok_or_else(none)?;
        let key = e.key_object(py, at)?;
        // Making the object may have run Python code.
        if e.last() != Some(at) {
            return Err(pyo3::exceptions::PyRuntimeError::new_err("the dict changed during popitem()"));
        }
        let value = e.take(at, true);
        drop(used);
        Ok((key, value.object(py)?))
    }

    /// Removes all keys.
    fn clear(this: &This<'_>) -> PyResult<()> {
        let Some(e) = entries(this) else { return Ok(()) };
        let _use = e.changeable()?;
        // SAFETY: the dict is alive.
        unsafe { Runtime::dict_clear(e.d) };
        Ok(())
    }

    /// Sets the entries of another dict, or an iterable's pairs, and names.
    #[pyo3(signature = (other = None, /, **names))]
    fn update(
        this: &This<'_>,
        other: Option<&Bound<'_, PyAny>>,
        names: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let py = this.py();
        for given in other.into_iter().chain(names.map(|n| n.as_any())) {
            match entries(this) {
                Some(e) => e.update(py, &e.given(given)?)?,
                None => match entries_of(given) {
                    // A dict of the same types, also where it is empty.
                    Some(from) => {
                        let new = keyed::empty(py, from.whole, 0)?;
                        // SAFETY: the dict is new.
                        unsafe { bind_new(this.as_any(), new, from.whole.clone())? };
                        typed(this)?.update(py, &from.given(given)?)?;
                    }
                    None => fill(this, &gathered(given)?)?,
                },
            }
        }
        Ok(())
    }

    /// A new dict of the same entries.
    fn copy<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let Some(e) = entries(this) else { return py.get_type::<TypedDict>().call0() };
        let _use = e.readable()?;
        // SAFETY: the dict is alive.
        let copy = run(py, |ctx| unsafe { Runtime::dict_copy(ctx, e.d) })?;
        // SAFETY: the copy is new.
        unsafe { CLASS.wrap(py, Owned::new(copy), e.whole.clone()) }
    }
    fn __copy__<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(this)
    }

    /// A view of the keys.
    fn keys<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(this, "_Keys")
    }
    /// A view of the values.
    fn values<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(this, "_Values")
    }
    /// A view of the pairs.
    fn items<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(this, "_Items")
    }

    fn __repr__(this: &This<'_>) -> PyResult<String> {
        let name =
            entries(this).map_or_else(|| "DictType[Undefined,Undefined]".into(), |e| type_name(e.whole.ty));
        Ok(format!("{name}({})", Self::__str__(this)?))
    }

    fn __str__(this: &This<'_>) -> PyResult<String> {
        let all = items(this)?;
        let texts = all.iter().map(|(k, v)| Ok(format!("{}: {}", k.str()?, v.str()?)));
        Ok(format!("{{{}}}", texts.collect::<PyResult<Vec<_>>>()?.join(", ")))
    }

    /// The dict is made anew of its entries and of their types, which have a text.
    fn __reduce__<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let py = this.py();
        let rebuild = py.import("tierup.typed")?.getattr("_dict")?;
        let text = entries(this).map(|e| e.whole.ty.to_string());
        (rebuild, (this.get_type(), text, items(this)?)).into_pyobject(py)
    }

    #[getter]
    fn _typed(this: &This<'_>) -> bool {
        entries(this).is_some()
    }
    #[getter]
    fn _numba_type_<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        type_object(this.py(), typed(this)?.whole.ty)
    }
}

/// The value of a key, where there is one.
fn found<'py>(this: &This<'py>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(e) = entries(this) else {
        key.hash()?;
        return Ok(None);
    };
    let Some(key) = e.key(key)? else { return Ok(None) };
    let _use = e.readable()?;
    e.find(&key).map(|at| e.value_object(this.py(), at)).transpose()
}
