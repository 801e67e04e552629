"""Reductions of arrays on the device by a function of two numbers."""

import numpy as np

from .._jit import njit
from ._arrays import device_array, is_cuda_array, as_cuda_array, to_device
from ._intrinsics import blockIdx, grid, gridsize, shared, syncthreads, threadIdx
from ._kernel import jit

_THREADS, _BLOCKS = 256, 1024


def _kernel(combine, dtype):
    @jit
    def reduce_blocks(x, n, out):
        part = shared.array(_THREADS, dtype)
        t, first = threadIdx.x, blockIdx.x * _THREADS
        i = grid(1)
        if i < n:
            s = x[i]
            for k in range(i + gridsize(1), n, gridsize(1)):
                s = combine(s, x[k])
            part[t] = s
        syncthreads()
        live = min(_THREADS, n - first)
        half = _THREADS // 2
        while half > 0:
            if t < half and t + half < live:
                part[t] = combine(part[t], part[t + half])
            syncthreads()
            half //= 2
        if t == 0:
            out[blockIdx.x] = part[0]

    return reduce_blocks


class Reduce:
    """Makes of a function of two numbers, in which order and grouping do not matter, a reduction: `total = cuda.reduce(lambda a, b: a + b)`, `total(array)`."""

    def __init__(self, functor):
        self._combine, self._kernels = njit(getattr(functor, "py_func", functor)), {}

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """Reduces the first `size` elements of an array with one dimension, of the host or the device, and then `init`. Gives the number, or puts it into the first element of `res`, an array on the device, without waiting."""
        if arr.ndim != 1:
            raise TypeError("only arrays of one dimension are reduced")
        size = arr.shape[0] if size is None else size
        if not 0 <= size <= arr.shape[0]:
            raise ValueError(f"size is {size}, and the array has {arr.shape[0]} elements")
        dtype = np.dtype(arr.dtype)
        if size == 0:
            if res is None:
                return dtype.type(init)
            res[:1] = init
            return None
        x = as_cuda_array(arr) if is_cuda_array(arr) else to_device(arr, stream)
        if dtype not in self._kernels:
            self._kernels[dtype] = _kernel(self._combine, dtype)
        kernel = self._kernels[dtype]
        blocks = min(_BLOCKS, -(-size // _THREADS))
        # The partial results, and `init` as one more.
        parts = device_array(blocks + 1, dtype, stream=stream)
        kernel[blocks, _THREADS, stream](x, size, parts)
        parts[blocks:] = init
        out = device_array(1, dtype, stream=stream) if res is None else res
        kernel[1, _THREADS, stream](parts, blocks + 1, out)
        return out.copy_to_host(stream=stream)[0] if res is None else None


def reduce(functor):
    """A reduction by a function; see `Reduce`."""
    return Reduce(functor)


__all__ = ["Reduce", "reduce"]
