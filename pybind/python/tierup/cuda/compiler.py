"""PTX of functions, for programs that load it themselves or link it with other code."""

import re

from .. import types
from .._jit import _engine_options
from ._device import is_simulated, state

_ABIS = "numba", "c"


def _name(function, abi, abi_info):
    if abi_info and abi_info.get("abi_name"):
        return abi_info["abi_name"]
    name = function.__name__ if abi == "c" else f"{function.__module__}.{function.__qualname__}"
    return re.sub(r"\W", "_", name)


def compile(pyfunc, sig, debug=None, lineinfo=False, device=True, fastmath=False, cc=None, opt=None, abi="c", abi_info=None, output="ptx"):
    """PTX of a function for a signature, and the type of its result: of a kernel, or with `device=True` of a function that code of a device calls. Such a one has C's conventions whatever `abi` says, which chooses its name: with `"c"` the function's own, or `abi_info={"abi_name": ...}`, with `"numba"` that with its module. An array is handed over as its address, then its lengths and, where the type says nothing of its order, its strides. A thread in which an exception leaves the function ends its kernel. `cc` is the compute capability as a pair."""
    if abi not in _ABIS:
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    if abi == "c" and not device:
        raise NotImplementedError("The C ABI is not supported for kernels")
    if output not in ("ptx", "ltoir"):
        raise NotImplementedError(f"Unsupported output type: {output}")
    if output == "ltoir":
        raise NotImplementedError("there is no LTO-IR without NVIDIA's compiler: output='ptx' gives PTX")
    from .. import _tierup
    from ._kernel import jit
    function = getattr(pyfunc, "py_func", pyfunc)
    (args, ret), = types.signatures(sig)
    texts = [t._tierup_type_ for t in args]
    major, minor = cc if cc is not None else (7, 5)
    capability = 10 * major + minor
    if not device:
        given = _tierup.result_type(_tierup.make_dispatcher(function, False, {**_engine_options({}), "kernel": True}), texts)
        if given.lower() != "none":
            raise TypeError(f"CUDA kernel must have void return type, not {given}")
        options = {k: v for k, v in {"debug": debug, "lineinfo": lineinfo, "opt": opt}.items() if v is not None}
        return jit(fastmath=fastmath, **options)(function).ptx(tuple(args), capability), types.none
    options = {**_engine_options({"fastmath": fastmath, "error_model": "numpy"}), "kernel": True, "contract": True, "boundscheck": False}
    made = _tierup.make_dispatcher(function, False, options)
    if ret is not None:
        _tierup.declare_for_kernels(made, [(texts, ret._tierup_type_)])
    core = _tierup.Kernel(made, (0, [0, 0], bool(lineinfo or debug), opt is False, False, []))
    ptx, given = core.device_ptx(texts, _name(function, abi, abi_info), capability)
    return ptx, types.from_text(given)


def compile_for_current_device(pyfunc, sig, **options):
    """As `compile`, for the compute capability of the device (9.0 in the simulator)."""
    capability = 90 if is_simulated() else state().capability
    return compile(pyfunc, sig, cc=divmod(capability, 10), **options)


def compile_ptx(pyfunc, sig, debug=None, lineinfo=False, device=False, fastmath=False, cc=None, opt=None, abi="numba", abi_info=None):
    """As `compile`, of a kernel unless said otherwise."""
    return compile(pyfunc, sig, debug=debug, lineinfo=lineinfo, device=device, fastmath=fastmath, cc=cc, opt=opt, abi=abi, abi_info=abi_info)


def compile_ptx_for_current_device(pyfunc, sig, **options):
    """The same for the compute capability of the device."""
    capability = 90 if is_simulated() else state().capability
    return compile_ptx(pyfunc, sig, cc=divmod(capability, 10), **options)


class Declared:
    """A function of another compiler's that kernels call."""

    def __init__(self, name, sig, simulate):
        self.__name__ = self.__qualname__ = self.name = name
        self.sig, self._simulate, self._function = sig, simulate, None

    @property
    def _tierup_called_(self):
        """What kernels call by its name: the function itself, or in the simulator what stands in for it."""
        if self._simulate is not None and is_simulated():
            return self._simulate
        if self._function is None:
            from .._calls import made
            from ._intrinsics import _device_call
            names = ", ".join(f"x{k}" for k in range(len(self.sig.args)))
            signature = f"{_text(self.sig.return_type)}({', '.join(map(_text, self.sig.args))})"
            call = f"call({self.__name__!r}, {signature!r}{', ' if names else ''}{names})"
            self._function = made(f"def {self.__name__}({names}):\n    return {call}\n", self.__name__, {"call": _device_call})
        return self._function

    def __call__(self, *args):
        raise RuntimeError(f"{self.__name__} is code for a GPU: call it in a kernel")

    def __repr__(self):
        return f"<declared {self.__name__}: {self.sig}>"


def _text(t):
    if t == types.none:
        return "none"
    if isinstance(t, types.CPointer):
        return f"pointer({_text(t.dtype)})"
    if isinstance(t, types.RawPointer):
        return "pointer"
    if isinstance(t, types.Number):
        return types._text(t, strong=True)
    raise TypeError(f"a device function takes numbers and pointers, no {t}: an array is types.CPointer(dtype) to it")


def declare_device(name, sig, *, simulate=None):
    """A function that another compiler has made, for kernels with `link=` to call: of C's linkage, with Numba's convention, `extern "C" __device__ int name(ret_type *result, args...)`, where 0 says that all went well. `sig` gives types of numbers and of pointers (`types.CPointer`), for which arrays or addresses are passed. The simulator cannot run it, and calls the function `simulate` in its place where that is given."""
    if not str(name).isidentifier():
        raise ValueError(f"{name!r} is no name of a function")
    if isinstance(sig, (tuple, list)) or not types.signatures(sig)[0][1]:
        raise TypeError("Return type must be provided for device declarations")
    (args, ret), = types.signatures(sig)
    return Declared(name, ret(*args), simulate)


__all__ = ["compile", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device", "declare_device"]
