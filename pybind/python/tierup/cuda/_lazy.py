"""Arrays in functions for a device: what NumPy's operators and functions do with them is put off until somebody looks."""

import sys
import threading
import weakref

import numpy as np

from . import _folds, _nodes
from ._arrays import as_cuda_array, device_array, is_cuda_array, to_device
from ._nodes import Node, casted, compute, in_memory, number, operation

_state = threading.local()


class Run:
    """A call of a function for a device: its arrays that are not computed yet, those of the host that it has copies of, and its `codes`, by which lines of the program are found."""

    def __init__(self):
        self.pending, self.host, self.codes, self.written, self.fixed = weakref.WeakValueDictionary(), {}, set(), set(), set()

    @staticmethod
    def now():
        return getattr(_state, "run", None)

    def line(self):
        """The line of the program that is being run."""
        frame = sys._getframe(2)
        while frame is not None and frame.f_code not in self.codes:
            frame = frame.f_back
        return frame and frame.f_lineno

    def copied(self, array):
        """The copy of an argument, an array of the host."""
        if id(array) not in self.host:
            self.host[id(array)] = array, to_device(array)
            if not array.flags.writeable:
                self.fixed.add(id(self.host[id(array)][1]._owner))
        return self.host[id(array)][1]

    def settle(self, target, sure=False):
        """Computes what reads memory that is about to be written, for `sure` or maybe."""
        if id(target._owner) in self.fixed:
            if sure:
                raise ValueError("assignment destination is read-only")
            return
        self.written.add(id(target._owner))
        for a in list(self.pending.values()):
            if a._node.value is None and any(_meet(m, target) for m in _nodes.memories(a._node)):
                compute(a._node)


class entered:
    """A block in which a run is the one that is going on."""

    def __init__(self, run):
        self.run = run

    def __enter__(self):
        self.before, _state.run = Run.now(), self.run

    def __exit__(self, *_):
        _state.run = self.before


def _meet(a, b):
    (n, start), (m, other) = a._span(), b._span()
    return a.size > 0 and b.size > 0 and start < other + m and other < start + n


def _alike(a, b):
    return a._address == b._address and a.shape == b.shape and a.strides == b.strides


def refused(what, help):
    """The error where something is not done on a device, at the line of the program."""
    from ..errors import UnsupportedError
    run = Run.now()
    line = run and run.line()
    error = UnsupportedError(f"{what} does not run on a device, in line {line}\n  help: {help}")
    error.line, error.code, error.msg = line, "gpu-unsupported", what
    return error


ON_HOST = "do this part on the host, with arr.copy_to_host(), or write a kernel with @cuda.jit"


def node_of(value):
    """The node of an operand: an array, or a number."""
    if isinstance(value, Array):
        return value._node
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return number(np.bool_(value) if isinstance(value, bool) else value)
    if is_cuda_array(value):
        return in_memory(as_cuda_array(value))
    value = np.asarray(value)
    if value.dtype.kind not in "biufc" or value.dtype.itemsize > 16:
        raise refused(f"an array of {value.dtype}", "arrays of a device hold numbers")
    return number(value[()]) if value.ndim == 0 else in_memory(to_device(value))


def ufunc(f, operands, dtype=None):
    """The node of a ufunc of NumPy's with NumPy's types."""
    nodes = [o._node if isinstance(o, Array) else node_of(o) for o in operands]
    types = (f, dtype, *[n.dtype for n in nodes])
    if (known := _resolved.get(types)) is not None:
        return operation(f.__name__, nodes, *known, Run.now().line())
    if f.nout != 1 or f.signature is not None:
        raise refused(f"np.{f.__name__}", ON_HOST)
    signature = None if dtype is None else (None,) * f.nin + (np.dtype(dtype),)
    *ins, out = f.resolve_dtypes((*(n.dtype for n in nodes), None), **({} if signature is None else {"signature": signature}))
    _resolved[types] = ins, out
    return operation(f.__name__, nodes, ins, out, Run.now().line())


# Types of operands and results by ufunc and types of operands.
_resolved = {}


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    return tuple(sorted(np.lib.array_utils.normalize_axis_index(a, ndim) for a in (axis if isinstance(axis, tuple) else (axis,))))


_EMPTY = {"sum": 0, "prod": 1, "any": False, "all": True}
_NO_START = {"min": "zero-size array to reduction operation minimum which has no identity", "max": "zero-size array to reduction operation maximum which has no identity",
             "argmin": "attempt to get argmin of an empty sequence", "argmax": "attempt to get argmax of an empty sequence"}
_LIKE = {"sum": np.sum, "prod": np.prod, "any": np.any, "all": np.all, "min": np.min, "max": np.max, "argmin": np.argmin, "argmax": np.argmax, "fmin": np.fmin.reduce, "fmax": np.fmax.reduce}
_NO_START |= {"fmin": _NO_START["min"].replace("minimum", "fmin"), "fmax": _NO_START["max"].replace("maximum", "fmax")}


def reduce(kind, a, axis=None, dtype=None, keepdims=False):
    """A reduction with NumPy's types and errors."""
    node = node_of(a)
    if node.op == "number":
        node = node_of(np.asarray(node.operands[0])[None])
    axes, ndim = _axes(axis, len(node.shape)), len(node.shape)
    if kind.startswith("arg") and axis is not None and len(axes) != 1:
        raise TypeError(f"{kind}() takes one axis")
    if node.dtype.kind == "c" and kind in ("fmin", "fmax"):
        raise refused(f"np.nan{kind[1:]}() of complex numbers", ON_HOST)
    result = _LIKE[kind](np.ones(1, node.dtype), **({} if dtype is None else {"dtype": dtype})).dtype
    made = _reduced(kind, node, axes, result)
    if keepdims:
        made = in_memory(compute(made).reshape(tuple(1 if d in axes else n for d, n in enumerate(node.shape))))
    return Array(made)


def _reduced(kind, node, axes, result):
    if not axes and not kind.startswith("arg"):
        return casted(node, result)
    if any(node.shape[d] == 0 for d in axes):
        if kind in _NO_START:
            raise ValueError(_NO_START[kind])
        out = device_array(tuple(n for d, n in enumerate(node.shape) if d not in axes), result)
        return in_memory(compute(casted(number(_EMPTY[kind]), result), out) if out.ndim == 0 else _filled(out, _EMPTY[kind]))
    wide = result
    if kind.startswith("arg"):
        wide = node.dtype
    if wide == np.float16:
        # NumPy adds them in float32, and what is chosen among them is the same there.
        wide = np.dtype(np.float32)
    if kind in ("min", "max") and wide == np.bool_:
        kind = "all" if kind == "min" else "any"
    if not node.shape:
        return casted(number(np.int64(0)), np.dtype(np.int64)) if kind.startswith("arg") else casted(node, result)
    if kind.startswith("arg") and wide.kind == "c":
        kind += " of complex"
    return _folds.reduced(kind, node, axes, wide, result)


def _filled(out, value):
    node = Node(out.dtype, tuple(out.shape), "cast", (casted(number(value), out.dtype),))
    return compute(node, out)


def where(condition, x, y):
    """Elements of two arrays by a third."""
    c, x, y = node_of(condition), node_of(x), node_of(y)
    probe = [n.operands[0] if n.op == "number" else np.empty(0, n.dtype) for n in (x, y)]
    dtype = np.result_type(*probe)
    return Array(operation("where", (c, x, y), (np.dtype(bool), dtype, dtype), dtype, Run.now().line()))


def accumulate(op, a, axis=None, dtype=None):
    node = node_of(a)
    if axis is not None:
        axis, = _axes(axis, len(node.shape))
    like = np.cumsum if op == "add" else np.cumprod
    result = like(np.ones(1, node.dtype), **({} if dtype is None else {"dtype": dtype})).dtype
    return Array(_folds.accumulated(op, node, axis, result))


def _copied(a):
    node = node_of(a)
    return compute(Node(node.dtype, node.shape, "cast", (node,)), device_array(node.shape, node.dtype))


def sort(a, axis=-1, places=False):
    """A sorted copy, or the places that sort it, equal ones in their order."""
    made = _copied(a)
    if axis is None:
        made, axis = made.reshape(-1), -1
    if made.dtype.kind == "c":
        raise refused("sorting complex numbers", ON_HOST)
    axis, = _axes(axis, made.ndim)
    if axis != made.ndim - 1:
        return Array(in_memory(sort(Array(in_memory(_swapped(made, axis))), -1, places)._swapped_memory(axis)))
    rows = made.reshape((-1, made.shape[-1])) if made.size else made
    index = None
    if places:
        index = device_array(made.shape, np.int64)
        if made.size:
            _places(index)
    if made.size and made.shape[-1] > 1:
        _folds.sorted_rows(rows, None if index is None else index.reshape(rows.shape))
    return Array(in_memory(made if index is None else index))


def _places(index):
    n = index.shape[-1]
    row = Node(np.dtype(np.int64), (n,), "range", (number(np.int64(0)), number(np.int64(1))))
    compute(Node(row.dtype, tuple(index.shape), "cast", (row,)), index)


def _swapped(array, axis):
    base = array._like()
    return array._view(base.swapaxes(axis, -1), base)


class Array(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of the device in a function that runs for one: as one of NumPy's, but what is done with it is computed when it is stored, reduced, indexed or given back."""

    __array_priority__ = 1000
    # Comparisons give arrays, which says nothing about identity.
    __hash__ = object.__hash__

    def __init__(self, node):
        self._node = node
        run = Run.now()
        if node.value is None and run is not None:
            run.pending[id(self)] = self

    @property
    def _memory(self):
        return compute(self._node)

    def _swapped_memory(self, axis):
        return _swapped(self._memory, axis)

    # ---- what it looks like

    @property
    def shape(self):
        return self._node.shape

    @property
    def dtype(self):
        return np.dtype(self._node.dtype)

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def strides(self):
        return self._memory.strides

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __repr__(self):
        return repr(self.copy_to_host()[()])

    def __str__(self):
        return str(self.copy_to_host()[()])

    def __format__(self, spec):
        return format(self.copy_to_host()[()], spec)

    @property
    def __cuda_array_interface__(self):
        # Whoever asks may write.
        memory = self._memory
        Run.now().settle(memory)
        return memory.__cuda_array_interface__

    # ---- numbers

    def item(self):
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        if self._node.op == "number":
            return np.asarray(self._node.operands[0]).item()
        if self._node.op == "cast" and (of := self._node.operands) and of[0].value is not None and of[0].dtype == self.dtype:
            return of[0].value.copy_to_host().item()
        return self._memory.copy_to_host().item()

    def _one(self):
        if self.ndim:
            raise refused("an array as one number", "index the element that is meant, or reduce the array")
        return self.item()

    def __bool__(self):
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
        return bool(self.item())

    def __float__(self):
        return float(self._one())

    def __int__(self):
        return int(self._one())

    def __complex__(self):
        return complex(self._one())

    def __index__(self):
        if self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._one()

    def copy_to_host(self):
        return self._memory.copy_to_host()

    def __array__(self, dtype=None, copy=None):
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype)

    # ---- NumPy's functions

    def __array_ufunc__(self, f, method, *inputs, out=None, dtype=None, axis=0, keepdims=False, **rest):
        if rest:
            raise refused(f"np.{f.__name__} with {sorted(rest)[0]}=", ON_HOST)
        if method == "reduce" and f.__name__ in _REDUCES:
            return reduce(_REDUCES[f.__name__], inputs[0], axis, dtype, keepdims)
        if method == "accumulate" and f.__name__ in ("add", "multiply"):
            return accumulate(f.__name__, inputs[0], axis, dtype)
        if method != "__call__":
            raise refused(f"np.{f.__name__}.{method}", ON_HOST)
        if f is np.matmul:
            from ._functions import product
            return product(*inputs)
        if f is np.divmod and out is None:
            return np.floor_divide(*inputs), np.remainder(*inputs)
        made = ufunc(f, inputs, dtype)
        if out is None:
            return Array(made)
        target, = out
        if not isinstance(target, Array):
            raise refused("a result put into an array of the host", "make it with np.empty_like() of an array of the device")
        if not np.can_cast(made.dtype, target.dtype, "same_kind"):
            raise np._core._exceptions._UFuncOutputCastingError(f, "same_kind", made.dtype, target.dtype, 0)
        target._put(made)
        return target

    def __array_function__(self, f, types, args, kwargs):
        from ._functions import call
        return call(f, args, kwargs)

    def __pow__(self, power):
        # As NumPy has it for these numbers.
        if type(power) in (int, float) and (f := {1: np.positive, 2: np.square, **({0.5: np.sqrt, -1: np.reciprocal} if self.dtype.kind in "fc" else {})}.get(power)) and (type(power) is int or self.dtype.kind in "fc") and self.dtype != np.bool_:
            return f(self)
        if type(power) is int and power < 0 and self.dtype.kind in "iu":
            raise ValueError("Integers to negative integer powers are not allowed.")
        return np.power(self, power)

    # ---- elements

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if any(isinstance(i, (Array, np.ndarray, list)) and (not isinstance(i, Array) or i.ndim) for i in index):
            raise refused("an array as an index", "choose with np.where(condition, a, b), or gather in a loop over prange")
        index = tuple(i.__index__() if isinstance(i, Array) else i for i in index)
        memory = self._memory
        base = memory._like()
        full = index if Ellipsis in index else index + (Ellipsis,)
        view = in_memory(memory._view(base[full], base))
        # One element is what is there now, and no part of the array.
        return Array(view if view.shape or Ellipsis in index else Node(view.dtype, (), "cast", (view,), line=Run.now().line()))

    def __setitem__(self, index, value):
        if isinstance(index, Array) and index.dtype == np.bool_ and index.shape == self.shape:
            value = node_of(value)
            if value.shape not in ((), self.shape):
                raise refused("an array put where a mask is true", "write x[:] = np.where(mask, values, x) with an array of x's shape")
            value = casted(value, self.dtype)
            self._put(operation("where", (index._node, value, self._node), (np.dtype(bool), self.dtype, self.dtype), self.dtype, Run.now().line()))
            return
        index = index if isinstance(index, tuple) else (index,)
        self[index if Ellipsis in index else (*index, Ellipsis)]._put(node_of(value))

    def _put(self, node):
        """Takes the elements of a node, in place."""
        if self._node.value is None:
            # Nobody has seen its memory.
            node = casted(node, self.dtype)
            if np.broadcast_shapes(node.shape, self.shape) != self.shape:
                raise ValueError(f"non-broadcastable output operand with shape {self.shape} doesn't match the broadcast shape {np.broadcast_shapes(node.shape, self.shape)}")
            self._node = node if node.shape == self.shape else Node(self.dtype, self.shape, "cast", (node,))
            Run.now().pending[id(self)] = self
            return
        target = self._node.value
        shape = tuple(target.shape)
        given = node.shape
        while len(given) > len(shape) and given[0] == 1:
            given = given[1:]
        if given != node.shape:
            node = in_memory(compute(node).reshape(given))
        try:
            fits = np.broadcast_shapes(given, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"could not broadcast input array from shape {node.shape} into shape {shape}")
        if target.size == 0:
            return
        if node.weak():
            node = casted(node, target.dtype)
        if any(_meet(m, target) and not _alike(m, target) for m in _nodes.memories(node)):
            node = in_memory(_copied(Array(node)))
        # What reads the elements as they are is computed first; the new ones may be computed of them.
        Run.now().settle(target, True)
        if node.shape != shape or node.value is not None or node.op == "number":
            node = Node(node.dtype, shape, "cast", (node,), line=node.line)
        compute(node, target)

    # ---- methods

    def astype(self, dtype, copy=True):
        return Array(Node(np.dtype(dtype), self.shape, "cast", (self._node,), line=Run.now().line()))

    def copy(self, order="C"):
        return Array(in_memory(_copied(self)))

    def fill(self, value):
        self._put(node_of(value))

    def reshape(self, *shape, order="C"):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if order != "C":
            raise refused("reshape() in another order than C", ON_HOST)
        shape = tuple(int(n) for n in shape)
        if -1 in shape:
            rest = int(np.prod([n for n in shape if n != -1], dtype=np.int64))
            shape = tuple(self.size // max(rest, 1) if n == -1 else n for n in shape)
        if int(np.prod(shape, dtype=np.int64)) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {shape}")
        memory = self._memory
        if not memory.is_c_contiguous():
            memory = _copied(self)
        return Array(in_memory(memory._over(memory._address, memory.dtype, shape, None, memory._owner, memory.stream)))

    def ravel(self, order="C"):
        return self.reshape(-1)

    def flatten(self, order="C"):
        return Array(in_memory(_copied(self))).reshape(-1)

    def _seen(self, change):
        memory = self._memory
        base = memory._like()
        return Array(in_memory(memory._view(change(base), base)))

    def transpose(self, *axes):
        return self._seen(lambda b: b.transpose(*axes))

    @property
    def T(self):
        return self.transpose()

    def swapaxes(self, a, b):
        return self._seen(lambda base: base.swapaxes(a, b))

    def squeeze(self, axis=None):
        return self._seen(lambda b: b.squeeze(axis))

    def _part(self, name):
        if self.dtype.kind != "c":
            return self if name == "real" else Array(Node(self.dtype, self.shape, "cast", (casted(number(0), self.dtype),)))
        return Array(operation(name, (self._node,), (self.dtype,), np.empty(0, self.dtype).real.dtype, Run.now().line()))

    @property
    def real(self):
        return self._part("real")

    @property
    def imag(self):
        return self._part("imag")

    def conj(self):
        return np.conjugate(self)

    conjugate = conj

    def cumsum(self, axis=None, dtype=None):
        return accumulate("add", self, axis, dtype)

    def cumprod(self, axis=None, dtype=None):
        return accumulate("multiply", self, axis, dtype)

    def sort(self, axis=-1):
        self._put(sort(self, axis)._node)

    def argsort(self, axis=-1, kind=None):
        return sort(self, axis, True)

    def clip(self, min=None, max=None):
        return np.clip(self, min, max)

    def round(self, decimals=0):
        return np.round(self, decimals)

    def dot(self, other):
        return np.dot(self, other)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise refused(f"the attribute {name} of arrays", ON_HOST)


def _method(kind):
    def method(self, axis=None, dtype=None, keepdims=False):
        return reduce(kind, self, axis, dtype, keepdims)

    method.__name__ = kind
    return method


for _kind in _LIKE.keys() - {"fmin", "fmax"}:
    setattr(Array, _kind, _method(_kind))
for _kind in ("mean", "var", "std", "ptp"):
    setattr(Array, _kind, (lambda name: lambda self, *args, **kwargs: getattr(np, name)(self, *args, **kwargs))(_kind))

_REDUCES = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "logical_or": "any", "logical_and": "all", "fmin": "fmin", "fmax": "fmax"}
