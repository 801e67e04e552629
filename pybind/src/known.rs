//! Python objects that the compiler knows by name or number: exception and named tuple classes, modules; and
//! those that a type is about. Classes and modules of the user's live as long as they do without us.

use crate::operations::operation_of;
use crate::{dataclasses, enums, functions, identity, objects, structs};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType, PyTypeMethods};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use tierup_core::exc::{Class, FIRST_HOST_CLASS};
use tierup_core::types::class::{ClassDef, ClassId, HostClass, Instances};
use tierup_core::types::{Kind, Type};

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}

// ---------------------------------------------------------------- classes

/// A class, and what its definition was made of.
struct Known {
    def: &'static ClassDef,
    handle: u64,
    /// The classes of its MRO by their numbers ([`crate::identity`]).
    order: Vec<u64>,
    /// `_fields` of a class of named tuples.
    fields: Option<Py<PyAny>>,
    /// What it is as a class whose instances are values.
    values: Option<Values>,
}

/// Classes by the numbers of [`crate::identity`], and those numbers by handle. Handles count classes alone:
/// code in the cache may hold one, and finds what it finds here.
#[derive(Default)]
struct Classes {
    by_object: HashMap<u64, Arc<Known>>,
    objects: HashMap<u64, u64>,
    made: u64,
    /// Fields that instances of a class had which nothing in its class says, by the numbers of the classes.
    more_fields: HashMap<u64, Vec<String>>,
    /// Attributes of instances that compiled code leaves alone, likewise.
    left_out: HashMap<u64, Vec<String>>,
}
static CLASSES: LazyLock<Mutex<Classes>> = LazyLock::new(Default::default);

/// The definition that a class has, if it is still of the bases and fields that it was made of.
fn known_class(class: &Bound<'_, PyType>) -> Option<&'static ClassDef> {
    let object = identity::known_number(class.as_any())?;
    let known = lock(&CLASSES).by_object.get(&object)?.clone();
    let order = class.mro();
    let same_order = order.len() == known.order.len()
        && order.iter().zip(&known.order).all(|(c, n)| identity::known_number(&c) == Some(*n));
    let same_fields = match &known.fields {
        None => true,
        Some(f) => class.getattr(intern!(class.py(), "_fields")).is_ok_and(|now| now.is(f)),
    };
    let same_values = match &known.values {
        None => !is_frozen(class) && !enums::may_be(class) && !objects::may_be(class),
        Some(found) => {
            let told = more_fields(class).len() + left_out(class).len();
            found.version != 0 && found.version == version(class) && found.told == told
        }
    };
    let same = same_order && same_fields && same_values && known.def.constructed == constructed(class);
    same.then_some(known.def)
}

/// What was found out about a class whose instances are values.
pub(crate) struct Values {
    pub(crate) fields: Vec<String>,
    pub(crate) instances: Instances,
    /// The number that Python gave the class as it was; 0 for none.
    version: std::ffi::c_uint,
    /// How many of the fields only instances had, and how many are left out.
    told: usize,
}

impl Values {
    fn of(class: &Bound<'_, PyType>) -> PyResult<Option<Values>> {
        let (version, more, left_out) = (version(class), more_fields(class), left_out(class));
        let (fields, instances) = match dataclasses::look(class)? {
            Some((fields, generated)) => (fields, Instances::Frozen(generated)),
            None => match enums::look(class)? {
                Some(_) if enums::is_of_mark(class)? => (vec![], Instances::Mark),
                Some(_) if let Some(single) = enums::flags(class)? => {
                    let (single, whole) = (single.leak(), enums::values(class)?.is_some());
                    (vec![], Instances::Flags { single, whole })
                }
                Some(_) if let Some(all) = enums::values(class)? => (vec![], Instances::Values(all.leak())),
                Some((count, equality)) => (vec![], Instances::Members { count, equality }),
                None => match objects::look(class)? {
                    Some((mut fields, identity)) => {
                        fields.extend(more.iter().cloned());
                        fields.retain(|f| !left_out.contains(f));
                        (fields, Instances::Objects { identity, native: structs::is(class) })
                    }
                    None => return Ok(None),
                },
            },
        };
        Ok(Some(Values { fields, instances, version, told: more.len() + left_out.len() }))
    }
}

/// The fields that instances of a class had which nothing in its class says.
fn more_fields(class: &Bound<'_, PyType>) -> Vec<String> {
    let Some(object) = identity::known_number(class.as_any()) else { return vec![] };
    lock(&CLASSES).more_fields.get(&object).cloned().unwrap_or_default()
}

/// Attributes of instances of a class that compiled code leaves alone.
pub(crate) fn left_out(class: &Bound<'_, PyType>) -> Vec<String> {
    let Some(object) = identity::known_number(class.as_any()) else { return vec![] };
    lock(&CLASSES).left_out.get(&object).cloned().unwrap_or_default()
}

/// Whether compiled code takes an attribute of instances of a class for a field.
pub(crate) fn is_field(class: &Bound<'_, PyType>, name: &str) -> bool {
    known_class(class).is_some_and(|def| def.has_objects() && def.fields.iter().any(|f| f == name))
}

/// Compiled code leaves an attribute of instances of a class alone from now on: to it there is no such field.
pub(crate) fn leave_out(class: &Bound<'_, PyType>, name: &str) -> PyResult<()> {
    let object = identity::number_of(class.as_any())?;
    lock(&CLASSES).left_out.entry(object).or_default().push(name.to_owned());
    GROWN.fetch_add(1, Ordering::Relaxed);
    host_class(class).map(|_| ())
}

/// How often the fields of a class became others.
static GROWN: AtomicU64 = AtomicU64::new(0);

/// What was typed or compiled while this changes may know a class without fields that it has by now.
pub(crate) fn grown() -> u64 {
    GROWN.load(Ordering::Relaxed)
}

/// Instances of a class have these fields as well from now on. None is taken back: an instance may have them.
pub(crate) fn add_fields(class: &Bound<'_, PyType>, names: Vec<String>) -> PyResult<&'static ClassDef> {
    let object = identity::number_of(class.as_any())?;
    {
        let mut table = lock(&CLASSES);
        let more = table.more_fields.entry(object).or_default();
        // It is asked for wherever the field is set, until what is compiled begins anew.
        for name in names {
            if !more.contains(&name) {
                more.push(name);
            }
        }
    }
    GROWN.fetch_add(1, Ordering::Relaxed);
    host_class(class)
}

/// The number of a class as it is: a change of the class or of its bases takes it away, the look-up of an
/// attribute gives it one.
fn version(class: &Bound<'_, PyType>) -> std::ffi::c_uint {
    let _ = class.getattr(intern!(class.py(), "__doc__"));
    // SAFETY: a live class.
    unsafe { (*class.as_ptr().cast::<ffi::PyTypeObject>()).tp_version_tag }
}

/// Whether a class says of itself that it is a dataclass whose instances never change.
fn is_frozen(class: &Bound<'_, PyType>) -> bool {
    dataclasses::may_be(class)
        && class
            .getattr(intern!(class.py(), "__dataclass_params__"))
            .and_then(|params| params.getattr(intern!(class.py(), "frozen"))?.is_truthy())
            .unwrap_or(false)
}

/// The definition of a class that the compiler does not know by itself.
fn host_class(class: &Bound<'_, PyType>) -> PyResult<&'static ClassDef> {
    if let Some(c) = known_class(class) {
        return Ok(c);
    }
    let object = identity::number_of(class.as_any())?;
    let mut bases = class.bases().iter().map(|b| base_class(&b)).collect::<PyResult<Vec<_>>>()?;
    let of_tuple = tuple_fields(class)?;
    if of_tuple.is_some() {
        // What is directly below tuple got its fields and the methods of a named tuple from Python's
        // machinery.
        for b in bases.iter_mut().filter(|b| **b == ClassId::TUPLE) {
            *b = ClassId::NAMED_TUPLE;
        }
    }
    let mro = class.mro();
    if !mro.get_item(0)?.is(class) {
        let text = format!("{class} does not come first in its own method resolution order");
        return Err(PyTypeError::new_err(text));
    }
    let mut order = vec![];
    for b in mro.iter().skip(1) {
        let id = base_class(&b)?;
        if id == ClassId::TUPLE && bases.iter().any(|b| b.def().is_a(ClassId::NAMED_TUPLE)) {
            order.push(ClassId::NAMED_TUPLE);
        }
        order.push(id);
    }
    let numbers = mro.iter().map(|c| identity::number_of(&c)).collect::<PyResult<Vec<_>>>()?;
    let name: String = class.getattr("__name__")?.extract()?;
    let qualname: String = class.getattr("__qualname__")?.extract()?;
    let (fields, read_of) = of_tuple.unzip();
    let values = Values::of(class)?;
    let instances = values.as_ref().map_or(Instances::Inherited, |v| v.instances);
    let mut table = lock(&CLASSES);
    let handle = match table.by_object.get(&object) {
        Some(known) => known.handle,
        None => {
            table.made += 1;
            FIRST_HOST_CLASS + table.made - 1
        }
    };
    let fields = fields.or_else(|| Some(values.as_ref()?.fields.clone())).unwrap_or_default();
    let (order, constructed) = (Some(order), constructed(class));
    let told = HostClass { handle, name, qualname, bases, order, fields, instances, constructed };
    let def = ClassDef::of_host(told)
        .map_err(|_| PyTypeError::new_err(format!("{class} has bases that contradict each other")))?;
    let known = Arc::new(Known { def, handle, order: numbers, fields: read_of, values });
    let before = table.by_object.insert(object, known);
    table.objects.insert(handle, object);
    drop(table);
    // It may have the last reference to a tuple of names.
    drop(before);
    Ok(def)
}

/// Whether an exception class makes its instances in another way than BaseException does: it, a base or its
/// class has code of its own for that.
fn constructed(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: a live class; that of BaseException and `type` live for ever. Their slots are only compared.
    unsafe {
        if ffi::PyExceptionClass_Check(class.as_ptr()) == 0 {
            return false;
        }
        let class = class.as_ptr().cast::<ffi::PyTypeObject>();
        let base = ffi::PyExc_BaseException.cast::<ffi::PyTypeObject>();
        let address = |f: Option<ffi::initproc>| f.map(|f| f as usize);
        let new = |f: Option<ffi::newfunc>| f.map(|f| f as usize);
        let call = |c: *mut ffi::PyTypeObject| (*c).tp_call.map(|f| f as usize);
        address((*class).tp_init) != address((*base).tp_init)
            || new((*class).tp_new) != new((*base).tp_new)
            || call(ffi::Py_TYPE(class.cast())) != call(&raw mut ffi::PyType_Type)
    }
}

/// The class that another one is derived from.
fn base_class(base: &Bound<'_, PyAny>) -> PyResult<ClassId> {
    if let Some(id) = operation_of(base)?.and_then(tierup_core::classes::object) {
        return Ok(id);
    }
    let base = base.cast::<PyType>()?;
    Ok(match exception_class(base)? {
        Some(c) => c.id,
        None => host_class(base)?.id,
    })
}

/// The field names of a class of named tuples, and the object that they were read of.
fn tuple_fields(class: &Bound<'_, PyType>) -> PyResult<Option<(Vec<String>, Py<PyAny>)>> {
    if !class.is_subclass_of::<PyTuple>()? {
        return Ok(None);
    }
    Ok(class.getattr("_fields").ok().and_then(|f| Some((f.extract().ok()?, f.unbind()))))
}

/// Forgets a class or module that is gone.
pub(crate) fn forget(object: u64) {
    let gone = {
        let mut table = lock(&CLASSES);
        let gone = table.by_object.remove(&object);
        table.more_fields.remove(&object);
        table.left_out.remove(&object);
        gone.as_ref().map(|c| table.objects.remove(&c.handle));
        gone
    };
    drop(gone);
    let mut table = lock(&MODULES);
    if let Some(name) = table.by_object.remove(&object) {
        table.by_name.insert(name, None);
    }
}

/// The Python class behind a native one.
pub(crate) fn native_class(py: Python<'_>, c: Class) -> PyResult<Bound<'_, PyAny>> {
    const ELSEWHERE: [(Class, &str); 2] =
        [(Class::AxisError, "numpy.exceptions"), (Class::IntegerOverflow, "tierup.errors")];
    let home = ELSEWHERE.iter().find(|(of, _)| *of == c).map_or("builtins", |(_, home)| home);
    py.import(home)?.getattr(c.name())
}

/// The Python class of a definition.
pub(crate) fn object_of_def(py: Python<'_>, class: &ClassDef) -> Option<Py<PyAny>> {
    if class.is_builtin_value() {
        let (module, name) = class.name.split_once('.')?;
        return Some(py.import(module).ok()?.getattr(name).ok()?.unbind());
    }
    class_object(py, class.handle()?)
}

/// The class with that handle.
pub(crate) fn class_object(py: Python<'_>, handle: u64) -> Option<Py<PyAny>> {
    if let Some(c) = Class::from_handle(handle) {
        return native_class(py, c).ok().map(Bound::unbind);
    }
    if let Some(own) = ClassDef::of_handle(handle).filter(|c| c.is_builtin_value()) {
        return object_of_def(py, own);
    }
    identity::object(py, object_of_class(handle)?).map(Bound::unbind)
}

/// The number of a class of the host ([`crate::identity`]).
pub(crate) fn object_of_class(handle: u64) -> Option<u64> {
    lock(&CLASSES).objects.get(&handle).copied()
}

/// A class made by `collections.namedtuple` or `typing.NamedTuple`.
pub(crate) fn namedtuple_class(class: &Bound<'_, PyType>) -> PyResult<Option<&'static ClassDef>> {
    if let Some(c) = known_class(class) {
        return Ok(Some(c).filter(|c| c.is_a(ClassId::NAMED_TUPLE)));
    }
    if tuple_fields(class)?.is_none() {
        return Ok(None);
    }
    host_class(class).map(Some)
}

/// An exception class.
pub(crate) fn exception_class(class: &Bound<'_, PyType>) -> PyResult<Option<&'static ClassDef>> {
    // SAFETY: the macro reads the flags of a live type object.
    if unsafe { ffi::PyExceptionClass_Check(class.as_ptr()) } == 0 {
        return Ok(None);
    }
    if let Some(c) = Class::from_name(&class.name()?.to_string_lossy()) {
        let builtin = native_class(class.py(), c)?;
        if builtin.is(class) {
            return Ok(Some(ClassId::of_exception(c).def()));
        }
    }
    // `IOError` and `EnvironmentError` are other names of the same object, and its `__name__` is the one in
    // our table.
    host_class(class).map(Some)
}

/// A class whose instances are values.
pub(crate) fn frozen_class(class: &Bound<'_, PyType>) -> PyResult<Option<&'static ClassDef>> {
    let def = host_class(class)?;
    Ok(matches!(def.instances, Instances::Frozen(_)).then_some(def))
}

/// A class whose instances are objects that may change.
pub(crate) fn class_of_objects(class: &Bound<'_, PyType>) -> PyResult<Option<&'static ClassDef>> {
    if !objects::may_be(class) {
        return Ok(None);
    }
    let def = host_class(class)?;
    Ok(def.has_objects().then_some(def))
}

/// An enumeration whose members are values.
pub(crate) fn enumeration(class: &Bound<'_, PyType>) -> PyResult<Option<&'static ClassDef>> {
    let def = host_class(class)?;
    Ok(def.member_count().is_some().then_some(def))
}

/// The type of the members of an enumeration that are whole numbers or texts beside; none of any other class.
pub(crate) fn type_of_members(class: &Bound<'_, PyType>) -> PyResult<Option<Type>> {
    if !enums::may_be(class) {
        return Ok(None);
    }
    let def = enumeration(class)?.filter(|def| def.base_of_members().is_some());
    Ok(def.map(|def| Type::new(Kind::Member(def))))
}

/// A class that is neither of these: compiled code reads its attributes.
pub(crate) fn plain_class(class: &Bound<'_, PyType>) -> PyResult<&'static ClassDef> {
    host_class(class)
}

// ---------------------------------------------------------------- modules

/// Modules by the numbers of [`crate::identity`], and those numbers by name; the name of a module that is
/// gone is never another one's.
#[derive(Default)]
struct Modules {
    by_object: HashMap<u64, &'static str>,
    by_name: HashMap<&'static str, Option<u64>>,
}
static MODULES: LazyLock<Mutex<Modules>> = LazyLock::new(Default::default);

/// The name under which compiled code knows a module: its `__name__`, made unique when another module has it
/// or had it.
pub(crate) fn module_name(module: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    let object = identity::number_of(module)?;
    if let Some(n) = lock(&MODULES).by_object.get(&object) {
        return Ok(n);
    }
    let name: String = module.getattr("__name__")?.extract()?;
    let mut table = lock(&MODULES);
    let taken = table.by_name.contains_key(name.as_str());
    let name: &'static str =
        Box::leak(if taken { format!("{name}#{}", table.by_name.len()) } else { name }.into_boxed_str());
    table.by_object.insert(object, name);
    table.by_name.insert(name, Some(object));
    Ok(name)
}

/// The number of a module that has a name from [`module_name`].
pub(crate) fn object_of_module(name: &str) -> Option<u64> {
    lock(&MODULES).by_name.get(name).copied().flatten()
}

/// The module that [`module_name`] gave this name, or else the imported module of that name.
pub(crate) fn module_object<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyAny>> {
    let known = lock(&MODULES).by_name.get(name).copied();
    match known {
        Some(object) => identity::object(py, object?),
        None => py.import("sys").ok()?.getattr("modules").ok()?.get_item(name).ok(),
    }
}

// ---------------------------------------------------------------- types

/// The objects that a type is about: functions, classes and modules, each of which is the only object of its
/// type.
pub(crate) fn objects_of(t: Type, found: &mut Vec<u64>) {
    let here = if let Kind::Function(f) = t.kind() {
        functions::object_of_id(f.func)
    } else if let Kind::NamedTuple(c, _)
    | Kind::Frozen(c, _)
    | Kind::Object(c, _)
    | Kind::Member(c)
    | Kind::NamedTupleClass(c)
    | Kind::ExcClass(c)
    | Kind::Class(c) = t.kind()
    {
        c.handle().and_then(object_of_class)
    } else if let Kind::Module(m) = t.kind() {
        object_of_module(m)
    } else {
        None
    };
    if let Some(n) = here
        && !found.contains(&n)
    {
        found.push(n);
    }
    t.arguments().iter().for_each(|c| objects_of(c, found));
}
