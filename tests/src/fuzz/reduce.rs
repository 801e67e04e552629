//! Shrinks a module that shows a mismatch: tries smaller modules and keeps what still fails in the same way.

use tierup_core::lir::*;

/// Tries every step over and over until none helps. `fails` says how a module fails, if it does.
pub fn reduce<F>(module: Module, failure: F, fails: &dyn Fn(&Module) -> Option<F>) -> (Module, F) {
    let mut best = (module, failure);
    let mut budget = 20_000usize;
    loop {
        let before = size(&best.0);
        for step in STEPS {
            // From the end: later code depends on earlier code.
            let mut at = count(&best.0, *step);
            while at > 0 && budget > 0 {
                at -= 1;
                let mut smaller = best.0.clone();
                if !apply(&mut smaller, *step, at) {
                    continue;
                }
                budget -= 1;
                if let Some(failure) = fails(&smaller) {
                    best = (smaller, failure);
                    at = at.min(count(&best.0, *step));
                }
            }
        }
        if size(&best.0) >= before || budget == 0 {
            return best;
        }
    }
}

#[derive(Clone, Copy)]
enum Step {
    Function,
    Branch,
    Chunk,
    Inst,
    Param,
    Merge,
}
const STEPS: &[Step] = &[Step::Function, Step::Branch, Step::Chunk, Step::Inst, Step::Param, Step::Merge];

/// What reduction makes smaller.
fn size(m: &Module) -> usize {
    let block = |f: &Func, b: &BlockData| {
        2 + b.params.len() + b.insts.iter().map(|i| weight(&f.insts[i.index()].data)).sum::<usize>()
    };
    m.funcs.iter().map(|f| 10 + f.layout.iter().map(|b| block(f, &f.blocks[b.index()])).sum::<usize>()).sum()
}
fn weight(data: &InstData) -> usize {
    match data {
        InstData::Const { .. } | InstData::Return(_) | InstData::Unreachable => 1,
        InstData::Jump(_) => 2,
        InstData::Brif { .. } | InstData::Switch { .. } => 4,
        InstData::Op { .. }
        | InstData::Load { .. }
        | InstData::Store { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::CallHelper { .. }
        | InstData::Grid { .. } => 3,
    }
}

fn places(m: &Module) -> Vec<(usize, Block, usize)> {
    let mut out = vec![];
    for (f, func) in m.funcs.iter().enumerate() {
        for b in &func.layout {
            for at in 0..func.blocks[b.index()].insts.len() {
                out.push((f, *b, at));
            }
        }
    }
    out
}
fn params(m: &Module) -> Vec<(usize, Block, usize)> {
    let mut out = vec![];
    for (f, func) in m.funcs.iter().enumerate() {
        for b in func.layout.iter().skip(1) {
            for at in 0..func.blocks[b.index()].params.len() {
                out.push((f, *b, at));
            }
        }
    }
    out
}

fn count(m: &Module, step: Step) -> usize {
    match step {
        Step::Function => m.funcs.len(),
        Step::Branch => 2 * places(m).len(),
        Step::Chunk => 16,
        Step::Inst => places(m).len(),
        Step::Param => params(m).len(),
        Step::Merge => m.funcs.iter().map(|f| f.layout.len()).sum(),
    }
}

/// Makes the module smaller at place `at`; false where there is nothing to do.
fn apply(m: &mut Module, step: Step, at: usize) -> bool {
    let done = match step {
        Step::Function => {
            m.funcs.len() > 1 && {
                m.funcs.remove(at);
                true
            }
        }
        Step::Branch => {
            let (f, b, i) = places(m)[at / 2];
            straighten(&mut m.funcs[f], b, i, at % 2 == 0)
        }
        Step::Chunk => {
            // A sixteenth of all instructions at once, for a quick start.
            let all = places(m);
            let chunk = all.len().div_ceil(16).max(1);
            all.chunks(chunk).nth(at).is_some_and(|c| {
                c.iter().rev().fold(false, |any, (f, b, i)| drop_inst(&mut m.funcs[*f], *b, *i) || any)
            })
        }
        Step::Inst => {
            let (f, b, i) = places(m)[at];
            drop_inst(&mut m.funcs[f], b, i)
        }
        Step::Param => {
            let (f, b, i) = params(m)[at];
            drop_param(&mut m.funcs[f], b, i)
        }
        Step::Merge => {
            let (f, b) = m
                .funcs
                .iter()
                .enumerate()
                .flat_map(|(i, f)| f.layout.iter().map(move |b| (i, *b)))
                .nth(at)
                .expect("counted");
            merge(&mut m.funcs[f], b)
        }
    };
    if done {
        m.funcs.iter_mut().for_each(drop_unreachable);
    }
    done
}

fn straighten(f: &mut Func, b: Block, at: usize, first: bool) -> bool {
    let inst = f.blocks[b.index()].insts[at];
    let new = match &f.insts[inst.index()].data {
        InstData::Brif { then_to, else_to, .. } => {
            InstData::Jump(if first { then_to.clone() } else { else_to.clone() })
        }
        InstData::Switch { cases, default, .. } => InstData::Jump(BlockCall {
            block: if first { *default } else { *cases.first().unwrap_or(default) },
            args: vec![],
        }),
        InstData::Const { .. }
        | InstData::Op { .. }
        | InstData::Load { .. }
        | InstData::Store { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::CallHelper { .. }
        | InstData::Grid { .. }
        | InstData::Jump(_)
        | InstData::Return(_)
        | InstData::Unreachable => return false,
    };
    f.insts[inst.index()].data = new;
    true
}

/// Removes an instruction; results that are used become constants.
fn drop_inst(f: &mut Func, b: Block, at: usize) -> bool {
    let inst = f.blocks[b.index()].insts[at];
    let node = f.insts[inst.index()].clone();
    if node.data.is_terminator() {
        return false;
    }
    let used = |f: &Func, v: Value| {
        f.layout.iter().flat_map(|b| &f.blocks[b.index()].insts).any(|i| {
            let mut hit = false;
            f.insts[i.index()].data.for_each_use(|u| hit |= u == v);
            hit
        })
    };
    let kept: Vec<Value> = node.results.iter().copied().filter(|v| used(f, *v)).collect();
    if matches!(node.data, InstData::Const { bits: 0, .. }) && !kept.is_empty() {
        return false;
    }
    f.blocks[b.index()].insts.remove(at);
    for v in kept {
        // A slot or symbol must stay an address, or the reduced program would touch memory that is not there.
        if f.value_type(v) == Ty::Ptr {
            f.blocks[b.index()].insts.insert(at, inst);
            return false;
        }
        f.insts.push(InstNode {
            data: InstData::Const { ty: f.value_type(v), bits: 0 },
            results: vec![v],
            loc: Loc(0),
        });
        f.blocks[b.index()].insts.insert(at, Inst::new(f.insts.len() - 1));
    }
    true
}

/// Removes a block parameter; it becomes a constant.
fn drop_param(f: &mut Func, b: Block, at: usize) -> bool {
    let v = f.blocks[b.index()].params.remove(at);
    let ty = f.value_type(v);
    f.insts.push(InstNode { data: InstData::Const { ty, bits: 0 }, results: vec![v], loc: Loc(0) });
    let inst = Inst::new(f.insts.len() - 1);
    f.blocks[b.index()].insts.insert(0, inst);
    for node in &mut f.insts {
        let cut = |to: &mut BlockCall| {
            if to.block == b && at < to.args.len() {
                to.args.remove(at);
            }
        };
        match &mut node.data {
            InstData::Jump(to) => cut(to),
            InstData::Brif { then_to, else_to, .. } => {
                cut(then_to);
                cut(else_to)
            }
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => {}
        }
    }
    true
}

/// Joins a block with the one that it alone jumps to.
fn merge(f: &mut Func, b: Block) -> bool {
    let Some(t) = f.terminator(b) else { return false };
    let InstData::Jump(to) = f.insts[t.index()].data.clone() else { return false };
    if to.block == b || cfg::Cfg::new(f).preds(to.block).len() != 1 {
        return false;
    }
    let params = std::mem::take(&mut f.blocks[to.block.index()].params);
    let rest = std::mem::take(&mut f.blocks[to.block.index()].insts);
    f.layout.retain(|x| *x != to.block);
    f.blocks[b.index()].insts.pop();
    f.blocks[b.index()].insts.extend(rest);
    for node in &mut f.insts {
        node.data.map_uses(|v| params.iter().position(|p| *p == v).map_or(v, |i| to.args[i]));
    }
    true
}

fn drop_unreachable(f: &mut Func) {
    let cfg = cfg::Cfg::new(f);
    f.layout.retain(|b| cfg.is_reachable(*b));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ops(m: &Module) -> Vec<Op> {
        let all = m.funcs.iter().flat_map(|f| {
            f.layout.iter().flat_map(|b| &f.blocks[b.index()].insts).map(|i| &f.insts[i.index()].data)
        });
        all.filter_map(|d| if let InstData::Op { op, .. } = d { Some(*op) } else { None }).collect()
    }

    #[test]
    fn a_failure_shrinks_to_what_matters() {
        let fails = |m: &Module| (verify_module(m).is_ok() && ops(m).contains(&Op::Fmul)).then_some(());
        let module = (1..)
            .map(super::super::generate::module)
            .find(|m| size(m) > 300 && fails(m).is_some())
            .expect("some seed");
        let (small, ()) = reduce(module, (), &fails);
        assert_eq!(ops(&small), [Op::Fmul], "{small}");
        assert!(size(&small) < 30, "{small}");
    }
}
