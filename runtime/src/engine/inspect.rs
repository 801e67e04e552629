//! What tier 1 makes of a function, as text: compiled once more on the side, nothing of it is loaded or run.

use super::promote::{library, policy, prepare};
use super::tier1::{Codegen, Compiler, Keep, Object};
use super::{Request, front, guarded};
use tierup_core::diag::Result;

/// LLVM's IR after its passes (`llvm`), or the assembly that comes of it (`asm1`); none for another level.
pub fn text(request: &Request<'_>, level: &str) -> Result<Option<String>> {
    let keep = Keep { text: true, remarks: false };
    Ok(match level {
        "llvm" => Some(guarded(|| object(request, keep))?.llvm),
        "asm1" => Some(guarded(|| object(request, keep))?.asm),
        _ => None,
    })
}

fn object(request: &Request<'_>, keep: Keep) -> Result<Object> {
    let mut front = front(request)?;
    let mut module = std::mem::take(&mut front.module);
    prepare(&mut module)?;
    library()?.object(&module, &front.roots(), Codegen { fast_math: request.options.fast_math, opt: policy().opt }, keep)
}
