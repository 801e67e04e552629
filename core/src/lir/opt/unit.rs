//! Innermost loops over rows of unknown stride, in two versions: for elements that lie side by side, which a
//! back end loads and stores as vectors, and as they were.
//!
//! ```python
//! def row(x, y):              # array(float64, 1d, A)
//!     for i in range(len(y)): y[i] = x[i] * 2
//! ```
//!
//! Tier 1 alone does this: in tier 0 both versions would take the same time.

use super::edit::{Defs, FastMap};
use super::fold::fold;
use super::licm::add_preheaders;
use super::region::{Copied, copy_blocks, merge_definitions, split_switch_edges};
use super::simplify_cfg::simplify_cfg;
use crate::lir::cfg::{Analyses, Cfg, Loop, Loops};
use crate::lir::{Block, BlockCall, Cold, Func, InstData, Loc, Op, Ty, Value};

/// Instructions of a loop that is small enough to stand twice, and of all such loops of a function together.
const MAX_LOOP: usize = 150;
const MAX_TOTAL: usize = 1_000;
/// Strides that one loop's test may ask.
const MAX_STRIDES: usize = 8;

struct Plan {
    front: Block,
    header: Block,
    blocks: Vec<Block>,
    /// Strides, each with the bytes of the elements that it leads to.
    strides: Vec<(Value, i64)>,
}

pub(crate) fn ask_strides(func: &mut Func, analyses: &mut Analyses) {
    if func.layout.is_empty() || !add_preheaders(func, analyses) {
        return;
    }
    split_switch_edges(func, analyses);
    let plans = plans(func, analyses);
    if plans.is_empty() {
        return;
    }
    let copies: Vec<Copied> = plans.into_iter().map(|p| p.apply(func)).collect();
    analyses.invalidate();
    merge_definitions(func, analyses, &copies);
    fold(func, analyses);
    simplify_cfg(func, analyses);
}

fn plans(func: &Func, analyses: &Analyses) -> Vec<Plan> {
    let (cfg, doms, loops) = (analyses.cfg(func), analyses.dominators(func), analyses.loops(func));
    let defs = Defs::new(func);
    let (mut left, mut plans) = (MAX_TOTAL, vec![]);
    for info in &loops.all {
        if !info.innermost || func.blocks[info.header.index()].cold {
            continue;
        }
        let size: usize = info.blocks.iter().map(|b| func.blocks[b.index()].insts.len()).sum();
        if size > MAX_LOOP.min(left) {
            continue;
        }
        let Some(front) = cfg.preds(info.header).iter().copied().find(|p| !doms.dominates(info.header, *p))
        else {
            continue;
        };
        let blocks = ordered(info, cfg);
        let strides = strides(func, &defs, &blocks);
        if strides.is_empty() || strides.len() > MAX_STRIDES {
            continue;
        }
        left -= size;
        plans.push(Plan { front, header: info.header, blocks, strides });
    }
    plans
}

/// The innermost loops that go over elements of unknown stride, by their headers.
pub fn strided_loops(func: &Func, cfg: &Cfg, loops: &Loops) -> Vec<Block> {
    let defs = Defs::new(func);
    loops
        .all
        .iter()
        .filter(|l| l.innermost && !strides(func, &defs, &ordered(l, cfg)).is_empty())
        .map(|l| l.header)
        .collect()
}

/// The blocks of a loop in reverse post-order, so that the header comes first, and the text and the test come
/// out the same each time.
fn ordered(l: &Loop, cfg: &Cfg) -> Vec<Block> {
    let mut blocks = l.blocks.clone();
    blocks.sort_by_key(|b| cfg.position(*b));
    blocks
}

/// The strides of the loop: `load (base + i * stride)`, where the stride stays and `i` does not, or a pointer
/// that moves on by the stride at every turn.
fn strides(func: &Func, defs: &Defs, blocks: &[Block]) -> Vec<(Value, i64)> {
    let mut inside: FastMap<Value, ()> = FastMap::default();
    for b in blocks {
        let block = &func.blocks[b.index()];
        for v in block.params.iter().chain(block.insts.iter().flat_map(|i| &func.insts[i.index()].results)) {
            inside.insert(*v, ());
        }
    }
    let operands = |v: Value, wanted: Op| {
        if let Some(InstData::Op { op, args, .. }) = defs.data(func, v)
            && *op == wanted
        {
            Some((args[0], args[1]))
        } else {
            None
        }
    };
    let stays = |v: Value| !inside.contains_key(&v) && defs.constant(func, v).is_none();
    let insts =
        || blocks.iter().filter(|b| !func.blocks[b.index()].cold).flat_map(|b| &func.blocks[b.index()].insts);
    // Where a parameter of the header goes from here.
    let moves = |p: Value| {
        insts().find_map(|i| {
            if let InstData::Op { op: Op::PtrAdd, args, .. } = &func.insts[i.index()].data
                && args[0] == p
                && stays(args[1])
            {
                Some(args[1])
            } else {
                None
            }
        })
    };
    let header = &func.blocks[blocks[0].index()].params;
    let mut found: Vec<(Value, i64)> = vec![];
    for i in insts() {
        let data = &func.insts[i.index()].data;
        let (addr, ty) = if let InstData::Load { addr, ty, .. } = data {
            (*addr, *ty)
        } else if let InstData::Store { addr, value, .. } = data {
            (*addr, func.value_type(*value))
        } else {
            continue;
        };
        let indexed = || {
            let (x, y) =
                operands(operands(addr, Op::PtrAdd).filter(|(_, o)| inside.contains_key(o))?.1, Op::Imul)?;
            if stays(y) && inside.contains_key(&x) {
                Some(y)
            } else if stays(x) && inside.contains_key(&y) {
                Some(x)
            } else {
                None
            }
        };
        let Some(stride) = (if header.contains(&addr) { moves(addr) } else { indexed() }) else { continue };
        match found.iter().find(|(s, _)| *s == stride) {
            None => found.push((stride, ty.bytes() as i64)),
            // Parts of a larger element: not side by side.
            Some((_, bytes)) if *bytes != ty.bytes() as i64 => return vec![],
            Some(_) => {}
        }
    }
    found
}

impl Plan {
    /// Writes the test, makes the copy (the loop for any strides), and puts constants for the strides of the
    /// original.
    fn apply(self, func: &mut Func) -> Copied {
        let copied = copy_blocks(func, &self.blocks);
        let mut all = None;
        let mut constants: FastMap<Value, Value> = FastMap::default();
        for (stride, bytes) in &self.strides {
            let width = ahead(func, self.front, InstData::Const { ty: Ty::I64, bits: *bytes as u64 });
            let same = ahead(
                func,
                self.front,
                InstData::Op { op: Op::IcmpEq, ty: Ty::I64, args: vec![*stride, width] },
            );
            all = Some(match all {
                None => same,
                Some(others) => ahead(
                    func,
                    self.front,
                    InstData::Op { op: Op::Band, ty: Ty::I8, args: vec![others, same] },
                ),
            });
            constants.insert(*stride, width);
        }
        if let (Some(cond), Some(t)) = (all, func.terminator(self.front))
            && let InstData::Jump(to) = func.insts[t.index()].data.clone()
        {
            let other = BlockCall { block: copied.blocks[&self.header], args: to.args.clone() };
            func.insts[t.index()].data =
                InstData::Brif { cond, then_to: to, else_to: other, cold: Cold::Neither };
            for b in &self.blocks {
                for i in func.blocks[b.index()].insts.clone() {
                    func.insts[i.index()].data.map_uses(|v| constants.get(&v).copied().unwrap_or(v));
                }
            }
        }
        copied
    }
}

/// Writes an instruction in front of a block's last one; its result.
pub(crate) fn ahead(func: &mut Func, block: Block, data: InstData) -> Value {
    let i = func.make_inst(data, Loc(0));
    let insts = &mut func.blocks[block.index()].insts;
    let at = insts.len() - 1;
    insts.insert(at, i);
    func.insts[i.index()].results[0]
}
