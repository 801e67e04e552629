//! Python objects to types: what a compiled function is specialised for. Only read where no overload fits at
//! once.

use crate::errors::Failure;
use crate::{known, npy, value};
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyComplex, PyDict, PyEllipsis, PyFloat, PyInt, PyList, PyRange, PySlice, PyString, PyTuple,
    PyType,
};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::host::GlobalValue;
use tierup_core::types::{Access, ArrayType, ClassDef, Const, FuncType, Int, Kind, Layout, Type};

fn unsupported(text: impl Into<String>) -> Failure {
    Diagnostic::new(Code::UnsupportedArgument, text).into()
}

/// The type of an argument.
pub fn type_of(obj: &Bound<'_, PyAny>) -> Result<Type, Failure> {
    // SAFETY: `obj` is live.
    let class = unsafe { ffi::Py_TYPE(obj.as_ptr()) };
    if let Some(n) = npy::get(obj.py())? {
        if let Some(t) = n.scalar_type(class) {
            return Ok(t);
        }
        // SAFETY: both are live type objects.
        if unsafe { ffi::PyType_IsSubtype(class, n.array_type) } != 0 {
            return type_of_array(obj, n);
        }
    }
    if crate::random::is_generator(class) {
        return Ok(Type::new(Kind::Random));
    }
    if obj.is_none() {
        return Ok(Type::none());
    }
    if obj.is_instance_of::<PyBool>() {
        return Ok(Type::bool());
    }
    refuse_overriding(obj)?;
    if let Ok(i) = obj.cast::<PyInt>() {
        return type_of_int(i);
    }
    if obj.is_instance_of::<PyFloat>() {
        return Ok(Type::float());
    }
    if obj.is_instance_of::<PyComplex>() {
        return Ok(Type::complex());
    }
    if obj.is_instance_of::<PyString>() {
        return Ok(Type::str());
    }
    if let Ok(t) = obj.cast::<PyTuple>() {
        return nested(obj.py(), || type_of_tuple(t));
    }
    if let Ok(l) = obj.cast::<PyList>() {
        return nested(obj.py(), || type_of_list(l));
    }
    if obj.is_instance_of::<PyRange>() {
        let step: i64 = obj.getattr("step")?.extract().map_err(|_| range_overflow(obj))?;
        for end in ["start", "stop"] {
            obj.getattr(end)?.extract::<i64>().map_err(|_| range_overflow(obj))?;
        }
        return Ok(Type::new(Kind::Range((step == 1).then_some(1))));
    }
    if obj.is_instance_of::<PySlice>() {
        let mut parts = [Type::none(); 3];
        for (part, name) in parts.iter_mut().zip(["start", "stop", "step"]) {
            *part = type_of(&obj.getattr(name)?)?;
        }
        if parts.iter().all(|t| t.is_index() || **t == Kind::None) {
            return Ok(Type::new(Kind::Slice(parts)));
        }
        return Err(unsupported("a slice argument must have integer parts")
            .with_help("pass the parts as ints, or None"));
    }
    if obj.is_instance_of::<PyEllipsis>() {
        return Ok(Type::new(Kind::Ellipsis));
    }
    match value::classify(obj, &value::NoRecord)? {
        GlobalValue::Unsupported(what) => {
            Err(unsupported(format!("compiled code cannot take {what}")).with_help(way_out(obj)))
        }
        GlobalValue::Foreign(name) => {
            Err(unsupported(format!("compiled code cannot take the function {name}"))
                .with_help("pass a function written in Python"))
        }
        v => value_type(&v).ok_or_else(|| {
            unsupported(format!("compiled code cannot take {}", value::a(&value::class_name(obj))))
                .with_help(way_out(obj))
        }),
    }
}

/// A class of the user's that changes what the built-in class below it does: to compiled code its instances
/// would be that class's.
fn refuse_overriding(obj: &Bound<'_, PyAny>) -> Result<(), Failure> {
    let Some((base, method)) = overridden(obj) else { return Ok(()) };
    let class = value::class_name(obj);
    let name = base.name()?;
    let way_out = if method == "__getattribute__" {
        "pass the values that the function needs from it".to_string()
    } else {
        format!("pass {name}(x), or give {method} to a function that compiled code calls")
    };
    Err(Diagnostic::new(
        Code::UnsupportedArgument,
        format!(
            "compiled code cannot take {}, {} with {method} of its own, which would be passed over",
            value::a(&class),
            value::a(&name.to_string())
        ),
    )
    .help(way_out)
    .into())
}

/// The built-in class that an object's class is derived from, and the method by which it changes what that
/// does.
pub fn overridden<'py>(obj: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyType>, String)> {
    let py = obj.py();
    let class = obj.get_type();
    if class.is(py.get_type::<PyBool>())
        || npy::loaded().is_some_and(|n| n.scalar_type(class.as_ptr().cast()).is_some())
    {
        return None;
    }
    let bases: [Bound<'py, PyType>; 6] = [
        py.get_type::<PyInt>(),
        py.get_type::<PyFloat>(),
        py.get_type::<PyComplex>(),
        py.get_type::<PyString>(),
        py.get_type::<PyTuple>(),
        py.get_type::<PyList>(),
    ];
    for base in bases {
        if class.is(&base) {
            return None;
        }
        // SAFETY: both are live type objects.
        if unsafe { ffi::PyType_IsSubtype(class.as_ptr().cast(), base.as_ptr().cast()) } == 0 {
            continue;
        }
        // Named tuples have types of their own, and what their classes define is compiled.
        if base.is(py.get_type::<PyTuple>()) && known::namedtuple_class(&class).is_ok_and(|c| c.is_some()) {
            return None;
        }
        return crate::classes::overrides(py, class.as_ptr().cast(), base.as_ptr().cast()).map(|m| (base, m));
    }
    None
}

/// What to pass instead of an object that has no type.
fn way_out(obj: &Bound<'_, PyAny>) -> &'static str {
    let class = value::class_name(obj);
    match class.as_str() {
        "numpy.float16" | "numpy.longdouble" | "fractions.Fraction" | "decimal.Decimal" => "pass float(x)",
        "numpy.clongdouble" => "pass complex(x)",
        "bytes" | "bytearray" | "memoryview" => "pass np.frombuffer(x, np.uint8), an array of its bytes",
        "dict" => "pass the keys and the values as lists: list(d), list(d.values())",
        "set" | "frozenset" | "generator" | "collections.deque" | "array.array" | "map" | "filter"
        | "zip" => "pass list(x) or np.array(list(x))",
        "numpy.datetime64" | "numpy.timedelta64" => "pass x.astype(np.int64), the number behind it",
        "numpy.void" => "pass its fields one by one",
        "functools.partial" | "method" => "pass a function written in Python, or call it outside",
        c if c.starts_with("pandas.") || c.starts_with("polars.") || c.starts_with("xarray.") => {
            "pass x.to_numpy()"
        }
        c if c.starts_with("torch.") => "pass x.numpy()",
        _ => "pass the numbers, strings, tuples and arrays that the function needs from it",
    }
}

/// Looks into a container, which may contain itself.
pub fn nested<T>(py: Python<'_>, look: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // SAFETY: the thread is attached; the two calls are paired.
    unsafe {
        if ffi::Py_EnterRecursiveCall(c" while the type of a value was found".as_ptr()) != 0 {
            return Err(PyErr::fetch(py).into());
        }
        let answer = look();
        ffi::Py_LeaveRecursiveCall();
        answer
    }
}

fn range_overflow(obj: &Bound<'_, PyAny>) -> Failure {
    PyOverflowError::new_err(format!(
        "{} has members that do not fit into 64 bits",
        obj.repr().map_or("a range".into(), |r| r.to_string())
    ))
    .into()
}

/// The type of a value that the host can hand to the compiler; none when it cannot be held.
pub fn value_type(v: &GlobalValue) -> Option<Type> {
    Some(match v {
        GlobalValue::Const(c) => c.ty(),
        GlobalValue::Builtin(p) => Type::new(Kind::Builtin(*p)),
        GlobalValue::Module(m) => Type::new(Kind::Module(m)),
        GlobalValue::Function(f) => Type::new(Kind::Function(FuncType {
            func: *f,
            defaults: vec![],
            captures: vec![],
            kwdefaults: vec![],
            bound: false,
        })),
        GlobalValue::DType(t) => Type::new(Kind::DType(*t)),
        GlobalValue::NamedTupleClass(c) => Type::new(Kind::NamedTupleClass(c)),
        GlobalValue::ExcClass(c) => Type::new(Kind::ExcClass(c)),
        GlobalValue::Class(c) => Type::new(Kind::Class(c)),
        GlobalValue::Tuple(t, _) => *t,
        GlobalValue::Array { ty, .. } => *ty,
        GlobalValue::Foreign(_) | GlobalValue::Unsupported(_) => return None,
    })
}

fn type_of_int(i: &Bound<'_, PyInt>) -> Result<Type, Failure> {
    match value::int_const(i.as_any())? {
        Const::Int(_) => Ok(Type::int()),
        Const::UInt(_) => Ok(Type::int_of(Int::U64)),
        _ => Err(PyOverflowError::new_err(
            "Python int too large for compiled code: integers have 64 bits there",
        )
        .into()),
    }
}

/// Layout, dimensions and element type of an array object.
///
/// # Safety
/// `a` must be a live array.
pub unsafe fn array_type(a: *const npy::PyArrayObject) -> Option<ArrayType> {
    // SAFETY: as required of the caller.
    unsafe {
        let dtype = npy::type_of_elem(npy::elem_code((*a).descr))?;
        let (nd, flags) = ((*a).nd, (*a).flags);
        Some(ArrayType {
            dtype,
            ndim: u8::try_from(nd).ok()?,
            layout: layout_of(flags, nd),
            access: if flags & npy::WRITEABLE == 0 { Access::Read } else { Access::Write },
        })
    }
}

/// `C` wins where an array is contiguous both ways.
#[inline]
pub fn layout_of(flags: i32, _nd: i32) -> Layout {
    if flags & npy::C_CONTIGUOUS != 0 {
        Layout::C
    } else if flags & npy::F_CONTIGUOUS != 0 {
        Layout::F
    } else {
        Layout::A
    }
}

fn type_of_array(obj: &Bound<'_, PyAny>, n: &npy::Numpy) -> Result<Type, Failure> {
    // SAFETY: `obj` is live.
    let class = unsafe { ffi::Py_TYPE(obj.as_ptr()) };
    if class != n.array_type && !is_plain_subclass(class, n) {
        let own = crate::classes::overrides(obj.py(), class, n.array_type).map_or_else(
            || "whose arithmetic is not that of numpy.ndarray".into(),
            |m| format!("which has {m} of its own"),
        );
        return Err(unsupported(format!(
            "compiled code cannot take {}, {own}",
            value::a(&value::class_name(obj))
        ))
        .with_help("pass np.asarray(x)"));
    }
    // SAFETY: `obj` is an instance of ndarray.
    if let Some(t) = unsafe { array_type(obj.as_ptr().cast()) } {
        return Ok(t.ty());
    }
    let dtype = obj.getattr("dtype")?;
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
        "M" | "m" => d.help("a.view(np.int64) passes the numbers behind dates and time spans"),
        _ => d.help("bool, integers, float32, float64, complex64 and complex128 are supported"),
    }
    .into())
}

/// Whether instances of this subclass of ndarray (memmap, a record of provenance) calculate like arrays.
pub fn is_plain_subclass(class: *mut ffi::PyTypeObject, n: &npy::Numpy) -> bool {
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
        crate::errors::attached(|py| crate::classes::overrides(py, class, n.array_type).is_none())
    }
}

fn type_of_tuple(t: &Bound<'_, PyTuple>) -> Result<Type, Failure> {
    let members = t.iter().map(|m| type_of(&m)).collect::<Result<Vec<_>, _>>()?;
    let class = t.get_type();
    if !t.is_exact_instance_of::<PyTuple>()
        && let Some(c) = known::namedtuple_class(&class)?
    {
        return Ok(Type::new(Kind::NamedTuple(c, members)));
    }
    Ok(Type::tuple(members))
}

/// The type of the dict that a call makes for `**kwargs`.
pub fn type_of_keywords(d: &Bound<'_, PyDict>) -> Result<Type, Failure> {
    let (mut fields, mut types) = (vec![], vec![]);
    for (k, v) in d.iter() {
        fields.push(k.extract()?);
        types.push(type_of(&v)?);
    }
    Ok(Type::new(Kind::NamedTuple(ClassDef::keywords(fields), types)))
}

/// The type of a list; all elements must have a common one.
pub fn type_of_list(l: &Bound<'_, PyList>) -> Result<Type, Failure> {
    let t = type_of_elements(l)?;
    if tierup_core::infer::vars::has_unknown(t) {
        return Err(Diagnostic::new(
            Code::UnknownElementType,
            "the element type of an empty list argument is not known",
        )
        .help("call the function with a list that has elements first, or pass an array")
        .into());
    }
    Ok(t)
}

/// [`type_of_list`] of a list that may be empty: then it is a list of `Never`, and what stands beside it
/// decides.
fn type_of_elements(l: &Bound<'_, PyList>) -> Result<Type, Failure> {
    refuse_overriding(l.as_any())?;
    let mut elem = Type::never();
    let mut last_class = std::ptr::null_mut();
    for item in l.iter() {
        // SAFETY: `item` is live.
        let class = unsafe { ffi::Py_TYPE(item.as_ptr()) };
        // A run of floats, strings or bools has one type. Ints have two (those past 63 bits), containers
        // many.
        if class == last_class
            && (class == &raw mut ffi::PyFloat_Type
                || class == &raw mut ffi::PyUnicode_Type
                || class == &raw mut ffi::PyBool_Type)
        {
            continue;
        }
        last_class = class;
        let t = match item.cast::<PyList>() {
            Ok(inner) => nested(l.py(), || type_of_elements(inner))?,
            Err(_) => type_of(&item)?,
        };
        elem = merge_elements(elem, t).ok_or_else(|| -> Failure {
            Diagnostic::new(
                Code::UnsupportedArgument,
                format!("the elements of a list argument have different types: {elem} and {t}"),
            )
            .help("a tuple may hold values of different types")
            .into()
        })?;
    }
    Ok(Type::list(elem))
}

/// The type that holds elements of both: what [`crate::plan`] converts to, no more.
fn merge_elements(a: Type, b: Type) -> Option<Type> {
    if a == b || *b == Kind::Never {
        return Some(a);
    }
    if *a == Kind::Never {
        return Some(b);
    }
    if let (Kind::NamedTuple(c, x), Kind::NamedTuple(d, y)) = (a.kind(), b.kind())
        && c == d
        && x.len() == y.len()
    {
        return x
            .iter()
            .zip(y)
            .map(|(a, b)| merge_elements(*a, *b))
            .collect::<Option<Vec<_>>>()
            .map(|m| Type::new(Kind::NamedTuple(c, m)));
    }
    let rank = |t: Type| match *t {
        Kind::Bool => Some(0),
        Kind::Int(Int::Py) => Some(1),
        Kind::Float(tierup_core::types::Float::Py) => Some(2),
        Kind::Complex(tierup_core::types::Float::Py) => Some(3),
        _ => None,
    };
    if let (Some(x), Some(y)) = (rank(a), rank(b)) {
        return Some(if x > y { a } else { b });
    }
    match (a.kind(), b.kind()) {
        (Kind::Tuple(x), Kind::Tuple(y)) if x.len() == y.len() => {
            x.iter().zip(y).map(|(a, b)| merge_elements(*a, *b)).collect::<Option<Vec<_>>>().map(Type::tuple)
        }
        (Kind::Array(x), Kind::Array(y)) if x.dtype == y.dtype && x.ndim == y.ndim => Some(
            ArrayType {
                layout: if x.layout == y.layout { x.layout } else { Layout::A },
                access: x.access.join(y.access),
                ..*x
            }
            .ty(),
        ),
        (Kind::List(x), Kind::List(y)) => merge_elements(*x, *y).map(Type::list),
        (Kind::Optional(x), Kind::Optional(y)) => merge_elements(*x, *y).map(Type::optional),
        (Kind::Optional(x), _) => merge_elements(*x, b).map(Type::optional),
        (_, Kind::Optional(y)) => merge_elements(a, *y).map(Type::optional),
        (Kind::None, _) => Some(Type::optional(b)),
        (_, Kind::None) => Some(Type::optional(a)),
        // Functions and classes: one of several.
        _ if a.leaf_count() == 0 && b.leaf_count() == 0 || matches!(*a, Kind::Variant(_)) => {
            tierup_core::types::promote::unify(a, b)
        }
        _ => None,
    }
}

impl Failure {
    fn with_help(self, text: &str) -> Failure {
        match self {
            Failure::Diagnostic(d) => d.help(text).into(),
            Failure::Raised(e) => Failure::Raised(e),
        }
    }
}
