//! Diagnostics as Python exceptions of `tierup.errors`, with the user's source lines; and the net that
//! catches panics at the boundary.

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tierup_core::diag::{Code, Diagnostic};

/// A line of the user's source; notebooks, zip files and doctests have theirs too.
pub(crate) fn source_line(py: Python<'_>, file: &str, line: u32) -> Option<String> {
    let text: String =
        py.import("tierup._lines").ok()?.call_method1("line", (file, line)).ok()?.extract().ok()?;
    if text.is_empty() { None } else { Some(text.trim_end_matches('\n').to_string()) }
}

/// The diagnostic in about ten lines. In IPython cells have numbers, which users know, and files, which they do
/// not.
pub(crate) fn render(py: Python<'_>, d: &Diagnostic) -> String {
    let text = d.render(&|file, line| source_line(py, file, line));
    let shown = || -> PyResult<Option<String>> {
        if !py.import("sys")?.getattr("modules")?.contains("IPython")? {
            return Ok(None);
        }
        py.import("tierup._lines")?.call_method1("cells", (&text,))?.extract()
    };
    shown().ok().flatten().unwrap_or(text)
}

/// A TierupWarning about code that compiles.
pub(crate) fn warn(py: Python<'_>, d: &Diagnostic) -> PyResult<()> {
    py.import("tierup.errors")?.getattr("warn_doubt")?.call1((
        render(py, d),
        d.span.as_ref().map(|s| s.file.to_string()),
        d.span.as_ref().map_or(0, |s| s.line),
    ))?;
    Ok(())
}

/// A NumbaPerformanceWarning at a place.
pub(crate) fn warn_of_performance(py: Python<'_>, text: &str, at: &tierup_core::diag::Span) -> PyResult<()> {
    let warn = py.import("tierup.errors")?.getattr("warn_of_performance")?;
    warn.call1((text, at.file.to_string(), at.line))?;
    Ok(())
}

/// The exception that reports a diagnostic: class and text; its attributes `code`, `line`, `file` serve tools
/// and tests.
pub(crate) fn to_python(py: Python<'_>, d: &Diagnostic) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let errors = py.import("tierup.errors")?;
        let mut class = errors.getattr(d.code.exception())?;
        if let Some(also) = d.raises {
            class = errors.getattr("_also")?.call1((class, also.name()))?;
        }
        let exc = class.call1((render(py, d),))?;
        exc.setattr("code", d.code.name())?;
        exc.setattr("msg", &d.message)?;
        if let Some(s) = &d.span {
            exc.setattr("file", &*s.file)?;
            exc.setattr("line", s.line)?;
        }
        Ok(PyErr::from_value(exc))
    };
    make().unwrap_or_else(|e| e)
}

/// A panic is reported once, as a diagnostic or an exception, by whoever catches it; its own text is for us.
/// `RUST_BACKTRACE` shows it.
pub(crate) fn quiet_panics() {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            loud(panic)
        }
    }));
}

/// Runs `body`; a panic (a bug of ours) becomes a diagnostic that names what was being done.
pub(crate) fn guard<T>(doing: &str, body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|s| s.to_string())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Err(Diagnostic::new(Code::InternalError, format!("internal error while {doing}: {text}"))
            .help("this is a bug in Tierup; please report it")
            .into())
    })
}

/// Why something did not work: a diagnostic, or a Python exception that passes through (from a property, an
/// import, a signal handler).
pub(crate) enum Failure {
    Diagnostic(Box<Diagnostic>),
    Raised(PyErr),
}

impl From<Diagnostic> for Failure {
    fn from(d: Diagnostic) -> Failure {
        Failure::Diagnostic(Box::new(d))
    }
}
impl From<PyErr> for Failure {
    fn from(e: PyErr) -> Failure {
        Failure::Raised(e)
    }
}
impl Failure {
    pub(crate) fn into_python(self, py: Python<'_>) -> PyErr {
        match self {
            Failure::Diagnostic(d) => to_python(py, &d),
            Failure::Raised(e) => e,
        }
    }
}

/// A TypingError about an object that cannot be made: a TypeError too.
pub(crate) fn typing_error(py: Python<'_>, text: &str) -> PyErr {
    let made = || Ok(PyErr::from_value(py.import("tierup.errors")?.getattr("TypingError")?.call1((text,))?));
    made().unwrap_or_else(|e: PyErr| e)
}

/// An exception for a state that cannot be.
pub(crate) fn bug(text: &str) -> PyErr {
    PySystemError::new_err(format!("tierup: {text}; please report this"))
}
