//! Executable memory of one module.
//!
//! `cranelift-jit` leaks the memory of a module that is merely dropped, and keeps a whole `JITModule` alive
//! to free it. Here a module's code lies in one mapping that is exactly as large as needed, is made
//! executable once, and goes back to the system when [`CodePages`] is dropped; the `JITModule` itself lives
//! only while it links.

use cranelift_jit::{ArenaMemoryProvider, BranchProtection, JITMemoryKind, JITMemoryProvider};
use cranelift_module::ModuleResult;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The mapping. Whoever drops the last reference promises that no thread runs the code any more.
pub(crate) struct CodePages(Mutex<Pages>);

struct Pages {
    arena: ArenaMemoryProvider,
    /// Next free byte and the end of the one allocation.
    next: usize,
    end: usize,
}

impl CodePages {
    /// Reserves `bytes` bytes, writable until the module is finalised.
    pub(crate) fn new(bytes: usize) -> io::Result<Arc<CodePages>> {
        let mut arena = ArenaMemoryProvider::new_with_size(bytes.max(1)).map_err(io::Error::other)?;
        // One allocation, so that the arena changes protections once and not for every function.
        let base = arena.allocate(bytes.max(1), 64, JITMemoryKind::Executable)?;
        Ok(Arc::new(CodePages(Mutex::new(Pages { arena, next: base.addr(), end: base.addr() + bytes }))))
    }
}

impl Drop for CodePages {
    fn drop(&mut self) {
        let pages = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the engine drops code only when no caller holds an entry address and every thread has left
        // it (see `Code`).
        unsafe { JITMemoryProvider::free_memory(&mut pages.arena) }
    }
}

/// What a `JITModule` allocates from.
pub(crate) struct Provider(pub Arc<CodePages>);

impl JITMemoryProvider for Provider {
    fn allocate(&mut self, size: usize, align: u64, _kind: JITMemoryKind) -> io::Result<*mut u8> {
        let mut pages = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = pages.next.next_multiple_of(align as usize);
        if start + size > pages.end {
            return Err(io::Error::other("code does not fit into the memory that was reserved for it"));
        }
        pages.next = start + size;
        Ok(std::ptr::with_exposed_provenance_mut(start))
    }

    /// Nothing to do: the pages belong to [`CodePages`], which outlives the module.
    unsafe fn free_memory(&mut self) {}

    fn finalize(&mut self, protection: BranchProtection) -> ModuleResult<()> {
        JITMemoryProvider::finalize(
            &mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner).arena,
            protection,
        )
    }
}
