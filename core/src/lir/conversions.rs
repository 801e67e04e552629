//! Which conversions from float to integer always find a number that the integer type holds, because a dominating branch has asked.
//!
//! LIR's conversions saturate; a back end that knows that this one need not can use the machine's instruction alone.

use super::cfg::{Cfg, Dominators};
use super::opt::edit::Defs;
use super::{Block, Func, InstData, Op, Ty, Value};

/// Dominating branches that one conversion looks at.
const MAX_BRANCHES: usize = 16;

/// Results of the conversions that cannot leave their type.
pub fn exact_conversions(func: &Func, cfg: &Cfg) -> Vec<Value> {
    let mut found = vec![];
    for &b in cfg.rpo() {
        for i in &func.blocks[b.index()].insts {
            let node = &func.insts[i.index()];
            if let InstData::Op { op: op @ (Op::FToSint | Op::FToUint), ty, args } = &node.data { found.push((b, *op, *ty, args[0], node.results[0])); }
        }
    }
    if found.is_empty() { return vec![]; }
    let (doms, defs) = (Dominators::new(func, cfg), Defs::new(func));
    found.into_iter().filter(|(b, op, ty, x, _)| {
        let bits = ty.bytes() as i32 * 8;
        let (low, high) = if *op == Op::FToSint { (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)) } else { (0.0, 2f64.powi(bits)) };
        let (above, below) = Asked { func, cfg, doms: &doms, defs: &defs, x: *x, low, high }.before(*b);
        above && below
    }).map(|f| f.4).collect()
}

struct Asked<'a> { func: &'a Func, cfg: &'a Cfg, doms: &'a Dominators, defs: &'a Defs, x: Value, low: f64, high: f64 }

impl Asked<'_> {
    /// Whether branches on the way to `block` have found `x >= low`, and `x < high`, of `x` or its absolute value.
    fn before(&self, block: Block) -> (bool, bool) {
        let (mut at, mut found) = (block, (false, false));
        for _ in 0..MAX_BRANCHES {
            if let [p] = self.cfg.preds(at) && let Some(t) = self.func.terminator(*p)
                && let InstData::Brif { cond, then_to, else_to, .. } = &self.func.insts[t.index()].data
                && then_to.block == at && else_to.block != at
            {
                self.learn(*cond, 4, &mut found);
            }
            match self.doms.idom(at) { Some(d) if found != (true, true) => at = d, Some(_) | None => break }
        }
        found
    }

    fn learn(&self, cond: Value, depth: u32, found: &mut (bool, bool)) {
        let Some(InstData::Op { op, args, .. }) = self.defs.data(self.func, cond) else { return };
        if *op == Op::Band && depth > 0 {
            for a in args { self.learn(*a, depth - 1, found); }
            return;
        }
        let size = matches!(self.defs.data(self.func, args[0]), Some(InstData::Op { op: Op::Fabs, args, .. }) if args[0] == self.x);
        if args[0] != self.x && !size { return; }
        let Some(k) = args.get(1).and_then(|v| self.defs.constant(self.func, *v)) else { return };
        let k = if self.func.value_type(self.x) == Ty::F32 { f64::from(f32::from_bits(k as u32)) } else { f64::from_bits(k) };
        found.0 |= if size { *op == Op::FcmpLt && -k >= self.low } else { matches!(op, Op::FcmpGe | Op::FcmpGt) && k >= self.low };
        found.1 |= *op == Op::FcmpLt && k <= self.high;
    }
}
