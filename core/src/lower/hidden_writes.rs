//! Parallel loops whose iterations change an array under a name that nobody could follow while types were
//! unknown: `[x][0][i] = x[i - 1]`, `np.split(x, 1)[0][i] = y`, `x[i:i + 1].fill(x[i - 1])`, `put(x, i)`. Such
//! a loop is one piece.
//!
//! What untyped code follows ([`crate::ssa::opt::parallel`]) is judged there, and here only beside something
//! else. Two accesses to one array are apart where the index of the one in an iteration is never that of the
//! other in another iteration. Names of which the view depends on the iteration (`np.split(x, n)[i]`), and
//! indices of the array's own name that say nothing (`x[k[i]]` in a function that is called), are the
//! program's affair.

use super::apart::{
    Flow, Known, Place, arrays_in, asks_for_its_shape, global_arrays, loop_variable, places_of, summary,
};
use super::pure::{Defs, definitions};
use super::spans::{Span, Sum};
use crate::infer::state::{Session, Typed};
use crate::ops::apart::Rule;
use crate::ops::{Body, Effect, OpDef, id};
use crate::ssa::{Block, Func, InstNode, InstanceId, Op, Value};
use crate::types::{Const, Kind, Type};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

/// So deep are values looked into, and calls, of which there are no more than so many in all.
const DEPTH: u32 = 16;
const CALLS: usize = 16;
const MOST_CALLS: usize = 300;
/// Where numbers of arrays begin that are found as globals.
const GLOBAL: usize = 1 << 32;
/// Pairs of accesses that are compared; a loop with more of them is taken as it is.
const MOST: usize = 20_000;

/// Whether the iterations of the loop with the body `id` have to run in order, which `region` in `outer` is.
pub(super) fn need_order(session: &Session<'_>, id: InstanceId, (outer, region): (&Func, &InstNode)) -> bool {
    meetings(session, id, Some((outer, region)), |meeting| meeting == Meeting::Always).next().is_some()
}

/// Lists of arrays in the arguments of the loop with the body `id`, by their places: what the arrays in one may
/// share.
pub(super) fn inside(session: &Session<'_>, id: InstanceId) -> Vec<(usize, Rule)> {
    let mut out: Vec<(usize, Rule)> = vec![];
    for meeting in meetings(session, id, None, |meeting| meeting != Meeting::Always) {
        let Meeting::Inside(k, rule) = meeting else { continue };
        match out.iter_mut().find(|o| o.0 == k) {
            Some(o) if rule == Rule::Nothing => o.1 = rule,
            Some(_) => {}
            None => out.push((k, rule)),
        }
    }
    out
}

/// How accesses of the loop meet one another that are wanted.
fn meetings(
    session: &Session<'_>,
    id: InstanceId,
    region: Option<(&Func, &InstNode)>,
    wanted: impl Fn(Meeting) -> bool,
) -> std::vec::IntoIter<Meeting> {
    let mut out = vec![];
    let inst = session.at(id);
    let (Some(typed), Some(body)) = (&inst.typed, &inst.func.body) else { return out.into_iter() };
    let mut around =
        Around { session, known: HashMap::from([(id, None)]), globals: vec![], calls: vec![id], visited: 0 };
    let Some(code) = (!body.careful).then(|| Code::of(&mut around, typed)).flatten() else {
        return out.into_iter();
    };
    let mut all = code.accesses(&mut around);
    let span = region.and_then(|(outer, region)| Span::of(outer, region, (code.f, &code.defs)));
    let behind = |k: &usize| code.places.get(*k).is_some_and(|p| body.behind.contains(&(p.argument as u32)));
    all.retain(|a| !a.leads.iter().any(behind));
    if all.len().saturating_mul(all.len()) > MOST {
        return out.into_iter();
    }
    for a in all.iter().filter(|a| a.write) {
        for b in &all {
            if let Some(meeting) = code.meet(a, b, span.as_ref()).filter(|m| wanted(*m)) {
                if !out.contains(&meeting) {
                    out.push(meeting);
                }
                if meeting == Meeting::Always {
                    return out.into_iter();
                }
            }
        }
    }
    out.into_iter()
}

/// How two accesses meet in different iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    Always,
    /// If two arrays in the list in this place share more than the rule says.
    Inside(usize, Rule),
}

/// What is known of the program around a function.
struct Around<'a, 'h> {
    session: &'a Session<'h>,
    known: Known,
    /// Arrays that are found as globals: their types, and where they lie.
    globals: Vec<(Type, usize)>,
    /// Functions that are being looked at, one called by the other.
    calls: Vec<InstanceId>,
    visited: usize,
}

impl Around<'_, '_> {
    fn number(&mut self, global: (Type, usize)) -> usize {
        let k = self.globals.iter().position(|g| *g == global).unwrap_or_else(|| {
            self.globals.push(global);
            self.globals.len() - 1
        });
        GLOBAL + k
    }
}

/// What an index takes of one dimension. What is not known is none.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    At(Option<Sum>),
    /// From, to.
    Range(Option<Sum>, Option<Sum>),
    All,
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    /// An array that came in, or that is found as a global.
    Place(usize),
    /// What some value is a view of, or may be.
    Of(Value),
}

/// A part of an object from outside.
#[derive(Clone)]
struct View {
    base: Base,
    parts: Vec<Part>,
    /// Untyped code finds out as much.
    followed: bool,
    /// It is another one in each iteration.
    varies: bool,
    /// Indices choose something of it, who knows what.
    blurred: bool,
}

/// Something that is done to elements.
struct Access {
    leads: BTreeSet<usize>,
    view: View,
    write: bool,
}

/// How the indices of two accesses relate in one dimension.
#[derive(Clone, Copy, PartialEq)]
enum Relation {
    Apart,
    Meet,
    Unknown,
}

/// A function, as far as it has to do with what it was given.
struct Code<'a> {
    f: &'a Func,
    defs: Defs<'a>,
    flow: Flow,
    places: Vec<Place>,
    /// Values that are globals, and their numbers; they are the places behind those of arguments.
    globals: Vec<(Value, usize)>,
    variable: Option<Value>,
    /// By how much the variable differs in two iterations, at least.
    step: Option<i64>,
    /// Values that are not the same in all iterations.
    varying: HashSet<Value>,
    /// Values that stay what they are and are parts of indices.
    fixed: RefCell<Vec<Value>>,
}

impl<'a> Code<'a> {
    fn of(around: &mut Around<'_, '_>, typed: &'a Typed) -> Option<Code<'a>> {
        let f = &*typed.func;
        let (places, _) = places_of(f);
        let globals: Vec<(Value, usize)> = global_arrays(&typed.globals)
            .into_iter()
            .map(|(v, ty, data)| (v, around.number((ty, data))))
            .collect();
        let calls =
            || f.blocks.iter().flat_map(|b| &b.insts).any(|i| matches!(f.inst(*i).op, Op::CallInstance(_)));
        if places.is_empty() && globals.is_empty() && !calls() {
            return None;
        }
        let named: Vec<(Value, usize)> =
            globals.iter().enumerate().map(|(k, g)| (g.0, places.len() + k)).collect();
        let flow = Flow::default().over(around.session, f, &places, &named, &mut around.known);
        let defs = definitions(f);
        let variable = loop_variable(f);
        let step = step(f, &defs);
        let mut code = Code {
            f,
            defs,
            flow,
            places,
            globals,
            variable,
            step,
            varying: HashSet::new(),
            fixed: RefCell::default(),
        };
        code.varying = code.varying_values();
        Some(code)
    }

    fn ty(&self, v: Value) -> Type {
        self.f.types[v.index()]
    }

    fn nodes(&self) -> impl Iterator<Item = &'a InstNode> {
        let f = self.f;
        f.blocks.iter().flat_map(|b| &b.insts).map(|i| f.inst(*i))
    }

    /// Values that are computed of the loop's variable, or by something that may give another value each time.
    fn varying_values(&self) -> HashSet<Value> {
        let mut out: HashSet<Value> = self.variable.into_iter().collect();
        let mut changed = true;
        while changed {
            changed = false;
            for node in self.nodes() {
                let Some(result) = node.result else { continue };
                let may_differ = matches!(node.op, Op::CallInstance(_))
                    || matches!(node.op, Op::Apply(op) if op.effect != Effect::Pure);
                let anew = node.args.is_empty() && may_differ;
                if anew || node.args.iter().any(|a| out.contains(a)) {
                    changed |= out.insert(result);
                }
            }
            for b in (0..self.f.blocks.len()).map(Block::new) {
                self.f.each_edge(b, &mut |edge, to| {
                    for (p, a) in self.f.block(to.block).params.iter().skip(edge.skip()).zip(&to.args) {
                        if out.contains(a) {
                            changed |= out.insert(*p);
                        }
                    }
                });
            }
        }
        out
    }

    fn leads(&self, v: Value) -> BTreeSet<usize> {
        self.flow.of_value(v).map(|k| self.named(*k)).collect()
    }

    /// The number of a place: a global has one that is the same in all functions.
    fn named(&self, k: usize) -> usize {
        k.checked_sub(self.places.len()).map_or(k, |g| self.globals[g].1)
    }

    /// The same in all iterations, and at all times.
    fn is_fixed(&self, v: Value, depth: u32) -> bool {
        if self.varying.contains(&v) {
            return false;
        }
        if self.f.block(Block(0)).params.contains(&v) {
            return true;
        }
        self.defs.get(&v).is_some_and(|n| {
            let repeats = matches!(n.op, Op::Const(_) | Op::Member(_) | Op::Cast | Op::Narrow(_))
                || matches!(n.op, Op::Apply(op) if op.effect == Effect::Pure
                    || asks_for_its_shape(op) && self.ty(n.args[0]).as_array().is_some());
            depth > 0 && repeats && n.args.iter().all(|a| self.is_fixed(*a, depth - 1))
        })
    }

    fn sum(&self, v: Value, depth: u32) -> Option<Sum> {
        if Some(v) == self.variable {
            return Some(Sum { iteration: 1, ..Sum::default() });
        }
        let node = self.defs.get(&v).filter(|_| depth > 0);
        if let Some(Op::Const(Const::Int(n))) = node.map(|n| &n.op) {
            return Some(Sum { constant: *n, ..Sum::default() });
        }
        if let Some(of) = self.renamed(v).filter(|_| depth > 0) {
            return self.sum(of, depth - 1);
        }
        if let Some((Op::Apply(op), [a, b, ..])) = node.map(|n| (&n.op, &n.args[..]))
            && (op.is(id::ADD) || op.is(id::SUB))
        {
            let sign = if op.is(id::SUB) { -1 } else { 1 };
            return self.sum(*a, depth - 1)?.plus(&self.sum(*b, depth - 1)?, sign);
        }
        if let Some((Op::Apply(op), [a, b, ..])) = node.map(|n| (&n.op, &n.args[..]))
            && op.is(id::MUL)
            && let Some((factor, of)) =
                self.integer(*a).map(|k| (k, *b)).or_else(|| self.integer(*b).map(|k| (k, *a)))
        {
            return Sum::default().plus(&self.sum(of, depth - 1)?, factor);
        }
        if let Some((Op::Apply(op), [a])) = node.map(|n| (&n.op, &n.args[..]))
            && op.is(id::NEG)
        {
            return Sum::default().plus(&self.sum(*a, depth - 1)?, -1);
        }
        (self.ty(v).is_int() && self.is_fixed(v, DEPTH))
            .then(|| Sum { terms: vec![(self.first_of(v), 1)], ..Sum::default() })
    }

    /// The first one of values that are fixed and the same.
    fn first_of(&self, v: Value) -> Value {
        let mut all = self.fixed.borrow_mut();
        if let Some(w) = all.iter().find(|w| self.same(**w, v, DEPTH)) {
            return *w;
        }
        all.push(v);
        v
    }

    fn integer(&self, v: Value) -> Option<i64> {
        if let Some(Op::Const(Const::Int(n))) = self.defs.get(&v).map(|n| &n.op) { Some(*n) } else { None }
    }

    /// What lies between brackets; none where that is no number or slice of step 1.
    fn items(&self, index: Value) -> Option<Vec<Part>> {
        let node = self.defs.get(&index);
        if let Some(Op::Const(Const::Tuple(m))) = node.map(|n| &n.op) {
            let at = |n: i64| Part::At((n >= 0).then(|| Sum { constant: n, ..Sum::default() }));
            return m.iter().map(|c| if let Const::Int(n) = c { Some(at(*n)) } else { None }).collect();
        }
        let builds = |n: &&&InstNode| matches!(n.op, Op::Apply(op) if op.is(id::TUPLE_BUILD));
        let all = node.filter(builds).map_or_else(|| vec![index], |n| n.args.clone());
        all.into_iter().map(|v| self.item(v)).collect()
    }

    fn item(&self, v: Value) -> Option<Part> {
        // Counted from the end.
        let known = |v: Value| {
            self.sum(v, DEPTH).filter(|s| s.iteration > 0 || !s.terms.is_empty() || s.constant >= 0)
        };
        if self.ty(v).is_int() {
            return Some(Part::At(known(v)));
        }
        let node = self.defs.get(&v)?;
        let is_none = |v: &Value| *self.ty(*v) == Kind::None;
        let is_one = |v: &Value| {
            is_none(v) || matches!(self.defs.get(v).map(|n| &n.op), Some(Op::Const(Const::Int(1))))
        };
        let (Op::Apply(op), [lo, hi, step @ ..]) = (&node.op, &node.args[..]) else { return None };
        if !op.is(id::BUILTINS_SLICE) || !step.iter().all(is_one) {
            return None;
        }
        if is_none(lo) && is_none(hi) {
            return Some(Part::All);
        }
        let lo = if is_none(lo) { Some(Sum::default()) } else { known(*lo) };
        Some(Part::Range(lo, if is_none(hi) { None } else { known(*hi) }))
    }

    fn view(&self, v: Value, depth: u32) -> View {
        let of = || View {
            base: Base::Of(v),
            parts: vec![],
            followed: false,
            varies: self.varying.contains(&v),
            blurred: false,
        };
        let given = self.f.block(Block(0)).params.contains(&v) || self.globals.iter().any(|g| g.0 == v);
        if let Some([k]) = self.flow.exact.get(&v).map(|e| &e[..])
            && is_object(self.ty(v))
        {
            let followed =
                given || depth > 0 && self.renamed(v).is_some_and(|w| self.view(w, depth - 1).followed);
            return View {
                base: Base::Place(self.named(*k)),
                parts: vec![],
                followed,
                varies: false,
                blurred: false,
            };
        }
        let Some(node) = self.defs.get(&v).filter(|_| depth > 0) else {
            return View { followed: given, ..of() };
        };
        if let Some(w) = self.renamed(v) {
            return self.view(w, depth - 1);
        }
        if !matches!(node.op, Op::Apply(op) if op.is(id::GETITEM)) {
            return self.reshaped(v, node, depth).unwrap_or_else(of);
        }
        let view = self.view(node.args[0], depth - 1);
        if view.blurred {
            return view;
        }
        let items = self.items(node.args[1]);
        let numbers = items.as_ref().is_some_and(|i| i.iter().all(|p| matches!(p, Part::At(_))));
        let followed = view.followed && numbers;
        // What is in a list may be there twice.
        match items.filter(|_| self.ty(node.args[0]).as_array().is_some()) {
            Some(items) => View { parts: within(&view.parts, items), followed, ..view },
            None => View { followed, ..of() },
        }
    }

    /// All of a part of an array, for what looks at that part in another way, which is another part in each
    /// iteration: `x[i:i + 1].T`.
    fn reshaped(&self, v: Value, node: &InstNode, depth: u32) -> Option<View> {
        let ty = self.ty(v);
        let looks = matches!(node.op, Op::Apply(op) if op.effect != Effect::Writes)
            && (ty.as_array().is_some() || matches!(ty.kind(), Kind::Iter(_)));
        let of = *node.args.first().filter(|a| looks && self.ty(**a).as_array().is_some())?;
        if !self.varying.contains(&of) || self.leads(v).is_empty() || self.leads(v) != self.leads(of) {
            return None;
        }
        let view = self.view(of, depth - 1);
        matches!(view.base, Base::Place(_)).then_some(View { followed: false, blurred: true, ..view })
    }

    /// The same object under another name.
    fn renamed(&self, v: Value) -> Option<Value> {
        let node = self.defs.get(&v)?;
        let of_a_method = matches!(node.op, Op::Member(0)) && self.ty(node.args[0]).is_bound();
        let renames = of_a_method || matches!(node.op, Op::Narrow(_) | Op::CheckBound { .. } | Op::Cast);
        renames.then(|| node.args[0])
    }

    /// The elements of `v` that an index chooses.
    fn chosen(&self, v: Value, index: Value) -> View {
        let view = self.view(v, DEPTH);
        if view.blurred {
            return view;
        }
        let items = self.items(index).unwrap_or_else(|| vec![Part::Range(None, None)]);
        View { parts: within(&view.parts, items), ..view }
    }

    fn accesses(&self, around: &mut Around<'_, '_>) -> Vec<Access> {
        let mut out = vec![];
        for node in self.nodes() {
            if let Op::Apply(op) = node.op {
                self.applied(op, node, &mut out);
            } else if let Op::CallInstance(callee) = node.op {
                self.called(around, callee, node, &mut out);
            }
        }
        out
    }

    fn push(&self, of: Value, view: View, write: bool, out: &mut Vec<Access>) {
        let leads = self.leads(of);
        if !leads.is_empty() {
            out.push(Access { leads, view, write });
        }
    }

    fn applied(&self, op: &'static OpDef, node: &InstNode, out: &mut Vec<Access>) {
        let leads_on = node.result.is_some_and(|r| !self.leads(r).is_empty());
        let args = &node.args;
        let chooses = op.is(id::GETITEM) && !leads_on || op.is(id::SETITEM);
        if chooses && is_object(self.ty(args[0])) {
            self.push(args[0], self.chosen(args[0], args[1]), op.is(id::SETITEM), out);
        }
        let outs = if let Body::Ufunc(..) = op.body { crate::ops::ufunc::inputs(op) } else { usize::MAX };
        let given = op.spec().params.iter().position(|p| p.name == "out");
        let method = op.effect == Effect::Writes
            && op.paths.iter().any(|p| p.starts_with("array."))
            && !crate::ops::random::draws(op);
        let writes = |k: usize| k >= outs || Some(k) == given || k == 0 && method;
        let is_array = |v: &Value| self.ty(*v).as_array().is_some();
        // What it gives is what it writes to, then, and not what it reads.
        let fills = args.iter().enumerate().any(|(k, v)| writes(k) && is_array(v));
        for (k, v) in args.iter().enumerate() {
            if k == 0 && (chooses || op.is(id::GETITEM) || asks_for_its_shape(op)) {
                continue;
            }
            let write = writes(k);
            if is_array(v) && (fills || !leads_on) {
                self.push(*v, View { followed: false, ..self.view(*v, DEPTH) }, write, out);
            }
        }
    }

    fn called(
        &self,
        around: &mut Around<'_, '_>,
        callee: InstanceId,
        node: &InstNode,
        out: &mut Vec<Access>,
    ) {
        let session = around.session;
        let inst = session.at(callee);
        let far = around.calls.len() > CALLS || around.visited > MOST_CALLS;
        if session.is_library(&inst.func) {
            return self.called_whole(around, callee, node, out);
        }
        // What calls itself does so with parts of its own.
        if around.calls.contains(&callee) || inst.func.is_generator {
            return;
        }
        if far {
            return self.called_whole(around, callee, node, out);
        }
        let Some(typed) = &inst.typed else { return };
        let Some(mut code) = Code::of(around, typed) else { return };
        // The loop that it may begin with is not this one.
        code.variable = None;
        code.varying = code.varying_values();
        around.calls.push(callee);
        around.visited += 1;
        let all = code.accesses(around);
        around.calls.pop();
        let params = &typed.func.block(Block(0)).params;
        for access in all {
            let Base::Place(k) = access.view.base else { continue };
            let given = |s: &Sum| self.translated(s, params, &node.args);
            let items = access.view.parts.iter().map(|p| match p {
                Part::At(s) => Part::At(s.as_ref().and_then(given)),
                Part::Range(lo, hi) => Part::Range(lo.as_ref().and_then(given), hi.as_ref().and_then(given)),
                Part::All => Part::All,
            });
            if k >= GLOBAL {
                let view = View { parts: items.collect(), followed: false, ..access.view };
                out.push(Access { view, ..access });
                continue;
            }
            let argument = code.places[k].argument;
            let Some(v) = node.args.get(argument).filter(|v| is_object(self.ty(**v))) else { continue };
            let view = self.view(*v, DEPTH);
            let parts = if view.blurred { view.parts.clone() } else { within(&view.parts, items.collect()) };
            self.push(*v, View { parts, followed: false, ..view }, access.write, out);
        }
    }

    /// A call of a function that is not looked into: it uses all of what it gets.
    fn called_whole(
        &self,
        around: &mut Around<'_, '_>,
        callee: InstanceId,
        node: &InstNode,
        out: &mut Vec<Access>,
    ) {
        let leads_on = node.result.is_some_and(|r| !self.leads(r).is_empty());
        let written = summary(around.session, callee, &mut around.known).map_or(vec![], |s| s.written);
        for (k, v) in node.args.iter().enumerate() {
            let write = written.contains(&k);
            if self.ty(*v).as_array().is_some() && (write || !written.is_empty() || !leads_on) {
                self.push(*v, View { followed: false, ..self.view(*v, DEPTH) }, write, out);
            }
        }
    }

    /// A sum of a function's parameters, for what these are in a call.
    fn translated(&self, s: &Sum, params: &[Value], args: &[Value]) -> Option<Sum> {
        let mut out = Sum { constant: s.constant, ..Sum::default() };
        for (v, times) in &s.terms {
            let k = params.iter().position(|p| p == v)?;
            out = out.plus(&self.sum(*args.get(k)?, DEPTH)?, *times)?;
        }
        Some(out)
    }

    /// How one iteration may come by where another one has been.
    fn meet(&self, a: &Access, b: &Access, span: Option<&Span<'_>>) -> Option<Meeting> {
        if a.leads.is_disjoint(&b.leads) || a.view.varies || b.view.varies {
            return None;
        }
        let same = match (a.view.base, b.view.base) {
            (Base::Of(v), Base::Of(w)) => self.same(v, w, DEPTH),
            (x, y) => x == y,
        };
        let width = a.view.parts.len().max(b.view.parts.len());
        let relations: Vec<Relation> = (0..width)
            .map(|d| {
                let part = |v: &View| v.parts.get(d).cloned().unwrap_or(Part::All);
                relation(&part(&a.view), &part(&b.view), self.step, span)
            })
            .collect();
        let apart = relations.contains(&Relation::Apart);
        if !same && let (Some(v), Some(w)) = (self.held_by(a.view.base), self.held_by(b.view.base)) {
            return self.meet_inside(v, w, apart);
        }
        if a.view.followed && b.view.followed {
            return None;
        }
        if !same {
            return Some(Meeting::Always);
        }
        let meet = !apart && (!relations.contains(&Relation::Unknown) || matches!(a.view.base, Base::Of(_)));
        meet.then_some(Meeting::Always)
    }

    /// What a list or a dict holds is under two names: whether that is one array shows when the loop begins,
    /// or never. With the same index in all iterations it makes no difference.
    fn meet_inside(&self, v: Value, w: Value, apart: bool) -> Option<Meeting> {
        let rule = if apart { Rule::All } else { Rule::Nothing };
        match (self.flow.exact.get(&v).map(|e| &e[..]), self.flow.exact.get(&w).map(|e| &e[..])) {
            (Some([k]), Some([l]))
                if k == l && self.places.get(*k).is_some_and(|p| arrays_in(p.ty).is_some()) =>
            {
                Some(Meeting::Inside(*k, rule))
            }
            _ => (!apart).then_some(Meeting::Always),
        }
    }

    /// The list or dict that an array was read out of, or a tuple with it.
    fn held_by(&self, base: Base) -> Option<Value> {
        let Base::Of(mut v) = base else { return None };
        for _ in 0..DEPTH {
            let node = self.defs.get(&v)?;
            let reads = matches!(node.op, Op::Apply(op) if op.is(id::GETITEM));
            let from = *node.args.first().filter(|_| reads || matches!(node.op, Op::Member(_)))?;
            let of = self.ty(from);
            if reads && matches!(of.kind(), Kind::List(_) | Kind::Container(..)) {
                return Some(from);
            }
            if of.parts().is_none() {
                return None;
            }
            v = from;
        }
        None
    }

    /// Whether two values are the same view of the same object.
    fn same(&self, v: Value, w: Value, depth: u32) -> bool {
        if v == w {
            return true;
        }
        let (Some(x), Some(y)) = (self.defs.get(&v), self.defs.get(&w)) else { return false };
        let repeats = matches!(x.op, Op::Const(_) | Op::Member(_) | Op::CallInstance(_) | Op::Apply(_));
        depth > 0
            && repeats
            && x.op == y.op
            && x.args.len() == y.args.len()
            && x.args.iter().zip(&y.args).all(|(a, b)| self.same(*a, *b, depth - 1))
    }
}

/// An array, or what has elements as one has.
fn is_object(t: Type) -> bool {
    matches!(t.kind(), Kind::Array(_) | Kind::List(_) | Kind::Container(..) | Kind::Iter(_))
}

/// What indices choose of what others have chosen.
fn within(parts: &[Part], items: Vec<Part>) -> Vec<Part> {
    let mut items = items.into_iter();
    let mut out: Vec<Part> = parts
        .iter()
        .map(|p| match p {
            Part::At(_) => p.clone(),
            Part::All => items.next().unwrap_or(Part::All),
            Part::Range(lo, hi) => {
                let from = |s: &Option<Sum>| lo.clone().zip(s.as_ref()).and_then(|(lo, s)| lo.plus(s, 1));
                match items.next() {
                    None | Some(Part::All) => p.clone(),
                    Some(Part::At(s)) => Part::At(from(&s)),
                    Some(Part::Range(l, None)) => Part::Range(from(&l), hi.clone()),
                    Some(Part::Range(l, h)) => Part::Range(from(&l), from(&h)),
                }
            }
        })
        .collect();
    out.extend(items);
    out
}

/// How two parts of one dimension relate in different iterations.
fn relation(p: &Part, q: &Part, step: Option<i64>, span: Option<&Span<'_>>) -> Relation {
    let extent = |p: &Part| match p {
        Part::At(Some(s)) => Some((s.clone(), 1)),
        Part::Range(Some(lo), Some(hi)) if lo.is_beside(hi) => {
            Some((lo.clone(), hi.constant.checked_sub(lo.constant)?.max(0)))
        }
        Part::At(None) | Part::Range(..) | Part::All => None,
    };
    if *p == Part::All || *q == Part::All {
        return Relation::Meet;
    }
    let (Some((a, m)), Some((b, n))) = (extent(p), extent(q)) else { return Relation::Unknown };
    if !a.is_beside(&b) {
        return if span.is_some_and(|s| s.meets((&a, m), (&b, n))) {
            Relation::Meet
        } else {
            Relation::Unknown
        };
    }
    // They meet where the one is moved by more than `low` and less than `high`.
    let Some(between) = a.constant.checked_sub(b.constant) else { return Relation::Unknown };
    let (low, high) = (between.saturating_sub(n), between.saturating_add(m));
    if a.iteration == 0 {
        return if low < 0 && 0 < high { Relation::Meet } else { Relation::Apart };
    }
    if low == -1 && high == 1 {
        return Relation::Apart;
    }
    let Some(step) = step.and_then(|s| s.checked_mul(a.iteration.checked_abs()?)) else {
        return Relation::Unknown;
    };
    let first = low.div_euclid(step).saturating_add(1).saturating_mul(step);
    let first = if first == 0 { step } else { first };
    if first < high { Relation::Meet } else { Relation::Apart }
}

/// The step of the range that a body goes through, where it is known.
fn step(f: &Func, defs: &Defs<'_>) -> Option<i64> {
    let bounds = f.block(Block(0)).params.get(..2)?;
    let range = defs.values().find(|n| {
        matches!(n.op, Op::Apply(o) if o.is(id::BUILTINS_RANGE)) && n.args.get(..2) == Some(bounds)
    })?;
    let Some(v) = range.args.get(2) else { return Some(1) };
    let Some(Op::Const(Const::Int(n))) = defs.get(v).map(|n| &n.op) else { return None };
    n.checked_abs().filter(|n| *n != 0)
}
