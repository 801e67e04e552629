//! Compiled functions that C calls: `cfunc`.
//!
//! What C gets is the address of a small function made by tier 0, with the C signature: it puts its arguments
//! where the overload's wrapper wants them and goes through [`run`], which enters the code of the moment. So
//! a callback that C holds for ever is promoted like any other function. The address is good for the life of
//! the process.

use crate::dispatcher::core_of;
use crate::errors::Failure;
use crate::overload::{Overload, Run};
use crate::{ctx, exc};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::Arc;
use tierup_core::backend::{Backend, Keep};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::emit::wrapper::SLOT;
use tierup_core::lir::builder::Builder;
use tierup_core::lir::{Alias, Func, Module, Signature, Ty};
use tierup_core::types::{Layout, Type};
use tierup_tier0::Cranelift;

/// One callback; never freed, since C may hold its address.
struct Callback {
    overload: Arc<Overload>,
    dispatcher: Py<PyAny>,
}

/// Elements that a pointer may have behind it: as an array it has no end that anybody reaches.
const ENDLESS: i64 = i64::MAX / 64;

/// Runs a callback; `results` is zeroed.
unsafe extern "C" fn run(data: *const Callback, args: *const u64, results: *mut u64) {
    // SAFETY: the function that calls this was made for this callback and its slots. The thread may be any,
    // one that Python has never seen included.
    unsafe {
        let c = &*data;
        let body = |ctx| {
            let Run::Compiled(code) = &c.overload.run else { return 0 };
            if let Some(unit) = code.native() {
                unit.called();
            }
            code.call(ctx, args, results)
        };
        let status = if ffi::PyGILState_Check() != 0 {
            ctx::begin();
            let status = body(ctx::current());
            ctx::end();
            status
        } else {
            ctx::without_gil(body)
        };
        if status != 0 {
            failed(c, status, results);
        }
    }
}

/// There is nobody to raise an exception to: it is shown, and C gets 0.
#[cold]
unsafe fn failed(c: &Callback, status: u64, results: *mut u64) {
    // SAFETY: the status is an owned exception; `results` has a slot.
    unsafe {
        results.write(0);
        let held = ffi::PyGILState_Ensure();
        crate::gil::attached(|py| {
            let Ok(core) = core_of(c.dispatcher.bind(py)) else { return };
            exc::raise(py, status as usize as *mut _, &core.decorated.globals(py))
                .write_unraisable(py, Some(core.decorated.function(py).as_any()));
        });
        ffi::PyGILState_Release(held);
    }
}

/// The machine type of an argument or result.
fn c_type(t: Type) -> Option<Ty> {
    if t.as_array().is_some() { Some(Ty::Ptr) } else { t.scalar_ty() }
}

fn entry(callback: &'static Callback) -> Result<*const u8, Failure> {
    let o = &callback.overload;
    let refuse = |t: Type| {
        Failure::from(
            Diagnostic::new(
                Code::BadSignature,
                format!("a C callback takes and gives numbers and pointers, not {t}"),
            )
            .help("pass a pointer to it"),
        )
    };
    if !o.guards.passed().is_empty() {
        let text = "a C callback cannot read global lists, dicts and objects";
        return Err(Diagnostic::new(Code::BadSignature, text).help("keep them in global arrays").into());
    }
    let pointer = |t: Type| t.as_array().is_none_or(|a| a.ndim == 1 && a.layout == Layout::C);
    let params = o
        .args
        .iter()
        .map(|t| c_type(*t).filter(|_| pointer(*t)).ok_or_else(|| refuse(*t)))
        .collect::<Result<Vec<_>, _>>()?;
    let results =
        if o.ret.leaf_count() == 0 { vec![] } else { vec![o.ret.scalar_ty().ok_or_else(|| refuse(o.ret))?] };
    let mut func = Func::new("callback", Signature { params, results: results.clone() });
    let mut b = Builder::start(&mut func);
    let first = b.block;
    let given = b.params(first);
    let slots: usize = o.args.iter().map(|t| t.leaf_count()).sum();
    let (args, out) = (b.slot_addr(8 * slots.max(1) as u32), b.slot_addr(8));
    let zero = b.i64(0);
    b.store(zero, out, 0, Alias::Stack);
    let mut at = 0;
    for (v, t) in given.iter().zip(&o.args) {
        if t.as_array().is_some() {
            let owner = b.i64(crate::stand_in::held_block() as i64);
            let n = b.i64(ENDLESS);
            b.store(owner, args, at, Alias::Stack);
            b.store(*v, args, at + SLOT, Alias::Stack);
            b.store(n, args, at + 2 * SLOT, Alias::Stack);
            at += 3 * SLOT;
        } else {
            b.store(*v, args, at, Alias::Stack);
            at += SLOT;
        }
    }
    let runner = Signature { params: vec![Ty::Ptr, Ty::Ptr, Ty::Ptr], results: vec![] };
    let (data, function) = (
        b.symbol_addr("callback", std::ptr::from_ref(callback) as usize),
        b.symbol_addr("run", run as *const () as usize),
    );
    b.call_indirect(&runner, function, &[data, args, out]);
    let answer: Vec<_> = results.iter().map(|ty| b.load(*ty, out, 0, Alias::Stack)).collect();
    b.ret(answer);
    let module = Module { funcs: vec![func] };
    let code =
        Box::leak(Cranelift::new().compile(&module, &tierup_runtime::helper_address, Keep::default())?);
    code.entry("callback")
        .ok_or_else(|| Failure::Raised(PyRuntimeError::new_err("the callback is not in its module")))
}

/// The address by which C calls the overload of `d` that was compiled last.
#[pyfunction]
fn callback_address(d: &Bound<'_, PyAny>) -> PyResult<usize> {
    let overload =
        core_of(d)?.overloads().last().cloned().ok_or_else(|| PyTypeError::new_err("nothing is compiled"))?;
    let callback: &'static Callback =
        Box::leak(Box::new(Callback { overload, dispatcher: d.clone().unbind() }));
    entry(callback).map(|p| p as usize).map_err(|e| e.into_python(d.py()))
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(callback_address, m)?)
}
