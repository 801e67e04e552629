//! Variables of classes and modules that compiled code assigns to, as the compiler asks for them.

use super::PyHost;
use crate::errors::Failure;
use crate::value::Record;
use crate::{known, variables};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType, PyTypeMethods};
use tierup_core::diag::{Code, Diagnostic, Result};
use tierup_core::host::GlobalValue;
use tierup_core::types::ClassDef;

impl<'py> PyHost<'py> {
    /// What calls are given for an object that stands for a variable, or why they cannot be.
    pub(super) fn pass_variable(&self, of: &Bound<'py, PyAny>) -> GlobalValue {
        match self.passed(of) {
            Ok(Some(value)) => value,
            Ok(None) => match crate::convert::part_type(of) {
                Err(Failure::Diagnostic(d)) => GlobalValue::Unsupported(d.message),
                Err(e @ Failure::Raised(_)) => self.unsupported(e),
                Ok(_) => GlobalValue::Unsupported(
                    "a variable that compiled code assigns to, which kernels and functions for C are not given".into(),
                ),
            },
            Err(e) => self.unsupported(e),
        }
    }

    /// The variable of that name in a dictionary, if compiled code assigns to it.
    pub(super) fn variable(&self, dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<GlobalValue>> {
        // What is given nothing assigns to none: to its code it is a constant.
        let known = if self.passes.get() { variables::known(dict, name)? } else { None };
        let Some(of) = known else { return Ok(None) };
        let assigned =
            known::class_of_objects(&of.get_type())?.is_some_and(|def| def.fields.iter().any(|f| f == name));
        if !assigned || !dict.contains(name)? {
            return Ok(None);
        }
        let of = self.pass_variable(&of);
        if !matches!(of, GlobalValue::Passed { .. }) {
            return Ok(Some(of));
        }
        Ok(Some(GlobalValue::Variable { of: Box::new(of), name: name.into() }))
    }

    /// The same of a class: of the first of its bases that has something under the name.
    pub(super) fn variable_of_class(
        &self,
        class: &Bound<'py, PyType>,
        first: usize,
        name: &str,
    ) -> PyResult<Option<GlobalValue>> {
        let mut without = vec![];
        for base in class.mro().iter().skip(first) {
            let Some(dict) = own_dict(&base) else { continue };
            let found = self.variable(&dict, name)?;
            if found.is_some() {
                let name = PyString::intern(self.py, name);
                let mut guards = self.guards.borrow_mut();
                let none = |(d, of): &(Bound<'py, PyDict>, Bound<'py, PyAny>)| {
                    guards.name(d.as_any(), Some(of), name.as_any(), None);
                };
                without.iter().for_each(none);
            }
            if found.is_some() || dict.contains(name)? {
                return Ok(found);
            }
            without.push((dict, base));
        }
        Ok(None)
    }

    /// See [`Host::variable_of`](tierup_core::host::Host::variable_of).
    pub(super) fn assigned_variable(&self, def: &ClassDef, name: &str) -> Result<GlobalValue> {
        let refused = |why: String| {
            let text = format!("'{name}' cannot be assigned to in the class {}: {why}", def.name);
            Diagnostic::new(Code::ImmutableField, text).help(
                "keep what changes in a field of an object that is passed, or assign outside of the function",
            )
        };
        let find = || -> PyResult<GlobalValue> {
            let class = known::object_of_def(self.py, def).map(|c| c.into_bound(self.py));
            let class = class.and_then(|c| c.cast_into::<PyType>().ok());
            let own = class.as_ref().and_then(|c| own_dict(c.as_any()));
            let (Some(class), Some(dict)) = (class, own) else {
                return Err(PyValueError::new_err("it is not written in Python"));
            };
            self.class(&class);
            variables::of_class(&class, &dict, name).map(|of| self.pass_variable(&of))
        };
        match find() {
            Ok(GlobalValue::Unsupported(why)) => Err(refused(why)),
            Ok(of) => Ok(of),
            Err(e) if e.is_instance_of::<PyValueError>(self.py) => Err(refused(e.value(self.py).to_string())),
            Err(e) => Err(self.of_written("the variable of a class", e.into())),
        }
    }
}

/// The dictionary of a class that is made in Python; none of another one, which does not change.
fn own_dict<'py>(class: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    let at = class.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: a live class; only classes made in Python keep their dictionary here.
    let dict = unsafe {
        if ffi::PyType_GetFlags(at) & ffi::Py_TPFLAGS_HEAPTYPE == 0 {
            return None;
        }
        Bound::from_borrowed_ptr_or_opt(class.py(), (*at).tp_dict)?
    };
    dict.cast_into::<PyDict>().ok()
}
