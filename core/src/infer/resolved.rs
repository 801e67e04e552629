//! How an instruction is carried out, and where its operands come from.

use crate::diag::{Code, Result};
use crate::host::GlobalValue;
use crate::ops::OpDef;
use crate::ssa::{InstanceId, Value};
use crate::types::{ClassDef, Const, Type};
use std::sync::Arc;

/// Where a parameter's value comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Value(Value),
    /// Member of a composite value: of a spread tuple, a method's receiver, a function's default or captured
    /// value.
    Member(Value, u32),
    /// Member of another source.
    Part(Box<Source>, u32),
    /// An optional source that is known not to be None.
    NotNone(Box<Source>),
    /// A number, or what holds numbers, as a value of another type.
    As(Box<Source>, Type),
    /// What an optional source is, or TypeError with that message.
    Present(Box<Source>, &'static str),
    /// What an optional source is, or AttributeError with that message.
    Owner(Box<Source>, Arc<str>),
    Const(Const),
    /// A default that the host knows.
    Global(GlobalValue),
    /// The tuple for `*args`.
    Pack(Vec<Source>),
    /// A tuple that is what `*args` gets, behind what is given by place.
    Rest(Box<Source>),
    /// The values for `**kwargs`.
    Keywords(&'static ClassDef, Vec<Source>),
}

/// How an instruction is carried out.
#[derive(Clone, Debug)]
pub(crate) enum Resolved {
    /// A row of the table; operands are promoted to `coerce`.
    Apply { op: &'static OpDef, sources: Vec<Source>, coerce: Vec<Type> },
    Instance {
        id: InstanceId,
        sources: Vec<Source>,
        coerce: Vec<Type>,
        /// What the call gives here.
        ret: Type,
    },
    /// The body of a parallel loop; the range is the last operand.
    Region { id: InstanceId, sources: Vec<Source>, coerce: Vec<Type> },
    /// What a task runs; its group is the last operand.
    Task { id: InstanceId, sources: Vec<Source>, coerce: Vec<Type> },
    /// A tuple-like value made of the sources.
    Build { sources: Vec<Source> },
    /// What that gives, which is of this type, as a value of another.
    As(Box<Resolved>, Type),
    /// The same machine values under another type.
    Retype(Source),
    /// Member of a composite value.
    Member(Source, u32),
    /// Once the source is known to be a value.
    After(Source, Box<Resolved>),
    /// By which of several types `on` has when the program runs: how each is carried out, its result's type,
    /// the result if it is known.
    Dispatch { on: Source, ways: Vec<(Resolved, Type, Option<Const>)> },
    /// Nothing that can be done: TypeError or AttributeError with that text.
    Impossible(Code, Arc<str>),
    /// The source itself.
    Same(Source),
    /// A value that the host knows.
    Known(GlobalValue),
    /// Nothing happens at run time.
    Nothing,
}

impl Resolved {
    /// Whether it is an error whatever the operands are when the program runs.
    pub(crate) fn is_impossible(&self) -> bool {
        if let Resolved::Dispatch { ways, .. } = self {
            return ways.iter().all(|w| w.0.is_impossible());
        }
        matches!(self, Resolved::Impossible(..))
    }

    /// Whether a value is asked for its attribute on every way, with a check that it is not None.
    pub(crate) fn takes_owner(&self) -> bool {
        match self {
            Resolved::Apply { sources, .. }
            | Resolved::Instance { sources, .. }
            | Resolved::Region { sources, .. }
            | Resolved::Task { sources, .. }
            | Resolved::Build { sources } => sources.iter().any(Source::takes_owner),
            Resolved::Retype(of) | Resolved::Member(of, _) | Resolved::Same(of) => of.takes_owner(),
            Resolved::As(how, _) => how.takes_owner(),
            Resolved::After(of, how) => of.takes_owner() || how.takes_owner(),
            Resolved::Dispatch { on, .. } => on.takes_owner(),
            Resolved::Impossible(..) | Resolved::Known(_) | Resolved::Nothing => false,
        }
    }

    /// The instances that are called, each with what its call gives.
    pub(crate) fn each_instance(
        &mut self,
        f: &mut dyn FnMut(&mut InstanceId, Type) -> Result<()>,
    ) -> Result<()> {
        match self {
            Resolved::Instance { id, ret, .. } => f(id, *ret),
            Resolved::After(_, how) | Resolved::As(how, _) => how.each_instance(f),
            Resolved::Dispatch { ways, .. } => ways.iter_mut().try_for_each(|way| way.0.each_instance(f)),
            Resolved::Apply { .. }
            | Resolved::Region { .. }
            | Resolved::Task { .. }
            | Resolved::Build { .. }
            | Resolved::Retype(_)
            | Resolved::Member(..)
            | Resolved::Impossible(..)
            | Resolved::Same(_)
            | Resolved::Known(_)
            | Resolved::Nothing => Ok(()),
        }
    }
}

impl Resolved {
    /// The functions that are run, bodies of parallel loops and tasks among them.
    pub(crate) fn each_callee(&mut self, f: &mut dyn FnMut(InstanceId)) {
        if let Resolved::Region { id, .. } | Resolved::Task { id, .. } = self {
            f(*id);
        }
        let all = self.each_instance(&mut |id, _| {
            f(*id);
            Ok(())
        });
        debug_assert!(all.is_ok(), "nothing fails");
    }
}

impl Source {
    fn takes_owner(&self) -> bool {
        match self {
            Source::Owner(..) | Source::Present(..) => true,
            Source::Part(of, _) | Source::NotNone(of) | Source::As(of, _) | Source::Rest(of) => {
                of.takes_owner()
            }
            Source::Pack(m) | Source::Keywords(_, m) => m.iter().any(Source::takes_owner),
            Source::Value(_) | Source::Member(..) | Source::Const(_) | Source::Global(_) => false,
        }
    }

    /// Member `k` of the value.
    pub(crate) fn part(&self, k: u32) -> Source {
        if let Source::Value(v) = self {
            Source::Member(*v, k)
        } else {
            Source::Part(Box::new(self.clone()), k)
        }
    }
}

pub(crate) type Typed = Result<(Type, Option<Const>, bool)>;
