//! Kernels and memory of a GPU, or of the simulator in its place: what `tierup.cuda` is made of.
//!
//! Which of the two is decided once ([`cuda_open`]). Nothing of the compiler is here: a kernel is a
//! dispatcher whose function is compiled as one ([`Kernel`]).

use crate::cuda_arguments::{DeviceArrayBase, convert, converted};
use crate::cuda_place::{PLACE, Place, detached, place, raised};
use crate::dispatcher;
use crate::errors::Failure as Trouble;
use crate::guards::Guards;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::alloc::Layout as Room;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tierup_core::declare::{Choice, Declared, Signature};
use tierup_core::types::Type;
use tierup_runtime::engine::gpu::Kept;
use tierup_runtime::gpu::driver::{self, DeviceKernel, Driver, Stream};
use tierup_runtime::gpu::simulate::HostKernel;
use tierup_runtime::gpu::{Build, Fault, Launch, Linked};

/// Failures of simulated kernels that nobody has been told of.
static FAILED: Mutex<Vec<(String, Fault)>> = Mutex::new(vec![]);

/// What simulated kernels have printed that nobody has seen: forms and words, see `core::ops::cuda_print`.
static PRINTED: Mutex<Vec<(Vec<String>, Vec<u64>)>> = Mutex::new(vec![]);

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
        // What is kept for the next arrays is free to them.
        Place::Device(d) => {
            let (free, total) = d.memory_info().map_err(|e| raised(py, &e))?;
            Ok((free + d.kept(), total))
        }
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
    /// It has been in use before, by work that may not be done.
    again: bool,
    /// Others may know of it.
    shared: AtomicBool,
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
        let (address, again) = match place {
            Place::Device(d) => detached(py, || d.take(bytes))?,
            Place::Simulator => {
                // SAFETY: the room is not empty.
                let at = unsafe { std::alloc::alloc(room(bytes)?) };
                if at.is_null() {
                    return Err(pyo3::exceptions::PyMemoryError::new_err(format!(
                        "no room for {bytes} bytes"
                    )));
                }
                (at as u64, false)
            }
        };
        Ok(DeviceMemory { place, address, bytes, again, shared: AtomicBool::new(false) })
    }

    /// Others will know of the memory, whose work nobody here can wait for: it is not kept for the next array,
    /// and what used it before is waited for.
    fn share(&self, py: Python<'_>) -> PyResult<()> {
        if self.shared.swap(true, Ordering::Relaxed) || !self.again {
            return Ok(());
        }
        match self.place {
            // SAFETY: the default stream is always there.
            Place::Device(d) => detached(py, || unsafe { d.stream_synchronize(Stream(0)) }),
            Place::Simulator => Ok(()),
        }
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        match self.place {
            // SAFETY: the address came from this driver, and whoever used it held this object.
            Place::Device(d) => unsafe { d.give(self.address, self.bytes, *self.shared.get_mut()) },
            Place::Simulator => {
                if let Ok(room) = room(self.bytes) {
                    // SAFETY: as above, with the room that it was made for.
                    unsafe { std::alloc::dealloc(self.address as *mut u8, room) };
                }
            }
        }
    }
}

/// Gives the memory back that is kept for the next arrays; how many bytes that were.
#[pyfunction]
fn cuda_release_kept(py: Python<'_>) -> PyResult<usize> {
    match place()? {
        Place::Device(d) => Ok(py.detach(|| d.release_kept())),
        Place::Simulator => Ok(0),
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
            // SAFETY: a stream of `cuda_stream`, or one of another library's that the user vouches for.
            Some(s) if !d.prints() => unsafe { d.stream_synchronize(Stream(s)) },
            Some(_) | None => d.synchronize(),
        })?;
    }
    show_printed(py)?;
    cuda_raise(py)
}

/// Writes what kernels have printed.
fn show_printed(py: Python<'_>) -> PyResult<()> {
    let printed = match place()? {
        Place::Device(d) if d.prints() => detached(py, || d.printed())?,
        Place::Device(_) => return Ok(()),
        Place::Simulator => std::mem::take(&mut *PRINTED.lock().unwrap_or_else(PoisonError::into_inner)),
    };
    if printed.is_empty() {
        return Ok(());
    }
    py.import("tierup.cuda._printing")?.getattr("write")?.call1((printed,)).map(drop)
}

/// Raises what kernels that have ended left.
#[pyfunction]
fn cuda_raise(py: Python<'_>) -> PyResult<()> {
    let found: Vec<(String, Fault)> = match place()? {
        Place::Device(d) => d.failures().into_iter().map(|(name, f)| (name, f.into())).collect(),
        Place::Simulator => std::mem::take(&mut *FAILED.lock().unwrap_or_else(PoisonError::into_inner)),
    };
    let Some((name, Fault { failure, cause })) = found.into_iter().next() else { return Ok(()) };
    let (handle, line) = failure.place();
    let class = crate::known::class_object(py, handle)
        .unwrap_or_else(|| py.get_type::<pyo3::exceptions::PyRuntimeError>().into_any().unbind());
    let (kind, did, other) = cause.told();
    let error = py.import("tierup.cuda._errors")?.getattr("failure")?.call1((
        class,
        name,
        line,
        PyTuple::new(py, failure.block)?,
        PyTuple::new(py, failure.thread)?,
        (kind, did[0], did[1], other.map(|o| (o.thread, o.line))),
    ))?;
    Err(PyErr::from_value(error))
}

/// A new stream; a number that no other one has in the simulator, where everything is done at once.
#[pyfunction]
fn cuda_stream(py: Python<'_>) -> PyResult<u64> {
    static MADE: AtomicU64 = AtomicU64::new(0x1000);
    match place()? {
        Place::Device(d) => d.stream_create().map_err(|e| raised(py, &e)),
        Place::Simulator => Ok(MADE.fetch_add(1, Ordering::Relaxed)),
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

/// A kernel with the size of its grid.
#[pyclass(frozen)]
struct Launcher {
    kernel: Py<Kernel>,
    /// What Python has of the kernel.
    whole: Py<PyAny>,
    launch: Launch,
    stream: u64,
    /// A launch waits for its end.
    waits: bool,
}

#[pymethods]
impl Launcher {
    #[getter]
    fn griddim(&self) -> (u32, u32, u32) {
        self.launch.blocks.into()
    }
    #[getter]
    fn blockdim(&self) -> (u32, u32, u32) {
        self.launch.threads.into()
    }
    #[getter]
    fn stream(&self) -> u64 {
        self.stream
    }
    #[getter]
    fn sharedmem(&self) -> u32 {
        self.launch.shared_bytes
    }

    /// For copies in other processes, which know no streams of this one.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.stream != 0 {
            return Err(PyTypeError::new_err("a launch by a stream belongs to this process"));
        }
        let launch = (self.launch.blocks, self.launch.threads, self.launch.shared_bytes);
        py.import("tierup._pickle")?.getattr("reduce_launcher")?.call1((&self.whole, launch))
    }

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
            return if self.waits { cuda_synchronize(py, Some(self.stream)) } else { Ok(()) };
        }
        // Arrays of the host are copied to the device and back.
        let python = py.import("tierup.cuda._kernel")?;
        let (args, back): (Bound<'_, PyTuple>, Bound<'_, PyAny>) =
            python.getattr("prepared")?.call1((args, self.stream))?.extract()?;
        if !kernel.start(py, &self.launch, self.stream, &args)? {
            return Err(PyTypeError::new_err("a tuple that a kernel takes holds arrays of a device only"));
        }
        python.getattr("finished")?.call1((back, self.stream))?;
        if self.waits { cuda_synchronize(py, Some(self.stream)) } else { Ok(()) }
    }
}

#[pymethods]
impl Kernel {
    /// `build` is what `cuda.jit` says of registers, threads and blocks at most, lines, code left as it is,
    /// races, and code to be linked: its kind, its name and its bytes.
    #[new]
    fn new(
        dispatcher: &Bound<'_, PyAny>,
        build: (u32, [u32; 2], bool, bool, bool, Vec<(i32, String, Vec<u8>)>),
    ) -> PyResult<Kernel> {
        let (max_registers, bounds, lines, plain, races, link) = build;
        let link = link.into_iter().map(|(kind, name, code)| Linked { kind, name, code }).collect();
        let core = dispatcher::core(dispatcher).ok_or_else(|| PyTypeError::new_err("not a dispatcher"))?;
        Ok(Kernel {
            name: core.decorated.name().to_owned(),
            dispatcher: dispatcher.clone().unbind(),
            build: Build { max_registers, bounds, lines, plain, races, returns: true, link },
            compiled: Mutex::default(),
            declared: Mutex::default(),
        })
    }

    /// The kernel with the size of its grid.
    #[allow(clippy::too_many_arguments)]
    fn configured(
        this: Py<Kernel>,
        whole: Py<PyAny>,
        blocks: [u32; 3],
        threads: [u32; 3],
        stream: u64,
        shared_bytes: u32,
        waits: bool,
    ) -> Launcher {
        Launcher { kernel: this, whole, launch: Launch { blocks, threads, shared_bytes }, stream, waits }
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
                if let Some((forms, words)) = kernel.printed()
                    && words[0] > 0
                {
                    let mut all = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((forms.to_vec(), words));
                }
                if let Some(fault) = failed {
                    let mut all = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((self.name.clone(), fault));
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
        let (constants, printed) = (kernel.constants().to_vec(), kernel.printed().cloned());
        let place = kernel.place(&format!("{} {} {}", driver.name, driver.capability, driver.version));
        if let Some(p) = &place
            && let Some(kept) = py.detach(|| p.get())
        {
            match py.detach(|| driver.kernel(&kept.image, &entry, name, waits, &constants, printed.as_ref()))
            {
                Ok(loaded) => return Ok((loaded, kept.ptx)),
                Err(_) => p.forget(),
            }
        }
        let ptx =
            py.detach(|| kernel.ptx(driver.capability)).map_err(|d| Trouble::from(d).into_python(py))?;
        let image = detached(py, || driver.compile(&ptx, &self.build))?;
        let loaded =
            detached(py, || driver.kernel(&image, &entry, name, waits, &constants, printed.as_ref()))?;
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
                let function = core.decorated.function(py);
                let early = py.import("tierup.cuda._kernel")?.getattr("returns_early")?;
                let build = Build { returns: early.call1((function,))?.extract()?, ..self.build.clone() };
                let (kernel, guards) = core.host_kernel(py, &types, &build).map_err(|e| e.into_python(py))?;
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
    m.add_function(wrap_pyfunction!(cuda_release_kept, m)?)?;
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
