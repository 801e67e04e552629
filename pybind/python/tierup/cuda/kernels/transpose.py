"""The transposition of arrays on a device."""

from .._arrays import DeviceNDArray
from .._intrinsics import blockDim, blockIdx, shared, syncthreads, threadIdx
from .._kernel import jit

_TILE = 16
_kernels = {}


def _kernel(dtype):
    from ...types import from_dtype
    element = from_dtype(dtype)

    @jit
    def turn(a, b):
        # Rows are one longer than they have elements, so that threads which read a column meet in no bank.
        tile = shared.array((_TILE, _TILE + 1), element)
        tx, ty = threadIdx.x, threadIdx.y
        i, j = blockIdx.y * blockDim.y + ty, blockIdx.x * blockDim.x + tx
        if i < a.shape[0] and j < a.shape[1]:
            tile[ty, tx] = a[i, j]
        syncthreads()
        i, j = blockIdx.x * blockDim.x + ty, blockIdx.y * blockDim.y + tx
        if i < b.shape[0] and j < b.shape[1]:
            b[i, j] = tile[tx, ty]

    return turn


def transpose(a, b=None):
    """The transposed of an array of two dimensions on the device: in `b`, or in a new array."""
    if b is None:
        rows, columns = a.shape
        b = DeviceNDArray((columns, rows), (rows * a.dtype.itemsize, a.dtype.itemsize), a.dtype, a.stream)
    dtype = a.dtype
    if dtype not in _kernels:
        _kernels[dtype] = _kernel(dtype)
    rows, columns = a.shape
    if a.size:
        _kernels[dtype][(-(-columns // _TILE), -(-rows // _TILE)), (_TILE, _TILE), getattr(b, "stream", 0)](a, b)
    return b


__all__ = ["transpose"]
