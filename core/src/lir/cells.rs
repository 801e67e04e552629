//! Calls between functions of a module that find newer code while they run.
//!
//! Code of tier 0 calls functions that may run long through a word in memory, a cell, which promotion
//! changes: so a caller that runs on in tier 0 (a recursion under way, a loop around the hot one) enters tier
//! 1 at its next call. Recursion without loops meets no point where it could go over and would never be asked
//! where it is; it is asked where it looks at its stack.
//!
//! ```python
//! def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)      # one call from Python, a billion calls of itself
//! ```

use super::osr;
use super::*;
use crate::ops::object::{stack_check, tier_sample};

fn calls_helper(func: &Func, i: Inst, wanted: &crate::rt::RtFn) -> bool {
    matches!(&func.insts[i.index()].data, InstData::CallHelper { helper, .. } if *helper == wanted)
}

/// Whether the function looks at its stack, since it is recursive.
pub fn recursive(func: &Func) -> bool {
    func.layout
        .iter()
        .flat_map(|b| &func.blocks[b.index()].insts)
        .any(|i| calls_helper(func, *i, &stack_check))
}

/// Names of the functions that have a cell, in the order of the module: they are recursive or have loops that
/// poll, and others than wrappers call them. Both tiers must agree, so this is asked of the snapshot.
pub fn names(module: &Module) -> Vec<String> {
    let callers = module.funcs.iter().filter(|f| f.wraps.is_none());
    let called: std::collections::HashSet<&str> = callers
        .flat_map(|f| {
            f.layout.iter().flat_map(|b| &f.blocks[b.index()].insts).filter_map(|i| {
                if let InstData::Call { func, .. } = &f.insts[i.index()].data {
                    Some(f.funcs[func.index()].name.as_str())
                } else {
                    None
                }
            })
        })
        .collect();
    module
        .funcs
        .iter()
        .filter(|f| called.contains(f.name.as_str()) && (osr::polls(f) || recursive(f)))
        .map(|f| f.name.clone())
        .collect()
}

/// The name of the symbol for the word that holds a function's address.
pub(crate) fn word(function: &str) -> String {
    format!("{WORD}{function}")
}
const WORD: &str = "cell ";
pub(crate) fn is_word(symbol: &str) -> bool {
    symbol.starts_with(WORD)
}

/// Names of the functions that the run-time enters through words, bodies of parallel loops: those of them
/// that the module has. (A module of a running loop has only the words.)
pub fn entered(module: &Module) -> Vec<String> {
    let wanted: std::collections::BTreeSet<&str> =
        module.funcs.iter().flat_map(|f| &f.symbols).filter_map(|s| s.name.strip_prefix(WORD)).collect();
    module.funcs.iter().filter(|f| wanted.contains(f.name.as_str())).map(|f| f.name.clone()).collect()
}

/// Says where the words are.
pub fn place(module: &mut Module, cell: impl Fn(&str) -> Option<usize>) {
    for s in module.funcs.iter_mut().flat_map(|f| &mut f.symbols) {
        if let Some(at) = s.name.strip_prefix(WORD).and_then(&cell) {
            s.addr = at;
        }
    }
}

/// Makes calls go through cells. `cell` gives the address of a function's cell, if it has one.
pub fn call_through(func: &mut Func, cell: impl Fn(&str) -> Option<usize>) {
    let cells: Vec<Option<Symbol>> = (0..func.funcs.len())
        .map(|k| {
            let name = func.funcs[k].name.clone();
            cell(&name).map(|at| func.symbol(&word(&name), at))
        })
        .collect();
    if cells.iter().all(Option::is_none) {
        return;
    }
    for b in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[b.index()].insts);
        let mut out = Vec::with_capacity(insts.len() + 4);
        for i in insts {
            if let InstData::Call { func: callee, args } = &func.insts[i.index()].data
                && let Some(symbol) = cells[callee.index()]
            {
                let (args, sig, loc) =
                    (args.clone(), func.funcs[callee.index()].sig.clone(), func.insts[i.index()].loc);
                let at = func.make_inst(InstData::SymbolAddr { symbol }, loc);
                let place = func.insts[at.index()].results[0];
                let load = func.make_inst(
                    InstData::Load { ty: Ty::Ptr, addr: place, offset: 0, alias: Alias::Volatile },
                    loc,
                );
                let addr = func.insts[load.index()].results[0];
                func.insts[i.index()].data = InstData::CallIndirect { sig, addr, args };
                out.extend([at, load]);
            }
            out.push(i);
        }
        func.blocks[b.index()].insts = out;
    }
}

/// Makes a recursive function say that it runs, where somebody wants to know: `site` is the name and the
/// address of the word that stands for it.
pub fn say_that_it_runs(func: &mut Func, site: (String, usize)) {
    let symbol = func.symbol(&site.0, site.1);
    for b in func.layout.clone() {
        let Some(at) = func.blocks[b.index()].insts.iter().position(|i| calls_helper(func, *i, &stack_check))
        else {
            continue;
        };
        let check = func.blocks[b.index()].insts[at];
        let InstData::CallHelper { args, .. } = &func.insts[check.index()].data else { continue };
        let (ctx, loc) = (args[0], func.insts[check.index()].loc);
        let place = func.make_inst(InstData::SymbolAddr { symbol }, loc);
        let word = func.insts[place.index()].results[0];
        let say = func.make_inst(InstData::CallHelper { helper: &tier_sample, args: vec![ctx, word] }, loc);
        func.blocks[b.index()].insts.splice(at..at, [place, say]);
    }
}
