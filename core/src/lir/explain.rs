//! What became of a function, read from its optimised LIR: what was inlined, which checks of indices stayed,
//! what is allocated, which generators keep their frames. For reports.

use super::cfg::{Cfg, Dominators, Loops};
use super::opt::{Boundary, boundaries};
use super::{Block, Func, InstData, Module};
use crate::ops::raising::{about_exceptions, exc_index};
use crate::rt::Effect;
use std::collections::BTreeSet;

/// A place in the user's source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: String,
    pub line: u32,
}

/// Everything in the order of its places, once each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Functions that were copied into the place that calls them.
    pub inlined: BTreeSet<(Place, String)>,
    /// Functions that are called.
    pub calls: BTreeSet<(Place, String)>,
    /// Indices that are checked, and whether that is only in the copy of a loop that runs where a test in
    /// front of it failed.
    pub checks: BTreeSet<(Place, bool)>,
    /// What makes an object (the helper's name), and whether that is inside a loop.
    pub allocations: BTreeSet<(Place, String, bool)>,
    /// Generators that keep a frame, and why.
    pub streams: BTreeSet<(Place, String)>,
    /// Innermost loops with their last lines, those in cold code left out.
    pub loops: BTreeSet<(Place, u32)>,
}

pub fn facts(module: &Module) -> Facts {
    let mut out = Facts::default();
    for func in &module.funcs {
        of_func(func, &mut out);
    }
    streams(module, &mut out);
    // A check in the quick copy of a loop says more than the same one in the slow copy.
    let everywhere: Vec<Place> = out.checks.iter().filter(|c| !c.1).map(|c| c.0.clone()).collect();
    out.checks.retain(|(p, slow)| !slow || !everywhere.contains(p));
    out
}

/// Generators that have a frame, where they are made.
fn streams(module: &Module, out: &mut Facts) {
    // Functions that give one to those that call them.
    let mut makers = BTreeSet::new();
    for func in &module.funcs {
        for (loc, why) in boundaries(func) {
            if why == Boundary::Returned && func.wraps.is_none() {
                makers.insert(func.name.as_str());
            } else if let Some(p) = place(func, loc) {
                out.streams.insert((p, text(&why)));
            }
        }
    }
    for func in &module.funcs {
        for i in func.layout.iter().flat_map(|b| &func.blocks[b.index()].insts) {
            let node = &func.insts[i.index()];
            let InstData::Call { func: f, .. } = &node.data else { continue };
            let name = &func.funcs[f.index()].name;
            if makers.contains(name.as_str())
                && let Some(p) = place(func, node.loc)
            {
                out.streams.insert((p, text(&Boundary::Passed(name.clone()))));
            }
        }
    }
}

fn text(why: &Boundary) -> String {
    match why {
        Boundary::Returned => "it is returned".into(),
        Boundary::Passed(name) => {
            let name = name.split('.').next().unwrap_or_default();
            format!("`{name}` is too large to be copied here, or calls itself")
        }
        Boundary::Stored => "something else refers to it".into(),
        Boundary::Runtime(helper) => format!("the run-time is given it (`{helper}`)"),
        Boundary::Several => "it may be another one where it is used".into(),
        Boundary::Shared => "iterations of a parallel loop may share it".into(),
    }
}

fn place(func: &Func, loc: super::Loc) -> Option<Place> {
    func.place(loc).filter(|l| l.line > 0).map(|l| Place { file: l.file.to_string(), line: l.line })
}

fn of_func(func: &Func, out: &mut Facts) {
    if func.layout.is_empty() {
        return;
    }
    let cfg = Cfg::new(func);
    let doms = Dominators::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &doms);
    let cold = |b: Block| func.blocks[b.index()].cold;
    // A cold block that only hot ones lead to: a negative index of the quick copy is wrapped there.
    let aside = |b: Block| !cfg.preds(b).iter().any(|p| cold(*p));
    for l in loops.all.iter().filter(|l| l.innermost && !cold(l.header)) {
        let place_of = |i: &super::Inst| func.place(func.insts[i.index()].loc).filter(|l| l.line > 0);
        // Whose loop it is: the body may have code of other functions in it.
        let Some(own) = func.blocks[l.header.index()].insts.iter().rev().find_map(place_of) else { continue };
        let insts = || l.blocks.iter().filter(|b| !cold(**b)).flat_map(|b| &func.blocks[b.index()].insts);
        let lines = || {
            insts()
                .filter_map(place_of)
                .filter(|p| (&p.file, &p.func) == (&own.file, &own.func))
                .map(|p| p.line)
        };
        if let (Some(first), Some(last)) = (lines().min(), lines().max()) {
            out.loops.insert((Place { file: own.file.to_string(), line: first }, last));
        }
    }
    for &b in cfg.rpo() {
        for i in &func.blocks[b.index()].insts {
            let node = &func.insts[i.index()];
            let mut at = func.loc(node.loc);
            while let Some(l) = at
                && let Some(outer) = func.loc(l.inlined_at)
            {
                if let Some(p) = place(func, l.inlined_at) {
                    out.inlined.insert((p, l.func.to_string()));
                }
                at = Some(outer);
            }
            let Some(here) = place(func, node.loc) else { continue };
            match &node.data {
                InstData::CallHelper { helper, .. } if **helper == exc_index => {
                    out.checks.insert((here, cfg.preds(b).iter().all(|p| cold(*p) && !aside(*p))));
                }
                InstData::CallHelper { helper, .. } => {
                    let makes = helper.effect == Effect::Allocates && !about_exceptions(helper) && !cold(b);
                    if makes {
                        out.allocations.insert((here, helper.name.to_owned(), loops.depth(b) > 0));
                    }
                }
                InstData::Call { func: f, .. } if !cold(b) => {
                    out.calls.insert((here, func.funcs[f.index()].name.clone()));
                }
                InstData::Call { .. }
                | InstData::CallIndirect { .. }
                | InstData::Const { .. }
                | InstData::Op { .. }
                | InstData::Load { .. }
                | InstData::Store { .. }
                | InstData::StackAddr { .. }
                | InstData::SymbolAddr { .. }
                | InstData::Grid { .. }
                | InstData::Jump(_)
                | InstData::Brif { .. }
                | InstData::Switch { .. }
                | InstData::Return(_)
                | InstData::Unreachable => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::text::parse_module;

    #[test]
    fn facts_of_a_loop() {
        let text = "func @f(ptr, i64) -> i64 {
block0(v0: ptr, v1: i64):
 v2 = const.i64 0
 v3 = call_helper @mem_alloc(v0, v1) !1
 jump block1(v2) !2
block1(v4: i64):
 v5 = icmp_ult.i64 v4, v1 !3
 brif v5, block2, cold block3 !3
block2:
 v6 = call_helper @mem_alloc(v0, v1) !4
 jump block1(v4) !3
block3 cold:
 v7 = call_helper @exc_index(v4, v4, v1) !3
 v8 = bitcast.i64 v7
 return v8
 !1 = \"x.py\" \"f\" 3:1\n !2 = \"x.py\" \"f\" 4:1\n !3 = \"x.py\" \"f\" 5:1\n !4 = \"y.py\" \"g\" 9:1 inlined_at !3\n}";
        let module = parse_module(text, &crate::ops::helpers().collect::<Vec<_>>()).expect("parses");
        let p = |file: &str, line: u32| Place { file: file.into(), line };
        let f = facts(&module);
        assert_eq!(f.loops, BTreeSet::from([(p("x.py", 5), 5)]));
        assert_eq!(f.checks, BTreeSet::from([(p("x.py", 5), false)]));
        assert_eq!(
            f.allocations,
            BTreeSet::from([
                (p("x.py", 3), "mem_alloc".to_string(), false),
                (p("y.py", 9), "mem_alloc".to_string(), true)
            ])
        );
        assert_eq!(f.inlined, BTreeSet::from([(p("x.py", 5), "g".to_string())]));
    }
}
