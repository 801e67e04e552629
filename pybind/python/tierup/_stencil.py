"""`stencil`: a kernel that computes one element from those around it becomes a function of whole arrays.

That function is made as text, one loop for each dimension around a call of the kernel, whose arrays are views that count from the element being computed
(`lib/stencils.py`). Compiled code calls it as it is; from Python it is called through a dispatcher.
"""

from . import _tierup, config
from ._calls import _identifier, made
from ._jit import _make

_OPTIONS = {"cval", "standard_indexing", "neighborhood"}
_INDICES = "ijkm"


class StencilFunc:
    """A stencil: call it with the kernel's arguments, and with `out=` for an array that takes the results."""

    def __init__(self, kernel, mode="constant", options=None):
        self.py_func = self.__wrapped__ = kernel
        self.mode, self.options = mode, dict(options or {})
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(kernel, name))
        self.neighborhood = self._reach()
        self._tierup_function_ = self._make()
        self._dispatcher = _make(self._tierup_function_, None, {}, False)

    # The compiler looks at the class before it asks an object for its function.
    _tierup_function_ = None

    def _reach(self):
        """How far the kernel looks in each dimension: ((lowest, highest), ...)."""
        code = self.py_func.__code__
        names = code.co_varnames[:code.co_argcount]
        if code.co_flags & 0x0C or code.co_kwonlyargcount or not names:
            raise ValueError("a stencil kernel takes positional parameters, the first of which is an array")
        if "out" in code.co_varnames:
            raise ValueError("Cannot use the reserved word 'out' in stencil kernels.")
        standard = self.options.get("standard_indexing", ())
        standard = (standard,) if isinstance(standard, str) else tuple(standard)
        for name in standard:
            if name not in names:
                raise ValueError("Standard indexing requested for an array name not present in the stencil kernel definition.")
        if names[0] in standard:
            raise ValueError("The first argument to a stencil kernel must use relative indexing, not standard indexing.")
        self._names = names
        self._relative = [n for n in names if n not in standard]
        found = [a for a in _tierup.indexed_parameters(self.py_func)]
        if any(writes for _, writes, _ in found):
            raise ValueError("Assignments to arrays passed to stencil kernels is not allowed.")
        given = self.options.get("neighborhood")
        if given is not None:
            try:
                given = tuple((int(lo), int(hi)) for lo, hi in given)
            except (TypeError, ValueError):
                raise ValueError(f"neighborhood is a pair of the lowest and the highest index for each dimension, not {given!r}") from None
            return self._limited(given)
        reads = [index for k, _, index in found if names[k] in self._relative]
        if not reads:
            raise ValueError("Stencil kernel with no accesses to relatively indexed arrays.")
        if None in reads:
            raise ValueError("stencil kernel index is not constant, 'neighborhood' option required")
        if len({len(index) for index in reads}) > 1:
            raise ValueError("Stencil index does not match array dimensionality.")
        return self._limited(tuple((min(0, *axis), max(0, *axis)) for axis in zip(*reads)))

    @staticmethod
    def _limited(reach):
        if not 1 <= len(reach) <= len(_INDICES):
            raise ValueError(f"stencils have one to {len(_INDICES)} dimensions, not {len(reach)}")
        return reach

    def _make(self):
        name, reach = _identifier(self.__name__), self.neighborhood
        ndim, names, first = len(reach), self._names, self._names[0]
        indices = _INDICES[:ndim]
        near = lambda at: ", ".join(f"stencils.near{ndim}({n}, {at})" if n in self._relative else n for n in names)
        listed = ", ".join(names)
        lines = [f"def first({listed}):", f"    return function({near(', '.join('0' * ndim))})", "", f"def {name}({listed}, out=None):",
                 f"    if not isinstance({first}, np.ndarray):", "        raise TypeError('The first argument to a stencil kernel must be an array')",
                 f"    if {first}.ndim != {ndim}:", f"        raise ValueError('{ndim} dimensional neighborhood specified for ' + str({first}.ndim) + ' dimensional input array')"]
        lines += [f"    stencils.check_sizes({first}, {n})" for n in self._relative[1:]]
        body = [f"    stencils.border(y, {k}, {max(0, -lo)}, {max(0, hi)}, cval)" for k, (lo, hi) in enumerate(reach)]
        lines += ["    if out is None:", f"        return fresh({listed})", f"    if out.ndim != {ndim}:", "        raise ValueError('the output of a stencil has as many dimensions as its first array')",
                  f"    stencils.check_output(out, {first}.shape)"]
        if "cval" in self.options:
            lines.append("    stencils.fill(out, cval)")
        lines += [f"    fill(out, {listed})", "    return out", "", f"def fresh({listed}):", f"    y = np.empty({first}.shape, np._result_dtype(first, {listed}))", *body,
                  f"    fill(y, {listed})", "    return y", "", f"def fill(y, {listed}):"]
        for k, (lo, hi) in enumerate(reach):
            lines.append("    " * (k + 1) + f"for {_INDICES[k]}_ in {'range' if k else 'prange'}({max(0, -lo)}, {first}.shape[{k}] - {max(0, hi)}):")
        at = ", ".join(f"{i}_" for i in indices)
        lines.append("    " * (ndim + 1) + f"y[{at}] = function({near(at)})")
        f = made("\n".join(lines), name, {"function": self.py_func, "cval": self.options.get("cval", 0)}, "stencil")
        f._tierup_attributes_ = {"neighborhood": reach}
        return f

    def __call__(self, *args, **kwargs):
        unknown = kwargs.keys() - {"out"}
        if unknown:
            raise TypeError(f"{self.__name__}() got an unexpected keyword argument '{sorted(unknown)[0]}'")
        if len(args) != len(self._names):
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
        if config.tier == "off":
            from .errors import UnsupportedError
            raise UnsupportedError("stencil has no form that runs without compiling")
        return StencilFunc(getattr(function, "py_func", function), mode, options)
    return decorated if isinstance(func_or_mode, str) else decorated(func_or_mode)
