//! Types one function: a worklist over blocks in reverse post-order, each value with a type and, where known,
//! a constant.
//!
//! Optimistic: a block is typed when something reaches it, a branch on a constant reaches one side, a call of
//! an instance that is still being solved gives what is known of its result. Types only grow at block
//! parameters, so the loop ends; errors count when it has ended.

use super::call::{self, Resolved};
use super::cx::{Answer, Arg, TyCx};
use super::hints;
use super::session::{Key, Session};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::GlobalValue;
use crate::ops::{self, Body, Home, OpId, id};
use crate::ssa::{Block, BlockCall, Func, Inst, InstanceId, Loc, Narrow, Op, Term, Value};
use crate::types::{Const, Kind, Type, promote};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How deep types of variables that change and of arguments may nest, and how many types they may hold.
pub const DEEPEST: usize = 64;
pub const LARGEST: usize = 10_000;

/// What is known of one value.
#[derive(Clone, Debug)]
pub struct Fact {
    pub ty: Type,
    pub konst: Option<Const>,
}

/// Types of one function.
pub struct Solved {
    pub ret: Type,
    pub yields: Type,
    pub facts: Vec<Fact>,
    pub reached: Vec<bool>,
    /// How each instruction is carried out.
    pub resolved: HashMap<Inst, Resolved>,
    pub globals: HashMap<Value, GlobalValue>,
    /// Which instructions may raise: only their edges to handlers were taken, so only what those pass has a
    /// type there.
    pub raises: Vec<bool>,
}

pub struct Solver<'s, 'h> {
    pub session: &'s mut Session<'h>,
    pub id: InstanceId,
    pub func: &'s Func,
    pub out: Solved,
    errors: HashMap<Inst, Diagnostic>,
    term_errors: HashMap<Block, Diagnostic>,
    /// Blocks to visit, by position in reverse post-order.
    work: BTreeSet<u32>,
    position: Vec<u32>,
    order: Vec<Block>,
    /// Blocks that use a value.
    users: Vec<Vec<Block>>,
    /// Whether a block parameter has been reached by an argument yet.
    seen: Vec<bool>,
    visits: u32,
    /// Types of the captured variables, which follow the parameters in the key.
    captures: Vec<Type>,
    /// See [`only_users`]; found when first asked for.
    only_users: Option<HashMap<Value, Option<Inst>>>,
}

pub fn solve(session: &mut Session<'_>, id: InstanceId, func: &Func, key: &Key) -> Result<Solved> {
    let mut s = Solver::new(session, id, func);
    let entry = &func.blocks[0];
    let n = entry.params.len();
    s.captures = key.args.get(n..).unwrap_or_default().to_vec();
    if key.args.len() < n {
        return Err(Diagnostic::internal(format!(
            "`{}` has {} parameters, the instance {}",
            func.name,
            entry.params.len(),
            key.args.len()
        )));
    }
    for ((p, ty), konst) in entry.params.iter().zip(&key.args).zip(&key.consts) {
        s.out.facts[p.index()] = Fact { ty: *ty, konst: konst.clone() };
        s.seen[p.index()] = true;
    }
    s.out.reached[0] = true;
    s.work.insert(s.position[0]);
    s.run()?;
    Ok(s.out)
}

impl<'s, 'h> Solver<'s, 'h> {
    fn new(session: &'s mut Session<'h>, id: InstanceId, func: &'s Func) -> Solver<'s, 'h> {
        let order = reverse_post_order(func);
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
            resolved: HashMap::new(),
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
            captures: vec![],
            only_users: None,
        }
    }

    fn run(&mut self) -> Result<()> {
        let limit = 60 * self.order.len() as u32 + 200;
        loop {
            let version = self.session.var_version;
            while let Some(next) = self.work.pop_first() {
                self.visits += 1;
                if self.visits > limit {
                    return Err(self.unsettled());
                }
                if self.session.host.interrupted() {
                    return Err(Diagnostic::stopped());
                }
                self.visit_block(self.order[next as usize]);
            }
            if version == self.session.var_version && !self.settle_empty_lists() {
                break;
            }
            // An element type changed: whoever touches a list is looked at again.
            for (i, b) in self.order.iter().enumerate() {
                if self.out.reached[b.index()] {
                    self.work.insert(i as u32);
                }
            }
        }
        self.report()
    }

    /// Lists that stay empty and are passed on hold integers: `sorted([x for x in xs if DEBUG])`, with the
    /// global `DEBUG` False. Whether that changed anything.
    fn settle_empty_lists(&mut self) -> bool {
        // Inside a look ahead the lists may be the caller's, who may fill them later.
        if self.id.index() >= self.session.instances.len()
            || !self.errors.values().any(|e| e.code == Code::UnknownElementType)
        {
            return false;
        }
        let types: Vec<Type> = self.out.facts.iter().map(|f| f.ty).collect();
        self.session.settle_empty_lists(&types)
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

    pub fn fact(&self, v: Value) -> &Fact {
        &self.out.facts[v.index()]
    }
    pub fn ty(&self, v: Value) -> Type {
        self.out.facts[v.index()].ty
    }
    pub fn arg(&self, v: Value) -> Arg {
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
                match self.session.unify(self.out.ret, ty) {
                    Some(t) => self.out.ret = t,
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
        for (p, a) in params[skip..].iter().zip(&to.args) {
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
            match self.session.unify(old.ty, incoming.ty) {
                // `t = (t, x)` in a loop: the next rounds would only say the same at more length, and what
                // walks over types does so on the stack.
                Some(ty) if ty != old.ty && ty.is_larger_than(DEEPEST, LARGEST) => {
                    self.term_errors.insert(from, self.unsettled());
                }
                Some(ty) => {
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
                return Err(Diagnostic::new(
                    Code::CannotUnify,
                    format!("this variable is {a} on one path and {b} on another"),
                )
                .help("give the two values different names"));
            }
        }
        let (ty, konst, raises) = self.evaluate(i)?;
        if let Some(r) = node.result {
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
                let host = self.session.host;
                match host.global(self.func.host, name) {
                    Some(value) => self.global(node.result, value, name),
                    // NameError when it is reached, as in Python.
                    None => self.rows(
                        i,
                        id::NAME_MISSING,
                        vec![call::Source::Const(Const::Str(name.clone()))],
                        vec![],
                    ),
                }
            }
            Op::Free(n) => {
                if let Some(ty) = self.captures.get(*n as usize) {
                    return plain(*ty);
                }
                let host = self.session.host;
                let name = self.func.free.get(*n as usize).cloned().unwrap_or_default();
                let value = host.free(self.func.host, *n).ok_or_else(|| {
                    Diagnostic::new(Code::UndefinedName, format!("captured variable '{name}' is not bound"))
                })?;
                self.global(node.result, value, &name)
            }
            Op::Table(id::PARALLEL_REGION) => self.region(i),
            Op::Table(id::ARRAY_ELEMENT) => self.element_of(i),
            Op::Table(path) => {
                let args: Vec<call::Source> = node.args.iter().map(|v| call::Source::Value(*v)).collect();
                let path =
                    if *path == id::LIST_BUILD && self.serves_as_tuple(i) { id::TUPLE_BUILD } else { *path };
                self.operation(i, path, args)
            }
            Op::Call { keywords } => {
                let split = node.args.len() - keywords.len();
                let positional = node.args[1..split].iter().map(|v| call::Source::Value(*v)).collect();
                let named = keywords
                    .iter()
                    .cloned()
                    .zip(node.args[split..].iter().map(|v| call::Source::Value(*v)))
                    .collect();
                self.call(i, &call::Source::Value(node.args[0]), positional, named)
            }
            Op::CallSpread { keywords } => self.call_spread(i, keywords),
            Op::Attr(name) => self.attribute(i, &call::Source::Value(node.args[0]), name),
            Op::SetAttr(name)
                if let Some(set) =
                    OpId::find(&format!("{}.{name}=", call::class_of(self.ty(node.args[0])))) =>
            {
                self.rows(i, set, node.args.iter().map(|v| call::Source::Value(*v)).collect(), vec![])
            }
            Op::SetAttr(name) => Err(Diagnostic::new(
                Code::UnknownAttribute,
                format!("cannot set attribute '{name}' of {}", self.ty(node.args[0])),
            )),
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
            Op::CheckBound { name, .. } => {
                let f = self.fact(node.args[0]).clone();
                match *f.ty {
                    Kind::Undef => Ok((Type::never(), None, true)),
                    Kind::MaybeUndef(t) => Ok((t, None, true)),
                    _ => {
                        if let Some((a, b)) = as_conflict(f.ty) {
                            return Err(Diagnostic::new(
                                Code::CannotUnify,
                                format!("variable '{name}' is {a} on one path and {b} on another"),
                            )
                            .help("use two names"));
                        }
                        Ok((f.ty, f.konst, false))
                    }
                }
            }
            Op::Narrow(n) => {
                let f = self.fact(node.args[0]).clone();
                let class = node.args.get(1).map(|c| self.ty(*c));
                let ty = narrowed(self.session.host, f.ty, *n, class);
                let konst = if *ty == Kind::None {
                    Some(Const::None)
                } else if ty == f.ty {
                    f.konst
                } else {
                    None
                };
                Ok((ty, konst, false))
            }
            Op::Yield => {
                let ty = self.ty(node.args[0]);
                self.out.yields = self.session.unify(self.out.yields, ty).ok_or_else(|| {
                    Diagnostic::new(
                        Code::CannotUnify,
                        format!("this yield gives {ty}, others {}", self.out.yields),
                    )
                })?;
                // A generator that is closed while it is suspended leaves through its handlers.
                Ok((Type::none(), None, node.unwind.is_some()))
            }
            Op::PushHandled | Op::PopHandled => plain(Type::none()),
            Op::Apply(_)
            | Op::CallInstance(_)
            | Op::Region(_)
            | Op::Fused(_)
            | Op::Broadcast
            | Op::Cast
            | Op::Retain
            | Op::Release => Err(Diagnostic::internal("typed instruction in untyped code")),
        }
    }

    /// `f(*args, **kwargs)`.
    fn call_spread(&mut self, i: Inst, keywords: &[Arc<str>]) -> Result<(Type, Option<Const>, bool)> {
        let node = self.func.inst(i);
        let spread = node.args[1];
        let (all, ty) = match *self.ty(spread) {
            Kind::Optional(t) => (
                call::Source::Present(
                    Box::new(call::Source::Value(spread)),
                    "argument after * must be an iterable, not NoneType",
                ),
                t,
            ),
            _ => (call::Source::Value(spread), self.ty(spread)),
        };
        if let Some(d) = self.special_spread(ty) {
            return Err(d);
        }
        let members = ty.members().ok_or_else(|| {
            let d = Diagnostic::new(Code::BadCall, format!("only a tuple can be spread into arguments, not {}", self.session.resolve(ty)));
            if ty.is_sequence() { d.help("how many arguments there are must be known: unpack it first, `a, b = xs`, or take a sequence as one argument") } else { d }
        })?;
        let positional = (0..members.len()).map(|k| all.part(k as u32)).collect();
        let mut named = vec![];
        for (key, v) in keywords.iter().zip(&node.args[2..]) {
            if &**key != "**" {
                named.push((key.clone(), call::Source::Value(*v)));
                continue;
            }
            let Kind::NamedTuple(class, _) = self.ty(*v).kind() else {
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
                    .map(|(k, f)| (f.as_str().into(), call::Source::Member(*v, k as u32))),
            );
        }
        self.call(i, &call::Source::Value(node.args[0]), positional, named)
    }

    /// Whether a list is made for nothing but one call of a NumPy function: `np.concatenate([a, b])`. Those
    /// take tuples as well, whose members may be of different types and need no memory.
    fn serves_as_tuple(&mut self, list: Inst) -> bool {
        let node = self.func.inst(list);
        let Some(value) = node.result.filter(|_| node.args.len() <= 64) else { return false };
        let users = self.only_users.get_or_insert_with(|| only_users(self.func));
        let Some(user) = users.get(&value).copied().flatten() else { return false };
        let by = self.func.inst(user);
        if matches!(by.op, Op::Table(id::LIST_BUILD | id::TUPLE_BUILD)) {
            return self.serves_as_tuple(user);
        }
        if matches!(by.op, Op::Call { .. }) {
            return by.args[0] != value
                && match *self.ty(by.args[0]) {
                    Kind::Builtin(p) => p.is_numpys(),
                    Kind::Method(p, _) => {
                        p.home() == Home::Array
                            || p.home() == Home::Generator && p != id::NUMPY_RANDOM_GENERATOR_SHUFFLE
                    }
                    _ => false,
                };
        }
        // `a + [1, 2]`, `a[1:] = [[1, 2], [3, 4]]`.
        let Op::Table(p) = by.op else { return false };
        (p.plain().unwrap_or(p).is_elementwise() || p == id::SETITEM && by.args[2] == value)
            && by.args.iter().any(|v| *v != value && self.ty(*v).as_array().is_some())
    }

    /// The type of a value that is known when the function is compiled.
    fn global(
        &mut self,
        result: Option<Value>,
        value: GlobalValue,
        name: &str,
    ) -> Result<(Type, Option<Const>, bool)> {
        let (ty, konst) = call::type_of_global(&value)
            .map_err(|what| call::refused(&value, &format!("global '{name}'"), &what))?;
        if let Some(r) = result {
            self.out.globals.insert(r, value);
        }
        Ok((ty, konst, false))
    }

    fn member(&mut self, v: Value, k: u32) -> Result<(Type, Option<Const>, bool)> {
        let f = self.fact(v).clone();
        let konst = match &f.konst {
            Some(Const::Tuple(m)) => m.get(k as usize).cloned(),
            _ => None,
        };
        let ty = member_type(f.ty, k)
            .ok_or_else(|| Diagnostic::internal(format!("{} has no member {k}", f.ty)))?;
        Ok((ty, konst, false))
    }

    /// Types an operation that the language itself asks for.
    pub fn operation(
        &mut self,
        i: Inst,
        path: OpId,
        args: Vec<call::Source>,
    ) -> Result<(Type, Option<Const>, bool)> {
        let Some(plain) = path.plain() else { return self.rows(i, path, args, vec![]) };
        // Augmented assignment: into the array itself, by a meaning of its own (`list += ...`), or as the
        // plain operator.
        if let call::Source::Value(v) = args[0]
            && self.ty(v).as_array().is_some()
        {
            let args = vec![args[0].clone(), args[1].clone(), args[0].clone()];
            return self.rows(i, plain, args, vec![]);
        }
        if !path.rows().is_empty() {
            match self.rows(i, path, args.clone(), vec![]) {
                Err(e) if e.code == Code::NoMatchingOperation => {}
                other => return other,
            }
        }
        self.rows(i, plain, args, vec![])
    }

    /// Whether there is a named tuple among operands, or in one of them.
    fn may_be_special(&mut self, operands: &[call::Source]) -> Result<bool> {
        for s in operands {
            let t = self.source_arg(s)?.ty;
            let contains = matches!(
                t.kind(),
                Kind::NamedTuple(..)
                    | Kind::Tuple(_)
                    | Kind::List(_)
                    | Kind::ListVar(_)
                    | Kind::Optional(_)
                    | Kind::Variant(_)
            );
            if contains && super::special::has_classes(self.session.resolve(t)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first row of a path that takes these arguments.
    pub fn rows(
        &mut self,
        i: Inst,
        path: OpId,
        mut positional: Vec<call::Source>,
        mut named: Vec<(Arc<str>, call::Source)>,
    ) -> Result<(Type, Option<Const>, bool)> {
        self.keywords_as_dict(path, &mut positional)?;
        if path == id::NUMPY_EINSUM
            && let Some((subscripts, operands)) = ops::contract::lettered(&self.source_args(&positional)?)?
        {
            positional = std::iter::once(call::Source::Const(Const::Str(subscripts.into())))
                .chain(operands.into_iter().map(|k| positional[k].clone()))
                .collect();
        }
        if self.session.checks_overflow(self.func)
            && let Some(op) = path.checked()
            && let Ok(bound) = call::bind_op(op, positional.clone(), named.clone())
        {
            match self.apply(i, op, bound, false) {
                Err(e) if e.code == Code::NoMatchingOperation => {}
                other => return other,
            }
        }
        if let id::IS | id::IS_NOT = path
            && let Some(known) = self.known_identity(&positional)
        {
            self.out.resolved.remove(&i);
            return known.map(|same| (Type::bool(), Some(Const::Bool(same == (path == id::IS))), false));
        }
        if let Some(int) = self.inverted(i, path, &positional) {
            return int;
        }
        let mut passes_over = (super::special::Rows::All, None);
        if self.may_be_special(&positional)? {
            let types: Vec<Type> = self.source_args(&positional)?.iter().map(|a| a.ty).collect();
            if let Some(d) = self.taken_apart(path, &positional, &types) {
                return Err(d);
            }
            if let Some(own) = self.special(i, path, &positional) {
                return own;
            }
            passes_over = self.rows_for(path, &positional)?;
        }
        let all = path.rows();
        let mut options = vec![];
        if all.iter().any(|op| matches!(op.body, Body::Ufunc(..))) {
            options = self.ufunc_options(path, &positional, &mut named)?;
            if options.is_empty()
                && let Some(typed) = self.of_sequences(i, path, &positional, &named)?
            {
                return Ok(typed);
            }
        }
        let mut first = None;
        // Rows that know what to do with None come before any that takes an optional operand as its value.
        let optional = self
            .source_args(&positional)?
            .iter()
            .any(|a| without_none(a.ty) != a.ty && !ops::builtin::is_variant(a.ty));
        let again: &[&'static ops::OpDef] = if optional { all } else { &[] };
        // Where none takes an operand that may be of several types, each is looked at by itself.
        let variant =
            positional.iter().position(|s| self.source_arg(s).is_ok_and(|a| ops::builtin::is_variant(a.ty)));
        // Functions of NumPy and of the library ask what an operand is, which one of several arrays cannot
        // answer.
        let library = path.is_numpys() || all.iter().any(|op| matches!(op.body, Body::Py(_)));
        let each = library
            && variant.is_some_and(|at| {
                self.source_arg(&positional[at]).is_ok_and(|a| promote::is_numeric_variant(a.ty))
            });
        let all = if each { &[][..] } else { all };
        let again = if each { &[][..] } else { again };
        let (may, why) = passes_over;
        let allowed = |op: &ops::OpDef| match may {
            super::special::Rows::All => true,
            super::special::Rows::Library => matches!(op.body, Body::Py(_)),
            super::special::Rows::None => false,
        };
        for (op, unwrap) in all
            .iter()
            .map(|op| (*op, false))
            .chain(again.iter().map(|op| (*op, true)))
            .filter(|(op, _)| allowed(op))
        {
            let bound = call::bind_op(op, positional.clone(), named.clone());
            let fits = bound.is_ok();
            let tried = bound.and_then(|mut bound| {
                if matches!(op.body, Body::Ufunc(..)) {
                    bound.extend(options.iter().cloned());
                }
                self.apply(i, op, bound, unwrap)
            });
            match tried {
                Err(e)
                    if variant.is_some()
                        || matches!(e.code, Code::NoMatchingOperation | Code::BadCall)
                        || e.code == Code::UnknownAttribute && matches!(op.body, Body::Py(_)) =>
                {
                    // A row that the arguments fit by number and name says more than one that they do not,
                    // and a reason of its own more than "does not take these types".
                    let of_library = if matches!(op.body, Body::Py(_)) {
                        self.of_library(i, path, &e, &positional, &named)
                    } else {
                        None
                    };
                    let reached = if !fits {
                        0
                    } else if of_library.is_none() && e.message.contains("does not take") {
                        1
                    } else {
                        2
                    };
                    let e = of_library.unwrap_or(e);
                    if first.as_ref().is_none_or(|(far, _): &(i32, Diagnostic)| reached > *far) {
                        first = Some((reached, e));
                    }
                }
                other => return other,
            }
        }
        if let Some(d) = why {
            return Err(d);
        }
        if let Some(at) = variant {
            let on = positional[at].clone();
            return self.dispatch(i, &on, &mut |s, way| {
                let mut each = positional.clone();
                each[at] = way.clone();
                let mut named = named.clone();
                named.extend(["where", "dtype"].into_iter().map(Into::into).zip(options.iter().cloned()));
                s.rows(i, path, each, named)
            });
        }
        if let Some(typed) = self.of_parameters(i, path, &positional, &named)? {
            return Ok(typed);
        }
        if let Some(typed) = self.of_first_sequence(i, path, &positional, &named)? {
            return Ok(typed);
        }
        if let Some(typed) = self.of_numbers(i, path, &positional, &named)? {
            return Ok(typed);
        }
        let own_reason = first.as_ref().is_some_and(|(reached, _)| *reached != 1);
        let e = first.map(|(_, e)| e).unwrap_or_else(|| {
            let what = match path {
                id::DICT_BUILD => "a dict is not compiled yet".into(),
                id::SET_BUILD => "a set is not compiled yet".into(),
                _ => format!("`{}` is not compiled", path.name().trim_start_matches("builtins.")),
            };
            let d = Diagnostic::new(Code::UnsupportedSyntax, what);
            match super::hints::instead_of(path.name()) {
                Some(h) => d.help(h),
                None => d,
            }
        });
        let which = if e.code == Code::NoMatchingOperation && library && !self.session.is_library(self.func) {
            self.which_argument(path, &positional, &named)
        } else {
            None
        };
        let e = if own_reason || !e.message.contains("does not take") {
            e
        } else {
            self.does_not_take(path, &positional, &named).unwrap_or(e)
        };
        Err(match which {
            Some(text) => e.note(text),
            None => e,
        })
    }

    /// Which argument of a function of NumPy is text or None where only something that becomes an array can
    /// stand, or a dtype that is not known yet.
    fn which_argument(
        &mut self,
        path: OpId,
        positional: &[call::Source],
        named: &[(Arc<str>, call::Source)],
    ) -> Option<String> {
        let op = path.rows().first().filter(|_| path.is_numpys())?;
        let args = self.source_args(positional).ok()?;
        let by_name =
            named.iter().find(|(name, _)| &**name == "dtype").and_then(|(_, s)| self.source_arg(s).ok());
        let dtype =
            by_name.or_else(|| args.get(op.spec().params.iter().position(|p| p.name == "dtype")?).cloned());
        if dtype.is_some_and(|a| *a.ty == Kind::Str && a.text().is_none()) {
            return Some(format!(
                "If {} dtype is a string it must be a string constant.",
                path.name().replace("numpy.", "np.")
            ));
        }
        let (p, a) = op.spec().params.iter().zip(&args).find(|(p, a)| {
            p.default.is_none()
                && matches!(a.ty.kind(), Kind::Str | Kind::None)
                && !matches!(p.name, "shape" | "subscripts" | "dtype")
        })?;
        Some(format!("The argument \"{}\" must be array-like, not {}", p.name, a.ty))
    }

    /// The error for arguments that no row takes, as they were written.
    fn does_not_take(
        &mut self,
        path: OpId,
        positional: &[call::Source],
        named: &[(Arc<str>, call::Source)],
    ) -> Result<Diagnostic> {
        let args = self.source_args(positional)?;
        let by_name: Vec<(Arc<str>, Arg)> =
            named.iter().map(|(name, s)| Ok((name.clone(), self.source_arg(s)?))).collect::<Result<_>>()?;
        Ok(super::cx::no_match_named(&hints::spelling(path.name()), &args, &by_name))
    }

    /// The error of an operation that is library code: what that could not do with its operands is what the
    /// operation does not take, and names of the library say nothing to its user. None for an error with a
    /// reason of its own.
    fn of_library(
        &mut self,
        i: Inst,
        path: OpId,
        e: &Diagnostic,
        positional: &[call::Source],
        named: &[(Arc<str>, call::Source)],
    ) -> Option<Diagnostic> {
        let generic = matches!(e.code, Code::NoMatchingOperation | Code::UnknownAttribute)
            && (e.message.contains("does not take") || e.message.contains("has no attribute"));
        let here = self.func.span(self.func.inst(i).loc);
        if !generic || self.session.is_library(self.func) || e.span.as_ref() != Some(&here) {
            return None;
        }
        let mut d = self.does_not_take(path, positional, named).ok()?;
        // An operator says something, and with it what to do instead.
        if !e.message.starts_with(char::is_alphanumeric) && d.help.is_none() {
            d.message = format!("{}: {}", d.message, e.message);
            // Nobody has written that operator, which with a string in front would format it.
            if !e.message.starts_with('%') {
                d.help = e.help.clone();
            }
        }
        Some(d)
    }

    /// Takes the keyword arguments that every universal function has out of `named`: `where` and `dtype`, in
    /// that order, if either is given, to go behind the operands; `casting`, `order` and `subok` as far as
    /// they change nothing. `out` may be a tuple of one array.
    fn ufunc_options(
        &mut self,
        path: OpId,
        positional: &[call::Source],
        named: &mut Vec<(Arc<str>, call::Source)>,
    ) -> Result<Vec<call::Source>> {
        let (mut mask, mut dtype) = (None, None);
        if named.is_empty() {
            return Ok(vec![]);
        }
        let mut kept = vec![];
        for (name, source) in std::mem::take(named) {
            match &*name {
                "where" => mask = Some(source),
                "dtype" => dtype = Some(source),
                "casting" | "order" | "subok" => {
                    let arg = self.source_args(std::slice::from_ref(&source))?.remove(0);
                    let usual = matches!(arg.text(), Some("same_kind" | "K" | "C" | "A"))
                        || matches!(arg.konst, Some(Const::Bool(true)));
                    if !usual {
                        return Err(Diagnostic::new(
                            Code::BadCall,
                            format!(
                                "{}() is compiled for the default of '{name}' only",
                                path.name().trim_start_matches("numpy.")
                            ),
                        ));
                    }
                }
                "out" => {
                    let source =
                        match (&source, self.source_args(std::slice::from_ref(&source))?[0].ty.members()) {
                            (call::Source::Value(v), Some([_])) => call::Source::Member(*v, 0),
                            _ => source,
                        };
                    kept.push((name, source));
                }
                _ => kept.push((name, source)),
            }
        }
        *named = kept;
        if mask.is_none() && dtype.is_none() || positional.is_empty() {
            return Ok(vec![]);
        }
        Ok(vec![
            mask.unwrap_or(call::Source::Const(Const::Bool(true))),
            dtype.unwrap_or(call::Source::Const(Const::None)),
        ])
    }

    /// A universal function of lists or tuples: they become arrays first, in a library function. An operator
    /// does so only beside an array.
    fn of_sequences(
        &mut self,
        i: Inst,
        path: OpId,
        positional: &[call::Source],
        named: &[(Arc<str>, call::Source)],
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let args = self.source_args(positional)?;
        if !args.iter().any(|a| a.ty.is_sequence() && ops::create::makes_array(self.session.resolve(a.ty))) {
            return Ok(None);
        }
        if !path.is_numpys() && !args.iter().any(|a| a.ty.as_array().is_some()) {
            return Ok(None);
        }
        for op in path.rows().iter().filter(|op| matches!(op.body, Body::Ufunc(..))) {
            let Ok(mut bound) = call::bind_op(op, positional.to_vec(), named.to_vec()) else { continue };
            let inputs = ops::ufunc::inputs(op);
            let into = self.source_args(&bound)?.get(inputs).is_some_and(|out| !out.is_none());
            bound.truncate(inputs + into as usize);
            let library = match (inputs, into) {
                (1, false) => "ufunc.of_sequence",
                (1, true) => "ufunc.of_sequence_into",
                (2, false) => "ufunc.of_sequences",
                (2, true) => "ufunc.of_sequences_into",
                (3, false) => "ufunc.of_three_sequences",
                _ => continue,
            };
            return self.through_library(i, library, path, bound).map(Some);
        }
        Ok(None)
    }

    /// A NumPy function that takes arrays, called with a list or a tuple of numbers in front: that becomes an
    /// array first, in a library function.
    fn of_first_sequence(
        &mut self,
        i: Inst,
        path: OpId,
        positional: &[call::Source],
        named: &[(Arc<str>, call::Source)],
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        // What makes arrays of sequences itself has said why it does not take this one.
        if !path.is_numpys() || matches!(path, id::NUMPY_ARRAY | id::NUMPY_ASARRAY) {
            return Ok(None);
        }
        for op in path.rows().iter().filter(|op| matches!(op.body, Body::Lir(..)) && !op.spec().varargs) {
            let Ok(mut bound) = call::bind_op(op, positional.to_vec(), named.to_vec()) else { continue };
            let args = self.source_args(&bound)?;
            if args
                .first()
                .is_none_or(|a| !a.ty.is_sequence() || !ops::create::makes_array(self.session.resolve(a.ty)))
            {
                continue;
            }
            // What can be given by name only must have its default.
            let plain = op
                .spec()
                .params
                .iter()
                .zip(&args)
                .skip(op.spec().positional)
                .all(|(p, a)| p.default.as_ref() == a.konst.as_ref() || a.is_none());
            if !plain {
                continue;
            }
            bound.truncate(op.spec().positional);
            let library = match bound.len() {
                1 => "array.of_sequence_1",
                2 => "array.of_sequence_2",
                3 => "array.of_sequence_3",
                4 => "array.of_sequence_4",
                5 => "array.of_sequence_5",
                6 => "array.of_sequence_6",
                _ => continue,
            };
            return self.through_library(i, library, path, bound).map(Some);
        }
        Ok(None)
    }

    /// A distribution whose parameters are lists or tuples: they become arrays first, in a library function.
    fn of_parameters(
        &mut self,
        i: Inst,
        path: OpId,
        positional: &[call::Source],
        named: &[(Arc<str>, call::Source)],
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        if !matches!(path.home(), Home::NumpyRandom | Home::Generator) {
            return Ok(None);
        }
        for op in path.rows().iter().filter(|op| matches!(op.body, Body::Lir(..))) {
            let params = &op.spec().params;
            let Some(size) = params.iter().position(|p| p.name == "size") else { continue };
            let Ok(mut bound) = call::bind_op(op, positional.to_vec(), named.to_vec()) else { continue };
            let args = self.source_args(&bound)?;
            let first = usize::from(params[0].name == "self");
            if !args[first..size]
                .iter()
                .any(|a| a.ty.is_sequence() && ops::create::makes_array(self.session.resolve(a.ty)))
            {
                continue;
            }
            if !params
                .iter()
                .zip(&args)
                .skip(size + 1)
                .all(|(p, a)| p.default.as_ref() == a.konst.as_ref() || a.is_none())
            {
                continue;
            }
            bound.truncate(size + 1);
            let library = match (first, size - first) {
                (0, 1) => "random.of_sequences_1",
                (0, 2) => "random.of_sequences_2",
                (0, 3) => "random.of_sequences_3",
                (1, 1) => "random.drawn_of_sequences_1",
                (1, 2) => "random.drawn_of_sequences_2",
                (1, 3) => "random.drawn_of_sequences_3",
                _ => continue,
            };
            return self.through_library(i, library, path, bound).map(Some);
        }
        Ok(None)
    }

    /// A function of numbers called with arrays that have no dimensions: `int(x)`, `math.sqrt(x)`, where
    /// `np.nditer` gave `x`.
    fn of_numbers(
        &mut self,
        i: Inst,
        path: OpId,
        positional: &[call::Source],
        named: &[(Arc<str>, call::Source)],
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        if !named.is_empty() || !matches!(path.home(), Home::Builtins | Home::Math) {
            return Ok(None);
        }
        let args = self.source_args(positional)?;
        if !args.iter().any(|a| a.ty.as_array().is_some_and(|t| t.ndim == 0))
            || !args.iter().all(|a| a.ty.as_array().map_or(a.ty.is_number(), |t| t.ndim == 0))
        {
            return Ok(None);
        }
        let library = match args.len() {
            1 => "array.of_number_1",
            2 => "array.of_number_2",
            _ => return Ok(None),
        };
        self.through_library(i, library, path, positional.to_vec()).map(Some)
    }

    /// Calls a library function with the operation itself and then its operands.
    fn through_library(
        &mut self,
        i: Inst,
        library: &str,
        path: OpId,
        operands: Vec<call::Source>,
    ) -> Result<(Type, Option<Const>, bool)> {
        let sources =
            std::iter::once(call::Source::Global(GlobalValue::Builtin(path))).chain(operands).collect();
        let func = self.session.host.library(library)?;
        self.call_function(i, func, sources, true)
    }

    /// Types a row of the table for operands in parameter order.
    pub fn apply(
        &mut self,
        i: Inst,
        op: &'static ops::OpDef,
        sources: Vec<call::Source>,
        unwrap: bool,
    ) -> Result<(Type, Option<Const>, bool)> {
        let mut args = self.source_args(&sources)?;
        if !(op.takes)(&args) {
            return Err(super::cx::no_match(op.name(), &args));
        }
        if let Body::Py(path) = op.body {
            let func = self.session.host.library(path)?;
            let mut sources = sources;
            if op.spec().varargs {
                let rest = sources.split_off(op.spec().params.len());
                sources.push(call::Source::Pack(rest));
            }
            let typed = self.call_function(i, func, sources, true)?;
            // A row that asks for itself with the very same types has found nothing that takes them.
            if let Some(call::Resolved::Instance { id, .. }) = self.out.resolved.get(&i)
                && *id == self.id
                && self.session.is_library(self.func)
            {
                return Err(super::cx::no_match(&hints::spelling(op.name()), &args));
            }
            return Ok(typed);
        }
        let mut unwrapped = vec![];
        let site = (self.id.0, i);
        let ask = |session: &mut Session<'h>, args: &[Arg]| -> Result<Answer> {
            match op.body {
                Body::Lir(rule, _) => rule(&mut TyCx { session, site }, args),
                Body::Ufunc(rule, _) => crate::ops::ufunc::type_call(op, rule, args),
                Body::Py(path) => Err(Diagnostic::internal(format!("{path} has no rule"))),
            }
        };
        let answer = match ask(self.session, &args) {
            Ok(a) => a,
            Err(e) => {
                // An optional operand is taken as its value, with a check, where the operation knows nothing
                // of None.
                for (k, a) in args.iter_mut().enumerate() {
                    let t = without_none(a.ty);
                    if t != a.ty {
                        a.ty = t;
                        unwrapped.push(k);
                    }
                }
                if unwrapped.is_empty() || !unwrap {
                    return Err(e);
                }
                ask(self.session, &args).map_err(|_| e)?
            }
        };
        let coerce: Vec<Type> =
            if answer.args.is_empty() { args.iter().map(|a| a.ty).collect() } else { answer.args };
        let raises = op.raises
            || crate::ops::ufunc::may_raise(op, &mut args.iter().map(|a| a.ty))
            || !unwrapped.is_empty()
            || args.iter().any(|a| crate::types::promote::runs_generator(a.ty));
        let konst = answer.konst.filter(|_| op.effect != ops::Effect::Writes);
        self.out.resolved.insert(i, Resolved::Apply { op, sources, coerce });
        Ok((answer.ret, konst, raises))
    }
}

/// What is left of a type where something was found out about its value.
fn narrowed(host: &dyn crate::host::Host, t: Type, n: Narrow, class: Option<Type>) -> Type {
    let is_a = |t: Type| class.and_then(|c| ops::builtin::is_instance(host, t, c));
    let keep = |t: Type| match n {
        Narrow::IsNone => *t == Kind::None,
        Narrow::NotNone => *t != Kind::None,
        Narrow::IsA => is_a(t) != Some(false),
        Narrow::NotA => is_a(t) != Some(true),
    };
    match t.kind() {
        Kind::Optional(inner) => {
            let (none, rest) = (keep(Type::none()), narrowed(host, *inner, n, class));
            match (none, *rest == Kind::Never) {
                (true, true) => Type::none(),
                (true, false) => Type::optional(rest),
                (false, _) => rest,
            }
        }
        Kind::Variant(m) => {
            let left: Vec<Type> = m.iter().copied().filter(|t| keep(*t)).collect();
            match left.as_slice() {
                [] => Type::never(),
                [t] => *t,
                _ => Type::new(Kind::Variant(left)),
            }
        }
        Kind::None | Kind::Never => t,
        // A branch that is taken decides by constants, where it can; what is plain stays as it is.
        _ => {
            if n == Narrow::IsNone {
                Type::never()
            } else {
                t
            }
        }
    }
}

/// The type of a value, or of a tuple's members, when none of them is None.
fn without_none(t: Type) -> Type {
    match t.kind() {
        Kind::Optional(t) => *t,
        Kind::Tuple(m) if m.iter().any(|t| matches!(**t, Kind::Optional(_))) => {
            Type::tuple(m.iter().map(|t| without_none(*t)).collect())
        }
        _ => t,
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

/// Number of members of a composite value.
pub fn member_count(t: Type) -> usize {
    match t.kind() {
        Kind::Tuple(m) | Kind::NamedTuple(_, m) => m.len(),
        Kind::Slice(_) => 3,
        Kind::Method(..) => 1,
        Kind::Function(f) => f.defaults.len() + f.captures.len(),
        _ => 0,
    }
}

/// Type of member `k` of a composite value.
pub fn member_type(t: Type, k: u32) -> Option<Type> {
    let k = k as usize;
    match t.kind() {
        Kind::Tuple(m) | Kind::NamedTuple(_, m) => m.get(k).copied(),
        Kind::Slice(m) => m.get(k).copied(),
        Kind::Method(_, t) => (k == 0).then_some(*t),
        Kind::Function(f) => f.defaults.iter().chain(&f.captures).nth(k).copied(),
        Kind::Variant(m) => m.get(k).copied(),
        _ => None,
    }
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

pub fn reverse_post_order(func: &Func) -> Vec<Block> {
    let mut seen = vec![false; func.blocks.len()];
    let mut post = Vec::with_capacity(func.blocks.len());
    let mut stack = vec![(Block(0), false)];
    while let Some((b, done)) = stack.pop() {
        if done {
            post.push(b);
            continue;
        }
        if std::mem::replace(&mut seen[b.index()], true) {
            continue;
        }
        stack.push((b, true));
        let data = func.block(b);
        for i in &data.insts {
            if let Some(u) = &func.inst(*i).unwind
                && !seen[u.block.index()]
            {
                stack.push((u.block, false));
            }
        }
        for t in data.term.targets() {
            if !seen[t.block.index()] {
                stack.push((t.block, false));
            }
        }
    }
    post.reverse();
    post
}
