//! Brings functions to the form that back ends take: at most one result scalar beside the status.
//!
//! A function with more gets an extra last parameter, a pointer to 8 bytes for each result scalar, and stores
//! results 1, 2 … there, each in its own width at the start of its 8 bytes; only the first result (the
//! status) is returned. Exactly one scalar stays in a register. The callee writes when it returns, whatever
//! the status, and at no other time; so the caller may pass the same slot at every call and reads it right
//! after.

use super::func::*;
use super::ty::Ty;

/// The signature that back ends see, and the size of what the extra pointer points to (results 1, 2 …, 8
/// bytes each) where there is one.
pub(crate) fn legal_signature(sig: &Signature) -> (Signature, Option<u32>) {
    if sig.results.len() <= 2 {
        return (sig.clone(), None);
    }
    let mut params = sig.params.clone();
    params.push(Ty::Ptr);
    (Signature { params, results: vec![sig.results[0]] }, Some(8 * (sig.results.len() as u32 - 1)))
}

/// Legalises every function; changes nothing the second time.
pub fn legalise(module: &mut Module) {
    module.funcs.iter_mut().for_each(legalise_func);
}

pub(crate) fn legalise_func(func: &mut Func) {
    let (sig, out) = legal_signature(&func.sig);
    let out = out.map(|_| {
        let entry = func.entry();
        func.add_param(entry, Ty::Ptr)
    });
    // Signatures first decide, then change: calls are rewritten by what the callee was declared as.
    let callees: Vec<(Signature, Option<u32>)> = func.funcs.iter().map(|f| legal_signature(&f.sig)).collect();
    let bytes = callees
        .iter()
        .filter_map(|c| c.1)
        .chain(func.insts.iter().filter_map(|n| indirect_out(&n.data)))
        .max();
    func.sig = sig;
    for (f, (sig, _)) in func.funcs.iter_mut().zip(&callees) {
        f.sig = sig.clone();
    }
    if out.is_none() && bytes.is_none() {
        return;
    }
    let slot = bytes.map(|b| func.add_slot(b));
    for b in func.layout.clone() {
        let old = std::mem::take(&mut func.blocks[b.index()].insts);
        let mut new = Vec::with_capacity(old.len());
        for i in old {
            let bytes = match &func.insts[i.index()].data {
                InstData::Call { func: f, .. } => callees[f.index()].1,
                InstData::CallIndirect { .. } => indirect_out(&func.insts[i.index()].data),
                InstData::Return(_) => {
                    if let Some(out) = out {
                        store_results(func, i, out, &mut new);
                    }
                    None
                }
                InstData::Const { .. }
                | InstData::Op { .. }
                | InstData::Load { .. }
                | InstData::Store { .. }
                | InstData::StackAddr { .. }
                | InstData::SymbolAddr { .. }
                | InstData::CallHelper { .. }
                | InstData::Grid { .. }
                | InstData::Jump(_)
                | InstData::Brif { .. }
                | InstData::Switch { .. }
                | InstData::Unreachable => None,
            };
            match bytes.and(slot) {
                Some(slot) => load_results(func, i, slot, &mut new),
                None => new.push(i),
            }
        }
        func.blocks[b.index()].insts = new;
    }
}

fn indirect_out(data: &InstData) -> Option<u32> {
    if let InstData::CallIndirect { sig, .. } = data { legal_signature(sig).1 } else { None }
}

/// Before `return status, a, b …`: stores; then only the status is returned.
fn store_results(func: &mut Func, ret: Inst, out: Value, block: &mut Vec<Inst>) {
    let loc = func.insts[ret.index()].loc;
    let InstData::Return(values) = &mut func.insts[ret.index()].data else { return };
    let rest = values.split_off(1);
    for (k, value) in rest.into_iter().enumerate() {
        block.push(
            func.make_inst(
                InstData::Store { value, addr: out, offset: 8 * k as i32, alias: Alias::Stack },
                loc,
            ),
        );
    }
}

/// `s, a, b = call f(x)` becomes `s = call f(x, slot)` and loads of `a` and `b`.
fn load_results(func: &mut Func, call: Inst, slot: Slot, block: &mut Vec<Inst>) {
    let loc = func.insts[call.index()].loc;
    let addr_inst = func.make_inst(InstData::StackAddr { slot }, loc);
    let out = func.insts[addr_inst.index()].results[0];
    block.extend([addr_inst, call]);
    match &mut func.insts[call.index()].data {
        InstData::Call { args, .. } => args.push(out),
        InstData::CallIndirect { sig, args, .. } => {
            args.push(out);
            *sig = legal_signature(sig).0;
        }
        InstData::Const { .. }
        | InstData::Op { .. }
        | InstData::Load { .. }
        | InstData::Store { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::CallHelper { .. }
        | InstData::Grid { .. }
        | InstData::Jump(_)
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return(_)
        | InstData::Unreachable => return,
    }
    for (k, value) in func.insts[call.index()].results.split_off(1).into_iter().enumerate() {
        let data = InstData::Load {
            ty: func.value_type(value),
            addr: out,
            offset: 8 * k as i32,
            alias: Alias::Stack,
        };
        func.insts.push(InstNode { data, results: vec![value], loc });
        block.push(Inst::new(func.insts.len() - 1));
    }
}
