//! What a global, captured or attribute value means to the compiler.

use crate::convert::{buffers, datetimes, nested, recognise, times};
use crate::errors::Failure;
use crate::overrides::{hidden, overridden};
use crate::wording::{a, class_name};
use crate::{dataclasses, enums, functions, known, npy, operations, overloads, record_types, texts};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyEllipsis, PyFloat, PyFunction, PyInt, PyList, PyModule, PySet,
    PySlice, PyString, PyTuple, PyType, PyTypeMethods,
};
use std::sync::atomic::{AtomicBool, Ordering};
use tierup_core::host::GlobalValue;
use tierup_core::types::{Access, ArrayType, Const, Float, FuncType, Kind, Layout, Type};

/// Who is told about values that compiled code will depend on beyond their identity.
pub(crate) trait Record {
    /// Address of a `MemBlock` that stands for `array` as long as the code lives; 0 when the value is only
    /// wanted for its type.
    fn array(&self, array: &Bound<'_, PyAny>) -> usize;
    /// Whether global arrays are constants of the code, which nothing is written to.
    fn freezes(&self) -> bool {
        false
    }
    /// What code has in the place of a global array.
    fn constant<'a>(&self, array: &Bound<'a, PyAny>) -> PyResult<Bound<'a, PyAny>> {
        Ok(array.clone())
    }
    /// A class whose bases and fields the compiler will know.
    fn class(&self, class: &Bound<'_, PyType>);
    /// An object that calls can be given beside their arguments, or why it cannot be. None where it is nothing of that
    /// kind, or calls are given none.
    fn passed(&self, _obj: &Bound<'_, PyAny>) -> Result<Option<GlobalValue>, Failure> {
        Ok(None)
    }
}
/// For a look at types alone.
pub(crate) struct NoRecord;
impl Record for NoRecord {
    fn array(&self, _: &Bound<'_, PyAny>) -> usize {
        0
    }
    fn class(&self, _: &Bound<'_, PyType>) {}
}

/// An integer as a constant; `Const::None` when it does not fit into 64 bits.
pub(crate) fn int_const(i: &Bound<'_, PyAny>) -> PyResult<Const> {
    let mut overflow = 0;
    // SAFETY: `i` is a live int.
    let x = unsafe { ffi::PyLong_AsLongLongAndOverflow(i.as_ptr(), &mut overflow) };
    if x == -1
        && overflow == 0
        && let Some(e) = PyErr::take(i.py())
    {
        return Err(e);
    }
    Ok(match overflow {
        0 => Const::Int(x),
        1 => i.extract::<u64>().map_or(Const::None, Const::UInt),
        _ => Const::None,
    })
}

fn scalar_const(obj: &Bound<'_, PyAny>) -> PyResult<Option<Const>> {
    if obj.is_none() {
        return Ok(Some(Const::None));
    }
    if obj.is_instance_of::<PyEllipsis>() {
        return Ok(Some(Const::Ellipsis));
    }
    if let Ok(b) = obj.cast::<PyBool>() {
        return Ok(Some(Const::Bool(b.is_true())));
    }
    if obj.is_instance_of::<PyInt>() {
        let c = int_const(obj)?;
        return Ok(if c == Const::None { None } else { Some(c) });
    }
    if let Ok(x) = obj.cast::<PyFloat>() {
        return Ok(Some(Const::Float(x.value())));
    }
    if let Ok(z) = obj.cast::<PyComplex>() {
        use pyo3::types::PyComplexMethods;
        return Ok(Some(Const::Complex(z.real(), z.imag())));
    }
    if let Ok(s) = obj.cast::<PyString>() {
        return Ok(s.to_str().ok().map(|s| Const::Str(s.into())));
    }
    if let Ok(s) = obj.cast::<PyBytes>() {
        return Ok(Some(Const::Bytes(s.as_bytes().into())));
    }
    Ok(None)
}

/// The constant that an object is: a scalar of Python's or NumPy's, a string, a tuple of such.
pub(crate) fn constant(obj: &Bound<'_, PyAny>) -> PyResult<Option<Const>> {
    if let Some(c) = scalar_const(obj)? {
        return Ok(Some(c));
    }
    if let Ok(t) = obj.cast_exact::<PyTuple>() {
        let all = nested(|| t.iter().map(|m| Ok(constant(&m)?)).collect::<Result<Option<Vec<_>>, Failure>>());
        return Ok(all.ok().flatten().map(Const::Tuple));
    }
    match npy::get(obj.py())? {
        // SAFETY: `obj` is live.
        Some(n) if n.scalar_type(unsafe { ffi::Py_TYPE(obj.as_ptr()) }).is_some() => {
            scalar_const(&obj.call_method0("item")?)
        }
        Some(_) | None => Ok(None),
    }
}

/// What `obj` means to the compiler.
pub(crate) fn classify(obj: &Bound<'_, PyAny>, record: &dyn Record) -> Result<GlobalValue, Failure> {
    if crate::convert::recognise::is_being_made(obj) {
        return Ok(GlobalValue::Unsupported("a class that is being made".into()));
    }
    // A number of an `IntEnum` is no plain one.
    if known::type_of_members(&obj.get_type())?.is_some()
        && let Some(v) = classify_instance(obj, record)?
    {
        return Ok(v);
    }
    if let Some((base, method)) = overridden(obj) {
        return Ok(GlobalValue::Unsupported(format!(
            "{}, a {} with {method} of its own",
            a(&class_name(obj)),
            base.name()?
        )));
    }
    if let Some(c) = scalar_const(obj)? {
        return Ok(GlobalValue::Const(c));
    }
    if obj.is_instance_of::<PyInt>() {
        return Ok(GlobalValue::Unsupported("an int of more than 64 bits".into()));
    }
    if let Some(v) = classify_numpy(obj, record)? {
        return Ok(v);
    }
    if let Ok(s) = obj.cast::<PySlice>() {
        return classify_slice(s);
    }
    if obj.is_instance_of::<PyModule>() {
        let name = known::module_name(obj)?;
        if name == "numpy" {
            say_version(obj)?;
        }
        return Ok(GlobalValue::Module(name));
    }
    if let Some(op) = operations::ours(obj)? {
        return Ok(GlobalValue::Builtin(op));
    }
    if let Some(p) = operations::operation_of(obj)? {
        return Ok(GlobalValue::Builtin(p));
    }
    if !obj.is_instance_of::<PyType>()
        && let Some(f) = overloads::of_object(obj)
    {
        return Ok(GlobalValue::Function(f));
    }
    if let Ok(c) = obj.cast::<PyType>() {
        return classify_class(c, record);
    }
    if let Some(f) = functions::function_of_c(obj)? {
        return functions::func_id_of(obj, &f).map(GlobalValue::Function);
    }
    if let Some(name) = foreign_function(obj)? {
        return Ok(GlobalValue::Foreign(name));
    }
    if is_decorator(obj)? {
        return Ok(GlobalValue::Unsupported("a decorator".into()));
    }
    if let Some(f) = functions::python_function(obj) {
        return functions::func_id_of(obj, &f).map(GlobalValue::Function);
    }
    if let Ok(t) = obj.cast::<PyTuple>() {
        return classify_tuple(t, record);
    }
    // A kernel that another one calls is its function.
    let called = intern!(obj.py(), "_tierup_called_");
    if functions::class_has(obj, called) {
        return classify(&obj.getattr(called)?, record);
    }
    if let Some(v) = classify_instance(obj, record)? {
        return Ok(v);
    }
    if let Some(t) = operations::type_object(obj)?.or(type_of_objects(obj)?) {
        return Ok(GlobalValue::DType(t));
    }
    if says_type(obj)? {
        return Ok(GlobalValue::TypeExpression(describe(obj)));
    }
    if let Some(v) = record.passed(obj)? {
        return Ok(v);
    }
    Ok(GlobalValue::Unsupported(describe(obj)))
}

/// The same of a class.
fn classify_class(c: &Bound<'_, PyType>, record: &dyn Record) -> Result<GlobalValue, Failure> {
    if !c.mro().get_item(0)?.is(c) {
        let text = format!(
            "{}, a class that does not come first in its own method resolution order",
            c.getattr("__name__")?
        );
        return Ok(GlobalValue::Unsupported(text));
    }
    if says_type(c)? {
        return Ok(GlobalValue::TypeExpression(format!("the class {}", c.name()?)));
    }
    record.class(c);
    if let Some(c) = known::exception_class(c)? {
        return Ok(GlobalValue::ExcClass(c));
    }
    if let Some(c) = known::namedtuple_class(c)? {
        return Ok(GlobalValue::NamedTupleClass(c));
    }
    known::plain_class(c).map(GlobalValue::Class).map_err(Into::into)
}

/// A slice, whose parts must be integers or None.
fn classify_slice(s: &Bound<'_, PySlice>) -> Result<GlobalValue, Failure> {
    let mut parts = [Const::None, Const::None, Const::None];
    for (part, name) in parts.iter_mut().zip(["start", "stop", "step"]) {
        match constant(&s.getattr(name)?)? {
            Some(c @ (Const::None | Const::Int(_))) => *part = c,
            Some(_) | None => {
                return Ok(GlobalValue::Unsupported("a slice of something else than integers".into()));
            }
        }
    }
    Ok(GlobalValue::Slice(parts))
}

/// The type of objects in native memory, or that of records, that an object of `tierup.types` stands for.
fn type_of_objects(obj: &Bound<'_, PyAny>) -> PyResult<Option<Type>> {
    let Ok(text) = obj.getattr(intern!(obj.py(), "_tierup_type_")) else { return Ok(None) };
    let Ok(text) = text.cast::<PyString>() else { return Ok(None) };
    let found = texts::parse_type(obj.py(), text.to_str()?).ok();
    // A record by itself is a view of its place.
    if let Some(a) = found.and_then(Type::as_array) {
        return Ok(Some(a.dtype).filter(|t| a.ndim == 0 && t.record().is_some()));
    }
    Ok(found.filter(|t| matches!(t.kind(), Kind::Object(class, _) if class.is_native())))
}

/// Whether an object says a type and does nothing else: a special form, a type variable, an alias.
fn says_type(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = obj.get_type();
    if let Ok(form) = obj.cast::<PyType>() {
        // A class in some versions of Python.
        return Ok(form.name()?.to_str()? == "Annotated" && form.module()?.to_str()? == "typing");
    }
    // A metaclass of the user's is not asked anything.
    if !class.get_type().is(obj.py().get_type::<PyType>()) {
        return Ok(false);
    }
    let module = class.getattr_opt("__module__")?.and_then(|m| m.extract::<String>().ok());
    Ok(match module.as_deref() {
        // The class of a new type is called, as a function is.
        Some("typing" | "_typing") => class.name()?.to_str()? != "NewType",
        Some("types") => matches!(class.name()?.to_str()?, "GenericAlias" | "UnionType"),
        Some(_) | None => false,
    })
}

/// The type of a value that the host can hand to the compiler; none when it cannot be held.
pub(crate) fn value_type(v: &GlobalValue) -> Option<Type> {
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
        GlobalValue::Member(c, _) => Type::new(Kind::Member(c)),
        GlobalValue::Time(t, _) => t.ty(),
        GlobalValue::Slice(parts) => Type::new(Kind::Slice(parts.each_ref().map(Const::ty))),
        GlobalValue::Tuple(t, _) => *t,
        GlobalValue::Array { ty, .. } | GlobalValue::Passed { ty, .. } => *ty,
        GlobalValue::Variable { .. }
        | GlobalValue::Foreign(_)
        | GlobalValue::TypeExpression(_)
        | GlobalValue::Unsupported(_) => {
            return None;
        }
    })
}

/// Says which NumPy this is, when the first of it is met: importing Tierup does not load it.
fn say_version(numpy: &Bound<'_, PyAny>) -> PyResult<()> {
    static SAID: AtomicBool = AtomicBool::new(false);
    if SAID.load(Ordering::Relaxed) {
        return Ok(());
    }
    let version: String = numpy.getattr("__version__")?.extract()?;
    let mut parts = version.split('.').map_while(|p| p.parse::<u8>().ok());
    if let (Some(major), Some(minor)) = (parts.next(), parts.next()) {
        tierup_core::python::numpy_is(major, minor);
    }
    SAID.store(true, Ordering::Relaxed);
    Ok(())
}

/// The name of a function that is not the user's: written in C, or in Python inside NumPy, whose insides are
/// not for compiling.
fn foreign_function(obj: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let class = obj.get_type().name()?.to_string();
    let of_c = matches!(
        class.as_str(),
        "builtin_function_or_method"
            | "ufunc"
            | "_ArrayFunctionDispatcher"
            | "cython_function_or_method"
            | "method_descriptor"
            | "wrapper_descriptor"
    );
    let module: String = obj.getattr("__module__").and_then(|m| m.extract()).unwrap_or_default();
    if !of_c && !(class == "function" && (module == "numpy" || module.starts_with("numpy."))) {
        return Ok(None);
    }
    if class == "ufunc" || module.starts_with("numpy") {
        say_version(obj.py().import("numpy")?.as_any())?;
    }
    let name: String = obj.getattr("__qualname__").or_else(|_| obj.getattr("__name__"))?.extract()?;
    let module =
        if class == "ufunc" && module.is_empty() { "numpy" } else { module.trim_start_matches("builtins") };
    Ok(Some(if module.is_empty() { name } else { format!("{module}.{name}") }))
}

/// What compiled code has in place of an `itertools.count` of ints, which goes on where Python and compiled code
/// have left it.
fn counted<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = obj.py();
    let class = obj.get_type();
    if class.name()? != "count" || !class.is(&py.import(intern!(py, "itertools"))?.getattr("count")?) {
        return Ok(None);
    }
    let stand_in = py.import(intern!(py, "tierup._counts"))?.call_method1(intern!(py, "counted"), (obj,))?;
    Ok((!stand_in.is_none()).then_some(stand_in))
}

/// Names what cannot be held, with a way out where there is a common one.
fn describe(obj: &Bound<'_, PyAny>) -> String {
    let hint = if obj.is_instance_of::<PyList>() {
        " (a tuple or an array can be)"
    } else if obj.is_instance_of::<PyDict>() || obj.is_instance_of::<PySet>() {
        " (not yet)"
    } else {
        ""
    };
    format!("{}{hint}", a(&class_name(obj)))
}

fn classify_numpy(obj: &Bound<'_, PyAny>, record: &dyn Record) -> Result<Option<GlobalValue>, Failure> {
    let Some(n) = npy::get(obj.py())? else { return Ok(None) };
    // SAFETY: `obj` is live.
    let class = unsafe { ffi::Py_TYPE(obj.as_ptr()) };
    if class == n.array_type {
        return classify_array(obj, record).map(Some);
    }
    if n.scalar_type(class).is_some() {
        return Ok(scalar_const(&obj.call_method0("item")?)?.map(GlobalValue::Const));
    }
    if let Some((t, value)) = times::global(obj) {
        return Ok(Some(GlobalValue::Time(t, value)));
    }
    // SAFETY: both are live type objects.
    if unsafe { ffi::PyType_IsSubtype(class, n.dtype_type) } != 0 {
        // SAFETY: an instance of `numpy.dtype` starts with the struct that is read.
        let t = npy::type_of_elem(unsafe { npy::elem_code(obj.as_ptr().cast()) });
        // SAFETY: as above.
        let is_half = unsafe { (*obj.as_ptr().cast::<npy::Descr>()).type_num } == npy::HALF;
        let t = t.or_else(|| is_half.then(|| Type::float_of(Float::F16)));
        let t = t.or_else(|| record_types::of_dtype(obj).ok().flatten());
        return Ok(Some(
            t.map_or_else(|| GlobalValue::Unsupported(format!("the dtype {obj}")), GlobalValue::DType),
        ));
    }
    if obj.is_instance_of::<PyType>() && obj.as_ptr().cast() == n.half_type {
        return Ok(Some(GlobalValue::DType(Type::float_of(Float::F16))));
    }
    if obj.is_instance_of::<PyType>()
        && let Some(t) = n.scalar_type(obj.as_ptr().cast())
    {
        return Ok(Some(GlobalValue::DType(t)));
    }
    Ok(None)
}

fn classify_array(obj: &Bound<'_, PyAny>, record: &dyn Record) -> Result<GlobalValue, Failure> {
    let obj = &record.constant(obj)?;
    let a = obj.as_ptr().cast::<npy::PyArrayObject>();
    // SAFETY: `obj` is an ndarray; its shape and strides have `nd` members.
    unsafe {
        let records = || {
            let (dtype, ndim) = (record_types::of_descr((*a).descr)?, u8::try_from((*a).nd).ok()?);
            let layout = if ndim == 0 { Layout::C } else { npy::layout_of((*a).flags) };
            let access = if (*a).flags & npy::WRITEABLE == 0 { Access::Read } else { Access::Write };
            Some(ArrayType { dtype, ndim, layout, access })
        };
        let Some(t) = npy::array_type(a).or_else(records) else {
            return Ok(GlobalValue::Unsupported(format!("an array of dtype {}", obj.getattr("dtype")?)));
        };
        let t = if record.freezes() { ArrayType { access: Access::Read, ..t } } else { t };
        let nd = t.ndim();
        let read = |p: *const isize| (0..nd).map(|i| *p.add(i) as i64).collect::<Vec<_>>();
        let strides = if t.layout == Layout::A { read((*a).strides) } else { vec![] };
        Ok(GlobalValue::Array {
            ty: t.ty(),
            owner: record.array(obj),
            data: (*a).data as usize,
            shape: read((*a).dimensions),
            strides,
        })
    }
}

/// The values that a global tuple may hold, each of them a constant of the code.
const LARGEST_GLOBAL: usize = 100_000;

fn classify_tuple(t: &Bound<'_, PyTuple>, record: &dyn Record) -> Result<GlobalValue, Failure> {
    let members = nested(|| {
        if !recognise::has_room(t.len(), LARGEST_GLOBAL) {
            return Ok(vec![GlobalValue::Unsupported(format!("more than {LARGEST_GLOBAL} values in all"))]);
        }
        t.iter().map(|m| classify(&m, record)).collect::<Result<Vec<_>, _>>()
    })?;
    if let Some(GlobalValue::Unsupported(what) | GlobalValue::TypeExpression(what)) =
        members.iter().find(|m| matches!(m, GlobalValue::Unsupported(_) | GlobalValue::TypeExpression(_)))
    {
        let inner = what.strip_prefix("a tuple with ").unwrap_or(what);
        return Ok(GlobalValue::Unsupported(format!("a tuple with {inner}")));
    }
    let named = if t.is_exact_instance_of::<PyTuple>() {
        None
    } else {
        record.class(&t.get_type());
        known::namedtuple_class(&t.get_type())?
    };
    if let Some(name) = named.map_or(Ok(None), |_| hidden(t.as_any(), &[]))? {
        let class = a(&class_name(t.as_any()));
        return Ok(GlobalValue::Unsupported(format!("{class} with an attribute '{name}' of its own")));
    }
    if named.is_none() && members.iter().all(|m| matches!(m, GlobalValue::Const(_))) {
        return Ok(GlobalValue::Const(Const::Tuple(
            members
                .into_iter()
                .filter_map(|m| if let GlobalValue::Const(c) = m { Some(c) } else { None })
                .collect(),
        )));
    }
    let Some(types) = members.iter().map(value_type).collect::<Option<Vec<_>>>() else {
        return Ok(GlobalValue::Unsupported("a tuple".into()));
    };
    let ty = match named {
        Some(c) => Type::new(Kind::NamedTuple(c, types)),
        None => Type::tuple(types),
    };
    Ok(GlobalValue::Tuple(ty, members))
}

/// An instance of a class whose instances are values.
fn classify_instance(obj: &Bound<'_, PyAny>, record: &dyn Record) -> Result<Option<GlobalValue>, Failure> {
    if let Some((t, numbers)) = datetimes::global(obj) {
        let numbers = numbers.into_iter().map(|n| GlobalValue::Const(Const::Int(n))).collect();
        return Ok(Some(GlobalValue::Tuple(t, numbers)));
    }
    if let Some(class) = enums::class_of_mark(obj)? {
        return Ok(known::enumeration(&class)?.map(|def| GlobalValue::Member(def, 0)));
    }
    let seen = buffers::seen(obj)?.or(counted(obj)?);
    let obj = seen.as_ref().unwrap_or(obj);
    let class = obj.get_type();
    if enums::may_be(&class) {
        let Some(def) = known::enumeration(&class)? else { return Ok(None) };
        record.class(&class);
        return Ok(enums::number(&class, obj)?.map(|n| GlobalValue::Member(def, n)));
    }
    if !dataclasses::may_be(&class) {
        return Ok(None);
    }
    let Some(def) = known::frozen_class(&class)? else { return Ok(None) };
    record.class(&class);
    let what = a(&class_name(obj));
    if let Some(name) = hidden(obj, &def.fields)? {
        let text = format!("{what} with an attribute '{name}' of its own");
        return Ok(Some(GlobalValue::Unsupported(text)));
    }
    let (mut members, mut types) = (vec![], vec![]);
    for name in &def.fields {
        let found = match obj.getattr_opt(name.as_str())? {
            Some(value) => nested(|| classify(&value, record))?,
            None => GlobalValue::Unsupported("no value".into()),
        };
        match (value_type(&found), &found) {
            (Some(t), _) => types.push(t),
            (None, GlobalValue::Unsupported(of) | GlobalValue::TypeExpression(of)) => {
                let text = format!("{what} whose field '{name}' is {of}");
                return Ok(Some(GlobalValue::Unsupported(text)));
            }
            (None, _) => return Ok(Some(GlobalValue::Unsupported(what))),
        }
        members.push(found);
    }
    Ok(Some(GlobalValue::Tuple(Type::new(Kind::Frozen(def, types)), members)))
}

/// Whether it is one of those that make an object of Python out of a kernel: `stencil`, `vectorize`,
/// `guvectorize`, `cfunc`. They are functions of Python themselves.
fn is_decorator(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(f) = obj.cast::<PyFunction>() else { return Ok(false) };
    let home = f.getattr(intern!(obj.py(), "__module__"))?;
    let Ok(home) = home.cast::<PyString>() else { return Ok(false) };
    if !matches!(home.to_str()?, "tierup._stencil" | "tierup._ufunc" | "tierup._cfunc") {
        return Ok(false);
    }
    let name = f.getattr(intern!(obj.py(), "__qualname__"))?;
    Ok(name
        .cast::<PyString>()
        .is_ok_and(|n| matches!(n.to_str(), Ok("stencil" | "vectorize" | "guvectorize" | "cfunc"))))
}
