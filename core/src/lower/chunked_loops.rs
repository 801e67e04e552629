//! Loops over arrays as parallel regions: what an emitter writes for a piece of a range becomes a function of
//! its own, which the run-time calls for the pieces (as it does for the bodies of `prange` loops, see
//! [`crate::ssa::opt::parallel`]), or the code around it for a range that is short.
//!
//! The emitter writes into the function that is being lowered, with the values of that function at hand. The
//! blocks are then cut out: constants that they use are made again, other values of the function become
//! arguments. So nothing that writes loops knows where its code will stand.

use super::cx::LowerCx;
use super::inline::user_place;
use super::wrapper::{make_wrapper, wrapper_name};
use crate::diag::Result;
use crate::lir::explain::Place;
use crate::lir::{Block, BlockData, Func, Inst, InstData, InstNode, Loc, Op, Signature, Slot, Ty, Value};
use crate::ops::{self, Body, Divides, Division, Effect, OpDef, Own, id, parallel, random, ufunc};
use crate::ssa::{self, FusedArg, Parts};
use crate::types::{Const, Kind, Layout};
use std::collections::HashMap;

/// What of a function runs in parallel.
#[derive(Default)]
pub struct ChunkedLoops {
    /// What was asked for.
    pub parts: Parts,
    /// The operation in progress may run in parallel.
    wanted: bool,
    /// It does, in code or in a kernel.
    used: bool,
    /// The functions made so far: bodies and their wrappers.
    pub made: Vec<Func>,
    /// What became of the operations on arrays so far.
    pub notes: Vec<Note>,
}

/// What became of one operation on arrays, or of several in one loop, for reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    pub place: Place,
    /// Operations in their order, each with the earlier ones that it reads.
    pub steps: Vec<(String, Vec<u32>)>,
    /// Why the calling thread does it alone; none where it runs in parallel.
    pub serial: Option<&'static str>,
    /// The line of the region that it is part of, where that stands elsewhere.
    pub with: Option<u32>,
    /// What its operands must be like, where that shows only at run time.
    pub only: Option<&'static str>,
}

/// The operation of an instruction, the last one of a chain, and the chain.
fn operation(node: &ssa::InstNode) -> Option<(&'static OpDef, Option<&ssa::Fused>)> {
    if let ssa::Op::Apply(op) = node.op {
        return Some((op, None));
    }
    if let ssa::Op::Fused(chain) = &node.op {
        return Some((chain.steps.last()?.op, Some(chain)));
    }
    None
}

/// An operation's name as reports have it.
pub fn shown(op: &OpDef) -> String {
    op.name()
        .trim_start_matches("operator.")
        .trim_start_matches("numpy.")
        .trim_start_matches("array.")
        .trim_start_matches('_')
        .to_owned()
}

/// Why an operation does not run in parallel; none where there is nothing to say, since it does not pass over
/// an array.
fn why_alone(
    func: &ssa::Func,
    op: &'static OpDef,
    node: &ssa::InstNode,
    wanted: bool,
) -> Option<&'static str> {
    let is_array = |v: &ssa::Value| func.types[v.index()].as_array().is_some_and(|a| a.ndim > 0);
    let makes = node.result.as_ref().is_some_and(is_array);
    let passes = matches!(op.body, Body::Ufunc(..)) && makes
        || op.lazy.is_some_and(|(k, _)| node.args.get(k).is_some_and(is_array));
    let indexes = op.is(id::GETITEM);
    let chooses = op.chooses || indexes && chosen_by(func, node) == Some(true);
    if (passes || chooses) && !wanted {
        return Some(if func.body.is_some() { "its loop is" } else { "switched off by the dictionary" });
    }
    if indexes && makes && matches!(node.op, ssa::Op::Apply(_)) {
        let types: Vec<_> = node.args.iter().map(|a| func.types[a.index()]).collect();
        let view = node.result.is_some_and(|r| (op.own)(&types, func.types[r.index()]) == Own::Aliases);
        return if view { None } else { Some("where an element goes depends on how many come before it") };
    }
    op.alone.or((random::draws(op) && makes).then_some("the numbers of a stream come one after the other"))
}

/// Whether `a[mask]` chooses numbers that lie side by side as their mask does, as far as the types say.
fn chosen_by(func: &ssa::Func, node: &ssa::InstNode) -> Option<bool> {
    let [a, mask] = [*node.args.first()?, *node.args.get(1)?].map(|v| func.types[v.index()].as_array());
    let (a, mask) = (a?, mask.filter(|m| *m.dtype == Kind::Bool)?);
    Some(a.ndim == mask.ndim && (a.layout == Layout::C && mask.layout == Layout::C || a.ndim == 1))
}

fn divides(
    func: &ssa::Func,
    op: &'static OpDef,
    node: &ssa::InstNode,
    chain: Option<&ssa::Fused>,
) -> Divides {
    let operand = |k: usize| match chain.and_then(|c| c.steps.last()) {
        None => node.args.get(k).copied(),
        Some(last) => last
            .args
            .get(k)
            .and_then(|a| if let FusedArg::Operand(i) = a { Some(node.args[*i as usize]) } else { None }),
    };
    let step = |k: usize| {
        chain.and_then(|c| match c.steps.last()?.args.get(k)? {
            FusedArg::Step(j) => c.steps[*j as usize].ty.as_array(),
            FusedArg::Operand(_) => None,
        })
    };
    let array = |k: usize| operand(k).and_then(|a| func.types[a.index()].as_array()).or_else(|| step(k));
    let Some(first) = array(0) else { return Divides::Always };
    let constant = |k: usize| {
        operand(k)
            .and_then(|a| func.insts.iter().find(|n| n.result == Some(a)))
            .and_then(|n| if let ssa::Op::Const(Const::Int(x)) = n.op { Some(x) } else { None })
    };
    (op.divides)(&Division {
        array: first,
        second: array(1),
        number: constant(1),
        ret: node.result.map(|r| func.types[r.index()]),
    })
}

/// Elements, times what each of them costs, that are done before a region would have begun.
const ALONE: i64 = 4096;
/// What an element costs where a function like `exp` is computed, in simple operations.
pub const SLOW: i64 = 16;

impl ChunkedLoops {
    /// Begins an operation.
    pub fn begin(&mut self, func: &ssa::Func, node: &ssa::InstNode) {
        if !self.parts.any() {
            return;
        }
        let Some((op, chain)) = operation(node) else { return };
        let out = match chain.and_then(|c| c.steps.last()) {
            None => node.args.get(ufunc::inputs(op)).copied(),
            Some(last) => last
                .args
                .get(ufunc::inputs(op))
                .and_then(|a| if let FusedArg::Operand(k) = a { Some(node.args[*k as usize]) } else { None }),
        };
        let augmented = matches!(op.body, Body::Ufunc(..))
            && op.is_operator()
            && out.is_some_and(|v| func.types[v.index()].as_array().is_some());
        let part = if op.is(id::SETITEM) {
            Parts::SETITEM
        } else if op.lazy.is_some() || *op == ops::reduce::SEVERAL {
            Parts::REDUCTION
        } else if augmented {
            Parts::INPLACE
        } else {
            Parts::NUMPY
        };
        (self.wanted, self.used) = (self.parts.has(part), false);
    }
    /// The operation in progress holds locks, which those who help with it would not.
    pub fn forgo(&mut self) {
        self.wanted = false;
    }
    /// Whether the operation in progress may run in parallel.
    pub fn wanted(&self) -> bool {
        self.wanted
    }
    /// What a kernel of the run-time is told, beside its first number.
    pub fn flag(&mut self) -> i64 {
        self.used |= self.wanted;
        if self.wanted { crate::ops::kernel::IN_PIECES } else { 0 }
    }

    /// Notes what became of a loop or a comprehension.
    pub fn note_region(
        &mut self,
        func: &ssa::Func,
        node: &ssa::InstNode,
        what: &str,
        serial: Option<&'static str>,
    ) {
        let span = func.span(user_place(func, node.loc).0);
        self.notes.push(Note {
            place: Place { file: span.file.to_string(), line: span.line },
            steps: vec![(what.into(), vec![])],
            serial,
            with: None,
            only: None,
        });
    }

    /// Notes what became of the operation that has just been lowered, if it is one that somebody would ask
    /// about.
    pub fn note(&mut self, func: &ssa::Func, node: &ssa::InstNode) {
        if !self.parts.any() {
            return;
        }
        let Some((op, chain)) = operation(node) else { return };
        let reads = |args: &[FusedArg]| {
            args.iter().filter_map(|a| if let FusedArg::Step(k) = a { Some(*k) } else { None }).collect()
        };
        let mut steps: Vec<(String, Vec<u32>)> = chain.map_or_else(
            || vec![(shown(op), vec![])],
            |c| c.steps.iter().map(|s| (shown(s.op), reads(&s.args))).collect(),
        );
        let (loc, library) = user_place(func, node.loc);
        // The sum in a mean is the mean for who wrote it.
        if let (Some(name), Some(last)) = (library, steps.last_mut())
            && op.lazy.is_some()
            && op.effect == Effect::Reads
        {
            last.0 = name.trim_matches('_').to_owned();
        }
        let serial = if self.used {
            None
        } else {
            match why_alone(func, op, node, self.wanted) {
                Some(why) => Some(why),
                None => return,
            }
        };
        let place = |loc| {
            let span = func.span(loc);
            Place { file: span.file.to_string(), line: span.line }
        };
        let joined = node.result.and_then(|r| func.joined.get(&r)).map_or(&[][..], |j| j);
        if !joined.is_empty() && chain.is_none() {
            steps = joined.iter().map(|j| (j.name.to_string(), vec![])).collect();
        }
        for j in joined.iter().filter(|j| place(j.loc) != place(loc)) {
            self.notes.push(Note {
                place: place(j.loc),
                steps: vec![(j.name.to_string(), vec![])],
                serial,
                with: Some(place(loc).line),
                only: None,
            });
        }
        // What a reduction in a chain reads is made in parallel, even where the reduction is not.
        let divides = if serial.is_some() || chain.is_some_and(|c| c.steps.iter().any(|s| s.made)) {
            Divides::Always
        } else {
            divides(func, op, node, chain)
        };
        let (serial, only) = match divides {
            Divides::Always => (serial, None),
            Divides::Never(why) => (Some(why), None),
            Divides::Where(what) => (None, Some(what)),
        };
        if chain.is_some()
            && let Divides::Never(_) = divides
            && let Some(last) = steps.pop()
        {
            self.notes.push(Note {
                place: place(loc),
                steps: vec![(last.0, vec![])],
                serial,
                with: None,
                only,
            });
            self.notes.push(Note { place: place(loc), steps, serial: None, with: None, only: None });
            return;
        }
        self.notes.push(Note { place: place(loc), steps, serial, with: None, only });
    }
}

/// Runs what `body` does for a part of the range `0..n`, for all of it, in pieces that run at the same time
/// where that is worth it: there are `work` elements, times what each costs. Chunks must not depend on each
/// other.
pub fn in_chunks(
    cx: &mut LowerCx<'_>,
    n: Value,
    work: Value,
    body: impl FnOnce(&mut LowerCx<'_>, Value, Value) -> Result<()>,
) -> Result<()> {
    let zero = cx.b.i64(0);
    if !cx.chunks.wanted {
        return body(cx, zero, n);
    }
    cx.chunks.used = true;
    let (name, args) = outlined(cx, body)?;
    // Exceptions have the places of the body behind them.
    let (landing, frames) = (cx.landing.take(), std::mem::take(&mut cx.on_error.frames));
    let few = cx.b.bin_imm(Op::IcmpSle, work, ALONE);
    let sig = signature(cx, &args);
    cx.if_else(
        few,
        |cx| {
            let all: Vec<Value> = [cx.ctx, zero, n].into_iter().chain(args.iter().copied()).collect();
            cx.call(&name, &sig, &all);
            Ok(vec![])
        },
        |cx| {
            let slots: Vec<Value> = [zero, n].into_iter().chain(args.iter().copied()).collect();
            parallel::emit_chunks(cx, &wrapper_name(&name), n, &slots);
            Ok(vec![])
        },
    )?;
    cx.on_error.frames = frames;
    cx.landing = landing;
    Ok(())
}

fn signature(cx: &LowerCx<'_>, args: &[Value]) -> Signature {
    Signature {
        params: [Ty::Ptr, Ty::I64, Ty::I64].into_iter().chain(args.iter().map(|v| cx.b.ty(*v))).collect(),
        results: vec![Ty::I64],
    }
}

/// Writes the body as a function of its own; gives its name, and the values that it takes behind the context
/// and the bounds.
fn outlined(
    cx: &mut LowerCx<'_>,
    body: impl FnOnce(&mut LowerCx<'_>, Value, Value) -> Result<()>,
) -> Result<(String, Vec<Value>)> {
    let back = cx.b.block;
    let mark = Mark::here(cx.b.func);
    let entry = cx.b.new_block(&[Ty::Ptr, Ty::I64, Ty::I64]);
    let params = cx.b.params(entry);
    cx.b.switch_to(entry);
    let ctx = std::mem::replace(&mut cx.ctx, params[0]);
    let (landing, impossible) = (cx.landing.take(), cx.impossible.take());
    let (cleanup, results, handler) =
        (std::mem::take(&mut cx.cleanup), std::mem::take(&mut cx.results), cx.on_error.handler.take());
    cx.chunks.wanted = false;
    let written = body(cx, params[1], params[2]);
    let ok = cx.b.i64(0);
    cx.b.ret(vec![ok]);
    cx.chunks.wanted = true;
    (cx.ctx, cx.landing, cx.impossible) = (ctx, landing, impossible);
    (cx.cleanup, cx.results, cx.on_error.handler) = (cleanup, results, handler);
    cx.b.switch_to(back);
    written?;
    let name = format!("{}.part{}", cx.b.func.name, cx.chunks.made.len() / 2);
    let (func, args) = cut(cx.b.func, mark, ctx, name.clone());
    cx.chunks.made.push(make_wrapper(&name, &func.sig, &[]));
    cx.chunks.made.push(func);
    Ok((name, args))
}

/// How long a function's tables were.
struct Mark {
    blocks: usize,
    layout: usize,
    insts: usize,
    values: usize,
    slots: usize,
}

impl Mark {
    fn here(f: &Func) -> Mark {
        Mark {
            blocks: f.blocks.len(),
            layout: f.layout.len(),
            insts: f.insts.len(),
            values: f.value_types.len(),
            slots: f.slots.len(),
        }
    }
}

/// Takes everything made since `mark` out of a function; gives it as a function, and the values that it takes
/// behind its three own parameters.
fn cut(from: &mut Func, mark: Mark, ctx: Value, name: String) -> (Func, Vec<Value>) {
    let mut out = Func::new(name, Signature { params: vec![], results: vec![Ty::I64] });
    let (blocks, insts) = (from.blocks.split_off(mark.blocks), from.insts.split_off(mark.insts));
    out.value_types = from.value_types.split_off(mark.values);
    out.slots = from.slots.split_off(mark.slots);
    out.layout =
        from.layout.split_off(mark.layout).into_iter().map(|b| Block::new(b.index() - mark.blocks)).collect();
    let value = |v: &Value| Value::new(v.index() - mark.values);
    out.blocks = blocks
        .into_iter()
        .map(|b| BlockData {
            params: b.params.iter().map(value).collect(),
            insts: b.insts.iter().map(|i| Inst::new(i.index() - mark.insts)).collect(),
            ..b
        })
        .collect();
    let mut cutter = Cutter {
        from,
        mark: &mark,
        known: HashMap::new(),
        consts: HashMap::new(),
        head: vec![],
        taken: vec![],
        locs: HashMap::new(),
        out,
    };
    let own_ctx = cutter.out.blocks[0].params[0];
    cutter.known.insert(ctx, own_ctx);
    cutter.find_consts(&insts);
    for node in insts {
        cutter.inst(node);
    }
    let Cutter { mut out, taken, head, .. } = cutter;
    let first = out.insts.len();
    out.insts.extend(head);
    let made: Vec<Inst> = (first..out.insts.len()).map(Inst::new).collect();
    out.blocks[0].insts.splice(0..0, made);
    out.sig.params = out.blocks[0].params.iter().map(|p| out.value_types[p.index()]).collect();
    (out, taken)
}

struct Cutter<'a> {
    from: &'a Func,
    mark: &'a Mark,
    out: Func,
    /// Values of the outer function, and what they are in the new one.
    known: HashMap<Value, Value>,
    /// Those of them that are made anew.
    consts: HashMap<Value, InstData>,
    head: Vec<InstNode>,
    taken: Vec<Value>,
    locs: HashMap<Loc, Loc>,
}

impl Cutter<'_> {
    fn find_consts(&mut self, insts: &[InstNode]) {
        let mut used = std::collections::HashSet::new();
        for n in insts {
            n.data.for_each_use(|v| {
                if v.index() < self.mark.values {
                    used.insert(v);
                }
            });
        }
        for n in &self.from.insts {
            if let ([v], InstData::Const { .. } | InstData::SymbolAddr { .. }) =
                (n.results.as_slice(), &n.data)
                && used.contains(v)
            {
                self.consts.insert(*v, n.data.clone());
            }
        }
    }

    fn value(&mut self, v: Value) -> Value {
        if v.index() >= self.mark.values {
            return Value::new(v.index() - self.mark.values);
        }
        if let Some(known) = self.known.get(&v) {
            return *known;
        }
        let new = match self.consts.get(&v).cloned() {
            Some(mut data) => {
                if let InstData::SymbolAddr { symbol } = &mut data {
                    let s = &self.from.symbols[symbol.index()];
                    *symbol = self.out.symbol(&s.name, s.addr);
                }
                let v = self.out.make_value(self.from.value_type(v));
                self.head.push(InstNode { data, results: vec![v], loc: Loc(0) });
                v
            }
            None => {
                self.taken.push(v);
                self.out.add_param(Block(0), self.from.value_type(v))
            }
        };
        self.known.insert(v, new);
        new
    }

    fn loc(&mut self, loc: Loc) -> Loc {
        if let Some(l) = self.locs.get(&loc) {
            return *l;
        }
        let Some(mut data) = self.from.loc(loc).cloned() else { return Loc(0) };
        data.inlined_at = self.loc(data.inlined_at);
        let new = self.out.add_loc(data);
        self.locs.insert(loc, new);
        new
    }

    fn inst(&mut self, mut node: InstNode) {
        let mark = self.mark;
        let mut uses = vec![];
        node.data.for_each_use(|v| uses.push(v));
        for v in uses {
            self.value(v);
        }
        node.data.map_uses(|v| {
            if v.index() >= mark.values { Value::new(v.index() - mark.values) } else { self.known[&v] }
        });
        node.data.map_targets(|b| Block::new(b.index() - mark.blocks));
        match &mut node.data {
            InstData::StackAddr { slot } => *slot = Slot::new(slot.index() - mark.slots),
            InstData::SymbolAddr { symbol } => {
                let s = &self.from.symbols[symbol.index()];
                *symbol = self.out.symbol(&s.name, s.addr);
            }
            InstData::Call { func, .. } => {
                let f = &self.from.funcs[func.index()];
                *func = self.out.func_ref(&f.name, &f.sig);
            }
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => {}
        }
        for r in &mut node.results {
            *r = Value::new(r.index() - mark.values);
        }
        node.loc = self.loc(node.loc);
        self.out.insts.push(node);
    }
}
