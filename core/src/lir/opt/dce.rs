//! Drops what nothing needs: instructions without effect whose results are unused, block parameters that
//! reach no use, blocks that cannot be reached. Works backwards from effects, so whole dead cycles go at
//! once.

use super::edit::{Defs, remove_params, remove_unreachable};
use crate::lir::cfg::{Analyses, Cfg};
use crate::lir::{Alias, Func, InstData, Value};
use crate::rt::{Effect, Raises};

/// Whether the instruction must stay even if nothing uses its results.
pub(crate) fn has_effect(data: &InstData) -> bool {
    match data {
        InstData::Const { .. }
        | InstData::Op { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. } => false,
        InstData::Load { alias, .. } => *alias == Alias::Volatile,
        InstData::Store { .. } | InstData::Call { .. } | InstData::CallIndirect { .. } => true,
        // Dropping a helper that may raise would drop the exception.
        InstData::CallHelper { helper, .. } => match helper.effect {
            Effect::Pure | Effect::Reads | Effect::Allocates => helper.raises == Raises::Pending,
            Effect::Writes => true,
        },
        InstData::Grid { op, .. } => !op.is_pure(),
        InstData::Jump(_)
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return(_)
        | InstData::Unreachable => true,
    }
}

pub(crate) fn drop_dead_code(func: &mut Func, analyses: &mut Analyses) {
    if func.layout.is_empty() {
        return;
    }
    let cfg = analyses.cfg(func);
    remove_unreachable(func, cfg);
    let live = live_values(func, cfg);
    remove_params(func, |_, p| !live[p.index()]);
    for b in func.layout.clone() {
        let mut insts = std::mem::take(&mut func.blocks[b.index()].insts);
        insts.retain(|i| {
            let node = &func.insts[i.index()];
            has_effect(&node.data) || node.results.iter().any(|r| live[r.index()])
        });
        func.blocks[b.index()].insts = insts;
    }
}

/// Values that an effect needs, directly or through others. An argument of a jump is needed only if the
/// parameter is.
fn live_values(func: &Func, cfg: &Cfg) -> Vec<bool> {
    let defs = Defs::new(func);
    // For each parameter, the arguments that arrive: (parameter, argument), sorted by parameter.
    let mut arguments: Vec<(Value, Value)> = vec![];
    let mut live = vec![false; func.value_types.len()];
    let mut work: Vec<Value> = vec![];
    let mut need = |v: Value, work: &mut Vec<Value>| {
        if !std::mem::replace(&mut live[v.index()], true) {
            work.push(v);
        }
    };
    for &b in cfg.rpo() {
        for i in &func.blocks[b.index()].insts {
            let data = &func.insts[i.index()].data;
            if !has_effect(data) {
                continue;
            }
            match data {
                InstData::Brif { cond, .. } => need(*cond, &mut work),
                InstData::Jump(_) => {}
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
                | InstData::Unreachable => data.for_each_use(|v| need(v, &mut work)),
            }
            data.for_each_target(|to, args| {
                arguments.extend(func.blocks[to.index()].params.iter().copied().zip(args.iter().copied()))
            });
        }
    }
    arguments.sort_unstable();
    while let Some(v) = work.pop() {
        if let Some(data) = defs.data(func, v) {
            // Effects' operands are needed already; a terminator makes no values.
            if !has_effect(data) {
                data.for_each_use(|u| need(u, &mut work));
            }
            continue;
        }
        let from = arguments.partition_point(|(p, _)| *p < v);
        for (_, a) in arguments[from..].iter().take_while(|(p, _)| *p == v) {
            need(*a, &mut work);
        }
    }
    live
}
