//! Memory of arrays, which is kept when an array goes ([`super::pool`]), and the streams on which work may
//! still use it.

use super::driver::{Driver, Error, Result, Stream};
use super::pool::{Source, Streams};
use std::sync::{MutexGuard, PoisonError};

/// `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: i32 = 2;
/// Streams up to this handle are the default one; the next is that of each thread.
const DEFAULT: u64 = 1;

impl Driver {
    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory for an array, 256 bytes aligned, and whether it has been in use before; null for no bytes.
    pub fn take(&self, bytes: usize) -> Result<(u64, bool)> {
        if bytes == 0 {
            return Ok((0, false));
        }
        self.pool.take(self, bytes)
    }

    /// Takes the memory of an array back. `shared` memory others may know of.
    ///
    /// # Safety
    /// `address` came from [`Driver::take`] for so many bytes, and nobody will use it any more.
    pub unsafe fn give(&self, address: u64, bytes: usize, shared: bool) {
        if address != 0 {
            self.pool.give(self, address, bytes, shared);
        }
    }

    /// Gives the memory back that is kept; how many bytes that were.
    pub fn release_kept(&self) -> usize {
        self.pool.clear(self)
    }

    /// Bytes that are kept for the next arrays.
    pub fn kept(&self) -> usize {
        self.pool.kept()
    }

    /// A stream is about to be given work.
    pub(super) fn work_on(&self, stream: Stream) -> Result<()> {
        if stream.0 <= DEFAULT {
            return Ok(());
        }
        let mut streams = self.streams();
        if streams.own.contains(&stream.0) {
            if !streams.used.contains(&stream.0) {
                streams.used.push(stream.0);
            }
            return Ok(());
        }
        if !std::mem::replace(&mut streams.foreign, true) {
            drop(streams);
            // What was given out again may be in use by the default stream, for which this one does not wait.
            self.release_kept();
            // SAFETY: the default stream is always there.
            unsafe { self.stream_synchronize(Stream(0)) }?;
        }
        Ok(())
    }

    pub(super) fn stream_made(&self, stream: Stream) {
        self.streams().own.push(stream.0);
    }

    /// A stream is about to go. What it still has to do the default stream waits for, since nobody can ask it
    /// any more.
    pub(super) fn stream_ends(&self, stream: Stream) {
        let was_used = {
            let mut streams = self.streams();
            streams.own.retain(|s| *s != stream.0);
            let n = streams.used.len();
            streams.used.retain(|s| *s != stream.0);
            streams.used.len() < n
        };
        if was_used && let Ok(event) = self.event_create(false) {
            // SAFETY: both streams are live, and the event is; the driver destroys it when it is done with it.
            unsafe {
                let waits =
                    self.event_record(event, stream).and_then(|()| self.stream_wait(Stream(0), event));
                self.event_destroy(event);
                if waits.is_err() {
                    // Then it is waited for here.
                    let _ = self.stream_synchronize(stream);
                }
            }
        }
    }
}

impl Source for Driver {
    type Error = Error;

    fn allocate(&self, bytes: usize) -> Result<u64> {
        self.alloc(bytes)
    }

    fn release(&self, address: u64) {
        // SAFETY: the pool has it from `allocate`, and gives it up.
        unsafe { self.free(address) };
    }

    fn marks(&self) -> Option<Vec<u64>> {
        let mut streams = self.streams();
        if streams.foreign {
            return None;
        }
        // SAFETY: streams leave the list before they are destroyed.
        streams.used.retain(|s| !unsafe { self.stream_query(Stream(*s)) }.unwrap_or(false));
        let mut made = vec![];
        for stream in &streams.used {
            let marked = self.event_create(false).and_then(|event| {
                made.push(event);
                // SAFETY: as above, and the event is new.
                unsafe { self.event_record(event, Stream(*stream)) }
            });
            if marked.is_err() {
                made.into_iter().for_each(|event| self.forget(event));
                return None;
            }
        }
        Some(made)
    }

    fn has_happened(&self, mark: u64) -> bool {
        // SAFETY: marks are live until they are forgotten.
        unsafe { self.event_query(mark) }.unwrap_or(false)
    }

    fn forget(&self, mark: u64) {
        // SAFETY: a mark is forgotten once.
        unsafe { self.event_destroy(mark) };
    }

    fn is_exhausted(&self, error: &Error) -> bool {
        error.code == OUT_OF_MEMORY
    }
}
