"""The device and its context by the names of `numba.cuda.cudadrv.devices`."""

from .._device import current_context, require_context, select_device
from .._device import gpus_of_driver as gpus


def get_context(devnum=None):
    """The context of a device."""
    return current_context() if devnum is None else select_device(devnum)


def reset():
    """Waits until the device is done. Its context stays, since other libraries share it."""
    current_context().synchronize()


__all__ = ["get_context", "gpus", "require_context", "reset"]
