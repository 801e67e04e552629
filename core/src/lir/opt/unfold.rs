//! Small functions that call themselves get some of those calls' bodies in place of the calls: fewer calls,
//! and fewer looks at the stack, since the copies lie in the frame of the one that has looked.
//!
//! ```text
//! fib(n): … fib(n - 1) + fib(n - 2)        fib(n): … [… fib(n - 2) + fib(n - 3)] + [… fib(n - 3) + fib(n - 4)]
//! ```

use super::edit::Defs;
use super::inline::{Inliner, weight};
use crate::lir::cfg::Analyses;
use crate::lir::{Alias, Func, Inst, InstData, Op, Ty};
use crate::offset;
use std::collections::HashMap;
use std::sync::Arc;

/// A body that is worth copying.
const SMALL: usize = 60;
/// The function with the copies stays below this.
const LARGE: usize = 500;
/// Calls within calls.
const DEPTH: usize = 2;

pub(crate) fn unfold_recursion(func: &mut Func, analyses: &mut Analyses) {
    let calls = calls_of_itself(func);
    let size = weight(func);
    if calls == 0 || size > SMALL {
        return;
    }
    let wanted = HashMap::from([(Arc::from(func.name.as_str()), 0)]);
    let mut body = func.clone();
    drop_stack_check(&mut body);
    for _ in 0..DEPTH {
        let now = weight(func);
        if now + size * calls_of_itself(func) > LARGE {
            return;
        }
        Inliner {
            func,
            callees: std::slice::from_ref(&body),
            wanted: &wanted,
            weights: &[size],
            streams: &[false],
            size: now,
        }
        .run();
        analyses.invalidate();
    }
}

fn calls_of_itself(func: &Func) -> usize {
    let calls = |data: &InstData| matches!(data, InstData::Call { func: callee, .. } if *func.funcs[callee.index()].name == *func.name);
    func.layout
        .iter()
        .map(|b| &func.blocks[b.index()])
        .filter(|b| !b.cold)
        .flat_map(|b| &b.insts)
        .filter(|i| calls(&func.insts[i.index()].data))
        .count()
}

/// `limit ≤ here`, which `lower::func` asks of a recursive function's frame, is true.
fn drop_stack_check(body: &mut Func) {
    let defs = Defs::new(body);
    let limit = |v| {
        defs.inst(v).filter(|i| matches!(body.insts[i.index()].data, InstData::Load { alias: Alias::Volatile, offset: at, .. } if at == offset!(ThreadCtx.stack_limit)))
    };
    let here = |v| matches!(defs.data(body, v), Some(InstData::StackAddr { .. }));
    let check = |i: &Inst| {
        let InstData::Op { op: Op::IcmpUle, args, .. } = &body.insts[i.index()].data else { return None };
        limit(args[0]).filter(|_| here(args[1])).map(|load| (*i, load))
    };
    let checks: Vec<(Inst, Inst)> =
        body.layout.iter().flat_map(|b| &body.blocks[b.index()].insts).filter_map(check).collect();
    for (check, load) in checks {
        body.insts[check.index()].data = InstData::Const { ty: Ty::I8, bits: 1 };
        // Nothing else reads it.
        body.insts[load.index()].data = InstData::Const { ty: Ty::Ptr, bits: 0 };
    }
}
