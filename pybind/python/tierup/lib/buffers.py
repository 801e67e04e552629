"""Objects with memory of their own as compiled code has them: `memoryview` and `array.array`. Each is an instance of a class here while it is in compiled
code; what an instance does is what Python's object does, and what is not here is refused."""

from array import array
from dataclasses import dataclass

import numpy as np


def seen(obj):
    """What compiled code has of an object; None where it cannot have it."""
    try:
        a = np.asarray(obj)
    except (TypeError, ValueError, NotImplementedError):
        return None
    return MemoryView(a) if isinstance(obj, memoryview) else PyArray(a)


def _of_array(a):
    """The object of Python's whose memory an array is all of; None where there is none."""
    base = a.base
    return base if isinstance(base, memoryview) and base.nbytes == a.nbytes and base.shape == a.shape and base.strides == a.strides else None


def _whole(value, dtype):
    """Whether an integer has room."""
    info = np.iinfo(dtype)
    return info.min <= value and value <= info.max


def _code(a):
    """How the modules `struct` and `array` call the type of the elements, which are integers."""
    if a.dtype.kind == "i":
        return "bhil"[0 if a.itemsize == 1 else 1 if a.itemsize == 2 else 2 if a.itemsize == 4 else 3]
    return "BHIL"[0 if a.itemsize == 1 else 1 if a.itemsize == 2 else 2 if a.itemsize == 4 else 3]


def _out_of_room(a, value):
    if a.dtype.kind == "u" and value < 0 and a.itemsize >= 4:
        return "can't convert negative value to unsigned int"
    end = " is greater than maximum" if value > 0 else " is less than minimum"
    if a.dtype.kind == "u":
        return ("unsigned byte integer" if a.itemsize == 1 else "unsigned short" if a.itemsize == 2 else "unsigned int") + end
    return ("signed char" if a.itemsize == 1 else "signed short integer" if a.itemsize == 2 else "signed integer") + end


@dataclass(frozen=True, eq=False)
class MemoryView:
    array: np.ndarray

    _tierup_class_ = memoryview

    def _tierup_python_(self):
        known = _of_array(self.array)
        return memoryview(self.array) if known is None else known

    def __len__(self):
        if self.array.ndim == 0:
            raise TypeError("0-dim memory has no length")
        return len(self.array)

    def __getitem__(self, i):
        if isinstance(i, (int, np.integer)) and self.array.ndim == 1 and not -len(self.array) <= i < len(self.array):
            raise IndexError("index out of bounds on dimension 1")
        x = self.array[i]
        if isinstance(x, np.ndarray):
            if x.ndim < self.array.ndim:
                raise NotImplementedError("multi-dimensional sub-views are not implemented")
            return MemoryView(x)
        return x.item()

    def __setitem__(self, i, value):
        if not self.array.flags.writeable:
            raise TypeError("cannot modify read-only memory")
        if isinstance(value, MemoryView):
            self.array[i] = value.array
        else:
            if isinstance(i, (int, np.integer)) and self.array.ndim == 1 and not -len(self.array) <= i < len(self.array):
                raise IndexError("index out of bounds on dimension 1")
            if self.array.dtype.kind == "i" or self.array.dtype.kind == "u":
                if not isinstance(value, (int, np.integer)):
                    raise TypeError("memoryview: invalid type for format '" + _code(self.array) + "'")
                if not _whole(value, self.array.dtype):
                    raise ValueError("memoryview: invalid value for format '" + _code(self.array) + "'")
            self.array[i] = value

    def __iter__(self):
        if self.array.ndim != 1:
            raise NotImplementedError("multi-dimensional sub-views are not implemented")
        for x in self.array.ravel():
            yield x.item()

    @property
    def ndim(self):
        return self.array.ndim

    @property
    def shape(self):
        return self.array.shape

    @property
    def strides(self):
        return self.array.strides

    @property
    def itemsize(self):
        return self.array.itemsize

    @property
    def nbytes(self):
        return self.array.nbytes

    @property
    def readonly(self):
        return not self.array.flags.writeable

    @property
    def c_contiguous(self):
        return self.array.flags.c_contiguous

    @property
    def f_contiguous(self):
        return self.array.flags.f_contiguous

    @property
    def contiguous(self):
        return self.array.flags.c_contiguous or self.array.flags.f_contiguous

    def tobytes(self):
        return self.array.tobytes()

    def tolist(self):
        return self.array.tolist()


@dataclass(frozen=True, eq=False)
class PyArray:
    array: np.ndarray

    _tierup_class_ = array

    def _tierup_python_(self):
        known = _of_array(self.array)
        return known.obj if known is not None and isinstance(known.obj, array) else array(self.array.dtype.char, self.array.tobytes())

    def __len__(self):
        return len(self.array)

    def __getitem__(self, i):
        if isinstance(i, (int, np.integer)):
            if not -len(self.array) <= i < len(self.array):
                raise IndexError("array index out of range")
            return self.array[i].item()
        return PyArray(self.array[i].copy())

    def __setitem__(self, i, value):
        if not -len(self.array) <= i < len(self.array):
            raise IndexError("array assignment index out of range")
        if self.array.dtype.kind == "i" or self.array.dtype.kind == "u":
            if not isinstance(value, (int, np.integer)):
                raise TypeError("'float' object cannot be interpreted as an integer")
            if not _whole(value, self.array.dtype):
                raise OverflowError(_out_of_room(self.array, value))
        self.array[i] = value

    def __iter__(self):
        for x in self.array:
            yield x.item()

    @property
    def itemsize(self):
        return self.array.itemsize

    def tobytes(self):
        return self.array.tobytes()

    def tolist(self):
        return self.array.tolist()
