//! Types one function: a worklist over blocks in reverse post-order, each value with a type and, where known,
//! a constant.
//!
//! Optimistic: a block is typed when something reaches it, a branch on a constant reaches one side, a call of
//! an instance that is still being solved gives what is known of its result. Types only grow at block
//! parameters, so the loop ends; errors count when it has ended.

use super::channels;
use super::generator_ids::generator_id;
use super::numba;
use super::resolved::{Source, Typed};
use super::state::{DEEPEST, Fact, Key, LARGEST, Session, Solved, Solver};
use super::unknown::unknown_elements;
use super::waiting::Waiting;
use crate::diag::{Code, Diagnostic, Result};
use crate::host::GlobalValue;
use crate::meaning::Meaning;
use crate::ops::{self, OpId, id};
use crate::ssa::opt::unroll::{self, Counting, Rewrite};
use crate::ssa::{Block, BlockCall, Func, Inst, InstanceId, Loc, Op, Term, Value};
use crate::types::{Const, Kind, Type, work};
use crate::typing::Arg;
use crate::typing::vars::Site;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Types a function. Where loops in it are written out, the function that has types comes with them.
pub(crate) fn solve(
    session: &mut Session<'_>,
    id: InstanceId,
    func: &Arc<Func>,
    key: &Key,
) -> Result<(Solved, Arc<Func>)> {
    let own = numba::has_own_numbers(func, key.meaning);
    let before = std::mem::replace(&mut session.vars.like_elements, own);
    let solved = solve_in_rounds(session, id, func, key);
    session.vars.like_elements = before;
    solved
}

fn solve_in_rounds(
    session: &mut Session<'_>,
    id: InstanceId,
    func: &Arc<Func>,
    key: &Key,
) -> Result<(Solved, Arc<Func>)> {
    let mut func = func.clone();
    // What values were while lists seemed empty is forgotten once more is known: what a generator over nothing
    // gives must not meet what it gives later, nor an array of nothing one of bools.
    let mut rounds = 8;
    loop {
        let known = session.vars.version;
        let mut s = Solver::new(session, id, &func, key.meaning);
        s.enter(key)?;
        if id.0 == 0 {
            s.records_are_read()?;
        }
        s.run()?;
        if let Some(rewrite) = s.rewrite.take() {
            func = rewritten(&func, &rewrite)?;
            continue;
        }
        let failed_early = s.has_failed() && s.session.vars.version != known;
        if rounds == 0 || !(s.waiting.has_ended() || failed_early) {
            s.report()?;
            let out = s.out;
            return Ok((out, func));
        }
        rounds -= 1;
    }
}

/// The function in which loops are written out.
fn rewritten(func: &Func, rewrite: &Rewrite) -> Result<Arc<Func>> {
    let Some(new) = unroll::rewritten(func, rewrite) else {
        let e = ops::unroll::without_loop();
        return Err(match rewrite {
            Rewrite::Loop(call, _) | Rewrite::Count(Counting { unroll: call, .. }, _) => {
                e.at(func.span(func.inst(*call).loc))
            }
            Rewrite::List(_) | Rewrite::Displays(_) | Rewrite::Stores(..) | Rewrite::Keywords(_) => e,
        });
    };
    if cfg!(debug_assertions) {
        crate::ssa::verify::verify(&new)?;
    }
    Ok(Arc::new(new))
}

impl<'s, 'h> Solver<'s, 'h> {
    /// The place of an instruction, for type variables that are made there.
    pub(super) fn site(&self, i: Inst) -> Site {
        Site { instance: self.id.0, inst: i.0 }
    }

    fn new(session: &'s mut Session<'h>, id: InstanceId, func: &'s Func, meaning: Meaning) -> Solver<'s, 'h> {
        let order = func.reverse_post_order();
        let mut position = vec![u32::MAX; func.blocks.len()];
        for (i, b) in order.iter().enumerate() {
            position[b.index()] = i as u32;
        }
        let n = func.values as usize;
        let mut users: Vec<Vec<Block>> = vec![vec![]; n];
        for b in &order {
            let mut add = |v: &Value| {
                if users[v.index()].last() != Some(b) {
                    users[v.index()].push(*b)
                }
            };
            for i in &func.block(*b).insts {
                let node = func.inst(*i);
                node.args.iter().for_each(&mut add);
                node.unwind.iter().for_each(|u| u.args.iter().for_each(&mut add));
            }
            let term = &func.block(*b).term;
            term.targets().iter().for_each(|t| t.args.iter().for_each(&mut add));
            match term {
                Term::Branch { cond, .. } => add(cond),
                Term::Return(v) | Term::Raise { exc: v, .. } => add(v),
                Term::None | Term::Jump(_) | Term::Unreachable => {}
            }
        }
        let facts = vec![Fact { ty: Type::never(), konst: None }; n];
        let out = Solved {
            ret: Type::never(),
            yields: Type::never(),
            facts,
            reached: vec![false; func.blocks.len()],
            open: BTreeSet::new(),
            resolved: HashMap::new(),
            given: HashMap::new(),
            globals: HashMap::new(),
            raises: vec![false; func.insts.len()],
        };
        let (errors, term_errors, work) = (HashMap::new(), HashMap::new(), BTreeSet::new());
        Solver {
            session,
            id,
            func,
            out,
            errors,
            term_errors,
            work,
            position,
            order,
            users,
            seen: vec![false; n],
            visits: 0,
            args: vec![],
            captures: vec![],
            waiting: Waiting::default(),
            rewrite: None,
            meaning,
            received: Type::none(),
            only_users: None,
        }
    }

    fn has_failed(&self) -> bool {
        !self.errors.is_empty() || !self.term_errors.is_empty()
    }

    /// What the arguments say.
    fn enter(&mut self, key: &Key) -> Result<()> {
        let (func, entry) = (self.func, &self.func.blocks[0]);
        let n = entry.params.len();
        self.args.clone_from(&key.args);
        self.captures = key.args.iter().copied().zip(key.consts.iter().cloned()).skip(n).collect();
        if key.args.len() < n {
            let (name, given) = (&func.name, key.args.len());
            return Err(Diagnostic::internal(format!("`{name}` has {n} parameters, the instance {given}")));
        }
        for ((p, ty), konst) in entry.params.iter().zip(&key.args).zip(&key.consts) {
            self.out.facts[p.index()] = Fact { ty: *ty, konst: konst.clone() };
            self.seen[p.index()] = true;
        }
        self.out.ret = key.result.unwrap_or_else(Type::never);
        if func.is_generator {
            let looked_at = channels::looks_at_what_is_sent(func);
            let number = generator_id(key);
            // What Python sends comes too late to be asked about.
            if looked_at
                && !self.is_look()
                && *self.session.vars.channels.sent(number) == Kind::None
                && let Some(said) = self.session.host.sent_type(key.func)
            {
                _ = self.session.vars.send(number, said);
            }
            self.received = match (looked_at, self.is_look()) {
                (true, true) => self.session.vars.sent_so_far(key.func),
                _ => self.session.vars.received(key.func, number, looked_at),
            };
        }
        self.out.reached[0] = true;
        self.work.insert(self.position[0]);
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        let limit = 60 * self.order.len() as u32 + 200;
        loop {
            let version = self.session.vars.version;
            while let Some(next) = self.work.pop_first() {
                self.visits += 1;
                if self.visits > limit {
                    return Err(self.unsettled());
                }
                if work::is_too_much() {
                    return Err(self.too_much_work());
                }
                if self.session.host.interrupted() {
                    return Err(Diagnostic::stopped());
                }
                self.visit_block(self.order[next as usize]);
                if self.rewrite.is_some() {
                    return Ok(());
                }
            }
            if version == self.session.vars.version && !self.settle() {
                break;
            }
            // More is known of a variable: whoever touches it is looked at again.
            for (i, b) in self.order.iter().enumerate() {
                if self.out.reached[b.index()] {
                    self.work.insert(i as u32);
                }
            }
        }
        if !self.is_look() {
            for i in self.waiting.calls() {
                self.errors.entry(i).or_insert_with(unknown_elements);
            }
        }
        Ok(())
    }

    /// Whether this is a look into a function, whose variables are the caller's, and no instance.
    pub(crate) fn is_look(&self) -> bool {
        self.session.is_look(self.id)
    }

    fn too_much_work(&self) -> Diagnostic {
        let text = format!(
            "the types of `{}` take too long to find out: its objects lead to many others",
            self.func.name
        );
        Diagnostic::new(Code::RunawayRecursion, text)
            .at(self.func.span(Loc { line: self.func.first_line, ..Loc::default() }))
            .help("pass what it needs of them")
    }

    fn unsettled(&self) -> Diagnostic {
        Diagnostic::new(Code::CannotUnify, format!("the types of `{}` do not settle", self.func.name))
            .at(self.func.span(Loc { line: self.func.first_line, ..Loc::default() }))
            .help("a variable's type grows at every round of a loop (a tuple that gets longer?); use a list")
    }

    /// The first error in program order, if any.
    fn report(&mut self) -> Result<()> {
        for b in &self.order {
            if !self.out.reached[b.index()] {
                continue;
            }
            for i in &self.func.block(*b).insts {
                if let Some(e) = self.errors.remove(i) {
                    return Err(e.at(self.func.span(self.func.inst(*i).loc)));
                }
            }
            if let Some(e) = self.term_errors.remove(b) {
                return Err(e.at(self.func.span(self.func.block(*b).term_loc)));
            }
        }
        Ok(())
    }

    pub(crate) fn fact(&self, v: Value) -> &Fact {
        &self.out.facts[v.index()]
    }
    pub(crate) fn ty(&self, v: Value) -> Type {
        self.out.facts[v.index()].ty
    }
    pub(crate) fn arg(&self, v: Value) -> Arg {
        let f = self.fact(v);
        Arg { ty: f.ty, konst: f.konst.clone() }
    }

    fn set(&mut self, v: Value, ty: Type, konst: Option<Const>) {
        let f = &mut self.out.facts[v.index()];
        if f.ty == ty && f.konst == konst {
            return;
        }
        *f = Fact { ty, konst };
        for b in &self.users[v.index()] {
            if self.out.reached[b.index()] {
                self.work.insert(self.position[b.index()]);
            }
        }
    }

    fn visit_block(&mut self, b: Block) {
        let func = self.func;
        for i in &func.block(b).insts {
            let node = func.inst(*i);
            match self.transfer(*i) {
                Ok(raises) => {
                    self.errors.remove(i);
                    self.out.raises[i.index()] = raises;
                    if raises && let Some(u) = &node.unwind {
                        self.flow(b, u, true);
                    }
                    // What never gives a result ends the block, as does what takes such a value (that a
                    // generator which never yields is said to give): nothing after it is reached.
                    if node.result.is_some_and(|r| *self.ty(r) == Kind::Never)
                        || node.args.iter().any(|a| *self.ty(*a) == Kind::Never)
                    {
                        return;
                    }
                }
                Err(e) => {
                    self.rewrite = self
                        .list_to_unroll(*i)
                        .or_else(|| self.list_of_types(*i, &e))
                        .or_else(|| self.display_of_types(*i, &e))
                        .or_else(|| self.keywords_changed(*i, &e));
                    if self.rewrite.is_some() {
                        return;
                    }
                    self.errors.insert(*i, e);
                }
            }
        }
        self.term_errors.remove(&b);
        match &func.block(b).term {
            Term::Jump(to) => self.flow(b, to, false),
            Term::Branch { cond, then_to, else_to } => {
                let f = self.fact(*cond).clone();
                if *f.ty == Kind::Never {
                    return;
                }
                match f.konst {
                    Some(c) => self.flow(b, if c.truth() { then_to } else { else_to }, false),
                    None => {
                        self.flow(b, then_to, false);
                        self.flow(b, else_to, false);
                    }
                }
            }
            Term::Return(v) => {
                let ty = self.ty(*v);
                match self.joined_results(self.out.ret, ty) {
                    Some(t) if t == self.out.ret => {}
                    Some(t) => self.out.ret = self.results_apart(t),
                    None => {
                        let e = Diagnostic::new(
                            Code::CannotUnify,
                            format!(
                                "`{}` returns {} here and {} elsewhere",
                                func.name,
                                self.session.resolve(ty),
                                self.session.resolve(self.out.ret)
                            ),
                        )
                        .help("return values of one type from every path");
                        self.term_errors.insert(b, e);
                    }
                }
            }
            Term::Raise { unwind, .. } => {
                if let Some(u) = unwind {
                    self.flow_raise(b, u)
                }
            }
            Term::None | Term::Unreachable => {}
        }
    }

    fn flow_raise(&mut self, from: Block, to: &BlockCall) {
        self.flow(from, to, true)
    }

    /// Passes arguments along an edge. A handler's first parameter is the exception.
    fn flow(&mut self, from: Block, to: &BlockCall, handler: bool) {
        let target = to.block;
        let params = &self.func.block(target).params;
        let skip = handler as usize;
        if handler && let Some(p) = params.first() {
            self.seen[p.index()] = true;
            self.set(*p, Type::new(Kind::Exception), None);
        }
        if params.len() != to.args.len() + skip {
            self.term_errors.insert(
                from,
                Diagnostic::internal(format!(
                    "edge to {target} passes {} arguments to {} parameters",
                    to.args.len(),
                    params.len()
                )),
            );
            return;
        }
        for (k, (p, a)) in params[skip..].iter().zip(&to.args).enumerate() {
            let incoming = self.fact(*a).clone();
            if *incoming.ty == Kind::Never {
                continue;
            }
            if !self.seen[p.index()] {
                self.seen[p.index()] = true;
                self.set(*p, incoming.ty, incoming.konst);
                continue;
            }
            let old = self.fact(*p).clone();
            match self.joined_at(target, old.ty, incoming.ty) {
                // `t = (t, x)` in a loop: the next rounds would only say the same at more length, and what
                // walks over types does so on the stack.
                Some(ty) if ty != old.ty && ty.is_larger_than(DEEPEST, LARGEST) => {
                    self.term_errors.insert(from, self.unsettled());
                }
                Some(ty) => {
                    let ty = if ty == old.ty { ty } else { self.parameter_apart(target, k, ty) };
                    let konst =
                        if old.konst == incoming.konst && old.ty == incoming.ty { old.konst } else { None };
                    self.set(*p, ty, konst);
                }
                None => {
                    // Two types meet in a variable that nobody may read: it becomes unreadable, and a read
                    // reports it.
                    self.set(
                        *p,
                        conflict(self.session.resolve(old.ty), self.session.resolve(incoming.ty)),
                        None,
                    );
                }
            }
        }
        if !self.out.reached[target.index()] {
            self.out.reached[target.index()] = true;
            self.work.insert(self.position[target.index()]);
        }
    }

    /// Types one instruction; says whether it may raise.
    fn transfer(&mut self, i: Inst) -> Result<bool> {
        self.waiting.forget(i);
        let node = self.func.inst(i);
        for a in &node.args {
            let t = self.ty(*a);
            if *t == Kind::Never {
                if let Some(r) = node.result {
                    self.set(r, Type::never(), None);
                }
                return Ok(false);
            }
            if let Some((a, b)) = as_conflict(t)
                && !matches!(node.op, Op::CheckBound { .. } | Op::Narrow(_))
            {
                let iterator = |t: Type| matches!(t.kind(), Kind::Iter(_) | Kind::Generator(..));
                let help = if node.op == Op::Table(id::BUILTINS_ITER) || iterator(a) || iterator(b) {
                    "give the two values different names; of what a loop only goes through, make both iterators: \
                     iter(x)"
                } else {
                    "give the two values different names"
                };
                return Err(Diagnostic::new(
                    Code::CannotUnify,
                    format!("this variable is {a} on one path and {b} on another"),
                )
                .help(help));
            }
        }
        let (ty, konst, raises) = self.evaluate(i)?;
        if let Some(r) = node.result {
            let ty = self.as_meant(i, ty);
            self.set(r, ty, konst);
        }
        Ok(raises)
    }

    fn evaluate(&mut self, i: Inst) -> Result<(Type, Option<Const>, bool)> {
        let node = self.func.inst(i);
        let plain = |t: Type| Ok((t, None, false));
        match &node.op {
            Op::Const(c) => Ok((c.ty(), Some(c.clone()), false)),
            Op::Undef => plain(Type::undef()),
            Op::Global(name) => {
                match self.global_named(name) {
                    Some(GlobalValue::Variable { of, name }) => self.variable(i, *of, &name),
                    Some(value) => self.global(node.result, value, name),
                    // NameError when it is reached, as in Python.
                    None => {
                        self.rows(i, id::NAME_MISSING, vec![Source::Const(Const::Str(name.clone()))], vec![])
                    }
                }
            }
            Op::Free(n) => self.captured(node.result, *n),
            Op::Table(id::PARALLEL_REGION) => self.region(i),
            Op::Table(id::ARRAY_ELEMENT) => self.element_of(i),
            Op::Table(id::BUILTINS_DELATTR) => {
                let operands: Vec<Source> = node.args.iter().map(|v| Source::Value(*v)).collect();
                self.by_name(i, id::BUILTINS_DELATTR, &operands)
            }
            Op::Table(id::UNROLL_COUNTED) => self.still_unrolled(i),
            Op::Table(path) if let Some(typed) = self.made_of_others(i, *path) => typed,
            Op::Table(id::GETITEM | id::OR) if let Some(none) = self.type_expression(i) => none,
            Op::Table(path) => {
                if self.keeps_numbers_in(i, *path, &node.args)? {
                    return plain(Type::never());
                }
                let args: Vec<Source> = node.args.iter().map(|v| Source::Value(*v)).collect();
                let path =
                    if *path == id::LIST_BUILD && self.serves_as_tuple(i) { id::TUPLE_BUILD } else { *path };
                self.operation(i, path, args)
            }
            Op::Call { keywords } => {
                let split = node.args.len() - keywords.len();
                let positional = node.args[1..split].iter().map(|v| Source::Value(*v)).collect();
                let named = keywords
                    .iter()
                    .cloned()
                    .zip(node.args[split..].iter().map(|v| Source::Value(*v)))
                    .collect();
                self.call(i, &Source::Value(node.args[0]), positional, named)
            }
            Op::CallSpread { keywords } => self.call_spread(i, keywords),
            Op::Attr(name) => self.attribute(i, &Source::Value(node.args[0]), name),
            Op::SetAttr(name) => self.set_attribute(i, name),
            Op::MakeFunction { func, defaults, kwdefaults } => {
                let split = *defaults as usize + kwdefaults.len();
                let tys: Vec<Type> = node.args.iter().map(|v| self.ty(*v)).collect();
                let f = crate::types::FuncType {
                    func: *func,
                    defaults: tys[..split].to_vec(),
                    captures: tys[split..].to_vec(),
                    kwdefaults: kwdefaults.iter().map(|n| n.to_string()).collect(),
                    bound: false,
                };
                plain(Type::new(Kind::Function(f)))
            }
            Op::Member(k) => self.member(node.args[0], *k),
            Op::CheckBound { name, .. } => self.read_variable(node.args[0], name),
            Op::Narrow(n) => {
                let f = self.fact(node.args[0]).clone();
                let class = node.args.get(1).map(|c| self.ty(*c));
                let ty = super::narrow::narrowed(self.session.host, f.ty, *n, class);
                let konst =
                    if *ty == Kind::None { Some(Const::None) } else { f.konst.filter(|_| ty == f.ty) };
                Ok((ty, konst, false))
            }
            Op::Yield => {
                let ty = self.ty(node.args[0]);
                let one = self.joined_variable(self.out.yields, ty).ok_or_else(|| {
                    Diagnostic::new(
                        Code::CannotUnify,
                        format!(
                            "this yield gives {}, others {}",
                            self.session.resolve(ty),
                            self.session.resolve(self.out.yields)
                        ),
                    )
                })?;
                self.out.yields = if one == self.out.yields { one } else { self.yields_apart(one) };
                // A generator that is closed while it is suspended leaves through its handlers.
                Ok((self.received, None, node.unwind.is_some()))
            }
            Op::PushHandled | Op::PopHandled => plain(Type::none()),
            Op::Apply(_)
            | Op::CallInstance(_)
            | Op::Region(_)
            | Op::Task(_)
            | Op::Fused(_)
            | Op::Broadcast
            | Op::Cast
            | Op::Retain
            | Op::Release => Err(Diagnostic::internal("typed instruction in untyped code")),
        }
    }

    /// The value of the n-th captured variable.
    fn captured(&mut self, result: Option<Value>, n: u32) -> Result<(Type, Option<Const>, bool)> {
        if let Some((ty, konst)) = self.captures.get(n as usize) {
            return Ok((*ty, konst.clone(), false));
        }
        let name = self.func.free.get(n as usize).cloned().unwrap_or_default();
        let value = self.closed_over(n).ok_or_else(|| {
            Diagnostic::new(Code::UndefinedName, format!("captured variable '{name}' is not bound"))
        })?;
        self.global(result, value, &name)
    }

    /// A variable where it is read, which may not be bound or have two types that no type holds.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other type is that of a variable with a value")]
    fn read_variable(&mut self, v: Value, name: &str) -> Result<(Type, Option<Const>, bool)> {
        let f = self.fact(v).clone();
        match *f.ty {
            Kind::Undef => Ok((Type::never(), None, true)),
            Kind::MaybeUndef(t) => Ok((t, None, true)),
            _ => match as_conflict(f.ty) {
                Some((a, b)) => Err(Diagnostic::new(
                    Code::CannotUnify,
                    format!("variable '{name}' is {a} on one path and {b} on another"),
                )
                .help("use two names")),
                None => Ok((f.ty, f.konst, false)),
            },
        }
    }

    /// `f(*args, **kwargs)`.
    fn call_spread(&mut self, i: Inst, keywords: &[Arc<str>]) -> Result<(Type, Option<Const>, bool)> {
        let node = self.func.inst(i);
        let spread = node.args[1];
        let (all, ty) = if let Kind::Optional(t) = *self.ty(spread) {
            (
                Source::Present(
                    Box::new(Source::Value(spread)),
                    "argument after * must be an iterable, not NoneType",
                ),
                t,
            )
        } else {
            (Source::Value(spread), self.ty(spread))
        };
        if let Some(d) = self.special_spread(ty) {
            return Err(d);
        }
        if (ty.members().is_none() || self.given_before(spread).is_some())
            && let Some(spread) = self.spread_of_unknown_length(i, keywords)?
        {
            return Ok(spread);
        }
        self.call_with_members(i, keywords, &all)
    }

    /// A call with the members of a tuple for its positional arguments, which may be one of several.
    fn call_with_members(&mut self, i: Inst, keywords: &[Arc<str>], all: &Source) -> Typed {
        let node = self.func.inst(i);
        let ty = self.source_arg(all)?.ty;
        if matches!(ty.kind(), Kind::Variant(m) if m.iter().all(|t| t.members().is_some())) {
            return self.dispatch(i, all, &mut |s, way| s.call_with_members(i, keywords, way));
        }
        let members = ty.members().ok_or_else(|| super::spread::not_spread(self.session.resolve(ty)))?;
        let positional = (0..members.len()).map(|k| all.part(k as u32)).collect();
        let mut named = vec![];
        for (key, v) in keywords.iter().zip(&node.args[2..]) {
            if &**key != "**" {
                named.push((key.clone(), Source::Value(*v)));
                continue;
            }
            let Kind::NamedTuple(class, _) = self.ty(*v).kind() else {
                if let (true, [_]) = (members.is_empty(), keywords)
                    && let Some(typed) = self.format_of_mapping(i, *v)?
                {
                    return Ok(typed);
                }
                return Err(Diagnostic::new(
                    Code::BadCall,
                    format!(
                        "only what a function takes as **kwargs can be passed on by **, not {}",
                        self.ty(*v)
                    ),
                )
                .help("write the keyword arguments out"));
            };
            if !class.is_keywords() {
                return Err(Diagnostic::new(Code::BadCall, format!("a {} is not a mapping", class.name)));
            }
            named.extend(
                class
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(k, f)| (f.as_str().into(), Source::Member(*v, k as u32))),
            );
        }
        self.call(i, &Source::Value(node.args[0]), positional, named)
    }

    /// The instruction that uses what an instruction gives, if it is one and uses it once.
    pub(super) fn only_user(&mut self, of: Inst) -> Option<Inst> {
        let value = self.func.inst(of).result?;
        self.only_users.get_or_insert_with(|| only_users(self.func)).get(&value).copied().flatten()
    }

    /// Whether a list is made for nothing but one call of a NumPy function: `np.concatenate([a, b])`. Those
    /// take tuples as well, whose members may be of different types and need no memory.
    fn serves_as_tuple(&mut self, list: Inst) -> bool {
        let node = self.func.inst(list);
        let Some(value) = node.result.filter(|_| node.args.len() <= 64) else { return false };
        let Some(user) = self.only_user(list) else { return false };
        let by = self.func.inst(user);
        if matches!(by.op, Op::Table(id::LIST_BUILD | id::TUPLE_BUILD)) {
            return self.serves_as_tuple(user);
        }
        if matches!(by.op, Op::Call { .. }) {
            return by.args[0] != value
                && matches!(*self.ty(by.args[0]), Kind::Builtin(p) | Kind::Method(p, _) if p.facts().list_may_be_tuple);
        }
        // `a + [1, 2]`, `a[1:] = [[1, 2], [3, 4]]`.
        let Op::Table(p) = by.op else { return false };
        (p.plain().unwrap_or(p).is_elementwise() || p == id::SETITEM && by.args[2] == value)
            && by
                .args
                .iter()
                .any(|v| *v != value && self.ty(*v).as_array().is_some_and(|a| a.dtype.is_number()))
    }

    /// Operands of a function of NumPy, `()` in place of lists that are known to be empty: what is put into
    /// such a list later says nothing about an array that was made of it (`np.array([])` has floats).
    pub(crate) fn empty_operands(&mut self, i: Inst, id: OpId, operands: Vec<Source>) -> Vec<Source> {
        if !only_reads(id) {
            return operands;
        }
        let is_empty = |s: &Source| matches!(s, Source::Value(v) if matches!(*self.ty(*v), Kind::List(_)) && self.is_still_empty(i, *v));
        let known = |s: Source| if is_empty(&s) { Source::Const(Const::Tuple(vec![])) } else { s };
        operands.into_iter().map(known).collect()
    }

    /// Whether a value is the `[]` that this block has made, which nothing but functions of NumPy that only
    /// read it have had until this instruction.
    fn is_still_empty(&self, i: Inst, list: Value) -> bool {
        let func = self.func;
        let makes = |j: &Inst| func.inst(*j).result == Some(list);
        let Some(block) = func.blocks.iter().find(|b| b.insts.iter().any(makes)) else { return false };
        let (mut empty, mut made) = (true, false);
        for j in &block.insts {
            let node = func.inst(*j);
            if *j == i {
                return made && empty;
            }
            if makes(j) {
                made = true;
                empty = matches!(node.op, Op::Table(id::LIST_BUILD)) && node.args.is_empty();
            } else if node.args.contains(&list) {
                empty &= matches!(node.op, Op::Call { .. })
                    && matches!(*self.ty(node.args[0]), Kind::Builtin(p) if only_reads(p));
            }
        }
        false
    }

    /// The type of a value that is known when the function is compiled.
    fn global(
        &mut self,
        result: Option<Value>,
        value: GlobalValue,
        name: &str,
    ) -> Result<(Type, Option<Const>, bool)> {
        self.known_value(result, value, &format!("global '{name}'"))
    }

    fn member(&mut self, v: Value, k: u32) -> Result<(Type, Option<Const>, bool)> {
        let f = self.fact(v).clone();
        let konst = match &f.konst {
            Some(Const::Tuple(m)) => m.get(k as usize).cloned(),
            _ => None,
        };
        let ty = f.ty.member(k).ok_or_else(|| Diagnostic::internal(format!("{} has no member {k}", f.ty)))?;
        Ok((ty, konst, false))
    }
}

/// For each value that is used the instruction that uses it, if it is one instruction and used there once.
fn only_users(func: &Func) -> HashMap<Value, Option<Inst>> {
    let mut users: HashMap<Value, Option<Inst>> = HashMap::new();
    let mut add = |v: &Value, by: Option<Inst>| {
        users.entry(*v).and_modify(|u| *u = None).or_insert(by);
    };
    for b in &func.blocks {
        for i in &b.insts {
            let node = func.inst(*i);
            node.args.iter().for_each(|v| add(v, Some(*i)));
            node.unwind.iter().flat_map(|u| &u.args).for_each(|v| add(v, None));
        }
        b.term.targets().iter().flat_map(|t| &t.args).for_each(|v| add(v, None));
        match &b.term {
            Term::Branch { cond: v, .. } | Term::Return(v) | Term::Raise { exc: v, .. } => add(v, None),
            Term::None | Term::Jump(_) | Term::Unreachable => {}
        }
    }
    users
}

/// Whether a function of NumPy changes none of its operands, and keeps none.
fn only_reads(id: OpId) -> bool {
    id.facts().makes_arrays && id.rows().iter().all(|row| row.effect != ops::Effect::Writes)
}

/// A variable of two types that no type holds: harmless until it is read.
fn conflict(a: Type, b: Type) -> Type {
    match (as_conflict(a), as_conflict(b)) {
        (Some(_), _) => a,
        (None, Some(_)) => b,
        (None, None) => Type::new(Kind::Conflict(a, b)),
    }
}
fn as_conflict(t: Type) -> Option<(Type, Type)> {
    if let Kind::Conflict(a, b) = *t { Some((a, b)) } else { None }
}
