//! NumPy's structured dtypes as types of records, those of dates and spans as theirs, and back.

use crate::npy::{self, Descr};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use tierup_core::types::record::{RecordDef, RecordField};
use tierup_core::types::time::Time;
use tierup_core::types::{Kind, Type};

/// `NPY_VOID`.
const VOID: i32 = 20;
/// `NPY_STRING` and `NPY_UNICODE`.
const TEXTS: [i32; 2] = [18, 19];
/// `NPY_DATETIME` and `NPY_TIMEDELTA`.
const TIMES: [i32; 2] = [21, 22];
/// So many dtypes are remembered.
const MOST: usize = 256;

/// dtypes that were looked at, by their addresses, which the references keep.
static SEEN: LazyLock<Mutex<HashMap<usize, (Py<PyAny>, Type)>>> = LazyLock::new(Default::default);
/// The dtypes of types.
static DTYPES: LazyLock<Mutex<HashMap<Type, Py<PyAny>>>> = LazyLock::new(Default::default);

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a dtype of that number says more than the number does.
fn is_described(num: i32) -> bool {
    num == VOID || TEXTS.contains(&num) || TIMES.contains(&num)
}

/// The type of a structured dtype, or of one of fixed-width text, dates or spans; none of any other dtype. A TypeError says what in it no compiled code can hold.
pub(crate) fn of_dtype(dtype: &Bound<'_, PyAny>) -> PyResult<Option<Type>> {
    // SAFETY: the caller has a `numpy.dtype`, which starts with this struct.
    let num = unsafe { (*dtype.as_ptr().cast::<Descr>()).type_num };
    if !is_described(num) {
        return Ok(None);
    }
    let at = dtype.as_ptr() as usize;
    if let Some((_, t)) = lock(&SEEN).get(&at) {
        return Ok(Some(*t));
    }
    if num != VOID {
        let t = if TIMES.contains(&num) {
            Time::from_name(&dtype.str()?.extract::<String>()?).map(Time::ty)
        } else {
            as_it_is(dtype)?.filter(|t| t.chars().is_some())
        };
        if let Some(t) = t {
            remember(dtype, t);
        }
        return Ok(t);
    }
    let py = dtype.py();
    let names = dtype.getattr(intern!(py, "names"))?;
    if names.is_none() {
        return Ok(None);
    }
    let by_name = dtype.getattr(intern!(py, "fields"))?;
    let mut fields = vec![];
    for name in names.cast::<PyTuple>()?.iter() {
        let found = by_name.get_item(&name)?;
        let (of, offset): (Bound<'_, PyAny>, u32) = (found.get_item(0)?, found.get_item(1)?.extract()?);
        let name: String = name.extract()?;
        let title = found.get_item(2).ok().and_then(|t| t.extract().ok());
        let inner = of.getattr(intern!(py, "subdtype"))?;
        let (of, shape) = if inner.is_none() { (of, vec![]) } else { inner.extract()? };
        let ty = of_field(&of)?.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "the field '{name}' of {dtype} is of dtype {of}, which compiled code cannot hold"
            ))
        })?;
        fields.push(RecordField { name, title, ty, offset, shape });
    }
    let size: u32 = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
    let record = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "record"))?;
    let attributes = dtype.getattr(intern!(py, "type"))?.is(&record);
    let aligned: bool = dtype.getattr(intern!(py, "isalignedstruct"))?.extract()?;
    let t = Type::new(Kind::Record(RecordDef::new(RecordDef {
        fields,
        size,
        aligned,
        attributes,
        opaque: None,
    })));
    remember(dtype, t);
    Ok(Some(t))
}

fn remember(dtype: &Bound<'_, PyAny>, t: Type) {
    let mut seen = lock(&SEEN);
    let old = if seen.len() >= MOST { std::mem::take(&mut *seen) } else { HashMap::new() };
    seen.insert(dtype.as_ptr() as usize, (dtype.clone().unbind(), t));
    drop(seen);
    // Last references may run code that comes back here.
    drop(old);
}

/// The type of a field's dtype: a number, records, or what is copied as it is; none of one with references.
fn of_field(dtype: &Bound<'_, PyAny>) -> PyResult<Option<Type>> {
    // SAFETY: dtypes of fields are dtypes.
    if let Some(t) = npy::type_of_elem(unsafe { npy::elem_code(dtype.as_ptr().cast()) }) {
        return Ok(Some(t));
    }
    if let Some(t) = of_dtype(dtype)? {
        return Ok(Some(t));
    }
    as_it_is(dtype)
}

/// The type of elements that are copied as they are; none of references, and of what no text of a dtype says.
fn as_it_is(dtype: &Bound<'_, PyAny>) -> PyResult<Option<Type>> {
    let py = dtype.py();
    if dtype.getattr(intern!(py, "hasobject"))?.is_truthy()? {
        return Ok(None);
    }
    let text: String = dtype.getattr(intern!(py, "str"))?.extract()?;
    let size: u32 = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
    let known = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "dtype"))?.call1((&text,));
    // The text has to say all of it.
    Ok(known.is_ok_and(|k| k.eq(dtype).unwrap_or(false)).then(|| {
        let opaque = Some(text);
        Type::new(Kind::Record(RecordDef::new(RecordDef {
            fields: vec![],
            size,
            aligned: false,
            attributes: false,
            opaque,
        })))
    }))
}

/// The type of an array's dtype, if it is one of records or times that compiled code can hold; no exception is set.
///
/// # Safety
/// A live dtype; the thread is attached.
pub(crate) unsafe fn of_descr(descr: *mut Descr) -> Option<Type> {
    // SAFETY: as required of the caller.
    unsafe {
        if !is_described((*descr).type_num) {
            return None;
        }
        let dtype = Bound::from_borrowed_ptr(Python::assume_attached(), descr.cast::<ffi::PyObject>());
        of_dtype(&dtype).ok().flatten()
    }
}

/// The dtype of a type of numbers, times or records.
pub(crate) fn dtype_of<'py>(py: Python<'py>, t: Type) -> PyResult<Bound<'py, PyAny>> {
    if let Some(time) = t.time() {
        if let Some(known) = lock(&DTYPES).get(&t) {
            return Ok(known.bind(py).clone());
        }
        npy::require(py)?;
        let numpy = py.import(intern!(py, "numpy"))?;
        let dtype = numpy.getattr(intern!(py, "dtype"))?.call1((time.name(),))?;
        lock(&DTYPES).insert(t, dtype.clone().unbind());
        return Ok(dtype);
    }
    let Some(records) = t.record() else {
        let num = npy::type_num(t).ok_or_else(|| PyTypeError::new_err(format!("{t} has no dtype")))?;
        // SAFETY: a new reference, or null with an exception.
        return unsafe { Bound::from_owned_ptr_or_err(py, npy::require(py)?.descr(num).cast()) };
    };
    if let Some(known) = lock(&DTYPES).get(&t) {
        return Ok(known.bind(py).clone());
    }
    if let Some(text) = &records.opaque {
        return py.import(intern!(py, "numpy"))?.getattr(intern!(py, "dtype"))?.call1((text,));
    }
    let parts = PyDict::new(py);
    let each = &records.fields;
    parts.set_item("names", PyList::new(py, each.iter().map(|f| &f.name))?)?;
    let format = |f: &RecordField| {
        let inner = dtype_of(py, f.ty)?;
        if f.shape.is_empty() {
            return Ok(inner);
        }
        Ok((inner, PyTuple::new(py, &f.shape)?).into_pyobject(py)?.into_any())
    };
    let formats = each.iter().map(format).collect::<PyResult<Vec<_>>>()?;
    parts.set_item("formats", PyList::new(py, formats)?)?;
    parts.set_item("offsets", PyList::new(py, each.iter().map(|f| f.offset))?)?;
    if each.iter().any(|f| f.title.is_some()) {
        parts.set_item("titles", PyList::new(py, each.iter().map(|f| f.title.as_deref()))?)?;
    }
    parts.set_item("itemsize", records.size)?;
    let numpy = py.import(intern!(py, "numpy"))?;
    let class = numpy.getattr(intern!(py, "dtype"))?;
    let mut dtype = class.call1((parts, records.aligned))?;
    if records.attributes {
        dtype = class.call1(((numpy.getattr(intern!(py, "record"))?, dtype),))?;
    }
    lock(&DTYPES).insert(t, dtype.clone().unbind());
    Ok(dtype)
}
