//! What a typing rule sees and answers, and the rules' common vocabulary.

use super::unify::Refusal;
use super::vars::{Site, Vars};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::Host;
use crate::types::{ClassDef, Const, FuncType, Kind, Type, object, promote};

/// One operand of an operation.
#[derive(Clone, Debug)]
pub struct Arg {
    pub ty: Type,
    pub konst: Option<Const>,
}

impl Arg {
    pub(crate) fn of(ty: Type) -> Arg {
        Arg { ty, konst: None }
    }
    pub(crate) fn constant(c: Const) -> Arg {
        Arg { ty: c.ty(), konst: Some(c) }
    }
    pub(crate) fn is_none(&self) -> bool {
        *self.ty == Kind::None
    }
    /// Not given, where the default is `...` since None is none of the values that may be given.
    pub(crate) fn is_omitted(&self) -> bool {
        *self.ty == Kind::Ellipsis
    }
    pub(crate) fn int(&self) -> Option<i64> {
        self.konst.as_ref().and_then(Const::as_int)
    }
    pub(crate) fn text(&self) -> Option<&str> {
        self.konst.as_ref().and_then(Const::as_str)
    }
    /// The constant truth of a flag such as `keepdims`; anything else is an error.
    pub(crate) fn flag(&self, what: &str) -> Result<bool> {
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
    pub(crate) fn of(ret: Type) -> Answer {
        Answer { ret, args: vec![], konst: None }
    }
    pub(crate) fn coerced(ret: Type, args: Vec<Type>) -> Answer {
        Answer { ret, args, konst: None }
    }
    pub(crate) fn constant(c: Const) -> Answer {
        Answer { ret: c.ty(), args: vec![], konst: Some(c) }
    }
    pub(crate) fn known(mut self, c: Option<Const>) -> Answer {
        self.konst = c;
        self
    }
}

/// What a value is in the container that is to hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    Element,
    Key,
    Value,
    Member,
    /// An element of a deque.
    Queued,
    /// The field of that number of an object.
    Field(&'static ClassDef, u32),
}

impl Held {
    fn container(self) -> &'static str {
        match self {
            Held::Element => "a list",
            Held::Key | Held::Value => "a dict",
            Held::Member => "a set",
            Held::Queued => "a deque",
            Held::Field(..) => "an object",
        }
    }
    fn way_out(self) -> &'static str {
        match self {
            Held::Element => "keep the elements of a list of one type",
            Held::Key => "keep the keys of a dict of one type",
            Held::Value => "keep the values of a dict of one type",
            Held::Member => "keep the elements of a set of one type",
            Held::Queued => "keep the elements of a deque of one type",
            Held::Field(..) => "keep the values of a field of one type",
        }
    }
}

/// The inference session as a rule sees it, at one instruction.
pub struct TyCx<'a, 'h> {
    pub vars: &'a mut Vars,
    pub host: &'h dyn Host,
    pub site: Site,
}

impl TyCx<'_, '_> {
    /// The function of the library that the host writes for these constants, as a value.
    pub(crate) fn written(&self, maker: &str, args: &[Const]) -> Result<Answer> {
        let func = self.host.written(maker, args)?;
        let f = FuncType { func, defaults: vec![], captures: vec![], kwdefaults: vec![], bound: false };
        Ok(Answer::of(Type::new(Kind::Function(f))))
    }

    /// The type that holds both, variables included.
    pub(crate) fn unify(&mut self, a: Type, b: Type) -> Option<Type> {
        if self.vars.apart && promote::bool_meets_number(self.vars.resolve(a), self.vars.resolve(b)) {
            return if self.vars.unions { self.vars.unify_apart(a, b) } else { None };
        }
        self.vars.unify_sorts(a, b)
    }

    /// The same where code that is made of the types alone finds it as well.
    pub(crate) fn unify_plainly(&mut self, a: Type, b: Type) -> Option<Type> {
        if self.vars.apart && promote::bool_meets_number(self.vars.resolve(a), self.vars.resolve(b)) {
            return None;
        }
        self.vars.unify_plainly(a, b)
    }

    /// A list made here whose element type is found by use; starts with `elem` (`Never` for an empty list).
    pub(crate) fn new_list(&mut self, elem: Type) -> Result<Type> {
        let list = Type::list(self.vars.at(self.site, 0, Type::int()));
        self.push_elem(list, elem)?;
        Ok(list)
    }

    /// Element type of a list as known so far.
    pub(crate) fn elem(&self, list: Type) -> Option<Type> {
        if let Kind::List(e) = *list { Some(self.vars.known(e)) } else { None }
    }

    /// The list also holds values of type `elem`. An error when its element type is fixed and cannot hold
    /// them.
    pub(crate) fn push_elem(&mut self, list: Type, elem: Type) -> Result<()> {
        let Kind::List(slot) = *list else { return Err(Diagnostic::internal(format!("{list} is no list"))) };
        self.hold(slot, elem, Held::Element)
    }

    /// An invariant argument of a container's type also holds values of a type. An error when it is fixed and
    /// cannot hold them.
    pub(crate) fn hold(&mut self, argument: Type, value: Type, as_what: Held) -> Result<()> {
        match self.vars.hold(argument, value) {
            // Python's numbers take the width of the elements that they come among, as in arrays. A key stays
            // the number that it is: code looks whether an integer does.
            Err(Refusal::Holds(old))
                if takes_weak(old, value)
                    && (!matches!(as_what, Held::Key | Held::Member) || value.is_int() && old.is_int()) =>
            {
                Ok(())
            }
            held => held.map_err(|why| self.refused(why, value, as_what)),
        }
    }

    fn refused(&self, why: Refusal, elem: Type, as_what: Held) -> Diagnostic {
        let old = match why {
            Refusal::Holds(old) => old,
            Refusal::Itself => {
                return Diagnostic::new(
                    Code::CannotUnify,
                    format!("{} cannot hold itself, nor a function that captures it", as_what.container()),
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
            _ => as_what.way_out(),
        };
        let [old, elem] = [old, elem].map(|t| self.vars.resolve(t));
        let text = match as_what {
            Held::Element => format!("a list of {old} cannot hold a value of type {elem}"),
            Held::Key => format!("a dict with keys of type {old} cannot have one of type {elem}"),
            Held::Value => format!("a dict with values of type {old} cannot hold one of type {elem}"),
            Held::Member => format!("a set of {old} cannot hold a value of type {elem}"),
            Held::Field(class, k) => {
                let name = class.fields.get(k as usize).map_or("?", |n| n);
                format!(
                    "the field '{name}' of {} is {old}, and cannot hold a value of type {elem}",
                    class.name
                )
            }
            Held::Queued => format!("a deque of {old} cannot hold a value of type {elem}"),
        };
        let mut d = Diagnostic::new(Code::CannotUnify, text);
        d.notes.extend(differing_field(old, elem).map(|note| (note, None)));
        d.help(help)
    }
}

/// What tells objects of one class apart, whose types have one name.
fn differing_field(a: Type, b: Type) -> Option<String> {
    let (Kind::Object(class, _), Kind::Object(other, _)) = (a.kind(), b.kind()) else { return None };
    let (these, those) = (object::fields(a)?, object::fields(b)?);
    let k = these.iter().zip(those).position(|(x, y)| x != y).filter(|_| class.id == other.id)?;
    let name = class.fields.get(k)?;
    (these[k].to_string() != those[k].to_string()).then(|| {
        format!("the field '{name}' is {} of one {} and {} of the other", these[k], class.name, those[k])
    })
}

/// Whether elements of a narrow type may be given as Python's numbers of the same kind.
#[expect(clippy::wildcard_enum_match_arm, reason = "only Python's numbers are weak")]
fn takes_weak(elem: Type, given: Type) -> bool {
    use crate::types::{Float, Int};
    match *given {
        Kind::Int(Int::Py | Int::Big) => elem.is_int() || elem.is_float(),
        Kind::Float(Float::Py) => elem.is_float(),
        _ => false,
    }
}
