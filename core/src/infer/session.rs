//! The fixed point over instances: recursion, what each instance returns.

use super::generator_ids::generator_id;
use super::numba::{self, takes_own_numbers};
use super::state::{
    Choices, ClassAttrs, DEEPEST, Instance, Key, LARGEST, Look, Seen, Session, Solved, State, Typed,
};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::Overflow;
use crate::exc::Class;
use crate::host::Host;
use crate::meaning::Meaning;
use crate::opaque::{self, Opaque};
use crate::source::Origin;
use crate::ssa::{self, Func, FuncId, Inst, InstanceId, registry};
use crate::types::{Const, Kind, Type, promote, work};
use crate::typing::unions::is_mixed;
use crate::typing::vars::{Opened, Site, Vars};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Types that inference makes at most for a function that Python can run as well.
const MOST_TYPES: u64 = 1_000_000;

impl<'h> Session<'h> {
    pub fn new(host: &'h dyn Host, overflow: Overflow) -> Session<'h> {
        Session {
            host,
            instances: vec![],
            overflow,
            class_attrs: ClassAttrs::default(),
            choices: Choices::default(),
            overloads: HashMap::new(),
            offers: HashMap::new(),
            by_key: HashMap::new(),
            vars: Vars::default(),
            depth: 0,
            growing: Default::default(),
            stack: vec![],
            ahead: vec![],
            found_nothing: HashMap::new(),
            round: 0,
            results: 0,
            followed: HashMap::new(),
            passed: vec![],
            settled: vec![],
            alike: vec![],
            values: HashMap::new(),
            look_ids: HashMap::new(),
        }
    }

    /// Types `func` for these argument types, with everything it calls.
    ///
    /// Fields of objects among the arguments may hold more than they do now: what the function puts into them
    /// widens the types of its parameters.
    pub fn infer_root(&mut self, func: FuncId, args: Vec<Type>) -> Result<InstanceId> {
        self.infer_root_for(func, args, &[])
    }

    /// The same for the values of some arguments; none for all that are left out.
    pub fn infer_root_for(
        &mut self,
        func: FuncId,
        args: Vec<Type>,
        values: &[Option<Const>],
    ) -> Result<InstanceId> {
        self.infer_root_in_ways(func, args, values).map_err(|e| match registry::meaning(func) {
            // A program that asks for an attribute expects to hear of it as Python says it. Elsewhere its own handlers
            // would take what is only not compiled for what is not there.
            Some(Meaning::Numba) if e.code == Code::UnknownAttribute => e.raises(Class::AttributeError),
            Some(Meaning::Numba | Meaning::Python) | None => e,
        })
    }

    fn infer_root_in_ways(
        &mut self,
        func: FuncId,
        args: Vec<Type>,
        values: &[Option<Const>],
    ) -> Result<InstanceId> {
        // Where Python's answer is promised, Python has it: not every place tells numbers apart, and keys and members
        // of sets are of one type.
        if self.overflow == Overflow::Python {
            return self.infer_root_once(func, args, values);
        }
        // Among values of several types that come from outside, numbers are told apart from the start.
        if !self.vars.unions && !self.vars.numbers_are_one && args.iter().any(|t| holds_mixed(*t)) {
            self.vars.unions = true;
            if let Ok(id) = self.infer_root_once(func, args.clone(), values) {
                return Ok(id);
            }
            self.begin_anew(|vars| vars.unions = false);
        }
        let first = self.infer_root_once(func, args.clone(), values);
        let of_several = match &first {
            Ok(id) => matches!(*self.at(*id).ret, Kind::Conflict(..)),
            Err(e) => e.code == Code::CannotUnify,
        };
        if !of_several || self.vars.unions {
            return first;
        }
        // Once more, with values that are of one of several types. Where that is of no use either, the first error is
        // the one that says what was not as expected.
        let ways: [fn(&mut Vars); 3] = [
            |vars| vars.unions = true,
            |vars| vars.displays_are_dicts = true,
            |vars| (vars.unions, vars.numbers_are_one) = (false, true),
        ];
        let mut why = None;
        for way in ways {
            self.begin_anew(way);
            match self.infer_root_once(func, args.clone(), values) {
                Ok(id) => return Ok(id),
                Err(e) => _ = why.get_or_insert(e),
            }
        }
        first.map_err(|mut e| {
            // That values are of several types may be as it should be, and something else in the way of it.
            if let Some(why) = why.filter(|why| why.code != Code::CannotUnify) {
                let text = format!("as one of several types it cannot stay: {}", why.message);
                e.notes.insert(0, (text, why.span));
            }
            e
        })
    }

    /// Forgets all that was typed but for what is known of global values.
    fn begin_anew(&mut self, how: impl FnOnce(&mut Vars)) {
        let settled = std::mem::take(&mut self.settled);
        self.forget();
        self.settled = settled;
        how(&mut self.vars);
    }

    fn infer_root_once(
        &mut self,
        func: FuncId,
        args: Vec<Type>,
        values: &[Option<Const>],
    ) -> Result<InstanceId> {
        // Python runs what would take too long to look through.
        let _limited = (self.overflow == Overflow::Python).then(|| work::at_most(MOST_TYPES));
        let mut id = self.solve_root(func, args.clone(), values);
        while self.settle_passed(id.is_ok()) || self.settle_channels()? {
            id = self.solve_root(func, args.clone(), values);
        }
        let id = id?;
        self.finish_all(id)?;
        Ok(id)
    }

    fn solve_root(
        &mut self,
        func: FuncId,
        mut args: Vec<Type>,
        values: &[Option<Const>],
    ) -> Result<InstanceId> {
        let meaning = registry::meaning(func).unwrap_or_default();
        if takes_own_numbers(func, meaning) {
            args.iter_mut().for_each(|t| *t = numba::value(*t));
        }
        let func = if registry::chooses(func) { self.entered(func, &args)? } else { func };
        let mut consts = values.to_vec();
        consts.resize(args.len(), None);
        let key = Key { func, args, consts, result: None, meaning };
        let key = Key { args: self.widened(&key), ..key };
        let first = self.instance(key.clone());
        if !matches!(&first, Err(e) if e.code == Code::UnknownElementType) || !lack_elements(&key.args) {
            return first;
        }
        // It wants to know what a container holds that nobody ever puts anything into.
        let args = key.args.iter().copied().map(Type::with_default_elements).collect();
        self.instance(Key { args, ..key }).or(first)
    }

    /// The type of a global value for the code that reads it. What an empty container holds, and what is put into
    /// fields, all functions say together.
    pub(crate) fn passed_type(&mut self, place: usize, ty: Type) -> Type {
        if self.settled.contains(&place) || !(ty.holds_object() || ty.lacks_elements()) {
            return ty;
        }
        if let Some(open) = self.open_passed(place) {
            return open;
        }
        // No look has that place, and no round that widens arguments.
        let site = Site { instance: u32::MAX, inst: self.passed.len() as u32 };
        let open = self.vars.opened_where_empty(ty, &mut Opened::new(site));
        self.passed.push((place, open));
        open
    }

    /// The same of a value that was asked for before, of whose elements something is to be found out.
    pub(crate) fn open_passed(&self, place: usize) -> Option<Type> {
        self.passed.iter().find(|(p, _)| *p == place).map(|(_, open)| *open)
    }

    /// Tells the host what global values have turned out to hold, and forgets all else: what was typed before that
    /// was known need not be right. False where there is nothing to tell.
    fn settle_passed(&mut self, typed: bool) -> bool {
        let passed = std::mem::take(&mut self.passed);
        if typed {
            self.vars.settle(passed.iter().map(|(_, open)| *open));
        }
        let known: Vec<(usize, Type)> = passed
            .iter()
            .map(|(p, open)| (*p, self.resolve(*open)))
            .filter(|(_, t)| !t.lacks_elements())
            .collect();
        if known.is_empty() {
            return false;
        }
        let mut settled = std::mem::take(&mut self.settled);
        self.forget();
        for (place, ty) in known {
            self.host.settle_passed(place, ty);
            settled.push(place);
        }
        self.settled = settled;
        true
    }

    /// Whether more has turned out about what generators are sent and return than was known when they were typed: all
    /// that was typed is forgotten then.
    fn settle_channels(&mut self) -> Result<bool> {
        if !self.vars.channels.settle()? {
            return Ok(false);
        }
        let settled = std::mem::take(&mut self.settled);
        self.forget();
        self.settled = settled;
        Ok(true)
    }

    /// Begins anew, with what was asked for and what generators are sent.
    fn forget(&mut self) {
        let alike = std::mem::take(&mut self.alike);
        let channels = std::mem::take(&mut self.vars.channels);
        let (unions, displays_are_dicts) = (self.vars.unions, self.vars.displays_are_dicts);
        let numbers_are_one = self.vars.numbers_are_one;
        *self = Session { alike, ..Session::new(self.host, self.overflow) };
        (self.vars.channels, self.vars.unions) = (channels, unions);
        (self.vars.displays_are_dicts, self.vars.numbers_are_one) = (displays_are_dicts, numbers_are_one);
    }

    /// Argument types whose objects have fields that also hold what the function puts into them, and whose empty
    /// containers hold what it puts in there. Those that it puts nothing into stay what they are, of nothing.
    fn widened(&mut self, key: &Key) -> Vec<Type> {
        let mut args = key.args.clone();
        // The types of what is put in may depend on what is found there.
        for round in 0..4 {
            if !lack_elements(&args) && !args.iter().any(|t| t.holds_object()) {
                break;
            }
            // No look has that place.
            let site = Site { instance: u32::MAX, inst: u32::MAX - round };
            let mut opened = Opened::new(site);
            let mut open = vec![];
            for (k, t) in args.iter().enumerate() {
                opened.alike = self.alike.get(k).copied().flatten();
                open.push(self.vars.opened_where_empty(*t, &mut opened));
            }
            let key = Key { args: open.clone(), ..key.clone() };
            self.look_ahead(site, &key);
            let new: Vec<Type> = open.iter().map(|t| self.resolve(*t)).collect();
            if new == args {
                break;
            }
            args = new;
        }
        args
    }

    /// Writes typed code for an instance that is done, and all that it calls. Others were asked for while less was
    /// known: what they take to be so need not be.
    fn finish_all(&mut self, root: InstanceId) -> Result<()> {
        let (mut work, mut opaque_ones, mut without_result) = (vec![root], HashSet::new(), vec![]);
        while let Some(id) = work.pop() {
            let next = id.index();
            if let Some(typed) = &self.instances[next].typed {
                // What is opaque is written down from the start, and what it calls is not.
                if opaque::get(self.instances[next].key.func).is_some() && opaque_ones.insert(id) {
                    work.extend(called_by(&typed.func));
                }
                continue;
            }
            if self.instances[next].state != State::Done {
                continue;
            }
            let (func, key) = (self.instances[next].func.clone(), self.instances[next].key.clone());
            let mut solved = self.instances[next]
                .solved
                .take()
                .ok_or_else(|| Diagnostic::internal("an instance is done but not solved"))?;
            self.tell_results(&func, &mut solved)?;
            without_result.extend(super::raised::calls_without_result(self, &self.instances[next], &solved));
            solved.resolved.values_mut().for_each(|how| how.each_callee(&mut |id| work.push(id)));
            let declared = self.instances[next].declared.map(|_| self.instances[next].ret);
            // Writing code down may ask for further instances: a default's function value.
            let made = self.instances.len();
            self.instances[next].typed = Some(super::finish::finish(self, &func, &key, solved, declared)?);
            work.extend((made..self.instances.len()).map(InstanceId::new));
        }
        if let Some(refused) = self.refused_by_types(without_result) {
            return Err(refused);
        }
        for x in &mut self.instances {
            if x.typed.is_none() {
                x.state = State::New;
            }
            x.ret = self.vars.resolve(x.ret);
        }
        Ok(())
    }

    pub fn at(&self, id: InstanceId) -> &Instance {
        &self.instances[id.index()]
    }

    /// The instance for this key, solved as far as recursion allows.
    pub(crate) fn instance(&mut self, key: Key) -> Result<InstanceId> {
        let id = match self.by_key.get(&key) {
            Some(id) => {
                let (id, known) = (*id, &self.instances[id.index()]);
                if let Some(of) = opaque::get(known.key.func).filter(|of| !of.calls().is_empty()) {
                    // What it calls may have been forgotten.
                    let func = known.func.clone();
                    self.called(&of, &func, &key)?;
                }
                id
            }
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
                // Of what is opaque there is nothing to type.
                let opaque = opaque::get(key.func);
                let calls = opaque.as_ref().map(|of| self.called(of, &func, &key)).transpose()?;
                let opaque = opaque.zip(calls);
                let id = InstanceId::new(self.instances.len());
                self.by_key.insert(key.clone(), id);
                self.instances.push(Instance {
                    ret: opaque.as_ref().map_or(ret, |of| of.0.ret(&key.args)),
                    state: if opaque.is_some() { State::Done } else { State::New },
                    typed: opaque.map(|(of, calls)| typed_opaque(&of, &calls, &func, &key)),
                    key,
                    func,
                    declared,
                    yields: Type::never(),
                    read_early: false,
                    solved: None,
                    failed: None,
                    solved_at: (0, 0),
                });
                id
            }
        };
        match self.instances[id.index()].state {
            State::Done => {}
            State::InProgress => self.instances[id.index()].read_early = true,
            // Nothing is known that was not when it was solved. Whoever it read has been read again.
            State::Provisional
                if self.instances[id.index()].solved_at == (self.vars.version, self.results) =>
            {
                let going = self.instances.iter_mut().filter(|x| x.state == State::InProgress);
                going.for_each(|x| x.read_early = true);
            }
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

    /// The instances that an opaque function calls.
    fn called(&mut self, of: &Opaque, func: &Func, key: &Key) -> Result<Vec<InstanceId>> {
        if !of.takes(&key.args) {
            let given = key.args.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
            let text = format!("the code that was generated for {}() is not for {given}", func.name);
            return Err(Diagnostic::new(Code::NoMatchingOperation, text));
        }
        let mut out = vec![];
        for inner in of.calls() {
            let consts = vec![None; inner.args.len()];
            let called = Key {
                func: inner.func,
                args: inner.args.clone(),
                consts,
                result: None,
                meaning: registry::meaning(inner.func).unwrap_or(key.meaning),
            };
            let id = self.instance(called)?;
            let ret = self.resolve(self.at(id).ret);
            if !lie_alike(ret, inner.ret) {
                let text = format!(
                    "{}() gives {ret}, and the code generator of {}() takes it for {}",
                    inner.func.name(),
                    func.name,
                    inner.ret
                );
                return Err(Diagnostic::new(Code::BadSignature, text));
            }
            out.push(id);
        }
        Ok(out)
    }

    /// Types a function for a call whose arguments have variables in them, for what it says about these: it
    /// puts something into lists that are empty so far, or returns them. What goes wrong meanwhile is found
    /// again by the call itself.
    pub(crate) fn look_ahead(&mut self, site: Site, key: &Key) -> Seen {
        // What an instance calls it calls for good, also where it is typed for a look: looks around it are not about
        // what is looked into here.
        let here = self.stack.iter().rev().take_while(|id| self.is_look(**id)).count();
        let around = self.ahead.len().saturating_sub(here);
        let first = key.args.first().copied().filter(|t| matches!(**t, Kind::Object(..)));
        let mut same = self.ahead[around..].iter_mut().rev().filter(|l| l.func == key.func);
        // A method that is looked into for one object may ask for the same of another one.
        if let Some(look) = same.next()
            && (first.is_none() || look.first == first || same.next().is_some())
        {
            look.asked = true;
            return Seen::Within(look.ret);
        }
        let func = match registry::get(key.func) {
            Some(f) if self.depth <= 50 => f,
            _ => return Seen::Nothing,
        };
        let known: Vec<Type> = key.args.iter().map(|t| self.resolve(*t)).collect();
        if let Some((args, round, ret)) = self.found_nothing.get(key)
            && (args, *round) == (&known, self.round)
        {
            return self.given(*ret, site);
        }
        if let Some((args, results, ret)) = self.followed.get(&(site, key.func))
            && *args == known
            && *results == self.results
        {
            return Seen::Returned(*ret);
        }
        let next = u32::MAX - self.look_ids.len() as u32;
        let id = *self.look_ids.entry((site, key.func)).or_insert(next);
        self.ahead.push(Look { func: key.func, first, ret: Type::never(), asked: false });
        self.depth += 1;
        self.stack.push(InstanceId(id));
        let (mut ret, mut typed) = (Type::never(), false);
        // A recursive call gives nothing at first; then what the other ways out of the function give.
        for _ in 0..4 {
            let solved = super::solve::solve(self, InstanceId(id), &func, key);
            typed = solved.is_ok();
            let Ok((solved, _)) = solved else { break };
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
            let known = key.args.iter().map(|t| self.resolve(*t)).collect();
            self.found_nothing.insert(key.clone(), (known, self.round, ret));
            return self.given(ret, site);
        }
        let known = key.args.iter().map(|t| self.resolve(*t)).collect();
        self.followed.insert((site, key.func), (known, self.results, ret));
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

    /// What a call of an instance gives there. Calls within a recursion have the variables of the instance itself:
    /// they return the same lists. The same objects only where the caller is looked into, whose own may be of
    /// their type: a caller that is given objects of known types would say of the instance's that they are no
    /// more than those, before all is known of either.
    pub(crate) fn result_at(&mut self, id: InstanceId, site: Site) -> Type {
        let of = &self.instances[id.index()];
        let own = match of.state {
            State::Done | State::Provisional => false,
            State::New | State::InProgress => {
                self.is_look(InstanceId(site.instance)) || !of.ret.holds_object()
            }
        };
        if own { of.ret } else { self.vars.instantiate(of.ret, site) }
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
        let mut func = func.clone();
        for _ in 0..16 {
            self.instances[id.index()].state = State::InProgress;
            self.instances[id.index()].read_early = false;
            let began = (self.vars.version, self.results);
            let (solved, now) = super::solve::solve(self, id, &func, key)?;
            if !Arc::ptr_eq(&func, &now) {
                self.instances[id.index()].func = now.clone();
                func = now;
            }
            let yields = self.resolve(solved.yields);
            let declared = self.instances[id.index()]
                .declared
                .map(|to| declared_result(&func, self.resolve(solved.ret), to))
                .transpose()?;
            let ret = if func.is_generator {
                let number = generator_id(key);
                self.vars.returns(number, solved.ret).ok_or_else(|| returns_several(&func))?;
                Type::new(Kind::Generator(number, yields))
            } else {
                declared.unwrap_or(solved.ret)
            };
            let changed = self.resolve(self.instances[id.index()].ret) != self.resolve(ret);
            let inst = &mut self.instances[id.index()];
            // Looks that asked for the result were given another one.
            if changed && (inst.read_early || inst.solved.is_some()) {
                self.results += 1;
                self.round += 1;
            }
            inst.ret = ret;
            inst.solved_at = began;
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

    /// Whether an instance that is being typed has called itself.
    pub(crate) fn calls_itself(&self, id: InstanceId) -> bool {
        self.instances[id.index()].read_early
    }

    /// Library functions are specialised for constant arguments too.
    pub(crate) fn is_library(&self, func: &Func) -> bool {
        func.file.is_library()
    }

    /// Whether integers of a function are checked: the user's, and the library's where they are (`sum`,
    /// `math.prod`), for such operands.
    pub(crate) fn checks_overflow(&self, func: &Func, mut operands: impl Iterator<Item = Type>) -> bool {
        let of_python = |t: Type| !t.is_int() || t.is_weak();
        let wanted = match self.overflow {
            Overflow::Wrap => false,
            Overflow::Raise => true,
            Overflow::Python => operands.all(of_python),
        };
        wanted && matches!(func.file.origin, Origin::User | Origin::Checked)
    }
}

fn returns_several(func: &Func) -> Diagnostic {
    let text = format!("what the generator `{}` returns has no one type", func.name);
    Diagnostic::new(Code::CannotUnify, text)
        .at(func.span(ssa::Loc { line: func.first_line, ..Default::default() }))
        .help("make every return give the same type")
}

/// Whether there is a value of one of several types in another one.
fn holds_mixed(t: Type) -> bool {
    is_mixed(t) || t.arguments().iter().any(holds_mixed)
}

fn lack_elements(args: &[Type]) -> bool {
    args.iter().any(|t| t.lacks_elements())
}

/// Whether values of one type are values of another to code that knows their leaves alone, objects behind
/// references included.
fn lie_alike(a: Type, b: Type) -> bool {
    let leaves = |t: Type| t.leaves().into_iter().map(|l| (l.ty, l.is_ref));
    let arrays = a.as_array().zip(b.as_array()).is_some_and(|(a, b)| a.dtype.strong() == b.dtype.strong());
    leaves(a).eq(leaves(b)) && (!a.is_counted() || arrays || a.strong_throughout() == b.strong_throughout())
}

/// The instances that typed code calls.
fn called_by(f: &Func) -> impl Iterator<Item = InstanceId> + '_ {
    f.insts.iter().filter_map(|n| if let ssa::Op::CallInstance(id) = n.op { Some(id) } else { None })
}

/// What stands for the code of an opaque function where typed code is looked at: it does nothing. A generated
/// one calls what it calls, and gives what an operation gives that may do anything with the operands.
fn typed_opaque(of: &Opaque, calls: &[InstanceId], func: &Func, key: &Key) -> Typed {
    let mut func = func.clone();
    func.blocks.truncate(1);
    func.blocks[0].insts.clear();
    func.blocks[0].term = ssa::Term::Unreachable;
    func.insts.clear();
    func.types = vec![Type::never(); func.values as usize];
    for (p, ty) in func.blocks[0].params.iter().zip(&key.args) {
        func.types[p.index()] = *ty;
    }
    if of.is_generated() {
        let mut operands = vec![put(&mut func, ssa::Op::Const(Const::None), vec![], Type::none())];
        operands.extend(func.blocks[0].params.clone());
        for (id, inner) in calls.iter().zip(of.calls()) {
            let args = inner.args.iter().map(|t| put(&mut func, ssa::Op::Undef, vec![], *t)).collect();
            put(&mut func, ssa::Op::CallInstance(*id), args, inner.ret);
        }
        let row = ssa::Op::Apply(crate::ops::foreign::intrinsic());
        let result = put(&mut func, row, operands, of.ret(&key.args));
        func.blocks[0].term = ssa::Term::Return(result);
    }
    Typed { func: Arc::new(func), globals: HashMap::new() }
}

/// Puts an instruction at the end of the first block.
fn put(func: &mut Func, op: ssa::Op, args: Vec<ssa::Value>, ty: Type) -> ssa::Value {
    let result = ssa::Value::new(func.values as usize);
    func.values += 1;
    func.types.push(ty);
    let at = Inst::new(func.insts.len());
    let node = ssa::InstNode { op, args, result: Some(result), loc: Default::default(), unwind: None };
    func.insts.push(node);
    func.blocks[0].insts.push(at);
    result
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
