//! Lowers one typed function: blocks, values and edges one by one, operations through their own emitters.

use super::fusion_sinks::{self, Sink};
use super::notes::{Note, Notes};
use super::sequential_retry::{self, Retry};
use super::suspension::FrameMap;
use super::target;
use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::ArrayVal;
use crate::emit::cx::{Generators, LowerCx, OnError, OpCall, Options, Unlocked, Val, split_leaves};
use crate::emit::lazy::Elements;
use crate::emit::locks::{Look, Shared};
use crate::emit::{cast, constants};
use crate::exc::unbound;
use crate::host::GlobalValue;
use crate::infer::state::Session;
use crate::lir::builder::Builder;
use crate::lir::{self, Alias, LocData, Ty};
use crate::ops::reduce::of_row;
use crate::ops::region::Together;
use crate::ops::ufunc::Chain;
use crate::ops::{Body, id, raising};
use crate::ssa::{Block, BlockCall, Func, Fused, FusedArg, InstNode, InstanceId, Loc, Op, Term, Value};
use crate::types::{Const, Kind, Type};
use std::collections::HashMap;

/// State of lowering one function.
pub(crate) struct FuncLower<'a, 'h> {
    pub cx: LowerCx<'a>,
    pub session: &'a Session<'h>,
    pub func: &'a Func,
    pub globals: &'a HashMap<Value, GlobalValue>,
    pub values: Vec<Option<Val>>,
    consts: Vec<Option<Const>>,
    blocks: Vec<Option<lir::Block>>,
    /// In generators: values released in this block whose slots are empty by now, for edges that still pass
    /// them on.
    released: HashMap<Value, Val>,
    /// Set in generators: where values live between suspensions.
    pub frame: Option<FrameMap>,
    notes: Notes,
}

/// Lowers an ordinary function; what of it runs in parallel comes after it, and what became of its operations
/// on arrays.
pub(crate) fn lower_function(
    session: &Session<'_>,
    id: InstanceId,
    func: &Func,
    globals: &HashMap<Value, GlobalValue>,
    options: Options,
    generators: &Generators,
    guard: Option<&Shared>,
) -> Result<(Vec<lir::Func>, Vec<Note>)> {
    let t = target(session, id);
    let mut out = lir::Func::new(t.name.clone(), t.sig.clone());
    let results = t.sig.results[1..].to_vec();
    let b = Builder::start(&mut out);
    let params = b.params(lir::Block(0));
    let mut cx = LowerCx::new(b, params[0], results, options, generators);
    cx.guard = guard;
    let mut f = FuncLower::new(cx, session, func, globals);
    f.notes.parts = func.parallel;
    let entry = &func.blocks[0].params;
    for (p, val) in entry.iter().zip(split_leaves(&params[1..], &t.params)) {
        f.values[p.index()] = Some(val);
    }
    for (ty, val) in t.params.iter().zip(split_leaves(&params[1..], &t.params)) {
        assume_shapes(&mut f.cx, *ty, &val);
    }
    if is_recursive(session, id) {
        f.check_stack()?;
    }
    f.run(&[])?;
    let (made, notes) = (std::mem::take(&mut f.cx.chunks.made), std::mem::take(&mut f.notes.made));
    Ok((std::iter::once(out).chain(made).collect(), notes))
}

/// Axes of the arrays in an argument have no negative length.
fn assume_shapes(cx: &mut LowerCx<'_>, ty: Type, val: &[lir::Value]) {
    if let Some(a) = ty.as_array() {
        for n in &val[2..2 + a.ndim()] {
            cx.assume_not_negative(*n);
        }
    } else if let Some(m) = ty.members() {
        for (t, v) in m.iter().zip(split_leaves(val, m)) {
            assume_shapes(cx, *t, &v);
        }
    }
}

/// Whether an instance can reach itself through calls.
fn is_recursive(session: &Session<'_>, id: InstanceId) -> bool {
    let mut seen = std::collections::HashSet::new();
    let mut todo = vec![id];
    while let Some(at) = todo.pop() {
        let Some(t) = &session.at(at).typed else { continue };
        for c in super::callees(&t.func) {
            if c == id {
                return true;
            }
            if seen.insert(c) {
                todo.push(c);
            }
        }
    }
    false
}

impl<'a, 'h> FuncLower<'a, 'h> {
    pub(crate) fn new(
        cx: LowerCx<'a>,
        session: &'a Session<'h>,
        func: &'a Func,
        globals: &'a HashMap<Value, GlobalValue>,
    ) -> FuncLower<'a, 'h> {
        let n = func.values as usize;
        FuncLower {
            notes: Notes::default(),
            cx,
            session,
            func,
            globals,
            values: vec![None; n],
            consts: vec![None; n],
            blocks: vec![None; func.blocks.len()],
            released: HashMap::new(),
            frame: None,
        }
    }

    /// Lowers every reached block. `jump_to_entry` passes the entry block's arguments when it is not the LIR
    /// entry.
    pub(crate) fn run(&mut self, skip: &[Block]) -> Result<()> {
        let order = self.func.reverse_post_order();
        let entry = self.cx.b.block;
        self.blocks[0] = Some(entry);
        for b in &order {
            if *b == Block(0) || skip.contains(b) {
                continue;
            }
            let data = self.func.block(*b);
            let leaves: Vec<Ty> =
                data.params.iter().flat_map(|p| self.func.types[p.index()].leaves()).map(|l| l.ty).collect();
            // A block that starts with an exception is a handler: rarely reached.
            let handler = data.params.first().is_some_and(|p| *self.func.types[p.index()] == Kind::Exception);
            let lir = if handler { self.cx.b.new_cold_block(&leaves) } else { self.cx.b.new_block(&leaves) };
            self.blocks[b.index()] = Some(lir);
            let params = self.cx.b.params(lir);
            let types: Vec<Type> = data.params.iter().map(|p| self.func.types[p.index()]).collect();
            for (p, val) in data.params.iter().zip(split_leaves(&params, &types)) {
                self.values[p.index()] = Some(val);
            }
        }
        for b in &order {
            self.block(*b)?;
        }
        Ok(())
    }

    /// RecursionError when the stack has no room left; also where recursion without loops polls.
    pub(crate) fn check_stack(&mut self) -> Result<()> {
        let place = Loc { line: self.func.first_line, ..Loc::default() };
        self.cx.options.platform.recursion().map_err(|d| d.at(self.func.span(place)))?;
        let here = self.cx.b.slot_addr(8);
        // Volatile: other threads raise the limit to have a word with this one.
        let limit =
            self.cx.b.load(Ty::Ptr, self.cx.ctx, crate::offset!(ThreadCtx.stack_limit), Alias::Volatile);
        let ok = self.cx.b.bin(lir::Op::IcmpUle, limit, here);
        self.cx.begin(OnError { handler: None, frames: self.func.frames(place, 0) });
        let (cold, on) = (self.cx.b.new_cold_block(&[]), self.cx.b.new_block(&[]));
        self.cx.b.brif(ok, on, &[], cold, &[]);
        self.cx.b.switch_to(cold);
        self.cx.helper(&crate::ops::object::stack_check, &[here]);
        self.cx.b.jump(on, &[]);
        self.cx.b.switch_to(on);
        Ok(())
    }

    fn block(&mut self, b: Block) -> Result<()> {
        let lir = self.blocks[b.index()].ok_or_else(|| Diagnostic::internal("unreached block"))?;
        if self.session.host.interrupted() {
            return Err(Diagnostic::stopped());
        }
        self.released.clear();
        if b != Block(0) {
            self.cx.b.switch_to(lir);
        }
        if b != Block(0) {
            self.spill_params(b)?;
        }
        let data = self.func.block(b);
        for i in &data.insts {
            let node = self.func.inst(*i);
            self.locate(node.loc);
            self.inst(node).map_err(|e| e.at(self.func.span(node.loc)))?;
        }
        self.locate(data.term_loc);
        self.term(b)
    }

    fn spill_params(&mut self, b: Block) -> Result<()> {
        for p in self.func.block(b).params.clone() {
            if let Some(val) = self.values[p.index()].clone() {
                self.define(p, val);
            }
        }
        Ok(())
    }

    fn locate(&mut self, loc: Loc) {
        self.cx.b.loc = if loc.line == 0 { lir::Loc(0) } else { self.location(loc, 0) };
    }

    fn location(&mut self, loc: Loc, depth: u32) -> lir::Loc {
        let from = loc.inlined.checked_sub(1).and_then(|i| self.func.inlined.get(i as usize));
        let inlined_at = match from {
            Some(f) if depth < 100 => self.location(f.call, depth + 1),
            Some(_) | None => lir::Loc(0),
        };
        let span = self.func.span(loc);
        self.cx.b.func.add_loc(LocData {
            file: span.file,
            func: span.func,
            line: loc.line,
            col: loc.col,
            inlined_at,
        })
    }

    /// Machine values of a value; in a generator read back from its frame.
    pub(crate) fn val(&mut self, v: Value) -> Result<Val> {
        if let Some(val) = self.released.get(&v) {
            return Ok(val.clone());
        }
        if let Some(frame) = &self.frame
            && let Some(slots) = frame.slots_of(v)
        {
            let (ptr, slots) = (frame.ptr, slots.to_vec());
            return Ok(slots.iter().map(|(off, ty)| self.cx.b.load(*ty, ptr, *off, Alias::Frame)).collect());
        }
        if let Some(c) = self.consts[v.index()].clone() {
            // Constants are made where they are used: cheaper than keeping them in registers.
            let ty = self.func.types[v.index()];
            return constants::scalar(&mut self.cx.b, &c, ty)
                .ok_or_else(|| Diagnostic::internal(format!("no {ty} constant {c}")));
        }
        self.values[v.index()]
            .clone()
            .ok_or_else(|| Diagnostic::internal(format!("{v} is used before it is made")))
    }

    /// Gives a value its machine values; in a generator also stores those that live across a suspension.
    pub(crate) fn define(&mut self, v: Value, val: Val) {
        if let Some(frame) = &self.frame
            && let Some(slots) = frame.slots_of(v)
        {
            let (ptr, slots) = (frame.ptr, slots.to_vec());
            for ((off, _), x) in slots.iter().zip(&val) {
                self.cx.b.store(*x, ptr, *off, Alias::Frame);
            }
        }
        self.values[v.index()] = Some(val);
    }

    fn ty(&self, v: Value) -> Type {
        self.func.types[v.index()]
    }

    fn on_error(&mut self, node: &InstNode) -> Result<OnError> {
        let handler = match &node.unwind {
            Some(u) => Some((
                self.blocks[u.block.index()].ok_or_else(|| Diagnostic::internal("unreached handler"))?,
                self.args(u, 1)?,
            )),
            None => None,
        };
        // Code without a line of its own adds nothing to a traceback.
        let frames = if node.loc.line == 0 {
            vec![]
        } else {
            self.func.frames(node.loc, node.unwind.as_ref().map_or(0, |u| self.frame_of(u.block)))
        };
        Ok(OnError { handler, frames })
    }

    /// Which inlined function a handler belongs to ([`Loc::inlined`]); blocks that only release what the
    /// exception leaves behind belong to where they lead.
    fn frame_of(&self, handler: Block) -> u32 {
        let mut at = handler;
        for _ in 0..8 {
            let block = self.func.block(at);
            let of_user = block
                .insts
                .iter()
                .map(|i| self.func.inst(*i))
                .find(|n| !matches!(n.op, Op::Release | Op::Retain));
            match (of_user, &block.term) {
                // It stands for the call that was inlined, at the end of what was inlined.
                (Some(n), _) if matches!(n.op, Op::Apply(op) if op.is(id::EXC_LEAVE)) => {
                    return block.term_loc.inlined;
                }
                (Some(n), _) => return n.loc.inlined,
                (None, Term::Raise { .. }) => return 0,
                (None, Term::Jump(to)) => at = to.block,
                (None, Term::Branch { .. } | Term::Return(_) | Term::Unreachable | Term::None) => {
                    return block.term_loc.inlined;
                }
            }
        }
        0
    }

    /// Leaves of an edge's arguments.
    fn args(&mut self, to: &BlockCall, _skip: usize) -> Result<Vec<lir::Value>> {
        let mut out = vec![];
        for a in &to.args {
            out.extend(self.val(*a)?);
        }
        Ok(out)
    }

    fn inst(&mut self, node: &InstNode) -> Result<()> {
        let on_error = self.on_error(node)?;
        self.cx.begin(on_error);
        let Some(result) = node.result else {
            if node.op == Op::PopHandled {
                self.cx.helper(&raising::exc_pop_handled, &[self.cx.ctx]);
                return Ok(());
            }
            let v = node.args[0];
            let (val, ty) = (self.val(v)?, self.ty(v));
            if node.op == Op::Release {
                self.cx.release(&val, ty);
                self.forget(v, val);
            } else {
                self.cx.retain(&val, ty);
            }
            return Ok(());
        };
        let ty = self.ty(result);
        self.notes.begin(self.func, node, &mut self.cx.chunks);
        let val = match &node.op {
            Op::Const(c) => {
                self.consts[result.index()] = Some(c.clone());
                return Ok(());
            }
            Op::Undef => constants::absent(&mut self.cx.b, ty),
            Op::Global(_) | Op::Free(_) => {
                let g = self
                    .globals
                    .get(&result)
                    .ok_or_else(|| Diagnostic::internal("a global without a value"))?;
                global(&mut self.cx, g)?
            }
            Op::Member(k) => {
                let val = self.val(node.args[0])?;
                member(&val, self.ty(node.args[0]), *k)?
            }
            Op::CheckBound { name, captured } => {
                let val = self.val(node.args[0])?;
                self.check_bound(&val, self.ty(node.args[0]), name, *captured)
            }
            Op::Narrow(_) => {
                let val = self.val(node.args[0])?;
                cast::narrow(&mut self.cx, &val, self.func.types[node.args[0].index()], ty)?
            }
            Op::Cast => {
                let val = self.val(node.args[0])?;
                let from = self.ty(node.args[0]);
                cast::cast(&mut self.cx, &val, from, ty)?
            }
            Op::MakeFunction { .. } => {
                let mut out = vec![];
                for a in &node.args {
                    out.extend(self.val(*a)?);
                }
                out
            }
            Op::Apply(op) => self.apply(op, node, ty)?,
            Op::Fused(fused) => {
                let before = self.lock_operands(node)?;
                let val = self.fused(fused, node, ty)?;
                self.cx.unlock(before);
                val
            }
            Op::Broadcast => {
                let mut args = vec![];
                for a in &node.args {
                    args.push(self.val(*a)?);
                }
                let types: Vec<Type> = node.args.iter().map(|a| self.ty(*a)).collect();
                self.cx.guarded_lists(
                    || Look::Deep,
                    &args,
                    &types,
                    |cx| crate::ops::ufunc::emit_broadcast(cx, &args, &types, ty.leaf_count()),
                )?
            }
            Op::CallInstance(id) => self.call_instance(*id, node)?,
            Op::Region(id) => self.region(*id, node)?,
            Op::PushHandled => {
                let val = self.val(node.args[0])?;
                self.cx.helper(&raising::exc_push_handled, &[self.cx.ctx, val[0]]);
                vec![]
            }
            Op::Yield => return self.suspend(node),
            Op::Table(_)
            | Op::Call { .. }
            | Op::CallSpread { .. }
            | Op::Attr(_)
            | Op::SetAttr(_)
            | Op::PopHandled
            | Op::Retain
            | Op::Release => {
                return Err(Diagnostic::internal(format!("{:?} in typed code", node.op)));
            }
        };
        self.notes.note(self.func, node, &self.cx.chunks);
        if *ty == Kind::Never {
            return Ok(());
        }
        debug_assert_eq!(
            val.len(),
            ty.leaf_count(),
            "{:?} gives {} machine values for {ty}",
            node.op,
            val.len()
        );
        self.define(result, val);
        Ok(())
    }

    /// A released value's slots in a generator's frame are emptied, so that dropping the frame does not
    /// release twice.
    fn forget(&mut self, v: Value, val: Val) {
        let Some(frame) = &self.frame else { return };
        let Some(slots) = frame.slots_of(v) else { return };
        let (ptr, slots) = (frame.ptr, slots.to_vec());
        for ((off, ty), leaf) in slots.iter().zip(self.ty(v).leaves()) {
            if leaf.is_ref {
                let z = self.cx.zero(*ty);
                self.cx.b.store(z, ptr, *off, Alias::Frame);
            }
        }
        self.released.insert(v, val);
    }

    fn check_bound(&mut self, val: &[lir::Value], ty: Type, name: &str, captured: bool) -> Val {
        let (class, message) = unbound(name, captured);
        if let Kind::MaybeUndef(_) = *ty {
            self.cx.check(val[0], class, &message);
            val[1..].to_vec()
        } else {
            self.cx.raise_and_continue(class, &message);
            vec![]
        }
    }

    fn apply(&mut self, op: &'static crate::ops::OpDef, node: &InstNode, ret: Type) -> Result<Val> {
        let mut args = vec![];
        for a in &node.args {
            args.push(self.val(*a)?);
        }
        let types: Vec<Type> = node.args.iter().map(|a| self.ty(*a)).collect();
        let consts: Vec<Option<Const>> = node.args.iter().map(|a| self.consts[a.index()].clone()).collect();
        let call = OpCall { args: &args, types: &types, consts: &consts, ret, elementwise: false };
        match op.body {
            Body::Lir(_, emit) => {
                let r = self.cx.guarded_lists(|| op.look(), &args, &types, |cx| emit(cx, &call))?;
                if cfg!(debug_assertions)
                    && self.cx.landing_made()
                    && !op.raises
                    && !types.iter().any(|t| crate::types::promote::runs_generator(*t))
                {
                    return Err(Diagnostic::internal(format!(
                        "{} raises, which its row does not say",
                        op.name()
                    )));
                }
                Ok(r)
            }
            Body::Ufunc(rule, emit) => self.cx.guarded_lists(
                || op.look(),
                &args,
                &types,
                |cx| crate::ops::ufunc::emit_call(cx, &call, op, rule, emit, Chain::default()),
            ),
            Body::Py(path) => Err(Diagnostic::internal(format!("{path} was not resolved to an instance"))),
        }
    }

    /// The locks of lists that are joined into one loop with arrays.
    fn lock_operands(&mut self, node: &InstNode) -> Result<Option<Unlocked>> {
        let Some(guard) = self.cx.guard else { return Ok(None) };
        let mut args = vec![];
        for a in &node.args {
            args.push(self.val(*a)?);
        }
        let types: Vec<Type> = node.args.iter().map(|a| self.ty(*a)).collect();
        Ok(self.cx.lock(&guard.locks(Look::Deep, &args, &types)))
    }

    /// Steps in one loop: each but the last adds to the chain, which the last one runs.
    fn fused(&mut self, fused: &Fused, node: &InstNode, ret: Type) -> Result<Val> {
        let mut chain = Chain::default();
        let several = fused.steps.iter().any(|s| s.made);
        let ret = if several { fused.steps.last().map_or(ret, |s| s.ty) } else { ret };
        let together = fused.steps.iter().filter(|s| of_row(s.op).is_some()).count() > 1;
        let mut reductions = vec![];
        for (k, step) in fused.steps.iter().enumerate() {
            let (mut args, mut types, mut consts) = (vec![], vec![], vec![]);
            chain.operands.clear();
            for a in &step.args {
                let (v, t, c, from) = match *a {
                    FusedArg::Operand(i) => {
                        let v = node.args[i as usize];
                        (self.val(v)?, self.ty(v), self.consts[v.index()].clone(), None)
                    }
                    FusedArg::Step(j) => {
                        let before = &fused.steps[j as usize];
                        let shape = match before.shape {
                            Some(i) => self.val(node.args[i as usize])?,
                            None => vec![],
                        };
                        (vec![], before.ty, None, Some((j as usize, shape)))
                    }
                };
                args.push(v);
                types.push(t);
                consts.push(c);
                chain.operands.push(from);
            }
            if together && of_row(step.op).is_some() {
                reductions.push(Sink::new(&mut self.cx, &mut chain, step, args, types, consts)?);
                continue;
            }
            if k + 1 < fused.steps.len() || several && step.op.lazy.is_none() {
                chain.step(&mut self.cx, step.op, &args, &types, &consts, step.ty)?;
                continue;
            }
            let call = OpCall { args: &args, types: &types, consts: &consts, ret, elementwise: false };
            return match (step.op.body, step.op.lazy) {
                (Body::Ufunc(rule, emit), _) => {
                    crate::ops::ufunc::emit_call(&mut self.cx, &call, step.op, rule, emit, chain)
                }
                (_, Some((operand, emit))) => {
                    let array = types[operand]
                        .as_array()
                        .ok_or_else(|| Diagnostic::internal("elements of no array"))?;
                    let shape = chain.operands[operand]
                        .take()
                        .ok_or_else(|| Diagnostic::internal("elements without a shape"))?
                        .1;
                    let elements = Elements {
                        lazy: chain.lazy,
                        shape,
                        dtype: array.dtype,
                        layout: array.layout,
                        kept: None,
                    };
                    if !several {
                        return emit(&mut self.cx, &call, &elements);
                    }
                    let (made, sum) = crate::ops::reduce::emit_keeping(&mut self.cx, &call, elements)?;
                    Ok([made, sum].concat())
                }
                (Body::Lir(..) | Body::Py(_), None) => {
                    Err(Diagnostic::internal(format!("{} takes no elements", step.op.name())))
                }
            };
        }
        if together {
            return fusion_sinks::reduce(&mut self.cx, &chain.lazy, &reductions);
        }
        let last =
            fused.steps.len().checked_sub(1).ok_or_else(|| Diagnostic::internal("nothing was fused"))?;
        let mut wanted = vec![];
        for (k, step) in fused.steps.iter().enumerate().filter(|(k, s)| s.made || *k == last) {
            let (Some(shape), Some(array)) = (step.shape, step.ty.as_array()) else {
                return Err(Diagnostic::internal("an array without a shape"));
            };
            wanted.push((k, self.val(node.args[shape as usize])?, array.layout));
        }
        Ok(chain.lazy.arrays(&mut self.cx, &wanted)?.iter().flat_map(|a| a.pack()).collect())
    }

    fn call_instance(&mut self, id: InstanceId, node: &InstNode) -> Result<Val> {
        let t = target(self.session, id);
        let mut args = vec![self.cx.ctx];
        for a in &node.args {
            args.extend(self.val(*a)?);
        }
        Ok(self.cx.call(&t.name, &t.sig, &args))
    }

    /// Nothing is added to the trail of an exception: the body's own sites name the lines.
    fn region(&mut self, id: InstanceId, node: &InstNode) -> Result<Val> {
        self.cx.on_error.frames.clear();
        let t = target(self.session, id);
        let [args @ .., range, bound] = &node.args[..] else {
            return Err(Diagnostic::internal("a region without a range"));
        };
        let mut all = vec![];
        for a in args {
            all.extend(self.val(*a)?);
        }
        let (range, ty, mut bound) = (self.val(*range)?, self.ty(*range), self.val(*bound)?[0]);
        let given = t.ret.members().unwrap_or_default();
        let body = self.session.at(id).func.body.clone().unwrap_or_default();
        if body.in_order.iter().any(|(k, tuples)| {
            given.get(*k as usize).is_some_and(|t| crate::ops::parallel::keeps_order(*t, *tuples))
        }) {
            bound = self.cx.b.i64(i64::MAX);
        }
        if super::hidden_writes::need_order(self.session, id) {
            let why = "one thread runs all iterations in order: an iteration changes elements that another one uses, under another name";
            self.notes.note_region(self.func, node, "prange", Some(why));
            bound = self.cx.b.i64(i64::MAX);
        }
        let twice = self.retry(id, node, &mut all, &mut bound)?;
        let alone = body.careful && !super::pure::is_pure(self.session, id);
        if body.careful {
            self.notes.note_region(
                self.func,
                node,
                "comprehension",
                alone.then_some("its iterations do more than compute, and run in order"),
            );
        }
        let how = if twice {
            Together::Twice
        } else if alone {
            Together::Alone
        } else if super::pure::draws(self.session, id) {
            Together::Drawing
        } else {
            Together::Plain
        };
        // A loop that runs alone may do with its operands what it likes.
        let (operands, globals) = match how {
            Together::Alone => Default::default(),
            Together::Plain | Together::Drawing | Together::Twice | Together::Array => {
                super::apart::operands(self.session, id, self.func, args)
            }
        };
        for g in &globals {
            all.extend(global(&mut self.cx, g)?);
        }
        crate::ops::parallel::emit_region(
            &mut self.cx,
            &crate::emit::wrapper::wrapper_name(&t.name),
            (&all, &t.params, &operands),
            (&range, ty, bound),
            how,
            t.ret,
        )
    }

    /// Where what pieces find decides what may raise: makes it one piece that knows so, if it must be one;
    /// whether it is to run again after an exception.
    fn retry(
        &mut self,
        id: InstanceId,
        node: &InstNode,
        all: &mut [lir::Value],
        bound: &mut lir::Value,
    ) -> Result<bool> {
        let how = sequential_retry::retry(self.session, id);
        let written = match &how {
            Retry::Never => return Ok(false),
            Retry::Once { written } => written.as_slice(),
            Retry::Ordered => &[],
        };
        if let Retry::Ordered = how {
            let why = "one thread runs all iterations in order: what depends on what was found before may raise, and doing the loop twice would change what it leaves";
            self.notes.note_region(self.func, node, "prange", Some(why));
        }
        let mut ordered = self.cx.b.bool(matches!(how, Retry::Ordered));
        let array = |s: &mut Self, v: Value| -> Result<Option<ArrayVal>> {
            let (val, ty) = (s.val(v)?, s.ty(v));
            if ty.as_array().is_none() {
                return Ok(None);
            }
            ArrayVal::new(&mut s.cx, &val, ty).map(Some)
        };
        for k in written {
            let Some(to) = array(self, node.args[*k])? else { continue };
            for (j, v) in node.args.iter().enumerate() {
                if written.contains(&j) {
                    continue;
                }
                let Some(from) = array(self, *v)? else { continue };
                let meet = crate::emit::writing::extents_meet(&mut self.cx, &to, &from);
                ordered = self.cx.or(ordered, meet);
            }
        }
        let one = self.cx.b.i64(i64::MAX);
        *bound = self.cx.b.select(ordered, one, *bound);
        if let Some(slot) = all.get_mut(2) {
            *slot = ordered;
        }
        Ok(matches!(how, Retry::Once { .. }))
    }

    fn suspend(&mut self, node: &InstNode) -> Result<()> {
        let val = self.val(node.args[0])?;
        if let Some(frame) = &mut self.frame {
            frame.suspend(&mut self.cx, val);
        }
        if self.func.side.closes {
            // Where an exception goes is looked up again: what was loaded before belongs to the activation
            // that has ended.
            let on_error = self.on_error(node)?;
            self.cx.begin(on_error);
            if let Some(frame) = &self.frame {
                frame.exit(&mut self.cx);
            }
        }
        // What `send` would give: None.
        if let Some(r) = node.result {
            self.define(r, vec![]);
        }
        Ok(())
    }

    fn edge(&mut self, to: &BlockCall) -> Result<(lir::Block, Vec<lir::Value>)> {
        let block = self.blocks[to.block.index()]
            .ok_or_else(|| Diagnostic::internal("edge to an unreached block"))?;
        Ok((block, self.args(to, 0)?))
    }

    fn term(&mut self, b: Block) -> Result<()> {
        let data = self.func.block(b);
        match &data.term {
            Term::Jump(to) => {
                let (block, args) = self.edge(to)?;
                self.cx.b.jump(block, &args);
            }
            Term::Branch { cond, then_to, else_to } => {
                let cond = self.val(*cond)?;
                let (t, ta) = self.edge(then_to)?;
                let (e, ea) = self.edge(else_to)?;
                self.cx.b.brif(cond[0], t, &ta, e, &ea);
            }
            Term::Return(v) => {
                let val = self.val(*v)?;
                self.finish_return(val);
            }
            Term::Raise { exc, .. } => {
                let val = self.val(*exc)?;
                self.cx.begin(OnError::default());
                self.cx.return_error(val[0]);
            }
            Term::Unreachable => self.cx.b.unreachable(),
            Term::None => return Err(Diagnostic::internal("a block without an end")),
        }
        Ok(())
    }

    fn finish_return(&mut self, val: Val) {
        if let Some(frame) = &self.frame {
            return frame.finish(&mut self.cx);
        }
        let status = self.cx.b.i64(0);
        let all = std::iter::once(status).chain(val).collect();
        self.cx.b.ret(all);
    }
}

/// Leaves of member `k`.
fn member(val: &[lir::Value], ty: Type, k: u32) -> Result<Val> {
    let leaves = |k| {
        ty.member(k)
            .map(Type::leaf_count)
            .ok_or_else(|| Diagnostic::internal(format!("{ty} has no member {k}")))
    };
    // A variant says first which one it is.
    let mut at = matches!(ty.kind(), Kind::Variant(_)) as usize;
    for j in 0..k {
        at += leaves(j)?;
    }
    Ok(val[at..at + leaves(k)?].to_vec())
}

/// Machine values of a value that the host knows.
fn global(cx: &mut LowerCx<'_>, g: &GlobalValue) -> Result<Val> {
    Ok(match g {
        GlobalValue::Const(c) => {
            constants::scalar(&mut cx.b, c, c.ty()).ok_or_else(|| Diagnostic::internal("constant"))?
        }
        GlobalValue::Builtin(_)
        | GlobalValue::Module(_)
        | GlobalValue::Function(_)
        | GlobalValue::DType(_)
        | GlobalValue::NamedTupleClass(_)
        | GlobalValue::ExcClass(_)
        | GlobalValue::Class(_) => vec![],
        GlobalValue::Tuple(_, members) => {
            let mut out = vec![];
            for m in members {
                out.extend(global(cx, m)?);
            }
            out
        }
        GlobalValue::Array { ty, owner, data, shape, strides } => {
            let name = format!("global array {data:#x}");
            let mut out =
                vec![cx.b.symbol_addr(&format!("owner of {name}"), *owner), cx.b.symbol_addr(&name, *data)];
            for n in shape {
                out.push(cx.b.i64(*n));
            }
            if ty.as_array().is_some_and(|a| a.layout == crate::types::Layout::A) {
                for s in strides {
                    out.push(cx.b.i64(*s));
                }
            }
            out
        }
        GlobalValue::Foreign(what) | GlobalValue::Unsupported(what) => {
            return Err(Diagnostic::internal(format!("{what} reached lowering")));
        }
    })
}
