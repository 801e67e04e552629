//! `f(*xs)` where only the running program knows how many arguments there are: a function that is written for
//! the call looks at the length.

use super::resolved::{Resolved, Source, Typed};
use super::state::Solver;
use crate::diag::{Code, Diagnostic, Result};
use crate::handle::FuncId;
use crate::host::{GlobalValue, Written};
use crate::ops::{OpId, ParamSpec, id, sequence};
use crate::ssa::{Inst, Op, Value, registry};
use crate::types::{ClassDef, Const, Kind, Type, promote};
use std::sync::Arc;

/// The most arguments that are counted out.
const MOST: usize = 16;

/// What is said of a sequence of unknown length among the arguments of a call that is not written for it.
pub(super) fn not_spread(ty: Type) -> Diagnostic {
    let d = Diagnostic::new(Code::BadCall, format!("only a tuple can be spread into arguments, not {ty}"));
    if ty.is_sequence() {
        d.help("how many arguments there are must be known: unpack it first, `a, b = xs`, or take a sequence as one argument")
    } else {
        d
    }
}

impl Solver<'_, '_> {
    /// A call with the elements of a list or set for its positional arguments; none where the callee takes any
    /// number of them.
    pub(super) fn spread_of_unknown_length(
        &mut self,
        i: Inst,
        keywords: &[Arc<str>],
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let [callee, spread] = [0, 1].map(|k| self.func.inst(i).args[k]);
        let mut ty = self.session.resolve(self.ty(spread));
        let given = self.given_before(spread);
        if let (Some(k), Some(m)) = (given, ty.members()) {
            ty = m[k];
        }
        // What a type says the members of is spread where the call is.
        let spreads = ty.members().is_none() && crate::ops::iter::iterator_of(ty).is_some();
        let typed = if !spreads || keywords.iter().any(|k| &**k == "**") {
            None
        } else {
            self.spread_into(i, &Source::Value(callee), keywords)?
        };
        // The last member of such a tuple is no argument.
        if typed.is_none() && given.is_some() {
            return Err(not_spread(ty));
        }
        Ok(typed)
    }

    /// The same of what is called, which may be one of several.
    fn spread_into(
        &mut self,
        i: Inst,
        callee: &Source,
        keywords: &[Arc<str>],
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let node = self.func.inst(i);
        let spread = node.args[1];
        let mut operands: Vec<Source> = vec![Source::Value(spread)];
        operands.extend(node.args[2..].iter().map(|v| Source::Value(*v)));
        let of = self.source_arg(callee)?.ty;
        if let Kind::Variant(_) = of.kind() {
            let each = &mut |s: &mut Self, way: &Source| s.spread_into_one(i, way, keywords);
            return self.dispatch(i, callee, each).map(Some);
        }
        if let Kind::Optional(_) = of.kind() {
            let present = Source::Present(Box::new(callee.clone()), "'NoneType' object is not callable");
            let (ty, _, _) = self.spread_into_one(i, &present, keywords)?;
            let how = self.out.resolved.remove(&i).unwrap_or(Resolved::Nothing);
            self.out.resolved.insert(i, Resolved::After(present, Box::new(how)));
            return Ok(Some((ty, None, true)));
        }
        let given = self.given_before(spread);
        if given.is_some() && matches!(*of, Kind::Method(..) | Kind::Builtin(_)) {
            return Err(Diagnostic::new(
                Code::BadCall,
                "arguments of other types before a list that is spread are compiled for calls of functions and classes alone",
            )
            .help("unpack it first, `a, b = xs`"));
        }
        if let Kind::Method(op, _) = *of {
            if op == id::STR_FORMAT && keywords.is_empty() {
                return self.spread_into_format(i, callee, spread);
            }
            let Some(path) = op.rows().iter().find_map(|row| row.spread).filter(|_| keywords.is_empty())
            else {
                return Ok(None);
            };
            let func = self.session.host.library(path)?;
            let operands = vec![callee.part(0), Source::Value(spread)];
            return self.call_function(i, func, operands, true).map(Some);
        }
        if let Kind::Builtin(op) = *of {
            return self.spread_into_operation(i, op, keywords, operands);
        }
        if let Kind::NamedTupleClass(class) = of.kind() {
            return self.spread_into_fields(i, (callee, class), keywords, operands);
        }
        if let Kind::Class(class) = of.kind()
            && (class.is_frozen() || class.has_objects())
        {
            let func = self.session.host.written_for(class, Written::Call)?;
            let called = format!("{}.__init__", class.qualname);
            return self.spread_into_params(i, (callee, func), (1, 0), called.into(), keywords, operands);
        }
        let Kind::Function(f) = of.kind() else { return Ok(None) };
        let Some(func) = registry::get(f.func) else { return Ok(None) };
        let given = (usize::from(f.bound), f.defaults.len() - f.kwdefaults.len());
        self.spread_into_params(i, (callee, f.func), given, func.qualname.clone(), keywords, operands)
    }

    /// The same of one of several.
    fn spread_into_one(&mut self, i: Inst, callee: &Source, keywords: &[Arc<str>]) -> Typed {
        let spread = self.func.inst(i).args[1];
        let typed = self.spread_into(i, callee, keywords)?;
        typed.ok_or_else(|| not_spread(self.session.resolve(self.ty(spread))))
    }

    /// What is put together of values of other types, where that says what it becomes.
    pub(super) fn made_of_others(&mut self, i: Inst, op: OpId) -> Option<Typed> {
        let node = self.func.inst(i);
        match op {
            id::SPREAD_EXTEND if self.extends_by_others(i) => {
                let args = node.args.iter().map(|v| Source::Value(*v)).collect();
                Some(self.operation(i, id::SPREAD_APPEND, args))
            }
            id::UNPACK_SEQUENCE => self.given_before(node.args[0]).map(|given| self.unpack_given(i, given)),
            id::DICT_BUILD if self.mixes_numbers(&node.args) => Some(self.display_of_numbers(i)),
            id::DICT_BUILD => {
                self.rewrite = self.display_of_several(i, &node.args);
                self.rewrite.is_some().then_some(Ok((Type::never(), None, false)))
            }
            _ => None,
        }
    }

    /// Whether `(*t, *other)` puts values of other types behind those of a tuple, as many as only the run knows, for
    /// nothing but a call or an unpacking: there the tuple has what is spread for its last member.
    fn extends_by_others(&mut self, i: Inst) -> bool {
        let [first, other] = *self.func.inst(i).args.as_slice() else { return false };
        let (t, rest) = (self.session.resolve(self.ty(first)), self.session.resolve(self.ty(other)));
        let each = if let Kind::Generator(_, t) = *rest { Some(t) } else { sequence::element_type(rest) };
        let (Some(m), Some(each), None) = (t.members(), each, rest.members()) else { return false };
        if *each == Kind::Never || m.iter().all(|t| promote::same_but_weak(*t, each)) {
            return false;
        }
        let Some(user) = self.only_user(i) else { return false };
        matches!(self.func.inst(user).op, Op::CallSpread { .. } | Op::Table(id::UNPACK_SEQUENCE))
    }

    /// How many values stand before what is spread, in such a tuple.
    pub(super) fn given_before(&self, v: Value) -> Option<usize> {
        let made = self.func.insts.iter().find(|n| n.result == Some(v))?;
        let (Op::Table(id::SPREAD_EXTEND), [_, other]) = (&made.op, made.args.as_slice()) else {
            return None;
        };
        let members = self.ty(v).members()?;
        self.ty(*other).members().is_none().then(|| members.len() - 1)
    }

    /// `a, b, c = x, *xs`.
    fn unpack_given(&mut self, i: Inst, given: usize) -> Typed {
        let [of, count] = *self.func.inst(i).args.as_slice() else {
            return Err(Diagnostic::internal("unpacking without a count"));
        };
        let count = self.fact(count).konst.clone().unwrap_or(Const::None);
        let written = self.session.host.written("_calls.unpacked", &[Const::Int(given as i64), count])?;
        self.call_function(i, written, vec![Source::Value(of)], true)
    }

    /// The same of one with these parameters, of which so many are given already, and so many have defaults of their
    /// own.
    fn spread_into_params(
        &mut self,
        i: Inst,
        (callee, func): (&Source, FuncId),
        (bound, own_defaults): (usize, usize),
        called: Arc<str>,
        keywords: &[Arc<str>],
        mut operands: Vec<Source>,
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let Some(func) = registry::get(func) else { return Ok(None) };
        let params = &func.params;
        let by_name = |name: &Arc<str>| keywords.iter().any(|k| k == name);
        let positional = params.names.get(bound..params.positional).unwrap_or_default();
        // A parameter that is given by its name ends those that are given by place.
        let places = positional.iter().position(by_name).unwrap_or(positional.len());
        if places > MOST || params.varargs && places < positional.len() {
            return Ok(None);
        }
        let host = self.session.host;
        let has_default = |k: usize| {
            k + bound + own_defaults >= params.positional || host.default(func.host, &positional[k]).is_some()
        };
        let needed = (0..places).find(|k| has_default(*k)).unwrap_or(places);
        let names = positional[..places].iter().map(|n| Const::Str(n.clone())).collect();
        let keywords = keywords.iter().map(|k| Const::Str(k.clone())).collect();
        let told = [
            Const::Int(needed as i64),
            Const::Int(bound as i64),
            Const::Tuple(names),
            Const::Tuple(keywords),
            Const::Str(called),
        ];
        let given = self.given_before(self.func.inst(i).args[1]).unwrap_or_default();
        if given > places {
            return Ok(None);
        }
        let told = [&told[..], &[Const::Int(given as i64)]].concat();
        let by = if params.varargs { "_calls.spread_with_rest" } else { "_calls.spread" };
        let written = host.written(by, &told)?;
        operands.insert(0, callee.clone());
        self.call_function(i, written, operands, true).map(Some)
    }

    /// The same of a class of named tuples.
    fn spread_into_fields(
        &mut self,
        i: Inst,
        (callee, class): (&Source, &'static ClassDef),
        keywords: &[Arc<str>],
        mut operands: Vec<Source>,
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let fields = &class.fields;
        let places = fields.iter().position(|f| keywords.iter().any(|k| **k == **f)).unwrap_or(fields.len());
        let given = self.given_before(self.func.inst(i).args[1]).unwrap_or_default();
        if places > MOST || given > places {
            return Ok(None);
        }
        let host = self.session.host;
        let needed = (0..places).find(|k| host.field_default(class, &fields[*k]).is_some()).unwrap_or(places);
        let text = |t: &str| Const::Str(t.into());
        let told = [
            Const::Int(needed as i64),
            Const::Int(1),
            Const::Tuple(fields[..places].iter().map(|f| text(f)).collect()),
            Const::Tuple(keywords.iter().map(|k| text(k)).collect()),
            text(&format!("{}.__new__", class.name)),
            Const::Int(given as i64),
        ];
        let written = host.written("_calls.spread", &told)?;
        operands.insert(0, callee.clone());
        self.call_function(i, written, operands, true).map(Some)
    }

    /// `a, b = zip(*pairs)` of tuples whose members have types of their own: each column is a tuple of its own.
    fn columns(&mut self, i: Inst, rows: &Source) -> Result<Option<crate::handle::FuncId>> {
        let ty = self.source_arg(rows)?.ty;
        let of = crate::ops::sequence::element_type(self.session.resolve(ty));
        let Some(Kind::Tuple(members)) = of.map(Type::kind) else { return Ok(None) };
        if members.windows(2).all(|t| promote::same_but_weak(t[0], t[1])) {
            return Ok(None);
        }
        let Some(user) = self.only_user(i) else { return Ok(None) };
        let user = self.func.inst(user);
        let count = members.len() as i64;
        // What follows the call is not typed yet.
        let is_count = |v: &Value| {
            let made = self.func.insts.iter().find(|n| n.result == Some(*v));
            made.is_some_and(|n| matches!(n.op, Op::Const(Const::Int(n)) if n == count))
        };
        if !matches!(user.op, Op::Table(id::UNPACK_SEQUENCE)) || !user.args.get(1).is_some_and(is_count) {
            return Ok(None);
        }
        self.session.host.written("_calls.columns", &[Const::Int(count)]).map(Some)
    }

    /// `f(*given, *rest)` of a function whose `*args` is `rest`, a tuple: the operands are the function, `rest`, and
    /// what is given by place.
    pub(super) fn call_with_rest(
        &mut self,
        i: Inst,
        operands: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Result<(Type, Option<Const>, bool)> {
        let mut operands = operands.into_iter();
        let (Some(f), Some(rest)) = (operands.next(), operands.next()) else {
            return Err(Diagnostic::internal("a call without a function"));
        };
        self.call(i, &f, operands.chain([Source::Rest(Box::new(rest))]).collect(), named)
    }

    /// The same of an operation, `print`, `max` and `min` among them.
    fn spread_into_operation(
        &mut self,
        i: Inst,
        op: crate::ops::OpId,
        keywords: &[Arc<str>],
        operands: Vec<Source>,
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let path = match op {
            id::BUILTINS_PRINT => {
                let named = keywords.iter().map(|k| Const::Str(k.clone())).collect();
                let written = self.session.host.written("_calls.print_spread", &[Const::Tuple(named)])?;
                return self.call_function(i, written, operands, true).map(Some);
            }
            id::BUILTINS_ZIP
                if keywords.is_empty()
                    && let Some(by) = self.columns(i, &operands[0])? =>
            {
                return self.call_function(i, by, operands, true).map(Some);
            }
            id::BUILTINS_MAX | id::BUILTINS_MIN => {
                // A single one that is no number is gone through itself.
                let ty = self.source_arg(&operands[0])?.ty;
                let of = crate::ops::sequence::element_type(self.session.resolve(ty));
                if !of.is_some_and(|t| t.is_number()) || !keywords.is_empty() {
                    return Ok(None);
                }
                if op == id::BUILTINS_MAX {
                    "builtin.largest_of_numbers"
                } else {
                    "builtin.smallest_of_numbers"
                }
            }
            _ => return self.spread_into_row(i, op, keywords, operands),
        };
        let func = self.session.host.library(path)?;
        self.call_function(i, func, operands, true).map(Some)
    }

    /// The same of one that takes so many operands at most.
    fn spread_by_count(
        &mut self,
        i: Inst,
        op: crate::ops::OpId,
        mut operands: Vec<Source>,
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let rows = op.rows().iter().map(|row| row.spec());
        let needed = |s: &ParamSpec| s.params[..s.positional].iter().filter(|p| p.default.is_none()).count();
        let least = rows.clone().map(needed).min().unwrap_or_default();
        let most = rows.clone().map(|s| s.positional).max().unwrap_or_default();
        let counted = rows.clone().all(|s| !s.varargs && !s.names);
        if !counted || most == 0 || most > MOST {
            return Ok(None);
        }
        // Python says itself what is wrong with numbers of operands that no row takes.
        let ty = self.source_arg(&operands[0])?.ty;
        let ty = self.session.resolve(ty);
        let each =
            if let Kind::Generator(_, t) = *ty { Some(t) } else { crate::ops::sequence::element_type(ty) };
        let Some(each) = each else { return Ok(None) };
        let each = Source::As(Box::new(operands[0].clone()), each);
        let mut taken = vec![];
        for n in least..=most {
            if self.rows(i, op, vec![each.clone(); n], vec![]).is_ok() {
                taken.push(Const::Int(n as i64));
            }
            self.out.resolved.remove(&i);
        }
        let told = [Const::Str(op.name().into()), Const::Int(most as i64), Const::Tuple(taken)];
        // What no object of Python's stands for is no callee either.
        let Ok(written) = self.session.host.written("_calls.spread_by_count", &told) else { return Ok(None) };
        operands.insert(0, Source::Global(GlobalValue::Builtin(op)));
        self.call_function(i, written, operands, true).map(Some)
    }

    /// `text.format(*xs)`: the text says how many of them it wants.
    fn spread_into_format(
        &mut self,
        i: Inst,
        callee: &Source,
        spread: Value,
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let text = match self.source_arg(callee)?.konst {
            Some(Const::Tuple(of)) => of.into_iter().next(),
            Some(_) | None => None,
        };
        let Some(text) = text else {
            let func = self.session.host.library("text.format_spread_in_python")?;
            let operands = vec![callee.part(0), Source::Value(spread)];
            return self.call_function(i, func, operands, true).map(Some);
        };
        // A text that is no format says so where it is formatted.
        let Ok(written) = self.session.host.written("_calls.format_spread", &[text]) else { return Ok(None) };
        let operands = vec![Source::Value(spread)];
        self.call_function(i, written, operands, true).map(Some)
    }

    /// `"...".format(**d)` of a dict of which only the run knows what is in it.
    pub(super) fn format_of_mapping(
        &mut self,
        i: Inst,
        mapping: Value,
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let callee = Source::Value(self.func.inst(i).args[0]);
        let texts = self
            .ty(mapping)
            .container()
            .is_some_and(|(c, m)| c.is_mapping() && *self.session.resolve(m[0]) == Kind::Str);
        if !texts || !matches!(*self.source_arg(&callee)?.ty, Kind::Method(id::STR_FORMAT, _)) {
            return Ok(None);
        }
        let known = matches!(self.source_arg(&callee)?.konst, Some(Const::Tuple(_)));
        let path = if known { "text.format_of_mapping" } else { "text.format_of_mapping_in_python" };
        let func = self.session.host.library(path)?;
        self.call_function(i, func, vec![callee.part(0), Source::Value(mapping)], true).map(Some)
    }

    /// The same of one whose row says how. A method of a class that is called without an object is one of the first.
    fn spread_into_row(
        &mut self,
        i: Inst,
        op: crate::ops::OpId,
        keywords: &[Arc<str>],
        operands: Vec<Source>,
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        if !keywords.is_empty() {
            return Ok(None);
        }
        let Some(row) = op.rows().iter().find(|row| row.spread.is_some()) else {
            return self.spread_by_count(i, op, operands);
        };
        let path = row.spread.unwrap_or_default();
        let func = if row.params.starts_with('*') {
            self.session.host.library(path)?
        } else {
            let told = [Const::Str(path.into()), Const::Str(op.name().into())];
            self.session.host.written("_calls.unbound", &told)?
        };
        self.call_function(i, func, operands, true).map(Some)
    }
}
