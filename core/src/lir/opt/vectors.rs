//! Values that are the lanes of vectors, taken for the vectors.
//!
//! A vector of Python's is its lanes everywhere but in the instructions that compute with it: what crosses a
//! function's boundary, lies in memory or goes round a loop is scalars, as the members of a tuple are. So a sum
//! of vectors begins as
//!
//! ```text
//! block1(v1: f64, v2: f64):                  block1(v9: f64x2):
//!  v3 = lanes.f64x2 v1, v2
//!  v4 = fadd.f64x2 v3, v0          becomes    v4 = fadd.f64x2 v9, v0
//!  v5 = lane.f64x2 v4, 0
//!  v6 = lane.f64x2 v4, 1
//!  jump block1(v5, v6)                        jump block1(v4)
//! ```
//!
//! [`join_lanes`] gives such a block a parameter for the vector; every edge makes it of the lanes that it passed.
//! What these are `lanes` of at the end of the block before is looked at in turn.

use super::edit::{Defs, FastMap, Subst, for_each_call_mut};
use super::simplify::{Better, Operand, View};
use crate::lir::cfg::Analyses;
use crate::lir::{Block, Func, Inst, InstData, Op, Ty, Value};

/// A replacement for an operation that takes or gives a vector.
pub(super) fn simplify(view: &View<'_>, op: Op, ty: Ty, args: &[Value]) -> Option<Better> {
    match (op, ty) {
        (Op::Lane, Ty::Vector(v)) => {
            if let Some(x) = view.made_by(args[0], Op::Splat) {
                return Some(Better::Same(x[0]));
            }
            let k = view.constant(args[1])? as usize % v.lanes();
            view.made_by(args[0], Op::Lanes).map(|lanes| Better::Same(lanes[k]))
        }
        (Op::Lanes, _) => match whole(view.func, view.defs, ty, args)? {
            Whole::Vector(v) => Some(Better::Same(v)),
            Whole::Splat(x) => Some(Better::Op(Op::Splat, ty, vec![Operand::Old(x)])),
        },
        (_, _) => None,
    }
}

/// What lanes are together.
enum Whole {
    Vector(Value),
    Splat(Value),
}

fn whole(func: &Func, defs: &Defs, ty: Ty, lanes: &[Value]) -> Option<Whole> {
    let from = |v: Value| match defs.data(func, v)? {
        InstData::Op { op: Op::Lane, ty: of, args } if *of == ty => {
            Some((args[0], defs.constant(func, args[1])?))
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
        | InstData::Jump(_)
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return(_)
        | InstData::Unreachable => None,
    };
    let first = lanes[0];
    if let Some((v, 0)) = from(first)
        && lanes.iter().enumerate().all(|(k, l)| from(*l) == Some((v, k as u64)))
    {
        return Some(Whole::Vector(v));
    }
    let constant = |v: Value| defs.constant(func, v);
    let alike = |v: &Value| *v == first || constant(*v).is_some() && constant(*v) == constant(first);
    lanes.iter().all(alike).then_some(Whole::Splat(first))
}

/// See above.
pub(crate) fn join_lanes(func: &mut Func, analyses: &mut Analyses) {
    if !func.has_vectors() {
        return;
    }
    let cfg = analyses.cfg(func);
    // Each round takes parameters away, so that there is a last one.
    loop {
        let groups = groups(func);
        if groups.is_empty() {
            return;
        }
        let mut subst = Subst::new(func);
        for g in &groups {
            join(func, g, &mut subst);
        }
        subst.apply(func);
        // Edges come after all joins: two of these blocks may lead to each other.
        let defs = Defs::new(func);
        for g in &groups {
            for p in cfg.preds(g.block).to_vec() {
                pass_vector(func, &defs, p, g);
            }
        }
    }
}

/// Parameters of a block that are the lanes of a vector.
struct Group {
    block: Block,
    ty: Ty,
    /// Places of the parameters, lane by lane.
    places: Vec<usize>,
}

/// At most one of each block: places move with the first.
fn groups(func: &Func) -> Vec<Group> {
    let mut params: FastMap<Value, (Block, usize)> = FastMap::default();
    for &b in func.layout.iter().skip(1) {
        for (k, p) in func.blocks[b.index()].params.iter().enumerate() {
            params.insert(*p, (b, k));
        }
    }
    let mut out: Vec<Group> = vec![];
    for i in func.layout.iter().flat_map(|b| &func.blocks[b.index()].insts) {
        let InstData::Op { op: Op::Lanes, ty, args } = &func.insts[i.index()].data else { continue };
        let Some(found) = args.iter().map(|a| params.get(a).copied()).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let block = found[0].0;
        let mut places: Vec<usize> = found.iter().map(|(_, k)| *k).collect();
        if found.iter().any(|(b, _)| *b != block) || out.iter().any(|g| g.block == block) {
            continue;
        }
        let in_order = places.clone();
        places.sort_unstable();
        places.dedup();
        if places.len() == args.len() {
            out.push(Group { block, ty: *ty, places: in_order });
        }
    }
    out
}

/// The block takes the vector as its last parameter, and the lanes of it are what the parameters were.
fn join(func: &mut Func, g: &Group, subst: &mut Subst) {
    let old = func.blocks[g.block.index()].params.clone();
    let whole = func.add_param(g.block, g.ty);
    let mut insts: Vec<Inst> = vec![];
    for (lane, place) in g.places.iter().enumerate() {
        let number = put(func, &mut insts, InstData::Const { ty: Ty::I64, bits: lane as u64 });
        let v = put(func, &mut insts, InstData::Op { op: Op::Lane, ty: g.ty, args: vec![whole, number] });
        subst.set(old[*place], v);
    }
    func.blocks[g.block.index()].insts.splice(0..0, insts);
    func.blocks[g.block.index()].params.retain(|p| !g.places.iter().any(|k| old[*k] == *p));
    // `lanes` of just these is the vector, here and wherever it stands.
    let lanes: Vec<Value> = g.places.iter().map(|k| old[*k]).collect();
    for i in func.layout.iter().flat_map(|b| &func.blocks[b.index()].insts) {
        if let InstData::Op { op: Op::Lanes, ty, args } = &func.insts[i.index()].data
            && *ty == g.ty
            && *args == lanes
        {
            subst.set(func.insts[i.index()].results[0], whole);
        }
    }
}

fn put(func: &mut Func, insts: &mut Vec<Inst>, data: InstData) -> Value {
    let i = func.make_inst(data, crate::lir::Loc(0));
    insts.push(i);
    func.insts[i.index()].results[0]
}

/// The end of block `p` passes the vector in place of its lanes, on every edge that leads to the group's block.
fn pass_vector(func: &mut Func, defs: &Defs, p: Block, g: &Group) {
    let Some(t) = func.terminator(p) else { return };
    let mut data = std::mem::replace(&mut func.insts[t.index()].data, InstData::Unreachable);
    let mut insts = vec![];
    for_each_call_mut(&mut data, |to| {
        if to.block != g.block || to.args.len() < g.places.len() {
            return;
        }
        let lanes: Vec<Value> = g.places.iter().map(|k| to.args[*k]).collect();
        let mut at = 0..;
        to.args.retain(|_| at.next().is_none_or(|k| !g.places.contains(&k)));
        let op = |op, args| InstData::Op { op, ty: g.ty, args };
        let v = match whole(func, defs, g.ty, &lanes) {
            Some(Whole::Vector(v)) => v,
            Some(Whole::Splat(x)) => put(func, &mut insts, op(Op::Splat, vec![x])),
            None => put(func, &mut insts, op(Op::Lanes, lanes)),
        };
        to.args.push(v);
    });
    func.insts[t.index()].data = data;
    let at = func.blocks[p.index()].insts.len() - 1;
    func.blocks[p.index()].insts.splice(at..at, insts);
}
