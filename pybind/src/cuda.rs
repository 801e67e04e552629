//! Kernels and memory of a GPU, or of the simulator in its place: what `tierup.cuda` is made of.
//!
//! Which of the two is decided once ([`cuda_open`]). Nothing of the compiler is here: a kernel is a
//! dispatcher whose function is compiled as one ([`Kernel`]).

use crate::convert::Frame;
use crate::convert::Lenience;
use crate::convert::{Plan, Purpose, type_of};
use crate::dispatcher;
use crate::errors::Failure as Trouble;
use crate::guards::Guards;
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyTuple};
use std::alloc::Layout as Room;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tierup_core::declare::{Choice, Declared, Signature};
use tierup_core::ops::dtype::dtype_name;
use tierup_core::types::{Access, ArrayType, Float, Kind, Layout, Type};
use tierup_runtime::engine::gpu::Kept;
use tierup_runtime::gpu::driver::{self, DeviceKernel, Driver, Stream};
use tierup_runtime::gpu::simulate::HostKernel;
use tierup_runtime::gpu::{Build, Failure, Launch};

/// Where kernels run.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Device(&'static Driver),
    Simulator,
}

static PLACE: OnceLock<Place> = OnceLock::new();
/// Failures of simulated kernels that nobody has been told of.
static FAILED: Mutex<Vec<(String, Failure)>> = Mutex::new(vec![]);

pub(crate) fn place() -> PyResult<Place> {
    PLACE.get().copied().ok_or_else(|| PyRuntimeError::new_err("tierup.cuda is not open"))
}

/// The driver's error as `tierup.cuda.CudaError`.
fn raised(py: Python<'_>, e: &driver::Error) -> PyErr {
    let made = py
        .import("tierup.cuda._errors")
        .and_then(|m| m.getattr("CudaError")?.call1((e.message.as_str(), e.code)));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(e) => e,
    }
}

/// Runs a call of the driver without the interpreter lock.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    body: impl FnOnce() -> driver::Result<T> + Send,
) -> PyResult<T> {
    py.detach(body).map_err(|e| raised(py, &e))
}

/// Decides where kernels run: on the GPU unless the simulator is asked for or there is no driver. What holds:
/// the GPU's name, compute capability (90 for 9.0) and version of the driver (13000 for 13.0), or why there
/// is none.
#[pyfunction]
fn cuda_open(py: Python<'_>, simulate: bool) -> (bool, Option<String>, String, u32, i32) {
    let found = py.detach(driver::driver);
    let place = *PLACE.get_or_init(|| match found {
        Ok(d) if !simulate => Place::Device(d),
        Ok(_) | Err(_) => Place::Simulator,
    });
    let simulated = matches!(place, Place::Simulator);
    match found {
        Ok(d) => (simulated, None, d.name.clone(), d.capability, d.version),
        Err(e) => (simulated, Some(e.message.clone()), String::new(), 0, 0),
    }
}

/// An attribute of the device by the driver's number; 0 in the simulator.
#[pyfunction]
fn cuda_attribute(py: Python<'_>, number: i32) -> PyResult<i32> {
    match place()? {
        Place::Device(d) => d.attribute(number).map_err(|e| raised(py, &e)),
        Place::Simulator => Ok(0),
    }
}

/// Free and total bytes of the device's memory; zeros in the simulator.
#[pyfunction]
fn cuda_memory_info(py: Python<'_>) -> PyResult<(usize, usize)> {
    match place()? {
        Place::Device(d) => d.memory_info().map_err(|e| raised(py, &e)),
        Place::Simulator => Ok((0, 0)),
    }
}

/// Memory of the device, given back with the object.
#[pyclass(frozen)]
struct DeviceMemory {
    place: Place,
    #[pyo3(get)]
    address: u64,
    #[pyo3(get)]
    bytes: usize,
}

/// The room that simulated memory takes.
pub(crate) fn room(bytes: usize) -> PyResult<Room> {
    Room::from_size_align(bytes.max(1), 256).map_err(|e| PyValueError::new_err(e.to_string()))
}

#[pymethods]
impl DeviceMemory {
    #[new]
    fn new(py: Python<'_>, bytes: usize) -> PyResult<DeviceMemory> {
        let place = place()?;
        let address = match place {
            Place::Device(d) => detached(py, || d.alloc(bytes))?,
            Place::Simulator => {
                // SAFETY: the room is not empty.
                let at = unsafe { std::alloc::alloc(room(bytes)?) };
                if at.is_null() {
                    return Err(pyo3::exceptions::PyMemoryError::new_err(format!(
                        "no room for {bytes} bytes"
                    )));
                }
                at as u64
            }
        };
        Ok(DeviceMemory { place, address, bytes })
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        match self.place {
            // SAFETY: the address came from this driver, and whoever used it held this object.
            Place::Device(d) => unsafe { d.free(self.address) },
            Place::Simulator => {
                if let Ok(room) = room(self.bytes) {
                    // SAFETY: as above, with the room that it was made for.
                    unsafe { std::alloc::dealloc(self.address as *mut u8, room) };
                }
            }
        }
    }
}

/// Copies bytes: `kind` is 0 for host to device, 1 for device to host, 2 on the device. The caller keeps both
/// places alive; one on the host is left alone until the stream is done.
#[pyfunction]
fn cuda_copy(py: Python<'_>, to: u64, from: u64, bytes: usize, kind: u8, stream: u64) -> PyResult<()> {
    let place = place()?;
    detached(py, || {
        let stream = Stream(stream);
        // SAFETY: the caller has both places.
        unsafe {
            match (place, kind) {
                (Place::Device(d), 0) => d.copy_to_device(to, from as *const u8, bytes, stream),
                (Place::Device(d), 1) => d.copy_to_host(to as *mut u8, from, bytes, stream),
                (Place::Device(d), _) => d.copy_on_device(to, from, bytes, stream),
                (Place::Simulator, _) => {
                    std::ptr::copy(from as *const u8, to as *mut u8, bytes);
                    Ok(())
                }
            }
        }
    })
}

/// Waits for everything, or for a stream; then raises what kernels left.
#[pyfunction]
#[pyo3(signature = (stream=None))]
fn cuda_synchronize(py: Python<'_>, stream: Option<u64>) -> PyResult<()> {
    if let Place::Device(d) = place()? {
        detached(py, || match stream {
            None => d.synchronize(),
            // SAFETY: a stream of `cuda_stream`, or one of another library's that the user vouches for.
            Some(s) => unsafe { d.stream_synchronize(Stream(s)) },
        })?;
    }
    cuda_raise(py)
}

/// Raises what kernels that have ended left.
#[pyfunction]
fn cuda_raise(py: Python<'_>) -> PyResult<()> {
    let found = match place()? {
        Place::Device(d) => d.failures(),
        Place::Simulator => std::mem::take(&mut *FAILED.lock().unwrap_or_else(PoisonError::into_inner)),
    };
    let Some((name, failure)) = found.into_iter().next() else { return Ok(()) };
    let (class, line) = failure.place();
    let class = class.map_or("RuntimeError", |c| c.name());
    let error = py.import("tierup.cuda._errors")?.getattr("failure")?.call1((
        class,
        name,
        line,
        PyTuple::new(py, failure.block)?,
        PyTuple::new(py, failure.thread)?,
    ))?;
    Err(PyErr::from_value(error))
}

/// A new stream; 0 in the simulator, where everything is done at once.
#[pyfunction]
fn cuda_stream(py: Python<'_>) -> PyResult<u64> {
    match place()? {
        Place::Device(d) => d.stream_create().map_err(|e| raised(py, &e)),
        Place::Simulator => Ok(0),
    }
}

#[pyfunction]
fn cuda_stream_destroy(stream: u64) -> PyResult<()> {
    if let Place::Device(d) = place()? {
        // SAFETY: called once, by the object that made it.
        unsafe { d.stream_destroy(Stream(stream)) };
    }
    Ok(())
}

/// Whether a stream is done.
#[pyfunction]
fn cuda_stream_query(py: Python<'_>, stream: u64) -> PyResult<bool> {
    match place()? {
        // SAFETY: a live stream.
        Place::Device(d) => unsafe { d.stream_query(Stream(stream)) }.map_err(|e| raised(py, &e)),
        Place::Simulator => Ok(true),
    }
}

/// A new event. In the simulator it is a moment, in nanoseconds.
#[pyfunction]
fn cuda_event(py: Python<'_>, timing: bool) -> PyResult<u64> {
    match place()? {
        Place::Device(d) => d.event_create(timing).map_err(|e| raised(py, &e)),
        Place::Simulator => Ok(0),
    }
}

/// What is done with an event: 0 destroy, 1 record in the stream, 2 wait for it, 3 have the stream wait for
/// it.
#[pyfunction]
fn cuda_event_do(py: Python<'_>, event: u64, what: u8, stream: u64) -> PyResult<()> {
    let Place::Device(d) = place()? else { return Ok(()) };
    let stream = Stream(stream);
    // SAFETY: a live event and a live stream; an event is destroyed once, by the object that made it.
    detached(py, || unsafe {
        match what {
            0 => {
                d.event_destroy(event);
                Ok(())
            }
            1 => d.event_record(event, stream),
            2 => d.event_synchronize(event),
            _ => d.stream_wait(stream, event),
        }
    })
}

/// Whether an event has happened.
#[pyfunction]
fn cuda_event_query(py: Python<'_>, event: u64) -> PyResult<bool> {
    match place()? {
        // SAFETY: a live event.
        Place::Device(d) => unsafe { d.event_query(event) }.map_err(|e| raised(py, &e)),
        Place::Simulator => Ok(true),
    }
}

/// Milliseconds between two events.
#[pyfunction]
fn cuda_event_elapsed(py: Python<'_>, start: u64, end: u64) -> PyResult<f32> {
    match place()? {
        // SAFETY: live events.
        Place::Device(d) => unsafe { d.event_elapsed(start, end) }.map_err(|e| raised(py, &e)),
        Place::Simulator => Ok(0.0),
    }
}

/// Type, leaves (no owner, address, shape and, for layout A, strides) and strides in bytes of an array on the
/// device.
fn described(
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
fn element(dtype: &Bound<'_, PyAny>) -> PyResult<Type> {
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
struct DeviceArrayBase {
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

/// A kernel's code for some types of arguments.
struct Compiled {
    types: Vec<Type>,
    guards: Guards,
    waits_for_grid: bool,
    code: Code,
    /// Which of the arguments' leaves the code takes.
    taken: Vec<usize>,
}

enum Code {
    Device(DeviceKernel, String),
    Host(HostKernel),
}

/// A function that is compiled as a kernel.
#[pyclass(frozen)]
struct Kernel {
    dispatcher: Py<PyAny>,
    name: String,
    build: Build,
    compiled: Mutex<Vec<Arc<Compiled>>>,
    /// Signatures that the decorator names; open where it names none.
    declared: Mutex<Arc<Declared>>,
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
        return Err(PyNotImplementedError::new_err("masked arrays of a device"));
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
fn convert(obj: &Bound<'_, PyAny>, words: &mut Vec<u64>, stream: u64) -> Result<Option<Type>, Trouble> {
    if let Ok(a) = obj.cast::<DeviceArrayBase>() {
        let a = a.get();
        words.extend(&a.words);
        return Ok(Some(a.ty));
    }
    if let Ok(x) = obj.cast_exact::<PyFloat>() {
        words.push(x.value().to_bits());
        return Ok(Some(Type::float()));
    }
    if let Ok(t) = obj.cast_exact::<PyTuple>() {
        let mut members = vec![];
        for m in t.iter() {
            let Some(t) = convert(&m, words, stream)? else { return Ok(None) };
            members.push(t);
        }
        return Ok(Some(Type::tuple(members)));
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
fn converted(
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

/// A kernel with the size of its grid.
#[pyclass(frozen)]
struct Launcher {
    kernel: Py<Kernel>,
    launch: Launch,
    stream: u64,
}

#[pymethods]
impl Launcher {
    /// Starts the kernel; see `tierup.cuda.Kernel`.
    #[pyo3(signature = (*args))]
    fn __call__(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<()> {
        let kernel = self.kernel.get();
        if PLACE.get().is_none() {
            // The first thing that is done with a device.
            py.import("tierup.cuda._device")?.call_method0("state")?;
            crate::npy::require(py)?;
        }
        if kernel.start(py, &self.launch, self.stream, args)? {
            return Ok(());
        }
        // Arrays of the host are copied to the device and back.
        let python = py.import("tierup.cuda._kernel")?;
        let (args, back): (Bound<'_, PyTuple>, Bound<'_, PyAny>) =
            python.getattr("prepared")?.call1((args, self.stream))?.extract()?;
        if !kernel.start(py, &self.launch, self.stream, &args)? {
            return Err(PyTypeError::new_err("a tuple that a kernel takes holds arrays of a device only"));
        }
        python.getattr("finished")?.call1((back, self.stream)).map(drop)
    }
}

#[pymethods]
impl Kernel {
    /// `build` is what `cuda.jit` says of registers, threads and blocks at most, lines, and code left as it is.
    #[new]
    fn new(dispatcher: &Bound<'_, PyAny>, build: (u32, [u32; 2], bool, bool)) -> PyResult<Kernel> {
        let (max_registers, bounds, lines, plain) = build;
        let core = dispatcher::core(dispatcher).ok_or_else(|| PyTypeError::new_err("not a dispatcher"))?;
        Ok(Kernel {
            name: core.decorated.name().to_owned(),
            dispatcher: dispatcher.clone().unbind(),
            build: Build { max_registers, bounds, lines, plain },
            compiled: Mutex::default(),
            declared: Mutex::default(),
        })
    }

    /// The kernel with the size of its grid.
    fn configured(
        this: Py<Kernel>,
        blocks: [u32; 3],
        threads: [u32; 3],
        stream: u64,
        shared_bytes: u32,
    ) -> Launcher {
        Launcher { kernel: this, launch: Launch { blocks, threads, shared_bytes }, stream }
    }

    /// From now on arguments are converted to the types of one of the signatures, given as texts.
    fn declare(&self, py: Python<'_>, signatures: Vec<Vec<String>>) -> PyResult<()> {
        crate::npy::require(py)?;
        let parse =
            |types: &Vec<String>| Ok(Signature { args: crate::texts::parse_types(py, types)?, ret: None });
        let signatures = signatures.iter().map(parse).collect::<PyResult<Vec<_>>>()?;
        let declared = Declared { signatures, open: false, careful: false };
        *self.declared.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(declared);
        Ok(())
    }

    /// Compiles for types of arguments, given as texts.
    fn compile(&self, py: Python<'_>, types: Vec<String>) -> PyResult<()> {
        crate::npy::require(py)?;
        let types = crate::texts::parse_types(py, &types)?;
        self.code_for(py, types).map(drop)
    }

    /// PTX of a function of C's with that name for code of a device, and the type of its result.
    fn device_ptx(
        &self,
        py: Python<'_>,
        types: Vec<String>,
        name: &str,
        capability: u32,
    ) -> PyResult<(String, String)> {
        crate::npy::require(py)?;
        let types = crate::texts::parse_types(py, &types)?;
        let made = self.core(py)?.device_ptx(py, &types, &self.build, name, capability);
        made.map(|(ptx, ret)| (ptx, ret.strong().to_string())).map_err(|e| e.into_python(py))
    }

    /// PTX for types of arguments and a compute capability.
    fn ptx(&self, py: Python<'_>, types: Vec<String>, capability: u32) -> PyResult<String> {
        crate::npy::require(py)?;
        let types = crate::texts::parse_types(py, &types)?;
        let core = self.core(py)?;
        let (kernel, _) = core.kernel(py, &types, &self.build).map_err(|e| e.into_python(py))?;
        py.detach(|| kernel.ptx(capability)).map_err(|d| Trouble::from(d).into_python(py))
    }

    /// Types of arguments that it is compiled for, as texts, with the PTX where it runs on a GPU.
    fn overloads(&self) -> Vec<(Vec<String>, Option<String>)> {
        let all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter()
            .map(|c| {
                let ptx = if let Code::Device(_, ptx) = &c.code { Some(ptx.clone()) } else { None };
                (c.types.iter().map(|t| t.to_string()).collect(), ptx)
            })
            .collect()
    }

    /// Blocks of so many threads and bytes of shared memory that all run at once, for the overload `index`;
    /// none says how many in the simulator.
    fn blocks_at_once(
        &self,
        py: Python<'_>,
        index: usize,
        threads: u32,
        shared_bytes: u32,
    ) -> PyResult<Option<u32>> {
        match self.overload(index).as_ref().map(|c| &c.code) {
            Some(Code::Device(kernel, _)) => {
                kernel.blocks_at_once(threads, shared_bytes).map(Some).map_err(|e| raised(py, &e))
            }
            Some(Code::Host(_)) | None => Ok(None),
        }
    }

    /// Whether threads of the overload `index` wait for the whole grid.
    fn is_cooperative(&self, index: usize) -> bool {
        self.overload(index).is_some_and(|c| c.waits_for_grid)
    }

    /// An attribute of the compiled code by the driver's number, of the overload `index`.
    fn attribute(&self, py: Python<'_>, index: usize, number: i32) -> PyResult<i32> {
        match self.overload(index).as_ref().map(|c| &c.code) {
            Some(Code::Device(kernel, _)) => kernel.attribute(number).map_err(|e| raised(py, &e)),
            Some(Code::Host(kernel)) => Ok(match number {
                0 if self.build.bounds[0] > 0 => self.build.bounds[0] as i32,
                0 => 1024,
                1 => kernel.shared_bytes() as i32,
                2 => kernel.constant_bytes() as i32,
                3 => kernel.frame_bytes() as i32,
                _ => 0,
            }),
            None => Ok(0),
        }
    }
}

impl Kernel {
    fn overload(&self, index: usize) -> Option<Arc<Compiled>> {
        let all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(index).cloned()
    }

    /// Starts the kernel; false where an argument is not on the device.
    fn start(
        &self,
        py: Python<'_>,
        launch: &Launch,
        stream: u64,
        args: &Bound<'_, PyTuple>,
    ) -> PyResult<bool> {
        let mut words = Vec::with_capacity(4 * args.len());
        let mut types = Vec::with_capacity(args.len());
        for a in args.iter_borrowed() {
            match convert(&a, &mut words, stream).map_err(|e| e.into_python(py))? {
                Some(t) => types.push(t),
                None => return Ok(false),
            }
        }
        let declared = self.declared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !declared.open {
            (types, words) = self.as_declared(py, &declared, args, types, words)?;
        }
        let compiled = self.code_for(py, types)?;
        match &compiled.code {
            Code::Device(kernel, _) => {
                let taken: Vec<u64> = compiled.taken.iter().map(|k| words[*k]).collect();
                // SAFETY: the slots were made for the types that the kernel was compiled for; that addresses
                // are the device's is said by the objects that were passed.
                unsafe { kernel.launch(launch, Stream(stream), &taken) }.map_err(|e| raised(py, &e))?;
            }
            Code::Host(kernel) => {
                // The interpreter lock is kept: who else would use the arrays now would be in a race.
                let mut interrupted = None;
                // SAFETY: as above, with the host's memory.
                let failed = unsafe {
                    kernel.run(launch, &words, &mut || {
                        interrupted = py.check_signals().err();
                        interrupted.is_none()
                    })
                };
                if let Some(failure) = failed {
                    let mut all = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((self.name.clone(), failure));
                }
                interrupted.map_or(Ok(()), Err)?;
            }
        }
        Ok(true)
    }

    /// Types and leaves of arguments as the signature has them that they are for.
    fn as_declared(
        &self,
        py: Python<'_>,
        declared: &Declared,
        args: &Bound<'_, PyTuple>,
        types: Vec<Type>,
        words: Vec<u64>,
    ) -> PyResult<(Vec<Type>, Vec<u64>)> {
        let k = match declared.choose(&types) {
            Choice::One(k) => k,
            Choice::Nothing => {
                return Err(PyTypeError::new_err(declared.refusal(&self.name, &types, &[])));
            }
            Choice::Several(all) => {
                return Err(PyTypeError::new_err(declared.refusal(&self.name, &types, &all)));
            }
        };
        let wanted = declared.signatures[k].args.clone();
        let (mut out, mut at) = (Vec::with_capacity(words.len()), 0);
        for ((arg, from), to) in args.iter().zip(&types).zip(&wanted) {
            let given = &words[at..at + from.leaf_count()];
            at += from.leaf_count();
            converted(&arg, *from, given, *to, &mut out).map_err(|e| e.into_python(py))?;
        }
        Ok((wanted, out))
    }

    fn core<'a>(&'a self, py: Python<'a>) -> PyResult<&'a dispatcher::Core> {
        dispatcher::core(self.dispatcher.bind(py)).ok_or_else(|| PyTypeError::new_err("not a dispatcher"))
    }

    /// The kernel on the device, from the cache or compiled, and its PTX.
    fn loaded(
        &self,
        py: Python<'_>,
        driver: &'static Driver,
        kernel: tierup_runtime::engine::gpu::Kernel,
    ) -> PyResult<(DeviceKernel, String)> {
        let (entry, name) = (kernel.entry().to_owned(), &self.name);
        let waits = kernel.waits_for_grid();
        let constants = kernel.constants().to_vec();
        let place = kernel.place(&format!("{} {} {}", driver.name, driver.capability, driver.version));
        if let Some(p) = &place
            && let Some(kept) = py.detach(|| p.get())
        {
            match py.detach(|| driver.kernel(&kept.image, &entry, name, waits, &constants)) {
                Ok(loaded) => return Ok((loaded, kept.ptx)),
                Err(_) => p.forget(),
            }
        }
        let ptx =
            py.detach(|| kernel.ptx(driver.capability)).map_err(|d| Trouble::from(d).into_python(py))?;
        let image = detached(py, || driver.compile(&ptx, &self.build))?;
        let loaded = detached(py, || driver.kernel(&image, &entry, name, waits, &constants))?;
        let kept = Kept { ptx, image };
        if let Some(p) = place {
            py.detach(|| p.put(&kept));
        }
        Ok((loaded, kept.ptx))
    }

    fn code_for(&self, py: Python<'_>, types: Vec<Type>) -> PyResult<Arc<Compiled>> {
        let found = {
            let all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().find(|c| c.types == types).cloned()
        };
        if let Some(c) = found
            && c.guards.hold()
        {
            return Ok(c);
        }
        let core = self.core(py)?;
        let taken = || {
            let leaves = types.iter().flat_map(|t| t.leaves()).enumerate();
            leaves.filter(|(_, l)| !l.is_ref).map(|(k, _)| k).collect()
        };
        let compiled = match place()? {
            Place::Device(driver) => {
                let (kernel, guards) = core.kernel(py, &types, &self.build).map_err(|e| e.into_python(py))?;
                let waits_for_grid = kernel.waits_for_grid();
                let (loaded, ptx) = self.loaded(py, driver, kernel)?;
                Compiled { taken: taken(), types, guards, waits_for_grid, code: Code::Device(loaded, ptx) }
            }
            Place::Simulator => {
                let (kernel, guards) = core.host_kernel(py, &types).map_err(|e| e.into_python(py))?;
                let waits_for_grid = kernel.waits_for_grid();
                Compiled { taken: taken(), types, guards, waits_for_grid, code: Code::Host(kernel) }
            }
        };
        let compiled = Arc::new(compiled);
        let mut all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = all.iter().position(|c| c.types == compiled.types).map(|k| all.swap_remove(k));
        all.push(compiled.clone());
        drop(all);
        // Its guards hold objects whose destructors may run.
        drop(gone);
        Ok(compiled)
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<DeviceMemory>()?;
    m.add_class::<DeviceArrayBase>()?;
    m.add_class::<Kernel>()?;
    m.add_class::<Launcher>()?;
    m.add_function(wrap_pyfunction!(cuda_open, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_attribute, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_memory_info, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_copy, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_synchronize, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_raise, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_stream, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_stream_destroy, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_stream_query, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_event, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_event_do, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_event_query, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_event_elapsed, m)?)
}
