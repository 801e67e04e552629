//! Bodies of parallel loops, and of comprehensions that fill an array at once.

use super::resolved::{Resolved, Source};
use super::state::Solver;
use crate::diag::{Code, Diagnostic, Result};
use crate::ssa::{Inst, registry};
use crate::types::{Const, Kind, Type};

type Typed = Result<(Type, Option<Const>, bool)>;

impl Solver<'_, '_> {
    /// A parallel loop: its body as a function value, its range, how many elements each piece has of its own,
    /// and what the body's variables start with. Gives a list of what the pieces give, None where they give
    /// nothing.
    pub(crate) fn region(&mut self, i: Inst) -> Typed {
        let args = self.func.inst(i).args.clone();
        let Kind::Function(f) = self.ty(args[0]).kind() else {
            return Err(Diagnostic::internal("a region without a body"));
        };
        let (id, captures, range) = (f.func, f.captures.clone(), self.ty(args[1]));
        let Kind::Range(_) = *range else {
            return Err(Diagnostic::internal(format!("a region over {range}")));
        };
        let mut sources = vec![Source::Const(Const::Int(0)), Source::Const(Const::Int(0))];
        let body = registry::get(id).and_then(|f| f.body.clone()).unwrap_or_default();
        if body.decides {
            sources.push(Source::Const(Const::Bool(false)));
        }
        sources.extend(args[3..].iter().map(|v| Source::Value(*v)));
        let function = Source::Value(args[0]);
        sources.extend((0..captures.len()).map(|k| function.part(k as u32)));
        for s in &sources {
            let t = self.source_arg(s)?.ty;
            if !body.careful && crate::types::promote::runs_generator(t) {
                return Err(Diagnostic::new(
                    Code::ParallelRace,
                    "the iterations of this prange loop advance a generator that they share",
                )
                .help("make a list of what it gives before the loop"));
            }
        }
        let (given, ..) = self.call_function(i, id, sources, false)?;
        let body = self.out.resolved.remove(&i);
        let given = match body {
            Some(Resolved::Instance { id, mut sources, mut coerce, .. }) => {
                sources.extend([Source::Value(args[1]), Source::Value(args[2])]);
                coerce.extend([range, Type::int()]);
                self.out.resolved.insert(i, Resolved::Region { id, sources, coerce });
                self.session.at(id).ret
            }
            _ => {
                self.out.resolved.insert(i, Resolved::Nothing);
                given
            }
        };
        let ret = self.session.resolve(given);
        let ret = if let Kind::None | Kind::Never = *ret { ret } else { Type::list(ret) };
        Ok((ret, None, true))
    }

    /// A task: its group, and the function that it calls.
    pub(super) fn task(&mut self, i: Inst, operands: &[Source]) -> Typed {
        let [group, function] = operands else {
            return Err(Diagnostic::internal("a task without a function"));
        };
        self.call(i, &function.clone(), vec![], vec![])?;
        let how = match self.out.resolved.remove(&i) {
            Some(Resolved::Instance { id, mut sources, mut coerce, .. }) => {
                sources.push(group.clone());
                coerce.push(Type::int());
                Resolved::Task { id, sources, coerce }
            }
            _ => Resolved::Nothing,
        };
        self.out.resolved.insert(i, how);
        Ok((Type::none(), None, true))
    }

    /// The dtype of an array of what a function like the body of a parallel loop puts into its list, if it
    /// may be filled with that at once; else None. What is wrong with it is said where its code is reached.
    pub(crate) fn element_of(&mut self, i: Inst) -> Typed {
        let function = self.func.inst(i).args[0];
        let Kind::Function(f) = self.ty(function).kind() else {
            return Err(Diagnostic::internal("a comprehension without a body"));
        };
        let (id, captures) = (f.func, f.captures.len());
        let mut sources = vec![Source::Const(Const::Int(0)), Source::Const(Const::Int(0))];
        sources.extend((0..captures).map(|k| Source::Value(function).part(k as u32)));
        let found = self.call_function(i, id, sources, false);
        // Nothing is called: it was only asked.
        self.out.resolved.insert(i, Resolved::Nothing);
        self.waiting.never_mind(i);
        self.out.open.remove(&i);
        let list = found.ok().and_then(|(ret, ..)| Some(self.session.resolve(*ret.members()?.first()?)));
        let element = list.and_then(|l| if let Kind::List(e) = *l { Some(e) } else { None });
        let asked = match self.func.inst(i).args.get(1) {
            Some(v) => Some(self.source_arg(&Source::Value(*v))?),
            None => None,
        };
        let dtype = element.and_then(|e| crate::ops::collect::dtype(e, asked.as_ref()));
        Ok(match dtype {
            Some(t) => (Type::new(Kind::DType(t)), None, false),
            None => (Type::none(), Some(Const::None), false),
        })
    }
}
