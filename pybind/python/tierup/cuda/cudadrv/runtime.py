"""The version of CUDA by the names of `numba.cuda.cudadrv.runtime`: the driver's, since no run-time library is needed."""

from .._device import state


class Runtime:
    """As much of CUDA's run-time library as programs ask for."""

    def get_version(self):
        """Major and minor number; those of the driver, or (12, 0) in the simulator."""
        version = state().driver or 12000
        return version // 1000, version % 1000 // 10

    def is_supported_version(self):
        """Whether the driver is one that is known to work."""
        return self.get_version() >= (11, 2)


runtime = Runtime()
get_version = runtime.get_version

__all__ = ["get_version", "runtime", "Runtime"]
