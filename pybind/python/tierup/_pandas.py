"""What `DataFrame.apply(f, engine=tierup.njit)` and `Series.map(f, engine=tierup.njit)` of pandas 3 call: the decorator that they are given compiles the
function, and a loop over rows, columns or elements with it.

Columns and rows of frames (`raw=False`) and elements that are no numbers go one by one, through the loop that pandas has for plain functions. The file is
loaded when pandas calls (`_jit.py`), since it needs NumPy.
"""

import numpy as np

_NUMBERS = "biufc"


def _compiled(function, decorator):
    return function if hasattr(function, "py_func") else decorator(function)


def _with(function, args, kwargs):
    """A function of one argument: the others are captured, so that a loop can be compiled with it."""
    if not args and not kwargs:
        return function
    names = tuple(kwargs)
    scope = {"function": function, **{f"a{k}": v for k, v in enumerate(args)}, **{f"k_{n}": v for n, v in kwargs.items()}}
    given = ", ".join(["x", *(f"a{k}" for k in range(len(args))), *(f"{n}=k_{n}" for n in names)])
    captured = ", ".join([*(f"a{k}" for k in range(len(args))), *(f"k_{n}" for n in names)])
    exec(f"def bind(function, {captured}):\n    def one(x):\n        return function({given})\n    return one", scope)
    return scope["bind"](function, *args, *kwargs.values())


def _each(function, decorator, values, first):
    """What a function gives for each of `values`, whose first result is there already; for results that are numbers."""
    out = np.empty(len(values), np.asarray(first).dtype)
    out[0] = first

    def loop(values, out):
        for k in range(1, len(values)):
            out[k] = function(values[k])

    decorator(loop)(values, out)
    return out


def _is_number(x):
    return isinstance(x, (bool, int, float, complex, np.number, np.bool_))


def apply(data, func, args, kwargs, decorator, axis):
    compiled = _compiled(func, decorator)
    by_row = axis in (1, "columns")
    if not isinstance(data, np.ndarray):
        return data.apply(compiled, axis=axis, args=tuple(args), **kwargs)
    if data.ndim != 2 or data.dtype.kind not in _NUMBERS or not len(data):
        return np.apply_along_axis(compiled, int(by_row), data, *args, **kwargs)
    # As in pandas, the first result says of which kind the others are.
    rows = data if by_row else data.T
    first = compiled(rows[0], *args, **kwargs)
    if not _is_number(first):
        return np.apply_along_axis(compiled, int(by_row), data, *args, **kwargs)
    return _each(decorator(_with(compiled, args, kwargs)), decorator, rows, first)


def map(data, func, args, kwargs, decorator, skip_na):
    compiled = _compiled(func, decorator)
    dtype = getattr(data, "dtype", None)
    plain = isinstance(dtype, np.dtype) and dtype.kind in _NUMBERS and getattr(data, "ndim", 0) == 1 and len(data)
    values = np.asarray(data) if plain else None
    if values is None or skip_na and np.isnan(values).any():
        one = _with(compiled, args, kwargs)
        return data.map(one, na_action="ignore" if skip_na else None)
    first = compiled(values[0], *args, **kwargs)
    if not _is_number(first):
        return data.map(_with(compiled, args, kwargs))
    return _each(decorator(_with(compiled, args, kwargs)), decorator, values, first)
