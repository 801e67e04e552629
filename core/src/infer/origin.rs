//! What the code itself says of a value, by where that comes from, where its type and its machine values do
//! not.
//!
//! `a is b`: one value is one object, and what makes a view makes a new one; a view of a whole array has the
//! array's own machine values. `~b`: a bool of Python's is an int then, -1 or -2, one of NumPy's stays a
//! bool; both are of one type.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "where a value comes from is known by pattern: any other origin is open"
)]

use super::resolved::Source;
use super::state::Solver;
use crate::diag::{Code, Diagnostic};
use crate::ops::{OpId, Scalars, id};
use crate::ssa::analysis::Definitions;
use crate::ssa::{Inst, Op, Value};
use crate::types::{Kind, Type};

/// Methods and functions of arrays that make a new array object over the memory of one, whatever they are
/// called with.
const MAKERS: [&str; 9] =
    ["view", "reshape", "ravel", "transpose", "swapaxes", "expand_dims", "broadcast_to", "moveaxis", "flip"];

/// What an operand is, as far as its definition tells.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// What this instruction makes.
    Made(Inst),
    /// A parameter, or something from outside.
    Given(Value),
    /// An element, the result of a call, one of several.
    Open(Value),
}

impl Solver<'_, '_> {
    /// Whether two operands of `is` are one object, where the code says so; an error where neither it nor the
    /// machine values can.
    pub(crate) fn known_identity(&self, args: &[Source]) -> Option<Result<bool, Diagnostic>> {
        let [Source::Value(a), Source::Value(b)] = args else { return None };
        let defs = Definitions::new(self.func);
        let [x, y] = [*a, *b].map(|v| self.origin(&defs, v, 0));
        let types = [*a, *b].map(|v| self.session.resolve(self.ty(v)));
        // An optional value is asked whether it is there.
        if types
            .iter()
            .any(|t| matches!(t.kind(), Kind::None | Kind::Never | Kind::Undef | Kind::MaybeUndef(_)))
        {
            return None;
        }
        // Objects are told apart by where they are.
        if types.iter().any(|t| matches!(t.kind(), Kind::Object(..))) {
            return None;
        }
        if x == y {
            return Some(Ok(true));
        }
        if types.iter().all(|t| t.as_array().is_some()) {
            let apart = |made: Origin, other: Origin| match (made, other) {
                (Origin::Made(_), Origin::Made(_) | Origin::Given(_)) => true,
                // What a view is made of was there before it.
                (Origin::Made(i), Origin::Open(v)) => self.is_made_of(&defs, i, v, 0),
                _ => false,
            };
            return (apart(x, y) || apart(y, x)).then_some(Ok(false));
        }
        let empty = |t: Type| matches!(t.kind(), Kind::Tuple(m) if m.is_empty());
        if types.iter().all(|t| empty(*t)) {
            return Some(Ok(true));
        }
        let same = |t: Type| {
            matches!(t.kind(), Kind::Tuple(m) | Kind::NamedTuple(_, m) if !m.is_empty())
                || matches!(t.kind(), Kind::Range(_) | Kind::Slice(_))
        };
        let of_class = |t: Type| if let Kind::Frozen(c, _) = t.kind() { Some(c.id) } else { None };
        let same_class = of_class(types[0]).is_some() && of_class(types[0]) == of_class(types[1]);
        (same_class || same(types[0]) && types[0] == types[1]).then(|| {
            Err(Diagnostic::new(Code::NoMatchingOperation, format!("whether two values of type {} are one object is not known in compiled code, which holds their parts", types[0]))
                .help("compare them with =="))
        })
    }

    /// Whether an instruction takes a value, or what was made of it.
    fn is_made_of(&self, defs: &Definitions, i: Inst, v: Value, depth: u32) -> bool {
        depth < 8
            && self
                .func
                .inst(i)
                .args
                .iter()
                .any(|a| *a == v || defs.inst(*a).is_some_and(|of| self.is_made_of(defs, of, v, depth + 1)))
    }

    fn origin(&self, defs: &Definitions, v: Value, depth: u32) -> Origin {
        let Some(i) = defs.inst(v) else {
            return if self.func.blocks.first().is_some_and(|b| b.params.contains(&v)) {
                Origin::Given(v)
            } else {
                Origin::Open(v)
            };
        };
        let node = self.func.inst(i);
        if depth > 32 {
            return Origin::Open(v);
        }
        let array = self.ty(v).as_array().is_some();
        match &node.op {
            Op::Narrow(_) | Op::CheckBound { .. } => self.origin(defs, node.args[0], depth + 1),
            Op::Global(_) => Origin::Given(v),
            // In place: the array itself.
            Op::Table(
                id::IADD
                | id::ISUB
                | id::IMUL
                | id::ITRUEDIV
                | id::IFLOORDIV
                | id::IMOD
                | id::IPOW
                | id::IAND
                | id::IOR
                | id::IXOR,
            ) if array && self.ty(node.args[0]).as_array().is_some() => {
                self.origin(defs, node.args[0], depth + 1)
            }
            Op::Table(id::GETITEM) if array && self.ty(node.args[0]).as_array().is_some() => Origin::Made(i),
            Op::Attr(name) if array && &**name == "T" => Origin::Made(i),
            Op::Call { .. }
                if array
                    && defs.inst(node.args[0]).is_some_and(
                        |c| matches!(&self.func.inst(c).op, Op::Attr(name) if MAKERS.contains(&&**name)),
                    ) =>
            {
                Origin::Made(i)
            }
            _ => Origin::Open(v),
        }
    }

    /// `~b` of a bool that is known to be Python's: an int. One of unknown origin (a parameter, an element of
    /// a list) is NumPy's to it, as it is to Numba; where Python's answer is promised, Python finds out.
    pub(crate) fn inverted(
        &mut self,
        i: Inst,
        path: OpId,
        args: &[Source],
    ) -> Option<Result<(Type, Option<crate::types::Const>, bool), Diagnostic>> {
        let (id::INVERT | id::INV, [Source::Value(v)]) = (path, args) else { return None };
        if *self.ty(*v) != Kind::Bool || self.fact(*v).konst.is_some() {
            return None;
        }
        match self.is_pythons(&Definitions::new(self.func), *v, 0) {
            Some(true) => {}
            Some(false) => return None,
            None if self.promises_python() => {
                let text = "~ of a bool is an int where it is Python's, and a bool where it is NumPy's, which nothing says here";
                return Some(Err(Diagnostic::new(Code::NoMatchingOperation, text).help("write `not x`")));
            }
            None => return None,
        }
        let func = match self.session.host.library("special.inverted") {
            Ok(f) => f,
            Err(e) => return Some(Err(e)),
        };
        Some(self.call_function(i, func, args.to_vec(), true))
    }

    /// Whether a bool is one of Python's (and not NumPy's), where its definition tells.
    fn is_pythons(&self, defs: &Definitions, v: Value, depth: u32) -> Option<bool> {
        let node = self.func.inst(defs.inst(v).filter(|_| depth < 32)?);
        let of = |k: usize| match *self.ty(node.args[k]) {
            Kind::Bool => self.is_pythons(defs, node.args[k], depth + 1),
            Kind::Int(_) | Kind::Float(_) | Kind::Complex(_) => Some(self.ty(node.args[k]).is_weak()),
            Kind::Array(_)
            | Kind::Optional(_)
            | Kind::Variant(_)
            | Kind::NamedTuple(..)
            | Kind::Frozen(..) => None,
            _ => Some(true),
        };
        let both = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        match &node.op {
            Op::Const(_) => Some(true),
            Op::Table(id::GETITEM) if self.ty(node.args[0]).as_array().is_some() => Some(false),
            Op::Narrow(_) | Op::CheckBound { .. } => self.is_pythons(defs, node.args[0], depth + 1),
            Op::Table(id::NOT | id::IS | id::IS_NOT | id::CONTAINS | id::TRUTH) => Some(true),
            Op::Table(id::EQ | id::NE | id::LT | id::LE | id::GT | id::GE | id::AND | id::OR | id::XOR) => {
                both(of(0), of(1))
            }
            Op::Call { .. } => match self.ty(node.args[0]).kind() {
                Kind::Builtin(path) | Kind::Method(path, _) => match path.facts().scalars {
                    Scalars::Pythons => Some(true),
                    Scalars::Numpys => Some(false),
                    Scalars::Unsaid => None,
                },
                _ => None,
            },
            _ => None,
        }
    }
}
