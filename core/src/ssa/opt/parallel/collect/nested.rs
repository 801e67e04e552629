//! Comprehensions in comprehensions whose lists become one array, `np.array([[f(x, y) for y in b] for x in
//! a])`, and displays in them, `np.array([(x, y) for x in a])`: all elements go to one flat array, row behind
//! row, whose shape is set at the end.
//!
//! ```python
//! flat, base, ragged, n1 = room(element, range(0)), 0, 0, -1       # what the outer loops carry
//! for k in indices(a):
//!     row = places(b)
//!     ragged, n1 = nested_ragged(ragged, n1, row, 1), nested_size(n1, row)
//!     if nested_full(flat, base, row): flat = nested_space(flat, base, row, indices(a))
//!     for l in row: put_behind(flat, base, l, f(a[k], b[l]))
//!     base = nested_behind(base, row)
//! out = nested(flat, ragged, base, indices(a), n1)                 # ValueError where rows differ in length
//! ```
//!
//! As in Python, rows of other lengths are found fault with when all elements are there.

use super::{Comprehension, Places, Twin, each_once, plain_loop, put};
use crate::ops::id;
use crate::ssa::analysis::{Edge, Loop, uses_of, uses_of_term};
use crate::ssa::opt::parallel::comprehension::insert_before;
use crate::ssa::opt::parallel::find::Found;
use crate::ssa::{Block, BlockCall, Func, Inst, Op, Term, Value};
use crate::types::Const;

/// More elements in a display are a list.
const FEW: usize = 16;

/// What makes the elements of a comprehension.
pub(super) struct Inner {
    /// What adds the list to the one around it.
    added: Inst,
    what: What,
}

enum What {
    Loop { found: Box<Found>, list: Inst },
    Display(Vec<Value>),
}

/// The lists that `append` adds, if the loop makes them here, outermost first, and what adds their elements;
/// none where they cannot do without being lists.
pub(super) fn find(
    func: &Func,
    at: Places<'_>,
    around: &Found,
    append: Inst,
    inner: &mut Vec<Inner>,
) -> Option<Inst> {
    let v = func.inst(append).args[1];
    let made = at.defs.inst(v).map(|i| (i, func.inst(i)));
    let Some((list, build)) =
        made.filter(|(_, n)| matches!(n.op, Op::Table(id::LIST_BUILD | id::TUPLE_BUILD)))
    else {
        return Some(append);
    };
    let (appends, others) = uses(func, v, append);
    if others || !around.blocks.contains(&at.defs.block(v)?) {
        return None;
    }
    if !build.args.is_empty() {
        if !appends.is_empty() || build.args.len() > FEW {
            return None;
        }
        inner.push(Inner { added: append, what: What::Display(build.args.clone()) });
        return Some(append);
    }
    let [own] = appends[..] else { return None };
    let loops: Vec<&Loop> = at
        .loops
        .iter()
        .filter(|o| around.blocks.contains(&o.header))
        .filter(|o| o.blocks.iter().any(|b| func.block(*b).insts.contains(&own)))
        .collect();
    let outermost = loops.iter().find(|l| loops.iter().all(|o| l.blocks.contains(&o.header)))?;
    let (found, exit) = plain_loop(func, at, outermost)?;
    let adds = around.blocks.iter().copied().find(|b| func.block(*b).insts.contains(&append))?;
    if !each_once(func, at, &found, own)? || !at.doms.dominates(exit, adds) {
        return None;
    }
    let k = inner.len();
    inner.push(Inner { added: append, what: What::Display(vec![]) });
    let leaf = find(func, at, &found, own, inner)?;
    inner[k].what = What::Loop { found: Box::new(found), list };
    Some(leaf)
}

/// What adds elements to a list, and whether anything but those and `added` uses it.
fn uses(func: &Func, list: Value, added: Inst) -> (Vec<Inst>, bool) {
    let (mut appends, mut others) = (vec![], false);
    for b in (0..func.blocks.len()).map(Block::new) {
        for i in &func.block(b).insts {
            let (node, mut reads) = (func.inst(*i), 0);
            uses_of(node, &mut |v| reads += u32::from(v == list));
            if reads == 1 && node.op == Op::Table(id::LIST_APPEND) && node.args[0] == list {
                appends.push(*i);
            } else {
                others |= reads > 1 || reads == 1 && (*i != added || node.args[1] != list);
            }
        }
        uses_of_term(&func.block(b).term, &mut |v| others |= v == list);
    }
    (appends, others)
}

/// A level of elements in the loop that fills an array.
pub(super) struct Level {
    /// What goes in front of the level goes in front of this.
    block: Block,
    before: Inst,
    /// `range` of its length.
    places: Value,
    what: Reach,
}

enum Reach {
    /// The blocks of the loop, its header first, and the position that an iteration is at.
    Loop { blocks: Vec<Block>, position: Value },
    /// What adds the elements, one after the other.
    Display(Vec<Inst>),
}

/// The inner loops of the twin go through positions as well, and elements of all go to the outermost list.
pub(super) fn over_positions(func: &mut Func, c: &Comprehension, twin: &Twin) -> Option<Vec<Level>> {
    let mut levels = vec![];
    for inner in &c.inner {
        let added = twin.insts[&inner.added];
        levels.push(match &inner.what {
            What::Loop { found, list } => {
                let before = twin.insts[&found.iter];
                let (header, block) = (twin.blocks[&found.header], twin.blocks[&found.pre]);
                let source = func.inst(before).args[0];
                let places = insert_before(func, block, before, Op::Table(id::ARRAY_PLACES), vec![source]);
                func.insts[before.index()].args = vec![places];
                let position = super::over_positions(func, header, twin.insts[&found.next], source)?;
                forget(func, twin.insts[list]);
                forget(func, added);
                let blocks =
                    [header].into_iter().chain(found.blocks.iter().map(|b| twin.blocks[b])).collect();
                Level { block, before, places, what: Reach::Loop { blocks, position } }
            }
            What::Display(of) => {
                let block = *twin.blocks.values().find(|b| func.block(**b).insts.contains(&added))?;
                let adds: Vec<Inst> =
                    of.iter().map(|v| add(func, block, added, [c.list, twin.value(*v)])).collect();
                forget(func, added);
                let before = *adds.first()?;
                let places = few_places(func, block, before, of.len());
                Level { block, before, places, what: Reach::Display(adds) }
            }
        });
    }
    if let Some(Level { what: Reach::Loop { .. }, .. }) = levels.last() {
        func.insts[twin.insts[&c.append].index()].args[0] = c.list;
    }
    Some(levels)
}

/// Nobody needs what it gives any more.
fn forget(func: &mut Func, inst: Inst) {
    let node = &mut func.insts[inst.index()];
    (node.op, node.args, node.unwind) = (Op::Const(Const::None), vec![], None);
    if node.result.is_none() {
        let v = func.make_value();
        func.insts[inst.index()].result = Some(v);
    }
}

fn few_places(func: &mut Func, block: Block, before: Inst, n: usize) -> Value {
    let [first, end, step] = [0, n as i64, 1].map(|k| constant(func, block, before, k));
    insert_before(func, block, before, Op::Table(id::BUILTINS_RANGE), vec![first, end, step])
}

fn constant(func: &mut Func, block: Block, before: Inst, k: i64) -> Value {
    let v = insert_before(func, block, before, Op::Const(Const::Int(k)), vec![]);
    if let Some(made) = func.insts.last_mut() {
        made.unwind = None;
    }
    v
}

/// `list.append` in front of another one.
fn add(func: &mut Func, block: Block, before: Inst, args: [Value; 2]) -> Inst {
    insert_before(func, block, before, Op::Table(id::LIST_APPEND), args.to_vec());
    Inst::new(func.insts.len() - 1)
}

/// Flat array, position of the next row, level at which rows differ, lengths of the levels that are known.
const FLAT: usize = 0;
const BASE: usize = 1;
const RAGGED: usize = 2;
const SIZES: usize = 3;

/// What the outermost loop begins with.
pub(super) fn start(
    levels: usize,
    element: Value,
    push: &mut dyn FnMut(Op, Vec<Value>) -> Value,
) -> Vec<Value> {
    let mut constant = |k: i64| push(Op::Const(Const::Int(k)), vec![]);
    let (zero, one, unknown) = (constant(0), constant(1), constant(-1));
    let nothing = push(Op::Table(id::BUILTINS_RANGE), vec![zero, zero, one]);
    let flat = push(Op::Table(id::ARRAY_ROOM), vec![element, nothing]);
    [flat, zero, zero].into_iter().chain(std::iter::repeat_n(unknown, levels)).collect()
}

/// Has the loops carry the flat array and fills it; what `array.nested` needs behind the outermost one.
pub(super) fn carry(
    func: &mut Func,
    outermost: Vec<Block>,
    levels: &[Level],
    indices: Value,
    append: Inst,
) -> Vec<Value> {
    let mut state = carried(func, outermost[0], levels.len());
    let mut result = vec![state[FLAT], state[RAGGED], state[BASE], indices];
    result.extend(&state[SIZES..]);
    // Those that hold other levels.
    let mut loops = vec![outermost];
    for (d, level) in levels.iter().enumerate() {
        enter(func, level, d, &mut state);
        match &level.what {
            Reach::Loop { blocks, .. } if d + 1 < levels.len() => {
                if let Term::Jump(to) = &mut func.blocks[level.block.index()].term {
                    to.args.extend(&state);
                }
                state = carried(func, blocks[0], levels.len());
                loops.push(blocks.clone());
            }
            Reach::Loop { .. } | Reach::Display(_) => {
                let rest = fill(func, level, &mut state, indices, append);
                loops.iter_mut().for_each(|l| l.push(rest));
            }
        }
    }
    for blocks in loops.iter().rev() {
        for b in blocks {
            func.each_edge_mut(*b, &mut |edge, to: &mut BlockCall| {
                if edge == Edge::Jumps && to.block == blocks[0] {
                    to.args.extend(&state);
                }
            });
        }
        state = func.block(blocks[0]).params[1..].to_vec();
    }
    result
}

fn carried(func: &mut Func, header: Block, levels: usize) -> Vec<Value> {
    (0..SIZES + levels).map(|_| func.add_param(header)).collect()
}

/// The length of a level is known, or has to be what it was.
fn enter(func: &mut Func, level: &Level, d: usize, state: &mut [Value]) {
    let Level { block, before, places, .. } = *level;
    let known = state[SIZES + d];
    let number = constant(func, block, before, d as i64 + 1);
    let ragged = vec![state[RAGGED], known, places, number];
    state[RAGGED] = insert_before(func, block, before, Op::Table(id::ARRAY_NESTED_RAGGED), ragged);
    let size = Op::Table(id::ARRAY_NESTED_SIZE);
    state[SIZES + d] = insert_before(func, block, before, size, vec![known, places]);
}

/// Makes room for the elements of the innermost level where there is none, and puts them there; the block
/// that the rest of its block has become.
fn fill(func: &mut Func, level: &Level, state: &mut [Value], indices: Value, append: Inst) -> Block {
    let Level { block, before, places, .. } = *level;
    let (flat, base) = (state[FLAT], state[BASE]);
    let full = Op::Table(id::ARRAY_NESTED_FULL);
    let full = insert_before(func, block, before, full, vec![flat, base, places]);
    let full = insert_before(func, block, before, Op::Table(id::TRUTH), vec![full]);
    let (grows, rest) = split(func, block, before, full);
    let mut args = vec![flat, base, places, indices];
    args.extend(&state[SIZES..state.len() - 1]);
    let (loc, unwind) = (func.inst(before).loc, func.inst(before).unwind.clone());
    let grown = func.push(grows, Op::Table(id::ARRAY_NESTED_SPACE), args, loc, unwind);
    let with = |flat: Value| BlockCall { block: rest, args: vec![flat] };
    func.blocks[grows.index()].term = Term::Jump(with(grown));
    if let Term::Branch { else_to, .. } = &mut func.blocks[block.index()].term {
        *else_to = with(flat);
    }
    let flat = func.add_param(rest);
    let behind = Op::Table(id::ARRAY_NESTED_BEHIND);
    (state[FLAT], state[BASE]) = (flat, insert_before(func, rest, before, behind, vec![base, places]));
    let op = Op::Table(id::ARRAY_PUT_BEHIND);
    match &level.what {
        Reach::Loop { position, .. } => put(func, append, op, vec![flat, base, *position]),
        Reach::Display(adds) => {
            for (k, add) in adds.iter().enumerate() {
                let place = constant(func, rest, *add, k as i64);
                put(func, *add, op.clone(), vec![flat, base, place]);
            }
        }
    }
    rest
}

/// Ends a block in front of an instruction, with a branch to a new block, or else to one with the rest.
fn split(func: &mut Func, block: Block, before: Inst, cond: Value) -> (Block, Block) {
    let [yes, rest] = [(); 2].map(|()| func.make_block());
    let at = func.block(block).insts.iter().position(|i| *i == before).unwrap_or(0);
    let to = |block: Block| BlockCall { block, args: vec![] };
    let data = &mut func.blocks[block.index()];
    let tail = data.insts.split_off(at);
    let branch = Term::Branch { cond, then_to: to(yes), else_to: to(rest) };
    let (term, loc) = (std::mem::replace(&mut data.term, branch), data.term_loc);
    (func.blocks[rest.index()].insts, func.blocks[rest.index()].term) = (tail, term);
    for b in [yes, rest] {
        func.blocks[b.index()].term_loc = loc;
    }
    (yes, rest)
}
