"""The decorators, and what a dispatcher offers beside being called. The class itself is C-level (`_tierup.Dispatcher`); its attributes are added here."""

import os
import sys
from _weakref import ref
from types import CodeType, FunctionType

from . import _tierup, config
from ._tierup import Dispatcher

# What Numba's `jit` takes. Those that change nothing here are accepted so that programs run unchanged.
_OPTIONS = {
    "nopython", "forceobj", "looplift", "nogil", "cache", "parallel", "fastmath", "error_model", "inline", "boundscheck", "debug", "locals", "pipeline_class", "overflow", "specialize",
    "checked", "meaning", "no_cpython_wrapper", "no_cfunc_wrapper", "no_rewrites", "target", "target_backend", "_nrt", "_dbg_extend_lifetimes", "_dbg_optnone", "writable_args",
}


class Engine:
    """pandas' interface for engines (`_pandas.py`, which is loaded when pandas calls); `decorator` is `jit` or `njit`, or what they give for options."""

    @staticmethod
    def apply(data, func, args, kwargs, decorator, axis):
        from ._pandas import apply
        return apply(data, func, args, kwargs, decorator, axis)

    @staticmethod
    def map(data, func, args, kwargs, decorator, skip_na):
        from ._pandas import map
        return map(data, func, args, kwargs, decorator, skip_na)


def jit(signature_or_function=None, /, locals=None, **options):
    """Compiles a function at its first call with each combination of argument types; where that fails the Python function is called, and one note says why.

    Use as `@jit`, `@jit(options)`, `@jit("float64(float64, int64)")` or with a list of signatures, which are compiled at once. Options: `nopython=True` (as
    `njit`), `nogil`, `boundscheck` (default: `config.boundscheck`), `error_model="python"` or `"numpy"`, `overflow="wrap"`, `"raise"` or `"python"` (what `jit` has), `fastmath`, `parallel`,
    `cache`, `meaning="python"` or `"numba"` (what numbers mean, as in `tierup` or as in Numba), `specialize=("n",)` (code of its own for each value of these parameters), `forceobj`, `checked` (annotations of parameters and result are checked); Numba's others are accepted. `locals={"x": types.int32}` gives variables types: whatever is assigned to them is converted.
    """
    return _decorate(signature_or_function, locals, options, fallback=not options.get("nopython", False))


def njit(signature_or_function=None, /, locals=None, **options):
    """As `jit`, but raises `TypingError` or `UnsupportedError` where a function cannot be compiled."""
    if options.pop("forceobj", False):
        _warn("forceobj is set for njit and is ignored: njit compiles or raises")
    if options.pop("nopython", None) is not None:
        import warnings
        warnings.warn("nopython is set for njit and is ignored: njit compiles or raises", RuntimeWarning, stacklevel=2)
    return _decorate(signature_or_function, locals, options, fallback=False)


# What pandas looks for at a decorator that is an `engine`.
jit.__pandas_udf__ = njit.__pandas_udf__ = Engine


def _warn(text):
    import warnings

    from .errors import TierupWarning
    warnings.warn(text, TierupWarning, stacklevel=4)


def _no_longer(what):
    """Says that an option of Numba's has gone there."""
    import warnings

    from .errors import NumbaDeprecationWarning
    warnings.warn(f"The keyword argument 'nopython=False' was supplied to {what}", NumbaDeprecationWarning, stacklevel=3)


def _check_options(decorator, options):
    # What is made for declared types has nothing to check.
    known = _OPTIONS if decorator == "jit" else _OPTIONS - {"checked"}
    unknown = options.keys() - known
    if unknown:
        from .errors import OptionError
        raise OptionError(decorator, unknown, known)


def _run_by_python(what):
    """What is called, but is no function written in Python: it stays what it is, with one note."""
    if config.tier != "off":
        import warnings

        from .errors import TierupWarning
        level, frame = 1, sys._getframe()
        while frame is not None and frame.f_globals is globals():
            level, frame = level + 1, frame.f_back
        text = f"{getattr(what, '__qualname__', type(what).__name__)} runs as plain Python: only functions written in Python can be compiled, and this is a {type(what).__name__}"
        warnings.warn(text, TierupWarning, stacklevel=level)
    return what


def _refused_when_called(what, error):
    """Numba says that an option does not exist, or what is wrong with a block of `objmode`, when a function is compiled: packages decorate what they never call."""
    from functools import wraps

    def refuse(function):
        @wraps(function)
        def refused(*args, **kwargs):
            raise error

        refused.py_func = function
        return refused

    return refuse if what is None else refuse(what)


def _decorate(what, locals, options, fallback):
    try:
        _check_options("jit", options)
    except TypeError as e:
        if not config._numba or isinstance(what, (str, list, tuple)) or _is_signature(what):
            raise
        return _refused_when_called(what, e)
    if options.get("nopython") and options.get("forceobj"):
        raise ValueError("Only one of 'nopython' or 'forceobj' can be True.")
    if options.get("parallel") and options.get("forceobj"):
        raise ValueError("parallel=True and forceobj=True exclude each other")
    if (target := options.get("target")) is not None and target != "cpu":
        if target != "cuda":
            raise ValueError(f"target must be 'cpu' or 'cuda', not {target!r}")
        return _for_device(what, locals, options)
    # The usual case first: a plain @njit.
    if what is not None and not isinstance(what, (str, tuple, list)) and not _is_signature(what):
        return _make(what, None, options, fallback, locals)
    signatures = None if what is None else what
    decorator = lambda function: _make(function, signatures, options, fallback, locals)
    decorator.__pandas_udf__ = Engine
    return decorator


def _for_device(what, locals, options):
    """A function of arrays of a device, whose kernels are made at its calls."""
    from .cuda._functions import function
    if what is not None and not hasattr(what, "__code__") and not isinstance(what, Dispatcher) or locals:
        raise NotImplementedError('njit(target="cuda") takes no signatures and no locals=: its kernels are compiled for what they are given')
    make = lambda f: function(getattr(f, "py_func", f), options)
    return make if what is None else make(what)


def _is_signature(what):
    if hasattr(what, "__code__") or callable(what) and not hasattr(what, "_tierup_type_"):
        return False
    from . import types
    return isinstance(what, (types.Signature, types.Type))


def _engine_options(options, fallback=False):
    # What a function that may be run by Python gives is Python's answer.
    error_model, overflow = options.get("error_model", "python"), options.get("overflow", "python" if fallback else "wrap")
    meaning = options.get("meaning", "python")
    check = options.get("boundscheck") if config.boundscheck_forced is None else config.boundscheck_forced
    for name, value, known in (("error_model", error_model, ("python", "numpy")), ("overflow", overflow, ("wrap", "raise", "python")), ("meaning", meaning, ("python", "numba", "caller"))):
        if value not in known:
            raise ValueError(f"{name} must be {', '.join(map(repr, known[:-1]))} or {known[-1]!r}, not {value!r}")
    return {"meaning": meaning, "boundscheck": config.boundscheck if check is None else bool(check), "numpy_errors": error_model == "numpy", "overflow": overflow,
            "nogil": bool(options.get("nogil")), "lines": bool(options.get("debug")), "parallel": _parallel_parts(options.get("parallel"), meaning), "force_python": bool(options.get("forceobj")), "fast_math": _fast_math(options.get("fastmath", False))}


# What may be switched by `parallel={...}`, in the order of the engine's bits.
_PARALLEL = ("prange", "numpy", "inplace_binop", "setitem", "reduction", "comprehension", "stencil", "fusion", "hoisting", "init_prange")


# Beside them: iterations may write to one element.
_LENIENT = 1 << len(_PARALLEL)


def _parallel_parts(value, meaning="python"):
    """What runs in parallel, as bits: nothing, everything, or what a dict says of each kind of code."""
    parts = _parts(value)
    return parts | _LENIENT if parts and meaning == "numba" else parts


def _parts(value):
    if isinstance(value, dict):
        unknown = value.keys() - set(_PARALLEL)
        if unknown:
            raise ValueError(f"parallel has no option {sorted(map(str, unknown))[0]!r}; there are {', '.join(sorted(_PARALLEL))}")
        return sum(1 << k for k, name in enumerate(_PARALLEL) if value.get(name, True))
    if value is None or isinstance(value, bool):
        return (1 << len(_PARALLEL)) - 1 if value else 0
    raise ValueError(f"parallel must be a bool or a dict, not {value!r}")


# In the order of LLVM's bits.
_FAST_MATH = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")


def _fast_math(value):
    """Numba's `fastmath` as bits: a bool, a set of flags, or a dict that says of flags whether they are on."""
    if value is None or isinstance(value, bool):
        return 127 if value else 0
    if not isinstance(value, (set, frozenset, list, tuple, dict)):
        raise ValueError(f"fastmath must be a bool, a set of flags or a dict, not {value!r}")
    unknown = set(value) - {*_FAST_MATH, "fast"}
    if unknown:
        raise ValueError(f"Unrecognized fastmath flags: {', '.join(sorted(map(repr, unknown)))}; there are fast, {', '.join(_FAST_MATH)}")
    if isinstance(value, dict):
        value = {flag for flag, on in value.items() if on}
    return 127 if "fast" in value else sum(1 << _FAST_MATH.index(flag) for flag in set(value))


# Every dispatcher that is alive, for reports.
_live = {}
# Called with every dispatcher that is made; while there are any, Python runs what does not compile (`python -m tierup check`).
_watchers = []


# Modules whose packages have been asked for code that they ship.
_asked = {None, "__main__"}


def ask_packages(name):
    """Looks for code that the packages around a module ship (`python -m tierup precompile`), before the first function of the module is decorated."""
    _asked.add(name)
    parts = name.split(".")
    for k in range(len(parts)):
        package = ".".join(parts[:k + 1])
        # What cannot be trusted, or is of another Tierup, is as if it were not there.
        for folder in getattr(sys.modules.get(package), "__path__", ()) if k == len(parts) - 1 or package not in _asked else ():
            if isinstance(folder, str) and os.path.isdir(path := os.path.join(os.path.abspath(folder), "__tierup__")):
                _tierup.add_precompiled(path)


# Called before functions are decorated, until they give False.
_starters = []


def _start():
    # What they decorate themselves is no reason to start again.
    now = _starters[:]
    _starters.clear()
    _starters.extend(start for start in now if start())


def local_types(function, locals):
    """What `locals=` says, as the engine takes it: the name of each variable with the text of its type. TypeError for what is no type; a warning for names that the function does not have."""
    from . import types
    code, found = function.__code__, []
    for name, t in dict(locals).items():
        if not isinstance(t, types.Type) or types.holds_function(t) or types.is_foreign(t):
            raise TypeError(f"locals= gives variables types such as types.int32; {name!r} has {t!r}")
        if name in code.co_varnames + code.co_cellvars:
            found.append((name, t._tierup_type_))
        else:
            from .errors import warn_doubt
            warn_doubt(f"{function.__qualname__}() has no variable {name!r}, whose type locals= gives", code.co_filename, code.co_firstlineno)
    return found


def _specialised(function, names):
    """The parameters that `specialize=` names, by number. TypeError for what is no name, ValueError for a name that no parameter has."""
    code, names = function.__code__, (names,) if isinstance(names, str) else names
    params = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"specialize= takes names of parameters, not {name!r}")
        if name not in params:
            raise ValueError(f"{function.__qualname__}() has no parameter {name!r} to be specialised by; it has {', '.join(map(repr, params)) or 'none'}")
    return [params.index(name) for name in names]


def _blocks(code):
    """What knows blocks of `objmode`, where the function may have some. The name of a module's attribute says so before anybody has asked the module for it."""
    if "objmode" in code.co_names:
        from . import _python_calls
    return sys.modules.get("tierup._python_calls")


def _has_classes(code):
    """Whether there is code of a class body among the constants of a function's code."""
    return any(type(c) is CodeType and not c.co_flags & 3 for c in code.co_consts)


def _make(function, signatures, options, fallback, locals=None, alone=None):
    """A dispatcher. `alone` has more for the engine where it is one of a loop, which nobody decorated."""
    if _starters:
        _start()
    if isinstance(function, Dispatcher):
        function = function.py_func
    if (name := getattr(function, "__module__", None)) not in _asked:
        ask_packages(name)
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_make(function.__func__, signatures, options, fallback, locals))
    if fallback and signatures is None and not config._numba and not isinstance(function, (FunctionType, type)) and callable(function):
        return _run_by_python(function)
    original = function
    if hasattr(function, "__code__") and config.tier != "off" and (blocks := _blocks(function.__code__)) is not None:
        try:
            function = blocks.expanded(function)
        except TypeError as e:
            if not config._numba or signatures is not None:
                raise
            return _refused_when_called(function, e)
    # What falls back to Python has a class of its own in each call.
    if not fallback and config.tier != "off" and hasattr(function, "__code__") and _has_classes(function.__code__):
        from . import _local_classes
        function = _local_classes.expanded(function)
    checked = options.get("checked") and hasattr(function, "__code__")
    if checked:
        from . import _checked
        _checked.refuse(function, signatures, options, fallback)
    specialised = options.get("specialize") and hasattr(function, "__code__") and _specialised(function, options["specialize"])
    if "tierup._opaque" in sys.modules and sys.modules["tierup._opaque"].is_opaque(function):
        raise TypeError(f"{function.__qualname__}() is opaque: call it from a function that is compiled")
    if config.tier == "off" and hasattr(function, "__code__"):
        return _checked.wrap(function) if checked else function
    engine = _engine_options(options, fallback)
    if checked:
        engine["checked"] = _checked.says_result(function)
    if specialised:
        engine["specialize"] = specialised
    if locals:
        if engine["force_python"]:
            _warn("types given by locals= mean nothing to a function that Python runs")
        else:
            engine["locals"] = local_types(function, locals)
    engine.update(alone if alone is not None else {"lift": options})
    if engine["parallel"] and "tierup._threadpools" not in sys.modules:
        from . import _threadpools
        _threadpools.tell()
    d = _tierup.make_dispatcher(function, fallback or bool(_watchers), engine)
    for watch in _watchers if alone is None else ():
        watch(d)
    attributes = d.__dict__
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        attributes[name] = getattr(function, name)
    attributes.update(function.__dict__)
    attributes["__wrapped__"] = attributes["py_func"] = original
    _live[id(d)] = ref(d, lambda _, key=id(d): _live.pop(key, None))
    attributes["targetoptions"] = {**options, "nopython": not fallback}
    attributes["locals"] = dict(locals or {})
    if signatures is not None:
        from . import types
        known = types.signatures(signatures)
        # What is to be compiled for a function is known when there is one.
        settled = [(args, ret) for args, ret in known if _is_settled(function, args, ret, options)]
        try:
            declare(d, [([t._tierup_type_ for t in args], ret and ret._tierup_type_) for args, ret in settled], len(settled) < len(known))
        except Exception as e:
            if not _watchers:
                raise
            attributes["_refused"] = e
    return d


def _is_settled(function, args, ret, options):
    """Whether a signature says all that compiling needs. Functions in it are known when there are some; where Python runs the function, objects may be of any class."""
    from . import types
    if options.get("forceobj"):
        return len(args) == function.__code__.co_argcount and not any(map(types.is_foreign, (*args, ret)))
    if types.pyobject in (*args, ret):
        raise types._bad("compiled code has no values of the type pyobject: forceobj=True has Python run the function")
    return not any(map(types.holds_function, args))


def declare(d, signatures, open):
    """Compiles for signatures, (texts of argument types, text of the result type or None), and remembers them for copies in other processes. `open` says whether others may be compiled."""
    _tierup.declare(d, signatures, open)
    d.__dict__.setdefault("_declared", []).extend(signatures)


def prange(*args):
    """`range` whose iterations may run at the same time under `parallel=True`."""
    return range(*args)


def pndindex(*shape):
    """`numpy.ndindex` whose points may be gone through at the same time under `parallel=True`."""
    import numpy
    return numpy.ndindex(*shape)


def unroll(xs):
    """Gives `xs`; in compiled code the loop over it is written out, turn by turn, each with types of its own."""
    return xs


def static(x):
    """Gives `x`, which compiled code knows when it is compiled: there is code of its own for each value of a parameter."""
    return x


def reveal_type(x):
    """Gives `x`; in compiled code its type is noted for `tierup.testing.take_revealed`."""
    return x


def _panic(raises):
    """For tests: in compiled code a helper of the run-time panics, one that may raise or one that may not."""
    raise SystemError("only compiled code can panic")


# ---------------------------------------------------------------- the dispatcher's attributes

_LEVELS = ("bytecode", "cfg", "ssa", "typed", "lir", "clif", "asm", "llvm", "asm1", "ptx")
# Compute capabilities that PTX can be made for.
_CAPABILITIES = (75, 80, 86, 87, 88, 89, 90, 100, 103, 120, 121)


def _known(self):
    """Argument types, result type and reason why it is not compiled, of every overload. Declared ones that were compiled again, since a global changed, count once."""
    declared, seen, found = [args for args, _ in self.__dict__.get("_declared", [])], [], []
    for i, ((args, ret, why), values, objects) in enumerate(_tierup.whole_overloads(self)):
        if args not in declared or args not in seen:
            seen.append(args)
            found.append((i, _types(args, values, objects), ret, why))
    return found


def _types(args, values, objects):
    """Argument types of an overload, with the values of those that code is for."""
    from . import types
    found = [types.from_text(t) for t in args]
    return _valued([o if type(t) is types.Opaque else t for t, o in zip(found, objects, strict=True)], values)


def _valued(found, values):
    if any(values):
        from ._kinds import valued
        found = [valued(t, v[0]) if v else t for t, v in zip(found, values, strict=True)]
    return tuple(found)


def _with_called(self, own):
    """Pairs of argument types and results, with those that compiled code calls the function for where Numba stands in: it has an overload for each."""
    calls = _tierup.called(self) if config._numba else ()
    found = list(own)
    for behind, args, values, ret in reversed(calls):
        args = _valued(args, values)
        if all(args != other for other, _ in own):
            found.insert(min(behind, len(own)), (args, ret))
    return found


def _signatures(self):
    """Argument types of every overload, in the order of their making."""
    return [args for args, _ in _with_called(self, [(args, None) for _, args, _, _ in _known(self)])]


def _nopython_signatures(self):
    """Signatures of every overload that is compiled, with the types of results."""
    from . import types
    own = [(args, types.from_text(ret)) for _, args, ret, why in _known(self) if why is None]
    return [types.Signature(ret, args) for args, ret in _with_called(self, own)]


def _overloads(self):
    """What is known of each overload, by argument types."""
    from . import types
    found = enumerate(_tierup.whole_overloads(self))
    return {_types(args, values, objects): types.Overload(self, i, args, ret, why) for i, ((args, ret, why), values, objects) in found}


def inspect(self, level="typed", signature=None, *, capability=90):
    """The code of every overload at one level: bytecode, cfg, ssa, typed, lir; clif or asm (tier 0); llvm or asm1 (tier 1, whether promoted or not);
    ptx (a GPU kernel, for a compute capability such as 75, 90 or 100). With `signature` (argument types), of that one."""
    if level not in _LEVELS:
        raise ValueError(f"there is no level {level!r}; there are {', '.join(_LEVELS)}")
    if level == "ptx" and capability not in _CAPABILITIES:
        raise ValueError(f"capability must be one of {', '.join(map(str, _CAPABILITIES))}, not {capability!r}")
    read = (lambda i: _tierup.inspect_ptx(self, i, capability)) if level == "ptx" else (lambda i: _tierup.inspect(self, i, level))
    texts = []
    for i, (args, _, why) in enumerate(_tierup.overloads(self)):
        if signature is None or _same(args, signature):
            texts.append(read(i) if why is None else f"runs as plain Python: {why}")
    return "\n".join(t for t in texts if t)


def _each(self, level, signature):
    """As Numba's `inspect_*`: the text for a signature, or without one a dict of all of them."""
    texts = {tuple(types): inspect(self, level, types) for _, types, _, _ in _known(self) if signature is None or _same([t._tierup_type_ for t in types], signature)}
    if signature is None:
        return texts
    if not texts:
        raise KeyError(signature)
    return next(iter(texts.values()))


def inspect_llvm(self, signature=None):
    """LLVM's IR after its passes, for one signature or as a dict for all: what tier 1 has or would have."""
    return _each(self, "llvm", signature)


def inspect_asm(self, signature=None):
    """Machine code as text, for one signature or as a dict for all: tier 1's where there is LLVM, else tier 0's."""
    return _each(self, "asm1" if _tierup.has_llvm() else "asm", signature)


def inspect_cfg(self, signature=None, **_):
    """Blocks and where they lead, for one signature or as a dict for all."""
    return _each(self, "cfg", signature)


def inspect_types(self, file=None, signature=None, **_):
    """Prints the source and, for each signature (or one of them), the type of every value."""
    import inspect as inspecting
    import sys
    out = sys.stdout if file is None else file
    code = self.py_func.__code__
    try:
        source, first = inspecting.getsourcelines(self.py_func)
    except (OSError, TypeError):
        source, first = [], 0
    for _, types, _, _ in _known(self):
        if signature is not None and not _same([t._tierup_type_ for t in types], signature):
            continue
        print(f"{self.__name__} ({', '.join(map(str, types))})", "-" * 80, f"# File: {code.co_filename}", sep="\n", file=out)
        for number, line in enumerate(source, first):
            print(f"# {number:5} {line.rstrip()}", file=out)
        print(inspect(self, "typed", types), "=" * 80, sep="\n", file=out)


def _same(args, signature):
    from . import types
    # Code for values is found by the types of these too.
    return [types.from_text(t) for t in args] == [getattr(t, "literal_type", t) for t in types.signatures(signature)[0][0]]


def explain(self, signature=None):
    """What became of the function: its tier and times, what was inlined and vectorised, which checks and allocations stayed. `print` it, or show it in a notebook."""
    from ._report import Explanation
    return Explanation(self, signature)


def parallel_report(self):
    """What runs in parallel: loops over `prange`, with what their iterations share, and operations on arrays; and why the others do not. `print` it, or show it in a notebook."""
    from ._report import ParallelReport
    return ParallelReport(self)


def parallel_diagnostics(self, signature=None, level=1):
    """As in Numba: prints `parallel_report()`, with more about fusion at the levels 2 to 4; ValueError for other levels, and without `parallel=True`."""
    from ._report import ParallelReport
    if not self.targetoptions.get("parallel"):
        raise ValueError("No parfors diagnostic available, is 'parallel=True' set?")
    print(ParallelReport(self, signature).diagnostics(level))


def report():
    """A table of all compiled functions: their tiers, when they changed, how long compiling took."""
    from ._report import Report
    return Report([d for d in (r() for r in list(_live.values())) if d is not None])


def recompile(self):
    """Forgets all compiled code; the next calls compile again. In Numba's meaning it is compiled at once."""
    known, open = self.__dict__.pop("_declared", []), _tierup.can_compile(self)
    if not open or self.targetoptions.get("meaning") == "numba":
        # What `disable_compile` closed over stays callable too.
        types = [args for args, _ in known]
        known += [(args, None) for args, _, _ in _tierup.overloads(self) if args not in types]
    _tierup.clear_overloads(self)
    declare(self, known, open)


def disable_compile(self, val=True):
    """From now on only types that are compiled already are taken; arguments are converted to these, as to declared ones."""
    _tierup.set_can_compile(self, not val)


def compile(self, sig):
    """Compiles for a signature at once, and gives what to call for it. RuntimeError for a new one where no more may be compiled."""
    from . import types
    args, ret = types.signatures(sig)[0]
    if not _tierup.can_compile(self) and tuple(args) not in self.signatures:
        raise RuntimeError("compilation disabled")
    if not any(map(types.holds_function, args)):
        declare(self, [([t._tierup_type_ for t in args], ret and ret._tierup_type_)], _tierup.can_compile(self))
    return self


def get_compile_result(self, sig):
    """What is known of the overload for these argument types. KeyError where there is none."""
    from . import types
    return self.overloads[tuple(types.signatures(sig)[0][0])]


def get_overload(self, sig):
    """What to call for argument types that are compiled: arguments are converted to these. KeyError for others."""
    from . import types
    made = self.overloads[tuple(types.signatures(sig)[0][0])]
    return jit(made.signature, **self.targetoptions)(self.py_func)


def _stats(self):
    """Where the code cache is, and for which signatures code came out of it or had to be made."""
    from . import types
    from ._cache import stats
    return stats(self, [tuple(types.from_text(t) for t in args) for args, _, _ in _tierup.overloads(self)])


def get_annotation_info(self, signature=None):
    """As Numba's: where the function stands, for each signature (or one of them) with what `inspect_types` prints of it."""
    from io import StringIO
    found = {}
    for types in [types for _, types, _, _ in _known(self) if signature is None or _same([t._tierup_type_ for t in types], signature)]:
        text = StringIO()
        inspect_types(self, text, types)
        code = self.py_func.__code__
        found[f"{code.co_filename}:{code.co_firstlineno}", types] = text.getvalue()
    return found


def _reduce(self):
    from ._pickle import reduce
    return reduce(self)


def _copied(self, memo=None):
    return self


def _set_name(self, owner, name):
    """What `type` does with functions of these names as a class is made."""
    if name in ("__init_subclass__", "__class_getitem__"):
        setattr(owner, name, classmethod(self))
    elif name == "__new__":
        owner.__new__ = staticmethod(self)


def _of_function(name):
    """An attribute of the function that can be set: all that is called in its place has it then."""
    def set(self, value):
        for f in dict.fromkeys((self.py_func, *_tierup.functions(self))):
            setattr(f, name, value)

    return property(lambda self: getattr(self.py_func, name), set, lambda self: set(self, None))


def _signature(self):
    import inspect
    return inspect.signature(self.py_func)


for _name, _value in {
    "signatures": property(_signatures), "nopython_signatures": property(_nopython_signatures), "overloads": property(_overloads), "inspect": inspect, "inspect_llvm": inspect_llvm, "inspect_asm": inspect_asm,
    "inspect_cfg": inspect_cfg, "inspect_types": inspect_types, "explain": explain, "parallel_report": parallel_report, "parallel_diagnostics": parallel_diagnostics, "recompile": recompile,
    "disable_compile": disable_compile, "compile": compile, "stats": property(_stats), "func_code": property(lambda self: self.py_func.__code__, doc="The code object of the Python function."), "get_compile_result": get_compile_result, "get_annotation_info": get_annotation_info, "get_overload": get_overload, "__reduce__": _reduce, "__copy__": _copied, "__deepcopy__": _copied,
    "__defaults__": _of_function("__defaults__"), "__kwdefaults__": _of_function("__kwdefaults__"), "__closure__": property(lambda self: self.py_func.__closure__),
    "__code__": property(lambda self: self.py_func.__code__), "__globals__": property(lambda self: self.py_func.__globals__),
    "__signature__": property(_signature), "__set_name__": _set_name, "is_compiling": property(lambda self: False, doc="Whether it is being compiled right now, which nobody sees."), "_can_compile": property(_tierup.can_compile),
}.items():
    setattr(Dispatcher, _name, _value)
del _name, _value

os.register_at_fork(before=_tierup.before_fork, after_in_parent=_tierup.after_fork_in_parent, after_in_child=_tierup.after_fork)
