//! Arguments of kernels: arrays in the device's memory, ours and those of other libraries, and everything else as the
//! leaves that compiled code takes.

use crate::convert::Frame;
use crate::convert::Lenience;
use crate::convert::{Plan, Purpose, type_of};
use crate::cuda_place::{Place, detached, place};
use crate::errors::Failure as Trouble;
use crate::{dataclasses, known};
use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyTuple};
use tierup_core::ops::dtype::dtype_name;
use tierup_core::types::{Access, ArrayType, Float, Kind, Layout, Type};
use tierup_runtime::gpu::driver::Stream;

/// Type, leaves (no owner, address, shape and, for layout A, strides) and strides in bytes of an array on the
/// device.
pub(crate) fn described(
    address: u64,
    elem: Type,
    shape: &[i64],
    strides: Option<Vec<i64>>,
) -> PyResult<(Type, Vec<u64>, Vec<i64>)> {
    let n = shape.len();
    let ndim = u8::try_from(n).map_err(|_| PyValueError::new_err("too many dimensions"))?;
    let array = |layout| ArrayType { dtype: elem, ndim, layout, access: Access::Write };
    let item = array(Layout::C).itemsize();
    let contiguous = |order: &mut dyn Iterator<Item = usize>| {
        let (mut step, mut out) = (item, vec![0; n]);
        for d in order {
            out[d] = step;
            step *= shape[d];
        }
        out
    };
    let c = contiguous(&mut (0..n).rev());
    let strides = strides.unwrap_or_else(|| c.clone());
    if strides.len() != n {
        return Err(PyValueError::new_err("as many strides as dimensions"));
    }
    // Strides of dimensions of one element, and all of an array without any, mean nothing.
    let empty = shape.contains(&0);
    let like =
        |other: &[i64]| empty || shape.iter().zip(&strides).zip(other).all(|((n, a), b)| *n == 1 || a == b);
    let layout = if like(&c) {
        Layout::C
    } else if like(&contiguous(&mut (0..n))) {
        Layout::F
    } else {
        Layout::A
    };
    let mut words = vec![0, address];
    words.extend(shape.iter().map(|n| *n as u64));
    if layout == Layout::A {
        words.extend(strides.iter().map(|s| *s as u64));
    }
    Ok((array(layout).ty(), words, strides))
}

/// The type of the elements of a `numpy.dtype`.
pub(crate) fn element(dtype: &Bound<'_, PyAny>) -> PyResult<Type> {
    // SAFETY: the caller has a `numpy.dtype`.
    let code = unsafe { crate::npy::elem_code(dtype.as_ptr().cast()) };
    if let Some(number) = crate::npy::type_of_elem(code) {
        return Ok(number);
    }
    // SAFETY: as above.
    if unsafe { (*dtype.as_ptr().cast::<crate::npy::Descr>()).type_num } == crate::npy::HALF {
        return Ok(Type::float_of(Float::F16));
    }
    crate::record_types::of_dtype(dtype)?
        .ok_or_else(|| PyTypeError::new_err(format!("kernels have no arrays of {dtype}")))
}

/// An array in the device's memory, as kernels take it; Python's class is derived from it.
#[pyclass(subclass, frozen)]
pub(crate) struct DeviceArrayBase {
    ty: Type,
    /// The leaves of the argument: no owner, address, shape and, for layout A, strides.
    words: Vec<u64>,
    #[pyo3(get)]
    _strides: Vec<i64>,
    /// What keeps the memory.
    #[pyo3(get)]
    _owner: Py<PyAny>,
}

#[pymethods]
impl DeviceArrayBase {
    #[new]
    #[pyo3(signature = (address, dtype, shape, strides, owner))]
    fn new(
        address: u64,
        dtype: &Bound<'_, PyAny>,
        shape: Vec<i64>,
        strides: Option<Vec<i64>>,
        owner: Py<PyAny>,
    ) -> PyResult<DeviceArrayBase> {
        crate::npy::require(dtype.py())?;
        let numpy = crate::npy::require(dtype.py())?;
        // SAFETY: a live type object.
        if unsafe { pyo3::ffi::PyObject_TypeCheck(dtype.as_ptr(), numpy.dtype_type) } == 0 {
            return Err(PyTypeError::new_err("dtype must be a numpy.dtype"));
        }
        let (ty, words, strides) = described(address, element(dtype)?, &shape, strides)?;
        Ok(DeviceArrayBase { ty, words, _strides: strides, _owner: owner })
    }

    /// The address of the first element.
    #[getter]
    fn _address(&self) -> u64 {
        self.words[1]
    }

    /// `C`, `F` or `A`.
    #[getter]
    fn _layout(&self) -> &'static str {
        match self.ty.as_array().map(|a| a.layout) {
            Some(Layout::C) => "C",
            Some(Layout::F) => "F",
            Some(Layout::A) | None => "A",
        }
    }
}

/// Whether Python must look at an argument first: an array of the host.
fn needs_help(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    // Nobody may have asked for NumPy before the first launch.
    let numpy = crate::npy::get(obj.py())?;
    // SAFETY: both are live type objects.
    let is_array =
        numpy.is_some_and(|n| unsafe { pyo3::ffi::PyObject_TypeCheck(obj.as_ptr(), n.array_type) != 0 });
    let marked = || obj.hasattr(intern!(obj.py(), "_tierup_copied_")).unwrap_or(false);
    Ok(is_array || marked() || obj.is_instance(&obj.py().import("numpy")?.getattr("void")?)?)
}

/// The type of an array of another library, and its leaves. What it waits for on another stream, the launch
/// waits for too.
fn foreign(interface: &Bound<'_, PyAny>, words: &mut Vec<u64>, stream: u64) -> PyResult<Type> {
    let py = interface.py();
    let dict = interface
        .cast::<PyDict>()
        .map_err(|_| PyTypeError::new_err("__cuda_array_interface__ must be a dict"))?;
    let get = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(dict.get_item(name)?.filter(|v| !v.is_none()))
    };
    let need = |name: &str| {
        get(name)?.ok_or_else(|| PyTypeError::new_err(format!("__cuda_array_interface__ has no {name}")))
    };
    if get("mask")?.is_some() {
        return Err(PyNotImplementedError::new_err("Masked arrays are not supported"));
    }
    let typestr = need("typestr")?;
    let typestr = typestr.extract::<&str>()?;
    let elem = match dtype_name(typestr) {
        Some(number) => number,
        // Fields are said beside the type, if at all.
        None => {
            let of = if typestr.contains('V') { need("descr")? } else { need("typestr")? };
            element(&py.import("numpy")?.call_method1("dtype", (of,))?)?
        }
    };
    let (address, _): (u64, bool) = need("data")?.extract()?;
    let shape: Vec<i64> = need("shape")?.extract()?;
    let strides = get("strides")?.map(|s| s.extract::<Vec<i64>>()).transpose()?;
    if let Some(theirs) = get("stream")? {
        follow(py, theirs.extract()?, stream)?;
    }
    let (ty, leaves, _) = described(address, elem, &shape, strides)?;
    words.extend(leaves);
    Ok(ty)
}

/// Has a stream wait for what another one has been given; 0 and 1 are both the default one.
fn follow(py: Python<'_>, theirs: u64, ours: u64) -> PyResult<()> {
    let Place::Device(d) = place()? else { return Ok(()) };
    if theirs.max(1) == ours.max(1) {
        return Ok(());
    }
    detached(py, || {
        let event = d.event_create(false)?;
        // SAFETY: a live event, and streams that the user vouches for; the driver destroys the event when it
        // is done with it.
        unsafe {
            let done =
                d.event_record(event, Stream(theirs)).and_then(|()| d.stream_wait(Stream(ours), event));
            d.event_destroy(event);
            done
        }
    })
}

/// The type of an argument, and its leaves; none where Python must look at it first.
pub(crate) fn convert(
    obj: &Bound<'_, PyAny>,
    words: &mut Vec<u64>,
    stream: u64,
) -> Result<Option<Type>, Trouble> {
    if let Ok(a) = obj.cast::<DeviceArrayBase>() {
        let a = a.get();
        words.extend(&a.words);
        return Ok(Some(a.ty));
    }
    if let Ok(x) = obj.cast_exact::<PyFloat>() {
        words.push(x.value().to_bits());
        return Ok(Some(Type::float()));
    }
    if let Ok(t) = obj.cast::<PyTuple>() {
        let mut members = vec![];
        for m in t.iter() {
            let Some(t) = convert(&m, words, stream)? else { return Ok(None) };
            members.push(t);
        }
        let named = if obj.is_exact_instance_of::<PyTuple>() {
            None
        } else {
            known::namedtuple_class(&obj.get_type())?
        };
        return Ok(Some(match named {
            Some(class) => Type::new(Kind::NamedTuple(class, members)),
            None => Type::tuple(members),
        }));
    }
    if dataclasses::may_be(&obj.get_type())
        && let Some(class) = known::frozen_class(&obj.get_type())?
        && !class.is_builtin_value()
    {
        let mut members = vec![];
        for name in &class.fields {
            let Some(t) = convert(&obj.getattr(name.as_str())?, words, stream)? else { return Ok(None) };
            members.push(t);
        }
        return Ok(Some(Type::new(Kind::Frozen(class, members))));
    }
    if !obj.is_exact_instance_of::<PyInt>() {
        if let Some(interface) = obj.getattr_opt(intern!(obj.py(), "__cuda_array_interface__"))? {
            return Ok(Some(foreign(&interface, words, stream)?));
        }
        if needs_help(obj)? {
            return Ok(None);
        }
    }
    let ty = type_of(obj)?;
    unboxed(obj, ty, None, words)?;
    Ok(Some(ty))
}

/// The leaves of an argument of type `from` as those of one of type `to`, to which it can be converted.
pub(crate) fn converted(
    arg: &Bound<'_, PyAny>,
    from: Type,
    given: &[u64],
    to: Type,
    out: &mut Vec<u64>,
) -> Result<(), Trouble> {
    if from == to {
        out.extend(given);
        return Ok(());
    }
    if let (Some(a), Some(b)) = (from.as_array(), to.as_array()) {
        // Another order of elements, or one that is not known.
        out.extend(&given[..2 + usize::from(a.ndim)]);
        if b.layout == Layout::A && a.layout != Layout::A {
            let n = usize::from(a.ndim);
            let shape = &given[2..2 + n];
            let (mut strides, mut step) = (vec![0; n], a.itemsize() as u64);
            for k in 0..n {
                let d = if a.layout == Layout::C { n - 1 - k } else { k };
                strides[d] = step;
                step = step.wrapping_mul(shape[d]);
            }
            out.extend(strides);
        } else if b.layout == Layout::A {
            out.extend(&given[2 + usize::from(a.ndim)..]);
        }
        return Ok(());
    }
    if let (Some(all), Some(wanted)) = (from.members(), to.members()) {
        let mut at = 0;
        for (k, (a, b)) in all.iter().zip(wanted).enumerate() {
            converted(&arg.get_item(k)?, *a, &given[at..at + a.leaf_count()], *b, out)?;
            at += a.leaf_count();
        }
        return Ok(());
    }
    if *to == Kind::Float(Float::F16) {
        // NumPy rounds once, from whatever it is.
        let half = arg.py().import("numpy")?.getattr("float16")?.call1((arg,))?;
        return unboxed(&half, to, None, out);
    }
    if *from == Kind::Float(Float::F16) {
        return unboxed(&arg.call_method0("item")?, to, Some(Purpose::Declared), out);
    }
    unboxed(arg, to, Some(Purpose::Declared), out)
}

/// Appends the leaves of an argument that is given as one of that type.
fn unboxed(
    obj: &Bound<'_, PyAny>,
    ty: Type,
    purpose: Option<Purpose>,
    words: &mut Vec<u64>,
) -> Result<(), Trouble> {
    let at = words.len();
    words.resize(at + ty.leaf_count(), 0);
    let mut frame = Frame::new(false);
    if purpose == Some(Purpose::Declared) {
        frame.lenience = Lenience::Converted;
    }
    // SAFETY: the object is live, there is room for its leaves, and the frame stays here.
    let end = unsafe { Plan::new(ty, purpose).unbox(obj.as_ptr(), words[at..].as_mut_ptr(), &mut frame) };
    if end.is_none() {
        return Err(match PyErr::take(obj.py()) {
            Some(raised) => raised.into(),
            None => PyTypeError::new_err("a kernel cannot take this argument").into(),
        });
    }
    Ok(())
}
