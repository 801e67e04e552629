//! The fixed point over instances: recursion, what each instance returns.

use super::state::{ClassAttrs, DEEPEST, Instance, Key, LARGEST, Look, Seen, Session, Solved, State};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::Host;
use crate::source::Origin;
use crate::ssa::{self, Func, FuncId, InstanceId, registry};
use crate::types::{Kind, Type, promote};
use crate::typing::vars::{Site, Vars};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

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
pub(crate) fn generator_id(key: &Key) -> u32 {
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
            class_attrs: ClassAttrs::default(),
            by_key: HashMap::new(),
            vars: Vars::default(),
            depth: 0,
            stack: vec![],
            ahead: vec![],
            found_nothing: HashMap::new(),
            round: 0,
            followed: HashMap::new(),
            look_ids: HashMap::new(),
        }
    }

    /// Types `func` for these argument types, with everything it calls.
    pub fn infer_root(&mut self, func: FuncId, args: Vec<Type>) -> Result<InstanceId> {
        let consts = vec![None; args.len()];
        let id = self.instance(Key { func, args, consts, result: None })?;
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
                let mut solved = self.instances[next]
                    .solved
                    .take()
                    .ok_or_else(|| Diagnostic::internal("an instance is done but not solved"))?;
                self.tell_results(&func, &mut solved)?;
                let declared = self.instances[next].declared.map(|_| self.instances[next].ret);
                self.instances[next].typed =
                    Some(super::finish::finish(self, &func, &key, solved, declared)?);
            }
            next += 1;
        }
        for k in 0..self.instances.len() {
            self.instances[k].ret = self.resolve(self.instances[k].ret);
        }
        Ok(())
    }

    pub fn at(&self, id: InstanceId) -> &Instance {
        &self.instances[id.index()]
    }

    /// The instance for this key, solved as far as recursion allows.
    pub(crate) fn instance(&mut self, key: Key) -> Result<InstanceId> {
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
                    && *version == self.vars.version
                {
                    return Err(e.clone());
                }
                self.solve_instance(id)?;
            }
        }
        Ok(id)
    }

    /// Types a function for a call whose arguments have variables in them, for what it says about these: it
    /// puts something into lists that are empty so far, or returns them. What goes wrong meanwhile is found
    /// again by the call itself.
    pub(crate) fn look_ahead(&mut self, site: Site, key: &Key) -> Seen {
        // What an instance calls it calls for good, also where it is typed for a look.
        let in_look = self.is_look(InstanceId(site.instance));
        if let Some(look) = self.ahead.iter_mut().rev().find(|l| in_look && l.func == key.func) {
            look.asked = true;
            return Seen::Within(look.ret);
        }
        let func = match registry::get(key.func) {
            Some(f) if self.depth <= 50 => f,
            _ => return Seen::Nothing,
        };
        if let Some((version, round, ret)) = self.found_nothing.get(key)
            && (*version, *round) == (self.vars.version, self.round)
        {
            return self.given(*ret, site);
        }
        let known: Vec<Type> = key.args.iter().map(|t| self.resolve(*t)).collect();
        if let Some((args, ret)) = self.followed.get(&(site, key.func))
            && *args == known
        {
            return Seen::Returned(*ret);
        }
        let next = u32::MAX - self.look_ids.len() as u32;
        let id = *self.look_ids.entry((site, key.func)).or_insert(next);
        self.ahead.push(Look { func: key.func, ret: Type::never(), asked: false });
        self.depth += 1;
        self.stack.push(InstanceId(id));
        let (mut ret, mut typed) = (Type::never(), false);
        // A recursive call gives nothing at first; then what the other ways out of the function give.
        for _ in 0..4 {
            let solved = super::solve::solve(self, InstanceId(id), &func, key);
            typed = solved.is_ok();
            let Ok(solved) = solved else { break };
            if func.is_generator {
                break;
            }
            ret = solved.ret;
            match self.ahead.last_mut() {
                Some(look) if look.asked && look.ret != ret => look.ret = ret,
                _ => break,
            }
            self.round += 1;
        }
        self.depth -= 1;
        self.stack.pop();
        if self.ahead.pop().is_some_and(|look| look.asked) {
            self.round += 1;
        }
        if !key.args.iter().any(|t| self.vars.share(ret, *t)) {
            let ret = typed.then_some(ret);
            self.found_nothing.insert(key.clone(), (self.vars.version, self.round, ret));
            return self.given(ret, site);
        }
        let known = key.args.iter().map(|t| self.resolve(*t)).collect();
        self.followed.insert((site, key.func), (known, ret));
        Seen::Returned(ret)
    }

    /// What a look gives that has found nothing of the arguments: the lists in it are those of the call.
    fn given(&mut self, ret: Option<Type>, site: Site) -> Seen {
        match ret {
            Some(ret) => Seen::Given(self.vars.instantiate(ret, site)),
            None => Seen::Nothing,
        }
    }

    /// Whether an instance asks for itself through functions of the library alone.
    pub(crate) fn library_asks_for_itself(&self, id: InstanceId) -> bool {
        let Some(at) = self.stack.iter().rposition(|x| *x == id) else { return false };
        self.stack[at..].iter().all(|x| !self.is_look(*x) && self.is_library(&self.at(*x).func))
    }

    /// Whether this is the number of a look.
    pub(crate) fn is_look(&self, id: InstanceId) -> bool {
        id.index() >= self.instances.len()
    }

    /// Whether a call was seen to return lists that it is given.
    pub(crate) fn is_followed(&self, site: Site, func: FuncId) -> bool {
        self.followed.contains_key(&(site, func))
    }

    /// What a call of an instance gives there. Calls within a recursion have the variables of the instance
    /// itself: they return the same lists.
    pub(crate) fn result_at(&mut self, id: InstanceId, site: Site) -> Type {
        let of = &self.instances[id.index()];
        match of.state {
            State::Done => self.vars.instantiate(of.ret, site),
            State::New | State::InProgress | State::Provisional => of.ret,
        }
    }

    /// Where callers have said what lists hold that functions return empty, these are solved again as
    /// functions that return such lists.
    fn tell_results(&mut self, func: &Func, solved: &mut Solved) -> Result<()> {
        for i in std::mem::take(&mut solved.open) {
            if let Some(how) = solved.resolved.get_mut(&i) {
                let told = how.each_instance(&mut |id, ret| self.tell_result(id, ret));
                told.map_err(|e| e.at(func.span(func.inst(i).loc)))?;
            }
        }
        Ok(())
    }

    fn tell_result(&mut self, id: &mut InstanceId, ret: Type) -> Result<()> {
        let (wanted, given) = (self.resolve(ret), self.resolve(self.at(*id).ret));
        if promote::same_but_weak(wanted, given) {
            return Ok(());
        }
        let told = self.instance(Key { result: Some(wanted), ..self.at(*id).key.clone() })?;
        if !promote::same_but_weak(self.resolve(self.at(told).ret), wanted) {
            let name = self.at(told).key.func.name();
            let text = format!("`{name}` returns {given}, which is used as {wanted}");
            return Err(
                Diagnostic::new(Code::CannotUnify, text).help("keep the elements of a list of one type")
            );
        }
        *id = told;
        Ok(())
    }

    fn solve_instance(&mut self, id: InstanceId) -> Result<()> {
        if self.depth > 200
            || self.instances[id.index()].key.args.iter().any(|t| t.is_larger_than(DEEPEST, LARGEST))
        {
            return Err(Diagnostic::new(
                Code::RunawayRecursion,
                "calls nest too deeply: each level has new argument types",
            )
            .help("give the recursive call arguments of the types that the function was called with"));
        }
        self.depth += 1;
        self.stack.push(id);
        let (func, key) = (self.instances[id.index()].func.clone(), self.instances[id.index()].key.clone());
        let result = self.solve_to_fixpoint(id, &func, &key);
        self.depth -= 1;
        self.stack.pop();
        if let Err(e) = &result {
            self.instances[id.index()].state = State::New;
            self.instances[id.index()].failed = Some((self.vars.version, e.clone()));
        }
        result
    }

    fn solve_to_fixpoint(&mut self, id: InstanceId, func: &Arc<Func>, key: &Key) -> Result<()> {
        for _ in 0..16 {
            self.instances[id.index()].state = State::InProgress;
            self.instances[id.index()].read_early = false;
            let solved = super::solve::solve(self, id, func, key)?;
            let yields = self.resolve(solved.yields);
            let declared = self.instances[id.index()]
                .declared
                .map(|to| declared_result(func, self.resolve(solved.ret), to))
                .transpose()?;
            let ret = if func.is_generator {
                Type::new(Kind::Generator(generator_id(key), yields))
            } else {
                declared.unwrap_or(solved.ret)
            };
            let changed = self.resolve(self.instances[id.index()].ret) != self.resolve(ret);
            let inst = &mut self.instances[id.index()];
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

    /// The type that holds both, variables included.
    pub(crate) fn unify(&mut self, a: Type, b: Type) -> Option<Type> {
        self.vars.unify(a, b)
    }

    /// A type with what is known by now in place of variables.
    pub(crate) fn resolve(&self, t: Type) -> Type {
        self.vars.resolve(t)
    }

    /// Library functions are specialised for constant arguments too.
    pub(crate) fn is_library(&self, func: &Func) -> bool {
        func.file.is_library()
    }

    /// Whether integers of a function are checked: the user's, and the library's where they are (`sum`,
    /// `math.prod`).
    pub(crate) fn checks_overflow(&self, func: &Func) -> bool {
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
