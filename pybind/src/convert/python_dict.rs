//! Python's classes of dicts: which one objects of a container are, and what is done to them from outside.

use super::Plan;
use super::common::undisturbed;
use super::protocol::{BoxCx, Class, Frame, Obj};
use crate::errors::Failure;
use crate::gil::attached;
use crate::once::Once;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use tierup_core::types::Container;

/// What a dict holds at one moment, as a dict that stays so: itself, or a copy where no GIL keeps other threads
/// from changing it.
pub(super) fn at_one_moment<'py>(dict: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    if cfg!(Py_GIL_DISABLED) { dict.copy() } else { Ok(dict.clone()) }
}

/// The same of an ordered dict, in its order.
fn in_order<'py>(dict: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let py = dict.py();
    undisturbed(dict, || {
        let copy = PyDict::new(py);
        let items = dict.call_method0(intern!(py, "items"))?;
        copy.call_method1(intern!(py, "update"), (items,))?;
        Ok(copy)
    })
}

/// The class of a container, if its objects are dicts.
pub(super) fn class(py: Python<'_>, of: Container) -> Option<Class> {
    static CLASSES: Once<[Py<PyType>; 3]> = Once::new();
    let derived = |k: usize| {
        let classes = CLASSES.get_or_try_init(|| {
            let module = py.import("collections")?;
            let class = |name: &str| -> PyResult<Py<PyType>> {
                Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
            };
            Ok::<_, PyErr>([class("defaultdict")?, class("Counter")?, class("OrderedDict")?])
        });
        classes.ok().map(|c| c[k].as_ptr().cast::<ffi::PyTypeObject>())
    };
    match of {
        Container::Dict => Some(&raw mut ffi::PyDict_Type),
        Container::DefaultDict => derived(0),
        Container::Counter => derived(1),
        Container::OrderedDict => derived(2),
        Container::Keys
        | Container::Values
        | Container::Items
        | Container::Set
        | Container::FrozenSet
        | Container::Deque
        | Container::ByteArray
        | Container::Tuple => None,
    }
}

/// The container whose class an object is of exactly, among those derived from dict.
pub(super) fn derived(obj: &Bound<'_, PyAny>) -> Option<Container> {
    if !obj.is_instance_of::<PyDict>() {
        return None;
    }
    // SAFETY: the object is live.
    let found = unsafe { ffi::Py_TYPE(obj.as_ptr()) };
    [Container::DefaultDict, Container::Counter, Container::OrderedDict]
        .into_iter()
        .find(|c| class(obj.py(), *c) == Some(found))
}

/// What makes the values of a `defaultdict`.
pub(super) fn factory<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    obj.getattr(intern!(obj.py(), "default_factory"))
}

/// Objects of one of the classes.
pub(super) struct Of {
    which: Container,
    /// The plan of what makes the values of a `defaultdict`.
    factory: Option<Plan>,
}

impl Of {
    pub(super) fn new(which: Container, factory: Option<Plan>) -> Of {
        Of { which, factory }
    }

    pub(super) fn is(&self, class_of_object: Class) -> bool {
        if self.which == Container::Dict {
            return class_of_object == &raw mut ffi::PyDict_Type;
        }
        attached(|py| class(py, self.which) == Some(class_of_object))
    }

    /// Whether the order is not that in which the dict below keeps its entries.
    fn has_order(&self) -> bool {
        self.which == Container::OrderedDict
    }

    /// A new empty one, or null with an exception set.
    ///
    /// # Safety
    /// The thread is attached.
    pub(super) unsafe fn empty(&self, cx: &mut BoxCx<'_>) -> Obj {
        // SAFETY: as required of the caller; a factory has no leaves that would be read.
        unsafe {
            let py = Python::assume_attached();
            if self.which == Container::Dict {
                return ffi::PyDict_New();
            }
            let Some(class) = class(py, self.which) else { return std::ptr::null_mut() };
            let Some(plan) = &self.factory else { return ffi::PyObject_CallNoArgs(class.cast()) };
            let nothing = [0_u64];
            let factory = plan.to_python(&mut nothing.as_ptr(), cx);
            if factory.is_null() {
                return factory;
            }
            let made = ffi::PyObject_CallOneArg(class.cast(), factory);
            ffi::Py_DECREF(factory);
            made
        }
    }

    /// # Safety
    /// All are live, the first is a dict of the class; the thread is attached.
    pub(super) unsafe fn set(&self, dict: Obj, key: Obj, value: Obj) -> i32 {
        // SAFETY: as required of the caller.
        unsafe {
            if self.has_order() {
                ffi::PyObject_SetItem(dict, key, value)
            } else {
                ffi::PyDict_SetItem(dict, key, value)
            }
        }
    }

    /// # Safety
    /// As for [`Of::set`]; the dict has the key.
    pub(super) unsafe fn delete(&self, dict: Obj, key: Obj) -> i32 {
        // SAFETY: as required of the caller.
        unsafe {
            if self.has_order() { ffi::PyObject_DelItem(dict, key) } else { ffi::PyDict_DelItem(dict, key) }
        }
    }

    /// What a dict of the class holds at one moment: see [`at_one_moment`]. None where a Python exception is set.
    ///
    /// # Safety
    /// The dict is live and of the class; the thread is attached.
    unsafe fn at_one_moment(&self, dict: Obj) -> Option<Still> {
        attached(|py| {
            // SAFETY: as required of the caller.
            let dict = unsafe { Bound::from_borrowed_ptr(py, dict).cast_into_unchecked::<PyDict>() };
            let ordered = cfg!(Py_GIL_DISABLED) && self.has_order();
            let still = if ordered { in_order(&dict) } else { at_one_moment(&dict) };
            still.map(|d| Still(d.into_ptr())).map_err(|e| e.restore(py)).ok()
        })
    }

    /// The same of an argument, for as long as the call lasts; the frame knows why there is none.
    ///
    /// # Safety
    /// As for [`Of::at_one_moment`].
    pub(super) unsafe fn argument(&self, dict: Obj, frame: &mut Frame) -> Option<Still> {
        // SAFETY: as required of the caller.
        let still = unsafe { self.at_one_moment(dict) };
        match &still {
            // Keys and values may be borrowed from it, and the dict itself may lose them.
            // SAFETY: it is live.
            Some(copy) if cfg!(Py_GIL_DISABLED) => unsafe { frame.keep(copy.0) },
            Some(_) => {}
            None => frame.extra().failure = attached(|py| PyErr::take(py)).map(Failure::from),
        }
        still
    }

    /// Goes through keys and values.
    ///
    /// # Safety
    /// The dict is live, of the class or what it holds at one moment, and nobody changes it meanwhile; the thread
    /// is attached.
    pub(super) unsafe fn walk(&self, dict: Obj) -> Walk {
        let mut kept = vec![];
        if self.has_order() {
            // SAFETY: as required of the caller.
            let dict = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), dict) };
            // An ordered dict gives its items without an error as long as nobody changes it.
            let pairs: Vec<(Py<PyAny>, Py<PyAny>)> = dict
                .call_method0(intern!(dict.py(), "items"))
                .and_then(|items| items.try_iter()?.map(|pair| pair?.extract()).collect())
                .unwrap_or_default();
            kept = pairs;
        }
        Walk { dict, at: 0, kept: self.has_order().then_some(kept) }
    }

    /// The keys and values that a dict of the class holds at one moment, in turn. None where a Python exception is
    /// set.
    ///
    /// # Safety
    /// As for [`Of::at_one_moment`].
    pub(super) unsafe fn items(&self, dict: Obj) -> Option<Items> {
        // SAFETY: as required of the caller.
        let of = unsafe { self.at_one_moment(dict)? };
        let mut all = vec![];
        // SAFETY: nobody changes it.
        let mut walk = unsafe { self.walk(of.0) };
        // SAFETY: as above.
        while let Some((k, v)) = unsafe { walk.step() } {
            all.extend([k, v]);
        }
        Some(Items { all, _walk: walk, _of: of })
    }
}

/// A dict that nobody changes, with a reference.
pub(super) struct Still(Obj);

impl Still {
    pub(super) fn get(&self) -> Obj {
        self.0
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        // SAFETY: the reference is ours; whoever looks at dicts is attached.
        unsafe { ffi::Py_DECREF(self.0) }
    }
}

/// Where one is among the entries of a dict.
pub(super) struct Walk {
    dict: Obj,
    at: ffi::Py_ssize_t,
    /** Those of an ordered dict, in its order. */
    kept: Option<Vec<(Py<PyAny>, Py<PyAny>)>>,
}

impl Walk {
    /// The next key and its value; the dict, or this, keeps them alive.
    ///
    /// # Safety
    /// As for [`Of::walk`].
    pub(super) unsafe fn step(&mut self) -> Option<(Obj, Obj)> {
        if let Some(kept) = &self.kept {
            let (k, v) = kept.get(self.at as usize)?;
            self.at += 1;
            return Some((k.as_ptr(), v.as_ptr()));
        }
        let (mut k, mut v) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: as required of the caller.
        let more = unsafe { ffi::PyDict_Next(self.dict, &raw mut self.at, &raw mut k, &raw mut v) };
        (more != 0).then_some((k, v))
    }
}

/// Keys and values in turn, alive as long as this is and nobody changes the dict.
pub(super) struct Items {
    pub(super) all: Vec<Obj>,
    _walk: Walk,
    _of: Still,
}
