"""What compiled code calls in place of a function behind ``functools.lru_cache`` or ``functools.cache``.

It is written for the function and remembers in dicts of compiled code, one for each thread and each type of the arguments
(``runtime/src/dict/memory.rs``). They are told apart by a number, and forgotten when a time has passed: both are in an array,
which no code has as a constant. Attributes of the function are what compiled code finds under their names."""

import builtins
import functools
import itertools
import types

from . import _tierup
from ._calls import python_caller
from ._objects import _pairs, _parameters
from ._paths import WRITTEN

_NUMBERS = itertools.count(1)


def function_for(wrapper):
    """The function; None where what is behind `wrapper` is not written in Python, or takes names that it does not list."""
    func = wrapper.__wrapped__
    plain = getattr(func, "py_func", func)
    if not isinstance(plain, types.FunctionType) or plain.__code__.co_flags & 0x08:
        return None
    state = (plain, plain.__code__, plain.__defaults__, _pairs(plain))
    known = wrapper.__dict__.get("_tierup_remembers_")
    if known is None or any(a is not b and a != b for a, b in zip(known[0], state, strict=True)):
        known = wrapper._tierup_remembers_ = state, _written(wrapper, func, plain)
    return known[1]


def _written(wrapper, func, plain):
    maxsize = wrapper.cache_parameters()["maxsize"]
    times = _times(wrapper)
    scope = {"__builtins__": builtins, "_tierup_functools": functools, "_tierup_func": func, "_tierup_times": times}
    params, given = _parameters(plain, scope, 0)
    key = [g.split("=")[-1] for g in given]
    key = key[0] if len(key) == 1 and key[0][0] != "*" else f"({', '.join(key)},)" if key else "0"
    made = "_remembered" if maxsize is None else "_remembered_in_order"
    missed = "_tierup_functools._missed(_tierup_times[0], _tierup_times[1])"
    call = f"_tierup_func({', '.join(given)})"
    lines = [
        f"_tierup_known = _tierup_functools.{made}(_tierup_times[0], _tierup_times[1])",
        f"_tierup_key = {key}",
        "if _tierup_key in _tierup_known:",
        *(["    _tierup_known.move_to_end(_tierup_key)"] if maxsize is not None else []),
        "    return _tierup_known[_tierup_key]",
        missed,
        f"_tierup_value = {call}",
        "_tierup_known[_tierup_key] = _tierup_value",
        *([f"if len(_tierup_known) > {maxsize}:", "    _tierup_known.popitem(last=False)"] if maxsize is not None else []),
        "return _tierup_value",
    ]
    text = f"def remembers({', '.join(params)}):\n" + "".join(f"    {line}\n" for line in (lines if maxsize != 0 else [missed, f"return {call}"]))
    exec(compile(text, WRITTEN % "lru_cache", "exec"), scope)
    made = scope["remembers"]
    made.__name__, made.__qualname__ = plain.__name__, plain.__qualname__
    made.__code__ = made.__code__.replace(co_name=plain.__name__, co_qualname=plain.__qualname__)
    made.cache_clear = python_caller(wrapper.cache_clear, "", "none", changes=True)
    made.cache_info = _info(wrapper, maxsize)
    return made


def _info(wrapper, maxsize):
    """What compiled code calls for ``cache_info()``."""
    asked = python_caller(lambda: tuple(wrapper.cache_info()[k] for k in (0, 1, 3)), "", "tuple(int, int, int)", changes=True)
    scope = {"__builtins__": builtins, "_tierup_asked": asked, "_tierup_info": functools._CacheInfo}
    text = f"def cache_info():\n    hits, misses, size = _tierup_asked()\n    return _tierup_info(hits, misses, {maxsize}, size)\n"
    exec(compile(text, WRITTEN % "lru_cache", "exec"), scope)
    return scope["cache_info"]


def _times(wrapper):
    """The number of a function and how often it was made to forget. ``cache_clear()`` makes compiled code forget as well, and
    ``cache_info()`` adds what this thread's compiled code has done."""
    import numpy

    times = numpy.array([next(_NUMBERS), 0])
    clear, info = wrapper.cache_clear, wrapper.cache_info

    def cache_clear():
        clear()
        times[1] += 1

    def cache_info():
        of_python = info()
        hits, misses, size = _tierup.remembered(*times.tolist())
        return of_python._replace(hits=of_python.hits + hits, misses=of_python.misses + misses, currsize=of_python.currsize + size)

    wrapper.cache_clear, wrapper.cache_info = cache_clear, cache_info
    return times
