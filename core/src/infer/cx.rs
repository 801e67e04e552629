//! What a typing rule sees and answers.

use crate::diag::{Code, Diagnostic};
use crate::types::{Const, Type};

/// One operand of an operation.
#[derive(Clone, Debug)]
pub struct Arg { pub ty: Type, pub konst: Option<Const> }

/// What a typing rule decides.
#[derive(Clone, Debug)]
pub struct Answer {
    pub ret: Type,
    /// Types that operands are promoted to before the operation; empty means "as they are".
    pub args: Vec<Type>,
    /// The result when it is known already.
    pub konst: Option<Const>,
}

impl Answer {
    pub fn of(ret: Type) -> Answer { Answer { ret, args: vec![], konst: None } }
    pub fn coerced(ret: Type, args: Vec<Type>) -> Answer { Answer { ret, args, konst: None } }
    pub fn constant(c: Const) -> Answer { Answer { ret: c.ty(), args: vec![], konst: Some(c) } }
}

/// The inference session as a rule sees it.
pub struct TyCx<'a> { pub session: std::marker::PhantomData<&'a ()> }

/// "No version takes these types", without a place; inference adds it.
pub fn no_match(what: &str, args: &[Arg]) -> Diagnostic {
    let types: Vec<String> = args.iter().map(|a| a.ty.to_string()).collect();
    Diagnostic::new(Code::NoMatchingOperation, format!("{what} does not take ({})", types.join(", ")))
}
