//! Writes the solved function down as typed SSA: reached blocks only, calls resolved, promotions explicit,
//! constants in place.

use super::generator_ids::generator_id;
use super::resolved::{Resolved, Source};
use super::state::{Key, Session, Solved, Typed};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::GlobalValue;
use crate::ssa::{Block, BlockCall, Func, Inst, Loc, Op, Term, Value};
use crate::types::{Const, Kind, Type, promote};
use std::collections::HashMap;
use std::sync::Arc;

struct Finisher<'a, 'h> {
    session: &'a Session<'h>,
    old: &'a Func,
    solved: Solved,
    ret: Type,
    /// What results are converted to where that is declared.
    declared: Option<Type>,
    new: Func,
    values: HashMap<Value, Value>,
    blocks: HashMap<Block, Block>,
    globals: HashMap<Value, GlobalValue>,
    captures: Vec<Value>,
    at: Block,
    loc: Loc,
    unwind: Option<BlockCall>,
    /// Place of each block in the order in which they are written: an edge to an earlier one closes a loop.
    position: HashMap<Block, usize>,
    /// Headers that several edges go back to, with the block through which they all go, once it is there.
    latches: HashMap<Block, Option<Block>>,
}

pub(crate) fn finish(
    session: &Session<'_>,
    old: &Arc<Func>,
    key: &Key,
    mut solved: Solved,
    declared: Option<Type>,
) -> Result<Typed> {
    for f in &mut solved.facts {
        f.ty = session.resolve(f.ty);
    }
    let ret = if old.is_generator {
        session.vars.channels.returned(generator_id(key))
    } else {
        session.resolve(solved.ret)
    };
    let new = Func {
        id: old.id,
        name: old.name.clone(),
        qualname: old.qualname.clone(),
        file: old.file.clone(),
        first_line: old.first_line,
        params: old.params.clone(),
        free: old.free.clone(),
        is_generator: old.is_generator,
        parallel: old.parallel,
        body: old.body.clone(),
        inlined: old.inlined.clone(),
        hash: old.hash,
        host: old.host,
        ..Func::default()
    };
    let mut f = Finisher {
        session,
        old,
        solved,
        ret,
        declared,
        new,
        values: HashMap::new(),
        blocks: HashMap::new(),
        globals: HashMap::new(),
        captures: vec![],
        at: Block(0),
        loc: Loc::default(),
        unwind: None,
        position: HashMap::new(),
        latches: HashMap::new(),
    };
    let order: Vec<Block> =
        old.reverse_post_order().into_iter().filter(|b| f.solved.reached[b.index()]).collect();
    for b in &order {
        f.make_block(*b, key);
    }
    for (i, b) in order.iter().enumerate() {
        f.position.insert(*b, i);
    }
    f.find_latches(&order);
    for b in &order {
        f.write_block(*b)?;
    }
    Ok(Typed { func: Arc::new(f.new), globals: f.globals })
}

impl Finisher<'_, '_> {
    fn ty(&self, old: Value) -> Type {
        self.solved.facts[old.index()].ty
    }

    fn typed_value(&mut self, ty: Type) -> Value {
        let v = self.new.make_value();
        self.new.types.push(ty);
        v
    }

    fn make_block(&mut self, b: Block, key: &Key) {
        let n = self.new.make_block();
        self.blocks.insert(b, n);
        for p in &self.old.block(b).params {
            let v = self.typed_value(self.ty(*p));
            self.new.blocks[n.index()].params.push(v);
            self.values.insert(*p, v);
        }
        if b == Block(0) {
            for t in &key.args[self.old.blocks[0].params.len()..] {
                let v = self.typed_value(*t);
                self.new.blocks[0].params.push(v);
                self.captures.push(v);
            }
        }
    }

    fn push(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let never_raises =
            matches!(op, Op::Const(_) | Op::Undef | Op::Global(_) | Op::Member(_) | Op::Narrow(_));
        let unwind = if never_raises { None } else { self.unwind.clone() };
        let v = self.new.push(self.at, op, args, self.loc, unwind);
        self.new.types.push(ty);
        v
    }

    fn constant(&mut self, c: Const, ty: Type) -> Value {
        self.push(Op::Const(c), vec![], ty)
    }

    fn cast(&mut self, v: Value, to: Type) -> Value {
        let from = self.new.types[v.index()];
        if from == to {
            return v;
        }
        let makes = promote::makes_tuple(from, to);
        let op = if makes { Op::Apply(crate::ops::var_tuple::widened()) } else { Op::Cast };
        self.push(op, vec![v], to)
    }

    /// A value as one of the type of those that it meets: it stays the number that it is.
    fn joined(&mut self, v: Value, to: Type) -> Result<Value> {
        let from = self.new.types[v.index()];
        if promote::makes_tuple(from, to) || !promote::may_not_fit(from, to) {
            return Ok(self.cast(v, to));
        }
        let made = self.new.insts.iter().find(|i| i.result == Some(v));
        // Of what the library does with an argument its caller is told when it comes.
        let known = made.map(|i| (&i.op, i.loc)).filter(|_| !self.session.is_library(self.old));
        let Some((Op::Const(Const::Int(n)), loc)) = known else {
            return Ok(self.push(Op::Apply(crate::ops::variant::joined()), vec![v], to));
        };
        let number = if let Kind::Optional(t) | Kind::MaybeUndef(t) = *to { t } else { to };
        if *n >= 0 {
            return Ok(self.cast(v, to));
        }
        Err(Diagnostic::new(
            Code::CannotUnify,
            format!("{n} is no {number}, as the values are that it meets in a variable or a result"),
        )
        .help(format!("write another value than {n}, or make all of them np.int64(...) or float(...)"))
        .at(self.old.span(loc)))
    }

    fn value(&mut self, old: Value) -> Result<Value> {
        self.values
            .get(&old)
            .copied()
            .ok_or_else(|| Diagnostic::internal(format!("{old} has no typed value")))
    }

    /// The constant that a value is. That a method is of a constant does not make it one.
    fn konst(&self, v: Value) -> Option<Const> {
        let fact = &self.solved.facts[v.index()];
        fact.konst.clone().filter(|_| !matches!(*fact.ty, Kind::Method(..)))
    }

    /// The constant that a source is, be it a parameter that the instance is specialised for.
    fn known(&self, s: &Source) -> Option<Const> {
        match s {
            Source::Const(c) => Some(c.clone()),
            Source::Value(v) => self.konst(*v),
            Source::As(of, ty) => self.known(of).filter(|c| super::call::stays_constant(c, *ty)),
            Source::Member(..)
            | Source::Part(..)
            | Source::Present(..)
            | Source::Owner(..)
            | Source::NotNone(_)
            | Source::Global(_)
            | Source::Pack(_)
            | Source::Rest(_)
            | Source::Keywords(..) => None,
        }
    }

    fn source(&mut self, s: &Source) -> Result<Value> {
        Ok(match s {
            Source::Value(v) => match self.known(s) {
                Some(c) => self.constant(c, self.ty(*v)),
                None => self.value(*v)?,
            },
            Source::Member(v, k) => self.member(*v, *k)?,
            Source::Part(of, k) => {
                let v = self.source(of)?;
                let ty = self.new.types[v.index()]
                    .member(*k)
                    .ok_or_else(|| Diagnostic::internal("missing member"))?;
                self.push(Op::Member(*k), vec![v], ty)
            }
            Source::NotNone(of) => {
                let v = self.source(of)?;
                if let Kind::Optional(t) = *self.new.types[v.index()] {
                    self.push(Op::Narrow(crate::ssa::Narrow::NotNone), vec![v], t)
                } else {
                    v
                }
            }
            Source::As(of, ty) => match self.known(s) {
                Some(c) => self.constant(c, *ty),
                None => {
                    let v = self.source(of)?;
                    self.cast(v, *ty)
                }
            },
            Source::Present(of, message) => {
                let v = self.source(of)?;
                let message = self.constant(Const::Str((*message).into()), Type::str());
                if let Kind::Optional(t) = *self.new.types[v.index()] {
                    self.push(Op::Apply(crate::ops::variant::present()), vec![v, message], t)
                } else {
                    v
                }
            }
            Source::Owner(of, message) => {
                let v = self.source(of)?;
                let message = self.constant(Const::Str(message.clone()), Type::str());
                if let Kind::Optional(t) = *self.new.types[v.index()] {
                    self.push(Op::Apply(crate::ops::variant::owner()), vec![v, message], t)
                } else {
                    v
                }
            }
            Source::Const(c) => self.constant(c.clone(), c.ty()),
            Source::Global(g) => self.global(g.clone())?,
            Source::Rest(of) => self.source(of)?,
            Source::Pack(m) => {
                let parts = m.iter().map(|s| self.source(s)).collect::<Result<Vec<_>>>()?;
                self.build(parts)
            }
            Source::Keywords(class, m) => {
                let parts = m.iter().map(|s| self.source(s)).collect::<Result<Vec<_>>>()?;
                let members = parts.iter().map(|v| self.new.types[v.index()]).collect();
                self.push(
                    Op::Apply(crate::ops::tuple::build()),
                    parts,
                    Type::new(Kind::NamedTuple(class, members)),
                )
            }
        })
    }

    fn build(&mut self, parts: Vec<Value>) -> Value {
        let ty = Type::tuple(parts.iter().map(|v| self.new.types[v.index()]).collect());
        let op = crate::ops::tuple::build();
        self.push(Op::Apply(op), parts, ty)
    }

    fn member(&mut self, old: Value, k: u32) -> Result<Value> {
        let ty = self.ty(old).member(k).ok_or_else(|| Diagnostic::internal("missing member"))?;
        let konst = match &self.solved.facts[old.index()].konst {
            Some(Const::Tuple(m)) => m.get(k as usize).cloned(),
            _ => None,
        };
        if let Some(c) = konst {
            return Ok(self.constant(c, ty));
        }
        let v = self.value(old)?;
        Ok(self.push(Op::Member(k), vec![v], ty))
    }

    fn global(&mut self, g: GlobalValue) -> Result<Value> {
        let (ty, konst) = super::globals::type_of_global(&g).map_err(Diagnostic::internal)?;
        if let Some(c) = konst {
            return Ok(self.constant(c, ty));
        }
        let v = self.push(Op::Global("".into()), vec![], ty);
        self.globals.insert(v, g);
        Ok(v)
    }

    fn edge(&mut self, to: &BlockCall, skip: usize) -> Result<BlockCall> {
        let block = self
            .blocks
            .get(&to.block)
            .copied()
            .ok_or_else(|| Diagnostic::internal("edge to a block that is not reached"))?;
        let mut args = vec![];
        for (a, p) in to.args.iter().zip(self.new.blocks[block.index()].params.clone().iter().skip(skip)) {
            let want = self.new.types[p.index()];
            let v = if matches!(*want, Kind::Conflict(..)) || *self.ty(*a) == Kind::Never {
                self.push(Op::Undef, vec![], want)
            } else {
                self.value(*a)?
            };
            args.push(self.joined(v, want)?);
        }
        Ok(BlockCall { block, args })
    }

    fn handler(&mut self, to: &Option<BlockCall>) -> Result<Option<BlockCall>> {
        match to {
            Some(u) if self.solved.reached[u.block.index()] => {
                if !self.may_raise_on(u, 1) {
                    return Ok(Some(self.edge(u, 1)?));
                }
                let exc = self.typed_value(Type::new(Kind::Exception));
                self.between(vec![exc], |f| {
                    let mut to = f.edge(u, 1)?;
                    to.args.insert(0, exc);
                    Ok(to)
                })
                .map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Whether what goes along an edge is converted in a way that may raise, which it must not where another
    /// edge is taken.
    fn may_raise_on(&self, to: &BlockCall, skip: usize) -> bool {
        let block = self.blocks.get(&to.block).copied();
        let params = block.map(|b| self.new.blocks[b.index()].params[skip..].to_vec()).unwrap_or_default();
        to.args.iter().zip(params).any(|(a, p)| promote::may_not_fit(self.ty(*a), self.new.types[p.index()]))
    }

    /// A block on an edge, which goes on to where `body`, written in it, says.
    fn between(
        &mut self,
        params: Vec<Value>,
        body: impl FnOnce(&mut Self) -> Result<BlockCall>,
    ) -> Result<BlockCall> {
        let here = std::mem::replace(&mut self.at, self.new.make_block());
        let between = self.at;
        self.new.blocks[between.index()].params = params;
        let unwind = self.unwind.take();
        let to = body(self);
        self.unwind = unwind;
        self.end_block(Term::Jump(to?));
        self.at = here;
        Ok(BlockCall { block: between, args: vec![] })
    }

    /// One side of a branch.
    fn side(&mut self, from: Block, to: &BlockCall) -> Result<BlockCall> {
        let write = |f: &mut Self| {
            let edge = f.edge(to, 0)?;
            Ok(f.poll_on(from, to, edge))
        };
        if self.may_raise_on(to, 0) { self.between(vec![], write) } else { write(self) }
    }

    fn is_back_edge(&self, from: Block, to: &BlockCall) -> bool {
        self.position.get(&to.block) <= self.position.get(&from)
    }

    fn find_latches(&mut self, order: &[Block]) {
        let old = self.old;
        let mut seen = std::collections::HashSet::new();
        for b in order {
            for to in old.block(*b).term.targets() {
                if self.position.contains_key(&to.block)
                    && self.is_back_edge(*b, to)
                    && !seen.insert(to.block)
                {
                    self.latches.insert(to.block, None);
                }
            }
        }
    }

    /// An edge that closes a loop polls: where it is the only one, here; else in a block through which all
    /// that go back to the header go, so that a loop polls at one place.
    fn close(&mut self, from: Block, old: &BlockCall) -> Result<BlockCall> {
        if !self.is_back_edge(from, old) {
            return self.edge(old, 0);
        }
        match self.latches.get(&old.block).copied() {
            None => {
                self.poll();
                self.edge(old, 0)
            }
            Some(_) => {
                let to = self.edge(old, 0)?;
                Ok(self.through_latch(old.block, to))
            }
        }
    }

    fn through_latch(&mut self, header: Block, to: BlockCall) -> BlockCall {
        if let Some(Some(latch)) = self.latches.get(&header).copied() {
            return BlockCall { block: latch, args: to.args };
        }
        let here = std::mem::replace(&mut self.at, self.new.make_block());
        let latch = self.at;
        self.latches.insert(header, Some(latch));
        let types: Vec<Type> =
            self.new.blocks[to.block.index()].params.iter().map(|p| self.new.types[p.index()]).collect();
        let params: Vec<Value> = types.into_iter().map(|t| self.typed_value(t)).collect();
        self.new.blocks[latch.index()].params = params.clone();
        self.poll();
        self.new.blocks[latch.index()].term = Term::Jump(BlockCall { block: to.block, args: params });
        self.new.blocks[latch.index()].term_loc = self.loc;
        self.at = here;
        BlockCall { block: latch, args: to.args }
    }

    fn poll(&mut self) {
        self.push(Op::Apply(crate::ops::exception::poll()), vec![], Type::none());
    }

    /// A branch that goes back polls on that edge alone, in a block of its own: the other side may be an
    /// inner loop's next turn.
    fn poll_on(&mut self, from: Block, old: &BlockCall, to: BlockCall) -> BlockCall {
        if !self.is_back_edge(from, old) {
            return to;
        }
        if self.latches.contains_key(&old.block) {
            return self.through_latch(old.block, to);
        }
        let here = std::mem::replace(&mut self.at, self.new.make_block());
        let between = self.at;
        self.poll();
        self.new.blocks[between.index()].term = Term::Jump(to);
        self.new.blocks[between.index()].term_loc = self.loc;
        self.at = here;
        BlockCall { block: between, args: vec![] }
    }

    fn write_block(&mut self, b: Block) -> Result<()> {
        let old = self.old;
        self.at = self.blocks[&b];
        // A parameter whose value is known is that constant: emitters ask for the axis that a library
        // function was specialised for.
        for p in &old.block(b).params {
            if let (Some(c), ty) = (self.konst(*p), self.solved.facts[p.index()].ty) {
                let v = self.constant(c, ty);
                self.values.insert(*p, v);
            }
        }
        for i in &old.block(b).insts {
            self.loc = old.inst(*i).loc;
            self.unwind = None;
            if self.solved.raises[i.index()] {
                self.unwind = self.handler(&old.inst(*i).unwind)?;
            }
            if self.write_inst(*i)? {
                self.new.blocks[self.at.index()].term = Term::Unreachable;
                return Ok(());
            }
        }
        self.unwind = None;
        self.loc = old.block(b).term_loc;
        let term = match &old.block(b).term {
            Term::Jump(to) => Term::Jump(self.close(b, to)?),
            Term::Branch { cond, then_to, else_to } => match self.solved.facts[cond.index()].konst.clone() {
                Some(c) => {
                    let to = if c.truth() { then_to } else { else_to };
                    Term::Jump(self.close(b, to)?)
                }
                None if *self.ty(*cond) == Kind::Never => Term::Unreachable,
                None => {
                    let cond = self.value(*cond)?;
                    let (then_to, else_to) = (self.side(b, then_to)?, self.side(b, else_to)?);
                    Term::Branch { cond, then_to, else_to }
                }
            },
            Term::Return(v) if *self.ret == Kind::Never && *self.ty(*v) != Kind::Never => {
                let text = format!("it is not known what the generator `{}` returns", self.old.name);
                return Err(Diagnostic::new(Code::UnknownElementType, text)
                    .at(self.old.span(self.old.block(b).term_loc))
                    .help("say what the elements of an empty list are, or return nothing"));
            }
            Term::Return(v) if *self.ty(*v) != Kind::Never => {
                let v = self.value(*v)?;
                let v = self.joined(v, self.ret)?;
                Term::Return(self.declared.map_or(v, |to| self.cast(v, to)))
            }
            Term::Raise { exc, unwind } if *self.ty(*exc) != Kind::Never => {
                let exc = self.value(*exc)?;
                match self.handler(unwind)? {
                    Some(mut to) => {
                        to.args.insert(0, exc);
                        Term::Jump(to)
                    }
                    None => Term::Raise { exc, unwind: None },
                }
            }
            Term::Return(_) | Term::Raise { .. } | Term::None | Term::Unreachable => Term::Unreachable,
        };
        self.new.blocks[self.at.index()].term = term;
        self.new.blocks[self.at.index()].term_loc = self.loc;
        Ok(())
    }

    /// Writes one instruction; true when control does not go on after it.
    fn write_inst(&mut self, i: Inst) -> Result<bool> {
        let node = self.old.inst(i);
        if node.args.iter().any(|a| *self.ty(*a) == Kind::Never) {
            return Ok(true);
        }
        let Some(result) = node.result else {
            // Only `PopHandled` has no result in untyped code.
            self.new.insts.push(crate::ssa::InstNode {
                op: node.op.clone(),
                args: vec![],
                result: None,
                loc: self.loc,
                unwind: None,
            });
            let inst = Inst::new(self.new.insts.len() - 1);
            self.new.blocks[self.at.index()].insts.push(inst);
            return Ok(false);
        };
        let fact = self.solved.facts[result.index()].clone();
        let ty = if self.session.resolve(fact.ty) == fact.ty {
            fact.ty
        } else {
            return Err(Diagnostic::internal("unresolved type"));
        };
        if let Some(c) = self.konst(result) {
            if let Some(Resolved::After(of, _)) = self.solved.resolved.get(&i).cloned() {
                self.source(&of)?;
            }
            let v = self.constant(c, ty);
            self.values.insert(result, v);
            return Ok(false);
        }
        let given = self.solved.given.get(&i).map_or(ty, |t| self.session.resolve(*t));
        let v = match self.solved.resolved.get(&i).cloned() {
            Some(r) => self.write_resolved(i, r, given, result)?,
            None => self.write_plain(i, given, result)?,
        };
        let v = self.cast(v, ty);
        self.values.insert(result, v);
        Ok(*ty == Kind::Never)
    }

    fn write_resolved(&mut self, i: Inst, r: Resolved, ty: Type, result: Value) -> Result<Value> {
        let all = |f: &mut Self, sources: &[Source], coerce: &[Type]| -> Result<Vec<Value>> {
            let mut out = Vec::with_capacity(sources.len());
            for (k, s) in sources.iter().enumerate() {
                // A constant number takes the type that is wanted at once, and stays a constant for the
                // operation to see.
                if let (Some(c), Some(want)) = (f.known(s), coerce.get(k))
                    && want.is_number()
                    && c.ty().is_number()
                {
                    out.push(f.constant(c, *want));
                    continue;
                }
                let v = f.source(s)?;
                let want = coerce.get(k).map_or(f.new.types[v.index()], |t| f.session.resolve(*t));
                out.push(f.cast(v, want));
            }
            Ok(out)
        };
        let written: Result<Value> = (|| {
            Ok(match r {
                Resolved::Apply { op, sources, coerce } => {
                    let args = all(self, &sources, &coerce)?;
                    self.push(Op::Apply(op), args, ty)
                }
                Resolved::Instance { id, sources, coerce, .. } => {
                    let args = all(self, &sources, &coerce)?;
                    // Of Python's numbers or NumPy's: what the function says.
                    let given = self.session.resolve(self.session.at(id).ret);
                    if given != ty && promote::same_but_weak(given, ty) {
                        let v = self.push(Op::CallInstance(id), args, given);
                        self.cast(v, ty)
                    } else {
                        self.push(Op::CallInstance(id), args, ty)
                    }
                }
                Resolved::Region { id, sources, coerce } => {
                    let args = all(self, &sources, &coerce)?;
                    self.push(Op::Region(id), args, ty)
                }
                Resolved::Task { id, sources, coerce } => {
                    let args = all(self, &sources, &coerce)?;
                    self.push(Op::Task(id), args, ty)
                }
                Resolved::Build { sources } => {
                    let args = all(self, &sources, &[])?;
                    self.push(Op::Apply(crate::ops::tuple::build()), args, ty)
                }
                Resolved::Retype(s) => {
                    let v = self.attribute_owner(i, &s)?;
                    self.push(Op::Cast, vec![v], ty)
                }
                Resolved::Member(Source::Value(v), k) if !matches!(*self.ty(v), Kind::Optional(_)) => {
                    self.member(v, k)?
                }
                Resolved::Member(s, k) => {
                    let v = self.attribute_owner(i, &s)?;
                    self.push(Op::Member(k), vec![v], ty)
                }
                Resolved::As(how, given) => {
                    let v = self.write_resolved(i, *how, given, result)?;
                    self.cast(v, ty)
                }
                Resolved::After(s, how) => {
                    self.source(&s)?;
                    self.write_resolved(i, *how, ty, result)?
                }
                Resolved::Dispatch { on, ways } => self.dispatch(i, &on, ways, ty, result)?,
                Resolved::Impossible(code, text) => {
                    let raised = crate::ops::variant::raised(code);
                    let raised = self.constant(Const::Int(raised), Type::int());
                    let text = self.constant(Const::Str(text), Type::str());
                    self.push(Op::Apply(crate::ops::variant::impossible()), vec![raised, text], Type::never())
                }
                Resolved::Same(s) => self.source(&s)?,
                Resolved::Known(g) => self.global(g)?,
                Resolved::Nothing => match self.solved.globals.get(&result).cloned() {
                    Some(g) => self.global(g)?,
                    None => self.push(Op::Undef, vec![], ty),
                },
            })
        })();
        written.map_err(|e| e.at(self.old.span(self.old.inst(i).loc)))
    }

    /// One way after the other: asks whether it is this one, else goes on to the next; all meet in a block
    /// that takes the result.
    fn dispatch(
        &mut self,
        i: Inst,
        on: &Source,
        ways: Vec<(Resolved, Type, Option<Const>)>,
        ty: Type,
        result: Value,
    ) -> Result<Value> {
        let v = self.source(on)?;
        let join = self.new.make_block();
        let out = self.typed_value(ty);
        self.new.blocks[join.index()].params.push(out);
        let count = ways.len();
        for (k, (way, way_ty, konst)) in ways.into_iter().enumerate() {
            let way_ty = self.session.resolve(way_ty);
            let mut next = None;
            if k + 1 < count {
                let which = self.constant(Const::Int(k as i64), Type::int());
                // Of an optional value None is the first way, and all else the other.
                let cond = self.push(Op::Apply(crate::ops::variant::is()), vec![v, which], Type::bool());
                let (here, other) = (self.new.make_block(), self.new.make_block());
                let to = |block| BlockCall { block, args: vec![] };
                self.end_block(Term::Branch { cond, then_to: to(here), else_to: to(other) });
                self.at = here;
                next = Some(other);
            }
            let r = match konst {
                Some(c) => {
                    if let Resolved::After(of, _) = &way {
                        self.source(of)?;
                    }
                    self.constant(c, way_ty)
                }
                None => self.write_resolved(i, way, way_ty, result)?,
            };
            if *way_ty == Kind::Never {
                self.end_block(Term::Unreachable);
            } else {
                let r = self.joined(r, ty)?;
                self.end_block(Term::Jump(BlockCall { block: join, args: vec![r] }));
            }
            if let Some(b) = next {
                self.at = b;
            }
        }
        self.at = join;
        Ok(out)
    }

    fn end_block(&mut self, term: Term) {
        let block = &mut self.new.blocks[self.at.index()];
        (block.term, block.term_loc) = (term, self.loc);
    }

    /// The value whose attribute an instruction takes; of an optional value the value, with a check.
    fn attribute_owner(&mut self, i: Inst, s: &Source) -> Result<Value> {
        let v = self.source(s)?;
        let (Kind::Optional(inner), Op::Attr(name)) =
            (self.new.types[v.index()].kind(), &self.old.inst(i).op)
        else {
            return Ok(v);
        };
        let message = crate::ops::variant::none_has_no(name, false);
        let message = self.constant(Const::Str(message.into()), Type::str());
        Ok(self.push(Op::Apply(crate::ops::variant::owner()), vec![v, message], *inner))
    }

    fn write_plain(&mut self, i: Inst, ty: Type, result: Value) -> Result<Value> {
        let node = self.old.inst(i);
        let args = node.args.iter().map(|a| self.value(*a)).collect::<Result<Vec<_>>>()?;
        Ok(match &node.op {
            Op::Const(c) => self.constant(c.clone(), ty),
            Op::Undef => self.push(Op::Undef, vec![], ty),
            Op::Free(n) if (*n as usize) < self.captures.len() => self.captures[*n as usize],
            Op::Global(_) | Op::Free(_) => {
                let g = self
                    .solved
                    .globals
                    .get(&result)
                    .cloned()
                    .ok_or_else(|| Diagnostic::internal("a global without a value"))?;
                self.global(g)?
            }
            Op::Member(k) => self.push(Op::Member(*k), args, ty),
            Op::CheckBound { .. } => {
                if self.new.types[args[0].index()] == ty {
                    args[0]
                } else {
                    self.push(node.op.clone(), args, ty)
                }
            }
            Op::Narrow(n) => {
                if self.new.types[args[0].index()] == ty {
                    args[0]
                } else if *ty == Kind::Never {
                    self.push(Op::Undef, vec![], ty)
                } else {
                    self.push(Op::Narrow(*n), vec![args[0]], ty)
                }
            }
            Op::MakeFunction { .. } => self.push(node.op.clone(), args, ty),
            Op::Yield => {
                let yields = self.session.resolve(self.solved.yields);
                let v = self.joined(args[0], yields)?;
                self.push(Op::Yield, vec![v], ty)
            }
            Op::PushHandled | Op::PopHandled => self.push(node.op.clone(), args, ty),
            Op::Table(_)
            | Op::Call { .. }
            | Op::CallSpread { .. }
            | Op::Attr(_)
            | Op::SetAttr(_)
            | Op::Apply(_)
            | Op::CallInstance(_)
            | Op::Region(_)
            | Op::Task(_)
            | Op::Fused(_)
            | Op::Broadcast
            | Op::Cast
            | Op::Retain
            | Op::Release => return Err(Diagnostic::internal(format!("{:?} was not resolved", node.op))),
        })
    }
}
