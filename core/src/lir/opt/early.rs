//! For GPUs: checks that follow each other come first, and then all that they protect.
//!
//! ```text
//! a: brif c, b, cold f                       a: brif c, b, cold f
//! b: x = load p; store x, s                  b: brif d, e, cold f
//!    brif d, e, cold f                   →   e: x = load p; store x, s; …
//! e: …
//! ```
//!
//! A load that waits behind a branch for one before it takes the time of both, and a GPU has nothing else to
//! do meanwhile. A thread that fails may so leave undone what it would have stored just before.

use crate::lir::cfg::{Analyses, Dominators};
use crate::lir::{Alias, Block, Func, Inst, InstData, Value};
use std::collections::HashSet;

pub(crate) fn checks_first(func: &mut Func, analyses: &mut Analyses) {
    let order = analyses.cfg(func).rpo().to_vec();
    for block in order {
        if let Some((to, moved)) = movable(func, analyses, block) {
            let here: HashSet<Inst> = moved.iter().copied().collect();
            func.blocks[block.index()].insts.retain(|i| !here.contains(i));
            func.blocks[to.index()].insts.splice(0..0, moved);
        }
    }
}

/// Where a block that ends in a check goes on when nothing is wrong, and what can wait until then.
fn movable(func: &Func, analyses: &mut Analyses, block: Block) -> Option<(Block, Vec<Inst>)> {
    let end = func.terminator(block)?;
    let InstData::Brif { then_to, else_to, cond, .. } = &func.insts[end.index()].data else { return None };
    let is_cold = |b: Block| func.blocks[b.index()].cold;
    let on = match (is_cold(then_to.block), is_cold(else_to.block)) {
        (true, false) => else_to,
        (false, true) => then_to,
        (true, true) | (false, false) => return None,
    };
    let cfg = analyses.cfg(func);
    if cfg.preds(on.block).len() != 1
        || !func.blocks[on.block.index()].params.is_empty()
        || !on.args.is_empty()
    {
        return None;
    }
    let insts = &func.blocks[block.index()].insts;
    let body = &insts[..insts.len() - 1];
    let data = |i: &Inst| &func.insts[i.index()].data;
    // Behind the last thing that has an effect on other threads, or whose order counts otherwise.
    let first = body.iter().rposition(|i| is_fixed(data(i))).map_or(0, |k| k + 1);
    let (mut moved, mut made) = (vec![], HashSet::new());
    for i in &body[first..] {
        let mut follows = is_memory(data(i));
        data(i).for_each_use(|v| follows |= made.contains(&v));
        if follows {
            moved.push(*i);
            made.extend(func.insts[i.index()].results.iter().copied());
        }
    }
    if moved.is_empty() || made.contains(cond) {
        return None;
    }
    let doms = analyses.dominators(func);
    used_there_alone(func, doms, on.block, &made, &moved).then_some((on.block, moved))
}

fn is_memory(data: &InstData) -> bool {
    matches!(data, InstData::Load { alias, .. } | InstData::Store { alias, .. } if *alias != Alias::Volatile)
}

fn is_fixed(data: &InstData) -> bool {
    match data {
        InstData::Call { .. } | InstData::CallIndirect { .. } => true,
        InstData::CallHelper { helper, .. } => crate::math::definition(helper).is_none(),
        InstData::Grid { op, .. } => !op.is_pure(),
        InstData::Load { alias, .. } | InstData::Store { alias, .. } => *alias == Alias::Volatile,
        InstData::Const { .. }
        | InstData::Op { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::Jump(_)
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return(_)
        | InstData::Unreachable => false,
    }
}

/// Whether values are used only behind the beginning of a block, and by those that move there.
fn used_there_alone(
    func: &Func,
    doms: &Dominators,
    to: Block,
    made: &HashSet<Value>,
    moved: &[Inst],
) -> bool {
    func.layout.iter().filter(|b| !doms.dominates(to, **b)).all(|b| {
        func.blocks[b.index()].insts.iter().filter(|i| !moved.contains(i)).all(|i| {
            let mut used = false;
            func.insts[i.index()].data.for_each_use(|v| used |= made.contains(&v));
            !used
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::parse_module;

    fn optimised(text: &str) -> String {
        let mut module = parse_module(text, &[]).expect("parses");
        checks_first(&mut module.funcs[0], &mut Analyses::default());
        crate::lir::verify_module(&module).expect("is right");
        module.to_string()
    }

    const TWO: &str = "func @f(ptr, ptr, i8, i8) -> i64 {\nblock0(v0: ptr, v1: ptr, v2: i8, v3: i8):\n brif v2, block1, cold block3\nblock1:\n v4 = load.i64 array v0\n store.i64 array v4, v1\n BARRIER brif v3, block2, cold block3\nblock2:\n return v4\nblock3 cold:\n v5 = const.i64 7\n return v5\n}";

    #[test]
    fn what_checks_protect_waits_for_the_last_of_them() {
        let text = optimised(&TWO.replace("BARRIER", ""));
        let (load, check) = (text.find("load.i64").expect("a load"), text.find("brif v3").expect("a check"));
        assert!(check < load, "{text}");
    }

    #[test]
    fn nothing_passes_a_barrier() {
        let text = optimised(&TWO.replace("BARRIER", "barrier\n"));
        let (load, check) = (text.find("load.i64").expect("a load"), text.find("brif v3").expect("a check"));
        assert!(load < check, "{text}");
    }
}
