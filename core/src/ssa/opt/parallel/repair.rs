//! Gives a loop's variables their values behind the region that has taken the loop's place.

use super::find::Found;
use super::shared::Shared;
use crate::ssa::analysis::Cfg;
use crate::ssa::{Block, Func, Value};
use std::collections::HashMap;

/// Values of the loop's variables behind it are those of `head`, the block that goes through the parts; `now`
/// says which.
pub(crate) fn repair(
    func: &mut Func,
    head: Block,
    found: &Found,
    shared: &Shared,
    now: HashMap<Value, Value>,
) {
    Repair { func, head, pre: found.pre, found, shared, now, cfg: None, known: HashMap::new() }.run();
}

/// Outside the loop its variables now have two definitions: before the region, and behind the parts. Reads
/// find theirs; where both meet, a block parameter is made, which the clean-ups remove where it was not
/// needed.
struct Repair<'a> {
    func: &'a mut Func,
    head: Block,
    pre: Block,
    found: &'a Found,
    shared: &'a Shared,
    /// Behind the parts, by the header's parameter.
    now: HashMap<Value, Value>,
    cfg: Option<Cfg>,
    known: HashMap<(usize, Block), Value>,
}

impl Repair<'_> {
    fn run(mut self) {
        let cfg = Cfg::new(self.func);
        let order: Vec<Block> = cfg.rpo().to_vec();
        self.cfg = Some(cfg);
        let params: HashMap<Value, usize> =
            self.shared.carried.iter().enumerate().map(|(k, c)| (c.param, k)).collect();
        for b in order {
            let mut used: Vec<Value> = vec![];
            for i in &self.func.block(b).insts {
                crate::ssa::analysis::uses_of(self.func.inst(*i), &mut |v| used.push(v));
            }
            crate::ssa::analysis::uses_of_term(&self.func.block(b).term, &mut |v| used.push(v));
            used.retain(|v| params.contains_key(v));
            used.sort();
            used.dedup();
            for v in used {
                let new = self.at_start(params[&v], b);
                for i in self.func.block(b).insts.clone() {
                    let node = &mut self.func.insts[i.index()];
                    for a in node.args.iter_mut().chain(node.unwind.iter_mut().flat_map(|u| &mut u.args)) {
                        if *a == v {
                            *a = new;
                        }
                    }
                }
                let term = &mut self.func.blocks[b.index()].term;
                if let Some(a) = term.operand_mut()
                    && *a == v
                {
                    *a = new;
                }
                for a in term.targets_mut().into_iter().flat_map(|t| &mut t.args) {
                    if *a == v {
                        *a = new;
                    }
                }
            }
        }
    }

    /// The value of a variable where a block begins, which is what it has where it ends: nothing changes
    /// inside of one.
    fn at_start(&mut self, k: usize, b: Block) -> Value {
        let c = &self.shared.carried[k];
        if b == self.head {
            return self.now[&c.param];
        }
        if b == self.pre || b == Block(0) {
            return c.init;
        }
        if let Some(v) = self.known.get(&(k, b)) {
            return *v;
        }
        let mut preds: Vec<Block> = self.cfg.as_ref().map(|cfg| cfg.preds(b).to_vec()).unwrap_or_default();
        preds.sort();
        preds.dedup();
        debug_assert!(!self.found.blocks.contains(&b));
        if let [one] = preds[..] {
            let v = self.at_start(k, one);
            self.known.insert((k, b), v);
            return v;
        }
        let param = self.func.add_param(b);
        self.known.insert((k, b), param);
        for p in preds {
            let v = self.at_start(k, p);
            self.func.each_edge_mut(p, &mut |_, to| {
                if to.block == b {
                    to.args.push(v)
                }
            });
        }
        param
    }
}
