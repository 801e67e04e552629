"""Arrays of a device by the names of `numba.cuda.cudadrv.devicearray`."""

from .._arrays import (
    DeviceNDArray, DeviceRecord, array_core, auto_device, from_array_like, from_record_like, is_contiguous, is_cuda_ndarray, verify_cuda_ndarray_interface,
)
from .._memory import ManagedNDArray, MappedNDArray

__all__ = [
    "array_core", "auto_device", "DeviceNDArray", "DeviceRecord", "from_array_like", "from_record_like", "is_contiguous", "is_cuda_ndarray", "ManagedNDArray", "MappedNDArray", "verify_cuda_ndarray_interface",
]
