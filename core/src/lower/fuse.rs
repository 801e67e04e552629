//! Joins elementwise operations on arrays into loops without temporaries: `d = a - b; (d * d).sum()` passes
//! over `a` and `b` once and makes no array.
//!
//! An operation moves to where its result is read, when everything that reads it is part of one such loop in
//! the same block and nothing between writes to memory. What stays in its place is [`Op::Broadcast`], so that
//! shapes which do not go together are found when and where they were. It runs on typed SSA in front of the
//! ownership pass, which then sees that the loop reads what the operation read.

use crate::emit::platform::{Host, Platform};
use crate::infer::state::Session;
use crate::lir::explain::Place;
use crate::ops::array::OF_SHAPE;
use crate::ops::fancy::CHOSEN;
use crate::ops::kernel::Reduce;
use crate::ops::reduce::of_row;
use crate::ops::{Body, Effect, OpDef, Own, id, ufunc};
use crate::ssa::analysis::{uses_of, uses_of_term};
use crate::ssa::{
    Block, Func, Fused, FusedArg, FusedStep, Inst, InstNode, InstanceId, Joined, Loc, Op, Parts, Value,
};
use crate::types::{Int, Kind, Type};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Longer chains and loops over more arrays gain nothing more: values no longer fit into registers.
const MOST_STEPS: usize = 24;
const MOST_ARRAYS: usize = 10;
/// Arrays that a loop makes beside its result.
const MOST_MADE: usize = 4;

pub(crate) fn fuse(func: &mut Func, session: &Session<'_>, platform: &dyn Platform) {
    if !func.insts.iter().any(|n| step(func, n).is_some() || assigns(func, n).is_some()) {
        return;
    }
    look_through_methods(func);
    let mut pass = Pass {
        uses: count_uses(func),
        shapes: shape_readers(func),
        defs: definitions(func),
        quiet: HashMap::new(),
        session,
        func,
    };
    for b in (0..pass.func.blocks.len()).map(Block::new) {
        pass.masks(b);
        pass.reduce_once(b);
        // What passes over an array once for several of them is a kernel of the run-time's.
        if platform.array_kernels() {
            pass.merge_reductions(b);
            pass.fuse_reductions(b);
        }
        pass.block(b);
    }
}

/// The chains of all functions of a session, for reports: file and line of the last operation, and the
/// operations in their order.
pub fn chains(session: &Session<'_>) -> BTreeSet<(Place, String)> {
    let mut out = BTreeSet::new();
    for inst in &session.instances {
        let Some(typed) = &inst.typed else { continue };
        let mut func = Func::clone(&typed.func);
        super::inline::inline(&mut func, &mut HashMap::new(), session);
        fuse(&mut func, session, &Host);
        for node in func.blocks.iter().flat_map(|b| &b.insts).map(|i| func.inst(*i)) {
            let Op::Fused(fused) = &node.op else { continue };
            let span = func.span(super::inline::user_place(&func, node.loc).0);
            let names: Vec<&str> = fused
                .steps
                .iter()
                .map(|s| s.op.name().trim_start_matches("operator.").trim_start_matches("numpy."))
                .collect();
            out.insert((Place { file: span.file.to_string(), line: span.line }, names.join(", ")));
        }
    }
    out
}

/// The object of a bound method that is called at once, in place of what takes the method apart: `(a *
/// b).sum()` reads `a * b`.
fn look_through_methods(func: &mut Func) {
    let defs = definitions(func);
    let object = |node: &InstNode| -> Option<(Value, Value)> {
        let (Op::Member(0), [method]) = (&node.op, node.args.as_slice()) else { return None };
        let bound = func.inst(*defs.get(method)?);
        let fits = bound.op == Op::Cast
            && func.types[method.index()].is_bound()
            && func.types[bound.args[0].index()] == func.types[node.result?.index()];
        fits.then_some((node.result?, bound.args[0]))
    };
    let objects: HashMap<Value, Value> =
        func.blocks.iter().flat_map(|b| &b.insts).filter_map(|i| object(func.inst(*i))).collect();
    if objects.is_empty() {
        return;
    }
    for node in &mut func.insts {
        for a in &mut node.args {
            if let Some(o) = objects.get(a) {
                *a = *o;
            }
        }
    }
    // What nobody reads any more would count as a reader.
    let mut uses = count_uses(func);
    for b in 0..func.blocks.len() {
        let mut kept = func.blocks[b].insts.clone();
        for i in kept.clone().iter().rev() {
            let node = func.inst(*i);
            let unused = node.result.is_some_and(|r| {
                uses[r.index()] == 0
                    && (objects.contains_key(&r) || node.op == Op::Cast && func.types[r.index()].is_bound())
            });
            if !unused {
                continue;
            }
            uses_of(node, &mut |v| uses[v.index()] -= 1);
            kept.retain(|k| k != i);
        }
        func.blocks[b].insts = kept;
    }
}

pub(crate) struct Pass<'a, 'h> {
    pub func: &'a mut Func,
    pub session: &'a Session<'h>,
    /// How often each value is read.
    pub uses: Vec<u32>,
    /// What reads nothing of an array but its shape.
    shapes: HashMap<Value, Vec<Inst>>,
    pub defs: HashMap<Value, Inst>,
    quiet: HashMap<InstanceId, bool>,
}

fn count_uses(func: &Func) -> Vec<u32> {
    let mut uses = vec![0; func.values as usize];
    for b in &func.blocks {
        for i in &b.insts {
            uses_of(func.inst(*i), &mut |v| uses[v.index()] += 1);
        }
        uses_of_term(&b.term, &mut |v| uses[v.index()] += 1);
    }
    uses
}

/// Instructions that ask for nothing but the shape of their first operand, by that operand.
fn shape_readers(func: &Func) -> HashMap<Value, Vec<Inst>> {
    let mut out: HashMap<Value, Vec<Inst>> = HashMap::new();
    for i in func.blocks.iter().flat_map(|b| &b.insts) {
        let node = func.inst(*i);
        let Op::Apply(op) = node.op else { continue };
        if op.of_shape && func.types[node.args[0].index()].as_array().is_some_and(|a| a.ndim > 0) {
            out.entry(node.args[0]).or_default().push(*i);
        }
    }
    out
}

fn definitions(func: &Func) -> HashMap<Value, Inst> {
    func.blocks.iter().flat_map(|b| &b.insts).filter_map(|i| Some((func.inst(*i).result?, *i))).collect()
}

/// The operation, if it makes an array element by element and that never fails but for shapes.
pub(crate) fn step(func: &Func, node: &InstNode) -> Option<&'static OpDef> {
    let Op::Apply(op) = node.op else { return None };
    if *op == CHOSEN {
        return Some(op);
    }
    let array = func.types[node.result?.index()].as_array().filter(|a| a.ndim > 0)?;
    if op.converts {
        // A copy of the same type may be asked for to keep what is overwritten later, and may be the array
        // itself.
        let from = func.types[node.args[0].index()].as_array()?;
        return (from.dtype != array.dtype && from.dtype.is_number() && array.dtype.is_number())
            .then_some(op);
    }
    let Body::Ufunc(..) = op.body else { return None };
    let (n, given) = (ufunc::inputs(op), node.args.len());
    // Neither `where=` nor `dtype=`, and no `out`.
    if op.raises_for_elements && !(array.dtype.is_float() || array.dtype.is_complex())
        || given != op.spec().params.len()
        || node.args[n..].iter().any(|a| *func.types[a.index()] != Kind::None)
    {
        return None;
    }
    let types = || node.args[..n].iter().map(|a| func.types[a.index()]);
    if !types().all(|t| t.as_array().is_some() || t.is_number()) {
        return None;
    }
    // A Python int that may not fit raises.
    let big = types().any(|t| *t == Kind::Int(Int::Big));
    let narrow = |t: Type| t.is_int() && (big || *t != Kind::Int(Int::I64));
    if types().any(|t| t.is_int() && t.is_weak())
        && (narrow(array.dtype) || types().any(|t| t.as_array().is_some_and(|a| narrow(a.dtype))))
    {
        return None;
    }
    Some(op)
}

/// Whether an operation is an elementary function.
pub(crate) fn is_slow(op: &OpDef) -> bool {
    op.kernel.is_some_and(|k| k.is_slow())
}

/// Which operands of the last operation of a chain may be steps.
fn roots(func: &Func, node: &InstNode) -> Vec<usize> {
    let Op::Apply(op) = node.op else { return vec![] };
    if let Some((operand, _)) = op.lazy {
        return vec![operand];
    }
    let Body::Ufunc(..) = op.body else { return vec![] };
    let makes_array =
        node.result.is_some_and(|r| func.types[r.index()].as_array().is_some_and(|a| a.ndim > 0));
    if !makes_array || node.args.len() != op.spec().params.len() {
        return vec![];
    }
    (0..ufunc::inputs(op)).collect()
}

/// The mask and the value of an assignment of an array through a mask for every element, and the dimensions
/// of these.
pub(crate) fn assigns(func: &Func, node: &InstNode) -> Option<(Value, Value, u8)> {
    let (Op::Apply(op), &[a, mask, value]) = (&node.op, node.args.as_slice()) else { return None };
    if !op.is(id::SETITEM) || node.result.is_some_and(|r| *func.types[r.index()] == Kind::Never) {
        return None;
    }
    let array = |v: Value| func.types[v.index()].as_array();
    let (target, m) = (array(a)?, array(mask)?);
    (*m.dtype == Kind::Bool && m.ndim > 0 && m.ndim == target.ndim && array(value)?.ndim == 1)
        .then_some((mask, value, m.ndim))
}

impl Pass<'_, '_> {
    fn block(&mut self, b: Block) {
        let mut at = self.func.block(b).insts.len();
        while at > 0 {
            at -= 1;
            let root = self.func.block(b).insts[at];
            let operands = roots(self.func, self.func.inst(root));
            let taken = if operands.is_empty() { vec![] } else { self.absorb(b, at, &operands, &[]) };
            // What is put in front of it moves it on.
            if !taken.is_empty() {
                at += self.rewrite(b, root, &taken);
            }
        }
    }

    /// A reduction to a number that is there already is not done again: the mean in a standard deviation
    /// beside the mean itself.
    fn reduce_once(&mut self, b: Block) {
        let mut there: Vec<Inst> = vec![];
        let mut known: HashMap<Value, Value> = HashMap::new();
        let mut gone: HashSet<Inst> = HashSet::new();
        for i in self.func.block(b).insts.clone() {
            for a in &mut self.func.insts[i.index()].args {
                if let Some(v) = known.get(a) {
                    *a = *v;
                }
            }
            let node = self.func.inst(i).clone();
            let Op::Apply(op) = node.op else {
                if self.writes(&node) {
                    there.clear();
                }
                continue;
            };
            let number = node.result.filter(|r| {
                op.lazy.is_some() && op.effect == Effect::Reads && self.func.types[r.index()].is_number()
            });
            let Some(result) = number else {
                if self.writes(&node) {
                    there.clear();
                }
                continue;
            };
            let same = there.iter().copied().find(|j| {
                let n = self.func.inst(*j);
                n.op == node.op
                    && n.args.len() == node.args.len()
                    && n.args.iter().zip(&node.args).all(|(x, y)| self.is_same(*x, *y))
            });
            let Some(first) = same.and_then(|j| self.func.inst(j).result) else {
                there.push(i);
                continue;
            };
            known.insert(result, first);
            gone.insert(i);
        }
        if known.is_empty() {
            return;
        }
        self.func.blocks[b.index()].insts.retain(|i| !gone.contains(i));
        super::inline::replace(self.func, &known);
        self.recount();
    }

    /// Looks again at who makes and who reads each value.
    pub(crate) fn recount(&mut self) {
        (self.uses, self.shapes, self.defs) =
            (count_uses(self.func), shape_readers(self.func), definitions(self.func));
    }

    /// Whether two values are the same, or the same constant.
    fn is_same(&self, x: Value, y: Value) -> bool {
        if x == y {
            return true;
        }
        let op = |v: Value| self.defs.get(&v).map(|i| &self.func.inst(*i).op);
        match (op(x), op(y)) {
            (Some(Op::Const(a)), Some(Op::Const(b))) => {
                a == b && self.func.types[x.index()] == self.func.types[y.index()]
            }
            (Some(Op::Undef), Some(Op::Undef)) => self.func.types[x.index()] == self.func.types[y.index()],
            (Some(_) | None, Some(_) | None) => false,
        }
    }

    /// What can be computed in the loop of the instruction at `at`, in the order of the block, and whether
    /// somebody else wants what it gives. `sinks` are reductions right in front of it that are done in the
    /// same loop.
    pub(crate) fn absorb(
        &mut self,
        b: Block,
        at: usize,
        operands: &[usize],
        sinks: &[Inst],
    ) -> Vec<(Inst, bool)> {
        let insts = self.func.block(b).insts.clone();
        let root = self.func.inst(insts[at]).clone();
        // How often the members of the chain read each value.
        let mut wanted: HashMap<Value, u32> = HashMap::new();
        for k in operands {
            if let Some(v) = root.args.get(*k) {
                *wanted.entry(*v).or_default() += 1;
            }
        }
        let (mut taken, mut arrays, mut made) = (vec![], root.args.len(), 0);
        // What is read on the way: such arrays must be there before the loop.
        let mut read_before: HashSet<Value> = HashSet::new();
        // A handler may read whatever is made before the exception, by its name alone.
        let mut handled = root.unwind.is_some();
        for i in insts[..at].iter().rev() {
            let node = self.func.inst(*i).clone();
            if sinks.contains(i) {
                *wanted.entry(node.args[0]).or_default() += 1;
                taken.push((*i, true));
                continue;
            }
            let read = node.result.and_then(|r| Some((r, *wanted.get(&r)?)));
            let fits = read.is_some_and(|(r, n)| {
                n + self.shapes.get(&r).map_or(0, |s| s.len() as u32) == self.uses[r.index()]
            }) && taken.len() + 1 < MOST_STEPS;
            let also = !fits
                && !handled
                && sinks.is_empty()
                && made < MOST_MADE
                && node.result.is_some_and(|r| !read_before.contains(&r))
                && self.joins(&root, &node, &wanted);
            // Elementary functions beside others in a loop that makes several arrays are slow in tier 0.
            let op = if fits || also {
                step(self.func, &node).filter(|op| made == 0 || !is_slow(op))
            } else {
                None
            };
            handled |= node.unwind.is_some();
            if let Some(op) = op
                && arrays + node.args.len() <= MOST_ARRAYS + op.spec().params.len()
                && !self.repeats(op, &node)
            {
                arrays += node.args[..ufunc::inputs(op)]
                    .iter()
                    .filter(|a| self.func.types[a.index()].as_array().is_some())
                    .count()
                    - 1;
                for a in &node.args[..ufunc::inputs(op)] {
                    *wanted.entry(*a).or_default() += 1;
                }
                taken.push((*i, also));
                made += also as usize;
                arrays += also as usize;
            } else if self.writes(&node) {
                break;
            } else {
                let asks = node.result.is_some()
                    && node.args.first().is_some_and(|a| self.shapes.get(a).is_some_and(|s| s.contains(i)));
                read_before.extend(node.args[asks as usize..].iter().copied());
            }
        }
        taken.reverse();
        taken
    }

    /// Whether an array that others read as well is made in the loop of `root`: the one that a sum adds up,
    /// or a neighbour that reads the same arrays or is read.
    fn joins(&self, root: &InstNode, node: &InstNode, wanted: &HashMap<Value, u32>) -> bool {
        if !self.func.parallel.has(Parts::FUSION) {
            return false;
        }
        let (Some(r), Op::Apply(of)) = (node.result, &root.op) else { return false };
        let Some(array) = self.func.types[r.index()].as_array() else { return false };
        let Some(op) = step(self.func, node).filter(|op| !op.converts && !is_slow(op)) else { return false };
        if of.lazy.is_some() {
            return array.dtype.is_float()
                && root.args[0] == r
                && self.whole_reduction(root) == Some(Reduce::Sum);
        }
        let Some(own) = step(self.func, root)
            .filter(|op| !is_slow(op))
            .and(root.result)
            .and_then(|r| self.func.types[r.index()].as_array())
        else {
            return false;
        };
        let near = wanted.contains_key(&r)
            || node.args[..ufunc::inputs(op)]
                .iter()
                .any(|a| wanted.contains_key(a) && self.func.types[a.index()].as_array().is_some());
        near && (array.ndim, array.layout) == (own.ndim, own.layout)
    }

    /// Whether an operation that takes long might be done again and again for the same element, since its
    /// operand is probably stretched later.
    fn repeats(&self, op: &OpDef, node: &InstNode) -> bool {
        if *op == CHOSEN || op.kernel.is_some_and(|k| !k.is_slow()) {
            return false;
        }
        node.args.iter().any(|a| {
            let Some(array) = self.func.types[a.index()].as_array() else { return false };
            if array.ndim < 2 {
                return false;
            }
            let Some(made) = self.defs.get(a).map(|i| self.func.inst(*i)) else { return false };
            let Op::Apply(op) = &made.op else { return matches!(made.op, Op::CallInstance(_)) };
            if !op.is(id::GETITEM) {
                return !matches!(op.body, Body::Ufunc(..)) && !op.makes;
            }
            self.func.types[made.args[1].index()]
                .members()
                .is_some_and(|m| m.iter().any(|t| **t == Kind::None))
        })
    }

    /// Whether an instruction may change what a chain reads.
    pub(crate) fn writes(&mut self, node: &InstNode) -> bool {
        match &node.op {
            Op::Apply(op) => {
                writes_operand(self.func, op, node)
                    || node
                        .args
                        .iter()
                        .any(|a| crate::types::promote::runs_generator(self.func.types[a.index()]))
            }
            Op::CallInstance(id) => !self.is_quiet(*id),
            Op::Fused(f) => f.steps.last().is_some_and(|s| {
                s.op.effect == Effect::Writes
                    || matches!(s.op.body, Body::Ufunc(..)) && s.args.len() > ufunc::inputs(s.op)
            }),
            Op::Const(_)
            | Op::Undef
            | Op::Global(_)
            | Op::Free(_)
            | Op::MakeFunction { .. }
            | Op::Member(_)
            | Op::CheckBound { .. }
            | Op::Narrow(_)
            | Op::Cast
            | Op::Broadcast => false,
            Op::Table(_)
            | Op::Call { .. }
            | Op::CallSpread { .. }
            | Op::Attr(_)
            | Op::SetAttr(_)
            | Op::Region(_)
            | Op::Task(_)
            | Op::Yield
            | Op::PushHandled
            | Op::PopHandled
            | Op::Retain
            | Op::Release => true,
        }
    }

    /// Whether a function writes to nothing but arrays of its own.
    fn is_quiet(&mut self, id: InstanceId) -> bool {
        if let Some(known) = self.quiet.get(&id) {
            return *known;
        }
        // Recursive functions are left alone.
        self.quiet.insert(id, false);
        let session = self.session;
        let Some(typed) = session.at(id).typed.as_ref().filter(|_| !session.at(id).func.is_generator) else {
            return false;
        };
        let f = typed.func.clone();
        let defs = definitions(&f);
        let quiet = f.blocks.iter().flat_map(|b| &b.insts).all(|i| {
            let node = f.inst(*i);
            if let Op::CallInstance(c) = node.op {
                return self.is_quiet(c);
            }
            let Op::Apply(op) = &node.op else { return !matches!(node.op, Op::Region(_) | Op::Task(_)) };
            if node.args.iter().any(|a| crate::types::promote::runs_generator(f.types[a.index()])) {
                return false;
            }
            !writes_operand(&f, op, node)
                || !matches!(op.body, Body::Ufunc(..))
                    && node.args.first().is_some_and(|a| is_own(&f, &defs, *a))
        });
        self.quiet.insert(id, quiet);
        quiet
    }

    /// Replaces a chain by one instruction, and its members by what checks their shapes; gives how many
    /// instructions were put in front of it.
    pub(crate) fn rewrite(&mut self, b: Block, root: Inst, taken: &[(Inst, bool)]) -> usize {
        let mut added = 0;
        let sinks: Vec<Inst> = taken
            .iter()
            .filter(|t| t.1)
            .map(|t| t.0)
            .filter(|i| matches!(self.func.inst(*i).op, Op::Apply(op) if of_row(op).is_some()))
            .collect();
        let place: HashMap<Value, usize> =
            taken.iter().enumerate().filter_map(|(k, i)| Some((self.func.inst(i.0).result?, k))).collect();
        let several = taken.iter().any(|t| t.1);
        let results: Vec<Value> = taken
            .iter()
            .filter(|t| t.1)
            .chain([&(root, true)])
            .filter_map(|t| self.func.inst(t.0).result)
            .collect();
        let lines: Vec<Joined> = taken
            .iter()
            .filter(|t| t.1)
            .map(|t| self.func.inst(t.0))
            .filter_map(|n| {
                if let Op::Apply(op) = n.op {
                    Some(Joined { name: super::notes::shown(op).into(), loc: n.loc })
                } else {
                    None
                }
            })
            .collect();
        let mut args: Vec<Value> = vec![];
        let (mut steps, mut shapes) = (vec![], HashMap::new());
        for (i, made) in taken.iter().chain([&(root, false)]) {
            let node = self.func.inst(*i).clone();
            let Op::Apply(op) = node.op else { continue };
            let step_args = node
                .args
                .iter()
                .map(|a| match place.get(a) {
                    Some(k) => FusedArg::Step(*k as u32),
                    None => FusedArg::Operand(operand(&mut args, *a)),
                })
                .collect();
            let (ty, loc) = (node.result.map_or_else(Type::none, |r| self.func.types[r.index()]), node.loc);
            steps.push(FusedStep { op, args: step_args, ty, shape: None, made: *made });
            // Of the last step too, where all of the loop's arrays are made in the same way.
            let (true, Some(result), Some(array)) =
                (*i != root || several && op.lazy.is_none(), node.result, ty.as_array())
            else {
                continue;
            };
            let parts =
                node.args[..ufunc::inputs(op)].iter().map(|a| shapes.get(a).copied().unwrap_or(*a)).collect();
            let shape = self.put_shape(b, *i, (node, parts), array.ndim(), *i == root);
            shapes.insert(result, shape);
            added += if *i == root { 1 } else { self.keep_shape(b, *i, (result, ty, shape), loc) };
        }
        for v in sinks.iter().chain([&root]).flat_map(|i| self.func.inst(*i).args.clone()).collect::<Vec<_>>()
        {
            if let (Some(k), Some(shape)) = (place.get(&v), shapes.get(&v)) {
                steps[*k].shape = Some(operand(&mut args, *shape));
            }
        }
        if several {
            for (k, step) in steps.iter_mut().enumerate() {
                let of = if let Some((i, _)) = taken.get(k) {
                    let made = step.made && self.func.inst(*i).result.is_some();
                    place.iter().find(|p| *p.1 == k && made).map(|p| *p.0)
                } else {
                    results.last().copied()
                };
                let shape = of.and_then(|v| shapes.get(&v));
                step.shape = shape.map(|s| operand(&mut args, *s)).or(step.shape);
            }
        }
        let node = &mut self.func.insts[root.index()];
        (node.op, node.args) = (Op::Fused(Arc::new(Fused { steps })), args);
        if several {
            self.take_apart(b, root, &results, lines);
        }
        self.func.blocks[b.index()].insts.retain(|i| !sinks.contains(i));
        added
    }

    /// The shape of what an instruction made, which checks the shapes of its operands: in its place, or before
    /// it where it stays.
    fn put_shape(
        &mut self,
        b: Block,
        i: Inst,
        (node, parts): (InstNode, Vec<Value>),
        ndim: usize,
        stays: bool,
    ) -> Value {
        let shape = self.func.make_value();
        self.func.types.push(Type::tuple(vec![Type::i64(); ndim]));
        self.uses.push(0);
        let check = InstNode { op: Op::Broadcast, args: parts, result: Some(shape), ..node };
        if !stays {
            // The shape keeps the place of the operation.
            self.defs.insert(shape, i);
            self.func.insts[i.index()] = check;
            return shape;
        }
        self.func.insts.push(check);
        let check = Inst::new(self.func.insts.len() - 1);
        self.defs.insert(shape, check);
        let insts = &mut self.func.blocks[b.index()].insts;
        let at = insts.iter().position(|k| *k == i).unwrap_or(0);
        insts.insert(at, check);
        shape
    }

    /// The results of a loop that makes several arrays, behind it.
    fn take_apart(&mut self, b: Block, root: Inst, results: &[Value], lines: Vec<Joined>) {
        let all = self.func.make_value();
        self.func.types.push(Type::tuple(results.iter().map(|r| self.func.types[r.index()]).collect()));
        self.uses.push(results.len() as u32);
        self.defs.insert(all, root);
        self.func.side.joined.insert(all, lines);
        let loc = self.func.inst(root).loc;
        self.func.insts[root.index()].result = Some(all);
        let mut at = self.func.block(b).insts.iter().position(|k| *k == root).unwrap_or(0);
        for (k, r) in results.iter().enumerate() {
            self.func.insts.push(InstNode {
                op: Op::Member(k as u32),
                args: vec![all],
                result: Some(*r),
                loc,
                unwind: None,
            });
            let i = Inst::new(self.func.insts.len() - 1);
            self.defs.insert(*r, i);
            at += 1;
            self.func.blocks[b.index()].insts.insert(at, i);
        }
    }

    /// Who asks for the shape of an array that is not made gets an array that is nothing but this shape; how
    /// many instructions that took.
    fn keep_shape(
        &mut self,
        b: Block,
        after: Inst,
        (array, ty, shape): (Value, Type, Value),
        loc: Loc,
    ) -> usize {
        let Some(readers) = self.shapes.remove(&array) else { return 0 };
        let ghost = self.func.make_value();
        self.func.types.push(ty);
        self.uses.push(readers.len() as u32);
        self.uses[shape.index()] += 1;
        self.func.insts.push(InstNode {
            op: Op::Apply(&OF_SHAPE),
            args: vec![shape],
            result: Some(ghost),
            loc,
            unwind: None,
        });
        let made = Inst::new(self.func.insts.len() - 1);
        self.defs.insert(ghost, made);
        let insts = &mut self.func.blocks[b.index()].insts;
        let at = insts.iter().position(|i| *i == after).map_or(insts.len(), |k| k + 1);
        insts.insert(at, made);
        for r in readers {
            self.func.insts[r.index()].args[0] = ghost;
        }
        1
    }
}

/// The number of an operand, which is put behind the others where it is new.
fn operand(args: &mut Vec<Value>, v: Value) -> u32 {
    let k = args.iter().position(|a| *a == v).unwrap_or_else(|| {
        args.push(v);
        args.len() - 1
    });
    k as u32
}

/// Whether an operation changes one of its operands.
fn writes_operand(func: &Func, op: &OpDef, node: &InstNode) -> bool {
    let into = matches!(op.body, Body::Ufunc(..))
        && node.args[ufunc::inputs(op).min(node.args.len())..]
            .iter()
            .any(|a| func.types[a.index()].as_array().is_some());
    op.effect == Effect::Writes || into
}

/// Whether a value is, or shows, something that the function has made.
fn is_own(func: &Func, defs: &HashMap<Value, Inst>, mut v: Value) -> bool {
    let mut seen = HashSet::new();
    while seen.insert(v) {
        let Some(node) = defs.get(&v).map(|i| func.inst(*i)) else { return false };
        if let Op::Apply(op) = &node.op {
            let types: Vec<Type> = node.args.iter().map(|a| func.types[a.index()]).collect();
            if (op.own)(&types, func.types[v.index()]) != Own::Aliases {
                return op.makes;
            }
        } else if !matches!(node.op, Op::Cast | Op::Narrow(_)) {
            return false;
        }
        v = node.args[0];
    }
    false
}
