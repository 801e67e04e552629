"""Kernels: functions that run once in every thread of a grid."""

import warnings

import numpy as np

from .. import _tierup, config
from .._jit import _engine_options
from ..errors import NumbaInvalidConfigWarning, NumbaPerformanceWarning
from ..types import Type
from ._arrays import as_cuda_array, to_device
from ._device import is_simulated, state
from ._streams import handle_of

_TAKEN = {"fastmath", "boundscheck", "error_model", "device", "inline", "debug", "opt", "lineinfo", "cache", "max_registers", "link", "launch_bounds", "overflow", "extensions", "racecheck"}

# Those that a device function leaves to the kernels that call it.
_OF_KERNELS = {"fastmath", "boundscheck", "error_model", "overflow", "max_registers", "launch_bounds", "link", "racecheck"}

# With fewer blocks most of a device has nothing to do.
_FEW_BLOCKS = 128

# Those that say what a kernel computes.
_MEANING = {"fastmath", "boundscheck", "error_model", "overflow"}


def _box(value, what, name):
    """One to three positive integers, as three; `name` is what Numba calls it."""
    value = list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(n, (int, np.integer)) for n in value):
        raise TypeError(f"{name} must be a sequence of integers, got {value}: {what} is an integer or a tuple of one to three")
    if not 1 <= len(value) <= 3:
        raise ValueError(f"{name} must be a sequence of 1, 2 or 3 integers, got {value}")
    if any(n < 1 for n in value):
        raise ValueError(f"{what} must be positive, not {value!r}")
    return [int(n) for n in value] + [1] * (3 - len(value))


class _Argument:
    """An array of the host with what is to be copied."""

    _tierup_copied_ = True

    def __init__(self, value, to, back):
        self.value, self.to, self.back = value, to, back


def In(value):
    """An array of the host that a kernel only reads: it is not copied back."""
    return _Argument(value, True, False)


def Out(value):
    """An array of the host that a kernel only writes: it is not copied to the device."""
    return _Argument(value, False, True)


def InOut(value):
    """An array of the host that is copied to the device and back, as a plain one is."""
    return _Argument(value, True, True)


def wrap_arg(value, default=InOut):
    """What says how an argument is copied, by `default` where it does not say so itself."""
    return value if isinstance(value, _Argument) else default(value)


def _warn(setting, text, level):
    """A performance warning where a program that is written for Numba has not turned it off."""
    if config.numba_setting(setting):
        warnings.warn(NumbaPerformanceWarning(text), stacklevel=level)


def prepared(args, stream):
    """The arguments of a launch with arrays of the host as new ones of the device, and those of other libraries as ours; and what is to be copied back, pairs of an array of the host and one of the device."""
    back, out = [], []
    for a in args:
        if isinstance(a, _Argument):
            value, to, wanted = a.value, a.to, a.back
        else:
            value, to, wanted = a, True, True
        names = _fields(value)
        if isinstance(value, tuple) or names:
            parts = value if names is None else [getattr(value, name) for name in names]
            inside = [_Argument(v, to, wanted) if isinstance(a, _Argument) and not isinstance(v, _Argument) else v for v in parts]
            inside, later = prepared(inside, stream)
            value = _of_parts(value, names, inside)
            back += later
        elif isinstance(value, (np.ndarray, np.void)) and not hasattr(value, "__cuda_array_interface__"):
            if not isinstance(a, _Argument):
                _warn("CUDA_WARN_ON_IMPLICIT_COPY", "Host array used in CUDA kernel will incur copy overhead to/from device.", 4)
            device = to_device(value, stream, copy=to)
            if wanted and (value.flags.writeable or isinstance(value, np.void)):
                back.append((value, device))
            value = device
        elif hasattr(value, "__cuda_array_interface__"):
            value = as_cuda_array(value)
        out.append(value)
    return tuple(out), back


def _fields(value):
    """The names of the fields of a frozen dataclass; None for everything else."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return [*type(value).__dataclass_fields__] if parameters is not None and parameters.frozen else None


def _of_parts(value, names, parts):
    """A tuple, or a frozen dataclass with fields of these names, of the class of `value` with other parts."""
    if names is None:
        return parts if type(value) is tuple else type(value)._make(parts)
    made = object.__new__(type(value))
    for name, part in zip(names, parts):
        object.__setattr__(made, name, part)
    return made


def finished(back, stream):
    """Copies results back to the host, which waits and raises what the kernel left."""
    for host, device in back:
        device.copy_to_host(host, stream)


class _Extended:
    """A launch whose arguments the kernel's extensions look at first."""

    def __init__(self, kernel, launcher, stream):
        self._kernel, self._launcher, self._stream = kernel, launcher, stream

    def __call__(self, *args):
        after, given = [], []
        for value in args:
            ty = type_of(value)
            for extension in reversed(self._kernel.extensions):
                ty, value = extension.prepare_args(ty, value, stream=self._stream, retr=after)
            given.append(value)
        self._launcher(*given)
        for put_back in after:
            put_back()


def type_of(value):
    """The type of an argument, or a type itself."""
    from .. import typeof
    if isinstance(value, Type):
        return value
    if isinstance(value, _Argument):
        value = value.value
    return as_cuda_array(value)._numba_type_ if hasattr(value, "__cuda_array_interface__") else typeof(value)


def _launcher(kernel, grid, block, stream=0, sharedmem=0):
    blocks, threads = _box(grid, "the grid", "griddim"), _box(block, "a block", "blockdim")
    for what, given, most in (("the grid", blocks, (2**31 - 1, 65535, 65535)), ("a block", threads, (1024, 1024, 64))):
        if any(n > m for n, m in zip(given, most)):
            raise ValueError(f"{what} is at most {most}, not {tuple(given)}")
    if threads[0] * threads[1] * threads[2] > 1024:
        raise ValueError(f"a block has at most 1024 threads, not {threads[0] * threads[1] * threads[2]}")
    n = blocks[0] * blocks[1] * blocks[2]
    if n < _FEW_BLOCKS:
        _warn("CUDA_LOW_OCCUPANCY_WARNINGS", f"Grid size {n} will likely result in GPU under-utilization due to low occupancy.", 4)
    made = kernel._core.configured(kernel, blocks, threads, handle_of(stream), int(sharedmem), bool(kernel.targetoptions.get("debug")))
    return _Extended(kernel, made, stream) if kernel.extensions else made


class Kernel:
    """A function that `kernel[grid, block, stream, sharedmem](*args)` runs once in every thread of a grid. `grid` (blocks) and `block` (threads) are an integer or up to three of them, `stream` a stream or 0, `sharedmem` the bytes of `shared.array(0, dtype)`."""

    def __init__(self, function, options, signatures, build=(0, [0, 0], False, False, True, []), given=None):
        self.py_func, self.targetoptions = function, dict(given or options)
        self.extensions = list(self.targetoptions.get("extensions") or ())
        self.specialized, self._specializations, self._made = len(signatures) == 1, {}, (options, build)
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(function, name, None))
        self.__wrapped__ = function
        self._core = _tierup.Kernel(_tierup.make_dispatcher(function, False, options), build)
        for signature in signatures:
            self.compile(signature)
        self._declared = [_texts(s) for s in signatures]
        if signatures:
            self._core.declare(self._declared)

    def __reduce__(self):
        from .._pickle import reduce_kernel
        return reduce_kernel(self)

    @property
    def _tierup_called_(self):
        """What another kernel calls by this one's name."""
        return self.py_func

    def __getitem__(self, configuration):
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("a kernel is launched as kernel[grid, block, stream, sharedmem](...)")
        return _launcher(self, *configuration)

    def configure(self, grid, block, stream=0, sharedmem=0):
        """As `kernel[grid, block, stream, sharedmem]`."""
        return _launcher(self, grid, block, stream, sharedmem)

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        """The kernel with as many threads as there are tasks, in blocks of `tpb` (256 unless said otherwise)."""
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        tpb = tpb or 256
        if ntasks == 0:
            return lambda *args: None
        return _launcher(self, -(-ntasks // tpb), tpb, stream, sharedmem)

    def __call__(self, *args):
        raise ValueError(f"launch configuration was not specified: a kernel needs the size of its grid, {self.__name__}[blocks, threads](...)")

    def compile(self, signature):
        """Compiles for a signature such as "(float32, float32[::1])"."""
        state()
        self._core.compile(_texts(signature))

    @property
    def signatures(self):
        """Types of arguments that it is compiled for, as texts."""
        return [tuple(types) for types, _ in self._core.overloads()]

    def ptx(self, signature, capability=None):
        """PTX for a signature and a compute capability (75, 80, 90, …; without one the device's)."""
        if capability is None:
            capability = 90 if is_simulated() else state().capability
        return self._core.ptx(_texts(signature), capability)

    def inspect_asm(self, signature=None):
        """PTX of what is compiled: for a signature, or a dict of all. In the simulator what a GPU of compute capability 9.0 would get."""
        found = _ByTypes((tuple(types), self._core.ptx(types, 90) if ptx is None else ptx) for types, ptx in self._core.overloads())
        return found if signature is None else found[signature]

    @property
    def overloads(self):
        """A dict of what is compiled, by types of arguments, as texts or types."""
        return _ByTypes((types, Overload(self, i)) for i, types in enumerate(self.signatures))

    def specialize(self, *args):
        """A kernel for arguments of these types alone, given as such or as values; the same one for the same types."""
        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        types = tuple(type_of(a) for a in args)
        key = tuple(_texts(types))
        if key not in self._specializations:
            options, build = self._made
            self._specializations[key] = Kernel(self.py_func, options, [types], build, self.targetoptions)
        return self._specializations[key]

    @property
    def specializations(self):
        """Kernels that `specialize` has made, by types of arguments."""
        return _ByTypes(self._specializations)

    def inspect_types(self, file=None):
        """Prints, or writes to `file`, for which types it is compiled."""
        for types in self.signatures:
            print(f"{self.__name__} ({', '.join(types)})", file=file)

    def inspect_llvm(self, signature=None):
        """NotImplementedError: `inspect_asm` gives the PTX."""
        raise NotImplementedError("kernels have no text of LLVM's to be looked at: inspect_asm() gives the PTX")

    def inspect_sass(self, signature=None):
        """Machine code of the device, which NVIDIA's `nvdisasm` writes out."""
        import shutil
        if shutil.which("nvdisasm") is None:
            raise RuntimeError("nvdisasm has not been found: it is part of NVIDIA's toolkit, and must be on PATH to see machine code")
        raise NotImplementedError("machine code is not looked at here: hand the PTX of inspect_asm() to ptxas and nvdisasm")

    inspect_sass_cfg = inspect_sass

    def _attribute(self, number, signature):
        values = _ByTypes((types, self._core.attribute(i, number)) for i, types in enumerate(self.signatures))
        if signature is None:
            return next(iter(values.values())) if self.specialized and len(values) == 1 else values
        return values[signature]

    def get_const_mem_size(self, signature=None):
        """Bytes of constant memory, for a signature or a dict of all, that of the only one where the kernel is for one alone."""
        return self._attribute(2, signature)

    def get_regs_per_thread(self, signature=None):
        """Registers of a thread, for a signature or a dict of all; of a kernel that is for one alone its own. 0 in the simulator."""
        return self._attribute(4, signature)

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of shared memory that the kernel declares; 0 in the simulator."""
        return self._attribute(1, signature)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of local memory of a thread; 0 in the simulator."""
        return self._attribute(3, signature)

    def get_max_threads_per_block(self, signature=None):
        """Threads that a block may have; 0 in the simulator."""
        return self._attribute(0, signature)

    def __repr__(self):
        return f"<CUDA kernel {self.__qualname__}>"


class _ByTypes(dict):
    """By types of arguments: their texts, or whatever says as much."""

    def __missing__(self, key):
        texts = tuple(_texts(key))
        if texts in self.keys():
            return dict.__getitem__(self, texts)
        raise KeyError(key)


class Overload:
    """A kernel compiled for some types of arguments."""

    def __init__(self, kernel, index):
        self._kernel, self._index = kernel, index

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """Blocks of so many threads (a number or a tuple) that all run at once, as `cuda.cg.this_grid().sync()` needs; any number in the simulator."""
        x, y, z = _box(blockdim, "a block", "blockdim")
        found = self._kernel._core.blocks_at_once(self._index, x * y * z, dynsmemsize)
        return 2**31 - 1 if found is None else found

    @property
    def cooperative(self):
        """Whether its threads wait for the whole grid."""
        return self._kernel._core.is_cooperative(self._index)

    @property
    def regs_per_thread(self):
        return self._kernel._core.attribute(self._index, 4)

    @property
    def max_threads_per_block(self):
        return self._kernel._core.attribute(self._index, 0)

    @property
    def shared_mem_per_block(self):
        return self._kernel._core.attribute(self._index, 1)

    @property
    def const_mem_size(self):
        return self._kernel._core.attribute(self._index, 2)

    @property
    def local_mem_per_thread(self):
        return self._kernel._core.attribute(self._index, 3)


def returns_early(function):
    """Whether a kernel has a `return` before its end, by its source: threads that take it need not come to the barriers behind it. True where there is no source."""
    import ast
    from .._lifting import definition
    try:
        node = definition(function)
    except (SyntaxError, OSError, ValueError, RecursionError):
        node = None
    if node is None:
        return True
    inside = [*node.body[:-1], *([] if isinstance(node.body[-1], ast.Return) else node.body[-1:])]
    while inside:
        part = inside.pop()
        if isinstance(part, ast.Return):
            return True
        if not isinstance(part, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            inside += ast.iter_child_nodes(part)
    return False


def _bounds(bounds):
    """Threads of a block at most, and blocks at least that run at once on a multiprocessor."""
    if bounds is None:
        return [0, 0]
    bounds = [bounds] if isinstance(bounds, (int, np.integer)) else list(bounds)
    if len(bounds) == 3 and bounds[2] in (None, 0):
        bounds.pop()
    if len(bounds) == 3:
        raise NotImplementedError("cuda.jit does not know clusters of blocks yet: launch_bounds are threads, and blocks at once")
    if not 1 <= len(bounds) <= 2 or not all(isinstance(n, (int, np.integer)) and n > 0 for n in bounds) or bounds[0] > 1024:
        raise ValueError(f"launch_bounds are the threads of a block at most, up to 1024, and blocks at least, not {bounds!r}")
    return [int(n) for n in bounds] + [0] * (2 - len(bounds))


# What the driver links, by the ends of names of files.
_LINKED = {".cubin": 0, ".ptx": 1, ".fatbin": 2, ".o": 3, ".a": 4}


def _linked(paths):
    """What is in files that a kernel is linked with: kind, name, bytes."""
    import os
    out = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        kind = os.path.splitext(path)[1]
        if kind == ".cu":
            raise NotImplementedError(f"CUDA C needs NVIDIA's compiler: make PTX of it, nvcc -ptx -rdc=true {path}, and link that")
        if not kind:
            raise RuntimeError("Don't know how to link file with no extension")
        if kind not in _LINKED:
            raise RuntimeError(f"Don't know how to link file with extension {kind}")
        with open(path, "rb") as f:
            out.append((_LINKED[kind], os.path.basename(path), f.read()))
    return out


def _texts(signature):
    from .. import types
    if isinstance(signature, (list, tuple)) and all(isinstance(t, str) for t in signature):
        return [*signature]
    (args, _), = types.signatures(signature)
    return [t._tierup_type_ for t in args]


def device_function(function, signatures):
    """A function that kernels call: for these signatures alone, where there are some."""
    from .. import types
    from .._jit import njit
    made = njit(function)
    if signatures:
        known = types.signatures(list(signatures))
        _tierup.declare_for_kernels(made, [([t._tierup_type_ for t in args], ret and ret._tierup_type_) for args, ret in known])
    return made


def _warn_of(options):
    """What Numba says of options that do not go together; here they do."""
    if not config.numba_setting("CUDA_LOW_OCCUPANCY_WARNINGS", None) is not None:
        return
    if options.get("debug") and options.get("opt", True):
        warnings.warn(NumbaInvalidConfigWarning("debug=True with opt=True (the default) is not supported by CUDA. This may result in a crash - set debug=False or opt=False."), stacklevel=3)
    if options.get("debug") and options.get("lineinfo"):
        warnings.warn(NumbaInvalidConfigWarning("debug and lineinfo are mutually exclusive. Use debug to get full debug info (this disables some optimizations), or lineinfo for line info only with code generation unaffected."), stacklevel=3)


def jit(func_or_sig=None, device=False, fma=True, **options):
    """Makes a function a kernel, or with `device=True` one that kernels call. Types are found at the first launch, or given as a signature or a list of them. Options: `fma` (a product and a sum are rounded once, as nvcc does it; also in the simulator), `fastmath`, `boundscheck` (on by default), `racecheck` (on by default: the simulator looks for races on shared memory), `error_model`, `overflow`; `max_registers` of a thread, `launch_bounds` (threads of a block at most, or a pair with blocks at least that run at once on a multiprocessor), `link` (files of PTX or machine code with functions of `declare_device`), `lineinfo` (profilers see lines), `opt=False` (for looking at code: nothing is optimised). `debug=True` is `lineinfo=True`, and a launch waits for its end, so that it raises what the kernel raised itself; there are no variables for debuggers. All kernels are kept in the code cache where that is on, so `cache` changes nothing. A kernel gives nothing back, and makes no objects."""
    unknown = options.keys() - _TAKEN
    if unknown:
        from ..errors import OptionError
        raise OptionError("cuda.jit", unknown, _TAKEN)
    if func_or_sig is None or not callable(func_or_sig):
        _warn_of(options)
    of_kernels = sorted(k for k in _OF_KERNELS & options.keys() if options[k] is not None)
    if device and of_kernels:
        raise NotImplementedError(f"a device function has no {of_kernels[0]}= of its own: give it to the kernels that call it")
    registers = options.get("max_registers") or 0
    if not 0 <= registers <= 255:
        raise ValueError(f"max_registers is up to 255, not {registers!r}")
    build = registers, _bounds(options.get("launch_bounds")), bool(options.get("lineinfo") or options.get("debug")), options.get("opt") is False, options.get("racecheck") is not False, _linked(options.get("link") or [])

    def make(function, signatures):
        if isinstance(function, Kernel):
            function = function.py_func
        if device:
            return device_function(function, signatures)
        engine = {**_engine_options({k: v for k, v in options.items() if k in _MEANING and v is not None}), "kernel": True, "contract": fma}
        if options.get("boundscheck") is None:
            engine["boundscheck"] = True
        return Kernel(function, engine, signatures, build, options)

    if func_or_sig is None:
        return lambda function: make(function, [])
    if isinstance(func_or_sig, tuple) and func_or_sig and all(isinstance(t, Type) for t in func_or_sig):
        return lambda function: make(function, [func_or_sig])
    if isinstance(func_or_sig, (list, tuple)) and not hasattr(func_or_sig, "_tierup_type_"):
        return lambda function: make(function, list(func_or_sig))
    if isinstance(func_or_sig, str) or hasattr(func_or_sig, "args") and not hasattr(func_or_sig, "__code__"):
        return lambda function: make(function, [func_or_sig])
    return make(func_or_sig, [])
