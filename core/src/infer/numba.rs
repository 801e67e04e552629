//! Numbers in functions that have Numba's meaning. Nothing in them is weak: literals, Python's numbers and
//! lengths are int64, float64 or complex128. Operators convert scalars to the types of one of Numba's
//! signatures, and numbers that meet in a variable are promoted as elements of arrays are.
//!
//! The library keeps its own meaning, in which it is written: it is given numbers that are not weak.

use super::resolved::{Resolved, Source, Typed};
use super::state::{Key, Solver};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::GlobalValue;
use crate::meaning::Meaning;
use crate::ops::{OpId, id};
use crate::source::Origin;
use crate::ssa::{Func, FuncId, Inst, registry};
use crate::types::{Access, ClassDef, Const, Container, Float, Int, Kind, NumberType, Type, object, promote};
use std::sync::Arc;

/// Whether the numbers of a function are Numba's: not those of our library.
pub(super) fn has_own_numbers(func: &Func, meaning: Meaning) -> bool {
    meaning == Meaning::Numba && matches!(func.file.origin, Origin::User | Origin::Stencil | Origin::Special)
}

/// The same of a function that is called.
pub(super) fn takes_own_numbers(func: FuncId, meaning: Meaning) -> bool {
    registry::get(func).is_some_and(|f| has_own_numbers(&f, meaning))
}

/// The type that a value of type `t` has: what it holds itself is no weak number. What lies in a list stays
/// what it is, and is looked at where it is taken out.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type holds no numbers of its own")]
pub(super) fn value(t: Type) -> Type {
    match t.kind() {
        Kind::Int(_) | Kind::Float(_) | Kind::Complex(_) => t.strong(),
        Kind::Optional(_)
        | Kind::MaybeUndef(_)
        | Kind::Tuple(_)
        | Kind::NamedTuple(..)
        | Kind::Variant(_) => t.map_arguments(&mut value),
        _ => t,
    }
}

/// The same number as Python has it, for what shows numbers or asks for their class: Numba's have no class
/// of their own.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type holds no numbers of its own")]
fn shown(t: Type) -> Type {
    match t.kind() {
        Kind::Int(_) | Kind::Float(_) | Kind::Complex(_) => promote::python_number(t),
        Kind::Optional(_) | Kind::Tuple(_) => t.map_arguments(&mut shown),
        Kind::List(e) if promote::same_but_weak(*e, promote::python_number(*e)) => {
            Type::list(promote::python_number(*e))
        }
        _ => t,
    }
}

/// int64, or uint64 for what has no sign.
fn machine_int(t: Type) -> Type {
    if is_unsigned(t) { Type::int_of(Int::U64) } else { Type::i64() }
}

fn is_unsigned(t: Type) -> bool {
    matches!(*t, Kind::Int(i) if !i.signed())
}

/// The float or complex number that two numbers become, not both of them integers: the narrow one where each
/// fits into a float32, integers of 16 bits without a sign left out.
fn inexact(a: Type, b: Type) -> Type {
    let fits = |t: Type| match t.number() {
        Some(NumberType::Int(i)) => matches!(i, Int::I8 | Int::I16 | Int::U8),
        Some(NumberType::Float(f) | NumberType::Complex(f)) => f.bits() <= 32,
        Some(NumberType::Bool) | None => true,
    };
    let width = if fits(a) && fits(b) { Float::F32 } else { Float::F64 };
    if a.is_complex() || b.is_complex() { Type::new(Kind::Complex(width)) } else { Type::float_of(width) }
}

/// What the operands of an operator become.
fn arithmetic(a: Type, b: Type) -> (Type, Type) {
    if a.is_index() && b.is_index() {
        return (machine_int(a), machine_int(b));
    }
    let t = inexact(a, b);
    (t, t)
}

/// A power keeps the width of what is raised, whatever integer stands above.
fn power(a: Type, b: Type) -> (Type, Type) {
    match (a.kind(), b.kind()) {
        (Kind::Float(Float::F32 | Float::F64), Kind::Bool | Kind::Int(_)) => (a, a),
        (Kind::Bool, Kind::Int(Int::I32)) => (Type::float_of(Float::F32), Type::float_of(Float::F32)),
        _ => arithmetic(a, b),
    }
}

/// Quotient and remainder have one type, for which int64 and uint64 are float64.
fn divided(a: Type, b: Type) -> (Type, Type) {
    if !(a.is_index() && b.is_index()) {
        return arithmetic(a, b);
    }
    let signed = |t: Type| matches!(*t, Kind::Int(i) if i.signed());
    let is = |i: Int| *a == Kind::Int(i) || *b == Kind::Int(i);
    let t = match (signed(a) || signed(b), a.is_int() || b.is_int()) {
        (true, _) if is(Int::U64) => Type::f64(),
        (true, _) | (_, false) => Type::i64(),
        (false, true) => Type::int_of(Int::U64),
    };
    (t, t)
}

/// What two numbers become where one operation is done on both; none where it takes them as they are.
fn operands_of_two(op: OpId, a: Type, b: Type) -> Option<(Type, Type)> {
    // Numba has no half floats that compute; they keep to NumPy's rules.
    if [a, b].contains(&Type::float_of(Float::F16)) {
        return None;
    }
    Some(match op {
        id::ADD | id::SUB | id::MUL | id::TRUEDIV | id::FLOORDIV | id::MOD => arithmetic(a, b),
        id::BUILTINS_DIVMOD => divided(a, b),
        id::LSHIFT | id::RSHIFT if a.is_index() && b.is_index() => arithmetic(a, b),
        id::AND | id::OR | id::XOR if a.is_int() && b.is_index() || a.is_index() && b.is_int() => {
            arithmetic(a, b)
        }
        // Integers are compared as what they are.
        id::EQ | id::NE | id::LT | id::LE | id::GT | id::GE if !(a.is_index() && b.is_index()) => {
            arithmetic(a, b)
        }
        _ => return None,
    })
}

/// What all of some numbers become.
fn together(types: &[Type]) -> Option<Type> {
    types.iter().all(|t| t.is_number()).then_some(())?;
    types.iter().copied().reduce(promote::result_type)
}

impl Solver<'_, '_> {
    /// The key of an instance that this function calls.
    pub(super) fn key(&self, func: FuncId, args: Vec<Type>, consts: Vec<Option<Const>>) -> Key {
        Key { func, args, consts, result: None, meaning: self.meaning_of(func) }
    }

    /// What numbers mean in a function that this one calls.
    pub(super) fn meaning_of(&self, func: FuncId) -> Meaning {
        registry::meaning(func).unwrap_or(self.meaning)
    }

    /// What a global of this function means, which may be frozen.
    pub(super) fn global_named(&self, name: &str) -> Option<GlobalValue> {
        let host = self.session.host;
        match self.meaning {
            Meaning::Python => host.global(self.func.host, name),
            Meaning::Numba => host.global_for(self.func.host, name, &self.args),
        }
    }

    /// The same of a captured variable.
    pub(super) fn closed_over(&self, n: u32) -> Option<GlobalValue> {
        let host = self.session.host;
        match self.meaning {
            Meaning::Python => host.free(self.func.host, n),
            Meaning::Numba => host.free_for(self.func.host, n, &self.args),
        }
    }

    /// Whether the numbers of this function are Numba's.
    pub(super) fn has_numba_numbers(&self) -> bool {
        has_own_numbers(self.func, self.meaning)
    }

    /// The type of what an instruction gives.
    pub(super) fn as_meant(&mut self, i: Inst, given: Type) -> Type {
        if !self.has_numba_numbers() {
            return given;
        }
        let ty = value(given);
        if ty == given {
            self.out.given.remove(&i);
        } else {
            self.out.given.insert(i, given);
        }
        ty
    }

    /// The first row of an operation that takes what Numba makes of these operands.
    pub(super) fn numba_rows(
        &mut self,
        i: Inst,
        op: OpId,
        mut operands: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        if named.is_empty()
            && let Some(typed) = self.without_errors(i, op, &operands)
        {
            return typed;
        }
        // A member that is left out is the number that it comes to.
        if let id::SLICE_START | id::SLICE_STOP | id::SLICE_STEP = op {
            let name = match op {
                id::SLICE_START => "as_numba.slice_start",
                id::SLICE_STOP => "as_numba.slice_stop",
                _ => "as_numba.slice_step",
            };
            return self.call_library(i, name, operands);
        }
        if op == id::SETITEM
            && let Some(of) = operands.first()
            && let of = self.source_arg(of)?.ty
            && of.as_array().is_some_and(|a| a.access == Access::Read)
        {
            let text = format!("Cannot modify readonly array of type: {of}");
            return Err(Diagnostic::new(Code::NoMatchingOperation, text)
                .help("copy it first; global arrays are constants of what numba decorates"));
        }
        if op == id::BUILTINS_ISINSTANCE
            && let [x, classes] = &operands[..]
            && let of = self.source_arg(x)?.ty
            && shown(of) != of
            && promote::same_but_weak(of, shown(of))
        {
            // Those of 64 bits are of Python's classes, and of NumPy's too.
            let python = vec![converted(x.clone(), shown(of)), classes.clone()];
            let typed = self.rows_as_given(i, op, python, named.clone())?;
            return match typed.1 {
                Some(Const::Bool(true)) => Ok(typed),
                _ => self.rows_as_given(i, op, operands, named),
            };
        }
        if looks_up(op)
            && let Some(held) = self.as_held(op, &operands)?
        {
            operands = held;
        }
        self.as_numba_operands(op, &mut operands, named.is_empty())?;
        let types: Vec<Type> = self.source_args(&operands)?.iter().map(|a| a.ty).collect();
        let (mut asked, given) = (vec![], operands.clone());
        if op.is_elementwise() && named.is_empty() {
            asked = self.as_one_kind(op, &mut operands, &types);
        }
        let alone = named.is_empty();
        if let (id::NUMPY_VAR | id::ARRAY_VAR | id::NUMPY_STD | id::ARRAY_STD, [of], true) =
            (op, &types[..], alone)
            && let Some(NumberType::Float(Float::F32) | NumberType::Complex(Float::F32)) =
                element(*of).number()
        {
            if element(*of).is_complex() {
                let var = matches!(op, id::NUMPY_VAR | id::ARRAY_VAR);
                return self.call_library(i, if var { "as_numba.var" } else { "as_numba.std" }, given);
            }
            asked.push(as_dtype(Type::f64()));
        }
        if let (Some(name), [of, q], true) = (quantile(op), &types[..], alone)
            && of.as_array().is_some()
            && (element(*of) != Type::f64() || element(*q).is_index())
        {
            return self.call_library(i, name, given);
        }
        // What has no such loop (`np.ldexp`) has its own.
        let all = named.iter().cloned().chain(asked).collect();
        let typed = self.rows_as_given(i, op, operands, all);
        let typed = typed.or_else(|_| self.rows_as_given(i, op, given.clone(), named.clone()));
        let typed = typed.or_else(|e| match self.as_held(op, &given)? {
            Some(held) => self.rows_as_given(i, op, held, named),
            None => Err(e),
        })?;
        if let (id::NUMPY_CLIP | id::ARRAY_CLIP, [a, _, _]) = (op, &types[..])
            && element(typed.0) != element(*a)
            && typed.0.as_array().is_some()
            && alone
        {
            return self.call_library(i, "as_numba.clip", given);
        }
        if let id::NUMPY_MEDIAN | id::NUMPY_NANMEDIAN = op
            && typed.0 == Type::float_of(Float::F32)
        {
            return Ok(self.result_as(i, typed, Type::f64()));
        }
        Ok(self.in_width_of(i, op, &types, typed))
    }

    /// What has another meaning than Python's altogether: functions of `math` and powers raise nothing, but give
    /// infinities and NaN; conversions to integers and rounding give what the processor makes of any number.
    fn without_errors(&mut self, i: Inst, op: OpId, operands: &[Source]) -> Option<Typed> {
        let types: Vec<Type> = self.source_args(operands).ok()?.iter().map(|a| a.ty).collect();
        if !types.iter().all(|t| t.is_number()) {
            return None;
        }
        if let [x] = types[..] {
            if op == id::RANDOM_SEED && x.is_index() {
                return Some(self.rows_as_given(i, id::RANDOM_SEED_AS_NUMBA, operands.to_vec(), vec![]));
            }
            if let Some(to) = kept(op, x) {
                let whole = converted(operands[0].clone(), to);
                let konst = self.source_arg(&whole).ok()?.konst;
                self.out.resolved.insert(i, Resolved::Same(whole));
                return Some(Ok((to, konst, false)));
            }
            if let Some((inner, to)) = in_two_steps(op, x) {
                let typed = self.rows_as_given(i, inner, operands.to_vec(), vec![]);
                return Some(typed.map(|typed| self.result_as(i, typed, to)));
            }
        }
        if types.iter().all(|t| t.is_real())
            && let Some(quiet) = quiet(op)
        {
            if op == id::MATH_LDEXP {
                return Some(self.rows_as_given(i, quiet, operands.to_vec(), vec![]));
            }
            let narrow = Type::float_of(Float::F32);
            let t = if types.iter().all(|t| *t == narrow) { narrow } else { Type::f64() };
            let operands = operands.iter().map(|x| converted(x.clone(), t)).collect();
            let typed = self.rows_as_given(i, quiet, operands, vec![]);
            return Some(typed.map(|typed| self.result_as(i, typed, t)));
        }
        if let Some(name) = op.name().strip_prefix("cmath.")
            && let Some(typed) = self.quiet_complex(i, name, operands, &types)
        {
            return Some(typed);
        }
        if let (id::LSHIFT | id::RSHIFT, [a, b]) = (op, &types[..])
            && a.is_index()
            && b.is_index()
            && !self.session.checks_overflow(self.func, types.iter().copied())
        {
            let modulo = if op == id::LSHIFT { id::LSHIFT_AS_NUMBA } else { id::RSHIFT_AS_NUMBA };
            let (to, over) = arithmetic(*a, *b);
            let operands = vec![converted(operands[0].clone(), to), converted(operands[1].clone(), over)];
            return Some(self.rows_as_given(i, modulo, operands, vec![]));
        }
        let ([base, exponent], id::POW | id::BUILTINS_POW, [a, b]) = (operands, op, &types[..]) else {
            return None;
        };
        let (to, over) = power(*a, *b);
        let (base, exponent) = (converted(base.clone(), to), converted(exponent.clone(), over));
        if !to.is_index() {
            return Some(self.rows_as_given(i, id::NUMPY_POWER, vec![base, exponent], vec![]));
        }
        let known = self.source_arg(&exponent).ok()?.int();
        if over != Type::i64() || known.is_some_and(|n| n >= 0) {
            return Some(self.rows_as_given(i, id::POW, vec![base, exponent], vec![]));
        }
        let operands = vec![converted(base, Type::i64()), exponent];
        Some(self.call_library(i, "builtin.int_power", operands))
    }

    /// A function of `cmath` by one that raises nothing.
    fn quiet_complex(&mut self, i: Inst, name: &str, operands: &[Source], types: &[Type]) -> Option<Typed> {
        match (name, types) {
            ("log", [_, _]) => Some(self.call_library(i, "as_numba.log", operands.to_vec())),
            ("log10", [_]) => Some(self.call_library(i, "as_numba.log10", operands.to_vec())),
            ("rect", [r, phi]) if r.is_real() && phi.is_real() => {
                Some(self.call_library(i, "as_numba.rect", operands.to_vec()))
            }
            (_, [x]) => {
                let quiet = OpId::find(&format!("numpy.{}", in_numpy(name)?))?;
                let narrow = Type::new(Kind::Complex(if let "log10" | "acosh" = name {
                    Float::F64
                } else {
                    Float::F32
                }));
                let t = inexact(*x, narrow);
                Some(self.rows_as_given(i, quiet, vec![converted(operands[0].clone(), t)], vec![]))
            }
            _ => None,
        }
    }

    fn call_library(&mut self, i: Inst, name: &str, operands: Vec<Source>) -> Typed {
        let func = self.session.host.library(name)?;
        self.call_function(i, func, operands, true)
    }

    /// What an instruction gives as a value of another type.
    fn result_as(
        &mut self,
        i: Inst,
        typed: (Type, Option<Const>, bool),
        to: Type,
    ) -> (Type, Option<Const>, bool) {
        if typed.0 == to {
            return typed;
        }
        let how = self.out.resolved.remove(&i).unwrap_or(Resolved::Nothing);
        self.out.resolved.insert(i, Resolved::As(Box::new(how), typed.0));
        (to, None, typed.2)
    }

    /// A function of `math` gives a float32 for these.
    fn in_width_of(
        &mut self,
        i: Inst,
        op: OpId,
        operands: &[Type],
        typed: (Type, Option<Const>, bool),
    ) -> (Type, Option<Const>, bool) {
        let narrow = Type::float_of(Float::F32);
        let is_narrow = typed.0.is_float()
            && typed.0.strong() != narrow
            && op.name().starts_with("math.")
            && !operands.is_empty()
            && operands.iter().all(|t| *t == narrow);
        if is_narrow { self.result_as(i, typed, narrow) } else { typed }
    }

    /// Where integers meet floats or complex numbers in a universal function they have no say in the type: those
    /// that are no arrays become one of the others, for arrays the loop is asked for.
    /// Small integers are divided as float32.
    fn as_one_kind(&mut self, op: OpId, operands: &mut [Source], types: &[Type]) -> Vec<(Arc<str>, Source)> {
        let types = &types[..types.len().min(2)];
        let divides = match op {
            id::TRUEDIV => types.iter().any(|t| t.as_array().is_some()),
            id::NUMPY_DIVIDE | id::NUMPY_TRUE_DIVIDE => true,
            _ => false,
        };
        if divides && types.iter().all(|t| element(*t).is_index() && is_exact_in_float32(element(*t))) {
            return vec![as_dtype(Type::float_of(Float::F32))];
        }
        if types.iter().all(|t| *element(*t) == Kind::Bool) && has_no_loop_for_bools(op) {
            return vec![as_dtype(Type::int_of(Int::I8))];
        }
        let is_int = |t: &Type| element(*t).is_int();
        let others = || types.iter().filter(|t| element(**t).is_float() || element(**t).is_complex());
        if !types.iter().any(is_int) {
            return vec![];
        }
        let Some(t) = others().map(|t| element(*t)).reduce(promote::result_type) else { return vec![] };
        let mut arrays = false;
        for (operand, of) in operands.iter_mut().zip(types).filter(|(_, t)| is_int(t)) {
            if of.is_number() {
                *operand = converted(operand.clone(), t);
            } else {
                arrays = true;
            }
        }
        if arrays { vec![as_dtype(t)] } else { vec![] }
    }

    /// Operands of what stores in a container, or looks into it, as numbers of the types that it holds: Numba
    /// converts integers to integers of any width. None where that changes nothing.
    fn as_held(&mut self, op: OpId, operands: &[Source]) -> Result<Option<Vec<Source>>> {
        let Some(of) = operands.first() else { return Ok(None) };
        let of = self.source_arg(of)?.ty;
        let of = self.session.resolve(of);
        let (mut all, mut other) = (operands.to_vec(), false);
        for (k, held) in held_by(op, of) {
            let Some(given) = operands.get(k) else { continue };
            let ty = self.source_arg(given)?.ty;
            let to = match ty.members() {
                Some(m) if op == id::LIST_EXTEND && m.iter().all(|t| is_held_as(*t, held)) => {
                    Type::tuple(vec![held; m.len()])
                }
                _ if is_held_as(ty, held) => held,
                _ => continue,
            };
            if to != ty {
                all[k] = converted(given.clone(), to);
                other = true;
            }
        }
        Ok(other.then_some(all))
    }

    /// What is assigned to a number in native memory becomes a number of that type.
    pub(super) fn as_numba_field(
        &mut self,
        class: &ClassDef,
        of: Type,
        k: usize,
        value: &Source,
    ) -> Result<Source> {
        let given = self.source_arg(value)?.ty;
        let field = object::field(of, k).filter(|f| f.is_number() && given.is_number());
        let field = field.filter(|f| self.has_numba_numbers() && class.is_native() && *f != given);
        Ok(field.map_or(value.clone(), |f| converted(value.clone(), f)))
    }

    /// Has operands be what Numba makes of them before it looks for an operation.
    fn as_numba_operands(&mut self, op: OpId, operands: &mut Vec<Source>, alone: bool) -> Result<()> {
        let types: Vec<Type> = self.source_args(operands)?.iter().map(|a| a.ty).collect();
        if op == id::BUILTINS_SUM && operands.len() == 1 && alone {
            operands.push(converted(Source::Const(Const::Int(0)), Type::i64()));
            return Ok(());
        }
        let new: Vec<Type> = match op {
            id::BUILTINS_PRINT
            | id::BUILTINS_STR
            | id::BUILTINS_REPR
            | id::BUILTINS_FORMAT
            | id::STR_FORMAT
            | id::FORMAT_KEYED
            | id::FORMAT_CONVERTED
            | id::FORMAT_LAID_OUT => types.iter().map(|t| shown(*t)).collect(),
            id::BUILTINS_MIN | id::BUILTINS_MAX | id::LIST_BUILD if types.len() > 1 => {
                together(&types).map_or(types.clone(), |t| vec![t; types.len()])
            }
            // Bounds are converted to what they are for.
            id::NUMPY_CLIP | id::ARRAY_CLIP if types.first().is_some_and(|t| t.as_array().is_some()) => {
                types.iter().map(|t| shown(*t)).collect()
            }
            id::NUMPY_SINC if types[..] == [Type::float_of(Float::F32)] => vec![Type::f64()],
            id::NUMPY_SINC if types[..] == [Type::new(Kind::Complex(Float::F32))] => {
                vec![Type::complex().strong()]
            }
            id::BUILTINS_TYPE if types.len() == 1 && promote::same_but_weak(types[0], shown(types[0])) => {
                vec![shown(types[0])]
            }
            id::NEG | id::POS if types.len() == 1 && types[0].is_index() => vec![machine_int(types[0])],
            id::INVERT | id::INV if types.len() == 1 && types[0].is_int() => vec![machine_int(types[0])],
            id::BUILTINS_ROUND if types.len() == 2 && types[0].is_index() => {
                vec![inexact(types[0], Type::float_of(Float::F32)), types[1]]
            }
            _ => match types[..] {
                [a, b] if a.is_number() && b.is_number() => {
                    operands_of_two(op, a, b).map_or(types.clone(), |(a, b)| vec![a, b])
                }
                _ => return Ok(()),
            },
        };
        for ((operand, ty), new) in operands.iter_mut().zip(types).zip(new) {
            if ty != new {
                *operand = converted(operand.clone(), new);
            }
        }
        Ok(())
    }
}

fn converted(of: Source, to: Type) -> Source {
    Source::As(Box::new(of), to)
}

fn as_dtype(t: Type) -> (Arc<str>, Source) {
    ("dtype".into(), Source::Global(GlobalValue::DType(t)))
}

/// Which operands of an operation on a container are what it holds.
fn held_by(op: OpId, of: Type) -> Vec<(usize, Type)> {
    if let Kind::List(held) = *of {
        return match op {
            id::LIST_APPEND | id::LIST_EXTEND => vec![(1, held)],
            id::LIST_INSERT | id::SETITEM => vec![(2, held)],
            _ => vec![],
        };
    }
    match of.container() {
        Some((Container::Dict, [key, value])) => match op {
            id::SETITEM | id::DICT_SETDEFAULT | id::DICT_GET | id::DICT_POP => vec![(1, *key), (2, *value)],
            id::GETITEM | id::DELITEM | id::CONTAINS => vec![(1, *key)],
            _ => vec![],
        },
        Some((Container::Set, [held])) => match op {
            id::SET_ADD | id::SET_DISCARD | id::SET_REMOVE | id::CONTAINS => vec![(1, *held)],
            _ => vec![],
        },
        _ => vec![],
    }
}

/// Whether an operation on a dict or a set looks for a key: it is converted whether or not the key could be
/// compared as it is.
fn looks_up(op: OpId) -> bool {
    use id::{CONTAINS, DELITEM, DICT_GET, DICT_POP, GETITEM, SET_DISCARD, SET_REMOVE};
    matches!(op, GETITEM | DELITEM | CONTAINS | DICT_GET | DICT_POP | SET_DISCARD | SET_REMOVE)
}

/// The function of the library that has elements and fractions as float64.
fn quantile(op: OpId) -> Option<&'static str> {
    match op {
        id::NUMPY_QUANTILE => Some("as_numba.quantile"),
        id::NUMPY_NANQUANTILE => Some("as_numba.nanquantile"),
        id::NUMPY_PERCENTILE => Some("as_numba.percentile"),
        id::NUMPY_NANPERCENTILE => Some("as_numba.nanpercentile"),
        _ => None,
    }
}

/// Whether Numba stores a number of one type as one of another: of one kind, or of a wider one.
fn is_held_as(given: Type, held: Type) -> bool {
    match held.number() {
        Some(NumberType::Int(_)) => given.is_index(),
        Some(NumberType::Float(_)) => given.is_real(),
        Some(NumberType::Complex(_)) => given.is_number(),
        Some(NumberType::Bool) | None => false,
    }
}

/// Whether a universal function takes bools as integers of 8 bits, since it has no loop for them.
fn has_no_loop_for_bools(op: OpId) -> bool {
    use id::{NEG, NUMPY_NEGATIVE, NUMPY_POSITIVE, NUMPY_SIGN, NUMPY_SUBTRACT, POS, SUB};
    matches!(op, NEG | NUMPY_NEGATIVE | POS | NUMPY_POSITIVE | SUB | NUMPY_SUBTRACT | NUMPY_SIGN)
}

/// Whether a float32 has all values of an integer.
fn is_exact_in_float32(t: Type) -> bool {
    !matches!(*t, Kind::Int(i) if i.bits() > 16)
}

/// The type of an array's elements, or of a number.
fn element(t: Type) -> Type {
    t.as_array().map_or(t, |a| a.dtype)
}

/// What a number becomes where that is all there is to it.
fn kept(op: OpId, of: Type) -> Option<Type> {
    match (op, of.kind()) {
        (id::BUILTINS_INT, Kind::Int(_)) | (id::BUILTINS_FLOAT, Kind::Float(Float::F32)) => Some(of),
        (id::BUILTINS_COMPLEX, Kind::Float(Float::F32)) => Some(Type::new(Kind::Complex(Float::F32))),
        (id::BUILTINS_INT, Kind::Float(_)) | (id::BUILTINS_ROUND, Kind::Bool | Kind::Int(_)) => {
            Some(Type::i64())
        }
        (id::MATH_FLOOR | id::MATH_CEIL | id::MATH_TRUNC, Kind::Bool | Kind::Int(_)) => Some(machine_int(of)),
        _ => None,
    }
}

/// What is done first, and what its result becomes.
fn in_two_steps(op: OpId, of: Type) -> Option<(OpId, Type)> {
    match op {
        id::BUILTINS_ROUND if of.is_float() => Some((id::NUMPY_RINT, Type::i64())),
        id::MATH_FLOOR if of.is_float() => Some((id::NUMPY_FLOOR, Type::i64())),
        id::MATH_CEIL if of.is_float() => Some((id::NUMPY_CEIL, Type::i64())),
        id::MATH_TRUNC if of.is_float() => Some((id::NUMPY_TRUNC, Type::i64())),
        // In their own width: the other bits stay zeros.
        id::NEG | id::INVERT | id::INV if is_unsigned(of) => Some((op, Type::int_of(Int::U64))),
        _ => None,
    }
}

/// What does what a function of `math` does, and raises nothing: NumPy's function, or a row of its own. Those
/// that raise nothing themselves are left alone.
fn quiet(op: OpId) -> Option<OpId> {
    let name = match op.name().strip_prefix("math.")? {
        "gamma" => return Some(id::GAMMA_AS_NUMBA),
        "lgamma" => return Some(id::LGAMMA_AS_NUMBA),
        "atan" | "tanh" | "asinh" => return None,
        "pow" => "power",
        name @ ("ldexp" | "exp2" | "expm1" | "log2" | "log1p") => name,
        name => in_numpy(name)?,
    };
    OpId::find(&format!("numpy.{name}"))
}

/// NumPy's name for a function that `math` and `cmath` have.
fn in_numpy(name: &str) -> Option<&str> {
    Some(match name {
        "sqrt" | "exp" | "log" | "log10" | "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh" => name,
        "asin" => "arcsin",
        "acos" => "arccos",
        "atan" => "arctan",
        "asinh" => "arcsinh",
        "acosh" => "arccosh",
        "atanh" => "arctanh",
        _ => return None,
    })
}
