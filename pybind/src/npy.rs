//! NumPy's arrays and scalars, read through their C structs; nothing of NumPy is linked, and it is imported
//! only when an object of its own shows up or an array must be made.
//!
//! The structs and type numbers below are NumPy's stable ABI (`PyArrayObject_fields`, the head of
//! `PyArray_Descr`): equal in 1.x and 2.x.

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::elem::Elem;
use tierup_core::types::{Access, ArrayType, Float, Int, Kind, Layout, NumberType, Type};

#[repr(C)]
pub(crate) struct PyArrayObject {
    pub ob_base: ffi::PyObject,
    pub data: *mut u8,
    pub nd: c_int,
    pub dimensions: *mut isize,
    pub strides: *mut isize,
    pub base: *mut ffi::PyObject,
    pub descr: *mut Descr,
    pub flags: c_int,
}

/// A record by itself: `PyVoidScalarObject`.
#[repr(C)]
pub(crate) struct PyVoid {
    pub ob_base: ffi::PyVarObject,
    pub data: *mut u8,
    pub descr: *mut Descr,
    pub flags: c_int,
}

/// The head of `PyArray_Descr`.
#[repr(C)]
pub(crate) struct Descr {
    pub ob_base: ffi::PyObject,
    pub typeobj: *mut ffi::PyTypeObject,
    pub kind: c_char,
    pub char_code: c_char,
    pub byteorder: c_char,
    pub flags: c_char,
    pub type_num: c_int,
}

pub(crate) const C_CONTIGUOUS: c_int = 0x1;
pub(crate) const F_CONTIGUOUS: c_int = 0x2;
pub(crate) const WRITEABLE: c_int = 0x400;

/// Where the value of a NumPy scalar lies in its object: right after the header, for every type that we take.
pub(crate) const SCALAR_VALUE: usize = size_of::<ffi::PyObject>();

/// Element codes by NumPy's type number; 255 is a dtype that compiled code cannot hold.
static ELEM_OF_NUM: [u8; 17] = {
    let long: (u8, u8) = if size_of::<std::ffi::c_long>() == 8 {
        (Elem::I64 as u8, Elem::U64 as u8)
    } else {
        (Elem::I32 as u8, Elem::U32 as u8)
    };
    [
        Elem::Bool as u8,
        Elem::I8 as u8,
        Elem::U8 as u8,
        Elem::I16 as u8,
        Elem::U16 as u8,
        Elem::I32 as u8,
        Elem::U32 as u8,
        long.0,
        long.1,
        Elem::I64 as u8,
        Elem::U64 as u8,
        Elem::F32 as u8,
        Elem::F64 as u8,
        255,
        Elem::C64 as u8,
        Elem::C128 as u8,
        255,
    ]
};

/// The element code of a dtype, 255 when compiled code cannot hold it (byte-swapped ones included).
///
/// # Safety
/// `d` must be a live dtype object.
#[inline]
pub(crate) unsafe fn elem_code(d: *const Descr) -> u8 {
    // SAFETY: as required of the caller.
    let (num, order) = unsafe { ((*d).type_num, (*d).byteorder as u8) };
    let swapped = if cfg!(target_endian = "little") { b'>' } else { b'<' };
    if order == swapped {
        return 255;
    }
    ELEM_OF_NUM.get(num as usize).copied().unwrap_or(255)
}

/// The scalar type of an element code.
pub(crate) fn type_of_elem(code: u8) -> Option<Type> {
    Some(match Elem::from_number(code as i64)? {
        Elem::Bool => Type::bool(),
        Elem::I8 => Type::int_of(Int::I8),
        Elem::I16 => Type::int_of(Int::I16),
        Elem::I32 => Type::int_of(Int::I32),
        Elem::I64 => Type::i64(),
        Elem::U8 => Type::int_of(Int::U8),
        Elem::U16 => Type::int_of(Int::U16),
        Elem::U32 => Type::int_of(Int::U32),
        Elem::U64 => Type::int_of(Int::U64),
        Elem::F32 => Type::float_of(Float::F32),
        Elem::F64 => Type::f64(),
        Elem::C64 => Type::new(Kind::Complex(Float::F32)),
        Elem::C128 => Type::new(Kind::Complex(Float::F64)),
        Elem::Str | Elem::Tuple => return None,
    })
}

/// Layout, dimensions and element type of an array object.
///
/// # Safety
/// `a` must be a live array.
pub(crate) unsafe fn array_type(a: *const PyArrayObject) -> Option<ArrayType> {
    // SAFETY: as required of the caller.
    unsafe {
        let dtype = type_of_elem(elem_code((*a).descr))?;
        let (nd, flags) = ((*a).nd, (*a).flags);
        Some(ArrayType {
            dtype,
            ndim: u8::try_from(nd).ok()?,
            layout: layout_of(flags),
            access: if flags & WRITEABLE == 0 { Access::Read } else { Access::Write },
        })
    }
}

/// `C` wins where an array is contiguous both ways.
#[inline]
pub(crate) fn layout_of(flags: i32) -> Layout {
    if flags & C_CONTIGUOUS != 0 {
        Layout::C
    } else if flags & F_CONTIGUOUS != 0 {
        Layout::F
    } else {
        Layout::A
    }
}

/// NumPy's number of float16.
pub(crate) const HALF: c_int = 23;

/// NumPy's type number for a scalar type.
pub(crate) fn type_num(ty: Type) -> Option<c_int> {
    Some(match ty.number()? {
        NumberType::Bool => 0,
        NumberType::Int(i) => match i {
            Int::I8 => 1,
            Int::U8 => 2,
            Int::I16 => 3,
            Int::U16 => 4,
            Int::I32 => 5,
            Int::U32 => 6,
            Int::I64 | Int::Py => {
                if size_of::<std::ffi::c_long>() == 8 {
                    7
                } else {
                    9
                }
            }
            Int::U64 | Int::Big => {
                if size_of::<std::ffi::c_long>() == 8 {
                    8
                } else {
                    10
                }
            }
        },
        NumberType::Float(f) => match f {
            Float::F16 => HALF,
            Float::F32 => 11,
            Float::F64 | Float::Py => 12,
        },
        NumberType::Complex(f) => {
            if f.bits() == 32 {
                14
            } else {
                15
            }
        }
    })
}

/// What we need of a NumPy that is loaded.
pub(crate) struct Numpy {
    pub array_type: *mut ffi::PyTypeObject,
    /// `numpy.void`, whose instances are records.
    pub void_type: *mut ffi::PyTypeObject,
    pub dtype_type: *mut ffi::PyTypeObject,
    /// `numpy.datetime64` and `numpy.timedelta64`.
    pub date_type: *mut ffi::PyTypeObject,
    pub span_type: *mut ffi::PyTypeObject,
    /// Exact scalar classes with the types of their values.
    pub scalars: Vec<(*mut ffi::PyTypeObject, Type)>,
    /// Floats of 16 bits, of which only kernels have arrays.
    pub half_type: *mut ffi::PyTypeObject,
    /// Subclasses of ndarray whose arithmetic is not an array's.
    pub strange: Vec<*mut ffi::PyTypeObject>,
    api: *const *const c_void,
}

static NUMPY: AtomicPtr<Numpy> = AtomicPtr::new(std::ptr::null_mut());
/// `numpy.ndarray`, or null while NumPy is not loaded; what the call path compares with.
pub(crate) static ARRAY_TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

/// NumPy, if this process has imported it and we have looked.
pub(crate) fn loaded() -> Option<&'static Numpy> {
    // SAFETY: null, or a box that `load` leaked.
    unsafe { NUMPY.load(Ordering::Acquire).as_ref() }
}

/// NumPy, if this process has imported it.
pub(crate) fn get(py: Python<'_>) -> PyResult<Option<&'static Numpy>> {
    if let Some(n) = loaded() {
        return Ok(Some(n));
    }
    // Asked of every element of a container, as long as there is none.
    // SAFETY: the thread is attached and the name is live; the module is a new reference, or null without an error.
    let module =
        unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyImport_GetModule(intern!(py, "numpy").as_ptr())) };
    match module {
        // A half-imported NumPy (we are called while it loads) counts as absent.
        Some(m) if m.hasattr("ndarray")? && m.hasattr("ufunc")? && m.hasattr("generic")? => {
            load(&m).map(Some)
        }
        Some(_) | None => Ok(None),
    }
}

/// NumPy, imported when it is not yet.
pub(crate) fn require(py: Python<'_>) -> PyResult<&'static Numpy> {
    match get(py)? {
        Some(n) => Ok(n),
        None => load(py.import("numpy")?.as_any()),
    }
}

fn load(module: &Bound<'_, PyAny>) -> PyResult<&'static Numpy> {
    let py = module.py();
    let class = |name: &str| -> PyResult<*mut ffi::PyTypeObject> {
        // NumPy and its classes are never unloaded, and the reference is leaked to make sure.
        Ok(module.getattr(name)?.into_ptr().cast())
    };
    let mut scalars = vec![];
    let names = [
        "bool_",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "intc",
        "uintc",
        "int_",
        "uint",
        "longlong",
        "ulonglong",
    ];
    for name in names {
        let tp = class(name)?;
        let dtype = module.getattr("dtype")?.call1((module.getattr(name)?,))?;
        // SAFETY: `numpy.dtype(...)` gives a dtype object.
        let code = unsafe { elem_code(dtype.as_ptr().cast()) };
        if let Some(t) = type_of_elem(code)
            && !scalars.iter().any(|(p, _)| *p == tp)
        {
            scalars.push((tp, t));
        }
    }
    let core =
        py.import("numpy._core._multiarray_umath").or_else(|_| py.import("numpy.core._multiarray_umath"))?;
    let capsule = core.getattr("_ARRAY_API")?.into_ptr();
    // SAFETY: the attribute is NumPy's nameless capsule with its table of C functions.
    let api =
        unsafe { ffi::PyCapsule_GetPointer(capsule, std::ptr::null()) }.cast::<*const c_void>().cast_const();
    if api.is_null() {
        return Err(PyErr::fetch(py));
    }
    let mut strange = vec![];
    if let Ok(m) = module.getattr("matrix") {
        strange.push(m.into_ptr().cast());
    }
    let numpy = Box::leak(Box::new(Numpy {
        array_type: class("ndarray")?,
        void_type: class("void")?,
        dtype_type: class("dtype")?,
        date_type: class("datetime64")?,
        span_type: class("timedelta64")?,
        scalars,
        half_type: class("float16")?,
        strange,
        api,
    }));
    let version = module.getattr("__version__")?.extract::<String>()?;
    let major = version.split('.').next().and_then(|v| v.parse::<u32>().ok()).unwrap_or(0);
    if !(1..=2).contains(&major) {
        return Err(PyImportError::new_err(format!(
            "Tierup does not know the memory layout of NumPy {version}"
        )));
    }
    ARRAY_TYPE.store(numpy.array_type, Ordering::Release);
    NUMPY.store(numpy, Ordering::Release);
    Ok(numpy)
}

impl Numpy {
    /// Element `slot` of NumPy's table of C functions; the numbers are fixed for ever.
    ///
    /// # Safety
    /// `F` must be the type of that function.
    unsafe fn function<F: Copy>(&self, slot: usize) -> F {
        const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
        // SAFETY: the table has more than 300 entries; the caller gives the right type.
        unsafe { std::mem::transmute_copy(&*self.api.add(slot)) }
    }

    /// `PyArray_DescrFromType`: a new reference.
    pub(crate) fn descr(&self, num: c_int) -> *mut Descr {
        // SAFETY: slot 45 is `PyArray_Descr *PyArray_DescrFromType(int)`.
        unsafe { self.function::<unsafe extern "C" fn(c_int) -> *mut Descr>(45)(num) }
    }

    /// A new array with a dtype (a reference, which is taken over) over memory that `base` (a reference, which is taken over) keeps alive; null with a Python
    /// exception.
    ///
    /// # Safety
    /// `data` must hold an array of that shape, strides and type for as long as `base` lives; at most 64
    /// dimensions.
    pub(crate) unsafe fn wrap(
        &self,
        descr: *mut Descr,
        shape: &[i64],
        strides: &[i64],
        data: *mut u8,
        writeable: bool,
        base: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject {
        type New = unsafe extern "C" fn(
            *mut ffi::PyTypeObject,
            *mut Descr,
            c_int,
            *const i64,
            *const i64,
            *mut u8,
            c_int,
            *mut ffi::PyObject,
        ) -> *mut ffi::PyObject;
        // SAFETY: slot 94 is `PyArray_NewFromDescr`, which takes the reference to the dtype; slot 282 is
        // `PyArray_SetBaseObject`, which takes the reference to the base, also when it fails.
        unsafe {
            let flags = if writeable { WRITEABLE } else { 0 };
            let array = self.function::<New>(94)(
                self.array_type,
                descr,
                shape.len() as c_int,
                shape.as_ptr(),
                strides.as_ptr(),
                data,
                flags,
                std::ptr::null_mut(),
            );
            if array.is_null() {
                ffi::Py_DECREF(base);
                return array;
            }
            if self.function::<unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> c_int>(282)(
                array, base,
            ) < 0
            {
                ffi::Py_DECREF(array);
                return std::ptr::null_mut();
            }
            array
        }
    }

    pub(crate) fn scalar_type(&self, tp: *mut ffi::PyTypeObject) -> Option<Type> {
        self.scalars.iter().find(|(p, _)| *p == tp).map(|(_, t)| *t)
    }
}
