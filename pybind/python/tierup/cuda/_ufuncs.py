"""`vectorize` and `guvectorize` with `target="cuda"`: functions of numbers, or of small arrays, over arrays on the device."""

import numpy as np

from .. import _tierup
from .._jit import njit
from ._arrays import DeviceNDArray, as_cuda_array, device_array, is_cuda_array, to_device
from ._intrinsics import grid
from ._kernel import _TAKEN, jit
from ._reduce import Reduce

_THREADS = 256

# Those of `cuda.jit` that say something of a ufunc; `nopython` is for programs written for Numba.
_OPTIONS = (_TAKEN - {"device", "extensions", "inline", "link"}) | {"nopython"}

# What operands of Python's own numbers go with, as in NumPy: kinds of dtypes.
_WEAK = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}


def _wide(array, shape):
    """A view of an array on the device with the shape, by NumPy's rules of broadcasting."""
    if array.shape == tuple(shape):
        return array
    base = array._like()
    return array._view(np.broadcast_to(base, shape), base)


def _on_device(value, stream):
    if is_cuda_array(value):
        return as_cuda_array(value)
    return to_device(np.ascontiguousarray(value), stream)


def _kernel_options(options):
    """The options of a ufunc's kernels, which divide as NumPy's ufuncs do where nobody says otherwise; TypeError for others."""
    unknown = sorted(options.keys() - _OPTIONS - {"meaning"})
    if unknown:
        raise TypeError(f"The following target options are not supported: {', '.join(map(repr, unknown))}")
    if not options.get("nopython", True):
        raise TypeError("nopython flag must be True")
    return {"error_model": "numpy", **{k: v for k, v in options.items() if k not in ("nopython", "meaning")}}


class _Ufunc:
    """What both kinds share: a function with its loops by dtypes."""

    def __init__(self, function, signatures, core, options):
        self.function, self.__name__, self.__doc__ = function, function.__name__, function.__doc__
        self.__module__, self.__qualname__, self._given = function.__module__, function.__qualname__, (signatures, core, options)
        self._options = _kernel_options(options)
        # What numbers mean to it is its own.
        self._compiled, self._loops, self._kernels = njit(**{k: options[k] for k in ("meaning",) if k in options})(function), [], {}

    def _made(self, source, space):
        exec(source, space)
        return jit(**self._options)(space["kernel"])

    @property
    def types(self):
        """Loops of signatures, as NumPy writes them."""
        return ["".join(d.char for d in ins) + "->" + "".join(d.char for d in outs) for ins, outs in self._loops]

    def _operands(self, args):
        """Arrays of the device or of NumPy's, and which operands are Python's own numbers."""
        weak = {k: a for k, a in enumerate(args) if type(a) in _WEAK}
        return [as_cuda_array(a) if is_cuda_array(a) else np.asarray(a) for a in args], weak

    def _loop(self, dtypes, weak):
        """The loop that NumPy would choose; where it would have none, one that numbers of Python's own go with."""
        others = [d for k, d in enumerate(dtypes) if k not in weak]
        known = tuple(np.result_type(*others, weak[k]) if k in weak and others else d for k, d in enumerate(dtypes))
        rules = (
            lambda k, to: known[k] == to,
            lambda k, to: np.can_cast(known[k], to),
            lambda k, to: to.kind in _WEAK[type(weak[k])] if k in weak else np.can_cast(dtypes[k], to),
        )
        for rule in rules:
            for loop in self._loops:
                if all(rule(k, to) for k, to in enumerate(loop[0])):
                    return loop
        raise TypeError(f"{self.__name__}() has no loop for arrays of {', '.join(map(str, dtypes))}: there are {self.types}")

    def _finished(self, outs, hosts, on_device, stream):
        """Results, copied to the host where all operands were there."""
        results = []
        for made, host in zip(outs, hosts):
            if host is not None and not is_cuda_array(host):
                made.copy_to_host(host, stream)
                results.append(host)
            elif host is not None or on_device:
                results.append(made)
            else:
                results.append(made.copy_to_host(stream=stream))
        if all(isinstance(r, np.ndarray) and r.ndim == 0 for r in results):
            results = [r[()] for r in results]
        return results[0] if len(results) == 1 else tuple(results)

    def __reduce__(self):
        from .._pickle import reduce_device_ufunc
        return reduce_device_ufunc(self)

    def __repr__(self):
        return f"<CUDA {type(self).__name__.strip('_').lower()} {self.__name__}>"


class Elementwise(_Ufunc):
    """A function of numbers, for arrays: `f(a, b, out=None, stream=0)`. Arrays of the host are copied to and fro; where one is on the device, so is the result, and nobody waits."""

    nout = 1

    def __init__(self, function, signatures, options):
        super().__init__(function, signatures, None, options)
        self.nin = function.__code__.co_argcount
        for args, ret in signatures:
            if len(args) != self.nin:
                raise TypeError(f"the signature gives types of {len(args)} arguments, but {self.__name__}() takes {self.nin}")
            texts = [t._tierup_type_ for t in args]
            ret = _tierup.result_type(self._compiled, texts) if ret is None else ret._tierup_type_
            self._loops.append((tuple(map(_dtype, texts)), (_dtype(ret),)))

    def _chosen(self, dtypes, weak):
        if self._loops:
            return self._loop(dtypes, weak)
        return dtypes, (_dtype(_tierup.result_type(self._compiled, [d.name for d in dtypes])),)

    def _kernel(self, ins, numbers, ndim):
        key = ins, numbers, ndim
        if key not in self._kernels:
            names = [f"x{k}" for k in range(self.nin)]
            axes = [f"i{d}" for d in range(max(ndim, 1))]
            lines = [f"def kernel(n, {', '.join(names)}, out):", "    i = grid(1)", "    if i < n:", "        i0 = i"]
            for d in range(ndim - 1, 0, -1):
                lines += [f"        i{d} = i0 % out.shape[{d}]", f"        i0 //= out.shape[{d}]"]
            at = f"[{', '.join(axes)}]"
            operands = [f"t{k}({name}{'' if k in numbers else at})" for k, name in enumerate(names)]
            lines.append(f"        out{at} = function({', '.join(operands)})")
            space = {"grid": grid, "function": self._compiled, **{f"t{k}": d.type for k, d in enumerate(ins)}}
            self._kernels[key] = self._made("\n".join(lines), space)
        return self._kernels[key]

    def __call__(self, *args, out=None, stream=0):
        if len(args) == self.nin + 1:
            if out is not None:
                raise ValueError("cannot specify argument 'out' as both positional and keyword")
            *args, out = args
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} arrays, not {len(args)}")
        on_device = any(map(is_cuda_array, args))
        args, weak = self._operands(args)
        ins, (result,) = self._chosen(tuple(np.dtype(a.dtype) for a in args), weak)
        shape = np.broadcast_shapes(*(tuple(a.shape) for a in args))
        made = _on_device(out, stream) if out is not None else device_array(shape, result, stream=stream)
        if tuple(made.shape) != shape or made.dtype != result:
            raise ValueError(f"out has the shape {tuple(made.shape)} and the dtype {made.dtype}; the result has {shape} and {result}")
        n = made.size
        numbers = tuple(k for k, a in enumerate(args) if not is_cuda_array(a) and a.ndim == 0)
        given = [a[()] if k in numbers else _wide(_on_device(a, stream), shape) for k, a in enumerate(args)]
        flat = all(isinstance(a, DeviceNDArray) is False or a.is_c_contiguous() for a in [*given, made])
        target = made
        if flat:
            given, target = [a if k in numbers else a.ravel() for k, a in enumerate(given)], made.ravel()
        if n:
            self._kernel(ins, numbers, target.ndim)[-(-n // _THREADS), _THREADS, stream](n, *given, target)
        return self._finished([made], [out], on_device, stream)

    def reduce(self, arr, init=0, stream=0):
        """Reduces an array of one dimension by the function, which takes two numbers."""
        if self.nin != 2:
            raise TypeError(f"{self.__name__}() takes {self.nin} numbers, and a reduction needs a function of two")
        return Reduce(self.function)(arr, init=init, stream=stream)


def _dtype(text):
    return np.dtype({"bool": "bool"}.get(text, text))


class Generalised(_Ufunc):
    """A function of small arrays, over the other dimensions of arrays: `f(a, b, out=None, stream=0)`. What it does with the places of arrays is as for `Elementwise`."""

    def __init__(self, function, signatures, core, options):
        super().__init__(function, signatures, core, options)
        self.ins, self.outs = core
        self.nin, self.nout = len(self.ins), len(self.outs)
        self._boxed = {}
        for args, ret in signatures:
            if ret is not None and ret._tierup_type_ != "none":
                raise TypeError(f"guvectorized functions cannot return values: signature {args} specifies {ret} return type")
            if len(args) != self.nin + self.nout:
                raise TypeError(f"the signature gives types of {len(args)} arguments, but the layout has {self.nin + self.nout} operands")
            dtypes = tuple(_dtype(getattr(t, "dtype", t)._tierup_type_) for t in args)
            self._loops.append((dtypes[:self.nin], dtypes[self.nin:]))
            # A number may be handed over as an array of one element.
            self._boxed[dtypes[:self.nin]] = tuple(k for k, t in enumerate(args[:self.nin]) if not self.ins[k] and getattr(t, "ndim", 0))

    def _kernel(self, loop, alike):
        key = loop, alike
        if key not in self._kernels:
            names = [f"x{k}" for k in range(self.nin + self.nout)]
            boxed = self._boxed.get(loop[0], ())
            def operand(k, name, dims):
                if k >= self.nin or k in boxed:
                    return f"{name}[i]" if dims else f"{name}[i:i + 1]" if k not in alike else name
                return name if k in alike and dims else f"{name}[0]" if k in alike else f"{name}[i]"
            operands = [operand(k, name, dims) for k, (name, dims) in enumerate(zip(names, [*self.ins, *self.outs]))]
            source = f"def kernel(n, {', '.join(names)}):\n    i = grid(1)\n    if i < n:\n        function({', '.join(operands)})\n"
            self._kernels[key] = self._made(source, {"grid": grid, "function": self._compiled})
        return self._kernels[key]

    def _sizes(self, args):
        """The size of each core dimension, and the shape of the loop."""
        sizes, loops = {}, []
        for a, dims in zip(args, self.ins):
            shape = tuple(a.shape)
            if len(shape) < len(dims):
                raise ValueError(f"{self.__name__}(): an operand has {len(shape)} dimensions, and the layout asks for {len(dims)}")
            loops.append(shape[:len(shape) - len(dims)])
            for name, n in zip(dims, shape[len(shape) - len(dims):]):
                if sizes.setdefault(name, n) != n:
                    raise ValueError(f"{self.__name__}(): the dimension {name} is {sizes[name]} and {n}")
        return sizes, np.broadcast_shapes(*loops)

    def _flat(self, a, dims, loop, dtype, stream):
        """An operand with one dimension for the loop, or with 1 where it is the same at every turn."""
        core = tuple(a.shape[len(a.shape) - len(dims):])
        own = tuple(a.shape[:len(a.shape) - len(dims)])
        if a.dtype != dtype:
            a = (a.copy_to_host() if isinstance(a, DeviceNDArray) else np.asarray(a)).astype(dtype)
        if int(np.prod(own)) == 1:
            d = _on_device(a, stream)
            return (d if d.is_c_contiguous() else to_device(np.ascontiguousarray(d.copy_to_host()), stream)).reshape(core or (1,)), True
        if own != loop:
            host = a.copy_to_host() if isinstance(a, DeviceNDArray) else a
            a = np.ascontiguousarray(np.broadcast_to(host, loop + core))
        d = _on_device(a, stream)
        if not d.is_c_contiguous():
            d = to_device(np.ascontiguousarray(d.copy_to_host()), stream)
        return d.reshape((-1, *core)), False

    def __call__(self, *args, out=None, stream=0):
        outs = list(args[self.nin:]) or ([None] * self.nout if out is None else list(out) if isinstance(out, tuple) else [out])
        if len(args) > self.nin and out is not None:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        outs = [as_cuda_array(o) if is_cuda_array(o) else o for o in outs]
        n, args = len(args), args[:self.nin]
        if len(args) != self.nin or len(outs) != self.nout:
            raise TypeError(f"gufunc accepts {self.nin} positional arguments (when providing input only) or {self.nin + self.nout} positional arguments (when providing input and output). Got {n} positional argument{'' if n == 1 else 's'}.")
        on_device = any(map(is_cuda_array, args))
        args, weak = self._operands(args)
        sizes, loop = self._sizes(args)
        if self._loops:
            ins, results = self._loop(tuple(np.dtype(a.dtype) for a in args), weak)
        elif any(o is None for o in outs):
            raise TypeError(f"{self.__name__}() has no signatures: pass the arrays for its results")
        else:
            ins, results = tuple(np.dtype(a.dtype) for a in args), tuple(np.dtype(o.dtype) for o in outs)
        made, flat = [], []
        for host, dims, dtype in zip(outs, self.outs, results):
            shape = loop + tuple(sizes[d] for d in dims)
            if host is not None and (tuple(host.shape) != shape or host.dtype != dtype):
                raise ValueError(f"a result has the shape {tuple(host.shape)} and the dtype {host.dtype}; it must have {shape} and {dtype}")
            d = _on_device(host, stream) if host is not None else device_array(shape, dtype, stream=stream)
            if not d.is_c_contiguous():
                raise NotImplementedError("results of guvectorize on a device are C-contiguous")
            made.append(d)
            flat.append(d.reshape((-1, *shape[len(loop):])))
        operands = [self._flat(a, dims, loop, dtype, stream) for a, dims, dtype in zip(args, self.ins, ins)]
        n = int(np.prod(loop))
        if n:
            alike = tuple(k for k, (_, same) in enumerate(operands) if same)
            kernel = self._kernel((ins, results), alike)
            kernel[-(-n // _THREADS), _THREADS, stream](n, *(a for a, _ in operands), *flat)
        return self._finished(made, outs, on_device, stream)


def vectorized(function, signatures, options):
    """What `vectorize(target="cuda")` makes."""
    return Elementwise(function, signatures, options)


def generalised(function, signatures, core, options):
    """What `guvectorize(target="cuda")` makes."""
    return Generalised(function, signatures, core, options)
