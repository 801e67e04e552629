//! `unroll(xs)`: the loop over it is written out ([`unroll`]) once it is known what there is to go through, and
//! the function is typed anew. And `static(x)`: what is known when the function is compiled.

use super::call::specialises;
use super::resolved::{Resolved, Source, Typed};
use super::state::Solver;
use crate::diag::{Code, Diagnostic, Result};
use crate::host::GlobalValue;
use crate::ops::unroll::without_loop;
use crate::ops::{OpId, id};
use crate::ssa::analysis::{Definitions, uses_of_term};
use crate::ssa::opt::unroll::{self, Counting, Items, Rewrite, Start};
use crate::ssa::{FuncId, Inst, Op, Value, registry};
use crate::types::{Const, Kind, Type};
use crate::typing::Arg;
use std::sync::Arc;

/// Turns of one loop, and instructions of a function in which loops are written out.
const MOST_TURNS: usize = 1000;
const MOST_INSTRUCTIONS: usize = 20_000;
/// Values for which a function has code of its own in one compilation, where it need not.
const MOST_VALUES: usize = 16;

impl Solver<'_, '_> {
    /// A call of `unroll`: asks for the function with the loop written out.
    pub(super) fn unroll(&mut self, i: Inst) -> Typed {
        let node = self.func.inst(i);
        let Op::Call { keywords } = &node.op else { return Err(without_loop()) };
        let ([_, xs], true) = (&node.args[..], keywords.is_empty()) else {
            return Err(Diagnostic::new(
                Code::BadCall,
                "unroll() takes one argument: what the loop goes through",
            ));
        };
        let defs = Definitions::new(self.func);
        let counting = self.counting(&defs, i);
        let call = counting.map_or(i, |c| c.range);
        let Some(over) = unroll::find(self.func, call) else { return Err(without_loop()) };
        if let (Kind::List(_), Some(made)) = (self.ty(*xs).kind(), defs.inst(*xs)) {
            self.rewrite = self.list_to_unroll(made);
            if self.rewrite.is_some() {
                return Ok((Type::never(), None, false));
            }
        }
        let items = self.items(&defs, *xs)?;
        let (count, size) = (items.count(), unroll::size(self.func, &over));
        // What is there already counts: loops lie in loops.
        if count > MOST_TURNS || self.func.insts.len() + count * size > MOST_INSTRUCTIONS {
            let text = format!(
                "this loop is too large to be unrolled: {count} turns of {size} instructions, where {MOST_TURNS} turns are the most, and {MOST_INSTRUCTIONS} instructions in the whole function"
            );
            return Err(Diagnostic::new(Code::RequiresConstant, text).help("go through it without unroll()"));
        }
        self.rewrite = Some(match counting {
            Some(calls) => Rewrite::Count(calls, items),
            None => Rewrite::Loop(i, items),
        });
        // Nothing behind it is typed until then.
        Ok((Type::never(), None, false))
    }

    /// The calls in `range(len(unroll(xs)))`, as Numba has them.
    fn counting(&self, defs: &Definitions, unroll: Inst) -> Option<Counting> {
        let reader = |of: Inst, op: OpId| {
            let reader = unroll::only_reader(self.func, self.func.inst(of).result?)?;
            let node = self.func.inst(reader);
            let is_call = matches!(&node.op, Op::Call { keywords } if keywords.is_empty());
            (is_call && node.args.len() == 2 && self.operation_named(defs, node.args[0]) == Some(op))
                .then_some(reader)
        };
        let len = reader(unroll, id::BUILTINS_LEN)?;
        Some(Counting { unroll, len, range: reader(len, id::BUILTINS_RANGE)? })
    }

    /// A list that a loop is unrolled over, and that nobody can change: it is only read where it is made.
    pub(super) fn list_to_unroll(&self, list: Inst) -> Option<Rewrite> {
        self.list_only_read(list, true)
    }

    /// A list of values of several types of which nobody sees that it is none.
    pub(super) fn list_of_types(&self, list: Inst, why: &Diagnostic) -> Option<Rewrite> {
        if why.code == Code::CannotUnify { self.list_only_read(list, false) } else { None }
    }

    fn list_only_read(&self, list: Inst, to_unroll: bool) -> Option<Rewrite> {
        let (func, node) = (self.func, self.func.inst(list));
        let value = node.result.filter(|_| node.op == Op::Table(id::LIST_BUILD))?;
        let defs = Definitions::new(func);
        let mut unrolled = false;
        for block in &func.blocks {
            let mut plain = true;
            uses_of_term(&block.term, &mut |v| plain &= v != value);
            for by in block.insts.iter().map(|i| func.inst(*i)) {
                plain &= !by.unwind.iter().any(|u| u.args.contains(&value));
                if !by.args.contains(&value) {
                    continue;
                }
                plain &= by.args[1..].iter().all(|v| *v != value) || matches!(by.op, Op::Call { .. });
                let called = if let Op::Table(op) = by.op {
                    Some(op)
                } else if matches!(by.op, Op::Call { .. }) && by.args.len() == 2 {
                    self.operation_named(&defs, by.args[0])
                } else {
                    None
                };
                unrolled |= matches!(called, Some(id::TIERUP_UNROLL | id::UNROLL_COUNTED));
                // A part of it is a list again.
                let at_number = |v: &Value| {
                    let written = defs.inst(*v).map(|i| &func.inst(i).op);
                    matches!(written, Some(Op::Const(Const::Int(_)))) || self.ty(*v).is_int()
                };
                plain &= to_unroll || called != Some(id::GETITEM) || by.args.get(1).is_some_and(at_number);
                let counts = matches!(&by.op, Op::Attr(name) if **name == *"count");
                plain &= matches!(
                    called,
                    Some(
                        id::TIERUP_UNROLL
                            | id::UNROLL_COUNTED
                            | id::BUILTINS_LEN
                            | id::BUILTINS_ITER
                            | id::GETITEM
                    )
                ) || !to_unroll && (counts || called == Some(id::CONTAINS));
            }
            if !plain {
                return None;
            }
        }
        (unrolled || !to_unroll).then_some(Rewrite::List(value))
    }

    /// The operation that a callee is, also where it has no type yet.
    pub(super) fn operation_named(&self, defs: &Definitions, callee: Value) -> Option<OpId> {
        if let Kind::Builtin(op) = *self.ty(callee) {
            return Some(op);
        }
        let node = self.func.inst(defs.inst(callee)?);
        let found = if let Op::Global(name) = &node.op {
            self.global_named(name)
        } else if let Op::Free(n) = node.op {
            self.closed_over(n)
        } else {
            None
        };
        if let Some(GlobalValue::Builtin(op)) = found { Some(op) } else { None }
    }

    /// What a loop that is written out went through must still be what there is to go through: what seemed
    /// constant when it was seen first may not be.
    pub(super) fn still_unrolled(&mut self, i: Inst) -> Typed {
        let node = self.func.inst(i);
        let items = self.items(&Definitions::new(self.func), node.args[0])?;
        if self.fact(node.args[1]).konst.as_ref() != Some(&items.shape()) {
            return Err(self.of_unknown_length(node.args[0]));
        }
        self.out.resolved.insert(i, Resolved::Nothing);
        Ok((Type::none(), Some(Const::None), false))
    }

    fn of_unknown_length(&self, v: Value) -> Diagnostic {
        let ty = self.session.resolve(self.ty(v));
        let text = if let Kind::Range(_) = *ty {
            "unroll() needs a range between constants".into()
        } else {
            format!("unroll() needs something whose items are known when the function is compiled, not {ty}")
        };
        Diagnostic::new(Code::RequiresConstant, text)
            .help("a tuple can be unrolled, zip(), enumerate() and reversed() of tuples, and a range between constants; go through anything else without unroll()")
    }

    /// What there is to go through in a value.
    fn items(&mut self, defs: &Definitions, v: Value) -> Result<Items> {
        let fact = self.fact(v).clone();
        if let Some(Const::Str(s)) = &fact.konst {
            let one = |c: char| Const::Str(Arc::from(c.encode_utf8(&mut [0; 4]) as &str));
            return Ok(Items::Constants(s.chars().map(one).collect()));
        }
        if let Some(Const::Bytes(s)) = &fact.konst {
            return Ok(Items::Constants(s.iter().map(|c| Const::Int(i64::from(*c))).collect()));
        }
        if let Kind::Tuple(m) = fact.ty.kind() {
            return Ok(Items::Members(v, m.len()));
        }
        if let Kind::NamedTuple(class, m) = fact.ty.kind()
            && !class.is_keywords()
            && self.session.class_attr(class, "__iter__").is_none()
        {
            return Ok(Items::Members(v, m.len()));
        }
        match self.items_of_call(defs, v)? {
            Some(items) => Ok(items),
            None => Err(self.of_unknown_length(v)),
        }
    }

    /// The same for what a call of `range`, `zip`, `enumerate` or `reversed` gives. Iterators must be new.
    fn items_of_call(&mut self, defs: &Definitions, v: Value) -> Result<Option<Items>> {
        let Some(made) = defs.inst(v) else { return Ok(None) };
        let node = self.func.inst(made);
        let (Op::Call { keywords }, Some(callee)) = (&node.op, node.args.first()) else { return Ok(None) };
        let Kind::Builtin(callee) = *self.ty(*callee) else { return Ok(None) };
        let (given, named) = node.args[1..].split_at(node.args.len() - 1 - keywords.len());
        if callee == id::BUILTINS_RANGE && keywords.is_empty() {
            let known: Option<Vec<i64>> =
                given.iter().map(|a| self.fact(*a).konst.as_ref().and_then(Const::as_int)).collect();
            return Ok(known.and_then(|k| range(&k)).map(Items::Constants));
        }
        if unroll::only_reader(self.func, v).is_none() {
            return Ok(None);
        }
        let names: Vec<&str> = keywords.iter().map(|k| &**k).collect();
        match (callee, given, &names[..]) {
            (id::BUILTINS_REVERSED, [of], []) => Ok(Some(Items::Backwards(Box::new(self.items(defs, *of)?)))),
            (id::BUILTINS_ENUMERATE, [of], []) => {
                Ok(Some(Items::Counted(Box::new(self.items(defs, *of)?), Start::Known(0))))
            }
            (id::BUILTINS_ENUMERATE, [of, _], []) | (id::BUILTINS_ENUMERATE, [of], ["start"])
                if let Some(start) = given.get(1).or(named.first()) =>
            {
                let at = match self.fact(*start).konst.as_ref().and_then(Const::as_int) {
                    Some(n) => Start::Known(n),
                    None if self.ty(*start).is_int() => Start::At(*start),
                    None => return Ok(None),
                };
                Ok(Some(Items::Counted(Box::new(self.items(defs, *of)?), at)))
            }
            (id::BUILTINS_ZIP, [_, ..], []) => self.together(defs, given).map(Some),
            (id::BUILTINS_ZIP, [_, ..], ["strict"]) => {
                let Items::Together(all) = self.together(defs, given)? else { return Ok(None) };
                let strict = self.fact(named[0]).konst.as_ref().map(Const::truth);
                let same = all.windows(2).all(|w| w[0].count() == w[1].count());
                Ok((strict == Some(false) || strict == Some(true) && same).then_some(Items::Together(all)))
            }
            _ => Ok(None),
        }
    }

    fn together(&mut self, defs: &Definitions, all: &[Value]) -> Result<Items> {
        Ok(Items::Together(all.iter().map(|v| self.items(defs, *v)).collect::<Result<_>>()?))
    }

    /// `static(x)`: x, if it is known. That a parameter's value is wanted makes the function one that is
    /// compiled for each value; whoever calls it says which.
    pub(super) fn static_value(&mut self, i: Inst, of: &Source) -> Typed {
        let arg = self.source_arg(of)?;
        if arg.konst.is_some() {
            return Ok((arg.ty, arg.konst, false));
        }
        if is_known(arg.ty) {
            self.out.resolved.insert(i, Resolved::Same(of.clone()));
            return Ok((arg.ty, None, false));
        }
        let text = match self.parameter(of) {
            Some(k) if has_values(arg.ty) => {
                if let Some(func) = self.func.id {
                    registry::specialise(func, k, true);
                }
                let name = self.name_of_parameter(k);
                format!("the value of '{name}' is not known when the function is compiled")
            }
            Some(k) => {
                let (name, ty) = (self.name_of_parameter(k), self.session.resolve(arg.ty));
                format!(
                    "'{name}' is {ty}: only an int, a bool, a str, None or a tuple of such has code for each of its values"
                )
            }
            None => "static() stands for a value that is known when the function is compiled".into(),
        };
        Err(Diagnostic::new(Code::RequiresConstant, text)
            .help("a constant, a global or captured value, the length of a tuple and a parameter whose value each caller knows can be static"))
    }

    /// Has parameters among these without a known value get code for each of their values; not `always`: where
    /// these are known and not too many.
    pub(super) fn want_values_of(&mut self, given: &[Source], always: bool) -> Result<()> {
        for of in given {
            let arg = self.source_arg(of)?;
            if let (None, true, Some(k), Some(func)) =
                (arg.konst, has_values(arg.ty), self.parameter(of), self.func.id)
            {
                registry::specialise(func, k, always);
            }
        }
        Ok(())
    }

    /// The values of arguments for which a function has code of its own.
    pub(super) fn values_of(&mut self, func: FuncId, args: &[Arg], sources: &[Source]) -> Vec<Option<Const>> {
        let Some(params) = registry::specialised(func) else { return vec![None; args.len()] };
        let wanted = |k: usize| params.iter().any(|p| p.param == k);
        let all: Vec<Option<Const>> = (0..args.len())
            .map(|k| if wanted(k) { self.value_of(&args[k], &sources[k]) } else { None })
            .collect();
        if all.iter().all(Option::is_none) {
            return all;
        }
        let known = self.session.values.entry(func).or_default();
        if known.contains(&all) || known.len() < MOST_VALUES {
            known.insert(all.clone());
            return all;
        }
        let value = |k: usize| self.value_of(&args[k], &sources[k]);
        let always = |k: usize| params.iter().any(|p| p.param == k && p.always);
        (0..args.len()).map(|k| value(k).filter(|_| always(k))).collect()
    }

    /// The value of an argument, where code may be for it.
    fn value_of(&self, arg: &Arg, source: &Source) -> Option<Const> {
        let konst = match self.place_of(source) {
            Some(v) => &self.fact(v).konst,
            None => &arg.konst,
        };
        konst.clone().filter(|c| has_values(arg.ty) && specialises(c))
    }

    /// The value that a source is; what a function has captured is what it was made with.
    fn place_of(&self, source: &Source) -> Option<Value> {
        if let Source::Value(v) = *source {
            return Some(v);
        }
        let Source::Member(of, k) = *source else { return None };
        let made = self.func.inst(Definitions::new(self.func).inst(of)?);
        matches!(made.op, Op::MakeFunction { .. }).then(|| made.args.get(k as usize).copied()).flatten()
    }

    /// Whether a function that could not be typed wants values which are known here. One that is a parameter
    /// of this function is wanted of whoever calls this one.
    pub(super) fn wants_values(
        &self,
        func: FuncId,
        consts: &[Option<Const>],
        args: &[Arg],
        sources: &[Source],
    ) -> bool {
        let Some(params) = registry::specialised(func) else { return false };
        let room = self.session.values.get(&func).is_none_or(|known| known.len() < MOST_VALUES);
        let missing =
            params.iter().filter(|p| (p.always || room) && consts.get(p.param).is_some_and(Option::is_none));
        let mut known = false;
        for p in missing {
            let value = self.value_of(&args[p.param], &sources[p.param]);
            known |= value.is_some();
            if value.is_none()
                && let (Some(k), Some(own)) = (self.parameter(&sources[p.param]), self.func.id)
            {
                registry::specialise(own, k, true);
            }
        }
        known
    }

    /// The parameter that a value is, or captured variable, which follow these.
    fn parameter(&self, of: &Source) -> Option<usize> {
        let mut v = self.place_of(of)?;
        let (defs, params) = (Definitions::new(self.func), &self.func.blocks[0].params);
        while let Some(i) = defs.inst(v) {
            let node = self.func.inst(i);
            if let Op::Free(n) = node.op {
                return ((n as usize) < self.captures.len()).then(|| params.len() + n as usize);
            }
            if !matches!(node.op, Op::Narrow(_) | Op::CheckBound { .. }) {
                return None;
            }
            v = node.args[0];
        }
        params.iter().position(|p| *p == v)
    }

    /// What the code calls such a one.
    fn name_of_parameter(&self, k: usize) -> &str {
        let params = self.func.blocks[0].params.len();
        let names = if k < params { &self.func.params.names } else { &self.func.free };
        names.get(if k < params { k } else { k - params }).map_or("?", |n| n)
    }
}

/// Whether values of a type can have code of their own.
#[expect(clippy::wildcard_enum_match_arm, reason = "values of any other type are too many, or change")]
pub(super) fn has_values(t: Type) -> bool {
    match t.kind() {
        Kind::Int(_) | Kind::Bool | Kind::Str | Kind::None | Kind::Never => true,
        Kind::Tuple(m) => m.iter().all(|t| has_values(*t)),
        _ => false,
    }
}

/// Whether the type of a value says which it is: functions and classes.
#[expect(clippy::wildcard_enum_match_arm, reason = "a value of any other type is one of several")]
fn is_known(t: Type) -> bool {
    match t.kind() {
        Kind::Function(f) => f.captures.is_empty() && f.defaults.is_empty(),
        Kind::Builtin(_)
        | Kind::Module(_)
        | Kind::DType(_)
        | Kind::NamedTupleClass(_)
        | Kind::ExcClass(_)
        | Kind::Class(_) => true,
        _ => false,
    }
}

/// The numbers of a range, if they are not too many.
fn range(known: &[i64]) -> Option<Vec<Const>> {
    let (start, stop, step) = match *known {
        [stop] => (0, stop, 1),
        [start, stop] => (start, stop, 1),
        [start, stop, step] => (start, stop, step),
        _ => return None,
    };
    if step == 0 {
        return None;
    }
    let (mut at, mut all) = (i128::from(start), vec![]);
    while if step > 0 { at < i128::from(stop) } else { at > i128::from(stop) } {
        // One more than there may be is enough to refuse it.
        if all.len() > MOST_TURNS {
            break;
        }
        all.push(Const::Int(at as i64));
        at += i128::from(step);
    }
    Some(all)
}
