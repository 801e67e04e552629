//! Functions of the extension module that the Python package builds its interface on.

use crate::decorated::InPython;
use crate::dispatcher::{self, Core, core_of};
use crate::engine::Options;
use crate::errors::Failure;
use crate::overload::Overload;
use crate::overload::{Asked, Run};
use crate::struct_types;
use crate::texts::{parse_type, parse_types};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use std::sync::Arc;
use tierup_core::cpu::Cpu;
use tierup_core::emit::cx::{Options as CodeOptions, Overflow};
use tierup_core::lir::explain::Place;
use tierup_core::meaning::Meaning;
use tierup_core::ssa::Parts;
use tierup_runtime::engine::promote::{self, Osr, Policy};
use tierup_runtime::engine::{debug, trace};
use tierup_runtime::parallel::settings;

fn flag(options: &Bound<'_, PyDict>, name: &str) -> PyResult<bool> {
    options.get_item(name)?.map_or(Ok(false), |v| v.is_truthy())
}

/// A dispatcher for a Python function. `options` are the engine's, resolved: boundscheck, numpy_errors,
/// overflow, meaning, nogil, force_python, inner_loop, kernel, contract, fast_math and parallel (bits); `checked` is there where annotations are checked,
/// and says whether there is one of the result. Where it is not compiled Python runs `instead`, or the function with loops cut out by the
/// options `lift`; with `by_reference` it is compiled for no arguments that are copied, but for lists of numbers and of
/// tuples of them at the places that it names.
#[pyfunction]
fn make_dispatcher<'py>(
    func: &Bound<'py, PyAny>,
    fallback: bool,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let code = CodeOptions {
        boundscheck: flag(options, "boundscheck")?,
        numpy_errors: flag(options, "numpy_errors")?,
        overflow: match options.get_item("overflow")?.map(|v| v.extract::<String>()).transpose()?.as_deref() {
            Some("raise") => Overflow::Raise,
            Some("python") => Overflow::Python,
            Some(_) | None => Overflow::Wrap,
        },
        fast_math: options.get_item("fast_math")?.map_or(Ok(0), |v| v.extract())?,
        kernel: flag(options, "kernel")?,
        contract: flag(options, "contract")?,
        platform: &tierup_core::emit::platform::Host,
    };
    let engine = Options {
        code,
        nogil: flag(options, "nogil")?,
        lines: flag(options, "lines")?,
        parallel: Parts(options.get_item("parallel")?.map_or(Ok(0), |v| v.extract())?),
        force_python: flag(options, "force_python")?,
        inner_loop: flag(options, "inner_loop")?,
        goes_on: options.contains("instead")?,
        falls_back: fallback,
        meaning: match options.get_item("meaning")?.map(|v| v.extract::<String>()).transpose()?.as_deref() {
            Some("numba") => Some(Meaning::Numba),
            Some("python") => Some(Meaning::Python),
            Some(_) | None => None,
        },
    };
    let checked = options.get_item("checked")?.map(|v| v.is_truthy()).transpose()?;
    let specialised: Vec<usize> = options.get_item("specialize")?.map_or(Ok(vec![]), |v| v.extract())?;
    let locals = locals_of(options.get_item("locals")?)?;
    let in_python = match (options.get_item("instead")?, options.get_item("lift")?) {
        (Some(f), _) => InPython::Instead(f.unbind()),
        (None, Some(options)) => InPython::Lifted(options.unbind()),
        (None, None) => InPython::Itself,
    };
    let in_python = (in_python, options.get_item("by_reference")?.map(|v| v.extract()).transpose()?);
    dispatcher::make(func, fallback, engine, locals, specialised.into(), checked, in_python)
        .map_err(|e| e.into_python(func.py()))
}

/// Types of variables, by name.
fn locals_of(given: Option<Bound<'_, PyAny>>) -> PyResult<Arc<[(Arc<str>, Arc<str>)]>> {
    let all: Vec<(String, String)> = match &given {
        Some(g) => g.extract()?,
        None => vec![],
    };
    if let Some(g) = &given {
        for (_, ty) in &all {
            parse_type(g.py(), ty)?;
        }
    }
    Ok(all.into_iter().map(|(name, ty)| (Arc::from(name), Arc::from(ty))).collect())
}

#[pyfunction]
fn py_func<'py>(d: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    core_of(d).map(|c| c.decorated.function(d.py()).clone().into_any())
}

/// What Python runs where the function is not compiled.
#[pyfunction]
fn in_python<'py>(d: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    core_of(d)?.decorated.in_python(d.py()).cloned()
}

/// The functions that run in the place of what was decorated: the one that is compiled, and what Python runs where it is
/// not, if that is known.
#[pyfunction]
fn functions<'py>(d: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (of, py) = (&core_of(d)?.decorated, d.py());
    Ok([of.function_ptr(), of.in_python_ptr()]
        .into_iter()
        // SAFETY: objects that the dispatcher holds.
        .filter_map(|f| unsafe { Bound::from_borrowed_ptr_or_opt(py, f) })
        .collect())
}

/// Why the last call whose arguments nothing could be compiled for was run by Python; None where there was none.
#[pyfunction]
fn refusal(d: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(core_of(d)?.refusal())
}

/// Compiles for argument types: a loop of a ufunc, a callback's function.
#[pyfunction]
fn compile_for(d: &Bound<'_, PyAny>, args: Vec<String>) -> PyResult<()> {
    let (py, core) = (d.py(), core_of(d)?);
    let args = parse_types(py, &args)?;
    let o = core
        .compile(py, &args, &[], Asked::Declared, |host| host.passes_nothing())
        .map_err(|e: Failure| e.into_python(py))?;
    core.insert(py, o)?;
    Ok(())
}

/// Declares signatures, and compiles for them; arguments of calls are converted to what they say, results
/// too. `open` says whether other argument types are still taken. Where one cannot be compiled nothing is
/// declared.
#[pyfunction]
fn declare(d: &Bound<'_, PyAny>, signatures: Vec<(Vec<String>, Option<String>)>, open: bool) -> PyResult<()> {
    let (py, core) = (d.py(), core_of(d)?);
    let known = signatures
        .iter()
        .map(|(args, ret)| Ok((parse_types(py, args)?, ret.as_ref().map(|t| parse_type(py, t)).transpose()?)))
        .collect::<PyResult<Vec<_>>>()?;
    let was = core.decorated.decoration();
    core.set_open(open);
    let added = core.declare(known);
    for args in added {
        match core.compile(py, &args, &[], Asked::Declared, |_| {}) {
            Ok(o) => {
                core.insert(py, o)?;
            }
            Err(e) => {
                core.decorate(was);
                return Err(e.into_python(py));
            }
        }
    }
    Ok(())
}

/// Makes a function one of these signatures alone, without code for any: kernels that call it make that.
#[pyfunction]
fn declare_for_kernels(d: &Bound<'_, PyAny>, signatures: Vec<(Vec<String>, Option<String>)>) -> PyResult<()> {
    let (py, core) = (d.py(), core_of(d)?);
    let known = signatures
        .iter()
        .map(|(args, ret)| Ok((parse_types(py, args)?, ret.as_ref().map(|t| parse_type(py, t)).transpose()?)))
        .collect::<PyResult<Vec<_>>>()?;
    core.set_open(false);
    core.declare(known);
    Ok(())
}

/// The type of a variable that holds both objects, as text; none where compiled code has no such variable.
#[pyfunction]
fn unify_text(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let of = |x: &Bound<'_, PyAny>| crate::convert::type_of(x).map_err(|e| e.into_python(x.py()));
    Ok(tierup_core::types::promote::unify(of(a)?, of(b)?).map(|t| t.to_string()))
}

/// From now on numbers are converted only to types that hold them.
#[pyfunction]
fn set_careful(d: &Bound<'_, PyAny>) -> PyResult<()> {
    core_of(d).map(Core::set_careful)
}

/// `(argument types, result type, reason why it is not compiled or None)` of each overload.
#[pyfunction]
fn overloads(d: &Bound<'_, PyAny>) -> PyResult<Vec<(Vec<String>, String, Option<String>)>> {
    Ok(core_of(d)?.overloads().iter().map(row).collect())
}

fn row(o: &Arc<Overload>) -> (Vec<String>, String, Option<String>) {
    let why = match &o.run {
        Run::Compiled(_) => None,
        Run::Python(why) => Some(why.clone()),
    };
    (o.args.iter().map(|t| t.to_string()).collect(), o.ret.to_string(), why)
}

/// Calls from compiled code are noted from now on.
#[pyfunction]
fn keep_called() {
    crate::dispatcher::keep();
}

/// A call from compiled code: how many overloads there were then, argument types, values as in
/// [`whole_overloads`], and the type of the result.
type Called<'py> = (usize, Vec<Bound<'py, PyAny>>, Vec<Vec<Bound<'py, PyAny>>>, Bound<'py, PyAny>);

/// For which types other compiled code calls the function.
#[pyfunction]
fn called<'py>(d: &Bound<'py, PyAny>) -> PyResult<Vec<Called<'py>>> {
    let py = d.py();
    let object = |t: &tierup_core::types::Type| crate::type_objects::of(py, *t);
    let one = |c: &crate::dispatcher::Called| {
        let values = c.values.iter().map(|v| v.iter().map(|c| crate::constants::object(py, c)).collect());
        let args = c.args.iter().map(object).collect::<PyResult<_>>()?;
        Ok((c.behind, args, values.collect::<PyResult<_>>()?, object(&c.ret)?))
    };
    core_of(d)?.called().iter().map(one).collect()
}

/// Of an overload the row of [`overloads`], the values of arguments it is for (for each argument a list with the
/// value, or an empty one; an empty list where it is for none), and the argument types as objects.
type Whole<'py> =
    ((Vec<String>, String, Option<String>), Vec<Vec<Bound<'py, PyAny>>>, Vec<Bound<'py, PyAny>>);

/// All of every overload at once: making objects may collect a class, and so the overload that was for it.
#[pyfunction]
fn whole_overloads<'py>(d: &Bound<'py, PyAny>) -> PyResult<Vec<Whole<'py>>> {
    let py = d.py();
    let values_of = |v: &Option<tierup_core::types::Const>| {
        v.iter().map(|c| crate::constants::object(py, c)).collect::<PyResult<Vec<_>>>()
    };
    let whole = |o: &Arc<Overload>| {
        let values = o.values.iter().map(values_of).collect::<PyResult<_>>()?;
        let types = o.args.iter().map(|t| crate::type_objects::of(py, *t)).collect::<PyResult<_>>()?;
        Ok((row(o), values, types))
    };
    core_of(d)?.overloads().iter().map(whole).collect()
}

/// The text of one level of the `index`-th overload: bytecode, ssa, typed, lir, clif, asm.
#[pyfunction]
fn inspect(d: &Bound<'_, PyAny>, index: usize, level: &str) -> PyResult<Option<String>> {
    let core = core_of(d)?;
    let list = core.overloads();
    let o = list.get(index).ok_or_else(|| PyKeyError::new_err(index))?;
    match &o.run {
        Run::Compiled(_) => core.text(d.py(), o, level).map_err(|e| e.into_python(d.py())),
        Run::Python(_) => Ok(None),
    }
}

/// What became of the `index`-th overload in tier 1, a dict: inlined, calls, fused (file, line, function or
/// operations), checks (file, line, only in the slow copy of a loop), allocations (file, line, helper, in a
/// loop), streams (file, line, why a generator keeps its frame), loops (file, first line, last line), remarks
/// (texts, or None without LLVM).
#[pyfunction]
fn explain<'py>(d: &Bound<'py, PyAny>, index: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
    let (py, core) = (d.py(), core_of(d)?);
    let list = core.overloads();
    let o = list.get(index).ok_or_else(|| PyKeyError::new_err(index))?;
    let Run::Compiled(_) = &o.run else { return Ok(None) };
    let e = core.explain(py, o).map_err(|e| e.into_python(py))?;
    let f = e.facts;
    let dict = PyDict::new(py);
    let named = |set: std::collections::BTreeSet<(Place, String)>| {
        set.into_iter().map(|(p, name)| (p.file, p.line, name)).collect::<Vec<_>>()
    };
    dict.set_item("inlined", named(f.inlined))?;
    dict.set_item("calls", named(f.calls))?;
    dict.set_item("fused", named(e.fused))?;
    dict.set_item(
        "checks",
        f.checks.into_iter().map(|(p, slow)| (p.file, p.line, slow)).collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "allocations",
        f.allocations.into_iter().map(|(p, name, inside)| (p.file, p.line, name, inside)).collect::<Vec<_>>(),
    )?;
    dict.set_item("streams", named(f.streams))?;
    dict.set_item("loops", f.loops.into_iter().map(|(p, last)| (p.file, p.line, last)).collect::<Vec<_>>())?;
    dict.set_item("remarks", e.remarks)?;
    Ok(Some(dict))
}

/// PTX of a kernel that runs the `index`-th overload, for a GPU of that compute capability.
#[pyfunction]
fn inspect_ptx(d: &Bound<'_, PyAny>, index: usize, capability: u32) -> PyResult<Option<String>> {
    let core = core_of(d)?;
    let list = core.overloads();
    let o = list.get(index).ok_or_else(|| PyKeyError::new_err(index))?;
    match &o.run {
        Run::Compiled(_) => core.ptx(d.py(), o, capability).map(Some).map_err(|e| e.into_python(d.py())),
        Run::Python(_) => Ok(None),
    }
}

/// Seconds spent compiling the `index`-th overload (infer, lower, optimise, backend), and the bytes of its
/// machine code.
#[pyfunction]
fn compile_times(d: &Bound<'_, PyAny>, index: usize) -> PyResult<Option<((f64, f64, f64, f64), usize)>> {
    let list = core_of(d)?.overloads();
    let o = list.get(index).ok_or_else(|| PyKeyError::new_err(index))?;
    Ok(match &o.run {
        Run::Compiled(code) => {
            let p = code.phases();
            Some((
                (
                    p.infer.as_secs_f64(),
                    p.lower.as_secs_f64(),
                    p.optimise.as_secs_f64(),
                    p.backend.as_secs_f64(),
                ),
                code.size(),
            ))
        }
        Run::Python(_) => None,
    })
}

/// (file, line, type) of every `reveal_type` that was compiled since the last call.
#[pyfunction]
fn take_revealed() -> Vec<(String, u32, String)> {
    tierup_core::ops::reveal::take().into_iter().map(|r| (r.file, r.line, r.ty)).collect()
}

/// Passes settings of `tierup.config` on: the tier, and the levels that are printed while compiling.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn configure(
    tier: &str,
    dump: Vec<String>,
    trace: bool,
    calls: i64,
    time_ms: u64,
    osr: &str,
    background: bool,
    threads: usize,
    opt: u8,
) {
    let osr = match osr {
        "off" => Osr::Off,
        "stress" => Osr::Stress,
        _ => Osr::On,
    };
    let policy = Policy {
        off: tier != "auto" && tier != "1",
        calls: calls.max(1),
        time: std::time::Duration::from_millis(time_ms),
        osr,
        background,
        eager: tier == "1",
        threads,
        opt,
    };
    crate::engine::configure(tier, dump, trace, policy)
}

/// Makes code for a processor from now on; ValueError where it is unknown or this machine does not have it.
#[pyfunction]
fn choose_cpu(name: &str) -> PyResult<()> {
    let Some(cpu) = Cpu::from_name(name) else {
        return Err(PyValueError::new_err(format!(
            "known values are {}",
            Cpu::ALL.iter().map(|c| c.name()).collect::<Vec<_>>().join(", ")
        )));
    };
    if !tierup_runtime::cpu::supports(cpu) {
        return Err(PyValueError::new_err("this machine's processor lacks features of that level"));
    }
    tierup_runtime::choose_cpu(cpu);
    Ok(())
}

/// Whether code that is made now may use what that level has.
#[pyfunction]
fn uses_cpu(name: &str) -> bool {
    Cpu::from_name(name).is_some_and(|cpu| Cpu::chosen() >= cpu && tierup_runtime::cpu::supports(cpu))
}

/// Fuel for the passes of everything that is compiled from now on; none for as much as is wanted.
#[pyfunction]
fn set_fuel(units: Option<u64>) {
    tierup_core::pass::set_fuel(units)
}

/// Whether there is a library with LLVM.
#[pyfunction]
fn has_llvm() -> bool {
    promote::available()
}

/// Says where the library with LLVM lies; without it everything stays in tier 0.
#[pyfunction]
fn set_library(path: std::path::PathBuf) {
    promote::set_library(path)
}

/// For `os.register_at_fork`: waits until nothing is being compiled, and keeps it so until the fork is over.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    py.detach(promote::pause)
}
#[pyfunction]
fn after_fork_in_parent() {
    promote::resume()
}

/// Of each loop over `prange` in a function with parallel loops: file, line, why it is not parallel or None,
/// what its iterations share, lines of stores that may be races, the line of the loop that it is part of, and
/// that of the one before it of which it is none, with the reason.
#[pyfunction]
#[allow(clippy::type_complexity)]
fn parallel_loops(
    d: &Bound<'_, PyAny>,
) -> PyResult<
    Vec<(String, u32, Option<String>, Vec<String>, Vec<(u32, String)>, Option<u32>, Option<(u32, String)>)>,
> {
    let (py, core) = (d.py(), core_of(d)?);
    if !core.decorated.options.parallel.any() {
        return Ok(vec![]);
    }
    let id = core.func_id(py).map_err(|e| e.into_python(py))?;
    let (mut loops, mut seen, mut todo) = (vec![], vec![], vec![id]);
    // Inner functions have loops of their own; bodies of loops have left theirs to the function around.
    while let Some(id) = todo.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let Some(func) = tierup_core::ssa::registry::get(id) else { continue };
        todo.extend(func.insts.iter().filter_map(|n| {
            if let tierup_core::ssa::Op::MakeFunction { func, .. } = n.op { Some(func) } else { None }
        }));
        let line = |loc| func.span(loc).line;
        for l in &func.loops {
            let doubts = l.doubts.iter().map(|(loc, why)| (line(*loc), why.to_string())).collect();
            loops.push((
                func.span(l.loc).file.to_string(),
                line(l.loc),
                l.serial.as_deref().map(str::to_owned),
                l.shares.clone(),
                doubts,
                l.into.map(line),
                l.apart.as_ref().map(|(loc, why)| (line(*loc), why.to_string())),
            ));
        }
    }
    loops.sort();
    Ok(loops)
}

/// Of each operation on arrays, or chain of them, in the `index`-th overload: file, line, operations in their
/// order with the earlier ones that each reads, why it is not parallel or None, the line of the region that
/// it is part of, where that is another, and what its operands must be like.
#[pyfunction]
#[allow(clippy::type_complexity)]
fn parallel_arrays(
    d: &Bound<'_, PyAny>,
    index: usize,
) -> PyResult<
    Vec<(String, u32, Vec<(String, Vec<u32>)>, Option<&'static str>, Option<u32>, Option<&'static str>)>,
> {
    let (py, core) = (d.py(), core_of(d)?);
    let list = core.overloads();
    let o = list.get(index).ok_or_else(|| PyKeyError::new_err(index))?;
    let (Run::Compiled(_), true) = (&o.run, core.decorated.options.parallel.any()) else { return Ok(vec![]) };
    let notes = core.parallel_notes(py, o).map_err(|e| e.into_python(py))?;
    Ok(notes.into_iter().map(|n| (n.place.file, n.place.line, n.steps, n.serial, n.with, n.only)).collect())
}

/// Threads that parallel loops may use, in all.
#[pyfunction]
fn set_most_threads(n: usize) {
    settings::set_most(n)
}
/// Threads that parallel loops of this thread use.
#[pyfunction]
fn get_num_threads() -> usize {
    settings::threads()
}
/// Sets that, up to `config.num_threads`; ValueError beyond it.
#[pyfunction]
fn set_num_threads(n: &Bound<'_, PyAny>) -> PyResult<()> {
    settings::set_threads(whole(n, "The number of threads specified must be an integer")?)
        .map_err(|e| PyValueError::new_err(e.message()))
}
/// A Python integer, the greatest one for those beyond 64 bits; TypeError with Numba's text for anything
/// else.
fn whole(n: &Bound<'_, PyAny>, text: &str) -> PyResult<i64> {
    n.extract().or_else(|e: PyErr| {
        if e.is_instance_of::<pyo3::exceptions::PyTypeError>(n.py()) {
            Err(pyo3::exceptions::PyTypeError::new_err(text.to_owned()))
        } else if n.lt(0)? {
            Ok(i64::MIN)
        } else {
            Ok(i64::MAX)
        }
    })
}
/// Which of the threads in a parallel loop this is: 0 outside of one.
#[pyfunction]
fn get_thread_id() -> i64 {
    tierup_runtime::parallel::region::thread_id()
}
/// Iterations in a piece of a parallel loop; 0 for what is usual.
#[pyfunction]
fn get_parallel_chunksize() -> u64 {
    settings::chunk()
}
/// Sets that for this thread; gives what it was.
#[pyfunction]
fn set_parallel_chunksize(n: &Bound<'_, PyAny>) -> PyResult<i64> {
    settings::set_chunk(whole(n, "The parallel chunksize must be an integer")?)
        .map_err(|e| PyValueError::new_err(e.message()))
}

/// How often something was compiled by tier 1.
#[pyfunction]
fn promotions() -> usize {
    promote::finished()
}

/// Collects what the compiler does from now on, or stops that.
#[pyfunction]
fn set_trace(on: bool) {
    trace::set(on)
}
/// What was collected, in the trace event format.
#[pyfunction]
fn trace_json() -> String {
    trace::json()
}
/// Whether compiled functions are written to `/tmp/perf-PID.map`.
#[pyfunction]
fn set_perf_map(on: bool) {
    debug::map::set(on)
}

/// Whether all functions have lines for debuggers and profilers, and the folder of `jit-PID.dump`, if any.
#[pyfunction]
fn set_lines(all: bool, dump: Option<std::path::PathBuf>) {
    debug::set_all(all);
    debug::dump::set(dump.as_deref())
}

/// The objects that debuggers are told of, the youngest first.
#[pyfunction]
fn debug_objects(py: Python<'_>) -> Vec<Bound<'_, PyBytes>> {
    debug::gdb::objects().iter().map(|o| PyBytes::new(py, o)).collect()
}

/// The tier that the next call of the `index`-th overload enters, when it got there, and the loops that went
/// over: seconds since the overload was made, seconds that compiling took; why it failed; whether the code
/// came out of the cache; the processor that it was made for, where a package brought it.
#[pyfunction]
#[allow(clippy::type_complexity)]
fn history(
    d: &Bound<'_, PyAny>,
    index: usize,
) -> PyResult<
    Option<(
        u8,
        Option<(f64, f64)>,
        Vec<(String, u32, f64, f64)>,
        Option<String>,
        bool,
        Option<&'static str>,
    )>,
> {
    let list = core_of(d)?.overloads();
    let o = list.get(index).ok_or_else(|| PyKeyError::new_err(index))?;
    let Run::Compiled(code) = &o.run else { return Ok(None) };
    let h = code.unit().history.lock().unwrap_or_else(|e| e.into_inner()).clone();
    let s = |d: std::time::Duration| d.as_secs_f64();
    Ok(Some((
        code.unit().tier(),
        h.promoted.map(|(a, b)| (s(a), s(b))),
        h.loops.into_iter().map(|(f, l, a, b)| (f, l, s(a), s(b))).collect(),
        h.failed,
        h.cached,
        h.shipped.map(tierup_core::cpu::Cpu::name),
    )))
}

/// What a call of an overload took in compiled code and in Python when they were compared last, in seconds, and for how
/// many calls Python was the quicker way; none where they were not.
#[pyfunction]
fn compared(d: &Bound<'_, PyAny>, index: usize) -> PyResult<Option<(f64, f64, u64)>> {
    let list = core_of(d)?.overloads();
    let o = list.get(index).ok_or_else(|| PyKeyError::new_err(index))?;
    Ok(o.compared().map(|c| (c.here.as_secs_f64(), c.python.as_secs_f64(), c.calls)))
}

/// For `os.register_at_fork`.
#[pyfunction]
fn after_fork() {
    promote::after_fork();
    tierup_runtime::random::after_fork();
    tierup_runtime::parallel::after_fork();
    crate::convert::native::turns::after_fork();
    crate::ctx::after_fork()
}

/// Forgets what is compiled and declared.
#[pyfunction]
fn clear_overloads(d: &Bound<'_, PyAny>) -> PyResult<()> {
    let core = core_of(d)?;
    core.clear();
    core.declare_nothing();
    Ok(())
}

/// Whether calls may compile new overloads.
#[pyfunction]
fn set_can_compile(d: &Bound<'_, PyAny>, yes: bool) -> PyResult<()> {
    core_of(d).map(|c| c.set_open(yes))
}
#[pyfunction]
fn can_compile(d: &Bound<'_, PyAny>) -> PyResult<bool> {
    core_of(d).map(|c| c.decorated.decoration().declared.open)
}

/// Every indexing of a parameter in a Python function: the parameter's number, whether it is written to, and
/// the index where it is constant.
#[pyfunction]
fn indexed_parameters(
    func: &Bound<'_, pyo3::types::PyFunction>,
) -> PyResult<Vec<(usize, bool, Option<Vec<i64>>)>> {
    let py = func.py();
    let id = crate::functions::func_id_of(func.as_any(), func).map_err(|e| e.into_python(py))?;
    let known =
        tierup_core::ssa::registry::get(id).ok_or_else(|| crate::errors::bug("a function without code"))?;
    Ok(tierup_core::ssa::reads::accesses(&known).into_iter().map(|a| (a.param, a.writes, a.index)).collect())
}

/// The type of the instances of a class in native memory.
#[pyfunction]
fn declared_type(class: &Bound<'_, PyType>) -> PyResult<String> {
    struct_types::declared(class).map(|t| format!("{t:#}"))
}

/// The type that compiled code gives an object.
#[pyfunction]
fn type_text(obj: &Bound<'_, PyAny>) -> PyResult<String> {
    crate::convert::type_of(obj).map(|t| t.to_string()).map_err(|e| e.into_python(obj.py()))
}

/// The same as Numba's types, which typing functions see.
#[pyfunction]
fn type_object<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let t = crate::convert::type_of(obj).map_err(|e| e.into_python(obj.py()))?;
    crate::type_objects::of(obj.py(), t)
}

/// From now on subclasses of arrays that calculate otherwise are taken as arrays: Numba's meaning.
#[pyfunction]
fn take_array_subclasses() {
    crate::convert::array::take_subclasses();
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(take_array_subclasses, m)?)?;
    m.add_function(wrap_pyfunction!(type_object, m)?)?;
    m.add_function(wrap_pyfunction!(make_dispatcher, m)?)?;
    m.add_function(wrap_pyfunction!(declare_for_kernels, m)?)?;
    m.add_function(wrap_pyfunction!(unify_text, m)?)?;
    m.add_function(wrap_pyfunction!(set_fuel, m)?)?;
    m.add_function(wrap_pyfunction!(indexed_parameters, m)?)?;
    m.add_function(wrap_pyfunction!(set_most_threads, m)?)?;
    m.add_function(wrap_pyfunction!(parallel_loops, m)?)?;
    m.add_function(wrap_pyfunction!(parallel_arrays, m)?)?;
    m.add_function(wrap_pyfunction!(get_num_threads, m)?)?;
    m.add_function(wrap_pyfunction!(set_num_threads, m)?)?;
    m.add_function(wrap_pyfunction!(get_thread_id, m)?)?;
    m.add_function(wrap_pyfunction!(get_parallel_chunksize, m)?)?;
    m.add_function(wrap_pyfunction!(set_parallel_chunksize, m)?)?;
    m.add_function(wrap_pyfunction!(has_llvm, m)?)?;
    m.add_function(wrap_pyfunction!(py_func, m)?)?;
    m.add_function(wrap_pyfunction!(in_python, m)?)?;
    m.add_function(wrap_pyfunction!(functions, m)?)?;
    m.add_function(wrap_pyfunction!(refusal, m)?)?;
    m.add_function(wrap_pyfunction!(compile_for, m)?)?;
    m.add_function(wrap_pyfunction!(declare, m)?)?;
    m.add_function(wrap_pyfunction!(set_careful, m)?)?;
    m.add_function(wrap_pyfunction!(overloads, m)?)?;
    m.add_function(wrap_pyfunction!(whole_overloads, m)?)?;
    m.add_function(wrap_pyfunction!(keep_called, m)?)?;
    m.add_function(wrap_pyfunction!(called, m)?)?;
    m.add_function(wrap_pyfunction!(inspect, m)?)?;
    m.add_function(wrap_pyfunction!(set_trace, m)?)?;
    m.add_function(wrap_pyfunction!(trace_json, m)?)?;
    m.add_function(wrap_pyfunction!(set_perf_map, m)?)?;
    m.add_function(wrap_pyfunction!(set_lines, m)?)?;
    m.add_function(wrap_pyfunction!(debug_objects, m)?)?;
    m.add_function(wrap_pyfunction!(explain, m)?)?;
    m.add_function(wrap_pyfunction!(inspect_ptx, m)?)?;
    m.add_function(wrap_pyfunction!(compile_times, m)?)?;
    m.add_function(wrap_pyfunction!(take_revealed, m)?)?;
    m.add_function(wrap_pyfunction!(configure, m)?)?;
    m.add_function(wrap_pyfunction!(choose_cpu, m)?)?;
    m.add_function(wrap_pyfunction!(uses_cpu, m)?)?;
    m.add_function(wrap_pyfunction!(set_library, m)?)?;
    m.add_function(wrap_pyfunction!(before_fork, m)?)?;
    m.add_function(wrap_pyfunction!(after_fork_in_parent, m)?)?;
    m.add_function(wrap_pyfunction!(promotions, m)?)?;
    m.add_function(wrap_pyfunction!(history, m)?)?;
    m.add_function(wrap_pyfunction!(compared, m)?)?;
    m.add_function(wrap_pyfunction!(after_fork, m)?)?;
    m.add_function(wrap_pyfunction!(clear_overloads, m)?)?;
    m.add_function(wrap_pyfunction!(set_can_compile, m)?)?;
    m.add_function(wrap_pyfunction!(can_compile, m)?)?;
    m.add_function(wrap_pyfunction!(declared_type, m)?)?;
    m.add_function(wrap_pyfunction!(type_text, m)?)
}
