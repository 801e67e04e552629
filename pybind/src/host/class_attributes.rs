//! What attributes of classes mean: what stands under a name in a class and its bases.

use super::PyHost;
use crate::errors::Failure;
use crate::{classes, dataclasses, enums, functions, known, objects, rows};
use pyo3::exceptions::PyException;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType, PyTypeMethods};
use tierup_core::diag::Diagnostic;
use tierup_core::host::{ClassAttr, GlobalValue};
use tierup_core::ssa::FuncId;
use tierup_core::types::{ClassDef, Type};

impl<'py> PyHost<'py> {
    /// What lies under a name in the dictionaries of a class and its bases; each that was looked into is
    /// guarded.
    pub(super) fn lookup_in_class(
        &self,
        class: &Bound<'py, PyType>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.lookup_from(class, 0, name)
    }

    /// The same without the first classes of the MRO.
    pub(super) fn lookup_from(
        &self,
        class: &Bound<'py, PyType>,
        first: usize,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        for base in class.mro().iter().skip(first) {
            let at = base.as_ptr().cast::<ffi::PyTypeObject>();
            // SAFETY: the members of an `mro` are live classes; only classes made in Python, which can
            // change, keep their dictionary here.
            let dict = unsafe {
                if ffi::PyType_GetFlags(at) & ffi::Py_TPFLAGS_HEAPTYPE == 0 {
                    // What a class made in C has under the name comes before what stands behind it.
                    if base.getattr(intern!(self.py, "__dict__"))?.contains(name)? {
                        return Ok(None);
                    }
                    continue;
                }
                Bound::from_borrowed_ptr_or_opt(self.py, (*at).tp_dict)
            };
            let Some(dict) = dict.and_then(|d| d.cast_into::<PyDict>().ok()) else { continue };
            let found = dict.get_item(name)?;
            self.guards.borrow_mut().name(dict.as_any(), Some(&base), name.as_any(), found.as_ref());
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// What members of an enumeration have under a name by themselves, or from Python's `enum`; none of what
    /// any class may have.
    pub(super) fn of_members(
        &self,
        def: &ClassDef,
        class: &Bound<'py, PyType>,
        name: &str,
    ) -> Option<Option<ClassAttr>> {
        let find = || -> std::result::Result<Option<Option<ClassAttr>>, Failure> {
            Ok(match enums::attribute(class, name)? {
                None => None,
                Some(enums::Attribute::Hidden) => Some(None),
                Some(enums::Attribute::Member(n)) => Some(Some(ClassAttr::Value(GlobalValue::Member(
                    known::enumeration(class)?
                        .ok_or_else(|| Diagnostic::internal(format!("{} is no enumeration", def.name)))?,
                    n,
                )))),
                Some(enums::Attribute::Method(f)) => {
                    Some(Some(ClassAttr::Method(functions::library_func_id(&f)?)))
                }
                Some(enums::Attribute::Computed(f)) => {
                    Some(Some(ClassAttr::Property(functions::library_func_id(&f)?)))
                }
            })
        };
        find().unwrap_or_else(|e| Some(Some(ClassAttr::Value(self.unsupported(e)))))
    }

    /// Guards what a choice depends on.
    pub(super) fn depends_on_choice(&self, answer: &rows::Answer<'py>) -> PyResult<()> {
        let mut guards = self.guards.borrow_mut();
        answer.dicts.iter().for_each(|d| guards.whole(d, None));
        if answer.abstract_classes {
            guards.abstract_classes(self.py)?;
        }
        drop(guards);
        answer.functions.iter().for_each(|f| self.depends_on(f));
        Ok(())
    }

    /// Guards that no class joins an abstract one (`Number.register(C)`) that was asked for.
    pub(super) fn may_be_joined(&self, class: Type) {
        let guarded = crate::classes::is_abstract(self.py, class)
            .then(|| self.guards.borrow_mut().abstract_classes(self.py));
        if let Some(Err(e)) = guarded {
            self.raised.borrow_mut().get_or_insert(e);
        }
    }

    /// A `singledispatchmethod`.
    pub(super) fn choosing_method(&self, raw: &Bound<'py, PyAny>) -> std::result::Result<ClassAttr, Failure> {
        let (f, kind) = rows::method(raw)?;
        let func = functions::func_id_of(raw, &f)?;
        Ok(match kind.as_str() {
            "method" => ClassAttr::Method(func),
            "classmethod" => ClassAttr::ClassMethod(func),
            "staticmethod" => ClassAttr::Value(GlobalValue::Function(functions::func_id_of(f.as_any(), &f)?)),
            _ => ClassAttr::Value(GlobalValue::Unsupported(
                "a singledispatchmethod whose rows are of several kinds of methods".into(),
            )),
        })
    }

    pub(super) fn class_member(
        &self,
        class: &Bound<'py, PyType>,
        name: &str,
        raw: &Bound<'py, PyAny>,
    ) -> std::result::Result<Option<ClassAttr>, Failure> {
        let kind = raw.get_type().name()?.to_string();
        if let Some(k) = crate::classes::field_of(raw)? {
            return Ok(Some(ClassAttr::Field(k)));
        }
        if classes::is_made_by_namedtuple(raw, &kind)? {
            return Ok(None);
        }
        if name == "__class_getitem__" && classes::is_of_typing(raw)? {
            return Ok(Some(ClassAttr::Value(GlobalValue::Unsupported("a method of typing".into()))));
        }
        if let Some(f) = objects::cached(raw, name)? {
            return Ok(Some(ClassAttr::Property(functions::library_func_id(&f)?)));
        }
        let unwrapped = match name {
            "__repr__" => dataclasses::without_guard(class, raw)?,
            "__eq__" => dataclasses::without_identity(class, raw)?,
            _ => None,
        };
        let raw = unwrapped.as_ref().unwrap_or(raw);
        let function = |object: &Bound<'py, PyAny>| -> std::result::Result<Option<FuncId>, Failure> {
            let Some(f) = functions::python_function(object) else { return Ok(None) };
            self.depends_on(f.as_any());
            functions::func_id_of(object, &f).map(Some)
        };
        if kind == "singledispatchmethod" {
            return self.choosing_method(raw).map(Some);
        }
        Ok(match kind.as_str() {
            "staticmethod" => self.classify(&raw.getattr("__func__")?, true).map(ClassAttr::Value),
            "classmethod" => Some(match function(&raw.getattr("__func__")?)? {
                Some(f) => ClassAttr::ClassMethod(f),
                None => ClassAttr::Value(GlobalValue::Unsupported(
                    "a method that is not written in Python".into(),
                )),
            }),
            "property" => Some(match function(&raw.getattr("fget")?)? {
                Some(f) => ClassAttr::Property(f),
                None => ClassAttr::Computed(GlobalValue::Unsupported("a property".into())),
            }),
            _ => match function(raw)? {
                Some(f) => Some(ClassAttr::Method(f)),
                // Members of an enumeration, and whatever else gives its value through a descriptor.
                None => {
                    // Its class may come to have `__get__` or `__set__`.
                    self.guards.borrow_mut().order(&raw.get_type());
                    if objects::is_assigned_to(raw) && known::is_field(class, name) {
                        known::leave_out(class, name)?;
                    }
                    let computed = raw.get_type().hasattr("__get__")?;
                    // What it gives for the class.
                    let value = if computed {
                        match raw.call_method1("__get__", (self.py.None(), class)) {
                            Ok(value) => value,
                            // A descriptor that is for instances alone.
                            Err(e) if e.is_instance_of::<PyException>(self.py) => {
                                let text = "what a descriptor raises for the class".into();
                                return Ok(Some(ClassAttr::Computed(GlobalValue::Unsupported(text))));
                            }
                            Err(e) => return Err(e.into()),
                        }
                    } else {
                        raw.clone()
                    };
                    self.classify(&value, true).map(if computed {
                        ClassAttr::Computed
                    } else {
                        ClassAttr::Value
                    })
                }
            },
        })
    }
}
