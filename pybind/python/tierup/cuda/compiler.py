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
    core = _tierup.Kernel(made, (0, [0, 0], bool(lineinfo or debug), opt is False, False))
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


def declare_device(name, sig):
    """Refused: code from elsewhere is not linked. The signature is looked at first, as Numba does."""
    if isinstance(sig, (tuple, list)) or isinstance(sig, str) and not types.signatures(sig)[0][1]:
        raise TypeError("Return type must be provided for device declarations")
    raise NotImplementedError(f"{name}: kernels do not link PTX, objects or CUDA C: write what it computes as a device function")


__all__ = ["compile", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device", "declare_device"]
