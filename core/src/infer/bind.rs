//! How the operands of a call get to the parameters of a row of the table or of a function.

use super::resolved::{Resolved, Source};
use super::state::Solver;
use crate::diag::{Code, Diagnostic, Result};
use crate::ops::{Keywords, OpDef, OpId, dict, id};
use crate::ssa::{Func, Inst, Params};
use crate::types::{ClassDef, Const, FuncType, Kind, Type};
use std::sync::Arc;

/// Puts the sources of a call of a table row into parameter order.
pub(crate) fn bind_op(
    op: &'static OpDef,
    positional: Vec<Source>,
    named: Vec<(Arc<str>, Source)>,
) -> Result<Vec<Source>> {
    let spec = op.spec();
    let name = op.name().trim_start_matches("builtins.");
    let bad =
        |m: String| Diagnostic::new(Code::BadCall, m).help(format!("the parameters are ({})", op.params));
    if positional.len() > spec.positional && !spec.varargs {
        return Err(bad(format!(
            "{name}() takes {} positional arguments but {} were given",
            spec.positional,
            positional.len()
        )));
    }
    let mut slots: Vec<Option<Source>> = vec![None; spec.params.len()];
    let mut rest = vec![];
    for (i, s) in positional.into_iter().enumerate() {
        if i < spec.positional { slots[i] = Some(s) } else { rest.push(s) }
    }
    for (key, s) in named {
        let at = spec.params.iter().position(|p| p.name == &*key);
        if at.is_none() && spec.names {
            rest.extend([Source::Const(Const::Str(key)), s]);
            continue;
        }
        let at = at.ok_or_else(|| bad(format!("{name}() got an unexpected keyword argument '{key}'")))?;
        if slots[at].replace(s).is_some() {
            return Err(bad(format!("{name}() got multiple values for argument '{key}'")));
        }
    }
    let mut out = Vec::with_capacity(slots.len() + rest.len());
    for (p, s) in spec.params.iter().zip(slots) {
        out.push(match (s, &p.default) {
            (Some(s), _) => s,
            (None, Some(d)) => Source::Const(d.clone()),
            (None, None) => return Err(bad(format!("{name}() missing required argument: '{}'", p.name))),
        });
    }
    out.extend(rest);
    Ok(out)
}

/// Binds arguments to a Python function's parameters with Python's rules and messages.
pub(crate) fn bind(
    name: &str,
    p: &Params,
    positional: Vec<Source>,
    named: Vec<(Arc<str>, Source)>,
    default: &mut dyn FnMut(&str) -> Option<Source>,
) -> Result<Vec<Source>> {
    let bad = |m: String| Diagnostic::new(Code::BadCall, m);
    let count = p.positional + p.keyword_only;
    let given = positional.len();
    let mut slots: Vec<Option<Source>> = vec![None; count];
    let (mut rest, mut whole, mut others) = (vec![], None, (vec![], vec![]));
    for (i, s) in positional.into_iter().enumerate() {
        if let Source::Rest(of) = s {
            whole = Some(*of);
        } else if i < p.positional {
            slots[i] = Some(s)
        } else {
            rest.push(s)
        }
    }
    if !rest.is_empty() && !p.varargs {
        return Err(bad(format!(
            "{name}() takes {} positional arguments but {given} were given",
            p.positional
        )));
    }
    for (key, s) in named {
        let at = p.names[..count].iter().position(|n| *n == key).filter(|at| *at >= p.positional_only);
        if at.is_none() && p.varkw {
            others.0.push(key.to_string());
            others.1.push(s);
            continue;
        }
        let at = at.ok_or_else(|| bad(format!("{name}() got an unexpected keyword argument '{key}'")))?;
        if slots[at].replace(s).is_some() {
            return Err(bad(format!("{name}() got multiple values for argument '{key}'")));
        }
    }
    let mut out = Vec::with_capacity(count + 1);
    for (n, s) in p.names.iter().zip(slots) {
        out.push(
            s.or_else(|| default(n))
                .ok_or_else(|| bad(format!("{name}() missing required argument: '{n}'")))?,
        );
    }
    if p.varargs {
        out.push(whole.unwrap_or(Source::Pack(rest)));
    }
    if p.varkw {
        out.push(Source::Keywords(ClassDef::keywords(others.0), others.1));
    }
    Ok(out)
}

impl Solver<'_, '_> {
    pub(crate) fn bind_function(
        &mut self,
        func: &Func,
        f: &FuncType,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Result<Vec<Source>> {
        let host = self.session.host;
        let split = f.defaults.len() - f.kwdefaults.len();
        let p = &func.params;
        bind(&func.name, p, positional, named, &mut |name| {
            if f.defaults.is_empty() {
                return host.default(func.host, name).map(Source::Global);
            }
            let at = p.names.iter().position(|n| &**n == name)?;
            let k = match at.checked_sub(p.positional - split) {
                Some(k) if at < p.positional => k,
                _ => split + f.kwdefaults.iter().position(|n| n == name)?,
            };
            Some(callee.part(k as u32))
        })
    }

    /// `kwargs.get(name, default)` of a name that is known; none of any other one.
    pub(super) fn get_keyword(
        &mut self,
        i: Inst,
        class: &ClassDef,
        of: &Source,
        operands: &[Source],
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let (Some(name), 1..=2) = (operands.first(), operands.len()) else { return Ok(None) };
        let Some(name) = self.source_arg(name)?.text().map(str::to_owned) else { return Ok(None) };
        let found = match class.fields.iter().position(|f| *f == name) {
            Some(k) => of.part(k as u32),
            None => operands.get(1).cloned().unwrap_or(Source::Const(Const::None)),
        };
        let arg = self.source_arg(&found)?;
        self.out.resolved.insert(i, Resolved::Same(found));
        Ok(Some((arg.ty, arg.konst, false)))
    }

    /// What a function takes as `**kwargs` is a tuple with names to us and a dict to its reader: what goes
    /// through it sees the names; what is no business of a dict's, or not of ours, is refused.
    pub(crate) fn keywords_as_dict(&mut self, path: OpId, operands: &mut [Source]) -> Result<()> {
        for k in 0..operands.len() {
            let Kind::NamedTuple(class, _) = self.source_arg(&operands[k])?.ty.kind() else { continue };
            if !class.is_keywords() {
                continue;
            }
            let by_name = k == 0 && operands.len() > 1 && self.source_arg(&operands[1])?.text().is_some();
            let goes = match path.facts().keywords {
                Keywords::Takes => continue,
                // What is looked for in a container is the dict itself.
                Keywords::FindsOrGoes if k > 0 => continue,
                Keywords::Finds | Keywords::FindsOrGoes if by_name => continue,
                Keywords::Goes | Keywords::FindsOrGoes => true,
                Keywords::Finds | Keywords::Refuses => false,
            };
            if goes {
                // What is looked for among the names is looked for by its hash.
                if path == id::CONTAINS
                    && let Some(of) = operands.get(1)
                    && let Some(d) = dict::has_no_hash(self.source_arg(of)?.ty)
                {
                    return Err(d);
                }
                operands[k] = Source::Pack(
                    class.fields.iter().map(|f| Source::Const(Const::Str(f.as_str().into()))).collect(),
                );
                continue;
            }
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                format!(
                    "{} does not take a dict of known keys whose values may have several types",
                    crate::typing::refusal::spelling(path.name())
                ),
            )
            .help("look values up by key, d[\"x\"], go through them, or pass them on with **; or give all values one type"));
        }
        Ok(())
    }
}
