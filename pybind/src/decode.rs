//! Python code objects to [`Code`]: reads attributes, and leaves the bytes to `core::bytecode::decode`.
//!
//! On the path of every first call, so a code object costs a dozen attribute reads and no call per
//! instruction: locations come from `co_linetable` as it stands, not from `co_positions()`, which makes a
//! tuple for each code unit.

use crate::once::Once;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PySlice, PyString, PyTuple,
};
use std::path::MAIN_SEPARATOR;
use std::sync::Arc;
pub(crate) use tierup_core::bytecode::decode::VERSIONS;
use tierup_core::bytecode::decode::{Raw, decode as decode_raw};
use tierup_core::bytecode::{Code, Constant};
use tierup_core::diag::{Code as DiagCode, Diagnostic, Result, Span};
use tierup_core::source::{File, Origin};
use tierup_core::types::Const;

/// Nested functions deeper than any compiler makes them.
const MAX_DEPTH: usize = 200;

/// Decodes the code of a function and every code object among its constants.
pub(crate) fn decode(f: &Bound<'_, PyFunction>) -> Result<Code> {
    let v = f.py().version_info();
    let code = f.getattr(intern!(f.py(), "__code__")).map_err(failed)?;
    nested(&code, (v.major, v.minor), origin_of(f).map_err(failed)?, 0)
}

/// Whose function it is. Ours lie in one folder, and say in their module what else they are (`_origin`).
fn origin_of(f: &Bound<'_, PyFunction>) -> PyResult<Origin> {
    static OURS: Once<String> = Once::new();
    let py = f.py();
    let ours = OURS.get_or_try_init(|| -> PyResult<String> {
        let package = py.import("tierup")?.getattr("__path__")?.get_item(0)?;
        Ok(format!("{}{MAIN_SEPARATOR}lib{MAIN_SEPARATOR}", text(&package)?))
    })?;
    let file = f.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_filename"))?;
    if !file.cast::<PyString>()?.to_string_lossy().starts_with(ours.as_str()) {
        return Ok(Origin::User);
    }
    let module = f.getattr(intern!(py, "__globals__"))?.cast_into::<PyDict>()?;
    let Some(said) = module.get_item(intern!(py, "_origin"))? else { return Ok(Origin::Library) };
    let name = said.extract::<String>()?;
    Origin::named(&name).ok_or_else(|| PyValueError::new_err(format!("there is no origin {name:?}")))
}

fn failed(e: PyErr) -> Diagnostic {
    Diagnostic::new(DiagCode::UnsupportedBytecode, format!("not a code object that can be read: {e}"))
}

fn nested(code: &Bound<'_, PyAny>, version: (u8, u8), origin: Origin, depth: usize) -> Result<Code> {
    if depth > MAX_DEPTH {
        return Err(Diagnostic::new(DiagCode::UnsupportedBytecode, "functions are nested too deeply"));
    }
    let mut out = read(code, origin).map_err(failed)?;
    let raw = |name| code.getattr(name).and_then(|b| Ok(b.cast_into::<PyBytes>()?)).map_err(failed);
    let py = code.py();
    let bytecode = raw(intern!(py, "co_code"))?;
    let locations = raw(intern!(py, "co_linetable"))?;
    let exceptions = raw(intern!(py, "co_exceptiontable"))?;
    let consts =
        code.getattr(intern!(py, "co_consts")).and_then(|c| Ok(c.cast_into::<PyTuple>()?)).map_err(failed)?;
    out.consts = consts.iter().map(|c| constant(&c, version, origin, depth)).collect::<Result<_>>()?;
    let raw = Raw {
        version,
        code: bytecode.as_bytes(),
        locations: locations.as_bytes(),
        exceptions: exceptions.as_bytes(),
        first_line: out.first_line,
        varnames: &out.varnames,
        consts: &out.consts,
    };
    (out.insts, out.handlers) = decode_raw(&raw).map_err(|e| e.at(span(&out)))?;
    Ok(out)
}

fn span(code: &Code) -> Span {
    Span { file: code.file.clone(), func: code.qualname.clone(), line: code.first_line, col: 0, end_col: 0 }
}

/// Everything but instructions and constants.
fn read(code: &Bound<'_, PyAny>, origin: Origin) -> PyResult<Code> {
    let py = code.py();
    let number = |name| -> PyResult<u32> { code.getattr(name)?.extract() };
    let string = |name| -> PyResult<Arc<str>> { text(&code.getattr(name)?) };
    let names = |name| -> PyResult<Vec<Arc<str>>> {
        code.getattr(name)?.cast_into::<PyTuple>()?.iter().map(|n| text(&n)).collect()
    };
    Ok(Code {
        name: string(intern!(py, "co_name"))?,
        qualname: string(intern!(py, "co_qualname"))?,
        file: File::new(string(intern!(py, "co_filename"))?, origin),
        first_line: number(intern!(py, "co_firstlineno"))?,
        args: number(intern!(py, "co_argcount"))?,
        positional_only: number(intern!(py, "co_posonlyargcount"))?,
        keyword_only: number(intern!(py, "co_kwonlyargcount"))?,
        flags: number(intern!(py, "co_flags"))?,
        varnames: names(intern!(py, "co_varnames"))?,
        cellvars: names(intern!(py, "co_cellvars"))?,
        freevars: names(intern!(py, "co_freevars"))?,
        names: names(intern!(py, "co_names"))?,
        ..Code::default()
    })
}

/// Names and paths may hold lone surrogates (undecodable file names); those become replacement characters.
fn text(s: &Bound<'_, PyAny>) -> PyResult<Arc<str>> {
    Ok(s.cast::<PyString>()?.to_string_lossy().as_ref().into())
}

fn constant(value: &Bound<'_, PyAny>, version: (u8, u8), origin: Origin, depth: usize) -> Result<Constant> {
    if let Some(c) = scalar(value) {
        return Ok(Constant::Value(c));
    }
    if let Some(index) = index(value) {
        return Ok(index);
    }
    if let Ok(t) = value.cast_exact::<PyFrozenSet>()
        && let Some(members) = t.iter().map(|m| scalar(&m)).collect()
    {
        return Ok(Constant::Set(members));
    }
    let kind = value.get_type();
    let name = kind.name().map_or_else(|_| "?".to_string(), |n| n.to_string());
    if name == "code" {
        return nested(value, version, origin, depth + 1).map(|c| Constant::Code(Arc::new(c)));
    }
    let what = if value.is_instance_of::<PyInt>() {
        "an integer constant of more than 64 bits".to_string()
    } else if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyFrozenSet>() {
        "a constant with members that compiled code cannot hold".to_string()
    } else {
        format!("a constant of type {name}")
    };
    Ok(Constant::Unsupported(what.into()))
}

/// A slice of constants, or a tuple with such slices.
fn index(value: &Bound<'_, PyAny>) -> Option<Constant> {
    if let Ok(t) = value.cast_exact::<PyTuple>() {
        let member = |m: Bound<'_, PyAny>| scalar(&m).map(Constant::Value).or_else(|| index(&m));
        return t.iter().map(member).collect::<Option<Vec<_>>>().map(Constant::Index);
    }
    let slice = value.cast_exact::<PySlice>().ok()?;
    let py = value.py();
    let part = |name| scalar(&slice.getattr(name).ok()?);
    let parts = [part(intern!(py, "start"))?, part(intern!(py, "stop"))?, part(intern!(py, "step"))?];
    Some(Constant::Slice(Box::new(parts)))
}

/// A constant that compiled code can hold.
fn scalar(value: &Bound<'_, PyAny>) -> Option<Const> {
    if value.is_none() {
        return Some(Const::None);
    }
    if value.is(value.py().Ellipsis()) {
        return Some(Const::Ellipsis);
    }
    if let Ok(b) = value.cast_exact::<PyBool>() {
        return Some(Const::Bool(b.is_true()));
    }
    if let Ok(i) = value.cast_exact::<PyInt>() {
        return i.extract::<i64>().map(Const::Int).or_else(|_| i.extract::<u64>().map(Const::UInt)).ok();
    }
    if let Ok(x) = value.cast_exact::<PyFloat>() {
        return Some(Const::Float(x.value()));
    }
    if let Ok(z) = value.cast_exact::<PyComplex>() {
        return Some(Const::Complex(z.real(), z.imag()));
    }
    if let Ok(s) = value.cast_exact::<PyString>() {
        return s.to_str().ok().map(|s| Const::Str(s.into()));
    }
    if let Ok(s) = value.cast_exact::<PyBytes>() {
        return Some(Const::Bytes(s.as_bytes().into()));
    }
    if let Ok(t) = value.cast_exact::<PyTuple>() {
        return t.iter().map(|m| scalar(&m)).collect::<Option<Vec<_>>>().map(Const::Tuple);
    }
    None
}
