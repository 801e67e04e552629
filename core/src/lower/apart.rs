//! Which operands of a parallel loop must not share memory, since an iteration changes one under one name
//! and another iteration uses it under another name: `a[i] = b[i - 1] + 1`, called with `f(x, x)`.
//!
//! Under one name that is a race, which is found when the loop is read; whether two names mean one array is
//! known when the loop begins ([`crate::ops::apart`], `runtime/src/parallel/overlap.rs`), which then is one
//! piece. Most loops use all their arrays under the index of the iteration, and may be given the very same
//! array twice: these are told apart here. The arrays in a list of arrays are compared as well, with the other
//! operands, and with one another where `hidden_writes.rs` says so; what other containers hold is not
//! looked at.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "only what lies in memory may overlap: any other type holds none"
)]

use super::pure::{Defs, definitions, maker};
use crate::host::GlobalValue;
use crate::infer::state::Session;
use crate::ops::apart::{Operand, Operands, Order, Rule, Shape, Table};
use crate::ops::{Body, Effect, OpDef, id};
use crate::ssa::{Block, Func, InstNode, InstanceId, Op, Term, Value};
use crate::types::{ArrayType, Kind, Layout, Type};
use std::collections::{BTreeSet, HashMap, HashSet};

/// An array or a list in an argument, or what goes through one.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub argument: usize,
    /// The first of its machine values, among those of all arguments.
    pub leaf: usize,
    pub ty: Type,
}

/// Some of the places, by number.
type Places = BTreeSet<usize>;

/// What the run-time is to know of the operands of the loop with the body `id`, and the arrays among these that
/// are no arguments, in the order in which they stand behind them; `outer` makes what `args` are, its
/// arguments. What the arrays may share that lie in lists of arrays, by the places of these, `inside` says.
pub(crate) fn operands(
    session: &Session<'_>,
    id: InstanceId,
    outer: &Func,
    args: &[Value],
    inside: impl FnOnce() -> Vec<(usize, Rule)>,
) -> (Operands, Vec<GlobalValue>) {
    let inst = session.at(id);
    let (Some(typed), Some(body)) = (&inst.typed, &inst.func.body) else { return Default::default() };
    let f = &*typed.func;
    let (mut places, count) = places_of(f);
    if places.is_empty() {
        return Default::default();
    }
    let mut uses = Uses::of(session, f, &places, &mut HashMap::from([(id, None)]));
    let is_list = |p: &Place| matches!(p.ty.kind(), Kind::List(_));
    let changed_lists =
        uses.written.iter().map(|k| &places[*k]).filter(|p| is_list(p)).map(|p| p.leaf).collect();
    let globals = globals(session, id, count);
    let inside = if places.iter().any(|p| arrays_in(p.ty).is_some()) { inside() } else { vec![] };
    if places.len() + globals.len() < 2 && inside.is_empty() {
        return (Operands { table: None, changed_lists }, vec![]);
    }
    for (p, _, written) in &globals {
        uses.touched.insert(places.len());
        if *written {
            uses.written.insert(places.len());
        }
        uses.indices.push(None);
        places.push(*p);
    }
    let behind: Places =
        (0..places.len()).filter(|k| body.behind.contains(&(places[*k].argument as u32))).collect();
    let outer_defs = definitions(outer);
    let provenances: Vec<Provenance> =
        places.iter().map(|p| Provenance::of(outer, &outer_defs, args.get(p.argument).copied())).collect();
    let mut table = Table { decides: body.decides, ..Table::default() };
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut number = |table: &mut Table, k: usize| {
        *numbers.entry(k).or_insert_with(|| {
            table.operands.push(operand(&places[k]));
            table.operands.len() - 1
        })
    };
    for a in 0..places.len() {
        for b in a + 1..places.len() {
            let refused = behind.contains(&a) || behind.contains(&b);
            let dtype = |k: usize| places[k].ty.as_array().map(|a| a.dtype);
            if body.adds && behind.contains(&a) && behind.contains(&b) && dtype(a) == dtype(b) {
                continue;
            }
            let changed = refused || uses.written.contains(&a) || uses.written.contains(&b);
            let used = |k| uses.touched.contains(&k) || behind.contains(&k);
            let comparable = match (places[a].ty.kind(), places[b].ty.kind()) {
                (Kind::List(_), Kind::List(_)) | (Kind::Container(..), Kind::Container(..)) => {
                    places[a].ty == places[b].ty
                }
                (Kind::Array(_), Kind::Array(_)) => true,
                _ => false,
            };
            // A list that was made here may have been made of anything.
            let holding = (arrays_in(places[a].ty).is_some() || arrays_in(places[b].ty).is_some())
                && array_of(places[a].ty).is_some()
                && array_of(places[b].ty).is_some();
            // Into another container that was made here the array may have been put.
            if changed
                && let Some((array, store)) = array_and_store(places[a].ty, places[b].ty, (a, b))
                && used(a)
                && used(b)
                && is_put_into(session, (outer, id), args, &places[array], &places[store])
            {
                let array = number(&mut table, array);
                table.pairs.push((array, array, if refused { Rule::Refused } else { Rule::Nothing }));
                continue;
            }
            let apart = || !holding && provenances[a].is_apart_from(&provenances[b]);
            if !changed || !(comparable || holding) || !used(a) || !used(b) || apart() {
                continue;
            }
            let rule = if refused {
                Rule::Refused
            } else if uses.have_the_same_index(f, a, b) && places[a].ty == places[b].ty {
                Rule::All
            } else {
                Rule::Nothing
            };
            let (a, b) = (number(&mut table, a), number(&mut table, b));
            table.pairs.push((a, b, rule));
        }
    }
    for (k, rule) in inside {
        let k = number(&mut table, k);
        table.pairs.push((k, k, rule));
    }
    let globals = globals.into_iter().map(|g| g.1).collect();
    if table.pairs.is_empty() {
        return (Operands { table: None, changed_lists }, vec![]);
    }
    (Operands { table: Some(table), changed_lists }, globals)
}

/// Which of two places is an array, and which a container that may hold it where the run-time does not look.
fn array_and_store(a: Type, b: Type, (first, second): (usize, usize)) -> Option<(usize, usize)> {
    let is_store = |t: Type, of: Type| stores(t) && arrays_in(t).is_none() && has_array_of(t, of);
    match (a.as_array(), b.as_array()) {
        (Some(x), None) if is_store(b, x.dtype) => Some((first, second)),
        (None, Some(y)) if is_store(a, y.dtype) => Some((second, first)),
        _ => None,
    }
}

/// Whether a type has arrays of such elements in it.
fn has_array_of(t: Type, dtype: Type) -> bool {
    t.as_array().is_some_and(|a| a.dtype == dtype) || t.arguments().iter().any(|of| has_array_of(of, dtype))
}

/// Whether the function around a loop has put the one argument into the other.
fn is_put_into(
    session: &Session<'_>,
    (outer, body): (&Func, InstanceId),
    args: &[Value],
    array: &Place,
    store: &Place,
) -> bool {
    let (Some(array), Some(store)) = (args.get(array.argument), args.get(store.argument)) else {
        return false;
    };
    let defs = definitions(outer);
    let (array, store) = (captured(&defs, *array), captured(&defs, *store));
    let around = Flow { without: Some(body), ..Flow::default() };
    let flow = around.over(session, outer, &[], &[(array, 0)], &mut Known::new());
    flow.of_value(store).next().is_some()
}

/// The array that a place is, or those that a list in it has.
fn array_of(t: Type) -> Option<ArrayType> {
    t.as_array().or_else(|| arrays_in(t))
}

pub(super) fn arrays_in(t: Type) -> Option<ArrayType> {
    if let Kind::List(e) = t.kind() { e.as_array() } else { None }
}

/// Arrays that the code of a loop finds as globals: they stand behind the `count` machine values of its
/// arguments. And whether it may write to them.
fn globals(session: &Session<'_>, id: InstanceId, mut count: usize) -> Vec<(Place, GlobalValue, bool)> {
    let (mut seen, mut todo) = (HashSet::from([id]), vec![id]);
    let mut out: Vec<(Place, GlobalValue, bool)> = vec![];
    let mut known = HashMap::from([(id, None)]);
    while let Some(at) = todo.pop() {
        let Some(typed) = &session.at(at).typed else { continue };
        todo.extend(super::callees(&typed.func).into_iter().filter(|c| seen.insert(*c)));
        let f = &*typed.func;
        let values = global_arrays(&typed.globals);
        if values.is_empty() {
            continue;
        }
        let (mut places, _) = places_of(f);
        let first = places.len();
        places.extend(values.iter().map(|(_, ty, _)| Place { argument: usize::MAX, leaf: 0, ty: *ty }));
        let named: Vec<(Value, usize)> =
            values.iter().enumerate().map(|(n, (v, ..))| (*v, first + n)).collect();
        let uses = Uses::beside(session, f, &places, &named, &mut known);
        for (n, (v, ty, data)) in values.iter().enumerate() {
            let written = uses.written.contains(&(first + n));
            let there = |o: &&mut (Place, GlobalValue, bool)| matches!(&o.1, GlobalValue::Array { ty: t, data: d, .. } if (t, *d) == (ty, *data));
            if let Some(one) = out.iter_mut().find(there) {
                one.2 |= written;
                continue;
            }
            let place = Place { argument: usize::MAX, leaf: count, ty: *ty };
            out.push((place, typed.globals[v].clone(), written));
            count += ty.leaf_count();
        }
    }
    out
}

/// The values of a function that are arrays it finds as globals, in their order, and where these lie.
pub(super) fn global_arrays(globals: &HashMap<Value, GlobalValue>) -> Vec<(Value, Type, usize)> {
    let mut out: Vec<(Value, Type, usize)> = globals
        .iter()
        .filter_map(|(v, g)| match g {
            GlobalValue::Array { ty, data, .. } if ty.as_array().is_some() => Some((*v, *ty, *data)),
            _ => None,
        })
        .collect();
    out.sort_unstable_by_key(|g| g.0);
    out
}

fn operand(p: &Place) -> Operand {
    let slot = p.leaf;
    let Some(a) = array_of(p.ty) else { return Operand { slot, shape: Shape::List } };
    let order = match a.layout {
        Layout::C => Order::C,
        Layout::F => Order::Fortran,
        Layout::A => Order::Strided,
    };
    let (ndim, itemsize) = (a.ndim(), ArrayType::itemsize(a) as usize);
    let shape = if p.ty.as_array().is_some() {
        Shape::Array { order, ndim, itemsize }
    } else {
        Shape::Arrays { order, ndim, itemsize }
    };
    Operand { slot, shape }
}

/// The places in the arguments of a function, and how many machine values these have.
pub(super) fn places_of(f: &Func) -> (Vec<Place>, usize) {
    let (mut out, mut leaf) = (vec![], 0);
    for (argument, p) in f.block(Block(0)).params.iter().enumerate() {
        collect(f.types[p.index()], argument, &mut leaf, &mut out);
    }
    (out, leaf)
}

fn collect(t: Type, argument: usize, leaf: &mut usize, out: &mut Vec<Place>) {
    let first = *leaf;
    match t.kind() {
        Kind::Array(_) | Kind::List(_) | Kind::Container(..) => {
            out.push(Place { argument, leaf: first, ty: t });
        }
        Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Frozen(_, m) => {
            m.iter().for_each(|t| collect(*t, argument, leaf, out))
        }
        Kind::Optional(of) | Kind::MaybeUndef(of) => {
            *leaf += 1;
            collect(*of, argument, leaf, out);
        }
        Kind::Method(_, of) => collect(*of, argument, leaf, out),
        Kind::Variant(m) => {
            *leaf += 1;
            m.iter().for_each(|t| collect(*t, argument, leaf, out));
        }
        // They lead to what they go through; nothing is compared with that.
        Kind::Iter(_) | Kind::Generator(..) => out.push(Place { argument, leaf: first, ty: t }),
        Kind::Function(f) => {
            f.defaults.iter().chain(&f.captures).for_each(|t| collect(*t, argument, leaf, out))
        }
        _ => {}
    }
    *leaf = first + t.leaf_count();
}

/// Where an argument comes from, in the function around the loop.
enum Provenance {
    /// Made there, by this value.
    Made(Value),
    /// Given to it.
    Given,
    Unknown,
}

impl Provenance {
    fn of(f: &Func, defs: &Defs<'_>, v: Option<Value>) -> Provenance {
        let is_one = |v: &Value| {
            matches!(f.types[v.index()].kind(), Kind::Array(_) | Kind::List(_) | Kind::Container(..))
        };
        let Some(v) = v.map(|v| captured(defs, v)).filter(is_one) else { return Provenance::Unknown };
        if f.block(Block(0)).params.contains(&v) {
            Provenance::Given
        } else {
            let anew = |v: &Value| matches!(defs.get(v).map(|n| &n.op), Some(Op::Apply(op)) if op.makes || op.is(id::LIST_BUILD));
            maker(f, defs, v).filter(anew).map_or(Provenance::Unknown, Provenance::Made)
        }
    }
    fn is_apart_from(&self, other: &Provenance) -> bool {
        match (self, other) {
            (Provenance::Made(a), Provenance::Made(b)) => a != b,
            (Provenance::Made(_), Provenance::Given) | (Provenance::Given, Provenance::Made(_)) => true,
            (Provenance::Given, Provenance::Given) | (Provenance::Unknown, _) | (_, Provenance::Unknown) => {
                false
            }
        }
    }
}

/// What a function captures, for a member of it.
pub(super) fn captured(defs: &Defs<'_>, v: Value) -> Value {
    let Some(Op::Member(k)) = defs.get(&v).map(|n| &n.op) else { return v };
    match defs.get(&defs[&v].args[0]) {
        Some(n) if matches!(n.op, Op::MakeFunction { .. }) => n.args.get(*k as usize).copied().unwrap_or(v),
        Some(_) | None => v,
    }
}

/// What a function does with the places in its arguments.
struct Uses<'a> {
    defs: Defs<'a>,
    written: Places,
    /// Read or written, or given to somebody.
    touched: Places,
    /// What the result may lead to.
    given_back: Places,
    /// The indices that each is used with, where it is used with nothing else.
    indices: Vec<Option<Vec<Vec<Value>>>>,
    /// The variable of a loop's body.
    variable: Option<Value>,
}

impl<'a> Uses<'a> {
    fn of(session: &Session<'_>, f: &'a Func, places: &[Place], known: &mut Known) -> Uses<'a> {
        Uses::beside(session, f, places, &[], known)
    }

    /// The same, of places as well that are no arguments, under the names of these values.
    fn beside(
        session: &Session<'_>,
        f: &'a Func,
        places: &[Place],
        named: &[(Value, usize)],
        known: &mut Known,
    ) -> Uses<'a> {
        let flow = Flow::default().over(session, f, places, named, known);
        let mut uses = Uses {
            defs: definitions(f),
            written: Places::new(),
            touched: Places::new(),
            given_back: Places::new(),
            indices: vec![Some(vec![]); places.len()],
            variable: loop_variable(f),
        };
        let nodes = || f.blocks.iter().flat_map(|b| &b.insts).map(|i| f.inst(*i));
        for node in nodes() {
            let written = uses.written_by(session, f, node, known);
            for (k, v) in node.args.iter().enumerate() {
                if written.contains(&k) {
                    // Arrays that a list holds stay as they are when it changes.
                    let store = is_store(f.types[v.index()]);
                    let of = flow.of_value(*v).filter(|p| !store || places[**p].ty.as_array().is_none());
                    uses.written.extend(of);
                }
                uses.use_of(f, &flow, node, k);
            }
            for v in node.unwind.iter().flat_map(|u| &u.args) {
                uses.passed(&flow, *v);
            }
        }
        for b in &f.blocks {
            crate::ssa::analysis::uses_of_term(&b.term, &mut |v| uses.passed(&flow, v));
            if let Term::Return(v) = b.term {
                uses.given_back.extend(flow.of_value(v));
            }
        }
        uses
    }

    /// A value that goes to another block, where it has another name.
    fn passed(&mut self, flow: &Flow, v: Value) {
        for k in flow.of_value(v) {
            self.touched.insert(*k);
            if flow.exact.get(&v).is_some_and(|e| e.contains(k)) {
                self.indices[*k] = None;
            }
        }
    }

    fn use_of(&mut self, f: &Func, flow: &Flow, node: &InstNode, k: usize) {
        let v = node.args[k];
        if renames(&node.op) && node.result.is_some_and(|r| flow.exact.contains_key(&r)) {
            return;
        }
        let apply = if let Op::Apply(op) = node.op { Some(op) } else { None };
        if apply.is_some_and(|op| k == 0 && asks_for_its_shape(op)) {
            return;
        }
        self.touched.extend(flow.of_value(v));
        let Some(exact) = flow.exact.get(&v) else { return };
        let indexed = apply.filter(|op| k == 0 && (op.is(id::GETITEM) || op.is(id::SETITEM)));
        let index = indexed.and_then(|_| self.index(f, node.args[1]));
        for place in exact {
            match (&index, &mut self.indices[*place]) {
                (Some(index), Some(all)) => all.push(index.clone()),
                (_, all) => *all = None,
            }
        }
    }

    /// The indices between brackets; none where there is something else than numbers and slices.
    fn index(&self, f: &Func, v: Value) -> Option<Vec<Value>> {
        let plain = |v: &Value| f.types[v.index()].is_int() || matches!(*f.types[v.index()], Kind::Slice(_));
        let tuple = |n: &&&InstNode| matches!(n.op, Op::Apply(op) if op.is(id::TUPLE_BUILD));
        let all = self.defs.get(&v).filter(tuple).map_or_else(|| vec![v], |n| n.args.clone());
        all.iter().all(plain).then_some(all)
    }

    /// Which operands an instruction may write to.
    fn written_by(&self, session: &Session<'_>, f: &Func, node: &InstNode, known: &mut Known) -> Vec<usize> {
        let all = || (0..node.args.len()).collect();
        match &node.op {
            Op::Apply(op) => {
                if node.args.iter().any(|a| resumes(f.types[a.index()])) {
                    return all();
                }
                if let Body::Ufunc(..) = op.body {
                    (crate::ops::ufunc::inputs(op)..node.args.len()).collect()
                } else if op.effect != Effect::Writes {
                    vec![]
                } else if op.is(id::SETITEM)
                    || node.args.first().is_some_and(|a| is_store(f.types[a.index()]))
                {
                    vec![0]
                } else {
                    all()
                }
            }
            Op::CallInstance(callee) | Op::Region(callee) | Op::Task(callee) => {
                let count = session.at(*callee).key.args.len().min(node.args.len());
                summary(session, *callee, known)
                    .map_or_else(all, |s| s.written.into_iter().filter(|k| *k < count).collect())
            }
            Op::Yield
            | Op::Table(_)
            | Op::Call { .. }
            | Op::CallSpread { .. }
            | Op::Fused(_)
            | Op::SetAttr(_) => all(),
            Op::Attr(_)
            | Op::Broadcast
            | Op::Const(_)
            | Op::Undef
            | Op::Global(_)
            | Op::Free(_)
            | Op::MakeFunction { .. }
            | Op::Member(_)
            | Op::Narrow(_)
            | Op::Cast
            | Op::CheckBound { .. }
            | Op::PushHandled
            | Op::PopHandled
            | Op::Retain
            | Op::Release => vec![],
        }
    }

    /// Whether two places are used with the same index throughout, one that no two iterations have.
    fn have_the_same_index(&self, f: &Func, a: usize, b: usize) -> bool {
        let (Some(p), Some(q)) = (&self.indices[a], &self.indices[b]) else { return false };
        let Some(first) = p.first() else { return false };
        (0..first.len()).any(|d| {
            self.is_distinct(f, first[d], 8)
                && p.iter().chain(q).all(|i| i.get(d).is_some_and(|v| self.is_same(*v, first[d], 8)))
        })
    }

    /// The loop's variable, or it and something that is the same in all iterations.
    fn is_distinct(&self, f: &Func, v: Value, depth: u32) -> bool {
        if Some(v) == self.variable {
            return true;
        }
        let Some(node) = self.defs.get(&v).filter(|_| depth > 0) else { return false };
        let Op::Apply(op) = node.op else { return false };
        let sums = (op.is(id::ADD) || op.is(id::SUB)) && f.types[v.index()].is_int();
        let fixed = |v: Value| {
            f.block(Block(0)).params.contains(&v)
                || self.defs.get(&v).is_some_and(|n| matches!(n.op, Op::Const(_)))
        };
        sums && match node.args[..] {
            [x, y, ..] => {
                self.is_distinct(f, x, depth - 1) && fixed(y) || fixed(x) && self.is_distinct(f, y, depth - 1)
            }
            _ => false,
        }
    }

    fn is_same(&self, v: Value, w: Value, depth: u32) -> bool {
        if v == w {
            return true;
        }
        let (Some(x), Some(y)) = (self.defs.get(&v), self.defs.get(&w)) else { return false };
        let repeats = matches!(x.op, Op::Const(_) | Op::Member(_))
            || matches!(x.op, Op::Apply(op) if op.effect == Effect::Pure);
        depth > 0
            && repeats
            && x.op == y.op
            && x.args.len() == y.args.len()
            && x.args.iter().zip(&y.args).all(|(a, b)| self.is_same(*a, *b, depth - 1))
    }
}

/// What a function does with its arguments.
#[derive(Clone)]
pub(crate) struct Summary {
    /// Those that it may write to.
    pub written: Vec<usize>,
    /// Those that its result may lead to.
    given_back: Vec<usize>,
}

/// What functions do; none of one that is being looked at.
pub(crate) type Known = HashMap<InstanceId, Option<Summary>>;

/// What a function does with its arguments; none where that is not known (yet).
pub(crate) fn summary(session: &Session<'_>, id: InstanceId, known: &mut Known) -> Option<Summary> {
    if let Some(known) = known.get(&id) {
        return known.clone();
    }
    let inst = session.at(id);
    let f = &*inst.typed.as_ref()?.func;
    let (places, _) = places_of(f);
    if places.is_empty() {
        return Some(Summary { written: vec![], given_back: vec![] });
    }
    known.insert(id, None);
    if inst.func.is_generator {
        return None;
    }
    let uses = Uses::of(session, f, &places, known);
    let behind = inst.func.body.iter().flat_map(|b| b.behind.iter().map(|k| *k as usize));
    let argument = |k: &usize| places[*k].argument;
    let all = Summary {
        written: uses.written.iter().map(argument).chain(behind).collect(),
        given_back: uses.given_back.iter().map(argument).collect(),
    };
    known.insert(id, Some(all.clone()));
    Some(all)
}

/// Whether what changes values of a type changes nothing else: what is put into a list stays as it is.
fn is_store(t: Type) -> bool {
    matches!(t.kind(), Kind::List(_) | Kind::Container(..))
}

/// Whether the result is the operand under another name.
fn renames(op: &Op) -> bool {
    matches!(op, Op::Narrow(_) | Op::CheckBound { .. } | Op::Cast | Op::Member(_))
        || matches!(op, Op::Apply(op) if op.is(id::TUPLE_BUILD))
}

pub(super) fn asks_for_its_shape(op: &OpDef) -> bool {
    op.is(id::BUILTINS_LEN) || op.is(id::ARRAY_SHAPE) || op.is(id::ARRAY_SIZE) || op.is(id::ARRAY_NDIM)
}

/// Which places values may lead to.
#[derive(Default)]
pub(super) struct Flow {
    /// Those that it is, in order, for values that are an argument, or members of one.
    pub exact: HashMap<Value, Vec<usize>>,
    /// Those that it is, or a view of, or holds.
    leads: HashMap<Value, Places>,
    /// What functions do that are called, by the result, where that is known.
    calls: HashMap<Value, Summary>,
    /// The body of a loop that is not looked at.
    without: Option<InstanceId>,
}

impl Flow {
    pub(super) fn of_value(&self, v: Value) -> impl Iterator<Item = &usize> {
        self.leads.get(&v).into_iter().flatten()
    }

    /// Of the places in the arguments, and of `named` ones.
    pub(super) fn over(
        self,
        session: &Session<'_>,
        f: &Func,
        places: &[Place],
        named: &[(Value, usize)],
        known: &mut Known,
    ) -> Flow {
        let mut flow = self;
        for node in f.blocks.iter().flat_map(|b| &b.insts).map(|i| f.inst(*i)) {
            if let (Op::CallInstance(callee), Some(result)) = (&node.op, node.result)
                && let Some(s) = summary(session, *callee, known)
            {
                flow.calls.insert(result, s);
            }
        }
        for (argument, p) in f.block(Block(0)).params.iter().enumerate() {
            let mine: Vec<usize> = (0..places.len()).filter(|k| places[*k].argument == argument).collect();
            if !mine.is_empty() {
                flow.leads.insert(*p, mine.iter().copied().collect());
                flow.exact.insert(*p, mine);
            }
        }
        for (v, k) in named {
            flow.leads.insert(*v, Places::from([*k]));
            flow.exact.insert(*v, vec![*k]);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for b in (0..f.blocks.len()).map(Block::new) {
                for i in &f.block(b).insts {
                    changed |= flow.step(f, f.inst(*i));
                }
                f.each_edge(b, &mut |edge, to| {
                    for (p, a) in f.block(to.block).params.iter().skip(edge.skip()).zip(&to.args) {
                        changed |= flow.lead(*p, *a);
                        if stores(f.types[p.index()]) {
                            changed |= flow.lead(*a, *p);
                        }
                    }
                });
            }
        }
        flow
    }

    fn lead(&mut self, to: Value, from: Value) -> bool {
        let Some(new) = self.leads.get(&from).cloned() else { return false };
        let all = self.leads.entry(to).or_default();
        let before = all.len();
        all.extend(new);
        all.len() != before
    }

    fn step(&mut self, f: &Func, node: &InstNode) -> bool {
        let mut changed = false;
        if self.without.is_some_and(|body| node.op == Op::Region(body)) {
            return changed;
        }
        // What is put into a list is found there.
        if let Op::Apply(op) = node.op
            && op.effect == Effect::Writes
            && let [first, rest @ ..] = &node.args[..]
            && f.types[first.index()].as_array().is_none()
        {
            for v in rest.iter().filter(|v| holds(f.types[v.index()])) {
                changed |= self.lead(*first, *v);
            }
        }
        if let Op::CallInstance(_) | Op::Region(_) | Op::Task(_) = node.op {
            changed |= self.put_by_call(f, node);
        }
        let Some(result) = node.result.filter(|r| holds(f.types[r.index()])) else { return changed };
        if let Op::Apply(op) = node.op {
            let types: Vec<Type> = node.args.iter().map(|a| f.types[a.index()]).collect();
            let made = f.types[result.index()];
            let inside = types.iter().any(|t| matches!(t.kind(), Kind::List(_) | Kind::Container(..)));
            let new_array = made.as_array().is_some() && !inside && op.allocates(&types, made);
            let sliced = || op.is(id::GETITEM) && matches!(types[1].kind(), Kind::Slice(_));
            let new_store = is_store(made) && !stores(made) && (op.makes_list() || sliced());
            if new_array || new_store {
                return changed;
            }
        }
        let called = self.calls.get(&result).cloned();
        // What is put into a list under one of its names is found under the others.
        let names =
            called.is_some() || renames(&node.op) || matches!(node.op, Op::Apply(op) if op.is(id::GETITEM));
        let shared = names && stores(f.types[result.index()]);
        let from = match called {
            Some(called) => called.given_back.iter().map(|k| node.args[*k]).collect(),
            None => node.args.clone(),
        };
        for v in from {
            changed |= self.lead(result, v);
            if shared && stores(f.types[v.index()]) {
                changed |= self.lead(v, result);
            }
        }
        if let Some(exact) = self.exactly(f, node)
            && !self.exact.contains_key(&result)
        {
            self.exact.insert(result, exact);
            changed = true;
        }
        changed
    }

    /// What a function puts into the lists that it is given may be any other operand.
    fn put_by_call(&mut self, f: &Func, node: &InstNode) -> bool {
        let called = node.result.and_then(|r| self.calls.get(&r)).cloned();
        let takes = |k: usize| called.as_ref().is_none_or(|c| c.written.contains(&k));
        let mut changed = false;
        for (k, to) in node.args.iter().enumerate() {
            let t = f.types[to.index()];
            if !holds(t) || t.as_array().is_some() || !takes(k) {
                continue;
            }
            for from in node.args.iter().filter(|v| *v != to && holds(f.types[v.index()])) {
                changed |= self.lead(*to, *from);
            }
        }
        changed
    }

    /// The places that a result is, where it is nothing but these.
    fn exactly(&self, f: &Func, node: &InstNode) -> Option<Vec<usize>> {
        let count = |t: Type| {
            let mut all = vec![];
            collect(t, 0, &mut 0, &mut all);
            all.len()
        };
        let made = f.types[node.result?.index()];
        let of = |v: &Value| match self.exact.get(v) {
            Some(e) => Some(e.clone()),
            None => (count(f.types[v.index()]) == 0).then(Vec::new),
        };
        if let Op::Narrow(_) | Op::CheckBound { .. } | Op::Cast = node.op {
            return of(node.args.first()?).filter(|e| e.len() == count(made));
        }
        if let Op::Member(k) = node.op {
            let (all, t) = (of(node.args.first()?)?, f.types[node.args[0].index()]);
            let members = t.parts()?;
            let skipped: usize = members.iter().take(k as usize).map(|t| count(*t)).sum();
            return all.get(skipped..skipped + count(made)).map(<[usize]>::to_vec);
        }
        let builds = matches!(node.op, Op::Apply(op) if op.is(id::TUPLE_BUILD));
        let all: Option<Vec<Vec<usize>>> = node.args.iter().filter(|_| builds).map(of).collect();
        all.filter(|_| builds).map(|a| a.concat())
    }
}

/// Whether a step of an iterator of a type runs a generator, which may write to anything that it was given.
fn resumes(t: Type) -> bool {
    match t.kind() {
        Kind::Generator(..) => true,
        Kind::Iter(_) | Kind::Variant(_) => t.arguments().iter().any(resumes),
        _ => false,
    }
}

/// Whether something of a type may lead to an array or a list.
fn holds(t: Type) -> bool {
    match t.kind() {
        Kind::Array(_)
        | Kind::List(_)
        | Kind::Container(..)
        | Kind::Iter(_)
        | Kind::Generator(..)
        | Kind::Variant(_) => true,
        Kind::Function(f) => f.defaults.iter().chain(&f.captures).any(|t| holds(*t)),
        Kind::Optional(of) | Kind::MaybeUndef(of) | Kind::Method(_, of) => holds(*of),
        _ => t.parts().is_some_and(|m| m.iter().any(|t| holds(*t))),
    }
}

/// Whether something of a type may lead to a list into which arrays or lists can be put.
fn stores(t: Type) -> bool {
    match t.kind() {
        Kind::List(_) | Kind::Container(..) => t.arguments().iter().any(|of| holds(of)),
        Kind::Optional(of) | Kind::MaybeUndef(of) | Kind::Method(_, of) => stores(*of),
        _ => t.parts().is_some_and(|m| m.iter().any(|t| stores(*t))),
    }
}

/// The variable of the loop that a body begins with.
pub(super) fn loop_variable(f: &Func) -> Option<Value> {
    let Term::Jump(to) = &f.block(Block(0)).term else { return None };
    let defs = definitions(f);
    let is = |v: &Value, op| defs.get(v).is_some_and(|n| matches!(n.op, Op::Apply(o) if o.is(op)));
    let bounds = f.block(Block(0)).params.get(..2)?;
    let over_the_piece = |v: &Value| {
        is(v, id::BUILTINS_ITER)
            && defs.get(&defs[v].args[0]).is_some_and(|r| {
                matches!(r.op, Op::Apply(o) if o.is(id::BUILTINS_RANGE)) && r.args[..2] == *bounds
            })
    };
    let state =
        f.block(to.block).params.iter().zip(&to.args).find(|(_, a)| over_the_piece(a)).map(|(p, _)| *p)?;
    defs.iter()
        .find(|(_, n)| {
            n.op == Op::Member(2) && is(&n.args[0], id::ITER_NEXT) && defs[&n.args[0]].args[0] == state
        })
        .map(|(v, _)| *v)
}
