//! How the arguments of an overload are recognised and turned into machine values, decided once per overload:
//! the call path walks a [`Plan`] per parameter, compares class pointers and flags, and writes leaves.
//! Nothing here allocates for scalars, strings and arrays.
//!
//! A *strict* plan takes exactly the objects whose type is the overload's; a *lenient* one (declared
//! signatures, list elements) converts as well.

use crate::errors::{Failure, attached};
use crate::frame::{Frame, Lenience};
use crate::lists::{self, ListPlan};
use crate::npy::{self, Numpy, PyArrayObject};
use crate::typeof_::{is_plain_subclass, layout_of, type_of};
use crate::{identity, random};
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::declare::conversion;
use tierup_core::elem::Elem;
use tierup_core::layout::MemBlock;
use tierup_core::types::{Access, ArrayType, Float, Int, Kind, Layout, Type};

type Obj = *mut ffi::PyObject;
type Class = *mut ffi::PyTypeObject;

/// A NumPy scalar class, where two names have different classes (int64 and longlong) both.
pub struct Scalars {
    classes: [Class; 2],
    elem: Elem,
}

pub struct ArrayPlan {
    code: u8,
    ndim: i32,
    layout: Layout,
    access: Access,
    lenient: bool,
}

/// Something without leaves that is recognised by identity, or by its type.
pub struct UnitPlan {
    ty: Type,
    /// An object of the type: its only one, which lives without us, or one that we hold.
    known: AtomicPtr<ffi::PyObject>,
    /// No other object has the type ([`identity::objects_of`]).
    only: bool,
}

/// What a lenient plan is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Declared,
    Element,
}

pub enum Plan {
    PyInt,
    PyFloat,
    PyComplex,
    Bool(Scalars),
    /// `uint64` from a Python int past 63 bits or a NumPy scalar.
    U64(Scalars),
    Scalar(Scalars),
    /// Any number, converted as far as the call allows, or as far as elements of a list need.
    Number(Type, Purpose),
    Str,
    /// A `numpy.random.Generator`.
    Random,
    None,
    Array(ArrayPlan),
    Tuple(Box<[Plan]>),
    /// The class lives without us.
    NamedTuple(AtomicPtr<ffi::PyTypeObject>, Box<[Plan]>),
    /// The dict of `**kwargs`, with these keys in this order.
    Keywords(&'static [String], Box<[Plan]>),
    List(Box<ListPlan>),
    Range(Option<i64>),
    Slice(Box<[Plan; 3]>),
    /// None or the inner one: a flag, then the leaves. A declared one, if that is said, is no argument's
    /// exact type.
    Optional(Box<Plan>, usize, bool),
    /// Which of these it is, then room for each, with the number of leaves.
    Variant(Box<[(Plan, usize)]>),
    Unit(UnitPlan),
    /// A type that no argument can have.
    Impossible,
}

// SAFETY: class pointers are compared; they are cleared before their classes are freed.
unsafe impl Send for Plan {}
unsafe impl Sync for Plan {}

fn scalars(n: Option<&Numpy>, t: Type) -> Scalars {
    let mut classes = [std::ptr::null_mut(); 2];
    let found = n.into_iter().flat_map(|n| n.scalars.iter().filter(|(_, s)| *s == t));
    for (slot, (class, _)) in classes.iter_mut().zip(found) {
        *slot = *class;
    }
    Scalars { classes, elem: Elem::of(t).unwrap_or(Elem::I64) }
}

/// The object that a type is about, where it is about one.
fn own(t: Type) -> Obj {
    let mut found = vec![];
    if !matches!(*t, Kind::Builtin(_) | Kind::DType(_) | Kind::Ellipsis) {
        identity::objects_of(t, &mut found);
    }
    found.first().map_or(std::ptr::null_mut(), |n| identity::address(*n))
}

impl Plan {
    /// Forgets objects that live without us, for one of them will be gone; nothing is taken any more that is
    /// recognised by one.
    pub fn part(&self) {
        match self {
            Plan::Unit(u) if u.only => u.known.store(std::ptr::null_mut(), Ordering::Relaxed),
            Plan::NamedTuple(class, members) => {
                class.store(std::ptr::null_mut(), Ordering::Relaxed);
                members.iter().for_each(Plan::part);
            }
            Plan::Tuple(m) | Plan::Keywords(_, m) => m.iter().for_each(Plan::part),
            Plan::List(l) => l.part(),
            Plan::Optional(inner, ..) => inner.part(),
            Plan::Variant(all) => all.iter().for_each(|(p, _)| p.part()),
            Plan::Slice(_)
            | Plan::PyInt
            | Plan::PyFloat
            | Plan::PyComplex
            | Plan::Bool(_)
            | Plan::U64(_)
            | Plan::Scalar(_)
            | Plan::Number(..)
            | Plan::Str
            | Plan::Random
            | Plan::None
            | Plan::Array(_)
            | Plan::Range(_)
            | Plan::Unit(_)
            | Plan::Impossible => {}
        }
    }

    pub fn new(t: Type, purpose: Option<Purpose>) -> Plan {
        let lenient = purpose.is_some();
        let n = npy::loaded();
        let all = |m: &[Type]| m.iter().map(|t| Plan::new(*t, purpose)).collect::<Box<[Plan]>>();
        match t.kind() {
            Kind::Bool | Kind::Int(_) | Kind::Float(_) | Kind::Complex(_) if lenient => {
                Plan::Number(t, purpose.unwrap_or(Purpose::Element))
            }
            Kind::Bool => Plan::Bool(scalars(n, t)),
            Kind::Int(Int::Py) => Plan::PyInt,
            Kind::Int(Int::U64) => Plan::U64(scalars(n, t)),
            Kind::Float(Float::Py) => Plan::PyFloat,
            Kind::Complex(Float::Py) => Plan::PyComplex,
            Kind::Int(_) | Kind::Float(_) | Kind::Complex(_) => Plan::Scalar(scalars(n, t)),
            Kind::Str => Plan::Str,
            Kind::Random => Plan::Random,
            Kind::None => Plan::None,
            Kind::Array(a) => Plan::array(a, lenient),
            Kind::Tuple(m) => Plan::Tuple(all(m)),
            Kind::NamedTuple(c, m) if c.is_keywords() => Plan::Keywords(&c.fields, all(m)),
            Kind::NamedTuple(_, m) => Plan::NamedTuple(AtomicPtr::new(own(t).cast()), all(m)),
            Kind::List(e) => Plan::List(Box::new(ListPlan::new(*e, t, purpose))),
            Kind::Range(s) => Plan::Range(*s),
            Kind::Slice(p) => Plan::Slice(Box::new(p.map(|t| Plan::new(t, purpose)))),
            Kind::Optional(t) => Plan::Optional(
                Box::new(Plan::new(*t, purpose)),
                t.leaf_count(),
                purpose == Some(Purpose::Declared),
            ),
            Kind::Variant(m) => {
                Plan::Variant(m.iter().map(|t| (Plan::new(*t, None), t.leaf_count())).collect())
            }
            Kind::Ellipsis
            | Kind::Function(_)
            | Kind::Builtin(_)
            | Kind::Module(_)
            | Kind::DType(_)
            | Kind::NamedTupleClass(_)
            | Kind::ExcClass(_)
            | Kind::Class(_) => {
                let only = own(t);
                Plan::Unit(UnitPlan { ty: t, known: AtomicPtr::new(only), only: !only.is_null() })
            }
            Kind::Never
            | Kind::Undef
            | Kind::MaybeUndef(_)
            | Kind::Var(_)
            | Kind::Iter(_)
            | Kind::Method(..)
            | Kind::Exception
            | Kind::Generator(..)
            | Kind::Conflict(..) => Plan::Impossible,
        }
    }

    fn array(a: &ArrayType, lenient: bool) -> Plan {
        match Elem::of(a.dtype) {
            Some(e) => Plan::Array(ArrayPlan {
                code: e as u8,
                ndim: a.ndim as i32,
                layout: a.layout,
                access: a.access,
                lenient,
            }),
            None => Plan::Impossible,
        }
    }

    /// Writes the leaves of `obj` at `out` and gives the place behind them; none when it does not fit, or
    /// could not be converted (then `frame` knows why).
    ///
    /// # Safety
    /// `obj` is live and outlives the call; `out` has room for the leaves; `frame` is not moved any more.
    #[inline(always)]
    pub unsafe fn unbox(&self, obj: Obj, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: every cast follows a check of the class; slots are written in order.
        unsafe {
            let class = ffi::Py_TYPE(obj);
            let bits = match self {
                Plan::PyInt => {
                    if class != &raw mut ffi::PyLong_Type && !derives_from_int(class) {
                        return None;
                    }
                    small_int(obj)? as u64
                }
                Plan::PyFloat => {
                    if class != &raw mut ffi::PyFloat_Type && !derives_from(class, &raw mut ffi::PyFloat_Type)
                    {
                        return None;
                    }
                    ffi::PyFloat_AS_DOUBLE(obj).to_bits()
                }
                Plan::Array(p) => {
                    if !p.admits(obj, class)
                        && !(p.lenient && frame.lenience != Lenience::Exact && p.admits_converted(obj, class))
                    {
                        return None;
                    }
                    return Some(p.write(obj, frame.block(obj), out));
                }
                Plan::None => return (obj == ffi::Py_None()).then_some(out),
                Plan::Bool(s) => {
                    if class == &raw mut ffi::PyBool_Type {
                        (obj == ffi::Py_True()) as u64
                    } else {
                        return s.unbox(obj, class, out);
                    }
                }
                Plan::Scalar(s) => return s.unbox(obj, class, out),
                Plan::Str => {
                    if (class != &raw mut ffi::PyUnicode_Type
                        && !derives_from(class, &raw mut ffi::PyUnicode_Type))
                        || !ready(obj)
                    {
                        return None;
                    }
                    frame.text(obj) as u64
                }
                Plan::PyComplex
                | Plan::U64(_)
                | Plan::Number(..)
                | Plan::Tuple(_)
                | Plan::NamedTuple(..)
                | Plan::Keywords(..)
                | Plan::List(_)
                | Plan::Range(_)
                | Plan::Slice(_)
                | Plan::Optional(..)
                | Plan::Variant(_)
                | Plan::Unit(_)
                | Plan::Random
                | Plan::Impossible => return self.unbox_rest(obj, class, out, frame),
            };
            out.write(bits);
            Some(out.add(1))
        }
    }

    /// The less frequent kinds, out of line.
    ///
    /// # Safety
    /// As for [`Plan::unbox`].
    #[inline(never)]
    unsafe fn unbox_rest(
        &self,
        obj: Obj,
        class: Class,
        mut out: *mut u64,
        frame: &mut Frame,
    ) -> Option<*mut u64> {
        // SAFETY: as in `unbox`.
        unsafe {
            match self {
                Plan::PyComplex => {
                    if class != &raw mut ffi::PyComplex_Type
                        && !derives_from(class, &raw mut ffi::PyComplex_Type)
                    {
                        return None;
                    }
                    let z = (*obj.cast::<ffi::PyComplexObject>()).cval;
                    out.write(z.real.to_bits());
                    out.add(1).write(z.imag.to_bits());
                    Some(out.add(2))
                }
                Plan::U64(s) => {
                    if class != &raw mut ffi::PyLong_Type && !derives_from_int(class) {
                        return s.unbox(obj, class, out);
                    }
                    if small_int(obj).is_some() {
                        return None;
                    }
                    let x = ffi::PyLong_AsUnsignedLongLong(obj);
                    if x == u64::MAX && !ffi::PyErr_Occurred().is_null() {
                        ffi::PyErr_Clear();
                        return None;
                    }
                    out.write(x);
                    Some(out.add(1))
                }
                Plan::Number(t, purpose) => {
                    // Lists of plain floats and ints are long.
                    if class == &raw mut ffi::PyFloat_Type
                        && let Kind::Float(Float::Py | Float::F64) = **t
                    {
                        out.write(ffi::PyFloat_AS_DOUBLE(obj).to_bits());
                        return Some(out.add(1));
                    }
                    if class == &raw mut ffi::PyLong_Type
                        && let Kind::Int(Int::Py | Int::I64) = **t
                        && let Some(x) = small_int(obj)
                    {
                        out.write(x as u64);
                        return Some(out.add(1));
                    }
                    convert_number(*t, *purpose, obj, out, frame)
                }
                Plan::Tuple(m) => {
                    if class != &raw mut ffi::PyTuple_Type && !is_plain_tuple(obj) {
                        return None;
                    }
                    unbox_members(m, obj, out, frame)
                }
                Plan::NamedTuple(c, m) => {
                    if class != c.load(Ordering::Relaxed) {
                        return None;
                    }
                    unbox_members(m, obj, out, frame)
                }
                Plan::Keywords(names, plans) => {
                    if class != &raw mut ffi::PyDict_Type || ffi::PyDict_Size(obj) as usize != names.len() {
                        return None;
                    }
                    let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
                    for (name, plan) in names.iter().zip(plans) {
                        if ffi::PyDict_Next(obj, &mut at, &mut key, &mut value) == 0 {
                            return None;
                        }
                        let key = Bound::from_borrowed_ptr(Python::assume_attached(), key);
                        if !key.extract::<&str>().is_ok_and(|k| k == name) {
                            return None;
                        }
                        out = plan.unbox(value, out, frame)?;
                    }
                    Some(out)
                }
                Plan::List(p) => lists::unbox(p, obj, out, frame),
                Plan::Range(step) => unbox_range(*step, obj, class, out),
                Plan::Slice(parts) => {
                    if class != &raw mut ffi::PySlice_Type {
                        return None;
                    }
                    let s = obj.cast::<ffi::PySliceObject>();
                    for (plan, part) in parts.iter().zip([(*s).start, (*s).stop, (*s).step]) {
                        out = plan.unbox(part, out, frame)?;
                    }
                    Some(out)
                }
                Plan::Optional(inner, leaves, declared) => {
                    if *declared && frame.lenience == Lenience::Exact {
                        return None;
                    }
                    if obj == ffi::Py_None() {
                        for i in 0..=*leaves {
                            out.add(i).write(0);
                        }
                        return Some(out.add(leaves + 1));
                    }
                    out.write(1);
                    inner.unbox(obj, out.add(1), frame)
                }
                Plan::Variant(all) => {
                    let leaves: usize = all.iter().map(|(_, n)| n).sum();
                    let mut at = out.add(1);
                    for (k, (plan, n)) in all.iter().enumerate() {
                        for i in 1..=leaves {
                            out.add(i).write(0);
                        }
                        if plan.unbox(obj, at, frame).is_some() {
                            out.write(k as u64);
                            return Some(out.add(1 + leaves));
                        }
                        at = at.add(*n);
                    }
                    None
                }
                Plan::Unit(u) => u.admits(obj, frame).then_some(out),
                Plan::Random => {
                    if !random::is_generator(class) {
                        return None;
                    }
                    out.write(frame.random(obj)? as u64);
                    Some(out.add(1))
                }
                Plan::Impossible => None,
                Plan::PyInt
                | Plan::PyFloat
                | Plan::Array(_)
                | Plan::None
                | Plan::Bool(_)
                | Plan::Scalar(_)
                | Plan::Str => self.unbox(obj, out, frame),
            }
        }
    }
}

/// A Python int that fits into 64 bits, signed.
///
/// # Safety
/// `obj` must be a live int.
#[inline]
pub unsafe fn small_int(obj: Obj) -> Option<i64> {
    // SAFETY: as required of the caller; the structs are CPython's.
    unsafe {
        #[cfg(not(Py_3_12))]
        {
            #[repr(C)]
            struct Long {
                head: ffi::PyVarObject,
                digit: u32,
            }
            let l = obj.cast::<Long>();
            let size = (*l).head.ob_size;
            if (-1..=1).contains(&size) {
                return Some(size as i64 * if size == 0 { 0 } else { (*l).digit as i64 });
            }
        }
        #[cfg(Py_3_12)]
        {
            #[repr(C)]
            struct Long {
                head: ffi::PyObject,
                tag: usize,
                digit: u32,
            }
            let l = obj.cast::<Long>();
            // Two bits of sign (0 positive, 1 zero, 2 negative), one flag, then the number of digits.
            if (*l).tag < 2 << 3 {
                return Some((1 - ((*l).tag & 3) as i64) * (*l).digit as i64);
            }
        }
        let mut overflow = 0;
        let x = ffi::PyLong_AsLongLongAndOverflow(obj, &mut overflow);
        (overflow == 0).then_some(x)
    }
}

/// A class of the user's that is an int to compiled code (IntEnum).
#[cold]
fn derives_from_int(class: Class) -> bool {
    class != &raw mut ffi::PyBool_Type && derives_from(class, &raw mut ffi::PyLong_Type)
}

/// A class of the user's that is a float or complex to compiled code. NumPy's scalars, which derive from
/// these too, are their own types.
#[cold]
fn derives_from(class: Class, base: Class) -> bool {
    // SAFETY: both are live type objects.
    let derived = unsafe { ffi::PyType_IsSubtype(class, base) != 0 }
        && npy::loaded().is_none_or(|n| n.scalar_type(class).is_none());
    // Whose methods are its own is no number of that kind to compiled code.
    derived && attached(|py| crate::classes::overrides(py, class, base).is_none())
}

/// A tuple of a class derived from tuple that is no named tuple, which has a type of its own.
#[cold]
fn is_plain_tuple(obj: Obj) -> bool {
    attached(|py| {
        // SAFETY: `obj` is live.
        let any = unsafe { Bound::from_borrowed_ptr(py, obj) };
        any.is_instance_of::<pyo3::types::PyTuple>()
            && crate::known::namedtuple_class(&any.get_type()).is_ok_and(|c| c.is_none())
            && crate::typeof_::overridden(&any).is_none()
    })
}

/// Whether a string has its final form (before 3.12 some, made by old C interfaces, have not).
#[inline]
unsafe fn ready(_obj: Obj) -> bool {
    #[cfg(not(Py_3_12))]
    // SAFETY: the caller gives a live str.
    unsafe {
        ffi::PyUnicode_IS_READY(_obj) != 0 || _PyUnicode_Ready(_obj) == 0
    }
    #[cfg(Py_3_12)]
    true
}

#[cfg(not(Py_3_12))]
unsafe extern "C" {
    fn _PyUnicode_Ready(o: Obj) -> std::ffi::c_int;
}

impl Scalars {
    /// # Safety
    /// `obj` is live and of class `class`; `out` has room for two slots.
    #[inline]
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64) -> Option<*mut u64> {
        if class != self.classes[0] && (class != self.classes[1] || class.is_null()) {
            return None;
        }
        // SAFETY: NumPy's scalars hold their value behind the header.
        unsafe { Some(read_elem(self.elem, obj.cast::<u8>().add(npy::SCALAR_VALUE), out)) }
    }
}

/// Copies one element into slots.
///
/// # Safety
/// `p` points to an element, `out` has room for two slots.
#[inline]
pub unsafe fn read_elem(elem: Elem, p: *const u8, out: *mut u64) -> *mut u64 {
    // SAFETY: as required of the caller; any alignment.
    unsafe {
        let bits = match elem {
            Elem::Bool | Elem::U8 | Elem::I8 => *p as u64,
            Elem::I16 | Elem::U16 => p.cast::<u16>().read_unaligned() as u64,
            Elem::I32 | Elem::U32 | Elem::F32 => p.cast::<u32>().read_unaligned() as u64,
            Elem::I64 | Elem::U64 | Elem::F64 | Elem::Str => p.cast::<u64>().read_unaligned(),
            Elem::C64 => {
                out.write(p.cast::<u32>().read_unaligned() as u64);
                out.add(1).write(p.add(4).cast::<u32>().read_unaligned() as u64);
                return out.add(2);
            }
            Elem::C128 => {
                out.write(p.cast::<u64>().read_unaligned());
                out.add(1).write(p.add(8).cast::<u64>().read_unaligned());
                return out.add(2);
            }
        };
        out.write(bits);
        out.add(1)
    }
}

impl ArrayPlan {
    /// Whether `obj`, of class `class`, is such an array.
    ///
    /// # Safety
    /// `obj` is live.
    #[inline(always)]
    pub unsafe fn admits(&self, obj: Obj, class: Class) -> bool {
        if class != npy::ARRAY_TYPE.load(Ordering::Relaxed) && !subclass(class) {
            return false;
        }
        let a = obj.cast::<PyArrayObject>();
        // SAFETY: `obj` is an ndarray.
        unsafe {
            if (*a).nd != self.ndim || npy::elem_code((*a).descr) != self.code {
                return false;
            }
            let flags = (*a).flags;
            layout_of(flags, self.ndim) == self.layout
                && self.access.join(if flags & npy::WRITEABLE == 0 { Access::Read } else { Access::Write })
                    == self.access
        }
    }
    /// Writes the leaves of an admitted array whose owner is `block`.
    ///
    /// # Safety
    /// `obj` was admitted; `out` has room for the leaves.
    #[inline(always)]
    pub unsafe fn write(&self, obj: Obj, block: *mut MemBlock, out: *mut u64) -> *mut u64 {
        let a = obj.cast::<PyArrayObject>();
        // SAFETY: shape and strides of an array have `nd` members.
        unsafe {
            out.write(block as u64);
            out.add(1).write((*a).data as u64);
            let n = self.ndim as usize;
            let mut at = out.add(2);
            for i in 0..n {
                at.add(i).write(*(*a).dimensions.add(i) as u64);
            }
            at = at.add(n);
            if self.layout == Layout::A {
                for i in 0..n {
                    at.add(i).write(*(*a).strides.add(i) as u64);
                }
                at = at.add(n);
            }
            if self.access == Access::Either {
                at.write(((*a).flags & npy::WRITEABLE == 0) as u64);
                at = at.add(1);
            }
            at
        }
    }
    /// A lenient plan takes any layout as strided, and a writable array where no writing is promised.
    ///
    /// # Safety
    /// As for [`ArrayPlan::admits`].
    #[cold]
    unsafe fn admits_converted(&self, obj: Obj, class: Class) -> bool {
        if class != npy::ARRAY_TYPE.load(Ordering::Relaxed) && !subclass(class) {
            return false;
        }
        let a = obj.cast::<PyArrayObject>();
        // SAFETY: `obj` is an ndarray.
        let (ndim, code, flags) = unsafe { ((*a).nd, npy::elem_code((*a).descr), (*a).flags) };
        ndim == self.ndim
            && code == self.code
            && self.admits_layout(flags)
            && (self.access != Access::Write || flags & npy::WRITEABLE != 0)
    }
    fn admits_layout(&self, flags: i32) -> bool {
        match self.layout {
            Layout::A => true,
            Layout::C => flags & npy::C_CONTIGUOUS != 0,
            Layout::F => flags & npy::F_CONTIGUOUS != 0,
        }
    }
}

#[cold]
fn subclass(class: Class) -> bool {
    npy::loaded().is_some_and(|n| is_plain_subclass(class, n))
}

impl UnitPlan {
    /// `obj` is one of the type's objects: recognised at once from now on.
    pub fn remember(&self, obj: Obj) {
        if self.only
            || self
                .known
                .compare_exchange(std::ptr::null_mut(), obj, Ordering::Relaxed, Ordering::Relaxed)
                .is_err()
        {
            return;
        }
        // SAFETY: `obj` is live, and given up by `drop`.
        unsafe { ffi::Py_INCREF(obj) };
    }
    #[inline]
    fn admits(&self, obj: Obj, frame: &mut Frame) -> bool {
        obj == self.known.load(Ordering::Relaxed) || !self.only && self.look(obj, frame)
    }
    #[cold]
    fn look(&self, obj: Obj, frame: &mut Frame) -> bool {
        // SAFETY: `obj` is live.
        let answer = attached(|py| type_of(&unsafe { Bound::from_borrowed_ptr(py, obj) }));
        match answer {
            Ok(t) => {
                if t == self.ty {
                    self.remember(obj);
                }
                t == self.ty
            }
            Err(e) => {
                if let Failure::Raised(_) = e {
                    frame.extra().failure = Some(e);
                }
                false
            }
        }
    }
}

impl Drop for UnitPlan {
    fn drop(&mut self) {
        // SAFETY: what is not the type's only object was held by `remember`; overloads are dropped with the
        // GIL held.
        if !self.only {
            unsafe { ffi::Py_XDECREF(*self.known.get_mut()) }
        }
    }
}

/// # Safety
/// As for [`Plan::unbox`]; `obj` is a tuple.
unsafe fn unbox_members(plans: &[Plan], obj: Obj, mut out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
    // SAFETY: as required of the caller.
    unsafe {
        if ffi::PyTuple_GET_SIZE(obj) as usize != plans.len() {
            return None;
        }
        for (i, p) in plans.iter().enumerate() {
            out = p.unbox(ffi::PyTuple_GET_ITEM(obj, i as isize), out, frame)?;
        }
    }
    Some(out)
}

/// # Safety
/// `obj` is live; `out` has room for three slots.
unsafe fn unbox_range(step: Option<i64>, obj: Obj, class: Class, mut out: *mut u64) -> Option<*mut u64> {
    if class != &raw mut ffi::PyRange_Type {
        return None;
    }
    #[repr(C)]
    struct RangeObject {
        head: ffi::PyObject,
        start: Obj,
        stop: Obj,
        step: Obj,
    }
    let r = obj.cast::<RangeObject>();
    // SAFETY: `obj` is a range, whose members are ints (this is its layout in every CPython from 3.3 on).
    unsafe {
        let by = small_int((*r).step)?;
        if step.is_some_and(|s| s != by) || (step.is_none() && by == 1) {
            return None;
        }
        out.write(small_int((*r).start)? as u64);
        out.add(1).write(small_int((*r).stop)? as u64);
        out = out.add(2);
        if step.is_none() {
            out.write(by as u64);
            out = out.add(1);
        }
    }
    Some(out)
}

/// Whether elements of a list, which are of type `from`, are given as ones of type `to`: ints among floats.
fn widens(from: Type, to: Type) -> bool {
    let rank = |t: Type| match *t {
        Kind::Bool => Some(0),
        Kind::Int(_) => Some(1),
        Kind::Float(_) => Some(2),
        Kind::Complex(_) => Some(3),
        _ => None,
    };
    rank(from).is_some_and(|a| rank(to).is_some_and(|b| a <= b))
}

/// The type of a number for a declared signature. Integers beyond 64 bits have one as well: they may become
/// floats.
fn number_type(any: &Bound<'_, PyAny>) -> Option<Type> {
    match type_of(any) {
        Ok(t) => Some(t),
        Err(_) => any.is_instance_of::<pyo3::types::PyInt>().then(Type::int),
    }
}

/// Converts a Python or NumPy number to `t`, as Numba does for declared signatures: integers must fit into 64
/// bits, with a sign or without as the type says, of which narrow ones keep the low; floats are truncated,
/// complex numbers do not become real.
///
/// # Safety
/// As for [`Plan::unbox`].
unsafe fn convert_number(
    t: Type,
    purpose: Purpose,
    obj: Obj,
    out: *mut u64,
    frame: &mut Frame,
) -> Option<*mut u64> {
    // SAFETY: as required of the caller.
    attached(|py| unsafe { convert_attached(t, purpose, Bound::from_borrowed_ptr(py, obj), out, frame) })
}

/// # Safety
/// As for [`convert_number`].
unsafe fn convert_attached(
    t: Type,
    purpose: Purpose,
    any: Bound<'_, PyAny>,
    out: *mut u64,
    frame: &mut Frame,
) -> Option<*mut u64> {
    let ty = number_type(&any)?;
    let takes = match (purpose, frame.lenience) {
        (Purpose::Element, _) => widens(ty, t),
        (Purpose::Declared, Lenience::Exact) => ty.strong() == t.strong(),
        (Purpose::Declared, Lenience::Tried | Lenience::Converted) => conversion(ty, t).is_some(),
    };
    if !takes {
        return None;
    }
    let mut fail = |e: PyErr| -> Option<*mut u64> {
        frame.extra().failure = Some(e.into());
        None
    };
    let float = |x: f64, f: Float, out: *mut u64| {
        let bits = if f == Float::F32 { (x as f32).to_bits() as u64 } else { x.to_bits() };
        // SAFETY: the caller made room.
        unsafe { out.write(bits) };
    };
    // SAFETY: the caller made room for the leaves of `t`.
    unsafe {
        match *t {
            Kind::Bool => match any.is_truthy() {
                Ok(b) => out.write(b as u64),
                Err(e) => return fail(e),
            },
            Kind::Int(i) => {
                let number = if ty.is_float() {
                    any.call_method0("__int__")
                } else {
                    any.call_method0("__index__").or_else(|_| any.call_method0("__int__"))
                };
                let number = match number {
                    Ok(n) => n,
                    Err(e) => return fail(e),
                };
                let bits = if i.signed() {
                    ffi::PyLong_AsLongLong(number.as_ptr()) as u64
                } else {
                    ffi::PyLong_AsUnsignedLongLong(number.as_ptr())
                };
                match PyErr::take(any.py()) {
                    None => out.write(bits),
                    Some(e) => return fail(e),
                }
            }
            Kind::Float(f) => match any.extract::<f64>() {
                Ok(x) => float(x, f, out),
                Err(e) => return fail(e),
            },
            Kind::Complex(f) => {
                let parts = any
                    .getattr("real")
                    .and_then(|r| r.extract::<f64>())
                    .and_then(|r| Ok((r, any.getattr("imag")?.extract::<f64>()?)));
                match parts {
                    Ok((re, im)) => {
                        float(re, f, out);
                        float(im, f, out.add(1));
                        return Some(out.add(2));
                    }
                    Err(e) => return fail(e),
                }
            }
            _ => return None,
        }
        Some(out.add(1))
    }
}
