//! What a dispatcher asks of the compiler: code for argument types, texts of each level, kernels.

use super::{Core, called, values};
use crate::convert::Plan;
use crate::convert::object::of_open_order;
use crate::ctx;
use crate::engine::{self, Compiled, Options, Wanted};
use crate::errors::{Failure, guard};
use crate::guards::Guards;
use crate::host::PyHost;
use crate::known;
use crate::overload::{Asked, Overload, Run};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::host::Host;
use tierup_core::meaning::Meaning;
use tierup_core::ssa::FuncId;
use tierup_core::types::{Const, Kind, Type};

impl Core {
    /// Compiles for argument types, which may be declared ones, and the values of some arguments.
    pub(crate) fn compile(
        &self,
        py: Python<'_>,
        types: &[Type],
        values: &[Option<Const>],
        asked: Asked<'_>,
        note: impl Fn(&PyHost<'_>),
    ) -> Result<Arc<Overload>, Failure> {
        let of = &self.decorated;
        let params = of.params.names.len();
        if types.len() != params {
            let names = of.params.names.iter().map(|n| n.bind(py).to_string()).collect::<Vec<_>>().join(", ");
            let text = format!(
                "the signature gives types of {} argument{}, but {}({names}) takes {params}",
                types.len(),
                if types.len() == 1 { "" } else { "s" },
                of.name()
            );
            return Err(Diagnostic::new(Code::BadSignature, text)
                .at(self.span(py))
                .help("write one type for each parameter, those with defaults included")
                .into());
        }
        on_compiler_stack(py, |py| {
            loop {
                let grown = known::grown();
                let compiled = self.compile_here(py, types, values, asked, &note);
                // One field more that the program has a name for. Arguments of types that are not declared may have it.
                if asked != Asked::Declared || known::grown() == grown {
                    return compiled;
                }
            }
        })
    }

    fn compile_here(
        &self,
        py: Python<'_>,
        types: &[Type],
        values: &[Option<Const>],
        asked: Asked<'_>,
        note: impl Fn(&PyHost<'_>),
    ) -> Result<Arc<Overload>, Failure> {
        let of = &self.decorated;
        if of.options.force_python {
            let run = Run::Python("object mode was asked for".into());
            return Ok(Arc::new(Overload::new(
                (types, &[]),
                Type::none(),
                run,
                Guards::default(),
                of,
                asked,
            )));
        }
        let (host, grown) = (PyHost::new(py), known::grown());
        let freezes = of.options.meaning == Some(Meaning::Numba);
        if freezes {
            host.copies_arrays();
        }
        note(&host);
        if called::kept() {
            host.keep_calls();
        }
        host.depends_on_classes(types);
        let compiled = guard(&format!("compiling {}", of.name()), || {
            self.code(
                py,
                &host,
                Wanted { args: types, values, alike: asked.alike(), func: self.func_at(py)? },
            )
        });
        let (calls, named) = (host.take_calls(), host.take_named());
        let (mut guards, raised) = host.finish();
        if freezes {
            guards.freeze();
        }
        let compiled = compiled.and_then(|code| {
            if !matches!(code.ret().kind(), Kind::Generator(..)) {
                return Ok(code);
            }
            if self.promises_python()
                && asked != Asked::Declared
                && code.params().iter().any(|t| t.is_copied_in()) {
                let text = "lists, dicts, sets and objects are copied for a generator, and whoever runs it may change them";
                return Err(Diagnostic::new(Code::UnsupportedSyntax, text)
                    .at(self.span(py))
                    .help("pass arrays, or iterate over the generator in compiled code")
                    .into());
            }
            if guards.passed().is_empty() {
                return Ok(code);
            }
            let text = "a generator that outlives the call cannot read global lists, dicts and objects, nor variables that compiled code assigns to";
            Err(Diagnostic::new(Code::UnsupportedSyntax, text)
                .at(self.span(py))
                .help("pass them as arguments, or iterate over the generator in compiled code")
                .into())
        });
        let run = match (compiled, raised) {
            // Ctrl-C, or an import that failed, while globals were read.
            (Err(_), Some(e)) => return Err(e.into()),
            (Ok(code), _) => {
                called::note(py, calls);
                named.into_iter().for_each(|n| n.keep(py));
                if freezes && of.options.parallel.any() && !code.runs_in_parallel() {
                    self.warn_of_one_thread(py)?;
                }
                Run::Compiled(Arc::new(code))
            }
            (Err(Failure::Diagnostic(d)), None)
                if self.fallback
                    && asked != Asked::Declared
                    && known::grown() == grown
                    && !self.func_id(py).is_ok_and(|f| values::wants_more(f, types, values)) =>
            {
                self.warn(py, &d)?;
                Run::Python(crate::errors::render(py, &d))
            }
            (Err(e), None) => return Err(e),
        };
        let ret = match &run {
            Run::Compiled(code) => code.ret(),
            Run::Python(_) => Type::none(),
        };
        Ok(Arc::new(Overload::new((types, values), ret, run, guards, of, asked)))
    }

    /// The function's number; that it has none is an error at its line.
    fn func_at(&self, py: Python<'_>) -> Result<FuncId, Failure> {
        self.func_id(py).map_err(|e| match e {
            Failure::Diagnostic(d) => d.at(self.span(py)).into(),
            other => other,
        })
    }

    /// Code whose results Python can be given.
    fn code(&self, py: Python<'_>, host: &PyHost<'_>, wanted: Wanted<'_>) -> Result<Compiled, Failure> {
        let of = &self.decorated;
        if engine::dumps("bytecode") {
            eprintln!("tierup: bytecode of {}\n{}", of.name(), crate::decode::decode(of.function(py))?);
        }
        let code = engine::compile(wanted, &of.options, host, false)
            .map_err(|d| if d.span.is_none() { d.at(self.span(py)) } else { d })?;
        if let Some(why) = Plan::new(code.ret(), None).convert().cannot_box(false) {
            let kind = if let Kind::Conflict(..) = *code.ret() {
                Code::CannotUnify
            } else {
                Code::UnsupportedSyntax
            };
            return Err(Diagnostic::new(kind, why)
                .at(self.span(py))
                .help("return values of one type that Python knows from every path")
                .into());
        }
        let mut types = code.params().iter().copied().chain([code.ret()]);
        if let Some(class) = self.promises_python().then(|| types.find_map(of_open_order)).flatten() {
            let why = format!(
                "objects of {class} get their fields in an order that depends on the way through __init__"
            );
            return Err(Diagnostic::new(Code::UnsupportedSyntax, why)
                .at(self.span(py))
                .help("set them in one order")
                .into());
        }
        // One type for both.
        if self.promises_python() && holds_dtype(code.ret()) {
            let why = "a class of NumPy's numbers and its dtype are one to compiled code, so neither can be returned";
            return Err(Diagnostic::new(Code::UnsupportedSyntax, why)
                .at(self.span(py))
                .help("return its name")
                .into());
        }
        if let Some(why) = not_for_python(&code) {
            return Err(Diagnostic::new(Code::UnsupportedSyntax, why).at(self.span(py)).into());
        }
        ctx::start_ticker();
        Ok(code)
    }

    /// The type of the result for these argument types; nothing is compiled.
    pub(crate) fn result_type(&self, py: Python<'_>, types: &[Type]) -> Result<Type, Failure> {
        on_compiler_stack(py, |py| {
            guard(&format!("typing {}", self.decorated.name()), || {
                let id = self.func_at(py)?;
                let host = PyHost::new(py);
                let answer = engine::result_type(id, types, &host);
                host.settle(answer)
            })
        })
    }

    /// The text of one level of an overload, compiled anew with texts kept.
    pub(crate) fn text(&self, py: Python<'_>, of: &Overload, level: &str) -> Result<Option<String>, Failure> {
        on_compiler_stack(py, |py| self.text_here(py, of, level))
    }

    fn text_here(&self, py: Python<'_>, of: &Overload, level: &str) -> Result<Option<String>, Failure> {
        guard(&format!("printing {}", self.decorated.name()), || {
            let id = self.func_id(py)?;
            if level == "ssa" {
                return Ok(tierup_core::ssa::registry::get(id).map(|f| f.to_string()));
            }
            if level == "cfg" {
                return Ok(tierup_core::ssa::registry::get(id).map(|f| f.control_flow()));
            }
            if level == "bytecode" {
                return Ok(Some(crate::decode::decode(self.decorated.function(py))?.to_string()));
            }
            let host = PyHost::new(py);
            let text =
                engine::tier1_text(of.wanted(id), &self.decorated.options, &host, level).and_then(|text| {
                    match text {
                        Some(text) => Ok(Some(text)),
                        None => engine::compile(of.wanted(id), &self.decorated.options, &host, true)
                            .map(|c| c.text(level)),
                    }
                });
            host.settle(text)
        })
    }

    /// What became of an overload in tier 1.
    pub(crate) fn explain(
        &self,
        py: Python<'_>,
        of: &Overload,
    ) -> Result<tierup_runtime::engine::inspect::Explanation, Failure> {
        on_compiler_stack(py, |py| {
            guard(&format!("explaining {}", self.decorated.name()), || {
                let id = self.func_id(py)?;
                let host = PyHost::new(py);
                let answer = engine::explain(of.wanted(id), &self.decorated.options, &host);
                host.settle(answer)
            })
        })
    }

    /// What became of the operations on arrays of an overload.
    pub(crate) fn parallel_notes(
        &self,
        py: Python<'_>,
        of: &Overload,
    ) -> Result<std::collections::BTreeSet<tierup_core::lower::notes::Note>, Failure> {
        on_compiler_stack(py, |py| {
            guard(&format!("explaining {}", self.decorated.name()), || {
                let id = self.func_id(py)?;
                let host = PyHost::new(py);
                let answer = engine::parallel(of.wanted(id), &self.decorated.options, &host);
                host.settle(answer)
            })
        })
    }

    /// PTX of a kernel that runs an overload.
    pub(crate) fn ptx(&self, py: Python<'_>, of: &Overload, capability: u32) -> Result<String, Failure> {
        on_compiler_stack(py, |py| {
            guard(&format!("printing {}", self.decorated.name()), || {
                let id = self.func_id(py)?;
                let host = PyHost::new(py);
                let answer = engine::ptx(of.wanted(id), &self.decorated.options, &host, capability)
                    .map_err(|d| d.at(self.span(py)));
                host.settle(answer)
            })
        })
    }

    /// The function as a grid kernel for these types, and what that assumes; the rest needs no Python.
    pub(crate) fn kernel(
        &self,
        py: Python<'_>,
        types: &[Type],
        build: &tierup_runtime::gpu::Build,
    ) -> Result<(tierup_runtime::engine::gpu::Kernel, Guards), Failure> {
        self.as_kernel(py, types, |wanted, options, host| engine::kernel(wanted, options, host, build))
    }

    /// PTX of the function for code of a device that calls it by that name, and the type of its result.
    pub(crate) fn device_ptx(
        &self,
        py: Python<'_>,
        types: &[Type],
        build: &tierup_runtime::gpu::Build,
        name: &str,
        capability: u32,
    ) -> Result<(String, Type), Failure> {
        let made = self.as_kernel(py, types, |wanted, options, host| {
            engine::device_ptx(wanted, options, host, build, (name, capability))
        })?;
        Ok(made.0)
    }

    /// The same for this machine's CPU.
    pub(crate) fn host_kernel(
        &self,
        py: Python<'_>,
        types: &[Type],
        build: &tierup_runtime::gpu::Build,
    ) -> Result<(tierup_runtime::gpu::simulate::HostKernel, Guards), Failure> {
        self.as_kernel(py, types, |wanted, options, host| engine::host_kernel(wanted, options, host, build))
    }

    fn as_kernel<T: Send>(
        &self,
        py: Python<'_>,
        types: &[Type],
        compile: impl Fn(Wanted<'_>, &Options, &dyn Host) -> tierup_core::diag::Result<T> + Send + Sync,
    ) -> Result<(T, Guards), Failure> {
        let params = self.decorated.params.names.len();
        if types.len() != params {
            let text = format!("{}() takes {params} arguments, not {}", self.decorated.name(), types.len());
            return Err(PyTypeError::new_err(text).into());
        }
        on_compiler_stack(py, |py| {
            guard(&format!("compiling {}", self.decorated.name()), || {
                let id = self.func_id(py)?;
                let host = PyHost::new(py);
                host.passes_nothing();
                host.for_kernel();
                host.depends_on(&self.object(py));
                host.depends_on_classes(types);
                let wanted = Wanted { func: id, args: types, values: &[], alike: &[] };
                let answer = compile(wanted, &self.decorated.options, &host);
                let (guards, raised) = host.finish();
                match (answer, raised) {
                    (Ok(kernel), _) => Ok((kernel, guards)),
                    (Err(_), Some(e)) => Err(e.into()),
                    (Err(d), None) => Err(d.at(self.span(py)).into()),
                }
            })
        })
    }

    pub(super) fn span(&self, py: Python<'_>) -> tierup_core::diag::Span {
        let code = self.decorated.function(py).getattr("__code__");
        let file = code
            .as_ref()
            .ok()
            .and_then(|c| c.getattr("co_filename").ok()?.extract::<String>().ok())
            .unwrap_or_default();
        let first =
            code.ok().and_then(|c| c.getattr("co_firstlineno").ok()?.extract::<u32>().ok()).unwrap_or(0);
        // The code starts at its decorators; what the reader looks for is the line with the name.
        let name = self.decorated.name().rsplit('.').next().unwrap_or_default();
        let find = |line: u32| {
            let text = crate::errors::source_line(py, &file, line)?;
            let at = text.find(&format!("def {name}")).map(|at| at + 4).or_else(|| text.find("lambda"))?;
            Some((line, at as u32, (at + name.trim_start_matches('<').trim_end_matches('>').len()) as u32))
        };
        let (line, col, end_col) = (first..first + 20).find_map(find).unwrap_or((first, 0, 0));
        tierup_core::diag::Span {
            file: file.as_str().into(),
            func: self.decorated.name().into(),
            line,
            col,
            end_col,
        }
    }

    /// As Numba does, where `parallel=True` comes to nothing.
    fn warn_of_one_thread(&self, py: Python<'_>) -> PyResult<()> {
        let span = self.span(py);
        let text = format!(
            "'parallel=True' was specified but no transformation for parallel execution was possible: {}() has no loop over prange and no operation on arrays that runs in several threads",
            self.decorated.name()
        );
        crate::errors::warn_of_performance(py, &text, &span)
    }

    /// One note for each function that is not compiled.
    pub(super) fn warn(&self, py: Python<'_>, d: &Diagnostic) -> PyResult<()> {
        if self.warned.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        py.import("tierup.errors")?.getattr("warn_fallback")?.call1((
            self.decorated.function(py),
            crate::errors::render(py, d),
            self.decorated.in_python(py)?,
        ))?;
        Ok(())
    }
}

/// Why what code puts into its arguments cannot be given back to Python.
fn not_for_python(code: &Compiled) -> Option<String> {
    // Lists that nobody changes stay what they are.
    let written = |t: &Type| matches!(t.kind(), Kind::Object(..)) || code.changes_lists() && t.holds_list();
    code.params().iter().filter(|t| written(t)).find_map(|t| {
        let why = Plan::new(*t, None).convert().cannot_box(true)?;
        Some(format!("{why}, in an argument neither"))
    })
}

fn holds_dtype(t: Type) -> bool {
    matches!(*t, Kind::DType(_)) || t.arguments().iter().any(holds_dtype)
}

/// Runs the compiler where it has stack enough. What it says is made an exception there: that reads source
/// lines, which takes stack as well.
fn on_compiler_stack<R>(
    py: Python<'_>,
    body: impl FnOnce(Python<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let answer = ctx::with_compiler_stack(py, |py| body(py).map_err(|e| Failure::Raised(e.into_python(py))));
    answer.unwrap_or_else(|| {
        Err(pyo3::exceptions::PyMemoryError::new_err("no thread can be started to compile in").into())
    })
}
