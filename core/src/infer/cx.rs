//! What a typing rule sees and answers, and the rules' common vocabulary.

use super::session::Session;
use super::unify::Refusal;
use super::vars::Site;
use crate::diag::{Code, Diagnostic, Result};
use crate::ops::id;
use crate::types::{Const, Kind, Type, promote};

/// One operand of an operation.
#[derive(Clone, Debug)]
pub struct Arg {
    pub ty: Type,
    pub konst: Option<Const>,
}

impl Arg {
    pub fn of(ty: Type) -> Arg {
        Arg { ty, konst: None }
    }
    pub fn constant(c: Const) -> Arg {
        Arg { ty: c.ty(), konst: Some(c) }
    }
    pub fn is_none(&self) -> bool {
        *self.ty == Kind::None
    }
    /// Not given, where the default is `...` since None is none of the values that may be given.
    pub fn is_omitted(&self) -> bool {
        *self.ty == Kind::Ellipsis
    }
    pub fn int(&self) -> Option<i64> {
        self.konst.as_ref().and_then(Const::as_int)
    }
    pub fn text(&self) -> Option<&str> {
        self.konst.as_ref().and_then(Const::as_str)
    }
    /// The constant truth of a flag such as `keepdims`; anything else is an error.
    pub fn flag(&self, what: &str) -> Result<bool> {
        self.konst.as_ref().map(Const::truth).ok_or_else(|| {
            Diagnostic::new(Code::RequiresConstant, format!("{what} must be a constant True or False"))
                .help(format!("write {what}=True or {what}=False"))
        })
    }
}

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
    pub fn of(ret: Type) -> Answer {
        Answer { ret, args: vec![], konst: None }
    }
    pub fn coerced(ret: Type, args: Vec<Type>) -> Answer {
        Answer { ret, args, konst: None }
    }
    pub fn constant(c: Const) -> Answer {
        Answer { ret: c.ty(), args: vec![], konst: Some(c) }
    }
    pub fn known(mut self, c: Option<Const>) -> Answer {
        self.konst = c;
        self
    }
}

/// The inference session as a rule sees it, at one instruction.
pub struct TyCx<'a, 'h> {
    pub session: &'a mut Session<'h>,
    pub site: Site,
}

impl TyCx<'_, '_> {
    /// The type that holds both, variables included.
    pub fn unify(&mut self, a: Type, b: Type) -> Option<Type> {
        self.session.unify(a, b)
    }

    /// A list made here whose element type is found by use; starts with `elem` (`Never` for an empty list).
    pub fn new_list(&mut self, elem: Type) -> Result<Type> {
        let list = Type::list(self.session.vars.at(self.site, 0, Type::int()));
        self.push_elem(list, elem)?;
        Ok(list)
    }

    /// Element type of a list as known so far.
    pub fn elem(&self, list: Type) -> Option<Type> {
        if let Kind::List(e) = *list { Some(self.session.vars.known(e)) } else { None }
    }

    /// The list also holds values of type `elem`. An error when its element type is fixed and cannot hold
    /// them.
    pub fn push_elem(&mut self, list: Type, elem: Type) -> Result<()> {
        let Kind::List(slot) = *list else { return Err(Diagnostic::internal(format!("{list} is no list"))) };
        self.session.vars.hold(slot, elem).map_err(|why| self.refused(why, elem))
    }

    fn refused(&self, why: Refusal, elem: Type) -> Diagnostic {
        let old = match why {
            Refusal::Holds(old) => old,
            Refusal::Itself => {
                return Diagnostic::new(
                    Code::CannotUnify,
                    "a list cannot hold itself, nor a function that captures it",
                )
                .help("move the inner function out, and give it what it needs as arguments");
            }
        };
        let help = match (old.as_array(), elem.as_array()) {
            (Some(x), Some(y))
                if x.dtype == y.dtype && x.ndim == y.ndim && y.layout == crate::types::Layout::A =>
            {
                "this list came from outside with arrays that lie without gaps: give it a copy, np.ascontiguousarray(x)"
            }
            _ => "keep the elements of a list of one type",
        };
        let [old, elem] = [old, elem].map(|t| self.session.resolve(t));
        Diagnostic::new(Code::CannotUnify, format!("a list of {old} cannot hold a value of type {elem}"))
            .help(help)
    }
}

/// "No version takes these types", without a place; inference adds it.
pub fn no_match(what: &str, args: &[Arg]) -> Diagnostic {
    no_match_named(what, args, &[])
}

/// [`no_match`] with arguments that were given by name.
pub fn no_match_named(what: &str, args: &[Arg], named: &[(std::sync::Arc<str>, Arg)]) -> Diagnostic {
    let spelt;
    let what = if what.starts_with("operator.") || what.starts_with("numpy.") && !what.ends_with(')') {
        spelt = super::hints::spelling(what);
        &spelt
    } else {
        what
    };
    // A method of a universal function is that function's.
    let method;
    let (what, args) = match (what.strip_prefix("ufunc."), args) {
        (Some(name), [Arg { ty, .. }, rest @ ..]) if let Kind::Builtin(f) = **ty => {
            method = format!("{f}.{name}");
            (method.as_str(), rest)
        }
        _ => (what, args),
    };
    let by_name = named.iter().map(|(name, a)| format!("{name}={}", super::hints::shown(a.ty)));
    let all: Vec<String> =
        [super::hints::operands(what, args)].into_iter().filter(|t| !t.is_empty()).chain(by_name).collect();
    let d = Diagnostic::new(Code::NoMatchingOperation, format!("{what} does not take ({})", all.join(", ")))
        .generic();
    match super::hints::for_operands(what, args).or_else(|| super::hints::for_named(named)) {
        Some(h) => d.help(h),
        None => d,
    }
}

/// The scalar type that a `dtype` argument names: a NumPy scalar class, dtype object, Python number class or
/// constant string.
pub fn dtype_arg(arg: &Arg) -> Option<Type> {
    match *arg.ty {
        Kind::DType(t) => Some(t),
        Kind::Builtin(id::BUILTINS_INT) => Some(Type::i64()),
        Kind::Builtin(id::BUILTINS_FLOAT) => Some(Type::f64()),
        Kind::Builtin(id::BUILTINS_BOOL) => Some(Type::bool()),
        Kind::Builtin(id::BUILTINS_COMPLEX) => Some(Type::complex().strong()),
        _ => dtype_name(arg.text()?),
    }
}

/// The scalar type of a NumPy dtype string (`f8`, `float64`, `<i4`, `?`).
pub fn dtype_name(name: &str) -> Option<Type> {
    use crate::types::{Float, Int};
    let int = |i: Int| Some(Type::int_of(i));
    match name.trim_start_matches(['<', '=', '|']) {
        "bool" | "bool_" | "?" | "b1" => Some(Type::bool()),
        "int8" | "i1" | "b" | "byte" => int(Int::I8),
        "int16" | "i2" | "h" | "short" => int(Int::I16),
        "int32" | "i4" | "i" | "intc" => int(Int::I32),
        "int64" | "i8" | "l" | "q" | "int" | "intp" | "int_" | "p" | "longlong" => int(Int::I64),
        "uint8" | "u1" | "B" | "ubyte" => int(Int::U8),
        "uint16" | "u2" | "H" | "ushort" => int(Int::U16),
        "uint32" | "u4" | "I" | "uintc" => int(Int::U32),
        "uint64" | "u8" | "L" | "Q" | "uint" | "uintp" | "P" | "ulonglong" => int(Int::U64),
        "float32" | "f4" | "f" | "single" => Some(Type::float_of(Float::F32)),
        "float64" | "f8" | "d" | "float" | "double" => Some(Type::f64()),
        "complex64" | "c8" | "F" | "csingle" => Some(Type::new(Kind::Complex(Float::F32))),
        "complex128" | "c16" | "D" | "complex" | "cdouble" => Some(Type::new(Kind::Complex(Float::F64))),
        _ => None,
    }
}

/// Both operands become the type of Python arithmetic on them, which is also the result's.
pub fn arith_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = promote::arith(args[0].ty, args[1].ty).ok_or_else(|| no_match("arithmetic", args))?;
    Ok(Answer::coerced(t, vec![t, t]))
}
