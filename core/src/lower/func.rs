//! Lowers one typed function: blocks, values and edges one by one, operations through their own emitters.

mod calls;
mod operations;

use super::notes::{Note, Notes};
use super::suspension::FrameMap;
use super::target;
use crate::diag::{Diagnostic, Result};
use crate::emit::cx::{Generators, LowerCx, OnError, Options, Val, split_leaves};
use crate::emit::locks::{Look, Shared};
use crate::emit::wrapper::SLOT;
use crate::emit::{cast, constants};
use crate::exc::{Class, unbound};
use crate::host::GlobalValue;
use crate::infer::state::Session;
use crate::lir::builder::Builder;
use crate::lir::{self, Alias, LocData, Ty};
use crate::ops::{id, raising};
use crate::ssa::{Block, BlockCall, Func, InstNode, InstanceId, Loc, Op, Term, Value};
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
    } else if let Some(m) = ty.parts() {
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
        let own = self.cx.options.platform.stack_limit();
        let at = own.map_or(crate::offset!(ThreadCtx.stack_limit), |at| at as i32);
        let here = self.cx.b.slot_addr(8);
        // Volatile: other threads raise the limit to have a word with this one.
        let limit = self.cx.b.load(Ty::Ptr, self.cx.ctx, at, Alias::Volatile);
        let ok = self.cx.b.bin(lir::Op::IcmpUle, limit, here);
        self.cx.begin(OnError { handler: None, frames: self.func.frames(place, 0) });
        if own.is_some() {
            self.locate(place);
            self.cx.check(ok, Class::RecursionError, "maximum recursion depth exceeded");
            return Ok(());
        }
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
            Op::Task(id) => self.task(*id, node)?,
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
        self.cx.release_made(0);
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
        if let Some(frame) = &self.frame {
            let ty = node.result.map_or_else(Type::none, |r| self.ty(r));
            let val = frame.received(&mut self.cx, ty);
            if let Some(r) = node.result {
                self.define(r, val);
            }
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
                self.finish_return(val, self.ty(*v))?;
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

    fn finish_return(&mut self, val: Val, ty: Type) -> Result<()> {
        if let Some(frame) = &self.frame {
            frame.returned(&mut self.cx, &val, ty)?;
            frame.finish(&mut self.cx);
            return Ok(());
        }
        let status = self.cx.b.i64(0);
        let all = std::iter::once(status).chain(val).collect();
        self.cx.b.ret(all);
        Ok(())
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
        GlobalValue::Member(class, n) => match class.value_of_member(*n) {
            Some(value) => global(cx, &GlobalValue::Const(value))?,
            None => vec![cx.b.i64(i64::from(*n))],
        },
        GlobalValue::Time(_, n) => vec![cx.b.i64(*n)],
        GlobalValue::Slice(parts) => {
            let mut out = vec![];
            for c in parts {
                let part = constants::scalar(&mut cx.b, c, c.ty());
                out.extend(part.ok_or_else(|| Diagnostic::internal("constant"))?);
            }
            out
        }
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
        GlobalValue::Passed { ty, place } => {
            let at = cx.b.symbol_addr(&format!("global value {place:#x}"), *place);
            let leaves = ty.leaves();
            // No code writes there while this code can see it.
            (0..).zip(&leaves).map(|(i, leaf)| cx.b.load(leaf.ty, at, i * SLOT, Alias::Stack)).collect()
        }
        GlobalValue::Variable { .. } => {
            return Err(Diagnostic::internal("a variable reached lowering"));
        }
        GlobalValue::Foreign(what) | GlobalValue::TypeExpression(what) | GlobalValue::Unsupported(what) => {
            return Err(Diagnostic::internal(format!("{what} reached lowering")));
        }
    })
}
