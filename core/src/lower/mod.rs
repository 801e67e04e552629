//! Typed SSA to LIR: aggregates exploded, checks, exceptions and ownership made explicit.
//!
//! [`fuse`] joins operations on arrays, [`ownership`] makes references explicit, [`func`] walks one function, [`cx`] is what an operation's emitter sees, [`pieces`] runs loops over
//! arrays in parallel, [`generator`] turns a
//! generator into a frame and a resume function, [`gpu`] makes kernels.

pub mod arrays;
pub mod cast;
pub mod constants;
pub mod cx;
pub mod func;
pub mod generator;
pub mod fuse;
pub mod gpu;
pub mod lazy;
pub mod ownership;
pub mod pieces;
pub mod wrapper;

use crate::diag::{Diagnostic, Result};
use crate::infer::session::Session;
use crate::lir::{Module, Signature};
use crate::ssa::{Func, InstanceId, Op};
use crate::types::Type;
use std::collections::HashSet;

/// Name and signature of the LIR function of an instance.
#[derive(Clone, Debug)]
pub struct Target { pub name: String, pub sig: Signature, pub params: Vec<Type>, pub ret: Type }

pub fn target(session: &Session<'_>, id: InstanceId) -> Target {
    let i = session.at(id);
    let sig = cx::signature(&i.key.args, i.ret);
    Target { name: format!("{}.{}", i.func.name, id.0), sig, params: i.key.args.clone(), ret: i.ret }
}

/// Lowers an instance and everything it calls.
pub fn lower(session: &Session<'_>, root: InstanceId, options: cx::Options) -> Result<(Module, Target)> {
    let mut module = Module::default();
    let (generators, made) = (generator::all(session), generator::typed(session));
    let (mut seen, mut regions) = (HashSet::from([root]), HashSet::new());
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        let inst = session.at(id);
        let typed = inst.typed.as_ref().ok_or_else(|| Diagnostic::internal(format!("`{}` was not typed", inst.func.name)))?;
        let mut func = Func::clone(&typed.func);
        func.closes = inst.func.is_generator && generators.get(&crate::infer::session::generator_id(&inst.key)).is_some_and(|g| g.close.is_some());
        fuse::fuse(&mut func, session);
        ownership::insert_references(&mut func);
        for id in bodies(&func) { if regions.insert(id) { let t = target(session, id); module.funcs.push(wrapper::make_wrapper(&t.name, &t.sig, &t.params)); } }
        for callee in callees(&func).into_iter().chain(generator::mentioned(&func, &made)) { if seen.insert(callee) { todo.push(callee); } }
        if inst.func.is_generator {
            module.funcs.extend(generator::lower_generator(session, id, &func, &typed.globals, options, &generators)?);
        } else {
            // Library functions do what the function that they serve would do.
            let parts = if session.is_library(&inst.func) { session.at(root).func.parallel } else { inst.func.parallel };
            module.funcs.extend(func::lower_function(session, id, &func, &typed.globals, options, &generators, parts)?);
        }
    }
    Ok((module, target(session, root)))
}

/// Instances that are bodies of a typed function's parallel loops: the run-time enters them through their wrappers.
fn bodies(func: &Func) -> Vec<InstanceId> {
    func.blocks.iter().flat_map(|b| &b.insts).filter_map(|i| if let Op::Region(id) = func.inst(*i).op { Some(id) } else { None }).collect()
}

/// Instances that a typed function calls.
pub fn callees(func: &Func) -> Vec<InstanceId> {
    func.blocks.iter().flat_map(|b| &b.insts).filter_map(|i| if let Op::CallInstance(id) | Op::Region(id) = func.inst(*i).op { Some(id) } else { None }).collect()
}
