//! Writes a parallel region: the body as a function of its own, and in the place of the loop the region and a
//! loop over what its pieces gave.
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
use super::repair::repair;
use super::shared::{Carried, Flag, Kind, Missing, Shared, Step, What, group};
use crate::diag::{Diagnostic, Result};
use crate::ops::id;
use crate::ssa::analysis::{Analyses, Definitions, Edge};
use crate::ssa::loops::LoopNote;
use crate::ssa::{
    Block, BlockCall, Func, FuncId, Inst, InstNode, Loc, LoopBody, Narrow, Op, Params, Parts, Term, Value,
    registry,
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
    found: &'a Found,
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
        let mut blocks: Vec<Block> = self.blocks.keys().copied().collect();
        blocks.sort();
        for b in blocks {
            self.copy_block(b)?;
        }

        // The header's way out: what has become of everything.
        let last = self.func.make_block();
        let mut parts: Vec<Value> = self.shared.carried.iter().map(|c| self.values[&c.param]).collect();
        parts.extend(self.flags.iter().map(|f| f.of[&self.shared.carried[f.leader].param]));
        parts.extend(lists);
        parts.extend(privatised);
        parts.extend(&self.resets);
        let result = if parts.is_empty() {
            self.push(last, Op::Const(Const::None), vec![])
        } else {
            self.push(last, Op::Table(id::TUPLE_BUILD), parts)
        };
        self.func.blocks[last.index()].term = Term::Return(result);
        if let Term::Branch { else_to, .. } = &mut self.func.blocks[header.index()].term {
            *else_to = BlockCall { block: last, args: vec![] };
        }
        for b in &mut self.func.blocks {
            b.term_loc = if b.term_loc == Loc::default() { self.found.loc } else { b.term_loc };
        }
        Ok(())
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
    fn make_blocks(&mut self) {
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
        for (k, flag) in self.flags.iter().enumerate() {
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

/// Writes into the outer function, in the place of the loop.
struct Writer<'a> {
    func: &'a mut Func,
    found: &'a Found,
    at: Block,
    unwind: Option<BlockCall>,
    defs: Definitions,
}

impl Writer<'_> {
    fn push(&mut self, op: Op, args: Vec<Value>) -> Value {
        let unwind = if op.never_raises() { None } else { self.unwind.clone() };
        self.func.push(self.at, op, args, self.found.loc, unwind)
    }
    fn end(&mut self, term: Term) {
        let block = &mut self.func.blocks[self.at.index()];
        (block.term, block.term_loc) = (term, self.found.loc);
    }
    /// `truth(cond) ? a : b`, pair by pair.
    fn select(&mut self, cond: Value, pairs: &[(Value, Value)]) -> Vec<Value> {
        let join = self.func.make_block();
        let out: Vec<Value> = pairs.iter().map(|_| self.func.add_param(join)).collect();
        let to = |args: Vec<Value>| BlockCall { block: join, args };
        self.end(Term::Branch {
            cond,
            then_to: to(pairs.iter().map(|p| p.0).collect()),
            else_to: to(pairs.iter().map(|p| p.1).collect()),
        });
        self.at = join;
        out
    }
    /// The best of two, with what belongs to it: of each pair the first value where that of the part is
    /// taken, else the second.
    fn better(
        &mut self,
        kind: &Kind,
        (new, acc): (Value, Value),
        said: &Said,
        pairs: &[(Value, Value)],
    ) -> Vec<Value> {
        let Kind::Select { path, via, swapped, taken, missing, .. } = kind else {
            return pairs.iter().map(|p| p.1).collect();
        };
        let join = self.func.make_block();
        let out: Vec<Value> = pairs.iter().map(|_| self.func.add_param(join)).collect();
        let to = |args: Vec<Value>| BlockCall { block: join, args };
        let (take, keep) = (to(pairs.iter().map(|p| p.0).collect()), to(pairs.iter().map(|p| p.1).collect()));
        if let Some(found) = said.changed {
            self.unless(found, true, keep.clone());
        }
        if let Some(reset) = said.reset {
            self.unless(reset, false, take.clone());
        }
        let (mut new, mut acc) = (new, acc);
        if *missing != Missing::Never {
            // What no iteration can set, as behind a condition that is never true, has the type of None alone:
            // nothing behind this test is typed then.
            let (still, answer) = self.is_missing(new, *missing);
            self.unless(still, !answer, keep.clone());
            let (is_missing, answer) = self.is_missing(acc, *missing);
            if let Some(first) = said.first.first() {
                // The very first one stays where it is NaN.
                let (there, alone) = (self.func.make_block(), self.func.make_block());
                let [on, aside] = [there, alone].map(|block| BlockCall { block, args: vec![] });
                let (then_to, else_to) = if answer { (aside, on) } else { (on, aside) };
                self.end(Term::Branch { cond: is_missing, then_to, else_to });
                self.at = alone;
                let first = self.not_missing(*first, *missing);
                let shown = self.shown(first, via);
                let nan = self.push(Op::Table(id::PARALLEL_IS_NAN), vec![shown]);
                self.end(Term::Branch { cond: nan, then_to: to(said.first.clone()), else_to: take.clone() });
                self.at = there;
            } else {
                self.unless(is_missing, !answer, take.clone());
            }
            [new, acc] = [new, acc].map(|v| self.not_missing(v, *missing));
        }
        if let Some(path) = path {
            [new, acc] = [new, acc].map(|v| self.shown(v, via));
            let compared =
                self.push(Op::Table(*path), if *swapped { vec![acc, new] } else { vec![new, acc] });
            let cond = self.push(Op::Table(id::TRUTH), vec![compared]);
            let (then_to, else_to) = if *taken { (take, keep) } else { (keep, take) };
            self.end(Term::Branch { cond, then_to, else_to });
        } else {
            self.end(Term::Jump(keep));
        }
        self.at = join;
        out
    }
    /// Whether a variable has no value yet: a condition, and its answer where that is so.
    fn is_missing(&mut self, v: Value, missing: Missing) -> (Value, bool) {
        match missing {
            Missing::Marked { test, with, swapped, answer } => {
                let with = self.again(with);
                let args = if swapped { vec![with, v] } else { vec![v, with] };
                let compared = self.push(Op::Table(test), args);
                (self.push(Op::Table(id::TRUTH), vec![compared]), answer)
            }
            Missing::None | Missing::Never => {
                let nothing = self.push(Op::Const(Const::None), vec![]);
                (self.push(Op::Table(id::IS), vec![v, nothing]), true)
            }
        }
    }
    /// A value that was found to be there.
    fn not_missing(&mut self, v: Value, missing: Missing) -> Value {
        if missing == Missing::None { self.push(Op::Narrow(Narrow::NotNone), vec![v]) } else { v }
    }
    /// Goes elsewhere where a condition is not `as_said`, and on in a new block.
    fn unless(&mut self, cond: Value, as_said: bool, elsewhere: BlockCall) {
        let block = self.func.make_block();
        let here = BlockCall { block, args: vec![] };
        let (then_to, else_to) = if as_said { (here, elsewhere) } else { (elsewhere, here) };
        self.end(Term::Branch { cond, then_to, else_to });
        self.at = block;
    }
    /// What is compared of a value.
    fn shown(&mut self, v: Value, via: &[Step]) -> Value {
        via.iter().fold(v, |v, step| match step {
            Step::Part(k) => {
                let k = self.again(*k);
                self.push(Op::Table(id::GETITEM), vec![v, k])
            }
            Step::Of(a) => self.push(Op::Table(id::GETITEM), vec![*a, v]),
            Step::Applied(f) => {
                let f = self.again(*f);
                self.push(Op::Call { keywords: [].into() }, vec![f, v])
            }
        })
    }
    /// What a value inside the loop is made of, made again here: a constant, a global, or an attribute of
    /// one.
    fn again(&mut self, v: Value) -> Value {
        let Some(node) = self.defs.inst(v).map(|i| self.func.inst(i).clone()) else { return v };
        match node.op {
            Op::Global(_) | Op::Const(_) => self.push(node.op, vec![]),
            Op::Attr(_) => {
                let of = self.again(node.args[0]);
                self.push(node.op, vec![of])
            }
            _ => v,
        }
    }
}

fn replace(
    func: &mut Func,
    found: &Found,
    shared: &Shared,
    body: FuncId,
    captured: Vec<Value>,
) -> Result<()> {
    let before: HashMap<Value, Value> = shared.carried.iter().map(|c| (c.param, c.init)).collect();
    let renamed = |to: &BlockCall, now: &HashMap<Value, Value>| BlockCall {
        block: to.block,
        args: to.args.iter().map(|a| now.get(a).copied().unwrap_or(*a)).collect(),
    };
    let handler = func.inst(found.next).unwind.clone();
    func.blocks[found.pre.index()].insts.retain(|i| *i != found.iter);
    let defs = Definitions::new(func);
    let mut w =
        Writer { at: found.pre, unwind: handler.as_ref().map(|u| renamed(u, &before)), func, found, defs };

    let function = w.push(Op::MakeFunction { func: body, defaults: 0, kwdefaults: [].into() }, captured);
    let mut bound = w.push(Op::Const(Const::Int(0)), vec![]);
    for b in &shared.privatised {
        let size = w.push(Op::Table(id::PARALLEL_SIZE), vec![b.of]);
        bound = w.push(Op::Table(id::ADD), vec![bound, size]);
    }
    let mut args = vec![function, found.range, bound];
    args.extend(shared.carried.iter().map(|c| c.init));
    let parts = w.push(Op::Table(id::PARALLEL_REGION), args);
    if shared.carried.is_empty() && shared.lists.is_empty() && shared.privatised.is_empty() {
        w.end(Term::Jump(found.exit.clone()));
        return Ok(());
    }

    // for part in parts: ...
    let iterator = w.push(Op::Table(id::BUILTINS_ITER), vec![parts]);
    let head = w.func.make_block();
    let mut now: HashMap<Value, Value> = HashMap::new();
    let state = w.func.add_param(head);
    for c in &shared.carried {
        let p = w.func.add_param(head);
        now.insert(c.param, p);
    }
    let start = [iterator].into_iter().chain(shared.carried.iter().map(|c| c.init)).collect();
    w.end(Term::Jump(BlockCall { block: head, args: start }));
    w.at = head;
    w.unwind = handler.as_ref().map(|u| renamed(u, &now));
    let next = w.push(Op::Table(id::ITER_NEXT), vec![state]);
    let more = w.push(Op::Member(1), vec![next]);
    let inside = w.func.make_block();
    w.end(Term::Branch {
        cond: more,
        then_to: BlockCall { block: inside, args: vec![] },
        else_to: renamed(&found.exit, &now),
    });
    w.at = inside;
    let (state, part) = (w.push(Op::Member(0), vec![next]), w.push(Op::Member(2), vec![next]));
    let merged = merge(&mut w, shared, part, &now);
    let first_list = shared.carried.len() + shared.flags().len();
    for (k, list) in shared.lists.iter().enumerate() {
        let of = w.push(Op::Member((first_list + k) as u32), vec![part]);
        w.push(Op::Table(id::LIST_EXTEND), vec![*list, of]);
    }
    let first_privatised = first_list + shared.lists.len();
    let own: Vec<Value> = (0..shared.privatised.len())
        .map(|k| w.push(Op::Member((first_privatised + k) as u32), vec![part]))
        .collect();
    let noting: Vec<Value> = shared.privatised.iter().filter(|b| b.notes()).map(|b| b.of).collect();
    let notes: Vec<Value> = (0..noting.len())
        .map(|k| w.push(Op::Member((first_privatised + shared.privatised.len() + k) as u32), vec![part]))
        .collect();
    let note_of = |of: Value| noting.iter().position(|n| *n == of).map(|k| notes[k]);
    for (b, part) in shared.privatised.iter().zip(&own) {
        let mut args = vec![b.of, *part];
        if b.resets {
            args.extend(note_of(b.of));
        }
        args.extend(b.choose.map(|c| w.again(c)));
        if let Some(k) = shared.privatised.iter().position(|x| Some(x.of) == b.follows) {
            args.extend([shared.privatised[k].of, own[k]]);
            if shared.privatised[k].changes {
                args.extend(note_of(shared.privatised[k].of));
            }
        }
        w.push(Op::Table(b.merge), args);
    }
    w.end(Term::Jump(BlockCall { block: head, args: [state].into_iter().chain(merged).collect() }));
    repair(func, head, found, shared, now);
    Ok(())
}

/// What a piece says of a variable beside its value.
#[derive(Default)]
struct Said {
    changed: Option<Value>,
    reset: Option<Value>,
    first: Vec<Value>,
}

/// Takes one part into the variables.
fn merge(w: &mut Writer<'_>, shared: &Shared, part: Value, now: &HashMap<Value, Value>) -> Vec<Value> {
    let all = &shared.carried;
    let of: Vec<Value> = (0..all.len()).map(|k| w.push(Op::Member(k as u32), vec![part])).collect();
    let mut said: Vec<Said> = all.iter().map(|_| Said::default()).collect();
    for (n, (k, what)) in shared.flags().into_iter().enumerate() {
        let v = w.push(Op::Member((all.len() + n) as u32), vec![part]);
        match what {
            What::Changed => said[k].changed = Some(v),
            What::Reset => said[k].reset = Some(v),
            What::First(_) => said[k].first.push(v),
        }
    }
    let mut out: Vec<Value> = all.iter().map(|c| now[&c.param]).collect();
    for (k, c) in all.iter().enumerate() {
        let (acc, new) = (now[&c.param], of[k]);
        match &c.kind {
            Kind::Binary { path, swapped, .. } => {
                out[k] = w.push(Op::Table(*path), if *swapped { vec![new, acc] } else { vec![acc, new] })
            }
            Kind::Choose { callee, swapped, .. } => {
                let callee = w.again(*callee);
                out[k] = w.push(
                    Op::Call { keywords: [].into() },
                    if *swapped { vec![callee, new, acc] } else { vec![callee, acc, new] },
                );
                if let Some(reset) = said[k].reset {
                    out[k] = w.select(reset, &[(new, out[k])])[0];
                }
                if let Some(changed) = said[k].changed {
                    out[k] = w.select(changed, &[(out[k], acc)])[0];
                }
            }
            Kind::Truth { and } => {
                let group = group(all, k);
                let mine: Vec<Value> = group.iter().map(|j| now[&all[*j].param]).collect();
                let t = w.push(Op::Table(id::TRUTH), vec![acc]);
                let pairs: Vec<(Value, Value)> = group
                    .iter()
                    .zip(&mine)
                    .map(|(j, acc)| if *and { (of[*j], *acc) } else { (*acc, of[*j]) })
                    .collect();
                let chosen = w.select(t, &pairs);
                let changed = said[k].changed.unwrap_or(t);
                for (j, b) in
                    group.iter().zip(w.select(changed, &chosen.into_iter().zip(mine).collect::<Vec<_>>()))
                {
                    out[*j] = b;
                }
            }
            Kind::Select { .. } => {
                let group = group(all, k);
                let pairs: Vec<(Value, Value)> =
                    group.iter().map(|j| (of[*j], now[&all[*j].param])).collect();
                for (j, b) in group.iter().zip(w.better(&c.kind, (new, acc), &said[k], &pairs)) {
                    out[*j] = b;
                }
            }
            Kind::Follow { .. } => {}
            Kind::Last { flag: true } => {
                if let Some(changed) = said[k].changed {
                    out[k] = w.select(changed, &[(new, acc)])[0]
                }
            }
            Kind::Last { flag: false } => out[k] = new,
        }
    }
    // Where there is one piece only, it knows all.
    for (k, tuples) in shared.in_order().into_iter().filter(|o| (o.0 as usize) < all.len()) {
        let (k, group) = (k as usize, group(all, k as usize));
        let tuples = w.push(Op::Const(Const::Bool(tuples)), vec![]);
        let one = w.push(Op::Table(id::PARALLEL_KEEPS_ORDER), vec![of[k], tuples]);
        let pairs: Vec<(Value, Value)> = group.iter().map(|j| (of[*j], out[*j])).collect();
        for (j, b) in group.iter().zip(w.select(one, &pairs)) {
            out[*j] = b;
        }
    }
    out
}
