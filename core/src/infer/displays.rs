//! Dicts that are written out with constant keys, `{"n": n, "mean": m, "name": s}`: where their values have
//! several types and nobody changes them, each value keeps its type. They are then what `**kwargs` is.
//!
//! A dict of ints and floats could be one of floats, which is what it becomes where something changes it. Python
//! shows 3 and not 3.0 of it, so a function that promises Python's answers is then Python's to run.

use super::resolved::{Source, Typed};
use super::results::kind_of_number;
use super::state::Solver;
use crate::diag::{Code, Diagnostic};
use crate::emit::cx::Overflow;
use crate::ops::{OpId, id};
use crate::ssa::analysis::Definitions;
use crate::ssa::opt::unroll::Rewrite;
use crate::ssa::{Block, Func, Inst, Loc, Op, Term, Value};
use crate::types::{Const, Kind, Type, promote};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is found out about the displays that meet in one place: all of them change, or none.
struct Search<'a, 's, 'h> {
    of: &'a Solver<'s, 'h>,
    defs: Definitions,
    keys: Vec<&'a str>,
    displays: BTreeSet<Inst>,
    values: BTreeSet<Value>,
    work: Vec<Value>,
    /// Whether the values are numbers: a dict of one type would do, so that nothing may come of it that such a dict
    /// does not suffer from.
    numbers: bool,
    /// Nothing else may be done with it.
    only_read: bool,
}

impl Solver<'_, '_> {
    /// What failed because values of a dict do not go together: it is written out, or they are put into one that
    /// was just made.
    pub(super) fn display_of_types(&self, i: Inst, why: &Diagnostic) -> Option<Rewrite> {
        if why.code != Code::CannotUnify {
            return None;
        }
        self.displays(i, false).or_else(|| self.stores(i))
    }

    /// The same where values of several types would go together as such.
    pub(super) fn display_of_several(&self, i: Inst, entries: &[Value]) -> Option<Rewrite> {
        if !self.session.vars.unions || self.session.vars.displays_are_dicts {
            return None;
        }
        let mut types = entries.chunks(2).map(|pair| self.session.resolve(self.ty(pair[1])));
        let first = types.next()?;
        let several = types.any(|t| promote::unify(first, t).is_none());
        if several { self.displays(i, false) } else { None }
    }

    /// Stores into a dict that was made before them in the same block, and with which nothing else was done since: by
    /// one of them, or by the dict.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction makes or fills a dict")]
    fn stores(&self, i: Inst) -> Option<Rewrite> {
        let (func, node) = (self.func, self.func.inst(i));
        let defs = Definitions::new(func);
        let made = match node.op {
            Op::Table(id::SETITEM) => defs.inst(*node.args.first()?)?,
            Op::Table(id::DICT_BUILD) => i,
            _ => return None,
        };
        let dict = func.inst(made).result?;
        let entries = &func.inst(made).args;
        let constant = |v: Value| defs.inst(v).is_some_and(|i| is_text(&func.inst(i).op));
        let written = func.inst(made).op == Op::Table(id::DICT_BUILD);
        if !written || !entries.chunks(2).all(|pair| constant(pair[0])) {
            return None;
        }
        let insts = &func.block(defs.block(dict)?).insts;
        let mut stores = vec![];
        for at in &insts[insts.iter().position(|x| *x == made)? + 1..] {
            let by = func.inst(*at);
            let stores_it = by.op == Op::Table(id::SETITEM)
                && by.args[0] == dict
                && by.args[1..].iter().all(|v| *v != dict)
                && constant(by.args[1]);
            if by.unwind.iter().any(|u| u.args.contains(&dict)) {
                break;
            }
            if stores_it {
                stores.push(*at);
            } else if by.args.contains(&dict) {
                break;
            }
        }
        (stores.contains(&i) || i == made && !stores.is_empty()).then_some(Rewrite::Stores(made, stores))
    }

    /// Whether among the values of a display, with their keys in front of them, are numbers of several kinds.
    pub(super) fn mixes_numbers(&self, entries: &[Value]) -> bool {
        self.are_different(entries.chunks(2).map(|pair| pair[1]))
    }

    fn are_different(&self, values: impl Iterator<Item = Value>) -> bool {
        let mut types = values.map(|v| self.session.resolve(self.ty(v)));
        types.next().is_some_and(|first| types.any(|t| differ(first, t)))
    }

    /// The display of such numbers.
    pub(super) fn display_of_numbers(&mut self, i: Inst) -> Typed {
        self.rewrite = self.displays(i, true).or_else(|| self.stores(i));
        if self.rewrite.is_some() {
            // Nothing behind it is typed until then.
            return Ok((Type::never(), None, false));
        }
        self.one_type_of_numbers()?;
        let args = self.func.inst(i).args.iter().map(|v| Source::Value(*v)).collect();
        self.told_apart_in(|s| s.operation(i, id::DICT_BUILD, args))
    }

    /// An error where ints and floats in one dict are to stay what they are.
    fn one_type_of_numbers(&self) -> Result<(), Diagnostic> {
        let told_apart = self.session.vars.unions;
        if told_apart || self.session.overflow != Overflow::Python || self.session.is_library(self.func) {
            return Ok(());
        }
        let text =
            "these are numbers of several types, and compiled code would make them one in a dict or a set";
        Err(Diagnostic::new(Code::CannotUnify, text).help("write numbers of one type: 0.0 beside floats"))
    }

    /// Does something where numbers of several kinds are told apart, if values of several types are.
    fn told_apart_in<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.session.vars.numbers_apart;
        self.session.vars.numbers_apart = self.session.vars.unions;
        let out = what(self);
        self.session.vars.numbers_apart = before;
        out
    }

    /// The same of an operation that puts values, or keys, into a dict or a set. Says whether the function is typed
    /// anew instead.
    pub(super) fn keeps_numbers_in(
        &mut self,
        i: Inst,
        op: OpId,
        operands: &[Value],
    ) -> Result<bool, Diagnostic> {
        if !matches!(op, id::SETITEM | id::DICT_BUILD | id::SET_BUILD) {
            return Ok(false);
        }
        let mixes = match (op, operands) {
            (id::SETITEM, [dict, key, value]) => self.adds_another_kind(*dict, *key, *value),
            (id::DICT_BUILD, entries) => self.are_different(entries.chunks(2).map(|pair| pair[0])),
            (id::SET_BUILD, members) => self.are_different(members.iter().copied()),
            _ => false,
        };
        if !mixes {
            return Ok(false);
        }
        if self.session.vars.unions {
            if let (id::SETITEM, [dict, _, value]) = (op, operands) {
                self.takes_another_kind(*dict, *value);
            }
            return Ok(false);
        }
        self.rewrite = self.stores(i);
        if self.rewrite.is_none() {
            self.one_type_of_numbers()?;
        }
        Ok(self.rewrite.is_some())
    }

    /// The values of a dict of numbers are also numbers like this one, and each stays what it is.
    fn takes_another_kind(&mut self, dict: Value, value: Value) {
        let Some((_, [_, held])) = self.ty(dict).container() else { return };
        let (held, value) = (*held, self.ty(value));
        // Where it cannot be, the store says so.
        _ = self.told_apart_in(|s| s.session.vars.hold(held, value));
    }

    /// Whether `d["x"] = value` gives a dict of numbers one of another kind. With other keys it may be a table that
    /// begins with zeros.
    fn adds_another_kind(&self, dict: Value, key: Value, value: Value) -> bool {
        let (Some((_, [_, held])), Some(Const::Str(_))) = (self.ty(dict).container(), &self.fact(key).konst)
        else {
            return false;
        };
        let held = self.session.resolve(self.session.vars.known(*held));
        differ(held, self.session.resolve(self.ty(value)))
    }

    /// A call of `dict` with names alone.
    pub(super) fn dict_of_names(&mut self, i: Inst, named: Vec<(Arc<str>, Source)>) -> Typed {
        let mut types = vec![];
        for (_, value) in &named {
            let ty = self.source_arg(value)?.ty;
            types.push(self.session.resolve(ty));
        }
        if types.windows(2).any(|two| differ(two[0], two[1])) {
            self.rewrite = self.displays(i, true);
            if self.rewrite.is_some() {
                return Ok((Type::never(), None, false));
            }
            self.one_type_of_numbers()?;
        }
        self.rows(i, id::BUILTINS_DICT, vec![], named)
    }

    /// A dict that is made of what a function takes as `**kwargs`, or gets its entries: as of names and values.
    pub(super) fn dict_of_keywords(
        &mut self,
        i: Inst,
        op: OpId,
        positional: &[Source],
        named: &[(Arc<str>, Source)],
    ) -> Result<Option<Typed>, Diagnostic> {
        let (of, dict) = match (op, positional) {
            (id::BUILTINS_DICT, [of]) => (of, None),
            (id::DICT_UPDATE, [dict, of]) => (of, Some(dict.clone())),
            _ => return Ok(None),
        };
        let ty = self.source_arg(of)?.ty;
        let Kind::NamedTuple(class, _) = ty.kind() else { return Ok(None) };
        if !class.is_keywords() {
            return Ok(None);
        }
        let fields = class.fields.iter().enumerate();
        let mut all: Vec<(Arc<str>, Source)> =
            fields.map(|(k, f)| (f.as_str().into(), of.part(k as u32))).collect();
        for (name, value) in named {
            match all.iter_mut().find(|(n, _)| n == name) {
                Some(entry) => entry.1 = value.clone(),
                None => all.push((name.clone(), value.clone())),
            }
        }
        Ok(Some(match dict {
            Some(dict) => self.rows(i, id::DICT_UPDATE, vec![dict], all),
            None => self.dict_of_names(i, all),
        }))
    }

    /// What failed because the function does to its own `**kwargs` what only a dict of one type takes: it makes one of
    /// them first.
    pub(super) fn keywords_changed(&self, i: Inst, why: &Diagnostic) -> Option<Rewrite> {
        let keywords = *self.func.blocks[0].params.last().filter(|_| self.func.params.varkw)?;
        let of_keywords = matches!(self.ty(keywords).kind(), Kind::NamedTuple(c, _) if c.is_keywords());
        if why.code != Code::NoMatchingOperation || !of_keywords {
            return None;
        }
        let node = self.func.inst(i);
        let method = |v: &Value| {
            let made = Definitions::new(self.func).inst(*v).map(|i| self.func.inst(i));
            made.is_some_and(|by| matches!(by.op, Op::Attr(_)) && by.args == [keywords])
        };
        let is_call = matches!(node.op, Op::Call { .. });
        let changed = node.args.contains(&keywords) || is_call && node.args.first().is_some_and(method);
        changed.then_some(Rewrite::Keywords(keywords))
    }

    /// Dicts of several types that are passed in are only read: they would come back as others.
    pub(super) fn records_are_read(&self) -> Result<(), Diagnostic> {
        let params = &self.func.blocks[0].params;
        for (k, p) in params.iter().enumerate() {
            let own = self.func.params.varkw && k + 1 == params.len();
            let Kind::NamedTuple(class, _) = self.ty(*p).kind() else { continue };
            if own || !class.is_keywords() {
                continue;
            }
            let mut search = Search {
                of: self,
                defs: Definitions::new(self.func),
                keys: class.fields.iter().map(|f| &**f).collect(),
                displays: BTreeSet::new(),
                values: BTreeSet::new(),
                work: vec![],
                numbers: false,
                only_read: true,
            };
            search.add(*p);
            while let Some(v) = search.work.pop() {
                if search.follow(v).is_none() {
                    let name = self.func.params.names.get(k).map_or("?", |n| n);
                    let text = format!(
                        "argument '{name}': a dict whose values have several types can only be read in compiled code"
                    );
                    return Err(Diagnostic::new(Code::UnsupportedArgument, text)
                        .help("pass the values that are changed or returned as arguments of their own")
                        .at(self.func.span(Loc { line: self.func.first_line, ..Loc::default() })));
                }
            }
        }
        Ok(())
    }

    /// A display and those that it meets, if each may keep the types of its values.
    fn displays(&self, i: Inst, numbers: bool) -> Option<Rewrite> {
        let defs = Definitions::new(self.func);
        let mut search = Search {
            of: self,
            keys: keys_of(self, &defs, i)?,
            defs,
            displays: BTreeSet::new(),
            values: BTreeSet::new(),
            work: vec![],
            numbers,
            only_read: false,
        };
        search.add_display(i)?;
        while let Some(v) = search.work.pop() {
            search.follow(v)?;
        }
        Some(Rewrite::Displays(search.displays.into_iter().collect()))
    }
}

/// Whether numbers in the same places are of different kinds. Of what is no number the dict itself knows.
fn differ(a: Type, b: Type) -> bool {
    let [a, b] = [a.without_none(), b.without_none()];
    match (a.kind(), b.kind()) {
        (Kind::Tuple(x), Kind::Tuple(y)) if x.len() == y.len() => {
            x.iter().zip(y).any(|(x, y)| differ(*x, *y))
        }
        _ => a.is_number() && b.is_number() && kind_of_number(a) != kind_of_number(b),
    }
}

fn is_text(op: &Op) -> bool {
    matches!(op, Op::Const(Const::Str(_)))
}

/// The keys of a display, or of a call of `dict` with names, if they are constant strings. One that stands twice counts
/// where it stood first.
/// What is behind the place that is typed just now has no types yet.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else makes a dict of keys that are written out")]
fn keys_of<'a>(of: &Solver<'a, '_>, defs: &Definitions, i: Inst) -> Option<Vec<&'a str>> {
    let (func, node): (&'a Func, _) = (of.func, of.func.inst(i));
    let key = |pair: &[Value]| match &func.inst(defs.inst(pair[0])?).op {
        Op::Const(Const::Str(s)) => Some(&**s),
        _ => None,
    };
    let keys: Vec<&'a str> = match &node.op {
        Op::Table(id::DICT_BUILD) => node.args.chunks(2).map(key).collect::<Option<_>>()?,
        Op::Call { keywords } if node.args.len() == keywords.len() + 1 => {
            let named = of.operation_named(defs, node.args[0]) == Some(id::BUILTINS_DICT);
            named.then(|| keywords.iter().map(|k| &**k).collect())?
        }
        _ => return None,
    };
    let mut seen = BTreeSet::new();
    let keys: Vec<&str> = keys.into_iter().filter(|k| seen.insert(*k)).collect();
    (!keys.is_empty()).then_some(keys)
}

impl Search<'_, '_, '_> {
    fn func(&self) -> &Func {
        self.of.func
    }

    fn add(&mut self, v: Value) {
        if self.values.insert(v) {
            self.work.push(v);
        }
    }

    fn add_display(&mut self, i: Inst) -> Option<()> {
        if self.displays.contains(&i) {
            return Some(());
        }
        if keys_of(self.of, &self.defs, i)? != self.keys {
            return None;
        }
        self.displays.insert(i);
        self.add(self.func().inst(i).result?);
        Some(())
    }

    /// What meets a display in a variable, a list or the result is one as well, with the same keys.
    fn meets(&mut self, v: Value) -> Option<()> {
        if self.values.contains(&v) {
            return Some(());
        }
        let i = self.defs.inst(v)?;
        self.add_display(i)
    }

    /// All that is done with a value.
    fn follow(&mut self, v: Value) -> Option<()> {
        let func = self.of.func;
        // A parameter may be what it was at the turn before.
        let (home, is_made) = (self.defs.block(v), self.defs.inst(v).is_some());
        let mut leaves = 0;
        for b in func.reverse_post_order() {
            for i in &func.block(b).insts {
                let node = func.inst(*i);
                for (at, _) in node.args.iter().enumerate().filter(|(_, a)| **a == v) {
                    if self.escapes(*i, at)? {
                        leaves += 1;
                        if self.only_read || leaves > 1 || self.repeats(b, home.filter(|_| is_made)) {
                            return None;
                        }
                    }
                }
                if let Some(to) = &node.unwind {
                    self.flow(to.block, 1, &to.args, v)?;
                }
            }
            match &func.block(b).term {
                Term::Return(r) if *r == v => self.returned()?,
                Term::Raise { exc, .. } if *exc == v => return None,
                Term::Return(_)
                | Term::Raise { .. }
                | Term::None
                | Term::Unreachable
                | Term::Jump(_)
                | Term::Branch { .. } => {}
            }
            let skip = usize::from(matches!(func.block(b).term, Term::Raise { .. }));
            for to in func.block(b).term.targets() {
                self.flow(to.block, skip, &to.args, v)?;
            }
        }
        Some(())
    }

    /// Whether a block is run several times for one time that `home` is: what it puts somewhere is the same dict then,
    /// and not several.
    fn repeats(&self, b: Block, home: Option<Block>) -> bool {
        let func = self.func();
        let next = |b: Block| {
            let block = func.block(b);
            let unwinds = block.insts.iter().filter_map(|i| func.inst(*i).unwind.as_ref());
            block.term.targets().into_iter().chain(unwinds).map(|t| t.block).collect::<Vec<_>>()
        };
        let (mut seen, mut work) = (BTreeSet::new(), next(b));
        while let Some(at) = work.pop() {
            if at == b && home != Some(b) {
                return true;
            }
            if Some(at) != home && seen.insert(at) {
                work.extend(next(at));
            }
        }
        false
    }

    /// A value that goes into parameters of a block, behind `skip` others: all that does so is of its kind.
    fn flow(&mut self, to: Block, skip: usize, args: &[Value], v: Value) -> Option<()> {
        for at in args.iter().enumerate().filter(|(_, a)| **a == v).map(|(k, _)| k + skip) {
            let p = *self.func().block(to).params.get(at)?;
            if self.values.contains(&p) {
                continue;
            }
            self.add(p);
            let func = self.of.func;
            for b in func.reverse_post_order() {
                // A handler's first parameter is the exception.
                let unwinds = func.block(b).insts.iter().filter_map(|i| func.inst(*i).unwind.as_ref());
                let raises = usize::from(matches!(func.block(b).term, Term::Raise { .. }));
                let targets = func.block(b).term.targets().into_iter().map(|t| (t, raises));
                for (t, skip) in unwinds.map(|t| (t, 1)).chain(targets).filter(|(t, _)| t.block == to) {
                    self.meets(*t.args.get(at.checked_sub(skip)?)?)?;
                }
            }
        }
        Some(())
    }

    /// What else the function gives.
    fn returned(&mut self) -> Option<()> {
        if self.only_read {
            return None;
        }
        let func = self.of.func;
        for b in func.reverse_post_order() {
            if let Term::Return(r) = func.block(b).term {
                self.meets(r)?;
            }
        }
        Some(())
    }

    /// Whether an instruction puts a value, its operand of that number, where others may find it; nothing if it may
    /// change it, or if nobody knows.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what does no harm is listed")]
    fn escapes(&mut self, i: Inst, at: usize) -> Option<bool> {
        let func = self.of.func;
        let node = func.inst(i);
        match &node.op {
            Op::Table(id::GETITEM) if at == 0 => {
                let known = matches!(&self.of.fact(node.args[1]).konst, Some(Const::Str(s)) if self.keys.contains(&&**s));
                (known || !self.numbers).then_some(false)
            }
            Op::Table(
                id::CONTAINS
                | id::TRUTH
                | id::NOT
                | id::IS
                | id::IS_NOT
                | id::EQ
                | id::NE
                | id::BUILTINS_ITER
                | id::FORMAT_VALUE,
            ) => Some(false),
            Op::Table(id::TUPLE_BUILD) => Some(true),
            Op::Table(id::LIST_BUILD) => {
                for a in node.args.clone() {
                    self.meets(a)?;
                }
                Some(true)
            }
            Op::Table(id::DICT_BUILD | id::KWARGS_BUILD) if at % 2 == 1 => Some(true),
            Op::Table(id::LIST_APPEND) if at == 1 => {
                self.appended()?;
                Some(true)
            }
            Op::Attr(name) if matches!(&**name, "copy" | "get" | "values" | "items") => {
                (!self.numbers).then_some(false)
            }
            Op::Attr(name) if &**name == "keys" => Some(false),
            Op::CheckBound { .. } => {
                self.add(node.result?);
                Some(false)
            }
            Op::Call { .. } if at > 0 => self.called_with(node.args[0]),
            Op::CallSpread { .. } => (!self.numbers).then_some(false),
            _ => None,
        }
    }

    /// The same of a call of that with it.
    fn called_with(&mut self, callee: Value) -> Option<bool> {
        if self.is_append(callee) {
            self.appended()?;
            return Some(true);
        }
        match self.of.operation_named(&self.defs, callee) {
            Some(
                id::BUILTINS_LEN
                | id::BUILTINS_BOOL
                | id::BUILTINS_SORTED
                | id::BUILTINS_LIST
                | id::BUILTINS_STR
                | id::BUILTINS_REPR
                | id::BUILTINS_PRINT
                | id::TIERUP_REVEAL_TYPE,
            ) => Some(false),
            Some(_) => None,
            // A function of the program's may look at it, and not change it: it would be refused there.
            None => (!self.numbers).then_some(!self.only_read),
        }
    }

    /// Displays that are put at the end of some list may come into the same one.
    fn appended(&mut self) -> Option<()> {
        let func = self.of.func;
        for node in func.insts.iter() {
            let given = match (&node.op, &node.args[..]) {
                (Op::Table(id::LIST_APPEND), [_, given]) => *given,
                (Op::Call { .. }, [callee, given]) if self.is_append(*callee) => *given,
                _ => continue,
            };
            let Some(made) = self.defs.inst(given) else { continue };
            if keys_of(self.of, &self.defs, made).is_some_and(|k| k == self.keys) {
                self.add_display(made)?;
            }
        }
        Some(())
    }

    fn is_append(&self, callee: Value) -> bool {
        let by = self.defs.inst(callee).map(|i| &self.of.func.inst(i).op);
        matches!(by, Some(Op::Attr(name)) if &**name == "append")
    }
}
