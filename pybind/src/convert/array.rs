//! Arrays: borrowed as arguments; as results the argument itself, a view of it, or memory of the run-time
//! that a [`Memory`] object owns.

use super::memory::Memory;
use super::protocol::{BoxCx, Class, Convert, Frame, Lenience, Obj};
use super::{Constructor, Plan, Purpose, recognise};
use crate::errors::Failure;
use crate::npy::{self, PyArrayObject};
use crate::{overrides, record_types, wording};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicBool, Ordering};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::elem::Elem;
use tierup_core::layout::MemBlock;
use tierup_core::types::record::{RecordDef, has_fields_of, lie_alike};
use tierup_core::types::{Access, ArrayType, Kind, Layout, Type};
use tierup_runtime::object::release;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        let Some(n) = npy::get(obj.py())? else { return Ok(None) };
        // SAFETY: both are live type objects; an instance of `void` begins with the struct.
        unsafe {
            if ffi::PyType_IsSubtype(ffi::Py_TYPE(obj.as_ptr()), n.void_type) != 0 {
                return type_of_void(obj).map(Some);
            }
        }
        // SAFETY: both are live type objects.
        if unsafe { ffi::PyType_IsSubtype(ffi::Py_TYPE(obj.as_ptr()), n.array_type) } == 0 {
            return Ok(None);
        }
        type_of_array(obj, n).map(Some)
    },
    plan: |t, purpose| match ArrayPlan::new(t, purpose) {
        Some(plan) => Plan::Array(plan),
        None => Plan::impossible(t),
    },
};

fn type_of_array(obj: &Bound<'_, PyAny>, n: &npy::Numpy) -> Result<Type, Failure> {
    // SAFETY: `obj` is live.
    let class = unsafe { ffi::Py_TYPE(obj.as_ptr()) };
    if class != n.array_type && !is_plain_subclass(class, n) {
        let own = overrides::method(obj.py(), class, n.array_type).map_or_else(
            || "whose arithmetic is not that of numpy.ndarray".into(),
            |m| format!("which has {m} of its own"),
        );
        return Err(recognise::unsupported(
            format!("compiled code cannot take {}, {own}", wording::a(&wording::class_name(obj))),
            "pass np.asarray(x)",
        ));
    }
    // SAFETY: `obj` is an instance of ndarray.
    if let Some(t) = unsafe { npy::array_type(obj.as_ptr().cast()) } {
        return Ok(t.ty());
    }
    let dtype = obj.getattr("dtype")?;
    if let Some(records) = record_type(&dtype)? {
        let a = obj.as_ptr().cast::<PyArrayObject>();
        // SAFETY: `obj` is an ndarray.
        let (nd, flags) = unsafe { ((*a).nd, (*a).flags) };
        let access = access_of(flags);
        let (ndim, layout) = (nd as u8, if nd == 0 { Layout::C } else { npy::layout_of(flags) });
        return Ok(ArrayType { dtype: records, ndim, layout, access }.ty());
    }
    let (text, kind): (String, String) = (dtype.str()?.extract()?, dtype.getattr("kind")?.extract()?);
    let swapped = !dtype.getattr("isnative")?.extract::<bool>()?;
    let d = Diagnostic::new(
        Code::UnsupportedArgument,
        format!("compiled code cannot take an array of dtype {text}"),
    );
    Err(match kind.as_str() {
        _ if swapped => d.help("its bytes are not in this machine's order; pass a.astype(a.dtype.newbyteorder('='))"),
        "O" => d.help("an array of Python objects has no machine type; give it a numeric dtype with a.astype(float)"),
        "f" => d.help("bool, integers, float32, float64, complex64 and complex128 are supported; a.astype(np.float64) converts"),
        "M" | "m" => d.help("its unit is a multiple of another one; a.astype('M8[s]') gives it one by itself"),
        _ => d.help("bool, integers, float32, float64, complex64 and complex128 are supported"),
    }
    .into())
}

/// The records of a dtype; a refusal where one of its fields is no number.
fn record_type(dtype: &Bound<'_, PyAny>) -> Result<Option<Type>, Failure> {
    record_types::of_dtype(dtype).map_err(|e| {
        let text = format!("compiled code cannot take this: {}", e.value(dtype.py()));
        recognise::unsupported(text, "pass views of the fields that the function needs: a['x']")
    })
}

/// A record by itself: a view without dimensions.
fn type_of_void(obj: &Bound<'_, PyAny>) -> Result<Type, Failure> {
    let dtype = obj.getattr("dtype")?;
    let Some(records) = record_type(&dtype)? else {
        return Err(recognise::unsupported(
            "compiled code cannot take a numpy.void without fields",
            "pass its bytes",
        ));
    };
    // SAFETY: an instance of `numpy.void`.
    let access = access_of(unsafe { (*obj.as_ptr().cast::<npy::PyVoid>()).flags });
    Ok(ArrayType { dtype: records, ndim: 0, layout: Layout::C, access }.ty())
}

fn access_of(flags: i32) -> Access {
    if flags & npy::WRITEABLE == 0 { Access::Read } else { Access::Write }
}

/// Subclasses that calculate otherwise are arrays to compiled code, as they are to Numba's.
static TAKES_SUBCLASSES: AtomicBool = AtomicBool::new(false);

/// From now on instances of any subclass of a program's are taken as the arrays that they are.
pub(crate) fn take_subclasses() {
    TAKES_SUBCLASSES.store(true, Ordering::Relaxed);
}

/// Whether instances of this subclass of ndarray (memmap, a record of provenance) calculate like arrays.
pub(crate) fn is_plain_subclass(class: *mut ffi::PyTypeObject, n: &npy::Numpy) -> bool {
    // SAFETY: `class` is a live type object, and so are its ancestors.
    unsafe {
        if ffi::PyType_IsSubtype(class, n.array_type) == 0
            || n.strange.iter().any(|s| ffi::PyType_IsSubtype(class, *s) != 0)
        {
            return false;
        }
        // MaskedArray is recognised by name: numpy.ma is loaded lazily, and we must not load it.
        let mut at = class;
        while !at.is_null() && at != n.array_type {
            if std::ffi::CStr::from_ptr((*at).tp_name).to_bytes().ends_with(b"MaskedArray") {
                return false;
            }
            at = (*at).tp_base;
        }
        TAKES_SUBCLASSES.load(Ordering::Relaxed)
            || crate::gil::attached(|py| overrides::method(py, class, n.array_type).is_none())
    }
}

pub(crate) struct ArrayPlan {
    ty: ArrayType,
    code: u8,
    ndim: i32,
    purpose: Option<Purpose>,
}

impl Convert for ArrayPlan {
    #[inline(always)]
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: as required of the caller.
        unsafe {
            if self.code == DESCRIBED {
                return self.write_described(obj, class, out, frame);
            }
            if !self.admits(obj, class)
                && !(self.is_lenient(frame.lenience) && self.admits_converted(obj, class))
            {
                return None;
            }
            Some(self.write(obj, frame.block(obj), out))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        let a = &self.ty;
        let leaves =
            2 + a.ndim() * if a.layout == Layout::A { 2 } else { 1 } + (a.access == Access::Either) as usize;
        let from = *at;
        // SAFETY: the leaves of such an array lie there.
        unsafe {
            *at = at.add(leaves);
            array_object(a, from)
        }
    }
}

/// In the place of the code of elements: only their dtype says what they are, records or times.
const DESCRIBED: u8 = 254;

impl ArrayPlan {
    fn new(t: Type, purpose: Option<Purpose>) -> Option<ArrayPlan> {
        let Kind::Array(a) = *t else { return None };
        let described = a.dtype.record().is_some() || a.dtype.time().is_some();
        let code = if described { DESCRIBED } else { Elem::of(a.dtype)? as u8 };
        Some(ArrayPlan { ty: a, code, ndim: a.ndim as i32, purpose })
    }

    /// Whether records of a dtype are those of the type; where arguments are converted, those that lie like them.
    ///
    /// # Safety
    /// A live dtype; the thread is attached.
    unsafe fn holds_dtype(&self, descr: *mut npy::Descr, frame: &Frame) -> bool {
        // SAFETY: as required of the caller.
        let found = unsafe { record_types::of_descr(descr) };
        found.is_some_and(|t| {
            let alike = || lie_alike(t, self.ty.dtype) || self.ndim == 0 && has_fields_of(t, self.ty.dtype);
            t == self.ty.dtype || self.is_lenient(frame.lenience) && alike()
        })
    }

    /// An array of records or times, or a record by itself.
    ///
    /// # Safety
    /// As for [`Convert::unbox`].
    #[cold]
    unsafe fn write_described(
        &self,
        obj: Obj,
        class: Class,
        out: *mut u64,
        frame: &mut Frame,
    ) -> Option<*mut u64> {
        let numpy = npy::loaded()?;
        let a = obj.cast::<PyArrayObject>();
        // SAFETY: the object is of the class that is looked at. What a record of NumPy's begins with, its memory and
        // its dtype, comes where an array has its memory and its dimensions.
        unsafe {
            if ffi::PyType_IsSubtype(class, numpy.void_type) != 0 {
                let void = &*obj.cast::<npy::PyVoid>();
                let access = access_of(void.flags);
                if self.ndim != 0
                    || !self.holds_dtype(void.descr, frame)
                    || self.ty.access.join(access) != self.ty.access
                {
                    return None;
                }
                out.write(frame.block(obj) as u64);
                out.add(1).write(void.data as u64);
                if self.ty.access == Access::Either {
                    out.add(2).write((access == Access::Read) as u64);
                }
                return Some(out.add(2 + usize::from(self.ty.access == Access::Either)));
            }
            if class != numpy.array_type && !subclass(class) {
                return None;
            }
            let fits = (*a).nd == self.ndim
                && self.holds_dtype((*a).descr, frame)
                && (self.is_lenient(frame.lenience) && self.admits_layout((*a).flags)
                    || self.ndim == 0
                    || npy::layout_of((*a).flags) == self.ty.layout);
            let access = access_of((*a).flags);
            (fits && self.ty.access.join(access) == self.ty.access)
                .then(|| self.write(obj, frame.block(obj), out))
        }
    }

    /// Whether `obj`, of class `class`, is such an array.
    ///
    /// # Safety
    /// `obj` is live.
    #[inline(always)]
    pub(crate) unsafe fn admits(&self, obj: Obj, class: Class) -> bool {
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
            npy::layout_of(flags) == self.ty.layout
                && self.ty.access.join(if flags & npy::WRITEABLE == 0 { Access::Read } else { Access::Write })
                    == self.ty.access
        }
    }
    /// Writes the leaves of an admitted array whose owner is `block`.
    ///
    /// # Safety
    /// `obj` was admitted; `out` has room for the leaves.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, obj: Obj, block: *mut MemBlock, out: *mut u64) -> *mut u64 {
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
            if self.ty.layout == Layout::A {
                for i in 0..n {
                    at.add(i).write(*(*a).strides.add(i) as u64);
                }
                at = at.add(n);
            }
            if self.ty.access == Access::Either {
                at.write(((*a).flags & npy::WRITEABLE == 0) as u64);
                at = at.add(1);
            }
            at
        }
    }
    /// Elements of a list meet in a type that holds all of them. A declared array takes others only where
    /// arguments are converted at all.
    fn is_lenient(&self, lenience: Lenience) -> bool {
        match self.purpose {
            Some(Purpose::Element) => true,
            Some(Purpose::Declared) => lenience != Lenience::Exact,
            Some(Purpose::GoesOn) | None => false,
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
            && (self.ty.access != Access::Write || flags & npy::WRITEABLE != 0)
    }
    fn admits_layout(&self, flags: i32) -> bool {
        match self.ty.layout {
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

/// # Safety
/// `l` points to the leaves of an array of that type, owned by the caller.
unsafe fn array_object(a: &ArrayType, l: *const u64) -> Obj {
    // SAFETY: owner, data, shape and (for layout A) strides, as `core::types::leaves` says.
    unsafe {
        let n = a.ndim();
        let owner = *l as *mut MemBlock;
        let data = *l.add(1) as *mut u8;
        let shape = std::slice::from_raw_parts(l.add(2).cast::<i64>(), n);
        let mut computed = [0i64; 64];
        let strides: &[i64] = if a.layout == Layout::A {
            std::slice::from_raw_parts(l.add(2 + n).cast::<i64>(), n)
        } else {
            contiguous(a, shape, &mut computed)
        };
        let frozen = match a.access {
            Access::Write => false,
            Access::Read => true,
            Access::Either => *l.add(2 + n * if a.layout == Layout::A { 2 } else { 1 }) as u8 != 0,
        };
        let py = Python::assume_attached();
        let numpy = match npy::require(py) {
            Ok(n) => n,
            Err(e) => {
                release(owner.cast());
                e.restore(py);
                return std::ptr::null_mut();
            }
        };
        let original =
            if owner.is_null() { std::ptr::null_mut() } else { (*owner).py.cast::<ffi::PyObject>() };
        let is_record =
            !original.is_null() && ffi::PyType_IsSubtype(ffi::Py_TYPE(original), numpy.void_type) != 0;
        if is_record && n == 0 && (*original.cast::<npy::PyVoid>()).data == data && a.dtype.record().is_some()
        {
            ffi::Py_INCREF(original);
            release(owner.cast());
            return original;
        }
        if !original.is_null() && !is_record && is_same(a, original, data, shape, strides, frozen) {
            ffi::Py_INCREF(original);
            release(owner.cast());
            return original;
        }
        let base = if !original.is_null() {
            ffi::Py_INCREF(original);
            release(owner.cast());
            original
        } else {
            Memory::new(owner)
        };
        if base.is_null() {
            return base;
        }
        let descr = match npy::type_num(a.dtype) {
            Some(num) => numpy.descr(num),
            None => match record_types::dtype_of(py, a.dtype) {
                Ok(dtype) => dtype.into_ptr().cast(),
                Err(e) => {
                    ffi::Py_DECREF(base);
                    e.restore(py);
                    return std::ptr::null_mut();
                }
            },
        };
        let array = numpy.wrap(descr, shape, strides, data, !frozen, base);
        let is_array = |r: &RecordDef| r.chars().is_some() || n > 0 && !r.attributes;
        if array.is_null() || a.dtype.record().is_none_or(is_array) {
            return array;
        }
        let array = Bound::from_owned_ptr(py, array);
        super::protocol::result(|py| {
            if n > 0 {
                let class = py.import("numpy")?.getattr("recarray")?;
                return array.call_method1(intern!(py, "view"), (class,));
            }
            // A record by itself is a view of its place.
            array.get_item(PyTuple::empty(py))
        })
    }
}

fn contiguous<'s>(a: &ArrayType, shape: &[i64], out: &'s mut [i64; 64]) -> &'s [i64] {
    let n = shape.len().min(64);
    let mut step = a.itemsize();
    for k in 0..n {
        let i = if a.layout == Layout::F { k } else { n - 1 - k };
        out[i] = step;
        step = step.saturating_mul(shape[i].max(1));
    }
    &out[..n]
}

/// Whether the value is all of that array object, so that the object itself can be returned.
///
/// # Safety
/// `object` is a live ndarray.
unsafe fn is_same(
    a: &ArrayType,
    object: Obj,
    data: *mut u8,
    shape: &[i64],
    strides: &[i64],
    frozen: bool,
) -> bool {
    let o = object.cast::<PyArrayObject>();
    // The strides of an array without elements, and of a dimension of one element, mean nothing and differ
    // between arrays.
    let empty = shape.contains(&0);
    // SAFETY: the shape and strides of an array have `nd` members.
    unsafe {
        (*o).data == data
            && (*o).nd as usize == shape.len()
            && npy::type_of_elem(npy::elem_code((*o).descr)).or_else(|| record_types::of_descr((*o).descr))
                == Some(a.dtype)
            && ((*o).flags & npy::WRITEABLE == 0) == frozen
            && (0..shape.len()).all(|i| {
                let d = *(*o).dimensions.add(i) as i64;
                d == shape[i] && (d <= 1 || empty || *(*o).strides.add(i) as i64 == strides[i])
            })
    }
}
