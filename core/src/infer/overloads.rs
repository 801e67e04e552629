//! Calls that a program's own overloads answer (`tierup.extending.overload`): functions of its own, which are
//! asked with the types of the operands when the call is compiled and say what is called in its place.
//!
//! Whatever has overloads is what it is without them where none of them answers: an operation of the table, a
//! method, an attribute. A function that has overloads is called by them alone. The library knows nothing of
//! overloads: what it does with an operation is its own business.

use super::resolved::{Source, Typed};
use super::state::{Session, Solver};
use super::unknown::unknown_elements;
use crate::classes::{self, Member};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::{Added, ClassAttr, GlobalValue, Offer, Operand};
use crate::ops::{OpId, id};
use crate::ssa::analysis::Definitions;
use crate::ssa::{FuncId, Inst, Op, Value, registry};
use crate::types::{ClassDef, Const, Container, FuncType, Kind, Type, promote};
use crate::typing::vars::has_unknown;
use std::sync::Arc;

type Named = Vec<(Arc<str>, Source)>;

/// What a call comes to where no overload answers.
#[derive(Clone)]
enum Own {
    /// A function that is called by overloads alone.
    Nothing,
    /// An operation that the language asks for.
    Operation(OpId),
    /// An operation that is called by name.
    Call(OpId, Source),
    /// A class that is called.
    Class(Source),
    /// The method of that name.
    Method,
}

/// Whether an operand is told apart by its types before overloads are asked.
enum Apart {
    No,
    By(usize),
    /// Overloads have nothing to say of any of them.
    Never,
}

/// Combinations of types that are asked about for one call.
const MOST: usize = 256;

/// The types that an operand may have when the program runs.
#[expect(clippy::wildcard_enum_match_arm, reason = "only these types are more than one")]
fn ways_of(o: &Operand) -> Vec<Operand> {
    match o.0.kind() {
        Kind::Variant(m) => m.iter().map(|t| (*t, None)).collect(),
        Kind::Optional(of) if promote::is_variant(o.0) => {
            ways_of(&(*of, None)).into_iter().chain([(Type::none(), None)]).collect()
        }
        _ => vec![o.clone()],
    }
}

/// What became of asking the overloads.
enum Asked {
    Typed(Typed),
    /// None answers; what those say that refuse the call.
    Nothing(Vec<Diagnostic>),
}

impl Solver<'_, '_> {
    /// An operation that the language asks for, if the program has overloads of it.
    pub(super) fn overloaded_operation(&mut self, i: Inst, op: OpId, args: &[Source]) -> Option<Typed> {
        // `a += b` is `a + b` where nothing else is said.
        let func = self.overloads_of(op).or_else(|| self.overloads_of(op.plain()?))?;
        Some(self.by_overload(i, func, &Own::Operation(op), args.to_vec(), vec![]))
    }

    /// The same of an operation that is called by name.
    pub(super) fn overloaded_call(
        &mut self,
        i: Inst,
        op: OpId,
        callee: &Source,
        positional: &[Source],
        named: &Named,
    ) -> Option<Typed> {
        let func = self.overloads_of(op)?;
        let own = Own::Call(op, callee.clone());
        Some(self.by_overload(i, func, &own, positional.to_vec(), named.clone()))
    }

    /// The same of a class.
    pub(super) fn overloaded_class(
        &mut self,
        i: Inst,
        class: &ClassDef,
        callee: &Source,
        positional: &[Source],
        named: &Named,
    ) -> Option<Typed> {
        if self.session.is_library(self.func) {
            return None;
        }
        let func = self.session.host.overloads_of_class(class)?;
        Some(self.by_overload(i, func, &Own::Class(callee.clone()), positional.to_vec(), named.clone()))
    }

    /// A call of what stands for overloads of a function or, bound to a value, of a method.
    pub(super) fn call_overloaded(
        &mut self,
        i: Inst,
        f: &FuncType,
        callee: &Source,
        positional: Vec<Source>,
        named: Named,
    ) -> Typed {
        let given = if f.bound { Some(callee.part(0)) } else { None };
        let own = if f.bound { Own::Method } else { Own::Nothing };
        self.by_overload(i, f.func, &own, given.into_iter().chain(positional).collect(), named)
    }

    /// An attribute that the program has added to values of a type; none where it is what it is without that.
    pub(super) fn added(&mut self, i: Inst, v: &Source, ty: Type, name: &str) -> Option<Typed> {
        if self.session.is_library(self.func) {
            return None;
        }
        let added = match self.session.host.added(self.session.resolve(ty), name) {
            Ok(added) => added?,
            Err(e) => return Some(Err(e)),
        };
        match added {
            Added::Method(f) => Some(self.bound(i, v.clone(), ty, f)),
            Added::Attribute(f) => {
                let present = match self.owner(v, name, false) {
                    Ok(present) => present,
                    Err(e) => return Some(Err(e)),
                };
                match self.ask_overloads(i, f, &Own::Method, &[present], &vec![]) {
                    Ok(Asked::Typed(typed)) => Some(typed),
                    Ok(Asked::Nothing(why)) if why.is_empty() => None,
                    Ok(Asked::Nothing(why)) => match self.member_of(ty, name) {
                        Some(_) => None,
                        None => Some(Err(self.no_implementation(f, &[v.clone()], &vec![], why))),
                    },
                    Err(e) => Some(Err(e)),
                }
            }
        }
    }

    /// An assignment to an attribute that the program has said something of; none where it is what it is without
    /// that.
    pub(super) fn set_added(
        &mut self,
        i: Inst,
        of: &Source,
        ty: Type,
        name: &str,
        value: &Source,
    ) -> Option<Typed> {
        if self.session.is_library(self.func) {
            return None;
        }
        let mut ask = || -> Result<Option<Typed>> {
            let Some(f) = self.session.host.added_setter(self.session.resolve(ty), name)? else {
                return Ok(None);
            };
            let operands = [self.owner(of, name, true)?, value.clone()];
            match self.ask_overloads(i, f, &Own::Method, &operands, &vec![])? {
                Asked::Typed(typed) => Ok(Some(typed)),
                Asked::Nothing(why) if why.is_empty() => Ok(None),
                Asked::Nothing(why) => Err(self.no_implementation(f, &operands, &vec![], why)),
            }
        };
        ask().unwrap_or_else(|e| Some(Err(e)))
    }

    fn overloads_of(&mut self, op: OpId) -> Option<FuncId> {
        if self.session.is_library(self.func) {
            return None;
        }
        let host = self.session.host;
        *self.session.overloads.entry(op).or_insert_with(|| host.overloads_of(op))
    }

    /// Asks the overloads, each of several types of an operand by itself, and else does what there is without
    /// them.
    fn by_overload(
        &mut self,
        i: Inst,
        func: FuncId,
        own: &Own,
        positional: Vec<Source>,
        named: Named,
    ) -> Typed {
        let (mut why, mut apart) = (vec![], self.several(func, own, &positional, &named)?);
        if let Apart::No = apart {
            match self.ask_overloads(i, func, own, &positional, &named)? {
                Asked::Typed(typed) => return typed,
                Asked::Nothing(said) => why = said,
            }
            apart = self.optional(func, own, &positional, &named)?;
        }
        if let Apart::By(at) = apart {
            let on = match positional.get(at) {
                Some(p) => p.clone(),
                None => named[at - positional.len()].1.clone(),
            };
            return self.dispatch(i, &on, &mut |s, way| {
                let (mut positional, mut named) = (positional.clone(), named.clone());
                match positional.get_mut(at) {
                    Some(p) => *p = way.clone(),
                    None => named[at - positional.len()].1 = way.clone(),
                }
                s.by_overload(i, func, own, positional, named)
            });
        }
        let all = (positional.clone(), named.clone());
        match self.without_overloads(i, func, own, positional, named) {
            Some(Ok(typed)) => Ok(typed),
            Some(Err(e)) if why.is_empty() => Err(e),
            Some(Err(_)) | None => {
                let args = self.source_args(&all.0)?;
                if args.iter().any(|a| has_unknown(self.session.resolve(a.ty))) {
                    return Err(unknown_elements());
                }
                // Numba hands the values of literals on: an overload may answer one that a caller knows.
                if self.has_numba_numbers() {
                    self.want_values_of(&all.0, false)?;
                }
                Err(self.no_implementation(func, &all.0, &all.1, why))
            }
        }
    }

    /// Tries what the overloads offer, in order.
    fn ask_overloads(
        &mut self,
        i: Inst,
        func: FuncId,
        own: &Own,
        positional: &[Source],
        named: &Named,
    ) -> Result<Asked> {
        let (operands, by_name) = self.operands(positional, named)?;
        let (mut why, mut failed) = (vec![], None);
        for n in 0.. {
            let Some(offer) = self.session.offer(func, n, &operands, &by_name)? else { break };
            let (chosen, for_values) = match offer {
                Offer::Nothing => continue,
                Offer::Refused(d) => {
                    why.push(d);
                    continue;
                }
                Offer::Wanted(all) => {
                    for s in all
                        .into_iter()
                        .filter_map(|k| positional.iter().chain(named.iter().map(|n| &n.1)).nth(k))
                    {
                        self.static_value(i, s)?;
                    }
                    continue;
                }
                Offer::Call(chosen, for_values) => (chosen, for_values),
            };
            // What an implementation does with the same operation on the same types is no business of its own,
            // nor of others that would be asked next.
            let itself = matches!(&chosen, GlobalValue::Function(f) if self.func.id == Some(*f));
            if itself && !matches!(own, Own::Nothing) {
                break;
            }
            let typed = self.call(i, &Source::Global(chosen.clone()), positional.to_vec(), named.clone());
            // An implementation that wants to know values (`literally`) asks for the one that is for them.
            let wants = !for_values && wants_values(&chosen);
            match typed {
                Ok(typed) if wants => {
                    let Some(Offer::Call(known, true)) =
                        self.session.offer(func, n + 1, &operands, &by_name)?
                    else {
                        return Ok(Asked::Typed(Ok(typed)));
                    };
                    self.out.resolved.remove(&i);
                    let call = self.call(i, &Source::Global(known), positional.to_vec(), named.clone());
                    return Ok(Asked::Typed(call));
                }
                Ok(typed) => return Ok(Asked::Typed(Ok(typed))),
                Err(e) if wants && e.code == Code::RequiresConstant => return Ok(Asked::Typed(Err(e))),
                Err(e) => {
                    self.out.resolved.remove(&i);
                    // Another overload, or the same one for the values of constants, may do better.
                    failed.get_or_insert(e);
                }
            }
        }
        Ok(match failed {
            Some(e) => Asked::Typed(Err(e)),
            None => Asked::Nothing(why),
        })
    }

    /// What is known of the operands of a call.
    fn operands(
        &mut self,
        positional: &[Source],
        named: &Named,
    ) -> Result<(Vec<Operand>, Vec<(Arc<str>, Operand)>)> {
        let mut of = |s: &Source| -> Result<Operand> {
            let arg = self.source_arg(s)?;
            let ty = self.session.resolve(arg.ty);
            let written = || self.written_out(s, ty);
            Ok((ty, arg.konst.or_else(written)))
        };
        let operands = positional.iter().map(&mut of).collect::<Result<_>>()?;
        let by_name = named.iter().map(|(n, s)| Ok((n.clone(), of(s)?))).collect::<Result<_>>()?;
        Ok((operands, by_name))
    }

    /// The constants in a list or a dict that the function writes out: elements, or keys and values, if all are
    /// known; of a dict that keeps a type for each value the values, with an ellipsis for each that is not known.
    /// What happens to it later is not said.
    fn written_out(&self, s: &Source, ty: Type) -> Option<Const> {
        let Source::Value(v) = s else { return None };
        let keyed = matches!(ty.kind(), Kind::NamedTuple(c, _) if c.is_keywords());
        let holds = matches!(ty.kind(), Kind::List(_) | Kind::Container(Container::Dict, _));
        if !keyed && !holds {
            return None;
        }
        let node = self.func.inst(Definitions::new(self.func).inst(*v)?);
        let known = |v: &Value| self.fact(*v).konst.clone();
        let all: Option<Vec<Const>> = if matches!(node.op, Op::Table(id::LIST_BUILD | id::DICT_BUILD)) {
            node.args.iter().map(known).collect()
        } else if node.op == Op::Table(id::KWARGS_BUILD) {
            Some(node.args.chunks(2).map(|pair| known(&pair[1]).unwrap_or(Const::Ellipsis)).collect())
        } else {
            None
        };
        all.map(|all| Const::Tuple(all.into()))
    }

    /// The first operand that may be of several types. An operation that takes them all by itself does so where
    /// overloads answer for none of them.
    fn several(&mut self, func: FuncId, own: &Own, positional: &[Source], named: &Named) -> Result<Apart> {
        let (operands, by_name) = self.operands(positional, named)?;
        let all: Vec<Operand> = operands.iter().chain(by_name.iter().map(|n| &n.1)).cloned().collect();
        let Some(first) = all.iter().position(|o| promote::is_variant(o.0)) else { return Ok(Apart::No) };
        if matches!(own, Own::Nothing) {
            return Ok(Apart::By(first));
        }
        let mut ways = vec![vec![]];
        for o in &all {
            let each = ways_of(o);
            if ways.len() * each.len() > MOST {
                return Ok(Apart::By(first));
            }
            ways = (ways.into_iter())
                .flat_map(|w: Vec<Operand>| {
                    each.iter().map(move |o| w.iter().cloned().chain([o.clone()]).collect())
                })
                .collect();
        }
        for way in ways {
            let (operands, rest) = way.split_at(operands.len());
            let named: Vec<_> = by_name.iter().map(|n| n.0.clone()).zip(rest.iter().cloned()).collect();
            if self.is_answered(func, operands, &named)? {
                return Ok(Apart::By(first));
            }
        }
        Ok(Apart::Never)
    }

    /// The first operand that may be None, where no overload takes it as such. An operation that takes it by
    /// itself does so where overloads answer for no value of it either.
    fn optional(&mut self, func: FuncId, own: &Own, positional: &[Source], named: &Named) -> Result<Apart> {
        let (mut operands, mut by_name) = self.operands(positional, named)?;
        let count = operands.len();
        for k in 0..count + by_name.len() {
            let o = match operands.get_mut(k) {
                Some(o) => o,
                None => &mut by_name[k - count].1,
            };
            let Kind::Optional(inner) = o.0.kind() else { continue };
            o.0 = *inner;
            if matches!(own, Own::Nothing) || self.is_answered(func, &operands, &by_name)? {
                return Ok(Apart::By(k));
            }
        }
        Ok(Apart::No)
    }

    /// Whether an overload answers for such operands.
    fn is_answered(
        &mut self,
        func: FuncId,
        operands: &[Operand],
        named: &[(Arc<str>, Operand)],
    ) -> Result<bool> {
        for n in 0.. {
            match self.session.offer(func, n, operands, named)? {
                Some(Offer::Call(..) | Offer::Wanted(_)) => return Ok(true),
                Some(Offer::Nothing | Offer::Refused(_)) => {}
                None => break,
            }
        }
        Ok(false)
    }

    /// What the call is where there are no overloads; none of what is called by them alone.
    fn without_overloads(
        &mut self,
        i: Inst,
        func: FuncId,
        own: &Own,
        positional: Vec<Source>,
        named: Named,
    ) -> Option<Typed> {
        match own {
            Own::Nothing => None,
            Own::Operation(op) => Some(self.operation_itself(i, *op, positional)),
            Own::Call(op, callee) => Some(self.call_operation_itself(i, *op, callee, positional, named)),
            Own::Class(callee) => Some(self.call_anything(i, callee, positional, named)),
            Own::Method => {
                let ty = match self.source_arg(&positional[0]) {
                    Ok(a) => a.ty,
                    Err(e) => return Some(Err(e)),
                };
                if let Kind::Module(m) = *ty {
                    let found = self.session.host.module_attr(m, &func.name())?;
                    return Some(self.call(i, &Source::Global(found), positional[1..].to_vec(), named));
                }
                match self.member_of(ty, &func.name())? {
                    Member::Method(op) => Some(self.rows(i, op, positional, named)),
                    Member::Host(ClassAttr::Method(f)) => {
                        Some(self.call(i, &Source::Global(GlobalValue::Function(f)), positional, named))
                    }
                    Member::StaticMethod(_)
                    | Member::Property(_)
                    | Member::Constant(_)
                    | Member::Field(_)
                    | Member::Name
                    | Member::QualifiedName
                    | Member::ClassMethod(_)
                    | Member::Host(_) => None,
                }
            }
        }
    }

    /// What the class of a value has under a name.
    fn member_of(&self, ty: Type, name: &str) -> Option<Member> {
        self.found_in(classes::class_of(ty), name)
    }

    /// The error of a call that no overload takes.
    fn no_implementation(
        &mut self,
        func: FuncId,
        positional: &[Source],
        named: &Named,
        why: Vec<Diagnostic>,
    ) -> Diagnostic {
        let (operands, by_name) = match self.operands(positional, named) {
            Ok(all) => all,
            Err(e) => return e,
        };
        let shown = operands
            .iter()
            .map(|o| o.0.to_string())
            .chain(by_name.iter().map(|(n, o)| format!("{n}={}", o.0)))
            .collect::<Vec<_>>()
            .join(", ");
        let text = format!("No implementation of function {}() takes ({shown})", func.name());
        let mut said: Vec<String> = vec![];
        for d in why {
            if !said.contains(&d.message) {
                said.push(d.message);
            }
        }
        if let [one] = said.as_slice() {
            return Diagnostic::new(Code::NoMatchingOperation, format!("{text}: {one}"));
        }
        if said.is_empty() {
            said = self.session.host.without_answer(func, &operands);
        }
        let d = Diagnostic::new(Code::NoMatchingOperation, text);
        said.into_iter().fold(d, |d, text| d.note(text))
    }
}

/// Whether a function has code for values alone, of some parameter.
fn wants_values(f: &GlobalValue) -> bool {
    let GlobalValue::Function(f) = f else { return false };
    registry::specialised(*f).is_some_and(|all| all.iter().any(|p| p.always))
}

impl Session<'_> {
    /// The `n`th answer of overloads, asked for once.
    fn offer(
        &mut self,
        func: FuncId,
        n: usize,
        operands: &[Operand],
        named: &[(Arc<str>, Operand)],
    ) -> Result<Option<Offer>> {
        let all = operands.iter().chain(named.iter().map(|n| &n.1)).cloned().collect();
        let key = (func, n, all, named.iter().map(|n| n.0.clone()).collect());
        if let Some(known) = self.offers.get(&key) {
            return Ok(known.clone());
        }
        let offer = self.host.overload(func, n, operands, named)?;
        self.offers.insert(key, offer.clone());
        Ok(offer)
    }
}
