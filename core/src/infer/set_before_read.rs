//! Which fields of an object are set before anybody can read them: those need no flag and no check.
//!
//! What makes the object is looked through, and what that calls with the object first: `__init__`, that of a
//! base, a method. Where the object goes anywhere else (it is passed on, stored, returned) whoever has it may
//! read any field: those that are not set by then may be read unset. So may those that are read before they are
//! assigned, and those that are not assigned on every way through.

use super::state::Session;
use crate::classes::Member;
use crate::host::{ClassAttr, GlobalValue};
use crate::ops::id;
use crate::ssa::{Block, Func, FuncId, Inst, Op, Term, Value, registry};
use crate::types::ClassDef;
use std::cell::RefCell;
use std::collections::HashMap;

/// A field is a bit; those beyond the last one are taken as never set.
type Fields = u128;

/// How deep calls are followed.
const DEEPEST: u32 = 12;

/// What a function does with an object that it is given.
#[derive(Clone, Copy)]
struct Summary {
    /// Fields that are set whenever it returns, beside those that were set before.
    sets: Fields,
    /// Fields that may be read or seen unset, if they were not set before.
    sees_unset: Fields,
}

/// What is known of a function that is not looked through.
const NOTHING: Summary = Summary { sets: 0, sees_unset: Fields::MAX };

/// What a value of the function is to the object.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Object,
    /// A method of the object, not called yet.
    Method(FuncId),
    /// `super()` of the object, behind that class.
    Super(&'static ClassDef),
}

/// What is known of functions that are given the object first; none of those that are looked through now.
type Known = RefCell<HashMap<FuncId, Option<Summary>>>;

struct Walk<'a, 'h> {
    session: &'a Session<'h>,
    known: &'a Known,
    class: &'static ClassDef,
    func: &'a Func,
    depth: u32,
    roles: HashMap<Value, Role>,
    /// Fields set at the beginning of each block that was reached.
    at: HashMap<Block, Fields>,
    sees_unset: Fields,
    sets: Fields,
}

impl Session<'_> {
    /// For each field of a class whether an object may be seen without it, that is made as `made` in a function.
    pub(super) fn unset_fields(&self, class: &'static ClassDef, func: &Func, made: Value) -> Vec<bool> {
        let found = self.summary(class, func, made, 0, &Known::default());
        let bits = (0..class.fields.len()).map(|k| if k < 128 { 1 << k } else { 0 });
        bits.map(|bit: Fields| bit == 0 || found.sees_unset & bit != 0).collect()
    }

    fn summary(
        &self,
        class: &'static ClassDef,
        func: &Func,
        object: Value,
        depth: u32,
        known: &Known,
    ) -> Summary {
        if depth > DEEPEST || func.is_generator {
            return NOTHING;
        }
        let mut walk = Walk {
            session: self,
            known,
            class,
            func,
            depth,
            roles: HashMap::from([(object, Role::Object)]),
            at: HashMap::from([(Block(0), 0)]),
            sees_unset: 0,
            sets: Fields::MAX,
        };
        walk.run();
        // What makes the object gives it away in the end.
        Summary { sets: walk.sets, sees_unset: walk.sees_unset }
    }
}

impl Walk<'_, '_> {
    fn run(&mut self) {
        let order = self.func.reverse_post_order();
        loop {
            let before = self.at.clone();
            for b in &order {
                if let Some(set) = self.at.get(b).copied() {
                    self.block(*b, set);
                }
            }
            if self.at == before {
                return;
            }
        }
    }

    fn flow(&mut self, to: Block, set: Fields) {
        self.at.entry(to).and_modify(|s| *s &= set).or_insert(set);
    }

    fn block(&mut self, b: Block, mut set: Fields) {
        let func = self.func;
        for i in &func.block(b).insts {
            let node = func.inst(*i);
            // It may raise before it has set anything.
            if let Some(u) = &node.unwind {
                if u.args.iter().any(|a| self.roles.contains_key(a)) {
                    self.given_away(set);
                }
                self.flow(u.block, set);
            }
            self.inst(*i, &mut set);
        }
        let term = &func.block(b).term;
        for to in term.targets() {
            if to.args.iter().any(|a| self.roles.contains_key(a)) {
                self.given_away(set);
            }
            self.flow(to.block, set);
        }
        match term {
            Term::Return(v) => {
                if self.roles.contains_key(v) {
                    self.given_away(set);
                }
                self.sets &= set;
            }
            Term::Raise { exc: v, .. } | Term::Branch { cond: v, .. } if self.roles.contains_key(v) => {
                self.given_away(set);
            }
            Term::Raise { .. } | Term::Branch { .. } | Term::None | Term::Jump(_) | Term::Unreachable => {}
        }
    }

    /// Somebody else has the object, with these fields set.
    fn given_away(&mut self, set: Fields) {
        self.sees_unset |= !set;
    }

    fn bit(&self, name: &str) -> Option<Fields> {
        let k = self.class.fields.iter().position(|f| f == name).filter(|k| *k < 128)?;
        Some(1 << k)
    }

    fn inst(&mut self, i: Inst, set: &mut Fields) {
        let node = self.func.inst(i);
        let role = |w: &Self, k: usize| node.args.get(k).and_then(|a| w.roles.get(a)).copied();
        let elsewhere = |w: &Self, from: usize| node.args.iter().skip(from).any(|a| w.roles.contains_key(a));
        match (&node.op, role(self, 0)) {
            (Op::SetAttr(name), Some(Role::Object)) if !elsewhere(self, 1) => {
                match (self.bit(name), self.session.class_attr(self.class, name)) {
                    (Some(bit), None | Some(ClassAttr::Value(_) | ClassAttr::Computed(_))) => *set |= bit,
                    _ => self.given_away(*set),
                }
            }
            (Op::Attr(name), Some(Role::Object)) => self.attribute(i, name, *set),
            (Op::Attr(name), Some(Role::Super(behind))) => {
                match self.session.host.class_attr_behind(self.class, behind, name) {
                    Some(ClassAttr::Method(f)) => self.becomes(i, Role::Method(f)),
                    _ if &**name == "__init__" => self.becomes_nothing(i),
                    _ => self.given_away(*set),
                }
            }
            (Op::Call { .. }, Some(Role::Method(f))) if !elsewhere(self, 1) => self.called(f, set),
            (Op::Call { .. }, None) => self.call(i, set),
            (Op::Table(id::IS | id::IS_NOT), _) => {}
            (_, None) if !elsewhere(self, 0) => {}
            _ => self.given_away(*set),
        }
    }

    fn becomes(&mut self, i: Inst, role: Role) {
        if let Some(r) = self.func.inst(i).result {
            self.roles.insert(r, role);
        }
    }
    /// `object.__init__` does nothing.
    fn becomes_nothing(&mut self, i: Inst) {
        if let Some(r) = self.func.inst(i).result {
            self.roles.remove(&r);
        }
    }

    fn attribute(&mut self, i: Inst, name: &str, set: Fields) {
        match self.session.member(self.class, name) {
            Some(Member::Host(ClassAttr::Method(f))) => self.becomes(i, Role::Method(f)),
            _ => match self.bit(name) {
                Some(bit) => self.sees_unset |= bit & !set,
                // What the class has does not change with the object, but for what computes it.
                None if matches!(self.session.class_attr(self.class, name), Some(ClassAttr::Value(_))) => {}
                None => self.given_away(set),
            },
        }
    }

    /// A call of a function that is given the object first, if it is one.
    fn call(&mut self, i: Inst, set: &mut Fields) {
        let node = self.func.inst(i);
        let given: Vec<usize> =
            (1..node.args.len()).filter(|k| self.roles.contains_key(&node.args[*k])).collect();
        if given.is_empty() {
            return;
        }
        let first = given == [1] && self.roles.get(&node.args[1]) == Some(&Role::Object);
        if first && let Some(f) = self.function(node.args[0]) {
            return self.called(f, set);
        }
        // `super(Class, self)`.
        if given == [2]
            && self.is_super(node.args[0])
            && let Some(GlobalValue::Class(behind)) = self.global(node.args[1])
        {
            return self.becomes(i, Role::Super(behind));
        }
        self.given_away(*set);
    }

    fn called(&mut self, f: FuncId, set: &mut Fields) {
        let known = self.known.borrow().get(&f).copied();
        let found = known.map(|found| found.unwrap_or(NOTHING)).unwrap_or_else(|| {
            self.known.borrow_mut().insert(f, None);
            let func = registry::get(f);
            let object = func.as_ref().and_then(|f| f.blocks.first()?.params.first().copied());
            let found = match (func, object) {
                (Some(func), Some(object)) => {
                    self.session.summary(self.class, &func, object, self.depth + 1, self.known)
                }
                _ => NOTHING,
            };
            self.known.borrow_mut().insert(f, Some(found));
            found
        });
        self.sees_unset |= found.sees_unset & !*set;
        *set |= found.sets;
    }

    fn made_by(&self, v: Value) -> Option<&Op> {
        self.func.insts.iter().find(|n| n.result == Some(v)).map(|n| &n.op)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction names a value of its own")]
    fn global(&self, v: Value) -> Option<GlobalValue> {
        match self.made_by(v)? {
            Op::Global(name) => self.session.host.global(self.func.host, name),
            Op::Free(n) => self.session.host.free(self.func.host, *n),
            _ => None,
        }
    }

    fn is_super(&self, v: Value) -> bool {
        matches!(self.global(v), Some(GlobalValue::Builtin(id::BUILTINS_SUPER)))
    }

    /// The function that a value is: a global, or `Base.__init__`.
    fn function(&self, v: Value) -> Option<FuncId> {
        if let Some(GlobalValue::Function(f)) = self.global(v) {
            return Some(f);
        }
        let node = self.func.insts.iter().find(|n| n.result == Some(v))?;
        let Op::Attr(name) = &node.op else { return None };
        let Some(GlobalValue::Class(class)) = self.global(node.args[0]) else { return None };
        match self.session.member(class, name) {
            Some(Member::Host(ClassAttr::Method(f))) => Some(f),
            _ => None,
        }
    }
}
