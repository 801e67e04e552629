"""`njit(target="cuda")`: functions of arrays of a device.

Python runs the function, with arrays that put off what is done with them (`_lazy`), and the loops over `prange` in it are kernels (`_loops`). What is a module or a function of NumPy's to the program is one here that makes arrays of the device.
"""

import functools
import types

import numpy as np

from .. import _tierup
from ._arrays import as_cuda_array, device_array, is_cuda_array, to_device
from ._folds import matrix_product
from ._lazy import ON_HOST, Array, Run, accumulate, entered, node_of, reduce, refused, sort, where
from ._nodes import Node, casted, compute, compute_all, in_memory, number

# ---------------------------------------------------------------- NumPy's functions of arrays

_called = {}


def _is(*functions):
    def known(made):
        _called.update(dict.fromkeys(functions, made))
        return made
    return known


def call(f, args, kwargs):
    """What a function of NumPy's gives for arrays of a device."""
    if f not in _called:
        if any(a.ndim for v in (*args, *kwargs.values()) for a in (v if isinstance(v, (tuple, list)) else (v,)) if isinstance(a, Array)):
            raise refused(f"{f.__module__.replace('numpy', 'np', 1)}.{f.__name__}()", ON_HOST)
        # Of numbers the host computes it.
        number_of = lambda v: v.copy_to_host()[()] if isinstance(v, Array) else type(v)(map(number_of, v)) if type(v) in (tuple, list) else v
        return f(*map(number_of, args), **{k: number_of(v) for k, v in kwargs.items()})
    return _called[f](*args, **{k: v for k, v in kwargs.items() if v is not np._NoValue})


def _reduction(kind):
    def made(a, axis=None, dtype=None, out=None, keepdims=False, **rest):
        if out is not None or rest:
            raise refused(f"np.{kind}() with {'out' if out is not None else sorted(rest)[0]}=", ON_HOST)
        return reduce(kind, a, axis, dtype, bool(keepdims))
    return made


for _kind, _functions in {"sum": [np.sum], "prod": [np.prod], "min": [np.min, np.amin], "max": [np.max, np.amax], "any": [np.any], "all": [np.all], "argmin": [np.argmin], "argmax": [np.argmax]}.items():
    _is(*_functions)(_reduction(_kind))


def _count(a, axis):
    shape = np.shape(a)
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return int(np.prod([shape[d] for d in axes], dtype=np.int64))


@_is(np.mean)
def _mean(a, axis=None, dtype=None, keepdims=False):
    given = a.dtype
    wide = np.dtype(dtype or (np.float64 if given.kind in "iub" else np.float32 if given == np.float16 else given))
    total = reduce("sum", a, axis, wide, bool(keepdims))
    made = np.true_divide(total, wide.type(_count(a, axis)))
    return made.astype(np.float16) if given == np.float16 and dtype is None else made


@_is(np.var)
def _var(a, axis=None, dtype=None, ddof=0, keepdims=False):
    away = a - _mean(a, axis, dtype, True)
    square = (away * np.conjugate(away)).real if away.dtype.kind == "c" else away * away
    total = reduce("sum", square, axis, None, bool(keepdims))
    return np.true_divide(total, total.dtype.type(max(_count(a, axis) - ddof, 0)))


@_is(np.std)
def _std(a, axis=None, dtype=None, ddof=0, keepdims=False):
    return np.sqrt(_var(a, axis, dtype, ddof=ddof, keepdims=keepdims))


@_is(np.ptp)
def _ptp(a, axis=None, keepdims=False):
    return reduce("max", a, axis, None, bool(keepdims)) - reduce("min", a, axis, None, bool(keepdims))


@_is(np.count_nonzero)
def _count_nonzero(a, axis=None, keepdims=False):
    return reduce("sum", a != 0, axis, None, keepdims)


_is(np.where)(lambda condition, *xy: where(condition, *xy) if xy else _nonzero())


def _nonzero():
    raise refused("np.where() of a condition alone", "where things are differs in number: count with np.count_nonzero, or do it on the host")


@_is(np.cumsum)
def _cumsum(a, axis=None, dtype=None):
    return accumulate("add", a, axis, dtype)


@_is(np.cumprod)
def _cumprod(a, axis=None, dtype=None):
    return accumulate("multiply", a, axis, dtype)


@_is(np.sort)
def _sort(a, axis=-1, kind=None):
    return sort(a, axis)


@_is(np.argsort)
def _argsort(a, axis=-1, kind=None):
    return sort(a, axis, True)


@_is(np.clip)
def _clip(a, a_min=None, a_max=None, *, min=None, max=None):
    low, high = a_min if a_min is not None else min, a_max if a_max is not None else max
    made = a if low is None else np.maximum(a, low)
    return made if high is None else np.minimum(made, high)


@_is(np.round, np.around)
def _round(a, decimals=0):
    if a.dtype.kind in "iub":
        if decimals >= 0:
            return a.copy()
        raise refused("np.round() of integers with negative decimals", ON_HOST)
    if decimals == 0:
        return np.rint(a)
    power = 10.0 ** abs(decimals)
    return np.rint(a * power) / power if decimals > 0 else np.rint(a / power) * power


@_is(np.dot)
def dot(a, b):
    a, b = _array(a), _array(b)
    return product(a, b) if a.ndim and b.ndim else a * b


@_is(np.matmul)
def product(a, b):
    """Products of vectors and matrices."""
    a, b = _array(a), _array(b)
    dtype = np.result_type(a.dtype, b.dtype)
    if a.ndim > 2 or b.ndim > 2 or dtype == np.bool_:
        raise refused("a product of these arrays", "loop over matrices, and convert truth values to numbers")
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[0]:
        raise ValueError(f"matmul: shapes {a.shape} and {b.shape} do not go together")
    if b.ndim == 1:
        return (a * b).sum(axis=-1, dtype=dtype)
    if a.ndim == 1:
        return (a[:, None] * b).sum(axis=0, dtype=dtype)
    return Array(in_memory(matrix_product(compute(casted(a._node, dtype)), compute(casted(b._node, dtype)))))


def _array(a):
    return a if isinstance(a, Array) else Array(node_of(a))


@_is(np.outer)
def _outer(a, b):
    return _array(a).ravel()[:, None] * _array(b).ravel()


@_is(np.linalg.norm)
def _norm(a, ord=None, axis=None, keepdims=False):
    if ord not in (None, 2) or ord == 2 and a.ndim != 1:
        raise refused(f"np.linalg.norm() with ord={ord!r}", ON_HOST)
    a = a if a.dtype.kind in "fc" else a.astype(np.float64)
    square = a.real * a.real + a.imag * a.imag if a.dtype.kind == "c" else a * a
    return np.sqrt(square.sum(axis=axis, keepdims=keepdims))


@_is(np.isclose)
def _isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = _array(a), _array(b)
    near = (abs(a - b) <= atol + rtol * abs(b)) & np.isfinite(b) | (a == b)
    return near | np.isnan(a) & np.isnan(b) if equal_nan else near


@_is(np.allclose)
def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(_isclose(a, b, rtol, atol, equal_nan).all())


def _without_nan(value, f):
    return lambda a, axis=None, dtype=None, keepdims=False: f(np.where(np.isnan(a), a.dtype.type(value), a) if a.dtype.kind in "fc" else a, axis=axis, dtype=dtype, keepdims=bool(keepdims))


_is(np.nansum)(_without_nan(0, np.sum))
_is(np.nanprod)(_without_nan(1, np.prod))
_is(np.nanmin)(lambda a, axis=None, keepdims=False: reduce("fmin", a, axis, None, bool(keepdims)))
_is(np.nanmax)(lambda a, axis=None, keepdims=False: reduce("fmax", a, axis, None, bool(keepdims)))


@_is(np.nanmean)
def _nanmean(a, axis=None, keepdims=False):
    return np.nansum(a, axis=axis, keepdims=keepdims) / (~np.isnan(a)).sum(axis=axis, keepdims=bool(keepdims)) if a.dtype.kind in "fc" else _mean(a, axis, None, bool(keepdims))


@_is(np.diff)
def _diff(a, n=1, axis=-1):
    for _ in range(n):
        at = [slice(None)] * a.ndim
        after, before = list(at), list(at)
        after[axis], before[axis] = slice(1, None), slice(None, -1)
        a = a[tuple(after)] - a[tuple(before)]
    return a


_is(np.copy)(lambda a, order="K": a.copy())
_is(np.ravel)(lambda a, order="C": a.ravel(order))
_is(np.reshape)(lambda a, shape, order="C": a.reshape(shape, order=order))
_is(np.transpose)(lambda a, axes=None: a.transpose(*([] if axes is None else [axes])))
_is(np.swapaxes)(lambda a, axis1, axis2: a.swapaxes(axis1, axis2))
_is(np.squeeze)(lambda a, axis=None: a.squeeze(axis))
_is(np.expand_dims)(lambda a, axis: a._seen(lambda b: np.expand_dims(b, axis)))
_is(np.broadcast_to)(lambda a, shape: a._seen(lambda b: np.broadcast_to(b, shape)))
_is(np.flip)(lambda a, axis=None: a._seen(lambda b: np.flip(b, axis)))
_is(np.real)(lambda a: a.real)
_is(np.imag)(lambda a: a.imag)
_is(np.shape)(lambda a: a.shape)
_is(np.ndim)(lambda a: a.ndim)
_is(np.size)(lambda a, axis=None: a.size if axis is None else a.shape[axis])


@_is(np.empty_like)
def _empty_like(a, dtype=None, order="K", subok=True, shape=None):
    return empty(a.shape if shape is None else shape, a.dtype if dtype is None else dtype)


def _filled_like(value):
    return lambda a, dtype=None, order="K", subok=True, shape=None: full(a.shape if shape is None else shape, value, a.dtype if dtype is None else dtype)


_is(np.zeros_like)(_filled_like(0))
_is(np.ones_like)(_filled_like(1))
_is(np.full_like)(lambda a, fill_value, dtype=None, order="K", subok=True, shape=None: full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype))


@_is(np.concatenate)
def _concatenate(arrays, axis=0):
    arrays = [_array(a) for a in arrays]
    dtype = np.result_type(*(a.dtype for a in arrays))
    shape = list(arrays[0].shape)
    shape[axis] = sum(a.shape[axis] for a in arrays)
    out, first = empty(tuple(shape), dtype), 0
    for a in arrays:
        at = [slice(None)] * out.ndim
        at[axis] = slice(first, first + a.shape[axis])
        out[tuple(at)] = a
        first += a.shape[axis]
    return out


# ---------------------------------------------------------------- new arrays

def empty(shape, dtype=np.float64, order="C"):
    return Array(in_memory(device_array(shape, np.dtype(dtype), order=order)))


def full(shape, fill_value, dtype=None, order="C"):
    node = node_of(fill_value)
    dtype = np.dtype(dtype) if dtype is not None else np.asarray(fill_value).dtype if node.op == "number" else node.dtype
    shape = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    # Not computed before somebody looks, as everything else.
    return Array(Node(dtype, tuple(int(n) for n in shape), "cast", (casted(node, dtype),)))


def _arange(start, stop=None, step=1, dtype=None):
    start, stop = (0, start) if stop is None else (start, stop)
    like = np.arange(start, stop, step, dtype) if dtype is not None else None
    dtype = like.dtype if like is not None else np.result_type(*(np.asarray(x).dtype for x in (start, stop, step)))
    n = max(0, -int((start - stop) // step)) if dtype.kind in "iu" else max(0, int(np.ceil((stop - start) / step)))
    first = dtype.type(start)
    delta = dtype.type(start + step) - first
    return Array(Node(dtype, (n,), "range", (number(first), number(delta)), line=Run.now().line()))


def _linspace(start, stop, num=50, endpoint=True):
    # As many numbers as Python's own takes no time.
    return Array(node_of(np.linspace(start, stop, num, endpoint)))


def _asarray(a, dtype=None, order=None, copy=None):
    a = a if isinstance(a, Array) else Array(in_memory(to_device(np.asarray(a, dtype))))
    return a if dtype is None or a.dtype == np.dtype(dtype) else a.astype(dtype)


class _NumPy(types.ModuleType):
    """NumPy with functions that make arrays of the device."""

    def __getattr__(self, name):
        return getattr(np, name)


numpy = _NumPy("numpy")
numpy.__dict__.update(asarray=_asarray, ascontiguousarray=lambda a, dtype=None: _asarray(a, dtype), array=lambda a, dtype=None, copy=True: _asarray(a, dtype).copy(), empty=empty, full=full, arange=_arange, linspace=_linspace, zeros=lambda shape, dtype=np.float64, order="C": full(shape, 0, np.dtype(dtype)),
                      ones=lambda shape, dtype=np.float64, order="C": full(shape, 1, np.dtype(dtype)))
_stands_for = {id(np): numpy, **{id(getattr(np, name)): getattr(numpy, name) for name in ("empty", "full", "arange", "linspace", "zeros", "ones", "array", "asarray", "ascontiguousarray")}}


def _seen(value):
    """What a global of the program is to a function that runs for a device."""
    if (here := _stands_for.get(id(value))) is not None:
        return here
    if isinstance(value, _tierup.Dispatcher) or isinstance(value, Function):
        return _Called(value)
    return value


class _Called:
    """A compiled function that another one calls: with arrays of the device it runs for it as well."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        if not any(isinstance(a, Array) for a in (*args, *kwargs.values())):
            return self.function(*args, **kwargs)
        return made_for_device(getattr(self.function, "py_func"))(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.function, name)


class _Globals(dict):
    """Globals of a program, as they are now, but for what is another thing here."""

    def __init__(self, real):
        super().__init__(__builtins__=real.get("__builtins__", __builtins__))
        self.real = real

    def __getitem__(self, name):
        return _seen(self.real[name])

    def __contains__(self, name):
        return name in self.real


@functools.lru_cache(1024)
def _prepared(function):
    """The function with its loops over `prange` as kernels."""
    from ._loops import with_kernels
    return with_kernels(function)


def made_for_device(function):
    """A function of the program as it runs for a device."""
    function = _prepared(function)
    cells = tuple(types.CellType(_seen(c.cell_contents)) if _has_value(c) else c for c in function.__closure__ or ())
    made = types.FunctionType(function.__code__, _Globals(function.__globals__), function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    run = Run.now()
    if run is not None:
        run.codes.add(made.__code__)
    return made


def _has_value(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


# ---------------------------------------------------------------- calls

def _taken(run, value, known):
    """An argument: arrays as ones that put off, everything else as it is."""
    if isinstance(value, np.ndarray):
        value = run.copied(value) if value.dtype.kind in "biufc" else value
    if is_cuda_array(value):
        memory = as_cuda_array(value)
        array = Array(in_memory(memory))
        known.append((memory, value))
        return array
    if type(value) in (tuple, list):
        return type(value)(_taken(run, v, known) for v in value)
    return value


def _results(value, found):
    if isinstance(value, Array):
        found.append(value)
    elif isinstance(value, (tuple, list)):
        for v in value:
            _results(v, found)
    elif isinstance(value, dict):
        for v in value.values():
            _results(v, found)


def _given(value, known, to_host):
    if isinstance(value, Array):
        if not value.shape:
            return value.item()
        memory = value._node.value
        for mine, theirs in known:
            if mine is memory:
                return theirs
        return memory.copy_to_host() if to_host else memory
    if isinstance(value, tuple):
        parts = [_given(v, known, to_host) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [_given(v, known, to_host) for v in value]
    if isinstance(value, dict):
        return {k: _given(v, known, to_host) for k, v in value.items()}
    return value.item() if isinstance(value, np.generic) else value


class Function:
    """A function of arrays of a device: what it computes with them are kernels, one for each chain of operations on elements and a reduction of it. `py_func` is the function itself."""

    def __init__(self, function, options):
        functools.update_wrapper(self, function)
        self.py_func, self.targetoptions = function, dict(options)

    def __call__(self, *args, **kwargs):
        if Run.now() is not None and any(isinstance(a, Array) for a in (*args, *kwargs.values())):
            return made_for_device(self.py_func)(*args, **kwargs)
        run, known = Run(), []
        with entered(run):
            try:
                args = [_taken(run, a, known) for a in args]
                kwargs = {k: _taken(run, v, known) for k, v in kwargs.items()}
                copies = {id(memory): array for array, memory in run.host.values()}
                to_host = all(id(theirs) in copies for _, theirs in known)
                known = [(memory, copies.get(id(theirs), theirs)) for memory, theirs in known]
                made = made_for_device(self.py_func)(*args, **kwargs)
                # Nobody holds what the function has not given back.
                del args, kwargs
                found = []
                _results(made, found)
                _compute(found)
                return _given(made, known, to_host)
            finally:
                for array, memory in run.host.values():
                    if id(memory._owner) in run.written:
                        memory.copy_to_host(array)

    def __reduce__(self):
        from .._pickle import reduce_device_function
        return reduce_device_function(self)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"<CUDA function {self.__qualname__}>"


def _compute(arrays):
    """Puts results into memory, those of one shape with one kernel."""
    groups = {}
    for a in arrays:
        if a._node.value is None and a._node.op != "number":
            groups.setdefault(a.shape, {})[id(a._node)] = a._node
    for nodes in groups.values():
        compute_all(list(nodes.values()))
    for a in arrays:
        if a._node.value is None and a.shape:
            compute(a._node)


def function(what, options):
    """What `njit(target="cuda")` makes."""
    unknown = {k for k, v in options.items() if v not in (None, False)} - {"target", "nopython", "cache", "parallel", "nogil"}
    if unknown:
        raise NotImplementedError(f"njit(target=\"cuda\") has no {sorted(unknown)[0]}=: kernels of a device have their own options, cuda.jit")
    return Function(what, options)
