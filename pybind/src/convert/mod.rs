//! How values cross between Python and compiled code: one file for each type constructor, and nothing about
//! it elsewhere. A file says which Python objects its types stand for ([`Constructor::recognise`]), and makes
//! what [`Convert`]s values of one type: it unboxes arguments, boxes results, and writes back what compiled
//! code changed in a copy of a Python object ([`copies`]).
//!
//! A [`Plan`] is made once for each type at each place: a parameter of an overload, its result, the elements
//! of a list. The call path walks plans; the most frequent ones are members of the enum, so that they are run
//! in line.
//!
//! A *strict* plan takes exactly the objects whose type it is for; a *lenient* one (declared signatures,
//! elements) converts as well.
//!
//! A new type constructor is a file here and a line in `constructors!`.

pub(crate) mod array;
pub(crate) mod copies;
mod dict;
mod exceptions;
pub(crate) mod generator;
mod list;
pub(crate) mod memory;
pub(crate) mod native;
mod none;
mod nothing;
pub(crate) mod numbers;
pub(crate) mod random;
mod ranges;
pub(crate) mod recognise;
mod text;
mod tuple;
pub(crate) mod typed_list;
mod unit;
mod variant;

use crate::errors::Failure;
use crate::frame::Frame;
use crate::gil::attached;
use crate::overload::Overload;
use array::ArrayPlan;
use copies::{Copied, Copies, Made};
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::Arc;
use tierup_core::layout::Obj as Native;
use tierup_core::types::{Container, Kind, Type};
use tierup_runtime::object::retain;

pub(crate) use list::Items;
pub(crate) use recognise::{type_of, type_of_keywords};

pub(crate) type Obj = *mut ffi::PyObject;
pub(crate) type Class = *mut ffi::PyTypeObject;

/// What is known of the types of one constructor.
pub(crate) struct Constructor {
    /// The type of an object that its types stand for; none of any other object.
    recognise: fn(&Bound<'_, PyAny>) -> Result<Option<Type>, Failure>,
    /// How values of one of its types are converted.
    plan: fn(Type, Option<Purpose>) -> Plan,
}

/// Constructors in the order in which an object is offered to them, with the kinds of type that each makes.
macro_rules! constructors {
    ($($kind:pat => $file:ident,)*) => {
        static CONSTRUCTORS: &[&Constructor] = &[$(&$file::CONSTRUCTOR),*];
        fn constructor(t: Type) -> &'static Constructor {
            match t.kind() {
                $($kind => &$file::CONSTRUCTOR,)*
            }
        }
    };
}
constructors! {
    Kind::Bool | Kind::Int(_) | Kind::Float(_) | Kind::Complex(_) => numbers,
    Kind::Array(_) => array,
    Kind::Random => random,
    Kind::None | Kind::Optional(_) => none,
    Kind::Str => text,
    Kind::Tuple(_) | Kind::NamedTuple(..) => tuple,
    Kind::List(_) => list,
    Kind::Container(Container::Dict, _) => dict,
    Kind::Range(_) | Kind::Slice(_) => ranges,
    Kind::Variant(_) => variant,
    Kind::Generator(..) => generator,
    Kind::Exception | Kind::Method(..) => exceptions,
    Kind::Never
    | Kind::Undef
    | Kind::MaybeUndef(_)
    | Kind::Var(_)
    | Kind::Iter(_)
    | Kind::Container(Container::Keys | Container::Values | Container::Items, _)
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

/// Converts values of one type.
pub(crate) trait Convert: Send + Sync {
    /// Writes the leaves of `obj`, which is of class `class`, at `out` and gives the place behind them; none
    /// when it does not fit, or could not be converted (then `frame` knows why).
    ///
    /// # Safety
    /// `obj` is live and outlives the call; `out` has room for the leaves; `frame` is not moved any more.
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64>;

    /// Makes the Python object of the value whose leaves start at `*at`, and moves `at` behind them. Null
    /// means that a Python exception is set. The references of the leaves are taken over, whatever happens.
    ///
    /// # Safety
    /// The slots hold a value of the type that the caller owns; the thread is attached.
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj;

    /// Why a value of the type cannot become a Python object, `inside` another one or by itself; asked once,
    /// when a function is compiled.
    fn cannot_box(&self, _inside: bool) -> Option<String> {
        None
    }

    /// Forgets objects that live without us, for one of them will be gone; nothing is taken any more that is
    /// recognised by one.
    fn part(&self) {}

    /// `obj` is one of the type's objects: where it has no value beside that, it is recognised at once from
    /// now on.
    fn remember(&self, _obj: Obj) {}

    /// Writes what compiled code changed in a copy into its source, where both sides were alike before. False
    /// means that a Python exception is set.
    ///
    /// # Safety
    /// Of this and those below: the copy was made by this conversion, and compiled code does not run; the
    /// thread is attached.
    unsafe fn write_back(&self, copy: &Copied, _cx: &mut BoxCx<'_>) -> bool {
        unreachable!("nobody copies a {}", copy.ty)
    }

    /// Remembers what both sides of a copy hold, which are alike.
    ///
    /// # Safety
    /// See [`Convert::write_back`].
    unsafe fn follow(&self, copy: &Copied) {
        unreachable!("nobody copies a {}", copy.ty)
    }

    /// Brings copy `at` of the frame, which is followed, up to what its source is now. None means that the
    /// frame knows why it cannot be.
    ///
    /// # Safety
    /// See [`Convert::write_back`].
    unsafe fn read_again(&self, at: usize, _frame: &mut Frame) -> Option<()> {
        unreachable!("nobody copied number {at}")
    }
}

/// What a lenient plan is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Declared,
    Element,
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

/// What the boxing of one result knows: what was made already, so that a list that occurs twice stays one
/// list, and what was copied in.
pub(crate) struct BoxCx<'f> {
    copies: Option<&'f Copies>,
    made: Vec<Made>,
    /// What is made is followed: it has references to both sides.
    follows: bool,
    /// Lists are those of an object that Python sees itself, and so are seen themselves.
    shares: bool,
    /// For a generator: its code, the globals and the name of its function, and the copies that it keeps.
    pub generator: Option<GeneratorOf<'f>>,
    /// What copied objects held when they were passed. Native values refer to these objects without owning
    /// them.
    held: Vec<Obj>,
}

pub(crate) struct GeneratorOf<'f> {
    pub code: Arc<Overload>,
    pub globals: Obj,
    pub name: &'f str,
    pub copies: Copies,
}

impl<'f> BoxCx<'f> {
    pub(crate) fn new(copies: Option<&'f Copies>) -> BoxCx<'f> {
        BoxCx { copies, made: vec![], follows: false, shares: false, generator: None, held: vec![] }
    }
    /// The Python object of a native one, if there is one already.
    fn known(&self, native: *mut Native) -> Option<Obj> {
        let copied = self.copies.and_then(|c| c.source_of(native));
        copied.or_else(|| self.made.iter().find(|m| m.native == native).map(|m| m.object))
    }
    /// `by` made a Python object for a native one.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn add(&mut self, made: Made) {
        if self.follows {
            // SAFETY: as required of the caller.
            unsafe {
                retain(made.native);
                ffi::Py_INCREF(made.object);
            }
        }
        self.made.push(made);
    }
}
impl Drop for BoxCx<'_> {
    fn drop(&mut self) {
        // SAFETY: each was put there with a reference of its own; results are boxed by threads that are
        // attached.
        for o in &self.held {
            unsafe { ffi::Py_DECREF(*o) }
        }
    }
}

/// One more reference to a live object.
///
/// # Safety
/// `o` must be live.
#[inline]
pub(crate) unsafe fn new_ref(o: Obj) -> Obj {
    // SAFETY: as required of the caller.
    unsafe { ffi::Py_INCREF(o) };
    o
}

/// The next leaf.
///
/// # Safety
/// There is one.
#[inline]
unsafe fn next(at: &mut *const u64) -> u64 {
    // SAFETY: as required of the caller.
    unsafe {
        let bits = **at;
        *at = at.add(1);
        bits
    }
}

/// A new reference, or null with the exception set.
fn result(make: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>) -> Obj {
    attached(|py| match make(py) {
        Ok(o) => o.into_ptr(),
        Err(e) => {
            e.restore(py);
            std::ptr::null_mut()
        }
    })
}
