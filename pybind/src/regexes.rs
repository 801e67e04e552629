//! Python's `re` for compiled code: patterns by their texts and flags, and what they find.

use crate::exc::{Regexes, to_native};
use crate::gil::with_python;
use crate::stand_in::{bytes_object, python_str};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use tierup_core::layout::Str;
use tierup_core::ops::regexes::How;
use tierup_runtime::exc::Res;
use tierup_runtime::host::Regex;
use tierup_runtime::object::{release, retain};

/// A pattern, with what finds by it.
struct Known {
    text: Box<[u8]>,
    kind: i64,
    of_bytes: bool,
    flags: i64,
    methods: [Py<PyAny>; How::ALL.len()],
}

/// Patterns by hashes of their texts.
static KNOWN: LazyLock<Mutex<FxHashMap<u64, Vec<Arc<Known>>>>> = LazyLock::new(Default::default);
/// So many patterns are kept, as many as `re` keeps itself.
const MOST: usize = 512;

/// A long text of compiled code with the copy that Python has: code that goes on from match to match asks for the
/// same one again. It is held, so that no other text lies at its address.
struct Copied {
    text: *mut Str,
    object: Py<PyAny>,
}
// SAFETY: texts never change, and their counts are atomic.
unsafe impl Send for Copied {}
static COPIED: Mutex<Option<Copied>> = Mutex::new(None);
/// Texts of these lengths in bytes are worth it, and do not keep too much memory.
const WORTH: std::ops::Range<i64> = 256..1 << 26;

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// # Safety
/// A live text; the thread is attached.
unsafe fn object_of<'py>(py: Python<'py>, s: *mut Str, bytes: bool) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: as required of the caller: it has `len` units of `kind` bytes, and may name an object.
    unsafe {
        if bytes {
            return Bound::from_owned_ptr_or_err(py, bytes_object(s));
        }
        if let Some(known) = python_str(s) {
            return Ok(Bound::from_borrowed_ptr(py, known));
        }
        let (kind, data, len) = ((*s).kind as i32, (*s).data.cast(), (*s).len as isize);
        Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_FromKindAndData(kind, data, len))
    }
}

/// The same of a text that is searched.
///
/// # Safety
/// As there.
unsafe fn subject<'py>(py: Python<'py>, s: *mut Str, bytes: bool) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: as required of the caller; what is held stays live.
    unsafe {
        if python_str(s).is_some() || !WORTH.contains(&((*s).len * (*s).kind)) {
            return object_of(py, s, bytes);
        }
        if let Some(known) = lock(&COPIED).as_ref().filter(|c| c.text == s) {
            return Ok(known.object.bind(py).clone());
        }
        let object = object_of(py, s, bytes)?;
        retain(s.cast());
        let before = lock(&COPIED).replace(Copied { text: s, object: object.clone().unbind() });
        if let Some(before) = before {
            release(before.text.cast());
        }
        Ok(object)
    }
}

/// The pattern of a text, of bytes or not, and flags; what Python raises where it is none.
///
/// # Safety
/// As for [`object_of`].
unsafe fn pattern_of(py: Python<'_>, asked: &Regex) -> PyResult<Arc<Known>> {
    let s = asked.pattern;
    // SAFETY: as required of the caller.
    let (text, kind) =
        unsafe { (std::slice::from_raw_parts((*s).data, ((*s).len * (*s).kind) as usize), (*s).kind) };
    let mut hasher = FxHasher::default();
    hasher.write(text);
    let hash = hasher.finish();
    let same = |k: &&Arc<Known>| {
        (k.kind, k.of_bytes, k.flags) == (kind, asked.of_bytes, asked.flags) && *k.text == *text
    };
    if let Some(known) = lock(&KNOWN).get(&hash).and_then(|all| all.iter().find(same)) {
        return Ok(known.clone());
    }
    // SAFETY: as required of the caller.
    let object = unsafe { object_of(py, s, asked.of_bytes)? };
    let compiled = py.import("re")?.call_method1("compile", (object, asked.flags))?;
    let methods = How::ALL.map(|how| compiled.getattr(how.method()).map(Bound::unbind));
    let [a, b, c, d] = methods;
    let methods = [a?, b?, c?, d?];
    let known =
        Arc::new(Known { text: text.into(), kind, of_bytes: asked.of_bytes, flags: asked.flags, methods });
    let mut table = lock(&KNOWN);
    let dropped = if table.values().map(Vec::len).sum::<usize>() < MOST {
        FxHashMap::default()
    } else {
        std::mem::take(&mut *table)
    };
    table.entry(hash).or_default().push(known.clone());
    drop(table);
    // They die outside of the lock.
    drop(dropped);
    Ok(known)
}

/// What a method of a pattern gives for a text, between two places; none where it raises.
///
/// # Safety
/// The thread is attached.
unsafe fn call<'py>(
    method: &Bound<'py, PyAny>,
    text: &Bound<'py, PyAny>,
    asked: &Regex,
) -> PyResult<Bound<'py, PyAny>> {
    let py = method.py();
    // SAFETY: as required of the caller; all are live objects, and the place in front of the arguments is free.
    unsafe {
        let (mut args, mut n) =
            ([std::ptr::null_mut(), text.as_ptr(), std::ptr::null_mut(), std::ptr::null_mut()], 1);
        if asked.pos != 0 || asked.endpos != i64::MAX {
            args[2] = ffi::PyLong_FromLongLong(asked.pos);
            args[3] = ffi::PyLong_FromLongLong(asked.endpos);
            n = 3;
        }
        let found = ffi::PyObject_Vectorcall(
            method.as_ptr(),
            args.as_ptr().add(1),
            n | ffi::PY_VECTORCALL_ARGUMENTS_OFFSET,
            std::ptr::null_mut(),
        );
        ffi::Py_XDECREF(args[2]);
        ffi::Py_XDECREF(args[3]);
        Bound::from_owned_ptr_or_err(py, found)
    }
}

/// # Safety
/// As for [`object_of`].
unsafe fn look(py: Python<'_>, asked: &Regex, numbers: &mut Vec<i64>) -> PyResult<()> {
    // SAFETY: as required of the caller.
    let (known, text) = unsafe { (pattern_of(py, asked)?, subject(py, asked.text, asked.in_bytes)?) };
    // SAFETY: the thread is attached.
    let found = unsafe { call(known.methods[asked.how as usize].bind(py), &text, asked)? };
    let found = match asked.how {
        How::Match | How::Search | How::FullMatch => found,
        How::Next => {
            let first = next(&found)?;
            let again =
                !first.is_none() && first.call_method0(intern!(py, "end"))?.extract::<i64>()? == asked.pos;
            if again { next(&found)? } else { first }
        }
    };
    if found.is_none() {
        return Ok(());
    }
    let last = found.getattr(intern!(py, "lastindex"))?;
    numbers.push(if last.is_none() { -1 } else { last.extract()? });
    let places = found.getattr(intern!(py, "regs"))?.cast_into::<PyTuple>()?;
    // SAFETY: `regs` is a tuple of pairs of small integers, which live as long as it does.
    unsafe {
        for k in 0..ffi::PyTuple_GET_SIZE(places.as_ptr()) {
            let place = ffi::PyTuple_GET_ITEM(places.as_ptr(), k);
            numbers.push(ffi::PyLong_AsLongLong(ffi::PyTuple_GET_ITEM(place, 0)));
            numbers.push(ffi::PyLong_AsLongLong(ffi::PyTuple_GET_ITEM(place, 1)));
        }
    }
    Ok(())
}

/// What an iterator gives next, or None.
fn next<'py>(iterator: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let none = || Ok(iterator.py().None().into_bound(iterator.py()));
    iterator.try_iter()?.next().unwrap_or_else(none)
}

/// Looks for a pattern, as the run-time says of the callback.
fn find(asked: &Regex, numbers: &mut Vec<i64>) -> Res<()> {
    with_python(Ok(()), |py| {
        // SAFETY: the texts are live while compiled code waits for the call.
        unsafe { look(py, asked, numbers) }.map_err(|e| to_native(py, e))
    })
}

/// The program of a pattern, as the run-time says of the callback.
fn program(asked: &Regex) -> Option<Vec<i64>> {
    with_python(None, |py| {
        // SAFETY: the pattern is live while compiled code waits for the call.
        let pattern = unsafe { object_of(py, asked.pattern, asked.of_bytes) }.ok()?;
        let made =
            py.import("tierup._patterns").ok()?.call_method1("program", (pattern, asked.flags)).ok()?;
        made.extract().ok()
    })
}

/// Whether a text of Python's is ASCII, as the run-time says of the callback. Its characters lie behind the one
/// header or the other, which tells it without the GIL; those of a class that derives from `str` lie elsewhere.
fn is_ascii(text: *mut Str) -> Option<bool> {
    // SAFETY: the text is live, and so is what it stands for.
    let (object, characters) = unsafe { (python_str(text)?, (*text).data) };
    let behind = characters.addr().checked_sub(object.addr())?;
    [(size_of::<ffi::PyASCIIObject>(), true), (size_of::<ffi::PyCompactUnicodeObject>(), false)]
        .iter()
        .find_map(|(header, ascii)| (behind == *header).then_some(*ascii))
}

/// What the run-time asks.
pub(crate) static CALLBACKS: Regexes = Regexes { find, program, is_ascii };
