//! Objects that nobody else sees, as their fields.
//!
//! ```python
//! for i in range(n): p = p + v.scale(0.5)       # two objects in a turn, which are gone after the next
//! ```
//!
//! An object is a call of `instance_new`. Where its address goes nowhere but into loads and stores of its fields,
//! reference counts and block parameters that hold nothing but such objects, its fields are values: each block
//! that it reaches gets a parameter for each of them, of which the passes behind this one keep what is needed.
//!
//! A block parameter has the fields of the object that goes into it as they are then. That is all there is to it
//! where no object is stored to after it went into one; where parameters are stored to, each object must have one
//! name at a time: it is not used any more once it went into a parameter. Objects whose fields are references stay:
//! who drops the last count drops those.

use super::edit::{Defs, FastMap, Subst, for_each_call_mut, remove_unreachable};
use crate::layout::INSTANCE_HEADER;
use crate::lir::cfg::{Analyses, Cfg, Dominators};
use crate::lir::{Block, Func, Inst, InstData, Op, Ty, Value};
use crate::ops::fields::instance_new;
use crate::ops::object::{obj_release, obj_retain};
use std::collections::HashSet;

/// Parameters that blocks get for objects of one function.
const MOST_PARAMS: usize = 4000;

pub(crate) fn unbox_objects(func: &mut Func, analyses: &mut Analyses) {
    if !func.layout.iter().any(|b| func.blocks[b.index()].insts.iter().any(|i| is_new(func, *i).is_some())) {
        return;
    }
    remove_unreachable(func, analyses.cfg(func));
    let webs = {
        let (cfg, doms) = (analyses.cfg(func), analyses.dominators(func));
        let mut webs = Webs::find(func, cfg);
        webs.check(func, cfg);
        webs.all.retain(|w| w.is_sound());
        let room = MOST_PARAMS / func.layout.len().max(1);
        webs.all.retain(|w| (w.objects.len() + w.params.len()) * w.fields.len() <= room);
        webs.all.into_iter().filter_map(|w| Plan::new(func, cfg, doms, w)).collect::<Vec<_>>()
    };
    if webs.is_empty() {
        return;
    }
    for plan in webs {
        plan.carry_out(func);
    }
    // Nobody asks any more whether objects could be made.
    analyses.invalidate();
}

/// The descriptor of the fields, if an instruction makes an object.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction makes an object")]
fn is_new(func: &Func, i: Inst) -> Option<Value> {
    match &func.insts[i.index()].data {
        InstData::CallHelper { helper, args } if **helper == instance_new => args.get(1).copied(),
        _ => None,
    }
}

/// One field: where it lies in the object, and its type.
type Field = (i32, Ty);

/// An object of a function: made by an instruction, or taken over by a parameter of a block.
#[derive(Clone, Copy)]
struct Object {
    made: Option<Inst>,
    block: Block,
    value: Value,
}

/// Objects and block parameters that hold nothing else.
struct Web {
    objects: Vec<Object>,
    params: Vec<(Block, Value)>,
    fields: Vec<Field>,
    escapes: bool,
    /// Parameters are stored to.
    moves: bool,
}

impl Web {
    fn is_sound(&self) -> bool {
        !self.escapes && !self.objects.is_empty()
    }
}

/// All webs, by the values in them.
struct Webs {
    all: Vec<Web>,
    of: FastMap<Value, usize>,
}

impl Webs {
    /// Groups objects with the block parameters that they flow into.
    fn find(func: &Func, cfg: &Cfg) -> Webs {
        let defs = Defs::new(func);
        let mut webs = Webs { all: vec![], of: FastMap::default() };
        for b in cfg.rpo() {
            for i in &func.blocks[b.index()].insts {
                let Some(desc) = is_new(func, *i) else { continue };
                let value = func.insts[i.index()].results[0];
                let fields = fields_of(func, &defs, desc);
                webs.of.insert(value, webs.all.len());
                let object = Object { made: Some(*i), block: *b, value };
                let escapes = fields.is_none();
                let fields = fields.unwrap_or_default();
                webs.all.push(Web { objects: vec![object], params: vec![], fields, escapes, moves: false });
            }
        }
        // Until no more parameters are found that an object flows into.
        loop {
            let before = webs.of.len();
            for b in cfg.rpo() {
                let Some(t) = func.terminator(*b) else { continue };
                func.insts[t.index()].data.for_each_target(|to, args| {
                    for (a, p) in args.iter().zip(&func.blocks[to.index()].params) {
                        if let Some(w) = webs.web(*a) {
                            webs.join(w, to, *p);
                        }
                    }
                });
            }
            if webs.of.len() == before {
                return webs;
            }
        }
    }

    fn web(&self, v: Value) -> Option<usize> {
        self.of.get(&v).copied()
    }

    /// A parameter belongs to a web: if it is in one already, they are one.
    fn join(&mut self, web: usize, block: Block, p: Value) {
        match self.web(p) {
            None => {
                self.of.insert(p, web);
                self.all[web].params.push((block, p));
            }
            Some(other) if other != web => {
                let gone = std::mem::replace(
                    &mut self.all[other],
                    Web { objects: vec![], params: vec![], fields: vec![], escapes: true, moves: false },
                );
                for v in gone.objects.iter().map(|o| o.value).chain(gone.params.iter().map(|p| p.1)) {
                    self.of.insert(v, web);
                }
                let kept = &mut self.all[web];
                kept.escapes |= gone.escapes || gone.fields != kept.fields;
                kept.objects.extend(gone.objects);
                kept.params.extend(gone.params);
            }
            Some(_) => {}
        }
    }

    /// Finds out which webs are seen by somebody else.
    fn check(&mut self, func: &Func, cfg: &Cfg) {
        let defs = Defs::new(func);
        let params: HashSet<Value> = self.all.iter().flat_map(|w| w.params.iter().map(|p| p.1)).collect();
        for b in cfg.rpo() {
            for i in &func.blocks[b.index()].insts {
                self.check_uses(func, *i, &params);
            }
            let Some(t) = func.terminator(*b) else { continue };
            func.insts[t.index()].data.for_each_target(|to, args| {
                for (a, p) in args.iter().zip(&func.blocks[to.index()].params) {
                    let Some(w) = self.web(*p) else { continue };
                    // Nothing, where an optional object is none.
                    if self.web(*a) != Some(w) && defs.constant(func, *a) != Some(0) {
                        self.all[w].escapes = true;
                    }
                }
            });
        }
        for w in 0..self.all.len() {
            if !self.all[w].escapes && !self.all[w].params.is_empty() && self.is_used_late(func, w) {
                self.all[w].escapes = true;
            }
        }
    }

    fn check_uses(&mut self, func: &Func, i: Inst, params: &HashSet<Value>) {
        let data = &func.insts[i.index()].data;
        let is_field = |w: &Web, offset: i32, ty: Ty| w.fields.contains(&(offset, ty));
        match data {
            InstData::Load { addr, ty, offset, .. } => {
                if let Some(w) = self.web(*addr) {
                    self.all[w].escapes |= !is_field(&self.all[w], *offset, *ty);
                }
            }
            InstData::Store { value, addr, offset, .. } => {
                let ty = func.value_type(*value);
                if let Some(w) = self.web(*value) {
                    self.all[w].escapes = true;
                }
                if let Some(w) = self.web(*addr) {
                    self.all[w].escapes |= !is_field(&self.all[w], *offset, ty);
                    self.all[w].moves |= params.contains(addr);
                }
            }
            InstData::CallHelper { helper, args } if **helper == obj_retain || **helper == obj_release => {
                debug_assert_eq!(args.len(), 1);
            }
            // Arguments of targets are looked at by themselves.
            InstData::Jump(_) | InstData::Switch { .. } => {}
            InstData::Brif { cond, .. } => self.escape(*cond),
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Return(_)
            | InstData::Unreachable => data.for_each_use(|v| self.escape(v)),
        }
    }

    fn escape(&mut self, v: Value) {
        if let Some(w) = self.web(v) {
            self.all[w].escapes = true;
        }
    }

    /// Whether an object of a web may be used after it went into a parameter, before there is another one under
    /// that name: stored to, or, where parameters are stored to, in any way.
    fn is_used_late(&self, func: &Func, web: usize) -> bool {
        let web = &self.all[web];
        let params =
            web.params.iter().map(|(block, value)| Object { made: None, block: *block, value: *value });
        let all = web.objects.iter().copied().chain(params.filter(|_| web.moves));
        all.into_iter().any(|o| {
            let (mut open, mut seen, mut twice) = (vec![], HashSet::new(), false);
            for b in &func.layout {
                let Some(t) = func.terminator(*b) else { continue };
                func.insts[t.index()].data.for_each_target(|to, args| {
                    let given = args.iter().filter(|a| **a == o.value).count();
                    twice |= web.moves && given > 1;
                    if given > 0 {
                        open.push(to);
                    }
                });
            }
            while let Some(b) = open.pop() {
                // There it is another one.
                if !seen.insert(b) || o.made.is_none() && b == o.block {
                    continue;
                }
                let mut made = false;
                for i in &func.blocks[b.index()].insts {
                    made |= Some(*i) == o.made;
                    if made {
                        break;
                    }
                    if is_use(&func.insts[i.index()].data, o.value, web.moves) {
                        return true;
                    }
                }
                if !made && let Some(t) = func.terminator(b) {
                    func.insts[t.index()].data.for_each_successor(|to| open.push(to));
                }
            }
            twice
        })
    }
}

/// Whether an instruction stores to an object, or does anything with it but counting.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction writes into an object")]
fn is_use(data: &InstData, object: Value, any: bool) -> bool {
    match data {
        InstData::Store { addr, .. } => *addr == object,
        InstData::CallHelper { helper, .. } if **helper == obj_retain || **helper == obj_release => false,
        _ if any => {
            let mut used = false;
            data.for_each_use(|v| used |= v == object);
            used
        }
        _ => false,
    }
}

/// The fields of what is made with a descriptor; none where one is a reference.
fn fields_of(func: &Func, defs: &Defs, desc: Value) -> Option<Vec<Field>> {
    let InstData::SymbolAddr { symbol } = defs.data(func, desc)? else { return None };
    // Its name says all that there is: "type 16:8 f64@0 i64@8".
    let leaves = func.symbols[symbol.index()].name.strip_prefix("type ")?.split(' ').skip(1);
    let field = |leaf: &str| {
        let (ty, offset) = leaf.split_once('@')?;
        Some((INSTANCE_HEADER + offset.parse::<i32>().ok()?, Ty::parse(ty)?))
    };
    leaves.map(field).collect()
}

/// What is to be done for one web.
struct Plan {
    web: Web,
    /// For each object the blocks behind the one where it is made, each with the parameters for its fields.
    reached: Vec<Vec<Block>>,
    /// Where each parameter of the web stands among those of its block.
    places: Vec<usize>,
    order: Vec<Block>,
}

impl Plan {
    fn new(func: &Func, cfg: &Cfg, doms: &Dominators, mut web: Web) -> Option<Plan> {
        if web.moves {
            let params =
                web.params.iter().map(|(block, value)| Object { made: None, block: *block, value: *value });
            web.objects.extend(params);
        }
        let behind = |o: &Object| {
            let mine = |b: &&Block| **b != o.block && doms.dominates(o.block, **b);
            cfg.rpo().iter().filter(mine).copied().collect::<Vec<_>>()
        };
        let reached: Vec<Vec<Block>> = web.objects.iter().map(behind).collect();
        // A switch passes no arguments.
        let switched = |b: &Block| match func.terminator(*b).map(|t| &func.insts[t.index()].data) {
            Some(data @ InstData::Switch { .. }) => data.successors(),
            _ => vec![],
        };
        let switched: HashSet<Block> = cfg.rpo().iter().flat_map(switched).collect();
        if reached.iter().flatten().any(|b| switched.contains(b)) {
            return None;
        }
        let place = |(b, p): &(Block, Value)| func.blocks[b.index()].params.iter().position(|q| q == p);
        let places = web.params.iter().map(place).collect::<Option<Vec<_>>>()?;
        Some(Plan { reached, places, order: cfg.rpo().to_vec(), web })
    }

    fn carry_out(self, func: &mut Func) {
        let web = &self.web;
        // What each field is: of a parameter everywhere, of an object at the beginning of a block.
        let mut of_param: FastMap<Value, Vec<Value>> = FastMap::default();
        for (b, p) in &web.params {
            let fields = add_params(func, *b, &web.fields);
            of_param.insert(*p, fields);
        }
        let mut at_start: Vec<FastMap<Block, Vec<Value>>> = vec![];
        for blocks in &self.reached {
            let each = blocks.iter().map(|b| (*b, add_params(func, *b, &web.fields)));
            at_start.push(each.collect());
        }
        let entry = func.entry();
        let zeros: Vec<Value> = web.fields.iter().map(|(_, ty)| zero(func, entry, *ty)).collect();
        let mut subst = Subst::new(func);
        for b in &self.order {
            self.rewrite_block(func, *b, &of_param, &at_start, &zeros, &mut subst);
        }
        subst.apply(func);
        // Their own parameters are read by nobody any more; what is passed for them is nothing.
        let null = zero(func, entry, Ty::Ptr);
        let members: HashSet<Value> =
            web.objects.iter().map(|o| o.value).chain(web.params.iter().map(|p| p.1)).collect();
        for b in &self.order {
            if let Some(t) = func.terminator(*b) {
                let data = &mut func.insts[t.index()].data;
                for_each_call_mut(data, |to| {
                    to.args.iter_mut().filter(|a| members.contains(a)).for_each(|a| *a = null);
                });
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "any other instruction stays")]
    fn rewrite_block(
        &self,
        func: &mut Func,
        b: Block,
        of_param: &FastMap<Value, Vec<Value>>,
        at_start: &[FastMap<Block, Vec<Value>>],
        zeros: &[Value],
        subst: &mut Subst,
    ) {
        let web = &self.web;
        // What a parameter has taken over begins with its fields.
        let begins = |o: &Object| (o.made.is_none() && o.block == b).then(|| of_param[&o.value].clone());
        let start = web.objects.iter().zip(at_start);
        let mut now: Vec<Option<Vec<Value>>> =
            start.map(|(o, m)| m.get(&b).cloned().or_else(|| begins(o))).collect();
        let object = |v: Value| web.objects.iter().position(|o| o.value == v);
        let place = |offset: i32| web.fields.iter().position(|f| f.0 == offset).unwrap_or(0);
        let mut kept = vec![];
        let mut never_pending = None;
        for i in std::mem::take(&mut func.blocks[b.index()].insts) {
            if let Some(k) = web.objects.iter().position(|o| o.made == Some(i)) {
                now[k] = Some(zeros.to_vec());
                never_pending = Some(kept.len());
                continue;
            }
            match &func.insts[i.index()].data {
                InstData::Load { addr, offset, .. } if let Some(k) = object(*addr) => {
                    let fields = now[k].as_deref().unwrap_or(zeros);
                    subst.set(func.insts[i.index()].results[0], fields[place(*offset)]);
                    continue;
                }
                InstData::Load { addr, offset, .. } if let Some(fields) = of_param.get(addr) => {
                    subst.set(func.insts[i.index()].results[0], fields[place(*offset)]);
                    continue;
                }
                InstData::Store { value, addr, offset, .. } if let Some(k) = object(*addr) => {
                    let at = place(*offset);
                    now[k].get_or_insert_with(|| zeros.to_vec())[at] = *value;
                    continue;
                }
                InstData::CallHelper { helper, args }
                    if (**helper == obj_retain || **helper == obj_release)
                        && (of_param.contains_key(&args[0]) || object(args[0]).is_some()) =>
                {
                    continue;
                }
                _ => kept.push(i),
            }
        }
        if let Some(from) = never_pending {
            without_check(func, &kept, from);
        }
        func.blocks[b.index()].insts = kept;
        self.pass_on(func, b, &now, of_param, at_start, zeros);
    }

    /// Adds the arguments for fields to the edges out of a block.
    fn pass_on(
        &self,
        func: &mut Func,
        b: Block,
        now: &[Option<Vec<Value>>],
        of_param: &FastMap<Value, Vec<Value>>,
        at_start: &[FastMap<Block, Vec<Value>>],
        zeros: &[Value],
    ) {
        let Some(t) = func.terminator(b) else { return };
        let web = &self.web;
        let object = |v: Value| web.objects.iter().position(|o| o.value == v);
        for_each_call_mut(&mut func.insts[t.index()].data, |to| {
            let given = to.args.clone();
            // In the order in which the parameters were added.
            for ((block, _), at) in web.params.iter().zip(&self.places) {
                if *block != to.block {
                    continue;
                }
                let fields = match (object(given[*at]), of_param.get(&given[*at])) {
                    (Some(k), _) => now[k].clone().unwrap_or_else(|| zeros.to_vec()),
                    (None, Some(fields)) => fields.clone(),
                    (None, None) => zeros.to_vec(),
                };
                to.args.extend(fields);
            }
            for (k, blocks) in at_start.iter().enumerate() {
                if blocks.contains_key(&to.block) {
                    to.args.extend(now[k].as_deref().unwrap_or(zeros));
                }
            }
        });
    }
}

fn add_params(func: &mut Func, b: Block, fields: &[Field]) -> Vec<Value> {
    let new: Vec<Value> = fields.iter().map(|(_, ty)| func.make_value(*ty)).collect();
    func.blocks[b.index()].params.extend(&new);
    new
}

/// Zero, made at the beginning of the function.
fn zero(func: &mut Func, entry: Block, ty: Ty) -> Value {
    let i = func.make_inst(InstData::Const { ty, bits: 0 }, crate::lir::Loc(0));
    func.blocks[entry.index()].insts.insert(0, i);
    func.insts[i.index()].results[0]
}

/// The branch that asks whether something is pending, right behind a call of a helper.
pub(super) fn pending_check(func: &Func, insts: &[Inst]) -> Option<Inst> {
    let [load, null @ .., ask, branch] = insts else { return None };
    let is_const = |i: &Inst| matches!(func.insts[i.index()].data, InstData::Const { .. });
    if !null.iter().all(is_const) {
        return None;
    }
    let node = &func.insts[load.index()];
    let InstData::Load { alias: crate::lir::Alias::Ctx, ty: Ty::Ptr, .. } = node.data else { return None };
    let InstData::Op { op: Op::IcmpNe, args, .. } = &func.insts[ask.index()].data else { return None };
    let InstData::Brif { cond, .. } = &func.insts[branch.index()].data else { return None };
    let asks = args[0] == node.results[0] && *cond == func.insts[ask.index()].results[0];
    asks.then_some(*branch)
}

/// Nothing is pending where the object was made: the branch that asked goes on.
fn without_check(func: &mut Func, insts: &[Inst], from: usize) {
    if let Some(branch) = pending_check(func, &insts[from..])
        && let InstData::Brif { else_to, .. } = func.insts[branch.index()].data.clone()
    {
        func.insts[branch.index()].data = InstData::Jump(else_to);
    }
}
