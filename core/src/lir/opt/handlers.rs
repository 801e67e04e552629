//! Exceptions that are raised and caught in one function, and that nobody looks at.
//!
//! ```python
//! for x in a:
//!     try:
//!         s += checked(x)         # inlined: `raise ValueError(x)` on one of its ways
//!     except ValueError:
//!         bad += 1
//! ```
//!
//! An exception is a call of one of [`maker`]'s helpers. [`decide`] answers which handler is for it, and gives ways
//! with different answers blocks of their own. Together with its address as an integer, which is how calls return
//! it, and the block parameters that hold nothing but such exceptions it is a web. [`forget`] drops webs that are
//! only filled, counted and handled, and with them what is being handled, if nothing asks for that until the
//! handler ends: neither another exception, which would have it as its context, nor a call.

use super::edit::{Defs, FastMap, for_each_call_mut, remove_unreachable};
use super::fold::fold;
use super::region::{copy_blocks, merge_definitions, split_switch_edges};
use super::simplify_cfg::simplify_cfg;
use crate::exc::Class;
use crate::lir::cfg::{Analyses, Cfg};
use crate::lir::{Alias, Block, Func, Inst, InstData, Op, Ty, Value};
use crate::ops::object::{obj_release, obj_retain};
use crate::ops::raising::{
    exc_add_arg, exc_add_site, exc_format, exc_got, exc_index, exc_matches, exc_matches_host, exc_new,
    exc_new_host, exc_pop_handled, exc_push_handled, exc_set_context,
};
use crate::rt::{Effect, Raises, RtFn};
use crate::types::class::{ClassDef, ClassId};
use std::collections::HashSet;

/// Kinds of arguments that an exception copies, or takes a reference to that it drops again: None to str, tuples
/// and lists, and numbers of other sizes (see `exc_add_arg`).
const COPIED: &[u64] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13];

/// Times that handlers are split, each for one more `except` of a statement.
const MAX_ROUNDS: usize = 8;
/// Instructions of a block that is worth copying.
const MAX_COPY: usize = 24;

/// Answers which handler is for an exception where that is known on every way there, once each way with another
/// answer has a block of its own.
pub(crate) fn decide(func: &mut Func, analyses: &mut Analyses) {
    if !calls(func, &exc_push_handled) {
        return;
    }
    for _ in 0..MAX_ROUNDS {
        let split = split_by_answer(func, analyses);
        let answers = Sources::new(func, analyses.cfg(func)).answers();
        if answers.is_empty() && !split {
            return;
        }
        for (i, answer) in answers {
            func.insts[i.index()].data = InstData::Const { ty: Ty::I8, bits: answer.into() };
        }
        fold(func, analyses);
        simplify_cfg(func, analyses);
    }
}

/// Copies blocks that ask for the class of what they are passed, one for each answer that an edge leads to.
/// Whether there were any.
fn split_by_answer(func: &mut Func, analyses: &mut Analyses) -> bool {
    let plans = Sources::new(func, analyses.cfg(func)).splits();
    let headers: HashSet<Block> = analyses.loops(func).all.iter().map(|l| l.header).collect();
    let plans: Vec<Split> = plans.into_iter().filter(|s| !headers.contains(&s.block)).collect();
    if plans.is_empty() {
        return false;
    }
    split_switch_edges(func, analyses);
    let mut copies = vec![];
    for plan in plans {
        let mut answers: Vec<Option<bool>> = plan.answers.iter().map(|a| a.1).collect();
        answers.sort_unstable();
        answers.dedup();
        for answer in &answers[1..] {
            let copied = copy_blocks(func, &[plan.block]);
            let copy = copied.blocks[&plan.block];
            for b in func.layout.clone() {
                let Some(t) = func.terminator(b) else { continue };
                for_each_call_mut(&mut func.insts[t.index()].data, |to| {
                    if to.block == plan.block && plan.answers.contains(&(to.args[plan.place], *answer)) {
                        to.block = copy;
                    }
                });
            }
            copies.push(copied);
        }
    }
    analyses.invalidate();
    merge_definitions(func, analyses, &copies);
    true
}

/// A block that gets an exception as a parameter and asks for its class: what each edge passes, and the answer.
struct Split {
    block: Block,
    place: usize,
    answers: Vec<(Value, Option<bool>)>,
}

/// Where exceptions come from.
struct Sources<'a> {
    func: &'a Func,
    cfg: &'a Cfg,
    defs: Defs,
    /// What goes into each parameter.
    incoming: FastMap<Value, Vec<Value>>,
}

impl<'a> Sources<'a> {
    fn new(func: &'a Func, cfg: &'a Cfg) -> Sources<'a> {
        let mut incoming: FastMap<Value, Vec<Value>> = FastMap::default();
        for b in cfg.rpo() {
            let Some(t) = func.terminator(*b) else { continue };
            func.insts[t.index()].data.for_each_target(|to, args| {
                for (p, a) in func.blocks[to.index()].params.iter().zip(args) {
                    incoming.entry(*p).or_default().push(*a);
                }
            });
        }
        Sources { func, cfg, defs: Defs::new(func), incoming }
    }

    /// The question that an instruction is: the exception, the helper and the class.
    fn question(&self, i: Inst) -> Option<(Value, &'static RtFn, u64)> {
        let (helper, args) = call(self.func, i)?;
        let asks = *helper == exc_matches || *helper == exc_matches_host;
        asks.then(|| Some((args[0], helper, self.defs.constant(self.func, args[1])?)))?
    }

    fn answers(&self) -> Vec<(Inst, bool)> {
        insts(self.func, self.cfg)
            .filter_map(|i| {
                let (exc, helper, class) = self.question(i)?;
                Some((i, self.answer(exc, helper, class)?))
            })
            .collect()
    }

    fn splits(&self) -> Vec<Split> {
        let mut all = vec![];
        for b in self.cfg.rpo() {
            let block = &self.func.blocks[b.index()];
            let Some(i) = block.insts.iter().find(|i| self.question(**i).is_some()) else { continue };
            let Some((mut exc, helper, class)) = self.question(*i) else { continue };
            while let Some(from) = self.defs.inst(exc).and_then(|i| renamed(self.func, i)) {
                exc = from.0;
            }
            let Some(place) = block.params.iter().position(|p| *p == exc) else { continue };
            let Some(incoming) = self.incoming.get(&exc) else { continue };
            let mut answers: Vec<_> = incoming.iter().map(|a| (*a, self.answer(*a, helper, class))).collect();
            answers.sort_unstable();
            answers.dedup();
            if block.insts.len() <= MAX_COPY && answers.iter().any(|a| a.1 != answers[0].1) {
                all.push(Split { block: *b, place, answers });
            }
        }
        all
    }

    /// Whether the exceptions that a value may be are of a class, if it is the same for all.
    fn answer(&self, exc: Value, question: &RtFn, class: u64) -> Option<bool> {
        let mut all =
            self.makers(exc)?.into_iter().map(|m| is_caught(self.func, &self.defs, m, question, class));
        let first = all.next()??;
        all.all(|a| a == Some(first)).then_some(first)
    }

    /// What makes the exceptions that a value may be; nothing where it may be others.
    fn makers(&self, exc: Value) -> Option<Vec<Inst>> {
        let (mut makers, mut seen, mut open) = (vec![], HashSet::new(), vec![exc]);
        while let Some(v) = open.pop() {
            if !seen.insert(v) {
                continue;
            }
            match self.defs.inst(v) {
                Some(i) if maker(self.func, &self.defs, i).is_some() => makers.push(i),
                Some(i) => open.push(renamed(self.func, i)?.0),
                None => open.extend(self.incoming.get(&v)?),
            }
        }
        Some(makers)
    }
}

/// Drops exceptions that nobody sees.
pub(crate) fn forget(func: &mut Func, analyses: &mut Analyses) {
    if !calls(func, &exc_push_handled) {
        return;
    }
    remove_unreachable(func, analyses.cfg(func));
    // Once one is gone, nothing asks for what was handled when it was raised.
    while forget_some(func, analyses.cfg(func)) {}
}

fn forget_some(func: &mut Func, cfg: &Cfg) -> bool {
    let defs = Defs::new(func);
    let mut webs = Webs::find(func, cfg, &defs);
    webs.check_uses(func, cfg, &defs);
    let mut gone: HashSet<Inst> = HashSet::new();
    for w in 0..webs.all.len() {
        if webs.all[w].escapes || webs.all[w].makers.is_empty() {
            continue;
        }
        if let Some(pops) = webs.handled(func, cfg, w) {
            gone.extend(pops);
            gone.extend(insts(func, cfg).filter(|i| webs.is_about(func, *i, w)));
            for m in &webs.all[w].makers {
                func.insts[m.index()].data = InstData::Const { ty: Ty::Ptr, bits: 0 };
            }
        }
    }
    for b in func.layout.clone() {
        func.blocks[b.index()].insts.retain(|i| !gone.contains(i));
    }
    !gone.is_empty()
}

fn calls(func: &Func, helper: &RtFn) -> bool {
    let is = |i: &Inst| call(func, *i).is_some_and(|c| *c.0 == *helper);
    func.layout.iter().any(|b| func.blocks[b.index()].insts.iter().any(is))
}

fn call(func: &Func, i: Inst) -> Option<(&'static RtFn, &[Value])> {
    if let InstData::CallHelper { helper, args } = &func.insts[i.index()].data {
        Some((helper, args))
    } else {
        None
    }
}

fn insts<'a>(func: &'a Func, cfg: &'a Cfg) -> impl Iterator<Item = Inst> + 'a {
    cfg.rpo().iter().flat_map(|b| func.blocks[b.index()].insts.iter().copied())
}

/// A value and its name behind an instruction that only takes it for another type.
fn renamed(func: &Func, i: Inst) -> Option<(Value, Value)> {
    let inst = &func.insts[i.index()];
    if let InstData::Op { op: Op::Bitcast, args, .. } = &inst.data {
        Some((args[0], inst.results[0]))
    } else {
        None
    }
}

/// The class of what an instruction makes, if it makes an exception of a known one.
fn maker(func: &Func, defs: &Defs, i: Inst) -> Option<&'static ClassDef> {
    let (helper, args) = call(func, i)?;
    let constant = |k: usize| args.get(k).and_then(|v| defs.constant(func, *v));
    let builtin = |class: Class| ClassId::of_exception(class).def();
    if *helper == exc_new || *helper == exc_format || *helper == exc_got {
        Class::from_number(constant(0)? as i64).map(builtin)
    } else if *helper == exc_index {
        Some(builtin(Class::IndexError))
    } else if *helper == exc_new_host {
        ClassDef::of_state(constant(0)?, constant(1)? as u32)
    } else {
        None
    }
}

/// What the question for a class gives for what `maker` makes: the run-time's own answers.
fn is_caught(func: &Func, defs: &Defs, made: Inst, question: &RtFn, class: u64) -> Option<bool> {
    let of = maker(func, defs, made)?;
    if *question == exc_matches_host {
        return Some(of.is_a_host(class));
    }
    let is_a = |c| of.is_a(ClassId::of_exception(c));
    let class = Class::from_number(class as i64)?;
    Some(is_a(class) && !(class == Class::BaseException && is_a(Class::IntegerOverflow)))
}

/// Exceptions, and parameters that hold nothing else.
#[derive(Default)]
struct Web {
    makers: Vec<Inst>,
    escapes: bool,
}

struct Webs {
    all: Vec<Web>,
    of: FastMap<Value, usize>,
    /// Values that some instruction uses.
    used: HashSet<Value>,
}

impl Webs {
    fn find(func: &Func, cfg: &Cfg, defs: &Defs) -> Webs {
        let mut webs = Webs { all: vec![], of: FastMap::default(), used: HashSet::new() };
        for i in insts(func, cfg).filter(|i| maker(func, defs, *i).is_some()) {
            webs.of.insert(func.insts[i.index()].results[0], webs.all.len());
            webs.all.push(Web { makers: vec![i], escapes: false });
        }
        let mut before = 0;
        while webs.of.len() != before {
            before = webs.of.len();
            for b in cfg.rpo() {
                for i in &func.blocks[b.index()].insts {
                    if let Some((from, to)) = renamed(func, *i)
                        && let Some(w) = webs.web(from)
                    {
                        webs.join(w, to);
                    }
                }
                let Some(t) = func.terminator(*b) else { continue };
                func.insts[t.index()].data.for_each_target(|to, args| {
                    for (a, p) in args.iter().zip(&func.blocks[to.index()].params) {
                        if let Some(w) = webs.web(*a) {
                            webs.join(w, *p);
                        }
                    }
                });
            }
        }
        // A parameter that something else goes into.
        for b in cfg.rpo() {
            let Some(t) = func.terminator(*b) else { continue };
            func.insts[t.index()].data.for_each_target(|to, args| {
                for (a, p) in args.iter().zip(&func.blocks[to.index()].params) {
                    if let Some(w) = webs.web(*p) {
                        webs.all[w].escapes |= webs.web(*a) != Some(w);
                    }
                }
            });
        }
        webs
    }

    fn web(&self, v: Value) -> Option<usize> {
        self.of.get(&v).copied()
    }

    fn join(&mut self, web: usize, p: Value) {
        match self.web(p) {
            None => {
                self.of.insert(p, web);
            }
            Some(other) if other != web => {
                let gone = std::mem::take(&mut self.all[other]);
                self.all[web].makers.extend(gone.makers);
                self.all[web].escapes |= gone.escapes;
                self.of.values_mut().filter(|w| **w == other).for_each(|w| *w = web);
            }
            Some(_) => {}
        }
    }

    /// Finds out which webs are seen by more than what [`forget`] drops.
    fn check_uses(&mut self, func: &Func, cfg: &Cfg, defs: &Defs) {
        for i in insts(func, cfg) {
            func.insts[i.index()].data.for_each_use(|v| {
                self.used.insert(v);
            });
        }
        for i in insts(func, cfg) {
            let inst = &func.insts[i.index()];
            let mut escape = |v: Value| {
                if let Some(w) = self.of.get(&v) {
                    self.all[*w].escapes = true;
                }
            };
            match &inst.data {
                InstData::CallHelper { helper, args } => {
                    let about = object_of(helper, args);
                    let copies = **helper != exc_add_arg
                        || args
                            .get(1)
                            .and_then(|k| defs.constant(func, *k))
                            .is_some_and(|k| COPIED.contains(&k));
                    args.iter().filter(|a| Some(**a) != about || !copies).for_each(|a| escape(*a));
                    if **helper == exc_set_context && args[0] == args[1] {
                        escape(args[0]);
                    }
                }
                // Arguments of targets are parameters of the web.
                InstData::Jump(_) | InstData::Switch { .. } => {}
                InstData::Brif { cond, .. } => escape(*cond),
                InstData::Op { .. } if renamed(func, i).is_some() => {}
                InstData::Op { .. } if inst.results.iter().all(|r| !self.used.contains(r)) => {}
                InstData::Const { .. }
                | InstData::Op { .. }
                | InstData::Load { .. }
                | InstData::Store { .. }
                | InstData::StackAddr { .. }
                | InstData::SymbolAddr { .. }
                | InstData::Call { .. }
                | InstData::CallIndirect { .. }
                | InstData::Grid { .. }
                | InstData::Return(_)
                | InstData::Unreachable => inst.data.for_each_use(escape),
            }
        }
    }

    /// Whether an instruction does nothing but fill, count or handle exceptions of a web.
    fn is_about(&self, func: &Func, i: Inst, web: usize) -> bool {
        call(func, i).and_then(|(h, args)| object_of(h, args)).and_then(|v| self.web(v)) == Some(web)
    }

    /// The ends of the handlers that a web's exceptions are handled in; nothing where something on the way there
    /// may ask what is being handled, or where another way leads there.
    fn handled(&self, func: &Func, cfg: &Cfg, web: usize) -> Option<HashSet<Inst>> {
        let (mut pops, mut open) = (HashSet::new(), vec![]);
        // Blocks at whose beginning, and at whose end, one of them is being handled.
        let (mut entered, mut left): (HashSet<Block>, HashSet<Block>) = Default::default();
        for b in cfg.rpo() {
            for (k, i) in func.blocks[b.index()].insts.iter().enumerate() {
                if call(func, *i).is_some_and(|(h, a)| *h == exc_push_handled && self.web(a[1]) == Some(web))
                {
                    open.push((*b, k + 1));
                }
            }
        }
        while let Some((b, first)) = open.pop() {
            let mut ended = false;
            for i in &func.blocks[b.index()].insts[first..] {
                if call(func, *i).is_some_and(|c| *c.0 == exc_pop_handled) {
                    pops.insert(*i);
                    ended = true;
                    break;
                }
                if !self.is_quiet(func, *i, web) {
                    return None;
                }
            }
            if !ended {
                left.insert(b);
                let t = func.terminator(b)?;
                func.insts[t.index()].data.for_each_successor(|to| {
                    if entered.insert(to) {
                        open.push((to, 0));
                    }
                });
            }
        }
        entered.iter().all(|b| cfg.preds(*b).iter().all(|p| left.contains(p))).then_some(pops)
    }

    /// Whether an instruction neither asks what is being handled, nor changes that, nor leaves the function.
    fn is_quiet(&self, func: &Func, i: Inst, web: usize) -> bool {
        let inst = &func.insts[i.index()];
        match &inst.data {
            InstData::CallHelper { helper, .. } => {
                **helper != exc_push_handled
                    && (**helper == obj_retain
                        || helper.effect == Effect::Pure && helper.raises == Raises::Never
                        || self.is_about(func, i, web))
            }
            InstData::Load { alias: Alias::Ctx, .. } => inst.results.iter().all(|r| !self.used.contains(r)),
            InstData::Load { alias, .. } | InstData::Store { alias, .. } => {
                !matches!(alias, Alias::Ctx | Alias::Volatile)
            }
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. } => true,
            InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Grid { .. }
            | InstData::Return(_)
            | InstData::Unreachable => false,
        }
    }
}

/// The exception that a helper fills, counts or handles, and does nothing else with.
fn object_of(helper: &RtFn, args: &[Value]) -> Option<Value> {
    if *helper == exc_push_handled {
        Some(args[1])
    } else if [&exc_add_arg, &exc_add_site, &exc_set_context, &obj_retain, &obj_release].contains(&helper) {
        Some(args[0])
    } else {
        None
    }
}
