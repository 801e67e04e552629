"""`stencil`: a kernel that computes one element from those around it becomes a function of whole arrays.

That function is made as text, one loop for each dimension around a call of the kernel, which gets the place of the element as well: its indices count from there (`np._from_place`).
Compiled code calls it as it is; from Python it is called through a dispatcher. Where compiled code itself makes a stencil it calls what `loops_for` gives.
"""

from functools import lru_cache

from . import _tierup, config
from ._calls import _identifier, made, maker
from ._jit import _make

_OPTIONS = {"cval", "meaning", "standard_indexing", "neighborhood"}
_INDICES = "ijkm"


def _reach(names, plain, found, standard, given):
    """How far a kernel looks in each dimension; `found` are the places where it indexes parameters. Raises ValueError for what is no kernel."""
    if not plain or not names:
        raise ValueError("a stencil kernel takes positional parameters, the first of which is an array")
    if "out" in names:
        raise ValueError("Cannot use the reserved word 'out' in stencil kernels.")
    if any(name not in names for name in standard):
        raise ValueError("Standard indexing requested for an array name not present in the stencil kernel definition.")
    if names[0] in standard:
        raise ValueError("The first argument to a stencil kernel must use relative indexing, not standard indexing.")
    if any(writes for _, writes, _ in found):
        raise ValueError("Assignments to arrays passed to stencil kernels is not allowed.")
    if given is not None:
        return _limited(given)
    reads = [index for k, _, index in found if names[k] not in standard]
    if not reads:
        raise ValueError("Stencil kernel with no accesses to relatively indexed arrays.")
    if None in reads:
        raise ValueError("stencil kernel index is not constant, 'neighborhood' option required")
    if len({len(index) for index in reads}) > 1:
        raise ValueError("Stencil index does not match array dimensionality.")
    return _limited(tuple((min(0, *axis), max(0, *axis)) for axis in zip(*reads)))


def _limited(reach):
    if not 1 <= len(reach) <= len(_INDICES):
        raise ValueError(f"stencils have one to {len(_INDICES)} dimensions, not {len(reach)}")
    return reach


def _source(name, names, standard, border, filled):
    """The text of the loops around `function`. `border` are texts: how many elements at the low and at the high end of each dimension are not computed. With `filled`, `cval` is what they become."""
    ndim, first = len(border), names[0]
    relative = [n for n in names if n not in standard]
    listed, bits = ", ".join(names), sum(1 << k for k, n in enumerate(names) if n in relative)
    element = lambda at: f"np._from_place(function, {bits}, {ndim})({listed}, {at})"
    lines = [f"def first({listed}):", f"    return {element(', '.join('0' * ndim))}", "", f"def {name}({listed}, out=None):",
             f"    if not isinstance({first}, np.ndarray):", "        raise TypeError('The first argument to a stencil kernel must be an array')",
             f"    if {first}.ndim != {ndim}:", f"        raise ValueError('{ndim} dimensional neighborhood specified for ' + str({first}.ndim) + ' dimensional input array')"]
    lines += [f"    stencils.check_sizes({first}, {n})" for n in relative[1:]]
    edges = [f"    stencils.border(y, {k}, {lo}, {hi}, {'cval' if filled else 0})" for k, (lo, hi) in enumerate(border)]
    lines += ["    if out is None:", f"        return fresh({listed})", f"    if out.ndim != {ndim}:", "        raise ValueError('the output of a stencil has as many dimensions as its first array')",
              f"    stencils.check_output(out, {first}.shape)"]
    # Results may go to an operand: they are of what was there before.
    lines += [f"    {n} = stencils.apart({n}, out)" for n in names]
    if filled:
        lines.append("    stencils.fill(out, cval)")
    lines += [f"    fill(out, {listed})", "    return out", "", f"def fresh({listed}):", f"    y = np.empty({first}.shape, np._result_dtype(first, {listed}))", *edges,
              f"    fill(y, {listed})", "    return y", "", f"def fill(y, {listed}):"]
    for k, (lo, hi) in enumerate(border):
        lines.append("    " * (k + 1) + f"for {_INDICES[k]}_ in {'range' if k else 'prange'}({lo}, {first}.shape[{k}] - {hi}):")
    at = ", ".join(f"{i}_" for i in _INDICES[:ndim])
    lines.append("    " * (ndim + 1) + f"y[{at}] = {element(at)}")
    return "\n".join(lines)


@lru_cache(maxsize=None)
def loops_for(name, names, plain, found, standard, given, filled):
    """For compiled code that makes a stencil: the function that takes the kernel, the neighborhood (None, or `given` pairs that are known when it runs) and `cval`, and gives the stencil."""
    name, reach = _identifier(name), _reach(names, plain, found, standard, given and ((0, 0),) * given)
    border = [(str(max(0, -lo)), str(max(0, hi))) for lo, hi in reach]
    if given:
        border = [(f"max(0, -neighborhood[{k}][0])", f"max(0, neighborhood[{k}][1])") for k in range(given)]
    return maker(_source(name, names, standard, border, filled), name, ("function", "neighborhood", "cval"), "stencil")


@lru_cache(maxsize=None)
def decorator_for(standard):
    """For compiled code that makes a decorator: the function that takes the neighborhood and `cval`, and gives it."""
    return maker(f"def decorate(kernel):\n    return np._stencil(kernel, neighborhood, {standard!r}, cval)(kernel, neighborhood, cval)", "decorate", ("neighborhood", "cval"), "stencil")


class _Around:
    """An array whose indices count from a place."""

    def __init__(self, array, place):
        self._array, self._place = array, place

    def __getitem__(self, index):
        from .lib import stencils
        return self._array[stencils.place(self._array, index, self._place)]

    def __getattr__(self, name):
        return getattr(self._array, name)


class StencilFunc:
    """A stencil: call it with the kernel's arguments, and with `out=` for an array that takes the results."""

    def __init__(self, kernel, mode="constant", options=None):
        self.py_func = self.__wrapped__ = kernel
        self.mode, self.options = mode, dict(options or {})
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(kernel, name))
        self.neighborhood = self._reach()
        if config.tier == "off":
            self._dispatcher = self._in_python
            return
        self._tierup_function_ = self._make()
        self._dispatcher = _make(self._tierup_function_, None, {"meaning": self.options.get("meaning", "python")}, False)

    # The compiler looks at the class before it asks an object for its function.
    _tierup_function_ = None

    def _reach(self):
        """How far the kernel looks in each dimension: ((lowest, highest), ...)."""
        code = self.py_func.__code__
        self._names = code.co_varnames[:code.co_argcount]
        if "out" in code.co_varnames:
            raise ValueError("Cannot use the reserved word 'out' in stencil kernels.")
        standard = self.options.get("standard_indexing", ())
        self._standard = (standard,) if isinstance(standard, str) else tuple(standard)
        given = self.options.get("neighborhood")
        if given is not None:
            try:
                given = tuple((int(lo), int(hi)) for lo, hi in given)
            except (TypeError, ValueError):
                raise ValueError(f"neighborhood is a pair of the lowest and the highest index for each dimension, not {given!r}") from None
            if any(lo > hi for lo, hi in given):
                raise ValueError(f"neighborhood is a pair of the lowest and the highest index for each dimension, not {given!r}")
        plain = not (code.co_flags & 0x0C or code.co_kwonlyargcount)
        return _reach(self._names, plain, _tierup.indexed_parameters(self.py_func), self._standard, given)

    def _make(self):
        name, cval = _identifier(self.__name__), self.options.get("cval", 0)
        border = [(str(max(0, -lo)), str(max(0, hi))) for lo, hi in self.neighborhood]
        source = _source(name, self._names, self._standard, border, "cval" in self.options)
        f = made(source, name, {"function": self.py_func, "cval": cval}, "stencil")
        f.__qualname__ = name
        f._tierup_attributes_ = {"neighborhood": self.neighborhood}
        return f

    def _in_python(self, *args, out=None, **kwargs):
        """What the loops do, where nothing is compiled: each element by a call of the kernel."""
        import inspect

        import numpy as np

        from .lib import stencils
        given = inspect.signature(self.py_func).bind(*args, **kwargs)
        given.apply_defaults()
        args = given.args
        first, reach, cval = args[0], self.neighborhood, self.options.get("cval", 0)
        if not isinstance(first, np.ndarray):
            raise TypeError("The first argument to a stencil kernel must be an array")
        if first.ndim != len(reach):
            raise ValueError(f"{len(reach)} dimensional neighborhood specified for {first.ndim} dimensional input array")
        relative = [name not in self._standard and isinstance(x, np.ndarray) for name, x in zip(self._names, args)]
        for x, moves in zip(args[1:], relative[1:]):
            if moves:
                stencils.check_sizes(first, x)
        if out is not None and out.ndim != first.ndim:
            raise ValueError("the output of a stencil has as many dimensions as its first array")
        if out is not None:
            stencils.check_output(out, first.shape)
        lows = [max(0, -lo) for lo, _ in reach]
        inner = tuple(max(0, n - lo - max(0, hi)) for n, lo, (_, hi) in zip(first.shape, lows, reach))
        turns = [tuple(np.add(at, lows)) for at in np.ndindex(inner)]
        # Results may go to an operand: they are of what was there before.
        found = [self.py_func(*(_Around(x, at) if moves else x for x, moves in zip(args, relative))) for at in turns]
        if out is None:
            out = np.full(first.shape, cval, np.asarray(found).dtype if found else first.dtype)
        elif "cval" in self.options:
            stencils.fill(out, cval)
        for at, x in zip(turns, found):
            out[at] = x
        return out

    def __call__(self, *args, **kwargs):
        if len(args) > len(self._names):
            raise TypeError(f"{self.__name__}() takes {len(self._names)} positional arguments but {len(args)} were given")
        return self._dispatcher(*args, **kwargs)

    def __reduce__(self):
        from ._pickle import reduce_stencil
        return reduce_stencil(self)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<tierup stencil {self.__qualname__}>"


def stencil(func_or_mode="constant", **options):
    """Makes a function of arrays out of a kernel that computes one element: `a[0]` is the element itself, `a[-1]` the one before it.

    Use as `@stencil` or `@stencil(neighborhood=((-2, 2),), cval=0, standard_indexing=("weights",))`. Elements too near to the border are `cval`, 0 unless given. The
    neighborhood is taken from the kernel's indices where these are constants. Arrays named in `standard_indexing` are indexed as usual. Raises ValueError for what is no
    stencil.
    """
    unknown = options.keys() - _OPTIONS
    if unknown:
        raise ValueError(f"Unknown stencil option {sorted(unknown)[0]}")
    mode = func_or_mode if isinstance(func_or_mode, str) else "constant"
    if mode != "constant":
        raise ValueError(f"Unsupported mode style {mode}")
    cval = options.get("cval", 0)
    if not isinstance(cval, (int, float, complex)) and not hasattr(cval, "dtype"):
        raise ValueError(f"cval is a number, not {cval!r}")

    def decorated(function):
        return StencilFunc(getattr(function, "py_func", function), mode, options)
    return decorated if isinstance(func_or_mode, str) else decorated(func_or_mode)
