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

from ._arrays import DeviceNDArray, as_cuda_array, device_array, device_array_like, from_cuda_array_interface, is_cuda_array, to_device
from ._device import current_context, detect, get_current_device, is_available, is_simulated, why_unavailable
from ._errors import CudaError, KernelLine
from ._intrinsics import (
    all_sync, any_sync, atomic, ballot_sync, blockDim, blockIdx, grid, gridDim, gridsize, laneid, local, shared, shfl_down_sync, shfl_sync, shfl_up_sync, shfl_xor_sync, syncthreads, syncwarp, threadfence,
    threadfence_block, threadfence_system, threadIdx, warpsize,
)
from ._kernel import In, InOut, Kernel, Out, jit
from ._streams import Event, Stream, default_stream, event, event_elapsed_time, external_stream, stream, synchronize

implementation = "Tierup"

__all__ = [
    "CudaError", "DeviceNDArray", "Event", "In", "InOut", "Kernel", "KernelLine", "Out", "Stream", "all_sync", "any_sync", "as_cuda_array", "atomic", "ballot_sync", "blockDim", "blockIdx", "current_context", "default_stream", "detect",
    "device_array", "device_array_like", "event", "event_elapsed_time", "external_stream", "from_cuda_array_interface", "get_current_device", "grid", "gridDim", "gridsize", "is_available",
    "is_cuda_array", "is_simulated", "jit", "laneid", "local", "shared", "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "stream", "synchronize", "syncthreads", "syncwarp", "threadIdx", "threadfence", "threadfence_block", "threadfence_system", "to_device", "warpsize", "why_unavailable",
]
