//! Nests whose inner loops are short: a loop around counted loops becomes two, with a test in front. Where
//! every inner loop has few turns, those run without polls, and the loop around them polls once in many
//! turns; else all is as it was.
//!
//! ```python
//! for i in range(n):              # if m <= SHORT: inner loops without polls
//!     for j in range(m): …        # else: as it was
//! ```
//!
//! What a poll costs is little beside many turns, but with three turns (points in space, the rows of a
//! gufunc, a small window) getting ready for each run of the inner loop took as long as the work, and kept a
//! back end from unrolling. This is a step of `strip.rs`, which then treats the loop around as if it were
//! innermost, and lets the inner ones count to their own bounds. They are marked as short, so that a back end
//! makes neither vectors of them nor more copies.
//!
//! LLVM takes up to twice as long for it (`matmul` 83 ms instead of 35), so it is done where short rows are
//! likely: over elements of unknown stride, which is what kernels of gufuncs are given, and parts of larger
//! arrays; and where each run of an inner loop that stands in two versions asks a question that depends on the
//! outer loop's turn, as windows do that move over an array. The test in front then answers that question for
//! all turns (`version/nested.rs`), and the copy has the fast version alone.

use super::edit::{Defs, FastMap};
use super::licm::add_preheaders;
use super::polling::{Counter, calls, counter_of, poll_of, test_of};
use super::region::{Copied, copy_blocks, merge_definitions};
use super::simplify_cfg::simplify_cfg;
use super::unit::{ahead, strided_loops};
use super::version::{self, nested::tests_of};
use crate::lir::cfg::{Analyses, Cfg, Dominators, Loop, Loops};
use crate::lir::{Block, BlockCall, Cold, Func, InstData, Op, Ty, Value};

/// The most turns of an inner loop, by how many loops lie inside each other, and of all of them together.
const SHORT: [(i64, i64); 3] = [(8, 8), (4, 16), (3, 27)];
/// Loops inside of one.
const MAX_INNER: usize = 4;
/// Instructions of a nest that is small enough to stand twice, and of all such nests of a function together.
const MAX_NEST: usize = 250;
const MAX_TOTAL: usize = 800;

/// What an inner loop counts.
struct Inner {
    header: Block,
    from: Value,
    to: Value,
    step: i64,
}

struct Plan {
    front: Block,
    header: Block,
    blocks: Vec<Block>,
    inner: Vec<Inner>,
    few: (i64, i64),
    /// The tests of versioned loops inside, if they can be decided in front of the nest.
    tests: Option<version::Plan>,
}

/// Gives the headers of loops in copies: of inner ones, which need no poll, and of those around them, each
/// with the turns that one of its own may stand for.
pub(crate) fn quieten(func: &mut Func, analyses: &mut Analyses) -> Vec<(Block, Option<i64>)> {
    // Nearly all functions have no loop inside another that polls: they are left as they are, without new
    // blocks.
    let has_nests = analyses.loops(func).all.iter().any(|l| !l.innermost);
    if !has_nests || !add_preheaders(func, analyses) {
        return vec![];
    }
    let plans = plans(func, analyses);
    if plans.is_empty() {
        return vec![];
    }
    // An outer nest first: its copy has all that is inside, and the loops inside may get copies of their own
    // where it stays as it was.
    let (mut headers, mut copies) = (vec![], vec![]);
    for p in &plans {
        let Some(copied) = p.apply(func) else { continue };
        headers.push((copied.blocks[&p.header], Some(p.few.1)));
        for header in p.inner.iter().map(|i| copied.blocks[&i.header]) {
            func.blocks[header.index()].short = true;
            headers.push((header, None));
        }
        copies.push(copied);
    }
    analyses.invalidate();
    merge_definitions(func, analyses, &copies);
    if plans.iter().any(|p| p.tests.is_some()) {
        // The slow loops of copies that need none.
        simplify_cfg(func, analyses);
    }
    headers
}

fn plans(func: &Func, analyses: &Analyses) -> Vec<Plan> {
    let (cfg, doms, loops) = (analyses.cfg(func), analyses.dominators(func), analyses.loops(func));
    let defs = Defs::new(func);
    let strided = strided_loops(func, cfg, loops);
    let is_strided = |index: usize, l: &Loop| {
        walks_unknown_rows(func, &defs, l) || strided.iter().any(|header| loops.contains(index, *header))
    };
    let (mut left, mut plans) = (MAX_TOTAL, vec![]);
    for (index, l) in loops.all.iter().enumerate() {
        if l.innermost || func.blocks[l.header.index()].cold || l.header == func.entry() {
            continue;
        }
        let tests = tests_of(func, (cfg, doms, loops), &defs, index);
        if tests.is_none() && !is_strided(index, l) {
            continue;
        }
        let (tests, slow) = tests.unzip();
        let slow = slow.unwrap_or_default();
        // No longer reached once tests are decided.
        let gone = |b: Block| slow.iter().any(|s| doms.dominates(*s, b));
        let size: usize = l.blocks.iter().map(|b| func.blocks[b.index()].insts.len()).sum();
        if size > MAX_NEST.min(left) || calls(func, &l.blocks) {
            continue;
        }
        if !l.latches.iter().any(|latch| poll_of(func, &defs, *latch, l.header).is_some()) {
            continue;
        }
        let within: Vec<usize> = (index + 1..loops.all.len())
            .filter(|k| {
                let header = loops.all[*k].header;
                loops.contains(index, header) && !gone(header)
            })
            .collect();
        let levels = within.iter().map(|k| loops.all[*k].depth - l.depth).max().unwrap_or(0) as usize;
        let Some(few) = SHORT.get(levels.wrapping_sub(1)) else { continue };
        if within.len() > MAX_INNER {
            continue;
        }
        let mut inside: FastMap<Value, ()> = FastMap::default();
        for b in &l.blocks {
            let block = &func.blocks[b.index()];
            for v in
                block.params.iter().chain(block.insts.iter().flat_map(|i| &func.insts[i.index()].results))
            {
                inside.insert(*v, ());
            }
        }
        let stays = |v: Value| !inside.contains_key(&v) || defs.constant(func, v).is_some();
        let inner: Option<Vec<Inner>> =
            within.iter().map(|k| inner_of(func, cfg, &defs, loops, *k, &stays, &gone)).collect();
        let (Some(inner), Some(front)) = (inner, front_of(func, cfg, doms, l.header)) else { continue };
        left -= size;
        // In reverse post-order, so that the text comes out the same each time.
        let mut blocks = l.blocks.clone();
        blocks.sort_by_key(|b| cfg.position(*b));
        plans.push(Plan { front, header: l.header, blocks, inner, few: *few, tests });
    }
    plans
}

/// Whether the counter of a loop goes over rows whose distance was read from an array's header, rather than
/// computed of its shape.
fn walks_unknown_rows(func: &Func, defs: &Defs, l: &Loop) -> bool {
    let params = &func.blocks[l.header.index()].params;
    let is_read = |v: Value| matches!(defs.data(func, v), Some(InstData::Load { .. }));
    l.blocks.iter().flat_map(|b| &func.blocks[b.index()].insts).any(|i| {
        matches!(&func.insts[i.index()].data, InstData::Op { op: Op::Imul, args, .. } if params.contains(&args[0]) && is_read(args[1]) || params.contains(&args[1]) && is_read(args[0]))
    })
}

/// The block that jumps to a header from outside.
fn front_of(func: &Func, cfg: &Cfg, doms: &Dominators, header: Block) -> Option<Block> {
    let front = cfg.preds(header).iter().copied().find(|p| !doms.dominates(header, *p))?;
    matches!(func.insts[func.terminator(front)?.index()].data, InstData::Jump(_)).then_some(front)
}

/// A loop that polls and counts, in steps that are the same at each turn, between two numbers that are known
/// in front of the nest.
fn inner_of(
    func: &Func,
    cfg: &Cfg,
    defs: &Defs,
    loops: &Loops,
    index: usize,
    stays: &dyn Fn(Value) -> bool,
    gone: &dyn Fn(Block) -> bool,
) -> Option<Inner> {
    let l = &loops.all[index];
    let p = l.latches.iter().find_map(|latch| poll_of(func, defs, *latch, l.header))?;
    let test = test_of(func, &l.blocks, &p)?;
    let Counter { param, bound, step, .. } = counter_of(func, defs, &l.blocks, &p, test)?;
    let passes = |from: Block| passed(func, from, l.header, param);
    // With a second way out, as of an iteration that has converged, a loop does not unroll, and what is
    // gained is less than what another order of blocks may cost.
    let leaves = |b: &Block| {
        *b != l.header
            && func.terminator(*b).is_some_and(|t| {
                func.insts[t.index()]
                    .data
                    .successors()
                    .iter()
                    .any(|to| !l.blocks.contains(to) && !func.blocks[to.index()].cold)
            })
    };
    if l.blocks.iter().filter(|b| !func.blocks[b.index()].cold).any(leaves) {
        return None;
    }
    // Each way back makes the same step.
    let counter = func.blocks[l.header.index()].params[param];
    let moves = |v: &Value| matches!(defs.data(func, *v), Some(InstData::Op { op: Op::Iadd, args, .. }) if args[0] == counter && defs.constant(func, args[1]) == Some(step as u64));
    if !l.latches.iter().all(|b| {
        let v = passes(*b);
        !v.is_empty() && v.iter().all(moves)
    }) {
        return None;
    }
    let mut front = cfg.preds(l.header).iter().copied().find(|b| !l.blocks.contains(b))?;
    let [mut from] = passes(front)[..] else { return None };
    // What a block in front of the loop passes on comes from further up.
    while let Some(k) = func.blocks[front.index()].params.iter().position(|p| *p == from)
        && let mut above = cfg.preds(front).iter().copied().filter(|b| !gone(*b))
        && let (Some(only), None) = (above.next(), above.next())
        && let [v] = passed(func, only, front, k)[..]
    {
        (front, from) = (only, v);
    }
    (stays(from) && stays(bound)).then_some(Inner { header: l.header, from, to: bound, step })
}

/// What a block passes as the parameter `k` of another that it jumps to, once for each edge.
fn passed(func: &Func, from: Block, to: Block, k: usize) -> Vec<Value> {
    let mut found = vec![];
    let Some(t) = func.terminator(from) else { return found };
    let mut look = |call: &BlockCall| {
        if call.block == to {
            found.push(call.args[k])
        }
    };
    match &func.insts[t.index()].data {
        InstData::Jump(to) => look(to),
        InstData::Brif { then_to, else_to, .. } => {
            look(then_to);
            look(else_to);
        }
        InstData::Switch { .. }
        | InstData::Const { .. }
        | InstData::Op { .. }
        | InstData::Load { .. }
        | InstData::Store { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::CallHelper { .. }
        | InstData::Grid { .. }
        | InstData::Return(_)
        | InstData::Unreachable => {}
    }
    found
}

impl Plan {
    /// Copies the nest, and writes the test that chooses the copy.
    fn apply(&self, func: &mut Func) -> Option<Copied> {
        let t = func.terminator(self.front)?;
        let InstData::Jump(to) = func.insts[t.index()].data.clone() else { return None };
        let copied = copy_blocks(func, &self.blocks);
        let mut all = self.tests.as_ref().and_then(|tests| tests.test(func));
        let defs = Defs::new(func);
        if let Some(tests) = &self.tests {
            for (b, holds) in &tests.decided {
                version::decide(func, copied.blocks[b], *holds);
            }
            for v in &tests.wraps {
                version::never_wrap(func, &defs, copied.values[v]);
            }
        }
        for i in &self.inner {
            let mut known = |v: Value| match defs.constant(func, v) {
                Some(bits) => ahead(func, self.front, InstData::Const { ty: Ty::I64, bits }),
                None => v,
            };
            let (from, to) = (known(i.from), known(i.to));
            let (high, low) = if i.step > 0 { (to, from) } else { (from, to) };
            // Of a loop with a turn this is exact as an unsigned number; one without any may seem long, and
            // takes the way that is right for all.
            let distance =
                ahead(func, self.front, InstData::Op { op: Op::Isub, ty: Ty::I64, args: vec![high, low] });
            let most = ahead(
                func,
                self.front,
                InstData::Const { ty: Ty::I64, bits: (self.few.0 * i.step.abs()) as u64 },
            );
            let short = ahead(
                func,
                self.front,
                InstData::Op { op: Op::IcmpUle, ty: Ty::I64, args: vec![distance, most] },
            );
            all = Some(match all {
                None => short,
                Some(others) => ahead(
                    func,
                    self.front,
                    InstData::Op { op: Op::Band, ty: Ty::I8, args: vec![others, short] },
                ),
            });
        }
        let quiet = BlockCall { block: copied.blocks[&self.header], args: to.args.clone() };
        func.insts[t.index()].data =
            InstData::Brif { cond: all?, then_to: quiet, else_to: to, cold: Cold::Neither };
        Some(copied)
    }
}
