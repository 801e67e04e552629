//! Code that makes no objects: for loops that must not wait for memory.

use crate::diag::{Code, Diagnostic};
use crate::emit::platform::Platform;
use crate::lir::InstData;
use crate::ops::object::mem_array_bytes;
use crate::ops::raising::about_exceptions;
use crate::rt::Effect;

pub struct NoAlloc;
impl Platform for NoAlloc {
    fn name(&self) -> &'static str {
        "no-alloc"
    }

    fn objection(&self, to: &InstData) -> Option<Diagnostic> {
        let InstData::CallHelper { helper, .. } = to else { return None };
        let allocates = helper.effect == Effect::Allocates || **helper == mem_array_bytes;
        // An exception ends it.
        (allocates && !about_exceptions(helper)).then(|| {
            Diagnostic::new(Code::GpuUnsupported, "this makes a new object, and there is no memory for it")
                .help("pass an array for the results and store them there")
        })
    }
}
