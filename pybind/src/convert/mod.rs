//! How values cross between Python and compiled code: one file for each type constructor, and nothing about
//! it elsewhere. A file says which Python objects its types stand for ([`Constructor::recognise`]), and makes
//! what [`Convert`]s values of one type: it unboxes arguments, boxes results, and writes back what compiled
//! code changed in a copy of a Python object. What files are written in is [`protocol`].
//!
//! A [`Plan`] is made once for each type at each place: a parameter of an overload, its result, the elements
//! of a list. The call path walks plans; the most frequent ones are members of the enum, so that they are run
//! in line.
//!
//! A *strict* plan takes exactly the objects whose type it is for; a *lenient* one (declared signatures,
//! elements) converts as well.
//!
//! A new type constructor is a file here and a line in `constructors!`, a new container a file of its family's
//! name. Types stand in types, so files ask this table in turn: what [`part_type`] an object has, and the
//! [`Plan::new`] of a type.

pub(crate) mod array;
pub(crate) mod buffers;
mod byte_string;
mod bytearray;
mod common;
pub(crate) mod datetimes;
mod deque;
mod dict;
mod enums;
mod exceptions;
pub(crate) mod frozen;
mod generator;
mod list;
mod mapping;
pub(crate) mod memory;
pub(crate) mod native;
mod none;
mod nothing;
pub(crate) mod numbers;
pub(crate) mod object;
mod protocol;
mod python_dict;
pub(crate) mod random;
mod ranges;
pub(crate) mod recognise;
pub(crate) use recognise::{Records, nested, with_records};
mod set;
mod simd;
mod text;
pub(crate) mod times;
mod tuple;
pub(crate) mod typed_dict;
pub(crate) mod typed_list;
pub(crate) mod typed_set;
mod unit;
mod var_tuple;
mod variant;
mod widened;

use crate::errors::Failure;
use crate::wording;
use array::ArrayPlan;
use pyo3::ffi;
use pyo3::prelude::*;
use tierup_core::types::{Container, Kind, Type};

pub(crate) use frozen::made_of;
pub(crate) use list::Items;
pub(crate) use native::has_arrays;
pub(crate) use native::turns::Turn;
use protocol::Strictness;
pub(crate) use protocol::{ARGS, BoxCx, Convert, Frame, GeneratorOf, Lenience, Obj, RESULTS, new_ref};
pub(crate) use tuple::type_of_keywords;

/// What is known of the types of one constructor.
pub(crate) struct Constructor {
    /// The type of an object that its types stand for; none of any other object.
    recognise: fn(&Bound<'_, PyAny>) -> Result<Option<Type>, Failure>,
    /// How values of one of its types are converted.
    plan: fn(Type, Option<Purpose>) -> Plan,
}

/// Constructors in the order in which an object is offered to them, with the kinds of type that each makes;
/// containers stand between the `first` and the `last`.
macro_rules! constructors {
    (
        { first { $($first:pat => $file:ident,)* } last { $($last:pat => $behind:ident,)* } }
        objects $objects:tt
        $($family:ident of $object:ident { $($(#[doc = $doc:literal])* $Name:ident = $row:tt;)* })*
    ) => {
        static CONSTRUCTORS: &[&Constructor] =
            &[$(&$file::CONSTRUCTOR,)* $(&$family::CONSTRUCTOR,)* $(&$behind::CONSTRUCTOR,)*];
        fn constructor(t: Type) -> &'static Constructor {
            match t.kind() {
                $($first => &$file::CONSTRUCTOR,)*
                Kind::Container(c, _) => match c { $($(Container::$Name)|* => &$family::CONSTRUCTOR,)* },
                $($last => &$behind::CONSTRUCTOR,)*
            }
        }
    };
}
tierup_core::containers!(constructors! {
    first {
        Kind::Bool | Kind::Int(_) | Kind::Float(_) | Kind::Complex(_) => numbers,
        Kind::Time(_) => times,
        Kind::Array(_) => array,
        Kind::Simd(..) => simd,
        Kind::Random => random,
        Kind::None | Kind::Optional(_) => none,
        Kind::Str => text,
        Kind::Bytes => byte_string,
        Kind::Tuple(_) | Kind::NamedTuple(..) => tuple,
        Kind::Frozen(..) => frozen,
        Kind::Object(..) => object,
        Kind::Member(_) => enums,
        Kind::List(_) => list,
    }
    last {
        Kind::Range(_) | Kind::Slice(_) => ranges,
        Kind::Variant(_) => variant,
        Kind::Generator(..) => generator,
        Kind::Exception | Kind::Method(..) => exceptions,
        Kind::Never
        | Kind::Undef
        | Kind::MaybeUndef(_)
        | Kind::Var(_)
        | Kind::Outer(_)
        | Kind::Record(_)
        | Kind::Iter(_)
        | Kind::Super(..)
        | Kind::Conflict(..) => nothing,
        // Takes whatever is none of the others.
        Kind::Ellipsis
        | Kind::Function(_)
        | Kind::Builtin(_)
        | Kind::Module(_)
        | Kind::DType(_)
        | Kind::NamedTupleClass(_)
        | Kind::ExcClass(_)
        | Kind::Class(_) => unit,
    }
});

/// The type of an object that says of what its containers are.
pub(crate) fn type_of(obj: &Bound<'_, PyAny>) -> Result<Type, Failure> {
    recognise::known(part_type(obj)?)
}

/// The type of an argument, which a compiled function is specialised for, or of part of one. Only asked where no
/// overload fits at once. An empty container is one of `Never`: what stands beside it in another one may say of
/// what it is, or the function that gets it.
pub(crate) fn part_type(obj: &Bound<'_, PyAny>) -> Result<Type, Failure> {
    if recognise::is_being_made(obj) {
        let text = "compiled code cannot take a class that is being made";
        return Err(recognise::unsupported(text, "leave what makes classes to Python"));
    }
    object::shapes::whole(obj.py(), || {
        for c in CONSTRUCTORS {
            if let Some(t) = (c.recognise)(obj)? {
                return Ok(t);
            }
        }
        Err(no_type(obj))
    })
}

fn no_type(obj: &Bound<'_, PyAny>) -> Failure {
    let class = wording::a(&wording::class_name(obj));
    recognise::unsupported(format!("compiled code cannot take {class}"), recognise::way_out(obj))
}

/// What a plan is for that is not one of an argument or result.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    Declared,
    Element,
    /// What Python code goes on with that was written for what Python itself would have given: numbers of
    /// NumPy's stay NumPy's.
    GoesOn,
}

impl Strictness {
    fn of(purpose: Option<Purpose>) -> Strictness {
        match purpose {
            None | Some(Purpose::GoesOn) => Strictness::Strict,
            Some(Purpose::Declared) => Strictness::Declared,
            Some(Purpose::Element) => Strictness::Lenient,
        }
    }
}

pub(crate) enum Plan {
    PyInt,
    PyFloat,
    Array(ArrayPlan),
    Other(Box<dyn Convert>),
}

impl Plan {
    pub(crate) fn new(t: Type, purpose: Option<Purpose>) -> Plan {
        (constructor(t).plan)(t, purpose)
    }
    fn other(convert: impl Convert + 'static) -> Plan {
        Plan::Other(Box::new(convert))
    }
    /// The plan of a type that no value crosses the border with.
    fn impossible(t: Type) -> Plan {
        Plan::other(nothing::Impossible(t))
    }
    /// The plans of several types.
    fn all(types: &[Type], purpose: Option<Purpose>) -> Box<[Plan]> {
        types.iter().map(|t| Plan::new(*t, purpose)).collect()
    }

    pub(crate) fn convert(&self) -> &dyn Convert {
        match self {
            Plan::PyInt => &numbers::PyInt,
            Plan::PyFloat => &numbers::PyFloat,
            Plan::Array(a) => a,
            Plan::Other(c) => &**c,
        }
    }

    /// See [`Convert::unbox`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(crate) unsafe fn unbox(&self, obj: Obj, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: as required of the caller.
        unsafe {
            let class = ffi::Py_TYPE(obj);
            match self {
                Plan::PyInt => numbers::PyInt.unbox(obj, class, out, frame),
                Plan::PyFloat => numbers::PyFloat.unbox(obj, class, out, frame),
                Plan::Array(a) => a.unbox(obj, class, out, frame),
                Plan::Other(c) => c.unbox(obj, class, out, frame),
            }
        }
    }

    /// See [`Convert::to_python`].
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(crate) unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller.
        unsafe {
            match self {
                Plan::PyInt => numbers::PyInt.to_python(at, cx),
                Plan::PyFloat => numbers::PyFloat.to_python(at, cx),
                Plan::Array(a) => a.to_python(at, cx),
                Plan::Other(c) => c.to_python(at, cx),
            }
        }
    }
}
