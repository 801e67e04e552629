//! Arguments of a Python call to parameters of the Python function: keywords, defaults, `*args`; with
//! CPython's messages when they do not fit.

use crate::errors::Failure;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

type Obj = *mut ffi::PyObject;

const CO_VARARGS: u32 = 4;
const CO_VARKEYWORDS: u32 = 8;

/// Parameters as the code object declares them.
pub(crate) struct Params {
    pub name: String,
    pub names: Vec<Py<PyString>>,
    pub positional_only: usize,
    pub positional: usize,
    pub keyword_only: usize,
    pub varargs: bool,
    pub varkw: bool,
}

/// Bound arguments, one for each parameter: positional, keyword-only, `*args`, `**kwargs`.
pub(crate) struct Arguments<'py> {
    pub values: Vec<Bound<'py, PyAny>>,
}

impl Params {
    pub(crate) fn of(func: &Bound<'_, PyAny>) -> PyResult<Params> {
        let code = func.getattr("__code__")?;
        let get = |name: &str| code.getattr(name)?.extract::<usize>();
        let (positional, keyword_only, flags) =
            (get("co_argcount")?, get("co_kwonlyargcount")?, get("co_flags")? as u32);
        let (varargs, varkw) = (flags & CO_VARARGS != 0, flags & CO_VARKEYWORDS != 0);
        let names: Vec<Bound<'_, PyString>> = code.getattr("co_varnames")?.extract()?;
        let count = positional + keyword_only + varargs as usize + varkw as usize;
        Ok(Params {
            name: func.getattr("__qualname__")?.extract()?,
            names: names.into_iter().take(count).map(Bound::unbind).collect(),
            positional_only: get("co_posonlyargcount")?,
            positional,
            keyword_only,
            varargs,
            varkw,
        })
    }

    /// How many positional arguments fill every parameter, where nothing else is needed.
    pub(crate) fn simple_count(&self) -> Option<usize> {
        (self.keyword_only == 0 && !self.varargs && !self.varkw).then_some(self.positional)
    }

    fn list(names: &[String]) -> String {
        match names {
            [] => String::new(),
            [one] => format!("'{one}'"),
            [a, b] => format!("'{a}' and '{b}'"),
            [rest @ .., last] => format!(
                "{}, and '{last}'",
                rest.iter().map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ")
            ),
        }
    }

    /// Binds `args` (positional ones, then one for each of `keywords`).
    ///
    /// # Safety
    /// `args` points to that many live objects; `keywords` is null or a tuple of str.
    pub(crate) unsafe fn bind<'py>(
        &self,
        py: Python<'py>,
        func: &Bound<'py, PyAny>,
        args: *const Obj,
        positional: usize,
        keywords: Obj,
    ) -> Result<Arguments<'py>, Failure> {
        // SAFETY: as required of the caller.
        let arg = |i: usize| unsafe { Bound::from_borrowed_ptr(py, *args.add(i)) };
        let fixed = self.positional + self.keyword_only;
        let mut slots: Vec<Option<Bound<'py, PyAny>>> =
            (0..fixed).map(|i| (i < positional && i < self.positional).then(|| arg(i))).collect();
        let mut extra_keywords: Option<Bound<'py, PyDict>> = self.varkw.then(|| PyDict::new(py));
        if !keywords.is_null() {
            // SAFETY: `keywords` is a tuple of str.
            let names = unsafe { Bound::from_borrowed_ptr(py, keywords).cast_into_unchecked::<PyTuple>() };
            for (k, name) in names.iter().enumerate() {
                self.bind_keyword(&mut slots, &mut extra_keywords, (&name, &names), arg(positional + k))?;
            }
        }
        if positional > self.positional && !self.varargs {
            return Err(self.too_many(func, positional, &slots)?.into());
        }
        self.fill_defaults(func, &mut slots)?;
        let mut values: Vec<Bound<'py, PyAny>> = slots.into_iter().flatten().collect();
        if self.varargs {
            values.push(
                PyTuple::new(py, (self.positional..positional.max(self.positional)).map(arg))?.into_any(),
            );
        }
        if let Some(d) = extra_keywords {
            values.push(d.into_any());
        }
        Ok(Arguments { values })
    }

    fn bind_keyword<'py>(
        &self,
        slots: &mut [Option<Bound<'py, PyAny>>],
        extra: &mut Option<Bound<'py, PyDict>>,
        (name, given): (&Bound<'py, PyAny>, &Bound<'py, PyTuple>),
        value: Bound<'py, PyAny>,
    ) -> PyResult<()> {
        // Names are interned nearly always, so identity decides.
        let mut at = (0..slots.len()).find(|i| self.names[*i].is(name));
        if at.is_none() {
            for i in 0..slots.len() {
                if name.eq(&self.names[i])? {
                    at = Some(i);
                }
            }
        }
        match at {
            Some(i) if i >= self.positional_only => {
                if slots[i].is_some() {
                    return Err(PyTypeError::new_err(format!(
                        "{}() got multiple values for argument '{name}'",
                        self.name
                    )));
                }
                slots[i] = Some(value);
                Ok(())
            }
            Some(_) | None => match extra {
                Some(d) => d.set_item(name, value),
                None => Err(self.not_by_name(name, given)?),
            },
        }
    }

    /// What is said of a name that no argument can be given by: of all those that are positional only, where some are.
    fn not_by_name(&self, name: &Bound<'_, PyAny>, given: &Bound<'_, PyTuple>) -> PyResult<PyErr> {
        let mut positional = vec![];
        for own in &self.names[..self.positional_only] {
            if given.contains(own)? {
                positional.push(own.bind(name.py()).to_string());
            }
        }
        Ok(PyTypeError::new_err(if positional.is_empty() {
            format!("{}() got an unexpected keyword argument '{name}'", self.name)
        } else {
            let names = positional.join(", ");
            format!(
                "{}() got some positional-only arguments passed as keyword arguments: '{names}'",
                self.name
            )
        }))
    }

    fn fill_defaults<'py>(
        &self,
        func: &Bound<'py, PyAny>,
        slots: &mut [Option<Bound<'py, PyAny>>],
    ) -> PyResult<()> {
        let py = func.py();
        if slots.iter().all(Option::is_some) {
            return Ok(());
        }
        // SAFETY: the caller gives a function object, whose defaults are null, a tuple and a dict.
        let (positional, keyword) = unsafe {
            let f = func.as_ptr().cast::<ffi::PyFunctionObject>();
            (
                Bound::from_borrowed_ptr_or_opt(py, (*f).func_defaults),
                Bound::from_borrowed_ptr_or_opt(py, (*f).func_kwdefaults),
            )
        };
        if let Some(Ok(defaults)) = positional.map(|d| d.cast_into::<PyTuple>()) {
            let first = self.positional.saturating_sub(defaults.len());
            for (d, slot) in defaults.iter().zip(&mut slots[first..self.positional]) {
                if slot.is_none() {
                    *slot = Some(d);
                }
            }
        }
        if let Some(Ok(defaults)) = keyword.map(|d| d.cast_into::<PyDict>()) {
            for i in self.positional..slots.len() {
                if slots[i].is_none() {
                    slots[i] = defaults.get_item(&self.names[i])?;
                }
            }
        }
        let missing = |range: std::ops::Range<usize>| {
            range
                .filter(|i| slots[*i].is_none())
                .map(|i| self.names[i].bind(py).to_string())
                .collect::<Vec<_>>()
        };
        for (kind, names) in [
            ("positional", missing(0..self.positional)),
            ("keyword-only", missing(self.positional..slots.len())),
        ] {
            if names.is_empty() {
                continue;
            }
            let plural = if names.len() == 1 { "" } else { "s" };
            return Err(PyTypeError::new_err(format!(
                "{}() missing {} required {kind} argument{plural}: {}",
                self.name,
                names.len(),
                Params::list(&names)
            )));
        }
        Ok(())
    }

    fn too_many(
        &self,
        func: &Bound<'_, PyAny>,
        given: usize,
        slots: &[Option<Bound<'_, PyAny>>],
    ) -> PyResult<PyErr> {
        let defaults = func.getattr("__defaults__")?.cast::<PyTuple>().map_or(0, |d| d.len());
        let takes = if defaults == 0 {
            format!("{}", self.positional)
        } else {
            format!("from {} to {}", self.positional - defaults, self.positional)
        };
        let plural = if defaults == 0 && self.positional == 1 { "" } else { "s" };
        let keyword_only = slots[self.positional..].iter().flatten().count();
        let were = match keyword_only {
            0 => format!("{given} {} given", if given == 1 { "was" } else { "were" }),
            k => format!(
                "{given} positional argument{} (and {k} keyword-only argument{}) were given",
                if given == 1 { "" } else { "s" },
                if k == 1 { "" } else { "s" },
            ),
        };
        Ok(PyTypeError::new_err(format!(
            "{}() takes {takes} positional argument{plural} but {were}",
            self.name
        )))
    }
}
