//! The fixed point over instances: recursion, list variables, what each instance returns.

use crate::diag::{Code, Diagnostic, Result};
use crate::host::Host;
use crate::source::Origin;
use crate::ssa::{self, Func, FuncId, Inst, InstanceId, registry};
use crate::types::{Const, Kind, Type, promote};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

/// One function for one combination of argument types. Constants are part of the key for library functions
/// only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub func: FuncId,
    pub args: Vec<Type>,
    pub consts: Vec<Option<Const>>,
}

/// An instance as the session knows it.
pub struct Instance {
    pub key: Key,
    pub func: Arc<Func>,
    /// What a call gives; of a generator function the generator.
    pub ret: Type,
    /// What its results are converted to.
    pub declared: Option<Type>,
    /// What a generator's body yields.
    pub yields: Type,
    state: State,
    /// Read while it was still being solved; its readers are solved again when `ret` changes.
    read_early: bool,
    /// The types of its values, from the last round.
    solved: Option<super::solve::Solved>,
    /// Typed code, once solved.
    pub typed: Option<Typed>,
    /// Why it could not be solved, and the version of list variables then: asked again, it says so at once.
    /// Without this a chain of calls whose last one fails would be tried anew from every link, and again from
    /// every link of those.
    failed: Option<(u64, Diagnostic)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    InProgress,
    Provisional,
    Done,
}

/// The typed function and what its `Global` instructions mean.
#[derive(Clone, Debug)]
pub struct Typed {
    pub func: Arc<Func>,
    pub globals: HashMap<ssa::Value, crate::host::GlobalValue>,
}

/// A list's element type while it is being found.
#[derive(Clone, Debug)]
struct ListVar {
    parent: u32,
    elem: Type,
    fixed: bool,
}

pub struct Session<'h> {
    pub host: &'h dyn Host,
    pub instances: Vec<Instance>,
    /// Integers that do not fit raise.
    overflow_checks: bool,
    by_key: HashMap<Key, InstanceId>,
    vars: Vec<ListVar>,
    var_sites: HashMap<(u32, Inst), u32>,
    /// Grows whenever a list variable changes.
    pub var_version: u64,
    depth: u32,
    /// Functions that are looked into for what they put into lists of unknown elements, with what they return
    /// as far as known.
    ahead: Vec<(FuncId, Type)>,
    /// Numbers of such looks, counted down from the top: none is that of an instance.
    look_ids: HashMap<((u32, Inst), FuncId), u32>,
}

/// Generators are numbered for the whole process, since types are: the numbers of each function's.
#[derive(Default)]
struct Generators {
    of: HashMap<FuncId, Vec<(Key, u32)>>,
    next: u32,
}
static GENERATORS: LazyLock<Mutex<Generators>> = LazyLock::new(Default::default);

fn generators() -> MutexGuard<'static, Generators> {
    GENERATORS.lock().unwrap_or_else(|e| e.into_inner())
}

/// The number of the generator type of an instance.
pub fn generator_id(key: &Key) -> u32 {
    let all = &mut *generators();
    let known = all.of.entry(key.func).or_default();
    if let Some((_, id)) = known.iter().find(|(k, _)| k == key) {
        return *id;
    }
    known.push((key.clone(), all.next));
    all.next += 1;
    all.next - 1
}

/// Forgets a function that has died.
pub fn forget(func: FuncId) {
    generators().of.remove(&func);
}

impl<'h> Session<'h> {
    pub fn new(host: &'h dyn Host, overflow_checks: bool) -> Session<'h> {
        Session {
            host,
            instances: vec![],
            overflow_checks,
            by_key: HashMap::new(),
            vars: vec![],
            var_sites: HashMap::new(),
            var_version: 0,
            depth: 0,
            ahead: vec![],
            look_ids: HashMap::new(),
        }
    }

    /// Types `func` for these argument types, with everything it calls.
    pub fn infer_root(&mut self, func: FuncId, args: Vec<Type>) -> Result<InstanceId> {
        let consts = vec![None; args.len()];
        let id = self.instance(Key { func, args, consts })?;
        self.finish_all()?;
        Ok(id)
    }

    /// Writes typed code for every instance that is done.
    fn finish_all(&mut self) -> Result<()> {
        let mut next = 0;
        // Writing code down may ask for further instances (a default's function value), hence no iterator.
        while next < self.instances.len() {
            if self.instances[next].typed.is_none() && self.instances[next].state == State::Done {
                let (func, key) = (self.instances[next].func.clone(), self.instances[next].key.clone());
                let solved = self.instances[next]
                    .solved
                    .take()
                    .ok_or_else(|| Diagnostic::internal("an instance is done but not solved"))?;
                let declared = self.instances[next].declared.map(|_| self.instances[next].ret);
                self.instances[next].typed =
                    Some(super::finish::finish(self, &func, &key, solved, declared)?);
            }
            next += 1;
        }
        Ok(())
    }

    pub fn at(&self, id: InstanceId) -> &Instance {
        &self.instances[id.index()]
    }

    /// The instance for this key, solved as far as recursion allows.
    pub fn instance(&mut self, key: Key) -> Result<InstanceId> {
        let id = match self.by_key.get(&key) {
            Some(id) => *id,
            None => {
                let func = registry::get(key.func)
                    .ok_or_else(|| Diagnostic::internal(format!("{} is not registered", key.func)))?;
                let declared = if func.is_generator {
                    None
                } else {
                    registry::declared(key.func).and_then(|d| d.ret(&key.args))
                };
                let ret = if func.is_generator {
                    Type::new(Kind::Generator(generator_id(&key), Type::never()))
                } else {
                    declared.unwrap_or_else(Type::never)
                };
                let id = InstanceId::new(self.instances.len());
                self.by_key.insert(key.clone(), id);
                self.instances.push(Instance {
                    key,
                    func,
                    ret,
                    declared,
                    yields: Type::never(),
                    state: State::New,
                    read_early: false,
                    solved: None,
                    typed: None,
                    failed: None,
                });
                id
            }
        };
        match self.instances[id.index()].state {
            State::Done => {}
            State::InProgress => self.instances[id.index()].read_early = true,
            State::New | State::Provisional => {
                if let Some((version, e)) = &self.instances[id.index()].failed
                    && *version == self.var_version
                {
                    return Err(e.clone());
                }
                self.solve_instance(id)?;
            }
        }
        Ok(id)
    }

    /// Types a function with arguments that are lists of yet unknown elements, for what it puts into them.
    /// Inside of such a look it gives the result of the function that is looked into, as far as it is known.
    /// What goes wrong meanwhile is found again by the call itself.
    pub fn look_ahead(&mut self, site: (u32, Inst), key: Key) -> Option<Type> {
        if let Some((_, ret)) = self.ahead.iter().find(|(f, _)| *f == key.func) {
            return Some(*ret);
        }
        let func = registry::get(key.func)?;
        if self.depth > 50 {
            return None;
        }
        let next = u32::MAX - self.look_ids.len() as u32;
        let id = *self.look_ids.entry((site, key.func)).or_insert(next);
        self.ahead.push((key.func, Type::never()));
        self.depth += 1;
        // A recursive call gives nothing at first; then what the other ways out of the function give.
        for _ in 0..4 {
            let Ok(solved) = super::solve::solve(self, InstanceId(id), &func, &key) else { break };
            let Some((_, ret)) =
                self.ahead.last_mut().filter(|(_, r)| *r != solved.ret && !func.is_generator)
            else {
                break;
            };
            *ret = solved.ret;
        }
        self.depth -= 1;
        self.ahead.pop();
        None
    }

    fn solve_instance(&mut self, id: InstanceId) -> Result<()> {
        if self.depth > 200
            || self.instances[id.index()]
                .key
                .args
                .iter()
                .any(|t| t.is_larger_than(super::solve::DEEPEST, super::solve::LARGEST))
        {
            return Err(Diagnostic::new(
                Code::RunawayRecursion,
                "calls nest too deeply: each level has new argument types",
            )
            .help("give the recursive call arguments of the types that the function was called with"));
        }
        self.depth += 1;
        let (func, key) = (self.instances[id.index()].func.clone(), self.instances[id.index()].key.clone());
        let result = self.solve_to_fixpoint(id, &func, &key);
        self.depth -= 1;
        if let Err(e) = &result {
            self.instances[id.index()].state = State::New;
            self.instances[id.index()].failed = Some((self.var_version, e.clone()));
        }
        result
    }

    fn solve_to_fixpoint(&mut self, id: InstanceId, func: &Arc<Func>, key: &Key) -> Result<()> {
        for _ in 0..16 {
            self.instances[id.index()].state = State::InProgress;
            self.instances[id.index()].read_early = false;
            let solved = super::solve::solve(self, id, func, key)?;
            let (ret, yields) = (self.resolve(solved.ret), self.resolve(solved.yields));
            let declared =
                self.instances[id.index()].declared.map(|to| declared_result(func, ret, to)).transpose()?;
            let ret = declared.unwrap_or(ret);
            let inst = &mut self.instances[id.index()];
            let ret =
                if func.is_generator { Type::new(Kind::Generator(generator_id(key), yields)) } else { ret };
            let changed = inst.ret != ret;
            inst.ret = ret;
            inst.yields = yields;
            inst.solved = Some(solved);
            if !(inst.read_early && changed) {
                // Somebody further up is still being solved and was read: this answer may have to be found
                // again.
                let depends = self
                    .instances
                    .iter()
                    .enumerate()
                    .any(|(i, x)| i != id.index() && x.state == State::InProgress && x.read_early);
                self.instances[id.index()].state = if depends { State::Provisional } else { State::Done };
                if !depends {
                    self.settle();
                }
                return Ok(());
            }
            for other in &mut self.instances {
                if other.state == State::Provisional {
                    other.state = State::New;
                }
            }
        }
        Err(Diagnostic::new(
            Code::RunawayRecursion,
            format!("the result type of `{}` does not settle", func.name),
        )
        .at(func.span(ssa::Loc { line: func.first_line, ..Default::default() }))
        .help("make every return give the same type"))
    }

    /// Nothing is in progress any more that provisional answers could depend on.
    fn settle(&mut self) {
        if self.instances.iter().any(|x| x.state == State::InProgress && x.read_early) {
            return;
        }
        for x in &mut self.instances {
            if x.state == State::Provisional {
                x.state = State::Done;
            }
        }
    }

    // ---- list variables

    fn root(&self, mut v: u32) -> u32 {
        while self.vars[v as usize].parent != v {
            v = self.vars[v as usize].parent;
        }
        v
    }

    /// The list variable of an instruction of an instance; the same at every visit.
    pub fn list_var(&mut self, site: (u32, Inst)) -> Type {
        let n = self.vars.len() as u32;
        let v = *self.var_sites.entry(site).or_insert(n);
        if v == n {
            self.vars.push(ListVar { parent: n, elem: Type::never(), fixed: false });
        }
        Type::new(Kind::ListVar(self.root(v)))
    }

    pub fn elem(&mut self, list: Type) -> Option<Type> {
        match *list {
            Kind::List(t) => Some(t),
            Kind::ListVar(v) => {
                let r = self.root(v);
                Some(self.vars[r as usize].elem)
            }
            _ => None,
        }
    }

    pub fn push_elem(&mut self, list: Type, elem: Type) -> Result<()> {
        let old = self.elem(list).unwrap_or_else(Type::never);
        let fail = |t: Type| {
            let help = match (old.as_array(), t.as_array()) {
                (Some(x), Some(y))
                    if x.dtype == y.dtype && x.ndim == y.ndim && y.layout == crate::types::Layout::A =>
                {
                    "this list came from outside with arrays that lie without gaps: give it a copy, np.ascontiguousarray(x)"
                }
                _ => "keep the elements of a list of one type",
            };
            Diagnostic::new(Code::CannotUnify, format!("a list of {old} cannot hold a value of type {t}"))
                .help(help)
        };
        if let Kind::ListVar(v) = *list
            && self.mentions(elem, self.root(v))
        {
            return Err(Diagnostic::new(
                Code::CannotUnify,
                "a list cannot hold itself, nor a function that captures it",
            )
            .help("move the inner function out, and give it what it needs as arguments"));
        }
        let new = self.unify(old, elem).ok_or_else(|| fail(elem))?;
        // A list variable that is this list by now is not another type.
        if self.resolve(new) == self.resolve(old) {
            return Ok(());
        }
        if !self.resolve(new).fits_list() {
            return Err(Diagnostic::new(Code::CannotUnify, "the elements of this list are too large: more than 64 values each (an array counts as several)").help("use several lists, or shorter tuples"));
        }
        match *list {
            Kind::ListVar(v) if !self.vars[self.root(v) as usize].fixed => {
                let r = self.root(v) as usize;
                self.vars[r].elem = new;
                self.var_version += 1;
                Ok(())
            }
            // A list of floats takes ints, a list of optional values takes None: the element is converted.
            _ if castable(self.resolve(elem), self.resolve(old))
                || promote::same_but_weak(self.resolve(elem), self.resolve(old)) =>
            {
                Ok(())
            }
            _ => Err(fail(elem)),
        }
    }

    /// Whether a type mentions a list variable.
    fn mentions(&self, t: Type, root: u32) -> bool {
        if let Kind::ListVar(v) = *t {
            let r = self.root(v);
            return r == root || self.mentions(self.vars[r as usize].elem, root);
        }
        let mut found = false;
        promote::map_children(t, &mut |c| {
            found |= self.mentions(c, root);
            c
        });
        found
    }

    /// [`promote::unify`] with list variables.
    pub fn unify(&mut self, a: Type, b: Type) -> Option<Type> {
        if a == b {
            return Some(a);
        }
        match (a.kind(), b.kind()) {
            (Kind::ListVar(x), Kind::ListVar(y)) => {
                let (x, y) = (self.root(*x), self.root(*y));
                if x != y {
                    let (of_x, of_y) = (self.vars[x as usize].elem, self.vars[y as usize].elem);
                    // `m = [m]`: no list holds itself.
                    if self.mentions(of_x, y) || self.mentions(of_y, x) {
                        return None;
                    }
                    let elem = self.unify(of_x, of_y)?;
                    if self.mentions(elem, x) || self.mentions(elem, y) {
                        return None;
                    }
                    self.vars[y as usize].parent = x;
                    let fixed = self.vars[y as usize].fixed;
                    self.vars[x as usize].fixed |= fixed;
                    self.vars[x as usize].elem = elem;
                    self.var_version += 1;
                }
                Some(Type::new(Kind::ListVar(x)))
            }
            (Kind::ListVar(v), Kind::List(t)) | (Kind::List(t), Kind::ListVar(v)) => {
                let (r, t) = (self.root(*v) as usize, *t);
                if self.mentions(t, r as u32) {
                    return None;
                }
                let merged = self.unify(self.vars[r].elem, t)?;
                let (m, known) = (self.resolve(merged), self.resolve(t));
                if m != known && !promote::same_but_weak(m, known) {
                    return None;
                }
                if self.vars[r].elem != t || !self.vars[r].fixed {
                    self.var_version += 1;
                }
                self.vars[r].elem = t;
                self.vars[r].fixed = true;
                Some(Type::new(Kind::ListVar(r as u32)))
            }
            (Kind::List(x), Kind::List(y)) => {
                let merged = self.unify(*x, *y)?;
                let (m, x, y) = (self.resolve(merged), self.resolve(*x), self.resolve(*y));
                let fits = |t: Type| t == m || promote::same_but_weak(t, m);
                (fits(x) && fits(y)).then(|| Type::list(m))
            }
            _ => promote::unify_with(a, b, &mut |x, y| self.unify(x, y)),
        }
    }

    /// Replaces list variables by lists of what they were found to hold.
    pub fn resolve(&self, t: Type) -> Type {
        if self.vars.is_empty() {
            return t;
        }
        match *t {
            Kind::ListVar(v) => Type::list(self.resolve(self.vars[self.root(v) as usize].elem)),
            _ => promote::map_children(t, &mut |c| self.resolve(c)),
        }
    }

    /// Gives the list variables of these types that hold nothing yet integers to hold. Whether there were
    /// any.
    pub fn settle_empty_lists(&mut self, types: &[Type]) -> bool {
        let mut roots = vec![];
        fn collect(session: &Session<'_>, t: Type, roots: &mut Vec<u32>) {
            if let Kind::ListVar(v) = *t {
                let r = session.root(v);
                let elem = session.vars[r as usize].elem;
                if *elem == Kind::Never {
                    roots.push(r)
                } else {
                    collect(session, elem, roots)
                }
                return;
            }
            promote::map_children(t, &mut |c| {
                collect(session, c, roots);
                c
            });
        }
        for t in types {
            collect(self, *t, &mut roots);
        }
        for r in &roots {
            self.vars[*r as usize].elem = Type::int();
        }
        self.var_version += roots.len() as u64;
        !roots.is_empty()
    }

    /// Library functions are specialised for constant arguments too.
    pub fn is_library(&self, func: &Func) -> bool {
        func.file.is_library()
    }

    /// Whether integers of a function are checked: the user's, and the library's where they are (`sum`,
    /// `math.prod`).
    pub fn checks_overflow(&self, func: &Func) -> bool {
        self.overflow_checks && matches!(func.file.origin, Origin::User | Origin::Checked)
    }
}

/// The type of what a function gives that gives `from` and declares `to`.
fn declared_result(func: &Func, from: Type, to: Type) -> Result<Type> {
    let here = func
        .blocks
        .iter()
        .find(|b| matches!(b.term, ssa::Term::Return(_)))
        .map(|b| b.term_loc)
        .unwrap_or_default();
    crate::declare::result(from, to).ok_or_else(|| {
        Diagnostic::new(
            Code::BadSignature,
            format!("{}() gives {from}, but its signature says {to}", func.name),
        )
        .at(func.span(here))
    })
}

/// Whether an explicit cast from `a` to `b` exists that `unify` would insert.
pub fn castable(a: Type, b: Type) -> bool {
    promote::unify(a, b) == Some(b)
        || (a.is_number() && b.is_number() && !b.is_weak() && promote::unify(a, b.strong()) == Some(b))
}

/// A list whose element type nobody told.
pub fn has_unknown(t: Type) -> bool {
    let mut found = *t == Kind::List(Type::never());
    promote::map_children(t, &mut |c| {
        found |= has_unknown(c);
        c
    });
    found
}
