//! Bodies that are written for one call: the program of a row becomes a function, which is called.

use super::resolved::{Source, Typed};
use super::state::Solver;
use crate::diag::Result;
use crate::ops::{Called, OpDef, Program, Step, Write};
use crate::source::{File, Origin};
use crate::ssa::Inst;
use crate::ssa::{Func, FuncId, Loc, Op, Params, Term, Value, registry};
use crate::typing::Arg;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex};

impl Solver<'_, '_> {
    /// Types a call of a row whose body is written for it.
    pub(crate) fn written(
        &mut self,
        i: Inst,
        op: &'static OpDef,
        write: Write,
        positional: &[Source],
        named: &[(Arc<str>, Source)],
    ) -> Typed {
        let given = self.resolved_args(positional)?;
        if !(op.takes)(&given) {
            return Err(crate::typing::no_match(&crate::typing::refusal::spelling(op.name()), &given));
        }
        let by_name: Vec<Source> = named.iter().map(|(_, s)| s.clone()).collect();
        let values = self.resolved_args(&by_name)?;
        let named: Vec<(Arc<str>, Arg)> = named.iter().map(|(n, _)| n.clone()).zip(values).collect();
        let program = write(&Called { given: &given, named: &named })?;
        let func = function(op, given.len() + named.len(), &program);
        self.call_function(i, func, positional.iter().cloned().chain(by_name).collect(), false)
    }

    fn resolved_args(&mut self, sources: &[Source]) -> Result<Vec<Arg>> {
        let mut args = self.source_args(sources)?;
        args.iter_mut().for_each(|a| a.ty = self.session.resolve(a.ty));
        Ok(args)
    }
}

/// The function of a program with so many parameters; the same one for the same program.
fn function(op: &OpDef, parameters: usize, program: &Program) -> FuncId {
    static WRITTEN: LazyLock<Mutex<HashMap<String, FuncId>>> = LazyLock::new(Default::default);
    let text = format!("{} {parameters} {program:?}", op.name());
    let mut written = WRITTEN.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(id) = written.get(&text) {
        return *id;
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let id = registry::add(built(op, parameters, program, hasher.finish()));
    written.insert(text, id);
    id
}

fn built(op: &OpDef, parameters: usize, program: &Program, hash: u64) -> Func {
    let name: Arc<str> = op.name().rsplit('.').next().unwrap_or_default().into();
    let names = (0..parameters).map(|k| format!("x{k}").into()).collect();
    let mut func = Func {
        name: name.clone(),
        qualname: name,
        file: File::new("<written>", Origin::Written),
        params: Params { names, positional_only: parameters, positional: parameters, ..Params::default() },
        hash,
        ..Func::default()
    };
    let entry = func.make_block();
    let operands: Vec<Value> = (0..parameters).map(|_| func.add_param(entry)).collect();
    let mut values: Vec<Value> = vec![];
    for step in &program.steps {
        let (op, args) = match step {
            Step::Operand(k) => {
                values.push(operands[*k]);
                continue;
            }
            Step::Const(c) => (Op::Const(c.clone()), vec![]),
            Step::Do(id, args) => (Op::Table(*id), args.iter().map(|a| values[a.0 as usize]).collect()),
            Step::Attr(name, of) => (Op::Attr(name.clone()), vec![values[of.0 as usize]]),
            Step::Member(k, of) => (Op::Member(*k), vec![values[of.0 as usize]]),
        };
        values.push(func.push(entry, op, args, Loc::default(), None));
    }
    func.blocks[entry.index()].term = values.last().map_or(Term::Unreachable, |v| Term::Return(*v));
    func
}
