//! Kernels where they run: on a GPU through NVIDIA's driver ([`driver`]), or on the CPU ([`simulate`]).

pub mod driver;
pub mod simulate;

use tierup_core::exc::Class;

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks of the grid along x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// Bytes of shared memory of a block beside what the kernel declares.
    pub shared_bytes: u32,
}

/// What the first thread that an exception ended left; the layout is that of `core::lower::gpu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// See `core::lower::gpu::status`; 0 where nothing went wrong.
    pub status: u64,
    pub block: [u32; 3],
    pub thread: [u32; 3],
}

impl Failure {
    /// The class of the exception and the line that raised it.
    pub fn place(&self) -> (Option<Class>, u32) {
        (Class::from_number((self.status >> 32) as i64 - 1), self.status as u32)
    }
}
