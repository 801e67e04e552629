//! Containers in native memory whose entries are found by their keys, as methods of their Python classes see
//! them: what `tierup.typed.Dict` and `tierup.typed.Set` share. Their objects are dicts; those of a set have
//! empty tuples for values.

use super::shown::{self, Owned, ShownClass, Use, run};
use super::{Part, Value, Words};
use crate::errors::typing_error;
use crate::stand_in::BorrowedStr;
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyRuntimeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use tierup_core::desc;
use tierup_core::layout::Dict;
use tierup_core::ops::dict::{Helpers, KEY_AT};
use tierup_core::types::{Container, Int, Kind, Type};
use tierup_runtime::Native as Runtime;
use tierup_runtime::dict;
use tierup_runtime::object::release;

/// A container whose keys have a type.
pub(crate) struct Keyed<'a> {
    pub(crate) d: *mut Dict,
    pub(crate) whole: &'a Arc<Part>,
}

/// That of an object of such a class; none as long as it has no type.
pub(crate) fn of<'a>(class: &ShownClass, obj: &'a Bound<'_, PyAny>) -> Option<Keyed<'a>> {
    if !class.has(obj) {
        return None;
    }
    shown::of(obj).map(|(d, whole)| Keyed { d: d.cast(), whole })
}

/// A key, or a value, as it lies in memory.
pub(crate) enum Laid<'a> {
    Word(u64),
    /// A key that is looked for, in a Python string that is borrowed for so long. Where it lies is known when
    /// somebody asks.
    Text(BorrowedStr, Cell<*const BorrowedStr>, PhantomData<&'a ()>),
    /// One that is more than a word, or refers to something, which is held here.
    Large(Box<(Value<'a>, Words)>),
}

impl<'a> Laid<'a> {
    /// A Python object as a value of a part; `what` it is to be is said where it cannot be that.
    pub(crate) fn of(part: &'a Part, obj: &Bound<'_, PyAny>, what: &str) -> PyResult<Laid<'a>> {
        match part.word(obj) {
            Some(word) => Ok(Laid::Word(word)),
            None => part.value(obj, what).map(Laid::new),
        }
    }
    /// A Python object that needs no plan as a key.
    #[inline(always)]
    fn plain(part: &Part, obj: &'a Bound<'_, PyAny>) -> Option<Laid<'a>> {
        if let Some(word) = part.word(obj) {
            return Some(Laid::Word(word));
        }
        // SAFETY: the object is borrowed for as long.
        let text = unsafe { part.text(obj) };
        text.map(|text| Laid::Text(text, Cell::new(std::ptr::null()), PhantomData))
    }
    fn new(mut value: Value<'a>) -> Laid<'a> {
        let laid = value.laid();
        Laid::Large(Box::new((value, laid)))
    }
    pub(crate) fn at(&self) -> *mut u8 {
        match self {
            Laid::Word(word) => (&raw const *word).cast_mut().cast(),
            Laid::Text(text, at, _) => {
                at.set(text);
                at.as_ptr().cast()
            }
            Laid::Large(large) => large.1.as_ptr().cast_mut().cast(),
        }
    }
}

impl<'a> Keyed<'a> {
    pub(crate) fn key_part(&self) -> &'a Arc<Part> {
        &self.whole.inside[0]
    }
    fn is_set(&self) -> bool {
        matches!(self.whole.ty.container(), Some((Container::Set, _)))
    }
    /// What is said where its size changes while it is gone through.
    pub(crate) fn changed(&self) -> PyErr {
        let name = if self.is_set() { "Set" } else { "dictionary" };
        PyRuntimeError::new_err(format!("{name} changed size during iteration"))
    }
    pub(crate) fn len(&self) -> i64 {
        // SAFETY: the container is alive as long as its Python object.
        unsafe { (*self.d).len }
    }
    /// Refuses while somebody who may change the container runs.
    pub(crate) fn readable(&self) -> PyResult<Use> {
        // SAFETY: as above.
        unsafe { Use::to_read(self.d.cast()) }
    }
    /// Refuses while anybody runs who has been given the container.
    pub(crate) fn changeable(&self) -> PyResult<Use> {
        // SAFETY: as above.
        unsafe { Use::to_change(self.d.cast()) }
    }

    /// The key that equals an object; none where no key of this type does. Asking may run Python code.
    pub(crate) fn key<'k>(&self, obj: &'k Bound<'_, PyAny>) -> PyResult<Option<Laid<'k>>>
    where
        'a: 'k,
    {
        let part = self.key_part();
        if let Some(plain) = Laid::plain(part, obj) {
            return Ok(Some(plain));
        }
        let plain = is_plain(part.ty, obj);
        if !plain {
            obj.hash()?;
        }
        match part.value_of(obj) {
            Ok(Some(value)) => {
                let key = Laid::new(value);
                Ok((plain || self.is_same(&key, obj)?).then_some(key))
            }
            // What equals an object of another class is found by looking at all of them.
            Ok(None) => {
                for k in self.keys(obj.py())? {
                    if k.hash()? == obj.hash()? && k.eq(obj)? {
                        return Ok(part.value_of(&k)?.map(Laid::new));
                    }
                }
                Ok(None)
            }
            // No number of this type is that.
            Err(e) if e.is_instance_of::<PyOverflowError>(obj.py()) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The key that an object becomes where it is put in.
    pub(crate) fn new_key<'k>(&self, obj: &'k Bound<'_, PyAny>) -> PyResult<Laid<'k>>
    where
        'a: 'k,
    {
        let part = self.key_part();
        if let Some(plain) = Laid::plain(part, obj) {
            return Ok(plain);
        }
        let plain = is_plain(part.ty, obj);
        if !plain {
            obj.hash()?;
        }
        let [one, all, whole] =
            if self.is_set() { ["element", "elements", "set"] } else { ["key", "keys", "dict"] };
        let key = Laid::new(part.value(obj, one)?);
        // An integer that is another number here could not be told from that.
        if !plain && is_integer(obj) && !self.is_same(&key, obj)? {
            let text = format!("this {one} is no {}, as the {all} of this {whole} are", part.ty);
            return Err(PyOverflowError::new_err(text));
        }
        Ok(key)
    }

    fn is_same(&self, key: &Laid<'_>, obj: &Bound<'_, PyAny>) -> PyResult<bool> {
        // SAFETY: a key lies there.
        let ours: Bound<'_, PyAny> =
            unsafe { Bound::from_owned_ptr_or_err(obj.py(), self.key_part().read(key.at()))? };
        ours.eq(obj)
    }

    /// The place of a key.
    pub(crate) fn find(&self, key: &Laid<'_>) -> Option<i64> {
        // SAFETY: the container is alive, and the key of its type.
        let at = unsafe { Runtime::dict_find(self.d, key.at()) };
        (at >= 0).then_some(at)
    }

    /// The place of a key, which is put in where it is not there.
    pub(crate) fn place(&self, py: Python<'_>, key: &Laid<'_>) -> PyResult<i64> {
        let Laid::Text(text, ..) = key else {
            // SAFETY: the container is alive, and the key of its type.
            return run(py, |ctx| unsafe { Runtime::dict_place(ctx, self.d, key.at()) });
        };
        if let Some(at) = self.find(key) {
            return Ok(at);
        }
        // SAFETY: as above; the Python string is alive. The entry has a reference of its own.
        unsafe {
            let lasting = text.lasting();
            let at = run(py, |ctx| Runtime::dict_place(ctx, self.d, (&raw const lasting).cast_mut().cast()));
            release(lasting.cast());
            at
        }
    }

    /// The place of the last entry; none where there is none.
    pub(crate) fn last(&self) -> Option<i64> {
        // SAFETY: the container is alive.
        let at = unsafe { Runtime::dict_live_before(self.d, (*self.d).used) };
        (at >= 0).then_some(at)
    }

    /// The place of the first entry at `at` or behind it; none where there is none.
    pub(crate) fn from(&self, at: i64) -> Option<i64> {
        // SAFETY: the container is alive.
        unsafe {
            let at = Runtime::dict_live(self.d, at);
            (at < (*self.d).used).then_some(at)
        }
    }

    pub(crate) fn key_object<'py>(&self, py: Python<'py>, at: i64) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: an entry is there, whose key lies behind the hash.
        unsafe {
            let key = dict::at(self.d, at).wrapping_offset(KEY_AT as isize);
            Bound::from_owned_ptr_or_err(py, self.key_part().read(key))
        }
    }

    /// All keys as Python's objects.
    pub(crate) fn keys<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let _use = self.readable()?;
        let (mut all, len, mut next) = (vec![], self.len(), 0);
        while let Some(at) = self.from(next) {
            all.push(self.key_object(py, at)?);
            // Making objects may have run Python code.
            if self.len() != len {
                return Err(self.changed());
            }
            next = at + 1;
        }
        Ok(all)
    }
}

/// Whether an object of this class equals the key that it becomes, so that nobody has to look.
fn is_plain(key: Type, obj: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is live.
    let class = unsafe { ffi::Py_TYPE(obj.as_ptr()) };
    *key == Kind::Str && class == &raw mut ffi::PyUnicode_Type
        || *key == Kind::Int(Int::I64) && class == &raw mut ffi::PyLong_Type
        || key == Type::f64() && class == &raw mut ffi::PyFloat_Type
}

fn is_integer(obj: &Bound<'_, PyAny>) -> bool {
    obj.is_instance_of::<PyInt>()
        // SAFETY: the object is live.
        || unsafe { ffi::PyIndex_Check(obj.as_ptr()) != 0 }
}

/// What is said of types of keys that compiled code does not find by hash; `what` says whose they would be.
pub(crate) fn check_key(py: Python<'_>, key: Type, what: &str) -> PyResult<()> {
    match desc::compared_parts(key) {
        Some(_) => Ok(()),
        None => Err(typing_error(py, &format!("a typed {what} of type {key}"))),
    }
}

pub(crate) fn missing(key: &Bound<'_, PyAny>) -> PyErr {
    PyKeyError::new_err((key.clone().unbind(),))
}

/// A new container of the type of `whole` with room for some entries.
pub(crate) fn empty(py: Python<'_>, whole: &Part, room: i64) -> PyResult<Owned<Dict>> {
    let key = &whole.inside[0];
    let value = whole.inside.get(1).map_or_else(|| Type::tuple(vec![]), |value| value.ty);
    let entry = desc::of(Type::tuple(vec![Type::i64(), key.ty, value]));
    let value = desc::of(value);
    // SAFETY: descriptors live for ever, and the context is this thread's.
    run(py, |ctx| unsafe { Runtime::dict_new(ctx, entry, key.desc, value, room.max(0)) }).map(Owned::new)
}

/// Goes through a container as it is when each key is asked for; one whose size has changed is refused.
pub(crate) struct Going {
    reversed: bool,
    /// The next place; from the end the one behind it. None is left at [`ENDED`].
    at: AtomicI64,
    /// Entries that there were.
    had: i64,
    left: AtomicI64,
}

const ENDED: i64 = -1;

impl Going {
    pub(crate) fn through(container: Option<Keyed<'_>>, reversed: bool) -> PyResult<Going> {
        let (had, used) = match container {
            Some(e) => {
                let _use = e.readable()?;
                // SAFETY: the container is alive.
                unsafe { ((*e.d).len, (*e.d).used) }
            }
            None => (0, 0),
        };
        let at = AtomicI64::new(if reversed { used } else { 0 });
        Ok(Going { reversed, at, had, left: AtomicI64::new(had) })
    }

    pub(crate) fn left(&self) -> i64 {
        if self.at.load(Relaxed) == ENDED { 0 } else { self.left.load(Relaxed).max(0) }
    }

    /// The place of the next entry, and what lasts as long as it is looked at; none at the end.
    pub(crate) fn next(&self, container: Option<&Keyed<'_>>) -> PyResult<Option<(i64, Use)>> {
        let at = self.at.load(Relaxed);
        if at == ENDED {
            return Ok(None);
        }
        let Some(e) = container else {
            self.at.store(ENDED, Relaxed);
            return Ok(None);
        };
        let used = e.readable()?;
        if e.len() != self.had {
            return Err(e.changed());
        }
        // Places behind those that are taken have no entry.
        let here = if self.reversed {
            // SAFETY: the container is alive.
            let here = unsafe { Runtime::dict_live_before(e.d, at.min((*e.d).used)) };
            (here >= 0).then_some(here)
        } else {
            e.from(at)
        };
        let Some(here) = here else {
            self.at.store(ENDED, Relaxed);
            return Ok(None);
        };
        if self.left.fetch_sub(1, Relaxed) <= 0 && !self.reversed {
            return Err(PyRuntimeError::new_err("dictionary keys changed during iteration"));
        }
        // The first place comes last in a container that is gone through from its end.
        self.at.store(if self.reversed { here } else { here + 1 }, Relaxed);
        Ok(Some((here, used)))
    }
}
