//! Typed SSA to LIR: aggregates exploded, checks, exceptions and ownership made explicit.
//!
//! [`inline`] copies library functions into their callers, [`fuse`] joins operations on arrays,
//! [`reduction_merging`] reductions of the same array, [`reduction_fusion`] those of chains that read the
//! same arrays, [`masked`] makes loops over all elements of what masks choose, [`ownership`] makes references
//! explicit. [`func`] walks one function and asks the emitters of operations, which are written in
//! [`crate::emit`]; [`fusion_sinks`] puts several reductions behind a chain, [`sequential_retry`] runs what
//! raised again, in order, [`apart`] finds what must not share memory, [`hidden_writes`] loops that change
//! arrays under names of which only types tell, [`low_bits`] arithmetic that may wrap. [`generator`] turns a generator into a frame and a resume
//! function, [`suspension`] is that frame in its own code, [`guard`] finds
//! the lists that iterations share and change, [`gpu`] makes kernels, [`short_loop_entry`] entries of ufuncs'
//! loops for few turns, [`notes`] says what runs in parallel.

pub(crate) mod apart;
pub mod changes;
pub(crate) mod func;
pub mod fuse;
pub(crate) mod fusion_sinks;
pub mod generator;
pub mod gpu;
mod gpu_integers;
pub(crate) mod guard;
mod hidden_writes;
pub(crate) mod inline;
mod low_bits;
pub(crate) mod masked;
mod moves;
pub mod notes;
pub(crate) mod ownership;
pub mod pure;
pub(crate) mod reduction_fusion;
pub(crate) mod reduction_merging;
pub(crate) mod sequential_retry;
pub mod short_loop_entry;
mod spans;
pub(crate) mod suspension;

use crate::diag::{Diagnostic, Result};
use crate::emit::platform::{Host, Platform};
use crate::host::GlobalValue;
use crate::infer::state::{Session, Typed};
use crate::lir::explain::Place;
use crate::lir::{InstData, Module, Signature};
use crate::ops::region::parallel_region;
use crate::ssa::{Func, InstanceId, Op, Value};
use crate::types::Type;
use notes::Note;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Name and signature of the LIR function of an instance.
#[derive(Clone, Debug)]
pub struct Target {
    pub name: String,
    pub sig: Signature,
    pub params: Vec<Type>,
    pub ret: Type,
}

pub(crate) fn target(session: &Session<'_>, id: InstanceId) -> Target {
    let i = session.at(id);
    let sig = crate::emit::cx::signature(&i.key.args, i.ret);
    Target { name: format!("{}.{}", i.func.name, id.0), sig, params: i.key.args.clone(), ret: i.ret }
}

/// What a global that typed code reads is, by its value.
pub(crate) type Globals = HashMap<Value, GlobalValue>;

/// Something that is done to typed code before it is lowered.
pub struct Step {
    pub name: &'static str,
    pub doc: &'static str,
    pub run: fn(&mut Func, &mut Globals, &Session<'_>, &dyn Platform),
}

/// What becomes of typed code before it is lowered, in order.
pub const STEPS: &[Step] = &[
    Step {
        name: "drops",
        doc: "What says that an iterator is not needed any more, where that is no generator's end.",
        run: |f, _, _, _| generator::forget_drops(f),
    },
    Step {
        name: "low-bits",
        doc: "Arithmetic of which only the low bits count wraps.",
        run: |f, _, session, _| low_bits::wrap(f, session),
    },
    Step {
        name: "inline",
        doc: "Library functions copied into those that call them.",
        run: |f, globals, session, _| inline::inline(f, globals, session),
    },
    Step {
        name: "fuse",
        doc: "Operations on arrays that become one loop joined.",
        run: |f, _, session, platform| fuse::fuse(f, session, platform),
    },
    Step {
        name: "ownership",
        doc: "References made explicit.",
        run: |f, _, _, _| ownership::insert_references(f),
    },
];

/// What code can be made for.
pub static PLATFORMS: &[&dyn Platform] = &[&Host, &gpu::Gpu];

/// Lowers an instance and everything it calls.
pub fn lower(
    session: &Session<'_>,
    root: InstanceId,
    options: crate::emit::cx::Options,
) -> Result<(Module, Target)> {
    lower_noting(session, root, options, &mut HashMap::new())
}

/// Whether some of the code runs in several threads, as parallel loops do.
pub fn runs_in_parallel(module: &Module) -> bool {
    let region = |i: &crate::lir::InstNode| matches!(&i.data, InstData::CallHelper { helper, .. } if helper.name == parallel_region.name);
    module.funcs.iter().any(|f| f.insts.iter().any(region))
}

/// What became of the operations on arrays, where some parts of the code were to be parallel; those of
/// library functions stand where these are called.
pub fn parallel_notes(
    session: &Session<'_>,
    root: InstanceId,
    options: crate::emit::cx::Options,
) -> Result<BTreeSet<Note>> {
    let mut all = HashMap::new();
    lower_noting(session, root, options, &mut all)?;
    let is_library = |id: InstanceId| session.is_library(&session.at(id).func);
    let mut out = BTreeSet::new();
    for id in all.keys().copied().filter(|id| !is_library(*id)) {
        out.extend(all[&id].iter().cloned());
        let Some(typed) = &session.at(id).typed else { continue };
        for node in &typed.func.insts {
            let Op::CallInstance(callee) = node.op else { continue };
            if !is_library(callee) {
                continue;
            }
            let (mut seen, mut todo, mut inside, mut loops) =
                (HashSet::from([callee]), vec![callee], vec![], false);
            while let Some(at) = todo.pop() {
                inside.extend(all.get(&at).into_iter().flatten());
                loops |= session.at(at).typed.as_ref().is_some_and(|t| !bodies(&t.func).is_empty());
                if let Some(t) = &session.at(at).typed {
                    todo.extend(callees(&t.func).into_iter().filter(|c| is_library(*c) && seen.insert(*c)));
                }
            }
            let span = typed.func.span(node.loc);
            let serial = if loops || inside.iter().any(|n| n.serial.is_none()) {
                None
            } else {
                inside.first().and_then(|n| n.serial)
            };
            if inside.is_empty() && !loops {
                continue;
            }
            let name = session.at(callee).func.name.trim_end_matches('_').to_owned();
            out.insert(Note {
                place: Place { file: span.file.to_string(), line: span.line },
                steps: vec![(name, vec![])],
                serial,
                with: None,
                only: None,
            });
        }
    }
    Ok(out)
}

fn lower_noting(
    session: &Session<'_>,
    root: InstanceId,
    options: crate::emit::cx::Options,
    notes: &mut HashMap<InstanceId, Vec<Note>>,
) -> Result<(Module, Target)> {
    let mut module = Module::default();
    let (generators, made) = (generator::all(session), generator::typed(session));
    moves::check(session)?;
    let guard = guard::find(session)?;
    let (mut seen, mut regions) = (HashSet::from([root]), HashSet::new());
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        let inst = session.at(id);
        if let Some(of) = crate::opaque::get(inst.key.func) {
            let called = inst.typed.as_ref().map_or(vec![], |t| callees(&t.func));
            todo.extend(called.iter().copied().filter(|c| seen.insert(*c)));
            let names: Vec<String> = called.into_iter().map(|c| target(session, c).name).collect();
            let t = target(session, id);
            module.funcs.extend(of.lower(&t.name, t.sig, &names));
            continue;
        }
        let typed = inst
            .typed
            .as_ref()
            .ok_or_else(|| Diagnostic::internal(format!("`{}` was not typed", inst.func.name)))?;
        let Typed { func, mut globals } = typed.clone();
        let mut func = Arc::unwrap_or_clone(func);
        func.side.closes = inst.func.is_generator
            && generators
                .get(&crate::infer::generator_ids::generator_id(&inst.key))
                .is_some_and(|g| g.close.is_some());
        generator::forget_idle_delegations(&mut func, &generators);
        for step in STEPS {
            (step.run)(&mut func, &mut globals, session, options.platform);
        }
        for id in bodies(&func) {
            if regions.insert(id) {
                let t = target(session, id);
                module.funcs.push(crate::emit::wrapper::make_wrapper(&t.name, &t.sig, &t.params));
            }
        }
        for callee in callees(&func).into_iter().chain(generator::mentioned(&func, &made)) {
            if seen.insert(callee) {
                todo.push(callee);
            }
        }
        let guard = guard.as_ref().filter(|g| g.covers(id)).map(|g| &g.shared);
        if inst.func.is_generator {
            module.funcs.extend(generator::lower_generator(
                session,
                id,
                &func,
                &globals,
                options,
                &generators,
                guard,
            )?);
        } else {
            let (funcs, noted) =
                func::lower_function(session, id, &func, &globals, options, &generators, guard)?;
            module.funcs.extend(funcs);
            if func.parallel.any() {
                notes.insert(id, noted);
            }
        }
    }
    Ok((module, target(session, root)))
}

/// Instances that are bodies of a typed function's parallel loops: the run-time enters them through their
/// wrappers.
fn bodies(func: &Func) -> Vec<InstanceId> {
    func.blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|i| if let Op::Region(id) | Op::Task(id) = func.inst(*i).op { Some(id) } else { None })
        .collect()
}

/// Instances that a typed function calls.
pub fn callees(func: &Func) -> Vec<InstanceId> {
    func.blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|i| {
            if let Op::CallInstance(id) | Op::Region(id) | Op::Task(id) = func.inst(*i).op {
                Some(id)
            } else {
                None
            }
        })
        .collect()
}
