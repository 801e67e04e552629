//! Rules between types: what holds two values that meet ([`unify`]), what arithmetic on two numbers gives
//! ([`arith`], [`result_type`]).

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "rules are for numbers and alternatives: any other type is taken as it is"
)]

use super::constructor::{Variance, common_constructor};
use super::{Container, Float, Int, IterType, Kind, Type, object};

/// How arguments of one constructor meet: by the variance of the argument.
type Meet<'a> = &'a mut dyn FnMut(Variance, Type, Type) -> Option<Type>;

/// The type that holds values of both, or none. Variables are the business of inference and only unify when
/// equal here.
pub fn unify(a: Type, b: Type) -> Option<Type> {
    unify_with(a, b, &mut meet)
}

fn meet(variance: Variance, x: Type, y: Type) -> Option<Type> {
    match variance {
        Variance::Covariant => unify(x, y),
        Variance::Invariant => same_but_weak(x, y).then(|| unify(x, y)).flatten(),
    }
}

/// [`unify`] that asks `meet` about the arguments of constructors.
pub(crate) fn unify_with(a: Type, b: Type, meet: Meet<'_>) -> Option<Type> {
    if a == b {
        return Some(a);
    }
    // Objects that lie alike are of one type, also where their fields lead back to it.
    if let (Kind::Object(..), Kind::Object(..)) = (a.kind(), b.kind())
        && same_but_weak(a, b)
    {
        return Some(a);
    }
    let (same, inner) = (common_constructor(a, b), Variance::Covariant);
    Some(match (a.kind(), b.kind()) {
        (Kind::Never, _) => b,
        (_, Kind::Never) => a,
        _ if let Some(of) = same => object::closed(of.with_arguments(&unify_all(a, b, meet)?)),
        (Kind::Undef, Kind::MaybeUndef(_)) => b,
        (Kind::MaybeUndef(_), Kind::Undef) => a,
        (Kind::Undef, _) => Type::new(Kind::MaybeUndef(b)),
        (_, Kind::Undef) => Type::new(Kind::MaybeUndef(a)),
        (Kind::MaybeUndef(x), _) => Type::new(Kind::MaybeUndef(meet(inner, *x, b)?)),
        (_, Kind::MaybeUndef(y)) => Type::new(Kind::MaybeUndef(meet(inner, a, *y)?)),
        (Kind::Conflict(..), _) | (_, Kind::Conflict(..)) => return None,
        (Kind::None, _) => Type::optional(b),
        (_, Kind::None) => Type::optional(a),
        (Kind::Optional(x), _) => Type::optional(meet(inner, *x, b)?),
        (_, Kind::Optional(y)) => Type::optional(meet(inner, a, *y)?),
        _ if a.is_number() && b.is_number() => merge_numbers(a, b),
        // A member of an `IntEnum` among numbers is its number.
        (Kind::Member(_), _) if is_beneath(a, b) => meet(inner, a.beneath_member(), b)?,
        (_, Kind::Member(_)) if is_beneath(b, a) => meet(inner, a, b.beneath_member())?,
        _ if is_any_tuple(a) && is_any_tuple(b) => tuple_of_any_length(a, b, meet)?,
        _ if is_alternative(a) && is_alternative(b) => alternatives(a, b, meet),
        // A stream of vectors ends with single numbers.
        _ if has_vector(a) && is_laned(b) || is_laned(a) && has_vector(b) => vectors_and_number(a, b),
        // A value of one of several types meets one that it may be.
        (Kind::Variant(m), _) if is_among(m, b) => a,
        (_, Kind::Variant(m)) if is_among(m, a) => b,
        // What an exception carries is one of Python's numbers, and none of the others.
        (Kind::Variant(m), _) if has_whole(m, b) => alternatives(a, b, meet),
        (_, Kind::Variant(m)) if has_whole(m, a) => alternatives(a, b, meet),
        // An eigenvalue, which is real or complex, meets another number: one type of number holds both. An
        // array meets arrays of which it is one.
        (Kind::Variant(m), _) if b.is_number() && m.iter().all(|t| t.is_number()) => {
            m.iter().fold(b, |sum, t| merge_numbers(*t, sum))
        }
        (_, Kind::Variant(m)) if a.is_number() && m.iter().all(|t| t.is_number()) => {
            m.iter().fold(a, |sum, t| merge_numbers(sum, *t))
        }
        (Kind::Variant(m), Kind::Array(_)) if m.iter().any(|t| same_elements(*t, b)) => {
            alternatives(a, b, meet)
        }
        (Kind::Array(_), Kind::Variant(m)) if m.iter().any(|t| same_elements(*t, a)) => {
            alternatives(a, b, meet)
        }
        // A mark stands where there is no value of the other type.
        _ if may_be_mark(a) || may_be_mark(b) => alternatives(a, b, meet),
        // A special method gives an answer, or NotImplemented.
        _ if may_be_builtin(a) || may_be_builtin(b) => alternatives(a, b, meet),
        _ => return None,
    })
}

/// Whether a member of an enumeration is a value of the other type's sort beside.
fn is_beneath(member: Type, other: Type) -> bool {
    let base = member.beneath_member();
    base != member
        && other.beneath_member() == other
        && (base.is_number() && other.is_number() || base == other)
}

/// Whether values are plain tuples, of a length that the type says or not.
fn is_any_tuple(t: Type) -> bool {
    matches!(t.kind(), Kind::Tuple(_) | Kind::Container(Container::Tuple, _))
}

/// Tuples of different lengths meet: only the run knows how many members there are, and all of these are of one
/// type, since none is converted where nobody can see it.
fn tuple_of_any_length(a: Type, b: Type, meet: Meet<'_>) -> Option<Type> {
    let mut all = a.arguments().iter().chain(b.arguments().iter());
    // What is never there says nothing of what the members are: the empty tuple has none.
    let first = all.next()?;
    all.try_fold(first, |t, x| meet(Variance::Invariant, t, x)).map(Type::tuple_of)
}

/// Whether a value of one type becomes one of another by making a tuple of any length of one whose length its
/// type says: an object of its own.
pub(crate) fn makes_tuple(from: Type, to: Type) -> bool {
    if from == to {
        return false;
    }
    match (from.kind(), to.kind()) {
        (Kind::Tuple(_), Kind::Container(Container::Tuple, _)) => true,
        (Kind::Optional(x), Kind::Optional(y)) | (Kind::MaybeUndef(x), Kind::MaybeUndef(y)) => {
            makes_tuple(*x, *y)
        }
        (_, Kind::Optional(y) | Kind::MaybeUndef(y)) => makes_tuple(from, *y),
        (Kind::Optional(x), _) => makes_tuple(*x, to),
        (Kind::Variant(all), Kind::Variant(_)) => all.iter().any(|t| makes_tuple(*t, to)),
        (_, Kind::Variant(all)) => {
            !all.contains(&from) && all.iter().any(|t| is_alternative_for(*t, from) && makes_tuple(from, *t))
        }
        // What lies in containers is never converted there.
        _ if from.arguments().variance == Variance::Invariant => false,
        _ => match (from.arguments(), to.arguments()) {
            (x, y) if common_constructor(from, to).is_some() => {
                x.iter().zip(y.iter()).any(|(x, y)| makes_tuple(x, y))
            }
            _ => false,
        },
    }
}

/// Whether a value is a vector, or may be.
fn has_vector(t: Type) -> bool {
    match t.kind() {
        Kind::Simd(..) => true,
        Kind::Variant(m) => m.iter().any(|t| has_vector(*t)) && is_laned(t),
        _ => false,
    }
}

/// Whether a value is a real number, a vector, or one of these.
fn is_laned(t: Type) -> bool {
    match t.kind() {
        Kind::Simd(..) => true,
        Kind::Variant(m) => m.iter().all(|t| is_laned(*t)),
        _ => t.is_number() && !t.is_complex(),
    }
}

/// One of several vectors, or a number, of which there is one type.
fn vectors_and_number(a: Type, b: Type) -> Type {
    let (mut all, mut number, mut none) = (vec![], Type::never(), false);
    let mut both = vec![];
    flatten(a, &mut both, &mut none);
    flatten(b, &mut both, &mut none);
    for t in both {
        if !t.is_number() {
            add_alternative(&mut all, t, &mut meet);
        } else if *number == Kind::Never {
            number = t;
        } else {
            number = merge_numbers(number, t);
        }
    }
    if *number != Kind::Never {
        add_alternative(&mut all, number, &mut meet);
    }
    if all.len() == 1 { all[0] } else { Type::new(Kind::Variant(all)) }
}

/// Whether a value is a mark, or may be.
fn may_be_mark(t: Type) -> bool {
    match t.kind() {
        Kind::Member(c) => c.is_mark(),
        Kind::Variant(m) => m.iter().any(|t| may_be_mark(*t)),
        _ => false,
    }
}

/// Whether a value is something that the language itself has a name for, or may be.
fn may_be_builtin(t: Type) -> bool {
    match t.kind() {
        Kind::Builtin(_) => true,
        Kind::Variant(m) => m.iter().any(|t| may_be_builtin(*t)),
        _ => false,
    }
}

/// The arguments of two types of one constructor, each with its counterpart.
fn unify_all(a: Type, b: Type, meet: Meet<'_>) -> Option<Vec<Type>> {
    let variance = a.arguments().variance;
    if let (Some(x), Some(y)) = (object::fields(a), object::fields(b)) {
        return x.iter().zip(y).map(|(p, q)| meet(variance, *p, *q)).collect();
    }
    let both = a.arguments().iter().zip(b.arguments().iter()).enumerate();
    both.map(|(k, (p, q))| if p != q && forgets(a, k) { Some(Type::none()) } else { meet(variance, p, q) })
        .collect()
}

/// The field of classes of the library whose type says more than its value, of which nothing is known any more where
/// two types of it meet: the groups of a pattern.
const FORGOTTEN: &str = "_tierup_shape_";

/// Whether an argument of a type is that of such a field; `None` stands for what is not known.
pub fn forgets(t: Type, argument: usize) -> bool {
    if let Kind::Frozen(c, _) = t.kind() {
        c.fields.get(argument).is_some_and(|f| f == FORGOTTEN)
    } else {
        false
    }
}

/// Whether values of the type meet others of their sort in a variable: functions and classes of all kinds,
/// generators, variants.
fn is_alternative(t: Type) -> bool {
    matches!(
        t.kind(),
        Kind::Function(_)
            | Kind::Builtin(_)
            | Kind::Method(..)
            | Kind::DType(_)
            | Kind::NamedTupleClass(_)
            | Kind::ExcClass(_)
            | Kind::Class(_)
            | Kind::Generator(..)
            | Kind::Frozen(..)
            | Kind::Object(..)
            | Kind::Member(_)
            | Kind::Variant(_)
    )
}

/// Whether several scalars of Python's stand apart, whole numbers among them, and what they meet is one of these or
/// another number beside numbers. Of NumPy's numbers one type holds all.
fn has_whole(m: &[Type], meets: Type) -> bool {
    let numbers = meets.is_number() && m.iter().all(|t| t.is_number());
    are_whole(m) && (numbers || m.contains(&meets))
}

fn are_whole(m: &[Type]) -> bool {
    let of_python = |t: &Type| t.is_weak() || matches!(**t, Kind::Bool | Kind::Str);
    m.iter().all(of_python) && m.iter().any(|t| t.is_int())
}

/// Whether several numbers of Python's stand apart: those that exceptions carry, and what is computed of them.
pub(crate) fn are_numbers_apart(t: Type) -> bool {
    if let Kind::Variant(m) = t.kind() { are_whole(m) && m.iter().all(|t| t.is_number()) } else { false }
}

/// Whether a type is one of several that are told apart. (An eigenvalue is a number among others.)
fn is_among(m: &[Type], t: Type) -> bool {
    m.contains(&t) && m.iter().any(|t| t.is_weak() || !t.is_number())
}

/// Whether two types are arrays that differ in their layout at most.
fn same_elements(a: Type, b: Type) -> bool {
    matches!((a.kind(), b.kind()), (Kind::Array(x), Kind::Array(y)) if x.dtype == y.dtype && x.ndim == y.ndim)
}

/// Whether values of the type are one of several numbers or arrays, or methods or iterators of them: what
/// `np.linalg.eig` gives for a real matrix.
pub(crate) fn is_numeric_variant(t: Type) -> bool {
    fn numeric(t: Type) -> bool {
        match *t {
            Kind::Array(_) => true,
            Kind::Method(_, of) | Kind::Iter(IterType::Array(of)) => numeric(of),
            // A method that the program has overloads of.
            Kind::Function(ref f) if f.bound => f.captures.first().is_some_and(|of| numeric(*of)),
            _ => t.is_number(),
        }
    }
    if let Kind::Variant(m) = t.kind() { m.iter().all(|t| numeric(*t)) } else { false }
}

fn alternatives(a: Type, b: Type, meet: Meet<'_>) -> Type {
    let mut all = if let Kind::Variant(m) = a.kind() { m.clone() } else { vec![a] };
    if let Kind::Variant(m) = b.kind() {
        m.iter().for_each(|t| add_alternative(&mut all, *t, meet))
    } else {
        add_alternative(&mut all, b, meet)
    }
    if all.len() == 1 { all[0] } else { Type::new(Kind::Variant(all)) }
}

/// Adds a type to those of a variant, in their order. A function that captures other types than before stays
/// one alternative.
fn add_alternative(all: &mut Vec<Type>, t: Type, meet: Meet<'_>) {
    let order = |t: Type| match t.kind() {
        Kind::Function(f) => (0, f.func.0 as u64, String::new()),
        Kind::Generator(n, _) => (1, *n as u64, String::new()),
        // What is known of the fields may change, the class not.
        Kind::Object(c, _) => (2, 0, c.name.clone()),
        _ => (2, 0, t.to_string()),
    };
    if all.contains(&t) {
        return;
    }
    for x in all.iter_mut() {
        let same = match (x.kind(), t.kind()) {
            (Kind::Function(f), Kind::Function(g)) => f.func == g.func,
            (Kind::Generator(i, _), Kind::Generator(j, _)) => i == j,
            (Kind::Object(c, _), Kind::Object(d, _)) => c == d,
            (Kind::List(_) | Kind::Container(..), _) => common_constructor(*x, t).is_some(),
            _ => same_elements(*x, t),
        };
        if same && let Some(u) = unify_with(*x, t, meet) {
            *x = u;
            return;
        }
    }
    let key = order(t);
    let at = all.iter().position(|x| order(*x) > key).unwrap_or(all.len());
    all.insert(at, t);
}

/// The type of values of any of these types; with None among them an optional one.
pub(crate) fn one_of(types: &[Type]) -> Type {
    let (mut flat, mut none) = (vec![], false);
    for t in types {
        flatten(*t, &mut flat, &mut none);
    }
    let mut all: Vec<Type> = vec![];
    for t in flat {
        add_alternative(&mut all, t, &mut meet);
    }
    let one = match all.as_slice() {
        [] => return if none { Type::none() } else { Type::never() },
        [t] => *t,
        _ => Type::new(Kind::Variant(all)),
    };
    if none { Type::optional(one) } else { one }
}

/// Takes optional types and variants apart.
pub(crate) fn flatten(t: Type, out: &mut Vec<Type>, none: &mut bool) {
    match t.kind() {
        Kind::None => *none = true,
        Kind::Optional(t) => {
            *none = true;
            flatten(*t, out, none);
        }
        Kind::Variant(m) => m.iter().for_each(|t| flatten(*t, out, none)),
        _ => out.push(t),
    }
}

/// Whether a value of type `t` is held by the alternative `x` of a variant.
pub(crate) fn is_alternative_for(x: Type, t: Type) -> bool {
    x == t || unify(x, t) == Some(x)
}

/// Whether two types differ only in that one has Python's numbers where the other has NumPy's of the same
/// width: `[0.5]` and `[v for v in a]`.
pub fn same_but_weak(a: Type, b: Type) -> bool {
    a == b || a.strong_throughout() == b.strong_throughout()
}

/// One variable holds both numbers: the NumPy promotion of the two, weak only when both are. No type has all
/// values of uint64 and of a signed integer: they are uint64, and whoever converts asks [`may_not_fit`], for
/// a float64 would round and a negative number wrap.
fn merge_numbers(a: Type, b: Type) -> Type {
    match (a.kind(), b.kind()) {
        (Kind::Bool, Kind::Int(_)) => b,
        (Kind::Int(_), Kind::Bool) => a,
        // A counter that starts at a literal 0 and is then given narrow integers holds a Python int as well.
        (Kind::Int(Int::Py), Kind::Int(i)) | (Kind::Int(i), Kind::Int(Int::Py)) => {
            if matches!(i, Int::U64 | Int::Big) { Type::int_of(*i) } else { Type::i64() }
        }
        (Kind::Int(Int::Big), Kind::Int(i)) | (Kind::Int(i), Kind::Int(Int::Big)) if *i != Int::Big => {
            Type::int_of(Int::U64)
        }
        (Kind::Int(Int::U64), Kind::Int(_)) => a,
        (Kind::Int(_), Kind::Int(Int::U64)) => b,
        _ => result_type(a, b),
    }
}

/// Whether a value of type `from` may be, or have in it, an integer that the type does not hold which it
/// becomes where it meets others.
pub(crate) fn may_not_fit(from: Type, to: Type) -> bool {
    if from == to {
        return false;
    }
    match (from.kind(), to.kind()) {
        (Kind::Int(x), Kind::Int(y)) => !y.holds(*x),
        (Kind::Optional(x), Kind::Optional(y)) | (Kind::MaybeUndef(x), Kind::MaybeUndef(y)) => {
            may_not_fit(*x, *y)
        }
        (_, Kind::Optional(y) | Kind::MaybeUndef(y)) => may_not_fit(from, *y),
        (Kind::Optional(x), _) => may_not_fit(*x, to),
        (Kind::Variant(m), _) if to.is_number() => m.iter().any(|t| may_not_fit(*t, to)),
        _ => match (from.parts(), to.parts()) {
            (Some(x), Some(y)) => x.iter().zip(y).any(|(x, y)| may_not_fit(*x, *y)),
            _ => false,
        },
    }
}

/// Kind of a number, for "weak takes the width of what it meets when it is of the same or a lower kind".
fn rank(t: Type) -> u8 {
    match *t {
        Kind::Bool => 0,
        Kind::Int(_) => 1,
        Kind::Float(_) => 2,
        _ => 3,
    }
}

/// NumPy 2's `result_type` of two scalar types, weak Python numbers by NEP 50. Both weak gives weak.
pub(crate) fn result_type(a: Type, b: Type) -> Type {
    if a == b {
        return a;
    }
    if a.is_weak() && b.is_weak() {
        let big = rank(a) == rank(b) && *b == Kind::Int(Int::Big);
        return if rank(a) >= rank(b) && !big { a } else { b };
    }
    if a.is_weak() && *b == Kind::Bool || b.is_weak() && *a == Kind::Bool {
        return if a.is_weak() { a } else { b };
    }
    match (a.is_weak(), b.is_weak()) {
        (true, false) => weak_with(a, b),
        (false, true) => weak_with(b, a),
        _ => promote_strong(a, b),
    }
}

fn weak_with(weak: Type, strong: Type) -> Type {
    if rank(weak) <= rank(strong) {
        return strong;
    }
    match (weak.kind(), strong.kind()) {
        // float with an integer array is float64; complex with float32 is complex64.
        (Kind::Complex(_), Kind::Float(Float::F16 | Float::F32)) => Type::new(Kind::Complex(Float::F32)),
        (Kind::Complex(_), _) => Type::new(Kind::Complex(Float::F64)),
        (Kind::Float(_), _) => Type::f64(),
        _ => Type::i64(),
    }
}

fn promote_strong(a: Type, b: Type) -> Type {
    let float_bits_for = |t: Type| match *t {
        // A float with as many digits, which are fewer than its bits.
        Kind::Int(i) => (2 * i.bits()).min(64),
        Kind::Float(f) | Kind::Complex(f) => f.bits(),
        _ => 16,
    };
    let (lo, hi) = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
    let wide = |bits: u32| match bits {
        16 => Float::F16,
        32 => Float::F32,
        _ => Float::F64,
    };
    match (lo.kind(), hi.kind()) {
        (Kind::Bool, _) => hi,
        (Kind::Int(x), Kind::Int(y)) => {
            if x.signed() == y.signed() {
                return Type::int_of(Int::of(x.bits().max(y.bits()), x.signed()));
            }
            let (s, u) = if x.signed() { (x, y) } else { (y, x) };
            if u.bits() == 64 {
                return Type::f64();
            }
            Type::int_of(Int::of(s.bits().max(u.bits() * 2), true))
        }
        (_, Kind::Float(_)) => Type::float_of(wide(float_bits_for(a).max(float_bits_for(b)))),
        (_, _) => Type::new(Kind::Complex(wide(float_bits_for(a).max(float_bits_for(b))))),
    }
}

/// Type of Python-level arithmetic (`+ - * // % ** & | ^`) on two scalars: integers widen to at least 64 bits
/// as in Numba; floats and complex numbers follow NumPy 2.
pub(crate) fn arith(a: Type, b: Type) -> Option<Type> {
    match (a.kind(), b.kind()) {
        (Kind::Bool | Kind::Int(_), Kind::Bool | Kind::Int(_)) => Some(int_arith(a, b)),
        _ if a.is_number() && b.is_number() => Some(result_type(a, b)),
        _ => None,
    }
}

fn int_arith(a: Type, b: Type) -> Type {
    let unsigned = |t: Type| matches!(*t, Kind::Int(i) if !i.signed());
    let plain = |t: Type| matches!(*t, Kind::Bool | Kind::Int(Int::Py));
    let big = |t: Type| *t == Kind::Int(Int::Big);
    let u64_with_weak = |x: Type, y: Type| *x == Kind::Int(Int::U64) && plain(y);
    if plain(a) && plain(b) {
        return Type::int();
    }
    if (big(a) || plain(a)) && (big(b) || plain(b)) {
        return Type::big_int();
    }
    if (unsigned(a) && unsigned(b)) || u64_with_weak(a, b) || u64_with_weak(b, a) {
        return Type::int_of(Int::U64);
    }
    Type::i64()
}

/// Whether a step of an iterator of this type runs a generator, which may raise anything, or goes through a
/// container, which raises where it has changed.
pub(crate) fn runs_generator(t: Type) -> bool {
    if let Kind::Generator(..) = *t {
        return true;
    }
    if !matches!(*t, Kind::Iter(_) | Kind::Variant(_)) {
        return false;
    }
    matches!(t.kind(), Kind::Iter(IterType::Container(c) | IterType::Reversed(c)) if c.container().is_some())
        || t.arguments().iter().any(runs_generator)
}

/// Whether a step of an iterator of this type may raise: code that it runs, or a member of a tuple that is no value of the
/// type of all of them.
pub(crate) fn step_may_raise(t: Type) -> bool {
    if runs_generator(t) {
        return true;
    }
    let Kind::Iter(i) = t.kind() else { return false };
    match i {
        IterType::Tuple(of) | IterType::Reversed(of) if let Some(m) = of.members() => {
            let one = m.iter().try_fold(Type::never(), |a, b| unify(a, *b)).unwrap_or_else(|| one_of(m));
            m.iter().any(|t| may_not_fit(*t, one) || makes_tuple(*t, one))
        }
        IterType::Enumerate(of) => step_may_raise(*of),
        IterType::Zip(of) => of.iter().any(|t| step_may_raise(*t)),
        IterType::Range(_)
        | IterType::Array(_)
        | IterType::List(_)
        | IterType::Tuple(_)
        | IterType::Reversed(_)
        | IterType::Container(_)
        | IterType::Str
        | IterType::Bytes
        | IterType::NdIndex(_)
        | IterType::NdEnumerate(_)
        | IterType::Flat(_) => false,
    }
}

/// The Python number that holds an element.
pub(crate) fn python_number(t: Type) -> Type {
    match *t {
        Kind::Int(Int::U64 | Int::Big) => Type::big_int(),
        Kind::Int(_) => Type::int(),
        Kind::Float(_) => Type::float(),
        Kind::Complex(_) => Type::complex(),
        _ => t,
    }
}

/// Whether a value is of one of several types, None being one of them or not: such a value is looked at by
/// each type.
pub(crate) fn is_variant(t: Type) -> bool {
    match t.kind() {
        Kind::Variant(_) => true,
        Kind::Optional(t) => matches!(**t, Kind::Variant(_)),
        _ => false,
    }
}

/// Whether one is a bool and the other a number that is none, also among the members of tuples and instances, and where
/// they may be None.
pub(crate) fn bool_meets_number(a: Type, b: Type) -> bool {
    let (a, b) = (a.without_none(), b.without_none());
    if let (Some(m), Some(n)) = (a.parts(), b.parts()) {
        return m.len() == n.len() && m.iter().zip(n).any(|(a, b)| bool_meets_number(*a, *b));
    }
    let other = |t: Type| t.is_number() && *t != Kind::Bool;
    *a == Kind::Bool && other(b) || other(a) && *b == Kind::Bool
}

/// Whether among these types is a member of an enumeration and a value of the sort that it is beside: what goes through
/// a tuple of them has each as what it is.
pub(crate) fn members_meet_others(types: &[Type]) -> bool {
    let plain = |t: Type| if let Kind::Optional(t) = *t { t } else { t };
    let meets = |a: Type, b: Type| is_beneath(a, b) || is_beneath(b, a);
    types.iter().enumerate().any(|(k, a)| types[k + 1..].iter().any(|b| meets(plain(*a), plain(*b))))
}

/// Whether among these types is a bool and another number.
pub(crate) fn bools_meet_numbers(types: &[Type]) -> bool {
    types.iter().enumerate().any(|(k, a)| types[k + 1..].iter().any(|b| bool_meets_number(*a, *b)))
}
