//! Contraction: a product that is only added to something or subtracted becomes one instruction with it,
//! which rounds once. Results change, so this is no optimisation: kernels ask for it, and a CPU that runs one
//! in a GPU's place computes the same bits.

use super::func::*;
use super::inst::Op;
use super::opt::edit::Defs;
use super::ty::Ty;

/// Fuses products and sums in every function.
pub fn contract(module: &mut Module) {
    module.funcs.iter_mut().for_each(contract_func);
}

fn contract_func(func: &mut Func) {
    let mut uses = vec![0u32; func.value_types.len()];
    for b in &func.layout {
        for i in &func.blocks[b.index()].insts {
            func.insts[i.index()].data.for_each_use(|v| uses[v.index()] += 1);
        }
    }
    let defs = Defs::new(func);
    for b in func.layout.clone() {
        let old = std::mem::take(&mut func.blocks[b.index()].insts);
        for i in old {
            if let Some(fused) = fused(func, &defs, &uses, i) {
                fuse(func, b, i, fused);
            }
            func.blocks[b.index()].insts.push(i);
        }
    }
    super::opt::drop_dead_code(func, &mut super::cfg::Analyses::default());
}

/// The factors of a product, what is added to it, and which of the two is taken with its sign turned.
struct Fused {
    ty: Ty,
    factors: [Value; 2],
    rest: Value,
    minus: Option<Minus>,
}

enum Minus {
    Product,
    Rest,
}

fn fused(func: &Func, defs: &Defs, uses: &[u32], i: Inst) -> Option<Fused> {
    let InstData::Op { op: op @ (Op::Fadd | Op::Fsub), ty, args } = &func.insts[i.index()].data else {
        return None;
    };
    let product = |v: Value| {
        let InstData::Op { op: Op::Fmul, args, .. } = &func.insts[defs.inst(v)?.index()].data else {
            return None;
        };
        (uses[v.index()] == 1).then_some([args[0], args[1]])
    };
    let minus = |which: Minus| (*op == Op::Fsub).then_some(which);
    let ty = *ty;
    if let Some(factors) = product(args[0]) {
        return Some(Fused { ty, factors, rest: args[1], minus: minus(Minus::Rest) });
    }
    product(args[1]).map(|factors| Fused { ty, factors, rest: args[0], minus: minus(Minus::Product) })
}

fn fuse(func: &mut Func, b: Block, i: Inst, Fused { ty, mut factors, mut rest, minus }: Fused) {
    let turned = match minus {
        None => None,
        Some(Minus::Product) => Some(&mut factors[0]),
        Some(Minus::Rest) => Some(&mut rest),
    };
    if let Some(v) = turned {
        let loc = func.insts[i.index()].loc;
        let neg = func.make_inst(InstData::Op { op: Op::Fneg, ty, args: vec![*v] }, loc);
        *v = func.insts[neg.index()].results[0];
        func.blocks[b.index()].insts.push(neg);
    }
    func.insts[i.index()].data = InstData::Op { op: Op::Fma, ty, args: vec![factors[0], factors[1], rest] };
}
