//! What tier 1 makes of a function, as text: compiled once more on the side, nothing of it is loaded or run.

use super::promote::{available, library, policy, prepare, prepare_with_entry};
use super::tier1::{Codegen, Compiler, Object};
use super::{Request, front, guarded};
use std::collections::BTreeSet;
use tierup_core::backend::Keep;
use tierup_core::cpu::Cpu;
use tierup_core::diag::Result;
use tierup_core::lir::explain::{self, Facts, Place};
use tierup_core::lower;
use tierup_core::lower::notes::Note;

/// LLVM's IR after its passes (`llvm`), or the assembly that comes of it (`asm1`); none for another level.
pub fn text(request: &Request<'_>, level: &str) -> Result<Option<String>> {
    let keep = Keep { text: true, ..Keep::default() };
    Ok(match level {
        "llvm" => Some(guarded(|| object(request, keep))?.llvm),
        "asm1" => Some(guarded(|| object(request, keep))?.asm),
        _ => None,
    })
}

/// What became of a function in tier 1.
pub struct Explanation {
    pub facts: Facts,
    /// Operations on arrays that share one loop: where the last of them stands, and their names.
    pub fused: BTreeSet<(Place, String)>,
    /// What LLVM says of loops, `file:line:col: text` each; none where there is no LLVM.
    pub remarks: Option<Vec<String>>,
}

/// Compiles once more on the side, with lines and remarks, and tells what came of it.
pub fn explain(request: &Request<'_>) -> Result<Explanation> {
    guarded(|| {
        let mut front = front(request)?;
        let mut module = std::mem::take(&mut front.module);
        prepare(&mut module)?;
        let facts = explain::facts(&module);
        let mut session = request.session();
        session.infer_root_for(request.func, request.args.clone(), &request.values)?;
        let fused = lower::fuse::chains(&session);
        if !available() {
            return Ok(Explanation { facts, fused, remarks: None });
        }
        let codegen = Codegen {
            fast_math: request.options.fast_math,
            opt: policy().opt,
            cpu: Cpu::chosen(),
            lines: false,
        };
        let object = library()?.object(
            &module,
            &front.names.roots(),
            codegen,
            Keep { remarks: true, ..Keep::default() },
        )?;
        Ok(Explanation { facts, fused, remarks: Some(object.remarks.lines().map(str::to_owned).collect()) })
    })
}

/// What became of the operations on arrays of a function some of which is to be parallel.
pub fn parallel(request: &Request<'_>) -> Result<BTreeSet<Note>> {
    guarded(|| {
        let mut session = request.session();
        let root = session.infer_root_for(request.func, request.args.clone(), &request.values)?;
        lower::parallel_notes(&session, root, request.options)
    })
}

fn object(request: &Request<'_>, keep: Keep) -> Result<Object> {
    let mut front = front(request)?;
    let mut module = std::mem::take(&mut front.module);
    let short_loop = prepare_with_entry(&mut module, &front.names)?;
    let roots: Vec<&str> = front.names.roots().into_iter().chain(short_loop).collect();
    library()?.object(
        &module,
        &roots,
        Codegen { fast_math: request.options.fast_math, opt: policy().opt, cpu: Cpu::chosen(), lines: false },
        keep,
    )
}
