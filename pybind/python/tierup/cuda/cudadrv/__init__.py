"""Names that programs take from `numba.cuda.cudadrv`; what they stand for is in `tierup.cuda` itself."""

from . import devicearray, devices, driver, error, runtime

__all__ = ["devicearray", "devices", "driver", "error", "runtime"]
