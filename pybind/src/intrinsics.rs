//! Functions whose LIR a code generator in Python has written (`tierup._intrinsics`): what the generator asks
//! about types, and where it hands over its text.

use crate::errors::to_python;
use crate::functions;
use crate::texts::{parse_type, parse_types};
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyTuple};
use std::mem::offset_of;
use std::sync::Arc;
use tierup_core::declare::{Declared, Signature};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::layout::{List, MemBlock, Str, ThreadCtx};
use tierup_core::lir::Ty;
use tierup_core::opaque::{self, Gives, Inner, Opaque};
use tierup_core::ops::{atomics, foreign};
use tierup_core::ssa::registry;

/// The machine values of a type, each with whether it is a counted reference.
#[pyfunction]
fn leaves_of_type(py: Python<'_>, text: &str) -> PyResult<Vec<(String, bool)>> {
    Ok(parse_type(py, text)?.leaves().iter().map(|l| (l.ty.to_string(), l.is_ref)).collect())
}

fn machine_types(py: Python<'_>, names: &[String]) -> PyResult<Vec<Ty>> {
    let parse = |n: &String| {
        Ty::parse(n).ok_or_else(|| to_python(py, &Diagnostic::internal(format!("`{n}` is no machine type"))))
    };
    names.iter().map(parse).collect()
}

/// What a generated function gives: a type, or what an operand of that number is.
#[derive(FromPyObject)]
enum Given {
    Operand(usize),
    Type(String),
}

/// A Python function that generated code calls, with the types of its arguments and its result.
type Called<'py> = (Bound<'py, PyAny>, Vec<String>, String);

/// `stub` stands for a text over these leaves, which does more than compute numbers.
#[pyfunction]
fn generated_function(
    stub: &Bound<'_, PyFunction>,
    text: &str,
    leaves: (Vec<String>, Vec<String>),
    ret: Given,
    calls: Vec<Called<'_>>,
) -> PyResult<()> {
    let py = stub.py();
    let name: String = stub.getattr("__name__")?.extract()?;
    let mut inner = vec![];
    for (f, args, ret) in calls {
        let of = functions::python_function(&f).ok_or_else(|| {
            let m = format!("{name}(): the code generator calls {f}, which is no Python function");
            to_python(py, &Diagnostic::new(Code::BadGenerator, m))
        })?;
        let func = functions::func_id_of(&f, &of).map_err(|e| e.into_python(py))?;
        inner.push(Inner { func, args: parse_types(py, &args)?, ret: parse_type(py, &ret)? });
    }
    let gives = match ret {
        Given::Operand(k) => Gives::Argument(k),
        Given::Type(t) => Gives::Type(parse_type(py, &t)?),
    };
    let (params, results) = (machine_types(py, &leaves.0)?, machine_types(py, &leaves.1)?);
    let of =
        Opaque::generated(&name, params, (gives, &results), text, inner).map_err(|d| to_python(py, &d))?;
    let func = functions::func_id_of(stub.as_any(), stub).map_err(|e| e.into_python(py))?;
    opaque::set(func, of);
    Ok(())
}

/// `stub` stands for a text that computes numbers out of numbers of these types.
#[pyfunction]
fn generated_number(
    stub: &Bound<'_, PyFunction>,
    text: &str,
    params: Vec<String>,
    ret: &str,
) -> PyResult<()> {
    let py = stub.py();
    let name: String = stub.getattr("__name__")?.extract()?;
    let (args, ret) = (parse_types(py, &params)?, parse_type(py, ret)?);
    let of = Opaque::parse(&name, args.clone(), ret, text).map_err(|d| to_python(py, &d))?;
    let func = functions::func_id_of(stub.as_any(), stub).map_err(|e| e.into_python(py))?;
    let signatures = vec![Signature { args, ret: Some(ret) }];
    registry::declare(func, Arc::new(Declared { signatures, open: false, careful: true }));
    opaque::set(func, of);
    Ok(())
}

pub(crate) fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
    // Where arguments of C functions go, and where the memory of a block is.
    m.add("C_REGISTERS", (foreign::INTS, foreign::FLOATS, foreign::STACK))?;
    m.add("ATOMIC_UPDATES", PyTuple::new(m.py(), atomics::UPDATES)?)?;
    // Where objects of the run-time have their members.
    let string = [offset_of!(Str, data), offset_of!(Str, len), offset_of!(Str, kind)];
    m.add("STRING_MEMBERS", PyTuple::new(m.py(), string)?)?;
    m.add("LIST_MEMBERS", (offset_of!(List, len), offset_of!(List, data)))?;
    m.add("BLOCK_DATA", offset_of!(MemBlock, data))?;
    // Where helpers leave an exception.
    m.add("PENDING", offset_of!(ThreadCtx, pending))?;
    m.add_function(wrap_pyfunction!(leaves_of_type, m)?)?;
    m.add_function(wrap_pyfunction!(generated_function, m)?)?;
    m.add_function(wrap_pyfunction!(generated_number, m)?)
}
