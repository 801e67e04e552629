//! What the program has overloads of (`tierup._overloads`): for each operation, object, class and attribute
//! the function that stands for them in the compiler; and its opaque functions (`tierup._opaque`).
//!
//! Who asks is remembered: an overload that comes later, of something that code was compiled with, ends all
//! that was compiled before ([`Registered`]). One of something that nobody has asked for ends nothing.

use crate::errors::{Failure, to_python};
use crate::texts::{parse_type, parse_types};
use crate::{constants, functions, operations, type_objects};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyTuple, PyType};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use tierup_core::declare::{Declared, Signature};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::host::{GlobalValue, Offer, Operand};
use tierup_core::opaque::{self, Opaque};
use tierup_core::ops::OpId;
use tierup_core::ssa::{FuncId, registry};
use tierup_core::types::Type;

/// What may be overloaded.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Of {
    Operation(OpId),
    /// An object by its address; one that is overloaded lives for ever.
    Object(usize),
    Member(String),
}

#[derive(Default)]
struct Table {
    known: HashMap<Of, FuncId>,
    /// What Python asks for an answer, by what stands for it.
    targets: HashMap<FuncId, Py<PyAny>>,
    asked: HashSet<Of>,
}
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Default::default);

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(|e| e.into_inner())
}

/// How often something got overloads that code was compiled with.
static LATE: AtomicU64 = AtomicU64::new(0);

/// When something was compiled, as far as overloads matter.
#[derive(Clone, Copy)]
pub(crate) struct Registered(u64);

impl Default for Registered {
    fn default() -> Registered {
        Registered(LATE.load(Ordering::Relaxed))
    }
}

impl Registered {
    /// Whether nothing that was asked for has got overloads since.
    #[inline(always)]
    pub(crate) fn is_now(self) -> bool {
        self.0 == LATE.load(Ordering::Relaxed)
    }
}

fn find(of: Of) -> Option<FuncId> {
    let mut t = table();
    let found = t.known.get(&of).copied();
    t.asked.insert(of);
    found
}

/// What stands for the overloads of an operation.
pub(crate) fn of_operation(op: OpId) -> Option<FuncId> {
    find(Of::Operation(op))
}

/// What stands for the overloads of something that can be called.
pub(crate) fn of_object(obj: &Bound<'_, PyAny>) -> Option<FuncId> {
    // SAFETY: a live object.
    if unsafe { ffi::PyCallable_Check(obj.as_ptr()) } == 0 {
        return None;
    }
    find(Of::Object(obj.as_ptr() as usize))
}

/// Whether something may be added under any name (`lower_getattr_generic`).
static ANY_NAME: AtomicBool = AtomicBool::new(false);

/// What Python's table of what was added says of a name, asked with `function`.
fn of_name<'py>(
    py: Python<'py>,
    t: Type,
    name: &str,
    function: &str,
) -> Result<Option<Bound<'py, PyAny>>, Failure> {
    let of = Of::Member(name.to_owned());
    let known = table().known.contains_key(&of);
    let answer = if known || ANY_NAME.load(Ordering::Relaxed) {
        let t = type_objects::of(py, t)?;
        Some(py.import("tierup._overloads")?.getattr(function)?.call1((name, t))?)
    } else {
        None
    };
    // An answer under any name is registered when it is first given, which comes too late for nobody.
    table().asked.insert(of);
    Ok(answer.filter(|a| !a.is_none()))
}

/// What was added to values of a type under a name, and whether that is a method.
pub(crate) fn added(py: Python<'_>, t: Type, name: &str) -> Result<Option<(bool, FuncId)>, Failure> {
    let Some(answer) = of_name(py, t, name, "added")? else { return Ok(None) };
    let (kind, stand_in): (String, Bound<'_, PyFunction>) = answer.extract()?;
    Ok(Some((kind == "method", functions::func_id_of(stand_in.as_any(), &stand_in)?)))
}

/// The function that is called where an attribute of values of a type is assigned to.
pub(crate) fn added_setter(py: Python<'_>, t: Type, name: &str) -> Result<Option<FuncId>, Failure> {
    let Some(answer) = of_name(py, t, name, "added_setter")? else { return Ok(None) };
    let stand_in = answer.cast_into::<PyFunction>().map_err(PyErr::from)?;
    functions::func_id_of(stand_in.as_any(), &stand_in).map(Some)
}

/// What an overload says of a call.
pub(crate) enum Said<'py> {
    /// A function, and the parameters for whose values it is; whether it is for values.
    Call(Bound<'py, PyAny>, Vec<usize>, bool),
    /// It wants the values of these operands.
    Wanted(Vec<usize>),
    Nothing,
    Refused(Diagnostic),
}

impl<'py> Said<'py> {
    /// The answer as the compiler has it; `used` is told of a function that code will depend on.
    pub(crate) fn offer(self, used: impl FnOnce(&Bound<'py, PyAny>)) -> Result<Offer, Failure> {
        Ok(match self {
            Said::Nothing => Offer::Nothing,
            Said::Refused(d) => Offer::Refused(d),
            Said::Wanted(operands) => Offer::Wanted(operands),
            Said::Call(f, parameters, for_values) => {
                used(&f);
                let of = functions::python_function(&f)
                    .ok_or_else(|| Diagnostic::internal("an implementation that is no function"))?;
                let chosen = functions::func_id_of(&f, &of)?;
                parameters.into_iter().for_each(|p| registry::specialise(chosen, p, false));
                Offer::Call(GlobalValue::Function(chosen), for_values)
            }
        })
    }
}

/// The `n`th answer of overloads.
pub(crate) fn offer<'py>(
    py: Python<'py>,
    func: FuncId,
    n: usize,
    positional: &[Operand],
    named: &[(Arc<str>, Operand)],
    in_kernel: bool,
) -> Result<Option<Said<'py>>, Failure> {
    let target = table().targets.get(&func).map(|t| t.clone_ref(py));
    let target = target.ok_or_else(|| Diagnostic::internal("overloads of nothing"))?;
    let operand = |(t, known): &Operand| {
        let t = type_objects::of(py, *t)?;
        match known {
            Some(c) => PyTuple::new(py, [t, constants::object(py, c)?]),
            None => PyTuple::new(py, [t]),
        }
    };
    let all = positional.iter().chain(named.iter().map(|n| &n.1));
    let operands = all.map(operand).collect::<PyResult<Vec<_>>>()?;
    let names = PyTuple::new(py, named.iter().map(|n| &*n.0))?;
    let answer =
        py.import("tierup._overloads")?.getattr("offer")?.call1((target, n, operands, names, in_kernel))?;
    if answer.is_none() {
        return Ok(None);
    }
    let answer = answer.cast_into::<PyTuple>().map_err(PyErr::from)?;
    if answer.is_empty() {
        return Ok(Some(Said::Nothing));
    }
    let said: String = answer.get_item(0)?.extract()?;
    let behind = answer.get_item(1)?;
    Ok(Some(match said.as_str() {
        "call" => Said::Call(behind, answer.get_item(2)?.extract()?, answer.get_item(3)?.extract()?),
        "wanted" => Said::Wanted(behind.extract()?),
        "failed" => return Err(Diagnostic::new(Code::BadGenerator, behind.extract::<String>()?).into()),
        _ => Said::Refused(Diagnostic::new(Code::NoMatchingOperation, behind.extract::<String>()?)),
    }))
}

/// What is said of overloads that have no answer.
pub(crate) fn without_answer(py: Python<'_>, func: FuncId, positional: &[Operand]) -> Option<Vec<String>> {
    let target = table().targets.get(&func).map(|t| t.clone_ref(py))?;
    let given = positional.iter().map(|o| type_objects::of(py, o.0)).collect::<PyResult<Vec<_>>>().ok()?;
    py.import("tierup._overloads").ok()?.getattr("asked").ok()?.call1((target, given)).ok()?.extract().ok()
}

fn register(of: Of, func: FuncId, target: Py<PyAny>) {
    registry::overload(func);
    let mut t = table();
    let late = t.asked.contains(&of);
    t.known.insert(of, func);
    let before = t.targets.insert(func, target);
    drop(t);
    drop(before);
    if late {
        LATE.fetch_add(1, Ordering::Relaxed);
    }
}

/// A function, class or operation has one overload more; `target` has them all.
#[pyfunction]
fn overload_function(
    object: &Bound<'_, PyAny>,
    stand_in: &Bound<'_, PyFunction>,
    target: Py<PyAny>,
) -> PyResult<()> {
    let op = operations::operation_of(object)?;
    let stands_for =
        if op.is_none() && !object.is_instance_of::<PyType>() { object } else { stand_in.as_any() };
    let func = functions::func_id_of(stands_for, stand_in).map_err(|e| e.into_python(object.py()))?;
    let of = op.map_or_else(|| Of::Object(object.as_ptr() as usize), Of::Operation);
    register(of, func, target);
    Ok(())
}

/// A method or attribute of that name has one overload more.
#[pyfunction]
fn overload_member(name: String, stand_in: &Bound<'_, PyFunction>, target: Py<PyAny>) -> PyResult<()> {
    let func =
        functions::func_id_of(stand_in.as_any(), stand_in).map_err(|e| e.into_python(stand_in.py()))?;
    register(Of::Member(name), func, target);
    Ok(())
}

/// From now on something may be added to values under any name.
#[pyfunction]
fn overload_any_member() {
    ANY_NAME.store(true, Ordering::Relaxed);
    LATE.fetch_add(1, Ordering::Relaxed);
}

/// A function for which compiled code runs a text of LIR, over the leaves of values of these types; `stub` has its
/// parameters.
#[pyfunction]
fn opaque_function(
    object: &Bound<'_, PyFunction>,
    stub: &Bound<'_, PyFunction>,
    text: &str,
    params: Vec<String>,
    ret: &str,
) -> PyResult<()> {
    let py = object.py();
    let name: String = object.getattr("__name__")?.extract()?;
    let (args, ret) = (parse_types(py, &params)?, parse_type(py, ret)?);
    let of = Opaque::parse(&name, args.clone(), ret, text).map_err(|d| to_python(py, &d))?;
    let func = functions::func_id_of(object.as_any(), stub).map_err(|e| e.into_python(py))?;
    let signatures = vec![Signature { args, ret: Some(ret) }];
    registry::declare(func, Arc::new(Declared { signatures, open: false, careful: true }));
    opaque::set(func, of);
    let mut t = table();
    let of = Of::Object(object.as_ptr() as usize);
    let late = t.asked.contains(&of);
    t.known.insert(of, func);
    drop(t);
    if late {
        LATE.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

pub(crate) fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(overload_function, m)?)?;
    m.add_function(wrap_pyfunction!(opaque_function, m)?)?;
    m.add_function(wrap_pyfunction!(overload_any_member, m)?)?;
    m.add_function(wrap_pyfunction!(overload_member, m)?)
}
