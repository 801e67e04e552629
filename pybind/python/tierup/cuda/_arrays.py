"""Arrays in the memory of a device."""

import numpy as np

from .. import _tierup, config
from ._device import is_simulated, state
from ._streams import external_stream, handle_of

_IN, _OUT, _BESIDE = 0, 1, 2


def _address(array):
    return array.__array_interface__["data"][0]


class DeviceNDArray(_tierup.DeviceArrayBase):
    """An array in the memory of a device: `shape`, `strides` (bytes), `dtype`, `ndim`, `size`, `nbytes`, slices without copies. Kernels take it as it is, and so do libraries that know `__cuda_array_interface__`."""

    def __new__(cls, shape, strides, dtype, stream=0, gpu_data=None):
        """A new array, or one in memory that another has. `strides` are bytes."""
        shape = _shape(shape)
        dtype, strides = np.dtype(dtype), [strides] if isinstance(strides, (int, np.integer)) else list(strides)
        if len(strides) != len(shape):
            raise ValueError("strides not match ndim")
        if gpu_data is None:
            state()
            span = sum(max(0, s * (n - 1)) for s, n in zip(strides, shape)) + dtype.itemsize if all(shape) else 0
            gpu_data = _memory(span)
        return cls._over(gpu_data.address, dtype, shape, strides, gpu_data, stream)

    @classmethod
    def _over(cls, address, dtype, shape, strides, owner, stream=0):
        """One in memory that `owner` keeps."""
        self = super().__new__(cls, address, dtype, shape, strides, owner)
        self.dtype, self.shape, self.stream = dtype, tuple(shape), stream
        return self

    __cuda_memory__ = True

    @property
    def gpu_data(self):
        """What keeps the memory."""
        return self._owner

    @property
    def flags(self):
        """Whether elements lie in C or Fortran's order without gaps, as NumPy says it."""
        return self._like().flags

    @property
    def _numba_type_(self):
        from ..types import Array, from_dtype
        return Array(from_dtype(self.dtype), self.ndim, self._layout)

    def bind(self, stream=0):
        """The same elements with another stream."""
        return self._over(self._address, self.dtype, self.shape, self.strides, self._owner, stream)

    def split(self, section, stream=0):
        """Parts of so many elements along the first axis; the last one may have fewer."""
        for start in range(0, len(self), section):
            part = self[start:start + section]
            yield part.bind(stream) if stream else part

    def squeeze(self, axis=None, stream=0):
        """A view without axes of length 1: all, or those named."""
        base = self._like()
        view = self._view(base.squeeze(axis), base)
        return view.bind(stream) if stream else view

    def getitem(self, item, stream=0):
        """As `self[item]`, by a stream."""
        return (self.bind(stream) if stream else self)[item]

    def setitem(self, key, value, stream=0):
        """As `self[key] = value`, by a stream."""
        (self.bind(stream) if stream else self)[key] = value

    def get_ipc_handle(self):
        """What gives another process the memory, by the manager that `set_memory_manager` named; NotImplementedError without one."""
        from ._device import Context
        return Context().get_ipc_handle(self.gpu_data)

    @property
    def strides(self):
        """Bytes from an element to the next along each axis."""
        return tuple(self._strides)

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        n = 1
        for length in self.shape:
            n *= length
        return n

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    alloc_size = nbytes

    @property
    def device_ctypes_pointer(self):
        """The address of the first element, as an object of ctypes."""
        import ctypes
        self._told()
        return ctypes.c_void_p(self._address)

    def _told(self):
        """Others know of the memory from now on."""
        share = getattr(self._owner, "share", None)
        if share is not None:
            share()

    @property
    def __cuda_array_interface__(self):
        strides = None if self.is_c_contiguous() else self.strides
        self._told()
        return {"shape": self.shape, "strides": strides, "typestr": self.dtype.str, "data": (self._address if self.size else 0, False), "stream": handle_of(self.stream) or None, "version": 3}

    def __dlpack_device__(self):
        """Where it lies, as DLPack numbers devices: a GPU, or in the simulator the host."""
        from . import _dlpack
        return _dlpack.device()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule for libraries that know DLPack. What has been given to this array's stream is done when work on `stream` begins."""
        from . import _dlpack
        if copy or dl_device is not None and tuple(dl_device) != _dlpack.device():
            raise BufferError("an array of a device is handed over where it lies, without a copy")
        if stream != -1 and not is_simulated():
            _tierup.cuda_synchronize(handle_of(self.stream))
        return _dlpack.export(self)

    def is_c_contiguous(self):
        """Whether the elements lie in C order without gaps."""
        return self._layout == "C"

    def is_f_contiguous(self):
        """Whether the elements lie in Fortran's order without gaps."""
        return self._layout == "F" or self._layout == "C" and self.ndim <= 1

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def _like(self):
        """An array of NumPy's with these strides whose elements nobody may read: what its views look like is what this array's do."""
        return np.lib.stride_tricks.as_strided(np.empty(1, self.dtype), self.shape, self.strides)

    def _view(self, view, base):
        return self._over(self._address + _address(view) - _address(base), self.dtype, view.shape, view.strides, self._owner, self.stream)

    def __getitem__(self, index):
        """A view, or the element where nothing is left to choose: a record that stays there, a number that is copied to the host. IndexError as NumPy has it; only integers, slices, `...` and `None`."""
        base = self._like()
        index = index if isinstance(index, tuple) else (index,)
        if not all(isinstance(i, (int, np.integer, slice, type(None), type(Ellipsis))) for i in index):
            raise TypeError("an array on a device is indexed by integers, slices, ... and None")
        full = index if Ellipsis in index else index + (Ellipsis,)
        view = self._view(base[full], base)
        if view.ndim == 0 and Ellipsis not in index:
            if self.dtype.names:
                return DeviceRecord._over(view._address, self.dtype, (), None, self._owner, self.stream)
            return view.copy_to_host()[()]
        return view

    def __setitem__(self, index, value):
        """Copies a number or an array into the elements that the index chooses."""
        target = self[index if isinstance(index, tuple) and Ellipsis in index else (index if isinstance(index, tuple) else (index,)) + (Ellipsis,)]
        if isinstance(value, DeviceNDArray) or hasattr(value, "__cuda_array_interface__"):
            target.copy_to_device(as_cuda_array(value))
        else:
            value = np.asarray(value, self.dtype)
            if value.ndim > target.ndim:
                raise ValueError(f"Can't assign {value.ndim}-D array to {target.ndim}-D self")
            for k, (n, m) in enumerate(zip(value.shape, target.shape[target.ndim - value.ndim:])):
                if n not in (1, m):
                    raise ValueError(f"Can't copy sequence with size {n} to array axis {k} with dimension {m}")
            target.copy_to_device(np.array(np.broadcast_to(value, target.shape)))

    def reshape(self, *shape, order="C"):
        """The same elements in another shape, taken and laid out in C or Fortran's order, or in that in which they lie ("A"); NotImplementedError where they would have to be copied."""
        if order not in ("C", "F", "A"):
            raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
        if order == "A":
            order = "F" if self._layout == "F" else "C"
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if not (self.is_c_contiguous() if order == "C" else self.is_f_contiguous()):
            raise NotImplementedError(f"reshape of an array on a device that is not {order}-contiguous")
        shape = np.broadcast_to(np.empty(1, np.int8), self.size).reshape(shape).shape
        strides = None if order == "C" else _fortran(shape, self.dtype.itemsize)
        return self._over(self._address, self.dtype, shape, strides, self._owner, self.stream)

    def ravel(self, order="C"):
        """The elements in one dimension, in C or Fortran's order, or in that in which they lie ("A"); NotImplementedError where they would have to be copied."""
        if order not in ("C", "F", "A"):
            raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
        if order == "A":
            order = "F" if self._layout == "F" else "C"
        return self.reshape(-1) if order == "C" or self.ndim <= 1 else self.T.reshape(-1)

    def transpose(self, *axes):
        """A view with its axes turned."""
        base = self._like()
        return self._view(base.transpose(*axes), base)

    @property
    def T(self):
        """The array with its axes in the other order, a view."""
        return self.transpose()

    def view(self, dtype):
        """The bytes as elements of another type, which may be of another size where the last axis allows it; ValueError as NumPy has it."""
        base = self._like()
        view = base.view(np.dtype(dtype))
        return self._over(self._address, view.dtype, view.shape, view.strides, self._owner, self.stream)

    def copy_to_host(self, ary=None, stream=0):
        """The elements as an array of NumPy's: a new one, or `ary`, which must be of the same shape and dtype. Waits for the device, and raises what kernels left."""
        stream = handle_of(stream) or handle_of(self.stream)
        if ary is not None and (ary.shape != self.shape or ary.dtype != self.dtype):
            raise ValueError(f"an array of shape {self.shape} and dtype {self.dtype} is copied to one of shape {ary.shape} and dtype {ary.dtype}")
        if self.size == 0:
            _tierup.cuda_synchronize(stream)
            return np.empty(self.shape, self.dtype) if ary is None else ary
        order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        if self._layout == "A":
            whole, start = self._span()
            bytes_ = np.empty(whole, np.uint8)
            _tierup.cuda_copy(_address(bytes_), start, whole, _OUT, stream)
            _tierup.cuda_synchronize(stream)
            view = np.ndarray(self.shape, self.dtype, bytes_, self._address - start, self.strides)
            if ary is None:
                return view.copy()
            ary[...] = view
            return ary
        direct = ary is None or ary.flags["F_CONTIGUOUS" if order == "F" else "C_CONTIGUOUS"] and ary.flags.writeable
        host = (np.empty(self.shape, self.dtype, order) if ary is None else ary) if direct else np.empty(self.shape, self.dtype, order)
        _tierup.cuda_copy(_address(host), self._address, self.nbytes, _OUT, stream)
        _tierup.cuda_synchronize(stream)
        if not direct:
            ary[...] = host
            return ary
        return host

    def _span(self):
        """Bytes from the first to the last element in memory, and where they begin."""
        low = sum(min(0, s * (n - 1)) for n, s in zip(self.shape, self.strides))
        high = sum(max(0, s * (n - 1)) for n, s in zip(self.shape, self.strides))
        return high - low + self.dtype.itemsize, self._address + low

    def copy_to_device(self, ary, stream=0):
        """Takes the elements of an array of the same shape and dtype, of the host or the device."""
        stream = handle_of(stream) or handle_of(self.stream)
        if not isinstance(ary, DeviceNDArray) and hasattr(ary, "__cuda_array_interface__"):
            ary = as_cuda_array(ary)
        if tuple(ary.shape) != self.shape or ary.dtype != self.dtype:
            raise ValueError(f"an array of shape {tuple(ary.shape)} and dtype {ary.dtype} is copied to one of shape {self.shape} and dtype {self.dtype}")
        if self.size == 0:
            return
        if isinstance(ary, DeviceNDArray):
            if self._layout == "A" or ary._layout != self._layout:
                self.copy_to_device(ary.copy_to_host(stream=stream), stream)
                return
            _tierup.cuda_copy(self._address, ary._address, self.nbytes, _BESIDE, stream)
            return
        if self._layout == "A":
            whole, start = self._span()
            bytes_ = np.empty(whole, np.uint8)
            _tierup.cuda_copy(_address(bytes_), start, whole, _OUT, stream)
            _tierup.cuda_synchronize(stream)
            np.ndarray(self.shape, self.dtype, bytes_, self._address - start, self.strides)[...] = ary
            _tierup.cuda_copy(start, _address(bytes_), whole, _IN, stream)
            _tierup.cuda_synchronize(stream)
            return
        host = np.asarray(ary, order=self._layout)
        _tierup.cuda_copy(self._address, _address(host), self.nbytes, _IN, stream)
        if stream:
            _tierup.cuda_synchronize(stream)

    def __array__(self, dtype=None, copy=None):
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __repr__(self):
        return f"<array on {'the simulated' if is_simulated() else 'a'} device, shape {self.shape}, {self.dtype}>"


def _shape(shape):
    shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    return shape


def _memory(bytesize):
    """New memory of the device, by its `address`."""
    from ._managers import plugged
    own = plugged()
    return _tierup.DeviceMemory(bytesize) if own is None else own.memalloc(bytesize)


def _made(shape, dtype, strides, stream):
    state()
    shape = _shape(shape)
    dtype, size = np.dtype(dtype), 1
    for n in shape:
        size *= n
    memory = _memory(size * dtype.itemsize)
    return DeviceNDArray._over(memory.address, dtype, shape, strides, memory, stream)


def _fortran(shape, item):
    out = []
    for n in shape:
        out.append(item)
        item *= n
    return out


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0):
    """A new array on the device, not initialised. `strides` (bytes) may say that it is in C or Fortran's order."""
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if strides is None and order == "F":
        strides = _fortran(shape, np.dtype(dtype).itemsize)
    elif order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', not {order!r}")
    if strides is not None and list(strides) not in (_fortran(shape, np.dtype(dtype).itemsize), _fortran(shape[::-1], np.dtype(dtype).itemsize)[::-1]):
        raise NotImplementedError("a new array on a device is in C or Fortran's order")
    return _made(shape, dtype, strides, stream)


def device_array_like(ary, stream=0):
    """A new array on the device of the shape, dtype and order of another."""
    return device_array(ary.shape, ary.dtype, order=order_of(ary), stream=stream)


def order_of(ary):
    """The order of what is made like an array: C or Fortran's, whichever is nearer."""
    steps = [s for s, n in zip(ary.strides, ary.shape) if n > 1]
    return "F" if len(steps) > 1 and steps == sorted(steps) and not ary.flags.c_contiguous else "C"


def to_device(obj, stream=0, copy=True, to=None):
    """The elements of `obj` (an array, or what NumPy makes one of) in the memory of the device: a new array, or `to`. `copy=False` leaves a new one without them."""
    if to is None and isinstance(obj, DeviceNDArray):
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        return as_cuda_array(obj)
    if isinstance(obj, np.void) and to is None:
        to = DeviceRecord(obj.dtype, stream)
    host = np.asarray(obj)
    if to is None:
        to = device_array_like(host, stream=stream)
    if copy:
        to.copy_to_device(host, stream)
    return to


class DeviceRecord(DeviceNDArray):
    """One record in the memory of a device. Fields are read and written by name: `r["x"]`."""

    def __new__(cls, dtype, stream=0, gpu_data=None):
        return super().__new__(cls, (), (), dtype, stream, gpu_data)

    def __getitem__(self, name):
        if not isinstance(name, str):
            return super().__getitem__(name)
        dtype, offset = self.dtype.fields[name][:2]
        dtype, shape = dtype.subdtype or (dtype, ())
        kind = DeviceRecord if dtype.names and not shape else DeviceNDArray
        if shape or dtype.names:
            return kind._over(self._address + offset, dtype, shape, None, self._owner, self.stream)
        return self.copy_to_host()[name][()]

    def __setitem__(self, name, value):
        if not isinstance(name, str):
            return super().__setitem__(name, value)
        host = self.copy_to_host()
        host[name] = value
        self.copy_to_device(host)

    def copy_to_host(self, ary=None, stream=0):
        """The record as an array of no dimensions, or in a record of NumPy's."""
        if isinstance(ary, np.void):
            made = super().copy_to_host(None, stream)
            for name in self.dtype.names:
                ary[name] = made[name]
            return ary
        return super().copy_to_host(ary, stream)

    def copy_to_device(self, ary, stream=0):
        super().copy_to_device(np.asarray(ary, self.dtype) if isinstance(ary, np.void) else ary, stream)

    @property
    def _numba_type_(self):
        from ..types import from_dtype
        return from_dtype(self.dtype)


def from_array_like(ary, stream=0, gpu_data=None):
    """A new array on the device of another's shape, strides and dtype."""
    return DeviceNDArray(ary.shape, ary.strides, ary.dtype, stream, gpu_data)


def from_record_like(rec, stream=0, gpu_data=None):
    """A new record on the device of another's dtype."""
    return DeviceRecord(rec.dtype, stream, gpu_data)


def auto_device(obj, stream=0, copy=True, user_explicit=False):
    """An array of the device with what is in `obj`, and whether it is a new one."""
    if hasattr(obj, "__cuda_array_interface__"):
        return as_cuda_array(obj), False
    return to_device(obj, stream, copy), True


def array_core(ary):
    """The part of an array in which no element is repeated."""
    return ary[tuple(0 if s == 0 else slice(None) for s in ary.strides)] if ary.strides and ary.size else ary


def is_contiguous(ary):
    """Whether the elements lie in C order without gaps, repeated ones left out."""
    return bool(array_core(ary).flags.c_contiguous)


def verify_cuda_ndarray_interface(obj):
    """TypeError where an object is no array of a device; ValueError where it lacks what these have."""
    if not isinstance(obj, DeviceNDArray):
        raise TypeError("require an cuda ndarray object")
    for name, types in (("shape", tuple), ("strides", tuple), ("dtype", np.dtype), ("size", int)):
        if not isinstance(getattr(obj, name, None), types):
            raise AttributeError(f"{name} must be of type {types}")


def is_cuda_ndarray(obj):
    """Whether an object is an array of the device."""
    return isinstance(obj, DeviceNDArray)


def is_cuda_array(obj):
    """Whether an object says by `__cuda_array_interface__` that it lies in the memory of a device."""
    return isinstance(obj, DeviceNDArray) or hasattr(obj, "__cuda_array_interface__")


def from_cuda_array_interface(desc, owner=None, sync=True):
    """An array over the memory that such a dict describes; `owner` keeps it alive. With `sync` its stream is waited for."""
    dtype = np.dtype(desc["typestr"])
    if desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    stream = desc.get("stream")
    state()
    if stream:
        stream = external_stream(stream)
        if sync and config.numba_setting("CUDA_ARRAY_INTERFACE_SYNC", 1):
            stream.synchronize()
    return DeviceNDArray._over(desc["data"][0], dtype, desc["shape"], None if desc.get("strides") is None else list(desc["strides"]), owner, stream or 0)


def as_cuda_array(obj, sync=True):
    """An array over the memory of an object with `__cuda_array_interface__`, such as an array of CuPy's or a tensor of PyTorch's; nothing is copied. TypeError for others."""
    if isinstance(obj, DeviceNDArray):
        return obj
    if not hasattr(obj, "__cuda_array_interface__"):
        raise TypeError(f"{type(obj).__name__} has no __cuda_array_interface__")
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


def from_dlpack(obj):
    """An array over the memory of one of another library, by DLPack; nothing is copied. BufferError where it does not lie on the device. In the simulator arrays of the host are taken."""
    from . import _dlpack
    state()
    # 1 is the default stream, on which the other library has its work done.
    capsule = obj.__dlpack__() if is_simulated() else obj.__dlpack__(stream=1)
    address, dtype, shape, strides, owner = _dlpack.taken(capsule)
    return DeviceNDArray._over(address, dtype, shape, strides, owner)


__all__ = ["DeviceNDArray", "DeviceRecord", "as_cuda_array", "device_array", "device_array_like", "from_cuda_array_interface", "from_dlpack", "is_cuda_array", "to_device"]
