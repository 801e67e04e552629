//! Generators that are driven where they are made, without a frame.
//!
//! ```python
//! for y in (x * x for x in a): s += y         # one loop over `a`
//! ```
//!
//! Once what makes a generator and what resumes it are inlined, its frame is memory that nobody else knows. Where
//! its address goes nowhere but into loads and stores of what it keeps, reference counts and block parameters that
//! hold nothing else, all that is in it are values: [`super::frame_values`] replaces the memory, and
//! [`super::states`] lets each way go straight to where the generator goes on, instead of asking it.
//!
//! What a frame keeps may be the address of another: the frame of a generator that reads another one goes first, and
//! then the address of that one is a value too.
//!
//! A frame has one name at a time, if the instruction that makes it dominates all parameters that hold it: who comes
//! to a use of one has come through that block since the frame was made. How many references there are is a value
//! like what the frame keeps, and it is constant wherever the generator does not escape; the last one to be dropped
//! drops what the frame keeps.

use super::edit::{Defs, for_each_call_mut};
use super::frame_values::{Field, Memory, Names, REFS, constant, promote};
use super::unbox::pending_check;
use super::{dce, fold, polling, refs, simplify_cfg, states, thread};
use crate::layout::FRAME_HEADER;
use crate::lir::cfg::{Analyses, Cfg, Dominators};
use crate::lir::{Alias, Block, BlockCall, Cold, Func, Inst, InstData, Loc, Op, Ty, Value};
use crate::offset;
use crate::ops::generator::{frame_enter, frame_leave, frame_new};
use crate::ops::object::{obj_release, obj_retain};

/// Frames of one function that are looked at.
const MOST_FRAMES: usize = 64;

const HEADER: [i32; 3] = [REFS, offset!(Frame.resume), offset!(Frame.closing)];

/// Why a generator keeps its frame.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Boundary {
    Returned,
    /// A function is given it that is not part of this one.
    Passed(String),
    Stored,
    /// A helper is given it.
    Runtime(&'static str),
    /// Where it is used, it may be another one.
    Several,
    /// Iterations of a parallel loop may share it.
    Shared,
}

/// Frames that are made in a function, with the reasons.
pub(crate) fn boundaries(func: &Func) -> Vec<(Loc, Boundary)> {
    let analyses = Analyses::default();
    let why = |i: Inst| Some((func.insts[i.index()].loc, examined(func, &analyses, i).err()?));
    sites(func, &analyses).into_iter().filter_map(why).collect()
}

/// A frame that nobody else sees.
struct Frame {
    /// The instruction that makes it.
    made: Inst,
    value: Value,
    fields: Vec<Field>,
    /// Where the references lie that it holds.
    refs: Vec<i32>,
    /// All values that are its address; those that may be null instead.
    names: Names,
    /// Somebody asks for the number of references, or it holds some.
    counted: bool,
    /// The branch that asks whether it could be made.
    check: Option<Inst>,
}

pub(crate) fn dissolve_frames(func: &mut Func, analyses: &mut Analyses) {
    let mut budget = states::BUDGET;
    let mut any = false;
    loop {
        let mut found = false;
        // What a frame holds is made before it, so it does not go in the same round.
        for made in sites(func, analyses) {
            if let Ok(frame) = examined(func, analyses, made) {
                dissolve(func, analyses, &frame);
                found = true;
            }
        }
        if !found {
            break;
        }
        // Those that these have held come next: what goes on with one is copied wherever it is dropped, so counts
        // are settled before.
        clean(func, analyses);
        while states::thread_states(func, analyses, &mut budget) {
            clean(func, analyses);
        }
        polling::poll_once(func, analyses);
        renumber(func, analyses);
        any = true;
    }
    if any {
        // What a generator takes a reference to and hands on at once.
        refs::drop_counts(func, analyses);
        clean(func, analyses);
        renumber(func, analyses);
    }
}

fn clean(func: &mut Func, analyses: &mut Analyses) {
    fold::fold(func, analyses);
    forget_nulls(func);
    simplify_cfg::simplify_cfg(func, analyses);
    thread::thread_branches(func, analyses);
    fold::fold(func, analyses);
    simplify_cfg::simplify_cfg(func, analyses);
}

/// Without what is not used any more: each pass takes time for all that a function has ever had.
fn renumber(func: &mut Func, analyses: &mut Analyses) {
    dce::drop_dead_code(func, analyses);
    *func = func.renumbered();
    analyses.invalidate();
}

/// What is emptied is null on most ways: there is nothing to count.
fn forget_nulls(func: &mut Func) {
    let defs = Defs::new(func);
    for b in func.layout.clone() {
        let mut insts = std::mem::take(&mut func.blocks[b.index()].insts);
        insts.retain(|i| {
            let InstData::CallHelper { helper, args } = &func.insts[i.index()].data else { return true };
            let counts = **helper == obj_retain || **helper == obj_release;
            !(counts && defs.constant(func, args[0]) == Some(0))
        });
        func.blocks[b.index()].insts = insts;
    }
}

/// The descriptor of what is kept, if an instruction makes a frame.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction makes a frame")]
fn is_new(func: &Func, i: Inst) -> Option<Value> {
    match &func.insts[i.index()].data {
        InstData::CallHelper { helper, args } if **helper == frame_new => args.get(1).copied(),
        _ => None,
    }
}

/// The instructions that make frames.
fn sites(func: &Func, analyses: &Analyses) -> Vec<Inst> {
    let of = |b: &Block| func.blocks[b.index()].insts.iter().copied().filter(|i| is_new(func, *i).is_some());
    let all: Vec<(Block, Inst)> =
        func.layout.iter().flat_map(|b| of(b).map(|i| (*b, i))).take(MOST_FRAMES).collect();
    if all.is_empty() {
        return vec![];
    }
    let cfg = analyses.cfg(func);
    all.into_iter().filter(|(b, _)| cfg.is_reachable(*b)).map(|(_, i)| i).collect()
}

fn examined(func: &Func, analyses: &Analyses, made: Inst) -> Result<Frame, Boundary> {
    let (cfg, doms, defs) = (analyses.cfg(func), analyses.dominators(func), Defs::new(func));
    let holds = |b: &&Block| func.blocks[b.index()].insts.contains(&made);
    let block = cfg.rpo().iter().find(holds).ok_or(Boundary::Stored)?;
    Frame::examine(func, &defs, cfg, doms, *block, made)
}

impl Frame {
    /// The frame that an instruction makes, if nobody else sees it.
    fn examine(
        func: &Func,
        defs: &Defs,
        cfg: &Cfg,
        doms: &Dominators,
        block: Block,
        made: Inst,
    ) -> Result<Frame, Boundary> {
        let kept = is_new(func, made).and_then(|desc| kept(func, defs, desc));
        let (fields, refs) = kept.ok_or(Boundary::Stored)?;
        let insts = &func.blocks[block.index()].insts;
        let behind = insts.iter().position(|i| *i == made).map_or(&[][..], |at| &insts[at + 1..]);
        let value = func.insts[made.index()].results[0];
        let mut frame = Frame {
            made,
            value,
            counted: !refs.is_empty(),
            fields,
            refs,
            names: Names::new(func),
            check: pending_check(func, behind),
        };
        frame.names.set(value, false);
        let reached = frame.reached(func, cfg);
        frame.find_names(func, &reached);
        let dominated = |b: Block| b != block && doms.dominates(block, b);
        for b in &reached {
            let data = &func.blocks[b.index()];
            if data.params.iter().any(|p| frame.names.has(*p)) && !dominated(*b) {
                return Err(Boundary::Several);
            }
            for i in &data.insts {
                frame.objection(func, defs, *i).map_or(Ok(()), Err)?;
            }
        }
        frame.counted |= reached.iter().flat_map(|b| &func.blocks[b.index()].insts).any(|i| {
            matches!(&func.insts[i.index()].data, InstData::Load { addr, offset: REFS, .. } if frame.names.has(*addr))
        });
        frame.find_nulls(func, defs, &reached).ok_or(Boundary::Several)?;
        Ok(frame)
    }

    /// Blocks that can be reached, as the frame can be made.
    fn reached(&self, func: &Func, cfg: &Cfg) -> Vec<Block> {
        let Some(check) = self.check else { return cfg.rpo().to_vec() };
        let mut seen = vec![false; func.blocks.len()];
        let mut work = vec![func.entry()];
        while let Some(b) = work.pop() {
            if std::mem::replace(&mut seen[b.index()], true) {
                continue;
            }
            match func.terminator(b) {
                Some(t) if t == check => {
                    if let InstData::Brif { else_to, .. } = &func.insts[t.index()].data {
                        work.push(else_to.block);
                    }
                }
                Some(t) => func.insts[t.index()].data.for_each_successor(|to| work.push(to)),
                None => {}
            }
        }
        cfg.rpo().iter().copied().filter(|b| seen[b.index()]).collect()
    }

    /// Calls `f` with each argument of an edge that is taken, and the parameter.
    fn each_argument(&self, func: &Func, reached: &[Block], mut f: impl FnMut(Value, Value)) {
        for b in reached {
            let Some(t) = func.terminator(*b) else { continue };
            let mut pairs = |to: Block, args: &[Value]| {
                for (a, p) in args.iter().zip(&func.blocks[to.index()].params) {
                    f(*a, *p);
                }
            };
            let data = &func.insts[t.index()].data;
            if Some(t) == self.check
                && let InstData::Brif { else_to, .. } = data
            {
                pairs(else_to.block, &else_to.args);
            } else {
                data.for_each_target(pairs);
            }
        }
    }

    /// Parameters that the address goes into.
    fn find_names(&mut self, func: &Func, reached: &[Block]) {
        loop {
            let mut more = vec![];
            self.each_argument(func, reached, |a, p| {
                if self.names.has(a) && !self.names.has(p) {
                    more.push(p);
                }
            });
            if more.is_empty() {
                return;
            }
            more.into_iter().for_each(|p| self.names.set(p, false));
        }
    }

    /// Which names may be null instead; nothing if one may be another object.
    fn find_nulls(&mut self, func: &Func, defs: &Defs, reached: &[Block]) -> Option<()> {
        let mut other = false;
        loop {
            let mut more = vec![];
            self.each_argument(func, reached, |a, p| {
                let Some(false) = self.names.get(p) else { return };
                match self.names.get(a) {
                    Some(false) => {}
                    Some(true) => more.push(p),
                    None if defs.constant(func, a) == Some(0) => more.push(p),
                    None => other = true,
                }
            });
            if other {
                return None;
            }
            if more.is_empty() {
                return Some(());
            }
            more.into_iter().for_each(|p| self.names.set(p, true));
        }
    }

    /// What an instruction does with the frame that values cannot.
    fn objection(&self, func: &Func, defs: &Defs, i: Inst) -> Option<Boundary> {
        let is_name = |v: &Value| self.names.has(*v);
        let has = |offset: i32, ty: Ty| {
            self.fields.contains(&(offset, ty)) || (ty == Ty::I64 && HEADER.contains(&offset))
        };
        let data = &func.insts[i.index()].data;
        let (fine, why) = match data {
            InstData::Load { addr, ty, offset, .. } => {
                (!is_name(addr) || has(*offset, *ty), Boundary::Stored)
            }
            InstData::Store { value, alias: Alias::Stack, .. } if is_name(value) => {
                (false, Boundary::Returned)
            }
            InstData::Store { value, addr, offset, .. } => {
                let known = *offset != REFS && has(*offset, func.value_type(*value));
                (!is_name(value) && (!is_name(addr) || known), Boundary::Stored)
            }
            InstData::CallHelper { helper, args } => {
                let counts = **helper == obj_retain || **helper == obj_release;
                let shared = **helper == frame_enter || **helper == frame_leave;
                let why = if shared { Boundary::Shared } else { Boundary::Runtime(helper.name) };
                (counts || !args.iter().any(is_name), why)
            }
            InstData::Op { op, args, .. } => {
                let asks_null = matches!(op, Op::IcmpEq | Op::IcmpNe)
                    && args.iter().all(|a| is_name(a) || defs.constant(func, *a) == Some(0));
                (asks_null || !args.iter().any(is_name), Boundary::Several)
            }
            InstData::Call { func: f, args } => {
                (!args.iter().any(is_name), Boundary::Passed(func.funcs[f.index()].name.clone()))
            }
            InstData::Return(args) => (!args.iter().any(is_name), Boundary::Returned),
            InstData::Brif { cond, .. } => (!is_name(cond), Boundary::Several),
            // Arguments of targets are looked at by themselves.
            InstData::Jump(_) => return None,
            InstData::Const { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::CallIndirect { .. }
            | InstData::Grid { .. }
            | InstData::Switch { .. }
            | InstData::Unreachable => {
                let mut used = false;
                data.for_each_use(|v| used |= is_name(&v));
                (!used, Boundary::Stored)
            }
        };
        (!fine).then_some(why)
    }
}

/// What is kept under a descriptor, with the places of references.
fn kept(func: &Func, defs: &Defs, desc: Value) -> Option<(Vec<Field>, Vec<i32>)> {
    let InstData::SymbolAddr { symbol } = defs.data(func, desc)? else { return None };
    // Its name says all that there is: "type 24:8 ref@0 ptr@8 i64@16 8c1@0", arrays last.
    let name = func.symbols[symbol.index()].name.strip_prefix("type ")?;
    let leaves = name.split(' ').skip(1).take_while(|l| !l.starts_with(|c: char| c.is_ascii_digit()));
    let (mut fields, mut refs) = (vec![], vec![]);
    for leaf in leaves {
        let (ty, offset) = leaf.split_once('@')?;
        let at = FRAME_HEADER + offset.parse::<i32>().ok()?;
        if ty == "ref" {
            refs.push(at);
            fields.push((at, Ty::Ptr));
        } else {
            fields.push((at, Ty::parse(ty)?));
        }
    }
    Some((fields, refs))
}

/// Replaces a frame by values.
fn dissolve(func: &mut Func, analyses: &mut Analyses, frame: &Frame) {
    // It can be made, so what happens otherwise cannot be reached.
    if let Some(check) = frame.check
        && let InstData::Brif { else_to, .. } = func.insts[check.index()].data.clone()
    {
        func.insts[check.index()].data = InstData::Jump(else_to);
    }
    let mut layout = vec![];
    for b in std::mem::take(&mut func.layout) {
        layout.push(b);
        Counting { func, frame, at: b, layout: &mut layout }.rewrite(b);
    }
    func.layout = layout;
    analyses.invalidate();
    let Frame { made, fields, names, .. } = frame;
    promote(func, analyses, &Memory { made: *made, fields, names });
    forget_names(func, frame);
    analyses.invalidate();
}

/// What was the address says only whether there is a frame.
fn forget_names(func: &mut Func, frame: &Frame) {
    let entry = func.entry();
    let there = constant(func, entry, Ty::Ptr, 1);
    for b in func.layout.clone() {
        let Some(t) = func.terminator(b) else { continue };
        for_each_call_mut(&mut func.insts[t.index()].data, |to| {
            to.args.iter_mut().filter(|a| frame.names.get(**a) == Some(false)).for_each(|a| *a = there);
        });
    }
}

/// Writes out what a block does with the references to a frame.
struct Counting<'a> {
    func: &'a mut Func,
    frame: &'a Frame,
    /// Where instructions go now.
    at: Block,
    layout: &'a mut Vec<Block>,
}

impl Counting<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other instruction stays")]
    fn rewrite(&mut self, b: Block) {
        let names = &self.frame.names;
        let touches = |func: &Func, i: &Inst| {
            let mut any = false;
            func.insts[i.index()].data.for_each_use(|v| any |= names.has(v));
            any
        };
        if !self.func.blocks[b.index()].insts.iter().any(|i| touches(self.func, i)) {
            return;
        }
        for i in std::mem::take(&mut self.func.blocks[b.index()].insts) {
            match self.func.insts[i.index()].data.clone() {
                InstData::CallHelper { helper, args } if args.first().is_some_and(|a| names.has(*a)) => {
                    let loc = self.func.insts[i.index()].loc;
                    // Where the frame may be null, a block asks first.
                    let on = (self.frame.counted && names.get(args[0]) == Some(true))
                        .then(|| self.ask(args[0], loc));
                    if self.frame.counted {
                        self.count(*helper == obj_retain, loc);
                    }
                    if let Some(on) = on {
                        self.put(InstData::Jump(BlockCall { block: on, args: vec![] }), loc);
                        self.go_on(on);
                    }
                }
                InstData::Op { op, args, .. } if args.iter().any(|a| names.get(*a) == Some(false)) => {
                    let all = args.iter().all(|a| names.has(*a));
                    let bits = u64::from(all == (op == Op::IcmpEq));
                    self.func.insts[i.index()].data = InstData::Const { ty: Ty::I8, bits };
                    self.func.blocks[self.at.index()].insts.push(i);
                }
                _ => self.func.blocks[self.at.index()].insts.push(i),
            }
        }
    }

    fn put(&mut self, data: InstData, loc: Loc) -> Option<Value> {
        let i = self.func.make_inst(data, loc);
        self.func.blocks[self.at.index()].insts.push(i);
        self.func.insts[i.index()].results.first().copied()
    }

    fn new_block(&mut self) -> Block {
        let old = self.func.blocks[self.at.index()].clone();
        self.func.make_block_like(&crate::lir::func::BlockData { short: false, ..old })
    }

    fn go_on(&mut self, b: Block) {
        self.layout.push(b);
        self.at = b;
    }

    /// Goes on in a block where there is a frame; gives the one behind it.
    fn ask(&mut self, name: Value, loc: Loc) -> Block {
        let (there, on) = (self.new_block(), self.new_block());
        let null = constant(self.func, self.at, Ty::Ptr, 0);
        let cond = self.put(InstData::Op { op: Op::IcmpNe, ty: Ty::Ptr, args: vec![name, null] }, loc);
        self.branch(cond, there, on, loc);
        self.go_on(there);
        on
    }

    fn branch(&mut self, cond: Option<Value>, then_to: Block, else_to: Block, loc: Loc) {
        let to = |block| BlockCall { block, args: vec![] };
        if let Some(cond) = cond {
            let (then_to, else_to) = (to(then_to), to(else_to));
            self.put(InstData::Brif { cond, then_to, else_to, cold: Cold::Neither }, loc);
        }
    }

    /// One reference more, or less: the last one drops what the frame holds.
    fn count(&mut self, more: bool, loc: Loc) {
        let addr = self.frame.value;
        let load = |ty, offset| InstData::Load { ty, addr, offset, alias: Alias::Frame };
        let one = self.put(InstData::Const { ty: Ty::I64, bits: 1 }, loc);
        let now = self.put(load(Ty::I64, REFS), loc);
        let op = if more { Op::Iadd } else { Op::Isub };
        let args = now.into_iter().chain(one).collect();
        let Some(next) = self.put(InstData::Op { op, ty: Ty::I64, args }, loc) else { return };
        self.put(InstData::Store { value: next, addr, offset: REFS, alias: Alias::Frame }, loc);
        if more {
            return;
        }
        let zero = self.put(InstData::Const { ty: Ty::I64, bits: 0 }, loc);
        let args = [next].into_iter().chain(zero).collect();
        let last = self.put(InstData::Op { op: Op::IcmpEq, ty: Ty::I64, args }, loc);
        let (drop, on) = (self.new_block(), self.new_block());
        self.branch(last, drop, on, loc);
        self.go_on(drop);
        for at in &self.frame.refs {
            let held = self.put(load(Ty::Ptr, *at), loc);
            let helper = &obj_release;
            self.put(InstData::CallHelper { helper, args: held.into_iter().collect() }, loc);
        }
        self.put(InstData::Jump(BlockCall { block: on, args: vec![] }), loc);
        self.go_on(on);
    }
}
