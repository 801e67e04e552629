"""Ufuncs where nothing is compiled (`tier="off"`): Python's function is called for each element, or for each kernel's turn, with what NumPy's own loops over
arrays would hand over. Debuggers and coverage see its lines.

Not `np.vectorize`: that has no `reduce` and its like, takes the type of the first result for all, and has no kernels that write.
"""

import functools

import numpy as np

from . import types


def _dtype(t):
    """The dtype of the elements that a type in a signature is about."""
    return np.dtype(types.as_dtype(t.dtype if isinstance(t, types.Array) else t))


def _takes(dtype, operand):
    """Whether a loop for that type takes an operand: as NumPy, what converts safely, and Python's numbers by their kind alone."""
    if type(operand) in (bool, int, float, complex):
        return dtype.kind in {bool: "biufc", int: "iufc", float: "fc", complex: "c"}[type(operand)]
    return np.can_cast(np.asarray(operand).dtype, dtype)


def _common(elements):
    """The type of numbers together; Python's own give way to NumPy's."""
    strong = {x.dtype for x in elements if isinstance(x, np.generic)}
    weak = {type(x) for x in elements if not isinstance(x, np.generic)}
    return np.result_type(*strong, *(t(0) for t in weak)) if strong and weak <= {bool, int, float, complex} else np.array(elements).dtype


class _Plain:
    """What both kinds have in common."""

    def __init__(self, builder, signatures):
        functools.update_wrapper(self, builder.function)
        self.py_func = self.__wrapped__ = builder.function
        self._builder, self.nin, self.nout = builder, builder.nin, builder.nout
        self._loops, self._signatures = [], []
        self._declare(signatures)

    @property
    def nargs(self):
        return self.nin + self.nout

    @property
    def ntypes(self):
        return len(self._loops)

    @property
    def types(self):
        return ["".join(d.char for d in loop[:self.nin]) + "->" + "".join(d.char for d in loop[self.nin:]) for loop in self._loops]

    @property
    def identity(self):
        return None if self._builder.identity == "reorderable" else self._builder.identity

    @property
    def is_dynamic(self):
        return self._builder.dynamic

    def add(self, sig):
        """Takes another signature."""
        self._declare(types.signatures(sig))

    def _declare(self, signatures):
        for args, ret in signatures:
            loop = [_dtype(t) for t in (*args, *([] if ret in (None, types.none) else [ret]))]
            if len(loop) != self.nargs and not (len(loop) == self.nin and self._builder.dynamic):
                raise TypeError(f"the signature gives types of {len(args)} arguments, but {self.__name__}() takes {self.nin}")
            self._loops.append(loop)
            self._signatures.append((args, ret))

    def _loop(self, operands):
        """The types of the first loop that takes these inputs; None where the function takes what comes."""
        found = next((loop for loop in self._loops if all(map(_takes, loop, operands))), None)
        if found is None and self._loops and not self._builder.dynamic:
            raise TypeError(f"ufunc '{self.__name__}' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''")
        return found

    def _override(self, method, args, kwargs):
        """What an operand that takes ufuncs into its own hands makes of a call; NotImplemented where none does."""
        for x in (*args, *(out if isinstance(out := kwargs.get("out", ()), tuple) else (out,))):
            own = getattr(type(x), "__array_ufunc__", None)
            if own is not None and own is not np.ndarray.__array_ufunc__:
                found = own(x, self, method, *args, **kwargs)
                if found is not NotImplemented:
                    return found
        return NotImplemented

    def __repr__(self):
        return f"<ufunc '{self.__name__}' in plain Python>"

    def __reduce__(self):
        import sys
        at = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            at = getattr(at, part, None)
        return self.__qualname__ if at is self else self._again()


class PlainUFunc(_Plain):
    """Stands for a ufunc of `vectorize`."""

    signature = None

    def _again(self):
        from ._ufunc import _vectorize_again
        b = self._builder
        return _vectorize_again, (b.function, b.recipe, [] if b.dynamic else self._signatures)

    @property
    def _objects(self):
        # To NumPy, None given is another thing than nothing given: the order does not matter.
        given = self._builder.identity
        return np.frompyfunc(self.py_func, self.nin, 1, **({} if given is None else {"identity": self.identity}))

    def _given(self, operands, loop):
        """The operands as arrays of objects: NumPy's scalars of their types, and Python's numbers as they are."""
        out = []
        for k, x in enumerate(operands):
            if loop is None and type(x) in (bool, int, float, complex):
                a = np.empty((), object)
                a[()] = x
            else:
                given = np.asarray(x) if loop is None else np.asarray(x, loop[k])
                a = np.empty(given.size, object)
                for at, element in enumerate(given.ravel()):
                    a[at] = element
                a = a.reshape(given.shape)
            out.append(a)
        return out

    def _numbers(self, found, loop, dtype, out, where=True):
        """Results as numbers of one type."""
        if not isinstance(found, np.ndarray):
            found = np.array(found, object)
        elements = [x for x in found.ravel() if x is not None]
        if dtype is None:
            dtype = loop[-1] if loop is not None and len(loop) > self.nin else _common(elements) if elements else np.dtype(float)
        made = np.zeros(found.shape, dtype)
        for at, x in enumerate(found.ravel()):
            if x is not None:
                made.flat[at] = x
        if out is not None:
            out = out[0] if isinstance(out, tuple) else out
            np.copyto(out, made, casting="same_kind", where=where)
            return out
        return made[()]

    def __call__(self, *args, out=None, where=True, dtype=None):
        if len(args) == self.nin + 1 and out is None:
            *args, out = args
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} positional arguments but {len(args)} were given")
        own = self._override("__call__", args, {k: v for k, v in (("out", out), ("dtype", dtype)) if v is not None} | ({} if where is True else {"where": where}))
        if own is not NotImplemented:
            return own
        loop = self._loop(args)
        operands = self._given(args, loop)
        room = np.empty(np.broadcast_shapes(*(a.shape for a in operands), np.shape(where)), object)
        found = self._objects(*operands, out=room, where=where)
        return self._numbers(found, loop, dtype, out, where)

    def _fold(self, method, array, more, dtype, out, kwargs):
        if self.nin != 2:
            raise ValueError(f"{method} only supported for binary functions")
        own = self._override(method, (array, *more), {k: v for k, v in ({"dtype": dtype, "out": out} | kwargs).items() if v is not None})
        if own is not NotImplemented:
            return own
        array = np.asarray(array, dtype)
        loop = self._loop((array[:0].ravel() if array.ndim else array,) * 2)
        found = getattr(self._objects, method)(self._given([array], loop)[0], *more, **kwargs)
        return self._numbers(found, loop, dtype, out)

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, **kwargs):
        """As of any ufunc of two inputs."""
        return self._fold("reduce", array, (), dtype, out, {"axis": axis, "keepdims": keepdims, **kwargs})

    def accumulate(self, array, axis=0, dtype=None, out=None):
        """As of any ufunc of two inputs."""
        return self._fold("accumulate", array, (), dtype, out, {"axis": axis})

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        """As of any ufunc of two inputs."""
        return self._fold("reduceat", array, (indices,), dtype, out, {"axis": axis})

    def outer(self, A, B, /, **kwargs):
        """As of any ufunc of two inputs."""
        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        A, B = np.asarray(A), np.asarray(B)
        return self(A.reshape(A.shape + (1,) * B.ndim), B, **kwargs)

    def at(self, a, indices, b=None, /):
        """As of any ufunc."""
        others = () if b is None else (b,)
        loop = self._loop((a, *others))
        whole, *rest = self._given((a, *others), loop)
        self._objects.at(whole, indices, *rest)
        a[...] = self._numbers(whole, None, a.dtype, None)


class PlainGUFunc(_Plain):
    """Stands for a ufunc of `guvectorize`."""

    @property
    def signature(self):
        return self._builder.layout

    def _again(self):
        from ._ufunc import _guvectorize_again
        return _guvectorize_again, (self.py_func, self._builder.recipe, self._signatures)

    def _axes(self, axes, axis):
        """Where each operand has its core dimensions."""
        core = [*self._builder.core[0], *self._builder.core[1]]
        if axis is not None:
            if axes is not None or any(len(dims) > 1 for dims in core):
                raise TypeError("axis= is for kernels of one core dimension, and excludes axes=")
            axes = [axis if dims else () for dims in core]
        if axes is None:
            return [tuple(range(-len(dims), 0)) for dims in core]
        axes = [(a,) if isinstance(a, int) else tuple(a) for a in axes]
        # Results without core dimensions need not be named.
        axes += [()] * (len(core) - len(axes))
        if any(len(a) != len(dims) for a, dims in zip(axes, core)):
            raise ValueError(f"axes= names other core dimensions than the layout {self.signature} has")
        return axes

    def __call__(self, *args, out=None, axes=None, axis=None):
        b = self._builder
        outs = args[self.nin:] or (out if isinstance(out, tuple) else (out,) * self.nout)
        args = args[:self.nin]
        if len(args) != self.nin or len(outs) != self.nout:
            raise TypeError(f"{self.__name__}() takes {self.nin} inputs and {self.nout} results, or inputs alone")
        own = self._override("__call__", args, {k: v for k, v in (("out", out), ("axes", axes), ("axis", axis)) if v is not None})
        if own is not NotImplemented:
            return own
        loop = self._loop(args)
        if loop is None and any(o is None for o in outs):
            raise TypeError(f"too few arguments for {self.__name__}(): a gufunc without signatures learns the types of its results from the arrays that they go to, so pass all {self.nargs} operands")
        places, core = self._axes(axes, axis), [*b.core[0], *b.core[1]]
        moved = lambda x, k: np.moveaxis(x, places[k], range(-len(places[k]), 0)) if places[k] else x
        inputs = [moved(np.asarray(x) if loop is None else np.asarray(x, loop[k]), k) for k, x in enumerate(args)]
        sizes = self._sizes(inputs, core)
        given = [None if o is None else moved(o, self.nin + k) for k, o in enumerate(outs)]
        shapes = [x.shape[:x.ndim - len(dims)] for x, dims in zip([*inputs, *(g for g in given if g is not None)], core)]
        turns = np.broadcast_shapes(*shapes)
        results = []
        for k, g in enumerate(given):
            dtype = g.dtype if loop is None else loop[self.nin + k]
            shape = turns + tuple(sizes[n] for n in core[self.nin + k])
            # The kernel writes to what it is given where that has its type.
            results.append(g if g is not None and g.dtype == dtype and g.shape == shape else np.zeros(shape, dtype))
        self._run(turns, inputs, results, core)
        for g, made in zip(given, results):
            if g is not None and g is not made:
                np.copyto(g, made, casting="same_kind")
        back = [np.moveaxis(r, range(-len(places[self.nin + k]), 0), places[self.nin + k])[()] if o is None else o for k, (r, o) in enumerate(zip(results, outs))]
        return back[0] if len(back) == 1 else tuple(back) or None

    def _sizes(self, inputs, core):
        sizes = {}
        for x, dims in zip(inputs, core):
            if x.ndim < len(dims):
                raise ValueError(f"{self.__name__}: an operand has too few dimensions for the layout {self.signature}")
            for name, n in zip(dims, x.shape[x.ndim - len(dims):]):
                if sizes.setdefault(name, n) != n:
                    raise ValueError(f"{self.__name__}: operands disagree on the size of the core dimension {name} of the layout {self.signature}: {sizes[name]} and {n}")
        return sizes

    def _boxed(self, k, inputs):
        """Whether operand `k`, which has no core dimensions, is handed over as an array of one element."""
        declared = next((args for args, _ in self._signatures if all(map(_takes, map(_dtype, args), inputs))), None)
        return k >= self.nin or declared is not None and isinstance(declared[k], types.Array)

    def _run(self, turns, inputs, results, core):
        operands = []
        for k, (x, dims) in enumerate(zip([*inputs, *results], core)):
            inner = x.shape[x.ndim - len(dims):] if dims else ()
            writable = k >= self.nin or k in self._builder.writable or self.nout == 0
            whole = x if x.shape == turns + inner else np.broadcast_to(x, turns + inner)
            if writable and not whole.flags.writeable:
                raise ValueError(f"{self.__name__}: operand {k} is written to, and is read-only or broadcast")
            operands.append((whole, not dims and self._boxed(k, inputs), dims))
        for turn in np.ndindex(turns):
            self.py_func(*(x[(*turn, ...)].reshape(1) if boxed else x[turn] if dims else x[turn][()] for x, boxed, dims in operands))
