//! Writes the body of a parallel region as a function of its own; [`super::rejoin`] writes what stands in the place of the
//! loop.
//!
//! The body takes the bounds of its piece, the values that its variables start with, and everything else that
//! it uses from outside as captured values; constants and globals it makes itself, so that they stay known.
//! It gives a tuple: what each variable has become, whether it changed where somebody must know that, and the
//! lists that it filled. Exceptions leave it, whatever handlers lie around the loop; there the variables are
//! what they were before it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "only globals and their attributes are made again: any other value is at hand"
)]

use super::Names;
use super::find::Found;
use super::rejoin::replace;
use super::shared::{Carried, Flag, Kind, Shared, What, group};
use crate::diag::{Diagnostic, Result};
use crate::ops::id;
use crate::ssa::analysis::{Analyses, Definitions, Edge};
use crate::ssa::loops::LoopNote;
use crate::ssa::{
    Block, BlockCall, Func, FuncId, Inst, InstNode, Loc, LoopBody, Op, Params, Parts, Term, Value, registry,
};
use crate::types::Const;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) fn outline(
    func: &mut Func,
    found: &Found,
    shared: &Shared,
    names: &dyn Names,
) -> Result<LoopNote> {
    hoist_captured(func, found);
    let mut body = Body::new(func, found, shared);
    body.write()?;
    let Body { func: mut outlined, captured, .. } = body;
    super::super::cleanup::run(&mut outlined, &mut Analyses::default());
    super::run(&mut outlined, names)?;
    let inner = std::mem::take(&mut outlined.loops);
    let id = registry::add(outlined);
    replace(func, found, shared, id, captured)?;
    func.loops.extend(inner);
    let mut shares: Vec<String> = shared.carried.iter().map(Carried::describe).collect();
    if !shared.lists.is_empty() {
        shares.push("a list that is appended to".into());
    }
    shares.extend(shared.privatised.iter().map(|b| b.describe().into()));
    Ok(LoopNote { shares, doubts: shared.doubts.clone(), body: Some(id), ..LoopNote::at(found.loc) })
}

/// What a loop appends to a list as a function of its own, for the type of that; with what it captures.
pub(crate) fn probe(func: &mut Func, found: &Found, list: Value) -> Result<(FuncId, Vec<Value>)> {
    hoist_captured(func, found);
    let shared = Shared { lists: vec![list], ..Shared::default() };
    let mut body = Body::new(func, found, &shared);
    body.write()?;
    let Body { func: mut outlined, captured, .. } = body;
    super::super::cleanup::run(&mut outlined, &mut Analyses::default());
    Ok((registry::add(outlined), captured))
}

/// Captured variables of the outer function are read before the loop: in the body their numbers would mean
/// something else.
fn hoist_captured(func: &mut Func, found: &Found) {
    for b in &found.blocks {
        let (captured, rest): (Vec<Inst>, Vec<Inst>) = std::mem::take(&mut func.blocks[b.index()].insts)
            .into_iter()
            .partition(|i| matches!(func.insts[i.index()].op, Op::Free(_)));
        func.blocks[b.index()].insts = rest;
        func.blocks[found.pre.index()].insts.extend(captured);
    }
}

/// The function of an iteration on its way: values and blocks of the outer function, and what they are in it.
pub(crate) struct Body<'a> {
    pub outer: &'a Func,
    pub found: &'a Found,
    pub shared: &'a Shared,
    pub defs: Definitions,
    pub func: Func,
    pub values: HashMap<Value, Value>,
    pub blocks: HashMap<Block, Block>,
    captured: Vec<Value>,
    /// What variables start with that are converted before they are kept.
    starts: Vec<Value>,
    pub flags: Vec<Flag>,
    /// Flags of what the block that is being copied passes on, by flag, parameter and value.
    pub passed: HashMap<(usize, Value, Value), Value>,
    /// Which privatised elements have forgotten what came before, or have changed, for those that say so.
    resets: Vec<Value>,
    /// The constant True, for flags.
    pub yes: Value,
    /// Whether this piece begins with what the plain loop has there, in loops where that decides what may
    /// raise.
    pub again: Option<Value>,
    /// Whether the loop is being copied as it runs behind values that are not NaN.
    pub settled: bool,
}

const ENTRY: Block = Block(0);

/// The variables whose values take in what the pieces give, rather than being replaced, if they are arrays.
fn changed_in_place(shared: &Shared) -> impl Iterator<Item = u32> {
    let is = |c: &Carried| matches!(c.kind, Kind::Binary { path, .. } if path.plain().is_some());
    shared.carried.iter().enumerate().filter(move |(_, c)| is(c)).map(|(k, _)| k as u32)
}

impl<'a> Body<'a> {
    fn new(outer: &'a Func, found: &'a Found, shared: &'a Shared) -> Body<'a> {
        let mut names: Vec<Arc<str>> = vec!["first".into(), "end".into()];
        let decides = !shared.speculative.is_empty();
        if decides {
            names.push("again".into());
        }
        names.extend((0..shared.carried.len()).map(|k| Arc::from(format!("start {k}"))));
        let mut func = Func {
            name: format!("{}.prange", outer.name).into(),
            qualname: outer.qualname.clone(),
            file: outer.file.clone(),
            first_line: found.loc.line,
            params: Params { positional: names.len(), names, ..Params::default() },
            inlined: outer.inlined.clone(),
            hash: outer.hash,
            host: outer.host,
            // Loops in it may be parallel; its operations on arrays are small ones as a rule, of which each
            // would ask anew.
            parallel: Parts(outer.parallel.0 & (Parts::PRANGE.0 | Parts::LENIENT.0)),
            body: Some(LoopBody {
                careful: found.careful,
                in_order: shared.in_order(),
                decides,
                behind: changed_in_place(shared).map(|k| 2 + u32::from(decides) + k).collect(),
                adds: changed_in_place(shared).next().is_none()
                    && shared.privatised.len() > 1
                    && shared.privatised.iter().all(|p| p.merge == id::PARALLEL_ADD_BINS),
            }),
            ..Func::default()
        };
        func.make_block();
        Body {
            outer,
            found,
            shared,
            defs: Definitions::new(outer),
            func,
            values: HashMap::new(),
            blocks: HashMap::new(),
            captured: vec![],
            starts: vec![],
            flags: shared
                .flags()
                .into_iter()
                .map(|(leader, what)| Flag { leader, what, of: HashMap::new() })
                .collect(),
            passed: HashMap::new(),
            resets: vec![],
            yes: Value(0),
            again: None,
            settled: false,
        }
    }

    pub(crate) fn push(&mut self, b: Block, op: Op, args: Vec<Value>) -> Value {
        self.func.push(b, op, args, self.found.loc, None)
    }

    fn write(&mut self) -> Result<()> {
        let (first, end) = (self.func.add_param(ENTRY), self.func.add_param(ENTRY));
        self.again = (!self.shared.speculative.is_empty()).then(|| self.func.add_param(ENTRY));
        let starts: Vec<Value> = self.shared.carried.iter().map(|_| self.func.add_param(ENTRY)).collect();
        self.starts = self
            .shared
            .carried
            .iter()
            .zip(&starts)
            .map(|(c, s)| if c.choice.conversions.is_empty() { *s } else { self.start_of(c.init, *s) })
            .collect();
        self.capture_all();
        let lists: Vec<Value> = self
            .shared
            .lists
            .clone()
            .into_iter()
            .map(|l| {
                let own = self.push(ENTRY, Op::Table(id::LIST_BUILD), vec![]);
                self.values.insert(l, own);
                own
            })
            .collect();
        let mut privatised = vec![];
        for b in &self.shared.privatised {
            let whole = self.capture(b.of);
            let behind = self.func.params.positional + self.captured.len() - 1;
            self.func.body.iter_mut().for_each(|body| body.behind.push(behind as u32));
            let knows = self.again.filter(|_| !b.gates.is_empty() && b.start != id::PARALLEL_OWN_BINS);
            let own = self.push(ENTRY, Op::Table(b.start), [whole].into_iter().chain(knows).collect());
            self.values.insert(b.of, own);
            privatised.push(own);
            if b.notes() {
                let none = self.push(ENTRY, Op::Table(id::PARALLEL_NO_RESETS), vec![whole]);
                self.resets.push(none);
            }
        }
        self.yes = self.push(ENTRY, Op::Const(Const::Bool(true)), vec![]);
        let no = self.push(ENTRY, Op::Const(Const::Bool(false)), vec![]);
        let step = match self.found.step {
            Some(s) => self.value(s)?,
            None => self.push(ENTRY, Op::Const(Const::Int(1)), vec![]),
        };
        let range = self.push(ENTRY, Op::Table(id::BUILTINS_RANGE), vec![first, end, step]);
        let iterator = self.push(ENTRY, Op::Table(id::BUILTINS_ITER), vec![range]);

        let outside = self.values.clone();
        self.make_blocks();
        let header = self.blocks[&self.found.header];
        let mut args: Vec<Value> = vec![iterator; self.outer.block(self.found.header).params.len()];
        for at in &self.shared.own {
            args[*at] = self.push(ENTRY, Op::Undef, vec![]);
        }
        // Made here, since every piece needs an array or a list of its own.
        for (c, s) in self.shared.carried.iter().zip(&starts) {
            if let Kind::Follow { .. } | Kind::Last { .. } = c.kind {
                args[c.at] = *s;
                continue;
            }
            let bound = self.push(ENTRY, Op::Table(id::PARALLEL_BOUND), vec![*s]);
            args[c.at] = if let Kind::Binary { neutral, .. } = c.kind {
                self.push(ENTRY, Op::Table(neutral), vec![bound])
            } else {
                bound
            };
        }
        args.extend(self.flags.iter().map(|f| if let What::First(j) = f.what { starts[j] } else { no }));
        self.func.blocks[ENTRY.index()].term = Term::Jump(BlockCall { block: header, args });
        self.copy_blocks()?;

        // The header's way out: what has become of everything.
        let last = self.func.make_block();
        let mut parts = self.left();
        let mut out = vec![];
        if self.is_split() {
            out = std::mem::replace(
                &mut parts,
                self.left().iter().map(|_| self.func.add_param(last)).collect(),
            );
            let second = self.settle(header, outside)?;
            let own = self.left();
            self.end_loop(second, last, own);
        }
        self.end_loop(header, last, out);
        parts.extend(lists);
        parts.extend(privatised);
        parts.extend(&self.resets);
        let result = if parts.is_empty() {
            self.push(last, Op::Const(Const::None), vec![])
        } else {
            self.push(last, Op::Table(id::TUPLE_BUILD), parts)
        };
        self.func.blocks[last.index()].term = Term::Return(result);
        for b in &mut self.func.blocks {
            b.term_loc = if b.term_loc == Loc::default() { self.found.loc } else { b.term_loc };
        }
        Ok(())
    }

    /// What the header has of variables and of their flags.
    fn left(&self) -> Vec<Value> {
        let carried = self.shared.carried.iter().map(|c| self.values[&c.param]);
        carried.chain(self.flags.iter().map(|f| f.of[&self.shared.carried[f.leader].param])).collect()
    }

    fn end_loop(&mut self, header: Block, last: Block, args: Vec<Value>) {
        if let Term::Branch { else_to, .. } = &mut self.func.blocks[header.index()].term {
            *else_to = BlockCall { block: last, args };
        }
    }

    pub(super) fn copy_blocks(&mut self) -> Result<()> {
        let mut blocks: Vec<Block> = self.blocks.keys().copied().collect();
        blocks.sort();
        blocks.into_iter().try_for_each(|b| self.copy_block(b))
    }

    /// Values from outside: constants and globals made anew, others captured.
    fn capture_all(&mut self) {
        let mut used = vec![];
        let mut blocks: Vec<Block> = self.found.blocks.iter().copied().collect();
        blocks.sort();
        for b in blocks {
            for i in &self.outer.block(b).insts {
                used.extend(&self.outer.inst(*i).args);
            }
            used.extend(self.outer.block(b).term.operand());
            self.outer.each_edge(b, &mut |_, to| {
                if self.is_inside(to.block) {
                    used.extend(&to.args)
                }
            });
        }
        used.extend(self.found.step);
        for v in used {
            let outside = self.defs.block(v).is_none_or(|b| !self.is_inside(b));
            if !outside || self.values.contains_key(&v) || self.shared.lists.contains(&v) {
                continue;
            }
            let made = self
                .defs
                .inst(v)
                .map(|i| self.outer.inst(i))
                .filter(|n| matches!(n.op, Op::Const(_) | Op::Global(_) | Op::Undef));
            let new = match made {
                Some(n) => self.func.push(ENTRY, n.op.clone(), vec![], n.loc, None),
                None => self.capture(v),
            };
            self.values.insert(v, new);
        }
    }

    fn capture(&mut self, v: Value) -> Value {
        self.captured.push(v);
        self.func.free.push("captured".into());
        self.push(ENTRY, Op::Free(self.captured.len() as u32 - 1), vec![])
    }

    pub(crate) fn is_inside(&self, b: Block) -> bool {
        b == self.found.header || self.found.blocks.contains(&b)
    }

    /// Blocks with their parameters, those of flags last, and names for all results.
    pub(super) fn make_blocks(&mut self) {
        let mut inside: Vec<Block> = self.found.blocks.iter().copied().chain([self.found.header]).collect();
        inside.sort();
        for b in inside {
            let new = self.func.make_block();
            self.blocks.insert(b, new);
            let data = self.outer.block(b);
            for p in &data.params {
                let v = self.func.add_param(new);
                self.values.insert(*p, v);
            }
            self.make_flags(b, new);
            for i in &data.insts {
                let node = self.outer.inst(*i);
                if let Some(r) = node.result {
                    let again = self.again.filter(|_| node.op == Op::Table(id::PARALLEL_AGAIN));
                    let v = again.unwrap_or_else(|| self.func.make_value());
                    self.values.insert(r, v);
                }
            }
        }
        self.name_flags();
    }

    pub(crate) fn value(&self, v: Value) -> Result<Value> {
        self.values
            .get(&v)
            .copied()
            .ok_or_else(|| Diagnostic::internal(format!("{v} is not known in the body of a parallel loop")))
    }
    pub(crate) fn all(&self, vs: &[Value]) -> Result<Vec<Value>> {
        vs.iter().map(|v| self.value(*v)).collect()
    }

    fn edge(&self, to: &BlockCall, edge: Edge) -> Result<BlockCall> {
        let mut args = self.all(&to.args)?;
        let params = &self.outer.block(to.block).params;
        for (k, flag) in self.flags.iter().enumerate().filter(|f| !self.is_settled(f.1.what)) {
            for (p, a) in params.iter().skip(edge.skip()).zip(&to.args) {
                if self.shared.carried[flag.leader].versions.contains(p) {
                    args.push(
                        flag.of.get(a).or_else(|| self.passed.get(&(k, *p, *a))).copied().unwrap_or(self.yes),
                    );
                }
            }
        }
        Ok(BlockCall { block: self.blocks[&to.block], args })
    }

    fn handler(&self, to: &Option<BlockCall>) -> Result<Option<BlockCall>> {
        match to {
            Some(u) if self.is_inside(u.block) => self.edge(u, Edge::Raises).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    /// `h[k] = max(x, h[k])`: notes that a NaN was taken. `if x <= h[k]: h[k] = x`: notes that there was
    /// something.
    fn note_store(&mut self, at: Block, store: &InstNode) -> Result<()> {
        let Some((n, array)) =
            self.shared.privatised.iter().filter(|b| b.notes()).enumerate().find(|b| b.1.of == store.args[0])
        else {
            return Ok(());
        };
        if array.changes {
            let (args, unwind) =
                (vec![self.resets[n], self.value(store.args[1])?, self.yes], self.handler(&store.unwind)?);
            self.func.push(at, Op::Table(id::SETITEM), args, store.loc, unwind);
            return Ok(());
        }
        let Some(call) = self.defs.inst(store.args[2]).map(|i| self.outer.inst(i)) else { return Ok(()) };
        let args = vec![self.resets[n], self.value(store.args[1])?, self.value(call.args[1])?];
        let unwind = self.handler(&store.unwind)?;
        self.func.push(at, Op::Table(id::PARALLEL_NOTE_RESET), args, store.loc, unwind);
        Ok(())
    }

    /// `if x > m: m = int(x)`: asks, when types are known, whether that is the best of all `int(x)`.
    fn check_kept(&mut self, at: Block, call: Inst) -> Result<()> {
        for k in 0..self.shared.carried.len() {
            if !self.shared.carried[k].choice.conversions.contains(&call) {
                continue;
            }
            let node = self.outer.inst(call);
            let Some(kept) = node.result else { continue };
            let start = self.starts[k];
            let followed =
                self.push(at, Op::Const(Const::Bool(group(&self.shared.carried, k).len() > 1)), vec![]);
            let args = [vec![start], self.all(&[node.args[0], node.args[1], kept])?, vec![followed]].concat();
            self.func.push(at, Op::Table(id::PARALLEL_CHECK_KEPT), args, node.loc, None);
        }
        Ok(())
    }

    /// What a variable starts with but for its sign, known where it is a constant.
    fn start_of(&mut self, v: Value, given: Value) -> Value {
        let Some(node) = self.defs.inst(v).map(|i| self.outer.inst(i)) else { return given };
        match node.op {
            Op::Const(_) | Op::Global(_) => self.push(ENTRY, node.op.clone(), vec![]),
            Op::Attr(_) => {
                let of = self.start_of(node.args[0], given);
                if of == given { given } else { self.push(ENTRY, node.op.clone(), vec![of]) }
            }
            Op::Table(id::NEG) => self.start_of(node.args[0], given),
            _ => given,
        }
    }

    fn copy_block(&mut self, b: Block) -> Result<()> {
        let new = self.blocks[&b];
        let data = self.outer.block(b);
        if let Some(d) = self.shared.speculative.get(&b) {
            self.func.push(new, Op::Table(d.mark()), vec![], data.term_loc, None);
        }
        for i in &data.insts {
            let node = self.outer.inst(*i);
            if node.op == Op::Table(id::SETITEM)
                && self.shared.privatised.iter().any(|b| b.of == node.args[0])
            {
                let args = self.all(&[node.args[0], node.args[2]])?;
                self.func.push(new, Op::Table(id::PARALLEL_CHECK_BINS), args, node.loc, None);
                self.note_store(new, node)?;
            }
            if node.op == Op::Table(id::PARALLEL_AGAIN) {
                continue;
            }
            let unwind = self.handler(&node.unwind)?;
            if self.choose(new, *i, unwind)? {
                continue;
            }
            let copy = InstNode {
                op: node.op.clone(),
                args: self.all(&node.args)?,
                result: node.result.map(|r| self.values[&r]),
                loc: node.loc,
                unwind: self.handler(&node.unwind)?,
            };
            self.func.insts.push(copy);
            let inst = Inst::new(self.func.insts.len() - 1);
            self.func.blocks[new.index()].insts.push(inst);
            self.check_kept(new, *i)?;
        }
        self.flags_from(b, &data.term)?;
        // The header's exit is written when the rest is there.
        let target = |s: &Self, to: &BlockCall| {
            if s.is_inside(to.block) {
                s.edge(to, Edge::Jumps)
            } else {
                Ok(BlockCall { block: new, args: vec![] })
            }
        };
        let term = match &data.term {
            Term::Jump(to) => Term::Jump(target(self, to)?),
            Term::Branch { cond, then_to, else_to } => Term::Branch {
                cond: {
                    let cond = self.value(*cond)?;
                    self.condition(b, cond)?
                },
                then_to: target(self, then_to)?,
                else_to: target(self, else_to)?,
            },
            Term::Raise { exc, unwind } => {
                Term::Raise { exc: self.value(*exc)?, unwind: self.handler(unwind)? }
            }
            Term::Return(_) => return Err(Diagnostic::internal("a return in a parallel loop")),
            Term::Unreachable => Term::Unreachable,
            Term::None => Term::None,
        };
        let block = &mut self.func.blocks[new.index()];
        (block.term, block.term_loc) = (term, data.term_loc);
        Ok(())
    }
}
