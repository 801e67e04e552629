"""Kernels for NVIDIA's GPUs, with the names and the meaning of `numba.cuda`.

    from tierup import cuda

    @cuda.jit
    def scale(a, x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] *= a

    x = cuda.to_device(numpy.arange(1000.0))
    scale[4, 256](2.0, x)
    print(x.copy_to_host())

NVIDIA's driver is all that is needed. Where there is none, or TIERUP_CUDASIM=1 is set, kernels are compiled for the CPU and run there: `docs/guide/gpu.md` says what works.
"""

from . import compiler, cudadrv, kernels, random
from ._arrays import DeviceNDArray, as_cuda_array, device_array, device_array_like, from_cuda_array_interface, from_dlpack, is_cuda_array, to_device
from ._device import (
    close, cuda_error, current_context, defer_cleanup, detect, get_current_device, gpus, is_available, is_float16_supported, is_simulated, is_supported_version, list_devices, profile_start,
    profile_stop, profiling, require_context, select_device, why_unavailable,
)
from ._errors import CudaAPIError, CudaError, CudaSupportError, DivergentBarrier, KernelLine, SharedMemoryRace
from ._intrinsics import (
    _device_call,
    activemask, all_sync, any_sync, atomic, ballot_sync, blockDim, blockIdx, brev, cbrt, cg, clz, const, eq_sync, ffs, fma, fp16, grid, gridDim, gridsize, laneid, lanemask_lt, local, match_all_sync,
    match_any_sync, nanosleep, popc, selp, shared, shfl_down_sync, shfl_sync, shfl_up_sync, shfl_xor_sync, syncthreads, syncthreads_and, syncthreads_count, syncthreads_or, syncwarp, threadfence,
    threadfence_block, threadfence_system, threadIdx, warpsize,
)
from ._kernel import In, InOut, Kernel, Out, jit
from ._managers import (
    BaseCUDAMemoryManager, GetIpcHandleMixin, HostOnlyCUDAMemoryManager, IpcHandle, ManagedMemory, MappedMemory, MemoryInfo, MemoryPointer, PinnedMemory, open_ipc_array, set_memory_manager,
)
from ._memory import ManagedNDArray, MappedNDArray, managed_array, mapped, mapped_array, mapped_array_like, pinned, pinned_array, pinned_array_like
from ._reduce import Reduce, reduce
from ._streams import Event, Stream, default_stream, event, event_elapsed_time, external_stream, legacy_default_stream, per_thread_default_stream, stream, synchronize

from .compiler import compile, compile_for_current_device, compile_ptx, compile_ptx_for_current_device, declare_device

devicearray, runtime = cudadrv.devicearray, cudadrv.runtime.runtime

implementation = "Tierup"

__all__ = [
    "activemask", "all_sync", "any_sync", "as_cuda_array", "atomic", "ballot_sync", "BaseCUDAMemoryManager", "blockDim", "blockIdx", "brev", "cbrt", "cg", "close", "clz", "compile",
    "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device", "compiler", "const", "cuda_error", "CudaAPIError", "cudadrv", "CudaError", "CudaSupportError",
    "current_context", "declare_device", "default_stream", "defer_cleanup", "detect", "device_array", "device_array_like", "DeviceNDArray", "DivergentBarrier", "eq_sync", "event", "Event", "event_elapsed_time",
    "external_stream", "ffs", "fma", "fp16", "from_cuda_array_interface", "from_dlpack", "get_current_device", "GetIpcHandleMixin", "gpus", "grid", "gridDim", "gridsize", "HostOnlyCUDAMemoryManager", "In",
    "InOut", "IpcHandle", "is_available", "is_cuda_array", "is_float16_supported", "is_simulated", "is_supported_version", "jit", "Kernel", "KernelLine", "kernels", "laneid", "lanemask_lt",
    "legacy_default_stream", "list_devices", "local", "managed_array", "ManagedMemory", "ManagedNDArray", "mapped", "mapped_array", "mapped_array_like", "MappedMemory", "MappedNDArray",
    "match_all_sync", "match_any_sync", "MemoryInfo", "MemoryPointer", "nanosleep", "open_ipc_array", "Out", "per_thread_default_stream", "pinned", "pinned_array", "pinned_array_like",
    "PinnedMemory", "popc", "profile_start", "profile_stop", "profiling", "random", "Reduce", "reduce", "require_context", "select_device", "selp", "set_memory_manager", "shared", "SharedMemoryRace",
    "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "stream", "Stream", "synchronize", "syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or", "syncwarp",
    "threadfence", "threadfence_block", "threadfence_system", "threadIdx", "to_device", "warpsize", "why_unavailable",
]

# Vectors, `libdevice` and what is by their names are made when somebody asks.
_LATER = "libdevice", "vector_types"


def __getattr__(name):
    import importlib
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    if name[-1:].isdigit() and not name.startswith("_"):
        from .vector_types import constructors
        if name in constructors:
            globals()[name] = constructors[name]
            return constructors[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
