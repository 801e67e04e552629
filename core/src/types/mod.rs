//! Types of Python values in compiled code: interned, so equality is pointer equality and a [`Type`] is
//! `Copy`.
//!
//! Scalars have NumPy's widths plus the *weak* Python `int` (64 bits), `float` and `complex`, which take the
//! width of what they meet (NEP 50). [`constructor`] says which types stand inside a type, [`promote`] holds
//! the rules between types, [`leaves`] how a type becomes machine values.

pub mod class;
pub mod constructor;
pub(crate) mod consts;
pub(crate) mod container;
pub(crate) mod leaves;
pub mod object;
pub mod parse;
pub mod promote;
pub mod record;
pub mod simd;
pub(crate) mod text;
pub mod time;
pub(crate) mod work;

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, RwLock};

pub use class::{ClassDef, ClassId};
pub use consts::Const;
pub use container::Container;

/// An interned type.
#[derive(Clone, Copy)]
pub struct Type(&'static Kind);

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Type {}
impl Hash for Type {
    fn hash<H: Hasher>(&self, h: &mut H) {
        (self.0 as *const Kind as usize).hash(h)
    }
}
impl std::ops::Deref for Type {
    type Target = Kind;
    fn deref(&self) -> &Kind {
        self.0
    }
}
impl std::fmt::Debug for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Integer widths; `Py` is the weak Python int, 64 bits and signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Int {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// A Python int that may be 2⁶³ or more: 64 bits without a sign.
    Big,
    Py,
}

/// Floating-point widths; `Py` is the weak Python float, 64 bits. Also the component of complex numbers. `F16` is
/// there in kernels alone, as its bits: it is widened to be computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Float {
    F16,
    F32,
    F64,
    Py,
}

/// Order of an array's elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    C,
    F,
    A,
}

/// Whether an array's elements may be changed. Where a writable and a read-only array meet in one variable
/// only the run knows: a leaf of its own says whether this one is read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    Write,
    Read,
    Either,
}
impl Access {
    /// What holds arrays of both.
    pub fn join(self, other: Access) -> Access {
        if self == other { self } else { Access::Either }
    }
}

/// Type of an array. Strides are leaves only for layout `A`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayType {
    pub dtype: Type,
    pub ndim: u8,
    pub layout: Layout,
    pub access: Access,
}

/// A Python function as a value: its code and the types of what it carries along.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FuncType {
    /// Key of the SSA function in [`crate::ssa::registry`].
    pub func: crate::handle::FuncId,
    /// Values for trailing positional parameters, then keyword-only ones, as given at `MAKE_FUNCTION` (empty
    /// for module-level functions, whose defaults the host knows).
    pub defaults: Vec<Type>,
    /// Captured variables; empty when the host knows them.
    pub captures: Vec<Type>,
    /// How many of `defaults` belong to positional parameters; the rest belong to these keyword-only ones.
    pub kwdefaults: Vec<String>,
    /// A method taken from a value: `captures` is that value, and the first argument.
    pub bound: bool,
}

/// Iterator states. Each is a value: `next` gives the next state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IterType {
    /// (current, stop, step); the step is in the type when it is known.
    Range(Option<i64>),
    /// Over the first axis of an array: (array, index).
    Array(Type),
    /// (list, index).
    List(Type),
    /// (container, place of the next entry, entries that it had, entries still to come).
    Container(Type),
    /// (tuple, index); all members have this type.
    Tuple(Type),
    /// (string, index).
    Str,
    /// (bytes, index); what it gives are integers.
    Bytes,
    /// (inner, count).
    Enumerate(Type),
    Zip(Vec<Type>),
    /// (sequence, index counting down); a range is reversed into a range instead.
    Reversed(Type),
    /// Indices of an n-dimensional shape: (shape, current, remaining).
    NdIndex(u8),
    /// (array, NdIndex state).
    NdEnumerate(Type),
    /// All elements in C order: (array, NdIndex state).
    Flat(Type),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No value gets here (yet): the bottom of the lattice.
    Never,
    /// A local variable that is not bound.
    Undef,
    /// A local variable that may not be bound.
    MaybeUndef(Type),
    None,
    Ellipsis,
    Bool,
    Int(Int),
    Float(Float),
    Complex(Float),
    /// A date or a span of time: a number of its units.
    Time(time::Time),
    Str,
    /// A string of bytes: the object is a [`crate::layout::Str`] of one byte each, as that of a text of
    /// Latin-1.
    Bytes,
    Optional(Type),
    Tuple(Vec<Type>),
    NamedTuple(&'static ClassDef, Vec<Type>),
    /// An instance of a class whose instances never change (a frozen dataclass): its fields.
    Frozen(&'static ClassDef, Vec<Type>),
    /// An instance of a class whose instances may change: a counted object, with the types of its fields.
    Object(&'static ClassDef, Vec<Type>),
    /// Stands in types of fields for the type of an object around them, so many objects further out
    /// ([`object`]).
    Outer(u32),
    /// A member of an enumeration: its number.
    Member(&'static ClassDef),
    Array(ArrayType),
    /// A vector of a number type, with so many lanes; each lane is a leaf ([`simd`]).
    Simd(Type, u8),
    /// An element of a structured array; values are views of them ([`record`]).
    Record(&'static record::RecordDef),
    List(Type),
    /// A container whose entries are found by hash, or a view of one, with the types of what it holds.
    Container(Container, Vec<Type>),
    /// What stands here is being inferred: an invariant argument of the type around it. Gone when inference
    /// ends.
    Var(u32),
    /// A range; the step is in the type when it is known.
    Range(Option<i64>),
    /// A slice; each part is an integer or None.
    Slice([Type; 3]),
    Iter(IterType),
    Function(FuncType),
    /// An operation, class or function of the table as a value: `numpy.add`, `builtins.len`, `builtins.int`.
    Builtin(crate::handle::OpId),
    /// An attribute of a value that is called later: the path in the table and the receiver.
    Method(crate::handle::OpId, Type),
    /// What `super()` gives: a value, seen as an instance of what follows that class in the MRO of its own.
    Super(&'static ClassDef, Type),
    Module(&'static str),
    /// A scalar type as a value: `np.float32`, `np.dtype("f4")`, `arr.dtype`.
    DType(Type),
    NamedTupleClass(&'static ClassDef),
    /// An exception class as a value; instances are native objects.
    ExcClass(&'static ClassDef),
    /// Another class of the user's: a place of functions and constants. Which instances it has in compiled
    /// code, its definition says.
    Class(&'static ClassDef),
    /// A native exception object; which class is known at run time.
    Exception,
    /// One of several types, told apart when the program runs; never inside another one, never with None
    /// among them. Functions, classes and generators meet in such types; so do the members of a tuple that is
    /// indexed by a variable.
    Variant(Vec<Type>),
    /// A variable that holds one of two types that no type holds; an error when it is read.
    Conflict(Type, Type),
    /// A generator object: key of its instance, and what it yields.
    Generator(u32, Type),
    /// A `numpy.random.Generator`: a [`crate::layout::BitSource`].
    Random,
}

static INTERNED: LazyLock<RwLock<HashSet<&'static Kind>>> = LazyLock::new(Default::default);

/// What kind of number a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    Bool,
    Int(Int),
    Float(Float),
    Complex(Float),
}

impl Type {
    /// The one `Type` of this kind. Interned kinds live as long as the process: they are few.
    pub fn new(kind: Kind) -> Type {
        work::count();
        if let Some(k) = INTERNED.read().unwrap_or_else(|e| e.into_inner()).get(&kind) {
            return Type(k);
        }
        let mut set = INTERNED.write().unwrap_or_else(|e| e.into_inner());
        if let Some(k) = set.get(&kind) {
            return Type(k);
        }
        let k: &'static Kind = Box::leak(Box::new(kind));
        set.insert(k);
        Type(k)
    }
    /// The address by which code refers to the type.
    pub(crate) fn address(self) -> usize {
        std::ptr::from_ref(self.0) as usize
    }
    /// The type that code refers to.
    ///
    /// # Safety
    /// The address is that of a type.
    pub unsafe fn of_address(at: *const u8) -> Type {
        // SAFETY: as required of the caller; types live for ever.
        Type(unsafe { &*at.cast::<Kind>() })
    }
    pub fn kind(self) -> &'static Kind {
        self.0
    }

    pub fn never() -> Type {
        cached(&CACHE.never)
    }
    pub(crate) fn undef() -> Type {
        Type::new(Kind::Undef)
    }
    pub fn none() -> Type {
        cached(&CACHE.none)
    }
    pub fn bool() -> Type {
        cached(&CACHE.bool)
    }
    pub fn str() -> Type {
        cached(&CACHE.str)
    }
    pub fn bytes() -> Type {
        Type::new(Kind::Bytes)
    }
    /// The weak Python int.
    pub fn int() -> Type {
        cached(&CACHE.int)
    }
    /// The weak Python float.
    pub fn float() -> Type {
        cached(&CACHE.float)
    }
    pub fn complex() -> Type {
        Type::new(Kind::Complex(Float::Py))
    }
    /// Python's int as one of 64 bits without a sign.
    pub fn big_int() -> Type {
        Type::new(Kind::Int(Int::Big))
    }
    pub fn int_of(i: Int) -> Type {
        Type::new(Kind::Int(i))
    }
    pub fn float_of(f: Float) -> Type {
        Type::new(Kind::Float(f))
    }
    pub fn i64() -> Type {
        Type::int_of(Int::I64)
    }
    pub fn f64() -> Type {
        Type::float_of(Float::F64)
    }
    /// The type of values of one of the compiler's own classes, which consist of whole numbers.
    pub fn of_values(class: &'static ClassDef) -> Option<Type> {
        let numbers = || vec![Type::int(); class.fields.len()];
        class.is_builtin_value().then(|| Type::new(Kind::Frozen(class, numbers())))
    }
    pub fn tuple(members: Vec<Type>) -> Type {
        Type::new(Kind::Tuple(members))
    }
    pub fn list(elem: Type) -> Type {
        Type::new(Kind::List(elem))
    }
    pub fn optional(t: Type) -> Type {
        if matches!(*t, Kind::None | Kind::Optional(_)) { t } else { Type::new(Kind::Optional(t)) }
    }
    pub(crate) fn array(dtype: Type, ndim: usize, layout: Layout) -> Type {
        // A 1-d (or 0-d) array is C-contiguous and F-contiguous at once; `C` stands for both.
        let layout = if ndim <= 1 && layout == Layout::F { Layout::C } else { layout };
        Type::new(Kind::Array(ArrayType {
            dtype: dtype.strong(),
            ndim: ndim as u8,
            layout,
            access: Access::Write,
        }))
    }
    pub(crate) fn iter(i: IterType) -> Type {
        Type::new(Kind::Iter(i))
    }

    pub(crate) fn var(n: u32) -> Type {
        Type::new(Kind::Var(n))
    }
    /// The type of values of any of these types; with None among them an optional one.
    pub(crate) fn one_of(types: &[Type]) -> Type {
        promote::one_of(types)
    }
    pub fn as_array(self) -> Option<ArrayType> {
        if let Kind::Array(a) = *self { Some(a) } else { None }
    }
    /// Members of a tuple or named tuple.
    pub fn members(self) -> Option<&'static [Type]> {
        if let Kind::Tuple(m) | Kind::NamedTuple(_, m) = self.kind() { Some(m) } else { None }
    }
    /// What a value consists of, one part after the other: the members of a tuple, the fields of an instance
    /// that never changes.
    pub(crate) fn parts(self) -> Option<&'static [Type]> {
        if let Kind::Frozen(_, m) = self.kind() { Some(m) } else { self.members() }
    }
    /// What a member of an enumeration is beside, of which values of the type are compared and computed with as of any
    /// other; any other type itself.
    pub fn beneath_member(self) -> Type {
        if let Kind::Member(c) = self.kind() { c.base_of_members().unwrap_or(self) } else { self }
    }
    /// Whether an object that is taken for a value of this type may be of a class that is derived from Python's, which
    /// the type does not say.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of other types all values are of one class")]
    pub fn hides_class(self) -> bool {
        match self.kind() {
            Kind::Str | Kind::Bytes | Kind::List(_) | Kind::Tuple(_) | Kind::Array(_) => true,
            Kind::Container(Container::Tuple, _) => true,
            Kind::Optional(t) => t.hides_class(),
            Kind::Variant(m) => m.iter().any(|t| t.hides_class()),
            _ => self.is_weak(),
        }
    }
    /// Names of the fields of an instance; none of other values.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only instances have fields")]
    pub(crate) fn field_names(self) -> &'static [String] {
        match self.kind() {
            Kind::NamedTuple(c, _) | Kind::Frozen(c, _) | Kind::Object(c, _) => &c.fields,
            _ => &[],
        }
    }
    pub(crate) fn is_int(self) -> bool {
        matches!(*self, Kind::Int(_))
    }
    /// Which container it is, with the types of what it holds.
    pub fn container(self) -> Option<(Container, &'static [Type])> {
        if let Kind::Container(c, m) = self.kind() { Some((*c, m)) } else { None }
    }
    pub fn is_float(self) -> bool {
        matches!(*self, Kind::Float(_))
    }
    pub fn is_complex(self) -> bool {
        matches!(*self, Kind::Complex(_))
    }
    /// A tuple or a list.
    pub(crate) fn is_sequence(self) -> bool {
        matches!(*self, Kind::Tuple(_) | Kind::List(_))
    }
    /// The type of what an optional value is where it is not None.
    pub fn as_optional(self) -> Option<Type> {
        if let Kind::Optional(t) = *self { Some(t) } else { None }
    }
    /// [`Type::as_optional`]; any other type is its own.
    pub fn without_none(self) -> Type {
        self.as_optional().unwrap_or(self)
    }
    /// A method with its object: one of the table or of a class, or one of a program's overloads, which stands
    /// there also where none of them answers.
    pub(crate) fn is_bound(self) -> bool {
        if let Kind::Function(f) = self.kind() { f.bound } else { matches!(*self, Kind::Method(..)) }
    }
    /// The array behind `a.flat`.
    pub(crate) fn as_flat(self) -> Option<Type> {
        if let Kind::Iter(IterType::Flat(t)) = *self { Some(t) } else { None }
    }
    /// `a.flat`.
    pub(crate) fn is_flat(self) -> bool {
        self.as_flat().is_some()
    }
    /// int or bool: what may stand as an index.
    pub fn is_index(self) -> bool {
        matches!(*self, Kind::Int(_) | Kind::Bool)
    }
    /// What says yes or no to a built-in function (`reverse=`, `keepends`): an integer, from Python 3.12 on
    /// whatever has a truth.
    pub(crate) fn is_flag(self) -> bool {
        self.is_index()
            || crate::python::since(12)
                && matches!(
                    *self,
                    Kind::None
                        | Kind::Float(_)
                        | Kind::Complex(_)
                        | Kind::Tuple(_)
                        | Kind::Str
                        | Kind::Bytes
                        | Kind::List(_)
                        | Kind::Container(..)
                )
    }
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other type is no number")]
    pub fn number(self) -> Option<NumberType> {
        match *self {
            Kind::Bool => Some(NumberType::Bool),
            Kind::Int(i) => Some(NumberType::Int(i)),
            Kind::Float(f) => Some(NumberType::Float(f)),
            Kind::Complex(f) => Some(NumberType::Complex(f)),
            _ => None,
        }
    }
    /// bool, int, float or complex.
    pub fn is_number(self) -> bool {
        self.number().is_some()
    }
    pub(crate) fn is_real(self) -> bool {
        matches!(*self, Kind::Bool | Kind::Int(_) | Kind::Float(_))
    }
    /// The NumPy scalar type of a weak Python number; others unchanged.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only Python's numbers are weak")]
    pub fn strong(self) -> Type {
        match *self {
            Kind::Int(Int::Py) => Type::i64(),
            Kind::Int(Int::Big) => Type::int_of(Int::U64),
            Kind::Float(Float::Py) => Type::f64(),
            Kind::Complex(Float::Py) => Type::new(Kind::Complex(Float::F64)),
            _ => self,
        }
    }
    pub fn is_weak(self) -> bool {
        self.strong() != self
    }
}

struct Cache {
    never: Type,
    none: Type,
    bool: Type,
    str: Type,
    int: Type,
    float: Type,
}
static CACHE: LazyLock<Cache> = LazyLock::new(|| Cache {
    never: Type::new(Kind::Never),
    none: Type::new(Kind::None),
    bool: Type::new(Kind::Bool),
    str: Type::new(Kind::Str),
    int: Type::new(Kind::Int(Int::Py)),
    float: Type::new(Kind::Float(Float::Py)),
});
fn cached(t: &Type) -> Type {
    *t
}

impl Int {
    pub(crate) const ALL: [Int; 10] =
        [Int::I8, Int::I16, Int::I32, Int::I64, Int::U8, Int::U16, Int::U32, Int::U64, Int::Big, Int::Py];
    pub fn bits(self) -> u32 {
        match self {
            Int::I8 | Int::U8 => 8,
            Int::I16 | Int::U16 => 16,
            Int::I32 | Int::U32 => 32,
            Int::I64 | Int::U64 | Int::Big | Int::Py => 64,
        }
    }
    pub fn signed(self) -> bool {
        matches!(self, Int::I8 | Int::I16 | Int::I32 | Int::I64 | Int::Py)
    }
    /// Whether each value of `other` is one of this type.
    pub(crate) fn holds(self, other: Int) -> bool {
        if self.signed() == other.signed() {
            self.bits() >= other.bits()
        } else {
            self.signed() && self.bits() > other.bits()
        }
    }
    pub(crate) fn of(bits: u32, signed: bool) -> Int {
        match (bits, signed) {
            (8, true) => Int::I8,
            (16, true) => Int::I16,
            (32, true) => Int::I32,
            (8, false) => Int::U8,
            (16, false) => Int::U16,
            (32, false) => Int::U32,
            (64, false) => Int::U64,
            (_, _) => Int::I64,
        }
    }
}
impl Float {
    pub fn bits(self) -> u32 {
        match self {
            Float::F16 => 16,
            Float::F32 => 32,
            Float::F64 | Float::Py => 64,
        }
    }
}
impl ArrayType {
    pub fn ty(self) -> Type {
        Type::new(Kind::Array(self))
    }
    pub fn ndim(self) -> usize {
        self.ndim as usize
    }
    /// Bytes of one element.
    pub fn itemsize(self) -> i64 {
        self.dtype.itemsize()
    }
}
impl Type {
    /// Bytes of a scalar as an array element.
    #[expect(clippy::wildcard_enum_match_arm, reason = "numbers have widths, any other element is a pointer")]
    pub fn itemsize(self) -> i64 {
        match *self {
            Kind::Bool => 1,
            Kind::Int(i) => i.bits() as i64 / 8,
            Kind::Float(f) => f.bits() as i64 / 8,
            Kind::Complex(f) => f.bits() as i64 / 4,
            Kind::Record(r) => r.size as i64,
            _ => 8,
        }
    }
}
