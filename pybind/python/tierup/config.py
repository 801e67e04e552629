"""Policy: one table of settings, each read from an environment variable at import and changeable at run time as an attribute of this module.

    tierup.config.boundscheck = False
    print(tierup.config.describe())

Unknown names and values are refused. Under `--as-numba` Numba's names (`NUMBA_BOUNDSCHECK`, `config.NUMBA_NUM_THREADS`, …) stand for the same settings.
"""

import os
import sys
import types

from . import _tierup


class _ConfigError(ValueError):
    """A setting has a value that does not exist."""


def _choice(*known):
    def read(text):
        text = str(text).lower()
        if text not in known:
            raise _ConfigError(f"known values are {', '.join(known)}")
        return text
    return read


def _flag(text):
    if isinstance(text, bool):
        return text
    known = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if str(text).lower() not in known:
        raise _ConfigError(f"known values are {', '.join(known)}")
    return known[str(text).lower()]


def _flag_or_none(text):
    return None if text is None else _flag(text)


def _number(low, high=None):
    def read(text):
        try:
            n = int(text)
        except ValueError:
            n = low - 1
        if n < low or high is not None and n > high:
            raise _ConfigError(f"it must be a whole number from {low} " + ("on" if high is None else f"to {high}"))
        return n
    return read


def _fuel(text):
    return None if text is None else _number(0)(text)


def _path(text):
    text = os.fspath(text)
    return os.path.abspath(os.path.expanduser(text)) if text else ""


def _osr(text):
    if isinstance(text, bool):
        return "on" if text else "off"
    return "stress" if str(text).lower() == "stress" else ("on" if _flag(text) else "off")


def _trace(text):
    return "json" if str(text).lower() == "json" else _flag(text)


def _cpu(text):
    # The engine knows the levels and what this machine has; it makes code for the new one from here on.
    try:
        _tierup.choose_cpu(str(text))
    except ValueError as e:
        raise _ConfigError(str(e)) from None
    return str(text)


_DUMPS = ("bytecode", "cfg", "ssa", "typed", "passes", "lir", "clif", "llvm", "asm", "ptx")


def _dumps(text):
    names = [n for n in str(text).replace(" ", "").split(",") if n] if isinstance(text, str) else list(text)
    for n in names:
        if n not in _DUMPS:
            raise _ConfigError(f"{n!r} is no level; known ones are {', '.join(_DUMPS)}")
    return tuple(names)


def _processors():
    """Threads of parallel loops, where nobody says how many: as many as this process has processors. A worker of Dask's, Ray's or joblib's has a share of them, of which OMP_NUM_THREADS tells
    all libraries that have threads."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdecimal() and int(first) > 0:
        return int(first)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# name: (environment variable, reader, default, what it means, Numba's variable or None)
_TABLE = {
    "tier": ("TIERUP_TIER", _choice("auto", "0", "1", "interp", "off"), "auto",
             "where functions run: auto; 0 or 1, that tier alone; interp, the interpreter of LIR (for tests); off, plain Python", None),
    "calls": ("TIERUP_CALLS", _number(1), 1000, "calls from Python after which an overload is promoted to tier 1", None),
    "time_ms": ("TIERUP_TIME_MS", _number(0), 2, "milliseconds in loops of tier 0 after which an overload is promoted", None),
    "osr": ("TIERUP_OSR", _osr, "on", "whether a running loop may move into tier-1 code: on, off, or stress (every loop, at a random turn; for tests)", None),
    "background": ("TIERUP_BACKGROUND", _flag, True, "whether promotion compiles in a thread of its own; where there is one processor, that thread is given a fifth of it at first", None),
    "compile_threads": ("TIERUP_COMPILE_THREADS", _number(1), 1, "threads that compile promoted overloads", None),
    "opt": ("TIERUP_OPT", _number(0, 3), 3, "optimisation level of tier 1, 0 to 3", "NUMBA_OPT"),
    "cpu": ("TIERUP_CPU", _cpu, "native",
            "the processor that code is made for: native, this machine's with all that it can do; or x86-64-v2, x86-64-v3, x86-64-v4, any of that level, so that unlike machines share a cache", None),
    "cache": ("TIERUP_CACHE", _flag, True, "whether compiled code is kept on disk", None),
    "cache_dir": ("TIERUP_CACHE_DIR", _path, "", "directory of the code cache; empty means the user's cache directory", "NUMBA_CACHE_DIR"),
    "cache_mb": ("TIERUP_CACHE_MB", _number(0), 512, "size of the code cache in megabytes", None),
    "precompiled": ("TIERUP_PRECOMPILED", _flag, True, "whether code that packages ship (`python -m tierup precompile`) is used", None),
    "num_threads": ("TIERUP_NUM_THREADS", _number(1), _processors(), "threads of parallel loops; `OMP_NUM_THREADS` counts where this is not set", "NUMBA_NUM_THREADS"),
    "boundscheck": ("TIERUP_BOUNDSCHECK", _flag, True, "whether array indices are checked where the decorator does not say", None),
    "boundscheck_forced": ("TIERUP_BOUNDSCHECK_FORCED", _flag_or_none, None, "whether they are checked whatever the decorator says; without a value it is asked", "NUMBA_BOUNDSCHECK"),
    "cudasim": ("TIERUP_CUDASIM", _flag, False, "whether kernels of tierup.cuda run on the CPU although there is a GPU; what is set when the first of them is launched holds", "NUMBA_ENABLE_CUDASIM"),
    "dump": ("TIERUP_DUMP", _dumps, (), "levels to print while compiling, separated by commas: " + ", ".join(_DUMPS), None),
    "fuel": ("TIERUP_FUEL", _fuel, None, "how often an optimising pass may run on a function in this process, to find the pass that makes a result wrong; the last one is named on standard error", None),
    "trace": ("TIERUP_TRACE", _trace, False, "whether every compilation is reported on standard error; json: a trace for Chrome's and Perfetto's viewers, written when the process ends", None),
    "trace_file": ("TIERUP_TRACE_FILE", _path, "tierup-trace-{pid}.json", "where that trace goes; {pid} stands for the number of the process", None),
    "debug": ("TIERUP_DEBUG", _flag, False, "whether all compiled functions have lines for debuggers and profilers, as those with `debug=True`", "NUMBA_DEBUGINFO"),
    "perf_map": ("TIERUP_PERF_MAP", _flag, False, "whether compiled functions are named in /tmp/perf-PID.map, for profilers", None),
    "perf_dump": ("TIERUP_PERF_DUMP", _path, "", "folder for jit-PID.dump, from which `perf inject --jit` has code and its lines; empty: none is written", None),
}

_values = {}
# Under the stand-in: which settings Numba's names stand for, and the settings without a counterpart.
_numba = ()


def _read(name, value, where):
    try:
        return _TABLE[name][1](value)
    except _ConfigError as e:
        raise _ConfigError(f"{where} cannot be {value!r}: {e}") from None


class _Config(types.ModuleType):
    def __getattr__(self, name):
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        own, others = self.__dict__.get("_numba") or ({}, {})
        if name in own:
            return values[own[name]]
        if own and name == "DISABLE_JIT":
            return int(values["tier"] == "off")
        if name in others:
            return others[name]
        raise AttributeError(f"tierup.config has no setting {name!r}; there are {', '.join(sorted(values))}")

    def __setattr__(self, name, value):
        if name.startswith("__"):
            return super().__setattr__(name, value)
        own, others = self.__dict__.get("_numba") or ({}, {})
        if name in others:
            others[name] = value
            return
        if own and name == "DISABLE_JIT":
            name, value = "tier", "off" if value else "auto"
        name = own.get(name, name)
        if name not in _TABLE:
            raise AttributeError(f"tierup.config has no setting {name!r}; there are {', '.join(sorted(_TABLE))}")
        self.__dict__["_values"][name] = _read(name, value, f"tierup.config.{name}")
        _tell()

    def __dir__(self):
        return sorted([*_TABLE, "describe", "reload"])


def reload():
    """Reads every setting from the environment again."""
    unknown = [v for v in os.environ if v.startswith("TIERUP_") and not v.startswith(_OTHER) and v not in {row[0] for row in _TABLE.values()}]
    if unknown:
        raise _ConfigError(f"{unknown[0]} is no setting; there are {', '.join(row[0] for row in _TABLE.values())}")
    for name, (variable, _, default, _, _) in _TABLE.items():
        text = os.environ.get(variable)
        if name == "num_threads":
            default = _processors()
        _values[name] = default if text is None or text == "" else _read(name, text, variable)
    if _numba:
        _read_numba()
    _tell()


# Numba's name, which only those who come by the stand-in's modules use.
reload_config = reload


def _leave_to_unknown_python():
    """On a Python whose bytecode nobody knows decorated functions stay plain Python; one warning says so."""
    if sys.version_info[:2] in _tierup.PYTHONS or _values["tier"] == "off":
        return
    _values["tier"] = "off"
    import warnings

    from .errors import TierupWarning
    first, last = (".".join(map(str, version)) for version in (min(_tierup.PYTHONS), max(_tierup.PYTHONS)))
    now = ".".join(map(str, sys.version_info[:2]))
    warnings.warn(f"this tierup compiles on Python {first} to {last}, not on {now}: decorated functions run as plain Python; use one of those, or a later tierup", TierupWarning, stacklevel=2)


def _tell():
    """Passes on what compilation follows."""
    _leave_to_unknown_python()
    v = _values
    _tierup.configure(v["tier"], list(v["dump"]), v["trace"] is True, v["calls"], v["time_ms"], v["osr"], v["background"], v["compile_threads"], v["opt"])
    _tierup.set_most_threads(v["num_threads"])
    _tierup.set_fuel(v["fuel"])
    _tierup.configure_cache(v["cache"], v["cache_dir"], v["cache_mb"])
    _tierup.configure_precompiled(v["precompiled"])
    _tierup.set_trace(v["trace"] == "json")
    _tierup.set_perf_map(v["perf_map"])
    _tierup.set_lines(v["debug"], v["perf_dump"] or None)
    if v["trace"] == "json":
        import atexit
        atexit.unregister(_write_trace)
        atexit.register(_write_trace)


def _write_trace():
    """When the process ends."""
    if _values["trace"] == "json":
        try:
            with open(_values["trace_file"].replace("{pid}", str(os.getpid())), "w", encoding="utf-8") as f:
                f.write(_tierup.trace_json())
        except OSError as e:
            print(f"tierup: the trace is not written: {e}", file=sys.stderr)


# Variables of the test suite and the benchmarks, which the package itself does not read.
_OTHER = ("TIERUP_TEST", "TIERUP_BLESS")


def describe():
    """The table as text: variable, value in force, meaning."""
    width = max(len(row[0]) for row in _TABLE.values())
    return "\n".join(f"{row[0]:{width}}  {_values[name]!s:8}  {row[3]}" for name, row in _TABLE.items())


def use_numba_names(others):
    """Numba's variables and attribute names stand for the settings that mean the same; `others` are kept for programs that ask, and mean nothing here."""
    names = {}
    for name, (_, _, _, _, numba) in _TABLE.items():
        if numba:
            names[numba] = names[numba.removeprefix("NUMBA_")] = name
    # Its attribute has another name than its variable.
    names["DEBUGINFO_DEFAULT"] = "debug"
    _read_layers(others)
    globals()["_numba"] = names, others
    _read_numba()
    _tell()


def numba_setting(name, default=False):
    """A setting of Numba's that means nothing by itself here, where Tierup stands in for Numba; else `default`."""
    own, others = _numba or ({}, {})
    return others.get(name, default)


def _read_layers(others):
    """What the environment says of Numba's threading layers: programs ask for the name of the one that they get."""
    if os.environ.get("NUMBA_THREADING_LAYER"):
        others["THREADING_LAYER"] = os.environ["NUMBA_THREADING_LAYER"]
    order, known = os.environ.get("NUMBA_THREADING_LAYER_PRIORITY", "").split(), others.get("THREADING_LAYER_PRIORITY", [])
    if order:
        if sorted(order) != sorted(known):
            raise ValueError(f"THREADING_LAYER_PRIORITY invalid: {' '.join(order)}. It must be a permutation of {' '.join(known)}")
        others["THREADING_LAYER_PRIORITY"], others["_chosen_layer"] = order, order[0]


def _read_numba():
    """Numba's variables, over Tierup's."""
    for name, (_, _, _, _, numba) in _TABLE.items():
        if numba and os.environ.get(numba):
            _values[name] = _read(name, os.environ[numba], numba)
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        _values["tier"] = "off"
    if (quiet := os.environ.get("NUMBA_DISABLE_PERFORMANCE_WARNINGS", "")).isdecimal():
        _numba[1]["DISABLE_PERFORMANCE_WARNINGS"] = int(quiet)


# LLVM is a library of its own, opened at the first promotion.
_library = os.path.join(os.path.dirname(__file__), "libtierup_tier1.so")
if os.path.exists(_library):
    _tierup.set_library(_library)
reload()
sys.modules[__name__].__class__ = _Config
