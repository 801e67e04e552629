//! Memory that host and device share: pinned, mapped and managed. In the simulator all is the host's.

use crate::cuda::room;
use crate::cuda_place::{Place, detached, place};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// What the memory is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pinned,
    Managed,
}

/// Memory of the host that the device knows, given back with the object. `address` is the host's, `device`
/// the one for kernels (0 where they do not reach it).
#[pyclass(frozen)]
struct SharedMemory {
    place: Place,
    kind: Kind,
    #[pyo3(get)]
    address: u64,
    #[pyo3(get)]
    device: u64,
    #[pyo3(get)]
    bytes: usize,
}

#[pymethods]
impl SharedMemory {
    /// `kind` is 0 for pinned, 1 for mapped, 2 for managed memory; `flag` asks for memory that the host writes
    /// fast, of managed one for memory that the host attaches.
    #[new]
    fn new(py: Python<'_>, bytes: usize, kind: u8, flag: bool) -> PyResult<SharedMemory> {
        let place = place()?;
        let (address, device) = match place {
            Place::Device(d) if kind == 2 => {
                let at = detached(py, || d.managed_alloc(bytes, flag))?;
                (at, at)
            }
            Place::Device(d) => detached(py, || d.host_alloc(bytes, kind == 1, flag))?,
            Place::Simulator => {
                // SAFETY: the room is not empty.
                let at = unsafe { std::alloc::alloc(room(bytes)?) } as u64;
                if at == 0 {
                    return Err(PyMemoryError::new_err(format!("no room for {bytes} bytes")));
                }
                (at, if kind == 0 { 0 } else { at })
            }
        };
        let kind = if kind == 2 { Kind::Managed } else { Kind::Pinned };
        Ok(SharedMemory { place, kind, address, device, bytes })
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        match (self.place, self.kind) {
            // SAFETY: the address came from this driver, and whoever used it held this object.
            (Place::Device(d), Kind::Managed) => unsafe { d.free(self.address) },
            // SAFETY: as above.
            (Place::Device(d), Kind::Pinned) => unsafe { d.host_free(self.address) },
            (Place::Simulator, _) => {
                if let Ok(room) = room(self.bytes) {
                    // SAFETY: as above, with the room that it was made for.
                    unsafe { std::alloc::dealloc(self.address as *mut u8, room) };
                }
            }
        }
    }
}

/// Pins memory where it lies; its address for kernels. The caller keeps it there until `cuda_unpin`.
#[pyfunction]
fn cuda_pin(py: Python<'_>, address: u64, bytes: usize, mapped: bool) -> PyResult<u64> {
    match place()? {
        // SAFETY: the caller keeps the memory where it is.
        Place::Device(d) => detached(py, || unsafe { d.host_register(address, bytes, mapped) }),
        Place::Simulator => Ok(address),
    }
}

#[pyfunction]
fn cuda_unpin(py: Python<'_>, address: u64) -> PyResult<()> {
    match place()? {
        // SAFETY: what `cuda_pin` has pinned.
        Place::Device(d) => detached(py, || unsafe { d.host_unregister(address) }),
        Place::Simulator => Ok(()),
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<SharedMemory>()?;
    m.add_function(wrap_pyfunction!(cuda_pin, m)?)?;
    m.add_function(wrap_pyfunction!(cuda_unpin, m)?)
}
