//! Calls of functions whose types choose what is called: the host is asked with the types of the arguments. An
//! argument of one of several types is asked when the program runs, where the answer depends on it. What a
//! function gives that declares its result is asked about in the same way.

use super::globals::{refused, type_of_global};
use super::resolved::{Resolved, Source, Typed};
use super::state::{Session, Solver};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::GlobalValue;
use crate::ssa::{Func, FuncId, Inst, registry};
use crate::types::{Const, FuncType, Kind, Type};
use std::sync::Arc;

/// Combinations of types that are asked about for one call.
const MOST: usize = 1024;

/// What a call comes to for each combination of types that its arguments may have.
type Answers = Vec<Result<GlobalValue>>;

type Named = Vec<(Arc<str>, Source)>;

impl Solver<'_, '_> {
    /// A call of a function that chooses.
    pub(super) fn call_chosen(
        &mut self,
        i: Inst,
        func: FuncId,
        positional: Vec<Source>,
        named: Named,
    ) -> Typed {
        self.call_where(i, func, positional, named, &[])
    }

    /// The same where some of the arguments, which may be None, are.
    fn call_where(
        &mut self,
        i: Inst,
        func: FuncId,
        positional: Vec<Source>,
        named: Named,
        none: &[usize],
    ) -> Typed {
        let sources: Vec<Source> = positional.iter().chain(named.iter().map(|n| &n.1)).cloned().collect();
        let args = self.source_args(&sources)?;
        let types: Vec<Type> = (args.iter().enumerate())
            .map(|(k, a)| if none.contains(&k) { Type::none() } else { self.session.resolve(a.ty) })
            .collect();
        let names: Vec<Arc<str>> = named.iter().map(|n| n.0.clone()).collect();
        let answers = self.session.answers(func, &types, &names)?;
        let Some(at) = depends_on(&answers, &types) else {
            // That no row is the one is certain only where nothing is said of other rows.
            let said = answers.iter().position(|a| matches!(a, Err(e) if !is_choice(e)));
            let one = answers.into_iter().nth(said.unwrap_or(0));
            let chosen = one.ok_or_else(|| Diagnostic::internal("a call without types"))??;
            return self.call_answer(i, func, &chosen, positional, named);
        };
        let mut failed: Option<Diagnostic> = None;
        let typed = self.dispatch(i, &sources[at], &mut |s, way| {
            let put = |source: &Source| {
                let (mut positional, mut named) = (positional.clone(), named.clone());
                match positional.get_mut(at) {
                    Some(p) => *p = source.clone(),
                    None => named[at - positional.len()].1 = source.clone(),
                }
                (positional, named)
            };
            let (as_way, named_as_way) = put(way);
            let mut typed = s.call_where(i, func, as_way, named_as_way, none);
            // What a row cannot do with None is found out when it comes, as in other functions.
            if matches!(&typed, Err(e) if !is_choice(e)) && matches!(way, Source::Const(Const::None)) {
                let (as_given, named_as_given) = put(&sources[at]);
                let none: Vec<usize> = none.iter().copied().chain([at]).collect();
                typed = s.call_where(i, func, as_given, named_as_given, &none);
            }
            match typed {
                Err(e) if is_choice(&e) => s.raise_type_error(i, &e.message),
                Err(e) => {
                    failed.get_or_insert(e.clone());
                    Err(e)
                }
                Ok(typed) => Ok(typed),
            }
        });
        match failed {
            Some(e) => Err(e),
            None => typed,
        }
    }

    /// Calls what was chosen.
    fn call_answer(
        &mut self,
        i: Inst,
        func: FuncId,
        chosen: &GlobalValue,
        positional: Vec<Source>,
        named: Named,
    ) -> Typed {
        if is_function(chosen, func) {
            return self.call_itself(i, func, positional, named);
        }
        type_of_global(chosen)
            .map_err(|what| refused(chosen, &format!("a row of {}()", func.name()), &what))?;
        self.call(i, &Source::Global(chosen.clone()), positional, named)
    }

    /// Calls the function that was asked.
    fn call_itself(&mut self, i: Inst, func: FuncId, positional: Vec<Source>, named: Named) -> Typed {
        let of = registered(func)?;
        let plain = FuncType { func, defaults: vec![], captures: vec![], kwdefaults: vec![], bound: false };
        let callee = Source::Global(GlobalValue::Function(func));
        let sources = self.bind_function(&of, &plain, &callee, positional, named)?;
        self.call_function(i, func, sources, false)
    }

    /// What the function at hand gives, as it declares it.
    pub(super) fn declared_result(&mut self, i: Inst, value: &Source) -> Typed {
        let func = self.func.id.ok_or_else(|| Diagnostic::internal("a function without a number"))?;
        let arg = self.source_arg(value)?;
        let ty = self.session.resolve(arg.ty);
        if *ty == Kind::Never {
            return Ok((ty, None, false));
        }
        let host = self.session.host;
        let answers: Answers = ways(ty).into_iter().map(|t| host.result(func, t)).collect();
        if answers.iter().all(|a| a.as_ref().is_ok_and(|g| is_function(g, func))) {
            self.out.resolved.insert(i, Resolved::Same(value.clone()));
            return Ok((arg.ty, arg.konst, false));
        }
        if depends_on(&answers, &[ty]).is_some() {
            return self.dispatch(i, value, &mut |s, way| match s.declared_result(i, way) {
                Err(e) if is_choice(&e) => s.raise_type_error(i, &e.message),
                typed => typed,
            });
        }
        let first = answers.into_iter().next();
        let conversion = first.ok_or_else(|| Diagnostic::internal("a result of no type"))??;
        self.call(i, &Source::Global(conversion), vec![value.clone()], vec![])
    }

    /// What Python says when no row is the one for a call.
    fn raise_type_error(&mut self, i: Inst, text: &str) -> Typed {
        self.out.resolved.insert(i, Resolved::Impossible(Code::NoMatchingOperation, text.into()));
        Ok((Type::never(), None, true))
    }
}

impl Session<'_> {
    /// What is compiled in place of a function that chooses, for arguments of these types.
    pub(super) fn entered(&self, func: FuncId, args: &[Type]) -> Result<FuncId> {
        let of = registered(func)?;
        let p = &of.params;
        let keywords = p.positional + p.keyword_only;
        let mut types = args[..p.positional].to_vec();
        let mut names = p.names[p.positional..keywords].to_vec();
        let mut named = args[p.positional..keywords].to_vec();
        let mut rest = args[keywords..].iter();
        if p.varargs {
            types.extend(rest.next().and_then(|t| t.members()).into_iter().flatten());
        }
        if p.varkw
            && let Some(Kind::NamedTuple(class, members)) = rest.next().map(|t| t.kind())
        {
            names.extend(class.fields.iter().map(|f| Arc::from(f.as_str())));
            named.extend(members);
        }
        types.extend(named);
        let answers = self.answers(func, &types, &names)?;
        if answers.iter().all(|a| a.as_ref().is_ok_and(|g| is_function(g, func))) {
            return Ok(func);
        }
        if answers.iter().any(Result::is_ok) {
            return self.host.entry(func);
        }
        let why = answers.into_iter().find_map(Result::err);
        Err(why.unwrap_or_else(|| Diagnostic::internal("a call without types")))
    }

    /// Asks the host about each combination of types; the last of them are those of arguments with names.
    fn answers(&self, func: FuncId, types: &[Type], names: &[Arc<str>]) -> Result<Answers> {
        let mut all: Vec<Vec<Type>> = vec![vec![]];
        for t in types {
            let each = ways(*t);
            if all.len() * each.len() > MOST {
                return Err(Diagnostic::new(
                    Code::NoMatchingOperation,
                    format!("this call has more than {MOST} combinations of types to choose by"),
                )
                .help("tell some of the arguments apart first, with isinstance"));
            }
            all = all
                .into_iter()
                .flat_map(|a| each.iter().map(move |t| a.iter().copied().chain([*t]).collect()))
                .collect();
        }
        Ok(all.into_iter().map(|types| self.ask(func, types, names)).collect())
    }

    /// Asks about one combination, once.
    fn ask(&self, func: FuncId, types: Vec<Type>, names: &[Arc<str>]) -> Result<GlobalValue> {
        let key = (func, types, names.to_vec());
        if let Some(known) = self.choices.borrow().get(&key) {
            return known.clone();
        }
        let (positional, rest) = key.1.split_at(key.1.len() - names.len());
        let named: Vec<(Arc<str>, Type)> = names.iter().cloned().zip(rest.iter().copied()).collect();
        let answer = self.host.choose(func, positional, &named);
        self.choices.borrow_mut().insert(key, answer.clone());
        answer
    }
}

/// The first argument on whose type the answers depend, which are in the order of the combinations.
fn depends_on(answers: &Answers, types: &[Type]) -> Option<usize> {
    let mut stride = answers.len();
    types.iter().position(|t| {
        let count = ways(*t).len();
        stride /= count;
        (0..answers.len()).any(|i| {
            let first = i - (i / stride % count) * stride;
            !is_same_answer(&answers[i], &answers[first])
        })
    })
}

/// Whether both are the same call, or none.
fn is_same_answer(a: &Result<GlobalValue>, b: &Result<GlobalValue>) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => is_same(a, b),
        (Err(_), Err(_)) => true,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

fn registered(func: FuncId) -> Result<Arc<Func>> {
    registry::get(func).ok_or_else(|| Diagnostic::internal(format!("{func} is not registered")))
}

/// The types that a value may have when the program runs.
#[expect(clippy::wildcard_enum_match_arm, reason = "only these types are more than one")]
fn ways(t: Type) -> Vec<Type> {
    match t.kind() {
        Kind::Variant(m) => m.clone(),
        Kind::Optional(of) => std::iter::once(Type::none()).chain(ways(*of)).collect(),
        _ => vec![t],
    }
}

/// Whether it says that no row is the one, or that an argument is not what was declared.
fn is_choice(e: &Diagnostic) -> bool {
    let said = matches!(
        e.code,
        Code::NoMatchingOperation | Code::AmbiguousDispatch | Code::UnsatisfiedBound | Code::BadCall
    );
    said && e.span.is_none() && e.notes.is_empty()
}

fn is_function(g: &GlobalValue, func: FuncId) -> bool {
    matches!(g, GlobalValue::Function(f) if *f == func)
}

/// Whether both are the same function or class.
fn is_same(a: &GlobalValue, b: &GlobalValue) -> bool {
    match (type_of_global(a), type_of_global(b)) {
        (Ok(a), Ok(b)) => a == b,
        (Ok(_), Err(_)) | (Err(_), Ok(_) | Err(_)) => false,
    }
}
