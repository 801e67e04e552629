//! Dicts. A dict argument is copied into a native dict, and its changes are written back ([`copies`]). A typed
//! dict is passed as it is ([`typed_dict`]).
//!
//! [`copies`]: super::protocol
//! [`typed_dict`]: super::typed_dict

use super::common::{common_type, is_as_before, succeeded};
use super::list::Filled;
use super::native::{Words, shown};
use super::object::shapes::whole;
use super::protocol::{BoxCx, Class, Convert, Copied, Frame, Made, Obj, Strictness, new_ref, next};
use super::recognise::Records;
use super::{Constructor, Plan, Purpose, numbers, python_dict, recognise, typed_dict};
use crate::errors::Failure;
use crate::gil::attached;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};
use tierup_core::declare::conversion;
use tierup_core::desc::{self, TypeDesc};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::layout::{Counted, Dict};
use tierup_core::ops::dict::{Helpers, KEY_AT, is_own_key};
use tierup_core::types::promote::{same_but_weak, unify};
use tierup_core::types::{ClassDef, Container, Kind, Type};
use tierup_runtime::Native as Runtime;
use tierup_runtime::dict;
use tierup_runtime::object::release;
use tierup_runtime::use_word;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        if typed_dict::CLASS.has(obj) {
            return match shown::of(obj) {
                Some((_, part)) => Ok(Some(part.ty)),
                None => Err(recognise::unknown_elements(
                    "types of keys and values of an empty dict",
                    "give it an entry first, or make it with Dict.empty(key_type, value_type)",
                )),
            };
        }
        // Classes derived from dict have meanings of their own: a default, another order.
        if !obj.is_exact_instance_of::<PyDict>() {
            return Ok(None);
        }
        let Ok(d) = obj.cast::<PyDict>() else { return Ok(None) };
        recognise::nested_once(obj, || type_of_entries(d)).map(Some)
    },
    plan: |t, purpose| {
        let Kind::Container(Container::Dict, m) = t.kind() else { return Plan::impossible(t) };
        Plan::other(DictPlan::new(m[0], m[1], t, purpose, python_dict::Of::new(Container::Dict, None)))
    },
};

// ---------------------------------------------------------------- types

/// The type of a dict; of an empty one, `dict(never, never)`.
fn type_of_entries(d: &Bound<'_, PyDict>) -> Result<Type, Failure> {
    let d = &python_dict::at_one_moment(d)?;
    let found = entries_of(d);
    let several = match (recognise::records(), &found) {
        (Records::Refused, _) => false,
        (Records::Exact, Ok((key, _))) => *key == Type::str() && mixes_numbers(d),
        (Records::Taken, Ok(_)) => false,
        (Records::Taken | Records::Exact, Err(_)) => true,
    };
    if several && let Some(t) = type_of_record(d) {
        return Ok(t);
    }
    // They would be numbers of one type.
    if recognise::records() == Records::Exact
        && found.as_ref().is_ok_and(|(_, v)| v.is_number())
        && mixes_numbers(d)
    {
        return Err(refused("the values of a dict argument are numbers of different types".into()));
    }
    let found = match found {
        // A dict of names may yet be taken as a record.
        Err(e) if several || !d.keys().iter().all(|k| k.is_exact_instance_of::<PyString>()) => {
            mixed_values(d).ok_or(e)
        }
        found => found,
    };
    found.map(|(k, v)| Type::dict(k, v))
}

/// The types of the entries of a dict whose values are plain ones of several types.
fn mixed_values(d: &Bound<'_, PyDict>) -> Option<(Type, Type)> {
    let of_keys = PyDict::new(d.py());
    d.keys().iter().try_for_each(|k| of_keys.set_item(k, 0)).ok()?;
    let types: Vec<Type> = d.values().iter().map(|v| super::part_type(&v).ok()).collect::<Option<_>>()?;
    Some((entries_of(&of_keys).ok()?.0, tierup_core::type_of_mixed(&types)?))
}

/// Keys of one such dict, and sets of keys that there may be: each has code of its own.
const MOST_KEYS: usize = 32;
const MOST_RECORDS: usize = 256;

/// The type of a dict whose values have several types: values with names. None where a key is no plain str, or there
/// are too many.
fn type_of_record(d: &Bound<'_, PyDict>) -> Option<Type> {
    static KNOWN: Mutex<BTreeSet<Vec<String>>> = Mutex::new(BTreeSet::new());
    if d.is_empty() || d.len() > MOST_KEYS {
        return None;
    }
    let name = |k: Bound<'_, PyAny>| k.is_exact_instance_of::<PyString>().then(|| k.extract().ok()).flatten();
    let names: Vec<String> = d.keys().iter().map(name).collect::<Option<_>>()?;
    let types: Vec<Type> = d.values().iter().map(|v| super::part_type(&v).ok()).collect::<Option<_>>()?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.contains(&names) {
        if known.len() == MOST_RECORDS {
            return None;
        }
        known.insert(names.clone());
    }
    drop(known);
    Some(Type::new(Kind::NamedTuple(ClassDef::keywords(names), types)))
}

/// Whether among the values are numbers of several kinds: bools, ints, floats. Nobody changes the dict meanwhile.
fn mixes_numbers(d: &Bound<'_, PyDict>) -> bool {
    let (mut last, mut kind) = (std::ptr::null_mut(), None);
    for (_, v) in d.iter() {
        // SAFETY: it is live.
        let class = unsafe { ffi::Py_TYPE(v.as_ptr()) };
        if class == last {
            continue;
        }
        last = class;
        let Some(t) = super::part_type(&v).ok().filter(|t| t.is_number()) else { continue };
        let now = (*t == Kind::Bool, t.is_float(), t.is_complex());
        if *kind.get_or_insert(now) != now {
            return true;
        }
    }
    false
}

/// The types of the keys and values of a dict of whatever class, which nobody changes meanwhile.
pub(super) fn entries_of(d: &Bound<'_, PyDict>) -> Result<(Type, Type), Failure> {
    let (mut key, mut value) = (Type::never(), Type::never());
    // Whether all keys have been looked at, since they are of several types.
    let mut of_all = false;
    let mut last = (std::ptr::null_mut(), std::ptr::null_mut());
    for (k, v) in d.iter() {
        // SAFETY: both are live.
        let classes = unsafe { (ffi::Py_TYPE(k.as_ptr()), ffi::Py_TYPE(v.as_ptr())) };
        // SAFETY: as above.
        let (same_key, same_value) = unsafe {
            (
                is_as_before(k.as_ptr(), classes.0, last.0, key),
                is_as_before(v.as_ptr(), classes.1, last.1, value),
            )
        };
        if !same_key && !of_all {
            let t = super::part_type(&k)?;
            key = match common_key(key, t)? {
                Some(both) => both,
                None => mixed_keys(d.keys().iter()).inspect(|t| of_all = t.is_some())?.ok_or_else(|| {
                    refused(format!("the keys of a dict argument have different types: {key} and {t}"))
                })?,
            };
        }
        if !same_value {
            let t = super::part_type(&v)?;
            value = common_type(value, t).ok_or_else(|| {
                refused(format!("the values of a dict argument have different types: {value} and {t}"))
            })?;
        }
        last = classes;
    }
    Ok((key, value))
}

pub(super) fn refused(text: String) -> Failure {
    Diagnostic::new(Code::UnsupportedArgument, text)
        .help("pass two dicts, or lists of keys and values")
        .into()
}

/// The type of tuples of different lengths whose members are of one type.
pub(super) fn tuples_of_any_length(a: Type, b: Type) -> Option<Type> {
    unify(a, b).filter(|t| matches!(t.kind(), Kind::Container(Container::Tuple, _)))
}

/// The type of keys of several types, or elements of a set; none where they are not plain values, or where they are all
/// numbers: those are not told apart everywhere.
pub(super) fn mixed_keys<'py>(all: impl Iterator<Item = Bound<'py, PyAny>>) -> Result<Option<Type>, Failure> {
    let mut types = vec![];
    for k in all {
        let t = super::part_type(&k)?;
        if !types.contains(&t) {
            types.push(t);
        }
    }
    if types.iter().all(|t| t.is_number()) {
        return Ok(None);
    }
    Ok(tierup_core::type_of_mixed(&types).filter(|t| desc::is_found(*t)))
}

/// The type of both, where it is one. Keys stay the objects that they are: an int is no float.
fn common_key(a: Type, b: Type) -> Result<Option<Type>, Failure> {
    if !desc::is_found(b) && !is_own_key(b) {
        return Err(refused(format!("compiled code cannot take a dict with keys of type {b}")));
    }
    if *a == Kind::Never || same_but_weak(a, b) {
        return Ok(Some(if *a == Kind::Never { b } else { a }));
    }
    Ok(tuples_of_any_length(a, b))
}

// ---------------------------------------------------------------- conversion

/// Converts one half of the entries.
pub(super) struct Half {
    pub(super) plan: Plan,
    pub(super) desc: &'static TypeDesc,
}

impl Half {
    pub(super) fn new(t: Type, purpose: Option<Purpose>) -> Half {
        Half { plan: Plan::new(t, purpose), desc: desc::of(t) }
    }
    /// The value of an object, laid out in memory that has room for it; its references are borrowed.
    ///
    /// # Safety
    /// As for [`Convert::unbox`].
    pub(super) unsafe fn read(
        &self,
        obj: Obj,
        words: &mut Words,
        to: *mut u8,
        frame: &mut Frame,
    ) -> Option<()> {
        // SAFETY: as required of the caller; there is a word for each leaf.
        unsafe {
            self.plan.unbox(obj, words.as_mut_ptr(), frame)?;
            self.desc.scatter(words.as_mut_ptr(), to);
        }
        Some(())
    }
    /// A new Python object of a value, which keeps its references.
    ///
    /// # Safety
    /// A value lies at `from`; the thread is attached.
    pub(super) unsafe fn object(&self, from: *const u8, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: boxing takes references over, so it is given some.
        unsafe {
            self.desc.retain(from, 1);
            let mut words = Words::new(self.desc);
            self.desc.gather(from, words.as_mut_ptr());
            self.plan.to_python(&mut words.as_mut_ptr().cast_const(), cx)
        }
    }
    /// Memory for a value.
    pub(super) fn room(&self) -> Vec<u64> {
        vec![0; (self.desc.size as usize).div_ceil(8)]
    }
}

/// The hashes of keys that say them themselves, in the order of a dict or a set. Asking them runs Python code,
/// which may change what they lie in: so all are asked before anything is converted, and each is the key's that
/// is met then.
pub(super) struct Hashes {
    keys: Vec<(Py<PyAny>, i64)>,
    at: usize,
}

impl Hashes {
    /// None where asking raised, which the frame knows then.
    pub(super) fn of(keys: impl Iterator<Item = Obj>, frame: &mut Frame) -> Option<Hashes> {
        attached(|py| {
            // SAFETY: the keys are live; each gets a reference of its own before any code runs.
            let keys = keys.map(|k| unsafe { Bound::from_borrowed_ptr(py, k).unbind() });
            let keys: Vec<Py<PyAny>> = keys.collect();
            let hashed = keys.into_iter().map(|k| {
                let hash = k.bind(py).hash()?;
                Ok((k, hash as i64))
            });
            match hashed.collect::<PyResult<_>>() {
                Ok(keys) => Some(Hashes { keys, at: 0 }),
                Err(e) => {
                    frame.extra().failure = Some(e.into());
                    None
                }
            }
        })
    }
    /// The hash of the next key.
    pub(super) fn next(&mut self, key: Obj, frame: &mut Frame) -> Option<i64> {
        let known = self.keys.get(self.at).filter(|(k, _)| k.as_ptr() == key).map(|(_, hash)| *hash);
        self.at += 1;
        if known.is_none() {
            let text = "a dict or set changed while its keys were hashed";
            frame.extra().failure = Some(pyo3::exceptions::PyRuntimeError::new_err(text).into());
        }
        known
    }
}

pub(super) struct DictPlan {
    ty: Type,
    of: python_dict::Of,
    key: Half,
    value: Half,
    /// Take keys and values of exactly their types, so that a dict of nothing else needs no look at its type.
    /// Not for what holds lists or dicts, which would be half converted where one part does not fit.
    exact: Option<(Half, Half)>,
    entry: &'static TypeDesc,
    takes: Strictness,
    /// Keys say themselves what their hash is, and which are equal.
    own_keys: bool,
}

impl DictPlan {
    pub(super) fn new(
        key: Type,
        value: Type,
        ty: Type,
        purpose: Option<Purpose>,
        of: python_dict::Of,
    ) -> DictPlan {
        let exact = purpose != Some(Purpose::Declared) && !value.holds_list();
        let element = Some(Purpose::Element);
        DictPlan {
            ty,
            of,
            key: Half::new(key, element),
            value: Half::new(value, element),
            exact: exact.then(|| (Half::new(key, None), Half::new(value, None))),
            entry: desc::of(Type::tuple(vec![Type::i64(), key, value])),
            takes: Strictness::of(purpose),
            own_keys: is_own_key(key),
        }
    }

    /// Whether a dict has this very type. An empty dict, which may be of it, is. Where Python's answer is promised
    /// (`exact`) an int among floats is none.
    fn admits(&self, d: &Bound<'_, PyDict>, exact: bool) -> bool {
        if exact && mixes_numbers(d) {
            return false;
        }
        self.takes == Strictness::Lenient
            || d.is_empty()
            || whole(d.py(), || self.type_of(d)).is_ok_and(|t| {
                t == self.ty || self.takes == Strictness::Declared && conversion(t, self.ty).is_some()
            })
    }
    /// The type that a dict of this class has by its entries.
    fn type_of(&self, d: &Bound<'_, PyDict>) -> Result<Type, Failure> {
        let (k, v) = entries_of(d)?;
        Ok(match self.ty.container() {
            Some((class, m)) => Type::new(Kind::Container(class, [&[k, v], &m[2..]].concat())),
            None => Type::dict(k, v),
        })
    }
    /// Whether an object makes the values of missing keys as this type says.
    ///
    /// # Safety
    /// `obj` is live; the thread is attached.
    unsafe fn makes_same(&self, obj: Obj) -> bool {
        let Some((Container::DefaultDict, m)) = self.ty.container() else { return true };
        attached(|py| {
            // SAFETY: as required of the caller.
            let obj = unsafe { Bound::from_borrowed_ptr(py, obj) };
            python_dict::factory(&obj)
                .map_err(Failure::from)
                .and_then(|f| super::part_type(&f))
                .is_ok_and(|t| t == m[2])
        })
    }
    unsafe fn admits_object(&self, obj: Obj, exact: bool) -> bool {
        attached(|py| {
            // SAFETY: `obj` is a live dict.
            let d = unsafe { Bound::from_borrowed_ptr(py, obj) };
            // SAFETY: as above.
            self.admits(unsafe { d.cast_unchecked() }, exact)
        })
    }

    /// How keys and values become Python objects.
    fn back(&self) -> (&Half, &Half) {
        self.exact.as_ref().map_or((&self.key, &self.value), |(k, v)| (k, v))
    }

    /// The dict of an object that Python sees itself.
    ///
    /// # Safety
    /// As for [`Convert::unbox`]; `obj` is of such a class.
    unsafe fn shown(&self, obj: Obj, frame: &mut Frame) -> Option<*mut Counted> {
        // SAFETY: as required of the caller.
        let obj = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), obj) };
        let (d, part) = shown::of(&obj)?;
        let ours = if self.takes != Strictness::Strict { self.ty.strong_throughout() } else { self.ty };
        if part.ty != ours {
            return None;
        }
        // SAFETY: the object keeps the dict alive.
        unsafe { frame.uses(d, part.inside[1].ty.holds_list())? };
        Some(d)
    }

    /// A native dict with the entries of a Python dict; known to the frame.
    ///
    /// # Safety
    /// As for [`Convert::unbox`]; `obj` is a dict.
    unsafe fn copy_in(&self, obj: Obj, frame: &mut Frame) -> Option<*mut Dict> {
        // SAFETY: what it holds is not changed meanwhile, since converting its parts runs no Python code.
        unsafe {
            let at = std::ptr::from_ref(self) as usize;
            let still = self.of.argument(obj, frame)?;
            let held = still.get();
            if !frame.may_be(self.ty, ffi::PyDict_Size(held) as usize, self.takes, at) {
                return None;
            }
            if !self.makes_same(obj) || self.exact.is_none() && !self.admits_object(held, frame.exact) {
                return None;
            }
            let native = dict::new(self.entry, self.key.desc, self.value.desc);
            // Known before its values are converted: a dict may contain itself.
            let at = frame.extra().copies.add(new_ref(obj), native.cast(), self.ty, self);
            match self.fill(native, held, frame) {
                Filled::All => {}
                Filled::Refused if self.exact.is_none() => return None,
                // Another overload may take it: nothing of this attempt stays.
                Filled::Refused => {
                    frame.extra().copies.truncate(at);
                    return None;
                }
            }
            frame.extra().copies.get(at)?.before.replace(contents(native));
            Some(native)
        }
    }

    /// Sets the entries of a Python dict in an empty native one.
    ///
    /// # Safety
    /// As for [`DictPlan::copy_in`]; nobody changes the dict meanwhile.
    unsafe fn fill(&self, native: *mut Dict, obj: Obj, frame: &mut Frame) -> Filled {
        let ctx = crate::ctx::current();
        let mut halves = self.exact.as_ref().map_or((&self.key, &self.value), |(k, v)| (k, v));
        let mut converts = self.exact.is_none();
        let mut own = None;
        if self.own_keys {
            // SAFETY: a live dict.
            let Some(items) = (unsafe { self.of.items(obj) }) else {
                frame.extra().failure = attached(|py| PyErr::take(py)).map(Failure::from);
                return Filled::Refused;
            };
            let Some(hashes) = Hashes::of(items.all.iter().step_by(2).copied(), frame) else {
                return Filled::Refused;
            };
            own = Some(hashes);
        }
        let (mut key, mut value) = (self.key.room(), self.value.room());
        let (mut key_words, mut value_words) = (Words::new(self.key.desc), Words::new(self.value.desc));
        // SAFETY: as required of the caller.
        unsafe {
            let mut walk = self.of.walk(obj);
            while let Some((k, v)) = walk.step() {
                let (to_key, to_value) = (key.as_mut_ptr().cast::<u8>(), value.as_mut_ptr().cast::<u8>());
                loop {
                    let read = halves
                        .0
                        .read(k, &mut key_words, to_key, frame)
                        .and_then(|()| halves.1.read(v, &mut value_words, to_value, frame));
                    if read.is_some() {
                        break;
                    }
                    // A part of another type: the dict may still be one of the wanted type, if its parts are
                    // converted.
                    if converts || !self.admits_object(obj, frame.exact) {
                        return Filled::Refused;
                    }
                    (converts, halves) = (true, (&self.key, &self.value));
                }
                let i = match &mut own {
                    Some(own) => match own.next(k, frame) {
                        Some(hash) => Runtime::dict_append(ctx, native, to_key, hash),
                        None => return Filled::Refused,
                    },
                    None => Runtime::dict_place(ctx, native, to_key),
                };
                if succeeded(ctx, frame).is_none() {
                    return Filled::Refused;
                }
                dict::set(native, i, to_value);
            }
            Filled::All
        }
    }

    /// A new Python dict; the native one is only looked at.
    ///
    /// # Safety
    /// `d` is a live dict of this type; the thread is attached.
    unsafe fn new_object(&self, d: *mut Dict, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        unsafe {
            let object = self.of.empty(cx);
            if object.is_null() {
                return object;
            }
            // Known before its values are made: a dict may contain itself. See lists.
            cx.add(Made { native: d.cast(), object, ty: self.ty, by: self });
            for i in dict::live(d) {
                if !self.set(object, None, None, entry_key(dict::at(d, i)), dict::value_at(d, i), cx) {
                    ffi::Py_DECREF(object);
                    return std::ptr::null_mut();
                }
            }
            object
        }
    }

    /// See [`numbers::class_written`].
    fn number(&self) -> Class {
        let value = self.ty.container().and_then(|(_, m)| m.get(1).copied());
        value.map_or(std::ptr::null_mut(), numbers::class_written)
    }

    /// Sets a value in a Python dict; `known` is the object of the key, if there is one already, and `like` a value
    /// that is or was there. False means that a Python exception is set.
    ///
    /// # Safety
    /// A key and a value lie at `key` and `value`; the thread is attached.
    unsafe fn set(
        &self,
        object: Obj,
        known: Option<Obj>,
        like: Option<Obj>,
        key: *const u8,
        value: *const u8,
        cx: &mut BoxCx<'_>,
    ) -> bool {
        let (keys, values) = self.back();
        // SAFETY: as required of the caller.
        unsafe {
            let k = known.map_or_else(|| keys.object(key, cx), |k| new_ref(k));
            if k.is_null() {
                return false;
            }
            let mut v = values.object(value, cx);
            if let Some(old) = like.filter(|_| !v.is_null()) {
                v = numbers::written(self.number(), old, v);
            }
            let done = if v.is_null() { -1 } else { self.of.set(object, k, v) };
            ffi::Py_DECREF(k);
            ffi::Py_XDECREF(v);
            done == 0
        }
    }

    /// [`Convert::write_back`] of a dict that had other entries before. Keys that are still there keep their
    /// order, others come behind them: what was removed goes first, so a key that was removed and set again
    /// comes last. Keys that were not there wait if they are not `new` yet. Which entries were there; none means
    /// that a Python exception is set.
    ///
    /// # Safety
    /// As there.
    unsafe fn write_changes(
        &self,
        copy: &Copied,
        before: &[MaybeUninit<u8>],
        new: bool,
        cx: &mut BoxCx<'_>,
    ) -> Option<Vec<usize>> {
        let now = copy.before.borrow();
        let (source, size) = (copy.source, self.entry.size as usize);
        let (had, len) = (before.len() / size, now.len() / size);
        let entry = |of: &[MaybeUninit<u8>], i: usize| of[i * size..].as_ptr().cast::<u8>();
        let value_of = |entry: *const u8| {
            // SAFETY: the native dict is alive.
            entry.wrapping_offset(unsafe { dict::value_offset(&*copy.native.cast()) } as isize)
        };
        // SAFETY: entries lie in both; the native dict is alive.
        unsafe {
            let same_key = |x: *const u8, y: *const u8| self.key.desc.same_bits(entry_key(x), entry_key(y));
            let same_value = |x, y| self.value.desc.same_bits(value_of(x), value_of(y));
            if had == len
                && (0..len).all(|i| {
                    let (x, y) = (entry(&now, i), entry(before, i));
                    same_key(x, y) && same_value(x, y)
                })
            {
                return Some((0..len).collect());
            }
            // The objects of keys, and all values, as long as what is overwritten here may be needed there.
            let items = self.of.items(source)?;
            let items = &items.all;
            cx.held.extend(items.iter().map(|o| new_ref(*o)));
            let known = |i: usize| (items.len() == 2 * had).then(|| (items[2 * i], items[2 * i + 1]));
            let mut kept = vec![None; len];
            let (mut i, mut j) = (0, 0);
            while i < had {
                if j < len && same_key(entry(before, i), entry(&now, j)) {
                    kept[j] = Some(i);
                    j += 1;
                } else if !self.delete(source, known(i).map(|k| k.0), entry_key(entry(before, i)), cx) {
                    return None;
                }
                i += 1;
            }
            for (j, kept) in kept.iter().enumerate() {
                let at = entry(&now, j);
                let (key, like) = match *kept {
                    Some(i) if same_value(entry(before, i), at) => continue,
                    Some(i) => known(i).unzip(),
                    None if !new => continue,
                    None => (None, items.get(1).copied()),
                };
                if !self.set(source, key, like, entry_key(at), value_of(at), cx) {
                    return None;
                }
            }
            Some((0..len).filter(|j| kept[*j].is_some()).collect())
        }
    }

    /// Removes a key from a Python dict, if it is there.
    ///
    /// # Safety
    /// A key lies at `key` if none is `known`; the thread is attached.
    unsafe fn delete(&self, source: Obj, known: Option<Obj>, key: *const u8, cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller.
        unsafe {
            let k = known.map_or_else(|| self.back().0.object(key, cx), |k| new_ref(k));
            if k.is_null() {
                return false;
            }
            let there = ffi::PyDict_Contains(source, k);
            let done = if there == 1 { self.of.delete(source, k) } else { there };
            ffi::Py_DECREF(k);
            done == 0
        }
    }
}

impl Convert for DictPlan {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: the thread is attached.
        unsafe {
            if !self.of.is(class) {
                if self.ty.container().is_none_or(|(c, _)| c != Container::Dict)
                    || !typed_dict::CLASS.is(class)
                {
                    return None;
                }
                out.write(self.shown(obj, frame)? as u64);
                return Some(out.add(1));
            }
            out.write(frame.copied(obj, self.ty, |frame| self.copy_in(obj, frame))? as u64);
            Some(out.add(1))
        }
    }

    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned dict.
        unsafe {
            let d = next(at) as *mut Dict;
            let object = match cx.known(d.cast()) {
                Some(o) => new_ref(o),
                None if cx.shares || use_word::is_shown(d.cast()) => {
                    return typed_dict::CLASS.object(self.ty, d.cast());
                }
                None => self.new_object(d, cx),
            };
            release(d.cast());
            object
        }
    }

    fn cannot_box(&self, _: bool) -> Option<String> {
        let of = |half: &Half| half.plan.convert().cannot_box(true);
        of(&self.key).or_else(|| of(&self.value))
    }

    fn part(&self) {
        let exact = self.exact.iter().flat_map(|(k, v)| [k, v]);
        [&self.key, &self.value].into_iter().chain(exact).for_each(|half| half.plan.convert().part());
    }

    unsafe fn write_back(&self, copy: &Copied, cx: &mut BoxCx<'_>) -> bool {
        // SAFETY: as required of the caller.
        unsafe {
            let before = copy.before.replace(contents(copy.native.cast()));
            let written = self.write_changes(copy, &before, true, cx).is_some();
            if written && copy.seen.borrow().is_some() {
                self.follow(copy);
            }
            written
        }
    }

    unsafe fn write_found(&self, copy: &Copied, cx: &mut BoxCx<'_>) -> bool {
        if !self.own_keys {
            return true;
        }
        // SAFETY: as required of the caller.
        unsafe {
            let before = copy.before.replace(contents(copy.native.cast()));
            let Some(kept) = self.write_changes(copy, &before, false, cx) else { return false };
            let size = self.entry.size as usize;
            let now = copy.before.take();
            copy.before.replace(kept.into_iter().flat_map(|j| now[j * size..][..size].to_vec()).collect());
            true
        }
    }

    unsafe fn follow(&self, copy: &Copied) {
        // SAFETY: as required of the caller.
        unsafe {
            copy.before.replace(contents(copy.native.cast()));
            match self.of.items(copy.source) {
                Some(now) if copy.seen.borrow().as_ref() == Some(&now.all) => {}
                Some(now) => copy.see(Some(now.all.iter().map(|o| new_ref(*o)).collect())),
                // No memory to look at it: it is read again.
                None => {
                    ffi::PyErr_Clear();
                    copy.see(None);
                }
            }
        }
    }

    unsafe fn read_again(&self, at: usize, frame: &mut Frame) -> Option<()> {
        // SAFETY: as required of the caller.
        unsafe {
            let (native, source) = {
                let copy = frame.extra().copies.get(at)?;
                (copy.native.cast::<Dict>(), copy.source)
            };
            let held = self.of.argument(source, frame)?;
            let now = self.of.items(held.get())?;
            let copy = frame.extra().copies.get(at)?;
            if copy.seen.borrow().as_ref() == Some(&now.all) {
                return Some(());
            }
            // Whatever comes next is compared with what is there.
            copy.see(None);
            dict::clear(native);
            if let Filled::Refused = self.fill(native, held.get(), frame) {
                return None;
            }
            self.follow(frame.extra().copies.get(at)?);
            Some(())
        }
    }
}

pub(super) fn entry_key(entry: *const u8) -> *const u8 {
    entry.wrapping_offset(KEY_AT as isize)
}

/// The entries of a native dict, without gaps.
///
/// # Safety
/// It is live.
pub(super) unsafe fn contents(d: *mut Dict) -> Vec<MaybeUninit<u8>> {
    // SAFETY: as required of the caller.
    unsafe {
        let size = (*d).entry.size as usize;
        if (*d).len == (*d).used {
            let bytes = (*d).len as usize * size;
            return if bytes == 0 {
                vec![]
            } else {
                std::slice::from_raw_parts((*d).entries.cast(), bytes).to_vec()
            };
        }
        let entry = |i| std::slice::from_raw_parts(dict::at(d, i).cast::<MaybeUninit<u8>>(), size);
        dict::live(d).flat_map(|i| entry(i).iter().copied()).collect()
    }
}
