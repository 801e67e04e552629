//! The entries of a dict in native memory, as methods of its Python class see them.

use super::{CLASS, of};
use crate::convert::native::shown::{Owned, Use, run};
use crate::convert::native::{Part, Value};
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use std::sync::Arc;
use tierup_core::desc;
use tierup_core::layout::Dict;
use tierup_core::ops::dict::{Helpers, KEY_AT};
use tierup_core::types::{Container, Int, Kind, Type};
use tierup_runtime::Native as Runtime;
use tierup_runtime::dict;

pub(super) const CHANGED: &str = "dictionary changed size during iteration";

/// A dict whose entries have types, as methods see it.
pub(super) struct Entries<'a> {
    pub(super) d: *mut Dict,
    pub(super) whole: &'a Arc<Part>,
}

/// Those of an object that is such a dict.
pub(super) fn entries_of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<Entries<'a>> {
    if !CLASS.has(obj) {
        return None;
    }
    of(obj).map(|(d, whole)| Entries { d, whole })
}

/// A key as it lies in memory.
pub(super) struct Key<'a> {
    #[allow(dead_code, reason = "holds what the key refers to")]
    value: Value<'a>,
    laid: Vec<u64>,
}

impl<'a> Key<'a> {
    fn new(mut value: Value<'a>) -> Key<'a> {
        let laid = value.laid();
        Key { value, laid }
    }
    pub(super) fn at(&self) -> *mut u8 {
        self.laid.as_ptr().cast_mut().cast()
    }
}

/// A value that was moved out of a dict.
pub(super) struct Taken<'a>(&'a Part, Vec<u64>);

impl Taken<'_> {
    pub(super) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: a value lies there.
        unsafe { Bound::from_owned_ptr_or_err(py, self.0.read(self.1.as_ptr().cast())) }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // SAFETY: what the value refers to is its own.
        unsafe { self.0.desc.release(self.1.as_ptr().cast(), 1) }
    }
}

impl<'a> Entries<'a> {
    pub(super) fn key_part(&self) -> &'a Arc<Part> {
        &self.whole.inside[0]
    }
    pub(super) fn value_part(&self) -> &'a Arc<Part> {
        &self.whole.inside[1]
    }
    pub(super) fn len(&self) -> i64 {
        // SAFETY: the dict is alive as long as its Python object.
        unsafe { (*self.d).len }
    }
    /// Refuses while somebody who may change the dict runs.
    pub(super) fn readable(&self) -> PyResult<Use> {
        // SAFETY: as above.
        unsafe { Use::to_read(self.d.cast()) }
    }
    /// Refuses while anybody runs who has been given the dict.
    pub(super) fn changeable(&self) -> PyResult<Use> {
        // SAFETY: as above.
        unsafe { Use::to_change(self.d.cast()) }
    }

    /// The key that equals an object; none where no key of this type does. Asking may run Python code.
    pub(super) fn key(&self, obj: &Bound<'_, PyAny>) -> PyResult<Option<Key<'a>>> {
        let part = self.key_part();
        let plain = is_plain(part.ty, obj);
        if !plain {
            obj.hash()?;
        }
        match part.value_of(obj) {
            Ok(Some(value)) => {
                let key = Key::new(value);
                Ok((plain || self.is_same(&key, obj)?).then_some(key))
            }
            // What equals an object of another class is found by looking at all of them.
            Ok(None) => {
                for (k, _) in self.objects(obj.py())?.iter() {
                    if k.hash()? == obj.hash()? && k.eq(obj)? {
                        return Ok(part.value_of(&k)?.map(Key::new));
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
    pub(super) fn new_key(&self, obj: &Bound<'_, PyAny>) -> PyResult<Key<'a>> {
        let part = self.key_part();
        let plain = is_plain(part.ty, obj);
        if !plain {
            obj.hash()?;
        }
        let key = Key::new(part.value(obj, "key")?);
        // An integer that is another number here could not be told from that.
        if !plain && is_integer(obj) && !self.is_same(&key, obj)? {
            return Err(PyOverflowError::new_err(format!(
                "this key is no {}, as the keys of this dict are",
                part.ty
            )));
        }
        Ok(key)
    }

    fn is_same(&self, key: &Key<'_>, obj: &Bound<'_, PyAny>) -> PyResult<bool> {
        // SAFETY: a key lies there.
        let ours: Bound<'_, PyAny> =
            unsafe { Bound::from_owned_ptr_or_err(obj.py(), self.key_part().read(key.at()))? };
        ours.eq(obj)
    }

    /// The place of a key.
    pub(super) fn find(&self, key: &Key<'_>) -> Option<i64> {
        // SAFETY: the dict is alive, and the key of its type.
        let at = unsafe { Runtime::dict_find(self.d, key.at()) };
        (at >= 0).then_some(at)
    }

    pub(super) fn key_object<'py>(&self, py: Python<'py>, at: i64) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: an entry is there, whose key lies behind the hash.
        unsafe {
            let key = dict::at(self.d, at).wrapping_offset(KEY_AT as isize);
            Bound::from_owned_ptr_or_err(py, self.key_part().read(key))
        }
    }
    pub(super) fn value_object<'py>(&self, py: Python<'py>, at: i64) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: an entry is there.
        unsafe { Bound::from_owned_ptr_or_err(py, self.value_part().read(dict::value_at(self.d, at))) }
    }

    /// Both of an entry, which Python code that runs meanwhile may take out.
    pub(super) fn pair<'py>(
        &self,
        py: Python<'py>,
        at: i64,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let key = self.key_object(py, at)?;
        // SAFETY: as far as entries go, one is still there where its hash is not 0.
        if unsafe { Runtime::dict_live(self.d, at) } != at {
            return Err(PyRuntimeError::new_err(CHANGED));
        }
        Ok((key, self.value_object(py, at)?))
    }

    /// Puts a value in.
    pub(super) fn set(&self, py: Python<'_>, key: &Key<'_>, value: &mut Value<'_>) -> PyResult<()> {
        let value = value.laid();
        // SAFETY: the dict is alive, and both are of its types.
        unsafe {
            let at = run(py, |ctx| Runtime::dict_place(ctx, self.d, key.at()))?;
            dict::set(self.d, at, value.as_ptr().cast());
        }
        Ok(())
    }

    /// Takes an entry out; its value.
    pub(super) fn take(&self, at: i64, is_last: bool) -> Taken<'a> {
        let value = self.value_part();
        let mut room = vec![0u64; (value.desc.size as usize).div_ceil(8)];
        // SAFETY: an entry is there; its value moves.
        unsafe {
            let from = dict::value_at(self.d, at);
            std::ptr::copy_nonoverlapping(from, room.as_mut_ptr().cast(), value.desc.size as usize);
            let taken = Taken(value, room);
            if is_last {
                Runtime::dict_drop_last(self.d, at);
            } else {
                Runtime::dict_remove(self.d, at);
            }
            taken
        }
    }

    /// All entries as Python's objects.
    pub(super) fn objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let _use = self.readable()?;
        let (all, len) = (PyDict::new(py), self.len());
        let mut at = 0;
        loop {
            // SAFETY: the dict is alive.
            at = unsafe { Runtime::dict_live(self.d, at) };
            // SAFETY: as above.
            if at >= unsafe { (*self.d).used } {
                return Ok(all);
            }
            let (key, value) = self.pair(py, at)?;
            all.set_item(key, value)?;
            // Making objects may have run Python code.
            if self.len() != len {
                return Err(PyRuntimeError::new_err(CHANGED));
            }
            at += 1;
        }
    }

    /// A native dict of what an object gives: itself, if it is one of the same type.
    pub(super) fn given(&self, other: &Bound<'_, PyAny>) -> PyResult<Owned<Dict>> {
        if let Some(e) = entries_of(other)
            && e.whole.ty == self.whole.ty
        {
            // Whoever gives a dict to itself uses it once.
            let used = if e.d == self.d { Use::NONE } else { e.readable()? };
            // SAFETY: the dict is alive.
            return Ok(unsafe { Owned::shared(e.d, used) });
        }
        dict_of(&gathered(other)?, self.whole)
    }

    /// Puts all entries of another dict of this type in.
    pub(super) fn update(&self, py: Python<'_>, other: &Owned<Dict>) -> PyResult<()> {
        let _use = self.changeable()?;
        // SAFETY: both are alive and of one type.
        run(py, |ctx| unsafe { Runtime::dict_update(ctx, self.d, other.0) })
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

pub(super) fn missing(key: &Bound<'_, PyAny>) -> PyErr {
    PyKeyError::new_err((key.clone().unbind(),))
}

/// What is said of types of keys that compiled code does not find by hash.
pub(super) fn check_key(ty: Type) -> PyResult<()> {
    let Some((Container::Dict, m)) = ty.container() else { return Ok(()) };
    if desc::compared_parts(m[0]).is_none() {
        return Err(PyTypeError::new_err(format!("a typed dict cannot have keys of type {}", m[0])));
    }
    Ok(())
}

/// A new native dict with room for some entries.
pub(super) fn empty(py: Python<'_>, whole: &Part, room: i64) -> PyResult<Owned<Dict>> {
    let [key, value] = &*whole.inside else { return Err(PyTypeError::new_err("no dict")) };
    let entry = desc::of(Type::tuple(vec![Type::i64(), key.ty, value.ty]));
    // SAFETY: descriptors live for ever, and the context is this thread's.
    run(py, |ctx| unsafe { Runtime::dict_new(ctx, entry, key.desc, value.desc, room.max(0)) }).map(Owned::new)
}

pub(super) fn dict_of(items: &Bound<'_, PyDict>, whole: &Arc<Part>) -> PyResult<Owned<Dict>> {
    let py = items.py();
    let new = empty(py, whole, items.len() as i64)?;
    let e = Entries { d: new.0, whole };
    for (key, value) in items.iter() {
        let (key, mut value) = (e.new_key(&key)?, whole.inside[1].value(&value, "value")?);
        e.set(py, &key, &mut value)?;
    }
    Ok(new)
}

/// The entries of a mapping, or the pairs that an iterable gives.
pub(super) fn gathered<'py>(other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if CLASS.has(other) {
        return match entries_of(other) {
            Some(e) => e.objects(other.py()),
            None => Ok(PyDict::new(other.py())),
        };
    }
    if let Ok(d) = other.cast_exact::<PyDict>() {
        return d.copy();
    }
    let all = PyDict::new(other.py());
    all.call_method1("update", (other,))?;
    Ok(all)
}
