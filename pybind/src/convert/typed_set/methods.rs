//! What Python's programs see of the class. What combines sets gives one of this set's type.

use super::elements::{
    SetIterator, add, contains, copied, fill, gathered, given, is_set, of, set_of, take, update,
};
use super::{CLASS, TypedSet};
use crate::convert::native::keyed::{self, Keyed, missing};
use crate::convert::native::shown::{
    self, Owned, bind_new, refuse_making, refuse_unseen, type_name, type_object,
};
use crate::convert::native::{Object, Part};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyDict, PySet, PyTuple, PyType};
use tierup_core::layout::Dict;
use tierup_core::ops::dict::Helpers;
use tierup_core::types::{Container, Kind, Type};
use tierup_runtime::Native as Runtime;

type This<'py> = Bound<'py, TypedSet>;

fn elements<'a>(this: &'a This<'_>) -> Option<Keyed<'a>> {
    of(this.as_any())
}

fn make_empty(this: &This<'_>, element: &Bound<'_, PyAny>, room: i64) -> PyResult<()> {
    let element = shown::said(element)?;
    keyed::check_key(this.py(), element, "set cannot have elements")?;
    let ty = Type::new(Kind::Container(Container::Set, vec![element]));
    refuse_unseen(ty, "set")?;
    let whole = Part::of(this.py(), ty);
    let new = keyed::empty(this.py(), &whole, room)?;
    // SAFETY: the set is new.
    unsafe { bind_new(this.as_any(), new, whole) }
}

/// A new set like this one.
fn like<'py>(this: &This<'py>, new: impl FnOnce(&Keyed<'_>) -> PyResult<Owned<Dict>>) -> PyResult<This<'py>> {
    let py = this.py();
    let made = match elements(this) {
        // SAFETY: what was made is new, and of this set's type.
        Some(e) => unsafe { CLASS.wrap(py, new(&e)?, e.whole.clone())? },
        None => py.get_type::<TypedSet>().call0()?,
    };
    Ok(made.cast_into()?)
}

/// A new set of those elements that are in another one, or that are not.
fn kept<'py>(this: &This<'py>, other: &Bound<'py, PySet>, inside: bool) -> PyResult<This<'py>> {
    like(this, |e| {
        let mut all = vec![];
        for x in e.keys(this.py())? {
            if other.contains(&x)? == inside {
                all.push(x);
            }
        }
        set_of(this.py(), all, e.whole)
    })
}

/// Takes out what is in another set, or what is not.
fn keep(this: &This<'_>, other: &Bound<'_, PySet>, inside: bool) -> PyResult<()> {
    let Some(e) = elements(this) else { return Ok(()) };
    for x in e.keys(this.py())? {
        if other.contains(&x)? != inside {
            take(&e, &x)?;
        }
    }
    Ok(())
}

fn copy_of<'py>(this: &This<'py>) -> PyResult<This<'py>> {
    like(this, |e| copied(this.py(), e))
}

/// The elements of exactly one of both.
fn apart<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<This<'py>> {
    let ours = gathered(this.as_any())?;
    let theirs = given(other)?;
    let out = kept(this, &PySet::new(this.py(), &theirs)?, false)?;
    let mut new = vec![];
    for x in theirs {
        if !ours.contains(&x)? {
            new.push(x);
        }
    }
    match elements(&out) {
        Some(e) => new.iter().try_for_each(|x| add(&e, x))?,
        None => fill(&out, new)?,
    }
    Ok(out)
}

/// The answer of an operator, which takes sets alone.
fn of_sets<'py>(
    this: &This<'py>,
    other: &Bound<'py, PyAny>,
    combine: impl FnOnce() -> PyResult<This<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    if is_set(other) {
        combine().map(Bound::into_any)
    } else {
        Ok(this.py().NotImplemented().into_bound(this.py()))
    }
}

fn refuse_no_set(other: &Bound<'_, PyAny>, operator: &str) -> PyResult<()> {
    if is_set(other) {
        return Ok(());
    }
    let class = other.get_type().name()?;
    Err(PyTypeError::new_err(format!("unsupported operand type(s) for {operator}: 'Set' and '{class}'")))
}

#[pymethods]
impl TypedSet {
    #[new]
    #[pyo3(signature = (*args, **kwargs))]
    fn new(
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        // Classes of the user's have parameters of their own.
        let _ = (args, kwargs);
        Ok(PyClassInitializer::from(Object::default()).add_subclass(TypedSet))
    }

    #[pyo3(signature = (*args, settype = None, **kwargs))]
    fn __init__(
        this: &This<'_>,
        args: &Bound<'_, PyTuple>,
        settype: Option<&Bound<'_, PyAny>>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        refuse_making(this.as_any(), "Set", args, kwargs, settype.is_some())?;
        match settype {
            Some(t) => make_empty(this, &t.getattr("key_type")?, 0),
            None => update(this, args.iter()),
        }
    }

    /// A new set of elements of a type, with room for `n_keys` of them.
    #[classmethod]
    #[pyo3(signature = (key_type, n_keys = 0))]
    fn empty<'py>(
        class: &Bound<'py, PyType>,
        key_type: &Bound<'py, PyAny>,
        n_keys: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let new = class.call_method1("__new__", (class,))?;
        make_empty(new.cast::<TypedSet>()?, key_type, n_keys)?;
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
        elements(this).map_or(0, |e| e.len() as usize)
    }

    fn __contains__(this: &This<'_>, x: &Bound<'_, PyAny>) -> PyResult<bool> {
        match elements(this) {
            Some(e) => contains(&e, x),
            None => x.hash().map(|_| false),
        }
    }

    fn __iter__(this: &This<'_>) -> PyResult<SetIterator> {
        SetIterator::new(this)
    }

    fn __richcmp__<'py>(
        this: &This<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !is_set(other) {
            return Ok(this.py().NotImplemented().into_bound(this.py()));
        }
        gathered(this.as_any())?.rich_compare(gathered(other)?, op)
    }

    // ------------------------------------------------------------ one element

    /// Puts an element in.
    fn add(this: &This<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        match elements(this) {
            Some(e) => add(&e, x),
            None => fill(this, vec![x.clone()]),
        }
    }
    /// Takes an element out, if it is there.
    fn discard(this: &This<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        match elements(this) {
            Some(e) => take(&e, x).map(|_| ()),
            None => x.hash().map(|_| ()),
        }
    }
    /// Takes an element out; KeyError where it is not there.
    fn remove(this: &This<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let found = match elements(this) {
            Some(e) => take(&e, x)?,
            None => x.hash().map(|_| false)?,
        };
        if found { Ok(()) } else { Err(missing(x)) }
    }
    /// Takes the element out that came last and returns it; KeyError where there is none.
    fn pop<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        let none = || PyKeyError::new_err("pop from an empty set");
        let e = elements(this).ok_or_else(none)?;
        let _use = e.changeable()?;
        let at = e.last().ok_or_else(none)?;
        let x = e.key_object(this.py(), at)?;
        // Making the object may have run Python code.
        if e.last() != Some(at) {
            return Err(PyRuntimeError::new_err("the set changed during pop()"));
        }
        // SAFETY: the set is alive, and its last element there.
        unsafe { Runtime::dict_drop_last(e.d, at) };
        Ok(x)
    }
    /// Takes all elements out.
    fn clear(this: &This<'_>) -> PyResult<()> {
        let Some(e) = elements(this) else { return Ok(()) };
        let _use = e.changeable()?;
        // SAFETY: the set is alive.
        unsafe { Runtime::dict_clear(e.d) };
        Ok(())
    }

    // ------------------------------------------------------------ new sets

    /// A new set of the same elements.
    fn copy<'py>(this: &This<'py>) -> PyResult<This<'py>> {
        copy_of(this)
    }
    fn __copy__<'py>(this: &This<'py>) -> PyResult<This<'py>> {
        copy_of(this)
    }
    /// A new set with the elements of others too.
    #[pyo3(signature = (*others))]
    fn union<'py>(this: &This<'py>, others: &Bound<'py, PyTuple>) -> PyResult<This<'py>> {
        let new = copy_of(this)?;
        update(&new, others.iter())?;
        Ok(new)
    }
    /// A new set of those elements that are in all others too.
    #[pyo3(signature = (*others))]
    fn intersection<'py>(this: &This<'py>, others: &Bound<'py, PyTuple>) -> PyResult<This<'py>> {
        let new = copy_of(this)?;
        others.iter().try_for_each(|o| keep(&new, &gathered(&o)?, true))?;
        Ok(new)
    }
    /// A new set of those elements that are in none of the others.
    #[pyo3(signature = (*others))]
    fn difference<'py>(this: &This<'py>, others: &Bound<'py, PyTuple>) -> PyResult<This<'py>> {
        let new = copy_of(this)?;
        others.iter().try_for_each(|o| keep(&new, &gathered(&o)?, false))?;
        Ok(new)
    }
    /// A new set of the elements of exactly one of both.
    fn symmetric_difference<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<This<'py>> {
        apart(this, other)
    }

    fn __or__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        of_sets(this, other, || {
            let new = copy_of(this)?;
            update(&new, std::iter::once(other.clone()))?;
            Ok(new)
        })
    }
    fn __ror__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::__or__(this, other)
    }
    fn __and__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        of_sets(this, other, || kept(this, &gathered(other)?, true))
    }
    fn __rand__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::__and__(this, other)
    }
    fn __sub__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        of_sets(this, other, || kept(this, &gathered(other)?, false))
    }
    fn __rsub__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        of_sets(this, other, || {
            let ours = gathered(this.as_any())?;
            let mut left = vec![];
            for x in given(other)? {
                if !ours.contains(&x)? {
                    left.push(x);
                }
            }
            like(this, |e| set_of(this.py(), left, e.whole))
        })
    }
    fn __xor__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        of_sets(this, other, || apart(this, other))
    }
    fn __rxor__<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::__xor__(this, other)
    }

    // ------------------------------------------------------------ in place

    /// Puts in the elements of others.
    #[pyo3(signature = (*others))]
    fn update(this: &This<'_>, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        update(this, others.iter())
    }
    /// Takes out what is not in all others.
    #[pyo3(signature = (*others))]
    fn intersection_update(this: &This<'_>, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        others.iter().try_for_each(|o| keep(this, &gathered(&o)?, true))
    }
    /// Takes out what is in any of the others.
    #[pyo3(signature = (*others))]
    fn difference_update(this: &This<'_>, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        others.iter().try_for_each(|o| keep(this, &gathered(&o)?, false))
    }
    /// Takes out what is in both, and puts in what is in the other one alone.
    fn symmetric_difference_update<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<()> {
        let apart = apart(this, other)?;
        keep(this, &gathered(apart.as_any())?, true)?;
        update(this, std::iter::once(apart.into_any()))
    }
    fn __ior__(this: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        refuse_no_set(other, "|=")?;
        update(this, std::iter::once(other.clone()))
    }
    fn __iand__(this: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        refuse_no_set(other, "&=")?;
        keep(this, &gathered(other)?, true)
    }
    fn __isub__(this: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        refuse_no_set(other, "-=")?;
        keep(this, &gathered(other)?, false)
    }
    fn __ixor__(this: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        refuse_no_set(other, "^=")?;
        Self::symmetric_difference_update(this, other)
    }

    // ------------------------------------------------------------ questions

    /// Whether no element is in another one.
    fn isdisjoint<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        gathered(this.as_any())?.call_method1("isdisjoint", (gathered(other)?,))
    }
    /// Whether all elements are in another one.
    fn issubset<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        gathered(this.as_any())?.call_method1("issubset", (gathered(other)?,))
    }
    /// Whether all elements of another one are here.
    fn issuperset<'py>(this: &This<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        gathered(this.as_any())?.call_method1("issuperset", (gathered(other)?,))
    }

    // ------------------------------------------------------------ the object itself

    fn __repr__(this: &This<'_>) -> PyResult<String> {
        let name = elements(this).map_or_else(|| "SetType[Undefined]".into(), |e| type_name(e.whole.ty));
        Ok(format!("{name}({})", Self::__str__(this)?))
    }

    fn __str__(this: &This<'_>) -> PyResult<String> {
        let texts = given(this.as_any())?.into_iter().map(|x| Ok(x.str()?.to_string()));
        Ok(format!("{{{}}}", texts.collect::<PyResult<Vec<_>>>()?.join(", ")))
    }

    /// The set is made anew of its elements and of their type, which has a text.
    fn __reduce__<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let py = this.py();
        let rebuild = py.import("tierup.typed")?.getattr("_set")?;
        let text = elements(this).map(|e| e.whole.ty.to_string());
        (rebuild, (this.get_type(), text, given(this.as_any())?)).into_pyobject(py)
    }

    #[getter]
    fn _typed(this: &This<'_>) -> bool {
        elements(this).is_some()
    }
    #[getter]
    fn _numba_type_<'py>(this: &This<'py>) -> PyResult<Bound<'py, PyAny>> {
        let e = elements(this).ok_or_else(|| PyTypeError::new_err("invalid operation on untyped set"))?;
        type_object(this.py(), e.whole.ty)
    }
}
